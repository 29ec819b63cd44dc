//! B1, B2, B3, B4, B5, B6, B9, B10, B11, B12 and B15: Bayes classifiers.

use crate::agrees;
use quince::bayes::{BayesModel, GaussianClassifier, NaiveBayes, Priors, SharedCovariance};
use quince::learn::{DynLearner, Prediction};
use quince::table::Column;
use quince::{Kind, Model, Run, Table};

/// The scores and probabilities of new rows, by a model that learns column `y`.
fn answers(train: &str, new: &str, kinds: &[(&str, Kind)], learner: &dyn DynLearner) -> Vec<(Vec<f64>, Vec<f64>)> {
    let table = Table::from_csv(train).unwrap();
    let kind = |column: &Column| {
        let wished = kinds.iter().find(|(name, _)| *name == column.name());
        wished.map_or_else(|| column.clone(), |(_, kind)| column.as_kind(*kind, &table).unwrap())
    };
    let table = Table::new(table.columns().iter().map(kind).collect()).unwrap();
    let model = Model::train(&table, "y", learner).unwrap();
    let table = Table::from_csv(new).unwrap();
    let Prediction::Classes { scores, probabilities } = model.predict(&table).unwrap() else { panic!("classes") };
    (0..scores.rows()).map(|i| (scores.row(i).to_vec(), probabilities.row(i).to_vec())).collect()
}

fn family(text: &str) -> NaiveBayes {
    NaiveBayes {
        family: text.parse().unwrap(),
        alpha: 0.0,
        variance_floor: 0.0,
        calibrate: false,
        ..NaiveBayes::default()
    }
}

/// A hundred fish of each sex: 14 males and 10 females are 11 cm long.
fn fish() -> String {
    let mut rows = String::from("length,y\n");
    for (sex, counts) in [("male", [6, 30, 14, 30, 20]), ("female", [30, 40, 10, 15, 5])] {
        for (length, count) in [9, 10, 11, 12, 13].into_iter().zip(counts) {
            rows.push_str(&format!("{length},{sex}\n").repeat(count));
        }
    }
    rows
}

#[test]
fn b1_b2_the_sex_of_a_fish_by_histograms_and_priors() {
    // Classes are sorted: female comes before male.
    for (priors, ratio, probability) in [
        (Priors::Equal, 1.4, 0.5833),
        (Priors::Given(vec![2.0 / 3.0, 1.0 / 3.0]), 0.7, 0.7 / 1.7),
        (Priors::Given(vec![0.8, 0.2]), 0.35, 0.2593),
    ] {
        let learner = NaiveBayes { priors, ..family("histogram") };
        let answers = answers(&fish(), "length\n11\n", &[("length", Kind::Number)], &learner);
        let (scores, probabilities) = &answers[0];
        agrees((scores[1] - scores[0]).exp(), ratio, 10);
        agrees(probabilities[1], probability, 4);
        assert_eq!(probabilities[1] > 0.5, ratio > 1.0);
    }
}

#[test]
fn b2_a_value_outside_every_bin_leaves_the_answer_to_the_rest() {
    for alpha in [0.0, 1.0] {
        let learner = NaiveBayes { alpha, ..family("histogram") };
        let answers = answers(&fish(), "length\n4\n19\n", &[("length", Kind::Number)], &learner);
        assert!(answers.iter().all(|(_, p)| p == &[0.5, 0.5]), "{answers:?}");
    }
}

#[test]
fn b2_a_kernel_density_is_the_mean_of_normal_densities() {
    let learner = NaiveBayes { bandwidth: 0.5, ..family("kernel-density") };
    let train = "x,y\n1,a\n2,a\n4,a\n3,b\n7,b\n";
    let (scores, _) = &answers(train, "x\n2.5\n", &[("x", Kind::Number)], &learner)[0];
    let normal = |d: f64| (-0.5 * (d / 0.5) * (d / 0.5)).exp() / (0.5 * std::f64::consts::TAU.sqrt());
    agrees(scores[0].exp(), 0.6 * (normal(1.5) + normal(0.5) + normal(1.5)) / 3.0, 12);
    agrees(scores[1].exp(), 0.4 * (normal(0.5) + normal(4.5)) / 2.0, 12);
}

