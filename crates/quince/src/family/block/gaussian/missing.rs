//! Rows with missing values: the marginal density of what is observed, and the conditional moments of what is missing.
//!
//! With Λ = Σ⁻¹, H the missing columns of a row and d its deviation from the mean, zero in H, let g = Λ d. Then what is
//! observed has
//!
//! ```text
//! conditional expectation    d_H = -Λ_HH⁻¹ g_H, with the covariance Λ_HH⁻¹;
//! quadratic form             dᵀΛd, with d_H as expected: no other d_H makes it smaller;
//! determinant                |Σ| |Λ_HH|.
//! ```
//!
//! So the quadratic form is a sum of squares, as for complete rows, and rounding errors of d_H hardly change it. Only a
//! matrix of the size of H is factored, once for all consecutive rows with the same missing values.

use super::covariance::FactoredCovariance;
use super::{Gaussians, Shape};
use crate::family::block::Tile;
use crate::matrix::simd::{LANES, vectorised};
use std::ops::Range;

/// Fewer rows than this are computed one by one rather than side by side.
const MIN_ROWS_SIDE_BY_SIDE: usize = 4;

/// Consecutive rows of a tile with the same missing values.
pub(super) struct MissingPattern {
    pub(super) rows: Range<usize>,
    /// The missing columns, counted among those of the block.
    pub(super) missing: Vec<usize>,
}

/// The conditional moments of a tile's rows under a component.
#[derive(Default)]
pub(super) struct ConditionalMoments {
    /// Deviations from the mean, by columns; where values are missing, the conditional expectation.
    pub(super) deviations: Vec<f64>,
    /// The quadratic form of what is observed.
    pub(super) squares: Vec<f64>,
    /// Of each pattern: the summand of ln |Σ|.
    pub(super) determinants: Vec<f64>,
    /// The conditional covariances of the missing values of all patterns, and where each ends.
    covariances: Vec<f64>,
    ends: Vec<usize>,
    space: Space,
}

/// Workspace: a few rows side by side.
#[derive(Default)]
struct Space {
    rows: Vec<[f64; LANES]>,
    g: Vec<[f64; LANES]>,
    means: Vec<f64>,
}

impl ConditionalMoments {
    /// The conditional covariance of the missing values of a pattern, all entries.
    pub(super) fn covariance(&self, pattern: usize) -> &[f64] {
        let start = if pattern == 0 { 0 } else { self.ends[pattern - 1] };
        &self.covariances[start..self.ends[pattern]]
    }
}

impl Gaussians {
    /// The missing patterns of a tile; empty if nothing is missing, or if missing values are filled.
    pub(super) fn patterns(&self, tile: &Tile<'_>) -> Vec<MissingPattern> {
        if self.fills_missing() || !self.columns.iter().any(|&column| tile.has_missing(column)) {
            return Vec::new();
        }
        let with_missing: Vec<(usize, &[f64])> = self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| tile.has_missing(**column))
            .map(|(j, &column)| (j, tile.column(column)))
            .collect();
        let mut patterns: Vec<MissingPattern> = Vec::new();
        for i in 0..tile.rows() {
            match patterns.last_mut() {
                Some(last) if with_missing.iter().all(|(_, x)| x[i].is_nan() == x[i - 1].is_nan()) => {
                    last.rows.end = i + 1;
                }
                _ => {
                    let missing = with_missing.iter().filter(|(_, x)| x[i].is_nan()).map(|(j, _)| *j).collect();
                    patterns.push(MissingPattern { rows: i..i + 1, missing });
                }
            }
        }
        patterns
    }

    /// The conditional moments of rows, stored by columns, under a component.
    pub(super) fn impute(
        &self,
        component: usize,
        rows: usize,
        values: &[f64],
        patterns: &[MissingPattern],
        to: &mut ConditionalMoments,
    ) {
        let factored = &self.covariances[self.covariance_of(component)];
        self.impute_by(factored, self.means.row(component), rows, values, patterns, to);
    }

    /// The conditional moments of rows, stored by columns, under this mean and covariance.
    pub(super) fn impute_by(
        &self,
        factored: &FactoredCovariance,
        mean: &[f64],
        rows: usize,
        values: &[f64],
        patterns: &[MissingPattern],
        to: &mut ConditionalMoments,
    ) {
        let width = self.width();
        to.deviations.resize(values.len(), 0.0);
        for ((column, mean), to) in values.chunks_exact(rows).zip(mean).zip(to.deviations.chunks_exact_mut(rows)) {
            subtract(column, *mean, to);
        }
        for pattern in patterns {
            for column in &pattern.missing {
                to.deviations[column * rows..][pattern.rows.clone()].fill(0.0);
            }
        }
        to.determinants.clear();
        to.covariances.clear();
        to.ends.clear();
        for MissingPattern { rows: some, missing } in patterns {
            let (start, count) = (to.covariances.len(), missing.len());
            to.covariances.resize(start + count * count, 0.0);
            to.ends.push(start + count * count);
            let covariance = &mut to.covariances[start..];
            if self.shape != Shape::Full {
                missing.iter().enumerate().for_each(|(a, &j)| covariance[a * count + a] = factored.covariance[j]);
                to.determinants.push(-missing.iter().map(|&j| factored.covariance[j].ln()).sum::<f64>());
                continue;
            }
            let precision = factored.precision(width);
            for (a, &i) in missing.iter().enumerate() {
                for (b, &j) in missing.iter().enumerate().take(a + 1) {
                    covariance[a * count + b] = precision[i * width + j];
                }
            }
            to.determinants.push(invert(covariance, count));
            let place = (rows, some.start, some.end);
            expect(precision, place, missing, covariance, &mut to.space, &mut to.deviations);
        }
        to.squares.resize(rows, 0.0);
        to.space.means.resize(width, 0.0);
        self.squares(factored, &to.deviations, &to.space.means, &mut to.space.rows, &mut to.squares);
    }
}

