//! Sufficient statistics of Gaussians weighted by responsibilities, about the present means. Missing values count as their
//! conditional expectation and covariance.

use super::Gaussians;
use super::missing::{ConditionalMoments, MissingPattern};
use crate::family::block::moments::weighed_moments;
use crate::family::block::{Family, Gather, Scores, Tile};
use crate::matrix::{Matrix, gram};

/// A tile as a Gaussian block sees it.
struct ScoredTile<'a> {
    block: &'a Gaussians,
    rows: usize,
    /// The values by columns.
    values: Vec<f64>,
    /// Rows grouped by their missing values; empty if none is missing.
    patterns: Vec<MissingPattern>,
    /// The conditional moments of the rows under each component, if values are missing.
    conditional: Vec<ConditionalMoments>,
}

impl<'a> ScoredTile<'a> {
    fn new(block: &'a Gaussians, components: usize) -> ScoredTile<'a> {
        let conditional = (0..components).map(|_| ConditionalMoments::default()).collect();
        ScoredTile { block, rows: 0, values: Vec::new(), patterns: Vec::new(), conditional }
    }

    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        (self.rows, self.values, self.patterns) =
            (tile.rows(), self.block.gather_rows(tile), self.block.patterns(tile));
        if self.patterns.is_empty() {
            self.block.score_complete(self.rows, &self.values, scores);
        } else {
            self.block.score_missing(self.rows, &self.values, &self.patterns, &mut self.conditional, scores);
        }
    }

    /// Calls `visit(i, j, covariance times weight)` for all pairs of missing columns of a component, j up to i.
    fn each_pair(&self, component: usize, responsibilities: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
        let conditional = &self.conditional[component];
        for (s, pattern) in self.patterns.iter().enumerate() {
            let weight: f64 = responsibilities[pattern.rows.clone()].iter().sum();
            let (covariance, count) = (conditional.covariance(s), pattern.missing.len());
            for (a, &i) in pattern.missing.iter().enumerate() {
                for (b, &j) in pattern.missing.iter().enumerate().take(a + 1) {
                    visit(i, j, weight * covariance[a * count + b]);
                }
            }
        }
    }
}

/// Statistics of full covariances: products of deviations, weighted by the roots of the responsibilities, with a column of
/// ones beside them.
pub(super) struct Full<'a> {
    scored: ScoredTile<'a>,
    products: Vec<gram::Products>,
    /// The conditional covariances of missing values, lower triangles.
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
        Full { scored: ScoredTile::new(block, components), products, expected, rows: tile(), weighed: tile() }
    }
}

impl Gather for Full<'_> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.scored.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, responsibilities: &Scores) {
        let (rows, width, means) = (tile.rows(), self.scored.block.width(), &self.scored.block.means);
        if rows == 0 {
            return;
        }
        let whole = self.scored.patterns.is_empty();
        let mut roots = vec![0.0; rows];
        self.weighed.resize(rows, width + 1);
        if whole {
            self.scored.values.resize(rows * (width + 1), 1.0);
            self.rows.resize(rows, width + 1);
            self.rows.put_columns(&self.scored.values);
        }
        for (k, products) in self.products.iter_mut().enumerate() {
            roots.iter_mut().zip(responsibilities.of(k)).for_each(|(root, r)| *root = r.sqrt());
            if whole {
                self.weighed.put_deviations(&self.rows, means.row(k), &roots);
            } else {
                self.weighed.put_weighed(&self.scored.conditional[k].deviations, &roots);
                let expected = self.expected.row_mut(k);
                self.scored
                    .each_pair(k, responsibilities.of(k), |i, j, covariance| expected[j * width + i] += covariance);
            }
            products.add(&self.weighed);
        }
    }

    fn statistics(self: Box<Self>) -> Matrix {
        let width = self.scored.block.width();
        let mut statistics = Matrix::zeros(self.products.len(), self.scored.block.statistic_count());
        for (k, products) in self.products.iter().enumerate() {
            let (triangle, statistics) = (products.triangle(), statistics.row_mut(k));
            let (head, b) = statistics.split_at_mut(1 + width);
            head[0] = triangle.get(width, width);
            (0..width).for_each(|j| head[1 + j] = triangle.get(width, j));
            for j in 0..width {
                for i in j..width {
                    b[j * width + i] = triangle.get(i, j) + self.expected[(k, j * width + i)];
                }
            }
        }
        statistics
    }
}

/// Statistics of diagonal and spherical covariances.
pub(super) struct Variances<'a> {
    scored: ScoredTile<'a>,
    statistics: Matrix,
}

impl<'a> Variances<'a> {
    pub(super) fn new(block: &'a Gaussians, components: usize) -> Variances<'a> {
        Variances {
            scored: ScoredTile::new(block, components),
            statistics: Matrix::zeros(components, block.statistic_count()),
        }
    }
}

impl Gather for Variances<'_> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.scored.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, responsibilities: &Scores) {
        let (rows, width) = (tile.rows(), self.scored.block.width());
        for k in 0..if rows > 0 { self.statistics.rows() } else { 0 } {
            let (head, b) = self.statistics.row_mut(k).split_at_mut(1 + width);
            let responsibilities = responsibilities.of(k);
            head[0] += responsibilities.iter().sum::<f64>();
            let mut add = |j: usize, column: &[f64], mean: f64| {
                let (_, sum, squares) = weighed_moments(column, responsibilities, mean);
                head[1 + j] += sum;
                b[j] += squares;
            };
            if self.scored.patterns.is_empty() {
                let columns = self.scored.values.chunks_exact(rows).zip(self.scored.block.means.row(k));
                columns.enumerate().for_each(|(j, (column, mean))| add(j, column, *mean));
            } else {
                let columns = self.scored.conditional[k].deviations.chunks_exact(rows);
                columns.enumerate().for_each(|(j, column)| add(j, column, 0.0));
                self.scored
                    .each_pair(k, responsibilities, |i, j, covariance| b[j] += if i == j { covariance } else { 0.0 });
            }
        }
    }

    fn statistics(self: Box<Self>) -> Matrix {
        self.statistics
    }
}
