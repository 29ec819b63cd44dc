//! What a method is: settings that can be fitted, and a fitted thing that can predict.
//!
//! A method's settings struct *is* the learner: `Ridge { alpha: 0.1, ..Ridge::default() }`. It implements [`Learner`];
//! what it learns implements [`Fitted`]. Settings and fitted models are different types, so nothing can predict before
//! it was fitted. [`Learn`] is the same as a trait object, for code that knows a method by its name only.

use crate::encode::{Encoder, Scheme};
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::family::Completed;
use crate::matrix::{Features, Matrix};
use crate::model::Parts;
use crate::registry::{Ability, Card};
use crate::run::{Report, Run};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::Any;

/// The class labels of a target, sorted once: as numbers if all are numbers, as text otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes(Vec<String>);

impl Classes {
    /// Sorts the distinct labels.
    pub fn of<'a>(labels: impl IntoIterator<Item = &'a str>) -> Classes {
        let distinct: std::collections::BTreeSet<&str> = labels.into_iter().collect();
        let mut names: Vec<String> = distinct.into_iter().map(str::to_string).collect();
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        if numbers.is_some() {
            let number = |name: &String| name.parse::<f64>().unwrap_or(f64::NAN);
            names.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        Classes(names)
    }

    /// The labels in order.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// How many classes there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The number of the class with this label.
    pub fn code(&self, label: &str) -> Option<u32> {
        self.0.iter().position(|name| name == label).map(|code| code as u32)
    }
}

/// What is to be learnt: a class for each row, or one or more numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A class number for each row.
    Classes {
        /// The labels.
        classes: Classes,
        /// The class number of each row; [`Target::UNKNOWN`] where it is not known, which some methods can learn from.
        codes: Vec<u32>,
    },
    /// A row of numbers for each row: one column an output.
    Numbers(Matrix),
    /// Nothing: groups of so many rows are to be found.
    Nothing(usize),
}

impl Target {
    /// Stands for the class of a row that has none.
    pub const UNKNOWN: u32 = u32::MAX;

    /// Whether some rows have no class.
    pub fn has_unknown(&self) -> bool {
        matches!(self, Target::Classes { codes, .. } if codes.contains(&Target::UNKNOWN))
    }

    /// An error if some rows have no class: there is nothing to measure an answer by.
    pub(crate) fn check_known(&self) -> Result<()> {
        let problem = "some rows have no class to measure an answer by";
        if self.has_unknown() { Err(Error::data(problem, "Leave them out.")) } else { Ok(()) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Target::Classes { codes, .. } => codes.len(),
            Target::Numbers(numbers) => numbers.rows(),
            Target::Nothing(rows) => *rows,
        }
    }

    /// The rows with these numbers, in this order. Classes keep their numbers even if one no longer occurs.
    pub fn take(&self, rows: &[usize]) -> Target {
        match self {
            Target::Classes { classes, codes } => {
                Target::Classes { classes: classes.clone(), codes: rows.iter().map(|&i| codes[i]).collect() }
            }
            Target::Numbers(numbers) => Target::Numbers(numbers.take_rows(rows)),
            Target::Nothing(_) => Target::Nothing(rows.len()),
        }
    }

    /// The error of a learner that needs a target and has none.
    pub(crate) fn missing() -> Error {
        Error::data("there is no target to learn", "Give every row a class or a number.")
    }

    /// Classes, numbers or groups.
    pub fn task(&self) -> Task {
        match self {
            Target::Classes { .. } => Task::Classification,
            Target::Numbers(_) => Task::Regression,
            Target::Nothing(_) => Task::Clustering,
        }
    }
}

/// What a target asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// The target is a class.
    Classification,
    /// The target is a number.
    Regression,
    /// There is no target: rows are put into groups.
    Clustering,
}

