//! A fitted Bayes classifier: the sums of all blocks, the parameters that follow from them, and what they say of rows.

use super::Priors;
use super::calibrate::{self, Calibration};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::family::block::Block;
use crate::family::layout::Choice;
use crate::family::product::Product;
use crate::family::sums::Members;
use crate::family::{Completed, Parameters};
use crate::learn::{Drawn, Examples, Fitted, Prediction, Target};
use crate::matrix::Features;
use crate::mixture::em::{Course, Limits, Seen, State};
use crate::model::Parts;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// Where blocks have holes: the most steps of EM, and what a step adds to the log likelihood of a row in the end.
const STEPS: usize = 200;
const TOLERANCE: f64 = 1e-8;

/// What a Bayes classifier has learnt.
#[derive(Clone, Debug)]
pub struct BayesModel {
    /// How much the rows of each class count.
    pub(super) totals: Vec<f64>,
    pub(super) priors: Priors,
    /// A component a class.
    pub(super) product: Product,
    /// Where families were chosen: what was found.
    pub(super) choices: Vec<Choice>,
    pub(super) log_priors: Vec<f64>,
    /// How far likelihoods count.
    pub(super) calibration: Calibration,
}

/// What is saved as a description.
#[derive(Serialize, Deserialize)]
struct Saved {
    priors: Priors,
    blocks: Vec<Block>,
    choices: Vec<Choice>,
    dense: usize,
    calibration: Calibration,
}

