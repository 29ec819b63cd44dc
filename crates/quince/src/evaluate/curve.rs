//! Learning curves and validation curves: a metric on training and on validation rows, as one thing changes.
//!
//! A learning curve changes the number of training rows: where training and validation meet, more rows will not help. A
//! validation curve changes a setting: where validation is best the setting is best, to the one side of it the method
//! underfits and to the other it overfits.

use super::compare::{FoldStatistics, check_measurable};
use super::folds::{Folds, make_splits};
use super::metrics::{Metric, evaluate};
use crate::encode::{Encoder, MissingValues};
use crate::error::{Error, Result};
use crate::learn::{DynLearner, Examples, Target, TargetView, Task};
use crate::run::Run;
use crate::table::Labelled;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

/// A point of a curve.
#[derive(Clone, Debug, Serialize)]
pub struct CurvePoint {
    /// The number of rows or the value of the setting, as text.
    pub value: String,
    /// The number of training rows, on average over folds.
    pub rows: f64,
    /// The metric on training rows.
    pub train: Option<FoldStatistics>,
    /// The metric on validation rows.
    pub validation: Option<FoldStatistics>,
    /// Why there is no result, or from fewer folds than at other points.
    pub problem: Option<String>,
}

/// A finished curve.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The method's name.
    pub method: String,
    /// What changes: `rows`, or the name of a setting.
    pub over: String,
    /// What is measured.
    pub by: Metric,
    /// The points in the order in which they were asked for.
    pub points: Vec<CurvePoint>,
    /// The place of the point that is best on rows not learnt from.
    pub best: Option<usize>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// One way to learn, to be measured.
pub struct CurveCandidate<'a> {
    /// How the point is called.
    pub value: String,
    /// The rows; all trials have the same, but their columns may be encoded otherwise.
    pub labelled: Cow<'a, Labelled>,
    /// The method with its settings.
    pub learner: Arc<dyn DynLearner>,
    /// The fraction of the training rows (of each class) that is learnt from, above 0 and at most 1.
    pub fraction: f64,
}

/// Measures every trial on the same folds; [`Varied`](super::Varied) makes them.
pub fn curve(
    over: impl Into<String>,
    trials: &[CurveCandidate<'_>],
    folds: &Folds,
    by: Option<Metric>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<Curve> {
    let (first, by) = check_trials(trials, by, weights)?;
    let target = &first.labelled.target;
    let mut warnings = Vec::new();
    let splits = make_splits(&first.labelled, folds, &mut warnings, run)?.ok_or_else(|| {
        Error::setting("folds", "cannot be leave-one-out for a curve", "Use a number of folds, for example 10.")
    })?;
    let mut all_results: Vec<FoldResults> = trials.iter().map(|_| FoldResults::default()).collect();
    'folds: for (fold, split) in splits.iter().enumerate() {
        for (t, (trial, results)) in trials.iter().zip(&mut all_results).enumerate() {
            run.progress("curve", fold * trials.len() + t, splits.len() * trials.len());
            let train = some_of(&split.train, target, trial.fraction);
            match measure(trial, (&train, &split.test), by, weights, run) {
                Ok((on_train, on_test)) => {
                    results.rows += train.len() as f64;
                    results.train.extend(on_train);
                    results.test.extend(on_test);
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error @ Error::OutOfTime { .. }) => {
                    warnings.push(format!("{error}: what there is so far is shown"));
                    break 'folds;
                }
                Err(error) => results.problem = results.problem.take().or(Some(error.to_string())),
            }
        }
    }
    let points: Vec<CurvePoint> = trials.iter().zip(all_results).map(|(trial, results)| results.point(trial)).collect();
    let sign = if by.larger_is_better() { -1.0 } else { 1.0 };
    let loss = |p: usize| points[p].validation.map_or(f64::INFINITY, |statistics| sign * statistics.mean);
    let best = (0..points.len()).filter(|&p| loss(p).is_finite()).min_by(|&a, &b| loss(a).total_cmp(&loss(b)));
    if best.is_none()
        && let Some(problem) = points.iter().find_map(|point| point.problem.clone())
    {
        return Err(Error::data(format!("no point has a result: {problem}"), ""));
    }
    Ok(Curve { method: first.learner.info().name.into(), over: over.into(), by, points, best, warnings })
}

/// The first trial, and the metric, if all can be measured on the same folds.
fn check_trials<'t, 'a>(
    trials: &'t [CurveCandidate<'a>],
    by: Option<Metric>,
    weights: Option<&[f64]>,
) -> Result<(&'t CurveCandidate<'a>, Metric)> {
    let Some(first) = trials.first() else {
        return Err(Error::data("there is nothing to measure", "Give at least one value."));
    };
    for trial in trials {
        check_measurable(&trial.labelled, weights)?;
        if trial.labelled.target != first.labelled.target {
            return Err(Error::data("the points of a curve have different targets", "Give all of them the same rows."));
        }
    }
    if trials.iter().any(|trial| !(trial.fraction > 0.0 && trial.fraction <= 1.0)) {
        return Err(Error::data("a share of the rows must be above 0 and at most 1", "For example 0.1, 0.5 and 1."));
    }
    let is_classification = first.labelled.target.task() == Task::Classification;
    let by = by.unwrap_or(if is_classification { Metric::LogLoss } else { Metric::Rmse });
    if by == Metric::LogLoss && trials.iter().any(|trial| !trial.learner.has_probabilities_dyn()) {
        let problem = format!("'{}' is asked for scores without probabilities", first.learner.info().name);
        return Err(Error::data(problem, "Measure by accuracy, which needs none, or ask for probabilities."));
    }
    Ok((first, by))
}

