//! What every metric refuses: truth, prediction and weights that do not speak of the same rows, outputs and classes.

use crate::error::{Error, Result};
use crate::learn::{Classes, Target, check_weights};
use crate::matrix::Matrix;

/// Truth, prediction and weights must speak of the same rows, one at least.
pub(super) fn check_lengths(truth: usize, predicted: usize, weights: Option<&[f64]>) -> Result<()> {
    if truth != predicted || truth == 0 {
        return Err(Error::data(
            format!("there are {truth} true and {predicted} predicted rows"),
            "Predict for exactly the rows whose truth is known, one at least.",
        ));
    }
    weights.map_or(Ok(()), |weights| check_weights(weights, truth))
}

/// Both sides must have the same number of outputs.
pub(super) fn check_outputs(truth: &Matrix, predicted: &Matrix) -> Result<()> {
    if truth.columns() == predicted.columns() {
        return Ok(());
    }
    let problem = format!("the truth has {} outputs, the prediction {}", truth.columns(), predicted.columns());
    Err(Error::data(problem, "Compare predictions with the target they are predictions of."))
}

/// A prediction must have a column for every class.
pub(super) fn check_classes(classes: &Classes, probabilities: &Matrix) -> Result<()> {
    if probabilities.columns() == classes.count() {
        return Ok(());
    }
    Err(Error::data(
        format!("the truth has {} classes, the prediction {}", classes.count(), probabilities.columns()),
        "Take the truth from the model, which knows its classes: Model::truth.",
    ))
}

/// Every code must be that of a class.
pub(super) fn check_codes(codes: &[u32], classes: usize) -> Result<()> {
    match codes.iter().position(|&code| code as usize >= classes) {
        None => Ok(()),
        Some(row) if codes[row] == Target::UNKNOWN => Err(Error::data(
            format!("row {} has no class to measure an answer by", row + 1),
            "Leave out rows whose class is not known.",
        )),
        Some(row) => Err(Error::data(
            format!("row {} has the class code {}, and there are {classes} classes", row + 1, codes[row]),
            "Codes count from 0.",
        )),
    }
}
