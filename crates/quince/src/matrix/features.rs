//! What a learner sees of the data: a dense part, a sparse part beside it, or both, with one row an example.

use super::view::with_view;
use super::{Dense, Matrix, Sparse, cuts, partials};
use crate::error::{Error, Result};
use crate::run::Run;
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use std::ops::Range;

/// Rows of numbers, borrowed: dense columns first, then sparse ones.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    rows: usize,
    dense: Option<Dense<'a>>,
    sparse: Option<&'a Sparse>,
}

impl<'a> Features<'a> {
    /// Dense features alone.
    pub fn dense(dense: Dense<'a>) -> Features<'a> {
        Features { rows: dense.rows(), dense: Some(dense), sparse: None }
    }

    /// Sparse features alone.
    pub fn sparse(sparse: &'a Sparse) -> Features<'a> {
        Features { rows: sparse.rows(), dense: None, sparse: Some(sparse) }
    }

    /// Dense columns with sparse ones beside them. Both must have the same number of rows.
    pub fn both(dense: Dense<'a>, sparse: &'a Sparse) -> Result<Features<'a>> {
        if dense.rows() != sparse.rows() {
            return Err(Error::data(
                format!("{} dense rows stand beside {} sparse rows", dense.rows(), sparse.rows()),
                "Give both parts the same rows.",
            ));
        }
        Ok(Features { rows: dense.rows(), dense: Some(dense), sparse: Some(sparse) })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, dense and sparse together.
    pub fn columns(&self) -> usize {
        self.dense_columns() + self.sparse.map_or(0, Sparse::columns)
    }

    /// The dense part.
    pub fn dense_part(&self) -> Option<Dense<'a>> {
        self.dense
    }

    /// The sparse part; its first column is column [`Features::dense_columns`] of the whole.
    pub fn sparse_part(&self) -> Option<&'a Sparse> {
        self.sparse
    }

    /// Number of dense columns.
    pub fn dense_columns(&self) -> usize {
        self.dense.map_or(0, |dense| dense.columns())
    }

    /// Calls `visit(column, value)` for every entry of row `i` that is stored.
    pub(crate) fn for_row(&self, i: usize, mut visit: impl FnMut(usize, f64)) {
        if let Some(dense) = self.dense {
            with_view!(dense, view => view.for_block(i..i + 1, 0..view.columns(), |_, j, value| visit(j, value)));
        }
        if let Some(sparse) = self.sparse {
            let first = self.dense_columns();
            sparse.entries(i).for_each(|(j, value)| visit(first + j, value));
        }
    }

    /// The mean of each column, rows weighted. Not-a-number and infinite values are refused here, with their place.
    pub(crate) fn means(&self, weights: Option<&[f64]>, run: &Run) -> Result<Vec<f64>> {
        let total = weights.map_or(self.rows as f64, |w| w.iter().sum());
        let ranges = cuts(self.rows, partials(self.rows));
        let sums = run.map(ranges.len(), |part| self.column_sums(ranges[part].clone(), weights));
        run.check()?;
        let mut means = vec![0.0; self.columns()];
        for part in sums {
            means.iter_mut().zip(part).for_each(|(mean, sum)| *mean += sum);
        }
        // A sum over all rows is finite only if every value is (or it overflows, which is refused just as well).
        if means.iter().any(|sum| !sum.is_finite()) {
            return Err(self.not_finite());
        }
        means.iter_mut().for_each(|mean| *mean /= total);
        Ok(means)
    }

