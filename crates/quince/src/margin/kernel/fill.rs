//! Kernels of queries with many rows, written out.

use super::Function;
use super::rows::{KernelRows, Queries, QueryLayout, RowLayout, chunk};
use super::sparse::{INTERLEAVED, InterleavedRows};
use crate::matrix::fused::{Multiply, Visit, WIDE};
use crate::matrix::simd::Wide;

/// A task of [`KernelRows::fill`].
pub(super) struct FillTask<'g, 'o, T> {
    pub(super) kernel_rows: &'g KernelRows<'g, T>,
    pub(super) queries: &'g Queries<T>,
    /// The first row of the task.
    pub(super) first: usize,
    /// A part of the output of every query.
    pub(super) out: Vec<&'o mut [T]>,
}

impl<T: Multiply> Wide for FillTask<'_, '_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let length = self.out.first().map_or(0, |row| row.len());
        let kernel_rows = self.kernel_rows;
        match (&kernel_rows.layout, &self.queries.layout) {
            (RowLayout::Dense(panels), QueryLayout::Dense(packed)) => {
                let mut sums = Vec::new();
                for at in (0..length).step_by(WIDE) {
                    let panel = (self.first + at) / WIDE;
                    let mut write = WriteKernels::<T, FUSED> {
                        function: kernel_rows.function,
                        own: &self.queries.scaled_norms,
                        others: chunk(&kernel_rows.scaled_norms, panel * WIDE),
                        at,
                        count: WIDE.min(length - at),
                        out: &mut self.out,
                    };
                    T::product::<_, FUSED>(panels.panel(panel), packed, &mut sums, &mut write);
                }
            }
            (RowLayout::Sparse(rows), QueryLayout::Sparse(queries)) => {
                let mut interleaved = InterleavedRows::new(rows.width);
                for at in (0..length).step_by(INTERLEAVED) {
                    let (first, count) = (self.first + at, INTERLEAVED.min(length - at));
                    interleaved.interleave(rows, first, count);
                    let others = chunk::<T, INTERLEAVED>(&kernel_rows.scaled_norms, first);
                    for (p, out) in self.out.iter_mut().enumerate() {
                        let products = interleaved.products::<FUSED>(queries.row(p));
                        let kernels = kernel_rows.function.apply::<INTERLEAVED, FUSED>(
                            &products,
                            self.queries.scaled_norms[p],
                            others,
                        );
                        put(&mut out[at..at + count], &kernels);
                    }
                }
            }
            (RowLayout::Precomputed(rows, indices), QueryLayout::Precomputed(wanted)) => {
                let mut whole = vec![T::ZERO; rows.columns()];
                for (out, &query) in self.out.iter_mut().zip(wanted) {
                    rows.pack(std::iter::once(query), &mut whole);
                    out.iter_mut().zip(&indices[self.first..]).for_each(|(out, &i)| *out = whole[i]);
                }
            }
            _ => unreachable!("queries and kernel rows are of one space"),
        }
    }
}

/// Writes the kernels of each query with sixteen rows.
struct WriteKernels<'w, 'o, T, const FUSED: bool> {
    pub(super) function: Function<T>,
    pub(super) own: &'w [T],
    pub(super) others: &'w [T; WIDE],
    pub(super) at: usize,
    pub(super) count: usize,
    pub(super) out: &'w mut [&'o mut [T]],
}

impl<T: Multiply, const FUSED: bool> Visit<T> for WriteKernels<'_, '_, T, FUSED> {
    #[inline(always)]
    fn scores(&mut self, row: usize, products: &[T; WIDE]) {
        let kernels = self.function.apply::<WIDE, FUSED>(products, self.own[row], self.others);
        put(&mut self.out[row][self.at..self.at + self.count], &kernels);
    }
}

/// Writes numbers, or as many as fit.
#[inline(always)]
fn put<T: Copy, const N: usize>(out: &mut [T], values: &[T; N]) {
    match out.split_first_chunk_mut::<N>() {
        Some((whole, _)) => *whole = *values,
        None => out.iter_mut().zip(values).for_each(|(out, value)| *out = *value),
    }
}
