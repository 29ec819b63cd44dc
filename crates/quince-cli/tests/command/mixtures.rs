//! Mixtures from the command line: clusters, imputation, rows without a class, components explained.

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
fn penguins_with_missing_values_are_clustered_explained_and_sampled() {
    let bench = Bench::new("mixture-cluster");
    bench.example("penguins.csv");
    let answer = bench.ok("cluster penguins.csv --drop species -m mixture --save m.quince --output g.csv");
    assert!(answer.out.contains("cluster 1") && answer.err.contains("steps of EM for 2 categorical, 5 gaussian"));
    assert!(answer.err.contains("components have the smallest BIC"));
    let rows = text(&bench, "g.csv");
    assert!(rows.starts_with("row,cluster,responsibility,log_density\n1,") && rows.lines().count() == 345);
    let said = bench.ok("explain m.quince").out;
    assert!(said.starts_with("Component 1 (") && said.contains("sex ") && said.contains("in all"));
    let row = bench.ok("explain m.quince penguins.csv --row 1").out;
    assert!(row.contains("The row is classified as component 2 (") && row.contains("sex = male"));
    let predicted = bench.ok("predict m.quince penguins.csv").out;
    assert!(predicted.lines().next().unwrap().ends_with("cluster,responsibility,log_density"));
    let drawn = bench.ok("sample m.quince -n 4 --class 2").out;
    assert_eq!(drawn.lines().skip(1).filter(|line| line.ends_with(",2")).count(), 4);
    let wrong = fails(&bench, "sample m.quince --class 99");
    assert!(wrong.err.contains("no component '99'") && wrong.err.contains("Give a number from 1 to"));
}

#[test]
fn missing_values_are_filled_and_listed() {
    let bench = Bench::new("impute");
    bench.example("penguins.csv");
    bench.example("votes.csv");
    let answer = bench.ok("impute penguins.csv --filled listed.csv -o filled.csv");
    assert!(answer.err.contains("19 missing values filled") && answer.out.is_empty());
    let (before, after) = (text(&bench, "penguins.csv"), text(&bench, "filled.csv"));
    assert!(before.contains(",,") && !after.contains(",,"));
    for (old, new) in before.lines().zip(after.lines()) {
        // What was there stays as it was written.
        assert!(old.split(',').zip(new.split(',')).all(|(old, new)| old.is_empty() || old == new));
    }
    let listed = text(&bench, "listed.csv");
    assert!(listed.starts_with("row,column,value,standard_deviation,probability\n4,bill_length_mm,"));
    assert_eq!(listed.lines().count(), 20);
    // Answers are spelled as the table spells them.
    let votes = bench.ok("impute votes.csv").out;
    assert!(!votes.contains('?') && !votes.contains("yes"));
    assert!(votes.lines().skip(1).all(|line| line.split(',').take(16).all(|cell| cell == "y" || cell == "n")));
    let json = bench.ok("impute penguins.csv --json").json();
    assert_eq!(json.as_array().unwrap().len(), 19);
    assert_eq!(json[0]["row"], 4);
    // A Bayes classifier is a generative model, too; ridge is not.
    bench.ok("train penguins.csv -t species -m naive-bayes -o nb.quince");
    assert!(bench.ok("impute penguins.csv --model nb.quince").err.contains("19 missing values filled"));
    bench.ok("train penguins.csv -t body_mass_g -m ridge -o ridge.quince");
    assert!(fails(&bench, "impute penguins.csv --model ridge.quince").err.contains("cannot impute missing values"));
    fails(&bench, "impute penguins.csv -o listed.csv --filled listed.csv");
    bench.file("whole.csv", "a,b\n1,2\n2,4.5\n3,5\n");
    assert!(bench.ok("impute whole.csv").err.contains("there is no missing value to fill"));
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
    wrong("cluster iris.csv -m mixture --family markov-chain", "'family' cannot be markov-chain in a mixture");
    wrong("cluster iris.csv -m mixture --set covariance=round", "'covariance' cannot be");
    wrong("cluster iris.csv --family normal", "'kmeans' has no families of columns");
    wrong("train iris.csv -t petal_width -m mixture -o m.quince", "'mixture' does not learn numbers");
    wrong("cluster iris.csv -m mixture --set alpha=-1", "'alpha' cannot be -1");
    assert_eq!(bench.names(), ["iris.csv"]);
}

