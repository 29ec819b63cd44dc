//! A fitted nearest-centroid classifier.

use super::CentroidMetric;
use crate::bayes::Priors;
use crate::calibration::softmax;
use crate::error::{Error, Result};
use crate::explain::{Explanation, Listing};
use crate::learn::{FeatureSource, Fitted, Prediction, SavedParts};
use crate::matrix::simd::squared_distance;
use crate::matrix::{Features, Matrix};
use crate::run::Run;

/// Priors are equal if they differ by no more than this fraction.
const PRIOR_TOLERANCE: f64 = 1e-5;

/// Rows that are measured at a time.
const ROWS_AT_A_TIME: usize = 1024;

/// Centroids of classes, standard deviations within them, and priors.
///
/// ```
/// use quince::bayes::CentroidModel;
/// use quince::prelude::*;
/// let model = NearestCentroid::new().fit(&[[0.0], [2.0], [9.0]], &["low", "low", "high"])?;
/// // The classes are sorted: high, low.
/// assert_eq!(model.fitted::<CentroidModel>().unwrap().centroids().values(), [9.0, 1.0]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CentroidModel {
    metric: CentroidMetric,
    centroids: Matrix,
    /// How far each centroid is from the mean of all rows, in standard deviations.
    shifts: Matrix,
    standard_deviations: Vec<f64>,
    log_priors: Vec<f64>,
}

impl CentroidModel {
    /// Known centroids, one row per class, the standard deviation of each feature within the classes, and priors.
    pub fn known(
        metric: CentroidMetric,
        centroids: Matrix,
        standard_deviations: Vec<f64>,
        priors: &[f64],
    ) -> Result<CentroidModel> {
        let given = Priors::Given(priors.to_vec());
        given.check(centroids.rows())?;
        centroids.check_finite("centroids")?;
        let shape = (centroids.rows(), centroids.columns());
        if shape.0 == 0 || standard_deviations.len() != shape.1 {
            let problem = format!("{} features have {} standard deviations", shape.1, standard_deviations.len());
            return Err(Error::shape(problem, "Give one per feature."));
        }
        if !standard_deviations.iter().all(|deviation| (0.0..=f64::MAX).contains(deviation)) {
            return Err(Error::data("a standard deviation is below 0 or not finite", "Give numbers of at least 0."));
        }
        let log_priors = given.logs(&vec![1.0; shape.0]);
        let shifts = Matrix::zeros(shape.0, shape.1);
        Ok(CentroidModel::fitted(metric, (centroids, shifts), standard_deviations, log_priors))
    }

    pub(super) fn fitted(
        metric: CentroidMetric,
        (centroids, shifts): (Matrix, Matrix),
        standard_deviations: Vec<f64>,
        log_priors: Vec<f64>,
    ) -> CentroidModel {
        CentroidModel { metric, centroids, shifts, standard_deviations, log_priors }
    }

    /// The distance that is measured.
    pub fn metric(&self) -> CentroidMetric {
        self.metric
    }

    /// The centroids, one row per class.
    pub fn centroids(&self) -> &Matrix {
        &self.centroids
    }

    /// How far each centroid is from the mean of all rows, in standard deviations; zeros of a model with known centroids.
    pub fn shifts(&self) -> &Matrix {
        &self.shifts
    }

    /// The standard deviation of each feature within the classes.
    pub fn standard_deviations(&self) -> &[f64] {
        &self.standard_deviations
    }

    /// The log prior of each class.
    pub fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// Whether classes are told apart by distances alone.
    fn has_equal_priors(&self) -> bool {
        let even = 1.0 / self.log_priors.len() as f64;
        self.log_priors.iter().all(|log| (log.exp() - even).abs() <= PRIOR_TOLERANCE * even)
    }

    /// The scores 2 ln P(k) - d², with distances in standard deviations: one column per class.
    pub fn discriminants(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        let unit = |deviation: &f64| if *deviation > 0.0 { *deviation } else { 1.0 };
        let units: Vec<f64> = self.standard_deviations.iter().map(unit).collect();
        let mut scores = self.squared_distances(rows, &units, run)?;
        for i in 0..scores.rows() {
            for (score, log) in scores.row_mut(i).iter_mut().zip(&self.log_priors) {
                *score = 2.0 * log - *score;
            }
        }
        Ok(scores)
    }

