//! Linear support vector machines: the score is w·x + b, and w is found without kernels.
//!
//! ```text
//! minimise  ½‖w‖² + C Σ loss(yᵢ, w·xᵢ + b)    which is  1/λ times  λ/2 ‖w‖² + the mean loss,  with C = 1/(λN)
//! ```
//!
//! For few columns there are a primal-dual interior-point method (`interior.rs`) and, for the squared hinge, Newton's method
//! (`newton.rs`); for many, dual coordinate descent (`coordinate_descent.rs`). All certify how close they are by the duality gap.
//! Stochastic gradient descent in the primal (`sgd.rs`) takes any number of rows, but only comes near the optimum. All have the
//! same optimum as [`Svm`](super::Svm) with a linear kernel.

mod calibrate;
mod coordinate_descent;
mod interior;
mod lanes;
mod loss;
mod model;
mod newton;
mod of_dual;
mod problem;
mod rows;
mod sgd;
mod sgd_fit;
mod system;

pub use loss::Loss;
pub use model::{LinearSvmModel, Link};
pub(super) use model::{row_table, weight_table};
pub use sgd::{Schedule, Update};
use sgd::{Sgd, SgdSolution, Validation};

use super::dual::balance;
use super::target::{class_weights, finite_norms, one_class_only, target_of_row, target_scale};
use crate::error::{Error, Result};
use crate::learn::{
    Amount, CLASS_WEIGHTS, Capability, Checked, Count, Domain, Examples, Learner, MethodInfo, Settings, Target,
    TargetView,
};
use crate::run::{Certificate, Report, Run, StopReason};
use coordinate_descent::{LinearSolution, Method};
use problem::{Coordinate, InterceptPenalty, Problem};

/// Up to this many columns `auto` takes Newton's method or, for the hinge and dense columns, the interior-point method.
const MAX_COLUMNS_FOR_DIRECT: usize = 300;
/// Up to this many dense columns, if there are at least as many rows, `auto` also takes Newton's method. Up to this many of any kind
/// the interior-point method takes over from a method that has not converged...
const MAX_COLUMNS_FOR_INTERIOR: usize = 2000;
/// ... after this many epochs of coordinate descent per column, which take about as long...
const EPOCHS_PER_COLUMN: usize = 1;
/// ... or this many steps of Newton's method, as happens where C is very large.
const MAX_NEWTON_STEPS: usize = 40;
/// The tolerance for the relative duality gap, in multiples of that for the KKT violation.
pub(super) const GAP_PER_VIOLATION: f64 = 1e-3;

/// A relative duality gap that is small enough if rounding leaves no smaller one.
const MIN_GAP: f64 = 1e-10;

/// A number of epochs, in words.
fn counted_epochs(count: usize) -> String {
    format!("{count} epoch{}", if count == 1 { "" } else { "s" })
}

