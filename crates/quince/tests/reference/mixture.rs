//! C8, C9, C10, C11, B13, B14, D7 and, for mixtures, T5.

use crate::agrees;
use quince::bayes::NaiveBayes;
use quince::learn::{Amount, Classes, Count, Examples, Fitted, Learner, Prediction, Target};
use quince::mixture::{CovarianceType, Mixture, MixtureModel};
use quince::run::{Report, Stream};
use quince::{Matrix, Model, Run, Table};

fn find(rows: &quince::matrix::Features<'_>, mixture: &Mixture) -> (MixtureModel, Report) {
    let target = Target::none(rows.rows());
    mixture.fit_examples(&Examples::new(*rows, &target, None).unwrap(), &Run::new()).unwrap()
}

fn labels(model: &MixtureModel, rows: &quince::matrix::Features<'_>) -> Vec<u32> {
    model.predict(rows, &Run::new()).unwrap().labels()
}

/// The purity: the fraction of rows whose group is the most frequent one of their component.
fn purity(found: &[u32], truth: &[u32]) -> f64 {
    let (k, groups) = (*found.iter().max().unwrap() as usize + 1, *truth.iter().max().unwrap() as usize + 1);
    let mut counts = vec![vec![0; groups]; k];
    found.iter().zip(truth).for_each(|(&a, &b)| counts[a as usize][b as usize] += 1);
    counts.iter().map(|row| *row.iter().max().unwrap()).sum::<usize>() as f64 / truth.len() as f64
}

/// Numbers of `groups` groups that are `apart` standard deviations from each other, along the first of two columns.
fn numbers(groups: usize, count: usize, apart: f64, stream: &mut Stream) -> (Matrix, Vec<u32>) {
    let truth: Vec<u32> = (0..count).map(|i| (i % groups) as u32).collect();
    let rows: Vec<[f64; 2]> =
        truth.iter().map(|&g| [apart * f64::from(g) + stream.normal(), stream.normal()]).collect();
    (Matrix::from_rows(&rows), truth)
}

#[test]
fn c8_the_log_likelihood_never_falls_for_any_covariance() {
    let (rows, truth) = numbers(3, 600, 5.0, &mut Stream::new(1, 0));
    for covariance in [CovarianceType::Full, CovarianceType::Diagonal, CovarianceType::Spherical] {
        for shared in [false, true] {
            let mixture = Mixture {
                k: Count::Fixed(3),
                covariance,
                shared,
                variance_floor: 0.0,
                tolerance: 1e-9,
                ..Mixture::default()
            };
            let (model, report) = find(&rows.features(), &mixture);
            assert!(report.trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{covariance:?} {shared}");
            assert!(purity(&labels(&model, &rows.features()), &truth) > 0.97);
        }
    }
}

/// Rows of words from topics, each of which has words of its own beside common ones.
fn documents(truth: &[u32], words: usize, stream: &mut Stream) -> quince::matrix::Sparse {
    let document = |&topic: &u32, stream: &mut Stream| {
        let mut counts = vec![0.0; 30];
        for _ in 0..words {
            let own = stream.uniform() < 0.5;
            counts[if own { 10 * (topic as usize % 3) + stream.below(10) } else { stream.below(30) }] += 1.0;
        }
        let entries = counts.into_iter().enumerate().filter(|(_, n)| *n > 0.0);
        entries.map(|(j, n)| (j as u32, n)).collect::<Vec<_>>()
    };
    quince::matrix::Sparse::from_rows(30, truth.iter().map(|topic| document(topic, stream)).collect::<Vec<_>>())
        .unwrap()
}

#[test]
fn c9_planted_topics_are_recovered() {
    let mut stream = Stream::new(2, 0);
    let truth: Vec<u32> = (0..300).map(|i| i % 3).collect();
    let rows = documents(&truth, 40, &mut stream);
    let (model, report) = find(&rows.features(), &Mixture { k: Count::Fixed(3), ..Mixture::default() });
    assert!(report.trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12));
    assert!(purity(&labels(&model, &rows.features()), &truth) > 0.99);
    // Half of a topic's words are its own ten, the other half any of thirty.
    let logs = &model.parameters()[0];
    let words = logs.array("log").unwrap();
    for k in 0..3 {
        let mut own: Vec<f64> = words.row(k).iter().map(|log| log.exp()).collect();
        own.sort_by(f64::total_cmp);
        let tens: f64 = own[20..].iter().sum();
        assert!((tens - (0.5 + 0.5 / 3.0)).abs() < 0.03, "{tens}");
    }
}

