//! Linear machines: the score is w·x + b, and w is found without kernels.
//!
//! ```text
//! minimise  ½‖w‖² + C Σ loss(yᵢ, w·xᵢ + b)    which is  1/λ times  λ/2 ‖w‖² + the mean loss,  with C = 1/(λN)
//! ```
//!
//! `descent.rs` goes down the dual, one row at a time, and proves how close it is; `sgd.rs` goes down the primal, which takes any
//! number of rows, but wavers about the optimum. Both have the optimum of the kernel machine with a linear kernel.

mod descent;
mod machine;
mod rows;
mod sgd;

pub use machine::LinearMachine;
pub(super) use machine::{row_table, weight_table};
pub use sgd::{Loss, Schedule, Sgd, Walked};

use super::dual::balance;
use super::svm::{CLASS_WEIGHTS, EPSILON, PROBABILITIES, STANDARDISE, class_weights};
use crate::error::{Error, Result};
use crate::learn::{Examples, Learner, Target};
use crate::linear::calibrate;
use crate::matrix::Features;
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Certificate, Report, Run, Stop};
use serde::{Deserialize, Serialize};

/// A linear support vector machine for two classes or for numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinearSvm {
    /// What a row costs that is on the wrong side of its margin; of numbers, how far off it is beyond ε, or the square of that.
    pub loss: Loss,
    /// C = 1/(λN)
    pub c: f64,
    /// ε: how far off a predicted number may be at no cost.
    pub epsilon: f64,
    /// Whether C and ε are meant for numbers with a standard deviation of one, whatever the unit of the target.
    pub standardise: bool,
    /// Whether there is a constant b, and whether it costs.
    pub intercept: Intercept,
    /// The value of the column whose weight is a constant that costs.
    pub intercept_scale: f64,
    /// What classes cost, in multiples of C: `none` for all alike, `balanced`, or `label=number` for some.
    pub class_weights: String,
    /// How the optimum is found.
    pub solver: Solver,
    /// The violation at which the dual stops, or what a pass of the primal must gain per row.
    pub tolerance: f64,
    /// Passes over the rows at most.
    pub passes: usize,
    /// How long the steps of the primal are.
    pub schedule: Schedule,
    /// The first step, for schedules that do not choose it.
    pub rate: f64,
    /// Whether the primal takes the mean of its steps.
    pub average: bool,
    /// Whether probabilities are calibrated; without that they come from the scores as they are.
    pub probabilities: bool,
}

/// What becomes of the constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intercept {
    /// It costs nothing.
    #[default]
    Free,
    /// It costs as a weight does.
    Penalised,
    /// There is none.
    None,
}

/// How the optimum is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// By coordinate descent in the dual.
    #[default]
    Dual,
    /// By stochastic gradient descent in the primal.
    Sgd,
}

impl Default for LinearSvm {
    fn default() -> LinearSvm {
        LinearSvm {
            loss: Loss::Hinge,
            c: 1.0,
            epsilon: 0.1,
            standardise: true,
            intercept: Intercept::Free,
            intercept_scale: 1.0,
            class_weights: "none".into(),
            solver: Solver::Dual,
            tolerance: 1e-3,
            passes: 10_000,
            schedule: Schedule::Optimal,
            rate: 0.01,
            average: true,
            probabilities: true,
        }
    }
}

impl Learner for LinearSvm {
    type Fitted = LinearMachine;

