//! Rows and labels in the shapes that Rust programs have them in, and answers of one type each.

use quince::learn::LabelType;
use quince::prelude::*;

/// Two groups of rows, far apart.
const ROWS: [[f64; 2]; 6] = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0], [8.0, 9.0]];

#[test]
fn every_shape_of_rows_gives_the_same_model() {
    let y = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let expected = Ridge::default().fit(&ROWS, &y).unwrap().to_bytes();
    let vectors: Vec<Vec<f64>> = ROWS.iter().map(|row| row.to_vec()).collect();
    let matrix = Matrix::try_from(vectors.clone()).unwrap();
    assert_eq!(Ridge::default().fit(&vectors, &y).unwrap().to_bytes(), expected);
    assert_eq!(Ridge::default().fit(&matrix, &y).unwrap().to_bytes(), expected);
    assert_eq!(Ridge::default().fit(&matrix.features(), &y).unwrap().to_bytes(), expected);
    assert_eq!(Ridge::default().fit(&matrix.view(), &y.to_vec()).unwrap().to_bytes(), expected);
    assert_eq!(
        Ridge::default()
            .fit(&ROWS.to_vec(), &Target::numbers(Matrix::column_vector(y.to_vec())).unwrap())
            .unwrap()
            .to_bytes(),
        expected
    );
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_ndarray_are_taken_in_any_layout() {
    use ndarray::{Array1, Array2, ShapeBuilder, s};
    let y = Array1::from_iter((0..6).map(f64::from));
    let rows = Array2::from_shape_fn((6, 2), |(i, j)| ROWS[i][j]);
    let by_columns = Array2::from_shape_fn((6, 2).f(), |(i, j)| ROWS[i][j]);
    let wide = Array2::from_shape_fn((6, 4), |(i, j)| ROWS[i][j / 2]);
    let expected = Ridge::default().fit(&ROWS, &y).unwrap().to_bytes();
    assert_eq!(Ridge::default().fit(&rows, &y).unwrap().to_bytes(), expected);
    assert_eq!(Ridge::default().fit(&rows.view(), &y.view()).unwrap().to_bytes(), expected);
    assert_eq!(Ridge::default().fit(&by_columns, &y).unwrap().to_bytes(), expected);
    assert_eq!(Ridge::default().fit(&wide.slice(s![.., ..;2]), &y).unwrap().to_bytes(), expected);
    // Rows from the last to the first: they run backwards in memory.
    let backwards = Array2::from_shape_fn((6, 2), |(i, j)| ROWS[5 - i][j]);
    assert_eq!(Ridge::default().fit(&backwards.slice(s![..;-1, ..]), &y).unwrap().to_bytes(), expected);
    let single = rows.mapv(|x| x as f32);
    assert!(Ridge::default().fit(&single, &y).is_ok());
}

#[test]
fn labels_come_back_as_they_went_in() {
    let ask = [[0.5, 0.5], [8.5, 8.5]];
    let knn = Knn::default();
    let words = knn.fit(&ROWS, &["ham", "ham", "ham", "spam", "spam", "spam"]).unwrap();
    assert_eq!(words.labels::<String>(&ask).unwrap(), ["ham", "spam"]);
    let numbers = knn.fit(&ROWS, &[-7, -7, -7, 10, 10, 10]).unwrap();
    assert_eq!(numbers.labels::<i64>(&ask).unwrap(), [-7, 10]);
    let booleans = knn.fit(&ROWS, &vec![true, true, true, false, false, false]).unwrap();
    assert_eq!(booleans.labels::<bool>(&ask).unwrap(), [true, false]);
    // Python and Arrow spell them so, and a model may come from there or go there.
    assert_eq!(booleans.classes().unwrap().names(), ["False", "True"]);
    assert_eq!(booleans.classes().unwrap().label_type(), LabelType::Booleans);
    let spelled = knn.fit(&ROWS, &["true", "true", "true", "False", "False", "False"]).unwrap();
    assert_eq!(spelled.labels::<bool>(&ask).unwrap(), [true, false]);
    let probabilities = booleans.probabilities(&ask).unwrap();
    assert_eq!((probabilities.rows(), probabilities.columns()), (2, 2));
    // The classes are in order: false, true.
    assert!(probabilities[(0, 1)] > 0.5 && probabilities[(1, 0)] > 0.5);
}

#[test]
fn a_question_that_the_model_cannot_answer_is_an_error() {
    let classes = Knn::default().fit(&ROWS, &["a", "a", "a", "b", "b", "b"]).unwrap();
    assert_eq!(classes.numbers(&ROWS).unwrap_err().to_string(), "the model predicts classes, not numbers");
    assert_eq!(classes.clusters(&ROWS).unwrap_err().to_string(), "the model predicts classes, not clusters");
    assert!(classes.labels::<i64>(&ROWS).unwrap_err().to_string().starts_with("the label 'a' is not a"));
    let numbers = Ridge::default().fit(&ROWS, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    assert_eq!(numbers.probabilities(&ROWS).unwrap_err().to_string(), "the model predicts numbers, not probabilities");
    assert_eq!(numbers.numbers(&ROWS).unwrap().len(), 6);
    let short = Ridge::default().fit(&ROWS, &[1.0]).err().unwrap();
    assert_eq!(short.to_string(), "there are 6 rows and 1 target");
    let ragged = Ridge::default().fit(&vec![vec![1.0], vec![1.0, 2.0]], &[1.0, 2.0]).err().unwrap();
    assert_eq!(ragged.to_string(), "row 2 has 2 numbers, the first row 1");
    let nan = Ridge::default().fit(&ROWS, &[1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0]).err().unwrap();
    assert_eq!(nan.to_string(), "the target of row 2 is NaN");
}

#[test]
fn a_seed_threads_weights_and_a_budget_go_with_the_settings() {
    let found = KMeans::new(2).seed(42).threads(1).fit_unsupervised(&ROWS).unwrap();
    let clusters = found.clusters(&ROWS).unwrap();
    assert!(clusters[..3].iter().all(|c| *c == clusters[0]) && clusters[3..].iter().all(|c| *c != clusters[0]));
    assert_eq!(found.seed(), 42);
    // A row of no weight is as good as none.
    let y = [1.0, 1.0, 1.0, 1.0, 1.0, 700.0];
    let weighted = Ridge::default().sample_weights([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]).fit(&ROWS, &y).unwrap();
    assert!(weighted.numbers(&ROWS).unwrap().iter().all(|number| (number - 1.0).abs() < 1e-9));
}

#[test]
fn a_request_is_read_by_the_kinds_of_the_model() {
    let csv = "zip,rooms,price\n007,2,cheap\n007,3,cheap\n7,9,dear\n7,8,dear\n007,2,cheap\n7,9,dear\n";
    let cells = quince::table::ReadOptions {
        format: Some(quince::table::Format::Csv),
        kinds: vec![("zip".into(), quince::Kind::Category)],
        ..Default::default()
    };
    let table = quince::table::Cells::parse(csv.as_bytes().to_vec(), "homes", &cells, &Run::new())
        .and_then(|mut homes| homes.table(&cells, &Run::new()))
        .unwrap();
    let model = Model::train(&table, "price", &NaiveBayes::default()).unwrap();
    let answer = model.predict_json(r#"[{"zip": "007"}, {"zip": "7", "colour": "red"}]"#).unwrap();
    assert_eq!((&answer[0]["predicted_price"], &answer[1]["predicted_price"]), (&"cheap".into(), &"dear".into()));
    let total: f64 =
        ["cheap", "dear"].map(|class| answer[0][format!("probability_{class}")].as_f64().unwrap()).iter().sum();
    assert!((total - 1.0).abs() < 1e-12);
    let error = model.predict_json(r#"{"colour": "red"}"#).err().unwrap();
    assert!(error.to_string().contains("zip"), "{error}");
    assert!(model.predict_json("{").is_err() && model.predict_json("").is_err());
    let number = Ridge::default().fit(&ROWS, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    assert!(number.predict_json(r#"{"x0": 1, "x1": 2}"#).unwrap()[0]["predicted_y"].is_f64());
}
