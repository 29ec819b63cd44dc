//! Linear models: the prediction is a weighted sum of the features.
//!
//! ```text
//! f(x) = b₀ + b₁x₁ + ... + b_d x_d
//! ```
//!
//! [`LeastSquares`] chooses the coefficients with the smallest sum of squared errors, [`Ridge`] adds α times their squared
//! length, which keeps them small and the answer steady when features say the same thing. Both learn numbers, and classes:
//! a class is learnt as an indicator, +1 for its rows and -1 for all others (one output for two classes, one for each of
//! more), and the label is the class with the largest output.

mod iterate;
mod least_squares;
mod leave_one_out;
mod model;
mod positive;
mod ridge;
mod solve;
mod spectrum;

pub use least_squares::LeastSquares;
pub use model::LinearModel;
pub use ridge::Ridge;
pub use spectrum::Spectrum;

use crate::calibration::{softmax, temperature};
use crate::error::{Error, Result};
use crate::learn::{Examples, Prediction, Target, TargetView};
use crate::matrix::{Matrix, afford};
use crate::run::{Report, Run};
use solve::{Problem, Solution};
use std::borrow::Cow;

/// The settings that both methods share.
struct Quadratic {
    alpha: f64,
    intercept: bool,
    positive: bool,
    /// Directions with a singular value below this fraction of the largest are left out; zero leaves out rounding only.
    cutoff: f64,
}

impl Quadratic {
    /// Fits; for classes also finds the temperature of their probabilities from exact leave-one-out scores (from the
    /// scores of the fit itself where coefficients must not be negative, and of fits to two thirds of the rows where there
    /// are very many sparse columns).
    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Report)> {
        let outputs = outputs(examples.target)?;
        let problem = self.problem(examples, &outputs);
        let fit = problem.solve(run)?;
        let (classes, temperature) = match examples.target.view() {
            TargetView::Numbers(_) | TargetView::None(_) => (0, 0.0),
            TargetView::Classes { classes, codes } => {
                let outputs = match leave_one_out::leave_one_out(&problem, &fit, run)? {
                    Some(left_out) => left_out,
                    None if problem.iterates() => run.finish(|| problem.held_out(&fit, run))?,
                    None => run.finish(|| problem.features.multiply(&fit.coefficients, &fit.intercept, run))?,
                };
                let scores = model::class_scores(outputs);
                (classes.count(), run.finish(|| temperature(&scores, codes, examples.weights, run))?)
            }
        };
        let Solution { coefficients, intercept, mut report, .. } = fit;
        if classes > 0 {
            report.fact("temperature", temperature);
        }
        Ok((LinearModel { coefficients, intercept, classes, temperature }, report))
    }

    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        let outputs = outputs(examples.target)?;
        let problem = self.problem(examples, &outputs);
        let fit = problem.solve_directly(run)?;
        let Some(left_out) = leave_one_out::leave_one_out(&problem, &fit, run)? else {
            return Ok(None);
        };
        Ok(Some(match examples.target.view() {
            TargetView::Numbers(_) | TargetView::None(_) => Prediction::Numbers(left_out),
            TargetView::Classes { codes, .. } => {
                let scores = model::class_scores(left_out);
                let temperature = temperature(&scores, codes, examples.weights, run)?;
                let probabilities = softmax(&scores, temperature);
                Prediction::Classes { scores, probabilities }
            }
        }))
    }

    fn problem<'a>(&self, examples: &Examples<'a>, targets: &'a Matrix) -> Problem<'a> {
        Problem {
            features: examples.features,
            targets,
            weights: examples.weights,
            alpha: self.alpha,
            intercept: self.intercept,
            positive: self.positive,
            cutoff: self.cutoff,
        }
    }
}

