//! Stochastic gradient descent in the primal: of λ/2 ‖a‖² + the mean loss, the gradient of one row at a time.
//!
//! ```text
//! a ← a - η (λ a + ℓ'(a·x + b) x),    b ← b - η ℓ'(a·x + b)
//! ```
//!
//! For the hinge loss ℓ' is -y where y (a·x + b) < 1 and zero elsewhere; for the perceptron's loss the threshold is 0.
//! The weights a are kept as a scale times a vector, so that a step that only shrinks them costs nothing. The learning rate η falls
//! by a schedule; averaging all a since some step lowers their variance.
//!
//! An explicit step is that of the formula. An implicit one takes the derivative where it ends (`loss.rs`), and rows about their
//! means: a free b then hardly depends on a, while otherwise it is tied to it, and moves only as fast as the penalty lets a.

use super::loss::Loss;
use super::rows::RowAccess;
use crate::error::{Error, Result};
use crate::matrix::simd::prefetch;
use crate::run::{Run, StopReason};

/// How many rows ahead are prefetched.
const PREFETCH_DISTANCE: usize = 4;

crate::choices! {
    /// How the learning rate falls with the number t of steps.
    pub enum Schedule {
        /// 1 / (λ (t + t₀)), with t₀ so that the first step fits weights of a typical size (Bottou 2010).
        #[default]
        Optimal = "optimal",
        /// The first learning rate throughout.
        Constant = "constant",
        /// The first learning rate, divided by a power of t.
        InverseScaling = "inverse-scaling",
        /// The first learning rate, divided by five after every few epochs without improvement.
        Adaptive = "adaptive",
    }
}

crate::choices! {
    /// Where a step takes the derivative of the loss.
    pub enum Update {
        /// Where it ends, and rows about the means of their columns: no learning rate is too large.
        #[default]
        Implicit = "implicit",
        /// Where it begins.
        Explicit = "explicit",
        /// Where it begins; but if that diverges, all is done again with implicit steps, and averaged.
        Safeguarded = "safeguarded",
    }
}

/// A problem in the primal, and the options of stochastic gradient descent.
pub(super) struct Sgd<'a> {
    /// The rows.
    pub rows: crate::matrix::Features<'a>,
    /// Whether each row is of the positive class, y = 1, not y = -1. One byte per row stays in the caches, though rows are visited in
    /// any order.
    pub positive: &'a [bool],
    /// Weight of each row; one without.
    pub weights: Option<&'a [f64]>,
    /// The loss of a row.
    pub loss: Loss,
    /// Penalty λ of half the sum of squared weights.
    pub l2_penalty: f64,
    /// Penalty of the sum of absolute weights.
    pub l1_penalty: f64,
    /// Penalty λ of the optimal schedule: the sum of both penalties, or what it would be.
    pub schedule_penalty: f64,
    /// Whether there is an intercept b.
    pub intercept: bool,
    /// Factor of the learning rate for b: below one where rows are sparse, because b is in every row.
    pub intercept_decay: f64,
    /// Where a step takes the derivative.
    pub update: Update,
    /// The means of the dense columns, about which rows are taken; empty if they are taken as they are.
    pub means: Vec<f64>,
    /// How the learning rate falls.
    pub schedule: Schedule,
    /// The first learning rate, for schedules that do not choose it.
    pub learning_rate: f64,
    /// Power of t in [`Schedule::InverseScaling`].
    pub power: f64,
    /// The step from which on weights are averaged; zero for no averaging.
    pub average: u64,
    /// Whether a step counts as often in the average as its number says, so that the first ones are soon forgotten (Lacoste-Julien,
    /// Schmidt and Bach 2012).
    pub average_rises: bool,
    /// The largest number of epochs.
    pub epochs: usize,
    /// An epoch must lower the mean loss by this to count as an improvement; below zero all epochs are run.
    pub tolerance: f64,
    /// The number of epochs without improvement after which to stop.
    pub patience: usize,
    /// Whether rows are shuffled before each epoch.
    pub shuffle: bool,
    /// Steps of earlier fits, from which the schedule goes on.
    pub steps_before: u64,
    /// Rows to stop early by: the accuracy on them must rise by the tolerance, rather than the mean loss fall.
    pub validation: Option<Validation<'a>>,
}

