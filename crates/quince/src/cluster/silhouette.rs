//! Silhouettes (Rousseeuw 1987): how well rows fit their clusters.
//!
//! ```text
//! s(i) = (b - a) / max(a, b)
//! ```
//!
//! with a the mean distance of row i from the other rows of its cluster and b the least mean distance from the rows of
//! another cluster; 0 for a row that is alone in its cluster. One is good, zero is between two clusters, below zero is in
//! the wrong one. All pairs of rows are measured, a block of them at a time.

use super::points::sparse_square;
use crate::error::{Error, Result};
use crate::matrix::simd::{LANES, squared_distance, vectorised};
use crate::matrix::{Features, Matrix};
use crate::run::Run;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};

/// s(i) of every row.
///
/// ```
/// use quince::{Matrix, Run};
/// let rows = Matrix::from_rows(&[[0.0], [1.0], [10.0], [11.0]]);
/// let found = quince::cluster::silhouettes(&rows.features(), &[0, 0, 1, 1], &Run::new())?;
/// // The first row is 1 from its own cluster, and 10.5 from the other.
/// assert!((found[0] - (10.5 - 1.0) / 10.5).abs() < 1e-9);
/// # quince::Result::Ok(())
/// ```
pub fn silhouettes(features: &Features<'_>, labels: &[u32], run: &Run) -> Result<Vec<f64>> {
    let (rows, columns) = (features.rows(), features.columns());
    if labels.len() != rows {
        return Err(Error::one_each((rows, "row"), (labels.len(), "label")));
    }
    // Labels may be any numbers: here they are numbered in their order.
    let names: std::collections::BTreeSet<u32> = labels.iter().copied().collect();
    let names: Vec<u32> = names.into_iter().collect();
    let labels: Vec<u32> = labels.iter().map(|label| names.partition_point(|name| name < label) as u32).collect();
    let labels = labels.as_slice();
    let k = names.len();
    let mut sizes = vec![0usize; k];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    if k < 2 || k >= rows {
        return Err(Error::data(
            format!("silhouettes need from 2 to {} clusters, and there are {k}", rows.saturating_sub(1)),
            "Use another number of clusters.",
        ));
    }
    // Products are most accurate about the means; rows with a sparse part are not centred.
    let sparse = features.sparse_part().is_some();
    let centre = if sparse { vec![0.0; columns] } else { features.means(None, run)? };
    let known =
        SharedRows { features: features.centred(&centre), norms: features.centred(&centre).row_norms(run)?, labels };
    // Rows in the order of their clusters, so that a cluster is a run of columns in a block of distances.
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_key(|&i| labels[i]);
    let (tall, wide) = ((1_000_000 / columns.max(1)).clamp(8, 128), (1_000_000 / columns.max(1)).clamp(8, 1024));
    // The work between two checks for cancellation.
    let work = tall * wide * (columns + 8);
    let round = (400_000_000 / work).clamp(8, 64);
    let reach = (400_000_000 / (round * work)).max(1) * wide;
    let count = rows.div_ceil(tall);
    let mut answers = vec![0.0; rows];
    for (done, some) in order.chunks(tall * round).enumerate() {
        run.progress("silhouettes", done * round, count);
        let mut blocks: Vec<Block<'_>> = some.chunks(tall).map(|mine| Block::new(mine, &known, k)).collect();
        for others in order.chunks(reach) {
            run.each(&mut blocks, |_, block| {
                others.chunks(wide).for_each(|others| block.add_distances(others, &known))
            });
            run.check()?;
        }
        for block in &blocks {
            for (r, &i) in block.mine.iter().enumerate() {
                answers[i] = of_row(block.sums.row(r), labels[i] as usize, &sizes);
            }
        }
    }
    Ok(answers)
}

/// The rows that all blocks share.
struct SharedRows<'a> {
    features: Features<'a>,
    /// ‖x‖² of each.
    norms: Vec<f64>,
    labels: &'a [u32],
}

/// Some rows, and the sums of their distances from the rows of each cluster.
struct Block<'a> {
    mine: &'a [usize],
    left: Matrix,
    sums: Matrix,
}

