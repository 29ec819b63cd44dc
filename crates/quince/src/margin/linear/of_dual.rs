//! A kernel machine whose kernel is linear, as a linear model.

use super::problem::{Coordinate, InterceptPenalty, Problem};
use super::{Loss, MAX_COLUMNS_FOR_INTERIOR};
use crate::error::Result;
use crate::margin::dual::Dual;
use crate::margin::kernel::Kernel;
use crate::run::{Run, StopReason};

/// The relative duality gap to aim at: far below any tolerance, because then it is known which rows are at their bounds.
const GAP: f64 = 1e-13;
/// The interior-point method has long converged after this many steps.
const MAX_STEPS: usize = 300;

impl Dual<'_> {
    /// Whether the problem is one of a linear model, with few enough columns for the interior-point method.
    pub(in crate::margin) fn has_linear_model(&self) -> bool {
        self.space.kernel == Kernel::Linear
            && self.rows.columns() <= MAX_COLUMNS_FOR_INTERIOR
            && self.low.iter().chain(&self.high).all(|bound| bound.is_finite())
            && self.target.iter().any(|target| *target != 0.0)
    }

    fn is_regression(&self) -> bool {
        self.low.iter().zip(&self.high).any(|(low, high)| *low < 0.0 && *high > 0.0)
    }

    /// β of the linear model, the number of steps to it, and why they ended.
    pub(in crate::margin) fn interior_point(&self, run: &Run) -> Result<(Vec<f64>, usize, StopReason)> {
        let coordinate = |i: usize| Coordinate {
            row: self.indices[i],
            norm: 0.0,
            target: self.target[i],
            cost: self.high[i].max(-self.low[i]),
            low: self.low[i],
            high: self.high[i],
            diagonal: 0.0,
            beta: 0.0,
        };
        let problem = Problem {
            rows: self.rows,
            coordinates: (0..self.count()).map(coordinate).collect(),
            epsilon: self.epsilon,
            intercept: InterceptPenalty::Free,
            loss: Loss::Hinge,
            regression: self.is_regression(),
            unit: self.unit,
        };
        let solution = problem.interior_point(None, GAP, MAX_STEPS, run)?;
        Ok((solution.beta, solution.iterations, solution.stop))
    }
}
