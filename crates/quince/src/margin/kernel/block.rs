//! Blocks of kernel rows.
//!
//! [`KernelRows`] holds many rows, packed once. [`Queries`] are a few rows (those of a working set, or support vectors) whose
//! kernels with all of them are computed: they are written out ([`KernelRows::fill`]), or weighted and summed without being
//! stored ([`KernelRows::add`]). Dense rows lie in panels, sixteen side by side, and queries are multiplied with a panel six at a
//! time. Sparse rows are interleaved, thirty-two at a time, when they are needed, for the columns that one of them has, so that
//! every entry of a query adds to thirty-two sums at once. The work is split by the number of rows alone, so the number of threads
//! changes no bit.

use super::{Function, Kernel};
use crate::error::Result;
use crate::matrix::Features;
use crate::matrix::fused::{Multiply, Panels, Visit, WIDE};
use crate::matrix::simd::{Wide, on_wide_vectors};
use crate::run::Run;

/// Rows per task: a multiple of a panel.
const ROWS_PER_TASK: usize = 32 * INTERLEAVED;
/// Sparse rows that are interleaved.
const INTERLEAVED: usize = 2 * WIDE;
/// Queries that are weighted and summed at a time: they stay in the nearer caches, and sums in single precision stay short.
const QUERIES_PER_BLOCK: usize = 240;

/// How rows are packed for a kernel: kernel rows and queries of one space belong together.
#[derive(Clone, Debug)]
pub(in crate::margin) struct KernelSpace {
    pub(in crate::margin) kernel: Kernel,
    columns: usize,
    sparse: bool,
    /// Subtracted from all rows where that changes no kernel, so that large means cost no digits.
    centre: Vec<f64>,
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
        KernelSpace { kernel, columns, sparse, centre }
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
                on_wide_vectors(&mut AddTask { kernel_rows: &kernel_rows, queries, weights, first: 0, sums });
            });
            first += some.len() * ROWS_PER_TASK;
            run.check()?;
        }
        Ok(())
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
                panels.set_row(at, row.iter().map(|x| T::from_f64(*x)));
                set(at, row.iter().map(|x| x * x).sum());
            });
            RowLayout::Dense(panels)
        };
        KernelRows { function: Function::new(&self.kernel), layout, scaled_norms, diagonal, count }
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
                packed.extend(row.iter().map(|x| T::from_f64(*x)));
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
                    sparse_rows.values.push(T::from_f64(value));
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

/// Many rows, packed so that a block of their kernels is one matrix product.
pub(in crate::margin) struct KernelRows<'a, T> {
    function: Function<T>,
    layout: RowLayout<'a, T>,
    /// γ‖x‖² of each row, and zeros past the last row.
    scaled_norms: Vec<T>,
    /// The kernel of each row with itself.
    diagonal: Vec<f64>,
    count: usize,
}

enum RowLayout<'a, T> {
    Dense(Panels<T>),
    Sparse(SparseRows<T>),
    /// Kernels are read, not computed: these rows of the features.
    Precomputed(Features<'a>, Vec<usize>),
}

/// A few rows whose kernels with all kernel rows are computed.
pub(in crate::margin) struct Queries<T> {
    layout: QueryLayout<T>,
    scaled_norms: Vec<T>,
}

enum QueryLayout<T> {
    /// One row after another.
    Dense(Vec<T>),
    Sparse(SparseRows<T>),
    /// Indices of training rows.
    Precomputed(Vec<usize>),
}

/// Entries of sparse rows.
struct SparseRows<T> {
    width: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Multiply> SparseRows<T> {
    #[inline(always)]
    fn row(&self, i: usize) -> (&[u32], &[T]) {
        let row = self.starts[i]..self.starts[i + 1];
        (&self.columns[row.clone()], &self.values[row])
    }
}

/// Interleaved sparse rows: one line for every column that one of them has, and line 0, of zeros, for all other columns.
struct InterleavedRows<T> {
    line_of: Vec<u32>,
    used: Vec<u32>,
    lines: Vec<[T; INTERLEAVED]>,
}

impl<T: Multiply> InterleavedRows<T> {
    fn new(columns: usize) -> InterleavedRows<T> {
        InterleavedRows { line_of: vec![0; columns], used: Vec::new(), lines: vec![[T::ZERO; INTERLEAVED]] }
    }

