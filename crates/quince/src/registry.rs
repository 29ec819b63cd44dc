//! Every method, once. The command line, `compare`, the guide and the README read this list and nothing else.

use crate::baseline::Baseline;
use crate::bayes::{Gaussian, NaiveBayes};
use crate::cluster::KMeans;
use crate::error::{Error, Result, did_you_mean};
use crate::learn::{Fitted, Learn, Learner, Target, Task};
use crate::linear::{LeastSquares, Ridge};
use crate::margin::{LinearSvm, OneClass, Svm};
use crate::mixture::Mixture;
use crate::model::Parts;
use crate::neighbours::Knn;
use serde_json::Value;

/// The methods, in the order they are shown. To add one: its own folder, and a line here.
pub static METHODS: &[Entry] = &[
    Entry::of::<Baseline>(),
    Entry::of::<LeastSquares>(),
    Entry::of::<Ridge>(),
    Entry::of::<Knn>(),
    Entry::of::<NaiveBayes>(),
    Entry::of::<Gaussian>(),
    Entry::of::<Svm>(),
    Entry::of::<LinearSvm>(),
    Entry::of::<KMeans>(),
    Entry::of::<Mixture>(),
    Entry::of::<OneClass>(),
];

/// The method with this name.
pub fn method(name: &str) -> Result<&'static Entry> {
    METHODS.iter().find(|entry| entry.card.name == name).ok_or_else(|| Error::Unknown {
        what: "method",
        name: name.to_string(),
        remedy: did_you_mean(name, "methods", METHODS.iter().map(|entry| entry.card.name)),
    })
}

/// A method as the registry knows it.
pub struct Entry {
    /// What it is.
    pub card: &'static Card,
    defaults: fn() -> Value,
    configure: fn(&Value) -> Result<Box<dyn Learn>>,
    pub(crate) load: fn(&Parts) -> Result<Box<dyn Fitted>>,
}

impl Entry {
    const fn of<L: Learner>() -> Entry {
        Entry {
            card: const { &L::CARD },
            defaults: || serde_json::to_value(L::default()).unwrap_or_default(),
            configure: |settings| {
                L::CARD.check(settings)?;
                let learner = serde_json::from_value::<L>(settings.clone())
                    .map_err(|e| Error::setting(L::CARD.name, e.to_string(), "See `quince models`."))?;
                Ok(Box::new(learner))
            },
            load: |parts| Ok(Box::new(L::Fitted::load(parts)?)),
        }
    }

    /// The method's settings and their default values.
    pub fn defaults(&self) -> Value {
        (self.defaults)()
    }

    /// The method with these settings, given by name; what is not given has its default. Unknown names and values out
    /// of range are refused.
    pub fn configure(&self, settings: &Value) -> Result<Box<dyn Learn>> {
        let mut all = self.defaults();
        if let (Value::Object(all), Value::Object(given)) = (&mut all, settings) {
            for (name, value) in given {
                if !all.contains_key(name) {
                    return Err(self.no_such_setting(name));
                }
                all.insert(name.clone(), value.clone());
            }
        }
        (self.configure)(&all)
    }

    /// Reads `name=value` as a person writes it on a command line, with the type that the setting has.
    pub fn parse_setting(&self, name: &str, text: &str) -> Result<Value> {
        let setting = self.card.setting(name).ok_or_else(|| self.no_such_setting(name))?;
        setting.parse(text)
    }

    fn no_such_setting(&self, name: &str) -> Error {
        let names = self.card.settings.iter().map(|setting| setting.name);
        Error::setting(name, format!("is not a setting of '{}'", self.card.name), did_you_mean(name, "settings", names))
    }
}

/// What the registry says of a method.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name on the command line and in saved models.
    pub name: &'static str,
    /// The name in a heading.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What it can do.
    pub abilities: &'static [Ability],
    /// Its settings, in the order of the struct.
    pub settings: &'static [Setting],
    /// The classes of the Python package that stand on it.
    pub python: &'static [&'static str],
}