    fn column_sums(&self, rows: Range<usize>, weights: Option<&[f64]>) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns()];
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        if let Some(dense) = self.dense {
            with_view!(dense, view => view.for_block(rows.clone(), 0..view.columns(), |i, j, value| {
                sums[j] += weight(i) * value;
            }));
        }
        if let Some(sparse) = self.sparse {
            let first = self.dense_columns();
            for i in rows {
                sparse.entries(i).for_each(|(j, value)| sums[first + j] += weight(i) * value);
            }
        }
        sums
    }

    /// An error unless every value is finite.
    pub fn check_finite(&self) -> Result<()> {
        let mut fine = true;
        (0..self.rows).for_each(|i| self.for_row(i, |_, value| fine &= value.is_finite()));
        if fine { Ok(()) } else { Err(self.not_finite()) }
    }

    fn not_finite(&self) -> Error {
        let mut found = None;
        for i in 0..self.rows {
            self.for_row(i, |j, value| {
                if found.is_none() && !value.is_finite() {
                    found = Some((i, j, value));
                }
            });
            if found.is_some() {
                break;
            }
        }
        match found {
            Some((i, j, value)) => {
                let what = if value.is_nan() { "NaN" } else { "infinity" };
                Error::data(
                    format!("the features contain {what}: row {}, column {}", i + 1, j + 1),
                    "Fill holes and remove infinities, or hand over a table, whose holes are filled for you.",
                )
            }
            None => Error::data(
                "the features are too large to be added up",
                "Rescale the columns so that sums stay below 1e308.",
            ),
        }
    }

    /// X·B + offset for every row: `b` has a row for each column of the features.
    pub(crate) fn multiply(&self, b: &Matrix, offset: &[f64], run: &Run) -> Result<Matrix> {
        let outputs = b.columns();
        let mut product = Matrix::zeros(self.rows, outputs);
        let chunk = 4096;
        let step = chunk * 16;
        for (start, block) in (0..self.rows).step_by(step).zip(product.values_mut().chunks_mut(step * outputs.max(1))) {
            let mut tiles: Vec<&mut [f64]> = block.chunks_mut(chunk * outputs.max(1)).collect();
            run.each(&mut tiles, |tile, out| {
                let first = start + tile * chunk;
                let rows = first..first + out.len() / outputs.max(1);
                self.multiply_rows(rows, b, offset, out);
            });
            run.check()?;
        }
        Ok(product)
    }

    fn multiply_rows(&self, rows: Range<usize>, b: &Matrix, offset: &[f64], out: &mut [f64]) {
        let outputs = b.columns();
        out.chunks_mut(outputs).for_each(|row| row.copy_from_slice(offset));
        if let Some(dense) = self.dense.filter(|dense| dense.columns() > 0) {
            let upper = b.view().faer().subrows(0, dense.columns());
            let count = rows.len();
            let mut target = faer::MatMut::from_row_major_slice_mut(out, count, outputs);
            match dense {
                Dense::F64(view) => {
                    let lhs = view.faer().subrows(rows.start, count);
                    matmul(target, Accum::Add, lhs, upper, 1.0, Par::Seq);
                }
                Dense::F32(view) => {
                    // Tiles that stay in a core's cache, each written in the order in which it is read.
                    let columns = view.columns();
                    let step = (32_768 / columns).max(16);
                    let mut packed = vec![0.0; step.min(count) * columns];
                    for first in (0..count).step_by(step) {
                        let (start, size) = (rows.start + first, step.min(count - first));
                        let tile = &mut packed[..size * columns];
                        let (down, across) = if view.by_rows() { (columns, 1) } else { (1, size) };
                        view.for_block(start..start + size, 0..columns, |i, j, value| {
                            tile[(i - start) * down + j * across] = value;
                        });
                        let lhs = if view.by_rows() {
                            faer::MatRef::from_row_major_slice(tile, size, columns)
                        } else {
                            faer::MatRef::from_column_major_slice(tile, size, columns)
                        };
                        matmul(target.as_mut().subrows_mut(first, size), Accum::Add, lhs, upper, 1.0, Par::Seq);
                    }
                }
            }
        }
        if let Some(sparse) = self.sparse {
            let first = self.dense_columns();
            for (i, row) in rows.zip(out.chunks_mut(outputs)) {
                for (j, value) in sparse.entries(i) {
                    row.iter_mut().zip(b.row(first + j)).for_each(|(sum, b)| *sum += value * b);
                }
            }
        }
    }
}
