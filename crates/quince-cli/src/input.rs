//! What every command does first: make the run, read the table, take out target and weights.

use crate::arguments::{Common, KindOptions, TableOptions, TargetOptions};
use crate::interrupt;
use crate::progress::Progress;
use quince::registry::Entry;
use quince::table::{Cells, Header, Learnable, ReadOptions};
use quince::{Error, Kind, Model, Result, Run, Table};
use serde_json::{Map, Value};
use std::path::Path;

/// The run, the progress display and the way results are printed.
pub struct Session {
    pub run: Run,
    pub progress: Progress,
    pub json: bool,
    quiet: bool,
}

impl Session {
    pub fn new(common: &Common) -> Session {
        let progress = Progress::start(common.quiet);
        let cancel = interrupt::cancel_on_interrupt();
        let mut run = Run::new().seed(common.seed).threads(common.threads).cancel(&cancel).observe(progress.clone());
        if let Some(budget) = common.budget {
            run = run.budget(budget);
        }
        Session { run, progress, json: common.json, quiet: common.quiet }
    }

    /// Tells the user something that is not data.
    pub fn say(&self, sentence: &str) {
        if !self.quiet {
            self.progress.say(sentence);
        }
    }

    /// Reads the cells of a table.
    pub fn cells(&self, options: &TableOptions, read: &ReadOptions) -> Result<Cells> {
        self.progress.stage(&format!("reading {}", options.table.display()));
        let cells = Cells::read(&options.table, read, &self.run)?;
        self.run.check_cancelled()?;
        if !options.no_header && cells.names_look_like_data() {
            self.say("warning: the first line looks like data; if the table has no header, add --no-header");
        }
        Ok(cells)
    }

    /// Reads a table as a saved model knows its columns; the cells come along.
    pub fn table_for(&self, model: &Model, options: &TableOptions, with_target: bool) -> Result<(Cells, Table)> {
        let mut read = read_options(options);
        let mut cells = self.cells(options, &read)?;
        read.kinds = model.kinds(cells.names().iter().map(String::as_str), with_target);
        let table = cells.table(&read, &self.run)?;
        Ok((cells, table))
    }

    /// Reads a table and finds its kinds.
    pub fn table(&self, options: &TableOptions, kinds: &KindOptions) -> Result<Table> {
        let mut read = read_options(options);
        read.kinds.clone_from(&kinds.kind);
        read.drop.clone_from(&kinds.drop);
        // What is said to be a text is one.
        read.kinds.extend(kinds.text.iter().map(|(name, _)| (name.clone(), Kind::Text)));
        read.encode = kinds.encode.iter().chain(&kinds.text).cloned().collect();
        read.degree = kinds.degree.into();
        let mut cells = self.cells(options, &read)?;
        self.progress.stage("finding the kinds of the columns");
        cells.table(&read, &self.run)
    }
}

/// The options of a table as the reader takes them.
pub fn read_options(options: &TableOptions) -> ReadOptions {
    ReadOptions {
        format: options.format,
        delimiter: options.delimiter,
        pixels: options.pixels,
        binarise: options.binarise,
        patches: options.patches,
        header: if options.no_header { Header::None } else { Header::Names },
        ..ReadOptions::default()
    }
}

/// Takes target, weights and groups out of a table, and says what was decided for the user.
pub fn learnable(table: &Table, target: &TargetOptions, group: Option<&str>, session: &Session) -> Result<Learnable> {
    let learnable = table.learnable(&target.target, target.task, target.weight.as_deref(), group)?;
    if let Some(group) = group {
        session.say(&format!("note: '{group}' tells the groups and is not learnt from"));
    }
    learnable.notes.iter().for_each(|note| session.say(&format!("note: {note}")));
    Ok(learnable)
}

/// Settings written as `name=value`.
pub fn settings(entry: &Entry, written: &[(String, String)]) -> Result<Value> {
    let mut settings = Map::new();
    for (name, value) in written {
        settings.insert(name.clone(), entry.parse_setting(name, value)?);
    }
    Ok(Value::Object(settings))
}

/// Splits `name=value`.
pub fn assignment(text: &str) -> Result<(String, String)> {
    text.split_once('=').map(|(name, value)| (name.to_string(), value.to_string())).ok_or_else(|| Error::Setting {
        name: text.to_string(),
        problem: "has no value".into(),
        remedy: "Write it as name=value, for example alpha=0.1.".into(),
    })
}

/// A place where nothing can be saved is better known before the work than after it.
pub fn check_output(output: &Path, inputs: &[&Path]) -> Result<()> {
    let refuse =
        |path: &Path, problem: &str| Err(Error::File { path: path.display().to_string(), problem: problem.into() });
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return refuse(folder, "there is no such folder");
    }
    let place = std::fs::canonicalize(output).ok();
    if place.is_some() && inputs.iter().any(|input| std::fs::canonicalize(input).ok() == place) {
        return refuse(output, "this is what is read: it would be overwritten");
    }
    Ok(())
}