#[test]
fn c10_picture_and_words_together_find_what_neither_finds_alone() {
    // Four groups: the numbers tell two pairs apart, and the words the two of each pair.
    let mut stream = Stream::new(3, 0);
    let truth: Vec<u32> = (0..400).map(|i| i % 4).collect();
    let pictures: Vec<[f64; 2]> =
        truth.iter().map(|&g| [8.0 * f64::from(g / 2) + stream.normal(), stream.normal()]).collect();
    let pictures = Matrix::from_rows(&pictures);
    let topics: Vec<u32> = truth.iter().map(|&g| g % 2).collect();
    let words = documents(&topics, 40, &mut stream);
    let both = quince::matrix::Features::both(quince::matrix::Dense::F64(pictures.view()), &words).unwrap();
    // No variance floor, so that nothing can lower the likelihood.
    let four = Mixture { k: Count::Fixed(4), restarts: 5, variance_floor: 0.0, ..Mixture::default() };
    let score = |rows: &quince::matrix::Features<'_>| {
        let (model, report) = find(rows, &four);
        assert!(report.trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-10));
        purity(&labels(&model, rows), &truth)
    };
    let (joint, numbers, texts) = (score(&both), score(&pictures.features()), score(&words.features()));
    assert!(joint > 0.97 && numbers < 0.65 && texts < 0.65, "{joint} {numbers} {texts}");
}

