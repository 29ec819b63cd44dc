//! A row that says nothing gets the priors, and the sentences about a row fit together.

use crate::example;
use quince::bayes::{BayesModel, GaussianClassifier, NaiveBayes};
use quince::explain::Cell;
use quince::learn::{Examples, Fitted, Learner, Prediction, Target};
use quince::matrix::{Dense, Features, View};
use quince::mixture::Mixture;
use quince::run::Stream;
use quince::{Matrix, Model, Run};

/// Overlapping classes of several sizes in columns that say nearly the same, so that calibration has biases.
fn unequal() -> (Matrix, Target, Vec<f64>) {
    let mut stream = Stream::new(11, 0);
    let sizes = [60usize, 25, 15];
    let codes: Vec<u32> = sizes.iter().enumerate().flat_map(|(k, &size)| vec![k as u32; size]).collect();
    let cells = codes.iter().flat_map(|&class| {
        let spread = 1.0 + f64::from(class);
        let common = f64::from(class) + spread * stream.normal();
        (0..6).map(|_| common + 0.3 * stream.normal()).collect::<Vec<_>>()
    });
    let rows = Matrix::new(100, 6, cells.collect()).unwrap();
    let target = Target::classes(quince::learn::Classes::of(["a", "b", "c"]), codes).unwrap();
    (rows, target, sizes.iter().map(|&size| size as f64 / 100.0).collect())
}

fn has_the_priors<L: Learner>(settings: &L) {
    let (rows, target, priors) = unequal();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (model, _) = settings.fit_examples(&examples, &Run::new()).unwrap();
    let impossible = Matrix::new(1, 6, vec![1e300; 6]).unwrap();
    let (silent, single) = (Matrix::new(1, 6, vec![f64::NAN; 6]).unwrap(), [f32::NAN; 6]);
    let of_f32 = Features::dense(Dense::F32(View::row_major(&single, 1, 6)));
    for features in [silent.features(), of_f32, impossible.features()] {
        let prediction = model.predict(&features, &Run::new()).unwrap();
        assert_eq!(prediction.labels()[0], 0);
        let Prediction::Classes { probabilities, .. } = prediction else { panic!() };
        for (found, prior) in probabilities.row(0).iter().zip(&priors) {
            assert!((found - prior).abs() < 1e-12, "{}: {:?}", L::INFO.name, probabilities.row(0));
        }
    }
}

#[test]
fn a_row_that_says_nothing_gets_the_priors() {
    has_the_priors(&NaiveBayes::new());
    has_the_priors(&NaiveBayes::new().family("normal".parse::<quince::bayes::Families>().unwrap()));
    has_the_priors(&GaussianClassifier::new());
    has_the_priors(&Mixture::default());
    has_the_priors(&Mixture::default().per_class(2usize));
}

#[test]
fn labels_are_the_most_probable_classes_with_and_without_evidence() {
    let (rows, target, _) = unequal();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (model, _) = NaiveBayes::new().fit_examples(&examples, &Run::new()).unwrap();
    assert!(model.class_biases().iter().any(|bias| bias.abs() > 1e-3), "{:?}", model.class_biases());
    let mut asked = rows.clone();
    asked.row_mut(7).fill(f64::NAN);
    asked.row_mut(80).fill(1e300);
    let labels = model.labels(&asked.features(), &Run::new()).unwrap();
    let probabilities = model.probabilities(&asked.features(), &Run::new()).unwrap();
    for (i, &label) in labels.iter().enumerate() {
        assert!(probabilities.row(i).iter().all(|p| *p <= probabilities[(i, label as usize)]), "row {i}");
    }
    assert_eq!((labels[7], labels[80]), (0, 0));
}

/// The number after some words of a sentence.
fn number_after(text: &str, words: &str) -> f64 {
    let rest = text.split(words).nth(1).unwrap_or_else(|| panic!("'{words}' in {text}")).trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(rest.len());
    rest[..end].parse().unwrap()
}

#[test]
fn the_sentences_about_a_row_and_its_evidence_add_up() {
    let table = example("wdbc.csv");
    let model = Model::train_with(&table, "diagnosis", &NaiveBayes::new(), &Run::new()).unwrap();
    let bayes: &BayesModel = model.fitted().unwrap();
    assert!(bayes.contamination() > 0.0);
    for row in [0, 13, 40, 100] {
        let said = model.explain_row(&table, row, &Run::new()).unwrap();
        let text = said.sentences.join("\n");
        let odds = number_after(&text, " are ");
        let (alone, outliers) = (number_after(&text, "would make it"), number_after(&text, "%: "));
        assert!((alone - 100.0 / (1.0 + (-odds).exp())).abs() < 0.06, "{text}");
        assert!((outliers - 100.0 * bayes.contamination()).abs() < 0.06, "{text}");
        // Priors, biases and columns are all that the score has.
        let evidence = &said.tables[0];
        let number = |cell: &Cell| if let Cell::Number(number) = cell { *number } else { panic!("{cell:?}") };
        let sum: f64 = evidence.rows.iter().map(|(_, cells)| number(&cells[0])).sum();
        assert!((sum - odds).abs() < 1e-3 * (1.0 + odds.abs()), "{sum} {text}");
        let value = |name: &str| evidence.rows.iter().find(|(row, _)| row == name).map(|(_, cells)| number(&cells[0]));
        // 357 tumours of 569 are benign.
        assert!((value("(prior)").unwrap().abs() - (357f64 / 212.0).ln()).abs() < 1e-12, "{evidence:?}");
        assert!(value("(calibration)").is_some(), "{evidence:?}");
    }
}
