//! Linear support vector machines by every way to their optimum: cut short, gone on, at the edges, and on any number of threads.

use crate::machines::{fact, noisy, plain};
use quince::learn::{Classes, Examples, Learner, Target};
use quince::margin::{Intercept, LinearMachine, LinearSvm, Loss, Solver};
use quince::matrix::Sparse;
use quince::run::{Report, Stop, Stream};
use quince::{Matrix, Model, Run};
use std::time::{Duration, Instant};

/// Sparse rows of words, of which a few are frequent, and classes that no weights can tell apart.
fn documents(count: usize, words: usize, length: usize) -> (Sparse, Target) {
    let mut stream = Stream::new(3, 0);
    let taste: Vec<f64> = (0..words).map(|_| stream.normal()).collect();
    let (mut starts, mut places, mut codes) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..count {
        let first = places.len();
        places.extend((0..length).map(|_| (words as f64 * stream.uniform().powi(3)) as u32));
        let score: f64 = places[first..].iter().map(|&word| taste[word as usize]).sum();
        codes.push(u32::from(score + 5.0 * stream.normal() > 0.0));
        starts.push(places.len());
    }
    let values = vec![1.0 / (length as f64).sqrt(); places.len()];
    let rows = Sparse::new(count, words, starts, places, values).unwrap();
    (rows, Target::Classes { classes: Classes::of(["a", "b"]), codes })
}

#[test]
fn a_linear_machine_in_two_lanes_has_the_optimum_and_the_same_bits_on_any_number_of_threads() {
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
            let (machine, report) = settings.fit(&examples, &Run::new().threads(threads)).unwrap();
            (machine.weights().to_vec(), machine.bias(), report)
        };
        let alone = fit(1);
        assert!(alone == fit(2) && alone == fit(8));
        assert_eq!(alone.2.stop, Stop::Converged);
        let fact = |name: &str| alone.2.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= 1e-4 * fact("primal"), "{:?}", alone.2.facts);
    }
}

#[test]
fn lanes_in_each_others_way_do_no_harm() {
    // Few columns and many rows: what one lane has learnt, the other has too.
    let (rows, target) = noisy(90_000, 12);
    let settings =
        LinearSvm { c: 0.001, solver: Solver::Dual, tolerance: 1e-4, probabilities: false, ..LinearSvm::default() };
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for intercept in [Intercept::Free, Intercept::Penalised] {
        let (_, report) = LinearSvm { intercept, ..settings.clone() }.fit(&examples, &Run::new()).unwrap();
        assert_eq!(report.stop, Stop::Converged);
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= 1e-4 * fact("primal"), "{:?}", report.facts);
    }
}

#[test]
fn a_linear_machine_that_was_cut_short_goes_on_from_its_file() {
    let (rows, target) = noisy(4_000, 12);
    for (loss, solver) in STRAIGHT.into_iter().chain([(Loss::Hinge, Solver::Dual)]) {
        let short = LinearSvm { loss, solver, passes: 1, probabilities: false, ..LinearSvm::default() };
        let model = Model::fit_features(&rows.features(), &target, None, &short, &Run::new()).unwrap();
        assert_eq!(model.report().stop, Stop::StepLimit);
        let model = Model::from_bytes(&model.to_bytes()).unwrap();
        let machine: &quince::margin::LinearMachine = model.fitted().unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let long = LinearSvm { passes: 10_000, ..short };
        let (_, resumed) = Learner::resume(&long, machine, &examples, &Run::new()).unwrap().unwrap();
        let (_, anew) = long.fit(&examples, &Run::new()).unwrap();
        let fact = |report: &quince::run::Report| report.facts.iter().find(|f| f.0 == "dual").unwrap().1;
        assert!((fact(&resumed) - fact(&anew)).abs() < 1e-4 * fact(&anew));
    }
}

