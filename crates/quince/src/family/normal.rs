//! The normal distribution: p(x) = exp(-(x - μ)² / 2σ²) / (σ √2π).
//!
//! Values x_1 ... x_n are most likely under their own mean μ and variance σ² = Σ (x - μ)² / n. That variance is too small on
//! average, by the share that the mean takes for itself; dividing by n - 1 instead makes it unbiased.

use super::{Distribution, check_number, check_values};
use crate::error::{Error, Result};
use crate::numbers::mean_and_deviation;
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
    deviation: f64,
}

impl Normal {
    /// With this mean and standard deviation.
    pub fn new(mean: f64, deviation: f64) -> Result<Normal> {
        check_number("mean", mean, f64::NEG_INFINITY)?;
        check_number("deviation", deviation, 0.0)?;
        if deviation == 0.0 {
            let remedy = "Values that are all the same have no normal distribution; add a little to the variance.";
            return Err(Error::setting("deviation", "cannot be 0", remedy));
        }
        Ok(Normal { mean, deviation })
    }

    /// The one under which these values are most likely.
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
        let (mean, deviation) = mean_and_deviation(values);
        Normal::new(mean, deviation * ((n - 1.0) / divisor).sqrt())
    }

    /// The standard deviation.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }
}

impl Distribution for Normal {
    fn log_density(&self, x: f64) -> f64 {
        -0.5 * ((x - self.mean) / self.deviation).powi(2) - self.deviation.ln() - 0.5 * TAU.ln()
    }

    fn cumulative(&self, x: f64) -> f64 {
        0.5 * statrs::function::erf::erfc((self.mean - x) / (self.deviation * SQRT_2))
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn variance(&self) -> f64 {
        self.deviation * self.deviation
    }

    fn sample(&self, stream: &mut Stream) -> f64 {
        self.mean + self.deviation * stream.normal()
    }
}
