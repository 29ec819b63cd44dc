//! Requests of a web service: rows as JSON, read by the model's own kinds.

use super::{AnswerColumn, Model};
use crate::error::Result;
use crate::run::Run;
use crate::table::{Cells, Column, Format, ReadOptions, Table};
use serde_json::Value;

impl Model {
    /// Predicts for the rows of a request: a JSON object, several of them, or an array. The answer is what `quince predict --json` prints:
    /// an array with an object for each row, with a field for each column of [`Model::answers`].
    ///
    /// Cells are read by the kinds that columns had in training, so that `"007"` stays the category it was. A column that is not
    /// there is a missing value in every row.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let table = Table::from_csv("weight,sort\n80,lemon\n75,lemon\n170,orange\n160,orange\n")?;
    /// let model = Model::train(&table, "sort", &NaiveBayes::default())?;
    /// let answer = model.predict_json(r#"{"weight": 78}"#)?;
    /// assert_eq!(answer[0]["predicted_sort"], "lemon");
    /// # quince::Result::Ok(())
    /// ```
    pub fn predict_json(&self, body: &str) -> Result<Value> {
        let run = Run::new();
        let mut options = ReadOptions { format: Some(Format::JsonLines), ..ReadOptions::default() };
        let mut cells = Cells::parse(body.as_bytes().to_vec(), "request", &options, &run)?;
        options.kinds = self.kinds(cells.names().iter().map(String::as_str), false);
        let table = self.with_missing_columns(cells.table(&options, &run)?)?;
        let prediction = self.predict_with(&table, &run)?;
        Ok(AnswerColumn::objects(&self.answers(&prediction, true, cells.names())?).into())
    }

    /// A request leaves out what is not known. One that has no column of the model at all is about something else, and refused when
    /// it is encoded.
    fn with_missing_columns(&self, table: Table) -> Result<Table> {
        let has = |name: &str| table.columns().iter().any(|column| column.name() == name);
        let absent: Vec<String> = self.fields().map(|field| field.name).filter(|name| !has(name)).collect();
        if absent.is_empty() || absent.len() == self.encoder().columns() {
            return Ok(table);
        }
        let missing = |name: String| Column::words(name, std::iter::repeat_n(None, table.rows()));
        Table::new(table.columns().iter().cloned().chain(absent.into_iter().map(missing)).collect())
    }
}
