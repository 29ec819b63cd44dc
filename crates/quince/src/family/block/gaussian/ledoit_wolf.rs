//! How much a covariance is shrunk, by the rule of Ledoit and Wolf (2004).
//!
//! Let z be the columns about their mean in units of their standard deviations, S = Σ w z zᵀ / W their covariance, and μ the mean of
//! its diagonal. The amount with the smallest expected error of (1 - amount) S + amount μ 1 is about
//!
//! ```text
//! min(β, δ) / δ  with  β = (Σ w ‖z‖⁴ / W - ‖S‖²) / W  and  δ = ‖S - μ 1‖²,
//! ```
//!
//! where ‖S‖² is the sum of all squared entries. In the units of the columns the target is the diagonal of their variances.

use super::{Gaussians, Moments};
use crate::error::Result;
use crate::family::axes::varies;
use crate::family::block::{TILE, Tile};
use crate::family::statistics::{ClassRows, Members};
use crate::matrix::{Features, Matrix};
use crate::passes::{Pass, at_hand};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// What the rule finds; it stays as it is when more is learnt, and when a row is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedoitWolf {
    /// For the covariance of each component.
    components: Vec<Found>,
    /// For the covariance of all rows together.
    all: Found,
}

/// What the rule finds for one covariance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Found {
    amount: f64,
    /// The columns that do not vary.
    constant: Vec<u32>,
}

impl LedoitWolf {
    /// Whether this can be: amounts between 0 and 1, one for each component of this many columns.
    pub(super) fn is_sound(&self, components: usize, width: usize) -> bool {
        let is_sound = |found: &Found| {
            (0.0..=1.0).contains(&found.amount) && found.constant.iter().all(|&column| (column as usize) < width)
        };
        self.components.len() == components && self.components.iter().chain([&self.all]).all(is_sound)
    }
}

impl Found {
    /// (1 - amount) Σ + amount μ D², with D² the variances of the columns and μ the fraction of columns that vary. Those that do not
    /// have the units that are given.
    fn shrink(&self, covariance: &mut [f64], moments: &Moments, unit_of_constant: impl Fn(usize) -> f64) {
        let width = moments.mean.len();
        let mut units = variances(moments);
        self.constant.iter().for_each(|&column| units[column as usize] = unit_of_constant(column as usize));
        let varying = (width - self.constant.len()) as f64 / width as f64;
        covariance.iter_mut().for_each(|entry| *entry *= 1.0 - self.amount);
        for (j, unit) in units.iter().enumerate() {
            covariance[j * width + j] += self.amount * varying * unit;
        }
    }
}

/// The units in which the columns of some rows are standardised.
struct Units {
    means: Vec<f64>,
    /// Standard deviations; 1 of a column that does not vary.
    deviations: Vec<f64>,
    constant: Vec<u32>,
}

impl Units {
    fn of(moments: &Moments) -> Units {
        let mut deviations: Vec<f64> = variances(moments).into_iter().map(f64::sqrt).collect();
        let columns = 0..deviations.len() as u32;
        let constant: Vec<u32> =
            columns.filter(|&j| !varies(deviations[j as usize], moments.mean[j as usize])).collect();
        constant.iter().for_each(|&column| deviations[column as usize] = 1.0);
        Units { means: moments.mean.clone(), deviations, constant }
    }

    /// ‖z‖² of rows stored by columns.
    fn squares(&self, values: &[f64], rows: usize) -> Vec<f64> {
        let mut squares = vec![0.0; rows];
        for ((column, mean), deviation) in values.chunks_exact(rows).zip(&self.means).zip(&self.deviations) {
            for (square, x) in squares.iter_mut().zip(column) {
                let z = (x - mean) / deviation;
                *square += z * z;
            }
        }
        squares
    }

    /// The amount for rows with these moments and this sum of w ‖z‖⁴.
    fn amount(&self, moments: &Moments, fourth_powers: f64) -> f64 {
        let (width, weight) = (moments.mean.len(), moments.weight);
        if weight <= 0.0 || width == 1 {
            return 0.0;
        }
        let varying = (width - self.constant.len()) as f64 / width as f64;
        let (mut squares, mut distance) = (0.0, 0.0);
        for j in 0..width {
            for i in j..width {
                let entry = moments.scatter[j * width + i] / weight / self.deviations[i] / self.deviations[j];
                let (times, target) = if i == j { (1.0, varying) } else { (2.0, 0.0) };
                squares += times * entry * entry;
                distance += times * (entry - target) * (entry - target);
            }
        }
        let error = (fourth_powers / weight - squares) / weight;
        if error <= 0.0 || distance <= 0.0 { 0.0 } else { (error / distance).min(1.0) }
    }
}

