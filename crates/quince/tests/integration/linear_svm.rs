//! Linear support vector machines by every solver of the dual problem: stopped early, resumed, at the edges, and on any number of threads.

use crate::clock::budget_of_looks;
use crate::svm::{fact, noisy, plain};
use quince::learn::{Amount, Classes, Examples, Learner, Target};
use quince::margin::{Intercept, LinearSvm, LinearSvmModel, Loss, Solver};
use quince::matrix::Sparse;
use quince::run::{Report, StopReason, Stream};
use quince::{Matrix, Model, Run};

/// Sparse rows of words, of which a few are frequent, and classes that are not linearly separable.
fn documents(count: usize, words: usize, length: usize) -> (Sparse, Target) {
    let mut stream = Stream::new(3, 0);
    let taste: Vec<f64> = (0..words).map(|_| stream.normal()).collect();
    let (mut starts, mut support_indices, mut codes) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..count {
        let first = support_indices.len();
        support_indices.extend((0..length).map(|_| (words as f64 * stream.uniform().powi(3)) as u32));
        let score: f64 = support_indices[first..].iter().map(|&word| taste[word as usize]).sum();
        codes.push(u32::from(score + 5.0 * stream.normal() > 0.0));
        starts.push(support_indices.len());
    }
    let values = vec![1.0 / (length as f64).sqrt(); support_indices.len()];
    let rows = Sparse::new(count, words, starts, support_indices, values).unwrap();
    (rows, Target::classes(Classes::of(["a", "b"]), codes).unwrap())
}

#[test]
fn a_linear_model_in_two_lanes_has_the_optimum_and_the_same_bits_on_any_number_of_threads() {
    let (sparse, target) = documents(4_500, 2_000, 120);
    let examples = Examples::new(sparse.features(), &target, None).unwrap();
    for intercept in [Intercept::Free, Intercept::Penalised] {
        let settings = LinearSvm {
            intercept,
            solver: Solver::Dual,
            tolerance: 1e-5,
            probabilities: false,
            ..LinearSvm::default()
        };
        let fit = |threads: usize| {
            let (model, report) = settings.fit_examples(&examples, &Run::new().threads_exactly(threads)).unwrap();
            (model.weights().to_vec(), model.bias(), report)
        };
        let alone = fit(1);
        assert!(alone == fit(2) && alone == fit(8));
        assert_eq!(alone.2.stop, StopReason::Converged);
        let fact = |name: &str| alone.2.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= 1e-4 * fact("primal"), "{:?}", alone.2.facts);
    }
}

#[test]
fn lanes_whose_steps_conflict_do_no_harm() {
    // Few columns and many rows: what one lane has learnt, the other has too.
    let (rows, target) = noisy(90_000, 12);
    let settings =
        LinearSvm { c: 0.001, solver: Solver::Dual, tolerance: 1e-4, probabilities: false, ..LinearSvm::default() };
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for intercept in [Intercept::Free, Intercept::Penalised] {
        let (_, report) = LinearSvm { intercept, ..settings.clone() }.fit_examples(&examples, &Run::new()).unwrap();
        assert_eq!(report.stop, StopReason::Converged);
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= 1e-4 * fact("primal"), "{:?}", report.facts);
    }
}

#[test]
fn a_linear_model_that_was_stopped_early_is_resumed_from_its_file() {
    let (rows, target) = noisy(4_000, 12);
    for (loss, solver) in SECOND_ORDER.into_iter().chain([(Loss::Hinge, Solver::Dual)]) {
        let short = LinearSvm { loss, solver, epochs: 1, probabilities: false, ..LinearSvm::default() };
        let model = Model::fit_features(&rows.features(), &target, None, &short, &Run::new()).unwrap();
        assert_eq!(model.report().stop, StopReason::StepLimit);
        let model = Model::from_bytes(&model.to_bytes()).unwrap();
        let fitted: &quince::margin::LinearSvmModel = model.fitted().unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let long = LinearSvm { epochs: 10_000, ..short };
        let (_, resumed) = Learner::resume(&long, fitted, &examples, &Run::new()).unwrap().unwrap();
        let (_, from_scratch) = long.fit_examples(&examples, &Run::new()).unwrap();
        let fact = |report: &quince::run::Report| report.facts.iter().find(|f| f.0 == "dual").unwrap().1;
        assert!((fact(&resumed) - fact(&from_scratch)).abs() < 1e-4 * fact(&from_scratch));
    }
}

