//! The part of a chunk of rows that one thread works on: labels, bounds, and the sums of its clusters.

use super::bounds::{AllScores, NearestTwo, any_crossed, dot, four_dots, lower_bounds, next_crossed};
use super::points::{Centres, Frame, Points, ScoreScratch};
use crate::matrix::Matrix;
use crate::matrix::fused::{PanelColumn, WIDE};
use std::ops::Range;

/// How the nearest centres are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AssignmentMethod {
    /// One lower bound per row (Hamerly), all centres in one product.
    HamerlyBound,
    /// One lower bound per row and centre (Elkan).
    ElkanBounds,
    /// All centres directly, in f64: for sparse rows, and numbers that single precision cannot hold.
    Direct,
}

impl AssignmentMethod {
    pub(super) fn choose(frame: &Frame, k: usize) -> AssignmentMethod {
        let memory = frame.rows() as f64 * k as f64 * 4.0;
        match () {
            _ if !frame.scored => AssignmentMethod::Direct,
            _ if frame.columns() >= 64 && memory <= 1e9 => AssignmentMethod::ElkanBounds,
            _ => AssignmentMethod::HamerlyBound,
        }
    }

    pub(super) fn bounds_per_row(self, k: usize) -> usize {
        if self == AssignmentMethod::ElkanBounds { k } else { 1 }
    }
}

/// A range of rows, and what is known of each of them from one assignment step to the next.
pub(super) struct AssignmentPart {
    /// The number of the first row of the chunk among all rows.
    first: usize,
    /// Which rows of the chunk.
    rows: Range<usize>,
    pub(super) labels: Vec<u32>,
    /// Upper bounds of the distance from the own centre, less the total move of that centre.
    pub(super) upper: Vec<f32>,
    /// Lower bounds of the distances from other centres, plus their total moves; infinite for the own centre.
    pub(super) lower: Vec<f32>,
    pub(super) sums: Matrix,
    pub(super) sizes: Vec<f64>,
    pub(super) members: Vec<usize>,
    pub(super) changed: usize,
    scratch: ScoreScratch,
    row: Vec<f64>,
    /// A row in single precision.
    single: Vec<PanelColumn>,
    waiting: Vec<u32>,
}

/// What all threads share in one assignment step.
pub(super) struct AssignmentStep<'a> {
    pub(super) centres: &'a Centres,
    pub(super) method: AssignmentMethod,
    /// The total distance each centre has moved, and the sum over steps of the largest move.
    pub(super) moved: &'a [f64],
    pub(super) moved_single: Vec<f32>,
    pub(super) furthest: f64,
    /// Half the distance from each centre to the nearest other; empty where it does not pay.
    pub(super) half: Vec<f64>,
    /// Whether every row is measured from every centre.
    pub(super) all: bool,
}

impl AssignmentPart {
    pub(super) fn new(
        (first, rows): (usize, Range<usize>),
        k: usize,
        columns: usize,
        method: AssignmentMethod,
    ) -> AssignmentPart {
        let count = rows.len();
        AssignmentPart {
            first,
            labels: vec![u32::MAX; count],
            upper: vec![0.0; count],
            lower: vec![0.0; count * method.bounds_per_row(k)],
            sums: Matrix::zeros(k, columns),
            sizes: vec![0.0; k],
            members: vec![0; k],
            changed: 0,
            scratch: ScoreScratch::default(),
            row: vec![0.0; columns],
            single: vec![PanelColumn([0.0; WIDE]); PanelColumn::blocks(columns + 1)],
            waiting: Vec::with_capacity(WIDE),
            rows,
        }
    }

    /// The numbers of its rows among all.
    pub(super) fn all_rows(&self) -> Range<usize> {
        self.first + self.rows.start..self.first + self.rows.end
    }

    /// Assigns some rows of the part.
    pub(super) fn assign(&mut self, points: &Points<'_>, step: &AssignmentStep<'_>, rows: Range<usize>) {
        let places = rows.start - self.rows.start..rows.end - self.rows.start;
        match step.method {
            AssignmentMethod::Direct => places.for_each(|place| self.assign_directly(points, step, place)),
            AssignmentMethod::ElkanBounds if !step.all => {
                places.for_each(|place| self.assign_by_bounds(points, step, place))
            }
            _ => {
                for place in places {
                    if step.all || !self.stays(step, place) {
                        self.waiting.push((self.rows.start + place) as u32);
                        if self.waiting.len() == WIDE {
                            self.assign_waiting(points, step);
                        }
                    }
                }
                self.assign_waiting(points, step);
            }
        }
    }

