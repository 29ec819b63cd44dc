//! A first look at dense columns: what there is to know before blocks are laid out, in one pass over all of them.

use crate::family::block::{TILE, Tile};
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

    fn add(&mut self, column: &[f64]) {
        for &x in column {
            let there = !x.is_nan();
            self.known += usize::from(there);
            self.sum += if there { x } else { 0.0 };
            self.least = if x < self.least { x } else { self.least };
            self.most = if x > self.most { x } else { self.most };
            self.whole &= !there || x.trunc() == x;
            self.holes |= !there;
        }
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
            looks.iter_mut().enumerate().for_each(|(j, look)| look.add(tile.column(j)));
        }
        looks
    });
    let mut all = vec![Look::nothing(); features.dense_columns()];
    for part in parts {
        all.iter_mut().zip(&part).for_each(|(all, part)| all.join(part));
    }
    all
}