/// Held-out rows, whose accuracy says when to stop.
pub(super) struct Validation<'a> {
    /// The rows.
    pub rows: crate::matrix::Features<'a>,
    /// Whether each row is of the positive class.
    pub positive: &'a [bool],
    /// Weight of each row; one without.
    pub weights: Option<&'a [f64]>,
}

impl Validation<'_> {
    /// The weighted share of rows that are on the right side; `None` if time ran out.
    fn accuracy(&self, (weights, bias): (&[f64], f64), run: &Run) -> Result<Option<f64>> {
        let rows = RowAccess::new(self.rows);
        let (mut right, mut all) = (0.0, 0.0);
        for (i, &positive) in self.positive.iter().enumerate() {
            if i % rows_per_look(&rows) == 0 && is_over(run)? {
                return Ok(None);
            }
            let weight = self.weights.map_or(1.0, |weights| weights[i]);
            all += weight;
            right += if (rows.product(i, weights) + bias > 0.0) == positive { weight } else { 0.0 };
        }
        Ok(Some(right / all))
    }
}

/// After how many rows a pass looks whether to stop.
fn rows_per_look(rows: &RowAccess<'_>) -> usize {
    rows.piece().min(4096)
}

/// Whether time has run out; an error if the run is cancelled.
fn is_over(run: &Run) -> Result<bool> {
    run.check_cancelled()?;
    Ok(run.out_of_time())
}

/// Counts epochs without improvement, of the loss or of an accuracy.
struct Improvement {
    best: f64,
    without: usize,
}

impl Improvement {
    fn new() -> Improvement {
        Improvement { best: f64::INFINITY, without: 0 }
    }

    /// Takes note of a value that should fall by at least `tolerance`; below zero any value will do.
    fn note(&mut self, value: f64, tolerance: f64) {
        let improved = tolerance < 0.0 || value <= self.best - tolerance;
        self.without = if improved { 0 } else { self.without + 1 };
        self.best = self.best.min(value);
    }
}

/// The result of stochastic gradient descent.
#[derive(Clone, Debug, PartialEq)]
pub struct SgdSolution {
    /// Weights of the features.
    pub weights: Vec<f64>,
    /// Constant b of the score.
    pub bias: f64,
    /// Number of steps, those of earlier fits included.
    pub steps: u64,
    /// Number of epochs.
    pub epochs: usize,
    /// Why it stopped.
    pub stop: StopReason,
    /// Mean loss of each epoch.
    pub trace: Vec<f64>,
}

/// Weights a = scale · direction, and the sum of all a so far.
struct ScaledWeights {
    direction: Vec<f64>,
    scale: f64,
    /// With S the sum of all scales, the sum of all a is S · direction - lag: only a change of direction updates it.
    lag: Vec<f64>,
    scales: f64,
    bias: f64,
    biases: f64,
    counted: f64,
}

impl ScaledWeights {
    /// Shrinks a by a factor, which is free until digits are at stake.
    fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
        if self.scale < 1e-9 {
            // The sum so far goes into the lag.
            self.lag.iter_mut().zip(&self.direction).for_each(|(lag, x)| *lag -= self.scales * x);
            self.direction.iter_mut().for_each(|x| *x *= self.scale);
            (self.scale, self.scales) = (1.0, 0.0);
        }
    }

    /// Adds a and b to their sums, this many times.
    fn accumulate(&mut self, times: f64) {
        self.scales += times * self.scale;
        self.biases += times * self.bias;
        self.counted += times;
    }

    /// Forgets all before.
    fn forget(&mut self) {
        (self.scales, self.biases, self.counted) = (0.0, 0.0, 0.0);
        self.lag.fill(0.0);
    }

    /// a and b, averaged if they were summed.
    fn parts(&self) -> (Vec<f64>, f64) {
        if self.counted == 0.0 {
            return (self.direction.iter().map(|x| x * self.scale).collect(), self.bias);
        }
        let mean = |(x, lag): (&f64, &f64)| (self.scales * x - lag) / self.counted;
        (self.direction.iter().zip(&self.lag).map(mean).collect(), self.biases / self.counted)
    }
}