/// Rows to learn from: features, target and, if rows do not count alike, weights.
#[derive(Clone, Copy, Debug)]
pub struct Examples<'a> {
    /// What is known of each row.
    pub features: Features<'a>,
    /// What is to be learnt.
    pub target: &'a Target,
    /// How much each row counts; `None` if all count alike.
    pub weights: Option<&'a [f64]>,
    /// What made the features, where they come from a table: it knows their names.
    pub encoder: Option<&'a Encoder>,
}

impl<'a> Examples<'a> {
    /// Checks that everything speaks of the same rows and that weights are numbers of at least zero.
    pub fn new(features: Features<'a>, target: &'a Target, weights: Option<&'a [f64]>) -> Result<Examples<'a>> {
        let rows = features.rows();
        if rows == 0 {
            return Err(Error::data("there are no rows to learn from", "Give at least one row."));
        }
        if target.rows() != rows {
            return Err(Error::data(
                format!("there are {rows} rows of features and {} of the target", target.rows()),
                "Give the target one entry for each row.",
            ));
        }
        if let Some(weights) = weights {
            check_weights(weights, rows)?;
        }
        Ok(Examples { features, target, weights, encoder: None })
    }

    /// What the features are columns of, and whether they are a matrix, whose columns have no kinds.
    pub(crate) fn scheme(&self) -> (Scheme, bool) {
        match self.encoder {
            Some(encoder) => (encoder.scheme(), encoder.is_identity()),
            None => (Scheme::of_matrix(&self.features, &[]), true),
        }
    }

    /// The same, knowing what made the features.
    pub fn encoded_by(self, encoder: &'a Encoder) -> Examples<'a> {
        Examples { encoder: Some(encoder), ..self }
    }
}

/// How many of something: so many, or as many as the data suggest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Count {
    /// As many as the data suggest.
    #[default]
    Auto,
    /// So many.
    Fixed(usize),
}

impl TryFrom<Value> for Count {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Count, String> {
        match value.as_u64() {
            Some(count) => Ok(Count::Fixed(count as usize)),
            None if value == "auto" => Ok(Count::Auto),
            None => Err(format!("{value} is neither a whole number nor auto")),
        }
    }
}

impl From<Count> for Value {
    fn from(count: Count) -> Value {
        match count {
            Count::Auto => Value::from("auto"),
            Count::Fixed(count) => Value::from(count),
        }
    }
}

/// Weights must be one for each row, at least zero, and add up to something finite above zero.
pub(crate) fn check_weights(weights: &[f64], rows: usize) -> Result<()> {
    if weights.len() != rows {
        return Err(Error::data(
            format!("there are {rows} rows and {} weights", weights.len()),
            "Give every row one weight.",
        ));
    }
    if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(Error::data(
            format!("the weight of row {} is {}", i + 1, weights[i]),
            "Weights are numbers of at least zero.",
        ));
    }
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(Error::data("all weights are zero", "Give at least one row a positive weight."));
    }
    if !total.is_finite() {
        return Err(Error::data("the weights are too large to add up", "Divide them all by the same number."));
    }
    Ok(())
}

/// What a fitted model says about rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// Scores and probabilities, a column a class.
    Classes {
        /// The method's own scores: the larger, the likelier. The label is the first class with the largest.
        scores: Matrix,
        /// Probabilities that sum to one in each row and agree with the scores on the label.
        probabilities: Matrix,
    },
    /// Predicted numbers, a column an output.
    Numbers(Matrix),
    /// The group of each row, and its distance from the centre of each group.
    Clusters {
        /// The number of the nearest centre, on a tie the first.
        labels: Vec<u32>,
        /// Distances, a column a group.
        distances: Matrix,
    },
    /// How much of each row is of each component of a mixture, and how likely the row is.
    Shares {
        /// They sum to one in each row; the label is the first component with the largest.
        shares: Matrix,
        /// The logarithm of the density of each row under all components: the smaller, the stranger the row.
        log_densities: Vec<f64>,
    },
    /// How much each row is like those that were learnt: below zero it is novel.
    Novelty {
        /// A number a row.
        scores: Vec<f64>,
    },
}

