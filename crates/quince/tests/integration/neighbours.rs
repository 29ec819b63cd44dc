//! Neighbours against a reference that measures every pair and sorts: over shapes, layouts, metrics, ties, missing values and
//! threads.

use crate::clock::{budget_of_looks, check_heeds_cancel};
use crate::layouts::{LAYOUTS, Layout, random, with_layout};
use proptest::prelude::*;
use quince::learn::{Amount, Classes, Count, Examples, Fitted, Learner, Prediction, Target};
use quince::neighbours::{DistanceMetric, Index, Knn, Measure, Nearest, SearchMethod, Votes};
use quince::run::Stream;
use quince::{Matrix, Model, Run};

const METRICS: [DistanceMetric; 6] = [
    DistanceMetric::Euclidean,
    DistanceMetric::Manhattan,
    DistanceMetric::Minkowski,
    DistanceMetric::Chebyshev,
    DistanceMetric::Hamming,
    DistanceMetric::Cosine,
];

/// The formulas of the metrics, column by column; NaN is a missing value.
fn distance(measure: &Measure, x: &[f64], y: &[f64]) -> f64 {
    let weight = |j: usize| measure.weights.get(j).copied().unwrap_or(1.0);
    let common: Vec<usize> = (0..x.len()).filter(|&j| !x[j].is_nan() && !y[j].is_nan()).collect();
    let total: f64 = (0..x.len()).map(weight).sum();
    let present: f64 = common.iter().map(|&j| weight(j)).sum();
    if common.is_empty() || present == 0.0 {
        return f64::INFINITY;
    }
    let up = if common.len() < x.len() { total / present } else { 1.0 };
    let sum = |term: &dyn Fn(f64) -> f64| common.iter().map(|&j| weight(j) * term(x[j] - y[j])).sum::<f64>();
    match measure.metric {
        DistanceMetric::Euclidean => (up * sum(&|d| d * d)).sqrt(),
        DistanceMetric::Manhattan => up * sum(&f64::abs),
        DistanceMetric::Minkowski => (up * sum(&|d| d.abs().powf(measure.p))).powf(1.0 / measure.p),
        DistanceMetric::Chebyshev => common.iter().map(|&j| weight(j) * (x[j] - y[j]).abs()).fold(0.0, f64::max),
        DistanceMetric::Hamming => up * sum(&|d| f64::from(u8::from(d != 0.0))) / total,
        DistanceMetric::Cosine => {
            let product = |a: &[f64], b: &[f64]| common.iter().map(|&j| weight(j) * a[j] * b[j]).sum::<f64>();
            let (xx, yy) = (product(x, x), product(y, y));
            if xx == 0.0 || yy == 0.0 { 1.0 } else { (1.0 - product(x, y) / (xx.sqrt() * yy.sqrt())).max(0.0) }
        }
        other => panic!("{other:?} needs a definition here"),
    }
}

/// Every distance, sorted; ties by row number.
fn slow(measure: &Measure, rows: &Matrix, queries: &Matrix, k: usize, own: bool) -> Nearest {
    let mut nearest = Nearest { k, rows: Vec::new(), distances: Vec::new() };
    for q in 0..queries.rows() {
        let others = (0..rows.rows()).filter(|&i| !own || i != q);
        let mut all: Vec<(f64, u32)> =
            others.map(|i| (distance(measure, queries.row(q), rows.row(i)), i as u32)).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        nearest.rows.extend(all[..k].iter().map(|found| found.1));
        nearest.distances.extend(all[..k].iter().map(|found| found.0));
    }
    nearest
}

fn same(found: &Nearest, slow: &Nearest) {
    assert_eq!(found.rows, slow.rows);
    for (a, b) in found.distances.iter().zip(&slow.distances) {
        assert!(a == b || (a - b).abs() <= 1e-12 * (1.0 + b), "{a} {b}");
    }
}

/// Whole numbers from a small set, so that there are very many ties.
fn grid(rows: usize, columns: usize, values: usize, seed: u64) -> Matrix {
    let mut stream = Stream::new(seed, 3);
    Matrix::new(rows, columns, (0..rows * columns).map(|_| stream.below(values) as f64).collect()).unwrap()
}

