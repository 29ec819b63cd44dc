//! Checks of features and targets, class weights, and the scores of two classes.

use crate::error::{Error, Result};
use crate::learn::Classes;
use crate::matrix::{Features, Matrix};
use crate::numbers::mean_and_standard_deviation;
use crate::run::{Run, Stream};

/// One column per class: the score s becomes (-s, s).
pub(super) fn class_scores(scores: &[f64]) -> Matrix {
    let values = scores.iter().flat_map(|&s| [-s, s]).collect();
    Matrix::new(scores.len(), 2, values).expect("two values for every row")
}

/// An error if a precomputed kernel is not symmetric, by a check of some pairs.
pub(super) fn check_symmetric(rows: &Features<'_>) -> Result<()> {
    let count = rows.rows();
    let mut stream = Stream::new(0, 0);
    let (mut one, mut other) = (vec![0.0f64; count], vec![0.0f64; count]);
    for _ in 0..count.min(1000) {
        let (i, j) = (stream.below(count), stream.below(count));
        rows.pack(std::iter::once(i), &mut one);
        rows.pack(std::iter::once(j), &mut other);
        let (here, there) = (one[j], other[i]);
        if (here - there).abs() > 1e-5 * (here.abs() + there.abs()) {
            return Err(Error::data(
                format!(
                    "the kernel of rows {} and {} is {here}, and of rows {} and {} it is {there}",
                    i + 1,
                    j + 1,
                    j + 1,
                    i + 1
                ),
                "Give a symmetric kernel.",
            ));
        }
    }
    Ok(())
}

/// The squared norm ‖x‖² of every row; an error if a value is not finite, or there are no columns.
pub(super) fn finite_norms(rows: &Features<'_>, run: &Run) -> Result<Vec<f64>> {
    rows.afford_columns()?;
    if rows.columns() == 0 {
        return Err(Error::data("the rows have no columns", "Give at least one column to learn from."));
    }
    let norms = rows.row_norms(run)?;
    if norms.iter().all(|norm| norm.is_finite()) {
        return Ok(norms);
    }
    // A value that is no number, or values whose squares are none.
    rows.check_finite()?;
    Err(too_large(rows, "the rows are too large for inner products", "Scale the columns."))
}

/// The error for rows that are too large, which names their largest column.
pub(super) fn too_large(rows: &Features<'_>, problem: &str, remedy: &str) -> Error {
    let (column, value) = rows.largest_value();
    Error::data(format!("{problem}: column {} has numbers up to {value:.1e}", column + 1), remedy)
}

/// The largest target: its square can still be summed.
const MAX_TARGET: f64 = 1e140;

/// The target of a row; an error if it is too large.
pub(super) fn target_of_row(numbers: &Matrix, i: usize) -> Result<f64> {
    let y = numbers[(i, 0)];
    if y.abs() <= MAX_TARGET {
        return Ok(y);
    }
    Err(Error::data("the target has numbers whose squares cannot be added up", "Give it in a larger unit."))
}

/// The scale of a target: its standard deviation, or one if all its values are the same. A model of the standardised target with
/// C and ε is one of the target itself with this multiple of C and ε.
pub(super) fn target_scale(numbers: &[f64]) -> f64 {
    let (_, standard_deviation) = mean_and_standard_deviation(numbers);
    if standard_deviation > 0.0 && standard_deviation.is_finite() { standard_deviation } else { 1.0 }
}

pub(super) fn one_class_only() -> Error {
    Error::data(
        "the target has one class only",
        "A classifier needs rows of at least two classes, of weights above zero.",
    )
}

/// Factors of C for each class, of which there are two.
pub(super) fn class_weights(text: &str, classes: &Classes, codes: &[u32], weights: Option<&[f64]>) -> Result<Vec<f64>> {
    if classes.count() < 2 {
        return Err(one_class_only());
    }
    crate::learn::class_weights(text, classes, codes, weights)
}
