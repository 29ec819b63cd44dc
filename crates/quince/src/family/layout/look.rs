//! A first look at dense columns: what there is to know before blocks are laid out, in one pass over all of them.

use crate::family::block::{TILE, Tile};
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{Features, cuts, partials};
use crate::run::Run;

/// What a column holds; holes are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) known: usize,
    /// How much the rows count, and what they add up to.
    weight: f64,
    sum: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// All values are whole numbers.
    pub(crate) whole: bool,
    pub(crate) holes: bool,
    /// The least and the largest value of a row that counts.
    counted: (f64, f64),
}

impl Look {
    fn nothing() -> Look {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        Look { known: 0, weight: 0.0, sum: 0.0, least, most, whole: true, holes: false, counted: (least, most) }
    }

    fn join(&mut self, other: &Look) {
        self.known += other.known;
        self.weight += other.weight;
        self.sum += other.sum;
        self.counted = (self.counted.0.min(other.counted.0), self.counted.1.max(other.counted.1));
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.whole &= other.whole;
        self.holes |= other.holes;
    }

    /// The mean, or 0 of nothing.
    pub(crate) fn mean(&self) -> f64 {
        if self.weight > 0.0 { self.sum / self.weight } else { 0.0 }
    }

    /// Whether rows that count have two different values.
    pub(crate) fn varies(&self) -> bool {
        self.counted.0 < self.counted.1
    }

    /// With rows that count by weights.
    fn weighed(mut self, values: &[f64], weights: &[f64]) -> Look {
        (self.weight, self.sum, self.counted) = (0.0, 0.0, Look::nothing().counted);
        for (&x, &weight) in values.iter().zip(weights).filter(|(x, weight)| !x.is_nan() && **weight > 0.0) {
            self.weight += weight;
            self.sum += weight * x;
            self.counted = (self.counted.0.min(x), self.counted.1.max(x));
        }
        self
    }

    /// Whether all values are whole and not below zero.
    pub(crate) fn counts(&self) -> bool {
        self.whole && (self.known == 0 || self.least >= 0.0)
    }
}

/// Looks at every dense column.
pub(crate) fn look(features: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Vec<Look> {
    let ranges = cuts(features.rows(), partials(features.rows()));
    let parts = run.map(ranges.len(), |part| {
        let (mut tile, mut looks) = (Tile::new(features), vec![Look::nothing(); features.dense_columns()]);
        for start in ranges[part].clone().step_by(TILE) {
            let rows = start..(start + TILE).min(ranges[part].end);
            tile.fill(features, rows.clone());
            for (j, look) in looks.iter_mut().enumerate() {
                let some = look_at(tile.column(j));
                look.join(&match weights {
                    Some(weights) => some.weighed(tile.column(j), &weights[rows.clone()]),
                    None => some,
                });
            }
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
pub(crate) fn extremes(values: &[f64], run: &Run) -> (f64, f64) {
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
        let weight = known.iter().sum::<f64>();
        let (known, least) = (weight as usize, least.iter().copied().fold(f64::INFINITY, f64::min));
        let most = most.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Look {
            known,
            weight,
            sum: sums.iter().sum(),
            least,
            most,
            counted: (least, most),
            whole: broken.iter().all(|&count| count == 0.0),
            holes: known < values.len(),
        }
    }
}
