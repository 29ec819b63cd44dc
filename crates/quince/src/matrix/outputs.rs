//! The outputs X·B + b₀ of linear models, with bits that depend on the numbers alone: f32 or f64, rows or columns first in memory,
//! dense or sparse, and however many rows are asked for at once.
//!
//! The products of a row are summed in eight lanes, column j in lane j mod 8, from the first column to the last. A zero that a
//! sparse row does not store would add nothing, so that it may be left out.

use super::simd::{LANES, fold, vectorised};
use super::view::with_view;
use super::{Dense, Features, Matrix, Real, View};
use crate::error::Result;
use crate::run::Run;
use std::ops::Range;

/// Outputs that are computed together: their lanes stay in registers.
const OUTPUTS_IN_REGISTERS: usize = 4;

/// Rows of a task, and of a tile that is laid out row by row.
const ROWS_OF_TASK: usize = 4096;
const ROWS_OF_TILE: usize = 32;

impl Features<'_> {
    /// X·B + offset for every row: `b` has a row for each column of the features.
    pub(crate) fn outputs(&self, b: &Matrix, offset: &[f64], run: &Run) -> Result<Matrix> {
        if self.is_shifted() {
            return self.multiply(b, offset, run);
        }
        let outputs = b.columns();
        let mut answer = Matrix::zeros(self.rows(), outputs);
        let by_output = by_output(b);
        let step = ROWS_OF_TASK * 16;
        for (start, block) in (0..self.rows()).step_by(step).zip(answer.values_mut().chunks_mut(step * outputs.max(1)))
        {
            let mut tasks: Vec<&mut [f64]> = block.chunks_mut(ROWS_OF_TASK * outputs.max(1)).collect();
            run.each(&mut tasks, |task, out| {
                let first = start + task * ROWS_OF_TASK;
                self.outputs_of(first..first + out.len() / outputs.max(1), (b, &by_output), offset, out);
            });
            run.check()?;
        }
        Ok(answer)
    }

    fn outputs_of(&self, rows: Range<usize>, (b, by_output): (&Matrix, &Matrix), offset: &[f64], out: &mut [f64]) {
        let (outputs, dense) = (b.columns(), self.dense_columns());
        let mut lanes = vec![[0.0; LANES]; outputs];
        let mut finish = |i: usize, row: Option<&[f64]>, out: &mut [f64]| {
            lanes.fill([0.0; LANES]);
            if let Some(row) = row {
                for (lanes, k) in lanes.chunks_mut(OUTPUTS_IN_REGISTERS).zip((0..).step_by(OUTPUTS_IN_REGISTERS)) {
                    add_row(row, by_output, k, lanes);
                }
            }
            if let Some(sparse) = self.sparse_part() {
                for (j, value) in sparse.entries(i) {
                    let (column, coefficients) = (dense + j, b.row(dense + j));
                    let sums = lanes.iter_mut().zip(coefficients);
                    sums.for_each(|(lanes, coefficient)| lanes[column % LANES] += value * coefficient);
                }
            }
            let sums = out.iter_mut().zip(&lanes).zip(offset);
            sums.for_each(|((out, lanes), offset)| *out = fold(*lanes) + offset);
        };
        match self.dense_part().filter(|_| dense > 0) {
            None => rows.zip(out.chunks_mut(outputs)).for_each(|(i, out)| finish(i, None, out)),
            Some(Dense::F64(view)) if view.whole_row(0).is_some() => {
                rows.zip(out.chunks_mut(outputs)).for_each(|(i, out)| finish(i, view.whole_row(i), out));
            }
            Some(view) => {
                let mut tile = vec![0.0; ROWS_OF_TILE * dense];
                for (first, out) in rows.clone().step_by(ROWS_OF_TILE).zip(out.chunks_mut(ROWS_OF_TILE * outputs)) {
                    let some = first..(first + ROWS_OF_TILE).min(rows.end);
                    with_view!(view, view => lay_out(&view, some.clone(), &mut tile));
                    for ((i, out), row) in some.zip(out.chunks_mut(outputs)).zip(tile.chunks_exact(dense)) {
                        finish(i, Some(row), out);
                    }
                }
            }
        }
    }
}

/// Some rows, one after the other.
fn lay_out<T: Real>(view: &View<'_, T>, rows: Range<usize>, tile: &mut [f64]) {
    let (first, columns) = (rows.start, view.columns());
    view.for_block(rows, 0..columns, |i, j, value| tile[(i - first) * columns + j] = value);
}

