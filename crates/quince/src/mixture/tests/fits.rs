//! Fits by the settings: how many components, given starts, weights, budgets, and rows that are unusual.

use super::*;
use crate::learn::{Fitted, SavedParts};
use crate::run::StopReason;

#[test]
fn the_number_of_groups_is_found() {
    let mut stream = Stream::new(8, 0);
    let centres = [[0.0, 0.0], [6.0, 0.0], [0.0, 7.0], [8.0, 8.0]];
    let row = |i: usize, stream: &mut Stream| centres[i % 4].map(|c| c + stream.normal());
    let rows: Vec<[f64; 2]> = (0..400).map(|i| row(i, &mut stream)).collect();
    let rows = Matrix::from_rows(&rows);
    for criterion in [Criterion::Bic, Criterion::Icl] {
        let (model, report) = gaussians(&rows.features(), &Mixture { criterion, ..Mixture::default() });
        assert_eq!(model.components(), 4, "{criterion:?}");
        assert!(report.holds() && report.stop == StopReason::Converged);
        let responsibilities = model.responsibilities(&rows.features(), &Run::new()).unwrap();
        for i in 0..rows.rows() {
            assert!((responsibilities.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_density_has_the_orders_in_which_words_can_stand() {
    use crate::family::Multinomial;
    let rows = Matrix::from_rows(&[[3.0, 1.0, 0.0], [2.0, 2.0, 1.0], [0.0, 1.0, 4.0], [1.0, 0.0, 3.0]]);
    let one = Mixture {
        k: Count::Fixed(1),
        family: "multinomial".parse().unwrap(),
        alpha: Amount::Fixed(0.0),
        ..Mixture::default()
    };
    let (model, _) = gaussians(&rows.features(), &one);
    let plain = Multinomial::new(&[6.0, 4.0, 8.0]).unwrap();
    for (i, density) in model.log_densities(&rows.features(), &Run::new()).unwrap().into_iter().enumerate() {
        assert!((density - plain.log_probability(rows.row(i)).unwrap()).abs() < 1e-12);
    }
}

#[test]
fn a_budget_gives_the_best_so_far_and_a_cancel_nothing() {
    let example = example(1, 20_000, 0.1, false);
    let features = example.rows.features();
    let target = Target::none(features.rows());
    let examples = Examples::new(features, &target, None).unwrap();
    let mixture = Mixture { family: "auto".parse().unwrap(), tolerance: 0.0, ..Mixture::default() };
    for k in [Count::Fixed(4), Count::Auto] {
        let tick = std::time::Duration::from_millis(1);
        let run = Run::new().clock(crate::run::TickClock::new(tick)).budget(20 * tick);
        let (model, report) = Learner::fit_examples(&Mixture { k, ..mixture.clone() }, &examples, &run).unwrap();
        assert_eq!(report.stop, StopReason::Budget);
        assert!(report.remarks.iter().any(|remark| remark.contains("the budget ran out")));
        let responsibilities = model.responsibilities(&features, &Run::new()).unwrap();
        assert!(responsibilities.values().iter().all(|r| r.is_finite()));
    }
    let cancel = crate::run::Cancel::new();
    cancel.cancel();
    let run = Run::new().cancel(&cancel);
    assert_eq!(Learner::fit_examples(&mixture, &examples, &run).err(), Some(Error::Cancelled));
}

#[test]
fn rows_and_columns_of_missing_values_alone_are_no_harm() {
    let mut rows = Matrix::zeros(60, 3);
    let mut stream = Stream::new(1, 0);
    for i in 0..60 {
        let group = 8.0 * (i % 2) as f64;
        rows.row_mut(i).copy_from_slice(&[group + stream.normal(), group + stream.normal(), f64::NAN]);
    }
    rows.row_mut(7).fill(f64::NAN);
    let two = Mixture { k: Count::Fixed(2), ..Mixture::default() };
    let (model, _) = gaussians(&rows.features(), &two);
    let responsibilities = model.responsibilities(&rows.features(), &Run::new()).unwrap();
    // For a row that is missing altogether only the weights are known.
    for (r, weight) in responsibilities.row(7).iter().zip(model.weights()) {
        assert!((r - weight).abs() < 1e-9);
    }
    let imputed = model.impute(&rows.features(), None, &Run::new()).unwrap().unwrap();
    let mean = |j: usize| (0..60).filter(|&i| i != 7).map(|i| rows[(i, j)]).sum::<f64>() / 59.0;
    assert!((imputed.values[(7, 0)] - mean(0)).abs() < 1e-3 && imputed.standard_deviations[(7, 0)] > 3.0);
    assert!(imputed.values[(0, 2)].is_nan());
}

#[test]
fn the_responsibilities_of_an_impossible_row_are_the_weights() {
    let rows = Matrix::from_rows(&[[0.0], [0.1], [9.0], [9.1], [9.2]]);
    let two = Mixture { k: Count::Fixed(2), ..Mixture::default() };
    let (model, _) = gaussians(&rows.features(), &two);
    let far = Matrix::from_rows(&[[1e200]]);
    assert_eq!(model.log_densities(&far.features(), &Run::new()).unwrap(), [f64::NEG_INFINITY]);
    let responsibilities = model.responsibilities(&far.features(), &Run::new()).unwrap();
    for (r, weight) in responsibilities.row(0).iter().zip(model.weights()) {
        assert!((r - weight).abs() < 1e-12);
    }
}

#[test]
fn a_given_start_is_what_is_saved_when_no_step_is_taken() {
    let rows = Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0], [5.0, 6.0], [6.0, 5.5], [5.5, 6.5]]);
    let nothing = Target::none(5);
    let examples = Examples::new(rows.features(), &nothing, None).unwrap();
    let given = InitialParameters {
        weights: Some(vec![0.25, 0.75]),
        means: Some(Matrix::from_rows(&[[0.0, 0.0], [6.0, 6.0]])),
        covariances: Some(vec![
            Matrix::from_rows(&[[2.0, 0.5], [0.5, 1.0]]),
            Matrix::from_rows(&[[1.0, -0.25], [-0.25, 3.0]]),
        ]),
        ..InitialParameters::default()
    };
    let mixture = Mixture { k: Count::Fixed(2), steps: 0, ..Mixture::default() };
    let (model, _) = mixture.fit_from(&examples, &given, &Run::new()).unwrap();
    let mut parts = SavedParts::for_tests(2, 0);
    model.save(&mut parts);
    let again = MixtureModel::load(&mut parts).unwrap();
    for model in [&model, &again] {
        let parameters = &model.parameters()[0];
        assert!((model.weights()[0] - 0.25).abs() < 1e-12);
        assert_eq!(parameters.array("mean").unwrap(), given.means.as_ref().unwrap());
        let found = parameters.array("covariance 1").unwrap();
        let expected = &given.covariances.as_ref().unwrap()[1];
        assert!(found.values().iter().zip(expected.values()).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn weights_below_one_are_rescaled_and_weights_above_are_frequencies() {
    let mut stream = Stream::new(12, 0);
    let rows: Vec<[f64; 1]> = (0..120).map(|i| [f64::from(i % 2) * 6.0 + stream.normal()]).collect();
    let (rows, target) = (Matrix::from_rows(&rows), Target::none(120));
    let fit = |weight: f64| {
        let weights = vec![weight; 120];
        let examples = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
        let (model, report) = Learner::fit_examples(&Mixture::default(), &examples, &Run::new()).unwrap();
        (model.components(), report.facts.iter().find(|fact| fact.0 == "bic").unwrap().1)
    };
    let (k, bic) = fit(1.0);
    assert_eq!(k, 2);
    for weight in [1.0 / 120.0, 1e-3, 0.5] {
        let (rescaled, other) = fit(weight);
        assert!(rescaled == 2 && (other - bic).abs() < 1e-6 * bic.abs(), "{weight}: {rescaled}, {other} and {bic}");
    }
    // Categories are smoothed as if every row had weight one.
    let flipped = |x: f64, stream: &mut Stream| if stream.uniform() < 0.1 { 1.0 - x } else { x };
    let codes: Vec<[f64; 3]> = (0..120).map(|i| [f64::from(i % 2); 3].map(|x| flipped(x, &mut stream))).collect();
    let codes = Matrix::from_rows(&codes);
    let densities = |weight: f64| {
        let (weights, family) = (vec![weight; 120], "categorical".parse().unwrap());
        let examples = Examples::new(codes.features(), &target, Some(&weights)).unwrap();
        let (model, _) =
            Learner::fit_examples(&Mixture { family, ..Mixture::default() }, &examples, &Run::new()).unwrap();
        (model.components(), model.log_densities(&codes.features(), &Run::new()).unwrap())
    };
    let (ones, rescaled) = (densities(1.0), densities(0.001));
    assert!(ones.0 == 2 && rescaled.0 == 2);
    assert!(ones.1.iter().zip(&rescaled.1).all(|(one, other)| (one - other).abs() < 1e-6));
    // Rows that were seen three times each.
    let three = fit(3.0).1;
    let model = |weights: Option<&[f64]>| {
        let examples = Examples::new(rows.features(), &target, weights).unwrap();
        Learner::fit_examples(&Mixture { k: Count::Fixed(2), ..Mixture::default() }, &examples, &Run::new()).unwrap().0
    };
    let thrice = [&rows; 3].map(|rows| rows.values().to_vec()).concat();
    let thrice = Matrix::new(360, 1, thrice).unwrap();
    let repeated =
        model(Some(&vec![3.0; 120])).criterion(Criterion::Bic, &thrice.features(), None, &Run::new()).unwrap();
    assert!((three - repeated).abs() < 1e-6 * three.abs(), "{three} and {repeated}");
}

#[test]
fn missing_values_in_nearly_equal_columns_cost_no_digits() {
    // The second column is the first but for a millionth of its standard deviation; rows that lack it are scored by the first alone.
    let mut stream = Stream::new(5, 0);
    let column: Vec<f64> = (0..400).map(|_| stream.normal()).collect();
    let rows: Vec<[f64; 2]> = column.iter().map(|x| [*x, x + 1e-6 * stream.normal()]).collect();
    let one =
        Mixture { k: Count::Fixed(1), variance_floor: 0.0, family: "gaussian".parse().unwrap(), ..Mixture::default() };
    let (both, _) = gaussians(&Matrix::from_rows(&rows).features(), &one);
    let (first, _) = gaussians(&Matrix::column_vector(column.clone()).features(), &one);
    let lacking: Vec<[f64; 2]> = column.iter().map(|x| [3.0 * x, f64::NAN]).collect();
    let alone = Matrix::column_vector(column.iter().map(|x| 3.0 * x).collect());
    let said = both.log_densities(&Matrix::from_rows(&lacking).features(), &Run::new()).unwrap();
    let expected = first.log_densities(&alone.features(), &Run::new()).unwrap();
    for (said, expected) in said.iter().zip(expected) {
        assert!((said - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{said} and {expected}");
    }
}

#[test]
fn groups_that_are_near_each_other_beside_a_distant_one_are_found_in_any_unit() {
    let mut stream = Stream::new(3, 0);
    for unit in [1.0, 1e-3] {
        let near = |i: usize| [0.0, 1.0, 40.0][i % 3];
        let rows: Vec<[f64; 2]> = (0..300).map(|i| [0, 1].map(|_| unit * (near(i) + 0.1 * stream.normal()))).collect();
        let (model, _) = gaussians(&Matrix::from_rows(&rows).features(), &Mixture::default());
        assert_eq!(model.components(), 3);
        assert!(model.weights().iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-6));
    }
}
