//! What is chosen by the rows has seen them: on noise nothing is learnt and nothing claimed, and what is called exact is what refitting
//! gives.

use crate::held_out::{judged, target};
use quince::bayes::{GaussianClassifier, NaiveBayes};
use quince::learn::{Examples, Learner, Prediction};
use quince::mixture::Mixture;
use quince::run::Stream;
use quince::{Matrix, Run};

/// Columns and classes that have nothing to do with each other.
fn noise(seed: u64, rows: usize, columns: usize) -> (Matrix, Vec<u32>) {
    let mut stream = Stream::new(seed, columns as u64);
    let codes = (0..rows).map(|_| u32::from(stream.uniform() < 0.5)).collect();
    (Matrix::new(rows, columns, (0..rows * columns).map(|_| stream.normal()).collect()).unwrap(), codes)
}

/// The mean over some tables of noise of what the log loss of new rows has in excess of the baseline's.
fn excess<L: Learner>(settings: &L, rows: usize, columns: usize) -> f64 {
    const TABLES: u64 = 4;
    let of_table = |seed: u64| {
        let ((train, codes), (new, truth)) = (noise(seed, rows, columns), noise(100 + seed, 400, columns));
        let target = target(&codes);
        let examples = Examples::new(train.features(), &target, None).unwrap();
        let (model, _) = settings.fit_examples(&examples, &Run::new()).unwrap();
        let second = codes.iter().sum::<u32>() as f64 / rows as f64;
        let of_class = |code: &u32| -if *code == 1 { second } else { 1.0 - second }.ln();
        judged(&model, &new, &truth).0 - truth.iter().map(of_class).sum::<f64>() / truth.len() as f64
    };
    (0..TABLES).map(of_table).sum::<f64>() / TABLES as f64
}

#[test]
fn on_pure_noise_nothing_is_worse_than_the_baseline() {
    for (rows, columns) in [(60, 400), (60, 100), (200, 1000), (150, 30)] {
        let naive = excess(&NaiveBayes::new(), rows, columns);
        assert!(naive < 0.03, "naive Bayes, {rows} x {columns}: {naive}");
    }
    for (rows, columns) in [(60, 400), (150, 30)] {
        let mixture = excess(&Mixture::default(), rows, columns);
        assert!(mixture < 0.03, "mixture, {rows} x {columns}: {mixture}");
    }
}

#[test]
fn axes_that_separate_noise_are_not_believed() {
    let axes = GaussianClassifier::new().shared(quince::bayes::SharedCovariance::Pooled).discriminant_axes(1usize);
    let found = excess(&axes, 100, 60);
    assert!(found < 0.03, "{found}");
}

#[test]
fn what_is_called_exact_leave_one_out_is_what_refitting_gives() {
    let mut stream = Stream::new(3, 0);
    let codes: Vec<u32> = (0..24).map(|i| i % 2).collect();
    let cell = |class: u32, stream: &mut Stream| (2.0 * stream.normal() + f64::from(class)).round().abs().min(3.0);
    let cells = codes.iter().flat_map(|&class| [cell(class, &mut stream), cell(class, &mut stream)]).collect();
    let rows = Matrix::new(24, 2, cells).unwrap();
    let naive = |family: &str| NaiveBayes::new().family(family.parse::<quince::bayes::Families>().unwrap());
    let plain = |family: &str| naive(family).calibrate(false);
    for family in ["auto", "normal", "poisson", "multinomial", "histogram", "gaussian"] {
        assert!(is_exact(&naive(family), &rows, &codes).is_none(), "calibrated {family}");
    }
    for family in ["auto", "poisson", "histogram", "quantiles", "categorical", "kernel-density"] {
        assert!(is_exact(&plain(family), &rows, &codes).is_none(), "{family}");
    }
    for family in ["normal", "bernoulli", "multinomial", "gaussian"] {
        assert!(is_exact(&plain(family), &rows, &codes).unwrap(), "{family}");
    }
    assert!(is_exact(&plain("categorical").categories(4usize), &rows, &codes).unwrap());
    assert!(is_exact(&plain("kernel-density").bandwidth(0.5), &rows, &codes).unwrap());
    assert!(is_exact(&plain("poisson").alpha(0.0), &rows, &codes).unwrap());
    assert!(is_exact(&plain("bernoulli").alpha(0.0), &rows, &codes).is_none());
    let gaussian = GaussianClassifier::new();
    assert!(is_exact(&gaussian, &rows, &codes).is_none());
    assert!(is_exact(&gaussian.clone().calibrate(false).pca(1usize), &rows, &codes).is_none());
    assert!(is_exact(&gaussian.calibrate(false), &rows, &codes).unwrap());
}

/// Whether exact leave-one-out agrees with a fit for every row; `None` if there is none.
fn is_exact<L: Learner>(settings: &L, rows: &Matrix, codes: &[u32]) -> Option<bool> {
    let run = Run::new();
    let all = target(codes);
    let examples = Examples::new(rows.features(), &all, None).unwrap();
    let left_out = settings.leave_one_out_examples(&examples, &run).unwrap()?;
    let Prediction::Classes { probabilities, .. } = left_out else { panic!() };
    let is_refitted = |i: usize| {
        let others: Vec<usize> = (0..codes.len()).filter(|&k| k != i).collect();
        let (rest, rest_target) = (rows.take_rows(&others), all.take(&others));
        let examples = Examples::new(rest.features(), &rest_target, None).unwrap();
        let (model, _) = settings.fit_examples(&examples, &run).unwrap();
        let one = quince::learn::Fitted::predict(&model, &rows.take_rows(&[i]).features(), &run).unwrap();
        let Prediction::Classes { probabilities: refitted, .. } = one else { panic!() };
        (0..2).all(|k| (probabilities[(i, k)] - refitted[(0, k)]).abs() < 1e-6)
    };
    Some((0..codes.len()).all(is_refitted))
}
