//! Which centre is nearest to each row, found exactly but seldom by looking at all of them.
//!
//! Each row keeps a bound above its distance from its own centre and one or more below the distances from the others
//! (Hamerly 2010, Elkan 2003); when centres have moved so little that the bounds do not cross, the row stays where it is,
//! unseen. Bounds are kept as if the centres had never moved, and what each centre has moved in all is added when they
//! are read, so that a row that stays is not written either.
//!
//! In few columns there is one lower bound a row, and rows whose bounds cross meet all centres in one fused product. In
//! many columns there is one a centre, and only the centres whose bound is crossed are looked at.

use super::part::{Part, Step, Way};
use super::points::{Centres, Points, parts};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::fused::WIDE;
use crate::matrix::simd::squared_distance;
use crate::run::Run;

/// Every row and the centre it belongs to.
pub(super) struct Assignment<'a> {
    points: &'a Points<'a>,
    way: Way,
    k: usize,
    parts: Vec<Part>,
    /// What each centre has moved in all, and the sum over steps of the largest move.
    moved: Vec<f64>,
    furthest: f64,
}

impl<'a> Assignment<'a> {
    /// For centres that will move.
    pub(super) fn new(points: &'a Points<'a>, k: usize) -> Assignment<'a> {
        Assignment::by(Way::choose(points, k), points, k)
    }

    /// For centres that will not: no bounds need be kept.
    pub(super) fn once(points: &'a Points<'a>, k: usize) -> Assignment<'a> {
        let way = Way::choose(points, k);
        Assignment::by(if way == Way::Bounds { Way::Products } else { way }, points, k)
    }

    fn by(way: Way, points: &'a Points<'a>, k: usize) -> Assignment<'a> {
        let part = |rows| Part::new(rows, k, points.columns(), way);
        let parts = parts(points.rows()).into_iter().map(part).collect();
        Assignment { points, way, k, parts, moved: vec![0.0; k], furthest: 0.0 }
    }

    /// Sends every row to its nearest centre, a few thousand rows of each part at a time; with `all`, every row looks at
    /// every centre.
    pub(super) fn send(&mut self, centres: &Centres, all: bool, run: &Run) -> Result<()> {
        let half = if self.way == Way::Products && !all { half_distances(centres, self.points.rows()) } else { vec![] };
        let moved_single = self.moved.iter().map(|&moved| (moved as f32).next_up()).collect();
        let (points, way, moved, furthest) = (self.points, self.way, self.moved.as_slice(), self.furthest);
        let step = Step { points, centres, way, moved, moved_single, furthest, half, all };
        let rows = (100_000_000 / (self.k * (points.columns() + 8))).clamp(WIDE, 1 << 18) / WIDE * WIDE;
        let longest = self.parts.iter().map(|part| part.rows.len()).max().unwrap_or(0);
        self.parts.iter_mut().for_each(|part| part.changed = 0);
        for offset in (0..longest).step_by(rows) {
            run.each(&mut self.parts, |_, part| part.assign(&step, offset..(offset + rows).min(part.rows.len())));
            run.check_cancelled()?;
        }
        if all {
            run.each(&mut self.parts, |_, part| part.add_up(points));
        }
        Ok(())
    }

    /// The centres have moved, by the roots of these.
    pub(super) fn follow(&mut self, squared_moves: &[f64]) {
        let mut largest: f64 = 0.0;
        for (moved, square) in self.moved.iter_mut().zip(squared_moves) {
            let distance = square.sqrt() * (1.0 + 1e-9);
            *moved += distance;
            largest = largest.max(distance);
        }
        self.furthest += largest;
    }

    /// Whether so many bounds are crossed that looking at all centres is cheaper than choosing: asked of a few rows.
    pub(super) fn is_crowded(&self) -> bool {
        if self.way == Way::Direct {
            return false;
        }
        let (mut looked, mut crossed) = (0usize, 0usize);
        for part in &self.parts {
            for place in (0..part.rows.len()).step_by((self.points.rows() / 2048).max(1)) {
                let upper = f64::from(part.upper[place]) + self.moved[part.labels[place] as usize];
                if self.way == Way::Products {
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
        share > if self.way == Way::Products { 0.8 } else { 0.3 }
    }

    /// How many rows went to another centre last time.
    pub(super) fn changed(&self) -> usize {
        self.parts.iter().map(|part| part.changed).sum()
    }

    /// The sum of the rows of each cluster, and its weight.
    pub(super) fn sums(&self) -> (Matrix, Vec<f64>) {
        let (mut sums, mut sizes) = (Matrix::zeros(self.k, self.points.columns()), vec![0.0; self.k]);
        for part in &self.parts {
            sums.values_mut().iter_mut().zip(part.sums.values()).for_each(|(sum, part)| *sum += part);
            sizes.iter_mut().zip(&part.sizes).for_each(|(size, part)| *size += part);
        }
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
        self.parts.into_iter().flat_map(|part| part.labels).collect()
    }

    /// Every empty cluster takes the row that is furthest from its own centre (the first of equals), if any is away from it
    /// at all: where there are no more different rows than other clusters, it stays empty. Says whether a row moved.
    pub(super) fn fill_empty(&mut self, centres: &Centres, run: &Run) -> Result<bool> {
        let mut members = self.members();
        let empty: Vec<usize> = (0..self.k).filter(|&c| members[c] == 0).collect();
        if empty.is_empty() {
            return Ok(false);
        }
        let squares = self.squared_distances(centres, run)?;
        // Further than the rounding of a mean.
        let away = |&i: &usize| {
            let (part, place) = self.place(i);
            let centre = centres.squares[self.parts[part].labels[place] as usize];
            squares[i] > 1e-28 * centre && self.points.weight(i) > 0.0
        };
        let mut far: Vec<usize> = (0..squares.len()).filter(away).collect();
        far.sort_by(|&a, &b| squares[b].total_cmp(&squares[a]));
        let (mut far, mut moved) = (far.into_iter(), false);
        for c in empty {
            // A row whose cluster has no other stays: moving it would only empty another one.
            let Some((part, place)) = far
                .by_ref()
                .map(|i| self.place(i))
                .find(|&(part, place)| members[self.parts[part].labels[place] as usize] > 1)
            else {
                break;
            };
            let part = &mut self.parts[part];
            members[part.labels[place] as usize] -= 1;
            members[c] += 1;
            part.put(self.points, place, c as u32);
            // The bounds of this row say nothing any more: it looks at all centres in the next step.
            let width = self.way.bounds_a_row(self.k);
            part.upper[place] = f32::INFINITY;
            part.lower[place * width..(place + 1) * width].fill(f32::NEG_INFINITY);
            moved = true;
        }
        if moved {
            run.each(&mut self.parts, |_, part| part.add_up(self.points));
        }
        Ok(moved)
    }

    /// The part that holds row `i`, and its place there.
    fn place(&self, i: usize) -> (usize, usize) {
        let part = self.parts.partition_point(|part| part.rows.end <= i);
        (part, i - self.parts[part].rows.start)
    }

    /// The squared distance of every row from its own centre.
    fn squared_distances(&self, centres: &Centres, run: &Run) -> Result<Vec<f64>> {
        let found = run.map(self.parts.len(), |part| self.parts[part].squared_distances(self.points, centres));
        run.check_cancelled()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The within-cluster error.
    pub(super) fn error(&self, centres: &Centres, run: &Run) -> Result<f64> {
        let found = run.map(self.parts.len(), |part| {
            let part = &self.parts[part];
            let squares = part.squared_distances(self.points, centres);
            part.rows.clone().zip(squares).map(|(i, square)| self.points.weight(i) * square).sum::<f64>()
        });
        run.check_cancelled()?;
        Ok(found.into_iter().sum())
    }
}

/// Half the distance from each centre to the nearest other: a row nearer than that to its own has no nearer one. Empty
/// where there are so many centres that this costs more than it saves.
fn half_distances(centres: &Centres, rows: usize) -> Vec<f64> {
    let k = centres.count();
    if k * k > rows {
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
