//! Rows one at a time: their product with w, and w with a multiple of a row added.

use crate::matrix::simd::{add_times, add_times_about, prefetch, product, product_about};
use crate::matrix::{Dense, Features, Real, Sparse, SparseRows, View};

/// Access to one row at a time.
pub(super) struct RowAccess<'a> {
    rows: Features<'a>,
    dense: Option<Dense<'a>>,
    sparse: Option<SparseRows<'a>>,
    /// How many columns are dense.
    split: usize,
    /// The means of the dense columns, about which rows are taken; empty if they are taken as they are.
    means: Vec<f64>,
}

impl<'a> RowAccess<'a> {
    pub(super) fn new(rows: Features<'a>) -> RowAccess<'a> {
        let dense = rows.dense_part().filter(|dense| dense.columns() > 0);
        RowAccess {
            rows,
            dense,
            sparse: rows.sparse_part().map(Sparse::by_rows),
            split: rows.dense_columns(),
            means: Vec::new(),
        }
    }

    /// The same rows about these means of their dense columns. Sparse ones stay as they are: their mean is near zero, which most of
    /// their values are.
    pub(super) fn about(self, mut means: Vec<f64>) -> RowAccess<'a> {
        means.truncate(self.split);
        RowAccess { means, ..self }
    }

    /// What a bias grows by once rows are taken as they are: minus the product of w with the means.
    pub(super) fn shift(&self, weights: &[f64]) -> f64 {
        -self.means.iter().zip(weights).map(|(mean, weight)| mean * weight).sum::<f64>()
    }

    /// The product w·x of row `i`.
    #[inline]
    pub(super) fn product(&self, i: usize, weights: &[f64]) -> f64 {
        let (left, right) = weights.split_at(self.split);
        let mut sum = match self.dense {
            None => 0.0,
            Some(Dense::F64(view)) => self.dense_product(&view, i, left),
            Some(Dense::F32(view)) => self.dense_product(&view, i, left),
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
            Some(Dense::F64(view)) => self.dense_add(&view, i, step, left),
            Some(Dense::F32(view)) => self.dense_add(&view, i, step, left),
        }
        if let Some(sparse) = self.sparse {
            sparse.add(i, step, right);
        }
    }

    #[inline(always)]
    fn dense_product<T: Real>(&self, view: &View<'_, T>, i: usize, weights: &[f64]) -> f64 {
        match view.whole_row(i) {
            Some(row) if self.means.is_empty() => product(weights, row),
            Some(row) => product_about(weights, row, &self.means),
            None => (0..self.split).map(|j| weights[j] * (view.get(i, j) - self.mean(j))).sum(),
        }
    }

    #[inline(always)]
    fn dense_add<T: Real>(&self, view: &View<'_, T>, i: usize, step: f64, weights: &mut [f64]) {
        match view.whole_row(i) {
            Some(row) if self.means.is_empty() => add_times(weights, row, step),
            Some(row) => add_times_about(weights, row, step, &self.means),
            None => {
                let add = |(j, weight): (usize, &mut f64)| *weight += step * (view.get(i, j) - self.mean(j));
                weights.iter_mut().enumerate().for_each(add);
            }
        }
    }

    fn mean(&self, j: usize) -> f64 {
        self.means.get(j).copied().unwrap_or(0.0)
    }

    /// The squared length of row `i` about the means.
    pub(super) fn squared_length(&self, i: usize) -> f64 {
        let mut sum = 0.0;
        self.rows.for_row(i, |j, value| sum += (value - self.mean(j)) * (value - self.mean(j)));
        sum
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
