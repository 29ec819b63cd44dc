//! A fitted model of nearest neighbours: the training rows and their targets.

use super::choose::ONE_VOTE;
use super::index::{Index, Nearest, SearchMethod};
use super::measure::{DistanceMetric, Measure};
use super::missing::MissingIndicators;
use super::vote::{TrainingTargets, mean, probability, weigh};
use super::{Knn, Votes};
use crate::error::{Error, Result};
use crate::learn::{Fitted, Prediction, SavedParts};
use crate::matrix::{Features, Matrix};
use crate::run::Run;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How many votes are counted, or probabilities made of them, between two looks at the clock.
const NUMBERS_PER_CHECK: usize = 1 << 20;

/// The training rows and their targets.
///
/// ```
/// use quince::neighbours::{DistanceMetric, Index, Knn, KnnModel, Measure, SearchMethod};
/// use quince::prelude::*;
/// let rows = Matrix::from_rows(&[[0.0], [3.0], [4.0]]);
/// let measure = Measure::of(DistanceMetric::Euclidean);
/// let index = Index::new(&rows.features(), measure, SearchMethod::Auto, &Run::new())?;
/// let model = KnnModel::of_numbers(index, Matrix::from_rows(&[[1.0], [2.0], [4.0]]), 2)?;
/// let model = Model::known(&Knn::default(), model, 1, None)?;
/// assert_eq!(model.numbers(&[[5.0]])?, [3.0]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct KnnModel {
    /// Shared by clones.
    index: Arc<Index>,
    targets: TrainingTargets,
    /// Empty if all rows count alike.
    weights: Vec<f64>,
    k: usize,
    votes: Votes,
    smoothing: f64,
    /// Where missing values are not left out of distances.
    missing: Option<MissingIndicators>,
}

impl KnnModel {
    /// A model of classes with known rows, the code of each row among this many classes, and the number of neighbours. Rows and
    /// neighbours count alike, and probabilities are smoothed by one vote, unless the methods below change it.
    pub fn of_classes(index: Index, codes: Vec<u32>, classes: usize, k: usize) -> Result<KnnModel> {
        if classes < 2 {
            return Err(Error::shape(format!("the number of classes is {classes}"), "Give at least two."));
        }
        check_target_rows(&index, codes.len())?;
        if let Some(code) = codes.iter().find(|&&code| code as usize >= classes) {
            let remedy = "Number the classes from 0.";
            return Err(Error::data(format!("the code {code} is not that of any of {classes} classes"), remedy));
        }
        KnnModel::known(index, TrainingTargets::Classes { codes, classes }, k)
    }

    /// A model of numbers with known rows, the numbers of each row (one column per output), and the number of neighbours.
    pub fn of_numbers(index: Index, numbers: Matrix, k: usize) -> Result<KnnModel> {
        check_target_rows(&index, numbers.rows())?;
        if numbers.columns() == 0 {
            return Err(Error::shape("the rows have no numbers", "Give each row at least one."));
        }
        numbers.check_finite("numbers")?;
        KnnModel::known(index, TrainingTargets::Numbers(numbers), k)
    }

    fn known(index: Index, targets: TrainingTargets, k: usize) -> Result<KnnModel> {
        if !(1..=index.rows()).contains(&k) {
            let problem = format!("{k} neighbours cannot be found among {} rows", index.rows());
            return Err(Error::shape(problem, format!("Give a number from 1 to {}.", index.rows())));
        }
        let p = index.measure().p;
        if !p.is_finite() {
            return Err(Error::data(format!("the exponent of the metric is {p}"), "Give a finite number."));
        }
        Ok(KnnModel::fitted(index, targets, Vec::new(), k, (Knn::default().votes, ONE_VOTE)))
    }

    pub(super) fn fitted(
        index: Index,
        targets: TrainingTargets,
        weights: Vec<f64>,
        k: usize,
        (votes, smoothing): (Votes, f64),
    ) -> KnnModel {
        KnnModel { index: Arc::new(index), targets, weights, k, votes, smoothing, missing: None }
    }

    /// The same with missing values that are filled and have indicators, in the rows of the index as in queries.
    pub(super) fn with_indicators(self, missing: Option<MissingIndicators>) -> KnnModel {
        KnnModel { missing, ..self }
    }

    /// The same with a weight above zero for each row.
    pub fn weighted(self, weights: Vec<f64>) -> Result<KnnModel> {
        if weights.len() != self.index.rows() {
            let problem = format!("{} rows have {} sample weights", self.index.rows(), weights.len());
            return Err(Error::shape(problem, "Give one per row."));
        }
        if !are_weights(&weights) {
            return Err(Error::data("a sample weight is not a number above 0", "Leave rows without weight out."));
        }
        Ok(KnnModel { weights, ..self })
    }

    /// The same with other weights of neighbours.
    pub fn voting(self, votes: Votes) -> KnnModel {
        KnnModel { votes, ..self }
    }

    /// The same with this number of votes divided evenly over all classes.
    pub fn smoothed(self, smoothing: f64) -> Result<KnnModel> {
        if !is_smoothing(smoothing) {
            return Err(Error::data(format!("the smoothing is {smoothing}"), "Give a number of at least 0."));
        }
        Ok(KnnModel { smoothing, ..self })
    }

    /// The number of neighbours.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The index of the training rows.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Class code of each training row, if they have classes.
    pub fn codes(&self) -> Option<&[u32]> {
        match &self.targets {
            TrainingTargets::Classes { codes, .. } => Some(codes),
            TrainingTargets::Numbers(_) => None,
        }
    }

