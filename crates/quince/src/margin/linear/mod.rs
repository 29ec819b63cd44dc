//! Linear machines: the score is w·x + b, and w is found without kernels.
//!
//! ```text
//! minimise  ½‖w‖² + C Σ loss(yᵢ, w·xᵢ + b)    which is  1/λ times  λ/2 ‖w‖² + the mean loss,  with C = 1/(λN)
//! ```
//!
//! Where there are few columns, `interior.rs` goes straight to the optimum, and `newton.rs` to that of the squared hinge; `descent.rs`
//! goes down the dual, one row at a time, where there are many. All prove how close they are. `sgd.rs` goes down the primal, which
//! takes any number of rows, but wavers about the optimum. All have the optimum of the kernel machine with a linear kernel.

mod descent;
mod interior;
mod lanes;
mod machine;
mod newton;
mod problem;
mod rows;
mod sgd;
mod system;

pub use machine::LinearMachine;
pub(super) use machine::{row_table, weight_table};
pub use sgd::{Loss, Schedule, Sgd, Walked};

use super::dual::balance;
use super::leave_one_out::every_third;
use super::svm::{CLASS_WEIGHTS, EPSILON, PROBABILITIES, STANDARDISE};
use super::target::{class_scores, class_weights, finite_norms, one_class_only, one_number, spread};
use crate::error::{Error, Result};
use crate::learn::{Examples, Learner, Target};
use crate::linear::calibrate;
use crate::matrix::Matrix;
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Certificate, Report, Run, Stop};
use descent::{Descent, Method};
use problem::{Constant, Coordinate, Problem};
use serde::{Deserialize, Serialize};

/// Up to so many columns Newton's method is the faster, or, for the hinge and dense columns, the interior-point method.
const AT_ONCE: usize = 300;
/// Up to so many dense columns, if there are at least as many rows, Newton's method is too. Up to so many of any kind the
/// interior-point method finishes what coordinate descent has not ended after so many passes a column, which take about as long...
const AFTER_ALL: usize = 2000;
const PASSES_A_COLUMN: usize = 1;
/// ... and Newton's method after so many steps, as happens where C is very large.
const STEPS: usize = 40;
/// The gap that both are asked for, as a share of the objective, for a violation that would be allowed.
const GAP_FOR_VIOLATION: f64 = 1e-3;

/// A gap that is good enough if rounding leaves no smaller one.
const LEAST_GAP: f64 = 1e-10;

/// So many passes.
fn counted_passes(count: usize) -> String {
    format!("{count} pass{}", if count == 1 { "" } else { "es" })
}

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
    /// Where there are few columns by Newton's method for the squared hinge, and by the interior-point method for the hinge; by
    /// coordinate descent where there are many, or entries are few, as long as that gets on.
    #[default]
    Auto,
    /// By coordinate descent in the dual.
    Dual,
    /// By an interior-point method.
    Interior,
    /// By Newton's method in the primal, for the squared hinge.
    Newton,
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
            solver: Solver::Auto,
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
                allowed: Allowed::Choice(&["auto", "dual", "interior", "newton", "sgd"]),
                help: "Coordinate descent in the dual, an interior-point method for few columns, Newton's method for the squared hinge, or stochastic gradient descent in the primal.",
            },
            Setting {
                name: "tolerance",
                allowed: Allowed::Number(0.0, 1.0),
                help: "The violation at which the dual stops (interior and newton: a thousand times the gap, as a share of the objective), or what a pass of sgd must gain per row; 0 makes all passes.",
            },
            Setting {
                name: "passes",
                allowed: Allowed::Whole(1),
                help: "Passes over the rows, or steps of interior and newton, at most.",
            },
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