#[test]
fn b3_a_normal_and_a_poisson_column() {
    let train = "a,b,y\n3.5,10,1\n1.0,8,1\n0.0,10,-1\n-3.0,14,-1\n";
    let kinds = [("a", Kind::Number), ("b", Kind::Count), ("y", Kind::Category)];
    let (scores, probabilities) = &answers(train, "a,b\n3,9\n", &kinds, &family("a=normal,b=poisson"))[0];
    agrees(scores[1], -4.04204, 5);
    agrees(scores[0], -8.95522, 5);
    agrees(probabilities[1], 0.99270, 5);
}

const WEATHER: &str = include_str!("../data/weather.csv");

fn weather(learner: &NaiveBayes) -> (Vec<f64>, Vec<f64>) {
    let train = WEATHER.replace("play", "y");
    let new = "outlook,temperature,humidity,windy\nsunny,cool,high,TRUE\n";
    let kinds = [("windy", Kind::Category)];
    answers(&train, new, &kinds, learner).swap_remove(0)
}

#[test]
fn b4_the_weather_by_categories() {
    let (scores, _) = weather(&family("categorical"));
    // no comes before yes.
    agrees(scores[1].exp(), 0.00529, 5);
    agrees(scores[0].exp(), 0.02057, 5);
    agrees((scores[1] - scores[0]).exp(), 0.2572, 4);
}

#[test]
fn b15_the_weather_in_a_markov_chain() {
    let (scores, probabilities) = weather(&family("markov-chain"));
    // 0 against 0: the priors remain.
    agrees(scores[0].exp(), 5.0 / 14.0, 12);
    agrees(probabilities[1], 9.0 / 14.0, 12);
    let (scores, probabilities) = weather(&NaiveBayes { alpha: 1.0, ..family("markov-chain") });
    agrees(scores[1].exp(), 9.0 / 1750.0, 12);
    agrees(scores[0].exp(), 5.0 / 1008.0, 12);
    agrees(probabilities[0], 0.4910, 4);
}

/// Rows of 0 and 1 (or counts) with their class.
fn rows(words: &[&str], classes: &[(&str, &[&str])]) -> String {
    let mut csv = format!("{},y\n", words.join(","));
    for (class, documents) in classes {
        documents.iter().for_each(|row| csv.push_str(&format!("{row},{class}\n")));
    }
    csv
}

const WORDS: [&str; 8] = ["goal", "tutor", "variance", "speed", "drink", "defence", "performance", "field"];

#[test]
fn b5_documents_by_the_words_they_have() {
    let sport: &[&str] = &[
        "1,0,0,0,1,1,1,1",
        "0,0,1,0,1,1,0,0",
        "0,1,0,1,0,1,1,0",
        "1,0,0,1,0,1,0,1",
        "1,0,0,0,1,0,1,1",
        "0,0,1,1,0,0,1,1",
    ];
    let informatics: &[&str] =
        &["0,1,1,0,0,0,1,0", "1,1,0,1,0,0,1,1", "0,1,1,0,0,1,0,0", "0,0,0,0,0,0,0,0", "0,0,1,0,1,0,1,0"];
    let train = rows(&WORDS, &[("sport", sport), ("informatics", informatics)]);
    let new = format!("{}\n1,0,0,1,1,1,0,1\n", WORDS.join(","));
    let kinds = WORDS.map(|word| (word, Kind::YesNo));
    let (scores, _) = &answers(&train, &new, &kinds, &family("bernoulli"))[0];
    agrees(scores[1].exp(), 5.0 / 891.0, 12);
    agrees(scores[0].exp(), 8.0 / 859375.0, 15);
}

/// The words of a document, one after another: those with a 1.
fn text(presence: &str) -> String {
    let there = presence.chars().zip(WORDS).filter(|(one, _)| *one == '1').map(|(_, word)| word);
    there.collect::<Vec<_>>().join(" ")
}

/// The documents of B5 as texts with their classes; the fourth one of informatics is empty.
fn documents() -> Vec<(String, &'static str)> {
    let sport = ["10001111", "00101100", "01010110", "10010101", "10001011", "00110011"];
    let informatics = ["01100010", "11010011", "01100100", "00000000", "00101010"];
    let of = |class| move |row| (text(row), class);
    sport.into_iter().map(of("sport")).chain(informatics.into_iter().map(of("informatics"))).collect()
}

