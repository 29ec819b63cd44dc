//! Discriminant axes (Fisher 1936, Rao 1948): those along which the means of classes lie far apart, in units of the standard
//! deviation of rows about the mean of their class.
//!
//! With W the pooled covariance within classes, axes V whiten rows, Vᵀ W V = 1, and are ordered by how much the class means, weighted by
//! the priors, vary along them. There are at most one fewer than classes.

use super::LayoutData;
use super::moments::{Numbers, moments};
use crate::error::{Error, Result};
use crate::family::axes::{PrincipalAxes, SeparatingAxes, varies};
use crate::family::block::{Axes, Moments, Separation, TILE, Tile};
use crate::matrix::{Matrix, Tall, triangular_factor};
use crate::passes::Chunk;
use crate::run::Run;
use faer::Mat;
use std::ops::Range;

/// Where standardised columns leave a direction less standard deviation than this, directions are found from the rows: the covariance has
/// only half of the digits.
const MIN_DEVIATION: f64 = 1e-3;

/// The first discriminant axes of these columns; one of zeros where there is none. The largest entry of an axis is positive.
/// Directions of standardised columns with no more standard deviation than `tolerance` within classes are left out, and axes along
/// which the means vary by no more than this fraction of the most.
pub(super) fn axes(
    data: &LayoutData<'_>,
    numbers: &Numbers<'_>,
    (count, tolerance): (usize, f64),
    run: &Run,
) -> Result<Axes> {
    let unknown = || Error::data("the discriminant axes cannot be found", "Look for values out of range.");
    let classes = moments(data, numbers, (data.codes, data.classes), run)?;
    let (total, weights) =
        (classes.iter().map(|class| class.weight).sum::<f64>(), class_weights(&classes, data.priors));
    let width = numbers.columns.len();
    let mut centre = vec![0.0; width];
    for (class, weight) in classes.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0) {
        centre.iter_mut().zip(&class.mean).for_each(|(sum, mean)| *sum += weight * mean);
    }
    let mut means = Matrix::zeros(classes.len(), width);
    for (k, class) in classes.iter().enumerate() {
        means.row_mut(k).copy_from_slice(if class.weight > 0.0 { &class.mean } else { &centre });
    }

    let within = Mat::from_fn(width, width, |i, j| {
        let there = classes.iter().filter(|class| class.weight > 0.0);
        there.map(|class| class.scatter[i.min(j) * width + i.max(j)]).sum::<f64>() / total
    });
    let units: Vec<f64> = (0..width)
        .map(|j| {
            let most = (0..classes.len()).map(|k| means[(k, j)].abs()).fold(0.0, f64::max);
            if varies(within[(j, j)].sqrt(), most) { within[(j, j)].sqrt() } else { 1.0 }
        })
        .collect();
    let standardised = Mat::from_fn(width, width, |i, j| within[(i, j)] / units[i] / units[j]);
    let principal = run.aside(width, move || PrincipalAxes::of(standardised.as_ref()))?;
    let mut principal = principal.ok_or_else(unknown)?;
    if loses_digits(&principal, tolerance) {
        let scales: Vec<f64> = units.iter().map(|unit| 1.0 / unit / total.sqrt()).collect();
        let rows = StandardisedRows { data, numbers, means: &means, scales };
        let factor = triangular_factor(&rows, run)?;
        principal =
            run.aside(width, move || PrincipalAxes::of_triangular_factor(factor.as_ref()))?.ok_or_else(unknown)?;
    }

    let white = principal.whitening(principal.rank(tolerance * tolerance));
    let white = Mat::from_fn(width, white.ncols(), |j, axis| white[(j, axis)] / units[j]);
    let apart = Mat::from_fn(classes.len(), width, |k, j| weights[k].sqrt() * (means[(k, j)] - centre[j]));
    let most = count.min(classes.iter().filter(|class| class.weight > 0.0).count().saturating_sub(1));
    let found = run.aside(width, move || SeparatingAxes::of_means(&white, &apart, tolerance, most))?;
    let SeparatingAxes { vectors, explained } = found.ok_or_else(unknown)?;
    let vectors = if vectors.columns() == 0 { Matrix::zeros(width, 1) } else { vectors };
    Ok(Axes { centre, vectors, separation: Some(Separation { means, explained }) })
}

/// The weights of the classes, which add up to one: their priors, or if there are none, or these are of classes without rows, those of their rows.
fn class_weights(classes: &[Moments], priors: Option<&[f64]>) -> Vec<f64> {
    let given = |k: usize| priors.map_or(classes[k].weight, |priors| priors[k]);
    let normalised = |weights: Vec<f64>| {
        let total: f64 = weights.iter().sum();
        (total > 0.0).then(|| weights.iter().map(|weight| weight / total).collect())
    };
    let of_rows = (0..classes.len()).map(|k| if classes[k].weight > 0.0 { given(k) } else { 0.0 }).collect();
    let weights = || classes.iter().map(|class| class.weight).collect();
    normalised(of_rows).or_else(|| normalised(weights())).unwrap_or_default()
}

/// Whether a direction that may have more standard deviation than the tolerance has too little for its square to say how much.
fn loses_digits(principal: &PrincipalAxes, tolerance: f64) -> bool {
    let mut deviations = principal.variances.iter().map(|variance| variance.max(0.0).sqrt());
    deviations.any(|deviation| (0.5 * tolerance..=MIN_DEVIATION).contains(&deviation))
}

/// Rows about the mean of their class in units of the columns, by the roots of their weights, so that XᵀX is the covariance within
/// classes.
struct StandardisedRows<'a> {
    data: &'a LayoutData<'a>,
    numbers: &'a Numbers<'a>,
    means: &'a Matrix,
    scales: Vec<f64>,
}

impl Chunk for StandardisedRows<'_> {
    fn count(&self) -> usize {
        self.data.features.rows()
    }
}

impl Tall for StandardisedRows<'_> {
    fn width(&self) -> usize {
        self.numbers.columns.len()
    }

    fn pack(&self, range: Range<usize>, packed: &mut [f64]) {
        let LayoutData { features, codes, weights, .. } = *self.data;
        let (count, mut tile) = (range.len(), Tile::new(features));
        for start in range.clone().step_by(TILE) {
            let rows = start..(start + TILE).min(range.end);
            tile.fill(features, rows.clone());
            for (j, &column) in self.numbers.columns.iter().enumerate() {
                for (&x, i) in tile.column(column).iter().zip(rows.clone()) {
                    let x = if x.is_nan() { self.numbers.fill[j] } else { x };
                    let root = weights.map_or(1.0, |weights| weights[i].sqrt());
                    let deviation = x - self.means[(codes[i] as usize, j)];
                    packed[j * count + (i - range.start)] = root * self.scales[j] * deviation;
                }
            }
        }
    }
}