#[test]
fn c11_responsibilities_densities_and_quantisation() {
    let (rows, _) = numbers(3, 300, 9.0, &mut Stream::new(4, 0));
    let features = rows.features();
    let (model, _) = find(&features, &Mixture { k: Count::Fixed(3), ..Mixture::default() });
    let responsibilities = model.responsibilities(&features, &Run::new()).unwrap();
    assert!((0..300).all(|i| (responsibilities.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12));
    // A row far from all others has a lower density than any.
    let outlier = Matrix::from_rows(&[[4.5, 9.0]]);
    let lowest = model.log_densities(&outlier.features(), &Run::new()).unwrap()[0];
    assert!(model.log_densities(&features, &Run::new()).unwrap().iter().all(|density| *density > lowest));
    // A row as the number of its component, and back: what is lost is about the variance within.
    let parameters = model.parameters();
    let means = parameters[0].array("mean").unwrap();
    let lost: f64 = labels(&model, &features)
        .iter()
        .enumerate()
        .map(|(i, &k)| (0..2).map(|j| (rows[(i, j)] - means[(k as usize, j)]).powi(2)).sum::<f64>())
        .sum();
    assert!((lost / 300.0 - 2.0).abs() < 0.3, "{lost}");
}

#[test]
fn b13_unlabelled_rows_help_where_labels_are_few() {
    let mut stream = Stream::new(5, 0);
    let truth: Vec<u32> = (0..600).map(|i| i % 3).collect();
    let rows = documents(&truth, 12, &mut stream);
    let codes: Vec<u32> = (0..600).map(|i| if i < 6 { truth[i] } else { Target::UNKNOWN }).collect();
    let classes = Classes::of(["0", "1", "2"]);
    let some = Target::classes(classes.clone(), codes).unwrap();
    let few = Target::classes(classes, truth[..6].to_vec()).unwrap();
    let run = Run::new();
    let right = |model: &dyn Fitted| {
        let said = model.predict(&rows.features(), &run).unwrap().labels();
        said.iter().zip(&truth).filter(|(a, b)| a == b).count() as f64 / 600.0
    };
    let mixture = Mixture { family: "multinomial".parse().unwrap(), ..Mixture::default() };
    let (all, _) = mixture.fit_examples(&Examples::new(rows.features(), &some, None).unwrap(), &run).unwrap();
    let labelled = rows.take_rows(&[0, 1, 2, 3, 4, 5]);
    let naive = NaiveBayes { family: "multinomial".parse().unwrap(), ..NaiveBayes::default() };
    let (alone, _) = naive.fit_examples(&Examples::new(labelled.features(), &few, None).unwrap(), &run).unwrap();
    let (all, alone) = (right(&all), right(&alone));
    assert!(all > alone + 0.1 && all > 0.9, "{all} {alone}");
}

#[test]
fn b14_families_missing_values_components_and_few_labels_in_one_model() {
    let mut stream = Stream::new(6, 0);
    let mut text = String::from("size,visits,colour,known,kind\n");
    let mut truth = Vec::new();
    for i in 0..400 {
        let kind = i % 2;
        // The first kind is small or very large.
        let size = match kind {
            0 if stream.uniform() < 0.5 => 2.0 + stream.normal(),
            0 => 30.0 + stream.normal(),
            _ => 15.0 + stream.normal(),
        };
        let visits = (stream.uniform() * if kind == 0 { 3.0 } else { 6.0 }).floor();
        let colour = if stream.uniform() < 0.8 { ["red", "blue"][kind] } else { ["blue", "red"][kind] };
        let mut cell = |text: String| if stream.uniform() < 0.1 { String::new() } else { text };
        let (size, visits, colour) = (cell(format!("{size:.2}")), cell(visits.to_string()), cell(colour.into()));
        let label = if i < 60 { ["a", "b"][kind] } else { "" };
        text += &format!("{size},{visits},{colour},yes,{label}\n");
        truth.push(kind as u32);
    }
    let table = Table::from_csv(&text).unwrap();
    let supervised = table.supervised("kind", None, None, None, true).unwrap();
    assert!(supervised.labelled.target.has_unknown() && supervised.labelled.rows.len() == 400);
    let right = |per_class: usize, family: &str| {
        let mixture = Mixture { per_class, family: family.parse().unwrap(), ..Mixture::default() };
        let model = Model::fit(&supervised.labelled, None, &mixture, &Run::new()).unwrap();
        let said = model.predict(&table).unwrap();
        assert!(matches!(said, Prediction::Classes { .. }));
        said.labels().iter().zip(&truth).filter(|(a, b)| a == b).count() as f64 / 400.0
    };
    let family = "size=normal,visits=poisson";
    let (one, two) = (right(1, family), right(2, family));
    assert!(two > 0.93 && two > one, "{one} {two}");
}

#[test]
fn d7_and_t5_missing_counts_are_imputed() {
    let rows = Matrix::from_rows(&[[3.0, 5.0, 6.0, 2.0], [0.0, f64::NAN, 3.0, 1.0], [1.0, 2.0, f64::NAN, 6.0]]);
    let one = Mixture {
        k: Count::Fixed(1),
        family: "multinomial".parse().unwrap(),
        alpha: Amount::Fixed(0.0),
        tolerance: 0.0,
        steps: 2000,
        ..Mixture::default()
    };
    let (model, _) = find(&rows.features(), &one);
    let imputed = model.impute(&rows.features(), None, &Run::new()).unwrap().unwrap();
    agrees(imputed.values[(1, 1)], 1.1347, 4);
    agrees(imputed.values[(2, 2)], 6.6750, 4);
    assert_eq!(imputed.values[(0, 0)], 3.0);
    assert!(imputed.standard_deviations[(0, 0)].is_nan() && imputed.standard_deviations[(1, 1)] > 0.0);
}

#[test]
fn t5_imputed_irises_beat_means_and_neighbours() {
    let text = include_str!("../data/iris.csv");
    let table = Table::from_csv(text).unwrap().without(&["species"]);
    let columns: Vec<Vec<f64>> =
        table.columns().iter().map(|column| (0..150).map(|i| column.number(i).unwrap()).collect()).collect();
    let mut errors = [0.0; 3];
    for draw in 0..5 {
        let mut stream = Stream::new(draw, 0);
        let mut rows = Matrix::zeros(150, 4);
        let mut missing = Vec::new();
        for i in 0..150 {
            for (j, column) in columns.iter().enumerate() {
                let is_missing = stream.uniform() < 0.2;
                rows[(i, j)] = if is_missing { f64::NAN } else { column[i] };
                if is_missing {
                    missing.push((i, j));
                }
            }
        }
        let (model, _) = find(&rows.features(), &Mixture::default());
        let mixture = model.impute(&rows.features(), None, &Run::new()).unwrap().unwrap().values;
        for &(i, j) in &missing {
            let known: Vec<f64> = (0..150).map(|r| rows[(r, j)]).filter(|x| !x.is_nan()).collect();
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            let standard_deviation =
                (known.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / known.len() as f64).sqrt();
            let guesses = [mean, neighbours(&rows, i, j, 5), mixture[(i, j)]];
            for (error, guess) in errors.iter_mut().zip(guesses) {
                *error += ((guess - columns[j][i]) / standard_deviation).powi(2);
            }
        }
    }
    let [mean, neighbours, mixture] = errors;
    assert!(mixture < 0.75 * neighbours && neighbours < mean, "{errors:?}");
}

/// The mean of a column in the nearest rows that have it, by the columns that both know.
fn neighbours(rows: &Matrix, i: usize, j: usize, k: usize) -> f64 {
    let mut found: Vec<(f64, f64)> = (0..rows.rows())
        .filter(|&r| r != i && !rows[(r, j)].is_nan())
        .map(|r| {
            let both = (0..rows.columns()).filter(|&c| !rows[(i, c)].is_nan() && !rows[(r, c)].is_nan());
            let squares: Vec<f64> = both.map(|c| (rows[(i, c)] - rows[(r, c)]).powi(2)).collect();
            let far =
                if squares.is_empty() { f64::INFINITY } else { squares.iter().sum::<f64>() / squares.len() as f64 };
            (far, rows[(r, j)])
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found[..k].iter().map(|(_, x)| x).sum::<f64>() / k as f64
}
