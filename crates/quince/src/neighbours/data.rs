//! Rows as searches see them.

use super::measure::Row;
use crate::error::Result;
use crate::matrix::{Dense, Features};

/// Borrowed rows in which NaN is a hole.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) features: Features<'a>,
    pub(super) holes: bool,
}

impl<'a> Data<'a> {
    /// Looks for holes; infinities, and holes among sparse entries, are refused.
    pub(super) fn of(features: &Features<'a>) -> Result<Data<'a>> {
        let (mut holes, mut infinite) = (false, false);
        let mut row = vec![0.0; features.dense_columns()];
        let dense = features.dense_alone();
        for i in 0..features.rows() {
            let row = dense.dense_row(i, &mut row);
            // A sum tells that all is well in one go.
            if !row.iter().sum::<f64>().is_finite() {
                holes |= row.iter().any(|x| x.is_nan());
                infinite |= row.iter().any(|x| x.is_infinite());
            }
        }
        if infinite || features.sparse_part().is_some_and(|sparse| !sparse.is_finite()) {
            return Err(features.infinite());
        }
        Ok(Data { features: *features, holes })
    }

    pub(super) fn rows(&self) -> usize {
        self.features.rows()
    }

    /// The dense part of row `i`, in `space` if it does not lie in memory as it is.
    #[inline]
    pub(super) fn dense_row<'b>(&self, i: usize, space: &'b mut [f64]) -> &'b [f64]
    where
        'a: 'b,
    {
        self.features.dense_row(i, space)
    }

    /// Row `i`, dense and sparse.
    #[inline]
    pub(super) fn row<'b>(&self, i: usize, space: &'b mut [f64]) -> Row<'b>
    where
        'a: 'b,
    {
        let sparse = self.features.sparse_part().map_or((&[][..], &[][..]), |sparse| sparse.row(i));
        let space = &mut space[..self.features.dense_columns()];
        Row { dense: self.dense_row(i, space), sparse }
    }
}

impl<'a> Features<'a> {
    /// The number in row `i` and dense column `j`, neither centred nor scaled.
    #[inline]
    pub(super) fn dense_value(&self, i: usize, j: usize) -> f64 {
        self.dense_part().map_or(0.0, |part| part.get(i, j))
    }

    /// The dense columns of row `i`, neither centred nor scaled; in `space` if they do not lie in memory as they are.
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
