//! From scatter matrices to covariances and their Cholesky factors, which score rows.

use super::missing::{ConditionalMoments, MissingPattern};
use super::whitening::Whitening;
use super::{Gaussians, MIN_PIVOT_RATIO, Moments, Shape, Shared, Shrinkage};
use crate::error::{Error, Result};
use crate::family::axes::PrincipalAxes;
use crate::family::block::Scores;
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{Cholesky, Triangle};
use crate::run::Run;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use std::f64::consts::TAU;
use std::sync::OnceLock;

/// A covariance and its factor.
#[derive(Clone, Debug)]
pub(crate) struct FactoredCovariance {
    /// d x d entries, or d variances.
    pub(super) covariance: Vec<f64>,
    /// The whitening matrix L⁻¹ by columns, or 1 / σ of each column.
    pub(super) white: Vec<f64>,
    /// The same in the order in which the product reads it, of a full covariance.
    pub(super) products: Whitening,
    /// Of a covariance without full rank, that along the directions that are left.
    pub(super) log_determinant: f64,
    /// The number of directions with variance.
    pub(super) rank: usize,
    /// Σ⁻¹, computed when it is first needed.
    precision: OnceLock<Vec<f64>>,
}

impl FactoredCovariance {
    /// Σ⁻¹ of a full covariance.
    pub(super) fn precision(&self, width: usize) -> &[f64] {
        self.precision.get_or_init(|| {
            let mut precision = vec![0.0; width * width];
            for i in 0..width {
                for j in 0..=i {
                    // Σ⁻¹ = L⁻ᵀ L⁻¹.
                    let below = |column: usize| &self.white[column * width + i..(column + 1) * width];
                    let entry = below(i).iter().zip(below(j)).map(|(a, b)| a * b).sum();
                    (precision[i * width + j], precision[j * width + i]) = (entry, entry);
                }
            }
            precision
        })
    }
}

impl Gaussians {
    pub(super) fn divisor(&self, weight: f64, means: f64) -> f64 {
        let divisor = if self.unbiased { weight - means } else { weight };
        if divisor > 0.0 { divisor } else { weight.max(f64::MIN_POSITIVE) }
    }

    /// The covariances that follow from the scatter matrices, without shrinkage and variance floor: one per component, or a
    /// shared one.
    pub(super) fn plain(&self, moments: &[Moments]) -> Vec<Vec<f64>> {
        let there = || moments.iter().filter(|moments| moments.weight > 0.0);
        let own = |(k, moments): (usize, &Moments)| -> Vec<f64> {
            if moments.weight <= 0.0 {
                return self.overall();
            }
            let divisor = self.divisor(moments.weight, 1.0);
            let mut covariance: Vec<f64> = moments.scatter.iter().map(|s| s / divisor).collect();
            self.shrink_component(&mut covariance, moments, k);
            covariance
        };
        if self.shared == Shared::No {
            return moments.iter().enumerate().map(own).collect();
        }
        let mut shared = vec![0.0; moments[0].scatter.len()];
        if self.shared == Shared::Pooled && self.ledoit_wolf.is_none() {
            let divisor = self.divisor(there().map(|m| m.weight).sum(), there().count() as f64);
            for moments in there() {
                shared.iter_mut().zip(&moments.scatter).for_each(|(sum, part)| *sum += part);
            }
            shared.iter_mut().for_each(|sum| *sum /= divisor);
            return vec![shared];
        }
        let weights = self.weights_of_covariances(moments);
        for (k, moments) in moments.iter().enumerate().filter(|(_, moments)| moments.weight > 0.0) {
            shared.iter_mut().zip(own((k, moments))).for_each(|(sum, part)| *sum += weights[k] * part);
        }
        let total: f64 = weights.iter().sum();
        shared.iter_mut().for_each(|sum| *sum /= total);
        vec![shared]
    }

    /// The weight of each component's covariance in the one that they share, if that is not the pooled one.
    pub(super) fn weights_of_covariances(&self, moments: &[Moments]) -> Vec<f64> {
        let given = |k: usize| match self.shared {
            Shared::Mean => 1.0,
            Shared::Weighted if !self.component_weights.is_empty() => self.component_weights[k],
            _ => moments[k].weight,
        };
        let is_there = |k: usize| moments[k].weight > 0.0;
        let weights: Vec<f64> = (0..moments.len()).map(|k| if is_there(k) { given(k) } else { 0.0 }).collect();
        // Where all components with rows were given no weight, they have that of their rows.
        if weights.iter().all(|weight| *weight == 0.0) { moments.iter().map(|m| m.weight).collect() } else { weights }
    }

