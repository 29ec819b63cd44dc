//! Losses of single predictions, averaged: log loss of classes, squared error of numbers.

use super::checks::{check_codes, check_lengths, check_outputs};
use crate::error::Result;
use crate::matrix::Matrix;

/// The least probability that log loss uses.
const MIN_PROBABILITY: f64 = 1e-15;

/// The mean of -ln p(true class), with p kept between 1e-15 and 1.
///
/// ```
/// use quince::Matrix;
/// let probabilities = Matrix::from_rows(&[[0.5, 0.5], [0.25, 0.75]]);
/// let loss = quince::evaluate::log_loss(&probabilities, &[0, 0], None)?;
/// assert!((loss - (2f64.ln() + 4f64.ln()) / 2.0).abs() < 1e-15);
/// # quince::Result::Ok(())
/// ```
pub fn log_loss(probabilities: &Matrix, codes: &[u32], weights: Option<&[f64]>) -> Result<f64> {
    check_lengths(codes.len(), probabilities.rows(), weights)?;
    check_codes(codes, probabilities.columns())?;
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..codes.len()).map(weight).sum();
    let loss =
        |(i, &code): (usize, &u32)| -weight(i) * probabilities[(i, code as usize)].clamp(MIN_PROBABILITY, 1.0).ln();
    Ok(codes.iter().enumerate().map(loss).sum::<f64>() / total)
}

/// The root of the mean squared difference, over all outputs.
///
/// ```
/// use quince::Matrix;
/// use quince::evaluate::root_mean_square;
/// let (truth, predicted) = (Matrix::column_vector(vec![1.0, 2.0]), Matrix::column_vector(vec![4.0, -2.0]));
/// assert_eq!(root_mean_square(&truth, &predicted, None)?, 12.5f64.sqrt());
/// # quince::Result::Ok(())
/// ```
pub fn root_mean_square(truth: &Matrix, predicted: &Matrix, weights: Option<&[f64]>) -> Result<f64> {
    check_lengths(truth.rows(), predicted.rows(), weights)?;
    check_outputs(truth, predicted)?;
    let (squares, total) = squared_errors(truth, predicted, weights);
    Ok((squares / total / truth.columns() as f64).sqrt())
}

fn squared_errors(truth: &Matrix, predicted: &Matrix, weights: Option<&[f64]>) -> (f64, f64) {
    let (mut squares, mut total) = (0.0, 0.0);
    for i in 0..truth.rows() {
        let weight = weights.map_or(1.0, |w| w[i]);
        total += weight;
        squares += weight * truth.row(i).iter().zip(predicted.row(i)).map(|(t, p)| (t - p) * (t - p)).sum::<f64>();
    }
    (squares, total)
}

/// 1 - squared error / squared distance from the mean, averaged over outputs. A constant truth has no variance to explain:
/// it counts as 1 if met exactly, as 0 otherwise.
pub(super) fn r2(truth: &Matrix, predicted: &Matrix, weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..truth.rows()).map(weight).sum();
    let of_output = |k: usize| {
        let mean = (0..truth.rows()).map(|i| weight(i) * truth[(i, k)]).sum::<f64>() / total;
        let squares = |from: &dyn Fn(usize) -> f64| {
            (0..truth.rows()).map(|i| weight(i) * (truth[(i, k)] - from(i)).powi(2)).sum::<f64>()
        };
        let (error, variance) = (squares(&|i| predicted[(i, k)]), squares(&|_| mean));
        if variance > 0.0 { 1.0 - error / variance } else { f64::from(u8::from(error == 0.0)) }
    };
    (0..truth.columns()).map(of_output).sum::<f64>() / truth.columns() as f64
}
