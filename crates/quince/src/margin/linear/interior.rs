//! A primal-dual interior-point method for linear models of few columns (Ferris and Munson 2002, with the predictor-corrector
//! steps of Mehrotra 1992).
//!
//! β is split by sign, β = Σ sα with s = ±1 and α ≥ 0: a row of a class has one side, a number has two. With q = s t - ε the KKT
//! conditions of each side are
//!
//! ```text
//! s (w·x + b) + dα - q = z - u,    α z = μ,  (C - α) u = μ,    w = Σ s α x,  δb = Σ s α    with μ = 0
//! ```
//!
//! where δ is the penalty of b (zero if it is free), z and u are the multipliers of the bounds, and they and all slacks are never
//! negative. Newton's method follows the central path while the barrier parameter μ > 0 falls to zero. The unknowns of single rows
//! are eliminated, which leaves one equation per column, and one for b:
//!
//! ```text
//! (1 + Σ θ x xᵀ) Δw + Σ θ x Δb = Σ s (α + θh) x - w        θ = 1 / (d + z/α + u/(C - α))
//! Σ θ x·Δw + (δ + Σ θ) Δb     = Σ s (α + θh) - δb         Δα = θ (h - s (x·Δw + Δb))
//! ```
//!
//! so a step costs what a weighted least-squares fit costs, and a few dozen of them reach any accuracy, however columns are scaled
//! and however large C is.

use super::coordinate_descent::{LinearSolution, Method};
use super::system::System;
use super::{Coordinate, InterceptPenalty, Problem};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::run::{Run, StopReason};

/// A step goes at most this share of the way to the nearest bound.
const BOUNDARY_FRACTION: f64 = 0.995;
/// The method has stalled once steps are shorter than this.
const MIN_STEP: f64 = 1e-6;
/// Steps of at least this length need no centrality corrections.
const LONG_STEP: f64 = 0.9;
/// How much longer a correction tries to make a step.
const STEP_INCREASE: f64 = 0.3;
/// The largest number of corrections per step.
const MAX_CORRECTIONS: usize = 3;
/// Complementarity products from this share of μ to its inverse share are well centred.
const CENTRALITY: f64 = 0.1;
/// The method has stalled after this many steps without improvement.
const MAX_STEPS_WITHOUT_IMPROVEMENT: usize = 50;
/// A warm start is at least this share of C away from bounds.
const MIN_DISTANCE_FROM_BOUNDS: f64 = 1e-3;
/// The share of the first infeasibility that may be left at convergence.
const FEASIBILITY_TOLERANCE: f64 = 1e-9;

/// One sign of the β of a row: its α, slack and multipliers.
#[derive(Clone, Copy)]
struct Side {
    /// The coordinate of the row.
    coordinate: usize,
    /// Sign s of its part of β.
    sign: f64,
    /// Linear coefficient of the dual objective, q = s t - ε.
    linear: f64,
    /// Dual coefficient α, which is also the slack of its lower bound.
    alpha: f64,
    /// Slack of the upper bound, C - α, which may be infinite.
    upper_slack: f64,
    /// Multiplier z of the lower bound.
    lower_multiplier: f64,
    /// Multiplier u of the upper bound.
    upper_multiplier: f64,
}

/// The step of a side: Δα, Δz and Δu.
#[derive(Clone, Copy)]
struct SideStep {
    alpha: f64,
    lower_multiplier: f64,
    upper_multiplier: f64,
}

/// Complementarity products α z and (C - α) u, or their targets to first order.
#[derive(Clone, Copy, Default)]
struct Products {
    lower: f64,
    upper: f64,
}

