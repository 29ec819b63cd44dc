//! One-class machines: which rows are unlike all others.

use super::dual::{Dual, Effort};
use super::kernel::{Gamma, Space};
use super::machine::{Answer, SvmModel};
use super::proof::Middle;
use super::svm::{BIAS, CACHE, CONSTANT, DEGREE, GAMMA, KERNEL, KernelName, SHRINKING, STEPS, TOLERANCE};
use crate::error::Result;
use crate::learn::{Examples, Learner};
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Report, Run, Stop};
use serde::{Deserialize, Serialize};

/// A machine that learns where rows are (Schölkopf and others 2001): those with a negative score are novel.
///
/// It minimises ½‖w‖² + Σ max(0, ρ - w·φ(x)) - ν n ρ, so that at most the share ν of the rows is novel and at least that share
/// are support vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OneClass {
    /// How alike two rows are.
    pub kernel: KernelName,
    /// ν: the largest share of training rows that may be called novel.
    pub nu: f64,
    /// γ of the kernels that have one.
    pub gamma: Gamma,
    /// p of the polynomial kernel.
    pub degree: u32,
    /// c of the polynomial and the sigmoid kernel.
    pub constant: f64,
    /// How b = -ρ is taken from the support vectors.
    pub bias: Middle,
    /// The violation of the optimality conditions at which to stop.
    pub tolerance: f64,
    /// Steps at most; zero for as many as it takes.
    pub steps: usize,
    /// Megabytes for kernel rows.
    pub cache: f64,
    /// Whether rows are left out for a while that do not want to move.
    pub shrinking: bool,
}

impl Default for OneClass {
    fn default() -> OneClass {
        OneClass {
            kernel: KernelName::Rbf,
            nu: 0.1,
            gamma: Gamma::Scale,
            degree: 3,
            constant: 0.0,
            bias: Middle::Mean,
            tolerance: 1e-3,
            steps: 0,
            cache: 1000.0,
            shrinking: true,
        }
    }
}

impl Learner for OneClass {
    type Fitted = SvmModel;

    const CARD: Card = Card {
        name: "one-class-svm",
        title: "One-class support vector machine",
        summary: "Learns where rows are, and says which are unlike all others.",
        abilities: &[Ability::Novelty, Ability::Weights, Ability::Sparse],
        settings: &[
            KERNEL,
            Setting {
                name: "nu",
                allowed: Allowed::Number(1e-6, 1.0),
                help: "The largest share of training rows that may be called novel.",
            },
            GAMMA,
            DEGREE,
            CONSTANT,
            BIAS,
            TOLERANCE,
            STEPS,
            CACHE,
            SHRINKING,
        ],
        python: &["OneClassSVM"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(SvmModel, Report)> {
        self.kernel.check_for(examples)?;
        let rows = &examples.features;
        let space = Space::of(rows, self.kernel.with(self.gamma, self.degree, self.constant, rows, run)?);
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let of: Vec<usize> = (0..rows.rows()).filter(|&i| weight(i) > 0.0).collect();
        let high: Vec<f64> = of.iter().map(|&i| weight(i)).collect();
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
        let count = of.len();
        let dual = Dual {
            rows: *rows,
            space: &space,
            of,
            target: vec![0.0; count],
            low: vec![0.0; count],
            high,
            insensitive: 0.0,
        };
        let effort = Effort::of(self.tolerance, self.cache, self.steps, self.shrinking);
        let at = dual.solve(Some(start), &effort, run)?;
        let proof = dual.prove(&at, self.bias, at.stop == Stop::Converged);
        let mut model = SvmModel::of(&dual, &at, &proof, Answer::Novelty);
        let mut report = model.report(&at, self.tolerance);
        // Support vectors on the edge have a score of zero, up to the tolerance; they are not novel.
        let score = |i: usize| proof.bias - at.slope[i];
        let on_edge = (0..count).filter(|&i| at.beta[i] > 0.0 && at.beta[i] < dual.high[i]);
        model.slack = on_edge.map(|i| -score(i)).fold(0.0, f64::max) * (1.0 + 1e-9);
        let novel = (0..count).filter(|&i| score(i) + model.slack < 0.0).count();
        report.fact("novel", novel as f64);
        Ok((model, report))
    }
}
