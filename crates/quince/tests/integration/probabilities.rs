//! Probabilities are calibrated, or there are none: a score is never shown as one.

use crate::example;
use quince::evaluate::{Evaluation, Folds, Metric, Roc, compare, evaluate, exact_leave_one_out};
use quince::learn::{DynLearner, Task};
use quince::registry::{METHODS, method};
use quince::run::Stream;
use quince::{Model, Run, Table};
use serde_json::{Value, json};

/// Methods with settings by which they give scores alone.
fn uncalibrated() -> Vec<Box<dyn DynLearner>> {
    let with = METHODS.iter().filter(|method| method.info.setting("probabilities").is_some());
    let mut all: Vec<_> = with.map(|method| method.configure(&json!({"probabilities": false})).unwrap()).collect();
    all.push(method("nearest-centroid").unwrap().configure(&json!({"metric": "manhattan"})).unwrap());
    assert!(all.len() >= 5, "ridge, least squares, both machines and medians");
    all
}

#[test]
fn a_model_that_is_not_calibrated_has_no_probabilities_and_no_log_loss() {
    let table = example("wdbc.csv");
    let labelled = table.labelled("diagnosis", None).unwrap();
    for learner in uncalibrated() {
        let name = learner.info().name;
        let model = Model::fit(&labelled, None, learner.as_ref(), &Run::new()).unwrap();
        for model in [&model, &Model::from_bytes(&model.to_bytes()).unwrap()] {
            let prediction = model.predict(&table).unwrap();
            assert!(!model.has_probabilities() && prediction.probabilities().is_none(), "{name}");
            assert!(model.probabilities(&table).unwrap_err().to_string().contains("no probabilities"), "{name}");
            let found = evaluate(&labelled.target, &prediction, None).unwrap();
            assert!(found.metric(Metric::LogLoss).is_none() && found.metric(Metric::Accuracy).unwrap() > 0.8, "{name}");
            assert!(!found.to_string().contains("log loss"), "{name}");
            // The order of rows needs no calibration.
            let area = Roc::of_classes(&labelled.target, &prediction, None).unwrap()[1].area.unwrap();
            assert!(area > 0.8 && (found.metric(Metric::Area).unwrap() - area).abs() < 1e-12, "{name}: {area}");
            let row: serde_json::Map<String, Value> = labelled
                .table
                .columns()
                .iter()
                .filter_map(|column| Some((column.name().to_string(), json!(column.number(0)?))))
                .collect();
            let answer = model.predict_json(&json!(row).to_string()).unwrap();
            let said = answer[0].as_object().unwrap();
            assert!(said.len() == 1 && said["predicted_diagnosis"].is_string(), "{name}: {answer}");
        }
        if let Some(left_out) = exact_leave_one_out(&labelled, None, learner.as_ref(), &Run::new()).unwrap() {
            assert!(left_out.probabilities().is_none(), "{name}");
        }
    }
}

#[test]
fn a_leaderboard_has_no_log_loss_of_scores() {
    let table = example("wdbc.csv").take(&(0..120).collect::<Vec<_>>());
    let labelled = table.labelled("diagnosis", None).unwrap();
    let mut learners = uncalibrated();
    learners.push(method("ridge").unwrap().configure(&json!({})).unwrap());
    for folds in [Folds::K(3), Folds::LeaveOneOut] {
        let board = compare(&labelled, &learners, &folds, None, None, &Run::new()).unwrap();
        assert_eq!((board.entrants[0].method.as_str(), board.by), ("ridge", Metric::LogLoss));
        assert!(board.entrants[0].metric(Metric::LogLoss).is_some());
        for entrant in &board.entrants[1..] {
            assert!(entrant.metric(Metric::LogLoss).is_none(), "{}", entrant.method);
            assert!(entrant.metric(Metric::Accuracy).is_some(), "{}: {:?}", entrant.method, entrant.problem);
            let said = format!("{} is asked for scores without probabilities", entrant.method);
            assert!(board.warnings.iter().any(|warning| warning.starts_with(&said)), "{:?}", board.warnings);
        }
    }
}

#[test]
fn losses_that_lead_to_probabilities_need_no_calibration() {
    let table = example("wdbc.csv");
    let labelled = table.labelled("diagnosis", None).unwrap();
    for method in METHODS.iter().filter(|method| method.info.learns(Task::Classification)) {
        let model = Model::fit(&labelled, None, method.configure(&json!({})).unwrap().as_ref(), &Run::new()).unwrap();
        let sums = model.probabilities(&table).unwrap();
        assert!(
            (0..table.rows()).all(|i| (sums.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-9),
            "{}",
            method.info.name
        );
    }
    let logistic = json!({"solver": "sgd", "loss": "log", "probabilities": false, "epochs": 5});
    let learner = method("linear-svm").unwrap().configure(&logistic).unwrap();
    let model = Model::fit(&labelled, None, learner.as_ref(), &Run::new()).unwrap();
    let evaluation = evaluate(&labelled.target, &model.predict(&table).unwrap(), None).unwrap();
    assert!(matches!(evaluation, Evaluation::Classification { log_loss: Some(_), .. }));
}

/// A rare class among a common one, with all degrees of doubt.
#[test]
fn the_label_has_the_largest_probability_however_rare_its_class_is() {
    let mut stream = Stream::new(8, 0);
    let mut row = |i: usize| {
        let rare = i.is_multiple_of(8);
        let size = stream.normal() + if rare { 1.5 } else { 0.0 };
        format!("{size},{},{}\n", stream.below(5) + 2 * usize::from(rare), if rare { "rare" } else { "common" })
    };
    let table = Table::from_csv(&format!("size,visits,label\n{}", (0..400).map(&mut row).collect::<String>())).unwrap();
    let asked: String = (-300..700).map(|i: i32| format!("{},{}\n", f64::from(i) * 0.01, i.rem_euclid(7))).collect();
    let asked = Table::from_csv(&format!("size,visits\n{asked}")).unwrap();
    let labelled = table.labelled("label", None).unwrap();
    // The nearest centroid follows scikit-learn's two rules, which differ: the distance says the label.
    let methods = METHODS.iter().filter(|method| method.info.name != "nearest-centroid");
    for method in methods.filter(|method| method.info.learns(Task::Classification)) {
        let learner = method.configure(&json!({})).unwrap();
        let model = Model::fit(&labelled, None, learner.as_ref(), &Run::new()).unwrap();
        let prediction = model.predict(&asked).unwrap();
        let probabilities = prediction.probabilities().unwrap();
        for (i, label) in prediction.labels().into_iter().enumerate() {
            let row = probabilities.row(i);
            assert!(row.iter().all(|p| *p <= row[label as usize]), "{}: {row:?} {label}", method.info.name);
        }
    }
}