/// What descends: the weights, and what each step needs beside them.
struct Descent<'d> {
    sgd: &'d Sgd<'d>,
    rows: RowAccess<'d>,
    a: ScaledWeights,
    /// The number of the next step.
    step: u64,
    learning_rate: f64,
    /// t₀ of the optimal schedule.
    offset: f64,
    /// The squared length of each row, with b's share; for implicit steps.
    squared_lengths: Vec<f64>,
    /// Whether a step of this epoch has changed more than the scale.
    changed: bool,
    /// The cumulative L1 penalty, and how much of it each weight has received (Tsuruoka and others 2009).
    l1_due: f64,
    l1_applied: Vec<f64>,
}

impl<'d> Descent<'d> {
    /// At the start, and whether there was time for what steps need.
    fn new(sgd: &'d Sgd<'d>, start: Option<(Vec<f64>, f64)>, run: &Run) -> Result<(Descent<'d>, bool)> {
        let (rows, count) = (RowAccess::new(sgd.rows).about(sgd.means.clone()), sgd.positive.len());
        let fits = rows.count() == count
            && sgd.weights.is_none_or(|weights| weights.len() == count)
            && start.as_ref().is_none_or(|(weights, _)| weights.len() == rows.columns());
        if !fits {
            return Err(Error::data("rows, classes, weights and start do not match", "Give as many of each."));
        }
        let (direction, bias) = start.unwrap_or_else(|| (vec![0.0; rows.columns()], 0.0));
        let bias = bias - rows.shift(&direction);
        let lengths = sgd.squared_lengths(&rows, run)?;
        let (in_time, squared_lengths) = (lengths.is_some(), lengths.unwrap_or_default());
        let lag = if sgd.average > 0 { vec![0.0; rows.columns()] } else { Vec::new() };
        let l1_applied = if sgd.l1_penalty > 0.0 { vec![0.0; rows.columns()] } else { Vec::new() };
        let descent = Descent {
            sgd,
            rows,
            a: ScaledWeights { direction, scale: 1.0, lag, scales: 0.0, bias, biases: 0.0, counted: 0.0 },
            step: sgd.steps_before + 1,
            learning_rate: sgd.learning_rate,
            offset: sgd.optimal_offset(&squared_lengths),
            squared_lengths,
            changed: false,
            l1_due: 0.0,
            l1_applied,
        };
        Ok((descent, in_time))
    }

    /// Visits all rows in this order; returns the sum of their losses, `None` if time ran out.
    fn epoch(&mut self, order: &[u32], run: &Run) -> Result<Option<f64>> {
        let rows_per_look = rows_per_look(&self.rows);
        let mut total_loss = 0.0;
        for (at, &i) in order.iter().enumerate() {
            if at % rows_per_look == 0 && is_over(run)? {
                return Ok(None);
            }
            if let Some(&next) = order.get(at + PREFETCH_DISTANCE) {
                self.prefetch(next as usize);
            }
            total_loss += self.visit(i as usize);
        }
        Ok(Some(total_loss))
    }

    /// A step along the gradient of a row's loss; returns the loss before it.
    #[inline(always)]
    fn visit(&mut self, i: usize) -> f64 {
        let eta = self.next_rate();
        let loss = match self.sgd.update {
            Update::Implicit => self.implicit_step(i, eta),
            Update::Explicit | Update::Safeguarded => self.explicit_step(i, eta),
        };
        let (sgd, a) = (self.sgd, &mut self.a);
        if sgd.l1_penalty > 0.0 {
            self.l1_due += eta * sgd.l1_penalty;
            let (l1_due, l1_applied) = (self.l1_due, &mut self.l1_applied);
            self.rows.each_column(i, |j| apply_l1(&mut a.direction[j], a.scale, l1_due, &mut l1_applied[j]));
        }
        if sgd.average > 0 && self.step >= sgd.average {
            a.accumulate(if sgd.average_rises { self.step as f64 } else { 1.0 });
        }
        self.step += 1;
        loss
    }

