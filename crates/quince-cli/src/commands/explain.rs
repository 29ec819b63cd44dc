//! `quince explain`: what a model has learnt, or the evidence for its prediction of a row.

use crate::arguments::{Explain, TableOptions};
use crate::flags::in_flags;
use crate::input::Session;
use crate::show;
use quince::explain::{Cell, Explanation, Listing};
use quince::{Error, Model, Result};

pub fn run(options: &Explain, session: &Session) -> Result<()> {
    let model = Model::load(&options.model)?;
    let said = match (&options.row, &options.table) {
        (None, None) => model.explain()?,
        (Some(row), Some(table)) => {
            let table = TableOptions { table: table.clone(), how: options.how.clone() };
            let (_, table) = session.table_for(&model, &table, false)?;
            session.progress.finish();
            if *row > table.rows() {
                let problem = format!("there is no row {row}: the table has {}", table.rows());
                return Err(Error::data(problem, "Rows are counted from 1, without the header."));
            }
            model.explain_row(&table, row.saturating_sub(1), &session.run)?
        }
        (Some(_), None) => return Err(together("row", "says which row, but not of which table")),
        (None, Some(_)) => return Err(together("table", "is given, but not which of its rows to explain")),
    };
    if session.json {
        show::print_json(&said);
    } else {
        show::print(&as_text(&said));
    }
    Ok(())
}

fn together(name: &str, problem: &str) -> Error {
    let remedy = "Give both, for example quince explain m.quince table.csv --row 17.".to_string();
    Error::Setting { name: name.into(), problem: problem.into(), remedy }
}

fn as_text(said: &Explanation) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !said.sentences.is_empty() {
        parts.push(in_flags(&said.sentences.join("\n")) + "\n");
    }
    parts.extend(said.tables.iter().map(listing));
    parts.join("\n")
}

/// The most rows of a table that are shown; `--json` has them all.
const MAX_ROWS_SHOWN: usize = 40;

fn listing(table: &Listing) -> String {
    let header: Vec<&str> = std::iter::once("").chain(table.columns.iter().map(String::as_str)).collect();
    let cell = |cell: &Cell| match cell {
        Cell::Number(number) => show::short(*number),
        Cell::Text(text) => text.clone(),
    };
    let mut rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .take(MAX_ROWS_SHOWN)
        .map(|(name, cells)| std::iter::once(show::clipped(name)).chain(cells.iter().map(cell)).collect())
        .collect();
    let left = table.rows.len() - rows.len();
    if left > 0 {
        rows.push(
            std::iter::once(format!("({left} more)")).chain(table.columns.iter().map(|_| String::new())).collect(),
        );
    }
    let texts = table
        .rows
        .iter()
        .any(|(_, cells)| cells.iter().any(|cell| matches!(cell, Cell::Text(text) if !text.is_empty())));
    let right = if texts { table.columns.len() + 1.. } else { 1.. };
    format!("{}\n\n{}", table.title, show::table(&header, &rows, right))
}
