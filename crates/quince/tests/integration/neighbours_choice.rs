//! What k-NN chooses by leave-one-out, against a leave-one-out by its definition: every distance, every vote, every metric.

use crate::clock::looks;
use crate::layouts::{Layout, with_layout};
use quince::evaluate::{Evaluation, Metric, evaluate};
use quince::learn::{Amount, Classes, Count, Examples, Fitted, Learner, Prediction, Target};
use quince::neighbours::{ChooseBy, Knn, KnnModel};
use quince::run::{Report, Stream};
use quince::{Matrix, Run};

const CLASSES: usize = 3;

/// Of a table on which the three metrics choose different numbers of neighbours.
const SEED: u64 = 17;

/// Rows on a grid, so that there are many ties, whose classes are strips with some noise; the last class is rare.
struct Example {
    x: Matrix,
    codes: Vec<u32>,
    weights: Vec<f64>,
}

impl Example {
    fn new(seed: u64) -> Example {
        let mut stream = Stream::new(seed, 0);
        let mut example = Example { x: Matrix::zeros(80, 2), codes: Vec::new(), weights: Vec::new() };
        for i in 0..80 {
            let place = [stream.below(12) as f64, stream.below(4) as f64];
            example.x.row_mut(i).copy_from_slice(&place);
            let strip = if place[0] > 9.0 { 2 } else { u32::from(place[0] > 5.0) };
            example.codes.push(if stream.below(6) == 0 { stream.below(2) as u32 } else { strip });
            example.weights.push(1.0 + stream.below(3) as f64);
        }
        example
    }

    /// Log loss, accuracy and mean F1 of the votes of the k nearest others.
    fn judge(&self, weights: &[f64], k: usize, smoothing: f64) -> [f64; 3] {
        let count = self.codes.len();
        let square = |i: usize, j: usize| -> f64 {
            self.x.row(i).iter().zip(self.x.row(j)).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let (mut log_loss, mut confusion) = (0.0, [[0.0; CLASSES]; CLASSES]);
        for i in 0..count {
            let mut others: Vec<usize> = (0..count).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| square(i, a).total_cmp(&square(i, b)).then(a.cmp(&b)));
            let mut votes = [0.0; CLASSES];
            others[..k].iter().for_each(|&j| votes[self.codes[j] as usize] += weights[j]);
            let most = votes.iter().copied().fold(0.0, f64::max);
            let label = votes.iter().position(|&vote| vote == most).unwrap();
            let (code, all) = (self.codes[i] as usize, votes.iter().sum::<f64>());
            let (k, classes) = (k as f64, CLASSES as f64);
            log_loss -= weights[i] * ((k * votes[code] / all + smoothing / classes) / (k + smoothing)).ln();
            confusion[code][label] += weights[i];
        }
        let total: f64 = weights.iter().sum();
        let right = |c: usize| confusion[c][c];
        let f1 = |c: usize| {
            let actual: f64 = confusion[c].iter().sum();
            let predicted: f64 = confusion.iter().map(|row| row[c]).sum();
            if right(c) == 0.0 { 0.0 } else { 2.0 / (actual / right(c) + predicted / right(c)) }
        };
        let accuracy = (0..CLASSES).map(right).sum::<f64>() / total;
        [log_loss / total, accuracy, (0..CLASSES).map(f1).sum::<f64>() / CLASSES as f64]
    }

    /// The number of neighbours and the smoothing that are best, and how good they are.
    fn best(&self, weights: &[f64], by: ChooseBy) -> (usize, f64, f64) {
        let mut best: Option<(usize, f64, [f64; 3])> = None;
        let at = [ChooseBy::LogLoss, ChooseBy::Accuracy, ChooseBy::F1].iter().position(|&one| one == by).unwrap();
        for k in 1..=50 {
            // Of 80 rows no error of less than about one in 80 can be seen: ten votes over 80 rows.
            for smoothing in [0.3, 1.0, 3.0] {
                let found = self.judge(weights, k, smoothing);
                let better = best.as_ref().is_none_or(|(_, _, best)| {
                    let gain = if at == 0 { 0.0 } else { found[at] - best[at] };
                    gain > 1e-12 || (gain.abs() <= 1e-12 && found[0] < best[0])
                });
                if better {
                    best = Some((k, smoothing, found));
                }
            }
        }
        let (k, smoothing, found) = best.unwrap();
        (k, smoothing, found[at])
    }
}

