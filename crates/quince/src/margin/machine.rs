//! A fitted support vector machine: its support vectors, and what is known of them.

use super::dual::{Dual, Outcome};
use super::kernel::{Kernel, Space};
use super::proof::Proof;
use super::target::class_scores;
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::learn::{Fitted, Prediction};
use crate::linear::calibrate;
use crate::matrix::{Features, Matrix, Rows};
use crate::model::Parts;
use crate::numbers::{percent, short};
use crate::run::{Certificate, Report, Run, Stop};
use serde::{Deserialize, Serialize};

/// Support vectors and their coefficients.
#[derive(Clone, Debug)]
pub struct SvmModel {
    pub(super) kernel: Kernel,
    pub(super) answer: Answer,
    /// Which training rows the support vectors are, in order.
    pub(super) places: Vec<usize>,
    /// Their features; none if the kernel is given.
    pub(super) supports: Rows,
    pub(super) beta: Vec<f64>,
    pub(super) bias: f64,
    /// w of a linear kernel.
    pub(super) weights: Option<Matrix>,
    /// What scores are multiplied with to give probabilities.
    pub(super) temperature: f64,
    /// How far below zero the scores of support vectors on the edge are: rows no further below are not novel.
    pub(super) slack: f64,
    pub(super) about: About,
}

/// What a machine answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    Classes,
    Numbers,
    Novelty,
}

/// What is known of a machine's solution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// How many rows took part.
    pub rows: usize,
    /// Support vectors beyond the edge, whose β is at its bound.
    pub bounded: usize,
    /// The objective of the machine, which is to be small; `None` where a hard margin is not yet kept.
    pub primal: Option<f64>,
    /// What no machine can be below.
    pub dual: f64,
    /// Whether the optimum was reached.
    pub finished: bool,
    /// ‖w‖
    pub norm: f64,
    /// The largest violation of the optimality conditions.
    pub violation: f64,
    /// How many pairs of rows were moved.
    pub steps: usize,
    /// The exact leave-one-out error, if it was found.
    pub leave_one_out: Option<f64>,
}

impl SvmModel {
    /// The machine of a solved problem.
    pub(super) fn of(dual: &Dual<'_>, at: &Outcome, proof: &Proof, answer: Answer) -> SvmModel {
        let support: Vec<usize> = (0..dual.count()).filter(|&i| at.beta[i] != 0.0).collect();
        let places: Vec<usize> = support.iter().map(|&i| dual.of[i]).collect();
        let beta: Vec<f64> = support.iter().map(|&i| at.beta[i]).collect();
        let bounded = support.iter().filter(|&&i| dual.is_beyond(at, i, proof.bias)).count();
        let kernel = dual.space.kernel;
        let supports = match kernel {
            Kernel::Precomputed => Rows::default(),
            _ => dual.rows.take(&places),
        };
        SvmModel {
            weights: linear_weights(&kernel, &supports, &beta),
            kernel,
            answer,
            places,
            supports,
            beta,
            bias: proof.bias,
            temperature: 1.0,
            slack: 0.0,
            about: About {
                rows: dual.count(),
                bounded,
                primal: Some(proof.primal).filter(|primal| primal.is_finite()),
                finished: at.stop == Stop::Converged,
                dual: proof.dual,
                norm: proof.squared_norm.sqrt(),
                violation: at.violation,
                steps: at.steps,
                leave_one_out: None,
            },
        }
    }

    /// What a fit says of itself.
    pub(super) fn report(&self, at: &Outcome, tolerance: f64) -> Report {
        let (support, about) = (self.beta.len(), &self.about);
        let mut report = Report {
            route: format!(
                "{}, {} in {}",
                counted(support, "support vector"),
                counted(at.steps, "step"),
                counted(at.blocks, "block")
            ),
            stop: at.stop,
            certificate: Some(Certificate {
                measure: "largest violation of the optimality conditions".into(),
                value: at.violation,
                tolerance,
            }),
            trace: at.trace.clone(),
            ..Report::default()
        };
        if let Some(primal) = about.primal {
            report.fact("primal", primal);
            report.fact("gap", primal - about.dual);
        }
        report.fact("dual", about.dual);
        report.fact("support vectors", support as f64);
        report.fact("bounded", about.bounded as f64);
        report.fact("steps", about.steps as f64);
        report.remarks.push(left_to_gain(about.primal, Some(about.dual)));
        if at.stop == Stop::Stalled {
            report.remarks.push(STALLED.into());
        }
        if self.kernel != Kernel::Precomputed {
            report.remarks.push(format!("the model holds {} of those it was trained on", counted(support, "row")));
        }
        report
    }

