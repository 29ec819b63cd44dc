//! Second moments: the Gram matrix XᵀX, the cross products XᵀY, and the row products XXᵀ, centred and weighted.
//!
//! Dense parts go tile by tile through triangular matrix products, and are read once: sums are taken about a point near the
//! means, and what that point is off is taken off the sums at the end,
//!
//! ```text
//! Σ w (x - x̄)(x - x̄)ᵀ = Σ w (x - o)(x - o)ᵀ - W (x̄ - o)(x̄ - o)ᵀ
//! ```
//!
//! Sparse parts cost what their entries cost: a column of the output is the sum over the rows in which its feature occurs.

use super::gram::{Products, Tile};
use super::tall::{About, Orientation, Tall};
use super::view::with_view;
use super::{Features, Matrix, Sparse, Triangle};
use crate::error::Result;
use crate::passes::{Pass, at_hand};
use crate::run::Run;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::Range;

/// Widths up to this have partial sums of their own; wider outputs are split among the threads instead.
const MAX_PARTIAL_WIDTH: usize = 512;

/// Σ w (x - x̄)(x - x̄)ᵀ and Σ w (x - x̄)(y - ȳ)ᵀ.
pub(crate) struct Moments {
    pub(crate) gram: Triangle,
    pub(crate) cross: Matrix,
}

/// The largest ratio of a column's sum of squares about the chosen point to that about its mean: beyond it too many digits are lost.
const MAX_DIGIT_LOSS: f64 = 1e4;

/// The means of features and their moments about them. `roots` holds the roots of the sample weights.
/// Not-a-number and infinite values are refused, with their place.
pub(crate) fn centred_moments(
    features: Features<'_>,
    y: About<'_>,
    roots: Option<&[f64]>,
    run: &Run,
) -> Result<(Vec<f64>, Moments)> {
    if features.sparse_part().is_none()
        && features.columns() < MAX_PARTIAL_WIDTH
        && let Some(found) = moments_in_one_pass(features, y, roots, run)?
    {
        return Ok(found);
    }
    let weights: Option<Vec<f64>> = roots.map(|roots| roots.iter().map(|root| root * root).collect());
    let means = features.means(weights.as_deref(), run)?;
    let found = moments(features.centred(&means), y, roots, run)?;
    Ok((means, found))
}

/// Means and moments of dense features; `None` if the point that was chosen turns out to lie too far from the means.
fn moments_in_one_pass(
    features: Features<'_>,
    y: About<'_>,
    roots: Option<&[f64]>,
    run: &Run,
) -> Result<Option<(Vec<f64>, Moments)>> {
    let (columns, outputs) = (features.columns(), y.columns());
    let mut point = features.near_means();
    let tall = Orientation::Rows { features: features.centred(&point), roots, beside: Some(y), ones: true };
    let products = tall_products(&tall, run)?;
    let ones = columns + outputs;
    let total = products.get(ones, ones);
    let off: Vec<f64> = (0..columns).map(|j| products.get(ones, j) / total).collect();
    let mut cross = Matrix::zeros(columns, outputs);
    for j in 0..columns {
        let of_y = |k: usize| products.get(ones, columns + k);
        (0..outputs).for_each(|k| cross[(j, k)] = products.get(columns + k, j) - off[j] * of_y(k));
    }
    let squares = products.diagonal();
    let mut gram = products.leading(columns);
    for j in 0..columns {
        (j..columns).for_each(|i| gram.add(i, j, -total * off[i] * off[j]));
    }
    // Also where a sum is no number: the other way says which value is at fault, or that none is.
    let near = (0..columns).all(|j| squares[j] <= MAX_DIGIT_LOSS * gram.get(j, j));
    point.iter_mut().zip(&off).for_each(|(point, off)| *point += off);
    Ok(near.then_some((point, Moments { gram, cross })))
}

/// Moments of features, centred and scaled as they say, and targets. `roots` holds the roots of the
/// sample weights.
pub(crate) fn moments(features: Features<'_>, y: About<'_>, roots: Option<&[f64]>, run: &Run) -> Result<Moments> {
    let (dense, columns, outputs) = (features.dense_columns(), features.columns(), y.columns());
    // Scales are put on at the end, where they cost least.
    let (scaled, features) = (features, features.without_scale());
    let tall = Orientation::Rows { features: features.dense_alone(), roots, beside: Some(y), ones: false };
    let products = tall_products(&tall, run)?;
    let mut gram = Triangle::zeros(columns);
    let mut cross = Matrix::zeros(columns, outputs);
    for j in 0..dense {
        (j..dense).for_each(|i| gram.set(i, j, products.get(i, j)));
        (0..outputs).for_each(|k| cross[(j, k)] = products.get(dense + k, j));
    }
    if let Some(sparse) = features.sparse_part() {
        let weights: Option<Vec<f64>> = roots.map(|roots| roots.iter().map(|root| root * root).collect());
        let weights = weights.as_deref();
        let total = weights.map_or(features.rows() as f64, |w| w.iter().sum());
        let transposed = sparse.transposed();
        let beside = products_beside(&transposed, features, y, weights, run)?;
        for j in 0..sparse.columns() {
            (0..dense).for_each(|i| gram.set(dense + j, i, beside[(j, i)]));
            (0..outputs).for_each(|k| cross[(dense + j, k)] = beside[(j, dense + k)]);
        }
        let mut block = sparse_products(sparse, &transposed, weights, run)?;
        let mean = |j: usize| features.centre_of(dense + j);
        for j in 0..sparse.columns() {
            (j..sparse.columns()).for_each(|i| block.add(i, j, -total * mean(i) * mean(j)));
        }
        for j in 0..sparse.columns() {
            (j..sparse.columns()).for_each(|i| gram.set(dense + i, dense + j, block.get(i, j)));
        }
    }
    if (0..columns).any(|j| scaled.scale_of(j) != 1.0) {
        for j in 0..columns {
            (j..columns).for_each(|i| gram.set(i, j, gram.get(i, j) * scaled.scale_of(i) * scaled.scale_of(j)));
            cross.row_mut(j).iter_mut().for_each(|x| *x *= scaled.scale_of(j));
        }
    }
    Ok(Moments { gram, cross })
}

