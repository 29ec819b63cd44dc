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
//! (`kernel/block.rs`) and are cached (`cache.rs`), is solved by sequential minimal optimisation (`working_set.rs`); then the
//! gradient of all rows is updated at once (`active.rs`). Shrinking leaves out rows that stay at a bound until all others have
//! converged. Duplicate rows are merged (`duplicates.rs`), and large problems have a warm start from the solution for a sample of
//! their rows (`sample.rs`).
//!
//! Bounded kernels are cached in single precision. At the end the gradient is computed again in double precision, also for the
//! rows that shrinking left out. If the KKT violation is then still too large, the solver goes on from there: the error of single
//! precision is proportional to how far β has moved since, so it vanishes.

mod active;
mod cache;
mod duplicates;
mod sample;
mod working_set;

use super::certificate::BiasRule;
use super::kernel::{KernelRows, KernelSpace};
use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::matrix::fused::Multiply;
use crate::matrix::simd::on_wide_vectors;
use crate::run::{Run, StopReason};
use sample::WarmStart;
pub(super) use sample::balance;

use active::ActiveSet;
use duplicates::DuplicateRows;
use std::time::Instant;
use working_set::{Variable, WorkingSet};

/// Rows in a working set.
const WORKING_SET_SIZE: usize = 512;
/// Steps within a working set end at this share of its first KKT violation...
const BLOCK_TOLERANCE_SHARE: f64 = 0.1;
/// ... or after this many steps for each of its rows.
const STEPS_PER_ROW: usize = 20;
/// Blocks between two attempts at shrinking.
const BLOCKS_PER_SHRINKING: usize = 10;
/// In single precision the solver stops at this share of the tolerance, so that the check in double precision passes.
const SINGLE_PRECISION_RESERVE: f64 = 0.95;

