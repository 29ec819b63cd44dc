//! Support vector machines that are stopped early, resumed, and the same on any number of threads.

use crate::clock::{budget_of_looks, check_heeds_cancel};
use quince::learn::{Classes, Examples, Fitted, Learner, Target};
use quince::margin::{Cost, KernelName, LeaveOneOut, Svm, SvmModel};
use quince::run::{Observer, Report, StopReason, Stream, TickClock};
use quince::{Error, Matrix, Model, Run};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Many rows of two classes that overlap a lot.
pub(crate) fn noisy(count: usize, columns: usize) -> (Matrix, Target) {
    let mut stream = Stream::new(9, 0);
    let values: Vec<f64> = (0..count * columns).map(|_| stream.normal()).collect();
    let rows = Matrix::new(count, columns, values).unwrap();
    let code =
        |i: usize| u32::from((rows[(i, 0)] * rows[(i, 1)] + rows[(i, 2)]).sin() > 0.0) ^ u32::from(i.is_multiple_of(9));
    let codes = (0..count).map(code).collect();
    (rows, Target::classes(Classes::of(["a", "b"]), codes).unwrap())
}

pub(crate) fn plain() -> Svm {
    Svm { probabilities: false, leave_one_out: LeaveOneOut::Never, ..Svm::default() }
}

/// A fact of a report.
pub(crate) fn fact(report: &Report, name: &str) -> f64 {
    report.facts.iter().find(|f| f.0 == name).unwrap().1
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Enough rows to be solved from a sample first.
    let (rows, target) = noisy(17_000, 6);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let fit = |threads: usize| {
        let (model, _) = plain().fit_examples(&examples, &Run::new().threads_exactly(threads)).unwrap();
        (model.support_indices().to_vec(), model.coefficients().to_vec(), model.bias())
    };
    let alone = fit(1);
    assert!(alone == fit(2) && alone == fit(8));
}

#[test]
fn a_fit_heeds_a_cancel_and_is_never_silent_for_long() {
    let (rows, target) = noisy(60_000, 20);
    check_heeds_cancel(40, "svm", |run| Model::fit_features(&rows.features(), &target, None, &plain(), run).err());
}

/// Counts the looks of each refit for rows that are left out, and cancels at one of them.
#[derive(Clone, Default)]
struct Refits {
    looks: Arc<Mutex<Vec<usize>>>,
    cancel_at: Option<(usize, usize)>,
}

impl Observer for Refits {
    fn progress(&mut self, stage: &str, _: u64, _: u64) {
        if stage == "leaving rows out" {
            self.looks.lock().unwrap().push(0);
        }
    }

    fn poll(&mut self) -> bool {
        let mut looks = self.looks.lock().unwrap();
        let refits = looks.len();
        let Some(last) = looks.last_mut() else { return false };
        *last += 1;
        self.cancel_at == Some((refits, *last))
    }
}

#[test]
fn a_refit_for_a_row_that_is_left_out_looks_at_the_run() {
    // Costs that are large make many blocks of a refit.
    let (rows, target) = noisy(700, 5);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let settings = Svm { leave_one_out: LeaveOneOut::Always, c: Cost::Finite(1e3), tolerance: 1e-6, ..plain() };
    let tick = Duration::from_millis(50);
    let fit = |cancel_at: Option<(usize, usize)>, budget: Option<u32>| {
        let refits = Refits { cancel_at, ..Refits::default() };
        let run = Run::new().threads(1).clock(TickClock::new(tick)).observe(refits.clone());
        let run = budget.into_iter().fold(run, |run, ticks| run.budget(tick * ticks));
        let fitted = settings.fit_examples(&examples, &run);
        let looks = refits.looks.lock().unwrap().clone();
        (fitted, looks)
    };
    // Cancelled in the midst of the second refit.
    let (fitted, looks) = fit(Some((2, 5)), None);
    assert_eq!(fitted.err(), Some(Error::Cancelled));
    assert!(looks.len() == 2 && looks[0] > 5 && looks[1] == 5, "{looks:?}");
    // Of the budgets that are enough for the solve, some end in the midst of the first refit.
    let mut fits = (0..).map(|k| fit(None, Some(1.1f64.powi(k) as u32)));
    let (fitted, looks) = fits.find(|(_, looks)| !looks.is_empty()).unwrap();
    let (model, report) = fitted.unwrap();
    assert_eq!((report.stop, model.summary().leave_one_out, looks.len()), (StopReason::Converged, None, 1));
    let said = report.remarks.iter().any(|remark| remark.contains("no time for the leave-one-out error"));
    assert!(said, "{report:?}");
    // Exact leave-one-out has nothing to give then.
    let run = budget_of_looks(40);
    assert_eq!(settings.leave_one_out_examples(&examples, &run).unwrap_err().code(), "out-of-time");
}

