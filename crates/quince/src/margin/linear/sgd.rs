//! Stochastic gradient descent in the primal: of λ/2 ‖a‖² + the mean loss, the gradient of one row at a time.
//!
//! ```text
//! a ← a - η (λ a + ℓ'(a·x + b) x),    b ← b - η ℓ'(a·x + b)
//! ```
//!
//! For the hinge loss ℓ' is -y where y (a·x + b) < 1 and zero elsewhere; for "loss 1", the perceptron's, the bound is 0.
//! The weights a are kept as a scale times a vector, so that a step that only shrinks it costs nothing. The steps η get shorter by a
//! schedule; the mean of all a since some step wavers less than the last one.

use super::rows::Visited;
use crate::error::{Error, Result};
use crate::matrix::simd::prefetch;
use crate::run::{Run, Stop};
use serde::{Deserialize, Serialize};

/// How many rows ahead one is asked for.
const AHEAD: usize = 4;

/// What a row costs that has the score s and the class y = ±1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// max(0, 1 - y s)
    #[default]
    Hinge,
    /// max(0, 1 - y s)²
    SquaredHinge,
    /// max(0, -y s): "loss 1", the perceptron's.
    Perceptron,
    /// ln(1 + exp(-y s))
    Log,
    /// max(0, 1 - y s)², but -4 y s where y s < -1.
    ModifiedHuber,
}

impl Loss {
    /// What the row costs.
    pub fn of(self, y: f64, score: f64) -> f64 {
        let margin = y * score;
        match self {
            Loss::Hinge => (1.0 - margin).max(0.0),
            Loss::SquaredHinge => (1.0 - margin).max(0.0).powi(2),
            Loss::Perceptron => (-margin).max(0.0),
            Loss::Log if margin > 0.0 => (-margin).exp().ln_1p(),
            Loss::Log => -margin + margin.exp().ln_1p(),
            Loss::ModifiedHuber if margin < -1.0 => -4.0 * margin,
            Loss::ModifiedHuber => (1.0 - margin).max(0.0).powi(2),
        }
    }

    /// Its derivative in the score.
    pub fn slope(self, y: f64, score: f64) -> f64 {
        let margin = y * score;
        match self {
            Loss::Hinge if margin < 1.0 => -y,
            Loss::Perceptron if margin <= 0.0 => -y,
            Loss::Hinge | Loss::Perceptron => 0.0,
            Loss::SquaredHinge => -2.0 * y * (1.0 - margin).max(0.0),
            Loss::Log => -y / (1.0 + margin.exp()),
            Loss::ModifiedHuber if margin < -1.0 => -4.0 * y,
            Loss::ModifiedHuber => -2.0 * y * (1.0 - margin).max(0.0),
        }
    }
}

/// How long steps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// 1 / (λ (t + t₀)), with t₀ so that the first step fits weights of a typical size (Bottou 2010).
    #[default]
    Optimal,
    /// The rate throughout.
    Constant,
    /// The rate over a power of t.
    InverseScaling,
    /// The rate, divided by five whenever a few passes have gained nothing.
    Adaptive,
}

/// A problem in the primal.
pub struct Sgd<'a> {
    /// The rows.
    pub rows: crate::matrix::Features<'a>,
    /// Whether y of each is 1, and not -1. One byte a row stays near the processor, which visits rows in any order.
    pub second: &'a [bool],
    /// How much each counts, if not all count one.
    pub weights: Option<&'a [f64]>,
    /// What a row costs.
    pub loss: Loss,
    /// λ
    pub lambda: f64,
    /// What the sum of the sizes of weights costs, beside half the sum of their squares.
    pub lambda_of_sizes: f64,
    /// λ as the optimal schedule sees it: of both penalties, or what they would be.
    pub lambda_of_steps: f64,
    /// Whether there is a constant b.
    pub intercept: bool,
    /// How much of a step b takes: less where rows are sparse, because it is in every row.
    pub intercept_share: f64,
    /// How long steps are.
    pub schedule: Schedule,
    /// The first step of a schedule that does not choose it.
    pub rate: f64,
    /// The power of t for [`Schedule::InverseScaling`].
    pub power: f64,
    /// From which step on the mean is taken; zero for no mean.
    pub average: u64,
    /// Passes at most.
    pub passes: usize,
    /// A pass that gains less than this, per row, gains nothing; below zero all passes are made.
    pub tolerance: f64,
    /// So many passes without a gain end it.
    pub patience: usize,
    /// Whether rows are visited in another order in each pass.
    pub shuffle: bool,
    /// Steps that were made before, by which the schedule goes on.
    pub steps_before: u64,
}