    /// η of the next step.
    #[inline(always)]
    fn next_rate(&self) -> f64 {
        let (sgd, step) = (self.sgd, self.step as f64);
        match (sgd.schedule, sgd.update) {
            (Schedule::Optimal, Update::Implicit) => 1.0 / (sgd.schedule_penalty * (self.offset + step)),
            (Schedule::Optimal, _) => 1.0 / (sgd.schedule_penalty * (self.offset + step - 1.0)),
            (Schedule::InverseScaling, _) => sgd.learning_rate / step.powf(sgd.power),
            (Schedule::Constant | Schedule::Adaptive, _) => self.learning_rate,
        }
    }

    #[inline(always)]
    fn explicit_step(&mut self, i: usize, eta: f64) -> f64 {
        let (sgd, y) = (self.sgd, self.sgd.sign(i));
        let score = self.a.scale * self.rows.product(i, &self.a.direction) + self.a.bias;
        // Derivatives of unbounded losses are clipped.
        let derivative = sgd.loss.derivative(y, score).clamp(-1e12, 1e12);
        if sgd.l2_penalty > 0.0 {
            self.a.shrink((1.0 - eta * sgd.l2_penalty).max(0.0));
        }
        self.add(i, -eta * derivative * sgd.weight(i));
        sgd.loss.of(y, score)
    }

    /// The penalty and the loss each have an implicit step of their own.
    #[inline(always)]
    fn implicit_step(&mut self, i: usize, eta: f64) -> f64 {
        let (sgd, y) = (self.sgd, self.sgd.sign(i));
        let is_perceptron = sgd.loss == Loss::Perceptron;
        let shrinks = sgd.l2_penalty > 0.0;
        let factor = if shrinks { 1.0 / (1.0 + eta * sgd.l2_penalty) } else { 1.0 };
        if shrinks && !is_perceptron {
            self.a.shrink(factor);
        }
        let score = self.a.scale * self.rows.product(i, &self.a.direction) + self.a.bias;
        let step = sgd.loss.implicit_step(y * score, eta * sgd.weight(i), self.squared_lengths[i]);
        self.add(i, y * step);
        if shrinks && is_perceptron {
            // Only the direction of a and b together matters: with the optimal schedule it is that of Rosenblatt's perceptron,
            // which adds every wrong row as often as any other.
            self.a.shrink(factor);
            self.a.bias *= factor;
        }
        sgd.loss.of(y, score)
    }

    /// Adds a multiple of a row to a, and to b.
    #[inline(always)]
    fn add(&mut self, i: usize, change: f64) {
        if change == 0.0 {
            return;
        }
        self.changed = true;
        let a = &mut self.a;
        let along = change / a.scale;
        self.rows.add(i, along, &mut a.direction);
        if a.scales > 0.0 {
            self.rows.add(i, along * a.scales, &mut a.lag);
        }
        if self.sgd.intercept {
            a.bias += change * self.sgd.intercept_decay;
        }
    }

    /// a and b, averaged if they were summed, of rows as they are.
    fn parts(&self) -> (Vec<f64>, f64) {
        let (weights, bias) = self.a.parts();
        let shift = self.rows.shift(&weights);
        (weights, bias + shift)
    }

    /// Prefetches a row that will be visited soon.
    #[inline]
    fn prefetch(&self, i: usize) {
        self.rows.prefetch(i);
        prefetch(&self.sgd.positive[i..=i]);
        if let Some(weights) = self.sgd.weights {
            prefetch(&weights[i..=i]);
        }
    }
}