    const CARD: Card = Card {
        name: "linear-svm",
        title: "Linear support vector machine",
        summary: "The widest margin by a weighted sum of features: for many rows, texts and sparse tables.",
        abilities: &[Ability::Classify, Ability::TwoClasses, Ability::Regress, Ability::Weights, Ability::Sparse],
        settings: &[
            Setting {
                name: "loss",
                allowed: Allowed::Choice(&["hinge", "squared-hinge", "perceptron", "log", "modified-huber"]),
                help: "What a row costs that is on the wrong side of its margin.",
            },
            Setting {
                name: "c",
                allowed: Allowed::Number(f64::MIN_POSITIVE, f64::MAX),
                help: "What the loss of a row costs beside half the squared length of the weights.",
            },
            EPSILON,
            STANDARDISE,
            Setting {
                name: "intercept",
                allowed: Allowed::Choice(&["free", "penalised", "none"]),
                help: "Whether there is a constant, and whether it costs as a weight does.",
            },
            Setting {
                name: "intercept_scale",
                allowed: Allowed::Number(f64::MIN_POSITIVE, f64::MAX),
                help: "How cheap a constant is that costs: the value of the column whose weight it is.",
            },
            CLASS_WEIGHTS,
            Setting {
                name: "solver",
                allowed: Allowed::Choice(&["dual", "sgd"]),
                help: "Coordinate descent in the dual, or stochastic gradient descent in the primal.",
            },
            Setting {
                name: "tolerance",
                allowed: Allowed::Number(0.0, 1.0),
                help: "The violation at which the dual stops, or what a pass of sgd must gain per row; 0 makes all passes.",
            },
            Setting { name: "passes", allowed: Allowed::Whole(1), help: "Passes over the rows at most." },
            Setting {
                name: "schedule",
                allowed: Allowed::Choice(&["optimal", "constant", "inverse-scaling", "adaptive"]),
                help: "How the steps of sgd get shorter.",
            },
            Setting {
                name: "rate",
                allowed: Allowed::Number(f64::MIN_POSITIVE, f64::MAX),
                help: "The first step of sgd, for schedules that do not choose it.",
            },
            Setting {
                name: "average",
                allowed: Allowed::Switch,
                help: "Whether sgd answers with the mean of its steps, which wavers less than the last.",
            },
            PROBABILITIES,
        ],
        python: &["LinearSVC", "LinearSVR", "SGDClassifier"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearMachine, Report)> {
        self.fit_from(examples, None, run)
    }

    fn resume(
        &self,
        from: &LinearMachine,
        examples: &Examples<'_>,
        run: &Run,
    ) -> Result<Option<(LinearMachine, Report)>> {
        self.fit_from(examples, Some(from), run).map(Some)
    }
}

/// A problem of linear machines: its rows, and for each its target, its bounds in the dual and its cost.
pub(super) struct Problem<'a> {
    pub(super) rows: Features<'a>,
    /// Which rows take part.
    pub(super) of: Vec<usize>,
    /// ‖x‖² of these.
    pub(super) norms: Vec<f64>,
    /// y
    pub(super) target: Vec<f64>,
    /// What the loss of each costs.
    pub(super) costs: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// d
    pub(super) diagonal: Vec<f64>,
    /// ε
    pub(super) insensitive: f64,
    pub(super) constant: Constant,
    pub(super) loss: Loss,
    pub(super) numbers: bool,
}

/// What becomes of b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// There is none.
    None,
    /// It costs nothing.
    Free,
    /// It costs like the weight of a column of this value.
    Penalised(f64),
}

impl<'a> Problem<'a> {
    /// The same with some of the rows.
    fn part(&self, keep: impl Fn(usize) -> bool) -> Problem<'a> {
        let kept: Vec<usize> = (0..self.of.len()).filter(|&k| keep(k)).collect();
        let some = |values: &[f64]| kept.iter().map(|&k| values[k]).collect();
        Problem {
            rows: self.rows,
            of: kept.iter().map(|&k| self.of[k]).collect(),
            norms: some(&self.norms),
            target: some(&self.target),
            costs: some(&self.costs),
            low: some(&self.low),
            high: some(&self.high),
            diagonal: some(&self.diagonal),
            insensitive: self.insensitive,
            constant: self.constant,
            loss: self.loss,
            numbers: self.numbers,
        }
    }
}

