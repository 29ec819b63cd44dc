//! Second moments: the Gram matrix XᵀX, the cross products XᵀY, and the row products XXᵀ, centred and weighted.
//!
//! Dense parts go tile by tile through triangular matrix products, and are read once: sums are taken about a point near the
//! means, and what that point is off is subtracted from the sums at the end,
//!
//! ```text
//! Σ w (x - x̄)(x - x̄)ᵀ = Σ w (x - o)(x - o)ᵀ - W (x̄ - o)(x̄ - o)ᵀ
//! ```
//!
//! Sparse parts cost what their entries cost: a column of the output is the sum over the rows in which its feature occurs.
//!
//! Rows come in chunks. Sums of few columns are gathered by parts of rows. Those of many columns, and of sparse ones, are too large for
//! that: the threads share their columns instead.

use super::gram::{Products, Tile};
use super::tall::{About, Orientation, Tall};
use super::view::with_view;
use super::{Features, Matrix, RowShape, RowsWithTargets, Sparse, Triangle, WeightedRows, means};
use crate::error::Result;
use crate::passes::{Merge, Pass, Source, accumulate, at_hand};
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

/// The means of features and their moments about them; targets are about theirs. Not-a-number and infinite values are refused,
/// with their place.
pub(crate) fn centred_moments(
    rows: impl Source<Chunk: RowsWithTargets>,
    shape: RowShape,
    target_means: &[f64],
    run: &Run,
) -> Result<(Vec<f64>, Moments)> {
    if !shape.has_sparse
        && shape.columns < MAX_PARTIAL_WIDTH
        && let Some(point) = point_near_means(rows)?
        && let Some(found) = moments_in_one_pass(rows, point, target_means, run)?
    {
        return Ok(found);
    }
    let means = means(rows, shape, run)?;
    let found = moments(rows, shape, &means, target_means, run)?;
    Ok((means, found))
}

/// A point that is likely to be near the means, by the first chunk; `None` if there is no chunk.
fn point_near_means(rows: impl Source<Chunk: WeightedRows>) -> Result<Option<Vec<f64>>> {
    let first = rows.chunks().next().transpose()?;
    Ok(first.map(|chunk| chunk.features().near_means()))
}