    /// The variances over all rows, for a component without rows.
    pub(super) fn overall(&self) -> Vec<f64> {
        let width = self.width();
        if !self.is_full() {
            return self.settled.iter().map(|settled| settled[1]).collect();
        }
        let mut whole = vec![0.0; width * width];
        (0..width).for_each(|j| whole[j * width + j] = self.settled[j][1]);
        whole
    }

    /// Shrinks a covariance whose diagonal is every `step`th entry.
    fn shrink(&self, covariance: &mut [f64], step: usize) {
        let Shrinkage { amount, to_one, in_units_of_columns } = self.shrinkage;
        // One variance for all columns is its own target.
        if amount == 0.0 || (in_units_of_columns && self.shape == Shape::Spherical) {
            return;
        }
        let diagonal = |j: usize| if in_units_of_columns { self.settled[j][1] } else { 1.0 };
        // A column that is the same in all rows has no variance to compare with, and none to be shrunk towards.
        let ratio = |(j, variance): (usize, &f64)| if diagonal(j) > 0.0 { variance / diagonal(j) } else { 0.0 };
        let ratios = covariance.iter().step_by(step).enumerate().map(ratio);
        let times = if to_one { 1.0 } else { ratios.sum::<f64>() / self.width() as f64 };
        covariance.iter_mut().for_each(|entry| *entry *= 1.0 - amount);
        for (j, variance) in covariance.iter_mut().step_by(step).enumerate() {
            *variance += amount * times * diagonal(j);
        }
    }

    /// Restricts a covariance to its shape, shrinks it and adds the variance floor.
    pub(super) fn shaped(&self, mut covariance: Vec<f64>) -> Vec<f64> {
        let width = self.width();
        let step = if self.is_full() { width + 1 } else { 1 };
        if self.shape == Shape::Spherical {
            let mean = covariance.iter().sum::<f64>() / width as f64;
            covariance.fill(mean);
        }
        self.shrink(&mut covariance, step);
        let floors = self.settled.iter().map(|settled| settled[2]);
        let mean_floor = floors.clone().sum::<f64>() / width as f64;
        let spherical = self.shape == Shape::Spherical;
        let diagonal = covariance.iter_mut().step_by(step);
        diagonal.zip(floors).for_each(|(s, floor)| *s += if spherical { mean_floor } else { floor });
        covariance
    }

    /// Factors a covariance of the right shape.
    pub(super) fn factored(&self, covariance: Vec<f64>, run: &Run) -> Result<FactoredCovariance> {
        let width = self.width();
        if !self.is_full() {
            if covariance.iter().any(|&variance| variance <= 0.0) {
                return Err(singular(width));
            }
            let white = covariance.iter().map(|variance| 1.0 / variance.sqrt()).collect();
            let log_determinant = covariance.iter().map(|variance| variance.ln()).sum();
            let precision = OnceLock::new();
            return Ok(FactoredCovariance {
                covariance,
                white,
                products: Whitening::default(),
                log_determinant,
                rank: width,
                precision,
            });
        }
        let mut triangle = Triangle::zeros(width);
        triangle.values_mut().copy_from_slice(&covariance);
        let factor = Cholesky::of(triangle, run)?.filter(|factor| factor.least_pivot > MIN_PIVOT_RATIO);
        let Some(factor) = factor else {
            return if self.pseudo_inverse { self.pseudo_factored(covariance, run) } else { Err(singular(width)) };
        };
        let mut white = vec![0.0; width * width];
        (0..width).for_each(|j| white[j * width + j] = 1.0);
        factor.solve_lower(MatMut::from_column_major_slice_mut(&mut white, width, width));
        let log_determinant = -2.0 * (0..width).map(|j| white[j * width + j].ln()).sum::<f64>();
        let products = Whitening::new(&white, width);
        let precision = OnceLock::new();
        Ok(FactoredCovariance { covariance, white, products, log_determinant, rank: width, precision })
    }

    /// Factors a full covariance without full rank: with V its principal axes divided by the standard deviations along them, as
    /// far as these are not zero, the pseudo-inverse is Σ⁺ = V Vᵀ = Lᵀ L for a lower triangle L.
    fn pseudo_factored(&self, covariance: Vec<f64>, run: &Run) -> Result<FactoredCovariance> {
        let width = self.width();
        let entries = covariance.clone();
        let (log_determinant, rank, white) = run
            .aside(width, move || {
                let principal = PrincipalAxes::of(MatRef::from_column_major_slice(&entries, width, width))?;
                let rank = principal.numerical_rank();
                let log_determinant = principal.variances[..rank].iter().map(|variance| variance.ln()).sum::<f64>();
                Some((log_determinant, rank, lower_triangle(&principal.whitening(rank))))
            })?
            .ok_or_else(|| singular(width))?;
        let (products, precision) = (Whitening::new(&white, width), OnceLock::new());
        Ok(FactoredCovariance { covariance, white, products, log_determinant, rank, precision })
    }

