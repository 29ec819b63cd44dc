//! The E-step: a pass over rows that scores each under every component, turns the scores into responsibilities, and adds
//! the row, weighted by them, to the statistics of every block.

use super::{LabelledRows, NO_CLASS, State};
use crate::error::{Error, Result};
use crate::family::block::{Gather, Scores, TILE, Tile};
use crate::matrix::{Matrix, Rows};
use crate::passes::{Merge, Pass};
use crate::run::Run;
use std::ops::Range;

/// The memory for statistics of parts, as far as two parts allow: large statistics take long to add up.
const STATISTICS_BUDGET_BYTES: usize = 64 << 20;

/// What is expected of rows under the present parameters.
pub(crate) struct Expectation {
    /// The log likelihood of all rows.
    pub(crate) likelihood: f64,
    /// The total responsibility of each component.
    pub(crate) totals: Vec<f64>,
    /// For each block a matrix with one row per component.
    pub(crate) statistics: Vec<Matrix>,
    /// The row without a class that fits worst.
    pub(crate) worst: WorstRow,
    /// Says where an infinite number is, if there is one.
    infinite: Option<Error>,
}

/// A row and its log density.
pub(crate) struct WorstRow {
    density: f64,
    /// `None` before any row.
    pub(crate) row: Option<Rows>,
}

impl Expectation {
    fn of_nothing(components: usize) -> Expectation {
        Expectation {
            likelihood: 0.0,
            totals: vec![0.0; components],
            statistics: Vec::new(),
            worst: WorstRow { density: f64::INFINITY, row: None },
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
        if later.worst.density < self.worst.density {
            self.worst = later.worst;
        }
        self.infinite = self.infinite.take().or(later.infinite);
    }
}

impl State {
    /// The expectation of rows.
    pub(crate) fn expect<C: LabelledRows>(
        &self,
        chunks: impl IntoIterator<Item = Result<C>>,
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
        let add = |part: &mut PartialExpectation<'_>, rows: &C, places| part.add(self, rows, places);
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
    fn add(&mut self, state: &State, data: &impl LabelledRows, places: Range<usize>) {
        let features = data.features();
        let mut tile = Tile::new(&features);
        let mut scores = Scores::new(state.totals.len());
        let (mut sound, mut worst) = (true, None);
        for first in places.clone().step_by(TILE) {
            let rows = (first..(first + TILE).min(places.end)).map(|place| data.row(place));
            tile.fill(&features, rows);
            scores.start(tile.rows(), &state.log_weights);
            for gathered in &mut self.gathered {
                gathered.score(&tile, &mut scores);
            }
            sound &= features.sparse_part().is_none() || !scores.has_nan();
            worst = self.add_tile(state, data, &tile, first, &mut scores).or(worst);
        }
        if let Some(worst) = worst {
            self.expectation.worst.row = Some(features.take(&[worst]));
        }
        if !(sound && tile.is_finite()) {
            self.expectation.infinite.get_or_insert_with(|| features.infinite_from(data.first()));
        }
    }

    /// Adds the rows of a tile, the first of which is at this place, by their scores, which become responsibilities. Returns the row
    /// that fits worst, if it fits worse than all before.
    fn add_tile(
        &mut self,
        state: &State,
        data: &impl LabelledRows,
        tile: &Tile<'_>,
        first: usize,
        scores: &mut Scores,
    ) -> Option<usize> {
        let rows = tile.rows();
        let (all, mut worst) = (&mut self.expectation, None);
        if data.classes().is_some() {
            scores.mask_classes((0..rows).map(|i| data.class(data.row(first + i))), &state.class_of);
        }
        // A row that is impossible under every component has no responsibilities.
        let (mut densities, mut weights, nothing) = ([0.0; TILE], [1.0; TILE], vec![0.0; state.totals.len()]);
        if data.weights().is_some() {
            for (i, weight) in weights[..rows].iter_mut().enumerate() {
                *weight = data.weight(data.row(first + i));
            }
        }
        scores.make_responsibilities(&weights[..rows], &nothing, &mut densities[..rows]);
        for (i, density) in densities[..rows].iter().enumerate().filter(|(i, _)| weights[*i] > 0.0) {
            all.likelihood += if density.is_finite() { weights[i] * density } else { 0.0 };
            // A row with a class belongs to the components of that class alone.
            if *density < all.worst.density && data.class(data.row(first + i)) == NO_CLASS {
                all.worst.density = *density;
                worst = Some(data.row(first + i));
            }
        }
        for (k, total) in all.totals.iter_mut().enumerate() {
            *total += scores.of(k).iter().sum::<f64>();
        }
        for gathered in &mut self.gathered {
            gathered.add(tile, scores);
        }
        worst
    }

    fn finish(self) -> Expectation {
        let statistics = self.gathered.into_iter().map(|gathered| gathered.statistics()).collect();
        Expectation { statistics, ..self.expectation }
    }
}
