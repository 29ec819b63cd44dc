//! Matrices, features and the kernels that all methods on feature vectors share.
//!
//! A [`Matrix`] is dense and owned, a [`Sparse`] holds only what is not zero, a [`View`] looks at someone else's numbers
//! (numpy's, Arrow's) in any layout, and [`Features`] are what a learner takes: a dense view, a sparse part beside it, or
//! both. Kernels read features through packed tiles, so strides and types matter in one place only, and nothing sparse
//! becomes dense but a tile at a time. All sums are in f64, and in an order that depends on the shape alone.

mod cholesky;
mod chunk;
mod features;
pub(crate) mod fused;
pub(crate) mod gram;
#[cfg(test)]
pub(crate) mod lazy;
mod moments;
mod outputs;
mod pivoted;
mod products;
mod rows;
pub(crate) mod simd;
mod sparse;
mod store;
mod tall;
#[cfg(test)]
mod tests;
pub(crate) mod view;

pub(crate) use cholesky::{Cholesky, Triangle};
pub(crate) use chunk::{RowShape, RowsWithTargets, Weighted, WeightedRows, WithTargets, means};
pub use features::Features;
pub(crate) use features::too_large_to_add_up;
pub(crate) use moments::{Moments, centred_moments, moments, row_products};
pub(crate) use pivoted::PivotedCholesky;
pub use rows::Rows;
pub use sparse::{Sparse, SparseView};
pub(crate) use sparse::{SparseRows, divide_rows, euclidean_length};
pub(crate) use tall::{About, Orientation, Tall, singular_values_of, triangular_factor};
pub use view::{Dense, Real, View};

use crate::error::{Error, Result};
use crate::passes::Merge;
use serde::{Deserialize, Serialize};

/// A dense matrix of f64, one row after another.
///
/// ```
/// use quince::Matrix;
/// let m = Matrix::from_rows(&[[5.0, 1.0], [7.0, 2.0]]);
/// assert_eq!(m[(1, 0)], 7.0);
/// assert_eq!(m.row(0), [5.0, 1.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

/// A matrix as it was written somewhere, before its size is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl TryFrom<Unchecked> for Matrix {
    type Error = Error;

    fn try_from(Unchecked { rows, columns, values }: Unchecked) -> Result<Matrix> {
        Matrix::new(rows, columns, values)
    }
}

impl TryFrom<&[Vec<f64>]> for Matrix {
    type Error = Error;

    /// From rows, which must have the same length.
    fn try_from(rows: &[Vec<f64>]) -> Result<Matrix> {
        let columns = rows.first().map_or(0, Vec::len);
        if let Some(i) = rows.iter().position(|row| row.len() != columns) {
            return Err(Error::shape(
                format!("row {} has {} numbers, the first row {columns}", i + 1, rows[i].len()),
                "Give all rows the same length.",
            ));
        }
        Matrix::new(rows.len(), columns, rows.concat())
    }
}

impl TryFrom<Vec<Vec<f64>>> for Matrix {
    type Error = Error;

    /// From rows, which must have the same length.
    fn try_from(rows: Vec<Vec<f64>>) -> Result<Matrix> {
        Matrix::try_from(rows.as_slice())
    }
}

impl<const C: usize> From<&[[f64; C]]> for Matrix {
    fn from(rows: &[[f64; C]]) -> Matrix {
        Matrix::from_rows(rows)
    }
}

