//! Moments of a column about an origin, in eight lanes.

use crate::matrix::simd::{LANES, vectorised};

vectorised! {
    /// Σ (x - o) and Σ (x - o)².
    pub(super) fn plain_moments(values: &[f64], origin: f64) -> (f64, f64) {
        let (blocks, rest) = values.as_chunks::<LANES>();
        let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
        for block in blocks {
            for l in 0..LANES {
                let d = block[l] - origin;
                sums[l] += d;
                squares[l] += d * d;
            }
        }
        for (l, x) in rest.iter().enumerate() {
            let d = x - origin;
            sums[l] += d;
            squares[l] += d * d;
        }
        let (mut sum, mut square) = (0.0, 0.0);
        for l in 0..LANES {
            sum += sums[l];
            square += squares[l];
        }
        (sum, square)
    }

    /// Σ w, Σ w (x - o) and Σ w (x - o)².
    pub(super) fn weighed_moments(values: &[f64], weights: &[f64], origin: f64) -> (f64, f64, f64) {
        let ((blocks, rest), (by, by_rest)) = (values.as_chunks::<LANES>(), weights.as_chunks::<LANES>());
        let (mut totals, mut sums, mut squares) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for (block, by) in blocks.iter().zip(by) {
            for l in 0..LANES {
                let d = block[l] - origin;
                totals[l] += by[l];
                sums[l] += by[l] * d;
                squares[l] += by[l] * d * d;
            }
        }
        for (l, (x, weight)) in rest.iter().zip(by_rest).enumerate() {
            let d = x - origin;
            totals[l] += weight;
            sums[l] += weight * d;
            squares[l] += weight * d * d;
        }
        let (mut total, mut sum, mut square) = (0.0, 0.0, 0.0);
        for l in 0..LANES {
            total += totals[l];
            sum += sums[l];
            square += squares[l];
        }
        (total, sum, square)
    }
}