crate::settings! {
    /// A linear support vector machine for two classes or for numbers.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = LinearSvm::new().fit(&[[1.0], [2.0], [4.0], [5.0]], &["low", "low", "high", "high"])?;
    /// assert_eq!(model.labels::<String>(&[[2.5], [3.5]])?, ["low", "high"]);
    /// # quince::Result::Ok(())
    /// ```
    pub struct LinearSvm {
        /// The loss of a row.
        loss: Loss = Loss::Hinge, in Loss::DOMAIN;
        /// The cost of the losses, beside half the squared norm of the weights.
        c: f64 = 1.0, in Domain::Number(f64::MIN_POSITIVE, f64::MAX);
        /// The penalty λ of half the squared norm of the weights, beside the mean loss of the n rows: c = 1 / (λ n), and auto takes c.
        lambda: Amount = Amount::Auto, in Domain::NumberOr(f64::MIN_POSITIVE, f64::MAX, &["auto"]);
        /// How far off a predicted number may be at no cost: half the width of the tube.
        epsilon: f64 = 0.1, in Domain::Number(0.0, f64::MAX);
        /// Whether c and epsilon are meant for a target of standard deviation 1, whatever its unit.
        standardise: bool = true, in Domain::Boolean;
        /// Whether there is an intercept, and whether it is penalised as a weight is.
        intercept: Intercept = Intercept::Free, in Intercept::DOMAIN;
        /// The value of the column whose weight is a penalised intercept: the larger, the weaker the penalty.
        intercept_scale: f64 = 1.0, in Domain::Number(f64::MIN_POSITIVE, f64::MAX);
        /// Factors of c for each class: none, balanced, or label=number,label=number.
        class_weights: String = "none".into(), in Domain::Parsed(CLASS_WEIGHTS);
        /// Coordinate descent in the dual, an interior-point method for few columns, Newton's method for the squared
        /// hinge, or stochastic gradient descent in the primal.
        solver: Solver = Solver::Auto, in Solver::DOMAIN;
        /// The KKT violation at which dual stops (interior and newton: a thousand times the relative duality gap), or
        /// the improvement of the mean loss that an epoch of sgd must reach; 0 runs all epochs.
        tolerance: f64 = 1e-3, in Domain::Number(0.0, 1.0);
        /// The largest number of epochs (passes over the rows), or of steps of interior and newton.
        epochs: usize = 10_000, in Domain::Integer(1);
        /// Where a step of sgd takes the derivative of the loss.
        update: Update = Update::Implicit, in Update::DOMAIN;
        /// How the learning rate of sgd falls.
        schedule: Schedule = Schedule::Optimal, in Schedule::DOMAIN;
        /// The first learning rate of sgd, for schedules that do not choose it.
        learning_rate: f64 = 0.01, in Domain::Number(f64::MIN_POSITIVE, f64::MAX);
        /// The power of the number of steps by which the schedule inverse-scaling divides.
        power: f64 = 0.5, in Domain::Number(f64::MIN, f64::MAX);
        /// The factor of the learning rate for the intercept, which is in every row: below 1 where rows are sparse.
        intercept_rate: f64 = 1.0, in Domain::Number(0.0, 1.0);
        /// Whether sgd shuffles the rows before each epoch.
        shuffle: bool = true, in Domain::Boolean;
        /// Whether sgd computes its duality gap, which takes two more passes over the rows.
        certify: bool = true, in Domain::Boolean;
        /// Whether sgd averages its weights, which lowers their variance.
        average: bool = true, in Domain::Boolean;
        /// The step from which on sgd averages; auto is the first step, each counted as often as its number says (explicit: half of
        /// the first epoch, all alike), and never where there is an L1 penalty.
        average_from: Count = Count::Auto, in Domain::IntegerOrAuto(1);
        /// The penalty of the weights; all but l2 are for sgd alone.
        penalty: Penalty = Penalty::L2, in Penalty::DOMAIN;
        /// The fraction of the L1 penalty in elastic-net.
        l1_ratio: f64 = 0.15, in Domain::Number(0.0, 1.0);
        /// The number of epochs without improvement after which sgd stops.
        patience: usize = 5, in Domain::Integer(1);
        /// Whether sgd stops by the accuracy on held-out rows rather than by the loss.
        early_stopping: bool = false, in Domain::Boolean;
        /// The fraction of the rows of each class that early stopping holds out.
        validation_fraction: f64 = 0.1, in Domain::Number(1e-9, 1.0);
        /// Whether probabilities are calibrated, on held-out rows.
        probabilities: bool = true, in Domain::Boolean;
    }
}

crate::choices! {
    /// The intercept, and whether it is penalised.
    pub enum Intercept {
        /// It is not penalised.
        #[default]
        Free = "free",
        /// It is penalised as a weight is.
        Penalised = "penalised",
        /// There is no intercept.
        None = "none",
    }
}

crate::choices! {
    /// The penalty of the weights.
    pub enum Penalty {
        /// Half the sum of their squares.
        #[default]
        L2 = "l2",
        /// The sum of their absolute values, which makes many of them zero.
        L1 = "l1",
        /// Both.
        ElasticNet = "elastic-net",
        /// None.
        None = "none",
    }
}

