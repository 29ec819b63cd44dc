//! What every command does first: make the run, read the table, take out target and weights.

use crate::arguments::{Common, KindOptions, TableOptions, TargetOptions};
use crate::flags::in_flags;
use crate::interrupt;
use crate::progress::Progress;
use quince::learn::Capability;
use quince::registry::Method;
use quince::table::{Cells, Header, Pictures, ReadOptions, TrainingSet};
use quince::{Error, Kind, Model, Result, Run, Table};
use serde_json::{Map, Value};
use std::io::ErrorKind;
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
        let session = Session { run, progress, json: common.json, quiet: common.quiet };
        let working = session.run.thread_count();
        if common.threads > working {
            let cores = if working == 1 { "one core".to_string() } else { format!("{working} cores") };
            session.say(&format!(
                "note: {} threads were asked for, and this process may use {cores}: {working} work",
                common.threads
            ));
        }
        session
    }

    /// Tells the user something that is not data.
    pub fn say(&self, sentence: &str) {
        if !self.quiet {
            self.progress.say(&in_flags(sentence));
        }
    }

    fn reading(&self, options: &TableOptions) {
        self.progress.stage(&format!("reading {}", options.table.display()));
    }

    fn look_at_header(&self, cells: &Cells, options: &TableOptions) {
        if !options.how.no_header && cells.names_look_like_data() {
            self.say("warning: the first line looks like data; if the table has no header, add --no-header");
        }
    }

    /// Reads a table as a saved model knows its columns; the cells come along.
    pub fn table_for(&self, model: &Model, options: &TableOptions, with_target: bool) -> Result<(Cells, Table)> {
        self.reading(options);
        let learnt = model.encoder().pictures().unwrap_or_default();
        let read = model.read_cells(&options.table, read_options(options, learnt), with_target, &self.run)?;
        self.look_at_header(&read.0, options);
        Ok(read)
    }

    /// Reads a table and finds its kinds.
    pub fn table(&self, options: &TableOptions, kinds: &KindOptions) -> Result<Table> {
        Ok(self.cells_and_table(options, kinds)?.1)
    }

    /// The same; the cells come along.
    pub fn cells_and_table(&self, options: &TableOptions, kinds: &KindOptions) -> Result<(Cells, Table)> {
        self.reading(options);
        let mut read = read_options(options, Pictures::default());
        read.kinds.clone_from(&kinds.kind);
        read.drop.clone_from(&kinds.drop);
        // What is said to be a text is one.
        let named = || kinds.text.iter().filter(|(name, _)| name != "*");
        read.kinds.extend(named().map(|(name, _)| (name.clone(), Kind::Text)));
        read.encode = kinds.encode.iter().chain(named()).cloned().collect();
        read.degree = kinds.degree.into();
        let mut cells = Cells::read(&options.table, &read, &self.run)?;
        self.run.check_cancelled()?;
        self.look_at_header(&cells, options);
        self.progress.stage("finding the kinds of the columns");
        let mut table = cells.table(&read, &self.run)?;
        for (_, settings) in kinds.text.iter().filter(|(name, _)| name == "*") {
            table = texts_encoded_as(table, settings, |name| named().any(|(other, _)| other == name))?;
        }
        Ok((cells, table))
    }
}

/// The same table, with settings for every column of texts that has none of its own.
fn texts_encoded_as(mut table: Table, settings: &str, has_own: impl Fn(&str) -> bool) -> Result<Table> {
    let texts = table.columns().iter().filter(|column| column.kind() == Kind::Text).map(|column| column.name());
    let names: Vec<String> = texts.map(str::to_string).collect();
    if names.is_empty() {
        return Err(Error::Data {
            problem: "no column of the table is found to be text".into(),
            remedy: "Name the column that is one, for example --text subject=counts.".into(),
        });
    }
    for name in names.iter().filter(|name| !has_own(name)) {
        table = table.encoded_as(name, settings)?;
    }
    Ok(table)
}

