//! A trained model: encoder, fitted method, and what a user wants to know of both, in one value that can be saved.
//!
//! [`Fit`] makes one of rows of numbers, and [`Model::train`] of a table, in one call: take the target out, learn the encoder,
//! fit. The file format is in `file.rs`: one safetensors file that runs no code when it is opened.

#[cfg(feature = "tables")]
mod answers;
mod explain;
#[cfg(feature = "save")]
mod file;
mod fit;
#[cfg(feature = "tables")]
mod impute;
#[cfg(feature = "tables")]
mod members;
#[cfg(feature = "tables")]
mod profile;
#[cfg(feature = "save")]
mod replace;
#[cfg(feature = "save")]
mod report;
#[cfg(feature = "tables")]
mod request;
#[cfg(feature = "tables")]
mod table;

#[cfg(feature = "tables")]
pub use answers::{AnswerColumn, AnswerValues};
pub use explain::SampledRows;
#[cfg(feature = "save")]
pub use file::FORMAT;
pub use fit::{Fit, Prepared, Queries};
#[cfg(feature = "tables")]
pub use impute::ImputedCell;
#[cfg(feature = "tables")]
pub use members::Members;
#[cfg(feature = "tables")]
pub use profile::{ClusterProfiles, Profile, Typical};
#[cfg(feature = "save")]
pub use replace::replace_file;

use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::learn::{
    Classes, DynLearner, Examples, ExamplesDigest, Fitted, Learner, Method, Prediction, SavedParts, Target, TargetView,
    Task,
};
use crate::matrix::{Features, Matrix};
use crate::run::{Report, Run};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// A trained model.
///
/// ```
/// use quince::prelude::*;
/// let rows = [[1.0], [2.0], [3.0], [4.0]];
/// let model = Ridge::default().fit(&rows, &[2.1, 3.9, 6.2, 7.8])?;
/// assert!(model.numbers(&[[2.5]])?[0] > 4.0);
/// # #[cfg(feature = "save")] {
/// let again = Model::from_bytes(&model.to_bytes())?; // with the feature `save`
/// assert_eq!(model.predict(&rows)?, again.predict(&rows)?);
/// # }
/// # quince::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct Model {
    pub(crate) method: Method,
    pub(crate) settings: Value,
    pub(crate) target: String,
    pub(crate) task: Task,
    /// Whether the settings ask for probabilities, where classes are predicted.
    pub(crate) has_probabilities: bool,
    /// Empty unless the task is classification.
    pub(crate) classes: Option<Classes>,
    pub(crate) encoder: Encoder,
    /// Shared by clones: what is fitted does not change.
    pub(crate) fitted: Arc<dyn Fitted>,
    pub(crate) report: Report,
    pub(crate) seed: u64,
    pub(crate) rows: usize,
    /// The rows of the table that it was trained on, for methods that can be resumed.
    pub(crate) digest: Option<ExamplesDigest>,
    /// What a caller (the Python package) keeps with the model.
    pub(crate) notes: Value,
}

impl Model {
    /// The method of the model with its settings, some of which are given again.
    pub fn learner(&self, given: &Value) -> Result<Box<dyn DynLearner>> {
        let mut settings = self.settings.clone();
        if let (Value::Object(settings), Value::Object(given)) = (&mut settings, given) {
            settings.extend(given.clone());
        }
        self.method.configure(&settings)
    }

    /// Learns from features (the identity encoder).
    pub fn fit_features(
        features: &Features<'_>,
        target: &Target,
        weights: Option<&[f64]>,
        learner: &dyn DynLearner,
        run: &Run,
    ) -> Result<Model> {
        Model::fit_examples(&Examples::new(*features, target, weights)?, learner, run)
    }

    fn fit_examples(examples: &Examples<'_>, learner: &dyn DynLearner, run: &Run) -> Result<Model> {
        let (features, target) = (&examples.features, examples.target);
        let (fitted, report) = learner.fit_dyn(examples, run)?;
        Model::from_fitted(learner, (features, target), fitted, report, run)
    }

