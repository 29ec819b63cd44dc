//! `quince cluster`: clusters of similar rows, what each is like, and its members.

use crate::arguments::Cluster;
use crate::destination::Destination;
use crate::input::{self, Session};
use crate::layout::Layout;
use crate::show;
use quince::learn::{DynLearner, Task};
use quince::model::{AnswerColumn, AnswerValues, ClusterProfiles, Members, Profile, Typical};
use quince::registry::{self, METHODS};
use quince::run::Outcome;
use quince::table::{Column, OutputColumn};
use quince::{Error, Kind, Model, Result};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The most columns that are shown of each cluster.
const MAX_COLUMNS_SHOWN: usize = 20;
/// The number of clusters that a summary shows.
const MAX_CLUSTERS_SHOWN: usize = 12;

pub fn run(options: &Cluster, session: &Session) -> Result<()> {
    let learner = learner(options)?;
    let to_stdout = options.output.as_deref() == Some(Path::new("-"));
    check_places(options, to_stdout, session)?;
    let output = Destination::new(&options.output, &[&options.table.table])?;
    let table = session.table(&options.table, &options.kinds)?;
    let key = options.key.as_deref();
    let keys = key.map(|name| table.column(name).cloned()).transpose()?;
    let unsupervised = table.unsupervised(options.weight.as_deref(), key.as_slice())?;
    unsupervised.notes.iter().for_each(|note| session.say(&format!("note: {note}")));
    session.progress.stage(&format!("clustering by {}", learner.info().name));
    let rows = &unsupervised.labelled.table;
    let weights = unsupervised.weights.as_deref();
    let model = Model::fit(&unsupervised.labelled, weights, learner.as_ref(), &session.run)?;
    let members = session.run.finish(|| model.members(rows, &session.run))?;
    let profiles = ClusterProfiles::of_members(rows, &members, weights)?;
    session.run.check_cancelled()?;
    session.progress.finish();
    if let Some(path) = &options.save {
        model.save(path)?;
        session.say(&format!("model saved as {}", path.display()));
    }
    let (count, labels) = (members.labels.len(), session.json.then(|| members.labels.clone()));
    if options.output.is_some() {
        let columns = row_columns(keys.as_ref(), key.unwrap_or("row"), members);
        match output.is_delimited() {
            true => output.write_text(&lines(&columns, Layout::new(output.path(), None)))?,
            false => output.write_columns(columns.into_iter().map(OutputColumn::from).collect())?,
        }
    }
    if let Some(path) = output.path() {
        session.say(&format!("{count} rows written to {}", path.display()));
    }
    if let Some(labels) = labels {
        show::print_json(&as_json(&model, &profiles, &labels, weights.is_some()));
    } else if !to_stdout {
        show::print(&summary(&profiles, weights.is_some()));
    }
    say_how_it_went(&model, session);
    Ok(())
}

/// The method with its settings; an error if it finds no clusters.
fn learner(options: &Cluster) -> Result<Box<dyn DynLearner>> {
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
    let mut written = input::written_settings(method, &options.set, &options.family)?;
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
    method.configure(&input::settings(method, &written)?)
}

/// An error if rows, model and JSON would go to the same place, or to one where nothing can be written.
fn check_places(options: &Cluster, to_stdout: bool, session: &Session) -> Result<()> {
    let twice = options.output.is_some() && options.output == options.save;
    if twice || (to_stdout && session.json) {
        return Err(Error::Setting {
            name: "output".into(),
            problem: "is taken already".into(),
            remedy: "Give rows, model and JSON places of their own.".into(),
        });
    }
    options.save.as_ref().map_or(Ok(()), |save| input::check_output(save, &[&options.table.table]))
}

/// Of each row its key, its cluster, and what the method says of it beside: the distance from the centre (in the features,
/// standardised as for learning), or the responsibility of the component and the density. A name that the key has taken gets an underscore.
fn row_columns(keys: Option<&Column>, key: &str, members: Members) -> Vec<AnswerColumn> {
    let rows = 0..members.labels.len();
    let values = match keys {
        None => AnswerValues::Numbers(rows.map(|i| (i + 1) as f64).collect()),
        Some(column) => AnswerValues::Labels(rows.map(|i| column.text(i).unwrap_or_default().into_owned()).collect()),
    };
    let found = AnswerColumn::of_members(members).into_iter().map(|column| column.beside(&[key.to_string()]));
    std::iter::once(AnswerColumn { name: key.to_string(), values }).chain(found).collect()
}

