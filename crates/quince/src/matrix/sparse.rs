//! Sparse matrices by compressed rows: what is not zero, and where.

use super::afford;
use super::simd::vectorised;
use super::store::Store;
use crate::error::{Error, Result};
use crate::passes::Chunk;
use crate::run::Run;
use std::marker::PhantomData;
use std::ops::{Deref, Range};

vectorised! {
    /// How often a number is not larger than the one before it, and the largest of all.
    fn descents(places: &[u32]) -> (usize, u32) {
        let (mut descents, mut largest) = (0, places.first().copied().unwrap_or(0));
        for (next, place) in places.get(1..).unwrap_or_default().iter().zip(places) {
            descents += usize::from(next <= place);
            largest = largest.max(*next);
        }
        (descents, largest)
    }
}

/// A sparse matrix of f64 by compressed rows (CSR). Columns rise within a row, and none appears twice.
///
/// ```
/// use quince::matrix::Sparse;
/// let rows = Sparse::from_rows(1000, vec![vec![(3, 1.0), (700, 2.0)], vec![]])?;
/// assert_eq!((rows.rows(), rows.columns(), rows.stored()), (2, 1000, 2));
/// assert_eq!(rows.row(0), (&[3, 700][..], &[1.0, 2.0][..]));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    rows: usize,
    columns: usize,
    starts: Vec<usize>,
    indices: Store<u32>,
    values: Store<f64>,
}

impl Chunk for Sparse {
    fn count(&self) -> usize {
        self.rows
    }
}

impl Sparse {
    /// From compressed rows. Entries of a row may come in any order; entries for the same place are added.
    ///
    /// ```
    /// use quince::matrix::Sparse;
    /// // Two rows, the second empty; the entries of column 3 are added.
    /// let sparse = Sparse::new(2, 5, vec![0, 3, 3], vec![3, 1, 3], vec![1.0, 2.0, 4.0])?;
    /// assert_eq!(sparse.row(0), (&[1, 3][..], &[2.0, 5.0][..]));
    /// # quince::Result::Ok(())
    /// ```
    pub fn new(rows: usize, columns: usize, starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Result<Sparse> {
        Sparse::checked(rows, columns, starts, indices.into(), values.into())
    }

    fn checked(
        rows: usize,
        columns: usize,
        starts: Vec<usize>,
        indices: Store<u32>,
        values: Store<f64>,
    ) -> Result<Sparse> {
        let wrong = |problem: &str| {
            Err(Error::data(
                format!("this is not a sparse matrix by compressed rows: {problem}"),
                "Check row starts, column indices and values.",
            ))
        };
        if u32::try_from(columns).is_err() {
            return Err(Error::shape(format!("{columns} columns cannot be numbered"), "Use fewer than 4 billion."));
        }
        if rows.checked_add(1) != Some(starts.len()) || starts[0] != 0 || starts[rows] != values.len() {
            return wrong("the row starts do not cover the values");
        }
        if indices.len() != values.len() {
            return wrong("there are not as many column indices as values");
        }
        if starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return wrong("the row starts go down");
        }
        let sparse = Sparse { rows, columns, starts, indices, values };
        let (descents, largest) = descents(&sparse.indices);
        if largest as usize >= columns && !sparse.indices.is_empty() {
            return wrong("a column index is past the last column");
        }
        // Columns rise in every row if they fall nowhere but where a row begins.
        let mut begins = sparse.starts[..rows].to_vec();
        begins.dedup();
        let falls = |&begin: &usize| {
            (1..sparse.stored()).contains(&begin) && sparse.indices[begin] <= sparse.indices[begin - 1]
        };
        if begins.iter().filter(|begin| falls(begin)).count() == descents {
            return Ok(sparse);
        }
        Ok(sparse.put_in_order())
    }

    /// Row after row, each a list of (column, value).
    pub fn from_rows(columns: usize, rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Result<Sparse> {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (j, value) in row {
                indices.push(j);
                values.push(value);
            }
            starts.push(values.len());
        }
        Sparse::new(starts.len() - 1, columns, starts, indices, values)
    }