impl<'a> Block<'a> {
    fn new(mine: &'a [usize], rows: &SharedRows<'_>, k: usize) -> Block<'a> {
        let mut left = Matrix::zeros(mine.len(), rows.features.columns());
        rows.features.pack(mine.iter().copied(), left.values_mut());
        Block { mine, left, sums: Matrix::zeros(mine.len(), k) }
    }

    /// Adds the distances from other rows, which come in the order of their clusters.
    fn add_distances(&mut self, others: &[usize], rows: &SharedRows<'_>) {
        let mut distances = vec![0.0; self.mine.len() * others.len()];
        if rows.features.sparse_part().is_some() {
            self.measure(others, rows, &mut distances);
        } else {
            self.multiply(others, rows, &mut distances);
        }
        for (r, distances) in distances.chunks(others.len()).enumerate() {
            let mut from = 0;
            while from < others.len() {
                let label = rows.labels[others[from]];
                let to = from + others[from..].partition_point(|&j| rows.labels[j] <= label);
                self.sums[(r, label as usize)] += distances[from..to].iter().sum::<f64>();
                from = to;
            }
        }
    }

    /// Distances of rows with a sparse part, entry by entry.
    fn measure(&self, others: &[usize], rows: &SharedRows<'_>, distances: &mut [f64]) {
        for (r, (distances, &i)) in distances.chunks_mut(others.len()).zip(self.mine).enumerate() {
            for (distance, &j) in distances.iter_mut().zip(others) {
                *distance = sparse_square(&rows.features, j, self.left.row(r), 1.0, rows.norms[i]).sqrt();
            }
        }
    }

    /// Distances of dense rows from one product.
    fn multiply(&self, others: &[usize], rows: &SharedRows<'_>, distances: &mut [f64]) {
        let columns = self.left.columns();
        let mut right = Matrix::zeros(others.len(), columns);
        rows.features.pack(others.iter().copied(), right.values_mut());
        matmul(
            MatMut::from_row_major_slice_mut(distances, self.mine.len(), others.len()),
            Accum::Replace,
            self.left.view().faer(),
            right.view().faer().transpose(),
            1.0,
            Par::Seq,
        );
        let other_norms: Vec<f64> = others.iter().map(|&i| rows.norms[i]).collect();
        for (r, (distances, &i)) in distances.chunks_mut(others.len()).zip(self.mine).enumerate() {
            let norm = rows.norms[i];
            if to_distances(norm, &other_norms, distances) {
                // Rows so near each other that the product has no digits left are measured directly.
                for (c, distance) in distances.iter_mut().enumerate() {
                    if *distance * *distance <= 1e-8 * (norm + other_norms[c]) {
                        *distance = squared_distance(self.left.row(r), right.row(c)).sqrt();
                    }
                }
            }
        }
    }
}

/// s of a row of cluster `own`, from the sums of its distances.
fn of_row(sums: &[f64], own: usize, sizes: &[usize]) -> f64 {
    if sizes[own] == 1 {
        return 0.0;
    }
    let a = sums[own] / (sizes[own] - 1) as f64;
    let others = (0..sizes.len()).filter(|&c| c != own);
    let b = others.map(|c| sums[c] / sizes[c] as f64).fold(f64::INFINITY, f64::min);
    if a.max(b) > 0.0 { (b - a) / a.max(b) } else { 0.0 }
}

/// The mean of all silhouettes.
///
/// ```
/// use quince::cluster::silhouette;
/// use quince::{Matrix, Run};
/// let rows = Matrix::from_rows(&[[0.0], [1.0], [10.0], [11.0]]);
/// let fit = silhouette(&rows.features(), &[0, 0, 1, 1], &Run::new())?;
/// // a = 1 for all; b = 10.5 for the outer two and 9.5 for the inner two.
/// assert!((fit - (9.5 / 10.5 + 8.5 / 9.5) / 2.0).abs() < 1e-12);
/// # quince::Result::Ok(())
/// ```
pub fn silhouette(features: &Features<'_>, labels: &[u32], run: &Run) -> Result<f64> {
    let all = silhouettes(features, labels, run)?;
    Ok(all.iter().sum::<f64>() / all.len() as f64)
}

vectorised! {
    /// Turns products into distances; says whether any is so small that it may be rounding.
    fn to_distances(norm: f64, norms: &[f64], products: &mut [f64]) -> bool {
        let (blocks, rest) = products.as_chunks_mut::<LANES>();
        let (norm_blocks, norm_rest) = norms.as_chunks::<LANES>();
        let mut near = false;
        for (products, norms) in blocks.iter_mut().zip(norm_blocks) {
            for l in 0..LANES {
                let square = norm + norms[l] - 2.0 * products[l];
                near |= square <= 1e-8 * (norm + norms[l]);
                products[l] = if square > 0.0 { square.sqrt() } else { 0.0 };
            }
        }
        for (product, other) in rest.iter_mut().zip(norm_rest) {
            let square = norm + other - 2.0 * *product;
            near |= square <= 1e-8 * (norm + other);
            *product = if square > 0.0 { square.sqrt() } else { 0.0 };
        }
        near
    }
}
