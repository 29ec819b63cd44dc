//! Families of distributions, as plain values: to fit to data, to evaluate, to sample from.
//!
//! A [`Distribution`] is univariate: [`Normal`], [`Poisson`], [`Binomial`] (with one trial: Bernoulli), [`Beta`].
//! [`Gaussian`] and [`Multinomial`] are multivariate, and [`Joint`] is the joint distribution of two discrete variables, with
//! its marginals, conditionals and Bayes' rule.

pub(crate) mod axes;
mod beta;
mod binomial;
pub(crate) mod block;
pub(crate) mod discriminative;
pub(crate) mod evidence;
pub(crate) mod explain;
mod gaussian;
mod impute;
mod joint;
mod known;
pub(crate) mod layout;
mod multinomial;
mod normal;
mod parameters;
mod poisson;
pub(crate) mod product;
mod special;
pub(crate) mod statistics;

pub use beta::Beta;
pub use binomial::Binomial;
pub use gaussian::Gaussian;
pub use joint::Joint;
pub use known::FamilyParameters;
pub use multinomial::Multinomial;
pub use normal::Normal;
pub use parameters::Parameters;
pub use poisson::Poisson;

use crate::error::{Error, Result};
use crate::run::Stream;

/// A univariate distribution.
///
/// ```
/// use quince::family::{Binomial, Distribution};
/// let coins = Binomial::new(3.0, 0.5)?;
/// assert!((coins.density(2.0) - 3.0 / 8.0).abs() < 1e-12 && (coins.cumulative(1.0) - 0.5).abs() < 1e-12);
/// assert_eq!((coins.mean(), coins.variance()), (1.5, 0.75));
/// # quince::Result::Ok(())
/// ```
pub trait Distribution {
    /// The log density at x, of a discrete distribution the log probability; negative infinity where x is impossible.
    fn log_density(&self, x: f64) -> f64;

    /// The density at x; of a discrete distribution the probability.
    fn density(&self, x: f64) -> f64 {
        self.log_density(x).exp()
    }

    /// The cumulative probability P(X ≤ x).
    fn cumulative(&self, x: f64) -> f64;

    /// The mean.
    fn mean(&self) -> f64;

    /// The variance.
    fn variance(&self) -> f64;

    /// A sample.
    fn sample(&self, stream: &mut Stream) -> f64;
}

/// Checks that a parameter is finite, and not below a bound.
fn check_number(name: &str, value: f64, least: f64) -> Result<()> {
    if value.is_finite() && value >= least {
        return Ok(());
    }
    let remedy = if least == 0.0 { "Give a finite number of at least zero." } else { "Give a finite number." };
    Err(Error::setting(name, format!("cannot be {value}"), remedy))
}

/// Checks that there are values to fit to, and that they are finite.
fn check_values(values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::data("there are no values to fit to", "Give at least one."));
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Error::data(format!("{value} is no value to fit to"), "Leave out what is not known.")),
        None => Ok(()),
    }
}

/// Checks that counts are whole numbers of at least zero.
fn check_counts(counts: &[f64]) -> Result<()> {
    match counts.iter().find(|&&count| !(count >= 0.0 && count.fract() == 0.0 && count.is_finite())) {
        Some(bad) => Err(Error::setting("counts", format!("cannot be {bad}"), "Give whole numbers of at least zero.")),
        None => Ok(()),
    }
}

/// A distribution of counts whose standard deviation is larger than this is sampled by its quantiles' expansion.
const LARGEST_DEVIATION_BY_INVERSION: f64 = 1e4;

/// A sample from a distribution of counts with this skewness, between 0 and `most`.
fn drawn_count(of: &impl Distribution, mode: f64, skewness: f64, most: f64, stream: &mut Stream) -> f64 {
    let deviation = of.variance().sqrt();
    if deviation <= LARGEST_DEVIATION_BY_INVERSION {
        return drawn_from_mode(of, mode, most, stream);
    }
    // Cornish and Fisher's expansion of the quantile: off by a share of 1/deviation² of the standard deviation.
    let z = stream.normal();
    (of.mean() + deviation * (z + skewness * (z * z - 1.0) / 6.0)).round().clamp(0.0, most)
}

/// A sample from a distribution of counts by inversion: outwards from the mode, alternately up and down, until the
/// probabilities passed exceed a uniform number. That takes about as many steps as the standard deviation.
fn drawn_from_mode(of: &impl Distribution, mode: f64, most: f64, stream: &mut Stream) -> f64 {
    let mut left = stream.uniform();
    let (mut low, mut high) = (mode, mode + 1.0);
    loop {
        let (below, above) = (of.density(low), of.density(high));
        if low >= 0.0 {
            left -= below;
            if left < 0.0 {
                return low;
            }
        }
        if high <= most {
            left -= above;
            if left < 0.0 {
                return high;
            }
        }
        // Rounding may leave a little over when everything has been passed.
        if (low < 0.0 || below < 1e-300) && (high > most || above < 1e-300) {
            return mode;
        }
        (low, high) = (low - 1.0, high + 1.0);
    }
}

#[cfg(test)]
mod tests;
