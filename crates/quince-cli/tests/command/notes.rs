//! What the command says of a table and of its own decisions, and of slips on the command line.

use crate::Bench;

/// Rows of cells, as a table.
fn table(header: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    format!("{header}\n") + &(0..rows).map(|i| row(i) + "\n").collect::<String>()
}

#[track_caller]
fn fails(bench: &Bench, line: &str, code: i32, sentence: &str) {
    let answer = bench.run(line);
    assert_eq!(answer.code, Some(code), "{line}\n{}{}", answer.out, answer.err);
    assert!(answer.err.contains(sentence), "{line}\n{}", answer.err);
    assert_eq!(answer.out, "", "{line}");
}

#[test]
fn a_number_of_few_values_that_is_learnt_as_a_number_is_noted() {
    let bench = Bench::new("notes-few-numbers");
    bench.file("signs.csv", table("x,y", 40, |i| format!("{}.5,{}", i % 7, if i % 2 == 0 { -1 } else { 1 })));
    bench.file("halves.csv", table("x,y", 40, |i| format!("{}.5,{}.5", i % 7, i % 3)));
    bench.file("many.csv", table("x,y", 40, |i| format!("{}.5,{}.5", i % 7, i)));
    for (name, values) in [("signs", 2), ("halves", 3)] {
        let said = bench.ok(&format!("train {name}.csv -t y -m ridge -o m.quince")).err;
        let note =
            format!("note: 'y' has only {values} different numbers and is learnt as a number; --task classification");
        assert!(said.contains(&note), "{said}");
        let asked = bench.ok(&format!("train {name}.csv -t y --task regression -m ridge -o m.quince")).err;
        assert!(!asked.contains("different numbers"), "{asked}");
    }
    assert!(!bench.ok("train many.csv -t y -m ridge -o m.quince").err.contains("different numbers"));
}

#[test]
fn labels_that_count_as_missing_are_counted_where_only_one_label_is_left() {
    let bench = Bench::new("notes-na");
    bench.file("na.csv", table("x,region", 60, |i| format!("{}.5,{}", i % 7, if i % 5 < 2 { "NA" } else { "EU" })));
    let sentence = "na.csv, column 'region': every row has the same label, 'EU', or none (24 rows)";
    fails(&bench, "train na.csv -t region -m ridge -o m.quince", 1, sentence);
    fails(&bench, "compare na.csv -t region", 1, "a label of that name must be spelled differently");
}

#[test]
fn a_category_that_may_be_an_identifier_is_noted() {
    let bench = Bench::new("notes-identifier");
    let row = |i: usize| format!("k{},c{},{}.5,{}", i / 2, i % 150, i % 7, ["a", "b"][i % 2]);
    bench.file("t.csv", table("id,city,x,y", 600, row));
    for line in ["train t.csv -t y -m ridge -o m.quince", "compare t.csv -t y --models baseline,ridge"] {
        let said = bench.ok(line).err;
        let note =
            "note: 'id' has 300 categories in 600 rows, most of them in hardly any; leave it out with --drop id if";
        assert!(said.contains(note), "{said}");
        // A city of four rows may well say something.
        assert!(!said.contains("'city'"), "{said}");
    }
    let dropped = bench.ok("train t.csv -t y -m ridge --drop id -o m.quince").err;
    assert!(!dropped.contains("categories"), "{dropped}");
}

#[test]
fn a_first_line_of_data_is_noted() {
    let bench = Bench::new("notes-header");
    let row = |i: usize| format!("5.{},3.5,1.{},{}", i % 7, i % 4, ["setosa", "virginica"][i % 2]);
    bench.file("data.csv", table("5.1,3.4,1.4,setosa", 40, row));
    bench.file("places.csv", table("0,1,2,species", 40, row));
    let warning = "warning: the first line looks like data; if the table has no header, add --no-header";
    assert!(bench.ok("train data.csv -t setosa -m ridge -o m.quince").err.contains(warning));
    assert!(!bench.ok("train data.csv --no-header -t column4 -m ridge -o m.quince").err.contains("warning"));
    // Columns that are numbered have names.
    assert!(!bench.ok("train places.csv -t species -m ridge -o m.quince").err.contains("warning"));
}

