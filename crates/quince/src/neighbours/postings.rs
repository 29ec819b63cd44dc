//! Neighbours of sparse rows by an inverted index: only the entries that a query shares with others are multiplied.
//!
//! The columns of the rows are listed one by one, each with the rows that have an entry there (in a search engine these are the
//! postings of a word). A query adds up its products x·y with all rows by going through the lists of its own entries, and
//! ‖x - y‖² = ‖x‖² + ‖y‖² - 2 x·y follows. That is off by a few roundings: rows that may be among the k nearest are measured
//! again by direct differences, which alone decide.

use super::best::Best;
use super::data::SearchRows;
use super::index::QuerySet;
use super::measure::{DistanceMetric, Measure};
use crate::error::Result;
use crate::matrix::Sparse;
use crate::run::Run;

/// An inverted index of sparse rows.
pub(super) struct Postings<'a> {
    rows: SearchRows<'a>,
    measure: &'a Measure,
    lists: Sparse,
    /// Weighted squared norms: for Euclidean distance of the sparse entries alone.
    norms: Vec<f64>,
}

/// Scratch space of one thread.
pub(super) struct PostingsScratch {
    products: Vec<f64>,
    ranks: Vec<f64>,
    sorted: Vec<f64>,
    of_query: Vec<f64>,
    of_row: Vec<f64>,
    best: Best,
}

impl<'a> Postings<'a> {
    pub(super) fn new(rows: SearchRows<'a>, sparse: &Sparse, measure: &'a Measure, run: &Run) -> Result<Postings<'a>> {
        let mut postings = Postings { rows, measure, lists: sparse.transposed(run)?, norms: Vec::new() };
        let mut space = vec![0.0; rows.features.dense_columns()];
        postings.norms = (0..rows.rows()).map(|i| postings.squared_norm(&rows, i, &mut space)).collect();
        Ok(postings)
    }

    fn weight(&self, j: usize) -> f64 {
        self.measure.weights.get(j).copied().unwrap_or(1.0)
    }

    fn squared_norm(&self, data: &SearchRows<'_>, i: usize, space: &mut [f64]) -> f64 {
        let row = data.row(i, space);
        let first = row.dense.len();
        let square = |(j, x): (usize, &f64)| self.weight(j) * x * x;
        let of_dense: f64 = if self.measure.metric == DistanceMetric::Cosine {
            row.dense.iter().enumerate().map(square).sum()
        } else {
            0.0
        };
        let (columns, values) = row.sparse;
        of_dense + columns.iter().zip(values).map(|(&j, x)| square((first + j as usize, x))).sum::<f64>()
    }

    pub(super) fn scratch(&self, k: usize) -> PostingsScratch {
        let (rows, dense) = (self.rows.rows(), self.rows.features.dense_columns());
        PostingsScratch {
            products: vec![0.0; rows],
            ranks: vec![0.0; rows],
            sorted: Vec::with_capacity(rows),
            of_query: vec![0.0; dense],
            of_row: vec![0.0; dense],
            best: Best::new(k),
        }
    }

    /// The nearest rows of a query, the nearest first.
    pub(super) fn nearest<'b>(
        &self,
        questions: &QuerySet<'_>,
        q: usize,
        scratch: &'b mut PostingsScratch,
    ) -> &'b [(f64, u32)] {
        let (own, k, columns) = (questions.own(q), questions.k, self.rows.features.columns());
        let norm = self.squared_norm(&questions.queries, q, &mut scratch.of_query);
        let query = questions.queries.row(q, &mut scratch.of_query);
        let (first, cosine) = (query.dense.len(), self.measure.metric == DistanceMetric::Cosine);
        // A few roundings for each number that was added.
        let error_bound = 8.0 * f64::EPSILON * (query.sparse.0.len() + first + 8) as f64;
        scratch.products.fill(0.0);
        for (&j, x) in query.sparse.0.iter().zip(query.sparse.1) {
            let (rows, values) = self.lists.row(j as usize);
            let x = x * self.weight(first + j as usize);
            rows.iter().zip(values).for_each(|(&i, y)| scratch.products[i as usize] += x * y);
        }
        for (i, rank) in scratch.ranks.iter_mut().enumerate() {
            let (mut product, mut apart) = (scratch.products[i], 0.0);
            if first > 0 {
                let row = self.rows.dense_row(i, &mut scratch.of_row);
                for (j, (x, y)) in query.dense.iter().zip(row).enumerate() {
                    if cosine {
                        product += self.weight(j) * x * y;
                    } else {
                        apart += self.weight(j) * (x - y) * (x - y);
                    }
                }
            }
            *rank = match cosine {
                true if norm == 0.0 || self.norms[i] == 0.0 => 1.0,
                true => (1.0 - product / (norm.sqrt() * self.norms[i].sqrt())).max(0.0),
                false => apart + (norm + self.norms[i] - 2.0 * product).max(0.0),
            };
        }
        if let Some(rank) = scratch.ranks.get_mut(own as usize) {
            *rank = f64::INFINITY;
        }
        let error = |i: usize, rank: f64| match cosine {
            true => error_bound,
            false => error_bound * (rank + norm + self.norms[i]),
        };
        // The k-th least rank, and what it may be at most.
        scratch.sorted.clear();
        scratch.sorted.extend_from_slice(&scratch.ranks);
        let (_, kth, _) = scratch.sorted.select_nth_unstable_by(k - 1, f64::total_cmp);
        let within = |(i, rank): (usize, &f64)| if rank <= kth { Some(rank + error(i, *rank)) } else { None };
        let limit = scratch.ranks.iter().enumerate().filter_map(within).fold(0.0, f64::max);
        scratch.best.clear();
        for (i, &rank) in scratch.ranks.iter().enumerate() {
            if i as u32 != own && rank - error(i, rank) <= limit {
                let row = self.rows.row(i, &mut scratch.of_row);
                scratch.best.offer(self.measure.rank(query, row, columns), i as u32);
            }
        }
        scratch.best.found()
    }
}