impl Card {
    /// Whether the method can do this.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities.contains(&ability)
    }

    /// Whether the method can learn this kind of target.
    pub fn learns(&self, task: Task) -> bool {
        self.can(match task {
            Task::Classification => Ability::Classify,
            Task::Regression => Ability::Regress,
            Task::Clustering => return self.can(Ability::Cluster) || self.can(Ability::Novelty),
        })
    }

    /// Whether it is compared with others where no method is named: all that learn this target, but for those that are made for
    /// rows without one.
    pub fn is_compared(&self, target: &Target) -> bool {
        let many = matches!(target, Target::Classes { classes, .. } if classes.count() > 2);
        self.learns(target.task()) && !self.can(Ability::Cluster) && !(many && self.can(Ability::TwoClasses))
    }

    /// The setting with this name.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// Checks every value against its range.
    pub(crate) fn check(&self, settings: &Value) -> Result<()> {
        for setting in self.settings {
            setting.check(&settings[setting.name])?;
        }
        Ok(())
    }
}

/// Something a method may be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ability {
    /// Learns classes.
    Classify,
    /// Learns no more than two classes.
    TwoClasses,
    /// Learns numbers.
    Regress,
    /// Rows may have weights.
    Weights,
    /// Sparse features stay sparse.
    Sparse,
    /// Several numbers at once.
    SeveralOutputs,
    /// Leave-one-out predictions without refitting.
    ExactLeaveOneOut,
    /// Finds groups of rows that are alike; there is no target.
    Cluster,
    /// Learns where rows are, and finds those that are unlike all others; there is no target.
    Novelty,
    /// Takes rows with holes as they are.
    Holes,
    /// Learns from rows without a class beside those that have one.
    Unlabelled,
    /// Takes all columns as they are: categories as categories, words as counts, numbers unscaled, holes as holes.
    AsTheyAre,
}

impl Ability {
    /// The ability in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Ability::Classify => "classes",
            Ability::TwoClasses => "two classes only",
            Ability::Regress => "numbers",
            Ability::Weights => "row weights",
            Ability::Sparse => "sparse",
            Ability::SeveralOutputs => "several outputs",
            Ability::ExactLeaveOneOut => "exact leave-one-out",
            Ability::Cluster => "clusters",
            Ability::Novelty => "novelty",
            Ability::Holes => "holes",
            Ability::Unlabelled => "rows without a class",
            Ability::AsTheyAre => "columns as they are",
        }
    }
}

/// A setting: its name, what is allowed, what it does. The default is that of the settings struct.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The name, as in the struct.
    pub name: &'static str,
    /// What values it takes.
    pub allowed: Allowed,
    /// What it does, in a sentence.
    pub help: &'static str,
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// true or false.
    Switch,
    /// A number from the first to the second, both included.
    Number(f64, f64),
    /// A number from the first to the second, both included, or one of these words.
    NumberOr(f64, f64, &'static [&'static str]),
    /// A whole number of at least this.
    Whole(u64),
    /// A whole number of at least this, or `auto`.
    WholeOrAuto(u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// A text that can be read in a way of its own.
    Written(Reading),
}

/// How a text is read: what it is called, and an error if it cannot be.
#[derive(Clone, Copy)]
pub struct Reading {
    /// What it takes, in a few words.
    pub takes: &'static str,
    /// An error, with a remedy, if a text cannot be read.
    pub check: fn(&str) -> Result<()>,
}

impl PartialEq for Reading {
    fn eq(&self, other: &Reading) -> bool {
        self.takes == other.takes
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.takes)
    }
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Allowed::Switch => f.write_str("true or false"),
            Allowed::Number(least, most) => write!(f, "{}", number_between(*least, *most)),
            Allowed::NumberOr(least, most, words) => {
                write!(f, "{}, or {}", number_between(*least, *most), words.join(" or "))
            }
            Allowed::Whole(least) => write!(f, "a whole number of at least {least}"),
            Allowed::WholeOrAuto(least) => write!(f, "a whole number of at least {least}, or auto"),
            Allowed::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Allowed::Text => f.write_str("any text"),
            Allowed::Written(reading) => f.write_str(reading.takes),
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