impl LinearSvm {
    fn fit_from(
        &self,
        examples: &Examples<'_>,
        from: Option<&LinearMachine>,
        run: &Run,
    ) -> Result<(LinearMachine, Report)> {
        let problem = self.pose(examples, run)?;
        let (mut machine, mut report) = match self.solver {
            Solver::Dual => self.descend(&problem, from, run)?,
            Solver::Sgd => self.walk(&problem, from, run)?,
        };
        if let Target::Classes { codes, .. } = examples.target
            && self.probabilities
        {
            run.finish(|| self.calibrate(&problem, codes, examples.weights, &mut machine, &mut report, run))?;
        }
        Ok((machine, report))
    }

    /// The problem of some examples.
    fn pose<'a>(&self, examples: &Examples<'a>, run: &Run) -> Result<Problem<'a>> {
        let rows = examples.features;
        rows.afford_columns()?;
        let norms = super::svm::finite_norms(&rows, run)?;
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let of: Vec<usize> = (0..rows.rows()).filter(|&i| weight(i) > 0.0).collect();
        let (mut target, mut costs) = (Vec::with_capacity(of.len()), Vec::with_capacity(of.len()));
        let mut unit = 1.0;
        let numbers = match examples.target {
            Target::Nothing(_) => return Err(Target::missing()),
            Target::Classes { classes, codes } => {
                let weights = class_weights(&self.class_weights, classes, codes, examples.weights)?;
                for &i in &of {
                    target.push(if codes[i] == 1 { 1.0 } else { -1.0 });
                    costs.push(self.c * weight(i) * weights[codes[i] as usize]);
                }
                if !(target.contains(&1.0) && target.contains(&-1.0)) {
                    return Err(super::svm::one_class_only());
                }
                false
            }
            Target::Numbers(numbers) => {
                for &i in &of {
                    target.push(super::svm::one_number(numbers, i)?);
                }
                unit = if self.standardise { super::svm::spread(&target) } else { 1.0 };
                // The squared loss is in the square of the unit, as the squared length of the weights is.
                let factor = if self.loss == Loss::SquaredHinge { 1.0 } else { unit };
                costs.extend(of.iter().map(|&i| factor * self.c * weight(i)));
                true
            }
        };
        let squared = self.loss == Loss::SquaredHinge;
        if self.solver == Solver::Dual && !squared && self.loss != Loss::Hinge {
            return Err(Error::setting(
                "loss",
                "has no dual that is solved here",
                "Use hinge or squared-hinge, or --set solver=sgd.",
            ));
        }
        if numbers && self.solver == Solver::Sgd {
            return Err(Error::setting("solver", "cannot be sgd for numbers", "Use dual."));
        }
        let bound = |cost: f64| if squared { f64::INFINITY } else { cost };
        let pairs = || target.iter().zip(&costs);
        Ok(Problem {
            rows,
            norms: of.iter().map(|&i| norms[i]).collect(),
            of,
            low: pairs().map(|(y, cost)| if !numbers && *y > 0.0 { 0.0 } else { -bound(*cost) }).collect(),
            high: pairs().map(|(y, cost)| if !numbers && *y < 0.0 { 0.0 } else { bound(*cost) }).collect(),
            diagonal: costs.iter().map(|cost| if squared { 0.5 / cost } else { 0.0 }).collect(),
            target,
            costs,
            insensitive: if numbers { unit * self.epsilon } else { 0.0 },
            constant: match self.intercept {
                Intercept::None => Constant::None,
                Intercept::Free => Constant::Free,
                Intercept::Penalised => Constant::Penalised(self.intercept_scale),
            },
            loss: self.loss,
            numbers,
        })
    }

    /// Down the dual.
    fn descend(
        &self,
        problem: &Problem<'_>,
        from: Option<&LinearMachine>,
        run: &Run,
    ) -> Result<(LinearMachine, Report)> {
        let start = from.and_then(|machine| machine.start(problem));
        let mut ended = problem.descend(start, self.tolerance, self.passes, run)?;
        if self.intercept == Intercept::Free {
            balance(&mut ended.beta);
        }
        let proof = run.finish(|| problem.prove(&ended, run))?;
        let support = ended.beta.iter().filter(|beta| **beta != 0.0).count();
        let mut report = Report {
            route: format!("coordinate descent in the dual, {} passes", ended.passes),
            stop: ended.stop,
            certificate: Some(Certificate {
                measure: "largest violation of the optimality conditions".into(),
                value: ended.violation,
                tolerance: self.tolerance,
            }),
            ..Report::default()
        };
        proof.tell(&mut report);
        report.fact("support vectors", support as f64);
        report.fact("passes", ended.passes as f64);
        if ended.stop == Stop::Budget {
            report.remarks.push(super::machine::RESUME.into());
        }
        let kept = if ended.stop == Stop::Converged { Vec::new() } else { ended.beta };
        let machine = LinearMachine::new(problem, &proof, kept, support);
        Ok((machine, report))
    }

    /// Down the primal.
    fn walk(&self, problem: &Problem<'_>, from: Option<&LinearMachine>, run: &Run) -> Result<(LinearMachine, Report)> {
        let total: f64 = problem.costs.iter().sum();
        let count = problem.of.len() as f64;
        let taken = problem.rows.take(&problem.of);
        let weights: Vec<f64> = problem.costs.iter().map(|cost| cost * count / total).collect();
        let all = problem.of.len() == problem.rows.rows();
        let sgd = Sgd {
            rows: if all { problem.rows } else { taken.features() },
            target: &problem.target,
            weights: &weights,
            loss: self.loss,
            lambda: 1.0 / total,
            lambda_of_sizes: 0.0,
            intercept: self.intercept != Intercept::None,
            intercept_share: 1.0,
            schedule: self.schedule,
            rate: self.rate,
            power: 0.5,
            // From the second half of the first pass on.
            average: if self.average { 1 + problem.of.len() as u64 / 2 } else { 0 },
            passes: self.passes,
            tolerance: if self.tolerance > 0.0 { self.tolerance } else { -1.0 },
            patience: 5,
            shuffle: true,
            steps_before: 0,
        };
        let start = from.map(|machine| (machine.weights().to_vec(), machine.bias()));
        let walked = sgd.walk(start, run)?;
        let proof = run.finish(|| problem.judge(&walked.weights, walked.bias, run))?;
        let mut report = Report {
            route: format!("stochastic gradient descent, {} passes", walked.passes),
            stop: walked.stop,
            trace: walked.trace,
            ..Report::default()
        };
        proof.tell(&mut report);
        report.fact("passes", walked.passes as f64);
        Ok((LinearMachine::new(problem, &proof, Vec::new(), 0), report))
    }

    /// A temperature for probabilities, from every third row by the machine of the others.
    fn calibrate(
        &self,
        problem: &Problem<'_>,
        codes: &[u32],
        weights: Option<&[f64]>,
        machine: &mut LinearMachine,
        report: &mut Report,
        run: &Run,
    ) -> Result<()> {
        let held_out = |k: usize| k % 3 == 2;
        let others = problem.part(|k| !held_out(k));
        let both = others.target.contains(&1.0) && others.target.contains(&-1.0);
        let rows: Vec<usize> = (0..problem.of.len()).filter(|&k| held_out(k) || !both).map(|k| problem.of[k]).collect();
        let judge = match (both, self.solver) {
            (false, _) => None,
            (true, Solver::Dual) => Some(self.descend(&others, None, run)?.0),
            (true, Solver::Sgd) => Some(self.walk(&others, None, run)?.0),
        };
        let taken = problem.rows.take(&rows);
        let scores = judge.as_ref().unwrap_or(machine).scores(&taken.features(), run)?;
        let codes: Vec<u32> = rows.iter().map(|&i| codes[i]).collect();
        let weights: Option<Vec<f64>> = weights.map(|weights| rows.iter().map(|&i| weights[i]).collect());
        let scores = super::svm::class_scores(&scores);
        machine.temperature = calibrate::temperature(&scores, &codes, weights.as_deref(), run)?;
        report.fact("temperature", machine.temperature);
        Ok(())
    }
}
