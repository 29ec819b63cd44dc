//! The fitted model of a linear support vector machine.

use super::Loss;
use super::problem::{Coordinate, LinearCertificate, Problem, squared_norm};
use crate::calibration::LogOdds;
use crate::error::{Error, Result};
use crate::explain::{Explanation, Listing};
use crate::learn::{FeatureSource, Fitted, Prediction, SavedParts};
use crate::margin::calibrate::classes_by;
use crate::margin::target::class_scores;
use crate::matrix::{Features, Matrix};
use crate::numbers::short;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// A fitted linear support vector machine: weights and an intercept.
///
/// ```
/// use quince::margin::LinearSvmModel;
/// use quince::{Matrix, Run};
/// let model = LinearSvmModel::of_numbers(vec![2.0, -1.0], 0.5)?;
/// assert_eq!(model.scores(&Matrix::from_rows(&[[1.0, 1.0]]).features(), &Run::new())?, [1.5]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSvmModel {
    weights: Matrix,
    bias: f64,
    /// How scores become probabilities by the softmax.
    log_odds: LogOdds,
    output: Output,
    /// Dual coefficients β of all rows, if the fit was stopped early, so that it can be resumed.
    beta: Vec<f64>,
    summary: SolutionSummary,
}

/// What a model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Output {
    Classes,
    Numbers,
}

/// A summary of how a model was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SolutionSummary {
    rows: usize,
    /// Number of support vectors; zero if it is not known.
    support: usize,
    primal: Option<f64>,
    dual: Option<f64>,
    /// Number of epochs (passes over the rows) or of steps of an interior-point or Newton's method.
    epochs: usize,
    /// Number of steps of stochastic gradient descent, from which a resumed fit goes on.
    steps: u64,
    link: Link,
}

/// How a score becomes the probability of the positive class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Link {
    /// The softmax of -s and s, times the temperature; with an offset of the log odds where classes have weights.
    #[default]
    Softmax,
    /// (1 + s) / 2, not below 0 nor above 1: the probability whose expected modified Huber loss is the least (Zhang 2004).
    Clipped,
}

impl Link {
    /// The one that a loss leads to without calibration.
    fn of(loss: Loss) -> Link {
        if loss == Loss::ModifiedHuber { Link::Clipped } else { Link::Softmax }
    }
}

/// The log odds without calibration: classes have the scores -s and s, and for the logistic loss their difference should be s.
fn default_log_odds(loss: Loss) -> LogOdds {
    LogOdds { temperature: if loss == Loss::Log { 0.5 } else { 1.0 }, offset: 0.0 }
}

impl LinearSvmModel {
    pub(super) fn new(
        problem: &Problem<'_>,
        certificate: &LinearCertificate,
        beta: Vec<f64>,
        support: usize,
    ) -> LinearSvmModel {
        LinearSvmModel {
            weights: certificate.weights.clone(),
            bias: certificate.bias,
            log_odds: default_log_odds(problem.loss),
            output: if problem.regression { Output::Numbers } else { Output::Classes },
            beta,
            summary: SolutionSummary {
                rows: problem.coordinates.len(),
                support,
                primal: Some(certificate.primal),
                dual: certificate.dual,
                epochs: 0,
                steps: 0,
                link: Link::of(problem.loss),
            },
        }
    }

    /// The same, learnt from this many rows.
    pub(super) fn of_rows(mut self, rows: usize) -> LinearSvmModel {
        self.summary.rows = rows;
        self
    }

    /// The same, with both objectives.
    pub(super) fn certified(mut self, certificate: &LinearCertificate) -> LinearSvmModel {
        (self.summary.primal, self.summary.dual) = (Some(certificate.primal), certificate.dual);
        self
    }

    /// The same after this many epochs, and steps of stochastic gradient descent.
    pub(super) fn after(mut self, epochs: usize, steps: u64) -> LinearSvmModel {
        (self.summary.epochs, self.summary.steps) = (epochs, steps);
        self
    }

    /// Takes log odds that were found on held-out rows.
    pub(super) fn calibrated(&mut self, log_odds: LogOdds) {
        (self.log_odds, self.summary.link) = (log_odds, Link::Softmax);
    }

