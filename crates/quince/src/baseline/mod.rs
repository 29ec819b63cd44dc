//! The baseline: what a method must beat to have learnt anything from the features, which it never looks at.
//!
//! For classes it predicts the most frequent one, with the class frequencies as probabilities; for numbers their
//! mean, or median, or another quantile.

use crate::error::{Error, Result};
use crate::learn::{
    Capability, Checked, Domain, Fitted, Learner, MethodInfo, Prediction, SavedParts, Settings, Target, TargetView,
};
use crate::matrix::{Features, Matrix};
use crate::run::{Report, Run};

crate::settings! {
    /// Predicts without looking at the features.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = Baseline::new().fit(&[[0.0], [0.0], [0.0]], &[1.0, 2.0, 6.0])?;
    /// assert_eq!(model.numbers(&[[0.0]])?, [3.0]);
    /// # quince::Result::Ok(())
    /// ```
    pub struct Baseline {
        /// What to predict; auto is prior for classes and mean for numbers.
        strategy: Strategy = Strategy::Auto, in Strategy::DOMAIN;
        /// Which quantile the strategy quantile predicts.
        quantile: f64 = 0.5, in Domain::Number(0.0, 1.0);
        /// The label or number that the strategy constant predicts.
        constant: String = String::new(), in Domain::Text;
    }
}

crate::choices! {
    /// What a baseline predicts.
    pub enum Strategy {
        /// `prior` for classes, `mean` for numbers.
        #[default]
        Auto = "auto",
        /// Classes: the most frequent one, with the frequencies of all as probabilities.
        Prior = "prior",
        /// Classes: the most frequent one, with probability one.
        MostFrequent = "most-frequent",
        /// Classes: all equally likely.
        Uniform = "uniform",
        /// Numbers: their mean.
        Mean = "mean",
        /// Numbers: their median.
        Median = "median",
        /// Numbers: the quantile of the setting `quantile`.
        Quantile = "quantile",
        /// The label or number of the setting `constant`.
        Constant = "constant",
    }
}

impl Learner for Baseline {
    type Fitted = ConstantModel;

    const INFO: MethodInfo = MethodInfo {
        name: "baseline",
        title: "Baseline",
        summary: "The most frequent class or the mean, whatever the features say: what every method must beat.",
        capabilities: &[
            Capability::Classify,
            Capability::Regress,
            Capability::SampleWeights,
            Capability::Sparse,
            Capability::MultiOutput,
        ],
        settings: Self::SETTINGS,
        python: &["DummyClassifier", "DummyRegressor"],
    };

    fn fit_checked(&self, examples: &Checked<'_>, _run: &Run) -> Result<(ConstantModel, Report)> {
        let (values, route) = match examples.target.view() {
            TargetView::Classes { classes, codes } => {
                let mut frequencies = vec![0.0; classes.count()];
                let weight = |i: usize| examples.weights.map_or(1.0, |w| w[i]);
                codes.iter().enumerate().for_each(|(i, &code)| frequencies[code as usize] += weight(i));
                let total: f64 = frequencies.iter().sum();
                frequencies.iter_mut().for_each(|frequency| *frequency /= total);
                let (frequencies, route) = match self.strategy {
                    Strategy::Auto | Strategy::Prior => (frequencies, "class frequencies"),
                    Strategy::MostFrequent => {
                        let best =
                            (0..frequencies.len()).rev().max_by(|&a, &b| frequencies[a].total_cmp(&frequencies[b]));
                        (one_hot(frequencies.len(), best.unwrap_or(0)), "most frequent class")
                    }
                    Strategy::Uniform => (vec![1.0 / frequencies.len() as f64; frequencies.len()], "all classes alike"),
                    Strategy::Constant => {
                        let code = classes.code(&self.constant).ok_or_else(|| {
                            Error::setting(
                                "constant",
                                format!("is '{}', which is no class of the target", self.constant),
                                format!("The classes are {}.", classes.names().join(", ")),
                            )
                        })?;
                        (one_hot(frequencies.len(), code as usize), "a constant class")
                    }
                    _ => return Err(self.wrong_strategy("a target of classes", "prior or most-frequent")),
                };
                (frequencies, route)
            }
            TargetView::Numbers(numbers) => {
                let (quantile, route) = match self.strategy {
                    Strategy::Auto | Strategy::Mean => (None, "mean"),
                    Strategy::Median => (Some(0.5), "median"),
                    Strategy::Quantile => (Some(self.quantile), "quantile"),
                    Strategy::Constant => {
                        let number = self.constant.parse::<f64>().ok().filter(|n| n.is_finite());
                        let number = number.ok_or_else(|| {
                            let problem = format!("is '{}', which is not a number", self.constant);
                            Error::setting("constant", problem, "Give the number to predict.")
                        })?;
                        return Ok((
                            ConstantModel { values: vec![number; numbers.columns()], classes: false },
                            Report::computed("a constant number"),
                        ));
                    }
                    _ => return Err(self.wrong_strategy("a target of numbers", "mean or median")),
                };
                let of_column = |k: usize| {
                    let column = numbers.column(k);
                    match quantile {
                        None => weighted_mean(&column, examples.weights),
                        Some(q) => weighted_quantile(&column, examples.weights, q),
                    }
                };
                ((0..numbers.columns()).map(of_column).collect(), route)
            }
            TargetView::None(_) => return Err(Target::missing()),
        };
        let classes = matches!(examples.target.view(), TargetView::Classes { .. });
        Ok((ConstantModel { values, classes }, Report::computed(route)))
    }
}

