//! What a model says about itself: its parameters, why it answered as it did, and rows it makes up.

use super::Model;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::learn::Classes;
use crate::matrix::Features;
use crate::run::Run;
use crate::table::Table;

/// Rows that a model has made up: names of columns, and cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The columns, the target last.
    pub names: Vec<String>,
    /// Cells, row after row.
    pub rows: Vec<Vec<String>>,
}

impl Model {
    pub(super) fn class_names(&self) -> &[String] {
        self.classes.as_ref().map_or(&[], Classes::names)
    }

    fn cannot(&self, what: &str) -> Error {
        Error::data(
            format!("'{}' cannot {what}", self.method.card.name),
            "naive-bayes and gaussian can; see `quince models`.",
        )
    }

    /// What the model has learnt, as a person reads it.
    pub fn explain(&self) -> Result<Explanation> {
        self.fitted
            .explain(&self.encoder, self.class_names())
            .ok_or_else(|| self.cannot("explain what it has learnt yet"))
    }

    /// What spoke for the answer to one row of a table.
    pub fn explain_row(&self, table: &Table, row: usize, run: &Run) -> Result<Explanation> {
        if row >= table.rows() {
            let problem = format!("there is no row {}: the table has {}", row + 1, table.rows());
            return Err(Error::data(problem, "Rows are counted from 1, without the header."));
        }
        self.explain_features(&self.encode(&table.take(&[row]), run)?.features())
    }

    /// What spoke for the answer to the first of some rows that are encoded already.
    pub fn explain_features(&self, row: &Features<'_>) -> Result<Explanation> {
        let said = self.fitted.explain_row(row, &self.encoder, self.class_names())?;
        said.ok_or_else(|| self.cannot("explain its answers yet"))
    }

    /// Makes up rows as the model believes rows come about; of one class only, if that is given.
    pub fn sample(&self, count: usize, class: Option<&str>, run: &Run) -> Result<Made> {
        let code = match class {
            None => None,
            Some(name) => Some(self.class_names().iter().position(|other| other == name).ok_or_else(|| {
                let remedy = format!("The model's classes are {}.", self.class_names().join(", "));
                Error::data(format!("the model does not know the class '{name}'"), remedy)
            })?),
        };
        let drawn = self.fitted.sample(count, code, run)?.ok_or_else(|| self.cannot("make up rows"))?;
        let mut names: Vec<String> = self.encoder.fields().map(|field| field.name).collect();
        names.push(self.target.clone());
        let row = |drawn: &crate::learn::Drawn| {
            let mut cells = self.encoder.decode(drawn);
            cells.push(self.class_names().get(drawn.class).cloned().unwrap_or_default());
            cells
        };
        Ok(Made { names, rows: drawn.iter().map(row).collect() })
    }
}
