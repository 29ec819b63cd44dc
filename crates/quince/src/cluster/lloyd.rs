//! Lloyd's iteration: every row to its nearest centre, every centre to the mean of its rows, until nothing changes.

use super::assign::Assignment;
use super::partition::{Partition, centre_update_decrease};
use super::points::{Centres, Points};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::{squared_distance, squared_norm};
use crate::run::{Run, StopReason};

/// When to stop the iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoppingRule {
    pub(super) steps: usize,
    /// Stop when the squared moves of all centres add up to no more than this times the mean variance of the columns.
    pub(super) tolerance: f64,
}

/// Runs from initial centres (about the origin).
pub(super) fn lloyd(points: &Points<'_>, start: Matrix, stopping: StoppingRule, run: &Run) -> Result<Partition> {
    let k = start.rows();
    let mut rows = Assignment::new(points, k);
    let mut centres = Centres::new(start, points);
    let (mut trace, mut stop, mut settled) = (Vec::new(), StopReason::StepLimit, false);
    for step in 0..stopping.steps {
        if run.out_of_time() && step > 0 {
            stop = StopReason::Budget;
            break;
        }
        let all = step == 0 || rows.bounds_are_loose();
        rows.assign(&centres, all, run)?;
        if all {
            rows.add_up(run)?;
        }
        let relocated = rows.fill_empty(&centres, run)?;
        let (next, sizes) = means(&rows, &centres);
        // E = Σ w‖x‖² - Σ n_c‖c‖² once every centre is the mean of its rows.
        let between: f64 = (0..k).map(|c| sizes[c] * squared_norm(next.row(c))).sum();
        trace.push((points.scatter - between).max(0.0));
        let moves: Vec<f64> = (0..k).map(|c| squared_distance(next.row(c), centres.exact.row(c))).collect();
        rows.loosen_bounds(&moves);
        centres = Centres::new(next, points);
        run.progress("k-means", step + 1, stopping.steps);
        settled = rows.changed() == 0 && step > 0;
        let still = moves.iter().sum::<f64>() <= stopping.tolerance * points.mean_variance;
        if (settled || still) && !relocated {
            // Rows that came and went may have left roundings in the sums: convergence counts for sums added up again only.
            rows.add_up(run)?;
            let (exact, _) = means(&rows, &centres);
            let off: Vec<f64> = (0..k).map(|c| squared_distance(exact.row(c), centres.exact.row(c))).collect();
            rows.loosen_bounds(&off);
            centres = Centres::new(exact, points);
            if off.iter().sum::<f64>() <= ROUNDING_MOVE * points.mean_variance {
                stop = StopReason::Converged;
                break;
            }
            settled = false;
        }
    }
    if !settled {
        // The last move of the centres may have left a row nearer to another.
        rows.assign(&centres, false, run)?;
        rows.add_up(run)?;
    }
    let error = rows.error(&centres, run)?;
    let (sums, sizes) = rows.sums();
    let decrease = centre_update_decrease(&centres.exact, &sums, &sizes);
    Ok(Partition { centres: centres.exact, labels: rows.labels(), sizes, trace, error, stop, decrease })
}

/// Squared moves this small, relative to the mean variance, are rounding.
const ROUNDING_MOVE: f64 = 1e-20;

/// The means of the rows of each cluster, and their weights; a cluster without rows keeps its centre.
fn means(rows: &Assignment<'_>, centres: &Centres) -> (Matrix, Vec<f64>) {
    let (sums, sizes) = rows.sums();
    let mut means = centres.exact.clone();
    for c in (0..sizes.len()).filter(|&c| sizes[c] > 0.0) {
        means.row_mut(c).iter_mut().zip(sums.row(c)).for_each(|(x, sum)| *x = sum / sizes[c]);
    }
    (means, sizes)
}

/// The nearest of fixed centres for every row, and the within-cluster error.
pub(super) fn nearest(points: &Points<'_>, centres: &Centres, run: &Run) -> Result<(Vec<u32>, f64)> {
    let mut rows = Assignment::once(points, centres.count());
    rows.assign(centres, true, run)?;
    let error = rows.error(centres, run)?;
    Ok((rows.labels(), error))
}