impl Side {
    /// The start at w = 0, where both products are μ: α solves μ/α - μ/(C - α) = dα - a, with a = q - s b, the advantage.
    fn new(coordinate: usize, sign: f64, advantage: f64, one: &Coordinate, mu: f64) -> Side {
        let cost = one.cost;
        let (alpha, upper_slack) = if one.is_bounded() {
            let half = 0.5 * advantage.abs() * cost;
            let root = mu.hypot(half);
            let nearer = cost * (mu / (mu + root + half));
            let farther = 0.5 * cost + half * (0.5 * cost / (mu + root));
            if advantage > 0.0 { (farther, nearer) } else { (nearer, farther) }
        } else {
            let root = advantage.hypot(2.0 * (one.diagonal * mu).sqrt());
            let alpha =
                if advantage > 0.0 { (advantage + root) / (2.0 * one.diagonal) } else { 2.0 * mu / (root - advantage) };
            (alpha, f64::INFINITY)
        };
        Side {
            coordinate,
            sign,
            linear: 0.0,
            alpha,
            upper_slack,
            lower_multiplier: mu / alpha,
            upper_multiplier: mu / upper_slack,
        }
    }

    /// The side with α near a given one, and multipliers by the gradient there.
    fn moved_to(self, alpha: f64, score: f64, diagonal: f64, mu: f64) -> Side {
        let cost = self.alpha + self.upper_slack;
        let least = MIN_DISTANCE_FROM_BOUNDS * if cost.is_finite() { cost } else { self.alpha };
        let alpha = alpha.clamp(least, cost - least);
        let (upper_slack, gradient) = (cost - alpha, self.sign * score + diagonal * alpha - self.linear);
        let (lower_multiplier, upper_multiplier) =
            (gradient.max(0.0) + mu / alpha, (-gradient).max(0.0) + mu / upper_slack);
        Side {
            alpha,
            upper_slack,
            lower_multiplier,
            upper_multiplier: if cost.is_finite() { upper_multiplier } else { 0.0 },
            ..self
        }
    }

    /// The sum of its complementarity products, α z + (C - α) u.
    fn complementarity(&self) -> f64 {
        self.alpha * self.lower_multiplier
            + if self.is_bounded() { self.upper_slack * self.upper_multiplier } else { 0.0 }
    }

    /// Weight θ of the row in the Newton system.
    fn theta(&self, diagonal: f64) -> f64 {
        1.0 / (diagonal + self.lower_multiplier / self.alpha + self.upper_multiplier / self.upper_slack)
    }

    /// Residual h on the right side of the Newton system.
    fn residual(&self, score: f64, diagonal: f64, target: &Products) -> f64 {
        let gradient = self.sign * score + diagonal * self.alpha - self.linear;
        target.lower / self.alpha - target.upper / self.upper_slack - gradient
    }

    /// The steps of the multipliers that go with a step of α.
    fn step_for(&self, alpha: f64, target: &Products) -> SideStep {
        let lower_multiplier = (target.lower - self.lower_multiplier * alpha) / self.alpha - self.lower_multiplier;
        let upper_multiplier =
            (target.upper + self.upper_multiplier * alpha) / self.upper_slack - self.upper_multiplier;
        SideStep { alpha, lower_multiplier, upper_multiplier }
    }

    /// Both complementarity products after a step.
    fn products_after(&self, by: &SideStep, step: f64) -> Products {
        let upper = if self.is_bounded() {
            (self.upper_slack - step * by.alpha) * (self.upper_multiplier + step * by.upper_multiplier)
        } else {
            0.0
        };
        Products { lower: (self.alpha + step * by.alpha) * (self.lower_multiplier + step * by.lower_multiplier), upper }
    }

    /// Target μ with the second-order correction of Mehrotra.
    fn corrected_target(&self, mu: f64, by: &SideStep) -> Products {
        let upper = if self.is_bounded() { mu + by.alpha * by.upper_multiplier } else { 0.0 };
        Products { lower: mu - by.alpha * by.lower_multiplier, upper }
    }

    /// A target that keeps both products near μ after a step (Gondzio's centrality correction).
    fn centred_target(&self, mu: f64, by: &SideStep, step: f64, target: &Products) -> Products {
        let back = |product: f64| (product.clamp(CENTRALITY * mu, mu / CENTRALITY) - product).max(-mu / CENTRALITY);
        let products_after = self.products_after(by, step);
        let upper = if self.is_bounded() { target.upper + back(products_after.upper) } else { 0.0 };
        Products { lower: target.lower + back(products_after.lower), upper }
    }

