//! How long the rest of a solve takes: the last gradient must be computed within the budget.
//!
//! Work is counted in multiplications, so that wide rows and narrow ones, and sparse rows of different lengths, are as quick. It is
//! timed by the clock of the run, and only where there is a budget: without one nothing depends on a clock.

use super::{Dual, Solution};
use crate::error::Result;
use crate::run::Run;

/// How long the gradient takes to be computed again, so that a solve stops early enough within its budget.
pub(super) struct TimeEstimate {
    /// Speed of kernels that are cached, in the precision of the solver.
    pub(super) cached: KernelSpeed,
    /// Speed of kernels that are summed in double precision.
    pub(super) summed: KernelSpeed,
    /// The gradient is still to be computed for this many times as many rows.
    pub(super) rows_factor: f64,
    /// Multiplications of kernels that are to be summed besides.
    pub(super) other_multiplications: f64,
}

/// How many multiplications kernels took, in how many seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KernelSpeed {
    multiplications: f64,
    seconds: f64,
}

impl KernelSpeed {
    #[cfg(test)]
    pub(super) fn of(multiplications: f64, seconds: f64) -> KernelSpeed {
        KernelSpeed { multiplications, seconds }
    }

    /// Whether any kernels were timed.
    pub(super) fn is_known(&self) -> bool {
        self.multiplications > 0.0
    }

    /// Times work that also returns its number of multiplications, if there is a budget.
    pub(super) fn time<T>(&mut self, run: &Run, work: impl FnOnce() -> Result<(T, f64)>) -> Result<T> {
        let started = run.budgeted_time();
        let (done, multiplications) = work()?;
        if let (Some(started), Some(ended)) = (started, run.budgeted_time()) {
            self.multiplications += multiplications;
            self.seconds += ended.saturating_sub(started).as_secs_f64();
        }
        Ok(done)
    }
}

impl Default for TimeEstimate {
    fn default() -> TimeEstimate {
        TimeEstimate {
            cached: KernelSpeed::default(),
            summed: KernelSpeed::default(),
            rows_factor: 1.0,
            other_multiplications: 0.0,
        }
    }
}

impl TimeEstimate {
    /// Before a solve, where kernels like its own may have been timed already.
    pub(super) fn with(summed: KernelSpeed) -> TimeEstimate {
        TimeEstimate { summed, ..TimeEstimate::default() }
    }

    /// Whether there is too little time left to sum kernels of this many multiplications in double precision.
    pub(super) fn lacks_time_for(&self, multiplications: f64, run: &Run) -> bool {
        let Some(left) = run.time_left() else { return false };
        // Until that speed is known, caching stands in for it, though it also writes the kernels.
        let speed = if self.summed.is_known() { self.summed } else { self.cached };
        left.as_secs_f64() < speed.seconds / speed.multiplications.max(1.0) * multiplications
    }

    /// Whether the time left is needed to compute the gradient at β.
    pub(super) fn is_out(&self, dual: &Dual<'_>, solution: &Solution, beta: &[f64], run: &Run) -> bool {
        if run.budgeted_time().is_none() {
            return false;
        }
        let moved = (0..beta.len()).filter(|&i| beta[i] != solution.beta[i]);
        let multiplications = self.rows_factor * dual.multiplications(moved) + self.other_multiplications;
        self.lacks_time_for(multiplications, run)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SPEED_TRIAL, SolverOptions};
    use super::*;
    use crate::margin::certificate::BiasRule;
    use crate::margin::kernel::{Kernel, KernelRows, KernelSpace};
    use crate::margin::leave_one_out;
    use crate::matrix::{Features, Matrix, Sparse};
    use crate::run::{StopReason, Stream, TickClock};
    use std::time::Duration;

    /// Two classes that overlap.
    fn dual_of<'a>(rows: Features<'a>, space: &'a KernelSpace) -> Dual<'a> {
        let count = rows.rows();
        let target: Vec<f64> = (0..count).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        Dual {
            rows,
            space,
            indices: (0..count).collect(),
            low: target.iter().map(|y| f64::min(*y, 0.0)).collect(),
            high: target.iter().map(|y| f64::max(*y, 0.0)).collect(),
            target,
            epsilon: 0.0,
            unit: 1.0,
        }
    }

