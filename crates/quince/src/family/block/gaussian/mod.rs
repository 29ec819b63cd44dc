//! Several columns together as one Gaussian: ln p(x) = -½ (d ln 2π + ln |Σ| + (x - μ)ᵀ Σ⁻¹ (x - μ)).
//!
//! Sums are W = Σ w, A = Σ w (x - o) and B = Σ w (x - o)(x - o)ᵀ about an origin o; the scatter B - A Aᵀ / W divided by W is the
//! covariance. Scores come from the factor L of Σ = L Lᵀ: with z = L⁻¹ (x - μ) the quadratic form is zᵀz, and it is never formed
//! as a difference of large numbers.

mod gather;
mod given;
mod holes;
mod spread;
mod white;
mod without;

use super::normals::Least;
use super::{Draw, Expected, Family, Gather, Scores, TILE, Tile, each_hole, is_scatter, unit_of};
use crate::error::Result;
use crate::matrix::{Matrix, gram};
use crate::run::{Run, Stream};
use faer::{Accum, MatMut, MatRef, Par};
use gather::{Full, Variances};
use holes::Completed;
use serde::{Deserialize, Serialize};
use spread::{Spread, add_squares};

/// A pivot below this share of its diagonal says that the matrix is singular.
const SINGULAR: f64 = 1e-14;

/// Columns as one Gaussian.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Gaussians {
    columns: Vec<usize>,
    pub(crate) shape: Shape,
    pub(crate) shared: Shared,
    unbiased: bool,
    least: Least,
    shrink: Shrink,
    /// By what each column varies for being rounded alone, which is added to its variance; empty if none does.
    #[serde(default)]
    rounding: Vec<f64>,
    /// What stands in for a hole of each column.
    fill: Vec<f64>,
    /// Principal axes that the columns are first laid along.
    axes: Option<Axes>,
    /// About what sums are taken: a row a component.
    origin: Matrix,
    /// The mean and variance of each column over all rows, and what is added to variances.
    settled: Vec<[f64; 3]>,
    #[serde(skip)]
    means: Matrix,
    /// One for each component, or one for all.
    #[serde(skip)]
    spreads: Vec<Spread>,
}

/// What a covariance may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// Anything.
    Full,
    /// A variance for each column.
    Diagonal,
    /// One variance for all columns.
    Spherical,
}

/// Whether components have a covariance in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shared {
    /// Each has its own.
    No,
    /// The mean of their covariances.
    Mean,
    /// The covariance of all rows about the mean of their component.
    Pooled,
}

/// Covariances are drawn towards a multiple of the identity: (1 - share) Σ + share t I.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shrink {
    pub(crate) share: f64,
    /// t is one, rather than the mean of the variances.
    pub(crate) to_one: bool,
}

/// A linear map: (x - centre) · vectors, a column an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Axes {
    pub(crate) centre: Vec<f64>,
    pub(crate) vectors: Matrix,
}

/// How a Gaussian is laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) shape: Shape,
    pub(crate) shared: Shared,
    pub(crate) unbiased: bool,
    pub(crate) least: Least,
    pub(crate) shrink: Shrink,
}

/// Weight, mean and scatter of a component.
#[derive(Clone, Debug)]
struct Moments {
    weight: f64,
    mean: Vec<f64>,
    scatter: Vec<f64>,
}

impl Gaussians {
    /// Columns whose values lie about `origin`, with what stands in for their holes.
    pub(crate) fn new(
        columns: Vec<usize>,
        components: usize,
        (origin, fill): (&[f64], Vec<f64>),
        axes: Option<Axes>,
        plan: &Plan,
    ) -> Gaussians {
        let centre: Vec<f64> = match &axes {
            None => columns.iter().map(|&column| origin[column]).collect(),
            Some(axes) => vec![0.0; axes.vectors.columns()],
        };
        let width = centre.len();
        let origin = Matrix::new(components, width, centre.repeat(components)).expect("an origin for every component");
        Gaussians {
            columns,
            shape: plan.shape,
            shared: plan.shared,
            unbiased: plan.unbiased,
            least: plan.least,
            shrink: plan.shrink,
            rounding: Vec::new(),
            fill,
            axes,
            origin,
            settled: Vec::new(),
            means: Matrix::default(),
            spreads: Vec::new(),
        }
    }

    /// The same, of columns that vary so much for being rounded alone.
    pub(crate) fn rounded(self, rounding: Vec<f64>) -> Gaussians {
        Gaussians { rounding, ..self }
    }

