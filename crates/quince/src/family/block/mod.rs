//! Blocks: some columns, their family, and its parameters for all components at once.
//!
//! A component is a class of a Bayes classifier, or a component of a mixture. A block learns of it the sufficient statistics
//! of its family: weighted sums over rows, which can be added, merged and taken back. The parameters follow from the
//! statistics. The log likelihood of a row under a component is the sum over all blocks.
//!
//! Three rules hold for every family:
//! - a missing value (NaN) is left out: it adds nothing to statistics and nothing to scores (in a Gaussian block, and among
//!   counts taken together, the statistics have its conditional expectation under the present parameters);
//! - a value that is impossible under every component (a category, bin or count that was never seen) is left out of scores as
//!   well; only the density of the row is lower for it;
//! - a component that has no value of a column takes the column's parameters over all components.
//!
//! What must not change when a row is taken back (bins, bandwidths, variance floors, the overall parameters just mentioned)
//! is fixed once, by [`Family::settle`].
//!
//! Every family has the same parts in the same order: its settings and what is settled (both are saved), its parameters (which
//! are estimated again when a model is loaded), the constructor, and then [`Family`]: statistics, estimate, scores, what EM
//! needs, missing values, sampling, and the check of what was loaded. All families have their tests together, in
//! `bayes/tests.rs` and `mixture/tests/`.

mod bernoulli;
mod categorical;
mod gather;
mod gaussian;
mod kernel_density;
mod log_table;
mod markov_chain;
mod moments;
mod multinomial;
mod normal;
mod place;
mod poisson;
mod tile;
mod variance_floor;

pub(crate) use bernoulli::Bernoullis;
pub(crate) use categorical::{Categories, Coding, MAX_CATEGORIES};
pub(crate) use gather::Gather;
pub(crate) use gaussian::{Axes, Gaussians, Moments, Plan as GaussianPlan, Separation, Shape, Shared, Shrinkage};
pub(crate) use kernel_density::KernelDensities;
pub(crate) use markov_chain::MarkovChains;
pub(crate) use multinomial::Multinomials;
pub(crate) use normal::Normals;
pub(crate) use place::Place;
pub(crate) use poisson::{Poissons, is_count};
pub(crate) use tile::{Scores, TILE, Tile};
pub(crate) use variance_floor::{MIN_VARIANCE_RATIO, VarianceFloor};

use crate::error::{Error, Result};
use crate::matrix::{Features, Matrix};
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// What every family does for its columns.
pub(crate) trait Family: Send + Sync {
    /// The number of sufficient statistics of a component.
    fn statistic_count(&self) -> usize;

    /// Adds a tile's rows, with their weights, to the statistics of a component.
    fn add(&self, component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>);

    /// Whether statistics must be collected again, about other origins, because digits were lost; the origins are moved.
    fn recentre(&mut self, _statistics: &Matrix) -> bool {
        false
    }

    /// Fixes what follows from the statistics of all components together and stays as it is later.
    fn settle(&mut self, _statistics: &Matrix) {}

    /// Finds the parameters from the statistics, one row per component.
    fn estimate(&mut self, statistics: &Matrix, run: &Run) -> Result<()>;

    /// Adds the log likelihood of a tile's rows under each component.
    fn score(&self, tile: &Tile<'_>, scores: &mut Scores);

    /// Sets `own` to the leave-one-out log likelihood of a tile's rows under the component they belong to.
    fn score_own(
        &self,
        component: usize,
        statistics: &[f64],
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        own: &mut [f64],
    );

    /// Adds the leave-one-out log likelihood of a tile's rows, which belong to one component, under each component.
    fn score_without(
        &self,
        component: usize,
        statistics: &Matrix,
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        scores: &mut Scores,
    ) {
        let mut all = Scores::new(scores.components());
        all.start(tile.rows(), &vec![0.0; scores.components()]);
        self.score(tile, &mut all);
        self.score_own(component, statistics.row(component), tile, weights, all.of_mut(component));
        all.leave_out_impossible();
        scores.add_all(&all);
    }

    /// Collects statistics of rows by their responsibilities, under the present parameters.
    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a>;

    /// From now on statistics are collected about the present means, so that means far from the origin cost no digits;
    /// existing ones are moved along.
    fn follow(&mut self, _all: &mut [&mut Matrix]) {}

    /// Replaces statistics of a component that no rows can have (as far as is easily seen) by `real` ones.
    fn mend(&self, statistics: &mut [f64], real: &[f64]) {
        statistics.iter_mut().zip(real).filter(|(sum, _)| **sum < 0.0).for_each(|(sum, real)| *sum = *real);
    }

    /// The typical size of a row's contribution to a statistic.
    fn unit(&self, _sum: usize) -> f64 {
        1.0
    }

    /// Reorders the components.
    fn reorder(&mut self, _order: &[usize]) {}

    /// What the prior adds to the log likelihood of the rows, up to a constant.
    fn log_prior(&self) -> f64 {
        0.0
    }

    /// Adds the part of the log density of a tile's rows that is the same under every component, which scores leave out.
    fn add_common(&self, _tile: &Tile<'_>, _densities: &mut [f64]) {}

    /// The number of free parameters of one component, and of those that all components share.
    fn free_parameters(&self) -> (usize, usize);

    /// The approximate number of operations to score a row.
    fn cost(&self, components: usize) -> usize {
        components * self.columns().len()
    }

    /// The expectation of a component for each missing value in a tile's dense columns: calls `visit(row, column, expected)`.
    fn expect(&self, _component: usize, _tile: &Tile<'_>, _visit: &mut dyn FnMut(usize, usize, Expected<'_>)) {}

    /// Samples a row from a component into its places among the features.
    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw);

