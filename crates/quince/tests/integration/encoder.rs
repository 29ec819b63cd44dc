//! The encoder's rules, each as a claim.

use crate::clock::{check_heeds_cancel, looks};
use quince::encode::{Encoder, MissingValues};
use quince::learn::{FeatureGroup, FeatureKind};
use quince::linear::Ridge;
use quince::table::{Column, ColumnOptions, Encoding, Fill};
use quince::{Model, Run, Table};

const TRAIN: &str = "age,city,member,note,label\n31,Oslo,yes,good good film,a\n25,Rome,no,bad film here,b\n\
    47,Oslo,?,good one again,a\n?,?,no,bad bad day,b\n38,Bern,no,a good film,a\n29,Rome,yes,,b\n";

fn dense(encoder: &Encoder, csv: &str) -> Vec<Vec<f64>> {
    let table = Table::from_csv(csv).unwrap();
    let rows = encoder.encode(&table, MissingValues::Imputed, &Run::new()).unwrap();
    let part = rows.features().dense_part().unwrap();
    (0..part.rows()).map(|i| (0..part.columns()).map(|j| part.get(i, j)).collect()).collect()
}

fn encoder() -> Encoder {
    Encoder::learn(&Table::from_csv(TRAIN).unwrap().without(&["label"]), &Run::new()).unwrap()
}

#[test]
fn features_are_named_after_column_category_and_word() {
    let names: Vec<String> = encoder().feature_names().collect();
    assert_eq!(names[..5], ["age", "city=Bern", "city=Oslo", "city=Rome", "member"]);
    // Words found in two rows or more, sorted.
    assert_eq!(names[5..], ["note: bad", "note: film", "note: good"]);
}

#[test]
fn missing_values_become_the_mean_the_most_frequent_category_and_the_more_frequent_answer() {
    let rows = dense(&encoder(), "age,city,member,note\n34,Oslo,no,x y\n?,,NA,null\n");
    assert_eq!(rows[0], rows[1], "34 is the mean age, Oslo comes before Rome as often, no is more frequent");
}

#[test]
fn an_unseen_category_is_zero_everywhere_and_an_unseen_word_is_left_out() {
    let table = Table::from_csv("age,city,member,note\n34,Paris,no,good unheard\n").unwrap();
    let encoder = encoder();
    let rows = encoder.encode(&table, MissingValues::Imputed, &Run::new()).unwrap();
    let part = rows.features().dense_part().unwrap();
    assert_eq!((1..4).map(|j| part.get(0, j)).collect::<Vec<_>>(), [0.0, 0.0, 0.0]);
    let words = rows.features().sparse_part().unwrap();
    // One word is left, and its row has length 1.
    assert_eq!(words.row(0), (&[2u32][..], &[1.0][..]));
}

#[test]
fn reordered_and_additional_columns_change_nothing() {
    let plain = dense(&encoder(), "age,city,member,note\n40,Rome,yes,film\n");
    let mixed = dense(&encoder(), "note,extra,member,city,age\nfilm,9,yes,Rome,40\n");
    assert_eq!(plain, mixed);
}

#[test]
fn a_missing_column_and_a_cell_that_does_not_fit_are_refused_with_their_names() {
    let table = Table::from_csv(TRAIN).unwrap();
    let model = Model::train(&table, "label", &Ridge::default()).unwrap();
    let predict = |csv: &str| model.predict(&Table::from_csv(csv).unwrap()).unwrap_err().to_string();
    assert_eq!(
        predict("age,note\n1,x\n"),
        "text: the columns 'city', 'member' that the model was trained on are missing"
    );
    assert_eq!(predict("age,city,member,note\nold,Rome,no,x\n"), "text, line 2, column 'age': 'old' is not a number");
}

#[test]
fn a_column_that_is_constant_in_the_training_rows_is_only_centred() {
    let train = Table::from_csv("x,y\n3,1.5\n3,2.5\n4,0.5\n").unwrap();
    let encoder = Encoder::learn(&train.take(&[0, 1]), &Run::new()).unwrap();
    let rows = encoder.encode(&train, MissingValues::Imputed, &Run::new()).unwrap();
    let part = rows.features().dense_part().unwrap();
    assert_eq!((part.get(0, 0), part.get(2, 0)), (0.0, 1.0));
}

