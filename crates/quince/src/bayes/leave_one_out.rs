//! Exact leave-one-out predictions without refitting: a row is subtracted from the statistics of its class and from the
//! prior. What all rows together have fixed stays as it is: families, bins, vocabulary, bandwidths, variance floors, overall
//! means (towards which small counts are smoothed) and axes. Calibration allows for it (`calibrate.rs`), and what is called exact has
//! none of it but vocabularies and variance floors.

use super::model::BayesModel;
use crate::error::Result;
use crate::family::block::{Scores, Tile};
use crate::family::statistics::Members;
use crate::learn::Prediction;
use crate::matrix::{Features, Matrix};
use crate::passes::cuts;
use crate::run::Run;

impl BayesModel {
    /// Leave-one-out scores and probabilities of every row; the calibration is that of all rows.
    pub(super) fn without_each(&self, features: &Features<'_>, members: &Members<'_>, run: &Run) -> Result<Prediction> {
        let likelihoods = self.likelihoods_without_each(features, members, run)?;
        let mut scores = Matrix::zeros(features.rows(), self.totals.len());
        for (place, &row) in members.order().iter().enumerate() {
            scores.row_mut(row).copy_from_slice(likelihoods.row(place));
        }
        members.each_tile(0..features.rows(), |class, rows, weights| {
            let alike = self.priors_without(class, 1.0);
            for (i, &row) in rows.iter().enumerate() {
                match weights {
                    Some(weights) => self.weigh(scores.row_mut(row), &self.priors_without(class, weights[i])),
                    None => self.weigh(scores.row_mut(row), &alike),
                }
            }
        });
        Ok(self.with_probabilities(scores, run))
    }

    /// The leave-one-out log likelihood of every member under each class, one row per member, in their order.
    pub(super) fn likelihoods_without_each(
        &self,
        features: &Features<'_>,
        members: &Members<'_>,
        run: &Run,
    ) -> Result<Matrix> {
        let (rows, classes) = (members.rows(), self.totals.len());
        let mut likelihoods = Vec::with_capacity(rows * classes);
        // Some rows need a factorisation of their own.
        let width = self.product.dense.min(1000);
        let step = (20_000_000 / (self.product.cost() * width.max(1)).max(1)).clamp(16, 2048);
        let pieces = cuts(rows, (rows / step).max(1));
        for some in pieces.chunks(8) {
            let found = run.map(some.len(), |at| {
                let (mut tile, mut lines) = (Tile::new(features), Scores::new(classes));
                let mut found = Vec::with_capacity(some[at].len() * classes);
                members.each_tile(some[at].clone(), |class, rows, weights| {
                    tile.fill(features, rows.iter().copied());
                    lines.start(rows.len(), &vec![0.0; classes]);
                    for (block, statistics) in self.product.blocks.iter().zip(&self.product.statistics) {
                        block.family().score_without(class, statistics, &tile, weights, &mut lines);
                    }
                    (0..rows.len()).for_each(|i| found.extend((0..classes).map(|k| lines.of(k)[i])));
                });
                found
            });
            found.into_iter().for_each(|found| likelihoods.extend(found));
            run.check()?;
        }
        Matrix::new(rows, classes, likelihoods)
    }

    /// The log priors when a row of a class is left out.
    fn priors_without(&self, class: usize, weight: f64) -> Vec<f64> {
        let mut totals = self.totals.clone();
        let left = totals[class] - weight;
        totals[class] = if left <= 1e-12 * totals[class] { 0.0 } else { left };
        self.priors.logs(&totals)
    }
}
