//! The equations of a Newton step, as many as there are columns and one for b:
//!
//! ```text
//! (1 + Σ θ x xᵀ) w + Σ θ x b = r
//! Σ θ x·w + (δ + Σ θ) b      = c
//! ```
//!
//! b is eliminated. If it cost nothing (δ = 0), that would leave sums about the mean of x by θ; of the mean, so much is missing as
//! b costs.

use crate::error::Result;
use crate::matrix::{About, Cholesky, Features, Matrix, Triangle, centred_moments};
use crate::run::Run;

/// The equations, factored.
pub(super) struct System {
    factor: Cholesky,
    /// What each unknown is multiplied with, so that the diagonal is one.
    scale: Vec<f64>,
    /// Σθ, and the mean of x by θ.
    total: f64,
    means: Vec<f64>,
    /// δ; infinite if there is no b.
    price: f64,
}

impl System {
    /// From the θ of all rows; `None` where rounding leaves nothing to be solved.
    pub(super) fn of(rows: Features<'_>, thetas: Vec<f64>, price: f64, run: &Run) -> Result<Option<System>> {
        Triangle::afford(rows.columns())?;
        let total: f64 = thetas.iter().sum();
        // Where products have become zero, rounding rules.
        if !(total > 0.0 && total.is_finite()) {
            return Ok(None);
        }
        let mut roots = thetas;
        roots.iter_mut().for_each(|root| *root = root.sqrt());
        let nothing = Matrix::zeros(roots.len(), 0);
        let beside = About { values: &nothing, centre: &[] };
        let (means, found) = centred_moments(rows, beside, Some(&roots), run)?;
        let mut matrix = found.gram;
        matrix.add_to_diagonal(1.0);
        let missing = if price.is_infinite() { total } else { total * (price / (price + total)) };
        let size = matrix.size();
        for j in 0..size {
            (j..size).for_each(|i| matrix.add(i, j, missing * means[i] * means[j]));
        }
        let scale: Vec<f64> = matrix.diagonal().iter().map(|x| x.sqrt().recip()).collect();
        for j in 0..size {
            (j..size).for_each(|i| matrix.set(i, j, matrix.get(i, j) * scale[i] * scale[j]));
        }
        Ok(Cholesky::of(matrix, run)?.map(|factor| System { factor, scale, total, means, price }))
    }

    /// w and b from both right sides.
    pub(super) fn solve(&self, mut right: Matrix, of_constant: f64) -> (Matrix, f64) {
        let share = if self.price.is_infinite() { 0.0 } else { 1.0 / (self.total + self.price) };
        for (j, value) in right.values_mut().iter_mut().enumerate() {
            *value = (*value - self.total * share * self.means[j] * of_constant) * self.scale[j];
        }
        let mut weights = self.factor.solve(&right);
        weights.values_mut().iter_mut().zip(&self.scale).for_each(|(weight, scale)| *weight *= scale);
        let along: f64 = weights.values().iter().zip(&self.means).map(|(weight, mean)| weight * mean).sum();
        (weights, share * (of_constant - self.total * along))
    }
}
