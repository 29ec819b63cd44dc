//! Sums of all components at once, of rows that have a share in each: what a step of EM is made of.

use super::{Family, Scores, Tile};
use crate::matrix::Matrix;

/// Sums that grow tile by tile; a row counts in a component as much as its share.
pub(crate) trait Gather: Send {
    /// Adds the log likelihood of a tile's rows under each component to the scores, and remembers of it what [`Gather::add`] needs.
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores);

    /// Adds the rows of a tile, which were scored just before.
    fn add(&mut self, tile: &Tile<'_>, shares: &Scores);

    /// The sums, a row a component.
    fn sums(self: Box<Self>) -> Matrix;
}

/// Every component by itself, its shares as weights.
pub(super) struct OneByOne<'a, F> {
    family: &'a F,
    sums: Matrix,
}

impl<'a, F: Family> OneByOne<'a, F> {
    pub(super) fn new(family: &'a F, components: usize) -> OneByOne<'a, F> {
        OneByOne { family, sums: Matrix::zeros(components, family.sums()) }
    }
}

impl<F: Family> Gather for OneByOne<'_, F> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.family.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, shares: &Scores) {
        for k in 0..self.sums.rows() {
            self.family.add(k, self.sums.row_mut(k), tile, Some(shares.of(k)));
        }
    }

    fn sums(self: Box<Self>) -> Matrix {
        self.sums
    }
}
