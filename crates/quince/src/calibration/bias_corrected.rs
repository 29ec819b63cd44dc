//! Calibration of Bayes classifiers: bias-corrected temperature scaling with a contamination.
//!
//! Naive Bayes takes columns as independent. Where two of them are dependent, the same evidence counts twice, and the
//! classifier is overconfident. So scores are calibrated by predictions of rows that were left out:
//!
//! ```text
//! s_c = ln P(c) + a_c + t · ln p(row | c),        P(c | row) = (1 - ε) e^(s_c) / Σ_k e^(s_k) + ε P(c)
//! ```
//!
//! The temperature t, at most 1, scales the log likelihoods (it is an inverse temperature of the softmax). The biases a_c
//! keep the classes as frequent as they are when t shrinks the evidence. And with the contamination ε as its probability a
//! row is an outlier: it carries no information, and gets the priors, so that no prediction is ever certain, and a few
//! outliers do not determine t.
//!
//! All three maximise the likelihood of the classes, and are optimised alternately: t and ε each by a Newton step, t with the
//! gradient Σ u (l_true - E[l]) for log likelihoods l and row weights u = w (1 - probability of being an outlier); and a_c by
//! the logarithm of the observed over the expected frequency of class c. As a prior on a_c there are pseudo-rows beside the
//! real ones, one per class, that carry no information and whose classes follow the class priors; a prior on ε holds outliers
//! to be rare until many rows say otherwise. Where evidence is so certain that its derivatives vanish, the updates lead nowhere, and
//! begin again from a temperature that leaves rows in doubt. Where the priors alone make the classes more probable than all that was found, they
//! are taken: calibrated probabilities are never worse than those of a baseline on the rows that they are calibrated by.

use crate::error::Result;
use crate::learn::largest;
use crate::matrix::Matrix;
use crate::matrix::simd::exp;
use crate::passes::{Chunk, Merge, Pass, at_hand};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// Temperature, biases of the classes, and contamination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calibration {
    pub(crate) temperature: f64,
    pub(crate) biases: Vec<f64>,
    pub(crate) contamination: f64,
}

/// The smallest temperature: the evidence always counts for something.
const MIN_TEMPERATURE: f64 = 1e-6;

/// The temperature by which nothing is left but the priors, and an order of the classes.
const TEMPERATURE_OF_PRIORS: f64 = 1e-15;

/// The most rows to calibrate by; of more, these are taken evenly.
pub(crate) const MAX_CALIBRATION_ROWS: usize = 20_000;

/// By this share a label is more probable than a class to which the priors alone would give more.
const LEAD: f64 = 1e-9;

/// The most rounds of alternating updates.
const MAX_ITERATIONS: usize = 60;

/// The mode of the prior on the contamination, and its strength in rows.
const PRIOR_CONTAMINATION: f64 = 0.01;
const PRIOR_STRENGTH: f64 = 50.0;

/// Converged when nothing moves by more than this.
const TOLERANCE: f64 = 1e-5;

/// Log likelihoods this far below the largest are truncated.
const MAX_LOG_RATIO: f64 = 1e6;

impl Calibration {
    /// Turns log likelihoods of a row into scores. A row that is impossible under every class gets the priors.
    pub(crate) fn weigh(&self, row: &mut [f64], log_priors: &[f64]) {
        let impossible = row.iter().zip(log_priors).all(|(said, prior)| said + prior == f64::NEG_INFINITY);
        // Where evidence counts for less than it says, even what is impossible is only very unlikely, as in the fit.
        let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = if self.temperature < 1.0 { best - MAX_LOG_RATIO } else { f64::NEG_INFINITY };
        for ((score, prior), bias) in row.iter_mut().zip(log_priors).zip(&self.biases) {
            let said = if impossible { 0.0 } else { self.temperature * score.max(least) };
            *score = prior + bias + said;
        }
    }

