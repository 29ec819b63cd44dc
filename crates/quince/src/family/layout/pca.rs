//! Principal component analysis: the axes along which all rows together vary most.

use super::LayoutData;
use crate::error::{Error, Result};
use crate::family::block::{Axes, Block, GaussianPlan, Gaussians, Shape, Shared, Shrinkage, VarianceFloor};
use crate::family::statistics::{Members, statistics};
use crate::matrix::Matrix;
use crate::run::Run;
use faer::Side;

/// The first principal axes of these columns, by falling variance. The largest entry of an axis is positive.
pub(crate) fn axes(
    data: &LayoutData<'_>,
    (columns, fill): (&[usize], &[f64]),
    origin: &[f64],
    count: usize,
    run: &Run,
) -> Result<Axes> {
    let plan = GaussianPlan {
        shape: Shape::Full,
        shared: Shared::No,
        unbiased: false,
        variance_floor: VarianceFloor::relative(0.0),
        shrinkage: Shrinkage { amount: 0.0, to_one: true },
    };
    let mut block = Block::Gaussian(Gaussians::new(columns.to_vec(), 1, (origin, fill.to_vec()), None, &plan));
    let members = Members::new(&vec![0; data.features.rows()], 1, data.weights);
    let mut all = statistics(&[&block], data.features, &members, run)?.swap_remove(0);
    if block.family_mut().recentre(&all) {
        all = statistics(&[&block], data.features, &members, run)?.swap_remove(0);
    }
    let Block::Gaussian(gaussian) = &block else { unreachable!("it was made as one") };
    let (centre, scatter) = gaussian.centre_and_scatter(&all);
    let width = columns.len();
    let eigen = run.aside(width, move || {
        let matrix = faer::Mat::from_fn(width, width, |i, j| scatter[i.min(j) * width + i.max(j)]);
        matrix.self_adjoint_eigen(Side::Lower)
    })?;
    let eigen =
        eigen.map_err(|_| Error::data("the principal axes cannot be found", "Look for values out of range."))?;
    // Smaller variances are rounding errors.
    let variances = eigen.S().column_vector();
    let least = 1e-12 * variances[width - 1];
    let count = (0..width).filter(|&axis| variances[axis] > least).count().clamp(1, count.min(width));
    let mut vectors = Matrix::zeros(width, count);
    for axis in 0..count {
        let vector = eigen.U().col(width - 1 - axis);
        let largest = (0..width).fold(0.0, |most: f64, i| if vector[i].abs() > most.abs() { vector[i] } else { most });
        (0..width).for_each(|i| vectors[(i, axis)] = vector[i] * largest.signum());
    }
    Ok(Axes { centre, vectors })
}
