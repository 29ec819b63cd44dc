//! A fit by stochastic gradient descent: rows held out for early stopping, the penalties, and what is reported.

use super::{
    Count, Intercept, LinearSvm, LinearSvmModel, Loss, Penalty, Problem, Schedule, Sgd, SgdSolution, Update,
    Validation, counted_epochs,
};
use crate::error::{Error, Result};
use crate::learn::{Examples, Target, TargetView};
use crate::margin::target::{class_weights, one_class_only};
use crate::matrix::{Features, Matrix, Rows};
use crate::numbers::short;
use crate::run::{Report, Run, StopReason};

/// The rows of two classes that take part.
struct TwoClassRows<'a> {
    features: Features<'a>,
    /// The index of each row among the features; `None` if all take part.
    indices: Option<Vec<usize>>,
    /// Whether each row is of the positive class.
    positive: Vec<bool>,
    /// The weight of each row; `None` if all have the same.
    weights: Option<Vec<f64>>,
    /// The cost C of a row of weight one.
    c: f64,
}

impl<'a> TwoClassRows<'a> {
    /// The rows of weights above zero.
    fn of(examples: &Examples<'a>, settings: &LinearSvm) -> Result<TwoClassRows<'a>> {
        let features = examples.features;
        let (classes, codes) = match examples.target.view() {
            TargetView::Classes { classes, codes } => (classes, codes),
            TargetView::Numbers(_) if !settings.has_dual() => {
                let remedy = "Use hinge or squared-hinge, which are for numbers, too.";
                return Err(Error::setting("loss", "is for classes alone, and the target is a number", remedy));
            }
            TargetView::Numbers(_) => {
                return Err(Error::setting("solver", "cannot be sgd for numbers", "Use auto."));
            }
            TargetView::None(_) => return Err(Target::missing()),
        };
        features.afford_columns()?;
        let factors = class_weights(&settings.class_weights, classes, codes, examples.weights)?;
        let weighted = examples.weights.is_some() || factors.iter().any(|&factor| factor != 1.0);
        let weight = |(i, &code): (usize, &u32)| examples.weights.map_or(1.0, |own| own[i]) * factors[code as usize];
        let weights: Option<Vec<f64>> = weighted.then(|| codes.iter().enumerate().map(weight).collect());
        let taking_part =
            weights.as_ref().map_or(codes.len(), |all| all.iter().filter(|weight| **weight > 0.0).count());
        let c = settings.cost(taking_part)?;
        let costs = || weights.iter().flatten().map(|weight| c * weight);
        if costs().any(|cost| !cost.is_finite()) {
            return Err(Error::setting("c", "is too large for the weights of these rows", "Give a smaller c."));
        }
        // What costs next to nothing takes no part.
        let negligible: Vec<bool> = costs().map(|cost| cost < f64::MIN_POSITIVE).collect();
        let all = TwoClassRows {
            features,
            indices: None,
            positive: codes.iter().map(|&code| code == 1).collect(),
            weights,
            c,
        };
        Ok(if negligible.contains(&true) { all.part(|k| !negligible[k]) } else { all })
    }

    fn count(&self) -> usize {
        self.positive.len()
    }

    fn index(&self, k: usize) -> usize {
        self.indices.as_ref().map_or(k, |indices| indices[k])
    }

    /// Those of them that are kept.
    fn part(&self, keep: impl Fn(usize) -> bool) -> TwoClassRows<'a> {
        let kept: Vec<usize> = (0..self.count()).filter(|&k| keep(k)).collect();
        TwoClassRows {
            features: self.features,
            positive: kept.iter().map(|&k| self.positive[k]).collect(),
            weights: self.weights.as_ref().map(|weights| kept.iter().map(|&k| weights[k]).collect()),
            indices: Some(kept.into_iter().map(|k| self.index(k)).collect()),
            c: self.c,
        }
    }

    /// A copy of their features, if not all rows take part.
    fn taken(&self) -> Option<Rows> {
        self.indices.as_ref().map(|indices| self.features.take(indices))
    }
}

/// Features of all rows, or a copy of some.
fn features_of<'f>(rows: &TwoClassRows<'f>, taken: &'f Option<Rows>) -> Features<'f> {
    taken.as_ref().map_or(rows.features, Rows::features)
}

