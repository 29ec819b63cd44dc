//! A block of rows in two lanes, so that two threads have work.
//!
//! Each lane visits half of the rows and moves a w of its own; afterwards the changes of both are added. What a row has gained
//! was reckoned without the steps of the other lane, so together they may go too far: along the sum d of all steps the objective
//! is a parabola, and it falls over the whole length of d if its least point is past the middle. If it is not, the second lane
//! goes again, after the first. In sparse rows of many columns that is rare; where it is not, there is one lane from then on.
//!
//! All this depends on the rows alone, not on the threads: one thread visits one lane after the other and finds the same.

use super::Coordinate;
use super::descent::Visitor;
use crate::matrix::Features;
use crate::run::Crew;

/// Where a visitor stands: w and Σβ, and what the rows have shown.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) weights: Vec<f64>,
    pub(super) sum: f64,
    /// The largest violations, upwards and downwards.
    pub(super) largest: f64,
    pub(super) least: f64,
    /// How many rows of the block do not rest.
    pub(super) live: usize,
    /// Whether what follows is wanted.
    pub(super) records: bool,
    /// The steps in β, by position in the block.
    pub(super) steps: Vec<(usize, f64)>,
    /// Slope and curvature of the objective along all steps, but for the part of w and b.
    pub(super) slope: f64,
    pub(super) curvature: f64,
}

impl Lane {
    /// Starts from where another stands, and records from there.
    fn start_from(&mut self, other: &Lane) {
        self.weights.clone_from(&other.weights);
        (self.sum, self.largest, self.least) = (other.sum, other.largest, other.least);
        self.steps.clear();
        (self.records, self.slope, self.curvature) = (true, 0.0, 0.0);
    }
}

/// The two lanes, and how they fare.
pub(super) struct Lanes {
    pair: [Lane; 2],
    /// The least rows of a block that is worth it.
    least_rows: usize,
    /// Falls when the lanes are in each other's way; at zero there is one lane for good.
    trust: u32,
}

impl Lanes {
    /// Adding up looks at every column, so a block has many times as much to read; and it is worth waking a thread.
    pub(super) fn new(rows: &Features<'_>) -> Lanes {
        let least = (48 * rows.columns()).max(1_600_000);
        Lanes { pair: Default::default(), least_rows: 2 + least / rows.row_cost(), trust: 4 }
    }

    /// How many blocks of equal size are made of these rows; none if one lane does better.
    fn blocks(&self, rows: usize) -> usize {
        if self.trust > 0 { rows / self.least_rows } else { 0 }
    }

    /// Visits all rows once. Those that rest go to the end; how many do not is returned.
    pub(super) fn pass(&mut self, visitor: &Visitor<'_>, all: &mut [Coordinate], lane: &mut Lane, crew: Crew) -> usize {
        let blocks = self.blocks(all.len());
        if blocks == 0 {
            visitor.visit(all, lane);
            return lane.live;
        }
        let rows = all.len().div_ceil(blocks);
        let mut live = 0;
        for from in (0..all.len()).step_by(rows) {
            let to = all.len().min(from + rows);
            self.visit(visitor, &mut all[from..to], lane, crew);
            (0..lane.live).for_each(|at| all.swap(live + at, from + at));
            live += lane.live;
        }
        live
    }

    /// Visits a block in both lanes.
    fn visit(&mut self, visitor: &Visitor<'_>, block: &mut [Coordinate], lane: &mut Lane, crew: Crew) {
        let half = block.len().div_ceil(2);
        let (first, second) = block.split_at_mut(half);
        let [one, two] = &mut self.pair;
        let from = &*lane;
        crew.each(&mut [(first, &mut *one), (second, &mut *two)], |_, (block, lane)| {
            lane.start_from(from);
            visitor.visit(block, lane);
        });
        let (along, squares) = add_up(&mut lane.weights, &mut one.weights, &mut two.weights, crew);
        let change = (one.sum - lane.sum) + (two.sum - lane.sum);
        let slope = one.slope + two.slope + along + (visitor.centre + visitor.pull * lane.sum) * change;
        let curvature = one.curvature + two.curvature + squares + visitor.pull * change * change;
        if -slope > 0.55 * curvature {
            self.trust = (self.trust + 1).min(8);
            lane.sum += change;
            (lane.largest, lane.least) = (one.largest.max(two.largest), one.least.min(two.least));
        } else {
            self.trust = self.trust.saturating_sub(2);
            // w as it was, and then as the first lane has left it.
            lane.weights.iter_mut().zip(&one.weights).for_each(|(w, change)| *w -= change);
            one.steps.iter().for_each(|(at, step)| visitor.rows.add(block[*at].row, *step, &mut lane.weights));
            two.steps.iter().for_each(|(at, step)| block[half + at].beta -= step);
            (lane.sum, lane.largest, lane.least) = (one.sum, one.largest, one.least);
            visitor.visit(&mut block[half..], lane);
            two.live = lane.live;
        }
        // Those that rest go to the end of the block.
        lane.live = one.live + two.live;
        (0..two.live).for_each(|at| block.swap(one.live + at, half + at));
    }
}

/// Adds to w what two copies have changed: the products of w, as it was, with the change, and of the change with itself. The first
/// copy becomes the change.
fn add_up(weights: &mut [f64], one: &mut [f64], two: &mut [f64], crew: Crew) -> (f64, f64) {
    let middle = weights.len() / 2;
    let (weights, one, two) = (weights.split_at_mut(middle), one.split_at_mut(middle), two.split_at_mut(middle));
    let mut halves = [(weights.0, one.0, two.0, (0.0, 0.0)), (weights.1, one.1, two.1, (0.0, 0.0))];
    crew.each(&mut halves, |_, (weights, one, two, (along, squares))| {
        for ((w, one), two) in weights.iter_mut().zip(one.iter_mut()).zip(two.iter()) {
            let change = (*one - *w) + (*two - *w);
            *along += *w * change;
            *squares += change * change;
            *w += change;
            *one = change;
        }
    });
    let [left, right] = halves.map(|half| half.3);
    (left.0 + right.0, left.1 + right.1)
}
