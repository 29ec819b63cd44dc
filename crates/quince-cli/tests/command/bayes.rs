//! Bayes classifiers by command: families, explanations of models and rows, and sampling.

use crate::Bench;

const MESSY: &str = "visits,city,note,age,y\n3,Oslo,likes tea,31,a\n1,Oslo,tea and cake,?,a\n?,Bergen,likes tea,40,a\n\
    9,Bergen,no tea,22,b\n7,?,coffee please,25,b\n8,Oslo,likes coffee,19,b\n2,Voss,tea please,35,a\n6,Voss,coffee,24,b\n";

fn bench(name: &str) -> Bench {
    let bench = Bench::new(&format!("bayes_{name}"));
    bench.file("table.csv", MESSY);
    bench
}

const KINDS: &str = "--kind visits=count --kind city=category --text note=least=1 --kind age=number";

#[test]
fn a_messy_table_is_learnt_explained_and_sampled() {
    let bench = bench("messy");
    let train =
        format!("train table.csv -t y {KINDS} --model naive-bayes --family visits=poisson,age=normal -o m.quince");
    bench.ok(&train);
    // Whatever follows from all rows has seen the row that is left out.
    for chosen in ["visits=normal", "visits=poisson,age=normal --set calibrate=false"] {
        let train = format!("train table.csv -t y {KINDS} -m naive-bayes --family {chosen} -o loo.quince --loo");
        let refused = bench.run(&train);
        assert!(refused.code == Some(1) && refused.err.contains("no exact leave-one-out"), "{}", refused.err);
    }
    let train = format!(
        "train table.csv -t y {KINDS} -m naive-bayes --family visits=normal,age=normal --set calibrate=false -o loo.quince --loo"
    );
    let said = bench.ok(&train);
    assert!(said.err.contains("exact leave-one-out: accuracy"), "{}", said.err);
    let explained = bench.ok("explain m.quince").out;
    // a: 3 + 1 + 2 visits in three rows, and one row of the overall mean 36 / 7.
    assert!(explained.contains("Poisson: mean") && explained.contains("2.7857"), "{explained}");
    assert!(explained.contains("city: probabilities of categories") && explained.contains("Bergen"), "{explained}");
    assert!(explained.contains("note: discriminative words") && explained.contains("coffee"), "{explained}");
    let row = bench.ok("explain m.quince table.csv --row 3").out;
    assert!(row.contains("The row is classified as a") && row.contains("city = Bergen"), "{row}");
    assert!(!row.contains("visits"), "a missing value is no evidence: {row}");
    let sampled = bench.ok("sample m.quince -n 5 --class b --seed 4").out;
    let lines: Vec<&str> = sampled.lines().collect();
    assert_eq!(lines[0], "visits,city,note,age,y");
    assert!(lines.len() == 6 && lines[1..].iter().all(|line| line.ends_with(",b")), "{sampled}");
    assert_eq!(sampled, bench.ok("sample m.quince -n 5 --class b --seed 4").out);
    bench.ok("sample m.quince -n 50 -o sampled.csv");
    bench.ok(&format!("train sampled.csv -t y {KINDS} --model gaussian -o again.quince"));
    let json: serde_json::Value = serde_json::from_str(&bench.ok("explain m.quince --json").out).unwrap();
    assert_eq!(json["tables"][0]["title"], "Classes");
}

#[test]
fn wrong_settings_get_a_remedy() {
    let bench = bench("wrong");
    let refused = |line: &str, sentence: &str, remedy: &str| {
        let answer = bench.run(line);
        assert_eq!(answer.code, Some(1), "{line}\n{}", answer.out);
        assert!(answer.err.contains(sentence) && answer.err.contains(remedy), "{line}: {}", answer.err);
    };
    let train = |rest: &str| format!("train table.csv -t y {KINDS} -o m.quince {rest}");
    let bayes = |rest: &str| train(&format!("--model naive-bayes {rest}"));
    refused(&bayes("--family nromal"), "setting 'family' cannot be 'nromal'", "Did you mean 'normal'?");
    refused(&bayes("--family viists=poisson"), "names 'viists', which is no column", "Did you mean 'visits'?");
    refused(&bayes("--family city=normal"), "family' of 'city' cannot be normal: it is a category", "categorical");
    refused(&bayes("--family note=poisson"), "it is a text", "multinomial or bernoulli");
    refused(&bayes("--family age=normal,age=kernel-density"), "names 'age' twice", "one family");
    refused(&bayes("--set priors=0.5"), "add up to 0.5", "one for each class");
    refused(&bayes("--set priors=1"), "are 1 for 2 classes", "one for each class");
    refused(&bayes("--set priors=0.5,0.6"), "add up to 1.1", "add up to 1");
    refused(&bayes("--set priors=often"), "setting 'priors' cannot be 'often'", "0.2,0.8");
    refused(&train("--model ridge --family normal"), "'ridge' has no families", "naive-bayes");
    refused("compare table.csv -t y --models ridge --family normal", "'ridge' has no families", "naive-bayes");
    assert!(!bench.names().iter().any(|name| name == "m.quince"));
    bench.file("halves.csv", "x,y\n1.5,a\n2,b\n3,a\n4,b\n");
    refused(
        "train halves.csv -t y --kind x=number --model naive-bayes --family x=poisson -o m.quince",
        "1.5 in row 1, column 'x' is not a count",
        "another family than poisson",
    );
    bench.ok(&bayes(""));
    refused("explain m.quince table.csv --row 99", "there is no row 99: the table has 8", "counted from 1");
    refused("explain m.quince --row 1", "not of which table", "--row 17");
    refused("sample m.quince --class c", "does not know the class 'c'", "The model's classes are a, b.");
    bench.ok(&train("--model ridge"));
    refused("explain m.quince", "'ridge' cannot explain", "naive-bayes");
    refused("sample m.quince", "'ridge' cannot sample rows", "naive-bayes");
}
