//! Where a large problem starts: from the solution for a quarter of its rows.
//!
//! With a quarter of the rows, each at four times the cost C, the machine is nearly the same, and sixteen times cheaper to
//! find. Its rows keep their β as far as their own bounds allow; what is above them goes to other rows of the same side, those
//! first that the small machine puts deepest into the margin. Nearly all rows are then at the right bound, and have cost one
//! kernel row each.

use super::active::lot;
use super::{Dual, Effort};
use crate::error::Result;
use crate::margin::kernel::Gallery;
use crate::run::{Run, Stop};

/// One row in so many.
const ONE_IN: u32 = 4;
/// Fewer rows are solved as they are.
const LEAST: usize = 16_384;
/// The violation at which the sample is good enough, in multiples of that of the whole, and at most.
const LOOSER: f64 = 10.0;
const LOOSEST: f64 = 0.1;

/// A start for the problem; `None` if it had better start from zero.
pub(super) fn start(dual: &Dual<'_>, exact: &Gallery<'_, f64>, effort: &Effort, run: &Run) -> Result<Option<Vec<f64>>> {
    let count = dual.count();
    let bounded = dual.low.iter().chain(&dual.high).all(|bound| bound.is_finite());
    if count < LEAST || !bounded {
        return Ok(None);
    }
    let sample: Vec<usize> = (0..count).filter(|&i| (lot(i) >> 16).is_multiple_of(ONE_IN)).collect();
    let scale = count as f64 / sample.len() as f64;
    let part = Dual {
        rows: dual.rows,
        space: dual.space,
        of: sample.iter().map(|&i| dual.of[i]).collect(),
        target: sample.iter().map(|&i| dual.target[i]).collect(),
        low: sample.iter().map(|&i| scale * dual.low[i]).collect(),
        high: sample.iter().map(|&i| scale * dual.high[i]).collect(),
        insensitive: dual.insensitive,
    };
    let looser = Effort { tolerance: (LOOSER * effort.tolerance).min(LOOSEST).max(effort.tolerance), ..*effort };
    let solved = part.solve(None, &looser, run)?;
    let mut beta = vec![0.0; count];
    for (&i, solved) in sample.iter().zip(&solved.beta) {
        beta[i] = solved.clamp(dual.low[i], dual.high[i]);
    }
    if solved.stop != Stop::Budget {
        let mut slope = dual.target.clone();
        let support: Vec<usize> = (0..sample.len()).filter(|&k| solved.beta[k] != 0.0).collect();
        let rows: Vec<usize> = support.iter().map(|&k| part.of[k]).collect();
        let weights: Vec<f64> = support.iter().map(|&k| -solved.beta[k]).collect();
        exact.add(&dual.space.probes(&dual.rows, &rows), &weights, &mut slope, run)?;
        hand_on(dual, &sample, &solved.beta, &slope, &mut beta);
    }
    balance(&mut beta);
    Ok(Some(beta))
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