impl Baseline {
    fn wrong_strategy(&self, target: &str, remedy: &str) -> Error {
        let name = serde_json::to_value(self.strategy).unwrap_or_default();
        let name = name.as_str().unwrap_or_default();
        Error::setting("strategy", format!("cannot be {name} for {target}"), format!("Use {remedy}."))
    }
}

fn one_hot(length: usize, one: usize) -> Vec<f64> {
    (0..length).map(|k| f64::from(u8::from(k == one))).collect()
}

fn weighted_mean(values: &[f64], weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..values.len()).map(weight).sum();
    let sum: f64 = values.iter().enumerate().map(|(i, v)| weight(i) * v).sum();
    if sum.is_finite() {
        return sum / total;
    }
    // The sum of very large numbers overflows where their mean does not.
    values.iter().enumerate().map(|(i, v)| weight(i) / total * v).sum()
}

/// Without weights the quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); with
/// weights the smallest value below or at which lies at least a fraction `q` of the weight, averaged with the next one where
/// the fraction is met exactly.
fn weighted_quantile(values: &[f64], weights: Option<&[f64]>, q: f64) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let Some(weights) = weights else {
        let sorted: Vec<f64> = order.iter().map(|&i| values[i]).collect();
        return crate::numbers::quantile(&sorted, q);
    };
    order.retain(|&i| weights[i] > 0.0);
    let total: f64 = order.iter().map(|&i| weights[i]).sum();
    let mut below = 0.0;
    for (k, &i) in order.iter().enumerate() {
        below += weights[i];
        if below > q * total {
            return values[i];
        }
        if below == q * total {
            return 0.5 * (values[i] + values[order[(k + 1).min(order.len() - 1)]]);
        }
    }
    order.last().map_or(f64::NAN, |&i| values[i])
}

/// The same answer for every row: class probabilities, or numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantModel {
    values: Vec<f64>,
    classes: bool,
}

impl ConstantModel {
    /// The same probabilities of the classes for every row.
    pub fn of_classes(probabilities: Vec<f64>) -> Result<ConstantModel> {
        let total: f64 = probabilities.iter().sum();
        if !probabilities.iter().all(|p| (0.0..=1.0).contains(p)) || (total - 1.0).abs() > 1e-9 {
            let problem = "these are no probabilities of classes";
            return Err(Error::data(problem, "Give each class a number from 0 to 1; together they are 1."));
        }
        Ok(ConstantModel { values: probabilities, classes: true })
    }

    /// The same numbers for every row, one per output.
    pub fn of_numbers(values: Vec<f64>) -> ConstantModel {
        ConstantModel { values, classes: false }
    }

    /// Probabilities of the classes, or the number of each output.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Fitted for ConstantModel {
    fn predict_checked(&self, rows: &Features<'_>, _run: &Run) -> Result<Prediction> {
        let mut answer = Matrix::zeros(rows.rows(), self.values.len());
        (0..rows.rows()).for_each(|i| answer.row_mut(i).copy_from_slice(&self.values));
        Ok(if self.classes {
            Prediction::Classes { scores: answer.clone(), probabilities: answer }
        } else {
            Prediction::Numbers(answer)
        })
    }

    fn save(&self, parts: &mut SavedParts) {
        parts.put_vector("values", &self.values);
    }

    fn load(parts: &SavedParts) -> Result<ConstantModel> {
        let classes = parts.classes();
        let values = parts.vector("values", (classes > 0).then_some(classes))?;
        if values.is_empty() {
            return Err(parts.wrong("the baseline has no values"));
        }
        Ok(ConstantModel { values, classes: classes > 0 })
    }
}
