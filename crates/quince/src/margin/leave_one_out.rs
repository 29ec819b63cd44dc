//! Leave-one-out and held-out scores.
//!
//! A row that is no support vector changes nothing: without it the model, and its score, are the same. Only support vectors need a
//! refit, so their share bounds the leave-one-out error (Vapnik 1995). A refit has a warm start from the solution for all rows,
//! without the row and with Σβ brought back to zero.

use super::calibrate::OwnScores;
use super::certificate::{BiasRule, GapCertificate};
use super::dual::{Dual, Solution, SolverOptions, balance};
use crate::error::{Error, Result};
use crate::run::{Run, StopReason};

/// `auto` computes leave-one-out scores if support vectors squared, times rows, are at most this many: about a millisecond.
const QUICK_PRODUCTS: usize = 100_000;
/// With `auto` no refit takes more steps than this.
const QUICK_STEPS: usize = 1000;
/// Up to this many rows every third of them is held out, one after the other; of more rows one third says enough.
const MAX_ROWS_FOR_THREE_FOLDS: usize = 2000;
/// The tolerance of the refit for held-out rows, in multiples of that of the model.
const TOLERANCE_FACTOR: f64 = 10.0;

/// How many steps each refit may take with `auto`; zero if all of them together would take more than a moment.
pub(super) fn quick_steps(dual: &Dual<'_>, solution: &Solution) -> usize {
    let support = solution.beta.iter().filter(|beta| **beta != 0.0).count();
    if support * support * dual.count() <= QUICK_PRODUCTS { QUICK_STEPS } else { 0 }
}

/// The score of each row by the model without it; `None` if a refit takes more steps than `options` allow, unless they allow all.
pub(super) fn scores(
    dual: &Dual<'_>,
    solution: &Solution,
    certificate: &GapCertificate,
    options: &SolverOptions,
    rule: BiasRule,
    run: &Run,
) -> Result<Option<Vec<f64>>> {
    let mut scores: Vec<f64> =
        (0..dual.count()).map(|i| dual.target[i] - solution.gradient[i] + certificate.bias).collect();
    let support: Vec<usize> = (0..dual.count()).filter(|&i| solution.beta[i] != 0.0).collect();
    let at_a_time = run.thread_count().max(1);
    for (done, some) in support.chunks(at_a_time).enumerate() {
        run.progress("leaving rows out", done * at_a_time, support.len());
        // Refits are small: each has a thread for itself.
        let without = |k: usize, run: &Run| dual.scores_without(|i| i == some[k], solution, options, rule, run);
        for (&i, score) in some.iter().zip(run.map_watched(some.len(), without)?) {
            let Some(score) = score else { return Ok(None) };
            scores[i] = score[0];
        }
        run.check()?;
    }
    Ok(Some(scores))
}

/// Rows, and the score of each by a model that has not learnt it.
pub(super) type HeldOut = (Vec<usize>, Vec<f64>);

/// Every third row of each class, and its score by the model of the others: of few rows all, in three folds. Otherwise the reason
/// why there are none.
pub(super) fn held_out(
    dual: &Dual<'_>,
    solution: &Solution,
    options: &SolverOptions,
    rule: BiasRule,
    run: &Run,
) -> Result<std::result::Result<HeldOut, OwnScores>> {
    let options =
        SolverOptions { tolerance: (TOLERANCE_FACTOR * options.tolerance).min(0.1).max(options.tolerance), ..*options };
    let folds = if dual.count() <= MAX_ROWS_FOR_THREE_FOLDS { 3 } else { 1 };
    let (mut rows, mut scores) = (Vec::new(), Vec::new());
    let mut why = OwnScores::NoTime;
    for fold in 0..folds {
        let Some(held_out) = every_third(dual.target.iter().map(|y| *y > 0.0), fold) else {
            return Ok(Err(OwnScores::FewRows));
        };
        if run.out_of_time() {
            break;
        }
        match dual.scores_without(|i| held_out[i], solution, &options, rule, run) {
            Ok(Some(found)) => {
                rows.extend((0..dual.count()).filter(|&i| held_out[i]).map(|i| dual.indices[i]));
                scores.extend(found);
            }
            Ok(None) => {
                why = OwnScores::Unfinished;
                break;
            }
            Err(Error::OutOfTime { .. }) => break,
            Err(other) => return Err(other),
        }
    }
    Ok(if rows.is_empty() { Err(why) } else { Ok((rows, scores)) })
}

/// Which rows are every third of their class, in one of three folds; `None` if one class has none.
pub(super) fn every_third(positive: impl Iterator<Item = bool>, fold: usize) -> Option<Vec<bool>> {
    let mut seen = [0usize; 2];
    let third = |positive: bool| {
        seen[usize::from(positive)] += 1;
        (seen[usize::from(positive)] + fold).is_multiple_of(3)
    };
    let thirds: Vec<bool> = positive.map(third).collect();
    seen.iter().all(|count| *count >= 3).then_some(thirds)
}

/// The share of rows whose class is not found.
pub(super) fn error(dual: &Dual<'_>, scores: &[f64]) -> f64 {
    let wrong = dual.target.iter().zip(scores).filter(|(target, score)| *target * *score <= 0.0).count();
    wrong as f64 / dual.count() as f64
}

impl Dual<'_> {
    /// Scores of some rows by the model of all others, with a warm start from the solution for all rows; `None` if that takes too
    /// many steps, and an error if it takes too long: the scores of a model that is not finished have another size.
    fn scores_without(
        &self,
        leave_out: impl Fn(usize) -> bool,
        solution: &Solution,
        options: &SolverOptions,
        rule: BiasRule,
        run: &Run,
    ) -> Result<Option<Vec<f64>>> {
        let (left_out, kept): (Vec<usize>, Vec<usize>) = (0..self.count()).partition(|&i| leave_out(i));
        let others = self.part(&kept);
        let mut start: Vec<f64> = kept.iter().map(|&i| solution.beta[i]).collect();
        balance(&mut start);
        let solution = others.solve_near(start, solution, options, run)?;
        if solution.stop == StopReason::Budget {
            return Err(Error::OutOfTime { what: "the method".into() });
        }
        if solution.stop == StopReason::StepLimit && options.steps < SolverOptions::most_steps(0) {
            return Ok(None);
        }
        let certificate = others.certify(&solution, rule, solution.stop == StopReason::Converged);
        let support: Vec<usize> = (0..others.count()).filter(|&i| solution.beta[i] != 0.0).collect();
        let beta: Vec<f64> = support.iter().map(|&i| solution.beta[i]).collect();
        let supports: Vec<usize> = support.iter().map(|&i| others.indices[i]).collect();
        let queries = self.space.queries(&self.rows, &supports);
        let rows: Vec<usize> = left_out.iter().map(|&i| self.indices[i]).collect();
        let mut scores = vec![certificate.bias; rows.len()];
        let kernel_rows = self.space.kernel_rows::<f64>(&self.rows, &rows);
        run.finish(|| kernel_rows.add(&queries, &beta, &mut scores, run))?;
        Ok(Some(scores))
    }
}
