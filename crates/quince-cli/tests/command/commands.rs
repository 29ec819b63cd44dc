//! The commands on good input.

use crate::{Answer, Bench};
use std::io::Write;
use std::process::Stdio;

/// A messy table: a key, numbers with missing values, counts, a yes/no, categories, texts with quotes.
fn messy() -> String {
    let mut table = "PassengerId,Survived,Name,Sex,Age,Fare,Boat\n".to_string();
    let names = ["Braund, Mr. Owen", "Cumings, Mrs. \"\"Flo\"\" B", "Heikkinen, Miss. Laina", "Allen, Mr. William"];
    for i in 0..80 {
        let sex = if i % 3 == 0 { "female" } else { "male" };
        let survived = usize::from((i % 3 == 0) ^ (i % 11 == 0));
        let age = if i % 7 == 0 { String::new() } else { format!("{}.5", 20 + (i * 13) % 50) };
        let boat = ["", "A", "B", "?"][i % 4];
        table += &format!("{},{survived},\"{} {i}\",{sex},{age},{},{boat}\n", i + 1, names[i % 4], (i * 29) % 97);
    }
    table
}

/// The same table with its columns in another order, the target left out.
fn shuffled(table: &str) -> String {
    let cells = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            quoted ^= c == '"';
            if c == ',' && !quoted { cells.push(String::new()) } else { cells.last_mut().unwrap().push(c) }
        }
        cells
    };
    let line = |line: &str| {
        let cells = cells(line);
        [6, 4, 2, 0, 5, 3].map(|j| cells[j].clone()).join(",") + "\n"
    };
    table.lines().map(line).collect()
}

#[test]
fn help_says_what_must_be_given_and_what_holds_if_it_is_not() {
    let bench = Bench::new("help");
    for (line, sentences) in [
        (
            "--help",
            ["quince train TABLE --target COLUMN --model METHOD --output FILE", "quince predict FILE OTHER_TABLE"],
        ),
        ("train --help", ["must be given but with --resume", "(may be repeated); `quince models NAME` shows them"]),
        ("compare --help", ["log-loss (if not given)", "rmse (if not given)"]),
        ("curve --help", ["log-loss (if not given)", "(may be repeated); `quince models NAME` shows them"]),
        ("cluster --help", ["How columns are distributed", "(may be repeated); `quince models NAME` shows them"]),
        ("impute --help", ["How columns are distributed", "`quince models mixture` shows them"]),
    ] {
        let words: Vec<String> = bench.ok(line).out.split_whitespace().map(str::to_string).collect();
        let said = words.join(" ");
        assert!(sentences.iter().all(|sentence| said.contains(sentence)), "{line}: {said}");
    }
}

#[test]
fn compare_prints_a_leaderboard_of_every_method() {
    let bench = Bench::new("compare");
    bench.example("iris.csv");
    let answer = bench.ok("compare iris.csv --target species");
    assert!(answer.out.starts_with("species from 150 rows, by log loss (10-fold cross-validation"));
    let species = quince::learn::Classes::of(["setosa", "versicolor", "virginica"]);
    let target = quince::learn::Target::classes(species, Vec::new()).unwrap();
    let learns = |method: &&quince::registry::Method| method.info.is_compared(&target);
    let methods: Vec<_> = quince::registry::METHODS.iter().filter(learns).collect();
    for method in &methods {
        assert!(answer.out.contains(method.info.name), "{}", answer.out);
    }
    // Every classifier that is not among them is named, and nothing else is said.
    let absent = |method: &&quince::registry::Method| {
        method.info.can(quince::learn::Capability::Classify) && !method.info.is_compared(&target)
    };
    let absent: Vec<&str> = quince::registry::METHODS.iter().filter(absent).map(|method| method.info.name).collect();
    let named: Vec<&str> = answer.err.lines().map(|note| note.split(' ').nth(1).unwrap()).collect();
    assert_eq!(named, absent, "{}", answer.err);
    let json = bench.ok("compare iris.csv --target species --json").json();
    assert_eq!(json["entrants"].as_array().unwrap().len(), methods.len());
    assert_eq!(json["by"], "log-loss");
    let left_out: Vec<&str> =
        json["left_out"].as_array().unwrap().iter().map(|one| one["method"].as_str().unwrap()).collect();
    assert_eq!(left_out, absent);
}

