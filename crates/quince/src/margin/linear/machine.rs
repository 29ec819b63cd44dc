//! A fitted linear machine, and what proves how close it is.

use super::descent::Descent;
use super::{Constant, Coordinate, Loss, Problem};
use crate::encode::Encoder;
use crate::error::Result;
use crate::explain::{Explanation, Listing};
use crate::learn::{Fitted, Prediction};
use crate::linear::calibrate;
use crate::margin::dual::balance;
use crate::margin::target::class_scores;
use crate::matrix::{Features, Matrix};
use crate::model::Parts;
use crate::numbers::short;
use crate::run::{Report, Run};
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

/// w and b, and both objectives.
pub(super) struct Proof {
    weights: Matrix,
    bias: f64,
    primal: f64,
    /// `None` for losses whose dual is not known here.
    dual: Option<f64>,
}

impl Proof {
    /// The gap as a share of the objective, or of one that is negligible if it is less.
    pub(super) fn gap_share(&self, negligible: f64) -> f64 {
        let gap = self.dual.map_or(f64::INFINITY, |dual| (self.primal - dual).max(0.0));
        if gap > 0.0 { gap / self.primal.max(negligible) } else { 0.0 }
    }

    /// Adds to a report what is proved.
    pub(super) fn tell(&self, report: &mut Report) {
        report.fact("primal", self.primal);
        if let Some(dual) = self.dual {
            report.fact("dual", dual);
            report.fact("gap", self.primal - dual);
        }
        report.remarks.push(crate::margin::machine::left_to_gain(Some(self.primal), self.dual));
    }
}