    /// A model of two classes with known weights. Probabilities are those that the loss leads to.
    pub fn of_classes(weights: Vec<f64>, bias: f64, loss: Loss) -> Result<LinearSvmModel> {
        if !(bias.is_finite() && weights.iter().all(|weight| weight.is_finite())) {
            return Err(Error::data("the weights or the bias are not finite", "Give numbers."));
        }
        let nothing = SolutionSummary {
            rows: 0,
            support: 0,
            primal: None,
            dual: None,
            epochs: 0,
            steps: 0,
            link: Link::of(loss),
        };
        Ok(LinearSvmModel {
            weights: Matrix::column_vector(weights),
            bias,
            log_odds: default_log_odds(loss),
            output: Output::Classes,
            beta: Vec::new(),
            summary: nothing,
        })
    }

    /// A model of numbers with known weights.
    pub fn of_numbers(weights: Vec<f64>, bias: f64) -> Result<LinearSvmModel> {
        let known = LinearSvmModel::of_classes(weights, bias, Loss::Hinge)?;
        Ok(LinearSvmModel { output: Output::Numbers, ..known })
    }

    /// Weights w, one per feature.
    pub fn weights(&self) -> &[f64] {
        self.weights.values()
    }

    /// How scores become probabilities.
    pub fn link(&self) -> Link {
        self.summary.link
    }

    /// Number of epochs, or of steps of an interior-point or Newton's method; 0 of known weights.
    pub fn epochs(&self) -> usize {
        self.summary.epochs
    }

    /// Number of steps of stochastic gradient descent, those of earlier fits included.
    pub fn steps(&self) -> u64 {
        self.summary.steps
    }

    /// Constant b of the score.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The temperature, which calibrates probabilities: it multiplies the scores before the softmax, so it is an inverse temperature
    /// in the sense of Guo and others (2017), who divide by theirs.
    pub fn temperature(&self) -> f64 {
        self.log_odds.temperature
    }

    /// The offset of the log odds: zero unless classes have weights. A score s means log odds of 2·temperature·s + offset, but never
    /// less than even odds for the label, which is the sign of the score.
    pub fn offset(&self) -> f64 {
        self.log_odds.offset
    }

    /// Scores w·x + b of rows.
    pub fn scores(&self, rows: &Features<'_>, run: &Run) -> Result<Vec<f64>> {
        rows.check_columns(self.weights.rows())?;
        Ok(rows.outputs(&self.weights, &[self.bias], run)?.into_values())
    }

    /// Dual coefficients β to resume from, if they were kept and fit the problem.
    pub(super) fn start(&self, problem: &Problem<'_>) -> Option<Vec<f64>> {
        let within = |(one, beta): (&Coordinate, &f64)| (one.low..=one.high).contains(beta);
        let fits =
            self.beta.len() == problem.coordinates.len() && problem.coordinates.iter().zip(&self.beta).all(within);
        fits.then(|| self.beta.clone())
    }
}

