//! `quince predict`: a table in, the same table with predictions out.

use crate::arguments::Predict;
use crate::destination::Destination;
use crate::input::Session;
use crate::layout::Layout;
use quince::learn::Prediction;
use quince::numbers::number_text;
use quince::table::{Cells, Column, OutputColumn, OutputValues};
use quince::{Kind, Model, Result, Table};
use serde_json::{Map, Value, json};

pub fn run(options: &Predict, session: &Session) -> Result<()> {
    let output = Destination::new(&options.output, &[&options.model, &options.table.table])?.for_json(session.json)?;
    let model = Model::load(&options.model)?;
    let (cells, table) = session.table_for(&model, &options.table, false)?;
    session.progress.stage("predicting");
    let prediction = model.predict_with(&table, &session.run)?;
    let added = added_columns(&model, &prediction, options.no_probabilities, cells.names())?;
    session.progress.finish();
    // Whoever predicts a folder wants to know about its files, and has their texts and pixels already.
    let folder = options.table.table.is_dir();
    let shows = |&j: &usize| !folder || matches!(cells.names()[j].as_str(), "label" | "file");
    let shown: Vec<usize> = (0..cells.names().len()).filter(shows).collect();
    if session.json {
        output.write_text(&as_json(&added, cells.rows()))?;
    } else if output.is_delimited() {
        let layout = Layout::new(output.path(), Some(&cells));
        output.write_text(&as_text(&cells, &table, &shown, &added, layout)?)?;
    } else {
        let mut columns = read_columns(&cells, &table, &shown)?;
        columns.extend(added.into_iter().map(to_be_written));
        output.write_columns(columns)?;
    }
    if let Some(path) = output.path() {
        session.say(&format!("{} predictions written to {}", cells.rows(), path.display()));
    }
    Ok(())
}

pub enum Values {
    Labels(Vec<String>),
    Clusters(Vec<u32>),
    Numbers(Vec<f64>),
}

impl Values {
    /// The value of a row, as text.
    pub fn text(&self, row: usize) -> String {
        match self {
            Values::Labels(labels) => labels[row].clone(),
            Values::Clusters(clusters) => clusters[row].to_string(),
            Values::Numbers(numbers) => number_text(numbers[row]),
        }
    }

    /// Their number.
    pub fn rows(&self) -> usize {
        match self {
            Values::Labels(labels) => labels.len(),
            Values::Clusters(clusters) => clusters.len(),
            Values::Numbers(numbers) => numbers.len(),
        }
    }
}

/// Values as a column of a file.
pub fn to_be_written((name, values): (String, Values)) -> OutputColumn {
    let values = match values {
        Values::Labels(labels) => OutputValues::Texts(labels.into_iter().map(Some).collect()),
        Values::Clusters(clusters) => OutputValues::Numbers(clusters.into_iter().map(f64::from).collect()),
        Values::Numbers(numbers) => OutputValues::Numbers(numbers),
    };
    OutputColumn { name, values }
}

/// Names and values of the columns that are added. A name that is taken gets an underscore.
fn added_columns(
    model: &Model,
    prediction: &Prediction,
    no_probabilities: bool,
    taken: &[String],
) -> Result<Vec<(String, Values)>> {
    let mut added = Vec::new();
    let name = free(format!("predicted_{}", model.target()), taken);
    match prediction {
        Prediction::Classes { probabilities, .. } => {
            let labels = model.label_names(prediction)?.into_iter().map(str::to_string).collect();
            added.push((name, Values::Labels(labels)));
            let classes = model.classes().map_or(&[][..], |classes| classes.names());
            for (k, class) in classes.iter().enumerate().filter(|_| !no_probabilities) {
                let name = free(format!("probability_{class}"), taken);
                added.push((name, Values::Numbers(probabilities.column(k))));
            }
        }
        Prediction::Numbers(numbers) if numbers.columns() == 1 => {
            added.push((name, Values::Numbers(numbers.column(0))));
        }
        Prediction::Numbers(numbers) => {
            for k in 0..numbers.columns() {
                let name = free(format!("predicted_{}_{}", model.target(), k + 1), taken);
                added.push((name, Values::Numbers(numbers.column(k))));
            }
        }
        Prediction::Clusters { .. } | Prediction::Responsibilities { .. } | Prediction::Novelty { .. } => {
            for (name, values) in group_columns(prediction) {
                added.push((free(name.to_string(), taken), values));
            }
        }
    }
    Ok(added)
}

