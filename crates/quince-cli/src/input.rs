//! What every command does first: make the run, read the table, take out target and weights.

use crate::arguments::{Common, TableOptions, TargetOptions};
use crate::interrupt;
use crate::progress::Progress;
use quince::learn::Task;
use quince::registry::Entry;
use quince::table::{Cells, Header, Labelled, ReadOptions};
use quince::{Error, Model, Result, Run, Table};
use serde_json::{Map, Value};

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
            self.progress.finish();
            eprintln!("{sentence}");
        }
    }

    /// Reads the cells of a table.
    pub fn cells(&self, options: &TableOptions, read: &ReadOptions) -> Result<Cells> {
        self.progress.stage(&format!("reading {}", options.table.display()));
        let cells = Cells::read(&options.table, read)?;
        self.run.check_cancelled()?;
        if !options.no_header && cells.names_look_like_data() {
            self.say("warning: the first line looks like data; if the table has no header, add --no-header");
        }
        Ok(cells)
    }

    /// Reads a table as a saved model knows its columns, unless the user says otherwise; the cells come along.
    pub fn table_for(&self, model: &Model, options: &TableOptions) -> Result<(Cells, Table)> {
        let mut read = read_options(options);
        let cells = self.cells(options, &read)?;
        read.kinds.splice(0..0, model.kinds(cells.names().iter().map(String::as_str)));
        let table = cells.table(&read)?;
        Ok((cells, table))
    }

    /// Reads a table and finds its kinds.
    pub fn table(&self, options: &TableOptions) -> Result<Table> {
        let read = read_options(options);
        let cells = self.cells(options, &read)?;
        self.progress.stage("finding the kinds of the columns");
        cells.table(&read)
    }
}

/// The options of a table as the reader takes them.
pub fn read_options(options: &TableOptions) -> ReadOptions {
    ReadOptions {
        delimiter: options.delimiter,
        header: if options.no_header { Header::None } else { Header::Names },
        kinds: options.kind.clone(),
        drop: options.drop.clone(),
    }
}

/// Rows to learn from, their weights and their groups.
pub struct Learnable {
    pub labelled: Labelled,
    pub weights: Option<Vec<f64>>,
    pub groups: Option<Vec<u32>>,
}

/// Takes target, weights and groups out of a table, and says what was decided for the user.
pub fn learnable(table: &Table, target: &TargetOptions, group: Option<&str>, session: &Session) -> Result<Learnable> {
    let mut labelled = table.labelled(&target.target, target.task)?;
    let weights = target.weight.as_deref().map(|name| table.weights(name, &labelled.rows)).transpose()?;
    let groups = group.map(|name| table.groups(name, &labelled.rows)).transpose()?;
    let aside: Vec<&str> = target.weight.as_deref().into_iter().chain(group).collect();
    labelled.table = labelled.table.without(&aside);
    if labelled.left_out > 0 {
        session.say(&format!("note: {} rows have no '{}' and are left out", labelled.left_out, target.target));
    }
    let kind = table.column(&target.target)?.kind();
    if target.task.is_none() && kind == quince::Kind::Count && labelled.target.task() == Task::Classification {
        session.say(&format!(
            "note: '{}' has few different whole numbers and is learnt as classes (--task regression to change)",
            target.target
        ));
    }
    say_what_is_ignored(&labelled.table, session);
    Ok(Learnable { labelled, weights, groups })
}

/// One note for each reason, naming the first few columns.
fn say_what_is_ignored(table: &Table, session: &Session) {
    let ignored: Vec<_> = table.columns().iter().filter(|c| c.kind() == quince::Kind::Ignored).collect();
    let mut reasons: Vec<&str> = ignored.iter().map(|column| column.why_ignored()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let names: Vec<String> =
            ignored.iter().filter(|c| c.why_ignored() == reason).map(|c| format!("'{}'", c.name())).collect();
        let shown = names[..names.len().min(5)].join(", ");
        let more = if names.len() > 5 { format!(" and {} more", names.len() - 5) } else { String::new() };
        let verb = if names.len() == 1 { "is" } else { "are" };
        session.say(&format!("note: {shown}{more} {verb} ignored: {reason}"));
    }
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
