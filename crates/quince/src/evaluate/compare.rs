//! The leaderboard: several methods on the same splits of the same table.
//!
//! Methods run one after another, so that their times are honest, and all see the same folds. The encoder is learnt
//! again in every fold, from its training rows alone. Leave-one-out is the exception: there the encoder is learnt once
//! from all rows, and a method that knows its exact leave-one-out predictions is asked for them instead of being
//! fitted once per row.

use super::encoders::{Encoded, Encoders};
use super::folds::{Folds, make_splits};
use super::leave_one_out::leave_each_out;
use super::metrics::{Evaluation, Metric, evaluate};
use super::resample::Split;
use crate::error::{Error, Result};
use crate::learn::{DynLearner, Examples, Prediction, Task, check_weights, named};
use crate::matrix::Rows;
use crate::numbers::mean_and_standard_deviation;
use crate::run::{Run, StopReason};
use crate::table::Labelled;
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Mean and standard deviation (N - 1) over folds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FoldStatistics {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; `None` where there is one value only.
    pub standard_deviation: Option<f64>,
}

impl FoldStatistics {
    pub(super) fn of(values: &[f64]) -> Option<FoldStatistics> {
        let (mean, standard_deviation) = mean_and_standard_deviation(values);
        let standard_deviation = (values.len() > 1).then_some(standard_deviation);
        (!values.is_empty()).then_some(FoldStatistics { mean, standard_deviation })
    }
}

/// A method on the leaderboard.
#[derive(Clone, Debug, Serialize)]
pub struct Entrant {
    /// The method's name.
    pub method: String,
    /// Its settings.
    pub settings: Value,
    /// Each metric of the task, over the folds.
    pub metrics: Vec<(Metric, FoldStatistics)>,
    /// Seconds for one fit, on average.
    pub fit_seconds: f64,
    /// Seconds to predict one fold, on average.
    pub predict_seconds: f64,
    /// The number of folds it was tested in.
    pub folds: usize,
    /// Why it has no result, or fewer folds than others.
    pub problem: Option<String>,
}

impl Entrant {
    /// One metric, if the task has it.
    pub fn metric(&self, metric: Metric) -> Option<FoldStatistics> {
        self.metrics.iter().find(|(m, _)| *m == metric).map(|(_, statistics)| *statistics)
    }

    /// Whether it was tested in fewer than half as many folds as the method that was tested in the most.
    fn is_tested_too_little(&self, most: usize) -> bool {
        2 * self.folds < most
    }
}

/// A finished leaderboard, the best first.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Classes or numbers.
    pub task: Task,
    /// The target's column.
    pub target: String,
    /// The number of rows.
    pub rows: usize,
    /// The number of folds; one for a hold-out, as many as rows for leave-one-out.
    pub folds: usize,
    /// What the ranking goes by.
    pub by: Metric,
    /// The methods, the best first; those without a result last.
    pub entrants: Vec<Entrant>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Comparison {
    /// An error if no method has a result, with the reason of the first.
    pub fn check(&self) -> Result<()> {
        if self.entrants.iter().any(|entrant| entrant.folds > 0) {
            return Ok(());
        }
        let late = |entrant: &Entrant| {
            let error = Error::OutOfTime { what: entrant.method.clone() };
            entrant.problem.as_deref() == Some(&error.to_string())
        };
        if self.entrants.len() > 1 && self.entrants.iter().all(late) {
            return Err(Error::OutOfTime { what: "any method".into() });
        }
        let problem = self.entrants.iter().find_map(|entrant| entrant.problem.as_deref());
        problem.map_or(Ok(()), |problem| Err(Error::data(format!("no method has a result: {problem}"), "")))
    }

    /// Whether a method comes after all others because it was tested in fewer than half as many folds as another.
    pub fn is_tested_too_little(&self, entrant: &Entrant) -> bool {
        entrant.is_tested_too_little(most_folds(&self.entrants))
    }
}

