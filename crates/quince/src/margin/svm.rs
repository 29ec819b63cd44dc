//! Support vector machines for two classes and for numbers.

use super::calibrate::{Solved, classes_by, log_odds};
use super::certificate::BiasRule;
use super::dual::{Dual, SolverOptions};
use super::kernel::{Gamma, Kernel, KernelSpace};
use super::leave_one_out;
use super::model::{Output, SvmModel};
use super::target::{check_symmetric, class_weights, finite_norms, one_class_only, target_of_row, target_scale};
use crate::error::{Error, Result};
use crate::learn::{
    CLASS_WEIGHTS, Capability, Checked, Domain, Examples, IntoSetting, Learner, MethodInfo, PlainValue, Prediction,
    SettingValue, Settings, Target, TargetView,
};
use crate::matrix::{Features, Matrix};
use crate::run::{Report, Run, StopReason};
use serde::{Deserialize, Serialize};
use serde_json::Value;

crate::settings! {
    /// A support vector machine with any kernel (Boser, Guyon and Vapnik 1992; Cortes and Vapnik 1995).
    ///
    /// ```
    /// use quince::prelude::*;
    /// // No line parts the corners of a square from its middle.
    /// let rows = [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.0], [1.1, 1.0]];
    /// let model = Svm::new().fit(&rows, &["corner", "corner", "corner", "corner", "middle", "middle"])?;
    /// assert_eq!(model.labels::<String>(&[[0.9, 1.0], [2.1, 0.1]])?, ["middle", "corner"]);
    /// # quince::Result::Ok(())
    /// ```
    #[doc(alias = "svc")]
    #[doc(alias = "svr")]
    pub struct Svm {
        /// The kernel: how similar two rows are.
        kernel: KernelName = KernelName::Rbf, in KernelName::DOMAIN;
        /// The cost of margin violations; infinite is a hard margin.
        c: Cost = Cost::Finite(1.0), in Domain::NumberOr(f64::MIN_POSITIVE, f64::MAX, &["infinite"]);
        /// Kernel coefficient: scale is 1 / (features x variance), auto is 1 / features.
        gamma: Gamma = Gamma::Scale, in Domain::NumberOr(0.0, f64::MAX, &["scale", "auto"]);
        /// The degree of the polynomial kernel.
        degree: u32 = 3, in Domain::Integer(0);
        /// The constant term of the polynomial and the sigmoid kernel.
        constant: f64 = 0.0, in Domain::Number(f64::MIN, f64::MAX);
        /// How far off a predicted number may be at no cost: half the width of the tube.
        epsilon: f64 = 0.1, in Domain::Number(0.0, f64::MAX);
        /// Whether c and epsilon are meant for a target of standard deviation 1, whatever its unit.
        standardise: bool = true, in Domain::Boolean;
        /// Factors of c for each class: none, balanced, or label=number,label=number.
        class_weights: String = "none".into(), in Domain::Parsed(CLASS_WEIGHTS);
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
        /// Whether probabilities are calibrated, on held-out rows.
        probabilities: bool = true, in Domain::Boolean;
        /// Whether the exact leave-one-out error is computed in training; auto does if it takes about a millisecond.
        leave_one_out: LeaveOneOut = LeaveOneOut::Auto, in LeaveOneOut::DOMAIN;
    }
}

crate::choices! {
    /// A kernel by its name.
    pub enum KernelName {
        /// exp(-γ ‖x - y‖²)
        #[default]
        Rbf = "rbf",
        /// x·y
        Linear = "linear",
        /// (γ x·y + c)^p
        Polynomial = "polynomial",
        /// tanh(γ x·y + c)
        Sigmoid = "sigmoid",
        /// The features of a row are its kernel with every training row.
        Precomputed = "precomputed",
    }
}

crate::choices! {
    /// Whether the exact leave-one-out error is computed.
    pub enum LeaveOneOut {
        /// If it is quick.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

/// Cost C of margin violations: a number above zero, or infinite for a hard margin.
///
/// ```
/// use quince::margin::Cost;
/// use quince::prelude::Svm;
/// assert_eq!((Svm::new().c(2.0).c, Svm::new().c(Cost::Infinite).c), (Cost::Finite(2.0), Cost::Infinite));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Cost {
    /// A soft margin.
    Finite(f64),
    /// A hard margin: no row may violate it.
    Infinite,
}

impl Cost {
    pub(super) fn value(self) -> f64 {
        match self {
            Cost::Finite(c) => c,
            Cost::Infinite => f64::INFINITY,
        }
    }
}

impl SettingValue for Cost {
    fn plain(&self) -> PlainValue<'_> {
        match self {
            Cost::Finite(c) => c.plain(),
            Cost::Infinite => PlainValue::Text("infinite".into()),
        }
    }
}

