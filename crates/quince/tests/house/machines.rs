//! Support vector machines that are cut short, go on, and are the same on any number of threads.

use quince::learn::{Classes, Examples, Fitted, Learner, Target};
use quince::margin::{LinearSvm, Svm, SvmModel, Wanted};
use quince::run::{Cancel, Stop, Stream};
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
    let (again, report) = Learner::resume(&plain(), &machine, &examples, &Run::new()).unwrap().unwrap();
    assert_eq!(report.stop, Stop::Converged);
    assert!((fact(&report, "dual") - best).abs() < 1e-5 * best);
    assert!(again.about().steps < whole.about().steps);
    let others = rows.take_rows(&(0..6_000).rev().collect::<Vec<_>>());
    let other = Examples::new(others.features(), &target, None).unwrap();
    assert!(Learner::resume(&plain(), &machine, &other, &Run::new()).is_err());
}

#[test]
fn a_linear_machine_that_was_cut_short_goes_on_from_its_file() {
    let (rows, target) = noisy(4_000, 12);
    let short = LinearSvm { passes: 3, probabilities: false, ..LinearSvm::default() };
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
