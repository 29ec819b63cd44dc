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
//! Rows that are the same count as one (`same.rs`), and large problems start from the solution for a sample of their rows
//! (`sample.rs`).
//!
//! Kernels that are bounded are kept in single precision. F is recomputed in double precision at the end, which also brings back
//! the rows that were left out. If that shows a violation still too large, the solve goes on from there: what single precision
//! got wrong is in proportion to what has moved since, so it vanishes.

mod active;
mod cache;
mod inner;
mod same;
mod sample;

use super::kernel::{Gallery, Space};
use super::proof::Middle;
use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::matrix::fused::Multiply;
use crate::matrix::simd::on_wide_vectors;
use crate::run::{Run, Stop};
use sample::Begun;
pub(super) use sample::balance;

use active::Active;
use inner::{Inner, Row};
use same::Same;
use std::time::Instant;

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

/// So many blocks that gain nothing, up to rounding, while the violation does not fall, are the last.
const PATIENCE: usize = 200;
/// So many rounds in double precision that end no better are the last.
const IN_VAIN: usize = 3;

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

impl Effort {
    /// From settings: megabytes for kernel rows, and no limit of steps where it is zero.
    pub(super) fn of(tolerance: f64, megabytes: f64, steps: usize, shrinking: bool) -> Effort {
        let steps = if steps == 0 { usize::MAX } else { steps };
        Effort { tolerance, cache: (megabytes * 1e6) as usize, steps, shrinking }
    }
}