#[test]
fn a_dash_is_standard_output_wherever_an_answer_may_go_to_a_file() {
    let bench = Bench::new("dash");
    bench.example("iris.csv");
    bench.ok("train iris.csv --target species --model naive-bayes -o m.quince");
    for command in ["predict m.quince iris.csv", "impute iris.csv --model m.quince", "sample m.quince -n 3"] {
        let plain = bench.ok(command);
        let dash = bench.ok(&format!("{command} -o -"));
        assert_eq!(dash.out, plain.out, "{command}");
        assert!(!dash.err.contains("written to"), "{command}: {}", dash.err);
    }
}

#[test]
fn a_messy_table_is_compared_trained_and_predicted_in_any_order_of_columns() {
    let bench = Bench::new("messy");
    bench.file("t.csv", messy()).file("shuffled.csv", shuffled(&messy()));
    let answer = bench.ok("compare t.csv -t Survived --folds 4");
    assert!(answer.err.contains("'PassengerId' is ignored: row numbers"), "{}", answer.err);
    bench.ok("train t.csv -t Survived -m ridge -o m.quince");
    let added = |answer: Answer, from: usize| -> Vec<String> {
        answer.out.lines().map(|line| line.rsplitn(4, ',').take(from).collect::<Vec<_>>().join(",")).collect()
    };
    let plain = added(bench.ok("predict m.quince t.csv"), 3);
    assert_eq!(plain[0], "probability_1,probability_0,predicted_Survived");
    assert_eq!(plain.len(), 81);
    assert_eq!(added(bench.ok("predict m.quince shuffled.csv"), 3), plain);
}

#[test]
fn a_folder_of_pictures_is_compared_and_its_files_are_predicted() {
    let bench = Bench::new("pictures");
    let picture = |bright: usize| {
        let pixels = (0..16).map(|at| if at / 8 == bright { 200 + at as u8 } else { at as u8 });
        [b"P5 4 4 255\n".to_vec(), pixels.collect()].concat()
    };
    for (place, side) in ["above", "below"].iter().enumerate() {
        std::fs::create_dir_all(bench.folder.join("pictures").join(side)).unwrap();
        for number in 0..6 {
            let mut content = picture(place);
            content[11] += number;
            bench.file(&format!("pictures/{side}/{number}.pgm"), content);
        }
    }
    std::fs::create_dir_all(bench.folder.join("new")).unwrap();
    bench.file("new/a.pgm", picture(1)).file("new/b.pgm", picture(0));
    let board = bench.ok("compare pictures --target label --pixels 4x4 -m ridge,knn --folds 3").out;
    assert!(board.contains("1.0000 ± 0.0000"), "{board}");
    bench.ok("train pictures -t label --pixels 4x4 -m ridge -o m.quince");
    // The model remembers the grid; giving it again does no harm, and another one is refused.
    for options in ["", "--pixels 4x4"] {
        let answer = bench.ok(&format!("predict m.quince new --no-probabilities {options}"));
        assert_eq!(answer.out, "file,predicted_label\na.pgm,below\nb.pgm,above\n");
    }
    assert!(bench.ok("evaluate m.quince pictures").out.contains("accuracy"));
    let other = bench.run("predict m.quince new --pixels 2x2 --binarise");
    assert_eq!(other.code, Some(1));
    assert!(
        other.err.contains("as 4x4 pixels, and these should be 2x2 pixels, black or white at 0.5"),
        "{}",
        other.err
    );
}

#[test]
fn predict_keeps_the_cells_as_they_were_written() {
    let bench = Bench::new("keep");
    bench.file("t.csv", "x,name,y\n1.50,\"a, \"\"b\"\" c\",u\n2,d e,v\n0.250,f g h,u\n7,i j,v\n");
    bench.ok("train t.csv -t y -m baseline -o m.quince");
    let answer = bench.ok("predict m.quince t.csv --no-probabilities");
    assert_eq!(
        answer.out,
        "x,name,y,predicted_y\n1.50,\"a, \"\"b\"\" c\",u,u\n2,d e,v,u\n0.250,f g h,u,u\n7,i j,v,u\n"
    );
    bench.ok("predict m.quince t.csv --no-probabilities -o out.csv");
    assert_eq!(bench.read("out.csv"), answer.out.as_bytes());
    // So are keys of more digits than a float keeps, and lists, which are not learnt from.
    bench.file(
        "t.jsonl",
        "{\"x\":1,\"name\":\"a b\",\"key\":9007199254740993,\"l\":[1]}\n{\"x\":2.5,\"name\":\"c d\",\"key\":7}\n",
    );
    let answer = bench.ok("predict m.quince t.jsonl --no-probabilities");
    assert_eq!(answer.out, "x,name,key,l,predicted_y\n1,a b,9007199254740993,[1],u\n2.5,c d,7,,u\n");
    let json = bench.ok("predict m.quince t.csv --json").json();
    assert_eq!(json[0]["predicted_y"], "u");
    assert_eq!(json[3]["probability_v"], 0.5);
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    let bench = Bench::new("threads");
    bench.example("film_reviews.csv.gz").example("digits.csv");
    for (table, target) in [("film_reviews.csv.gz", "label"), ("digits.csv", "digit")] {
        let outputs = [1, 2].map(|threads| {
            bench.ok(&format!("train {table} -t {target} -m ridge -o m{threads}.quince --threads {threads}"));
            let predictions = bench.ok(&format!("predict m{threads}.quince {table} --threads {threads}")).out;
            let json = bench.ok(&format!("compare {table} -t {target} --folds 3 --json --threads {threads}")).json();
            let board: Vec<_> = json["entrants"].as_array().unwrap().iter().map(|e| e["metrics"].clone()).collect();
            (bench.read(&format!("m{threads}.quince")), predictions, board)
        });
        assert!(outputs[0] == outputs[1], "{table}");
    }
}

