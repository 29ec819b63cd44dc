//! What a solved support vector machine is judged by: leave-one-out scores where they are asked for, and the probabilities that
//! follow from the scores of rows by models that have not learnt them.

use super::certificate::GapCertificate;
use super::dual::{Dual, Solution, SolverOptions};
use super::leave_one_out;
use super::model::{SvmModel, counted};
use super::svm::{Cost, LeaveOneOut, Svm};
use super::target::{class_scores, class_weights};
use crate::calibration::{LogOdds, softmax, temperature};
use crate::error::{Error, Result};
use crate::learn::{Examples, Prediction, Target, TargetView};
use crate::run::{Report, Run, StopReason};

/// Why scores become probabilities by rows that the model has learnt, and not by rows held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnScores {
    /// The budget is used up.
    NoTime,
    /// A class has fewer rows than there are folds.
    FewRows,
    /// The solver did not converge, and would not do so with fewer rows.
    Unfinished,
}

impl OwnScores {
    /// What a user should know, about a model of these rows among the examples.
    pub(super) fn remark(self, examples: &Examples<'_>, rows: &[usize]) -> String {
        let (reason, remedy) = match self {
            OwnScores::NoTime => ("the budget left no time to calibrate on held-out rows".into(), ""),
            OwnScores::FewRows => {
                let (class, count) = smallest_class(examples, rows);
                let reason = format!("class '{class}' has only {}, too few to hold any out", counted(count, "row"));
                (reason, "; three of each class are enough")
            }
            OwnScores::Unfinished => {
                let reason = "the fit has not converged, and is not repeated without some of the rows";
                (reason.into(), "; scale the columns, or allow more steps")
            }
        };
        format!("{reason}: probabilities come from the rows learnt from, and are too sure{remedy}")
    }
}

/// The class that has the fewest of these rows, and how many.
fn smallest_class(examples: &Examples<'_>, rows: &[usize]) -> (String, usize) {
    let TargetView::Classes { classes, codes } = examples.target.view() else { return (String::new(), 0) };
    let mut counts = vec![0; classes.count()];
    rows.iter().for_each(|&i| counts[codes[i] as usize] += 1);
    let smallest = classes.names().iter().cloned().zip(counts).min_by_key(|(_, count)| *count);
    smallest.unwrap_or_default()
}

/// A solved problem.
pub(super) struct Solved<'s> {
    pub(super) examples: &'s Examples<'s>,
    pub(super) dual: &'s Dual<'s>,
    pub(super) solution: &'s Solution,
    pub(super) certificate: &'s GapCertificate,
}

impl Solved<'_> {
    /// The scores of the rows that take part.
    fn own_scores(&self) -> Vec<f64> {
        let (dual, solution) = (self.dual, self.solution);
        (0..dual.count()).map(|i| dual.target[i] - solution.gradient[i] + self.certificate.bias).collect()
    }

    /// Whether the solution is that of a model, which has converged and was judged by rows held out.
    fn is_that_of(&self, model: &SvmModel) -> bool {
        model.summary.finished
            && !model.own_scores
            && self.solution.stop == StopReason::Converged
            && self.solution.steps == 0
            && self.solution.beta == model.coefficients_of(&self.dual.indices)
    }
}

impl Svm {
    /// Adds the leave-one-out error to a model, if that is asked for, and how its scores become probabilities. A model that the
    /// solution has not changed has been judged before.
    pub(super) fn judge(
        &self,
        solved: &Solved<'_>,
        from: Option<&SvmModel>,
        model: &mut SvmModel,
        report: &mut Report,
        run: &Run,
    ) -> Result<()> {
        let TargetView::Classes { .. } = solved.examples.target.view() else { return Ok(()) };
        let before = from.filter(|before| solved.is_that_of(before));
        let left_out = match before.and_then(|before| before.summary.leave_one_out) {
            Some(error) => {
                model.summary.leave_one_out = Some(error);
                None
            }
            None => self.left_out(solved, report, run)?,
        };
        if let Some(scores) = &left_out {
            model.summary.leave_one_out = Some(leave_one_out::error(solved.dual, scores));
        }
        if let Some(error) = model.summary.leave_one_out {
            report.fact("leave-one-out error", error);
        }
        if !self.probabilities {
            return Ok(());
        }
        let differ = self.classes_differ(solved.examples)?;
        let odds = match before.map(|before| before.log_odds) {
            // A temperature of one is that of a model without probabilities.
            Some(odds) if odds.temperature != 1.0 && (odds.offset != 0.0) == differ => odds,
            _ => {
                let (rows, scores) = self.judged(solved, left_out, model, report, run)?;
                run.finish(|| log_odds_of(solved.examples, &rows, &scores, differ, run))?
            }
        };
        model.log_odds = odds;
        add_to(report, &odds);
        Ok(())
    }