/// Where it has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Walked {
    /// a
    pub weights: Vec<f64>,
    /// b
    pub bias: f64,
    /// Steps that were made, from 1.
    pub steps: u64,
    /// Passes that were made.
    pub passes: usize,
    /// Why it ended.
    pub stop: Stop,
    /// The mean loss of each pass.
    pub trace: Vec<f64>,
}

/// a = scale · direction, and the sum of all a so far.
struct Scaled {
    direction: Vec<f64>,
    scale: f64,
    /// With S the sum of all scales, the sum of all a is S · direction - lag: only a change of direction needs a look at it.
    lag: Vec<f64>,
    scales: f64,
    bias: f64,
    biases: f64,
    counted: f64,
}

impl Scaled {
    /// Shrinks a by a factor, which costs nothing until digits are at stake.
    fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
        if self.scale < 1e-9 {
            // What was counted so far goes into the lag.
            self.lag.iter_mut().zip(&self.direction).for_each(|(lag, x)| *lag -= self.scales * x);
            self.direction.iter_mut().for_each(|x| *x *= self.scale);
            (self.scale, self.scales) = (1.0, 0.0);
        }
    }

    /// Counts a and b as they are now.
    fn count(&mut self) {
        self.scales += self.scale;
        self.biases += self.bias;
        self.counted += 1.0;
    }

    /// a and b: their mean if any were counted, or as they are.
    fn into_parts(self) -> (Vec<f64>, f64) {
        if self.counted == 0.0 {
            return (self.direction.into_iter().map(|x| x * self.scale).collect(), self.bias);
        }
        let mean = |(x, lag): (f64, f64)| (self.scales * x - lag) / self.counted;
        (self.direction.into_iter().zip(self.lag).map(mean).collect(), self.biases / self.counted)
    }
}

