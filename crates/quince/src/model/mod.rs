//! A trained model: encoder, fitted method, and what a user wants to know of both, in one value that can be saved.
//!
//! [`Model::train`] does it all in one call: take the target out, learn the encoder, fit. The file format is in
//! `file.rs`: one safetensors file that runs no code when it is opened.

mod explain;
mod file;
mod fit;
mod request;

pub use file::{FORMAT, replace_file};
pub use fit::{Fit, Prepared, Queries};

pub use explain::{ImputedCell, SampledRows};

use crate::encode::{Encoder, MissingValues};
use crate::error::{Error, Result};
use crate::learn::{
    Capability, Classes, DynLearner, Examples, ExamplesDigest, Fitted, Learner, Method, Parts, Prediction, Target,
    TargetView, Task, named,
};
use crate::matrix::{Features, Matrix, Rows};
use crate::numbers::number_text;
use crate::run::{Report, Run};
use crate::table::kind::yes_or_no;
use crate::table::{Cells, Field, Kind, Labelled, ReadOptions, Table};
use serde_json::Value;
use std::any::Any;
use std::path::Path;
use std::sync::Arc;

/// A trained model.
///
/// ```
/// use quince::{Model, Run, Table, linear::Ridge};
/// let table = Table::from_csv("x,y\n1,2.1\n2,3.9\n3,6.2\n4,7.8\n")?;
/// let model = Model::train(&table, "y", &Ridge::default())?;
/// let bytes = model.to_bytes();
/// let again = Model::from_bytes(&bytes)?;
/// assert_eq!(model.predict(&table)?, again.predict(&table)?);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct Model {
    pub(crate) method: Method,
    pub(crate) settings: Value,
    pub(crate) target: String,
    pub(crate) task: Task,
    /// Empty unless the task is classification.
    pub(crate) classes: Option<Classes>,
    pub(crate) encoder: Encoder,
    /// Shared by clones: what is fitted does not change.
    pub(crate) fitted: Arc<dyn Fitted>,
    pub(crate) report: Report,
    pub(crate) seed: u64,
    pub(crate) rows: usize,
    /// What it was trained on, for methods that can be resumed.
    pub(crate) digest: Option<ExamplesDigest>,
    /// What a caller (the Python package) keeps with the model.
    pub(crate) notes: Value,
}

impl Model {
    /// Learns column `target` of a table from all its other columns.
    pub fn train(table: &Table, target: &str, learner: &dyn DynLearner) -> Result<Model> {
        Model::train_with(table, target, learner, &Run::new())
    }

    /// As [`Model::train`], with a seed, threads, a budget and the like.
    pub fn train_with(table: &Table, target: &str, learner: &dyn DynLearner, run: &Run) -> Result<Model> {
        Model::fit(&table.labelled(target, None)?, None, learner, run)
    }

    /// Learns from rows whose target has been taken out already.
    pub fn fit(labelled: &Labelled, weights: Option<&[f64]>, learner: &dyn DynLearner, run: &Run) -> Result<Model> {
        let encode = || Encoder::fit_for(learner.info(), &labelled.table, Some(&labelled.target), run);
        let (encoder, rows) = named(encode(), learner.info().name)?;
        let examples = Examples::new(rows.features(), &labelled.target, weights)?.encoded_by(&encoder);
        let mut model = Model::fit_examples(&examples, learner, run)?;
        model.encoder = encoder;
        model.target = labelled.name.clone();
        Ok(model)
    }

    /// The method of the model with its settings, some of which are given again.
    pub fn learner(&self, given: &Value) -> Result<Box<dyn DynLearner>> {
        let mut settings = self.settings.clone();
        if let (Value::Object(settings), Value::Object(given)) = (&mut settings, given) {
            settings.extend(given.clone());
        }
        self.method.configure(&settings)
    }