    /// z = L⁻¹ (x - mean) for rows stored by columns.
    pub(super) fn whitened(
        &self,
        factored: &FactoredCovariance,
        rows: usize,
        values: &[f64],
        mean: &[f64],
        centred: &mut Vec<f64>,
    ) -> Vec<f64> {
        centred.clear();
        for (column, mean) in values.chunks_exact(rows.max(1)).zip(mean) {
            centred.extend(column.iter().map(|x| x - mean));
        }
        let mut z = Vec::new();
        self.whiten(factored, rows, centred, &mut z);
        z
    }

    /// z = L⁻¹ d for rows of deviations stored by columns.
    pub(super) fn whiten(&self, factored: &FactoredCovariance, rows: usize, centred: &[f64], z: &mut Vec<f64>) {
        let width = self.width();
        z.clear();
        if !self.is_full() {
            for (column, white) in centred.chunks_exact(rows.max(1)).zip(&factored.white) {
                z.extend(column.iter().map(|x| x * white));
            }
            return;
        }
        z.resize(rows * width, 0.0);
        triangular_matmul(
            MatMut::from_column_major_slice_mut(z, rows, width),
            BlockStructure::Rectangular,
            Accum::Replace,
            MatRef::from_column_major_slice(centred, rows, width),
            BlockStructure::Rectangular,
            MatRef::from_column_major_slice(&factored.white, width, width).transpose(),
            BlockStructure::TriangularUpper,
            1.0,
            Par::Seq,
        );
    }

    /// The squared Mahalanobis distances Σ z² of rows stored by columns.
    pub(super) fn squares(
        &self,
        factored: &FactoredCovariance,
        values: &[f64],
        mean: &[f64],
        space: &mut Vec<[f64; LANES]>,
        squares: &mut [f64],
    ) {
        if self.is_full() {
            return factored.products.squares(values, mean, space, squares);
        }
        squares.fill(0.0);
        for ((column, mean), white) in values.chunks_exact(squares.len()).zip(mean).zip(&factored.white) {
            add_squares(column, *mean, *white, squares);
        }
    }

    /// Adds the log likelihood of rows with missing values under each component, and keeps their conditional moments.
    pub(super) fn score_missing(
        &self,
        rows: usize,
        values: &[f64],
        patterns: &[MissingPattern],
        conditional: &mut [ConditionalMoments],
        scores: &mut Scores,
    ) {
        for (k, conditional) in conditional.iter_mut().enumerate() {
            self.impute(k, rows, values, patterns, conditional);
            let constant = |known: usize| self.constant(&self.covariances[self.covariance_of(k)], known);
            let scores = scores.of_mut(k);
            for (pattern, determinant) in patterns.iter().zip(&conditional.determinants) {
                let constant = constant(self.width() - pattern.missing.len()) - 0.5 * determinant;
                for i in pattern.rows.clone() {
                    scores[i] += constant - 0.5 * conditional.squares[i];
                }
            }
        }
    }

    /// The part of the log density that does not depend on the row, if this many columns are observed.
    pub(super) fn constant(&self, factored: &FactoredCovariance, known: usize) -> f64 {
        -0.5 * (known as f64 * TAU.ln() + factored.log_determinant)
    }
}

vectorised! {
    /// Adds ((x - mean) / σ)².
    pub(super) fn add_squares(column: &[f64], mean: f64, white: f64, squares: &mut [f64]) {
        for (square, x) in squares.iter_mut().zip(column) {
            let z = (x - mean) * white;
            *square += z * z;
        }
    }
}

/// The lower triangle L, by columns, with Lᵀ L = V Vᵀ: from the upper one R of Vᵀ = Q R, where columns are in reverse order.
fn lower_triangle(v: &Mat<f64>) -> Vec<f64> {
    let (width, rank) = (v.nrows(), v.ncols());
    let mut lower = vec![0.0; width * width];
    if rank == 0 {
        return lower;
    }
    let reversed = Mat::from_fn(rank, width, |axis, j| v[(width - 1 - j, axis)]);
    let qr = reversed.qr();
    let upper = qr.thin_R();
    for i in 0..rank {
        for j in i..width {
            lower[(width - 1 - j) * width + (width - 1 - i)] = upper[(i, j)];
        }
    }
    lower
}

fn singular(width: usize) -> Error {
    Error::data(
        format!("a class has too few different rows for the covariance of {width} columns: it is singular"),
        "Give covariance=diagonal, shared=pooled, singular=pseudo-inverse or a larger variance_floor.",
    )
}
