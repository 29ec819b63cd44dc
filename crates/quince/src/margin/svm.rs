//! Support vector machines for two classes and for numbers.

use super::dual::{Dual, Effort, Outcome};
use super::kernel::{Gamma, Kernel, Space};
use super::leave_one_out;
use super::machine::{Answer, SvmModel};
use super::proof::{Middle, Proof};
use super::target::{check_symmetric, class_scores, class_weights, finite_norms, one_class_only, one_number, spread};
use crate::error::{Error, Result};
use crate::learn::{Examples, Learner, Prediction, Target};
use crate::linear::calibrate;
use crate::matrix::{Features, Matrix};
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Report, Run, Stop};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A support vector machine with any kernel (Boser, Guyon and Vapnik 1992; Cortes and Vapnik 1995).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Svm {
    /// How alike two rows are.
    pub kernel: KernelName,
    /// C: what a row costs that is on the wrong side of its margin, times how far.
    pub c: Cost,
    /// γ of the kernels that have one.
    pub gamma: Gamma,
    /// p of the polynomial kernel.
    pub degree: u32,
    /// c of the polynomial and the sigmoid kernel.
    pub constant: f64,
    /// ε: how far off a predicted number may be at no cost.
    pub epsilon: f64,
    /// Whether C and ε are meant for numbers with a standard deviation of one, whatever the unit of the target.
    pub standardise: bool,
    /// What classes cost, in multiples of C: `none` for all alike, `balanced`, or `label=number` for some.
    pub class_weights: String,
    /// How b is taken from the support vectors.
    pub bias: Middle,
    /// The violation of the optimality conditions at which to stop.
    pub tolerance: f64,
    /// Steps at most; zero for as many as it takes.
    pub steps: usize,
    /// Megabytes for kernel rows.
    pub cache: f64,
    /// Whether rows are left out for a while that do not want to move.
    pub shrinking: bool,
    /// Whether probabilities are calibrated; without that they come from the scores as they are.
    pub probabilities: bool,
    /// Whether the exact leave-one-out error is found in training.
    pub leave_one_out: Wanted,
}

/// A kernel by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelName {
    /// exp(-γ ‖x - y‖²)
    #[default]
    Rbf,
    /// x·y
    Linear,
    /// (γ x·y + c)^p
    Polynomial,
    /// tanh(γ x·y + c)
    Sigmoid,
    /// The features of a row are its kernel with every training row.
    Precomputed,
}

/// Whether something costly is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// If it is quick.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// C: a number above zero, or infinite for a hard margin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Cost {
    /// So much.
    Finite(f64),
    /// No row may be on the wrong side of its margin.
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

impl Default for Svm {
    fn default() -> Svm {
        Svm {
            kernel: KernelName::Rbf,
            c: Cost::Finite(1.0),
            gamma: Gamma::Scale,
            degree: 3,
            constant: 0.0,
            epsilon: 0.1,
            standardise: true,
            class_weights: "none".into(),
            bias: Middle::Mean,
            tolerance: 1e-3,
            steps: 0,
            cache: 1000.0,
            shrinking: true,
            probabilities: true,
            leave_one_out: Wanted::Auto,
        }
    }
}

pub(super) const KERNEL: Setting = Setting {
    name: "kernel",
    allowed: Allowed::Choice(&["rbf", "linear", "polynomial", "sigmoid", "precomputed"]),
    help: "How alike two rows are.",
};
pub(super) const GAMMA: Setting = Setting {
    name: "gamma",
    allowed: Allowed::NumberOr(0.0, f64::MAX, &["scale", "auto"]),
    help: "How narrow the kernel is: scale is 1 / (features x variance), auto is 1 / features.",
};
pub(super) const DEGREE: Setting =
    Setting { name: "degree", allowed: Allowed::Whole(0), help: "The power of the polynomial kernel." };
pub(super) const CONSTANT: Setting = Setting {
    name: "constant",
    allowed: Allowed::Number(f64::MIN, f64::MAX),
    help: "What is added to products in the polynomial and the sigmoid kernel.",
};
pub(super) const BIAS: Setting = Setting {
    name: "bias",
    allowed: Allowed::Choice(&["mean", "median"]),
    help: "How the constant of the score is taken from the support vectors, each of which gives one.",
};
pub(super) const TOLERANCE: Setting = Setting {
    name: "tolerance",
    allowed: Allowed::Number(1e-12, 1.0),
    help: "The violation of the optimality conditions at which to stop.",
};
pub(super) const STEPS: Setting =
    Setting { name: "steps", allowed: Allowed::Whole(0), help: "Steps at most; 0 for as many as it takes." };
pub(super) const CACHE: Setting =
    Setting { name: "cache", allowed: Allowed::Number(1.0, 1e6), help: "Megabytes for kernels that are kept." };
pub(super) const SHRINKING: Setting = Setting {
    name: "shrinking",
    allowed: Allowed::Switch,
    help: "Whether rows that do not want to move are left out for a while; the answer is the same.",
};

