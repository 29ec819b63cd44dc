//! Files that commands write: the format is what their name says, and nothing is changed that was not asked for.

use crate::Bench;
use quince::Table;

#[test]
fn predictions_are_written_in_the_format_that_the_name_says() {
    let bench = Bench::new("output-formats");
    bench.example("penguins.csv");
    bench.ok("train penguins.csv -t species -m naive-bayes -o m.quince");
    bench.ok("predict m.quince penguins.csv -o p.csv");
    let read = |name: &str| Table::read(bench.folder.join(name)).unwrap();
    let expected = read("p.csv");
    for name in ["p.parquet", "p.jsonl", "p.json", "p.tsv", "p.csv.gz", "p.jsonl.gz"] {
        let answer = bench.ok(&format!("predict m.quince penguins.csv -o {name}"));
        assert!(answer.out.is_empty() && answer.err.contains(&format!("344 predictions written to {name}")));
        let table = read(name);
        assert_eq!((table.rows(), table.columns().len()), (344, expected.columns().len()), "{name}");
        for (column, as_csv) in table.columns().iter().zip(expected.columns()) {
            assert_eq!(column.name(), as_csv.name(), "{name}");
            for i in [0, 3, 343] {
                assert_eq!(column.number(i), as_csv.number(i), "{name}, {} of row {i}", column.name());
                assert_eq!(column.text(i), as_csv.text(i), "{name}, {} of row {i}", column.name());
            }
        }
    }
    assert!(bench.read("p.parquet").starts_with(b"PAR1"));
    bench.ok("predict m.quince penguins.csv -o p.arrow");
    assert!(bench.read("p.arrow").starts_with(b"ARROW1"));
    assert!(bench.read("p.csv.gz").starts_with(&[0x1f, 0x8b]));
    bench.ok("sample m.quince -n 5 -o s.parquet");
    assert_eq!(read("s.parquet").rows(), 5);
    bench.ok("cluster penguins.csv --drop species -k 3 -o c.jsonl");
    assert_eq!(read("c.jsonl").rows(), 344);
    bench.ok("impute penguins.csv -o i.parquet --filled list.json");
    assert!(read("i.parquet").columns().iter().all(|column| column.missing_count() == 0));
    assert_eq!(read("list.json").rows(), 19);
}

#[test]
fn a_name_that_promises_what_is_not_written_is_refused_before_the_work() {
    let bench = Bench::new("output-refused");
    bench.example("iris.csv");
    bench.ok("train iris.csv -t species -m ridge -o m.quince");
    for (line, problem) in [
        ("predict m.quince iris.csv -o p.xlsx", "cannot be a .xlsx file: that format is not written"),
        ("predict m.quince iris.csv -o p.arff", "cannot be a .arff file"),
        ("predict m.quince iris.csv -o p.csv.zip", "cannot be a .zip file"),
        ("predict m.quince iris.csv -o p.parquet.gz", "such a file is packed by itself"),
        ("predict m.quince iris.csv --json -o p.parquet", "cannot be a .parquet file together with --json"),
        ("cluster iris.csv --drop species -k 3 -o c.xls", "cannot be a .xls file"),
    ] {
        let answer = bench.run(line);
        assert_eq!(answer.code, Some(1), "{line}\n{}", answer.err);
        assert!(answer.err.contains(problem), "{line}\n{}", answer.err);
    }
    assert_eq!(bench.names(), ["iris.csv", "m.quince"]);
}

#[test]
fn columns_of_a_typed_file_are_passed_through_as_they_are() {
    use quince::table::{Cells, OutputColumn, OutputFormat, OutputValues, ReadOptions};
    let bench = Bench::new("output-types");
    let numbers = |name: &str, value: fn(usize) -> f64| OutputColumn {
        name: name.into(),
        values: OutputValues::Numbers((0..40).map(value).collect()),
    };
    let words = |name: &str, value: fn(usize) -> Option<&'static str>| OutputColumn {
        name: name.into(),
        values: OutputValues::Texts((0..40).map(|i| value(i).map(str::to_string)).collect()),
    };
    let columns = vec![
        numbers("x", |i| (i % 7) as f64 + 0.5),
        numbers("same", |_| 2.5),
        numbers("gaps", |i| if i % 5 == 0 { f64::NAN } else { i as f64 / 4.0 }),
        words("answer", |i| Some(["yes", "no"][i % 2])),
        words("y", |i| [Some("a"), Some("b"), None][i % 3]),
    ];
    bench.file("t.parquet", OutputFormat::Parquet.encode(columns.clone()).unwrap());
    bench.file("t.arrow", OutputFormat::Arrow.encode(columns).unwrap());
    bench.ok("train t.parquet -t y -m ridge -o m.quince");
    let read = |name: &str| Cells::read(bench.folder.join(name), &ReadOptions::default(), &quince::Run::new()).unwrap();
    for (from, to) in [("t.parquet", "p.parquet"), ("t.arrow", "p.feather"), ("t.parquet", "p.arrow")] {
        bench.ok(&format!("predict m.quince {from} -o {to}"));
        let (before, after) = (read(from), read(to));
        for j in 0..5 {
            assert_eq!(before.names()[j], after.names()[j]);
            assert!(before.as_written(j).is_some());
            assert_eq!(before.as_written(j), after.as_written(j), "{from} to {to}, {}", before.names()[j]);
        }
    }
    // Where nothing is missing nothing is changed, types included.
    bench.ok("impute t.parquet --drop y -o i.parquet");
    let (before, after) = (read("t.parquet"), read("i.parquet"));
    for j in [0, 1, 3] {
        assert_eq!(before.as_written(j), after.as_written(j), "{}", before.names()[j]);
    }
    assert_ne!(before.as_written(2), after.as_written(2));
    let described = bench.ok("describe p.feather").out;
    assert!(described.contains("40 rows, 8 columns"), "{described}");
}

