//! k nearest neighbours: prediction from the training rows most like a row.
//!
//! ```text
//! for classes   p(c | x) = fraction of the votes for c among the k rows nearest to x
//! for numbers   f(x)     = mean of the k rows nearest to x
//! ```
//!
//! Learning is keeping the rows; the work is in finding the nearest ones. An [`Index`] finds them in one of three ways,
//! chosen by shape: a kd-tree in few columns, a matrix product as a filter in many, direct (brute-force) distances where rows
//! have missing values, are sparse, or the metric needs it. All three give the same rows in the same order, ties by row number.

mod best;
mod choose;
mod data;
mod filter;
mod index;
mod measure;
mod postings;
mod tree;
mod vote;

pub use index::{Index, Nearest, SearchMethod, SearchStructure};
pub use measure::{DistanceMetric, Measure};

use crate::error::{Error, Result};
use crate::learn::{
    Capability, Checked, Count, Domain, Examples, FeatureSource, Fitted, Learner, MethodInfo, Prediction, SavedParts,
    Settings, Target, TargetView,
};
use crate::matrix::simd::argmin;
use crate::matrix::{Features, Matrix, Rows, Sparse};
use crate::run::{Report, Run};
use std::sync::Arc;
use vote::{TrainingTargets, mean, probability, weigh};

crate::settings! {
    /// The k nearest rows vote, or take their mean.
    ///
    /// ```
    /// use quince::learn::Count;
    /// use quince::prelude::*;
    /// let model = Knn::new().k(Count::Fixed(1)).fit(&[[1.0], [2.0], [9.0]], &["a", "a", "b"])?;
    /// assert_eq!(model.labels::<String>(&[[8.0], [1.2]])?, ["b", "a"]);
    /// # quince::Result::Ok(())
    /// ```
    pub struct Knn {
        /// The number of neighbours; auto takes the number with the least leave-one-out loss.
        k: Count = Count::Auto, in Domain::IntegerOrAuto(1);
        /// The distance metric; manhattan is also called city-block (L1).
        metric: DistanceMetric = DistanceMetric::Euclidean, in DistanceMetric::DOMAIN;
        /// The exponent of the metric minkowski; for more there is chebyshev.
        p: f64 = 3.0, in Domain::Number(1.0, MAX_P);
        /// Whether all neighbours count alike, or by one over their distance.
        votes: Votes = Votes::Uniform, in Votes::DOMAIN;
        /// How much features count: 1,0.5,2 or by column age=2,city=0.5; empty for all alike.
        feature_weights: String = String::new(), in Domain::Text;
        /// Votes divided evenly over all classes, so that no probability is zero.
        smoothing: f64 = 1.0, in Domain::Number(0.0, f64::MAX);
        /// How neighbours are searched; the answer is the same.
        search: SearchMethod = SearchMethod::Auto, in SearchMethod::DOMAIN;
    }
}

crate::choices! {
    /// The weights of neighbours.
    pub enum Votes {
        /// All alike.
        #[default]
        Uniform = "uniform",
        /// By one over their distance.
        Distance = "distance",
    }
}

/// Above this exponent powers vanish or overflow, and the distance is the largest difference in all but name.
const MAX_P: f64 = 50.0;

impl Learner for Knn {
    type Fitted = KnnModel;