    /// Whether the bounds prove that a row's centre is still the nearest. (To tighten the upper bound first, as Hamerly
    /// does, costs a distance and was measured to save hardly any.)
    #[inline]
    fn stays(&self, step: &AssignmentStep<'_>, place: usize) -> bool {
        let label = self.labels[place] as usize;
        let upper = f64::from(self.upper[place]) + step.moved[label];
        let mut lower = f64::from(self.lower[place]) - step.furthest;
        if let Some(&half) = step.half.get(label) {
            lower = lower.max(half);
        }
        upper < lower
    }

    /// Scores the waiting rows with all centres.
    fn assign_waiting(&mut self, points: &Points<'_>, step: &AssignmentStep<'_>) {
        if self.waiting.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        if step.method == AssignmentMethod::ElkanBounds {
            self.renew_bounds(points, step, &waiting);
        } else {
            let mut two = NearestTwo::new();
            points.each_score(&waiting, step.centres, &mut self.scratch, &mut two);
            for (lane, &i) in waiting.iter().enumerate() {
                let row = i as usize;
                let place = row - self.rows.start;
                let (best, second) = (f64::from(two.best[lane]), f64::from(two.second[lane]));
                let error_bound = points.error_bound(row, best, step.centres);
                let (mut label, mut next) = (two.label[lane], second);
                let (_, mut upper) = points.between(row, best, error_bound);
                // Where a score overflowed the difference is no number, and nothing is sure.
                let sure = best - second > error_bound.at(best) + error_bound.at(second);
                if !sure {
                    let (exact, square) = points.nearest_directly(row, step.centres, &mut self.row);
                    (label, upper, next) = (exact, square.sqrt() * (1.0 + 1e-12), best);
                }
                let (lower, _) = points.between(row, next, error_bound);
                self.upper[place] = ((upper - step.moved[label as usize]) as f32).next_up();
                self.lower[place] = ((lower + step.furthest) as f32).next_down();
                self.label(points, step, place, label);
            }
        }
        self.waiting = waiting;
        self.waiting.clear();
    }

    /// Labels a row; where every row is measured, all are added up afterwards.
    fn label(&mut self, points: &Points<'_>, step: &AssignmentStep<'_>, place: usize, label: u32) {
        if step.all {
            self.relabel(place, label);
        } else {
            self.put(points, place, label);
        }
    }

    /// Puts a row into a cluster, before all rows are added up.
    pub(super) fn relabel(&mut self, place: usize, label: u32) {
        self.changed += usize::from(self.labels[place] != label);
        self.labels[place] = label;
    }

    /// Moves a row to a cluster, with sums and counts.
    fn put(&mut self, points: &Points<'_>, place: usize, label: u32) {
        let old = self.labels[place];
        if old == label {
            return;
        }
        let row = self.rows.start + place;
        let weight = points.weight(row);
        points.add_row(row, -weight, self.sums.row_mut(old as usize), &mut self.row);
        self.sizes[old as usize] -= weight;
        self.members[old as usize] -= usize::from(weight > 0.0);
        points.add_row(row, weight, self.sums.row_mut(label as usize), &mut self.row);
        self.sizes[label as usize] += weight;
        self.members[label as usize] += usize::from(weight > 0.0);
        self.labels[place] = label;
        self.changed += 1;
    }

    fn assign_directly(&mut self, points: &Points<'_>, step: &AssignmentStep<'_>, place: usize) {
        if !step.all && self.stays(step, place) {
            return;
        }
        let row = self.rows.start + place;
        let (label, best, second) = points.nearest_two_directly(row, step.centres, &mut self.row);
        // A sparse distance comes from a difference, which is rounded.
        let slack = 1e-12 * (f64::from(points.norms[row]) + step.centres.largest);
        self.upper[place] = ((best.sqrt() + slack - step.moved[label as usize]) as f32).next_up();
        self.lower[place] = ((second.sqrt() - slack + step.furthest) as f32).next_down();
        self.label(points, step, place, label);
    }

