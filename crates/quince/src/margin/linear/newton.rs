//! Newton's method for the squared hinge and few columns (Mangasarian 2002; Keerthi and DeCoste 2005).
//!
//! ```text
//! minimise  ½‖w‖² + ½δb² + Σ C (t - w·x - b)²    over the rows on the wrong side of their margin
//! ```
//!
//! with δ the penalty of b. (Numbers are on the wrong side if they are more than ε off; what is beyond ε is squared.) As long as
//! this active set of rows stays the same, it is a ridge regression of their targets. Towards its solution some rows join the
//! active set and some leave it, so the objective along that direction is piecewise quadratic, and an exact line search needs one
//! product of all rows with the direction. A few steps reach the optimum; only where C is so large that nearly all rows end on
//! the edge of their margin does it take many.
//!
//! The negative derivatives of the losses are β, which gives the duality gap.

use super::coordinate_descent::{LinearSolution, Method};
use super::problem::relative_gap;
use super::system::System;
use super::{Coordinate, InterceptPenalty, LinearSvmModel, MIN_GAP, Problem};
use crate::error::{Error, Result};
use crate::margin::dual::balance;
use crate::matrix::Matrix;
use crate::run::{Run, StopReason};

/// The method has stalled once a step lowers the objective by less than this share of it.
const MIN_DECREASE: f64 = 1e-15;
/// Relative tolerance of the step length.
const LINE_SEARCH_TOLERANCE: f64 = 1e-10;

/// An iterate, or a direction.
#[derive(Clone)]
struct Point {
    weights: Matrix,
    bias: f64,
    /// Products w·x of the rows that take part.
    products: Vec<f64>,
}

/// The dual coefficients, gradient, objective and gap at an iterate.
struct Evaluation {
    beta: Vec<f64>,
    /// Negative gradient of the primal objective in w.
    negative_gradient: Matrix,
    primal: f64,
    /// Duality gap relative to the primal objective.
    gap: f64,
}

