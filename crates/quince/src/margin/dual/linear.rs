//! A linear kernel whose columns differ a lot in scale, solved as a linear model.
//!
//! Steps that move two rows at a time get on slowly where the kernel is nearly singular, as it is if one column is a hundred
//! thousand times as large as another. An interior-point method for the weights of the columns does not mind. It ends in the
//! interior, with every β a little off its bounds; the gradient there says which of them belong to a bound.

use super::{Dual, Solution, SolverOptions, TimeEstimate};
use crate::error::Result;
use crate::margin::certificate::BiasRule;
use crate::margin::dual::balance;
use crate::margin::linear::GAP_PER_VIOLATION;
use crate::matrix::Matrix;
use crate::run::{Run, StopReason};

/// A row is at its bound if its gradient is beyond the edge of the margin by more than this share of the tolerance.
const EDGE: f64 = 0.25;
/// What is as near to a bound as this share of the distance between bounds is at it.
const REMAINDER: f64 = 1e-9;

impl Dual<'_> {
    /// Goes on from a solution that does not get any further by steps; the better one is returned.
    pub(super) fn solve_as_linear(
        &self,
        by_steps: Solution,
        options: &SolverOptions,
        time: &mut TimeEstimate,
        run: &Run,
    ) -> Result<Solution> {
        if run.out_of_time() {
            return Ok(Solution { stop: StopReason::Budget, ..by_steps });
        }
        let (beta, interior_steps, stop) = self.interior_point(run)?;
        let stop = if stop == StopReason::Budget { stop } else { StopReason::Stalled };
        let found = Solution { interior_steps, stop, stalled: true, ..by_steps.clone() };
        if beta.iter().any(|beta| !beta.is_finite()) {
            return Ok(found);
        }
        let inside = self.at(self.within_bounds(beta), &found, run)?;
        let near = self.at(self.within_bounds(self.without_remainders(&inside.beta)), &found, run)?;
        let snapped = self.at(self.snapped(&inside, options.tolerance), &found, run)?;
        // The fewer support vectors the better, if the gap is small enough.
        let enough = GAP_PER_VIOLATION * options.tolerance / self.unit;
        let mut last = [snapped, near, inside, found]
            .into_iter()
            .reduce(|one, other| if self.relative_gap(&one) <= enough { one } else { self.better(one, other) })
            .unwrap_or_else(|| by_steps.clone());
        let gap = self.relative_gap(&last);
        if last.kkt_violation <= options.tolerance {
            last.stop = StopReason::Converged;
        } else if gap <= enough {
            (last.stop, last.relative_gap) = (StopReason::Converged, Some(gap));
        }
        last.stalled = last.stop == StopReason::Stalled;
        if last.stalled && by_steps.stop == StopReason::StepLimit && by_steps.steps < options.steps {
            let more = SolverOptions { steps: options.steps - by_steps.steps, ..*options };
            let stepped = self.solve_by_steps(Some(last.beta.clone()), &more, time, run)?;
            let (steps, blocks) = (by_steps.steps + stepped.steps, by_steps.blocks + stepped.blocks);
            let best = if stepped.stop == StopReason::Converged { stepped } else { self.better(stepped, last) };
            last = Solution { steps, blocks, interior_steps, ..best };
        }
        Ok(last)
    }

    /// The duality gap, relative to the primal objective.
    fn relative_gap(&self, solution: &Solution) -> f64 {
        let certificate = self.certify(solution, BiasRule::Mean, false);
        match (certificate.primal - certificate.dual) / certificate.primal.abs().max(f64::MIN_POSITIVE) {
            gap if gap.is_nan() => f64::INFINITY,
            gap => gap.max(0.0),
        }
    }

    /// β without what the interior leaves of bounds and of zero.
    fn without_remainders(&self, beta: &[f64]) -> Vec<f64> {
        let near = |i: usize| REMAINDER * (self.high[i] - self.low[i]);
        let of_row = |(i, beta): (usize, &f64)| {
            [0.0, self.low[i], self.high[i]].into_iter().find(|bound| (beta - bound).abs() <= near(i)).unwrap_or(*beta)
        };
        beta.iter().enumerate().map(of_row).collect()
    }

    /// The solution at β.
    fn at(&self, beta: Vec<f64>, like: &Solution, run: &Run) -> Result<Solution> {
        let gradient = run.finish(|| self.linear_gradient(&beta, run))?;
        let mut solution = Solution { beta, gradient, ..like.clone() };
        solution.kkt_violation = self.kkt_violation(&solution);
        Ok(solution)
    }

    /// The gradient at β, by way of the weights: as many multiplications as there are numbers in the rows, not kernels.
    fn linear_gradient(&self, beta: &[f64], run: &Run) -> Result<Vec<f64>> {
        let mut all = Matrix::zeros(self.rows.rows(), 1);
        self.indices.iter().zip(beta).for_each(|(&row, beta)| all[(row, 0)] = *beta);
        let weights = self.rows.transposed_multiply(&all, run)?;
        let products = self.rows.multiply(&weights, &[0.0], run)?;
        Ok(self.indices.iter().zip(&self.target).map(|(&row, target)| target - products[(row, 0)]).collect())
    }

    /// The one with the smaller duality gap; the first of equals.
    fn better(&self, one: Solution, other: Solution) -> Solution {
        if self.relative_gap(&other) < self.relative_gap(&one) { other } else { one }
    }

    /// β with every row at the bound to which its gradient holds it. What their sum is off by then is taken by the others.
    fn snapped(&self, solution: &Solution, tolerance: f64) -> Vec<f64> {
        let bias = self.certify(solution, BiasRule::Mean, false).bias;
        let edge = EDGE * tolerance;
        let mut free = vec![false; self.count()];
        let mut beta: Vec<f64> = (0..self.count())
            .map(|i| match solution.gradient[i] - bias {
                residual if residual > self.epsilon + edge => self.high[i],
                residual if residual < -self.epsilon - edge => self.low[i],
                residual if residual.abs() < self.epsilon - edge => 0.0,
                _ => {
                    free[i] = true;
                    solution.beta[i]
                }
            })
            .collect();
        let mut missing = -beta.iter().sum::<f64>();
        for i in (0..self.count()).filter(|i| free[*i]) {
            let moved = (beta[i] + missing).clamp(self.low[i], self.high[i]);
            missing -= moved - beta[i];
            beta[i] = moved;
        }
        let size: f64 = beta.iter().map(|beta| beta.abs()).sum();
        if missing.abs() > 1e-12 * size {
            balance(&mut beta);
        }
        beta
    }
}