#[test]
fn a_free_intercept_is_found_whatever_the_unit() {
    // Nine rows of ten are of the first class, and the columns hardly tell: the best intercept is -1.
    let (rows, _) = noisy(1_000, 3);
    let codes = (0..1_000).map(|i| u32::from(i % 10 == 0)).collect();
    let target = Target::classes(Classes::of(["a", "b"]), codes).unwrap();
    for unit in [1.0, 1e-4, 1e-8] {
        let rows = Matrix::new(1_000, 3, rows.values().iter().map(|x| unit * x).collect()).unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let settings = LinearSvm { probabilities: false, ..LinearSvm::default() };
        let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= 0.02 * fact("primal"), "{unit}: {:?}", report.facts);
        assert!((model.bias() + 1.0).abs() < 0.1, "{unit}: {}", model.bias());
    }
}

#[test]
fn few_columns_are_finished_in_any_unit_at_any_cost_and_on_any_number_of_threads() {
    let (mut rows, target) = noisy(30_000, 12);
    // Far from zero, and in units from a thousandth to a thousand.
    for i in 0..rows.rows() {
        let row = rows.row_mut(i).iter_mut().enumerate();
        row.for_each(|(j, x)| *x = 10f64.powi(j as i32 % 7 - 3) * (*x + 20.0));
    }
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for (c, loss) in [(1e-3, Loss::Hinge), (1e4, Loss::Hinge), (1e4, Loss::SquaredHinge)] {
        let settings = LinearSvm { c, loss, probabilities: false, ..LinearSvm::default() };
        let fit = |threads: usize| settings.fit_examples(&examples, &Run::new().threads_exactly(threads)).unwrap();
        let (model, report) = fit(1);
        assert_eq!(report.stop, StopReason::Converged, "{report:?}");
        let certificate = report.certificate.as_ref().unwrap();
        assert!(certificate.value <= certificate.tolerance, "{report:?}");
        assert!((model, report) == fit(8));
    }
}

#[test]
fn newton_is_for_smooth_losses() {
    let (rows, target) = noisy(40, 3);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let settings = LinearSvm { solver: Solver::Newton, ..LinearSvm::default() };
    let said = settings.fit_examples(&examples, &Run::new()).err().unwrap().to_string();
    assert!(said.contains("not smooth"), "{said}");
}

#[test]
fn an_interior_point_fit_that_is_stopped_early_is_a_model_with_its_gap() {
    let (rows, target) = noisy(200_000, 40);
    let settings = LinearSvm { probabilities: false, ..LinearSvm::default() };
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (model, report) = settings.fit_examples(&examples, &budget_of_looks(12)).unwrap();
    assert_eq!(report.stop, StopReason::Budget);
    let (_, whole) = settings.fit_examples(&examples, &Run::new()).unwrap();
    let fact = |report: &quince::run::Report, name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
    let best = fact(&whole, "primal");
    assert!(fact(&report, "dual") >= 0.0 && fact(&report, "dual") <= best);
    assert!(best <= fact(&report, "primal") * (1.0 + 1e-9));
    let (_, resumed) = Learner::resume(&settings, &model, &examples, &Run::new()).unwrap().unwrap();
    assert_eq!(resumed.stop, StopReason::Converged);
    assert!((fact(&resumed, "primal") - best).abs() < 1e-5 * best);
}

#[test]
fn a_budget_holds_for_a_linear_model_with_probabilities() {
    let (rows, target) = noisy(2_000, 30);
    let settings =
        LinearSvm { c: 100.0, solver: Solver::Dual, tolerance: 1e-10, epochs: 1_000_000, ..LinearSvm::default() };
    let model = Model::fit_features(&rows.features(), &target, None, &settings, &budget_of_looks(12)).unwrap();
    assert_eq!(model.report().stop, StopReason::Budget);
}

