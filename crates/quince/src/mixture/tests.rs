//! The objective never falls, whatever the families, missing values and labels; and EM finds what a slow, plain loop finds.

use super::*;
use crate::bayes::{GaussianClassifier, NaiveBayes};
use crate::em::{Data, NO_CLASS, Options, State, Trace};
use crate::family::block::{
    Bernoullis, Block, Categories, Coding, GaussianPlan, Gaussians, Multinomials, Normals, Place, Poissons,
    VarianceFloor,
};
use crate::family::statistics::{ClassRows, Members, statistics, statistics_of_chunks};
use crate::learn::{Classes, Fitted, Prediction, SavedParts};
use crate::matrix::{Features, Matrix, Rows, Sparse};
use crate::run::{StopReason, Stream};
use proptest::prelude::*;

const DENSE: usize = 8;
const SPARSE: usize = 7;
const K: usize = 3;

/// Rows of all kinds, of three groups: three numbers, a count, an answer, a category, two counts together; and sparse counts.
struct Example {
    rows: Rows,
    weights: Option<Vec<f64>>,
    groups: Vec<u32>,
}

fn example(seed: u64, count: usize, missing: f64, weighted: bool) -> Example {
    let mut stream = Stream::new(seed, 0);
    let mut dense = Matrix::zeros(count, DENSE);
    let (mut sparse, mut groups) = (Vec::new(), Vec::new());
    for i in 0..count {
        let group = stream.below(K) as u32;
        let shift = f64::from(group);
        let first = shift + stream.normal();
        let row = [
            100.0 + first,
            5.0 - shift + 0.7 * first + 2.0 * stream.normal(),
            stream.normal() - 0.4 * first,
            ((1.0 + shift) * 3.0 * stream.uniform()).floor(),
            f64::from(u8::from(stream.uniform() < 0.2 + 0.3 * shift)),
            (3.0 * stream.uniform()).floor(),
            (5.0 * stream.uniform() * (1.0 + shift)).floor(),
            (4.0 * stream.uniform()).floor(),
        ];
        for (j, x) in row.into_iter().enumerate() {
            dense[(i, j)] = if stream.uniform() < missing { f64::NAN } else { x };
        }
        let mut words = Vec::new();
        for j in 0..SPARSE as u32 {
            let often = (4.0 * stream.uniform() - if j % 3 == group { 1.0 } else { 2.0 }).floor();
            if often > 0.0 {
                words.push((j, often));
            }
        }
        sparse.push(if stream.uniform() < 0.5 * missing { vec![(0, f64::NAN)] } else { words });
        groups.push(group);
    }
    let weights = weighted.then(|| (0..count).map(|_| 0.25 + (4.0 * stream.uniform()).floor()).collect());
    Example { rows: Rows::of(dense, Some(Sparse::from_rows(SPARSE, sparse).unwrap())), weights, groups }
}

/// No variance floor: the objective of EM is then the likelihood itself.
const EXACT: VarianceFloor = VarianceFloor { relative: 0.0, of_largest: false, absolute: 0.0 };

fn gaussian(shape: Shape, shared: Shared) -> Block {
    let plan = GaussianPlan {
        shape,
        shared,
        unbiased: false,
        variance_floor: EXACT,
        shrinkage: Shrinkage { amount: 0.0, to_one: false },
    };
    Block::Gaussian(Gaussians::new(vec![0, 1, 2], K, (&[0.0; DENSE], vec![100.0, 5.0, 0.0]), None, &plan))
}

fn blocks(names: &str) -> Vec<Block> {
    let sparse = Place::Sparse { first: 0, width: SPARSE };
    let one = |name: &str| match name {
        "normal" => Block::Normal(Normals::new(vec![0, 1, 2], K, &[0.0; DENSE], EXACT, vec![0.0; 3])),
        "full" => gaussian(Shape::Full, Shared::No),
        "tied" => gaussian(Shape::Full, Shared::Pooled),
        "diagonal" => gaussian(Shape::Diagonal, Shared::No),
        "spherical" => gaussian(Shape::Spherical, Shared::No),
        "poisson" => Block::Poisson(Poissons::new(vec![3], 0.0)),
        "poisson-smoothed" => Block::Poisson(Poissons::new(vec![3], 1.5)),
        "bernoulli" => Block::Bernoulli(Bernoullis::new(Place::Dense(vec![4]), 0.0, (1.0, 0.4))),
        "presence" => Block::Bernoulli(Bernoullis::new(sparse.clone(), 0.0, (0.0, 0.5))),
        "categorical" => {
            let bins = Coding::Bins(vec![-10.0, 0.0, 2.0, 20.0]);
            Block::Categorical(Categories::new(vec![5, 1], vec![Coding::Codes(3), bins], 0.5))
        }
        "unsmoothed" => Block::Categorical(Categories::new(vec![5], vec![Coding::Codes(3)], 0.0)),
        "counts" => Block::Multinomial(Multinomials::new(Place::Dense(vec![6, 7, 3]), 0.0).with_missing()),
        "counts-smoothed" => Block::Multinomial(Multinomials::new(Place::Dense(vec![6, 7, 3]), 2.0).with_missing()),
        "words" => Block::Multinomial(Multinomials::new(sparse.clone(), 1.0)),
        other => panic!("{other}"),
    };
    names.split('+').map(one).collect()
}