    /// The columns of several matrices with the same rows, one after another.
    pub(crate) fn side_by_side(mut parts: Vec<Sparse>) -> Sparse {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return only;
        }
        let (rows, stored) = (parts.first().map_or(0, Sparse::rows), parts.iter().map(Sparse::stored).sum());
        let (mut starts, mut indices, mut values) = (vec![0], Vec::with_capacity(stored), Vec::with_capacity(stored));
        for i in 0..rows {
            let mut first = 0;
            for part in &parts {
                let (columns, entries) = part.row(i);
                indices.extend(columns.iter().map(|j| first + j));
                values.extend_from_slice(entries);
                first += part.columns as u32;
            }
            starts.push(values.len());
        }
        let columns = parts.iter().map(Sparse::columns).sum();
        Sparse { rows, columns, starts, indices: indices.into(), values: values.into() }
    }

    /// Scales every row to length 1; a row of zeros stays.
    pub(crate) fn scale_rows_to_one(&mut self) {
        divide_rows(&self.starts, self.values.to_mut(), euclidean_length);
    }

    /// The same with zero where NaN says that a row has a missing value.
    pub(crate) fn without_missing(&self) -> Sparse {
        let mut filled = self.clone();
        filled.values.to_mut().iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
        filled
    }

    /// The same with NaN at the first place of some rows, which are empty.
    pub(crate) fn with_missing(self, is_missing: impl Fn(usize) -> bool) -> Sparse {
        if self.columns == 0 || !(0..self.rows).any(&is_missing) {
            return self;
        }
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.rows {
            let (columns, entries) = self.row(i);
            if is_missing(i) {
                indices.push(0);
                values.push(f64::NAN);
            } else {
                indices.extend_from_slice(columns);
                values.extend_from_slice(entries);
            }
            starts.push(values.len());
        }
        Sparse { starts, indices: indices.into(), values: values.into(), ..self }
    }

    fn put_in_order(&self) -> Sparse {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.rows {
            let (columns, entries) = self.row(i);
            let mut row: Vec<(u32, f64)> = columns.iter().copied().zip(entries.iter().copied()).collect();
            row.sort_by_key(|&(j, _)| j);
            for (j, value) in row {
                if indices.len() > *starts.last().unwrap_or(&0) && indices.last() == Some(&j) {
                    *values.last_mut().expect("a value for every index") += value;
                } else {
                    indices.push(j);
                    values.push(value);
                }
            }
            starts.push(values.len());
        }
        Sparse { rows: self.rows, columns: self.columns, starts, indices: indices.into(), values: values.into() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of entries stored.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// All stored values, row after row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The columns of all stored values, row after row.
    pub(crate) fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Where each row begins among the stored values, and where the last one ends.
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Columns and values of row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The rows, for loops that visit many of them.
    pub(crate) fn by_rows(&self) -> SparseRows<'_> {
        SparseRows { starts: &self.starts, indices: &self.indices, values: &self.values }
    }

    /// (column, value) of row `i`.
    pub(crate) fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = self.row(i);
        columns.iter().map(|&j| j as usize).zip(values.iter().copied())
    }

    /// Rows and columns exchanged.
    ///
    /// ```
    /// use quince::{Run, matrix::Sparse};
    /// let sparse = Sparse::from_rows(3, [vec![(2, 5.0)], vec![(0, 1.0), (2, 7.0)]])?;
    /// assert_eq!(sparse.transposed(&Run::new())?.row(2), (&[0, 1][..], &[5.0, 7.0][..]));
    /// # quince::Result::Ok(())
    /// ```
    pub fn transposed(&self, run: &Run) -> Result<Sparse> {
        let bytes = 8.0 * (self.columns as f64 + 2.0 * self.values.len() as f64);
        afford(bytes, &format!("a matrix with {} columns", self.columns))?;
        let mut starts = vec![0; self.columns + 1];
        self.indices.iter().for_each(|&j| starts[j as usize + 1] += 1);
        (0..self.columns).for_each(|j| starts[j + 1] += starts[j]);
        let mut indices = vec![0; self.values.len()];
        let mut values = vec![0.0; self.values.len()];
        let mut parts = ColumnPart::all(&starts, &mut indices, &mut values);
        let rows_per_check = (ENTRIES_PER_CHECK * self.rows / self.values.len().max(1)).max(1);
        for first in (0..self.rows).step_by(rows_per_check) {
            run.check()?;
            run.each(&mut parts, |_, part| {
                (first..self.rows.min(first + rows_per_check)).for_each(|i| part.take(i, self.row(i)));
            });
        }
        drop(parts);
        let (rows, columns) = (self.columns, self.rows);
        Ok(Sparse { rows, columns, starts, indices: indices.into(), values: values.into() })
    }

    /// The rows with these numbers, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn take_rows(&self, rows: &[usize]) -> Sparse {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            let (columns, entries) = self.row(i);
            indices.extend_from_slice(columns);
            values.extend_from_slice(entries);
            starts.push(values.len());
        }
        Sparse { rows: rows.len(), columns: self.columns, starts, indices: indices.into(), values: values.into() }
    }

    /// The matrix as features for a learner.
    pub fn features(&self) -> super::Features<'_> {
        super::Features::sparse(self)
    }
}

/// The arrays of a sparse matrix: one step nearer to a row than the matrix, which may own or borrow them.
#[derive(Clone, Copy)]
pub(crate) struct SparseRows<'a> {
    starts: &'a [usize],
    indices: &'a [u32],
    values: &'a [f64],
}

