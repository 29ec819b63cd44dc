//! T: tables and features. Rows proven here: T3, T6.

use super::agrees;
use quince::encode::Encoder;
use quince::evaluate::{Split, grouped_folds, hold_out, leave_one_out, stratified_folds, train_validation_test};
use quince::learn::{Classes, Target, TargetView};
use quince::numbers::mean_and_standard_deviation;
use quince::run::Stream;
use quince::{Matrix, Run, Table};

/// The film table of the second lecture: six critics, six films.
pub(crate) const FILMS: [[f64; 6]; 6] = [
    [3.0, 7.0, 4.0, 9.0, 9.0, 7.0],
    [7.0, 5.0, 5.0, 3.0, 8.0, 8.0],
    [7.0, 5.0, 5.0, 0.0, 8.0, 4.0],
    [5.0, 6.0, 8.0, 5.0, 9.0, 8.0],
    [5.0, 8.0, 8.0, 8.0, 10.0, 9.0],
    [7.0, 7.0, 8.0, 4.0, 7.0, 8.0],
];

#[test]
fn t3_means_and_standard_deviations_of_critics_and_films() {
    let means = [6.5, 6.0, 4.833, 6.833, 8.0, 6.833];
    let standard_deviations = [2.510, 2.000, 2.787, 1.722, 1.673, 1.472];
    for (critic, scores) in FILMS.iter().enumerate() {
        let (mean, standard_deviation) = mean_and_standard_deviation(scores);
        agrees(mean, means[critic], 3);
        agrees(standard_deviation, standard_deviations[critic], 3);
    }
    let film_standard_deviations = [1.633, 1.211, 1.862, 3.312, 1.049, 1.751];
    for (film, expected) in film_standard_deviations.into_iter().enumerate() {
        let scores: Vec<f64> = FILMS.iter().map(|critic| critic[film]).collect();
        agrees(mean_and_standard_deviation(&scores).1, expected, 3);
    }
}

#[test]
fn t3_correlations_of_the_weather_codes() {
    let weather = include_str!("../data/weather.csv");
    let code = |word: &str| match word {
        "rainy" | "cool" | "normal" | "TRUE" | "yes" => 1.0,
        "overcast" | "mild" | "high" => 2.0,
        "sunny" | "hot" => 3.0,
        _ => 0.0,
    };
    let rows: Vec<Vec<f64>> = weather.lines().skip(1).map(|line| line.split(',').map(code).collect()).collect();
    let mut csv = "O,T,H,W,P\n".to_string();
    for row in &rows {
        csv += &(row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
    }
    let description = Table::from_csv(&csv).unwrap().describe();
    let expected = [
        ("O", "T", 0.33541),
        ("O", "H", 0.16903),
        ("O", "W", 0.0),
        ("O", "P", -0.17638),
        ("T", "H", 0.56695),
        ("T", "W", -0.19094),
        ("T", "P", -0.19720),
        ("H", "W", 0.0),
        ("H", "P", -0.44721),
        ("W", "P", -0.25820),
    ];
    assert_eq!(description.correlations.len(), expected.len());
    for (first, second, value) in expected {
        let found = description.correlations.iter().find(|c| c.first == first && c.second == second).unwrap();
        agrees(found.value, value, 5);
    }
}

#[test]
fn t3_standardising_uses_the_training_rows_alone() {
    let csv = |rows: std::ops::Range<usize>| {
        let lines: String = rows.map(|i| format!("{},{}\n", (i * i) % 17, i as f64 * 0.5)).collect();
        Table::from_csv(&format!("a,b\n{lines}")).unwrap()
    };
    let (train, test) = (csv(0..12), csv(5..30));
    let encoder = Encoder::learn(&train, &Run::new()).unwrap();
    let encoded = |table: &Table, j: usize| -> Vec<f64> {
        let rows = encoder.encode(table, quince::encode::MissingValues::Imputed, &Run::new()).unwrap();
        let dense = rows.features().dense_part().unwrap();
        (0..table.rows()).map(|i| dense.get(i, j)).collect()
    };
    for (j, name) in ["a", "b"].into_iter().enumerate() {
        let (mean, standard_deviation) = mean_and_standard_deviation(&encoded(&train, j));
        assert!(mean.abs() < 1e-12 && (standard_deviation - 1.0).abs() < 1e-12);
        let column = |table: &Table| -> Vec<f64> {
            (0..table.rows()).map(|i| table.column(name).unwrap().number(i).unwrap()).collect()
        };
        let (mean, standard_deviation) = mean_and_standard_deviation(&column(&train));
        for (found, raw) in encoded(&test, j).iter().zip(column(&test)) {
            assert!((found - (raw - mean) / standard_deviation).abs() < 1e-12);
        }
    }
}

fn classes(counts: &[usize]) -> Target {
    let labels: Vec<String> = (0..counts.len()).map(|k| k.to_string()).collect();
    let codes = counts.iter().enumerate().flat_map(|(k, &count)| std::iter::repeat_n(k as u32, count)).collect();
    Target::classes(Classes::of(labels.iter().map(String::as_str)), codes).unwrap()
}

/// Every row is on exactly one side of every split, and tested exactly once over all.
fn assert_covers(splits: &[Split], rows: usize) {
    let mut tested = vec![0; rows];
    for split in splits {
        let mut all: Vec<usize> = split.train.iter().chain(&split.test).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..rows).collect::<Vec<_>>());
        split.test.iter().for_each(|&i| tested[i] += 1);
    }
    assert!(tested.iter().all(|&times| times == 1));
}

