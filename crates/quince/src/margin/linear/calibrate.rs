//! Probabilities: a temperature for the scores of rows that a second fit has not seen, and an offset where classes have weights.

use super::{LinearSvm, LinearSvmModel};
use crate::error::{Error, Result};
use crate::learn::{Examples, TargetView};
use crate::margin::calibrate::{OwnScores, add_to, classes_differ, log_odds_of};
use crate::margin::leave_one_out::every_third;
use crate::run::{Report, Run, StopReason};

impl LinearSvm {
    /// Finds the log odds of scores from every third row of each class, scored by a model fitted `without` them. The rows
    /// that take part have these indices among the examples.
    pub(super) fn calibrate(
        &self,
        model: &mut LinearSvmModel,
        examples: &Examples<'_>,
        indices: &[usize],
        without: impl FnOnce(&[bool]) -> Result<(LinearSvmModel, Report)>,
        report: &mut Report,
        run: &Run,
    ) -> Result<()> {
        let TargetView::Classes { codes, .. } = examples.target.view() else { return Ok(()) };
        let differ = classes_differ(&self.class_weights, examples)?;
        let thirds = every_third(indices.iter().map(|&i| codes[i] == 1), 0);
        let judge = match &thirds {
            Some(thirds) => in_time(report, run, || without(thirds))?,
            None => None,
        };
        if judge.is_none() {
            let why = if thirds.is_none() { OwnScores::FewRows } else { OwnScores::NoTime };
            report.remarks.push(why.remark(examples, indices));
        }
        let held_out = thirds.filter(|_| judge.is_some());
        let is_judged = |k: &usize| held_out.as_ref().is_none_or(|held_out| held_out[*k]);
        let rows: Vec<usize> = (0..indices.len()).filter(is_judged).map(|k| indices[k]).collect();
        let odds = run.finish(|| {
            let taken = examples.features.take(&rows);
            let scores = judge.as_ref().unwrap_or(model).scores(&taken.features(), run)?;
            log_odds_of(examples, &rows, &scores, differ, run)
        })?;
        model.calibrated(odds);
        add_to(report, &odds);
        Ok(())
    }
}

/// The model of a second fit; `None` if the first one was stopped by its budget, or this one is, whose scores would be of another size.
fn in_time(
    first: &Report,
    run: &Run,
    second: impl FnOnce() -> Result<(LinearSvmModel, Report)>,
) -> Result<Option<LinearSvmModel>> {
    if first.stop == StopReason::Budget || run.out_of_time() {
        return Ok(None);
    }
    match second() {
        Ok((model, report)) => Ok((report.stop != StopReason::Budget).then_some(model)),
        Err(Error::OutOfTime { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
