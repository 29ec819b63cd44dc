//! Statistics of sparse words, weighted by responsibilities: all components of a word at once.

use super::Multinomials;
use crate::family::block::log_table::COMPONENTS_IN_REGISTERS;
use crate::family::block::{Family, Gather, Place, Scores, Tile};
use crate::matrix::Matrix;
use crate::matrix::simd::{LANES, vectorised};

/// Statistics of sparse words; the components of a word are contiguous.
pub(super) struct SparseStatistics<'a> {
    words: &'a Multinomials,
    components: usize,
    /// Padded after the last word by a few components.
    counts: Vec<f64>,
    rows: Vec<f64>,
}

impl<'a> SparseStatistics<'a> {
    pub(super) fn new(words: &'a Multinomials, components: usize) -> SparseStatistics<'a> {
        let counts = vec![0.0; words.width() * components + LANES / 2];
        SparseStatistics { words, components, counts, rows: vec![0.0; components] }
    }
}

impl Gather for SparseStatistics<'_> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.words.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, responsibilities: &Scores) {
        let Place::Sparse { first, width } = self.words.place else { return };
        let mut own = vec![0.0; self.components];
        for i in 0..tile.rows() {
            let Some((places, values)) = tile.sparse_row(i, first, width) else { continue };
            for (k, (own, rows)) in own.iter_mut().zip(&mut self.rows).enumerate() {
                *own = responsibilities.of(k)[i];
                *rows += *own;
            }
            add_weighted_words(places, first, values, &own, &mut self.counts);
        }
    }

    fn statistics(self: Box<Self>) -> Matrix {
        let width = self.words.width();
        let mut statistics = Matrix::zeros(self.components, width + 1);
        for k in 0..self.components {
            let row = statistics.row_mut(k);
            row.iter_mut().zip(self.counts.iter().skip(k).step_by(self.components)).for_each(|(sum, n)| *sum = *n);
            row[width] = self.rows[k];
        }
        statistics
    }
}

vectorised! {
    /// Adds x times each responsibility to the counts of every word of a row.
    fn add_weighted_words(places: &[u32], first: usize, values: &[f64], responsibilities: &[f64], counts: &mut [f64]) {
        let components = responsibilities.len();
        for (block, responsibilities) in responsibilities.chunks(COMPONENTS_IN_REGISTERS).enumerate() {
            let at = |place: u32| (place as usize - first) * components + block * COMPONENTS_IN_REGISTERS;
            // The excess components are added with weight zero.
            match responsibilities.len().div_ceil(LANES / 2) {
                1 => add_weighted_few::<4>(places, values, responsibilities, at, counts),
                2 => add_weighted_few::<8>(places, values, responsibilities, at, counts),
                3 => add_weighted_few::<12>(places, values, responsibilities, at, counts),
                4 => add_weighted_few::<16>(places, values, responsibilities, at, counts),
                5 => add_weighted_few::<20>(places, values, responsibilities, at, counts),
                _ => add_weighted_few::<24>(places, values, responsibilities, at, counts),
            }
        }
    }
}

/// As [`add_weighted_words`] for N components, or up to three less.
#[inline(always)]
fn add_weighted_few<const N: usize>(
    places: &[u32],
    values: &[f64],
    responsibilities: &[f64],
    at: impl Fn(u32) -> usize,
    counts: &mut [f64],
) {
    let mut own = [0.0; N];
    own[..responsibilities.len()].copy_from_slice(responsibilities);
    for (&place, x) in places.iter().zip(values) {
        let counts = counts[at(place)..].first_chunk_mut::<N>().expect("room after the last word");
        for l in 0..N {
            counts[l] += x * own[l];
        }
    }
}