    /// The model after further training from where it ended: for methods that a budget may cut short. The rows must be
    /// those that it was trained on.
    pub fn resumed(
        &self,
        labelled: &Labelled,
        weights: Option<&[f64]>,
        learner: &dyn DynLearner,
        run: &Run,
    ) -> Result<Model> {
        let classes = match labelled.target.view() {
            TargetView::Classes { classes, .. } => Some(classes),
            TargetView::Numbers(_) | TargetView::None(_) => None,
        };
        if labelled.target.rows() != self.rows || classes != self.classes.as_ref() {
            let problem = "the model was trained on other rows";
            return Err(Error::data(problem, "Give the table that it was trained on, or train again."));
        }
        let rows = self.encode(&labelled.table, run)?;
        let examples = Examples::new(rows.features(), &labelled.target, weights)?.encoded_by(&self.encoder);
        self.check_same_examples(&examples, run)?;
        let (fitted, report) = learner.resume_dyn(self.fitted.as_ref(), &examples, run)?.ok_or_else(|| {
            let problem = format!("'{}' cannot go on from where a fit has ended", self.method.info.name);
            Error::data(problem, "Train it again.")
        })?;
        let mut model = Model::from_fitted(learner, (&rows.features(), &labelled.target), fitted, report, run)?;
        (model.encoder, model.target) = (self.encoder.clone(), self.target.clone());
        model.digest = self.digest.clone();
        Ok(model)
    }

    /// An error unless these are the examples that the model was trained on, as far as it knows.
    fn check_same_examples(&self, examples: &Examples<'_>, run: &Run) -> Result<()> {
        let Some(before) = &self.digest else { return Ok(()) };
        let now = examples.digest(run);
        if before.rows != now.rows {
            let problem = "the model was trained on other rows";
            return Err(Error::data(problem, "Give the table that it was trained on, or train again."));
        }
        if before.weights != now.weights {
            let problem = "the model was trained with other weights of rows";
            return Err(Error::data(problem, "Give the weights that it was trained with, or train again."));
        }
        Ok(())
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
        let mut model = Model::from_fitted(learner, (features, target), fitted, report, run)?;
        model.digest = learner.resumes().then(|| examples.digest(run));
        Ok(model)
    }