#[test]
fn no_more_threads_start_than_there_are_cores_and_a_note_says_so() {
    let bench = Bench::new("many_threads");
    bench.example("iris.csv");
    let answer = bench.ok("train iris.csv -t species -m ridge -o m.quince --threads 99999");
    assert_eq!(answer.err.matches("note: 99999 threads were asked for, and this process may use ").count(), 1);
    bench.ok("train iris.csv -t species -m ridge -o m1.quince --threads 1");
    assert!(bench.read("m.quince") == bench.read("m1.quince"));
}

#[test]
fn evaluate_shows_confusion_and_scores() {
    let bench = Bench::new("evaluate");
    bench.example("wine.csv");
    bench.ok("train wine.csv -t cultivar -m ridge -o m.quince");
    let answer = bench.ok("evaluate m.quince wine.csv");
    for word in ["178 rows", "accuracy", "log loss", "precision", "recall", "F1", "area under ROC", "confusion"] {
        assert!(answer.out.contains(word), "{word}: {}", answer.out);
    }
    let json = bench.ok("evaluate m.quince wine.csv --json --roc").json();
    let counts = json["confusion"]["counts"].as_array().unwrap();
    let total: f64 = counts.iter().flat_map(|row| row.as_array().unwrap()).map(|n| n.as_f64().unwrap()).sum();
    assert_eq!(total, 178.0);
    assert_eq!(json["roc"].as_array().unwrap().len(), 3);
    bench.ok("train wine.csv -t alcohol -m least-squares -o r.quince --loo");
    let json = bench.ok("evaluate r.quince wine.csv --json").json();
    assert!(json["r2"].as_f64().unwrap() > 0.5 && json["rmse"].as_f64().unwrap() < 0.6);
}

#[test]
fn describe_and_models_are_readable_and_have_json() {
    let bench = Bench::new("describe");
    bench.file("t.csv", messy());
    let answer = bench.ok("describe t.csv");
    for word in ["80 rows, 7 columns", "row numbers", "yes/no", "text", "category", "strongest correlations"] {
        assert!(answer.out.contains(word), "{word}: {}", answer.out);
    }
    let json = bench.ok("describe t.csv --json").json();
    assert_eq!(json["columns"][1]["kind"], "yes/no");
    assert_eq!(json["columns"][4]["missing"], 12);
    let list = bench.ok("models");
    let page = bench.ok("models ridge");
    assert!(list.out.contains("ridge") && page.out.contains("alpha") && page.out.contains("at least 0"));
    assert_eq!(bench.ok("models ridge --json").json()["settings"][0]["default"], 1.0);
    assert_eq!(bench.ok("models --json").json().as_array().unwrap().len(), quince::registry::METHODS.len());
}

#[test]
fn kinds_and_dropped_columns_follow_the_user() {
    let bench = Bench::new("kinds");
    bench.file("t.csv", messy());
    let json = bench.ok("describe t.csv --json --kind Fare=category --drop Name --kind Survived=category").json();
    let kind = |k: usize| json["columns"][k]["kind"].as_str().unwrap().to_string();
    assert_eq!([kind(1), kind(2), kind(5)], ["category", "ignored", "category"]);
    // The override is remembered: the model reads the column as it was told in training.
    bench.ok("train t.csv -t Survived -m ridge -o m.quince --kind Fare=category --drop Name");
    bench.file("new.csv", "Fare,Sex,Age,Boat\n29,male,30,A\n");
    bench.ok("predict m.quince new.csv");
}

