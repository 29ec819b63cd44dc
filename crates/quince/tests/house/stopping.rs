//! Cancelling and running out of time.

use quince::cluster::{Algorithm, KMeans, Start, silhouettes};
use quince::learn::{Count, Target};
use quince::linear::Ridge;
use quince::matrix::{Dense, Features, View};
use quince::run::{Cancel, Observer, Stop, Stream};
use quince::{Error, Matrix, Model, Run};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

fn large() -> (Matrix, Target) {
    let (rows, columns) = (6000, 1500);
    let mut stream = Stream::new(1, 0);
    let x = Matrix::new(rows, columns, (0..rows * columns).map(|_| stream.uniform()).collect()).unwrap();
    (x, Target::Numbers(Matrix::column_vector((0..rows).map(|i| (i % 17) as f64).collect())))
}

/// Cancels after a while, from the calling thread, and notes the longest time between two looks.
struct Impatient {
    start: Instant,
    after: Duration,
}

impl Observer for Impatient {
    fn progress(&mut self, _: &str, _: u64, _: u64) {}
    fn poll(&mut self) -> bool {
        self.start.elapsed() >= self.after
    }
}

#[test]
fn a_fit_stops_within_a_fifth_of_a_second_of_being_asked() {
    let (x, y) = large();
    for threads in [1, 2] {
        let start = Instant::now();
        let after = Duration::from_millis(60);
        let run = Run::new().threads(threads).observe(Impatient { start, after });
        let result = Model::fit_features(&x.features(), &y, None, &Ridge::default(), &run);
        let late = start.elapsed().saturating_sub(after);
        assert_eq!(result.err(), Some(Error::Cancelled));
        // The promise is a fifth of a second; a busy machine gets a whole one.
        assert!(late < Duration::from_secs(1), "{late:?} late");
    }
}

#[test]
fn a_flag_raised_by_another_thread_stops_the_fit() {
    let (x, y) = large();
    let cancel = Cancel::new();
    let raised = cancel.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        raised.cancel();
    });
    let run = Run::new().cancel(&cancel);
    assert_eq!(Model::fit_features(&x.features(), &y, None, &Ridge::default(), &run).err(), Some(Error::Cancelled));
    other.join().unwrap();
}

#[test]
fn a_direct_method_that_runs_out_of_time_has_nothing_to_give_and_says_so() {
    let (x, y) = large();
    let run = Run::new().budget(Duration::from_millis(20));
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
    let numbers = Target::Numbers(Matrix::column_vector((0..600).map(sum).collect()));
    let classes = quince::learn::Classes::of(["a", "b"]);
    let classes = Target::Classes { classes, codes: (0..600).map(|i| u32::from(i % 13 < 5)).collect() };
    let learner = Ridge { alpha: 0.0, positive: true, ..Ridge::default() };
    let fit = |target: &Target| {
        // Far too little for the sweeps that the numbers take.
        let run = Run::new().budget(Duration::from_millis(30));
        Model::fit_features(&x.features(), target, None, &learner, &run).unwrap()
    };
    let model = fit(&numbers);
    assert_eq!(model.report().stop, quince::run::Stop::Budget);
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

/// Raises a flag from another thread after a while; says how late the work then ended.
fn late(milliseconds: u64, work: impl FnOnce(&Run) -> Option<Error>) -> Duration {
    let cancel = Cancel::new();
    let raised = cancel.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(milliseconds));
        raised.cancel();
        Instant::now()
    });
    let error = work(&Run::new().cancel(&cancel));
    let end = Instant::now();
    assert_eq!(error, Some(Error::Cancelled));
    end.saturating_duration_since(other.join().unwrap())
}

#[test]
fn every_clustering_stops_when_another_thread_asks() {
    // A pass over so many numbers takes seconds, and so does one over so many centres.
    let long = numbers(4_000_000);
    let long = overlapping(&long, 1000);
    let wide = numbers(200_000);
    let wide = overlapping(&wide, 60);
    for algorithm in ALGORITHMS {
        for start in [Start::PlusPlus, Start::Random] {
            for (features, k) in [(long, 3), (wide, 4000)] {
                let settings = KMeans { k: Count::Fixed(k), algorithm, start, batch: 12_000, ..KMeans::default() };
                let late = late(150, |run| settings.cluster(features, None, run).err());
                assert!(late < Duration::from_secs(1), "{algorithm:?} {start:?} {k}: {late:?} late");
            }
        }
    }
    let labels: Vec<u32> = (0..wide.rows()).map(|i| i as u32 % 7).collect();
    let late = late(150, |run| silhouettes(&wide, &labels, run).err());
    assert!(late < Duration::from_secs(1), "silhouettes: {late:?} late");
}

/// Notes the longest time between two looks.
struct Watch {
    last: Instant,
    longest: Rc<Cell<Duration>>,
}

impl Observer for Watch {
    fn progress(&mut self, _: &str, _: u64, _: u64) {}
    fn poll(&mut self) -> bool {
        self.longest.set(self.longest.get().max(self.last.elapsed()));
        self.last = Instant::now();
        false
    }
}

#[test]
fn no_pass_of_a_clustering_is_silent_for_long() {
    let numbers = numbers(250_000);
    let features = overlapping(&numbers, 1000);
    for algorithm in ALGORITHMS {
        let (start, longest) = (Instant::now(), Rc::new(Cell::new(Duration::ZERO)));
        let run = Run::new().threads(1).observe(Watch { last: start, longest: longest.clone() });
        let settings = KMeans { k: Count::Fixed(2), algorithm, restarts: 1, steps: 1, ..KMeans::default() };
        settings.cluster(features, None, &run).unwrap();
        let (silence, whole) = (longest.get(), start.elapsed());
        // There are about ten passes over the rows, with several looks in each; a busy machine is slower in all.
        assert!(silence < (whole / 8).max(Duration::from_millis(150)), "{algorithm:?}: {silence:?} of {whole:?}");
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
        assert_eq!((found.labels.len(), found.report.stop), (features.rows(), Stop::Budget), "{algorithm:?}");
        let said = found.report.remarks.iter().any(|remark| remark.starts_with("the budget ran out"));
        assert!(said, "{algorithm:?}: {:?}", found.report.remarks);
    }
}
