//! Products of features with a matrix from either side, and the norms of their rows.
//!
//! Centre and scale are never applied to the features themselves: (X - 1cᵀ)S·B is X·(SB) minus the row cᵀSB, and the
//! transposed product is S(XᵀB - c·1ᵀB).

use super::simd::{add_times, squared_norm};
use super::view::with_view;
use super::{Dense, Features, Matrix};
use crate::error::Result;
use crate::passes::{Pass, at_hand};
use crate::run::Run;
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use std::ops::Range;

impl Features<'_> {
    /// X·B + offset for every row: `b` has a row for each column of the features.
    pub(crate) fn multiply(&self, b: &Matrix, offset: &[f64], run: &Run) -> Result<Matrix> {
        if self.is_shifted() {
            return self.multiply_shifted(b, offset, run);
        }
        let outputs = b.columns();
        let mut product = Matrix::zeros(self.rows(), outputs);
        let chunk = 4096;
        let step = chunk * 16;
        for (start, block) in (0..self.rows()).step_by(step).zip(product.values_mut().chunks_mut(step * outputs.max(1)))
        {
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
        if let Some(dense) = self.dense_part().filter(|dense| dense.columns() > 0) {
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
        if let Some(sparse) = self.sparse_part() {
            let first = self.dense_columns();
            if outputs == 1 {
                let b = &b.values()[first..];
                let sparse = sparse.by_rows();
                rows.zip(out).for_each(|(i, sum)| *sum += sparse.product(i, b));
                return;
            }
            for (i, row) in rows.zip(out.chunks_mut(outputs)) {
                for (j, value) in sparse.entries(i) {
                    row.iter_mut().zip(b.row(first + j)).for_each(|(sum, b)| *sum += value * b);
                }
            }
        }
    }

    fn multiply_shifted(&self, b: &Matrix, offset: &[f64], run: &Run) -> Result<Matrix> {
        let (mut scaled, mut offset) = (b.clone(), offset.to_vec());
        for j in 0..b.rows() {
            let (centre, scale) = (self.centre_of(j), self.scale_of(j));
            scaled.row_mut(j).iter_mut().for_each(|b| *b *= scale);
            offset.iter_mut().zip(scaled.row(j)).for_each(|(offset, b)| *offset -= centre * b);
        }
        self.plain().multiply(&scaled, &offset, run)
    }

    /// Xᵀ·B: `b` has a row for each row of the features, the product a row for each column.
    pub(crate) fn transposed_multiply(&self, b: &Matrix, run: &Run) -> Result<Matrix> {
        let (columns, outputs) = (self.columns(), b.columns());
        // Partial sums where they are small, and else one sum whose columns are split.
        let max_parts = if columns * outputs <= 1 << 16 { usize::MAX } else { 1 };
        let step = (10_000_000 / (self.row_cost() * outputs.max(1))).max(16);
        let pass = Pass::new(step, run).in_parts(max_parts);
        let zeros = || Matrix::zeros(columns, outputs);
        let mut product = pass.gather(at_hand(self), zeros, |sum, features, rows| {
            features.add_transposed_product(rows, b, sum);
        })?;
        if self.is_shifted() {
            let mut totals = vec![0.0; outputs];
            (0..b.rows()).for_each(|i| totals.iter_mut().zip(b.row(i)).for_each(|(total, b)| *total += b));
            for j in 0..columns {
                let (centre, scale) = (self.centre_of(j), self.scale_of(j));
                product.row_mut(j).iter_mut().zip(&totals).for_each(|(x, total)| *x = scale * (*x - centre * total));
            }
        }
        Ok(product)
    }

    fn add_transposed_product(&self, rows: Range<usize>, b: &Matrix, sum: &mut Matrix) {
        let (dense, outputs) = (self.dense_columns(), b.columns());
        if outputs == 0 || rows.is_empty() {
            return;
        }
        if let Some(Dense::F64(view)) = self.dense_part()
            && outputs > 4
        {
            let left = view.faer().subrows(rows.start, rows.len());
            let right = b.view().faer().subrows(rows.start, rows.len());
            let upper = &mut sum.values_mut()[..dense * outputs];
            let upper = faer::MatMut::from_row_major_slice_mut(upper, dense, outputs);
            matmul(upper, Accum::Add, left.transpose(), right, 1.0, Par::Seq);
        } else if let Some(part) = self.dense_part()
            && outputs == 1
        {
            let sum = &mut sum.values_mut()[..dense];
            with_view!(part, view => match view.whole_row(rows.start) {
                Some(_) => rows.clone().for_each(|i| {
                    view.whole_row(i).into_iter().for_each(|row| add_times(sum, row, b[(i, 0)]));
                }),
                None => view.for_block(rows.clone(), 0..dense, |i, j, value| sum[j] += value * b[(i, 0)]),
            });
        } else if let Some(part) = self.dense_part() {
            with_view!(part, view => view.for_block(rows.clone(), 0..dense, |i, j, value| {
                sum.row_mut(j).iter_mut().zip(b.row(i)).for_each(|(sum, b)| *sum += value * b);
            }));
        }
        if let Some(sparse) = self.sparse_part() {
            if outputs == 1 {
                let sum = &mut sum.values_mut()[dense..];
                let sparse = sparse.by_rows();
                rows.for_each(|i| sparse.add(i, b[(i, 0)], sum));
                return;
            }
            for i in rows {
                for (j, value) in sparse.entries(i) {
                    sum.row_mut(dense + j).iter_mut().zip(b.row(i)).for_each(|(sum, b)| *sum += value * b);
                }
            }
        }
    }

    /// ‖x‖² of every row.
    pub(crate) fn row_norms(&self, run: &Run) -> Result<Vec<f64>> {
        self.norms_of(0..self.rows(), run)
    }

    /// ‖x‖² of some rows.
    pub(crate) fn norms_of(&self, rows: Range<usize>, run: &Run) -> Result<Vec<f64>> {
        let mut norms = vec![0.0; rows.len()];
        let dense = self.dense_columns();
        // A sparse row differs from the row of zeros, shifted, in its entries alone.
        let square = |j: usize, x: f64| ((x - self.centre_of(j)) * self.scale_of(j)).powi(2);
        let of_zeros: f64 = if self.is_shifted() { (dense..self.columns()).map(|j| square(j, 0.0)).sum() } else { 0.0 };
        let chunk = (262_144 / self.row_cost()).clamp(16, 4096);
        for (start, block) in (rows.start..).step_by(chunk * 16).zip(norms.chunks_mut(chunk * 16)) {
            let mut pieces: Vec<&mut [f64]> = block.chunks_mut(chunk).collect();
            run.each(&mut pieces, |piece, norms| {
                let rows = start + piece * chunk..start + piece * chunk + norms.len();
                let first = rows.start;
                let mut row = vec![0.0; dense];
                let alone = self.dense_alone();
                for i in rows.clone() {
                    alone.pack(std::iter::once(i), &mut row);
                    norms[i - first] = squared_norm(&row);
                }
                if let Some(sparse) = self.sparse_part() {
                    for i in rows {
                        let entries = sparse.entries(i).map(|(k, x)| (dense + k, x));
                        norms[i - first] += of_zeros + entries.map(|(j, x)| square(j, x) - square(j, 0.0)).sum::<f64>();
                    }
                }
            });
            run.check()?;
        }
        Ok(norms)
    }
}
