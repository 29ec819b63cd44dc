//! Every family, alone and together, with missing values and weights: leaving out a row is learning without it, halves make a whole, and
//! neither threads nor files nor layouts change anything.

use super::model::BayesModel;
use super::*;
use crate::calibration::Calibration;
use crate::em::Data;
use crate::family::block::{
    Axes, Bernoullis, Block, Categories, Coding, GaussianPlan, Gaussians, KernelDensities, MarkovChains, Multinomials,
    Normals, Place, Poissons, Shape, Shared, Shrinkage, VarianceFloor,
};
use crate::family::layout::bins::equal_widths;
use crate::family::statistics::{Members, statistics};
use crate::learn::{Classes, Fitted, SavedParts, Settings};
use crate::matrix::{Features, Matrix, Rows, Sparse};
use crate::run::Stream;
use proptest::prelude::*;

const DENSE: usize = 10;
const SPARSE: usize = 6;

/// Rows of all kinds: two numbers, a count, an answer, two categories, two counts and two numbers that are never missing; and sparse
/// counts.
struct Example {
    rows: Rows,
    codes: Vec<u32>,
    weights: Option<Vec<f64>>,
}

fn example(seed: u64, count: usize, classes: usize, weighted: bool) -> Example {
    let mut stream = Stream::new(seed, 0);
    let mut dense = Matrix::zeros(count, DENSE);
    let (mut sparse, mut codes) = (Vec::new(), Vec::new());
    for i in 0..count {
        let class = (stream.uniform() * classes as f64) as u32;
        let shift = f64::from(class);
        let row = [
            1e3 + shift + stream.normal(),
            5.0 - 2.0 * shift + 3.0 * stream.normal(),
            ((1.0 + shift) * 3.0 * stream.uniform()).floor(),
            f64::from(u8::from(stream.uniform() < 0.3 + 0.1 * shift)),
            (3.0 * stream.uniform()).floor(),
            (4.0 * stream.uniform()).floor(),
            (5.0 * stream.uniform()).floor(),
            (3.0 * stream.uniform()).floor(),
            -500.0 + shift + stream.normal(),
            0.5 * shift + 2.0 * stream.normal(),
        ];
        for (j, x) in row.into_iter().enumerate() {
            dense[(i, j)] = if j < 6 && stream.uniform() < 0.15 { f64::NAN } else { x };
        }
        let words = (0..SPARSE as u32).filter_map(|j| {
            let often = (4.0 * stream.uniform() - 1.5).floor();
            (often > 0.0).then_some((j, often))
        });
        let words: Vec<(u32, f64)> = words.collect();
        sparse.push(if stream.uniform() < 0.1 { vec![(0, f64::NAN)] } else { words });
        codes.push(class);
    }
    let weights = weighted.then(|| (0..count).map(|_| 0.25 + (4.0 * stream.uniform()).floor()).collect());
    let sparse = Sparse::from_rows(SPARSE, sparse).unwrap();
    Example { rows: Rows::of(dense, Some(sparse)), codes, weights }
}

const FLOOR: VarianceFloor = VarianceFloor { relative: 1e-3, of_largest: false, absolute: 0.0 };

fn gaussian(shape: Shape, shared: Shared, amount: f64) -> GaussianPlan {
    GaussianPlan {
        variance_floor: FLOOR,
        shrinkage: Shrinkage { amount, ..Shrinkage::none() },
        ..GaussianPlan::plain(shape, shared)
    }
}

/// Blocks by name.
fn blocks(names: &str, example: &Example, classes: usize) -> Vec<Block> {
    let one = |name: &str| {
        block_of_columns(name, example, classes)
            .or_else(|| complete_gaussian(name, classes))
            .or_else(|| block_with_missing(name, classes))
            .unwrap_or_else(|| panic!("there is no block '{name}'"))
    };
    names.split('+').map(one).collect()
}