#[test]
fn standard_input_tabs_semicolons_and_no_header_are_read() {
    let bench = Bench::new("stdin");
    let mut child = bench.command("describe - --json").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a;b\n1,5;2\n3;4\n").unwrap();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.json()["columns"][0]["name"], "a");
    bench.file("t.tsv", "a\tb\n1\t2\n2\t4\n").file("plain.csv", "5,1\n5,2\n7,2\n7,3\n");
    assert_eq!(bench.ok("describe t.tsv --json").json()["rows"], 2);
    let warned = bench.ok("describe plain.csv");
    assert!(warned.err.contains("--no-header"), "{}", warned.err);
    let json = bench.ok("describe plain.csv --no-header --json").json();
    assert_eq!((&json["rows"], &json["columns"][1]["name"]), (&4.into(), &"column2".into()));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::new("pipe");
    bench.example("digits.csv");
    bench.ok("train digits.csv -t digit -m baseline -o m.quince");
    let mut child =
        bench.command("predict m.quince digits.csv").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""));
}

#[test]
fn weights_groups_and_leave_one_out_are_understood() {
    let bench = Bench::new("options");
    let mut table = "x,who,w,y\n".to_string();
    (0..40).for_each(|i| table += &format!("{},p{},{},{}\n", (i * 7) % 13, i % 8, 1 + i % 3, ["a", "b"][(i / 2) % 2]));
    bench.file("t.csv", table);
    let json = bench.ok("compare t.csv -t y --weight w --group who --folds 4 --json").json();
    assert_eq!(json["folds"], 4);
    let json = bench.ok("compare t.csv -t y --folds loo --json --models ridge,baseline --set ridge.alpha=0.5").json();
    let ridge = json["entrants"].as_array().unwrap().iter().find(|e| e["method"] == "ridge").unwrap();
    assert_eq!((&json["folds"], &ridge["settings"]["alpha"]), (&40.into(), &0.5.into()));
    let board = bench.ok("compare t.csv -t y --hold-out 0.25");
    assert!(board.out.contains("tested once on 25 % of the rows"), "{}", board.out);
    bench.ok("train t.csv -t y --weight w -m ridge -o m.quince");
    bench.ok("evaluate m.quince t.csv --weight w");
    // A weight of zero is a row that is not there.
    let some: String = (0..30).map(|i| format!("{},{},{}\n", i % 7, (i * i) % 11, usize::from(i < 20))).collect();
    let few: String = (0..20).map(|i| format!("{},{}\n", i % 7, (i * i) % 11)).collect();
    bench.file("some.csv", format!("x,y,w\n{some}")).file("few.csv", format!("x,y\n{few}"));
    bench.ok("train some.csv -t y --task regression --weight w -m least-squares -o a.quince");
    bench.ok("train few.csv -t y --task regression -m least-squares -o b.quince");
    let predicted = |model: &str| -> Vec<f64> {
        let rows = bench.ok(&format!("predict {model} few.csv --json")).json();
        rows.as_array().unwrap().iter().map(|row| row["predicted_y"].as_f64().unwrap()).collect()
    };
    for (a, b) in predicted("a.quince").into_iter().zip(predicted("b.quince")) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn a_budget_too_small_is_said_once() {
    let bench = Bench::new("budget");
    bench.example("iris.csv");
    let board = bench.run("compare iris.csv -t species --budget 0ms");
    assert_eq!(board.code, Some(1));
    assert!(board.err.contains("error: setting 'budget' was used up by reading the table"), "{}", board.err);
    assert_eq!(board.out, "");
    let answer = bench.run("train iris.csv -t species -m ridge -o m.quince --budget 0ms");
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains("the budget ran out"));
    assert_eq!(bench.names(), ["iris.csv"]);
}

#[test]
fn a_column_of_counts_takes_any_number_later_and_the_target_may_be_anything() {
    let bench = Bench::new("later");
    bench.file("t.csv", "x,z,y\n1,5,1.5\n2,3,2.5\n3,4,3.5\n4,1,4.5\n").file("new.csv", "x,z,y\n2.5,-1,TBD\n");
    bench.ok("train t.csv -t y -m least-squares -o m.quince");
    let json = bench.ok("predict m.quince new.csv --json").json();
    assert!((json[0]["predicted_y"].as_f64().unwrap() - 3.0).abs() < 1e-9);
    let answer = bench.run("evaluate m.quince new.csv");
    assert!(answer.err.contains("line 2, column 'y': 'TBD' is not a number"), "{}", answer.err);
}

