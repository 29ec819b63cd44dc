//! `quince curve`: learning curves over the number of rows, and validation curves over a setting.

use super::compare::folds;
use crate::arguments::Curve;
use crate::input::{self, Session};
use crate::show;
use quince::evaluate::{self, CurveCandidate, Metric, TRAINING_FRACTIONS, curve};
use quince::learn::DynLearner;
use quince::registry::{self, Method};
use quince::table::{Encoding, Labelled};
use quince::{Error, Result};

pub fn run(options: &Curve, session: &Session) -> Result<()> {
    let table = session.table(&options.table, &options.kinds)?;
    let supervised =
        input::supervised(&table, &options.target, options.group.as_deref(), &options.kinds, false, session)?;
    let labelled = &supervised.labelled;
    let by = options.by.as_deref().map(|name| Metric::for_task(name, labelled.target.task())).transpose()?;
    let folds = folds(&options.folds, supervised.groups)?;
    let method = registry::method(&options.model)?;
    let mut written = options.set.iter().map(|text| input::assignment(text)).collect::<Result<Vec<_>>>()?;
    input::add_families(method, &options.family, &mut written)?;
    let (over, ways) = match &options.vary {
        None => {
            let learner = method.configure(&input::settings(method, &written)?)?;
            let shares = TRAINING_FRACTIONS.iter().map(|share| (format!("{} %", share * 100.0), None, *share));
            ("rows".to_string(), Ways { learners: vec![learner], tables: Vec::new(), points: shares.collect() })
        }
        Some(text) => {
            let (name, values) = text.split_once('=').unwrap_or((text, ""));
            (name.to_string(), ways(name, values, labelled, method, &mut written)?)
        }
    };
    let curve = curve(&over, &ways.trials(labelled), &folds, by, supervised.weights.as_deref(), &session.run)?;
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
    learners: Vec<Box<dyn DynLearner>>,
    tables: Vec<Labelled>,
    /// The name of the point, the table it takes if not the usual one, and the share of the rows.
    points: Vec<(String, Option<usize>, f64)>,
}

impl Ways {
    fn trials<'a>(&'a self, usual: &'a Labelled) -> Vec<CurveCandidate<'a>> {
        let trial = |(p, (value, table, share)): (usize, &(String, Option<usize>, f64))| CurveCandidate {
            value: value.clone(),
            labelled: table.map_or(usual, |table| &self.tables[table]),
            learner: self.learners[p.min(self.learners.len() - 1)].as_ref(),
            fraction: *share,
        };
        self.points.iter().enumerate().map(trial).collect()
    }
}

/// A setting of the method takes several values, or `column:setting` one of how a column is encoded.
fn ways(
    name: &str,
    values: &str,
    labelled: &Labelled,
    method: &Method,
    written: &mut Vec<(String, String)>,
) -> Result<Ways> {
    let mut ways = Ways { learners: Vec::new(), tables: Vec::new(), points: Vec::new() };
    let column = name.rsplit_once(':').filter(|(column, _)| labelled.table.column(column).is_ok());
    let degree = name == "degree" && method.info.setting(name).is_none();
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
                ways.learners.push(method.configure(&input::settings(method, written)?)?);
                written.pop();
                ways.points.push((value.to_string(), None, 1.0));
            }
        }
    }
    if ways.learners.is_empty() {
        ways.learners.push(method.configure(&input::settings(method, written)?)?);
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
    let row = |(p, point): (usize, &evaluate::CurvePoint)| {
        let best = curve.best == Some(p) && !by_rows;
        let note = point.problem.clone().unwrap_or_else(|| if best { "best".into() } else { String::new() });
        let rows = format!("{:.0}", point.rows);
        vec![
            point.value.clone(),
            rows,
            show::mean_and_deviation(point.train),
            show::mean_and_deviation(point.validation),
            note,
        ]
    };
    let rows: Vec<Vec<String>> = curve.points.iter().enumerate().map(row).collect();
    let title = curve.by.title();
    let better = if curve.by.larger_is_better() { "higher" } else { "lower" };
    let mut text = format!("{} of {} on '{}' ({better} is better)\n\n", title, curve.method, labelled.name);
    text += &show::table(&header, &rows, 0..4);
    text
}