#[test]
fn every_way_agrees_with_brute_force_on_ten_shapes_with_many_ties() {
    let shapes = [
        (1, 1, 2),
        (7, 1, 3),
        (70, 2, 3),
        (500, 3, 4),
        (900, 4, 2),
        (300, 8, 3),
        (200, 20, 2),
        (150, 60, 2),
        (90, 130, 3),
        (40, 500, 2),
    ];
    for (seed, (rows, columns, values)) in shapes.into_iter().enumerate() {
        let (rows, queries) = (grid(rows, columns, values, seed as u64), grid(61, columns, values, 99 - seed as u64));
        for k in [1, 5, 33] {
            let k = k.min(rows.rows());
            let measure = Measure::of(DistanceMetric::Euclidean);
            let expected = slow(&measure, &rows, &queries, k, false);
            for search in [SearchMethod::Auto, SearchMethod::Tree, SearchMethod::Product, SearchMethod::Direct] {
                for threads in [1, 2, 8] {
                    let run = Run::new().threads_exactly(threads);
                    let index = Index::new(&rows.features(), measure.clone(), search, &run).unwrap();
                    let found = index.nearest(&queries.features(), k, &run).unwrap();
                    assert_eq!(found, expected, "{search:?} {threads} {:?}", (rows.rows(), columns, k));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn neighbours_are_those_of_the_slow_twin(
        rows in 2usize..200, columns in 1usize..30, k in 1usize..12, seed in 0u64..1000, which in 0usize..6,
        weighted: bool, own: bool, layout in 0usize..LAYOUTS.len(),
    ) {
        let x = random(rows, columns, seed);
        let queries = if own { x.clone() } else { random(23, columns, seed + 7) };
        let mut weights: Vec<f64> = (0..columns).map(|j| [0.0, 0.5, 1.0, 4.0][(j + seed as usize) % 4]).collect();
        weights[0] = 2.0;
        let measure = Measure { metric: METRICS[which], p: 3.0, weights: if weighted { weights } else { Vec::new() } };
        let k = k.min(rows - 1);
        let expected = slow(&measure, &x, &queries, k, own);
        let layout = LAYOUTS[layout];
        with_layout(&x, layout, |features| {
            with_layout(&queries, layout, |asked| {
                let dense = !matches!(layout, Layout::Sparse | Layout::Beside);
                let sums = !matches!(measure.metric, DistanceMetric::Hamming | DistanceMetric::Cosine);
                let mut ways = vec![SearchMethod::Auto, SearchMethod::Direct];
                if dense && sums {
                    ways.push(SearchMethod::Tree);
                }
                if dense && matches!(measure.metric, DistanceMetric::Euclidean | DistanceMetric::Cosine) {
                    ways.push(SearchMethod::Product);
                }
                for search in ways {
                    let index = Index::new(&features, measure.clone(), search, &Run::new()).unwrap();
                    let all: Vec<usize> = (0..rows).collect();
                    let found = match own {
                        true => index.nearest_others(&all, k, &Run::new()).unwrap(),
                        false => index.nearest(&asked, k, &Run::new()).unwrap(),
                    };
                    if measure.metric == DistanceMetric::Cosine {
                        // Sums over columns that are zero in both rows may be rounded in another order.
                        found.distances.iter().zip(&expected.distances).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
                    } else {
                        same(&found, &expected);
                    }
                }
            })
        });
    }

    #[test]
    fn a_missing_value_leaves_its_column_out_and_scales_the_rest_up(
        rows in 2usize..80, columns in 1usize..9, seed in 0u64..1000, which in 0usize..6,
    ) {
        let mut stream = Stream::new(seed, 5);
        let mut with_missing = |mut x: Matrix| {
            x.values_mut().iter_mut().for_each(|x| if stream.below(4) == 0 { *x = f64::NAN });
            x
        };
        let (x, queries) = (with_missing(random(rows, columns, seed)), with_missing(random(17, columns, seed + 1)));
        let measure = Measure { metric: METRICS[which], p: 3.0, weights: Vec::new() };
        let k = rows.min(5);
        let index = Index::new(&x.features(), measure.clone(), SearchMethod::Auto, &Run::new()).unwrap();
        let found = index.nearest(&queries.features(), k, &Run::new()).unwrap();
        let expected = slow(&measure, &x, &queries, k, false);
        for (a, b) in found.distances.iter().zip(&expected.distances) {
            prop_assert!(a == b || (a - b).abs() < 1e-12 * (1.0 + b), "{} {}", a, b);
        }
    }
}

#[test]
fn rows_far_from_zero_and_of_any_size_keep_their_neighbours() {
    let base = random(300, 40, 8);
    for (offset, size) in [(0.0, 1e-150), (0.0, 1e150), (1e9, 1.0), (-1e12, 1e3), (0.0, 1e-300)] {
        let move_all = |m: &Matrix| {
            let values = m.values().iter().map(|x| offset + size * x).collect();
            Matrix::new(m.rows(), m.columns(), values).unwrap()
        };
        let (rows, queries) = (move_all(&base), move_all(&random(50, 40, 9)));
        let measure = Measure::of(DistanceMetric::Euclidean);
        let ask = |search| {
            let index = Index::new(&rows.features(), measure.clone(), search, &Run::new()).unwrap();
            index.nearest(&queries.features(), 4, &Run::new()).unwrap()
        };
        let direct = ask(SearchMethod::Direct);
        assert_eq!(ask(SearchMethod::Product), direct, "{offset} {size}");
        assert_eq!(ask(SearchMethod::Tree), direct, "{offset} {size}");
    }
    // A query far outside, where single precision sees nothing of the differences between rows.
    let far = Matrix::new(20, 40, vec![1e12; 800]).unwrap();
    let index =
        |search| Index::new(&base.features(), Measure::of(DistanceMetric::Euclidean), search, &Run::new()).unwrap();
    let ask = |search| index(search).nearest(&far.features(), 3, &Run::new()).unwrap();
    assert_eq!(ask(SearchMethod::Product), ask(SearchMethod::Direct));
    // A few rows far outside, and all the others asked: they keep what the product says about them.
    for away in [1e3, 1e6, 1e9] {
        let mut rows = base.clone();
        [7, 8, 150].iter().for_each(|i| rows.row_mut(*i)[i % 40] = away);
        let index =
            |search| Index::new(&rows.features(), Measure::of(DistanceMetric::Euclidean), search, &Run::new()).unwrap();
        let ask = |search| index(search).nearest(&rows.features(), 6, &Run::new()).unwrap();
        assert_eq!(ask(SearchMethod::Product), ask(SearchMethod::Direct), "{away}");
    }
}

#[test]
fn a_million_equal_rows_are_no_trouble() {
    let rows = Matrix::new(1_000_000, 2, vec![0.5; 2_000_000]).unwrap();
    let index =
        Index::new(&rows.features(), Measure::of(DistanceMetric::Euclidean), SearchMethod::Auto, &Run::new()).unwrap();
    let queries = Matrix::from_rows(&[[0.5, 0.5], [7.0, -1.0]]);
    let found = index.nearest(&queries.features(), 3, &Run::new()).unwrap();
    assert_eq!(found.rows, [0, 1, 2, 0, 1, 2]);
    assert_eq!(found.distances[..3], [0.0; 3]);
    let found = index.nearest_others(&[0, 1, 999_999], 3, &Run::new()).unwrap();
    assert_eq!(found.rows, [1, 2, 3, 0, 2, 3, 0, 1, 2]);
    // The same through the product, which has to settle every tie.
    let wide = Matrix::new(20_000, 30, vec![0.25; 600_000]).unwrap();
    let index =
        Index::new(&wide.features(), Measure::of(DistanceMetric::Euclidean), SearchMethod::Product, &Run::new())
            .unwrap();
    let found = index.nearest_others(&(0..40).collect::<Vec<_>>(), 2, &Run::new()).unwrap();
    assert_eq!(found.of(0).0, [1, 2]);
    assert_eq!(found.of(39).0, [0, 1]);
}

#[test]
fn one_row_and_one_neighbour() {
    let rows = Matrix::from_rows(&[[1.0, 2.0]]);
    let target = Target::numbers(Matrix::column_vector(vec![7.0])).unwrap();
    let model = Model::fit_features(&rows.features(), &target, None, &Knn::default(), &Run::new()).unwrap();
    let Prediction::Numbers(found) = model.predict_features(&rows.features(), &Run::new()).unwrap() else { panic!() };
    assert_eq!(found[(0, 0)], 7.0);
    let index = Index::new(&rows.features(), Measure::default(), SearchMethod::Auto, &Run::new()).unwrap();
    let error = index.nearest_others(&[0], 1, &Run::new()).unwrap_err();
    assert_eq!(error.to_string(), "setting 'k' cannot be 1 with 0 rows to choose from");
    let two = Knn { k: Count::Fixed(2), ..Knn::default() };
    let error = Model::fit_features(&rows.features(), &target, None, &two, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "setting 'k' cannot be 2 with 1 row to learn from");
    let infinite = Matrix::from_rows(&[[f64::INFINITY, 2.0]]);
    let error = Index::new(&infinite.features(), Measure::default(), SearchMethod::Auto, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "the features contain infinity: row 1, column 1");
}

#[test]
fn leave_one_out_is_what_refitting_gives() {
    let x = random(60, 3, 4);
    let classes = Classes::of(["a", "b", "c"]);
    let targets = [
        Target::classes(classes, (0..60).map(|i| (i * 7 % 3) as u32).collect()).unwrap(),
        Target::numbers(Matrix::new(60, 2, (0..120).map(|i| f64::from(i % 11)).collect()).unwrap()).unwrap(),
    ];
    for target in &targets {
        for (votes, weights) in [
            (Votes::Uniform, None),
            (Votes::Distance, Some((0..60).map(|i| 0.5 + f64::from(i % 4)).collect::<Vec<f64>>())),
        ] {
            let knn = Knn { k: Count::Fixed(4), votes, ..Knn::default() };
            let examples = Examples::new(x.features(), target, weights.as_deref()).unwrap();
            let exact = knn.leave_one_out_examples(&examples, &Run::new()).unwrap().unwrap();
            for i in 0..60 {
                let others: Vec<usize> = (0..60).filter(|&k| k != i).collect();
                let (rows, target) = (x.take_rows(&others), target.take(&others));
                let weights: Option<Vec<f64>> = weights.as_ref().map(|w| others.iter().map(|&k| w[k]).collect());
                let examples = Examples::new(rows.features(), &target, weights.as_deref()).unwrap();
                let (model, _) = knn.fit_examples(&examples, &Run::new()).unwrap();
                let one = x.take_rows(&[i]);
                let refitted = model.predict(&one.features(), &Run::new()).unwrap();
                let (a, b) = match (&exact, &refitted) {
                    (Prediction::Classes { probabilities: a, .. }, Prediction::Classes { probabilities: b, .. }) => {
                        (a, b)
                    }
                    (Prediction::Numbers(a), Prediction::Numbers(b)) => (a, b),
                    _ => panic!(),
                };
                assert_eq!(a.row(i), b.row(0), "row {i}");
            }
        }
    }
}

#[test]
fn ties_between_classes_go_to_the_first_and_no_probability_is_zero() {
    let x = Matrix::column_vector(vec![-1.0, 1.0, 5.0]);
    let classes = Classes::of(["a", "b", "c"]);
    let target = Target::classes(classes, vec![1, 0, 2]).unwrap();
    let examples = Examples::new(x.features(), &target, None).unwrap();
    let knn = Knn { k: Count::Fixed(2), smoothing: Amount::Fixed(1.0), ..Knn::default() };
    let (model, _) = knn.fit_examples(&examples, &Run::new()).unwrap();
    let at = Matrix::column_vector(vec![0.0]);
    let prediction = model.predict(&at.features(), &Run::new()).unwrap();
    assert_eq!(prediction.labels(), [0]);
    let Prediction::Classes { probabilities, .. } = prediction else { panic!() };
    // Two votes and one more for all three: (1 + 1/3)/3, (1 + 1/3)/3, (1/3)/3.
    let expected = [4.0 / 9.0, 4.0 / 9.0, 1.0 / 9.0];
    probabilities.row(0).iter().zip(expected).for_each(|(p, e)| assert!((p - e).abs() < 1e-15));
    // A row without weight is no neighbour.
    let examples = Examples::new(x.features(), &target, Some(&[1.0, 0.0, 1.0])).unwrap();
    let (model, _) = Knn { k: Count::Fixed(1), ..Knn::default() }.fit_examples(&examples, &Run::new()).unwrap();
    assert_eq!(model.predict(&Matrix::column_vector(vec![1.0]).features(), &Run::new()).unwrap().labels(), [1]);
}

#[test]
fn dense_rows_answer_sparse_queries_and_the_other_way_round() {
    let (x, queries) = (random(60, 7, 3), random(20, 7, 4));
    let expected = slow(&Measure::default(), &x, &queries, 3, false);
    for of_rows in LAYOUTS {
        for of_queries in LAYOUTS {
            with_layout(&x, of_rows, |rows| {
                with_layout(&queries, of_queries, |asked| {
                    let index = Index::new(&rows, Measure::default(), SearchMethod::Auto, &Run::new()).unwrap();
                    same(&index.nearest(&asked, 3, &Run::new()).unwrap(), &expected);
                });
            });
        }
    }
    let missing = quince::matrix::Sparse::from_rows(2, [vec![(1, f64::NAN)]]).unwrap();
    let error = Index::new(&missing.features(), Measure::default(), SearchMethod::Auto, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "the features contain NaN: row 1, column 2");
}

#[test]
fn every_search_heeds_a_cancel_and_is_never_silent_for_long() {
    // Each takes many seconds if it is not stopped; one query alone, too.
    let cases = [
        (SearchMethod::Tree, 300_000, 14, 60_000),
        (SearchMethod::Product, 60_000, 150, 60_000),
        (SearchMethod::Direct, 100_000, 60, 20_000),
        (SearchMethod::Direct, 400_000, 60, 9),
    ];
    for (search, rows, columns, queries) in cases {
        let mut stream = Stream::new(5, 0);
        let mut numbers = |count: usize| (0..count).map(|_| stream.uniform()).collect::<Vec<f64>>();
        let rows = Matrix::new(rows, columns, numbers(rows * columns)).unwrap();
        let queries = Matrix::new(queries, columns, numbers(queries * columns)).unwrap();
        let index = Index::new(&rows.features(), Measure::of(DistanceMetric::Euclidean), search, &Run::new()).unwrap();
        check_heeds_cancel(8, &format!("{search:?}"), |run| index.nearest(&queries.features(), 3, run).err());
        let run = budget_of_looks(4);
        assert_eq!(index.nearest(&queries.features(), 3, &run).unwrap_err().code(), "out-of-time");
    }
}

#[test]
fn numbers_too_large_to_measure_are_refused_with_their_place() {
    let rows = Matrix::from_rows(&[[1.0, 2.0], [3.0, 1e200]]);
    let refused = |metric: DistanceMetric, p: f64| {
        let measure = Measure { p, ..Measure::of(metric) };
        Index::new(&rows.features(), measure, SearchMethod::Auto, &Run::new()).err().map(|error| error.to_string())
    };
    let problem = "1e200 in row 2, column 2 is too large to measure distances";
    for metric in [DistanceMetric::Euclidean, DistanceMetric::Cosine, DistanceMetric::Minkowski] {
        assert_eq!(refused(metric, 3.0).as_deref(), Some(problem), "{metric:?}");
    }
    for metric in [DistanceMetric::Manhattan, DistanceMetric::Chebyshev, DistanceMetric::Hamming] {
        assert_eq!(refused(metric, 3.0), None, "{metric:?}");
    }
    assert_eq!(refused(DistanceMetric::Minkowski, 51.0).as_deref(), Some("setting 'p' cannot be 51"));
    // In a query, too.
    let small = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
    let index =
        Index::new(&small.features(), Measure::of(DistanceMetric::Euclidean), SearchMethod::Auto, &Run::new()).unwrap();
    assert_eq!(index.nearest(&rows.features(), 1, &Run::new()).unwrap_err().to_string(), problem);
}

#[test]
fn large_numbers_that_pass_give_finite_distances() {
    // The square of twice 2e153 still fits into f64.
    let rows = Matrix::from_rows(&[[2e153, 0.0], [-2e153, 0.0], [0.0, 1e150]]);
    for search in [SearchMethod::Tree, SearchMethod::Product, SearchMethod::Direct] {
        let index = Index::new(&rows.features(), Measure::of(DistanceMetric::Euclidean), search, &Run::new()).unwrap();
        let many = Matrix::new(20, 2, rows.row(0).repeat(20)).unwrap();
        let found = index.nearest(&many.features(), 3, &Run::new()).unwrap();
        assert_eq!(found.of(0).0, [0, 2, 1], "{search:?}");
        assert_eq!(found.of(0).1[2], 4e153);
    }
}

#[test]
fn one_query_against_very_many_rows_is_divided_and_still_exact() {
    let mut stream = Stream::new(8, 0);
    let rows = Matrix::new(5000, 3, (0..15_000).map(|_| stream.below(20) as f64).collect()).unwrap();
    let query = Matrix::from_rows(&[[10.0, 3.0, 7.0]]);
    let measure = Measure::of(DistanceMetric::Hamming);
    for threads in [1, 2, 8] {
        let run = Run::new().threads_exactly(threads);
        let index = Index::new(&rows.features(), measure.clone(), SearchMethod::Direct, &run).unwrap();
        same(&index.nearest(&query.features(), 40, &run).unwrap(), &slow(&measure, &rows, &query, 40, false));
    }
}

/// Dense columns with sparse ones beside them, or sparse ones alone.
fn beside<'a>(dense: &'a Matrix, sparse: &'a quince::matrix::Sparse) -> quince::matrix::Features<'a> {
    match dense.columns() {
        0 => sparse.features(),
        _ => quince::matrix::Features::both(quince::matrix::Dense::F64(dense.view()), sparse).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Few words of few counts: many ties, empty rows, and rows that share nothing.
    #[test]
    fn sparse_rows_find_the_same_neighbours_by_their_shared_entries(
        rows in 2usize..80, columns in 1usize..30, dense in 0usize..3, k in 1usize..6, metric in 0usize..2, seed in 0u64..999,
    ) {
        let mut stream = Stream::new(seed, 0);
        let mut some = |count: usize, size: f64| -> (Matrix, quince::matrix::Sparse) {
            let left = Matrix::new(count, dense, (0..count * dense).map(|_| stream.below(3) as f64).collect()).unwrap();
            let mut row = || -> Vec<(u32, f64)> {
                (0..stream.below(5)).map(|_| (stream.below(columns) as u32, size * (1 + stream.below(3)) as f64)).collect()
            };
            (left, quince::matrix::Sparse::from_rows(columns, (0..count).map(|_| row())).unwrap())
        };
        let ((left, right), (more, far)) = (some(rows, 1.0), some(7, 1000.0));
        let metric = [DistanceMetric::Euclidean, DistanceMetric::Cosine][metric];
        let weights = if seed % 2 == 0 { Vec::new() } else { (0..dense + columns).map(|j| (j % 3) as f64 + 0.5).collect() };
        let measure = Measure { weights, ..Measure::of(metric) };
        let (x, queries, k) = (beside(&left, &right), beside(&more, &far), k.min(rows - 1));
        let index = |search| Index::new(&x, measure.clone(), search, &Run::new()).unwrap();
        let (quick, direct) = (index(SearchMethod::Auto), index(SearchMethod::Direct));
        prop_assert_eq!(quick.search(), SearchMethod::Product);
        for of in [&x, &queries] {
            let ask = |index: &Index| index.nearest(of, k, &Run::new()).unwrap();
            prop_assert_eq!(ask(&quick), ask(&direct));
        }
        let others: Vec<usize> = (0..rows).collect();
        let ask = |index: &Index, threads| index.nearest_others(&others, k, &Run::new().threads_exactly(threads)).unwrap();
        prop_assert_eq!(ask(&quick, 1), ask(&direct, 1));
        prop_assert_eq!(ask(&quick, 3), ask(&direct, 2));
    }
}
