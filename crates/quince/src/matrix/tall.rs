//! Tall matrices seen through packed tiles, and their triangular factor.
//!
//! A [`Tall`] matrix A has many rows and a width we can afford the square of. It is never held as a whole: a tile of its
//! rows is packed, used and forgotten. Features are tall in one of two ways ([`Orientation`]): row by row when rows outnumber
//! columns, column by column (the transpose) otherwise.

use super::view::with_view;
use super::{Features, Matrix, Sparse};
use crate::error::Result;
use crate::passes::{Chunk, Pass, at_hand, partials};
use crate::run::Run;
use faer::{Mat, MatRef};
use std::ops::Range;

/// A matrix that can pack any range of its rows into a dense tile.
pub(crate) trait Tall: Chunk {
    /// Number of rows.
    fn height(&self) -> usize {
        self.count()
    }
    /// Number of columns.
    fn width(&self) -> usize;
    /// Writes rows `range` into `tile`, column after column (`tile[j * range.len() + i]`).
    fn pack(&self, range: Range<usize>, tile: &mut [f64]);
    /// Whether its rows lie one after another in memory, so that it is best read row by row.
    fn lies_by_rows(&self) -> bool {
        false
    }
    /// Writes rows `range` into `tile`, row after row; only asked of what lies by rows.
    fn pack_by_rows(&self, _range: Range<usize>, _tile: &mut [f64]) {
        unreachable!("only what lies by rows is asked")
    }
}

/// A matrix about the centres of its columns, which are not subtracted in memory.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) values: &'a Matrix,
    pub(crate) centre: &'a [f64],
}

impl<'a> About<'a> {
    pub(crate) fn new(values: &'a Matrix, centre: &'a [f64]) -> About<'a> {
        About { values, centre }
    }

    /// Row `i`, centred.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = f64> + '_ {
        self.values.row(i).iter().zip(self.centre).map(|(value, centre)| value - centre)
    }

    pub(crate) fn columns(&self) -> usize {
        self.values.columns()
    }
}

/// Features, centred and scaled as they say, with each row multiplied by its root (of a weight), seen in one of two
/// directions.
pub(crate) enum Orientation<'a> {
    /// Height is rows, width is columns; the columns of `beside` follow those of the features, and then, if asked for, a
    /// column of ones.
    Rows { features: Features<'a>, roots: Option<&'a [f64]>, beside: Option<About<'a>>, ones: bool },
    /// Height is columns, width is rows: the transpose. A sparse part comes with its own transpose.
    Columns { features: Features<'a>, roots: Option<&'a [f64]>, transposed: Option<&'a Sparse> },
}

impl Chunk for Orientation<'_> {
    fn count(&self) -> usize {
        match self {
            Orientation::Rows { features, .. } => features.rows(),
            Orientation::Columns { features, .. } => features.columns(),
        }
    }
}

