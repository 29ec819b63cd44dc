//! `quince sample`: rows that a model makes up.

use super::predict::quoted;
use crate::arguments::Sample;
use crate::input::{self, Session};
use crate::show;
use quince::{Error, Model, Result};
use serde_json::{Map, Value};

pub fn run(options: &Sample, session: &Session) -> Result<()> {
    if let Some(output) = &options.output {
        input::check_output(output, &[&options.model])?;
    }
    let model = Model::load(&options.model)?;
    session.progress.stage("drawing");
    let made = model.sample(options.rows, options.class.as_deref(), &session.run)?;
    session.progress.finish();
    let text = if session.json {
        let row = |cells: &Vec<String>| {
            let pairs = made.names.iter().cloned().zip(cells.iter().map(|cell| Value::from(cell.as_str())));
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        let rows: Vec<Value> = made.rows.iter().map(row).collect();
        serde_json::to_string_pretty(&rows).expect("cells are JSON") + "\n"
    } else {
        let line = |cells: &[String]| cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&made.names).chain(&made.rows).map(|cells| line(cells)).collect()
    };
    match &options.output {
        None => show::print(&text),
        Some(path) => {
            quince::model::replace_file(path, text.as_bytes())
                .map_err(|e| Error::file(path.display().to_string(), &e))?;
            session.say(&format!("{} rows written to {}", made.rows.len(), path.display()));
        }
    }
    Ok(())
}
