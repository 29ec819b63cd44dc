//! The problem of a linear machine: its rows and what they cost, both objectives, the best constant, and what proves how close an
//! answer is.

use super::Loss;
use super::descent::{Descent, Method, drawn_to_zero};
use crate::error::Result;
use crate::margin::dual::balance;
use crate::matrix::{Features, Matrix};
use crate::run::{Report, Run};

/// A problem of linear machines.
pub(super) struct Problem<'a> {
    pub(super) rows: Features<'a>,
    /// The rows that take part.
    pub(super) of: Vec<Coordinate>,
    /// ε
    pub(super) insensitive: f64,
    pub(super) constant: Constant,
    pub(super) loss: Loss,
    pub(super) numbers: bool,
    /// The unit of the target, in which the violation is too.
    pub(super) unit: f64,
}

/// A row that takes part, and its β in the dual. All of it is in one line of memory, since rows are visited in any order.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Coordinate {
    /// Which row it is.
    pub(super) row: usize,
    /// ‖x‖²
    pub(super) norm: f64,
    /// y
    pub(super) target: f64,
    /// What its loss costs.
    pub(super) cost: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// d
    pub(super) diagonal: f64,
    pub(super) beta: f64,
}

/// What becomes of b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// There is none.
    None,
    /// It costs nothing.
    Free,
    /// It costs like the weight of a column of this value.
    Penalised(f64),
}

impl Coordinate {
    /// Whether β has bounds on both sides.
    pub(super) fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

impl Problem<'_> {
    /// The same with some of the rows.
    pub(super) fn part(&self, keep: impl Fn(usize) -> bool) -> Self {
        let of = self.of.iter().enumerate().filter(|(k, _)| keep(*k)).map(|(_, one)| *one).collect();
        Problem { of, ..*self }
    }

    /// δ, by which b costs: δb²/2. Infinite if there is none.
    pub(super) fn price(&self) -> f64 {
        match self.constant {
            Constant::None => f64::INFINITY,
            Constant::Free => 0.0,
            Constant::Penalised(scale) => (scale * scale).recip(),
        }
    }

    /// Whether rows of both classes take part.
    pub(super) fn has_both_classes(&self) -> bool {
        self.of.iter().any(|one| one.target > 0.0) && self.of.iter().any(|one| one.target < 0.0)
    }
}

/// w and b, and both objectives.
pub(super) struct Proof {
    pub(super) weights: Matrix,
    pub(super) bias: f64,
    pub(super) primal: f64,
    /// `None` for losses whose dual is not known here.
    pub(super) dual: Option<f64>,
}

impl Proof {
    /// The gap as a share of the objective, or of one that is negligible if it is less.
    pub(super) fn gap_share(&self, negligible: f64) -> f64 {
        self.dual.map_or(f64::INFINITY, |dual| gap_share(self.primal, dual, negligible))
    }

    /// Adds to a report what is proved.
    pub(super) fn tell(&self, report: &mut Report) {
        report.fact("primal", self.primal);
        if let Some(dual) = self.dual {
            report.fact("dual", dual);
            report.fact("gap", self.primal - dual);
        }
        report.remarks.push(crate::margin::machine::left_to_gain(Some(self.primal), self.dual));
    }
}

/// The gap between two objectives as a share of the primal, or of one that is negligible if it is less.
pub(super) fn gap_share(primal: f64, dual: f64, negligible: f64) -> f64 {
    match primal - dual {
        gap if gap > 0.0 => gap / primal.max(negligible),
        gap if gap <= 0.0 => 0.0,
        _ => f64::INFINITY,
    }
}

