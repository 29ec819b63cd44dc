//! Discriminant axes (Fisher 1936, Rao 1948): those along which the means of classes lie far apart, in units of the standard
//! deviation of rows about the mean of their class.
//!
//! With W the pooled covariance within classes, axes V whiten rows, Vᵀ W V = 1, and are ordered by how much the class means vary along
//! them. There are at most one fewer than classes.

use super::LayoutData;
use crate::error::{Error, Result};
use crate::family::block::{Axes, Block, GaussianPlan, Gaussians, Shape, Shared, Shrinkage, VarianceFloor};
use crate::family::statistics::{Members, centred_statistics};
use crate::matrix::Matrix;
use crate::run::Run;
use faer::{Mat, Side};

/// A direction of standardised columns with less than this variance within classes is left out, as are axes along which the
/// means vary by less than this fraction of the most.
const MIN_VARIANCE: f64 = 1e-8;

/// The first discriminant axes of these columns. The largest entry of an axis is positive.
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
    let block = Gaussians::new(columns.to_vec(), data.classes, (origin, fill.to_vec()), None, &plan);
    let mut blocks = [Block::Gaussian(block)];
    let members = Members::new(data.codes, data.classes, data.weights);
    let statistics = centred_statistics(&mut blocks, data.features, &members, run)?.swap_remove(0);
    let [Block::Gaussian(gaussian)] = &blocks else { unreachable!("it was made as one") };
    let mut classes = gaussian.weights_means_and_scatters(&statistics);
    classes.retain(|(weight, ..)| *weight > 0.0);
    let total: f64 = classes.iter().map(|(weight, ..)| weight).sum();
    let width = columns.len();
    let mut centre = vec![0.0; width];
    for (weight, mean, _) in &classes {
        centre.iter_mut().zip(mean).for_each(|(sum, mean)| *sum += weight / total * mean);
    }
    let within = Mat::from_fn(width, width, |i, j| {
        classes.iter().map(|(_, _, s)| s[i.min(j) * width + i.max(j)]).sum::<f64>() / total
    });
    let means = Mat::from_fn(classes.len(), width, |k, j| {
        let (weight, mean, _) = &classes[k];
        (weight / total).sqrt() * (mean[j] - centre[j])
    });
    let vectors = run.aside(width, move || separating(&within, &means, count))?;
    let vectors =
        vectors.ok_or_else(|| Error::data("the discriminant axes cannot be found", "Look for values out of range."))?;
    Ok(Axes { centre, vectors })
}

/// The axes V with Vᵀ W V = 1 along which weighted, centred means vary most; one of zeros where there is none.
fn separating(within: &Mat<f64>, means: &Mat<f64>, count: usize) -> Option<Matrix> {
    let width = within.nrows();
    let deviation = |j: usize| if within[(j, j)] > 0.0 { within[(j, j)].sqrt() } else { 1.0 };
    let scaled = Mat::from_fn(width, width, |i, j| within[(i, j)] / (deviation(i) * deviation(j)));
    let eigen = scaled.self_adjoint_eigen(Side::Lower).ok()?;
    let variances = eigen.S().column_vector();
    let kept: Vec<usize> = (0..width).rev().filter(|&axis| variances[axis] > MIN_VARIANCE).collect();
    let white =
        Mat::from_fn(width, kept.len(), |j, a| eigen.U()[(j, kept[a])] / (deviation(j) * variances[kept[a]].sqrt()));
    let apart = means * &white;
    let between = apart.transpose() * &apart;
    if kept.is_empty() {
        return Some(Matrix::zeros(width, 1));
    }
    let eigen = between.self_adjoint_eigen(Side::Lower).ok()?;
    let (eigenvalues, last) = (eigen.S().column_vector(), kept.len() - 1);
    let found = (0..kept.len()).filter(|&axis| eigenvalues[axis] > MIN_VARIANCE * eigenvalues[last]).count();
    let found = if eigenvalues[last] > 0.0 { found.min(count).min(means.nrows().saturating_sub(1)) } else { 0 };
    let mut vectors = Matrix::zeros(width, found.max(1));
    for axis in 0..found {
        let vector = &white * eigen.U().col(last - axis);
        let largest = (0..width).fold(0.0, |most: f64, i| if vector[i].abs() > most.abs() { vector[i] } else { most });
        (0..width).for_each(|i| vectors[(i, axis)] = vector[i] * largest.signum());
    }
    Some(vectors)
}
