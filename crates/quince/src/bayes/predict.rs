//! Predictions of a fitted model: scores, probabilities, or the most probable class alone.

use super::model::BayesModel;
use crate::calibration::Calibration;
use crate::error::Result;
use crate::family::block::{Scores, TILE};
use crate::learn::{Prediction, largest};
use crate::matrix::{Features, Matrix};
use crate::run::Run;

impl BayesModel {
    /// The calibrated scores ln P(class) + bias + t ln p(row | class), one row per row and one column per class.
    pub fn scores(&self, features: &Features<'_>, run: &Run) -> Result<Matrix> {
        let classes = self.totals.len();
        let scores = self.product.ask(features, classes, run, |lines, out| self.write_scores(lines, out))?;
        Matrix::new(features.rows(), classes, scores)
    }

    /// The probability of each class.
    pub fn probabilities(&self, features: &Features<'_>, run: &Run) -> Result<Matrix> {
        let classes = self.totals.len();
        let probabilities = self.product.ask(features, classes, run, |lines, out| {
            self.write_scores(lines, out);
            self.to_probabilities(out);
        })?;
        Matrix::new(features.rows(), classes, probabilities)
    }

    /// The code of the most probable class, on a tie the first.
    pub fn labels(&self, features: &Features<'_>, run: &Run) -> Result<Vec<u32>> {
        let classes = self.totals.len();
        if self.calibration != Calibration::none(classes) {
            return self.product.ask(features, 1, run, |lines, labels: &mut [u32]| {
                let mut scores = vec![0.0; labels.len() * classes];
                self.write_scores(lines, &mut scores);
                labels.iter_mut().zip(scores.chunks_exact(classes)).for_each(|(label, row)| *label = largest(row));
            });
        }
        let likeliest = largest(&self.log_priors);
        self.product.ask(features, 1, run, |lines, labels: &mut [u32]| {
            let mut best = [f64::NEG_INFINITY; TILE];
            labels.fill(likeliest);
            for (k, prior) in self.log_priors.iter().enumerate() {
                for ((score, best), label) in lines.of(k).iter().zip(&mut best).zip(&mut *labels) {
                    let score = prior + score;
                    (*best, *label) = if score > *best { (score, k as u32) } else { (*best, *label) };
                }
            }
        })
    }

    /// Scores and probabilities.
    pub(super) fn both(&self, features: &Features<'_>, run: &Run) -> Result<Prediction> {
        let scores = self.scores(features, run)?;
        Ok(self.with_probabilities(scores, run))
    }

    fn write_scores(&self, lines: &Scores, scores: &mut [f64]) {
        let classes = lines.components();
        for k in 0..classes {
            scores.iter_mut().skip(k).step_by(classes).zip(lines.of(k)).for_each(|(score, &said)| *score = said);
        }
        scores.chunks_exact_mut(classes).for_each(|row| self.weigh(row, &self.log_priors));
    }

    /// The score of a class where columns say nothing for or against it.
    pub(super) fn start(&self, class: usize) -> f64 {
        self.log_priors[class] + self.calibration.biases[class]
    }

    /// Turns log likelihoods of a row into scores. A row that is impossible under every class gets the priors.
    pub(super) fn weigh(&self, row: &mut [f64], log_priors: &[f64]) {
        self.calibration.weigh(row, log_priors);
    }

    /// Scores together with the probabilities that follow from them.
    pub(super) fn with_probabilities(&self, scores: Matrix, run: &Run) -> Prediction {
        let (mut probabilities, classes) = (scores.clone(), scores.columns().max(1));
        let mut pieces: Vec<&mut [f64]> = probabilities.values_mut().chunks_mut(64 * TILE * classes).collect();
        run.each(&mut pieces, |_, scores| self.to_probabilities(scores));
        Prediction::Classes { scores, probabilities }
    }

    /// Turns scores of rows into probabilities.
    fn to_probabilities(&self, scores: &mut [f64]) {
        self.calibration.to_probabilities(scores, &self.log_priors);
    }
}
