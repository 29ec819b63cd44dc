//! Leaps: three states that follow one another tell where EM is going, and it is there at once.
//!
//! A step of EM takes sums S to sums M(S). Near its end it goes ever the same way, in ever smaller steps: r = S₁ - S₀ is one of
//! them, and v = (S₂ - S₁) - r is how it shrinks. With a = |r| / |v|, S₀ + 2a r + a² v is about where such steps end (squared
//! extrapolation, Varadhan and Roland 2008; a = 1 is S₂ itself). Sums that no rows can have are not tried; and where the next
//! pass finds that the objective fell, EM goes back to S₂. So it never falls by a leap, and what may be lost is one pass in three.

use super::em::State;
use crate::family::block::Family;
use crate::matrix::Matrix;
use crate::run::Run;

/// By so much the longest leap grows where it was too short, and shrinks where one failed.
const GROWTH: f64 = 4.0;

/// Where EM was, and where it goes back to.
pub(super) struct Leaps {
    on: bool,
    /// S₀ and S₁, as far as they are known: the sums of every block, and of each component how much its rows count.
    seen: Vec<Vec<Matrix>>,
    /// S₂, while the leap from there has not been judged, and how long that was.
    firm: Option<(Box<State>, f64)>,
    longest: f64,
}

impl Leaps {
    pub(super) fn new(on: bool) -> Leaps {
        Leaps { on, seen: Vec::new(), firm: None, longest: GROWTH }
    }

    /// From now on sums are taken about the present means; those that were seen follow.
    pub(super) fn follow(&mut self, state: &mut State) {
        state.product.follow(&mut self.seen);
        if self.on && self.seen.is_empty() {
            self.seen.push(sums_of(state));
        }
    }

    /// Whether the state stands, now that its objective is known: if it was leapt to and is no better, EM goes back.
    pub(super) fn stands(&mut self, state: &mut State, better: bool) -> bool {
        let Some((firm, length)) = self.firm.take() else { return true };
        if !better {
            self.longest = (length / GROWTH).max(1.0);
            self.land_on(*firm, state);
        }
        better
    }

    /// Goes back to where no leap is waiting to be judged.
    pub(super) fn land(&mut self, state: &mut State) {
        if let Some((firm, _)) = self.firm.take() {
            self.land_on(*firm, state);
        }
    }

    fn land_on(&mut self, firm: State, state: &mut State) {
        *state = firm;
        self.forget();
    }

    /// Forgets what was seen.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }

    /// Remembers where a step led, and leaps from the second.
    pub(super) fn after_step(&mut self, state: &mut State, run: &Run) {
        if !self.on {
            return;
        }
        let two = sums_of(state);
        let [zero, one] = &self.seen[..] else { return self.seen.push(two) };
        let length = length(state, [zero, one, &two]).min(self.longest);
        if length >= self.longest {
            self.longest *= GROWTH;
        }
        let there = (length > 1.0).then(|| extrapolated([zero, one, &two], length));
        self.forget();
        let Some(mut there) = there else { return };
        let firm = state.clone();
        state.totals = there.pop().map(|totals| totals.values().to_vec()).unwrap_or_default();
        state.product.sums = there;
        if is_possible(state) && state.product.estimate(run).is_ok() {
            state.weigh();
            self.firm = Some((Box::new(firm), length));
        } else {
            self.longest = (length / GROWTH).max(1.0);
            self.land_on(firm, state);
        }
    }
}

/// The sums of every block, and of each component how much its rows count.
fn sums_of(state: &State) -> Vec<Matrix> {
    let mut sums = state.product.sums.clone();
    sums.push(Matrix::new(1, state.totals.len(), state.totals.clone()).expect("a total for each component"));
    sums
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
fn extrapolated([zero, one, two]: [&[Matrix]; 3], a: f64) -> Vec<Matrix> {
    let mut there = two.to_vec();
    for ((there, zero), one) in there.iter_mut().zip(zero).zip(one) {
        for ((two, zero), one) in there.values_mut().iter_mut().zip(zero.values()).zip(one.values()) {
            let (r, v) = (one - zero, (*two - one) - (one - zero));
            *two = zero + 2.0 * a * r + a * a * v;
        }
    }
    there
}

/// Whether rows can have such sums.
fn is_possible(state: &State) -> bool {
    let of_block = |family: &dyn Family, sums: &Matrix| (0..sums.rows()).all(|k| family.is_possible(sums.row(k)));
    let mut blocks = state.product.blocks.iter().zip(&state.product.sums);
    state.totals.iter().all(|total| *total > 0.0) && blocks.all(|(block, sums)| of_block(block.family(), sums))
}
