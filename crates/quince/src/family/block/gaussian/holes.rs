//! Rows with holes: what is known of them is judged alone, and what is not is expected.
//!
//! With Λ = Σ⁻¹, H the holes of a row and d its deviation from the mean, zero in the holes, let g = Λ d. Then what is known
//!
//! ```text
//! leads to expect            d_H = -Λ_HH⁻¹ g_H, with the covariance Λ_HH⁻¹ about it;
//! has the quadratic form     dᵀΛd, with d_H as expected: no other d_H makes it smaller
//! and the determinant        |Σ| |Λ_HH|.
//! ```
//!
//! So the quadratic form is a sum of squares, as without holes, and what rounding does to d_H does next to nothing to it. Only a matrix as large as the number of holes is factored, once for all rows that lie side by side and have the same holes.

use super::spread::Spread;
use super::{Gaussians, Shape};
use crate::family::block::Tile;
use crate::matrix::simd::{LANES, vectorised};
use std::ops::Range;

/// So few rows are taken one by one rather than side by side.
const FEW: usize = 4;

/// Rows of a tile that lie side by side and have the same holes.
pub(super) struct Stretch {
    pub(super) rows: Range<usize>,
    /// Counted among the columns of the block.
    pub(super) holes: Vec<usize>,
}

/// What a component makes of a tile's rows.
#[derive(Default)]
pub(super) struct Completed {
    /// From its mean, column after column; in holes as expected.
    pub(super) deviations: Vec<f64>,
    /// The quadratic form of what is known.
    pub(super) squares: Vec<f64>,
    /// Of each stretch: what is added to ln |Σ|.
    pub(super) determinants: Vec<f64>,
    /// The covariances in the holes of all stretches, and where each ends.
    covariances: Vec<f64>,
    ends: Vec<usize>,
    space: Space,
}

/// What is needed on the way: a few rows side by side.
#[derive(Default)]
struct Space {
    rows: Vec<[f64; LANES]>,
    g: Vec<[f64; LANES]>,
    means: Vec<f64>,
}

impl Completed {
    /// The covariance in the holes of a stretch, whole.
    pub(super) fn covariance(&self, stretch: usize) -> &[f64] {
        let start = if stretch == 0 { 0 } else { self.ends[stretch - 1] };
        &self.covariances[start..self.ends[stretch]]
    }
}

impl Gaussians {
    /// The stretches of a tile; none if no row has a hole, or if holes are filled before rows are laid along axes.
    pub(super) fn stretches(&self, tile: &Tile<'_>) -> Vec<Stretch> {
        if self.axes.is_some() || !self.columns.iter().any(|&column| tile.has_holes(column)) {
            return Vec::new();
        }
        let with_holes: Vec<(usize, &[f64])> = self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| tile.has_holes(**column))
            .map(|(j, &column)| (j, tile.column(column)))
            .collect();
        let mut stretches: Vec<Stretch> = Vec::new();
        for i in 0..tile.rows() {
            match stretches.last_mut() {
                Some(last) if with_holes.iter().all(|(_, x)| x[i].is_nan() == x[i - 1].is_nan()) => {
                    last.rows.end = i + 1;
                }
                _ => {
                    let holes = with_holes.iter().filter(|(_, x)| x[i].is_nan()).map(|(j, _)| *j).collect();
                    stretches.push(Stretch { rows: i..i + 1, holes });
                }
            }
        }
        stretches
    }

    /// What a component makes of rows that lie column after column.
    pub(super) fn complete(
        &self,
        component: usize,
        rows: usize,
        values: &[f64],
        stretches: &[Stretch],
        to: &mut Completed,
    ) {
        let spread = &self.spreads[self.spread_of(component)];
        self.complete_by(spread, self.means.row(component), rows, values, stretches, to);
    }

    /// What this mean and covariance make of rows that lie column after column.
    pub(super) fn complete_by(
        &self,
        spread: &Spread,
        mean: &[f64],
        rows: usize,
        values: &[f64],
        stretches: &[Stretch],
        to: &mut Completed,
    ) {
        let width = self.width();
        to.deviations.resize(values.len(), 0.0);
        for ((column, mean), to) in values.chunks_exact(rows).zip(mean).zip(to.deviations.chunks_exact_mut(rows)) {
            subtract(column, *mean, to);
        }
        for stretch in stretches {
            for hole in &stretch.holes {
                to.deviations[hole * rows..][stretch.rows.clone()].fill(0.0);
            }
        }
        to.determinants.clear();
        to.covariances.clear();
        to.ends.clear();
        for Stretch { rows: some, holes } in stretches {
            let (start, count) = (to.covariances.len(), holes.len());
            to.covariances.resize(start + count * count, 0.0);
            to.ends.push(start + count * count);
            let covariance = &mut to.covariances[start..];
            if self.shape != Shape::Full {
                holes.iter().enumerate().for_each(|(a, &hole)| covariance[a * count + a] = spread.covariance[hole]);
                to.determinants.push(-holes.iter().map(|&hole| spread.covariance[hole].ln()).sum::<f64>());
                continue;
            }
            let precision = spread.precision(width);
            for (a, &i) in holes.iter().enumerate() {
                for (b, &j) in holes.iter().enumerate().take(a + 1) {
                    covariance[a * count + b] = precision[i * width + j];
                }
            }
            to.determinants.push(invert(covariance, count));
            let place = (rows, some.start, some.end);
            expect(precision, place, holes, covariance, &mut to.space, &mut to.deviations);
        }
        to.squares.resize(rows, 0.0);
        to.space.means.resize(width, 0.0);
        self.squares(spread, &to.deviations, &to.space.means, &mut to.space.rows, &mut to.squares);
    }
}

