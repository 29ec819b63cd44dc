//! Metrics of predictions whose truth is known. Every row may have a weight; without weights all count alike.
//!
//! - accuracy: the fraction of rows with the right label; error rate: the rest
//! - precision of a class: of the rows predicted as the class, the fraction that are of it (0 if there are none)
//! - recall: of the rows of the class, the fraction predicted as it (0 if there are none)
//! - F1: 2·precision·recall / (precision + recall) (0 if both are)
//! - area under ROC: the probability that a row of the class has a higher probability than a row of another (a tie counts half)
//! - log loss: the mean of -ln p(true class), with p kept between 1e-15 and 1
//! - RMSE: the root of the mean squared error; R²: 1 - squared error / squared distance from the mean

use crate::error::{Error, Result};
use crate::learn::{Classes, Prediction, Target, TargetView, Task, check_weights};
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};

/// The least probability that log loss uses.
pub const MIN_PROBABILITY: f64 = 1e-15;

/// One number to rank models by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Metric {
    /// Mean of -ln p(true class).
    LogLoss,
    /// Fraction of right labels.
    Accuracy,
    /// Mean F1 of the classes.
    F1,
    /// Mean area under the ROC curves of the classes.
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

/// The confusion matrix: counts of true (rows) and predicted (columns) classes.
///
/// ```
/// use quince::evaluate::ConfusionMatrix;
/// use quince::learn::Classes;
/// let found = ConfusionMatrix::of(&Classes::of(["no", "yes"]), &[0, 0, 1, 1], &[0, 1, 1, 1], None)?;
/// assert_eq!(found.counts, [[1.0, 1.0], [0.0, 2.0]]);
/// assert_eq!((found.accuracy(), found.precision(1), found.recall(0)), (0.75, 2.0 / 3.0, 0.5));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfusionMatrix {
    /// The labels.
    pub classes: Classes,
    /// Counts (or weights).
    pub counts: Vec<Vec<f64>>,
}

impl ConfusionMatrix {
    /// Counts pairs of true and predicted class numbers.
    pub fn of(classes: &Classes, truth: &[u32], predicted: &[u32], weights: Option<&[f64]>) -> Result<ConfusionMatrix> {
        check_lengths(truth.len(), predicted.len(), weights)?;
        check_codes(truth, classes.count())?;
        check_codes(predicted, classes.count())?;
        let mut counts = vec![vec![0.0; classes.count()]; classes.count()];
        for (i, (&t, &p)) in truth.iter().zip(predicted).enumerate() {
            counts[t as usize][p as usize] += weights.map_or(1.0, |w| w[i]);
        }
        Ok(ConfusionMatrix { classes: classes.clone(), counts })
    }

    /// From counts, rows the truth: one row and one column per class.
    pub fn from_counts(classes: &Classes, counts: Vec<Vec<f64>>) -> Result<ConfusionMatrix> {
        let side = classes.count();
        if counts.len() != side || counts.iter().any(|row| row.len() != side) {
            let problem = format!("the table of counts is not {side} x {side}, as {side} classes need");
            return Err(Error::data(problem, "Give one row and one column per class."));
        }
        Ok(ConfusionMatrix { classes: classes.clone(), counts })
    }

    /// All rows.
    pub fn total(&self) -> f64 {
        self.counts.iter().flatten().sum()
    }

    /// The fraction of right labels.
    pub fn accuracy(&self) -> f64 {
        ratio((0..self.counts.len()).map(|k| self.counts[k][k]).sum(), self.total())
    }

    /// The fraction of wrong labels.
    pub fn error_rate(&self) -> f64 {
        1.0 - self.accuracy()
    }

    /// Each row divided by its sum: of the rows of a class, the fraction predicted as each.
    pub fn normalised_rows(&self) -> Vec<Vec<f64>> {
        let shares = |row: &Vec<f64>| {
            let sum: f64 = row.iter().sum();
            row.iter().map(|count| ratio(*count, sum)).collect()
        };
        self.counts.iter().map(shares).collect()
    }

