//! `quince curve`: learning curves over the number of rows, and validation curves over a setting.

use crate::arguments::Curve;
use crate::input::{self, Session};
use crate::show;
use quince::Result;
use quince::evaluate::{self, Folds, Metric, TRAINING_FRACTIONS, Varied, curve};
use quince::registry;
use quince::table::Labelled;

pub fn run(options: &Curve, session: &Session) -> Result<()> {
    let table = session.table(&options.table, &options.kinds)?;
    let supervised =
        input::supervised(&table, &options.target, options.group.as_deref(), &options.kinds, false, session)?;
    input::check_time_is_left(session)?;
    let labelled = &supervised.labelled;
    let by = options.by.as_deref().map(|name| Metric::for_task(name, labelled.target.task())).transpose()?;
    let folds = Folds::of(&options.folds, None, supervised.groups)?;
    let method = registry::method(&options.model)?;
    let written = input::written_settings(method, &options.set, &options.family)?;
    let varied = match &options.vary {
        None => Varied::Rows(TRAINING_FRACTIONS.to_vec()),
        Some(text) => {
            let (name, values) = text.split_once('=').unwrap_or((text, ""));
            Varied::parse(name, values, labelled, method)?
        }
    };
    let candidates = varied.candidates(labelled, method, &input::settings(method, &written)?)?;
    let curve = curve(varied.name(), &candidates, &folds, by, supervised.weights.as_deref(), &session.run)?;
    session.progress.finish();
    curve.warnings.iter().for_each(|warning| session.say(&format!("warning: {warning}")));
    if session.json {
        show::print_json(&curve)
    } else {
        show::print(&shown(&curve, labelled))
    }
    Ok(())
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
