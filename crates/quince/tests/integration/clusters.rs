//! k-means against a reference that measures every pair: over shapes, layouts, weights, ties, duplicates and threads.

use crate::clock::{budget_of_looks, cpu_time};
use crate::layouts::{LAYOUTS, random, with_layout};
use proptest::prelude::*;
use quince::cluster::{Algorithm, KMeans, KMeansInit, MiniBatchUpdates, silhouette};
use quince::learn::{Count, Prediction, Target};
use quince::matrix::{Features, Sparse};
use quince::run::{StopReason, Stream};
use quince::{Matrix, Model, Run};
use std::time::Duration;

const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Lloyd, Algorithm::Sequential, Algorithm::MiniBatch, Algorithm::Bisecting];

fn fixed(k: usize) -> KMeans {
    KMeans { k: Count::Fixed(k), tolerance: 0.0, ..KMeans::default() }
}

fn square(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// What Lloyd's iteration found by its definition.
struct Reference {
    labels: Vec<u32>,
    centres: Matrix,
    error: f64,
    rounds: usize,
    /// Whether two centres were as near to a row, or two rows as far from their centre, up to rounding: the order in
    /// which a mean is added up then decides where the iteration goes.
    tied: bool,
}

/// Lloyd's iteration by its definition; an empty cluster takes the row furthest from its centre.
fn reference(rows: &Matrix, weights: &[f64], start: &Matrix, steps: usize) -> Reference {
    let (n, d, k) = (rows.rows(), rows.columns(), start.rows());
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
    let mut centres = start.clone();
    let mut tied = false;
    let distances =
        |i: usize, centres: &Matrix| -> Vec<f64> { (0..k).map(|c| square(rows.row(i), centres.row(c))).collect() };
    let nearest = |i: usize, centres: &Matrix| {
        let distances = distances(i, centres);
        (0..k).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap()
    };
    let tied_at = |i: usize, centres: &Matrix| {
        let (first, distances) = (nearest(i, centres), distances(i, centres));
        (0..k).any(|c| c != first && near(distances[c], distances[first]))
    };
    let mut labels = vec![usize::MAX; n];
    let mut rounds = 0;
    for _ in 0..steps {
        rounds += 1;
        // The first centres are rows, and all numbers are multiples of 1/16: their distances are exact, and so are ties.
        tied |= rounds > 1 && (0..n).any(|i| tied_at(i, &centres));
        let mut next: Vec<usize> = (0..n).map(|i| nearest(i, &centres)).collect();
        let settled = next == labels;
        for c in 0..k {
            if !next.contains(&c) {
                let away = |i: usize| square(rows.row(i), centres.row(next[i]));
                let alone = |i: usize| next.iter().filter(|&&label| label == next[i]).count() == 1;
                let mut far: Vec<usize> = (0..n).filter(|&i| away(i) > 0.0 && weights[i] > 0.0 && !alone(i)).collect();
                // Rows that were moved into an empty cluster before are at its centre now.
                far.retain(|&i| nearest(i, &centres) == next[i]);
                far.sort_by(|&a, &b| away(b).total_cmp(&away(a)).then(a.cmp(&b)));
                tied |= rounds > 1 && far.len() > 1 && near(away(far[0]), away(far[1]));
                if let Some(&i) = far.first() {
                    next[i] = c;
                }
            }
        }
        labels = next;
        let before = centres.clone();
        for c in 0..k {
            let members: Vec<usize> = (0..n).filter(|&i| labels[i] == c).collect();
            let size: f64 = members.iter().map(|&i| weights[i]).sum();
            if size > 0.0 {
                for j in 0..d {
                    centres[(c, j)] = members.iter().map(|&i| weights[i] * rows[(i, j)]).sum::<f64>() / size;
                }
            }
        }
        // Done when no row changes its cluster, or no centre moves.
        let still = before.values().iter().zip(centres.values()).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a.abs()));
        if settled || still {
            break;
        }
    }
    tied |= (0..n).any(|i| tied_at(i, &centres));
    let labels: Vec<usize> = (0..n).map(|i| nearest(i, &centres)).collect();
    let error = (0..n).map(|i| weights[i] * square(rows.row(i), centres.row(labels[i]))).sum();
    Reference { labels: labels.into_iter().map(|label| label as u32).collect(), centres, error, rounds, tied }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn lloyd_agrees_with_its_definition_wherever_no_tie_decides(
        rows in 1usize..300, columns in 1usize..8, wide: bool, k in 1usize..9, seed in 0u64..1000,
        weighted: bool, layout in 0usize..LAYOUTS.len(), far: bool,
    ) {
        // Many columns take the way with a bound for each centre.
        let columns = if wide { columns + 64 } else { columns };
        let k = k.min(rows);
        let mut x = random(rows, columns, seed);
        if far {
            x.values_mut().iter_mut().for_each(|x| if *x != 0.0 { *x += 4096.0 });
        }
        let weights: Vec<f64> = (0..rows).map(|i| if weighted { [1.0, 0.5, 3.0, 2.0][i % 4] } else { 1.0 }).collect();
        let start = x.take_rows(&(0..k).map(|c| c * rows / k).collect::<Vec<_>>());
        let expected = reference(&x, &weights, &start, 50);
        let settings = KMeans { steps: 50, ..fixed(k) };
        with_layout(&x, LAYOUTS[layout], |features| {
            let given = weighted.then_some(weights.as_slice());
            let found = settings.cluster_from(features, given, &start, &Run::new()).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs()) * if far { 1e4 } else { 1.0 };
            if !expected.tied {
                assert_eq!(found.labels, expected.labels);
                assert_eq!(found.report.trace.len(), expected.rounds);
                assert!(close(found.model.error(), expected.error), "{} {}", found.model.error(), expected.error);
                let centres = found.model.centres().values().iter().zip(expected.centres.values());
                centres.for_each(|(a, b)| assert!(close(*a, *b)));
            }
            let trace = &found.report.trace;
            assert!(trace.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9 * (1.0 + trace[0])), "{trace:?}");
        });
    }
}

