//! `quince cluster`: groups of rows that are alike, what each is like, and who is in it.

use crate::arguments::Cluster;
use crate::commands::predict::quoted;
use crate::input::{self, Session};
use crate::show;
use quince::learn::Prediction;
use quince::numbers::number_text;
use quince::registry::{self, Ability, METHODS};
use quince::table::Column;
use quince::{Error, Kind, Model, Result, Table};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The most columns that are shown of each cluster.
const SHOWN: usize = 20;

pub fn run(options: &Cluster, session: &Session) -> Result<()> {
    let entry = registry::method(&options.method)?;
    if !entry.card.can(Ability::Cluster) {
        let finders: Vec<&str> =
            METHODS.iter().filter(|entry| entry.card.can(Ability::Cluster)).map(|entry| entry.card.name).collect();
        return Err(Error::Setting {
            name: "method".into(),
            problem: format!("cannot be '{}', which finds no clusters", entry.card.name),
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
    let learner = entry.configure(&input::settings(entry, &written)?)?;
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
    let groupable = table.groupable(options.weight.as_deref(), key.as_slice())?;
    groupable.notes.iter().for_each(|note| session.say(&format!("note: {note}")));
    session.progress.stage(&format!("clustering by {}", entry.card.name));
    let rows = &groupable.labelled.table;
    let model = Model::fit(&groupable.labelled, groupable.weights.as_deref(), learner.as_ref(), &session.run)?;
    let prediction = session.run.finish(|| model.predict(rows, &session.run))?;
    let Prediction::Clusters { labels, distances } = prediction else {
        return Err(Error::Data { problem: "the method found no clusters".into(), remedy: "Use kmeans.".into() });
    };
    session.run.check_cancelled()?;
    session.progress.finish();
    let k = distances.columns();
    if let Some(path) = &options.save {
        model.save(path)?;
        session.say(&format!("model saved as {}", path.display()));
    }
    let csv = || row_lines(keys.as_ref(), key.unwrap_or("row"), &labels, &distances);
    match &options.output {
        Some(_) if to_stdout => show::print(&csv()),
        Some(path) => {
            quince::model::replace_file(path, csv().as_bytes())
                .map_err(|error| Error::file(path.display().to_string(), &error))?;
            session.say(&format!("the clusters of {} rows written to {}", labels.len(), path.display()));
        }
        None => {}
    }
    if session.json {
        show::print_json(&as_json(&model, rows, &labels, k));
    } else if !to_stdout {
        show::print(&summary(rows, &labels, k));
    }
    say_how_it_went(&model, session);
    Ok(())
}

/// One line a row: its key, its cluster, its distance from the centre (in the features, standardised as for learning).
fn row_lines(keys: Option<&Column>, key: &str, labels: &[u32], distances: &quince::Matrix) -> String {
    let mut text = format!("{},cluster,distance\n", quoted(key));
    for (i, &label) in labels.iter().enumerate() {
        let name = match keys {
            None => (i + 1).to_string(),
            Some(column) => quoted(&column.text(i).unwrap_or_default()),
        };
        text += &format!("{name},{},{}\n", label + 1, number_text(distances[(i, label as usize)]));
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
    report.remarks.iter().for_each(|remark| session.say(&format!("note: {remark}")));
}

/// What each cluster is like: the mean of numbers, the most frequent category and its share.
fn summary(table: &Table, labels: &[u32], k: usize) -> String {
    let mut members = vec![0usize; k];
    labels.iter().for_each(|&label| members[label as usize] += 1);
    let titles: Vec<String> = (1..=k).map(|c| format!("cluster {c}")).collect();
    let mut header = vec!["", "all"];
    header.extend(titles.iter().map(String::as_str));
    let share = |count: usize| format!("{count} ({:.0} %)", 100.0 * count as f64 / labels.len() as f64);
    let counts = members.iter().map(|&count| share(count));
    let mut lines = vec![["rows".to_string(), labels.len().to_string()].into_iter().chain(counts).collect::<Vec<_>>()];
    let told: Vec<&Column> = table.columns().iter().filter(|column| tells(column)).collect();
    for column in told.iter().take(SHOWN) {
        let all = typical(column, |_| true);
        let each = (0..k).map(|c| typical(column, |i| labels[i] as usize == c).0);
        let name = match column.kind() {
            Kind::Category => column.name().to_string(),
            Kind::YesNo => format!("{} (share of yes)", column.name()),
            _ => format!("{} (mean)", column.name()),
        };
        lines.push([name, all.0].into_iter().chain(each).collect());
    }
    let mut text = show::table(&header, &lines, 1..);
    if told.len() > SHOWN {
        text += &format!("and {} more columns: --json shows all\n", told.len() - SHOWN);
    }
    text
}

fn tells(column: &Column) -> bool {
    matches!(column.kind(), Kind::Number | Kind::Count | Kind::YesNo | Kind::Category)
}

/// The mean of the numbers of some rows, or their most frequent category, as text and as JSON.
fn typical(column: &Column, belongs: impl Fn(usize) -> bool) -> (String, Value) {
    let rows = (0..column.rows()).filter(|&i| belongs(i) && !column.is_hole(i));
    if column.kind() != Kind::Category {
        let numbers: Vec<f64> = rows.filter_map(|i| column.number(i)).collect();
        if numbers.is_empty() {
            return ("-".into(), Value::Null);
        }
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        return (show::short(mean), json!(mean));
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    rows.filter_map(|i| column.text(i)).for_each(|name| *counts.entry(name.into_owned()).or_default() += 1);
    let total: usize = counts.values().sum();
    match counts.iter().rev().max_by_key(|(_, count)| **count) {
        None => ("-".into(), Value::Null),
        Some((name, &count)) => {
            let share = count as f64 / total as f64;
            (format!("{name} {:.0} %", 100.0 * share), json!({"most_frequent": name, "share": share}))
        }
    }
}

fn as_json(model: &Model, table: &Table, labels: &[u32], k: usize) -> Value {
    let cluster = |c: usize| {
        let mut columns = Map::new();
        for column in table.columns().iter().filter(|column| tells(column)) {
            columns.insert(column.name().into(), typical(column, |i| labels[i] as usize == c).1);
        }
        let rows = labels.iter().filter(|&&label| label as usize == c).count();
        json!({"cluster": c + 1, "rows": rows, "columns": columns})
    };
    json!({
        "method": model.method().card.name,
        "settings": model.settings(),
        "rows": labels.len(),
        "clusters": (0..k).map(cluster).collect::<Vec<_>>(),
        "labels": labels.iter().map(|label| label + 1).collect::<Vec<_>>(),
        "report": model.report(),
    })
}