    fn is_bounded(&self) -> bool {
        self.upper_slack.is_finite()
    }

    /// The longest step that keeps slacks and multipliers above zero.
    fn max_step(&self, by: &SideStep) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { value / -change } else { f64::INFINITY };
        let up = until(self.alpha, by.alpha).min(until(self.upper_slack, -by.alpha));
        up.min(until(self.lower_multiplier, by.lower_multiplier)).min(until(self.upper_multiplier, by.upper_multiplier))
    }

    fn advance(&mut self, by: &SideStep, step: f64) {
        self.alpha += step * by.alpha;
        self.upper_slack -= step * by.alpha;
        self.lower_multiplier += step * by.lower_multiplier;
        self.upper_multiplier += step * by.upper_multiplier;
    }
}

/// The current iterate.
struct Interior<'a> {
    problem: &'a Problem<'a>,
    sides: Vec<Side>,
    weights: Matrix,
    bias: f64,
    /// Products w·x of the rows that take part.
    products: Vec<f64>,
}

impl Problem<'_> {
    /// Follows the central path until the relative duality gap is at most `tolerance`.
    pub(super) fn interior_point(
        &self,
        start: Option<Vec<f64>>,
        tolerance: f64,
        max_steps: usize,
        run: &Run,
    ) -> Result<LinearSolution> {
        let mut state = run.finish(|| Interior::new(self, start, run))?;
        // The share of the first infeasibility that is left.
        let mut infeasibility = 1.0;
        let mut steps = 0;
        // The smallest error so far, and after how many steps it was reached.
        let mut best = (f64::INFINITY, 0);
        let stop = loop {
            let complementarity: f64 = state.sides.iter().map(Side::complementarity).sum();
            let primal = self.primal(&state.weights, state.bias, &state.products).max(self.negligible());
            run.stage(|| {
                format!("duality gap {:.1e} of {tolerance:.0e} after {steps} steps", complementarity / primal)
            });
            let error = infeasibility + complementarity / primal;
            if error < 0.9 * best.0 {
                best = (error, steps);
            }
            if infeasibility <= FEASIBILITY_TOLERANCE && complementarity <= tolerance * primal {
                break StopReason::Converged;
            }
            if steps >= max_steps {
                break StopReason::StepLimit;
            }
            let step = if steps - best.1 < MAX_STEPS_WITHOUT_IMPROVEMENT {
                state.step(complementarity, run)
            } else {
                Ok(None)
            };
            match step {
                Ok(Some(step)) => infeasibility *= 1.0 - step,
                Ok(None) => break StopReason::Stalled,
                Err(Error::OutOfTime { .. }) => break StopReason::Budget,
                Err(other) => return Err(other),
            }
            steps += 1;
        };
        Ok(state.into_solution(stop, steps))
    }
}