#[test]
fn a_free_constant_is_found_whatever_the_unit() {
    // Nine rows of ten are of the first class, and the columns hardly tell: the best constant is -1.
    let (rows, _) = noisy(1_000, 3);
    let codes = (0..1_000).map(|i| u32::from(i % 10 == 0)).collect();
    let target = Target::Classes { classes: Classes::of(["a", "b"]), codes };
    for unit in [1.0, 1e-4, 1e-8] {
        let rows = Matrix::new(1_000, 3, rows.values().iter().map(|x| unit * x).collect()).unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let settings = LinearSvm { probabilities: false, ..LinearSvm::default() };
        let (machine, report) = settings.fit(&examples, &Run::new()).unwrap();
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= 0.02 * fact("primal"), "{unit}: {:?}", report.facts);
        assert!((machine.bias() + 1.0).abs() < 0.1, "{unit}: {}", machine.bias());
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
        let fit = |threads: usize| settings.fit(&examples, &Run::new().threads(threads)).unwrap();
        let (machine, report) = fit(1);
        assert_eq!(report.stop, Stop::Converged, "{report:?}");
        let proof = report.certificate.as_ref().unwrap();
        assert!(proof.value <= proof.tolerance, "{report:?}");
        assert!((machine, report) == fit(8));
    }
}

#[test]
fn newton_is_for_smooth_losses() {
    let (rows, target) = noisy(40, 3);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let settings = LinearSvm { solver: Solver::Newton, ..LinearSvm::default() };
    let said = settings.fit(&examples, &Run::new()).err().unwrap().to_string();
    assert!(said.contains("not smooth"), "{said}");
}

#[test]
fn what_is_cut_short_in_the_interior_is_a_machine_with_its_gap() {
    let (rows, target) = noisy(200_000, 40);
    let settings = LinearSvm { probabilities: false, ..LinearSvm::default() };
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (machine, report) = settings.fit(&examples, &Run::new().budget(Duration::from_millis(300))).unwrap();
    assert_eq!(report.stop, Stop::Budget);
    let (_, whole) = settings.fit(&examples, &Run::new()).unwrap();
    let fact = |report: &quince::run::Report, name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
    let best = fact(&whole, "primal");
    assert!(fact(&report, "dual") >= 0.0 && fact(&report, "dual") <= best);
    assert!(best <= fact(&report, "primal") * (1.0 + 1e-9));
    let (_, resumed) = Learner::resume(&settings, &machine, &examples, &Run::new()).unwrap().unwrap();
    assert_eq!(resumed.stop, Stop::Converged);
    assert!((fact(&resumed, "primal") - best).abs() < 1e-5 * best);
}

