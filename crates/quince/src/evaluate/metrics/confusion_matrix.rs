//! The confusion matrix, and what follows from it: accuracy, precision, recall, F1.

use super::checks::{check_codes, check_lengths};
use super::ratio;
use crate::error::{Error, Result};
use crate::learn::Classes;
use serde::Serialize;

/// The confusion matrix: counts of true (rows) and predicted (columns) classes.
///
/// ```
/// use quince::evaluate::ConfusionMatrix;
/// use quince::learn::Classes;
/// let found = ConfusionMatrix::of(&Classes::of(["no", "yes"]), &[0, 0, 1, 1], &[0, 1, 1, 1], None)?;
/// assert_eq!(found.counts(), [[1.0, 1.0], [0.0, 2.0]]);
/// assert_eq!((found.accuracy(), found.precision(1), found.recall(0)), (0.75, 2.0 / 3.0, 0.5));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfusionMatrix {
    classes: Classes,
    counts: Vec<Vec<f64>>,
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
    ///
    /// ```
    /// use quince::evaluate::ConfusionMatrix;
    /// use quince::learn::Classes;
    /// let found = ConfusionMatrix::from_counts(&Classes::of(["no", "yes"]), vec![vec![8.0, 2.0], vec![1.0, 4.0]])?;
    /// // F1 is 2·TP / (2·TP + FP + FN).
    /// assert!((found.f1(1) - 8.0 / 11.0).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
    pub fn from_counts(classes: &Classes, counts: Vec<Vec<f64>>) -> Result<ConfusionMatrix> {
        let side = classes.count();
        if counts.len() != side || counts.iter().any(|row| row.len() != side) {
            let problem = format!("the table of counts is not {side} x {side}, as {side} classes need");
            return Err(Error::data(problem, "Give one row and one column per class."));
        }
        Ok(ConfusionMatrix { classes: classes.clone(), counts })
    }

    /// The labels.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Counts (or sums of weights): one row per true class, one column per predicted class.
    pub fn counts(&self) -> &[Vec<f64>] {
        &self.counts
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

    /// The mean F1 of the classes that rows have or are given. One that no row has or is given says nothing about the labels.
    ///
    /// ```
    /// use quince::evaluate::ConfusionMatrix;
    /// use quince::learn::Classes;
    /// let all_right = vec![vec![3.0, 0.0, 0.0], vec![0.0, 2.0, 0.0], vec![0.0, 0.0, 0.0]];
    /// assert_eq!(ConfusionMatrix::from_counts(&Classes::of(["a", "b", "c"]), all_right)?.mean_f1(), 1.0);
    /// // One row of b is called c: b has 2·1 / (2·1 + 1), and c, which is given, has 0.
    /// let one_wrong = vec![vec![3.0, 0.0, 0.0], vec![0.0, 1.0, 1.0], vec![0.0, 0.0, 0.0]];
    /// let found = ConfusionMatrix::from_counts(&Classes::of(["a", "b", "c"]), one_wrong)?.mean_f1();
    /// assert!((found - (1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
    pub fn mean_f1(&self) -> f64 {
        let occurs = |k: &usize| self.counts[*k].iter().chain(self.counts.iter().map(|row| &row[*k])).any(|&n| n > 0.0);
        let (sum, count) =
            (0..self.counts.len()).filter(occurs).fold((0.0, 0.0), |(sum, count), k| (sum + self.f1(k), count + 1.0));
        ratio(sum, count)
    }
}