impl Sgd<'_> {
    /// Walks from a start (zero if there is none).
    pub fn walk(&self, start: Option<(Vec<f64>, f64)>, run: &Run) -> Result<Walked> {
        let rows = Visited::new(self.rows);
        let count = self.second.len();
        let fits = rows.count() == count
            && self.weights.is_none_or(|weights| weights.len() == count)
            && start.as_ref().is_none_or(|(weights, _)| weights.len() == rows.columns());
        if !fits {
            return Err(Error::data("rows, classes, weights and start do not match", "Give as many of each."));
        }
        let look = rows.piece().min(4096);
        let (direction, bias) = start.unwrap_or_else(|| (vec![0.0; rows.columns()], 0.0));
        let lag = if self.average > 0 { vec![0.0; rows.columns()] } else { Vec::new() };
        let mut a = Scaled { direction, scale: 1.0, lag, scales: 0.0, bias, biases: 0.0, counted: 0.0 };
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut stream = run.stream(0);
        let first = self.first_optimal();
        let mut rate = self.rate;
        let (mut step, mut passes, mut stop) = (self.steps_before + 1, 0, Stop::StepLimit);
        // What every weight should have lost by now, and what each has lost (Tsuruoka and others 2009).
        let mut due = 0.0;
        let mut paid = if self.lambda_of_sizes > 0.0 { vec![0.0; rows.columns()] } else { Vec::new() };
        let (mut best, mut in_vain) = (f64::INFINITY, 0);
        let mut trace = Vec::new();
        'passes: while passes < self.passes {
            run.progress("passes", passes, self.passes);
            if self.shuffle {
                stream.shuffle(&mut order);
            }
            let mut lost = 0.0;
            for (at, &i) in order.iter().enumerate() {
                if at % look == 0 {
                    run.check_cancelled()?;
                    if run.out_of_time() {
                        stop = Stop::Budget;
                        break 'passes;
                    }
                }
                let i = i as usize;
                if let Some(&next) = order.get(at + AHEAD) {
                    self.prefetch(&rows, next as usize);
                }
                let y = if self.second[i] { 1.0 } else { -1.0 };
                let score = a.scale * rows.product(i, &a.direction) + a.bias;
                let eta = match self.schedule {
                    Schedule::Optimal => 1.0 / (self.lambda_of_steps * (first + step as f64 - 1.0)),
                    Schedule::InverseScaling => self.rate / (step as f64).powf(self.power),
                    Schedule::Constant | Schedule::Adaptive => rate,
                };
                lost += self.loss.of(y, score);
                // Steps that a loss without bound makes too long are cut.
                let slope = self.loss.slope(y, score).clamp(-1e12, 1e12);
                let change = -eta * slope * self.weights.map_or(1.0, |weights| weights[i]);
                if self.lambda > 0.0 {
                    a.shrink((1.0 - eta * self.lambda).max(0.0));
                }
                if change != 0.0 {
                    let along = change / a.scale;
                    rows.add(i, along, &mut a.direction);
                    if a.scales > 0.0 {
                        rows.add(i, along * a.scales, &mut a.lag);
                    }
                    if self.intercept {
                        a.bias += change * self.intercept_share;
                    }
                }
                if self.lambda_of_sizes > 0.0 {
                    due += eta * self.lambda_of_sizes;
                    rows.each_column(i, |j| pay(&mut a.direction[j], a.scale, due, &mut paid[j]));
                }
                if self.average > 0 && step >= self.average {
                    a.count();
                }
                step += 1;
            }
            passes += 1;
            trace.push(lost / count.max(1) as f64);
            if !(a.bias.is_finite() && a.scale.is_finite() && lost.is_finite()) {
                break;
            }
            if self.tolerance >= 0.0 && lost > best - self.tolerance * count as f64 {
                in_vain += 1;
            } else {
                in_vain = 0;
            }
            best = best.min(lost);
            if in_vain >= self.patience {
                if self.schedule == Schedule::Adaptive && rate > 1e-6 {
                    rate /= 5.0;
                    in_vain = 0;
                } else {
                    stop = Stop::Converged;
                    break;
                }
            }
        }
        let (weights, bias) = a.into_parts();
        Ok(Walked { weights, bias, steps: step - 1, passes, stop, trace })
    }

    /// Asks for a row that will be visited soon.
    #[inline]
    fn prefetch(&self, rows: &Visited<'_>, i: usize) {
        rows.prefetch(i);
        prefetch(&self.second[i..=i]);
        if let Some(weights) = self.weights {
            prefetch(&weights[i..=i]);
        }
    }

    /// t₀ of the optimal schedule: the first step moves a weight of a typical size, λ^-¼, by no more than that.
    fn first_optimal(&self) -> f64 {
        let typical = (1.0 / self.lambda_of_steps.sqrt()).sqrt();
        let slope = self.loss.slope(1.0, -typical).abs();
        let eta = typical / slope.max(1.0);
        1.0 / (eta * self.lambda_of_steps)
    }
}

/// Takes from a weight what is due, but not past zero.
fn pay(direction: &mut f64, scale: f64, due: f64, paid: &mut f64) {
    let before = *direction;
    if scale * before > 0.0 {
        *direction = (before - (due + *paid) / scale).max(0.0);
    } else if scale * before < 0.0 {
        *direction = (before + (due - *paid) / scale).min(0.0);
    }
    *paid += scale * (*direction - before);
}
