//! The multinomial distribution: the counts of words (or faces of a die) among n independent draws.
//!
//! Counts x with sum n have probability n! / (x_1! x_2! ...) p_1^x_1 p_2^x_2 ... The first factor, the multinomial
//! coefficient, is the number of orders in which the words can stand.

use crate::error::{Error, Result};
use crate::numbers::ln_factorial;
use crate::run::Stream;

/// A multinomial distribution.
///
/// ```
/// use quince::family::Multinomial;
/// let dice = Multinomial::new(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0])?;
/// // Two dice, one shows 2 and the other 5.
/// let chance = dice.log_probability(&[0.0, 1.0, 0.0, 0.0, 1.0, 0.0])?.exp();
/// assert!((chance - 1.0 / 18.0).abs() < 1e-12);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Multinomial {
    probabilities: Vec<f64>,
}

impl Multinomial {
    /// From probabilities, or anything in proportion to them.
    pub fn new(weights: &[f64]) -> Result<Multinomial> {
        let total: f64 = weights.iter().sum();
        if weights.iter().any(|&weight| weight < 0.0) || !total.is_finite() || total <= 0.0 {
            let remedy = "Give numbers of at least zero that are not all zero.";
            return Err(Error::setting("probabilities", format!("cannot be {weights:?}"), remedy));
        }
        Ok(Multinomial { probabilities: weights.iter().map(|weight| weight / total).collect() })
    }

    /// The maximum-likelihood fit to rows of counts.
    ///
    /// NaN is a missing value, and is left out of the likelihood: the other counts of its row are scored among themselves.
    /// The maximum is found by expectation maximisation: alternately, missing values are imputed by their expectation and the
    /// probabilities estimated from all counts, until nothing changes.
    pub fn fit(rows: &[&[f64]]) -> Result<Multinomial> {
        let width = rows.first().map_or(0, |row| row.len());
        let mut sums = vec![0.0; width];
        for row in rows {
            check(row, width)?;
            sums.iter_mut().zip(*row).filter(|(_, count)| !count.is_nan()).for_each(|(sum, count)| *sum += count);
        }
        if let Some(unknown) = (0..width).find(|&j| rows.iter().all(|row| row[j].is_nan())) {
            let problem = format!("have no value at place {unknown} in any row");
            return Err(Error::setting("counts", problem, "Leave that place out."));
        }
        let mut fitted = Multinomial::new(&sums)?;
        if rows.iter().all(|row| row.iter().all(|count| !count.is_nan())) {
            return Ok(fitted);
        }
        for _ in 0..MAX_STEPS {
            sums.fill(0.0);
            for row in rows {
                sums.iter_mut().zip(fitted.imputed(row)).for_each(|(sum, count)| *sum += count);
            }
            let next = Multinomial::new(&sums)?;
            let change = |(a, b): (&f64, &f64)| (a - b).abs();
            let largest = fitted.probabilities.iter().zip(&next.probabilities).map(change).fold(0.0, f64::max);
            fitted = next;
            if largest < 1e-15 {
                break;
            }
        }
        Ok(fitted)
    }

    /// The probability of each place.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// The logarithm of the multinomial coefficient.
    pub fn log_coefficient(counts: &[f64]) -> Result<f64> {
        check(counts, counts.len())?;
        let known = || counts.iter().copied().filter(|count| !count.is_nan());
        Ok(ln_factorial(known().sum()) - known().map(ln_factorial).sum::<f64>())
    }

    /// The log probability of these counts among all with their sum; of the observed ones, if some are missing.
    ///
    /// ```
    /// use quince::family::Multinomial;
    /// // Three orders of one and two: 3 · 0.2 · 0.8²
    /// let p = Multinomial::new(&[0.2, 0.8])?.log_probability(&[1.0, 2.0])?.exp();
    /// assert!((p - 0.384).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
    pub fn log_probability(&self, counts: &[f64]) -> Result<f64> {
        check(counts, self.probabilities.len())?;
        let known = || counts.iter().zip(&self.probabilities).filter(|(count, _)| !count.is_nan());
        let all: f64 = known().map(|(_, p)| p).sum();
        let log = |p: f64| if p > 0.0 { (p / all).ln() } else { f64::NEG_INFINITY };
        // A count of zero contributes nothing, even if the word is impossible.
        let each = known().filter(|(count, _)| **count > 0.0).map(|(count, &p)| count * log(p));
        Ok(Multinomial::log_coefficient(counts)? + each.sum::<f64>())
    }

    /// A sample of `length` words: their counts.
    pub fn sample(&self, length: usize, stream: &mut Stream) -> Vec<f64> {
        let mut counts = vec![0.0; self.probabilities.len()];
        (0..length).for_each(|_| counts[self.sample_place(stream)] += 1.0);
        counts
    }

    /// A sample of one word: its place.
    pub fn sample_place(&self, stream: &mut Stream) -> usize {
        let mut left = stream.uniform();
        // Rounding may leave a little over when all places have been passed: the last possible one takes it.
        let possible = |place: &usize| self.probabilities[*place] > 0.0;
        let last = (0..self.probabilities.len()).rev().find(possible).unwrap_or(0);
        for (place, p) in self.probabilities.iter().enumerate().take(last) {
            left -= p;
            if left < 0.0 {
                return place;
            }
        }
        last
    }

    /// The counts, with missing ones imputed by their expectation.
    pub fn expected(&self, counts: &[f64]) -> Result<Vec<f64>> {
        check(counts, self.probabilities.len())?;
        Ok(self.imputed(counts))
    }

