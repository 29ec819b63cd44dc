//! Dual coordinate descent for linear support vector machines (Hsieh and others 2008), one row at a time:
//!
//! ```text
//! minimise  ½‖w‖² + ½ Σ dᵢ βᵢ² - tᵀβ + ε Σ|βᵢ|    where  w = Σ βᵢ xᵢ,  lowᵢ ≤ βᵢ ≤ highᵢ
//! ```
//!
//! d is zero for the hinge loss and 1/(2C) for the squared one, which has no upper bound. The minimum in one coordinate is
//! β - G/h with the gradient G = w·x + b + dβ - t and the curvature h = ‖x‖² + d, soft-thresholded by ε/h, within the bounds.
//! Shrinking skips rows that the gradient holds at a bound until all others have converged. A step goes a little past the minimum
//! of its coordinate (successive overrelaxation: Mangasarian and Musicant 1999).
//!
//! A free intercept b makes Σβ = 0 a constraint. It is met by the method of multipliers (augmented Lagrangian): b = c + s Σβ, with
//! the multiplier c moved to b after every epoch. A penalised intercept is a column of one value: c stays zero.

use super::lanes::{Lane, Lanes};
use super::rows::RowAccess;
use super::{Coordinate, InterceptPenalty, Problem, counted_epochs};
use crate::error::Result;
use crate::margin::model::counted;
use crate::matrix::Matrix;
use crate::run::{Run, StopReason};

/// How many rows ahead are prefetched: rows are visited in any order, and memory is slow to answer.
const PREFETCH_DISTANCE: usize = 2;

/// The share of a step by which it goes past the minimum; below one, the objective still falls. Not for a free intercept: b would
/// follow what goes too far.
const OVERRELAXATION: f64 = 0.3;

/// A KKT violation below this share of the targets is rounding: skipped rows need not wait for a smaller one.
const ROUNDING: f64 = 1e-12;

/// The method that found a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Dual coordinate descent.
    Coordinates,
    Interior,
    Newton,
}

impl Method {
    /// Its name and number of iterations, in words.
    pub(super) fn describe(self, iterations: usize) -> String {
        match self {
            Method::Coordinates => format!("coordinate descent in the dual, {}", counted_epochs(iterations)),
            Method::Interior => format!("interior-point method, {}", counted(iterations, "step")),
            Method::Newton => format!("Newton's method in the primal, {}", counted(iterations, "step")),
        }
    }
}

/// The solution of a linear problem, by any method.
#[derive(Clone, Debug)]
pub(super) struct LinearSolution {
    /// Dual coefficients β.
    pub(super) beta: Vec<f64>,
    pub(super) stop: StopReason,
    pub(super) method: Method,
    /// Epochs of coordinate descent, or steps of the other methods.
    pub(super) iterations: usize,
    /// Another method that was tried before, and its iterations.
    pub(super) before: Option<(Method, usize)>,
    /// The largest KKT violation of the last epoch of coordinate descent.
    pub(super) kkt_violation: Option<f64>,
    /// Number of support vectors.
    pub(super) support: usize,
    /// Weights and bias, if they are more exact than those from β: of columns far from zero Σ βx has few digits.
    pub(super) primal_point: Option<(Matrix, f64)>,
}

/// The gradient of a coordinate on either side, and whether β is at a bound.
struct CoordinateState {
    /// Derivative towards larger β.
    up: f64,
    /// Derivative towards smaller β.
    down: f64,
    at_low: bool,
    at_high: bool,
}

impl CoordinateState {
    /// The projected gradient: how far the derivative is from zero in a direction in which β may move.
    #[inline(always)]
    fn projected_gradient(&self) -> f64 {
        if !self.at_high && self.up < 0.0 {
            self.up
        } else if !self.at_low && self.down > 0.0 {
            self.down
        } else {
            0.0
        }
    }

    /// Whether the gradient holds β at a bound by more than the largest KKT violation of the last epoch, so that it can be skipped.
    #[inline(always)]
    fn is_at_rest(&self, above: f64, below: f64) -> bool {
        (self.at_high || self.up > above) && (self.at_low || self.down < below)
    }
}

