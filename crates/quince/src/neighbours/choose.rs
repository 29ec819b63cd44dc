//! Choosing the number of neighbours and the smoothing: leave-one-out for all of them in one pass.
//!
//! The neighbours of a row without itself, the nearest first, hold the answer for every K at once: its votes are those
//! of K - 1 and one more. So one search for the largest K gives the exact leave-one-out loss of all of them, and of every smoothing
//! too: where classes are clear, few neighbours and little smoothing are best, and where they overlap, many.

use super::vote::{TrainingTargets, mean, probability, weigh};
use super::{Index, Knn, TrainingRows};
use crate::error::Result;
use crate::learn::{Amount, TargetView};
use crate::run::Run;
use std::ops::RangeInclusive;

/// The largest number of neighbours that is tried.
pub(super) const MAX_NEIGHBOURS: usize = 50;
/// The largest number of rows that are left out; of more, this many are sampled.
const MAX_LEFT_OUT_ROWS: usize = 4000;

/// The smoothing where nothing can be learnt: one vote, divided over the classes.
pub(super) const ONE_VOTE: f64 = 1.0;
/// Smoothings that are tried, in votes.
const SMOOTHINGS: [f64; 6] = [0.01, 0.03, 0.1, 0.3, ONE_VOTE, 3.0];
/// A smoothing of one vote can be found too large on this number of rows: of n rows no error of less than about one in n can be
/// seen.
const ROWS_PER_VOTE: f64 = 10.0;

/// Mean leave-one-out losses, of each number of neighbours with each smoothing.
pub(super) struct Losses {
    numbers: RangeInclusive<usize>,
    smoothings: Vec<f64>,
    /// By number of neighbours, then by smoothing.
    values: Vec<f64>,
}

/// The choice with the least loss.
pub(super) struct Best {
    pub(super) k: usize,
    pub(super) smoothing: f64,
    pub(super) loss: f64,
}

impl Losses {
    /// The least loss; of equal ones the first number of neighbours, and its first smoothing.
    pub(super) fn best(&self) -> Best {
        let mut best = Best { k: *self.numbers.start(), smoothing: self.smoothings[0], loss: f64::INFINITY };
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
        let least = |losses: &[f64]| losses.iter().copied().fold(f64::INFINITY, f64::min);
        self.values.chunks(self.smoothings.len()).map(least).collect()
    }
}

/// The mean leave-one-out losses of these numbers of neighbours: log loss for classes, squared error for numbers.
pub(super) fn losses(
    settings: &Knn,
    index: &Index,
    kept: &TrainingRows,
    numbers: RangeInclusive<usize>,
    run: &Run,
) -> Result<Losses> {
    let (targets, weights) = (&kept.targets, &kept.weights);
    let mut rows: Vec<usize> = (0..index.rows()).collect();
    if rows.len() > MAX_LEFT_OUT_ROWS {
        run.stream(1).shuffle(&mut rows);
        rows.truncate(MAX_LEFT_OUT_ROWS);
        rows.sort_unstable();
    }
    let smoothings: Vec<f64> = match (settings.smoothing, targets) {
        (Amount::Fixed(smoothing), _) => vec![smoothing],
        (Amount::Auto, TrainingTargets::Numbers(_)) => vec![ONE_VOTE],
        (Amount::Auto, TrainingTargets::Classes { .. }) => {
            let least = (ROWS_PER_VOTE / rows.len() as f64).min(ONE_VOTE);
            SMOOTHINGS.into_iter().filter(|&smoothing| smoothing >= least).collect()
        }
    };
    let nearest = index.nearest_others(&rows, *numbers.end(), run)?;
    let of_row = |i: usize| weights.get(i).copied().unwrap_or(1.0);
    let total: f64 = rows.iter().map(|&i| of_row(i)).sum();
    let mut values = vec![0.0; numbers.clone().count() * smoothings.len()];
    let (mut means, mut vote_weights) = (vec![0.0; targets.width()], Vec::new());
    for (q, &i) in rows.iter().enumerate() {
        let (found, distances) = nearest.of(q);
        let share = of_row(i) / total;
        for (k, sums) in numbers.clone().zip(values.chunks_mut(smoothings.len())) {
            weigh(settings.votes, &found[..k], &distances[..k], weights, &mut vote_weights);
            mean(targets, &found[..k], &vote_weights, &mut means);
            match kept.target.view() {
                TargetView::Classes { codes, classes } => {
                    let fraction = means[codes[i] as usize];
                    for (sum, smoothing) in sums.iter_mut().zip(&smoothings) {
                        *sum -= share * probability(fraction, k, smoothing.max(1e-9), classes.count()).ln();
                    }
                }
                TargetView::Numbers(numbers) => {
                    let squares = means.iter().zip(numbers.row(i)).map(|(a, b)| (a - b) * (a - b));
                    sums[0] += share * squares.sum::<f64>();
                }
                TargetView::None(_) => {}
            }
        }
    }
    Ok(Losses { numbers, smoothings, values })
}