impl LinearSvm {
    /// Fits by stochastic gradient descent in the primal.
    pub(super) fn fit_sgd(
        &self,
        examples: &Examples<'_>,
        from: Option<&LinearSvmModel>,
        run: &Run,
    ) -> Result<(LinearSvmModel, Report)> {
        let rows = TwoClassRows::of(examples, self)?;
        // More rows to descend on may be of one class; a first fit needs both.
        if from.is_none() && !(rows.positive.contains(&true) && rows.positive.contains(&false)) {
            return Err(one_class_only());
        }
        let (mut model, mut report) = self.descend_safely(&rows, from, run)?;
        if self.certify && self.loss == Loss::Perceptron {
            let problem = run.finish(|| self.pose(examples, run))?;
            report.remarks.push(run.finish(|| mistakes_in_words(&problem, &model, run))?);
        } else if self.certify && self.penalty == Penalty::L2 {
            // The objective and its bound are those of an L2 penalty.
            let problem = run.finish(|| self.pose(examples, run))?;
            let certificate = run.finish(|| problem.certify_weights(model.weights(), model.bias(), run))?;
            self.check_descent(&problem, certificate.primal, &mut report)?;
            certificate.add_to(&mut report);
            model = model.certified(&certificate);
        }
        if self.probabilities {
            let indices: Vec<usize> = (0..rows.count()).map(|k| rows.index(k)).collect();
            let without = |held_out: &[bool]| self.descend_safely(&rows.part(|k| !held_out[k]), None, run);
            self.calibrate(&mut model, examples, &indices, without, &mut report, run)?;
        }
        Ok((model, report))
    }

    /// Descends on some rows; by implicit steps if others have diverged, and are safeguarded.
    fn descend_safely(
        &self,
        rows: &TwoClassRows<'_>,
        from: Option<&LinearSvmModel>,
        run: &Run,
    ) -> Result<(LinearSvmModel, Report)> {
        if self.update != Update::Safeguarded {
            return self.descend(rows, from, run);
        }
        match self.descend(rows, from, run) {
            Ok((model, report)) if !run.finish(|| self.is_worse_than_none(rows, &model, run))? => {
                return Ok((model, report));
            }
            // What is no number is refused.
            Ok(_) | Err(Error::Data { .. }) => {}
            Err(other) => return Err(other),
        }
        // Averaged, which is what comes near the optimum in any unit.
        let again = LinearSvm { update: Update::Implicit, average: true, average_from: Count::Auto, ..self.clone() };
        let (model, mut report) = again.descend(rows, from, run)?;
        report.remarks.push("explicit steps have diverged, so implicit ones were taken instead".into());
        Ok((model, report))
    }

    /// Whether the objective is above that of no weights at all, or no number.
    fn is_worse_than_none(&self, rows: &TwoClassRows<'_>, model: &LinearSvmModel, run: &Run) -> Result<bool> {
        let taken = rows.taken();
        let scores = model.scores(&features_of(rows, &taken), run)?;
        let loss = |k: usize, score: f64| {
            let y = if rows.positive[k] { 1.0 } else { -1.0 };
            rows.c * rows.weights.as_ref().map_or(1.0, |weights| weights[k]) * self.loss.of(y, score)
        };
        let (of_squares, of_sizes) = self.penalty_shares();
        let penalty = |weight: &f64| 0.5 * of_squares * weight * weight + of_sizes * weight.abs();
        let losses: f64 = scores.iter().enumerate().map(|(k, score)| loss(k, *score)).sum();
        let objective = losses + model.weights().iter().map(penalty).sum::<f64>();
        Ok(objective.is_nan() || objective > (0..rows.count()).map(|k| loss(k, 0.0)).sum())
    }

    /// Descends on some rows.
    fn descend(
        &self,
        rows: &TwoClassRows<'_>,
        from: Option<&LinearSvmModel>,
        run: &Run,
    ) -> Result<(LinearSvmModel, Report)> {
        let parts = if self.early_stopping { Some(self.hold_out(rows, run)?) } else { None };
        let (train, test) = parts.as_ref().map_or((rows, None), |(train, test)| (train, Some(test)));
        let (taken, test_taken) = (train.taken(), test.and_then(TwoClassRows::taken));
        let validation = test.map(|test| Validation {
            rows: features_of(test, &test_taken),
            positive: &test.positive,
            weights: test.weights.as_deref(),
        });
        // With C = 1/(λN) the mean loss has the same optimum.
        let penalty = 1.0 / (rows.c * rows.count() as f64);
        let (l2_share, l1_share) = self.penalty_shares();
        let steps_before = from.map_or(0, LinearSvmModel::steps);
        let features = features_of(train, &taken);
        let is_centred = self.update == Update::Implicit && self.intercept != Intercept::None;
        let means = if is_centred { run.finish(|| features.means(train.weights.as_deref(), run))? } else { Vec::new() };
        let sgd = Sgd {
            rows: features,
            positive: &train.positive,
            weights: train.weights.as_deref(),
            loss: self.loss,
            l2_penalty: l2_share * penalty,
            l1_penalty: l1_share * penalty,
            schedule_penalty: penalty,
            intercept: self.intercept != Intercept::None,
            intercept_decay: self.intercept_rate,
            update: self.update,
            means,
            schedule: self.schedule,
            learning_rate: self.learning_rate,
            power: self.power,
            average: self.first_averaged_step(train.count(), steps_before),
            average_rises: self.update == Update::Implicit && self.average_from == Count::Auto,
            epochs: self.epochs,
            tolerance: if self.tolerance > 0.0 { self.tolerance } else { -1.0 },
            patience: self.patience,
            shuffle: self.shuffle,
            steps_before,
            validation,
        };
        let solution = sgd.fit(from.map(|model| (model.weights().to_vec(), model.bias())), run)?;
        self.descended(solution, rows.count())
    }

