//! A first look at dense columns: what there is to know before blocks are laid out, in one pass over all of them.

use crate::family::block::{TILE, Tile};
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{Features, cuts, partials};
use crate::run::Run;

/// What a column holds; holes are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) known: usize,
    pub(super) sum: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// All values are whole numbers.
    pub(super) whole: bool,
    pub(super) holes: bool,
}

impl Look {
    fn nothing() -> Look {
        Look { known: 0, sum: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY, whole: true, holes: false }
    }

    fn join(&mut self, other: &Look) {
        self.known += other.known;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.whole &= other.whole;
        self.holes |= other.holes;
    }

    /// The mean, or 0 of nothing.
    pub(super) fn mean(&self) -> f64 {
        if self.known > 0 { self.sum / self.known as f64 } else { 0.0 }
    }

    /// Whether there are two different values.
    pub(super) fn varies(&self) -> bool {
        self.least < self.most
    }

    /// Whether all values are whole and not below zero.
    pub(super) fn counts(&self) -> bool {
        self.whole && (self.known == 0 || self.least >= 0.0)
    }
}

/// Looks at every dense column.
pub(super) fn look(features: &Features<'_>, run: &Run) -> Vec<Look> {
    let ranges = cuts(features.rows(), partials(features.rows()));
    let parts = run.map(ranges.len(), |part| {
        let (mut tile, mut looks) = (Tile::new(features), vec![Look::nothing(); features.dense_columns()]);
        for start in ranges[part].clone().step_by(TILE) {
            tile.fill(features, start..(start + TILE).min(ranges[part].end));
            looks.iter_mut().enumerate().for_each(|(j, look)| look.join(&look_at(tile.column(j))));
        }
        looks
    });
    let mut all = vec![Look::nothing(); features.dense_columns()];
    for part in parts {
        all.iter_mut().zip(&part).for_each(|(all, part)| all.join(part));
    }
    all
}

/// The least and the largest number, or 0 if all are above or below; NaN is left out.
pub(super) fn extremes(values: &[f64], run: &Run) -> (f64, f64) {
    let pieces: Vec<&[f64]> = values.chunks(1 << 20).collect();
    let looks = run.map(pieces.len(), |piece| look_at(pieces[piece]));
    looks.iter().fold((0.0, 0.0), |(least, most), look| (look.least.min(least), look.most.max(most)))
}

vectorised! {
    /// What some numbers hold, in eight lanes.
    fn look_at(values: &[f64]) -> Look {
        let (blocks, rest) = values.as_chunks::<LANES>();
        let (mut known, mut broken, mut sums) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut last = [f64::NAN; LANES];
        last[..rest.len()].copy_from_slice(rest);
        for block in blocks.iter().chain([&last]) {
            for l in 0..LANES {
                let x = block[l];
                known[l] += if x.is_nan() { 0.0 } else { 1.0 };
                broken[l] += if x.is_nan() || x.trunc() == x { 0.0 } else { 1.0 };
                sums[l] += if x.is_nan() { 0.0 } else { x };
                least[l] = if x < least[l] { x } else { least[l] };
                most[l] = if x > most[l] { x } else { most[l] };
            }
        }
        let known = known.iter().sum::<f64>() as usize;
        Look {
            known,
            sum: sums.iter().sum(),
            least: least.iter().copied().fold(f64::INFINITY, f64::min),
            most: most.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            whole: broken.iter().all(|&count| count == 0.0),
            holes: known < values.len(),
        }
    }
}
