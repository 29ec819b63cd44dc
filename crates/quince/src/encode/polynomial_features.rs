//! All products of a row's numbers up to a degree, each by one multiplication.
//!
//! The products of degree p that begin with column f are x_f times those of degree p - 1 that begin with f or a later
//! column (where no column is multiplied with itself: a later one). In the order of [`super::monomials`] those lie side by
//! side, so a row is filled by a few long steps.

use super::monomials::{self, MAX_DEGREE};
use crate::error::{Error, Result};
use crate::matrix::{Real, Sparse, View, afford};
use crate::run::{Pace, Run};
use std::ops::{Mul, Range, RangeInclusive};

/// The products that are features of a row: those of the degrees, by degree and then in the order of their columns.
///
/// ```
/// use quince::encode::PolynomialFeatures;
/// // x, y, x², xy and y²; without products of a column with itself x, y and xy.
/// assert_eq!(PolynomialFeatures::new(2, 1..=2, false, false)?.width(), 5);
/// assert_eq!(PolynomialFeatures::new(2, 1..=2, true, false)?.width(), 3);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct PolynomialFeatures {
    columns: usize,
    lowest: usize,
    highest: usize,
    interaction_only: bool,
    constant: bool,
}

/// Sparse rows whose columns may be very many: where rows start, columns, values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpandedRows {
    /// Where each row starts, and the end of the last.
    pub starts: Vec<usize>,
    /// Columns, rising within a row.
    pub places: Vec<u64>,
    /// What is there.
    pub values: Vec<f64>,
}

/// x of `column` times the products at `from`, written to `to` and after it.
struct Step {
    column: usize,
    degree: usize,
    from: Range<usize>,
    to: usize,
}

impl PolynomialFeatures {
    /// Of this many columns. `interaction_only`: no column with itself; `constant`: a 1 comes first, whatever the degrees.
    pub fn new(
        columns: usize,
        degrees: RangeInclusive<usize>,
        interaction_only: bool,
        constant: bool,
    ) -> Result<PolynomialFeatures> {
        let (lowest, highest) = (*degrees.start().max(&1), *degrees.end());
        if highest > MAX_DEGREE {
            return Err(Error::setting(
                "degree",
                format!("cannot be {highest}"),
                format!("Use a degree of at most {MAX_DEGREE}."),
            ));
        }
        let products = PolynomialFeatures { columns, lowest, highest, interaction_only, constant };
        if products.wide() > i64::MAX as u128 {
            return Err(Error::setting(
                "degree",
                format!("cannot be {highest} with {columns} columns: the features could not even be counted"),
                "Use a lower degree, or fewer columns.",
            ));
        }
        Ok(products)
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.wide() as usize
    }

    fn wide(&self) -> u128 {
        let add = |sum: u128, degree: usize| sum.saturating_add(self.count_of_degree(self.columns, degree));
        (self.lowest..=self.highest).fold(u128::from(self.constant), add)
    }

    /// The number of products of this degree, of this many columns.
    fn count_of_degree(&self, columns: usize, degree: usize) -> u128 {
        monomials::count_of_degree(columns, degree, self.interaction_only)
    }

    /// The number of products that are computed, those of lower degrees included.
    fn all(&self, columns: usize) -> u128 {
        (2..=self.highest)
            .fold(columns as u128, |sum, degree| sum.saturating_add(self.count_of_degree(columns, degree)))
    }

    /// The steps that fill a row of this many numbers, which are its first products; and its final length.
    fn steps(&self, columns: usize) -> (Vec<Step>, usize) {
        let mut starts: Vec<usize> = (0..=columns).collect();
        let (mut steps, mut next) = (Vec::new(), columns);
        for degree in 2..=self.highest {
            let mut new_starts = Vec::with_capacity(columns + 1);
            for column in 0..columns {
                new_starts.push(next);
                let from = starts[column + usize::from(self.interaction_only)]..starts[columns];
                if !from.is_empty() {
                    let count = from.len();
                    steps.push(Step { column, degree, from, to: next });
                    next += count;
                }
            }
            new_starts.push(next);
            starts = new_starts;
        }
        (steps, next)
    }