    /// The dense columns of the block, in its order; empty if they are sparse.
    fn columns(&self) -> &[usize];

    /// Whether everything in a loaded block fits together, for this number of components.
    fn is_sound(&self, components: usize) -> bool;
}

/// The conditional expectation of a missing value under a component.
pub(crate) enum Expected<'a> {
    /// A number.
    Number { mean: f64, variance: f64 },
    /// The categories 0, 1, ... with these probabilities.
    Category(&'a [f64]),
}

/// The standard deviation of a column; infinite if the column is constant, which must not be compared.
fn unit_of(variance: f64) -> f64 {
    if variance > 0.0 { variance.sqrt() } else { f64::INFINITY }
}

/// Whether W, A and B can be sums of real values, up to rounding: the scatter B - A² / W is not negative.
fn is_scatter((w, a, b): (f64, f64, f64), variance: f64) -> bool {
    a * a - b * w <= 1e-9 * variance * w * w
}

/// A total weight less that of one row; zero if only rounding is left.
fn left_over(total: f64, weight: f64) -> f64 {
    let left = total - weight;
    if left <= 1e-12 * total { 0.0 } else { left }
}

/// The log probability of a value that was not among `total` values: as if it were the next one.
fn never_seen(total: f64) -> f64 {
    -(total + 1.0).ln()
}

/// Calls `visit(row, column)` for the missing values of a tile in some columns; the column is counted among them.
fn each_missing(tile: &Tile<'_>, columns: &[usize], mut visit: impl FnMut(usize, usize)) {
    for (j, &column) in columns.iter().enumerate().filter(|(_, column)| tile.has_missing(**column)) {
        for (i, _) in tile.column(column).iter().enumerate().filter(|(_, x)| x.is_nan()) {
            visit(i, j);
        }
    }
}

/// A row sampled from a model: the dense columns, and for sparse ones the places in the order in which they were drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Draw {
    pub(crate) dense: Vec<f64>,
    /// The first place of each sparse block, and the places drawn.
    pub(crate) sequences: Vec<(usize, Vec<usize>)>,
}

/// A block of any family.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case")]
pub(crate) enum Block {
    Normal(Normals),
    Gaussian(Gaussians),
    Poisson(Poissons),
    Bernoulli(Bernoullis),
    Categorical(Categories),
    Multinomial(Multinomials),
    KernelDensity(KernelDensities),
    MarkovChain(MarkovChains),
}

impl Block {
    /// An error if rows to update with have values that the family cannot have.
    pub(crate) fn check_more(&self, features: &Features<'_>) -> Result<()> {
        let refuse = |place: String, x: f64, what: &str| {
            Err(Error::data(
                format!("{x} in {place} is not {what}"),
                "Leave such rows out, or train again with another family.",
            ))
        };
        let each = |columns: &[usize], fine: &dyn Fn(usize, f64) -> bool, what: &str| {
            for (j, &column) in columns.iter().enumerate() {
                let values = features.dense_column(column);
                if let Some(i) = values.iter().position(|&x| !fine(j, x)) {
                    return refuse(format!("row {}, feature {}", i + 1, column + 1), values[i], what);
                }
            }
            Ok(())
        };
        match self {
            Block::Poisson(block) => each(block.columns(), &|_, x| x.is_nan() || is_count(x), "a count"),
            Block::KernelDensity(block) => {
                let fine = |j: usize, x: f64| block.unknown(j, &[x]).is_none();
                each(block.columns(), &fine, "among the values that the kernel density was fitted to")
            }
            Block::Multinomial(block) => match block.place() {
                Place::Dense(columns) => {
                    each(columns, &|_, x| x >= 0.0 || (x.is_nan() && block.has_missing()), "a count")
                }
                Place::Sparse { first, width } => {
                    let Some(sparse) = features.sparse_part() else { return Ok(()) };
                    for i in 0..sparse.rows() {
                        let within = |(j, x): &(usize, f64)| (*first..first + width).contains(j) && *x < 0.0;
                        if let Some((_, x)) = sparse.entries(i).find(within) {
                            return refuse(format!("row {}", i + 1), x, "a count");
                        }
                    }
                    Ok(())
                }
            },
            _ => Ok(()),
        }
    }

