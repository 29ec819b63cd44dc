//! Mini-batch k-means, for many rows (Sculley 2010).
//!
//! A batch of rows goes to the nearest centres; each centre then moves to the mean of all rows it has ever been given,
//! c ← c + Σ w (x - c) / n. A stream is learnt the same way, batch by batch, without ever holding more than one.
//!
//! The error of one batch is mostly chance. What counts is an exponential average of the errors per row, with a window of two
//! rounds:
//!
//! ```text
//! a ← (1 - s) a + s e        s = 2 · rows of a batch / (rows + 1), at most 1
//! ```
//!
//! The search is over when ten batches have not lowered it, or when the squared moves of the centres in a batch add up to no
//! more than the tolerance times the mean variance of the columns. The first batch does not count: its error is that of
//! the initial centres.

use super::assign::Assignment;
use super::partition::{Partition, centre_update_decrease};
use super::points::{Centres, Frame, Points};
use super::{KMeans, KMeansModel};
use crate::error::{Error, Result};
use crate::learn::{Examples, Target};
use crate::matrix::{Features, Matrix};
use crate::passes::cuts;
use crate::run::{Run, StopReason};

/// Centres that are updated by mini-batches.
///
/// ```
/// use quince::cluster::MiniBatchUpdates;
/// use quince::{Matrix, Run};
/// let mut updates = MiniBatchUpdates::new(Matrix::from_rows(&[[0.0], [10.0]]));
/// updates.learn(Matrix::from_rows(&[[1.0], [3.0], [12.0]]).features(), None, &Run::new())?;
/// // Centres are the means of the rows they were given.
/// assert_eq!((updates.centres().values(), updates.sizes()), (&[2.0, 12.0][..], &[2.0, 1.0][..]));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MiniBatchUpdates {
    centres: Matrix,
    sizes: Vec<f64>,
}

impl MiniBatchUpdates {
    /// Centres that have seen nothing yet.
    pub fn new(centres: Matrix) -> MiniBatchUpdates {
        let k = centres.rows();
        MiniBatchUpdates { centres, sizes: vec![0.0; k] }
    }

    /// Continues from a model, whose centres count as much as the rows they were learnt from.
    pub(super) fn of_model(model: &KMeansModel) -> MiniBatchUpdates {
        MiniBatchUpdates { centres: model.centres.clone(), sizes: model.sizes.clone() }
    }

    /// The centres, one per row.
    pub fn centres(&self) -> &Matrix {
        &self.centres
    }

