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
/// The refit for held-out rows need not be as exact.
const LOOSER: f64 = 10.0;

/// Whether all support vectors can be left out in about a second: a refit computes F anew, and takes no more steps than the fit.
pub(super) fn is_quick(dual: &Dual<'_>, at: &Outcome) -> bool {
    let support = at.beta.iter().filter(|beta| **beta != 0.0).count() as f64;
    let anew = support * dual.count() as f64 * (32 + dual.rows.row_cost()) as f64;
    support * (anew + 1000.0 * at.steps as f64) <= QUICK
}

/// The score of each row by the machine without it.
pub(super) fn scores(
    dual: &Dual<'_>,
    at: &Outcome,
    proof: &Proof,
    effort: &Effort,
    middle: Middle,
    run: &Run,
) -> Result<Vec<f64>> {
    let mut scores: Vec<f64> = (0..dual.count()).map(|i| dual.target[i] - at.slope[i] + proof.bias).collect();
    let support: Vec<usize> = (0..dual.count()).filter(|&i| at.beta[i] != 0.0).collect();
    let cancel = run.cancel_flag();
    for (done, some) in support.chunks(16).enumerate() {
        run.progress("leaving rows out", done * 16, support.len());
        // Refits are small: each has a thread for itself.
        let found = run.map(some.len(), |k| {
            let (without, held_out) = (dual.without(|i| i == some[k]), [dual.of[some[k]]]);
            without.refit(dual, at, &held_out, effort, middle, &Run::new().threads(1).cancel(&cancel))
        });
        for (&i, score) in some.iter().zip(found) {
            scores[i] = score?[0];
        }
        run.check()?;
    }
    Ok(scores)
}

/// Every third row, and its score by the machine of the others.
pub(super) fn held_out(
    dual: &Dual<'_>,
    at: &Outcome,
    effort: &Effort,
    middle: Middle,
    run: &Run,
) -> Result<(Vec<usize>, Vec<f64>)> {
    let held_out = |i: usize| i % 3 == 2;
    let rows: Vec<usize> = (0..dual.count()).filter(|&i| held_out(i)).map(|i| dual.of[i]).collect();
    let effort = Effort { tolerance: (LOOSER * effort.tolerance).min(0.1).max(effort.tolerance), ..*effort };
    let scores = dual.without(held_out).refit(dual, at, &rows, &effort, middle, run)?;
    Ok((rows, scores))
}

/// The share of rows whose class is not found.
pub(super) fn error(dual: &Dual<'_>, scores: &[f64]) -> f64 {
    let wrong = dual.target.iter().zip(scores).filter(|(target, score)| *target * *score <= 0.0).count();
    wrong as f64 / dual.count() as f64
}

impl<'a> Dual<'a> {
    /// The same problem without some rows.
    fn without(&self, leave_out: impl Fn(usize) -> bool) -> Dual<'a> {
        let kept: Vec<usize> = (0..self.count()).filter(|&i| !leave_out(i)).collect();
        let some = |values: &[f64]| kept.iter().map(|&i| values[i]).collect();
        Dual {
            rows: self.rows,
            space: self.space,
            of: kept.iter().map(|&i| self.of[i]).collect(),
            target: some(&self.target),
            low: some(&self.low),
            high: some(&self.high),
            insensitive: self.insensitive,
        }
    }

    /// Scores of rows by the machine of a part of a problem, found from the solution of the whole.
    fn refit(
        &self,
        whole: &Dual<'_>,
        at: &Outcome,
        rows: &[usize],
        effort: &Effort,
        middle: Middle,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let mut start = Vec::with_capacity(self.count());
        let mut next = 0;
        for (&row, &beta) in whole.of.iter().zip(&at.beta) {
            if self.of.get(next) == Some(&row) {
                start.push(beta);
                next += 1;
            }
        }
        balance(&mut start);
        let at = self.solve(Some(start), effort, run)?;
        let proof = self.prove(&at, middle, at.stop == Stop::Converged);
        let support: Vec<usize> = (0..self.count()).filter(|&i| at.beta[i] != 0.0).collect();
        let beta: Vec<f64> = support.iter().map(|&i| at.beta[i]).collect();
        let supports: Vec<usize> = support.iter().map(|&i| self.of[i]).collect();
        let probes = self.space.probes(&self.rows, &supports);
        let mut scores = vec![proof.bias; rows.len()];
        self.space.gallery::<f64>(&self.rows, rows).add(&probes, &beta, &mut scores, run)?;
        Ok(scores)
    }
}