    /// How many numbers a row has, once it is laid along the axes.
    pub(crate) fn width(&self) -> usize {
        self.axes.as_ref().map_or(self.columns.len(), |axes| axes.vectors.columns())
    }

    /// The principal axes, if there are any.
    pub(crate) fn axes(&self) -> Option<&Axes> {
        self.axes.as_ref()
    }

    /// A row a component.
    pub(crate) fn means(&self) -> &Matrix {
        &self.means
    }

    /// The covariance of a component, whole.
    pub(crate) fn covariance(&self, component: usize) -> Matrix {
        let (spread, width) = (&self.spreads[self.spread_of(component)], self.width());
        let mut whole = Matrix::zeros(width, width);
        for i in 0..width {
            for j in 0..width {
                whole[(i, j)] = match self.shape {
                    Shape::Full => spread.covariance[i.min(j) * width + i.max(j)],
                    _ if i == j => spread.covariance[i],
                    _ => 0.0,
                };
            }
        }
        whole
    }

    /// The variance of a column in a component.
    pub(crate) fn variance(&self, component: usize, j: usize) -> f64 {
        let spread = &self.spreads[self.spread_of(component)];
        spread.covariance[if self.is_full() { j * self.width() + j } else { j }]
    }

    /// How many covariances there are: one for each component, or one for all.
    pub(crate) fn covariances(&self) -> usize {
        self.spreads.len()
    }

    /// ln |Σ| of a component.
    pub(crate) fn log_determinant(&self, component: usize) -> f64 {
        self.spreads[self.spread_of(component)].log_determinant
    }

    /// Σ⁻¹ of a component.
    pub(crate) fn precision(&self, component: usize) -> Matrix {
        let (spread, width) = (&self.spreads[self.spread_of(component)], self.width());
        if self.is_full() {
            return Matrix::new(width, width, spread.precision(width).to_vec()).expect("as wide as it is high");
        }
        let mut precision = Matrix::zeros(width, width);
        (0..width).for_each(|j| precision[(j, j)] = spread.white[j] * spread.white[j]);
        precision
    }

    /// The sums of another block as if they had been taken about the origins of this one.
    pub(super) fn sums_of(&mut self, other: &Gaussians, own_sums: &Matrix, sums: &Matrix) -> Option<Matrix> {
        let alike = (&self.columns, self.shape, self.shared, self.unbiased)
            == (&other.columns, other.shape, other.shared, other.unbiased)
            && (self.least, self.shrink, &self.rounding, &self.axes, &self.fill)
                == (other.least, other.shrink, &other.rounding, &other.axes, &other.fill);
        let mut moved = sums.clone();
        for k in 0..if alike { sums.rows() } else { 0 } {
            if own_sums[(k, 0)] == 0.0 {
                self.origin.row_mut(k).copy_from_slice(other.origin.row(k));
            }
            self.shift(&mut moved, k, other.origin.row(k), self.origin.row(k));
        }
        alike.then_some(moved)
    }

    /// Sums of a component as if they had been taken about another origin.
    fn shift(&self, sums: &mut Matrix, component: usize, from: &[f64], to: &[f64]) {
        let width = self.width();
        let shift: Vec<f64> = from.iter().zip(to).map(|(from, to)| from - to).collect();
        let sums = sums.row_mut(component);
        let (weight, a) = (sums[0], sums[1..1 + width].to_vec());
        for j in 0..width {
            sums[1 + j] += weight * shift[j];
            for i in if self.is_full() { j..width } else { j..j + 1 } {
                let place = 1 + width + if self.is_full() { j * width + i } else { j };
                sums[place] += shift[i] * a[j] + a[i] * shift[j] + weight * shift[i] * shift[j];
            }
        }
    }

    /// The mean of the first component, and its scatter (of a full block, lower triangle, column after column).
    pub(crate) fn centre_and_scatter(&self, sums: &Matrix) -> (Vec<f64>, Vec<f64>) {
        let moments = self.moments(0, sums.row(0));
        (moments.mean, moments.scatter)
    }

    fn spread_of(&self, component: usize) -> usize {
        if self.shared == Shared::No { component } else { 0 }
    }

    fn is_full(&self) -> bool {
        self.shape == Shape::Full
    }