impl<'a> Interior<'a> {
    fn new(problem: &'a Problem<'a>, start: Option<Vec<f64>>, run: &Run) -> Result<Interior<'a>> {
        let mean = problem.coordinates.iter().map(|one| one.target).sum::<f64>() / problem.coordinates.len() as f64;
        let mut bias = if problem.regression && problem.intercept == InterceptPenalty::Free { mean } else { 0.0 };
        let mut all: Vec<(usize, f64)> = Vec::new();
        for (coordinate, one) in problem.coordinates.iter().enumerate() {
            let signs = [1.0, -1.0].into_iter().filter(|sign| problem.regression || sign * one.target > 0.0);
            all.extend(signs.map(|sign| (coordinate, sign)));
        }
        let advantage =
            |coordinate: usize, sign: f64| sign * (problem.coordinates[coordinate].target - bias) - problem.epsilon;
        // μ is the mean product if multipliers are about the unit of the target away from zero.
        let product = |&(coordinate, sign): &(usize, f64)| {
            let (one, advantage) = (&problem.coordinates[coordinate], advantage(coordinate, sign));
            let lower_multiplier = advantage.abs() + problem.unit;
            let upper_multiplier = advantage.max(0.0) + (advantage.max(0.0) + problem.unit);
            if one.is_bounded() {
                one.cost * upper_multiplier * (lower_multiplier / (upper_multiplier + lower_multiplier))
            } else {
                upper_multiplier / one.diagonal * lower_multiplier
            }
        };
        let mu = all.iter().map(product).sum::<f64>() / all.len() as f64;
        let side = |&(coordinate, sign): &(usize, f64)| {
            let one = &problem.coordinates[coordinate];
            let linear = sign * one.target - problem.epsilon;
            Side { linear, ..Side::new(coordinate, sign, advantage(coordinate, sign), one, mu) }
        };
        let mut sides: Vec<Side> = all.iter().map(side).collect();
        let mut weights = Matrix::zeros(problem.rows.columns(), 1);
        let mut products = vec![0.0; problem.coordinates.len()];
        let mut gap = problem.primal(&weights, bias, &products);
        let start = start.map(|beta| -> Result<_> {
            let weights = problem.weights_of(&beta, run)?;
            let products = problem.products(&weights, run)?;
            let bias = problem.bias_of(&beta, &products);
            let gap = problem.primal(&weights, bias, &products) - problem.dual(&beta, &weights);
            Ok((beta, weights, products, bias, gap))
        });
        // A warm start from an early step may be worse than none.
        if let Some(start) = start.transpose()?.filter(|start| start.4 < gap) {
            let beta;
            (beta, weights, products, bias, gap) = start;
            let mu = gap.max(f64::MIN_POSITIVE) / (2.0 * sides.len() as f64);
            for side in &mut sides {
                let (score, one) = (products[side.coordinate] + bias, &problem.coordinates[side.coordinate]);
                *side = side.moved_to(side.sign * beta[side.coordinate], score, one.diagonal, mu);
            }
        }
        Ok(Interior { problem, sides, weights, bias, products })
    }

    /// A predictor-corrector step: the predictor, towards μ = 0, suggests μ; the corrector goes there, with centrality corrections
    /// where single products keep it short (Gondzio 1996). Returns its length; `None` if there is no step.
    fn step(&mut self, complementarity: f64, run: &Run) -> Result<Option<f64>> {
        let problem = self.problem;
        let thetas: Vec<f64> =
            self.sides.iter().map(|side| side.theta(problem.coordinates[side.coordinate].diagonal)).collect();
        let mut by_row = vec![0.0; problem.rows.rows()];
        self.sides
            .iter()
            .zip(&thetas)
            .for_each(|(side, theta)| by_row[problem.coordinates[side.coordinate].row] += theta);
        let Some(system) = System::of(problem.rows, by_row, problem.intercept_penalty(), run)? else { return Ok(None) };
        let sum = |target: Products| target.lower + target.upper;
        let predictor = self.direction(&system, &thetas, &vec![Products::default(); self.sides.len()], run)?.steps;
        let max_step = self.max_step(&predictor).min(1.0);
        let left: f64 =
            self.sides.iter().zip(&predictor).map(|(side, by)| sum(side.products_after(by, max_step))).sum();
        let products: usize = self.sides.iter().map(|side| 1 + usize::from(side.is_bounded())).sum();
        let mu = (left / complementarity).powi(3) * complementarity / products as f64;
        let mut targets: Vec<Products> =
            self.sides.iter().zip(&predictor).map(|(side, by)| side.corrected_target(mu, by)).collect();
        let mut by = self.direction(&system, &thetas, &targets, run)?;
        let mut step = (BOUNDARY_FRACTION * self.max_step(&by.steps)).min(1.0);
        for _ in 0..MAX_CORRECTIONS {
            if step >= LONG_STEP {
                break;
            }
            let longer_step = (step + STEP_INCREASE).min(1.0);
            let sides = self.sides.iter().zip(&by.steps).zip(&targets);
            let nearer: Vec<Products> =
                sides.map(|((side, by), target)| side.centred_target(mu, by, longer_step, target)).collect();
            let other = self.direction(&system, &thetas, &nearer, run)?;
            let longer = (BOUNDARY_FRACTION * self.max_step(&other.steps)).min(1.0);
            if longer < step + 0.1 * STEP_INCREASE {
                break;
            }
            (targets, by, step) = (nearer, other, longer);
        }
        // Rounding leaves no better step.
        if !(step > MIN_STEP && by.bias.is_finite()) {
            return Ok(None);
        }
        self.sides.iter_mut().zip(&by.steps).for_each(|(side, by)| side.advance(by, step));
        self.products.iter_mut().zip(&by.products).for_each(|(product, by)| *product += step * by);
        self.weights.values_mut().iter_mut().zip(by.weights.values()).for_each(|(weight, by)| *weight += step * by);
        self.bias += step * by.bias;
        Ok(Some(step))
    }

    fn max_step(&self, steps: &[SideStep]) -> f64 {
        self.sides.iter().zip(steps).map(|(side, by)| side.max_step(by)).fold(f64::INFINITY, f64::min)
    }

    /// The Newton direction to some targets.
    fn direction(&self, system: &System, thetas: &[f64], targets: &[Products], run: &Run) -> Result<Direction> {
        let problem = self.problem;
        let residual = |(side, target): (&Side, &Products)| {
            side.residual(
                self.products[side.coordinate] + self.bias,
                problem.coordinates[side.coordinate].diagonal,
                target,
            )
        };
        // θh of every side.
        let mut residuals: Vec<f64> = self.sides.iter().zip(targets).map(residual).collect();
        residuals.iter_mut().zip(thetas).for_each(|(residual, theta)| *residual *= theta);
        let mut by_row = Matrix::zeros(problem.rows.rows(), 1);
        let mut sum = 0.0;
        for (side, residual) in self.sides.iter().zip(&residuals) {
            let signed = side.sign * (side.alpha + residual);
            by_row[(problem.coordinates[side.coordinate].row, 0)] += signed;
            sum += signed;
        }
        let mut right = problem.rows.transposed_multiply(&by_row, run)?;
        right.values_mut().iter_mut().zip(self.weights.values()).for_each(|(right, weight)| *right -= weight);
        let intercept_penalty = problem.intercept_penalty();
        let bias_term = if intercept_penalty.is_finite() { sum - intercept_penalty * self.bias } else { 0.0 };
        let (weights, bias) = system.solve(right, bias_term);
        let products = problem.products(&weights, run)?;
        let steps =
            self.sides.iter().zip(targets).zip(&residuals).zip(thetas).map(|(((side, target), residual), theta)| {
                side.step_for(residual - theta * side.sign * (products[side.coordinate] + bias), target)
            });
        Ok(Direction { steps: steps.collect(), weights, bias, products })
    }

    /// The solution. Of α and z one is zero at the optimum: the smaller one, each in its unit.
    fn into_solution(self, stop: StopReason, steps: usize) -> LinearSolution {
        let problem = self.problem;
        let mut beta = vec![0.0; problem.coordinates.len()];
        let mut supports = vec![false; problem.coordinates.len()];
        for side in &self.sides {
            let cost = (side.alpha + side.upper_slack).min(1.0 / problem.coordinates[side.coordinate].diagonal);
            beta[side.coordinate] += side.sign * side.alpha;
            supports[side.coordinate] |= side.alpha * problem.unit > side.lower_multiplier * cost;
        }
        beta.iter_mut().zip(&problem.coordinates).for_each(|(beta, one)| *beta = beta.clamp(one.low, one.high));
        let support = supports.into_iter().filter(|holds| *holds).count();
        let primal_point = Some((self.weights, self.bias));
        LinearSolution {
            beta,
            stop,
            iterations: steps,
            before: None,
            method: Method::Interior,
            kkt_violation: None,
            support,
            primal_point,
        }
    }
}

/// A Newton direction.
struct Direction {
    steps: Vec<SideStep>,
    weights: Matrix,
    bias: f64,
    /// Products x·Δw of the rows that take part.
    products: Vec<f64>,
}