#[test]
fn a_budget_gives_a_model_and_its_gap_and_the_model_can_be_resumed() {
    let (rows, target) = noisy(6_000, 8);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (model, report) = plain().fit_examples(&examples, &budget_of_looks(25)).unwrap();
    assert_eq!(report.stop, StopReason::Budget);
    let fact = |report: &quince::run::Report, name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
    let (primal, dual) = (fact(&report, "primal"), fact(&report, "dual"));
    let (whole, finished) = plain().fit_examples(&examples, &Run::new()).unwrap();
    let best = fact(&finished, "dual");
    assert!(dual <= best * (1.0 + 1e-9) && best <= primal * (1.0 + 1e-9), "{dual} {best} {primal}");
    let (_, report) = Learner::resume(&plain(), &model, &examples, &Run::new()).unwrap().unwrap();
    assert_eq!(report.stop, StopReason::Converged);
    assert!((fact(&report, "dual") - best).abs() < 1e-5 * best);
    // What most of the steps have found saves most of the steps.
    let most = Svm { steps: whole.summary().steps * 3 / 4, ..plain() };
    let (model_of_most, _) = most.fit_examples(&examples, &Run::new()).unwrap();
    let (last, _) = Learner::resume(&plain(), &model_of_most, &examples, &Run::new()).unwrap().unwrap();
    assert!(last.summary().steps < whole.summary().steps / 2);
    let others = rows.take_rows(&(0..6_000).rev().collect::<Vec<_>>());
    let other = Examples::new(others.features(), &target, None).unwrap();
    assert!(Learner::resume(&plain(), &model_of_most, &other, &Run::new()).is_err());
}

#[test]
fn rows_without_weight_are_no_support_vectors_and_weights_are_duplicates() {
    let (rows, target) = noisy(200, 3);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 3)).collect();
    let settings = Svm { tolerance: 1e-8, ..plain() };
    let settings = Svm { gamma: quince::margin::Gamma::Fixed(0.5), ..settings };
    let weighted = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
    let (model, _) = settings.fit_examples(&weighted, &Run::new()).unwrap();
    assert!(model.support_indices().iter().all(|&i| weights[i] > 0.0));
    let copies: Vec<usize> = (0..200).flat_map(|i| vec![i; i % 3]).collect();
    let (copied, copied_target) = (rows.take_rows(&copies), target.take(&copies));
    let (other, _) =
        settings.fit_examples(&Examples::new(copied.features(), &copied_target, None).unwrap(), &Run::new()).unwrap();
    let run = Run::new();
    let (one, other) = (model.scores(&rows.features(), &run).unwrap(), other.scores(&rows.features(), &run).unwrap());
    assert!(one.iter().zip(&other).all(|(one, other)| (one - other).abs() < 1e-5));
}

