//! Lloyd's iteration: every row to its nearest centre, every centre to the mean of its rows, until nothing changes.

use super::assign::Assignment;
use super::outcome::{Outcome, fall};
use super::points::{Centres, Points};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::{squared_distance, squared_norm};
use crate::run::{Run, Stop};

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) steps: usize,
    /// Stop when the squared moves of all centres add up to no more than this times the spread of the rows.
    pub(super) tolerance: f64,
}

/// Runs from the given centres (about the origin).
pub(super) fn lloyd(points: &Points<'_>, start: Matrix, limits: Limits, run: &Run) -> Result<Outcome> {
    let k = start.rows();
    let mut rows = Assignment::new(points, k);
    let mut centres = Centres::new(start, points);
    let (mut trace, mut stop, mut settled) = (Vec::new(), Stop::StepLimit, false);
    for step in 0..limits.steps {
        if run.out_of_time() && step > 0 {
            stop = Stop::Budget;
            break;
        }
        let all = step == 0 || rows.is_crowded();
        rows.send(&centres, all, run)?;
        if all {
            rows.add_up(run)?;
        }
        let relocated = rows.fill_empty(&centres, run)?;
        let (next, sizes) = means(&rows, &centres);
        // E = Σ w‖x‖² - Σ n_c‖c‖² once every centre is the mean of its rows.
        let between: f64 = (0..k).map(|c| sizes[c] * squared_norm(next.row(c))).sum();
        trace.push((points.scatter - between).max(0.0));
        let moves: Vec<f64> = (0..k).map(|c| squared_distance(next.row(c), centres.exact.row(c))).collect();
        rows.follow(&moves);
        centres = Centres::new(next, points);
        run.progress("k-means", step + 1, limits.steps);
        settled = rows.changed() == 0 && step > 0;
        let still = moves.iter().sum::<f64>() <= limits.tolerance * points.spread;
        if (settled || still) && !relocated {
            // Rows that came and went may have left roundings in the sums: only centres that rest on sums added up anew rest.
            rows.add_up(run)?;
            let (exact, _) = means(&rows, &centres);
            let off: Vec<f64> = (0..k).map(|c| squared_distance(exact.row(c), centres.exact.row(c))).collect();
            rows.follow(&off);
            centres = Centres::new(exact, points);
            if off.iter().sum::<f64>() <= ROUNDING * points.spread {
                stop = Stop::Converged;
                break;
            }
            settled = false;
        }
    }
    if !settled {
        // The last move of the centres may have left a row nearer to another.
        rows.send(&centres, false, run)?;
        rows.add_up(run)?;
    }
    let error = rows.error(&centres, run)?;
    let (sums, sizes) = rows.sums();
    let fall = fall(&centres.exact, &sums, &sizes);
    Ok(Outcome { centres: centres.exact, labels: rows.labels(), sizes, trace, error, stop, fall })
}

/// Squared moves this small, as a share of the spread, are roundings.
const ROUNDING: f64 = 1e-20;

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
    rows.send(centres, true, run)?;
    let error = rows.error(centres, run)?;
    Ok((rows.labels(), error))
}
