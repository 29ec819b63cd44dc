//! Acceleration of EM by squared extrapolation (SQUAREM, Varadhan and Roland 2008).
//!
//! A step of EM maps statistics S to M(S). Near convergence it keeps its direction and shrinks by a steady factor: r = S₁ -
//! S₀ is a step, and v = (S₂ - S₁) - r its change. With the step length a = |r| / |v|, S₀ + 2a r + a² v approximates the
//! fixed point (a = 1 is S₂ itself). Statistics that no rows can have, such as negative counts, are replaced by those of S₂;
//! and where the next pass finds that the objective fell, EM goes back to S₂. So an extrapolation never lowers the objective,
//! and costs at most one pass in three.

use super::State;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::run::Run;

/// The factor by which the longest step length grows where it was too short, and shrinks where an extrapolation failed.
const STEP_LENGTH_FACTOR: f64 = 4.0;

/// The statistics of every block, and the total responsibilities.
type Snapshot = Vec<Matrix>;

/// The recent states of EM, and the one to fall back to.
pub(crate) struct SquaredExtrapolation {
    on: bool,
    /// S₀ and S₁, as far as they are known.
    history: Vec<Snapshot>,
    /// S₂, until the extrapolation from there has been judged, and the step length of that extrapolation.
    fallback: Option<(Snapshot, f64)>,
    max_length: f64,
}

impl SquaredExtrapolation {
    pub(crate) fn new(on: bool) -> SquaredExtrapolation {
        SquaredExtrapolation { on, history: Vec::new(), fallback: None, max_length: STEP_LENGTH_FACTOR }
    }

    /// Whether the present state was extrapolated and has not been judged yet.
    pub(crate) fn is_tentative(&self) -> bool {
        self.fallback.is_some()
    }

    /// From now on statistics are collected about the present means; the states kept here are moved along.
    pub(crate) fn follow(&mut self, state: &mut State) {
        let fallback = self.fallback.iter_mut().map(|(fallback, _)| fallback);
        state.product.follow(&mut self.history.iter_mut().chain(fallback).collect::<Vec<_>>());
    }

    /// Forgets the recent states.
    pub(crate) fn forget(&mut self) {
        self.history.clear();
    }

    /// Accepts the last extrapolation.
    pub(crate) fn accept(&mut self) {
        self.fallback = None;
    }

    /// Undoes the last extrapolation, if it has not been judged.
    pub(crate) fn revert(&mut self, state: &mut State, run: &Run) -> Result<()> {
        let Some((fallback, length)) = self.fallback.take() else { return Ok(()) };
        self.max_length = (length / STEP_LENGTH_FACTOR).max(1.0);
        restore(fallback, state);
        run.finish(|| state.product.estimate(run))?;
        state.weigh();
        self.history = vec![snapshot(state)];
        Ok(())
    }

    /// Records the state after a step, and extrapolates from the third.
    pub(crate) fn after_step(&mut self, state: &mut State, run: &Run) -> Result<()> {
        if !self.on {
            return Ok(());
        }
        let two = snapshot(state);
        let [zero, one] = &self.history[..] else {
            self.history.push(two);
            return Ok(());
        };
        let length = length(state, [zero, one, &two]).min(self.max_length);
        if length >= self.max_length {
            self.max_length *= STEP_LENGTH_FACTOR;
        }
        if length > 1.0 {
            restore(extrapolate([zero, one, &two], length), state);
            mend(state, &two);
            self.fallback = Some((two, length));
            match state.product.estimate(run) {
                Ok(()) => state.weigh(),
                // No rows have such statistics; or the budget has run out, which the next pass will find.
                Err(Error::Data { .. } | Error::OutOfTime { .. }) => return self.revert(state, run),
                Err(error) => return Err(error),
            }
        }
        // An extrapolated state is the first of the next three.
        self.history = vec![snapshot(state)];
        Ok(())
    }
}

fn snapshot(state: &State) -> Snapshot {
    let mut statistics = state.product.statistics.clone();
    statistics.push(Matrix::new(1, state.totals.len(), state.totals.clone()).expect("a total for each component"));
    statistics
}

fn restore(mut statistics: Snapshot, state: &mut State) {
    state.totals = statistics.pop().map(|totals| totals.values().to_vec()).unwrap_or_default();
    state.product.statistics = statistics;
}

/// The step length a = |r| / |v|, with statistics in comparable units.
fn length(state: &State, [zero, one, two]: [&[Matrix]; 3]) -> f64 {
    let (mut r_squared, mut v_squared) = (0.0, 0.0);
    for b in 0..two.len() {
        let unit = |j: usize| state.product.blocks.get(b).map_or(1.0, |block| block.family().unit(j));
        let units: Vec<f64> = (0..two[b].columns()).map(unit).collect();
        for k in 0..two[b].rows() {
            let rows = zero[b].row(k).iter().zip(one[b].row(k)).zip(two[b].row(k));
            for (((zero, one), two), unit) in rows.zip(&units) {
                let (r, v) = ((one - zero) / unit, ((two - one) - (one - zero)) / unit);
                r_squared += r * r;
                v_squared += v * v;
            }
        }
    }
    (r_squared / v_squared).sqrt()
}

/// The extrapolated statistics S₀ + 2a r + a² v.
fn extrapolate([zero, one, two]: [&[Matrix]; 3], a: f64) -> Snapshot {
    let mut there = two.to_vec();
    for ((there, zero), one) in there.iter_mut().zip(zero).zip(one) {
        for ((two, zero), one) in there.values_mut().iter_mut().zip(zero.values()).zip(one.values()) {
            let (r, v) = (one - zero, (*two - one) - (one - zero));
            *two = zero + 2.0 * a * r + a * a * v;
        }
    }
    there
}

/// Replaces statistics that no rows can have by those of S₂.
fn mend(state: &mut State, fallback: &[Matrix]) {
    for ((block, statistics), fallback) in state.product.blocks.iter().zip(&mut state.product.statistics).zip(fallback)
    {
        (0..statistics.rows()).for_each(|k| block.family().mend(statistics.row_mut(k), fallback.row(k)));
    }
    let totals = fallback.last().map_or(&[][..], Matrix::values);
    state
        .totals
        .iter_mut()
        .zip(totals)
        .filter(|(total, _)| **total < 0.0)
        .for_each(|(total, fallback)| *total = *fallback);
}
