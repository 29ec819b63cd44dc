//! Duplicate rows with the same target are merged into one row, whose bounds are the sums of theirs.
//!
//! Tables of categories and of counts hold many: of the rows of `w8a` three in ten are duplicates. All rows of a group have the
//! same gradient, so only the sum of their β matters.

use super::{Dual, Solution};
use crate::error::Result;
use crate::run::Run;

/// Rows that one task hashes.
const ROWS_PER_TASK: usize = 128;
/// Tasks between two checks for a cancel.
const TASKS_PER_CHECK: usize = 64;

/// A remainder of β up to this share of it is rounding.
const ROUNDING: f64 = 1e-12;

/// Groups of rows that are the same.
pub(super) struct DuplicateRows {
    /// One row of every group, in order.
    representatives: Vec<usize>,
    /// The group of every row.
    group: Vec<usize>,
}

impl DuplicateRows {
    /// Finds duplicates; `None` if there are none.
    pub(super) fn find(dual: &Dual<'_>, run: &Run) -> Result<Option<DuplicateRows>> {
        let mut order: Vec<(u64, usize)> = (0..dual.count()).map(|i| (0, i)).collect();
        let mut pieces: Vec<&mut [(u64, usize)]> = order.chunks_mut(ROWS_PER_TASK).collect();
        for some in pieces.chunks_mut(TASKS_PER_CHECK) {
            run.check_cancelled()?;
            run.each(some, |_, piece| piece.iter_mut().for_each(|(hash, i)| *hash = row_hash(dual, *i)));
        }
        order.sort_unstable();
        // The first row of the group of each row.
        let mut representative_of: Vec<usize> = (0..dual.count()).collect();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for pair in order.windows(2) {
            let [(hash, i), (next, j)] = [pair[0], pair[1]];
            if hash == next {
                entries(dual, i, &mut one);
                entries(dual, j, &mut other);
                if one == other {
                    representative_of[j] = representative_of[i];
                }
            }
        }
        let representatives: Vec<usize> = (0..dual.count()).filter(|&i| representative_of[i] == i).collect();
        if representatives.len() == dual.count() {
            return Ok(None);
        }
        let mut group = vec![0; dual.count()];
        representatives.iter().enumerate().for_each(|(k, &i)| group[i] = k);
        (0..dual.count()).for_each(|i| group[i] = group[representative_of[i]]);
        Ok(Some(DuplicateRows { representatives, group }))
    }

    /// The problem with one row per group.
    pub(super) fn merge<'a>(&self, dual: &Dual<'a>) -> Dual<'a> {
        Dual {
            low: self.sum_by_group(&dual.low),
            high: self.sum_by_group(&dual.high),
            ..dual.part(&self.representatives)
        }
    }

    /// The sum over the rows of each group.
    pub(super) fn sum_by_group(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.representatives.len()];
        self.group.iter().zip(values).for_each(|(&group, value)| sums[group] += value);
        sums
    }

    /// The solution for all rows. The β of a group goes to its rows in order, up to the bounds of each, so that few rows become
    /// support vectors.
    pub(super) fn expand(&self, dual: &Dual<'_>, solution: Solution) -> Solution {
        let (low, high) = (self.sum_by_group(&dual.low), self.sum_by_group(&dual.high));
        let mut rest = solution.beta.clone();
        let mut beta = vec![0.0; dual.count()];
        for (i, &group) in self.group.iter().enumerate() {
            let total = solution.beta[group];
            // At the bounds, or past them, as the solution for a sample may be, all have their share.
            beta[i] = if total >= high[group] && total > 0.0 {
                dual.high[i] * (total / high[group])
            } else if total <= low[group] && total < 0.0 {
                dual.low[i] * (total / low[group])
            } else if rest[group].abs() > ROUNDING * total.abs() {
                rest[group].clamp(dual.low[i], dual.high[i])
            } else {
                0.0
            };
            rest[group] -= beta[i];
        }
        let gradient = self.group.iter().map(|&group| solution.gradient[group]).collect();
        Solution { beta, gradient, ..solution }
    }
}

/// The entries of a row that are not zero, and its target, as bits.
fn entries(dual: &Dual<'_>, i: usize, into: &mut Vec<(usize, u64)>) {
    into.clear();
    into.push((usize::MAX, dual.target[i].to_bits()));
    dual.rows.for_row(dual.indices[i], |j, value| {
        if value != 0.0 {
            into.push((j, value.to_bits()));
        }
    });
}

/// A hash of a row and its target.
fn row_hash(dual: &Dual<'_>, i: usize) -> u64 {
    let mut hash = 0;
    let mut mix = |word: u64| hash = (u64::rotate_left(hash, 23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mix(dual.target[i].to_bits());
    dual.rows.for_row(dual.indices[i], |j, value| {
        if value != 0.0 {
            mix(j as u64);
            mix(value.to_bits());
        }
    });
    hash
}
