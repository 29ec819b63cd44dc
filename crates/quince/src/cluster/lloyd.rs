//! Lloyd's iteration: every row to its nearest centre, every centre to the mean of its rows, until nothing changes.

use super::assign::Assignment;
use super::partition::{Partition, centre_update_decrease};
use super::points::{Centres, Frame, PointRows};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::{squared_distance, squared_norm};
use crate::passes::Source;
use crate::run::{Run, StopReason};

/// When to stop the iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoppingRule {
    pub(super) steps: usize,
    /// Stop when the squared moves of all centres add up to no more than this times the mean variance of the columns.
    pub(super) tolerance: f64,
}

/// Runs from initial centres (about the origin).
pub(super) fn lloyd(
    rows: impl Source<Chunk: PointRows>,
    frame: &Frame,
    start: Matrix,
    stopping: StoppingRule,
    run: &Run,
) -> Result<Partition> {
    let k = start.rows();
    let mut rows = Assignment::new(rows, frame, k);
    let mut centres = Centres::new(start, frame);
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
        trace.push((frame.scatter - between).max(0.0));
        let moves: Vec<f64> = (0..k).map(|c| squared_distance(next.row(c), centres.exact.row(c))).collect();
        rows.loosen_bounds(&moves);
        centres = Centres::new(next, frame);
        run.progress("k-means", step + 1, stopping.steps);
        settled = rows.changed() == 0 && step > 0;
        let still = moves.iter().sum::<f64>() <= stopping.tolerance * frame.mean_variance;
        if (settled || still) && !relocated {
            // Rows that came and went may have left roundings in the sums: convergence counts for sums added up again only.
            rows.add_up(run)?;
            let (exact, _) = means(&rows, &centres);
            let off: Vec<f64> = (0..k).map(|c| squared_distance(exact.row(c), centres.exact.row(c))).collect();
            rows.loosen_bounds(&off);
            centres = Centres::new(exact, frame);
            if off.iter().sum::<f64>() <= ROUNDING_MOVE * frame.mean_variance {
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
fn means(rows: &Assignment<'_, impl Source<Chunk: PointRows>>, centres: &Centres) -> (Matrix, Vec<f64>) {
    let (sums, sizes) = rows.sums();
    let mut means = centres.exact.clone();
    for c in (0..sizes.len()).filter(|&c| sizes[c] > 0.0) {
        means.row_mut(c).iter_mut().zip(sums.row(c)).for_each(|(x, sum)| *x = sum / sizes[c]);
    }
    (means, sizes)
}

/// The nearest of fixed centres for every row, and the within-cluster error.
pub(super) fn nearest(
    rows: impl Source<Chunk: PointRows>,
    frame: &Frame,
    centres: &Centres,
    run: &Run,
) -> Result<(Vec<u32>, f64)> {
    let mut rows = Assignment::once(rows, frame, centres.count());
    rows.assign(centres, true, run)?;
    let error = rows.error(centres, run)?;
    Ok((rows.labels(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::points::Points;
    use crate::matrix::lazy::{LazyRows, OwnedRows, assert_close};
    use crate::matrix::{Rows, Sparse, WeightedRows};
    use crate::passes::Chunk;
    use crate::run::Stream;

    /// Chunks as points of a frame.
    #[derive(Clone, Copy)]
    struct LazyPoints<'a> {
        rows: &'a LazyRows,
        frame: &'a Frame,
    }

    impl<'a> Source for LazyPoints<'a> {
        type Chunk = OwnedPoints<'a>;

        fn chunks(&self) -> impl Iterator<Item = Result<OwnedPoints<'a>>> {
            let frame = self.frame;
            self.rows.chunks().map(move |rows| Ok(OwnedPoints { rows: rows?, frame }))
        }
    }

    struct OwnedPoints<'a> {
        rows: OwnedRows,
        frame: &'a Frame,
    }

    impl Chunk for OwnedPoints<'_> {
        fn count(&self) -> usize {
            self.rows.count()
        }

        fn first(&self) -> usize {
            self.rows.first()
        }
    }

    impl PointRows for OwnedPoints<'_> {
        fn points(&self) -> Points<'_> {
            self.frame.points(self.rows.features(), self.rows.weights(), self.rows.first())
        }
    }

    /// Rows around five places, which overlap.
    fn example(count: usize, columns: usize, sparse: bool, weighted: bool, sizes: &[usize]) -> LazyRows {
        let mut stream = Stream::new(columns as u64, 0);
        let noise = 0.5 * (columns as f64).sqrt();
        let mut value = |i: usize, j: usize| (i * (j + 3) % 5) as f64 + noise * stream.normal();
        let rows = if sparse {
            let row = |i: usize| {
                (0..columns).filter(|j| (i + j).is_multiple_of(3)).map(|j| (j as u32, value(i, j))).collect()
            };
            let rows: Vec<Vec<(u32, f64)>> = (0..count).map(row).collect();
            Rows::of(Matrix::zeros(count, 0), Some(Sparse::from_rows(columns, rows).unwrap()))
        } else {
            let places = (0..count).flat_map(|i| (0..columns).map(move |j| (i, j)));
            Rows::from(Matrix::new(count, columns, places.map(|(i, j)| value(i, j)).collect()).unwrap())
        };
        let weights = weighted.then(|| (0..count).map(|i| [1.0, 0.5, 0.0, 2.0][i % 4]).collect());
        LazyRows::without_targets(rows, weights, sizes)
    }

    fn clusters(rows: &LazyRows, start: &Matrix, threads: usize) -> (Partition, Vec<u32>, f64) {
        let run = Run::new().threads_exactly(threads);
        let frame = Frame::of(rows, rows.features().shape(), &run).unwrap();
        let points = LazyPoints { rows, frame: &frame };
        let stopping = StoppingRule { steps: 500, tolerance: 0.0 };
        let found = lloyd(points, &frame, frame.about_origin(start.clone()), stopping, &run).unwrap();
        let centres = Centres::new(frame.about_origin(start.clone()), &frame);
        let (labels, error) = nearest(points, &frame, &centres, &run).unwrap();
        (Partition { centres: frame.absolute(found.centres), ..found }, labels, error)
    }

    #[test]
    fn clusters_of_chunks_that_own_their_rows_are_those_of_all() {
        // By one bound for each row, by one for each row and centre, and directly.
        for (count, columns, sparse) in [(6000, 4, false), (3000, 70, false), (3000, 30, true)] {
            for weighted in [false, true] {
                let lazy = example(count, columns, sparse, weighted, &[10, 2500, 0, 1, count - 2511]);
                let whole = example(count, columns, sparse, weighted, &[count]);
                // The last centre has no rows at first: it takes the one furthest from its own.
                let mut start = Matrix::zeros(6, columns);
                whole.features().pack([0, 1, 2, 3, 4, 4].into_iter(), start.values_mut());
                let (found, labels, error) = clusters(&lazy, &start, 2);
                let (expected, expected_labels, expected_error) = clusters(&whole, &start, 2);
                assert!(found.trace.len() > 3 && found.stop == StopReason::Converged, "{:?}", found.trace);
                assert!(found.labels == expected.labels && labels == expected_labels);
                assert_close(found.centres.values(), expected.centres.values(), |_| 1.0);
                assert_close(&found.trace, &expected.trace, |step| expected.trace[step]);
                assert_close(&[found.error, error], &[expected.error, expected_error], |_| expected_error);
                assert_close(&found.sizes, &expected.sizes, |_| count as f64);
                for threads in [1, 3, 8] {
                    let (again, labels_again, error_again) = clusters(&lazy, &start, threads);
                    assert!(again.centres == found.centres && again.labels == found.labels && labels_again == labels);
                    assert!(again.trace == found.trace && again.error == found.error && error_again == error);
                }
                assert!(lazy.made() > 10 * lazy.chunk_count());
            }
        }
    }
}
