//! The E-step's sufficient statistics: those of all components at once, weighted by responsibilities.

use super::{Family, Scores, Tile};
use crate::matrix::Matrix;

/// Statistics that grow tile by tile; a row is weighted by its responsibilities.
pub(crate) trait Gather: Send {
    /// Adds the log likelihood of a tile's rows under each component to the scores, and keeps what [`Gather::add`] needs.
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores);

    /// Adds the rows of a tile, which must have been scored just before.
    fn add(&mut self, tile: &Tile<'_>, responsibilities: &Scores);

    /// The statistics, one row per component.
    fn statistics(self: Box<Self>) -> Matrix;
}

/// One component after another, with its responsibilities as weights.
pub(super) struct OneByOne<'a, F> {
    family: &'a F,
    statistics: Matrix,
}

impl<'a, F: Family> OneByOne<'a, F> {
    pub(super) fn new(family: &'a F, components: usize) -> OneByOne<'a, F> {
        OneByOne { family, statistics: Matrix::zeros(components, family.statistic_count()) }
    }
}

impl<F: Family> Gather for OneByOne<'_, F> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.family.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, responsibilities: &Scores) {
        for k in 0..self.statistics.rows() {
            self.family.add(k, self.statistics.row_mut(k), tile, Some(responsibilities.of(k)));
        }
    }

    fn statistics(self: Box<Self>) -> Matrix {
        self.statistics
    }
}
