//! Cancelling and running out of time.

use crate::clock::{budget_of_looks, check_heeds_cancel, looks_within};
use quince::cluster::{Algorithm, KMeans, KMeansInit, silhouettes};
use quince::learn::{Count, Target};
use quince::linear::Ridge;
use quince::matrix::{Dense, Features, View};
use quince::mixture::{Mixture, MixtureInit};
use quince::run::{Cancel, Observer, StopReason, Stream, TickClock};
use quince::{Error, Matrix, Model, Run};
use std::time::Duration;

fn large() -> (Matrix, Target) {
    let (rows, columns) = (6000, 1500);
    let mut stream = Stream::new(1, 0);
    let x = Matrix::new(rows, columns, (0..rows * columns).map(|_| stream.uniform()).collect()).unwrap();
    (x, Target::numbers(Matrix::column_vector((0..rows).map(|i| (i % 17) as f64).collect())).unwrap())
}

#[test]
fn a_fit_heeds_a_cancel_at_its_next_look() {
    let (x, y) = large();
    check_heeds_cancel(5, "ridge", |run| Model::fit_features(&x.features(), &y, None, &Ridge::default(), run).err());
}

/// Lets another thread raise a flag at the third look.
struct Friend(Cancel, u32);

impl Observer for Friend {
    fn progress(&mut self, _: &str, _: u64, _: u64) {}

    fn poll(&mut self) -> bool {
        self.1 += 1;
        if self.1 == 3 {
            let flag = self.0.clone();
            std::thread::spawn(move || flag.cancel()).join().unwrap();
        }
        false
    }
}

#[test]
fn a_flag_raised_by_another_thread_stops_the_fit() {
    let (x, y) = large();
    let cancel = Cancel::new();
    let clock = TickClock::new(Duration::from_millis(50));
    let run = Run::new().cancel(&cancel).clock(clock).observe(Friend(cancel.clone(), 0));
    assert_eq!(Model::fit_features(&x.features(), &y, None, &Ridge::default(), &run).err(), Some(Error::Cancelled));
}

#[test]
fn a_direct_method_that_runs_out_of_time_has_nothing_to_give_and_says_so() {
    let (x, y) = large();
    let run = budget_of_looks(3);
    let error = Model::fit_features(&x.features(), &y, None, &Ridge::default(), &run).err().unwrap();
    assert_eq!(error.to_string(), "the budget ran out before ridge had an answer");
}

#[test]
fn positive_coefficients_return_the_best_so_far_marked_for_numbers_and_for_classes() {
    let mut stream = Stream::new(4, 0);
    // Columns that are nearly the same make coordinate descent slow.
    let rows: Vec<[f64; 200]> = (0..600)
        .map(|_| {
            let shared = stream.uniform();
            std::array::from_fn(|_| shared + 1e-3 * stream.uniform())
        })
        .collect();
    let x = Matrix::from_rows(&rows);
    // Every coefficient is needed, and they are hard to tell apart.
    let sum = |i: usize| (0..200).map(|j| (1 + j % 7) as f64 * x[(i, j)]).sum::<f64>();
    let numbers = Target::numbers(Matrix::column_vector((0..600).map(sum).collect())).unwrap();
    let classes = quince::learn::Classes::of(["a", "b"]);
    let classes = Target::classes(classes, (0..600).map(|i| u32::from(i % 13 < 5)).collect()).unwrap();
    let learner = Ridge { alpha: 0.0, positive: true, ..Ridge::default() };
    let fit = |target: &Target| {
        // Far too little for the sweeps that the numbers take.
        let run = budget_of_looks(30);
        Model::fit_features(&x.features(), target, None, &learner, &run).unwrap()
    };
    let model = fit(&numbers);
    assert_eq!(model.report().stop, quince::run::StopReason::Budget);
    assert!(model.report().remarks[0].starts_with("Not converged: the budget ran out"));
    assert!(!model.report().holds());
    // What is done with a fit of classes after it does not count against the budget.
    assert!(fit(&classes).predict_features(&x.features(), &Run::new()).is_ok());
}

const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Lloyd, Algorithm::Sequential, Algorithm::MiniBatch, Algorithm::Bisecting];

fn numbers(count: usize) -> Vec<f64> {
    let mut stream = Stream::new(2, 0);
    (0..count).map(|_| stream.uniform()).collect()
}

