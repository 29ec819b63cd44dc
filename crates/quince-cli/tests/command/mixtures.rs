//! Mixtures from the command line: clusters, holes filled, rows without a class, components in words.

use crate::{Answer, Bench};

fn text(bench: &Bench, name: &str) -> String {
    String::from_utf8(bench.read(name)).unwrap()
}

#[track_caller]
fn fails(bench: &Bench, line: &str) -> Answer {
    let answer = bench.run(line);
    assert_eq!(answer.code, Some(1), "{line}\n{}", answer.err);
    answer
}

#[test]
fn penguins_with_holes_are_clustered_explained_and_made_up() {
    let bench = Bench::new("mixture-cluster");
    bench.example("penguins.csv");
    let answer = bench.ok("cluster penguins.csv --drop species -m mixture --save m.quince --output g.csv");
    assert!(answer.out.contains("cluster 1") && answer.err.contains("steps of EM for 2 categorical, 5 gaussian"));
    assert!(answer.err.contains("components have the smallest BIC"));
    let rows = text(&bench, "g.csv");
    assert!(rows.starts_with("row,cluster,share,log_density\n1,") && rows.lines().count() == 345);
    let said = bench.ok("explain m.quince").out;
    assert!(said.starts_with("Component 1 (") && said.contains("sex ") && said.contains("in all"));
    let row = bench.ok("explain m.quince penguins.csv --row 1").out;
    assert!(row.contains("The row is taken as component 2 (") && row.contains("sex = male"));
    let predicted = bench.ok("predict m.quince penguins.csv").out;
    assert!(predicted.lines().next().unwrap().ends_with("cluster,share,log_density"));
    let drawn = bench.ok("sample m.quince -n 4 --class 2").out;
    assert_eq!(drawn.lines().skip(1).filter(|line| line.ends_with(",2")).count(), 4);
    let wrong = fails(&bench, "sample m.quince --class 99");
    assert!(wrong.err.contains("no component '99'") && wrong.err.contains("Give a number from 1 to"));
}

#[test]
fn holes_are_filled_and_listed() {
    let bench = Bench::new("impute");
    bench.example("penguins.csv");
    bench.example("votes.csv");
    let answer = bench.ok("impute penguins.csv --holes h.csv -o filled.csv");
    assert!(answer.err.contains("19 holes filled") && answer.out.is_empty());
    let (before, after) = (text(&bench, "penguins.csv"), text(&bench, "filled.csv"));
    assert!(before.contains(",,") && !after.contains(",,"));
    for (old, new) in before.lines().zip(after.lines()) {
        // What was there stays as it was written.
        assert!(old.split(',').zip(new.split(',')).all(|(old, new)| old.is_empty() || old == new));
    }
    let holes = text(&bench, "h.csv");
    assert!(holes.starts_with("row,column,value,deviation,probability\n4,bill_length_mm,"));
    assert_eq!(holes.lines().count(), 20);
    // Answers are spelled as the table spells them.
    let votes = bench.ok("impute votes.csv").out;
    assert!(!votes.contains('?') && !votes.contains("yes"));
    assert!(votes.lines().skip(1).all(|line| line.split(',').take(16).all(|cell| cell == "y" || cell == "n")));
    let json = bench.ok("impute penguins.csv --json").json();
    assert_eq!(json.as_array().unwrap().len(), 19);
    assert_eq!(json[0]["row"], 4);
    // A Bayes classifier knows what rows are like, too; ridge does not.
    bench.ok("train penguins.csv -t species -m naive-bayes -o nb.quince");
    assert!(bench.ok("impute penguins.csv --model nb.quince").err.contains("19 holes filled"));
    bench.ok("train penguins.csv -t body_mass_g -m ridge -o ridge.quince");
    assert!(
        fails(&bench, "impute penguins.csv --model ridge.quince").err.contains("cannot say what holes are expected")
    );
    fails(&bench, "impute penguins.csv -o h.csv --holes h.csv");
    bench.file("whole.csv", "a,b\n1,2\n2,4.5\n3,5\n");
    assert!(bench.ok("impute whole.csv").err.contains("there is no hole to fill"));
}

#[test]
fn rows_without_a_class_are_learnt_from() {
    let bench = Bench::new("few-labels");
    let mut text = String::from("x,kind\n");
    for i in 0..200 {
        let label = if i < 8 { ["a", "b"][i % 2] } else { "" };
        text += &format!("{},{label}\n", (i % 2) as f64 * 6.0 + ((i * 37) % 20) as f64 / 10.0);
    }
    bench.file("t.csv", &text);
    let answer = bench.ok("train t.csv -t kind -m mixture --family normal -o m.quince");
    assert!(answer.err.contains("192 rows have no 'kind'; what they are like is learnt from all the same"));
    let predicted = bench.ok("predict m.quince t.csv").out;
    for (i, line) in predicted.lines().skip(1).enumerate() {
        assert_eq!(line.split(',').nth(2), Some(["a", "b"][i % 2]), "{line}");
    }
    // Other methods leave such rows out, and say so.
    let answer = bench.ok("train t.csv -t kind -m naive-bayes -o n.quince");
    assert!(answer.err.contains("192 rows have no 'kind' and are left out"));
}

#[test]
fn what_a_mixture_cannot_do_is_said() {
    let bench = Bench::new("mixture-errors");
    bench.example("iris.csv");
    let wrong = |command: &str, problem: &str| {
        let answer = fails(&bench, command);
        assert!(answer.err.contains(problem), "{command}: {}", answer.err);
    };
    wrong("cluster iris.csv -m mixture -k 500", "'k' cannot be 500 with 150 rows");
    wrong("cluster iris.csv -m mixture --family chain", "'family' cannot be chain in a mixture");
    wrong("cluster iris.csv -m mixture --set covariance=round", "'covariance' cannot be");
    wrong("cluster iris.csv --family normal", "'kmeans' has no families of columns");
    wrong("train iris.csv -t petal_width -m mixture -o m.quince", "'mixture' does not learn numbers");
    wrong("cluster iris.csv -m mixture --set alpha=-1", "'alpha' cannot be -1");
    assert_eq!(bench.names(), ["iris.csv"]);
}
