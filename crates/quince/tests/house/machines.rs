//! Support vector machines that are cut short, go on, and are the same on any number of threads.

use quince::learn::{Classes, Examples, Fitted, Learner, Target};
use quince::margin::{Cost, Intercept, KernelName, LinearMachine, LinearSvm, Loss, Solver, Svm, SvmModel, Wanted};
use quince::matrix::Sparse;
use quince::run::{Cancel, Report, Stop, Stream};
use quince::{Error, Matrix, Model, Run};
use std::time::{Duration, Instant};

/// Many rows of two classes that overlap a lot.
fn noisy(count: usize, columns: usize) -> (Matrix, Target) {
    let mut stream = Stream::new(9, 0);
    let values: Vec<f64> = (0..count * columns).map(|_| stream.normal()).collect();
    let rows = Matrix::new(count, columns, values).unwrap();
    let code =
        |i: usize| u32::from((rows[(i, 0)] * rows[(i, 1)] + rows[(i, 2)]).sin() > 0.0) ^ u32::from(i.is_multiple_of(9));
    let codes = (0..count).map(code).collect();
    (rows, Target::Classes { classes: Classes::of(["a", "b"]), codes })
}

fn plain() -> Svm {
    Svm { probabilities: false, leave_one_out: Wanted::Never, ..Svm::default() }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Enough rows to be solved from a sample first.
    let (rows, target) = noisy(17_000, 6);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let fit = |threads: usize| {
        let (machine, _) = plain().fit(&examples, &Run::new().threads(threads)).unwrap();
        (machine.places().to_vec(), machine.coefficients().to_vec(), machine.bias())
    };
    let alone = fit(1);
    assert!(alone == fit(2) && alone == fit(8));
}

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
fn a_cancelled_fit_stops_within_a_second() {
    let (rows, target) = noisy(60_000, 20);
    let cancel = Cancel::new();
    let raised = cancel.clone();
    let start = Instant::now();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        raised.cancel();
    });
    let run = Run::new().cancel(&cancel);
    let result = Model::fit_features(&rows.features(), &target, None, &plain(), &run);
    other.join().unwrap();
    assert_eq!(result.err(), Some(Error::Cancelled));
    assert!(start.elapsed() < Duration::from_millis(1700), "{:?}", start.elapsed());
}

#[test]
fn a_budget_gives_a_machine_and_its_gap_and_the_machine_can_go_on() {
    let (rows, target) = noisy(6_000, 8);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (machine, report) = plain().fit(&examples, &Run::new().budget(Duration::from_millis(150))).unwrap();
    assert_eq!(report.stop, Stop::Budget);
    let fact = |report: &quince::run::Report, name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
    let (primal, dual) = (fact(&report, "primal"), fact(&report, "dual"));
    let (whole, finished) = plain().fit(&examples, &Run::new()).unwrap();
    let best = fact(&finished, "dual");
    assert!(dual <= best * (1.0 + 1e-9) && best <= primal * (1.0 + 1e-9), "{dual} {best} {primal}");
    let (_, report) = Learner::resume(&plain(), &machine, &examples, &Run::new()).unwrap().unwrap();
    assert_eq!(report.stop, Stop::Converged);
    assert!((fact(&report, "dual") - best).abs() < 1e-5 * best);
    // What most of the steps have found saves most of the steps.
    let most = Svm { steps: whole.about().steps * 3 / 4, ..plain() };
    let (machine_of_most, _) = most.fit(&examples, &Run::new()).unwrap();
    let (last, _) = Learner::resume(&plain(), &machine_of_most, &examples, &Run::new()).unwrap().unwrap();
    assert!(last.about().steps < whole.about().steps / 2);
    let others = rows.take_rows(&(0..6_000).rev().collect::<Vec<_>>());
    let other = Examples::new(others.features(), &target, None).unwrap();
    assert!(Learner::resume(&plain(), &machine_of_most, &other, &Run::new()).is_err());
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
fn rows_without_weight_are_no_support_vectors_and_weights_are_copies() {
    let (rows, target) = noisy(200, 3);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 3)).collect();
    let settings = Svm { tolerance: 1e-8, ..plain() };
    let settings = Svm { gamma: quince::margin::Gamma::Fixed(0.5), ..settings };
    let weighted = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
    let (machine, _) = settings.fit(&weighted, &Run::new()).unwrap();
    assert!(machine.places().iter().all(|&i| weights[i] > 0.0));
    let copies: Vec<usize> = (0..200).flat_map(|i| vec![i; i % 3]).collect();
    let (copied, copied_target) = (rows.take_rows(&copies), target.take(&copies));
    let (other, _) =
        settings.fit(&Examples::new(copied.features(), &copied_target, None).unwrap(), &Run::new()).unwrap();
    let run = Run::new();
    let (one, other) = (machine.scores(&rows.features(), &run).unwrap(), other.scores(&rows.features(), &run).unwrap());
    assert!(one.iter().zip(&other).all(|(one, other)| (one - other).abs() < 1e-5));
}

