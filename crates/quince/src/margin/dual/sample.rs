//! Where a large problem starts: from the solution for a quarter of its rows.
//!
//! With a quarter of the rows, each at four times the cost C, the machine is nearly the same, and sixteen times cheaper to
//! find. (Rows of great cost, such as many copies of one have together, are all among them, at that cost.) Its rows keep their β as
//! far as their own bounds allow; what is above them goes to other rows of the same side, those first that the small machine puts
//! deepest into the margin. Nearly all rows are then at the right bound, and have cost one kernel row each.

use super::active::lot;
use super::{Clock, Dual, Effort, Outcome};
use crate::error::Result;
use crate::margin::kernel::Gallery;
use crate::matrix::fused::Multiply;
use crate::run::{Run, Stop};

/// One row in so many.
const ONE_IN: u32 = 4;
/// Fewer rows are solved as they are.
const LEAST: usize = 16_384;
/// The violation at which the sample is good enough, in multiples of that of the whole, and at most.
const LOOSER: f64 = 10.0;
const LOOSEST: f64 = 0.1;
/// β is made shorter if its best length is less than this share of it.
const TOO_LONG: f64 = 0.75;

/// Where a problem starts.
pub(super) enum Begun {
    /// From where it stands.
    Here,
    /// From a β and its F, which follow from those of the sample's machine. F is not exact: at the end it is computed anew.
    At { start: Place, sample: Place },
    /// Not at all: there was no time for more than this machine of a sample.
    CutShort(Vec<f64>),
}

/// β and F.
type Place = (Vec<f64>, Vec<f64>);

/// Where a problem had better start.
pub(super) fn start<T: Multiply>(
    dual: &Dual<'_>,
    effort: &Effort,
    clock: &mut Clock,
    at: &mut Outcome,
    run: &Run,
) -> Result<Begun> {
    let count = dual.count();
    let bounded = dual.low.iter().chain(&dual.high).all(|bound| bound.is_finite());
    if count < LEAST || !bounded {
        return Ok(Begun::Here);
    }
    // Rows that cost much more than others are all in, at their own cost.
    let cost = |i: usize| dual.high[i] - dual.low[i];
    let heavy = f64::from(ONE_IN) * (0..count).map(cost).sum::<f64>() / count as f64;
    let drawn = |i: usize| (lot(i) >> 16).is_multiple_of(ONE_IN);
    let sample: Vec<usize> = (0..count).filter(|&i| cost(i) > heavy || drawn(i)).collect();
    let light = |i: &usize| cost(*i) <= heavy;
    let more = (0..count).filter(light).count() as f64 / sample.iter().copied().filter(light).count() as f64;
    let mut small = dual.part(&sample);
    for (k, &i) in sample.iter().enumerate().filter(|(_, i)| light(i)) {
        (small.low[k], small.high[k]) = (more * dual.low[i], more * dual.high[i]);
    }
    let scale = count as f64 / sample.len() as f64;
    let looser = Effort { tolerance: (LOOSER * effort.tolerance).min(LOOSEST).max(effort.tolerance), ..*effort };
    // After F of the sample, that of all rows is to be computed.
    let times = clock.times;
    clock.times = 1.0 + scale * times;
    let solved = small.solve_by(None, &looser, clock, run)?;
    clock.times = times;
    (at.steps, at.blocks) = (solved.steps, solved.blocks);
    let mut found = vec![0.0; count];
    sample.iter().zip(&solved.beta).for_each(|(&i, solved)| found[i] = *solved);
    // Its F, and that of the start, are computed in single precision, at half the cost, and in double precision at the end.
    let support = solved.beta.iter().filter(|beta| **beta != 0.0).count();
    let kernels = (support * count) as f64;
    if solved.stop == Stop::Budget || clock.lacks_time_for((0.5 * (1.0 + scale) + scale * times) * kernels, run) {
        return Ok(Begun::CutShort(found));
    }
    clock.besides = times * kernels;
    let gallery: Gallery<'_, T> = dual.space.gallery(&dual.rows, &dual.of);
    let slope_of = |beta: &[f64]| {
        let mut slope = dual.target.clone();
        run.finish(|| dual.take_off(beta, &gallery, &mut slope, run)).map(|_| slope)
    };
    let found_slope = slope_of(&found)?;
    let mut beta: Vec<f64> = (0..count).map(|i| found[i].clamp(dual.low[i], dual.high[i])).collect();
    hand_on(dual, &sample, &solved.beta, &found_slope, &mut beta);
    balance(&mut beta);
    let mut slope = slope_of(&beta)?;
    stretch(dual, &mut beta, &mut slope);
    Ok(Begun::At { start: (beta, slope), sample: (found, found_slope) })
}

/// Makes β shorter if that makes the objective much better: what was handed on may have been far too much.
fn stretch(dual: &Dual<'_>, beta: &mut [f64], slope: &mut [f64]) {
    let gain = |i: usize| beta[i] * dual.target[i] - dual.insensitive * beta[i].abs();
    let linear: f64 = (0..beta.len()).map(gain).sum();
    let squared_norm: f64 = (0..beta.len()).map(|i| beta[i] * (dual.target[i] - slope[i])).sum();
    let best = if squared_norm > 0.0 { (linear / squared_norm).clamp(0.0, 1.0) } else { 1.0 };
    if best < TOO_LONG {
        beta.iter_mut().for_each(|beta| *beta *= best);
        slope.iter_mut().zip(&dual.target).for_each(|(slope, target)| *slope = target - best * (target - *slope));
    }
}

/// Gives what rows of the sample have above their bounds to rows outside it.
fn hand_on(dual: &Dual<'_>, sample: &[usize], solved: &[f64], slope: &[f64], beta: &mut [f64]) {
    let mut outside = vec![true; beta.len()];
    sample.iter().for_each(|&i| outside[i] = false);
    let mut others: Vec<usize> = (0..beta.len()).filter(|&i| outside[i]).collect();
    others.sort_unstable_by(|&a, &b| slope[b].total_cmp(&slope[a]).then(a.cmp(&b)));
    let above = |sign: f64| -> f64 {
        sample.iter().zip(solved).map(|(&i, solved)| (sign * solved).max(0.0) - (sign * beta[i]).max(0.0)).sum()
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

/// Makes Σβ zero by taking from the side that has more.
pub(in crate::margin) fn balance(beta: &mut [f64]) {
    let sum = |sign: f64| beta.iter().map(|beta| (sign * beta).max(0.0)).sum::<f64>();
    let (raised, lowered) = (sum(1.0), sum(-1.0));
    if raised == lowered {
        return;
    }
    let (sign, factor) = if raised > lowered { (1.0, lowered / raised) } else { (-1.0, raised / lowered) };
    beta.iter_mut().filter(|beta| sign * **beta > 0.0).for_each(|beta| *beta *= factor);
}