/// One line per row.
fn lines(columns: &[AnswerColumn], layout: Layout) -> String {
    let mut text = layout.line(columns.iter().map(|column| &column.name));
    let rows = columns.first().map_or(0, |column| column.values.rows());
    for i in 0..rows {
        text += &layout.line(columns.iter().map(|column| column.values.text(i)));
    }
    text
}

fn say_how_it_went(model: &Model, session: &Session) {
    let report = model.report();
    match report.outcome {
        Outcome::Clusters { error, explained } => session.say(&format!(
            "{}; within-cluster error {} ({:.1} % of the variance explained)",
            report.route,
            show::short(error),
            100.0 * explained
        )),
        Outcome::Mixture { log_likelihood_of_a_row, bic, aic, icl } => {
            let criterion = model.settings()["criterion"].as_str().unwrap_or_default();
            let value = show::short(match criterion {
                "aic" => aic,
                "icl" => icl,
                _ => bic,
            });
            let (likelihood, name) = (show::number(log_likelihood_of_a_row), criterion.to_uppercase());
            session.say(&format!("{}; log likelihood of a row {likelihood}, {name} {value}", report.route));
        }
        Outcome::Novelty { .. } => session.say(&report.route),
        _ => {}
    }
    if !report.holds() {
        session.say("warning: the answer is not as exact as asked; allow more time or more steps");
    }
    report.remarks.iter().for_each(|remark| session.say(&format!("note: {remark}")));
}

/// What each cluster is like: the mean of numbers, the most frequent category and its share.
fn summary(profiles: &ClusterProfiles, weighted: bool) -> String {
    let shown = &profiles.clusters[..profiles.clusters.len().min(MAX_CLUSTERS_SHOWN)];
    let mut header = vec!["", "all"];
    header.extend(shown.iter().map(|cluster| cluster.name.as_str()));
    let line = |name: &str, text: fn(f64) -> String, of: fn(&Profile) -> f64| {
        let all = of(&profiles.all);
        let share = |part: f64| format!("{} ({:.0} %)", text(part), 100.0 * part / all);
        let each = shown.iter().map(|cluster| share(of(cluster)));
        [name.to_string(), text(all)].into_iter().chain(each).collect::<Vec<_>>()
    };
    let mut lines = vec![line("rows", |rows| rows.to_string(), |profile| profile.rows as f64)];
    if weighted {
        lines.push(line("weight", show::short, |profile| profile.weight));
    }
    for (at, (column, kind)) in profiles.columns.iter().enumerate().take(MAX_COLUMNS_SHOWN) {
        let name = match kind {
            Kind::Category => column.clone(),
            Kind::YesNo => format!("{column} (share of yes)"),
            _ => format!("{column} (mean)"),
        };
        let each = std::iter::once(&profiles.all).chain(shown);
        lines.push(std::iter::once(name).chain(each.map(|profile| typical(profile.typical[at].as_ref()))).collect());
    }
    let mut text = show::table(&header, &lines, 1..);
    if profiles.columns.len() > MAX_COLUMNS_SHOWN {
        text += &format!("and {} more columns: --json shows all\n", profiles.columns.len() - MAX_COLUMNS_SHOWN);
    }
    if profiles.clusters.len() > shown.len() {
        text += &format!("and {} more clusters: --json shows all\n", profiles.clusters.len() - shown.len());
    }
    text
}

fn typical(typical: Option<&Typical>) -> String {
    match typical {
        Some(Typical::Mean(mean)) => show::short(*mean),
        Some(Typical::MostFrequent { category, share }) => format!("{category} {:.0} %", 100.0 * share),
        _ => "-".into(),
    }
}

fn as_json(model: &Model, profiles: &ClusterProfiles, labels: &[u32], weighted: bool) -> Value {
    let cluster = |(c, profile): (usize, &Profile)| {
        let names = profiles.columns.iter().map(|(name, _)| name.clone());
        let columns: Map<String, Value> = names.zip(profile.typical.iter().map(|typical| json!(typical))).collect();
        let mut cluster = json!({"cluster": c + 1, "name": profile.name, "rows": profile.rows, "columns": columns});
        if weighted {
            cluster["weight"] = json!(profile.weight);
        }
        cluster
    };
    json!({
        "method": model.method().info.name,
        "settings": model.settings(),
        "rows": labels.len(),
        "clusters": profiles.clusters.iter().enumerate().map(cluster).collect::<Vec<_>>(),
        "labels": labels.iter().map(|label| label + 1).collect::<Vec<_>>(),
        "report": model.report(),
    })
}