/// What a trial has gathered so far.
#[derive(Default)]
struct FoldResults {
    rows: f64,
    train: Vec<f64>,
    test: Vec<f64>,
    problem: Option<String>,
}

impl FoldResults {
    fn point(self, trial: &CurveCandidate<'_>) -> CurvePoint {
        let folds = self.test.len().max(1) as f64;
        CurvePoint {
            value: trial.value.clone(),
            rows: self.rows / folds,
            train: FoldStatistics::of(&self.train),
            validation: FoldStatistics::of(&self.test),
            problem: self.problem,
        }
    }
}

/// The first rows of every class, in an order that is the same for every share: a larger share holds a smaller one.
fn some_of(train: &[usize], target: &Target, share: f64) -> Vec<usize> {
    if share >= 1.0 {
        return train.to_vec();
    }
    // Rows are spread over the table by multiplying their places, which needs no random numbers.
    let mut order: Vec<usize> = train.to_vec();
    order.sort_by_key(|&i| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), i));
    let class = |i: usize| match target.view() {
        TargetView::Classes { codes, .. } => codes[i] as usize,
        TargetView::Numbers(_) | TargetView::None(_) => 0,
    };
    let count = train.iter().map(|&i| class(i) + 1).max().unwrap_or(0);
    let (mut sizes, mut taken) = (vec![0usize; count], vec![0usize; count]);
    train.iter().for_each(|&i| sizes[class(i)] += 1);
    let mut some: Vec<usize> = order
        .into_iter()
        .filter(|&i| {
            let class = class(i);
            taken[class] += 1;
            taken[class] <= ((share * sizes[class] as f64).round() as usize).max(1)
        })
        .collect();
    some.sort_unstable();
    some
}

fn measure(
    trial: &CurveCandidate<'_>,
    (train, test): (&[usize], &[usize]),
    by: Metric,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<(Option<f64>, Option<f64>)> {
    run.check()?;
    let (learnt, other) = (trial.labelled.take(train), trial.labelled.take(test));
    let weights_of = |rows: &[usize]| weights.map(|w| rows.iter().map(|&i| w[i]).collect::<Vec<f64>>());
    let (of_learnt, of_other) = (weights_of(train), weights_of(test));
    let (encoder, rows) = Encoder::fit_for(trial.learner.info(), &learnt.table, Some(&learnt.target), run)?;
    let examples = Examples::new(rows.features(), &learnt.target, of_learnt.as_deref())?.encoded_by(&encoder)?;
    let (fitted, _) = trial.learner.fit_dyn(&examples, run)?;
    let on_train = evaluate(&learnt.target, &fitted.predict(&rows.features(), run)?, of_learnt.as_deref())?;
    let rows = encoder.encode(&other.table, MissingValues::for_method(trial.learner.info()), run)?;
    let on_test = evaluate(&other.target, &fitted.predict(&rows.features(), run)?, of_other.as_deref())?;
    Ok((on_train.metric(by), on_test.metric(by)))
}
