//! Features that own their numbers.

use super::{Dense, Features, Matrix, Sparse};
use std::sync::Arc;

/// Features that own their numbers.
///
/// ```
/// use quince::Matrix;
/// use quince::matrix::Rows;
/// let rows = Rows::from(Matrix::from_rows(&[[1.0], [2.0], [3.0]]));
/// assert_eq!(rows.take(&[2, 0]).features().rows(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rows {
    dense: Matrix,
    sparse: Option<Arc<Sparse>>,
}

impl Rows {
    /// Dense features, with sparse ones beside them if there are any; both have the same rows.
    pub(crate) fn of(dense: Matrix, sparse: Option<Sparse>) -> Rows {
        Rows { dense, sparse: sparse.map(Arc::new) }
    }

    /// The same with other dense features.
    pub(crate) fn with_dense(&self, dense: Matrix) -> Rows {
        Rows { dense, sparse: self.sparse.clone() }
    }

    /// Whether there is a missing value among the dense features.
    pub(crate) fn has_missing(&self) -> bool {
        self.dense.values().iter().any(|x| x.is_nan())
    }

    pub(crate) fn dense(&self) -> &Matrix {
        &self.dense
    }

    pub(crate) fn sparse(&self) -> Option<&Sparse> {
        self.sparse.as_deref()
    }

    /// A view for a learner.
    pub fn features(&self) -> Features<'_> {
        match &self.sparse {
            None => self.dense.features(),
            Some(sparse) if self.dense.columns() == 0 => sparse.features(),
            Some(sparse) => {
                Features::both(Dense::F64(self.dense.view()), sparse).expect("both parts are made from the same rows")
            }
        }
    }

    /// The rows with these numbers, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn take(&self, rows: &[usize]) -> Rows {
        Rows { dense: self.dense.take_rows(rows), sparse: self.sparse.as_ref().map(|s| Arc::new(s.take_rows(rows))) }
    }
}

impl From<Matrix> for Rows {
    fn from(dense: Matrix) -> Rows {
        Rows { dense, sparse: None }
    }
}
