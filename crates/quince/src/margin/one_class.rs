//! One-class support vector machines: novelty detection.

use super::certificate::BiasRule;
use super::dual::{Dual, SolverOptions};
use super::kernel::{Gamma, KernelSpace};
use super::model::{Output, SvmModel};
use super::svm::KernelName;
use crate::error::Result;
use crate::learn::{Capability, Checked, Domain, Learner, MethodInfo, Settings};
use crate::run::{Outcome, Report, Run, StopReason};

crate::settings! {
    /// A one-class support vector machine, which estimates the support of the rows' distribution (Schölkopf and others 2001): rows
    /// with a negative score are novel.
    ///
    /// It minimises ½‖w‖² + Σ max(0, ρ - w·φ(x)) - ν n ρ, so that at most the share ν of the rows is novel and at least that share
    /// are support vectors.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let rows: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i % 5), f64::from(i / 5)]).collect();
    /// let model = OneClassSvm::new().fit_unsupervised(&rows)?;
    /// assert_eq!(model.predict(&[[2.0, 2.0], [50.0, 50.0]])?.labels(), [0, 1]);
    /// # quince::Result::Ok(())
    /// ```
    pub struct OneClassSvm {
        /// The kernel: how similar two rows are.
        kernel: KernelName = KernelName::Rbf, in KernelName::DOMAIN;
        /// The contamination: the largest share of training rows that may be called novel.
        nu: f64 = 0.1, in Domain::Number(1e-6, 1.0);
        /// Kernel coefficient: scale is 1 / (features x variance), auto is 1 / features.
        gamma: Gamma = Gamma::Scale, in Domain::NumberOr(0.0, f64::MAX, &["scale", "auto"]);
        /// The degree of the polynomial kernel.
        degree: u32 = 3, in Domain::Integer(0);
        /// The constant term of the polynomial and the sigmoid kernel.
        constant: f64 = 0.0, in Domain::Number(f64::MIN, f64::MAX);
        /// Whether support vectors on the edge, whose score is zero but for rounding, count as usual rows.
        edge: Edge = Edge::Usual, in Edge::DOMAIN;
        /// How the intercept follows from the free support vectors, each of which gives an estimate.
        bias: BiasRule = BiasRule::Mean, in BiasRule::DOMAIN;
        /// The violation of the KKT (optimality) conditions at which to stop.
        tolerance: f64 = 1e-3, in Domain::Number(1e-12, 1.0);
        /// The largest number of steps; 0 for ten million, or a hundred for each row if that is more.
        steps: usize = 0, in Domain::Integer(0);
        /// Megabytes for cached kernel rows.
        cache: f64 = 1000.0, in Domain::Number(1.0, 1e6);
        /// Whether rows that stay at a bound are left out for a while; the result is the same.
        shrinking: bool = true, in Domain::Boolean;
    }
}

crate::choices! {
    /// What is said of support vectors on the edge, whose score is zero up to the tolerance of the solver.
    pub enum Edge {
        /// They are usual: scores rise by as much as the solver left open.
        #[default]
        Usual = "usual",
        /// Their score decides, to the last digit.
        Exact = "exact",
    }
}

impl Learner for OneClassSvm {
    type Fitted = SvmModel;

    const INFO: MethodInfo = MethodInfo {
        name: "one-class-svm",
        title: "One-class support vector machine",
        summary: "Novelty detection: learns where rows are, and finds outliers.",
        capabilities: &[Capability::Novelty, Capability::SampleWeights, Capability::Sparse],
        settings: Self::SETTINGS,
        python: &["OneClassSVM"],
    };

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(SvmModel, Report)> {
        self.kernel.check_for(examples)?;
        let rows = &examples.features;
        let space = KernelSpace::of(rows, self.kernel.with(self.gamma, self.degree, self.constant, rows, run)?);
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let indices: Vec<usize> = (0..rows.rows()).filter(|&i| weight(i) > 0.0).collect();
        let high: Vec<f64> = indices.iter().map(|&i| weight(i)).collect();
        // Σβ is ν times the number of rows: the first rows that make it up start at their bounds.
        let mut left = self.nu * high.iter().sum::<f64>();
        let start: Vec<f64> = high
            .iter()
            .map(|high| {
                let beta = high.min(left);
                left -= beta;
                beta
            })
            .collect();
        let count = indices.len();
        let dual = Dual {
            rows: *rows,
            space: &space,
            indices,
            target: vec![0.0; count],
            low: vec![0.0; count],
            high,
            epsilon: 0.0,
            unit: 1.0,
        };
        let options = SolverOptions::of(self.tolerance, self.cache, self.steps, self.shrinking, count);
        let solution = dual.solve(Some(start), &options, run)?;
        let certificate = dual.certify(&solution, self.bias, solution.stop == StopReason::Converged);
        let mut model = SvmModel::of(&dual, &solution, &certificate, Output::Novelty);
        let mut report = model.report(&solution, self.tolerance, 1.0);
        // Support vectors on the edge have a score of zero, up to the tolerance; they are not novel.
        let score = |i: usize| certificate.bias - solution.gradient[i];
        let on_edge = (0..count).filter(|&i| solution.beta[i] > 0.0 && solution.beta[i] < dual.high[i]);
        if self.edge == Edge::Usual {
            model.slack = on_edge.map(|i| -score(i)).fold(0.0, f64::max) * (1.0 + 1e-9);
        }
        let novel = (0..count).filter(|&i| score(i) + model.slack < 0.0).count();
        report.outcome = Outcome::Novelty { novel };
        report.fact("novel", novel as f64);
        Ok((model, report))
    }
}
