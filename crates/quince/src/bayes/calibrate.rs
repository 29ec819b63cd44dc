//! Calibration of Bayes classifiers on rows that are left out: each by itself where algebra takes it back exactly, and by folds
//! where what stays has seen the row: what other rows' missing values are expected to be, and families, bins and axes that were
//! chosen by the rows, unless there are so many rows for it that it is nothing to one of them ([`Layout::is_too_hopeful_of`]).

use super::model::BayesModel;
use crate::calibration::{Calibration, FEW_FOLDS, FOLDS_OF_CHOICES, Folds, HeldOut, MAX_CALIBRATION_ROWS};
use crate::em::visiting_order;
use crate::error::{Error, Result};
use crate::family::block::Block;
use crate::family::layout::{Layout, LayoutData, LayoutOptions, layout};
use crate::family::statistics::Members;
use crate::matrix::{Features, Matrix};
use crate::run::Run;
use std::collections::HashMap;

/// The most steps of EM for a fold.
const MAX_EM_STEPS_OF_A_FOLD: usize = 100;

/// The blocks that each fold learns.
pub(super) enum FoldBlocks<'a> {
    /// Those of all rows, which have seen nothing.
    Same(Vec<Block>),
    /// They are laid out anew by the rows of the fold.
    Chosen(&'a LayoutOptions<'a>),
}

impl<'a> FoldBlocks<'a> {
    pub(super) fn of(laid_out: &Layout, data: &LayoutData<'_>, options: &'a LayoutOptions<'a>) -> FoldBlocks<'a> {
        if laid_out.is_too_hopeful_of(data) {
            return FoldBlocks::Chosen(options);
        }
        let is_needed = laid_out.blocks.iter().any(Block::imputes_missing);
        FoldBlocks::Same(if is_needed { laid_out.blocks.clone() } else { Vec::new() })
    }

    pub(super) fn are_the_same(&self) -> bool {
        matches!(self, FoldBlocks::Same(_))
    }
}

impl BayesModel {
    /// Calibrates scores by leave-one-out predictions.
    pub(super) fn calibrate(&mut self, features: &Features<'_>, members: &Members<'_>, run: &Run) -> Result<()> {
        let some = members.some(MAX_CALIBRATION_ROWS);
        let likelihoods = self.likelihoods_without_each(features, &some, run)?;
        let (codes, weights) = some.codes_and_weights();
        self.calibration = Calibration::fit(&likelihoods, &self.log_priors, &codes, weights.as_deref(), run)?;
        Ok(())
    }

    /// Calibrates scores by folds, if there are rows to hold out and time; says whether it did.
    pub(super) fn is_calibrated_by_folds(
        &mut self,
        blocks: &FoldBlocks<'_>,
        data: &LayoutData<'_>,
        run: &Run,
    ) -> Result<bool> {
        match run.share(false, || self.calibrate_by_folds(blocks, data, run)) {
            Err(Error::OutOfTime { .. }) => Ok(false),
            calibrated => calibrated,
        }
    }

    /// Calibrates scores by folds, for each of which blocks are learnt without its rows. Says whether any row could be held out.
    fn calibrate_by_folds(&mut self, blocks: &FoldBlocks<'_>, data: &LayoutData<'_>, run: &Run) -> Result<bool> {
        let LayoutData { features, codes, classes, weights, .. } = *data;
        let folds = match blocks {
            FoldBlocks::Same(_) => Folds::new(FEW_FOLDS, codes, classes, weights),
            FoldBlocks::Chosen(_) => Folds::new(FOLDS_OF_CHOICES, codes, classes, weights).until_enough(),
        };
        let held_out = HeldOut::by_folds(&folds, classes, |rows| {
            run.check()?;
            match blocks {
                FoldBlocks::Same(blocks) => {
                    let left = Folds::weights_without(codes.len(), weights, rows);
                    let rest = LayoutData { weights: Some(&left), ..*data };
                    self.learnt_without(blocks.clone(), &rest, run)?.likelihoods(&features.take(rows).features(), run)
                }
                FoldBlocks::Chosen(options) => self.likelihoods_of_chosen(options, rows, data, run),
            }
        })?;
        if held_out.is_empty() {
            return Ok(false);
        }
        (self.calibration, _) = held_out.calibration(&self.log_priors, codes, weights, run)?;
        Ok(true)
    }

    /// The log likelihoods of rows under each class, by blocks that were laid out without them. What the blocks learn leaves out one
    /// row after the other where that is exact, so that they know nearly as much as those of all rows.
    fn likelihoods_of_chosen(
        &self,
        options: &LayoutOptions<'_>,
        rows: &[usize],
        data: &LayoutData<'_>,
        run: &Run,
    ) -> Result<Matrix> {
        let LayoutData { features, codes, classes, weights, .. } = *data;
        let take_no_more = |block: &Block| matches!(block, Block::KernelDensity(_));
        let chosen = data.without(rows, |rest| {
            let blocks = layout(rest, options, run)?.blocks;
            if visiting_order(features, &blocks).is_none() && !blocks.iter().any(take_no_more) {
                return Ok(Ok(blocks));
            }
            self.learnt_without(blocks, rest, run)?.likelihoods(&features.take(rows).features(), run).map(Err)
        })?;
        let blocks = match chosen {
            Ok(blocks) => blocks,
            Err(likelihoods) => return Ok(likelihoods),
        };
        let members = Members::new(codes, classes, weights);
        let model = BayesModel::fit(blocks, Vec::new(), self.priors.clone(), features, &members, run)?;
        let own: Vec<u32> = rows.iter().map(|&row| codes[row]).collect();
        let members = Members::of_rows(rows, &own, classes, weights);
        let found = model.likelihoods_without_each(features, &members, run)?;
        let place_of: HashMap<usize, usize> =
            members.order().iter().enumerate().map(|(place, &row)| (row, place)).collect();
        Ok(found.take_rows(&rows.iter().map(|row| place_of[row]).collect::<Vec<_>>()))
    }

    /// A model of these blocks, learnt from rows of which some are left out.
    fn learnt_without(&self, blocks: Vec<Block>, rest: &LayoutData<'_>, run: &Run) -> Result<BayesModel> {
        let LayoutData { features, codes, classes, weights, .. } = *rest;
        let members = Members::new(codes, classes, weights);
        let mut model = BayesModel::fit(blocks, Vec::new(), self.priors.clone(), features, &members, run)?;
        model.fit_missing(features, codes, weights, MAX_EM_STEPS_OF_A_FOLD, run)?;
        Ok(model)
    }

    /// The log likelihood of every row under each class.
    fn likelihoods(&self, features: &Features<'_>, run: &Run) -> Result<Matrix> {
        let classes = self.totals.len();
        let likelihoods = self.product.ask(features, classes, run, |lines, out: &mut [f64]| {
            for k in 0..classes {
                out.iter_mut().skip(k).step_by(classes).zip(lines.of(k)).for_each(|(out, &said)| *out = said);
            }
        })?;
        Matrix::new(features.rows(), classes, likelihoods)
    }
}