impl IntoSetting<Cost> for Cost {
    fn into_setting(self) -> Cost {
        self
    }
}

impl IntoSetting<Cost> for f64 {
    fn into_setting(self) -> Cost {
        Cost::Finite(self)
    }
}

impl TryFrom<Value> for Cost {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Cost, String> {
        match value.as_f64() {
            Some(c) => Ok(Cost::Finite(c)),
            None if value == "infinite" => Ok(Cost::Infinite),
            None => Err(format!("{value} is neither a number nor infinite")),
        }
    }
}

impl From<Cost> for Value {
    fn from(cost: Cost) -> Value {
        match cost {
            Cost::Finite(c) => Value::from(c),
            Cost::Infinite => Value::from("infinite"),
        }
    }
}

impl Learner for Svm {
    type Fitted = SvmModel;

    const RESUMES: bool = true;

    const INFO: MethodInfo = MethodInfo {
        name: "svm",
        title: "Support vector machine",
        summary: "The widest margin between two classes, or a tube around numbers, with any kernel.",
        capabilities: &[
            Capability::Classify,
            Capability::TwoClasses,
            Capability::Regress,
            Capability::SampleWeights,
            Capability::Sparse,
            Capability::ExactLeaveOneOut,
        ],
        settings: Self::SETTINGS,
        python: &["SVC", "SVR"],
    };

    fn has_probabilities(&self) -> bool {
        self.probabilities
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(SvmModel, Report)> {
        self.kernel.check_for(examples)?;
        self.fit_from(examples, None, run)
    }

    fn resume_checked(&self, from: &SvmModel, examples: &Checked<'_>, run: &Run) -> Result<Option<(SvmModel, Report)>> {
        from.check_same_rows(&examples.features)?;
        self.fit_from(examples, Some(from), run).map(Some)
    }

    /// Rows that are no support vectors need no refit: without them the model is the same.
    fn leave_one_out_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Option<Prediction>> {
        let space = KernelSpace::of(&examples.features, self.kernel_for(&examples.features, run)?);
        let (dual, unit) = self.pose(examples, &space)?;
        let options = self.options(unit, dual.count());
        let solution = dual.solve(None, &options, run)?;
        let certificate = dual.certify(&solution, self.bias, solution.stop == StopReason::Converged);
        let mut scores =
            SvmModel::of(&dual, &solution, &certificate, output(examples.target)).scores(&examples.features, run)?;
        let options = SolverOptions { steps: SolverOptions::most_steps(dual.count()), ..options };
        let left_out =
            leave_one_out::scores(&dual, &solution, &certificate, &options, self.bias, run)?.unwrap_or_default();
        dual.indices.iter().zip(left_out).for_each(|(&i, score)| scores[i] = score);
        Ok(Some(match examples.target.view() {
            TargetView::Classes { codes, .. } => {
                let odds = log_odds(&scores, codes, examples.weights, self.classes_differ(examples)?, run)?;
                classes_by(&odds, &scores)
            }
            TargetView::Numbers(_) | TargetView::None(_) => Prediction::Numbers(Matrix::column_vector(scores)),
        }))
    }
}

fn output(target: &Target) -> Output {
    if matches!(target.view(), TargetView::Classes { .. }) { Output::Classes } else { Output::Numbers }
}

impl Svm {
    /// The kernel with its parameters, for these rows.
    fn kernel_for(&self, rows: &Features<'_>, run: &Run) -> Result<Kernel> {
        self.kernel.with(self.gamma, self.degree, self.constant, rows, run)
    }

    /// Options of the solver, for a target in some unit, in which the KKT violation is too.
    pub(super) fn options(&self, unit: f64, rows: usize) -> SolverOptions {
        SolverOptions::of(unit * self.tolerance, self.cache, self.steps, self.shrinking, rows)
    }

