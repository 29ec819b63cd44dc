//! The features that a learner takes: a dense part, a sparse part beside it, or both, with one row per example.
//!
//! A column may have a centre and a scale that are not applied to the numbers in memory: every kernel reads x as
//! (x - centre) · scale. So columns are standardised without a copy, and sparse ones stay sparse.

use super::simd::{centre_and_convert, convert};
use super::view::with_view;
use super::{Dense, Matrix, Real, RowShape, Rows, Sparse, Weighted, means};
use crate::error::{Error, Result};
use crate::passes::Chunk;
use crate::run::Run;
use std::ops::Range;

/// Rows of numbers, borrowed: dense columns first, then sparse ones.
///
/// ```
/// use quince::Matrix;
/// use quince::matrix::{Dense, Features, Sparse};
/// let (dense, words) = (Matrix::from_rows(&[[1.0], [2.0]]), Sparse::from_rows(50, vec![vec![(7, 1.0)], vec![]])?);
/// let both = Features::both(Dense::F64(dense.view()), &words)?;
/// assert_eq!((both.rows(), both.columns(), both.dense_columns()), (2, 51, 1));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "design matrix")]
#[doc(alias = "X")]
pub struct Features<'a> {
    rows: usize,
    dense: Option<Dense<'a>>,
    sparse: Option<&'a Sparse>,
    centre: Option<&'a [f64]>,
    scale: Option<&'a [f64]>,
}

impl Chunk for Features<'_> {
    fn count(&self) -> usize {
        self.rows
    }
}

impl<'a> Features<'a> {
    /// Dense features alone.
    pub fn dense(dense: Dense<'a>) -> Features<'a> {
        Features { rows: dense.rows(), dense: Some(dense), sparse: None, centre: None, scale: None }
    }

    /// Sparse features alone.
    pub fn sparse(sparse: &'a Sparse) -> Features<'a> {
        Features { rows: sparse.rows(), dense: None, sparse: Some(sparse), centre: None, scale: None }
    }

    /// Dense columns with sparse ones beside them. Both must have the same number of rows.
    pub fn both(dense: Dense<'a>, sparse: &'a Sparse) -> Result<Features<'a>> {
        if dense.rows() != sparse.rows() {
            return Err(Error::data(
                format!("{} dense rows stand beside {} sparse rows", dense.rows(), sparse.rows()),
                "Give both parts the same rows.",
            ));
        }
        Ok(Features { rows: dense.rows(), dense: Some(dense), sparse: Some(sparse), centre: None, scale: None })
    }

    /// The same with `centre` subtracted from each column, and nothing copied.
    ///
    /// # Panics
    /// If there is not one number for each column.
    pub(crate) fn centred(self, centre: &'a [f64]) -> Features<'a> {
        assert_eq!(centre.len(), self.columns(), "every column has a centre");
        Features { centre: Some(centre), ..self }
    }

    /// The same with each column multiplied by its scale (after its centre is subtracted), and nothing copied.
    ///
    /// # Panics
    /// If there is not one number for each column.
    pub(crate) fn scaled(self, scale: &'a [f64]) -> Features<'a> {
        assert_eq!(scale.len(), self.columns(), "every column has a scale");
        Features { scale: Some(scale), ..self }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, dense and sparse together.
    pub fn columns(&self) -> usize {
        self.dense_columns() + self.sparse.map_or(0, Sparse::columns)
    }

    /// The dense part.
    pub fn dense_part(&self) -> Option<Dense<'a>> {
        self.dense
    }

    /// The sparse part; its first column is column [`Features::dense_columns`] of the whole.
    pub fn sparse_part(&self) -> Option<&'a Sparse> {
        self.sparse
    }

    /// Number of dense columns.
    pub fn dense_columns(&self) -> usize {
        self.dense.map_or(0, |dense| dense.columns())
    }

    /// What is subtracted from column `j`.
    #[inline]
    pub(crate) fn centre_of(&self, j: usize) -> f64 {
        self.centre.map_or(0.0, |centre| centre[j])
    }

    /// What column `j` is multiplied by.
    #[inline]
    pub(crate) fn scale_of(&self, j: usize) -> f64 {
        self.scale.map_or(1.0, |scale| scale[j])
    }

    /// Whether columns are centred or scaled.
    pub(crate) fn is_shifted(&self) -> bool {
        self.centre.is_some() || self.scale.is_some()
    }

    /// The same with columns neither centred nor scaled.
    pub(crate) fn plain(self) -> Features<'a> {
        Features { centre: None, scale: None, ..self }
    }

    /// The same with columns centred but not scaled.
    pub(crate) fn without_scale(self) -> Features<'a> {
        Features { scale: None, ..self }
    }

