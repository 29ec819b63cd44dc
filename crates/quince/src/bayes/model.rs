//! A fitted Bayes classifier: the sums of all blocks, the parameters that follow from them, and what they say of rows.

use super::Priors;
use super::calibrate::{self, Calibration};
use super::choose::Choice;
use super::sums::{Members, sums};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::family::block::Block;
use crate::learn::{Drawn, Examples, Fitted, Prediction, Target};
use crate::matrix::{Features, Matrix};
use crate::model::Parts;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// What a Bayes classifier has learnt.
#[derive(Clone, Debug)]
pub struct BayesModel {
    /// How much the rows of each class count.
    pub(super) totals: Vec<f64>,
    pub(super) priors: Priors,
    pub(super) blocks: Vec<Block>,
    /// Of each block, a row a class.
    pub(super) sums: Vec<Matrix>,
    /// Where families were chosen: what was found.
    pub(super) choices: Vec<Choice>,
    pub(super) log_priors: Vec<f64>,
    /// How far likelihoods count.
    pub(super) calibration: Calibration,
    /// How many features a row has, and how many of them are dense.
    pub(super) features: usize,
    pub(super) dense: usize,
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
        mut blocks: Vec<Block>,
        choices: Vec<Choice>,
        priors: Priors,
        features: &Features<'_>,
        members: &Members<'_>,
        run: &Run,
    ) -> Result<BayesModel> {
        let sums = centred_sums(&mut blocks, features, members, run)?;
        let mut model = BayesModel {
            totals: members.totals(),
            priors,
            blocks,
            sums,
            choices,
            log_priors: Vec::new(),
            calibration: Calibration::none(members.classes()),
            features: features.columns(),
            dense: features.dense_columns(),
        };
        model.settle();
        model.estimate(run)?;
        Ok(model)
    }

    /// Fixes what all classes say together.
    fn settle(&mut self) {
        for (block, sums) in self.blocks.iter_mut().zip(&self.sums) {
            block.family_mut().settle(sums);
        }
    }

    /// Finds all parameters from the sums.
    pub(super) fn estimate(&mut self, run: &Run) -> Result<()> {
        if self.sums.iter().flat_map(|sums| sums.values()).any(|sum| !sum.is_finite()) {
            return Err(Error::data(
                "what the rows add up to is too large for a number",
                "Rescale columns with values above 1e150, or leave them out; in sparse features, remove NaN and infinity.",
            ));
        }
        for (block, sums) in self.blocks.iter_mut().zip(&self.sums) {
            run.check()?;
            block.family_mut().estimate(sums, run)?;
        }
        self.log_priors = self.priors.logs(&self.totals);
        Ok(())
    }

    /// Learns from more rows with the same columns and classes; bins, categories and families stay as they are.
    pub fn update(&mut self, more: &Examples<'_>, run: &Run) -> Result<()> {
        let Target::Classes { classes, codes } = more.target else { return Err(Target::missing()) };
        if classes.count() != self.totals.len() || more.features.columns() != self.features {
            return Err(Error::data(
                format!("the model has {} classes and {} features", self.totals.len(), self.features),
                "Give rows with the same classes and features.",
            ));
        }
        if more.features.dense_columns() != self.dense {
            let rows = more.features.split_at(self.dense)?;
            return self.update(&Examples { features: rows.features(), ..*more }, run);
        }
        self.blocks.iter().try_for_each(|block| block.check_more(&more.features))?;
        let members = Members::new(codes, classes.count(), more.weights);
        let mut other = self.clone();
        other.sums = centred_sums(&mut other.blocks, &more.features, &members, run)?;
        other.totals = members.totals();
        *self = self.merged(&other, run)?;
        Ok(())
    }

    /// Joins what two models have learnt from different rows, if their blocks are the same.
    pub fn merged(&self, other: &BayesModel, run: &Run) -> Result<BayesModel> {
        let mut merged = self.clone();
        let apart = || {
            Error::data(
                "the models have different columns, families or classes",
                "Join models that were fitted alike, for example by update from one beginning.",
            )
        };
        if self.totals.len() != other.totals.len() || self.blocks.len() != other.blocks.len() {
            return Err(apart());
        }
        for (b, (own, others)) in merged.blocks.iter_mut().zip(&other.blocks).enumerate() {
            let more = own.sums_of(others, &self.sums[b], &other.sums[b]).ok_or_else(apart)?;
            let all = merged.sums[b].values_mut();
            all.iter_mut().zip(more.values()).for_each(|(all, more)| *all += more);
        }
        merged.totals.iter_mut().zip(&other.totals).for_each(|(all, more)| *all += more);
        merged.settle();
        merged.estimate(run)?;
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
        let word = |block: &Block| match block.family().columns().len() {
            0 => format!("{} words or places", block.word()),
            count => format!("{count} {}", block.word()),
        };
        format!("sums of {}", self.blocks.iter().map(word).collect::<Vec<_>>().join(", "))
    }

    /// How many numbers the model has.
    pub fn free_parameters(&self) -> usize {
        let classes = self.totals.len();
        let of_block = |block: &Block| {
            let (own, common) = block.family().free_parameters();
            classes * own + common
        };
        self.blocks.iter().map(of_block).sum::<usize>() + classes.saturating_sub(1)
    }
}

