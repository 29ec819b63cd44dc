//! Rows one at a time: their product with w, and w with a multiple of a row added.

use crate::matrix::simd::{add_times, prefetch, product};
use crate::matrix::{Dense, Features, Sparse, SparseRows};

/// Access to one row at a time.
pub(super) struct RowAccess<'a> {
    rows: Features<'a>,
    dense: Option<Dense<'a>>,
    sparse: Option<SparseRows<'a>>,
    /// How many columns are dense.
    split: usize,
}

impl<'a> RowAccess<'a> {
    pub(super) fn new(rows: Features<'a>) -> RowAccess<'a> {
        let dense = rows.dense_part().filter(|dense| dense.columns() > 0);
        RowAccess { rows, dense, sparse: rows.sparse_part().map(Sparse::by_rows), split: rows.dense_columns() }
    }

    /// The product w·x of row `i`.
    #[inline]
    pub(super) fn product(&self, i: usize, weights: &[f64]) -> f64 {
        let (left, right) = weights.split_at(self.split);
        let mut sum = match self.dense {
            None => 0.0,
            Some(Dense::F64(view)) => match view.whole_row(i) {
                Some(row) => product(left, row),
                None => (0..self.split).map(|j| left[j] * view.get(i, j)).sum(),
            },
            Some(Dense::F32(view)) => match view.whole_row(i) {
                Some(row) => product(left, row),
                None => (0..self.split).map(|j| left[j] * view.get(i, j)).sum(),
            },
        };
        if let Some(sparse) = self.sparse {
            sum += sparse.product(i, right);
        }
        sum
    }

    /// Adds `step` times row `i` to w.
    #[inline]
    pub(super) fn add(&self, i: usize, step: f64, weights: &mut [f64]) {
        let (left, right) = weights.split_at_mut(self.split);
        match self.dense {
            None => {}
            Some(Dense::F64(view)) => match view.whole_row(i) {
                Some(row) => add_times(left, row, step),
                None => left.iter_mut().enumerate().for_each(|(j, weight)| *weight += step * view.get(i, j)),
            },
            Some(Dense::F32(view)) => match view.whole_row(i) {
                Some(row) => add_times(left, row, step),
                None => left.iter_mut().enumerate().for_each(|(j, weight)| *weight += step * view.get(i, j)),
            },
        }
        if let Some(sparse) = self.sparse {
            sparse.add(i, step, right);
        }
    }

    /// Calls `visit` with every column of which row `i` has a value.
    pub(super) fn each_column(&self, i: usize, mut visit: impl FnMut(usize)) {
        (0..self.split).for_each(&mut visit);
        if let Some(sparse) = self.sparse {
            sparse.row(i).0.iter().for_each(|column| visit(self.split + *column as usize));
        }
    }

    /// Prefetches a row that will be visited soon.
    #[inline]
    pub(super) fn prefetch(&self, i: usize) {
        match self.dense {
            Some(Dense::F64(view)) => view.whole_row(i).into_iter().for_each(prefetch),
            Some(Dense::F32(view)) => view.whole_row(i).into_iter().for_each(prefetch),
            None => {}
        }
        if let Some(sparse) = self.sparse {
            let (columns, values) = sparse.row(i);
            prefetch(columns);
            prefetch(values);
        }
    }

    /// How many rows are visited in a few hundredths of a second.
    pub(super) fn piece(&self) -> usize {
        1 + 40_000_000 / self.rows.row_cost()
    }

    pub(super) fn count(&self) -> usize {
        self.rows.rows()
    }

    pub(super) fn columns(&self) -> usize {
        self.rows.columns()
    }
}