    fn fit_from(&self, examples: &Examples<'_>, from: Option<&SvmModel>, run: &Run) -> Result<(SvmModel, Report)> {
        let space = KernelSpace::of(&examples.features, self.kernel_for(&examples.features, run)?);
        let (dual, unit) = self.pose(examples, &space)?;
        let options = self.options(unit, dual.count());
        let start = from.map(|model| dual.within_bounds(model.coefficients_of(&dual.indices)));
        let solution = dual.solve(start, &options, run)?;
        let certificate = dual.certify(&solution, self.bias, solution.stop == StopReason::Converged);
        let mut model = SvmModel::of(&dual, &solution, &certificate, output(examples.target));
        let mut report = model.report(&solution, options.tolerance, dual.unit);
        if solution.stop == StopReason::Budget {
            report.remarks.push(super::model::RESUME.into());
        }
        if solution.stop != StopReason::Converged && space.kernel == Kernel::Linear {
            report.remarks.push("with a linear kernel, 'linear-svm' finds the same model, and sooner".into());
        }
        let solved = Solved { examples, dual: &dual, solution: &solution, certificate: &certificate };
        self.judge(&solved, from, &mut model, &mut report, run)?;
        Ok((model, report))
    }

    /// The dual problem of some examples, and the unit of their target.
    fn pose<'a>(&self, examples: &Examples<'a>, space: &'a KernelSpace) -> Result<(Dual<'a>, f64)> {
        let rows = examples.features.rows();
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let indices: Vec<usize> = (0..rows).filter(|&i| weight(i) > 0.0).collect();
        let c = self.c.value();
        let cost = |i: usize, of_class: f64| if c.is_finite() { c * weight(i) * of_class } else { c };
        let (mut target, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
        let (mut unit, mut scale) = (1.0, 1.0);
        match examples.target.view() {
            TargetView::Classes { classes, codes } => {
                let weights = class_weights(&self.class_weights, classes, codes, examples.weights)?;
                for &i in &indices {
                    let cost = cost(i, weights[codes[i] as usize]);
                    let positive = codes[i] == 1;
                    target.push(if positive { 1.0 } else { -1.0 });
                    low.push(if positive { 0.0 } else { -cost });
                    high.push(if positive { cost } else { 0.0 });
                }
                if !(target.contains(&1.0) && target.contains(&-1.0)) {
                    return Err(one_class_only());
                }
            }
            TargetView::Numbers(numbers) => {
                if c.is_infinite() {
                    return Err(Error::setting("c", "cannot be infinite for numbers", "Give a finite c."));
                }
                for &i in &indices {
                    target.push(target_of_row(numbers, i)?);
                }
                scale = target_scale(&target);
                unit = if self.standardise { scale } else { 1.0 };
                for &i in &indices {
                    low.push(-unit * cost(i, 1.0));
                    high.push(unit * cost(i, 1.0));
                }
            }
            TargetView::None(_) => return Err(Target::missing()),
        }
        let epsilon = if matches!(examples.target.view(), TargetView::Numbers(_)) { unit * self.epsilon } else { 0.0 };
        Ok((Dual { rows: examples.features, space, indices, target, low, high, epsilon, unit: scale }, unit))
    }
}

impl KernelName {
    /// An error if the kernel should be precomputed, but the features are the columns of a table.
    pub(super) fn check_for(self, examples: &Examples<'_>) -> Result<()> {
        if self != KernelName::Precomputed || examples.encoder.is_none() {
            return Ok(());
        }
        let remedy = "Choose another, or give a matrix of kernels from Python or Rust.";
        Err(Error::setting("kernel", "cannot be precomputed for the columns of a table", remedy))
    }

    /// The kernel with its parameters, for these rows.
    pub(super) fn with(
        self,
        gamma: Gamma,
        degree: u32,
        constant: f64,
        rows: &Features<'_>,
        run: &Run,
    ) -> Result<Kernel> {
        finite_norms(rows, run)?;
        Ok(match self {
            KernelName::Linear => Kernel::Linear,
            KernelName::Polynomial => Kernel::Polynomial { gamma: gamma.of(rows, run)?, constant, degree },
            KernelName::Rbf => Kernel::Rbf { gamma: gamma.of(rows, run)? },
            KernelName::Sigmoid => Kernel::Sigmoid { gamma: gamma.of(rows, run)?, constant },
            KernelName::Precomputed if rows.rows() != rows.columns() => {
                return Err(Error::data(
                    format!("a precomputed kernel of {} rows has {} columns", rows.rows(), rows.columns()),
                    "Give the kernel of every row with every row.",
                ));
            }
            KernelName::Precomputed => {
                check_symmetric(rows)?;
                Kernel::Precomputed
            }
        })
    }
}
