//! The dual of a support vector machine:
//!
//! ```text
//! maximise  tᵀβ - ½ βᵀKβ - ε Σ|βᵢ|    where  lowᵢ ≤ βᵢ ≤ highᵢ  and Σβ is constant
//! ```
//!
//! β is signed: a row of class +1 has β in [0, C], one of class -1 in [-C, 0], and t = ±1. Regression has t = y, β in [-C, C] and
//! ε > 0; a one-class model has t = 0 and Σβ > 0. The gradient of the smooth part is F = t - Kβ. By the KKT conditions, at the
//! optimum no row whose β can be raised has a larger gradient than one whose β can be lowered (each less ε on the side to which
//! it moves); the largest difference is the *KKT violation*.
//!
//! The solver is a decomposition method. A working set of the rows that violate most, whose kernel rows are one matrix product
//! (`kernel/rows.rs`) and are cached (`cache.rs`), is solved by sequential minimal optimisation (`working_set.rs`); then the
//! gradient of all rows is updated at once (`active.rs`). Shrinking leaves out rows that stay at a bound until all others have
//! converged. Duplicate rows are merged (`duplicates.rs`), and large problems have a warm start from the solution for a sample of
//! their rows (`sample.rs`).
//!
//! Bounded kernels are cached in single precision. At the end the gradient is computed again in double precision, also for the
//! rows that shrinking left out. If the KKT violation is then still too large, the solver goes on from there: the error of single
//! precision is proportional to how far β has moved since, so it vanishes. Where rounding leaves nothing to gain, the solver ends
//! (`stalled.rs`).

mod active;
mod cache;
mod duplicates;
mod linear;
mod sample;
mod stalled;
mod time;
mod working_set;

pub(super) use sample::balance;

use super::certificate::BiasRule;
use super::kernel::{KernelRows, KernelSpace};
use super::target::too_large;
use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::matrix::fused::Multiply;
use crate::matrix::simd::on_wide_vectors;
use crate::run::{Run, StopReason};
use active::ActiveSet;
use duplicates::DuplicateRows;
use sample::WarmStart;
use stalled::{LowestViolation, Rounds};
use time::{KernelSpeed, TimeEstimate};
use working_set::{Variable, WorkingSet};

/// Rows in a working set.
const WORKING_SET_SIZE: usize = 512;
/// Steps within a working set end at this share of its first KKT violation...
const BLOCK_TOLERANCE_SHARE: f64 = 0.1;
/// ... or after this many steps for each of its rows.
const STEPS_PER_ROW: usize = 20;
/// Blocks between two attempts at shrinking.
const BLOCKS_PER_SHRINKING: usize = 10;
/// Unless another limit is given, the solver stops after this many steps, as LIBSVM does...
const MAX_STEPS: usize = 10_000_000;
/// ... or after this many for each row, if that is more.
const MAX_STEPS_PER_ROW: usize = 100;
/// A linear kernel is solved as a linear model once it has taken this many steps...
const STEPS_BEFORE_LINEAR: usize = 50_000;
/// ... and this many for each row.
const STEPS_PER_ROW_BEFORE_LINEAR: usize = 10;
/// In single precision the solver stops at this share of the tolerance, so that the check in double precision passes.
const SINGLE_PRECISION_RESERVE: f64 = 0.95;

/// At most so many multiplications are made to know how long kernels take, where there is a budget.
const SPEED_TRIAL: f64 = 5e7;

/// Classes count as inseparable if the hard margin is narrower than this share of the largest distance between rows.
const MIN_MARGIN_SHARE: f64 = 1e-4;

/// The dual problem of some rows.
pub(super) struct Dual<'a> {
    pub(super) rows: Features<'a>,
    pub(super) space: &'a KernelSpace,
    /// Indices of the rows that take part.
    pub(super) indices: Vec<usize>,
    /// Target t: ±1 for classes, y for numbers, 0 for one class.
    pub(super) target: Vec<f64>,
    /// Lower bound of β.
    pub(super) low: Vec<f64>,
    /// Upper bound of β.
    pub(super) high: Vec<f64>,
    /// Half the width ε of the insensitive tube; zero for classes.
    pub(super) epsilon: f64,
    /// The unit of the target, by which a KKT violation is measured: the standard deviation of numbers, one for classes. It is that
    /// of the whole problem, also where duplicates are merged, or for a sample or a fold.
    pub(super) unit: f64,
}