impl Sgd<'_> {
    /// Descends from a start (zero if there is none).
    pub fn fit(&self, start: Option<(Vec<f64>, f64)>, run: &Run) -> Result<SgdSolution> {
        let (mut descent, in_time) = Descent::new(self, start, run)?;
        let count = self.positive.len();
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut stream = run.stream(0);
        let (mut epochs, mut stop) = (0, if in_time { StopReason::StepLimit } else { StopReason::Budget });
        let mut improvement = Improvement::new();
        let mut trace = Vec::new();
        while in_time && epochs < self.epochs {
            run.progress("epochs", epochs, self.epochs);
            if self.shuffle {
                stream.shuffle(&mut order);
            }
            descent.changed = false;
            let Some(total_loss) = descent.epoch(&order, run)? else {
                stop = StopReason::Budget;
                break;
            };
            epochs += 1;
            trace.push(total_loss / count.max(1) as f64);
            if !(descent.a.bias.is_finite() && descent.a.scale.is_finite() && total_loss.is_finite()) {
                break;
            }
            if self.loss == Loss::Perceptron && !descent.changed {
                // All rows are on their side of these weights, though perhaps not of an average.
                descent.a.forget();
                stop = StopReason::Converged;
                break;
            }
            match &self.validation {
                None => improvement.note(total_loss, self.tolerance * count as f64),
                Some(held_out) => {
                    let (weights, bias) = descent.parts();
                    let Some(accuracy) = held_out.accuracy((&weights, bias), run)? else {
                        stop = StopReason::Budget;
                        break;
                    };
                    improvement.note(-accuracy, self.tolerance);
                }
            }
            if improvement.without >= self.patience {
                if self.schedule == Schedule::Adaptive && descent.learning_rate > 1e-6 {
                    descent.learning_rate /= 5.0;
                    improvement.without = 0;
                } else {
                    stop = StopReason::Converged;
                    break;
                }
            }
        }
        let (weights, bias) = descent.parts();
        Ok(SgdSolution { weights, bias, steps: descent.step - 1, epochs, stop, trace })
    }

    /// y = ±1 of a row.
    #[inline(always)]
    fn sign(&self, i: usize) -> f64 {
        if self.positive[i] { 1.0 } else { -1.0 }
    }

    #[inline(always)]
    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// The squared length of each row, with b's share, of which explicit steps need none; `None` if time ran out.
    fn squared_lengths(&self, rows: &RowAccess<'_>, run: &Run) -> Result<Option<Vec<f64>>> {
        if self.update != Update::Implicit {
            return Ok(Some(Vec::new()));
        }
        let of_bias = if self.intercept { self.intercept_decay } else { 0.0 };
        let mut lengths = Vec::with_capacity(self.positive.len());
        while lengths.len() < self.positive.len() {
            if is_over(run)? {
                return Ok(None);
            }
            let to = self.positive.len().min(lengths.len() + rows_per_look(rows));
            lengths.extend((lengths.len()..to).map(|i| rows.squared_length(i) + of_bias));
        }
        if lengths.iter().all(|length| length.is_finite()) { Ok(Some(lengths)) } else { Err(self.rows.not_finite()) }
    }

    /// t₀ of the optimal schedule. The first explicit step moves a weight of a typical size, λ^-¼, by no more than that (Bottou 2010);
    /// the first implicit one has the learning rate 1/L of gradient descent, with L the mean curvature of the loss of a row.
    fn optimal_offset(&self, squared_lengths: &[f64]) -> f64 {
        if self.update == Update::Implicit {
            let lengths = squared_lengths.iter().enumerate().map(|(i, length)| self.weight(i) * length);
            let mean = lengths.sum::<f64>() / squared_lengths.len().max(1) as f64;
            return self.loss.curvature() * mean / self.schedule_penalty;
        }
        let typical = (1.0 / self.schedule_penalty.sqrt()).sqrt();
        let derivative = self.loss.derivative(1.0, -typical).abs();
        let eta = typical / derivative.max(1.0);
        1.0 / (eta * self.schedule_penalty)
    }
}

/// Applies the L1 penalty that is due to a weight, but not past zero.
fn apply_l1(direction: &mut f64, scale: f64, l1_due: f64, l1_applied: &mut f64) {
    let before = *direction;
    if scale * before > 0.0 {
        *direction = (before - (l1_due + *l1_applied) / scale).max(0.0);
    } else if scale * before < 0.0 {
        *direction = (before + (l1_due - *l1_applied) / scale).min(0.0);
    }
    *l1_applied += scale * (*direction - before);
}
