//! The active set: rows that shrinking has not left out, which of them form the next working set, and their gradient.

use super::cache::Cache;
use super::working_set::{Variable, WorkingSet};
use super::{Dual, SolverOptions, WORKING_SET_SIZE};
use crate::error::Result;
use crate::margin::kernel::KernelRows;
use crate::matrix::fused::Multiply;
use crate::matrix::simd::{Wide, on_wide_vectors};
use crate::run::Run;

/// How often in a row a variable must be found at rest before it is left out.
const CHECKS_BEFORE_SHRINKING: u8 = 2;
/// Shrinking waits until at least one in this many rows can be left out.
const SHRINK_ONE_IN: usize = 4;
/// Rows per task of a gradient update: they stay in the nearest cache.
const ROWS_PER_TASK: usize = 1024;

/// The active rows, numbered among themselves.
pub(super) struct ActiveSet<'a, T> {
    /// Their indices in the problem.
    pub(super) rows: Vec<usize>,
    kernel_rows: KernelRows<'a, T>,
    cache: Cache<T>,
    variables: Vec<Variable>,
    gradient: Vec<f64>,
    /// How often in a row each variable was found at a bound at which its gradient holds it.
    times_at_rest: Vec<u8>,
}

/// The largest gradient of variables that can be raised, and the smallest of those that can be lowered, from variables and their
/// gradients. At the optimum the first is not above the second.
pub(super) fn kkt_bounds(rows: impl Iterator<Item = (Variable, f64)>, epsilon: f64) -> (f64, f64) {
    rows.fold((f64::NEG_INFINITY, f64::INFINITY), |(max_up, min_down), (row, gradient)| {
        (max_up.max(gradient + row.up(epsilon)), min_down.min(gradient + row.down(epsilon)))
    })
}