/// The solver has stalled after this many blocks that gain nothing, up to rounding, while the KKT violation does not fall.
const MAX_BLOCKS_WITHOUT_GAIN: usize = 200;
/// The solver has stalled after this many rounds in double precision without improvement.
const MAX_ROUNDS_WITHOUT_IMPROVEMENT: usize = 3;

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
    /// From settings: the cache in megabytes, and zero steps for no limit.
    pub(super) fn of(tolerance: f64, megabytes: f64, steps: usize, shrinking: bool) -> SolverOptions {
        let steps = if steps == 0 { usize::MAX } else { steps };
        SolverOptions { tolerance, cache: (megabytes * 1e6) as usize, steps, shrinking }
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
    pub(super) steps: usize,
    pub(super) blocks: usize,
    /// How much the dual objective had risen after each block.
    pub(super) trace: Vec<f64>,
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
        }
    }

    /// Solves the problem from a feasible start; without one from zero, or from the solution for a sample.
    pub(super) fn solve(&self, start: Option<Vec<f64>>, options: &SolverOptions, run: &Run) -> Result<Solution> {
        let time = &mut TimeEstimate::default();
        let Some(duplicates) = DuplicateRows::find(self, run)? else { return self.solve_by(start, options, time, run) };
        let start = start.map(|beta| duplicates.sum_by_group(&beta));
        Ok(duplicates.expand(self, duplicates.merge(self).solve_by(start, options, time, run)?))
    }

    /// Solves the problem from a start that is near to its solution.
    pub(super) fn solve_near(&self, start: Vec<f64>, options: &SolverOptions, run: &Run) -> Result<Solution> {
        self.solve_by(Some(start), options, &mut TimeEstimate::default(), run)
    }

    fn solve_by(
        &self,
        start: Option<Vec<f64>>,
        options: &SolverOptions,
        time: &mut TimeEstimate,
        run: &Run,
    ) -> Result<Solution> {
        let exact: KernelRows<'_, f64> = self.space.kernel_rows(&self.rows, &self.indices);
        let mut solution = Solution {
            beta: vec![0.0; self.count()],
            gradient: self.target.clone(),
            kkt_violation: f64::INFINITY,
            stop: StopReason::Converged,
            stalled: false,
            steps: 0,
            blocks: 0,
            trace: Vec::new(),
        };
        let mut single = self.space.kernel.is_bounded();
        let warm_start = match start {
            Some(start) => {
                self.set_coefficients(&start, &exact, &mut solution, time, run)?;
                WarmStart::Current
            }
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
        let mut rounds_without_improvement = 0;
        loop {
            let (beta, gradient) = from.take().unwrap_or_else(|| (solution.beta.clone(), solution.gradient.clone()));
            let beta = if single {
                self.optimise::<f32>(&mut solution, beta, gradient, options, time, run)?
            } else {
                self.optimise::<f64>(&mut solution, beta, gradient, options, time, run)?
            };
            self.set_coefficients(&beta, &exact, &mut solution, time, run)?;
            let kkt_violation = self.kkt_violation(&solution);
            if solution.stop == StopReason::Budget
                && let Some((beta, gradient)) = sample_model
            {
                // An unfinished solution for all rows may be worse than the optimum for fewer rows.
                let sample_model = Solution { beta, gradient, ..solution.clone() };
                let primal = |solution: &Solution| self.certify(solution, BiasRule::Mean, false).primal;
                if primal(&sample_model) < primal(&solution) {
                    self.set_coefficients(&sample_model.beta, &exact, &mut solution, time, run)?;
                }
                solution.kkt_violation = self.kkt_violation(&solution);
                return Ok(solution);
            }
            if kkt_violation <= options.tolerance || solution.stop != StopReason::Converged {
                (solution.kkt_violation, solution.stalled) =
                    (kkt_violation, solution.stalled && kkt_violation > options.tolerance);
                return Ok(solution);
            }
            // If another round in single precision has not helped, double precision will; if several rounds of that have not,
            // nothing will.
            rounds_without_improvement +=
                usize::from(!single && (solution.stalled || kkt_violation >= solution.kkt_violation));
            single &= kkt_violation < 0.5 * solution.kkt_violation && !solution.stalled;
            solution.kkt_violation = kkt_violation;
            if rounds_without_improvement >= MAX_ROUNDS_WITHOUT_IMPROVEMENT {
                solution.stop = StopReason::Stalled;
                return Ok(solution);
            }
        }
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
        time.summed.time(|| run.finish(|| self.update_gradient(&change, exact, &mut solution.gradient, run)))?;
        solution.beta.copy_from_slice(beta);
        if solution.gradient.iter().all(|gradient| gradient.is_finite()) {
            return Ok(());
        }
        Err(Error::data(
            "the kernels of these rows are too large to be added up",
            "Scale the columns, or give a smaller degree, constant or gamma.",
        ))
    }

    /// Subtracts KΔβ from the gradient; returns how many kernels were computed.
    fn update_gradient<T: Multiply>(
        &self,
        change: &[f64],
        kernel_rows: &KernelRows<'_, T>,
        gradient: &mut [f64],
        run: &Run,
    ) -> Result<((), usize)> {
        let moved: Vec<usize> = (0..change.len()).filter(|&i| change[i] != 0.0).collect();
        // In batches, because queries are copies of their rows.
        for some in moved.chunks(4096) {
            let weights: Vec<T> = some.iter().map(|&i| T::from_f64(-change[i])).collect();
            let rows: Vec<usize> = some.iter().map(|&i| self.indices[i]).collect();
            kernel_rows.add(&self.space.queries(&self.rows, &rows), &weights, gradient, run)?;
        }
        Ok(((), moved.len() * self.count()))
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

    /// An error if the classes are not separable, as a hard margin needs. If Σ|β| is scaled to two, w is the difference of two
    /// points, each in the convex hull of its class: no margin is wider than that.
    fn check_separable(&self, beta: &[f64], gained: f64, max_squared_distance: f64) -> Result<()> {
        let total: f64 = beta.iter().map(|beta| beta.abs()).sum();
        let squared_norm = 2.0 * (total - gained).max(0.0);
        if max_squared_distance > 0.0 && 4.0 * squared_norm >= (MIN_MARGIN_SHARE * total).powi(2) * max_squared_distance
        {
            return Ok(());
        }
        Err(Error::data(
            "the classes cannot be separated: no margin is wider than a ten thousandth of the spread of the rows",
            "Give a finite c, which lets some rows be on the wrong side, or another kernel.",
        ))
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
        // The objective at the start, and the largest squared distance seen.
        let objective = |i: usize| beta[i] * self.target[i] - 0.5 * beta[i] * (self.target[i] - gradient[i]);
        let before = (0..self.count()).map(objective).sum::<f64>() - solution.trace.last().copied().unwrap_or(0.0);
        let mut max_squared_distance = 0.0;
        let hard = self.high.iter().chain(&self.low).any(|bound| bound.is_infinite());
        let mut active: ActiveSet<'_, T> = ActiveSet::all(self, &beta, gradient, options);
        let mut last: Vec<usize> = Vec::new();
        (solution.stop, solution.stalled) = (StopReason::Converged, false);
        // The smallest KKT violation so far, and after how many blocks it was reached.
        let mut lowest = (f64::INFINITY, solution.trace.len());
        loop {
            run.check_cancelled()?;
            let (max_up, min_down) = active.kkt_bounds(self.epsilon);
            run.tell(|| {
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
            time.cached.time(|| active.compute_missing_kernels(self, &chosen, run).map(|kernels| ((), kernels)))?;
            let mut working_set: WorkingSet<T> = active.working_set(&chosen, self.epsilon, run);
            working_set.stop_at(BLOCK_TOLERANCE_SHARE, 0.5 * options.tolerance);
            working_set.limit = (STEPS_PER_ROW * chosen.len()).min(options.steps - solution.steps);
            on_wide_vectors(&mut working_set);
            solution.steps += working_set.steps.max(1);
            solution.blocks += 1;
            solution.trace.push(solution.trace.last().copied().unwrap_or(0.0) + working_set.gained);
            active.update_gradient(&chosen, &working_set.variables, run);
            chosen.iter().zip(&working_set.variables).for_each(|(&k, variable)| beta[active.rows[k]] = variable.beta);
            if hard {
                max_squared_distance = f64::max(max_squared_distance, working_set.max_squared_distance());
                self.check_separable(
                    &beta,
                    before + solution.trace.last().copied().unwrap_or(0.0),
                    max_squared_distance,
                )?;
            }
            if max_up - min_down < 0.99 * lowest.0 {
                lowest = (max_up - min_down, solution.trace.len() - 1);
            }
            let (early, late) = (solution.trace[lowest.1], solution.trace[solution.trace.len() - 1]);
            if working_set.steps == 0
                || (solution.trace.len() - lowest.1 > MAX_BLOCKS_WITHOUT_GAIN && late - early <= 1e-14 * early.abs())
            {
                solution.stalled = true;
                break;
            }
            last = chosen;
            if options.shrinking && solution.blocks.is_multiple_of(BLOCKS_PER_SHRINKING) {
                active.shrink(self, &mut last, run);
            }
        }
        Ok(beta)
    }
}

/// How long the gradient takes to be computed again, so that a solve stops early enough within its budget.
struct TimeEstimate {
    /// Speed of kernels that are cached, in the precision of the solver.
    cached: KernelSpeed,
    /// Speed of kernels that are summed in double precision.
    summed: KernelSpeed,
    /// The gradient is still to be computed for this many times as many rows.
    rows_factor: f64,
    /// Kernels that are to be summed besides.
    other_kernels: f64,
}

/// How many kernels were computed, in how many seconds.
#[derive(Clone, Copy, Default)]
struct KernelSpeed {
    kernels: f64,
    seconds: f64,
}

impl KernelSpeed {
    /// Times work that also returns its number of kernels.
    fn time<T>(&mut self, work: impl FnOnce() -> Result<(T, usize)>) -> Result<T> {
        let started = Instant::now();
        let (done, kernels) = work()?;
        self.kernels += kernels as f64;
        self.seconds += started.elapsed().as_secs_f64();
        Ok(done)
    }
}

impl Default for TimeEstimate {
    fn default() -> TimeEstimate {
        TimeEstimate {
            cached: KernelSpeed::default(),
            summed: KernelSpeed::default(),
            rows_factor: 1.0,
            other_kernels: 0.0,
        }
    }
}

impl TimeEstimate {
    /// Whether there is too little time left to sum this many kernels in double precision.
    fn lacks_time_for(&self, kernels: f64, run: &Run) -> bool {
        let Some(left) = run.time_left() else { return false };
        // Until that speed is known, caching stands in for it, though it also writes the kernels.
        let speed = if self.summed.kernels > 0.0 { self.summed } else { self.cached };
        left.as_secs_f64() < speed.seconds / speed.kernels.max(1.0) * kernels
    }

    /// Whether the time left is needed to compute the gradient at β.
    fn is_out(&self, dual: &Dual<'_>, solution: &Solution, beta: &[f64], run: &Run) -> bool {
        let moved = beta.iter().zip(&solution.beta).filter(|(new, old)| new != old).count();
        self.lacks_time_for(self.rows_factor * (moved * dual.count()) as f64 + self.other_kernels, run)
    }
}
