//! The parameters of a Gaussian block: means and covariances.

use super::{Gaussians, Shape, Shared};
use crate::matrix::Matrix;

impl Gaussians {
    /// The means, one row per component.
    pub(crate) fn means(&self) -> &Matrix {
        &self.means
    }

    /// The covariance of a component, all entries.
    pub(crate) fn covariance(&self, component: usize) -> Matrix {
        self.whole(&self.covariances[self.covariance_of(component)].covariance)
    }

    /// All entries of a symmetric matrix that is stored as covariances are.
    pub(super) fn whole(&self, covariance: &[f64]) -> Matrix {
        let width = self.width();
        let mut whole = Matrix::zeros(width, width);
        for i in 0..width {
            for j in 0..width {
                whole[(i, j)] = match self.shape {
                    Shape::Full => covariance[i.min(j) * width + i.max(j)],
                    _ if i == j => covariance[i],
                    _ => 0.0,
                };
            }
        }
        whole
    }

    /// The rank of a component's covariance.
    pub(crate) fn rank(&self, component: usize) -> usize {
        self.covariances[self.covariance_of(component)].rank
    }

    /// The variance of a column in a component.
    pub(crate) fn variance(&self, component: usize, j: usize) -> f64 {
        let factored = &self.covariances[self.covariance_of(component)];
        factored.covariance[if self.is_full() { j * self.width() + j } else { j }]
    }

    /// The number of covariances: one per component, or a shared one.
    pub(crate) fn covariances(&self) -> usize {
        self.covariances.len()
    }

    /// ln |Σ| of a component.
    pub(crate) fn log_determinant(&self, component: usize) -> f64 {
        self.covariances[self.covariance_of(component)].log_determinant
    }

    /// Σ⁻¹ of a component.
    pub(crate) fn precision(&self, component: usize) -> Matrix {
        let (factored, width) = (&self.covariances[self.covariance_of(component)], self.width());
        if self.is_full() {
            return Matrix::new(width, width, factored.precision(width).to_vec()).expect("as wide as it is high");
        }
        let mut precision = Matrix::zeros(width, width);
        (0..width).for_each(|j| precision[(j, j)] = factored.white[j] * factored.white[j]);
        precision
    }

    /// The index of the covariance of a component.
    pub(super) fn covariance_of(&self, component: usize) -> usize {
        if self.shared == Shared::No { component } else { 0 }
    }
}
