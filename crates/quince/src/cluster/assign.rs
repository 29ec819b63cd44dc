//! The assignment step: the nearest centre of each row, found exactly but seldom by measuring all of them.
//!
//! Each row keeps a bound above its distance from its own centre and one or more below the distances from the others
//! (Hamerly 2010, Elkan 2003); when centres have moved so little that the bounds do not cross, the row keeps its label
//! without being read. Bounds are kept as if the centres had never moved, and what each centre has moved in all is added when they
//! are read, so that a row that stays is not written either.
//!
//! In few columns there is one lower bound per row (Hamerly), and rows whose bounds cross are scored with all centres in one
//! fused product. In many columns there is one per row and centre (Elkan), and only centres whose bound is crossed are measured.

use super::part::{AssignmentMethod, AssignmentPart, AssignmentStep};
use super::points::{Centres, Frame, PointRows, error_of, pass};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::squared_distance;
use crate::passes::{InOrder, Merge, Source};
use crate::run::Run;

/// Every row and the centre it belongs to.
pub(super) struct Assignment<'f, S> {
    rows: S,
    frame: &'f Frame,
    method: AssignmentMethod,
    k: usize,
    parts: Vec<AssignmentPart>,
    /// The total distance each centre has moved, and the sum over steps of the largest move.
    moved: Vec<f64>,
    furthest: f64,
}

