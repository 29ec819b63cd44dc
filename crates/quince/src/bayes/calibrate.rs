//! How far what columns say is to be believed.
//!
//! Naive Bayes takes columns as independent. Where two say the same, it hears the same thing twice, and is too sure of its answer.
//! So scores are brought in line with what rows that are left out bear out:
//!
//! ```text
//! s_c = ln P(c) + a_c + t · ln p(row | c),        P(c | row) = (1 - ε) e^(s_c) / Σ_k e^(s_k) + ε P(c)
//! ```
//!
//! The share t is at most 1. What a_c adds keeps the classes as frequent as they are when t makes everything else say less. And with a
//! probability ε a row is odd: it says nothing, and is left to the priors, so that no answer is ever certain, and a few rows far from
//! all others do not decide on t.
//!
//! All three make the rows likeliest to be of their class, and are found by turns: t and ε each by Newton's step, t with the slope
//! Σ u (l_true - E[l]) for log likelihoods l and rows that count u = w (1 - how odd); and a_c by ln of how often class c is over how
//! often it is expected. So that a few rows do not move a_c far, there are rows beside the real ones, one for each class, that say
//! nothing and have the classes as their priors say; and odd rows are taken to be rare until many say otherwise.

use crate::error::Result;
use crate::matrix::{Matrix, cuts, partials};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// By how much likelihoods count, what is added to scores, and how many rows are odd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calibration {
    pub(super) trust: f64,
    pub(super) added: Vec<f64>,
    pub(super) odd: f64,
}

/// Columns always count for something.
const LEAST: f64 = 1e-3;

/// So many rows are enough to find a few numbers by; of more, these are taken from all over.
pub(super) const ENOUGH: usize = 20_000;

/// As often are t and a_c found anew, at most.
const TURNS: usize = 60;

/// Before any row is seen, so many are taken to be odd, and it takes about so many rows to be persuaded otherwise.
const RARE: f64 = 0.01;
const PATIENCE: f64 = 50.0;

/// Where nothing moves by more than this, all is found.
const NEAR: f64 = 1e-5;

/// A likelihood so much smaller than another, as a logarithm, is as good as none.
const FAR: f64 = 1e6;

impl Calibration {
    /// Bayes' rule as it is.
    pub(super) fn none(classes: usize) -> Calibration {
        Calibration { trust: 1.0, added: vec![0.0; classes], odd: 0.0 }
    }

    /// The one for rows whose log likelihoods are those of `likelihoods` (a row an example, a column a class).
    pub(super) fn fit(
        likelihoods: &Matrix,
        log_priors: &[f64],
        codes: &[u32],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Calibration> {
        let rows = Rows { likelihoods, log_priors, codes, weights };
        let mut found = Calibration { odd: RARE, ..Calibration::none(log_priors.len()) };
        for _ in 0..TURNS {
            let before = found.clone();
            let sums = rows.sums(&found, run)?;
            if sums.weight == 0.0 {
                return Ok(Calibration::none(log_priors.len()));
            }
            let step = if sums.curvature > 0.0 { sums.slope / sums.curvature } else { 0.0 };
            found.trust = (found.trust + step).clamp(0.25 * found.trust, 4.0 * found.trust).clamp(LEAST, 1.0);
            let (odd, rest) = (found.odd, 1.0 - found.odd);
            let slope = sums.odd_slope + PATIENCE * (RARE / odd - (1.0 - RARE) / rest);
            let curvature = sums.odd_curvature + PATIENCE * (RARE / (odd * odd) + (1.0 - RARE) / (rest * rest));
            found.odd = (odd + slope / curvature).clamp(0.25 * odd, (4.0 * odd).min(0.5 * (1.0 + odd)));
            let sums = rows.sums(&found, run)?;
            for (c, added) in found.added.iter_mut().enumerate().filter(|(c, _)| log_priors[*c] > f64::NEG_INFINITY) {
                *added += (sums.seen[c] / sums.expected[c]).ln();
            }
            if found.is_near(&before) {
                break;
            }
        }
        Ok(found)
    }

    fn is_near(&self, other: &Calibration) -> bool {
        let moved = self.added.iter().zip(&other.added).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (self.trust - other.trust).abs() <= NEAR * self.trust && moved <= NEAR && (self.odd - other.odd).abs() <= NEAR
    }

    /// Whether a loaded one can be.
    pub(super) fn is_sound(&self, classes: usize) -> bool {
        self.trust > 0.0
            && self.trust <= 1.0
            && self.added.len() == classes
            && self.added.iter().all(|added| added.is_finite())
            && (0.0..1.0).contains(&self.odd)
    }
}

struct Rows<'a> {
    likelihoods: &'a Matrix,
    log_priors: &'a [f64],
    codes: &'a [u32],
    weights: Option<&'a [f64]>,
}

