//! Linear support vector machines by stochastic gradient descent: near the optimum in every layout, and in any unit.

use crate::clock::budget_of_looks;
use crate::layouts::{LAYOUTS, random, with_layout};
use crate::svm::{fact, noisy};
use quince::learn::{Amount, Classes, Examples, Learner, Target, TargetView};
use quince::margin::{Intercept, LinearSvm, LinearSvmModel, Loss, Penalty, Schedule, Solver, Update};
use quince::run::{Observer, StopReason, Stream, TickClock};
use quince::{Matrix, Model, Run};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Columns whose units differ by a factor of 10,000, far from zero, and a class that follows from them but for noise.
fn unscaled(count: usize) -> (Matrix, Target) {
    let (mut rows, _) = noisy(count, 4);
    let mut stream = Stream::new(7, 0);
    let score = |row: &[f64], noise: f64| row[0] - row[1] + 0.5 * row[2] + 0.5 * noise;
    let codes = (0..count).map(|i| u32::from(score(rows.row(i), stream.normal()) > 0.0)).collect();
    for i in 0..count {
        rows.row_mut(i).iter_mut().zip([1.0, 0.1, 100.0, 1e3]).for_each(|(x, unit)| *x = unit * (*x + 5.0));
    }
    (rows, Target::classes(Classes::of(["a", "b"]), codes).unwrap())
}

#[test]
fn stochastic_gradient_descent_does_not_diverge_whatever_the_unit() {
    let (rows, target) = unscaled(2_000);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for loss in [Loss::Hinge, Loss::SquaredHinge, Loss::Log, Loss::ModifiedHuber] {
        for schedule in [Schedule::Optimal, Schedule::Constant, Schedule::InverseScaling, Schedule::Adaptive] {
            let settings =
                LinearSvm { loss, schedule, solver: Solver::Sgd, probabilities: false, ..LinearSvm::default() };
            let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
            // The loss of no weights at all is 1 for every row, or ln 2. A learning rate that does not fall leaves noise.
            let nothing = if loss == Loss::Log { 2f64.ln() } else { 1.0 };
            let most = if schedule == Schedule::Optimal { 1.0 } else { 100.0 };
            assert!(fact(&report, "primal") < most * 2_000.0 * nothing, "{loss:?} {schedule:?}: {report:?}");
            assert!(model.weights().iter().all(|weight| weight.abs() < 1e3), "{:?}", model.weights());
        }
    }
}

#[test]
fn stochastic_gradient_descent_comes_near_the_optimum_in_every_layout() {
    let mut rows = random(400, 6, 3);
    let codes = (0..400).map(|i| u32::from(rows[(i, 0)] + rows[(i, 1)] > rows[(i, 2)] * rows[(i, 3)])).collect();
    let target = Target::classes(Classes::of(["a", "b"]), codes).unwrap();
    for i in 0..400 {
        rows.row_mut(i).iter_mut().for_each(|x| *x = if *x == 0.0 { 0.0 } else { *x + 3.0 });
    }
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        let exact = LinearSvm { loss, c: 0.1, probabilities: false, ..LinearSvm::default() };
        let sgd = LinearSvm { solver: Solver::Sgd, tolerance: 0.0, epochs: 500, ..exact.clone() };
        let weights: Vec<Vec<f64>> = LAYOUTS
            .map(|layout| {
                with_layout(&rows, layout, |features| {
                    let examples = Examples::new(features, &target, None).unwrap();
                    let best = fact(&exact.fit_examples(&examples, &Run::new()).unwrap().1, "primal");
                    let (model, report) = sgd.fit_examples(&examples, &Run::new()).unwrap();
                    let primal = fact(&report, "primal");
                    assert!(primal >= best * (1.0 - 1e-6) && primal <= 1.01 * best, "{layout:?}: {primal} {best}");
                    model.weights().to_vec()
                })
            })
            .into();
        // Dense rows have the same means in every layout.
        for other in &weights[1..4] {
            assert!(weights[0].iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-9), "{weights:?}");
        }
    }
}

