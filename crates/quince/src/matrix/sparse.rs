//! Sparse matrices by compressed rows: what is not zero, and where.

use crate::error::{Error, Result};

/// A sparse matrix of f64 by compressed rows (CSR). Columns rise within a row, and none appears twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    rows: usize,
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Sparse {
    /// From compressed rows. Entries of a row may come in any order; entries for the same place are added.
    pub fn new(rows: usize, columns: usize, starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Result<Sparse> {
        let wrong = |problem: &str| {
            Err(Error::data(
                format!("this is not a sparse matrix by compressed rows: {problem}"),
                "Check row starts, column indices and values.",
            ))
        };
        if starts.len() != rows + 1 || starts[0] != 0 || starts[rows] != values.len() {
            return wrong("the row starts do not cover the values");
        }
        if indices.len() != values.len() {
            return wrong("there are not as many column indices as values");
        }
        if starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return wrong("the row starts go down");
        }
        if indices.iter().any(|&j| j as usize >= columns) {
            return wrong("a column index is past the last column");
        }
        let sparse = Sparse { rows, columns, starts, indices, values };
        let in_order = (0..rows).all(|i| sparse.row(i).0.windows(2).all(|pair| pair[0] < pair[1]));
        Ok(if in_order { sparse } else { sparse.put_in_order() })
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
        let mut all = Sparse {
            rows,
            columns: parts.iter().map(Sparse::columns).sum(),
            starts: vec![0],
            indices: Vec::with_capacity(stored),
            values: Vec::with_capacity(stored),
        };
        for i in 0..rows {
            let mut first = 0;
            for part in &parts {
                let (columns, values) = part.row(i);
                all.indices.extend(columns.iter().map(|j| first + j));
                all.values.extend_from_slice(values);
                first += part.columns as u32;
            }
            all.starts.push(all.values.len());
        }
        all
    }

    /// Scales every row to length 1; a row of zeros stays.
    pub(crate) fn scale_rows_to_one(&mut self) {
        for pair in self.starts.windows(2) {
            let row = &mut self.values[pair[0]..pair[1]];
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.0 {
                row.iter_mut().for_each(|x| *x /= length);
            }
        }
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
        Sparse { rows: self.rows, columns: self.columns, starts, indices, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many entries are stored.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// (column, value) of row `i`.
    pub(crate) fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = self.row(i);
        columns.iter().map(|&j| j as usize).zip(values.iter().copied())
    }

    /// Rows and columns exchanged.
    pub fn transposed(&self) -> Sparse {
        let mut starts = vec![0; self.columns + 1];
        self.indices.iter().for_each(|&j| starts[j as usize + 1] += 1);
        (0..self.columns).for_each(|j| starts[j + 1] += starts[j]);
        let mut next = starts.clone();
        let mut indices = vec![0; self.values.len()];
        let mut values = vec![0.0; self.values.len()];
        for i in 0..self.rows {
            for (j, value) in self.entries(i) {
                indices[next[j]] = i as u32;
                values[next[j]] = value;
                next[j] += 1;
            }
        }
        Sparse { rows: self.columns, columns: self.rows, starts, indices, values }
    }

    /// The rows with these numbers, in this order.
    pub fn take_rows(&self, rows: &[usize]) -> Sparse {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            let (columns, entries) = self.row(i);
            indices.extend_from_slice(columns);
            values.extend_from_slice(entries);
            starts.push(values.len());
        }
        Sparse { rows: rows.len(), columns: self.columns, starts, indices, values }
    }

    /// The matrix as features for a learner.
    pub fn features(&self) -> super::Features<'_> {
        super::Features::sparse(self)
    }
}
