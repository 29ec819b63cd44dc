//! Rows as a file gives them: in chunks that are made when they are asked for, own their rows, and live one at a time.

use super::{Features, Matrix, Rows, RowsWithTargets, WeightedRows};
use crate::error::Result;
use crate::passes::{Chunk, Source};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows with weights and targets, and the chunks in which they come.
pub(crate) struct LazyRows {
    rows: Rows,
    weights: Option<Vec<f64>>,
    targets: Matrix,
    chunks: Vec<Range<usize>>,
    alive: Arc<AtomicUsize>,
    made: AtomicUsize,
}

impl LazyRows {
    /// In chunks of these sizes.
    pub(crate) fn new(rows: Rows, weights: Option<Vec<f64>>, targets: Matrix, sizes: &[usize]) -> LazyRows {
        let mut end = 0;
        let mut chunks = Vec::new();
        for size in sizes {
            chunks.push(end..end + size);
            end += size;
        }
        assert_eq!(end, rows.features().rows(), "the chunks are all rows");
        LazyRows { rows, weights, targets, chunks, alive: Arc::default(), made: AtomicUsize::new(0) }
    }

    /// Without targets.
    pub(crate) fn without_targets(rows: Rows, weights: Option<Vec<f64>>, sizes: &[usize]) -> LazyRows {
        let targets = Matrix::zeros(rows.features().rows(), 0);
        LazyRows::new(rows, weights, targets, sizes)
    }

    /// All rows.
    pub(crate) fn features(&self) -> Features<'_> {
        self.rows.features()
    }

    /// The number of chunks that were made so far.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }

    /// The number of chunks of a pass.
    pub(crate) fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    fn make(&self, range: &Range<usize>) -> OwnedRows {
        assert_eq!(self.alive.fetch_add(1, Ordering::SeqCst), 0, "the chunk before is dropped");
        self.made.fetch_add(1, Ordering::SeqCst);
        let places: Vec<usize> = range.clone().collect();
        let weights = self.weights.as_ref().map(|weights| weights[range.clone()].to_vec());
        OwnedRows {
            first: range.start,
            rows: self.rows.take(&places),
            roots: weights.as_ref().map(|weights| weights.iter().map(|weight| weight.sqrt()).collect()),
            weights,
            targets: self.targets.take_rows(&places),
            alive: self.alive.clone(),
        }
    }
}

impl Source for &LazyRows {
    type Chunk = OwnedRows;

    fn chunks(&self) -> impl Iterator<Item = Result<OwnedRows>> {
        self.chunks.iter().map(|range| Ok(self.make(range)))
    }
}

/// A chunk that owns its rows.
pub(crate) struct OwnedRows {
    first: usize,
    rows: Rows,
    weights: Option<Vec<f64>>,
    roots: Option<Vec<f64>>,
    targets: Matrix,
    alive: Arc<AtomicUsize>,
}

impl Drop for OwnedRows {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Chunk for OwnedRows {
    fn count(&self) -> usize {
        self.rows.features().rows()
    }

    fn first(&self) -> usize {
        self.first
    }
}

impl WeightedRows for OwnedRows {
    fn features(&self) -> Features<'_> {
        self.rows.features()
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }
}

impl RowsWithTargets for OwnedRows {
    fn targets(&self) -> &Matrix {
        &self.targets
    }

    fn roots(&self) -> Option<&[f64]> {
        self.roots.as_deref()
    }
}

/// An error unless numbers agree up to rounding: to 1e-12 of the size of each.
pub(crate) fn assert_close(found: &[f64], expected: &[f64], sizes: impl Fn(usize) -> f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-12 * sizes(i), "{i}: {found} and {expected}");
    }
}
