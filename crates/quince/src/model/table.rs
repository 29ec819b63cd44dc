//! Models of tables: training, reading a file as the model knows its columns, and the truth to measure answers by.

use super::{Model, Queries};
use crate::encode::{Encoder, MissingValues};
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::learn::{Capability, DynLearner, Examples, Input, Target, TargetView, Task, named};
use crate::matrix::{Matrix, Rows};
use crate::run::Run;
use crate::table::kind::yes_or_no;
use crate::table::{Cells, Column, Field, Kind, Labelled, ReadOptions, Table};
use std::path::Path;

impl Model {
    /// Learns column `target` of a table from all its other columns.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let table = Table::from_csv("size,colour,price\n1,red,2.1\n2,red,3.9\n3,blue,6.2\n4,blue,7.8\n")?;
    /// let model = Model::train(&table, "price", &Baseline::default())?;
    /// // Rows to predict for may lack columns that say nothing, and have theirs in any order.
    /// let mean = model.numbers(&Table::from_csv("colour,size\nblue,9\n")?)?[0];
    /// assert!((mean - 5.0).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
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
        let examples = Examples::new(rows.features(), &labelled.target, weights)?.encoded_by(&encoder)?;
        let fitted = Model::fit_examples(&examples, learner, run);
        let mut model = fitted.map_err(|error| with_extreme_columns(error, &labelled.table))?;
        model.digest = learner.resumes().then(|| examples.digest(run));
        model.encoder = encoder;
        model.target = labelled.name.clone();
        Ok(model)
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
        let examples = Examples::new(rows.features(), &labelled.target, weights)?.encoded_by(&self.encoder)?;
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
        let table = cells.table(&options, run).map_err(|error| remembered_kind(error, &options.kinds))?;
        Ok((cells, table))
    }

    /// The features of a table's rows, as the model sees them.
    pub fn encode(&self, table: &Table, run: &Run) -> Result<Rows> {
        self.encoder.encode(table, MissingValues::for_method(self.method.info), run)
    }

    /// What spoke for the answer to one row of a table, counted from 0.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let table = Table::from_csv("x,y\n1,a\n2,a\n3,a\n8,b\n9,b\n7,b\n")?;
    /// let model = Model::train(&table, "y", &NaiveBayes::default())?;
    /// let said = model.explain_row(&table, 3, &Run::new())?;
    /// assert!(said.sentences[0].starts_with("The row is classified as b"));
    /// # quince::Result::Ok(())
    /// ```
    pub fn explain_row(&self, table: &Table, row: usize, run: &Run) -> Result<Explanation> {
        table.check_rows(&[row])?;
        self.explain_features(&self.encode(&table.take(&[row]), run)?.features())
    }

    /// Which of these columns the model learnt from, and the kinds to read them as; `with_target` adds the target, which a
    /// table to predict for may hold in any shape.
    pub fn kinds<'a>(&self, names: impl IntoIterator<Item = &'a str>, with_target: bool) -> Vec<(String, Kind)> {
        let target = |name: &str| (with_target && name == self.target).then(|| self.target_kind());
        let kind = |name: &str| target(name).or_else(|| self.encoder.kind(name));
        names.into_iter().filter_map(|name| Some((name.to_string(), kind(name)?))).collect()
    }

    pub(super) fn target_kind(&self) -> Kind {
        if self.task == Task::Regression { Kind::Number } else { Kind::Category }
    }

    /// The target of the rows that have one, in the model's classes, and which rows those are.
    pub fn truth(&self, table: &Table) -> Result<(Target, Vec<usize>)> {
        if self.task == Task::Clustering {
            let what = if self.method.info.can(Capability::Novelty) { "novel rows" } else { "clusters" };
            let problem = format!("the model finds {what}, and there is no target to measure it by");
            return Err(Error::data(problem, "Predict, to see what it says of each row."));
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
    pub(super) fn class_of(&self, label: &str) -> Option<u32> {
        let classes = self.classes.as_ref()?;
        let as_answer = || {
            let answers: Option<Vec<bool>> = classes.names().iter().map(|name| yes_or_no(name)).collect();
            let answer = yes_or_no(label)?;
            answers.filter(|a| a.len() == 2)?.iter().position(|a| *a == answer).map(|code| code as u32)
        };
        classes.code_of_spelling(label).or_else(as_answer)
    }

    /// The columns that a table must have.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.encoder.fields()
    }
}

impl Queries for Table {
    fn encoded_for(&self, model: &Model, run: &Run) -> Result<Input<'_>> {
        Ok(Input::Owned(model.encode(self, run)?))
    }
}

/// An error about sums that overflow, with the columns of the numbers that make them.
fn with_extreme_columns(error: Error, table: &Table) -> Error {
    const EXTREME: f64 = 1e150;
    let Error::Data { problem, remedy } = error else { return error };
    if !problem.ends_with("overflow") {
        return Error::Data { problem, remedy };
    }
    let is_extreme = |column: &&Column| (0..column.rows()).any(|i| column.number(i).is_some_and(|x| x.abs() > EXTREME));
    let names: Vec<String> =
        table.columns().iter().filter(is_extreme).take(5).map(|column| format!("'{}'", column.name())).collect();
    match names.is_empty() {
        true => Error::Data { problem, remedy },
        false => Error::Data { problem: format!("{problem}, by numbers above 1e150 in {}", names.join(", ")), remedy },
    }
}

/// An error about a cell that would advise another kind: the kind is the model's.
fn remembered_kind(error: Error, kinds: &[(String, Kind)]) -> Error {
    match error {
        Error::Table { place, problem, remedy } if remedy.contains("kind") => {
            let kind = kinds.iter().find(|(name, _)| place.column.as_ref() == Some(name)).map(|(_, kind)| *kind);
            let remedy = match kind {
                Some(kind) => {
                    format!("Mend the cell or leave it empty: the model knows the column as one of kind {kind}.")
                }
                None => remedy,
            };
            Error::Table { place, problem, remedy }
        }
        other => other,
    }
}