#[test]
fn t6_folds_are_disjoint_cover_all_rows_and_keep_the_class_frequencies() {
    for (counts, folds) in [(vec![50, 50, 50], 10), (vec![7, 23, 5], 5), (vec![2, 31], 2), (vec![13, 14], 13)] {
        let target = classes(&counts);
        let splits = stratified_folds(&target, folds, &mut Stream::new(1, 0)).unwrap();
        assert_eq!(splits.len(), folds);
        assert_covers(&splits, target.rows());
        let TargetView::Classes { codes, .. } = target.view() else { unreachable!() };
        for split in &splits {
            assert!(split.test.len().abs_diff(target.rows() / folds) <= 1);
            for (k, &count) in counts.iter().enumerate() {
                let tested = split.test.iter().filter(|&&i| codes[i] as usize == k).count();
                assert!(tested == count / folds || tested == count.div_ceil(folds), "class {k}: {tested}");
            }
        }
    }
}

#[test]
fn t6_groups_are_never_parted() {
    let groups: Vec<u32> = (0..97).map(|i| (i * i % 23) as u32).collect();
    let splits = grouped_folds(&groups, 4, &mut Stream::new(3, 0)).unwrap();
    assert_covers(&splits, groups.len());
    for split in &splits {
        assert!(split.test.iter().all(|&t| split.train.iter().all(|&r| groups[r] != groups[t])));
    }
    assert!(grouped_folds(&[0, 0, 1, 1], 3, &mut Stream::new(0, 0)).is_err());
}

#[test]
fn t6_three_parts_are_disjoint_and_cover_all_rows() {
    let target = classes(&[40, 60, 100]);
    let parts = train_validation_test(&target, 0.2, 0.3, &mut Stream::new(9, 0)).unwrap();
    assert_eq!(parts.each_ref().map(Vec::len), [100, 40, 60]);
    let mut all = parts.concat();
    all.sort_unstable();
    assert_eq!(all, (0..200).collect::<Vec<_>>());
    let TargetView::Classes { codes, .. } = target.view() else { unreachable!() };
    let of_class = |part: &[usize], k: u32| part.iter().filter(|&&i| codes[i] == k).count();
    assert_eq!([0, 1, 2].map(|k| of_class(&parts[2], k)), [12, 18, 30]);
    assert!(train_validation_test(&target, 0.5, 0.5, &mut Stream::new(0, 0)).is_err());
}

#[test]
fn t6_hold_out_and_leave_one_out_cover_all_rows() {
    let numbers = Target::numbers(Matrix::zeros(31, 1)).unwrap();
    let split = hold_out(&numbers, 0.25, &mut Stream::new(2, 0)).unwrap();
    assert_eq!((split.train.len(), split.test.len()), (23, 8));
    let mut all = [split.train, split.test].concat();
    all.sort_unstable();
    assert_eq!(all, (0..31).collect::<Vec<_>>());
    let splits = leave_one_out(7);
    assert_covers(&splits, 7);
    assert!(splits.iter().all(|split| split.test.len() == 1));
}

#[test]
fn t6_the_seed_decides_the_split() {
    let target = classes(&[30, 30]);
    let folds = |seed| stratified_folds(&target, 5, &mut Stream::new(seed, 0)).unwrap();
    assert_eq!(folds(1), folds(1));
    assert_ne!(folds(1), folds(2));
}

/// X3: how frequent words are in each class.
#[test]
fn x3_word_frequencies_per_class() {
    let table = Table::from_csv(
        "mail,label\nfree money now,spam\nfree free prize today,spam\nlunch today at noon,wanted\nsee you at lunch,wanted\n",
    )
    .unwrap();
    let table = Table::new(vec![
        table.column("mail").unwrap().as_kind(quince::Kind::Text, &table).unwrap(),
        table.column("label").unwrap().as_kind(quince::Kind::Category, &table).unwrap(),
    ])
    .unwrap();
    let found = quince::encode::class_words(&table.labelled("label", None).unwrap(), 2, &Run::new()).unwrap();
    let spam = &found[0].classes[0];
    assert_eq!((spam.class.as_str(), spam.words), ("spam", 7));
    // Three of seven words of spam are free, and three of all fifteen.
    let first = &spam.typical[0];
    assert_eq!((first.word.as_str(), first.share, first.overall), ("free", 3.0 / 7.0, 3.0 / 15.0));
    let words: Vec<&str> = found[0].classes[1].typical.iter().map(|word| word.word.as_str()).collect();
    assert_eq!(words, ["at", "lunch"]);
}