vectorised! {
    fn subtract(column: &[f64], mean: f64, to: &mut [f64]) {
        for (to, x) in to.iter_mut().zip(column) {
            *to = x - mean;
        }
    }

    /// For the missing values of a pattern's rows: g = (Λ d)_H and the expectation d_H = -Λ_HH⁻¹ g.
    fn expect(
        precision: &[f64],
        place: (usize, usize, usize),
        missing: &[usize],
        covariance: &[f64],
        space: &mut Space,
        deviations: &mut [f64],
    ) {
        let ((rows, start, end), count) = (place, missing.len());
        let width = deviations.len() / rows;
        space.rows.resize(width, [0.0; LANES]);
        space.g.resize(count, [0.0; LANES]);
        let mut first = if count == 0 { end } else { start };
        while first < end {
            // Eight rows at a time, or the remaining ones.
            let length = if end - first < LANES { end - first } else { LANES };
            if length < MIN_ROWS_SIDE_BY_SIDE {
                expect_one(precision, (rows, first), missing, covariance, space, deviations);
                first += 1;
                continue;
            }
            // Lanes past the last row belong to the next column, and their results are not used.
            for j in 0..width {
                let some = &deviations[j * rows + first..];
                space.rows[j] = match some.first_chunk::<LANES>() {
                    Some(eight) => *eight,
                    None => {
                        let mut lanes = [0.0; LANES];
                        lanes[..some.len()].copy_from_slice(some);
                        lanes
                    }
                };
            }
            for a in 0..count {
                let row = &precision[missing[a] * width..(missing[a] + 1) * width];
                let mut sum = [0.0; LANES];
                for (times, d) in row.iter().zip(&space.rows) {
                    for l in 0..LANES {
                        sum[l] += times * d[l];
                    }
                }
                space.g[a] = sum;
            }
            for a in 0..count {
                let mut expected = [0.0; LANES];
                for (times, g) in covariance[a * count..(a + 1) * count].iter().zip(&space.g) {
                    for l in 0..LANES {
                        expected[l] -= times * g[l];
                    }
                }
                deviations[missing[a] * rows + first..][..length].copy_from_slice(&expected[..length]);
            }
            first += length;
        }
    }
}

