//! A fitted Bayes classifier: the sufficient statistics of all blocks, and the parameters that follow from them.

use super::Priors;
use crate::calibration::Calibration;
use crate::em::{Data, Options, State, Trace};
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::family::Parameters;
use crate::family::block::Block;
use crate::family::explain::short;
use crate::family::layout::FamilyChoice;
use crate::family::product::Product;
use crate::family::statistics::Members;
use crate::learn::{Examples, FeatureSource, Fitted, Imputed, Prediction, SampledRow, SavedParts, Target, TargetView};
use crate::matrix::Features;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where blocks impute missing values: the most steps of EM, and its tolerance, the last rise of the mean log likelihood of a
/// row.
pub(super) const MAX_EM_STEPS: usize = 500;
pub(super) const EM_TOLERANCE: f64 = 1e-8;

/// What a Bayes classifier has learnt.
///
/// ```
/// use quince::bayes::BayesModel;
/// use quince::family::FamilyParameters;
/// use quince::{Matrix, Run};
/// let rates = Matrix::from_rows(&[[1.0], [2.0]]);
/// let model = BayesModel::known(&FamilyParameters::Poisson { rates }, &[0.5, 0.5])?;
/// // At zero the probabilities are e^-1 to e^-2.
/// let probabilities = model.probabilities(&Matrix::from_rows(&[[0.0]]).features(), &Run::new())?;
/// assert!((probabilities[(0, 0)] - 1.0 / (1.0 + (-1f64).exp())).abs() < 1e-12);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct BayesModel {
    /// The total weight of each class.
    pub(super) totals: Vec<f64>,
    pub(super) priors: Priors,
    /// One component per class.
    pub(super) product: Product,
    /// Where families were chosen: those that were compared.
    pub(super) choices: Vec<FamilyChoice>,
    pub(super) log_priors: Vec<f64>,
    /// The calibration of scores.
    pub(super) calibration: Calibration,
}

/// What is saved as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    priors: Priors,
    blocks: Vec<Block>,
    choices: Vec<FamilyChoice>,
    dense: usize,
    calibration: Calibration,
}

impl BayesModel {
    /// Learns the parameters of blocks from rows.
    pub(super) fn fit(
        blocks: Vec<Block>,
        choices: Vec<FamilyChoice>,
        priors: Priors,
        features: &Features<'_>,
        members: &Members<'_>,
        run: &Run,
    ) -> Result<BayesModel> {
        let mut product = Product::new(blocks, members.classes(), features);
        product.learn(features, members, run)?;
        let (totals, calibration) = (members.totals(), Calibration::none(members.classes()));
        let log_priors = priors.logs(&totals);
        Ok(BayesModel { totals, priors, product, choices, log_priors, calibration })
    }

    /// Continues by EM, with all classes known, where blocks have missing values that they impute.
    pub(super) fn fit_missing(
        &mut self,
        features: &Features<'_>,
        codes: &[u32],
        weights: Option<&[f64]>,
        steps: usize,
        run: &Run,
    ) -> Result<Option<Trace>> {
        let data = Data::new(features, weights, Some(codes), &self.product.blocks);
        if !data.has_missing() {
            return Ok(None);
        }
        let mut state = self.as_state();
        let trace = state.run_em(&data, Options { steps, tolerance: EM_TOLERANCE, accelerate: true }, run)?;
        self.product = state.product;
        Ok(Some(trace))
    }

    /// The same as a mixture with one component per class.
    pub(super) fn as_state(&self) -> State {
        State::new(self.product.clone(), self.totals.clone(), (0..self.totals.len() as u32).collect())
    }

    /// Learns from more rows with the same columns and classes; bins, categories and families stay as they are.
    pub fn update(&mut self, more: &Examples<'_>, run: &Run) -> Result<()> {
        let TargetView::Classes { classes, codes } = more.target.view() else { return Err(Target::missing()) };
        more.target.check_known()?;
        let Product { features, dense, .. } = self.product;
        if classes.count() != self.totals.len() || more.features.columns() != features {
            return Err(Error::data(
                format!("the model has {} classes and {features} features", self.totals.len()),
                "Give rows with the same classes and features.",
            ));
        }
        if more.features.dense_columns() != dense {
            let rows = more.features.split_at(dense)?;
            return self.update(&Examples { features: rows.features(), ..*more }, run);
        }
        self.product.blocks.iter().try_for_each(|block| block.check_more(&more.features))?;
        let members = Members::new(codes, classes.count(), more.weights);
        let mut other = self.clone();
        other.totals = members.totals();
        let data = Data::new(&more.features, more.weights, Some(codes), &self.product.blocks);
        if data.has_missing() {
            let mut state = self.as_state();
            (state.product.statistics, _) = state.expected(&data, run)?;
            other.product = state.product;
        } else {
            other.product.collect_statistics(&more.features, &members, run)?;
        }
        *self = self.merged(&other, run)?;
        Ok(())
    }

    /// Merges what two models have learnt from different rows, if their blocks are the same.
    ///
    /// ```
    /// use quince::bayes::BayesModel;
    /// use quince::learn::Examples;
    /// use quince::prelude::*;
    /// let settings = NaiveBayes::new().family("poisson".parse::<quince::bayes::Families>()?).calibrate(false);
    /// let fit = |rows: &Matrix, target: &Target| -> Result<BayesModel> {
    ///     Ok(settings.fit_examples(&Examples::new(rows.features(), target, None)?, &Run::new())?.0)
    /// };
    /// let (rows, target) = (Matrix::from_rows(&[[1.0], [6.0], [3.0], [8.0]]), Target::labels(&["a", "b", "a", "b"]));
    /// let half = |some: &[usize]| fit(&rows.take_rows(some), &target.take(some));
    /// let both = half(&[0, 1])?.merged(&half(&[2, 3])?, &Run::new())?;
    /// assert_eq!(both.class_weights(), fit(&rows, &target)?.class_weights());
    /// # quince::Result::Ok(())
    /// ```
    pub fn merged(&self, other: &BayesModel, run: &Run) -> Result<BayesModel> {
        let mut merged = self.clone();
        merged.product.add_statistics(&other.product)?;
        merged.totals.iter_mut().zip(&other.totals).for_each(|(all, more)| *all += more);
        merged.product.settle();
        merged.product.estimate(run)?;
        merged.log_priors = merged.priors.logs(&merged.totals);
        Ok(merged)
    }

