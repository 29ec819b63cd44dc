//! Several columns as one multivariate Gaussian: ln p(x) = -½ (d ln 2π + ln |Σ| + (x - μ)ᵀ Σ⁻¹ (x - μ)).
//!
//! The statistics are W = Σ w, A = Σ w (x - o) and B = Σ w (x - o)(x - o)ᵀ about an origin o; the scatter B - A Aᵀ / W
//! divided by W is the covariance. Scores come from the Cholesky factor Σ = L Lᵀ: with z = L⁻¹ (x - μ) the quadratic form is
//! zᵀz, and it is never formed as a difference of large numbers.

mod covariance;
mod gather;
mod known;
mod leave_one_out;
mod ledoit_wolf;
mod missing;
mod parameters;
mod plan;
mod set;
mod statistics;
mod whitening;

pub(crate) use plan::{Axes, Plan, Separation, Shape, Shared, Shrinkage};
pub(crate) use statistics::Moments;

use super::{Draw, Expected, Family, Gather, Scores, TILE, Tile, VarianceFloor, each_missing, is_scatter, unit_of};
use crate::error::Result;
use crate::matrix::{Matrix, gram};
use crate::run::{Run, Stream};
use covariance::{FactoredCovariance, add_squares};
use faer::{Accum, MatMut, MatRef, Par};
use gather::{Full, Variances};
use ledoit_wolf::LedoitWolf;
use missing::ConditionalMoments;
use serde::{Deserialize, Serialize};

/// A pivot below this fraction of its diagonal entry means that the matrix is singular.
const MIN_PIVOT_RATIO: f64 = 1e-14;

/// An origin this many standard deviations from the mean costs too many digits.
const MAX_ORIGIN_DISTANCE: f64 = 100.0;

/// A multivariate Gaussian of several columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gaussians {
    columns: Vec<usize>,
    pub(crate) shape: Shape,
    pub(crate) shared: Shared,
    unbiased: bool,
    variance_floor: VarianceFloor,
    shrinkage: Shrinkage,
    /// The amounts of shrinkage, where they follow from the rows.
    #[serde(default)]
    ledoit_wolf: Option<LedoitWolf>,
    /// Whether the directions in which rows do not vary are left out of a covariance without full rank.
    #[serde(default)]
    pseudo_inverse: bool,
    /// The weight of each component's covariance in the shared one; empty if it is that of its rows.
    #[serde(default)]
    component_weights: Vec<f64>,
    /// The variance of each column's rounding error, which is added to its variance; empty if nothing is rounded.
    rounding: Vec<f64>,
    /// What a missing value of each column is filled with, where it is.
    fill: Vec<f64>,
    /// Principal or discriminant axes onto which the columns are projected first.
    axes: Option<Box<Axes>>,
    /// The origins about which statistics are collected, one row per component.
    origin: Matrix,
    /// The mean, variance and variance floor of each column over all rows.
    settled: Vec<[f64; 3]>,
    #[serde(skip)]
    means: Matrix,
    /// One per component, or a shared one.
    #[serde(skip)]
    covariances: Vec<FactoredCovariance>,
}

