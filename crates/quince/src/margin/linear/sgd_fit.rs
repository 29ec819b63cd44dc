//! A fit by stochastic gradient descent: the problem laid out for it, rows held out for early stopping, and what is reported.

use super::problem::{Coordinate, Problem};
use super::{Count, Intercept, LinearSvm, LinearSvmModel, Penalty, Sgd, Validation, counted_epochs};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Rows};
use crate::run::{Report, Run, StopReason};

/// Some rows of a problem, as stochastic gradient descent takes them.
struct SomeRows {
    rows: Option<Rows>,
    positive: Vec<bool>,
    weights: Vec<f64>,
}

impl SomeRows {
    /// The rows of some coordinates; weights are costs in units of `c`.
    fn of(problem: &Problem<'_>, coordinates: &[&Coordinate], c: f64) -> SomeRows {
        let places: Vec<usize> = coordinates.iter().map(|one| one.row).collect();
        let all = places.len() == problem.rows.rows() && places.iter().enumerate().all(|(i, &place)| i == place);
        SomeRows {
            rows: (!all).then(|| problem.rows.take(&places)),
            positive: coordinates.iter().map(|one| one.target > 0.0).collect(),
            weights: coordinates.iter().map(|one| one.cost / c).collect(),
        }
    }
}

impl LinearSvm {
    /// Fits by stochastic gradient descent in the primal.
    pub(super) fn fit_sgd(
        &self,
        problem: &Problem<'_>,
        from: Option<&LinearSvmModel>,
        run: &Run,
    ) -> Result<(LinearSvmModel, Report)> {
        let (kept, held_out) = self.held_out(problem, run)?;
        let (some, test) = (SomeRows::of(problem, &kept, self.c), SomeRows::of(problem, &held_out, self.c));
        let validation = self.early_stopping.then(|| Validation {
            rows: test.rows.as_ref().map_or(problem.rows, |rows| rows.features()),
            positive: &test.positive,
            weights: Some(&test.weights),
        });
        // With C = 1/(λN) the mean loss has the same optimum.
        let penalty = 1.0 / (self.c * problem.coordinates.len() as f64);
        let (l2_share, l1_share) = match self.penalty {
            Penalty::L2 => (1.0, 0.0),
            Penalty::L1 => (0.0, 1.0),
            Penalty::ElasticNet => (1.0 - self.l1_ratio, self.l1_ratio),
            Penalty::None => (0.0, 0.0),
        };
        let steps_before = from.map_or(0, LinearSvmModel::steps);
        // The zeros of an L1 penalty are lost in an average: weights go to and fro about them. So it is taken only on request.
        let average_from = match self.average_from {
            _ if !self.average => 0,
            Count::Auto if l1_share > 0.0 => 0,
            Count::Auto => 1 + kept.len() as u64 / 2 + steps_before,
            Count::Fixed(step) => step as u64 + steps_before,
        };
        let sgd = Sgd {
            rows: some.rows.as_ref().map_or(problem.rows, |rows| rows.features()),
            positive: &some.positive,
            weights: Some(&some.weights),
            loss: self.loss,
            l2_penalty: l2_share * penalty,
            l1_penalty: l1_share * penalty,
            schedule_penalty: penalty,
            intercept: self.intercept != Intercept::None,
            intercept_decay: self.intercept_rate,
            schedule: self.schedule,
            learning_rate: self.learning_rate,
            power: self.power,
            average: average_from,
            epochs: self.epochs,
            tolerance: if self.tolerance > 0.0 { self.tolerance } else { -1.0 },
            patience: self.patience,
            shuffle: self.shuffle,
            steps_before,
            validation,
        };
        let solution = sgd.fit(from.map(|model| (model.weights().to_vec(), model.bias())), run)?;
        if !(solution.bias.is_finite() && solution.weights.iter().all(|weight| weight.is_finite())) {
            return Err(Error::data(
                "stochastic gradient descent has diverged",
                "Scale the columns, or give a smaller learning_rate or c.",
            ));
        }
        let mut report = Report {
            route: format!("stochastic gradient descent, {}", counted_epochs(solution.epochs)),
            stop: solution.stop,
            trace: solution.trace,
            ..Report::default()
        };
        if report.stop == StopReason::Budget {
            report.remarks.push(crate::margin::model::RESUME.into());
        }
        // The objective and its bound are those of an L2 penalty.
        let model = if self.certify && self.penalty == Penalty::L2 {
            let certificate = run.finish(|| problem.certify_weights(&solution.weights, solution.bias, run))?;
            certificate.add_to(&mut report);
            remark_on_divergence(problem, certificate.primal, &mut report);
            LinearSvmModel::new(problem, &certificate, Vec::new(), 0)
        } else {
            LinearSvmModel::of_classes(solution.weights, solution.bias, self.loss)?.of_rows(problem.coordinates.len())
        };
        report.fact("epochs", solution.epochs as f64);
        Ok((model.after(solution.epochs, solution.steps), report))
    }

    /// The rows to descend on and, for early stopping, rows of each class that are held out, drawn from the run's seed.
    fn held_out<'p>(&self, problem: &'p Problem<'_>, run: &Run) -> Result<(Vec<&'p Coordinate>, Vec<&'p Coordinate>)> {
        let all: Vec<&Coordinate> = problem.coordinates.iter().collect();
        if !self.early_stopping {
            return Ok((all, Vec::new()));
        }
        let mut stream = run.stream(1);
        let mut held_out = vec![false; all.len()];
        for positive in [false, true] {
            let mut own: Vec<usize> = (0..all.len()).filter(|&k| (all[k].target > 0.0) == positive).collect();
            stream.shuffle(&mut own);
            let count = (self.validation_fraction * own.len() as f64).round() as usize;
            own.iter().take(count).for_each(|&k| held_out[k] = true);
        }
        let (test, train): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|&k| held_out[k]);
        if test.is_empty() || train.is_empty() {
            let problem = format!("of {} rows leaves none to train or to validate", all.len());
            let remedy = "Give another validation_fraction, or early_stopping=false.";
            return Err(Error::setting("validation_fraction", problem, remedy));
        }
        let some = |places: Vec<usize>| places.into_iter().map(|k| all[k]).collect();
        Ok((some(train), some(test)))
    }
}

/// Says so if the weights are worse than none.
fn remark_on_divergence(problem: &Problem<'_>, primal: f64, report: &mut Report) {
    let nothing = Matrix::zeros(problem.rows.columns(), 1);
    let without = problem.primal(&nothing, 0.0, &vec![0.0; problem.coordinates.len()]);
    if primal > without {
        report.stop = StopReason::Stalled;
        let advice = "the learning rate was too large: this is worse than no weights at all; give schedule=adaptive and a small learning_rate, or another solver";
        report.remarks.push(advice.into());
    }
}