impl<'a, T: Multiply> ActiveSet<'a, T> {
    /// All rows of a problem, at β.
    pub(super) fn all(dual: &Dual<'a>, beta: &[f64], gradient: Vec<f64>, options: &SolverOptions) -> ActiveSet<'a, T> {
        let rows: Vec<usize> = (0..dual.count()).collect();
        ActiveSet {
            kernel_rows: dual.space.kernel_rows(&dual.rows, &dual.indices),
            cache: Cache::new(rows.len(), options.cache, WORKING_SET_SIZE),
            variables: rows.iter().map(|&i| dual.variable(i, beta[i])).collect(),
            gradient,
            times_at_rest: vec![0; rows.len()],
            rows,
        }
    }

    pub(super) fn kkt_bounds(&self, epsilon: f64) -> (f64, f64) {
        kkt_bounds(self.variables.iter().copied().zip(self.gradient.iter().copied()), epsilon)
    }

    /// The next working set: half of it rows that violate most, raisable and lowerable ones alternately, half of it rows of the
    /// last one, free variables first.
    pub(super) fn select_working_set(
        &self,
        (max_up, min_down): (f64, f64),
        last: &[usize],
        epsilon: f64,
    ) -> Vec<usize> {
        let size = WORKING_SET_SIZE.min(self.rows.len());
        let fresh = size - (size / 2).min(last.len());
        let (mut raisable, mut lowerable): (Vec<Candidate>, Vec<Candidate>) = (Vec::new(), Vec::new());
        for (k, (row, gradient)) in self.variables.iter().zip(&self.gradient).enumerate() {
            let (up, down) = (gradient + row.up(epsilon), gradient + row.down(epsilon));
            if up > min_down {
                raisable.push(Candidate::new(-up, k));
            }
            if down < max_up {
                lowerable.push(Candidate::new(down, k));
            }
        }
        [&mut raisable, &mut lowerable].into_iter().for_each(|list| most_violating(list, fresh));
        let mut taken = vec![false; self.rows.len()];
        let mut chosen: Vec<usize> = Vec::with_capacity(size);
        let mut take = |k: usize, most: usize| {
            if !taken[k] && chosen.len() < most {
                taken[k] = true;
                chosen.push(k);
            }
        };
        let alternately = || raisable.iter().zip(&lowerable).flat_map(|(up, down)| [up.row, down.row]);
        alternately().for_each(|k| take(k, fresh));
        let free = |k: &&usize| self.variables[**k].is_free();
        last.iter().filter(free).chain(last).for_each(|&k| take(k, size));
        alternately().for_each(|k| take(k, size));
        chosen.sort_unstable();
        chosen
    }

    /// Makes sure that the kernel rows of these rows are cached; returns how many multiplications that took.
    pub(super) fn compute_missing_kernels(&mut self, dual: &Dual<'_>, chosen: &[usize], run: &Run) -> Result<f64> {
        let missing = self.cache.reserve(chosen);
        if !missing.is_empty() {
            let wanted: Vec<usize> = missing.iter().map(|&k| dual.indices[self.rows[k]]).collect();
            let queries = dual.space.queries(&dual.rows, &wanted);
            self.kernel_rows.fill(&queries, self.cache.slots_mut(&missing), run)?;
        }
        // Of the rows that take part.
        let share = self.rows.len() as f64 / dual.count() as f64;
        Ok(share * dual.multiplications(missing.iter().map(|&k| self.rows[k])))
    }

    /// The problem of a working set whose kernel rows are cached.
    pub(super) fn working_set(&self, chosen: &[usize], epsilon: f64, run: &Run) -> WorkingSet<T> {
        let mut working_set = WorkingSet::new(
            chosen.iter().map(|&k| self.variables[k]).collect(),
            chosen.iter().map(|&k| self.gradient[k]).collect(),
            chosen.iter().map(|&k| self.kernel_rows.diagonal()[k]),
            epsilon,
        );
        let mut lines: Vec<&mut [T]> = working_set.kernel_rows().collect();
        run.each(&mut lines, |line, to| {
            let from = self.cache.row(chosen[line]);
            to.iter_mut().zip(chosen).for_each(|(to, &k)| *to = from[k]);
        });
        working_set
    }

    /// Updates the gradient of all active rows after a working set was optimised.
    pub(super) fn update_gradient(&mut self, chosen: &[usize], variables: &[Variable], run: &Run) {
        let mut changes: Vec<(&[T], f64)> = Vec::new();
        for (&k, row) in chosen.iter().zip(variables) {
            let change = row.beta - self.variables[k].beta;
            if change != 0.0 {
                changes.push((self.cache.row(k), change));
            }
            self.variables[k] = *row;
        }
        let pieces = self.gradient.chunks_mut(ROWS_PER_TASK).enumerate();
        let mut pieces: Vec<Update<'_, T>> = pieces
            .map(|(piece, gradient)| Update { first: piece * ROWS_PER_TASK, gradient, changes: &changes })
            .collect();
        run.each(&mut pieces, |_, piece| on_wide_vectors(piece));
    }

    /// Leaves out rows that have been held at a bound for a while, and renumbers `last`.
    pub(super) fn shrink(&mut self, dual: &Dual<'a>, last: &mut Vec<usize>, run: &Run) -> Result<()> {
        let (max_up, min_down) = self.kkt_bounds(dual.epsilon);
        for ((row, gradient), times_at_rest) in self.variables.iter().zip(&self.gradient).zip(&mut self.times_at_rest) {
            let is_at_rest = gradient + row.up(dual.epsilon) < min_down && gradient + row.down(dual.epsilon) > max_up;
            *times_at_rest = if is_at_rest { times_at_rest.saturating_add(1) } else { 0 };
        }
        let keep: Vec<usize> =
            (0..self.rows.len()).filter(|&k| self.times_at_rest[k] < CHECKS_BEFORE_SHRINKING).collect();
        if (self.rows.len() - keep.len()) * SHRINK_ONE_IN < self.rows.len() || keep.len() < 2 {
            return Ok(());
        }
        let mut place = vec![None; self.rows.len()];
        keep.iter().enumerate().for_each(|(new, &old)| place[old] = Some(new));
        *last = last.iter().filter_map(|&k| place[k]).collect();
        self.cache.compact(&keep, run)?;
        self.rows = keep.iter().map(|&k| self.rows[k]).collect();
        self.variables = keep.iter().map(|&k| self.variables[k]).collect();
        self.gradient = keep.iter().map(|&k| self.gradient[k]).collect();
        self.times_at_rest = vec![0; keep.len()];
        let indices: Vec<usize> = self.rows.iter().map(|&i| dual.indices[i]).collect();
        self.kernel_rows = dual.space.kernel_rows(&dual.rows, &indices);
        Ok(())
    }
}

/// A row that violates the KKT conditions: the smaller its priority value, the more.
#[derive(Clone, Copy)]
struct Candidate {
    priority: f64,
    /// Breaks ties between equal rows in an order that is unrelated to that of the table.
    tie_break: u32,
    row: usize,
}

impl Candidate {
    fn new(priority: f64, row: usize) -> Candidate {
        Candidate { priority, tie_break: tie_break(row), row }
    }
}

/// A number that is unrelated to the index of a row (a multiple of the golden ratio).
pub(super) fn tie_break(row: usize) -> u32 {
    (row as u32).wrapping_mul(0x9E37_79B1)
}

/// Keeps the `count` candidates that violate most, in order.
fn most_violating(candidates: &mut Vec<Candidate>, count: usize) {
    let order = |a: &Candidate, b: &Candidate| a.priority.total_cmp(&b.priority).then(a.tie_break.cmp(&b.tie_break));
    if count < candidates.len() {
        candidates.select_nth_unstable_by(count, order);
        candidates.truncate(count);
    }
    candidates.sort_unstable_by(order);
}

/// A piece of the gradient, from which KΔβ is subtracted.
struct Update<'u, T> {
    first: usize,
    gradient: &'u mut [f64],
    changes: &'u [(&'u [T], f64)],
}

impl<T: Multiply> Wide for Update<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let part = self.first..self.first + self.gradient.len();
        let (fours, rest) = self.changes.as_chunks::<4>();
        for [a, b, c, d] in fours {
            let (of_a, of_b, of_c, of_d) =
                (&a.0[part.clone()], &b.0[part.clone()], &c.0[part.clone()], &d.0[part.clone()]);
            for (k, gradient) in self.gradient.iter_mut().enumerate() {
                let (w, x, y, z): (f64, f64, f64, f64) =
                    (of_a[k].into(), of_b[k].into(), of_c[k].into(), of_d[k].into());
                *gradient -= (w * a.1 + x * b.1) + (y * c.1 + z * d.1);
            }
        }
        for (kernels, change) in rest {
            for (gradient, kernel) in self.gradient.iter_mut().zip(&kernels[part.clone()]) {
                let kernel: f64 = (*kernel).into();
                *gradient -= kernel * change;
            }
        }
    }
}