#[cfg(test)]
mod tests {
    use super::super::duplicates::DuplicateRows;
    use super::*;
    use crate::margin::kernel::{Kernel, KernelSpace};
    use crate::margin::target::target_scale;
    use crate::run::Stream;

    /// Numbers of which a few far from the others are in many rows: merged, those weigh next to nothing.
    fn rows_and_numbers(copies: usize, apart: f64) -> (Matrix, Vec<f64>) {
        let mut stream = Stream::new(4, 0);
        let (mut values, mut target) = (Vec::new(), Vec::new());
        for _ in 0..60 {
            let row = [stream.normal(), 1e4 * stream.normal()];
            values.extend(row);
            target.push(row[0] + 1e-4 * row[1] + 0.3 * stream.normal());
        }
        for copy in 0..copies {
            let sign = if copy % 2 == 0 { 1.0 } else { -1.0 };
            values.extend([3.0 * sign + apart * copy as f64, 0.0]);
            target.push(300.0 * sign);
        }
        (Matrix::new(60 + copies, 2, values).unwrap(), target)
    }

    #[test]
    fn a_gap_is_as_small_as_asked_whether_duplicates_are_merged_or_not() {
        let run = Run::new();
        for apart in [0.0, 1e-9] {
            let (rows, target) = rows_and_numbers(600, apart);
            let (count, unit) = (target.len(), target_scale(&target));
            let space = KernelSpace::of(&rows.features(), Kernel::Linear);
            let dual = Dual {
                rows: rows.features(),
                space: &space,
                indices: (0..count).collect(),
                low: vec![-1.0; count],
                high: vec![1.0; count],
                epsilon: 0.1,
                unit,
                target,
            };
            let merged = DuplicateRows::find(&dual, &run).unwrap().map(|duplicates| duplicates.merge(&dual));
            assert_eq!(merged.as_ref().map(Dual::count), (apart == 0.0).then_some(62));
            let dual = merged.unwrap_or(dual);
            // The targets of 62 rows have a fifth of the standard deviation of all, which is the unit.
            assert_eq!(dual.unit, unit);
            for tolerance in (0..60).map(|k| 10f64.powf(-0.2 * f64::from(k))) {
                // Without any step, so that the gap decides which solution is taken.
                let options = SolverOptions { tolerance: unit * tolerance, cache: 1 << 20, steps: 0, shrinking: true };
                let from = Solution { stop: StopReason::StepLimit, ..Solution::zero(&dual) };
                let found = dual.solve_as_linear(from, &options, &mut TimeEstimate::default(), &run).unwrap();
                let asked = GAP_PER_VIOLATION * tolerance;
                assert!(
                    found.relative_gap.is_none_or(|gap| gap <= asked),
                    "{apart}: {asked:e} {:?}",
                    found.relative_gap
                );
                assert_eq!(found.stop == StopReason::Stalled, found.stalled);
            }
        }
    }
}
