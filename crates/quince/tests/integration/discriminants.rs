//! Linear and quadratic discriminant analysis are settings of one method, and what they have learnt are values.

use quince::bayes::{
    BayesModel, ClassCovariance, DiscriminantAxes, FamilyParameters, Priors, SharedCovariance, ShrinkTo,
    ShrinkageAmount, SingularCovariance,
};
use quince::learn::{Classes, Examples, Learner, Prediction, Target};
use quince::prelude::*;
use quince::run::Stream;

const COLUMNS: usize = 3;
const CLASSES: usize = 3;

/// Rows of three classes whose columns have very different units.
fn rows(count: usize) -> (Matrix, Vec<u32>) {
    let mut stream = Stream::new(5, 0);
    let codes: Vec<u32> = (0..count).map(|i| (i * i % 7 % 3) as u32).collect();
    let mut rows = Matrix::zeros(count, COLUMNS);
    for (i, &code) in codes.iter().enumerate() {
        let (common, class) = (stream.normal(), f64::from(code));
        rows[(i, 0)] = 100.0 * (common + 0.5 * stream.normal() + class);
        rows[(i, 1)] = 0.01 * (common - stream.normal() + (class - 1.0).abs());
        rows[(i, 2)] = 7.0 + stream.normal() * (1.0 + class);
    }
    (rows, codes)
}

/// The same with a last column that is the sum of the first two.
fn with_a_sum(rows: &Matrix) -> Matrix {
    let row = |i: usize| rows.row(i).iter().copied().chain([rows[(i, 0)] + rows[(i, 1)]]);
    Matrix::new(rows.rows(), COLUMNS + 1, (0..rows.rows()).flat_map(row).collect()).unwrap()
}

fn target(codes: &[u32]) -> Target {
    Target::classes(Classes::of(["a", "b", "c"]), codes.to_vec()).unwrap()
}

fn exact() -> GaussianClassifier {
    GaussianClassifier::new().variance_floor(0.0).calibrate(false)
}

fn fit(settings: &GaussianClassifier, rows: &Matrix, codes: &[u32]) -> (BayesModel, Vec<String>) {
    let target = target(codes);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
    (model, report.remarks)
}

fn probabilities(model: &BayesModel, rows: &Matrix) -> Matrix {
    model.probabilities(&rows.features(), &Run::new()).unwrap()
}

fn covariances(model: &BayesModel) -> Vec<Matrix> {
    match model.family_parameters() {
        Some(FamilyParameters::Gaussian { covariances, .. }) => covariances,
        other => panic!("{other:?}"),
    }
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} is not {expected}");
    }
}

fn survives_a_file(fitted: &BayesModel, columns: usize, rows: &Matrix) {
    let classes = Some(Classes::of(["a", "b", "c"]));
    let model = Model::known(&exact(), fitted.clone(), columns, classes).unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.predict(rows).unwrap(), model.predict(rows).unwrap());
    let again: &BayesModel = again.fitted().unwrap();
    let axes = |model: &BayesModel| model.discriminant_axes(&Run::new()).unwrap();
    assert_eq!((again.class_means(), axes(again)), (fitted.class_means(), axes(fitted)));
}

#[test]
fn linear_discriminants_are_the_log_odds_of_a_row_with_axes_and_without() {
    let (rows, codes) = rows(90);
    for settings in
        [exact().shared(SharedCovariance::Pooled), exact().shared(SharedCovariance::Weighted).shrinkage(0.2)]
    {
        for settings in [settings.clone(), settings.discriminant_axes(2usize)] {
            let (model, _) = fit(&settings, &rows, &codes);
            let found = model.linear_discriminants().unwrap();
            assert_eq!((found.coefficients.rows(), found.coefficients.columns()), (CLASSES, COLUMNS));
            let shown = probabilities(&model, &rows);
            for i in 0..rows.rows() {
                let score = |k: usize| {
                    let products = found.coefficients.row(k).iter().zip(rows.row(i)).map(|(w, x)| w * x);
                    products.sum::<f64>() + found.intercepts[k]
                };
                let scores: Vec<f64> = (0..CLASSES).map(score).collect();
                let most = scores.iter().copied().fold(f64::MIN, f64::max);
                let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
                assert_close(shown.row(i), &scores.iter().map(|s| (s - most).exp() / total).collect::<Vec<_>>());
            }
            survives_a_file(&model, COLUMNS, &rows);
        }
    }
    assert!(fit(&exact(), &rows, &codes).0.linear_discriminants().is_none());
}