/// Row i holds the numbers from i on: many wide rows in little memory.
fn overlapping(numbers: &[f64], columns: usize) -> Features<'_> {
    let rows = numbers.len() - columns + 1;
    Features::dense(Dense::F64(View::strided(numbers, (rows, columns), (1, 1)).unwrap()))
}

#[test]
fn every_clustering_heeds_a_cancel_and_is_never_silent_for_long() {
    // A pass over these numbers takes seconds, and so does one over these centres.
    let long = numbers(4_000_000);
    let long = overlapping(&long, 1000);
    let wide = numbers(200_000);
    let wide = overlapping(&wide, 60);
    for algorithm in ALGORITHMS {
        for start in [KMeansInit::PlusPlus, KMeansInit::Random] {
            for (features, k) in [(long, 3), (wide, 4000)] {
                let settings = KMeans { k: Count::Fixed(k), algorithm, start, batch: 12_000, ..KMeans::default() };
                let about = format!("{algorithm:?} {start:?} {k}");
                check_heeds_cancel(12, &about, |run| settings.cluster_with(features, None, run).err());
            }
        }
    }
    let labels: Vec<u32> = (0..wide.rows()).map(|i| i as u32 % 7).collect();
    check_heeds_cancel(12, "silhouettes", |run| silhouettes(&wide, &labels, run).err());
}

#[test]
fn every_pass_of_a_clustering_looks_several_times() {
    let numbers = numbers(250_000);
    let features = overlapping(&numbers, 1000);
    for algorithm in ALGORITHMS {
        // Far more looks than there are passes over the rows: none may be silent.
        let settings = KMeans { k: Count::Fixed(2), algorithm, restarts: 1, steps: 1, ..KMeans::default() };
        check_heeds_cancel(20, &format!("{algorithm:?}"), |run| settings.cluster_with(features, None, run).err());
    }
}

#[test]
fn clustering_from_given_centres_has_an_answer_for_any_budget_and_marks_it() {
    let numbers = numbers(20_000);
    let features = overlapping(&numbers, 20);
    let start = Matrix::new(3, 20, numbers[..60].to_vec()).unwrap();
    for algorithm in ALGORITHMS {
        let settings = KMeans { algorithm, tolerance: 0.0, ..KMeans::default() };
        let run = Run::new().budget(Duration::ZERO);
        let found = settings.cluster_from(features, None, &start, &run).unwrap();
        assert_eq!((found.labels.len(), found.report.stop), (features.rows(), StopReason::Budget), "{algorithm:?}");
        let said = found.report.remarks.iter().any(|remark| remark.starts_with("the budget ran out"));
        assert!(said, "{algorithm:?}: {:?}", found.report.remarks);
    }
}

#[test]
fn many_centres_are_drawn_within_the_budget() {
    let mut stream = Stream::new(6, 0);
    let x = Matrix::new(5000, 3, (0..15_000).map(|_| stream.normal()).collect()).unwrap();
    let looks = looks_within(Some(30), |run| {
        let found = KMeans::new(800).cluster_with(x.features(), None, run).unwrap();
        assert_eq!((found.report.stop, found.model.centres().rows()), (StopReason::Budget, 800));
        // The rest are rows that were not drawn before: every centre has rows of its own.
        assert!(found.model.sizes().iter().filter(|size| **size > 0.0).count() > 790);
    });
    // All 800 by k-means++ would take 800 looks and more; what is due once time is up takes a few.
    assert!(looks < 100, "{looks}");
}

#[test]
fn many_components_are_started_within_the_budget() {
    let mut stream = Stream::new(6, 0);
    let x = Matrix::new(5000, 3, (0..15_000).map(|_| stream.normal()).collect()).unwrap();
    let nothing = Target::none(5000);
    let looks = |start: MixtureInit| {
        looks_within(Some(60), |run| {
            let mixture = Mixture::new(800).start(start);
            let model = Model::fit_features(&x.features(), &nothing, None, &mixture, run).unwrap();
            assert_eq!(model.report().stop, StopReason::Budget);
        })
    };
    // Random responsibilities take no search. All 800 components by k-means++ would take 800 looks more.
    let least = looks(MixtureInit::Random);
    for start in [MixtureInit::Kmeans, MixtureInit::PlusPlus] {
        let looks = looks(start);
        assert!(looks < least + 400, "{start:?}: {looks} and {least}");
    }
}
