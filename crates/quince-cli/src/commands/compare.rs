//! `quince compare`: the leaderboard.

use crate::arguments::Compare;
use crate::input::{self, Session};
use crate::show;
use quince::evaluate::{Comparison, Folds, Metric, compare};
use quince::learn::{DynLearner, Target};
use quince::registry::{self, METHODS};
use quince::{Error, Result};

pub fn run(options: &Compare, session: &Session) -> Result<()> {
    let table = session.table(&options.table, &options.kinds)?;
    let supervised =
        input::supervised(&table, &options.target, options.group.as_deref(), &options.kinds, false, session)?;
    let task = supervised.labelled.target.task();
    let by = options.by.as_deref().map(|name| Metric::for_task(name, task)).transpose()?;
    let learners = learners(options, &supervised.labelled.target)?;
    let folds = match options.hold_out {
        Some(share) => Folds::HoldOut(share),
        None => folds(&options.folds, supervised.groups)?,
    };
    let weights = supervised.weights.as_deref();
    let comparison = compare(&supervised.labelled, &learners, &folds, by, weights, &session.run)?;
    session.progress.finish();
    for warning in &comparison.warnings {
        session.say(&format!("warning: {warning}"));
    }
    if options.models.is_empty() {
        for method in METHODS {
            if let Some(reason) = method.info.why_not_compared(&supervised.labelled.target) {
                session.say(&format!("note: {} {reason}", method.info.name));
            }
        }
    }
    if session.json {
        show::print_json(&comparison)
    } else {
        show::print(&leaderboard(&comparison, &folds))
    }
    let failed = comparison.entrants.iter().find(|entrant| entrant.folds == 0);
    match failed.and_then(|entrant| entrant.problem.clone()) {
        Some(problem) if comparison.entrants.iter().all(|entrant| entrant.folds == 0) => {
            Err(Error::Data { problem: format!("no method has a result: {problem}"), remedy: String::new() })
        }
        _ => Ok(()),
    }
}

/// The methods asked for, or all that learn this kind of target, with their settings.
fn learners(options: &Compare, target: &Target) -> Result<Vec<Box<dyn DynLearner>>> {
    let methods: Vec<_> = if options.models.is_empty() {
        METHODS.iter().filter(|method| method.info.is_compared(target)).collect()
    } else {
        options.models.iter().map(|name| registry::method(name.trim())).collect::<Result<_>>()?
    };
    methods.iter().try_for_each(|method| input::check_supervised(method, "models"))?;
    let mut written = Vec::new();
    for text in &options.set {
        let (name, value) = input::assignment(text)?;
        let (name_of_method, setting) = name.split_once('.').ok_or_else(|| Error::Setting {
            name: name.clone(),
            problem: "does not say which method it belongs to".into(),
            remedy: "Write method.setting=value, for example ridge.alpha=0.1.".into(),
        })?;
        registry::method(name_of_method)?;
        if !methods.iter().any(|method| method.info.name == name_of_method) {
            return Err(Error::Setting {
                name: name.clone(),
                problem: format!("has no effect: '{name_of_method}' is not compared"),
                remedy: "Add the method to --models, or leave the setting out.".into(),
            });
        }
        written.push((name_of_method.to_string(), (setting.to_string(), value)));
    }
    let with_families: Vec<_> = methods.iter().filter(|method| method.info.setting("family").is_some()).collect();
    if let (false, [], [first, ..]) = (options.family.is_empty(), &with_families[..], &methods[..]) {
        input::add_families(first, &options.family, &mut Vec::new())?;
    }
    for method in with_families.iter().filter(|_| !options.family.is_empty()) {
        let setting = ("family".to_string(), options.family.join(","));
        written.push((method.info.name.to_string(), setting));
    }
    let configure = |method: &&registry::Method| {
        let own: Vec<_> = written.iter().filter(|(m, _)| m == method.info.name).map(|(_, s)| s.clone()).collect();
        method.configure(&input::settings(method, &own)?)
    };
    methods.iter().map(configure).collect()
}

pub fn folds(text: &str, groups: Option<Vec<u32>>) -> Result<Folds> {
    if text == "loo" {
        if groups.is_some() {
            return Err(Error::Setting {
                name: "group".into(),
                problem: "cannot be kept together when each row is left out alone".into(),
                remedy: "Use a number of folds with --group.".into(),
            });
        }
        return Ok(Folds::LeaveOneOut);
    }
    let count = text.parse().ok().filter(|&k: &usize| k >= 2).ok_or_else(|| Error::Setting {
        name: "folds".into(),
        problem: format!("cannot be {text}"),
        remedy: "It takes a whole number of at least 2, or loo for leave-one-out.".into(),
    })?;
    Ok(match groups {
        Some(groups) => Folds::Grouped(count, groups),
        None => Folds::K(count),
    })
}

fn leaderboard(comparison: &Comparison, folds: &Folds) -> String {
    let metrics: Vec<Metric> = Metric::ALL.into_iter().filter(|metric| metric.suits(comparison.task)).collect();
    let mut header = vec!["", "model"];
    header.extend(metrics.iter().map(|metric| metric.title()));
    header.extend(["fit", "predict"]);
    let (ranked, failed): (Vec<_>, Vec<_>) = comparison.entrants.iter().partition(|e| e.folds > 0);
    let rows: Vec<Vec<String>> = ranked
        .iter()
        .enumerate()
        .map(|(place, entrant)| {
            let mut row = vec![(place + 1).to_string(), entrant.method.clone()];
            row.extend(metrics.iter().map(|&metric| show::mean_and_deviation(entrant.metric(metric))));
            row.extend([show::seconds(entrant.fit_seconds), show::seconds(entrant.predict_seconds)]);
            row
        })
        .collect();
    let way = match folds {
        Folds::LeaveOneOut => "leave-one-out".to_string(),
        Folds::HoldOut(share) => format!("tested once on {:.0} % of the rows", share * 100.0),
        _ => format!("{}-fold cross-validation, mean ± standard deviation over folds", comparison.folds),
    };
    let mut text =
        format!("{} from {} rows, by {} ({way})\n\n", comparison.target, comparison.rows, comparison.by.title());
    text += &show::table(&header, &rows, 2..);
    for entrant in &failed {
        text += &format!("\n{}: no result: {}\n", entrant.method, entrant.problem.as_deref().unwrap_or("unknown"));
    }
    for entrant in ranked.iter().filter(|entrant| entrant.problem.is_some()) {
        let problem = entrant.problem.as_deref().unwrap_or_default();
        text += &format!("\n{}: {} of {} folds only: {problem}\n", entrant.method, entrant.folds, comparison.folds);
    }
    text
}