impl Gaussians {
    /// The amount of shrinkage of each component, if it follows from the rows.
    pub(crate) fn shrinkage_found(&self) -> Option<Vec<f64>> {
        self.ledoit_wolf.as_ref().map(|rule| rule.components.iter().map(|found| found.amount).collect())
    }

    /// Finds the amounts of shrinkage, if they are to follow from the rows.
    pub(crate) fn find_shrinkage(
        &mut self,
        statistics: &Matrix,
        features: &Features<'_>,
        members: &Members<'_>,
        run: &Run,
    ) -> Result<()> {
        if self.ledoit_wolf.is_none() {
            return Ok(());
        }
        let mut groups = self.all_moments(statistics);
        groups.push(together(&groups));
        let (units, all): (Vec<Units>, usize) = (groups.iter().map(Units::of).collect(), groups.len() - 1);
        let pass = Pass::new((20_000_000 / features.row_cost()).max(TILE), run);
        let rows = at_hand(ClassRows { features, members });
        let fourth_powers = pass.gather(
            rows,
            || vec![0.0; groups.len()],
            |sums: &mut Vec<f64>, rows, places| {
                let mut tile = Tile::new(rows.features);
                rows.members.each_tile(places, |class, some, weights| {
                    tile.fill(rows.features, some.iter().copied());
                    let values = self.gather_rows(&tile);
                    for group in [class, all] {
                        let squares = units[group].squares(&values, some.len());
                        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
                        sums[group] +=
                            squares.iter().enumerate().map(|(i, square)| weight(i) * square * square).sum::<f64>();
                    }
                });
            },
        )?;
        let each = groups.iter().zip(units).zip(fourth_powers);
        let found = |((moments, units), sum): ((&Moments, Units), f64)| Found {
            amount: units.amount(moments, sum),
            constant: units.constant,
        };
        let mut components: Vec<Found> = each.map(found).collect();
        let all = components.pop().unwrap_or_default();
        self.ledoit_wolf = Some(LedoitWolf { components, all });
        Ok(())
    }

    /// Shrinks the covariance of a component by the amount that was found for it, if one was.
    pub(super) fn shrink_component(&self, covariance: &mut [f64], moments: &Moments, component: usize) {
        if let Some(found) = self.ledoit_wolf.as_ref().and_then(|rule| rule.components.get(component)) {
            found.shrink(covariance, moments, |column| self.unit_of_constant(column));
        }
    }

    /// The unit of a column that does not vary within a component: its variance over all rows, so that it does not matter what it is
    /// measured in. Where units are those of the columns anyway, it is 1, as scikit-learn has it.
    fn unit_of_constant(&self, column: usize) -> f64 {
        let overall = self.settled.get(column).map_or(0.0, |settled| settled[1]);
        if self.shrinkage.in_units_of_columns && overall > 0.0 { overall } else { 1.0 }
    }

    /// The covariance of all rows together, estimated as those of components are.
    pub(crate) fn total_covariance(&self, statistics: &Matrix) -> Matrix {
        let all = together(&self.all_moments(statistics));
        let divisor = self.divisor(all.weight, 1.0);
        let mut covariance: Vec<f64> = all.scatter.iter().map(|sum| sum / divisor).collect();
        if let Some(rule) = &self.ledoit_wolf {
            rule.all.shrink(&mut covariance, &all, |column| self.unit_of_constant(column));
        }
        self.whole(&self.shaped(covariance))
    }
}

/// Weight, mean and scatter of all rows together.
fn together(groups: &[Moments]) -> Moments {
    let there = || groups.iter().filter(|moments| moments.weight > 0.0);
    let (weight, width) = (there().map(|moments| moments.weight).sum::<f64>(), groups[0].mean.len());
    let mean: Vec<f64> = (0..width).map(|j| there().map(|group| group.weight / weight * group.mean[j]).sum()).collect();
    let mut scatter = vec![0.0; width * width];
    for group in there() {
        for j in 0..width {
            for i in j..width {
                let apart = (group.mean[i] - mean[i]) * (group.mean[j] - mean[j]);
                scatter[j * width + i] += group.scatter[j * width + i] + group.weight * apart;
            }
        }
    }
    Moments { weight, mean, scatter }
}

/// The variances of the columns.
fn variances(moments: &Moments) -> Vec<f64> {
    let width = moments.mean.len();
    (0..width).map(|j| moments.scatter[j * width + j] / moments.weight).collect()
}