fn json_table(text: String, name: &str) -> Table {
    let options = quince::table::ReadOptions::default();
    let mut cells = quince::table::Cells::parse(text.into_bytes(), name, &options, &Run::new()).unwrap();
    cells.table(&options, &Run::new()).unwrap()
}

/// The documents as a CSV file, as JSON and as a folder of files, each with the column of texts and the target.
fn tables_of_documents() -> [(Table, &'static str, &'static str); 3] {
    let csv: String = documents().iter().map(|(text, class)| format!("{text},{class}\n")).collect();
    let json: Vec<_> = documents().iter().map(|(text, class)| serde_json::json!({"t": text, "y": class})).collect();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("b5_texts");
    for (i, (text, class)) in documents().iter().enumerate() {
        std::fs::create_dir_all(folder.join(class)).unwrap();
        std::fs::write(folder.join(class).join(format!("{i}.txt")), text).unwrap();
    }
    [
        (Table::from_csv(&format!("t,y\n{csv}")).unwrap(), "t", "y"),
        (json_table(serde_json::json!(json).to_string(), "t.json"), "t", "y"),
        (Table::read(&folder).unwrap(), "text", "label"),
    ]
}

#[test]
fn b5_x5_documents_from_raw_texts_of_which_one_is_empty() {
    let new = text("10011101");
    // Nothing said is not the same as nothing known: no word at all, and a word that nobody knows.
    let absent = |all: [f64; 8], rows: f64| all.iter().map(|count| 1.0 - count / rows).product::<f64>();
    let silent = [
        absent([1.0, 3.0, 3.0, 1.0, 1.0, 1.0, 3.0, 1.0], 5.0) * 5.0 / 11.0,
        absent([3.0, 1.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0], 6.0) * 6.0 / 11.0,
    ];
    let expected = [[8.0 / 859375.0, 5.0 / 891.0], silent, silent, [5.0 / 11.0, 6.0 / 11.0]];
    for (train, column, target) in tables_of_documents() {
        let texts = train.column(column).unwrap();
        assert_eq!((texts.kind(), texts.missing_count()), (Kind::Text, 0));
        let train = train.encoded_as(column, "presence,least=1").unwrap();
        let model = Model::train(&train, target, &family("bernoulli")).unwrap();
        let scores = |table: &Table| match model.predict(table).unwrap() {
            Prediction::Classes { scores, .. } => scores,
            other => panic!("{other:?}"),
        };
        let lines = |cells: [&str; 4]| cells.map(|cell| format!("{{\"{column}\":{cell}}}\n")).concat();
        for rows in [
            Table::from_csv(&format!("{column},k\n{new},1\ntea,2\n,3\nNA,4\n")).unwrap(),
            // Categories, by the rule alone.
            Table::from_csv(&format!("{column}\n\"{new}\"\ntea\n\"\"\n?\n{new}\ntea\n")).unwrap(),
            json_table(lines([&format!("\"{new}\""), "\"tea\"", "\"\"", "null"]), "t.jsonl"),
        ] {
            let scores = scores(&rows);
            for (i, expected) in expected.iter().enumerate() {
                agrees(scores[(i, 0)].exp(), expected[0], 12);
                agrees(scores[(i, 1)].exp(), expected[1], 12);
            }
        }
        // A table of one row, which has no kind by the rule.
        let one = Table::from_csv(&format!("{column},k\n\"\",1\n")).unwrap();
        agrees(scores(&one)[(0, 0)].exp(), silent[0], 12);
    }
}

const FRUIT: [&str; 3] = ["apple", "banana", "computer"];

