//! New rows are read by the kinds that a model knows, whatever they look like by themselves, and cells keep their spelling.

use quince::bayes::NaiveBayes;
use quince::learn::{LabelType, Prediction, TargetView, Task};
use quince::table::{Cells, Column, ReadOptions};
use quince::{Kind, Model, Run, Table};
use serde_json::json;

/// A table from text in the format that its name says.
fn parsed(text: &str, name: &str) -> Table {
    let options = ReadOptions::default();
    let mut cells = Cells::parse(text.as_bytes().to_vec(), name, &options, &Run::new()).unwrap();
    cells.table(&options, &Run::new()).unwrap()
}

/// The probability of the second class for each row.
fn second(model: &Model, table: &Table) -> Vec<f64> {
    let Prediction::Classes { probabilities, .. } = model.predict(table).unwrap() else { panic!("classes") };
    probabilities.column(1)
}

#[test]
fn a_code_means_the_same_in_a_table_of_one_row_and_of_two_from_wherever_it_comes() {
    let row = |i: usize| format!("{},{}\n", ["007", "7", "12"][i % 3], if i.is_multiple_of(3) { "no" } else { "yes" });
    let csv = format!("zip,y\n{}", (0..60).map(row).collect::<String>());
    let model = Model::train(&parsed(&csv, "t.csv"), "y", &NaiveBayes::default()).unwrap();
    assert_eq!(model.encoder().kind("zip"), Some(Kind::Category));
    let expected = second(&model, &parsed("zip\n007\n7\n", "new.csv"));
    assert!(expected[0] < 0.1 && expected[1] > 0.9, "{expected:?}");
    let words = |cells: &[&str]| {
        let column = Column::words("zip", cells.iter().map(|cell| Some(*cell)));
        Table::new(vec![column]).unwrap()
    };
    for (one, two) in [
        (parsed("zip\n007\n", "t.csv"), parsed("zip\n007\n7\n", "t.csv")),
        (parsed("{\"zip\":\"007\"}", "t.jsonl"), parsed("{\"zip\":\"007\"}\n{\"zip\":\"7\"}\n", "t.jsonl")),
        (parsed("[{\"zip\":\"007\"}]", "t.json"), parsed("[{\"zip\":\"007\"},{\"zip\":7}]", "t.json")),
        (words(&["007"]), words(&["007", "7"])),
    ] {
        assert_eq!(second(&model, &one), expected[..1]);
        assert_eq!(second(&model, &two), expected);
        assert_eq!(second(&model, &two.take(&[1])), expected[1..]);
    }
    for (body, expected) in
        [(r#"{"zip": "007"}"#, expected[0]), (r#"{"zip": "7"}"#, expected[1]), (r#"{"zip": 7}"#, expected[1])]
    {
        assert_eq!(model.predict_json(body).unwrap()[0]["probability_yes"], json!(expected), "{body}");
    }
}

#[test]
fn a_code_with_a_sign_is_a_code_in_a_file_as_well() {
    let rows: String = (0..30).map(|i| format!("{},{}\n", ["-07", "-7", "12"][i % 3], i % 2)).collect();
    let table = parsed(&format!("zip,y\n{rows}"), "t.csv");
    assert_eq!(table.column("zip").unwrap().kind(), Kind::Category);
    assert_eq!(table.column("zip").unwrap().text(0).unwrap(), "-07");
}

#[test]
fn a_string_of_json_is_never_made_a_number() {
    let objects = |cell: fn(usize) -> serde_json::Value| {
        (0..20).map(|i| json!({"a": cell(i), "y": i % 2}).to_string() + "\n").collect::<String>()
    };
    let kind = |text: &str| parsed(text, "t.jsonl").column("a").unwrap().kind();
    assert_eq!(kind(&objects(|i| json!(i % 4))), Kind::Count);
    assert_eq!(kind(&objects(|i| json!((i % 4).to_string()))), Kind::Category);
    assert_eq!(kind(&objects(|i| json!((i % 2).to_string()))), Kind::Category);
    assert_eq!(kind(&objects(|i| json!(["yes", "no"][i % 2]))), Kind::YesNo);
    assert_eq!(kind(&objects(|i| json!(i % 2 == 0))), Kind::YesNo);
    // What has a value of its own in most rows is left out, and named with the way out.
    let table = parsed(&objects(|i| json!(format!("{i}.25"))), "t.jsonl");
    assert_eq!(table.column("a").unwrap().kind(), Kind::Ignored);
    let notes = table.supervised("y", None, None, None, false).unwrap().notes;
    assert!(
        notes.iter().any(|note| note.contains("its cells are strings") && note.contains("set to number")),
        "{notes:?}"
    );
    let numbers = table.column("a").unwrap().as_kind(Kind::Number, &table).unwrap();
    assert_eq!(numbers.number(3), Some(3.25));
    // Strings are labels of their own type, too.
    let text: String = (0..20).map(|i| json!({"x": i % 5, "y": (i % 2).to_string()}).to_string() + "\n").collect();
    let labelled = parsed(&text, "t.jsonl").labelled("y", None).unwrap();
    let TargetView::Classes { classes, .. } = labelled.target.view() else { panic!("classes") };
    assert_eq!((classes.names(), classes.label_type()), (&["0".to_string(), "1".to_string()][..], LabelType::Words));
}

#[test]
fn labels_of_a_file_keep_their_spelling() {
    for (labels, label_type) in [
        (["TRUE", "FALSE"], LabelType::Words),
        (["Yes", "No"], LabelType::Words),
        (["007", "7"], LabelType::Words),
        (["t", "f"], LabelType::Words),
        (["1", "2"], LabelType::Integers),
        (["+1", "-1"], LabelType::Integers),
        (["1.0", "2.0"], LabelType::Numbers),
        (["1.0", "0.0"], LabelType::Numbers),
        (["0.50", "1.50"], LabelType::Numbers),
        (["0.5", "1.5"], LabelType::Numbers),
        ([".5", "1."], LabelType::Numbers),
        (["1.000e+00", "2.000e+00"], LabelType::Numbers),
        (["01.5", "2.5"], LabelType::Numbers),
    ] {
        // A quoted cell and one among spaces are spelled by what stands in them.
        let cell =
            |i: usize| [labels[i % 2].to_string(), format!("\"{}\"", labels[i % 2]), format!(" {} ", labels[i % 2])];
        for form in 0..3 {
            let csv: String = (0..40).map(|i| format!("{},{}\n", i % 2 * 9 + i % 3, cell(i)[form])).collect();
            let table = parsed(&format!("x,y\n{csv}"), "t.csv");
            let labelled = table.labelled("y", Some(Task::Classification)).unwrap();
            let model = Model::fit(&labelled, None, &NaiveBayes::default(), &Run::new()).unwrap();
            let said = model.predict(&parsed("x\n0\n9\n", "n.csv")).unwrap();
            assert_eq!(model.label_names(&said).unwrap(), labels);
            assert_eq!(model.classes().unwrap().label_type(), label_type, "{labels:?}");
        }
    }
}

#[test]
fn two_spellings_of_a_number_are_one_label_as_it_was_first_spelled() {
    // Sorted as numbers, from every chunk of a large file, and known again however a later file spells them.
    let spelled = |i: usize| match i {
        60_000.. => ["+10", "+10.0"][i % 2],
        i => [["9.0", "2.50"], ["9", "2.5"]][usize::from(i > 10)][i % 2],
    };
    let csv: String = (0..90_000).map(|i| format!("{},{},{}\n", i % 2 * 9, i % 3 * i, spelled(i))).collect();
    let table = parsed(&format!("x,z,y\n{csv}"), "t.csv");
    let labelled = table.labelled("y", Some(Task::Classification)).unwrap();
    let model = Model::fit(&labelled, None, &NaiveBayes::default(), &Run::new()).unwrap();
    assert_eq!(model.classes().unwrap().names(), ["2.50", "9.0", "+10"]);
    for labels in ["9,2.5,10", "9.0,2.50,+10", "9e0,025e-1,10.00"] {
        let rows: String = labels.split(',').map(|label| format!("1,1,{label}\n")).collect();
        let (target, _) = model.truth(&parsed(&format!("x,z,y\n{rows}"), "n.csv")).unwrap();
        let TargetView::Classes { codes, .. } = target.view() else { panic!("classes") };
        assert_eq!(codes, [1, 0, 2], "{labels}");
    }
    // A code is no number, and a number no code.
    let coded = parsed(&format!("x,y\n{}", "0,007\n9,008\n".repeat(9)), "t.csv");
    let model = Model::train(&coded, "y", &NaiveBayes::default()).unwrap();
    assert!(model.truth(&parsed("x,y\n0,7\n9,8\n", "n.csv")).is_err());
}

#[test]
fn labels_of_a_libsvm_file_are_whole_numbers_as_they_are_spelled() {
    let lines: String = (0..40).map(|i| format!("{} {}:1\n", ["+1", "-1"][i % 2], 1 + i % 2)).collect();
    let model = Model::train(&parsed(&lines, "t.svm"), "label", &NaiveBayes::default()).unwrap();
    let classes = model.classes().unwrap();
    assert_eq!(
        (classes.names(), classes.label_type()),
        (&["-1".to_string(), "+1".to_string()][..], LabelType::Integers)
    );
}
