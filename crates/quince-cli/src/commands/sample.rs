//! `quince sample`: rows sampled from a generative model.

use crate::arguments::Sample;
use crate::input::{self, Session};
use crate::layout::Layout;
use crate::show;
use quince::learn::Task;
use quince::{Error, Kind, Model, Result};
use serde_json::{Map, Value};

pub fn run(options: &Sample, session: &Session) -> Result<()> {
    let output = input::output_file(&options.output);
    if let Some(output) = output {
        input::check_output(output, &[&options.model])?;
    }
    let model = Model::load(&options.model)?;
    session.progress.stage("sampling");
    let sampled = model.sample(options.rows, options.class.as_deref(), &session.run)?;
    session.progress.finish();
    let text = if session.json {
        let is_number = |name: &str| match model.encoder().kind(name) {
            Some(kind) => matches!(kind, Kind::Number | Kind::Count),
            None => model.task() == Task::Clustering,
        };
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
        serde_json::to_string_pretty(&rows).expect("cells are JSON") + "\n"
    } else {
        let layout = Layout::new(output, None);
        std::iter::once(&sampled.names).chain(&sampled.rows).map(|cells| layout.line(cells)).collect()
    };
    match output {
        None => show::print(&text),
        Some(path) => {
            quince::model::replace_file(path, text.as_bytes())
                .map_err(|e| Error::file(path.display().to_string(), e))?;
            session.say(&format!("{} rows written to {}", sampled.rows.len(), path.display()));
        }
    }
    Ok(())
}