/// Rows by rows: element (i, k) is r_i r_k x_i·x_k, with x centred (not scaled) and r the `roots`.
pub(crate) fn row_products(
    features: Features<'_>,
    roots: Option<&[f64]>,
    transposed: Option<&Sparse>,
    run: &Run,
) -> Result<Triangle> {
    let rows = features.rows();
    let features = features.without_scale();
    let mut products = match features.dense_part() {
        Some(_) => {
            tall_products(&Orientation::Columns { features: features.dense_alone(), roots, transposed: None }, run)?
        }
        None => Triangle::zeros(rows),
    };
    if let (Some(sparse), Some(transposed)) = (features.sparse_part(), transposed) {
        let block = sparse_products(transposed, sparse, None, run)?;
        let mean = |j: usize| features.centre_of(features.dense_columns() + j);
        let squared: f64 = (0..sparse.columns()).map(|j| mean(j) * mean(j)).sum();
        let along: Vec<f64> = (0..rows).map(|i| sparse.entries(i).map(|(j, value)| value * mean(j)).sum()).collect();
        let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
        for k in 0..rows {
            for i in k..rows {
                let centred = block.get(i, k) - along[i] - along[k] + squared;
                products.add(i, k, root(i) * root(k) * centred);
            }
        }
    }
    Ok(products)
}

/// AᵀA of a tall matrix: the lower triangle.
pub(super) fn tall_products(tall: &impl Tall, run: &Run) -> Result<Triangle> {
    match tall.width() {
        width if width <= MAX_PARTIAL_WIDTH => narrow_products(at_hand(tall), width, run),
        _ => wide_products(tall, run),
    }
}

/// The sum of AᵀA over chunks A of this many columns. Each part of a chunk has a sum of its own.
fn narrow_products<'a, T: Tall + 'a>(
    chunks: impl IntoIterator<Item = Result<&'a T>>,
    width: usize,
    run: &Run,
) -> Result<Triangle> {
    // A tile and its sums stay in a core's own cache.
    let tile_rows = (13_000 / width.max(1)).clamp(64, 512);
    // A few tiles of every part: little enough to check for cancellation in between.
    let step_rows = tile_rows * (1 + 40_000_000 / (tile_rows * width * width).max(1)).min(64);
    let pass = Pass::new(step_rows, run).few_parts_at_once();
    let products = pass.gather(
        chunks,
        || Products::zeros(width),
        |sum, tall, rows| {
            let (mut space, mut tile) = (Vec::new(), Tile::zeros(tile_rows.min(rows.len()), width));
            for start in rows.clone().step_by(tile_rows) {
                let rows = start..(start + tile_rows).min(rows.end);
                tile.shorten(rows.len());
                pack_tile(*tall, rows, &mut space, &mut tile);
                sum.add(&tile);
            }
        },
    )?;
    Ok(products.triangle())
}

/// Rows of a tall matrix as the product takes them, in the order in which they lie in memory.
fn pack_tile(tall: &impl Tall, rows: Range<usize>, space: &mut Vec<f64>, tile: &mut Tile) {
    // So few rows at a time that they are still in the nearest cache when they are laid out.
    const ROWS_AT_A_TIME: usize = 8;
    let width = tall.width();
    if tall.lies_by_rows() {
        space.resize(ROWS_AT_A_TIME * width, 0.0);
        for few in rows.clone().step_by(ROWS_AT_A_TIME) {
            let some = few..(few + ROWS_AT_A_TIME).min(rows.end);
            let lines = &mut space[..some.len() * width];
            tall.pack_by_rows(some, lines);
            tile.put_rows(few - rows.start, lines, width);
        }
    } else {
        space.resize(rows.len() * width, 0.0);
        let columns = &mut space[..rows.len() * width];
        tall.pack(rows, columns);
        tile.put_columns(columns);
    }
}

