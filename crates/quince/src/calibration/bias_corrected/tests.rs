//! What calibration finds in rows whose answer is known by formula.

use super::*;
use crate::run::Stream;

/// The objective for two classes with equal priors: real rows, pseudo-rows, and the prior on the contamination.
fn objective(rows: &[[f64; 2]], codes: &[u32], by: &Calibration) -> f64 {
    let second = |said: f64| 1.0 / (1.0 + (-(said + by.biases[1] - by.biases[0])).exp());
    let of_row = |(row, &code): (&[f64; 2], &u32)| {
        let p = second(by.temperature * (row[1] - row[0]));
        ((1.0 - by.contamination) * if code == 1 { p } else { 1.0 - p } + 0.5 * by.contamination).ln()
    };
    let nothing = second(0.0).ln() + (1.0 - second(0.0)).ln();
    let rare = PRIOR_STRENGTH
        * (PRIOR_CONTAMINATION * by.contamination.ln() + (1.0 - PRIOR_CONTAMINATION) * (1.0 - by.contamination).ln());
    rows.iter().zip(codes).map(of_row).sum::<f64>() + nothing + rare
}

/// No parameter can be changed a little, either way, for the better.
fn is_best(rows: &[[f64; 2]], codes: &[u32], found: &Calibration) {
    let best = objective(rows, codes, found);
    for step in [-0.02, 0.02] {
        let temperature = (found.temperature * (1.0 + step)).min(1.0);
        let biases = vec![found.biases[0], found.biases[1] + step];
        let contamination = found.contamination * (1.0 + step);
        for other in [
            Calibration { temperature, ..found.clone() },
            Calibration { biases, ..found.clone() },
            Calibration { contamination, ..found.clone() },
        ] {
            assert!(objective(rows, codes, &other) <= best + 1e-6, "{other:?} is better than {found:?}");
        }
    }
}

fn of(rows: &[[f64; 2]], codes: &[u32]) -> Calibration {
    Calibration::fit(&Matrix::from_rows(rows), &[0.5f64.ln(); 2], codes, None, &Run::new()).unwrap()
}

/// Rows whose class is drawn by their log odds; `said` gives the log likelihoods of both classes.
fn drawn(
    seed: u64,
    count: usize,
    standard_deviation: f64,
    said: impl Fn(f64) -> [f64; 2],
) -> (Vec<[f64; 2]>, Vec<u32>) {
    let mut stream = Stream::new(seed, 0);
    let one = |_| {
        let odds = standard_deviation * stream.normal();
        (said(odds), u32::from(stream.uniform() < 1.0 / (1.0 + (-odds).exp())))
    };
    (0..count).map(one).unzip()
}

#[test]
fn the_label_keeps_the_largest_probability_where_the_priors_are_for_another_class() {
    let calibration = Calibration { contamination: 0.1, ..Calibration::none(3) };
    let log_priors = [0.8f64.ln(), 0.1f64.ln(), 0.1f64.ln()];
    for (scores, label) in [([0.0, 0.05, -3.0], 1), ([0.0, 0.0, 0.1], 2), ([0.1, 0.0, 0.0], 0), ([0.0, 9.0, 0.0], 1)] {
        let mut probabilities = scores;
        calibration.to_probabilities(&mut probabilities, &log_priors);
        let most = probabilities.iter().copied().fold(0.0, f64::max);
        assert!(probabilities.iter().filter(|p| **p == most).count() == 1 && probabilities[label] == most);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{probabilities:?}");
    }
}

/// Evidence that is counted three times needs a temperature of a third.
#[test]
fn what_is_said_three_times_counts_once() {
    let (rows, codes) = drawn(5, 20_000, 2.0, |odds| [0.0, 3.0 * odds]);
    let found = of(&rows, &codes);
    assert!((found.temperature - 1.0 / 3.0).abs() < 0.015, "{found:?}");
    is_best(&rows, &codes, &found);
}

