//! Leave-one-out: every row is predicted by the model learnt from all others, by algebra where a method has it and by a fit for each
//! row where it has not.

use super::compare::{FoldResults, check_measurable};
use super::encoders::Encoders;
use super::metrics::evaluate;
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::learn::{DynLearner, Examples, Prediction, named};
use crate::matrix::{Matrix, Rows};
use crate::run::Run;
use crate::table::Labelled;
use std::time::Instant;

/// The leave-one-out results of every method.
pub(super) fn leave_each_out(
    labelled: &Labelled,
    learners: &[Box<dyn DynLearner>],
    weights: Option<&[f64]>,
    all_results: &mut [FoldResults],
    warnings: &mut Vec<String>,
    run: &Run,
) -> Result<()> {
    let (encoders, encoded) = Encoders::fit(labelled, learners, run)?;
    warnings.extend(encoders.remarks());
    let target = &labelled.target;
    for (m, (learner, results)) in learners.iter().zip(all_results.iter_mut()).enumerate() {
        run.progress(&format!("leave-one-out: {}", learner.info().name), m, learners.len());
        results.attempt(|results| {
            let start = Instant::now();
            let result = run.share(m + 1 == learners.len(), || {
                run.check()?;
                let rows = encoded.for_method(learner.as_ref());
                let examples = Examples::new(rows.features(), target, weights)?;
                let examples = examples.encoded_by(encoders.of(learner.as_ref()))?;
                match learner.leave_one_out_dyn(&examples, run)? {
                    Some(exact) => Ok(exact),
                    None => refit_for_each(learner.as_ref(), rows, &examples, run),
                }
            });
            let prediction = named(result, learner.info().name)?;
            results.fit = start.elapsed();
            results.evaluations.push(evaluate(target, &prediction, weights)?);
            Ok(())
        })?;
    }
    run.progress("done", learners.len(), learners.len());
    Ok(())
}

/// The prediction for every row of a table by the model learnt from all others, where algebra gives that without refitting;
/// `None` where it does not. The encoder is learnt once, from all rows.
///
/// ```
/// use quince::evaluate::{Evaluation, evaluate, exact_leave_one_out};
/// use quince::prelude::*;
/// let table = Table::from_csv("x,y\n0,1\n1,2\n2,6\n")?.labelled("y", Some(quince::learn::Task::Regression))?;
/// let left_out = exact_leave_one_out(&table, None, &LeastSquares::default(), &Run::new())?.expect("least squares has it");
/// // Without the first row the line goes through (1, 2) and (2, 6), so that it is -2 at 0.
/// let Prediction::Numbers(numbers) = &left_out else { panic!() };
/// assert!((numbers[(0, 0)] + 2.0).abs() < 1e-9);
/// # quince::Result::Ok(())
/// ```
pub fn exact_leave_one_out(
    labelled: &Labelled,
    weights: Option<&[f64]>,
    learner: &dyn DynLearner,
    run: &Run,
) -> Result<Option<Prediction>> {
    check_measurable(labelled, weights)?;
    let (encoder, rows) = Encoder::fit_for(learner.info(), &labelled.table, Some(&labelled.target), run)?;
    let examples = Examples::new(rows.features(), &labelled.target, weights)?.encoded_by(&encoder)?;
    named(learner.leave_one_out_dyn(&examples, run), learner.info().name)
}

/// Leave-one-out as it is defined: a fit for every row.
fn refit_for_each(learner: &dyn DynLearner, rows: &Rows, all_examples: &Examples<'_>, run: &Run) -> Result<Prediction> {
    let Examples { target, weights, encoder, .. } = *all_examples;
    let n = target.rows();
    let mut all: Option<Prediction> = None;
    for i in 0..n {
        let others: Vec<usize> = (0..n).filter(|&k| k != i).collect();
        let others_weights: Option<Vec<f64>> = weights.map(|w| others.iter().map(|&k| w[k]).collect());
        let (others, others_target) = (rows.take(&others), target.take(&others));
        let examples = Examples::new(others.features(), &others_target, others_weights.as_deref())?;
        let examples = Examples { encoder, ..examples };
        let (fitted, _) = learner.fit_dyn(&examples, run)?;
        let one = fitted.predict(&rows.take(&[i]).features(), run)?;
        let one = one.with_probabilities_if(learner.has_probabilities_dyn());
        if all.is_none() {
            all = empty_like(&one, n);
        }
        // A method of the user's own may predict anything.
        if !all.as_mut().is_some_and(|all| put_row(all, i, &one)) {
            let problem = format!("'{}' does not predict the target that it learnt", learner.info().name);
            return Err(Error::data(problem, "Predict classes for classes and numbers for numbers."));
        }
        run.check()?;
    }
    all.ok_or_else(|| Error::data("there are no rows", "Give at least one row."))
}

/// Zeros for the predictions of all rows; `None` where there is no target to compare them with.
fn empty_like(one: &Prediction, rows: usize) -> Option<Prediction> {
    match one {
        Prediction::Classes { scores, probabilities } => {
            let empty = |like: &Matrix| Matrix::zeros(rows, like.columns());
            Some(Prediction::Classes { scores: empty(scores), probabilities: empty(probabilities) })
        }
        Prediction::Numbers(numbers) => Some(Prediction::Numbers(Matrix::zeros(rows, numbers.columns()))),
        Prediction::Clusters { .. } | Prediction::Responsibilities { .. } | Prediction::Novelty { .. } => None,
    }
}

/// Puts the prediction of one row in its place; says whether it has the same shape as the others.
fn put_row(all: &mut Prediction, i: usize, one: &Prediction) -> bool {
    let put = |whole: &mut Matrix, one: &Matrix| {
        let fits = one.rows() == 1 && one.columns() == whole.columns();
        if fits {
            whole.row_mut(i).copy_from_slice(one.row(0));
        }
        fits
    };
    match (all, one) {
        (Prediction::Classes { scores, probabilities }, Prediction::Classes { scores: s, probabilities: p }) => {
            put(scores, s) && put(probabilities, p)
        }
        (Prediction::Numbers(numbers), Prediction::Numbers(one)) => put(numbers, one),
        _ => false,
    }
}