#[test]
fn b5_exercise_1_and_a_row_that_no_class_can_have() {
    let fruit: &[&str] = &["2,1,0", "0,1,0", "3,2,1", "1,0,0"];
    let electronics: &[&str] = &["2,0,0", "0,0,1", "3,1,2", "0,0,1"];
    let train = rows(&FRUIT, &[("F", fruit), ("E", electronics)]);
    let kinds = FRUIT.map(|word| (word, Kind::Count));
    let bernoulli = family("apple=bernoulli,banana=bernoulli,computer=bernoulli");
    let found = answers(&train, "apple,banana,computer\n1,0,0\n1,1,0\n", &kinds, &bernoulli);
    agrees(found[0].1[1], 3.0 / 5.0, 12);
    agrees(found[1].1[1], 27.0 / 29.0, 12);
    // Yes is certain in one class and no in the other, and the other way round: neither can have a row of two nos or yeses.
    let train = rows(&["a", "b"], &[("F", &["1,0", "1,0", "1,0"]), ("E", &["0,1"])]);
    let kinds = [("a", Kind::YesNo), ("b", Kind::YesNo)];
    let found = answers(&train, "a,b\n1,1\n0,0\n", &kinds, &family("bernoulli"));
    for (_, probabilities) in found {
        agrees(probabilities[1], 0.75, 12);
    }
}

#[test]
fn b6_exercise_2_counts_of_words_with_laplace() {
    let words = ["fish", "chip", "circuit"];
    let food: &[&str] = &["2,1,0", "0,1,0", "1,1,1", "2,0,0"];
    let electronics: &[&str] = &["0,0,2", "0,1,1", "0,2,0", "0,0,1"];
    let train = rows(&words, &[("F", food), ("E", electronics)]);
    let kinds = words.map(|word| (word, Kind::Count));
    let laplace = NaiveBayes { alpha: 1.0, ..family("multinomial") };
    let new = "fish,chip,circuit\n1,1,0\n1,0,0\n0,1,0\n0,0,1\n";
    let found = answers(&train, new, &kinds, &laplace);
    agrees(found[0].1[1], 0.80645, 5);
    // A text of one word: its score is ln ½ + ln P(w | class).
    for (row, (of_food, of_electronics)) in
        [(1.0 / 2.0, 1.0 / 10.0), (1.0 / 3.0, 2.0 / 5.0), (1.0 / 6.0, 1.0 / 2.0)].into_iter().enumerate()
    {
        let scores = &found[row + 1].0;
        agrees(scores[1].exp(), of_food / 2.0, 12);
        agrees(scores[0].exp(), of_electronics / 2.0, 12);
    }
    // The same as texts.
    let texts = "text,y\nfish chip fish,F\nchip,F\ncircuit fish chip,F\nfish fish,F\n\
        circuit circuit,E\nchip circuit,E\nchip chip,E\ncircuit,E\n";
    let found = answers(texts, "text\nfish chip\n", &[("text", Kind::Text)], &laplace);
    agrees(found[0].1[1], 0.80645, 5);
}

#[test]
fn b6_exercise_3_two_writers() {
    let words = ["wizard", "river", "star", "warp"];
    let baker: &[&str] = &["1,1,1,0", "1,1,0,1", "1,1,1,1", "1,1,0,0"];
    let clark: &[&str] = &["0,1,0,1", "0,0,2,1", "0,2,1,2", "1,1,1,2", "0,1,2,2", "0,1,2,1"];
    let kinds = words.map(|word| (word, Kind::Count));
    let train = rows(&words, &[("Baker", baker), ("Clark", clark)]);
    let found = answers(&train, "wizard,river,star,warp\n2,1,1,0\n1,1,2,1\n", &kinds, &family("multinomial"));
    agrees(found[0].0[0].exp(), 0.4 / 162.0, 12);
    agrees(found[0].0[1].exp(), 0.6 / 6912.0, 12);
    agrees(found[1].0[0].exp(), 0.4 / 1944.0, 12);
    agrees(found[1].0[1].exp(), 0.6 / 2304.0, 12);
    let best: &[&str] = &["1,1,1,1", "0,2,1,2", "0,1,2,2", "0,1,2,1"];
    let others: &[&str] = &["1,1,1,0", "1,1,0,1", "1,1,0,0", "0,1,0,1", "0,0,2,1", "1,1,1,2"];
    let train = rows(&words, &[("best", best), ("other", others)]);
    let found = answers(&train, "wizard,river,star,warp\n0,1,1,2\n", &kinds, &family("multinomial"));
    agrees((found[0].0[0] - found[0].0[1]).exp(), 86.4 / 60.0, 12);
}

const S_AND_T: &str = "x,y\n10,S\n8,S\n10,S\n10,S\n11,S\n11,S\n12,T\n9,T\n15,T\n10,T\n13,T\n13,T\n";

