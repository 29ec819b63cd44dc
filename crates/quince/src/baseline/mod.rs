//! The baseline: what a method must beat to have learnt anything from the features, which it never looks at.
//!
//! For classes it predicts the most frequent one, with the class frequencies as probabilities; for numbers their
//! mean, or median, or another quantile.

use crate::error::{Error, Result};
use crate::learn::{
    Capability, Checked, Classes, Domain, Fitted, Learner, MethodInfo, Prediction, SavedParts, Settings, Target,
    TargetView,
};
use crate::matrix::{Features, Matrix};
use crate::run::{Report, Run, Stream};
use serde::{Deserialize, Serialize};

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
        /// Classes: drawn at random, all equally likely.
        Uniform = "uniform",
        /// Classes: drawn at random with the frequencies of the training rows, and taken as certain.
        Stratified = "stratified",
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

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(ConstantModel, Report)> {
        let (values, route) = match examples.target.view() {
            TargetView::Classes { classes, codes } => self.probabilities(classes, codes, examples.weights)?,
            TargetView::Numbers(numbers) => self.numbers(numbers, examples.weights)?,
            TargetView::None(_) => return Err(Target::missing()),
        };
        let classes = matches!(examples.target.view(), TargetView::Classes { .. });
        let draw = match self.strategy {
            Strategy::Uniform => Draw::Label { seed: run.seed_value() },
            Strategy::Stratified => Draw::Certain { seed: run.seed_value() },
            _ => Draw::Never,
        };
        Ok((ConstantModel { values, classes, draw }, Report::computed(route)))
    }
}

impl Baseline {
    /// The probability of each class, and how it was found.
    fn probabilities(
        &self,
        classes: &Classes,
        codes: &[u32],
        weights: Option<&[f64]>,
    ) -> Result<(Vec<f64>, &'static str)> {
        let mut frequencies = vec![0.0; classes.count()];
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        codes.iter().enumerate().for_each(|(i, &code)| frequencies[code as usize] += weight(i));
        let total: f64 = frequencies.iter().sum();
        frequencies.iter_mut().for_each(|frequency| *frequency /= total);
        let count = frequencies.len();
        Ok(match self.strategy {
            Strategy::Auto | Strategy::Prior => (frequencies, "class frequencies"),
            Strategy::MostFrequent => {
                let best = (0..count).rev().max_by(|&a, &b| frequencies[a].total_cmp(&frequencies[b]));
                (one_hot(count, best.unwrap_or(0)), "most frequent class")
            }
            Strategy::Uniform => (vec![1.0 / count as f64; count], "classes drawn, all alike"),
            Strategy::Stratified => (frequencies, "classes drawn by their frequencies"),
            Strategy::Constant => {
                let code = classes.code_of_spelling(&self.constant).ok_or_else(|| {
                    let problem = format!("is '{}', which is no class of the target", self.constant);
                    Error::setting("constant", problem, format!("The classes are {}.", classes.names().join(", ")))
                })?;
                (one_hot(count, code as usize), "a constant class")
            }
            _ => return Err(self.wrong_strategy("a target of classes", "prior or most-frequent")),
        })
    }

    /// One number per output, and how it was found.
    fn numbers(&self, numbers: &Matrix, weights: Option<&[f64]>) -> Result<(Vec<f64>, &'static str)> {
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
                return Ok((vec![number; numbers.columns()], "a constant number"));
            }
            _ => return Err(self.wrong_strategy("a target of numbers", "mean or median")),
        };
        let of_column = |k: usize| {
            let column = numbers.column(k);
            match quantile {
                None => weighted_mean(&column, weights),
                Some(q) => weighted_quantile(&column, weights, q),
            }
        };
        Ok(((0..numbers.columns()).map(of_column).collect(), route))
    }

    fn wrong_strategy(&self, target: &str, remedy: &str) -> Error {
        let problem = format!("cannot be {} for {target}", self.strategy.name());
        Error::setting("strategy", problem, format!("Use {remedy}."))
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
    let Some(weights) = weights else {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        return crate::numbers::quantile(&sorted, q);
    };
    crate::numbers::weighted_quantile(values, weights, q)
}