    /// The family inside.
    pub(crate) fn family(&self) -> &dyn Family {
        match self {
            Block::Normal(block) => block,
            Block::Gaussian(block) => block,
            Block::Poisson(block) => block,
            Block::Bernoulli(block) => block,
            Block::Categorical(block) => block,
            Block::Multinomial(block) => block,
            Block::KernelDensity(block) => block,
            Block::MarkovChain(block) => block,
        }
    }

    /// The family inside, mutable.
    pub(crate) fn family_mut(&mut self) -> &mut dyn Family {
        match self {
            Block::Normal(block) => block,
            Block::Gaussian(block) => block,
            Block::Poisson(block) => block,
            Block::Bernoulli(block) => block,
            Block::Categorical(block) => block,
            Block::Multinomial(block) => block,
            Block::KernelDensity(block) => block,
            Block::MarkovChain(block) => block,
        }
    }
}

impl Block {
    /// Whether all columns are within these numbers of dense and sparse features.
    pub(crate) fn is_within(&self, dense: usize, sparse: usize) -> bool {
        let ends = self.sparse_places().map(|(first, width)| first.checked_add(width));
        let places = ends.is_none_or(|end| end.is_some_and(|end| end <= sparse));
        places && self.family().columns().iter().all(|&column| column < dense)
    }

    /// The statistics of another block as this one would have collected them; `None` if the two blocks are not alike. A block
    /// that has seen nothing yet takes over the origins of the other.
    pub(crate) fn statistics_of(
        &mut self,
        other: &Block,
        own_statistics: &Matrix,
        statistics: &Matrix,
    ) -> Option<Matrix> {
        match (self, other) {
            (Block::Normal(own), Block::Normal(other)) => own.statistics_of(other, own_statistics, statistics),
            (Block::Gaussian(own), Block::Gaussian(other)) => own.statistics_of(other, own_statistics, statistics),
            (Block::Poisson(own), Block::Poisson(other)) => own.is_like(other).then(|| statistics.clone()),
            (Block::Bernoulli(own), Block::Bernoulli(other)) => own.is_like(other).then(|| statistics.clone()),
            (Block::Categorical(own), Block::Categorical(other)) => own.is_like(other).then(|| statistics.clone()),
            (Block::Multinomial(own), Block::Multinomial(other)) => own.is_like(other).then(|| statistics.clone()),
            (Block::KernelDensity(own), Block::KernelDensity(other)) => own.is_like(other).then(|| statistics.clone()),
            (Block::MarkovChain(own), Block::MarkovChain(other)) => own.is_like(other).then(|| statistics.clone()),
            _ => None,
        }
    }

    /// Whether the block imputes missing values by their expectation, so that learning from rows with missing values needs
    /// EM.
    pub(crate) fn imputes_missing(&self) -> bool {
        match self {
            Block::Gaussian(block) => !block.fills_missing(),
            Block::Multinomial(block) => block.has_missing(),
            _ => false,
        }
    }

    /// Of a sparse block: its first place and its number of places.
    pub(crate) fn sparse_places(&self) -> Option<(usize, usize)> {
        let place = match self {
            Block::Multinomial(block) => block.place(),
            Block::Bernoulli(block) => block.place(),
            _ => return None,
        };
        if let Place::Sparse { first, width } = place { Some((*first, *width)) } else { None }
    }

    /// The name of the family.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Block::Normal(_) => "normal",
            Block::Gaussian(_) => "gaussian",
            Block::Poisson(_) => "poisson",
            Block::Bernoulli(_) => "bernoulli",
            Block::Categorical(_) => "categorical",
            Block::Multinomial(_) => "multinomial",
            Block::KernelDensity(_) => "kernel-density",
            Block::MarkovChain(_) => "markov-chain",
        }
    }
}

/// ln p; -∞ if p is zero.
fn ln(p: f64) -> f64 {
    if p > 0.0 { p.ln() } else { f64::NEG_INFINITY }
}

/// Calls `visit(row, value, weight)` for every value of a column that is not missing.
fn each_value(column: &[f64], weights: Option<&[f64]>, mut visit: impl FnMut(usize, f64, f64)) {
    for (i, &x) in column.iter().enumerate() {
        if !x.is_nan() {
            visit(i, x, weights.map_or(1.0, |weights| weights[i]));
        }
    }
}
