//! The other algorithms: one row at a time, mini-batches, bisection; and where they start.

use super::{ALGORITHMS, fixed};
use crate::layouts::random;
use quince::cluster::{Algorithm, KMeans, KMeansInit, MiniBatchUpdates};
use quince::learn::Count;
use quince::run::{StopReason, Stream};
use quince::{Matrix, Run};
use std::time::Duration;

#[test]
fn greedy_plus_plus_starts_better_than_chance() {
    let mut stream = Stream::new(1, 0);
    let rows: Vec<[f64; 2]> = (0..600)
        .map(|i| [f64::from(i % 12) * 10.0 + stream.uniform(), f64::from(i % 5) * 10.0 + stream.uniform()])
        .collect();
    let x = Matrix::from_rows(&rows);
    let mean_error = |start: KMeansInit| -> f64 {
        let settings = KMeans { start, restarts: 1, ..fixed(60) };
        (0..8)
            .map(|seed| settings.cluster_with(x.features(), None, &Run::new().seed(seed)).unwrap().model.error())
            .sum()
    };
    assert!(mean_error(KMeansInit::PlusPlus) < 0.5 * mean_error(KMeansInit::Random));
}

#[test]
fn a_start_keeps_a_few_bytes_a_row() {
    let x = random(200_000, 2, 1);
    let settings = KMeans { restarts: 1, steps: 1, ..fixed(30) };
    let cluster = || settings.cluster_with(x.features(), None, &Run::new().threads(1)).unwrap();
    let (found, largest) = crate::allocations::largest_during(cluster);
    assert_eq!(found.labels.len(), 200_000);
    assert!(largest <= 16 * 200_000, "{largest}");
}

#[test]
fn numbers_of_any_size_start_and_end_alike_whatever_the_algorithm() {
    let base = random(300, 3, 3);
    for algorithm in ALGORITHMS {
        let settings = KMeans { algorithm, k: Count::Fixed(3), restarts: 2, ..KMeans::default() };
        let expected = settings.cluster_with(base.features(), None, &Run::new()).unwrap();
        for size in [2f64.powi(-400), 2f64.powi(-60), 2f64.powi(60), 2f64.powi(480)] {
            let x = Matrix::new(300, 3, base.values().iter().map(|x| x * size).collect()).unwrap();
            let found = settings.cluster_with(x.features(), None, &Run::new()).unwrap();
            let error = found.model.error() / size / size;
            assert!((error / expected.model.error() - 1.0).abs() < 0.05, "{algorithm:?} {size:e}: {error}");
            assert!(found.report.remarks.is_empty(), "{algorithm:?} {size:e}: {:?}", found.report);
        }
    }
}

#[test]
fn one_row_at_a_time_lowers_the_error_in_every_round() {
    let x = random(800, 3, 12);
    let settings = KMeans { algorithm: Algorithm::Sequential, restarts: 1, ..fixed(9) };
    let found = settings.cluster_with(x.features(), None, &Run::new()).unwrap();
    let trace = &found.report.trace;
    assert!(trace.len() > 2 && trace.windows(2).all(|pair| pair[1] <= pair[0]), "{trace:?}");
    assert!((trace[trace.len() - 1] - found.model.error()).abs() < 1e-9 * found.model.error());
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
    assert_eq!(batches.sizes(), [1000.0; 3]);
    // Far apart, every row is given to the same centre all the time: the centres are the means.
    for c in 0..3 {
        for j in 0..2 {
            let mean = (0..1000).map(|i| x[(3 * i + c, j)]).sum::<f64>() / 1000.0;
            assert!((batches.centres()[(c, j)] - mean).abs() < 1e-9);
        }
    }
    let settings = KMeans { algorithm: Algorithm::MiniBatch, batch: 64, ..fixed(3) };
    let found = settings.cluster_with(x.features(), None, &Run::new()).unwrap();
    let whole = fixed(3).cluster_with(x.features(), None, &Run::new()).unwrap();
    assert!(found.model.error() < 1.01 * whole.model.error());
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
    let found = settings.cluster_with(x.features(), Some(&weights), &Run::new()).unwrap();
    assert_eq!(found.model.sizes().iter().sum::<f64>(), 120.0);
    // MiniBatchUpdates of twenty are noisy, and their average is not: no seed gives up far from where Lloyd's turns lead.
    for seed in 0..10 {
        let run = Run::new().seed(seed);
        let few = KMeans { algorithm: Algorithm::MiniBatch, batch: 20, restarts: 1, ..fixed(15) };
        let found = few.cluster_with(x.features(), None, &run).unwrap();
        let start = found.model.centres();
        let after = fixed(15).cluster_from(x.features(), None, start, &run).unwrap();
        assert!(found.model.error() < 1.05 * after.model.error(), "{seed}");
        assert_eq!(found.report.stop, StopReason::Converged);
    }
}

#[test]
fn batches_of_rows_that_are_the_centres_leave_them_there() {
    let rows = Matrix::from_rows(&[[1.0], [2.0]]);
    let mut batches = MiniBatchUpdates::new(rows.clone());
    let (error, _) = batches.learn(rows.features(), None, &Run::new()).unwrap();
    let model = batches.model(error).unwrap();
    assert_eq!((model.error(), model.sizes(), model.centres()), (0.0, &[1.0, 1.0][..], &rows));
}

#[test]
fn bisecting_lowers_the_error_with_every_bisection_and_predicts_what_it_found() {
    let x = random(400, 4, 8);
    let settings = KMeans { algorithm: Algorithm::Bisecting, ..fixed(7) };
    let found = settings.cluster_with(x.features(), None, &Run::new()).unwrap();
    assert!(found.report.trace.windows(2).all(|pair| pair[1] < pair[0]));
    assert_eq!(found.report.trace.len(), 7);
    let (labels, error) = found.model.assign(&x.features(), None, &Run::new()).unwrap();
    assert_eq!(labels, found.labels);
    assert!((error - found.model.error()).abs() < 1e-9 * error);
}

#[test]
fn a_bisection_that_is_cut_short_says_so() {
    let mut stream = Stream::new(4, 9);
    let rows = Matrix::new(4000, 3, (0..12_000).map(|_| stream.uniform()).collect()).unwrap();
    let settings = KMeans { k: Count::Fixed(2), algorithm: Algorithm::Bisecting, tolerance: 0.0, ..KMeans::default() };
    let found = settings.cluster_with(rows.features(), None, &Run::new().budget(Duration::ZERO)).unwrap();
    assert_eq!(found.report.stop, StopReason::Budget);
    assert_eq!(found.report.facts.iter().find(|(name, _)| name == "restarts").unwrap().1, 1.0);
    let found = KMeans { steps: 1, ..settings }.cluster_with(rows.features(), None, &Run::new()).unwrap();
    assert_eq!(found.report.stop, StopReason::StepLimit);
}
