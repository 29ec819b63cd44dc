//! Statistics of columns that encoders learn: moments to scale by, and values to fill with. NaN is a missing value and left out.

use crate::error::{Error, Result};
use crate::matrix::{Features, Sparse, Weighted, WeightedRows};
use crate::passes::{Merge, Pass, accumulate, at_hand};
use crate::run::Run;
use std::ops::Range;

/// Numbers of a tile, so that it stays in the cache while it is read three times.
const TILE_NUMBERS: usize = 1 << 14;

/// Weight, mean and variance of each column without its missing values; mean and variance are NaN where there is no value.
///
/// Moments of parts of the rows can be merged (Chan, Golub and LeVeque 1983).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnMoments {
    /// Weight of the rows with a value; their number where all count alike.
    pub weights: Vec<f64>,
    /// Weighted mean.
    pub means: Vec<f64>,
    /// Weighted mean of the squared distance from the mean.
    pub variances: Vec<f64>,
}

impl ColumnMoments {
    /// The moments of some rows, the same on any number of threads.
    ///
    /// ```
    /// use quince::encode::ColumnMoments;
    /// use quince::{Matrix, Run};
    /// let rows = Matrix::from_rows(&[[1.0, f64::NAN], [3.0, 5.0]]);
    /// let moments = ColumnMoments::of(&rows.features(), None, &Run::new())?;
    /// assert_eq!((moments.weights, moments.means, moments.variances), (vec![2.0, 1.0], vec![2.0, 5.0], vec![1.0, 0.0]));
    /// # quince::Result::Ok(())
    /// ```
    pub fn of(rows: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<ColumnMoments> {
        if let Some(weights) = weights.filter(|weights| weights.len() != rows.rows()) {
            return Err(Error::one_each((rows.rows(), "row"), (weights.len(), "weight")));
        }
        rows.afford_columns()?;
        ColumnMoments::of_chunks(at_hand(Weighted { features: *rows, weights }), rows.columns(), run)
    }

    /// The moments of rows that come in chunks.
    pub(super) fn of_chunks<C: WeightedRows>(
        chunks: impl IntoIterator<Item = Result<C>>,
        columns: usize,
        run: &Run,
    ) -> Result<ColumnMoments> {
        accumulate(chunks, ColumnMoments::none(columns), |all, chunk| {
            let (rows, weights) = (chunk.features(), chunk.weights());
            let mut found = dense_moments(&rows.dense_alone(), weights, run)?;
            if let Some(sparse) = rows.sparse_part() {
                let more = sparse_moments(sparse, weights, run)?;
                found.weights.extend(more.weights);
                found.means.extend(more.means);
                found.variances.extend(more.variances);
            }
            all.merge(found);
            Ok(())
        })
    }

    /// The moments of these rows and of more of them.
    pub fn merged(&self, more: &ColumnMoments) -> Result<ColumnMoments> {
        let columns = self.weights.len();
        let lengths = [&self.means, &self.variances, &more.weights, &more.means, &more.variances].map(Vec::len);
        if lengths.iter().any(|&length| length != columns) {
            let problem = format!("moments of {columns} and of {} columns", more.weights.len());
            return Err(Error::shape(problem, "Merge moments of the same columns."));
        }
        let mut merged = self.clone();
        merged.merge(more.clone());
        Ok(merged)
    }

    fn none(columns: usize) -> ColumnMoments {
        let nothing = vec![f64::NAN; columns];
        ColumnMoments { weights: vec![0.0; columns], means: nothing.clone(), variances: nothing }
    }

    fn merge_column(&mut self, j: usize, (weight, mean, variance): (f64, f64, f64)) {
        let before = self.weights[j];
        let total = before + weight;
        if weight <= 0.0 {
            return;
        }
        if before <= 0.0 {
            (self.weights[j], self.means[j], self.variances[j]) = (total, mean, variance);
            return;
        }
        let apart = mean - self.means[j];
        self.weights[j] = total;
        self.means[j] += apart * weight / total;
        self.variances[j] =
            (before * self.variances[j] + weight * variance + apart * apart * before * weight / total) / total;
    }
}

impl Merge for ColumnMoments {
    fn merge(&mut self, later: ColumnMoments) {
        for j in 0..self.weights.len() {
            self.merge_column(j, (later.weights[j], later.means[j], later.variances[j]));
        }
    }
}

fn dense_moments(rows: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<ColumnMoments> {
    let columns = rows.columns();
    // A value of the column is at most √n standard deviations from the mean: about it, merging means of tiles costs no digits.
    let origins = first_values(rows, weights);
    let rows = &rows.centred(&origins);
    let step = (TILE_NUMBERS / columns.max(1)).clamp(8, 1024);
    let empty = || (ColumnMoments::none(columns), TileSums::new(step, columns));
    let add = |(moments, tile): &mut (ColumnMoments, TileSums), rows: &&Features<'_>, range: Range<usize>| {
        let numbers = &mut tile.numbers[..range.len() * columns];
        rows.pack(range.clone(), numbers);
        tile.add_to(moments, range.len(), weights.map(|weights| &weights[range]));
    };
    let mut all = Pass::new(step, run).gather_by(at_hand(rows), empty, add, |(moments, _)| moments)?;
    all.means.iter_mut().zip(&origins).for_each(|(mean, origin)| *mean += origin);
    Ok(all)
}

/// The first value of each column in a row that counts; 0 if the first rows have none.
fn first_values(rows: &Features<'_>, weights: Option<&[f64]>) -> Vec<f64> {
    const ROWS_LOOKED_AT: usize = 1024;
    let mut found = vec![f64::NAN; rows.columns()];
    let mut row = found.clone();
    let counts = |i: &usize| weights.is_none_or(|weights| weights[*i] > 0.0);
    for i in (0..rows.rows()).filter(counts).take(ROWS_LOOKED_AT) {
        rows.pack(std::iter::once(i), &mut row);
        found.iter_mut().zip(&row).filter(|(first, _)| first.is_nan()).for_each(|(first, x)| *first = *x);
        if !found.iter().any(|first| first.is_nan()) {
            break;
        }
    }
    found.iter_mut().filter(|first| !first.is_finite()).for_each(|first| *first = 0.0);
    found
}

/// A tile of rows, and the sums over it.
struct TileSums {
    numbers: Vec<f64>,
    weights: Vec<f64>,
    origins: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl TileSums {
    fn new(rows: usize, columns: usize) -> TileSums {
        let zeros = vec![0.0; columns];
        TileSums {
            numbers: vec![0.0; rows * columns],
            weights: zeros.clone(),
            origins: zeros.clone(),
            sums: zeros.clone(),
            squares: zeros,
        }
    }

    /// The moments of the tile, merged into others. Sums are taken about a value of the column and then about the mean of the tile, so
    /// that a constant column has no variance and a mean far from zero costs no digits.
    fn add_to(&mut self, moments: &mut ColumnMoments, rows: usize, weights: Option<&[f64]>) {
        let columns = self.weights.len();
        if columns == 0 {
            return;
        }
        for (j, origin) in self.origins.iter_mut().enumerate() {
            let values = self.numbers[j..rows * columns].iter().step_by(columns);
            *origin = values.copied().find(|x| !x.is_nan()).unwrap_or(0.0);
        }
        for about_mean in [false, true] {
            self.weights.fill(0.0);
            self.sums.fill(0.0);
            self.squares.fill(0.0);
            for (i, row) in self.numbers[..rows * columns].chunks_exact(columns).enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[i]);
                for j in 0..columns {
                    let apart = row[j] - self.origins[j];
                    let there = !apart.is_nan();
                    let (apart, weight) = (if there { apart } else { 0.0 }, if there { weight } else { 0.0 });
                    self.weights[j] += weight;
                    self.sums[j] += weight * apart;
                    self.squares[j] += weight * apart * apart;
                }
            }
            for j in (0..columns).filter(|&j| self.weights[j] > 0.0) {
                let (weight, off) = (self.weights[j], self.sums[j] / self.weights[j]);
                if about_mean {
                    let variance = (self.squares[j] / weight - off * off).max(0.0);
                    moments.merge_column(j, (weight, self.origins[j] + off, variance));
                } else {
                    self.origins[j] += off;
                }
            }
        }
    }
}

