//! The constant b, and what proves how close a solution is.
//!
//! For any β within its bounds and any b the primal objective is at least the dual one, and their difference is
//!
//! ```text
//! P - D = Σ highᵢ max(0, Fᵢ - ε - b) - lowᵢ max(0, b - ε - Fᵢ) - βᵢ (Fᵢ - b) + ε|βᵢ|,    F = t - Kβ
//! ```
//!
//! a sum of terms none of which is negative: the gap. The optimum lies between the two.

use super::dual::{Dual, Outcome};
use crate::run::Stop;
use serde::{Deserialize, Serialize};

/// How b is taken from the support vectors between their bounds, each of which gives one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Middle {
    /// Their mean.
    #[default]
    Mean,
    /// Their median.
    Median,
}

/// b, both objectives, and ‖w‖².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Proof {
    pub(super) bias: f64,
    pub(super) primal: f64,
    pub(super) dual: f64,
    pub(super) squared_norm: f64,
}

impl Dual<'_> {
    /// Proves where a solve has ended. Where it was stopped early, b is the one with the least gap.
    pub(super) fn prove(&self, at: &Outcome, middle: Middle, finished: bool) -> Proof {
        let bias = if finished { self.bias(at, middle) } else { self.best_bias(at) };
        let squared_norm: f64 =
            (0..self.count()).map(|i| at.beta[i] * (self.target[i] - at.slope[i])).sum::<f64>().max(0.0);
        let linear: f64 =
            (0..self.count()).map(|i| at.beta[i] * self.target[i] - self.insensitive * at.beta[i].abs()).sum();
        // β may be past its bounds, or too long: the best of all shorter ones is within them, and a better bound.
        let longest = (0..self.count()).map(|i| self.room(at.beta[i], i)).fold(1.0, f64::min);
        let length = if squared_norm > 0.0 { (linear / squared_norm).clamp(0.0, longest) } else { longest };
        let length = if finished { 1.0 } else { length };
        let dual = length * linear - 0.5 * length * length * squared_norm;
        let hard = self.high.iter().chain(&self.low).any(|bound| bound.is_infinite());
        let primal = if hard {
            // Every row must be beyond the margin: w and b are stretched until the nearest is.
            let nearest = self.nearest(at, bias);
            if nearest > 0.0 { 0.5 * squared_norm / (nearest * nearest) } else { f64::INFINITY }
        } else {
            linear - 0.5 * squared_norm + (0..self.count()).map(|i| self.gap(at, i, bias)).sum::<f64>()
        };
        Proof { bias, primal, dual, squared_norm }
    }

    /// Whether a row is at its bound, and where the optimum was reached also beyond the edge: of copies on the edge, some are at
    /// their bound.
    pub(super) fn is_beyond(&self, at: &Outcome, i: usize, bias: f64) -> bool {
        let edge = if at.stop == Stop::Converged { self.insensitive + at.violation } else { f64::NEG_INFINITY };
        let ahead = at.slope[i] - bias;
        (at.beta[i] >= self.high[i] && ahead > edge) || (at.beta[i] <= self.low[i] && -ahead > edge)
    }

    /// The largest share of β that is within its bounds.
    fn room(&self, beta: f64, i: usize) -> f64 {
        if beta > self.high[i] {
            self.high[i] / beta
        } else if beta < self.low[i] {
            self.low[i] / beta
        } else {
            1.0
        }
    }

    /// What a row adds to the gap.
    fn gap(&self, at: &Outcome, i: usize, bias: f64) -> f64 {
        let (beta, ahead) = (at.beta[i], at.slope[i] - bias);
        let above = if self.high[i] > 0.0 { self.high[i] * (ahead - self.insensitive).max(0.0) } else { 0.0 };
        let below = if self.low[i] < 0.0 { -self.low[i] * (-ahead - self.insensitive).max(0.0) } else { 0.0 };
        above + below - beta * ahead + self.insensitive * beta.abs()
    }

    /// The least y f(x) of all rows.
    fn nearest(&self, at: &Outcome, bias: f64) -> f64 {
        let margin = |i: usize| 1.0 - self.target[i] * (at.slope[i] - bias);
        (0..self.count()).map(margin).fold(f64::INFINITY, f64::min)
    }

    /// F is b for rows between their bounds (but for ε); where there are none, b lies between those that can be raised and
    /// those that can be lowered.
    fn bias(&self, at: &Outcome, middle: Middle) -> f64 {
        let free = |i: &usize| {
            at.beta[*i] > self.low[*i] && at.beta[*i] < self.high[*i] && (self.insensitive == 0.0 || at.beta[*i] != 0.0)
        };
        let one = |i: usize| at.slope[i] - self.insensitive * if at.beta[i] > 0.0 { 1.0 } else { -1.0 };
        let mut all: Vec<f64> =
            (0..self.count()).filter(free).map(|i| if self.insensitive > 0.0 { one(i) } else { at.slope[i] }).collect();
        if all.is_empty() {
            let (top, bottom) = self.ends(at);
            return match (top.is_finite(), bottom.is_finite()) {
                (true, true) => 0.5 * (top + bottom),
                (true, false) => top,
                (false, true) => bottom,
                (false, false) => 0.0,
            };
        }
        match middle {
            Middle::Mean => all.iter().sum::<f64>() / all.len() as f64,
            Middle::Median => {
                all.sort_unstable_by(f64::total_cmp);
                let half = all.len() / 2;
                if all.len() % 2 == 1 { all[half] } else { 0.5 * (all[half - 1] + all[half]) }
            }
        }
    }

    /// The b with the least gap: the gap is convex in b and bends at F ± ε, where its slope rises by a bound.
    fn best_bias(&self, at: &Outcome) -> f64 {
        let mut bends: Vec<(f64, f64)> = Vec::new();
        let mut slope: f64 = at.beta.iter().sum();
        for i in 0..self.count() {
            if self.high[i] > 0.0 && self.high[i].is_finite() {
                slope -= self.high[i];
                bends.push((at.slope[i] - self.insensitive, self.high[i]));
            }
            if self.low[i] < 0.0 && self.low[i].is_finite() {
                bends.push((at.slope[i] + self.insensitive, -self.low[i]));
            }
        }
        bends.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (place, rise) in &bends {
            slope += rise;
            if slope >= 0.0 {
                return *place;
            }
        }
        if bends.is_empty() { self.bias(at, Middle::Mean) } else { bends[bends.len() - 1].0 }
    }
}