impl Problem<'_> {
    /// Proves where a descent has ended, with w computed anew from β, at least for the dual.
    pub(super) fn prove(&self, ended: &Descent, run: &Run) -> Result<Proof> {
        let weights = self.weights_of(&ended.beta, run)?;
        let dual = self.dual(&ended.beta, &weights);
        let (weights, known) = match &ended.known {
            Some((weights, bias)) => (weights.clone(), Some(*bias)),
            None => (weights, None),
        };
        let scores = self.products(&weights, run)?;
        let bias = match (self.constant, known) {
            (Constant::Penalised(_), Some(bias)) => bias,
            _ => self.constant_of(&ended.beta, &scores),
        };
        let primal = self.primal(&weights, bias, &scores);
        Ok(Proof { weights, bias, primal, dual: Some(dual) })
    }

    /// Judges any w and b: β is the slope of the loss of each row, brought into balance, which bounds the optimum from below.
    pub(super) fn judge(&self, weights: &[f64], bias: f64, run: &Run) -> Result<Proof> {
        let weights = Matrix::column_vector(weights.to_vec());
        let scores = self.products(&weights, run)?;
        let primal = self.primal(&weights, bias, &scores);
        let mut dual = None;
        if matches!(self.loss, Loss::Hinge | Loss::SquaredHinge) {
            let slope = |(one, score): (&Coordinate, &f64)| -one.cost * self.loss.slope(one.target, score + bias);
            let mut beta: Vec<f64> = self.of.iter().zip(&scores).map(slope).collect();
            if self.constant == Constant::Free {
                balance(&mut beta);
            }
            dual = Some(self.dual(&beta, &self.weights_of(&beta, run)?));
        }
        Ok(Proof { weights, bias, primal, dual })
    }

    /// w = Σ βᵢ xᵢ
    pub(super) fn weights_of(&self, beta: &[f64], run: &Run) -> Result<Matrix> {
        let mut all = Matrix::zeros(self.rows.rows(), 1);
        self.of.iter().zip(beta).for_each(|(one, beta)| all[(one.row, 0)] = *beta);
        self.rows.transposed_multiply(&all, run)
    }

    /// w·x of the rows that take part.
    pub(super) fn products(&self, weights: &Matrix, run: &Run) -> Result<Vec<f64>> {
        let all = self.rows.multiply(weights, &[0.0], run)?;
        Ok(self.of.iter().map(|one| all[(one.row, 0)]).collect())
    }

    /// The dual objective of β, or of a share of β that has a better one.
    pub(super) fn dual(&self, beta: &[f64], weights: &Matrix) -> f64 {
        let sum: f64 = beta.iter().sum();
        let of_constant = if let Constant::Penalised(scale) = self.constant { (scale * sum).powi(2) } else { 0.0 };
        let pairs = || self.of.iter().zip(beta);
        let linear: f64 = pairs().map(|(one, b)| b * one.target - self.insensitive * b.abs()).sum();
        let diagonal: f64 = pairs().map(|(one, b)| one.diagonal * b * b).sum();
        let square = squared_norm(weights) + of_constant + diagonal;
        let share = if square > linear { (linear / square).max(0.0) } else { 1.0 };
        share * linear - 0.5 * share * share * square
    }

    /// An objective that is as good as zero.
    pub(super) fn negligible(&self) -> f64 {
        let unit = if self.loss == Loss::SquaredHinge { self.unit * self.unit } else { self.unit };
        (1e-9 * unit * self.of.iter().map(|one| one.cost).sum::<f64>()).max(f64::MIN_POSITIVE)
    }

    /// The objective at w and b, given w·x of the rows that take part.
    pub(super) fn primal(&self, weights: &Matrix, bias: f64, products: &[f64]) -> f64 {
        let of_constant = if let Constant::Penalised(scale) = self.constant { (bias / scale).powi(2) } else { 0.0 };
        let loss = |(one, product): (&Coordinate, &f64)| {
            let score = product + bias;
            if !self.numbers {
                return one.cost * self.loss.of(one.target, score);
            }
            let off = ((one.target - score).abs() - self.insensitive).max(0.0);
            one.cost * if self.loss == Loss::SquaredHinge { off * off } else { off }
        };
        let losses: f64 = self.of.iter().zip(products).map(loss).sum();
        0.5 * (squared_norm(weights) + of_constant) + losses
    }

    /// b of some β, given w·x of the rows that take part.
    pub(super) fn constant_of(&self, beta: &[f64], products: &[f64]) -> f64 {
        match self.constant {
            Constant::None => 0.0,
            Constant::Penalised(scale) => scale * scale * beta.iter().sum::<f64>(),
            Constant::Free => self.best_constant(products),
        }
    }

    /// The free constant with the least objective, given w·x of the rows that take part: where the slope of the losses turns.
    fn best_constant(&self, products: &[f64]) -> f64 {
        let pairs = || self.of.iter().zip(products);
        let slope = |bias: f64| -> f64 {
            let of_row = |(one, product): (&Coordinate, &f64)| {
                let score = product + bias;
                if !self.numbers {
                    return one.cost * self.loss.slope(one.target, score);
                }
                let off = score - one.target;
                let beyond = (off.abs() - self.insensitive).max(0.0);
                let squared = self.loss == Loss::SquaredHinge;
                let size = if squared { 2.0 * beyond } else { f64::from(u8::from(beyond > 0.0)) };
                one.cost * size * off.signum()
            };
            pairs().map(of_row).sum()
        };
        let ends = pairs().map(|(one, product)| one.target - product);
        let (least, most) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), b| (low.min(b), high.max(b)));
        let ends = (least - self.insensitive, most + self.insensitive);
        // The slope never falls; it may be zero for a while.
        let turn = |is_past: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = ends;
            for _ in 0..60 {
                let middle = low + 0.5 * (high - low);
                if is_past(slope(middle)) { high = middle } else { low = middle }
            }
            low + 0.5 * (high - low)
        };
        0.5 * (turn(&|slope| slope >= 0.0) + turn(&|slope| slope > 0.0))
    }
}

/// What scores are multiplied with, if nothing better is known: classes have the scores -s and s, and of the logarithmic loss their
/// difference should be s.
fn plain_temperature(loss: Loss) -> f64 {
    if loss == Loss::Log { 0.5 } else { 1.0 }
}

fn squared_norm(weights: &Matrix) -> f64 {
    weights.values().iter().map(|w| w * w).sum()
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
