//! A fitted linear machine.

use super::Loss;
use super::problem::{Coordinate, Problem, Proof, squared_norm};
use crate::encode::Encoder;
use crate::error::Result;
use crate::explain::{Explanation, Listing};
use crate::learn::{Fitted, Prediction};
use crate::linear::calibrate;
use crate::margin::target::class_scores;
use crate::matrix::{Features, Matrix};
use crate::model::Parts;
use crate::numbers::short;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// Weights and a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMachine {
    weights: Matrix,
    bias: f64,
    pub(super) temperature: f64,
    kind: Kind,
    /// β of all rows, where a fit was cut short, so that it can go on.
    beta: Vec<f64>,
    about: About,
}

/// What a machine answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Classes,
    Numbers,
}

/// What is known of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct About {
    rows: usize,
    /// Zero if it is not known.
    support: usize,
    primal: Option<f64>,
    dual: Option<f64>,
}

/// What scores are multiplied with, if nothing better is known: classes have the scores -s and s, and of the logarithmic loss their
/// difference should be s.
fn plain_temperature(loss: Loss) -> f64 {
    if loss == Loss::Log { 0.5 } else { 1.0 }
}

impl LinearMachine {
    pub(super) fn new(problem: &Problem<'_>, proof: &Proof, beta: Vec<f64>, support: usize) -> LinearMachine {
        LinearMachine {
            weights: proof.weights.clone(),
            bias: proof.bias,
            temperature: plain_temperature(problem.loss),
            kind: if problem.numbers { Kind::Numbers } else { Kind::Classes },
            beta,
            about: About { rows: problem.of.len(), support, primal: Some(proof.primal), dual: proof.dual },
        }
    }

    /// A machine of classes with known weights.
    pub fn of_classes(weights: Vec<f64>, bias: f64, loss: Loss) -> LinearMachine {
        LinearMachine {
            weights: Matrix::column_vector(weights),
            bias,
            temperature: plain_temperature(loss),
            kind: Kind::Classes,
            beta: Vec::new(),
            about: About { rows: 0, support: 0, primal: None, dual: None },
        }
    }

    /// w, a weight a feature.
    pub fn weights(&self) -> &[f64] {
        self.weights.values()
    }

    /// b
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// w·x + b of every row.
    pub fn scores(&self, rows: &Features<'_>, run: &Run) -> Result<Vec<f64>> {
        if rows.columns() != self.weights.rows() {
            return Err(crate::margin::machine::other_columns(rows.columns(), self.weights.rows()));
        }
        Ok(rows.multiply(&self.weights, &[self.bias], run)?.into_values())
    }

    /// β to go on from, if it was kept and fits the problem.
    pub(super) fn start(&self, problem: &Problem<'_>) -> Option<Vec<f64>> {
        let within = |(one, beta): (&Coordinate, &f64)| (one.low..=one.high).contains(beta);
        let fits = self.beta.len() == problem.of.len() && problem.of.iter().zip(&self.beta).all(within);
        fits.then(|| self.beta.clone())
    }
}

impl Fitted for LinearMachine {
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let scores = self.scores(rows, run)?;
        Ok(match self.kind {
            Kind::Numbers => Prediction::Numbers(Matrix::column_vector(scores)),
            Kind::Classes => {
                let scores = class_scores(&scores);
                let probabilities = calibrate::softmax(&scores, self.temperature);
                Prediction::Classes { scores, probabilities }
            }
        })
    }

    fn explain(&self, encoder: &Encoder, classes: &[String]) -> Option<Explanation> {
        let mut said = Explanation::default();
        let mut say = |sentence: String| said.sentences.push(sentence);
        let norm = squared_norm(&self.weights).sqrt();
        if self.kind == Kind::Classes {
            say(format!("A score above zero means '{}', below zero '{}'.", classes[1], classes[0]));
            if norm > 0.0 {
                say(format!("The margin, from side to side, is {} wide (2/‖w‖).", short(2.0 / norm)));
            }
        } else {
            say("The score is the number that is predicted.".into());
        }
        let About { rows, support, primal, dual } = self.about;
        if support > 0 {
            say(format!("{support} of {rows} rows are support vectors."));
        }
        if primal.is_some() {
            let gain = crate::margin::machine::left_to_gain(primal, dual);
            say(format!("{}{}.", gain[..1].to_uppercase(), &gain[1..]));
        }
        said.tables.push(weight_table(encoder, self.weights(), self.bias));
        Some(said)
    }

    fn explain_row(&self, row: &Features<'_>, encoder: &Encoder, classes: &[String]) -> Result<Option<Explanation>> {
        let score = self.scores(row, &Run::new())?[0];
        let sentence = match self.kind {
            Kind::Numbers => format!("The number is {}.", short(score)),
            Kind::Classes => {
                let class = &classes[usize::from(score > 0.0)];
                format!("The score is {}, which means '{class}'.", short(score))
            }
        };
        let tables = vec![row_table(row, encoder, self.weights(), self.bias)];
        Ok(Some(Explanation { sentences: vec![sentence], tables }))
    }

    fn save(&self, parts: &mut Parts) {
        parts.put_matrix("weights", &self.weights);
        parts.put_vector("numbers", &[self.bias, self.temperature]);
        if !self.beta.is_empty() {
            parts.put_vector("beta", &self.beta);
        }
        parts.put_json("about", &(self.kind, self.about));
    }

    fn load(parts: &Parts) -> Result<LinearMachine> {
        let weights = parts.matrix("weights", Some(parts.features()))?;
        let numbers = parts.vector("numbers", Some(2))?;
        let beta = if parts.has("beta") { parts.vector("beta", None)? } else { Vec::new() };
        let (kind, about): (Kind, About) = parts.json("about")?;
        let classes = if kind == Kind::Classes { 2 } else { 0 };
        if weights.columns() != 1 || parts.classes() != classes {
            return Err(parts.wrong("the weights do not match the classes"));
        }
        if weights.values().iter().chain(&numbers).chain(&beta).any(|x| !x.is_finite()) || numbers[1] < 0.0 {
            return Err(parts.wrong("a weight is not a number"));
        }
        Ok(LinearMachine { weights, bias: numbers[0], temperature: numbers[1], kind, beta, about })
    }
}

/// Weights by the names of features, the largest first, and the constant.
pub(in crate::margin) fn weight_table(encoder: &Encoder, weights: &[f64], bias: f64) -> Listing {
    let mut named: Vec<(String, f64)> = encoder.feature_names().zip(weights.iter().copied()).collect();
    named.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let mut table = Listing::new("Weights, the largest first", ["weight"]);
    named.into_iter().filter(|(_, weight)| *weight != 0.0).for_each(|(name, weight)| table.numbers(name, [weight]));
    table.numbers("(constant)", [bias]);
    table
}

/// What features say of a row, by their names, the largest first.
pub(in crate::margin) fn row_table(row: &Features<'_>, encoder: &Encoder, weights: &[f64], bias: f64) -> Listing {
    let names: Vec<String> = encoder.feature_names().collect();
    let mut spoke: Vec<(String, f64, f64)> = Vec::new();
    row.for_row(0, |j, value| spoke.push((names[j].clone(), value, value * weights[j])));
    spoke.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    let mut table = Listing::new("What spoke for it", ["value", "value x weight"]);
    let spoke = spoke.into_iter().filter(|(_, _, part)| *part != 0.0);
    spoke.for_each(|(name, value, part)| table.numbers(name, [value, part]));
    table.last("(constant)", bias);
    table
}