crate::choices! {
    /// How the optimum is found.
    pub enum Solver {
        /// Where there are few columns by Newton's method for the squared hinge, and by the interior-point method for the hinge; by
        /// coordinate descent where there are many, or entries are few, as long as that gets on; other losses by stochastic
        /// gradient descent.
        #[default]
        Auto = "auto",
        /// By coordinate descent in the dual.
        Dual = "dual",
        /// By an interior-point method.
        Interior = "interior",
        /// By Newton's method in the primal, for the squared hinge.
        Newton = "newton",
        /// By stochastic gradient descent in the primal.
        Sgd = "sgd",
    }
}

impl Learner for LinearSvm {
    type Fitted = LinearSvmModel;

    const RESUMES: bool = true;

    const INFO: MethodInfo = MethodInfo {
        name: "linear-svm",
        title: "Linear support vector machine",
        summary: "The widest margin by a weighted sum of features: for many rows, texts and sparse tables.",
        capabilities: &[
            Capability::Classify,
            Capability::TwoClasses,
            Capability::Regress,
            Capability::SampleWeights,
            Capability::Sparse,
        ],
        settings: Self::SETTINGS,
        python: &["LinearSVC", "LinearSVR", "SGDClassifier"],
    };

    fn check_settings(&self) -> Result<()> {
        if self.lambda != Amount::Auto && self.c != LinearSvm::default().c {
            let problem = "and c are two settings of one penalty, c = 1 / (lambda × rows)";
            return Err(Error::setting("lambda", problem, "Give one of them."));
        }
        let sgd = self.descends();
        if sgd && self.intercept == Intercept::Penalised {
            let remedy = match self.solver {
                Solver::Sgd => "Use free or none, or solver=auto.",
                _ => "Use free or none, or loss=hinge or squared-hinge.",
            };
            return Err(Error::setting("intercept", "cannot be penalised with sgd", remedy));
        }
        if !sgd && self.penalty != Penalty::L2 {
            return Err(Error::setting("penalty", "is l2 but for stochastic gradient descent", "Use solver=sgd."));
        }
        if !sgd && self.early_stopping {
            let problem = "is for stochastic gradient descent alone";
            return Err(Error::setting("early_stopping", problem, "Use solver=sgd."));
        }
        self.check_loss()
    }

    /// Losses that are least at a known function of the probability need no calibration.
    fn has_probabilities(&self) -> bool {
        self.probabilities || matches!(self.loss, Loss::Log | Loss::ModifiedHuber)
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(LinearSvmModel, Report)> {
        self.fit_from(examples, None, run)
    }

    fn resume_checked(
        &self,
        from: &LinearSvmModel,
        examples: &Checked<'_>,
        run: &Run,
    ) -> Result<Option<(LinearSvmModel, Report)>> {
        self.fit_from(examples, Some(from), run).map(Some)
    }
}

impl LinearSvm {
    fn fit_from(
        &self,
        examples: &Examples<'_>,
        from: Option<&LinearSvmModel>,
        run: &Run,
    ) -> Result<(LinearSvmModel, Report)> {
        if self.descends() {
            return self.fit_sgd(examples, from, run);
        }
        let problem = self.pose(examples, run)?;
        if !problem.regression && !problem.has_both_classes() {
            return Err(one_class_only());
        }
        let (mut model, mut report) = self.fit_exact(&problem, from, run)?;
        if self.probabilities && !problem.regression {
            let indices: Vec<usize> = problem.coordinates.iter().map(|one| one.row).collect();
            let without = |held_out: &[bool]| self.fit_exact(&problem.part(|k| !held_out[k]), None, run);
            self.calibrate(&mut model, examples, &indices, without, &mut report, run)?;
        }
        Ok((model, report))
    }

    /// Whether the solver is stochastic gradient descent: it is asked for, or the loss leaves no other.
    fn descends(&self) -> bool {
        self.solver == Solver::Sgd || self.solver == Solver::Auto && !self.has_dual()
    }

    /// Whether the loss is one that the solvers of the dual problem have.
    fn has_dual(&self) -> bool {
        matches!(self.loss, Loss::Hinge | Loss::SquaredHinge)
    }