impl Matrix {
    /// All zeros.
    ///
    /// # Panics
    /// If there is no memory for that many numbers.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        let count = rows.checked_mul(columns).expect("a matrix fits into memory");
        Matrix { rows, columns, values: vec![0.0; count] }
    }

    /// From rows of equal length.
    pub fn from_rows<const C: usize>(rows: &[[f64; C]]) -> Matrix {
        Matrix { rows: rows.len(), columns: C, values: rows.as_flattened().to_vec() }
    }

    /// From all values, row after row.
    ///
    /// ```
    /// use quince::Matrix;
    /// assert_eq!(Matrix::new(2, 2, vec![1.0, 2.0, 3.0, 4.0])?, Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]));
    /// assert!(Matrix::new(2, 2, vec![1.0]).is_err());
    /// # quince::Result::Ok(())
    /// ```
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Result<Matrix> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::shape(
                format!("{} values do not make a matrix of {rows} rows and {columns} columns", values.len()),
                "Give as many values as rows times columns.",
            ));
        }
        Ok(Matrix { rows, columns, values })
    }

    /// One column.
    pub fn column_vector(values: Vec<f64>) -> Matrix {
        Matrix { rows: values.len(), columns: 1, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row; so do [`Matrix::row_mut`], [`Matrix::take_rows`] and indexing.
    pub fn row(&self, i: usize) -> &[f64] {
        assert!(i < self.rows, "row {i} of a matrix with {}", self.rows);
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// Row `i`, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        assert!(i < self.rows, "row {i} of a matrix with {}", self.rows);
        &mut self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// A copy of column `j`.
    ///
    /// ```
    /// use quince::Matrix;
    /// assert_eq!(Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).column(1), [2.0, 4.0]);
    /// ```
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, j: usize) -> Vec<f64> {
        assert!(j < self.columns, "column {j} of a matrix with {} columns", self.columns);
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, row after row, to be changed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// All values, row after row, without a copy.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The rows with these numbers, in this order.
    ///
    /// ```
    /// use quince::Matrix;
    /// assert_eq!(Matrix::from_rows(&[[1.0], [2.0], [3.0]]).take_rows(&[2, 0]).values(), [3.0, 1.0]);
    /// ```
    ///
    /// # Panics
    /// If there is no such row.
    pub fn take_rows(&self, rows: &[usize]) -> Matrix {
        let values = rows.iter().flat_map(|&i| self.row(i)).copied().collect();
        Matrix { rows: rows.len(), columns: self.columns, values }
    }

    /// An error, which says what the matrix is of, unless every value is finite.
    pub(crate) fn check_finite(&self, what: &str) -> Result<()> {
        match self.values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(Error::not_finite(
                format!(
                    "{} among the {what}: row {}, column {}",
                    self.values[at],
                    at / self.columns + 1,
                    at % self.columns + 1
                ),
                "Give finite numbers.",
            )),
        }
    }

    /// A view of the whole matrix.
    pub fn view(&self) -> View<'_, f64> {
        View::row_major(&self.values, self.rows, self.columns)
    }

    /// The matrix as features for a learner.
    pub fn features(&self) -> Features<'_> {
        Features::dense(Dense::F64(self.view()))
    }
}

/// Sums of the same shape.
impl Merge for Matrix {
    fn merge(&mut self, later: Matrix) {
        debug_assert_eq!(self.values.len(), later.values.len(), "sums of the same things");
        for (sum, later) in self.values.iter_mut().zip(later.values) {
            *sum += later;
        }
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        assert!(i < self.rows && j < self.columns, "place {i}, {j} of a {} x {} matrix", self.rows, self.columns);
        &self.values[i * self.columns + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        assert!(i < self.rows && j < self.columns, "place {i}, {j} of a {} x {} matrix", self.rows, self.columns);
        &mut self.values[i * self.columns + j]
    }
}

/// An error if this many bytes are more than the free memory.
pub(crate) fn afford(bytes: f64, what: &str) -> Result<()> {
    let free = free_memory();
    if bytes < 5e8 || bytes <= free {
        return Ok(());
    }
    Err(Error::data(
        format!("{what} needs about {:.0} GB of memory, and {:.0} GB are free", bytes / 1e9, free / 1e9),
        "Use fewer rows, drop a column of many categories or words, or choose another method.",
    ))
}

/// Free memory in bytes, where the system tells; otherwise 16 GB.
fn free_memory() -> f64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    });
    told.map_or(16e9, |kilobytes| kilobytes * 1024.0)
}