    /// Of the rows predicted as class `k`, the fraction that are of it.
    ///
    /// # Panics
    /// If there is no class `k`; so do [`ConfusionMatrix::recall`] and [`ConfusionMatrix::f1`].
    pub fn precision(&self, k: usize) -> f64 {
        ratio(self.counts[k][k], self.counts.iter().map(|row| row[k]).sum())
    }

    /// Of the rows of class `k`, the fraction predicted as it.
    pub fn recall(&self, k: usize) -> f64 {
        ratio(self.counts[k][k], self.counts[k].iter().sum())
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self, k: usize) -> f64 {
        let (precision, recall) = (self.precision(k), self.recall(k));
        ratio(2.0 * precision * recall, precision + recall)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The curve of true against false positives as the threshold falls.
///
/// ```
/// use quince::evaluate::Roc;
/// let roc = Roc::of(&[0.9, 0.6, 0.6, 0.1], &[true, true, false, false], None)?;
/// // Of the four pairs three are in order, and the tie counts half.
/// assert_eq!(roc.area, Some(0.875));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Roc {
    /// False positive rate: the fraction of the other rows above the threshold.
    pub false_positives: Vec<f64>,
    /// True positive rate: the fraction of the class's rows above it.
    pub true_positives: Vec<f64>,
    /// The thresholds: a row is positive from this score up. The first is infinite.
    pub thresholds: Vec<f64>,
    /// The area under the curve; `None` if there are rows of one side only.
    pub area: Option<f64>,
}

impl Roc {
    /// The curve of `scores` for telling the rows that are `positive`.
    pub fn of(scores: &[f64], positive: &[bool], weights: Option<&[f64]>) -> Result<Roc> {
        check_lengths(positive.len(), scores.len(), weights)?;
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(Error::data(
                format!("the score of row {} is not a number", row + 1),
                "Give every row a score.",
            ));
        }
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut sides = [0.0, 0.0];
        order.iter().for_each(|&i| sides[usize::from(positive[i])] += weight(i));
        let (mut yes, mut no, mut area) = (0.0, 0.0, 0.0);
        let mut roc =
            Roc { false_positives: vec![0.0], true_positives: vec![0.0], thresholds: vec![f64::INFINITY], area: None };
        for group in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let (yes_before, no_before) = (yes, no);
            for &i in group {
                if positive[i] { yes += weight(i) } else { no += weight(i) }
            }
            area += (no - no_before) * 0.5 * (yes + yes_before);
            roc.false_positives.push(ratio(no, sides[0]));
            roc.true_positives.push(ratio(yes, sides[1]));
            roc.thresholds.push(scores[group[0]]);
        }
        if sides[0] > 0.0 && sides[1] > 0.0 {
            roc.area = Some(area / (sides[0] * sides[1]));
        }
        Ok(roc)
    }

    /// The curve of each class against all others, in the order of the classes; none where the target is not classes.
    pub fn of_classes(truth: &Target, prediction: &Prediction, weights: Option<&[f64]>) -> Result<Vec<Roc>> {
        let (TargetView::Classes { classes, codes }, Prediction::Classes { probabilities, .. }) =
            (truth.view(), prediction)
        else {
            return Ok(Vec::new());
        };
        check_classes(classes, probabilities)?;
        let of_class = |k: usize| {
            let positive: Vec<bool> = codes.iter().map(|&code| code as usize == k).collect();
            Roc::of(&probabilities.column(k), &positive, weights)
        };
        (0..classes.count()).map(of_class).collect()
    }
}

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
pub fn root_mean_square(truth: &Matrix, predicted: &Matrix, weights: Option<&[f64]>) -> Result<f64> {
    check_lengths(truth.rows(), predicted.rows(), weights)?;
    check_outputs(truth, predicted)?;
    let (squares, total) = squared_errors(truth, predicted, weights);
    Ok((squares / total / truth.columns() as f64).sqrt())
}