impl Prediction {
    /// The predicted classes (the largest score, on a tie the class that comes first) or groups; of novelty 1 for novel rows and 0
    /// for others. Empty for numbers.
    pub fn labels(&self) -> Vec<u32> {
        match self {
            Prediction::Classes { scores, .. } => (0..scores.rows()).map(|i| largest(scores.row(i))).collect(),
            Prediction::Numbers(_) => Vec::new(),
            Prediction::Clusters { labels, .. } => labels.clone(),
            Prediction::Shares { shares, .. } => (0..shares.rows()).map(|i| largest(shares.row(i))).collect(),
            Prediction::Novelty { scores } => scores.iter().map(|score| u32::from(*score < 0.0)).collect(),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Prediction::Classes { scores, .. } => scores.rows(),
            Prediction::Numbers(numbers) => numbers.rows(),
            Prediction::Clusters { labels, .. } => labels.len(),
            Prediction::Shares { shares, .. } => shares.rows(),
            Prediction::Novelty { scores } => scores.len(),
        }
    }

    /// Whether every number in it is finite (the score of a class that cannot be is -∞): a model whose answer is not must not
    /// leave the house.
    pub(crate) fn is_finite(&self) -> bool {
        let finite = |matrix: &Matrix| matrix.values().iter().all(|value| value.is_finite());
        match self {
            Prediction::Classes { scores, probabilities } => {
                scores.values().iter().all(|score| *score < f64::INFINITY) && finite(probabilities)
            }
            Prediction::Numbers(numbers) => finite(numbers),
            Prediction::Clusters { distances, .. } => finite(distances),
            Prediction::Shares { shares, log_densities } => {
                finite(shares) && log_densities.iter().all(|density| *density < f64::INFINITY)
            }
            Prediction::Novelty { scores } => scores.iter().all(|score| score.is_finite()),
        }
    }
}

/// The place of the largest number, the first of several.
pub(crate) fn largest(values: &[f64]) -> u32 {
    let (mut best, mut most) = (0, values.first().copied().unwrap_or(0.0));
    for (k, &value) in values.iter().enumerate() {
        // Both are chosen without a branch, which would be guessed wrongly every other time.
        let larger = value > most;
        best = if larger { k as u32 } else { best };
        most = if larger { value } else { most };
    }
    best
}

/// A row that a model has drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Its class.
    pub class: usize,
    /// Its dense features; NaN where the model says nothing.
    pub dense: Vec<f64>,
    /// Of each sparse column its first place, and the places in the order in which they were drawn.
    pub sequences: Vec<(usize, Vec<usize>)>,
}

/// Settings of a method, ready to be fitted.
pub trait Learner: Serialize + DeserializeOwned + Default + Clone + Send + Sync + 'static {
    /// What comes out.
    type Fitted: Fitted;

    /// Name, summary, abilities and settings, for the registry.
    const CARD: Card;

    /// Learns from examples.
    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(Self::Fitted, Report)>;

    /// Goes on from where a fit to the same examples has ended, which a budget may have cut short; `None` if the method has to
    /// start anew.
    fn resume(
        &self,
        _from: &Self::Fitted,
        _examples: &Examples<'_>,
        _run: &Run,
    ) -> Result<Option<(Self::Fitted, Report)>> {
        Ok(None)
    }

    /// The prediction for every row by the model learnt without it, where algebra gives that without refitting.
    fn leave_one_out(&self, _examples: &Examples<'_>, _run: &Run) -> Result<Option<Prediction>> {
        Ok(None)
    }
}

/// What a method has learnt. Its own type is found again by [`Model::fitted`](crate::Model::fitted).
pub trait Fitted: Any + Send + Sync {
    /// Predicts for every row.
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction>;

    /// What one should know of the model, in sentences: what a report says when it has learnt on.
    fn remarks(&self, _classes: &[String]) -> Vec<String> {
        Vec::new()
    }

