//! C: clustering. Rows proven here: C1, C2, C3, C4, and quantisation of C11.

use super::agrees;
use quince::cluster::{Algorithm, KMeans, KMeansInit, scatter, silhouettes};
use quince::learn::Count;
use quince::run::Stream;
use quince::{Matrix, Run};

fn fixed(k: usize) -> KMeans {
    KMeans { k: Count::Fixed(k), tolerance: 0.0, ..KMeans::default() }
}

/// Rows around `centres`, `each` of them, with this standard deviation.
fn blobs(centres: &[[f64; 2]], each: usize, standard_deviation: f64, seed: u64) -> Matrix {
    let mut stream = Stream::new(seed, 0);
    let mut around = |x: f64| x + standard_deviation * ((0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0);
    let rows: Vec<[f64; 2]> = centres.iter().flat_map(|&[x, y]| (0..each).map(move |_| [x, y])).collect();
    let rows: Vec<[f64; 2]> = rows.into_iter().map(|[x, y]| [around(x), around(y)]).collect();
    Matrix::from_rows(&rows)
}

#[test]
fn c1_the_error_never_rises() {
    for seed in 0..20 {
        let rows = blobs(&[[0.0, 0.0], [3.0, 1.0], [1.0, 4.0], [5.0, 5.0]], 40, 1.0, seed);
        let settings = KMeans { start: KMeansInit::Random, restarts: 1, ..fixed(6) };
        let found = settings.cluster_with(rows.features(), None, &Run::new().seed(seed)).unwrap();
        let trace = &found.report.trace;
        assert!(trace.len() > 1);
        assert!(trace.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)), "{trace:?}");
        assert!((trace.last().unwrap() - found.model.error()).abs() <= 1e-9 * trace[0]);
    }
}

#[test]
fn c1_ties_go_to_the_smallest_index_and_an_empty_cluster_takes_the_furthest_row() {
    // 1 is as far from 0 as from 2, and so on: every tie to the left.
    let rows = Matrix::column_vector(vec![0.0, 1.0, 2.0, 3.0, 4.0]);
    let start = Matrix::column_vector(vec![0.0, 2.0, 4.0]);
    let one_step = KMeans { steps: 1, ..fixed(3) };
    let found = one_step.cluster_from(rows.features(), None, &start, &Run::new()).unwrap();
    // After a step the centres are 0.5, 2.5, 4: 3 is nearer to 2.5.
    assert_eq!(found.labels, [0, 0, 1, 1, 2]);
    // No row is nearest to 100: its cluster takes 9, the row furthest from its own centre.
    let rows = Matrix::column_vector(vec![0.0, 1.0, 2.0, 9.0]);
    let start = Matrix::column_vector(vec![1.0, 100.0]);
    let found = fixed(2).cluster_from(rows.features(), None, &start, &Run::new()).unwrap();
    assert_eq!(found.labels, [0, 0, 0, 1]);
    agrees(found.model.error(), 2.0, 12);
}

#[test]
fn c2_both_forms_of_the_error_are_equal() {
    for seed in 0..10 {
        let rows = blobs(&[[0.0, 0.0], [8.0, 2.0], [-3.0, 7.0]], 25, 1.5, seed);
        let found = fixed(4).cluster_with(rows.features(), None, &Run::new()).unwrap();
        let pairs = scatter(&rows.features(), &found.labels).unwrap();
        assert!((found.model.error() - pairs).abs() <= 1e-10 * pairs, "{} {pairs}", found.model.error());
    }
}

#[test]
fn c3_the_reference_line_ends_at_8_5_one_row_at_a_time_and_at_5_by_lloyd() {
    let rows = Matrix::column_vector(vec![10.0, 14.0, 17.0, 18.0, 19.0]);
    let start = Matrix::column_vector(vec![10.0, 17.0, 19.0]);
    let run = Run::new();
    let sequential = KMeans { algorithm: Algorithm::Sequential, ..fixed(3) };
    let found = sequential.cluster_from(rows.features(), None, &start, &run).unwrap();
    agrees(found.model.error(), 8.5, 12);
    let lloyd = fixed(3).cluster_from(rows.features(), None, &start, &run).unwrap();
    agrees(lloyd.model.error(), 5.0, 12);
}