    /// Turns scores of rows into probabilities.
    pub(crate) fn to_probabilities(&self, scores: &mut [f64], log_priors: &[f64]) {
        let classes = log_priors.len();
        for row in scores.chunks_exact_mut(classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|score| *score -= largest);
        }
        exp(scores);
        let contamination = self.contamination;
        let of_contamination: Vec<f64> = log_priors.iter().map(|prior| contamination * prior.exp()).collect();
        for row in scores.chunks_exact_mut(classes) {
            let total: f64 = row.iter().sum();
            let label = largest(row) as usize;
            row.iter_mut()
                .zip(&of_contamination)
                .for_each(|(p, of_contamination)| *p = (1.0 - contamination) * *p / total + of_contamination);
            favour(label, row);
        }
    }

    /// Bayes' rule without calibration.
    pub(crate) fn none(classes: usize) -> Calibration {
        Calibration { temperature: 1.0, biases: vec![0.0; classes], contamination: 0.0 }
    }

    /// Fits to rows with these log likelihoods (one row per example, one column per class).
    pub(crate) fn fit(
        likelihoods: &Matrix,
        log_priors: &[f64],
        codes: &[u32],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Calibration> {
        Calibration::fit_and_judge(likelihoods, log_priors, codes, weights, run).map(|(calibration, _)| calibration)
    }

    /// The same, with the mean log likelihood of the rows' classes.
    pub(crate) fn fit_and_judge(
        likelihoods: &Matrix,
        log_priors: &[f64],
        codes: &[u32],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<(Calibration, f64)> {
        let rows = Rows { likelihoods, log_priors, codes, weights };
        let alone = Calibration { temperature: TEMPERATURE_OF_PRIORS, ..Calibration::none(log_priors.len()) };
        let of_alone = rows.log_likelihood(&alone, run)?;
        for temperature in [1.0, rows.hesitant_temperature()] {
            let found = Calibration::maximised(&rows, temperature, run)?;
            let of_found = rows.log_likelihood(&found, run)?;
            if of_found >= of_alone {
                return Ok((found, of_found));
            }
        }
        Ok((alone, of_alone))
    }

    /// Alternating updates from a temperature until nothing moves.
    fn maximised(rows: &Rows<'_>, temperature: f64, run: &Run) -> Result<Calibration> {
        let none = Calibration::none(rows.log_priors.len());
        let log_priors = rows.log_priors;
        let mut found = Calibration { temperature, contamination: PRIOR_CONTAMINATION, ..none };
        for _ in 0..MAX_ITERATIONS {
            let before = found.clone();
            let derivatives = rows.derivatives(&found, run)?;
            if derivatives.weight == 0.0 {
                return Ok(Calibration::none(log_priors.len()));
            }
            let step = if derivatives.curvature > 0.0 { derivatives.gradient / derivatives.curvature } else { 0.0 };
            found.temperature = (found.temperature + step)
                .clamp(0.25 * found.temperature, 4.0 * found.temperature)
                .clamp(MIN_TEMPERATURE, 1.0);
            let (contamination, rest) = (found.contamination, 1.0 - found.contamination);
            let gradient = derivatives.contamination_gradient
                + PRIOR_STRENGTH * (PRIOR_CONTAMINATION / contamination - (1.0 - PRIOR_CONTAMINATION) / rest);
            let curvature = derivatives.contamination_curvature
                + PRIOR_STRENGTH
                    * (PRIOR_CONTAMINATION / (contamination * contamination)
                        + (1.0 - PRIOR_CONTAMINATION) / (rest * rest));
            found.contamination = (contamination + gradient / curvature)
                .clamp(0.25 * contamination, (4.0 * contamination).min(0.5 * (1.0 + contamination)));
            let derivatives = rows.derivatives(&found, run)?;
            for (c, biases) in found.biases.iter_mut().enumerate().filter(|(c, _)| log_priors[*c] > f64::NEG_INFINITY) {
                *biases += (derivatives.seen[c] / derivatives.expected[c]).ln();
            }
            if found.is_near(&before) {
                break;
            }
        }
        Ok(found)
    }

    fn is_near(&self, other: &Calibration) -> bool {
        let moved = self.biases.iter().zip(&other.biases).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (self.temperature - other.temperature).abs() <= TOLERANCE * self.temperature
            && moved <= TOLERANCE
            && (self.contamination - other.contamination).abs() <= TOLERANCE
    }

    /// Whether a loaded calibration is valid.
    pub(crate) fn is_sound(&self, classes: usize) -> bool {
        self.temperature > 0.0
            && self.temperature <= 1.0
            && self.biases.len() == classes
            && self.biases.iter().all(|biases| biases.is_finite())
            && (0.0..1.0).contains(&self.contamination)
    }
}

/// Makes the probability of the label the largest. Where the priors that are mixed in are for another class than the scores, hardly
/// anything is between the two, and they share what they have.
fn favour(label: usize, probabilities: &mut [f64]) {
    for _ in 0..probabilities.len() {
        let other = largest(probabilities) as usize;
        if probabilities[other] <= probabilities[label] {
            return;
        }
        let mean = 0.5 * (probabilities[label] + probabilities[other]);
        (probabilities[label], probabilities[other]) = (mean * (1.0 + LEAD), mean * (1.0 - LEAD));
    }
}

struct Rows<'a> {
    likelihoods: &'a Matrix,
    log_priors: &'a [f64],
    codes: &'a [u32],
    weights: Option<&'a [f64]>,
}