/// Labels and centres, bit by bit, for every algorithm on one, two and eight threads.
#[test]
fn every_algorithm_gives_the_same_bits_on_any_number_of_threads() {
    for (rows, columns) in [(9000, 3), (5000, 80)] {
        let x = random(rows, columns, 2);
        for algorithm in ALGORITHMS {
            let settings = KMeans { algorithm, restarts: 2, steps: 20, ..fixed(5) };
            let on = |threads: usize| {
                let found = settings.cluster(x.features(), None, &Run::new().threads(threads)).unwrap();
                let bits: Vec<u64> = found.model.centres().values().iter().map(|x| x.to_bits()).collect();
                (found.labels, bits, found.report)
            };
            let one = on(1);
            assert!(one == on(2) && one == on(8), "{algorithm:?}");
        }
    }
}

#[test]
fn a_weight_of_two_is_a_row_that_is_there_twice() {
    let x = random(80, 3, 6);
    let weights: Vec<f64> = (0..80).map(|i| f64::from(1 + i % 3)).collect();
    let repeated: Vec<usize> = (0..80).flat_map(|i| vec![i; 1 + i % 3]).collect();
    let start = x.take_rows(&[0, 1, 2, 3]);
    let by_weight = fixed(4).cluster_from(x.features(), Some(&weights), &start, &Run::new()).unwrap();
    let twice = x.take_rows(&repeated);
    let by_rows = fixed(4).cluster_from(twice.features(), None, &start, &Run::new()).unwrap();
    assert!((by_weight.model.error() - by_rows.model.error()).abs() < 1e-9 * by_rows.model.error());
    for (place, &i) in repeated.iter().enumerate() {
        assert_eq!(by_rows.labels[place], by_weight.labels[i]);
    }
}

#[test]
fn a_million_equal_rows_one_row_and_more_clusters_than_different_rows() {
    let equal = Matrix::new(1_000_000, 2, vec![3.5; 2_000_000]).unwrap();
    for k in [1, 3] {
        let found = fixed(k).cluster(equal.features(), None, &Run::new()).unwrap();
        assert_eq!(found.model.error(), 0.0);
        assert!(found.labels.iter().all(|&label| label == 0));
        assert_eq!(found.model.sizes()[0], 1e6);
    }
    let one = Matrix::from_rows(&[[2.0, -1.0]]);
    let found = KMeans::default().cluster(one.features(), None, &Run::new()).unwrap();
    assert_eq!((found.labels.as_slice(), found.model.centres().row(0)), (&[0][..], &[2.0, -1.0][..]));
    // Four rows, two of them different, four clusters: two stay empty, and the report says so.
    let few = Matrix::column_vector(vec![1.0, 1.0, 5.0, 5.0]);
    for algorithm in ALGORITHMS {
        for start in [KMeansInit::PlusPlus, KMeansInit::Random] {
            let settings = KMeans { algorithm, start, ..fixed(4) };
            let found = settings.cluster(few.features(), None, &Run::new()).unwrap();
            assert_eq!(found.model.error(), 0.0, "{algorithm:?} {start:?}");
            assert_eq!(found.labels[0], found.labels[1]);
            assert_ne!(found.labels[0], found.labels[2]);
            let remark = "2 of 4 clusters are empty: there are not as many different rows";
            assert_eq!(found.report.remarks[0], remark, "{algorithm:?}");
            assert!(found.report.holds());
        }
    }
    let auto = KMeans::default().cluster(few.features(), None, &Run::new()).unwrap();
    assert_eq!(auto.choice.unwrap().by_silhouette, 2);
    let error = fixed(5).cluster(few.features(), None, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "setting 'k' cannot be 5 with 4 rows");
}

