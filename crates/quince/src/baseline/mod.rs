//! The baseline: what a method must beat to have learnt anything from the features, which it never looks at.
//!
//! For classes it predicts the most frequent one, with the shares of the classes as probabilities; for numbers their
//! mean, or median, or another quantile.

use crate::error::{Error, Result};
use crate::learn::{Examples, Fitted, Learner, Prediction, Target};
use crate::matrix::{Features, Matrix};
use crate::model::Parts;
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Report, Run};
use serde::{Deserialize, Serialize};

/// Predicts without looking at the features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Baseline {
    /// What to predict.
    pub strategy: Strategy,
    /// Which quantile the strategy `quantile` predicts.
    pub quantile: f64,
    /// The label or number that the strategy `constant` predicts.
    pub constant: String,
}

/// What a baseline predicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// `prior` for classes, `mean` for numbers.
    #[default]
    Auto,
    /// Classes: the most frequent one, with the shares of all as probabilities.
    Prior,
    /// Classes: the most frequent one, with probability one.
    MostFrequent,
    /// Classes: all equally likely.
    Uniform,
    /// Numbers: their mean.
    Mean,
    /// Numbers: their median.
    Median,
    /// Numbers: the quantile of the setting `quantile`.
    Quantile,
    /// The label or number of the setting `constant`.
    Constant,
}

impl Default for Baseline {
    fn default() -> Baseline {
        Baseline { strategy: Strategy::Auto, quantile: 0.5, constant: String::new() }
    }
}

impl Learner for Baseline {
    type Fitted = Constant;

    const CARD: Card = Card {
        name: "baseline",
        title: "Baseline",
        summary: "The most frequent class or the mean, whatever the features say: what every method must beat.",
        abilities: &[Ability::Classify, Ability::Regress, Ability::Weights, Ability::Sparse, Ability::SeveralOutputs],
        settings: &[
            Setting {
                name: "strategy",
                allowed: Allowed::Choice(&[
                    "auto",
                    "prior",
                    "most-frequent",
                    "uniform",
                    "mean",
                    "median",
                    "quantile",
                    "constant",
                ]),
                help: "What to predict; auto is prior for classes and mean for numbers.",
            },
            Setting {
                name: "quantile",
                allowed: Allowed::Number(0.0, 1.0),
                help: "Which quantile the strategy quantile predicts.",
            },
            Setting {
                name: "constant",
                allowed: Allowed::Text,
                help: "The label or number that the strategy constant predicts.",
            },
        ],
        python: &["DummyClassifier", "DummyRegressor"],
    };

    fn fit(&self, examples: &Examples<'_>, _run: &Run) -> Result<(Constant, Report)> {
        let (values, route) = match examples.target {
            Target::Classes { classes, codes } => {
                let mut shares = vec![0.0; classes.count()];
                let weight = |i: usize| examples.weights.map_or(1.0, |w| w[i]);
                codes.iter().enumerate().for_each(|(i, &code)| shares[code as usize] += weight(i));
                let total: f64 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= total);
                let (shares, route) = match self.strategy {
                    Strategy::Auto | Strategy::Prior => (shares, "shares of the classes"),
                    Strategy::MostFrequent => {
                        let best = (0..shares.len()).rev().max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
                        (one_hot(shares.len(), best.unwrap_or(0)), "most frequent class")
                    }
                    Strategy::Uniform => (vec![1.0 / shares.len() as f64; shares.len()], "all classes alike"),
                    Strategy::Constant => {
                        let code = classes.code(&self.constant).ok_or_else(|| {
                            Error::setting(
                                "constant",
                                format!("is '{}', which is no class of the target", self.constant),
                                format!("The classes are {}.", classes.names().join(", ")),
                            )
                        })?;
                        (one_hot(shares.len(), code as usize), "a constant class")
                    }
                    _ => return Err(self.wrong_strategy("a target of classes", "prior or most-frequent")),
                };
                (shares, route)
            }
            Target::Numbers(numbers) => {
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
                            Constant { values: vec![number; numbers.columns()], classes: false },
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
            Target::Nothing(_) => return Err(Target::missing()),
        };
        let classes = matches!(examples.target, Target::Classes { .. });
        Ok((Constant { values, classes }, Report::computed(route)))
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
/// weights the smallest value below or at which lies at least a share `q` of the weight, averaged with the next one where
/// the share is met exactly.
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
pub struct Constant {
    values: Vec<f64>,
    classes: bool,
}

impl Constant {
    /// The same numbers for every row, one an output.
    pub fn of_numbers(values: Vec<f64>) -> Constant {
        Constant { values, classes: false }
    }

    /// Probabilities of the classes, or the number of each output.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Fitted for Constant {
    fn predict(&self, rows: &Features<'_>, _run: &Run) -> Result<Prediction> {
        let mut answer = Matrix::zeros(rows.rows(), self.values.len());
        (0..rows.rows()).for_each(|i| answer.row_mut(i).copy_from_slice(&self.values));
        Ok(if self.classes {
            Prediction::Classes { scores: answer.clone(), probabilities: answer }
        } else {
            Prediction::Numbers(answer)
        })
    }

    fn save(&self, parts: &mut Parts) {
        parts.put_vector("values", &self.values);
    }

    fn load(parts: &Parts) -> Result<Constant> {
        let classes = parts.classes();
        let values = parts.vector("values", (classes > 0).then_some(classes))?;
        if values.is_empty() {
            return Err(parts.wrong("the baseline has no values"));
        }
        Ok(Constant { values, classes: classes > 0 })
    }
}