/// A block whose columns are independent of each other, or a chain of categories.
fn block_of_columns(name: &str, example: &Example, classes: usize) -> Option<Block> {
    let origin = vec![0.0; DENSE];
    let sparse = || Place::Sparse { first: 0, width: SPARSE };
    let normals = |steps: Vec<f64>| Block::Normal(Normals::new(vec![0, 1], classes, &origin, FLOOR, steps));
    let bernoullis = |place, pseudocounts| Block::Bernoulli(Bernoullis::new(place, 0.0, pseudocounts));
    let values = |j: usize| {
        let mut values: Vec<f64> = example.rows.features().dense_column(j);
        values.retain(|x| !x.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    Some(match name {
        "normal" => normals(vec![0.0; 2]),
        "rounded" => normals(vec![0.5, 0.0]),
        "poisson" => Block::Poisson(Poissons::new(vec![2], 0.5)),
        "bernoulli" => bernoullis(Place::Dense(vec![3]), (2.0, 0.5)),
        "presence" => bernoullis(sparse(), (1.0, 0.3)),
        "presence-unsmoothed" => bernoullis(sparse(), (0.0, 0.5)),
        "categorical" => {
            let coding = vec![Coding::Codes(3), Coding::Bins(equal_widths(&values(1), 5))];
            Block::Categorical(Categories::new(vec![4, 1], coding, 1.0))
        }
        "unsmoothed" => Block::Categorical(Categories::new(vec![5], vec![Coding::Codes(4)], 0.0)),
        "counts" => Block::Multinomial(Multinomials::new(Place::Dense(vec![6, 7]), 1.0)),
        "words" => Block::Multinomial(Multinomials::new(sparse(), 0.5)),
        "kernel-density" => {
            let mut all = values(1);
            all.dedup();
            Block::KernelDensity(KernelDensities::new(vec![1], vec![all], 0.0))
        }
        "markov-chain" => Block::MarkovChain(MarkovChains::new(vec![4, 5, 3], vec![3, 4, 2], 1.0)),
        _ => return None,
    })
}

/// A Gaussian of the columns that are never missing.
fn complete_gaussian(name: &str, classes: usize) -> Option<Block> {
    let plan = match name {
        "full" => gaussian(Shape::Full, Shared::No, 0.0),
        "mean" => gaussian(Shape::Full, Shared::Mean, 0.0),
        "pooled" => gaussian(Shape::Full, Shared::Pooled, 0.0),
        "pooled-unbiased" => GaussianPlan { unbiased: true, ..gaussian(Shape::Full, Shared::Pooled, 0.0) },
        "weighted" => GaussianPlan { unbiased: true, ..gaussian(Shape::Full, Shared::Weighted, 0.2) },
        "weighted-by-priors" => gaussian(Shape::Full, Shared::Weighted, 0.0),
        "ledoit-wolf" => GaussianPlan { ledoit_wolf: true, ..gaussian(Shape::Full, Shared::No, 0.0) },
        "ledoit-wolf-pooled" => GaussianPlan { ledoit_wolf: true, ..gaussian(Shape::Full, Shared::Pooled, 0.0) },
        "shrunk" => gaussian(Shape::Full, Shared::No, 0.3),
        "diagonal" => gaussian(Shape::Diagonal, Shared::Mean, 0.0),
        "spherical" => gaussian(Shape::Spherical, Shared::No, 0.0),
        _ => return None,
    };
    let block = Gaussians::new(vec![8, 9, 6], classes, (&[0.0; DENSE], vec![0.0; 3]), None, &plan);
    let by_priors = || (0..classes).map(|k| k as f64).collect();
    Some(Block::Gaussian(if name == "weighted-by-priors" { block.weighted(by_priors()) } else { block }))
}

/// A block of columns with missing values: along axes they are at the mean, and otherwise expected by the rest of the row.
fn block_with_missing(name: &str, classes: usize) -> Option<Block> {
    let axes = || {
        let vectors = Matrix::from_rows(&[[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]]);
        Axes { centre: vec![1e3, 0.0, 2.0], vectors, separation: None }
    };
    let plan = match name {
        "axes" | "pooled-missing" => gaussian(Shape::Full, Shared::Pooled, 0.0),
        "full-missing" => gaussian(Shape::Full, Shared::No, 0.0),
        "shrunk-missing" => gaussian(Shape::Full, Shared::No, 0.3),
        "diagonal-missing" => gaussian(Shape::Diagonal, Shared::Pooled, 0.0),
        "spherical-missing" => gaussian(Shape::Spherical, Shared::No, 0.0),
        "counts-missing" => {
            let counts = Multinomials::new(Place::Dense(vec![2, 6, 7]), 1.0);
            return Some(Block::Multinomial(counts.with_missing()));
        }
        _ => return None,
    };
    let origin = (&[0.0; DENSE][..], vec![1e3, 4.0, 2.0]);
    Some(Block::Gaussian(Gaussians::new(vec![0, 1, 6], classes, origin, (name == "axes").then(axes), &plan)))
}

const ALL: [&str; 26] = [
    "normal",
    "rounded",
    "poisson",
    "bernoulli",
    "presence",
    "presence-unsmoothed",
    "categorical",
    "unsmoothed",
    "counts",
    "words",
    "kernel-density",
    "markov-chain",
    "full",
    "mean",
    "pooled",
    "pooled-unbiased",
    "weighted",
    "weighted-by-priors",
    "ledoit-wolf",
    "ledoit-wolf-pooled",
    "shrunk",
    "diagonal",
    "spherical",
    "axes",
    "normal+poisson+bernoulli+categorical+words",
    "pooled+markov-chain+presence",
];

/// Gaussians and counts with missing values: they are imputed by their expectation, so that learning needs EM.
const IMPUTING: [&str; 7] = [
    "counts-missing",
    "full-missing",
    "pooled-missing",
    "shrunk-missing",
    "diagonal-missing",
    "spherical-missing",
    "full-missing+bernoulli+words",
];

fn fitted(blocks: Vec<Block>, example: &Example, classes: usize, run: &Run) -> BayesModel {
    let members = Members::new(&example.codes, classes, example.weights.as_deref());
    BayesModel::fit(blocks, Vec::new(), Priors::Data, &example.rows.features(), &members, run).unwrap()
}

/// The model of some of the rows, with all that is settled as it is.
fn of_some(model: &BayesModel, example: &Example, rows: &[usize]) -> Result<BayesModel> {
    let (codes, taken) = (rows.iter().map(|&i| example.codes[i]).collect::<Vec<_>>(), example.rows.take(rows));
    let weights: Option<Vec<f64>> = example.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect());
    let members = Members::new(&codes, model.totals.len(), weights.as_deref());
    let mut other = model.clone();
    let blocks: Vec<&Block> = model.product.blocks.iter().collect();
    other.product.statistics = statistics(&blocks, &taken.features(), &members, &Run::new())?;
    other.totals = members.totals();
    other.product.estimate(&Run::new())?;
    other.log_priors = other.priors.logs(&other.totals);
    Ok(other)
}

fn scores(model: &BayesModel, features: &Features<'_>, run: &Run) -> (Matrix, Matrix) {
    match model.predict(features, run).unwrap() {
        Prediction::Classes { scores, probabilities } => (scores, probabilities),
        other => panic!("{other:?}"),
    }
}

fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Leaving out a row is learning without it.
    #[test]
    fn leave_one_out_is_learning_without_the_row(seed: u64, count in 6..40usize, weighted: bool) {
        let classes = 3;
        let example = example(seed, count, classes, weighted);
        for names in ALL {
            let model = fitted(blocks(names, &example, classes), &example, classes, &Run::new());
            let members = Members::new(&example.codes, classes, example.weights.as_deref());
            let left_out = model.without_each(&example.rows.features(), &members, &Run::new()).unwrap();
            let Prediction::Classes { probabilities, .. } = left_out else { panic!() };
            for i in 0..count {
                let others: Vec<usize> = (0..count).filter(|&other| other != i).collect();
                // A class that loses its only row has neither a prior nor anything to say.
                let Ok(other) = of_some(&model, &example, &others) else { continue };
                let (_, again) = scores(&other, &example.rows.take(&[i]).features(), &Run::new());
                for k in 0..classes {
                    prop_assert!(near(probabilities[(i, k)], again[(0, k)]),
                        "{names}: row {i}, class {k} of {}: {} and {}", example.codes[i], probabilities[(i, k)], again[(0, k)]);
                }
            }
        }
    }

    /// Merging the models of two halves, or updating one with the other, gives the model of the whole.
    #[test]
    fn halves_make_a_whole(seed: u64, count in 8..60usize, weighted: bool) {
        let classes = 3;
        let example = example(seed, count, classes, weighted);
        let all = example.rows.features();
        // The first rows decide by how much Ledoit and Wolf's rule shrinks.
        for names in ALL.into_iter().filter(|names| !names.starts_with("ledoit-wolf")) {
            let whole = fitted(blocks(names, &example, classes), &example, classes, &Run::new());
            let half = |from: usize| {
                let rows: Vec<usize> = (from..count).step_by(2).collect();
                let codes: Vec<u32> = rows.iter().map(|&i| example.codes[i]).collect();
                let weights: Option<Vec<f64>> = example.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect());
                Example { rows: example.rows.take(&rows), codes, weights }
            };
            let (left, right) = (half(0), half(1));
            let run = Run::new();
            let layout = || blocks(names, &example, classes);
            let fit = |half: &Example| {
                let members = Members::new(&half.codes, classes, half.weights.as_deref());
                BayesModel::fit(layout(), Vec::new(), Priors::Data, &half.rows.features(), &members, &run)
            };
            // A half may have too few rows of a class for a covariance of its own.
            let (Ok(first), Ok(second)) = (fit(&left), fit(&right)) else { continue };
            let joined = first.merged(&second, &run).unwrap();
            let target = Target::classes(Classes::of(["0", "1", "2"]), right.codes.clone()).unwrap();
            let mut updated = first.clone();
            let more = Examples::new(right.rows.features(), &target, right.weights.as_deref()).unwrap();
            updated.update(&more, &run).unwrap();
            let (expected, _) = scores(&whole, &all, &run);
            for other in [joined, updated] {
                let (found, _) = scores(&other, &all, &run);
                for (a, b) in expected.values().iter().zip(found.values()) {
                    prop_assert!(near(*a, *b), "{names}: {a} and {b}");
                }
            }
        }
    }

    /// A saved model says the same, to the last bit.
    #[test]
    fn a_saved_model_says_the_same(seed: u64, weighted: bool) {
        let classes = 3;
        let example = example(seed, 40, classes, weighted);
        for names in ALL {
            let model = fitted(blocks(names, &example, classes), &example, classes, &Run::new());
            let mut parts = SavedParts::for_tests(DENSE + SPARSE, classes);
            model.save(&mut parts);
            let again = BayesModel::load(&mut parts).unwrap();
            let features = example.rows.features();
            prop_assert_eq!(scores(&model, &features, &Run::new()), scores(&again, &features, &Run::new()), "{}", names);
        }
    }

    /// A weight of two is the row twice.
    #[test]
    fn a_weight_is_a_row_again(seed: u64) {
        let classes = 3;
        let mut example = example(seed, 30, classes, false);
        let repeats: Vec<usize> = (0..30).map(|i| 1 + i % 3).collect();
        let rows: Vec<usize> = (0..30).flat_map(|i| vec![i; repeats[i]]).collect();
        let codes = rows.iter().map(|&i| example.codes[i]).collect();
        let repeated = Example { rows: example.rows.take(&rows), codes, weights: None };
        example.weights = Some(repeats.iter().map(|&n| n as f64).collect());
        for names in ALL {
            let a = fitted(blocks(names, &example, classes), &example, classes, &Run::new());
            let b = fitted(blocks(names, &example, classes), &repeated, classes, &Run::new());
            let features = example.rows.features();
            let (a, b) = (scores(&a, &features, &Run::new()).0, scores(&b, &features, &Run::new()).0);
            for (a, b) in a.values().iter().zip(b.values()) {
                prop_assert!(near(*a, *b), "{names}: {a} and {b}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// With imputed values: leaving out a row is learning without it, with the expectations of the others as they are.
    #[test]
    fn a_row_with_missing_values_is_left_out_with_its_expectations(seed: u64, count in 20..50usize, weighted: bool) {
        let classes = 2;
        let example = example(seed, count, classes, weighted);
        let features = example.rows.features();
        for names in IMPUTING {
            let mut model = fitted(blocks(names, &example, classes), &example, classes, &Run::new());
            let members = Members::new(&example.codes, classes, example.weights.as_deref());
            // Any parameters will do: the statistics are those expected under them.
            let mut state = model.as_state();
            let data = Data::new(&features, example.weights.as_deref(), Some(&example.codes), &model.product.blocks);
            prop_assume!(data.has_missing());
            for _ in 0..3000 {
                (state.product.statistics, _) = state.expected(&data, &Run::new()).unwrap();
                state.product.estimate(&Run::new()).unwrap();
            }
            model.product = state.product.clone();
            let left_out = model.without_each(&features, &members, &Run::new()).unwrap();
            let Prediction::Classes { probabilities, .. } = left_out else { panic!() };
            for i in (0..count).step_by(7) {
                let others: Vec<usize> = (0..count).filter(|&other| other != i).collect();
                let (rows, codes) = (example.rows.take(&others), others.iter().map(|&r| example.codes[r]).collect::<Vec<_>>());
                let weights: Option<Vec<f64>> = example.weights.as_ref().map(|w| others.iter().map(|&r| w[r]).collect());
                let rows = rows.features();
                let data = Data::new(&rows, weights.as_deref(), Some(&codes), &model.product.blocks);
                let (mut state, mut other) = (state.clone(), model.clone());
                (state.product.statistics, other.totals) = state.expected(&data, &Run::new()).unwrap();
                if other.totals.contains(&0.0) || state.product.estimate(&Run::new()).is_err() {
                    continue;
                }
                (other.product, other.log_priors) = (state.product, other.priors.logs(&other.totals));
                let (_, again) = scores(&other, &example.rows.take(&[i]).features(), &Run::new());
                for k in 0..classes {
                    let (a, b) = (probabilities[(i, k)], again[(0, k)]);
                    prop_assert!((a - b).abs() < 1e-6, "{names}: row {i}, class {k} of {}: {a} and {b}", example.codes[i]);
                }
            }
        }
    }
}

#[test]
fn one_thread_or_many_the_bits_are_the_same() {
    let example = example(7, 5000, 3, true);
    for names in ALL {
        let with = |threads: usize| {
            let run = Run::new().threads_exactly(threads);
            let model = fitted(blocks(names, &example, 3), &example, 3, &run);
            scores(&model, &example.rows.features(), &run)
        };
        assert!(with(1) == with(2), "{names}");
    }
}

#[test]
fn labels_and_probabilities_alone_are_those_of_the_whole_prediction() {
    let example = example(9, 700, 3, true);
    for names in ALL {
        let run = Run::new().threads(2);
        let mut model = fitted(blocks(names, &example, 3), &example, 3, &run);
        model.calibration = Calibration { temperature: 0.5, biases: vec![0.1, 0.0, -0.2], contamination: 0.0 };
        let features = example.rows.features();
        let whole = model.predict(&features, &run).unwrap();
        assert_eq!(model.labels(&features, &run).unwrap(), whole.labels(), "{names}");
        let Prediction::Classes { scores, probabilities } = whole else { panic!("{names}") };
        assert_eq!(model.probabilities(&features, &run).unwrap(), probabilities, "{names}");
        for i in 0..scores.rows() {
            let total = scores.row(i).iter().map(|score| score.exp()).sum::<f64>();
            let near = |(p, score): (&f64, &f64)| (p - score.exp() / total).abs() < 1e-12;
            assert!(total == 0.0 || probabilities.row(i).iter().zip(scores.row(i)).all(near), "{names}, row {i}");
        }
    }
}

#[test]
fn a_dense_matrix_is_taken_as_the_sparse_one_it_was_learnt_from() {
    let example = example(3, 60, 3, false);
    let model = fitted(blocks("normal+words", &example, 3), &example, 3, &Run::new());
    let features = example.rows.features();
    let known: Vec<usize> =
        (0..60).filter(|&i| !features.sparse_part().unwrap().row(i).1.iter().any(|x| x.is_nan())).collect();
    let some = example.rows.take(&known);
    let mut whole = Matrix::zeros(known.len(), DENSE + SPARSE);
    some.features().pack(0..known.len(), whole.values_mut());
    assert_eq!(scores(&model, &some.features(), &Run::new()), scores(&model, &whole.features(), &Run::new()));
}

#[test]
fn an_infinite_number_is_refused_with_its_place_whatever_the_family() {
    let rows = Matrix::from_rows(&[[1.0, 2.0], [2.5, 1.0], [f64::INFINITY, 0.0], [4.0, 3.0]]);
    let target = Target::classes(Classes::of(["0", "1"]), vec![0, 1, 0, 1]).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for family in ["auto", "normal", "histogram", "quantiles", "kernel-density", "bernoulli", "gaussian", "multinomial"]
    {
        let learner = NaiveBayes { family: family.parse().unwrap(), ..NaiveBayes::default() };
        let error = crate::learn::Learner::fit_examples(&learner, &examples, &Run::new()).err();
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("infinity: row 3, column 1"), "{family}: {said}");
    }
}

#[test]
fn more_bins_or_categories_than_there_is_room_for_are_refused() {
    let rows = Matrix::from_rows(&[[1.0], [2.5], [3.0], [4.0]]);
    let target = Target::classes(Classes::of(["0", "1"]), vec![0, 1, 0, 1]).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let bins = NaiveBayes { bins: crate::learn::Count::Fixed(1 << 40), ..NaiveBayes::default() };
    let categories = NaiveBayes { categories: 1 << 40, ..NaiveBayes::default() };
    for (learner, name) in [(bins, "bins"), (categories, "categories")] {
        let error = crate::learn::Learner::fit_examples(&learner, &examples, &Run::new()).err().unwrap();
        assert!(error.to_string().contains(&format!("'{name}' cannot be")), "{error}");
    }
}

#[test]
fn a_block_that_claims_what_is_not_there_is_refused() {
    let example = example(9, 40, 3, false);
    for (names, honest, lie) in [
        ("unsmoothed", "\"codes\":4", "\"codes\":18446744073709551615"),
        ("markov-chain", "[3,4,2]", "[3,4294967296,4294967296]"),
        ("normal", "\"columns\":[0,1]", "\"columns\":[0,99]"),
        ("words", "\"width\":6", "\"width\":600"),
        ("axes", "\"columns\":2", "\"columns\":9223372036854775808"),
    ] {
        let model = fitted(blocks(names, &example, 3), &example, 3, &Run::new());
        let mut parts = SavedParts::for_tests(DENSE + SPARSE, 3);
        model.save(&mut parts);
        let text = parts.take_json::<serde_json::Value>("blocks").unwrap().to_string();
        assert!(text.contains(honest), "{names}: {text}");
        let lying: serde_json::Value = serde_json::from_str(&text.replace(honest, lie)).unwrap();
        parts.put_json("blocks", &lying);
        assert!(BayesModel::load(&mut parts).is_err(), "{names}");
    }
}

#[test]
fn a_step_limit_advises_settings_that_there_are() {
    let trace = Trace { objectives: vec![0.0; 500], stop: StopReason::StepLimit, rise: 1e-3, revived: 0 };
    let remark = remark_on_missing(&trace).unwrap();
    for name in ["variance_floor", "shrinkage", "shared"] {
        assert!(remark.contains(name) && GaussianClassifier::SETTINGS.iter().any(|setting| setting.name == name));
    }
    let certificate = certificate(&trace).unwrap();
    assert!(certificate.value > certificate.tolerance);
}