fn target(codes: &[u32], classes: usize) -> Target {
    let names = (0..classes).map(|class| class.to_string()).collect();
    Target::classes(Classes::in_order(names).unwrap(), codes.to_vec()).unwrap()
}

fn fact(report: &Report, name: &str) -> f64 {
    report.facts.iter().find(|(fact, _)| fact == name).unwrap_or_else(|| panic!("{name}: {:?}", report.facts)).1
}

const METRICS: [(ChooseBy, &str); 3] = [
    (ChooseBy::LogLoss, "leave-one-out log loss"),
    (ChooseBy::Accuracy, "leave-one-out accuracy"),
    (ChooseBy::F1, "leave-one-out mean F1"),
];

#[test]
fn k_and_smoothing_are_the_best_by_the_metric_that_is_asked_for() {
    let example = Example::new(SEED);
    let target = target(&example.codes, CLASSES);
    for weights in [None, Some(&example.weights)] {
        let alike = vec![1.0; example.codes.len()];
        let expected = METRICS.map(|(by, _)| example.best(weights.unwrap_or(&alike), by));
        let [by_log_loss, by_accuracy, by_f1] = expected.map(|(k, _, _)| k);
        assert!(by_log_loss != by_accuracy && by_accuracy != by_f1, "{expected:?}");
        for ((by, name), (k, smoothing, value)) in METRICS.into_iter().zip(expected) {
            for (layout, threads) in [(Layout::Rows, 1), (Layout::Rows, 2), (Layout::SinglePrecision, 1)] {
                with_layout(&example.x, layout, |features| {
                    let run = Run::new().threads_exactly(threads);
                    let examples = Examples::new(features, &target, weights.map(Vec::as_slice)).unwrap();
                    let (model, report) = Knn::new().choose_by(by).fit_examples(&examples, &run).unwrap();
                    assert_eq!((model.k(), model.smoothing()), (k, smoothing), "{by:?}");
                    assert!((fact(&report, name) - value).abs() < 1e-12, "{by:?}: {:?} {value}", report.facts);
                });
            }
        }
    }
}

#[test]
fn the_losses_of_every_k_are_those_of_the_metric_that_is_asked_for() {
    let example = Example::new(SEED);
    let (target, alike) = (target(&example.codes, CLASSES), vec![1.0; 80]);
    let examples = Examples::new(example.x.features(), &target, None).unwrap();
    // A class that no row has says nothing.
    let one_more = self::target(&example.codes, CLASSES + 1);
    let with_one_more = Examples::new(example.x.features(), &one_more, None).unwrap();
    for (by, at) in [(ChooseBy::Accuracy, 1), (ChooseBy::F1, 2)] {
        let losses = Knn::new().choose_by(by).losses_by_k(&examples, &Run::new()).unwrap();
        assert_eq!(losses.len(), 50);
        assert_eq!(Knn::new().choose_by(by).losses_by_k(&with_one_more, &Run::new()).unwrap(), losses, "{by:?}");
        for (k, loss) in (1..).zip(losses) {
            let expected = 1.0 - example.judge(&alike, k, 1.0)[at];
            assert!((loss - expected).abs() < 1e-12, "{by:?} {k}: {loss} {expected}");
        }
    }
}

#[test]
fn a_target_of_numbers_has_a_squared_error_and_nothing_else() {
    let x = Matrix::column_vector((0..30).map(f64::from).collect());
    let numbers: Vec<f64> = (0..30).map(|i| f64::from(i * i % 7)).collect();
    let target = Target::numbers(Matrix::column_vector(numbers.clone())).unwrap();
    let examples = Examples::new(x.features(), &target, None).unwrap();
    let (model, report) = Knn::new().fit_examples(&examples, &Run::new()).unwrap();
    let error = |k: usize| {
        let of_row = |i: usize| {
            let mut others: Vec<usize> = (0..30).filter(|&j| j != i).collect();
            others.sort_by_key(|&j| (i.abs_diff(j), j));
            let mean = others[..k].iter().map(|&j| numbers[j]).sum::<f64>() / k as f64;
            (mean - numbers[i]) * (mean - numbers[i]) / 30.0
        };
        (0..30).map(of_row).sum::<f64>()
    };
    let least = (1..=29).min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap();
    assert_eq!(model.k(), least);
    assert!((fact(&report, "leave-one-out squared error") - error(least)).abs() < 1e-12);
    for by in [ChooseBy::Accuracy, ChooseBy::F1] {
        let said = Knn::new().choose_by(by).fit_examples(&examples, &Run::new()).err().unwrap();
        let expected = format!("setting 'choose_by' cannot be {} for a target of numbers", by.name());
        assert_eq!((said.code(), said.to_string()), ("setting", expected));
    }
}

