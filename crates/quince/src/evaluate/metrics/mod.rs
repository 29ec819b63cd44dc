//! Metrics of predictions whose truth is known. Every row may have a weight; without weights all count alike.
//!
//! - accuracy: the fraction of rows with the right label; error rate: the rest
//! - precision of a class: of the rows predicted as the class, the fraction that are of it (0 if there are none)
//! - recall: of the rows of the class, the fraction predicted as it (0 if there are none)
//! - F1: 2·precision·recall / (precision + recall) (0 if both are); mean F1: that of the classes which rows have or are given
//! - area under ROC: the probability that a row of the class has a higher probability than a row of another (a tie counts half)
//! - log loss: the mean of -ln p(true class), with p kept between 1e-15 and 1
//! - RMSE: the root of the mean squared error; R²: 1 - squared error / squared distance from the mean

mod checks;
mod confusion_matrix;
mod evaluation;
mod loss;
mod roc;

pub use confusion_matrix::ConfusionMatrix;
pub use evaluation::{ClassScores, Evaluation, evaluate};
pub use loss::{log_loss, root_mean_square};
pub use roc::Roc;

use crate::error::{Error, Result};
use crate::learn::Task;
use serde::{Deserialize, Serialize};

/// One number to rank models by.
///
/// ```
/// use quince::evaluate::Metric;
/// use quince::learn::Task;
/// assert!(Metric::from_name("rmse")?.suits(Task::Regression) && !Metric::Rmse.larger_is_better());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Metric {
    /// Mean of -ln p(true class).
    LogLoss,
    /// Fraction of right labels.
    Accuracy,
    /// Mean F1 of the classes that rows have or are given.
    F1,
    /// Mean area under the ROC curves of the classes.
    #[doc(alias = "auc")]
    Area,
    /// Root mean squared error.
    Rmse,
    /// Fraction of variance explained.
    R2,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 6] =
        [Metric::LogLoss, Metric::Accuracy, Metric::F1, Metric::Area, Metric::Rmse, Metric::R2];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Metric::LogLoss => "log-loss",
            Metric::Accuracy => "accuracy",
            Metric::F1 => "f1",
            Metric::Area => "area",
            Metric::Rmse => "rmse",
            Metric::R2 => "r2",
        }
    }

    /// The heading of a column.
    pub fn title(self) -> &'static str {
        match self {
            Metric::LogLoss => "log loss",
            Metric::Accuracy => "accuracy",
            Metric::F1 => "F1",
            Metric::Area => "area under ROC",
            Metric::Rmse => "RMSE",
            Metric::R2 => "R²",
        }
    }

    /// The metric with this name.
    pub fn from_name(name: &str) -> Result<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name).ok_or_else(|| Error::Unknown {
            what: "metric",
            name: name.to_string(),
            remedy: format!("The metrics are {}.", Metric::ALL.map(Metric::name).join(", ")),
        })
    }

    /// Whether a target of this task can be measured by it.
    pub fn suits(self, task: Task) -> bool {
        matches!(self, Metric::Rmse | Metric::R2) == (task == Task::Regression)
    }

    /// The metric with this name, if it suits the task.
    pub fn for_task(name: &str, task: Task) -> Result<Metric> {
        let metric = Metric::from_name(name)?;
        if metric.suits(task) {
            return Ok(metric);
        }
        let what = if task == Task::Regression { "numbers" } else { "classes" };
        let others: Vec<&str> = Metric::ALL.into_iter().filter(|m| m.suits(task)).map(Metric::name).collect();
        Err(Error::setting(
            "by",
            format!("cannot be {name} for a target of {what}"),
            format!("It takes {}.", others.join(", ")),
        ))
    }

    /// Whether a larger value is better.
    pub fn larger_is_better(self) -> bool {
        !matches!(self, Metric::LogLoss | Metric::Rmse)
    }
}

/// Zero where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