    /// An error unless rows have the columns whose products these are.
    fn check_columns(&self, columns: usize) -> Result<()> {
        if columns == self.columns {
            return Ok(());
        }
        let problem = format!("the rows have {columns} columns, the products are of {}", self.columns);
        Err(Error::shape(problem, "Give the columns that the products are of."))
    }

    /// The products of every row, one row after another.
    pub fn by_rows<T: Number>(&self, rows: &View<'_, T>, run: &Run) -> Result<Vec<T>> {
        self.check_columns(rows.columns())?;
        let width = self.width();
        let scratch = self.all(self.columns).saturating_mul(run.thread_count() as u128);
        let size = (width as u128).saturating_mul(rows.rows() as u128);
        self.afford(size.saturating_add(scratch), size_of::<T>())?;
        let mut out = vec![T::from_f64(0.0); size as usize];
        let (steps, full) = self.steps(self.columns);
        let first = usize::from(self.constant);
        // Of the products that `steps` make, those of too low a degree are left out.
        let left_out = full - (width - first).min(full);
        let some = (NUMBERS_PER_TASK / width.max(1)).max(1);
        let mut parts: Vec<&mut [T]> = out.chunks_mut((some * width).max(1)).collect();
        let (mut done, mut pace) = (0, Pace::new(2));
        while done < parts.len() {
            let more = pace.next().min(parts.len() - done);
            run.each(&mut parts[done..done + more], |part, out| {
                let mut scratch = vec![T::from_f64(0.0); if left_out > 0 { full } else { 0 }];
                for (k, out) in out.chunks_exact_mut(width).enumerate() {
                    let i = (done + part) * some + k;
                    let (constant, all) = out.split_at_mut(first);
                    constant.fill(T::from_f64(1.0));
                    if self.highest == 0 {
                        continue;
                    }
                    let to = if left_out > 0 { &mut scratch[..] } else { &mut *all };
                    copy_row(rows, i, &mut to[..self.columns]);
                    for step in &steps {
                        let (known, new) = to.split_at_mut(step.to);
                        let factor = known[step.column];
                        let pairs = new.iter_mut().zip(&known[step.from.clone()]);
                        pairs.for_each(|(out, &x)| *out = x * factor);
                    }
                    if left_out > 0 {
                        all.copy_from_slice(&scratch[left_out..]);
                    }
                }
            });
            done += more;
            run.check()?;
        }
        Ok(out)
    }

    /// The products of every row, one column of them after another.
    pub fn by_columns<T: Number>(&self, rows: &View<'_, T>, run: &Run) -> Result<Vec<T>> {
        self.check_columns(rows.columns())?;
        self.afford((self.all(self.columns) + 1).saturating_mul(rows.rows() as u128 + 1), size_of::<T>())?;
        let (steps, full) = self.steps(self.columns);
        let (count, full) = (rows.rows(), if self.highest == 0 { 0 } else { full });
        let first = usize::from(self.constant);
        let mut out = vec![T::from_f64(0.0); (first + full) * count];
        let (constant, all) = out.split_at_mut(first * count);
        constant.fill(T::from_f64(1.0));
        if full > 0 {
            for (j, column) in all.chunks_exact_mut(count.max(1)).take(self.columns).enumerate() {
                column.iter_mut().enumerate().for_each(|(i, out)| *out = T::from_f64(rows.get(i, j)));
            }
            for step in &steps {
                run.check()?;
                let (known, new) = all.split_at_mut(step.to * count);
                let factor = &known[step.column * count..(step.column + 1) * count];
                for (k, from) in step.from.clone().enumerate() {
                    let out = &mut new[k * count..(k + 1) * count];
                    let pairs = known[from * count..(from + 1) * count].iter().zip(factor);
                    out.iter_mut().zip(pairs).for_each(|(out, (&x, &factor))| *out = x * factor);
                }
            }
        }
        let left_out = (first + full - self.width()) * count;
        out.drain(first * count..first * count + left_out);
        Ok(out)
    }