/// Where a solve stands, or has ended.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Within its bounds, but for the machine of a sample, which is the answer where a budget allows no better one.
    pub(super) beta: Vec<f64>,
    /// F, in double precision.
    pub(super) slope: Vec<f64>,
    pub(super) violation: f64,
    pub(super) stop: Stop,
    /// Whether rounding leaves nothing to gain, though the violation is larger than asked for.
    pub(super) stalled: bool,
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

    /// The same problem with some of its rows.
    pub(super) fn part(&self, keep: &[usize]) -> Self {
        let some = |values: &[f64]| keep.iter().map(|&i| values[i]).collect();
        Dual {
            rows: self.rows,
            space: self.space,
            of: keep.iter().map(|&i| self.of[i]).collect(),
            target: some(&self.target),
            low: some(&self.low),
            high: some(&self.high),
            insensitive: self.insensitive,
        }
    }

    /// Solves the problem from a start that keeps all bounds; without one from zero, or from the solution for a sample.
    pub(super) fn solve(&self, start: Option<Vec<f64>>, effort: &Effort, run: &Run) -> Result<Outcome> {
        let clock = &mut Clock::default();
        let Some(same) = Same::find(self, run)? else { return self.solve_by(start, effort, clock, run) };
        let start = start.map(|beta| same.sum(&beta));
        Ok(same.spread(self, same.merge(self).solve_by(start, effort, clock, run)?))
    }

    /// Solves the problem from a start that is near to its solution.
    pub(super) fn solve_near(&self, start: Vec<f64>, effort: &Effort, run: &Run) -> Result<Outcome> {
        self.solve_by(Some(start), effort, &mut Clock::default(), run)
    }

    fn solve_by(&self, start: Option<Vec<f64>>, effort: &Effort, clock: &mut Clock, run: &Run) -> Result<Outcome> {
        let exact: Gallery<'_, f64> = self.space.gallery(&self.rows, &self.of);
        let mut at = Outcome {
            beta: vec![0.0; self.count()],
            slope: self.target.clone(),
            violation: f64::INFINITY,
            stop: Stop::Converged,
            stalled: false,
            steps: 0,
            blocks: 0,
            trace: Vec::new(),
        };
        let mut single = self.space.kernel.is_bounded();
        let begun = match start {
            Some(start) => {
                self.move_to(&start, &exact, &mut at, clock, run)?;
                Begun::Here
            }
            None if single => sample::start::<f32>(self, effort, clock, &mut at, run)?,
            None => sample::start::<f64>(self, effort, clock, &mut at, run)?,
        };
        // β and F that the descent starts from, and those of the sample's machine.
        let (mut from, small) = match begun {
            Begun::Here => (None, None),
            Begun::At { start, sample } => (Some(start), Some(sample)),
            Begun::CutShort(beta) => {
                self.move_to(&beta, &exact, &mut at, clock, run)?;
                (at.violation, at.stop) = (self.violation(&at), Stop::Budget);
                return Ok(at);
            }
        };
        let mut vain = 0;
        loop {
            let (beta, slope) = from.take().unwrap_or_else(|| (at.beta.clone(), at.slope.clone()));
            let beta = if single {
                self.descend::<f32>(&mut at, beta, slope, effort, clock, run)?
            } else {
                self.descend::<f64>(&mut at, beta, slope, effort, clock, run)?
            };
            self.move_to(&beta, &exact, &mut at, clock, run)?;
            let violation = self.violation(&at);
            if at.stop == Stop::Budget
                && let Some((beta, slope)) = small
            {
                // What was cut short on the way to the optimum may be worse than the optimum for fewer rows.
                let small = Outcome { beta, slope, ..at.clone() };
                let primal = |at: &Outcome| self.prove(at, Middle::Mean, false).primal;
                if primal(&small) < primal(&at) {
                    self.move_to(&small.beta, &exact, &mut at, clock, run)?;
                }
                at.violation = self.violation(&at);
                return Ok(at);
            }
            if violation <= effort.tolerance || at.stop != Stop::Converged {
                (at.violation, at.stalled) = (violation, at.stalled && violation > effort.tolerance);
                return Ok(at);
            }
            // If going on in single precision has not helped, double precision will; if that has not, again and again, nothing will.
            vain += usize::from(!single && (at.stalled || violation >= at.violation));
            single &= violation < 0.5 * at.violation && !at.stalled;
            at.violation = violation;
            if vain >= IN_VAIN {
                at.stop = Stop::Stalled;
                return Ok(at);
            }
        }
    }

    /// Brings β to a new place and F with it, in double precision. There is always time for that: a machine without F is none.
    fn move_to(
        &self,
        beta: &[f64],
        exact: &Gallery<'_, f64>,
        at: &mut Outcome,
        clock: &mut Clock,
        run: &Run,
    ) -> Result<()> {
        let change: Vec<f64> = beta.iter().zip(&at.beta).map(|(new, old)| new - old).collect();
        clock.added.time(|| run.finish(|| self.take_off(&change, exact, &mut at.slope, run)))?;
        at.beta.copy_from_slice(beta);
        if at.slope.iter().all(|slope| slope.is_finite()) {
            return Ok(());
        }
        Err(Error::data(
            "the kernels of these rows are too large to be added up",
            "Scale the columns, or give a smaller degree, constant or gamma.",
        ))
    }

    /// Takes the kernels of all rows, as often as β has changed, off F; how many there were.
    fn take_off<T: Multiply>(
        &self,
        change: &[f64],
        gallery: &Gallery<'_, T>,
        slope: &mut [f64],
        run: &Run,
    ) -> Result<((), usize)> {
        let moved: Vec<usize> = (0..change.len()).filter(|&i| change[i] != 0.0).collect();
        // So many probes at a time, because they are copies.
        for some in moved.chunks(4096) {
            let weights: Vec<T> = some.iter().map(|&i| T::from_f64(-change[i])).collect();
            let rows: Vec<usize> = some.iter().map(|&i| self.of[i]).collect();
            gallery.add(&self.space.probes(&self.rows, &rows), &weights, slope, run)?;
        }
        Ok(((), moved.len() * self.count()))
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

    /// The start that is nearest to a β: within its bounds, and in balance.
    pub(super) fn within_bounds(&self, mut beta: Vec<f64>) -> Vec<f64> {
        beta.iter_mut().enumerate().for_each(|(i, beta)| *beta = beta.clamp(self.low[i], self.high[i]));
        let size: f64 = beta.iter().map(|beta| beta.abs()).sum();
        // What is off by rounding alone stays: rows at their bounds should stay there.
        if beta.iter().sum::<f64>().abs() > 1e-9 * size {
            balance(&mut beta);
        }
        beta
    }

    /// An error if the classes cannot be separated, as a hard margin must. Half of Σ|β| being one, w is the difference of two
    /// points, each in the hull of its class: no margin is wider than that.
    fn check_separable(&self, beta: &[f64], gained: f64, spread: f64) -> Result<()> {
        let total: f64 = beta.iter().map(|beta| beta.abs()).sum();
        let squared_norm = 2.0 * (total - gained).max(0.0);
        if spread > 0.0 && 4.0 * squared_norm >= (NARROWEST * total).powi(2) * spread {
            return Ok(());
        }
        Err(Error::data(
            "the classes cannot be separated: no margin is wider than a ten thousandth of the spread of the rows",
            "Give a finite c, which lets some rows be on the wrong side, or another kernel.",
        ))
    }

    /// Moves block after block, from β and its F, until what is left in is as good as it should be; what β is then.
    fn descend<T: Multiply>(
        &self,
        at: &mut Outcome,
        mut beta: Vec<f64>,
        slope: Vec<f64>,
        effort: &Effort,
        clock: &mut Clock,
        run: &Run,
    ) -> Result<Vec<f64>> {
        // The objective at the start, and the largest squared distance seen.
        let objective = |i: usize| beta[i] * self.target[i] - 0.5 * beta[i] * (self.target[i] - slope[i]);
        let before = (0..self.count()).map(objective).sum::<f64>() - at.trace.last().copied().unwrap_or(0.0);
        let mut spread = 0.0;
        let hard = self.high.iter().chain(&self.low).any(|bound| bound.is_infinite());
        let mut active: Active<'_, T> = Active::all(self, &beta, slope, effort);
        let mut last: Vec<usize> = Vec::new();
        (at.stop, at.stalled) = (Stop::Converged, false);
        // The lowest violation so far, and after how many blocks it was.
        let mut lowest = (f64::INFINITY, at.trace.len());
        loop {
            run.check_cancelled()?;
            let (top, bottom) = active.ends(self.insensitive);
            run.tell(|| {
                let (violation, asked) = (top - bottom, effort.tolerance);
                format!("violation {violation:.1e} of {asked:.0e} after {} blocks of rows", at.blocks)
            });
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
            clock.kept.time(|| active.fetch(self, &chosen, run).map(|kernels| ((), kernels)))?;
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
            if top - bottom < 0.99 * lowest.0 {
                lowest = (top - bottom, at.trace.len() - 1);
            }
            let (early, late) = (at.trace[lowest.1], at.trace[at.trace.len() - 1]);
            if inner.steps == 0 || (at.trace.len() - lowest.1 > PATIENCE && late - early <= 1e-14 * early.abs()) {
                at.stalled = true;
                break;
            }
            last = chosen;
            if effort.shrinking && at.blocks.is_multiple_of(BLOCKS_A_LOOK) {
                active.shrink(self, &mut last, run);
            }
        }
        Ok(beta)
    }
}

