//! K: neighbours, and D1: distances. Rows proven here: K1, K2, K3, D1.

use super::agrees;
use super::tables::FILMS;
use quince::learn::{Amount, Classes, Count, Examples, Fitted, Learner, Prediction, Target, TargetView};
use quince::neighbours::{DistanceMetric, Index, Knn, Measure, SearchMethod, Votes};
use quince::{Matrix, Run};

/// The distances between the critics of the second lecture, to one decimal.
const DISTANCES: [[f64; 6]; 6] = [
    [0.0, 7.7, 10.6, 6.2, 5.2, 7.9],
    [7.7, 0.0, 5.0, 4.4, 7.2, 3.9],
    [10.6, 5.0, 0.0, 7.5, 10.7, 6.8],
    [6.2, 4.4, 7.5, 0.0, 3.9, 3.2],
    [5.2, 7.2, 10.7, 3.9, 0.0, 5.6],
    [7.9, 3.9, 6.8, 3.2, 5.6, 0.0],
];

#[test]
fn d1_the_critics_distances_and_the_closest_pair() {
    let measure = Measure::of(DistanceMetric::Euclidean);
    let mut closest = (f64::INFINITY, 0, 0);
    for a in 0..6 {
        for b in 0..6 {
            let distance = measure.distance(&FILMS[a], &FILMS[b]);
            agrees(distance, DISTANCES[a][b], 1);
            if a < b && distance < closest.0 {
                closest = (distance, a, b);
            }
        }
    }
    // Puig and Turan.
    assert_eq!((closest.1, closest.2), (3, 5));
    agrees(closest.0, 3.2, 1);
}

#[test]
fn d1_the_other_metrics_by_their_formulas() {
    let (x, y) = ([1.0, -2.0, 3.0, 0.0], [4.0, -2.0, -1.0, 0.0]);
    let of = |metric| Measure::of(metric).distance(&x, &y);
    agrees(of(DistanceMetric::Euclidean), 5.0, 12);
    agrees(of(DistanceMetric::Manhattan), 7.0, 12);
    agrees(of(DistanceMetric::Chebyshev), 4.0, 12);
    agrees(of(DistanceMetric::Hamming), 0.5, 12);
    let cubic = Measure { p: 3.0, ..Measure::of(DistanceMetric::Minkowski) };
    agrees(cubic.distance(&x, &y), 91f64.cbrt(), 12);
    // x·y = 4 + 4 - 3 = 5, ‖x‖² = 14, ‖y‖² = 21.
    agrees(of(DistanceMetric::Cosine), 1.0 - 5.0 / (14f64 * 21.0).sqrt(), 12);
    // Pearson's correlation is the cosine about the means.
    let centred = |row: &[f64; 6]| row.map(|score| score - row.iter().sum::<f64>() / 6.0);
    let pearson = 1.0 - Measure::of(DistanceMetric::Cosine).distance(&centred(&FILMS[0]), &centred(&FILMS[4]));
    agrees(pearson, quince::numbers::correlation(&FILMS[0], &FILMS[4]).unwrap(), 12);
    agrees(pearson, 0.7619, 4);
}

/// Weather by T4's codes: rainy 1 overcast 2 sunny 3, cool 1 mild 2 hot 3, normal 1 high 2, false 0 true 1; played or not.
fn weather() -> (Matrix, Target) {
    let code = |word: &str| match word {
        "rainy" | "cool" | "normal" | "true" | "TRUE" => 1.0,
        "overcast" | "mild" | "high" => 2.0,
        "sunny" | "hot" => 3.0,
        _ => 0.0,
    };
    let lines = include_str!("../data/weather.csv").lines().skip(1);
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let rows: Vec<[f64; 4]> = cells.iter().map(|cells| std::array::from_fn(|j| code(cells[j]))).collect();
    let classes = Classes::of(cells.iter().map(|cells| cells[4]));
    let codes = cells.iter().map(|cells| classes.code(cells[4]).unwrap()).collect();
    (Matrix::from_rows(&rows), Target::classes(classes, codes).unwrap())
}

