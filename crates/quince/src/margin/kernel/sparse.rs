//! Sparse rows, and many of them interleaved, so that every entry of a query adds to many sums at once.

use crate::matrix::fused::{Multiply, WIDE};

/// Sparse rows that are interleaved.
pub(super) const INTERLEAVED: usize = 2 * WIDE;

/// Entries of sparse rows.
pub(super) struct SparseRows<T> {
    pub(super) width: usize,
    pub(super) starts: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<T>,
}

impl<T: Multiply> SparseRows<T> {
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> (&[u32], &[T]) {
        let row = self.starts[i]..self.starts[i + 1];
        (&self.columns[row.clone()], &self.values[row])
    }
}

/// Interleaved sparse rows: one line for every column that one of them has, and line 0, of zeros, for all other columns.
pub(super) struct InterleavedRows<T> {
    line_of: Vec<u32>,
    used: Vec<u32>,
    lines: Vec<[T; INTERLEAVED]>,
}

impl<T: Multiply> InterleavedRows<T> {
    pub(super) fn new(columns: usize) -> InterleavedRows<T> {
        InterleavedRows { line_of: vec![0; columns], used: Vec::new(), lines: vec![[T::ZERO; INTERLEAVED]] }
    }

    /// Interleaves `count` rows from `first` on.
    #[inline(always)]
    pub(super) fn interleave(&mut self, rows: &SparseRows<T>, first: usize, count: usize) {
        self.used.drain(..).for_each(|column| self.line_of[column as usize] = 0);
        self.lines.truncate(1);
        for l in 0..count {
            let (columns, values) = rows.row(first + l);
            for (&column, &value) in columns.iter().zip(values) {
                let line = &mut self.line_of[column as usize];
                if *line == 0 {
                    *line = self.lines.len() as u32;
                    self.used.push(column);
                    self.lines.push([T::ZERO; INTERLEAVED]);
                }
                self.lines[*line as usize][l] = value;
            }
        }
    }

    /// The inner products of a query with all of them.
    #[inline(always)]
    pub(super) fn products<const FUSED: bool>(&self, (columns, values): (&[u32], &[T])) -> [T; INTERLEAVED] {
        // Arrays of sixteen, which the compiler keeps in registers.
        let (mut left, mut right) = ([T::ZERO; WIDE], [T::ZERO; WIDE]);
        for (&column, value) in columns.iter().zip(values) {
            let line = &self.lines[self.line_of[column as usize] as usize];
            for l in 0..WIDE {
                left[l] = value.times_plus::<FUSED>(line[l], left[l]);
            }
            for l in 0..WIDE {
                right[l] = value.times_plus::<FUSED>(line[WIDE + l], right[l]);
            }
        }
        let mut sums = [T::ZERO; INTERLEAVED];
        sums[..WIDE].copy_from_slice(&left);
        sums[WIDE..].copy_from_slice(&right);
        sums
    }
}