/// Moments of sparse columns, whose other entries are zeros.
fn sparse_moments(rows: &Sparse, weights: Option<&[f64]>, run: &Run) -> Result<ColumnMoments> {
    let of_row = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let counting: Vec<usize> = (0..rows.rows()).filter(|&i| of_row(i) > 0.0).collect();
    let total: f64 = counting.iter().map(|&i| of_row(i)).sum();
    let columns = rows.columns();
    // Of each column the rows with an entry, and the weight of values, of missing values and, below, of zeros.
    let mut entries = vec![0; columns];
    let (mut stored, mut missing) = (vec![0.0; columns], vec![0.0; columns]);
    let mut means = vec![0.0; columns];
    for &i in &counting {
        for (j, x) in rows.entries(i) {
            entries[j] += 1;
            if x.is_nan() {
                missing[j] += of_row(i);
            } else {
                stored[j] += of_row(i);
                means[j] += of_row(i) * x;
            }
        }
    }
    run.check()?;
    // A difference of sums is not exact: where there is no zero it is left out.
    let zeros = |j: usize| if entries[j] < counting.len() { total - stored[j] - missing[j] } else { 0.0 };
    let zeros: Vec<f64> = (0..columns).map(zeros).collect();
    // So that columns without missing values have one weight, to the last bit.
    let seen = |j: usize| if missing[j] == 0.0 { total } else { stored[j] + zeros[j] };
    let seen: Vec<f64> = (0..columns).map(seen).collect();
    means.iter_mut().zip(&seen).for_each(|(mean, seen)| *mean /= seen);
    let mut variances: Vec<f64> = zeros.iter().zip(&means).map(|(zeros, mean)| zeros * mean * mean).collect();
    for &i in &counting {
        for (j, x) in rows.entries(i).filter(|(_, x)| !x.is_nan()) {
            variances[j] += of_row(i) * (x - means[j]) * (x - means[j]);
        }
    }
    variances.iter_mut().zip(&seen).for_each(|(variance, seen)| *variance /= seen);
    Ok(ColumnMoments { weights: seen, means, variances })
}

