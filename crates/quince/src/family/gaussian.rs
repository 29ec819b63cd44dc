//! The multivariate normal distribution: p(x) = exp(-½ (x - μ)ᵀ Σ⁻¹ (x - μ)) / √((2π)ᵈ det Σ).
//!
//! With Cholesky's factor Σ = L Lᵀ the quadratic form is ‖L⁻¹ (x - μ)‖² and det Σ the square of the product of L's diagonal.

use super::check_values;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::run::Stream;
use std::f64::consts::TAU;

/// A multivariate normal distribution.
///
/// ```
/// use quince::{Matrix, family::Gaussian};
/// let rows = Matrix::from_rows(&[[5.0, 1.0], [5.0, 2.0], [7.0, 2.0], [7.0, 3.0]]);
/// let fitted = Gaussian::fit(&rows)?;
/// assert_eq!(fitted.mean(), [6.0, 2.0]);
/// assert_eq!(fitted.covariance().values(), [1.0, 0.5, 0.5, 0.5]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    mean: Vec<f64>,
    covariance: Matrix,
    /// The Cholesky factor L, in the lower triangle.
    factor: Matrix,
}

impl Gaussian {
    /// With this mean and covariance, which must be symmetric and positive definite.
    pub fn new(mean: Vec<f64>, covariance: Matrix) -> Result<Gaussian> {
        let size = mean.len();
        if (covariance.rows(), covariance.columns()) != (size, size) {
            let problem = format!(
                "a mean of {size} numbers does not go with a covariance of {} x {}",
                covariance.rows(),
                covariance.columns()
            );
            return Err(Error::data(problem, "Give a square matrix with a row for each number of the mean."));
        }
        check_values(&mean)?;
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
        if let Some((i, j)) = (0..size)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .find(|&(i, j)| !near(covariance[(i, j)], covariance[(j, i)]))
        {
            let (below, above) = (covariance[(i, j)], covariance[(j, i)]);
            let problem =
                format!("the covariance is not symmetric: {below} and {above} for columns {} and {}", j + 1, i + 1);
            return Err(Error::data(problem, "Give the same number on both sides of the diagonal."));
        }
        let Some(factor) = factored(&covariance) else {
            return Err(Error::data(
                "the covariance is not positive definite",
                "Leave out a column that others determine, or add a little to the diagonal.",
            ));
        };
        Ok(Gaussian { mean, covariance, factor })
    }

    /// The maximum-likelihood fit to these rows.
    ///
    /// ```
    /// use quince::Matrix;
    /// use quince::family::Gaussian;
    /// let fitted = Gaussian::fit(&Matrix::from_rows(&[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]))?;
    /// assert_eq!(fitted.covariance(), &Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]));
    /// # quince::Result::Ok(())
    /// ```
    pub fn fit(rows: &Matrix) -> Result<Gaussian> {
        Gaussian::fit_by(rows, rows.rows() as f64)
    }

    /// As [`Gaussian::fit`], with the unbiased covariance.
    pub fn fit_unbiased(rows: &Matrix) -> Result<Gaussian> {
        Gaussian::fit_by(rows, rows.rows() as f64 - 1.0)
    }

    fn fit_by(rows: &Matrix, divisor: f64) -> Result<Gaussian> {
        check_values(rows.values())?;
        let (n, size) = (rows.rows(), rows.columns());
        let mean: Vec<f64> = (0..size).map(|j| rows.column(j).iter().sum::<f64>() / n as f64).collect();
        let mut covariance = Matrix::zeros(size, size);
        for i in 0..n {
            let from_mean: Vec<f64> = rows.row(i).iter().zip(&mean).map(|(x, m)| x - m).collect();
            for a in 0..size {
                (0..size).for_each(|b| covariance[(a, b)] += from_mean[a] * from_mean[b]);
            }
        }
        covariance.values_mut().iter_mut().for_each(|x| *x /= divisor);
        Gaussian::new(mean, covariance)
    }

    /// The mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance.
    pub fn covariance(&self) -> &Matrix {
        &self.covariance
    }

    /// The logarithm of the density at x.
    ///
    /// # Panics
    /// If x has not as many numbers as the mean.
    pub fn log_density(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.mean.len(), "as many numbers as the mean has");
        // L z = x - μ, solved from the top.
        let mut z: Vec<f64> = Vec::with_capacity(x.len());
        for (i, (x, mean)) in x.iter().zip(&self.mean).enumerate() {
            let before: f64 = z.iter().zip(self.factor.row(i)).map(|(z, l)| z * l).sum();
            z.push((x - mean - before) / self.factor[(i, i)]);
        }
        let diagonal: f64 = (0..x.len()).map(|i| self.factor[(i, i)].ln()).sum();
        -0.5 * z.iter().map(|z| z * z).sum::<f64>() - diagonal - 0.5 * x.len() as f64 * TAU.ln()
    }

    /// A sample: μ + L z with z standard normal.
    pub fn sample(&self, stream: &mut Stream) -> Vec<f64> {
        let z: Vec<f64> = self.mean.iter().map(|_| stream.normal()).collect();
        let at =
            |(i, mean): (usize, &f64)| mean + self.factor.row(i)[..=i].iter().zip(&z).map(|(l, z)| l * z).sum::<f64>();
        self.mean.iter().enumerate().map(at).collect()
    }
}

/// The Cholesky factor L with A = L Lᵀ, row by row; `None` if A is not positive definite.
fn factored(a: &Matrix) -> Option<Matrix> {
    let size = a.rows();
    let mut l = Matrix::zeros(size, size);
    for i in 0..size {
        for j in 0..=i {
            let before: f64 = (0..j).map(|k| l[(i, k)] * l[(j, k)]).sum();
            let rest = a[(i, j)] - before;
            l[(i, j)] = if i == j {
                if rest > 1e-15 * a[(i, i)] { rest.sqrt() } else { return None }
            } else {
                rest / l[(j, j)]
            };
        }
    }
    Some(l)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_covariance_has_two_equal_sides() {
        let lopsided = Matrix::from_rows(&[[1.0, 0.5], [0.2, 1.0]]);
        let refused = Gaussian::new(vec![0.0, 0.0], lopsided).unwrap_err().to_string();
        assert!(refused.contains("not symmetric"), "{refused}");
    }
}