#[test]
fn a_small_cache_gives_the_same_optimum() {
    let (rows, target) = noisy(1_500, 4);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let dual = |settings: &Svm| {
        let (_, report) = settings.fit(&examples, &Run::new()).unwrap();
        report.facts.iter().find(|f| f.0 == "dual").unwrap().1
    };
    let large = dual(&plain());
    for other in [Svm { cache: 1.0, ..plain() }, Svm { shrinking: false, ..plain() }] {
        assert!((dual(&other) - large).abs() < 1e-5 * large);
    }
}

#[test]
fn a_saved_machine_answers_the_same() {
    let (rows, target) = noisy(300, 4);
    let model = Model::fit_features(&rows.features(), &target, None, &Svm::default(), &Run::new()).unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    let machine: &SvmModel = again.fitted().unwrap();
    let (one, other) = (
        model.fitted::<SvmModel>().unwrap().predict(&rows.features(), &Run::new()).unwrap(),
        machine.predict(&rows.features(), &Run::new()).unwrap(),
    );
    assert_eq!(one, other);
    assert_eq!(model.explain().unwrap(), again.explain().unwrap());
}

fn two(rows: &[&[f64]], codes: &[u32]) -> (Matrix, Target) {
    let columns = rows[0].len();
    let values = rows.iter().flat_map(|row| row.iter().copied()).collect();
    let target = Target::Classes { classes: Classes::of(["a", "b"]), codes: codes.to_vec() };
    (Matrix::new(rows.len(), columns, values).unwrap(), target)
}

#[test]
fn what_cannot_be_learnt_is_said() {
    let fit = |rows: &Matrix, target: &Target, settings: &Svm| {
        Model::fit_features(&rows.features(), target, None, settings, &Run::new()).err().map(|error| error.to_string())
    };
    let hard = Svm { c: Cost::Infinite, ..plain() };
    // Rows that are the same and have two classes.
    let (rows, target) = two(&[&[1.0], &[1.0]], &[0, 1]);
    for kernel in [KernelName::Rbf, KernelName::Linear] {
        let said = fit(&rows, &target, &Svm { kernel, ..hard.clone() }).unwrap();
        assert!(said.contains("cannot be separated"), "{said}");
    }
    let numbers = Target::Numbers(Matrix::column_vector(vec![100.0, 300.0, 500.0]));
    let said = fit(&Matrix::column_vector(vec![0.0, 1.0, 2.0]), &numbers, &hard).unwrap();
    assert!(said.contains("cannot be infinite for numbers"), "{said}");
    // No columns.
    let (_, target) = two(&[&[1.0], &[2.0]], &[0, 1]);
    let said = fit(&Matrix::zeros(2, 0), &target, &plain()).unwrap();
    assert!(said.contains("no columns"), "{said}");
    // Kernels beyond all numbers.
    let (rows, target) = two(&[&[1e100], &[2e100], &[3e100], &[-1e100]], &[0, 1, 0, 1]);
    let gamma = quince::margin::Gamma::Fixed(1.0);
    let said = fit(&rows, &target, &Svm { kernel: KernelName::Polynomial, degree: 3, gamma, ..plain() }).unwrap();
    assert!(said.contains("too large"), "{said}");
}

