//! Probabilities of two classes from one score, whose sign is the label.
//!
//! ```text
//! ln(p / (1 - p)) = 2 t s + a
//! ```
//!
//! Where classes cost the same, a is zero: t is the [temperature](super::temperature()). Where one class costs more than the other, a
//! score of zero is no longer an even chance: the label follows the costs, and a (Platt 1999) brings the probabilities back to the
//! chances. Between the score of zero and that of even chances the two contradict each other; there p is one half, but for a hair
//! on the side of the label, so that label and probabilities always agree.

use crate::error::Result;
use crate::passes::{Merge, Pass, at_hand};
use crate::run::Run;
use std::ops::Range;

/// The least log odds of a label.
const HAIR: f64 = 1e-9;
/// The most Newton steps.
const MAX_STEPS: usize = 100;

/// How scores of two classes become probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogOdds {
    /// The inverse temperature t.
    pub(crate) temperature: f64,
    /// The offset a, zero where classes cost the same.
    pub(crate) offset: f64,
}

impl LogOdds {
    /// Log odds of the second class at a score; their sign is the score's.
    pub(crate) fn at(&self, score: f64) -> f64 {
        let odds = 2.0 * self.temperature * score + self.offset;
        if self.offset == 0.0 {
            odds
        } else if score > 0.0 {
            odds.max(HAIR)
        } else {
            odds.min(-HAIR)
        }
    }

    /// Temperature and offset with the least log loss of scores and their classes (Platt 1999), whose probabilities are smoothed as
    /// if each class had been seen once more.
    pub(crate) fn fit(scores: &[f64], positive: &[bool], weights: Option<&[f64]>, run: &Run) -> Result<LogOdds> {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let mut seen = [0.0; 2];
        positive.iter().enumerate().for_each(|(i, positive)| seen[usize::from(*positive)] += weight(i));
        let smoothed = [1.0 / (seen[0] + 2.0), (seen[1] + 1.0) / (seen[1] + 2.0)];
        // Scores in units of their size, so that both parameters are of order one.
        let size = scores.iter().map(|score| score.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let rows = Rows { scores, positive, weights, smoothed, size };
        let (mut slope, mut offset) = (0.0, ((seen[1] + 1.0) / (seen[0] + 1.0)).ln());
        let mut at = rows.derivatives(slope, offset, run)?;
        for _ in 0..MAX_STEPS {
            let (by_slope, by_offset) = at.newton_step();
            let mut share = 1.0;
            let next = loop {
                // Scores that speak for the other class have nothing to say.
                let (next_slope, next_offset) = (f64::max(slope + share * by_slope, 0.0), offset + share * by_offset);
                let next = rows.derivatives(next_slope, next_offset, run)?;
                if next.loss <= at.loss || share < 1e-6 {
                    break (next_slope, next_offset, next);
                }
                share *= 0.5;
            };
            let gained = at.loss - next.2.loss;
            if gained.is_nan() || gained <= 1e-12 * at.loss {
                break;
            }
            (slope, offset, at) = next;
        }
        Ok(LogOdds { temperature: 0.5 * slope / size, offset })
    }
}

struct Rows<'a> {
    scores: &'a [f64],
    positive: &'a [bool],
    weights: Option<&'a [f64]>,
    /// The target of a row of the first and of the second class.
    smoothed: [f64; 2],
    size: f64,
}

/// The loss at a slope and an offset, and its derivatives.
#[derive(Clone, Copy, Default)]
struct Derivatives {
    loss: f64,
    gradient: [f64; 2],
    /// By slope twice, by both, by offset twice.
    curvature: [f64; 3],
}

impl Merge for Derivatives {
    fn merge(&mut self, other: Derivatives) {
        self.loss += other.loss;
        self.gradient.iter_mut().zip(other.gradient).for_each(|(sum, one)| *sum += one);
        self.curvature.iter_mut().zip(other.curvature).for_each(|(sum, one)| *sum += one);
    }
}