impl Gaussians {
    /// Columns whose values lie about `origin`, with what fills their missing values.
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
            variance_floor: plan.variance_floor,
            shrinkage: plan.shrinkage,
            ledoit_wolf: plan.ledoit_wolf.then(LedoitWolf::default),
            pseudo_inverse: plan.pseudo_inverse,
            component_weights: Vec::new(),
            rounding: Vec::new(),
            fill,
            axes: axes.map(Box::new),
            origin,
            settled: Vec::new(),
            means: Matrix::default(),
            covariances: Vec::new(),
        }
    }

    /// The same for columns with these variances of rounding errors.
    pub(crate) fn rounded(self, rounding: Vec<f64>) -> Gaussians {
        Gaussians { rounding, ..self }
    }

    /// The same where components have these weights in a covariance that is shared by weight.
    pub(crate) fn weighted(self, component_weights: Vec<f64>) -> Gaussians {
        Gaussians { component_weights, ..self }
    }

    /// The number of columns, or of axes if rows are projected.
    pub(crate) fn width(&self) -> usize {
        self.axes.as_ref().map_or(self.columns.len(), |axes| axes.vectors.columns())
    }

    /// The axes onto which columns are projected, if there are any.
    pub(crate) fn axes(&self) -> Option<&Axes> {
        self.axes.as_deref()
    }

    /// Whether missing values are filled: rows are projected, or have no variance in some directions.
    pub(crate) fn fills_missing(&self) -> bool {
        self.axes.is_some() || self.pseudo_inverse
    }

    fn is_full(&self) -> bool {
        self.shape == Shape::Full
    }

    /// A tile's rows, missing values filled, projected onto the axes, by columns.
    fn gather_rows(&self, tile: &Tile<'_>) -> Vec<f64> {
        let (rows, width) = (tile.rows(), self.columns.len());
        let mut values = Vec::with_capacity(rows * width);
        for (&column, &fill) in self.columns.iter().zip(&self.fill) {
            let x = tile.column(column);
            if tile.has_missing(column) {
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

    /// The rows of a tile of which every value in the block is missing.
    fn rows_without_values(&self, tile: &Tile<'_>) -> Vec<usize> {
        if !self.columns.iter().all(|&column| tile.has_missing(column)) {
            return Vec::new();
        }
        (0..tile.rows()).filter(|&i| self.columns.iter().all(|&column| tile.column(column)[i].is_nan())).collect()
    }

    /// Adds the log likelihood of a tile's rows under each component.
    fn score_rows(&self, tile: &Tile<'_>, scores: &mut Scores) {
        let rows = tile.rows();
        if rows == 0 {
            return;
        }
        let (values, patterns) = (self.gather_rows(tile), self.patterns(tile));
        if patterns.is_empty() {
            return self.score_complete(rows, &values, scores);
        }
        let mut conditional: Vec<ConditionalMoments> =
            (0..scores.components()).map(|_| ConditionalMoments::default()).collect();
        self.score_missing(rows, &values, &patterns, &mut conditional, scores);
    }

    /// Adds the log likelihood of complete rows, stored by columns, under each component.
    fn score_complete(&self, rows: usize, values: &[f64], scores: &mut Scores) {
        if rows == 0 {
            return;
        }
        let mut squares = [0.0; TILE];
        let squares = &mut squares[..rows];
        let mut add = |k: usize, squares: &[f64]| {
            let factored = &self.covariances[self.covariance_of(k)];
            let constant = self.constant(factored, factored.rank);
            scores.of_mut(k).iter_mut().zip(squares).for_each(|(score, square)| *score += constant - 0.5 * square);
        };
        if self.shared == Shared::No {
            let mut space = Vec::new();
            for (k, factored) in self.covariances.iter().enumerate() {
                self.squares(factored, values, self.means.row(k), &mut space, squares);
                add(k, squares);
            }
            return;
        }
        // One shared covariance: rows and means are whitened once, about the first mean, and then compared directly.
        let (factored, first, mut space) = (&self.covariances[0], self.means.row(0), Vec::new());
        let z = self.whitened(factored, rows, values, first, &mut space);
        for k in 0..self.means.rows() {
            let mean = self.whitened(factored, 1, self.means.row(k), first, &mut space);
            squares.fill(0.0);
            for (column, mean) in z.chunks_exact(rows).zip(mean) {
                add_squares(column, mean, 1.0, squares);
            }
            add(k, squares);
        }
    }
}

impl Family for Gaussians {
    fn statistic_count(&self) -> usize {
        let width = self.width();
        1 + width + if self.is_full() { width * width } else { width }
    }

    fn add(&self, component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let (rows, width) = (tile.rows(), self.width());
        if rows == 0 {
            return;
        }
        let mut values = self.gather_rows(tile);
        for (column, origin) in values.chunks_exact_mut(rows).zip(self.origin.row(component)) {
            column.iter_mut().for_each(|x| *x -= origin);
        }
        let (head, b) = statistics.split_at_mut(1 + width);
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

    fn recentre(&mut self, statistics: &Matrix) -> bool {
        let (width, mut moved) = (self.width(), false);
        for k in 0..statistics.rows() {
            let weight = statistics[(k, 0)];
            for j in 0..if weight > 0.0 { width } else { 0 } {
                let place = if self.is_full() { j * width + j } else { j };
                let (a, b) = (statistics[(k, 1 + j)], statistics[(k, 1 + width + place)]);
                let off = a * a / weight;
                if off > MAX_ORIGIN_DISTANCE * MAX_ORIGIN_DISTANCE * (b - off) && b > 0.0 && a != 0.0 {
                    self.origin[(k, j)] += a / weight;
                    moved = true;
                }
            }
        }
        moved
    }

    fn settle(&mut self, statistics: &Matrix) {
        let (width, full) = (self.width(), self.is_full());
        let total: f64 = (0..statistics.rows()).map(|k| statistics[(k, 0)]).sum();
        let overall = |j: usize| {
            let first = self.origin[(0, j)];
            let shifted = |k: usize| statistics[(k, 1 + j)] + statistics[(k, 0)] * (self.origin[(k, j)] - first);
            let mean = first + (0..statistics.rows()).map(shifted).sum::<f64>() / total;
            let place = 1 + width + if full { j * width + j } else { j };
            let squares = (0..statistics.rows()).map(|k| {
                let shift = self.origin[(k, j)] - mean;
                statistics[(k, place)] + 2.0 * shift * statistics[(k, 1 + j)] + statistics[(k, 0)] * shift * shift
            });
            (mean, (squares.sum::<f64>() / total).max(0.0))
        };
        let overall: Vec<(f64, f64)> = (0..width).map(overall).collect();
        let largest = overall.iter().map(|(_, variance)| *variance).fold(0.0, f64::max);
        let VarianceFloor { relative, of_largest, absolute } = self.variance_floor;
        let floor = |variance: f64| relative * if of_largest { largest } else { variance } + absolute;
        let rounding = |j: usize| self.rounding.get(j).copied().unwrap_or(0.0);
        let settled = |(j, (mean, variance))| [mean, variance, floor(variance) + rounding(j)];
        self.settled = overall.into_iter().enumerate().map(settled).collect();
    }

    fn estimate(&mut self, statistics: &Matrix, run: &Run) -> Result<()> {
        let moments = self.all_moments(statistics);
        let factored = |covariance: Vec<f64>| self.factored(self.shaped(covariance), run);
        self.covariances = self.plain(&moments).into_iter().map(factored).collect::<Result<_>>()?;
        let means = moments.into_iter().flat_map(|moments| moments.mean).collect();
        self.means = Matrix::new(statistics.rows(), self.width(), means)?;
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        // Rows without any value say nothing, exactly: not what roundings or means that are filled in would say.
        let silent = self.rows_without_values(tile);
        let components = scores.components();
        let before: Vec<f64> =
            silent.iter().flat_map(|&i| (0..components).map(move |k| (k, i))).map(|(k, i)| scores.of(k)[i]).collect();
        self.score_rows(tile, scores);
        for (&i, before) in silent.iter().zip(before.chunks_exact(components.max(1))) {
            before.iter().enumerate().for_each(|(k, before)| scores.of_mut(k)[i] = *before);
        }
    }

    fn score_own(&self, _: usize, _: &[f64], _: &Tile<'_>, _: Option<&[f64]>, _: &mut [f64]) {
        unreachable!("a Gaussian block scores all components at once")
    }

    fn score_without(
        &self,
        component: usize,
        statistics: &Matrix,
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        scores: &mut Scores,
    ) {
        self.add_without(component, statistics, tile, weights, scores);
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        if self.is_full() { Box::new(Full::new(self, components)) } else { Box::new(Variances::new(self, components)) }
    }

    fn follow(&mut self, all: &mut [&mut Matrix]) {
        for statistics in all {
            (0..statistics.rows()).for_each(|k| self.shift(statistics, k, self.origin.row(k), self.means.row(k)));
        }
        self.origin = self.means.clone();
    }

    fn mend(&self, statistics: &mut [f64], real: &[f64]) {
        let (width, weight) = (self.width(), statistics[0]);
        let step = if self.is_full() { width + 1 } else { 1 };
        let squares = statistics[1 + width..].iter().step_by(step).zip(&statistics[1..]).zip(&self.settled);
        let mut fine = squares.map(|((b, a), [_, variance, _])| is_scatter((weight, *a, *b), *variance));
        if weight < 0.0 || !fine.all(|fine| fine) {
            statistics.copy_from_slice(real);
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

    fn expect(&self, component: usize, tile: &Tile<'_>, visit: &mut dyn FnMut(usize, usize, Expected<'_>)) {
        let (rows, patterns) = (tile.rows(), self.patterns(tile));
        if self.fills_missing() {
            // Rows were learnt with their missing values filled: nothing better is known of them.
            each_missing(tile, &self.columns, |i, j| {
                visit(i, self.columns[j], Expected::Number { mean: self.fill[j], variance: f64::NAN });
            });
        }
        if patterns.is_empty() {
            return;
        }
        let mut conditional = ConditionalMoments::default();
        self.impute(component, rows, &self.gather_rows(tile), &patterns, &mut conditional);
        for (s, pattern) in patterns.iter().enumerate() {
            for (a, &j) in pattern.missing.iter().enumerate() {
                let variance = conditional.covariance(s)[a * pattern.missing.len() + a];
                for i in pattern.rows.clone() {
                    let mean = self.means[(component, j)] + conditional.deviations[j * rows + i];
                    visit(i, self.columns[j], Expected::Number { mean, variance });
                }
            }
        }
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        let width = self.width();
        let factored = &self.covariances[self.covariance_of(component)];
        let z: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
        let mut x = vec![0.0; width];
        if factored.rank < width {
            // x = Σ Wᵀ z, whose covariance is Σ Wᵀ W Σ = Σ Σ⁺ Σ = Σ.
            let (covariance, mut white_z) = (self.covariance(component), vec![0.0; width]);
            for (column, sum) in factored.white.chunks_exact(width).zip(&mut white_z) {
                *sum = column.iter().zip(&z).map(|(white, z)| white * z).sum();
            }
            for (i, x) in x.iter_mut().enumerate() {
                *x = covariance.row(i).iter().zip(&white_z).map(|(entry, z)| entry * z).sum();
            }
        } else if self.is_full() {
            // x = L z: L⁻¹ x = z, solved from the top.
            for i in 0..width {
                let before: f64 = (0..i).map(|j| factored.white[j * width + i] * x[j]).sum();
                x[i] = (z[i] - before) / factored.white[i * width + i];
            }
        } else {
            x = z.iter().zip(&factored.white).map(|(z, white)| z / white).collect();
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
        let is_whole = |matrix: &Matrix, rows: usize, columns: usize| {
            (matrix.rows(), matrix.columns()) == (rows, columns)
                && Some(matrix.values().len()) == rows.checked_mul(columns)
        };
        let axes = self.axes.as_ref().is_none_or(|axes| {
            axes.centre.len() == columns
                && axes.vectors.columns() <= columns
                && is_whole(&axes.vectors, columns, axes.vectors.columns())
                && axes.separation.as_ref().is_none_or(|separation| {
                    is_whole(&separation.means, components, columns) && separation.explained.len() <= columns
                })
        });
        let width = self.width();
        let weights = self.component_weights.is_empty()
            || self.component_weights.len() == components && self.component_weights.iter().all(|&weight| weight >= 0.0);
        axes && weights
            && self.ledoit_wolf.as_ref().is_none_or(|found| self.is_full() && found.is_sound(components, width))
            && self.fill.len() == columns
            && self.fill.iter().all(|x| x.is_finite())
            && (self.origin.rows(), self.origin.columns()) == (components, width)
            && self.origin.values().len() == components * width
            && self.settled.len() == width
            && self.settled.iter().flatten().all(|x| x.is_finite())
            && (0.0..=1.0).contains(&self.shrinkage.amount)
            && width > 0
    }
}