#[test]
fn only_missing_values_are_filled_and_the_table_stays_as_it_was_written() {
    let bench = Bench::new("impute-layout");
    bench.file("colours.csv", "c,x\nred,1.5\nred,1.7\nblue,9.5\nblue,9.1\nred,\n,9.2\n");
    bench.ok("cluster colours.csv -m mixture -k 2 --save m.quince");
    // A category that was never seen is not missing, and lowers the density of a row, which a missing value does not.
    bench.file("new.csv", "c,x\ngreen,1.5\n,1.5\nred,1.5\n");
    assert_eq!(bench.ok("impute new.csv --model m.quince").out, "c,x\ngreen,1.5\nred,1.5\nred,1.5\n");
    let densities: Vec<f64> = bench
        .ok("predict m.quince new.csv --json")
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["log_density"].as_f64().unwrap())
        .collect();
    assert!(densities[0] < densities[1] - 1.0 && densities[0] < densities[2] - 1.0, "{densities:?}");
    // The delimiter stays, and so does a decimal comma; a file called .tsv has tabs.
    bench.file("tabs.tsv", "a\tb\n1.5\tx\n\ty\n2.5\tx\n");
    bench.ok("impute tabs.tsv -o filled.tsv");
    let filled = text(&bench, "filled.tsv");
    assert!(filled.starts_with("a\tb\n1.5\tx\n") && filled.lines().all(|line| line.split('\t').count() == 2));
    bench.file("commas.csv", "a;b\n1,5;2\n;3\n2,5;4\n3,5;\n");
    let answer = bench.ok("impute commas.csv").out;
    assert!(answer.starts_with("a;b\n1,5;2\n") && !answer.contains('.'), "{answer}");
    assert!(
        bench.ok("predict m.quince new.csv -o p.tsv").out.is_empty() && text(&bench, "p.tsv").contains("c\tx\tcluster")
    );
    // What is the same wherever it is known is expected to be the same elsewhere.
    bench.file("same.csv", "a,b\n1.5,7\n2.5,7\n3.1,\n4,7\n");
    assert!(
        bench.ok("impute same.csv").out.contains("3.1,7\n")
            && bench.ok("impute same.csv --kind b=number").out.contains("3.1,7\n")
    );
    let dropped = bench.ok("impute same.csv --drop b").out;
    assert!(dropped.contains("3.1,\n"), "{dropped}");
    bench.file("flat.csv", "a;b\n1,5;2\n1,5;3\n;4\n1,5;8\n1,5;\n");
    assert!(!bench.ok("impute flat.csv").out.contains('.'));
    // A name that is taken.
    bench.file("cluster.csv", "cluster,x\n1.5,2.5\n1.25,2.75\n8.5,9.5\n8.25,9.25\n");
    bench.ok("cluster cluster.csv -m mixture -k 1 --save c.quince");
    assert!(bench.ok("sample c.quince -n 1").out.starts_with("cluster,x,cluster_\n"));
    let drawn = bench.ok("sample c.quince -n 1 --json").json();
    assert!(drawn[0]["x"].is_number() && drawn[0]["cluster_"] == 1);
    assert!(fails(&bench, "cluster cluster.csv -m mixture -k -1").err.contains("setting 'k' cannot be -1"));
}

#[test]
fn a_known_class_informs_the_imputation_and_a_missing_one_is_imputed() {
    let bench = Bench::new("impute-class");
    bench.example("penguins.csv");
    for method in ["naive-bayes", "gaussian", "mixture"] {
        bench.ok(&format!("train penguins.csv -t species -m {method} -o m.quince"));
        let header = "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year";
        bench
            .file("known.csv", format!("{header}\nGentoo,,,,,,,\nAdelie,,,,,,,\n,Biscoe,48,14.5,220,5400,male,2008\n"));
        let rows = bench.ok("impute known.csv --model m.quince --json").json();
        let mass = |row: u64| {
            let mut all = rows.as_array().unwrap().iter();
            all.find(|cell| cell["row"] == row && cell["column"] == "body_mass_g").unwrap()["value"].as_f64().unwrap()
        };
        assert!(mass(1) > 4900.0 && mass(2) < 3900.0, "{method}: {} and {}", mass(1), mass(2));
        let last = rows.as_array().unwrap().last().unwrap().clone();
        assert_eq!((last["column"].as_str(), last["value"].as_str()), (Some("species"), Some("Gentoo")));
        assert!(last["probability"].as_f64().unwrap() > 0.9);
        // A class that the model does not know is left as it is, and says nothing.
        bench.file("unknown.csv", format!("{header}\nEmperor,Biscoe,48,14.5,,5400,male,2008\n"));
        let unknown = bench.ok("impute unknown.csv --model m.quince").out;
        assert!(unknown.contains("\nEmperor,Biscoe,48,14.5,2"), "{unknown}");
    }
}
