//! What neighbours say together: a class by votes, or a number by their mean.

use super::Votes;
use crate::matrix::Matrix;

/// What the training rows have to say.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answers {
    /// The class of each row, and how many classes there are.
    Classes { codes: Vec<u32>, classes: usize },
    /// The numbers of each row.
    Numbers(Matrix),
}

impl Answers {
    pub(super) fn width(&self) -> usize {
        match self {
            Answers::Classes { classes, .. } => *classes,
            Answers::Numbers(numbers) => numbers.columns(),
        }
    }

    /// Adds what row `i` says, `weight` times.
    fn add(&self, i: u32, weight: f64, sums: &mut [f64]) {
        match self {
            Answers::Classes { codes, .. } => sums[codes[i as usize] as usize] += weight,
            Answers::Numbers(numbers) => {
                sums.iter_mut().zip(numbers.row(i as usize)).for_each(|(sum, y)| *sum += weight * y);
            }
        }
    }
}

/// How much each neighbour of one query counts: its row weight, or its row weight over its distance. Where distances are
/// zero, only those neighbours count; where all are infinite, all count alike.
pub(super) fn weigh(votes: Votes, rows: &[u32], distances: &[f64], row_weights: &[f64], out: &mut Vec<f64>) {
    let of_row = |i: &u32| row_weights.get(*i as usize).copied().unwrap_or(1.0);
    out.clear();
    out.extend(rows.iter().map(of_row));
    if votes == Votes::Uniform {
        return;
    }
    let touching = distances.contains(&0.0);
    let share = |d: f64| match touching {
        true => f64::from(u8::from(d == 0.0)),
        false => 1.0 / d,
    };
    let near: Vec<f64> = distances.iter().map(|&d| share(d)).collect();
    let largest = near.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        // Shares of the largest, so that a tiny distance cannot overflow.
        let bounded = |x: f64| if largest.is_finite() { x / largest } else { f64::from(u8::from(x == largest)) };
        out.iter_mut().zip(near).for_each(|(weight, near)| *weight *= bounded(near));
    }
}

/// The weighted mean of what the neighbours say: for classes their shares of the votes.
pub(super) fn mean(answers: &Answers, rows: &[u32], weights: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    rows.iter().zip(weights).for_each(|(&i, &weight)| answers.add(i, weight, out));
    let total: f64 = weights.iter().sum();
    out.iter_mut().for_each(|sum| *sum /= total);
}

/// The probability of a class that has this share of k votes, if `smoothing` more votes are spread evenly over all classes.
pub(super) fn probability(share: f64, k: usize, smoothing: f64, classes: usize) -> f64 {
    (k as f64 * share + smoothing / classes as f64) / (k as f64 + smoothing)
}
