//! Calibration: probabilities for classifiers whose scores are not probabilities.
//!
//! [`temperature`](self::temperature::temperature) fits one temperature to the scores of a classifier, so that its softmax is
//! calibrated and never contradicts the label; [`LogOdds`] adds an offset where classes cost differently; [`Calibration`] fits a temperature, a bias for each class and a contamination
//! to log likelihoods.

mod bias_corrected;
mod log_odds;
mod temperature;

pub(crate) use bias_corrected::{Calibration, MAX_CALIBRATION_ROWS};
pub(crate) use log_odds::LogOdds;
pub(crate) use temperature::{softmax, temperature};
