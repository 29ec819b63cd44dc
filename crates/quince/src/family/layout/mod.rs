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

impl LayoutData<'_> {
    /// The number of rows that have a weight.
    fn rows_that_count(&self) -> usize {
        self.weights.map_or(self.codes.len(), |weights| weights.iter().filter(|weight| **weight > 0.0).count())
    }

    /// The same without some rows, which leave no trace.
    pub(crate) fn without<T>(&self, rows: &[usize], then: impl FnOnce(&LayoutData<'_>) -> Result<T>) -> Result<T> {
        let mut is_left = vec![true; self.codes.len()];
        rows.iter().for_each(|&row| is_left[row] = false);
        let left: Vec<usize> = (0..self.codes.len()).filter(|&row| is_left[row]).collect();
        let (taken, codes) = (self.features.take(&left), left.iter().map(|&row| self.codes[row]).collect::<Vec<_>>());
        let weights: Option<Vec<f64>> = self.weights.map(|weights| left.iter().map(|&row| weights[row]).collect());
        then(&LayoutData { features: &taken.features(), codes: &codes, weights: weights.as_deref(), ..*self })
    }
}

/// Blocks that have seen nothing yet, and what was chosen by the rows in laying them out.
pub(crate) struct Layout {
    pub(crate) blocks: Vec<Block>,
    /// The families that were compared where one was chosen.
    pub(crate) choices: Vec<FamilyChoice>,
    /// Whether anything of the blocks follows from the values of the rows: without one of them it may be another.
    pub(crate) is_of_rows: bool,
}

/// What is chosen by rows is nothing to one that is left out if it makes it more probable by no more than this, in log likelihood.
const MAX_OPTIMISM_OF_A_ROW: f64 = 0.02;

/// Of fewer rows, folds that choose again cannot tell: there would not be one for each of ten folds.
const FEWEST_ROWS_TO_CHOOSE_BY: usize = 10;

impl Layout {
    /// Whether rows of the data that are left out would still be more probable than new ones, because the layout has seen them; and
    /// whether there are enough of them to tell: a choice without one or two of a handful of rows says nothing of that by all.
    pub(crate) fn is_too_hopeful_of(&self, data: &LayoutData<'_>) -> bool {
        let rows = data.rows_that_count();
        rows >= FEWEST_ROWS_TO_CHOOSE_BY && self.optimism() > MAX_OPTIMISM_OF_A_ROW * rows as f64
    }

    /// A bound on what the rows, all together, gain in log likelihood because the layout was chosen by them.
    ///
    /// The best of M families has a likelihood that is at most M times the mean of all: a choice is worth ln M. And a parameter of
    /// axes, as any parameter that is fitted to rows, is worth one (Akaike).
    fn optimism(&self) -> f64 {
        let of_choices = self.choices.iter().map(|choice| (choice.families.len().max(1) as f64).ln()).sum::<f64>();
        let of_axes = self.blocks.iter().filter_map(|block| match block {
            Block::Gaussian(gaussian) => gaussian.axes().map(|axes| axes.vectors.values().len() as f64),
            _ => None,
        });
        of_choices + of_axes.sum::<f64>()
    }
}

/// The blocks for all columns.
pub(crate) fn layout(data: &LayoutData<'_>, options: &LayoutOptions<'_>, run: &Run) -> Result<Layout> {
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
