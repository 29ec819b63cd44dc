//! The binomial distribution: the number of successes in n independent trials, each with probability p.
//! P(k) = n! / (k! (n - k)!) pᵏ (1 - p)ⁿ⁻ᵏ. One trial is a Bernoulli distribution.

use super::special::beta_lower;
use super::{Distribution, check_counts, check_number, check_values, drawn_count};
use crate::error::{Error, Result};
use crate::numbers::{ln_factorial, mean_and_standard_deviation};
use crate::run::Stream;

/// A binomial distribution; with one trial, a Bernoulli distribution.
///
/// ```
/// use quince::family::{Binomial, Distribution};
/// let coins = Binomial::new(4.0, 0.5)?;
/// assert!((coins.density(2.0) - 6.0 / 16.0).abs() < 1e-15);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binomial {
    tries: f64,
    probability: f64,
}

impl Binomial {
    /// This many trials, each with this probability of success.
    pub fn new(tries: f64, probability: f64) -> Result<Binomial> {
        check_counts(&[tries])?;
        check_number("probability", probability, 0.0)?;
        if probability > 1.0 {
            let problem = format!("cannot be {probability}");
            return Err(Error::setting("probability", problem, "Give a number from 0 to 1."));
        }
        Ok(Binomial { tries, probability })
    }

    /// One trial.
    pub fn bernoulli(probability: f64) -> Result<Binomial> {
        Binomial::new(1.0, probability)
    }

    /// The maximum-likelihood probability, given the numbers of successes in `tries` trials each: their proportion.
    pub fn fit(tries: f64, successes: &[f64]) -> Result<Binomial> {
        check_values(successes)?;
        check_counts(successes)?;
        match successes.iter().find(|&&count| count > tries) {
            Some(count) => {
                let problem = format!("cannot be {count} of {tries}");
                Err(Error::setting("successes", problem, "Give no more successes than tries."))
            }
            None => Binomial::new(tries, mean_and_standard_deviation(successes).0 / tries.max(1.0)),
        }
    }

    /// The probability of success in one trial.
    pub fn probability(&self) -> f64 {
        self.probability
    }
}

impl Distribution for Binomial {
    fn log_density(&self, k: f64) -> f64 {
        let (n, p) = (self.tries, self.probability);
        if !(0.0..=n).contains(&k) || k.fract() != 0.0 {
            return f64::NEG_INFINITY;
        }
        // A count of zero contributes nothing, even if the event is impossible.
        let part = |count: f64, log: f64| if count == 0.0 { 0.0 } else { count * log };
        ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) + part(k, p.ln()) + part(n - k, (-p).ln_1p())
    }

    fn cumulative(&self, k: f64) -> f64 {
        let (n, p, k) = (self.tries, self.probability, k.floor());
        match k {
            _ if k < 0.0 => 0.0,
            _ if k >= n || p == 0.0 => 1.0,
            _ if p == 1.0 => 0.0,
            _ => beta_lower(n - k, k + 1.0, 1.0 - p),
        }
    }

    fn mean(&self) -> f64 {
        self.tries * self.probability
    }

    fn variance(&self) -> f64 {
        self.mean() * (1.0 - self.probability)
    }

    fn sample(&self, stream: &mut Stream) -> f64 {
        let mode = ((self.tries + 1.0) * self.probability).floor().min(self.tries);
        let skewness = (1.0 - 2.0 * self.probability) / self.variance().sqrt();
        drawn_count(self, mode, skewness, self.tries, stream)
    }
}
