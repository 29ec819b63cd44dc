//! How rows are packed for a kernel: dense, sparse, or not at all where kernels are given.

use super::rows::{FUNCTION_COST, KernelRows, Queries, QueryLayout, ROWS_PER_TASK, RowLayout, tasks_per_check};
use super::sparse::{INTERLEAVED, SparseRows};
use super::sum::SumTask;
use super::{Function, Kernel};
use crate::error::Result;
use crate::matrix::Features;
use crate::matrix::fused::{Multiply, Panels};
use crate::matrix::simd::on_wide_vectors;
use crate::run::Run;

/// How rows are packed for a kernel: kernel rows and queries of one space belong together.
#[derive(Clone, Debug)]
pub(in crate::margin) struct KernelSpace {
    pub(in crate::margin) kernel: Kernel,
    columns: usize,
    sparse: bool,
    /// Subtracted from all rows where that changes no kernel, so that large means cost no digits.
    centre: Vec<f64>,
    /// Rows are multiplied by this power of two, which changes no digit, so that their products with γ stay within single precision.
    scale: f64,
}

/// The power of two next to √γ, for the kernels that are computed in single precision.
fn scale_for(kernel: &Kernel) -> f64 {
    let (Kernel::Rbf { gamma } | Kernel::Sigmoid { gamma, .. }) = *kernel else { return 1.0 };
    if gamma > 0.0 && gamma.is_finite() { 2f64.powi(gamma.sqrt().log2().round() as i32) } else { 1.0 }
}

impl KernelSpace {
    /// A space for rows like these.
    pub(in crate::margin) fn of(rows: &Features<'_>, kernel: Kernel) -> KernelSpace {
        let columns = rows.columns();
        let stored = rows.sparse_part().map_or(0, |part| part.stored() / part.rows().max(1));
        // An entry of a sparse row costs about as much as two columns of a dense one.
        let sparse = kernel != Kernel::Precomputed
            && rows.sparse_part().is_some()
            && 2 * (stored + rows.dense_columns()) < columns;
        let centred = matches!(kernel, Kernel::Rbf { .. }) && !sparse;
        let centre = if centred { rows.near_means() } else { Vec::new() };
        KernelSpace { kernel, columns, sparse, centre, scale: scale_for(&kernel) }
    }

    /// Adds the weighted kernels of queries to the sum of every row, as [`KernelRows::add`] does, for rows that are needed once.
    pub(in crate::margin) fn add_to(
        &self,
        sums: &mut [f64],
        rows: &Features<'_>,
        queries: &Queries<f64>,
        weights: &[f64],
        run: &Run,
    ) -> Result<()> {
        let mut tasks: Vec<&mut [f64]> = sums.chunks_mut(ROWS_PER_TASK).collect();
        let tasks_per_round = tasks_per_check(tasks.len(), weights.len(), rows.row_cost());
        let mut first = 0;
        for some in tasks.chunks_mut(tasks_per_round) {
            run.each(some, |task, sums| {
                let start = first + task * ROWS_PER_TASK;
                let indices: Vec<usize> = (start..start + sums.len()).collect();
                let kernel_rows: KernelRows<'_, f64> = self.kernel_rows(rows, &indices);
                on_wide_vectors(&mut SumTask { kernel_rows: &kernel_rows, queries, weights, first: 0, sums });
            });
            first += some.len() * ROWS_PER_TASK;
            run.check()?;
        }
        Ok(())
    }

    /// About how many multiplications a kernel of row `i` takes, with what its function takes.
    pub(in crate::margin) fn multiplications(&self, rows: &Features<'_>, i: usize) -> f64 {
        let columns = match rows.sparse_part() {
            _ if self.kernel == Kernel::Precomputed => 0,
            Some(part) if self.sparse => 2 * (part.row(i).0.len() + rows.dense_columns()),
            _ => self.columns,
        };
        (FUNCTION_COST + columns) as f64
    }

