//! Fitting a method to rows of numbers in one line, and answers of the type that was asked for.

use super::Model;
use crate::error::{Error, Result};
use crate::learn::{
    Capability, DynLearner, Input, Label, Learner, Prediction, Target, Task, ToFeatures, ToTarget, labels_of,
};
use crate::matrix::Matrix;
use crate::run::{Cancel, Run};
use std::time::Duration;

/// Fits a method's settings in one line: every [`Learner`] has it.
///
/// ```
/// use quince::prelude::*;
/// let heights = [[1.62], [1.71], [1.80], [1.93]];
/// let model = Knn::new().k(1).fit(&heights, &["short", "short", "tall", "tall"])?;
/// assert_eq!(model.labels::<String>(&[[1.65], [1.90]])?, ["short", "tall"]);
/// # quince::Result::Ok(())
/// ```
pub trait Fit: Learner {
    /// Learns a target from rows of numbers.
    fn fit(&self, rows: &(impl ToFeatures + ?Sized), target: &(impl ToTarget + ?Sized)) -> Result<Model> {
        fit(self, rows, &target.to_target()?, None, &Run::new())
    }

    /// Learns the structure of rows that have no target: clusters, or what is novel.
    fn fit_unsupervised(&self, rows: &(impl ToFeatures + ?Sized)) -> Result<Model> {
        fit_unsupervised(self, rows, None, &Run::new())
    }

    /// Finds clusters of rows: [`Fit::fit_unsupervised`] of a method that does.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let found = KMeans::new(2).cluster(&[[1.0], [2.0], [9.0]])?;
    /// assert_eq!(found.clusters(&[[8.0]])?, found.clusters(&[[9.0]])?);
    /// # quince::Result::Ok(())
    /// ```
    fn cluster(&self, rows: &(impl ToFeatures + ?Sized)) -> Result<Model> {
        finds_clusters::<Self>()?;
        self.fit_unsupervised(rows)
    }

    /// With a seed for what is drawn at random; it is 0 otherwise.
    fn seed(self, seed: u64) -> Prepared<Self> {
        Prepared::of(self).seed(seed)
    }

    /// On at most this number of threads.
    fn threads(self, threads: usize) -> Prepared<Self> {
        Prepared::of(self).threads(threads)
    }

    /// Within a time, after which the best so far is returned.
    fn budget(self, budget: Duration) -> Prepared<Self> {
        Prepared::of(self).budget(budget)
    }

    /// Until another thread raises a flag.
    fn cancel(self, cancel: &Cancel) -> Prepared<Self> {
        Prepared::of(self).cancel(cancel)
    }

    /// With a weight for each row.
    fn sample_weights(self, weights: impl Into<Vec<f64>>) -> Prepared<Self> {
        Prepared::of(self).sample_weights(weights)
    }
}

impl<L: Learner> Fit for L {}

/// A method's settings together with how they are to be fitted.
///
/// ```
/// use quince::prelude::*;
/// let weighted = Baseline::new().sample_weights([3.0, 1.0]).fit(&[[0.0], [0.0]], &[2.0, 6.0])?;
/// assert_eq!(weighted.numbers(&[[0.0]])?, [3.0]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Prepared<L> {
    learner: L,
    weights: Option<Vec<f64>>,
    seed: u64,
    threads: usize,
    budget: Option<Duration>,
    cancel: Cancel,
}

impl<L: Learner> Prepared<L> {
    fn of(learner: L) -> Prepared<L> {
        Prepared { learner, weights: None, seed: 0, threads: 0, budget: None, cancel: Cancel::new() }
    }

    /// With a seed for what is drawn at random.
    pub fn seed(self, seed: u64) -> Prepared<L> {
        Prepared { seed, ..self }
    }

    /// On at most this number of threads; zero for as many as the machine has.
    pub fn threads(self, threads: usize) -> Prepared<L> {
        Prepared { threads, ..self }
    }

    /// Within a time, after which the best so far is returned.
    pub fn budget(self, budget: Duration) -> Prepared<L> {
        Prepared { budget: Some(budget), ..self }
    }

    /// Until another thread raises a flag.
    pub fn cancel(self, cancel: &Cancel) -> Prepared<L> {
        Prepared { cancel: cancel.clone(), ..self }
    }

