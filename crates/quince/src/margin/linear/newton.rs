//! Newton's method for the squared hinge and few columns (Mangasarian 2002; Keerthi and DeCoste 2005).
//!
//! ```text
//! minimise  ½‖w‖² + ½δb² + Σ C (t - w·x - b)²    over the rows on the wrong side of their margin
//! ```
//!
//! with δ what b costs. (Numbers are on the wrong side if they are more than ε off, and cost the square of the rest.) As long as
//! these rows stay the same this is a ridge regression of their targets. On the way to its solution other rows join and some leave,
//! so the objective along it is made of pieces of parabolas, whose lowest point is found exactly, from one product of all rows with
//! the way. A few such ways end at the optimum. Only where C is so large that nearly all rows end on the edge of their margin are
//! there many, each a little further.
//!
//! What each row pulls at w is β, which proves how close that is.

use super::descent::{Descent, Method};
use super::problem::gap_share;
use super::system::System;
use super::{Constant, Coordinate, LEAST_GAP, LinearMachine, Problem};
use crate::error::{Error, Result};
use crate::margin::dual::balance;
use crate::matrix::Matrix;
use crate::run::{Run, Stop};

/// A way on which the objective falls by less than this share of it is the last.
const NOTHING: f64 = 1e-15;
/// The lowest point of a way is known to this share of its distance.
const EXACTLY: f64 = 1e-10;

/// Where the method stands, or a way it could go.
#[derive(Clone)]
struct Place {
    weights: Matrix,
    bias: f64,
    /// w·x of the rows that take part.
    products: Vec<f64>,
}

/// Where it stands, in numbers.
struct Standing {
    beta: Vec<f64>,
    /// The way down: the slope of the objective, with its sign turned.
    down: Matrix,
    primal: f64,
    /// As a share of the primal.
    gap: f64,
}

