//! Kernels of queries with many rows, weighted and summed without being stored.

use super::Function;
use super::rows::{KernelRows, Queries, QueryLayout, RowLayout, chunk};
use super::sparse::{INTERLEAVED, InterleavedRows};
use crate::matrix::fused::{Multiply, Visit, WIDE};
use crate::matrix::simd::Wide;

/// Queries that are weighted and summed at a time: they stay in the nearer caches, and sums in single precision stay short.
const QUERIES_PER_BLOCK: usize = 240;

/// A task of [`KernelRows::add`].
pub(super) struct SumTask<'g, T> {
    pub(super) kernel_rows: &'g KernelRows<'g, T>,
    pub(super) queries: &'g Queries<T>,
    pub(super) weights: &'g [T],
    pub(super) first: usize,
    pub(super) sums: &'g mut [f64],
}

impl<T: Multiply> Wide for SumTask<'_, T> {
    const WIDEST: bool = true;

    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let length = self.sums.len();
        let kernel_rows = self.kernel_rows;
        match (&kernel_rows.layout, &self.queries.layout) {
            (RowLayout::Dense(panels), QueryLayout::Dense(packed)) => {
                let columns = panels.columns().max(1);
                let mut space = Vec::new();
                for some in (0..self.weights.len()).step_by(QUERIES_PER_BLOCK) {
                    let end = (some + QUERIES_PER_BLOCK).min(self.weights.len());
                    for at in (0..length).step_by(WIDE) {
                        let panel = (self.first + at) / WIDE;
                        let mut sum_kernels = SumKernels::<T, FUSED> {
                            function: kernel_rows.function,
                            own: &self.queries.scaled_norms[some..end],
                            others: chunk(&kernel_rows.scaled_norms, panel * WIDE),
                            weights: &self.weights[some..end],
                            sums: [T::ZERO; WIDE],
                        };
                        let rows = &packed[some * columns..end * columns];
                        T::product::<_, FUSED>(panels.panel(panel), rows, &mut space, &mut sum_kernels);
                        self.sums[at..].iter_mut().zip(sum_kernels.sums).for_each(|(sum, more)| *sum += more.into());
                    }
                }
            }
            (RowLayout::Sparse(rows), QueryLayout::Sparse(queries)) => {
                let mut interleaved = InterleavedRows::new(rows.width);
                for at in (0..length).step_by(INTERLEAVED) {
                    let (first, count) = (self.first + at, INTERLEAVED.min(length - at));
                    interleaved.interleave(rows, first, count);
                    let others = chunk::<T, INTERLEAVED>(&kernel_rows.scaled_norms, first);
                    for some in (0..self.weights.len()).step_by(QUERIES_PER_BLOCK) {
                        let mut sums = [T::ZERO; INTERLEAVED];
                        for p in some..(some + QUERIES_PER_BLOCK).min(self.weights.len()) {
                            let (weight, own) = (self.weights[p], self.queries.scaled_norms[p]);
                            let products = interleaved.products::<FUSED>(queries.row(p));
                            let kernels = kernel_rows.function.apply::<INTERLEAVED, FUSED>(&products, own, others);
                            for l in 0..INTERLEAVED {
                                sums[l] = weight.times_plus::<FUSED>(kernels[l], sums[l]);
                            }
                        }
                        self.sums[at..at + count].iter_mut().zip(sums).for_each(|(sum, more)| *sum += more.into());
                    }
                }
            }
            (RowLayout::Precomputed(rows, indices), QueryLayout::Precomputed(queries)) => {
                let mut whole = vec![0.0; rows.columns()];
                for (sum, &i) in self.sums.iter_mut().zip(&indices[self.first..]) {
                    rows.pack(std::iter::once(i), &mut whole);
                    let weighted = queries.iter().zip(self.weights);
                    *sum += weighted.map(|(&query, &weight)| whole[query] * Into::<f64>::into(weight)).sum::<f64>();
                }
            }
            _ => unreachable!("queries and kernel rows are of one space"),
        }
    }
}

/// Sums the weighted kernels of queries with sixteen rows.
struct SumKernels<'w, T, const FUSED: bool> {
    pub(super) function: Function<T>,
    pub(super) own: &'w [T],
    pub(super) others: &'w [T; WIDE],
    pub(super) weights: &'w [T],
    pub(super) sums: [T; WIDE],
}

impl<T: Multiply, const FUSED: bool> Visit<T> for SumKernels<'_, T, FUSED> {
    #[inline(always)]
    fn scores(&mut self, row: usize, products: &[T; WIDE]) {
        let kernels = self.function.apply::<WIDE, FUSED>(products, self.own[row], self.others);
        let weight = self.weights[row];
        for l in 0..WIDE {
            self.sums[l] = weight.times_plus::<FUSED>(kernels[l], self.sums[l]);
        }
    }
}
