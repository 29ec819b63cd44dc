//! Blocks: some columns, the family they have, and its parameters for every component at once.
//!
//! A component is a class of a Bayes classifier (or a part of a mixture). What a block learns of it are sums over rows, which
//! add and merge and can be taken back; its parameters follow from the sums. A row's log likelihood under a component is what
//! all blocks say, added up.
//!
//! Three rules hold for every family:
//! - a hole (NaN) is left out: it adds nothing to sums and nothing to scores (in a Gaussian block, and among counts taken together, sums have
//!   what the present parameters expect in it);
//! - a value that is impossible under every component (a category, a bin or a count that never was) is left out as well, but
//!   for the density of a row, which is the smaller for it;
//! - a component that has no value of a column takes the column's parameters over all components.
//!
//! What must not change when a row is taken back (bins, bandwidths, what is added to variances, the overall values just
//! mentioned) is settled once, by [`Family::settle`].

mod categories;
mod chain;
mod counts;
mod gather;
mod gaussian;
mod normals;
mod tile;
mod window;
mod words;
mod yes_no;

pub(crate) use categories::{Categories, Coding, MOST_CATEGORIES};
pub(crate) use chain::Chain;
pub(crate) use counts::{Poissons, is_count};
pub(crate) use gather::Gather;
pub(crate) use gaussian::{Axes, Gaussians, Plan as GaussianPlan, Shape, Shared, Shrink};
pub(crate) use normals::{Least, Normals};
pub(crate) use tile::{Scores, TILE, Tile};
pub(crate) use window::Windows;
pub(crate) use words::{Place, Words};
pub(crate) use yes_no::Bernoullis;

use crate::error::{Error, Result};
use crate::matrix::{Features, Matrix};
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// What every family does for its columns.
pub(crate) trait Family: Send + Sync {
    /// How many sums a component has.
    fn sums(&self) -> usize;

    /// Adds a tile's rows to the sums of a component; a row counts as much as its weight.
    fn add(&self, component: usize, sums: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>);

    /// Fixes what the sums of all components say together, which later stays as it is.
    fn settle(&mut self, _sums: &Matrix) {}

    /// Whether sums must be taken again, about other origins, because digits were lost; the origins are moved.
    fn recentre(&mut self, _sums: &Matrix) -> bool {
        false
    }

    /// Finds the parameters; the sums have a row a component.
    fn estimate(&mut self, sums: &Matrix, run: &Run) -> Result<()>;

    /// Adds the log likelihood of a tile's rows under each component.
    fn score(&self, tile: &Tile<'_>, scores: &mut Scores);

    /// Sets `own` to the log likelihood of a tile's rows under the component that they are of, learnt without the row.
    fn score_own(&self, component: usize, sums: &[f64], tile: &Tile<'_>, weights: Option<&[f64]>, own: &mut [f64]);

    /// Adds the log likelihood of a tile's rows under each component, learnt without the row, which is of one component.
    fn score_without(
        &self,
        component: usize,
        sums: &Matrix,
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        scores: &mut Scores,
    ) {
        let mut all = Scores::new(scores.components());
        all.start(tile.rows(), &vec![0.0; scores.components()]);
        self.score(tile, &mut all);
        self.score_own(component, sums.row(component), tile, weights, all.of_mut(component));
        all.leave_out_impossible();
        scores.add_all(&all);
    }

    /// Sums of rows that have a share in every component, by the present parameters.
    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a>;

    /// From now on sums are taken about the present means, so that far ones cost no digits; those that there are follow.
    fn follow(&mut self, _all: &mut [&mut Matrix]) {}

    /// Puts sums of a component that rows do have in place of those that none can have, as far as a glance tells.
    fn mend(&self, sums: &mut [f64], real: &[f64]) {
        sums.iter_mut().zip(real).filter(|(sum, _)| **sum < 0.0).for_each(|(sum, real)| *sum = *real);
    }

    /// About how much a row adds to a sum.
    fn unit(&self, _sum: usize) -> f64 {
        1.0
    }

    /// Puts components into another order.
    fn reorder(&mut self, _order: &[usize]) {}

    /// What the prior adds to the log likelihood of the rows, up to a constant.
    fn log_prior(&self) -> f64 {
        0.0
    }

    /// Adds what the density of a tile's rows has in every component alike, and scores leave out.
    fn add_common(&self, _tile: &Tile<'_>, _densities: &mut [f64]) {}

    /// How many numbers describe one component, and how many all of them in common.
    fn free_parameters(&self) -> (usize, usize);

    /// About how many steps it takes to score a row.
    fn cost(&self, components: usize) -> usize {
        components * self.columns().len()
    }

    /// Tells what a component expects in the holes of a tile's dense columns: calls `tell(row, column, what)`.
    fn expect(&self, _component: usize, _tile: &Tile<'_>, _tell: &mut dyn FnMut(usize, usize, Expected<'_>)) {}

    /// Draws a row of a component into its places among the features.
    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw);

    /// The dense columns that the block speaks for, in its order; empty if they are sparse.
    fn columns(&self) -> &[usize];

    /// Whether everything in a loaded block fits together, for so many components.
    fn is_sound(&self, components: usize) -> bool;
}

/// What a component expects in a hole.
pub(crate) enum Expected<'a> {
    /// A number.
    Number { mean: f64, variance: f64 },
    /// The categories 0, 1, ... with these probabilities.
    Category(&'a [f64]),
}

/// The deviation of a column; one that is constant must not be compared.
fn unit_of(variance: f64) -> f64 {
    if variance > 0.0 { variance.sqrt() } else { f64::INFINITY }
}

/// Whether W, A and B are sums of values that scatter, as far as rounding tells: B - A² / W is not below zero.
fn is_scatter((w, a, b): (f64, f64, f64), variance: f64) -> bool {
    a * a - b * w <= 1e-9 * variance * w * w
}

/// The logarithm of how likely a value is that was not among so many: as if it were the next one.
fn never_seen(total: f64) -> f64 {
    -(total + 1.0).ln()
}

/// Calls `visit(row, column)` for the holes of a tile in some columns; the column is counted among them.
fn each_hole(tile: &Tile<'_>, columns: &[usize], mut visit: impl FnMut(usize, usize)) {
    for (j, &column) in columns.iter().enumerate().filter(|(_, column)| tile.has_holes(**column)) {
        for (i, _) in tile.column(column).iter().enumerate().filter(|(_, x)| x.is_nan()) {
            visit(i, j);
        }
    }
}

/// A row drawn from a model: the dense columns, and for sparse ones the places in the order in which they were drawn.
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
    Multinomial(Words),
    Window(Windows),
    Chain(Chain),
}

