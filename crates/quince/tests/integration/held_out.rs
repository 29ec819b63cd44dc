//! What held-out rows decide, and answers that were overconfident, or hung on units and zeros, before.

use crate::clock::looks;
use crate::example;
use quince::bayes::{BayesModel, GaussianClassifier, NaiveBayes};
use quince::learn::{Amount, Classes, Examples, Fitted, Learner, Prediction, Target};
use quince::mixture::{Mixture, MixtureModel};
use quince::run::Stream;
use quince::{Matrix, Model, Run, Table};

/// The log loss of a classifier that knows nothing of rows of two classes.
const BASELINE: f64 = std::f64::consts::LN_2;

pub(crate) fn target(codes: &[u32]) -> Target {
    Target::classes(Classes::of(["a", "b"]), codes.to_vec()).unwrap()
}

/// Log loss and accuracy.
pub(crate) fn judged(model: &dyn Fitted, rows: &Matrix, codes: &[u32]) -> (f64, f64) {
    let prediction = model.predict(&rows.features(), &Run::new()).unwrap();
    let Prediction::Classes { probabilities, .. } = &prediction else { panic!("{prediction:?}") };
    let count = codes.len() as f64;
    let loss = codes.iter().enumerate().map(|(i, &code)| -probabilities[(i, code as usize)].ln()).sum::<f64>() / count;
    let right = prediction.labels().iter().zip(codes).filter(|(said, code)| said == code).count();
    (loss, right as f64 / count)
}

/// Rows of alternating classes.
fn rows(seed: u64, count: usize, mut row: impl FnMut(f64, &mut Stream) -> Vec<f64>) -> (Matrix, Vec<u32>) {
    let mut stream = Stream::new(seed, 0);
    let codes: Vec<u32> = (0..count).map(|i| (i % 2) as u32).collect();
    let all: Vec<Vec<f64>> = codes.iter().map(|&code| row(f64::from(code), &mut stream)).collect();
    (Matrix::new(count, all[0].len(), all.concat()).unwrap(), codes)
}

/// Ten columns that hardly know the class, of which half the cells are missing.
fn half_missing(class: f64, stream: &mut Stream) -> Vec<f64> {
    let common = 0.7 * stream.normal();
    let cell = |_| if stream.uniform() < 0.5 { f64::NAN } else { common + stream.normal() + 0.1 * class };
    (0..10).map(cell).collect()
}

#[test]
fn a_gaussian_classifier_of_many_missing_values_is_no_worse_than_the_baseline_on_new_rows() {
    let ((train, codes), (new, truth)) = (rows(1, 80, half_missing), rows(2, 2000, half_missing));
    let target = target(&codes);
    let examples = Examples::new(train.features(), &target, None).unwrap();
    let gaussian = GaussianClassifier::new();
    let (model, report) = gaussian.fit_examples(&examples, &Run::new()).unwrap();
    let (loss, _) = judged(&model, &new, &truth);
    assert!(loss < BASELINE + 0.03, "{loss}");
    assert!(report.remarks.iter().all(|remark| !remark.contains("allow more steps")), "{:?}", report.remarks);
    // What is expected of missing values has seen the row that would be left out: there is no exact answer, and none is given.
    let gaussian = gaussian.calibrate(false);
    assert!(gaussian.leave_one_out_examples(&examples, &Run::new()).unwrap().is_none());
    // And none is worked for: fewer looks at the clock than EM has steps.
    let looks = looks(|run| drop(gaussian.leave_one_out_examples(&examples, run).unwrap()));
    assert!(report.trace.len() > 20 && looks < report.trace.len(), "{looks} looks, {} steps", report.trace.len());
    let (complete, codes) = rows(3, 80, |class, stream| vec![stream.normal() + class, stream.normal()]);
    let target = self::target(&codes);
    let examples = Examples::new(complete.features(), &target, None).unwrap();
    assert!(gaussian.leave_one_out_examples(&examples, &Run::new()).unwrap().is_some());
}

#[test]
fn a_mixture_of_classes_is_no_worse_than_the_baseline_where_columns_say_the_same() {
    let same = |class: f64, stream: &mut Stream| {
        let common = stream.normal() + 0.5 * class;
        (0..25).map(|_| common + 0.3 * stream.normal()).collect()
    };
    let ((train, codes), (new, truth)) = (rows(1, 300, same), rows(2, 2000, same));
    let target = target(&codes);
    let examples = Examples::new(train.features(), &target, None).unwrap();
    for per_class in [1usize, 2] {
        let mixture = Mixture::default().per_class(per_class);
        let (model, _) = mixture.fit_examples(&examples, &Run::new()).unwrap();
        let (loss, _) = judged(&model, &new, &truth);
        assert!(loss < BASELINE, "{per_class}: {loss}");
        assert!(model.temperature() < 0.5);
        let (plain, _) = mixture.calibrate(false).fit_examples(&examples, &Run::new()).unwrap();
        assert!(judged(&plain, &new, &truth).0 > 1.5 && plain.temperature() == 1.0);
    }
}

#[test]
fn a_calibrated_mixture_survives_its_file() {
    let table = example("wdbc.csv");
    let model = Model::train_with(&table, "diagnosis", &Mixture::default(), &Run::new()).unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.predict(&table).unwrap(), model.predict(&table).unwrap());
    let again: &MixtureModel = again.fitted().unwrap();
    assert!(again.temperature() < 1.0 && again.temperature() == model.fitted::<MixtureModel>().unwrap().temperature());
}