    /// A tile's rows, holes filled, laid along the axes: column after column.
    fn gather_rows(&self, tile: &Tile<'_>) -> Vec<f64> {
        let (rows, width) = (tile.rows(), self.columns.len());
        let mut values = Vec::with_capacity(rows * width);
        for (&column, &fill) in self.columns.iter().zip(&self.fill) {
            let x = tile.column(column);
            if tile.has_holes(column) {
                values.extend(x.iter().map(|&x| if x.is_nan() { fill } else { x }));
            } else {
                values.extend_from_slice(x);
            }
        }
        let Some(axes) = &self.axes else { return values };
        for (column, centre) in values.chunks_exact_mut(rows.max(1)).zip(&axes.centre) {
            column.iter_mut().for_each(|x| *x -= centre);
        }
        let mut along = vec![0.0; rows * axes.vectors.columns()];
        let to = MatMut::from_column_major_slice_mut(&mut along, rows, axes.vectors.columns());
        let from = MatRef::from_column_major_slice(&values, rows, width);
        faer::linalg::matmul::matmul(to, Accum::Replace, from, axes.vectors.view().faer(), 1.0, Par::Seq);
        along
    }

    fn moments(&self, component: usize, sums: &[f64]) -> Moments {
        let (width, weight) = (self.width(), sums[0]);
        let (a, b) = sums[1..].split_at(width);
        if weight <= 0.0 {
            let mean = self.settled.iter().map(|settled| settled[0]).collect();
            return Moments { weight: 0.0, mean, scatter: vec![0.0; b.len()] };
        }
        let mean = (0..width).map(|j| self.origin[(component, j)] + a[j] / weight).collect();
        let mut scatter = b.to_vec();
        if self.is_full() {
            for j in 0..width {
                (j..width).for_each(|i| scatter[j * width + i] -= a[i] * a[j] / weight);
                scatter[j * width + j] = scatter[j * width + j].max(0.0);
            }
        } else {
            scatter.iter_mut().zip(a).for_each(|(s, a)| *s = (*s - a * a / weight).max(0.0));
        }
        Moments { weight, mean, scatter }
    }

    /// Adds the log likelihood of rows without holes, which lie column after column, under each component.
    fn score_whole(&self, rows: usize, values: &[f64], scores: &mut Scores) {
        if rows == 0 {
            return;
        }
        let mut squares = [0.0; TILE];
        let squares = &mut squares[..rows];
        let mut add = |k: usize, squares: &[f64]| {
            let constant = self.constant(&self.spreads[self.spread_of(k)], self.width());
            scores.of_mut(k).iter_mut().zip(squares).for_each(|(score, square)| *score += constant - 0.5 * square);
        };
        if self.shared == Shared::No {
            let mut space = Vec::new();
            for (k, spread) in self.spreads.iter().enumerate() {
                self.squares(spread, values, self.means.row(k), &mut space, squares);
                add(k, squares);
            }
            return;
        }
        // One covariance: rows and means are whitened once, about the first mean, and compared as they then are.
        let (spread, first, mut space) = (&self.spreads[0], self.means.row(0), Vec::new());
        let z = self.whitened(spread, rows, values, first, &mut space);
        for k in 0..self.means.rows() {
            let mean = self.whitened(spread, 1, self.means.row(k), first, &mut space);
            squares.fill(0.0);
            for (column, mean) in z.chunks_exact(rows).zip(mean) {
                add_squares(column, mean, 1.0, squares);
            }
            add(k, squares);
        }
    }
}

impl Family for Gaussians {
    fn sums(&self) -> usize {
        let width = self.width();
        1 + width + if self.is_full() { width * width } else { width }
    }

    fn add(&self, component: usize, sums: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let (rows, width) = (tile.rows(), self.width());
        if rows == 0 {
            return;
        }
        let mut values = self.gather_rows(tile);
        for (column, origin) in values.chunks_exact_mut(rows).zip(self.origin.row(component)) {
            column.iter_mut().for_each(|x| *x -= origin);
        }
        let (head, b) = sums.split_at_mut(1 + width);
        head[0] += weights.map_or(rows as f64, |weights| weights.iter().sum());
        let weighted = weights.map(|weights| {
            let times = |column: &[f64]| column.iter().zip(weights).map(|(x, w)| x * w).collect::<Vec<f64>>();
            values.chunks_exact(rows).flat_map(times).collect::<Vec<f64>>()
        });
        for (sum, column) in head[1..].iter_mut().zip(weighted.as_deref().unwrap_or(&values).chunks_exact(rows)) {
            *sum += column.iter().sum::<f64>();
        }
        if self.is_full() {
            if let Some(weights) = weights {
                // Each side of the product has half of the weight.
                let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
                for column in values.chunks_exact_mut(rows) {
                    column.iter_mut().zip(&roots).for_each(|(x, root)| *x *= root);
                }
            }
            let (mut laid, mut products) = (gram::Tile::zeros(rows, width), gram::Products::zeros(width));
            laid.put_columns(&values);
            products.add(&laid);
            b.iter_mut().zip(products.triangle().values_mut()).for_each(|(sum, product)| *sum += *product);
        } else {
            let weighted = weighted.as_deref().unwrap_or(&values);
            for ((sum, x), wx) in b.iter_mut().zip(values.chunks_exact(rows)).zip(weighted.chunks_exact(rows)) {
                *sum += x.iter().zip(wx).map(|(x, wx)| x * wx).sum::<f64>();
            }
        }
    }

