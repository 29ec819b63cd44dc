//! The beta distribution: what is known of a probability p after a - 1 successes and b - 1 failures.
//! p(x) = x^(a-1) (1-x)^(b-1) / B(a, b). Its peak is at (a - 1) / (a + b - 2).

use super::special::{beta_lower, ln_beta};
use super::{Distribution, check_number};
use crate::error::{Error, Result};
use crate::run::Stream;

/// A beta distribution.
///
/// ```
/// use quince::family::{Beta, Distribution};
/// // Three heads and one tail, of a coin about which nothing was known.
/// let coin = Beta::new(4.0, 2.0)?;
/// assert_eq!((coin.mode(), coin.mean()), (Some(0.75), 4.0 / 6.0));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
}

impl Beta {
    /// With these two shape parameters.
    pub fn new(a: f64, b: f64) -> Result<Beta> {
        for (name, shape) in [("a", a), ("b", b)] {
            check_number(name, shape, 0.0)?;
            if shape == 0.0 {
                return Err(Error::setting(name, "cannot be 0", "Give a number above zero."));
            }
        }
        Ok(Beta { a, b })
    }

    /// A prior centred on probability p with the weight of `strength` observations, under which the mode after s successes in
    /// n trials is (s + strength p) / (n + strength).
    ///
    /// ```
    /// use quince::family::Beta;
    /// // (s + n' p) / (n + n') = (3 + 2·½) / (4 + 2)
    /// let seen = Beta::belief(0.5, 2.0)?.after(3.0, 1.0)?;
    /// assert_eq!(seen.mode(), Some(4.0 / 6.0));
    /// # quince::Result::Ok(())
    /// ```
    pub fn belief(p: f64, strength: f64) -> Result<Beta> {
        Beta::new(strength * p + 1.0, strength * (1.0 - p) + 1.0)
    }

    /// The posterior after this many more successes and failures.
    ///
    /// ```
    /// use quince::family::{Beta, Distribution};
    /// let seen = Beta::new(1.0, 1.0)?.after(3.0, 1.0)?;
    /// assert_eq!((seen.mode(), seen.mean()), (Some(0.75), 4.0 / 6.0));
    /// # quince::Result::Ok(())
    /// ```
    pub fn after(&self, successes: f64, failures: f64) -> Result<Beta> {
        Beta::new(self.a + successes, self.b + failures)
    }

    /// The mode, where there is one inside.
    pub fn mode(&self) -> Option<f64> {
        (self.a > 1.0 && self.b > 1.0).then(|| (self.a - 1.0) / (self.a + self.b - 2.0))
    }
}

impl Distribution for Beta {
    fn log_density(&self, x: f64) -> f64 {
        if !(0.0..=1.0).contains(&x) {
            return f64::NEG_INFINITY;
        }
        let part = |shape: f64, log: f64| if shape == 1.0 { 0.0 } else { (shape - 1.0) * log };
        part(self.a, x.ln()) + part(self.b, (-x).ln_1p()) - ln_beta(self.a, self.b)
    }

    fn cumulative(&self, x: f64) -> f64 {
        if x <= 0.0 {
            0.0
        } else if x >= 1.0 {
            1.0
        } else {
            beta_lower(self.a, self.b, x)
        }
    }

    fn mean(&self) -> f64 {
        self.a / (self.a + self.b)
    }

    fn variance(&self) -> f64 {
        let all = self.a + self.b;
        self.a * self.b / (all * all * (all + 1.0))
    }

    fn sample(&self, stream: &mut Stream) -> f64 {
        // In logarithms: a gamma draw of a small shape may underflow.
        let (x, y) = (ln_gamma_draw(self.a, stream), ln_gamma_draw(self.b, stream));
        1.0 / (1.0 + (y - x).exp())
    }
}

/// The logarithm of a draw from the gamma distribution with this shape (Marsaglia and Tsang 2000).
fn ln_gamma_draw(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        return ln_gamma_draw(shape + 1.0, stream) + (1.0 - stream.uniform()).ln() / shape;
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = stream.normal();
        let v = (1.0 + x / (3.0 * d.sqrt())).powi(3);
        if v > 0.0 && (1.0 - stream.uniform()).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return (d * v).ln();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_shapes_are_drawn_at_the_ends() {
        let (beta, mut stream) = (Beta::new(1e-3, 1e-3).unwrap(), Stream::new(3, 0));
        let drawn: Vec<f64> = (0..2000).map(|_| beta.sample(&mut stream)).collect();
        assert!(drawn.iter().all(|x| (0.0..=1.0).contains(x)));
        // Half of them on either side: 2000 / 2, give or take five standard deviations of √(2000 / 4).
        let above = drawn.iter().filter(|x| **x > 0.5).count();
        assert!(above.abs_diff(1000) < 112, "{above}");
    }
}
