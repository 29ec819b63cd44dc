//! `quince cluster`: clusters of similar rows, what each is like, and its members.

use crate::arguments::Cluster;
use crate::commands::predict::{free, group_columns};
use crate::input::{self, Session};
use crate::layout::Layout;
use crate::show;
use quince::learn::{Prediction, Task};
use quince::registry::{self, METHODS};
use quince::table::Column;
use quince::{Error, Kind, Model, Result, Table};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The most columns that are shown of each cluster.
const MAX_COLUMNS_SHOWN: usize = 20;

pub fn run(options: &Cluster, session: &Session) -> Result<()> {
    let method = registry::method(&options.method)?;
    if !method.info.learns(Task::Clustering) {
        let finders: Vec<&str> = METHODS
            .iter()
            .filter(|method| method.info.learns(Task::Clustering))
            .map(|method| method.info.name)
            .collect();
        return Err(Error::Setting {
            name: "method".into(),
            problem: format!("cannot be '{}', which finds no clusters", method.info.name),
            remedy: format!("Use {}.", finders.join(" or ")),
        });
    }
    let mut written = options.set.iter().map(|text| input::assignment(text)).collect::<Result<Vec<_>>>()?;
    if options.target.is_some() {
        return Err(Error::Setting {
            name: "target".into(),
            problem: "is not for clusters, which are found without one".into(),
            remedy: "Keep a column out with --drop, or name the rows by it with --key.".into(),
        });
    }
    match &options.k {
        Some(_) if written.iter().any(|(name, _)| name == "k") => {
            return Err(Error::Setting {
                name: "k".into(),
                problem: "is given twice".into(),
                remedy: "Give -k or --set k=..., not both.".into(),
            });
        }
        Some(k) => written.push(("k".into(), k.clone())),
        None => {}
    }
    input::add_families(method, &options.family, &mut written)?;
    let learner = method.configure(&input::settings(method, &written)?)?;
    let to_stdout = options.output.as_deref() == Some(Path::new("-"));
    let twice = options.output.is_some() && options.output == options.save;
    if twice || (to_stdout && session.json) {
        return Err(Error::Setting {
            name: "output".into(),
            problem: "is taken already".into(),
            remedy: "Give rows, model and JSON places of their own.".into(),
        });
    }
    for output in options.output.iter().filter(|_| !to_stdout).chain(&options.save) {
        input::check_output(output, &[&options.table.table])?;
    }
    let table = session.table(&options.table, &options.kinds)?;
    let key = options.key.as_deref();
    let keys = key.map(|name| table.column(name).cloned()).transpose()?;
    let unsupervised = table.unsupervised(options.weight.as_deref(), key.as_slice())?;
    unsupervised.notes.iter().for_each(|note| session.say(&format!("note: {note}")));
    session.progress.stage(&format!("clustering by {}", method.info.name));
    let rows = &unsupervised.labelled.table;
    let weights = unsupervised.weights.as_deref();
    let model = Model::fit(&unsupervised.labelled, weights, learner.as_ref(), &session.run)?;
    let prediction = session.run.finish(|| model.predict_with(rows, &session.run))?;
    let (labels, names) = (prediction.labels(), groups(&prediction));
    session.run.check_cancelled()?;
    session.progress.finish();
    let found = Clusters { table: rows, labels: &labels, weights, k: names.len(), names };
    if let Some(path) = &options.save {
        model.save(path)?;
        session.say(&format!("model saved as {}", path.display()));
    }
    let layout = Layout::new(options.output.as_deref(), None);
    let csv = || row_lines(keys.as_ref(), key.unwrap_or("row"), &prediction, layout);
    match &options.output {
        Some(_) if to_stdout => show::print(&csv()),
        Some(path) => {
            quince::model::replace_file(path, csv().as_bytes())
                .map_err(|error| Error::file(path.display().to_string(), error))?;
            session.say(&format!("{} rows written to {}", labels.len(), path.display()));
        }
        None => {}
    }
    if session.json {
        show::print_json(&found.as_json(&model));
    } else if !to_stdout {
        show::print(&found.summary());
    }
    say_how_it_went(&model, session);
    Ok(())
}

/// What groups are called.
fn groups(prediction: &Prediction) -> Vec<String> {
    let numbered = |count: usize| (1..=count).map(|c| format!("cluster {c}")).collect();
    match prediction {
        Prediction::Clusters { distances, .. } => numbered(distances.columns()),
        Prediction::Responsibilities { responsibilities, .. } => numbered(responsibilities.columns()),
        Prediction::Novelty { .. } => vec!["like the others".into(), "novel".into()],
        Prediction::Classes { .. } | Prediction::Numbers(_) => Vec::new(),
    }
}

/// One line per row: its key, its cluster, and what the method says of it beside: the distance from the centre (in the features,
/// standardised as for learning), or the responsibility of the component and the density. A name that the key has taken gets an underscore.
fn row_lines(keys: Option<&Column>, key: &str, prediction: &Prediction, layout: Layout) -> String {
    let columns = group_columns(prediction);
    let names = columns.iter().map(|(name, _)| free((*name).into(), &[key.to_string()]));
    let mut text = layout.line(std::iter::once(key.to_string()).chain(names));
    for i in 0..prediction.rows() {
        let key = match keys {
            None => (i + 1).to_string(),
            Some(column) => column.text(i).unwrap_or_default().into_owned(),
        };
        text += &layout.line(std::iter::once(key).chain(columns.iter().map(|(_, values)| values.text(i))));
    }
    text
}