impl BayesModel {
    /// Learns the parameters of blocks from rows.
    pub(super) fn fit(
        blocks: Vec<Block>,
        choices: Vec<Choice>,
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

    /// Learns on, where blocks have holes that they fill with what they expect: EM with all classes known.
    pub(super) fn expect_holes(
        &mut self,
        features: &Features<'_>,
        codes: &[u32],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Option<Course>> {
        let seen = Seen::new(features, weights, Some(codes), &self.product.blocks);
        if !seen.has_holes() {
            return Ok(None);
        }
        let mut state = self.as_state();
        let course = state.climb(&seen, Limits { steps: STEPS, tolerance: TOLERANCE, leaps: true }, run)?;
        self.product = state.product;
        Ok(Some(course))
    }

    /// As a mixture with a component for each class.
    pub(super) fn as_state(&self) -> State {
        State::new(self.product.clone(), self.totals.clone(), (0..self.totals.len() as u32).collect())
    }

    /// Learns from more rows with the same columns and classes; bins, categories and families stay as they are.
    pub fn update(&mut self, more: &Examples<'_>, run: &Run) -> Result<()> {
        let Target::Classes { classes, codes } = more.target else { return Err(Target::missing()) };
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
        let seen = Seen::new(&more.features, more.weights, Some(codes), &self.product.blocks);
        if seen.has_holes() {
            let mut state = self.as_state();
            (state.product.sums, _) = state.expected(&seen, run)?;
            other.product = state.product;
        } else {
            other.product.take_sums(&more.features, &members, run)?;
        }
        *self = self.merged(&other, run)?;
        Ok(())
    }

    /// Joins what two models have learnt from different rows, if their blocks are the same.
    pub fn merged(&self, other: &BayesModel, run: &Run) -> Result<BayesModel> {
        let mut merged = self.clone();
        merged.product.add_sums(&other.product)?;
        merged.totals.iter_mut().zip(&other.totals).for_each(|(all, more)| *all += more);
        merged.product.settle();
        merged.product.estimate(run)?;
        merged.log_priors = merged.priors.logs(&merged.totals);
        Ok(merged)
    }

    /// Finds out how far likelihoods count, by rows that are left out.
    pub(super) fn calibrate(&mut self, features: &Features<'_>, members: &Members<'_>, run: &Run) -> Result<()> {
        let some = members.some(calibrate::ENOUGH);
        let likelihoods = self.likelihoods_without_each(features, &some, run)?;
        let (codes, weights) = some.codes_and_weights();
        self.calibration = Calibration::fit(&likelihoods, &self.log_priors, &codes, weights.as_deref(), run)?;
        Ok(())
    }

    /// By which share log likelihoods count in the scores; 1 in Bayes' rule as it is.
    pub fn trust(&self) -> f64 {
        self.calibration.trust
    }

    /// What is added to the score of each class; nothing in Bayes' rule as it is.
    pub fn added_to_scores(&self) -> &[f64] {
        &self.calibration.added
    }

    /// The share of rows that are taken to be odd, and left to the priors; 0 in Bayes' rule as it is.
    pub fn odd(&self) -> f64 {
        self.calibration.odd
    }

    /// How much the rows of each class count.
    pub fn class_weights(&self) -> &[f64] {
        &self.totals
    }

    /// The logarithm of the prior of each class.
    pub fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// Where families were chosen by themselves: what was found.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// How the answer was found, in a few words.
    pub(super) fn route(&self) -> String {
        format!("sums of {}", self.product.route())
    }

    /// The parameters of every block.
    pub fn parameters(&self) -> Vec<Parameters> {
        self.product.parameters()
    }

    /// How many numbers the model has.
    pub fn free_parameters(&self) -> usize {
        self.product.free_parameters() + self.totals.len().saturating_sub(1)
    }
}

impl Fitted for BayesModel {
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        self.both(rows, run)
    }

    fn remarks(&self, classes: &[String]) -> Vec<String> {
        let empty = self.totals.iter().zip(classes).filter(|(total, _)| **total == 0.0);
        empty.map(|(_, name)| format!("class '{name}' has no rows and is never predicted")).collect()
    }

    fn updated(&self, more: &Examples<'_>, run: &Run) -> Result<Option<Box<dyn Fitted>>> {
        let mut updated = self.clone();
        updated.update(more, run)?;
        Ok(Some(Box::new(updated)))
    }

    fn explain(&self, encoder: &Encoder, classes: &[String]) -> Option<Explanation> {
        Some(self.explanation(encoder, classes))
    }

    fn explain_row(&self, row: &Features<'_>, encoder: &Encoder, classes: &[String]) -> Result<Option<Explanation>> {
        BayesModel::explain_row(self, row, encoder, classes).map(Some)
    }

    fn complete(&self, rows: &Features<'_>, classes: Option<&[u32]>, run: &Run) -> Result<Option<Completed>> {
        let own: Vec<u32> = (0..self.product.components as u32).collect();
        self.product.complete(rows, &self.log_priors, classes.map(|classes| (classes, &own[..])), run).map(Some)
    }

    fn sample(&self, count: usize, class: Option<usize>, run: &Run) -> Result<Option<Vec<Drawn>>> {
        BayesModel::sample(self, count, class, run).map(Some)
    }

    fn save(&self, parts: &mut Parts) {
        parts.put_vector("classes", &self.totals);
        self.product.save(parts);
        let (priors, blocks, choices) = (self.priors.clone(), self.product.blocks.clone(), self.choices.clone());
        let (dense, calibration) = (self.product.dense, self.calibration.clone());
        parts.put_json("blocks", &Saved { priors, blocks, choices, dense, calibration });
    }

    fn load(parts: &Parts) -> Result<BayesModel> {
        let Saved { priors, blocks, choices, dense, calibration } = parts.json("blocks")?;
        let classes = parts.classes();
        let totals = parts.vector("classes", Some(classes))?;
        if totals.iter().any(|total| !(total.is_finite() && *total >= 0.0)) || classes == 0 {
            return Err(parts.wrong("the classes have no weights"));
        }
        if !calibration.is_sound(classes) {
            return Err(parts.wrong("what likelihoods count by does not fit the classes"));
        }
        if !priors.fits(classes) {
            return Err(parts.wrong("the priors do not match the classes"));
        }
        let product = Product::load(parts, blocks, dense, classes)?;
        let log_priors = priors.logs(&totals);
        Ok(BayesModel { totals, priors, product, choices, log_priors, calibration })
    }
}
