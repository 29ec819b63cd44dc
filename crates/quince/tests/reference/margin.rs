//! S1, S2, S3, S4 and S7: support vector machines.

use quince::learn::{Classes, Examples, Fitted, Learner, Target, TargetView};
use quince::margin::{BiasRule, Cost, Gamma, Kernel, KernelName, LeaveOneOut, LinearSvm, Loss, Solver, Svm, SvmModel};
use quince::run::{Report, StopReason, Stream};
use quince::{Error, Matrix, Model, Run};

fn classes(codes: impl IntoIterator<Item = u32>) -> Target {
    Target::classes(Classes::of(["a", "b"]), codes.into_iter().collect()).unwrap()
}

fn fit(settings: &Svm, rows: &Matrix, target: &Target) -> (SvmModel, Report) {
    settings.fit_examples(&Examples::new(rows.features(), target, None).unwrap(), &Run::new()).unwrap()
}

fn fact(report: &Report, name: &str) -> f64 {
    report.facts.iter().find(|fact| fact.0 == name).unwrap().1
}

/// The four points of S1.
fn toy() -> (Matrix, Target) {
    (Matrix::from_rows(&[[5.0, 1.0], [5.0, 2.0], [7.0, 2.0], [7.0, 3.0]]), classes([0, 0, 1, 1]))
}

/// Two classes that overlap.
fn overlapping(count: usize) -> (Matrix, Target) {
    let mut stream = Stream::new(4, 0);
    let value = |i: usize, stream: &mut Stream| stream.normal() + if i.is_multiple_of(2) { 0.8 } else { -0.8 };
    let values = (0..2 * count).map(|k| value(k / 2, &mut stream)).collect();
    (Matrix::new(count, 2, values).unwrap(), classes((0..count).map(|i| u32::from(i.is_multiple_of(2)))))
}

#[test]
fn s1_the_hard_margin_of_four_points() {
    let (rows, target) = toy();
    let hard = Svm { kernel: KernelName::Linear, c: Cost::Infinite, tolerance: 1e-9, ..Svm::default() };
    let (model, report) = fit(&hard, &rows, &target);
    let weights = model.weights().unwrap();
    assert!((weights[0] - 1.0).abs() < 1e-9 && weights[1].abs() < 1e-9, "{weights:?}");
    assert!((model.bias() + 6.0).abs() < 1e-9);
    assert!((2.0 / model.summary().norm - 2.0).abs() < 1e-9);
    assert_eq!(model.support_indices(), [1, 2]);
    assert!(model.coefficients().iter().zip([-0.5, 0.5]).all(|(found, expected)| (found - expected).abs() < 1e-9));
    assert!(report.holds() && fact(&report, "gap") < 1e-9);
}

#[test]
fn s1_classes_that_cannot_be_separated_are_said_to_be_so() {
    let rows = Matrix::from_rows(&[[0.0], [1.0], [2.0], [3.0]]);
    let hard = Svm { kernel: KernelName::Linear, c: Cost::Infinite, ..Svm::default() };
    let target = classes([0, 1, 0, 1]);
    let error = hard.fit_examples(&Examples::new(rows.features(), &target, None).unwrap(), &Run::new()).unwrap_err();
    assert!(matches!(&error, Error::Data { problem, .. } if problem.contains("cannot be separated")), "{error}");
    assert!(error.remedy().contains("finite c"));
}