/// Means and moments of dense features; `None` if the point that was chosen turns out to lie too far from the means.
fn moments_in_one_pass(
    rows: impl Source<Chunk: RowsWithTargets>,
    mut point: Vec<f64>,
    target_means: &[f64],
    run: &Run,
) -> Result<Option<(Vec<f64>, Moments)>> {
    let (columns, outputs) = (point.len(), target_means.len());
    let ones = columns + outputs;
    let products = accumulate(rows.chunks(), TallProducts::zeros(ones + 1), |products, chunk| {
        let (features, beside) = (chunk.features().centred(&point), About::new(chunk.targets(), target_means));
        products.add(&Orientation::Rows { features, roots: chunk.roots(), beside: Some(beside), ones: true }, run)
    })?;
    let products = products.triangle();
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

/// Moments of features about a centre, and of targets about theirs.
pub(crate) fn moments(
    rows: impl Source<Chunk: RowsWithTargets>,
    shape: RowShape,
    centre: &[f64],
    target_means: &[f64],
    run: &Run,
) -> Result<Moments> {
    let (dense, columns, outputs) = (shape.dense_columns, shape.columns, target_means.len());
    let sums = (TallProducts::zeros(dense + outputs), SparseMoments::zeros(shape, outputs));
    let (products, sparse) = accumulate(rows.chunks(), sums, |(products, sparse), chunk| {
        let (features, beside) = (chunk.features().centred(centre), About::new(chunk.targets(), target_means));
        let (alone, roots) = (features.dense_alone(), chunk.roots());
        products.add(&Orientation::Rows { features: alone, roots, beside: Some(beside), ones: false }, run)?;
        sparse.add(features, beside, chunk.weights(), run)
    })?;
    let products = products.triangle();
    let mut gram = Triangle::zeros(columns);
    let mut cross = Matrix::zeros(columns, outputs);
    for j in 0..dense {
        (j..dense).for_each(|i| gram.set(i, j, products.get(i, j)));
        (0..outputs).for_each(|k| cross[(j, k)] = products.get(dense + k, j));
    }
    sparse.put_into(&mut gram, &mut cross, centre);
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
        let mut block = Triangle::zeros(rows);
        add_sparse_products(&mut block, transposed, sparse, None, run)?;
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
    let mut products = TallProducts::zeros(tall.width());
    products.add(tall, run)?;
    Ok(products.triangle())
}

/// The sum of AᵀA over chunks A of equal width: the lower triangle.
enum TallProducts {
    /// Each part of a chunk has a sum of its own.
    Narrow(Products),
    /// There is one sum, whose columns the threads share.
    Wide(Triangle),
}

impl TallProducts {
    fn zeros(width: usize) -> TallProducts {
        match width {
            0..=MAX_PARTIAL_WIDTH => TallProducts::Narrow(Products::zeros(width)),
            _ => TallProducts::Wide(Triangle::zeros(width)),
        }
    }

    /// Adds a chunk.
    fn add(&mut self, tall: &impl Tall, run: &Run) -> Result<()> {
        match self {
            TallProducts::Narrow(sum) => sum.merge(narrow_products(tall, run)?),
            TallProducts::Wide(sum) => add_wide_products(sum, tall, run)?,
        }
        Ok(())
    }

    fn triangle(self) -> Triangle {
        match self {
            TallProducts::Narrow(products) => products.triangle(),
            TallProducts::Wide(triangle) => triangle,
        }
    }
}

fn narrow_products(tall: &impl Tall, run: &Run) -> Result<Products> {
    let width = tall.width();
    // A tile and its sums stay in a core's own cache.
    let tile_rows = (13_000 / width.max(1)).clamp(64, 512);
    // A few tiles of every part: little enough to check for cancellation in between.
    let step_rows = tile_rows * (1 + 40_000_000 / (tile_rows * width * width).max(1)).min(64);
    let pass = Pass::new(step_rows, run).few_parts_at_once();
    pass.gather(
        at_hand(tall),
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
    )
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

/// Every tile is packed once and used by all threads.
fn add_wide_products(sum: &mut Triangle, tall: &impl Tall, run: &Run) -> Result<()> {
    const TILE_ROWS: usize = 256;
    const PANEL_COLUMNS: usize = 256;
    let width = tall.width();
    let mut panels: Vec<&mut [f64]> = sum.values_mut().chunks_mut(PANEL_COLUMNS * width).collect();
    Pass::new(TILE_ROWS, run).split(
        at_hand(tall),
        &mut panels,
        |tile: &mut Vec<f64>, tall, rows| {
            tile.resize(rows.len() * width, 0.0);
            tall.pack(rows, tile);
        },
        |values, panel, _, tile| {
            let tile = MatRef::from_column_major_slice(tile, tile.len() / width, width);
            let (first, columns) = (panel * PANEL_COLUMNS, values.len() / width);
            let panel = MatMut::from_column_major_slice_mut(values, width, columns);
            let (_, panel) = panel.split_at_row_mut(first);
            let (square, below) = panel.split_at_row_mut(columns);
            let own = tile.subcols(first, columns);
            add_products(square, own, own);
            let rest = tile.subcols(first + columns, width - first - columns);
            matmul(below, Accum::Add, rest.transpose(), own, 1.0, Par::Seq);
        },
    )
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

/// The moments of sparse columns with each other, and with the dense columns and the targets beside them.
struct SparseMoments {
    /// The first sparse column is this one of all.
    first: usize,
    /// The total weight of the rows.
    total: f64,
    /// Σ w s sᵀ, not centred.
    products: Triangle,
    /// One row per sparse column. The dense side is centred, so the sparse side need not be: Σ w (d - d̄)(s - s̄) = Σ w (d - d̄) s.
    beside: Matrix,
}

impl SparseMoments {
    fn zeros(shape: RowShape, outputs: usize) -> SparseMoments {
        let columns = shape.columns - shape.dense_columns;
        let (products, beside) = (Triangle::zeros(columns), Matrix::zeros(columns, shape.dense_columns + outputs));
        SparseMoments { first: shape.dense_columns, total: 0.0, products, beside }
    }

    /// Adds a chunk of features, whose dense columns are centred.
    fn add(&mut self, features: Features<'_>, y: About<'_>, weights: Option<&[f64]>, run: &Run) -> Result<()> {
        self.total += weights.map_or(features.rows() as f64, |weights| weights.iter().sum());
        let Some(sparse) = features.sparse_part() else { return Ok(()) };
        let transposed = sparse.transposed(run)?;
        add_products_beside(&mut self.beside, &transposed, features, y, weights, run)?;
        add_sparse_products(&mut self.products, sparse, &transposed, weights, run)
    }

    /// Writes the moments about a centre into their places.
    fn put_into(self, gram: &mut Triangle, cross: &mut Matrix, centre: &[f64]) {
        let (first, mean) = (self.first, &centre[self.first..]);
        for j in 0..self.products.size() {
            let (dense, targets) = self.beside.row(j).split_at(first);
            dense.iter().enumerate().for_each(|(i, product)| gram.set(first + j, i, *product));
            cross.row_mut(first + j).copy_from_slice(targets);
            for i in j..self.products.size() {
                let product = self.products.get(i, j) - self.total * mean[i] * mean[j];
                gram.set(first + i, first + j, product);
            }
        }
    }
}

/// Adds Σ_h w_h a_h a_hᵀ over the rows a_h of a sparse matrix, of which `transposed` is the transpose.
fn add_sparse_products(
    sum: &mut Triangle,
    a: &Sparse,
    transposed: &Sparse,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<()> {
    let mut columns: Vec<&mut [f64]> = sum.values_mut().chunks_mut(a.columns().max(1)).collect();
    let pass = Pass::new(usize::MAX, run).pieces_at_once(64);
    pass.split(at_hand(a), &mut columns, nothing_to_prepare, |column, j, a, ()| {
        for (h, value) in transposed.entries(j) {
            let factor = weights.map_or(value, |w| w[h] * value);
            let (indices, entries) = a.row(h);
            let from = indices.partition_point(|&i| (i as usize) < j);
            for (&i, &entry) in indices[from..].iter().zip(&entries[from..]) {
                column[i as usize] += factor * entry;
            }
        }
    })
}

/// Adds the products of every sparse column with the dense columns and the targets beside it.
fn add_products_beside(
    sum: &mut Matrix,
    transposed: &Sparse,
    features: Features<'_>,
    y: About<'_>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<()> {
    let dense = features.dense_columns();
    let width = sum.columns().max(1);
    let mut lines: Vec<&mut [f64]> = sum.values_mut().chunks_mut(width).collect();
    let pass = Pass::new(usize::MAX, run).pieces_at_once(1024);
    pass.split(at_hand(&features), &mut lines, nothing_to_prepare, |sums, j, features, ()| {
        let (beside_dense, beside_y) = sums.split_at_mut(dense);
        for (h, value) in transposed.entries(j) {
            let factor = weights.map_or(value, |w| w[h] * value);
            if let Some(view) = features.dense_part() {
                with_view!(view, view => view.for_block(h..h + 1, 0..dense, |_, i, d| {
                    beside_dense[i] += factor * (d - features.centre_of(i));
                }));
            }
            beside_y.iter_mut().zip(y.row(h)).for_each(|(sum, y)| *sum += factor * y);
        }
    })
}

fn nothing_to_prepare<C>(_: &mut (), _: &C, _: Range<usize>) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Rows;
    use crate::matrix::lazy::{LazyRows, assert_close};
    use crate::run::Stream;

    /// Rows of `dense` columns, the odd ones far from zero, and of `sparse` ones, which hold something in every fourth place; two
    /// targets.
    fn example(count: usize, dense: usize, sparse: usize, weighted: bool, sizes: &[usize]) -> LazyRows {
        let mut stream = Stream::new(5, 0);
        let far = |place: usize| if place % dense.max(1) % 2 == 1 { 50.0 } else { 0.0 };
        let values = (0..count * dense).map(|place| far(place) + stream.normal()).collect();
        let dense = Matrix::new(count, dense, values).unwrap();
        let mut row = |_| {
            let places: Vec<u32> = (0..sparse as u32).filter(|_| stream.below(4) == 0).collect();
            places.into_iter().map(|j| (j, stream.normal() + 1.0)).collect()
        };
        let rows: Vec<Vec<(u32, f64)>> = (0..count).map(&mut row).collect();
        let sparse = (sparse > 0).then(|| Sparse::from_rows(sparse, rows).unwrap());
        let weights = weighted.then(|| (0..count).map(|_| 0.25 + stream.uniform()).collect());
        let targets = Matrix::new(count, 2, (0..2 * count).map(|_| 3.0 + stream.normal()).collect()).unwrap();
        LazyRows::new(Rows::of(dense, sparse), weights, targets, sizes)
    }

    fn found(rows: &LazyRows, threads: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let shape = rows.features().shape();
        let run = Run::new().threads_exactly(threads);
        let (means, Moments { gram, cross }) = centred_moments(rows, shape, &[3.0, 2.5], &run).unwrap();
        let columns = means.len();
        let lower = (0..columns).flat_map(|j| (j..columns).map(move |i| (i, j))).map(|(i, j)| gram.get(i, j)).collect();
        (means, lower, cross.into_values())
    }

    #[test]
    fn moments_of_chunks_that_own_their_rows_are_those_of_all() {
        // Few columns, more than have sums of their own for each part, sparse ones, and both.
        for (count, dense, sparse) in [(5000, 13, 0), (1500, 520, 0), (3000, 0, 60), (3000, 5, 60), (1200, 600, 20)] {
            for weighted in [false, true] {
                let (few, many) = (count / 10, count / 2);
                let sizes = [3, few, 0, many, count - few - many - 3];
                let lazy = example(count, dense, sparse, weighted, &sizes);
                let whole = found(&example(count, dense, sparse, weighted, &[count]), 2);
                let several = found(&lazy, 2);
                let columns = dense + sparse;
                let squares: Vec<f64> = (0..columns)
                    .scan(0, |at, j| {
                        let own = whole.1[*at];
                        *at += columns - j;
                        Some(own)
                    })
                    .collect();
                let pairs: Vec<(usize, usize)> = (0..columns).flat_map(|j| (j..columns).map(move |i| (i, j))).collect();
                assert_close(&several.0, &whole.0, |j| 1.0 + whole.0[j].abs());
                assert_close(&several.1, &whole.1, |at| (squares[pairs[at].0] * squares[pairs[at].1]).sqrt());
                assert_close(&several.2, &whole.2, |at| (squares[at / 2] * 10.0 * count as f64).sqrt());
                for threads in [1, 3, 8] {
                    assert!(found(&lazy, threads) == several, "{dense} and {sparse} columns on {threads} threads");
                }
                assert!(lazy.made() > 3 * lazy.chunk_count());
            }
        }
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused_in_whichever_chunk_it_is() {
        let mut dense = Matrix::from_rows(&[[1.0, 2.0], [2.0, 5.0], [3.0, 7.0], [4.0, 1.0]]);
        dense[(3, 1)] = f64::NAN;
        let lazy = LazyRows::without_targets(Rows::from(dense), None, &[1, 1, 2]);
        let error = centred_moments(&lazy, lazy.features().shape(), &[], &Run::new()).map(drop).unwrap_err();
        assert_eq!(error.code(), "not-finite");
        assert!(error.to_string().contains("row 4, column 2"), "{error}");
    }
}
