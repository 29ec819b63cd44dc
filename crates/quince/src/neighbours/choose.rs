//! Choosing the number of neighbours and the smoothing: leave-one-out for all of them in one pass.
//!
//! The neighbours of a row without itself, the nearest first, hold the answer for every K at once: its votes are those
//! of K - 1 and one more. So one search for the largest K gives the exact leave-one-out loss of all of them, and of every smoothing
//! too: where classes are clear, few neighbours and little smoothing are best, and where they overlap, many.

use super::vote::{TrainingTargets, mean, probability, weigh};
use super::{Index, Knn, TrainingRows};
use crate::error::Result;
use crate::learn::{Amount, largest};
use crate::run::Run;
use std::ops::RangeInclusive;

crate::choices! {
    /// What is best in rows that are left out.
    pub enum ChooseBy {
        /// The least log loss.
        #[default]
        LogLoss = "log-loss",
        /// The largest accuracy; of equal ones the least log loss.
        Accuracy = "accuracy",
        /// The largest mean F1 of the classes; of equal ones the least log loss.
        F1 = "f1",
    }
}

/// The largest number of neighbours that is tried.
pub(super) const MAX_NEIGHBOURS: usize = 50;
/// The largest number of rows that are left out; of more, this many are sampled.
const MAX_LEFT_OUT_ROWS: usize = 4000;
/// The number of rows between two looks at the clock: each is asked what up to fifty numbers of neighbours say, of all classes.
const ROWS_PER_CHECK: usize = 16;

/// The smoothing where nothing can be learnt: one vote, divided over the classes.
pub(super) const ONE_VOTE: f64 = 1.0;
/// Smoothings that are tried, in votes.
const SMOOTHINGS: [f64; 6] = [0.01, 0.03, 0.1, 0.3, ONE_VOTE, 3.0];
/// A smoothing of one vote can be found too large on this number of rows: of n rows no error of less than about one in n can be
/// seen.
const ROWS_PER_VOTE: f64 = 10.0;

/// A mean leave-one-out loss: what is asked for decides, and of equals the probabilities.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Loss {
    /// The log loss, one less the accuracy or one less the mean F1; of numbers the squared error.
    pub(super) asked: f64,
    /// The log loss; of numbers the squared error.
    of_probabilities: f64,
}

impl Loss {
    /// Worse than any other.
    pub(super) const NONE: Loss = Loss { asked: f64::INFINITY, of_probabilities: f64::INFINITY };
}

/// Mean leave-one-out losses, of each number of neighbours with each smoothing.
pub(super) struct Losses {
    numbers: RangeInclusive<usize>,
    smoothings: Vec<f64>,
    /// By number of neighbours, then by smoothing.
    values: Vec<Loss>,
}

/// The choice with the least loss.
pub(super) struct Best {
    pub(super) k: usize,
    pub(super) smoothing: f64,
    pub(super) loss: Loss,
}

impl Losses {
    /// The least loss; of equal ones the first number of neighbours, and its first smoothing.
    pub(super) fn best(&self) -> Best {
        let mut best = Best { k: *self.numbers.start(), smoothing: self.smoothings[0], loss: Loss::NONE };
        for (k, losses) in self.numbers.clone().zip(self.values.chunks(self.smoothings.len())) {
            for (&smoothing, &loss) in self.smoothings.iter().zip(losses) {
                if loss < best.loss {
                    best = Best { k, smoothing, loss };
                }
            }
        }
        best
    }

    /// The loss of each number of neighbours, with its best smoothing.
    pub(super) fn by_k(&self) -> Vec<f64> {
        let least = |losses: &[Loss]| losses.iter().map(|loss| loss.asked).fold(f64::INFINITY, f64::min);
        self.values.chunks(self.smoothings.len()).map(least).collect()
    }
}

/// What the rows that are left out come to, by one number of neighbours.
#[derive(Clone)]
struct Sums {
    /// The losses of the probabilities with each smoothing, or the squared error.
    losses: Vec<f64>,
    /// The weight of the rows that are given each class.
    predicted: Vec<f64>,
    /// And of those among them that are of it.
    right: Vec<f64>,
}

impl Sums {
    fn new(smoothings: usize, classes: usize) -> Sums {
        Sums { losses: vec![0.0; smoothings], predicted: vec![0.0; classes], right: vec![0.0; classes] }
    }

    fn add_label(&mut self, votes: &[f64], code: usize, weight: f64) {
        let label = largest(votes) as usize;
        self.predicted[label] += weight;
        if label == code {
            self.right[code] += weight;
        }
    }

