//! Bayes classifiers of known parameters, and what a fitted one knows, as plain values.

use super::{BayesModel, Priors};
use crate::calibration::Calibration;
use crate::error::{Error, Result};
use crate::family::FamilyParameters;
use crate::family::block::Block;
use crate::family::product::Product;
use crate::matrix::{Features, Matrix};
use crate::run::Run;

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
        let totals = vec![1.0; priors.len()];
        let product = Product::known(parameters, &totals, &Run::new())?;
        let (log_priors, calibration) = (given.logs(&totals), Calibration::none(priors.len()));
        Ok(BayesModel { totals, priors: given, product, choices: Vec::new(), log_priors, calibration })
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
        if rows.columns() != centre.len() {
            let problem = format!("the rows have {} features, the model has {}", rows.columns(), centre.len());
            return Err(Error::shape(problem, "Give the same columns as in training."));
        }
        let offset = |a: usize| -(0..centre.len()).map(|j| centre[j] * axes[(j, a)]).sum::<f64>();
        let offsets: Vec<f64> = (0..axes.columns()).map(offset).collect();
        rows.multiply(axes, &offsets, run).map(Some)
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