    /// Interleaves `count` rows from `first` on.
    #[inline(always)]
    fn interleave(&mut self, rows: &SparseRows<T>, first: usize, count: usize) {
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
    fn products<const FUSED: bool>(&self, (columns, values): (&[u32], &[T])) -> [T; INTERLEAVED] {
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

impl<T: Multiply> KernelRows<'_, T> {
    /// The kernel of each row with itself.
    pub(in crate::margin) fn diagonal(&self) -> &[f64] {
        &self.diagonal
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
        let mut tasks: Vec<AddTask<'_, T>> = sums
            .chunks_mut(ROWS_PER_TASK)
            .enumerate()
            .map(|(task, sums)| AddTask { kernel_rows: self, queries, weights, first: task * ROWS_PER_TASK, sums })
            .collect();
        for some in tasks.chunks_mut(self.tasks_per_check(weights.len())) {
            run.each(some, |_, task| on_wide_vectors(task));
            run.check()?;
        }
        Ok(())
    }

    /// Tasks between two checks of the budget: about half a billion multiplications.
    fn tasks_per_check(&self, queries: usize) -> usize {
        let columns = 32
            + match &self.layout {
                RowLayout::Dense(panels) => panels.columns(),
                RowLayout::Sparse(sparse_rows) => 2 * sparse_rows.values.len() / self.count.max(1),
                RowLayout::Precomputed(..) => 0,
            };
        tasks_per_check(self.count.div_ceil(ROWS_PER_TASK), queries, columns)
    }
}

/// Tasks between two checks of the budget, for inner products of this many columns.
fn tasks_per_check(tasks: usize, queries: usize, columns: usize) -> usize {
    let most = (500_000_000 / (queries * ROWS_PER_TASK * columns).max(1)).max(2);
    // Rounds of the same length, so that no thread waits for the last task.
    let tasks = tasks.max(1);
    tasks.div_ceil(tasks.div_ceil(most))
}

/// A task of [`KernelRows::fill`].
struct FillTask<'g, 'o, T> {
    kernel_rows: &'g KernelRows<'g, T>,
    queries: &'g Queries<T>,
    /// The first row of the task.
    first: usize,
    /// A part of the output of every query.
    out: Vec<&'o mut [T]>,
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
    function: Function<T>,
    own: &'w [T],
    others: &'w [T; WIDE],
    at: usize,
    count: usize,
    out: &'w mut [&'o mut [T]],
}

impl<T: Multiply, const FUSED: bool> Visit<T> for WriteKernels<'_, '_, T, FUSED> {
    #[inline(always)]
    fn scores(&mut self, row: usize, products: &[T; WIDE]) {
        let kernels = self.function.apply::<WIDE, FUSED>(products, self.own[row], self.others);
        put(&mut self.out[row][self.at..self.at + self.count], &kernels);
    }
}

/// N numbers from a position on.
#[inline(always)]
fn chunk<T, const N: usize>(values: &[T], first: usize) -> &[T; N] {
    values[first..].first_chunk().expect("scaled norms reach past the last row")
}

/// Writes numbers, or as many as there is room for.
#[inline(always)]
fn put<T: Copy, const N: usize>(out: &mut [T], values: &[T; N]) {
    match out.split_first_chunk_mut::<N>() {
        Some((whole, _)) => *whole = *values,
        None => out.iter_mut().zip(values).for_each(|(out, value)| *out = *value),
    }
}

/// A task of [`KernelRows::add`].
struct AddTask<'g, T> {
    kernel_rows: &'g KernelRows<'g, T>,
    queries: &'g Queries<T>,
    weights: &'g [T],
    first: usize,
    sums: &'g mut [f64],
}

impl<T: Multiply> Wide for AddTask<'_, T> {
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
    function: Function<T>,
    own: &'w [T],
    others: &'w [T; WIDE],
    weights: &'w [T],
    sums: [T; WIDE],
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