#[test]
fn b9_log_odds_of_two_gaussians() {
    let exact = GaussianClassifier { variance_floor: 0.0, calibrate: false, ..GaussianClassifier::default() };
    let found = answers(S_AND_T, "x\n10\n11\n6\n", &[("x", Kind::Number)], &exact);
    for ((scores, _), expected) in found.iter().zip([1.1931, 0.3181, -2.8069]) {
        agrees(scores[0] - scores[1], expected, 4);
    }
    let shared = GaussianClassifier { shared: SharedCovariance::Mean, ..exact };
    let found = answers(S_AND_T, "x\n11\n0\n", &[("x", Kind::Number)], &shared);
    agrees(found[0].0[0] - found[0].0[1], 0.0, 12);
    agrees(found[1].0[0] - found[1].0[1], 8.8, 12);
}

fn fitted(csv: &str, learner: &dyn DynLearner) -> BayesModel {
    let table = Table::from_csv(csv).unwrap();
    let number = table.column("x").unwrap().as_kind(Kind::Number, &table).unwrap();
    let table = Table::new(vec![number, table.column("y").unwrap().clone()]).unwrap();
    Model::train(&table, "y", learner).unwrap().fitted::<BayesModel>().unwrap().clone()
}

#[test]
fn b10_boundaries_and_the_error_they_cost() {
    let exact = GaussianClassifier { variance_floor: 0.0, calibrate: false, ..GaussianClassifier::default() };
    for model in [fitted(S_AND_T, &exact), fitted(S_AND_T, &family("normal"))] {
        let found = model.boundaries().unwrap();
        agrees(found.at[0], 7.4291, 4);
        agrees(found.at[1], 11.2376, 4);
        assert_eq!(found.classes, [1, 0, 1]);
        agrees(found.error, 0.22669, 5);
        // The quadratic form says the same as the scores: at 10 the log odds are 1.1931.
        let forms = model.discriminants().unwrap();
        let at = |k: usize, x: f64| {
            forms[k].quadratic.as_ref().unwrap()[0][0] * x * x + forms[k].linear[0] * x + forms[k].constant
        };
        agrees(at(0, 10.0) - at(1, 10.0), 1.1931, 4);
    }
}

#[test]
fn b10_boundaries_keep_their_digits_far_from_zero_and_in_any_unit() {
    let exact = GaussianClassifier { variance_floor: 0.0, calibrate: false, ..GaussianClassifier::default() };
    for (shift, unit) in [(1e9, 1.0), (-1e9, 1.0), (0.0, 1e15), (0.0, 1e-15)] {
        let moved = S_AND_T.lines().map(|line| match line.split_once(',') {
            Some((x, y)) => x.parse::<f64>().map_or(line.to_string(), |x| format!("{:e},{y}", shift + unit * x)),
            None => line.to_string(),
        });
        let found = fitted(&moved.collect::<Vec<_>>().join("\n"), &exact).boundaries().unwrap();
        assert_eq!(found.classes, [1, 0, 1], "{shift} {unit}");
        agrees((found.at[0] - shift) / unit, 7.4291, 4);
        agrees((found.at[1] - shift) / unit, 11.2376, 4);
        agrees(found.error, 0.22669, 5);
    }
}

#[test]
fn b10_a_shared_variance_makes_a_line() {
    let shared = GaussianClassifier {
        variance_floor: 0.0,
        calibrate: false,
        shared: SharedCovariance::Mean,
        ..GaussianClassifier::default()
    };
    let model = fitted(S_AND_T, &shared);
    let forms = model.discriminants().unwrap();
    assert!(forms[0].quadratic.is_none());
    let odds = forms[0].against(&forms[1]);
    agrees(odds.linear[0], -0.8, 12);
    agrees(odds.constant, 8.8, 12);
    agrees(odds.distance(), 11.0, 12);
    let found = model.boundaries().unwrap();
    assert_eq!(found.at.len(), 1);
    agrees(found.at[0], 11.0, 12);
}