    /// The score of each row by the model without it, if that is asked for and there is time.
    fn left_out(&self, solved: &Solved<'_>, report: &mut Report, run: &Run) -> Result<Option<Vec<f64>>> {
        let Solved { dual, solution, certificate, .. } = solved;
        let options = self.options(1.0, dual.count());
        let steps = match self.leave_one_out {
            LeaveOneOut::Auto => leave_one_out::quick_steps(dual, solution),
            LeaveOneOut::Always => SolverOptions::most_steps(dual.count()),
            LeaveOneOut::Never => 0,
        };
        if solution.stop != StopReason::Converged || steps == 0 {
            return Ok(None);
        }
        match leave_one_out::scores(dual, solution, certificate, &SolverOptions { steps, ..options }, self.bias, run) {
            Err(Error::OutOfTime { .. }) => {
                if self.leave_one_out == LeaveOneOut::Always {
                    report.remarks.push("the budget left no time for the leave-one-out error".into());
                }
                Ok(None)
            }
            other => other,
        }
    }

    /// Rows and their scores by models that have not learnt them. Where there is no such model, their own must do.
    fn judged(
        &self,
        solved: &Solved<'_>,
        left_out: Option<Vec<f64>>,
        model: &mut SvmModel,
        report: &mut Report,
        run: &Run,
    ) -> Result<(Vec<usize>, Vec<f64>)> {
        let dual = solved.dual;
        if let Some(scores) = left_out {
            return Ok((dual.indices.clone(), scores));
        }
        let why = match solved.solution.stop {
            StopReason::Converged => {
                let options = self.options(1.0, dual.count());
                match leave_one_out::held_out(dual, solved.solution, &options, self.bias, run)? {
                    Ok(found) => return Ok(found),
                    Err(why) => why,
                }
            }
            StopReason::Budget => OwnScores::NoTime,
            _ => OwnScores::Unfinished,
        };
        model.own_scores = true;
        report.remarks.push(why.remark(solved.examples, &dual.indices));
        Ok((dual.indices.clone(), solved.own_scores()))
    }

    /// Whether classes have costs that differ; a hard margin has no costs.
    pub(super) fn classes_differ(&self, examples: &Examples<'_>) -> Result<bool> {
        Ok(self.c != Cost::Infinite && classes_differ(&self.class_weights, examples)?)
    }
}

/// Whether the rows of one class cost more than those of the other by the setting `class_weights`, so that the label follows the
/// costs.
pub(super) fn classes_differ(setting: &str, examples: &Examples<'_>) -> Result<bool> {
    let TargetView::Classes { classes, codes } = examples.target.view() else { return Ok(false) };
    let weights = class_weights(setting, classes, codes, examples.weights)?;
    Ok(weights.windows(2).any(|pair| pair[0] != pair[1]))
}

/// How the scores of some rows become probabilities: of those examples that have these indices.
pub(super) fn log_odds_of(
    examples: &Examples<'_>,
    rows: &[usize],
    scores: &[f64],
    classes_differ: bool,
    run: &Run,
) -> Result<LogOdds> {
    let TargetView::Classes { codes, .. } = examples.target.view() else { return Err(Target::missing()) };
    let codes: Vec<u32> = rows.iter().map(|&i| codes[i]).collect();
    let weights: Option<Vec<f64>> = examples.weights.map(|weights| rows.iter().map(|&i| weights[i]).collect());
    log_odds(scores, &codes, weights.as_deref(), classes_differ, run)
}

/// How scores of rows that were not learnt become probabilities. The rows count by their own weights, and not by those of their
/// classes.
pub(super) fn log_odds(
    scores: &[f64],
    codes: &[u32],
    weights: Option<&[f64]>,
    classes_differ: bool,
    run: &Run,
) -> Result<LogOdds> {
    if classes_differ {
        let positive: Vec<bool> = codes.iter().map(|code| *code == 1).collect();
        return LogOdds::fit(scores, &positive, weights, run);
    }
    Ok(LogOdds { temperature: temperature(&class_scores(scores), codes, weights, run)?, offset: 0.0 })
}

/// Says in the report how scores become probabilities.
pub(super) fn add_to(report: &mut Report, odds: &LogOdds) {
    report.fact("temperature", odds.temperature);
    if odds.offset != 0.0 {
        report.fact("offset", odds.offset);
    }
}

/// The prediction for rows with these scores.
pub(super) fn classes_by(odds: &LogOdds, scores: &[f64]) -> Prediction {
    let both = class_scores(scores);
    let probabilities = if odds.offset == 0.0 {
        softmax(&both, odds.temperature)
    } else {
        // Half of the log odds for either class.
        let halves: Vec<f64> = scores.iter().map(|score| 0.5 * odds.at(*score)).collect();
        softmax(&class_scores(&halves), 1.0)
    };
    Prediction::Classes { scores: both, probabilities }
}
