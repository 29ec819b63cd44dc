//! Least squares and ridge against references that are slow and simple: normal equations by elimination, and refitting for
//! leave-one-out; over shapes, layouts, types, weights and settings.

use crate::layouts::{LAYOUTS, Layout, random, with_layout};
use proptest::prelude::*;
use quince::learn::{Examples, Learner, Prediction, Target};
use quince::linear::{LeastSquares, LinearModel, Ridge};
use quince::run::Stream;
use quince::{Matrix, Run};

struct Case {
    x: Matrix,
    y: Matrix,
    weights: Option<Vec<f64>>,
    alpha: f64,
    intercept: bool,
}

impl Case {
    fn fit(&self, layout: Layout, run: &Run) -> LinearModel {
        let target = Target::numbers(self.y.clone()).unwrap();
        with_layout(&self.x, layout, |features| {
            let examples = Examples::new(features, &target, self.weights.as_deref()).unwrap();
            let settings = Ridge { alpha: self.alpha, intercept: self.intercept, ..Ridge::default() };
            let (model, report) = settings.fit_examples(&examples, run).unwrap();
            assert!(report.holds(), "{report:?}");
            model
        })
    }

    /// The normal equations of [1 X], the constant not penalised, by elimination with pivots: (intercept, coefficients).
    fn by_elimination(&self) -> Vec<Vec<f64>> {
        let (rows, columns, outputs) = (self.x.rows(), self.x.columns(), self.y.columns());
        let first = usize::from(self.intercept);
        let size = columns + first;
        let entry = |i: usize, a: usize| if a < first { 1.0 } else { self.x[(i, a - first)] };
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[i]);
        let mut system = vec![vec![0.0; size + outputs]; size];
        for i in 0..rows {
            for a in 0..size {
                for b in 0..size {
                    system[a][b] += weight(i) * entry(i, a) * entry(i, b);
                }
                for k in 0..outputs {
                    system[a][size + k] += weight(i) * entry(i, a) * self.y[(i, k)];
                }
            }
        }
        (first..size).for_each(|a| system[a][a] += self.alpha);
        eliminate(&mut system, size);
        (0..size).map(|a| system[a][size..].to_vec()).collect()
    }
}

fn eliminate(system: &mut [Vec<f64>], size: usize) {
    for a in 0..size {
        let best = (a..size).max_by(|&p, &q| system[p][a].abs().total_cmp(&system[q][a].abs())).unwrap();
        system.swap(a, best);
        let pivot = system[a].clone();
        for (b, row) in system.iter_mut().enumerate() {
            let factor = row[a] / pivot[a];
            if b == a {
                row.iter_mut().for_each(|value| *value /= pivot[a]);
            } else {
                row.iter_mut().zip(&pivot).for_each(|(value, p)| *value -= factor * p);
            }
        }
    }
}