impl<'f, S: Source<Chunk: PointRows>> Assignment<'f, S> {
    /// For centres that will move.
    pub(super) fn new(rows: S, frame: &'f Frame, k: usize) -> Assignment<'f, S> {
        Assignment::by(AssignmentMethod::choose(frame, k), rows, frame, k)
    }

    /// For centres that will not: no bounds need be kept.
    pub(super) fn once(rows: S, frame: &'f Frame, k: usize) -> Assignment<'f, S> {
        let method = match AssignmentMethod::choose(frame, k) {
            AssignmentMethod::ElkanBounds => AssignmentMethod::HamerlyBound,
            method => method,
        };
        Assignment::by(method, rows, frame, k)
    }

    fn by(method: AssignmentMethod, rows: S, frame: &'f Frame, k: usize) -> Assignment<'f, S> {
        let parts = frame.parts().map(|part| AssignmentPart::new(part, k, frame.columns(), method)).collect();
        Assignment { rows, frame, method, k, parts, moved: vec![0.0; k], furthest: 0.0 }
    }

    /// For rows whose clusters are known.
    pub(super) fn of(labels: &[u32], rows: S, frame: &'f Frame, k: usize) -> Assignment<'f, S> {
        let mut known = Assignment::by(AssignmentMethod::Direct, rows, frame, k);
        known.parts.iter_mut().for_each(|part| part.labels = labels[part.all_rows()].to_vec());
        known
    }

    /// Assigns every row to its nearest centre; with `all`, every row is measured from every centre, and sums are only there
    /// once the rows are added up.
    pub(super) fn assign(&mut self, centres: &Centres, all: bool, run: &Run) -> Result<()> {
        let half = if self.method == AssignmentMethod::HamerlyBound && !all {
            half_distances(centres, self.frame.rows())
        } else {
            vec![]
        };
        let moved_single = self.moved.iter().map(|&moved| (moved as f32).next_up()).collect();
        let (method, moved, furthest) = (self.method, self.moved.as_slice(), self.furthest);
        let step = AssignmentStep { centres, method, moved, moved_single, furthest, half, all };
        self.parts.iter_mut().for_each(|part| part.changed = 0);
        // Products in single precision are fast; a row is read once.
        let work = (4 + self.k / if method == AssignmentMethod::Direct { 1 } else { 4 }) * self.frame.width();
        let assign = |part: &mut AssignmentPart, chunk: &S::Chunk, rows| part.assign(&chunk.points(), &step, rows);
        pass(work, run).visit(self.rows.chunks(), &mut self.parts, assign)
    }

    /// Adds up the rows of each cluster.
    pub(super) fn add_up(&mut self, run: &Run) -> Result<()> {
        self.parts.iter_mut().for_each(AssignmentPart::clear_sums);
        let add_up = |part: &mut AssignmentPart, chunk: &S::Chunk, rows| part.add_up(&chunk.points(), rows);
        pass(4 * self.frame.width(), run).visit(self.rows.chunks(), &mut self.parts, add_up)
    }

    /// Loosens the bounds after centres have moved by the roots of these.
    pub(super) fn loosen_bounds(&mut self, squared_moves: &[f64]) {
        let mut largest: f64 = 0.0;
        for (moved, square) in self.moved.iter_mut().zip(squared_moves) {
            let distance = square.sqrt() * (1.0 + 1e-9);
            *moved += distance;
            largest = largest.max(distance);
        }
        self.furthest += largest;
    }

    /// Whether bounds are crossed so often, in a sample of rows, that measuring all centres is cheaper than choosing.
    pub(super) fn bounds_are_loose(&self) -> bool {
        if self.method == AssignmentMethod::Direct {
            return false;
        }
        let (mut looked, mut crossed) = (0usize, 0usize);
        for part in &self.parts {
            for place in (0..part.labels.len()).step_by((self.frame.rows() / 2048).max(1)) {
                let upper = f64::from(part.upper[place]) + self.moved[part.labels[place] as usize];
                if self.method == AssignmentMethod::HamerlyBound {
                    looked += 1;
                    crossed += usize::from(upper >= f64::from(part.lower[place]) - self.furthest);
                } else {
                    looked += self.k;
                    let bounds = part.lower[place * self.k..(place + 1) * self.k].iter().zip(&self.moved);
                    crossed += bounds.filter(|(bound, moved)| f64::from(**bound) - **moved <= upper).count();
                }
            }
        }
        let share = crossed as f64 / looked.max(1) as f64;
        share > if self.method == AssignmentMethod::HamerlyBound { 0.8 } else { 0.3 }
    }

    /// The number of rows whose label the last assignment changed.
    pub(super) fn changed(&self) -> usize {
        self.parts.iter().map(|part| part.changed).sum()
    }

    /// The sum of the rows of each cluster, and its weight.
    pub(super) fn sums(&self) -> (Matrix, Vec<f64>) {
        let mut all = (Matrix::zeros(self.k, self.frame.columns()), vec![0.0; self.k]);
        for part in &self.parts {
            all.merge((part.sums.clone(), part.sizes.clone()));
        }
        let (sums, mut sizes) = all;
        // Weights that come and go leave a rounding error behind: an empty cluster is one without rows.
        let members = self.members();
        (0..self.k).filter(|&c| members[c] == 0).for_each(|c| sizes[c] = 0.0);
        (sums, sizes)
    }

    fn members(&self) -> Vec<usize> {
        let mut members = vec![0; self.k];
        self.parts.iter().for_each(|part| members.iter_mut().zip(&part.members).for_each(|(all, some)| *all += some));
        members
    }

    /// The cluster of each row.
    pub(super) fn labels(self) -> Vec<u32> {
        // Bounds are freed before labels are copied.
        let labels: Vec<Vec<u32>> = self.parts.into_iter().map(|part| part.labels).collect();
        labels.concat()
    }

    /// Every empty cluster takes the row that is furthest from its own centre (the first of equals), if any is away from it
    /// at all: where there are no more different rows than other clusters, it stays empty. Says whether a row moved.
    pub(super) fn fill_empty(&mut self, centres: &Centres, run: &Run) -> Result<bool> {
        let mut members = self.members();
        let empty: Vec<usize> = (0..self.k).filter(|&c| members[c] == 0).collect();
        if empty.is_empty() {
            return Ok(false);
        }
        // Besides those that move, at most one row of each cluster is passed over.
        let far = self.furthest_rows(empty.len() + self.k, centres, run)?;
        let (mut far, mut moved) = (far.into_iter(), false);
        for c in empty {
            // A row whose cluster has no other stays: moving it would only empty another one.
            let Some((part, place)) = far
                .by_ref()
                .map(|i| place(&self.parts, i))
                .find(|&(part, place)| members[self.parts[part].labels[place] as usize] > 1)
            else {
                break;
            };
            let part = &mut self.parts[part];
            members[part.labels[place] as usize] -= 1;
            members[c] += 1;
            part.relabel(place, c as u32);
            // The bounds of this row no longer hold: it is measured from all centres in the next step.
            let width = self.method.bounds_per_row(self.k);
            part.upper[place] = f32::INFINITY;
            part.lower[place * width..(place + 1) * width].fill(f32::NEG_INFINITY);
            moved = true;
        }
        if moved {
            self.add_up(run)?;
        }
        Ok(moved)
    }

    /// The rows furthest from their own centres, at most `count`, the furthest first, of equals the first.
    fn furthest_rows(&self, count: usize, centres: &Centres, run: &Run) -> Result<Vec<usize>> {
        let thin = |far: &mut Vec<(f64, usize)>| {
            far.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            far.truncate(count);
        };
        let (pass, parts) = (pass(4 * self.frame.width(), run), &self.parts);
        let InOrder(mut far) = pass.gather(self.rows.chunks(), InOrder::new, |InOrder(far), chunk, rows| {
            let points = chunk.points();
            let mut buffer = vec![0.0; points.columns()];
            for i in rows.filter(|&i| points.weight(i) > 0.0) {
                let label = label(parts, points.first + i) as usize;
                let square = points.squared_distance(i, centres, label, &mut buffer);
                // Further than the rounding of a mean.
                if square > 1e-28 * centres.squares[label] {
                    far.push((square, points.first + i));
                }
                if far.len() > 2 * count {
                    thin(far);
                }
            }
        })?;
        thin(&mut far);
        Ok(far.into_iter().map(|(_, i)| i).collect())
    }

    /// The within-cluster error.
    pub(super) fn error(&self, centres: &Centres, run: &Run) -> Result<f64> {
        let parts = &self.parts;
        error_of(self.rows, self.frame, |i| label(parts, i), centres, run)
    }
}

/// The part that holds row `i` of all, and its place there.
fn place(parts: &[AssignmentPart], i: usize) -> (usize, usize) {
    let part = parts.partition_point(|part| part.all_rows().end <= i);
    (part, i - parts[part].all_rows().start)
}

fn label(parts: &[AssignmentPart], i: usize) -> u32 {
    let (part, place) = place(parts, i);
    parts[part].labels[place]
}

/// Half the distance from each centre to the nearest other: a row nearer than that to its own has no nearer one. Empty
/// where there are so many centres that this costs more than it saves.
fn half_distances(centres: &Centres, rows: usize) -> Vec<f64> {
    let k = centres.count();
    if k * k > rows.min(4_000_000) {
        return Vec::new();
    }
    let mut least = vec![f64::INFINITY; k];
    for a in 0..k {
        for b in 0..a {
            let square = squared_distance(centres.exact.row(a), centres.exact.row(b));
            least[a] = least[a].min(square);
            least[b] = least[b].min(square);
        }
    }
    least.iter().map(|square| 0.5 * square.sqrt() * (1.0 - 1e-12)).collect()
}