#[test]
fn auto_takes_a_solver_that_has_the_loss() {
    let (rows, target) = noisy(300, 4);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for loss in [Loss::Perceptron, Loss::Log, Loss::ModifiedHuber] {
        let by = |solver: Solver| LinearSvm { loss, solver, ..LinearSvm::default() };
        let (model, report) = by(Solver::Auto).fit_examples(&examples, &Run::new()).unwrap();
        assert!(report.route.contains("stochastic gradient descent"), "{report:?}");
        assert!(model == by(Solver::Sgd).fit_examples(&examples, &Run::new()).unwrap().0);
        let refused = by(Solver::Dual).fit_examples(&examples, &Run::new()).err().unwrap();
        assert!(refused.remedy().contains("solver=auto"), "{refused}");
        let penalised = LinearSvm { intercept: Intercept::Penalised, ..by(Solver::Auto) };
        assert!(
            penalised.fit_examples(&examples, &Run::new()).is_err_and(|error| error.remedy().contains("loss=hinge"))
        );
        let numbers = Target::numbers(Matrix::column_vector((0..300).map(f64::from).collect())).unwrap();
        let of_numbers = Examples::new(rows.features(), &numbers, None).unwrap();
        let said = by(Solver::Auto).fit_examples(&of_numbers, &Run::new()).err().unwrap().to_string();
        assert!(said.contains("loss") && said.contains("classes"), "{said}");
    }
}