#[test]
fn lambda_is_one_over_c_times_the_rows() {
    let (rows, target) = noisy(320, 4);
    // A row without weight does not count: 256 do.
    let weights: Vec<f64> = (0..320).map(|i| if i % 5 == 0 { 0.0 } else { 1.0 + f64::from(i % 2) }).collect();
    let numbers = Target::numbers(Matrix::column_vector((0..320).map(|i| rows[(i, 0)].sin()).collect())).unwrap();
    let solvers = [(Loss::Hinge, Solver::Sgd), (Loss::SquaredHinge, Solver::Sgd), (Loss::Hinge, Solver::Dual)];
    for (loss, solver) in SECOND_ORDER.into_iter().chain(solvers) {
        for (target, weights, count) in
            [(&target, None, 320.0), (&target, Some(&weights), 256.0), (&numbers, None, 320.0)]
        {
            let examples = Examples::new(rows.features(), target, weights.map(|all| &all[..])).unwrap();
            if solver == Solver::Sgd && std::ptr::eq(target, &numbers) {
                continue;
            }
            let settings = LinearSvm { loss, solver, ..LinearSvm::default() };
            // Powers of two lose no digits.
            let by_c = LinearSvm { c: 1.0 / (0.125 * count), ..settings.clone() };
            let by_lambda = LinearSvm { lambda: Amount::Fixed(0.125), ..settings };
            let fit = |settings: &LinearSvm| settings.fit_examples(&examples, &Run::new()).unwrap().0;
            assert!(fit(&by_c) == fit(&by_lambda), "{loss:?} {solver:?} {count}");
        }
    }
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let extreme = LinearSvm { lambda: Amount::Fixed(1e308), ..LinearSvm::default() };
    assert!(extreme.fit_examples(&examples, &Run::new()).is_err_and(|error| error.to_string().contains("too large")));
    let both = LinearSvm { c: 2.0, lambda: Amount::Fixed(0.1), ..LinearSvm::default() };
    assert!(both.fit_examples(&examples, &Run::new()).is_err_and(|error| error.remedy().contains("one of them")));
}

#[test]
fn a_budget_that_ends_in_calibration_stops_it() {
    let (rows, target) = noisy(1_500, 12);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let slow = LinearSvm { c: 10.0, tolerance: 1e-4, epochs: 100_000, ..LinearSvm::default() };
    for solver in [Solver::Dual, Solver::Interior] {
        let settings = LinearSvm { solver, ..slow.clone() };
        let (whole, _) = settings.fit_examples(&examples, &Run::new()).unwrap();
        // The first budget that is enough for the fit is not enough for a second one.
        let budgets = (0..).map(|k| 1.1f64.powi(k) as u32);
        let mut fits = budgets.filter_map(|looks| settings.fit_examples(&examples, &budget_of_looks(looks)).ok());
        let (model, report) = fits.find(|(_, report)| report.stop == StopReason::Converged).unwrap();
        assert!(report.remarks.iter().any(|remark| remark.contains("no time to calibrate")), "{report:?}");
        assert!(model.weights() == whole.weights() && model.temperature() != whole.temperature());
    }
}

#[test]
fn the_unit_of_the_target_changes_nothing() {
    let (rows, _) = noisy(300, 3);
    let numbers: Vec<f64> = (0..300).map(|i| rows[(i, 0)].sin() + rows[(i, 1)] * rows[(i, 2)]).collect();
    let support = |unit: f64| {
        let target = Target::numbers(Matrix::column_vector(numbers.iter().map(|y| unit * y).collect())).unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let (model, _) = plain().fit_examples(&examples, &Run::new()).unwrap();
        let (_, linear) = LinearSvm::default().fit_examples(&examples, &Run::new()).unwrap();
        (model.support_indices().to_vec(), linear.facts.iter().find(|f| f.0 == "support vectors").unwrap().1)
    };
    // Powers of two, so that no bit changes.
    let usual = support(1.0);
    assert!(usual.0.len() > 50 && usual == support(2f64.powi(-30)) && usual == support(2f64.powi(30)));
    let target = Target::numbers(Matrix::column_vector(vec![1e300, -1e300, 1.5e300])).unwrap();
    let examples = Matrix::column_vector(vec![1.0, 2.0, 3.0]);
    let said =
        Model::fit_features(&examples.features(), &target, None, &plain(), &Run::new()).err().unwrap().to_string();
    assert!(said.contains("cannot be added up"), "{said}");
}