/// Rows as in statlog's shuttle: nearly all are of one class, some classes have only a few, and they do not touch.
fn clean(counts: [usize; 7], seed: u64) -> (Matrix, Vec<u32>) {
    let mut stream = Stream::new(seed, 0);
    let codes: Vec<u32> = (0..7).flat_map(|class| vec![class as u32; counts[class]]).collect();
    let centre = |class: u32, j: usize| if j as u32 == class % 4 { 10.0 * f64::from(1 + class / 4) } else { 0.0 };
    let values = codes.iter().flat_map(|&class| (0..4).map(move |j| centre(class, j)));
    let values: Vec<f64> = values.map(|centre| centre + stream.normal()).collect();
    (Matrix::new(codes.len(), 4, values).unwrap(), codes)
}

fn metrics(knn: &Knn, (x, codes): &(Matrix, Vec<u32>), (new, truth): &(Matrix, Vec<u32>)) -> (KnnModel, Evaluation) {
    let (run, target) = (Run::new(), target(codes, 7));
    let examples = Examples::new(x.features(), &target, None).unwrap();
    let (model, _) = knn.fit_examples(&examples, &run).unwrap();
    let prediction = model.predict(&new.features(), &run).unwrap();
    let found = evaluate(&self::target(truth, 7), &prediction, None).unwrap();
    (model, found)
}

#[test]
fn on_a_clean_table_the_defaults_are_as_right_as_few_neighbours_without_smoothing() {
    let (train, new) = (clean([3000, 600, 250, 80, 30, 24, 16], 1), clean([3000, 600, 250, 80, 30, 24, 16], 2));
    let of = |knn: &Knn| metrics(knn, &train, &new);
    let value = |found: &Evaluation, metric| found.metric(metric).unwrap();
    let (_, few) = of(&Knn::new().k(Count::Fixed(5)).smoothing(Amount::Fixed(0.0)));
    for by in [ChooseBy::LogLoss, ChooseBy::Accuracy, ChooseBy::F1] {
        let (_, found) = of(&Knn::new().choose_by(by));
        for metric in [Metric::Accuracy, Metric::F1] {
            assert!(value(&found, metric) >= value(&few, metric), "{by:?} {metric:?}: {found} {few}");
        }
        assert!(value(&found, Metric::LogLoss) < 0.01);
    }
    // A smoothing of one vote, as it once was, asks for nearly as many neighbours as there may be, and the small classes are lost.
    let (model, found) = of(&Knn::new().smoothing(Amount::Fixed(1.0)));
    assert!(model.k() > 40, "{}", model.k());
    assert!(value(&found, Metric::F1) < value(&few, Metric::F1) - 0.1, "{found}");
}

#[test]
fn leave_one_out_looks_at_the_clock_in_all_that_it_does() {
    // One neighbour of many is soon found; there are very many classes to give votes to.
    let (rows, classes) = (4000, 300);
    let x = Matrix::column_vector((0..rows).map(|i| i as f64).collect());
    let codes: Vec<u32> = (0..rows).map(|i| (i % classes) as u32).collect();
    let target = target(&codes, classes);
    let examples = Examples::new(x.features(), &target, None).unwrap();
    let of = |knn: &Knn| looks(|run| drop(knn.fit_examples(&examples, run).unwrap()));
    let given = of(&Knn::new().k(Count::Fixed(50)).smoothing(Amount::Fixed(1.0)));
    let chosen = of(&Knn::new());
    assert!(chosen > given + 200, "{chosen} and {given}");
    // A prediction for every row: the votes are counted after the search.
    let knn = Knn::new().k(Count::Fixed(50)).smoothing(Amount::Fixed(1.0));
    let (model, _) = knn.fit_examples(&examples, &Run::new()).unwrap();
    let searched = looks(|run| {
        model.index().nearest_others(&(0..rows).collect::<Vec<_>>(), 50, run).unwrap();
    });
    let left_out = looks(|run| {
        let left_out = knn.leave_one_out_examples(&examples, run).unwrap().unwrap();
        assert!(matches!(left_out, Prediction::Classes { .. }));
    });
    assert!(left_out >= given + searched + 2, "{left_out}, {given} and {searched}");
}
