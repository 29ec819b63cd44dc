//! Parallel coordinate descent: a block of rows in two lanes, one per thread.
//!
//! Each lane visits half of the rows and updates a copy of w; afterwards the changes of both are added. Neither lane has seen the
//! steps of the other, so together they may go too far: along the sum d of all steps the objective is a parabola, and it falls
//! over the whole length of d if its minimum is past the middle. If it is not, the second lane is repeated after the first. In
//! sparse rows of many columns that is rare; where it is not, there is one lane from then on.
//!
//! All this depends on the rows alone, not on the threads: one thread visits one lane after the other with the same result.

use super::Coordinate;
use super::coordinate_descent::Visitor;
use crate::matrix::Features;
use crate::run::ThreadPool;

/// The changes of fewer columns are added before another thread is awake; in two halves all the same, which have the same bits.
const MIN_COLUMNS_FOR_TWO_THREADS: usize = 16_384;

/// The state of a lane: w and Σβ, and the KKT violations it has met.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) weights: Vec<f64>,
    /// Sum Σβ of all dual coefficients.
    pub(super) sum: f64,
    /// The largest projected gradient.
    pub(super) largest: f64,
    /// The smallest projected gradient.
    pub(super) least: f64,
    /// How many rows of the block were not skipped.
    pub(super) live: usize,
    /// Whether steps, slope and curvature are recorded.
    pub(super) records: bool,
    /// The steps in β, by position in the block.
    pub(super) steps: Vec<(usize, f64)>,
    /// Slope and curvature of the objective along the sum of all steps, without the terms of w and b.
    pub(super) slope: f64,
    pub(super) curvature: f64,
}

impl Lane {
    /// Starts from the state of another lane, and records from there.
    fn start_from(&mut self, other: &Lane) {
        self.weights.clone_from(&other.weights);
        (self.sum, self.largest, self.least) = (other.sum, other.largest, other.least);
        self.steps.clear();
        (self.records, self.slope, self.curvature) = (true, 0.0, 0.0);
    }
}

/// The two lanes, and whether they are worth it.
pub(super) struct Lanes {
    pair: [Lane; 2],
    /// The smallest block that is worth two lanes.
    least_rows: usize,
    /// Falls when the steps of the lanes conflict; at zero there is one lane from then on.
    agreement: u32,
}

impl Lanes {
    /// Adding the changes reads every column, so a block should read many times as much; and it should be worth waking a thread.
    pub(super) fn new(rows: &Features<'_>) -> Lanes {
        let least = (48 * rows.columns()).max(1_600_000);
        Lanes { pair: Default::default(), least_rows: 2 + least / rows.row_cost(), agreement: 4 }
    }

    /// How many blocks of equal size these rows are split into; none if one lane is better.
    pub(super) fn blocks(&self, rows: usize) -> usize {
        if self.agreement > 0 { rows / self.least_rows } else { 0 }
    }

    /// Visits all rows once, block by block. Skipped ones go to the end; returns how many were not skipped.
    pub(super) fn visit_all(
        &mut self,
        visitor: &Visitor<'_>,
        all: &mut [Coordinate],
        lane: &mut Lane,
        pool: ThreadPool,
    ) -> usize {
        let rows = all.len().div_ceil(self.blocks(all.len()).max(1));
        let mut live = 0;
        for from in (0..all.len()).step_by(rows) {
            let to = all.len().min(from + rows);
            self.visit_block(visitor, &mut all[from..to], lane, pool);
            (0..lane.live).for_each(|at| all.swap(live + at, from + at));
            live += lane.live;
        }
        live
    }

    /// Visits a block in both lanes.
    fn visit_block(&mut self, visitor: &Visitor<'_>, block: &mut [Coordinate], lane: &mut Lane, pool: ThreadPool) {
        let half = block.len().div_ceil(2);
        let (first, second) = block.split_at_mut(half);
        let [one, two] = &mut self.pair;
        let from = &*lane;
        pool.each(&mut [(first, &mut *one), (second, &mut *two)], |_, (block, lane)| {
            lane.start_from(from);
            visitor.visit(block, lane);
        });
        let (along, squares) = add_up(&mut lane.weights, &mut one.weights, &mut two.weights, pool);
        let change = (one.sum - lane.sum) + (two.sum - lane.sum);
        let slope = one.slope + two.slope + along + (visitor.multiplier + visitor.penalty * lane.sum) * change;
        let curvature = one.curvature + two.curvature + squares + visitor.penalty * change * change;
        if -slope > 0.55 * curvature {
            self.agreement = (self.agreement + 1).min(8);
            lane.sum += change;
            (lane.largest, lane.least) = (one.largest.max(two.largest), one.least.min(two.least));
        } else {
            self.agreement = self.agreement.saturating_sub(2);
            // w as it was, and then as the first lane has left it.
            lane.weights.iter_mut().zip(&one.weights).for_each(|(w, change)| *w -= change);
            one.steps.iter().for_each(|(at, step)| visitor.rows.add(block[*at].row, *step, &mut lane.weights));
            two.steps.iter().for_each(|(at, step)| block[half + at].beta -= step);
            (lane.sum, lane.largest, lane.least) = (one.sum, one.largest, one.least);
            visitor.visit(&mut block[half..], lane);
            two.live = lane.live;
        }
        // Skipped rows go to the end of the block.
        lane.live = one.live + two.live;
        (0..two.live).for_each(|at| block.swap(one.live + at, half + at));
    }
}

/// Half of w, of both copies, and the products of that half.
type Half<'w> = (&'w mut [f64], &'w mut [f64], &'w mut [f64], (f64, f64));

/// Adds to w the changes of two copies. Returns the products of the old w with the change, and of the change with itself; the first
/// copy becomes the change.
fn add_up(weights: &mut [f64], one: &mut [f64], two: &mut [f64], pool: ThreadPool) -> (f64, f64) {
    let middle = weights.len() / 2;
    let (weights, one, two) = (weights.split_at_mut(middle), one.split_at_mut(middle), two.split_at_mut(middle));
    let mut halves = [(weights.0, one.0, two.0, (0.0, 0.0)), (weights.1, one.1, two.1, (0.0, 0.0))];
    let add = |(weights, one, two, (along, squares)): &mut Half<'_>| {
        for ((w, one), two) in weights.iter_mut().zip(one.iter_mut()).zip(two.iter()) {
            let change = (*one - *w) + (*two - *w);
            *along += *w * change;
            *squares += change * change;
            *w += change;
            *one = change;
        }
    };
    if 2 * middle < MIN_COLUMNS_FOR_TWO_THREADS {
        halves.iter_mut().for_each(add);
    } else {
        pool.each(&mut halves, |_, half| add(half));
    }
    let [left, right] = halves.map(|half| half.3);
    (left.0 + right.0, left.1 + right.1)
}