    /// Squared distances of rows from all centroids, in units of each feature.
    fn squared_distances(&self, rows: &Features<'_>, units: &[f64], run: &Run) -> Result<Matrix> {
        let (classes, columns) = (self.centroids.rows(), self.centroids.columns());
        rows.check_columns(columns)?;
        let mut centroids = self.centroids.clone();
        (0..classes).for_each(|k| centroids.row_mut(k).iter_mut().zip(units).for_each(|(x, unit)| *x /= unit));
        let mut distances = Matrix::zeros(rows.rows(), classes);
        let mut pieces: Vec<&mut [f64]> = distances.values_mut().chunks_mut(ROWS_AT_A_TIME * classes).collect();
        for (round, some) in pieces.chunks_mut(64).enumerate() {
            run.each(some, |at, distances| {
                let mut row = vec![0.0; columns];
                let first = (round * 64 + at) * ROWS_AT_A_TIME;
                for (i, distances) in distances.chunks_exact_mut(classes).enumerate() {
                    row.fill(0.0);
                    rows.for_row(first + i, |j, x| row[j] = x / units[j]);
                    for (k, distance) in distances.iter_mut().enumerate() {
                        *distance = match self.metric {
                            CentroidMetric::Euclidean => squared_distance(&row, centroids.row(k)),
                            CentroidMetric::Manhattan => manhattan(&row, centroids.row(k)).powi(2),
                        };
                    }
                }
            });
            run.check()?;
        }
        Ok(distances)
    }
}

fn manhattan(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y).abs()).sum()
}

impl Fitted for CentroidModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let discriminants = self.discriminants(rows, run)?;
        let probabilities = softmax(&discriminants, 1.0);
        if !self.has_equal_priors() {
            return Ok(Prediction::Classes { scores: discriminants, probabilities });
        }
        let mut scores = self.squared_distances(rows, &vec![1.0; rows.columns()], run)?;
        scores.values_mut().iter_mut().for_each(|distance| *distance = -*distance);
        Ok(Prediction::Classes { scores, probabilities })
    }

    fn explain(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Option<Explanation> {
        let what = if self.metric == CentroidMetric::Euclidean { "mean" } else { "median" };
        let mut table = Listing::new(format!("The {what} of each class"), classes.iter().map(String::as_str));
        for (j, name) in encoder.feature_names().enumerate() {
            table.numbers(name, (0..classes.len()).map(|k| self.centroids[(k, j)]));
        }
        Some(Explanation { sentences: vec!["The nearest centroid wins.".into()], tables: vec![table] })
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_matrix("centroids", &self.centroids);
        parts.put_matrix("shifts", &self.shifts);
        parts.put_vector("standard_deviations", &self.standard_deviations);
        parts.put_vector("log_priors", &self.log_priors);
        parts.put_json("metric", &self.metric);
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<CentroidModel> {
        let centroids = parts.take_matrix("centroids", Some(parts.classes()))?;
        let shifts = parts.take_matrix("shifts", Some(parts.classes()))?;
        let standard_deviations = parts.take_vector("standard_deviations", Some(parts.features()))?;
        let log_priors = parts.take_vector("log_priors", Some(parts.classes()))?;
        let fits = centroids.columns() == parts.features() && shifts.columns() == parts.features();
        let finite = centroids.values().iter().chain(shifts.values()).all(|x| x.is_finite())
            && standard_deviations.iter().all(|x| (0.0..=f64::MAX).contains(x))
            && log_priors.iter().all(|x| *x <= 0.0);
        if !fits || !finite || parts.classes() == 0 {
            return Err(parts.wrong("the centroids do not fit the classes"));
        }
        Ok(CentroidModel { metric: parts.take_json("metric")?, centroids, shifts, standard_deviations, log_priors })
    }
}
