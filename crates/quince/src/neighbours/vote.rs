//! Predictions from neighbours: a class by votes, or a number by their mean.

use super::Votes;
use crate::matrix::Matrix;

/// The targets of the training rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TrainingTargets {
    /// The class of each row, and how many classes there are.
    Classes { codes: Vec<u32>, classes: usize },
    /// The numbers of each row.
    Numbers(Matrix),
}

impl TrainingTargets {
    pub(super) fn width(&self) -> usize {
        match self {
            TrainingTargets::Classes { classes, .. } => *classes,
            TrainingTargets::Numbers(numbers) => numbers.columns(),
        }
    }

    /// Adds the target of row `i`, `weight` times.
    fn add(&self, i: u32, weight: f64, sums: &mut [f64]) {
        match self {
            TrainingTargets::Classes { codes, .. } => sums[codes[i as usize] as usize] += weight,
            TrainingTargets::Numbers(numbers) => {
                sums.iter_mut().zip(numbers.row(i as usize)).for_each(|(sum, y)| *sum += weight * y);
            }
        }
    }
}

/// The weight of each neighbour of one query: its sample weight, or its sample weight over its distance. Where distances are
/// zero, only those neighbours count; where all are infinite, all count alike.
pub(super) fn weigh(votes: Votes, rows: &[u32], distances: &[f64], sample_weights: &[f64], out: &mut Vec<f64>) {
    let of_row = |i: &u32| sample_weights.get(*i as usize).copied().unwrap_or(1.0);
    out.clear();
    out.extend(rows.iter().map(of_row));
    if votes == Votes::Uniform {
        return;
    }
    let touching = distances.contains(&0.0);
    let inverse = |d: f64| match touching {
        true => f64::from(u8::from(d == 0.0)),
        false => 1.0 / d,
    };
    let near: Vec<f64> = distances.iter().map(|&d| inverse(d)).collect();
    let largest = near.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        // Relative to the largest, so that a tiny distance cannot overflow.
        let bounded = |x: f64| if largest.is_finite() { x / largest } else { f64::from(u8::from(x == largest)) };
        out.iter_mut().zip(near).for_each(|(weight, near)| *weight *= bounded(near));
    }
}

/// The weighted mean of the neighbours' targets: for classes the fractions of the votes.
pub(super) fn mean(targets: &TrainingTargets, rows: &[u32], weights: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    rows.iter().zip(weights).for_each(|(&i, &weight)| targets.add(i, weight, out));
    let total: f64 = weights.iter().sum();
    out.iter_mut().for_each(|sum| *sum /= total);
}

/// The probability of a class with this fraction of k votes, if `smoothing` more votes are divided evenly over all classes.
pub(super) fn probability(fraction: f64, k: usize, smoothing: f64, classes: usize) -> f64 {
    (k as f64 * fraction + smoothing / classes as f64) / (k as f64 + smoothing)
}
