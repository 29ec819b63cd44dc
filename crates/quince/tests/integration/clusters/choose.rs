//! The number of clusters, and silhouettes.

use crate::layouts::random;
use quince::cluster::{KMeans, KMeansInit, silhouette};
use quince::learn::Count;
use quince::run::Stream;
use quince::{Matrix, Run};

#[test]
fn what_is_chosen_is_what_was_tried() {
    let mut stream = Stream::new(3, 9);
    let rows = Matrix::new(900, 2, (0..1800).map(|k| stream.uniform() + (k / 2 % 3 * 5) as f64).collect()).unwrap();
    let settings = KMeans { start: KMeansInit::Random, restarts: 1, ..KMeans::default() };
    let found = settings.cluster_with(rows.features(), None, &Run::new()).unwrap();
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
    let found = KMeans::default().cluster_with(rows.features(), Some(&weights), &Run::new()).unwrap();
    assert_eq!(found.choice.unwrap().by_silhouette, 2);
}

#[test]
fn a_cluster_too_small_for_the_sample_is_found_all_the_same() {
    // Three different rows, two of which are one in twenty thousand.
    let mut values = vec![0.0; 20_000];
    (values[7_000], values[15_000]) = (5.0, 9.0);
    let x = Matrix::column_vector(values);
    let auto = KMeans { k: Count::Auto, ..KMeans::default() };
    let found = auto.cluster_with(x.features(), None, &Run::new()).unwrap();
    // The few others are apart from the many; a row that is alone has no silhouette, so they share a cluster.
    assert_eq!(found.model.sizes(), [19_998.0, 2.0]);
}

#[test]
fn silhouettes_take_labels_of_any_size() {
    let x = random(30, 2, 7);
    let plain: Vec<u32> = (0..30).map(|i| i % 3).collect();
    let renumbered: Vec<u32> = plain.iter().map(|label| [5, 70_000, u32::MAX][*label as usize]).collect();
    let of = |labels: &[u32]| silhouette(&x.features(), labels, &Run::new()).unwrap();
    assert_eq!(of(&plain), of(&renumbered));
}
