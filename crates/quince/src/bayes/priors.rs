//! Class priors.

use crate::error::{Error, Result};
use crate::learn::Parser;
use serde::{Deserialize, Serialize};

/// The prior probabilities of classes.
///
/// ```
/// use quince::bayes::Priors;
/// use quince::prelude::*;
/// let equal = NaiveBayes::new().priors(Priors::Equal);
/// let given = NaiveBayes::new().priors(Priors::Given(vec![0.2, 0.8]));
/// assert_eq!((String::from(equal.priors), String::from(given.priors)), ("equal".into(), "0.2,0.8".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Priors {
    /// The class frequencies of the training rows.
    #[default]
    Data,
    /// Uniform.
    Equal,
    /// These, in the order of the classes.
    Given(Vec<f64>),
}

crate::learn::written_setting!(Priors);

impl Priors {
    /// The parser of the setting.
    pub(super) const PARSER: Parser = Parser {
        takes: "data, equal, or a number for each class",
        check: |text| Priors::try_from(text.to_string())?.check_sum(),
    };

    /// An error unless there is one per class, and they sum to one.
    pub(super) fn check(&self, classes: usize) -> Result<()> {
        let Priors::Given(given) = self else { return Ok(()) };
        if given.len() != classes {
            let problem = format!("are {} for {classes} classes", given.len());
            return Err(Error::setting("priors", problem, "Give one for each class, in their order."));
        }
        self.check_sum()
    }

    /// An error unless those that are given sum to one, and none is negative.
    fn check_sum(&self) -> Result<()> {
        let Priors::Given(given) = self else { return Ok(()) };
        let wrong = |problem: String, remedy: &str| Err(Error::setting("priors", problem, remedy));
        let total: f64 = given.iter().sum();
        if given.iter().any(|p| p.is_nan() || *p < 0.0) {
            return wrong(format!("cannot be {given:?}"), "Give numbers of at least zero.");
        }
        if (total - 1.0).abs() > 1e-6 {
            return wrong(format!("add up to {total}"), "Give numbers that add up to 1, one for each class.");
        }
        Ok(())
    }

    /// The priors, unless they are the frequencies of the rows.
    pub(super) fn given(&self, classes: usize) -> Option<Vec<f64>> {
        match self {
            Priors::Data => None,
            Priors::Equal => Some(vec![1.0 / classes as f64; classes]),
            Priors::Given(given) => Some(given.clone()),
        }
    }

    pub(super) fn fits(&self, classes: usize) -> bool {
        self.check(classes).is_ok()
    }

    /// The log priors, given the total weights of the classes. A class without rows has -∞. Where all classes with rows were
    /// given zero, they are as frequent as in the rows; where there are no rows at all, priors are uniform.
    pub(super) fn logs(&self, totals: &[f64]) -> Vec<f64> {
        let logs = self.plain_logs(totals);
        let none = |logs: &[f64]| logs.iter().all(|log| *log == f64::NEG_INFINITY);
        match none(&logs) {
            false => logs,
            true if totals.iter().any(|total| *total > 0.0) => Priors::Data.plain_logs(totals),
            true => vec![-(totals.len() as f64).ln(); totals.len()],
        }
    }

    fn plain_logs(&self, totals: &[f64]) -> Vec<f64> {
        let all: f64 = totals.iter().sum();
        let there = totals.iter().filter(|total| **total > 0.0).count() as f64;
        let log = |(class, &total): (usize, &f64)| match self {
            _ if total <= 0.0 => f64::NEG_INFINITY,
            Priors::Data => (total / all).ln(),
            Priors::Equal => -there.ln(),
            Priors::Given(given) => given[class].ln(),
        };
        totals.iter().enumerate().map(log).collect()
    }
}

impl TryFrom<String> for Priors {
    type Error = Error;

    fn try_from(text: String) -> Result<Priors> {
        match text.trim() {
            "data" => Ok(Priors::Data),
            "equal" => Ok(Priors::Equal),
            numbers => {
                let numbers = numbers.split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>();
                numbers.map(Priors::Given).ok_or_else(|| {
                    let remedy = "Give data, equal, or a number for each class, for example 0.2,0.8.";
                    Error::setting("priors", format!("cannot be '{text}'"), remedy)
                })
            }
        }
    }
}

impl From<Priors> for String {
    fn from(priors: Priors) -> String {
        match priors {
            Priors::Data => "data".into(),
            Priors::Equal => "equal".into(),
            Priors::Given(given) => given.iter().map(f64::to_string).collect::<Vec<_>>().join(","),
        }
    }
}