#[test]
fn rows_without_a_class_do_no_harm_where_they_fall_into_other_groups() {
    // One column knows the class, and six know a group that has nothing to do with it.
    let grouped = |class: f64, stream: &mut Stream| {
        let group = if stream.uniform() < 0.5 { 3.0 } else { 0.0 };
        (0..7).map(|j| stream.normal() + if j == 0 { 2.0 * class } else { group }).collect()
    };
    let ((train, all), (new, truth)) = (rows(1, 600, grouped), rows(2, 2000, grouped));
    let few: Vec<u32> = (0..600).map(|i| if i < 40 { all[i] } else { Target::UNKNOWN }).collect();
    let (few, labelled) = (target(&few), target(&all[..40]));
    let examples = Examples::new(train.features(), &few, None).unwrap();
    let (chosen, report) = Mixture::default().fit_examples(&examples, &Run::new()).unwrap();
    let some = train.take_rows(&(0..40).collect::<Vec<_>>());
    let alone = Examples::new(some.features(), &labelled, None).unwrap();
    let (alone, _) = Mixture::default().fit_examples(&alone, &Run::new()).unwrap();
    let ((loss, right), (of_alone, right_alone)) = (judged(&chosen, &new, &truth), judged(&alone, &new, &truth));
    assert!(
        loss < of_alone.min(BASELINE) + 0.02 && right > right_alone - 0.02,
        "{loss} {right} {of_alone} {right_alone}"
    );
    assert!(report.remarks.iter().any(|remark| remark.contains("held-out")), "{:?}", report.remarks);
    let (whole, _) = Mixture::default().unlabelled(1.0).fit_examples(&examples, &Run::new()).unwrap();
    assert!(judged(&whole, &new, &truth).1 < right - 0.1);
    assert_eq!(Mixture::default().unlabelled, Amount::Auto);
}

#[test]
fn whole_numbers_have_the_same_families_in_a_matrix_and_in_a_table() {
    let counts = |class: f64, stream: &mut Stream| {
        let mut poisson = |mean: f64| {
            let (mut product, mut count) = (stream.uniform(), 0.0);
            while product > (-mean).exp() {
                (product, count) = (product * stream.uniform(), count + 1.0);
            }
            count
        };
        vec![poisson(3.0 + class), poisson(8.0 - class)]
    };
    let (rows, codes) = rows(4, 300, counts);
    let target = target(&codes);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (of_matrix, _) = NaiveBayes::new().fit_examples(&examples, &Run::new()).unwrap();
    let line = |i: usize| format!("{},{},{}\n", rows[(i, 0)], rows[(i, 1)], ["a", "b"][codes[i] as usize]);
    let table = Table::from_csv(&format!("x0,x1,y\n{}", (0..300).map(line).collect::<String>())).unwrap();
    let model = Model::train_with(&table, "y", &NaiveBayes::new(), &Run::new()).unwrap();
    let of_table: &BayesModel = model.fitted().unwrap();
    assert_eq!(of_matrix.choices(), of_table.choices());
    assert!(of_matrix.choices().iter().all(|choice| choice.families[0].0 == "poisson"), "{:?}", of_matrix.choices());
    assert_eq!(of_matrix.predict(&rows.features(), &Run::new()).unwrap(), model.predict(&table).unwrap());
}

#[test]
fn a_column_that_is_mostly_zero_is_not_taken_for_thousands() {
    let mut stream = Stream::new(7, 0);
    let number = |i: usize, stream: &mut Stream| if i.is_multiple_of(50) { 1.0 + 3.0 * stream.uniform() } else { 0.0 };
    let values: Vec<f64> = (0..2000).map(|i| number(i, &mut stream)).collect();
    let text: String = values.iter().map(|x| format!("{x:.6}\n")).collect();
    let table = Table::from_csv(&format!("x\n{text}")).unwrap().unsupervised(None, &[]).unwrap().labelled;
    let model = Model::fit(&table, None, &Mixture::default(), &Run::new()).unwrap();
    let weights = model.fitted::<MixtureModel>().unwrap().weights();
    assert!(weights.len() == 2 && (weights[0] - 0.98).abs() < 1e-6, "{weights:?}");
    let (rows, codes) = (Matrix::column_vector(values), (0..2000).map(|i| i / 2 % 2).collect::<Vec<u32>>());
    let target = target(&codes);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (naive, _) = NaiveBayes::new().fit_examples(&examples, &Run::new()).unwrap();
    let drawn = naive.sample(1000, None, &Run::new()).unwrap();
    assert!(drawn.iter().all(|row| (-0.1..=4.1).contains(&row.dense[0])));
}

#[test]
fn two_components_of_film_reviews_share_them() {
    let reviews = example("film_reviews.csv.gz").unsupervised(None, &["label"]).unwrap().labelled;
    let model = Model::fit(&reviews, None, &Mixture::new(2), &Run::new()).unwrap();
    let weights = model.fitted::<MixtureModel>().unwrap().weights();
    assert!(weights.iter().all(|weight| *weight > 0.3), "{weights:?}");
}

#[test]
fn rounded_numbers_have_the_same_components_in_a_matrix_and_in_a_table() {
    let iris = example("iris.csv").without(&["species"]);
    let column = |j: usize| (0..150).map(move |i| (i, j));
    let mut rows = Matrix::zeros(150, 4);
    (0..4).flat_map(column).for_each(|(i, j)| rows[(i, j)] = iris.columns()[j].number(i).unwrap());
    let nothing = Target::none(150);
    let examples = Examples::new(rows.features(), &nothing, None).unwrap();
    let (of_matrix, _) = Mixture::default().fit_examples(&examples, &Run::new()).unwrap();
    let table = iris.unsupervised(None, &[]).unwrap().labelled;
    let of_table = Model::fit(&table, None, &Mixture::default(), &Run::new()).unwrap();
    assert_eq!(of_matrix.weights(), of_table.fitted::<MixtureModel>().unwrap().weights());
}