#[test]
fn b12_rows_and_words_are_drawn_as_often_as_they_should_be() {
    // Half of the rows are of each class; of F 2/3 are yes, of E none but what Laplace adds.
    let csv = "x,w,y\n1,good good film,F\n3,good,F\n2,bad,E\n4,bad film,E\n";
    let table = Table::from_csv(csv).unwrap();
    let columns = [("x", Kind::Number), ("w", Kind::Text), ("y", Kind::Category)];
    let as_kind = |(name, kind): (&str, Kind)| table.column(name).unwrap().as_kind(kind, &table).unwrap();
    let table = Table::new(columns.into_iter().map(as_kind).collect()).unwrap();
    let table = table.encoded_as("w", "counts,least=1").unwrap();
    let learner = NaiveBayes { alpha: 0.0, family: "x=normal".parse().unwrap(), ..NaiveBayes::default() };
    let model = Model::train(&table, "y", &learner).unwrap();
    let count = 20_000;
    let made = model.sample(count, None, &Run::new().seed(3)).unwrap();
    assert_eq!(made.names, ["x", "w", "y"]);
    let of = |class: &'static str| made.rows.iter().filter(move |row| row[2] == class);
    // Five standard deviations of a count of halves: 5 √(n / 4).
    assert!((of("F").count() as f64 - 10_000.0).abs() < 354.0);
    let mean = |class: &'static str| {
        of(class).map(|row| row[0].parse::<f64>().unwrap()).sum::<f64>() / of(class).count() as f64
    };
    assert!((mean("F") - 2.0).abs() < 0.05 && (mean("E") - 3.0).abs() < 0.05);
    let words: Vec<&str> = of("F").flat_map(|row| row[1].split(' ')).filter(|word| !word.is_empty()).collect();
    let probability = |word: &str| words.iter().filter(|other| **other == word).count() as f64 / words.len() as f64;
    assert_eq!(probability("bad"), 0.0);
    assert!((probability("good") - 0.75).abs() < 5.0 * (0.1875 / words.len() as f64).sqrt(), "{}", probability("good"));
    // A text of F has two words on average, a Poisson number of them.
    assert!((words.len() as f64 / of("F").count() as f64 - 2.0).abs() < 0.08);
    // The same seed draws the same rows.
    assert_eq!(made, model.sample(count, None, &Run::new().seed(3)).unwrap());
}

const VOWELS: &str = include_str!("../data/vowels.csv");

#[test]
fn b11_vowels_by_two_formants() {
    // Men and women; ten speakers are tested.
    let (mut train, mut test) = (String::from("f1,f2,y\n"), String::from("f1,f2,y\n"));
    for line in VOWELS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let speaker: u32 = cells[2].parse().unwrap();
        let tested = (29..=33).contains(&speaker) || (57..=61).contains(&speaker);
        if cells[0] != "c" {
            let part = if tested { &mut test } else { &mut train };
            part.push_str(&format!("{},{},{}\n", cells[6], cells[7], cells[3]));
        }
    }
    let learner = GaussianClassifier { variance_floor: 0.0, calibrate: false, ..GaussianClassifier::default() };
    let kinds = [("f1", Kind::Number), ("f2", Kind::Number)];
    let found = answers(&train, &test, &kinds, &learner);
    let truth: Vec<&str> = test.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    let classes = quince::learn::Classes::of(truth.iter().copied());
    let mut confusion = vec![vec![0; 10]; 10];
    for ((scores, _), label) in found.iter().zip(&truth) {
        let best = (0..10).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        confusion[classes.code(label).unwrap() as usize][best] += 1;
    }
    assert_eq!(found.len(), 200);
    assert_eq!((0..10).map(|k| confusion[k][k]).sum::<u32>(), 178, "{confusion:?}");
    // Two means, two variances and a covariance for each of ten vowels; nine priors of vowels come on top.
    let table = Table::from_csv(&train).unwrap();
    let number = |name: &str| table.column(name).unwrap().as_kind(Kind::Number, &table).unwrap();
    let table = Table::new(vec![number("f1"), number("f2"), table.column("y").unwrap().clone()]).unwrap();
    let model = Model::train(&table, "y", &learner).unwrap();
    assert_eq!(model.fitted::<BayesModel>().unwrap().free_parameters(), 50 + 9);
    // With one covariance for all: ten means of two numbers, and three numbers in common.
    let shared = GaussianClassifier { shared: SharedCovariance::Pooled, ..learner };
    let model = Model::train(&table, "y", &shared).unwrap();
    assert_eq!(model.fitted::<BayesModel>().unwrap().free_parameters(), 20 + 3 + 9);
}
