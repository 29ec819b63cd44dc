//! The bias b, and the duality gap, which certifies how close a solution is to the optimum.
//!
//! For any feasible β and any b the primal objective is at least the dual one, and their difference is
//!
//! ```text
//! P - D = Σ highᵢ max(0, Fᵢ - ε - b) - lowᵢ max(0, b - ε - Fᵢ) - βᵢ (Fᵢ - b) + ε|βᵢ|,    F = t - Kβ
//! ```
//!
//! the duality gap: a sum of terms none of which is negative. The optimum lies between the two.

use super::dual::{Dual, Solution};
use crate::run::StopReason;

crate::choices! {
    /// How the bias b follows from the free support vectors, each of which gives an estimate.
    pub enum BiasRule {
        /// Their mean.
        #[default]
        Mean = "mean",
        /// Their median.
        Median = "median",
    }
}

/// The bias, and both objectives, whose difference is the duality gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GapCertificate {
    pub(super) bias: f64,
    pub(super) primal: f64,
    pub(super) dual: f64,
    /// Squared norm ‖w‖² = βᵀKβ.
    pub(super) squared_norm: f64,
}

impl Dual<'_> {
    /// The certificate of a solution. If the solver was stopped early, b is the one with the smallest gap.
    pub(super) fn certify(&self, solution: &Solution, rule: BiasRule, finished: bool) -> GapCertificate {
        // Where the gap alone is small, β may be a little off its bounds, and say nothing of b.
        let finished = finished && solution.relative_gap.is_none();
        let bias = if finished { self.bias(solution, rule) } else { self.best_bias(solution) };
        let squared_norm: f64 =
            (0..self.count()).map(|i| solution.beta[i] * (self.target[i] - solution.gradient[i])).sum::<f64>().max(0.0);
        let linear: f64 =
            (0..self.count()).map(|i| solution.beta[i] * self.target[i] - self.epsilon * solution.beta[i].abs()).sum();
        // β may be past its bounds, or too long: its best feasible multiple is a better lower bound.
        let longest = (0..self.count()).map(|i| self.feasible_share(solution.beta[i], i)).fold(1.0, f64::min);
        let length = if squared_norm > 0.0 { (linear / squared_norm).clamp(0.0, longest) } else { longest };
        let length = if finished { 1.0 } else { length };
        let dual = (length * linear - 0.5 * length * length * squared_norm).max(solution.lower_bound);
        let hard = self.high.iter().chain(&self.low).any(|bound| bound.is_infinite());
        let primal = if hard {
            // Every row must be beyond the margin: w and b are scaled up until the nearest is.
            let min_margin = self.min_margin(solution, bias);
            if min_margin > 0.0 { 0.5 * squared_norm / (min_margin * min_margin) } else { f64::INFINITY }
        } else {
            linear - 0.5 * squared_norm + (0..self.count()).map(|i| self.gap(solution, i, bias)).sum::<f64>()
        };
        GapCertificate { bias, primal, dual, squared_norm }
    }

    /// Whether a row is at its bound and, if the solver has converged, also beyond the margin: of duplicates on the margin, some
    /// are at their bound.
    pub(super) fn is_beyond(&self, solution: &Solution, i: usize, bias: f64) -> bool {
        let edge = if solution.stop == StopReason::Converged && solution.relative_gap.is_none() {
            self.epsilon + solution.kkt_violation
        } else {
            f64::NEG_INFINITY
        };
        let residual = solution.gradient[i] - bias;
        (solution.beta[i] >= self.high[i] && residual > edge) || (solution.beta[i] <= self.low[i] && -residual > edge)
    }

    /// The largest multiple of β, up to one, that is within its bounds.
    fn feasible_share(&self, beta: f64, i: usize) -> f64 {
        if beta > self.high[i] {
            self.high[i] / beta
        } else if beta < self.low[i] {
            self.low[i] / beta
        } else {
            1.0
        }
    }

    /// What a row adds to the duality gap.
    fn gap(&self, solution: &Solution, i: usize, bias: f64) -> f64 {
        let (beta, residual) = (solution.beta[i], solution.gradient[i] - bias);
        let above = if self.high[i] > 0.0 { self.high[i] * (residual - self.epsilon).max(0.0) } else { 0.0 };
        let below = if self.low[i] < 0.0 { -self.low[i] * (-residual - self.epsilon).max(0.0) } else { 0.0 };
        above + below - beta * residual + self.epsilon * beta.abs()
    }

    /// The smallest margin y f(x) of all rows.
    fn min_margin(&self, solution: &Solution, bias: f64) -> f64 {
        let margin = |i: usize| 1.0 - self.target[i] * (solution.gradient[i] - bias);
        (0..self.count()).map(margin).fold(f64::INFINITY, f64::min)
    }

    /// The gradient of a free support vector is b (but for ε); without any, b is midway between the KKT bounds.
    fn bias(&self, solution: &Solution, rule: BiasRule) -> f64 {
        let free = |i: &usize| {
            solution.beta[*i] > self.low[*i]
                && solution.beta[*i] < self.high[*i]
                && (self.epsilon == 0.0 || solution.beta[*i] != 0.0)
        };
        let one = |i: usize| solution.gradient[i] - self.epsilon * if solution.beta[i] > 0.0 { 1.0 } else { -1.0 };
        let mut all: Vec<f64> = (0..self.count())
            .filter(free)
            .map(|i| if self.epsilon > 0.0 { one(i) } else { solution.gradient[i] })
            .collect();
        if all.is_empty() {
            let (max_up, min_down) = self.kkt_bounds(solution);
            return match (max_up.is_finite(), min_down.is_finite()) {
                (true, true) => 0.5 * (max_up + min_down),
                (true, false) => max_up,
                (false, true) => min_down,
                (false, false) => 0.0,
            };
        }
        match rule {
            BiasRule::Mean => all.iter().sum::<f64>() / all.len() as f64,
            BiasRule::Median => {
                all.sort_unstable_by(f64::total_cmp);
                let half = all.len() / 2;
                if all.len() % 2 == 1 { all[half] } else { 0.5 * (all[half - 1] + all[half]) }
            }
        }
    }

    /// The b with the smallest gap: the gap is convex and piecewise linear in b, with breakpoints at F ± ε, where its derivative
    /// rises by a bound of β.
    fn best_bias(&self, solution: &Solution) -> f64 {
        let mut breakpoints: Vec<(f64, f64)> = Vec::new();
        let mut derivative: f64 = solution.beta.iter().sum();
        for i in 0..self.count() {
            if self.high[i] > 0.0 && self.high[i].is_finite() {
                derivative -= self.high[i];
                breakpoints.push((solution.gradient[i] - self.epsilon, self.high[i]));
            }
            if self.low[i] < 0.0 && self.low[i].is_finite() {
                breakpoints.push((solution.gradient[i] + self.epsilon, -self.low[i]));
            }
        }
        breakpoints.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (place, rise) in &breakpoints {
            derivative += rise;
            if derivative >= 0.0 {
                return *place;
            }
        }
        if breakpoints.is_empty() { self.bias(solution, BiasRule::Mean) } else { breakpoints[breakpoints.len() - 1].0 }
    }
}
