//! Sequential k-means: one row at a time goes where it lowers the error most.
//!
//! Moving a row from cluster i to cluster j changes the error by n_j/(n_j + 1)·d_j² - n_i/(n_i - 1)·d_i², with d the
//! distances from the two means and n the numbers (or weights) of rows before the move. So a row moves when
//! n_i/(n_i - 1)·d_i² > n_j/(n_j + 1)·d_j², and both means follow at once. Every move lowers the error, which Lloyd's
//! iteration cannot always do; a row alone in its cluster stays.

use super::assign::Assignment;
use super::partition::{Partition, centre_update_decrease};
use super::points::{Centres, Frame, Points, sparse_square};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::{squared_distance, squared_norm};
use crate::run::{Run, StopReason};

/// Assigns every row to the nearest of the centres (about the origin), and then moves one row at a time.
pub(super) fn one_at_a_time(points: &Points<'_>, centres: Matrix, rounds: usize, run: &Run) -> Result<Partition> {
    let (k, frame) = (centres.rows(), points.frame);
    let mut centres = Centres::new(centres, frame);
    let mut rows = Assignment::once(points, frame, k);
    rows.assign(&centres, true, run)?;
    rows.add_up(run)?;
    let (sums, sizes) = rows.sums();
    centres = means(&sums, &sizes, centres.exact, frame);
    let before = rows.error(&centres, run)?;
    let mut moving = Moving::new(points, rows.labels(), &centres.exact, sums, sizes);
    let (trace, stop) = moving.settle(before, rounds, run)?;
    // What was updated step by step is computed again.
    let mut labels = moving.labels;
    let mut rows = Assignment::of(&labels, points, frame, k);
    rows.add_up(run)?;
    let (sums, sizes) = rows.sums();
    centres = means(&sums, &sizes, centres.exact, frame);
    let error = rows.error(&centres, run)?;
    // Rows without weight never moved; all others are at their nearest centre if there was time enough.
    let mut nearest = Assignment::once(points, frame, k);
    nearest.assign(&centres, true, run)?;
    nearest.add_up(run)?;
    let at_nearest = nearest.error(&centres, run)?;
    let (sums, nearest_sizes) = nearest.sums();
    let decrease = (error - at_nearest).max(0.0) + centre_update_decrease(&centres.exact, &sums, &nearest_sizes);
    let weightless = nearest.labels().into_iter().enumerate().filter(|&(i, _)| points.weight(i) == 0.0);
    weightless.for_each(|(i, label)| labels[i] = label);
    Ok(Partition { centres: centres.exact, labels, sizes, trace, error, stop, decrease })
}

/// Centres at the means of their rows; one without rows keeps its place.
fn means(sums: &Matrix, sizes: &[f64], mut centres: Matrix, frame: &Frame) -> Centres {
    for c in (0..sizes.len()).filter(|&c| sizes[c] > 0.0) {
        centres.row_mut(c).iter_mut().zip(sums.row(c)).for_each(|(x, sum)| *x = sum / sizes[c]);
    }
    Centres::new(centres, frame)
}

/// Clusters that rows can move between.
struct Moving<'a> {
    points: &'a Points<'a>,
    labels: Vec<u32>,
    sizes: Vec<f64>,
    /// How many rows with a weight each has.
    members: Vec<usize>,
    /// The mean of each cluster; for sparse rows their sum, of which a row changes its own entries alone.
    means: Matrix,
    /// ‖sum‖² of each cluster of sparse rows.
    squares: Vec<f64>,
}