#[test]
fn a_budget_holds_for_a_linear_machine_with_probabilities() {
    let (rows, target) = noisy(60_000, 30);
    let settings =
        LinearSvm { c: 100.0, solver: Solver::Dual, tolerance: 1e-10, passes: 1_000_000, ..LinearSvm::default() };
    let start = Instant::now();
    let run = Run::new().budget(Duration::from_millis(500));
    let model = Model::fit_features(&rows.features(), &target, None, &settings, &run).unwrap();
    assert_eq!(model.report().stop, Stop::Budget);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn the_unit_of_the_target_changes_nothing() {
    let (rows, _) = noisy(300, 3);
    let numbers: Vec<f64> = (0..300).map(|i| rows[(i, 0)].sin() + rows[(i, 1)] * rows[(i, 2)]).collect();
    let support = |unit: f64| {
        let target = Target::Numbers(Matrix::column_vector(numbers.iter().map(|y| unit * y).collect()));
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let (machine, _) = plain().fit(&examples, &Run::new()).unwrap();
        let (_, linear) = LinearSvm::default().fit(&examples, &Run::new()).unwrap();
        (machine.places().to_vec(), linear.facts.iter().find(|f| f.0 == "support vectors").unwrap().1)
    };
    // Powers of two, so that no bit changes.
    let usual = support(1.0);
    assert!(usual.0.len() > 50 && usual == support(2f64.powi(-30)) && usual == support(2f64.powi(30)));
    let target = Target::Numbers(Matrix::column_vector(vec![1e300, -1e300, 1.5e300]));
    let examples = Matrix::column_vector(vec![1.0, 2.0, 3.0]);
    let said =
        Model::fit_features(&examples.features(), &target, None, &plain(), &Run::new()).err().unwrap().to_string();
    assert!(said.contains("cannot be added up"), "{said}");
}

#[test]
fn without_a_tolerance_a_linear_machine_is_as_exact_as_it_can_be() {
    let (rows, target) = noisy(500, 6);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let of_hinge = [(Loss::Hinge, Solver::Dual, 1e-6), (Loss::Hinge, Solver::Interior, 1e-9)];
    for (loss, solver, gap) in of_hinge.into_iter().chain([(Loss::SquaredHinge, Solver::Newton, 1e-9)]) {
        let settings = LinearSvm { loss, solver, tolerance: 0.0, probabilities: false, ..LinearSvm::default() };
        let (_, report) = settings.fit(&examples, &Run::new()).unwrap();
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert!(fact("gap") <= gap * fact("primal"), "{report:?}");
    }
}

/// Losses and the ways straight to their optimum.
const STRAIGHT: [(Loss, Solver); 3] =
    [(Loss::Hinge, Solver::Interior), (Loss::SquaredHinge, Solver::Interior), (Loss::SquaredHinge, Solver::Newton)];

/// A linear machine that has reached its optimum and what it reports, for numbers as they are.
fn reach(rows: &Matrix, numbers: Vec<f64>, settings: LinearSvm) -> (LinearMachine, Report) {
    let target = Target::Numbers(Matrix::column_vector(numbers));
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (machine, report) = settings.fit(&examples, &Run::new()).unwrap();
    assert_eq!(report.stop, Stop::Converged, "{report:?}");
    assert!(report.holds(), "{report:?}");
    (machine, report)
}

#[test]
fn linear_machines_have_their_optimum_where_nothing_is_left_to_pay() {
    let (rows, _) = noisy(50, 3);
    let plain = LinearSvm { standardise: false, probabilities: false, ..LinearSvm::default() };
    for (loss, solver) in STRAIGHT {
        for intercept in [Intercept::Free, Intercept::Penalised, Intercept::None] {
            let settings = LinearSvm { loss, solver, intercept, ..plain.clone() };
            // All numbers within ε; all the same; and none that the columns do not explain.
            let (machine, _) = reach(&rows, (0..50).map(|i| 0.01 * f64::from(i % 3)).collect(), settings.clone());
            assert!(machine.weights().iter().all(|weight| weight.abs() < 1e-3));
            let free = LinearSvm { intercept: Intercept::Free, ..settings.clone() };
            let (machine, _) = reach(&rows, vec![7.0; 50], free);
            assert!((machine.bias() - 7.0).abs() <= 0.1 + 1e-6);
            let exact = LinearSvm { epsilon: 0.0, c: 1e3, ..settings };
            let (machine, report) = reach(&rows, (0..50).map(|i| 2.0 * rows[(i, 1)]).collect(), exact);
            assert!((machine.weights()[1] - 2.0).abs() < 1e-2, "{:?}", machine.weights());
            assert!(report.facts.iter().find(|f| f.0 == "support vectors").unwrap().1 <= 50.0);
        }
    }
    // Rows that are all the same, and a single one.
    let same = Matrix::new(4, 2, [1.0, 2.0].repeat(4)).unwrap();
    for (loss, solver) in STRAIGHT {
        let settings = LinearSvm { loss, solver, ..plain.clone() };
        let (machine, _) = reach(&same, vec![1.0, 2.0, 3.0, 6.0], settings.clone());
        let middle = machine.scores(&same.features(), &Run::new()).unwrap()[0];
        assert!((1.9..=3.1).contains(&middle), "{middle}");
        reach(&rows.take_rows(&[0]), vec![3.0], settings);
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
        for (loss, solver) in STRAIGHT {
            let settings = LinearSvm { loss, solver, probabilities: false, ..LinearSvm::default() };
            let (_, report) = settings.fit(&examples, &Run::new()).unwrap();
            assert!(report.stop == Stop::Converged && report.holds(), "{report:?}");
        }
    }
}

#[test]
fn a_cheap_constant_is_a_free_one() {
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
        let (machine, report) = settings.fit(&examples, &Run::new()).unwrap();
        assert!(report.stop == Stop::Converged && report.holds(), "{report:?}");
        machine.bias()
    };
    assert!((fit(Intercept::Free) - fit(Intercept::Penalised)).abs() < 1e-3);
}

