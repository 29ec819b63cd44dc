//! The normal distribution: p(x) = exp(-(x - μ)² / 2σ²) / (σ √2π).
//!
//! The maximum-likelihood estimates from x_1 ... x_n are their mean μ and variance σ² = Σ (x - μ)² / n. That variance is
//! biased: too small by the factor (n - 1) / n on average; dividing by n - 1 instead makes it unbiased.

use super::{Distribution, check_number, check_values};
use crate::error::{Error, Result};
use crate::numbers::mean_and_standard_deviation;
use crate::run::Stream;
use std::f64::consts::{SQRT_2, TAU};

/// A normal distribution.
///
/// ```
/// use quince::family::{Distribution, Normal};
/// let height = Normal::new(170.0, 10.0)?;
/// let within = height.cumulative(180.0) - height.cumulative(160.0);
/// assert!((within - 0.683).abs() < 5e-4);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    mean: f64,
    standard_deviation: f64,
}

impl Normal {
    /// With this mean and standard deviation.
    pub fn new(mean: f64, standard_deviation: f64) -> Result<Normal> {
        check_number("mean", mean, f64::NEG_INFINITY)?;
        check_number("standard_deviation", standard_deviation, 0.0)?;
        if standard_deviation == 0.0 {
            let remedy = "Values that are all the same have no normal distribution; add a little to the variance.";
            return Err(Error::setting("standard_deviation", "cannot be 0", remedy));
        }
        Ok(Normal { mean, standard_deviation })
    }

    /// The maximum-likelihood fit to these values.
    ///
    /// ```
    /// use quince::family::{Distribution, Normal};
    /// let fitted = Normal::fit(&[1.0, 3.0])?;
    /// assert_eq!((fitted.mean(), fitted.variance()), (2.0, 1.0));
    /// assert!((Normal::fit_unbiased(&[1.0, 3.0])?.variance() - 2.0).abs() < 1e-15);
    /// # quince::Result::Ok(())
    /// ```
    pub fn fit(values: &[f64]) -> Result<Normal> {
        Normal::fit_by(values, values.len() as f64)
    }

    /// As [`Normal::fit`], with the unbiased variance.
    pub fn fit_unbiased(values: &[f64]) -> Result<Normal> {
        Normal::fit_by(values, values.len() as f64 - 1.0)
    }

    fn fit_by(values: &[f64], divisor: f64) -> Result<Normal> {
        check_values(values)?;
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / divisor;
        if variance.is_normal() {
            return Normal::new(mean, variance.sqrt());
        }
        // Plain sums are exact for whole numbers, but overflow or vanish at the ends of the range.
        let (mean, standard_deviation) = mean_and_standard_deviation(values);
        Normal::new(mean, standard_deviation * ((n - 1.0) / divisor).sqrt())
    }

    /// The standard deviation.
    pub fn standard_deviation(&self) -> f64 {
        self.standard_deviation
    }
}

impl Distribution for Normal {
    fn log_density(&self, x: f64) -> f64 {
        -0.5 * ((x - self.mean) / self.standard_deviation).powi(2) - self.standard_deviation.ln() - 0.5 * TAU.ln()
    }

    fn cumulative(&self, x: f64) -> f64 {
        0.5 * libm::erfc((self.mean - x) / (self.standard_deviation * SQRT_2))
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn variance(&self) -> f64 {
        self.standard_deviation * self.standard_deviation
    }

    fn sample(&self, stream: &mut Stream) -> f64 {
        self.mean + self.standard_deviation * stream.normal()
    }
}