impl<'a> Moving<'a> {
    fn new(points: &'a Points<'a>, labels: Vec<u32>, centres: &Matrix, sums: Matrix, sizes: Vec<f64>) -> Moving<'a> {
        let mut members = vec![0; sizes.len()];
        for (i, &label) in labels.iter().enumerate() {
            members[label as usize] += usize::from(points.weight(i) > 0.0);
        }
        let means = if points.is_sparse() { sums } else { centres.clone() };
        Moving { points, labels, squares: vec![0.0; sizes.len()], sizes, members, means }
    }

    /// Goes over the rows in order, moving each where it lowers the error most, until a round moves none. Returns the error
    /// after each round and how it ended.
    fn settle(&mut self, mut error: f64, rounds: usize, run: &Run) -> Result<(Vec<f64>, StopReason)> {
        let mut trace = Vec::new();
        let mut row = vec![0.0; self.points.columns()];
        let often = (100_000_000 / (self.sizes.len() * self.points.frame.width())).clamp(1, 1 << 16);
        for round in 0..rounds {
            // Computed again in every round, so that roundings do not add up.
            (0..self.sizes.len()).for_each(|c| self.squares[c] = squared_norm(self.means.row(c)));
            let mut moved = false;
            for i in 0..self.points.rows() {
                if i % often == 0 {
                    run.check_cancelled()?;
                    if run.out_of_time() {
                        trace.push(error);
                        return Ok((trace, StopReason::Budget));
                    }
                }
                let gain = self.consider(i, &mut row);
                moved |= gain > 0.0;
                error -= gain;
            }
            run.progress("one row at a time", round + 1, rounds);
            trace.push(error.max(0.0));
            if !moved {
                return Ok((trace, StopReason::Converged));
            }
        }
        Ok((trace, StopReason::StepLimit))
    }

    /// Moves row `i` if that lowers the error; says by how much.
    fn consider(&mut self, i: usize, row: &mut [f64]) -> f64 {
        let (own, weight) = (self.labels[i] as usize, self.points.weight(i));
        if weight == 0.0 || self.members[own] < 2 || self.sizes[own] <= weight {
            return 0.0;
        }
        self.points.load(i, row);
        let loses = self.sizes[own] / (self.sizes[own] - weight) * self.square(i, row, own);
        let (mut best, mut least) = (own, loses);
        for c in (0..self.sizes.len()).filter(|&c| c != own) {
            let gains = match self.sizes[c] > 0.0 {
                true => self.sizes[c] / (self.sizes[c] + weight) * self.square(i, row, c),
                false => 0.0,
            };
            if gains < least {
                (best, least) = (c, gains);
            }
        }
        // A gain that is nothing but rounding, of a difference or of a mean, would be taken back in the next round.
        if best == own || loses - least <= 1e-12 * loses || loses <= 1e-28 * self.mean_square(own) {
            return 0.0;
        }
        self.shift(i, row, own, -weight);
        self.shift(i, row, best, weight);
        self.labels[i] = best as u32;
        weight * (loses - least)
    }

    /// ‖x - mean‖² of a loaded row.
    fn square(&self, i: usize, row: &[f64], c: usize) -> f64 {
        match self.points.is_sparse() {
            false => squared_distance(row, self.means.row(c)),
            true => {
                let factor = 1.0 / self.sizes[c];
                let square = self.squares[c] * factor * factor;
                sparse_square(&self.points.features, i, self.means.row(c), factor, square)
            }
        }
    }

    /// ‖mean‖² of a cluster.
    fn mean_square(&self, c: usize) -> f64 {
        let square = squared_norm(self.means.row(c));
        if self.points.is_sparse() { square / (self.sizes[c] * self.sizes[c]) } else { square }
    }

    /// A cluster gets a row of this weight, or loses it if the weight is below zero.
    fn shift(&mut self, i: usize, row: &[f64], c: usize, weight: f64) {
        self.sizes[c] += weight;
        if weight > 0.0 {
            self.members[c] += 1;
        } else {
            self.members[c] -= 1;
        }
        let mean = self.means.row_mut(c);
        if self.points.is_sparse() {
            // ‖s + wx‖² - ‖s‖², entry by entry.
            let square = &mut self.squares[c];
            self.points.features.for_row(i, |j, x| {
                *square += weight * x * (2.0 * mean[j] + weight * x);
                mean[j] += weight * x;
            });
        } else {
            let share = weight / self.sizes[c];
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += share * (x - *mean));
        }
    }
}