/// Sums over rows at the present values.
struct Derivatives {
    weight: f64,
    log_likelihood: f64,
    /// First and second derivatives of the log likelihood by t, and by ε.
    gradient: f64,
    curvature: f64,
    contamination_gradient: f64,
    contamination_curvature: f64,
    /// The observed and the expected weight of each class.
    seen: Vec<f64>,
    expected: Vec<f64>,
}

impl Chunk for Rows<'_> {
    fn count(&self) -> usize {
        self.codes.len()
    }
}

impl Rows<'_> {
    /// The temperature by which the log likelihoods of a row differ by one on average.
    fn hesitant_temperature(&self) -> f64 {
        let spread = |row: usize| {
            let of_row = self.likelihoods.row(row);
            let most = of_row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = of_row.iter().copied().fold(f64::INFINITY, f64::min);
            if most > least { (most - least).min(MAX_LOG_RATIO) } else { 0.0 }
        };
        let rows = self.codes.len();
        let mean = (0..rows).map(spread).sum::<f64>() / rows.max(1) as f64;
        (1.0 / mean).clamp(MIN_TEMPERATURE, 1.0)
    }

    /// The mean log likelihood of the classes of rows.
    fn log_likelihood(&self, by: &Calibration, run: &Run) -> Result<f64> {
        let Derivatives { log_likelihood, weight, .. } = self.derivatives(by, run)?;
        Ok(if weight > 0.0 { log_likelihood / weight } else { 0.0 })
    }

    fn derivatives(&self, by: &Calibration, run: &Run) -> Result<Derivatives> {
        let classes = self.log_priors.len();
        let pass = Pass::new(usize::MAX, run);
        let mut all = pass.gather(
            at_hand(self),
            || Derivatives::nothing(classes),
            |sum, rows, range| {
                let mut space = vec![0.0; 2 * classes];
                for row in range {
                    rows.add(row, by, sum, &mut space);
                }
            },
        )?;
        // The pseudo-rows.
        let scores: Vec<f64> = self.log_priors.iter().zip(&by.biases).map(|(prior, biases)| prior + biases).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mass: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        for (c, score) in scores.iter().enumerate() {
            all.seen[c] += classes as f64 * self.log_priors[c].exp();
            all.expected[c] += classes as f64 * (score - most).exp() / mass;
        }
        Ok(all)
    }

    fn add(&self, row: usize, by: &Calibration, derivatives: &mut Derivatives, space: &mut [f64]) {
        let (code, of_row) = (self.codes[row] as usize, self.likelihoods.row(row));
        let weight = self.weights.map_or(1.0, |weights| weights[row]);
        if weight == 0.0 || self.log_priors[code] == f64::NEG_INFINITY {
            return;
        }
        // Log likelihoods are relative to the largest one, so that nothing overflows; impossible ones are truncated far below
        // it.
        let (said, posteriors) = space.split_at_mut(of_row.len());
        let best = of_row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let nothing = best == f64::NEG_INFINITY;
        for (said, likelihood) in said.iter_mut().zip(of_row) {
            *said = if nothing { 0.0 } else { (likelihood - best).max(-MAX_LOG_RATIO) };
        }
        for (c, posterior) in posteriors.iter_mut().enumerate() {
            *posterior = self.log_priors[c] + by.biases[c] + by.temperature * said[c];
        }
        let most = posteriors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        posteriors.iter_mut().for_each(|posterior| *posterior = (*posterior - most).exp());
        let mass: f64 = posteriors.iter().sum();
        let (mut mean, mut square) = (0.0, 0.0);
        for (posterior, l) in posteriors.iter_mut().zip(&*said) {
            *posterior /= mass;
            mean += *posterior * l;
            square += *posterior * l * l;
        }
        let prior = self.log_priors[code].exp();
        let all = (1.0 - by.contamination) * posteriors[code] + by.contamination * prior;
        let counts = weight * (1.0 - by.contamination * prior / all);
        let along = (prior - posteriors[code]) / all;
        derivatives.weight += weight;
        derivatives.log_likelihood += weight * all.ln();
        derivatives.contamination_gradient += weight * along;
        derivatives.contamination_curvature += weight * along * along;
        derivatives.gradient += counts * (said[code] - mean);
        derivatives.curvature += counts * (square - mean * mean);
        derivatives.seen[code] += counts;
        derivatives.expected.iter_mut().zip(&*posteriors).for_each(|(sum, posterior)| *sum += counts * posterior);
    }
}