fn say_how_it_went(model: &Model, session: &Session) {
    let report = model.report();
    let fact = |name: &str| report.facts.iter().find(|fact| fact.0 == name).map(|fact| fact.1);
    if let (Some(error), Some(share)) = (fact("error"), fact("share explained")) {
        let share = 100.0 * share;
        session.say(&format!(
            "{}; within-cluster error {} ({share:.1} % of the variance explained)",
            report.route,
            show::short(error)
        ));
    }
    let criterion = model.settings()["criterion"].as_str().unwrap_or_default();
    if let (Some(likelihood), Some(value)) = (fact("log likelihood of a row"), fact(criterion)) {
        let (likelihood, value, name) = (show::number(likelihood), show::short(value), criterion.to_uppercase());
        session.say(&format!("{}; log likelihood of a row {likelihood}, {name} {value}", report.route));
    }
    if fact("novel").is_some() {
        session.say(&report.route);
    }
    if !report.holds() {
        session.say("warning: the answer is not as exact as asked; allow more time or more steps");
    }
    report.remarks.iter().for_each(|remark| session.say(&format!("note: {remark}")));
}

/// The rows of a table, and the cluster of each.
struct Clusters<'a> {
    table: &'a Table,
    labels: &'a [u32],
    /// How much each row counts, if not all alike.
    weights: Option<&'a [f64]>,
    k: usize,
    names: Vec<String>,
}

impl Clusters<'_> {
    /// What each cluster is like: the mean of numbers, the most frequent category and its share.
    fn summary(&self) -> String {
        let mut header = vec!["", "all"];
        header.extend(self.names.iter().map(String::as_str));
        let line = |name: &str, text: fn(f64) -> String, of: &dyn Fn(Option<usize>) -> f64| {
            let all = of(None);
            let share = |part: f64| format!("{} ({:.0} %)", text(part), 100.0 * part / all);
            let each = (0..self.k).map(|c| share(of(Some(c))));
            [name.to_string(), text(all)].into_iter().chain(each).collect::<Vec<_>>()
        };
        let mut lines = vec![line("rows", |rows| rows.to_string(), &|cluster| self.members(cluster).count() as f64)];
        if self.weights.is_some() {
            lines.push(line("weight", show::short, &|cluster| self.weight_of(cluster)));
        }
        let summarised: Vec<&Column> = self.summarised().collect();
        for column in summarised.iter().take(MAX_COLUMNS_SHOWN) {
            let all = self.typical(column, None).0;
            let each = (0..self.k).map(|c| self.typical(column, Some(c)).0);
            let name = match column.kind() {
                Kind::Category => column.name().to_string(),
                Kind::YesNo => format!("{} (share of yes)", column.name()),
                _ => format!("{} (mean)", column.name()),
            };
            lines.push([name, all].into_iter().chain(each).collect());
        }
        let mut text = show::table(&header, &lines, 1..);
        if summarised.len() > MAX_COLUMNS_SHOWN {
            text += &format!("and {} more columns: --json shows all\n", summarised.len() - MAX_COLUMNS_SHOWN);
        }
        text
    }

    fn as_json(&self, model: &Model) -> Value {
        let cluster = |c: usize| {
            let mut columns = Map::new();
            for column in self.summarised() {
                columns.insert(column.name().into(), self.typical(column, Some(c)).1);
            }
            let mut cluster = json!({"cluster": c + 1, "name": self.names[c], "rows": self.members(Some(c)).count(), "columns": columns});
            if self.weights.is_some() {
                cluster["weight"] = json!(self.weight_of(Some(c)));
            }
            cluster
        };
        json!({
            "method": model.method().info.name,
            "settings": model.settings(),
            "rows": self.labels.len(),
            "clusters": (0..self.k).map(cluster).collect::<Vec<_>>(),
            "labels": self.labels.iter().map(|label| label + 1).collect::<Vec<_>>(),
            "report": model.report(),
        })
    }

    /// The columns that say something of a cluster.
    fn summarised(&self) -> impl Iterator<Item = &Column> {
        let has_summary =
            |column: &&Column| matches!(column.kind(), Kind::Number | Kind::Count | Kind::YesNo | Kind::Category);
        self.table.columns().iter().filter(has_summary)
    }

    /// The rows of a cluster, or all.
    fn members(&self, cluster: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.labels.len()).filter(move |&i| cluster.is_none_or(|c| self.labels[i] as usize == c))
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    fn weight_of(&self, cluster: Option<usize>) -> f64 {
        // The sum of nothing is -0.
        0.0 + self.members(cluster).map(|i| self.weight(i)).sum::<f64>()
    }

    /// The mean of the numbers of a cluster (or of all rows), or its most frequent category, as text and as JSON.
    fn typical(&self, column: &Column, cluster: Option<usize>) -> (String, Value) {
        let rows = self.members(cluster).filter(|&i| !column.is_missing(i) && self.weight(i) > 0.0);
        if column.kind() != Kind::Category {
            let (mut sum, mut total) = (0.0, 0.0);
            for (i, number) in rows.filter_map(|i| Some((i, column.number(i)?))) {
                sum += self.weight(i) * number;
                total += self.weight(i);
            }
            if total == 0.0 {
                return ("-".into(), Value::Null);
            }
            return (show::short(sum / total), json!(sum / total));
        }
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        for (i, name) in rows.filter_map(|i| Some((i, column.text(i)?))) {
            *weights.entry(name.into_owned()).or_default() += self.weight(i);
        }
        let total: f64 = weights.values().sum();
        match weights.iter().rev().max_by(|a, b| a.1.total_cmp(b.1)) {
            None => ("-".into(), Value::Null),
            Some((name, weight)) => {
                let share = weight / total;
                (format!("{name} {:.0} %", 100.0 * share), json!({"most_frequent": name, "share": share}))
            }
        }
    }
}
