//! All metrics of one set of predictions.

use super::checks::{check_classes, check_lengths, check_outputs};
use super::loss::r2;
use super::{ConfusionMatrix, Metric, Roc, log_loss, root_mean_square};
use crate::error::{Error, Result};
use crate::learn::{Prediction, Target, TargetView};
use serde::Serialize;

/// Scores of one class against all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScores {
    /// The class.
    pub label: String,
    /// The number of its rows.
    pub rows: f64,
    /// Of the rows predicted as the class, the fraction that are of it.
    pub precision: f64,
    /// Of the rows of the class, the fraction predicted as it.
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// Area under the ROC curve; `None` if there are rows of one side only.
    pub area: Option<f64>,
}

/// All metrics of one set of predictions.
///
/// ```
/// use quince::evaluate::{Metric, evaluate};
/// use quince::prelude::*;
/// let model = Knn::new().k(1).fit(&[[1.0], [2.0], [9.0]], &["a", "a", "b"])?;
/// let truth = Target::labels(&["a", "b", "b", "b"]);
/// let found = evaluate(&truth, &model.predict(&[[0.0], [1.0], [8.0], [9.0]])?, None)?;
/// assert_eq!(found.metric(Metric::Accuracy), Some(0.75));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
pub enum Evaluation {
    /// Of classes.
    Classification {
        /// The number of rows.
        rows: usize,
        /// Fraction of right labels.
        accuracy: f64,
        /// Fraction of wrong labels.
        error_rate: f64,
        /// Mean of -ln p(true class), p at least 1e-15; `None` where the prediction has no probabilities.
        log_loss: Option<f64>,
        /// Mean F1 of the classes that rows have or are given.
        f1: f64,
        /// Mean area under the ROC curves of the classes that have one.
        area: Option<f64>,
        /// Truth against prediction.
        confusion: ConfusionMatrix,
        /// Each class against all others.
        classes: Vec<ClassScores>,
    },
    /// Of numbers.
    Regression {
        /// The number of rows.
        rows: usize,
        /// Root mean squared error.
        rmse: f64,
        /// Mean absolute error.
        mean_absolute_error: f64,
        /// Fraction of variance explained; `None` for a single row, which has none.
        r2: Option<f64>,
    },
}

impl Evaluation {
    /// One metric; `None` if this task does not have it.
    pub fn metric(&self, metric: Metric) -> Option<f64> {
        match (self, metric) {
            (Evaluation::Classification { log_loss, .. }, Metric::LogLoss) => *log_loss,
            (Evaluation::Classification { accuracy, .. }, Metric::Accuracy) => Some(*accuracy),
            (Evaluation::Classification { f1, .. }, Metric::F1) => Some(*f1),
            (Evaluation::Classification { area, .. }, Metric::Area) => *area,
            (Evaluation::Regression { rmse, .. }, Metric::Rmse) => Some(*rmse),
            (Evaluation::Regression { r2, .. }, Metric::R2) => *r2,
            _ => None,
        }
    }
}

impl std::fmt::Display for Evaluation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Evaluation::Regression { rows, rmse, mean_absolute_error, r2 } => {
                write!(f, "{rows} rows: RMSE {rmse:.4}, mean absolute error {mean_absolute_error:.4}")?;
                r2.map_or(Ok(()), |r2| write!(f, ", R² {r2:.4}"))
            }
            Evaluation::Classification { rows, accuracy, log_loss, f1, confusion, .. } => {
                let log_loss = log_loss.map_or(String::new(), |log_loss| format!("log loss {log_loss:.4}, "));
                writeln!(f, "{rows} rows: accuracy {accuracy:.4}, {log_loss}mean F1 {f1:.4}")?;
                let width =
                    confusion.classes().names().iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
                write!(f, "{:width$}", "")?;
                confusion.classes().names().iter().try_for_each(|name| write!(f, "  {name:>width$}"))?;
                for (name, row) in confusion.classes().names().iter().zip(confusion.counts()) {
                    write!(f, "\n{name:width$}")?;
                    row.iter().try_for_each(|count| write!(f, "  {count:>width$}"))?;
                }
                Ok(())
            }
        }
    }
}

/// Compares predictions with the truth.
///
/// ```
/// use quince::Matrix;
/// use quince::evaluate::{Metric, evaluate};
/// use quince::learn::{Prediction, Target};
/// let truth = Target::numbers(Matrix::column_vector(vec![1.0, 2.0, 3.0]))?;
/// let found = evaluate(&truth, &Prediction::Numbers(Matrix::column_vector(vec![1.0, 2.0, 6.0])), None)?;
/// assert_eq!(found.metric(Metric::Rmse), Some(3f64.sqrt()));
/// # quince::Result::Ok(())
/// ```
pub fn evaluate(truth: &Target, prediction: &Prediction, weights: Option<&[f64]>) -> Result<Evaluation> {
    check_lengths(truth.rows(), prediction.rows(), weights)?;
    match (truth.view(), prediction) {
        (TargetView::Classes { classes, codes }, Prediction::Classes { scores, .. }) => {
            check_classes(classes, prediction.probabilities().unwrap_or(scores))?;
            let confusion = ConfusionMatrix::of(classes, codes, &prediction.labels(), weights)?;
            let of_class = |(k, roc): (usize, Roc)| ClassScores {
                label: classes.names()[k].clone(),
                rows: confusion.counts()[k].iter().sum(),
                precision: confusion.precision(k),
                recall: confusion.recall(k),
                f1: confusion.f1(k),
                area: roc.area,
            };
            let curves = Roc::of_classes(truth, prediction, weights)?;
            let class_scores: Vec<ClassScores> = curves.into_iter().enumerate().map(of_class).collect();
            let areas: Vec<f64> = class_scores.iter().filter_map(|class| class.area).collect();
            Ok(Evaluation::Classification {
                rows: codes.len(),
                accuracy: confusion.accuracy(),
                error_rate: confusion.error_rate(),
                log_loss: prediction.probabilities().map(|all| log_loss(all, codes, weights)).transpose()?,
                f1: confusion.mean_f1(),
                area: if areas.is_empty() { None } else { Some(areas.iter().sum::<f64>() / areas.len() as f64) },
                confusion,
                classes: class_scores,
            })
        }
        (TargetView::Numbers(truth), Prediction::Numbers(predicted)) => {
            check_outputs(truth, predicted)?;
            let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
            let total: f64 = (0..truth.rows()).map(weight).sum();
            let absolute = |i: usize| {
                truth.row(i).iter().zip(predicted.row(i)).map(|(t, p)| (t - p).abs()).sum::<f64>() * weight(i)
            };
            let sum: f64 = (0..truth.rows()).map(absolute).sum();
            Ok(Evaluation::Regression {
                rows: truth.rows(),
                rmse: root_mean_square(truth, predicted, weights)?,
                mean_absolute_error: sum / total / truth.columns() as f64,
                r2: (truth.rows() > 1).then(|| r2(truth, predicted, weights)),
            })
        }
        _ => Err(Error::data(
            "classes are compared with numbers",
            "Evaluate a model on the kind of target it was trained on.",
        )),
    }
}