    /// With a weight for each row.
    pub fn sample_weights(self, weights: impl Into<Vec<f64>>) -> Prepared<L> {
        Prepared { weights: Some(weights.into()), ..self }
    }

    /// The settings.
    pub fn learner(&self) -> &L {
        &self.learner
    }

    /// The run that a fit gets.
    pub(crate) fn run(&self) -> Run {
        let run = Run::new().seed(self.seed).threads(self.threads).cancel(&self.cancel);
        match self.budget {
            Some(budget) => run.budget(budget),
            None => run,
        }
    }

    /// Learns a target from rows of numbers.
    pub fn fit(&self, rows: &(impl ToFeatures + ?Sized), target: &(impl ToTarget + ?Sized)) -> Result<Model> {
        fit(&self.learner, rows, &target.to_target()?, self.weights.as_deref(), &self.run())
    }

    /// Learns the structure of rows that have no target.
    pub fn fit_unsupervised(&self, rows: &(impl ToFeatures + ?Sized)) -> Result<Model> {
        fit_unsupervised(&self.learner, rows, self.weights.as_deref(), &self.run())
    }

    /// Finds clusters of rows: [`Prepared::fit_unsupervised`] of a method that does.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let found = KMeans::new(2).seed(42).cluster(&[[1.0], [2.0], [9.0]])?;
    /// assert_eq!(found.clusters(&[[8.0], [0.0]])?, [1, 0]);
    /// assert!(Ridge::new().cluster(&[[1.0], [2.0]]).is_err());
    /// # quince::Result::Ok(())
    /// ```
    pub fn cluster(&self, rows: &(impl ToFeatures + ?Sized)) -> Result<Model> {
        finds_clusters::<L>()?;
        self.fit_unsupervised(rows)
    }
}

/// An error if a method has no clusters.
fn finds_clusters<L: Learner>() -> Result<()> {
    if L::INFO.can(Capability::Cluster) {
        return Ok(());
    }
    let problem = format!("'{}' does not find clusters", L::INFO.name);
    Err(Error::data(problem, "Choose a method that does: KMeans or Mixture."))
}

