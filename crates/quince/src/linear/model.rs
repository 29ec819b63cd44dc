//! A fitted linear model.

use crate::calibration::softmax;
use crate::error::{Error, Result};
use crate::learn::{Fitted, Prediction, SavedParts};
use crate::matrix::{Features, Matrix};
use crate::run::Run;

/// Coefficients and intercept; for classes also the temperature, which multiplies the outputs before the softmax that makes
/// probabilities of them (an inverse temperature in the sense of Guo and others 2017).
///
/// ```
/// use quince::linear::LinearModel;
/// use quince::{Matrix, Run};
/// let line = LinearModel::of_numbers(Matrix::column_vector(vec![2.0]), vec![1.0])?;
/// assert_eq!(line.outputs(&Matrix::column_vector(vec![3.0]).features(), &Run::new())?.values(), [7.0]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    pub(super) coefficients: Matrix,
    pub(super) intercept: Vec<f64>,
    /// Number of classes; zero if the target is numbers.
    pub(super) classes: usize,
    pub(super) temperature: f64,
}

impl LinearModel {
    /// A model of numbers with known coefficients (one row per feature, one column per output) and intercepts.
    pub fn of_numbers(coefficients: Matrix, intercept: Vec<f64>) -> Result<LinearModel> {
        check_parameters(&coefficients, &intercept)?;
        Ok(LinearModel { coefficients, intercept, classes: 0, temperature: 0.0 })
    }

    /// A model of classes with known coefficients and intercepts: one output per class, or a single one for two classes that is
    /// positive for the second. Probabilities are the softmax of the outputs times the temperature: it is an inverse temperature
    /// in the sense of Guo and others (2017), who divide by theirs.
    pub fn of_classes(
        classes: usize,
        coefficients: Matrix,
        intercept: Vec<f64>,
        temperature: f64,
    ) -> Result<LinearModel> {
        check_parameters(&coefficients, &intercept)?;
        let outputs = if classes == 2 { 1 } else { classes };
        if classes < 2 || coefficients.columns() != outputs {
            return Err(Error::shape(
                format!("{classes} classes do not have {} outputs", coefficients.columns()),
                "Give every class an output, or one for two classes.",
            ));
        }
        if !(temperature.is_finite() && temperature >= 0.0) {
            return Err(Error::data(format!("the temperature is {temperature}"), "Give a number of at least 0."));
        }
        Ok(LinearModel { coefficients, intercept, classes, temperature })
    }

    /// One row per feature, one column per output. Two classes have one output, positive for the second.
    pub fn coefficients(&self) -> &Matrix {
        &self.coefficients
    }

    /// The intercept of each output.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// The plain outputs b₀ + Bᵀx, one column each.
    pub fn outputs(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        rows.check_columns(self.coefficients.rows())?;
        rows.outputs(&self.coefficients, &self.intercept, run)
    }
}

/// Every output has coefficients and one intercept, and all are finite.
fn check_parameters(coefficients: &Matrix, intercept: &[f64]) -> Result<()> {
    if coefficients.columns() != intercept.len() || intercept.is_empty() {
        return Err(Error::shape(
            format!("{} outputs have {} intercepts", coefficients.columns(), intercept.len()),
            "Give every output one intercept.",
        ));
    }
    coefficients.check_finite("coefficients")?;
    Matrix::column_vector(intercept.to_vec()).check_finite("intercepts")
}

impl Fitted for LinearModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let outputs = self.outputs(rows, run)?;
        if self.classes == 0 {
            return Ok(Prediction::Numbers(outputs));
        }
        let scores = class_scores(outputs);
        let probabilities = softmax(&scores, self.temperature);
        Ok(Prediction::Classes { scores, probabilities })
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_matrix("coefficients", &self.coefficients);
        parts.put_vector("intercept", &self.intercept);
        parts.put_number("temperature", self.temperature);
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<LinearModel> {
        let coefficients = parts.take_matrix("coefficients", Some(parts.features()))?;
        let classes = parts.classes();
        let outputs = if classes == 2 { 1 } else { classes };
        if classes == 1 || coefficients.columns() == 0 || (classes > 0 && coefficients.columns() != outputs) {
            return Err(parts.wrong("the coefficients do not match the classes"));
        }
        let intercept = parts.take_vector("intercept", Some(coefficients.columns()))?;
        let temperature = parts.take_number("temperature")?;
        Ok(LinearModel { coefficients, intercept, classes, temperature })
    }
}

/// One column per class: the single output s of two classes becomes (-s, s).
pub(super) fn class_scores(outputs: Matrix) -> Matrix {
    if outputs.columns() != 1 {
        return outputs;
    }
    let values = outputs.values().iter().flat_map(|&s| [-s, s]).collect();
    Matrix::new(outputs.rows(), 2, values).expect("two values for every row")
}
