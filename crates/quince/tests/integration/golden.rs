//! Golden files: models that earlier releases have written are read, and answer what numpy and scikit-learn have computed
//! (`tests/golden/make.py`, `expected.py`). Format 1 is frozen: no file is ever written again.

use crate::example;
use quince::learn::{Prediction, Task};
use quince::registry::METHODS;
use quince::{Matrix, Model, Table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// A golden model: its name, the table that it is asked about, and how near its answers must be.
struct Case {
    name: String,
    table: String,
    tolerance: f64,
}

impl Case {
    fn model(&self) -> Model {
        Model::load(folder().join(format!("format-1-{}.quince", self.name))).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(folder().join("cases.csv")).unwrap();
    let case = |line: &str| {
        let [name, table, tolerance] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        Case { name: name.into(), table: table.into(), tolerance: tolerance.parse().unwrap() }
    };
    text.lines().skip(1).map(case).collect()
}

/// One column of what a model answers, by the name that an expected file has for it.
fn answers(prediction: &Prediction, name: &str) -> Vec<f64> {
    let (what, place) = name.split_once(':').unwrap_or((name, "0"));
    let column = |matrix: &Matrix| matrix.column(place.parse().unwrap());
    match (prediction, what) {
        (Prediction::Classes { scores, .. }, "score") => column(scores),
        (Prediction::Classes { probabilities, .. }, "probability") => column(probabilities),
        (Prediction::Numbers(numbers), "number") => column(numbers),
        (Prediction::Clusters { labels, .. }, "cluster") => labels.iter().map(|&label| label.into()).collect(),
        (Prediction::Clusters { distances, .. }, "distance") => column(distances),
        (Prediction::Responsibilities { responsibilities, .. }, "responsibility") => column(responsibilities),
        (Prediction::Responsibilities { log_densities, .. }, "log_density") => log_densities.clone(),
        (Prediction::Novelty { scores }, "novelty") => scores.clone(),
        (_, other) => panic!("there is no {other} in {prediction:?}"),
    }
}

fn compare(name: &str, model: &Model, table: &Table, tolerance: f64) {
    let prediction = model.predict(table).unwrap();
    let text = std::fs::read_to_string(folder().join(format!("format-1-{name}.csv"))).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let expected: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect();
    assert_eq!(expected.len(), prediction.rows(), "{name}");
    for (k, column) in header.iter().enumerate() {
        // The first files number their columns without a colon.
        let column = column.replace("score", "score:").replace("::", ":");
        for (i, (answer, row)) in answers(&prediction, &column).iter().zip(&expected).enumerate() {
            let near = (answer - row[k]).abs() <= tolerance * row[k].abs().max(1.0);
            assert!(near, "{name}, {column} of row {i}: {answer} against {}", row[k]);
        }
    }
}

#[test]
fn the_first_golden_files_predict_what_scikit_learn_computed() {
    for (name, table) in [("ridge-iris", "iris.csv"), ("ridge-films", "film_reviews.csv.gz")] {
        let model = Model::load(folder().join(format!("format-1-{name}.quince"))).unwrap();
        compare(name, &model, &example(table), 1e-9);
    }
}

#[test]
fn the_golden_files_of_every_method_predict_what_was_computed_without_quince() {
    for case in cases() {
        let model = case.model();
        let table = model.read_table(folder().join(&case.table)).unwrap();
        compare(&case.name, &model, &table, case.tolerance);
    }
}

#[test]
fn every_method_has_a_golden_file_for_everything_that_it_learns() {
    let golden: BTreeSet<(&str, String)> = cases()
        .iter()
        .map(|case| {
            let model = case.model();
            (model.method().info.name, format!("{:?}", model.task()))
        })
        .collect();
    for method in METHODS {
        for task in [Task::Classification, Task::Regression, Task::Clustering] {
            let there = golden.contains(&(method.info.name, format!("{task:?}")));
            let missing = method.info.learns(task) && !there;
            assert!(!missing, "tests/golden has no {} of {task:?}: add a case to make.py", method.info.name);
        }
    }
}

#[test]
fn what_was_read_is_written_again_as_it_was_but_for_the_version() {
    for case in cases() {
        let model = case.model();
        let again = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(again.to_bytes(), model.to_bytes(), "{}", case.name);
        assert_eq!((again.report(), again.settings()), (model.report(), model.settings()), "{}", case.name);
    }
}
