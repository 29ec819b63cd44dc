//! From scatters to covariances, and to the factors that scores are made with.

use super::holes::{Completed, Stretch};
use super::white::White;
use super::{Gaussians, Moments, SINGULAR, Shape, Shared, Shrink};
use crate::error::{Error, Result};
use crate::family::block::Scores;
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{Cholesky, Triangle};
use crate::run::Run;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};
use std::f64::consts::TAU;
use std::sync::OnceLock;

/// A covariance with what scores need of it.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    /// d x d, or d variances.
    pub(super) covariance: Vec<f64>,
    /// L⁻¹, column after column, or 1 / σ of each column.
    pub(super) white: Vec<f64>,
    /// The same as products take it, of a full covariance.
    pub(super) products: White,
    pub(super) log_determinant: f64,
    /// Σ⁻¹, found when it is first asked for.
    precision: OnceLock<Vec<f64>>,
}

impl Spread {
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

    /// The covariances that follow from the scatters, without what is added to them: one for each component, or one.
    pub(super) fn plain(&self, moments: &[Moments]) -> Vec<Vec<f64>> {
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
    pub(super) fn overall(&self) -> Vec<f64> {
        let width = self.width();
        if !self.is_full() {
            return self.settled.iter().map(|settled| settled[1]).collect();
        }
        let mut whole = vec![0.0; width * width];
        (0..width).for_each(|j| whole[j * width + j] = self.settled[j][1]);
        whole
    }

    /// Brings a covariance into shape, draws it towards the identity and adds what is to be added.
    pub(super) fn shaped(&self, mut covariance: Vec<f64>) -> Vec<f64> {
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
    pub(super) fn spread(&self, covariance: Vec<f64>, run: &Run) -> Result<Spread> {
        let width = self.width();
        if !self.is_full() {
            if covariance.iter().any(|&variance| variance <= 0.0) {
                return Err(singular(width));
            }
            let white = covariance.iter().map(|variance| 1.0 / variance.sqrt()).collect();
            let log_determinant = covariance.iter().map(|variance| variance.ln()).sum();
            let precision = OnceLock::new();
            return Ok(Spread { covariance, white, products: White::default(), log_determinant, precision });
        }
        let mut triangle = Triangle::zeros(width);
        triangle.values_mut().copy_from_slice(&covariance);
        let factor = Cholesky::of(triangle, run)?.filter(|factor| factor.least_pivot > SINGULAR);
        let factor = factor.ok_or_else(|| singular(width))?;
        let mut white = vec![0.0; width * width];
        (0..width).for_each(|j| white[j * width + j] = 1.0);
        factor.solve_lower(MatMut::from_column_major_slice_mut(&mut white, width, width));
        let log_determinant = -2.0 * (0..width).map(|j| white[j * width + j].ln()).sum::<f64>();
        let products = White::new(&white, width);
        Ok(Spread { covariance, white, products, log_determinant, precision: OnceLock::new() })
    }

    /// z = L⁻¹ (x - mean) for rows that lie column after column.
    pub(super) fn whitened(
        &self,
        spread: &Spread,
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
        self.whiten(spread, rows, centred, &mut z);
        z
    }

    /// z = L⁻¹ d for rows of deviations that lie column after column.
    pub(super) fn whiten(&self, spread: &Spread, rows: usize, centred: &[f64], z: &mut Vec<f64>) {
        let width = self.width();
        z.clear();
        if !self.is_full() {
            for (column, white) in centred.chunks_exact(rows.max(1)).zip(&spread.white) {
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
            MatRef::from_column_major_slice(&spread.white, width, width).transpose(),
            BlockStructure::TriangularUpper,
            1.0,
            Par::Seq,
        );
    }

    /// Σ z² of rows that lie column after column.
    pub(super) fn squares(
        &self,
        spread: &Spread,
        values: &[f64],
        mean: &[f64],
        space: &mut Vec<[f64; LANES]>,
        squares: &mut [f64],
    ) {
        if self.is_full() {
            return spread.products.squares(values, mean, space, squares);
        }
        squares.fill(0.0);
        for ((column, mean), white) in values.chunks_exact(squares.len()).zip(mean).zip(&spread.white) {
            add_squares(column, *mean, *white, squares);
        }
    }

    /// Adds the log likelihood of rows with holes under each component, and keeps what each makes of them.
    pub(super) fn score_holes(
        &self,
        rows: usize,
        values: &[f64],
        stretches: &[Stretch],
        completed: &mut [Completed],
        scores: &mut Scores,
    ) {
        for (k, completed) in completed.iter_mut().enumerate() {
            self.complete(k, rows, values, stretches, completed);
            let constant = |known: usize| self.constant(&self.spreads[self.spread_of(k)], known);
            let scores = scores.of_mut(k);
            for (stretch, determinant) in stretches.iter().zip(&completed.determinants) {
                let constant = constant(self.width() - stretch.holes.len()) - 0.5 * determinant;
                for i in stretch.rows.clone() {
                    scores[i] += constant - 0.5 * completed.squares[i];
                }
            }
        }
    }

    /// What does not depend on the row, if so many columns are known.
    pub(super) fn constant(&self, spread: &Spread, known: usize) -> f64 {
        -0.5 * (known as f64 * TAU.ln() + spread.log_determinant)
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

fn singular(width: usize) -> Error {
    Error::data(
        format!("a class has too few different rows for the covariance of {width} columns: it is singular"),
        "Give covariance=diagonal, shared=pooled or a larger epsilon.",
    )
}
