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
    /// Whether classes get probabilities that are calibrated.
    calibrates: bool,
}

impl Quadratic {
    /// Fits; for classes also finds the temperature of their probabilities from exact leave-one-out scores (from the
    /// scores of the fit itself where coefficients must not be negative, and of fits to two thirds of the rows where there
    /// are very many sparse columns).
    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Report)> {
        let (model, solution) = self.solve(examples, run)?;
        Ok((model, solution.report))
    }

    /// The fit, and the solution that it comes from.
    fn solve(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Solution)> {
        let outputs = outputs(examples.target)?;
        let problem = self.problem(examples, &outputs);
        let mut fit = problem.solve(run)?;
        let (classes, temperature) = match examples.target.view() {
            TargetView::Numbers(_) | TargetView::None(_) => (0, 0.0),
            TargetView::Classes { classes, .. } if !self.calibrates => (classes.count(), 1.0),
            TargetView::Classes { classes, codes } => {
                let outputs = match leave_one_out::leave_one_out(&problem, &fit, run)? {
                    Some(left_out) => left_out,
                    None if problem.iterates() => run.finish(|| problem.held_out(&fit, run))?,
                    None => run.finish(|| problem.features.multiply(&fit.coefficients, &fit.intercept, run))?,
                };
                let scores = model::class_scores(outputs);
                let temperature = run.finish(|| temperature(&scores, codes, examples.weights, run))?;
                fit.report.fact("temperature", temperature);
                (classes.count(), temperature)
            }
        };
        let (coefficients, intercept) = (std::mem::take(&mut fit.coefficients), std::mem::take(&mut fit.intercept));
        Ok((LinearModel { coefficients, intercept, classes, temperature }, fit))
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
                let temperature =
                    if self.calibrates { temperature(&scores, codes, examples.weights, run)? } else { 1.0 };
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