impl Problem<'_> {
    /// Goes down the primal of the squared hinge until the gap is at most a share of the objective.
    pub(super) fn newton(&self, from: Option<&LinearMachine>, share: f64, most: usize, run: &Run) -> Result<Descent> {
        // Numbers far from zero would cost digits.
        let far = self.numbers && self.constant == Constant::Free;
        let middle = if far { self.of.iter().map(|one| one.target / self.of.len() as f64).sum() } else { 0.0 };
        let of = self.of.iter().map(|one| Coordinate { target: one.target - middle, ..*one }).collect();
        let mut ended = Problem { of, ..*self }.down(from.map(|from| (from, middle)), share, most, run)?;
        ended.known.iter_mut().for_each(|(_, bias)| *bias += middle);
        Ok(ended)
    }

    fn down(&self, from: Option<(&LinearMachine, f64)>, share: f64, most: usize, run: &Run) -> Result<Descent> {
        let mut at = run.finish(|| self.place(from, run))?;
        let (mut passes, mut last) = (0, f64::INFINITY);
        let (stop, beta) = loop {
            let now = run.finish(|| self.stand(&at, run))?;
            run.tell(|| format!("gap {:.1e} of {share:.0e} after {passes} steps", now.gap));
            let stop = if now.gap <= share {
                Some(Stop::Converged)
            } else if passes >= most {
                Some(Stop::StepLimit)
            } else if last - now.primal <= NOTHING * now.primal {
                Some(if now.gap <= LEAST_GAP { Stop::Converged } else { Stop::Stalled })
            } else {
                last = now.primal;
                match self.way(&at, &now, run) {
                    Ok(Some(way)) => {
                        self.go(&mut at, &way, run)?;
                        passes += 1;
                        None
                    }
                    Ok(None) => Some(Stop::Stalled),
                    Err(Error::OutOfTime { .. }) => Some(Stop::Budget),
                    Err(other) => return Err(other),
                }
            };
            if let Some(stop) = stop {
                break (stop, now.beta);
            }
        };
        let support = beta.iter().filter(|beta| **beta != 0.0).count();
        let known = Some((at.weights, at.bias));
        Ok(Descent { beta, stop, passes, before: None, method: Method::Newton, violation: None, support, known })
    }

    /// Where to start: at the weights of a machine, or at zero.
    fn place(&self, from: Option<(&LinearMachine, f64)>, run: &Run) -> Result<Place> {
        let columns = self.rows.columns();
        let mut place = Place { weights: Matrix::zeros(columns, 1), bias: 0.0, products: vec![0.0; self.of.len()] };
        if let Some((machine, middle)) = from.filter(|(machine, _)| machine.weights().len() == columns) {
            place.weights.values_mut().copy_from_slice(machine.weights());
            place.products = self.products(&place.weights, run)?;
            place.bias = if self.price().is_finite() { machine.bias() - middle } else { 0.0 };
        }
        self.move_constant(&mut place, run)?;
        Ok(place)
    }

    /// β of all rows.
    fn pulls(&self, at: &Place) -> impl Iterator<Item = f64> {
        self.of.iter().zip(&at.products).map(|(one, product)| self.pull(one, product + at.bias))
    }

    fn stand(&self, at: &Place, run: &Run) -> Result<Standing> {
        let mut beta: Vec<f64> = self.pulls(at).collect();
        if self.constant == Constant::Free {
            balance(&mut beta);
        }
        let mut down = self.weights_of(&beta, run)?;
        let primal = self.primal(&at.weights, at.bias, &at.products);
        let gap = gap_share(primal, self.dual(&beta, &down), self.negligible());
        down.values_mut().iter_mut().zip(at.weights.values()).for_each(|(down, weight)| *down -= weight);
        Ok(Standing { beta, down, primal, gap })
    }

    /// The way to the optimum of the rows that cost something.
    fn way(&self, at: &Place, now: &Standing, run: &Run) -> Result<Option<Place>> {
        let costly = || self.of.iter().zip(&now.beta).filter(|(_, beta)| **beta != 0.0).map(|(one, _)| one);
        let some: Vec<usize> = costly().map(|one| one.row).collect();
        let taken = (2 * some.len() < self.rows.rows()).then(|| self.rows.take(&some));
        let rows = taken.as_ref().map_or(self.rows, |taken| taken.features());
        let mut thetas = vec![0.0; rows.rows()];
        costly().enumerate().for_each(|(k, one)| thetas[if taken.is_some() { k } else { one.row }] = 2.0 * one.cost);
        let price = self.price();
        if some.is_empty() {
            // Nothing pulls at w: it can be shorter.
            let mut way = at.clone();
            way.weights.values_mut().iter_mut().chain(&mut way.products).for_each(|value| *value = -*value);
            way.bias = if price > 0.0 { -at.bias } else { 0.0 };
            return Ok(Some(way));
        }
        let Some(system) = System::of(rows, thetas, price, run)? else { return Ok(None) };
        let of_constant = if price.is_finite() { now.beta.iter().sum::<f64>() - price * at.bias } else { 0.0 };
        let (weights, bias) = system.solve(now.down.clone(), of_constant);
        let products = self.products(&weights, run)?;
        Ok(Some(Place { weights, bias, products }))
    }

    /// Goes to the lowest point of a way, and of b.
    fn go(&self, at: &mut Place, way: &Place, run: &Run) -> Result<()> {
        let step = self.lowest(at, way, run)?;
        at.weights.values_mut().iter_mut().zip(way.weights.values()).for_each(|(weight, by)| *weight += step * by);
        at.products.iter_mut().zip(&way.products).for_each(|(product, by)| *product += step * by);
        at.bias += step * way.bias;
        self.move_constant(at, run)
    }

    /// Moves b to where it costs least.
    fn move_constant(&self, at: &mut Place, run: &Run) -> Result<()> {
        let price = self.price();
        if price.is_infinite() {
            return Ok(());
        }
        let (mut down, mut stiff) = (-price * at.bias, price);
        for (one, pull) in self.of.iter().zip(self.pulls(at)).filter(|(_, pull)| *pull != 0.0) {
            down += pull;
            stiff += 2.0 * one.cost;
        }
        if down != 0.0 {
            let (weights, products) = (Matrix::zeros(at.weights.rows(), 1), vec![0.0; at.products.len()]);
            let way = Place { weights, bias: down / stiff, products };
            at.bias += self.lowest(at, &way, run)? * way.bias;
        }
        Ok(())
    }

    /// How far it is to the lowest point of a way on which the objective falls at first.
    fn lowest(&self, at: &Place, way: &Place, run: &Run) -> Result<f64> {
        let price = if self.price().is_finite() { self.price() } else { 0.0 };
        let product = |a: &Place, b: &Place| -> f64 {
            a.weights.values().iter().zip(b.weights.values()).map(|(a, b)| a * b).sum::<f64>() + price * a.bias * b.bias
        };
        let (own_slope, own_curvature) = (product(at, way), product(way, way));
        // Slope and curvature after so much of the way.
        let look = |step: f64| {
            let (mut slope, mut curvature) = (own_slope + step * own_curvature, own_curvature);
            for ((one, product), along) in self.of.iter().zip(&at.products).zip(&way.products) {
                let along = along + way.bias;
                let pull = self.pull(one, product + at.bias + step * along);
                if pull != 0.0 {
                    slope -= pull * along;
                    curvature += 2.0 * one.cost * along * along;
                }
            }
            (slope, curvature)
        };
        let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..100 {
            run.check_cancelled()?;
            let (slope, curvature) = look(step);
            if slope < 0.0 {
                low = step
            } else {
                high = step
            }
            let change = -slope / curvature;
            if slope == 0.0 || change.abs().min(high - low) <= EXACTLY * step {
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
