//! Choosing the family of a column of numbers by its leave-one-out likelihood.
//!
//! For each family the leave-one-out log likelihood Σ ln p(x | class, without this row) is computed, and the largest wins.
//! A family that overfits (a histogram with very many bins) is surprised by the row that is left out, and one that underfits
//! (a normal distribution of two modes) by most rows.

use super::LayoutOptions;
use super::bins::{equal_frequencies, equal_widths, step};
use crate::error::Result;
use crate::family::block::{Block, Categories, Coding, Normals, Poissons, TILE, Tile, is_count};
use crate::family::statistics::{Members, statistics};
use crate::learn::Count;
use crate::matrix::Matrix;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// The most rows to choose by; of more, these are taken evenly.
const MAX_ROWS_TO_CHOOSE_BY: usize = 20_000;

/// The most bins that are tried; then half as many, and so on.
const MAX_BINS: usize = 128;

/// With fewer values per class than this, leave-one-out cannot judge bins.
const MIN_VALUES_PER_CLASS: usize = 2;

/// The families that were compared for a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyChoice {
    /// The column.
    pub column: String,
    /// Each possible family with its mean leave-one-out log likelihood per row; the best first.
    pub families: Vec<(String, f64)>,
}

/// A univariate family.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UnivariateFamily {
    /// With the step to which values are rounded, or 0.
    Normal(f64),
    Poisson,
    Bins(Vec<f64>),
}

/// The values of a column that are not missing, with class and weight.
struct Values {
    x: Vec<f64>,
    classes: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl Values {
    /// The values of a column, at most `most`, taken evenly.
    fn of(column: &[f64], codes: &[u32], weights: Option<&[f64]>, most: usize) -> Values {
        let counts = |i: usize| weights.is_none_or(|weights| weights[i] > 0.0);
        let known: Vec<usize> = (0..column.len()).filter(|&i| !column[i].is_nan() && counts(i)).collect();
        let count = known.len().min(most);
        let rows: Vec<usize> = (0..count).map(|r| known[known.len() * r / count.max(1)]).collect();
        Values {
            x: rows.iter().map(|&i| column[i]).collect(),
            classes: rows.iter().map(|&i| codes[i]).collect(),
            weights: weights.map(|weights| rows.iter().map(|&i| weights[i]).collect()),
        }
    }

    /// The total weight of the values.
    fn weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.x.len() as f64, |weights| weights.iter().sum())
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.x.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    }
}

/// Chooses the family of a column of numbers or counts.
pub(crate) fn choose(
    name: &str,
    column: &[f64],
    counts: bool,
    (codes, classes): (&[u32], usize),
    weights: Option<&[f64]>,
    options: &LayoutOptions<'_>,
) -> Result<(UnivariateFamily, FamilyChoice)> {
    let values = Values::of(column, codes, weights, MAX_ROWS_TO_CHOOSE_BY);
    let rows = values.weight().max(f64::MIN_POSITIVE);
    let sorted = values.sorted();
    let normal = UnivariateFamily::Normal(step(&sorted));
    let likelihood = values.likelihood(&normal, classes, options)?;
    let mut found = vec![("normal".to_string(), normal, likelihood)];
    if counts && values.x.iter().all(|&x| is_count(x)) {
        found.push((
            "poisson".into(),
            UnivariateFamily::Poisson,
            values.likelihood(&UnivariateFamily::Poisson, classes, options)?,
        ));
    }
    for (word, edges) in [("histogram", equal_widths as fn(&[f64], usize) -> _), ("quantiles", equal_frequencies)] {
        let mut before = 0;
        let mut bins = if let Count::Fixed(bins) = options.bins { bins } else { MAX_BINS };
        while bins >= 2 && sorted.len() >= MIN_VALUES_PER_CLASS * classes {
            let edges = edges(&sorted, bins);
            if edges.len() > 2 && edges.len() != before {
                before = edges.len();
                let (bins, single) = (edges.len() - 1, UnivariateFamily::Bins(edges));
                let likelihood = values.likelihood(&single, classes, options)?;
                found.push((format!("{word} of {bins} bins"), single, likelihood));
            }
            bins = if options.bins == Count::Auto { bins / 2 } else { 0 };
        }
    }
    // On a tie the first, which is the simpler one.
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    let possible = found.iter().filter(|(_, _, likelihood)| likelihood.is_finite());
    let families = possible.map(|(word, _, likelihood)| (word.clone(), likelihood / rows)).collect();
    let best = found.swap_remove(0).1;
    Ok((best, FamilyChoice { column: name.into(), families }))
}

impl Values {
    /// The leave-one-out log likelihood of a family.
    fn likelihood(&self, single: &UnivariateFamily, classes: usize, options: &LayoutOptions<'_>) -> Result<f64> {
        let run = Run::new().threads(1);
        let column = Matrix::column_vector(self.x.clone());
        let (features, place) = (column.features(), vec![0]);
        let origin = features.near_means();
        let mut block = match single {
            UnivariateFamily::Normal(step) => {
                Block::Normal(Normals::new(place, classes, &origin, options.variance_floor, vec![*step]))
            }
            UnivariateFamily::Poisson => Block::Poisson(Poissons::new(place, options.alpha)),
            UnivariateFamily::Bins(edges) => {
                Block::Categorical(Categories::new(place, vec![Coding::Bins(edges.clone())], options.alpha))
            }
        };
        let members = Members::new(&self.classes, classes, self.weights.as_deref());
        let mut all = statistics(&[&block], &features, &members, &run)?.swap_remove(0);
        if block.family_mut().recentre(&all) {
            all = statistics(&[&block], &features, &members, &run)?.swap_remove(0);
        }
        block.family_mut().settle(&all);
        block.family_mut().estimate(&all, &run)?;
        let (mut tile, mut own, mut sum) = (Tile::new(&features), [0.0; TILE], 0.0);
        members.each_tile(0..members.rows(), |class, rows, weights| {
            tile.fill(&features, rows.iter().copied());
            let own = &mut own[..rows.len()];
            block.family().score_own(class, all.row(class), &tile, weights, own);
            let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
            let counted = own.iter().enumerate().filter(|(i, _)| weight(*i) > 0.0);
            sum += counted.map(|(i, score)| weight(i) * score).sum::<f64>();
        });
        Ok(sum)
    }
}

/// The step to which a column's values are rounded, or 0.
pub(super) fn step_of_column(column: &[f64]) -> f64 {
    step(&Values::of(column, &vec![0; column.len()], None, MAX_ROWS_TO_CHOOSE_BY).sorted())
}