    /// The loss that is asked for, where that is one of labels; `actual` has the weight of each class.
    fn of_labels(&self, by: ChooseBy, actual: &[f64]) -> Option<f64> {
        match by {
            ChooseBy::LogLoss => None,
            ChooseBy::Accuracy => Some(1.0 - self.right.iter().sum::<f64>() / actual.iter().sum::<f64>()),
            ChooseBy::F1 => {
                // 2·precision·recall / (precision + recall), of the classes that rows have or are given.
                let both = |&c: &usize| actual[c] + self.predicted[c];
                let occurring: Vec<usize> = (0..actual.len()).filter(|c| both(c) > 0.0).collect();
                let sum: f64 = occurring.iter().map(|c| 2.0 * self.right[*c] / both(c)).sum();
                Some(1.0 - sum / occurring.len() as f64)
            }
        }
    }

    fn into_losses(self, by: ChooseBy, actual: &[f64]) -> impl Iterator<Item = Loss> {
        let of_labels = self.of_labels(by, actual);
        self.losses
            .into_iter()
            .map(move |of_probabilities| Loss { asked: of_labels.unwrap_or(of_probabilities), of_probabilities })
    }
}

/// The mean leave-one-out losses of these numbers of neighbours, by what is asked for: of numbers the squared error.
pub(super) fn losses(
    settings: &Knn,
    index: &Index,
    kept: &TrainingRows,
    numbers: RangeInclusive<usize>,
    run: &Run,
) -> Result<Losses> {
    let (targets, weights) = (&kept.targets, &kept.weights);
    let rows = left_out(index.rows(), run);
    let smoothings = smoothings(settings.smoothing, targets, rows.len());
    let nearest = index.nearest_others(&rows, *numbers.end(), run)?;
    let of_row = |i: usize| weights.get(i).copied().unwrap_or(1.0);
    let total: f64 = rows.iter().map(|&i| of_row(i)).sum();
    let classes = if let TrainingTargets::Classes { classes, .. } = targets { *classes } else { 0 };
    let mut all = vec![Sums::new(smoothings.len(), classes); numbers.clone().count()];
    let (mut actual, mut means, mut vote_weights) = (vec![0.0; classes], vec![0.0; targets.width()], Vec::new());
    for (q, &i) in rows.iter().enumerate() {
        if q.is_multiple_of(ROWS_PER_CHECK) {
            run.check()?;
        }
        let (found, distances) = nearest.of(q);
        let (weight, share) = (of_row(i), of_row(i) / total);
        if let TrainingTargets::Classes { codes, .. } = targets {
            actual[codes[i] as usize] += weight;
        }
        for (k, sums) in numbers.clone().zip(&mut all) {
            weigh(settings.votes, &found[..k], &distances[..k], weights, &mut vote_weights);
            mean(targets, &found[..k], &vote_weights, &mut means);
            match targets {
                TrainingTargets::Classes { codes, .. } => {
                    let code = codes[i] as usize;
                    for (sum, smoothing) in sums.losses.iter_mut().zip(&smoothings) {
                        *sum -= share * probability(means[code], k, smoothing.max(1e-9), classes).ln();
                    }
                    sums.add_label(&means, code, weight);
                }
                TrainingTargets::Numbers(numbers) => {
                    let squares = means.iter().zip(numbers.row(i)).map(|(a, b)| (a - b) * (a - b));
                    sums.losses[0] += share * squares.sum::<f64>();
                }
            }
        }
    }
    let by = if classes == 0 { ChooseBy::LogLoss } else { settings.choose_by };
    let values = all.into_iter().flat_map(|sums| sums.into_losses(by, &actual)).collect();
    Ok(Losses { numbers, smoothings, values })
}

/// The rows that are left out: all of them, or a sample.
fn left_out(count: usize, run: &Run) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..count).collect();
    if rows.len() > MAX_LEFT_OUT_ROWS {
        run.stream(1).shuffle(&mut rows);
        rows.truncate(MAX_LEFT_OUT_ROWS);
        rows.sort_unstable();
    }
    rows
}

/// The smoothings to choose from, with this number of rows that are left out.
fn smoothings(asked: Amount, targets: &TrainingTargets, rows: usize) -> Vec<f64> {
    match (asked, targets) {
        (Amount::Fixed(smoothing), _) => vec![smoothing],
        (Amount::Auto, TrainingTargets::Numbers(_)) => vec![ONE_VOTE],
        (Amount::Auto, TrainingTargets::Classes { .. }) => {
            let least = (ROWS_PER_VOTE / rows as f64).min(ONE_VOTE);
            SMOOTHINGS.into_iter().filter(|&smoothing| smoothing >= least).collect()
        }
    }
}