impl LinearSvm {
    fn fit_from(
        &self,
        examples: &Examples<'_>,
        from: Option<&LinearMachine>,
        run: &Run,
    ) -> Result<(LinearMachine, Report)> {
        let problem = self.pose(examples, run)?;
        if self.solver == Solver::Sgd && self.intercept == Intercept::Penalised {
            return Err(Error::setting(
                "intercept",
                "cannot be penalised with sgd",
                "Use free or none, or solver=auto.",
            ));
        }
        let (mut machine, mut report) = match self.solver {
            Solver::Sgd => self.walk(&problem, from, run)?,
            _ => self.descend(&problem, from, run)?,
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
        let norms = finite_norms(&rows, run)?;
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let squared = self.loss == Loss::SquaredHinge;
        if self.solver != Solver::Sgd && !squared && self.loss != Loss::Hinge {
            return Err(Error::setting(
                "loss",
                "is for stochastic gradient descent alone",
                "Use hinge or squared-hinge, or --set solver=sgd.",
            ));
        }
        if self.solver == Solver::Newton && !squared {
            return Err(Error::setting(
                "solver",
                "cannot be newton for a loss that is not smooth",
                "Use loss=squared-hinge, or another solver.",
            ));
        }
        let numbers = matches!(examples.target, Target::Numbers(_));
        if numbers && self.solver == Solver::Sgd {
            return Err(Error::setting("solver", "cannot be sgd for numbers", "Use auto."));
        }
        let coordinate = |row: usize, target: f64, cost: f64| {
            let bound = if squared { f64::INFINITY } else { cost };
            Coordinate {
                row,
                norm: norms[row],
                target,
                cost,
                low: if !numbers && target > 0.0 { 0.0 } else { -bound },
                high: if !numbers && target < 0.0 { 0.0 } else { bound },
                diagonal: if squared { 0.5 / cost } else { 0.0 },
                beta: 0.0,
            }
        };
        let taking_part = || (0..rows.rows()).filter(|&i| weight(i) > 0.0);
        let mut unit = 1.0;
        let mut of: Vec<Coordinate> = match examples.target {
            Target::Nothing(_) => return Err(Target::missing()),
            Target::Classes { classes, codes } => {
                let weights = class_weights(&self.class_weights, classes, codes, examples.weights)?;
                let of_row = |i: usize| {
                    let y = if codes[i] == 1 { 1.0 } else { -1.0 };
                    coordinate(i, y, self.c * weight(i) * weights[codes[i] as usize])
                };
                taking_part().map(of_row).collect()
            }
            Target::Numbers(target) => {
                let target: Vec<f64> = taking_part().map(|i| one_number(target, i)).collect::<Result<_>>()?;
                unit = if self.standardise { spread(&target) } else { 1.0 };
                // The squared loss is in the square of the unit, as the squared length of the weights is.
                let cost = if squared { self.c } else { unit * self.c };
                taking_part().zip(target).map(|(i, y)| coordinate(i, y, cost * weight(i))).collect()
            }
        };
        if of.iter().any(|one| !one.cost.is_finite()) {
            return Err(Error::setting("c", "is too large for the weights of these rows", "Give a smaller c."));
        }
        // What costs next to nothing takes no part.
        of.retain(|one| one.cost >= f64::MIN_POSITIVE);
        let problem = Problem {
            rows,
            of,
            insensitive: if numbers { unit * self.epsilon } else { 0.0 },
            constant: match self.intercept {
                Intercept::None => Constant::None,
                Intercept::Free => Constant::Free,
                Intercept::Penalised => Constant::Penalised(self.intercept_scale),
            },
            loss: self.loss,
            numbers,
            unit,
        };
        if !numbers && !problem.has_both_classes() {
            return Err(one_class_only());
        }
        Ok(problem)
    }

    /// To the optimum by one way or the other, to a violation or a gap.
    fn optimum(
        &self,
        problem: &Problem<'_>,
        from: Option<&LinearMachine>,
        (violation, gap): (f64, f64),
        run: &Run,
    ) -> Result<Descent> {
        let columns = problem.rows.columns();
        let (sparse, squared) = (problem.rows.sparse_part().is_some(), self.loss == Loss::SquaredHinge);
        let tall = !sparse && columns <= AFTER_ALL && problem.of.len() >= columns;
        let method = match self.solver {
            Solver::Interior => Method::Interior,
            Solver::Newton => Method::Newton,
            Solver::Auto if squared && (columns <= AT_ONCE || tall) => Method::Newton,
            Solver::Auto if !sparse && columns <= AT_ONCE => Method::Interior,
            _ => Method::Coordinates,
        };
        let first = match method {
            _ if self.solver != Solver::Auto || columns > AFTER_ALL => self.passes,
            Method::Newton => self.passes.min(STEPS),
            _ => self.passes.min(PASSES_A_COLUMN * columns),
        };
        let start = from.and_then(|machine| machine.start(problem));
        let descent = match method {
            Method::Interior => return problem.follow(start, gap, self.passes, run),
            Method::Newton => problem.newton(from, gap, first, run)?,
            Method::Coordinates => problem.descend(start, violation, first, run)?,
        };
        let ended = matches!(descent.stop, Stop::Converged | Stop::Budget);
        if ended || first == self.passes || self.solver != Solver::Auto || columns > AFTER_ALL {
            return Ok(descent);
        }
        let mut interior = problem.follow(None, gap, self.passes - first, run)?;
        if interior.stop != Stop::Converged {
            // Which of the two is nearer?
            let primal = |ended: &Descent| problem.prove(ended, run).map(|proof| proof.primal);
            if run.finish(|| -> Result<bool> { Ok(primal(&descent)? < primal(&interior)?) })? {
                return Ok(Descent { stop: interior.stop, ..descent });
            }
        }
        interior.before = Some((descent.method, descent.passes));
        Ok(interior)
    }

    /// Down the dual.
    fn descend(
        &self,
        problem: &Problem<'_>,
        from: Option<&LinearMachine>,
        run: &Run,
    ) -> Result<(LinearMachine, Report)> {
        let tolerance = problem.unit * self.tolerance;
        let share = GAP_FOR_VIOLATION * self.tolerance;
        let mut ended = self.optimum(problem, from, (tolerance, share), run)?;
        if self.intercept == Intercept::Free {
            balance(&mut ended.beta);
        }
        let proof = run.finish(|| problem.prove(&ended, run))?;
        let certificate = match ended.violation {
            None => {
                let (value, tolerance) = (proof.gap_share(problem.negligible()), share.max(LEAST_GAP));
                // The proof has the last word.
                if matches!(ended.stop, Stop::Converged | Stop::Stalled) {
                    ended.stop = if value <= tolerance { Stop::Converged } else { Stop::Stalled };
                }
                let measure = "gap, as a share of the objective".into();
                Certificate { measure, value, tolerance }
            }
            Some(value) => {
                let measure = "largest violation of the optimality conditions".into();
                Certificate { measure, value, tolerance }
            }
        };
        let before = ended.before.map(|(method, passes)| format!(", after {}", method.told(passes)));
        let route = ended.method.told(ended.passes) + &before.unwrap_or_default();
        let mut report = Report { route, stop: ended.stop, certificate: Some(certificate), ..Report::default() };
        proof.tell(&mut report);
        report.fact("support vectors", ended.support as f64);
        report.fact("passes", (ended.before.map_or(0, |before| before.1) + ended.passes) as f64);
        match ended.stop {
            Stop::Budget => report.remarks.push(super::machine::RESUME.into()),
            Stop::Stalled => report.remarks.push(super::machine::STALLED.into()),
            _ => {}
        }
        let kept = if ended.stop == Stop::Converged { Vec::new() } else { ended.beta };
        let machine = LinearMachine::new(problem, &proof, kept, ended.support);
        Ok((machine, report))
    }

    /// Down the primal.
    fn walk(&self, problem: &Problem<'_>, from: Option<&LinearMachine>, run: &Run) -> Result<(LinearMachine, Report)> {
        let total: f64 = problem.of.iter().map(|one| one.cost).sum();
        let count = problem.of.len() as f64;
        let rows: Vec<usize> = problem.of.iter().map(|one| one.row).collect();
        let some = (rows.len() < problem.rows.rows()).then(|| problem.rows.take(&rows));
        let second: Vec<bool> = problem.of.iter().map(|one| one.target > 0.0).collect();
        let weights: Vec<f64> = problem.of.iter().map(|one| one.cost * count / total).collect();
        let sgd = Sgd {
            rows: some.as_ref().map_or(problem.rows, |some| some.features()),
            second: &second,
            weights: Some(&weights),
            loss: self.loss,
            lambda: 1.0 / total,
            lambda_of_sizes: 0.0,
            lambda_of_steps: 1.0 / total,
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
        if !(walked.bias.is_finite() && walked.weights.iter().all(|weight| weight.is_finite())) {
            return Err(Error::data(
                "the steps have led beyond all numbers",
                "Scale the columns, or give a smaller rate or c.",
            ));
        }
        let proof = run.finish(|| problem.judge(&walked.weights, walked.bias, run))?;
        let mut report = Report {
            route: format!("stochastic gradient descent, {}", counted_passes(walked.passes)),
            stop: walked.stop,
            trace: walked.trace,
            ..Report::default()
        };
        proof.tell(&mut report);
        report.fact("passes", walked.passes as f64);
        if walked.stop == Stop::Budget {
            report.remarks.push(super::machine::RESUME.into());
        }
        let nothing = Matrix::zeros(problem.rows.columns(), 1);
        if proof.primal > problem.primal(&nothing, 0.0, &vec![0.0; problem.of.len()]) {
            report.stop = Stop::Stalled;
            let advice = "the steps were too long: this is worse than no weights at all; give schedule=adaptive and a small rate, or another solver";
            report.remarks.push(advice.into());
        }
        Ok((LinearMachine::new(problem, &proof, Vec::new(), 0), report))
    }

    /// A temperature for probabilities, from every third row of a class by the machine of the others.
    fn calibrate(
        &self,
        problem: &Problem<'_>,
        codes: &[u32],
        weights: Option<&[f64]>,
        machine: &mut LinearMachine,
        report: &mut Report,
        run: &Run,
    ) -> Result<()> {
        // A fit that was cut short has no time for a second one: its own scores must do.
        let thirds = match report.stop {
            Stop::Budget => None,
            _ => every_third(problem.of.iter().map(|one| one.target > 0.0)),
        };
        let judge = match (&thirds, self.solver) {
            (None, _) => None,
            (Some(thirds), Solver::Sgd) => Some(self.walk(&problem.part(|k| !thirds[k]), None, run)?.0),
            (Some(thirds), _) => Some(self.descend(&problem.part(|k| !thirds[k]), None, run)?.0),
        };
        let judged = problem.part(|k| thirds.as_ref().is_none_or(|thirds| thirds[k]));
        let rows: Vec<usize> = judged.of.iter().map(|one| one.row).collect();
        let taken = problem.rows.take(&rows);
        let scores = judge.as_ref().unwrap_or(machine).scores(&taken.features(), run)?;
        let codes: Vec<u32> = rows.iter().map(|&i| codes[i]).collect();
        let weights: Option<Vec<f64>> = weights.map(|weights| rows.iter().map(|&i| weights[i]).collect());
        let scores = class_scores(&scores);
        machine.temperature = calibrate::temperature(&scores, &codes, weights.as_deref(), run)?;
        report.fact("temperature", machine.temperature);
        Ok(())
    }
}
