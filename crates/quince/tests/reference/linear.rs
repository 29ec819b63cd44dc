//! L: linear models. Rows proven here: L1, L2.

use super::agrees;
use quince::learn::{Classes, Examples, Fitted, Learner, Prediction, Target, TargetView};
use quince::linear::{LeastSquares, LinearModel, Ridge};
use quince::{Matrix, Model, Run, Table};

const POINTS: [[f64; 2]; 4] = [[5.0, 1.0], [5.0, 2.0], [7.0, 2.0], [7.0, 3.0]];

fn line(from: usize, to: usize) -> (f64, f64) {
    let x = Matrix::column_vector(POINTS.iter().map(|point| point[from]).collect());
    let y = Target::numbers(Matrix::column_vector(POINTS.iter().map(|point| point[to]).collect())).unwrap();
    let examples = Examples::new(x.features(), &y, None).unwrap();
    let (model, report) = LeastSquares::default().fit_examples(&examples, &Run::new()).unwrap();
    assert!(report.holds());
    (model.coefficients()[(0, 0)], model.intercept()[0])
}

#[test]
fn l2_y_on_x_x_on_y_and_the_slope_between_them() {
    let (slope, intercept) = line(0, 1);
    agrees(slope, 0.5, 9);
    agrees(intercept, -1.0, 9);
    let (back, offset) = line(1, 0);
    agrees(back, 1.0, 9);
    agrees(offset, 4.0, 9);
    // The first component's slope m follows from the two regressions: m² + m (1/slope - 1/back) - 1 = 0.
    let difference = 1.0 / slope - 1.0 / back;
    agrees(0.5 * (-difference + (difference * difference + 4.0).sqrt()), 0.618, 3);
}

#[test]
fn l2_many_variables_and_several_outputs_are_recovered_exactly() {
    let rows: Vec<[f64; 3]> = (0..20).map(|i| [i as f64, ((i * 7) % 11) as f64, ((i * i) % 13) as f64 - 4.0]).collect();
    let x = Matrix::from_rows(&rows);
    let y: Vec<[f64; 2]> = rows.iter().map(|[a, b, c]| [2.0 * a - b + 0.5 * c + 3.0, -a + 4.0 * c - 7.0]).collect();
    let target = Target::numbers(Matrix::from_rows(&y)).unwrap();
    let examples = Examples::new(x.features(), &target, None).unwrap();
    let (model, _) = LeastSquares::default().fit_examples(&examples, &Run::new()).unwrap();
    let expected = [[2.0, -1.0], [-1.0, 0.0], [0.5, 4.0]];
    for (j, row) in expected.iter().enumerate() {
        row.iter().enumerate().for_each(|(k, b)| agrees(model.coefficients()[(j, k)], *b, 9));
    }
    agrees(model.intercept()[0], 3.0, 9);
    agrees(model.intercept()[1], -7.0, 9);
}

#[test]
fn l2_a_polynomial_is_a_linear_model_of_powers() {
    let cubic = |x: f64| 1.0 - 2.0 * x + 0.5 * x * x * x;
    let xs: Vec<f64> = (0..9).map(|i| i as f64 * 0.5 - 2.0).collect();
    let powers: Vec<[f64; 3]> = xs.iter().map(|&x| [x, x * x, x * x * x]).collect();
    let target = Target::numbers(Matrix::column_vector(xs.iter().map(|&x| cubic(x)).collect())).unwrap();
    let x = Matrix::from_rows(&powers);
    let (model, _) = LeastSquares::default()
        .fit_examples(&Examples::new(x.features(), &target, None).unwrap(), &Run::new())
        .unwrap();
    let found: Vec<f64> = (0..3).map(|j| model.coefficients()[(j, 0)]).collect();
    for (found, expected) in found.into_iter().zip([-2.0, 0.0, 0.5]) {
        agrees(found, expected, 9);
    }
    agrees(model.intercept()[0], 1.0, 9);
}

