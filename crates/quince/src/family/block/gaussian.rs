//! Several columns together as one Gaussian: ln p(x) = -½ (d ln 2π + ln |Σ| + (x - μ)ᵀ Σ⁻¹ (x - μ)).
//!
//! Sums are W = Σ w, A = Σ w (x - o) and B = Σ w (x - o)(x - o)ᵀ about an origin o; the scatter B - A Aᵀ / W divided by W is the
//! covariance. Scores come from the factor L of Σ = L Lᵀ: with z = L⁻¹ (x - μ) the quadratic form is zᵀz, and it is never formed
//! as a difference of large numbers.
//!
//! Leaving out row x of weight w from a component of weight W takes w W / (W - w) d dᵀ off its scatter, with d = x - μ. A matrix
//! that loses b d dᵀ has, with z = L⁻¹ d, the determinant |Σ| (1 - b zᵀz) and the quadratic form yᵀy + b (yᵀz)² / (1 - b zᵀz) for
//! any other y = L⁻¹ v (Sherman and Morrison), so that one factor serves all rows of a component.

use super::normals::{Least, left_over};
use super::{Draw, Family, Scores, TILE, Tile};
use crate::error::{Error, Result};
use crate::matrix::{Cholesky, Matrix, Triangle, gram};
use crate::run::{Run, Stream};
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

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