impl Rows<'_> {
    fn derivatives(&self, slope: f64, offset: f64, run: &Run) -> Result<Derivatives> {
        Pass::new(usize::MAX, run).gather(at_hand(self.scores.len()), Derivatives::default, |sum, _, rows| {
            self.add(slope, offset, rows, sum);
        })
    }

    fn add(&self, slope: f64, offset: f64, rows: Range<usize>, sum: &mut Derivatives) {
        for i in rows {
            let score = self.scores[i] / self.size;
            let odds = slope * score + offset;
            let target = self.smoothed[usize::from(self.positive[i])];
            // e^-|odds| cannot overflow.
            let small = (-odds.abs()).exp();
            let probability = if odds > 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
            let weight = self.weights.map_or(1.0, |weights| weights[i]);
            let (difference, variance) = (weight * (probability - target), weight * small / (1.0 + small).powi(2));
            sum.loss += weight * (small.ln_1p() + odds.max(0.0) - target * odds);
            sum.gradient[0] += difference * score;
            sum.gradient[1] += difference;
            sum.curvature[0] += variance * score * score;
            sum.curvature[1] += variance * score;
            sum.curvature[2] += variance;
        }
    }
}

impl Derivatives {
    /// The step to the minimum of the quadratic model.
    fn newton_step(&self) -> (f64, f64) {
        let [a, b, c] = self.curvature;
        // A little more than nothing, where scores are all the same.
        let (a, c) = (a + 1e-12 * (a + c) + f64::MIN_POSITIVE, c + 1e-12 * (a + c) + f64::MIN_POSITIVE);
        let determinant = a * c - b * b;
        let [by_slope, by_offset] = self.gradient;
        ((b * by_offset - c * by_slope) / determinant, (b * by_slope - a * by_offset) / determinant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(found: LogOdds, scores: &[f64], positive: &[bool]) -> f64 {
        let (negative, others) = (positive.iter().filter(|p| !**p).count() as f64, positive.len() as f64);
        let targets = [1.0 / (negative + 2.0), (others - negative + 1.0) / (others - negative + 2.0)];
        let of = |(score, positive): (&f64, &bool)| {
            let (odds, target) = (2.0 * found.temperature * score + found.offset, targets[usize::from(*positive)]);
            target * (1.0 + (-odds).exp()).ln() + (1.0 - target) * (1.0 + odds.exp()).ln()
        };
        scores.iter().zip(positive).map(of).sum()
    }

    #[test]
    fn temperature_and_offset_have_the_least_loss_of_all() {
        let scores = [2.0, 1.5, 1.0, 0.5, 0.2, -0.2, -0.5, -0.7, 0.9, 0.4];
        let positive = [true, true, false, true, false, false, false, false, false, true];
        let best = LogOdds::fit(&scores, &positive, None, &Run::new()).unwrap();
        let least = loss(best, &scores, &positive);
        for (t, a) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3), (0.5, 0.5), (-0.5, 2.0)] {
            let other = LogOdds { temperature: best.temperature + t, offset: best.offset + a };
            assert!(least < loss(other, &scores, &positive), "{best:?} {other:?}");
        }
    }

    #[test]
    fn even_chances_alone_say_the_prior() {
        // No score says anything: of four rows one is positive, smoothed to (1/6·3 + 2/3) / 4... the mean of the targets.
        let found = LogOdds::fit(&[0.0; 4], &[true, false, false, false], None, &Run::new()).unwrap();
        let mean: f64 = (2.0 / 3.0 + 3.0 / 5.0) / 4.0;
        assert!((found.offset - (mean / (1.0 - mean)).ln()).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn the_label_is_never_contradicted() {
        let odds = LogOdds { temperature: 1.0, offset: -2.0 };
        assert_eq!(odds.at(3.0), 4.0);
        assert!(odds.at(0.5) > 0.0 && odds.at(0.5) < 1e-6);
        assert_eq!(odds.at(-1.0), -4.0);
        assert!(odds.at(0.0) < 0.0);
    }
}