#[test]
fn a_category_of_many_values_is_sparse_and_a_text_never_dense() {
    let lines: String = (0..120).map(|i| format!("c{},{}\n", i % 40, i % 7)).collect();
    let table = Table::from_csv(&format!("c,x\n{lines}")).unwrap();
    let rows =
        Encoder::learn(&table, &Run::new()).unwrap().encode(&table, MissingValues::Imputed, &Run::new()).unwrap();
    assert_eq!(rows.features().dense_columns(), 1);
    assert_eq!(rows.features().sparse_part().unwrap().stored(), 120);
}

/// The dense features of a table whose columns are encoded by options, with their names.
fn features(csv: &str, options: &[(&str, &str)], degree: usize) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut table = Table::from_csv(csv).unwrap();
    for (column, settings) in options {
        table = table.encoded_as(column, settings).unwrap();
    }
    let encoding = Encoding { degree, ..table.encoding().clone() };
    let table = table.with_encoding(encoding).unwrap();
    let (encoder, rows) = Encoder::fit(&table, None, MissingValues::Imputed, &Run::new()).unwrap();
    let again = encoder.encode(&table, MissingValues::Imputed, &Run::new()).unwrap();
    let part = rows.features().dense_part().unwrap();
    let row = |i: usize| (0..part.columns()).map(|j| part.get(i, j)).collect::<Vec<f64>>();
    let found: Vec<Vec<f64>> = (0..part.rows()).map(row).collect();
    let part = again.features().dense_part().unwrap();
    assert!((0..part.rows()).all(|i| (0..part.columns()).all(|j| part.get(i, j) == found[i][j])), "learnt or encoded");
    (encoder.feature_names().collect(), found)
}

fn column(rows: &[Vec<f64>], j: usize) -> Vec<f64> {
    rows.iter().map(|row| row[j]).collect()
}

#[test]
fn numbers_are_taken_plain_or_as_logarithms_and_missing_values_imputed_as_asked() {
    let csv = "x\n1\n2\n2\n7\n?\n";
    let plain = |settings: &str| column(&features(csv, &[("x", settings)], 1).1, 0);
    assert_eq!(plain("plain"), [1.0, 2.0, 2.0, 7.0, 3.0]);
    assert_eq!(plain("plain,fill=median"), [1.0, 2.0, 2.0, 7.0, 2.0]);
    assert_eq!(plain("plain,fill=most-frequent")[4], 2.0);
    assert_eq!(plain("plain,fill=-1")[4], -1.0);
    assert_eq!(plain("plain,log")[3], 8f64.ln());
    // A fill that is asked for is for every method; without one, methods that take missing values get them.
    for (settings, value) in [("plain,fill=mean", Some(3.0)), ("plain,fill=median", Some(2.0)), ("plain", None)] {
        let table = Table::from_csv(csv).unwrap().encoded_as("x", settings).unwrap();
        let (_, rows) = Encoder::fit(&table, None, MissingValues::Kept, &Run::new()).unwrap();
        let found = rows.features().dense_part().unwrap().get(4, 0);
        assert_eq!(Some(found).filter(|x| !x.is_nan()), value, "{settings}");
    }
    let (names, rows) = features(csv, &[("x", "missing")], 1);
    assert_eq!(names, ["x", "x is missing"]);
    assert_eq!(column(&rows, 1), [0.0, 0.0, 0.0, 0.0, 1.0]);
    let standard = column(&rows, 0);
    // Mean 3 and standard deviation √(22/3) of the four numbers that are there.
    assert!((standard[3] - 4.0 / (22.0f64 / 3.0).sqrt()).abs() < 1e-15 && standard[4] == 0.0);
}

#[test]
fn missing_values_are_imputed_from_near_rows() {
    // By x, the two nearest rows of the last are the third and the fourth.
    let csv = "x,y\n0,100\n1,200\n10,5\n11,7\n10.5,?\n";
    let table = Table::from_csv(csv).unwrap().encoded_as("*", "fill=neighbours").unwrap();
    let mut encoding = table.encoding().clone();
    for options in encoding.columns.values_mut() {
        let ColumnOptions::Number(numbers) = options else { panic!("numbers") };
        (numbers.fill, numbers.plain) = (Fill::Neighbours(2), true);
    }
    let table = table.with_encoding(encoding).unwrap();
    let (encoder, rows) = Encoder::fit(&table, None, MissingValues::Imputed, &Run::new()).unwrap();
    assert_eq!(rows.features().dense_part().unwrap().get(4, 1), 6.0);
    let kept = encoder.encode(&table, MissingValues::Kept, &Run::new()).unwrap();
    assert_eq!(kept.features().dense_part().unwrap().get(4, 1), 6.0, "for every method");
}

