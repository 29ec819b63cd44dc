//! Labels come back as they went in, and new rows are read by the kinds that a model knows.

use crate::{Sheet, accuracy, parsed, trained};
use quince::bayes::NaiveBayes;
use quince::learn::{Count, LabelType};
use quince::neighbours::Knn;
use quince::table::ReadOptions;
use quince::{Kind, Model, Table};
use serde_json::{Value, json};

/// A row is its own nearest.
fn nearest() -> Knn {
    Knn { k: Count::Fixed(1), ..Knn::default() }
}

/// A sheet in other formats; cells of some columns are strings, all others numbers.
fn as_json_and_arff(sheet: &Sheet, strings: &[&str]) -> (String, String) {
    let is_string: Vec<bool> = sheet.names.iter().map(|name| strings.contains(&name.as_str())).collect();
    let quoted = |j: usize, cell: &str| if is_string[j] { format!("\"{cell}\"") } else { cell.to_string() };
    let object = |row: &Vec<String>| {
        let fields = row.iter().enumerate().map(|(j, cell)| format!("\"{}\":{}", sheet.names[j], quoted(j, cell)));
        format!("{{{}}}\n", fields.collect::<Vec<_>>().join(","))
    };
    let attribute =
        |j: usize| format!("@attribute '{}' {}\n", sheet.names[j], if is_string[j] { "string" } else { "numeric" });
    let head: String = (0..is_string.len()).map(attribute).collect();
    let rows: String = sheet.rows.iter().map(|row| row.join(",") + "\n").collect();
    (sheet.rows.iter().map(object).collect(), format!("@relation t\n{head}@data\n{rows}"))
}

/// The labels that a model says of the rows it has learnt from, before and after it was a file.
fn said(table: &Table, target: &str) -> Vec<String> {
    let model = trained(table, target, &nearest());
    let labels = model.labels::<String>(table).unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.labels::<String>(table).unwrap(), labels);
    labels
}

#[test]
fn labels_of_a_file_are_spelled_as_there() {
    type Spelling = fn(&str) -> String;
    let spelled: [(&str, &str, Spelling); 6] = [
        ("glass.csv", "Type", |cell| format!("00{cell}")),
        ("glass.csv", "Type", |cell| format!("{cell}.0")),
        ("heart.csv", "num", |cell| if cell == "0" { "-1" } else { "+1" }.into()),
        ("auto_mpg.csv", "origin", |cell| format!("{cell}e2")),
        ("ionosphere.csv", "Class", |cell| if cell == "good" { "True" } else { "False" }.into()),
        ("zoo.csv", "type", str::to_uppercase),
    ];
    for (name, target, spelling) in spelled {
        let sheet = Sheet::read(name).map(target, spelling);
        let (written, labels) = (sheet.column(target), said(&sheet.table(), target));
        // Two animals of one description have different names.
        assert!(accuracy(&labels, &written) > 0.98, "{name}: {labels:?}");
    }
}

#[test]
fn labels_of_json_and_arff_are_spelled_as_there() {
    let sheet = Sheet::read("glass.csv").map("Type", |cell| format!("{cell}.0"));
    let (json, arff) = as_json_and_arff(&sheet, &[]);
    let written = sheet.column("Type");
    for table in [parsed(json, "glass.jsonl"), parsed(arff, "glass.arff")] {
        assert_eq!(said(&table, "Type"), written);
        let model = trained(&table, "Type", &nearest());
        assert_eq!(model.classes().unwrap().label_type(), LabelType::Numbers);
        // Another spelling of the same numbers is known again.
        assert_eq!(model.truth(&Sheet::read("glass.csv").table()).unwrap().0, model.truth(&table).unwrap().0);
    }
    // Strings are strings, and codes stay what they are.
    let coded = Sheet::read("glass.csv").map("Type", |cell| format!("0{cell}"));
    let (json, arff) = as_json_and_arff(&coded, &["Type"]);
    for table in [parsed(json, "glass.jsonl"), parsed(arff, "glass.arff")] {
        assert_eq!(said(&table, "Type"), coded.column("Type"));
    }
}

