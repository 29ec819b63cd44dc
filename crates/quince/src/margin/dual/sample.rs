//! The warm start of a large problem: the solution for a quarter of its rows.
//!
//! With a quarter of the rows, each at four times the cost C, the solution is nearly the same, and sixteen times cheaper to
//! find. (Rows of great cost, such as merged duplicates, are all in the sample, at their own cost.) Sampled rows keep their β up
//! to their own bounds; the excess goes to other rows of the same side, first to those that the sample's model puts deepest into
//! the margin. Nearly all rows are then at the right bound, and have cost one kernel row each.

use super::active::tie_break;
use super::{Dual, Solution, SolverOptions, TimeEstimate};
use crate::error::Result;
use crate::margin::kernel::KernelRows;
use crate::matrix::fused::Multiply;
use crate::run::{Run, StopReason};

/// One in this many rows is sampled.
const SAMPLE_ONE_IN: u32 = 4;
/// Problems of fewer rows have no warm start.
const MIN_ROWS: usize = 16_384;
/// The tolerance for the sample, in multiples of that for all rows...
const TOLERANCE_FACTOR: f64 = 10.0;
/// ... and at most.
const MAX_TOLERANCE: f64 = 0.1;
/// β is scaled down if its best multiple is below this.
const SHORTEN_BELOW: f64 = 0.75;

/// The excess is distributed if the time is this many times what that takes: otherwise none is left for steps.
const PAYS_FROM: f64 = 1.5;

/// Where a problem starts.
pub(super) enum WarmStart {
    /// From the current β.
    Current,
    /// From β and its gradient, which follow from the solution for the sample. The gradient is not exact: it is computed again at
    /// the end.
    From { start: Point, sample: Point },
    /// Not at all: there was no time for more than this solution for a sample.
    OutOfTime(Vec<f64>),
}

/// β and its gradient.
type Point = (Vec<f64>, Vec<f64>);

/// Where a problem starts.
pub(super) fn warm_start<T: Multiply>(
    dual: &Dual<'_>,
    options: &SolverOptions,
    time: &mut TimeEstimate,
    solution: &mut Solution,
    run: &Run,
) -> Result<WarmStart> {
    let count = dual.count();
    let bounded = dual.low.iter().chain(&dual.high).all(|bound| bound.is_finite());
    if count < MIN_ROWS || !bounded {
        return Ok(WarmStart::Current);
    }
    // Rows that cost much more than others are all sampled, at their own cost.
    let cost = |i: usize| dual.high[i] - dual.low[i];
    let heavy = f64::from(SAMPLE_ONE_IN) * (0..count).map(cost).sum::<f64>() / count as f64;
    let drawn = |i: usize| (tie_break(i) >> 16).is_multiple_of(SAMPLE_ONE_IN);
    let sample: Vec<usize> = (0..count).filter(|&i| cost(i) > heavy || drawn(i)).collect();
    let light = |i: &usize| cost(*i) <= heavy;
    let more = (0..count).filter(light).count() as f64 / sample.iter().copied().filter(light).count() as f64;
    let mut small = dual.part(&sample);
    for (k, &i) in sample.iter().enumerate().filter(|(_, i)| light(i)) {
        (small.low[k], small.high[k]) = (more * dual.low[i], more * dual.high[i]);
    }
    let scale = count as f64 / sample.len() as f64;
    let sample_options = SolverOptions {
        tolerance: (TOLERANCE_FACTOR * options.tolerance).min(MAX_TOLERANCE).max(options.tolerance),
        ..*options
    };
    // After the gradient of the sample, that of all rows is to be computed.
    let rows_factor = time.rows_factor;
    time.rows_factor = 1.0 + scale * rows_factor;
    let solved = small.solve_by(None, &sample_options, time, run)?;
    time.rows_factor = rows_factor;
    (solution.steps, solution.blocks) = (solved.steps, solved.blocks);
    let mut found = vec![0.0; count];
    sample.iter().zip(&solved.beta).for_each(|(&i, solved)| found[i] = *solved);
    if solved.stop == StopReason::Budget {
        return Ok(WarmStart::OutOfTime(found));
    }
    let mut outside = vec![true; count];
    sample.iter().for_each(|&i| outside[i] = false);
    extend::<T>(dual, found, &outside, scale, time, run)
}

/// Extends the solution for a sample to all rows, which are `scale` times as many. The excess of sampled rows makes support vectors
/// of as many times more; if there is too little time for all their kernels, it is dropped, and the solver finds them one by one.
fn extend<T: Multiply>(
    dual: &Dual<'_>,
    found: Vec<f64>,
    outside: &[bool],
    scale: f64,
    time: &mut TimeEstimate,
    run: &Run,
) -> Result<WarmStart> {
    let count = dual.count();
    // The gradients of both are computed in single precision, at half the cost, and in double precision at the end.
    let kernels = dual.multiplications((0..count).filter(|&i| found[i] != 0.0));
    // The gradient of the sample's solution may be wanted once more, if that turns out to be better.
    let products = |scale: f64| (0.5 * (1.0 + scale) + (scale + 1.0) * time.rows_factor) * kernels;
    if time.lacks_time_for(products(1.0), run) {
        return Ok(WarmStart::OutOfTime(found));
    }
    let is_whole = !time.lacks_time_for(PAYS_FROM * products(scale), run);
    time.other_multiplications = time.rows_factor * kernels;
    let kernel_rows: KernelRows<'_, T> = dual.space.kernel_rows(&dual.rows, &dual.indices);
    let gradient_of = |beta: &[f64]| {
        let mut gradient = dual.target.clone();
        run.finish(|| dual.update_gradient(beta, &kernel_rows, &mut gradient, run)).map(|_| gradient)
    };
    let found_gradient = gradient_of(&found)?;
    let mut beta: Vec<f64> = (0..count).map(|i| found[i].clamp(dual.low[i], dual.high[i])).collect();
    if is_whole {
        distribute_excess(dual, outside, &found, &found_gradient, &mut beta);
    }
    balance(&mut beta);
    let mut gradient = gradient_of(&beta)?;
    shorten(dual, &mut beta, &mut gradient);
    Ok(WarmStart::From { start: (beta, gradient), sample: (found, found_gradient) })
}