    /// The products of what each sparse row has stored.
    pub fn sparse(&self, rows: &Sparse, run: &Run) -> Result<ExpandedRows> {
        self.check_columns(rows.columns())?;
        let mut out = ExpandedRows { starts: vec![0], ..ExpandedRows::default() };
        let length = |i: usize| rows.row(i).0.len();
        let longest = (0..rows.rows()).map(length).max().unwrap_or(0);
        let all: Vec<u128> = (0..=longest).map(|stored| self.all(stored)).collect();
        let total = (0..rows.rows()).fold(all[longest], |sum, i| sum.saturating_add(all[length(i)]));
        self.afford(total, size_of::<(u64, f64)>())?;
        // Where the products of each degree begin.
        let first_of: Vec<u64> = (0..=self.highest)
            .scan(u128::from(self.constant), |next, degree| {
                let first = *next;
                *next += if degree < self.lowest { 0 } else { self.count_of_degree(self.columns, degree) };
                Some(first as u64)
            })
            .collect();
        // How many products of each degree begin with an earlier column than each.
        let before = |degree: usize, column: usize| {
            (self.count_of_degree(self.columns, degree) - self.count_of_degree(self.columns - column, degree)) as u64
        };
        let before: Vec<Vec<u64>> = (0..=self.highest)
            .map(|degree| (0..=self.columns).map(|column| before(degree, column)).collect())
            .collect();
        let parts = rows.rows().div_ceil(SPARSE_ROWS_PER_TASK);
        let (mut done, mut pace) = (0, Pace::new(2));
        while done < parts {
            let more = pace.next().min(parts - done);
            let part = |k: usize| {
                let (first, mut part) = ((done + k) * SPARSE_ROWS_PER_TASK, ExpandedRows::default());
                for i in first..(first + SPARSE_ROWS_PER_TASK).min(rows.rows()) {
                    self.sparse_row(rows.row(i), &first_of, &before, &mut part);
                }
                part
            };
            for part in run.map(more, part) {
                let start = out.values.len();
                out.starts.extend(part.starts.iter().map(|end| start + end));
                out.places.extend_from_slice(&part.places);
                out.values.extend_from_slice(&part.values);
            }
            done += more;
            run.check()?;
        }
        Ok(out)
    }

    /// Adds the products of a row, and where they end.
    fn sparse_row(
        &self,
        (columns, stored): (&[u32], &[f64]),
        first_of: &[u64],
        before: &[Vec<u64>],
        out: &mut ExpandedRows,
    ) {
        let (steps, full) = self.steps(columns.len());
        let full = if self.highest == 0 { 0 } else { full };
        // Place within its degree, and value, of every product of what is stored.
        let mut places: Vec<u64> = Vec::with_capacity(full);
        let mut values: Vec<f64> = Vec::with_capacity(full);
        places.extend(columns.iter().map(|&j| u64::from(j)).take(full));
        values.extend(stored.iter().take(full));
        let mut ends = vec![(1, values.len())];
        for Step { column, degree, from, .. } in steps {
            let first = columns[column] as usize;
            let block = before[degree][first];
            let from_block = before[degree - 1][first + usize::from(self.interaction_only)];
            for k in from {
                places.push(places[k] - from_block + block);
                values.push(values[k] * stored[column]);
            }
            match ends.last_mut() {
                Some((last, end)) if *last == degree => *end = values.len(),
                _ => ends.push((degree, values.len())),
            }
        }
        if self.constant {
            out.places.push(0);
            out.values.push(1.0);
        }
        let mut start = 0;
        for (degree, end) in ends {
            if degree >= self.lowest && start < end {
                let first = first_of[degree];
                out.places.extend(places[start..end].iter().map(|place| first + place));
                out.values.extend_from_slice(&values[start..end]);
            }
            start = end;
        }
        out.starts.push(out.values.len());
    }

