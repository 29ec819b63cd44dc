//! `quince sample`: rows sampled from a generative model.

use crate::arguments::Sample;
use crate::destination::Destination;
use crate::input::Session;
use crate::layout::Layout;
use crate::show;
use quince::learn::Task;
use quince::table::{OutputColumn, OutputValues};
use quince::{Kind, Model, Result};
use serde_json::{Map, Value};

pub fn run(options: &Sample, session: &Session) -> Result<()> {
    let output = Destination::new(&options.output, &[&options.model])?.for_json(session.json)?;
    let model = Model::load(&options.model)?;
    session.progress.stage("sampling");
    let sampled = model.sample(options.rows, options.class.as_deref(), &session.run)?;
    session.progress.finish();
    let is_number = |name: &str| match model.encoder().kind(name) {
        Some(kind) => matches!(kind, Kind::Number | Kind::Count),
        None => model.task() == Task::Clustering,
    };
    if session.json {
        let value = |name: &str, cell: &str| match cell.parse::<f64>() {
            _ if cell.is_empty() => Value::Null,
            Ok(number) if is_number(name) => show::json_number(number),
            _ => Value::from(cell),
        };
        let row = |cells: &Vec<String>| {
            let pairs = sampled.names.iter().zip(cells).map(|(name, cell)| (name.clone(), value(name, cell)));
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        let rows: Vec<Value> = sampled.rows.iter().map(row).collect();
        output.write_text(&(serde_json::to_string_pretty(&rows).expect("cells are JSON") + "\n"))?;
    } else if output.is_delimited() {
        let layout = Layout::new(output.path(), None);
        let lines = std::iter::once(&sampled.names).chain(&sampled.rows).map(|cells| layout.line(cells));
        output.write_text(&lines.collect::<String>())?;
    } else {
        let column = |(j, name): (usize, &String)| {
            let cells = sampled.rows.iter().map(|row| &row[j]);
            let values = match is_number(name) {
                true => OutputValues::Numbers(cells.map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()),
                false => OutputValues::Texts(cells.map(|cell| (!cell.is_empty()).then(|| cell.clone())).collect()),
            };
            OutputColumn { name: name.clone(), values }
        };
        output.write_columns(sampled.names.iter().enumerate().map(column).collect())?;
    }
    if let Some(path) = output.path() {
        session.say(&format!("{} rows written to {}", sampled.rows.len(), path.display()));
    }
    Ok(())
}