#[test]
fn labels_of_more_digits_than_a_float_keeps_stay_apart() {
    // As floats all of these would be the same number.
    let long = Sheet::read("glass.csv").map("Type", |cell| format!("900719925474099300{cell}"));
    let (json, arff) = as_json_and_arff(&long, &[]);
    for table in [long.table(), parsed(json, "glass.jsonl"), parsed(arff, "glass.arff")] {
        assert_eq!(said(&table, "Type"), long.column("Type"));
    }
}

/// A row as a JSON object, with these columns as strings.
fn object(sheet: &Sheet, i: usize, strings: &[&str]) -> Value {
    let value = |name: &str, cell: &str| match cell {
        "?" => Value::Null,
        cell if strings.contains(&name) => json!(cell),
        cell => json!(cell.parse::<f64>().unwrap()),
    };
    let fields = sheet.names.iter().zip(&sheet.rows[i]);
    fields.map(|(name, cell)| (name.clone(), value(name, cell))).collect::<serde_json::Map<String, Value>>().into()
}

/// Checks that rows get the probabilities that they have in the whole table, alone, in pairs, and from JSON.
fn rows_are_the_same_alone(sheet: &Sheet, model: &Model, table: &Table, strings: &[&str]) {
    let whole = model.probabilities(table).unwrap();
    let target = sheet.place(model.target());
    let new = sheet.clone().columns(|name| name != model.target());
    for i in (0..new.rows.len()).step_by(11) {
        let next = (i + 1) % new.rows.len();
        let of = |rows: &[usize]| Sheet { rows: rows.iter().map(|&i| new.rows[i].clone()).collect(), ..new.clone() };
        let alone = model.probabilities(&of(&[i]).table()).unwrap();
        assert_eq!(alone.row(0), whole.row(i), "row {i}");
        let pair = model.probabilities(&of(&[i, next]).table()).unwrap();
        assert_eq!((pair.row(0), pair.row(1)), (whole.row(i), whole.row(next)), "rows {i} and {next}");
        assert_eq!(model.probabilities(&table.take(&[i])).unwrap().row(0), whole.row(i));
        let body = object(&new, i, strings);
        let answer = &model.predict_json(&body.to_string()).unwrap()[0];
        for (k, class) in model.classes().unwrap().names().iter().enumerate() {
            assert_eq!(answer[format!("probability_{class}")], json!(whole[(i, k)]), "row {i}: {body}");
        }
        let of_json = model.probabilities(&parsed(body.to_string(), "one.json")).unwrap();
        assert_eq!(of_json.row(0), whole.row(i), "row {i} as a file of JSON");
    }
    assert!(target < sheet.names.len());
}

#[test]
fn new_animals_are_read_by_the_kinds_of_the_model() {
    // Legs as codes: 004 is no number.
    let sheet = Sheet::read("zoo.csv").columns(|name| name != "name").map("legs", |cell| format!("00{cell}"));
    let table = sheet.table();
    let model = Model::train(&table, "type", &NaiveBayes::default()).unwrap();
    assert_eq!(model.encoder().kind("legs"), Some(Kind::Category));
    rows_are_the_same_alone(&sheet, &model, &table, &["legs"]);
}

#[test]
fn new_patients_are_read_by_the_kinds_that_were_given() {
    let sheet = crate::heart();
    let categories = ["cp", "restecg", "slope", "thal"];
    let kinds = categories.map(|name| (name.to_string(), Kind::Category)).to_vec();
    let options = ReadOptions { kinds, ..ReadOptions::default() };
    let mut cells =
        quince::table::Cells::parse(sheet.csv().into_bytes(), "heart.csv", &options, &quince::Run::new()).unwrap();
    let table = cells.table(&options, &quince::Run::new()).unwrap();
    let model = Model::train(&table, "num", &NaiveBayes::default()).unwrap();
    assert!(categories.iter().all(|name| model.encoder().kind(name) == Some(Kind::Category)));
    rows_are_the_same_alone(&sheet, &model, &table, &[]);
}