    /// If words of total probability q are observed n times, n / q p_j are expected at place j.
    fn imputed(&self, counts: &[f64]) -> Vec<f64> {
        let (mut known, mut share) = (0.0, 0.0);
        for (count, p) in counts.iter().zip(&self.probabilities).filter(|(count, _)| !count.is_nan()) {
            known += count;
            share += p;
        }
        let length = if share > 0.0 { known / share } else { 0.0 };
        let fill = |(count, p): (&f64, &f64)| if count.is_nan() { length * p } else { *count };
        counts.iter().zip(&self.probabilities).map(fill).collect()
    }
}

/// The most steps of expectation maximisation. Each removes a fraction of the remaining error, the larger the fewer values
/// are missing.
const MAX_STEPS: usize = 100_000;

/// Checks that counts are whole numbers of at least zero, or missing, and as many as places.
fn check(counts: &[f64], places: usize) -> Result<()> {
    if counts.len() != places {
        let problem = format!("are {} for {places} places", counts.len());
        return Err(Error::setting("counts", problem, "Give one for every place."));
    }
    match counts.iter().find(|&&count| !(count.is_nan() || count >= 0.0 && count.fract() == 0.0)) {
        Some(bad) => Err(Error::setting("counts", format!("cannot be {bad}"), "Give whole numbers of at least zero.")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MISSING: f64 = f64::NAN;

    #[test]
    fn x4_a_sentence_and_all_its_orders() {
        let counts = [3.0, 1.0, 1.0, 2.0];
        assert!((Multinomial::log_coefficient(&counts).unwrap().exp() - 420.0).abs() < 1e-9);
        let fitted = Multinomial::fit(&[&counts]).unwrap();
        assert!((fitted.log_probability(&counts).unwrap().exp() - 0.05508).abs() < 5e-6);
    }

    #[test]
    fn t5_missing_values_are_left_out_of_a_likelihood() {
        let rows: [&[f64]; 3] = [&[3.0, 5.0, 6.0, 2.0], &[0.0, MISSING, 3.0, 1.0], &[1.0, 2.0, MISSING, 6.0]];
        let fitted = Multinomial::fit(&rows).unwrap();
        assert!((fitted.expected(rows[1]).unwrap()[1] - 1.1347).abs() < 5e-5);
        assert!((fitted.expected(rows[2]).unwrap()[2] - 6.6750).abs() < 5e-5);
    }

    #[test]
    fn what_cannot_occur_is_impossible_if_it_does_and_says_nothing_if_not() {
        let family = Multinomial::new(&[1.0, 0.0, 0.0]).unwrap();
        assert_eq!(family.log_probability(&[2.0, 0.0, 0.0]).unwrap(), 0.0);
        assert_eq!(family.log_probability(&[2.0, 1.0, 0.0]).unwrap(), f64::NEG_INFINITY);
        assert_eq!(family.log_probability(&[MISSING, 1.0, 0.0]).unwrap(), f64::NEG_INFINITY);
    }

    #[test]
    fn draws_are_as_frequent_as_they_should_be() {
        let family = Multinomial::new(&[1.0, 0.0, 3.0, 0.0]).unwrap();
        let counts = family.sample(40_000, &mut Stream::new(2, 0));
        assert_eq!((counts[1], counts[3], counts[0] + counts[2]), (0.0, 0.0, 40_000.0));
        // The standard deviation is 87.
        assert!((counts[0] - 10_000.0).abs() < 435.0, "{counts:?}");
    }

    #[test]
    fn bad_counts_are_named() {
        let dice = Multinomial::new(&[1.0, 1.0]).unwrap();
        assert!(dice.log_probability(&[1.0]).unwrap_err().to_string().contains("1 for 2 places"));
        assert!(dice.log_probability(&[1.0, 0.5]).unwrap_err().to_string().contains("0.5"));
        assert!(dice.log_probability(&[1.0, -1.0]).unwrap_err().to_string().contains("-1"));
        assert!(Multinomial::new(&[0.0, 0.0]).is_err() && Multinomial::new(&[MISSING, 1.0]).is_err());
        assert!(Multinomial::fit(&[&[1.0, MISSING], &[2.0, MISSING]]).unwrap_err().to_string().contains("place 1"));
        assert!(Multinomial::fit(&[]).is_err());
    }

    proptest! {
        /// The probabilities of all counts with one sum add up to one, whether a place is missing or not.
        #[test]
        fn all_counts_together_are_certain(weights in prop::collection::vec(0.01..1.0f64, 3), n in 0..9u32, missing: bool) {
            let family = Multinomial::new(&weights).unwrap();
            let mut total = 0.0;
            for a in 0..=n {
                for b in 0..=n - a {
                    let c = n - a - b;
                    if missing && c > 0 { continue; }
                    let counts = [f64::from(a), f64::from(b), if missing { MISSING } else { f64::from(c) }];
                    total += family.log_probability(&counts).unwrap().exp();
                }
            }
            prop_assert!((total - 1.0).abs() < 1e-9);
        }

        /// No other probabilities nearby make the rows likelier.
        #[test]
        fn nothing_near_is_likelier(
            rows in prop::collection::vec(prop::collection::vec(prop_oneof![4 => (0..9u32).prop_map(f64::from), 1 => Just(MISSING)], 3), 2..6),
            nudge in prop::collection::vec(-0.01..0.01f64, 3),
        ) {
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            let Ok(fitted) = Multinomial::fit(&rows) else { return Ok(()) };
            let moved: Vec<f64> = fitted.probabilities().iter().zip(&nudge).map(|(p, d)| (p + d).max(0.0)).collect();
            let other = Multinomial::new(&moved).unwrap();
            let likelihood = |family: &Multinomial| rows.iter().map(|row| family.log_probability(row).unwrap()).sum::<f64>();
            let (best, near) = (likelihood(&fitted), likelihood(&other));
            prop_assert!(near <= best + 1e-7, "{near} is above {best}");
        }
    }
}