impl Derivatives {
    fn nothing(classes: usize) -> Derivatives {
        let none = vec![0.0; classes];
        let (seen, expected) = (none.clone(), none);
        Derivatives {
            weight: 0.0,
            log_likelihood: 0.0,
            gradient: 0.0,
            curvature: 0.0,
            contamination_gradient: 0.0,
            contamination_curvature: 0.0,
            seen,
            expected,
        }
    }
}

impl Merge for Derivatives {
    fn merge(&mut self, later: Derivatives) {
        self.weight.merge(later.weight);
        self.log_likelihood.merge(later.log_likelihood);
        self.contamination_gradient.merge(later.contamination_gradient);
        self.contamination_curvature.merge(later.contamination_curvature);
        self.gradient.merge(later.gradient);
        self.curvature.merge(later.curvature);
        self.seen.merge(later.seen);
        self.expected.merge(later.expected);
    }
}

#[cfg(test)]
mod tests {
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
            * (PRIOR_CONTAMINATION * by.contamination.ln()
                + (1.0 - PRIOR_CONTAMINATION) * (1.0 - by.contamination).ln());
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
        for (scores, label) in
            [([0.0, 0.05, -3.0], 1), ([0.0, 0.0, 0.1], 2), ([0.1, 0.0, 0.0], 0), ([0.0, 9.0, 0.0], 1)]
        {
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

    /// Of each class 30 rows are right by 40,000 to 60,000, and 20 wrong by less. The best temperature leaves doubt, and is far from 1.
    #[test]
    fn certainty_without_derivatives_does_not_hide_what_is_right() {
        let mut stream = Stream::new(3, 0);
        let mut row = |i: usize| {
            let code = (i % 2) as u32;
            let size = 1e4 * if i % 5 < 3 { 4.0 + 2.0 * stream.uniform() } else { -3.0 * stream.uniform() };
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
        assert!(judged > best - 0.02, "{judged} {best}");
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
}