#[test]
fn a_small_cache_gives_the_same_optimum() {
    let (rows, target) = noisy(1_500, 4);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let dual = |settings: &Svm| {
        let (_, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
        report.facts.iter().find(|f| f.0 == "dual").unwrap().1
    };
    let large = dual(&plain());
    for other in [Svm { cache: 1.0, ..plain() }, Svm { shrinking: false, ..plain() }] {
        assert!((dual(&other) - large).abs() < 1e-5 * large);
    }
}

#[test]
fn a_saved_model_predicts_the_same() {
    let (rows, target) = noisy(300, 4);
    let model = Model::fit_features(&rows.features(), &target, None, &Svm::default(), &Run::new()).unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    let fitted: &SvmModel = again.fitted().unwrap();
    let (one, other) = (
        model.fitted::<SvmModel>().unwrap().predict(&rows.features(), &Run::new()).unwrap(),
        fitted.predict(&rows.features(), &Run::new()).unwrap(),
    );
    assert_eq!(one, other);
    assert_eq!(model.explain().unwrap(), again.explain().unwrap());
}

fn two(rows: &[&[f64]], codes: &[u32]) -> (Matrix, Target) {
    let columns = rows[0].len();
    let values = rows.iter().flat_map(|row| row.iter().copied()).collect();
    let target = Target::classes(Classes::of(["a", "b"]), codes.to_vec()).unwrap();
    (Matrix::new(rows.len(), columns, values).unwrap(), target)
}

#[test]
fn what_cannot_be_learnt_is_an_error() {
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
    let numbers = Target::numbers(Matrix::column_vector(vec![100.0, 300.0, 500.0])).unwrap();
    let said = fit(&Matrix::column_vector(vec![0.0, 1.0, 2.0]), &numbers, &hard).unwrap();
    assert!(said.contains("cannot be infinite for numbers"), "{said}");
    // No columns.
    let (_, target) = two(&[&[1.0], &[2.0]], &[0, 1]);
    let said = fit(&Matrix::zeros(2, 0), &target, &plain()).unwrap();
    assert!(said.contains("no columns"), "{said}");
    // Kernels that overflow.
    let (rows, target) = two(&[&[1e100], &[2e100], &[3e100], &[-1e100]], &[0, 1, 0, 1]);
    let gamma = quince::margin::Gamma::Fixed(1.0);
    let said = fit(&rows, &target, &Svm { kernel: KernelName::Polynomial, degree: 3, gamma, ..plain() }).unwrap();
    assert!(said.contains("too large"), "{said}");
}

#[test]
fn large_finite_kernels_come_to_an_end() {
    let (rows, target) = noisy(300, 3);
    let rows = Matrix::new(300, 3, rows.values().iter().map(|x| 1e4 * x).collect()).unwrap();
    let gamma = quince::margin::Gamma::Fixed(1.0);
    let settings = Svm { kernel: KernelName::Polynomial, degree: 5, gamma, steps: 2_000_000, ..plain() };
    let model = Model::fit_features(&rows.features(), &target, None, &settings, &Run::new()).unwrap();
    assert!(model.fitted::<SvmModel>().unwrap().bias().is_finite());
}

#[test]
fn many_blocks_a_small_cache_and_a_sample_reach_the_optimum() {
    // The gap is computed in double precision: a solver that lost a row, or a kernel, would leave one.
    for (count, cache) in [(1_500, 1.0), (3_000, 4.0), (17_000, 200.0)] {
        let (rows, target) = noisy(count, 5);
        let settings = Svm { tolerance: 1e-5, cache, ..plain() };
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let (_, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
        let fact = |name: &str| report.facts.iter().find(|f| f.0 == name).unwrap().1;
        assert_eq!(report.stop, StopReason::Converged);
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
fn a_kernel_that_is_not_symmetric_is_refused() {
    let mut stream = Stream::new(1, 0);
    let kernel = Matrix::new(40, 40, (0..1600).map(|_| stream.normal()).collect()).unwrap();
    let target = Target::classes(Classes::of(["a", "b"]), (0..40).map(|i| i % 2).collect()).unwrap();
    let settings = Svm { kernel: KernelName::Precomputed, ..plain() };
    let said =
        Model::fit_features(&kernel.features(), &target, None, &settings, &Run::new()).err().unwrap().to_string();
    assert!(said.contains("the kernel of rows"), "{said}");
}

#[test]
fn a_precomputed_kernel_is_no_table() {
    let given = Svm { kernel: KernelName::Precomputed, ..Svm::default() };
    let table = quince::Table::from_csv("a,b,y\n1,2,x\n2,1,z\n3,1,x\n").unwrap();
    let said = Model::train(&table, "y", &given).err().unwrap().to_string();
    assert!(said.contains("cannot be precomputed for the columns of a table"), "{said}");
}

#[test]
fn duplicates_share_the_coefficient_of_their_row() {
    // The four points of the reference (S1), the inner ones ten times: together the duplicates have 0.5, each at most C.
    let inner = [[5.0, 2.0], [7.0, 2.0]].repeat(10).concat();
    let rows = Matrix::new(22, 2, [inner, vec![5.0, 1.0, 7.0, 3.0]].concat()).unwrap();
    let target = Target::classes(Classes::of(["a", "b"]), (0..22).map(|i| i % 2).collect()).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for (c, support) in [(0.1, 10), (0.2, 6), (1.0, 2)] {
        let settings = Svm { kernel: KernelName::Linear, c: Cost::Finite(c), tolerance: 1e-9, ..plain() };
        let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
        assert_eq!(model.support_indices(), (0..support).collect::<Vec<_>>());
        let of_class = |class: usize| model.coefficients().iter().skip(class).step_by(2).sum::<f64>();
        assert!((of_class(0) + 0.5).abs() < 1e-9 && (of_class(1) - 0.5).abs() < 1e-9);
        assert!(model.coefficients().iter().all(|beta| beta.abs() <= c));
        // All are on the edge, though some are at their bound.
        assert_eq!(fact(&report, "bounded"), 0.0);
    }
    // Of a hard margin one takes it all.
    let (model, _) =
        Svm { kernel: KernelName::Linear, c: Cost::Infinite, ..plain() }.fit_examples(&examples, &Run::new()).unwrap();
    assert_eq!(model.support_indices(), [0, 1]);
}
