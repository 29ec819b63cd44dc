//! The Gram matrix AᵀA of a tile of rows, which ridge, covariances and principal components spend their time in.
//!
//! A tile is laid out once in panels, eight columns side by side. Then every panel is multiplied with itself and those
//! after it: four columns of the one and eight of the other at a time, row after row, in thirty-two sums that stay in
//! registers. Only the lower triangle is computed, and the sums are kept in the order in which they are made until all
//! tiles are in.

use super::Triangle;
use super::simd::{LANES, vectorised};
use crate::passes::Merge;

/// The number of columns of one panel that are multiplied with the eight of another at a time.
const COLUMNS_AT_A_TIME: usize = 4;

/// Rows of one tile, as the product takes them.
pub(crate) struct Tile {
    height: usize,
    /// Panel after panel, in each row after row; what is past the last column makes sums that are not used.
    values: Vec<[f64; LANES]>,
}

impl Tile {
    /// Space for this many rows and columns.
    pub(crate) fn zeros(height: usize, width: usize) -> Tile {
        Tile { height, values: vec![[0.0; LANES]; height * width.div_ceil(LANES)] }
    }

    /// Makes space for fewer rows, which are to be written again.
    pub(crate) fn shorten(&mut self, height: usize) {
        self.values.truncate(self.values.len() / self.height.max(1) * height);
        self.height = height;
    }

    /// Makes space for this many rows and columns, which are to be written again.
    pub(crate) fn resize(&mut self, height: usize, width: usize) {
        self.values.resize(height * width.div_ceil(LANES), [0.0; LANES]);
        self.height = height;
    }

    /// Takes the rows of another tile less a mean (of nothing where that ends), each times a number of its own.
    pub(crate) fn put_deviations(&mut self, from: &Tile, mean: &[f64], times: &[f64]) {
        for (p, (to, from)) in
            self.values.chunks_exact_mut(self.height).zip(from.values.chunks_exact(self.height)).enumerate()
        {
            let mut centre = [0.0; LANES];
            let some = mean.iter().skip(p * LANES).take(LANES);
            centre.iter_mut().zip(some).for_each(|(centre, mean)| *centre = *mean);
            deviations(from, &centre, times, to);
        }
    }

    /// Writes rows from `first` on; in `rows` they lie one after another.
    pub(crate) fn put_rows(&mut self, first: usize, rows: &[f64], width: usize) {
        for (r, row) in rows.chunks_exact(width).enumerate() {
            let (whole, rest) = row.as_chunks::<LANES>();
            for (panel, lanes) in whole.iter().enumerate() {
                self.values[panel * self.height + first + r] = *lanes;
            }
            if !rest.is_empty() {
                self.values[whole.len() * self.height + first + r][..rest.len()].copy_from_slice(rest);
            }
        }
    }

    /// Writes all rows; in `columns` the columns lie one after another.
    pub(crate) fn put_columns(&mut self, columns: &[f64]) {
        for (j, column) in columns.chunks_exact(self.height).enumerate() {
            let panel = &mut self.values[j / LANES * self.height..][..self.height];
            panel.iter_mut().zip(column).for_each(|(lanes, x)| lanes[j % LANES] = *x);
        }
    }
}

impl Tile {
    /// Writes all rows, each times a number of its own, which stands in a last column of its own too.
    pub(crate) fn put_weighed(&mut self, columns: &[f64], times: &[f64]) {
        let all = columns.chunks_exact(self.height).map(Some).chain([None]);
        for (j, column) in all.enumerate() {
            let panel = &mut self.values[j / LANES * self.height..][..self.height];
            match column {
                Some(column) => lay_weighed(column, times, j % LANES, panel),
                None => panel.iter_mut().zip(times).for_each(|(lanes, times)| lanes[j % LANES] = *times),
            }
        }
    }
}

/// The lower triangle of a sum of products AᵀA.
pub(crate) struct Products {
    width: usize,
    /// For each panel, and each panel from it on: the sums of its columns (eight) with four and four columns of the other.
    sums: Vec<[[f64; LANES]; COLUMNS_AT_A_TIME]>,
}

impl Products {
    pub(crate) fn zeros(width: usize) -> Products {
        let panels = width.div_ceil(LANES);
        Products {
            width,
            sums: vec![[[0.0; LANES]; COLUMNS_AT_A_TIME]; panels * (panels + 1) / 2 * (LANES / COLUMNS_AT_A_TIME)],
        }
    }

    /// Adds AᵀA of one tile.
    pub(crate) fn add(&mut self, tile: &Tile) {
        #[cfg(target_arch = "x86_64")]
        if super::simd::has_wide_vectors() {
            // SAFETY: the machine was asked, and has these instructions.
            return unsafe { add_wide(tile, &mut self.sums) };
        }
        add::<{ cfg!(target_arch = "aarch64") }>(tile, &mut self.sums);
    }

