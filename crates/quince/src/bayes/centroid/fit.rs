//! Centroids of classes, and standard deviations about them.

use super::{CentroidMetric, CentroidModel, NearestCentroid};
use crate::error::{Error, Result};
use crate::learn::{Examples, Target, TargetView};
use crate::matrix::{Features, Matrix};
use crate::numbers::{quantile, weighted_quantile};
use crate::passes::{Pass, at_hand};
use crate::run::{Report, Run};

/// Rows with their classes and weights.
struct Rows<'a> {
    features: &'a Features<'a>,
    codes: &'a [u32],
    weights: Option<&'a [f64]>,
    /// The total weight of each class.
    totals: Vec<f64>,
}

impl NearestCentroid {
    pub(super) fn learn(&self, examples: &Examples<'_>, run: &Run) -> Result<(CentroidModel, Report)> {
        let TargetView::Classes { classes, codes } = examples.target.view() else { return Err(Target::missing()) };
        self.priors.check(classes.count())?;
        let (features, weights) = (&examples.features, examples.weights);
        features.afford_columns()?;
        let mut totals = vec![0.0; classes.count()];
        for (i, &code) in codes.iter().enumerate() {
            totals[code as usize] += weights.map_or(1.0, |weights| weights[i]);
        }
        // The mean refuses what is not finite, and says where it is.
        let mean = features.means(weights, run)?;
        let rows = Rows { features, codes, weights, totals };
        let centroids = match self.metric {
            CentroidMetric::Euclidean => rows.class_means(&mean, run)?,
            CentroidMetric::Manhattan => rows.medians(&mean, run)?,
        };
        let deviations = rows.standard_deviations(&centroids, run)?;
        let log_priors = self.priors.logs(&rows.totals);
        let (centroids, shifts) = shrunken(centroids, &mean, &deviations, &rows.totals, self.shrink);
        let model = CentroidModel::fitted(self.metric, (centroids, shifts), deviations, log_priors);
        let of = if self.metric == CentroidMetric::Euclidean { "means" } else { "medians" };
        let mut report = Report::computed(format!("{of} of {} classes", classes.count()));
        let constant = model.standard_deviations().iter().filter(|deviation| **deviation == 0.0).count();
        if constant > 0 {
            report.remarks.push(format!("{constant} features are constant within every class"));
        }
        Ok((model, report))
    }
}

impl Rows<'_> {
    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// Sums over rows that are added class by class, one row of sums each.
    fn sums(&self, lines: usize, run: &Run, add: impl Fn(&mut Matrix, usize) + Sync + Send) -> Result<Matrix> {
        let columns = self.features.columns();
        let pass = Pass::new(1_000_000 / columns.max(1) + 1, run);
        pass.gather(
            at_hand(self.features),
            || Matrix::zeros(lines, columns),
            |sum, _, rows| {
                for i in rows.filter(|&i| self.weight(i) > 0.0) {
                    add(sum, i);
                }
            },
        )
    }

    /// The mean of each class; a class without rows has the mean of all rows.
    fn class_means(&self, mean: &[f64], run: &Run) -> Result<Matrix> {
        let mut sums = self.sums(self.totals.len(), run, |sums, i| {
            let (weight, sum) = (self.weight(i), sums.row_mut(self.codes[i] as usize));
            self.features.for_row(i, |j, x| sum[j] += weight * x);
        })?;
        for (k, &total) in self.totals.iter().enumerate() {
            for (sum, mean) in sums.row_mut(k).iter_mut().zip(mean) {
                *sum = if total > 0.0 { *sum / total } else { *mean };
            }
        }
        Ok(sums)
    }

    /// The median of each feature in each class.
    fn medians(&self, mean: &[f64], run: &Run) -> Result<Matrix> {
        let columns = self.features.columns();
        let mut medians = Matrix::zeros(self.totals.len(), columns);
        for (k, &total) in self.totals.iter().enumerate() {
            run.check()?;
            if total <= 0.0 {
                medians.row_mut(k).copy_from_slice(mean);
                continue;
            }
            // What is not stored of sparse rows is zero.
            let mut stored: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); columns];
            let own = |i: &usize| self.codes[*i] as usize == k && self.weight(*i) > 0.0;
            for i in (0..self.codes.len()).filter(own) {
                self.features.for_row(i, |j, x| {
                    stored[j].0.push(x);
                    stored[j].1.push(self.weight(i));
                });
            }
            for (median, (mut values, mut weights)) in medians.row_mut(k).iter_mut().zip(stored) {
                let left = total - weights.iter().sum::<f64>();
                if left > 1e-9 * total {
                    values.push(0.0);
                    weights.push(left);
                }
                *median = weighted_quantile(&values, &weights, 0.5);
            }
        }
        Ok(medians)
    }

    /// The standard deviation of each feature about the centroid of its class.
    fn standard_deviations(&self, centroids: &Matrix, run: &Run) -> Result<Vec<f64>> {
        let squares = self.sums(1, run, |sums, i| {
            let (weight, centroid) = (self.weight(i), centroids.row(self.codes[i] as usize));
            let mut row = vec![0.0; centroid.len()];
            self.features.for_row(i, |j, x| row[j] = x);
            for ((sum, x), centre) in sums.row_mut(0).iter_mut().zip(&row).zip(centroid) {
                *sum += weight * (x - centre) * (x - centre);
            }
        })?;
        let total: f64 = self.totals.iter().sum();
        let there = self.totals.iter().filter(|total| **total > 0.0).count() as f64;
        if squares.values().iter().any(|square| !square.is_finite()) {
            return Err(Error::data(
                "the squares of the features overflow",
                "Rescale columns with values above 1e150.",
            ));
        }
        // With as many rows as classes nothing is known of what varies within them.
        let freedom = if total > there { total - there } else { f64::INFINITY };
        Ok(squares.values().iter().map(|square| (square / freedom).sqrt()).collect())
    }
}

/// Centroids after shrinking, and how far each is from the mean of all rows, in standard deviations of such a difference.
fn shrunken(mut centroids: Matrix, mean: &[f64], deviations: &[f64], totals: &[f64], shrink: f64) -> (Matrix, Matrix) {
    let total: f64 = totals.iter().sum();
    let mut sorted = deviations.to_vec();
    sorted.sort_by(f64::total_cmp);
    // The median keeps features of little variance from large differences.
    let median = quantile(&sorted, 0.5);
    let mut shifts = Matrix::zeros(centroids.rows(), centroids.columns());
    for (k, &own) in totals.iter().enumerate().filter(|(_, own)| **own > 0.0) {
        let factor = (1.0 / own - 1.0 / total).max(0.0).sqrt();
        for j in 0..mean.len() {
            let unit = factor * (deviations[j] + median);
            let shift = (centroids[(k, j)] - mean[j]) / unit;
            shifts[(k, j)] = if shift.is_finite() { shift } else { 0.0 };
            if shrink > 0.0 && shift.is_finite() {
                shifts[(k, j)] = shift.signum() * (shift.abs() - shrink).max(0.0);
                centroids[(k, j)] = mean[j] + unit * shifts[(k, j)];
            }
        }
    }
    (centroids, shifts)
}