impl Problem<'_> {
    /// Minimises the primal objective of the squared hinge until the relative duality gap is at most `tolerance`.
    pub(super) fn newton(
        &self,
        from: Option<&LinearSvmModel>,
        tolerance: f64,
        max_steps: usize,
        run: &Run,
    ) -> Result<LinearSolution> {
        // Targets far from zero would cost digits.
        let centred = self.regression && self.intercept == InterceptPenalty::Free;
        let target_mean = if centred {
            self.coordinates.iter().map(|one| one.target / self.coordinates.len() as f64).sum()
        } else {
            0.0
        };
        let coordinates =
            self.coordinates.iter().map(|one| Coordinate { target: one.target - target_mean, ..*one }).collect();
        let mut solution = Problem { coordinates, ..*self }.minimise(
            from.map(|from| (from, target_mean)),
            tolerance,
            max_steps,
            run,
        )?;
        solution.primal_point.iter_mut().for_each(|(_, bias)| *bias += target_mean);
        Ok(solution)
    }

    fn minimise(
        &self,
        from: Option<(&LinearSvmModel, f64)>,
        tolerance: f64,
        max_steps: usize,
        run: &Run,
    ) -> Result<LinearSolution> {
        let mut point = run.finish(|| self.start_point(from, run))?;
        let (mut steps, mut last) = (0, f64::INFINITY);
        let (stop, beta) = loop {
            let now = run.finish(|| self.evaluate(&point, run))?;
            run.stage(|| format!("duality gap {:.1e} of {tolerance:.0e} after {steps} steps", now.gap));
            let stop = if now.gap <= tolerance {
                Some(StopReason::Converged)
            } else if steps >= max_steps {
                Some(StopReason::StepLimit)
            } else if last - now.primal <= MIN_DECREASE * now.primal {
                Some(if now.gap <= MIN_GAP { StopReason::Converged } else { StopReason::Stalled })
            } else {
                last = now.primal;
                match self.direction(&point, &now, run) {
                    Ok(Some(direction)) => {
                        self.move_along(&mut point, &direction, run)?;
                        steps += 1;
                        None
                    }
                    Ok(None) => Some(StopReason::Stalled),
                    Err(Error::OutOfTime { .. }) => Some(StopReason::Budget),
                    Err(other) => return Err(other),
                }
            };
            if let Some(stop) = stop {
                break (stop, now.beta);
            }
        };
        let support = beta.iter().filter(|beta| **beta != 0.0).count();
        let primal_point = Some((point.weights, point.bias));
        Ok(LinearSolution {
            beta,
            stop,
            iterations: steps,
            before: None,
            method: Method::Newton,
            kkt_violation: None,
            support,
            primal_point,
        })
    }

    /// Where to start: at the weights of a model, or at zero.
    fn start_point(&self, from: Option<(&LinearSvmModel, f64)>, run: &Run) -> Result<Point> {
        let columns = self.rows.columns();
        let mut start_point =
            Point { weights: Matrix::zeros(columns, 1), bias: 0.0, products: vec![0.0; self.coordinates.len()] };
        if let Some((model, target_mean)) = from.filter(|(model, _)| model.weights().len() == columns) {
            start_point.weights.values_mut().copy_from_slice(model.weights());
            start_point.products = self.products(&start_point.weights, run)?;
            start_point.bias = if self.intercept_penalty().is_finite() { model.bias() - target_mean } else { 0.0 };
        }
        self.minimise_over_bias(&mut start_point, run)?;
        Ok(start_point)
    }

    /// Dual coefficients β of all rows.
    fn dual_coefficients(&self, point: &Point) -> impl Iterator<Item = f64> {
        self.coordinates
            .iter()
            .zip(&point.products)
            .map(|(one, product)| self.dual_coefficient(one, product + point.bias))
    }

    fn evaluate(&self, point: &Point, run: &Run) -> Result<Evaluation> {
        let mut beta: Vec<f64> = self.dual_coefficients(point).collect();
        if self.intercept == InterceptPenalty::Free {
            balance(&mut beta);
        }
        let mut negative_gradient = self.weights_of(&beta, run)?;
        let primal = self.primal(&point.weights, point.bias, &point.products);
        let gap = relative_gap(primal, self.dual(&beta, &negative_gradient), self.negligible());
        negative_gradient
            .values_mut()
            .iter_mut()
            .zip(point.weights.values())
            .for_each(|(negative_gradient, weight)| *negative_gradient -= weight);
        Ok(Evaluation { beta, negative_gradient, primal, gap })
    }

    /// The direction to the ridge regression of the active rows, those whose loss is not zero.
    fn direction(&self, point: &Point, now: &Evaluation, run: &Run) -> Result<Option<Point>> {
        let active = || self.coordinates.iter().zip(&now.beta).filter(|(_, beta)| **beta != 0.0).map(|(one, _)| one);
        let some: Vec<usize> = active().map(|one| one.row).collect();
        let taken = (2 * some.len() < self.rows.rows()).then(|| self.rows.take(&some));
        let rows = taken.as_ref().map_or(self.rows, |taken| taken.features());
        let mut row_weights = vec![0.0; rows.rows()];
        active()
            .enumerate()
            .for_each(|(k, one)| row_weights[if taken.is_some() { k } else { one.row }] = 2.0 * one.cost);
        let intercept_penalty = self.intercept_penalty();
        if some.is_empty() {
            // No row has a loss: w can be shorter.
            let mut direction = point.clone();
            direction.weights.values_mut().iter_mut().chain(&mut direction.products).for_each(|value| *value = -*value);
            direction.bias = if intercept_penalty > 0.0 { -point.bias } else { 0.0 };
            return Ok(Some(direction));
        }
        let Some(system) = System::of(rows, row_weights, intercept_penalty, run)? else { return Ok(None) };
        let bias_term = if intercept_penalty.is_finite() {
            now.beta.iter().sum::<f64>() - intercept_penalty * point.bias
        } else {
            0.0
        };
        let (weights, bias) = system.solve(now.negative_gradient.clone(), bias_term);
        let products = self.products(&weights, run)?;
        Ok(Some(Point { weights, bias, products }))
    }

    /// Moves to the minimum along a direction, and then to that of b.
    fn move_along(&self, point: &mut Point, direction: &Point, run: &Run) -> Result<()> {
        let step = self.exact_line_search(point, direction, run)?;
        point
            .weights
            .values_mut()
            .iter_mut()
            .zip(direction.weights.values())
            .for_each(|(weight, by)| *weight += step * by);
        point.products.iter_mut().zip(&direction.products).for_each(|(product, by)| *product += step * by);
        point.bias += step * direction.bias;
        self.minimise_over_bias(point, run)
    }

    /// Moves b to where the objective is smallest.
    fn minimise_over_bias(&self, point: &mut Point, run: &Run) -> Result<()> {
        let intercept_penalty = self.intercept_penalty();
        if intercept_penalty.is_infinite() {
            return Ok(());
        }
        let (mut negative_gradient, mut curvature) = (-intercept_penalty * point.bias, intercept_penalty);
        for (one, dual_coefficient) in self
            .coordinates
            .iter()
            .zip(self.dual_coefficients(point))
            .filter(|(_, dual_coefficient)| *dual_coefficient != 0.0)
        {
            negative_gradient += dual_coefficient;
            curvature += 2.0 * one.cost;
        }
        if negative_gradient != 0.0 {
            let (weights, products) = (Matrix::zeros(point.weights.rows(), 1), vec![0.0; point.products.len()]);
            let direction = Point { weights, bias: negative_gradient / curvature, products };
            point.bias += self.exact_line_search(point, &direction, run)? * direction.bias;
        }
        Ok(())
    }

    /// The step to the minimum of the objective along a descent direction.
    fn exact_line_search(&self, point: &Point, direction: &Point, run: &Run) -> Result<f64> {
        let intercept_penalty = if self.intercept_penalty().is_finite() { self.intercept_penalty() } else { 0.0 };
        let product = |a: &Point, b: &Point| -> f64 {
            a.weights.values().iter().zip(b.weights.values()).map(|(a, b)| a * b).sum::<f64>()
                + intercept_penalty * a.bias * b.bias
        };
        let (penalty_slope, penalty_curvature) = (product(point, direction), product(direction, direction));
        // Slope and curvature of the objective along the direction, after a step.
        let derivatives = |step: f64| {
            let (mut slope, mut curvature) = (penalty_slope + step * penalty_curvature, penalty_curvature);
            for ((one, product), along) in self.coordinates.iter().zip(&point.products).zip(&direction.products) {
                let along = along + direction.bias;
                let dual_coefficient = self.dual_coefficient(one, product + point.bias + step * along);
                if dual_coefficient != 0.0 {
                    slope -= dual_coefficient * along;
                    curvature += 2.0 * one.cost * along * along;
                }
            }
            (slope, curvature)
        };
        let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..100 {
            run.check_cancelled()?;
            let (slope, curvature) = derivatives(step);
            if slope < 0.0 {
                low = step
            } else {
                high = step
            }
            let change = -slope / curvature;
            if slope == 0.0 || change.abs().min(high - low) <= LINE_SEARCH_TOLERANCE * step {
                break;
            }
            let next = step + change;
            step = if next > low && next < high {
                next
            } else if high.is_finite() {
                low + 0.5 * (high - low)
            } else {
                2.0 * step
            };
        }
        Ok(step)
    }
}
