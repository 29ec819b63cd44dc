//! How well rows sit in their clusters (Rousseeuw 1987).
//!
//! ```text
//! s(i) = (b - a) / max(a, b)
//! ```
//!
//! with a the mean distance of row i from the other rows of its cluster and b the least mean distance from the rows of
//! another cluster; 0 for a row that is alone in its cluster. One is good, zero is between two clusters, below zero is in
//! the wrong one. All pairs of rows are measured, a block of them at a time.

use crate::error::{Error, Result};
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{Features, Matrix};
use crate::run::Run;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// s(i) of every row.
pub fn silhouettes(features: &Features<'_>, labels: &[u32], run: &Run) -> Result<Vec<f64>> {
    let (rows, columns) = (features.rows(), features.columns());
    if labels.len() != rows {
        let problem = format!("there are {rows} rows and {} labels", labels.len());
        return Err(Error::data(problem, "Give every row one label."));
    }
    // Labels may be any numbers: here they are numbered in their order.
    let names: std::collections::BTreeSet<u32> = labels.iter().copied().collect();
    let names: Vec<u32> = names.into_iter().collect();
    let labels: Vec<u32> = labels.iter().map(|label| names.partition_point(|name| name < label) as u32).collect();
    let labels = labels.as_slice();
    let k = names.len();
    let mut sizes = vec![0usize; k];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let found = sizes.iter().filter(|&&size| size > 0).count();
    if found < 2 || found >= rows {
        return Err(Error::data(
            format!("silhouettes need from 2 to {} clusters, and there are {found}", rows.saturating_sub(1)),
            "Use another number of clusters.",
        ));
    }
    let means = features.means(None, run)?;
    let shifted = features.centred(&means);
    let norms = shifted.row_norms(run)?;
    // Rows in the order of their clusters, so that a cluster is a run of columns in a block of distances.
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_key(|&i| labels[i]);
    let (tall, wide) = (128, 1024);
    let blocks: Vec<&[usize]> = order.chunks(tall).collect();
    let mut answers = vec![0.0; rows];
    // So many blocks at a time that we look up often.
    let round = (400_000_000 / (tall * rows * (columns + 8)).max(1)).clamp(1, 64) * 2;
    for (done, some) in blocks.chunks(round).enumerate() {
        run.progress("silhouettes", done * round, blocks.len());
        let found = run.map(some.len(), |b| {
            let mine = some[b];
            let mut sums = Matrix::zeros(mine.len(), k);
            let mut left = vec![0.0; mine.len() * columns];
            shifted.pack(mine.iter().copied(), &mut left);
            let mut right = vec![0.0; wide * columns];
            let mut products = vec![0.0; mine.len() * wide];
            for others in order.chunks(wide) {
                shifted.pack(others.iter().copied(), &mut right);
                let products = &mut products[..mine.len() * others.len()];
                matmul(
                    MatMut::from_row_major_slice_mut(products, mine.len(), others.len()),
                    Accum::Replace,
                    MatRef::from_row_major_slice(&left, mine.len(), columns),
                    MatRef::from_row_major_slice(&right[..others.len() * columns], others.len(), columns).transpose(),
                    1.0,
                    Par::Seq,
                );
                let other_norms: Vec<f64> = others.iter().map(|&i| norms[i]).collect();
                for (r, &i) in mine.iter().enumerate() {
                    let products = &mut products[r * others.len()..(r + 1) * others.len()];
                    if to_distances(norms[i], &other_norms, products) {
                        // Rows so near each other that the product has no digits left are measured directly.
                        let x = &left[r * columns..(r + 1) * columns];
                        for (c, distance) in products.iter_mut().enumerate() {
                            if *distance * *distance <= 1e-8 * (norms[i] + other_norms[c]) {
                                let y = &right[c * columns..(c + 1) * columns];
                                *distance = crate::matrix::simd::squared_distance(x, y).sqrt();
                            }
                        }
                    }
                    let mut from = 0;
                    while from < others.len() {
                        let label = labels[others[from]];
                        let to = from + others[from..].partition_point(|&j| labels[j] <= label);
                        sums[(r, label as usize)] += products[from..to].iter().sum::<f64>();
                        from = to;
                    }
                }
            }
            let of_row = |(r, &i): (usize, &usize)| {
                let own = labels[i] as usize;
                if sizes[own] == 1 {
                    return 0.0;
                }
                let a = sums[(r, own)] / (sizes[own] - 1) as f64;
                let others = (0..k).filter(|&c| c != own && sizes[c] > 0);
                let b = others.map(|c| sums[(r, c)] / sizes[c] as f64).fold(f64::INFINITY, f64::min);
                if a.max(b) > 0.0 { (b - a) / a.max(b) } else { 0.0 }
            };
            mine.iter().enumerate().map(of_row).collect::<Vec<f64>>()
        });
        for (mine, values) in some.iter().zip(found) {
            mine.iter().zip(values).for_each(|(&i, value)| answers[i] = value);
        }
        run.check()?;
    }
    Ok(answers)
}

/// The mean of all silhouettes.
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
