//! k-means: over shapes, layouts, weights, ties, duplicates and threads.

mod algorithms;
mod choose;
mod lloyd;
mod sparse;

use crate::clock::budget_of_looks;
use crate::layouts::random;
use quince::cluster::{Algorithm, KMeans, KMeansInit, silhouette};
use quince::learn::{Count, Prediction, Target};
use quince::matrix::Features;
use quince::run::StopReason;
use quince::{Matrix, Model, Run};

const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Lloyd, Algorithm::Sequential, Algorithm::MiniBatch, Algorithm::Bisecting];

fn fixed(k: usize) -> KMeans {
    KMeans { k: Count::Fixed(k), tolerance: 0.0, ..KMeans::default() }
}

/// Labels and centres, bit by bit, for every algorithm on one, two and eight threads.
#[test]
fn every_algorithm_gives_the_same_bits_on_any_number_of_threads() {
    for (rows, columns) in [(9000, 3), (5000, 80)] {
        let x = random(rows, columns, 2);
        for algorithm in ALGORITHMS {
            let settings = KMeans { algorithm, restarts: 2, steps: 20, ..fixed(5) };
            let on = |threads: usize| {
                let found = settings.cluster_with(x.features(), None, &Run::new().threads_exactly(threads)).unwrap();
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
        let found = fixed(k).cluster_with(equal.features(), None, &Run::new()).unwrap();
        assert_eq!(found.model.error(), 0.0);
        assert!(found.labels.iter().all(|&label| label == 0));
        assert_eq!(found.model.sizes()[0], 1e6);
    }
    let one = Matrix::from_rows(&[[2.0, -1.0]]);
    let found = KMeans::default().cluster_with(one.features(), None, &Run::new()).unwrap();
    assert_eq!((found.labels.as_slice(), found.model.centres().row(0)), (&[0][..], &[2.0, -1.0][..]));
    // Four rows, two of them different, four clusters: two stay empty, and the report says so.
    let few = Matrix::column_vector(vec![1.0, 1.0, 5.0, 5.0]);
    for algorithm in ALGORITHMS {
        for start in [KMeansInit::PlusPlus, KMeansInit::Random] {
            let settings = KMeans { algorithm, start, ..fixed(4) };
            let found = settings.cluster_with(few.features(), None, &Run::new()).unwrap();
            assert_eq!(found.model.error(), 0.0, "{algorithm:?} {start:?}");
            assert_eq!(found.labels[0], found.labels[1]);
            assert_ne!(found.labels[0], found.labels[2]);
            let remark = "2 of 4 clusters are empty: there are not as many different rows";
            assert_eq!(found.report.remarks[0], remark, "{algorithm:?}");
            assert!(found.report.holds());
        }
    }
    let auto = KMeans::default().cluster_with(few.features(), None, &Run::new()).unwrap();
    assert_eq!(auto.choice.unwrap().by_silhouette, 2);
    let error = fixed(5).cluster_with(few.features(), None, &Run::new()).err().unwrap();
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
        settings.cluster_with(features, None, &Run::new()).err().unwrap().to_string()
    };
    assert_eq!(sentence(&fixed(1), x.features()), "the features contain NaN: row 1, column 2");
    assert_eq!(sentence(&fixed(1), Matrix::zeros(0, 2).features()), "there are no rows to learn from");
    assert_eq!(sentence(&fixed(1), Matrix::zeros(2, 0).features()), "the rows have no columns");
    let fine = random(10, 2, 1);
    let wrong = fixed(2).cluster_from(fine.features(), None, &Matrix::zeros(2, 3), &Run::new()).err().unwrap();
    assert_eq!(wrong.to_string(), "2 centres of 3 numbers do not fit rows of 2");
    let one = silhouette(&fine.features(), &[0; 10], &Run::new()).unwrap_err();
    assert_eq!(one.to_string(), "silhouettes need from 2 to 9 clusters, and there are 1");
    let target = Target::none(10);
    let ridge = quince::linear::Ridge::default();
    let error = Model::fit_features(&fine.features(), &target, None, &ridge, &Run::new()).err().unwrap();
    assert_eq!(error.to_string(), "'ridge' does not learn clusters");
}

#[test]
fn any_budget_returns_an_answer_for_every_algorithm() {
    let x = random(20_000, 6, 1);
    for algorithm in ALGORITHMS {
        for k in [Count::Fixed(8), Count::Auto] {
            for looks in [0, 5, 60] {
                let settings = KMeans { algorithm, k, restarts: 50, ..KMeans::default() };
                let run = budget_of_looks(looks);
                let found = settings.cluster_with(x.features(), None, &run).unwrap();
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
fn groups_have_no_labels_in_words() {
    let table = crate::example("iris.csv");
    let lesson = table.unsupervised(None, &["species"]).unwrap().labelled;
    let model = Model::fit(&lesson, None, &fixed(3), &Run::new()).unwrap();
    assert!(model.label_names(&model.predict(&table).unwrap()).unwrap().is_empty());
}

#[test]
fn the_cluster_of_each_row_takes_no_memory_for_the_distances_from_all_others() {
    let (rows, k) = (20_000, 500);
    let x = random(rows, 2, 9);
    let centres = x.take_rows(&(0..k).collect::<Vec<_>>());
    let known = quince::cluster::KMeansModel::from_centres(centres).unwrap();
    let model = Model::known(&fixed(k), known, 2, None).unwrap();
    let (members, peak) =
        crate::allocations::peak_during(|| model.members(&x, &Run::new().threads_exactly(1)).unwrap());
    // All distances are 80 MB.
    assert!(peak < 10_000_000, "{peak} bytes");
    assert_eq!((members.labels.len(), members.groups), (rows, k));
    let Prediction::Clusters { labels, distances } = model.predict(&x).unwrap() else { panic!() };
    assert_eq!(members.labels, labels);
    let own = labels.iter().enumerate().map(|(i, &label)| distances[(i, label as usize)]).collect();
    assert_eq!(members.fit, [("distance", own)]);
}

#[test]
fn members_are_what_a_prediction_says_of_groups_for_every_method_that_finds_some() {
    let table = crate::example("penguins.csv");
    let lesson = table.unsupervised(None, &["species"]).unwrap().labelled;
    for method in quince::registry::METHODS {
        if !method.info.learns(quince::learn::Task::Clustering) {
            continue;
        }
        let learner = method.configure(&serde_json::json!({})).unwrap();
        let model = Model::fit(&lesson, None, learner.as_ref(), &Run::new().seed(1)).unwrap();
        let prediction = model.predict(&table).unwrap();
        let members = model.members(&table, &Run::new()).unwrap();
        assert_eq!(members, quince::model::Members::of(&prediction).unwrap(), "{}", method.info.name);
        let profiles = quince::model::ClusterProfiles::of(&lesson.table, &prediction, None).unwrap();
        assert_eq!(profiles.clusters.iter().map(|profile| profile.rows).sum::<usize>(), table.rows());
    }
    let classes = Model::train(&table, "species", &quince::linear::Ridge::default()).unwrap();
    assert!(classes.members(&table, &Run::new()).is_err());
}