fn fit(
    learner: &dyn DynLearner,
    rows: &(impl ToFeatures + ?Sized),
    target: &Target,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<Model> {
    Model::fit_features(&rows.to_features()?.features(), target, weights, learner, run)
}

fn fit_unsupervised(
    learner: &dyn DynLearner,
    rows: &(impl ToFeatures + ?Sized),
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<Model> {
    let rows = rows.to_features()?;
    let rows = rows.features();
    Model::fit_features(&rows, &Target::none(rows.rows()), weights, learner, run)
}

/// Rows that a model can be asked about: a `Table`, or rows of numbers where the model learnt from such.
pub trait Queries {
    /// The rows as the model sees them.
    fn encoded_for(&self, model: &Model, run: &Run) -> Result<Input<'_>>;
}

impl<T: ToFeatures + ?Sized> Queries for T {
    fn encoded_for(&self, _: &Model, _: &Run) -> Result<Input<'_>> {
        self.to_features()
    }
}

/// Answers of one type each. A model of another task gives an error that says what it predicts.
impl Model {
    /// Predicts for every row, whatever the task. Columns of a table are found by name; the target's need not be there.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = KMeans::new(2).fit_unsupervised(&[[1.0], [2.0], [9.0]])?;
    /// let Prediction::Clusters { labels, distances } = model.predict(&[[9.0]])? else { panic!() };
    /// assert_eq!((labels, distances.row(0)), (vec![1], &[7.5, 0.0][..]));
    /// # quince::Result::Ok(())
    /// ```
    pub fn predict(&self, rows: &(impl Queries + ?Sized)) -> Result<Prediction> {
        self.predict_with(rows, &Run::new())
    }

    /// As [`Model::predict`], with threads, a budget and the like.
    pub fn predict_with(&self, rows: &(impl Queries + ?Sized), run: &Run) -> Result<Prediction> {
        self.predict_features(&rows.encoded_for(self, run)?.features(), run)
    }

    /// The class of each row, as the labels that the model was fitted to: words, whole numbers or Booleans.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = Knn::new().k(1).fit(&[[1.0], [9.0]], &[false, true])?;
    /// assert_eq!(model.labels::<bool>(&[[7.0], [2.0]])?, [true, false]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn labels<L: Label + Clone>(&self, rows: &(impl Queries + ?Sized)) -> Result<Vec<L>> {
        let prediction = self.ask_for(Task::Classification, "classes", rows)?;
        let (Prediction::Classes { .. }, Some(classes)) = (&prediction, self.classes()) else {
            return Err(self.predicts_other("classes"));
        };
        let labels: Vec<L> = labels_of(classes)?;
        Ok(prediction.labels().into_iter().map(|code| labels[code as usize].clone()).collect())
    }

    /// The probability of each class for each row, one column per class in the order of [`Model::classes`].
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = Baseline::new().fit(&[[1.0], [2.0], [3.0], [4.0]], &["a", "a", "a", "b"])?;
    /// assert_eq!(model.probabilities(&[[2.5]])?.row(0), [0.75, 0.25]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn probabilities(&self, rows: &(impl Queries + ?Sized)) -> Result<Matrix> {
        match self.ask_for(Task::Classification, "probabilities", rows)? {
            Prediction::Classes { .. } if !self.has_probabilities() => Err(Error::data(
                format!("this model of '{}' has scores but no probabilities", self.method.info.name),
                "Ask for labels, or train it with probabilities.",
            )),
            Prediction::Classes { probabilities, .. } => Ok(probabilities),
            _ => Err(self.predicts_other("probabilities")),
        }
    }

    /// The number predicted for each row.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = Knn::new().k(2).fit(&[[1.0], [2.0], [9.0]], &[4.0, 6.0, 0.0])?;
    /// assert_eq!(model.numbers(&[[1.0]])?, [5.0]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn numbers(&self, rows: &(impl Queries + ?Sized)) -> Result<Vec<f64>> {
        let outputs = self.outputs(rows)?;
        if outputs.columns() != 1 {
            let problem = format!("the model predicts {} numbers for each row", outputs.columns());
            return Err(Error::data(problem, "Ask for its outputs."));
        }
        Ok(outputs.into_values())
    }

    /// The numbers predicted for each row, one column per output.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let target = Matrix::from_rows(&[[1.0, 10.0], [3.0, 30.0]]);
    /// let model = Baseline::new().fit(&[[0.0], [0.0]], &Target::numbers(target)?)?;
    /// assert_eq!(model.outputs(&[[0.0]])?.row(0), [2.0, 20.0]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn outputs(&self, rows: &(impl Queries + ?Sized)) -> Result<Matrix> {
        match self.ask_for(Task::Regression, "numbers", rows)? {
            Prediction::Numbers(numbers) => Ok(numbers),
            _ => Err(self.predicts_other("numbers")),
        }
    }

    /// The cluster or the most likely component of each row, counted from 0.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = KMeans::new(2).fit_unsupervised(&[[1.0], [2.0], [9.0]])?;
    /// assert_eq!(model.clusters(&[[8.0], [0.0]])?, [1, 0]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn clusters(&self, rows: &(impl Queries + ?Sized)) -> Result<Vec<u32>> {
        match self.ask_for(Task::Clustering, "clusters", rows)? {
            prediction @ (Prediction::Clusters { .. } | Prediction::Responsibilities { .. }) => Ok(prediction.labels()),
            _ => Err(self.predicts_other("clusters")),
        }
    }

    /// Asks after a look at the task: a model of another one need not work in vain.
    fn ask_for(&self, task: Task, what: &str, rows: &(impl Queries + ?Sized)) -> Result<Prediction> {
        if self.task() == task { self.predict(rows) } else { Err(self.predicts_other(what)) }
    }

    fn predicts_other(&self, what: &str) -> Error {
        let (says, remedy) = match self.task() {
            Task::Classification => ("classes", "Ask for labels or probabilities."),
            Task::Regression => ("numbers", "Ask for numbers or outputs."),
            Task::Clustering => ("groups of rows", "Ask for clusters, or ask the fitted method."),
        };
        Error::data(format!("the model predicts {says}, not {what}"), remedy)
    }
}