    /// Makes a model of features (the identity encoder) and a method that was fitted to them already. An error if another
    /// method was.
    pub fn from_fitted(
        learner: &dyn DynLearner,
        (features, target): (&Features<'_>, &Target),
        fitted: Arc<dyn Fitted>,
        report: Report,
        run: &Run,
    ) -> Result<Model> {
        if !learner.learns(fitted.as_ref()) {
            return Err(other_method(learner.method().info.name));
        }
        let classes = match target.view() {
            TargetView::Classes { classes, .. } => Some(classes.clone()),
            TargetView::Numbers(_) | TargetView::None(_) => None,
        };
        Ok(Model {
            method: learner.method(),
            settings: learner.settings(),
            target: "y".into(),
            task: target.task(),
            has_probabilities: learner.has_probabilities_dyn(),
            classes,
            encoder: Encoder::identity(features.columns()),
            fitted,
            report,
            seed: run.seed_value(),
            rows: target.rows(),
            digest: None,
            notes: Value::Null,
        })
    }

    /// A model of known parameters, without any rows: `columns` features, and classes if it predicts those.
    ///
    /// ```
    /// use quince::cluster::KMeansModel;
    /// use quince::prelude::*;
    /// let centres = KMeansModel::from_centres(Matrix::from_rows(&[[0.0, 0.0], [9.0, 9.0]]))?;
    /// let model = Model::known(&KMeans::new(2), centres, 2, None)?;
    /// assert_eq!(model.clusters(&[[1.0, 0.0], [8.0, 9.0]])?, [0, 1]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn known<L: Learner>(
        learner: &L,
        fitted: L::Fitted,
        columns: usize,
        classes: Option<Classes>,
    ) -> Result<Model> {
        if u32::try_from(columns).is_err() {
            return Err(Error::shape(format!("{columns} features cannot be numbered"), "Use fewer than 4 billion."));
        }
        let target = target_of(&fitted, columns, classes)?;
        let nothing = Matrix::zeros(1, columns);
        let report = Report::computed("parameters that were given");
        Model::from_fitted(learner, (&nothing.features(), &target), Arc::new(fitted), report, &Run::new())
    }

    /// The same model with other parameters of the same method.
    pub fn with_fitted<F: Fitted>(&self, fitted: F) -> Result<Model> {
        if self.fitted::<F>().is_none() {
            return Err(other_method(self.method.info.name));
        }
        if target_of(&fitted, self.encoder.width(), self.classes.clone())?.task() != self.task {
            return Err(Error::data("the parameters are of another task", "Give those of a model of the same task."));
        }
        let report = Report::computed("parameters that were given");
        Ok(Model { fitted: Arc::new(fitted), report, digest: None, ..self.clone() })
    }

    /// A model that goes on from this one with other rows, which are encoded already: for methods such as stochastic gradient
    /// descent, for which they need not be those that it was trained on.
    pub fn continued(&self, more: &Examples<'_>, learner: &dyn DynLearner, run: &Run) -> Result<Model> {
        self.check_same_classes(more.target)?;
        let (fitted, report) = learner.resume_dyn(self.fitted.as_ref(), more, run)?.ok_or_else(|| {
            let problem = format!("'{}' cannot go on from where a fit has ended", self.method.info.name);
            Error::data(problem, "Train it again.")
        })?;
        let model = Model::from_fitted(learner, (&more.features, more.target), fitted, report, run)?;
        Ok(Model { encoder: self.encoder.clone(), target: self.target.clone(), ..model })
    }

    /// An error unless a target has the classes of the model, in the same order.
    pub(super) fn check_same_classes(&self, target: &Target) -> Result<()> {
        let classes = match target.view() {
            TargetView::Classes { classes, .. } => Some(classes),
            TargetView::Numbers(_) | TargetView::None(_) => None,
        };
        if classes == self.classes.as_ref() {
            return Ok(());
        }
        let known = self.class_names().join(", ");
        let problem = if known.is_empty() {
            "the model has no classes".into()
        } else {
            format!("the model's classes are {known}")
        };
        Err(Error::data(problem, "Give rows whose target has the same classes, in the same order."))
    }

    /// The model updated with more rows, which are encoded already: for methods with sufficient statistics.
    pub fn updated(&self, more: &Examples<'_>, run: &Run) -> Result<Model> {
        self.check_same_classes(more.target)?;
        let fitted = self.fitted.updated(more, run)?.ok_or_else(|| {
            Error::data(format!("'{}' cannot learn on", self.method.info.name), "Train it again on all rows.")
        })?;
        // What the first fit said of its answer is not true of this one.
        let (before, rows) = (self.rows, more.target.rows());
        let mut report = Report::computed(format!("{before} rows, and {rows} more"));
        report.remarks = fitted.remarks(self.class_names());
        Ok(Model { report, fitted, rows: before + rows, digest: None, ..self.clone() })
    }

    /// Predicts for features that are encoded already.
    pub fn predict_features(&self, features: &Features<'_>, run: &Run) -> Result<Prediction> {
        features.check_columns(self.encoder.width())?;
        let prediction = self.fitted.predict(features, run)?;
        self.check_prediction(&prediction, features.rows())?;
        Ok(prediction.with_probabilities_if(self.has_probabilities()))
    }

    /// Whether the model gives probabilities of classes, and not only scores.
    pub fn has_probabilities(&self) -> bool {
        self.task == Task::Classification && self.has_probabilities
    }