    /// Makes a model of features (the identity encoder) and a method that was fitted to them already.
    pub fn from_fitted(
        learner: &dyn DynLearner,
        (features, target): (&Features<'_>, &Target),
        fitted: Arc<dyn Fitted>,
        report: Report,
        run: &Run,
    ) -> Result<Model> {
        let classes = match target.view() {
            TargetView::Classes { classes, .. } => Some(classes.clone()),
            TargetView::Numbers(_) | TargetView::None(_) => None,
        };
        Ok(Model {
            method: learner.method(),
            settings: learner.settings(),
            target: "y".into(),
            task: target.task(),
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
        let nothing = Matrix::zeros(1, columns);
        let target = match (fitted.predict(&nothing.features(), &Run::new())?, classes) {
            (Prediction::Classes { scores, .. }, Some(classes)) if scores.columns() == classes.count() => {
                Target::classes(classes, Vec::new())?
            }
            (Prediction::Classes { scores, .. }, _) => {
                let problem = format!("the parameters are of {} classes", scores.columns());
                return Err(Error::shape(problem, "Give each of them a label."));
            }
            (_, Some(_)) => return Err(Error::data("the parameters are of no classes", "Give no labels.")),
            (Prediction::Numbers(numbers), None) => Target::numbers(Matrix::zeros(0, numbers.columns()))?,
            (_, None) => Target::none(0),
        };
        let report = Report::computed("parameters that were given");
        Model::from_fitted(learner, (&nothing.features(), &target), Arc::new(fitted), report, &Run::new())
    }

    /// The model updated with more rows, which are encoded already: for methods with sufficient statistics.
    pub fn updated(&self, more: &Examples<'_>, run: &Run) -> Result<Model> {
        let fitted = self.fitted.updated(more, run)?.ok_or_else(|| {
            Error::data(format!("'{}' cannot learn on", self.method.info.name), "Train it again on all rows.")
        })?;
        Ok(Model {
            report: Report { remarks: fitted.remarks(self.class_names()), ..self.report.clone() },
            fitted,
            rows: self.rows + more.target.rows(),
            digest: None,
            ..self.clone()
        })
    }

    /// Reads a file as the model knows its columns, so that `007` stays the category it was in training.
    pub fn read_table(&self, path: impl AsRef<Path>) -> Result<Table> {
        Ok(self.read_cells(path, ReadOptions::default(), false, &Run::new())?.1)
    }

    /// As [`Model::read_table`], with some things given; the cells come along. `with_target` reads the target too, as the model
    /// knows it.
    pub fn read_cells(
        &self,
        path: impl AsRef<Path>,
        mut options: ReadOptions,
        with_target: bool,
        run: &Run,
    ) -> Result<(Cells, Table)> {
        if let Some(learnt) = self.encoder.pictures().filter(|_| path.as_ref().is_dir()) {
            let given = options.pictures.replace(learnt).unwrap_or(learnt);
            if given != learnt {
                return Err(Error::data(
                    format!("the model learnt from pictures as {learnt}, and these should be {given}"),
                    "Leave out what becomes of pictures: the model remembers it.",
                ));
            }
        }
        let mut cells = Cells::read(path, &options, run)?;
        options.kinds = self.kinds(cells.names().iter().map(String::as_str), with_target);
        let table = cells.table(&options, run)?;
        Ok((cells, table))
    }

    /// The features of a table's rows, as the model sees them.
    pub fn encode(&self, table: &Table, run: &Run) -> Result<Rows> {
        self.encoder.encode(table, MissingValues::for_method(self.method.info), run)
    }

    /// Predicts for features that are encoded already.
    pub fn predict_features(&self, features: &Features<'_>, run: &Run) -> Result<Prediction> {
        if features.columns() != self.encoder.width() {
            return Err(Error::shape(
                format!("the rows have {} features, the model has {}", features.columns(), self.encoder.width()),
                "Give the same columns as in training.",
            ));
        }
        self.fitted.predict(features, run)
    }

    /// Which of these columns the model learnt from, and the kinds to read them as; `with_target` adds the target, which a
    /// table to predict for may hold in any shape.
    pub fn kinds<'a>(&self, names: impl IntoIterator<Item = &'a str>, with_target: bool) -> Vec<(String, Kind)> {
        let target = |name: &str| (with_target && name == self.target).then(|| self.target_kind());
        let kind = |name: &str| target(name).or_else(|| self.encoder.kind(name));
        names.into_iter().filter_map(|name| Some((name.to_string(), kind(name)?))).collect()
    }

    fn target_kind(&self) -> Kind {
        if self.task == Task::Regression { Kind::Number } else { Kind::Category }
    }

    /// The target of the rows that have one, in the model's classes, and which rows those are.
    pub fn truth(&self, table: &Table) -> Result<(Target, Vec<usize>)> {
        if self.task == Task::Clustering {
            let what = if self.method.info.can(Capability::Novelty) { "novel rows" } else { "clusters" };
            let problem = format!("the model finds {what}, and there is no target to measure it by");
            return Err(Error::data(problem, "Use quince predict to see what it says of each row."));
        }
        let column = table.column(&self.target)?.as_kind(self.target_kind(), table)?;
        let rows: Vec<usize> = (0..table.rows()).filter(|&i| !column.is_missing(i)).collect();
        if rows.is_empty() {
            let problem = format!("no row has a '{}'", self.target);
            return Err(Error::data(problem, "Evaluate on rows whose target is known."));
        }
        let Some(classes) = &self.classes else {
            let numbers = rows.iter().filter_map(|&i| column.number(i)).collect();
            return Ok((Target::numbers(Matrix::column_vector(numbers))?, rows));
        };
        let code = |&i: &usize| {
            let label = column.text(i).unwrap_or_default();
            self.class_of(&label).ok_or_else(|| {
                let remedy = format!("The model's classes are {}.", classes.names().join(", "));
                Error::table(
                    table.place(i, &self.target),
                    format!("the model does not know the label '{label}'"),
                    remedy,
                )
            })
        };
        let codes = rows.iter().map(code).collect::<Result<_>>()?;
        Ok((Target::classes(classes.clone(), codes)?, rows))
    }

    /// The class that a label means, which may be written in another way: 1.0 for 1, YES for yes.
    fn class_of(&self, label: &str) -> Option<u32> {
        let classes = self.classes.as_ref()?;
        let as_number = || classes.code(&number_text(label.parse::<f64>().ok()?));
        let as_answer = || {
            let answers: Option<Vec<bool>> = classes.names().iter().map(|name| yes_or_no(name)).collect();
            let answer = yes_or_no(label)?;
            answers.filter(|a| a.len() == 2)?.iter().position(|a| *a == answer).map(|code| code as u32)
        };
        classes.code(label).or_else(as_number).or_else(as_answer)
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
    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        self.fitted.save(&mut parts);
        parts
    }

    /// What the method has learnt, if it is of that type: `model.fitted::<KMeansModel>()`.
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

    /// The columns that a table must have.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.encoder.fields()
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
