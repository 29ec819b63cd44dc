//! Squared Mahalanobis distances Σ z² with z = L⁻¹ (x - μ) for many rows: eight of them side by side, four entries of z at a
//! time, all in registers.

use crate::matrix::simd::LANES;

/// The number of entries of z computed at a time.
const ROWS_OF_Z: usize = 4;

/// L⁻¹ in the order in which the product reads it: four rows at a time, column after column up to the diagonal.
#[derive(Clone, Debug, Default)]
pub(super) struct Whitening(Vec<[f64; ROWS_OF_Z]>);

impl Whitening {
    /// From a lower triangle stored by columns.
    pub(super) fn new(lower: &[f64], width: usize) -> Whitening {
        let mut steps = Vec::new();
        for first in (0..width).step_by(ROWS_OF_Z) {
            for j in 0..(first + ROWS_OF_Z).min(width) {
                let entry = |a: usize| if first + a < width { lower[j * width + first + a] } else { 0.0 };
                steps.push(std::array::from_fn(entry));
            }
        }
        Whitening(steps)
    }

    /// The sums of squares of rows, stored by columns, about a mean.
    pub(super) fn squares(&self, values: &[f64], mean: &[f64], space: &mut Vec<[f64; LANES]>, squares: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if crate::matrix::simd::has_wide_vectors() {
            // SAFETY: the processor was asked, and has these instructions.
            return unsafe { squares_wide(&self.0, values, mean, space, squares) };
        }
        squares_of::<{ cfg!(target_arch = "aarch64") }>(&self.0, values, mean, space, squares);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn squares_wide(
    white: &[[f64; ROWS_OF_Z]],
    values: &[f64],
    mean: &[f64],
    space: &mut Vec<[f64; LANES]>,
    squares: &mut [f64],
) {
    squares_of::<true>(white, values, mean, space, squares);
}

#[inline(always)]
fn squares_of<const FUSED: bool>(
    white: &[[f64; ROWS_OF_Z]],
    values: &[f64],
    mean: &[f64],
    space: &mut Vec<[f64; LANES]>,
    squares: &mut [f64],
) {
    let (rows, width) = (squares.len(), mean.len());
    space.resize(width, [0.0; LANES]);
    for (first, squares) in (0..rows).step_by(LANES).zip(squares.chunks_mut(LANES)) {
        for ((centred, column), mean) in space.iter_mut().zip(values.chunks_exact(rows)).zip(mean) {
            let mut some = [0.0; LANES];
            match column[first..].first_chunk::<LANES>() {
                Some(eight) => some = *eight,
                None => some[..rows - first].copy_from_slice(&column[first..]),
            }
            for l in 0..LANES {
                centred[l] = some[l] - mean;
            }
        }
        let (mut sums, mut at) = ([0.0; LANES], 0);
        for top in (0..width).step_by(ROWS_OF_Z) {
            let until = (top + ROWS_OF_Z).min(width);
            let mut z = [[0.0; LANES]; ROWS_OF_Z];
            for (centred, white) in space[..until].iter().zip(&white[at..at + until]) {
                for a in 0..ROWS_OF_Z {
                    for l in 0..LANES {
                        z[a][l] =
                            if FUSED { white[a].mul_add(centred[l], z[a][l]) } else { white[a] * centred[l] + z[a][l] };
                    }
                }
            }
            at += until;
            for z in z {
                for l in 0..LANES {
                    sums[l] += z[l] * z[l];
                }
            }
        }
        squares.copy_from_slice(&sums[..squares.len()]);
    }
}