    /// The temperature of calibration; 1 is Bayes' rule without calibration. It multiplies the log likelihoods before the softmax, so
    /// it is an inverse temperature in the sense of Guo and others (2017), who divide by theirs.
    pub fn temperature(&self) -> f64 {
        self.calibration.temperature
    }

    /// The bias of each class, which calibration adds to its score; 0 is Bayes' rule without calibration.
    pub fn class_biases(&self) -> &[f64] {
        &self.calibration.biases
    }

    /// The contamination: the fraction of rows taken as outliers, which get the priors; 0 is Bayes' rule without calibration.
    pub fn contamination(&self) -> f64 {
        self.calibration.contamination
    }

    /// The total weight of each class.
    pub fn class_weights(&self) -> &[f64] {
        &self.totals
    }

    /// The log prior of each class.
    pub fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// Where families were chosen automatically: those that were compared.
    pub fn choices(&self) -> &[FamilyChoice] {
        &self.choices
    }

    /// How the parameters were found, in a few words.
    pub(super) fn route(&self) -> String {
        format!("statistics of {}", self.product.route())
    }

    /// The parameters of every block.
    pub fn parameters(&self) -> Vec<Parameters> {
        self.product.parameters()
    }

    /// The number of free parameters.
    pub fn free_parameters(&self) -> usize {
        self.product.free_parameters() + self.totals.len().saturating_sub(1)
    }
}

/// What should be known about how the covariances of a block were found.
fn remarks_on_covariances(block: &Block, classes: &[String]) -> Vec<String> {
    let Block::Gaussian(block) = block else { return Vec::new() };
    let mut remarks = Vec::new();
    if let Some(amounts) = block.shrinkage_found() {
        let least = amounts.iter().copied().fold(1.0, f64::min);
        let most = amounts.iter().copied().fold(0.0, f64::max);
        let amounts = format!("{} to {}", short(least), short(most));
        remarks.push(format!("Ledoit and Wolf's rule shrinks the covariances of classes by {amounts}"));
    }
    for k in (0..block.covariances()).filter(|&k| block.rank(k) < block.width()) {
        let of = if block.covariances() > 1 { format!(" of class '{}'", classes[k]) } else { String::new() };
        let (left, all) = (block.width() - block.rank(k), block.width());
        remarks.push(format!("the covariance{of} has no variance in {left} of {all} directions, which are left out"));
    }
    remarks
}

impl Fitted for BayesModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        self.both(rows, run)
    }

    fn remarks(&self, classes: &[String]) -> Vec<String> {
        let empty = self.totals.iter().zip(classes).filter(|(total, _)| **total == 0.0);
        let empty = empty.map(|(_, name)| format!("class '{name}' has no rows and is never predicted"));
        empty.chain(self.product.blocks.iter().flat_map(|block| remarks_on_covariances(block, classes))).collect()
    }

    fn updated(&self, more: &Examples<'_>, run: &Run) -> Result<Option<Arc<dyn Fitted>>> {
        let mut updated = self.clone();
        updated.update(more, run)?;
        Ok(Some(Arc::new(updated)))
    }

    fn explain(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Option<Explanation> {
        Some(self.explanation(encoder, classes))
    }

    fn explain_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        classes: &[String],
    ) -> Result<Option<Explanation>> {
        BayesModel::explain_row(self, row, encoder, classes).map(Some)
    }

    fn impute(&self, rows: &Features<'_>, classes: Option<&[u32]>, run: &Run) -> Result<Option<Imputed>> {
        let own: Vec<u32> = (0..self.product.components as u32).collect();
        self.product.impute(rows, &self.log_priors, classes.map(|classes| (classes, &own[..])), run).map(Some)
    }

    fn sample(&self, count: usize, class: Option<usize>, run: &Run) -> Result<Option<Vec<SampledRow>>> {
        BayesModel::sample(self, count, class, run).map(Some)
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_vector("classes", &self.totals);
        self.product.save(parts);
        let (priors, blocks, choices) = (self.priors.clone(), self.product.blocks.clone(), self.choices.clone());
        let (dense, calibration) = (self.product.dense, self.calibration.clone());
        parts.put_json("blocks", &Saved { priors, blocks, choices, dense, calibration });
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<BayesModel> {
        let Saved { priors, blocks, choices, dense, calibration } = parts.take_json("blocks")?;
        let classes = parts.classes();
        let totals = parts.take_vector("classes", Some(classes))?;
        if totals.iter().any(|total| !(total.is_finite() && *total >= 0.0)) || classes == 0 {
            return Err(parts.wrong("the classes have no weights"));
        }
        if !calibration.is_sound(classes) {
            return Err(parts.wrong("the calibration does not fit the classes"));
        }
        if !priors.fits(classes) {
            return Err(parts.wrong("the priors do not match the classes"));
        }
        let product = Product::load(parts, blocks, dense, classes)?;
        let log_priors = priors.logs(&totals);
        Ok(BayesModel { totals, priors, product, choices, log_priors, calibration })
    }
}
