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
use crate::learn::{ClassWeights, Examples, Prediction, Target, TargetView, class_weights};
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
    /// Weights of classes, as they are written.
    class_weights: String,
}

impl Quadratic {
    /// Fits; for classes also finds the temperature of their probabilities from exact leave-one-out scores (from the
    /// scores of the fit itself where coefficients must not be negative, and of fits to two thirds of the rows where there
    /// are very many sparse columns). There rows count by their own weights, and not by those of their classes.
    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Report)> {
        let (model, solution) = self.solve(examples, run)?;
        Ok((model, solution.report))
    }

    /// The fit, and the solution that it comes from.
    fn solve(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Solution)> {
        let (outputs, weights) = (outputs(examples.target)?, self.weights(examples)?);
        let problem = self.problem(examples, &outputs, weights.as_deref());
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
        let (outputs, weights) = (outputs(examples.target)?, self.weights(examples)?);
        let problem = self.problem(examples, &outputs, weights.as_deref());
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

    /// The weight of each row: its own, times that of its class.
    fn weights<'a>(&self, examples: &Examples<'a>) -> Result<Option<Cow<'a, [f64]>>> {
        let own = examples.weights;
        let TargetView::Classes { classes, codes } = examples.target.view() else {
            if ClassWeights::read(&self.class_weights)?.are_alike() {
                return Ok(own.map(Cow::Borrowed));
            }
            let problem = "is for classes, and the target is a number";
            return Err(Error::setting("class_weights", problem, "Leave it out, or weigh the rows."));
        };
        let of_classes = class_weights(&self.class_weights, classes, codes, own)?;
        if of_classes.iter().all(|weight| *weight == 1.0) {
            return Ok(own.map(Cow::Borrowed));
        }
        let weight = |(i, &code): (usize, &u32)| of_classes[code as usize] * own.map_or(1.0, |own| own[i]);
        Ok(Some(codes.iter().enumerate().map(weight).collect()))
    }

    fn problem<'a>(&self, examples: &Examples<'a>, targets: &'a Matrix, weights: Option<&'a [f64]>) -> Problem<'a> {
        Problem {
            features: examples.features,
            targets,
            weights,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Classes, Learner};
    use crate::run::Stream;

    /// Rows of two or three classes of different sizes.
    fn drawn(classes: u32) -> (Matrix, Vec<u32>, Target) {
        let (mut stream, count) = (Stream::new(2, 0), 120);
        let codes: Vec<u32> = (0..count).map(|i| [0, 0, 0, 0, 1, 1, 2][i % 7].min(classes - 1)).collect();
        let mut rows = Matrix::zeros(count, 3);
        for (i, code) in codes.iter().enumerate() {
            rows.row_mut(i).iter_mut().for_each(|x| *x = stream.normal());
            rows.row_mut(i)[(code % 3) as usize] += 1.0;
        }
        let target =
            Target::classes(Classes::of(["a", "b", "c"].into_iter().take(classes as usize)), codes.clone()).unwrap();
        (rows, codes, target)
    }

    #[test]
    fn class_weights_are_weights_of_rows_to_the_bit() {
        let own: Vec<f64> = (0..120).map(|i| f64::from(i % 4)).collect();
        for classes in [2, 3] {
            let (rows, codes, target) = drawn(classes);
            for own in [None, Some(&own[..])] {
                let total = |code: u32| -> f64 {
                    let of_class = (0..120).filter(|&i| codes[i] == code);
                    of_class.map(|i| own.map_or(1.0, |own| own[i])).sum()
                };
                let all: f64 = (0..classes).map(total).sum();
                let balanced: Vec<f64> = (0..classes).map(|code| all / (f64::from(classes) * total(code))).collect();
                for (written, of_classes) in [("balanced", balanced), ("b=3, a=0.25", vec![0.25, 3.0, 1.0])] {
                    let weights: Vec<f64> =
                        (0..120).map(|i| of_classes[codes[i] as usize] * own.map_or(1.0, |own| own[i])).collect();
                    let fit = |settings: &Ridge, weights: Option<&[f64]>| {
                        let examples = Examples::new(rows.features(), &target, weights).unwrap();
                        let (model, _) = settings.fit_examples(&examples, &Run::new()).unwrap();
                        let left_out = settings.leave_one_out_examples(&examples, &Run::new()).unwrap().unwrap();
                        let Prediction::Classes { scores, .. } = left_out else { panic!("there are classes") };
                        (model.coefficients, model.intercept, scores)
                    };
                    let by_class = fit(&Ridge { class_weights: written.into(), ..Ridge::default() }, own);
                    assert!(by_class == fit(&Ridge::default(), Some(&weights)), "{classes} {written}");
                    assert!(by_class != fit(&Ridge::default(), own), "{classes} {written}");
                }
            }
        }
    }

    #[test]
    fn balanced_classes_that_no_column_tells_apart_have_even_chances() {
        // 30 rows against 90, and each of them with the same values: the intercept alone learns.
        let rows = Matrix::column_vector((0..120).map(|i| f64::from(i / 4 % 2)).collect());
        let codes = (0..120).map(|i| u32::from(i % 4 == 0)).collect();
        let target = Target::classes(Classes::of(["often", "rare"]), codes).unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let intercept = |class_weights: &str| {
            let settings = Ridge { class_weights: class_weights.into(), ..Ridge::default() };
            settings.fit_examples(&examples, &Run::new()).unwrap().0.intercept[0]
        };
        // The mean of 30 times +1 and 90 times -1.
        assert!((intercept("none") + 0.5).abs() < 1e-12);
        assert!(intercept("balanced").abs() < 1e-12);
        // 60 of +1 to 90 of -1.
        assert!((intercept("rare=2") + 0.2).abs() < 1e-12);
    }

    #[test]
    fn class_weights_that_mean_nothing_are_refused() {
        let (rows, _, classes) = drawn(2);
        let numbers = Target::numbers(Matrix::column_vector((0..120).map(f64::from).collect())).unwrap();
        let said = |target: &Target, class_weights: &str| {
            let settings = Ridge { class_weights: class_weights.into(), ..Ridge::default() };
            let examples = Examples::new(rows.features(), target, None).unwrap();
            settings.fit_examples(&examples, &Run::new()).err().map(|error| error.to_string())
        };
        assert!(said(&numbers, "balanced").unwrap().contains("the target is a number"));
        assert!(said(&classes, "z=2").unwrap().contains("names 'z', which is no class"));
        assert!(said(&classes, "a:2").unwrap().contains("cannot be read"));
        assert_eq!(said(&numbers, "none"), None);
    }
}