#[test]
fn k1_the_neighbours_of_a_day_and_their_distances() {
    let (days, _) = weather();
    let query = Matrix::from_rows(&[[3.0, 1.0, 2.0, 1.0]]);
    for search in [SearchMethod::Tree, SearchMethod::Product, SearchMethod::Direct] {
        let index = Index::new(&days.features(), Measure::of(DistanceMetric::Euclidean), search, &Run::new()).unwrap();
        let nearest = index.nearest(&query.features(), 9, &Run::new()).unwrap();
        let (rows, distances) = nearest.of(0);
        let days: Vec<u32> = rows.iter().map(|row| row + 1).collect();
        assert_eq!(days, [7, 8, 9, 11, 12, 2, 1, 6, 14]);
        let expected = [1.41, 1.41, 1.41, 1.41, 1.41, 2.00, 2.24, 2.24, 2.24];
        distances.iter().zip(expected).for_each(|(found, expected)| agrees(*found, expected, 2));
    }
}

#[test]
fn k1_votes_weights_of_features_and_means() {
    let (days, play) = weather();
    let query = Matrix::from_rows(&[[3.0, 1.0, 2.0, 1.0]]);
    let examples = Examples::new(days.features(), &play, None).unwrap();
    let knn = Knn { k: Count::Fixed(5), smoothing: Amount::Fixed(0.0), ..Knn::default() };
    let (model, _) = knn.fit_examples(&examples, &Run::new()).unwrap();
    let Prediction::Classes { probabilities, .. } = model.predict(&query.features(), &Run::new()).unwrap() else {
        panic!()
    };
    // Days 7, 8, 9, 11 and 12: only day 8 was not played.
    agrees(probabilities[(0, 1)], 0.8, 12);
    // One more vote, divided over two classes: (5·0.8 + 0.5) / 6.
    let smoothed = Knn { smoothing: Amount::Fixed(1.0), ..knn.clone() };
    let (model, _) = smoothed.fit_examples(&examples, &Run::new()).unwrap();
    let Prediction::Classes { probabilities, .. } = model.predict(&query.features(), &Run::new()).unwrap() else {
        panic!()
    };
    agrees(probabilities[(0, 1)], 0.75, 12);
    // Only the wind counts: the first five windy days in order, 2 6 7 11 12, three of them played.
    let windy = Knn { feature_weights: "0,0,0,1".into(), ..knn };
    let (model, _) = windy.fit_examples(&examples, &Run::new()).unwrap();
    let Prediction::Classes { probabilities, .. } = model.predict(&query.features(), &Run::new()).unwrap() else {
        panic!()
    };
    agrees(probabilities[(0, 1)], 0.6, 12);
    // Regression: 1 and 3 away, so 10 counts three times as much as 50.
    let line = Matrix::column_vector(vec![1.0, 5.0, 100.0]);
    let heights = Target::numbers(Matrix::column_vector(vec![10.0, 50.0, 0.0])).unwrap();
    let examples = Examples::new(line.features(), &heights, None).unwrap();
    for (votes, expected) in [(Votes::Uniform, 30.0), (Votes::Distance, 20.0)] {
        let knn = Knn { k: Count::Fixed(2), votes, ..Knn::default() };
        let (model, _) = knn.fit_examples(&examples, &Run::new()).unwrap();
        let at = Matrix::column_vector(vec![2.0]);
        let Prediction::Numbers(found) = model.predict(&at.features(), &Run::new()).unwrap() else { panic!() };
        agrees(found[(0, 0)], expected, 12);
    }
}

