//! Families of distributions, as plain values: to fit to data, to ask for probabilities, to draw from.
//!
//! A [`Distribution`] is one of a single number: [`Normal`], [`Poisson`], [`Binomial`] (with one try: Bernoulli), [`Beta`].
//! [`Gaussian`] and [`Multinomial`] are of several numbers at once, and [`Joint`] is the table of two things that happen
//! together, with its margins, conditionals and Bayes' rule.

mod beta;
mod binomial;
pub(crate) mod block;
mod complete;
mod gaussian;
mod joint;
pub(crate) mod layout;
mod multinomial;
mod normal;
mod parameters;
mod poisson;
pub(crate) mod product;
pub(crate) mod sums;
pub(crate) mod tables;
pub(crate) mod telling;

pub use beta::Beta;
pub use binomial::Binomial;
pub use complete::Completed;
pub use gaussian::Gaussian;
pub use joint::Joint;
pub use multinomial::Multinomial;
pub use normal::Normal;
pub use parameters::Parameters;
pub use poisson::Poisson;

use crate::error::{Error, Result};
use crate::run::Stream;

/// A distribution of one number.
pub trait Distribution {
    /// The logarithm of the density at x, of a count its probability; negative infinity where x cannot be.
    fn log_density(&self, x: f64) -> f64;

    /// The density at x; of a count its probability.
    fn density(&self, x: f64) -> f64 {
        self.log_density(x).exp()
    }

    /// The probability of x or less.
    fn cumulative(&self, x: f64) -> f64;

    /// The mean.
    fn mean(&self) -> f64;

    /// The variance.
    fn variance(&self) -> f64;

    /// A draw.
    fn sample(&self, stream: &mut Stream) -> f64;
}

/// A parameter must be a number, and not below a bound.
fn check_number(name: &str, value: f64, least: f64) -> Result<()> {
    if value.is_finite() && value >= least {
        return Ok(());
    }
    let remedy = if least == 0.0 { "Give a finite number of at least zero." } else { "Give a finite number." };
    Err(Error::setting(name, format!("cannot be {value}"), remedy))
}

/// Values to fit to must be there, and be finite.
fn check_values(values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::data("there are no values to fit to", "Give at least one."));
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Error::data(format!("{value} is no value to fit to"), "Leave out what is not known.")),
        None => Ok(()),
    }
}

/// Counts are whole numbers of at least zero.
fn check_counts(counts: &[f64]) -> Result<()> {
    match counts.iter().find(|&&count| !(count >= 0.0 && count.fract() == 0.0 && count.is_finite())) {
        Some(bad) => Err(Error::setting("counts", format!("cannot be {bad}"), "Give whole numbers of at least zero.")),
        None => Ok(()),
    }
}

/// A draw from a distribution of counts: outwards from the likeliest count, up and down in turns, until the probabilities
/// passed exceed a uniform number. That takes about as many steps as the standard deviation.
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
        // Rounding may leave a crumb over when everything has been passed.
        if (low < 0.0 || below < 1e-300) && (high > most || above < 1e-300) {
            return mode;
        }
        (low, high) = (low - 1.0, high + 1.0);
    }
}

#[cfg(test)]
mod tests;