#[test]
fn without_a_tolerance_a_linear_model_is_as_exact_as_it_can_be() {
    let (rows, target) = noisy(500, 6);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let of_hinge = [(Loss::Hinge, Solver::Dual, 1e-6), (Loss::Hinge, Solver::Interior, 1e-9)];
    for (loss, solver, gap) in of_hinge.into_iter().chain([(Loss::SquaredHinge, Solver::Newton, 1e-9)]) {
        let settings = LinearSvm { loss, solver, tolerance: 0.0, probabilities: false, ..LinearSvm::default() };
        let (_, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= gap * fact("primal"), "{report:?}");
    }
}

/// Losses and second-order solvers for them.
const SECOND_ORDER: [(Loss, Solver); 3] =
    [(Loss::Hinge, Solver::Interior), (Loss::SquaredHinge, Solver::Interior), (Loss::SquaredHinge, Solver::Newton)];

/// A linear model of numbers whose solver has converged, and its report.
fn fit_converged(rows: &Matrix, numbers: Vec<f64>, settings: LinearSvm) -> (LinearSvmModel, Report) {
    let target = Target::numbers(Matrix::column_vector(numbers)).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
    assert_eq!(report.stop, StopReason::Converged, "{report:?}");
    assert!(report.holds(), "{report:?}");
    (model, report)
}

#[test]
fn linear_models_have_their_optimum_where_no_row_has_a_loss() {
    let (rows, _) = noisy(50, 3);
    let plain = LinearSvm { standardise: false, probabilities: false, ..LinearSvm::default() };
    for (loss, solver) in SECOND_ORDER {
        for intercept in [Intercept::Free, Intercept::Penalised, Intercept::None] {
            let settings = LinearSvm { loss, solver, intercept, ..plain.clone() };
            // All numbers within ε; all the same; and none that the columns do not explain.
            let (model, _) = fit_converged(&rows, (0..50).map(|i| 0.01 * f64::from(i % 3)).collect(), settings.clone());
            assert!(model.weights().iter().all(|weight| weight.abs() < 1e-3));
            let free = LinearSvm { intercept: Intercept::Free, ..settings.clone() };
            let (model, _) = fit_converged(&rows, vec![7.0; 50], free);
            assert!((model.bias() - 7.0).abs() <= 0.1 + 1e-6);
            let exact = LinearSvm { epsilon: 0.0, c: 1e3, ..settings };
            let (model, report) = fit_converged(&rows, (0..50).map(|i| 2.0 * rows[(i, 1)]).collect(), exact);
            assert!((model.weights()[1] - 2.0).abs() < 1e-2, "{:?}", model.weights());
            assert!(report.facts.iter().find(|f| f.0 == "support vectors").unwrap().1 <= 50.0);
        }
    }
    // Rows that are all the same, and a single one.
    let same = Matrix::new(4, 2, [1.0, 2.0].repeat(4)).unwrap();
    for (loss, solver) in SECOND_ORDER {
        let settings = LinearSvm { loss, solver, ..plain.clone() };
        let (model, _) = fit_converged(&same, vec![1.0, 2.0, 3.0, 6.0], settings.clone());
        let middle = model.scores(&same.features(), &Run::new()).unwrap()[0];
        assert!((1.9..=3.1).contains(&middle), "{middle}");
        fit_converged(&rows.take_rows(&[0]), vec![3.0], settings);
    }
}