/// The options of a table as the reader takes them.
fn read_options(options: &TableOptions, usual: Pictures) -> ReadOptions {
    ReadOptions {
        format: options.how.format,
        delimiter: options.how.delimiter,
        pictures: options.how.pictures(usual),
        header: if options.how.no_header { Header::None } else { Header::Names },
        ..ReadOptions::default()
    }
}

/// Takes target, weights and groups out of a table, and says what was decided for the user.
pub fn supervised(
    table: &Table,
    target: &TargetOptions,
    group: Option<&str>,
    kinds: &KindOptions,
    unlabelled: bool,
    session: &Session,
) -> Result<TrainingSet> {
    let roles = [(Some(target.target.as_str()), "target"), (target.weight.as_deref(), "weight"), (group, "group")];
    for (name, role) in roles {
        if let Some((name, _)) =
            kinds.encode.iter().chain(&kinds.text).find(|(column, _)| Some(column.as_str()) == name)
        {
            return Err(Error::Data {
                problem: format!("'{name}' is the {role}: it does not become features, and has no settings for that"),
                remedy: "Leave its --encode or --text out.".into(),
            });
        }
    }
    let supervised = table.supervised(&target.target, target.task, target.weight.as_deref(), group, unlabelled)?;
    if let Some(group) = group {
        session.say(&format!("note: '{group}' holds the groups and is not learnt from"));
    }
    supervised.notes.iter().for_each(|note| session.say(&format!("note: {note}")));
    Ok(supervised)
}

/// An error if reading the table has taken all the time there was.
pub fn check_time_is_left(session: &Session) -> Result<()> {
    if !session.run.out_of_time() {
        return Ok(());
    }
    let problem = "was used up by reading the table: no method could begin";
    Err(Error::setting("budget", problem, "Give more time."))
}

/// An error if a method learns no target; `option` is what named it.
pub fn check_supervised(method: &Method, option: &str) -> Result<()> {
    if method.info.can(Capability::Classify) || method.info.can(Capability::Regress) {
        return Ok(());
    }
    Err(Error::Setting {
        name: option.into(),
        problem: format!("cannot be '{}', which learns no target", method.info.name),
        remedy: "It learns without one: use `quince cluster`.".into(),
    })
}

/// Settings written as `name=value`.
pub fn settings(method: &Method, written: &[(String, String)]) -> Result<Value> {
    let mut settings = Map::new();
    for (name, value) in written {
        settings.insert(name.clone(), method.parse_setting(name, value)?);
    }
    Ok(Value::Object(settings))
}

/// Settings as a user gives them: those written as `name=value`, and the families of columns.
pub fn written_settings(method: &Method, set: &[String], families: &[String]) -> Result<Vec<(String, String)>> {
    let mut written = set.iter().map(|text| assignment(text)).collect::<Result<Vec<_>>>()?;
    add_families(method, families, &mut written)?;
    Ok(written)
}

/// Adds the families of columns to the settings of a method that has them.
pub fn add_families(method: &Method, families: &[String], written: &mut Vec<(String, String)>) -> Result<()> {
    if families.is_empty() {
        return Ok(());
    }
    if method.info.setting("family").is_none() {
        return Err(Error::Setting {
            name: "family".into(),
            problem: format!("has no effect: '{}' has no families of columns", method.info.name),
            remedy: "Use it with naive-bayes or mixture, or leave it out.".into(),
        });
    }
    written.push(("family".into(), families.join(",")));
    Ok(())
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
    let refuse = |path: &Path, problem: &str, kind: ErrorKind| {
        Err(Error::File { path: path.display().to_string(), problem: problem.into(), kind, source: None })
    };
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return refuse(folder, "there is no such folder", ErrorKind::NotFound);
    }
    if output == Path::new("-") {
        return refuse(output, "a model is a file, and does not go to standard output", ErrorKind::InvalidInput);
    }
    let place = std::fs::canonicalize(output).ok();
    if place.is_some() && inputs.iter().any(|input| std::fs::canonicalize(input).ok() == place) {
        let problem = "this is what is read: it would be overwritten";
        return refuse(output, problem, ErrorKind::InvalidInput);
    }
    Ok(())
}
