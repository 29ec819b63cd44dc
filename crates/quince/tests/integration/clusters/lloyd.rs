//! Lloyd's iteration against its definition, its certificate, and what rounding must not do to it.

use super::fixed;
use crate::layouts::{LAYOUTS, random, with_layout};
use proptest::prelude::*;
use quince::cluster::{Algorithm, KMeans};
use quince::learn::Count;
use quince::run::StopReason;
use quince::{Matrix, Run};

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
    let error = fixed(2).cluster_with(huge.features(), None, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "the features are too large to be added up");
}

#[test]
fn equal_rows_whose_mean_is_rounded_leave_clusters_empty_and_settle() {
    let x = Matrix::column_vector((0..20).map(|i| if i < 10 { 0.1 } else { 0.7 }).collect());
    let found = fixed(5).cluster_with(x.features(), None, &Run::new()).unwrap();
    assert_eq!(found.report.stop, StopReason::Converged);
    assert!(found.model.error() < 1e-28, "{}", found.model.error());
    assert!(found.report.trace.len() < 20, "{:?}", found.report.trace);
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
fn the_certificate_is_how_much_another_round_would_improve() {
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
            let found = settings.cluster_with(x.features(), Some(&weights), &Run::new()).unwrap();
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
    let found = halved.cluster_with(x.features(), Some(&weights), &Run::new()).unwrap();
    assert!(found.report.certificate.as_ref().unwrap().value < 1e-12);
}