#[test]
fn numbers_of_any_size_are_clustered_alike() {
    let base = random(200, 3, 3);
    let start = [0, 50, 120];
    let expected = fixed(3).cluster_from(base.features(), None, &base.take_rows(&start), &Run::new()).unwrap();
    for size in [1e-160, 1e-30, 1e12, 1e150] {
        let values = base.values().iter().map(|x| x * size).collect();
        let x = Matrix::new(200, 3, values).unwrap();
        let found = fixed(3).cluster_from(x.features(), None, &x.take_rows(&start), &Run::new()).unwrap();
        assert_eq!(found.labels, expected.labels, "{size}");
    }
}

#[test]
fn greedy_plus_plus_starts_better_than_chance() {
    let mut stream = Stream::new(1, 0);
    let rows: Vec<[f64; 2]> = (0..600)
        .map(|i| [f64::from(i % 12) * 10.0 + stream.uniform(), f64::from(i % 5) * 10.0 + stream.uniform()])
        .collect();
    let x = Matrix::from_rows(&rows);
    let mean_error = |start: KMeansInit| -> f64 {
        let settings = KMeans { start, restarts: 1, ..fixed(60) };
        (0..8).map(|seed| settings.cluster(x.features(), None, &Run::new().seed(seed)).unwrap().model.error()).sum()
    };
    assert!(mean_error(KMeansInit::PlusPlus) < 0.5 * mean_error(KMeansInit::Random));
}

#[test]
fn batches_of_a_stream_come_near_the_clusters_of_all_rows() {
    let mut stream = Stream::new(9, 0);
    let rows: Vec<[f64; 2]> = (0..3000)
        .map(|i| [f64::from(i % 3) * 20.0 + stream.uniform(), f64::from(i % 3) * -7.0 + stream.uniform()])
        .collect();
    let x = Matrix::from_rows(&rows);
    let mut batches = MiniBatchUpdates::new(x.take_rows(&[0, 1, 2]));
    for first in (0..3000).step_by(100) {
        let batch = x.take_rows(&(first..first + 100).collect::<Vec<_>>());
        batches.learn(batch.features(), None, &Run::new()).unwrap();
    }
    assert_eq!(batches.sizes, [1000.0; 3]);
    // Far apart, every row is given to the same centre all the time: the centres are the means.
    for c in 0..3 {
        for j in 0..2 {
            let mean = (0..1000).map(|i| x[(3 * i + c, j)]).sum::<f64>() / 1000.0;
            assert!((batches.centres[(c, j)] - mean).abs() < 1e-9);
        }
    }
    let settings = KMeans { algorithm: Algorithm::MiniBatch, batch: 64, ..fixed(3) };
    let found = settings.cluster(x.features(), None, &Run::new()).unwrap();
    let whole = fixed(3).cluster(x.features(), None, &Run::new()).unwrap();
    assert!(found.model.error() < 1.01 * whole.model.error());
}

#[test]
fn bisecting_lowers_the_error_with_every_bisection_and_predicts_what_it_found() {
    let x = random(400, 4, 8);
    let settings = KMeans { algorithm: Algorithm::Bisecting, ..fixed(7) };
    let found = settings.cluster(x.features(), None, &Run::new()).unwrap();
    assert!(found.report.trace.windows(2).all(|pair| pair[1] < pair[0]));
    assert_eq!(found.report.trace.len(), 7);
    let (labels, error) = found.model.assign(&x.features(), None, &Run::new()).unwrap();
    assert_eq!(labels, found.labels);
    assert!((error - found.model.error()).abs() < 1e-9 * error);
}

#[test]
fn a_budget_returns_the_best_so_far_and_says_so() {
    let x = random(60_000, 30, 1);
    let settings = KMeans { steps: 100_000, restarts: 1000, ..fixed(40) };
    let run = budget_of_looks(100);
    let found = settings.cluster_from(x.features(), None, &x.take_rows(&(0..40).collect::<Vec<_>>()), &run).unwrap();
    assert_eq!(found.report.stop, StopReason::Budget);
    assert_eq!(found.labels.len(), 60_000);
}

