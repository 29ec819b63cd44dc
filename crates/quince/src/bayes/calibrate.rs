//! How much the columns are to be trusted.
//!
//! Naive Bayes takes columns as independent. Where two say the same, it hears the same thing twice, and is too sure of its answer.
//! So the log likelihood counts only by a share t,
//!
//! ```text
//! s_c = ln P(c) + t · ln p(row | c)
//! ```
//!
//! with the one number t, at most 1, under which rows that are left out are likeliest to be of their class. The loss is convex in t,
//! and its slope is Σ w (E_p[l] - l_true), l being the log likelihoods of a row: Newton's steps, kept inside a bracket, find where
//! it is zero.

use crate::matrix::Matrix;

/// The share t for rows whose log likelihoods are those of `likelihoods` (a row an example, a column a class).
pub(super) fn trust(likelihoods: &Matrix, log_priors: &[f64], codes: &[u32], weights: Option<&[f64]>) -> f64 {
    let slope_at = |t: f64| slope(t, likelihoods, log_priors, codes, weights);
    let (mut low, mut high, mut t) = (LEAST, 1.0, 0.5);
    if slope_at(high).0 <= 0.0 {
        return high;
    }
    if slope_at(low).0 >= 0.0 {
        return low;
    }
    for _ in 0..60 {
        let (slope, curvature) = slope_at(t);
        if slope < 0.0 {
            low = t;
        } else {
            high = t;
        }
        let newton = t - slope / curvature;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() <= 1e-9 * t {
            return next;
        }
        t = next;
    }
    t
}

/// Columns always count for something.
const LEAST: f64 = 1e-3;

/// Slope and curvature of the loss at t.
fn slope(t: f64, likelihoods: &Matrix, log_priors: &[f64], codes: &[u32], weights: Option<&[f64]>) -> (f64, f64) {
    let classes = log_priors.len();
    let (mut slope, mut curvature) = (0.0, 0.0);
    let mut row = vec![0.0; classes];
    for (i, &code) in codes.iter().enumerate() {
        let of_row = likelihoods.row(i);
        // A row that its class cannot have is lost, whatever t is.
        if of_row[code as usize] == f64::NEG_INFINITY {
            continue;
        }
        // Likelihoods are taken from the largest one, so that nothing overflows; what cannot be is far below it.
        let best = of_row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().zip(of_row).for_each(|(l, likelihood)| *l = (likelihood - best).max(-FAR));
        let score = |k: usize| log_priors[k] + t * row[k];
        let most = (0..classes).map(score).fold(f64::NEG_INFINITY, f64::max);
        let (mut mass, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (k, &l) in row.iter().enumerate().filter(|(k, _)| log_priors[*k] > f64::NEG_INFINITY) {
            let p = (score(k) - most).exp();
            mass += p;
            mean += p * l;
            square += p * l * l;
        }
        let weight = weights.map_or(1.0, |weights| weights[i]);
        slope += weight * (mean / mass - row[code as usize]);
        curvature += weight * (square / mass - (mean / mass).powi(2));
    }
    (slope, curvature)
}

/// A likelihood so much smaller than another, as a logarithm, is as good as none.
const FAR: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Stream;

    /// Rows that say everything three times are to be trusted for a third.
    #[test]
    fn what_is_said_three_times_counts_once() {
        let mut stream = Stream::new(5, 0);
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let odds = 2.0 * stream.normal();
            let second = stream.uniform() < 1.0 / (1.0 + (-odds).exp());
            codes.push(u32::from(second));
            values.extend([0.0, 3.0 * odds]);
        }
        let likelihoods = Matrix::new(20_000, 2, values).unwrap();
        let half = [0.5f64.ln(); 2];
        let found = trust(&likelihoods, &half, &codes, None);
        assert!((found - 1.0 / 3.0).abs() < 0.015, "{found}");
        // Nothing near is better.
        let loss = |t: f64| {
            let each = (0..20_000).map(|i| {
                let odds = t * likelihoods[(i, 1)];
                let odds = if codes[i] == 1 { odds } else { -odds };
                (1.0 + (-odds).exp()).ln()
            });
            each.sum::<f64>()
        };
        assert!(loss(found) <= loss(found * 1.01) + 1e-3 && loss(found) <= loss(found * 0.99) + 1e-3);
    }

    #[test]
    fn columns_that_are_always_right_count_for_what_they_say() {
        let right = Matrix::from_rows(&[[0.0, -500.0], [0.0, -4.0], [f64::NEG_INFINITY, 0.0], [-3.0, 0.0]]);
        assert_eq!(trust(&right, &[0.5f64.ln(); 2], &[0, 0, 1, 1], None), 1.0);
    }

    #[test]
    fn columns_that_say_nothing_or_the_wrong_thing_count_for_next_to_nothing() {
        let wrong = Matrix::from_rows(&[[0.0, 5.0], [0.0, 4.0], [6.0, 0.0], [3.0, 0.0]]);
        assert_eq!(trust(&wrong, &[0.5f64.ln(); 2], &[0, 0, 1, 1], None), LEAST);
    }
}
