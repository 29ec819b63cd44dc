//! An interior-point method for linear machines of few columns (Ferris and Munson 2002, with the steps of Mehrotra 1992).
//!
//! A row pulls at w from one side, or a number from both: β = Σ sα with s = ±1 and α ≥ 0, and q = s t - ε is what a side gains. At
//! the optimum, for the slope of each side,
//!
//! ```text
//! s (w·x + b) + dα - q = z - u,    α z = μ,  (C - α) u = μ,    w = Σ s α x,  δb = Σ s α    with μ = 0
//! ```
//!
//! where δ is what b costs (nothing if it is free), and z, u and all distances from bounds are never negative. While μ > 0 falls to
//! zero, Newton's method follows the solution. What belongs to single rows is eliminated, which leaves as many equations as there are
//! columns, and one for b:
//!
//! ```text
//! (1 + Σ θ x xᵀ) Δw + Σ θ x Δb = Σ s (α + θh) x - w        θ = 1 / (d + z/α + u/(C - α))
//! Σ θ x·Δw + (δ + Σ θ) Δb     = Σ s (α + θh) - δb         Δα = θ (h - s (x·Δw + Δb))
//! ```
//!
//! so a step costs what a weighted least-squares fit costs, and a few dozen of them reach any accuracy, however columns are scaled
//! and however large C is.

use super::descent::{Descent, Method};
use super::system::System;
use super::{Constant, Coordinate, Problem};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::run::{Run, Stop};

/// A step ends at this share of the way to the nearest bound.
const SHORT_OF: f64 = 0.995;
/// Steps shorter than this lead nowhere.
const SHORTEST: f64 = 1e-6;
/// A step of this length need not be made longer; others are made longer by so much, so many times.
const LONG_ENOUGH: f64 = 0.9;
const LONGER: f64 = 0.3;
const CORRECTIONS: usize = 3;
/// Products between this share of μ and as many times of it are near to it.
const NEAR: f64 = 0.1;
/// So many steps that lead no closer are the last.
const PATIENCE: usize = 50;
/// A fit that goes on starts at least this share of C away from bounds.
const AWAY: f64 = 1e-3;
/// What is left of the first errors in all equations but those of the products when the gap counts.
const FEASIBLE: f64 = 1e-9;

/// One side of a row.
#[derive(Clone, Copy)]
struct Side {
    /// Which of the rows that take part.
    of: usize,
    /// s
    sign: f64,
    /// q
    gain: f64,
    /// α
    alpha: f64,
    /// C - α, which may be infinite.
    room: f64,
    /// z
    below: f64,
    /// u
    above: f64,
}

/// How a side moves: Δα, Δz and Δu.
#[derive(Clone, Copy)]
struct Move {
    alpha: f64,
    below: f64,
    above: f64,
}

/// What α z and (C - α) u are to become, if products of small changes are left out.
#[derive(Clone, Copy, Default)]
struct Aim {
    below: f64,
    above: f64,
}

impl Side {
    /// At w = 0, with as much ahead of the score there, and both products μ: α solves μ/α - μ/(C - α) = dα - ahead.
    fn new(of: usize, sign: f64, ahead: f64, one: &Coordinate, mu: f64) -> Side {
        let cost = one.cost;
        let (alpha, room) = if one.is_bounded() {
            let half = 0.5 * ahead.abs() * cost;
            let root = mu.hypot(half);
            let nearer = cost * (mu / (mu + root + half));
            let farther = 0.5 * cost + half * (0.5 * cost / (mu + root));
            if ahead > 0.0 { (farther, nearer) } else { (nearer, farther) }
        } else {
            let root = ahead.hypot(2.0 * (one.diagonal * mu).sqrt());
            let alpha = if ahead > 0.0 { (ahead + root) / (2.0 * one.diagonal) } else { 2.0 * mu / (root - ahead) };
            (alpha, f64::INFINITY)
        };
        Side { of, sign, gain: 0.0, alpha, room, below: mu / alpha, above: mu / room }
    }

    /// The same with α near to a given one, and z and u by the slope there.
    fn moved_to(self, alpha: f64, score: f64, diagonal: f64, mu: f64) -> Side {
        let cost = self.alpha + self.room;
        let least = AWAY * if cost.is_finite() { cost } else { self.alpha };
        let alpha = alpha.clamp(least, cost - least);
        let (room, slope) = (cost - alpha, self.sign * score + diagonal * alpha - self.gain);
        let (below, above) = (slope.max(0.0) + mu / alpha, (-slope).max(0.0) + mu / room);
        Side { alpha, room, below, above: if cost.is_finite() { above } else { 0.0 }, ..self }
    }

