//! Cholesky's factor of a symmetric matrix, by blocks, so that it runs on several threads and can be stopped.

use super::Matrix;
use crate::error::Result;
use crate::run::Run;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};

/// The number of columns in a block.
const BLOCK_COLUMNS: usize = 256;

/// A symmetric matrix, column after column, of which the lower triangle counts.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    size: usize,
    values: Vec<f64>,
}

impl Triangle {
    /// An error, before anything is made, if a matrix of this size and what is done with it would not fit into memory.
    pub(crate) fn afford(size: usize) -> Result<()> {
        let needed = 3.0 * 8.0 * (size as f64).powi(2);
        super::afford(needed, &format!("a matrix of {size} x {size}"))
    }

    pub(crate) fn zeros(size: usize) -> Triangle {
        Triangle { size, values: vec![0.0; size * size] }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Element (i, j) with i ≥ j.
    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.size + i]
    }

    pub(crate) fn set(&mut self, i: usize, j: usize, value: f64) {
        self.values[j * self.size + i] = value;
    }

    pub(crate) fn add(&mut self, i: usize, j: usize, value: f64) {
        self.values[j * self.size + i] += value;
    }

    pub(crate) fn add_to_diagonal(&mut self, value: f64) {
        (0..self.size).for_each(|i| self.add(i, i, value));
    }

    pub(crate) fn diagonal(&self) -> Vec<f64> {
        (0..self.size).map(|i| self.get(i, i)).collect()
    }

    /// Its leading block of this size, in the same memory.
    pub(crate) fn leading(mut self, size: usize) -> Triangle {
        (0..size).for_each(|j| self.values.copy_within(j * self.size..j * self.size + size, j * size));
        self.values.truncate(size * size);
        Triangle { size, values: self.values }
    }

    /// All values, column after column.
    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Copies the lower triangle over the upper one.
    pub(crate) fn mirror(&mut self) {
        for j in 0..self.size {
            for i in j + 1..self.size {
                self.values[i * self.size + j] = self.values[j * self.size + i];
            }
        }
    }

    pub(crate) fn faer(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.size, self.size)
    }

    /// A·B, from the lower triangle of A.
    pub(crate) fn multiply(&self, b: &Matrix) -> Matrix {
        let mut product = Matrix::zeros(self.size, b.columns());
        for j in 0..self.size {
            for i in j..self.size {
                let a = self.get(i, j);
                for k in 0..b.columns() {
                    product[(i, k)] += a * b[(j, k)];
                    if i != j {
                        product[(j, k)] += a * b[(i, k)];
                    }
                }
            }
        }
        product
    }
}

/// L with A = L·Lᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky {
    lower: Triangle,
    /// The least of L_jj² / A_jj: what of a column no earlier column explains. Near zero means near singular.
    pub(crate) least_pivot: f64,
}

impl Cholesky {
    /// Factors A; `None` if a pivot is not positive, which says that A is singular (or worse) in f64.
    pub(crate) fn of(mut a: Triangle, run: &Run) -> Result<Option<Cholesky>> {
        let size = a.size;
        let diagonal = a.diagonal();
        let mut least_pivot = f64::INFINITY;
        for start in (0..size).step_by(BLOCK_COLUMNS) {
            let end = (start + BLOCK_COLUMNS).min(size);
            let Some(least) = factor_diagonal_block(&mut a, start..end, &diagonal) else {
                return Ok(None);
            };
            least_pivot = least_pivot.min(least);
            if end < size {
                update_trailing(&mut a, start, end, run);
            }
            run.check()?;
        }
        Ok(Some(Cholesky { lower: a, least_pivot }))
    }

