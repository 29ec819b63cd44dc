//! Units do not matter where they should not, zeros are no grid, and columns that nobody has scaled come to an end.

use crate::{Sheet, fitted, heart, trained};
use quince::bayes::{BayesModel, GaussianClassifier, NaiveBayes, ShrinkageAmount};
use quince::learn::{Examples, Fitted, Learner, Prediction, Target};
use quince::margin::{KernelName, LinearSvm, Loss, Solver, Svm};
use quince::mixture::{Mixture, MixtureModel};
use quince::run::{Report, StopReason, TickClock};
use quince::{Matrix, Run};
use std::time::Duration;

const GLASS: [&str; 9] = ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"];

/// The same rows with a column in another unit.
fn in_unit(rows: &Matrix, column: usize, unit: f64) -> Matrix {
    let mut other = rows.clone();
    (0..rows.rows()).for_each(|i| other.row_mut(i)[column] *= unit);
    other
}

/// The same rows with each column about its mean or, if only scaled, as far from zero as it is.
fn standardised(rows: &Matrix, centred: bool) -> Matrix {
    let mut other = rows.clone();
    for j in 0..rows.columns() {
        let (mean, deviation) = quince::numbers::mean_and_standard_deviation(&rows.column(j));
        let centre = if centred { mean } else { 0.0 };
        (0..rows.rows()).for_each(|i| other.row_mut(i)[j] = (rows[(i, j)] - centre) / deviation);
    }
    other
}

fn probabilities(model: &BayesModel, rows: &Matrix) -> Matrix {
    let Prediction::Classes { probabilities, .. } = model.predict(&rows.features(), &Run::new()).unwrap() else {
        panic!("classes")
    };
    probabilities
}

fn fact(report: &Report, name: &str) -> f64 {
    report.facts.iter().find(|fact| fact.0 == name).unwrap().1
}

#[test]
fn shrunken_covariances_say_the_same_in_every_unit() {
    let sheet = Sheet::read("glass.csv");
    let (rows, target) = (sheet.numbers(&GLASS), Target::labels(&sheet.column("Type")));
    for shrinkage in [ShrinkageAmount::Fixed(0.3), ShrinkageAmount::Auto] {
        let gaussian = GaussianClassifier::new().shrinkage(shrinkage);
        let expected = probabilities(&fitted(&gaussian, &rows, &target).0, &rows);
        for (column, unit) in [(1, 1_000.0), (0, 1_000.0), (8, 1e-3)] {
            let other = in_unit(&rows, column, unit);
            let said = probabilities(&fitted(&gaussian, &other, &target).0, &other);
            let off = said.values().iter().zip(expected.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{shrinkage:?}, {} times {unit}: {off}", GLASS[column]);
        }
    }
}

#[test]
fn a_mixture_has_as_many_components_in_every_unit() {
    let sheet = Sheet::read("wine.csv");
    let names: Vec<&str> = sheet.names.iter().map(String::as_str).filter(|name| *name != "cultivar").collect();
    let rows = sheet.numbers(&names);
    let components = |rows: &Matrix| {
        let (model, _) = fitted(&Mixture::default(), rows, &Target::none(rows.rows()));
        let mut weights = model.weights();
        weights.sort_by(f64::total_cmp);
        weights
    };
    let expected = components(&rows);
    assert!(expected.len() > 1, "wines of three cultivars are no single group: {expected:?}");
    for unit in [1e-3, 1e-5, 1e4] {
        let other = (0..names.len()).fold(rows.clone(), |rows, j| in_unit(&rows, j, unit));
        let found = components(&other);
        assert_eq!(found.len(), expected.len(), "{unit}: {found:?} {expected:?}");
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-3), "{unit}: {found:?} {expected:?}");
    }
}

/// Mean and variance of each component of a mixture over one column.
fn moments(model: &MixtureModel) -> Vec<(f64, f64)> {
    let parameters = &model.parameters()[0];
    let mean = parameters.array("mean").unwrap_or_else(|| panic!("{parameters:?}"));
    let variance = |k: usize| match parameters.array("variance") {
        Some(variance) => variance[(k, 0)],
        None => parameters.array(&format!("covariance {k}")).unwrap()[(0, 0)],
    };
    (0..model.components()).map(|k| (mean[(k, 0)], variance(k))).collect()
}