    const INFO: MethodInfo = MethodInfo {
        name: "knn",
        title: "Nearest neighbours",
        summary: "The rows most alike vote, or take their mean; missing values are left out of distances.",
        capabilities: &[
            Capability::Classify,
            Capability::Regress,
            Capability::SampleWeights,
            Capability::Sparse,
            Capability::MultiOutput,
            Capability::ExactLeaveOneOut,
            Capability::MissingValues,
        ],
        settings: Self::SETTINGS,
        python: &["KNeighborsClassifier", "KNeighborsRegressor"],
    };

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(KnnModel, Report)> {
        examples.features.afford_columns()?;
        let kept = TrainingRows::of(examples)?;
        let measure = self.measure(examples)?;
        let (index, kept) = kept.index(measure, self.search, run)?;
        let mut report = Report::computed("");
        let k = self.choose_k(&index, &kept, &mut report, run)?;
        let way = match index.search() {
            SearchMethod::Tree => "kd-tree",
            SearchMethod::Product => "matrix product and exact choice",
            SearchMethod::Direct | SearchMethod::Auto => "direct distances",
        };
        report.route = format!("{k} nearest of {} rows by {way}", index.rows());
        report.fact("k", k as f64);
        report.remarks.push(format!("the model holds the {} rows it was trained on", index.rows()));
        let model = KnnModel {
            index: Arc::new(index),
            targets: kept.targets,
            weights: kept.weights,
            k,
            votes: self.votes,
            smoothing: self.smoothing,
        };
        Ok((model, report))
    }

    /// Each row by its nearest others. With `k` chosen by the data, the number chosen from all rows is kept.
    fn leave_one_out_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Option<Prediction>> {
        // A row without weight is no neighbour, but is predicted all the same: that takes a fit.
        if examples.weights.is_some_and(|weights| weights.contains(&0.0)) {
            return Ok(None);
        }
        let (model, _) = self.fit_checked(examples, run)?;
        let rows: Vec<usize> = (0..model.index.rows()).collect();
        let nearest = model.index.nearest_others(&rows, model.k, run)?;
        Ok(Some(model.answer(&nearest)))
    }
}

impl Knn {
    fn measure(&self, examples: &Examples<'_>) -> Result<Measure> {
        let weights = feature_weights(&self.feature_weights, examples.features.columns(), examples.encoder)?;
        Ok(Measure { metric: self.metric, p: self.p, weights })
    }

    fn choose_k(&self, index: &Index, kept: &TrainingRows, report: &mut Report, run: &Run) -> Result<usize> {
        let rows = index.rows();
        match self.k {
            Count::Fixed(k) if k == 0 || k > rows => Err(Error::setting(
                "k",
                format!("cannot be {k} with {rows} {} to learn from", if rows == 1 { "row" } else { "rows" }),
                format!("Use from 1 to {rows}, or auto."),
            )),
            Count::Fixed(k) => Ok(k),
            Count::Auto if rows == 1 => Ok(1),
            Count::Auto => {
                let losses = choose::losses(self, index, &kept.targets, &kept.target, &kept.weights, run)?;
                // Of equal losses the smallest number.
                let best = argmin(&losses).unwrap_or(0);
                report.fact("leave-one-out loss", losses[best]);
                if best + 1 == choose::MAX_NEIGHBOURS {
                    report
                        .remarks
                        .push(format!("{} neighbours are the most that are tried: more may be better", best + 1));
                }
                Ok(best + 1)
            }
        }
    }

    /// The mean leave-one-out loss for 1, 2, 3 ... (at most 50) neighbours, all from one search: log loss for classes,
    /// squared error for numbers. Of more than 4000 rows, 4000 are sampled and left out.
    pub fn losses_by_k(&self, examples: &Examples<'_>, run: &Run) -> Result<Vec<f64>> {
        let (index, kept) = TrainingRows::of(examples)?.index(self.measure(examples)?, self.search, run)?;
        choose::losses(self, &index, &kept.targets, &kept.target, &kept.weights, run)
    }
}