/// When the solver stops, and what it may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolverOptions {
    /// The KKT violation at which to stop.
    pub(super) tolerance: f64,
    /// Bytes for cached kernel rows.
    pub(super) cache: usize,
    /// The largest number of steps.
    pub(super) steps: usize,
    /// Whether rows that stay at a bound are left out for a while.
    pub(super) shrinking: bool,
}

impl SolverOptions {
    /// From settings: the cache in megabytes, and zero steps for as many as problems of so many rows have.
    pub(super) fn of(tolerance: f64, megabytes: f64, steps: usize, shrinking: bool, rows: usize) -> SolverOptions {
        let steps = if steps == 0 { SolverOptions::most_steps(rows) } else { steps };
        SolverOptions { tolerance, cache: (megabytes * 1e6) as usize, steps, shrinking }
    }

    /// The largest number of steps unless another is given: a solve that takes more does not get on.
    pub(super) fn most_steps(rows: usize) -> usize {
        MAX_STEPS.max(MAX_STEPS_PER_ROW.saturating_mul(rows))
    }
}

/// The current or final state of the solver.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    /// Dual coefficients β. They are within their bounds, except if the budget allowed the solution for a sample only.
    pub(super) beta: Vec<f64>,
    /// The gradient F = t - Kβ, in double precision.
    pub(super) gradient: Vec<f64>,
    pub(super) kkt_violation: f64,
    pub(super) stop: StopReason,
    /// Whether rounding leaves nothing to gain, though the KKT violation is above the tolerance.
    pub(super) stalled: bool,
    /// A dual objective that was reached elsewhere, and bounds all primal ones from below.
    pub(super) lower_bound: f64,
    /// Steps of the interior-point method, if it was solved as a linear model.
    pub(super) interior_steps: usize,
    /// The relative duality gap, if the solution has converged by that.
    pub(super) relative_gap: Option<f64>,
    pub(super) steps: usize,
    pub(super) blocks: usize,
    /// How much the dual objective had risen after each block.
    pub(super) trace: Vec<f64>,
    /// How long kernels took, if there is a budget: solves of other rows of these need not try again.
    speed: KernelSpeed,
}

impl Solution {
    /// β = 0, whose gradient is the target.
    fn zero(dual: &Dual<'_>) -> Solution {
        Solution {
            beta: vec![0.0; dual.count()],
            gradient: dual.target.clone(),
            kkt_violation: f64::INFINITY,
            stop: StopReason::Converged,
            stalled: false,
            lower_bound: f64::NEG_INFINITY,
            interior_steps: 0,
            relative_gap: None,
            steps: 0,
            blocks: 0,
            trace: Vec::new(),
            speed: KernelSpeed::default(),
        }
    }

    /// How much the dual objective has risen.
    fn gained(&self) -> f64 {
        self.trace.last().copied().unwrap_or(0.0)
    }
}

