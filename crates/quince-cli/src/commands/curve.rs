//! `quince curve`: how good a method is as the rows grow, or as a setting changes.

use super::compare::folds;
use crate::arguments::Curve;
use crate::input::{self, Session};
use crate::show;
use quince::encode::Encoding;
use quince::evaluate::{self, Metric, SHARES, Trial, curve};
use quince::learn::Learn;
use quince::registry::{self, Entry};
use quince::table::Labelled;
use quince::{Error, Result};

pub fn run(options: &Curve, session: &Session) -> Result<()> {
    let table = session.table(&options.table, &options.kinds)?;
    let learnable =
        input::learnable(&table, &options.target, options.group.as_deref(), &options.kinds, false, session)?;
    let labelled = &learnable.labelled;
    let by = options.by.as_deref().map(|name| Metric::for_task(name, labelled.target.task())).transpose()?;
    let folds = folds(&options.folds, learnable.groups)?;
    let entry = registry::method(&options.model)?;
    let mut written = options.set.iter().map(|text| input::assignment(text)).collect::<Result<Vec<_>>>()?;
    input::add_families(entry, &options.family, &mut written)?;
    let (over, ways) = match &options.vary {
        None => {
            let learner = entry.configure(&input::settings(entry, &written)?)?;
            let shares = SHARES.iter().map(|share| (format!("{} %", share * 100.0), None, *share));
            ("rows".to_string(), Ways { learners: vec![learner], tables: Vec::new(), points: shares.collect() })
        }
        Some(text) => {
            let (name, values) = text.split_once('=').unwrap_or((text, ""));
            (name.to_string(), ways(name, values, labelled, entry, &mut written)?)
        }
    };
    let curve = curve(&over, &ways.trials(labelled), &folds, by, learnable.weights.as_deref(), &session.run)?;
    session.progress.finish();
    curve.warnings.iter().for_each(|warning| session.say(&format!("warning: {warning}")));
    if session.json {
        show::print_json(&curve)
    } else {
        show::print(&shown(&curve, labelled))
    }
    Ok(())
}

/// What is tried at each point: a learner and a table, by their places.
struct Ways {
    learners: Vec<Box<dyn Learn>>,
    tables: Vec<Labelled>,
    /// How the point is called, which table it takes if not the usual one, and how many of the rows.
    points: Vec<(String, Option<usize>, f64)>,
}

impl Ways {
    fn trials<'a>(&'a self, usual: &'a Labelled) -> Vec<Trial<'a>> {
        let trial = |(p, (value, table, share)): (usize, &(String, Option<usize>, f64))| Trial {
            value: value.clone(),
            labelled: table.map_or(usual, |table| &self.tables[table]),
            learner: self.learners[p.min(self.learners.len() - 1)].as_ref(),
            share: *share,
        };
        self.points.iter().enumerate().map(trial).collect()
    }
}

/// A setting of the method takes several values, or `column:setting` one of how a column is encoded.
fn ways(
    name: &str,
    values: &str,
    labelled: &Labelled,
    entry: &Entry,
    written: &mut Vec<(String, String)>,
) -> Result<Ways> {
    let mut ways = Ways { learners: Vec::new(), tables: Vec::new(), points: Vec::new() };
    let column = name.rsplit_once(':').filter(|(column, _)| labelled.table.column(column).is_ok());
    let degree = name == "degree" && entry.card.setting(name).is_none();
    for value in values.split(',').map(str::trim).filter(|value| !value.is_empty()) {
        match column {
            _ if degree => {
                let degree = value.parse().ok().filter(|degree| (1..=10).contains(degree)).ok_or_else(|| {
                    let problem = format!("cannot be {value}");
                    Error::Setting { name: name.into(), problem, remedy: "Give numbers from 1 to 10.".into() }
                })?;
                let encoding = Encoding { degree, ..labelled.table.encoding().clone() };
                ways.points.push((value.to_string(), Some(ways.tables.len()), 1.0));
                ways.tables
                    .push(Labelled { table: labelled.table.clone().with_encoding(encoding)?, ..labelled.clone() });
            }
            Some((column, setting)) => {
                let table = labelled.table.clone().encoded_also(column, &format!("{setting}={value}"))?;
                ways.points.push((value.to_string(), Some(ways.tables.len()), 1.0));
                ways.tables.push(Labelled { table, ..labelled.clone() });
            }
            None => {
                written.push((name.to_string(), value.to_string()));
                ways.learners.push(entry.configure(&input::settings(entry, written)?)?);
                written.pop();
                ways.points.push((value.to_string(), None, 1.0));
            }
        }
    }
    if ways.learners.is_empty() {
        ways.learners.push(entry.configure(&input::settings(entry, written)?)?);
    }
    if ways.points.is_empty() {
        let remedy = "Write setting=value,value,..., for example alpha=0.1,1,10.";
        return Err(Error::Setting { name: name.into(), problem: "has no values".into(), remedy: remedy.into() });
    }
    Ok(ways)
}

fn shown(curve: &evaluate::Curve, labelled: &Labelled) -> String {
    let by_rows = curve.over == "rows";
    let header =
        [if by_rows { "share of rows" } else { curve.over.as_str() }, "rows learnt", "learnt rows", "other rows", ""];
    let row = |(p, point): (usize, &evaluate::Point)| {
        let best = curve.best == Some(p) && !by_rows;
        let note = point.problem.clone().unwrap_or_else(|| if best { "best".into() } else { String::new() });
        let rows = format!("{:.0}", point.rows);
        vec![point.value.clone(), rows, show::spread(point.train), show::spread(point.validation), note]
    };
    let rows: Vec<Vec<String>> = curve.points.iter().enumerate().map(row).collect();
    let title = curve.by.title();
    let better = if curve.by.larger_is_better() { "higher" } else { "lower" };
    let mut text = format!("{} of {} on '{}' ({better} is better)\n\n", title, curve.method, labelled.name);
    text += &show::table(&header, &rows, 0..4);
    text
}