/// Numbers unchanged; classes as indicators: +1 and -1, one column for two classes (the second is +1).
fn outputs(target: &Target) -> Result<Cow<'_, Matrix>> {
    match target.view() {
        TargetView::Numbers(numbers) => Ok(Cow::Borrowed(numbers)),
        TargetView::None(_) => Err(Target::missing()),
        TargetView::Classes { classes, codes } => {
            if classes.count() < 2 {
                return Err(Error::data(
                    "the target has one class only",
                    "A classifier needs rows of at least two classes.",
                ));
            }
            let columns = if classes.count() == 2 { 1 } else { classes.count() };
            // Indicators, their centred copy, left-out scores and probabilities.
            let bytes = 6.0 * 8.0 * codes.len() as f64 * columns as f64;
            afford(bytes, &format!("learning {} classes from {} rows", classes.count(), codes.len()))?;
            let mut indicators = Matrix::zeros(codes.len(), columns);
            indicators.values_mut().fill(-1.0);
            for (i, &code) in codes.iter().enumerate() {
                match columns {
                    1 if code == 1 => indicators[(i, 0)] = 1.0,
                    1 => {}
                    _ => indicators[(i, code as usize)] = 1.0,
                }
            }
            Ok(Cow::Owned(indicators))
        }
    }
}

/// A linear fit with what scikit-learn's classes show besides: one α for each output if there is more than one, a fraction of
/// the largest singular value below which a direction is left out (zero for rounding only), and the singular values on
/// demand. Probabilities are not calibrated (the temperature is 1), which saves half the work.
///
/// ```
/// use quince::learn::{Examples, Target};
/// use quince::{Matrix, Run};
/// let (x, y) = (Matrix::column_vector(vec![0.0, 1.0, 2.0]), Matrix::column_vector(vec![1.0, 3.0, 5.0]));
/// let target = Target::numbers(y)?;
/// let examples = Examples::new(x.features(), &target, None)?;
/// let (model, _, spectrum) = quince::linear::solve(&examples, &[0.0], true, false, 0.0, &Run::new())?;
/// assert!((model.coefficients()[(0, 0)] - 2.0).abs() < 1e-12 && (model.intercept()[0] - 1.0).abs() < 1e-12);
/// // Of the centred column (-1, 0, 1).
/// assert!((spectrum.values(&Run::new())?[0] - 2f64.sqrt()).abs() < 1e-12);
/// # quince::Result::Ok(())
/// ```
pub fn solve(
    examples: &Examples<'_>,
    alphas: &[f64],
    intercept: bool,
    positive: bool,
    cutoff: f64,
    run: &Run,
) -> Result<(LinearModel, Report, Spectrum)> {
    examples.target.check_known()?;
    if let Some(alpha) = alphas.iter().find(|alpha| !(**alpha >= 0.0 && alpha.is_finite())) {
        return Err(Error::setting("alpha", format!("cannot be {alpha}"), "It takes a number of at least 0."));
    }
    if !(cutoff >= 0.0 && cutoff.is_finite()) {
        return Err(Error::setting("cutoff", format!("cannot be {cutoff}"), "It takes a number of at least 0."));
    }
    let outputs = outputs(examples.target)?;
    let alpha_of = |output: usize| alphas.get(output).or(alphas.first()).copied().unwrap_or(0.0);
    let mut distinct: Vec<f64> = (0..outputs.columns()).map(alpha_of).collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let classes = match examples.target.view() {
        TargetView::Numbers(_) | TargetView::None(_) => 0,
        TargetView::Classes { classes, .. } => classes.count(),
    };
    let mut model = LinearModel {
        coefficients: Matrix::zeros(examples.features.columns(), outputs.columns()),
        intercept: vec![0.0; outputs.columns()],
        classes,
        temperature: 1.0,
    };
    let mut last = None;
    for alpha in distinct {
        let chosen: Vec<usize> = (0..outputs.columns()).filter(|&k| alpha_of(k) == alpha).collect();
        let some = || {
            let places = (0..outputs.rows()).flat_map(|i| chosen.iter().map(move |&k| (i, k)));
            Matrix::new(outputs.rows(), chosen.len(), places.map(|at| outputs[at]).collect())
        };
        let part = if chosen.len() == outputs.columns() { Cow::Borrowed(&*outputs) } else { Cow::Owned(some()?) };
        let fit = Quadratic { alpha, intercept, positive, cutoff }.problem(examples, &part).solve(run)?;
        for (from, &to) in chosen.iter().enumerate() {
            (0..model.coefficients.rows()).for_each(|j| model.coefficients[(j, to)] = fit.coefficients[(j, from)]);
            model.intercept[to] = fit.intercept[from];
        }
        last = Some(fit);
    }
    let mut last = last.ok_or_else(|| Error::data("the target has no column", "Give at least one number per row."))?;
    let report = std::mem::take(&mut last.report);
    Ok((model, report, Spectrum::of(last)))
}