#[test]
fn going_on_just_before_the_end_does_no_harm() {
    let (rows, target) = noisy(4_000, 12);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for ((loss, solver), c) in STRAIGHT.into_iter().flat_map(|way| [0.01, 1.0, 100.0].map(|c| (way, c))) {
        let whole = LinearSvm { loss, c, solver, probabilities: false, ..LinearSvm::default() };
        let (_, anew) = whole.fit(&examples, &Run::new()).unwrap();
        let steps = anew.facts.iter().find(|f| f.0 == "passes").unwrap().1 as usize;
        for passes in [steps.div_ceil(2), steps.max(3) - 2, steps.max(2) - 1] {
            let short = LinearSvm { passes, ..whole.clone() };
            let (machine, report) = short.fit(&examples, &Run::new()).unwrap();
            assert_eq!(report.stop, Stop::StepLimit);
            let (_, resumed) = Learner::resume(&whole, &machine, &examples, &Run::new()).unwrap().unwrap();
            assert!(resumed.stop == Stop::Converged && resumed.holds(), "{c} {passes} of {steps}: {resumed:?}");
        }
    }
}

/// Two classes of rows that a plane separates.
fn apart(count: usize, columns: usize) -> (Matrix, Target) {
    let (mut rows, _) = noisy(count, columns);
    for i in 0..count {
        rows.row_mut(i)[0] += if i % 2 == 0 { 6.0 } else { -6.0 };
    }
    (rows, Target::Classes { classes: Classes::of(["a", "b"]), codes: (0..count as u32).map(|i| i % 2).collect() })
}

#[test]
fn the_squared_hinge_has_its_optimum_far_from_zero_and_at_any_cost() {
    let squared = LinearSvm { loss: Loss::SquaredHinge, probabilities: false, ..LinearSvm::default() };
    let (rows, _) = noisy(300, 5);
    for (far, c) in [(1e6, 1.0), (1e7, 100.0), (1e6, 1e6)] {
        reach(
            &rows,
            (0..300).map(|i| rows[(i, 0)] + rows[(i, 4)].sin() + far).collect(),
            LinearSvm { c, ..squared.clone() },
        );
    }
    reach(&rows, (0..300).map(|i| 1e-100 * rows[(i, 1)].sin()).collect(), squared.clone());
    let (rows, target) = apart(500, 5);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for c in [1e4, 1e12, 1e20] {
        let (_, interior) =
            LinearSvm { c, solver: Solver::Interior, ..squared.clone() }.fit(&examples, &Run::new()).unwrap();
        let (_, auto) = LinearSvm { c, ..squared.clone() }.fit(&examples, &Run::new()).unwrap();
        assert!(fact(&auto, "primal") <= fact(&interior, "primal") * (1.0 + 1e-6), "{c}: {auto:?} {interior:?}");
    }
}

#[test]
fn costs_beyond_all_numbers_are_not_certified() {
    let (rows, target) = noisy(500, 5);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for c in [1e153, 1e200, 1e300] {
        for solver in [Solver::Auto, Solver::Interior, Solver::Newton] {
            let settings =
                LinearSvm { c, loss: Loss::SquaredHinge, solver, probabilities: false, ..LinearSvm::default() };
            let Ok((_, report)) = settings.fit(&examples, &Run::new()) else { continue };
            let (primal, dual) = (fact(&report, "primal"), fact(&report, "dual"));
            assert!(report.stop != Stop::Converged || primal - dual <= 1e-6 * primal, "{report:?}");
        }
    }
}

