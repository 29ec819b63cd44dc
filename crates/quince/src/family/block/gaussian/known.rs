//! Blocks with known parameters: statistics that lead to them, of as many rows as are said.

use super::{Axes, Gaussians, Plan, Shape, Shared};
use crate::error::{Error, Result};
use crate::family::block::Family;
use crate::matrix::Matrix;
use crate::run::Run;

impl Gaussians {
    /// A block over the first columns with known means, one row per component, and covariances, or one row of variances each:
    /// one per component or a shared one. With axes, all of that is along them. The statistics are those of components with
    /// these total weights.
    pub(crate) fn known(
        means: &Matrix,
        covariances: &[Matrix],
        axes: Option<Axes>,
        totals: &[f64],
        run: &Run,
    ) -> Result<(Gaussians, Matrix)> {
        let (components, width) = (means.rows(), means.columns());
        Gaussians::check_known(means, covariances)?;
        let columns = axes.as_ref().map_or(width, |axes| axes.centre.len());
        let shape = if covariances[0].rows() == width { Shape::Full } else { Shape::Diagonal };
        let plan = Plan::plain(shape, if covariances.len() < components { Shared::Pooled } else { Shared::No });
        let origin = vec![0.0; columns];
        let fill = axes.as_ref().map_or_else(|| origin.clone(), |axes| axes.centre.clone());
        let mut block = Gaussians::new((0..columns).collect(), components, (&origin, fill), axes, &plan);
        block.origin = means.clone();
        let mut statistics = Matrix::zeros(components, block.statistic_count());
        for (k, &total) in totals.iter().enumerate() {
            let covariance = &covariances[if covariances.len() < components { 0 } else { k }];
            let row = statistics.row_mut(k);
            row[0] = total;
            let sums = row[1 + width..].iter_mut().zip(covariance.values());
            sums.for_each(|(sum, entry)| *sum = total * entry);
        }
        block.settle(&statistics);
        block.estimate(&statistics, run)?;
        Ok((block, statistics))
    }

    /// Covariances of one shape, symmetric, as many as there are means or a single one; all numbers finite.
    pub(crate) fn check_known(means: &Matrix, covariances: &[Matrix]) -> Result<()> {
        let (components, width) = (means.rows(), means.columns());
        means.check_finite("means")?;
        if components == 0 || width == 0 {
            return Err(Error::shape("there are no means", "Give one row of means per component."));
        }
        if covariances.len() != components && covariances.len() != 1 {
            let problem = format!("{components} components have {} covariances", covariances.len());
            return Err(Error::shape(problem, "Give one per component, or one for all."));
        }
        let side = covariances[0].rows();
        for covariance in covariances {
            covariance.check_finite("covariances")?;
            let shape = (covariance.rows(), covariance.columns());
            if shape != (side, width) || (side != width && side != 1) {
                let problem = format!("a covariance of {width} columns is {} x {}", shape.0, shape.1);
                return Err(Error::shape(problem, format!("Give {width} x {width} numbers, or one row of variances.")));
            }
            let size = covariance.values().iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
            let apart = |i: usize, j: usize| (covariance[(i, j)] - covariance[(j, i)]).abs() > 1e-8 * size;
            if side == width && (0..width).any(|i| (0..i).any(|j| apart(i, j))) {
                return Err(Error::data("a covariance is not symmetric", "Give Σ with Σᵀ = Σ."));
            }
        }
        Ok(())
    }
}
