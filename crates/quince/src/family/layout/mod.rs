//! The layout of a model: which block has which columns.

pub(crate) mod bins;
mod builder;
mod choose;
mod discriminant_axes;
mod families;
mod groups;
mod moments;
mod pca;
mod summary;

pub use choose::FamilyChoice;
pub use families::Families;
pub(crate) use families::FamilyName;

use crate::error::Result;
use crate::family::block::{Block, GaussianPlan, VarianceFloor};
use crate::learn::{Count, FeatureMap};
use crate::matrix::{Features, Weighted};
use crate::passes::at_hand;
use crate::run::Run;
use builder::Builder;
use groups::{Group, groups};
use summary::look;

/// The options by which blocks are laid out.
pub(crate) struct LayoutOptions<'a> {
    pub(crate) families: &'a Families,
    pub(crate) alpha: f64,
    /// The pseudocount of a word, or of another of the counts that a multinomial takes together.
    pub(crate) alpha_of_words: f64,
    /// The prior proportion of yes in yes/no columns.
    pub(crate) p: f64,
    pub(crate) threshold: f64,
    pub(crate) categories: usize,
    pub(crate) bins: Count,
    pub(crate) bandwidth: f64,
    pub(crate) variance_floor: VarianceFloor,
    pub(crate) gaussian: GaussianPlan,
    pub(crate) pca: usize,
    pub(crate) discriminant_axes: usize,
    /// Discriminant axes leave out directions in which standardised columns have no more standard deviation within classes.
    pub(crate) tolerance: f64,
    /// How numbers without a given family are treated.
    pub(crate) open: Open,
}

/// How numbers without a given family are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// Each has the family with the largest leave-one-out likelihood, given the classes.
    Choose,
    /// Together they are one Gaussian; small counts are independently Poisson.
    Together,
}

/// The rows to lay out blocks for.
pub(crate) struct LayoutData<'a> {
    pub(crate) feature_map: &'a FeatureMap,
    /// The columns have no kinds: all are numbers.
    pub(crate) of_matrix: bool,
    pub(crate) features: &'a Features<'a>,
    pub(crate) codes: &'a [u32],
    pub(crate) classes: usize,
    /// The number of components of blocks; in a classifier that of classes.
    pub(crate) components: usize,
    /// The priors of the classes, if they are not the frequencies of the rows.
    pub(crate) priors: Option<&'a [f64]>,
    pub(crate) weights: Option<&'a [f64]>,
}

/// The blocks for all columns, and the families that were compared where one was chosen.
pub(crate) fn layout(
    data: &LayoutData<'_>,
    options: &LayoutOptions<'_>,
    run: &Run,
) -> Result<(Vec<Block>, Vec<FamilyChoice>)> {
    let mut builder = Builder::new(data, options);
    let groups = groups(data, options.families)?;
    if groups.iter().any(|group| group.needs_a_look(options.open)) {
        let rows = Weighted { features: *data.features, weights: data.weights };
        builder.summaries = look(at_hand(rows), data.features.shape(), run)?;
    }
    for group in groups {
        run.check()?;
        match group {
            Group::Single(part, name) => builder.single(part, name, run)?,
            Group::Together(parts, name) => builder.together(&parts, name, run)?,
        }
    }
    builder.finish(run)
}