    /// Numbers of each training row, one column per output, if they have numbers.
    pub fn numbers(&self) -> Option<&Matrix> {
        match &self.targets {
            TrainingTargets::Classes { .. } => None,
            TrainingTargets::Numbers(numbers) => Some(numbers),
        }
    }

    /// Weight of each training row; empty if all count alike.
    pub fn sample_weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weights of neighbours.
    pub fn votes(&self) -> Votes {
        self.votes
    }

    /// The number of votes that are divided evenly over all classes.
    pub fn smoothing(&self) -> f64 {
        self.smoothing
    }

    pub(super) fn answer(&self, nearest: &Nearest, run: &Run) -> Result<Prediction> {
        let (count, width) = (nearest.rows.len() / nearest.k, self.targets.width());
        let step = (NUMBERS_PER_CHECK / (nearest.k + width)).max(1);
        let mut means = Matrix::zeros(count, width);
        let mut counted = Vec::new();
        for q in 0..count {
            if q.is_multiple_of(step) {
                run.check()?;
            }
            let (rows, distances) = nearest.of(q);
            weigh(self.votes, rows, distances, &self.weights, &mut counted);
            mean(&self.targets, rows, &counted, means.row_mut(q));
        }
        let TrainingTargets::Classes { classes, .. } = self.targets else { return Ok(Prediction::Numbers(means)) };
        let mut probabilities = means.clone();
        for some in probabilities.values_mut().chunks_mut(NUMBERS_PER_CHECK) {
            run.check()?;
            some.iter_mut().for_each(|p| *p = probability(*p, nearest.k, self.smoothing, classes));
        }
        Ok(Prediction::Classes { scores: means, probabilities })
    }
}

/// Every row has a target.
fn check_target_rows(index: &Index, targets: usize) -> Result<()> {
    if index.rows() == targets {
        return Ok(());
    }
    Err(Error::shape(format!("{} rows have {targets} targets", index.rows()), "Give one per row."))
}

fn are_weights(weights: &[f64]) -> bool {
    weights.iter().all(|weight| weight.is_finite() && *weight > 0.0)
}

fn is_smoothing(smoothing: f64) -> bool {
    smoothing.is_finite() && smoothing >= 0.0
}

impl Fitted for KnnModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let nearest = match &self.missing {
            None => self.index.nearest(rows, self.k, run)?,
            Some(missing) => self.index.nearest(&missing.apply(rows, run)?.features(), self.k, run)?,
        };
        self.answer(&nearest, run)
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        let Measure { metric, p, weights } = self.index.measure();
        parts.put_rows("rows", self.index.stored_rows());
        match &self.targets {
            TrainingTargets::Classes { codes, .. } => parts.put_indices("codes", codes),
            TrainingTargets::Numbers(numbers) => parts.put_matrix("numbers", numbers),
        }
        parts.put_vector("weights", &self.weights);
        parts.put_vector("feature_weights", weights);
        if let Some(missing) = &self.missing {
            missing.save(parts);
        }
        let (k, votes, smoothing) = (self.k, self.votes, self.smoothing);
        parts.put_json("model", &Saved { k, metric: *metric, p: *p, votes, smoothing });
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<KnnModel> {
        let kept = parts.take_rows("rows")?;
        let (rows, columns) = (kept.features().rows(), kept.features().columns());
        let missing = MissingIndicators::load(parts)?;
        let (dense, indicators) = missing.as_ref().map_or((0, 0), |missing| (missing.dense_columns(), missing.count()));
        if rows == 0
            || columns != parts.features() + indicators
            || (missing.is_some() && kept.dense().columns() != dense + indicators)
        {
            return Err(parts.wrong("the rows do not have the columns of the model"));
        }
        let targets = load_targets(parts, rows)?;
        let weights = parts.take_vector("weights", None)?;
        if !(are_weights(&weights) && (weights.is_empty() || weights.len() == rows)) {
            return Err(parts.wrong("the sample weights do not fit"));
        }
        let Saved { k, metric, p, votes, smoothing } = parts.take_json("model")?;
        if !(1..=rows).contains(&k) {
            return Err(parts.wrong("there are not as many rows as neighbours"));
        }
        if !is_smoothing(smoothing) {
            return Err(parts.wrong("the smoothing is not a number of at least zero"));
        }
        let measure = Measure { metric, p, weights: parts.take_vector("feature_weights", None)? };
        let index = Index::over(kept, measure, SearchMethod::Auto, &Run::new());
        let index = index.map_err(|error| parts.wrong(&error.to_string()))?;
        Ok(KnnModel::fitted(index, targets, weights, k, (votes, smoothing)).with_indicators(missing))
    }
}

/// The targets of this many rows.
fn load_targets(parts: &mut SavedParts<'_>, rows: usize) -> Result<TrainingTargets> {
    let classes = parts.classes();
    if classes > 0 {
        let codes = parts.take_indices("codes", Some(rows))?;
        if codes.iter().any(|&code| code as usize >= classes) {
            return Err(parts.wrong("a row has no class"));
        }
        return Ok(TrainingTargets::Classes { codes, classes });
    }
    let numbers = parts.take_matrix("numbers", Some(rows))?;
    if numbers.columns() == 0 || numbers.values().iter().any(|y| !y.is_finite()) {
        return Err(parts.wrong("a row has no number"));
    }
    Ok(TrainingTargets::Numbers(numbers))
}

/// What a file holds of a model beside its arrays.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    k: usize,
    metric: DistanceMetric,
    p: f64,
    votes: Votes,
    smoothing: f64,
}