#[test]
fn descent_that_its_budget_stops_has_an_answer() {
    let (rows, target) = noisy(20_000, 4);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for loss in [Loss::Hinge, Loss::Log, Loss::Perceptron] {
        let settings = LinearSvm { loss, solver: Solver::Sgd, ..LinearSvm::default() };
        let (_, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
        assert!(report.stop == StopReason::Converged && report.trace.len() > 4, "{report:?}");
        for looks in 0..20 {
            let (_, report) = settings.fit_examples(&examples, &budget_of_looks(looks)).unwrap();
            assert_eq!(report.stop, StopReason::Budget);
            assert!(report.remarks.iter().any(|remark| remark.contains("can be resumed")), "{report:?}");
        }
    }
}

/// Counts looks, and how many there were before the first epoch and before each later one.
#[derive(Clone, Default)]
struct Epochs(Arc<Mutex<(usize, Vec<usize>)>>);

impl Observer for Epochs {
    fn progress(&mut self, stage: &str, _: u64, _: u64) {
        let mut heard = self.0.lock().unwrap();
        let looks = heard.0;
        if stage == "epochs" {
            heard.1.push(looks);
        }
    }

    fn poll(&mut self) -> bool {
        self.0.lock().unwrap().0 += 1;
        false
    }
}

#[test]
fn every_pass_over_the_rows_looks_at_the_run() {
    let (rows, target) = noisy(40_960, 4);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let plain = LinearSvm {
        solver: Solver::Sgd,
        epochs: 3,
        tolerance: 0.0,
        certify: false,
        probabilities: false,
        ..LinearSvm::default()
    };
    let looks = |settings: &LinearSvm| {
        let heard = Epochs::default();
        let run = Run::new().threads(1).clock(TickClock::new(Duration::from_millis(50))).observe(heard.clone());
        settings.fit_examples(&examples, &run).unwrap();
        heard.0.lock().unwrap().1.clone()
    };
    // At least one for every 4096 rows: of their lengths, of the epoch, and of the rows that early stopping looks at.
    let (explicit, implicit) = (LinearSvm { update: Update::Explicit, ..plain.clone() }, looks(&plain));
    let before = implicit[0] - looks(&explicit)[0];
    assert!(before >= 10, "{before}");
    assert!(implicit.windows(2).all(|pair| pair[1] - pair[0] >= 10), "{implicit:?}");
    let early = LinearSvm { early_stopping: true, validation_fraction: 0.5, ..plain };
    let halves = looks(&early);
    assert!(halves.windows(2).all(|pair| pair[1] - pair[0] >= 10), "{halves:?}");
}

#[test]
fn explicit_steps_that_diverge_are_refused() {
    let (rows, target) = unscaled(2_000);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let settings = LinearSvm {
        loss: Loss::SquaredHinge,
        update: Update::Explicit,
        solver: Solver::Sgd,
        probabilities: false,
        ..LinearSvm::default()
    };
    let error = settings.fit_examples(&examples, &Run::new()).err().unwrap();
    assert!(error.to_string().contains("has diverged") && error.remedy().contains("update=implicit"), "{error}");
}

#[test]
fn safeguarded_steps_are_explicit_ones_unless_these_diverge() {
    let (far, classes) = unscaled(2_000);
    let (near, others) = noisy(2_000, 6);
    let of = |update: Update, schedule: Schedule| LinearSvm {
        loss: Loss::SquaredHinge,
        update,
        schedule,
        learning_rate: 1e-3,
        solver: Solver::Sgd,
        probabilities: false,
        certify: false,
        ..LinearSvm::default()
    };
    let fit = |rows: &Matrix, target: &Target, settings: &LinearSvm, run: &Run| {
        let examples = Examples::new(rows.features(), target, None).unwrap();
        let (model, report) = settings.fit_examples(&examples, run).unwrap();
        let told = report.remarks.iter().any(|remark| remark.contains("explicit steps have diverged"));
        (model.weights().to_vec(), model.bias(), told)
    };
    for (rows, target, diverges) in [(&far, &classes, true), (&near, &others, false)] {
        let schedule = if diverges { Schedule::Optimal } else { Schedule::Constant };
        let (weights, bias, told) = fit(rows, target, &of(Update::Safeguarded, schedule), &Run::new());
        let same = if diverges { Update::Implicit } else { Update::Explicit };
        assert_eq!((weights, bias, told), {
            let (weights, bias, _) = fit(rows, target, &of(same, schedule), &Run::new());
            (weights, bias, diverges)
        });
    }
    // Out of time, it is at worst no weights.
    for looks in 0..8 {
        let (weights, bias, _) =
            fit(&far, &classes, &of(Update::Safeguarded, Schedule::Optimal), &budget_of_looks(looks));
        assert!(mean_loss(&far, &classes, &weights, bias) <= 1.0 + 1e-12, "{looks}: {weights:?}");
    }
}

/// The mean squared hinge.
fn mean_loss(rows: &Matrix, target: &Target, weights: &[f64], bias: f64) -> f64 {
    let TargetView::Classes { codes, .. } = target.view() else { panic!() };
    let of_row = |(i, code): (usize, &u32)| {
        let score = bias + rows.row(i).iter().zip(weights).map(|(x, weight)| x * weight).sum::<f64>();
        (1.0 - score * (2.0 * f64::from(*code) - 1.0)).max(0.0).powi(2)
    };
    codes.iter().enumerate().map(of_row).sum::<f64>() / codes.len() as f64
}

#[test]
fn real_columns_in_any_unit_are_learnt_by_the_squared_hinge() {
    // Thirty columns of tumours from thousandths to thousands, as they are; 357 of 569 are benign.
    let labelled = crate::example("wdbc.csv").labelled("diagnosis", None).unwrap();
    let (columns, target) = (labelled.table.columns(), &labelled.target);
    let values = (0..569).flat_map(|i| columns.iter().map(move |column| column.number(i).unwrap())).collect();
    let rows = Matrix::new(569, 30, values).unwrap();
    let examples = Examples::new(rows.features(), target, None).unwrap();
    let TargetView::Classes { codes, .. } = target.view() else { panic!() };
    for update in [Update::Implicit, Update::Safeguarded] {
        for average in [true, false] {
            let settings = LinearSvm {
                loss: Loss::SquaredHinge,
                lambda: Amount::Fixed(1e-4),
                solver: Solver::Sgd,
                update,
                average,
                ..LinearSvm::default()
            };
            let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
            let scores = model.scores(&rows.features(), &Run::new()).unwrap();
            let right = scores.iter().zip(codes).filter(|(score, code)| (**score > 0.0) == (**code == 1)).count();
            println!("{update:?} {average}: {right} of 569");
            assert!(right as f64 > 0.85 * 569.0, "{update:?} {average}: {right} of 569");
            assert!(mean_loss(&rows, target, model.weights(), model.bias()) < 1.0, "{report:?}");
        }
    }
}

#[test]
fn a_learning_rate_that_was_too_large_is_reported() {
    let (rows, target) = noisy(3_000, 6);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let steps = |learning_rate: f64| {
        let settings = LinearSvm {
            loss: Loss::SquaredHinge,
            solver: Solver::Sgd,
            update: Update::Explicit,
            schedule: Schedule::Constant,
            learning_rate,
            epochs: 3,
            average: false,
            probabilities: false,
            ..LinearSvm::default()
        };
        settings.fit_examples(&examples, &Run::new()).is_err_and(|error| error.to_string().contains("has diverged"))
    };
    assert!(steps(1.0) && !steps(0.001));
}

#[test]
fn an_l1_penalty_makes_weights_of_noise_zero_and_keeps_those_that_matter() {
    let mut stream = Stream::new(11, 0);
    let (rows, columns) = (600, 40);
    let x = Matrix::new(rows, columns, (0..rows * columns).map(|_| stream.normal()).collect()).unwrap();
    let label = |i: usize| if x[(i, 0)] > x[(i, 1)] { "yes" } else { "no" };
    let labels: Vec<&str> = (0..rows).map(label).collect();
    let settings = LinearSvm { solver: Solver::Sgd, penalty: Penalty::L1, c: 0.02, ..LinearSvm::default() };
    let target = Target::labels(&labels);
    let model = Model::fit_features(&x.features(), &target, None, &settings, &Run::new()).unwrap();
    let weights = model.fitted::<LinearSvmModel>().unwrap().weights().to_vec();
    let zeros = weights.iter().filter(|weight| **weight == 0.0).count();
    assert!(zeros > columns / 2 && weights[0] > 0.0 && weights[1] < 0.0, "{weights:?}");
}