#[test]
fn a_table_is_clustered_saved_and_asked_again() {
    let table = crate::example("iris.csv").without(&["species"]);
    let unsupervised = table.unsupervised(None, &[]).unwrap();
    for algorithm in [Algorithm::Lloyd, Algorithm::Bisecting] {
        let settings = KMeans { algorithm, ..fixed(3) };
        let model = Model::fit(&unsupervised.labelled, None, &settings, &Run::new()).unwrap();
        let Prediction::Clusters { labels, distances } = model.predict(&table).unwrap() else { panic!() };
        assert_eq!((labels.len(), distances.columns()), (150, 3));
        let again = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(again.predict(&table).unwrap(), Prediction::Clusters { labels, distances });
    }
    let error = Model::train(&crate::example("iris.csv"), "species", &fixed(3)).err().unwrap();
    assert_eq!(error.to_string(), "'kmeans' does not learn classes");
}

#[test]
fn bad_input_gets_a_sentence() {
    let x = Matrix::from_rows(&[[1.0, f64::NAN], [0.0, 1.0]]);
    let sentence = |settings: &KMeans, features: Features<'_>| {
        settings.cluster(features, None, &Run::new()).err().unwrap().to_string()
    };
    assert_eq!(sentence(&fixed(1), x.features()), "the features contain NaN: row 1, column 2");
    assert_eq!(sentence(&fixed(1), Matrix::zeros(0, 2).features()), "there are no rows to cluster");
    assert_eq!(sentence(&fixed(1), Matrix::zeros(2, 0).features()), "the rows have no columns");
    let fine = random(10, 2, 1);
    let wrong = fixed(2).cluster_from(fine.features(), None, &Matrix::zeros(2, 3), &Run::new()).err().unwrap();
    assert_eq!(wrong.to_string(), "2 centres of 3 numbers do not fit rows of 2");
    let one = silhouette(&fine.features(), &[0; 10], &Run::new()).unwrap_err();
    assert_eq!(one.to_string(), "silhouettes need from 2 to 9 clusters, and there are 1");
    let target = Target::none(10);
    let ridge = quince::linear::Ridge::default();
    let error = Model::fit_features(&fine.features(), &target, None, &ridge, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "'ridge' does not learn groups");
}

#[test]
fn an_outlier_that_comes_and_goes_leaves_nothing_behind() {
    let mut values = vec![5.0; 100];
    values[0] = 1e18;
    let x = Matrix::column_vector(values);
    let start = Matrix::column_vector(vec![5.0, -1e19]);
    let found = fixed(2).cluster_from(x.features(), None, &start, &Run::new()).unwrap();
    assert_eq!((found.model.error(), found.model.centres().values()), (0.0, &[5.0, 1e18][..]));
}

#[test]
fn a_row_without_weight_keeps_no_cluster_alive() {
    let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 3.0, 100.0]);
    let start = Matrix::column_vector(vec![1.0, 100.0]);
    let weights = [1.0, 1.0, 1.0, 1.0, 0.0];
    let found = fixed(2).cluster_from(x.features(), Some(&weights), &start, &Run::new()).unwrap();
    // {0, 1, 2} and {3}, or {0} and {1, 2, 3}, or two and two: never five.
    assert!(found.model.error() <= 2.0, "{}", found.model.error());
}

#[test]
fn equal_rows_whose_mean_is_rounded_leave_clusters_empty_and_settle() {
    let x = Matrix::column_vector((0..20).map(|i| if i < 10 { 0.1 } else { 0.7 }).collect());
    let found = fixed(5).cluster(x.features(), None, &Run::new()).unwrap();
    assert_eq!(found.report.stop, StopReason::Converged);
    assert!(found.model.error() < 1e-28, "{}", found.model.error());
    assert!(found.report.trace.len() < 20, "{:?}", found.report.trace);
}

#[test]
fn rows_far_from_zero_and_centres_far_from_the_rows_are_told_apart() {
    let base = random(300, 2, 5);
    let start = [0, 100, 200];
    let expected = fixed(3).cluster_from(base.features(), None, &base.take_rows(&start), &Run::new()).unwrap();
    for offset in [1e9, 1e11] {
        let x = Matrix::new(300, 2, base.values().iter().map(|x| x + offset).collect()).unwrap();
        let found = fixed(3).cluster_from(x.features(), None, &x.take_rows(&start), &Run::new()).unwrap();
        assert!((found.model.error() - expected.model.error()).abs() < 1e-6 * expected.model.error(), "{offset}");
    }
    // Rows far outside, with centres of their own; in few columns and in many the bounds are others.
    for (columns, away) in [(3, 1e3), (3, 1e6), (80, 1e3), (80, 1e6)] {
        let mut x = random(2000, columns, 6);
        [5, 900].iter().for_each(|i| x.row_mut(*i)[1] = away * *i as f64);
        let start = x.take_rows(&[5, 900, 1, 2, 3, 4, 1000]);
        let found = fixed(7).cluster_from(x.features(), None, &start, &Run::new()).unwrap();
        let expected = reference(&x, &vec![1.0; 2000], &start, 300);
        assert_eq!(found.labels, expected.labels, "{columns} {away}");
        assert!((found.model.error() - expected.error).abs() <= 1e-9 * expected.error, "{columns} {away}");
    }
    // Centres that single precision cannot square.
    let far = Matrix::column_vector(vec![2e22, 1e22]);
    let found = fixed(2).cluster_from(far.features(), None, &far, &Run::new()).unwrap();
    let near = Matrix::column_vector(vec![1.0, 2.0, 3.0]);
    assert_eq!(found.model.assign(&near.features(), None, &Run::new()).unwrap().0, [1, 1, 1]);
    let huge = Matrix::column_vector(vec![1e160, -1e160, 0.0]);
    let error = fixed(2).cluster(huge.features(), None, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "the features are too large to be added up");
}

