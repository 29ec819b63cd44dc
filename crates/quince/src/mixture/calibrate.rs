//! What rows whose class is known, held out in turns, decide: how much rows without a class count, and the calibration.
//!
//! Rows without a class are many, and where the families do not fit they outweigh the labels. So several weights are tried, none
//! among them, and that under which held-out classes are most probable is taken. A mixture of classes is as overconfident as the
//! Bayes classifier that it is, and is calibrated as that is.

use super::classes::LabelledRows;
use super::{Mixture, MixtureModel};
use crate::calibration::{FEW_FOLDS, Folds, HeldOut};
use crate::em::Options;
use crate::error::{Error, Result};
use crate::family::layout::LayoutData;
use crate::family::product::Product;
use crate::learn::Amount;
use crate::run::Run;

/// The weights of rows without a class that are tried.
const WEIGHTS_TO_TRY: [f64; 4] = [0.0, 0.01, 0.1, 1.0];

/// Their weight where no class can be held out.
const WEIGHT_UNTRIED: f64 = 0.1;

/// The loosest tolerance and the most steps of EM for a fold: what is compared needs no more.
const TOLERANCE_OF_A_FOLD: f64 = 1e-5;
const MAX_STEPS_OF_A_FOLD: usize = 100;

/// The blocks that each fold learns; they have seen nothing yet.
pub(super) enum FoldBlocks<'a> {
    /// Those of all rows.
    Same(&'a Product),
    /// They are laid out anew by the rows of the fold: those of all rows have seen what is held out.
    Chosen(&'a LayoutData<'a>),
}

/// What held-out rows decide.
pub(super) struct Chosen {
    /// The weight of a row without a class.
    pub(super) unlabelled: f64,
    /// The log likelihoods to calibrate by; `None` if there is nothing to calibrate by.
    pub(super) held_out: Option<HeldOut>,
    pub(super) remark: Option<String>,
}

impl Mixture {
    /// Decides by folds, as far as the settings leave something to decide.
    pub(super) fn choose_by_folds(
        &self,
        blocks: &FoldBlocks<'_>,
        rows: &LabelledRows<'_>,
        run: &Run,
    ) -> Result<Chosen> {
        let tried: &[f64] = match &self.unlabelled {
            Amount::Fixed(weight) => std::slice::from_ref(weight),
            Amount::Auto if rows.all_have_a_class() => &[1.0],
            Amount::Auto => &WEIGHTS_TO_TRY,
        };
        let untried = if let [only] = tried { *only } else { WEIGHT_UNTRIED };
        let nothing =
            |remark: Option<&str>| Chosen { unlabelled: untried, held_out: None, remark: remark.map(str::to_string) };
        if !self.calibrate && tried.len() == 1 {
            return Ok(nothing(None));
        }
        match run.share(false, || self.best_of(tried, blocks, rows, run)) {
            Ok(Some(chosen)) => Ok(chosen),
            Ok(None) if !rows.has_a_class() => Ok(nothing(None)),
            Ok(None) => Ok(nothing(Some("no class has two rows to hold one out, so probabilities are not calibrated"))),
            Err(Error::OutOfTime { .. }) => Ok(nothing(Some(
                "the budget ran out before classes could be held out, so probabilities are not calibrated",
            ))),
            Err(error) => Err(error),
        }
    }

    /// The weight under which held-out classes are most probable; `None` if none can be held out.
    fn best_of(
        &self,
        tried: &[f64],
        blocks: &FoldBlocks<'_>,
        rows: &LabelledRows<'_>,
        run: &Run,
    ) -> Result<Option<Chosen>> {
        let folds = Folds::new(FEW_FOLDS, rows.codes, rows.classes, rows.weights);
        let folds = if let FoldBlocks::Chosen(_) = blocks { folds.until_enough() } else { folds };
        let log_priors = rows.log_frequencies();
        let mut best: Option<(f64, f64, HeldOut)> = None;
        for &weight in tried {
            let held_out = match self.held_out(&folds, weight, blocks, rows, run) {
                // What is known of the weights before it is better than nothing.
                Err(Error::OutOfTime { .. }) if best.is_some() => break,
                other => other?,
            };
            if held_out.is_empty() {
                continue;
            }
            let (_, likelihood) = held_out.calibration(&log_priors, rows.codes, rows.weights, run)?;
            // On a tie the smaller weight.
            if best.as_ref().is_none_or(|(most, _, _)| likelihood > *most) {
                best = Some((likelihood, weight, held_out));
            }
        }
        Ok(best.map(|(_, unlabelled, held_out)| Chosen {
            unlabelled,
            held_out: self.calibrate.then_some(held_out),
            remark: (tried.len() > 1).then(|| {
                if unlabelled == 0.0 {
                    return "rows without a class are left out: with them, the classes of held-out rows are less probable".into();
                }
                format!("a row without a class counts {unlabelled} times as much as one with a class: chosen by held-out classes")
            }),
        }))
    }

    /// The log likelihoods of held-out rows under each class.
    fn held_out(
        &self,
        folds: &Folds,
        unlabelled: f64,
        blocks: &FoldBlocks<'_>,
        rows: &LabelledRows<'_>,
        run: &Run,
    ) -> Result<HeldOut> {
        let options = Options {
            steps: self.steps.min(MAX_STEPS_OF_A_FOLD),
            tolerance: self.tolerance.max(TOLERANCE_OF_A_FOLD),
            ..self.em_options()
        };
        HeldOut::by_folds(folds, rows.classes, |some| {
            run.check()?;
            let left = Folds::weights_without(rows.codes.len(), rows.weights, some);
            let rows = LabelledRows { weights: Some(&left), ..*rows };
            let product = match blocks {
                FoldBlocks::Same(product) => (*product).clone(),
                FoldBlocks::Chosen(data) => data.without(some, |data| self.blocks_of_classes(data, run))?.0,
            };
            let (state, _) = self.fit_classes(product, &rows, unlabelled, options, run)?;
            MixtureModel::new(state).class_likelihoods(&rows.features.take(some).features(), run)
        })
    }
}