/// What rows add up to, by the present numbers.
struct Sums {
    weight: f64,
    /// Of the log likelihood along t, and along ε.
    slope: f64,
    curvature: f64,
    odd_slope: f64,
    odd_curvature: f64,
    /// How often each class is, and how often it is expected to be.
    seen: Vec<f64>,
    expected: Vec<f64>,
}

impl Rows<'_> {
    fn sums(&self, by: &Calibration, run: &Run) -> Result<Sums> {
        let classes = self.log_priors.len();
        let count = self.codes.len();
        let ranges = cuts(count, partials(count));
        let parts = run.map(ranges.len(), |part| {
            let (mut sums, mut space) = (Sums::nothing(classes), vec![0.0; 2 * classes]);
            ranges[part].clone().for_each(|row| self.add(row, by, &mut sums, &mut space));
            sums
        });
        run.check()?;
        let mut all = Sums::nothing(classes);
        parts.into_iter().for_each(|part| all.join(part));
        // The rows that say nothing.
        let scores: Vec<f64> = self.log_priors.iter().zip(&by.added).map(|(prior, added)| prior + added).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mass: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        for (c, score) in scores.iter().enumerate() {
            all.seen[c] += classes as f64 * self.log_priors[c].exp();
            all.expected[c] += classes as f64 * (score - most).exp() / mass;
        }
        Ok(all)
    }

    fn add(&self, row: usize, by: &Calibration, sums: &mut Sums, space: &mut [f64]) {
        let (code, of_row) = (self.codes[row] as usize, self.likelihoods.row(row));
        let weight = self.weights.map_or(1.0, |weights| weights[row]);
        if weight == 0.0 || self.log_priors[code] == f64::NEG_INFINITY {
            return;
        }
        // Likelihoods are taken from the largest one, so that nothing overflows; what cannot be is far below it.
        let (said, shares) = space.split_at_mut(of_row.len());
        let best = of_row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let nothing = best == f64::NEG_INFINITY;
        for (said, likelihood) in said.iter_mut().zip(of_row) {
            *said = if nothing { 0.0 } else { (likelihood - best).max(-FAR) };
        }
        for (c, share) in shares.iter_mut().enumerate() {
            *share = self.log_priors[c] + by.added[c] + by.trust * said[c];
        }
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        shares.iter_mut().for_each(|share| *share = (*share - most).exp());
        let mass: f64 = shares.iter().sum();
        let (mut mean, mut square) = (0.0, 0.0);
        for (share, l) in shares.iter_mut().zip(&*said) {
            *share /= mass;
            mean += *share * l;
            square += *share * l * l;
        }
        let prior = self.log_priors[code].exp();
        let all = (1.0 - by.odd) * shares[code] + by.odd * prior;
        let counts = weight * (1.0 - by.odd * prior / all);
        let along = (prior - shares[code]) / all;
        sums.weight += weight;
        sums.odd_slope += weight * along;
        sums.odd_curvature += weight * along * along;
        sums.slope += counts * (said[code] - mean);
        sums.curvature += counts * (square - mean * mean);
        sums.seen[code] += counts;
        sums.expected.iter_mut().zip(&*shares).for_each(|(sum, share)| *sum += counts * share);
    }
}

impl Sums {
    fn nothing(classes: usize) -> Sums {
        let none = vec![0.0; classes];
        let (seen, expected) = (none.clone(), none);
        Sums { weight: 0.0, slope: 0.0, curvature: 0.0, odd_slope: 0.0, odd_curvature: 0.0, seen, expected }
    }