impl Dual<'_> {
    /// How many rows take part.
    pub(super) fn count(&self) -> usize {
        self.indices.len()
    }

    fn variable(&self, i: usize, beta: f64) -> Variable {
        Variable { beta, low: self.low[i], high: self.high[i] }
    }

    /// The same problem with some of its rows.
    pub(super) fn part(&self, keep: &[usize]) -> Self {
        let some = |values: &[f64]| keep.iter().map(|&i| values[i]).collect();
        Dual {
            rows: self.rows,
            space: self.space,
            indices: keep.iter().map(|&i| self.indices[i]).collect(),
            target: some(&self.target),
            low: some(&self.low),
            high: some(&self.high),
            epsilon: self.epsilon,
            unit: self.unit,
        }
    }

    /// Solves the problem from a feasible start; without one from zero, or from the solution for a sample.
    pub(super) fn solve(&self, start: Option<Vec<f64>>, options: &SolverOptions, run: &Run) -> Result<Solution> {
        let time = &mut TimeEstimate::default();
        let solution = match DuplicateRows::find(self, run)? {
            None => self.solve_by(start, options, time, run)?,
            Some(duplicates) => {
                let start = start.map(|beta| duplicates.sum_by_group(&beta));
                duplicates.expand(self, duplicates.merge(self).solve_by(start, options, time, run)?)
            }
        };
        Ok(Solution { speed: time.summed, ..solution })
    }

    /// Solves the problem, whose rows are some of those of another one, from a start that follows from the solution of that one.
    pub(super) fn solve_near(
        &self,
        start: Vec<f64>,
        solved: &Solution,
        options: &SolverOptions,
        run: &Run,
    ) -> Result<Solution> {
        self.solve_by(Some(start), options, &mut TimeEstimate::with(solved.speed), run)
    }

    /// By steps; where they do not get on, and the kernel is linear, as a linear model.
    fn solve_by(
        &self,
        start: Option<Vec<f64>>,
        options: &SolverOptions,
        time: &mut TimeEstimate,
        run: &Run,
    ) -> Result<Solution> {
        if !self.has_linear_model() {
            return self.solve_by_steps(start, options, time, run);
        }
        let first = (STEPS_BEFORE_LINEAR + STEPS_PER_ROW_BEFORE_LINEAR * self.count()).min(options.steps);
        let solution = self.solve_by_steps(start, &SolverOptions { steps: first, ..*options }, time, run)?;
        let is_slow = solution.stop == StopReason::StepLimit && first < options.steps;
        if is_slow || solution.stop == StopReason::Stalled {
            return self.solve_as_linear(solution, options, time, run);
        }
        Ok(solution)
    }

    fn solve_by_steps(
        &self,
        start: Option<Vec<f64>>,
        options: &SolverOptions,
        time: &mut TimeEstimate,
        run: &Run,
    ) -> Result<Solution> {
        let exact: KernelRows<'_, f64> = self.space.kernel_rows(&self.rows, &self.indices);
        let mut solution = Solution::zero(self);
        if run.budgeted_time().is_some() && !time.summed.is_known() {
            time.summed.time(run, || self.try_speed(&exact, run))?;
        }
        if let Some(start) = &start {
            self.set_coefficients(start, &exact, &mut solution, time, run)?;
        }
        let single = self.space.kernel.is_bounded() && exact.is_within_single_precision();
        let warm_start = match start {
            Some(_) => WarmStart::Current,
            None if single => sample::warm_start::<f32>(self, options, time, &mut solution, run)?,
            None => sample::warm_start::<f64>(self, options, time, &mut solution, run)?,
        };
        // Where the solver starts, and the solution for the sample.
        let (mut from, sample_model) = match warm_start {
            WarmStart::Current => (None, None),
            WarmStart::From { start, sample } => (Some(start), Some(sample)),
            WarmStart::OutOfTime(beta) => {
                self.set_coefficients(&beta, &exact, &mut solution, time, run)?;
                (solution.kkt_violation, solution.stop) = (self.kkt_violation(&solution), StopReason::Budget);
                return Ok(solution);
            }
        };
        let mut rounds = Rounds::starting_in(single);
        loop {
            let (beta, gradient) = from.take().unwrap_or_else(|| (solution.beta.clone(), solution.gradient.clone()));
            let beta = if rounds.are_single() {
                self.optimise::<f32>(&mut solution, beta, gradient, options, time, run)?
            } else {
                self.optimise::<f64>(&mut solution, beta, gradient, options, time, run)?
            };
            self.set_coefficients(&beta, &exact, &mut solution, time, run)?;
            let kkt_violation = self.kkt_violation(&solution);
            if solution.stop == StopReason::Budget
                && let Some(sample) = sample_model
            {
                return self.unfinished(solution, sample, &exact, time, run);
            }
            if kkt_violation <= options.tolerance || solution.stop != StopReason::Converged {
                (solution.kkt_violation, solution.stalled) =
                    (kkt_violation, solution.stalled && kkt_violation > options.tolerance);
                return Ok(solution);
            }
            let is_stalled = rounds.are_stalled(&solution, kkt_violation);
            solution.kkt_violation = kkt_violation;
            if is_stalled {
                solution.stop = StopReason::Stalled;
                return Ok(solution);
            }
        }
    }

    /// An unfinished solution for all rows, or the optimum for a sample of them, given as β and its gradient, if that is better.
    fn unfinished(
        &self,
        mut solution: Solution,
        (beta, gradient): (Vec<f64>, Vec<f64>),
        exact: &KernelRows<'_, f64>,
        time: &mut TimeEstimate,
        run: &Run,
    ) -> Result<Solution> {
        let sample = Solution { beta, gradient, ..solution.clone() };
        let [of_sample, of_all] = [&sample, &solution].map(|solution| self.certify(solution, BiasRule::Mean, false));
        if of_sample.primal < of_all.primal {
            self.set_coefficients(&sample.beta, exact, &mut solution, time, run)?;
        }
        solution.lower_bound = of_all.dual;
        solution.kkt_violation = self.kkt_violation(&solution);
        Ok(solution)
    }

    /// Sets β and updates the gradient in double precision. The budget always has time for that: there is no model without it.
    fn set_coefficients(
        &self,
        beta: &[f64],
        exact: &KernelRows<'_, f64>,
        solution: &mut Solution,
        time: &mut TimeEstimate,
        run: &Run,
    ) -> Result<()> {
        let change: Vec<f64> = beta.iter().zip(&solution.beta).map(|(new, old)| new - old).collect();
        time.summed.time(run, || run.finish(|| self.update_gradient(&change, exact, &mut solution.gradient, run)))?;
        solution.beta.copy_from_slice(beta);
        if solution.gradient.iter().all(|gradient| gradient.is_finite()) {
            return Ok(());
        }
        let problem = "the kernels of these rows are too large to be added up";
        Err(too_large(&self.rows, problem, "Scale the columns, or give a smaller degree, constant or gamma."))
    }

    /// Subtracts KΔβ from the gradient; returns how many multiplications that took.
    fn update_gradient<T: Multiply>(
        &self,
        change: &[f64],
        kernel_rows: &KernelRows<'_, T>,
        gradient: &mut [f64],
        run: &Run,
    ) -> Result<((), f64)> {
        let moved: Vec<usize> = (0..change.len()).filter(|&i| change[i] != 0.0).collect();
        // In batches, because queries are copies of their rows.
        for some in moved.chunks(4096) {
            let weights: Vec<T> = some.iter().map(|&i| T::from_f64(-change[i])).collect();
            let rows: Vec<usize> = some.iter().map(|&i| self.indices[i]).collect();
            kernel_rows.add(&self.space.queries(&self.rows, &rows), &weights, gradient, run)?;
        }
        Ok(((), self.multiplications(moved.into_iter())))
    }

    /// About how many multiplications the kernels of these rows with all rows take.
    fn multiplications(&self, rows: impl Iterator<Item = usize>) -> f64 {
        self.count() as f64 * rows.map(|i| self.space.multiplications(&self.rows, self.indices[i])).sum::<f64>()
    }

    /// Sums a few kernels, to know how long that takes; returns how many multiplications they took.
    fn try_speed(&self, exact: &KernelRows<'_, f64>, run: &Run) -> Result<((), f64)> {
        let of_row = |i: usize| self.space.multiplications(&self.rows, self.indices[i]);
        // As many rows as possible, because their number is what a gradient has many of; then queries.
        let longest = (0..self.count()).map(of_row).fold(1.0, f64::max);
        let rows = ((SPEED_TRIAL / longest) as usize).clamp(1, self.count());
        let queries = ((SPEED_TRIAL / (longest * rows as f64)) as usize).clamp(1, self.count());
        let some: Vec<usize> = (0..queries).map(|k| k * self.count() / queries).collect();
        let indices: Vec<usize> = some.iter().map(|&i| self.indices[i]).collect();
        let mut sums = vec![0.0; rows];
        let packed = self.space.queries(&self.rows, &indices);
        run.finish(|| exact.add(&packed, &vec![0.0; queries], &mut sums, run))?;
        Ok(((), rows as f64 * some.into_iter().map(of_row).sum::<f64>()))
    }

    /// The largest gradient of rows that can be raised, and the smallest of rows that can be lowered.
    pub(super) fn kkt_bounds(&self, solution: &Solution) -> (f64, f64) {
        active::kkt_bounds(
            (0..self.count()).map(|i| (self.variable(i, solution.beta[i]), solution.gradient[i])),
            self.epsilon,
        )
    }

    /// The largest KKT violation: by how much the gradient of a row that can be raised is above that of one that can be lowered.
    fn kkt_violation(&self, solution: &Solution) -> f64 {
        let (max_up, min_down) = self.kkt_bounds(solution);
        (max_up - min_down).max(0.0)
    }

    /// A feasible start near β: within its bounds, and with Σβ = 0.
    pub(super) fn within_bounds(&self, mut beta: Vec<f64>) -> Vec<f64> {
        beta.iter_mut().enumerate().for_each(|(i, beta)| *beta = beta.clamp(self.low[i], self.high[i]));
        let size: f64 = beta.iter().map(|beta| beta.abs()).sum();
        // A sum that is off by rounding alone stays: rows at their bounds should stay there.
        if beta.iter().sum::<f64>().abs() > 1e-9 * size {
            balance(&mut beta);
        }
        beta
    }

    /// What a hard margin is checked by; `None` if β is bounded.
    fn hard_margin(&self, beta: &[f64], gradient: &[f64], gained: f64) -> Option<HardMargin> {
        let objective = |i: usize| beta[i] * self.target[i] - 0.5 * beta[i] * (self.target[i] - gradient[i]);
        let hard = self.high.iter().chain(&self.low).any(|bound| bound.is_infinite());
        hard.then(|| HardMargin {
            start: (0..self.count()).map(objective).sum::<f64>() - gained,
            max_squared_distance: 0.0,
        })
    }

    /// Optimises working set after working set, from β and its gradient, until the active rows meet the tolerance; returns β.
    fn optimise<T: Multiply>(
        &self,
        solution: &mut Solution,
        mut beta: Vec<f64>,
        gradient: Vec<f64>,
        options: &SolverOptions,
        time: &mut TimeEstimate,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let mut hard_margin = self.hard_margin(&beta, &gradient, solution.gained());
        let mut active: ActiveSet<'_, T> = ActiveSet::all(self, &beta, gradient, options);
        let mut last: Vec<usize> = Vec::new();
        (solution.stop, solution.stalled) = (StopReason::Converged, false);
        let mut lowest = LowestViolation::since(solution.trace.len());
        loop {
            run.check_cancelled()?;
            let (max_up, min_down) = active.kkt_bounds(self.epsilon);
            run.stage(|| {
                let (kkt_violation, asked) = (max_up - min_down, options.tolerance);
                format!("KKT violation {kkt_violation:.1e} of {asked:.0e} after {} blocks", solution.blocks)
            });
            if max_up - min_down <= SINGLE_PRECISION_RESERVE * options.tolerance {
                break;
            }
            if run.out_of_time() || time.is_out(self, solution, &beta, run) {
                solution.stop = StopReason::Budget;
                break;
            }
            if solution.steps >= options.steps {
                solution.stop = StopReason::StepLimit;
                break;
            }
            let chosen = active.select_working_set((max_up, min_down), &last, self.epsilon);
            time.cached.time(run, || active.compute_missing_kernels(self, &chosen, run).map(|work| ((), work)))?;
            let mut working_set: WorkingSet<T> = active.working_set(&chosen, self.epsilon, run);
            working_set.stop_at(BLOCK_TOLERANCE_SHARE, 0.5 * options.tolerance);
            working_set.limit = (STEPS_PER_ROW * chosen.len()).min(options.steps - solution.steps);
            on_wide_vectors(&mut working_set);
            solution.steps += working_set.steps.max(1);
            solution.blocks += 1;
            solution.trace.push(solution.gained() + working_set.gained);
            active.update_gradient(&chosen, &working_set.variables, run);
            chosen.iter().zip(&working_set.variables).for_each(|(&k, variable)| beta[active.rows[k]] = variable.beta);
            if let Some(hard_margin) = &mut hard_margin {
                hard_margin.check(&beta, solution.gained(), working_set.max_squared_distance())?;
            }
            if working_set.steps == 0 || lowest.is_stalled(max_up - min_down, &solution.trace) {
                solution.stalled = true;
                break;
            }
            last = chosen;
            if options.shrinking && solution.blocks.is_multiple_of(BLOCKS_PER_SHRINKING) {
                active.shrink(self, &mut last, run)?;
            }
        }
        Ok(beta)
    }
}

/// What shows that classes are not separable, as a hard margin needs.
struct HardMargin {
    /// The dual objective, less what is gained later.
    start: f64,
    /// The largest squared distance of two rows seen.
    max_squared_distance: f64,
}

impl HardMargin {
    /// An error if the classes are not separable. If Σ|β| is scaled to two, w is the difference of two points, each in the convex
    /// hull of its class: no margin is wider than that.
    fn check(&mut self, beta: &[f64], gained: f64, squared_distance: f64) -> Result<()> {
        self.max_squared_distance = f64::max(self.max_squared_distance, squared_distance);
        let total: f64 = beta.iter().map(|beta| beta.abs()).sum();
        let squared_norm = 2.0 * (total - (self.start + gained)).max(0.0);
        let least = (MIN_MARGIN_SHARE * total).powi(2) * self.max_squared_distance;
        if self.max_squared_distance > 0.0 && 4.0 * squared_norm >= least {
            return Ok(());
        }
        Err(Error::data(
            "the classes cannot be separated: no margin is wider than a ten thousandth of the largest distance between rows",
            "Give a finite c, which lets some rows be on the wrong side, or another kernel.",
        ))
    }
}