impl Tall for Orientation<'_> {
    fn width(&self) -> usize {
        match self {
            Orientation::Rows { features, beside, ones, .. } => {
                features.columns() + beside.map_or(0, |beside| beside.columns()) + usize::from(*ones)
            }
            Orientation::Columns { features, .. } => features.rows(),
        }
    }

    fn pack(&self, range: Range<usize>, tile: &mut [f64]) {
        let count = range.len();
        match self {
            Orientation::Rows { features, roots, beside, ones } => {
                let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
                let (dense, columns) = (features.dense_columns(), features.columns());
                let (first, shift) = (range.start, Shift::of(features));
                if let Some(part) = features.dense_part() {
                    with_view!(part, view => view.for_block(range.clone(), 0..dense, |i, j, value| {
                        tile[j * count + (i - first)] = root(i) * shift.of_value(j, value);
                    }));
                }
                if let Some(sparse) = features.sparse_part() {
                    for (r, i) in range.clone().enumerate() {
                        (dense..columns).for_each(|j| tile[j * count + r] = root(i) * shift.of_value(j, 0.0));
                        sparse.entries(i).for_each(|(k, value)| {
                            tile[(dense + k) * count + r] = root(i) * shift.of_value(dense + k, value);
                        });
                    }
                }
                if let Some(beside) = beside {
                    for (r, i) in range.clone().enumerate() {
                        for (k, value) in beside.row(i).enumerate() {
                            tile[(columns + k) * count + r] = root(i) * value;
                        }
                    }
                }
                if *ones {
                    let last = (self.width() - 1) * count;
                    range.enumerate().for_each(|(r, i)| tile[last + r] = root(i));
                }
            }
            Orientation::Columns { features, roots, transposed } => {
                let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
                let (rows, dense) = (features.rows(), features.dense_columns());
                let (split, shift) = (dense.clamp(range.start, range.end), Shift::of(features));
                if let Some(part) = features.dense_part() {
                    with_view!(part, view => view.for_block(0..rows, range.start..split, |i, j, value| {
                        tile[i * count + (j - range.start)] = root(i) * shift.of_value(j, value);
                    }));
                }
                if let Some(sparse) = transposed {
                    for j in split..range.end {
                        let r = j - range.start;
                        (0..rows).for_each(|i| tile[i * count + r] = root(i) * shift.of_value(j, 0.0));
                        sparse.entries(j - dense).for_each(|(i, value)| {
                            tile[i * count + r] = root(i) * shift.of_value(j, value);
                        });
                    }
                }
            }
        }
    }

    fn lies_by_rows(&self) -> bool {
        let Orientation::Rows { features, .. } = self else { return false };
        let in_order = features.dense_part().is_some_and(|part| with_view!(part, view => view.by_rows()));
        in_order && features.sparse_part().is_none() && features.columns() > 0
    }

    fn pack_by_rows(&self, range: Range<usize>, tile: &mut [f64]) {
        let Orientation::Rows { features, roots, beside, ones } = self else { return };
        let columns = features.columns();
        for (line, i) in tile.chunks_exact_mut(self.width()).zip(range) {
            let (left, right) = line.split_at_mut(columns);
            features.pack(std::iter::once(i), left);
            if let Some(beside) = beside {
                right.iter_mut().zip(beside.row(i)).for_each(|(out, value)| *out = value);
            }
            if *ones {
                right[right.len() - 1] = 1.0;
            }
            if let Some(roots) = roots {
                line.iter_mut().for_each(|x| *x *= roots[i]);
            }
        }
    }
}

/// Centres and scales with nothing to ask in the inner loop.
struct Shift {
    centre: Vec<f64>,
    scale: Vec<f64>,
}

impl Shift {
    fn of(features: &Features<'_>) -> Shift {
        let columns = 0..features.columns();
        let centre = columns.clone().map(|j| features.centre_of(j)).collect();
        Shift { centre, scale: columns.map(|j| features.scale_of(j)).collect() }
    }

    #[inline(always)]
    fn of_value(&self, j: usize, value: f64) -> f64 {
        (value - self.centre[j]) * self.scale[j]
    }
}

/// The upper triangle R of A = QR, by tiles: each tile is stacked under the triangle so far and triangulated again
/// (Demmel, Grigori, Hoemmen and Langou 2012). No product AᵀA is formed, so no digits are lost to its squared condition.
pub(crate) fn triangular_factor(tall: &impl Tall, run: &Run) -> Result<Mat<f64>> {
    let (height, width) = (tall.height(), tall.width());
    let tile_rows = (4 * width).clamp(64, 4096);
    let mut parts = vec![Mat::zeros(0, width); partials(height)];
    Pass::new(tile_rows, run).visit(at_hand(tall), &mut parts, |triangle, tall, rows| {
        if !rows.is_empty() {
            let mut tile = vec![0.0; rows.len() * width];
            tall.pack(rows.clone(), &mut tile);
            let tile = MatRef::from_column_major_slice(&tile, rows.len(), width);
            *triangle = triangulate(triangle.as_ref(), tile);
        }
    })?;
    let mut whole = Mat::zeros(0, width);
    for part in parts {
        whole = triangulate(whole.as_ref(), part.as_ref());
        run.check()?;
    }
    // A matrix with fewer rows than columns has a short triangle: zeros make it square.
    let mut square = Mat::zeros(width, width);
    square.as_mut().subrows_mut(0, whole.nrows()).copy_from(whole.as_ref());
    Ok(square)
}

fn triangulate(upper: MatRef<'_, f64>, lower: MatRef<'_, f64>) -> Mat<f64> {
    let mut stacked = Mat::zeros(upper.nrows() + lower.nrows(), lower.ncols());
    stacked.as_mut().subrows_mut(0, upper.nrows()).copy_from(upper);
    stacked.as_mut().subrows_mut(upper.nrows(), lower.nrows()).copy_from(lower);
    if stacked.nrows() == 0 { stacked } else { stacked.qr().thin_R().to_owned() }
}

/// Singular values of a square matrix, largest first; `None` if the iteration did not converge.
pub(crate) fn singular_values_of(square: MatRef<'_, f64>) -> Option<Vec<f64>> {
    square.singular_values().ok()
}
