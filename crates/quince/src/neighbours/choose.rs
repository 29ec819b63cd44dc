//! Choosing the number of neighbours: leave-one-out for every K in one pass.
//!
//! The neighbours of a row without itself, the nearest first, hold the answer for every K at once: its votes are those
//! of K - 1 and one more. So one search for the largest K gives the exact leave-one-out loss of all of them.

use super::vote::{TrainingTargets, mean, probability, weigh};
use super::{Index, Knn};
use crate::error::Result;
use crate::learn::{Target, TargetView};
use crate::run::Run;

/// The largest number of neighbours that is tried.
pub(super) const MAX_NEIGHBOURS: usize = 50;
/// The largest number of rows that are left out; of more, this many are sampled.
const MAX_LEFT_OUT_ROWS: usize = 4000;

/// The mean leave-one-out loss for 1, 2, 3 ... neighbours: log loss for classes, squared error for numbers.
pub(super) fn losses(
    settings: &Knn,
    index: &Index,
    targets: &TrainingTargets,
    target: &Target,
    weights: &[f64],
    run: &Run,
) -> Result<Vec<f64>> {
    let most = MAX_NEIGHBOURS.min(index.rows() - 1);
    let mut rows: Vec<usize> = (0..index.rows()).collect();
    if rows.len() > MAX_LEFT_OUT_ROWS {
        run.stream(1).shuffle(&mut rows);
        rows.truncate(MAX_LEFT_OUT_ROWS);
        rows.sort_unstable();
    }
    let nearest = index.nearest_others(&rows, most, run)?;
    let of_row = |i: usize| weights.get(i).copied().unwrap_or(1.0);
    let total: f64 = rows.iter().map(|&i| of_row(i)).sum();
    let (mut sums, mut means, mut vote_weights) = (vec![0.0; most], vec![0.0; targets.width()], Vec::new());
    for (q, &i) in rows.iter().enumerate() {
        let (found, distances) = nearest.of(q);
        for k in 1..=most {
            weigh(settings.votes, &found[..k], &distances[..k], weights, &mut vote_weights);
            mean(targets, &found[..k], &vote_weights, &mut means);
            let loss = match target.view() {
                TargetView::Classes { codes, classes } => {
                    let fraction = means[codes[i] as usize];
                    -probability(fraction, k, settings.smoothing.max(1e-9), classes.count()).ln()
                }
                TargetView::Numbers(numbers) => means.iter().zip(numbers.row(i)).map(|(a, b)| (a - b) * (a - b)).sum(),
                TargetView::None(_) => 0.0,
            };
            sums[k - 1] += of_row(i) * loss / total;
        }
    }
    Ok(sums)
}