pub(super) const EPSILON: Setting = Setting {
    name: "epsilon",
    allowed: Allowed::Number(0.0, f64::MAX),
    help: "How far off a predicted number may be at no cost.",
};
pub(super) const STANDARDISE: Setting = Setting {
    name: "standardise",
    allowed: Allowed::Switch,
    help: "Whether c and epsilon are meant for numbers of deviation 1, whatever the unit of the target.",
};
pub(super) const CLASS_WEIGHTS: Setting = Setting {
    name: "class_weights",
    allowed: Allowed::Text,
    help: "What classes cost, in multiples of c: none, balanced, or label=number,label=number.",
};
pub(super) const PROBABILITIES: Setting = Setting {
    name: "probabilities",
    allowed: Allowed::Switch,
    help: "Whether probabilities are calibrated on rows that were held out.",
};

impl Learner for Svm {
    type Fitted = SvmModel;

    const CARD: Card = Card {
        name: "svm",
        title: "Support vector machine",
        summary: "The widest margin between two classes, or a tube around numbers, with any kernel.",
        abilities: &[
            Ability::Classify,
            Ability::TwoClasses,
            Ability::Regress,
            Ability::Weights,
            Ability::Sparse,
            Ability::ExactLeaveOneOut,
        ],
        settings: &[
            KERNEL,
            Setting {
                name: "c",
                allowed: Allowed::NumberOr(f64::MIN_POSITIVE, f64::MAX, &["infinite"]),
                help: "What a row on the wrong side of its margin costs; infinite is a hard margin.",
            },
            GAMMA,
            DEGREE,
            CONSTANT,
            EPSILON,
            STANDARDISE,
            CLASS_WEIGHTS,
            BIAS,
            TOLERANCE,
            STEPS,
            CACHE,
            SHRINKING,
            PROBABILITIES,
            Setting {
                name: "leave_one_out",
                allowed: Allowed::Choice(&["auto", "always", "never"]),
                help: "Whether the exact leave-one-out error is found in training; auto does if it is quick.",
            },
        ],
        python: &["SVC", "SVR"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(SvmModel, Report)> {
        self.kernel.check_for(examples)?;
        self.fit_from(examples, None, run)
    }

    fn resume(&self, from: &SvmModel, examples: &Examples<'_>, run: &Run) -> Result<Option<(SvmModel, Report)>> {
        from.check_same_rows(&examples.features)?;
        self.fit_from(examples, Some(from), run).map(Some)
    }

    /// Rows that are no support vectors need no refit: without them the machine is the same.
    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        let space = Space::of(&examples.features, self.kernel_for(&examples.features, run)?);
        let (dual, unit) = self.pose(examples, &space)?;
        let effort = self.effort(unit);
        let at = dual.solve(None, &effort, run)?;
        let proof = dual.prove(&at, self.bias, at.stop == Stop::Converged);
        let mut scores = SvmModel::of(&dual, &at, &proof, answer(examples.target)).scores(&examples.features, run)?;
        let effort = Effort { steps: usize::MAX, ..effort };
        let left_out = leave_one_out::scores(&dual, &at, &proof, &effort, self.bias, run)?.unwrap_or_default();
        dual.of.iter().zip(left_out).for_each(|(&i, score)| scores[i] = score);
        Ok(Some(match examples.target {
            Target::Classes { codes, .. } => {
                let scores = class_scores(&scores);
                let temperature = calibrate::temperature(&scores, codes, examples.weights, run)?;
                let probabilities = calibrate::softmax(&scores, temperature);
                Prediction::Classes { scores, probabilities }
            }
            Target::Numbers(_) | Target::Nothing(_) => Prediction::Numbers(Matrix::column_vector(scores)),
        }))
    }
}

fn answer(target: &Target) -> Answer {
    if matches!(target, Target::Classes { .. }) { Answer::Classes } else { Answer::Numbers }
}

impl Svm {
    /// The kernel with its numbers, for these rows.
    fn kernel_for(&self, rows: &Features<'_>, run: &Run) -> Result<Kernel> {
        self.kernel.with(self.gamma, self.degree, self.constant, rows, run)
    }

    /// How hard it is tried, for a target in some unit: the violation is in it too.
    fn effort(&self, unit: f64) -> Effort {
        Effort::of(unit * self.tolerance, self.cache, self.steps, self.shrinking)
    }

