//! Nearest-neighbour imputation.
//!
//! The distance of two rows is taken over the columns that both have (nan-Euclidean): √(d/s · Σ (x - y)²) over the s of d columns
//! without a missing value in either. A missing value becomes the mean of the k nearest donors that have a value there.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::simd::vectorised;
use crate::run::{Pace, Run};

/// The weights of the nearest donors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NeighbourWeights {
    /// All count the same.
    Uniform,
    /// One over the distance.
    Distance,
}

/// Imputes the NaNs of `rows` from the `k` nearest `donors`; where no donor has a value, by `otherwise`.
///
/// ```
/// use quince::encode::{NeighbourWeights, knn_impute};
/// use quince::{Matrix, Run};
/// let donors = Matrix::from_rows(&[[1.0, 10.0], [2.0, 20.0], [9.0, 90.0]]);
/// let mut rows = Matrix::from_rows(&[[1.4, f64::NAN]]);
/// knn_impute(&mut rows, &donors, (2, NeighbourWeights::Uniform), &[0.0, 0.0], &Run::new())?;
/// assert_eq!(rows[(0, 1)], 15.0);
/// # quince::Result::Ok(())
/// ```
pub fn knn_impute(
    rows: &mut Matrix,
    donors: &Matrix,
    (k, weights): (usize, NeighbourWeights),
    otherwise: &[f64],
    run: &Run,
) -> Result<()> {
    let columns = rows.columns();
    if donors.columns() != columns || otherwise.len() != columns {
        return Err(Error::shape(
            format!("{columns} columns are imputed from {} and {} numbers", donors.columns(), otherwise.len()),
            "Give donors and fallback values the columns of the rows.",
        ));
    }
    let by_column: Vec<Vec<f64>> = (0..columns).map(|j| donors.column(j)).collect();
    let with_missing: Vec<usize> = (0..rows.rows()).filter(|&i| rows.row(i).iter().any(|x| x.is_nan())).collect();
    let (mut done, mut pace) = (0, Pace::new(2));
    while done < with_missing.len() {
        run.progress("missing values", done, with_missing.len());
        let some = &with_missing[done..(done + pace.next()).min(with_missing.len())];
        let filled = run.map(some.len(), |place| {
            let mut row = rows.row(some[place]).to_vec();
            let far = distances(&row, &by_column);
            for j in (0..columns).filter(|&j| rows[(some[place], j)].is_nan()) {
                row[j] = from_nearest(&far, &by_column[j], k, weights).unwrap_or(otherwise[j]);
            }
            row
        });
        some.iter().zip(filled).for_each(|(&i, row)| rows.row_mut(i).copy_from_slice(&row));
        done += some.len();
        run.check()?;
    }
    Ok(())
}

/// The squared distance of a row from every donor, whose columns are given; NaN where no column is in both.
fn distances(row: &[f64], donors: &[Vec<f64>]) -> Vec<f64> {
    let count = donors.first().map_or(0, Vec::len);
    let (mut sums, mut shared) = (vec![0.0; count], vec![0.0; count]);
    for (&x, column) in row.iter().zip(donors).filter(|(x, _)| !x.is_nan()) {
        add_squares(x, column, &mut sums, &mut shared);
    }
    let columns = row.len() as f64;
    let far = |(&sum, &shared): (&f64, &f64)| if shared > 0.0 { columns / shared * sum } else { f64::NAN };
    sums.iter().zip(&shared).map(far).collect()
}

vectorised! {
    /// Adds (x - y)² of every y that is not missing to the sum of its row, and 1 to its count.
    fn add_squares(x: f64, column: &[f64], sums: &mut [f64], shared: &mut [f64]) {
        for ((y, sum), shared) in column.iter().zip(sums).zip(shared) {
            let square = (x - y) * (x - y);
            let missing = square.is_nan();
            *sum += if missing { 0.0 } else { square };
            *shared += if missing { 0.0 } else { 1.0 };
        }
    }
}

fn from_nearest(far: &[f64], donors: &[f64], k: usize, weights: NeighbourWeights) -> Option<f64> {
    let mut able: Vec<(f64, usize)> = far
        .iter()
        .zip(donors)
        .enumerate()
        .filter(|(_, (distance, value))| !distance.is_nan() && !value.is_nan())
        .map(|(i, (&distance, _))| (distance, i))
        .collect();
    if able.is_empty() || k == 0 {
        return None;
    }
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if able.len() > k {
        able.select_nth_unstable_by(k - 1, order);
        able.truncate(k);
    }
    able.sort_unstable_by(order);
    // Donors at distance zero alone decide.
    let here = able.iter().filter(|(distance, _)| *distance == 0.0).count();
    let weight = |distance: f64| match weights {
        NeighbourWeights::Uniform => 1.0,
        NeighbourWeights::Distance if here > 0 => f64::from(u8::from(distance == 0.0)),
        NeighbourWeights::Distance => 1.0 / distance.sqrt(),
    };
    let (mut sum, mut total) = (0.0, 0.0);
    for &(distance, i) in &able {
        sum += weight(distance) * donors[i];
        total += weight(distance);
    }
    Some(sum / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_becomes_the_mean_of_its_nearest() {
        let nan = f64::NAN;
        // The example of scikit-learn's KNNImputer.
        let donors = Matrix::from_rows(&[[1.0, 2.0, nan], [3.0, 4.0, 3.0], [nan, 6.0, 5.0], [8.0, 8.0, 7.0]]);
        let mut rows = donors.clone();
        knn_impute(&mut rows, &donors, (2, NeighbourWeights::Uniform), &[0.0; 3], &Run::new()).unwrap();
        assert_eq!(rows, Matrix::from_rows(&[[1.0, 2.0, 4.0], [3.0, 4.0, 3.0], [5.5, 6.0, 5.0], [8.0, 8.0, 7.0]]));
    }

    #[test]
    fn where_nobody_shares_a_column_the_usual_value_stays() {
        let nan = f64::NAN;
        let donors = Matrix::from_rows(&[[1.0, nan], [3.0, nan]]);
        let mut rows = Matrix::from_rows(&[[nan, 5.0], [nan, nan]]);
        knn_impute(&mut rows, &donors, (2, NeighbourWeights::Uniform), &[9.0, 8.0], &Run::new()).unwrap();
        assert_eq!(rows, Matrix::from_rows(&[[9.0, 5.0], [9.0, 8.0]]));
    }

    #[test]
    fn nearer_rows_may_count_more() {
        let donors = Matrix::from_rows(&[[1.0, 10.0], [4.0, 40.0]]);
        let mut rows = Matrix::from_rows(&[[2.0, f64::NAN], [4.0, f64::NAN]]);
        knn_impute(&mut rows, &donors, (2, NeighbourWeights::Distance), &[0.0; 2], &Run::new()).unwrap();
        // One and two away: weights 1 and ½.
        assert_eq!((rows[(0, 1)], rows[(1, 1)]), (20.0, 40.0));
    }
}