/// A covariance with what scores need of it.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    /// d x d, or d variances.
    covariance: Vec<f64>,
    /// L⁻¹, column after column, or 1 / σ of each column.
    white: Vec<f64>,
    log_determinant: f64,
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
            fill,
            axes,
            origin,
            settled: Vec::new(),
            means: Matrix::default(),
            spreads: Vec::new(),
        }
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
        let mut precision = Matrix::zeros(width, width);
        for i in 0..width {
            for j in 0..width {
                precision[(i, j)] = match self.shape {
                    // Σ⁻¹ = L⁻ᵀ L⁻¹.
                    Shape::Full => {
                        (i.max(j)..width).map(|r| spread.white[i * width + r] * spread.white[j * width + r]).sum()
                    }
                    _ if i == j => spread.white[i] * spread.white[i],
                    _ => 0.0,
                };
            }
        }
        precision
    }

    /// The sums of another block as if they had been taken about the origins of this one.
    pub(super) fn sums_of(&mut self, other: &Gaussians, own_sums: &Matrix, sums: &Matrix) -> Option<Matrix> {
        let alike = (&self.columns, self.shape, self.shared, self.unbiased)
            == (&other.columns, other.shape, other.shared, other.unbiased)
            && (self.least, self.shrink, &self.axes, &self.fill)
                == (other.least, other.shrink, &other.axes, &other.fill);
        let (mut moved, width) = (sums.clone(), self.width());
        for k in 0..if alike { sums.rows() } else { 0 } {
            if own_sums[(k, 0)] == 0.0 {
                self.origin.row_mut(k).copy_from_slice(other.origin.row(k));
            }
            let shift: Vec<f64> = (0..width).map(|j| other.origin[(k, j)] - self.origin[(k, j)]).collect();
            let (weight, a) = (sums[(k, 0)], &sums.row(k)[1..1 + width]);
            for j in 0..width {
                moved[(k, 1 + j)] += weight * shift[j];
                for i in if self.is_full() { j..width } else { j..j + 1 } {
                    let place = 1 + width + if self.is_full() { j * width + i } else { j };
                    moved[(k, place)] += shift[i] * a[j] + a[i] * shift[j] + weight * shift[i] * shift[j];
                }
            }
        }
        alike.then_some(moved)
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
    fn gather(&self, tile: &Tile<'_>) -> Vec<f64> {
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

    fn divisor(&self, weight: f64, means: f64) -> f64 {
        let divisor = if self.unbiased { weight - means } else { weight };
        if divisor > 0.0 { divisor } else { weight.max(f64::MIN_POSITIVE) }
    }

    /// The covariances that follow from the scatters, without what is added to them: one for each component, or one.
    fn plain(&self, moments: &[Moments]) -> Vec<Vec<f64>> {
        let there = || moments.iter().filter(|moments| moments.weight > 0.0);
        let own = |moments: &Moments| -> Vec<f64> {
            if moments.weight <= 0.0 {
                return self.overall();
            }
            let divisor = self.divisor(moments.weight, 1.0);
            moments.scatter.iter().map(|s| s / divisor).collect()
        };
        let sum = |parts: &mut dyn Iterator<Item = Vec<f64>>| {
            let mut all = vec![0.0; moments[0].scatter.len()];
            parts.for_each(|part| all.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
            all
        };
        match self.shared {
            Shared::No => moments.iter().map(own).collect(),
            Shared::Mean => {
                let count = there().count() as f64;
                vec![sum(&mut there().map(own)).into_iter().map(|s| s / count).collect()]
            }
            Shared::Pooled => {
                let divisor = self.divisor(there().map(|m| m.weight).sum(), there().count() as f64);
                vec![sum(&mut there().map(|m| m.scatter.clone())).into_iter().map(|s| s / divisor).collect()]
            }
        }
    }

    /// The variances over all rows, for a component that has none.
    fn overall(&self) -> Vec<f64> {
        let width = self.width();
        if !self.is_full() {
            return self.settled.iter().map(|settled| settled[1]).collect();
        }
        let mut whole = vec![0.0; width * width];
        (0..width).for_each(|j| whole[j * width + j] = self.settled[j][1]);
        whole
    }

    /// Brings a covariance into shape, draws it towards the identity and adds what is to be added.
    fn shaped(&self, mut covariance: Vec<f64>) -> Vec<f64> {
        let width = self.width();
        let step = if self.is_full() { width + 1 } else { 1 };
        let mean = covariance.iter().step_by(step).sum::<f64>() / width as f64;
        if self.shape == Shape::Spherical {
            covariance.fill(mean);
        }
        let Shrink { share, to_one } = self.shrink;
        if share > 0.0 {
            covariance.iter_mut().for_each(|s| *s *= 1.0 - share);
            let target = if to_one { 1.0 } else { mean };
            covariance.iter_mut().step_by(step).for_each(|s| *s += share * target);
        }
        let added = self.settled.iter().map(|settled| settled[2]);
        let mean_added = added.clone().sum::<f64>() / width as f64;
        let spherical = self.shape == Shape::Spherical;
        let diagonal = covariance.iter_mut().step_by(step);
        diagonal.zip(added).for_each(|(s, added)| *s += if spherical { mean_added } else { added });
        covariance
    }

    /// Factors a covariance that has its shape.
    fn spread(&self, covariance: Vec<f64>, run: &Run) -> Result<Spread> {
        let width = self.width();
        if !self.is_full() {
            if covariance.iter().any(|&variance| variance <= 0.0) {
                return Err(singular(width));
            }
            let white = covariance.iter().map(|variance| 1.0 / variance.sqrt()).collect();
            let log_determinant = covariance.iter().map(|variance| variance.ln()).sum();
            return Ok(Spread { covariance, white, log_determinant });
        }
        let mut triangle = Triangle::zeros(width);
        triangle.values_mut().copy_from_slice(&covariance);
        let factor = Cholesky::of(triangle, run)?.filter(|factor| factor.least_pivot > SINGULAR);
        let factor = factor.ok_or_else(|| singular(width))?;
        let mut white = vec![0.0; width * width];
        (0..width).for_each(|j| white[j * width + j] = 1.0);
        factor.solve_lower(MatMut::from_column_major_slice_mut(&mut white, width, width));
        let log_determinant = -2.0 * (0..width).map(|j| white[j * width + j].ln()).sum::<f64>();
        Ok(Spread { covariance, white, log_determinant })
    }

    /// z = L⁻¹ (x - mean) for rows that lie column after column.
    fn whitened(&self, spread: &Spread, rows: usize, values: &[f64], mean: &[f64], centred: &mut Vec<f64>) -> Vec<f64> {
        centred.clear();
        for (column, mean) in values.chunks_exact(rows.max(1)).zip(mean) {
            centred.extend(column.iter().map(|x| x - mean));
        }
        let width = self.width();
        if !self.is_full() {
            for (column, white) in centred.chunks_exact_mut(rows.max(1)).zip(&spread.white) {
                column.iter_mut().for_each(|x| *x *= white);
            }
            return centred.clone();
        }
        let mut z = vec![0.0; rows * width];
        triangular_matmul(
            MatMut::from_column_major_slice_mut(&mut z, rows, width),
            BlockStructure::Rectangular,
            Accum::Replace,
            MatRef::from_column_major_slice(centred, rows, width),
            BlockStructure::Rectangular,
            MatRef::from_column_major_slice(&spread.white, width, width).transpose(),
            BlockStructure::TriangularUpper,
            1.0,
            Par::Seq,
        );
        z
    }

    fn constant(&self, spread: &Spread) -> f64 {
        -0.5 * (self.width() as f64 * TAU.ln() + spread.log_determinant)
    }
}

fn singular(width: usize) -> Error {
    Error::data(
        format!("a class has too few different rows for the covariance of {width} columns: it is singular"),
        "Give covariance=diagonal, shared=pooled or a larger epsilon.",
    )
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
        let mut values = self.gather(tile);
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
        let Least { epsilon, of_largest } = self.least;
        let added = |variance: f64| epsilon * if of_largest { largest } else { variance };
        self.settled = overall.into_iter().map(|(mean, variance)| [mean, variance, added(variance)]).collect();
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
        let (values, mut space) = (self.gather(tile), Vec::new());
        let add = |scores: &mut [f64], z: &[f64], constant: f64| {
            let mut squares = [0.0; TILE];
            for column in z.chunks_exact(rows.max(1)) {
                squares.iter_mut().zip(column).for_each(|(square, z)| *square += z * z);
            }
            scores.iter_mut().zip(squares).for_each(|(score, square)| *score += constant - 0.5 * square);
        };
        if self.shared == Shared::No {
            for (k, spread) in self.spreads.iter().enumerate() {
                let z = self.whitened(spread, rows, &values, self.means.row(k), &mut space);
                add(scores.of_mut(k), &z, self.constant(spread));
            }
            return;
        }
        // One covariance: rows and means are whitened once, about the first mean, and compared as they then are.
        let spread = &self.spreads[0];
        let z = self.whitened(spread, rows, &values, self.means.row(0), &mut space);
        for k in 0..scores.components() {
            let mean = self.whitened(spread, 1, self.means.row(k), self.means.row(0), &mut space);
            let mut centred = z.clone();
            for (column, mean) in centred.chunks_exact_mut(rows.max(1)).zip(mean) {
                column.iter_mut().for_each(|z| *z -= mean);
            }
            add(scores.of_mut(k), &centred, self.constant(spread));
        }
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
        let all: Vec<Moments> = (0..sums.rows()).map(|k| self.moments(k, sums.row(k))).collect();
        let (rows, values, run) = (tile.rows(), self.gather(tile), Run::new());
        let row = |i: usize| values.iter().skip(i).step_by(rows.max(1)).copied().collect::<Vec<f64>>();
        let mut before = Scores::new(scores.components());
        before.start(rows, &vec![0.0; scores.components()]);
        if self.shared == Shared::No {
            self.score(tile, &mut before);
        }
        let mut known: Option<(f64, Base)> = None;
        for i in 0..rows {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let x = row(i);
            let of_all = |k: usize| before.of(k)[i];
            let simple = self.is_full() && (self.shrink.share == 0.0 || self.shrink.to_one);
            let new = if simple {
                if known.as_ref().is_none_or(|(same, _)| *same != weight) {
                    known = self.base(&all, component, weight, &run).map(|base| (weight, base));
                }
                known.as_ref().and_then(|(_, base)| self.downdated(&all, component, base, &x, of_all))
            } else {
                None
            };
            let new = new.or_else(|| self.refitted(&all, component, weight, &x, of_all, &run));
            match new {
                Some(new) => scores.add(i, new),
                // Without the row the covariance is singular: nothing is known of the component.
                None => scores.add(
                    i,
                    (0..scores.components()).map(|k| if k == component { f64::NEG_INFINITY } else { of_all(k) }),
                ),
            }
        }
    }

    fn free_parameters(&self) -> usize {
        let width = self.width();
        let covariance = match self.shape {
            Shape::Full => width * (width + 1) / 2,
            Shape::Diagonal => width,
            Shape::Spherical => 1,
        };
        width + if self.shared == Shared::No { covariance } else { covariance / self.means.rows().max(1) }
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
                && axes.vectors.values().len() == columns * axes.vectors.columns()
                && axes.vectors.columns() <= columns
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

/// What serves all rows of a component that have the same weight, when each of them is left out.
struct Base {
    spread: Spread,
    /// How much of d dᵀ the covariance loses.
    loss: f64,
    /// x - μ without the row, as a multiple of what it is with it.
    stretch: f64,
    /// All means, whitened, about that of the component.
    means: Vec<Vec<f64>>,
}

impl Gaussians {
    fn base(&self, all: &[Moments], component: usize, weight: f64, run: &Run) -> Option<Base> {
        let own = &all[component];
        let left = left_over(own.weight, weight);
        if left <= 0.0 {
            return None;
        }
        let mut others = all.to_vec();
        others[component].weight = left;
        let place = self.spread_of(component);
        let covariance = self.shaped(self.plain(&others).swap_remove(place));
        let spread = self.spread(covariance, run).ok()?;
        let there = others.iter().filter(|moments| moments.weight > 0.0);
        let divisor = match self.shared {
            Shared::No => self.divisor(left, 1.0),
            Shared::Mean => self.divisor(left, 1.0) * there.count() as f64,
            Shared::Pooled => self.divisor(there.clone().map(|m| m.weight).sum(), there.count() as f64),
        };
        let stretch = own.weight / left;
        let loss = weight * stretch / divisor * (1.0 - self.shrink.share);
        let mut space = Vec::new();
        let white = |moments: &Moments| self.whitened(&spread, 1, &moments.mean, &own.mean, &mut space);
        let means = all.iter().map(white).collect();
        Some(Base { spread, loss, stretch, means })
    }

    /// The scores of a row under all components without it, by a rank-one change of one factor.
    fn downdated(
        &self,
        all: &[Moments],
        component: usize,
        base: &Base,
        x: &[f64],
        before: impl Fn(usize) -> f64,
    ) -> Option<Vec<f64>> {
        let mut space = Vec::new();
        let z = self.whitened(&base.spread, 1, x, &all[component].mean, &mut space);
        let zz: f64 = z.iter().map(|z| z * z).sum();
        let rest = 1.0 - base.loss * zz;
        if rest <= SINGULAR {
            return None;
        }
        let constant = self.constant(&base.spread) - 0.5 * rest.ln();
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let stretch = if k == component { base.stretch } else { 1.0 };
            let (mut yy, mut yz) = (0.0, 0.0);
            for (z, mean) in z.iter().zip(&base.means[k]) {
                let y = stretch * (z - mean);
                yy += y * y;
                yz += y * z;
            }
            constant - 0.5 * (yy + base.loss * yz * yz / rest)
        };
        Some((0..all.len()).map(score).collect())
    }

    /// The same by finding all covariances anew.
    fn refitted(
        &self,
        all: &[Moments],
        component: usize,
        weight: f64,
        x: &[f64],
        before: impl Fn(usize) -> f64,
        run: &Run,
    ) -> Option<Vec<f64>> {
        let (mut others, width) = (all.to_vec(), self.width());
        let own = &mut others[component];
        let left = left_over(own.weight, weight);
        if left <= 0.0 {
            own.weight = 0.0;
            own.scatter.fill(0.0);
            own.mean = self.settled.iter().map(|settled| settled[0]).collect();
        } else {
            let d: Vec<f64> = x.iter().zip(&own.mean).map(|(x, mean)| x - mean).collect();
            let factor = weight * own.weight / left;
            if self.is_full() {
                for j in 0..width {
                    (j..width).for_each(|i| own.scatter[j * width + i] -= factor * d[i] * d[j]);
                }
            } else {
                own.scatter.iter_mut().zip(&d).for_each(|(s, d)| *s = (*s - factor * d * d).max(0.0));
            }
            own.mean.iter_mut().zip(&d).for_each(|(mean, d)| *mean -= weight / left * d);
            own.weight = left;
        }
        let place = self.spread_of(component);
        let spread = self.spread(self.shaped(self.plain(&others).swap_remove(place)), run).ok()?;
        let mut space = Vec::new();
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let z = self.whitened(&spread, 1, x, &others[k].mean, &mut space);
            self.constant(&spread) - 0.5 * z.iter().map(|z| z * z).sum::<f64>()
        };
        Some((0..all.len()).map(score).collect())
    }
}
