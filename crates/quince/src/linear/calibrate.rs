//! Probabilities from class scores, by one temperature.
//!
//! A least-squares classifier gives scores s_c, not probabilities. We take
//!
//! ```text
//! p_c = exp(t·s_c) / Σ_k exp(t·s_k)
//! ```
//!
//! with the one number t ≥ 0 that minimises the log loss of the exact leave-one-out scores, so that no row speaks for
//! itself. Targets are smoothed as if every class had been seen once more ((n + 1) / (n + classes) for the true class), so
//! t is finite even when the scores separate the classes. The order of the scores, and so the label, never changes.

use crate::matrix::Matrix;

/// The temperature that fits `scores` (a row an example, a column a class) to the class numbers in `codes`.
pub(super) fn temperature(scores: &Matrix, codes: &[u32], weights: Option<&[f64]>) -> f64 {
    let classes = scores.columns();
    let total: f64 = weights.map_or(codes.len() as f64, |w| w.iter().sum());
    let other = 1.0 / (total + classes as f64);
    let sure = 1.0 - other * (classes - 1) as f64;
    // The loss is convex in t: its slope is Σ w (E_p[s] - E_q[s]), with q the smoothed targets.
    let slope = |t: f64| -> f64 {
        let mut sum = 0.0;
        for (i, &code) in codes.iter().enumerate() {
            let row = scores.row(i);
            let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mut mass, mut mean, mut target) = (0.0, 0.0, 0.0);
            for (c, &s) in row.iter().enumerate() {
                let p = (t * (s - best)).exp();
                mass += p;
                mean += p * s;
                target += s * if c == code as usize { sure } else { other };
            }
            sum += weights.map_or(1.0, |w| w[i]) * (mean / mass - target);
        }
        sum
    };
    if slope(0.0) >= 0.0 {
        return 0.0;
    }
    let mut high = 1.0;
    while slope(high) < 0.0 && high < 1e6 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// exp(t·s) normalised over each row.
pub(super) fn softmax(scores: &Matrix, temperature: f64) -> Matrix {
    let mut probabilities = scores.clone();
    for i in 0..scores.rows() {
        let row = probabilities.row_mut(i);
        let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().for_each(|s| *s = (temperature * (*s - best)).exp());
        let mass: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= mass);
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
        let best = temperature(&scores, &codes, None);
        for t in [0.0, 0.5 * best, 0.99 * best, 1.01 * best, 2.0 * best, 50.0] {
            assert!(loss(best) < loss(t) + 1e-12, "{best} against {t}");
        }
    }

    #[test]
    fn perfect_scores_have_a_finite_temperature_and_useless_ones_none() {
        let perfect = Matrix::from_rows(&[[1.0, -1.0], [-1.0, 1.0]]);
        assert!(temperature(&perfect, &[0, 1], None).is_finite());
        assert_eq!(temperature(&perfect, &[1, 0], None), 0.0);
    }
}