/// The same for one row: its columns are processed side by side.
#[inline(always)]
fn expect_one(
    precision: &[f64],
    (rows, i): (usize, usize),
    missing: &[usize],
    covariance: &[f64],
    space: &mut Space,
    deviations: &mut [f64],
) {
    let (width, count) = (deviations.len() / rows, missing.len());
    let row = space.rows.as_flattened_mut();
    for j in 0..width {
        row[j] = deviations[j * rows + i];
    }
    let (blocks, rest) = row[..width].as_chunks::<{ LANES / 2 }>();
    let g = space.g.as_flattened_mut();
    for a in 0..count {
        let (others, last) = precision[missing[a] * width..(missing[a] + 1) * width].as_chunks::<{ LANES / 2 }>();
        let mut statistics = [0.0; LANES / 2];
        for (block, other) in blocks.iter().zip(others) {
            for l in 0..LANES / 2 {
                statistics[l] += block[l] * other[l];
            }
        }
        let mut sum = (statistics[0] + statistics[2]) + (statistics[1] + statistics[3]);
        for (d, other) in rest.iter().zip(last) {
            sum += d * other;
        }
        g[a] = sum;
    }
    for a in 0..count {
        let mut expected = 0.0;
        for b in 0..count {
            expected -= covariance[a * count + b] * g[b];
        }
        deviations[missing[a] * rows + i] = expected;
    }
}

/// Inverts a positive definite matrix in place, given its lower triangle; returns the logarithm of its determinant.
fn invert(a: &mut [f64], size: usize) -> f64 {
    if size == 1 {
        let ln = a[0].ln();
        a[0] = 1.0 / a[0];
        return ln;
    }
    if size == 2 {
        let (first, l) = (a[0], a[2] / a[0]);
        let second = (a[3] - l * a[2]).max(f64::MIN_POSITIVE);
        a.copy_from_slice(&[1.0 / first + l * l / second, -l / second, -l / second, 1.0 / second]);
        return (first * second).ln();
    }
    let (mut log_determinant, mut product) = (0.0, 1.0f64);
    // A = L Lᵀ.
    for j in 0..size {
        let squares: f64 = a[j * size..j * size + j].iter().map(|l| l * l).sum();
        let pivot = (a[j * size + j] - squares).max(f64::MIN_POSITIVE);
        // One logarithm for many pivots, unless their product grows too large or too small.
        if !(1e-150..1e150).contains(&pivot) || !(1e-150..1e150).contains(&product) {
            log_determinant += product.ln();
            product = 1.0;
        }
        product *= pivot;
        let root = pivot.sqrt();
        a[j * size + j] = root;
        for i in j + 1..size {
            let product: f64 = (0..j).map(|r| a[i * size + r] * a[j * size + r]).sum();
            a[i * size + j] = (a[i * size + j] - product) / root;
        }
    }
    // L⁻¹ in place of L.
    for j in 0..size {
        a[j * size + j] = 1.0 / a[j * size + j];
        for i in j + 1..size {
            let product: f64 = (j..i).map(|r| a[i * size + r] * a[r * size + j]).sum();
            a[i * size + j] = -product / a[i * size + i];
        }
    }
    // A⁻¹ = L⁻ᵀ L⁻¹, all entries.
    for i in 0..size {
        for j in 0..=i {
            let entry: f64 = (i..size).map(|r| a[r * size + i] * a[r * size + j]).sum();
            a[j * size + i] = entry;
        }
    }
    for i in 0..size {
        for j in 0..i {
            a[i * size + j] = a[j * size + i];
        }
    }
    log_determinant + product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Stream;

    #[test]
    fn an_inverse_times_the_matrix_is_the_identity() {
        let mut stream = Stream::new(1, 0);
        for size in 0..7 {
            let b: Vec<f64> = (0..size * size).map(|_| stream.normal()).collect();
            let entry = |i: usize, j: usize| {
                let products: f64 = (0..size).map(|r| b[i * size + r] * b[j * size + r]).sum();
                products + if i == j { 0.5 } else { 0.0 }
            };
            let a: Vec<f64> = (0..size * size).map(|at| entry(at / size, at % size)).collect();
            let mut inverse = a.clone();
            let log_determinant = invert(&mut inverse, size);
            for i in 0..size {
                for j in 0..size {
                    let product: f64 = (0..size).map(|r| a[i * size + r] * inverse[r * size + j]).sum();
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-9, "{size}: {product}");
                }
            }
            let faer = faer::MatRef::from_row_major_slice(&a, size, size).determinant();
            assert!((log_determinant - faer.ln()).abs() < 1e-9);
        }
    }
}
