//! Bayes classifiers of known parameters, and what a fitted one knows, as plain values.

use super::axes::{not_found, project, separating};
use super::{BayesModel, Priors};
use crate::calibration::Calibration;
use crate::error::{Error, Result};
use crate::family::FamilyParameters;
use crate::family::axes::{PrincipalAxes, SeparatingAxes, upright};
use crate::family::block::{Axes, Block, Gaussians, Separation};
use crate::family::product::Product;
use crate::matrix::{Features, Matrix};
use crate::run::Run;

/// Variances of a known covariance may be negative by this fraction of the largest.
const MAX_ROUNDING: f64 = 1e-8;

impl BayesModel {
    /// Classes with known parameters and priors, not calibrated. Each class counts as one row where more are learnt from.
    ///
    /// ```
    /// use quince::bayes::{BayesModel, FamilyParameters, GaussianClassifier};
    /// use quince::learn::Classes;
    /// use quince::prelude::*;
    /// let means = Matrix::from_rows(&[[0.0, 0.0], [4.0, 0.0]]);
    /// let covariances = vec![Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]])];
    /// let known = BayesModel::known(&FamilyParameters::Gaussian { means, covariances }, &[0.5, 0.5])?;
    /// let model = Model::known(&GaussianClassifier::default(), known, 2, Some(Classes::of(["left", "right"])))?;
    /// assert_eq!(model.labels::<String>(&[[1.9, 7.0], [2.1, -7.0]])?, ["left", "right"]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn known(parameters: &FamilyParameters, priors: &[f64]) -> Result<BayesModel> {
        let given = Priors::Given(priors.to_vec());
        given.check(parameters.components())?;
        let product = Product::known(parameters, &vec![1.0; priors.len()], &Run::new())?;
        Ok(BayesModel::of_product(product, given))
    }

    /// Linear discriminant analysis with known means (one row per class), priors and covariance within classes, of which the
    /// pseudo-inverse is taken if it has no full rank. With the covariance of all rows, too, the model has discriminant axes: those
    /// that maximise that one less the one within classes.
    pub fn known_discriminants(
        means: &Matrix,
        within: &Matrix,
        total: Option<&Matrix>,
        priors: &[f64],
        run: &Run,
    ) -> Result<BayesModel> {
        let given = Priors::Given(priors.to_vec());
        given.check(means.rows())?;
        check_square(means, within)?;
        let found = within.clone();
        let principal = run.aside(within.rows(), move || PrincipalAxes::of(found.view().faer()))?;
        let principal = principal.ok_or_else(not_found)?;
        let (largest, least) = (principal.variances[0], principal.variances[within.rows() - 1]);
        if least < -MAX_ROUNDING * largest {
            return Err(Error::data("a covariance has a negative variance", "Give a positive semidefinite matrix."));
        }
        let (vectors, explained) = match total {
            None => (upright(&principal.whitening(principal.numerical_rank())), Vec::new()),
            Some(total) => {
                check_square(means, total)?;
                let SeparatingAxes { vectors, explained } = separating(within, total, run)?;
                (vectors, explained)
            }
        };
        let separation = Some(Separation { means: means.clone(), explained });
        let axes = Axes { centre: vec![0.0; means.columns()], vectors, separation };
        Ok(BayesModel::of_product(Product::along(axes, means, &vec![1.0; priors.len()], run)?, given))
    }

    /// Classes that count as one row each, with their parameters, not calibrated.
    fn of_product(product: Product, priors: Priors) -> BayesModel {
        let totals = vec![1.0; product.components];
        let (log_priors, calibration) = (priors.logs(&totals), Calibration::none(totals.len()));
        BayesModel { totals, priors, product, choices: Vec::new(), log_priors, calibration }
    }

    /// The parameters, if one dense family has all features.
    pub fn family_parameters(&self) -> Option<FamilyParameters> {
        self.product.family_parameters()
    }

    /// The number of features that rows must have.
    pub fn features(&self) -> usize {
        self.product.features
    }

    /// The axes that rows are projected onto before all else, one column each, and the centre: z = (x - centre) · axes.
    pub fn axes(&self) -> Option<(&[f64], &Matrix)> {
        let gaussian = self.product.blocks.iter().find_map(|block| match block {
            Block::Gaussian(block) => block.axes(),
            _ => None,
        });
        gaussian.map(|axes| (&axes.centre[..], &axes.vectors))
    }

    /// Rows along the axes, if all features are projected onto some.
    pub fn project(&self, rows: &Features<'_>, run: &Run) -> Result<Option<Matrix>> {
        let Some((centre, axes)) = self.axes().filter(|(centre, _)| centre.len() == self.product.features) else {
            return Ok(None);
        };
        project(rows, centre, axes, run).map(Some)
    }

    /// The same with at least this many categories of each feature, if it is of one categorical family: those that are new
    /// were never seen.
    pub fn with_categories(&self, counts: &[usize], run: &Run) -> Result<BayesModel> {
        let mut wider = self.clone();
        let ([Block::Categorical(block)], [statistics]) =
            (&mut wider.product.blocks[..], &mut wider.product.statistics[..])
        else {
            return Err(Error::data("the model is not of one categorical family", "Train it again."));
        };
        *statistics = block.widen(statistics, counts)?;
        wider.product.settle();
        wider.product.estimate(run)?;
        Ok(wider)
    }
}

/// One covariance of all columns, with finite means.
fn check_square(means: &Matrix, covariance: &Matrix) -> Result<()> {
    if covariance.rows() != means.columns() {
        let problem = format!("a covariance of {} columns has {} rows", means.columns(), covariance.rows());
        return Err(Error::shape(problem, "Give one row and one column per feature."));
    }
    Gaussians::check_known(means, std::slice::from_ref(covariance))
}