    pub(crate) fn lower(&self) -> MatRef<'_, f64> {
        self.lower.faer()
    }

    /// A⁻¹·B.
    pub(crate) fn solve(&self, b: &Matrix) -> Matrix {
        let mut x = b.clone();
        let (rows, columns) = (b.rows(), b.columns());
        if columns == 1 {
            self.solve_vector(x.values_mut());
            return x;
        }
        let mut target = MatMut::from_row_major_slice_mut(x.values_mut(), rows, columns);
        solve_lower_triangular_in_place(self.lower(), target.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.lower().transpose(), target, Par::Seq);
        x
    }

    /// A⁻¹·b in place, by substitution: downwards, and up again.
    fn solve_vector(&self, x: &mut [f64]) {
        let size = self.lower.size;
        for (j, column) in self.lower.values.chunks_exact(size.max(1)).enumerate() {
            x[j] /= column[j];
            let (solved, rest) = x.split_at_mut(j + 1);
            subtract_multiple(rest, solved[j], &column[j + 1..]);
        }
        for (j, column) in self.lower.values.chunks_exact(size.max(1)).enumerate().rev() {
            let rest: f64 = column[j + 1..].iter().zip(&x[j + 1..]).map(|(l, x)| l * x).sum();
            x[j] = (x[j] - rest) / column[j];
        }
    }

    /// About the reciprocal condition number of L (smallest over largest singular value), by a few inverse iterations: too large
    /// by a factor of two or three at worst, too small by the root of the size.
    pub(crate) fn reciprocal_condition(&self, run: &Run) -> Result<f64> {
        const INVERSE_ITERATIONS: usize = 8;
        let size = self.lower.size;
        let mut stream = crate::run::Stream::new(0, 0);
        let mut x = Matrix::column_vector((0..size).map(|_| stream.uniform() - 0.5).collect());
        let length = |x: &Matrix| x.values().iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut growth = 1.0;
        for _ in 0..INVERSE_ITERATIONS {
            let before = length(&x);
            x.values_mut().iter_mut().for_each(|value| *value /= before);
            x = self.solve(&x);
            growth = length(&x);
            run.check()?;
        }
        // Σ L_ij² is the sum of all squared singular values, so at least the largest of them.
        let squares: f64 =
            (0..size).flat_map(|j| (j..size).map(move |i| (i, j))).map(|(i, j)| self.lower.get(i, j).powi(2)).sum();
        Ok((1.0 / growth / squares).sqrt())
    }

    /// L⁻¹·B in place.
    pub(crate) fn solve_lower(&self, b: MatMut<'_, f64>) {
        solve_lower_triangular_in_place(self.lower(), b, Par::Seq);
    }

    /// L⁻ᵀ·B in place.
    pub(crate) fn solve_upper(&self, b: MatMut<'_, f64>) {
        solve_upper_triangular_in_place(self.lower().transpose(), b, Par::Seq);
    }
}

/// Factors the block on the diagonal, column by column, each subtracted from those after it; answers the least pivot, or `None` if
/// one is not positive.
fn factor_diagonal_block(a: &mut Triangle, block: std::ops::Range<usize>, diagonal: &[f64]) -> Option<f64> {
    let (size, mut least) = (a.size, f64::INFINITY);
    for j in block.clone() {
        let pivot = a.get(j, j);
        let positive = pivot > 0.0 && pivot.is_finite();
        if !positive {
            return None;
        }
        least = least.min(pivot / diagonal[j]);
        let (head, rest) = a.values.split_at_mut((j + 1) * size);
        let column = &mut head[j * size..][j..block.end];
        let root = pivot.sqrt();
        column.iter_mut().for_each(|x| *x /= root);
        for (other, values) in (j + 1..block.end).zip(rest.chunks_exact_mut(size)) {
            subtract_multiple(&mut values[other..block.end], column[other - j], &column[other - j..]);
        }
    }
    Some(least)
}

super::simd::vectorised! {
    /// Subtracts a multiple of a column from another.
    fn subtract_multiple(from: &mut [f64], times: f64, column: &[f64]) {
        for (from, x) in from.iter_mut().zip(column) {
            *from -= times * x;
        }
    }
}

/// Solves for the rows below a factored block and takes their products off the rest of the matrix.
fn update_trailing(a: &mut Triangle, start: usize, end: usize, run: &Run) {
    let size = a.size;
    let (head, rest) = a.values.split_at_mut(end * size);
    let panel = MatMut::from_column_major_slice_mut(&mut head[start * size..], size, end - start);
    let (_, panel) = panel.split_at_row_mut(start);
    let (block, mut below) = panel.split_at_row_mut(end - start);
    solve_lower_triangular_in_place(block.as_ref(), below.as_mut().transpose_mut(), Par::Seq);
    let below = below.as_ref();
    let mut columns: Vec<&mut [f64]> = rest.chunks_mut(size * BLOCK_COLUMNS).collect();
    run.each(&mut columns, |part, values| {
        let first = part * BLOCK_COLUMNS;
        let count = values.len() / size;
        let target = MatMut::from_column_major_slice_mut(values, size, count);
        let (_, target) = target.split_at_row_mut(end + first);
        let rows = below.subrows(first, size - end - first);
        matmul(target, Accum::Add, rows, rows.subrows(0, count).transpose(), -1.0, Par::Seq);
    });
}