    /// Scores the waiting rows with all centres, and renews all their lower bounds.
    fn renew_bounds(&mut self, points: &Points<'_>, step: &AssignmentStep<'_>, waiting: &[u32]) {
        let k = step.centres.count();
        let mut all = AllScores(Vec::with_capacity(k));
        points.each_score(waiting, step.centres, &mut self.scratch, &mut all);
        for (lane, &i) in waiting.iter().enumerate() {
            let row = i as usize;
            let place = row - self.rows.start;
            let mut label = 0;
            let (mut best, mut second) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
            for (c, scores) in all.0.iter().enumerate() {
                if scores[lane] > best {
                    (second, best, label) = (best, scores[lane], c as u32);
                } else {
                    second = second.max(scores[lane]);
                }
            }
            let (best, second) = (f64::from(best), f64::from(second));
            let error_bound = points.error_bound(row, best, step.centres);
            let (_, mut upper) = points.between(row, best, error_bound);
            let sure = best - second > error_bound.at(best) + error_bound.at(second);
            if !sure {
                let (exact, square) = points.nearest_directly(row, step.centres, &mut self.row);
                (label, upper) = (exact, square.sqrt() * (1.0 + 1e-12));
            }
            let norm = f64::from(points.norms[row]);
            let (square, slope) = error_bound.line_below(norm * norm);
            let line = ((square as f32).next_down(), slope as f32);
            let bounds = &mut self.lower[place * k..(place + 1) * k];
            lower_bounds(&all.0, lane, line, &step.moved_single, bounds);
            bounds[label as usize] = f32::INFINITY;
            self.upper[place] = ((upper - step.moved[label as usize]) as f32).next_up();
            self.label(points, step, place, label);
        }
    }

    /// Measures a row from the centres whose lower bound its upper bound has crossed.
    fn assign_by_bounds(&mut self, points: &Points<'_>, step: &AssignmentStep<'_>, place: usize) {
        let k = step.centres.count();
        let label = self.labels[place] as usize;
        let upper = ((f64::from(self.upper[place]) + step.moved[label]) as f32).next_up();
        if !any_crossed(&self.lower[place * k..(place + 1) * k], &step.moved_single, upper) {
            return;
        }
        let row = self.rows.start + place;
        points.single_row(row, &mut self.single);
        let (mut best, mut label) = (f64::from(dot(&self.single, step.centres.blocks(label))), label);
        let error_bound = points.error_bound(row, best, step.centres);
        let (_, mut upper) = points.between(row, best, error_bound);
        let mut crossed = [0u32; 4];
        let mut next = 0;
        loop {
            let bounds = &mut self.lower[place * k..(place + 1) * k];
            let threshold = (upper as f32).next_up();
            let count;
            (count, next) = next_crossed(bounds, &step.moved_single, threshold, next, &mut crossed);
            if count == 0 {
                break;
            }
            let scores = four_dots(&self.single, crossed.map(|c| step.centres.blocks(c as usize)));
            for (&c, score) in crossed[..count].iter().zip(scores) {
                let (c, score) = (c as usize, f64::from(score));
                let (below, above) = points.between(row, score, error_bound);
                let error = error_bound.at(score) + error_bound.at(best);
                let mut nearer = score > best + error;
                let clear = score < best - error && score.is_finite();
                if !nearer && !clear {
                    let mut exact = |c: usize| points.squared_distance(row, step.centres, c, &mut self.row);
                    let (own, other) = (exact(label), exact(c));
                    nearer = other < own || (other == own && c < label);
                }
                let bounds = &mut self.lower[place * k..(place + 1) * k];
                if nearer {
                    let (old_below, _) = points.between(row, best, error_bound);
                    bounds[label] = ((old_below + step.moved[label]) as f32).next_down();
                    bounds[c] = f32::INFINITY;
                    (label, best, upper) = (c, score, above);
                } else {
                    let below = if score.is_finite() { below } else { 0.0 };
                    bounds[c] = ((below + step.moved[c]) as f32).next_down();
                }
            }
        }
        self.upper[place] = ((upper - step.moved[label]) as f32).next_up();
        self.put(points, place, label as u32);
    }

    /// Clears all sums, so that rows are added up again: rows that came and went may have left rounding errors behind.
    pub(super) fn clear_sums(&mut self) {
        self.sums.values_mut().fill(0.0);
        self.sizes.fill(0.0);
        self.members.fill(0);
    }

    /// Adds some rows up.
    pub(super) fn add_up(&mut self, points: &Points<'_>, rows: Range<usize>) {
        for i in rows {
            let (label, weight) = (self.labels[i - self.rows.start] as usize, points.weight(i));
            points.add_row(i, weight, self.sums.row_mut(label), &mut self.row);
            self.sizes[label] += weight;
            self.members[label] += usize::from(weight > 0.0);
        }
    }
}
