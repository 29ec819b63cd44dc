//! k-NN on rows with missing values.

use quince::learn::Count;
use quince::neighbours::{Knn, KnnModel, MissingRule};
use quince::prelude::Fit;
use quince::run::Stream;
use quince::{Matrix, Model, Run};

#[test]
fn a_table_with_missing_values_is_learnt_as_it_is() {
    let csv = "age,city,label\n20,Oslo,a\n?,Oslo,a\n21,?,a\n60,Rome,b\n61,?,b\n?,Rome,b\n";
    let table = quince::Table::from_csv(csv).unwrap();
    let knn = Knn { k: Count::Fixed(3), ..Knn::default() };
    let model = Model::train(&table, "label", &knn).unwrap();
    let new = quince::Table::from_csv("age,city\n22,?\n?,Rome\n?,?\n").unwrap();
    let prediction = model.predict(&new).unwrap();
    assert_eq!(model.label_names(&prediction).unwrap()[..2], ["a", "b"]);
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.predict(&new).unwrap(), prediction);
    let weighted = Knn { feature_weights: "city=0".into(), ..knn.clone() };
    assert!(Model::train(&table, "label", &weighted).is_ok());
    let wrong = Knn { feature_weights: "town=2".into(), ..knn };
    let error = Model::train(&table, "label", &wrong).err().unwrap();
    assert_eq!(error.to_string(), "setting 'feature_weights' names 'town', which is no column");
}

/// The squared distances of the rows of a table from its first, by a model that tells missing values.
fn squares_from_the_first(table: &quince::Table) -> (usize, Vec<f64>) {
    let knn = Knn { missing: MissingRule::Indicator, k: Count::Fixed(1), ..Knn::default() };
    let model = Model::train(table, "label", &knn).unwrap();
    let index = model.fitted::<KnnModel>().unwrap().index();
    let nearest = index.nearest_others(&[0], index.rows() - 1, &Run::new()).unwrap();
    let mut squares = vec![0.0; index.rows()];
    nearest.rows.iter().zip(&nearest.distances).for_each(|(&i, distance)| squares[i as usize] = distance * distance);
    (index.features().columns(), squares)
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(near, "{found:?} is not {expected:?}");
}

#[test]
fn two_columns_that_are_missing_together_are_two_columns() {
    // Nowhere are both yes: together they look like the features of one category.
    let answers = "p,q,label\nyes,no,a\nno,yes,b\n?,?,a\nno,no,b\nyes,no,a\nno,no,b\n?,?,a\n";
    let (features, squares) = squares_from_the_first(&quince::Table::from_csv(answers).unwrap());
    // Two answers, two indicators. A missing answer is filled by the mean, 2/5 and 1/5, and told by 1.
    assert_eq!(features, 4);
    let missing = (1.0f64 - 0.4).powi(2) + 0.2f64.powi(2) + 2.0;
    assert_close(&squares, &[0.0, 2.0, missing, 1.0, 0.0, 1.0, missing]);
    // Nowhere are Rome and u together, which stand beside each other.
    let words = "city,town,label\nOslo,u,a\nRome,v,b\n?,?,a\nOslo,v,b\nOslo,u,a\nRome,v,b\n?,?,b\n";
    let (features, squares) = squares_from_the_first(&quince::Table::from_csv(words).unwrap());
    assert_eq!(features, 6);
    // A missing category is as far as another one.
    assert_close(&squares, &[0.0, 4.0, 4.0, 2.0, 0.0, 4.0, 4.0]);
}

#[test]
fn a_category_is_filled_by_none_of_its_categories_however_many_features_it_has() {
    // A category of one value: a column without another is otherwise left out.
    let read = quince::Table::from_csv("city,x,label\nOslo,1,a\nOslo,2,b\n?,1,a\nOslo,2,b\nOslo,1,a\n?,2,b\n").unwrap();
    let kinds = [("city", quince::Kind::Category), ("x", quince::Kind::Count), ("label", quince::Kind::Category)];
    let columns = kinds.map(|(name, kind)| read.column(name).unwrap().as_kind(kind, &read).unwrap());
    let table = quince::Table::new(columns.to_vec()).unwrap();
    let (features, squares) = squares_from_the_first(&table);
    // One feature of the city, its indicator, and x, whose variance is 6 · 0.25 / 5 before it is standardised.
    assert_eq!(features, 3);
    let apart = 1.0 / 0.3;
    assert_close(&squares, &[0.0, apart, 2.0, apart, 0.0, 2.0 + apart]);
    // Hashed into four places, each with a sign: one indicator for all of them.
    let words = "city,label\nOslo,a\nRome,b\n?,a\nBern,b\nOslo,a\nRome,b\n?,b\nBern,a\n";
    let hashed = quince::Table::from_csv(words).unwrap().encoded_as("city", "hash=4").unwrap();
    let (features, squares) = squares_from_the_first(&hashed);
    assert_eq!(features, 5);
    assert_close(&[squares[2], squares[6]], &[2.0, 2.0]);
}