    fn drawn(count: usize, columns: usize) -> Matrix {
        let mut stream = Stream::new(8, 0);
        Matrix::new(count, columns, (0..count * columns).map(|_| stream.normal()).collect()).unwrap()
    }

    /// A run with this many seconds left, whose clock stands still.
    fn seconds_left(seconds: f64) -> Run {
        Run::new().clock(TickClock::new(Duration::ZERO)).budget(Duration::from_secs_f64(seconds))
    }

    const OPTIONS: SolverOptions = SolverOptions { tolerance: 1e-3, cache: 1 << 24, steps: 1 << 30, shrinking: true };

    #[test]
    fn the_clock_of_the_run_says_how_long_kernels_take() {
        let rows = drawn(300, 4);
        let space = KernelSpace::of(&rows.features(), Kernel::Rbf { gamma: 0.5 });
        let dual = dual_of(rows.features(), &space);
        // No time goes by, however slow the machine is: even the shortest budget is enough.
        let solution = dual.solve(None, &OPTIONS, &seconds_left(1e-9)).unwrap();
        assert_eq!(solution.stop, StopReason::Converged);
        assert!(solution.speed.is_known() && solution.speed.seconds == 0.0);
        // Without a budget nothing is timed.
        assert!(!dual.solve(None, &OPTIONS, &Run::new()).unwrap().speed.is_known());
    }

    #[test]
    fn a_trial_and_an_estimate_count_multiplications_and_not_kernels() {
        let gamma = Kernel::Rbf { gamma: 1e-4 };
        let (narrow, wide) = (drawn(200, 8), drawn(200, 8_000));
        let (of_narrow, of_wide) =
            (KernelSpace::of(&narrow.features(), gamma), KernelSpace::of(&wide.features(), gamma));
        let (narrow, wide) = (dual_of(narrow.features(), &of_narrow), dual_of(wide.features(), &of_wide));
        for dual in [&narrow, &wide] {
            let exact: KernelRows<'_, f64> = dual.space.kernel_rows(&dual.rows, &dual.indices);
            let ((), multiplications) = dual.try_speed(&exact, &Run::new()).unwrap();
            assert!(multiplications > 0.0 && multiplications <= SPEED_TRIAL, "{multiplications:e}");
        }
        // A billion multiplications a second. All kernels of 200 rows are 40,000, of 40 or of 8032 multiplications.
        let (time, run) = (TimeEstimate::with(KernelSpeed::of(1e9, 1.0)), seconds_left(0.1));
        let nothing = Solution::zero(&narrow);
        assert!(!time.is_out(&narrow, &nothing, &[1.0; 200], &run));
        assert!(time.is_out(&wide, &nothing, &[1.0; 200], &run));
        // A long row among short ones.
        let entries = (0..200u32).map(|i| (0..if i == 7 { 4_000 } else { 2 }).map(|j| (j, 1.0)).collect::<Vec<_>>());
        let sparse = Sparse::from_rows(20_000, entries).unwrap();
        let space = KernelSpace::of(&sparse.features(), gamma);
        let dual = dual_of(sparse.features(), &space);
        let of = |i: usize| dual.multiplications(std::iter::once(i));
        assert!(of(7) > 100.0 * of(8) && of(8) == of(9), "{} {}", of(7), of(8));
    }

    #[test]
    fn folds_take_the_speed_that_is_known_and_try_none() {
        let rows = drawn(300, 4);
        let space = KernelSpace::of(&rows.features(), Kernel::Rbf { gamma: 0.5 });
        let dual = dual_of(rows.features(), &space);
        let run = seconds_left(10.0);
        let mut solution = dual.solve(None, &OPTIONS, &run).unwrap();
        let mut held_out = |speed: KernelSpeed| {
            solution.speed = speed;
            leave_one_out::held_out(&dual, &solution, &OPTIONS, BiasRule::Mean, &run)
                .unwrap()
                .map(|found| found.0.len())
        };
        assert_eq!(held_out(KernelSpeed::of(1e9, 1.0)), Ok(300));
        // A trial of their own would find that no time goes by.
        assert_eq!(held_out(KernelSpeed::of(1.0, 1e9)), Err(crate::margin::calibrate::OwnScores::NoTime));
    }
}
