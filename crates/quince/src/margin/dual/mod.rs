//! The dual of a support vector machine:
//!
//! ```text
//! minimise  ½ βᵀKβ - tᵀβ + ε Σ|βᵢ|    where  lowᵢ ≤ βᵢ ≤ highᵢ  and Σβ stays what it is
//! ```
//!
//! β is signed: a row of class +1 has β in [0, C], one of class -1 in [-C, 0], and t = ±1. Regression has t = y, β in [-C, C] and
//! ε > 0; one-class machines have t = 0 and Σβ > 0. With F = t - Kβ the optimum is where no row that can be raised has a larger
//! F than one that can be lowered (each less ε on the side to which it moves); the largest difference is the *violation*.
//!
//! Rows are moved in blocks: a working set of rows that violate most, whose kernels with all rows are one product
//! (`kernel/block.rs`) and are kept (`cache.rs`), is solved pair by pair within itself (`inner.rs`); then F of all rows is brought
//! up to date at once (`active.rs`). Rows that sit at a bound and do not want to leave it are left out until all others are done.
//! Large problems start from the solution for a sample of their rows (`sample.rs`).
//!
//! Kernels that are bounded are kept in single precision. F is recomputed in double precision at the end, which also brings back
//! the rows that were left out. If that shows a violation still too large, the solve goes on from there: what single precision
//! got wrong is in proportion to what has moved since, so it vanishes.

mod active;
mod cache;
mod inner;
mod sample;

use super::kernel::{Gallery, Space};
use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::matrix::fused::Multiply;
use crate::matrix::simd::on_wide_vectors;
use crate::run::{Run, Stop};
pub(super) use sample::balance;

use active::Active;
use inner::{Inner, Row};
use std::time::{Duration, Instant};

/// Rows in a working set.
const BLOCK: usize = 512;
/// Steps within a working set end at this share of its violation at the start...
const SHARE: f64 = 0.1;
/// ... or after so many for each of its rows.
const STEPS_A_ROW: usize = 20;
/// Every so many blocks it is looked which rows can be left out.
const BLOCKS_A_LOOK: usize = 10;
/// F is off by a little in single precision: with so much less violation than is asked for, the check in double precision passes.
const RESERVE: f64 = 0.95;

/// A hard margin narrower than this share of the spread of the rows is none.
const NARROWEST: f64 = 1e-4;

/// A dual problem.
pub(super) struct Dual<'a> {
    pub(super) rows: Features<'a>,
    pub(super) space: &'a Space,
    /// Which of the rows take part.
    pub(super) of: Vec<usize>,
    /// t
    pub(super) target: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// ε
    pub(super) insensitive: f64,
}

/// How hard it is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// The violation at which to stop.
    pub(super) tolerance: f64,
    /// Bytes for kernel rows.
    pub(super) cache: usize,
    /// Steps at most.
    pub(super) steps: usize,
    /// Whether rows are left out for a while.
    pub(super) shrinking: bool,
}

/// Where a solve stands, or has ended.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) beta: Vec<f64>,
    /// F, in double precision.
    pub(super) slope: Vec<f64>,
    pub(super) violation: f64,
    pub(super) stop: Stop,
    pub(super) steps: usize,
    pub(super) blocks: usize,
    /// What the objective had fallen by after each block.
    pub(super) trace: Vec<f64>,
}