impl<'a> SparseRows<'a> {
    /// Columns and values of row `i`.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> (&'a [u32], &'a [f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// w·x of row `i`.
    #[inline]
    pub(crate) fn product(&self, i: usize, weights: &[f64]) -> f64 {
        let (columns, values) = self.row(i);
        // Four sums at a time: each addition waits for the one before it.
        let mut sums = [0.0; 4];
        let ((columns, columns_rest), (values, values_rest)) = (columns.as_chunks::<4>(), values.as_chunks::<4>());
        for (columns, values) in columns.iter().zip(values) {
            for l in 0..4 {
                sums[l] += weights[columns[l] as usize] * values[l];
            }
        }
        for (column, value) in columns_rest.iter().zip(values_rest) {
            sums[0] += weights[*column as usize] * value;
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// Adds `step` times row `i` to w.
    #[inline]
    pub(crate) fn add(&self, i: usize, step: f64, weights: &mut [f64]) {
        let (columns, values) = self.row(i);
        for (column, value) in columns.iter().zip(values) {
            weights[*column as usize] += step * value;
        }
    }
}

/// The number of parts in which the columns of a matrix are transposed, and of entries between two checks for cancellation.
const COLUMN_PARTS: usize = 4;
const ENTRIES_PER_CHECK: usize = 1 << 22;

/// Some of the columns of a matrix that is being transposed, and where their entries go.
struct ColumnPart<'a> {
    columns: Range<u32>,
    /// The place of the next entry of each column, from the first of the part.
    next: Vec<usize>,
    indices: &'a mut [u32],
    values: &'a mut [f64],
}

impl<'a> ColumnPart<'a> {
    /// All columns, whose entries start at `starts`, in parts of about as many entries.
    fn all(starts: &[usize], mut indices: &'a mut [u32], mut values: &'a mut [f64]) -> Vec<ColumnPart<'a>> {
        let (columns, entries) = (starts.len() - 1, indices.len());
        let mut parts = Vec::with_capacity(COLUMN_PARTS);
        let mut first = 0;
        for part in 1..=COLUMN_PARTS {
            let end = if part == COLUMN_PARTS {
                columns
            } else {
                starts.partition_point(|&start| start < entries * part / COLUMN_PARTS).clamp(first, columns)
            };
            let (size, next) = (starts[end] - starts[first], starts[first..end].iter().map(|at| at - starts[first]));
            let (some_indices, other_indices) = std::mem::take(&mut indices).split_at_mut(size);
            let (some_values, other_values) = std::mem::take(&mut values).split_at_mut(size);
            let (columns, next) = (first as u32..end as u32, next.collect());
            parts.push(ColumnPart { columns, next, indices: some_indices, values: some_values });
            (first, indices, values) = (end, other_indices, other_values);
        }
        parts
    }

    /// Takes those entries of row `i` that are in these columns.
    fn take(&mut self, i: usize, (columns, values): (&[u32], &[f64])) {
        let first = columns.partition_point(|&j| j < self.columns.start);
        for (&j, &value) in columns[first..].iter().zip(&values[first..]) {
            if j >= self.columns.end {
                break;
            }
            let next = &mut self.next[(j - self.columns.start) as usize];
            self.indices[*next] = i as u32;
            self.values[*next] = value;
            *next += 1;
        }
    }
}

/// A sparse matrix by compressed rows whose indices and values somebody else owns: numpy, or another crate.
///
/// It is to [`Sparse`] what [`super::View`] is to [`super::Matrix`]: it can be asked all that a `Sparse` can be asked, and
/// copies nothing but the row starts. Rows that are not in order are the exception: they are put in order in a copy.
///
/// ```
/// use quince::matrix::SparseView;
/// let (indices, values) = ([0, 2, 1], [1.0, 2.0, 3.0]);
/// let rows = SparseView::new(2, 3, vec![0, 2, 3], &indices, &values)?;
/// assert_eq!(rows.row(0), (&[0, 2][..], &[1.0, 2.0][..]));
/// assert_eq!(rows.features().columns(), 3);
/// # Ok::<(), quince::Error>(())
/// ```
///
/// ```compile_fail
/// use quince::matrix::SparseView;
/// let values = vec![1.0];
/// let rows = SparseView::new(1, 1, vec![0, 1], &[0], &values).unwrap();
/// drop(values);
/// rows.row(0); // the values are gone
/// ```
#[derive(Debug)]
pub struct SparseView<'a> {
    sparse: Sparse,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> SparseView<'a> {
    /// From compressed rows. Entries of a row may come in any order; entries for the same place are added.
    pub fn new(
        rows: usize,
        columns: usize,
        starts: Vec<usize>,
        indices: &'a [u32],
        values: &'a [f64],
    ) -> Result<SparseView<'a>> {
        // SAFETY: the stores stay within a view that has the lifetime of both slices. It gives out shared references
        // only, and whatever is made from one of those, a clone included, owns its numbers.
        let (indices, values) = unsafe { (Store::borrowed(indices), Store::borrowed(values)) };
        let sparse = Sparse::checked(rows, columns, starts, indices, values)?;
        Ok(SparseView { sparse, borrowed: PhantomData })
    }
}

impl Deref for SparseView<'_> {
    type Target = Sparse;

    fn deref(&self) -> &Sparse {
        &self.sparse
    }
}

/// Divides every row by its size, unless that is zero.
pub(crate) fn divide_rows(starts: &[usize], values: &mut [f64], size: impl Fn(&[f64]) -> f64) {
    for pair in starts.windows(2) {
        let row = &mut values[pair[0]..pair[1]];
        let size = size(row);
        if size > 0.0 {
            row.iter_mut().for_each(|x| *x /= size);
        }
    }
}

/// The square root of the sum of squares.
pub(crate) fn euclidean_length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}
