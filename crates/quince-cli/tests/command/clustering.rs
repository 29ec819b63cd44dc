//! `quince cluster`, and nearest neighbours from the command line.

use crate::Bench;

const FRUIT: &str = include_str!("../../../../examples/data/fruit.csv");

fn column(csv: &str, j: usize) -> Vec<&str> {
    csv.lines().skip(1).map(|line| line.split(',').nth(j).unwrap()).collect()
}

#[test]
fn iris_is_clustered_and_the_clusters_are_the_species_but_for_a_few() {
    let bench = Bench::new("cluster_iris");
    bench.example("iris.csv");
    let answer = bench.ok("cluster iris.csv --drop species -k 3 -o clusters.csv --save m.quince");
    assert!(answer.out.starts_with("                        all"), "{}", answer.out);
    assert!(answer.err.contains("150 rows written to clusters.csv"), "{}", answer.err);
    let clusters = String::from_utf8(bench.read("clusters.csv")).unwrap();
    assert_eq!(clusters.lines().next(), Some("row,cluster,distance"));
    assert_eq!(clusters.lines().count(), 151);
    let labels = column(&clusters, 1);
    // Setosas are a cluster of their own.
    assert!(labels[..50].iter().all(|label| *label == labels[0]));
    assert!(labels[50..].iter().all(|label| *label != labels[0]));
    // A saved model gives the same clusters to the same rows, and adds them to the table.
    let predicted = bench.ok("predict m.quince iris.csv").out;
    assert_eq!(
        predicted.lines().next(),
        Some("sepal_length,sepal_width,petal_length,petal_width,species,cluster,distance")
    );
    assert_eq!(column(&predicted, 5), labels);
    let refused = bench.run("evaluate m.quince iris.csv");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("there is no target to measure it by"), "{}", refused.err);
}

#[test]
fn fruit_is_clustered_with_a_key_and_auto_says_why() {
    let bench = Bench::new("cluster_fruit");
    bench.file("fruit.csv", FRUIT);
    let line = "cluster fruit.csv --key fruit_name --drop fruit_label --drop fruit_subtype";
    let answer = bench.ok(&format!("{line} -o -"));
    assert_eq!(answer.out.lines().next(), Some("fruit_name,cluster,distance"));
    assert_eq!(column(&answer.out, 0), column(FRUIT, 1));
    assert!(answer.err.contains("is the largest of 2 to 10"), "{}", answer.err);
    let json: serde_json::Value = serde_json::from_str(&bench.ok(&format!("{line} -k 4 --json")).out).unwrap();
    assert_eq!(json["clusters"].as_array().unwrap().len(), 4);
    assert_eq!(json["labels"].as_array().unwrap().len(), 59);
    let sizes: Vec<u64> = json["clusters"].as_array().unwrap().iter().map(|c| c["rows"].as_u64().unwrap()).collect();
    assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]), "the largest comes first: {sizes:?}");
}

#[test]
fn the_same_seed_gives_the_same_clusters_on_any_number_of_threads() {
    let bench = Bench::new("cluster_threads");
    bench.example("wine.csv");
    let on = |threads: usize| bench.ok(&format!("cluster wine.csv -k 5 --seed 4 --threads {threads} -o -")).out;
    let one = on(1);
    assert!(one == on(2) && one == on(8));
}

#[test]
fn a_key_with_the_name_of_a_written_column_keeps_its_name() {
    let bench = Bench::new("cluster_key");
    bench.file("old.csv", "cluster,distance,x\na,7,1\nb,8,2\nc,9,30\n");
    let header = |line: &str| bench.ok(line).out.lines().next().unwrap().to_string();
    assert_eq!(header("cluster old.csv -k 2 --key cluster -o -"), "cluster,cluster_,distance");
    assert_eq!(header("cluster old.csv -k 2 --key distance -o -"), "distance,cluster,distance_");
    let rows = bench.ok("cluster old.csv -k 2 --key cluster --drop distance -o -").out;
    assert_eq!((column(&rows, 0), column(&rows, 1)), (vec!["a", "b", "c"], vec!["1", "1", "2"]));
}