/// One weight per feature from what the user wrote; empty if all count alike.
fn feature_weights(text: &str, columns: usize, encoder: Option<&dyn FeatureSource>) -> Result<Vec<f64>> {
    let wrong = |problem: String, remedy: &str| Err(Error::setting("feature_weights", problem, remedy));
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0);
    let parts: Vec<&str> = text.split(',').collect();
    if parts.iter().all(|part| number(part).is_some()) {
        if parts.len() != columns {
            return wrong(
                format!("has {} numbers for {columns} features", parts.len()),
                "Give one number per feature, or write column=number.",
            );
        }
        return Ok(parts.into_iter().filter_map(number).collect());
    }
    let names: Vec<String> = encoder.map_or_else(Vec::new, |encoder| encoder.feature_names().collect());
    let mut weights = vec![1.0; columns];
    for part in parts {
        let Some((column, weight)) = part.rsplit_once('=').and_then(|(c, w)| Some((c.trim(), number(w)?))) else {
            return wrong(
                format!("cannot be read at '{part}'"),
                "Write column=number, separated by commas, with numbers of at least zero.",
            );
        };
        let belongs = |name: &String| {
            name.strip_prefix(column)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('=') || rest.starts_with(": "))
        };
        let found: Vec<usize> = (0..names.len()).filter(|&j| belongs(&names[j])).collect();
        if found.is_empty() {
            return wrong(
                format!("names '{column}', which is no column"),
                "Use the names of the columns that are learnt from.",
            );
        }
        found.into_iter().for_each(|j| weights[j] = weight);
    }
    Ok(weights)
}

/// The training rows that count: those with a weight above zero.
struct TrainingRows {
    rows: Rows,
    targets: TrainingTargets,
    target: Target,
    /// Empty if all rows count alike.
    weights: Vec<f64>,
}

impl TrainingRows {
    fn of(examples: &Examples<'_>) -> Result<TrainingRows> {
        let weights = examples.weights.unwrap_or(&[]);
        let counts = |i: &usize| weights.get(*i).is_none_or(|weight| *weight > 0.0);
        let kept: Vec<usize> = (0..examples.features.rows()).filter(counts).collect();
        let (rows, target) = (examples.features.take(&kept), examples.target.take(&kept));
        let weights = if weights.is_empty() { Vec::new() } else { kept.iter().map(|&i| weights[i]).collect() };
        let targets = match target.view() {
            TargetView::Classes { codes, classes } => {
                TrainingTargets::Classes { codes: codes.to_vec(), classes: classes.count() }
            }
            TargetView::Numbers(numbers) => TrainingTargets::Numbers(numbers.clone()),
            TargetView::None(_) => return Err(Target::missing()),
        };
        if let TrainingTargets::Numbers(numbers) = &targets
            && numbers.values().iter().any(|y| !y.is_finite())
        {
            return Err(Error::data("the target contains NaN or infinity", "Remove those rows."));
        }
        Ok(TrainingRows { rows, targets, target, weights })
    }

    /// Moves the rows into an index, and returns the rest.
    fn index(mut self, measure: Measure, search: SearchMethod, run: &Run) -> Result<(Index, TrainingRows)> {
        let rows = std::mem::take(&mut self.rows);
        Ok((Index::over(rows, measure, search, run)?, self))
    }
}

/// The training rows and their targets.
#[derive(Clone)]
pub struct KnnModel {
    /// Shared by clones.
    index: Arc<Index>,
    targets: TrainingTargets,
    weights: Vec<f64>,
    k: usize,
    votes: Votes,
    smoothing: f64,
}

impl KnnModel {
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

    fn answer(&self, nearest: &Nearest) -> Prediction {
        let count = nearest.rows.len() / nearest.k;
        let mut means = Matrix::zeros(count, self.targets.width());
        let mut counted = Vec::new();
        for q in 0..count {
            let (rows, distances) = nearest.of(q);
            weigh(self.votes, rows, distances, &self.weights, &mut counted);
            mean(&self.targets, rows, &counted, means.row_mut(q));
        }
        match self.targets {
            TrainingTargets::Numbers(_) => Prediction::Numbers(means),
            TrainingTargets::Classes { classes, .. } => {
                let mut probabilities = means.clone();
                let smooth = |fraction: f64| probability(fraction, nearest.k, self.smoothing, classes);
                probabilities.values_mut().iter_mut().for_each(|p| *p = smooth(*p));
                Prediction::Classes { scores: means, probabilities }
            }
        }
    }
}