    /// α z + (C - α) u
    fn apart(&self) -> f64 {
        self.alpha * self.below + if self.is_bounded() { self.room * self.above } else { 0.0 }
    }

    /// θ
    fn give(&self, diagonal: f64) -> f64 {
        1.0 / (diagonal + self.below / self.alpha + self.above / self.room)
    }

    /// h
    fn pull(&self, score: f64, diagonal: f64, aim: &Aim) -> f64 {
        let slope = self.sign * score + diagonal * self.alpha - self.gain;
        aim.below / self.alpha - aim.above / self.room - slope
    }

    /// How all three move with α.
    fn along(&self, alpha: f64, aim: &Aim) -> Move {
        let below = (aim.below - self.below * alpha) / self.alpha - self.below;
        let above = (aim.above + self.above * alpha) / self.room - self.above;
        Move { alpha, below, above }
    }

    /// Both products after a step.
    fn after(&self, by: &Move, step: f64) -> Aim {
        let above =
            if self.is_bounded() { (self.room - step * by.alpha) * (self.above + step * by.above) } else { 0.0 };
        Aim { below: (self.alpha + step * by.alpha) * (self.below + step * by.below), above }
    }

    /// An aim at μ that makes up for what a move leaves out.
    fn towards(&self, mu: f64, by: &Move) -> Aim {
        let above = if self.is_bounded() { mu + by.alpha * by.above } else { 0.0 };
        Aim { below: mu - by.alpha * by.below, above }
    }

    /// An aim that keeps both products near μ after a step: what would be far from it is brought back.
    fn kept_near(&self, mu: f64, by: &Move, step: f64, aim: &Aim) -> Aim {
        let back = |product: f64| (product.clamp(NEAR * mu, mu / NEAR) - product).max(-mu / NEAR);
        let after = self.after(by, step);
        let above = if self.is_bounded() { aim.above + back(after.above) } else { 0.0 };
        Aim { below: aim.below + back(after.below), above }
    }

    fn is_bounded(&self) -> bool {
        self.room.is_finite()
    }

    /// How far it can go.
    fn reach(&self, by: &Move) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { value / -change } else { f64::INFINITY };
        let up = until(self.alpha, by.alpha).min(until(self.room, -by.alpha));
        up.min(until(self.below, by.below)).min(until(self.above, by.above))
    }

    fn go(&mut self, by: &Move, step: f64) {
        self.alpha += step * by.alpha;
        self.room -= step * by.alpha;
        self.below += step * by.below;
        self.above += step * by.above;
    }
}

/// Where the method stands.
struct Interior<'a> {
    problem: &'a Problem<'a>,
    sides: Vec<Side>,
    weights: Matrix,
    bias: f64,
    /// w·x of the rows that take part.
    products: Vec<f64>,
}

impl Problem<'_> {
    /// Follows the path until the gap is at most a share of the objective.
    pub(super) fn follow(&self, start: Option<Vec<f64>>, share: f64, most: usize, run: &Run) -> Result<Descent> {
        let mut at = run.finish(|| Interior::new(self, start, run))?;
        // The share of the first errors that is left.
        let mut infeasible = 1.0;
        let mut passes = 0;
        // The least that was off so far, and after how many steps.
        let mut lowest = (f64::INFINITY, 0);
        let stop = loop {
            let apart: f64 = at.sides.iter().map(Side::apart).sum();
            let primal = self.primal(&at.weights, at.bias, &at.products).max(self.negligible());
            run.tell(|| format!("gap {:.1e} of {share:.0e} after {passes} steps", apart / primal));
            let off = infeasible + apart / primal;
            if off < 0.9 * lowest.0 {
                lowest = (off, passes);
            }
            if infeasible <= FEASIBLE && apart <= share * primal {
                break Stop::Converged;
            }
            if passes >= most {
                break Stop::StepLimit;
            }
            let step = if passes - lowest.1 < PATIENCE { at.step(apart, run) } else { Ok(None) };
            match step {
                Ok(Some(step)) => infeasible *= 1.0 - step,
                Ok(None) => break Stop::Stalled,
                Err(Error::OutOfTime { .. }) => break Stop::Budget,
                Err(other) => return Err(other),
            }
            passes += 1;
        };
        Ok(at.end(stop, passes))
    }
}

