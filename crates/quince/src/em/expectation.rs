//! The E-step: a pass over rows that scores each under every component, turns the scores into responsibilities, and adds
//! the row, weighted by them, to the statistics of every block.

use super::{Data, NO_CLASS, State};
use crate::error::{Error, Result};
use crate::family::block::{Gather, Scores, TILE, Tile};
use crate::matrix::Matrix;
use crate::passes::{Chunk, Merge, Pass, at_hand};
use crate::run::Run;
use std::ops::Range;

/// The memory for statistics of parts, as far as two parts allow: large statistics take long to add up.
const STATISTICS_BUDGET_BYTES: usize = 64 << 20;

impl Chunk for Data<'_> {
    fn count(&self) -> usize {
        self.features.rows()
    }
}

/// What is expected of rows under the present parameters.
pub(crate) struct Expectation {
    /// The log likelihood of all rows.
    pub(crate) likelihood: f64,
    /// The total responsibility of each component.
    pub(crate) totals: Vec<f64>,
    /// For each block a matrix with one row per component.
    pub(crate) statistics: Vec<Matrix>,
    /// The log density of the row without a class that fits worst, and which row that is.
    pub(crate) worst: (f64, Option<usize>),
    /// Says where an infinite number is, if there is one.
    infinite: Option<Error>,
}

impl Expectation {
    fn of_nothing(components: usize) -> Expectation {
        Expectation {
            likelihood: 0.0,
            totals: vec![0.0; components],
            statistics: Vec::new(),
            worst: (f64::INFINITY, None),
            infinite: None,
        }
    }
}

impl Merge for Expectation {
    fn merge(&mut self, later: Expectation) {
        self.likelihood.merge(later.likelihood);
        self.totals.merge(later.totals);
        for (all, later) in self.statistics.iter_mut().zip(later.statistics) {
            all.merge(later);
        }
        if later.worst.0 < self.worst.0 {
            self.worst = later.worst;
        }
        self.infinite = self.infinite.take().or(later.infinite);
    }
}

impl State {
    /// The expectation of rows that are in memory.
    pub(super) fn expect_in_memory(&self, data: &Data<'_>, run: &Run) -> Result<Expectation> {
        self.expect(at_hand(data), data.features.row_cost(), run)
    }

    /// The expectation of rows that come in chunks.
    pub(crate) fn expect<'d>(
        &self,
        chunks: impl IntoIterator<Item = Result<&'d Data<'d>>>,
        row_cost: usize,
        run: &Run,
    ) -> Result<Expectation> {
        let components = self.totals.len();
        let blocks = &self.product.blocks;
        let numbers: usize = self.product.statistics.iter().map(|statistics| statistics.values().len()).sum();
        // A number of parts that two or four threads share equally.
        let affordable =
            [8, 4, 2].into_iter().find(|parts| parts * 8 * numbers <= STATISTICS_BUDGET_BYTES).unwrap_or(2);
        let cost = row_cost * components + 2 * self.product.cost();
        let pass = Pass::new((20_000_000 / cost / TILE).clamp(1, 64) * TILE, run).in_parts(affordable);
        let empty = || PartialExpectation {
            gathered: blocks.iter().map(|block| block.family().gather(components)).collect(),
            expectation: Expectation::of_nothing(components),
        };
        let add = |part: &mut PartialExpectation<'_>, data: &&Data<'_>, places| part.add(self, data, places);
        let mut expectation = pass.gather_by(chunks, empty, add, PartialExpectation::finish)?;
        match expectation.infinite.take() {
            Some(error) => Err(error),
            None => Ok(expectation),
        }
    }
}

/// The expectation of a part of the rows, its statistics in the form in which blocks gather them.
struct PartialExpectation<'b> {
    gathered: Vec<Box<dyn Gather + 'b>>,
    expectation: Expectation,
}

impl PartialExpectation<'_> {
    fn add(&mut self, state: &State, data: &Data<'_>, places: Range<usize>) {
        let mut tile = Tile::new(data.features);
        let mut scores = Scores::new(state.totals.len());
        let mut sound = true;
        for first in places.clone().step_by(TILE) {
            let rows = (first..(first + TILE).min(places.end)).map(|place| data.row(place));
            tile.fill(data.features, rows);
            scores.start(tile.rows(), &state.log_weights);
            for gathered in &mut self.gathered {
                gathered.score(&tile, &mut scores);
            }
            sound &= data.features.sparse_part().is_none() || !scores.has_nan();
            self.add_tile(state, data, &tile, first, &mut scores);
        }
        if !(sound && tile.is_finite()) {
            self.expectation.infinite.get_or_insert_with(|| data.features.infinite());
        }
    }

    /// Adds the rows of a tile, the first of which is at this place, by their scores, which become responsibilities.
    fn add_tile(&mut self, state: &State, data: &Data<'_>, tile: &Tile<'_>, first: usize, scores: &mut Scores) {
        let rows = tile.rows();
        let all = &mut self.expectation;
        if data.classes.is_some() {
            scores.mask_classes((0..rows).map(|i| data.class(data.row(first + i))), &state.class_of);
        }
        // A row that is impossible under every component has no responsibilities.
        let (mut densities, mut weights, nothing) = ([0.0; TILE], [1.0; TILE], vec![0.0; state.totals.len()]);
        if data.weights.is_some() {
            for (i, weight) in weights[..rows].iter_mut().enumerate() {
                *weight = data.weight(data.row(first + i));
            }
        }
        scores.make_responsibilities(&weights[..rows], &nothing, &mut densities[..rows]);
        for (i, density) in densities[..rows].iter().enumerate().filter(|(i, _)| weights[*i] > 0.0) {
            all.likelihood += if density.is_finite() { weights[i] * density } else { 0.0 };
            // A row with a class belongs to the components of that class alone.
            if *density < all.worst.0 && data.class(data.row(first + i)) == NO_CLASS {
                all.worst = (*density, Some(data.row(first + i)));
            }
        }
        for (k, total) in all.totals.iter_mut().enumerate() {
            *total += scores.of(k).iter().sum::<f64>();
        }
        for gathered in &mut self.gathered {
            gathered.add(tile, scores);
        }
    }

    fn finish(self) -> Expectation {
        let statistics = self.gathered.into_iter().map(|gathered| gathered.statistics()).collect();
        Expectation { statistics, ..self.expectation }
    }
}