#[test]
fn any_budget_returns_an_answer_for_every_algorithm() {
    let x = random(20_000, 6, 1);
    for algorithm in ALGORITHMS {
        for k in [Count::Fixed(8), Count::Auto] {
            for looks in [0, 5, 60] {
                let settings = KMeans { algorithm, k, restarts: 50, ..KMeans::default() };
                let run = budget_of_looks(looks);
                let found = settings.cluster(x.features(), None, &run).unwrap();
                assert_eq!(found.labels.len(), 20_000, "{algorithm:?} {k:?} {looks}");
                if looks == 0 {
                    let said = found.report.remarks.iter().any(|remark| remark.starts_with("the budget ran out"));
                    assert!(said, "{algorithm:?} {k:?}: {:?}", found.report.remarks);
                }
            }
        }
    }
}

#[test]
fn silhouettes_take_labels_of_any_size() {
    let x = random(30, 2, 7);
    let plain: Vec<u32> = (0..30).map(|i| i % 3).collect();
    let strange: Vec<u32> = plain.iter().map(|label| [5, 70_000, u32::MAX][*label as usize]).collect();
    let of = |labels: &[u32]| silhouette(&x.features(), labels, &Run::new()).unwrap();
    assert_eq!(of(&plain), of(&strange));
}

/// Every row to its nearest centre, every centre to the mean of its rows: the error after that, and the nearest centres.
fn after_another_round(rows: &Matrix, weights: &[f64], centres: &Matrix) -> (f64, Vec<u32>) {
    let (n, d, k) = (rows.rows(), rows.columns(), centres.rows());
    let distance = |i: usize, c: usize| square(rows.row(i), centres.row(c));
    let nearest = |i: usize| (0..k).min_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b))).unwrap();
    let labels: Vec<usize> = (0..n).map(nearest).collect();
    let (mut sums, mut sizes) = (Matrix::zeros(k, d), vec![0.0; k]);
    for (i, &c) in labels.iter().enumerate() {
        sizes[c] += weights[i];
        (0..d).for_each(|j| sums[(c, j)] += weights[i] * rows[(i, j)]);
    }
    let error = |(i, &c): (usize, &usize)| -> f64 {
        weights[i] * (0..d).map(|j| (rows[(i, j)] - sums[(c, j)] / sizes[c]).powi(2)).sum::<f64>()
    };
    let after = labels.iter().enumerate().filter(|(i, _)| weights[*i] > 0.0).map(error).sum();
    (after, labels.into_iter().map(|label| label as u32).collect())
}

#[test]
fn the_certificate_is_what_another_round_would_take_off() {
    // One step from 10, 17, 19 leaves the centres 10, 49/3, 19 and E = 62/9; the next takes it to 5, as the reference numbers say.
    let rows = Matrix::column_vector(vec![10.0, 14.0, 17.0, 18.0, 19.0]);
    let start = Matrix::column_vector(vec![10.0, 17.0, 19.0]);
    let step = KMeans { steps: 1, ..fixed(3) };
    let found = step.cluster_from(rows.features(), None, &start, &Run::new()).unwrap();
    let certificate = found.report.certificate.clone().unwrap();
    assert!((found.model.error() - 62.0 / 9.0).abs() < 1e-12);
    assert!((certificate.value - 17.0 / 62.0).abs() < 1e-12, "{certificate:?}");
    assert!(!found.report.holds());
    let weights: Vec<f64> = (0..500).map(|i| [1.0, 2.0, 0.0, 0.5][i % 4]).collect();
    let x = random(500, 3, 4);
    for (algorithm, polish) in [
        (Algorithm::Lloyd, false),
        (Algorithm::Lloyd, true),
        (Algorithm::Sequential, false),
        (Algorithm::MiniBatch, false),
    ] {
        for steps in [1, 2, 300] {
            let settings = KMeans { algorithm, polish, steps, batch: 100, restarts: 1, ..fixed(6) };
            let found = settings.cluster(x.features(), Some(&weights), &Run::new()).unwrap();
            let (after, nearest) = after_another_round(&x, &weights, found.model.centres());
            let expected = (found.model.error() - after) / found.model.error();
            let value = found.report.certificate.as_ref().unwrap().value;
            assert!((value - expected).abs() < 1e-9, "{algorithm:?} {polish} {steps}: {value} {expected}");
            // A row without weight is where a new row like it would go.
            let weightless = (2..500).step_by(4);
            weightless.for_each(|i| assert_eq!(found.labels[i], nearest[i], "{algorithm:?} {polish} {steps} {i}"));
            if steps == 300 && algorithm != Algorithm::MiniBatch {
                assert!(value < 1e-12 && found.report.holds() && found.report.stop == StopReason::Converged, "{value}");
            }
        }
    }
    let halved = KMeans { algorithm: Algorithm::Bisecting, ..fixed(6) };
    let found = halved.cluster(x.features(), Some(&weights), &Run::new()).unwrap();
    assert!(found.report.certificate.as_ref().unwrap().value < 1e-12);
}