    /// The total weight of the rows each has been given.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Learns from one batch; says the error of its rows before it, and how far the centres moved (squared, in all).
    pub fn learn(&mut self, batch: Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<(f64, f64)> {
        Examples::new(batch, &Target::none(batch.rows()), weights)?;
        super::check_width(&batch)?;
        batch.check_columns(self.centres.columns())?;
        self.check()?;
        let frame = Frame::of_features(batch, weights, run)?;
        let points = frame.points(batch, weights, 0);
        let about = Centres::new(frame.about_origin(self.centres.clone()), &frame);
        let mut rows = Assignment::once(&points, &frame, about.count());
        rows.assign(&about, true, run)?;
        rows.add_up(run)?;
        let error = rows.error(&about, run)?;
        let (sums, given) = rows.sums();
        let (mut next, mut moved) = (about.exact, 0.0);
        let taught = || (0..given.len()).filter(|&c| given[c] > 0.0);
        for c in taught() {
            self.sizes[c] += given[c];
            for (x, sum) in next.row_mut(c).iter_mut().zip(sums.row(c)) {
                let step = (sum - given[c] * *x) / self.sizes[c];
                moved += step * step;
                *x += step;
            }
        }
        let next = frame.absolute(next);
        taught().for_each(|c| self.centres.row_mut(c).copy_from_slice(next.row(c)));
        Ok((error, moved))
    }

    /// The current centres as a model; `error` is that of the last batch.
    pub fn model(self, error: f64) -> Result<KMeansModel> {
        self.check()?;
        Ok(KMeansModel { centres: self.centres, sizes: self.sizes, error, tree: None })
    }

    fn check(&self) -> Result<()> {
        if self.centres.rows() == 0 {
            return Err(Error::data("there is no centre to learn", "Begin with at least one."));
        }
        self.centres.check_finite("centres")
    }
}

/// Runs from the given centres (about the origin), with batches of rows that have a weight; every round has each row once.
pub(super) fn by_batches(
    settings: &KMeans,
    points: &Points<'_>,
    start: Matrix,
    task: u64,
    run: &Run,
) -> Result<Partition> {
    let frame = points.frame;
    let mut batches = MiniBatchUpdates::new(frame.absolute(start));
    let mut stream = run.stream(task + (1 << 32));
    let mut order: Vec<usize> = (0..points.rows()).filter(|&i| points.weight(i) > 0.0).collect();
    let count = order.len();
    let ranges = cuts(count, count.div_ceil(settings.batch));
    let mut average = Average::new((2.0 * ranges[0].len() as f64 / (count + 1) as f64).min(1.0));
    let (mut trace, mut stop) = (Vec::new(), StopReason::StepLimit);
    for round in 0..settings.steps {
        for range in &ranges {
            // The next few of a shuffled order (Fisher and Yates).
            range.clone().for_each(|place| order.swap(place, place + stream.below(count - place)));
            let batch = &order[range.clone()];
            let some = points.features.take(batch);
            let weights: Option<Vec<f64>> = points.weights.map(|weights| batch.iter().map(|&i| weights[i]).collect());
            let weight = weights.as_ref().map_or(batch.len() as f64, |weights| weights.iter().sum());
            let (error, moved) = run.finish(|| batches.learn(some.features(), weights.as_deref(), run))?;
            let stalled = average.no_improvement(error / weight);
            run.check_cancelled()?;
            if stalled || moved <= settings.tolerance * frame.mean_variance {
                stop = StopReason::Converged;
            } else if run.out_of_time() {
                stop = StopReason::Budget;
            }
            if stop != StopReason::StepLimit {
                break;
            }
        }
        run.progress("mini-batches", round + 1, settings.steps);
        trace.push(average.value * frame.total);
        if stop != StopReason::StepLimit {
            break;
        }
    }
    let centres = Centres::new(frame.about_origin(batches.centres), frame);
    let mut rows = Assignment::once(points, frame, centres.count());
    rows.assign(&centres, true, run)?;
    rows.add_up(run)?;
    let error = rows.error(&centres, run)?;
    let (sums, sizes) = rows.sums();
    let decrease = centre_update_decrease(&centres.exact, &sums, &sizes);
    Ok(Partition { centres: centres.exact, labels: rows.labels(), sizes, trace, error, stop, decrease })
}

/// The average error per row, and how long it has not fallen.
struct Average {
    /// The weight of a new batch.
    rate: f64,
    value: f64,
    least: f64,
    seen: usize,
    batches_without_improvement: usize,
}

impl Average {
    /// The number of batches without a lower average after which to stop.
    const PATIENCE: usize = 10;

    fn new(rate: f64) -> Average {
        Average { rate, value: 0.0, least: f64::INFINITY, seen: 0, batches_without_improvement: 0 }
    }

    /// Takes the error per row of a batch; says whether the average has not improved for long. (An improvement is what a batch
    /// better by a ten-thousandth brings: less is a centre that creeps towards the mean of its rows.)
    fn no_improvement(&mut self, error: f64) -> bool {
        self.seen += 1;
        self.value = if self.seen <= 2 { error } else { self.value + self.rate * (error - self.value) };
        if self.seen == 1 {
            return false;
        }
        if self.value < self.least * (1.0 - 1e-4 * self.rate) {
            (self.least, self.batches_without_improvement) = (self.value, 0);
        } else {
            self.batches_without_improvement += 1;
        }
        self.batches_without_improvement >= Self::PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many batches of these errors are heard before it is enough.
    fn heard(rate: f64, errors: impl Iterator<Item = f64>) -> Option<usize> {
        let mut average = Average::new(rate);
        errors.enumerate().find_map(|(batch, error)| average.no_improvement(error).then_some(batch + 1))
    }

    #[test]
    fn ten_batches_without_a_lower_average_are_enough() {
        // The first is left out, the second is the first average, and the next ten equal it.
        assert_eq!(heard(0.1, std::iter::repeat_n(5.0, 100)), Some(12));
        // Errors that fall by a hundredth each time are never enough.
        assert_eq!(heard(0.1, (0..100).map(|batch| 0.99f64.powi(batch))), None);
    }

    #[test]
    fn one_bad_batch_is_chance() {
        // Falling, but every fourth batch is worse than the one before: its average of twenty still falls in time.
        let noisy = |batch: i32| 0.98f64.powi(batch) * if batch % 4 == 3 { 1.05 } else { 1.0 };
        assert_eq!(heard(0.1, (0..200).map(noisy)), None);
        // A low outlier of one batch in a flat sequence hardly counts at a small rate.
        let flat = |batch: i32| if batch == 4 { 4.9 } else { 5.0 };
        assert_eq!(heard(0.01, (0..100).map(flat)), Some(15));
    }
}