impl Fitted for KnnModel {
    fn predict_checked(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        Ok(self.answer(&self.index.nearest(rows, self.k, run)?))
    }

    fn save(&self, parts: &mut SavedParts) {
        let (features, measure) = (self.index.features(), self.index.measure());
        let mut dense = Matrix::zeros(features.rows(), features.dense_columns());
        features.dense_alone().pack(0..features.rows(), dense.values_mut());
        parts.put_matrix("rows", &dense);
        if let Some(sparse) = features.sparse_part() {
            parts.put_sparse("sparse", sparse);
        }
        match &self.targets {
            TrainingTargets::Classes { codes, .. } => {
                parts.put_indices("codes", codes.iter().copied());
            }
            TrainingTargets::Numbers(numbers) => parts.put_matrix("numbers", numbers),
        }
        parts.put_vector("weights", &self.weights);
        parts.put_vector("feature_weights", &measure.weights);
        let votes = f64::from(u8::from(self.votes == Votes::Distance));
        let metric = METRICS.iter().position(|&metric| metric == measure.metric).unwrap_or(0) as f64;
        parts.put_vector("how", &[self.k as f64, metric, measure.p, votes, self.smoothing]);
    }

    fn load(parts: &SavedParts) -> Result<KnnModel> {
        let wrong = |problem: &str| parts.wrong(problem);
        let dense = parts.matrix("rows", None)?;
        let rows = dense.rows();
        let sparse: Option<Sparse> = parts.sparse("sparse", rows)?;
        let columns = dense.columns() + sparse.as_ref().map_or(0, Sparse::columns);
        if rows == 0 || columns != parts.features() {
            return Err(wrong("the rows do not have the columns of the model"));
        }
        let classes = parts.classes();
        let targets = if classes > 0 {
            let codes = parts.indices("codes", Some(rows))?;
            if codes.iter().any(|&code| code as usize >= classes) {
                return Err(wrong("a row has no class"));
            }
            TrainingTargets::Classes { codes, classes }
        } else {
            let numbers = parts.matrix("numbers", Some(rows))?;
            if numbers.columns() == 0 || numbers.values().iter().any(|y| !y.is_finite()) {
                return Err(wrong("a row has no number"));
            }
            TrainingTargets::Numbers(numbers)
        };
        let weights = parts.vector("weights", None)?;
        let sound = weights.iter().all(|w| w.is_finite() && *w > 0.0);
        if !(sound && (weights.is_empty() || weights.len() == rows)) {
            return Err(wrong("the sample weights do not fit"));
        }
        let how = parts.vector("how", Some(5))?;
        let metric = METRICS.get(how[1] as usize).copied().filter(|_| how[1].fract() == 0.0 && how[1] >= 0.0);
        let (Some(metric), true) = (metric, how[0].fract() == 0.0 && (1.0..=rows as f64).contains(&how[0])) else {
            return Err(wrong("the number of neighbours or the metric is not known"));
        };
        if !(how[4] >= 0.0 && how[4].is_finite()) {
            return Err(wrong("the smoothing is not a number of at least zero"));
        }
        let measure = Measure { metric, p: how[2], weights: parts.vector("feature_weights", None)? };
        let votes = if how[3] == 0.0 { Votes::Uniform } else { Votes::Distance };
        let kept = Rows::of(dense, sparse);
        let index = Index::over(kept, measure, SearchMethod::Auto, &Run::new()).map_err(|e| wrong(&e.to_string()))?;
        Ok(KnnModel { index: Arc::new(index), targets, weights, k: how[0] as usize, votes, smoothing: how[4] })
    }
}

/// The metrics in the order of their numbers in a saved model: only ever add at the end.
const METRICS: [DistanceMetric; 6] = [
    DistanceMetric::Euclidean,
    DistanceMetric::Manhattan,
    DistanceMetric::Minkowski,
    DistanceMetric::Chebyshev,
    DistanceMetric::Hamming,
    DistanceMetric::Cosine,
];