vectorised! {
    fn subtract(column: &[f64], mean: f64, to: &mut [f64]) {
        for (to, x) in to.iter_mut().zip(column) {
            *to = x - mean;
        }
    }

    /// In the holes of a stretch of rows: g = (Λ d)_H and what is expected, d_H = -Λ_HH⁻¹ g.
    fn expect(
        precision: &[f64],
        place: (usize, usize, usize),
        holes: &[usize],
        covariance: &[f64],
        space: &mut Space,
        deviations: &mut [f64],
    ) {
        let ((rows, start, end), count) = (place, holes.len());
        let width = deviations.len() / rows;
        space.rows.resize(width, [0.0; LANES]);
        space.g.resize(count, [0.0; LANES]);
        let mut first = if count == 0 { end } else { start };
        while first < end {
            // Eight rows at a time, or those that are left.
            let length = if end - first < LANES { end - first } else { LANES };
            if length < FEW {
                expect_one(precision, (rows, first), holes, covariance, space, deviations);
                first += 1;
                continue;
            }
            // What is past the last row is of the next column, and nobody looks at what comes of it.
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
                let row = &precision[holes[a] * width..(holes[a] + 1) * width];
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
                deviations[holes[a] * rows + first..][..length].copy_from_slice(&expected[..length]);
            }
            first += length;
        }
    }
}

/// The same for one row: its columns are taken side by side.
#[inline(always)]
fn expect_one(
    precision: &[f64],
    (rows, i): (usize, usize),
    holes: &[usize],
    covariance: &[f64],
    space: &mut Space,
    deviations: &mut [f64],
) {
    let (width, count) = (deviations.len() / rows, holes.len());
    let row = space.rows.as_flattened_mut();
    for j in 0..width {
        row[j] = deviations[j * rows + i];
    }
    let (blocks, rest) = row[..width].as_chunks::<{ LANES / 2 }>();
    let g = space.g.as_flattened_mut();
    for a in 0..count {
        let (others, last) = precision[holes[a] * width..(holes[a] + 1) * width].as_chunks::<{ LANES / 2 }>();
        let mut sums = [0.0; LANES / 2];
        for (block, other) in blocks.iter().zip(others) {
            for l in 0..LANES / 2 {
                sums[l] += block[l] * other[l];
            }
        }
        let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
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
        deviations[holes[a] * rows + i] = expected;
    }
}

/// Puts the inverse of a positive definite matrix, whose lower triangle is given, in its place; the logarithm of its determinant.
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
    // A⁻¹ = L⁻ᵀ L⁻¹, whole.
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