#[test]
fn c3_polishing_never_ends_above_lloyd_and_no_single_move_is_left() {
    for seed in 0..20 {
        let rows = blobs(&[[0.0, 0.0], [2.0, 1.0], [1.0, 3.0]], 30, 1.0, seed);
        let plain = KMeans { start: KMeansInit::Random, restarts: 1, ..fixed(5) };
        let polished = KMeans { polish: true, ..plain.clone() };
        let run = Run::new().seed(seed);
        let before = plain.cluster_with(rows.features(), None, &run).unwrap();
        let after = polished.cluster_with(rows.features(), None, &run).unwrap();
        assert!(after.model.error() <= before.model.error() * (1.0 + 1e-12));
        // By definition: moving any one row and taking both means again does not lower the error.
        let error_of = |labels: &[u32]| scatter(&rows.features(), labels).unwrap();
        let least = error_of(&after.labels);
        for i in 0..rows.rows() {
            for c in 0..5 {
                let mut moved = after.labels.clone();
                moved[i] = c;
                assert!(error_of(&moved) >= least * (1.0 - 1e-9), "row {i} to {c}");
            }
        }
    }
}

#[test]
fn c4_three_clear_blobs_are_three_by_silhouette_and_by_elbow() {
    for seed in 0..5 {
        let rows = blobs(&[[0.0, 0.0], [10.0, 0.0], [5.0, 9.0]], 50, 0.8, seed);
        let found = KMeans::default().cluster_with(rows.features(), None, &Run::new().seed(seed)).unwrap();
        let choice = found.choice.unwrap();
        assert_eq!((choice.by_silhouette, choice.by_elbow), (3, 3));
        assert!(choice.reason().starts_with("3 clusters: their mean silhouette"));
        assert_eq!(found.model.centres().rows(), 3);
    }
}

#[test]
fn c4_silhouettes_by_definition() {
    let rows = blobs(&[[0.0, 0.0], [3.0, 0.0], [1.0, 2.0]], 20, 0.9, 4);
    let labels: Vec<u32> = (0..60).map(|i| if i == 59 { 3 } else { (i / 20) as u32 }).collect();
    let found = silhouettes(&rows.features(), &labels, &Run::new()).unwrap();
    let distance =
        |i: usize, j: usize| rows.row(i).iter().zip(rows.row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    for i in 0..60 {
        let mean_to = |c: u32| {
            let others: Vec<f64> = (0..60).filter(|&j| j != i && labels[j] == c).map(|j| distance(i, j)).collect();
            if others.is_empty() { f64::NAN } else { others.iter().sum::<f64>() / others.len() as f64 }
        };
        let a = mean_to(labels[i]);
        let b = (0..4).filter(|&c| c != labels[i]).map(mean_to).fold(f64::INFINITY, f64::min);
        let expected = if a.is_nan() { 0.0 } else { (b - a) / a.max(b) };
        assert!((found[i] - expected).abs() < 1e-10, "row {i}: {} {expected}", found[i]);
    }
}

#[test]
fn c11_a_row_as_its_cluster_and_back_with_the_error() {
    let rows = blobs(&[[0.0, 0.0], [8.0, 2.0], [-3.0, 7.0]], 25, 1.0, 1);
    let found = fixed(3).cluster_with(rows.features(), None, &Run::new()).unwrap();
    let (labels, error) = found.model.assign(&rows.features(), None, &Run::new()).unwrap();
    assert_eq!(labels, found.labels);
    let back: f64 = (0..75)
        .map(|i| {
            rows.row(i)
                .iter()
                .zip(found.model.centres().row(labels[i] as usize))
                .map(|(x, c)| (x - c).powi(2))
                .sum::<f64>()
        })
        .sum();
    assert!((error - back).abs() < 1e-9 * back && (error - found.model.error()).abs() < 1e-9 * back);
}