    /// An error unless a prediction is of as many rows as were asked about, and of the classes of the model: a user's own method, or
    /// parameters that somebody put together, may say anything.
    fn check_prediction(&self, prediction: &Prediction, rows: usize) -> Result<()> {
        let fits = match prediction {
            Prediction::Classes { scores, probabilities } => {
                let classes = self.classes.as_ref().map_or(0, Classes::count);
                let shapes = [scores, probabilities].map(|matrix| (matrix.rows(), matrix.columns()));
                shapes == [(rows, classes); 2]
            }
            Prediction::Clusters { labels, distances } => {
                let clusters = distances.columns();
                distances.rows() == rows && labels.iter().all(|&label| (label as usize) < clusters)
            }
            Prediction::Responsibilities { responsibilities, log_densities } => {
                responsibilities.rows() == log_densities.len() && responsibilities.columns() > 0
            }
            Prediction::Numbers(_) | Prediction::Novelty { .. } => true,
        };
        if fits && prediction.rows() == rows {
            return Ok(());
        }
        Err(Error::shape(
            format!("'{}' does not predict what the model is of", self.method.info.name),
            "Join a method only with the classes that it was fitted to.",
        ))
    }

    /// The predicted labels in words; none where the model knows no classes.
    pub fn label_names(&self, prediction: &Prediction) -> Result<Vec<&str>> {
        let Some(names) = self.classes.as_ref().map(Classes::names) else { return Ok(Vec::new()) };
        let name = |code: u32| names.get(code as usize).map(String::as_str);
        prediction.labels().into_iter().map(name).collect::<Option<_>>().ok_or_else(|| {
            Error::data("the prediction has classes that the model does not know", "Ask the model that predicted them.")
        })
    }

    /// The numbers of the fitted method, as named arrays: what its file holds.
    pub fn parts(&self) -> SavedParts<'static> {
        let mut parts = SavedParts::default();
        self.fitted.save(&mut parts);
        parts
    }

    /// What the method has learnt, if it is of that type: `model.fitted::<KMeansModel>()`.
    ///
    /// ```
    /// use quince::cluster::KMeansModel;
    /// use quince::prelude::*;
    /// let model = KMeans::new(1).fit_unsupervised(&[[1.0], [3.0]])?;
    /// assert_eq!(model.fitted::<KMeansModel>().unwrap().centres().values(), [2.0]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn fitted<F: Fitted>(&self) -> Option<&F> {
        (&*self.fitted as &dyn Any).downcast_ref()
    }

    /// The method's registry entry.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The method's settings.
    pub fn settings(&self) -> &Value {
        &self.settings
    }

    /// The name of the column that was learnt.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Classes or numbers.
    pub fn task(&self) -> Task {
        self.task
    }

    /// The class labels, if the target is classes.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// How columns become features.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// What the fit said about itself.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The seed of the run that trained it.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of rows it was trained on.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What a caller keeps with the model.
    pub fn notes(&self) -> &Value {
        &self.notes
    }

    /// Names the columns of the matrix that the model was trained on, so that it finds them in a table.
    pub fn name_columns(&mut self, names: Vec<String>) -> Result<()> {
        if !self.encoder.is_identity() || names.len() != self.encoder.width() {
            return Err(Error::data(
                format!("{} names do not name the {} columns of a matrix", names.len(), self.encoder.width()),
                "Give every column of the matrix one name.",
            ));
        }
        self.encoder = Encoder::identity_of(names);
        Ok(())
    }

    /// Remembers something with the model.
    pub fn set_notes(&mut self, notes: Value) {
        self.notes = notes;
    }
}

fn other_method(method: &str) -> Error {
    let problem = format!("the parameters are not of the method '{method}'");
    Error::data(problem, "Give those of a model of the same method.")
}

/// A target without rows, of what a fitted method predicts; an error if its labels are not given, or given in vain.
fn target_of(fitted: &impl Fitted, columns: usize, classes: Option<Classes>) -> Result<Target> {
    let nothing = Matrix::zeros(1, columns);
    match (fitted.predict(&nothing.features(), &Run::new())?, classes) {
        (Prediction::Classes { scores, .. }, Some(classes)) if scores.columns() == classes.count() => {
            Target::classes(classes, Vec::new())
        }
        (Prediction::Classes { scores, .. }, _) => {
            let problem = format!("the parameters are of {} classes", scores.columns());
            Err(Error::shape(problem, "Give each of them a label."))
        }
        (_, Some(_)) => Err(Error::data("the parameters are of no classes", "Give no labels.")),
        (Prediction::Numbers(numbers), None) => Target::numbers(Matrix::zeros(0, numbers.columns())),
        (_, None) => Ok(Target::none(0)),
    }
}