#[test]
fn one_row_at_a_time_lowers_the_error_in_every_round() {
    let x = random(800, 3, 12);
    let settings = KMeans { algorithm: Algorithm::Sequential, restarts: 1, ..fixed(9) };
    let found = settings.cluster(x.features(), None, &Run::new()).unwrap();
    let trace = &found.report.trace;
    assert!(trace.len() > 2 && trace.windows(2).all(|pair| pair[1] <= pair[0]), "{trace:?}");
    assert!((trace[trace.len() - 1] - found.model.error()).abs() < 1e-9 * found.model.error());
}

/// Rows with a few words of many, in groups that share some of them.
fn words(rows: usize, columns: usize, entries: usize) -> Sparse {
    let mut stream = Stream::new(5, 0);
    let row = |i: usize| {
        let word = |stream: &mut Stream| match stream.below(2) {
            0 => (i % 4 * (columns / 4) + stream.below((entries * 3).min(columns / 4))) as u32,
            _ => stream.below(columns) as u32,
        };
        (0..entries).map(|_| (word(&mut stream), stream.uniform() + 0.1)).collect::<Vec<_>>()
    };
    Sparse::from_rows(columns, (0..rows).map(row).collect::<Vec<_>>()).unwrap()
}

fn dense_copy(sparse: &Sparse) -> Matrix {
    let mut copy = Matrix::zeros(sparse.rows(), sparse.columns());
    for i in 0..sparse.rows() {
        let (columns, values) = sparse.row(i);
        columns.iter().zip(values).for_each(|(&j, &value)| copy[(i, j as usize)] = value);
    }
    copy
}

#[test]
fn sparse_rows_are_clustered_like_their_dense_copy() {
    let sparse = words(300, 60, 8);
    let dense = dense_copy(&sparse);
    let start = dense.take_rows(&[0, 1, 2, 3, 17]);
    let weights: Vec<f64> = (0..300).map(|i| [1.0, 2.5, 0.0][i % 3]).collect();
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()));
    for algorithm in ALGORITHMS {
        for given in [None, Some(weights.as_slice())] {
            let settings =
                KMeans { algorithm, polish: true, start: KMeansInit::Random, batch: 40, restarts: 2, ..fixed(5) };
            let both = [sparse.features(), dense.features()].map(|features| match algorithm {
                // Halves start from rows that are drawn: by the same numbers in both.
                Algorithm::Bisecting => settings.cluster(features, given, &Run::new()).unwrap(),
                _ => settings.cluster_from(features, given, &start, &Run::new()).unwrap(),
            });
            assert_eq!(both[0].labels, both[1].labels, "{algorithm:?}");
            assert!(close(both[0].model.centres().values(), both[1].model.centres().values()), "{algorithm:?}");
            assert!(close(&[both[0].model.error()], &[both[1].model.error()]), "{algorithm:?}");
            // New rows, too.
            let said = |model: &quince::cluster::KMeansModel, features: Features<'_>| {
                let (labels, error) = model.assign(&features, None, &Run::new()).unwrap();
                (labels, error, model.distances(&features, &Run::new()).unwrap())
            };
            let (new, copy) = (said(&both[0].model, sparse.features()), said(&both[0].model, dense.features()));
            assert_eq!(new.0, copy.0);
            assert!(close(&[new.1], &[copy.1]) && close(new.2.values(), copy.2.values()), "{algorithm:?}");
        }
    }
    let labels: Vec<u32> = (0..300).map(|i| i % 4).collect();
    let [one, other] = [sparse.features(), dense.features()].map(|x| silhouette(&x, &labels, &Run::new()).unwrap());
    assert!((one - other).abs() < 1e-9, "{one} {other}");
}

