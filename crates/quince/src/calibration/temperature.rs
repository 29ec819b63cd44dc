//! Temperature scaling: probabilities from class scores by one parameter.
//!
//! A least-squares classifier gives scores s_c, not probabilities. We take
//!
//! ```text
//! p_c = exp(t·s_c) / Σ_k exp(t·s_k)
//! ```
//!
//! with the t ≥ 0 (an inverse temperature) that minimises the log loss of the exact leave-one-out scores, so that no row
//! predicts itself. Targets are smoothed as if every class had been seen once more ((n + 1) / (n + classes) for the true
//! class), so t is finite even when the scores separate the classes. The order of the scores, and so the label, never
//! changes.

use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::{exp, log_sum_exp};
use crate::passes::{Merge, Pass, at_hand};
use crate::run::Run;
use std::ops::Range;

/// The temperature that fits `scores` (one row per example, one column per class) to the class codes in `codes`.
///
/// The loss is convex in t: its gradient is Σ w (E_p[s] - E_q[s]), with q the smoothed targets, and its curvature the
/// variance Σ w Var_p[s]. Newton's method, kept inside a bracket, finds the zero of the gradient in a few passes.
pub(crate) fn temperature(scores: &Matrix, codes: &[u32], weights: Option<&[f64]>, run: &Run) -> Result<f64> {
    let gradient_at = |t: f64| -> Result<(f64, f64)> {
        let nothing = || (0.0, 0.0);
        Pass::new(usize::MAX, run).gather(at_hand(codes.len()), nothing, |sum, _, rows| {
            sum.merge(gradient(t, scores, codes, weights, rows));
        })
    };
    let (first, _) = gradient_at(0.0)?;
    if first >= 0.0 {
        return Ok(0.0);
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    for _ in 0..60 {
        let (gradient, curvature) = gradient_at(t)?;
        if gradient < 0.0 {
            low = t
        } else {
            high = t
        }
        let newton = t - gradient / curvature;
        let next = if newton > low && newton < high && newton < 8.0 * (t + 1.0) {
            newton
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * t
        };
        if (next - t).abs() <= 1e-10 * t || next > 1e6 {
            return Ok(next.min(1e6));
        }
        t = next;
    }
    Ok(t)
}

/// Gradient and curvature of the loss at t, over a range of rows.
fn gradient(t: f64, scores: &Matrix, codes: &[u32], weights: Option<&[f64]>, rows: Range<usize>) -> (f64, f64) {
    let classes = scores.columns();
    let total: f64 = weights.map_or(codes.len() as f64, |w| w.iter().sum());
    let other = 1.0 / (total + classes as f64);
    let sure = 1.0 - other * (classes - 1) as f64;
    let (mut gradient, mut curvature) = (0.0, 0.0);
    for i in rows {
        let row = scores.row(i);
        let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut mass, mut mean, mut square, mut target) = (0.0, 0.0, 0.0, 0.0);
        for (c, &s) in row.iter().enumerate() {
            // Scores are relative to the largest one, so that nothing overflows and no digits cancel.
            let s = s - best;
            let p = (t * s).exp();
            mass += p;
            mean += p * s;
            square += p * s * s;
            target += s * if c == codes[i] as usize { sure } else { other };
        }
        let weight = weights.map_or(1.0, |w| w[i]);
        let mean = mean / mass;
        gradient += weight * (mean - target);
        curvature += weight * (square / mass - mean * mean);
    }
    (gradient, curvature)
}

/// The softmax exp(t·s) / Σ exp(t·s) of each row.
pub(crate) fn softmax(scores: &Matrix, temperature: f64) -> Matrix {
    let mut probabilities = scores.clone();
    for i in 0..scores.rows() {
        let row = probabilities.row_mut(i);
        row.iter_mut().for_each(|s| *s *= temperature);
        let all = log_sum_exp(row);
        row.iter_mut().for_each(|s| *s -= all);
        exp(row);
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_temperature_has_the_least_loss_of_all() {
        let scores = Matrix::from_rows(&[[1.0, -1.0], [0.5, -0.5], [-0.2, 0.2], [-1.0, 1.0], [0.3, -0.3]]);
        let codes = [0, 0, 0, 1, 1];
        let loss = |t: f64| -> f64 {
            let p = softmax(&scores, t);
            let n = codes.len() as f64;
            let (sure, other) = ((n + 1.0) / (n + 2.0), 1.0 / (n + 2.0));
            (0..5)
                .map(|i| {
                    (0..2).map(|c| -(if codes[i] == c as u32 { sure } else { other }) * p[(i, c)].ln()).sum::<f64>()
                })
                .sum()
        };
        let best = temperature(&scores, &codes, None, &Run::new()).unwrap();
        for t in [0.0, 0.5 * best, 0.99 * best, 1.01 * best, 2.0 * best, 50.0] {
            assert!(loss(best) < loss(t) + 1e-12, "{best} against {t}");
        }
    }

    #[test]
    fn perfect_scores_have_a_finite_temperature_and_useless_ones_none() {
        let perfect = Matrix::from_rows(&[[1.0, -1.0], [-1.0, 1.0]]);
        let found = temperature(&perfect, &[0, 1], None, &Run::new()).unwrap();
        // Both rows are the same to the loss: p = 1 / (1 + exp(-2t)) must be the smoothed target 3/4.
        assert!((found - 3f64.ln() / 2.0).abs() < 1e-9, "{found}");
        assert_eq!(temperature(&perfect, &[1, 0], None, &Run::new()).unwrap(), 0.0);
    }
}