#[test]
fn the_axes_of_a_model_without_any_are_those_it_would_project_rows_onto() {
    let (rows, codes) = rows(90);
    let pooled = exact().shared(SharedCovariance::Pooled);
    let run = Run::new();
    let axes = |settings: &GaussianClassifier| -> DiscriminantAxes {
        fit(settings, &rows, &codes).0.discriminant_axes(&run).unwrap().unwrap()
    };
    let (whole, reduced) = (axes(&pooled), axes(&pooled.clone().discriminant_axes(2usize)));
    // Beyond the second, the means of three classes do not differ.
    assert_eq!((whole.axes.columns(), reduced.axes.columns()), (3, 2));
    assert!(whole.explained_variance_ratio[2].abs() < 1e-12);
    assert_close(&whole.explained_variance_ratio[..2], &reduced.explained_variance_ratio);
    assert_close(&[reduced.explained_variance_ratio.iter().sum()], &[1.0]);
    for axis in 0..2 {
        for j in 0..COLUMNS {
            assert!((whole.axes[(j, axis)] / reduced.axes[(j, axis)] - 1.0).abs() < 1e-9);
        }
    }
    // Axes of one are about the mean of the means, those of the other about the origin.
    let (model, _) = fit(&pooled.discriminant_axes(2usize), &rows, &codes);
    let along = reduced.project(&rows.features(), &run).unwrap();
    assert_eq!(model.project(&rows.features(), &run).unwrap().unwrap(), along);
    assert!(whole.project(&Matrix::zeros(1, 2).features(), &run).is_err());
    let covariance = &covariances(&fit(&exact().shared(SharedCovariance::Pooled), &rows, &codes).0)[0];
    for a in 0..3 {
        for b in 0..3 {
            let entry = |ij: usize| whole.axes[(ij / 3, a)] * covariance[(ij / 3, ij % 3)] * whole.axes[(ij % 3, b)];
            assert_close(&[(0..9).map(entry).sum()], &[f64::from(u8::from(a == b))]);
        }
    }
    assert!(fit(&exact(), &rows, &codes).0.discriminant_axes(&run).unwrap().is_none());
}

#[test]
fn discriminant_axes_and_a_shared_covariance_go_by_the_priors() {
    let (rows, codes) = rows(90);
    let priors = Priors::Given(vec![0.2, 0.5, 0.3]);
    let own = covariances(&fit(&exact(), &rows, &codes).0);
    let weighted = exact().shared(SharedCovariance::Weighted).priors(priors.clone());
    let (model, _) = fit(&weighted, &rows, &codes);
    let entry = |at: usize| 0.2 * own[0].values()[at] + 0.5 * own[1].values()[at] + 0.3 * own[2].values()[at];
    assert_close(covariances(&model)[0].values(), &(0..9).map(entry).collect::<Vec<_>>());
    let by_rows = exact().shared(SharedCovariance::Weighted);
    let pooled = covariances(&fit(&exact().shared(SharedCovariance::Pooled), &rows, &codes).0);
    assert_close(covariances(&fit(&by_rows, &rows, &codes).0)[0].values(), pooled[0].values());

    let means = model.class_means().unwrap();
    let axes = exact().shared(SharedCovariance::Pooled).priors(priors).discriminant_axes(2usize);
    let (model, _) = fit(&axes, &rows, &codes);
    assert_close(model.class_means().unwrap().values(), means.values());
    let centre = |j: usize| 0.2 * means[(0, j)] + 0.5 * means[(1, j)] + 0.3 * means[(2, j)];
    let found = model.discriminant_axes(&Run::new()).unwrap().unwrap();
    assert_close(&found.centre, &(0..COLUMNS).map(centre).collect::<Vec<_>>());
}

