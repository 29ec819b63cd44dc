//! Random numbers: ChaCha with 8 rounds, keyed by the seed, one stream per task. What is drawn from the bits is defined
//! here and not by another crate's version, so that a seed means the same in every release.

use super::chacha::ChaCha8;
use std::fmt;

/// A stream of random numbers.
///
/// ```
/// use quince::run::Stream;
/// let (mut one, mut same) = (Stream::new(7, 0), Stream::new(7, 0));
/// assert_eq!(one.bits(), same.bits());
/// assert!(one.below(6) < 6 && (0.0..1.0).contains(&one.uniform()));
/// ```
#[derive(Clone)]
pub struct Stream(ChaCha8);

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Stream {
    /// Stream number `task` of the generator keyed by `seed`.
    ///
    /// ```
    /// use quince::run::Stream;
    /// // The same seed and task give the same numbers; another task gives others.
    /// assert_eq!(Stream::new(7, 0).bits(), Stream::new(7, 0).bits());
    /// assert_ne!(Stream::new(7, 0).bits(), Stream::new(7, 1).bits());
    /// ```
    pub fn new(seed: u64, task: u64) -> Stream {
        Stream(ChaCha8::new(seed, task))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next()
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `bound`, every one equally likely (Lemire's multiplication with rejection).
    ///
    /// # Panics
    /// If `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "there is no number below zero");
        let bound = bound as u64;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            // What is rejected is below the remainder of 2⁶⁴, hence below the bound: the division is hardly ever needed.
            if product as u64 >= bound || product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as usize;
            }
        }
    }

    /// A standard normal number, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                return u * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// Shuffles in place, every order equally likely (Fisher and Yates).
    ///
    /// ```
    /// let mut items = [1, 2, 3, 4];
    /// quince::run::Stream::new(7, 0).shuffle(&mut items);
    /// items.sort_unstable();
    /// assert_eq!(items, [1, 2, 3, 4]);
    /// ```
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_differ() {
        let draw = |seed, task| {
            (0..4)
                .map({
                    let mut s = Stream::new(seed, task);
                    move |_| s.bits()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
    }

    #[test]
    fn below_reaches_every_number_about_equally() {
        let mut stream = Stream::new(3, 0);
        let mut seen = [0usize; 6];
        (0..60_000).for_each(|_| seen[stream.below(6)] += 1);
        // Standard deviation of each count is about 91.
        assert!(seen.iter().all(|&count| count.abs_diff(10_000) < 460), "{seen:?}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..50).collect();
        Stream::new(5, 0).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