/// One sum, its columns split among the threads; every tile is packed once and used by all.
fn wide_products(tall: &impl Tall, run: &Run) -> Result<Triangle> {
    const PANEL_COLUMNS: usize = 256;
    let (height, width) = (tall.height(), tall.width());
    let tile_rows = 256.min(height.max(1));
    let mut sum = Triangle::zeros(width);
    let mut tile = vec![0.0; tile_rows * width];
    for start in (0..height).step_by(tile_rows) {
        let rows = start..(start + tile_rows).min(height);
        let count = rows.len();
        let tile = &mut tile[..count * width];
        tall.pack(rows, tile);
        let tile = MatRef::from_column_major_slice(tile, count, width);
        let mut panels: Vec<&mut [f64]> = sum.values_mut().chunks_mut(PANEL_COLUMNS * width).collect();
        run.each(&mut panels, |part, values| {
            let (first, columns) = (part * PANEL_COLUMNS, values.len() / width);
            let panel = MatMut::from_column_major_slice_mut(values, width, columns);
            let (_, panel) = panel.split_at_row_mut(first);
            let (square, below) = panel.split_at_row_mut(columns);
            let own = tile.subcols(first, columns);
            add_products(square, own, own);
            let rest = tile.subcols(first + columns, width - first - columns);
            matmul(below, Accum::Add, rest.transpose(), own, 1.0, Par::Seq);
        });
        run.check()?;
    }
    Ok(sum)
}

fn add_products(sum: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    triangular_matmul(
        sum,
        BlockStructure::TriangularLower,
        Accum::Add,
        left.transpose(),
        BlockStructure::Rectangular,
        right,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// Σ_h w_h a_h a_hᵀ over the rows a_h of a sparse matrix, of which `transposed` is the transpose.
fn sparse_products(a: &Sparse, transposed: &Sparse, weights: Option<&[f64]>, run: &Run) -> Result<Triangle> {
    let width = a.columns();
    let mut sum = Triangle::zeros(width);
    let batch = 64;
    for (round, values) in sum.values_mut().chunks_mut((width * batch).max(1)).enumerate() {
        let mut columns: Vec<&mut [f64]> = values.chunks_mut(width).collect();
        run.each(&mut columns, |part, column| {
            let j = round * batch + part;
            for (h, value) in transposed.entries(j) {
                let factor = weights.map_or(value, |w| w[h] * value);
                let (indices, entries) = a.row(h);
                let from = indices.partition_point(|&i| (i as usize) < j);
                for (&i, &entry) in indices[from..].iter().zip(&entries[from..]) {
                    column[i as usize] += factor * entry;
                }
            }
        });
        run.check()?;
    }
    Ok(sum)
}

/// Products of every sparse column with the dense columns and the targets beside it: one row per sparse column.
///
/// The dense side is centred, so the sparse side need not be: Σ w (d - d̄)(s - s̄) = Σ w (d - d̄) s.
fn products_beside(
    transposed: &Sparse,
    features: Features<'_>,
    y: About<'_>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<Matrix> {
    let (dense, outputs) = (features.dense_columns(), y.columns());
    let width = dense + outputs;
    let mut products = Matrix::zeros(transposed.rows(), width);
    let batch = 1024;
    for (round, values) in products.values_mut().chunks_mut((width * batch).max(1)).enumerate() {
        let mut rows: Vec<&mut [f64]> = values.chunks_mut(width).collect();
        run.each(&mut rows, |part, sums| {
            let (beside_dense, beside_y) = sums.split_at_mut(dense);
            for (h, value) in transposed.entries(round * batch + part) {
                let factor = weights.map_or(value, |w| w[h] * value);
                if let Some(view) = features.dense_part() {
                    with_view!(view, view => view.for_block(h..h + 1, 0..dense, |_, i, d| {
                        beside_dense[i] += factor * (d - features.centre_of(i));
                    }));
                }
                beside_y.iter_mut().zip(y.row(h)).for_each(|(sum, y)| *sum += factor * y);
            }
        });
        run.check()?;
    }
    Ok(products)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Stream;

    fn rows_with_ones(x: &Matrix) -> Orientation<'_> {
        Orientation::Rows { features: x.features(), roots: None, beside: None, ones: true }
    }

    #[test]
    fn products_of_rows_that_come_in_chunks_are_those_of_all() {
        // Small whole numbers: every sum is exact.
        let mut stream = Stream::new(5, 0);
        let width = 13;
        let whole =
            Matrix::new(5000, width, (0..5000 * width).map(|_| stream.below(9) as f64 - 4.0).collect()).unwrap();
        let pieces = [0..3, 3..4000, 4000..5000].map(|rows| whole.take_rows(&rows.collect::<Vec<_>>()));
        let run = Run::new();
        let several = pieces.each_ref().map(rows_with_ones);
        let all = tall_products(&rows_with_ones(&whole), &run).unwrap();
        let chunked = narrow_products(several.iter().map(Ok), width + 1, &run).unwrap();
        for j in 0..=width {
            for i in j..=width {
                assert_eq!(chunked.get(i, j), all.get(i, j));
            }
        }
    }
}