#[test]
fn few_words_of_very_many_cost_what_the_few_cost() {
    let sparse = words(4000, 20_000, 10);
    let start = cpu_time();
    let run = || Run::new().threads(1);
    for algorithm in ALGORITHMS {
        let settings = KMeans { algorithm, restarts: 1, steps: 20, ..fixed(12) };
        let found = settings.cluster(sparse.features(), None, &run()).unwrap();
        let (labels, _) = found.model.assign(&sparse.features(), None, &run()).unwrap();
        assert_eq!(labels, found.labels, "{algorithm:?}");
        found.model.distances(&sparse.features(), &run()).unwrap();
    }
    // Looking at all columns of all rows would take many times as long.
    let took = cpu_time() - start;
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn sparse_rows_that_are_equal_leave_clusters_empty_and_settle() {
    let row = |i: usize| (0..30).map(|j| (j * 3 + (i % 3) as u32, 0.1 + 0.7 * f64::from(j))).collect::<Vec<_>>();
    let sparse = Sparse::from_rows(100, (0..60).map(row)).unwrap();
    for algorithm in ALGORITHMS {
        let settings = KMeans { algorithm, batch: 7, ..fixed(5) };
        let found = settings.cluster(sparse.features(), None, &Run::new()).unwrap();
        assert!(found.model.error() < 1e-20, "{algorithm:?}: {}", found.model.error());
        let remark = "2 of 5 clusters are empty: there are not as many different rows";
        assert_eq!(found.report.remarks, [remark], "{algorithm:?} {:?}", found.report.trace);
    }
}

#[test]
fn mini_batches_are_of_rows_that_count_and_end_near_all_rows() {
    let mut stream = Stream::new(3, 0);
    let rows: Vec<[f64; 2]> = (0..6000)
        .map(|i| [f64::from(i % 5) * 2.0 + stream.uniform(), f64::from(i % 3) * 2.0 + stream.uniform()])
        .collect();
    let x = Matrix::from_rows(&rows);
    // A batch of rows without weight would have no mean.
    let weights: Vec<f64> = (0..6000).map(|i| f64::from(u8::from(i % 50 == 0))).collect();
    let settings = KMeans { algorithm: Algorithm::MiniBatch, batch: 10, ..fixed(3) };
    let found = settings.cluster(x.features(), Some(&weights), &Run::new()).unwrap();
    assert_eq!(found.model.sizes().iter().sum::<f64>(), 120.0);
    // MiniBatchUpdates of twenty are noisy, and their average is not: no seed gives up far from where Lloyd's turns lead.
    for seed in 0..10 {
        let run = Run::new().seed(seed);
        let few = KMeans { algorithm: Algorithm::MiniBatch, batch: 20, restarts: 1, ..fixed(15) };
        let found = few.cluster(x.features(), None, &run).unwrap();
        let start = found.model.centres();
        let after = fixed(15).cluster_from(x.features(), None, start, &run).unwrap();
        assert!(found.model.error() < 1.05 * after.model.error(), "{seed}");
        assert_eq!(found.report.stop, StopReason::Converged);
    }
}

#[test]
fn numbers_of_any_size_start_and_end_alike_whatever_the_algorithm() {
    let base = random(300, 3, 3);
    for algorithm in ALGORITHMS {
        let settings = KMeans { algorithm, k: Count::Fixed(3), restarts: 2, ..KMeans::default() };
        let expected = settings.cluster(base.features(), None, &Run::new()).unwrap();
        for size in [2f64.powi(-400), 2f64.powi(-60), 2f64.powi(60), 2f64.powi(480)] {
            let x = Matrix::new(300, 3, base.values().iter().map(|x| x * size).collect()).unwrap();
            let found = settings.cluster(x.features(), None, &Run::new()).unwrap();
            let error = found.model.error() / size / size;
            assert!((error / expected.model.error() - 1.0).abs() < 0.05, "{algorithm:?} {size:e}: {error}");
            assert!(found.report.remarks.is_empty(), "{algorithm:?} {size:e}: {:?}", found.report);
        }
    }
}

#[test]
fn a_start_keeps_a_few_bytes_a_row() {
    let x = random(200_000, 2, 1);
    let settings = KMeans { restarts: 1, steps: 1, ..fixed(30) };
    let cluster = || settings.cluster(x.features(), None, &Run::new().threads(1)).unwrap();
    let (found, largest) = crate::allocations::largest_during(cluster);
    assert_eq!(found.labels.len(), 200_000);
    assert!(largest <= 16 * 200_000, "{largest}");
}

#[test]
fn a_row_that_leaves_takes_its_roundings_along() {
    // Beside 1e15 every 0.3 is added as 0.25; in the next round the 1e15 leaves for the other centre.
    let mut values = vec![1e15];
    values.extend([0.3; 99]);
    values.push(1.2e15);
    let rows = Matrix::column_vector(values);
    let settings = KMeans { k: Count::Fixed(2), tolerance: 0.0, ..KMeans::default() };
    let start = Matrix::column_vector(vec![0.0, 2.1e15]);
    let found = settings.cluster_from(rows.features(), None, &start, &Run::new()).unwrap();
    assert!((found.model.centres()[(0, 0)] - 0.3).abs() < 1e-12, "{}", found.model.centres()[(0, 0)]);
    assert_eq!(found.model.centres()[(1, 0)], 1.1e15);
}

#[test]
fn what_is_chosen_is_what_was_tried() {
    let mut stream = Stream::new(3, 9);
    let rows = Matrix::new(900, 2, (0..1800).map(|k| stream.uniform() + (k / 2 % 3 * 5) as f64).collect()).unwrap();
    let settings = KMeans { start: KMeansInit::Random, restarts: 1, ..KMeans::default() };
    let found = settings.cluster(rows.features(), None, &Run::new()).unwrap();
    let choice = found.choice.unwrap();
    let trial = choice.trials.iter().find(|trial| trial.k == choice.by_silhouette).unwrap();
    assert_eq!(found.model.error(), trial.error);
    assert_eq!(found.model.sizes().len(), choice.by_silhouette);
}

#[test]
fn rows_without_weight_do_not_choose_how_many_clusters() {
    // Two groups that count, and forty rows without weight in five places far away.
    let place = |i: usize| if i < 60 { [(i % 2 * 10) as f64, 0.0] } else { [(i % 5) as f64 * 40.0, 300.0] };
    let rows: Vec<f64> = (0..100).flat_map(|i| place(i).map(|x| x + (i / 2 % 7) as f64 * 0.1)).collect();
    let rows = Matrix::new(100, 2, rows).unwrap();
    let weights: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i < 60))).collect();
    let found = KMeans::default().cluster(rows.features(), Some(&weights), &Run::new()).unwrap();
    assert_eq!(found.choice.unwrap().by_silhouette, 2);
}

