//! Golden files: models that were written once are read by every later release, answer what numpy and scikit-learn have computed
//! (`tests/golden/make.py`, `expected.py`), and are written again as they are. Format 1 is frozen: no file is ever made again.

use crate::{example, saved};
use quince::learn::{Prediction, Task};
use quince::registry::METHODS;
use quince::{Matrix, Model, Table};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
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
        for (i, (answer, row)) in answers(&prediction, column).iter().zip(&expected).enumerate() {
            let near = (answer - row[k]).abs() <= tolerance * row[k].abs().max(1.0);
            assert!(near, "{name}, {column} of row {i}: {answer} against {}", row[k]);
        }
    }
}

#[test]
fn the_golden_files_of_whole_tables_predict_what_scikit_learn_computed() {
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

/// The names of all golden models.
fn names() -> impl Iterator<Item = String> {
    ["ridge-iris", "ridge-films"].map(String::from).into_iter().chain(cases().into_iter().map(|case| case.name))
}

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("format-1-{name}.quince"))).unwrap()
}

/// What a file holds: quince's header, and type, shape and bytes of each array.
#[derive(Debug, PartialEq)]
struct Contents {
    header: Value,
    arrays: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Contents {
    fn of(file: &[u8]) -> Contents {
        let (_, metadata) = SafeTensors::read_metadata(file).unwrap();
        let header = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["quince"]).unwrap();
        let tensors = SafeTensors::deserialize(file).unwrap();
        let array = |tensor: TensorView<'_>| (tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec());
        let arrays = tensors.iter().map(|(name, tensor)| (name.to_string(), array(tensor))).collect();
        Contents { header, arrays }
    }

    /// A file of them, with a checksum that is right.
    fn file(&self) -> Vec<u8> {
        let (mut entries, mut data) = (String::new(), Vec::new());
        for (name, (dtype, shape, bytes)) in &self.arrays {
            let start = data.len();
            data.extend_from_slice(bytes);
            let entry = json!({"dtype": dtype.to_string(), "shape": shape, "data_offsets": [start, data.len()]});
            entries += &format!(",{}:{entry}", Value::from(name.as_str()));
        }
        let header = Value::from(self.header.to_string());
        let json = format!(r#"{{"__metadata__":{{"checksum":"{}","quince":{header}}}{entries}}}"#, "0".repeat(64));
        saved::sign([&(json.len() as u64).to_le_bytes(), json.as_bytes(), &data].concat())
    }

    fn put_json(&mut self, name: &str, value: &Value) {
        let bytes = value.to_string().into_bytes();
        self.arrays.insert(name.into(), (Dtype::U8, vec![bytes.len()], bytes));
    }
}

#[test]
fn what_was_read_is_written_again_as_it_was_but_for_the_version() {
    for name in names() {
        let golden = bytes_of(&name);
        let mut written = Contents::of(&Model::from_bytes(&golden).unwrap().to_bytes());
        let golden = Contents::of(&golden);
        written.header["version"] = golden.header["version"].clone();
        assert_eq!(written, golden, "{name}");
    }
}

/// The value with one more member in one of its objects, for each object in it but settings and notes, which hold anything.
fn with_one_more_member(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut replace = |key: &dyn Fn(&mut Value) -> &mut Value, part: &Value| {
        for other in with_one_more_member(part) {
            let mut whole = value.clone();
            *key(&mut whole) = other;
            found.push(whole);
        }
    };
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| !["settings", "notes"].contains(&name.as_str())) {
                replace(&|whole| &mut whole[name], member);
            }
            let mut more = members.clone();
            more.insert("added later".into(), json!(1));
            found.push(more.into());
        }
        Value::Array(elements) => {
            for (place, element) in elements.iter().enumerate() {
                replace(&|whole| &mut whole[place], element);
            }
        }
        _ => {}
    }
    found
}

/// So that a later release may add to format 1 without being misread by an earlier one.
#[test]
fn what_a_file_says_that_is_not_known_is_refused() {
    let refused = |name: &str, what: &str, contents: &Contents| {
        let error = Model::from_bytes(&contents.file()).err();
        let code = error.unwrap_or_else(|| panic!("{name}: {what} was not noticed")).code();
        assert_eq!(code, "model", "{name}: {what}");
    };
    for name in names() {
        let golden = bytes_of(&name);
        assert!(Model::from_bytes(&Contents::of(&golden).file()).is_ok(), "the forger's tools work");
        for header in with_one_more_member(&Contents::of(&golden).header) {
            let text = header.to_string();
            refused(&name, &text, &Contents { header, ..Contents::of(&golden) });
        }
        for (array, (dtype, _, bytes)) in Contents::of(&golden).arrays {
            let json: Option<Value> = if dtype == Dtype::U8 { serde_json::from_slice(&bytes).ok() } else { None };
            for json in with_one_more_member(&json.unwrap_or_default()) {
                let mut contents = Contents::of(&golden);
                contents.put_json(&array, &json);
                refused(&name, &json.to_string(), &contents);
            }
        }
        let mut contents = Contents::of(&golden);
        contents.put_json("added later", &json!(1));
        refused(&name, "an array", &contents);
    }
}
