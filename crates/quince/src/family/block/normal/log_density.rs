//! The inner loops of scores: log densities of a column's values, or of a few rows, without what is the same for all rows.

use crate::matrix::simd::{LANES, vectorised};

/// The number of rows scored at a time: their sums stay in registers.
pub(super) const ROWS_IN_REGISTERS: usize = 2 * LANES;

vectorised! {
    /// Subtracts Σ (x - μ)² / 2σ² over the columns from the scores of a few rows.
    pub(super) fn take_squares(columns: &[&[f64]], normals: &[[f64; 2]], first: usize, scores: &mut [f64]) {
        let scores = &mut scores[first..];
        if scores.len() < ROWS_IN_REGISTERS {
            for (column, [mean, half]) in columns.iter().zip(normals) {
                for (score, x) in scores.iter_mut().zip(&column[first..]) {
                    *score -= half * ((x - mean) * (x - mean));
                }
            }
            return;
        }
        // Two sums of eight rows each, which the compiler keeps in registers.
        let (mut left, mut right) = ([0.0; LANES], [0.0; LANES]);
        for (column, [mean, half]) in columns.iter().zip(normals) {
            let (some, _) = column[first..first + ROWS_IN_REGISTERS].as_chunks::<LANES>();
            for l in 0..LANES {
                let d = some[0][l] - mean;
                left[l] += half * (d * d);
            }
            for l in 0..LANES {
                let d = some[1][l] - mean;
                right[l] += half * (d * d);
            }
        }
        for l in 0..LANES {
            scores[l] -= left[l];
            scores[LANES + l] -= right[l];
        }
    }

    /// Adds ln p(x) to the scores where x is not missing.
    pub(super) fn add_with_missing(values: &[f64], mean: f64, half: f64, constant: f64, scores: &mut [f64]) {
        for (x, score) in values.iter().zip(scores) {
            let d = x - mean;
            let add = constant - half * d * d;
            *score += if x.is_nan() { 0.0 } else { add };
        }
    }

    /// Subtracts (x - μ)² / 2σ² from every score, with μ and σ² from all other rows. The ratios by which σ² shrinks are
    /// multiplied, so that many columns need one logarithm.
    pub(super) fn take_leave_one_out(values: &[f64], sums: &LeaveOneOutStatistics, precision: f64, shrunk: &mut [f64], own: &mut [f64]) {
        let LeaveOneOutStatistics { origin, a, b, one, floor, least } = *sums;
        for ((x, shrunk), own) in values.iter().zip(shrunk).zip(own) {
            let d = x - origin;
            let (a, b) = (a - d, b - d * d);
            let squares = b - a * a * one;
            let squares = if squares > 0.0 { squares } else { 0.0 };
            let variance = squares * one + floor;
            let variance = if variance > least { variance } else { least };
            let off = d - a * one;
            *own -= 0.5 * off * off / variance;
            *shrunk *= variance * precision;
        }
    }
}

/// The statistics of a column of which one row is to be left out.
pub(super) struct LeaveOneOutStatistics {
    pub(super) origin: f64,
    pub(super) a: f64,
    pub(super) b: f64,
    /// 1 / W without the row.
    pub(super) one: f64,
    /// What is added to the variance.
    pub(super) floor: f64,
    /// The least variance.
    pub(super) least: f64,
}

/// Subtracts half the logarithms from the scores, and resets them to 1.
pub(super) fn take_logs(shrunk: &mut [f64], own: &mut [f64]) {
    for (shrunk, own) in shrunk.iter_mut().zip(own) {
        *own -= 0.5 * std::mem::replace(shrunk, 1.0).ln();
    }
}