#[test]
fn a_bisection_that_is_cut_short_says_so() {
    let mut stream = Stream::new(4, 9);
    let rows = Matrix::new(4000, 3, (0..12_000).map(|_| stream.uniform()).collect()).unwrap();
    let settings = KMeans { k: Count::Fixed(2), algorithm: Algorithm::Bisecting, tolerance: 0.0, ..KMeans::default() };
    let found = settings.cluster(rows.features(), None, &Run::new().budget(Duration::ZERO)).unwrap();
    assert_eq!(found.report.stop, StopReason::Budget);
    assert_eq!(found.report.facts.iter().find(|(name, _)| name == "restarts").unwrap().1, 1.0);
    let found = KMeans { steps: 1, ..settings }.cluster(rows.features(), None, &Run::new()).unwrap();
    assert_eq!(found.report.stop, StopReason::StepLimit);
}

#[test]
fn batches_whose_sizes_do_not_fit_their_centres_are_refused() {
    let rows = Matrix::from_rows(&[[1.0], [2.0]]);
    let mut batches = MiniBatchUpdates { centres: rows.clone(), sizes: vec![0.0] };
    assert!(batches.learn(rows.features(), None, &Run::new()).is_err());
    let mut batches = MiniBatchUpdates::new(rows.clone());
    let (error, _) = batches.learn(rows.features(), None, &Run::new()).unwrap();
    let (model, report) = batches.model(error);
    assert_eq!((model.error(), model.sizes(), model.centres()), (0.0, &[1.0, 1.0][..], &rows));
    assert!(report.certificate.is_none());
}

#[test]
fn a_cluster_too_small_for_the_sample_is_found_all_the_same() {
    // Three different rows, two of which are one in twenty thousand.
    let mut values = vec![0.0; 20_000];
    (values[7_000], values[15_000]) = (5.0, 9.0);
    let x = Matrix::column_vector(values);
    let auto = KMeans { k: Count::Auto, ..KMeans::default() };
    let found = auto.cluster(x.features(), None, &Run::new()).unwrap();
    // The few others are apart from the many; a row that is alone has no silhouette, so they share a cluster.
    assert_eq!(found.model.sizes(), [19_998.0, 2.0]);
}

#[test]
fn groups_have_no_labels_in_words() {
    let table = crate::example("iris.csv");
    let lesson = table.unsupervised(None, &["species"]).unwrap().labelled;
    let model = Model::fit(&lesson, None, &fixed(3), &Run::new()).unwrap();
    assert!(model.label_names(&model.predict(&table).unwrap()).unwrap().is_empty());
}
