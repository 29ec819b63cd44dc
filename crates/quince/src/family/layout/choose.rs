//! Choosing the family of a column of numbers by its leave-one-out likelihood.
//!
//! For each family the leave-one-out log likelihood Σ ln p(x | class, without this row) is computed, and the largest wins.
//! A family that overfits (a histogram with very many bins) is surprised by the row that is left out, and one that underfits
//! (a normal distribution of two modes) by most rows.

use super::LayoutOptions;
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

/// Values lie on a grid if at least this fraction of them does: some ages are given in months.
const MIN_ON_GRID: f64 = 0.95;

/// The families that were compared for a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
pub(crate) struct Values {
    pub(crate) x: Vec<f64>,
    classes: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl Values {
    /// The values of a column, at most `most`, taken evenly.
    pub(crate) fn of(column: &[f64], codes: &[u32], weights: Option<&[f64]>, most: usize) -> Values {
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
    let normal = UnivariateFamily::Normal(grid(&sorted).map_or(0.0, |grid| grid.step));
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

/// Equidistant points.
struct Grid {
    origin: f64,
    step: f64,
}

/// The grid on which nearly all values lie, such as whole numbers or numbers with one decimal; `None` if there is none.
fn grid(sorted: &[f64]) -> Option<Grid> {
    let (low, high) = (sorted.first()?, sorted.last()?);
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
    let least = gaps.fold(f64::INFINITY, f64::min);
    let tens = (-6..=3).rev().map(|power| Grid { origin: 0.0, step: 10f64.powi(power) });
    let is_grid = |&Grid { origin, step }: &Grid| {
        let on_grid = |x: &&f64| {
            let steps = (**x - origin) / step;
            (steps - steps.round()).abs() < 1e-5
        };
        (high - low) / step < 1e6 && sorted.iter().filter(on_grid).count() as f64 >= MIN_ON_GRID * sorted.len() as f64
    };
    (low < high).then(|| tens.chain([Grid { origin: *low, step: least }]).find(is_grid)).flatten()
}

/// The step to which a column's values are rounded, or 0.
pub(super) fn step(column: &[f64]) -> f64 {
    let sorted = Values::of(column, &vec![0; column.len()], None, MAX_ROWS_TO_CHOOSE_BY).sorted();
    grid(&sorted).map_or(0.0, |grid| grid.step)
}

/// Edges of bins of equal width. Where values lie on a grid, edges lie between its points, so that no bin is empty by its
/// position.
pub(crate) fn equal_widths(sorted: &[f64], bins: usize) -> Vec<f64> {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    if let Some(Grid { origin, step }) = grid(sorted) {
        let [first, last] = [low, high].map(|x| ((x - origin) / step).round());
        let points = last - first + 1.0;
        let width = (points / bins as f64).ceil().max(1.0);
        let count = (points / width).ceil() as usize;
        return rising((0..=count).map(|bin| origin + step * (first + width * bin as f64 - 0.5)).collect());
    }
    let step = (high - low) / bins as f64;
    rising((0..bins).map(|bin| low + step * bin as f64).chain([high]).collect())
}

/// Edges without those that rounding has made equal: every bin has a width.
fn rising(mut edges: Vec<f64>) -> Vec<f64> {
    edges.dedup_by(|next, before| *next <= *before);
    edges
}

/// Edges of bins with equal numbers of values (quantiles), as far as ties allow: an edge lies between two values.
pub(crate) fn equal_frequencies(sorted: &[f64], bins: usize) -> Vec<f64> {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let half = grid(sorted).map_or(0.0, |grid| 0.5 * grid.step);
    let mut edges = vec![low - half];
    for bin in 1..bins {
        let at = sorted.len() * bin / bins;
        // The next larger value starts a bin of its own; its edge is half way.
        let below = sorted[at.saturating_sub(1)];
        let next = sorted[sorted.partition_point(|&x| x <= below)..].first();
        let Some(&next) = next else { continue };
        let edge = below + 0.5 * (next - below);
        if edges.last().is_some_and(|&last| edge > last) && edge < next {
            edges.push(edge);
        }
    }
    if edges.last().is_some_and(|&last| high + half > last) {
        edges.push(high + half);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_lie_between_the_points_of_a_grid() {
        assert_eq!(equal_widths(&[0.0, 1.0, 3.0], 4), [-0.5, 0.5, 1.5, 2.5, 3.5]);
        assert_eq!(equal_widths(&[10.0, 20.0, 29.0], 5), [9.5, 13.5, 17.5, 21.5, 25.5, 29.5]);
        let tenths: Vec<f64> = (0..40).map(|i| 13.1 + 0.1 * f64::from(i)).collect();
        let edges = equal_widths(&tenths, 128);
        assert_eq!(edges.len(), 41);
        assert!((edges[1] - 13.15).abs() < 1e-9);
        assert_eq!(
            equal_widths(&[0.0, 0.3, 1.0, std::f64::consts::PI], 2),
            [0.0, std::f64::consts::PI / 2.0, std::f64::consts::PI]
        );
        assert_eq!(equal_frequencies(&[0.0, 0.0, 0.0, 4.0, 8.0, 9.0], 2), [-0.5, 2.0, 9.5]);
        assert_eq!(equal_frequencies(&[7.0, 7.0], 4), [7.0]);
        // A few values between the points do not make another grid, and are in some bin all the same.
        let mut ages: Vec<f64> = (1..100).map(|age| f64::from(age % 50)).chain([0.42, 14.5]).collect();
        ages.sort_by(f64::total_cmp);
        let edges = equal_widths(&ages, 128);
        assert_eq!((edges.len(), edges[0], edges[50]), (51, -0.5, 49.5));
        // What is too large to have a half beside it has bins all the same.
        assert!(equal_widths(&[1e17, 1e17 + 16.0, 1e17 + 32.0], 8).windows(2).all(|pair| pair[0] < pair[1]));
    }
}