#[test]
fn a_pseudo_inverse_says_what_a_model_without_the_dependent_column_says() {
    let (rows, codes) = rows(60);
    let (dependent, pseudo) = (with_a_sum(&rows), SingularCovariance::PseudoInverse);
    let pooled = exact().shared(SharedCovariance::Pooled);
    let target = target(&codes);
    let examples = Examples::new(dependent.features(), &target, None).unwrap();
    let refusal = pooled.fit_examples(&examples, &Run::new()).err().unwrap().to_string();
    assert!(refusal.contains("singular"), "{refusal}");

    let (model, remarks) = fit(&pooled.clone().singular(pseudo), &dependent, &codes);
    assert_eq!(remarks, ["the covariance has no variance in 1 of 4 directions, which are left out"]);
    let (plain, _) = fit(&pooled, &rows, &codes);
    let expected = probabilities(&plain, &rows);
    for (found, expected) in probabilities(&model, &dependent).values().iter().zip(expected.values()) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }
    survives_a_file(&model, COLUMNS + 1, &dependent);
    let left_out = |settings: &GaussianClassifier, rows: &Matrix| {
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        match settings.leave_one_out_examples(&examples, &Run::new()).unwrap() {
            Some(Prediction::Classes { probabilities, .. }) => probabilities,
            other => panic!("{other:?}"),
        }
    };
    let (found, expected) = (left_out(&pooled.clone().singular(pseudo), &dependent), left_out(&pooled, &rows));
    for (found, expected) in found.values().iter().zip(expected.values()) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }
    // Rows that are sampled have the sum, too.
    for row in model.sample(20, None, &Run::new()).unwrap() {
        let sum = row.dense[0] + row.dense[1];
        assert!((sum - row.dense[3]).abs() < 1e-6 * (1.0 + sum.abs()), "{:?}", row.dense);
    }
    // A missing value counts as the mean of its column.
    let mut missing = dependent.take_rows(&[3]);
    missing[(0, 2)] = f64::NAN;
    let mut filled = missing.clone();
    filled[(0, 2)] = dependent.column(2).iter().sum::<f64>() / 60.0;
    assert_close(probabilities(&model, &missing).values(), probabilities(&model, &filled).values());
}

