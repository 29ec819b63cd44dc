//! Axes of a fitted Gaussian classifier: those that separate the classes, and the principal axes of each class.

use super::BayesModel;
use crate::error::{Error, Result};
use crate::family::axes::{self, SeparatingAxes, upright, whitening_of};
use crate::family::block::{Block, Family, Gaussians, Shape, Shared};
use crate::matrix::{Features, Matrix};
use crate::run::Run;
use faer::Mat;

/// Standardised columns vary in a direction if they have more standard deviation than this.
const MIN_DEVIATION: f64 = 1e-7;

/// Axes along which rows of a class have variance one, and which separate the classes, the best first: z = (x - centre) · axes.
///
/// ```
/// use quince::bayes::{BayesModel, SharedCovariance};
/// use quince::prelude::*;
/// let rows = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [8.0, 1.0], [9.0, 3.0], [7.0, 2.0]];
/// let pooled = GaussianClassifier::new().shared(SharedCovariance::Pooled);
/// let model = pooled.fit(&rows, &["a", "a", "a", "b", "b", "b"])?;
/// let axes = model.fitted::<BayesModel>().unwrap().discriminant_axes(&Run::new())?.unwrap();
/// let along = axes.project(&Matrix::from_rows(&rows).features(), &Run::new())?;
/// // The means of two classes are on a line: the first axis has all the variance between them.
/// assert!(along.rows() == 6 && axes.explained_variance_ratio[0] > 1.0 - 1e-9);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DiscriminantAxes {
    /// The centre, one number per feature.
    pub centre: Vec<f64>,
    /// The axes, one column each.
    pub axes: Matrix,
    /// The shares of the variance between classes along the axes, and then along others that were left out.
    pub explained_variance_ratio: Vec<f64>,
}

impl DiscriminantAxes {
    /// Rows along the axes.
    pub fn project(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        project(rows, &self.centre, &self.axes, run)
    }
}

/// The principal axes of the covariance of a class.
///
/// ```
/// use quince::bayes::BayesModel;
/// use quince::prelude::*;
/// let rows = [[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0], [8.0, 1.0], [9.0, 3.0], [7.0, 2.0]];
/// let model = GaussianClassifier::new().fit(&rows, &["a", "a", "a", "b", "b", "b"])?;
/// let axes = model.fitted::<BayesModel>().unwrap().principal_axes(0, &Run::new())?.unwrap();
/// // Rows of class a lie on the diagonal: their variance along it is (2 + 0 + 2) / 3.
/// assert!((axes.variances[0] - 4.0 / 3.0).abs() < 1e-3 && axes.variances[1] < 1e-3);
/// assert!((axes.axes[(0, 0)] - axes.axes[(1, 0)]).abs() < 1e-3);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalAxes {
    /// The variances along the axes, the largest first.
    pub variances: Vec<f64>,
    /// The axes, one column each.
    pub axes: Matrix,
}

/// (x - centre) · axes.
pub(super) fn project(rows: &Features<'_>, centre: &[f64], axes: &Matrix, run: &Run) -> Result<Matrix> {
    rows.check_columns(centre.len())?;
    let offset = |a: usize| -(0..centre.len()).map(|j| centre[j] * axes[(j, a)]).sum::<f64>();
    let offsets: Vec<f64> = (0..axes.columns()).map(offset).collect();
    rows.multiply(axes, &offsets, run)
}

impl BayesModel {
    /// The discriminant axes, if the only features are numbers in one Gaussian block, with full covariances that the classes share. They
    /// are those onto which the model projects rows; or, of one that projects onto none, those that maximise the covariance of all rows
    /// less the one that classes share, about the origin.
    pub fn discriminant_axes(&self, run: &Run) -> Result<Option<DiscriminantAxes>> {
        let ([Block::Gaussian(block)], [statistics]) = (&self.product.blocks[..], &self.product.statistics[..]) else {
            return Ok(None);
        };
        let (centre, vectors, explained) = match block.axes() {
            Some(axes) => {
                let Some(separation) = &axes.separation else { return Ok(None) };
                (axes.centre.clone(), axes.vectors.clone(), separation.explained.clone())
            }
            None if block.shared == Shared::No || block.shape != Shape::Full => return Ok(None),
            None => {
                let found = separating(&block.covariance(0), &block.total_covariance(statistics), run)?;
                (vec![0.0; block.width()], found.vectors, found.explained)
            }
        };
        // Where classes have the same means there is one axis of zeros, and nothing along it.
        let nothing = explained.is_empty() || vectors.values().iter().all(|entry| *entry == 0.0);
        let mut all = DiscriminantAxes {
            centre: vec![0.0; self.product.features],
            axes: Matrix::zeros(self.product.features, if nothing { 0 } else { vectors.columns() }),
            explained_variance_ratio: explained,
        };
        for (j, &column) in block.columns().iter().enumerate() {
            all.centre[column] = centre[j];
            all.axes.row_mut(column).iter_mut().zip(vectors.row(j)).for_each(|(to, entry)| *to = *entry);
        }
        Ok(Some(all))
    }

    /// The principal axes of the covariance of a class, if the only features are numbers in one Gaussian block that projects them onto
    /// no others.
    pub fn principal_axes(&self, class: usize, run: &Run) -> Result<Option<PrincipalAxes>> {
        let Some(block) = self.gaussian_of_all().filter(|block| block.axes().is_none()) else { return Ok(None) };
        if class >= self.totals.len() {
            let problem = format!("there is no class {class}, and {} classes are known", self.totals.len());
            return Err(Error::data(problem, "Classes are counted from 0."));
        }
        let covariance = block.covariance(class);
        let found = run.aside(block.width(), move || axes::PrincipalAxes::of(covariance.view().faer()))?;
        let found = found.ok_or_else(not_found)?;
        Ok(Some(PrincipalAxes { axes: upright(&found.axes), variances: found.variances }))
    }

    /// The mean of each class, one row per class and one column per feature, if all features are numbers in one Gaussian block.
    pub fn class_means(&self) -> Option<Matrix> {
        let block = self.gaussian_of_all()?;
        match block.axes() {
            None => Some(block.means().clone()),
            Some(axes) => axes.separation.as_ref().map(|separation| separation.means.clone()),
        }
    }

    /// The Gaussian block, if it is the only one and has all features in their order.
    fn gaussian_of_all(&self) -> Option<&Gaussians> {
        let [Block::Gaussian(block)] = &self.product.blocks[..] else { return None };
        block.columns().iter().copied().eq(0..self.product.features).then_some(block)
    }
}

/// The axes that maximise the covariance of all rows less that within classes.
pub(super) fn separating(within: &Matrix, total: &Matrix, run: &Run) -> Result<SeparatingAxes> {
    let width = within.rows();
    let between = Mat::from_fn(width, width, |i, j| total[(i, j)] - within[(i, j)]);
    let within = within.view().faer().to_owned();
    let found = run.aside(width, move || {
        let whitening = whitening_of(&within, MIN_DEVIATION)?;
        SeparatingAxes::of_covariances(&whitening, &between)
    })?;
    found.ok_or_else(not_found)
}

pub(super) fn not_found() -> Error {
    Error::data("the axes of a covariance cannot be found", "Look for values out of range.")
}