#[test]
fn t4_categories_are_numbered_in_a_given_order() {
    let csv = "outlook,windy\nrainy,no\novercast,yes\nsunny,no\nsunny,?\n?,no\nsunny,yes\n";
    let order = ("outlook", "order=rainy:overcast:sunny,plain");
    let (names, rows) = features(csv, &[order], 1);
    assert_eq!(names, ["outlook", "windy"]);
    // A missing value is the most frequent one, and so is what training has not seen.
    assert_eq!(column(&rows, 0), [1.0, 2.0, 3.0, 3.0, 3.0, 3.0]);
    let table = Table::from_csv(csv).unwrap().encoded_as(order.0, order.1).unwrap();
    let encoder = Encoder::learn(&table, &Run::new()).unwrap();
    assert_eq!(column(&dense(&encoder, "outlook,windy\nstorm,no\nrainy,yes\n"), 0), [3.0, 1.0]);
    let standard = column(&features(csv, &[("outlook", "order=rainy:overcast:sunny")], 1).1, 0);
    assert!((standard[0] + standard[1] + 3.0 * standard[2]).abs() < 1e-12, "centred about the five that are known");
}

#[test]
fn rare_categories_share_a_feature_and_unheard_ones_count_as_rare() {
    let csv = "c\na\na\na\nb\nb\nc\nd\n?\n";
    let (names, rows) = features(csv, &[("c", "rare=2,missing")], 1);
    assert_eq!(names, ["c=a", "c=b", "c=(rare)", "c is missing"]);
    assert_eq!(rows[5], [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(rows[7], [1.0, 0.0, 0.0, 1.0], "a missing value is the most frequent");
    let (_, rows) = features(csv, &[("c", "empty")], 1);
    assert_eq!(rows[7], [0.0; 4]);
    let (names, rows) = features(csv, &[("c", "hash=8")], 1);
    assert_eq!((names.len(), rows[7].as_slice()), (8, &[0.0; 8][..]));
    assert!(rows[..7].iter().all(|row| row.iter().filter(|x| x.abs() == 1.0).count() == 1), "one place each");
    assert_eq!(rows[0], rows[1]);
}

#[test]
fn products_of_numbers_are_features() {
    let csv = "a,c,b\n1,x,2\n3,y,5\n2,x,4\n2,y,1\n";
    let (names, rows) = features(csv, &[("a", "plain"), ("b", "plain")], 2);
    assert_eq!(names, ["a", "c=x", "c=y", "b", "a^2", "a b", "b^2"]);
    assert_eq!(rows[1], [3.0, 0.0, 1.0, 5.0, 9.0, 15.0, 25.0]);
}

#[test]
fn options_that_cannot_be_are_refused_with_the_column() {
    let table = Table::from_csv("x,c\n1,a\n2,b\n3,a\n4.5,b\n").unwrap();
    let wrong = |name, settings| table.clone().encoded_as(name, settings).unwrap_err().to_string();
    assert_eq!(wrong("x", "tfidf"), "setting 'tfidf' is not a setting of numbers (column 'x')");
    assert_eq!(wrong("y", "log"), "text: there is no column called 'y'");
    assert_eq!(wrong("*", "order"), "setting 'order' cannot be ");
    assert!(table.clone().encoded_as("*", "missing").is_ok_and(|table| table.encoding().columns.len() == 2));
    assert!(table.clone().encoded_as("*", "log").is_ok_and(|table| table.encoding().columns.len() == 1));
}

#[test]
fn a_model_remembers_how_its_columns_were_encoded() {
    let lines: String = (0..60)
        .map(|i| {
            let missing = if i % 7 == 0 { "?".to_string() } else { (i * i % 37).to_string() };
            let words = ["good film here", "bad\tfilm again", "a day"][i % 3];
            format!(
                "{missing},{},{},{words} and {i} more {},{}\n",
                ["s", "m", "l"][i % 3],
                i % 11,
                ["x", "y"][i % 2],
                i % 4 / 2
            )
        })
        .collect();
    let mut table = Table::from_csv(&format!("n,size,k,note,label\n{lines}")).unwrap();
    for (column, settings) in
        [("n", "log,fill=neighbours,missing"), ("size", "order=s:m:l"), ("note", "letters,ngrams=2-3,select=12,damp")]
    {
        table = table.encoded_as(column, settings).unwrap();
    }
    let table = table.clone().with_encoding(Encoding { degree: 2, ..table.encoding().clone() }).unwrap();
    let model = Model::train(&table, "label", &Ridge::default()).unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert!(model.encoder().feature_names().eq(again.encoder().feature_names()));
    assert_eq!(model.predict(&table).unwrap(), again.predict(&table).unwrap());
    let (name, words) = again.encoder().texts().next().unwrap();
    assert_eq!((name, words.selected().len()), ("note", 12));
}

#[test]
fn every_feature_knows_the_column_that_it_comes_from() {
    let mut table = Table::from_csv(TRAIN).unwrap().without(&["label"]);
    for (column, settings) in [("city", "missing"), ("age", "missing")] {
        table = table.encoded_as(column, settings).unwrap();
    }
    let table = table.clone().with_encoding(Encoding { degree: 2, ..table.encoding().clone() }).unwrap();
    let encoder = Encoder::learn(&table, &Run::new()).unwrap();
    let groups = encoder.feature_map().groups;
    let columns: Vec<(&str, Option<usize>)> = groups.iter().map(|group| (group.name.as_str(), group.column)).collect();
    let expected = [
        ("age", Some(0)),
        ("age is missing", Some(0)),
        ("city=Bern", Some(1)),
        ("city=Oslo", Some(1)),
        ("city=Rome", Some(1)),
        ("city is missing", Some(1)),
        ("member", Some(2)),
        ("note", Some(3)),
        ("age^2", None),
        ("age member", None),
        ("member^2", None),
    ];
    assert_eq!(columns, expected);
    let of_category = |group: &&FeatureGroup| group.kind == FeatureKind::CategoryFeature;
    let categories: Vec<&str> = groups.iter().filter(of_category).map(|group| group.name.as_str()).collect();
    assert_eq!(categories, ["city=Bern", "city=Oslo", "city=Rome"]);
}

#[test]
fn learning_an_encoder_heeds_a_cancel_and_is_never_silent_for_long() {
    // Numbers, categories, answers and texts, and products of numbers: a look for every column, and for rows of products.
    let row = |i: usize| {
        let number =
            |j: usize| if (i + j).is_multiple_of(50) { "?".into() } else { format!("{}.5", i * (j + 3) % 997) };
        let numbers: Vec<String> = (0..12).map(number).collect();
        let (city, answer) = (["Oslo", "Rome", "Bern"][i % 3], ["yes", "no"][i / 3 % 2]);
        format!("{},{city},{answer},word{} and word{} of a text\n", numbers.join(","), i % 211, i % 307)
    };
    let header: String = (0..12).map(|j| format!("n{j},")).collect();
    let csv = format!("{header}city,answer,note\n{}", (0..30_000).map(row).collect::<String>());
    let table = Table::from_csv(&csv).unwrap();
    let table = table.clone().with_encoding(Encoding { degree: 2, ..table.encoding().clone() }).unwrap();
    let learn = |run: &Run| Encoder::learn(&table, run).map(drop);
    // Fifteen columns are learnt, encoded, made sparse and imputed, and products are made twice.
    let all = looks(|run| learn(run).unwrap());
    assert!(all > 4 * 15, "{all}");
    for at in [1, 10, 20, 40, all as u32 - 1] {
        check_heeds_cancel(at, "an encoder", |run| learn(run).err());
    }
    // A long column is encoded in pieces, with a look before each.
    let of_cities = |rows: usize| {
        let words = (0..rows).map(|i| Some(["Oslo", "Rome", "Bern"][i % 3]));
        let table = Table::new(vec![Column::words("city", words)]).unwrap();
        looks(|run| drop(Encoder::learn(&table, run).unwrap()))
    };
    assert_eq!(of_cities(600_000), of_cities(10) + 2);
}