    fn recentre(&mut self, sums: &Matrix) -> bool {
        const FAR: f64 = 100.0;
        let (width, mut moved) = (self.width(), false);
        for k in 0..sums.rows() {
            let weight = sums[(k, 0)];
            for j in 0..if weight > 0.0 { width } else { 0 } {
                let place = if self.is_full() { j * width + j } else { j };
                let (a, b) = (sums[(k, 1 + j)], sums[(k, 1 + width + place)]);
                let off = a * a / weight;
                if off > FAR * FAR * (b - off) && b > 0.0 && a != 0.0 {
                    self.origin[(k, j)] += a / weight;
                    moved = true;
                }
            }
        }
        moved
    }

    fn settle(&mut self, sums: &Matrix) {
        let (width, full) = (self.width(), self.is_full());
        let total: f64 = (0..sums.rows()).map(|k| sums[(k, 0)]).sum();
        let overall = |j: usize| {
            let first = self.origin[(0, j)];
            let shifted = |k: usize| sums[(k, 1 + j)] + sums[(k, 0)] * (self.origin[(k, j)] - first);
            let mean = first + (0..sums.rows()).map(shifted).sum::<f64>() / total;
            let place = 1 + width + if full { j * width + j } else { j };
            let squares = (0..sums.rows()).map(|k| {
                let shift = self.origin[(k, j)] - mean;
                sums[(k, place)] + 2.0 * shift * sums[(k, 1 + j)] + sums[(k, 0)] * shift * shift
            });
            (mean, (squares.sum::<f64>() / total).max(0.0))
        };
        let overall: Vec<(f64, f64)> = (0..width).map(overall).collect();
        let largest = overall.iter().map(|(_, variance)| *variance).fold(0.0, f64::max);
        let Least { epsilon, of_largest, added } = self.least;
        let added = |variance: f64| epsilon * if of_largest { largest } else { variance } + added;
        let rounding = |j: usize| self.rounding.get(j).copied().unwrap_or(0.0);
        let settled = |(j, (mean, variance))| [mean, variance, added(variance) + rounding(j)];
        self.settled = overall.into_iter().enumerate().map(settled).collect();
    }

    fn estimate(&mut self, sums: &Matrix, run: &Run) -> Result<()> {
        let moments: Vec<Moments> = (0..sums.rows()).map(|k| self.moments(k, sums.row(k))).collect();
        let spread = |covariance: Vec<f64>| self.spread(self.shaped(covariance), run);
        self.spreads = self.plain(&moments).into_iter().map(spread).collect::<Result<_>>()?;
        let means = moments.into_iter().flat_map(|moments| moments.mean).collect();
        self.means = Matrix::new(sums.rows(), self.width(), means)?;
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        let rows = tile.rows();
        if rows == 0 {
            return;
        }
        let (values, stretches) = (self.gather_rows(tile), self.stretches(tile));
        if stretches.is_empty() {
            return self.score_whole(rows, &values, scores);
        }
        let mut completed: Vec<Completed> = (0..scores.components()).map(|_| Completed::default()).collect();
        self.score_holes(rows, &values, &stretches, &mut completed, scores);
    }

    fn score_own(&self, _: usize, _: &[f64], _: &Tile<'_>, _: Option<&[f64]>, _: &mut [f64]) {
        unreachable!("a Gaussian block scores all components at once")
    }

    fn score_without(
        &self,
        component: usize,
        sums: &Matrix,
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        scores: &mut Scores,
    ) {
        self.add_without(component, sums, tile, weights, scores);
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        if self.is_full() { Box::new(Full::new(self, components)) } else { Box::new(Variances::new(self, components)) }
    }

