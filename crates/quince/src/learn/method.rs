//! The description of a method: its name, its capabilities, and its settings with their domains.

use super::examples::Examples;
use super::target::{Target, TargetView, Task};
use crate::error::{Error, Result};
use crate::numbers::number_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// The description of a method: what the registry shows.
///
/// ```
/// use quince::learn::{Capability, Learner, Task};
/// use quince::prelude::Svm;
/// assert!(Svm::INFO.can(Capability::TwoClasses) && Svm::INFO.learns(Task::Regression));
/// assert!(Svm::INFO.setting("kernel").is_some_and(|kernel| kernel.help.starts_with("The kernel")));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo {
    /// The name on the command line and in saved models.
    pub name: &'static str,
    /// The name in a heading.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its capabilities.
    pub capabilities: &'static [Capability],
    /// Its settings, in the order of the struct.
    pub settings: &'static [Setting],
    /// The classes of the Python package that stand on it.
    pub python: &'static [&'static str],
}

impl MethodInfo {
    /// Whether the method can do this.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Whether the method can learn this kind of target.
    pub fn learns(&self, task: Task) -> bool {
        self.can(match task {
            Task::Classification => Capability::Classify,
            Task::Regression => Capability::Regress,
            Task::Clustering => return self.can(Capability::Cluster) || self.can(Capability::Novelty),
        })
    }

    /// Whether it is compared with others where no method is named: all that learn this target, but for those that want to be asked
    /// for.
    pub fn is_compared(&self, target: &Target) -> bool {
        self.learns(target.task()) && self.why_not_compared(target).is_none()
    }

    /// Why it is not compared with others where no method is named, though it learns this kind of target.
    pub fn why_not_compared(&self, target: &Target) -> Option<String> {
        if !self.learns(target.task()) {
            return None;
        }
        match target.view() {
            TargetView::Classes { classes, .. } if classes.count() > 2 && self.can(Capability::TwoClasses) => {
                Some(format!("learns two classes, and the target has {}", classes.count()))
            }
            _ => self.can(Capability::OnRequest).then(|| "is compared on request".into()),
        }
    }

    /// The setting with this name.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// Checks every value against its range.
    pub(crate) fn check(&self, settings: &Value) -> Result<()> {
        for setting in self.settings {
            setting.check(&PlainValue::from(&settings[setting.name]))?;
        }
        Ok(())
    }

    /// An error if the method cannot learn from these examples: what every fit asks first. Only NaN and infinity are left for a
    /// method without missing values to find, since looking for them is a pass over the data that most can spare.
    pub(crate) fn check_examples(&self, examples: &Examples<'_>) -> Result<()> {
        self.check_task(examples.target)?;
        self.check_target(examples.target)?;
        if examples.weights.is_some() && !self.can(Capability::SampleWeights) {
            return Err(Error::data(
                format!("'{}' takes no sample weights", self.name),
                "Leave the weights out, or choose a method that takes them.",
            ));
        }
        if examples.features.sparse_part().is_some() && !self.can(Capability::Sparse) {
            return Err(Error::data(
                format!("'{}' takes no sparse rows", self.name),
                "Give every value of the rows, or choose a method that takes sparse ones.",
            ));
        }
        Ok(())
    }

    /// An error if the method does not learn this kind of target.
    fn check_task(&self, target: &Target) -> Result<()> {
        let task = target.task();
        if self.learns(task) {
            return Ok(());
        }
        let what = match task {
            Task::Classification => "classes",
            Task::Regression => "numbers",
            Task::Clustering => "clusters",
        };
        let remedy = if self.can(Capability::Novelty) {
            "It finds novel rows: leave the target out."
        } else if self.can(Capability::Cluster) && !self.can(Capability::Classify) {
            "It finds clusters: leave the target out."
        } else if task == Task::Clustering {
            "Give every row a class or a number, or choose a method that finds clusters."
        } else {
            "Choose a method that learns them."
        };
        Err(Error::data(format!("'{}' does not learn {what}", self.name), remedy))
    }

