//! The rows of a search.

use super::measure::{Measure, RowParts};
use crate::error::Result;
use crate::matrix::simd::vectorised;
use crate::matrix::{Dense, Features, Sparse};
use crate::run::Run;

vectorised! {
    /// Whether a number is missing, and whether one is larger than the limit.
    fn look(row: &[f64], limit: f64) -> (bool, bool) {
        let (mut missing, mut large) = (false, false);
        for x in row {
            missing |= x.is_nan();
            large |= x.abs() > limit;
        }
        (missing, large)
    }
}

/// Borrowed rows in which NaN is a missing value.
#[derive(Clone, Copy)]
pub(super) struct SearchRows<'a> {
    pub(super) features: Features<'a>,
    pub(super) has_missing: bool,
}

impl<'a> SearchRows<'a> {
    /// Looks for missing values. Refuses infinities, missing values among sparse entries, and numbers too large for the measure.
    pub(super) fn of(features: &Features<'a>, measure: &Measure, run: &Run) -> Result<SearchRows<'a>> {
        let limit = measure.largest(features.columns());
        let (rows, dense) = (features.rows(), features.dense_alone());
        let chunk = (1_000_000 / features.columns().max(1)).max(64);
        let (mut has_missing, mut fine) = (false, true);
        for first in (0..rows).step_by(chunk * 16) {
            let parts: Vec<usize> = (first..(first + chunk * 16).min(rows)).step_by(chunk).collect();
            let found = run.map(parts.len(), |part| {
                let mut space = vec![0.0; dense.columns()];
                let (mut any_missing, mut fine) = (false, true);
                for i in parts[part]..(parts[part] + chunk).min(rows) {
                    let (missing, large) = look(dense.dense_row(i, &mut space), limit);
                    any_missing |= missing;
                    fine &= !large;
                }
                (any_missing, fine)
            });
            found.iter().for_each(|part| (has_missing, fine) = (has_missing | part.0, fine & part.1));
            run.check()?;
        }
        let bounded = |sparse: &Sparse| (0..rows).all(|i| sparse.row(i).1.iter().all(|x| x.abs() <= limit));
        if !fine || !features.sparse_part().is_none_or(bounded) {
            return Err(features.too_large(limit));
        }
        Ok(SearchRows { features: *features, has_missing })
    }

    pub(super) fn rows(&self) -> usize {
        self.features.rows()
    }

    /// The dense part of row `i`, copied to `space` if it is not contiguous in f64.
    #[inline]
    pub(super) fn dense_row<'b>(&self, i: usize, space: &'b mut [f64]) -> &'b [f64]
    where
        'a: 'b,
    {
        self.features.dense_row(i, space)
    }

    /// RowParts `i`, dense and sparse.
    #[inline]
    pub(super) fn row<'b>(&self, i: usize, space: &'b mut [f64]) -> RowParts<'b>
    where
        'a: 'b,
    {
        let sparse = self.features.sparse_part().map_or((&[][..], &[][..]), |sparse| sparse.row(i));
        let space = &mut space[..self.features.dense_columns()];
        RowParts { dense: self.dense_row(i, space), sparse }
    }
}

impl<'a> Features<'a> {
    /// The number in row `i` and dense column `j`, neither centred nor scaled.
    #[inline]
    pub(super) fn dense_value(&self, i: usize, j: usize) -> f64 {
        self.dense_part().map_or(0.0, |part| part.get(i, j))
    }

    /// The dense columns of row `i`, neither centred nor scaled; copied to `space` if they are not contiguous in f64.
    #[inline]
    pub(super) fn dense_row<'b>(&self, i: usize, space: &'b mut [f64]) -> &'b [f64]
    where
        'a: 'b,
    {
        match self.dense_part() {
            Some(Dense::F64(view)) => match view.whole_row(i) {
                Some(row) => row,
                None => {
                    self.plain().dense_alone().pack(std::iter::once(i), space);
                    space
                }
            },
            Some(_) => {
                self.plain().dense_alone().pack(std::iter::once(i), space);
                space
            }
            None => &[],
        }
    }
}
