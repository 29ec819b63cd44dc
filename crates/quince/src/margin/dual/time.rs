//! How long the rest of a solve takes: the last gradient must be computed within the budget.

use super::{Dual, Solution};
use crate::error::Result;
use crate::run::Run;
use std::time::Instant;

/// How long the gradient takes to be computed again, so that a solve stops early enough within its budget.
pub(super) struct TimeEstimate {
    /// Speed of kernels that are cached, in the precision of the solver.
    pub(super) cached: KernelSpeed,
    /// Speed of kernels that are summed in double precision.
    pub(super) summed: KernelSpeed,
    /// The gradient is still to be computed for this many times as many rows.
    pub(super) rows_factor: f64,
    /// Kernels that are to be summed besides.
    pub(super) other_kernels: f64,
}

/// How many kernels were computed, in how many seconds.
#[derive(Clone, Copy, Default)]
pub(super) struct KernelSpeed {
    kernels: f64,
    seconds: f64,
}

impl KernelSpeed {
    #[cfg(test)]
    pub(super) fn of(kernels: f64, seconds: f64) -> KernelSpeed {
        KernelSpeed { kernels, seconds }
    }

    /// Whether any kernels were timed.
    pub(super) fn is_known(&self) -> bool {
        self.kernels > 0.0
    }

    /// Times work that also returns its number of kernels.
    pub(super) fn time<T>(&mut self, work: impl FnOnce() -> Result<(T, usize)>) -> Result<T> {
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
    pub(super) fn lacks_time_for(&self, kernels: f64, run: &Run) -> bool {
        let Some(left) = run.time_left() else { return false };
        // Until that speed is known, caching stands in for it, though it also writes the kernels.
        let speed = if self.summed.kernels > 0.0 { self.summed } else { self.cached };
        left.as_secs_f64() < speed.seconds / speed.kernels.max(1.0) * kernels
    }

    /// Whether the time left is needed to compute the gradient at β.
    pub(super) fn is_out(&self, dual: &Dual<'_>, solution: &Solution, beta: &[f64], run: &Run) -> bool {
        let moved = beta.iter().zip(&solution.beta).filter(|(new, old)| new != old).count();
        self.lacks_time_for(self.rows_factor * (moved * dual.count()) as f64 + self.other_kernels, run)
    }
}
