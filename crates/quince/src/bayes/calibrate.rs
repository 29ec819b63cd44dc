//! Calibration of Bayes classifiers on rows that are left out: each by itself where algebra takes it back exactly, and by folds
//! where missing values were imputed, since what other rows' missing values are expected to be has seen the row.

use super::model::BayesModel;
use crate::calibration::{Calibration, Folds, HeldOut, MAX_CALIBRATION_ROWS};
use crate::error::{Error, Result};
use crate::family::block::Block;
use crate::family::statistics::Members;
use crate::matrix::{Features, Matrix};
use crate::run::Run;

/// The most steps of EM for a fold.
const MAX_EM_STEPS_OF_A_FOLD: usize = 100;

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
        blocks: &[Block],
        features: &Features<'_>,
        of_rows: (&[u32], Option<&[f64]>),
        run: &Run,
    ) -> Result<bool> {
        match run.share(false, || self.calibrate_by_folds(blocks, features, of_rows, run)) {
            Err(Error::OutOfTime { .. }) => Ok(false),
            calibrated => calibrated,
        }
    }

    /// Calibrates scores by folds, for each of which `blocks` that have seen nothing are learnt without its rows. Says whether any
    /// row could be held out.
    fn calibrate_by_folds(
        &mut self,
        blocks: &[Block],
        features: &Features<'_>,
        (codes, weights): (&[u32], Option<&[f64]>),
        run: &Run,
    ) -> Result<bool> {
        let classes = self.totals.len();
        let held_out = HeldOut::by_folds(&Folds::new(codes, classes, weights), classes, |rows| {
            let left = Folds::weights_without(codes.len(), weights, rows);
            let members = Members::new(codes, classes, Some(&left));
            let (blocks, priors) = (blocks.to_vec(), self.priors.clone());
            let mut model = BayesModel::fit(blocks, Vec::new(), priors, features, &members, run)?;
            model.fit_missing(features, codes, Some(&left), MAX_EM_STEPS_OF_A_FOLD, run)?;
            model.likelihoods(&features.take(rows).features(), run)
        })?;
        if held_out.is_empty() {
            return Ok(false);
        }
        (self.calibration, _) = held_out.calibration(&self.log_priors, codes, weights, run)?;
        Ok(true)
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
