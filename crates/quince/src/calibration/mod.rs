//! Calibration: probabilities for classifiers whose scores are not probabilities.
//!
//! [`temperature`](self::temperature::temperature) fits one temperature to the scores of a classifier, so that its softmax is
//! calibrated and never contradicts the label; [`LogOdds`] adds an offset where classes cost differently; [`Calibration`] fits
//! a temperature, a bias for each class and a contamination to log likelihoods, and [`HeldOut`] gets these by folds where no
//! row can be taken back exactly.

mod bias_corrected;
mod held_out;
mod log_odds;
mod temperature;

pub(crate) use bias_corrected::{Calibration, MAX_CALIBRATION_ROWS};
pub(crate) use held_out::{FEW_FOLDS, FOLDS_OF_CHOICES, Folds, HeldOut};
pub(crate) use log_odds::LogOdds;
pub(crate) use temperature::{softmax, temperature};