/// What missing values of a column can be filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FillStatistic {
    /// Its mean.
    Mean,
    /// Its median; between the two in the middle if their number is even.
    Median,
    /// Its most frequent value; the smallest of equally frequent ones.
    MostFrequent,
}

/// The values to fill the missing values of each column with; NaN for a column without any value.
///
/// ```
/// use quince::encode::{FillStatistic, fill_values};
/// use quince::{Matrix, Run};
/// let rows = Matrix::column_vector(vec![1.0, f64::NAN, 2.0, 9.0]);
/// let filled = |statistic| fill_values(&rows.features(), statistic, &Run::new());
/// assert_eq!((filled(FillStatistic::Mean)?, filled(FillStatistic::Median)?), (vec![4.0], vec![2.0]));
/// # quince::Result::Ok(())
/// ```
pub fn fill_values(rows: &Features<'_>, statistic: FillStatistic, run: &Run) -> Result<Vec<f64>> {
    if statistic == FillStatistic::Mean {
        return Ok(ColumnMoments::of(rows, None, run)?.means);
    }
    let transposed = rows.sparse_part().map(|sparse| sparse.transposed(run)).transpose()?;
    let dense = rows.dense_alone();
    let values = run.map(rows.columns(), |j| {
        let (mut values, zeros) = match j.checked_sub(rows.dense_columns()).zip(transposed.as_ref()) {
            Some((j, sparse)) => (sparse.row(j).1.to_vec(), rows.rows() - sparse.row(j).1.len()),
            None => (column(&dense, j), 0),
        };
        values.retain(|x| !x.is_nan());
        match statistic {
            FillStatistic::MostFrequent => most_frequent(&mut values, zeros),
            FillStatistic::Mean | FillStatistic::Median => median(&mut values, zeros),
        }
    });
    run.check()?;
    Ok(values)
}

fn column(dense: &Features<'_>, j: usize) -> Vec<f64> {
    let part = dense.dense_part();
    (0..dense.rows()).map(|i| part.map_or(f64::NAN, |part| part.get(i, j))).collect()
}

/// The median of values and of some zeros more; NaN of none.
pub(super) fn median(values: &mut [f64], zeros: usize) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (below, count) = (values.partition_point(|x| *x < 0.0), values.len() + zeros);
    let at = |place: usize| match place {
        place if place < below => values[place],
        place if place < below + zeros => 0.0,
        place => values[place - zeros],
    };
    match count {
        0 => f64::NAN,
        count if count % 2 == 1 => at(count / 2),
        count => 0.5 * at(count / 2 - 1) + 0.5 * at(count / 2),
    }
}