    /// The model of a descent on this many rows; an error if it has diverged.
    fn descended(&self, solution: SgdSolution, rows: usize) -> Result<(LinearSvmModel, Report)> {
        if !(solution.bias.is_finite() && solution.weights.iter().all(|weight| weight.is_finite())) {
            return Err(Error::data(
                "stochastic gradient descent has diverged",
                "Give update=implicit, or scale the columns, or give a smaller learning_rate or c.",
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
        let model = LinearSvmModel::of_classes(solution.weights, solution.bias, self.loss)?.of_rows(rows);
        report.fact("epochs", solution.epochs as f64);
        Ok((model.after(solution.epochs, solution.steps), report))
    }

    /// An error if the weights are worse than none because steps were too large; only a remark if there were too few.
    fn check_descent(&self, problem: &Problem<'_>, primal: f64, report: &mut Report) -> Result<()> {
        let nothing = Matrix::zeros(problem.rows.columns(), 1);
        let without = problem.primal(&nothing, 0.0, &vec![0.0; problem.coordinates.len()]);
        if primal <= without {
            return Ok(());
        }
        if self.update == Update::Explicit && report.stop != StopReason::Budget {
            let problem = format!(
                "stochastic gradient descent has diverged: the objective is {}, and {} without any weights",
                short(primal),
                short(without)
            );
            return Err(Error::data(problem, "Give update=implicit, or schedule=adaptive and a small learning_rate."));
        }
        report.stop = if report.stop == StopReason::Budget { StopReason::Budget } else { StopReason::Stalled };
        let advice = match self.schedule {
            Schedule::Optimal => "scale the columns, give tolerance=0 and more epochs, or take another solver",
            _ => "the learning rate was too large: give schedule=optimal, or a smaller learning_rate",
        };
        report.remarks.push(format!("this is worse than no weights at all: {advice}"));
        Ok(())
    }

    /// The shares of the L2 and of the L1 penalty.
    fn penalty_shares(&self) -> (f64, f64) {
        match self.penalty {
            Penalty::L2 => (1.0, 0.0),
            Penalty::L1 => (0.0, 1.0),
            Penalty::ElasticNet => (1.0 - self.l1_ratio, self.l1_ratio),
            Penalty::None => (0.0, 0.0),
        }
    }

    /// The step from which on weights are averaged; zero for none.
    fn first_averaged_step(&self, rows: usize, steps_before: u64) -> u64 {
        // The zeros of an L1 penalty are lost in an average: weights go to and fro about them. So it is taken only on request.
        let keeps_zeros = self.penalty_shares().1 > 0.0;
        match self.average_from {
            _ if !self.average => 0,
            Count::Auto if keeps_zeros => 0,
            Count::Auto if self.update == Update::Implicit => 1 + steps_before,
            Count::Auto => 1 + rows as u64 / 2 + steps_before,
            Count::Fixed(step) => step as u64 + steps_before,
        }
    }

    /// Rows to descend on, and rows of each class held out to stop early by, drawn from the run's seed.
    fn hold_out<'a>(&self, rows: &TwoClassRows<'a>, run: &Run) -> Result<(TwoClassRows<'a>, TwoClassRows<'a>)> {
        let mut stream = run.stream(1);
        let mut held_out = vec![false; rows.count()];
        for positive in [false, true] {
            let mut own: Vec<usize> = (0..rows.count()).filter(|&k| rows.positive[k] == positive).collect();
            stream.shuffle(&mut own);
            let count = (self.validation_fraction * own.len() as f64).round() as usize;
            own.iter().take(count).for_each(|&k| held_out[k] = true);
        }
        let (train, test) = (rows.part(|k| !held_out[k]), rows.part(|k| held_out[k]));
        if test.count() == 0 || train.count() == 0 {
            let problem = format!("of {} rows leaves none to train or to validate", rows.count());
            let remedy = "Give another validation_fraction, or early_stopping=false.";
            return Err(Error::setting("validation_fraction", problem, remedy));
        }
        Ok((train, test))
    }
}

/// How many rows the perceptron has on the wrong side. Its objective says nothing: no weights at all have none.
fn mistakes_in_words(problem: &Problem<'_>, model: &LinearSvmModel, run: &Run) -> Result<String> {
    let products = problem.products(&Matrix::column_vector(model.weights().to_vec()), run)?;
    let pairs = problem.coordinates.iter().zip(&products);
    let wrong = pairs.filter(|(one, product)| one.target * (*product + model.bias()) <= 0.0).count();
    Ok(match (wrong, problem.coordinates.len()) {
        (0, all) => format!("the line separates the classes: none of {all} rows is on the wrong side"),
        (1, all) => format!("1 of {all} rows is on the wrong side of the line"),
        (wrong, all) => format!("{wrong} of {all} rows are on the wrong side of the line"),
    })
}
