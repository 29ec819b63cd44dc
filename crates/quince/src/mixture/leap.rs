//! Leaps: three states that follow one another tell where EM is going, and it is there at once.
//!
//! A step of EM takes sums S to sums M(S). Near its end it goes ever the same way, in ever smaller steps: r = S₁ - S₀ is one of
//! them, and v = (S₂ - S₁) - r is how it shrinks. With a = |r| / |v|, S₀ + 2a r + a² v is about where such steps end (squared
//! extrapolation, Varadhan and Roland 2008; a = 1 is S₂ itself). In place of sums that no rows can have, such as counts below
//! zero, those of S₂ are taken; and where the next pass finds that the objective fell, EM goes back to S₂. So it never falls by
//! a leap, and what may be lost is one pass in three.

use super::em::State;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::run::Run;

/// By so much the longest leap grows where it was too short, and shrinks where one failed.
const GROWTH: f64 = 4.0;

/// The sums of every block, and of each component how much its rows count.
type Sums = Vec<Matrix>;

/// Where EM was, and where it goes back to.
pub(super) struct Leaps {
    on: bool,
    /// S₀ and S₁, as far as they are known.
    seen: Vec<Sums>,
    /// S₂, while the leap from there has not been judged, and how long that was.
    firm: Option<(Sums, f64)>,
    longest: f64,
}

impl Leaps {
    pub(super) fn new(on: bool) -> Leaps {
        Leaps { on, seen: Vec::new(), firm: None, longest: GROWTH }
    }

    /// Whether the present state was leapt to, and nobody knows yet whether that was wise.
    pub(super) fn in_the_air(&self) -> bool {
        self.firm.is_some()
    }

    /// From now on sums are taken about the present means; those that are remembered follow.
    pub(super) fn follow(&mut self, state: &mut State) {
        let firm = self.firm.iter_mut().map(|(firm, _)| firm);
        state.product.follow(&mut self.seen.iter_mut().chain(firm).collect::<Vec<_>>());
    }

    /// Forgets what was seen.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }

    /// The leap was wise.
    pub(super) fn stay(&mut self) {
        self.firm = None;
    }

    /// Goes back to where the last leap, if it has not been judged, began.
    pub(super) fn go_back(&mut self, state: &mut State, run: &Run) -> Result<()> {
        let Some((firm, length)) = self.firm.take() else { return Ok(()) };
        self.longest = (length / GROWTH).max(1.0);
        put(firm, state);
        run.finish(|| state.product.estimate(run))?;
        state.weigh();
        self.seen = vec![sums_of(state)];
        Ok(())
    }

    /// Remembers where a step led, and leaps from the second.
    pub(super) fn after_step(&mut self, state: &mut State, run: &Run) -> Result<()> {
        if !self.on {
            return Ok(());
        }
        let two = sums_of(state);
        let [zero, one] = &self.seen[..] else {
            self.seen.push(two);
            return Ok(());
        };
        let length = length(state, [zero, one, &two]).min(self.longest);
        if length >= self.longest {
            self.longest *= GROWTH;
        }
        if length > 1.0 {
            put(extrapolated([zero, one, &two], length), state);
            mend(state, &two);
            self.firm = Some((two, length));
            match state.product.estimate(run) {
                Ok(()) => state.weigh(),
                // No rows have such sums; or there is no time, which the next pass will find.
                Err(Error::Data { .. } | Error::OutOfTime { .. }) => return self.go_back(state, run),
                Err(error) => return Err(error),
            }
        }
        // Where a leap leads to is the first of the next three.
        self.seen = vec![sums_of(state)];
        Ok(())
    }
}

fn sums_of(state: &State) -> Sums {
    let mut sums = state.product.sums.clone();
    sums.push(Matrix::new(1, state.totals.len(), state.totals.clone()).expect("a total for each component"));
    sums
}

fn put(mut sums: Sums, state: &mut State) {
    state.totals = sums.pop().map(|totals| totals.values().to_vec()).unwrap_or_default();
    state.product.sums = sums;
}

/// a = |r| / |v|, with sums in units that compare.
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

/// S₀ + 2a r + a² v.
fn extrapolated([zero, one, two]: [&[Matrix]; 3], a: f64) -> Sums {
    let mut there = two.to_vec();
    for ((there, zero), one) in there.iter_mut().zip(zero).zip(one) {
        for ((two, zero), one) in there.values_mut().iter_mut().zip(zero.values()).zip(one.values()) {
            let (r, v) = (one - zero, (*two - one) - (one - zero));
            *two = zero + 2.0 * a * r + a * a * v;
        }
    }
    there
}

/// Puts what is of S₂ in place of what no rows can have.
fn mend(state: &mut State, firm: &[Matrix]) {
    for ((block, sums), firm) in state.product.blocks.iter().zip(&mut state.product.sums).zip(firm) {
        (0..sums.rows()).for_each(|k| block.family().mend(sums.row_mut(k), firm.row(k)));
    }
    let totals = firm.last().map_or(&[][..], Matrix::values);
    state.totals.iter_mut().zip(totals).filter(|(total, _)| **total < 0.0).for_each(|(total, firm)| *total = *firm);
}