/// Truth, prediction and weights must speak of the same rows, one at least.
fn check_lengths(truth: usize, predicted: usize, weights: Option<&[f64]>) -> Result<()> {
    if truth != predicted || truth == 0 {
        return Err(Error::data(
            format!("there are {truth} true and {predicted} predicted rows"),
            "Predict for exactly the rows whose truth is known, one at least.",
        ));
    }
    weights.map_or(Ok(()), |weights| check_weights(weights, truth))
}

/// Both sides must have the same number of outputs.
fn check_outputs(truth: &Matrix, predicted: &Matrix) -> Result<()> {
    if truth.columns() == predicted.columns() {
        return Ok(());
    }
    let problem = format!("the truth has {} outputs, the prediction {}", truth.columns(), predicted.columns());
    Err(Error::data(problem, "Compare predictions with the target they are predictions of."))
}

/// A prediction must have a column for every class.
fn check_classes(classes: &Classes, probabilities: &Matrix) -> Result<()> {
    if probabilities.columns() == classes.count() {
        return Ok(());
    }
    Err(Error::data(
        format!("the truth has {} classes, the prediction {}", classes.count(), probabilities.columns()),
        "Take the truth from the model, which knows its classes: Model::truth.",
    ))
}

/// Every code must be that of a class.
fn check_codes(codes: &[u32], classes: usize) -> Result<()> {
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
fn r2(truth: &Matrix, predicted: &Matrix, weights: Option<&[f64]>) -> f64 {
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

/// Scores of one class against all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScores {
    /// The class.
    pub label: String,
    /// The number of its rows.
    pub rows: f64,
    /// See the top of this page.
    pub precision: f64,
    /// See the top of this page.
    pub recall: f64,
    /// See the top of this page.
    pub f1: f64,
    /// Area under the ROC curve; `None` if there are rows of one side only.
    pub area: Option<f64>,
}

/// All metrics of one set of predictions.
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
        /// Mean of -ln p(true class), p at least 1e-15.
        log_loss: f64,
        /// Mean F1 of the classes.
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
            (Evaluation::Classification { log_loss, .. }, Metric::LogLoss) => Some(*log_loss),
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
                writeln!(f, "{rows} rows: accuracy {accuracy:.4}, log loss {log_loss:.4}, mean F1 {f1:.4}")?;
                let width = confusion.classes.names().iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
                write!(f, "{:width$}", "")?;
                confusion.classes.names().iter().try_for_each(|name| write!(f, "  {name:>width$}"))?;
                for (name, row) in confusion.classes.names().iter().zip(&confusion.counts) {
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
        (TargetView::Classes { classes, codes }, Prediction::Classes { probabilities, .. }) => {
            check_classes(classes, probabilities)?;
            let confusion = ConfusionMatrix::of(classes, codes, &prediction.labels(), weights)?;
            let of_class = |(k, roc): (usize, Roc)| ClassScores {
                label: classes.names()[k].clone(),
                rows: confusion.counts[k].iter().sum(),
                precision: confusion.precision(k),
                recall: confusion.recall(k),
                f1: confusion.f1(k),
                area: roc.area,
            };
            let curves = Roc::of_classes(truth, prediction, weights)?;
            let scores: Vec<ClassScores> = curves.into_iter().enumerate().map(of_class).collect();
            let areas: Vec<f64> = scores.iter().filter_map(|class| class.area).collect();
            Ok(Evaluation::Classification {
                rows: codes.len(),
                accuracy: confusion.accuracy(),
                error_rate: confusion.error_rate(),
                log_loss: log_loss(probabilities, codes, weights)?,
                f1: scores.iter().map(|class| class.f1).sum::<f64>() / scores.len() as f64,
                area: if areas.is_empty() { None } else { Some(areas.iter().sum::<f64>() / areas.len() as f64) },
                confusion,
                classes: scores,
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