prop_compose! {
    fn cases()(rows in 2usize..40, columns in 1usize..12, outputs in 1usize..4, seed in 0u64..1_000_000,
               alpha in prop::sample::select(vec![0.3, 2.0, 50.0]), intercept: bool, weighted: bool) -> Case {
        let mut stream = Stream::new(seed, 1);
        let weights = weighted.then(|| (0..rows).map(|_| 0.25 + stream.uniform()).collect());
        Case { x: random(rows, columns, seed), y: random(rows, outputs, seed + 1), weights, alpha, intercept }
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { x, y, weights, alpha, intercept } = self;
        let (n, d, q) = (x.rows(), x.columns(), y.columns());
        write!(f, "{n} x {d} -> {q}, alpha {alpha}, intercept {intercept}, weights {weights:?}, x {x:?}, y {y:?}")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_layout_solves_the_normal_equations(case in cases()) {
        let reference = case.by_elimination();
        let first = usize::from(case.intercept);
        for layout in LAYOUTS {
            let model = case.fit(layout, &Run::new().threads(1));
            for k in 0..case.y.columns() {
                for j in 0..case.x.columns() {
                    let (found, expected) = (model.coefficients()[(j, k)], reference[first + j][k]);
                    prop_assert!((found - expected).abs() < 1e-8, "{layout:?}: {found} against {expected}");
                }
                if case.intercept {
                    prop_assert!((model.intercept()[k] - reference[0][k]).abs() < 1e-8);
                }
            }
        }
    }

    #[test]
    fn leaving_out_by_algebra_is_leaving_out_by_refitting(case in cases()) {
        prop_assume!(case.x.rows() > 2);
        let target = Target::numbers(case.y.clone()).unwrap();
        let settings = Ridge { alpha: case.alpha, intercept: case.intercept, ..Ridge::default() };
        let examples = Examples::new(case.x.features(), &target, case.weights.as_deref()).unwrap();
        let exact = settings.leave_one_out_examples(&examples, &Run::new()).unwrap().unwrap();
        let refitted = by_refitting(&settings, &case);
        let Prediction::Numbers(exact) = exact else { unreachable!() };
        for (found, expected) in exact.values().iter().zip(refitted.values()) {
            prop_assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{found} against {expected}");
        }
    }

    #[test]
    fn a_weight_of_two_is_a_row_twice(case in cases()) {
        let rows = case.x.rows();
        let twice: Vec<usize> = (0..rows).chain((0..rows).filter(|i| i % 3 == 0)).collect();
        let doubled = Case {
            x: case.x.take_rows(&twice), y: case.y.take_rows(&twice), weights: None, ..case
        };
        let weights = (0..rows).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
        let weighted = Case { weights: Some(weights), ..case };
        let run = Run::new();
        for layout in LAYOUTS {
            let (a, b) = (weighted.fit(layout, &run), doubled.fit(layout, &run));
            for (p, q) in a.coefficients().values().iter().zip(b.coefficients().values()) {
                prop_assert!((p - q).abs() < 1e-9, "{p} against {q}");
            }
        }
    }
}

fn by_refitting(settings: &impl Learner<Fitted = LinearModel>, case: &Case) -> Matrix {
    let rows = case.x.rows();
    let mut predictions = Matrix::zeros(rows, case.y.columns());
    for i in 0..rows {
        let others: Vec<usize> = (0..rows).filter(|&k| k != i).collect();
        let (x, y) = (case.x.take_rows(&others), Target::numbers(case.y.take_rows(&others)).unwrap());
        let weights: Option<Vec<f64>> = case.weights.as_ref().map(|w| others.iter().map(|&k| w[k]).collect());
        let examples = Examples::new(x.features(), &y, weights.as_deref()).unwrap();
        let (model, _) = settings.fit_examples(&examples, &Run::new()).unwrap();
        let outputs = model.outputs(&case.x.take_rows(&[i]).features(), &Run::new()).unwrap();
        predictions.row_mut(i).copy_from_slice(outputs.row(0));
    }
    predictions
}

/// Columns: a, b, a + b, and a again: rank two.
fn dependent(rows: usize) -> Matrix {
    let base = random(rows, 2, 5);
    let row = |i: usize| {
        let (a, b) = (base[(i, 0)], base[(i, 1)]);
        [a, b, a + b, a]
    };
    Matrix::from_rows(&(0..rows).map(row).collect::<Vec<_>>())
}

#[test]
fn dependent_columns_get_the_smallest_coefficients_and_a_remark() {
    let x = dependent(25);
    let y = random(25, 1, 9);
    let target = Target::numbers(y.clone()).unwrap();
    for layout in LAYOUTS {
        with_layout(&x, layout, |features| {
            let examples = Examples::new(features, &target, None).unwrap();
            let (model, report) = LeastSquares::default().fit_examples(&examples, &Run::new()).unwrap();
            assert!(report.remarks[0].contains("rank 2 of 4"), "{layout:?}: {report:?}");
            assert!(report.holds(), "{report:?}");
            let b: Vec<f64> = (0..4).map(|j| model.coefficients()[(j, 0)]).collect();
            // The smallest of all answers has no part in the null space: (1, 1, -1, 0) and (1, 0, 0, -1) map to zero.
            assert!((b[0] + b[1] - b[2]).abs() < 1e-9 && (b[0] - b[3]).abs() < 1e-9, "{layout:?}: {b:?}");
            // And it fits as well as the two independent columns do.
            let two = Case { x: random(25, 2, 5), y: y.clone(), weights: None, alpha: 0.0, intercept: true };
            let reference = two.by_elimination();
            let fit = model.outputs(&x.features(), &Run::new()).unwrap();
            for i in 0..25 {
                let expected = reference[0][0] + reference[1][0] * x[(i, 0)] + reference[2][0] * x[(i, 1)];
                assert!((fit[(i, 0)] - expected).abs() < 1e-9);
            }
        });
    }
}

#[test]
fn wide_data_is_met_exactly_by_the_smallest_coefficients() {
    for intercept in [true, false] {
        let (x, y) = (random(6, 15, 3), random(6, 2, 4));
        let case = Case { x, y, weights: None, alpha: 0.0, intercept };
        // The smallest coefficients are the limit of ridge as alpha goes to zero.
        let limit = Case { x: case.x.clone(), y: case.y.clone(), weights: None, alpha: 1e-9, intercept };
        let expected = limit.by_elimination();
        for layout in LAYOUTS {
            let model = case.fit(layout, &Run::new());
            let fit = model.outputs(&case.x.features(), &Run::new()).unwrap();
            fit.values().iter().zip(case.y.values()).for_each(|(f, y)| assert!((f - y).abs() < 1e-8, "{layout:?}"));
            for j in 0..15 {
                let reference = expected[usize::from(intercept) + j][0];
                assert!((model.coefficients()[(j, 0)] - reference).abs() < 1e-5, "{layout:?}");
            }
        }
    }
}

#[test]
fn rows_that_alone_decide_a_direction_are_left_out_exactly() {
    let (narrow, wide) = (dependent(25), random(6, 15, 3));
    // A column that only one row has, and two equal rows in wide data (which make its system singular).
    let mut alone = dependent(25);
    (0..25).for_each(|i| alone[(i, 3)] = if i == 7 { 2.0 } else { 0.0 });
    let mut duplicates = wide.clone();
    let copy = duplicates.row(1).to_vec();
    duplicates.row_mut(4).copy_from_slice(&copy);
    for (x, name) in [(narrow, "narrow"), (alone, "alone"), (wide, "wide"), (duplicates, "duplicates")] {
        for weighted in [false, true] {
            let rows = x.rows();
            let weights = weighted.then(|| (0..rows).map(|i| 0.5 + (i % 4) as f64).collect());
            let case = Case { y: random(rows, 2, 8), x: x.clone(), weights, alpha: 0.0, intercept: true };
            let target = Target::numbers(case.y.clone()).unwrap();
            let examples = Examples::new(case.x.features(), &target, case.weights.as_deref()).unwrap();
            let settings = LeastSquares::default();
            let exact = settings.leave_one_out_examples(&examples, &Run::new()).unwrap().unwrap();
            let Prediction::Numbers(exact) = exact else { unreachable!() };
            let refitted = by_refitting(&settings, &case);
            for (found, expected) in exact.values().iter().zip(refitted.values()) {
                assert!((found - expected).abs() < 1e-7, "{name}, weights {weighted}: {found} against {expected}");
            }
        }
    }
}

#[test]
fn large_dependent_systems_take_the_road_of_pivots_and_are_left_out_exactly() {
    // 560 rows of which some are equal, and as many columns of which some are sums of others: both ways too large for
    // singular values. Checked by the normal equations, by the null space, and by refitting a few rows.
    for (rows, columns) in [(700, 560), (560, 700)] {
        let mut x = random(rows, columns, 51);
        for i in 0..rows {
            (0..20).for_each(|j| x[(i, columns - 1 - j)] = x[(i, j)] + x[(i, j + 20)]);
        }
        for k in 0..15 {
            let copy = x.row(k).to_vec();
            x.row_mut(rows - 1 - k).copy_from_slice(&copy);
        }
        let case = Case { y: random(rows, 1, 52), x, weights: None, alpha: 0.0, intercept: true };
        let target = Target::numbers(case.y.clone()).unwrap();
        for layout in [Layout::Rows, Layout::Sparse, Layout::Beside] {
            let model = case.fit(layout, &Run::new());
            let fit = model.outputs(&case.x.features(), &Run::new()).unwrap();
            for j in 0..columns {
                let slope: f64 = (0..rows).map(|i| case.x[(i, j)] * (case.y[(i, 0)] - fit[(i, 0)])).sum();
                assert!(slope.abs() < 1e-6, "{layout:?}, column {j}: {slope}");
            }
            for j in 0..20 {
                let b = |j: usize| model.coefficients()[(j, 0)];
                let along_null = b(j) + b(j + 20) - b(columns - 1 - j);
                assert!(along_null.abs() < 1e-7, "{layout:?}: {along_null}");
            }
            let exact = with_layout(&case.x, layout, |features| {
                let examples = Examples::new(features, &target, None).unwrap();
                LeastSquares::default().leave_one_out_examples(&examples, &Run::new()).unwrap().unwrap()
            });
            let Prediction::Numbers(exact) = exact else { unreachable!() };
            for i in [0, 3, rows / 2, rows - 2] {
                let others: Vec<usize> = (0..rows).filter(|&k| k != i).collect();
                let less = Case { x: case.x.take_rows(&others), y: case.y.take_rows(&others), weights: None, ..case };
                let refit = less.fit(Layout::Rows, &Run::new());
                let expected = refit.outputs(&case.x.take_rows(&[i]).features(), &Run::new()).unwrap()[(0, 0)];
                let found = exact[(i, 0)];
                assert!((found - expected).abs() < 1e-5 * (1.0 + expected.abs()), "row {i}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn coefficients_that_must_not_be_negative_meet_the_conditions_of_the_optimum() {
    let (x, y) = (random(40, 6, 21), random(40, 2, 22));
    let target = Target::numbers(y.clone()).unwrap();
    let examples = Examples::new(x.features(), &target, None).unwrap();
    let settings = Ridge { alpha: 0.5, positive: true, ..Ridge::default() };
    let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
    assert!(report.holds(), "{report:?}");
    let fit = model.outputs(&x.features(), &Run::new()).unwrap();
    let mut zeros = 0;
    for k in 0..2 {
        for j in 0..6 {
            let b = model.coefficients()[(j, k)];
            let slope = settings.alpha * b - (0..40).map(|i| x[(i, j)] * (y[(i, k)] - fit[(i, k)])).sum::<f64>();
            assert!(b >= 0.0);
            assert!(if b > 0.0 { slope.abs() < 1e-6 } else { slope > -1e-6 }, "b {b}, slope {slope}");
            zeros += usize::from(b == 0.0);
        }
    }
    assert!(zeros > 0, "the bound should matter in this test");
}

#[test]
fn large_means_cost_no_digits() {
    let small = random(60, 3, 31);
    let mut shifted = small.clone();
    shifted.values_mut().iter_mut().for_each(|value| *value += 1e7);
    let y = random(60, 1, 32);
    let fit = |x: &Matrix| {
        let case = Case { x: x.clone(), y: y.clone(), weights: None, alpha: 0.0, intercept: true };
        case.fit(Layout::Rows, &Run::new()).coefficients().clone()
    };
    for (a, b) in fit(&small).values().iter().zip(fit(&shifted).values()) {
        assert!((a - b).abs() < 1e-8, "{a} against {b}");
    }
}

#[test]
fn larger_systems_cross_every_block_and_agree_with_the_small_road() {
    // 700 columns take the wide road of products and several blocks of Cholesky; checked by the normal equations.
    for (rows, columns) in [(900, 700), (300, 1500)] {
        let (x, y) = (random(rows, columns, 41), random(rows, 1, 42));
        for layout in [Layout::Rows, Layout::Sparse, Layout::Beside] {
            let case = Case { x: x.clone(), y: y.clone(), weights: None, alpha: 1.0, intercept: true };
            let model = case.fit(layout, &Run::new());
            let fit = model.outputs(&x.features(), &Run::new()).unwrap();
            let residual: Vec<f64> = (0..rows).map(|i| y[(i, 0)] - fit[(i, 0)]).collect();
            assert!(residual.iter().sum::<f64>().abs() < 1e-7);
            for j in 0..columns {
                let slope = (0..rows).map(|i| x[(i, j)] * residual[i]).sum::<f64>() - model.coefficients()[(j, 0)];
                assert!(slope.abs() < 1e-7, "{layout:?}, column {j}: {slope}");
            }
        }
    }
}

#[test]
fn many_sparse_columns_are_solved_by_conjugate_gradients_to_the_same_answer() {
    // Texts of Zipf's kind: column j is in a row with a chance of about 3 / (j + 3).
    let (rows, columns) = (1300, 1100);
    let mut stream = Stream::new(5, 0);
    let lines: Vec<Vec<(u32, f64)>> = (0..rows)
        .map(|_| {
            let there: Vec<usize> = (0..columns).filter(|&j| stream.uniform() < 3.0 / (j as f64 + 3.0)).collect();
            there.into_iter().map(|j| (j as u32, 1.0 + stream.uniform())).collect()
        })
        .collect();
    let sparse = quince::matrix::Sparse::from_rows(columns, lines).unwrap();
    let mut dense = Matrix::zeros(rows, columns);
    for i in 0..rows {
        let (places, values) = sparse.row(i);
        places.iter().zip(values).for_each(|(&j, &x)| dense[(i, j as usize)] = x);
    }
    let beside = random(rows, 2, 9);
    let both = quince::matrix::Features::both(quince::matrix::Dense::F64(beside.view()), &sparse).unwrap();
    let mut all = Matrix::zeros(rows, columns + 2);
    for i in 0..rows {
        all.row_mut(i)[..2].copy_from_slice(beside.row(i));
        all.row_mut(i)[2..].copy_from_slice(dense.row(i));
    }
    let target = Target::numbers(random(rows, 2, 8)).unwrap();
    let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
    for (alpha, intercept, weights) in [(1.0, true, None), (30.0, true, Some(weights.as_slice())), (5.0, false, None)] {
        let ridge = Ridge { alpha, intercept, ..Ridge::default() };
        let fit =
            |features| ridge.fit_examples(&Examples::new(features, &target, weights).unwrap(), &Run::new()).unwrap();
        for (quick, direct) in [(sparse.features(), dense.features()), (both, all.features())] {
            let ((quick, report), (direct, _)) = (fit(quick), fit(direct));
            assert!(report.route.starts_with("conjugate gradients"), "{}", report.route);
            assert!(report.holds());
            let size = direct.coefficients().values().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (a, b) in quick.coefficients().values().iter().zip(direct.coefficients().values()) {
                assert!((a - b).abs() <= 1e-6 * size, "{a} {b}");
            }
            assert!(
                quick.intercept().iter().zip(direct.intercept()).all(|(a, b)| (a - b).abs() <= 1e-6 * (1.0 + b.abs()))
            );
        }
        let threads =
            ridge.fit_examples(&Examples::new(both, &target, weights).unwrap(), &Run::new().threads(2)).unwrap();
        assert_eq!(threads.0.coefficients(), fit(both).0.coefficients());
    }
    let error =
        LeastSquares::default().fit_examples(&Examples::new(sparse.features(), &target, None).unwrap(), &Run::new());
    assert!(error.is_ok(), "so few columns are solved without a penalty too");
}
