//! Sequential k-means: one row at a time goes where it lowers the error most.
//!
//! Moving a row from cluster i to cluster j changes the error by n_j/(n_j + 1)·d_j² - n_i/(n_i - 1)·d_i², with d the
//! distances from the two means and n the numbers (or weights) of rows before the move. So a row moves when
//! n_i/(n_i - 1)·d_i² > n_j/(n_j + 1)·d_j², and both means follow at once. Every move lowers the error, which Lloyd's
//! iteration cannot always do; a row alone in its cluster stays.

use super::points::Points;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::squared_distance;
use crate::run::{Run, Stop};

/// Clusters that rows can move between.
pub(super) struct Moving {
    pub(super) labels: Vec<u32>,
    pub(super) centres: Matrix,
    pub(super) sizes: Vec<f64>,
    members: Vec<usize>,
}

impl Moving {
    /// Rows where their labels say, centres at their means; a cluster without rows keeps its place in `centres`.
    pub(super) fn new(points: &Points<'_>, labels: Vec<u32>, mut centres: Matrix) -> Moving {
        let k = centres.rows();
        let (mut sums, mut sizes, mut members) = (Matrix::zeros(k, points.columns()), vec![0.0; k], vec![0; k]);
        let mut row = vec![0.0; points.columns()];
        for (i, &label) in labels.iter().enumerate() {
            let c = label as usize;
            points.add_row(i, points.weight(i), sums.row_mut(c), &mut row);
            sizes[c] += points.weight(i);
            members[c] += 1;
        }
        for c in (0..k).filter(|&c| sizes[c] > 0.0) {
            centres.row_mut(c).iter_mut().zip(sums.row(c)).for_each(|(x, sum)| *x = sum / sizes[c]);
        }
        Moving { labels, centres, sizes, members }
    }

    /// Goes over the rows in order, moving each where it lowers the error most, until a round moves none. Returns how many
    /// moves there were and how it ended.
    pub(super) fn settle(&mut self, points: &Points<'_>, rounds: usize, run: &Run) -> Result<(usize, Stop)> {
        let mut moves = 0;
        let mut row = vec![0.0; points.columns()];
        let mut looked: usize = 0;
        for round in 0..rounds {
            let before = moves;
            for i in 0..points.rows() {
                looked += 1;
                if looked.is_multiple_of(256) {
                    run.check_cancelled()?;
                    if run.out_of_time() {
                        return Ok((moves, Stop::Budget));
                    }
                }
                points.row(i, &mut row);
                moves += usize::from(self.consider(i, points.weight(i), &row));
            }
            run.progress("one row at a time", round + 1, rounds);
            if moves == before {
                return Ok((moves, Stop::Converged));
            }
        }
        Ok((moves, Stop::StepLimit))
    }

    /// Moves row `i` if that lowers the error.
    fn consider(&mut self, i: usize, weight: f64, row: &[f64]) -> bool {
        let own = self.labels[i] as usize;
        if weight == 0.0 || self.members[own] < 2 || self.sizes[own] <= weight {
            return false;
        }
        let loses = self.sizes[own] / (self.sizes[own] - weight) * squared_distance(row, self.centres.row(own));
        let (mut best, mut least) = (own, loses);
        for c in (0..self.sizes.len()).filter(|&c| c != own) {
            let gains = self.sizes[c] / (self.sizes[c] + weight) * squared_distance(row, self.centres.row(c));
            if gains < least {
                (best, least) = (c, gains);
            }
        }
        // A gain that is nothing but rounding would be taken back in the next round.
        if best == own || loses - least <= 1e-12 * loses {
            return false;
        }
        let (from, to) = (self.sizes[own] - weight, self.sizes[best] + weight);
        let lost = self.centres.row_mut(own).iter_mut().zip(row);
        lost.for_each(|(centre, x)| *centre -= weight / from * (x - *centre));
        let found = self.centres.row_mut(best).iter_mut().zip(row);
        found.for_each(|(centre, x)| *centre += weight / to * (x - *centre));
        self.sizes[own] = from;
        self.sizes[best] = to;
        self.members[own] -= 1;
        self.members[best] += 1;
        self.labels[i] = best as u32;
        true
    }
}

/// The within-cluster error of rows where they are.
pub(super) fn error(points: &Points<'_>, moving: &Moving) -> f64 {
    let mut row = vec![0.0; points.columns()];
    let mut sum = 0.0;
    for (i, &label) in moving.labels.iter().enumerate() {
        points.row(i, &mut row);
        sum += points.weight(i) * squared_distance(&row, moving.centres.row(label as usize));
    }
    sum
}