#[test]
fn s2_a_polynomial_kernel_of_degree_two_is_its_explicit_feature_map() {
    let kernel = Kernel::Polynomial { gamma: 1.0, constant: 1.0, degree: 2 };
    let map = |x: &[f64]| {
        let root = 2f64.sqrt();
        [1.0, root * x[0], root * x[1], x[0] * x[0], x[1] * x[1], root * x[0] * x[1]]
    };
    let (rows, target) = overlapping(60);
    let mapped: Vec<[f64; 6]> = (0..60).map(|i| map(rows.row(i))).collect();
    let explicit = Matrix::from_rows(&mapped);
    for i in 0..60 {
        let product: f64 = mapped[0].iter().zip(&mapped[i]).map(|(x, y)| x * y).sum();
        assert!((kernel.of(rows.row(0), rows.row(i)) - product).abs() < 1e-10 * product.abs().max(1.0));
    }
    let settings = Svm {
        kernel: KernelName::Polynomial,
        gamma: Gamma::Fixed(1.0),
        constant: 1.0,
        degree: 2,
        tolerance: 1e-8,
        ..Svm::default()
    };
    let (by_kernel, _) = fit(&settings, &rows, &target);
    let (by_map, _) = fit(&Svm { kernel: KernelName::Linear, ..settings }, &explicit, &target);
    let run = Run::new();
    let (one, other) =
        (by_kernel.scores(&rows.features(), &run).unwrap(), by_map.scores(&explicit.features(), &run).unwrap());
    assert!(one.iter().zip(&other).all(|(one, other)| (one - other).abs() < 1e-5), "{one:?} {other:?}");
    // The kernel of document 003 has γ = 1/2.
    assert!((Kernel::Rbf { gamma: 0.5 }.of(&[0.0], &[2.0]) - (-2f64).exp()).abs() < 1e-15);
}

#[test]
fn s3_support_vectors_alone_give_the_same_model() {
    let (rows, target) = overlapping(120);
    for bias in [BiasRule::Mean, BiasRule::Median] {
        let settings = Svm { bias, tolerance: 1e-8, gamma: Gamma::Fixed(0.5), ..Svm::default() };
        let (model, _) = fit(&settings, &rows, &target);
        assert!(model.support_indices().len() < 120);
        let (few, few_target) = (rows.take_rows(model.support_indices()), target.take(model.support_indices()));
        let (again, _) = fit(&settings, &few, &few_target);
        let run = Run::new();
        let (one, other) =
            (model.scores(&rows.features(), &run).unwrap(), again.scores(&rows.features(), &run).unwrap());
        assert!(one.iter().zip(&other).all(|(one, other)| (one - other).abs() < 1e-5));
    }
}

#[test]
fn s4_stochastic_gradient_descent_reaches_the_optimum_of_the_dual() {
    let (rows, target) = overlapping(300);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let c = 0.2;
    let (_, by_kernel) =
        fit(&Svm { kernel: KernelName::Linear, c: Cost::Finite(c), tolerance: 1e-8, ..Svm::default() }, &rows, &target);
    let best = fact(&by_kernel, "dual");
    let linear = LinearSvm { c, tolerance: 1e-8, epochs: 1_000_000, probabilities: false, ..LinearSvm::default() };
    for solver in [Solver::Dual, Solver::Interior] {
        let (_, report) = LinearSvm { solver, ..linear.clone() }.fit_examples(&examples, &Run::new()).unwrap();
        assert!((fact(&report, "dual") - best).abs() < 1e-6 * best);
    }
    let sgd = LinearSvm { solver: Solver::Sgd, tolerance: 0.0, epochs: 2000, ..linear.clone() };
    let (_, by_sgd) = sgd.fit_examples(&examples, &Run::new()).unwrap();
    assert!(fact(&by_sgd, "primal") >= best && fact(&by_sgd, "primal") < 1.001 * best);
    // Loss 1 looks at no margin, and finds nearly the same line.
    let perceptron = LinearSvm { loss: Loss::Perceptron, ..sgd };
    let (model, _) = perceptron.fit_examples(&examples, &Run::new()).unwrap();
    let TargetView::Classes { codes, .. } = target.view() else { panic!() };
    let labels = model.predict(&rows.features(), &Run::new()).unwrap().labels();
    let right = labels.iter().zip(codes).filter(|(label, code)| label == code).count();
    assert!(right > 225, "{right} of 300");
}