#[test]
fn columns_that_are_mostly_zero_keep_their_spread() {
    let glass = Sheet::read("glass.csv");
    let credit = Sheet::read("credit.csv");
    for (sheet, name, target) in [
        (&glass, "K", "Type"),
        (&glass, "Ba", "Type"),
        (&glass, "Fe", "Type"),
        (&credit, "A3", "A16"),
        (&credit, "A8", "A16"),
        (&heart(), "oldpeak", "num"),
    ] {
        let (rows, n) = (sheet.numbers(&[name]), sheet.rows.len() as f64);
        let most = rows.values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = rows.values().iter().sum::<f64>() / n;
        let variance = rows.values().iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        assert!(rows.values().contains(&0.0));
        let (mixture, _) = fitted(&Mixture::new(2), &rows, &Target::none(rows.rows()));
        let parts: Vec<(f64, (f64, f64))> = mixture.weights().into_iter().zip(moments(&mixture)).collect();
        // At an optimum of the likelihood the mixture has the mean and the variance of the rows.
        let of_mixture = parts.iter().map(|(w, (m, _))| w * m).sum::<f64>();
        let spread = parts.iter().map(|(w, (m, v))| w * (v + (m - of_mixture).powi(2))).sum::<f64>();
        assert!((of_mixture - mean).abs() < 0.02 * variance.sqrt(), "{name}: {parts:?}, mean {mean}");
        assert!((spread - variance).abs() < 0.02 * variance, "{name}: {parts:?}, variance {variance}");
        let target = Target::labels(&sheet.column(target));
        let (naive, _) = fitted(&NaiveBayes::default(), &rows, &target);
        let drawn = naive.sample(1000, None, &Run::new()).unwrap();
        let far = drawn.iter().map(|row| row.dense[0]).find(|x| *x < -most || *x > 2.0 * most);
        assert!(far.is_none(), "{name} is drawn as {far:?}, and has values from 0 to {most}");
    }
}

#[test]
fn a_linear_kernel_of_columns_that_nobody_has_scaled_is_solved_and_certified() {
    let names = ["age", "trestbps", "chol", "thalach", "oldpeak"];
    let (rows, labels) = (heart().numbers(&names), heart().column("num"));
    let target = Target::labels(&labels);
    let linear = Svm { kernel: KernelName::Linear, probabilities: false, ..Svm::default() };
    let tick = Duration::from_millis(1);
    let few_looks = || Run::new().clock(TickClock::new(tick)).budget(20_000 * tick);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (model, report) = linear.fit_examples(&examples, &few_looks()).unwrap();
    assert!(report.stop == StopReason::Converged && report.holds(), "{report:?}");
    // Both objectives by their definition, from the dual coefficients alone.
    let support = model.support_indices().iter().zip(model.coefficients());
    let mut weights = vec![0.0; names.len()];
    let mut sum = 0.0;
    for (&i, beta) in support {
        assert!(beta.abs() <= 1.0 + 1e-9 && (*beta > 0.0) == (labels[i] == "sick"), "{beta}");
        sum += beta.abs();
        weights.iter_mut().zip(rows.row(i)).for_each(|(weight, x)| *weight += beta * x);
    }
    let norm: f64 = weights.iter().map(|weight| weight * weight).sum();
    let score = |i: usize| model.bias() + rows.row(i).iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
    let margin = |i: usize| score(i) * if labels[i] == "sick" { 1.0 } else { -1.0 };
    let losses: f64 = (0..rows.rows()).map(|i| (1.0 - margin(i)).max(0.0)).sum();
    let (primal, dual) = (0.5 * norm + losses, sum - 0.5 * norm);
    println!("primal {primal}, dual {dual}, {}", report.route);
    assert!(primal >= dual * (1.0 - 1e-6) && primal - dual < 1e-3 * primal, "{primal} {dual}");
    // Numbers: miles per gallon.
    let cars = Sheet::read("auto_mpg.csv").filter(|_, row| row[3] != "?");
    let rows = cars.numbers(&["displacement", "horsepower", "weight", "acceleration"]);
    let target = Target::numbers(cars.numbers(&["mpg"])).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (_, report) = linear.fit_examples(&examples, &few_looks()).unwrap();
    assert!(report.stop == StopReason::Converged && report.holds(), "{report:?}");
    let (_, directly) = fitted(&LinearSvm { probabilities: false, ..LinearSvm::default() }, &rows, &target);
    let (kernel, direct) = (fact(&report, "primal"), fact(&directly, "primal"));
    assert!((kernel / direct - 1.0).abs() < 2e-3, "{kernel} {direct}");
}

