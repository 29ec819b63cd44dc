//! A table of logarithms, one for every word and component, by which sparse rows are scored under all components at once.

use crate::matrix::simd::{LANES, vectorised};
use crate::run::Run;

/// The logarithms of this many words are computed at a time.
const WORDS_AT_A_TIME: usize = 4096;

/// The scores of this many components are added up at a time.
pub(super) const COMPONENTS_IN_REGISTERS: usize = 3 * LANES;

/// A logarithm for every word and component; those of a word are contiguous.
#[derive(Clone, Debug, Default)]
pub(super) struct LogTable {
    components: usize,
    /// Padded after the last word by a few components.
    values: Vec<f64>,
    /// Whether all are finite.
    finite: bool,
}

impl LogTable {
    pub(super) fn new(
        components: usize,
        words: usize,
        run: &Run,
        log: impl Fn(usize, usize) -> f64 + Sync,
    ) -> LogTable {
        let mut values = vec![0.0; words * components + LANES / 2];
        let mut pieces: Vec<(&mut [f64], bool)> = values[..words * components]
            .chunks_mut((WORDS_AT_A_TIME * components).max(1))
            .map(|piece| (piece, true))
            .collect();
        run.each(&mut pieces, |piece, (values, finite)| {
            for (j, logs) in values.chunks_exact_mut(components).enumerate() {
                for (k, place) in logs.iter_mut().enumerate() {
                    *place = log(k, piece * WORDS_AT_A_TIME + j);
                    *finite &= place.is_finite();
                }
            }
        });
        let finite = pieces.iter().all(|(_, finite)| *finite);
        LogTable { components, values, finite }
    }

    pub(super) fn get(&self, component: usize, word: usize) -> f64 {
        self.values[word * self.components + component]
    }

    /// Adds x ln p to the scores of all components for every word of a row; places are counted from `first`.
    /// The number of components; zero before anything is learnt.
    pub(super) fn components(&self) -> usize {
        self.components
    }

    /// All logarithms, word after word.
    pub(super) fn values(&self) -> &[f64] {
        &self.values[..self.values.len().saturating_sub(LANES / 2)]
    }

    /// Adds x ln p to the scores of all components for every word of a row; places are counted from `first`.
    pub(super) fn add(&self, places: &[u32], first: usize, values: &[f64], sums: &mut [f64]) {
        if self.finite {
            return add_words(places, first, values, &self.values, sums);
        }
        // A count of zero contributes nothing, even if the word is impossible.
        for (&place, &x) in places.iter().zip(values).filter(|(_, x)| **x != 0.0) {
            let word = (place as usize - first) * self.components;
            let logs = &self.values[word..word + self.components];
            sums.iter_mut().zip(logs).for_each(|(sum, log)| *sum += x * log);
        }
    }
}

vectorised! {
    fn add_words(places: &[u32], first: usize, values: &[f64], logs: &[f64], sums: &mut [f64]) {
        let components = sums.len();
        for (block, sums) in sums.chunks_mut(COMPONENTS_IN_REGISTERS).enumerate() {
            let at = |place: u32| (place as usize - first) * components + block * COMPONENTS_IN_REGISTERS;
            // The scores of this many components stay in registers.
            match sums.len().div_ceil(LANES / 2) {
                1 => add_few::<4>(places, values, logs, at, sums),
                2 => add_few::<8>(places, values, logs, at, sums),
                3 => add_few::<12>(places, values, logs, at, sums),
                4 => add_few::<16>(places, values, logs, at, sums),
                5 => add_few::<20>(places, values, logs, at, sums),
                _ => add_few::<24>(places, values, logs, at, sums),
            }
        }
    }
}

/// As [`add_words`] for N components, or up to three less: the excess is dropped in the end.
#[inline(always)]
fn add_few<const N: usize>(places: &[u32], values: &[f64], logs: &[f64], at: impl Fn(u32) -> usize, sums: &mut [f64]) {
    let mut found = [0.0; N];
    for (&place, x) in places.iter().zip(values) {
        let logs = logs[at(place)..].first_chunk::<N>().expect("room after the last word");
        for l in 0..N {
            found[l] += x * logs[l];
        }
    }
    sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
}