    /// The sums in their places.
    pub(crate) fn triangle(&self) -> Triangle {
        let mut triangle = Triangle::zeros(self.width);
        let panels = self.width.div_ceil(LANES);
        let pairs = (0..panels).flat_map(|right| (right..panels).map(move |left| (right, left)));
        for ((right, left), both) in pairs.zip(self.sums.chunks_exact(LANES / COLUMNS_AT_A_TIME)) {
            for (a, sums) in both.as_flattened().iter().enumerate() {
                let i = left * LANES + a;
                for (l, &sum) in sums.iter().enumerate() {
                    let j = right * LANES + l;
                    if j <= i && i < self.width {
                        triangle.set(i, j, sum);
                    }
                }
            }
        }
        triangle
    }
}

impl Merge for Products {
    fn merge(&mut self, later: Products) {
        let sums = self.sums.as_flattened_mut().as_flattened_mut();
        for (sum, later) in sums.iter_mut().zip(later.sums.as_flattened().as_flattened()) {
            *sum += later;
        }
    }
}

vectorised! {
    fn lay_weighed(column: &[f64], times: &[f64], lane: usize, to: &mut [[f64; LANES]]) {
        for ((to, x), times) in to.iter_mut().zip(column).zip(times) {
            to[lane] = x * times;
        }
    }

    fn deviations(from: &[[f64; LANES]], centre: &[f64; LANES], times: &[f64], to: &mut [[f64; LANES]]) {
        for ((to, from), times) in to.iter_mut().zip(from).zip(times) {
            for l in 0..LANES {
                to[l] = (from[l] - centre[l]) * times;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn add_wide(tile: &Tile, sums: &mut [[[f64; LANES]; COLUMNS_AT_A_TIME]]) {
    add::<true>(tile, sums);
}

#[inline(always)]
fn add<const FUSED: bool>(tile: &Tile, sums: &mut [[[f64; LANES]; COLUMNS_AT_A_TIME]]) {
    if tile.values.is_empty() {
        return;
    }
    let mut sums = sums.chunks_exact_mut(LANES / COLUMNS_AT_A_TIME);
    let panels = tile.values.len() / tile.height;
    let panel = |p: usize| &tile.values[p * tile.height..(p + 1) * tile.height];
    for right in 0..panels {
        for left in right..panels {
            if let Some([lower, upper]) = sums.next() {
                add_block::<FUSED, 0>(panel(right), panel(left), lower);
                add_block::<FUSED, COLUMNS_AT_A_TIME>(panel(right), panel(left), upper);
            }
        }
    }
}

#[inline(always)]
fn add_block<const FUSED: bool, const FROM: usize>(
    right: &[[f64; LANES]],
    left: &[[f64; LANES]],
    sums: &mut [[f64; LANES]; COLUMNS_AT_A_TIME],
) {
    let mut block = *sums;
    for (right, left) in right.iter().zip(left) {
        for a in 0..COLUMNS_AT_A_TIME {
            let x = left[FROM + a];
            for l in 0..LANES {
                block[a][l] = if FUSED { x.mul_add(right[l], block[a][l]) } else { x * right[l] + block[a][l] };
            }
        }
    }
    *sums = block;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Stream;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_those_of_plain_loops(height in 1usize..40, width in 0usize..40, seed in 0u64..99, by_rows: bool) {
            let mut stream = Stream::new(seed, 0);
            let rows: Vec<f64> = (0..height * width).map(|_| stream.below(9) as f64 - 4.0).collect();
            let mut tile = Tile::zeros(height + 3, width);
            tile.put_columns(&vec![7.0; (height + 3) * width]);
            tile.shorten(height);
            if by_rows && width > 0 {
                let middle = height / 2;
                tile.put_rows(0, &rows[..middle * width], width);
                tile.put_rows(middle, &rows[middle * width..], width);
            } else {
                let columns: Vec<f64> = (0..width).flat_map(|j| (0..height).map(move |i| (i, j))).map(|(i, j)| rows[i * width + j]).collect();
                tile.put_columns(&columns);
            }
            let mut products = Products::zeros(width);
            products.add(&tile);
            let mut twice = Products::zeros(width);
            twice.add(&tile);
            let once = products.triangle();
            twice.merge(products);
            let twice = twice.triangle();
            for j in 0..width {
                for i in j..width {
                    // Small whole numbers: every sum is exact.
                    let slow: f64 = (0..height).map(|r| rows[r * width + i] * rows[r * width + j]).sum();
                    prop_assert_eq!(once.get(i, j), slow);
                    prop_assert_eq!(twice.get(i, j), 2.0 * slow);
                }
            }
        }
    }
}