    /// C for this many rows.
    fn cost(&self, rows: usize) -> Result<f64> {
        let Amount::Fixed(lambda) = self.lambda else { return Ok(self.c) };
        let c = 1.0 / (lambda * rows as f64);
        if c.is_normal() {
            return Ok(c);
        }
        let problem = format!("of {lambda:e} is too large for {rows} rows");
        Err(Error::setting("lambda", problem, "Give a smaller one."))
    }

    /// An error if the solver cannot have the loss.
    fn check_loss(&self) -> Result<()> {
        let squared = self.loss == Loss::SquaredHinge;
        if !self.descends() && !self.has_dual() {
            let remedy = "Use hinge or squared-hinge, or solver=auto.";
            return Err(Error::setting("loss", "is for stochastic gradient descent alone", remedy));
        }
        if self.solver == Solver::Newton && !squared {
            let remedy = "Use loss=squared-hinge, or another solver.";
            return Err(Error::setting("solver", "cannot be newton for a loss that is not smooth", remedy));
        }
        Ok(())
    }

    /// The problem of some examples.
    fn pose<'a>(&self, examples: &Examples<'a>, run: &Run) -> Result<Problem<'a>> {
        let rows = examples.features;
        let norms = finite_norms(&rows, run)?;
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let squared = self.loss == Loss::SquaredHinge;
        let regression = matches!(examples.target.view(), TargetView::Numbers(_));
        let coordinate = |row: usize, target: f64, cost: f64| {
            let bound = if squared { f64::INFINITY } else { cost };
            Coordinate {
                row,
                norm: norms[row],
                target,
                cost,
                low: if !regression && target > 0.0 { 0.0 } else { -bound },
                high: if !regression && target < 0.0 { 0.0 } else { bound },
                diagonal: if squared { 0.5 / cost } else { 0.0 },
                beta: 0.0,
            }
        };
        let taking_part = || (0..rows.rows()).filter(|&i| weight(i) > 0.0);
        let c = self.cost(taking_part().count())?;
        let mut unit = 1.0;
        let mut coordinates: Vec<Coordinate> = match examples.target.view() {
            TargetView::None(_) => return Err(Target::missing()),
            TargetView::Classes { classes, codes } => {
                let weights = class_weights(&self.class_weights, classes, codes, examples.weights)?;
                let of_row = |i: usize| {
                    let y = if codes[i] == 1 { 1.0 } else { -1.0 };
                    coordinate(i, y, c * weight(i) * weights[codes[i] as usize])
                };
                taking_part().map(of_row).collect()
            }
            TargetView::Numbers(target) => {
                let target: Vec<f64> = taking_part().map(|i| target_of_row(target, i)).collect::<Result<_>>()?;
                unit = if self.standardise { target_scale(&target) } else { 1.0 };
                // The squared loss is in the square of the unit, as the squared length of the weights is.
                let cost = if squared { c } else { unit * c };
                taking_part().zip(target).map(|(i, y)| coordinate(i, y, cost * weight(i))).collect()
            }
        };
        if coordinates.iter().any(|one| !one.cost.is_finite()) {
            return Err(Error::setting("c", "is too large for the weights of these rows", "Give a smaller c."));
        }
        // What costs next to nothing takes no part.
        coordinates.retain(|one| one.cost >= f64::MIN_POSITIVE);
        Ok(Problem {
            rows,
            coordinates,
            epsilon: if regression { unit * self.epsilon } else { 0.0 },
            intercept: match self.intercept {
                Intercept::None => InterceptPenalty::None,
                Intercept::Free => InterceptPenalty::Free,
                Intercept::Penalised => InterceptPenalty::Penalised(self.intercept_scale),
            },
            loss: self.loss,
            regression,
            unit,
        })
    }

    /// Finds the optimum by one solver or another, to a KKT violation or a relative duality gap.
    fn solve(
        &self,
        problem: &Problem<'_>,
        from: Option<&LinearSvmModel>,
        (kkt_violation, gap): (f64, f64),
        run: &Run,
    ) -> Result<LinearSolution> {
        let columns = problem.rows.columns();
        let (sparse, squared) = (problem.rows.sparse_part().is_some(), self.loss == Loss::SquaredHinge);
        let tall = !sparse && columns <= MAX_COLUMNS_FOR_INTERIOR && problem.coordinates.len() >= columns;
        let method = match self.solver {
            Solver::Interior => Method::Interior,
            Solver::Newton => Method::Newton,
            Solver::Auto if squared && (columns <= MAX_COLUMNS_FOR_DIRECT || tall) => Method::Newton,
            Solver::Auto if !sparse && columns <= MAX_COLUMNS_FOR_DIRECT => Method::Interior,
            _ => Method::Coordinates,
        };
        let first = match method {
            _ if self.solver != Solver::Auto || columns > MAX_COLUMNS_FOR_INTERIOR => self.epochs,
            Method::Newton => self.epochs.min(MAX_NEWTON_STEPS),
            _ => self.epochs.min(EPOCHS_PER_COLUMN * columns),
        };
        let start = from.and_then(|model| model.start(problem));
        let descent = match method {
            Method::Interior => return problem.interior_point(start, gap, self.epochs, run),
            Method::Newton => problem.newton(from, gap, first, run)?,
            Method::Coordinates => problem.coordinate_descent(start, kkt_violation, first, run)?,
        };
        let finished = matches!(descent.stop, StopReason::Converged | StopReason::Budget);
        if finished || first == self.epochs || self.solver != Solver::Auto || columns > MAX_COLUMNS_FOR_INTERIOR {
            return Ok(descent);
        }
        let mut interior = problem.interior_point(None, gap, self.epochs - first, run)?;
        if interior.stop != StopReason::Converged {
            // The better of the two is kept.
            let primal =
                |solution: &LinearSolution| problem.certify(solution, run).map(|certificate| certificate.primal);
            if run.finish(|| -> Result<bool> { Ok(primal(&descent)? < primal(&interior)?) })? {
                return Ok(LinearSolution { stop: interior.stop, ..descent });
            }
        }
        interior.before = Some((descent.method, descent.iterations));
        Ok(interior)
    }

    /// Fits to the optimum.
    fn fit_exact(
        &self,
        problem: &Problem<'_>,
        from: Option<&LinearSvmModel>,
        run: &Run,
    ) -> Result<(LinearSvmModel, Report)> {
        let tolerance = problem.unit * self.tolerance;
        let share = GAP_PER_VIOLATION * self.tolerance;
        let mut solution = self.solve(problem, from, (tolerance, share), run)?;
        if self.intercept == Intercept::Free {
            balance(&mut solution.beta);
        }
        let certificate = run.finish(|| problem.certify(&solution, run))?;
        let reported = match solution.kkt_violation {
            None => {
                let (value, tolerance) = (certificate.relative_gap(problem.negligible()), share.max(MIN_GAP));
                // The certificate has the last word.
                if matches!(solution.stop, StopReason::Converged | StopReason::Stalled) {
                    solution.stop = if value <= tolerance { StopReason::Converged } else { StopReason::Stalled };
                }
                let measure = "relative duality gap".into();
                Certificate { measure, value, tolerance }
            }
            Some(value) => {
                let measure = "largest KKT violation".into();
                Certificate { measure, value, tolerance }
            }
        };
        let before = solution.before.map(|(method, iterations)| format!(", after {}", method.describe(iterations)));
        let route = solution.method.describe(solution.iterations) + &before.unwrap_or_default();
        let mut report = Report { route, stop: solution.stop, certificate: Some(reported), ..Report::default() };
        certificate.add_to(&mut report);
        report.fact("support vectors", solution.support as f64);
        let epochs = solution.before.map_or(0, |before| before.1) + solution.iterations;
        report.fact("epochs", epochs as f64);
        match solution.stop {
            StopReason::Budget => report.remarks.push(super::model::RESUME.into()),
            StopReason::Stalled => report.remarks.push(super::model::STALLED.into()),
            _ => {}
        }
        let kept = if solution.stop == StopReason::Converged { Vec::new() } else { solution.beta };
        let model = LinearSvmModel::new(problem, &certificate, kept, solution.support).after(epochs, 0);
        Ok((model, report))
    }
}