/// The sums of blocks, taken again about better origins where digits were lost.
fn centred_sums(
    blocks: &mut [Block],
    features: &Features<'_>,
    members: &Members<'_>,
    run: &Run,
) -> Result<Vec<Matrix>> {
    let all: Vec<&Block> = blocks.iter().collect();
    let mut found = sums(&all, features, members, run)?;
    let moved: Vec<usize> = (0..blocks.len()).filter(|&b| blocks[b].family_mut().recentre(&found[b])).collect();
    if !moved.is_empty() {
        let again: Vec<&Block> = moved.iter().map(|&b| &blocks[b]).collect();
        let again = sums(&again, features, members, run)?;
        moved.into_iter().zip(again).for_each(|(b, sums)| found[b] = sums);
    }
    Ok(found)
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

    fn sample(&self, count: usize, class: Option<usize>, run: &Run) -> Result<Option<Vec<Drawn>>> {
        BayesModel::sample(self, count, class, run).map(Some)
    }

    fn save(&self, parts: &mut Parts) {
        parts.put_vector("classes", &self.totals);
        for (b, sums) in self.sums.iter().enumerate() {
            parts.put_matrix(&format!("block{b}"), sums);
        }
        let (priors, blocks, choices) = (self.priors.clone(), self.blocks.clone(), self.choices.clone());
        let (dense, calibration) = (self.dense, self.calibration.clone());
        parts.put_json("blocks", &Saved { priors, blocks, choices, dense, calibration });
    }

    fn load(parts: &Parts) -> Result<BayesModel> {
        let Saved { priors, blocks, choices, dense, calibration } = parts.json("blocks")?;
        let (classes, features) = (parts.classes(), parts.features());
        let totals = parts.vector("classes", Some(classes))?;
        if totals.iter().any(|total| !(total.is_finite() && *total >= 0.0)) || classes == 0 {
            return Err(parts.wrong("the classes have no weights"));
        }
        if !calibration.is_sound(classes) {
            return Err(parts.wrong("what likelihoods count by does not fit the classes"));
        }
        if dense > features {
            return Err(parts.wrong("there are more dense features than features"));
        }
        if !priors.fits(classes) {
            return Err(parts.wrong("the priors do not match the classes"));
        }
        let mut found = Vec::new();
        for (b, block) in blocks.iter().enumerate() {
            let family = block.family();
            let sums = parts.matrix(&format!("block{b}"), Some(classes))?;
            if !block.is_within(dense, features - dense) || !family.is_sound(classes) || sums.columns() != family.sums()
            {
                return Err(parts.wrong(&format!("block {b} does not fit the rest of the model")));
            }
            found.push(sums);
        }
        let log_priors = Vec::new();
        let mut model =
            BayesModel { totals, priors, blocks, sums: found, choices, log_priors, calibration, features, dense };
        model.estimate(&Run::new()).map_err(|e| parts.wrong(&e.to_string()))?;
        Ok(model)
    }
}