impl Problem<'_> {
    /// Proves where a descent has ended, with w computed anew from β, at least for the dual.
    pub(super) fn prove(&self, ended: &Descent, run: &Run) -> Result<Proof> {
        let weights = self.weights_of(&ended.beta, run)?;
        let dual = self.dual(&ended.beta, &weights);
        let (weights, known) = match &ended.known {
            Some((weights, bias)) => (weights.clone(), Some(*bias)),
            None => (weights, None),
        };
        let scores = self.products(&weights, run)?;
        let bias = match (self.constant, known) {
            (Constant::Penalised(_), Some(bias)) => bias,
            // Newton's method has found the best.
            (_, Some(bias)) if ended.method == Method::Newton => bias,
            _ => self.constant_of(&ended.beta, &scores),
        };
        let primal = self.primal(&weights, bias, &scores);
        Ok(Proof { weights, bias, primal, dual: Some(dual) })
    }

    /// Judges any w and b: β is the slope of the loss of each row, brought into balance, which bounds the optimum from below.
    pub(super) fn judge(&self, weights: &[f64], bias: f64, run: &Run) -> Result<Proof> {
        let weights = Matrix::column_vector(weights.to_vec());
        let scores = self.products(&weights, run)?;
        let primal = self.primal(&weights, bias, &scores);
        let mut dual = None;
        if matches!(self.loss, Loss::Hinge | Loss::SquaredHinge) {
            let mut beta: Vec<f64> =
                self.of.iter().zip(&scores).map(|(one, score)| self.pull(one, score + bias)).collect();
            if self.constant == Constant::Free {
                balance(&mut beta);
            }
            dual = Some(self.dual(&beta, &self.weights_of(&beta, run)?));
        }
        Ok(Proof { weights, bias, primal, dual })
    }

    /// w = Σ βᵢ xᵢ
    pub(super) fn weights_of(&self, beta: &[f64], run: &Run) -> Result<Matrix> {
        let mut all = Matrix::zeros(self.rows.rows(), 1);
        self.of.iter().zip(beta).for_each(|(one, beta)| all[(one.row, 0)] = *beta);
        self.rows.transposed_multiply(&all, run)
    }

    /// w·x of the rows that take part.
    pub(super) fn products(&self, weights: &Matrix, run: &Run) -> Result<Vec<f64>> {
        let all = self.rows.multiply(weights, &[0.0], run)?;
        Ok(self.of.iter().map(|one| all[(one.row, 0)]).collect())
    }

    /// The dual objective of β, or of a share of β that has a better one.
    pub(super) fn dual(&self, beta: &[f64], weights: &Matrix) -> f64 {
        let sum: f64 = beta.iter().sum();
        let of_constant = if let Constant::Penalised(scale) = self.constant { (scale * sum).powi(2) } else { 0.0 };
        let pairs = || self.of.iter().zip(beta);
        let linear: f64 = pairs().map(|(one, b)| b * one.target - self.insensitive * b.abs()).sum();
        let diagonal: f64 = pairs().map(|(one, b)| one.diagonal * b * b).sum();
        let square = squared_norm(weights) + of_constant + diagonal;
        let share = if square > linear { (linear / square).max(0.0) } else { 1.0 };
        let dual = share * linear - 0.5 * share * share * square;
        // No coefficients at all have an objective of zero.
        if dual.is_finite() { dual } else { 0.0 }
    }

    /// How hard a row of this score pulls at w: the slope of its loss, with its sign turned. At the optimum it is β, unless the
    /// loss has a kink there.
    pub(super) fn pull(&self, one: &Coordinate, score: f64) -> f64 {
        if !self.numbers {
            return -one.cost * self.loss.slope(one.target, score);
        }
        let beyond = drawn_to_zero(one.target - score, self.insensitive);
        match self.loss {
            Loss::SquaredHinge => one.cost * 2.0 * beyond,
            _ if beyond == 0.0 => 0.0,
            _ => one.cost * beyond.signum(),
        }
    }

    /// An objective that is as good as zero.
    pub(super) fn negligible(&self) -> f64 {
        let unit = if self.loss == Loss::SquaredHinge { self.unit * self.unit } else { self.unit };
        (1e-9 * unit * self.of.iter().map(|one| one.cost).sum::<f64>()).max(f64::MIN_POSITIVE)
    }

    /// The objective at w and b, given w·x of the rows that take part.
    pub(super) fn primal(&self, weights: &Matrix, bias: f64, products: &[f64]) -> f64 {
        let of_constant = if let Constant::Penalised(scale) = self.constant { (bias / scale).powi(2) } else { 0.0 };
        let loss = |(one, product): (&Coordinate, &f64)| {
            let score = product + bias;
            if !self.numbers {
                return one.cost * self.loss.of(one.target, score);
            }
            let off = ((one.target - score).abs() - self.insensitive).max(0.0);
            one.cost * if self.loss == Loss::SquaredHinge { off * off } else { off }
        };
        let losses: f64 = self.of.iter().zip(products).map(loss).sum();
        0.5 * (squared_norm(weights) + of_constant) + losses
    }

    /// b of some β, given w·x of the rows that take part.
    pub(super) fn constant_of(&self, beta: &[f64], products: &[f64]) -> f64 {
        match self.constant {
            Constant::None => 0.0,
            Constant::Penalised(scale) => scale * scale * beta.iter().sum::<f64>(),
            Constant::Free => self.best_constant(products),
        }
    }

    /// The free constant with the least objective, given w·x of the rows that take part: where the slope of the losses turns.
    fn best_constant(&self, products: &[f64]) -> f64 {
        let pairs = || self.of.iter().zip(products);
        let slope = |bias: f64| -pairs().map(|(one, product)| self.pull(one, product + bias)).sum::<f64>();
        let ends = pairs().map(|(one, product)| one.target - product);
        let (least, most) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), b| (low.min(b), high.max(b)));
        let ends = (least - self.insensitive, most + self.insensitive);
        // The slope never falls; it may be zero for a while.
        let turn = |is_past: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = ends;
            for _ in 0..60 {
                let middle = low + 0.5 * (high - low);
                if is_past(slope(middle)) { high = middle } else { low = middle }
            }
            low + 0.5 * (high - low)
        };
        0.5 * (turn(&|slope| slope >= 0.0) + turn(&|slope| slope > 0.0))
    }
}

pub(super) fn squared_norm(weights: &Matrix) -> f64 {
    weights.values().iter().map(|w| w * w).sum()
}