    /// γ‖x‖² of a row, for kernels that need it.
    fn scaled_norm(&self, squared_norm: f64) -> f64 {
        self.kernel.rbf_gamma() * squared_norm
    }

    /// Packs some rows.
    pub(in crate::margin) fn kernel_rows<'a, T: Multiply>(
        &self,
        rows: &Features<'a>,
        indices: &[usize],
    ) -> KernelRows<'a, T> {
        let count = indices.len();
        let mut scaled_norms = vec![T::ZERO; count.next_multiple_of(INTERLEAVED)];
        let mut diagonal = vec![0.0; count];
        let mut set = |at: usize, squared_norm: f64| {
            scaled_norms[at] = T::from_f64(self.scaled_norm(squared_norm));
            diagonal[at] = self.kernel.of_itself(squared_norm);
        };
        let layout = if self.kernel == Kernel::Precomputed {
            let mut row = vec![0.0; self.columns];
            for (at, &i) in indices.iter().enumerate() {
                rows.pack(std::iter::once(i), &mut row);
                set(at, row.get(i).copied().unwrap_or(0.0));
            }
            RowLayout::Precomputed(*rows, indices.to_vec())
        } else if self.sparse {
            RowLayout::Sparse(self.sparse_rows(rows, indices, &mut set))
        } else {
            let mut panels = Panels::zeros(count, self.columns);
            self.each_dense(rows, indices, |at, row| {
                panels.set_row(at, row.iter().map(|x| T::from_f64(self.scale * x)));
                set(at, row.iter().map(|x| x * x).sum());
            });
            RowLayout::Dense(panels)
        };
        KernelRows { function: Function::new(&self.kernel, self.scale), layout, scaled_norms, diagonal, count }
    }

    /// Packs some rows as queries.
    pub(in crate::margin) fn queries<T: Multiply>(&self, rows: &Features<'_>, indices: &[usize]) -> Queries<T> {
        let mut scaled_norms = Vec::with_capacity(indices.len());
        let layout = if self.kernel == Kernel::Precomputed {
            scaled_norms.resize(indices.len(), T::ZERO);
            QueryLayout::Precomputed(indices.to_vec())
        } else if self.sparse {
            QueryLayout::Sparse(
                self.sparse_rows(rows, indices, |_, norm| scaled_norms.push(T::from_f64(self.scaled_norm(norm)))),
            )
        } else {
            let mut packed = Vec::with_capacity(indices.len() * self.columns);
            self.each_dense(rows, indices, |_, row| {
                packed.extend(row.iter().map(|x| T::from_f64(self.scale * x)));
                scaled_norms.push(T::from_f64(self.scaled_norm(row.iter().map(|x| x * x).sum())));
            });
            QueryLayout::Dense(packed)
        };
        Queries { layout, scaled_norms }
    }

    /// The entries of some rows; `set` is called with the squared norm of each.
    fn sparse_rows<T: Multiply>(
        &self,
        rows: &Features<'_>,
        indices: &[usize],
        mut set: impl FnMut(usize, f64),
    ) -> SparseRows<T> {
        let mut sparse_rows =
            SparseRows { width: self.columns, starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for (at, &i) in indices.iter().enumerate() {
            let mut norm = 0.0;
            rows.for_row(i, |j, value| {
                if value != 0.0 {
                    sparse_rows.columns.push(j as u32);
                    sparse_rows.values.push(T::from_f64(self.scale * value));
                    norm += value * value;
                }
            });
            sparse_rows.starts.push(sparse_rows.values.len());
            set(at, norm);
        }
        sparse_rows
    }

    /// Calls `visit(position, row)` with every row, centred.
    fn each_dense(&self, rows: &Features<'_>, indices: &[usize], mut visit: impl FnMut(usize, &[f64])) {
        let rows = if self.centre.is_empty() { *rows } else { rows.centred(&self.centre) };
        let mut row = vec![0.0; self.columns];
        for (at, &i) in indices.iter().enumerate() {
            rows.pack(std::iter::once(i), &mut row);
            visit(at, &row);
        }
    }
}