    fn join(&mut self, other: Sums) {
        self.weight += other.weight;
        self.odd_slope += other.odd_slope;
        self.odd_curvature += other.odd_curvature;
        self.slope += other.slope;
        self.curvature += other.curvature;
        self.seen.iter_mut().zip(other.seen).for_each(|(sum, more)| *sum += more);
        self.expected.iter_mut().zip(other.expected).for_each(|(sum, more)| *sum += more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Stream;

    /// What is made as large as can be, for two classes alike: the rows, those that say nothing, and how rare odd rows are.
    fn objective(rows: &[[f64; 2]], codes: &[u32], by: &Calibration) -> f64 {
        let second = |said: f64| 1.0 / (1.0 + (-(said + by.added[1] - by.added[0])).exp());
        let of_row = |(row, &code): (&[f64; 2], &u32)| {
            let p = second(by.trust * (row[1] - row[0]));
            ((1.0 - by.odd) * if code == 1 { p } else { 1.0 - p } + 0.5 * by.odd).ln()
        };
        let nothing = second(0.0).ln() + (1.0 - second(0.0)).ln();
        let rare = PATIENCE * (RARE * by.odd.ln() + (1.0 - RARE) * (1.0 - by.odd).ln());
        rows.iter().zip(codes).map(of_row).sum::<f64>() + nothing + rare
    }

    /// No number can be changed a little, either way, and be better for it.
    fn is_best(rows: &[[f64; 2]], codes: &[u32], found: &Calibration) {
        let best = objective(rows, codes, found);
        for step in [-0.02, 0.02] {
            let trust = (found.trust * (1.0 + step)).min(1.0);
            let added = vec![found.added[0], found.added[1] + step];
            let odd = found.odd * (1.0 + step);
            for other in [
                Calibration { trust, ..found.clone() },
                Calibration { added, ..found.clone() },
                Calibration { odd, ..found.clone() },
            ] {
                assert!(objective(rows, codes, &other) <= best + 1e-6, "{other:?} is better than {found:?}");
            }
        }
    }

    fn of(rows: &[[f64; 2]], codes: &[u32]) -> Calibration {
        Calibration::fit(&Matrix::from_rows(rows), &[0.5f64.ln(); 2], codes, None, &Run::new()).unwrap()
    }

    /// Rows whose second class has these odds, as often as that makes it; `said` is what the columns say of them.
    fn drawn(seed: u64, count: usize, spread: f64, said: impl Fn(f64) -> [f64; 2]) -> (Vec<[f64; 2]>, Vec<u32>) {
        let mut stream = Stream::new(seed, 0);
        let one = |_| {
            let odds = spread * stream.normal();
            (said(odds), u32::from(stream.uniform() < 1.0 / (1.0 + (-odds).exp())))
        };
        (0..count).map(one).unzip()
    }

    /// Rows that say everything three times are to be trusted for a third.
    #[test]
    fn what_is_said_three_times_counts_once() {
        let (rows, codes) = drawn(5, 20_000, 2.0, |odds| [0.0, 3.0 * odds]);
        let found = of(&rows, &codes);
        assert!((found.trust - 1.0 / 3.0).abs() < 0.015, "{found:?}");
        is_best(&rows, &codes, &found);
    }

    #[test]
    fn columns_that_are_always_right_count_for_what_they_say() {
        let right = of(&[[0.0, -500.0], [0.0, -4.0], [f64::NEG_INFINITY, 0.0], [-3.0, 0.0]], &[0, 0, 1, 1]);
        assert_eq!(right.trust, 1.0);
    }

    #[test]
    fn columns_that_say_the_wrong_thing_are_hardly_believed() {
        let wrong = of(&[[0.0, 5.0], [0.0, 4.0], [6.0, 0.0], [3.0, 0.0]], &[0, 0, 1, 1]);
        assert!(wrong.trust < 0.01, "{wrong:?}");
    }

    #[test]
    fn one_odd_row_among_many_does_not_decide() {
        let (mut rows, mut codes) = drawn(6, 300, 3.0, |odds| [0.0, odds]);
        let without = of(&rows, &codes);
        rows.push([0.0, 5000.0]);
        codes.push(0);
        let found = of(&rows, &codes);
        is_best(&rows, &codes, &found);
        // The row costs ln ½ ε, and one more is odd; by its odds alone it would have to be 0.001.
        assert!((found.trust - without.trust).abs() < 0.1 && found.odd > without.odd, "{without:?} {found:?}");
    }

    #[test]
    fn a_class_that_is_said_too_seldom_gets_more() {
        // The first class is favoured by 2 throughout.
        let (rows, codes) = drawn(7, 5000, 2.0, |odds| [2.0, odds]);
        let found = of(&rows, &codes);
        let more = found.added[1] - found.added[0];
        assert!((more - 2.0).abs() < 0.15 && found.trust > 0.9, "{found:?}");
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
        assert_eq!((found.trust, found.added[2]), (1.0, 0.0));
        assert_eq!(fit(&[2, 2, 2, 2], &[1.0; 4]), Calibration::none(3));
    }
}
