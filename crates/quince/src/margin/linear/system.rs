//! The equations of a Newton step, as many as there are columns and one for b:
//!
//! ```text
//! (1 + Σ θ x xᵀ) w + Σ θ x b = r
//! Σ θ x·w + (δ + Σ θ) b      = c
//! ```
//!
//! with weights θ of rows and the penalty δ of b. b is eliminated: if it is free (δ = 0), that leaves moments about the weighted
//! mean of x; otherwise a multiple of the mean's outer product is added.

use crate::error::Result;
use crate::matrix::{Cholesky, Features, Matrix, Triangle, WithTargets, centred_moments};
use crate::run::Run;

/// The equations, factored.
pub(super) struct System {
    factor: Cholesky,
    /// Scale of each unknown, which makes the diagonal one.
    scale: Vec<f64>,
    /// Sum of the weights θ.
    total: f64,
    /// Mean of x, weighted by θ.
    means: Vec<f64>,
    /// Penalty δ of b; infinite if there is no intercept.
    intercept_penalty: f64,
}

impl System {
    /// The system for weights θ of all rows; `None` if rounding leaves it singular.
    pub(super) fn of(
        rows: Features<'_>,
        thetas: Vec<f64>,
        intercept_penalty: f64,
        run: &Run,
    ) -> Result<Option<System>> {
        Triangle::afford(rows.columns())?;
        let total: f64 = thetas.iter().sum();
        // Where products have become zero, only rounding errors are left.
        if !(total > 0.0 && total.is_finite()) {
            return Ok(None);
        }
        let mut roots = thetas;
        roots.iter_mut().for_each(|root| *root = root.sqrt());
        let nothing = Matrix::zeros(roots.len(), 0);
        let (means, found) = centred_moments(&WithTargets::new(rows, &nothing, Some(&roots)), rows.shape(), &[], run)?;
        let mut matrix = found.gram;
        matrix.add_to_diagonal(1.0);
        let missing = if intercept_penalty.is_infinite() {
            total
        } else {
            total * (intercept_penalty / (intercept_penalty + total))
        };
        let size = matrix.size();
        for j in 0..size {
            (j..size).for_each(|i| matrix.add(i, j, missing * means[i] * means[j]));
        }
        let scale: Vec<f64> = matrix.diagonal().iter().map(|x| x.sqrt().recip()).collect();
        for j in 0..size {
            (j..size).for_each(|i| matrix.set(i, j, matrix.get(i, j) * scale[i] * scale[j]));
        }
        Ok(Cholesky::of(matrix, run)?.map(|factor| System { factor, scale, total, means, intercept_penalty }))
    }

    /// w and b from both right-hand sides.
    pub(super) fn solve(&self, mut right: Matrix, bias_term: f64) -> (Matrix, f64) {
        let share =
            if self.intercept_penalty.is_infinite() { 0.0 } else { 1.0 / (self.total + self.intercept_penalty) };
        for (j, value) in right.values_mut().iter_mut().enumerate() {
            *value = (*value - self.total * share * self.means[j] * bias_term) * self.scale[j];
        }
        let mut weights = self.factor.solve(&right);
        weights.values_mut().iter_mut().zip(&self.scale).for_each(|(weight, scale)| *weight *= scale);
        let along: f64 = weights.values().iter().zip(&self.means).map(|(weight, mean)| weight * mean).sum();
        (weights, share * (bias_term - self.total * along))
    }
}