#[test]
fn l2_x_on_y_by_choosing_the_other_target() {
    let table = Table::from_csv("x,y\n5.0,1.5\n5.5,2.0\n7.0,2.5\n7.5,3.0\n").unwrap();
    for target in ["x", "y"] {
        let model = Model::train(&table, target, &LeastSquares::default()).unwrap();
        assert_eq!(model.target(), target);
        assert!(matches!(model.predict(&table).unwrap(), Prediction::Numbers(_)));
    }
}

fn three_classes() -> (Matrix, Target) {
    let rows: Vec<[f64; 2]> = (0..30)
        .map(|i| {
            let (class, k) = (i % 3, i as f64);
            [[0.0, 5.0, 9.0][class] + (k * 1.7).sin(), [1.0, 6.0, 0.0][class] + (k * 0.9).cos()]
        })
        .collect();
    let classes = Classes::of(["a", "b", "c"]);
    (Matrix::from_rows(&rows), Target::classes(classes, (0..30).map(|i| i % 3).collect()).unwrap())
}

fn fit_classes(learner: impl Learner<Fitted = LinearModel>) -> (Matrix, Target, LinearModel) {
    let (x, target) = three_classes();
    let (model, _) = learner.fit_examples(&Examples::new(x.features(), &target, None).unwrap(), &Run::new()).unwrap();
    (x, target, model)
}

#[test]
fn l1_indicator_outputs_sum_to_one_and_the_largest_gives_the_label() {
    let (x, target, model) = fit_classes(LeastSquares::default());
    let prediction = model.predict(&x.features(), &Run::new()).unwrap();
    let Prediction::Classes { scores, .. } = &prediction else { panic!("classes were learnt") };
    assert_eq!(scores.columns(), 3);
    for i in 0..x.rows() {
        // The indicator of a class is (score + 1) / 2; with an intercept the indicators sum to one (algebra).
        agrees(scores.row(i).iter().map(|s| (s + 1.0) / 2.0).sum(), 1.0, 9);
    }
    let TargetView::Classes { codes, .. } = target.view() else { unreachable!() };
    assert_eq!(&prediction.labels(), codes);
}

#[test]
fn l1_the_normal_equations_hold_for_every_indicator_and_ridge_shrinks() {
    let (x, target, plain) = fit_classes(LeastSquares::default());
    let TargetView::Classes { codes, .. } = target.view() else { unreachable!() };
    let outputs = plain.outputs(&x.features(), &Run::new()).unwrap();
    for class in 0..3 {
        let residual = |i: usize| (if codes[i] as usize == class { 1.0 } else { -1.0 }) - outputs[(i, class)];
        agrees((0..30).map(residual).sum(), 0.0, 9);
        (0..2).for_each(|j| agrees((0..30).map(|i| x[(i, j)] * residual(i)).sum(), 0.0, 8));
    }
    let length = |model: &LinearModel| model.coefficients().values().iter().map(|b| b * b).sum::<f64>();
    let mut before = length(&plain);
    for alpha in [1.0, 10.0, 100.0, 1e4] {
        let now = length(&fit_classes(Ridge { alpha, ..Ridge::default() }).2);
        assert!(now < before);
        before = now;
    }
}

#[test]
fn l1_two_classes_have_one_output_whose_sign_is_the_label() {
    let x = Matrix::from_rows(&POINTS);
    let target = Target::classes(Classes::of(["left", "right"]), vec![0, 0, 1, 1]).unwrap();
    let (model, _) = LeastSquares::default()
        .fit_examples(&Examples::new(x.features(), &target, None).unwrap(), &Run::new())
        .unwrap();
    // By hand: the first column alone tells the sides, so the plane is x - 6.
    assert_eq!(model.coefficients().columns(), 1);
    agrees(model.coefficients()[(0, 0)], 1.0, 9);
    agrees(model.coefficients()[(1, 0)], 0.0, 9);
    agrees(model.intercept()[0], -6.0, 9);
}