impl Setting {
    fn check(&self, value: &Value) -> Result<()> {
        if let (Allowed::Written(reading), Value::String(text)) = (&self.allowed, value) {
            return (reading.check)(text);
        }
        let fine = match (&self.allowed, value) {
            (Allowed::Switch, Value::Bool(_)) | (Allowed::Text, Value::String(_)) => true,
            (Allowed::NumberOr(_, _, words), Value::String(word)) => words.contains(&word.as_str()),
            (Allowed::Number(least, most) | Allowed::NumberOr(least, most, _), Value::Number(n)) => {
                n.as_f64().is_some_and(|n| *least <= n && n <= *most)
            }
            (Allowed::Whole(least) | Allowed::WholeOrAuto(least), Value::Number(n)) => {
                n.as_u64().is_some_and(|n| n >= *least)
            }
            (Allowed::WholeOrAuto(_), Value::String(word)) => word == "auto",
            (Allowed::Choice(words), Value::String(word)) => words.contains(&word.as_str()),
            _ => false,
        };
        let shown = value.as_f64().map_or_else(|| value.to_string(), crate::numbers::number_text);
        if fine { Ok(()) } else { Err(self.out_of_range(&shown)) }
    }

    fn parse(&self, text: &str) -> Result<Value> {
        let value = match self.allowed {
            Allowed::Switch => text.parse::<bool>().ok().map(Value::from),
            Allowed::Number(..) => text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from),
            Allowed::WholeOrAuto(_) if text == "auto" => Some(Value::from(text)),
            Allowed::NumberOr(_, _, words) if words.contains(&text) => Some(Value::from(text)),
            Allowed::NumberOr(..) => text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from),
            Allowed::Whole(_) | Allowed::WholeOrAuto(_) => text.parse::<u64>().ok().map(Value::from),
            Allowed::Choice(_) | Allowed::Text | Allowed::Written(_) => Some(Value::from(text)),
        };
        let value = value.ok_or_else(|| self.out_of_range(text))?;
        self.check(&value)?;
        Ok(value)
    }

    fn out_of_range(&self, value: &str) -> Error {
        Error::setting(self.name, format!("cannot be {value}"), format!("It takes {}.", self.allowed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_card_describes_exactly_the_settings_of_its_struct_and_its_defaults_are_in_range() {
        for entry in METHODS {
            let defaults = entry.defaults();
            let in_struct: Vec<&String> = defaults.as_object().unwrap().keys().collect();
            let mut on_card: Vec<&str> = entry.card.settings.iter().map(|s| s.name).collect();
            on_card.sort();
            let mut in_struct: Vec<&str> = in_struct.into_iter().map(String::as_str).collect();
            in_struct.sort();
            assert_eq!(in_struct, on_card, "{}", entry.card.name);
            entry.configure(&json!({})).unwrap();
        }
    }

    #[test]
    fn a_wrong_name_or_value_is_refused_with_a_remedy() {
        let ridge = method("ridge").unwrap();
        let wrong = ridge.configure(&json!({"alhpa": 1.0})).err().unwrap();
        assert_eq!(wrong.remedy(), "Did you mean 'alpha'?");
        let wrong = ridge.configure(&json!({"alpha": -1.0})).err().unwrap();
        assert_eq!(wrong.to_string(), "setting 'alpha' cannot be -1");
        assert_eq!(wrong.remedy(), "It takes a number of at least 0.");
        assert_eq!(ridge.parse_setting("alpha", "nan").unwrap_err().code(), "setting");
        assert_eq!(method("rigde").err().unwrap().remedy(), "Did you mean 'ridge'?");
    }
}