#[test]
fn labels_are_recognised_in_every_spelling_that_training_recognises() {
    let bench = Bench::new("spelling");
    bench.file("t.csv", "x,y\n1,Yes\n2,no\n3,YES\n4,No\n5,yes\n6,no\n");
    bench.ok("train t.csv -t y -m ridge -o m.quince");
    assert_eq!(bench.ok("evaluate m.quince t.csv --json").json()["rows"], 6);
}

#[test]
fn predicted_labels_are_spelled_as_in_the_file() {
    let bench = Bench::new("labels");
    for (first, second) in [("1.0", "2.0"), ("0.50", "1.50"), ("+1", "-1"), ("0.0", "1.0")] {
        let rows: Vec<(usize, &str)> = (0..20).map(|i| (i % 2 * 9, if i % 2 == 0 { first } else { second })).collect();
        let table: String = rows.iter().map(|(x, label)| format!("{x},{label}\n")).collect();
        bench.file("t.csv", format!("x,y\n{table}"));
        bench.ok("train t.csv -t y -m naive-bayes --task classification -o m.quince");
        let said = bench.ok("predict m.quince t.csv --no-probabilities").out;
        let expected: String = rows.iter().map(|(x, label)| format!("{x},{label},{label}\n")).collect();
        assert_eq!(said, format!("x,y,predicted_y\n{expected}"));
        assert_eq!(bench.ok("predict m.quince t.csv --json").json()[0]["predicted_y"], first);
        // Another spelling of the same numbers is known again.
        let plain = |label: &str| label.parse::<f64>().unwrap().to_string();
        let again: String = rows.iter().map(|(x, label)| format!("{x},{}\n", plain(label))).collect();
        bench.file("again.csv", format!("x,y\n{again}"));
        for name in ["t.csv", "again.csv"] {
            let scores = bench.ok(&format!("evaluate m.quince {name} --json")).json();
            assert_eq!((&scores["rows"], &scores["accuracy"]), (&20.into(), &1.0.into()), "{name}: {scores}");
        }
    }
}

#[test]
fn progress_goes_on_after_a_note() {
    let bench = Bench::new("notes");
    let mut table = "id,x,text,y\n".to_string();
    for i in 0..1500 {
        let words: Vec<String> = (0..40).map(|k| format!("w{}", (i * 31 + k * k * 7) % 2500)).collect();
        table += &format!("{i},{},{},{}\n", i % 17, words.join(" "), ["a", "b"][i % 2]);
    }
    bench.file("t.csv", table);
    // The first line of progress comes after a second: there must be work for longer than that.
    let answer = bench.ok("compare t.csv -t y --folds 25 --threads 1");
    assert!(answer.err.contains("note: 'id' is ignored"), "{}", answer.err);
    assert!(answer.err.contains("quince: "), "a line of progress: {}", answer.err);
}

#[test]
fn groups_cannot_be_left_out_one_row_at_a_time() {
    let bench = Bench::new("group_loo");
    bench.example("iris.csv");
    let answer = bench.run("compare iris.csv -t species --group petal_width --folds loo");
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains("setting 'group'"), "{}", answer.err);
}

#[test]
fn folds_without_any_weight_are_left_out_and_weights_of_zero_are_refused() {
    let bench = Bench::new("weightless");
    let rows: String = (0..40).map(|i| format!("{},{},{}\n", i % 7, ["a", "b"][i % 2], usize::from(i < 6))).collect();
    bench.file("t.csv", format!("x,y,w\n{rows}"));
    let answer = bench.ok("compare t.csv -t y --weight w");
    assert!(answer.err.contains("is left out: no row of one side has any weight"), "{}", answer.err);
    assert!(!answer.out.contains("NaN"), "{}", answer.out);
    bench.file("zero.csv", "x,y,w\n1,a,0\n2,b,0\n");
    bench.ok("train t.csv -t y --weight w -m ridge -o m.quince");
    let answer = bench.run("evaluate m.quince zero.csv --weight w");
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains("all weights are zero"), "{}", answer.err);
}

#[test]
fn the_table_itself_is_no_place_for_the_model() {
    let bench = Bench::new("over");
    bench.example("iris.csv");
    let answer = bench.run("train iris.csv -t species -m ridge -o iris.csv");
    assert_eq!(answer.code, Some(1));
    bench.ok("train iris.csv -t species -m ridge -o m.quince");
    for output in ["m.quince", "iris.csv"] {
        assert_eq!(bench.run(&format!("predict m.quince iris.csv -o {output}")).code, Some(1));
    }
    assert!(answer.err.contains("this is what is read: it would be overwritten"), "{}", answer.err);
}
