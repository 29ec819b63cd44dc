//! Missing values of a table, imputed by what a model has learnt.

use super::Model;
use crate::error::Result;
use crate::learn::{Prediction, SampledRow, Target, largest};
use crate::run::Run;
use crate::table::Table;
use serde::Serialize;

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
}
