//! Dual coordinate descent for linear machines (Hsieh and others 2008), one row at a time:
//!
//! ```text
//! minimise  ½‖w‖² + ½ Σ dᵢ βᵢ² - tᵀβ + ε Σ|βᵢ|    where  w = Σ βᵢ xᵢ,  lowᵢ ≤ βᵢ ≤ highᵢ
//! ```
//!
//! d is zero for the hinge loss and 1/(2C) for the squared one, which has no upper bound. In one coordinate the minimum is known:
//! β - G/h with G = w·x + b + dβ - t and h = ‖x‖² + d, drawn towards zero by ε/h, within the bounds. Rows at rest, whose slope
//! holds them where they are, are skipped until all others are done. A step goes a little past the minimum of its coordinate, which
//! pays off in the next ones (successive overrelaxation: Mangasarian and Musicant 1999).
//!
//! A constant b that costs nothing makes Σβ = 0 a constraint. It is met by the method of multipliers: b = c + s Σβ, with c moved to
//! b after every pass. A constant that costs like a weight is a column of one value: c stays zero.

use super::lanes::{Lane, Lanes};
use super::rows::Visited;
use super::{Constant, Coordinate, Problem, counted_passes};
use crate::error::Result;
use crate::margin::machine::counted;
use crate::matrix::Matrix;
use crate::run::{Run, Stop};

/// How many rows ahead one is asked for: rows are visited in any order, and memory is slow to answer.
const AHEAD: usize = 2;

/// The share of a step by which it goes past the minimum; below one, the objective still falls. Not where b is moved after every
/// pass: it would follow what goes too far.
const PAST: f64 = 0.3;

/// A violation of this share of the targets is none that those who were skipped could wait for.
const ROUNDING: f64 = 1e-12;

/// How an optimum is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// One row at a time.
    Coordinates,
    Interior,
    Newton,
}

impl Method {
    /// What it is called, after so many passes or steps.
    pub(super) fn told(self, passes: usize) -> String {
        match self {
            Method::Coordinates => format!("coordinate descent in the dual, {}", counted_passes(passes)),
            Method::Interior => format!("interior-point method, {}", counted(passes, "step")),
            Method::Newton => format!("Newton's method in the primal, {}", counted(passes, "step")),
        }
    }
}

/// Where a descent has ended.
#[derive(Clone, Debug)]
pub(super) struct Descent {
    pub(super) beta: Vec<f64>,
    pub(super) stop: Stop,
    pub(super) method: Method,
    pub(super) passes: usize,
    /// Another method that was tried before, and for how many passes.
    pub(super) before: Option<(Method, usize)>,
    /// The largest violation of the last pass, where passes were made.
    pub(super) violation: Option<f64>,
    pub(super) support: usize,
    /// w and b, where they are known better than from β: of columns far from zero Σ βx has few digits.
    pub(super) known: Option<(Matrix, f64)>,
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

/// Visits rows one after another.
pub(super) struct Visitor<'a> {
    pub(super) rows: Visited<'a>,
    insensitive: f64,
    past: f64,
    /// b = centre + pull · Σβ
    pub(super) centre: f64,
    pub(super) pull: f64,
    /// Slopes beyond which a row that is held need not be looked at.
    above: f64,
    below: f64,
}

impl Visitor<'_> {
    /// Visits a block of rows. Those that rest are moved to its end.
    pub(super) fn visit(&self, block: &mut [Coordinate], lane: &mut Lane) {
        lane.live = block.len();
        let mut at = 0;
        while at < lane.live {
            if let Some(next) = block.get(at + AHEAD) {
                self.rows.prefetch(next.row);
            }
            let one = &mut block[at];
            let bias = self.centre + self.pull * lane.sum;
            let own = one.diagonal * one.beta - one.target;
            let slope = self.rows.product(one.row, &lane.weights) + bias + own;
            let place = Place {
                up: slope + if one.beta >= 0.0 { self.insensitive } else { -self.insensitive },
                down: slope + if one.beta > 0.0 { self.insensitive } else { -self.insensitive },
                at_low: one.beta <= one.low,
                at_high: one.beta >= one.high,
            };
            if place.rests(self.above, self.below) {
                lane.live -= 1;
                block.swap(at, lane.live);
                continue;
            }
            let violation = place.violation();
            (lane.largest, lane.least) = (lane.largest.max(violation), lane.least.min(violation));
            let curvature = one.norm + one.diagonal + self.pull;
            if violation != 0.0 && curvature > 0.0 {
                let best = drawn_to_zero(one.beta - slope / curvature, self.insensitive / curvature);
                let past = best + self.past * (best - one.beta);
                // What is past zero has another slope.
                let new = if self.insensitive == 0.0 || past * best > 0.0 { past } else { best };
                let new = new.clamp(one.low, one.high);
                let step = new - one.beta;
                if step != 0.0 {
                    self.rows.add(one.row, step, &mut lane.weights);
                    lane.sum += step;
                    if lane.records {
                        lane.steps.push((at, step));
                        lane.slope += own * step + self.insensitive * (new.abs() - one.beta.abs());
                        lane.curvature += one.diagonal * step * step;
                    }
                    one.beta = new;
                }
            }
            at += 1;
        }
    }
}