#[test]
fn describe_says_which_cell_keeps_a_column_from_being_one_of_numbers() {
    let bench = Bench::new("notes-describe");
    let row = |i: usize| format!("{},{}.5", if i == 5 { "unknown".into() } else { format!("{i}.25") }, i % 3);
    bench.file("t.csv", table("size,x", 60, row));
    let said = bench.ok("describe t.csv --json").json();
    let why = said["columns"][0]["why_ignored"].as_str().unwrap().to_string();
    assert!(why.ends_with("; 59 of 60 cells are numbers, but 'unknown' in line 7 is not"), "{why}");
}

#[test]
fn numbers_below_zero_on_the_command_line_get_a_sentence() {
    let bench = Bench::new("notes-negative");
    bench.example("iris.csv");
    bench.ok("train iris.csv -t species -m ridge -o m.quince");
    for (line, code, sentence) in [
        ("compare iris.csv -t species --seed -1", 2, "give a whole number of at least zero"),
        ("compare iris.csv -t species --threads -1", 2, "give a whole number of at least zero"),
        ("compare iris.csv -t species --folds -3", 1, "setting 'folds' cannot be -3"),
        ("compare iris.csv -t species --hold-out -0.5", 1, "-0.5"),
        ("explain m.quince iris.csv --row -1", 2, "rows are counted from 1"),
        ("sample m.quince -n -1", 2, "give a whole number of at least zero"),
    ] {
        fails(&bench, line, code, sentence);
        assert!(!bench.run(line).err.contains("-- -"), "{line}");
    }
}

#[test]
fn what_goes_wrong_for_every_method_alike_is_said_once() {
    let bench = Bench::new("notes-once");
    bench.example("iris.csv");
    fails(&bench, "compare iris.csv -t species --models naive-bayes,mixture --family nosuch=normal", 1, "nosuch");
    let sentence = "setting 'budget' was used up by reading the table: no method could begin";
    fails(&bench, "compare iris.csv -t species --budget 0s", 1, sentence);
    fails(&bench, "curve iris.csv -t species -m ridge --budget 0s", 1, sentence);
    let twice = bench.ok("compare iris.csv -t species --models ridge,baseline,ridge --folds 3").out;
    assert_eq!(twice.matches("ridge").count(), 1, "{twice}");
}

#[test]
fn errors_name_the_cell_and_what_can_be_done_about_it() {
    let bench = Bench::new("notes-errors");
    bench.file("weights.csv", "x,w,y\n1.5,1,a\n2.5,-1,b\n1,2,a\n2,1,b\n");
    let sentence = "weights.csv, line 3, column 'w': -1 is no weight: weights are at least zero";
    fails(&bench, "train weights.csv -t y --weight w -m ridge -o m.quince", 1, sentence);
    bench.file("t.csv", "x,y\n1.5,a\n2.5,b\n1,a\n2,b\n").file("bad.csv", "x,y\n1.5,a\nlong,b\n");
    fails(&bench, "train t.csv -t y -m ridge -o -", 1, "a model is a file, and does not go to standard output");
    assert!(!bench.names().contains(&"-".to_string()));
    bench.ok("train t.csv -t y -m ridge -o m.quince");
    for command in ["predict", "evaluate"] {
        let line = format!("{command} m.quince bad.csv");
        fails(&bench, &line, 1, "Mend the cell or leave it empty: the model knows the column as one of kind number.");
    }
    let huge = |i: usize| if i.is_multiple_of(7) { String::new() } else { format!("{}.5e200", (i * 37) % 11) };
    bench.file("huge.csv", table("a,huge,c", 60, |i| format!("{}.25,{},{}.5", i % 5, huge(i), (i * i) % 13)));
    fails(&bench, "impute huge.csv", 1, "statistics overflow, by numbers above 1e150 in 'huge'");
    bench.file("twice.jsonl", "{\"x\":1,\"y\":\"a\"}\n{\"x\":1,\"y\":\"b\",\"x\":2}\n");
    fails(
        &bench,
        "describe twice.jsonl",
        1,
        "twice.jsonl, line 2: this is not JSON as it is expected: an object has two",
    );
    bench.ok("train t.csv -t y -m knn --set k=1 -o knn.quince");
    fails(&bench, "explain knn.quince", 1, "naive-bayes, gaussian, nearest-centroid, mixture, svm and linear-svm can.");
}
