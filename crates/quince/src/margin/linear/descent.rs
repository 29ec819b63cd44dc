//! Dual coordinate descent for linear machines (Hsieh and others 2008), one row at a time:
//!
//! ```text
//! minimise  ½‖w‖² + ½ Σ dᵢ βᵢ² - tᵀβ + ε Σ|βᵢ|    where  w = Σ βᵢ xᵢ,  lowᵢ ≤ βᵢ ≤ highᵢ
//! ```
//!
//! d is zero for the hinge loss and 1/(2C) for the squared one, which has no upper bound. In one coordinate the minimum is known:
//! β - G/h with G = w·x + b + dβ - t and h = ‖x‖² + d, drawn towards zero by ε/h, within the bounds. Rows at rest, whose slope
//! holds them where they are, are skipped until all others are done.
//!
//! A constant b that costs nothing makes Σβ = 0 a constraint. It is met by the method of multipliers: b = c + s Σβ, with c moved to
//! b after every pass. A constant that costs like a weight is a column of one value: c stays zero.

use super::rows::Visited;
use super::{Constant, Problem};
use crate::error::Result;
use crate::run::{Run, Stop};

/// How many rows ahead one is asked for: rows are visited in any order, and memory is slow to answer.
const AHEAD: usize = 2;

/// Where a descent has ended.
#[derive(Clone, Debug)]
pub(super) struct Descent {
    pub(super) beta: Vec<f64>,
    /// b; that of a free constant is not yet that of the balanced β.
    pub(super) bias: f64,
    pub(super) stop: Stop,
    pub(super) passes: usize,
    pub(super) violation: f64,
}

/// Where a row stands: its slope on either side, and what it may do.
struct Place {
    /// The slope towards larger β, and towards smaller.
    up: f64,
    down: f64,
    at_low: bool,
    at_high: bool,
}

impl Place {
    /// How far the slope is from zero in a direction in which β may move.
    #[inline(always)]
    fn violation(&self) -> f64 {
        if !self.at_high && self.up < 0.0 {
            self.up
        } else if !self.at_low && self.down > 0.0 {
            self.down
        } else {
            0.0
        }
    }

    /// Whether it is held so firmly that it need not be looked at: by more than the worst of the last pass.
    #[inline(always)]
    fn rests(&self, above: f64, below: f64) -> bool {
        (self.at_high || self.up > above) && (self.at_low || self.down < below)
    }
}

impl Problem<'_> {
    /// Descends from β (zero if there is none) until the violation of a pass over all rows is at most `tolerance`.
    pub(super) fn descend(&self, start: Option<Vec<f64>>, tolerance: f64, most: usize, run: &Run) -> Result<Descent> {
        let count = self.of.len();
        let rows = Visited::new(self.rows);
        let mut beta = start.unwrap_or_else(|| vec![0.0; count]);
        let mut weights = vec![0.0; rows.columns()];
        (0..count).filter(|&k| beta[k] != 0.0).for_each(|k| rows.add(self.of[k], beta[k], &mut weights));
        let mut sum: f64 = beta.iter().sum();
        // b = centre + pull · Σβ
        let mean_norm = self.norms.iter().sum::<f64>() / count.max(1) as f64;
        let (mut centre, pull) = match self.constant {
            Constant::None => (0.0, 0.0),
            Constant::Free => (0.0, mean_norm.max(f64::MIN_POSITIVE)),
            Constant::Penalised(scale) => (0.0, scale * scale),
        };
        let mut stream = run.stream(0);
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut active = count;
        let (mut above, mut below) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut stop, mut passes, mut violation) = (Stop::StepLimit, 0, f64::INFINITY);
        while passes < most {
            run.progress("passes", passes, 0);
            stream.shuffle(&mut order[..active]);
            let (mut largest, mut least) = (0.0f64, 0.0f64);
            let mut at = 0;
            while at < active {
                if at % 4096 == 0 {
                    run.check_cancelled()?;
                    if run.out_of_time() {
                        stop = Stop::Budget;
                        break;
                    }
                }
                let k = order[at] as usize;
                if let Some(&next) = order.get(at + AHEAD) {
                    rows.prefetch(self.of[next as usize]);
                }
                let old = beta[k];
                let bias = centre + pull * sum;
                let slope = rows.product(self.of[k], &weights) + bias + self.diagonal[k] * old - self.target[k];
                let place = Place {
                    up: slope + if old >= 0.0 { self.insensitive } else { -self.insensitive },
                    down: slope + if old > 0.0 { self.insensitive } else { -self.insensitive },
                    at_low: old <= self.low[k],
                    at_high: old >= self.high[k],
                };
                if place.rests(above, below) {
                    active -= 1;
                    order.swap(at, active);
                    continue;
                }
                let own = place.violation();
                (largest, least) = (largest.max(own), least.min(own));
                let curvature = self.norms[k] + self.diagonal[k] + pull;
                if own != 0.0 && curvature > 0.0 {
                    let best = drawn_to_zero(old - slope / curvature, self.insensitive / curvature);
                    let new = best.clamp(self.low[k], self.high[k]);
                    if new != old {
                        rows.add(self.of[k], new - old, &mut weights);
                        sum += new - old;
                        beta[k] = new;
                    }
                }
                at += 1;
            }
            passes += 1;
            if stop == Stop::Budget {
                break;
            }
            violation = largest - least;
            if self.constant == Constant::Free {
                centre += pull * sum;
                violation = violation.max((pull * sum).abs());
            }
            if violation <= tolerance && active == count {
                stop = Stop::Converged;
                break;
            }
            if violation <= tolerance {
                // Those that were skipped are looked at once more.
                active = count;
                (above, below) = (f64::INFINITY, f64::NEG_INFINITY);
            } else {
                above = if largest > 0.0 { largest } else { f64::INFINITY };
                below = if least < 0.0 { least } else { f64::NEG_INFINITY };
            }
        }
        let bias = if self.constant == Constant::Free { centre } else { centre + pull * sum };
        Ok(Descent { beta, bias, stop, passes, violation })
    }
}

/// A number drawn towards zero by so much.
#[inline(always)]
fn drawn_to_zero(value: f64, by: f64) -> f64 {
    if value > by {
        value - by
    } else if value < -by {
        value + by
    } else {
        0.0
    }
}