#[test]
fn columns_that_are_always_right_count_for_what_they_say() {
    let right = of(&[[0.0, -500.0], [0.0, -4.0], [f64::NEG_INFINITY, 0.0], [-3.0, 0.0]], &[0, 0, 1, 1]);
    assert_eq!(right.temperature, 1.0);
}

#[test]
fn calibrated_probabilities_are_never_worse_than_the_priors() {
    // Four rows of each class, about which overconfident columns say more wrong than right.
    for seed in 0..40 {
        let mut stream = Stream::new(seed, 0);
        let rows: Vec<[f64; 2]> = (0..8).map(|_| [3000.0 * stream.normal(), 3000.0 * stream.normal()]).collect();
        let codes = [0, 1, 0, 1, 0, 1, 0, 1];
        let likelihoods = Matrix::from_rows(&rows);
        let priors = [0.5f64.ln(); 2];
        let (found, judged) = Calibration::fit_and_judge(&likelihoods, &priors, &codes, None, &Run::new()).unwrap();
        let mut probabilities = likelihoods.clone();
        (0..8).for_each(|i| found.weigh(probabilities.row_mut(i), &priors));
        found.to_probabilities(probabilities.values_mut(), &priors);
        let log_loss = -(0..8).map(|i| probabilities[(i, codes[i] as usize)].ln()).sum::<f64>() / 8.0;
        assert!((log_loss + judged).abs() < 1e-9 && log_loss <= 2f64.ln() + 1e-9, "{log_loss} {judged}");
    }
}

/// Beside outliers, of which there is one in a hundred, calibration costs nothing: what is said is never better as it is.
#[test]
fn calibrated_probabilities_are_never_worse_than_uncalibrated_ones_or_the_priors() {
    for seed in 0..200 {
        let mut stream = Stream::new(seed, 1);
        let scale = 10f64.powf(4.0 * stream.uniform() - 1.0);
        let codes: Vec<u32> = (0..9 + seed as u32).map(|i| i % 3).collect();
        let right = 3.0 * stream.uniform();
        let mut said = |code: u32| [0, 1, 2].map(|k| scale * (stream.normal() + if k == code { right } else { 0.0 }));
        let likelihoods: Vec<[f64; 3]> = codes.iter().map(|&code| said(code)).collect();
        let log_loss = |t: f64| {
            let of_row = |(row, &code): (&[f64; 3], &u32)| {
                let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mass: f64 = row.iter().map(|l| (t * (l - most)).exp()).sum();
                mass.ln() - t * (row[code as usize] - most)
            };
            likelihoods.iter().zip(&codes).map(of_row).sum::<f64>() / codes.len() as f64
        };
        let priors = [(1f64 / 3.0).ln(); 3];
        let rows = Matrix::from_rows(&likelihoods);
        let (_, judged) = Calibration::fit_and_judge(&rows, &priors, &codes, None, &Run::new()).unwrap();
        let best = log_loss(0.0).min(log_loss(1.0));
        assert!(-judged <= best - (1.0 - PRIOR_CONTAMINATION).ln() + 1e-9, "seed {seed}: {judged} {best}");
    }
}

#[test]
fn what_one_class_has_never_seen_is_not_impossible_where_columns_are_hardly_believed() {
    let likelihoods = Matrix::from_rows(&[[0.0, f64::NEG_INFINITY], [f64::NEG_INFINITY, 0.0]]);
    let priors = [0.5f64.ln(); 2];
    // All that is said is wrong.
    let (found, judged) = Calibration::fit_and_judge(&likelihoods, &priors, &[1, 0], None, &Run::new()).unwrap();
    let mut scores = likelihoods.clone();
    (0..2).for_each(|i| found.weigh(scores.row_mut(i), &priors));
    found.to_probabilities(scores.values_mut(), &priors);
    assert!((scores[(0, 1)].ln() - judged).abs() < 1e-9 && judged >= 0.5f64.ln() - 1e-9, "{scores:?} {judged}");
}

