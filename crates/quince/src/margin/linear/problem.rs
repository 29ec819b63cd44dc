//! The problem of a linear support vector machine: its rows and their costs, both objectives, the best bias, and the duality gap,
//! which certifies how close a solution is to the optimum.

use super::Loss;
use super::coordinate_descent::{LinearSolution, Method, soft_threshold};
use crate::error::Result;
use crate::margin::dual::balance;
use crate::matrix::{Features, Matrix};
use crate::run::{Report, Run};

/// The problem of a linear support vector machine.
pub(super) struct Problem<'a> {
    pub(super) rows: Features<'a>,
    /// The rows that take part.
    pub(super) coordinates: Vec<Coordinate>,
    /// Half-width ε of the insensitive tube; zero for classes.
    pub(super) epsilon: f64,
    pub(super) intercept: InterceptPenalty,
    pub(super) loss: Loss,
    /// Whether the target is a number, not a class.
    pub(super) regression: bool,
    /// The unit of the target, in which the KKT violation is too.
    pub(super) unit: f64,
}

/// A coordinate of the dual: a row and its β. It fills one cache line, since rows are visited in any order.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Coordinate {
    /// Index of the row.
    pub(super) row: usize,
    /// Squared norm ‖x‖² of the row.
    pub(super) norm: f64,
    /// Target: ±1 for classes, y for numbers.
    pub(super) target: f64,
    /// Cost C of its loss.
    pub(super) cost: f64,
    /// Lower bound of β.
    pub(super) low: f64,
    /// Upper bound of β.
    pub(super) high: f64,
    /// Addition d to the diagonal of the kernel: 1/(2C) for squared losses, else zero.
    pub(super) diagonal: f64,
    /// Dual coefficient β.
    pub(super) beta: f64,
}

/// The penalty of the intercept b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InterceptPenalty {
    /// There is no intercept.
    None,
    /// It is not penalised.
    Free,
    /// It is penalised like the weight of a column of this value.
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
        let coordinates = self.coordinates.iter().enumerate().filter(|(k, _)| keep(*k)).map(|(_, one)| *one).collect();
        Problem { coordinates, ..*self }
    }

    /// Penalty δ of b, as in δb²/2; infinite if there is no intercept.
    pub(super) fn intercept_penalty(&self) -> f64 {
        match self.intercept {
            InterceptPenalty::None => f64::INFINITY,
            InterceptPenalty::Free => 0.0,
            InterceptPenalty::Penalised(scale) => (scale * scale).recip(),
        }
    }

    /// Whether rows of both classes take part.
    pub(super) fn has_both_classes(&self) -> bool {
        self.coordinates.iter().any(|one| one.target > 0.0) && self.coordinates.iter().any(|one| one.target < 0.0)
    }
}

/// Weights and bias, and both objectives, whose difference is the duality gap.
pub(super) struct LinearCertificate {
    pub(super) weights: Matrix,
    pub(super) bias: f64,
    pub(super) primal: f64,
    /// `None` for losses whose dual is not implemented.
    pub(super) dual: Option<f64>,
}

impl LinearCertificate {
    /// The duality gap relative to the primal objective, or to a negligible one if that is larger.
    pub(super) fn relative_gap(&self, negligible: f64) -> f64 {
        self.dual.map_or(f64::INFINITY, |dual| relative_gap(self.primal, dual, negligible))
    }

    /// Adds both objectives and the gap to a report.
    pub(super) fn add_to(&self, report: &mut Report) {
        report.fact("primal", self.primal);
        if let Some(dual) = self.dual {
            report.fact("dual", dual);
            report.fact("gap", self.primal - dual);
        }
        report.remarks.push(crate::margin::model::gap_in_words(Some(self.primal), self.dual));
    }
}

/// The duality gap relative to the primal objective, or to a negligible one if that is larger.
pub(super) fn relative_gap(primal: f64, dual: f64, negligible: f64) -> f64 {
    match primal - dual {
        gap if gap > 0.0 => gap / primal.max(negligible),
        gap if gap <= 0.0 => 0.0,
        _ => f64::INFINITY,
    }
}

