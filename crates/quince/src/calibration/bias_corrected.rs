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
//! keep the classes as frequent as they are when t shrinks the evidence; they correct what columns say, so that a row that says
//! nothing (all its values are missing, or impossible under every class) has none, and gets the priors. And with the contamination ε as its probability a
//! row is an outlier: it carries no information, and gets the priors, so that no prediction is ever certain, and a few
//! outliers do not determine t.
//!
//! All three maximise the likelihood of the classes, and are optimised alternately: t and ε each by a Newton step, t with the
//! gradient Σ u (l_true - E[l]) for log likelihoods l and row weights u = w (1 - probability of being an outlier); and a_c by
//! the logarithm of the observed over the expected frequency of class c. As a prior on a_c there are pseudo-rows beside the
//! real ones, one per class, that carry no information and whose classes follow the class priors; a prior on ε holds outliers
//! to be rare until many rows say otherwise. Where evidence is so certain that its derivatives vanish, the updates lead nowhere, and
//! begin again from a temperature that leaves rows in doubt; the better of the two is taken. The updates begin with what is said, as it
//! is, but for outliers, and never end below it. Where the priors alone make the classes more probable than all that was found, they
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

/// From this mean difference of the log likelihoods of a row on, derivatives may say nothing of a better temperature.
const CERTAIN: f64 = 10.0;

/// What is left of the priors' log likelihood where there is nothing to be gained.
const NEARLY_ALL: f64 = 0.1;

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
    /// Turns log likelihoods of a row into scores. A row that says nothing gets the priors.
    pub(crate) fn weigh(&self, row: &mut [f64], log_priors: &[f64]) {
        let impossible = row.iter().zip(log_priors).all(|(said, prior)| said + prior == f64::NEG_INFINITY);
        let is_silent = says_nothing(row, log_priors);
        // Where evidence counts for less than it says, even what is impossible is only very unlikely, as in the fit.
        let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = if self.temperature < 1.0 { best - MAX_LOG_RATIO } else { f64::NEG_INFINITY };
        for ((score, prior), bias) in row.iter_mut().zip(log_priors).zip(&self.biases) {
            let said = if impossible { 0.0 } else { self.temperature * score.max(least) };
            *score = prior + if is_silent { 0.0 } else { *bias } + said;
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
        let (mut best, mut of_best) = (alone, of_alone);
        let hesitant = rows.hesitant_temperature();
        for temperature in [1.0, hesitant] {
            let found = Calibration::maximised(&rows, temperature, run)?;
            let of_found = rows.log_likelihood(&found, run)?;
            let leaves_doubt = found.temperature <= CERTAIN * hesitant || of_found >= NEARLY_ALL * of_alone;
            if of_found >= of_best {
                (best, of_best) = (found, of_found);
                if leaves_doubt {
                    break;
                }
            }
        }
        Ok((best, of_best))
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

/// Whether a row is as likely under every class that there is, or impossible under all: nothing is known of it, and there is nothing
/// to correct.
fn says_nothing(likelihoods: &[f64], log_priors: &[f64]) -> bool {
    let mut said = likelihoods.iter().zip(log_priors).filter(|(_, prior)| **prior > f64::NEG_INFINITY).map(|(l, _)| l);
    let first = said.next();
    said.all(|l| Some(l) == first)
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
        if says_nothing(of_row, self.log_priors) {
            derivatives.weight += weight;
            derivatives.log_likelihood += weight * self.log_priors[code];
            return;
        }
        // Log likelihoods are relative to the largest one, so that nothing overflows; impossible ones are truncated far below
        // it.
        let (said, posteriors) = space.split_at_mut(of_row.len());
        let best = of_row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (said, likelihood) in said.iter_mut().zip(of_row) {
            *said = (likelihood - best).max(-MAX_LOG_RATIO);
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
mod tests;