#[test]
fn the_columns_of_a_matrix_are_numbers_each_with_an_indicator_of_its_own() {
    let x = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [f64::NAN, f64::NAN], [0.0, 0.0]]);
    let knn = Knn { missing: MissingRule::Indicator, k: Count::Fixed(1), ..Knn::default() };
    let model = knn.fit(&x, &["a", "b", "a", "b"]).unwrap();
    let index = model.fitted::<KnnModel>().unwrap().index();
    assert_eq!(index.features().columns(), 4);
    let nearest = index.nearest_others(&[2], 3, &Run::new()).unwrap();
    // Both are filled by 1/3, and each is told by 1.
    assert_eq!(nearest.of(0).0, [3, 0, 1]);
    let square = |a: f64, b: f64| (a - 1.0 / 3.0).powi(2) + (b - 1.0 / 3.0).powi(2) + 2.0;
    let squares: Vec<f64> = nearest.distances.iter().map(|distance| distance * distance).collect();
    assert_close(&squares, &[square(0.0, 0.0), square(1.0, 0.0), square(0.0, 1.0)]);
}

/// Sex is missing where somebody is of class b, nearly always; the rest says little.
fn informative_missing_values(word: &str) -> String {
    let mut stream = Stream::new(5, 0);
    let row = |_| {
        let b = stream.below(2) == 1;
        let sex = if stream.uniform() < if b { 0.9 } else { 0.1 } { word } else { ["f", "m", "x"][stream.below(3)] };
        format!("{sex},{},{}\n", ["u", "v", "w", "z"][stream.below(4)], if b { "b" } else { "a" })
    };
    format!("sex,town,label\n{}", (0..300).map(row).collect::<String>())
}

fn log_loss(table: &quince::Table, target: &str, knn: &Knn) -> f64 {
    let labelled = table.labelled(target, None).unwrap();
    let left_out = quince::evaluate::exact_leave_one_out(&labelled, None, knn, &Run::new()).unwrap().unwrap();
    let found = quince::evaluate::evaluate(&labelled.target, &left_out, None).unwrap();
    found.metric(quince::evaluate::Metric::LogLoss).unwrap()
}

#[test]
fn a_missing_category_that_is_told_is_a_category_like_any_other() {
    let (missing, named) = (informative_missing_values("?"), informative_missing_values("none"));
    let table = |csv: &str| quince::Table::from_csv(csv).unwrap();
    let knn = Knn { missing: MissingRule::Indicator, ..Knn::default() };
    let model = Model::train(&table(&missing), "label", &knn).unwrap();
    let with_word = Model::train(&table(&named), "label", &Knn::default()).unwrap();
    assert_eq!(model.predict(&table(&missing)).unwrap(), with_word.predict(&table(&named)).unwrap());
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.to_bytes(), model.to_bytes());
    assert_eq!(again.predict(&table(&missing)).unwrap(), model.predict(&table(&missing)).unwrap());
    // Leave-one-out finds it by itself, and the search need not be direct.
    let found = Model::train(&table(&missing), "label", &Knn::default()).unwrap();
    assert_eq!(found.predict(&table(&missing)).unwrap(), model.predict(&table(&missing)).unwrap());
    assert!(!found.report().route.contains("direct"), "{}", found.report().route);
    let left_out = Knn { missing: MissingRule::LeftOut, ..Knn::default() };
    assert!(log_loss(&table(&missing), "label", &left_out) > log_loss(&table(&missing), "label", &knn) + 0.1);
}

#[test]
fn the_rule_for_missing_values_is_the_one_with_the_smaller_leave_one_out_loss() {
    let random = informative_missing_values("?");
    let tables = [
        (crate::example("votes.csv"), "Class"),
        (crate::example("penguins.csv"), "species"),
        (quince::Table::from_csv(&random).unwrap(), "label"),
    ];
    for (table, target) in tables {
        let loss = |missing| log_loss(&table, target, &Knn { missing, ..Knn::default() });
        let (left_out, indicator) = (loss(MissingRule::LeftOut), loss(MissingRule::Indicator));
        assert_eq!(loss(MissingRule::Auto), left_out.min(indicator), "{target}: {left_out} {indicator}");
        assert_ne!(left_out, indicator, "{target}");
    }
    // A matrix has no columns of a table: its missing values are left out, as nan-Euclidean distances have it.
    let x = Matrix::from_rows(&[[1.0, f64::NAN], [2.0, 1.0], [f64::NAN, 5.0], [9.0, 6.0]]);
    let fit = |missing| Knn { missing, k: Count::Fixed(1), ..Knn::default() }.fit(&x, &["a", "a", "b", "b"]).unwrap();
    let asked = Matrix::from_rows(&[[f64::NAN, f64::NAN], [3.0, f64::NAN]]);
    let (auto, left_out) = (fit(MissingRule::Auto), fit(MissingRule::LeftOut));
    assert_eq!(auto.predict(&asked).unwrap(), left_out.predict(&asked).unwrap());
    assert_eq!(fit(MissingRule::Indicator).labels::<String>(&asked).unwrap().len(), 2);
}

#[test]
fn a_missing_number_that_is_told_is_as_far_as_numbers_are_from_each_other_on_average() {
    // Standardised by hand: mean 0, so that a missing number is filled by 0 and told by 1.
    let x = Matrix::from_rows(&[[-1.0], [1.0], [f64::NAN]]);
    let knn = Knn { missing: MissingRule::Indicator, k: Count::Fixed(1), ..Knn::default() };
    let model = knn.fit(&x, &[1.0, 2.0, 3.0]).unwrap();
    // Squared distances of 0.4 from the rows: 1.96, 0.36 and 0.16 + 1; of a missing number: 2, 2 and 0.
    let asked = Matrix::from_rows(&[[0.4], [f64::NAN]]);
    assert_eq!(model.numbers(&asked).unwrap(), [2.0, 3.0]);
    let index = model.fitted::<KnnModel>().unwrap().index();
    assert_eq!(index.features().columns(), 2);
}