/// The cluster of each row, counted from 1, and its distance from the centre of that cluster, or the responsibility of that
/// component for the row and the logarithm of the row's density; of novelty yes or no and the score. Nothing where there are no
/// clusters.
pub fn group_columns(prediction: &Prediction) -> Vec<(&'static str, Values)> {
    let labels = prediction.labels();
    let of_own = |all: &quince::Matrix| labels.iter().enumerate().map(|(i, &own)| all[(i, own as usize)]).collect();
    let cluster = ("cluster", Values::Clusters(labels.iter().map(|label| label + 1).collect()));
    match prediction {
        Prediction::Clusters { distances, .. } => vec![cluster, ("distance", Values::Numbers(of_own(distances)))],
        Prediction::Responsibilities { responsibilities, log_densities } => vec![
            cluster,
            ("responsibility", Values::Numbers(of_own(responsibilities))),
            ("log_density", Values::Numbers(log_densities.clone())),
        ],
        Prediction::Novelty { scores } => {
            let novel = labels.iter().map(|label| if *label == 1 { "yes" } else { "no" }.to_string()).collect();
            vec![("novel", Values::Labels(novel)), ("score", Values::Numbers(scores.clone()))]
        }
        _ => Vec::new(),
    }
}

/// A name that is not taken: with underscores if need be.
pub fn free(mut name: String, taken: &[String]) -> String {
    while taken.contains(&name) {
        name.push('_');
    }
    name
}

/// Columns of a table that was read, to be written: numbers as numbers, everything else as it was spelled.
pub fn read_columns(cells: &Cells, table: &Table, shown: &[usize]) -> Result<Vec<OutputColumn>> {
    let columns: Vec<Option<&Column>> = shown.iter().map(|&j| table.column(&cells.names()[j]).ok()).collect();
    let is_number = |column: &Option<&Column>| {
        column
            .is_some_and(|column| matches!(column.kind(), Kind::Number | Kind::Count) && column.rows() == cells.rows())
    };
    let mut values: Vec<OutputValues> = columns
        .iter()
        .map(
            |column| {
                if is_number(column) { OutputValues::Numbers(Vec::new()) } else { OutputValues::Texts(Vec::new()) }
            },
        )
        .collect();
    let mut i = 0;
    cells.each_row(table, |row| {
        for ((values, column), &j) in values.iter_mut().zip(&columns).zip(shown) {
            match values {
                OutputValues::Numbers(numbers) => {
                    numbers.push(column.and_then(|column| column.number(i)).unwrap_or(f64::NAN));
                }
                OutputValues::Texts(texts) => {
                    let missing = row[j].is_empty() || column.is_some_and(|column| column.is_missing(i));
                    texts.push((!missing).then(|| row[j].to_string()));
                }
            }
        }
        i += 1;
    })?;
    let name = |&j: &usize| cells.names()[j].clone();
    Ok(shown.iter().map(name).zip(values).map(|(name, values)| OutputColumn { name, values }).collect())
}

/// The columns of the table that are shown, and those that are added.
fn as_text(
    cells: &Cells,
    table: &Table,
    shown: &[usize],
    added: &[(String, Values)],
    layout: Layout,
) -> Result<String> {
    let names = shown.iter().map(|&j| &cells.names()[j]).chain(added.iter().map(|(name, _)| name));
    let mut text = layout.line(names);
    let mut i = 0;
    cells.each_row(table, |row| {
        let old = shown.iter().map(|&j| row[j].to_string());
        let new = added.iter().map(|(_, values)| values.text(i));
        text += &layout.line(old.chain(new));
        i += 1;
    })?;
    Ok(text)
}

/// One object per row, with what was added.
fn as_json(added: &[(String, Values)], rows: usize) -> String {
    let row = |i: usize| {
        let mut object = Map::new();
        for (name, values) in added {
            let value = match values {
                Values::Labels(labels) => json!(labels[i]),
                Values::Clusters(clusters) => json!(clusters[i]),
                Values::Numbers(numbers) => json!(numbers[i]),
            };
            object.insert(name.clone(), value);
        }
        Value::Object(object)
    };
    let rows: Vec<Value> = (0..rows).map(row).collect();
    serde_json::to_string_pretty(&rows).expect("labels and numbers are JSON") + "\n"
}
