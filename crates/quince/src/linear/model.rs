//! A fitted linear model.

use super::calibrate;
use crate::error::{Error, Result};
use crate::learn::{Fitted, Prediction};
use crate::matrix::{Features, Matrix};
use crate::model::Parts;
use crate::run::Run;

/// Coefficients and intercept; for classes also the temperature that turns outputs into probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    pub(super) coefficients: Matrix,
    pub(super) intercept: Vec<f64>,
    /// Number of classes; zero if the target is numbers.
    pub(super) classes: usize,
    pub(super) temperature: f64,
}

impl LinearModel {
    /// A model of numbers with known coefficients (a row a feature, a column an output) and constants.
    pub fn of_numbers(coefficients: Matrix, intercept: Vec<f64>) -> Result<LinearModel> {
        if coefficients.columns() != intercept.len() {
            return Err(Error::data(
                format!("{} outputs have {} constants", coefficients.columns(), intercept.len()),
                "Give every output one constant.",
            ));
        }
        Ok(LinearModel { coefficients, intercept, classes: 0, temperature: 0.0 })
    }

    /// A row a feature, a column an output. Two classes have one output, positive for the second.
    pub fn coefficients(&self) -> &Matrix {
        &self.coefficients
    }

    /// The constant of each output.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// The plain outputs b₀ + Bᵀx, one column each.
    pub fn outputs(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        if rows.columns() != self.coefficients.rows() {
            return Err(Error::data(
                format!("the rows have {} features, the model has {}", rows.columns(), self.coefficients.rows()),
                "Give the same columns as in training.",
            ));
        }
        rows.multiply(&self.coefficients, &self.intercept, run)
    }
}

impl Fitted for LinearModel {
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let outputs = self.outputs(rows, run)?;
        if self.classes == 0 {
            return Ok(Prediction::Numbers(outputs));
        }
        let scores = class_scores(outputs);
        let probabilities = calibrate::softmax(&scores, self.temperature);
        Ok(Prediction::Classes { scores, probabilities })
    }

    fn save(&self, parts: &mut Parts) {
        parts.put_matrix("coefficients", &self.coefficients);
        parts.put_vector("intercept", &self.intercept);
        parts.put_vector("temperature", &[self.temperature]);
    }

    fn load(parts: &Parts) -> Result<LinearModel> {
        let coefficients = parts.matrix("coefficients", Some(parts.features()))?;
        let classes = parts.classes();
        let outputs = if classes == 2 { 1 } else { classes };
        if classes == 1 || coefficients.columns() == 0 || (classes > 0 && coefficients.columns() != outputs) {
            return Err(parts.wrong("the coefficients do not match the classes"));
        }
        let intercept = parts.vector("intercept", Some(coefficients.columns()))?;
        let temperature = parts.vector("temperature", Some(1))?[0];
        Ok(LinearModel { coefficients, intercept, classes, temperature })
    }
}

/// One column a class: the single output s of two classes becomes (-s, s).
pub(super) fn class_scores(outputs: Matrix) -> Matrix {
    if outputs.columns() != 1 {
        return outputs;
    }
    let values = outputs.values().iter().flat_map(|&s| [-s, s]).collect();
    Matrix::new(outputs.rows(), 2, values).expect("two values for every row")
}