/// Of ten rows most are right by 40,000 to 60,000, and some wrong by less. The best temperature leaves doubt, and is far from 1: by
/// that the rows are less probable than by the priors if four are wrong, and more probable if one is.
#[test]
fn certainty_without_derivatives_does_not_hide_what_is_right() {
    for wrong_of_ten in [4, 2, 1] {
        certainty_leaves_doubt(wrong_of_ten);
    }
}

fn certainty_leaves_doubt(wrong_of_ten: usize) {
    let mut stream = Stream::new(3, 0);
    let mut row = |i: usize| {
        let code = (i % 2) as u32;
        let is_wrong = i / 2 % 10 < wrong_of_ten;
        let size = 1e4 * if is_wrong { -3.0 * stream.uniform() } else { 4.0 + 2.0 * stream.uniform() };
        (if code == 1 { [0.0, size] } else { [size, 0.0] }, code)
    };
    let (rows, codes): (Vec<_>, Vec<_>) = (0..100).map(&mut row).unzip();
    let best = (1..400).map(|k| {
        let t = 1e-6 * f64::from(k);
        let odds = |(row, &code): (&[f64; 2], &u32)| t * (row[1] - row[0]) * if code == 1 { 1.0 } else { -1.0 };
        rows.iter().zip(&codes).map(|row| -(1.0 + (-odds(row)).exp()).ln()).sum::<f64>() / 100.0
    });
    let best = best.fold(f64::NEG_INFINITY, f64::max);
    assert!(best > 0.5f64.ln() + 0.05, "{best}");
    let likelihoods = Matrix::from_rows(&rows);
    let priors = [0.5f64.ln(); 2];
    let (_, judged) = Calibration::fit_and_judge(&likelihoods, &priors, &codes, None, &Run::new()).unwrap();
    assert!(judged > best - 0.02, "{wrong_of_ten} of 10 wrong: {judged} {best}");
}

#[test]
fn columns_that_say_the_wrong_thing_are_hardly_believed() {
    let wrong = of(&[[0.0, 5.0], [0.0, 4.0], [6.0, 0.0], [3.0, 0.0]], &[0, 0, 1, 1]);
    assert!(wrong.temperature < 0.01, "{wrong:?}");
}

#[test]
fn one_odd_row_among_many_does_not_decide() {
    let (mut rows, mut codes) = drawn(6, 300, 3.0, |odds| [0.0, odds]);
    let without = of(&rows, &codes);
    rows.push([0.0, 5000.0]);
    codes.push(0);
    let found = of(&rows, &codes);
    is_best(&rows, &codes, &found);
    // The row costs ln ½ ε, and is one more outlier; by its odds alone the temperature would have to be 0.001.
    assert!(
        (found.temperature - without.temperature).abs() < 0.1 && found.contamination > without.contamination,
        "{without:?} {found:?}"
    );
}

#[test]
fn a_class_that_is_said_too_seldom_gets_more() {
    // The first class is favoured by 2 throughout.
    let (rows, codes) = drawn(7, 5000, 2.0, |odds| [2.0, odds]);
    let found = of(&rows, &codes);
    let more = found.biases[1] - found.biases[0];
    assert!((more - 2.0).abs() < 0.15 && found.temperature > 0.9, "{found:?}");
    is_best(&rows, &codes, &found);
}

#[test]
fn zero_priors_and_rows_that_count_for_nothing_are_left_out() {
    let likelihoods = Matrix::from_rows(&[[0.0, -2.0, 9.0], [-3.0, 0.0, 9.0], [0.0, -2.0, 0.0], [-50.0, 0.0, 0.0]]);
    let priors = [0.5f64.ln(), 0.5f64.ln(), f64::NEG_INFINITY];
    let fit = |codes: &[u32], weights: &[f64]| {
        Calibration::fit(&likelihoods, &priors, codes, Some(weights), &Run::new()).unwrap()
    };
    let found = fit(&[0, 1, 2, 0], &[1.0, 1.0, 1.0, 0.0]);
    assert_eq!((found.temperature, found.biases[2]), (1.0, 0.0));
    assert_eq!(fit(&[2, 2, 2, 2], &[1.0; 4]), Calibration::none(3));
}