/// Minimises over one coordinate after another.
pub(super) struct Visitor<'a> {
    pub(super) rows: RowAccess<'a>,
    epsilon: f64,
    overrelaxation: f64,
    /// Multiplier c of the intercept b = c + s Σβ.
    pub(super) multiplier: f64,
    /// Penalty parameter s of the intercept b = c + s Σβ.
    pub(super) penalty: f64,
    /// Derivative above which a coordinate at its lower bound is skipped.
    above: f64,
    /// Derivative below which a coordinate at its upper bound is skipped.
    below: f64,
}

impl Visitor<'_> {
    /// Moves the multiplier to the intercept; returns how far Σβ is from zero.
    fn move_multiplier(&mut self, lane: &Lane, coordinates: &[Coordinate]) -> f64 {
        let step = self.penalty * lane.sum;
        self.multiplier += step;
        let size: f64 = coordinates.iter().map(|one| one.beta.abs()).sum();
        step.abs().max(lane.sum.abs() / size.max(f64::MIN_POSITIVE))
    }

    /// From now on rows at a bound are skipped whose derivative is beyond the largest of the last epoch.
    fn skip_beyond(&mut self, lane: &Lane) {
        self.above = if lane.largest > 0.0 { lane.largest } else { f64::INFINITY };
        self.below = if lane.least < 0.0 { lane.least } else { f64::NEG_INFINITY };
    }

    /// Visits all coordinates, a piece at a time, and moves skipped ones to the end; returns how many are left, `None` if time ran
    /// out.
    fn epoch(
        &self,
        coordinates: &mut [Coordinate],
        lanes: &mut Lanes,
        lane: &mut Lane,
        run: &Run,
    ) -> Result<Option<usize>> {
        let mut live = 0;
        // A piece takes a fraction of a second.
        for from in (0..coordinates.len()).step_by(self.rows.piece()) {
            run.check_cancelled()?;
            if run.out_of_time() {
                return Ok(None);
            }
            let to = coordinates.len().min(from + self.rows.piece());
            let (piece, pool) = (&mut coordinates[from..to], run.thread_pool());
            let kept = if lanes.blocks(piece.len()) == 0 {
                // One lane is work for this thread: waking another one for it takes time, and leaves the caches behind.
                self.visit(piece, lane);
                lane.live
            } else {
                pool.inside(|| lanes.visit_all(self, piece, lane, pool))
            };
            (0..kept).for_each(|at| coordinates.swap(live + at, from + at));
            live += kept;
        }
        Ok(Some(live))
    }

    /// Visits a block of rows. Skipped ones are moved to its end.
    pub(super) fn visit(&self, block: &mut [Coordinate], lane: &mut Lane) {
        lane.live = block.len();
        let mut at = 0;
        while at < lane.live {
            if let Some(next) = block.get(at + PREFETCH_DISTANCE) {
                self.rows.prefetch(next.row);
            }
            let one = &mut block[at];
            let bias = self.multiplier + self.penalty * lane.sum;
            let own = one.diagonal * one.beta - one.target;
            let gradient = self.rows.product(one.row, &lane.weights) + bias + own;
            let state = CoordinateState {
                up: gradient + if one.beta >= 0.0 { self.epsilon } else { -self.epsilon },
                down: gradient + if one.beta > 0.0 { self.epsilon } else { -self.epsilon },
                at_low: one.beta <= one.low,
                at_high: one.beta >= one.high,
            };
            if state.is_at_rest(self.above, self.below) {
                lane.live -= 1;
                block.swap(at, lane.live);
                continue;
            }
            let kkt_violation = state.projected_gradient();
            (lane.largest, lane.least) = (lane.largest.max(kkt_violation), lane.least.min(kkt_violation));
            let curvature = one.norm + one.diagonal + self.penalty;
            if kkt_violation != 0.0 && curvature > 0.0 {
                let best = soft_threshold(one.beta - gradient / curvature, self.epsilon / curvature);
                let relaxed = best + self.overrelaxation * (best - one.beta);
                // Past zero the derivative is another.
                let new = if self.epsilon == 0.0 || relaxed * best > 0.0 { relaxed } else { best };
                let new = new.clamp(one.low, one.high);
                let step = new - one.beta;
                if step != 0.0 {
                    self.rows.add(one.row, step, &mut lane.weights);
                    lane.sum += step;
                    if lane.records {
                        lane.steps.push((at, step));
                        lane.slope += own * step + self.epsilon * (new.abs() - one.beta.abs());
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
    /// Descends from β (zero if there is none) until the KKT violation of an epoch over all rows is at most `tolerance`.
    pub(super) fn coordinate_descent(
        &self,
        start: Option<Vec<f64>>,
        tolerance: f64,
        max_epochs: usize,
        run: &Run,
    ) -> Result<LinearSolution> {
        let rows = RowAccess::new(self.rows);
        let (mut coordinates, mut lane) = self.begin(start, &rows);
        let count = coordinates.len();
        let scale = coordinates.iter().map(|one| one.target.abs()).fold(0.0, f64::max);
        let penalty = self.multiplier_penalty();
        let mut lanes = Lanes::new(&self.rows);
        let (above, below) = (f64::INFINITY, f64::NEG_INFINITY);
        let overrelaxation = if self.intercept == InterceptPenalty::Free { 0.0 } else { OVERRELAXATION };
        let mut visitor =
            Visitor { rows, epsilon: self.epsilon, overrelaxation, multiplier: 0.0, penalty, above, below };
        let mut stream = run.stream(0);
        let mut active = count;
        let (mut stop, mut epochs, mut kkt_violation) = (StopReason::StepLimit, 0, f64::INFINITY);
        while epochs < max_epochs {
            run.stage(|| format!("KKT violation {kkt_violation:.1e} of {tolerance:.0e} after {epochs} epochs"));
            stream.shuffle(&mut coordinates[..active]);
            (lane.largest, lane.least) = (0.0, 0.0);
            let Some(live) = visitor.epoch(&mut coordinates[..active], &mut lanes, &mut lane, run)? else {
                stop = StopReason::Budget;
                break;
            };
            active = live;
            epochs += 1;
            kkt_violation = lane.largest - lane.least;
            if self.intercept == InterceptPenalty::Free {
                kkt_violation = kkt_violation.max(visitor.move_multiplier(&lane, &coordinates));
            }
            if kkt_violation <= tolerance && active == count {
                stop = StopReason::Converged;
                break;
            }
            if kkt_violation <= tolerance.max(ROUNDING * scale) {
                // Rows that were skipped are checked once more.
                active = count;
                (visitor.above, visitor.below) = (f64::INFINITY, f64::NEG_INFINITY);
            } else {
                visitor.skip_beyond(&lane);
            }
        }
        coordinates.sort_unstable_by_key(|one| one.row);
        let beta: Vec<f64> = coordinates.iter().map(|one| one.beta).collect();
        let support = beta.iter().filter(|beta| **beta != 0.0).count();
        Ok(LinearSolution {
            beta,
            stop,
            method: Method::Coordinates,
            iterations: epochs,
            before: None,
            kkt_violation: Some(kkt_violation),
            support,
            primal_point: None,
        })
    }

    /// The coordinates at β (zero if there is none), and the weights that follow.
    fn begin(&self, start: Option<Vec<f64>>, rows: &RowAccess<'_>) -> (Vec<Coordinate>, Lane) {
        let mut coordinates = self.coordinates.clone();
        let mut lane = Lane { weights: vec![0.0; rows.columns()], ..Lane::default() };
        for (one, beta) in coordinates.iter_mut().zip(start.into_iter().flatten()) {
            one.beta = beta;
            rows.add(one.row, beta, &mut lane.weights);
        }
        lane.sum = coordinates.iter().map(|one| one.beta).sum();
        (coordinates, lane)
    }

    /// The penalty parameter s of the method of multipliers, or of a penalised intercept.
    fn multiplier_penalty(&self) -> f64 {
        let coordinates = &self.coordinates;
        match self.intercept {
            InterceptPenalty::None => 0.0,
            InterceptPenalty::Free => {
                // Where rows are short, b has to move as far as all of them at their bounds.
                let mean_norm = coordinates.iter().map(|one| one.norm).sum::<f64>() / coordinates.len().max(1) as f64;
                let cost: f64 = coordinates.iter().map(|one| one.cost).sum();
                mean_norm.max(1.0 / cost).max(f64::MIN_POSITIVE)
            }
            InterceptPenalty::Penalised(scale) => scale * scale,
        }
    }
}

/// Moves a number towards zero by a threshold (the proximal operator of the absolute value).
#[inline(always)]
pub(super) fn soft_threshold(value: f64, threshold: f64) -> f64 {
    if value > threshold {
        value - threshold
    } else if value < -threshold {
        value + threshold
    } else {
        0.0
    }
}