impl Problem<'_> {
    /// The certificate of a solution. w is computed again from β, at least for the dual objective.
    pub(super) fn certify(&self, solution: &LinearSolution, run: &Run) -> Result<LinearCertificate> {
        let weights = self.weights_of(&solution.beta, run)?;
        let dual = self.dual(&solution.beta, &weights);
        let (weights, primal_point) = match &solution.primal_point {
            Some((weights, bias)) => (weights.clone(), Some(*bias)),
            None => (weights, None),
        };
        let scores = self.products(&weights, run)?;
        let bias = match (self.intercept, primal_point) {
            (InterceptPenalty::Penalised(_), Some(bias)) => bias,
            // Newton's method has found the best bias.
            (_, Some(bias)) if solution.method == Method::Newton => bias,
            _ => self.bias_of(&solution.beta, &scores),
        };
        let primal = self.primal(&weights, bias, &scores);
        Ok(LinearCertificate { weights, bias, primal, dual: Some(dual) })
    }

    /// The certificate of any w and b: the negative derivatives of the losses, with their sum brought to zero, are a feasible β,
    /// which bounds the optimum from below.
    pub(super) fn certify_weights(&self, weights: &[f64], bias: f64, run: &Run) -> Result<LinearCertificate> {
        let weights = Matrix::column_vector(weights.to_vec());
        let scores = self.products(&weights, run)?;
        let primal = self.primal(&weights, bias, &scores);
        let mut dual = None;
        if matches!(self.loss, Loss::Hinge | Loss::SquaredHinge) {
            let mut beta: Vec<f64> = self
                .coordinates
                .iter()
                .zip(&scores)
                .map(|(one, score)| self.dual_coefficient(one, score + bias))
                .collect();
            if self.intercept == InterceptPenalty::Free {
                balance(&mut beta);
            }
            dual = Some(self.dual(&beta, &self.weights_of(&beta, run)?));
        }
        Ok(LinearCertificate { weights, bias, primal, dual })
    }

    /// Weights w = Σ βᵢ xᵢ.
    pub(super) fn weights_of(&self, beta: &[f64], run: &Run) -> Result<Matrix> {
        let mut all = Matrix::zeros(self.rows.rows(), 1);
        self.coordinates.iter().zip(beta).for_each(|(one, beta)| all[(one.row, 0)] = *beta);
        self.rows.transposed_multiply(&all, run)
    }

    /// Products w·x of the rows that take part.
    pub(super) fn products(&self, weights: &Matrix, run: &Run) -> Result<Vec<f64>> {
        let all = self.rows.multiply(weights, &[0.0], run)?;
        Ok(self.coordinates.iter().map(|one| all[(one.row, 0)]).collect())
    }

    /// The dual objective of β, or of its best multiple up to one.
    pub(super) fn dual(&self, beta: &[f64], weights: &Matrix) -> f64 {
        let sum: f64 = beta.iter().sum();
        let bias_term =
            if let InterceptPenalty::Penalised(scale) = self.intercept { (scale * sum).powi(2) } else { 0.0 };
        let pairs = || self.coordinates.iter().zip(beta);
        let linear: f64 = pairs().map(|(one, b)| b * one.target - self.epsilon * b.abs()).sum();
        let diagonal: f64 = pairs().map(|(one, b)| one.diagonal * b * b).sum();
        let square = squared_norm(weights) + bias_term + diagonal;
        let share = if square > linear { (linear / square).max(0.0) } else { 1.0 };
        let dual = share * linear - 0.5 * share * share * square;
        // β = 0 has an objective of zero.
        if dual.is_finite() { dual } else { 0.0 }
    }

    /// The negative derivative of the loss of a row at a score. At the optimum it is β, unless the loss has a kink there.
    pub(super) fn dual_coefficient(&self, one: &Coordinate, score: f64) -> f64 {
        if !self.regression {
            return -one.cost * self.loss.derivative(one.target, score);
        }
        let excess = soft_threshold(one.target - score, self.epsilon);
        match self.loss {
            Loss::SquaredHinge => one.cost * 2.0 * excess,
            _ if excess == 0.0 => 0.0,
            _ => one.cost * excess.signum(),
        }
    }

    /// An objective that is negligible.
    pub(super) fn negligible(&self) -> f64 {
        let unit = if self.loss == Loss::SquaredHinge { self.unit * self.unit } else { self.unit };
        (1e-9 * unit * self.coordinates.iter().map(|one| one.cost).sum::<f64>()).max(f64::MIN_POSITIVE)
    }

    /// The primal objective at w and b, given the products w·x of the rows that take part.
    pub(super) fn primal(&self, weights: &Matrix, bias: f64, products: &[f64]) -> f64 {
        let bias_term =
            if let InterceptPenalty::Penalised(scale) = self.intercept { (bias / scale).powi(2) } else { 0.0 };
        let loss = |(one, product): (&Coordinate, &f64)| {
            let score = product + bias;
            if !self.regression {
                return one.cost * self.loss.of(one.target, score);
            }
            let excess = ((one.target - score).abs() - self.epsilon).max(0.0);
            one.cost * if self.loss == Loss::SquaredHinge { excess * excess } else { excess }
        };
        let losses: f64 = self.coordinates.iter().zip(products).map(loss).sum();
        0.5 * (squared_norm(weights) + bias_term) + losses
    }

    /// The bias that goes with β, given the products w·x of the rows that take part.
    pub(super) fn bias_of(&self, beta: &[f64], products: &[f64]) -> f64 {
        match self.intercept {
            InterceptPenalty::None => 0.0,
            InterceptPenalty::Penalised(scale) => scale * scale * beta.iter().sum::<f64>(),
            InterceptPenalty::Free => self.best_bias(products),
        }
    }

    /// The free bias with the smallest objective, given the products w·x: where the derivative changes its sign.
    fn best_bias(&self, products: &[f64]) -> f64 {
        let pairs = || self.coordinates.iter().zip(products);
        let derivative =
            |bias: f64| -pairs().map(|(one, product)| self.dual_coefficient(one, product + bias)).sum::<f64>();
        let limits = pairs().map(|(one, product)| one.target - product);
        let (least, most) = limits.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), b| (low.min(b), high.max(b)));
        let limits = (least - self.epsilon, most + self.epsilon);
        // The derivative never falls; it may be zero on an interval.
        let sign_change = |is_past: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = limits;
            for _ in 0..60 {
                let middle = low + 0.5 * (high - low);
                if is_past(derivative(middle)) { high = middle } else { low = middle }
            }
            low + 0.5 * (high - low)
        };
        0.5 * (sign_change(&|derivative| derivative >= 0.0) + sign_change(&|derivative| derivative > 0.0))
    }
}

pub(super) fn squared_norm(weights: &Matrix) -> f64 {
    weights.values().iter().map(|w| w * w).sum()
}
