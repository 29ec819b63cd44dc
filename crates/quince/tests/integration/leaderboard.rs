//! What `compare` promises.

use crate::example;
use quince::evaluate::{Contestants, Folds, Metric, compare};
use quince::learn::{Capability, DynLearner};
use quince::linear::{LeastSquares, Ridge};
use quince::registry::{METHODS, Registry};
use quince::{Run, Table};
use serde_json::json;
use std::time::Duration;

/// Every method that learns three classes.
fn everything() -> Vec<Box<dyn DynLearner>> {
    let able = |method: &&quince::registry::Method| {
        method.info.can(Capability::Classify) && !method.info.can(Capability::TwoClasses)
    };
    let learners = METHODS.iter().filter(able);
    learners.map(|method| method.configure(&json!({})).unwrap()).collect()
}

#[test]
fn methods_are_ranked_by_log_loss_and_the_baseline_is_last_on_iris() {
    let iris = example("iris.csv").labelled("species", None).unwrap();
    let board = compare(&iris, &everything(), &Folds::K(10), None, None, &Run::new()).unwrap();
    assert_eq!((board.folds, board.by, board.rows), (10, Metric::LogLoss, 150));
    let losses: Vec<f64> = board.entrants.iter().map(|e| e.metric(Metric::LogLoss).unwrap().mean).collect();
    assert!(losses.windows(2).all(|pair| pair[0] <= pair[1]), "{losses:?}");
    let last = board.entrants.last().unwrap();
    assert_eq!(last.method, "baseline");
    // Three classes of equal size: the baseline's log loss is ln 3 and its accuracy 1/3, in every fold.
    assert!((last.metric(Metric::LogLoss).unwrap().mean - 3f64.ln()).abs() < 1e-12);
    assert!((last.metric(Metric::Accuracy).unwrap().mean - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn another_metric_gives_another_order() {
    let wine = example("wine.csv").labelled("cultivar", None).unwrap();
    for by in [Metric::Accuracy, Metric::F1, Metric::Area] {
        let board = compare(&wine, &everything(), &Folds::K(5), Some(by), None, &Run::new()).unwrap();
        let values: Vec<f64> = board.entrants.iter().map(|e| e.metric(by).unwrap().mean).collect();
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{values:?}");
    }
}

#[test]
fn a_small_class_takes_no_folds_away_and_a_class_of_one_row_is_refused() {
    let csv = |small: usize| {
        let rows = (0..30).map(|i| format!("{},{}\n", i % 9, if i < small { "rare" } else { "common" }));
        Table::from_csv(&format!("x,y\n{}", rows.collect::<String>())).unwrap().labelled("y", None).unwrap()
    };
    let board = compare(&csv(3), &everything(), &Folds::K(10), None, None, &Run::new()).unwrap();
    assert_eq!(board.folds, 10);
    assert!(board.entrants.iter().any(|entrant| entrant.method == "mixture"));
    assert!(board.entrants.iter().all(|entrant| entrant.folds == 10 && entrant.problem.is_none()));
    assert_eq!(board.warnings, ["the class 'rare' has 3 rows, and is tested in 3 of 10 folds"]);
    let refused = compare(&csv(1), &everything(), &Folds::K(10), None, None, &Run::new()).unwrap_err();
    assert!(refused.to_string().contains("'rare' has one row only"));
}

#[test]
fn exact_leave_one_out_is_what_refitting_every_row_gives() {
    // `refitted` hides the algebra of the method it wraps, so that compare must fit once a row.
    let learners: Vec<Box<dyn DynLearner>> =
        vec![Box::new(Ridge::default()), Box::new(LeastSquares::default()), Box::new(Refitted(Ridge::default()))];
    let table = Table::from_csv(&std::fs::read_to_string(crate::example_path("wine.csv")).unwrap()).unwrap();
    let numbers = table.labelled("alcohol", None).unwrap();
    let board = compare(&numbers, &learners, &Folds::LeaveOneOut, None, None, &Run::new()).unwrap();
    let ridge: Vec<f64> =
        board.entrants.iter().filter(|e| e.method == "ridge").map(|e| e.metric(Metric::Rmse).unwrap().mean).collect();
    assert_eq!(ridge.len(), 2);
    assert!((ridge[0] - ridge[1]).abs() < 1e-10, "{ridge:?}");
}

struct Refitted(Ridge);

impl DynLearner for Refitted {
    fn info(&self) -> &'static quince::learn::MethodInfo {
        self.0.info()
    }
    fn method(&self) -> quince::learn::Method {
        self.0.method()
    }
    fn settings(&self) -> serde_json::Value {
        self.0.settings()
    }
    fn resumes(&self) -> bool {
        false
    }
    fn has_probabilities_dyn(&self) -> bool {
        self.0.has_probabilities_dyn()
    }
    fn learns(&self, fitted: &dyn quince::learn::Fitted) -> bool {
        self.0.learns(fitted)
    }
    fn fit_dyn(
        &self,
        examples: &quince::learn::Examples<'_>,
        run: &Run,
    ) -> quince::Result<(std::sync::Arc<dyn quince::learn::Fitted>, quince::run::Report)> {
        self.0.fit_dyn(examples, run)
    }
    fn resume_dyn(
        &self,
        _: &dyn quince::learn::Fitted,
        _: &quince::learn::Examples<'_>,
        _: &Run,
    ) -> quince::Result<Option<(std::sync::Arc<dyn quince::learn::Fitted>, quince::run::Report)>> {
        Ok(None)
    }
    fn leave_one_out_dyn(
        &self,
        _: &quince::learn::Examples<'_>,
        _: &Run,
    ) -> quince::Result<Option<quince::learn::Prediction>> {
        Ok(None)
    }
}

#[test]
fn no_time_at_all_is_said_for_every_method() {
    let iris = example("iris.csv").labelled("species", None).unwrap();
    let run = Run::new().budget(Duration::ZERO);
    let board = compare(&iris, &everything(), &Folds::K(5), None, None, &run).unwrap();
    assert!(board.entrants.iter().all(|e| e.folds == 0 && e.problem.as_ref().unwrap().contains("budget")));
}

#[test]
fn grouped_folds_keep_groups_together_in_compare() {
    let iris = example("iris.csv").labelled("species", None).unwrap();
    let groups: Vec<u32> = (0..150).map(|i| i % 15).collect();
    let board = compare(&iris, &everything(), &Folds::Grouped(5, groups), None, None, &Run::new()).unwrap();
    assert_eq!(board.folds, 5);
    assert!(board.entrants.iter().all(|e| e.folds == 5 && e.problem.is_none()));
}

#[test]
fn where_no_method_is_named_all_are_compared_that_learn_the_target_or_a_reason_is_given() {
    let iris = example("iris.csv").labelled("species", None).unwrap();
    let contestants = Contestants::of(&Registry::standard(), &iris.target);
    let mut named: Vec<&str> = contestants.methods.iter().map(|method| method.info.name).collect();
    named.extend(contestants.left_out.iter().map(|method| method.method.as_str()));
    named.sort_unstable();
    let able = METHODS.iter().filter(|method| method.info.can(Capability::Classify));
    let mut able: Vec<&str> = able.map(|method| method.info.name).collect();
    able.sort_unstable();
    assert_eq!(named, able);
    let reason = |name: &str| contestants.left_out.iter().find(|method| method.method == name).unwrap().reason.as_str();
    assert_eq!(reason("svm"), "learns two classes, and the target has 3");
    let learners = contestants.learners().unwrap();
    let board = compare(&iris, &learners, &Folds::K(3), None, None, &Run::new()).unwrap();
    assert!(board.check().is_ok() && board.entrants.len() == contestants.methods.len());
    // A method of one's own takes part as well.
    let ridge_alone = Registry::standard().with::<Ridge>();
    let numbers = example("wine.csv").labelled("alcohol", None).unwrap();
    assert!(Contestants::of(&ridge_alone, &numbers.target).methods.iter().any(|method| method.info.name == "ridge"));
}

#[test]
fn a_leaderboard_without_any_result_is_an_error_with_the_first_reason() {
    let iris = example("iris.csv").labelled("species", None).unwrap();
    let methods: Vec<Box<dyn DynLearner>> =
        vec![Box::new(LeastSquares::default()), Box::new(quince::cluster::KMeans::new(2))];
    let board = compare(&iris, &methods[1..], &Folds::K(3), None, None, &Run::new()).unwrap();
    let said = board.check().unwrap_err().to_string();
    assert!(said.starts_with("no method has a result: ") && said.contains("'kmeans' does not learn classes"), "{said}");
    assert!(compare(&iris, &methods, &Folds::K(3), None, None, &Run::new()).unwrap().check().is_ok());
}

#[test]
fn groups_are_never_dropped_in_silence() {
    let groups = || Some(vec![0, 0, 1, 1, 2, 2]);
    assert_eq!(Folds::default(), Folds::K(10));
    assert_eq!(Folds::of("3", None, groups()).unwrap(), Folds::Grouped(3, groups().unwrap()));
    assert_eq!(Folds::of("10", Some(0.25), None).unwrap(), Folds::HoldOut(0.25));
    for (folds, hold_out) in [("loo", None), ("10", Some(0.25))] {
        let said = Folds::of(folds, hold_out, groups()).unwrap_err();
        assert!(said.to_string().starts_with("setting 'group' cannot be kept together when "), "{said}");
    }
    for folds in ["1", "0", "-3", "ten", ""] {
        assert_eq!(Folds::of(folds, None, None).unwrap_err().to_string(), format!("setting 'folds' cannot be {folds}"));
    }
}
