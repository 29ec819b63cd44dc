//! The Poisson distribution: the number of independent events, λ on average.
//! P(k) = λᵏ e^-λ / k!; the maximum-likelihood λ is the mean of the counts.

use super::special::gamma_upper;
use super::{Distribution, check_counts, check_number, check_values, drawn_count};
use crate::error::Result;
use crate::numbers::{ln_factorial, mean_and_standard_deviation};
use crate::run::Stream;

/// A Poisson distribution.
///
/// ```
/// use quince::family::{Distribution, Poisson};
/// let calls = Poisson::new(9.0)?;
/// assert!((calls.log_density(9.0).exp() - 0.13176).abs() < 1e-5);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson {
    rate: f64,
}

impl Poisson {
    /// With this mean.
    pub fn new(rate: f64) -> Result<Poisson> {
        check_number("rate", rate, 0.0)?;
        Ok(Poisson { rate })
    }

    /// The maximum-likelihood fit to these counts.
    ///
    /// ```
    /// use quince::family::{Distribution, Poisson};
    /// let fitted = Poisson::fit(&[1.0, 2.0, 3.0])?;
    /// assert!((fitted.density(0.0) - (-2f64).exp()).abs() < 1e-15);
    /// # quince::Result::Ok(())
    /// ```
    pub fn fit(counts: &[f64]) -> Result<Poisson> {
        check_values(counts)?;
        check_counts(counts)?;
        Poisson::new(mean_and_standard_deviation(counts).0)
    }
}

impl Distribution for Poisson {
    fn log_density(&self, k: f64) -> f64 {
        match k {
            _ if k < 0.0 || k.fract() != 0.0 || k.is_infinite() => f64::NEG_INFINITY,
            _ if self.rate == 0.0 => {
                if k == 0.0 {
                    0.0
                } else {
                    f64::NEG_INFINITY
                }
            }
            _ => k * self.rate.ln() - self.rate - ln_factorial(k),
        }
    }

    fn cumulative(&self, k: f64) -> f64 {
        match k {
            _ if k < 0.0 => 0.0,
            _ if self.rate == 0.0 || k.is_infinite() => 1.0,
            _ => gamma_upper(k.floor() + 1.0, self.rate),
        }
    }

    fn mean(&self) -> f64 {
        self.rate
    }

    fn variance(&self) -> f64 {
        self.rate
    }

    fn sample(&self, stream: &mut Stream) -> f64 {
        drawn_count(self, self.rate.floor(), self.rate.sqrt().recip(), f64::MAX, stream)
    }
}