impl Dual<'_> {
    /// How many rows take part.
    pub(super) fn count(&self) -> usize {
        self.of.len()
    }

    fn row(&self, i: usize, beta: f64) -> Row {
        Row { beta, low: self.low[i], high: self.high[i] }
    }

    /// Solves the problem from a start that keeps all bounds, or from zero.
    pub(super) fn solve(&self, start: Option<Vec<f64>>, effort: &Effort, run: &Run) -> Result<Outcome> {
        let exact: Gallery<'_, f64> = self.space.gallery(&self.rows, &self.of);
        let mut at = Outcome {
            beta: vec![0.0; self.count()],
            slope: self.target.clone(),
            violation: f64::INFINITY,
            stop: Stop::Converged,
            steps: 0,
            blocks: 0,
            trace: Vec::new(),
        };
        let start = match start {
            Some(start) => Some(start),
            None => sample::start(self, &exact, effort, run)?,
        };
        if let Some(start) = start {
            run.finish(|| self.move_to(&start, &exact, &mut at, run))?;
        }
        let mut single = self.space.kernel.is_bounded();
        loop {
            let beta = if single {
                self.descend::<f32>(&mut at, effort, run)?
            } else {
                self.descend::<f64>(&mut at, effort, run)?
            };
            run.finish(|| self.move_to(&beta, &exact, &mut at, run))?;
            let violation = self.violation(&at);
            // If going on in single precision has not helped, double precision will.
            single &= violation < 0.5 * at.violation;
            at.violation = violation;
            if violation <= effort.tolerance || at.stop != Stop::Converged {
                return Ok(at);
            }
        }
    }

    /// Brings β to a new place and F with it, in double precision.
    fn move_to(&self, beta: &[f64], exact: &Gallery<'_, f64>, at: &mut Outcome, run: &Run) -> Result<()> {
        let moved: Vec<usize> = (0..beta.len()).filter(|&i| beta[i] != at.beta[i]).collect();
        // So many probes at a time, because they are copies.
        for some in moved.chunks(4096) {
            let weights: Vec<f64> = some.iter().map(|&i| at.beta[i] - beta[i]).collect();
            let rows: Vec<usize> = some.iter().map(|&i| self.of[i]).collect();
            exact.add(&self.space.probes(&self.rows, &rows), &weights, &mut at.slope, run)?;
        }
        at.beta.copy_from_slice(beta);
        Ok(())
    }

    /// The largest U of rows that can be raised, and the least D of rows that can be lowered.
    pub(super) fn ends(&self, at: &Outcome) -> (f64, f64) {
        active::ends((0..self.count()).map(|i| (self.row(i, at.beta[i]), at.slope[i])), self.insensitive)
    }

    /// The largest difference between a row that can be raised and one that can be lowered.
    fn violation(&self, at: &Outcome) -> f64 {
        let (top, bottom) = self.ends(at);
        (top - bottom).max(0.0)
    }

    /// Whether β can be a start: within its bounds, and in balance.
    pub(super) fn allows(&self, beta: &[f64]) -> bool {
        let within = |i: usize| (self.low[i]..=self.high[i]).contains(&beta[i]);
        let size: f64 = beta.iter().map(|beta| beta.abs()).sum();
        beta.len() == self.count() && (0..self.count()).all(within) && beta.iter().sum::<f64>().abs() <= 1e-9 * size
    }

    /// An error if the classes cannot be separated, as a hard margin must. Half of Σ|β| being one, w is the difference of two
    /// points, each in the hull of its class: no margin is wider than that.
    fn check_separable(&self, beta: &[f64], gained: f64, spread: f64) -> Result<()> {
        let total: f64 = beta.iter().map(|beta| beta.abs()).sum();
        let squared_norm = 2.0 * (total - gained).max(0.0);
        if 4.0 * squared_norm >= (NARROWEST * total).powi(2) * spread {
            return Ok(());
        }
        Err(Error::data(
            "the classes cannot be separated: no margin is wider than a ten thousandth of the spread of the rows",
            "Give a finite c, which lets some rows be on the wrong side, or another kernel.",
        ))
    }

    /// Moves block after block until what is left in is as good as it should be; what β is then.
    fn descend<T: Multiply>(&self, at: &mut Outcome, effort: &Effort, run: &Run) -> Result<Vec<f64>> {
        let mut beta = at.beta.clone();
        let mut active: Active<'_, T> = Active::all(self, at, effort);
        let mut last: Vec<usize> = Vec::new();
        let mut clock = Clock::default();
        at.stop = Stop::Converged;
        let hard = self.high.iter().chain(&self.low).any(|bound| bound.is_infinite());
        // The objective at the start, and the largest squared distance seen.
        let objective = |i: usize| at.beta[i] * self.target[i] - 0.5 * at.beta[i] * (self.target[i] - at.slope[i]);
        let before = (0..self.count()).map(objective).sum::<f64>() - at.trace.last().copied().unwrap_or(0.0);
        let mut spread = 0.0;
        loop {
            run.check_cancelled()?;
            run.progress("blocks", at.blocks, 0);
            let (top, bottom) = active.ends(self.insensitive);
            if top - bottom <= RESERVE * effort.tolerance {
                break;
            }
            if run.out_of_time() || clock.is_up(self, at, &beta, run) {
                at.stop = Stop::Budget;
                break;
            }
            if at.steps >= effort.steps {
                at.stop = Stop::StepLimit;
                break;
            }
            let chosen = active.choose((top, bottom), &last, self.insensitive);
            clock.time(|| active.fetch(self, &chosen, run))?;
            let mut inner: Inner<T> = active.inner(&chosen, self.insensitive, run);
            inner.stop_at(SHARE, 0.5 * effort.tolerance);
            inner.limit = (STEPS_A_ROW * chosen.len()).min(effort.steps - at.steps);
            on_wide_vectors(&mut inner);
            at.steps += inner.steps.max(1);
            at.blocks += 1;
            at.trace.push(at.trace.last().copied().unwrap_or(0.0) + inner.gained);
            active.bring_up_to_date(&chosen, &inner.rows, run);
            chosen.iter().zip(&inner.rows).for_each(|(&k, row)| beta[active.rows[k]] = row.beta);
            if hard {
                spread = f64::max(spread, inner.spread());
                self.check_separable(&beta, before + at.trace.last().copied().unwrap_or(0.0), spread)?;
            }
            last = chosen;
            if effort.shrinking && at.blocks.is_multiple_of(BLOCKS_A_LOOK) {
                active.shrink(self, &mut last, run);
            }
        }
        Ok(beta)
    }
}

/// Knows how long F takes to be recomputed, so that a budget ends early enough for that.
#[derive(Default)]
struct Clock {
    taken: Duration,
    kernels: usize,
}

impl Clock {
    /// Times work that computes kernels; it says how many.
    fn time(&mut self, work: impl FnOnce() -> Result<usize>) -> Result<()> {
        let started = Instant::now();
        self.kernels += work()?;
        self.taken += started.elapsed();
        Ok(())
    }

    /// Whether what is left of the time is needed to recompute F. A kernel in double precision takes about twice as long.
    fn is_up(&self, dual: &Dual<'_>, at: &Outcome, beta: &[f64], run: &Run) -> bool {
        let Some(left) = run.time_left() else { return false };
        let moved = beta.iter().zip(&at.beta).filter(|(new, old)| new != old).count();
        let needed = 2.0 * self.taken.as_secs_f64() / self.kernels.max(1) as f64 * (moved * dual.count()) as f64;
        left.as_secs_f64() < needed
    }
}