    /// An error if the method does not learn from a target with so many classes or outputs, or without some labels.
    fn check_target(&self, target: &Target) -> Result<()> {
        if target.has_unknown() && !self.can(Capability::SemiSupervised) {
            return Err(Error::data(
                format!("some rows have no class, which '{}' cannot learn from", self.name),
                "Leave them out, or use mixture.",
            ));
        }
        match target.view() {
            TargetView::Numbers(numbers) if numbers.columns() > 1 && !self.can(Capability::MultiOutput) => {
                Err(Error::data(
                    format!("'{}' learns one number, and the target has {}", self.name, numbers.columns()),
                    "Learn the outputs one at a time.",
                ))
            }
            TargetView::Classes { codes, .. } if codes.iter().all(|&code| code == Target::UNKNOWN) => {
                Err(Error::data("no row has a class", "Give at least some rows a class."))
            }
            TargetView::Classes { classes, .. } if classes.count() > 2 && self.can(Capability::TwoClasses) => {
                Err(Error::data(
                    format!("'{}' learns two classes, and the target has {}", self.name, classes.count()),
                    "Choose another method, or join classes.",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// A capability of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Capability {
    /// Learns classes.
    Classify,
    /// Learns no more than two classes.
    TwoClasses,
    /// Learns numbers.
    Regress,
    /// Rows may have weights (`sample_weight`).
    SampleWeights,
    /// Sparse features stay sparse.
    Sparse,
    /// Learns several numbers at once.
    MultiOutput,
    /// Leave-one-out predictions without refitting.
    ExactLeaveOneOut,
    /// Finds clusters; there is no target.
    Cluster,
    /// Finds novel rows (outliers); there is no target.
    Novelty,
    /// Takes rows with missing values, which need not be imputed.
    MissingValues,
    /// Semi-supervised: learns from rows without a class beside those that have one.
    SemiSupervised,
    /// Takes native columns: categories as codes, words as counts, numbers unscaled, missing values kept.
    NativeColumns,
    /// Is compared with other methods only where it is named.
    OnRequest,
}

impl Capability {
    /// The capability in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Classify => "classes",
            Capability::TwoClasses => "two classes only",
            Capability::Regress => "numbers",
            Capability::SampleWeights => "sample weights",
            Capability::Sparse => "sparse",
            Capability::MultiOutput => "several outputs",
            Capability::ExactLeaveOneOut => "exact leave-one-out",
            Capability::Cluster => "clusters",
            Capability::Novelty => "novelty",
            Capability::MissingValues => "missing values",
            Capability::SemiSupervised => "semi-supervised",
            Capability::NativeColumns => "native columns",
            Capability::OnRequest => "on request",
        }
    }
}

/// A setting: its name, its domain, what it does. The default is that of the settings struct.
///
/// ```
/// use quince::learn::PlainValue;
/// use quince::registry;
/// let alpha = registry::method("ridge")?.info.setting("alpha").unwrap();
/// assert_eq!(alpha.domain.to_string(), "a number of at least 0");
/// assert!(alpha.check(&PlainValue::Number(2.0)).is_ok() && alpha.check(&PlainValue::Number(-1.0)).is_err());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The name, as in the struct.
    pub name: &'static str,
    /// The values it takes.
    pub domain: Domain,
    /// What it does, in a sentence.
    pub help: &'static str,
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Domain {
    /// true or false.
    Boolean,
    /// A number from the first to the second, both included.
    Number(f64, f64),
    /// A number from the first to the second, both included, or one of these words.
    NumberOr(f64, f64, &'static [&'static str]),
    /// A whole number of at least this.
    Integer(u64),
    /// A whole number of at least this, or `auto`.
    IntegerOrAuto(u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// A text that a parser of its own reads.
    Parsed(Parser),
}

/// A parser of texts.
#[derive(Clone, Copy)]
pub struct Parser {
    /// What it takes, in a few words.
    pub takes: &'static str,
    /// An error, with a remedy, if a text cannot be read.
    pub check: fn(&str) -> Result<()>,
}

impl PartialEq for Parser {
    fn eq(&self, other: &Parser) -> bool {
        self.takes == other.takes
    }
}

impl std::fmt::Debug for Parser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.takes)
    }
}

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Domain::Boolean => f.write_str("true or false"),
            Domain::Number(least, most) => write!(f, "{}", number_between(*least, *most)),
            Domain::NumberOr(least, most, words) => {
                write!(f, "{}, or {}", number_between(*least, *most), words.join(" or "))
            }
            Domain::Integer(least) => write!(f, "a whole number of at least {least}"),
            Domain::IntegerOrAuto(least) => write!(f, "a whole number of at least {least}, or auto"),
            Domain::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Domain::Text => f.write_str("any text"),
            Domain::Parsed(parser) => f.write_str(parser.takes),
        }
    }
}

/// What numbers are allowed, in words.
fn number_between(least: f64, most: f64) -> String {
    match (least, most) {
        (f64::MIN, f64::MAX) => "a number".into(),
        (f64::MIN_POSITIVE, most) if most >= 1e9 => "a number above 0".into(),
        (least, most) if most >= 1e9 => format!("a number of at least {least}"),
        (least, most) => format!("a number from {least} to {most}"),
    }
}