#[test]
fn columns_that_say_nothing_leave_the_priors() {
    let rows = Matrix::from_rows(&[[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]);
    let target = Target::classes(Classes::of(["a", "b"]), vec![0, 0, 1, 1]).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let pseudo = exact().shared(SharedCovariance::Pooled).singular(SingularCovariance::PseudoInverse);
    for settings in [pseudo.clone(), pseudo.discriminant_axes(1usize)] {
        let settings = settings.priors(Priors::Given(vec![0.3, 0.7]));
        let (model, _) = settings.fit_examples(&examples, &Run::new()).unwrap();
        assert_close(probabilities(&model, &rows).row(0), &[0.3, 0.7]);
        assert_eq!(model.class_means().unwrap(), Matrix::from_rows(&[[1.0, 0.0], [1.0, 1.0]]));
        assert_eq!(model.discriminant_axes(&Run::new()).unwrap().unwrap().axes.columns(), 0);
        assert_eq!(model.linear_discriminants().unwrap().coefficients, Matrix::zeros(2, 2));
    }
}

/// Ledoit and Wolf's amount of rows in units of their standard deviations, by the definition of 2004.
fn ledoit_wolf(rows: &[&[f64]]) -> f64 {
    let (count, width) = (rows.len() as f64, rows[0].len());
    let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / count;
    let deviation = |j: usize| (rows.iter().map(|row| (row[j] - mean(j)).powi(2)).sum::<f64>() / count).sqrt();
    let z: Vec<Vec<f64>> =
        rows.iter().map(|row| (0..width).map(|j| (row[j] - mean(j)) / deviation(j)).collect()).collect();
    let s = |i: usize, j: usize| z.iter().map(|z| z[i] * z[j]).sum::<f64>() / count;
    let pairs = || (0..width).flat_map(|i| (0..width).map(move |j| (i, j)));
    let distance: f64 = pairs().map(|(i, j)| (s(i, j) - f64::from(u8::from(i == j))).powi(2)).sum();
    let error: f64 = z.iter().map(|z| pairs().map(|(i, j)| (z[i] * z[j] - s(i, j)).powi(2)).sum::<f64>()).sum();
    (error / count / count / distance).min(1.0)
}

#[test]
fn the_amount_of_shrinkage_follows_from_the_rows_of_each_class() {
    let (rows, codes) = rows(60);
    let plain = covariances(&fit(&exact(), &rows, &codes).0);
    let (model, remarks) = fit(&exact().shrinkage(ShrinkageAmount::Auto), &rows, &codes);
    let mut amounts = Vec::new();
    for (k, (found, plain)) in covariances(&model).iter().zip(&plain).enumerate() {
        let of_class: Vec<&[f64]> = (0..60).filter(|&i| codes[i] as usize == k).map(|i| rows.row(i)).collect();
        let amount = ledoit_wolf(&of_class);
        assert!(amount > 0.01 && amount < 0.99, "{amount}");
        for i in 0..COLUMNS {
            for j in 0..COLUMNS {
                let expected = plain[(i, j)] * if i == j { 1.0 } else { 1.0 - amount };
                assert!((found[(i, j)] / expected - 1.0).abs() < 1e-9, "{} is not {expected}", found[(i, j)]);
            }
        }
        amounts.push(amount);
    }
    assert!(remarks[0].starts_with("Ledoit and Wolf's rule shrinks the covariances of classes by 0."), "{remarks:?}");
    survives_a_file(&model, COLUMNS, &rows);
    // Classes that share a covariance share the mean of those that were shrunk.
    let own = covariances(&model);
    let mean = exact().shared(SharedCovariance::Mean).shrinkage(ShrinkageAmount::Auto);
    let entry = |at: usize| own.iter().map(|own| own.values()[at] / 3.0).sum::<f64>();
    assert_close(covariances(&fit(&mean, &rows, &codes).0)[0].values(), &(0..9).map(entry).collect::<Vec<_>>());
}

#[test]
fn shrunken_covariances_do_not_depend_on_the_units_of_columns() {
    let (rows, codes) = rows(60);
    let times = [1000.0, 1.0, 0.01];
    let mut scaled = rows.clone();
    (0..rows.rows()).for_each(|i| scaled.row_mut(i).iter_mut().zip(times).for_each(|(x, times)| *x *= times));
    let run = Run::new();
    for settings in [
        exact().shrinkage(0.3),
        exact().shrinkage(0.3).shared(SharedCovariance::Pooled),
        exact().shrinkage(1.0).covariance(ClassCovariance::Diagonal),
        exact().shrinkage(ShrinkageAmount::Auto),
        exact().variance_floor(0.1),
    ] {
        let (plain, other) = (fit(&settings, &rows, &codes).0, fit(&settings, &scaled, &codes).0);
        // A density is per unit of every column, so its logarithm falls by the sum of their logarithms.
        let jacobian: f64 = times.iter().map(|times: &f64| times.ln()).sum();
        let expected: Vec<f64> =
            plain.scores(&rows.features(), &run).unwrap().values().iter().map(|score| score - jacobian).collect();
        assert_close(other.scores(&scaled.features(), &run).unwrap().values(), &expected);
        assert_close(probabilities(&other, &scaled).values(), probabilities(&plain, &rows).values());
    }
    // The target: the variances of columns over all rows, times the mean ratio of a class's variances to them.
    let (plain, found) =
        (covariances(&fit(&exact(), &rows, &codes).0), covariances(&fit(&exact().shrinkage(0.3), &rows, &codes).0));
    let count = rows.rows() as f64;
    let variance = |j: usize| {
        let column: Vec<f64> = (0..rows.rows()).map(|i| rows[(i, j)]).collect();
        let mean = column.iter().sum::<f64>() / count;
        column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count
    };
    for (found, plain) in found.iter().zip(&plain) {
        let ratio = (0..COLUMNS).map(|j| plain[(j, j)] / variance(j)).sum::<f64>() / COLUMNS as f64;
        let target = |i: usize, j: usize| if i == j { ratio * variance(j) } else { 0.0 };
        let entry = |at: usize| 0.7 * plain.values()[at] + 0.3 * target(at / COLUMNS, at % COLUMNS);
        assert_close(found.values(), &(0..COLUMNS * COLUMNS).map(entry).collect::<Vec<_>>());
    }
}

#[test]
fn principal_axes_of_a_class_are_those_of_its_covariance() {
    let (rows, codes) = rows(90);
    let (model, _) = fit(&exact(), &rows, &codes);
    for (k, covariance) in covariances(&model).iter().enumerate() {
        let found = model.principal_axes(k, &Run::new()).unwrap().unwrap();
        assert!(found.variances.windows(2).all(|pair| pair[0] >= pair[1]));
        for axis in 0..COLUMNS {
            for i in 0..COLUMNS {
                let product: f64 = (0..COLUMNS).map(|j| covariance[(i, j)] * found.axes[(j, axis)]).sum();
                assert!((product - found.variances[axis] * found.axes[(i, axis)]).abs() < 1e-9 * found.variances[0]);
            }
        }
    }
    assert!(model.principal_axes(3, &Run::new()).is_err());
}

#[test]
fn known_covariances_make_the_model_that_was_fitted() {
    let (rows, codes) = rows(90);
    let settings = exact().shared(SharedCovariance::Weighted);
    let (fitted, _) = fit(&settings, &rows, &codes);
    let (means, within, run) = (fitted.class_means().unwrap(), covariances(&fitted).remove(0), Run::new());
    let total = covariances(&fit(&exact(), &rows, &vec![0; 90]).0).remove(0);
    let priors: Vec<f64> = fitted.log_priors().iter().map(|log| log.exp()).collect();
    let expected = probabilities(&fitted, &rows);
    for total in [None, Some(&total)] {
        let known = BayesModel::known_discriminants(&means, &within, total, &priors, &run).unwrap();
        assert_close(probabilities(&known, &rows).values(), expected.values());
        assert_eq!(known.class_means().unwrap(), means);
        survives_a_file(&known, COLUMNS, &rows);
        let axes = known.discriminant_axes(&run).unwrap().unwrap();
        match total {
            None => assert_eq!(axes.axes.columns(), 0),
            Some(_) => {
                let expected = fitted.discriminant_axes(&run).unwrap().unwrap();
                assert_close(&axes.explained_variance_ratio, &expected.explained_variance_ratio);
                let firsts = |axes: &Matrix| (0..6).map(|at| axes[(at / 2, at % 2)]).collect::<Vec<_>>();
                for (found, expected) in firsts(&axes.axes).iter().zip(firsts(&expected.axes)) {
                    assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
                }
            }
        }
    }
    let refused = |within: &Matrix| {
        BayesModel::known_discriminants(&means, within, None, &priors, &run).err().unwrap().to_string()
    };
    assert_eq!(refused(&Matrix::zeros(1, 3)), "a covariance of 3 columns has 1 rows");
    let indefinite = Matrix::from_rows(&[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    assert_eq!(refused(&indefinite), "a covariance has a negative variance");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let (rows, codes) = rows(30);
    let target = target(&codes);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let refused = |settings: GaussianClassifier, problem: &str| {
        let said = settings.fit_examples(&examples, &Run::new()).err().map(|error| error.to_string());
        assert!(said.as_ref().is_some_and(|said| said.contains(problem)), "{said:?}");
    };
    let diagonal = || exact().covariance(quince::bayes::ClassCovariance::Diagonal);
    refused(diagonal().shrinkage(ShrinkageAmount::Auto), "cannot be auto for a covariance that is not full");
    refused(exact().shrinkage(ShrinkageAmount::Auto).shrink_to(ShrinkTo::One), "cannot be one with shrinkage=auto");
    refused(diagonal().singular(SingularCovariance::PseudoInverse), "cannot be pseudo-inverse for a covariance");
    refused(exact().shrinkage(1.5), "'shrinkage' cannot be 1.5");
    refused(exact().tolerance(-1.0), "'tolerance' cannot be -1");
}
