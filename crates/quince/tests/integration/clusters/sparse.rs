//! Sparse rows.

use super::{ALGORITHMS, fixed};
use crate::clock::cpu_time;
use quince::cluster::{Algorithm, KMeans, KMeansInit, silhouette};
use quince::matrix::{Features, Sparse};
use quince::run::Stream;
use quince::{Matrix, Run};
use std::time::Duration;

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
            let polish = matches!(algorithm, Algorithm::Lloyd | Algorithm::Sequential);
            let settings = KMeans { algorithm, polish, start: KMeansInit::Random, batch: 40, restarts: 2, ..fixed(5) };
            let both = [sparse.features(), dense.features()].map(|features| match algorithm {
                // Halves start from rows that are drawn: by the same numbers in both.
                Algorithm::Bisecting => settings.cluster_with(features, given, &Run::new()).unwrap(),
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
        let found = settings.cluster_with(sparse.features(), None, &run()).unwrap();
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
        let found = settings.cluster_with(sparse.features(), None, &Run::new()).unwrap();
        assert!(found.model.error() < 1e-20, "{algorithm:?}: {}", found.model.error());
        let remark = "2 of 5 clusters are empty: there are not as many different rows";
        assert_eq!(found.report.remarks, [remark], "{algorithm:?} {:?}", found.report.trace);
    }
}