#[test]
fn weights_may_differ_widely() {
    let (rows, target) = noisy(2_000, 4);
    for weights in [
        (0..2_000).map(|i| 0.98f64.powi(i)).collect::<Vec<f64>>(),
        (0..2_000).map(|i| if i == 7 { 1e-200 } else { 1.0 }).collect(),
        (0..2_000).map(|i| if i % 50 == 0 { 1e6 } else { 1.0 }).collect(),
    ] {
        let examples = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
        for (loss, solver) in SECOND_ORDER {
            let settings = LinearSvm { loss, solver, probabilities: false, ..LinearSvm::default() };
            let (_, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
            assert!(report.stop == StopReason::Converged && report.holds(), "{report:?}");
        }
    }
}

#[test]
fn an_intercept_with_a_weak_penalty_is_a_free_one() {
    let (rows, target) = noisy(3_000, 5);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let fit = |intercept: Intercept| {
        let settings = LinearSvm {
            intercept,
            intercept_scale: 1e6,
            tolerance: 1e-5,
            probabilities: false,
            ..LinearSvm::default()
        };
        let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
        assert!(report.stop == StopReason::Converged && report.holds(), "{report:?}");
        model.bias()
    };
    assert!((fit(Intercept::Free) - fit(Intercept::Penalised)).abs() < 1e-3);
}

#[test]
fn resuming_just_before_convergence_does_no_harm() {
    let (rows, target) = noisy(4_000, 12);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for ((loss, solver), c) in SECOND_ORDER.into_iter().flat_map(|way| [0.01, 1.0, 100.0].map(|c| (way, c))) {
        let whole = LinearSvm { loss, c, solver, probabilities: false, ..LinearSvm::default() };
        let (_, from_scratch) = whole.fit_examples(&examples, &Run::new()).unwrap();
        let steps = from_scratch.facts.iter().find(|f| f.0 == "epochs").unwrap().1 as usize;
        for epochs in [steps.div_ceil(2), steps.max(3) - 2, steps.max(2) - 1] {
            let short = LinearSvm { epochs, ..whole.clone() };
            let (model, report) = short.fit_examples(&examples, &Run::new()).unwrap();
            assert_eq!(report.stop, StopReason::StepLimit);
            let (_, resumed) = Learner::resume(&whole, &model, &examples, &Run::new()).unwrap().unwrap();
            assert!(resumed.stop == StopReason::Converged && resumed.holds(), "{c} {epochs} of {steps}: {resumed:?}");
        }
    }
}

/// Two classes of rows that a plane separates.
fn apart(count: usize, columns: usize) -> (Matrix, Target) {
    let (mut rows, _) = noisy(count, columns);
    for i in 0..count {
        rows.row_mut(i)[0] += if i % 2 == 0 { 6.0 } else { -6.0 };
    }
    (rows, Target::classes(Classes::of(["a", "b"]), (0..count as u32).map(|i| i % 2).collect()).unwrap())
}

#[test]
fn the_squared_hinge_has_its_optimum_far_from_zero_and_at_any_cost() {
    let squared = LinearSvm { loss: Loss::SquaredHinge, probabilities: false, ..LinearSvm::default() };
    let (rows, _) = noisy(300, 5);
    for (far, c) in [(1e6, 1.0), (1e7, 100.0), (1e6, 1e6)] {
        fit_converged(
            &rows,
            (0..300).map(|i| rows[(i, 0)] + rows[(i, 4)].sin() + far).collect(),
            LinearSvm { c, ..squared.clone() },
        );
    }
    fit_converged(&rows, (0..300).map(|i| 1e-100 * rows[(i, 1)].sin()).collect(), squared.clone());
    let (rows, target) = apart(500, 5);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for c in [1e4, 1e12, 1e20] {
        let (_, interior) =
            LinearSvm { c, solver: Solver::Interior, ..squared.clone() }.fit_examples(&examples, &Run::new()).unwrap();
        let (_, auto) = LinearSvm { c, ..squared.clone() }.fit_examples(&examples, &Run::new()).unwrap();
        assert!(fact(&auto, "primal") <= fact(&interior, "primal") * (1.0 + 1e-6), "{c}: {auto:?} {interior:?}");
    }
}

#[test]
fn costs_that_overflow_are_not_certified() {
    let (rows, target) = noisy(500, 5);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for c in [1e153, 1e200, 1e300] {
        for solver in [Solver::Auto, Solver::Interior, Solver::Newton] {
            let settings =
                LinearSvm { c, loss: Loss::SquaredHinge, solver, probabilities: false, ..LinearSvm::default() };
            let Ok((_, report)) = settings.fit_examples(&examples, &Run::new()) else { continue };
            let (primal, dual) = (fact(&report, "primal"), fact(&report, "dual"));
            assert!(report.stop != StopReason::Converged || primal - dual <= 1e-6 * primal, "{report:?}");
        }
    }
}

#[test]
fn resuming_a_few_steps_at_a_time_converges() {
    let (rows, target) = noisy(2_000, 10);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let short =
        LinearSvm { loss: Loss::SquaredHinge, c: 100.0, epochs: 1, probabilities: false, ..LinearSvm::default() };
    let (mut model, mut report) = short.fit_examples(&examples, &Run::new()).unwrap();
    for _ in 0..30 {
        let before = fact(&report, "primal");
        (model, report) = Learner::resume(&short, &model, &examples, &Run::new()).unwrap().unwrap();
        assert!(fact(&report, "primal") <= before * (1.0 + 1e-12));
    }
    assert_eq!(report.stop, StopReason::Converged);
}

#[test]
fn one_interior_point_step_does_not_spoil_what_newton_has_found() {
    let (rows, target) = apart(300, 40);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let primal = |epochs: usize| {
        let settings =
            LinearSvm { loss: Loss::SquaredHinge, c: 1e6, epochs, probabilities: false, ..LinearSvm::default() };
        fact(&settings.fit_examples(&examples, &Run::new()).unwrap().1, "primal")
    };
    assert!(primal(41) <= primal(40) * (1.0 + 1e-9));
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let rows = Sparse::from_rows(2_000_000, (0..100u32).map(|i| vec![(i * 7, 1.0), (i * 11 + 3, 2.0)])).unwrap();
    let target = Target::classes(Classes::of(["a", "b"]), (0..100).map(|i| i % 2).collect()).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for (loss, solver) in SECOND_ORDER {
        let settings = LinearSvm { loss, solver, ..LinearSvm::default() };
        let said = settings.fit_examples(&examples, &Run::new()).err().unwrap().to_string();
        assert!(said.contains("GB of memory"), "{said}");
    }
}

#[test]
fn a_fit_is_resumed_with_its_own_weights_only() {
    let text: String =
        (0..200).map(|i| format!("{},{},{}\n", i % 17, (i * 7) % 23, if i % 3 == 0 { "a" } else { "b" })).collect();
    let table = quince::Table::from_csv(&format!("u,v,y\n{text}")).unwrap();
    let labelled = table.labelled("y", None).unwrap();
    let weights: Vec<f64> = (0..200).map(|i| 0.1 + f64::from(i % 4)).collect();
    let short = LinearSvm { epochs: 1, probabilities: false, ..LinearSvm::default() };
    let model = Model::fit(&labelled, Some(&weights), &short, &Run::new()).unwrap();
    let model = Model::from_bytes(&model.to_bytes()).unwrap();
    let long = LinearSvm { epochs: 1_000, ..short };
    assert!(model.resumed(&labelled, Some(&weights), &long, &Run::new()).is_ok());
    let others = vec![1.0; 200];
    // The same weights of other rows have the same sum.
    let turned: Vec<f64> = weights.iter().rev().copied().collect();
    for other in [None, Some(&others[..]), Some(&turned[..])] {
        let said = model.resumed(&labelled, other, &long, &Run::new()).err().unwrap().to_string();
        assert!(said.contains("other weights"), "{said}");
    }
    let turned = labelled.take(&(0..200).rev().collect::<Vec<_>>());
    let said = model.resumed(&turned, Some(&weights), &long, &Run::new()).err().unwrap().to_string();
    assert!(said.contains("other rows"), "{said}");
}