    /// An error if this many numbers do not fit into free memory.
    fn afford(&self, numbers: u128, size: usize) -> Result<()> {
        let bytes = numbers as f64 * size as f64;
        if bytes < isize::MAX as f64 / 2.0 && afford(bytes, "").is_ok() {
            return Ok(());
        }
        Err(Error::setting(
            "degree",
            format!("cannot be {} with {} columns: the products would not fit into memory", self.highest, self.columns),
            "Use a lower degree, fewer columns, or fewer rows at a time.",
        ))
    }
}

/// The least number of products in a task.
const NUMBERS_PER_TASK: usize = 1 << 15;

/// The number of sparse rows in a task.
const SPARSE_ROWS_PER_TASK: usize = 64;

/// What can be multiplied.
pub trait Number: Real + Mul<Output = Self> {}

impl Number for f32 {}
impl Number for f64 {}

fn copy_row<T: Real>(rows: &View<'_, T>, i: usize, out: &mut [T]) {
    match rows.whole_row(i) {
        Some(row) => out.copy_from_slice(row),
        None => rows.copy_row(i, out, |_, x| x),
    }
}

#[cfg(test)]
mod tests {
    use super::super::monomials;
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn every_way_gives_the_products_of_the_monomials() {
        let rows = Matrix::from_rows(&[[2.0, 3.0, 0.0, 5.0], [0.0, -1.0, 0.5, 0.0], [0.0; 4]]);
        let stored = |i: usize| {
            rows.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>()
        };
        let sparse = Sparse::from_rows(4, (0..3).map(stored)).unwrap();
        let run = Run::new();
        for (degrees, interaction_only, constant) in [
            (0..=3, false, true),
            (2..=3, false, false),
            (1..=4, true, true),
            (2..=2, true, true),
            (0..=0, false, true),
            (3..=6, true, false),
        ] {
            let products = PolynomialFeatures::new(4, degrees.clone(), interaction_only, constant).unwrap();
            let mut terms =
                monomials::monomials(4, (*degrees.start().max(&1))..=*degrees.end(), interaction_only).unwrap();
            if constant {
                terms.insert(0, Vec::new());
            }
            assert_eq!(products.width(), terms.len());
            let expected: Vec<f64> = (0..3)
                .flat_map(|i| terms.iter().map(move |term| (i, term)))
                .map(|(i, term)| monomials::product(rows.row(i), term))
                .collect();
            assert_eq!(products.by_rows(&rows.view(), &run).unwrap(), expected);
            let columns = products.by_columns(&rows.view(), &run).unwrap();
            let turned: Vec<f64> =
                (0..3).flat_map(|i| (0..terms.len()).map(move |t| t * 3 + i)).map(|at| columns[at]).collect();
            assert_eq!(turned, expected);
            let found = products.sparse(&sparse, &run).unwrap();
            let mut dense = vec![0.0; expected.len()];
            for i in 0..3 {
                let row = found.starts[i]..found.starts[i + 1];
                assert!(found.places[row.clone()].is_sorted());
                row.for_each(|k| dense[i * terms.len() + found.places[k] as usize] = found.values[k]);
            }
            assert_eq!(dense, expected);
        }
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        assert!(PolynomialFeatures::new(1_000_000, 0..=9, false, true).is_err());
        // What is made on the way counts, too.
        let refused = |products: PolynomialFeatures, columns: usize| {
            let (rows, run) = (Matrix::zeros(1000, columns), Run::new().threads(2));
            let sparse = Sparse::new(1, columns, vec![0, columns], (0..columns as u32).collect(), vec![1.0; columns]);
            products.by_rows(&rows.view(), &run).is_err()
                && products.by_columns(&rows.view(), &run).is_err()
                && products.sparse(&sparse.unwrap(), &run).is_err()
        };
        assert!(refused(PolynomialFeatures::new(200, 1..=7, false, false).unwrap(), 200));
        assert!(refused(PolynomialFeatures::new(64, 64..=64, true, true).unwrap(), 64));
        assert_eq!(PolynomialFeatures::new(1, 0..=130, false, true).unwrap().width(), 131);
        assert!(
            PolynomialFeatures::new(0, 1..=3, false, true)
                .unwrap()
                .by_rows(&Matrix::zeros(2, 0).view(), &Run::new())
                .is_ok()
        );
    }
}