    /// Which training rows are support vectors, counted from 0.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// The support vectors; none if the kernel is given.
    pub fn supports(&self) -> Features<'_> {
        self.supports.features()
    }

    /// β of each support vector: positive for the second class.
    pub fn coefficients(&self) -> &[f64] {
        &self.beta
    }

    /// b
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// w of a linear kernel.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_ref().map(Matrix::values)
    }

    /// What is known of the solution.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// f(x) of every row.
    pub fn scores(&self, rows: &Features<'_>, run: &Run) -> Result<Vec<f64>> {
        let columns = self.supports.features().columns();
        if self.kernel != Kernel::Precomputed && !self.beta.is_empty() && rows.columns() != columns {
            return Err(other_columns(rows.columns(), columns));
        }
        if let Some(weights) = &self.weights {
            return Ok(rows.multiply(weights, &[self.bias], run)?.into_values());
        }
        let mut scores = vec![self.bias; rows.rows()];
        if self.kernel == Kernel::Precomputed {
            if let Some(place) = self.places.iter().find(|place| **place >= rows.columns()) {
                let problem = format!(
                    "the rows have {} columns, and the kernel with training row {} is wanted",
                    rows.columns(),
                    place + 1
                );
                return Err(Error::data(problem, "Give the kernel of every row with every training row."));
            }
            let space = Space::of(rows, self.kernel);
            space.add_to(&mut scores, rows, &space.probes(rows, &self.places), &self.beta, run)?;
            return Ok(scores);
        }
        let supports = self.supports.features();
        let space = Space::of(&supports, self.kernel);
        for some in (0..self.beta.len()).collect::<Vec<_>>().chunks(4096) {
            let beta: Vec<f64> = some.iter().map(|&k| self.beta[k]).collect();
            space.add_to(&mut scores, rows, &space.probes(&supports, some), &beta, run)?;
        }
        Ok(scores)
    }

    /// The score by which a row is novel or not: rows on the edge, within what the fit could tell, are not.
    pub(super) fn novelty(&self, score: f64) -> f64 {
        score + self.slack
    }

    /// β of some training rows.
    pub(super) fn coefficients_of(&self, rows: &[usize]) -> Vec<f64> {
        let beta = |row: &usize| self.places.binary_search(row).map_or(0.0, |k| self.beta[k]);
        rows.iter().map(beta).collect()
    }

    /// An error unless these are the rows that the machine was trained on.
    pub(super) fn check_same_rows(&self, rows: &Features<'_>) -> Result<()> {
        let same = self.places.iter().all(|&place| place < rows.rows())
            && (self.kernel == Kernel::Precomputed || {
                let columns = rows.columns();
                let (mut own, mut given) = (vec![0.0; columns], vec![0.0; columns]);
                let supports = self.supports.features();
                supports.columns() == columns
                    && self.places.iter().enumerate().all(|(k, &place)| {
                        supports.pack(std::iter::once(k), &mut own);
                        rows.pack(std::iter::once(place), &mut given);
                        own == given
                    })
            });
        let remedy = "Give the table that the model was trained on, or train anew.";
        if same { Ok(()) } else { Err(Error::data("the model was trained on other rows", remedy)) }
    }
}

pub(super) fn other_columns(given: usize, wanted: usize) -> Error {
    Error::data(
        format!("the rows have {given} features, the model has {wanted}"),
        "Give the same columns as in training.",
    )
}

/// What a machine that was stopped early says.
pub(super) const RESUME: &str = "the budget ran out; go on from the saved model with quince train --resume";

/// What a machine says that rounding keeps from its optimum.
pub(super) const STALLED: &str = "rounding leaves no better step: scale the columns, or give a larger tolerance";

/// What both objectives say, as far as they are known.
pub(super) fn left_to_gain(primal: Option<f64>, dual: Option<f64>) -> String {
    match (primal, dual) {
        (Some(primal), Some(dual)) => {
            let share = if primal > dual { (primal - dual) / primal.abs().max(f64::MIN_POSITIVE) } else { 0.0 };
            let (primal, dual) = (short(primal), short(dual));
            let least = if primal == dual { String::new() } else { format!(" and cannot be below {dual}") };
            format!("the objective is {primal}{least}: at most {} of it is left to gain", percent(share))
        }
        (Some(primal), None) => format!("the objective is {}", short(primal)),
        (None, dual) => {
            let dual = short(dual.unwrap_or(0.0));
            format!("the objective cannot be below {dual}, and some rows are still on the wrong side of their margin")
        }
    }
}