#[test]
fn descent_separates_mammals_from_birds() {
    let sheet = Sheet::read("zoo.csv").filter(|_, row| ["mammal", "bird"].contains(&row[17].as_str()));
    let names: Vec<&str> = sheet.names[1..17].iter().map(String::as_str).collect();
    let (rows, labels) = (sheet.numbers(&names), sheet.column("type"));
    let target = Target::labels(&labels);
    for (loss, solver) in [
        (Loss::Perceptron, Solver::Auto),
        (Loss::Log, Solver::Auto),
        (Loss::ModifiedHuber, Solver::Auto),
        (Loss::SquaredHinge, Solver::Sgd),
        (Loss::Hinge, Solver::Sgd),
    ] {
        let (model, report) = fitted(&LinearSvm { loss, solver, ..LinearSvm::default() }, &rows, &target);
        let said = model.predict(&rows.features(), &Run::new()).unwrap().labels();
        // Of two classes the first is the bird.
        let right = said.iter().zip(&labels).filter(|(code, label)| (**code == 0) == (*label == "bird")).count();
        assert_eq!(right, labels.len(), "{loss:?}: {report:?}");
        assert!(!report.remarks.iter().any(|remark| remark.contains("worse than no weights")), "{loss:?}: {report:?}");
        assert!(model.weights().iter().all(|weight| weight.abs() < 1e3), "{loss:?}: {:?}", model.weights());
    }
}

#[test]
fn descent_reaches_the_optimum_where_columns_are_not_centred() {
    let names = ["age", "sex", "trestbps", "chol", "thalach", "exang", "oldpeak"];
    let rows = standardised(&heart().numbers(&names), false);
    let target = Target::labels(&heart().column("num"));
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        let exact = LinearSvm { loss, c: 0.1, probabilities: false, ..LinearSvm::default() };
        let sgd = LinearSvm { solver: Solver::Sgd, tolerance: 0.0, epochs: 500, ..exact.clone() };
        let [best, found] = [&exact, &sgd].map(|settings| fact(&fitted(settings, &rows, &target).1, "primal"));
        assert!(found >= best * (1.0 - 1e-6) && found < 1.01 * best, "{loss:?}: {found} {best}");
    }
}

#[test]
fn whole_numbers_of_a_matrix_and_of_a_table_are_learnt_alike() {
    let cars = ["cylinders", "displacement", "horsepower", "weight", "acceleration", "model_year"];
    for (file, names, target) in [("auto_mpg.csv", &cars[..], "origin"), ("glass.csv", &GLASS[..], "Type")] {
        let sheet = Sheet::read(file).columns(|name| name == target || names.contains(&name));
        let rows = sheet.numbers(names);
        let (of_matrix, _) = fitted(&NaiveBayes::default(), &rows, &Target::labels(&sheet.column(target)));
        let model = trained(&sheet.table(), target, &NaiveBayes::default());
        let of_table: &BayesModel = model.fitted().unwrap();
        let families = |model: &BayesModel| -> Vec<String> {
            model.choices().iter().map(|choice| choice.families[0].0.clone()).collect()
        };
        assert_eq!(families(&of_matrix), families(of_table), "{file}");
        let said = probabilities(&of_matrix, &rows);
        let expected = model.probabilities(&sheet.table()).unwrap();
        let off = said.values().iter().zip(expected.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{file}: {off}");
    }
}

#[test]
fn columns_about_their_mean_have_the_optimum_of_columns_that_are_not() {
    // With a free intercept, where the origin is does not matter.
    let names = ["age", "trestbps", "chol", "thalach", "oldpeak"];
    let (rows, target) = (heart().numbers(&names), Target::labels(&heart().column("num")));
    let primal = |centred: bool| {
        let settings = LinearSvm { loss: Loss::SquaredHinge, probabilities: false, ..LinearSvm::default() };
        fact(&fitted(&settings, &standardised(&rows, centred), &target).1, "primal")
    };
    assert!((primal(true) / primal(false) - 1.0).abs() < 1e-4, "{} {}", primal(true), primal(false));
}
