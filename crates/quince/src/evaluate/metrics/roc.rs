//! Receiver operating characteristic curves, and the area under them.

use super::checks::{check_classes, check_lengths};
use super::ratio;
use crate::error::{Error, Result};
use crate::learn::{Prediction, Target, TargetView};
use crate::matrix::Matrix;
use serde::Serialize;

/// The curve of true against false positives as the threshold falls.
///
/// ```
/// use quince::evaluate::Roc;
/// let roc = Roc::of(&[0.9, 0.6, 0.6, 0.1], &[true, true, false, false], None)?;
/// // Of the four pairs three are in order, and the tie counts half.
/// assert_eq!(roc.area, Some(0.875));
/// # quince::Result::Ok(())
/// ```
#[doc(alias = "auc")]
#[doc(alias = "receiver operating characteristic")]
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

    /// The curve of each class against all others, in the order of the classes, by its probabilities or, where the prediction has none,
    /// by how far its score is above the largest of the others; none where the target is not classes.
    ///
    /// ```
    /// use quince::evaluate::Roc;
    /// use quince::prelude::*;
    /// let probabilities = Matrix::from_rows(&[[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]);
    /// let prediction = Prediction::Classes { scores: probabilities.clone(), probabilities };
    /// let curves = Roc::of_classes(&Target::labels(&["a", "b", "b"]), &prediction, None)?;
    /// assert_eq!((curves[0].area, curves[1].area), (Some(1.0), Some(1.0)));
    /// # quince::Result::Ok(())
    /// ```
    pub fn of_classes(truth: &Target, prediction: &Prediction, weights: Option<&[f64]>) -> Result<Vec<Roc>> {
        let (TargetView::Classes { classes, codes }, Prediction::Classes { scores, .. }) = (truth.view(), prediction)
        else {
            return Ok(Vec::new());
        };
        check_classes(classes, prediction.probabilities().unwrap_or(scores))?;
        truth.check_known()?;
        let of_class = |k: usize| {
            let positive: Vec<bool> = codes.iter().map(|&code| code as usize == k).collect();
            match prediction.probabilities() {
                Some(probabilities) => Roc::of(&probabilities.column(k), &positive, weights),
                None => Roc::of(&margins(scores, k), &positive, weights),
            }
        };
        (0..classes.count()).map(of_class).collect()
    }
}

/// How far the score of class `k` is above the largest of the others, row by row: above zero where it is the label.
fn margins(scores: &Matrix, k: usize) -> Vec<f64> {
    let margin = |row: &[f64]| {
        let others = row.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, score)| *score);
        row[k] - others.fold(f64::NEG_INFINITY, f64::max)
    };
    (0..scores.rows()).map(|i| margin(scores.row(i))).collect()
}