/// So many of something.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// w = Σ βᵢ xᵢ of a linear kernel.
fn linear_weights(kernel: &Kernel, supports: &Rows, beta: &[f64]) -> Option<Matrix> {
    (*kernel == Kernel::Linear).then(|| {
        let rows = supports.features();
        let mut weights = Matrix::zeros(rows.columns(), 1);
        for (k, beta) in beta.iter().enumerate() {
            rows.for_row(k, |j, value| weights[(j, 0)] += beta * value);
        }
        weights
    })
}

impl Fitted for SvmModel {
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let scores = self.scores(rows, run)?;
        Ok(match self.answer {
            Answer::Numbers => Prediction::Numbers(Matrix::column_vector(scores)),
            Answer::Novelty => {
                Prediction::Novelty { scores: scores.iter().map(|score| self.novelty(*score)).collect() }
            }
            Answer::Classes => {
                let scores = class_scores(&scores);
                let probabilities = calibrate::softmax(&scores, self.temperature);
                Prediction::Classes { scores, probabilities }
            }
        })
    }

    fn explain(&self, encoder: &Encoder, classes: &[String]) -> Option<Explanation> {
        Some(self.tell(encoder, classes))
    }

    fn explain_row(&self, row: &Features<'_>, encoder: &Encoder, classes: &[String]) -> Result<Option<Explanation>> {
        self.tell_of_row(row, encoder, classes).map(Some)
    }

    fn save(&self, parts: &mut Parts) {
        let supports = self.supports.features();
        let mut dense = Matrix::zeros(supports.rows(), supports.dense_columns());
        supports.dense_alone().pack(0..supports.rows(), dense.values_mut());
        parts.put_matrix("supports", &dense);
        if let Some(sparse) = supports.sparse_part() {
            parts.put_sparse("sparse", sparse);
        }
        parts.put_vector("places", &self.places.iter().map(|&place| place as f64).collect::<Vec<_>>());
        parts.put_vector("beta", &self.beta);
        parts.put_vector("numbers", &[self.bias, self.temperature, self.slack]);
        parts.put_json("machine", &Saved { kernel: self.kernel, answer: self.answer, about: self.about.clone() });
    }

    fn load(parts: &Parts) -> Result<SvmModel> {
        let Saved { kernel, answer, about } = parts.json("machine")?;
        let dense = parts.matrix("supports", None)?;
        let beta = parts.vector("beta", None)?;
        let sparse = parts.sparse("sparse", dense.rows())?;
        let columns = dense.columns() + sparse.as_ref().map_or(0, crate::matrix::Sparse::columns);
        let places = parts.vector("places", Some(beta.len()))?;
        let whole = |place: &f64| place.fract() == 0.0 && (0.0..u32::MAX as f64).contains(place);
        if !places.iter().all(whole) || places.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(parts.wrong("the places of the support vectors are not in order"));
        }
        let places: Vec<usize> = places.into_iter().map(|place| place as usize).collect();
        let fits = match kernel {
            Kernel::Precomputed => dense.rows() == 0 && places.last().is_none_or(|last| *last < parts.features()),
            _ => dense.rows() == beta.len() && columns == parts.features(),
        };
        if !fits {
            return Err(parts.wrong("the support vectors do not have the columns of the model"));
        }
        let classes = if answer == Answer::Classes { 2 } else { 0 };
        if parts.classes() != classes {
            return Err(parts.wrong("the machine does not answer what the model does"));
        }
        if about.bounded > beta.len() {
            return Err(parts.wrong("more support vectors are at their bounds than there are"));
        }
        let numbers = parts.vector("numbers", Some(3))?;
        if beta.iter().chain(&numbers).any(|number| !number.is_finite()) || numbers[1] < 0.0 {
            return Err(parts.wrong("a coefficient is not a number"));
        }
        let supports = Rows::of(dense, sparse);
        supports.features().afford_columns()?;
        Ok(SvmModel {
            weights: linear_weights(&kernel, &supports, &beta),
            kernel,
            answer,
            places,
            supports,
            beta,
            bias: numbers[0],
            temperature: numbers[1],
            slack: numbers[2],
            about,
        })
    }
}

/// What a file says of a machine beside its numbers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    kernel: Kernel,
    answer: Answer,
    about: About,
}