#[test]
fn clusters_of_weighted_rows_are_told_by_weight() {
    let bench = Bench::new("cluster_weight");
    bench.file("w.csv", "x,kind,w\n0,red,1\n0,red,1\n4,blue,6\n100,red,2\n96,green,0\n");
    let line = "cluster w.csv -k 2 --drop kind --weight w";
    let said = bench.ok(line).out;
    let words = |start: &str| -> Vec<String> {
        let line = said.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {said}"));
        line.split_whitespace().map(str::to_string).collect()
    };
    assert_eq!(words("rows"), ["rows", "5", "3", "(60", "%)", "2", "(40", "%)"]);
    assert_eq!(words("weight"), ["weight", "10", "8", "(80", "%)", "2", "(20", "%)"]);
    // (0 + 0 + 6·4 + 2·100) / 10, then 24 / 8, then the only row with a weight.
    assert_eq!(words("x"), ["x", "(mean)", "22.4", "3", "100"]);
    let json = bench.ok("cluster w.csv -k 2 --kind kind=category --weight w --json").out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let first = &json["clusters"][0];
    assert_eq!((first["weight"].as_f64(), first["columns"]["x"].as_f64()), (Some(8.0), Some(3.0)), "{first}");
    // Two rows of weight 1 are red, one of weight 6 is blue.
    assert_eq!(first["columns"]["kind"], serde_json::json!({"most_frequent": "blue", "share": 0.75}));
}

#[test]
fn fewer_different_rows_than_clusters_are_noted_whatever_the_algorithm() {
    let bench = Bench::new("cluster_few");
    bench.file("few.csv", "x\n1\n1\n4\n4\n");
    for algorithm in ["lloyd", "sequential", "mini-batch", "bisecting"] {
        let answer = bench.ok(&format!("cluster few.csv -k 3 --kind x=number --set algorithm={algorithm}"));
        let note = "note: 1 of 3 clusters is empty: there are not as many different rows";
        assert!(answer.err.contains(note), "{algorithm}: {}", answer.err);
    }
}

#[test]
fn wrong_options_get_a_sentence() {
    let bench = Bench::new("cluster_wrong");
    bench.example("iris.csv");
    let refused = |line: &str, says: &str| {
        let answer = bench.run(line);
        assert_eq!(answer.code, Some(1), "{line}");
        assert!(answer.err.contains(says), "{line}: {}", answer.err);
    };
    refused("cluster iris.csv -k 0", "setting 'k' cannot be 0");
    refused("cluster iris.csv -k many", "It takes a whole number of at least 1, or auto.");
    refused("cluster iris.csv -k 500", "setting 'k' cannot be 500 with 150 rows");
    refused("cluster iris.csv --method ridge", "'ridge', which finds no clusters");
    refused("cluster iris.csv -k 3 --set k=4", "Give -k or --set k=..., not both.");
    refused("cluster iris.csv --target species", "Keep a column out with --drop");
    refused("compare iris.csv --target species --models kmeans,ridge", "use `quince cluster`");
    refused("cluster iris.csv --key nobody", "nobody");
    refused("cluster iris.csv -k 3 -o iris.csv", "it would be overwritten");
    refused("train iris.csv --target species --model kmeans -o m.quince", "use `quince cluster`");
    refused(
        "train iris.csv --target species --model knn --set k=200 -o m.quince",
        "setting 'k' cannot be 200 with 150 rows",
    );
    refused("train iris.csv --target species --model knn --set metric=round -o m.quince", "euclidean, manhattan");
    bench.file("empty.csv", "a,b\n");
    refused("cluster empty.csv", "there is a header but no row below it");
}

#[test]
fn neighbours_learn_tables_with_missing_values_and_choose_k() {
    let bench = Bench::new("knn");
    bench.file("missing.csv", "age,city,label\n20,Oslo,a\n?,Oslo,a\n21,?,a\n60,Rome,b\n61,?,b\n?,Rome,b\n");
    let answer = bench.ok("train missing.csv --target label --model knn --set k=3 -o m.quince");
    assert!(answer.err.contains("3 nearest of 6 rows"), "{}", answer.err);
    assert!(answer.err.contains("the model holds the 6 rows it was trained on"), "{}", answer.err);
    bench.file("new.csv", "age,city\n22,?\n?,Rome\n");
    let predicted = bench.ok("predict m.quince new.csv").out;
    assert_eq!(column(&predicted, 2), ["a", "b"]);
    bench.example("iris.csv");
    let board = bench.ok("compare iris.csv --target species --models knn,baseline --folds loo").out;
    assert!(board.contains("knn"), "{board}");
}