const ALL: [&str; 17] = [
    "normal",
    "full",
    "tied",
    "diagonal",
    "spherical",
    "poisson",
    "poisson-smoothed",
    "bernoulli",
    "presence",
    "categorical",
    "unsmoothed",
    "counts",
    "counts-smoothed",
    "words",
    "full+words",
    "tied+counts+bernoulli",
    "normal+poisson+categorical+presence",
];

/// A state from a division of the rows at random.
fn state(names: &str, example: &Example, class_of: Vec<u32>, seed: u64) -> State {
    let features = example.rows.features();
    let mut product = Product::new(blocks(names), K, &features);
    let mut stream = Stream::new(seed, 1);
    let rows = features.rows();
    let group = |i: usize, draw: usize| if i < K { i as u32 } else { draw as u32 };
    let labels: Vec<u32> = (0..rows).map(|i| group(i, stream.below(K))).collect();
    let members = Members::new(&labels, K, example.weights.as_deref());
    product.learn(&features, &members, &Run::new()).unwrap();
    State::new(product, members.totals(), class_of)
}

fn run_em(state: &mut State, data: &Data<'_>, steps: usize, run: &Run) -> Trace {
    state.run_em(data, Options { steps, tolerance: 0.0, accelerate: false }, run).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_objective_never_falls(
        seed: u64, missing in prop::sample::select(vec![0.0, 0.2]), weighted: bool, labelled: bool, accelerate: bool,
    ) {
        let example = example(seed, 120, missing, weighted);
        let mut stream = Stream::new(seed, 2);
        let classes: Vec<u32> =
            example.groups.iter().map(|&group| if stream.uniform() < 0.3 { group.min(1) } else { NO_CLASS }).collect();
        let class_of = if labelled { vec![0, 1, 1] } else { vec![NO_CLASS; K] };
        for names in ALL {
            let mut state = state(names, &example, class_of.clone(), seed);
            let features = example.rows.features();
            let data = Data::new(&features, example.weights.as_deref(), labelled.then_some(&classes[..]), &state.product.blocks);
            // Without a variance floor a component may collapse to a point, which is refused.
            let trace = match state.run_em(&data, Options { steps: 25, tolerance: 0.0, accelerate }, &Run::new()) {
                Err(error) if error.to_string().contains("singular") => continue,
                trace => trace.unwrap(),
            };
            prop_assert!(trace.objectives.len() > 1 && trace.revived == 0, "{names}");
            for pair in trace.objectives.windows(2) {
                prop_assert!(pair[1] >= pair[0] - 1e-10 * (1.0 + pair[0].abs()), "{names}: {} to {}", pair[0], pair[1]);
            }
        }
    }

    #[test]
    fn statistics_of_rows_that_come_in_chunks_are_those_of_all(seed: u64, missing in prop::sample::select(vec![0.0, 0.2])) {
        let whole = example(seed, 300, missing, true);
        let cuts = [0..7, 7..180, 180..300];
        let chunks: Vec<Example> = cuts
            .into_iter()
            .map(|rows| Example {
                rows: whole.rows.take(&rows.clone().collect::<Vec<_>>()),
                weights: whole.weights.as_ref().map(|weights| weights[rows.clone()].to_vec()),
                groups: whole.groups[rows].to_vec(),
            })
            .collect();
        let run = Run::new();
        let close = |chunked: &[f64], all: &[f64]| {
            let scale = all.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
            chunked.len() == all.len() && chunked.iter().zip(all).all(|(a, b)| (a - b).abs() <= 1e-11 * scale)
        };
        for names in ALL {
            let state = state(names, &whole, vec![NO_CLASS; K], seed);
            let features: Vec<Features<'_>> = [&whole].into_iter().chain(&chunks).map(|one| one.rows.features()).collect();
            let all = [&whole].into_iter().chain(&chunks).zip(&features);
            let data: Vec<Data<'_>> =
                all.clone().map(|(one, features)| Data::new(features, one.weights.as_deref(), None, &state.product.blocks)).collect();
            let expect = |some: &[Data<'_>]| state.expect(some.iter().map(Ok), 10, &run).unwrap();
            let (one, several) = (expect(&data[..1]), expect(&data[1..]));
            prop_assert!(close(&[several.likelihood], &[one.likelihood]) && close(&several.totals, &one.totals), "{names}");
            for (several, one) in several.statistics.iter().zip(&one.statistics) {
                prop_assert!(close(several.values(), one.values()), "{names}");
            }
            let members: Vec<Members<'_>> =
                all.clone().map(|(one, _)| Members::new(&one.groups, K, one.weights.as_deref())).collect();
            let blocks: Vec<&Block> = state.product.blocks.iter().collect();
            let rows = features.iter().zip(&members).skip(1).map(|(features, members)| Ok(ClassRows { features, members }));
            let several = statistics_of_chunks(&blocks, rows, 10, K, &run).unwrap();
            let one = statistics(&blocks, &features[0], &members[0], &run).unwrap();
            for (several, one) in several.iter().zip(&one) {
                prop_assert!(close(several.values(), one.values()), "{names}");
            }
        }
    }

    #[test]
    fn a_weight_is_a_row_again(seed: u64) {
        let mut example = example(seed, 60, 0.1, false);
        let repeats: Vec<usize> = (0..60).map(|i| 1 + i % 3).collect();
        let again: Vec<usize> = (0..60).flat_map(|i| vec![i; repeats[i]]).collect();
        let repeated = Example { rows: example.rows.take(&again), weights: None, groups: Vec::new() };
        example.weights = Some(repeats.iter().map(|&n| n as f64).collect());
        for names in ALL {
            let start = state(names, &example, vec![NO_CLASS; K], seed);
            let densities = |example: &Example, rows: &Example| {
                let (mut state, features) = (start.clone(), example.rows.features());
                let data = Data::new(&features, example.weights.as_deref(), None, &state.product.blocks);
                run_em(&mut state, &data, 4, &Run::new());
                MixtureModel::new(state).log_densities(&rows.rows.features(), &Run::new()).unwrap()
            };
            for (a, b) in densities(&example, &example).iter().zip(densities(&repeated, &example)) {
                prop_assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{names}: {a} and {b}");
            }
        }
    }

    #[test]
    fn a_saved_mixture_says_the_same(seed: u64) {
        let example = example(seed, 60, 0.1, false);
        let features = example.rows.features();
        for names in ALL {
            let mut state = state(names, &example, vec![NO_CLASS; K], seed);
            let data = Data::new(&features, None, None, &state.product.blocks);
            run_em(&mut state, &data, 3, &Run::new());
            let model = MixtureModel::new(state);
            let mut parts = SavedParts::for_tests(DENSE + SPARSE, 0);
            model.save(&mut parts);
            let again = MixtureModel::load(&parts).unwrap();
            prop_assert_eq!(model.predict(&features, &Run::new()).unwrap(), again.predict(&features, &Run::new()).unwrap());
        }
    }
}

#[test]
fn one_thread_or_many_the_bits_are_the_same() {
    let example = example(3, 5000, 0.1, true);
    let features = example.rows.features();
    for names in ALL {
        let with = |threads: usize| {
            let run = Run::new().threads(threads);
            let mut state = state(names, &example, vec![NO_CLASS; K], 5);
            let data = Data::new(&features, example.weights.as_deref(), None, &state.product.blocks);
            run_em(&mut state, &data, 3, &run);
            MixtureModel::new(state).predict(&features, &run).unwrap()
        };
        assert!(with(1) == with(2), "{names}");
    }
}

/// A Gaussian mixture, row after row: every row's own mean and covariance are made of the columns that it knows.
struct Slow {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Vec<Matrix>,
}

fn inverse(a: &Matrix) -> (Matrix, f64) {
    use faer::linalg::solvers::{DenseSolveCore, Llt};
    let llt = Llt::new(a.view().faer(), faer::Side::Lower).unwrap();
    let log_determinant = 2.0 * (0..a.rows()).map(|i| llt.L()[(i, i)].ln()).sum::<f64>();
    let inverse = llt.inverse();
    let mut whole = Matrix::zeros(a.rows(), a.rows());
    for i in 0..a.rows() {
        for j in 0..a.rows() {
            whole[(i, j)] = inverse[(i, j)];
        }
    }
    (whole, log_determinant)
}

impl Slow {
    fn step(&self, rows: &Matrix) -> (Slow, f64) {
        let (k, d) = (self.weights.len(), rows.columns());
        let (mut totals, mut means, mut products) = (vec![0.0; k], vec![vec![0.0; d]; k], vec![Matrix::zeros(d, d); k]);
        let mut likelihood = 0.0;
        for i in 0..rows.rows() {
            let known: Vec<usize> = (0..d).filter(|&j| !rows[(i, j)].is_nan()).collect();
            let missing: Vec<usize> = (0..d).filter(|&j| rows[(i, j)].is_nan()).collect();
            let mut densities = Vec::new();
            let mut imputed = Vec::new();
            for c in 0..k {
                let s = &self.covariances[c];
                let pick = |a: &[usize], b: &[usize]| {
                    let mut part = Matrix::zeros(a.len(), b.len());
                    a.iter()
                        .enumerate()
                        .for_each(|(x, &i)| b.iter().enumerate().for_each(|(y, &j)| part[(x, y)] = s[(i, j)]));
                    part
                };
                let (own, log_determinant) =
                    if known.is_empty() { (Matrix::zeros(0, 0), 0.0) } else { inverse(&pick(&known, &known)) };
                let d_known: Vec<f64> = known.iter().map(|&j| rows[(i, j)] - self.means[c][j]).collect();
                let solved: Vec<f64> =
                    (0..known.len()).map(|a| (0..known.len()).map(|b| own[(a, b)] * d_known[b]).sum()).collect();
                let square: f64 = d_known.iter().zip(&solved).map(|(a, b)| a * b).sum();
                let constant = known.len() as f64 * std::f64::consts::TAU.ln() + log_determinant;
                densities.push(self.weights[c].ln() - 0.5 * (constant + square));
                let cross = pick(&missing, &known);
                let mut x: Vec<f64> = rows.row(i).to_vec();
                let mut covariance = Matrix::zeros(d, d);
                for (a, &column) in missing.iter().enumerate() {
                    x[column] =
                        self.means[c][column] + (0..known.len()).map(|b| cross[(a, b)] * solved[b]).sum::<f64>();
                    for (e, &other) in missing.iter().enumerate() {
                        let mut taken = 0.0;
                        for b in 0..known.len() {
                            for f in 0..known.len() {
                                taken += cross[(a, b)] * own[(b, f)] * cross[(e, f)];
                            }
                        }
                        covariance[(column, other)] = s[(column, other)] - taken;
                    }
                }
                imputed.push((x, covariance));
            }
            let all = densities.iter().map(|density| density.exp()).sum::<f64>().ln();
            likelihood += all;
            for c in 0..k {
                let r = (densities[c] - all).exp();
                let (x, covariance) = &imputed[c];
                totals[c] += r;
                for a in 0..d {
                    means[c][a] += r * x[a];
                    for b in 0..d {
                        // About the old mean, which costs no digits.
                        let product = (x[a] - self.means[c][a]) * (x[b] - self.means[c][b]);
                        products[c][(a, b)] += r * (product + covariance[(a, b)]);
                    }
                }
            }
        }
        let mut covariances = Vec::new();
        for c in 0..k {
            means[c].iter_mut().for_each(|sum| *sum /= totals[c]);
            let mut covariance = Matrix::zeros(d, d);
            for a in 0..d {
                for b in 0..d {
                    let moved = (means[c][a] - self.means[c][a]) * (means[c][b] - self.means[c][b]);
                    covariance[(a, b)] = products[c][(a, b)] / totals[c] - moved;
                }
            }
            covariances.push(covariance);
        }
        let n = rows.rows() as f64;
        (Slow { weights: totals.iter().map(|total| total / n).collect(), means, covariances }, likelihood)
    }
}

#[test]
fn gaussians_with_missing_values_are_those_of_a_slow_loop_over_rows() {
    for (seed, missing) in [(1, 0.0), (2, 0.15), (3, 0.4)] {
        let example = example(seed, 150, missing, false);
        let features = example.rows.features();
        let mut state = state("full", &example, vec![NO_CLASS; K], seed);
        let Block::Gaussian(block) = &state.product.blocks[0] else { panic!() };
        let mut slow = Slow {
            weights: state.log_weights.iter().map(|log| log.exp()).collect(),
            means: (0..K).map(|k| block.means().row(k).to_vec()).collect(),
            covariances: (0..K).map(|k| block.covariance(k)).collect(),
        };
        let mut rows = Matrix::zeros(150, 3);
        (0..3).for_each(|j| features.dense_column(j).iter().enumerate().for_each(|(i, x)| rows[(i, j)] = *x));
        let data = Data::new(&features, None, None, &state.product.blocks);
        let trace = run_em(&mut state, &data, 8, &Run::new());
        for step in 0..8 {
            let (next, likelihood) = slow.step(&rows);
            assert!(
                (trace.objectives[step] - likelihood / 150.0).abs() < 1e-10,
                "{} {likelihood}",
                trace.objectives[step]
            );
            slow = next;
        }
        let Block::Gaussian(block) = &state.product.blocks[0] else { panic!() };
        for k in 0..K {
            assert!((state.log_weights[k].exp() - slow.weights[k]).abs() < 1e-10);
            let covariance = block.covariance(k);
            for i in 0..3 {
                assert!((block.means()[(k, i)] - slow.means[k][i]).abs() < 1e-9);
                (0..3).for_each(|j| assert!((covariance[(i, j)] - slow.covariances[k][(i, j)]).abs() < 1e-9));
            }
        }
    }
}

fn target(codes: &[u32]) -> Target {
    Target::classes(Classes::of(["a", "b", "c"]), codes.to_vec()).unwrap()
}

#[test]
fn all_labelled_with_one_component_is_the_bayes_classifier() {
    let example = example(11, 400, 0.1, true);
    let (features, target) = (example.rows.features(), target(&example.groups));
    let examples = Examples::new(features, &target, example.weights.as_deref()).unwrap();
    let predict = |model: &dyn Fitted| match model.predict(&features, &Run::new()).unwrap() {
        Prediction::Classes { scores, probabilities } => (scores, probabilities),
        other => panic!("{other:?}"),
    };
    // Without missing values in Gaussians there is nothing to iterate, and the bits are the same.
    for family in ["normal", "auto", "poisson,x0=normal,x1=normal,x2=normal"] {
        let family: Families = family.parse().unwrap();
        let naive = NaiveBayes { family: family.clone(), epsilon: 1e-3, calibrate: false, ..NaiveBayes::default() };
        let mixture = Mixture { family, ..Mixture::default() };
        let (bayes, _) = Learner::fit_examples(&naive, &examples, &Run::new()).unwrap();
        let (mixture, report) = Learner::fit_examples(&mixture, &examples, &Run::new()).unwrap();
        assert_eq!(report.stop, StopReason::Computed);
        assert_eq!(predict(&bayes).0, predict(&mixture).0);
    }
    let gaussian = GaussianClassifier { epsilon: 1e-3, calibrate: false, ..GaussianClassifier::default() };
    let mixture = Mixture { family: "gaussian".parse().unwrap(), tolerance: 1e-12, ..Mixture::default() };
    let (bayes, _) = Learner::fit_examples(&gaussian, &examples, &Run::new()).unwrap();
    let (mixture, _) = Learner::fit_examples(&mixture, &examples, &Run::new()).unwrap();
    for (a, b) in predict(&bayes).1.values().iter().zip(predict(&mixture).1.values()) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn no_label_at_all_is_the_mixture() {
    // A component for each class and rows of no class: nothing but the start ties components to classes.
    let example = example(12, 300, 0.1, false);
    let features = example.rows.features();
    for names in ["full+words", "normal+poisson", "categorical+words"] {
        let unknown = vec![NO_CLASS; 300];
        let climbed = |class_of: Vec<u32>, classes: Option<&[u32]>| {
            let mut state = state(names, &example, class_of, 4);
            let data = Data::new(&features, None, classes, &state.product.blocks);
            let trace = run_em(&mut state, &data, 10, &Run::new());
            (trace.objectives, MixtureModel { state }.responsibilities(&features, &Run::new()).unwrap())
        };
        assert_eq!(climbed(vec![0, 1, 2], Some(&unknown)), climbed(vec![NO_CLASS; K], None));
    }
}

#[test]
fn a_dead_component_is_started_again() {
    // Two groups, and a component that is so far away that it is responsible for no row.
    let mut stream = Stream::new(3, 0);
    let rows: Vec<[f64; 1]> = (0..200).map(|i| [f64::from(i % 2) * 30.0 + stream.normal()]).collect();
    let rows = Matrix::from_rows(&rows);
    let features = rows.features();
    let plain = VarianceFloor::relative(1e-6);
    let block = Block::Normal(Normals::new(vec![0], 2, &[0.0], plain, vec![0.0]));
    let mut product = Product::new(vec![block], 2, &features);
    let members = Members::new(&vec![0; 200], 2, None);
    product.learn(&features, &members, &Run::new()).unwrap();
    // One component has all rows, the other none: its weight is zero.
    let mut state = State::new(product, members.totals(), vec![NO_CLASS; 2]);
    let data = Data::new(&features, None, None, &state.product.blocks);
    let trace = state.run_em(&data, Options { steps: 200, tolerance: 1e-9, accelerate: false }, &Run::new()).unwrap();
    assert!(trace.revived >= 1);
    let weights = MixtureModel::new(state).weights();
    assert!(weights.iter().all(|weight| (weight - 0.5).abs() < 0.01), "{weights:?}");
}

#[test]
fn acceleration_converges_to_the_same_point_in_half_the_passes() {
    // Groups that overlap, and three kinds of columns: EM is slow.
    for (seed, missing) in [(1, 0.0), (2, 0.1), (3, 0.0)] {
        let example = example(seed, 400, missing, false);
        let features = example.rows.features();
        let end = |steps: usize, accelerate: bool| {
            let mut state = state("full+words", &example, vec![NO_CLASS; K], seed);
            let data = Data::new(&features, None, None, &state.product.blocks);
            state.run_em(&data, Options { steps, tolerance: 1e-10, accelerate }, &Run::new()).unwrap()
        };
        let plain = end(5000, false);
        let fast = end(plain.objectives.len() / 2, true);
        assert_eq!(
            (plain.stop, fast.stop),
            (StopReason::Converged, StopReason::Converged),
            "{}",
            plain.objectives.len()
        );
        let [plain, fast] = [plain, fast].map(|trace| *trace.objectives.last().unwrap());
        assert!(fast > plain - 1e-6, "{plain} and {fast}");
    }
}

fn gaussians(features: &Features<'_>, mixture: &Mixture) -> (MixtureModel, Report) {
    let target = Target::none(features.rows());
    Learner::fit_examples(mixture, &Examples::new(*features, &target, None).unwrap(), &Run::new()).unwrap()
}

#[test]
fn the_number_of_groups_is_found() {
    let mut stream = Stream::new(8, 0);
    let centres = [[0.0, 0.0], [6.0, 0.0], [0.0, 7.0], [8.0, 8.0]];
    let row = |i: usize, stream: &mut Stream| centres[i % 4].map(|c| c + stream.normal());
    let rows: Vec<[f64; 2]> = (0..400).map(|i| row(i, &mut stream)).collect();
    let rows = Matrix::from_rows(&rows);
    for criterion in [Criterion::Bic, Criterion::Icl] {
        let (model, report) = gaussians(&rows.features(), &Mixture { criterion, ..Mixture::default() });
        assert_eq!(model.components(), 4, "{criterion:?}");
        assert!(report.holds() && report.stop == StopReason::Converged);
        let responsibilities = model.responsibilities(&rows.features(), &Run::new()).unwrap();
        for i in 0..rows.rows() {
            assert!((responsibilities.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_class_without_rows_is_never_predicted() {
    let rows = Matrix::from_rows(&[[1.0], [2.0], [8.0], [9.0]]);
    let target = target(&[0, 0, 2, 2]);
    let features = rows.features();
    let examples = Examples::new(features, &target, None).unwrap();
    let mixture = Mixture { family: "normal".parse().unwrap(), ..Mixture::default() };
    let (model, _) = Learner::fit_examples(&mixture, &examples, &Run::new()).unwrap();
    let Prediction::Classes { probabilities, .. } = model.predict(&features, &Run::new()).unwrap() else { panic!() };
    assert!(
        (0..4).all(|i| probabilities[(i, 1)] == 0.0 && (probabilities.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12)
    );
}

#[test]
fn a_density_has_the_orders_in_which_words_can_stand() {
    use crate::family::Multinomial;
    let rows = Matrix::from_rows(&[[3.0, 1.0, 0.0], [2.0, 2.0, 1.0], [0.0, 1.0, 4.0], [1.0, 0.0, 3.0]]);
    let one = Mixture { k: Count::Fixed(1), family: "multinomial".parse().unwrap(), alpha: 0.0, ..Mixture::default() };
    let (model, _) = gaussians(&rows.features(), &one);
    let plain = Multinomial::new(&[6.0, 4.0, 8.0]).unwrap();
    for (i, density) in model.log_densities(&rows.features(), &Run::new()).unwrap().into_iter().enumerate() {
        assert!((density - plain.log_probability(rows.row(i)).unwrap()).abs() < 1e-12);
    }
}

#[test]
fn a_budget_gives_the_best_so_far_and_a_cancel_nothing() {
    let example = example(1, 20_000, 0.1, false);
    let features = example.rows.features();
    let target = Target::none(features.rows());
    let examples = Examples::new(features, &target, None).unwrap();
    let mixture = Mixture { family: "auto".parse().unwrap(), tolerance: 0.0, ..Mixture::default() };
    for k in [Count::Fixed(4), Count::Auto] {
        let tick = std::time::Duration::from_millis(1);
        let run = Run::new().clock(crate::run::TickClock::new(tick)).budget(20 * tick);
        let (model, report) = Learner::fit_examples(&Mixture { k, ..mixture.clone() }, &examples, &run).unwrap();
        assert_eq!(report.stop, StopReason::Budget);
        assert!(report.remarks.iter().any(|remark| remark.contains("the budget ran out")));
        let responsibilities = model.responsibilities(&features, &Run::new()).unwrap();
        assert!(responsibilities.values().iter().all(|r| r.is_finite()));
    }
    let cancel = crate::run::Cancel::new();
    cancel.cancel();
    let run = Run::new().cancel(&cancel);
    assert_eq!(Learner::fit_examples(&mixture, &examples, &run).err(), Some(Error::Cancelled));
}

#[test]
fn rows_and_columns_of_missing_values_alone_are_no_harm() {
    let mut rows = Matrix::zeros(60, 3);
    let mut stream = Stream::new(1, 0);
    for i in 0..60 {
        let group = 8.0 * (i % 2) as f64;
        rows.row_mut(i).copy_from_slice(&[group + stream.normal(), group + stream.normal(), f64::NAN]);
    }
    rows.row_mut(7).fill(f64::NAN);
    let two = Mixture { k: Count::Fixed(2), ..Mixture::default() };
    let (model, _) = gaussians(&rows.features(), &two);
    let responsibilities = model.responsibilities(&rows.features(), &Run::new()).unwrap();
    // For a row that is missing altogether only the weights are known.
    for (r, weight) in responsibilities.row(7).iter().zip(model.weights()) {
        assert!((r - weight).abs() < 1e-9);
    }
    let imputed = model.impute(&rows.features(), None, &Run::new()).unwrap().unwrap();
    let mean = |j: usize| (0..60).filter(|&i| i != 7).map(|i| rows[(i, j)]).sum::<f64>() / 59.0;
    assert!((imputed.values[(7, 0)] - mean(0)).abs() < 1e-3 && imputed.standard_deviations[(7, 0)] > 3.0);
    assert!(imputed.values[(0, 2)].is_nan());
}

#[test]
fn the_responsibilities_of_an_impossible_row_are_the_weights() {
    let rows = Matrix::from_rows(&[[0.0], [0.1], [9.0], [9.1], [9.2]]);
    let two = Mixture { k: Count::Fixed(2), ..Mixture::default() };
    let (model, _) = gaussians(&rows.features(), &two);
    let far = Matrix::from_rows(&[[1e200]]);
    assert_eq!(model.log_densities(&far.features(), &Run::new()).unwrap(), [f64::NEG_INFINITY]);
    let responsibilities = model.responsibilities(&far.features(), &Run::new()).unwrap();
    for (r, weight) in responsibilities.row(0).iter().zip(model.weights()) {
        assert!((r - weight).abs() < 1e-12);
    }
}

#[test]
fn several_components_a_class_need_rows_and_a_class_without_rows_is_no_harm() {
    let rows = Matrix::from_rows(&[[1.0], [2.0], [1.5], [8.0], [9.0], [8.5]]);
    let (features, target) = (rows.features(), target(&[0, 0, 0, 2, 2, 2]));
    let examples = Examples::new(features, &target, None).unwrap();
    let mixture = |per_class: usize| Mixture { per_class, family: "normal".parse().unwrap(), ..Mixture::default() };
    let (model, _) = Learner::fit_examples(&mixture(2), &examples, &Run::new()).unwrap();
    assert_eq!(model.predict(&features, &Run::new()).unwrap().labels(), [0, 0, 0, 2, 2, 2]);
    let wrong = Learner::fit_examples(&mixture(usize::MAX), &examples, &Run::new()).err().unwrap();
    assert!(wrong.to_string().contains("per_class"));
    let nothing = [0.0; 6];
    let mut some = nothing;
    some[5] = 1.0;
    let codes = Target::classes(Classes::of(["a", "b", "c"]), vec![0, 0, 1, 1, 2, NO_CLASS]).unwrap();
    let weighed = Examples::new(features, &codes, Some(&some)).unwrap();
    let wrong = Learner::fit_examples(&mixture(1), &weighed, &Run::new()).err().unwrap();
    assert_eq!(wrong.to_string(), "no row that counts has a class");
}

#[test]
fn a_given_start_is_what_is_saved_when_no_step_is_taken() {
    let rows = Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0], [5.0, 6.0], [6.0, 5.5], [5.5, 6.5]]);
    let nothing = Target::none(5);
    let examples = Examples::new(rows.features(), &nothing, None).unwrap();
    let given = InitialParameters {
        weights: Some(vec![0.25, 0.75]),
        means: Some(Matrix::from_rows(&[[0.0, 0.0], [6.0, 6.0]])),
        covariances: Some(vec![
            Matrix::from_rows(&[[2.0, 0.5], [0.5, 1.0]]),
            Matrix::from_rows(&[[1.0, -0.25], [-0.25, 3.0]]),
        ]),
        ..InitialParameters::default()
    };
    let mixture = Mixture { k: Count::Fixed(2), steps: 0, ..Mixture::default() };
    let (model, _) = mixture.fit_from(&examples, &given, &Run::new()).unwrap();
    let mut parts = SavedParts::for_tests(2, 0);
    model.save(&mut parts);
    let again = MixtureModel::load(&parts).unwrap();
    for model in [&model, &again] {
        let parameters = &model.parameters()[0];
        assert!((model.weights()[0] - 0.25).abs() < 1e-12);
        assert_eq!(parameters.array("mean").unwrap(), given.means.as_ref().unwrap());
        let found = parameters.array("covariance 1").unwrap();
        let expected = &given.covariances.as_ref().unwrap()[1];
        assert!(found.values().iter().zip(expected.values()).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn weights_below_one_are_rescaled_and_weights_above_are_frequencies() {
    let mut stream = Stream::new(12, 0);
    let rows: Vec<[f64; 1]> = (0..120).map(|i| [f64::from(i % 2) * 6.0 + stream.normal()]).collect();
    let (rows, target) = (Matrix::from_rows(&rows), Target::none(120));
    let fit = |weight: f64| {
        let weights = vec![weight; 120];
        let examples = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
        let (model, report) = Learner::fit_examples(&Mixture::default(), &examples, &Run::new()).unwrap();
        (model.components(), report.facts.iter().find(|fact| fact.0 == "bic").unwrap().1)
    };
    let (k, bic) = fit(1.0);
    assert_eq!(k, 2);
    for weight in [1.0 / 120.0, 1e-3, 0.5] {
        let (rescaled, other) = fit(weight);
        assert!(rescaled == 2 && (other - bic).abs() < 1e-6 * bic.abs(), "{weight}: {rescaled}, {other} and {bic}");
    }
    // Categories are smoothed as if every row had weight one.
    let flipped = |x: f64, stream: &mut Stream| if stream.uniform() < 0.1 { 1.0 - x } else { x };
    let codes: Vec<[f64; 3]> = (0..120).map(|i| [f64::from(i % 2); 3].map(|x| flipped(x, &mut stream))).collect();
    let codes = Matrix::from_rows(&codes);
    let densities = |weight: f64| {
        let (weights, family) = (vec![weight; 120], "categorical".parse().unwrap());
        let examples = Examples::new(codes.features(), &target, Some(&weights)).unwrap();
        let (model, _) =
            Learner::fit_examples(&Mixture { family, ..Mixture::default() }, &examples, &Run::new()).unwrap();
        (model.components(), model.log_densities(&codes.features(), &Run::new()).unwrap())
    };
    let (ones, rescaled) = (densities(1.0), densities(0.001));
    assert!(ones.0 == 2 && rescaled.0 == 2);
    assert!(ones.1.iter().zip(&rescaled.1).all(|(one, other)| (one - other).abs() < 1e-6));
    // Rows that were seen three times each.
    let three = fit(3.0).1;
    let model = |weights: Option<&[f64]>| {
        let examples = Examples::new(rows.features(), &target, weights).unwrap();
        Learner::fit_examples(&Mixture { k: Count::Fixed(2), ..Mixture::default() }, &examples, &Run::new()).unwrap().0
    };
    let thrice = [&rows; 3].map(|rows| rows.values().to_vec()).concat();
    let thrice = Matrix::new(360, 1, thrice).unwrap();
    let repeated =
        model(Some(&vec![3.0; 120])).criterion(Criterion::Bic, &thrice.features(), None, &Run::new()).unwrap();
    assert!((three - repeated).abs() < 1e-6 * three.abs(), "{three} and {repeated}");
}

#[test]
fn missing_values_in_nearly_equal_columns_cost_no_digits() {
    // The second column is the first but for a millionth of its standard deviation; rows that lack it are scored by the first alone.
    let mut stream = Stream::new(5, 0);
    let column: Vec<f64> = (0..400).map(|_| stream.normal()).collect();
    let rows: Vec<[f64; 2]> = column.iter().map(|x| [*x, x + 1e-6 * stream.normal()]).collect();
    let one = Mixture { k: Count::Fixed(1), epsilon: 0.0, family: "gaussian".parse().unwrap(), ..Mixture::default() };
    let (both, _) = gaussians(&Matrix::from_rows(&rows).features(), &one);
    let (first, _) = gaussians(&Matrix::column_vector(column.clone()).features(), &one);
    let lacking: Vec<[f64; 2]> = column.iter().map(|x| [3.0 * x, f64::NAN]).collect();
    let alone = Matrix::column_vector(column.iter().map(|x| 3.0 * x).collect());
    let said = both.log_densities(&Matrix::from_rows(&lacking).features(), &Run::new()).unwrap();
    let expected = first.log_densities(&alone.features(), &Run::new()).unwrap();
    for (said, expected) in said.iter().zip(expected) {
        assert!((said - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{said} and {expected}");
    }
}

#[test]
fn wherever_it_stops_the_state_is_no_worse_than_the_last_that_was_judged() {
    for seed in 0..4 {
        let example = example(seed, 200, 0.1, false);
        let features = example.rows.features();
        for names in ["full", "tied+counts+bernoulli", "normal+poisson+categorical+presence"] {
            for steps in 1..16 {
                let mut state = state(names, &example, vec![NO_CLASS; K], seed);
                let data = Data::new(&features, None, None, &state.product.blocks);
                let trace =
                    state.run_em(&data, Options { steps, tolerance: 0.0, accelerate: true }, &Run::new()).unwrap();
                let again = run_em(&mut state, &data, 1, &Run::new());
                let (last, next) = (trace.reached(), again.objectives[0]);
                assert!(next >= last - 1e-10 * (1.0 + last.abs()), "{names}, {steps}: {last} and {next}");
            }
        }
    }
}

#[test]
fn a_budget_that_ends_at_an_extrapolation_falls_back() {
    let example = example(3, 300, 0.0, false);
    let features = example.rows.features();
    for micros in (50..6000).step_by(150) {
        let mut state = state("full", &example, vec![NO_CLASS; K], 3);
        let data = Data::new(&features, None, None, &state.product.blocks);
        let run = Run::new().budget(std::time::Duration::from_micros(micros));
        let trace = state.run_em(&data, Options { steps: 40, tolerance: 0.0, accelerate: true }, &run).unwrap();
        let again = run_em(&mut state, &data, 1, &Run::new());
        assert!(trace.objectives.is_empty() || again.objectives[0] >= trace.reached() - 1e-10, "{micros}");
    }
}

#[test]
fn classes_of_several_components_keep_all_their_classes() {
    // So many rows that some are enough to start from, whose classes take turns; one class weighs nothing.
    let count = 3 * start::MAX_START_ROWS;
    let mut stream = Stream::new(9, 0);
    let codes: Vec<u32> = (0..count).map(|i| (i % 3) as u32).collect();
    let rows: Vec<[f64; 1]> = codes.iter().map(|&code| [10.0 * f64::from(code) + stream.normal()]).collect();
    let rows = Matrix::from_rows(&rows);
    let classes = Classes::of(["a", "b", "c"]);
    let target = Target::classes(classes, codes.clone()).unwrap();
    let two = Mixture { per_class: 2, family: "normal".parse().unwrap(), ..Mixture::default() };
    let (model, _) =
        Learner::fit_examples(&two, &Examples::new(rows.features(), &target, None).unwrap(), &Run::new()).unwrap();
    let said = Fitted::predict(&model, &rows.features(), &Run::new()).unwrap().labels();
    assert!(said.iter().zip(&codes).filter(|(said, code)| said == code).count() as f64 > 0.99 * count as f64);
    let weights: Vec<f64> = codes.iter().map(|&code| if code == 1 { 0.0 } else { 1.0 }).collect();
    let examples = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
    let (model, _) = Learner::fit_examples(&two, &examples, &Run::new()).unwrap();
    let said = Fitted::predict(&model, &rows.features(), &Run::new()).unwrap().labels();
    assert!(said.iter().all(|said| *said != 1));
}