    fn fit_from(&self, examples: &Examples<'_>, from: Option<&SvmModel>, run: &Run) -> Result<(SvmModel, Report)> {
        let space = Space::of(&examples.features, self.kernel_for(&examples.features, run)?);
        let (dual, unit) = self.pose(examples, &space)?;
        let effort = self.effort(unit);
        let start = from.map(|model| dual.within_bounds(model.coefficients_of(&dual.of)));
        let at = dual.solve(start, &effort, run)?;
        let proof = dual.prove(&at, self.bias, at.stop == Stop::Converged);
        let mut model = SvmModel::of(&dual, &at, &proof, answer(examples.target));
        let mut report = model.report(&at, effort.tolerance);
        if at.stop == Stop::Budget {
            report.remarks.push(super::machine::RESUME.into());
        }
        if at.stop != Stop::Converged && space.kernel == Kernel::Linear {
            report.remarks.push("with a linear kernel, 'linear-svm' finds the same machine, and sooner".into());
        }
        run.finish(|| self.finish(examples, (&dual, &at, &proof), &mut model, &mut report, run))?;
        Ok((model, report))
    }

    /// The dual problem of some examples, and the unit of their target.
    fn pose<'a>(&self, examples: &Examples<'a>, space: &'a Space) -> Result<(Dual<'a>, f64)> {
        let rows = examples.features.rows();
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let of: Vec<usize> = (0..rows).filter(|&i| weight(i) > 0.0).collect();
        let c = self.c.value();
        let cost = |i: usize, of_class: f64| if c.is_finite() { c * weight(i) * of_class } else { c };
        let (mut target, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
        let mut unit = 1.0;
        match examples.target {
            Target::Classes { classes, codes } => {
                let weights = class_weights(&self.class_weights, classes, codes, examples.weights)?;
                for &i in &of {
                    let cost = cost(i, weights[codes[i] as usize]);
                    let second = codes[i] == 1;
                    target.push(if second { 1.0 } else { -1.0 });
                    low.push(if second { 0.0 } else { -cost });
                    high.push(if second { cost } else { 0.0 });
                }
                if !(target.contains(&1.0) && target.contains(&-1.0)) {
                    return Err(one_class_only());
                }
            }
            Target::Numbers(numbers) => {
                if c.is_infinite() {
                    return Err(Error::setting("c", "cannot be infinite for numbers", "Give a finite c."));
                }
                for &i in &of {
                    target.push(one_number(numbers, i)?);
                }
                unit = if self.standardise { spread(&target) } else { 1.0 };
                for &i in &of {
                    low.push(-unit * cost(i, 1.0));
                    high.push(unit * cost(i, 1.0));
                }
            }
            Target::Nothing(_) => return Err(Target::missing()),
        }
        let insensitive = if matches!(examples.target, Target::Numbers(_)) { unit * self.epsilon } else { 0.0 };
        Ok((Dual { rows: examples.features, space, of, target, low, high, insensitive }, unit))
    }

    /// What a solved machine still needs: its leave-one-out error, if that is wanted, and a temperature for probabilities.
    fn finish(
        &self,
        examples: &Examples<'_>,
        (dual, at, proof): (&Dual<'_>, &Outcome, &Proof),
        model: &mut SvmModel,
        report: &mut Report,
        run: &Run,
    ) -> Result<()> {
        let Target::Classes { codes, .. } = examples.target else { return Ok(()) };
        let refits = at.stop == Stop::Converged;
        let effort = self.effort(1.0);
        let steps = match self.leave_one_out {
            Wanted::Auto => leave_one_out::quick_steps(dual, at),
            Wanted::Always => usize::MAX,
            Wanted::Never => 0,
        };
        let left_out = match refits && steps > 0 {
            true => leave_one_out::scores(dual, at, proof, &Effort { steps, ..effort }, self.bias, run)?,
            false => None,
        };
        if let Some(scores) = &left_out {
            let error = leave_one_out::error(dual, scores);
            model.about.leave_one_out = Some(error);
            report.fact("leave-one-out error", error);
        }
        if !self.probabilities {
            return Ok(());
        }
        let (rows, scores): (Vec<usize>, Vec<f64>) = match left_out {
            Some(scores) => (dual.of.clone(), scores),
            None => {
                let own = || (0..dual.count()).map(|i| dual.target[i] - at.slope[i] + proof.bias).collect();
                let judged = if refits { leave_one_out::held_out(dual, at, &effort, self.bias, run)? } else { None };
                judged.unwrap_or_else(|| (dual.of.clone(), own()))
            }
        };
        let codes: Vec<u32> = rows.iter().map(|&i| codes[i]).collect();
        let weights: Option<Vec<f64>> = examples.weights.map(|weights| rows.iter().map(|&i| weights[i]).collect());
        model.temperature = calibrate::temperature(&class_scores(&scores), &codes, weights.as_deref(), run)?;
        report.fact("temperature", model.temperature);
        Ok(())
    }
}

impl KernelName {
    /// An error if a kernel is said to be given, and what is given are the columns of a table.
    pub(super) fn check_for(self, examples: &Examples<'_>) -> Result<()> {
        if self != KernelName::Precomputed || examples.encoder.is_none() {
            return Ok(());
        }
        let remedy = "Choose another, or give a matrix of kernels from Python or Rust.";
        Err(Error::setting("kernel", "cannot be precomputed for the columns of a table", remedy))
    }

    /// The kernel with its numbers, for these rows.
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
