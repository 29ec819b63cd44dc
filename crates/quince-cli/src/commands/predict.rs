//! `quince predict`: a table in, the same table with predictions out.

use crate::arguments::Predict;
use crate::input::{self, Session};
use crate::layout::Layout;
use crate::show;
use quince::learn::Prediction;
use quince::numbers::number_text;
use quince::table::Cells;
use quince::{Error, Model, Result, Table};
use serde_json::{Map, Value, json};

pub fn run(options: &Predict, session: &Session) -> Result<()> {
    let output = input::output_file(&options.output);
    if let Some(output) = output {
        input::check_output(output, &[&options.model, &options.table.table])?;
    }
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
    let layout = Layout::new(output, Some(&cells));
    let text =
        if session.json { as_json(&added, cells.rows()) } else { as_text(&cells, &table, &shown, &added, layout)? };
    match output {
        None => show::print(&text),
        Some(path) => {
            quince::model::replace_file(path, text.as_bytes())
                .map_err(|e| Error::file(path.display().to_string(), e))?;
            session.say(&format!("{} predictions written to {}", cells.rows(), path.display()));
        }
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
