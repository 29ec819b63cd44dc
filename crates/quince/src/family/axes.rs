//! Axes of symmetric matrices: principal axes, axes that whiten rows, and those that separate the means of classes.
//!
//! With Σ = U Λ Uᵀ, the columns of V = U Λ^-½ whiten rows of covariance Σ: Vᵀ Σ V = 1. Among all such axes, those that separate
//! classes best are found by a rotation: the principal axes of what lies between the classes, along V (Fisher 1936, Rao 1948).

use crate::matrix::Matrix;
use faer::{Mat, MatRef, Side};

/// Variances along principal axes below this fraction of the largest are rounding errors.
const MIN_VARIANCE_RATIO: f64 = 1e-14;

/// Whether a column with this standard deviation and mean varies by more than rounding errors.
pub(crate) fn varies(deviation: f64, mean: f64) -> bool {
    deviation > 8.0 * f64::EPSILON * mean.abs()
}

/// The principal axes of a covariance, one column each, and the variances along them, the largest first.
pub(crate) struct PrincipalAxes {
    pub(crate) variances: Vec<f64>,
    pub(crate) axes: Mat<f64>,
}

impl PrincipalAxes {
    /// Of a symmetric matrix, of which the lower triangle is read; `None` if the iteration does not converge.
    pub(crate) fn of(covariance: MatRef<'_, f64>) -> Option<PrincipalAxes> {
        let width = covariance.nrows();
        let eigen = covariance.self_adjoint_eigen(Side::Lower).ok()?;
        let (rising, vectors) = (eigen.S().column_vector(), eigen.U());
        let variances = (0..width).rev().map(|axis| rising[axis]).collect();
        Some(PrincipalAxes { variances, axes: Mat::from_fn(width, width, |i, axis| vectors[(i, width - 1 - axis)]) })
    }

    /// Of the rows with this triangular factor R, so that their covariance is RᵀR.
    pub(crate) fn of_triangular_factor(factor: MatRef<'_, f64>) -> Option<PrincipalAxes> {
        let svd = factor.svd().ok()?;
        let variances = (0..factor.ncols()).map(|axis| svd.S()[axis] * svd.S()[axis]).collect();
        Some(PrincipalAxes { variances, axes: svd.V().to_owned() })
    }

    /// The number of axes along which there is more variance than this.
    pub(crate) fn rank(&self, least: f64) -> usize {
        self.variances.iter().filter(|variance| **variance > least).count()
    }

    /// The number of axes along which there is more variance than rounding errors.
    pub(crate) fn numerical_rank(&self) -> usize {
        self.rank(MIN_VARIANCE_RATIO * self.variances.first().map_or(0.0, |largest| largest.max(0.0)))
    }

    /// The first axes, divided by the standard deviation along them.
    pub(crate) fn whitening(&self, rank: usize) -> Mat<f64> {
        Mat::from_fn(self.axes.nrows(), rank, |i, axis| self.axes[(i, axis)] / self.variances[axis].sqrt())
    }
}

/// Axes that whiten the rows of classes and separate their means, the best first.
pub(crate) struct SeparatingAxes {
    /// One column each.
    pub(crate) vectors: Matrix,
    /// The shares of the variance between classes along these axes, and along others that were left out.
    pub(crate) explained: Vec<f64>,
}

impl SeparatingAxes {
    /// Those along which weighted, centred means vary most, at most `most` of them, within the space of whitening axes. An axis along which
    /// their standard deviation is less than the fraction `tolerance` of the most is left out.
    pub(crate) fn of_means(
        whitening: &Mat<f64>,
        means: &Mat<f64>,
        tolerance: f64,
        most: usize,
    ) -> Option<SeparatingAxes> {
        let apart = means * whitening;
        let svd = apart.thin_svd().ok()?;
        // Centred means lie in a space of one dimension fewer.
        let count = apart.nrows().saturating_sub(1).min(apart.ncols());
        let deviations: Vec<f64> = (0..count).map(|axis| svd.S()[axis]).collect();
        let all: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
        if all == 0.0 {
            return Some(SeparatingAxes { vectors: Matrix::zeros(whitening.nrows(), 0), explained: Vec::new() });
        }
        let found = deviations.iter().filter(|deviation| **deviation > tolerance * deviations[0]).count().min(most);
        let explained = deviations.iter().map(|deviation| deviation * deviation / all).collect();
        Some(SeparatingAxes { vectors: upright(&(whitening * svd.V().subcols(0, found))), explained })
    }

    /// All of those that maximise the variance `between` classes.
    pub(crate) fn of_covariances(whitening: &Mat<f64>, between: &Mat<f64>) -> Option<SeparatingAxes> {
        let along = whitening.transpose() * between * whitening;
        let found = PrincipalAxes::of(along.as_ref())?;
        let all: f64 = found.variances.iter().sum();
        let share = |variance: &f64| if all == 0.0 { 0.0 } else { variance / all };
        let explained = found.variances.iter().map(share).collect();
        Some(SeparatingAxes { vectors: upright(&(whitening * &found.axes)), explained })
    }
}

/// Axes that whiten rows of a covariance, found from its columns in units of their standard deviations. Directions in which
/// standardised columns have no more standard deviation than `tolerance` are left out.
pub(crate) fn whitening_of(covariance: &Mat<f64>, tolerance: f64) -> Option<Mat<f64>> {
    let deviations: Vec<f64> = (0..covariance.nrows()).map(|j| covariance[(j, j)].max(0.0).sqrt()).collect();
    let unit = |j: usize| if deviations[j] > 0.0 { deviations[j] } else { 1.0 };
    let standardised =
        Mat::from_fn(covariance.nrows(), covariance.ncols(), |i, j| covariance[(i, j)] / unit(i) / unit(j));
    let found = PrincipalAxes::of(standardised.as_ref())?;
    let white = found.whitening(found.rank(tolerance * tolerance));
    Some(Mat::from_fn(white.nrows(), white.ncols(), |j, axis| white[(j, axis)] / unit(j)))
}

/// Axes of which the largest entry is positive.
pub(crate) fn upright(axes: &Mat<f64>) -> Matrix {
    let (width, count) = (axes.nrows(), axes.ncols());
    let mut vectors = Matrix::zeros(width, count);
    for axis in 0..count {
        let larger = |most: f64, i: usize| if axes[(i, axis)].abs() > most.abs() { axes[(i, axis)] } else { most };
        let sign = (0..width).fold(0.0, larger).signum();
        (0..width).for_each(|i| vectors[(i, axis)] = axes[(i, axis)] * sign);
    }
    vectors
}