    fn follow(&mut self, all: &mut [&mut Matrix]) {
        for sums in all {
            (0..sums.rows()).for_each(|k| self.shift(sums, k, self.origin.row(k), self.means.row(k)));
        }
        self.origin = self.means.clone();
    }

    fn mend(&self, sums: &mut [f64], real: &[f64]) {
        let (width, weight) = (self.width(), sums[0]);
        let step = if self.is_full() { width + 1 } else { 1 };
        let squares = sums[1 + width..].iter().step_by(step).zip(&sums[1..]).zip(&self.settled);
        let mut fine = squares.map(|((b, a), [_, variance, _])| is_scatter((weight, *a, *b), *variance));
        if weight < 0.0 || !fine.all(|fine| fine) {
            sums.copy_from_slice(real);
        }
    }

    fn unit(&self, sum: usize) -> f64 {
        let (width, deviation) = (self.width(), |j: usize| unit_of(self.settled[j][1]));
        match sum.checked_sub(1 + width) {
            None if sum == 0 => 1.0,
            None => deviation(sum - 1),
            Some(place) if self.is_full() => deviation(place / width) * deviation(place % width),
            Some(place) => deviation(place) * deviation(place),
        }
    }

    fn reorder(&mut self, order: &[usize]) {
        self.origin = self.origin.take_rows(order);
    }

    fn free_parameters(&self) -> (usize, usize) {
        let width = self.width();
        let covariance = match self.shape {
            Shape::Full => width * (width + 1) / 2,
            Shape::Diagonal => width,
            Shape::Spherical => 1,
        };
        if self.shared == Shared::No { (width + covariance, 0) } else { (width, covariance) }
    }

    fn cost(&self, components: usize) -> usize {
        components * self.width() * self.width()
    }

    fn expect(&self, component: usize, tile: &Tile<'_>, tell: &mut dyn FnMut(usize, usize, Expected<'_>)) {
        let (rows, stretches) = (tile.rows(), self.stretches(tile));
        if self.axes.is_some() {
            // Rows were laid along axes with their holes filled: nothing better is known of them.
            each_hole(tile, &self.columns, |i, j| {
                tell(i, self.columns[j], Expected::Number { mean: self.fill[j], variance: f64::NAN });
            });
        }
        if stretches.is_empty() {
            return;
        }
        let mut completed = Completed::default();
        self.complete(component, rows, &self.gather_rows(tile), &stretches, &mut completed);
        for (s, stretch) in stretches.iter().enumerate() {
            for (a, &j) in stretch.holes.iter().enumerate() {
                let variance = completed.covariance(s)[a * stretch.holes.len() + a];
                for i in stretch.rows.clone() {
                    let mean = self.means[(component, j)] + completed.deviations[j * rows + i];
                    tell(i, self.columns[j], Expected::Number { mean, variance });
                }
            }
        }
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        let width = self.width();
        let spread = &self.spreads[self.spread_of(component)];
        let z: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
        let mut x = vec![0.0; width];
        if self.is_full() {
            // x = L z: L⁻¹ x = z, solved from the top.
            for i in 0..width {
                let before: f64 = (0..i).map(|j| spread.white[j * width + i] * x[j]).sum();
                x[i] = (z[i] - before) / spread.white[i * width + i];
            }
        } else {
            x = z.iter().zip(&spread.white).map(|(z, white)| z / white).collect();
        }
        x.iter_mut().zip(self.means.row(component)).for_each(|(x, mean)| *x += mean);
        for (j, &column) in self.columns.iter().enumerate() {
            row.dense[column] = match &self.axes {
                None => x[j],
                Some(axes) => axes.centre[j] + (0..width).map(|a| axes.vectors[(j, a)] * x[a]).sum::<f64>(),
            };
        }
    }

    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn is_sound(&self, components: usize) -> bool {
        let columns = self.columns.len();
        let axes = self.axes.as_ref().is_none_or(|axes| {
            axes.centre.len() == columns
                && axes.vectors.rows() == columns
                && axes.vectors.columns() <= columns
                && axes.vectors.values().len() == columns * axes.vectors.columns()
        });
        let width = self.width();
        axes && self.fill.len() == columns
            && self.fill.iter().all(|x| x.is_finite())
            && (self.origin.rows(), self.origin.columns()) == (components, width)
            && self.origin.values().len() == components * width
            && self.settled.len() == width
            && self.settled.iter().flatten().all(|x| x.is_finite())
            && (0.0..=1.0).contains(&self.shrink.share)
            && width > 0
    }
}
