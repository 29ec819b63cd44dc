//! What a model has learnt, as a person reads it: a few sentences and tables of numbers.

use serde::Serialize;

/// Sentences and tables.
///
/// ```
/// use quince::prelude::*;
/// let model = LinearSvm::new().probabilities(false).fit(&[[0.0], [2.0]], &["low", "high"])?;
/// let said = model.explain()?;
/// assert_eq!(said.sentences[0], "A score above zero means 'low', below zero 'high'.");
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// What there is to say in words.
    pub sentences: Vec<String>,
    /// What there is to say in numbers.
    pub tables: Vec<Listing>,
}

/// A table of an explanation.
///
/// ```
/// use quince::explain::{Cell, Listing};
/// let mut means = Listing::new("Means", ["a", "b"]);
/// means.numbers("height", [1.7, 1.8]);
/// assert_eq!(means.rows, [("height".to_string(), vec![Cell::Number(1.7), Cell::Number(1.8)])]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// What it is about.
    pub title: String,
    /// The names of its columns, other than that of the row's name.
    pub columns: Vec<String>,
    /// Rows: a name, and one cell per column.
    pub rows: Vec<(String, Vec<Cell>)>,
}

/// A number or a word.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A word, or several.
    Text(String),
}

impl Listing {
    /// A table with a heading, empty as yet.
    pub fn new(title: impl Into<String>, columns: impl IntoIterator<Item = impl Into<String>>) -> Listing {
        Listing { title: title.into(), columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row of numbers.
    pub fn numbers(&mut self, name: impl Into<String>, numbers: impl IntoIterator<Item = f64>) {
        self.rows.push((name.into(), numbers.into_iter().map(Cell::Number).collect()));
    }

    /// Adds a row of which only the last cell, a number, is filled: one that other rows have been added up to, or add to.
    pub fn last(&mut self, name: impl Into<String>, number: f64) {
        let mut cells = vec![Cell::Text(String::new()); self.columns.len().saturating_sub(1)];
        cells.push(Cell::Number(number));
        self.rows.push((name.into(), cells));
    }

    /// Adds a row of words.
    pub fn words(&mut self, name: impl Into<String>, words: impl IntoIterator<Item = String>) {
        self.rows.push((name.into(), words.into_iter().map(Cell::Text).collect()));
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}