impl Fitted for LinearSvmModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let scores = self.scores(rows, run)?;
        Ok(match self.output {
            Output::Numbers => Prediction::Numbers(Matrix::column_vector(scores)),
            Output::Classes => match self.summary.link {
                Link::Softmax => classes_by(&self.log_odds, &scores),
                Link::Clipped => {
                    let scores = class_scores(&scores);
                    let probabilities = clipped(&scores);
                    Prediction::Classes { scores, probabilities }
                }
            },
        })
    }

    fn explain(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Option<Explanation> {
        let mut explanation = Explanation::default();
        let mut say = |sentence: String| explanation.sentences.push(sentence);
        let norm = squared_norm(&self.weights).sqrt();
        if self.output == Output::Classes {
            say(format!("A score above zero means '{}', below zero '{}'.", classes[1], classes[0]));
            if norm > 0.0 {
                say(format!("The margin, from side to side, is {} wide (2/‖w‖).", short(2.0 / norm)));
            }
        } else {
            say("The score is the number that is predicted.".into());
        }
        let SolutionSummary { rows, support, primal, dual, .. } = self.summary;
        if support > 0 {
            say(format!("{support} of {rows} rows are support vectors."));
        }
        if primal.is_some() {
            let gap = crate::margin::model::gap_in_words(primal, dual);
            say(format!("{}{}.", gap[..1].to_uppercase(), &gap[1..]));
        }
        explanation.tables.push(weight_table(encoder, self.weights(), self.bias));
        Some(explanation)
    }

    fn explain_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        classes: &[String],
    ) -> Result<Option<Explanation>> {
        let score = self.scores(row, &Run::new())?[0];
        let sentence = match self.output {
            Output::Numbers => format!("The number is {}.", short(score)),
            Output::Classes => {
                let class = &classes[usize::from(score > 0.0)];
                format!("The score is {}, which means '{class}'.", short(score))
            }
        };
        let tables = vec![row_table(row, encoder, self.weights(), self.bias)];
        Ok(Some(Explanation { sentences: vec![sentence], tables }))
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_matrix("weights", &self.weights);
        parts.put_number("bias", self.bias);
        parts.put_number("temperature", self.log_odds.temperature);
        if self.log_odds.offset != 0.0 {
            parts.put_number("offset", self.log_odds.offset);
        }
        if !self.beta.is_empty() {
            parts.put_vector("beta", &self.beta);
        }
        parts.put_json("model", &Saved { output: self.output, summary: self.summary });
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<LinearSvmModel> {
        let weights = parts.take_matrix("weights", Some(parts.features()))?;
        let (bias, temperature) = (parts.take_number("bias")?, parts.take_number("temperature")?);
        let offset = if parts.has("offset") { parts.take_number("offset")? } else { 0.0 };
        let beta = if parts.has("beta") { parts.take_vector("beta", None)? } else { Vec::new() };
        let Saved { output, summary } = parts.take_json("model")?;
        let classes = if output == Output::Classes { 2 } else { 0 };
        if weights.columns() != 1 || parts.classes() != classes {
            return Err(parts.wrong("the weights do not match the classes"));
        }
        let finite = weights.values().iter().chain(&beta).chain([&bias, &temperature, &offset]).all(|x| x.is_finite());
        if !finite || temperature < 0.0 {
            return Err(parts.wrong("a weight is not a number"));
        }
        let log_odds = LogOdds { temperature, offset };
        Ok(LinearSvmModel { weights, bias, log_odds, output, beta, summary })
    }
}

/// What a file holds of a model beside its arrays.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    output: Output,
    summary: SolutionSummary,
}

/// (1 + s) / 2 within 0 and 1.
fn clipped(scores: &Matrix) -> Matrix {
    let mut probabilities = scores.clone();
    for i in 0..scores.rows() {
        let positive = (scores[(i, 1)].clamp(-1.0, 1.0) + 1.0) / 2.0;
        probabilities.row_mut(i).copy_from_slice(&[1.0 - positive, positive]);
    }
    probabilities
}

/// Weights by feature name, the largest first, and the intercept.
pub(in crate::margin) fn weight_table(encoder: &dyn FeatureSource, weights: &[f64], bias: f64) -> Listing {
    let mut named: Vec<(String, f64)> = encoder.feature_names().zip(weights.iter().copied()).collect();
    named.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let mut table = Listing::new("Weights, the largest first", ["weight"]);
    named.into_iter().filter(|(_, weight)| *weight != 0.0).for_each(|(name, weight)| table.numbers(name, [weight]));
    table.numbers("(constant)", [bias]);
    table
}

/// Contributions of features to the score of a row, by name, the largest first.
pub(in crate::margin) fn row_table(
    row: &Features<'_>,
    encoder: &dyn FeatureSource,
    weights: &[f64],
    bias: f64,
) -> Listing {
    let names: Vec<String> = encoder.feature_names().collect();
    let mut contributions: Vec<(String, f64, f64)> = Vec::new();
    row.for_row(0, |j, value| contributions.push((names[j].clone(), value, value * weights[j])));
    contributions.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    let mut table = Listing::new("Contributions to the score, the largest first", ["value", "value x weight"]);
    let contributions = contributions.into_iter().filter(|(_, _, contribution)| *contribution != 0.0);
    contributions.for_each(|(name, value, contribution)| table.numbers(name, [value, contribution]));
    table.last("(constant)", bias);
    table
}