/// Scales β down if that makes the objective much better: the excess may have been far too much.
fn shorten(dual: &Dual<'_>, beta: &mut [f64], gradient: &mut [f64]) {
    let gain = |i: usize| beta[i] * dual.target[i] - dual.epsilon * beta[i].abs();
    let linear: f64 = (0..beta.len()).map(gain).sum();
    let squared_norm: f64 = (0..beta.len()).map(|i| beta[i] * (dual.target[i] - gradient[i])).sum();
    let best = if squared_norm > 0.0 { (linear / squared_norm).clamp(0.0, 1.0) } else { 1.0 };
    if best < SHORTEN_BELOW {
        beta.iter_mut().for_each(|beta| *beta *= best);
        gradient
            .iter_mut()
            .zip(&dual.target)
            .for_each(|(gradient, target)| *gradient = target - best * (target - *gradient));
    }
}

/// Gives what β of sampled rows has beyond its bounds to rows outside the sample.
fn distribute_excess(dual: &Dual<'_>, outside: &[bool], found: &[f64], gradient: &[f64], beta: &mut [f64]) {
    let mut others: Vec<usize> = (0..beta.len()).filter(|&i| outside[i]).collect();
    others.sort_unstable_by(|&a, &b| gradient[b].total_cmp(&gradient[a]).then(a.cmp(&b)));
    let above = |sign: f64| -> f64 {
        found.iter().zip(beta.iter()).map(|(found, beta)| (sign * found).max(0.0) - (sign * beta).max(0.0)).sum()
    };
    let (mut raise, mut lower) = (above(1.0), above(-1.0));
    for &i in &others {
        let more = dual.high[i].max(0.0).min(raise);
        beta[i] += more;
        raise -= more;
    }
    for &i in others.iter().rev() {
        let less = (-dual.low[i]).max(0.0).min(lower);
        beta[i] -= less;
        lower -= less;
    }
}

/// Makes Σβ zero by scaling down the side that has more.
pub(in crate::margin) fn balance(beta: &mut [f64]) {
    let sum = |sign: f64| beta.iter().map(|beta| (sign * beta).max(0.0)).sum::<f64>();
    let (raised, lowered) = (sum(1.0), sum(-1.0));
    if raised == lowered {
        return;
    }
    let (sign, factor) = if raised > lowered { (1.0, lowered / raised) } else { (-1.0, raised / lowered) };
    beta.iter_mut().filter(|beta| sign * **beta > 0.0).for_each(|beta| *beta *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::margin::kernel::{Kernel, KernelSpace};
    use crate::matrix::Matrix;
    use crate::run::{Stream, TickClock};
    use std::time::Duration;

    /// What a large regression starts from, if a billion kernels take as many seconds of its ten.
    fn start(seconds: f64) -> (WarmStart, Vec<f64>) {
        let (mut stream, count) = (Stream::new(3, 0), MIN_ROWS);
        let rows = Matrix::new(count, 2, (0..2 * count).map(|_| stream.normal()).collect()).unwrap();
        let target = (0..count).map(|i| rows[(i, 0)].sin() + 0.3 * stream.normal()).collect();
        let space = KernelSpace::of(&rows.features(), Kernel::Rbf { gamma: 0.5 });
        let high = vec![1.0; count];
        let low = vec![-1.0; count];
        let dual = Dual {
            rows: rows.features(),
            space: &space,
            indices: (0..count).collect(),
            target,
            low,
            high: high.clone(),
            epsilon: 0.3,
            unit: 1.0,
        };
        let options = SolverOptions::of(0.1, 100.0, 0, true, count);
        // A kernel of two columns takes 34 multiplications.
        let mut time = TimeEstimate::with(super::super::time::KernelSpeed::of(34e15, 1e6 * seconds));
        let run = Run::new().clock(TickClock::new(Duration::ZERO)).budget(Duration::from_secs(10));
        let mut solution = Solution::zero(&dual);
        (warm_start::<f32>(&dual, &options, &mut time, &mut solution, &run).unwrap(), high)
    }

    #[test]
    fn a_budget_for_less_than_the_whole_start_is_still_used() {
        let support = |beta: &[f64]| beta.iter().filter(|beta| **beta != 0.0).count();
        let [whole, part] = [1e-3, 80.0].map(|seconds| match start(seconds) {
            (WarmStart::From { start, sample }, high) => {
                assert!(start.0.iter().zip(&high).all(|(beta, high)| beta.abs() <= *high));
                assert!(start.0.iter().sum::<f64>().abs() < 1e-6 * high.iter().sum::<f64>());
                (support(&start.0), support(&sample.0))
            }
            _ => panic!("there is time for a start"),
        });
        // The excess makes new support vectors, where there is time for their kernels.
        assert!(whole.0 > 2 * whole.1, "{whole:?}");
        assert_eq!(part.0, part.1);
        assert!(matches!(start(1e6).0, WarmStart::OutOfTime(_)));
    }
}