#[test]
fn going_on_a_few_steps_at_a_time_gets_there() {
    let (rows, target) = noisy(2_000, 10);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let short =
        LinearSvm { loss: Loss::SquaredHinge, c: 100.0, passes: 1, probabilities: false, ..LinearSvm::default() };
    let (mut machine, mut report) = short.fit(&examples, &Run::new()).unwrap();
    for _ in 0..30 {
        let before = fact(&report, "primal");
        (machine, report) = Learner::resume(&short, &machine, &examples, &Run::new()).unwrap().unwrap();
        assert!(fact(&report, "primal") <= before * (1.0 + 1e-12));
    }
    assert_eq!(report.stop, Stop::Converged);
}

#[test]
fn one_step_through_the_interior_does_not_spoil_what_newton_has_found() {
    let (rows, target) = apart(300, 40);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let primal = |passes: usize| {
        let settings =
            LinearSvm { loss: Loss::SquaredHinge, c: 1e6, passes, probabilities: false, ..LinearSvm::default() };
        fact(&settings.fit(&examples, &Run::new()).unwrap().1, "primal")
    };
    assert!(primal(41) <= primal(40) * (1.0 + 1e-9));
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let rows = Sparse::from_rows(2_000_000, (0..100u32).map(|i| vec![(i * 7, 1.0), (i * 11 + 3, 2.0)])).unwrap();
    let target = Target::Classes { classes: Classes::of(["a", "b"]), codes: (0..100).map(|i| i % 2).collect() };
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for (loss, solver) in STRAIGHT {
        let settings = LinearSvm { loss, solver, ..LinearSvm::default() };
        let said = settings.fit(&examples, &Run::new()).err().unwrap().to_string();
        assert!(said.contains("GB of memory"), "{said}");
    }
}

#[test]
fn a_fit_goes_on_with_its_own_weights_only() {
    let text: String =
        (0..200).map(|i| format!("{},{},{}\n", i % 17, (i * 7) % 23, if i % 3 == 0 { "a" } else { "b" })).collect();
    let table = quince::Table::from_csv(&format!("u,v,y\n{text}")).unwrap();
    let labelled = table.labelled("y", None).unwrap();
    let weights: Vec<f64> = (0..200).map(|i| 0.1 + f64::from(i % 4)).collect();
    let short = LinearSvm { passes: 1, probabilities: false, ..LinearSvm::default() };
    let model = Model::fit(&labelled, Some(&weights), &short, &Run::new()).unwrap();
    let model = Model::from_bytes(&model.to_bytes()).unwrap();
    let long = LinearSvm { passes: 1_000, ..short };
    assert!(model.resumed(&labelled, Some(&weights), &long, &Run::new()).is_ok());
    let others = vec![1.0; 200];
    for other in [None, Some(&others[..])] {
        let said = model.resumed(&labelled, other, &long, &Run::new()).err().unwrap().to_string();
        assert!(said.contains("other weights"), "{said}");
    }
}

#[test]
fn steps_that_were_too_long_are_told() {
    let (rows, target) = noisy(3_000, 6);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let steps = |rate: f64| {
        let settings = LinearSvm {
            loss: Loss::SquaredHinge,
            solver: Solver::Sgd,
            schedule: quince::margin::Schedule::Constant,
            rate,
            passes: 3,
            average: false,
            probabilities: false,
            ..LinearSvm::default()
        };
        let (_, report) = settings.fit(&examples, &Run::new()).unwrap();
        report.remarks.iter().any(|remark| remark.contains("too long"))
    };
    assert!(steps(1.0) && !steps(0.001));
}