/// Knows how long F takes to be computed anew, so that a budget ends early enough for that.
struct Clock {
    /// Kernels that were kept, in the precision of the descent, and kernels that were added up in double precision.
    kept: Pace,
    added: Pace,
    /// F is still to be computed for the rows here and, above, for so many times as many.
    times: f64,
    /// Kernels that are to be added up besides.
    besides: f64,
}

/// How many kernels were computed, in how many seconds.
#[derive(Clone, Copy, Default)]
struct Pace {
    kernels: f64,
    seconds: f64,
}

impl Pace {
    /// Times work on so many kernels.
    fn time<T>(&mut self, work: impl FnOnce() -> Result<(T, usize)>) -> Result<T> {
        let started = Instant::now();
        let (done, kernels) = work()?;
        self.kernels += kernels as f64;
        self.seconds += started.elapsed().as_secs_f64();
        Ok(done)
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { kept: Pace::default(), added: Pace::default(), times: 1.0, besides: 0.0 }
    }
}

impl Clock {
    /// Whether there is too little time left to add up so many kernels in double precision.
    fn lacks_time_for(&self, kernels: f64, run: &Run) -> bool {
        let Some(left) = run.time_left() else { return false };
        // Until it is known: as long as keeping them in single precision takes, which has to write them.
        let pace = if self.added.kernels > 0.0 { self.added } else { self.kept };
        left.as_secs_f64() < pace.seconds / pace.kernels.max(1.0) * kernels
    }

    /// Whether what is left of the time is needed to end a descent that stands at β.
    fn is_up(&self, dual: &Dual<'_>, at: &Outcome, beta: &[f64], run: &Run) -> bool {
        let moved = beta.iter().zip(&at.beta).filter(|(new, old)| new != old).count();
        self.lacks_time_for(self.times * (moved * dual.count()) as f64 + self.besides, run)
    }
}