    /// How many groups it puts rows into; none of a method that knows no groups.
    fn groups(&self) -> usize {
        0
    }

    /// The same with more rows learnt from; `None` if the method has to start anew.
    fn updated(&self, _more: &Examples<'_>, _run: &Run) -> Result<Option<Box<dyn Fitted>>> {
        Ok(None)
    }

    /// What the model has learnt, as a person reads it; `None` if the method cannot say. `encoder` knows the names of features.
    fn explain(&self, _encoder: &Encoder, _classes: &[String]) -> Option<Explanation> {
        None
    }

    /// What spoke for the answer to a row; `None` if the method cannot say.
    fn explain_row(&self, _row: &Features<'_>, _encoder: &Encoder, _classes: &[String]) -> Result<Option<Explanation>> {
        Ok(None)
    }

    /// Fills the holes of rows with what the rest of the row, and its class where that is known, leads to expect; `None` if the
    /// method does not say how rows come about.
    fn complete(&self, _rows: &Features<'_>, _classes: Option<&[u32]>, _run: &Run) -> Result<Option<Completed>> {
        Ok(None)
    }

    /// Draws rows, of one class only if that is given; `None` if the method does not say how rows come about.
    fn sample(&self, _count: usize, _class: Option<usize>, _run: &Run) -> Result<Option<Vec<Drawn>>> {
        Ok(None)
    }

    /// Puts all numbers of the model into named arrays.
    fn save(&self, parts: &mut Parts);

    /// Takes them out again, checking that they fit together.
    fn load(parts: &Parts) -> Result<Self>
    where
        Self: Sized;
}

/// A [`Learner`] whose type is not known: what the registry hands out.
pub trait Learn: Send + Sync {
    /// The method's registry card.
    fn card(&self) -> &'static Card;

    /// All settings, by name.
    fn settings(&self) -> Value;

    /// Learns from examples.
    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(Box<dyn Fitted>, Report)>;

    /// See [`Learner::resume`].
    fn resume(
        &self,
        _from: &dyn Fitted,
        _examples: &Examples<'_>,
        _run: &Run,
    ) -> Result<Option<(Box<dyn Fitted>, Report)>> {
        Ok(None)
    }

    /// See [`Learner::leave_one_out`].
    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>>;
}

impl<L: Learner> Learn for L {
    fn card(&self) -> &'static Card {
        const { &L::CARD }
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(Box<dyn Fitted>, Report)> {
        L::CARD.check(&self.settings())?;
        if examples.target.has_unknown() && !L::CARD.can(Ability::Unlabelled) {
            return Err(Error::data(
                format!("some rows have no class, which '{}' cannot learn from", L::CARD.name),
                "Leave them out, or use mixture.",
            ));
        }
        let (fitted, report) = named(L::fit(self, examples, run), L::CARD.name)?;
        Ok((Box::new(fitted), report))
    }

    fn resume(
        &self,
        from: &dyn Fitted,
        examples: &Examples<'_>,
        run: &Run,
    ) -> Result<Option<(Box<dyn Fitted>, Report)>> {
        L::CARD.check(&self.settings())?;
        let Some(from) = (from as &dyn Any).downcast_ref::<L::Fitted>() else { return Ok(None) };
        let resumed = named(L::resume(self, from, examples, run), L::CARD.name)?;
        Ok(resumed.map(|(fitted, report)| (Box::new(fitted) as Box<dyn Fitted>, report)))
    }

    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        L::CARD.check(&self.settings())?;
        named(L::leave_one_out(self, examples, run), L::CARD.name)
    }
}

/// Names the method in an error that a budget caused.
pub(crate) fn named<T>(result: Result<T>, method: &str) -> Result<T> {
    result.map_err(|error| match error {
        Error::OutOfTime { .. } => Error::OutOfTime { what: method.to_string() },
        other => other,
    })
}
