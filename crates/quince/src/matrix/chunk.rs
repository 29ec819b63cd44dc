//! Chunks of rows, as passes read them: views of what is in memory, or owners of rows that are dropped after a pass has read them.

use super::{Features, Matrix, too_large_to_add_up};
use crate::error::Result;
use crate::passes::{Chunk, Pass, Source};
use crate::run::Run;

/// What must be known of rows before the first chunk of them is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowShape {
    pub(crate) columns: usize,
    /// The first columns, which are dense.
    pub(crate) dense_columns: usize,
    pub(crate) has_sparse: bool,
    /// What it costs to read a row, in multiplications.
    pub(crate) row_cost: usize,
}

/// A chunk of rows, with their weights.
pub(crate) trait WeightedRows: Chunk {
    fn features(&self) -> Features<'_>;

    /// `None` where all rows weigh 1.
    fn weights(&self) -> Option<&[f64]>;

    fn total_weight(&self) -> f64 {
        self.weights().map_or(self.count() as f64, |weights| weights.iter().sum())
    }
}

impl<C: WeightedRows> WeightedRows for &C {
    fn features(&self) -> Features<'_> {
        (**self).features()
    }

    fn weights(&self) -> Option<&[f64]> {
        (**self).weights()
    }
}

/// Rows in memory, and their weights.
#[derive(Clone, Copy)]
pub(crate) struct Weighted<'a> {
    pub(crate) features: Features<'a>,
    pub(crate) weights: Option<&'a [f64]>,
}

impl Chunk for Weighted<'_> {
    fn count(&self) -> usize {
        self.features.rows()
    }
}

impl WeightedRows for Weighted<'_> {
    fn features(&self) -> Features<'_> {
        self.features
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights
    }
}

/// A chunk of rows with targets beside them.
pub(crate) trait RowsWithTargets: WeightedRows {
    fn targets(&self) -> &Matrix;

    /// The roots of the weights.
    fn roots(&self) -> Option<&[f64]>;
}

impl<C: RowsWithTargets> RowsWithTargets for &C {
    fn targets(&self) -> &Matrix {
        (**self).targets()
    }

    fn roots(&self) -> Option<&[f64]> {
        (**self).roots()
    }
}

/// Rows in memory with targets beside them.
pub(crate) struct WithTargets<'a> {
    features: Features<'a>,
    targets: &'a Matrix,
    roots: Option<&'a [f64]>,
    weights: Option<Vec<f64>>,
}

impl<'a> WithTargets<'a> {
    /// With the roots of the weights, which are their squares.
    pub(crate) fn new(features: Features<'a>, targets: &'a Matrix, roots: Option<&'a [f64]>) -> WithTargets<'a> {
        let weights = roots.map(|roots| roots.iter().map(|root| root * root).collect());
        WithTargets { features, targets, roots, weights }
    }
}

impl Chunk for WithTargets<'_> {
    fn count(&self) -> usize {
        self.features.rows()
    }
}

impl WeightedRows for WithTargets<'_> {
    fn features(&self) -> Features<'_> {
        self.features
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }
}

impl RowsWithTargets for WithTargets<'_> {
    fn targets(&self) -> &Matrix {
        self.targets
    }

    fn roots(&self) -> Option<&[f64]> {
        self.roots
    }
}

/// The mean of each column, rows weighted. Not-a-number and infinite values are refused here, with their place.
pub(crate) fn means(rows: impl Source<Chunk: WeightedRows>, shape: RowShape, run: &Run) -> Result<Vec<f64>> {
    let mut total = 0.0;
    let chunks = rows.chunks().inspect(|chunk| total += chunk.as_ref().map_or(0.0, WeightedRows::total_weight));
    let pass = Pass::new(10_000_000 / shape.row_cost, run).whatever_the_deadline();
    let mut means = pass.gather(
        chunks,
        || vec![0.0; shape.columns],
        |sums, chunk, rows| chunk.features().add_columns(rows, chunk.weights(), sums),
    )?;
    // A sum over all rows is finite only if every value is (or it overflows, which is refused just as well).
    if means.iter().any(|sum| !sum.is_finite()) {
        for chunk in rows.chunks() {
            let chunk = chunk?;
            chunk.features().check_finite_from(chunk.first())?;
        }
        return Err(too_large_to_add_up());
    }
    means.iter_mut().for_each(|mean| *mean /= total);
    Ok(means)
}