impl<'a> Interior<'a> {
    fn new(problem: &'a Problem<'a>, start: Option<Vec<f64>>, run: &Run) -> Result<Interior<'a>> {
        let mean = problem.of.iter().map(|one| one.target).sum::<f64>() / problem.of.len() as f64;
        let mut bias = if problem.numbers && problem.constant == Constant::Free { mean } else { 0.0 };
        let mut all: Vec<(usize, f64)> = Vec::new();
        for (of, one) in problem.of.iter().enumerate() {
            let signs = [1.0, -1.0].into_iter().filter(|sign| problem.numbers || sign * one.target > 0.0);
            all.extend(signs.map(|sign| (of, sign)));
        }
        let ahead = |of: usize, sign: f64| sign * (problem.of[of].target - bias) - problem.insensitive;
        // μ is what products are on average if z is about the unit of the target away from zero.
        let product = |&(of, sign): &(usize, f64)| {
            let (one, ahead) = (&problem.of[of], ahead(of, sign));
            let below = ahead.abs() + problem.unit;
            let above = ahead.max(0.0) + (ahead.max(0.0) + problem.unit);
            if one.is_bounded() { one.cost * above * (below / (above + below)) } else { above / one.diagonal * below }
        };
        let mu = all.iter().map(product).sum::<f64>() / all.len() as f64;
        let side = |&(of, sign): &(usize, f64)| {
            let one = &problem.of[of];
            let gain = sign * one.target - problem.insensitive;
            Side { gain, ..Side::new(of, sign, ahead(of, sign), one, mu) }
        };
        let mut sides: Vec<Side> = all.iter().map(side).collect();
        let mut weights = Matrix::zeros(problem.rows.columns(), 1);
        let mut products = vec![0.0; problem.of.len()];
        let mut gap = problem.primal(&weights, bias, &products);
        let start = start.map(|beta| -> Result<_> {
            let weights = problem.weights_of(&beta, run)?;
            let products = problem.products(&weights, run)?;
            let bias = problem.constant_of(&beta, &products);
            let gap = problem.primal(&weights, bias, &products) - problem.dual(&beta, &weights);
            Ok((beta, weights, products, bias, gap))
        });
        // Coefficients from an early step may be worse than none.
        if let Some(start) = start.transpose()?.filter(|start| start.4 < gap) {
            let beta;
            (beta, weights, products, bias, gap) = start;
            let mu = gap.max(f64::MIN_POSITIVE) / (2.0 * sides.len() as f64);
            for side in &mut sides {
                let (score, one) = (products[side.of] + bias, &problem.of[side.of]);
                *side = side.moved_to(side.sign * beta[side.of], score, one.diagonal, mu);
            }
        }
        Ok(Interior { problem, sides, weights, bias, products })
    }

    /// A step of Newton's method: first to see how far one towards μ = 0 would lead, then towards the μ that this suggests, and
    /// again where single products keep it short (Gondzio 1996). How long it was; `None` if there is none.
    fn step(&mut self, apart: f64, run: &Run) -> Result<Option<f64>> {
        let problem = self.problem;
        let thetas: Vec<f64> = self.sides.iter().map(|side| side.give(problem.of[side.of].diagonal)).collect();
        let mut by_row = vec![0.0; problem.rows.rows()];
        self.sides.iter().zip(&thetas).for_each(|(side, theta)| by_row[problem.of[side.of].row] += theta);
        let Some(system) = System::of(problem.rows, by_row, problem.price(), run)? else { return Ok(None) };
        let sum = |aim: Aim| aim.below + aim.above;
        let tried = self.direction(&system, &thetas, &vec![Aim::default(); self.sides.len()], run)?.moves;
        let reach = self.reach(&tried).min(1.0);
        let left: f64 = self.sides.iter().zip(&tried).map(|(side, by)| sum(side.after(by, reach))).sum();
        let products: usize = self.sides.iter().map(|side| 1 + usize::from(side.is_bounded())).sum();
        let mu = (left / apart).powi(3) * apart / products as f64;
        let mut aims: Vec<Aim> = self.sides.iter().zip(&tried).map(|(side, by)| side.towards(mu, by)).collect();
        let mut by = self.direction(&system, &thetas, &aims, run)?;
        let mut step = (SHORT_OF * self.reach(&by.moves)).min(1.0);
        for _ in 0..CORRECTIONS {
            if step >= LONG_ENOUGH {
                break;
            }
            let wished = (step + LONGER).min(1.0);
            let sides = self.sides.iter().zip(&by.moves).zip(&aims);
            let nearer: Vec<Aim> = sides.map(|((side, by), aim)| side.kept_near(mu, by, wished, aim)).collect();
            let other = self.direction(&system, &thetas, &nearer, run)?;
            let longer = (SHORT_OF * self.reach(&other.moves)).min(1.0);
            if longer < step + 0.1 * LONGER {
                break;
            }
            (aims, by, step) = (nearer, other, longer);
        }
        // Where rounding rules there is no way on.
        if !(step > SHORTEST && by.bias.is_finite()) {
            return Ok(None);
        }
        self.sides.iter_mut().zip(&by.moves).for_each(|(side, by)| side.go(by, step));
        self.products.iter_mut().zip(&by.products).for_each(|(product, by)| *product += step * by);
        self.weights.values_mut().iter_mut().zip(by.weights.values()).for_each(|(weight, by)| *weight += step * by);
        self.bias += step * by.bias;
        Ok(Some(step))
    }

    fn reach(&self, moves: &[Move]) -> f64 {
        self.sides.iter().zip(moves).map(|(side, by)| side.reach(by)).fold(f64::INFINITY, f64::min)
    }

    /// The way to some aims.
    fn direction(&self, system: &System, thetas: &[f64], aims: &[Aim], run: &Run) -> Result<Direction> {
        let problem = self.problem;
        let pull = |(side, aim): (&Side, &Aim)| {
            side.pull(self.products[side.of] + self.bias, problem.of[side.of].diagonal, aim)
        };
        // θh of every side.
        let mut pulls: Vec<f64> = self.sides.iter().zip(aims).map(pull).collect();
        pulls.iter_mut().zip(thetas).for_each(|(pull, theta)| *pull *= theta);
        let mut by_row = Matrix::zeros(problem.rows.rows(), 1);
        let mut sum = 0.0;
        for (side, pull) in self.sides.iter().zip(&pulls) {
            let signed = side.sign * (side.alpha + pull);
            by_row[(problem.of[side.of].row, 0)] += signed;
            sum += signed;
        }
        let mut right = problem.rows.transposed_multiply(&by_row, run)?;
        right.values_mut().iter_mut().zip(self.weights.values()).for_each(|(right, weight)| *right -= weight);
        let price = problem.price();
        let of_constant = if price.is_finite() { sum - price * self.bias } else { 0.0 };
        let (weights, bias) = system.solve(right, of_constant);
        let products = problem.products(&weights, run)?;
        let moves =
            self.sides.iter().zip(aims).zip(&pulls).zip(thetas).map(|(((side, aim), pull), theta)| {
                side.along(pull - theta * side.sign * (products[side.of] + bias), aim)
            });
        Ok(Direction { moves: moves.collect(), weights, bias, products })
    }

    /// β, w and b. Of α and z one is zero in the end: whichever is the smaller, each in its unit.
    fn end(self, stop: Stop, passes: usize) -> Descent {
        let problem = self.problem;
        let mut beta = vec![0.0; problem.of.len()];
        let mut supports = vec![false; problem.of.len()];
        for side in &self.sides {
            let cost = (side.alpha + side.room).min(1.0 / problem.of[side.of].diagonal);
            beta[side.of] += side.sign * side.alpha;
            supports[side.of] |= side.alpha * problem.unit > side.below * cost;
        }
        beta.iter_mut().zip(&problem.of).for_each(|(beta, one)| *beta = beta.clamp(one.low, one.high));
        let support = supports.into_iter().filter(|holds| *holds).count();
        let known = Some((self.weights, self.bias));
        Descent { beta, stop, passes, before: None, method: Method::Interior, violation: None, support, known }
    }
}

/// Where a step leads.
struct Direction {
    moves: Vec<Move>,
    weights: Matrix,
    bias: f64,
    /// x·Δw of the rows that take part.
    products: Vec<f64>,
}