/// Compares methods on the same rows. A method that fails is listed with its reason; a cancelled run is an error.
///
/// ```
/// use quince::evaluate::{Folds, Metric, compare};
/// use quince::learn::DynLearner;
/// use quince::prelude::*;
/// let table = Table::from_csv("x,y\n1,2.1\n2,3.9\n3,6.2\n4,7.8\n5,9.9\n6,12.1\n")?;
/// let methods: Vec<Box<dyn DynLearner>> = vec![Box::new(Baseline::default()), Box::new(Ridge::default())];
/// let board = compare(&table.labelled("y", None)?, &methods, &Folds::K(3), Some(Metric::Rmse), None, &Run::new())?;
/// assert_eq!(board.entrants[0].method, "ridge");
/// # quince::Result::Ok(())
/// ```
pub fn compare(
    labelled: &Labelled,
    learners: &[Box<dyn DynLearner>],
    folds: &Folds,
    by: Option<Metric>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<Comparison> {
    check_measurable(labelled, weights)?;
    let target = &labelled.target;
    let task = target.task();
    let mut warnings = Vec::new();
    let splits = make_splits(labelled, folds, &mut warnings, run)?;
    let mut all_results: Vec<FoldResults> = learners.iter().map(|_| FoldResults::default()).collect();
    match &splits {
        None => leave_each_out(labelled, learners, weights, &mut all_results, &mut warnings, run)?,
        Some(splits) => test_in_folds(labelled, learners, weights, splits, &mut all_results, &mut warnings, run)?,
    }
    for (learner, results) in learners.iter().zip(&all_results).filter(|(_, results)| results.cut_short > 0) {
        let (name, cut, all) = (learner.info().name, results.cut_short, results.evaluations.len());
        warnings.push(format!("{cut} of {all} fits of {name} were cut short by the budget"));
    }
    let by = by.unwrap_or(if task == Task::Classification { Metric::LogLoss } else { Metric::Rmse });
    if by == Metric::LogLoss {
        let without = learners.iter().filter(|learner| !learner.has_probabilities_dyn());
        warnings.extend(without.map(|learner| {
            let name = learner.info().name;
            format!("{name} is asked for scores without probabilities, so it has no log loss and comes last")
        }));
    }
    let mut entrants: Vec<Entrant> =
        learners.iter().zip(all_results).map(|(learner, results)| results.finish(learner.as_ref())).collect();
    rank(&mut entrants, by, task);
    Ok(Comparison {
        task,
        target: labelled.name.clone(),
        rows: target.rows(),
        folds: splits.map_or(target.rows(), |splits| splits.len()),
        by,
        entrants,
        warnings,
    })
}

/// The number of folds of the method that was tested in the most.
fn most_folds(entrants: &[Entrant]) -> usize {
    entrants.iter().map(|entrant| entrant.folds).max().unwrap_or(0)
}

/// The best first: by the metric, then by accuracy or R², then in the order given. A method that was tested in fewer than
/// half as many folds as another comes after all that were tested enough.
fn rank(entrants: &mut [Entrant], by: Metric, task: Task) {
    let second = if task == Task::Classification { Metric::Accuracy } else { Metric::R2 };
    let most = most_folds(entrants);
    let loss = |entrant: &Entrant, metric: Metric| {
        let sign = if metric.larger_is_better() { -1.0 } else { 1.0 };
        entrant.metric(metric).map_or(f64::INFINITY, |statistics| sign * statistics.mean)
    };
    entrants.sort_by(|a, b| {
        let by_metric = |metric| loss(a, metric).total_cmp(&loss(b, metric));
        let too_few = |entrant: &Entrant| entrant.is_tested_too_little(most);
        too_few(a).cmp(&too_few(b)).then_with(|| by_metric(by)).then_with(|| by_metric(second))
    });
}

/// The results of one method so far.
#[derive(Default)]
pub(super) struct FoldResults {
    pub(super) evaluations: Vec<Evaluation>,
    pub(super) fit: Duration,
    predict: Duration,
    problem: Option<Error>,
    /// How many fits a budget has cut short.
    cut_short: usize,
}

impl FoldResults {
    /// Runs `work` unless the method has failed before; a failure is noted, a cancel is passed on.
    pub(super) fn attempt(&mut self, work: impl FnOnce(&mut FoldResults) -> Result<()>) -> Result<()> {
        if self.problem.is_some() {
            return Ok(());
        }
        match work(self) {
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => {
                self.problem = Some(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn add(&mut self, tested: &Tested, evaluation: Evaluation) {
        self.evaluations.push(evaluation);
        self.fit += tested.fit;
        self.predict += tested.predict;
        self.cut_short += usize::from(tested.cut_short);
    }

    fn finish(self, learner: &dyn DynLearner) -> Entrant {
        let of_metric = |&metric: &Metric| {
            let values: Vec<f64> = self.evaluations.iter().filter_map(|e| e.metric(metric)).collect();
            FoldStatistics::of(&values).map(|statistics| (metric, statistics))
        };
        let folds = self.evaluations.len();
        let mean_seconds = |total: Duration| total.as_secs_f64() / folds.max(1) as f64;
        Entrant {
            method: learner.info().name.to_string(),
            settings: learner.settings(),
            metrics: Metric::ALL.iter().filter_map(of_metric).collect(),
            fit_seconds: mean_seconds(self.fit),
            predict_seconds: mean_seconds(self.predict),
            folds,
            problem: self.problem.map(|error| error.to_string()),
        }
    }
}

/// An error unless every row has a target, which an answer can be measured by, and weights fit the rows.
pub(super) fn check_measurable(labelled: &Labelled, weights: Option<&[f64]>) -> Result<()> {
    labelled.check()?;
    let target = &labelled.target;
    if target.task() == Task::Clustering {
        let remedy = "Give every row a class or a number.";
        return Err(Error::data("there is no target to measure answers by", remedy));
    }
    target.check_known()?;
    weights.map_or(Ok(()), |weights| check_weights(weights, target.rows()))
}

/// The rows of one fold.
struct Fold {
    train: Labelled,
    test: Labelled,
    train_weights: Option<Vec<f64>>,
    test_weights: Option<Vec<f64>>,
}

impl Fold {
    fn of(labelled: &Labelled, split: &Split, weights: Option<&[f64]>) -> Fold {
        let weights_of = |rows: &[usize]| weights.map(|w| rows.iter().map(|&i| w[i]).collect::<Vec<f64>>());
        Fold {
            train: labelled.take(&split.train),
            test: labelled.take(&split.test),
            train_weights: weights_of(&split.train),
            test_weights: weights_of(&split.test),
        }
    }

    /// Whether rows of both sides have any weight.
    fn has_weight(&self) -> bool {
        let sides = [&self.train_weights, &self.test_weights];
        !sides.iter().any(|weights| weights.as_ref().is_some_and(|weights| weights.iter().sum::<f64>() <= 0.0))
    }

    /// Encoders that are learnt from the training rows alone, and the features of both sides.
    fn encode(&self, learners: &[Box<dyn DynLearner>], run: &Run) -> Result<(Encoders, Encoded, Encoded)> {
        let (encoders, train) = Encoders::fit(&self.train, learners, run)?;
        let test = encoders.encode(&self.test.table, learners, run)?;
        Ok((encoders, train, test))
    }
}

fn test_in_folds(
    labelled: &Labelled,
    learners: &[Box<dyn DynLearner>],
    weights: Option<&[f64]>,
    splits: &[Split],
    all_results: &mut [FoldResults],
    warnings: &mut Vec<String>,
    run: &Run,
) -> Result<()> {
    let total = splits.len() * learners.len();
    for (number, split) in splits.iter().enumerate() {
        if all_results.iter().all(|results| results.problem.is_some()) {
            break;
        }
        let fold = Fold::of(labelled, split, weights);
        if !fold.has_weight() {
            warnings.push(format!("fold {} is left out: no row of one side has any weight", number + 1));
            continue;
        }
        let (encoders, train, test) = match fold.encode(learners, run) {
            // Out of time: what is there so far is the answer.
            Err(Error::OutOfTime { .. }) => {
                for (learner, results) in learners.iter().zip(all_results.iter_mut()) {
                    let what = learner.info().name.to_string();
                    results.problem.get_or_insert(Error::OutOfTime { what });
                }
                break;
            }
            encoded => encoded?,
        };
        if number == 0 {
            warnings.extend(encoders.remarks());
        }
        for (m, (learner, results)) in learners.iter().zip(all_results.iter_mut()).enumerate() {
            let (learner, done) = (learner.as_ref(), number * learners.len() + m);
            run.progress(&format!("fold {} of {}: {}", number + 1, splits.len(), learner.info().name), done, total);
            results.attempt(|results| {
                let result = run.share(done + 1 == total, || {
                    let features = train.for_method(learner).features();
                    let examples = Examples::new(features, &fold.train.target, fold.train_weights.as_deref())?
                        .encoded_by(encoders.of(learner))?;
                    fit_and_predict(learner, &examples, test.for_method(learner), run)
                });
                let tested = named(result, learner.info().name)?;
                let evaluation = evaluate(&fold.test.target, &tested.prediction, fold.test_weights.as_deref())?;
                results.add(&tested, evaluation);
                Ok(())
            })?;
        }
    }
    run.progress("done", total, total);
    Ok(())
}

/// What a fit says of rows it has not seen, and how long it took.
struct Tested {
    prediction: Prediction,
    fit: Duration,
    predict: Duration,
    cut_short: bool,
}

fn fit_and_predict(learner: &dyn DynLearner, examples: &Examples<'_>, test: &Rows, run: &Run) -> Result<Tested> {
    run.check()?;
    let start = Instant::now();
    let (fitted, report) = learner.fit_dyn(examples, run)?;
    let fit = start.elapsed();
    let start = Instant::now();
    let prediction = fitted.predict(&test.features(), run)?.with_probabilities_if(learner.has_probabilities_dyn());
    Ok(Tested { prediction, fit, predict: start.elapsed(), cut_short: report.stop == StopReason::Budget })
}
