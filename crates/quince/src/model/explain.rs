//! What a model says about itself: its parameters, why it answered as it did, and rows that it samples.

use super::Model;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::learn::{Classes, Imputed, SampledRow, Task};
use crate::matrix::Features;
use crate::run::Run;

/// Rows sampled from a model: names of columns, and cells.
///
/// ```
/// use quince::prelude::*;
/// let model = NaiveBayes::default().fit(&[[1.0], [2.0], [8.0], [9.0]], &["a", "a", "b", "b"])?;
/// let sampled = model.sample(3, Some("b"), &Run::new())?;
/// assert!(sampled.rows.len() == 3 && sampled.rows.iter().all(|row| row.last().is_some_and(|class| class == "b")));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SampledRows {
    /// The columns, the target last.
    pub names: Vec<String>,
    /// Cells, row after row.
    pub rows: Vec<Vec<String>>,
}

impl Model {
    /// Features that are encoded already, with their missing values imputed.
    pub fn impute_features(&self, rows: &Features<'_>, run: &Run) -> Result<Imputed> {
        self.fitted.impute(rows, None, run)?.ok_or_else(|| self.cannot("impute missing values"))
    }

    pub(super) fn class_names(&self) -> &[String] {
        self.classes.as_ref().map_or(&[], Classes::names)
    }

    /// The method does not do this; generative ones do.
    pub(super) fn cannot(&self, what: &str) -> Error {
        Error::data(format!("'{}' cannot {what}", self.method.info.name), "naive-bayes, gaussian and mixture can.")
    }

    fn cannot_explain(&self, what: &str) -> Error {
        let remedy = "naive-bayes, gaussian, nearest-centroid, mixture, svm and linear-svm can.";
        Error::data(format!("'{}' cannot explain {what}", self.method.info.name), remedy)
    }

    /// What the model has learnt, as a person reads it.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = NaiveBayes::default().fit(&[[1.0], [2.0], [8.0]], &["a", "a", "b"])?;
    /// let classes = &model.explain()?.tables[0];
    /// assert_eq!((classes.title.as_str(), classes.rows[0].0.as_str()), ("Classes", "a"));
    /// # quince::Result::Ok(())
    /// ```
    pub fn explain(&self) -> Result<Explanation> {
        self.fitted
            .explain(&self.encoder, self.class_names())
            .ok_or_else(|| self.cannot_explain("what it has learnt yet"))
    }

    /// What spoke for the answer to the first of some rows that are encoded already.
    pub fn explain_features(&self, row: &Features<'_>) -> Result<Explanation> {
        if row.rows() == 0 || row.columns() != self.encoder.width() {
            return Err(Error::shape(
                format!(
                    "{} rows of {} features are given to explain one of {}",
                    row.rows(),
                    row.columns(),
                    self.encoder.width()
                ),
                "Give the row as the model's encoder makes it.",
            ));
        }
        let said = self.fitted.explain_row(row, &self.encoder, self.class_names())?;
        said.ok_or_else(|| self.cannot_explain("its answers yet"))
    }

    /// Samples rows from the model; of one class only, if that is given.
    pub fn sample(&self, count: usize, class: Option<&str>, run: &Run) -> Result<SampledRows> {
        let code = match class {
            None => None,
            Some(name) if self.task == Task::Clustering => {
                let known = self.fitted.groups();
                let group = name.parse().ok().filter(|group| (1..=known).contains(group));
                Some(
                    group.ok_or_else(|| {
                        Error::data(
                            format!("the model has no component '{name}'"),
                            format!("Give a number from 1 to {known}."),
                        )
                    })? - 1,
                )
            }
            Some(name) => Some(self.class_names().iter().position(|other| other == name).ok_or_else(|| {
                let remedy = format!("The model's classes are {}.", self.class_names().join(", "));
                Error::data(format!("the model does not know the class '{name}'"), remedy)
            })?),
        };
        let drawn = self.fitted.sample(count, code, run)?.ok_or_else(|| self.cannot("sample rows"))?;
        let mut names: Vec<String> = self.encoder.column_names().collect();
        let mut last = self.target.clone();
        while names.contains(&last) {
            last.push('_');
        }
        names.push(last);
        let row = |drawn: &SampledRow| {
            let mut cells = self.encoder.decode(drawn);
            let number = || (drawn.class + 1).to_string();
            cells.push(match self.task {
                Task::Clustering => number(),
                _ => self.class_names().get(drawn.class).cloned().unwrap_or_default(),
            });
            cells
        };
        Ok(SampledRows { names, rows: drawn.iter().map(row).collect() })
    }
}
