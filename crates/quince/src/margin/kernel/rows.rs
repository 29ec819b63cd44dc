//! Blocks of kernel rows.
//!
//! [`KernelRows`] holds many rows, packed once. [`Queries`] are a few rows (those of a working set, or support vectors) whose
//! kernels with all of them are computed: they are written out ([`KernelRows::fill`]), or weighted and summed without being
//! stored ([`KernelRows::add`]). Dense rows lie in panels, sixteen side by side, and queries are multiplied with a panel six at a
//! time. Sparse rows are interleaved, thirty-two at a time, when they are needed, for the columns that one of them has, so that
//! every entry of a query adds to thirty-two sums at once. The work is split by the number of rows alone, so the number of threads
//! changes no bit.

use super::Function;
use super::fill::FillTask;
use super::sparse::{INTERLEAVED, SparseRows};
use super::sum::SumTask;
use crate::error::Result;
use crate::matrix::Features;
use crate::matrix::fused::{Multiply, Panels};
use crate::matrix::simd::on_wide_vectors;
use crate::run::Run;

/// Rows per task: a multiple of a panel.
pub(super) const ROWS_PER_TASK: usize = 32 * INTERLEAVED;

/// What the function of an inner product costs, in multiplications.
pub(super) const FUNCTION_COST: usize = 32;

/// Many rows, packed so that a block of their kernels is one matrix product.
pub(in crate::margin) struct KernelRows<'a, T> {
    pub(super) function: Function<T>,
    pub(super) layout: RowLayout<'a, T>,
    /// γ‖x‖² of each row, and zeros past the last row.
    pub(super) scaled_norms: Vec<T>,
    /// The kernel of each row with itself.
    pub(super) diagonal: Vec<f64>,
    pub(super) count: usize,
}

pub(super) enum RowLayout<'a, T> {
    Dense(Panels<T>),
    Sparse(SparseRows<T>),
    /// Kernels are read, not computed: these rows of the features.
    Precomputed(Features<'a>, Vec<usize>),
}

/// A few rows whose kernels with all kernel rows are computed.
pub(in crate::margin) struct Queries<T> {
    pub(super) layout: QueryLayout<T>,
    pub(super) scaled_norms: Vec<T>,
}

pub(super) enum QueryLayout<T> {
    /// One row after another.
    Dense(Vec<T>),
    Sparse(SparseRows<T>),
    /// Indices of training rows.
    Precomputed(Vec<usize>),
}

impl<T: Multiply> KernelRows<'_, T> {
    /// The kernel of each row with itself.
    pub(in crate::margin) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Whether norms are far from the largest number of single precision.
    pub(in crate::margin) fn is_within_single_precision(&self) -> bool {
        let largest = f64::from(f32::MAX.sqrt());
        self.scaled_norms.iter().all(|norm| Into::<f64>::into(*norm) < largest)
    }

    /// Writes the kernels of every query with all rows into its slice of `out`.
    pub(in crate::margin) fn fill(&self, queries: &Queries<T>, out: Vec<&mut [T]>, run: &Run) -> Result<()> {
        let some = self.tasks_per_check(out.len());
        let mut tasks: Vec<FillTask<'_, '_, T>> = (0..self.count.div_ceil(ROWS_PER_TASK))
            .map(|task| FillTask {
                kernel_rows: self,
                queries,
                first: task * ROWS_PER_TASK,
                out: Vec::with_capacity(out.len()),
            })
            .collect();
        for row in out {
            row.chunks_mut(ROWS_PER_TASK).zip(&mut tasks).for_each(|(part, task)| task.out.push(part));
        }
        for some in tasks.chunks_mut(some) {
            run.each(some, |_, task| on_wide_vectors(task));
            run.check_cancelled()?;
        }
        Ok(())
    }

    /// Adds the weighted kernels of all queries to the sum of every row.
    pub(in crate::margin) fn add(
        &self,
        queries: &Queries<T>,
        weights: &[T],
        sums: &mut [f64],
        run: &Run,
    ) -> Result<()> {
        let mut tasks: Vec<SumTask<'_, T>> = sums
            .chunks_mut(ROWS_PER_TASK)
            .enumerate()
            .map(|(task, sums)| SumTask { kernel_rows: self, queries, weights, first: task * ROWS_PER_TASK, sums })
            .collect();
        for some in tasks.chunks_mut(self.tasks_per_check(weights.len())) {
            run.each(some, |_, task| on_wide_vectors(task));
            run.check()?;
        }
        Ok(())
    }

    /// Tasks between two checks of the budget: about half a billion multiplications.
    fn tasks_per_check(&self, queries: usize) -> usize {
        let columns = FUNCTION_COST
            + match &self.layout {
                RowLayout::Dense(panels) => panels.columns(),
                RowLayout::Sparse(sparse_rows) => 2 * sparse_rows.values.len() / self.count.max(1),
                RowLayout::Precomputed(..) => 0,
            };
        tasks_per_check(self.count.div_ceil(ROWS_PER_TASK), queries, columns)
    }
}

/// Tasks between two checks of the budget, for inner products of this many columns.
pub(super) fn tasks_per_check(tasks: usize, queries: usize, columns: usize) -> usize {
    let most = (500_000_000 / (queries * ROWS_PER_TASK * columns).max(1)).max(2);
    // Rounds of the same length, so that no thread waits for the last task.
    let tasks = tasks.max(1);
    tasks.div_ceil(tasks.div_ceil(most))
}

/// N numbers from a position on.
#[inline(always)]
pub(super) fn chunk<T, const N: usize>(values: &[T], first: usize) -> &[T; N] {
    values[first..].first_chunk().expect("scaled norms reach past the last row")
}