impl Block {
    /// An error if rows that are to be learnt beside others have values that the family cannot have.
    pub(crate) fn check_more(&self, features: &Features<'_>) -> Result<()> {
        let refuse = |place: String, x: f64, what: &str| {
            Err(Error::data(
                format!("{x} in {place} is not {what}"),
                "Leave such rows out, or train anew with another family.",
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
            Block::Window(block) => {
                let fine = |j: usize, x: f64| block.unknown(j, &[x]).is_none();
                each(block.columns(), &fine, "among the values that smoothing windows are laid over")
            }
            Block::Multinomial(block) => match block.place() {
                Place::Dense(columns) => {
                    each(columns, &|_, x| x >= 0.0 || (x.is_nan() && block.has_holes()), "a count")
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
            Block::Window(block) => block,
            Block::Chain(block) => block,
        }
    }

    /// The family inside, to be changed.
    pub(crate) fn family_mut(&mut self) -> &mut dyn Family {
        match self {
            Block::Normal(block) => block,
            Block::Gaussian(block) => block,
            Block::Poisson(block) => block,
            Block::Bernoulli(block) => block,
            Block::Categorical(block) => block,
            Block::Multinomial(block) => block,
            Block::Window(block) => block,
            Block::Chain(block) => block,
        }
    }
}

impl Block {
    /// Whether all columns are among so many dense and sparse features.
    pub(crate) fn is_within(&self, dense: usize, sparse: usize) -> bool {
        let ends = self.sparse_places().map(|(first, width)| first.checked_add(width));
        let places = ends.is_none_or(|end| end.is_some_and(|end| end <= sparse));
        places && self.family().columns().iter().all(|&column| column < dense)
    }

    /// The sums of another block as this one would have taken them; `None` if the two are not alike. Where this one has seen
    /// nothing as yet, it takes over the origins of the other.
    pub(crate) fn sums_of(&mut self, other: &Block, own_sums: &Matrix, sums: &Matrix) -> Option<Matrix> {
        match (self, other) {
            (Block::Normal(own), Block::Normal(other)) => own.sums_of(other, own_sums, sums),
            (Block::Gaussian(own), Block::Gaussian(other)) => own.sums_of(other, own_sums, sums),
            (Block::Poisson(own), Block::Poisson(other)) => own.is_like(other).then(|| sums.clone()),
            (Block::Bernoulli(own), Block::Bernoulli(other)) => own.is_like(other).then(|| sums.clone()),
            (Block::Categorical(own), Block::Categorical(other)) => own.is_like(other).then(|| sums.clone()),
            (Block::Multinomial(own), Block::Multinomial(other)) => own.is_like(other).then(|| sums.clone()),
            (Block::Window(own), Block::Window(other)) => own.is_like(other).then(|| sums.clone()),
            (Block::Chain(own), Block::Chain(other)) => own.is_like(other).then(|| sums.clone()),
            _ => None,
        }
    }

    /// Whether the block fills holes with what it expects of them, so that learning from rows with holes takes several steps.
    pub(crate) fn expects_holes(&self) -> bool {
        match self {
            Block::Gaussian(block) => block.axes().is_none(),
            Block::Multinomial(block) => block.has_holes(),
            _ => false,
        }
    }

    /// Of a sparse block: its first place, and how many places it has.
    pub(crate) fn sparse_places(&self) -> Option<(usize, usize)> {
        let place = match self {
            Block::Multinomial(block) => block.place(),
            Block::Bernoulli(block) => block.place(),
            _ => return None,
        };
        if let Place::Sparse { first, width } = place { Some((*first, *width)) } else { None }
    }

    /// The family in a word.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Block::Normal(_) => "normal",
            Block::Gaussian(_) => "gaussian",
            Block::Poisson(_) => "poisson",
            Block::Bernoulli(_) => "bernoulli",
            Block::Categorical(_) => "categorical",
            Block::Multinomial(_) => "multinomial",
            Block::Window(_) => "window",
            Block::Chain(_) => "chain",
        }
    }
}

/// ln p, where what cannot be is -∞.
fn ln(p: f64) -> f64 {
    if p > 0.0 { p.ln() } else { f64::NEG_INFINITY }
}

/// Calls `visit(row, value, weight)` for every value of a column that is not a hole.
fn each_value(column: &[f64], weights: Option<&[f64]>, mut visit: impl FnMut(usize, f64, f64)) {
    for (i, &x) in column.iter().enumerate() {
        if !x.is_nan() {
            visit(i, x, weights.map_or(1.0, |weights| weights[i]));
        }
    }
}
