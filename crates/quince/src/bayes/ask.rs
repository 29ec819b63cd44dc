//! What a fitted model says of rows: scores, probabilities, or just the likeliest class.

use super::model::BayesModel;
use crate::error::Result;
use crate::family::block::{Scores, TILE};
use crate::learn::{Prediction, largest};
use crate::matrix::simd::exp;
use crate::matrix::{Features, Matrix};
use crate::run::Run;

impl BayesModel {
    /// ln p(class) + t ln p(row | class), a row a row and a column a class.
    pub fn scores(&self, features: &Features<'_>, run: &Run) -> Result<Matrix> {
        let classes = self.totals.len();
        let scores = self.product.ask(features, classes, run, |lines, out| self.write_scores(lines, out))?;
        Matrix::new(features.rows(), classes, scores)
    }

    /// The probability of each class.
    pub fn probabilities(&self, features: &Features<'_>, run: &Run) -> Result<Matrix> {
        let classes = self.totals.len();
        let shares = self.product.ask(features, classes, run, |lines, out| {
            self.write_scores(lines, out);
            self.to_probabilities(out);
        })?;
        Matrix::new(features.rows(), classes, shares)
    }

    /// The number of the likeliest class, the first of several.
    pub fn labels(&self, features: &Features<'_>, run: &Run) -> Result<Vec<u32>> {
        let starts: Vec<f64> = (0..self.totals.len()).map(|k| self.start(k)).collect();
        let likeliest = largest(&starts);
        self.product.ask(features, 1, run, |lines, labels: &mut [u32]| {
            let mut best = [f64::NEG_INFINITY; TILE];
            labels.fill(likeliest);
            for (k, start) in starts.iter().enumerate() {
                for ((score, best), label) in lines.of(k).iter().zip(&mut best).zip(&mut *labels) {
                    let score = start + self.trust() * score;
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

    /// The score of a class before anything is known of a row.
    pub(super) fn start(&self, class: usize) -> f64 {
        self.log_priors[class] + self.calibration.added[class]
    }

    /// Makes the score of each class of what the blocks say of a row. A row that no class can have is left to its priors.
    pub(super) fn weigh(&self, row: &mut [f64], log_priors: &[f64]) {
        let impossible = row.iter().zip(log_priors).all(|(said, prior)| said + prior == f64::NEG_INFINITY);
        for ((score, prior), added) in row.iter_mut().zip(log_priors).zip(&self.calibration.added) {
            let said = if impossible { 0.0 } else { self.trust() * *score };
            *score = prior + added + said;
        }
    }

    /// Scores together with the probabilities that follow from them.
    pub(super) fn with_probabilities(&self, scores: Matrix, run: &Run) -> Prediction {
        let (mut probabilities, classes) = (scores.clone(), scores.columns().max(1));
        let mut pieces: Vec<&mut [f64]> = probabilities.values_mut().chunks_mut(64 * TILE * classes).collect();
        run.each(&mut pieces, |_, scores| self.to_probabilities(scores));
        Prediction::Classes { scores, probabilities }
    }

    /// Makes probabilities of the scores of rows.
    fn to_probabilities(&self, scores: &mut [f64]) {
        let classes = self.totals.len();
        for row in scores.chunks_exact_mut(classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|score| *score -= largest);
        }
        exp(scores);
        let odd = self.calibration.odd;
        let of_odd: Vec<f64> = self.log_priors.iter().map(|prior| odd * prior.exp()).collect();
        for row in scores.chunks_exact_mut(classes) {
            let total: f64 = row.iter().sum();
            row.iter_mut().zip(&of_odd).for_each(|(share, of_odd)| *share = (1.0 - odd) * *share / total + of_odd);
        }
    }
}