    /// The dense columns alone, with their centres and scales.
    pub(crate) fn dense_alone(self) -> Features<'a> {
        let dense = self.dense.unwrap_or(Dense::F64(super::View::row_major(&[], self.rows, 0)));
        let part = |values: Option<&'a [f64]>| values.map(|values| &values[..dense.columns()]);
        Features { dense: Some(dense), sparse: None, centre: part(self.centre), scale: part(self.scale), ..self }
    }

    /// Packs a tile: these rows, one after another, centred and scaled, in the precision of the tile.
    pub(crate) fn pack<T: Real>(&self, rows: impl Iterator<Item = usize>, tile: &mut [T]) {
        let (dense, columns) = (self.dense_columns(), self.columns());
        if columns == 0 {
            return;
        }
        for (i, row) in rows.zip(tile.chunks_exact_mut(columns)) {
            let (left, right) = row.split_at_mut(dense);
            if let Some(part) = self.dense {
                with_view!(part, view => match (view.whole_row(i), self.centre, self.scale) {
                    (Some(row), None, None) => convert(row, left),
                    (Some(row), Some(centre), None) => centre_and_convert(row, centre, left),
                    _ => view.copy_row(i, left, |j, x| (x - self.centre_of(j)) * self.scale_of(j)),
                });
            }
            if let Some(sparse) = self.sparse {
                let shifted = |j: usize, x: f64| T::from_f64((x - self.centre_of(j)) * self.scale_of(j));
                right.iter_mut().enumerate().for_each(|(k, x)| *x = shifted(dense + k, 0.0));
                sparse.entries(i).for_each(|(k, value)| right[k] = shifted(dense + k, value));
            }
        }
    }

    /// A copy of some rows, neither centred nor scaled.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn take(&self, rows: &[usize]) -> Rows {
        assert!(rows.iter().all(|&row| row < self.rows), "rows among the {} there are", self.rows);
        let mut dense = Matrix::zeros(rows.len(), self.dense_columns());
        self.plain().dense_alone().pack(rows.iter().copied(), dense.values_mut());
        Rows::of(dense, self.sparse.map(|sparse| sparse.take_rows(rows)))
    }

    /// A copy whose first `dense` columns are dense and whose others are sparse, however they are here.
    pub(crate) fn split_at(&self, dense: usize) -> Result<Rows> {
        let mut left = Matrix::zeros(self.rows, dense);
        let mut right: Vec<Vec<(u32, f64)>> = Vec::new();
        for i in 0..self.rows {
            let mut entries = Vec::new();
            self.for_row(i, |j, value| match j.checked_sub(dense) {
                None => left[(i, j)] = value,
                Some(k) if value != 0.0 => entries.push((k as u32, value)),
                Some(_) => {}
            });
            right.push(entries);
        }
        let rest = self.columns() - dense;
        let right = (rest > 0).then(|| Sparse::from_rows(rest, right)).transpose()?;
        Ok(Rows::of(left, right))
    }

    /// Calls `visit(column, value)` for every entry of row `i` that is stored, neither centred nor scaled.
    pub(crate) fn for_row(&self, i: usize, mut visit: impl FnMut(usize, f64)) {
        if let Some(dense) = self.dense {
            with_view!(dense, view => view.for_block(i..i + 1, 0..view.columns(), |_, j, value| visit(j, value)));
        }
        if let Some(sparse) = self.sparse {
            let first = self.dense_columns();
            sparse.entries(i).for_each(|(j, value)| visit(first + j, value));
        }
    }

    /// An error if a few numbers per column do not fit into memory: a sparse file may name any place.
    pub(crate) fn afford_columns(&self) -> Result<()> {
        super::afford(24.0 * self.columns() as f64, &format!("learning from {} features", self.columns()))
    }

    /// The mean of each column, rows weighted. Not-a-number and infinite values are refused here, with their place.
    pub(crate) fn means(&self, weights: Option<&[f64]>, run: &Run) -> Result<Vec<f64>> {
        means(&Weighted { features: *self, weights }, self.shape(), run)
    }

    /// What a pass must know of these rows beforehand.
    pub(crate) fn shape(&self) -> RowShape {
        RowShape {
            columns: self.columns(),
            dense_columns: self.dense_columns(),
            has_sparse: self.sparse.is_some(),
            row_cost: self.row_cost(),
        }
    }

    /// A point that is likely to be near the means of the columns: the mean of a few rows from all over. Of a column that is
    /// the same in all of them, just that value, so that what is subtracted from a constant column leaves zeros.
    pub(crate) fn near_means(&self) -> Vec<f64> {
        const SAMPLED_ROWS: usize = 64;
        let (columns, count) = (self.columns(), self.rows.min(SAMPLED_ROWS));
        let mut rows = Matrix::zeros(count, columns);
        self.pack((0..count).map(|r| self.rows * r / count), rows.values_mut());
        let one = |j: usize| {
            let first = rows[(0, j)];
            let same = (1..count).all(|r| rows[(r, j)] == first);
            let point = if same { first } else { (0..count).map(|r| rows[(r, j)] / count as f64).sum() };
            if point.is_finite() { point } else { 0.0 }
        };
        if count == 0 { vec![0.0; columns] } else { (0..columns).map(one).collect() }
    }

    /// What it costs to read a row, in multiplications: an entry of a sparse one is as slow as four.
    pub(crate) fn row_cost(&self) -> usize {
        let entries = self.sparse.map_or(0, |sparse| 4 * sparse.stored() / sparse.rows().max(1));
        8 + self.dense_columns() + entries
    }

    /// Adds some rows, weighted, to sums of columns.
    pub(super) fn add_columns(&self, rows: Range<usize>, weights: Option<&[f64]>, sums: &mut [f64]) {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        if let Some(dense) = self.dense {
            with_view!(dense, view => view.for_block(rows.clone(), 0..view.columns(), |i, j, value| {
                sums[j] += weight(i) * value;
            }));
        }
        if let Some(sparse) = self.sparse {
            let first = self.dense_columns();
            for i in rows {
                sparse.entries(i).for_each(|(j, value)| sums[first + j] += weight(i) * value);
            }
        }
    }

    /// An error unless these rows have as many columns as a model has.
    pub fn check_columns(&self, of_model: usize) -> Result<()> {
        if self.columns() == of_model {
            return Ok(());
        }
        let problem = format!("the rows have {} features, the model has {of_model}", self.columns());
        Err(Error::shape(problem, "Give the same columns as in training."))
    }

    /// An error unless every value is finite.
    pub fn check_finite(&self) -> Result<()> {
        self.check_finite_from(0)
    }

    /// The same of rows the first of which is row `first` of all.
    pub(crate) fn check_finite_from(&self, first: usize) -> Result<()> {
        let mut fine = true;
        (0..self.rows).for_each(|i| self.for_row(i, |_, value| fine &= value.is_finite()));
        if fine { Ok(()) } else { Err(self.not_finite_from(first)) }
    }

    pub(crate) fn not_finite(&self) -> Error {
        self.not_finite_from(0)
    }

    fn not_finite_from(&self, first: usize) -> Error {
        self.refuse(first, |_, value| !value.is_finite())
    }

    /// The error for a number larger than `limit`, where dense columns may have missing values.
    pub(crate) fn too_large(&self, limit: f64) -> Error {
        let dense = self.dense_columns();
        self.refuse(0, |j, value| value.abs() > limit || (j >= dense && value.is_nan()))
    }

    /// The error for an infinite number, or a missing value among sparse columns.
    pub(crate) fn infinite(&self) -> Error {
        self.infinite_from(0)
    }

    /// The same of rows the first of which is row `first` of all.
    pub(crate) fn infinite_from(&self, first: usize) -> Error {
        let dense = self.dense_columns();
        self.refuse(first, |j, value| value.is_infinite() || (j >= dense && value.is_nan()))
    }

    /// A dense column.
    pub(crate) fn dense_column(&self, j: usize) -> Vec<f64> {
        self.dense
            .map_or_else(Vec::new, |dense| with_view!(dense, view => (0..self.rows).map(|i| view.get(i, j)).collect()))
    }

    /// The column with the largest absolute value, and that value; of finite features.
    pub(crate) fn largest_value(&self) -> (usize, f64) {
        let mut largest = (0, 0.0);
        (0..self.rows).for_each(|i| {
            self.for_row(i, |j, value| {
                if value.abs() > largest.1 {
                    largest = (j, value.abs());
                }
            });
        });
        largest
    }

    fn refuse(&self, first: usize, wrong: impl Fn(usize, f64) -> bool) -> Error {
        let mut found = None;
        for i in 0..self.rows {
            self.for_row(i, |j, value| {
                if found.is_none() && wrong(j, value) {
                    found = Some((i, j, value));
                }
            });
            if found.is_some() {
                break;
            }
        }
        match found {
            Some((i, j, value)) if value.is_finite() => Error::data(
                format!("{value:e} in row {}, column {} is too large to measure distances", first + i + 1, j + 1),
                "Rescale the column.",
            ),
            Some((i, j, value)) => {
                let what = if value.is_nan() { "NaN" } else { "infinity" };
                Error::not_finite(
                    format!("the features contain {what}: row {}, column {}", first + i + 1, j + 1),
                    "Impute missing values and remove infinities, or give a table, whose missing values are imputed for you.",
                )
            }
            None => too_large_to_add_up(),
        }
    }
}

/// The error for finite values whose sum is not.
pub(crate) fn too_large_to_add_up() -> Error {
    Error::data("the features are too large to be added up", "Rescale the columns so that sums stay below 1e308.")
}