impl Problem<'_> {
    /// Descends from β (zero if there is none) until the violation of a pass over all rows is at most `tolerance`.
    pub(super) fn descend(&self, start: Option<Vec<f64>>, tolerance: f64, most: usize, run: &Run) -> Result<Descent> {
        let mut of = self.of.clone();
        let count = of.len();
        let rows = Visited::new(self.rows);
        let mut lane = Lane { weights: vec![0.0; rows.columns()], ..Lane::default() };
        for (one, beta) in of.iter_mut().zip(start.into_iter().flatten()) {
            one.beta = beta;
            rows.add(one.row, beta, &mut lane.weights);
        }
        lane.sum = of.iter().map(|one| one.beta).sum();
        let mean_norm = of.iter().map(|one| one.norm).sum::<f64>() / count.max(1) as f64;
        let cost: f64 = of.iter().map(|one| one.cost).sum();
        let scale = of.iter().map(|one| one.target.abs()).fold(0.0, f64::max);
        let pull = match self.constant {
            Constant::None => 0.0,
            // Where rows are short, b has to go as far as they do together at their bounds.
            Constant::Free => mean_norm.max(1.0 / cost).max(f64::MIN_POSITIVE),
            Constant::Penalised(scale) => scale * scale,
        };
        let mut lanes = Lanes::new(&self.rows);
        let (above, below) = (f64::INFINITY, f64::NEG_INFINITY);
        let past = if self.constant == Constant::Free { 0.0 } else { PAST };
        let mut visitor = Visitor { rows, insensitive: self.insensitive, past, centre: 0.0, pull, above, below };
        let mut stream = run.stream(0);
        let mut active = count;
        let (mut stop, mut passes, mut violation) = (Stop::StepLimit, 0, f64::INFINITY);
        'passes: while passes < most {
            run.tell(|| format!("violation {violation:.1e} of {tolerance:.0e} after {passes} passes"));
            stream.shuffle(&mut of[..active]);
            (lane.largest, lane.least) = (0.0, 0.0);
            let mut live = 0;
            // A piece takes a fraction of a second.
            for from in (0..active).step_by(visitor.rows.piece()) {
                run.check_cancelled()?;
                if run.out_of_time() {
                    stop = Stop::Budget;
                    break 'passes;
                }
                let to = active.min(from + visitor.rows.piece());
                let (piece, crew) = (&mut of[from..to], run.crew());
                let kept = crew.inside(|| lanes.pass(&visitor, piece, &mut lane, crew));
                (0..kept).for_each(|at| of.swap(live + at, from + at));
                live += kept;
            }
            active = live;
            passes += 1;
            violation = lane.largest - lane.least;
            if self.constant == Constant::Free {
                visitor.centre += pull * lane.sum;
                let size: f64 = of.iter().map(|one| one.beta.abs()).sum();
                violation = violation.max((pull * lane.sum).abs()).max(lane.sum.abs() / size.max(f64::MIN_POSITIVE));
            }
            if violation <= tolerance && active == count {
                stop = Stop::Converged;
                break;
            }
            if violation <= tolerance.max(ROUNDING * scale) {
                // Those that were skipped are looked at once more.
                active = count;
                (visitor.above, visitor.below) = (f64::INFINITY, f64::NEG_INFINITY);
            } else {
                visitor.above = if lane.largest > 0.0 { lane.largest } else { f64::INFINITY };
                visitor.below = if lane.least < 0.0 { lane.least } else { f64::NEG_INFINITY };
            }
        }
        of.sort_unstable_by_key(|one| one.row);
        let beta: Vec<f64> = of.iter().map(|one| one.beta).collect();
        let support = beta.iter().filter(|beta| **beta != 0.0).count();
        let method = Method::Coordinates;
        Ok(Descent { beta, stop, method, passes, before: None, violation: Some(violation), support, known: None })
    }
}

/// A number drawn towards zero by so much.
#[inline(always)]
pub(super) fn drawn_to_zero(value: f64, by: f64) -> f64 {
    if value > by {
        value - by
    } else if value < -by {
        value + by
    } else {
        0.0
    }
}
