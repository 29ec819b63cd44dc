//! What a model says about itself: its parameters, why it answered as it did, and rows it makes up.

use super::Model;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::learn::{Classes, Imputed, Prediction, SampledRow, Target, Task, largest};
use crate::matrix::Features;
use crate::run::Run;
use crate::table::Table;
use serde::Serialize;

/// Rows that a model has made up: names of columns, and cells.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledRows {
    /// The columns, the target last.
    pub names: Vec<String>,
    /// Cells, row after row.
    pub rows: Vec<Vec<String>>,
}

/// A missing value of a table, imputed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImputedCell {
    /// The row, counted from 0.
    pub row: usize,
    /// The name of the column.
    pub column: String,
    /// What is expected there, as a cell.
    pub value: String,
    /// The standard deviation of a number; `None` of a category, or where it is not known.
    pub standard_deviation: Option<f64>,
    /// How probable the category is; `None` of a number.
    pub probability: Option<f64>,
}

impl ImputedCell {
    /// What is expected there, if that is a number.
    pub fn number(&self) -> Option<f64> {
        self.value.parse().ok().filter(|_| self.probability.is_none())
    }
}

impl Model {
    /// Imputes the missing values of a table, row after row; where a class is known, by that class alone, and where the class itself
    /// is missing, by the most probable one.
    pub fn impute(&self, table: &Table, run: &Run) -> Result<Vec<ImputedCell>> {
        let rows = self.encode(table, run)?;
        let classes = self.known_classes(table)?;
        let imputed = self.fitted.impute(&rows.features(), classes.as_deref(), run)?;
        let imputed = imputed.ok_or_else(|| self.cannot("impute missing values"))?;
        let columns = self.encoder.dense_fields();
        let before = rows.features();
        let dense = before.dense_part();
        let targets = match &classes {
            Some(classes) if classes.contains(&Target::UNKNOWN) => Some(self.predict_features(&before, run)?),
            _ => None,
        };
        let mut imputed_cells = Vec::new();
        for i in 0..table.rows() {
            let is_missing = |j: usize| dense.is_some_and(|dense| j < dense.columns() && dense.get(i, j).is_nan());
            let filled = |j: usize| is_missing(j) && !imputed.values[(i, j)].is_nan();
            let unknown = classes.is_some() && table.column(&self.target).is_ok_and(|column| column.is_missing(i));
            if let Some(Prediction::Classes { probabilities, .. }) = targets.as_ref().filter(|_| unknown) {
                let class = largest(probabilities.row(i)) as usize;
                let (column, value) = (self.target.clone(), self.class_names()[class].clone());
                imputed_cells.push(ImputedCell {
                    row: i,
                    column,
                    value,
                    standard_deviation: None,
                    probability: Some(probabilities[(i, class)]),
                });
            }
            if !(0..columns.len()).any(filled) {
                continue;
            }
            let row = imputed.values.row(i).to_vec();
            let cells = self.encoder.decode(&SampledRow { class: 0, dense: row, sequences: Vec::new() });
            for (j, (at, name, scale)) in columns.iter().enumerate().filter(|(j, _)| filled(*j)) {
                // What stands for all rare categories is no category that could be filled in.
                if cells[*at].is_empty() {
                    continue;
                }
                let known = |x: f64| Some(x).filter(|x| x.is_finite());
                let (standard_deviation, probability) = match scale {
                    Some(scale) => (known(imputed.standard_deviations[(i, j)] * scale), None),
                    None => (None, known(imputed.standard_deviations[(i, j)])),
                };
                imputed_cells.push(ImputedCell {
                    row: i,
                    column: name.clone(),
                    value: cells[*at].clone(),
                    standard_deviation,
                    probability,
                });
            }
        }
        Ok(imputed_cells)
    }

    /// The class of each row, as far as it is known; `None` if the table has no such column, or the model no classes.
    fn known_classes(&self, table: &Table) -> Result<Option<Vec<u32>>> {
        let Ok(column) = table.column(&self.target) else { return Ok(None) };
        if self.classes.is_none() {
            return Ok(None);
        }
        let column = column.as_kind(self.target_kind(), table)?;
        let code = |i: usize| column.text(i).and_then(|label| self.class_of(&label)).unwrap_or(Target::UNKNOWN);
        Ok(Some((0..table.rows()).map(code).collect()))
    }

    /// Features that are encoded already, with their missing values imputed.
    pub fn impute_features(&self, rows: &Features<'_>, run: &Run) -> Result<Imputed> {
        self.fitted.impute(rows, None, run)?.ok_or_else(|| self.cannot("impute missing values"))
    }

    pub(super) fn class_names(&self) -> &[String] {
        self.classes.as_ref().map_or(&[], Classes::names)
    }

    fn cannot(&self, what: &str) -> Error {
        Error::data(
            format!("'{}' cannot {what}", self.method.info.name),
            "naive-bayes, gaussian and mixture can; see `quince models`.",
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
        let mut names: Vec<String> = self.encoder.fields().map(|field| field.name).collect();
        let mut last = self.target.clone();
        while names.contains(&last) {
            last.push('_');
        }
        names.push(last);
        let row = |drawn: &crate::learn::SampledRow| {
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