#[test]
fn s4_stochastic_gradient_descent_reaches_the_optimum_far_from_zero() {
    // The points of S1, whose optimum is w = (1, 0), b = -6 with the objective ½; and the same from further away.
    for far in [0.0, 1e3, 1e6] {
        let (rows, target) = toy();
        let rows = Matrix::new(4, 2, rows.values().iter().map(|x| x + far).collect()).unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        for (epochs, most) in [(100, 0.52), (1_000, 0.505), (20_000, 0.5005)] {
            let sgd = LinearSvm { solver: Solver::Sgd, tolerance: 0.0, epochs, ..LinearSvm::default() };
            let (model, report) = sgd.fit_examples(&examples, &Run::new()).unwrap();
            let primal = fact(&report, "primal");
            assert!((0.5..most).contains(&primal), "{far} {epochs}: {primal}");
            let (a, b) = (model.weights(), model.bias());
            let score = |x: [f64; 2]| a[0] * (x[0] + far) + a[1] * (x[1] + far) + b;
            assert!((score([6.0, 2.0])).abs() < 0.1 && score([7.0, 2.0]) > 0.9, "{far} {epochs}: {a:?} {b}");
        }
    }
}

#[test]
fn s4_the_perceptron_separates_what_can_be_separated() {
    let (rows, target) = toy();
    let (wide, wide_target) = overlapping(40);
    // Columns of two units, far from zero, and a margin of two between the classes.
    let TargetView::Classes { codes, .. } = wide_target.view() else { panic!() };
    let part = |k: usize| if codes[k / 2] == 1 { 4.0 } else { -4.0 };
    let wide_values =
        wide.values().iter().enumerate().map(|(k, x)| (x + part(k) + 50.0) * [1.0, 100.0][k % 2]).collect();
    for (rows, target) in [(rows, target), (Matrix::new(40, 2, wide_values).unwrap(), wide_target)] {
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let perceptron = LinearSvm { solver: Solver::Sgd, loss: Loss::Perceptron, ..LinearSvm::default() };
        let (model, report) = perceptron.fit_examples(&examples, &Run::new()).unwrap();
        let TargetView::Classes { codes, .. } = target.view() else { panic!() };
        let labels = model.predict(&rows.features(), &Run::new()).unwrap().labels();
        assert!(labels == codes, "{:?} {:?}", model.weights(), model.bias());
        assert_eq!(report.stop, StopReason::Converged);
        let said = report.remarks.join("; ");
        assert!(!said.contains("worse") && said.contains("none of"), "{said}");
    }
}

#[test]
fn s7_the_bound_of_leave_one_out_stands_beside_the_exact_error() {
    let (rows, target) = toy();
    let hard = Svm { kernel: KernelName::Linear, c: Cost::Infinite, ..Svm::default() };
    let model = Model::fit_features(&rows.features(), &target, None, &hard, &Run::new()).unwrap();
    let fitted: &SvmModel = model.fitted().unwrap();
    assert_eq!(fitted.support_indices().len() as f64 / fitted.summary().rows as f64, 0.5);
    assert_eq!(fitted.summary().leave_one_out, Some(0.0));
    let said = model.explain().unwrap().sentences.join(" ");
    assert!(said.contains("at most 0.5") && said.contains("exactly 0"), "{said}");
}

#[test]
fn s7_leaving_out_is_what_learning_without_the_row_gives() {
    let (rows, target) = overlapping(40);
    let settings = Svm { tolerance: 1e-8, probabilities: false, leave_one_out: LeaveOneOut::Always, ..Svm::default() };
    // γ from all rows is held fixed, as an encoder is.
    let settings = Svm { gamma: Gamma::Fixed(0.4), ..settings };
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let quince::learn::Prediction::Classes { scores, .. } =
        settings.leave_one_out_examples(&examples, &Run::new()).unwrap().unwrap()
    else {
        panic!()
    };
    let TargetView::Classes { codes, .. } = target.view() else { panic!() };
    let mut wrong = 0;
    for i in 0..40 {
        let others: Vec<usize> = (0..40).filter(|&j| j != i).collect();
        let (without, _) = fit(&settings, &rows.take_rows(&others), &target.take(&others));
        let score = without.scores(&rows.take_rows(&[i]).features(), &Run::new()).unwrap()[0];
        assert!((score - scores[(i, 1)]).abs() < 1e-5, "row {i}: {score} {}", scores[(i, 1)]);
        wrong += usize::from((score > 0.0) != (codes[i] == 1));
    }
    let (model, _) = fit(&settings, &rows, &target);
    assert_eq!(model.summary().leave_one_out, Some(wrong as f64 / 40.0));
    assert!(wrong <= model.support_indices().len());
}
