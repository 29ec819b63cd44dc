//! Cholesky with pivots: the rank of a large symmetric matrix A ≥ 0, and its pseudo-inverse.
//!
//! The column with the largest diagonal left is taken next, until what is left is rounding error: A = L·Lᵀ with as many
//! columns in L as the rank. With M = LᵀL,
//!
//! ```text
//! A⁺ = L M⁻² Lᵀ
//! ```
//!
//! which costs a few matrix products where singular values would cost a hundred. Directions whose singular value is below
//! about 1e-7 of the largest are counted as dependent: for small matrices [`super::triangular_factor`] is exact.

use super::moments::tall_products;
use super::tall::Tall;
use super::{Cholesky, Matrix, Triangle};
use crate::error::Result;
use crate::passes::Chunk;
use crate::run::Run;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::Range;

/// The number of columns that are factored together.
const PANEL_COLUMNS: usize = 64;

/// A = L·Lᵀ with L of full column rank, and Cholesky's factor of M = LᵀL.
pub(crate) struct PivotedCholesky {
    size: usize,
    /// Column after column.
    lower: Vec<f64>,
    inner: Cholesky,
}

impl PivotedCholesky {
    /// Factors A; `None` if A is zero, or so ill-conditioned that even M has no factor.
    pub(crate) fn of(mut a: Triangle, run: &Run) -> Result<Option<PivotedCholesky>> {
        let size = a.size();
        a.mirror();
        let mut left = a.diagonal();
        let largest = left.iter().copied().fold(0.0, f64::max);
        let noise = 10.0 * size as f64 * f64::EPSILON * largest;
        let mut taken = vec![false; size];
        let mut lower: Vec<f64> = Vec::new();
        loop {
            let start = lower.len() / size;
            while lower.len() / size < (start + PANEL_COLUMNS).min(size) {
                let open = (0..size).filter(|&i| !taken[i]);
                let pivot = open.max_by(|&i, &k| left[i].total_cmp(&left[k]).then(k.cmp(&i)));
                let Some(pivot) = pivot.filter(|&pivot| left[pivot] > noise) else { break };
                let column = next_column(&a, &lower[start * size..], pivot, &taken, left[pivot].sqrt());
                left.iter_mut().zip(&column).for_each(|(left, l)| *left -= l * l);
                taken[pivot] = true;
                lower.extend_from_slice(&column);
            }
            let added = lower.len() / size - start;
            if added < PANEL_COLUMNS {
                break;
            }
            let panel = MatRef::from_column_major_slice(&lower[start * size..], size, added);
            let mut blocks: Vec<&mut [f64]> = a.values_mut().chunks_mut(size * 256).collect();
            run.each(&mut blocks, |part, values| {
                let count = values.len() / size;
                let target = MatMut::from_column_major_slice_mut(values, size, count);
                let own = panel.subrows(part * 256, count);
                matmul(target, Accum::Add, panel, own.transpose(), -1.0, Par::Seq);
            });
            run.check()?;
        }
        drop(a);
        let products = tall_products(&Columns { values: &lower, height: size }, run)?;
        let inner = if lower.is_empty() { None } else { Cholesky::of(products, run)? };
        Ok(inner.map(|inner| PivotedCholesky { size, lower, inner }))
    }

    pub(crate) fn rank(&self) -> usize {
        self.lower.len() / self.size
    }

    /// Cholesky's factor of M, whose singular values are the roots of A's eigenvalues that are not zero.
    pub(crate) fn into_inner(self) -> Cholesky {
        self.inner
    }

    fn lower(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.lower, self.size, self.rank())
    }

    /// A⁺·B.
    pub(crate) fn solve(&self, b: &Matrix) -> Matrix {
        let mut along = Matrix::zeros(self.rank(), b.columns());
        let target = MatMut::from_row_major_slice_mut(along.values_mut(), self.rank(), b.columns());
        matmul(target, Accum::Replace, self.lower().transpose(), b.view().faer(), 1.0, Par::Seq);
        let along = self.inner.solve(&self.inner.solve(&along));
        let mut answer = Matrix::zeros(self.size, b.columns());
        let target = MatMut::from_row_major_slice_mut(answer.values_mut(), self.size, b.columns());
        matmul(target, Accum::Replace, self.lower(), along.view().faer(), 1.0, Par::Seq);
        answer
    }

    /// xᵀA⁺x for every row x of a tile (column after column).
    pub(crate) fn quadratic_forms(&self, tile: MatRef<'_, f64>) -> Vec<f64> {
        let mut along = tile * self.lower();
        self.inner.solve_lower(along.as_mut().transpose_mut());
        self.inner.solve_upper(along.as_mut().transpose_mut());
        squared_rows(along.as_ref())
    }

    /// (A·A⁺)_ii for a range of rows.
    pub(crate) fn projected_diagonal(&self, rows: Range<usize>) -> Vec<f64> {
        let mut along = self.lower().subrows(rows.start, rows.len()).to_owned();
        self.inner.solve_lower(along.as_mut().transpose_mut());
        squared_rows(along.as_ref())
    }

    /// (A⁺)_ii for these rows.
    pub(crate) fn pseudo_diagonal(&self, rows: &[usize]) -> Vec<f64> {
        let mut along = faer::Mat::from_fn(rows.len(), self.rank(), |k, j| self.lower()[(rows[k], j)]);
        self.inner.solve_lower(along.as_mut().transpose_mut());
        self.inner.solve_upper(along.as_mut().transpose_mut());
        squared_rows(along.as_ref())
    }
}

/// (A_p - what the panel already explains of it) / √pivot; zero in rows that are done.
fn next_column(a: &Triangle, panel: &[f64], pivot: usize, taken: &[bool], root: f64) -> Vec<f64> {
    let size = a.size();
    let mut column: Vec<f64> = (0..size).map(|i| a.get(i, pivot)).collect();
    for before in panel.chunks(size) {
        let factor = before[pivot];
        if factor != 0.0 {
            column.iter_mut().zip(before).for_each(|(value, l)| *value -= factor * l);
        }
    }
    column.iter_mut().for_each(|value| *value /= root);
    (0..size).filter(|&i| taken[i]).for_each(|i| column[i] = 0.0);
    column[pivot] = root;
    column
}

fn squared_rows(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let mut sums = vec![0.0; matrix.nrows()];
    for column in matrix.col_iter() {
        sums.iter_mut().zip(column.iter()).for_each(|(sum, value)| *sum += value * value);
    }
    sums
}

/// A dense matrix, column after column, as a tall one.
struct Columns<'a> {
    values: &'a [f64],
    height: usize,
}

impl Chunk for Columns<'_> {
    fn count(&self) -> usize {
        self.height
    }
}

impl Tall for Columns<'_> {
    fn width(&self) -> usize {
        self.values.len() / self.height
    }

    fn pack(&self, range: Range<usize>, tile: &mut [f64]) {
        for (from, to) in self.values.chunks(self.height).zip(tile.chunks_mut(range.len())) {
            to.copy_from_slice(&from[range.clone()]);
        }
    }
}