#[test]
fn labels_are_written_without_the_spaces_around_them() {
    let bench = Bench::new("output-spaces");
    bench.file("t.csv", format!("x,y\n{}", "1.5, b \n2.5,a\n3.5,\"b\"\n0.5, a\n".repeat(5)));
    bench.ok("train t.csv -t y -m ridge -o m.quince");
    bench.ok("predict m.quince t.csv -o p.parquet");
    let said = bench.ok("evaluate m.quince p.parquet");
    assert!(said.out.contains("20 rows") || !said.err.contains("left out"), "{}{}", said.out, said.err);
    assert_eq!(quince::Table::read(bench.folder.join("p.parquet")).unwrap().column("y").unwrap().text(0).unwrap(), "b");
}

#[test]
fn cells_that_lose_their_line_breaks_between_tabs_are_counted() {
    let bench = Bench::new("output-tabs");
    bench.file("t.csv", format!("x,note,y\n{}", "1.5,\"two\nlines\",b\n2.5,\"a\ttab\",a\n3,plain,a\n".repeat(2)));
    bench.ok("train t.csv -t y --drop note -m ridge -o m.quince");
    let note =
        "note: 4 cells have tabs or line breaks, which are written as spaces between tabs; a .csv file keeps them";
    assert!(bench.ok("predict m.quince t.csv -o p.tsv").err.contains(note));
    assert!(!bench.ok("predict m.quince t.csv -o p.csv").err.contains("line breaks"));
}

#[test]
fn imputing_changes_nothing_but_missing_cells() {
    let bench = Bench::new("impute-bytes");
    // A byte-order mark, needless quotes, spaces, a blank line, line ends of two kinds, no end of the last line.
    let before =
        "\u{feff}\"a\";b ;\"c d\"\r\n\"1\";2.50; x\r\n007;;\"y\"\n\n3;4e0;\"x\"\r\n4;5.0;?\r\n5;\"6\"; x \r\n6;7;y";
    bench.file("t.csv", before);
    bench.ok("impute t.csv -o filled.csv");
    let after = String::from_utf8(bench.read("filled.csv")).unwrap();
    let parts = before.split(";;").flat_map(|part| part.split('?')).collect::<Vec<_>>();
    assert_eq!(parts.len(), 3);
    assert!(after.starts_with(parts[0]) && after.ends_with(parts[2]), "{after}");
    assert!(after.contains(parts[1]), "{after}");
    assert!(!after.contains(";;") && !after.contains('?'));
}

#[test]
fn a_service_gets_the_answer_that_the_command_prints() {
    let bench = Bench::new("one-answer");
    bench.file("t.csv", "x,z,y\n1,a,no\n2,a,no\n3,b,no\n8,b,yes\n9,b,yes\n10,a,yes\n");
    bench.file("new.jsonl", "{\"x\": 2.5, \"z\": \"a\"}\n{\"x\": 40, \"z\": \"b\"}\n");
    bench.ok("train t.csv -t y -m naive-bayes -o classes.quince");
    bench.ok("train t.csv -t x -m ridge --drop y -o number.quince");
    bench.ok("cluster t.csv --drop y -k 2 --save clusters.quince");
    bench.ok("cluster t.csv --drop y --method mixture -k 2 --save components.quince");
    bench.ok("cluster t.csv --drop y --method one-class-svm --save novelty.quince");
    let request = String::from_utf8(bench.read("new.jsonl")).unwrap();
    for name in ["classes", "number", "clusters", "components", "novelty"] {
        let printed = bench.ok(&format!("predict {name}.quince new.jsonl --json")).json();
        let model = quince::Model::load(bench.folder.join(format!("{name}.quince"))).unwrap();
        assert_eq!(model.predict_json(&request).unwrap(), printed, "{name}");
    }
}

#[test]
fn scores_that_are_not_calibrated_are_never_written_as_probabilities() {
    let bench = Bench::new("output-scores");
    bench.example("iris.csv");
    bench.ok("train iris.csv -t species -m ridge --set probabilities=false -o m.quince");
    let predicted = bench.ok("predict m.quince iris.csv").out;
    let header = predicted.lines().next().unwrap();
    assert!(header.ends_with(",predicted_species"), "{header}");
    let said = bench.ok("evaluate m.quince iris.csv").out;
    assert!(said.contains("log loss -") && said.contains("accuracy 0.8"), "{said}");
    assert!(bench.ok("evaluate m.quince iris.csv --json").json()["log_loss"].is_null());
    assert!(bench.ok("evaluate m.quince iris.csv --roc").out.contains("margin from"));
    let board = bench.ok("compare iris.csv -t species --models ridge --folds 3 --set ridge.probabilities=false --json");
    let metrics = board.json()["entrants"][0]["metrics"].to_string();
    assert!(metrics.contains("accuracy") && !metrics.contains("log-loss"), "{metrics}");
    assert!(board.err.contains("warning: ridge is asked for scores without probabilities"), "{}", board.err);
}
