//! What a machine says of rows that it has not seen.
//!
//! A row that is no support vector changes nothing: without it the machine is the same, and its score is what it is. Only support
//! vectors need a refit, so the share of them bounds the leave-one-out error (Vapnik 1995). A refit starts from the machine
//! itself, with the row taken out and the others brought back into balance.

use super::dual::{Dual, Effort, Outcome, balance};
use super::proof::{Middle, Proof};
use crate::error::Result;
use crate::run::{Run, Stop};

/// Up to so many products are computed for leaving out each support vector without being asked.
const QUICK: f64 = 5e9;
/// A step of a refit costs as many.
const STEP: f64 = 1000.0;
/// The refit for held-out rows need not be as exact.
const LOOSER: f64 = 10.0;

/// How many steps each refit may take so that all support vectors are left out in about a second; a refit computes F anew.
pub(super) fn quick_steps(dual: &Dual<'_>, at: &Outcome) -> usize {
    let support = at.beta.iter().filter(|beta| **beta != 0.0).count().max(1) as f64;
    let anew = support * dual.count() as f64 * (32 + dual.rows.row_cost()) as f64;
    ((QUICK / support - anew) / STEP).max(0.0) as usize
}

/// The score of each row by the machine without it; `None` if a refit takes more steps than `effort` allows.
pub(super) fn scores(
    dual: &Dual<'_>,
    at: &Outcome,
    proof: &Proof,
    effort: &Effort,
    middle: Middle,
    run: &Run,
) -> Result<Option<Vec<f64>>> {
    let mut scores: Vec<f64> = (0..dual.count()).map(|i| dual.target[i] - at.slope[i] + proof.bias).collect();
    let support: Vec<usize> = (0..dual.count()).filter(|&i| at.beta[i] != 0.0).collect();
    let cancel = run.cancel_flag();
    let at_a_time = run.thread_count().max(1);
    for (done, some) in support.chunks(at_a_time).enumerate() {
        run.progress("leaving rows out", done * at_a_time, support.len());
        // Refits are small: each has a thread for itself.
        let found = run.map(some.len(), |k| {
            let run = Run::new().threads(1).cancel(&cancel);
            dual.scores_without(|i| i == some[k], at, effort, middle, &run)
        });
        for (&i, score) in some.iter().zip(found) {
            let Some(score) = score? else { return Ok(None) };
            scores[i] = score[0];
        }
        run.check()?;
    }
    Ok(Some(scores))
}

/// Every third row of each class, and its score by the machine of the others; `None` if a class has too few.
pub(super) fn held_out(
    dual: &Dual<'_>,
    at: &Outcome,
    effort: &Effort,
    middle: Middle,
    run: &Run,
) -> Result<Option<(Vec<usize>, Vec<f64>)>> {
    let Some(held_out) = every_third(dual.target.iter().map(|y| *y > 0.0)) else { return Ok(None) };
    let rows: Vec<usize> = (0..dual.count()).filter(|&i| held_out[i]).map(|i| dual.of[i]).collect();
    let effort = Effort { tolerance: (LOOSER * effort.tolerance).min(0.1).max(effort.tolerance), ..*effort };
    let scores = dual.scores_without(|i| held_out[i], at, &effort, middle, run)?;
    Ok(scores.map(|scores| (rows, scores)))
}

/// Which rows are every third of their class; `None` if one class has none.
pub(super) fn every_third(second: impl Iterator<Item = bool>) -> Option<Vec<bool>> {
    let mut seen = [0usize; 2];
    let third = |second: bool| {
        seen[usize::from(second)] += 1;
        seen[usize::from(second)].is_multiple_of(3)
    };
    let thirds: Vec<bool> = second.map(third).collect();
    seen.iter().all(|count| *count >= 3).then_some(thirds)
}

/// The share of rows whose class is not found.
pub(super) fn error(dual: &Dual<'_>, scores: &[f64]) -> f64 {
    let wrong = dual.target.iter().zip(scores).filter(|(target, score)| *target * *score <= 0.0).count();
    wrong as f64 / dual.count() as f64
}

impl Dual<'_> {
    /// Scores of some rows by the machine of all others, found from the solution of the whole; `None` if that takes too many steps.
    fn scores_without(
        &self,
        leave_out: impl Fn(usize) -> bool,
        at: &Outcome,
        effort: &Effort,
        middle: Middle,
        run: &Run,
    ) -> Result<Option<Vec<f64>>> {
        let (left_out, kept): (Vec<usize>, Vec<usize>) = (0..self.count()).partition(|&i| leave_out(i));
        let others = self.part(&kept);
        let mut start: Vec<f64> = kept.iter().map(|&i| at.beta[i]).collect();
        balance(&mut start);
        let at = others.solve_near(start, effort, run)?;
        if at.stop == Stop::StepLimit {
            return Ok(None);
        }
        let proof = others.prove(&at, middle, at.stop == Stop::Converged);
        let support: Vec<usize> = (0..others.count()).filter(|&i| at.beta[i] != 0.0).collect();
        let beta: Vec<f64> = support.iter().map(|&i| at.beta[i]).collect();
        let supports: Vec<usize> = support.iter().map(|&i| others.of[i]).collect();
        let probes = self.space.probes(&self.rows, &supports);
        let rows: Vec<usize> = left_out.iter().map(|&i| self.of[i]).collect();
        let mut scores = vec![proof.bias; rows.len()];
        self.space.gallery::<f64>(&self.rows, &rows).add(&probes, &beta, &mut scores, run)?;
        Ok(Some(scores))
    }
}
