//! `quince compare`: the leaderboard.

use crate::arguments::Compare;
use crate::input::{self, Session};
use crate::show;
use quince::evaluate::{Comparison, Contestants, Entrant, Folds, Metric, compare};
use quince::learn::{DynLearner, Target};
use quince::registry::{self, Method, Registry};
use quince::{Error, Result};
use serde_json::json;

pub fn run(options: &Compare, session: &Session) -> Result<()> {
    let table = session.table(&options.table, &options.kinds)?;
    let supervised =
        input::supervised(&table, &options.target, options.group.as_deref(), &options.kinds, false, session)?;
    input::check_time_is_left(session)?;
    let task = supervised.labelled.target.task();
    let by = options.by.as_deref().map(|name| Metric::for_task(name, task)).transpose()?;
    let contestants = contestants(options, &supervised.labelled.target)?;
    let learners = learners(options, &contestants.methods)?;
    let folds = Folds::of(&options.folds, options.hold_out, supervised.groups)?;
    let weights = supervised.weights.as_deref();
    let comparison = compare(&supervised.labelled, &learners, &folds, by, weights, &session.run)?;
    session.progress.finish();
    for warning in &comparison.warnings {
        session.say(&format!("warning: {warning}"));
    }
    for method in &contestants.left_out {
        session.say(&format!("note: {} {}", method.method, method.reason));
    }
    if session.json {
        let mut all = serde_json::to_value(&comparison).unwrap_or_default();
        all["left_out"] = json!(contestants.left_out);
        show::print_json(&all)
    } else if comparison.check().is_ok() || reasons(&comparison) > 1 {
        show::print(&leaderboard(&comparison, &folds))
    }
    comparison.check()
}

/// For how many different reasons methods have no result.
fn reasons(comparison: &Comparison) -> usize {
    let of = |entrant: &Entrant| Some(entrant.problem.as_ref()?.replace(&entrant.method, ""));
    comparison.entrants.iter().filter_map(of).collect::<std::collections::HashSet<_>>().len()
}

/// The methods asked for, or all that learn this kind of target.
fn contestants(options: &Compare, target: &Target) -> Result<Contestants> {
    if options.models.is_empty() {
        return Ok(Contestants::of(&Registry::standard(), target));
    }
    let named = options.models.iter().map(|name| registry::method(name.trim()).copied());
    let mut methods: Vec<Method> = named.collect::<Result<_>>()?;
    let mut seen = std::collections::HashSet::new();
    methods.retain(|method| seen.insert(method.info.name));
    methods.iter().try_for_each(|method| input::check_supervised(method, "models"))?;
    Ok(Contestants { methods, left_out: Vec::new() })
}

/// Methods with the settings that are given.
fn learners(options: &Compare, methods: &[Method]) -> Result<Vec<Box<dyn DynLearner>>> {
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
    if let (false, [], [first, ..]) = (options.family.is_empty(), &with_families[..], methods) {
        input::add_families(first, &options.family, &mut Vec::new())?;
    }
    for method in with_families.iter().filter(|_| !options.family.is_empty()) {
        let setting = ("family".to_string(), options.family.join(","));
        written.push((method.info.name.to_string(), setting));
    }
    let configure = |method: &Method| {
        let own: Vec<_> = written.iter().filter(|(m, _)| m == method.info.name).map(|(_, s)| s.clone()).collect();
        method.configure(&input::settings(method, &own)?)
    };
    methods.iter().map(configure).collect()
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
    if !rows.is_empty() {
        text += &show::table(&header, &rows, 2..);
    }
    for entrant in &failed {
        text += &format!("\n{}: no result: {}\n", entrant.method, entrant.problem.as_deref().unwrap_or("unknown"));
    }
    for entrant in ranked.iter().filter(|entrant| entrant.problem.is_some()) {
        let problem = entrant.problem.as_deref().unwrap_or_default();
        let last = if comparison.is_tested_too_little(entrant) { ", so it is ranked last" } else { "" };
        text +=
            &format!("\n{}: {} of {} folds only{last}: {problem}\n", entrant.method, entrant.folds, comparison.folds);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use quince::evaluate::FoldStatistics;
    use quince::learn::Task;

    #[test]
    fn a_method_that_was_tested_too_little_says_that_it_is_ranked_last() {
        let entrant = |method: &str, mean: f64, folds: usize| Entrant {
            method: method.into(),
            settings: serde_json::Value::Null,
            metrics: vec![(Metric::LogLoss, FoldStatistics { mean, standard_deviation: None })],
            fit_seconds: 0.1,
            predict_seconds: 0.1,
            folds,
            problem: (folds < 10).then(|| format!("the budget ran out before {method} had an answer")),
        };
        let comparison = Comparison {
            task: Task::Classification,
            target: "y".into(),
            rows: 100,
            folds: 10,
            by: Metric::LogLoss,
            entrants: vec![entrant("baseline", 0.7, 10), entrant("ridge", 0.3, 6), entrant("svm", 0.2, 2)],
            warnings: Vec::new(),
        };
        let text = leaderboard(&comparison, &Folds::K(10));
        assert!(text.contains("\nridge: 6 of 10 folds only: the budget ran out"), "{text}");
        assert!(text.contains("\nsvm: 2 of 10 folds only, so it is ranked last: the budget ran out"), "{text}");
        assert_eq!(reasons(&comparison), 1);
    }
}