#[test]
fn kernels_that_are_large_but_numbers_come_to_an_end() {
    let (rows, target) = noisy(300, 3);
    let rows = Matrix::new(300, 3, rows.values().iter().map(|x| 1e4 * x).collect()).unwrap();
    let gamma = quince::margin::Gamma::Fixed(1.0);
    let settings = Svm { kernel: KernelName::Polynomial, degree: 5, gamma, steps: 2_000_000, ..plain() };
    let model = Model::fit_features(&rows.features(), &target, None, &settings, &Run::new()).unwrap();
    assert!(model.fitted::<SvmModel>().unwrap().bias().is_finite());
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
fn many_blocks_a_small_cache_and_a_sample_reach_the_optimum() {
    // The gap is proved in double precision: a solver that lost a row, or a kernel, would leave one.
    for (count, cache) in [(1_500, 1.0), (3_000, 4.0), (17_000, 200.0)] {
        let (rows, target) = noisy(count, 5);
        let settings = Svm { tolerance: 1e-5, cache, ..plain() };
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let (_, report) = settings.fit(&examples, &Run::new()).unwrap();
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert_eq!(report.stop, Stop::Converged);
        assert!(fact("gap") <= 1e-5 * fact("primal"), "{count}: {:?}", report.facts);
    }
}

#[test]
fn other_columns_are_refused() {
    let (rows, target) = noisy(60, 4);
    let others = Matrix::zeros(5, 3);
    for kernel in [KernelName::Rbf, KernelName::Linear] {
        let model =
            Model::fit_features(&rows.features(), &target, None, &Svm { kernel, ..plain() }, &Run::new()).unwrap();
        let said =
            model.fitted::<SvmModel>().unwrap().scores(&others.features(), &Run::new()).err().unwrap().to_string();
        assert!(said.contains("3 features") && said.contains('4'), "{said}");
    }
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
fn a_kernel_that_is_not_the_same_from_both_sides_is_refused() {
    let mut stream = Stream::new(1, 0);
    let kernel = Matrix::new(40, 40, (0..1600).map(|_| stream.normal()).collect()).unwrap();
    let target = Target::Classes { classes: Classes::of(["a", "b"]), codes: (0..40).map(|i| i % 2).collect() };
    let settings = Svm { kernel: KernelName::Precomputed, ..plain() };
    let said =
        Model::fit_features(&kernel.features(), &target, None, &settings, &Run::new()).err().unwrap().to_string();
    assert!(said.contains("the kernel of rows"), "{said}");
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

#[test]
fn a_given_kernel_is_no_table() {
    let given = Svm { kernel: KernelName::Precomputed, ..Svm::default() };
    let table = quince::Table::from_csv("a,b,y\n1,2,x\n2,1,z\n3,1,x\n").unwrap();
    let said = Model::train(&table, "y", &given, &Run::new()).err().unwrap().to_string();
    assert!(said.contains("cannot be precomputed for the columns of a table"), "{said}");
}

/// What a report says of one thing.
fn fact(report: &Report, name: &str) -> f64 {
    report.facts.iter().find(|f| f.0 == name).unwrap().1
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
fn copies_share_what_their_row_would_have() {
    // The four points of the ledger (S1), the inner ones ten times: together the copies have 0.5, each at most C.
    let inner = [[5.0, 2.0], [7.0, 2.0]].repeat(10).concat();
    let rows = Matrix::new(22, 2, [inner, vec![5.0, 1.0, 7.0, 3.0]].concat()).unwrap();
    let target = Target::Classes { classes: Classes::of(["a", "b"]), codes: (0..22).map(|i| i % 2).collect() };
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for (c, support) in [(0.1, 10), (0.2, 6), (1.0, 2)] {
        let settings = Svm { kernel: KernelName::Linear, c: Cost::Finite(c), tolerance: 1e-9, ..plain() };
        let (machine, report) = settings.fit(&examples, &Run::new()).unwrap();
        assert_eq!(machine.places(), (0..support).collect::<Vec<_>>());
        let of_class = |class: usize| machine.coefficients().iter().skip(class).step_by(2).sum::<f64>();
        assert!((of_class(0) + 0.5).abs() < 1e-9 && (of_class(1) - 0.5).abs() < 1e-9);
        assert!(machine.coefficients().iter().all(|beta| beta.abs() <= c));
        // All are on the edge, though some are at their bound.
        assert_eq!(fact(&report, "bounded"), 0.0);
    }
    // Of a hard margin one takes it all.
    let (machine, _) =
        Svm { kernel: KernelName::Linear, c: Cost::Infinite, ..plain() }.fit(&examples, &Run::new()).unwrap();
    assert_eq!(machine.places(), [0, 1]);
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
