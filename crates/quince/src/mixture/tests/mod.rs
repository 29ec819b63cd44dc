//! The objective never falls, whatever the families, missing values and labels; and EM finds what a slow, plain loop finds.

mod chunks;
mod classes;
mod em;
mod fits;
mod slow;

use super::*;
use crate::em::{Data, NO_CLASS, Options, State, Trace};
use crate::family::block::{
    Bernoullis, Block, Categories, Coding, GaussianPlan, Gaussians, Multinomials, Normals, Place, Poissons,
    VarianceFloor,
};
use crate::family::statistics::Members;
use crate::learn::Classes;
use crate::matrix::{Features, Matrix, Rows, Sparse};
use crate::run::Stream;

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
    let plan = GaussianPlan::plain(shape, shared);
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

/// A target of three classes.
fn target(codes: &[u32]) -> Target {
    Target::classes(Classes::of(["a", "b", "c"]), codes.to_vec()).unwrap()
}

/// A mixture fitted without classes.
fn gaussians(features: &Features<'_>, mixture: &Mixture) -> (MixtureModel, Report) {
    let target = Target::none(features.rows());
    Learner::fit_examples(mixture, &Examples::new(*features, &target, None).unwrap(), &Run::new()).unwrap()
}