/// The value that occurs most often among values and some zeros more, the smallest of equals; NaN of none.
pub(super) fn most_frequent(values: &mut [f64], zeros: usize) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (mut best, mut most) = (f64::NAN, 0);
    if zeros > 0 && !values.contains(&0.0) {
        (best, most) = (0.0, zeros);
    }
    for same in values.chunk_by(|a, b| a == b) {
        let count = same.len() + if same[0] == 0.0 { zeros } else { 0 };
        if count > most || (count == most && same[0] < best) {
            (best, most) = (same[0], count);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::lazy::{LazyRows, assert_close};
    use crate::matrix::{Matrix, Rows};
    use crate::passes::Source;
    use crate::run::Stream;

    /// Ten rows of one column with these values, sparse.
    fn moments(value: impl Fn(usize) -> Option<f64>, weights: &[f64; 10]) -> (f64, f64, f64) {
        let rows = Sparse::from_rows(1, (0..10).map(|i| value(i).map(|x| (0, x)).into_iter().collect())).unwrap();
        let found = ColumnMoments::of(&rows.features(), Some(weights), &Run::new()).unwrap();
        (found.weights[0], found.means[0], found.variances[0])
    }

    /// The sum of ten times 0.1, less 0.1 ten times, is not zero.
    #[test]
    fn a_sparse_column_that_holds_only_nan_has_no_weight_and_no_moments() {
        let none = moments(|_| Some(f64::NAN), &[0.1; 10]);
        assert!(none.0 == 0.0 && none.1.is_nan() && none.2.is_nan(), "{none:?}");
        let mut weights = [0.1; 10];
        weights[9] = 0.0;
        let none = moments(|i| (i < 9).then_some(f64::NAN), &weights);
        assert!(none.0 == 0.0 && none.1.is_nan() && none.2.is_nan(), "a row that does not count has the only value");
    }

    #[test]
    fn a_sparse_column_without_zeros_is_as_exact_as_a_dense_one() {
        let weights = std::array::from_fn(|i| 0.1 + 0.01 * i as f64);
        let (weight, mean, variance) = moments(|i| Some(if i == 3 { f64::NAN } else { 1e9 }), &weights);
        let expected: f64 = weights.iter().sum::<f64>() - weights[3];
        assert!((weight - expected).abs() < 1e-15 && (mean - 1e9).abs() < 1e-6, "{weight} {mean}");
        // The squared rounding error of the mean.
        assert!(variance <= 1e-12, "{variance}");
        // Two fifths of the weight are ones, the others zeros, one of them stored.
        let entry = |i: usize| if i < 4 { Some(1.0) } else { (i == 4).then_some(0.0) };
        let (weight, mean, variance) = moments(entry, &[0.5; 10]);
        assert_eq!((weight, mean), (5.0, 0.4));
        assert!((variance - 0.24).abs() < 1e-15);
    }

    /// Four dense columns, one of them far from zero and one with missing values, and three sparse ones.
    fn example(weighted: bool, sizes: &[usize]) -> LazyRows {
        let mut stream = Stream::new(3, 0);
        let count: usize = sizes.iter().sum();
        let mut value = |at: usize| match at % 4 {
            1 => 300.0 + stream.normal(),
            2 if at.is_multiple_of(5) => f64::NAN,
            _ => stream.normal(),
        };
        let dense = Matrix::new(count, 4, (0..4 * count).map(&mut value).collect()).unwrap();
        let row =
            |i: usize| (0..3).filter(|j| (i + j).is_multiple_of(3)).map(|j| (j as u32, (i % 7) as f64 - 2.5)).collect();
        let sparse = Sparse::from_rows(3, (0..count).map(row).collect::<Vec<_>>()).unwrap();
        let weights = weighted.then(|| (0..count).map(|i| [1.0, 0.3, 0.0, 2.5][i % 4]).collect());
        LazyRows::without_targets(Rows::of(dense, Some(sparse)), weights, sizes)
    }

    fn moments_of_chunks(rows: &LazyRows, threads: usize) -> ColumnMoments {
        ColumnMoments::of_chunks(rows.chunks(), 7, &Run::new().threads_exactly(threads)).unwrap()
    }

    #[test]
    fn moments_of_chunks_that_own_their_rows_are_those_of_all() {
        for weighted in [false, true] {
            let lazy = example(weighted, &[1, 3000, 0, 999, 6000]);
            let whole = moments_of_chunks(&example(weighted, &[10_000]), 2);
            let found = moments_of_chunks(&lazy, 2);
            assert_close(&found.weights, &whole.weights, |j| whole.weights[j]);
            assert_close(&found.means, &whole.means, |j| whole.means[j].abs() + whole.variances[j].sqrt());
            assert_close(&found.variances, &whole.variances, |j| whole.variances[j]);
            for threads in [1, 3, 8] {
                assert!(moments_of_chunks(&lazy, threads) == found);
            }
        }
    }
}