#[test]
fn k2_tree_and_product_find_the_same_and_the_shape_chooses() {
    let mut stream = quince::run::Stream::new(3, 0);
    let mut matrix = |rows: usize, columns: usize| {
        Matrix::new(rows, columns, (0..rows * columns).map(|_| stream.uniform()).collect()).unwrap()
    };
    for (columns, chosen) in [(3, SearchMethod::Tree), (60, SearchMethod::Product)] {
        let (rows, queries) = (matrix(2000, columns), matrix(100, columns));
        let ask = |search| {
            let index =
                Index::new(&rows.features(), Measure::of(DistanceMetric::Euclidean), search, &Run::new()).unwrap();
            (index.search(), index.nearest(&queries.features(), 7, &Run::new()).unwrap())
        };
        let (found, by_shape) = ask(SearchMethod::Auto);
        assert_eq!(found, chosen);
        assert_eq!(by_shape, ask(SearchMethod::Tree).1);
        assert_eq!(by_shape, ask(SearchMethod::Product).1);
        assert_eq!(by_shape, ask(SearchMethod::Direct).1);
    }
}

#[test]
fn k3_one_pass_gives_the_cross_validated_loss_of_every_k() {
    let table = quince::Table::from_csv(include_str!("../data/iris.csv")).unwrap();
    let labelled = table.labelled("species", None).unwrap();
    let columns = labelled.table.columns();
    let values = (0..150).flat_map(|i| (0..4).map(move |j| (i, j))).map(|(i, j)| columns[j].number(i).unwrap());
    let rows = Matrix::new(150, 4, values.collect()).unwrap();
    let examples = Examples::new(rows.features(), &labelled.target, None).unwrap();
    let with = |smoothing| Knn { smoothing, ..Knn::default() }.losses_by_k(&examples, &Run::new()).unwrap();
    let losses = with(Amount::Fixed(1.0));
    assert_eq!(losses.len(), 50);
    let TargetView::Classes { codes, .. } = labelled.target.view() else { panic!() };
    for k in [1, 2, 5, 17, 50] {
        // By definition: a fit for every row without it.
        let mut loss = 0.0;
        for i in 0..150 {
            let others: Vec<usize> = (0..150).filter(|&other| other != i).collect();
            let (features, target) = (rows.take_rows(&others), labelled.target.take(&others));
            let examples = Examples::new(features.features(), &target, None).unwrap();
            let knn = Knn { k: Count::Fixed(k), smoothing: Amount::Fixed(1.0), ..Knn::default() };
            let (model, _) = knn.fit_examples(&examples, &Run::new()).unwrap();
            let one = rows.take_rows(&[i]);
            let Prediction::Classes { probabilities, .. } = model.predict(&one.features(), &Run::new()).unwrap() else {
                panic!()
            };
            loss -= probabilities[(0, codes[i] as usize)].ln() / 150.0;
        }
        assert!((losses[k - 1] - loss).abs() < 1e-12, "{k}: {} and {loss}", losses[k - 1]);
    }
    let chosen = |smoothing| {
        let knn = Knn { smoothing, ..Knn::default() };
        let (model, _) = knn.fit_examples(&examples, &Run::new()).unwrap();
        (model.k(), model.smoothing())
    };
    let best = |losses: &[f64]| (0..50).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap();
    assert_eq!(chosen(Amount::Fixed(1.0)), (best(&losses) + 1, 1.0));
    // The smoothing is chosen with the number, from those that 150 rows can tell apart: at least a fifteenth of a vote.
    let tried = [0.1, 0.3, 1.0, 3.0].map(|smoothing| (smoothing, with(Amount::Fixed(smoothing))));
    let automatic = with(Amount::Auto);
    for k in 0..50 {
        assert_eq!(automatic[k], tried.iter().map(|(_, losses)| losses[k]).fold(f64::INFINITY, f64::min));
    }
    let k = best(&automatic);
    let (smoothing, _) = tried.iter().find(|(_, losses)| losses[k] == automatic[k]).unwrap();
    assert_eq!(chosen(Amount::Auto), (k + 1, *smoothing));
    assert!(automatic[k] < losses[best(&losses)]);
}