/// The coefficients of an output side by side.
fn by_output(b: &Matrix) -> Matrix {
    let values = (0..b.columns()).flat_map(|k| (0..b.rows()).map(move |j| b[(j, k)])).collect();
    Matrix::new(b.columns(), b.rows(), values).expect("as many values as before")
}

/// Adds the products of a dense row with up to four outputs, from output `first` on.
fn add_row(row: &[f64], by_output: &Matrix, first: usize, lanes: &mut [[f64; LANES]]) {
    let line = |k: usize| &by_output.row(first + k)[..row.len()];
    match lanes {
        [a, b, c, d] => add_four(row, line(0), line(1), line(2), line(3), [a, b, c, d]),
        some => some.iter_mut().enumerate().for_each(|(k, lanes)| add_one(row, line(k), lanes)),
    }
}

vectorised! {
    fn add_one(x: &[f64], b: &[f64], lanes: &mut [f64; LANES]) {
        let ((x, x_rest), (b, b_rest)) = (x.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        let mut sums = *lanes;
        for (x, b) in x.iter().zip(b) {
            for l in 0..LANES {
                sums[l] += x[l] * b[l];
            }
        }
        x_rest.iter().zip(b_rest).enumerate().for_each(|(l, (x, b))| sums[l] += x * b);
        *lanes = sums;
    }

    fn add_four(x: &[f64], a: &[f64], b: &[f64], c: &[f64], d: &[f64], lanes: [&mut [f64; LANES]; 4]) {
        let (blocks, x_rest) = x.as_chunks::<LANES>();
        let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] = [a, b, c, d].map(|b| b.as_chunks::<LANES>());
        let mut sums = [*lanes[0], *lanes[1], *lanes[2], *lanes[3]];
        for ((((x, a), b), c), d) in blocks.iter().zip(a).zip(b).zip(c).zip(d) {
            for l in 0..LANES {
                sums[0][l] += x[l] * a[l];
                sums[1][l] += x[l] * b[l];
                sums[2][l] += x[l] * c[l];
                sums[3][l] += x[l] * d[l];
            }
        }
        for (sums, rest) in sums.iter_mut().zip([a_rest, b_rest, c_rest, d_rest]) {
            x_rest.iter().zip(rest).enumerate().for_each(|(l, (x, b))| sums[l] += x * b);
        }
        for (lanes, sums) in lanes.into_iter().zip(sums) {
            *lanes = sums;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outputs_of_a_row_have_the_same_bits_however_it_is_stored() {
        let (rows, columns, outputs) = (70, 21, 6);
        let number = |i: usize, j: usize| {
            if (i * 7 + j).is_multiple_of(3) { 0.0 } else { f64::from(((i * 31 + j) as f32).sin()) }
        };
        let values: Vec<f64> = (0..rows).flat_map(|i| (0..columns).map(move |j| number(i, j))).collect();
        let single: Vec<f32> = values.iter().map(|x| *x as f32).collect();
        let transposed: Vec<f64> = (0..columns).flat_map(|j| (0..rows).map(move |i| number(i, j))).collect();
        let b: Vec<f64> = (0..columns * outputs).map(|k| (k as f64 * 0.7).cos()).collect();
        let (b, offset) = (Matrix::new(columns, outputs, b).unwrap(), vec![0.1; outputs]);
        let run = Run::new();
        let of = |features: Features<'_>| features.outputs(&b, &offset, &run).unwrap();
        let dense = Matrix::new(rows, columns, values).unwrap();
        let expected = of(dense.features());
        let by_columns = View::strided(&transposed, (rows, columns), (1, rows)).unwrap();
        assert_eq!(of(Features::dense(Dense::F64(by_columns))), expected);
        assert_eq!(of(Features::dense(Dense::F32(View::row_major(&single, rows, columns)))), expected);
        for dense_columns in [0, 10] {
            assert_eq!(of(dense.features().split_at(dense_columns).unwrap().features()), expected);
        }
        let few = dense.take_rows(&[3]);
        assert_eq!(of(few.features()).row(0), expected.row(3));
        let plain = dense.features().multiply(&b, &offset, &run).unwrap();
        assert!(plain.values().iter().zip(expected.values()).all(|(a, b)| (a - b).abs() < 1e-13));
    }
}