/// The value of a setting as its domain looks at it, whatever type it has: a field of a struct, or JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValue<'a> {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(u64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// What no setting takes.
    Other(&'a Value),
}

impl<'a> From<&'a Value> for PlainValue<'a> {
    fn from(value: &'a Value) -> PlainValue<'a> {
        match value {
            Value::Bool(answer) => PlainValue::Boolean(*answer),
            Value::String(text) => PlainValue::Text(text.into()),
            Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(number), _) => PlainValue::Integer(number),
                (None, Some(number)) => PlainValue::Number(number),
                (None, None) => PlainValue::Other(value),
            },
            _ => PlainValue::Other(value),
        }
    }
}

impl std::fmt::Display for PlainValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlainValue::Boolean(answer) => write!(f, "{answer}"),
            PlainValue::Integer(number) => write!(f, "{number}"),
            PlainValue::Number(number) => f.write_str(&number_text(*number)),
            PlainValue::Text(text) => write!(f, "\"{text}\""),
            PlainValue::Other(value) => write!(f, "{value}"),
        }
    }
}

impl Setting {
    /// An error unless the domain has this value.
    pub fn check(&self, value: &PlainValue<'_>) -> Result<()> {
        let fits = match (&self.domain, value) {
            (Domain::Parsed(parser), PlainValue::Text(text)) => return (parser.check)(text),
            (Domain::Boolean, PlainValue::Boolean(_)) | (Domain::Text, PlainValue::Text(_)) => true,
            (Domain::Number(least, most) | Domain::NumberOr(least, most, _), PlainValue::Number(number)) => {
                (*least..=*most).contains(number)
            }
            (Domain::Number(least, most) | Domain::NumberOr(least, most, _), PlainValue::Integer(number)) => {
                (*least..=*most).contains(&(*number as f64))
            }
            (Domain::Integer(least) | Domain::IntegerOrAuto(least), PlainValue::Integer(number)) => number >= least,
            (Domain::NumberOr(_, _, words) | Domain::Choice(words), PlainValue::Text(word)) => words.contains(&&**word),
            (Domain::IntegerOrAuto(_), PlainValue::Text(word)) => word == "auto",
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.out_of_range(&value.to_string())) }
    }

    pub(crate) fn parse(&self, text: &str) -> Result<Value> {
        let value = match self.domain {
            Domain::Boolean => text.parse::<bool>().ok().map(Value::from),
            Domain::Number(..) => text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from),
            Domain::IntegerOrAuto(_) if text == "auto" => Some(Value::from(text)),
            Domain::NumberOr(_, _, words) if words.contains(&text) => Some(Value::from(text)),
            Domain::NumberOr(..) => text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from),
            Domain::Integer(_) | Domain::IntegerOrAuto(_) => text.parse::<u64>().ok().map(Value::from),
            Domain::Choice(_) | Domain::Text | Domain::Parsed(_) => Some(Value::from(text)),
        };
        let value = value.ok_or_else(|| self.out_of_range(text))?;
        self.check(&PlainValue::from(&value))?;
        Ok(value)
    }

    fn out_of_range(&self, value: &str) -> Error {
        Error::setting(self.name, format!("cannot be {value}"), format!("It takes {}.", self.domain))
    }
}

/// A number of clusters, components or neighbours: fixed, or chosen from the data.
///
/// ```
/// use quince::learn::Count;
/// use quince::prelude::*;
/// assert_eq!((Knn::new().k(5).k, Knn::default().k), (Count::Fixed(5), Count::Auto));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Count {
    /// Chosen from the data (`auto`).
    #[default]
    Auto,
    /// This number.
    Fixed(usize),
}

/// An amount of smoothing or the like: fixed, or chosen from the data.
///
/// ```
/// use quince::learn::Amount;
/// use quince::prelude::*;
/// assert_eq!((Knn::default().smoothing, Knn::default().smoothing(0.5).smoothing), (Amount::Auto, Amount::Fixed(0.5)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Amount {
    /// Chosen from the data (`auto`).
    #[default]
    Auto,
    /// This number.
    Fixed(f64),
}

impl TryFrom<Value> for Amount {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Amount, String> {
        match value.as_f64() {
            Some(amount) => Ok(Amount::Fixed(amount)),
            None if value == "auto" => Ok(Amount::Auto),
            None => Err(format!("{value} is neither a number nor auto")),
        }
    }
}

impl From<Amount> for Value {
    fn from(amount: Amount) -> Value {
        match amount {
            Amount::Auto => Value::from("auto"),
            Amount::Fixed(amount) => Value::from(amount),
        }
    }
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