/// The same answer for every row, class probabilities or numbers; or labels that are drawn.
///
/// ```
/// use quince::Matrix;
/// use quince::baseline::ConstantModel;
/// use quince::learn::{Fitted, Prediction};
/// let model = ConstantModel::of_numbers(vec![3.0]);
/// let answer = model.predict(&Matrix::zeros(2, 1).features(), &quince::Run::new())?;
/// assert_eq!(answer, Prediction::Numbers(Matrix::column_vector(vec![3.0, 3.0])));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantModel {
    values: Vec<f64>,
    classes: bool,
    draw: Draw,
}

/// Whether labels are drawn by the probabilities. The label of a row follows from the seed and its place among the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Draw {
    /// The most probable label is predicted.
    #[default]
    Never,
    /// Labels are drawn; the probabilities stay.
    Label {
        /// What they are drawn from.
        seed: u64,
    },
    /// Labels are drawn, and have the probability one.
    Certain {
        /// What they are drawn from.
        seed: u64,
    },
}

impl ConstantModel {
    /// The same probabilities of the classes for every row.
    pub fn of_classes(probabilities: Vec<f64>) -> Result<ConstantModel> {
        let total: f64 = probabilities.iter().sum();
        if !probabilities.iter().all(|p| (0.0..=1.0).contains(p)) || (total - 1.0).abs() > 1e-9 {
            let problem = "these are no probabilities of classes";
            return Err(Error::data(problem, "Give each class a number from 0 to 1; together they are 1."));
        }
        Ok(ConstantModel { values: probabilities, classes: true, draw: Draw::Never })
    }

    /// The same numbers for every row, one per output.
    pub fn of_numbers(values: Vec<f64>) -> ConstantModel {
        ConstantModel { values, classes: false, draw: Draw::Never }
    }

    /// The same with labels that are drawn.
    pub fn drawing(self, draw: Draw) -> ConstantModel {
        ConstantModel { draw, ..self }
    }

    /// Probabilities of the classes, or the number of each output.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether labels are drawn.
    pub fn draw(&self) -> Draw {
        self.draw
    }

    /// Ones for classes that are drawn by the probabilities, one per row.
    fn drawn(&self, rows: usize, seed: u64) -> Matrix {
        let mut stream = Stream::new(seed, 0xba5e);
        let mut drawn = Matrix::zeros(rows, self.values.len());
        let last = self.values.iter().rposition(|p| *p > 0.0).unwrap_or(0);
        for i in 0..rows {
            let mut left = stream.uniform();
            let class = self.values.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            drawn[(i, class.unwrap_or(last))] = 1.0;
        }
        drawn
    }
}

impl Fitted for ConstantModel {
    fn predict_rows(&self, rows: &Features<'_>, _run: &Run) -> Result<Prediction> {
        let mut answer = Matrix::zeros(rows.rows(), self.values.len());
        (0..rows.rows()).for_each(|i| answer.row_mut(i).copy_from_slice(&self.values));
        if !self.classes {
            return Ok(Prediction::Numbers(answer));
        }
        Ok(match self.draw {
            Draw::Never => Prediction::Classes { scores: answer.clone(), probabilities: answer },
            Draw::Label { seed } => {
                Prediction::Classes { scores: self.drawn(rows.rows(), seed), probabilities: answer }
            }
            Draw::Certain { seed } => {
                let drawn = self.drawn(rows.rows(), seed);
                Prediction::Classes { scores: drawn.clone(), probabilities: drawn }
            }
        })
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_vector("values", &self.values);
        if self.draw != Draw::Never {
            parts.put_json("draw", &self.draw);
        }
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<ConstantModel> {
        let classes = parts.classes();
        let values = parts.take_vector("values", (classes > 0).then_some(classes))?;
        if values.is_empty() {
            return Err(parts.wrong("the baseline has no values"));
        }
        let draw = if parts.has("draw") { parts.take_json("draw")? } else { Draw::Never };
        Ok(ConstantModel { values, classes: classes > 0, draw })
    }
}
