//! The sums of Gaussians from rows with shares, about the present means: holes count as what they are expected to be.

use super::Gaussians;
use super::holes::{Completed, Stretch};
use crate::family::block::normals::weighed_moments;
use crate::family::block::{Family, Gather, Scores, Tile};
use crate::matrix::{Matrix, gram};

/// A tile as a block sees it.
struct Seen<'a> {
    block: &'a Gaussians,
    rows: usize,
    /// Column after column.
    values: Vec<f64>,
    /// None if no row has a hole.
    stretches: Vec<Stretch>,
    /// What each component makes of the rows, if they have holes.
    completed: Vec<Completed>,
}

impl<'a> Seen<'a> {
    fn new(block: &'a Gaussians, components: usize) -> Seen<'a> {
        let completed = (0..components).map(|_| Completed::default()).collect();
        Seen { block, rows: 0, values: Vec::new(), stretches: Vec::new(), completed }
    }

    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        (self.rows, self.values, self.stretches) =
            (tile.rows(), self.block.gather_rows(tile), self.block.stretches(tile));
        if self.stretches.is_empty() {
            self.block.score_whole(self.rows, &self.values, scores);
        } else {
            self.block.score_holes(self.rows, &self.values, &self.stretches, &mut self.completed, scores);
        }
    }

    /// Of a component: calls `visit(i, j, covariance times weight)` for all pairs of holes, j up to i.
    fn each_pair(&self, component: usize, shares: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
        let completed = &self.completed[component];
        for (s, stretch) in self.stretches.iter().enumerate() {
            let weight: f64 = shares[stretch.rows.clone()].iter().sum();
            let (covariance, count) = (completed.covariance(s), stretch.holes.len());
            for (a, &i) in stretch.holes.iter().enumerate() {
                for (b, &j) in stretch.holes.iter().enumerate().take(a + 1) {
                    visit(i, j, weight * covariance[a * count + b]);
                }
            }
        }
    }
}

/// Sums of full covariances: products of deviations, which are weighed by the roots of the shares and have a column of ones
/// beside them.
pub(super) struct Full<'a> {
    seen: Seen<'a>,
    products: Vec<gram::Products>,
    /// What holes vary by, lower triangles.
    expected: Matrix,
    rows: gram::Tile,
    weighed: gram::Tile,
}

impl<'a> Full<'a> {
    pub(super) fn new(block: &'a Gaussians, components: usize) -> Full<'a> {
        let width = block.width();
        let products = (0..components).map(|_| gram::Products::zeros(width + 1)).collect();
        let tile = || gram::Tile::zeros(0, width + 1);
        let expected = Matrix::zeros(components, width * width);
        Full { seen: Seen::new(block, components), products, expected, rows: tile(), weighed: tile() }
    }
}

impl Gather for Full<'_> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.seen.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, shares: &Scores) {
        let (rows, width, means) = (tile.rows(), self.seen.block.width(), &self.seen.block.means);
        if rows == 0 {
            return;
        }
        let whole = self.seen.stretches.is_empty();
        let mut roots = vec![0.0; rows];
        self.weighed.resize(rows, width + 1);
        if whole {
            self.seen.values.resize(rows * (width + 1), 1.0);
            self.rows.resize(rows, width + 1);
            self.rows.put_columns(&self.seen.values);
        }
        for (k, products) in self.products.iter_mut().enumerate() {
            roots.iter_mut().zip(shares.of(k)).for_each(|(root, share)| *root = share.sqrt());
            if whole {
                self.weighed.put_deviations(&self.rows, means.row(k), &roots);
            } else {
                self.weighed.put_weighed(&self.seen.completed[k].deviations, &roots);
                let expected = self.expected.row_mut(k);
                self.seen.each_pair(k, shares.of(k), |i, j, covariance| expected[j * width + i] += covariance);
            }
            products.add(&self.weighed);
        }
    }

    fn sums(self: Box<Self>) -> Matrix {
        let width = self.seen.block.width();
        let mut sums = Matrix::zeros(self.products.len(), self.seen.block.sums());
        for (k, products) in self.products.iter().enumerate() {
            let (triangle, sums) = (products.triangle(), sums.row_mut(k));
            let (head, b) = sums.split_at_mut(1 + width);
            head[0] = triangle.get(width, width);
            (0..width).for_each(|j| head[1 + j] = triangle.get(width, j));
            for j in 0..width {
                for i in j..width {
                    b[j * width + i] = triangle.get(i, j) + self.expected[(k, j * width + i)];
                }
            }
        }
        sums
    }
}

/// Sums of variances.
pub(super) struct Variances<'a> {
    seen: Seen<'a>,
    sums: Matrix,
}

impl<'a> Variances<'a> {
    pub(super) fn new(block: &'a Gaussians, components: usize) -> Variances<'a> {
        Variances { seen: Seen::new(block, components), sums: Matrix::zeros(components, block.sums()) }
    }
}

impl Gather for Variances<'_> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.seen.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, shares: &Scores) {
        let (rows, width) = (tile.rows(), self.seen.block.width());
        for k in 0..if rows > 0 { self.sums.rows() } else { 0 } {
            let (head, b) = self.sums.row_mut(k).split_at_mut(1 + width);
            let shares = shares.of(k);
            head[0] += shares.iter().sum::<f64>();
            let mut add = |j: usize, column: &[f64], mean: f64| {
                let (_, sum, squares) = weighed_moments(column, shares, mean);
                head[1 + j] += sum;
                b[j] += squares;
            };
            if self.seen.stretches.is_empty() {
                let columns = self.seen.values.chunks_exact(rows).zip(self.seen.block.means.row(k));
                columns.enumerate().for_each(|(j, (column, mean))| add(j, column, *mean));
            } else {
                let columns = self.seen.completed[k].deviations.chunks_exact(rows);
                columns.enumerate().for_each(|(j, column)| add(j, column, 0.0));
                self.seen.each_pair(k, shares, |i, j, covariance| b[j] += if i == j { covariance } else { 0.0 });
            }
        }
    }

    fn sums(self: Box<Self>) -> Matrix {
        self.sums
    }
}
