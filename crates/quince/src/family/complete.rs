//! Holes filled with what the rest of their row leads to expect, and how sure that is.
//!
//! Every component has its own expectation, and its share in the row by what is known of it: the mean of a hole is
//! Σ r_k m_k, its variance Σ r_k (v_k + (m_k - m)²), and the probability of a category Σ r_k p_k.

use super::block::{Expected, Scores, TILE, Tile};
use super::product::Product;
use crate::error::Result;
use crate::learn::Target;
use crate::matrix::{Features, Matrix};
use crate::run::Run;

/// Dense features with their holes filled.
#[derive(Clone, Debug, PartialEq)]
pub struct Completed {
    /// The dense features; what nothing is expected of is still a hole.
    pub values: Matrix,
    /// Of each hole: the standard deviation of a number, or the probability of a category. NaN where there was no hole.
    pub spreads: Matrix,
}

impl Product {
    /// Fills the holes of rows, whose components are as frequent as these weights say. A row whose class is known is of a
    /// component of that class: `classes` has those of rows, as far as they are known, and those of components.
    pub(crate) fn complete(
        &self,
        rows: &Features<'_>,
        log_weights: &[f64],
        classes: Option<(&[u32], &[u32])>,
        run: &Run,
    ) -> Result<Completed> {
        if rows.columns() == self.features && rows.dense_columns() != self.dense {
            return self.complete(&rows.split_at(self.dense)?.features(), log_weights, classes, run);
        }
        let dense = self.dense;
        let mut values = Matrix::zeros(rows.rows(), dense);
        let mut spreads = Matrix::zeros(rows.rows(), dense);
        // Scores are asked for once more, so that everything that can be wrong with rows is found there.
        self.ask(rows, 1, run, |_, _: &mut [u8]| {})?;
        let chunk = (TILE * dense).max(1);
        let mut pieces: Vec<(&mut [f64], &mut [f64])> =
            values.values_mut().chunks_mut(chunk).zip(spreads.values_mut().chunks_mut(chunk)).collect();
        for (round, some) in pieces.chunks_mut(16).enumerate() {
            run.each(some, |at, (values, spreads)| {
                let first = (round * 16 + at) * TILE;
                let mut tile = Tile::new(rows);
                tile.fill(rows, first..first + values.len() / dense);
                let classes = classes.map(|(known, own)| (&known[first..first + tile.rows()], own));
                self.complete_tile(&tile, log_weights, classes, values, spreads);
            });
            run.check()?;
        }
        Ok(Completed { values, spreads })
    }

    fn complete_tile(
        &self,
        tile: &Tile<'_>,
        log_weights: &[f64],
        classes: Option<(&[u32], &[u32])>,
        values: &mut [f64],
        spreads: &mut [f64],
    ) {
        let (dense, rows) = (self.dense, tile.rows());
        let mut holes = vec![usize::MAX; rows * dense];
        let mut found: Vec<Vec<(f64, f64, f64)>> = Vec::new();
        for j in 0..dense {
            for (i, &x) in tile.column(j).iter().enumerate() {
                values[i * dense + j] = x;
                spreads[i * dense + j] = f64::NAN;
                if x.is_nan() {
                    holes[i * dense + j] = found.len();
                    found.push(Vec::new());
                }
            }
        }
        if found.is_empty() {
            return;
        }
        let mut categories: Vec<Vec<f64>> = vec![Vec::new(); found.len()];
        let (mut shares, mut densities) = (Scores::new(self.components), [0.0; TILE]);
        shares.start(rows, log_weights);
        self.blocks.iter().for_each(|block| block.family().score(tile, &mut shares));
        if let Some((known, own)) = classes {
            shares.leave_classes(known.iter().copied(), own);
            // What cannot be of its class is filled by what that is like on the whole.
            for (i, &class) in known.iter().enumerate().filter(|(_, class)| **class != Target::UNKNOWN) {
                if (0..self.components).all(|k| shares.of(k)[i] == f64::NEG_INFINITY) {
                    let its = (0..self.components).filter(|&k| own[k] == class);
                    its.for_each(|k| shares.of_mut(k)[i] = log_weights[k]);
                }
            }
        }
        let weights: Vec<f64> = log_weights.iter().map(|log| log.exp()).collect();
        shares.make_shares(&[1.0; TILE][..rows], &weights, &mut densities[..rows]);
        for block in &self.blocks {
            for k in 0..self.components {
                let own = shares.of(k);
                block.family().expect(k, tile, &mut |i, column, expected| {
                    let hole = holes[i * dense + column];
                    match expected {
                        Expected::Number { mean, variance } => found[hole].push((own[i], mean, variance)),
                        Expected::Category(p) => {
                            categories[hole].resize(p.len(), 0.0);
                            categories[hole].iter_mut().zip(p).for_each(|(sum, p)| *sum += own[i] * p);
                        }
                    }
                });
            }
        }
        for (at, &hole) in holes.iter().enumerate().filter(|(_, hole)| **hole != usize::MAX) {
            let (numbers, shares) = (&found[hole], &categories[hole]);
            if !numbers.is_empty() {
                let mean: f64 = numbers.iter().map(|(share, mean, _)| share * mean).sum();
                let parts = numbers.iter().map(|(share, own, variance)| share * (variance + (own - mean).powi(2)));
                (values[at], spreads[at]) = (mean, parts.sum::<f64>().sqrt());
            } else if !shares.is_empty() {
                let likeliest = crate::learn::largest(shares) as usize;
                (values[at], spreads[at]) = (likeliest as f64, shares[likeliest]);
            }
        }
    }
}
