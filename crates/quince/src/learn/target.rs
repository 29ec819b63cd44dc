//! What is to be learnt.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::numbers::is_code;
use crate::numbers::number_text;
use serde::{Deserialize, Serialize};

/// The class labels of a target, each once, in a fixed order. A row's class is given by its place in that order, its code.
///
/// ```
/// use quince::learn::Classes;
/// let sizes = Classes::of(["10", "9", "10"]);
/// assert_eq!(sizes.names(), ["9", "10"]);
/// assert_eq!(sizes.code("10"), Some(1));
/// assert!(Classes::in_order(vec!["a".into(), "a".into()]).is_err());
/// # let _ = sizes;
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Classes {
    names: Vec<String>,
    label_type: LabelType,
}

/// What the labels of classes are, so that a prediction can be compared with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LabelType {
    /// Words, even if they look like numbers.
    Words,
    /// Whole numbers.
    Integers,
    /// Any numbers.
    Numbers,
    /// True and false.
    Booleans,
}

impl LabelType {
    /// What labels are that were read from text: whole numbers or Booleans if all of them are written as such.
    pub(crate) fn of_text(names: &[String]) -> LabelType {
        let is_whole = |name: &String| name.parse::<i64>().is_ok_and(|number| number.to_string() == *name);
        if names.iter().all(is_whole) {
            LabelType::Integers
        } else if names.iter().all(|name| name == "True" || name == "False") {
            LabelType::Booleans
        } else {
            LabelType::Words
        }
    }

    /// What labels are that are numbers, however they are spelled; `None` if one is none.
    pub(crate) fn of_numbers<'a>(names: impl IntoIterator<Item = &'a String> + Clone) -> Option<LabelType> {
        if names.clone().into_iter().all(|name| name.parse::<i64>().is_ok()) {
            return Some(LabelType::Integers);
        }
        names.into_iter().all(|name| name.parse::<f64>().is_ok()).then_some(LabelType::Numbers)
    }
}

/// The same classes have the same labels in the same order.
impl PartialEq for Classes {
    fn eq(&self, other: &Classes) -> bool {
        self.names == other.names
    }
}

impl Eq for Classes {}

impl Classes {
    /// The distinct labels, sorted as numbers if all are numbers and as text otherwise.
    ///
    /// ```
    /// use quince::learn::Classes;
    /// assert_eq!(Classes::of(["10", "9", "10"]).names(), ["9", "10"]);
    /// assert_eq!(Classes::of(["x10", "x9"]).names(), ["x10", "x9"]);
    /// ```
    pub fn of<'a>(labels: impl IntoIterator<Item = &'a str>) -> Classes {
        let distinct: std::collections::BTreeSet<&str> = labels.into_iter().collect();
        let mut names: Vec<String> = distinct.into_iter().map(str::to_string).collect();
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        if numbers.is_some() {
            let number = |name: &String| name.parse::<f64>().unwrap_or(f64::NAN);
            names.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        Classes::new(names)
    }

    fn new(names: Vec<String>) -> Classes {
        Classes { label_type: LabelType::of_text(&names), names }
    }

    /// The same with labels of this type, which the names are those of.
    pub fn with_label_type(self, label_type: LabelType) -> Classes {
        Classes { label_type, ..self }
    }

    /// What the labels are: unless it was said, whole numbers or Booleans if all names look like those, and words otherwise.
    ///
    /// ```
    /// use quince::learn::{Classes, LabelType};
    /// assert_eq!(Classes::of(["2", "10"]).label_type(), LabelType::Integers);
    /// assert_eq!(Classes::of(["007", "10"]).label_type(), LabelType::Words);
    /// ```
    pub fn label_type(&self) -> LabelType {
        self.label_type
    }

    /// What the labels are, if their names do not say it.
    pub(crate) fn unexpected_label_type(&self) -> Option<LabelType> {
        (self.label_type != LabelType::of_text(&self.names)).then_some(self.label_type)
    }

    /// These labels in this order; an error if one occurs twice.
    pub fn in_order(names: Vec<String>) -> Result<Classes> {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::data(
                format!("two classes are called '{}'", pair[0]),
                "Give every class a label of its own.",
            )),
            None => Ok(Classes::new(names)),
        }
    }

    /// The labels in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The code of the class with this label.
    pub fn code(&self, label: &str) -> Option<u32> {
        self.names.iter().position(|name| name == label).map(|code| code as u32)
    }

    /// The code of the class with this label or with this number, however either is spelled: 1 is 1.0 and +1. Codes are no
    /// numbers.
    pub(crate) fn code_of_spelling(&self, label: &str) -> Option<u32> {
        let as_number = || {
            let number = label.parse::<f64>().ok()?;
            let same = |name: &String| !is_code(name) && name.parse() == Ok(number);
            let mut codes = (0..self.names.len()).filter(|&code| same(&self.names[code]));
            let first = codes.next();
            // Words may spell one number in two ways.
            self.code(&number_text(number)).or(first.filter(|_| codes.next().is_none()).map(|code| code as u32))
        };
        self.code(label).or_else(as_number)
    }
}

impl From<Classes> for Vec<String> {
    fn from(classes: Classes) -> Vec<String> {
        classes.names
    }
}

impl TryFrom<Vec<String>> for Classes {
    type Error = Error;

    fn try_from(names: Vec<String>) -> Result<Classes> {
        Classes::in_order(names)
    }
}

/// What is to be learnt of each row: a class, one or more numbers, or nothing (unsupervised).
///
/// Its constructors check it, so that a method may rely on every code having a class and every number being finite;
/// [`Target::view`] looks inside.
///
/// ```
/// use quince::learn::{Classes, Target};
/// let sick = Target::classes(Classes::of(["no", "yes"]), vec![0, 1, 1])?;
/// assert_eq!(sick.rows(), 3);
/// assert!(Target::classes(Classes::of(["no", "yes"]), vec![0, 2]).is_err());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "labels")]
#[doc(alias = "y")]
pub struct Target(Values);

#[derive(Clone, Debug, PartialEq)]
enum Values {
    Classes { classes: Classes, codes: Vec<u32> },
    Numbers(Matrix),
    None(usize),
}

/// What a [`Target`] holds.
///
/// ```
/// use quince::learn::{Target, TargetView};
/// let target = Target::labels(&["no", "yes", "no"]);
/// let TargetView::Classes { classes, codes } = target.view() else { panic!() };
/// assert_eq!((classes.names(), codes), (&["no".to_string(), "yes".to_string()][..], &[0, 1, 0][..]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TargetView<'a> {
    /// A class for each row.
    Classes {
        /// The labels.
        classes: &'a Classes,
        /// The code of each row's class; [`Target::UNKNOWN`] where it is not known, which some methods can learn from.
        codes: &'a [u32],
    },
    /// One row of numbers per row, one column per output; all finite.
    Numbers(&'a Matrix),
    /// Nothing, of this number of rows: unsupervised.
    None(usize),
}

impl Target {
    /// The code of a row whose class is not known.
    pub const UNKNOWN: u32 = u32::MAX;

    /// A class for each row, by its code; [`Target::UNKNOWN`] where it is not known. An error names a row whose code no class has.
    pub fn classes(classes: Classes, codes: Vec<u32>) -> Result<Target> {
        let unsound = |&code: &u32| code != Target::UNKNOWN && code as usize >= classes.count();
        match codes.iter().position(unsound) {
            None => Ok(Target(Values::Classes { classes, codes })),
            Some(row) => Err(Error::data(
                format!("row {} has the class code {}, and there are {} classes", row + 1, codes[row], classes.count()),
                "Codes count from 0; Target::UNKNOWN is for rows whose class is not known.",
            )),
        }
    }

    /// A class for each row, by its label.
    ///
    /// ```
    /// use quince::learn::{Target, Task};
    /// let target = Target::labels(&["no", "yes", "no"]);
    /// assert_eq!((target.rows(), target.task()), (3, Task::Classification));
    /// ```
    pub fn labels<S: AsRef<str>>(labels: &[S]) -> Target {
        let classes = Classes::of(labels.iter().map(AsRef::as_ref));
        let code: std::collections::HashMap<&str, u32> =
            classes.names().iter().enumerate().map(|(k, name)| (name.as_str(), k as u32)).collect();
        let codes = labels.iter().map(|label| code[label.as_ref()]).collect();
        Target(Values::Classes { classes, codes })
    }

    /// One row of numbers per row, one column per output. An error names a number that is not finite.
    pub fn numbers(numbers: Matrix) -> Result<Target> {
        if numbers.columns() == 0 {
            return Err(Error::data("the target has no column", "Give each row at least one number to learn."));
        }
        match numbers.values().iter().position(|value| !value.is_finite()) {
            None => Ok(Target(Values::Numbers(numbers))),
            Some(at) => Err(Error::not_finite(
                format!("the target of row {} is {}", at / numbers.columns() + 1, numbers.values()[at]),
                "Leave out rows without a target; numbers to learn are finite.",
            )),
        }
    }

    /// Nothing to learn but the structure of this many rows: unsupervised.
    pub fn none(rows: usize) -> Target {
        Target(Values::None(rows))
    }

    /// What the target holds, to match on.
    pub fn view(&self) -> TargetView<'_> {
        match &self.0 {
            Values::Classes { classes, codes } => TargetView::Classes { classes, codes },
            Values::Numbers(numbers) => TargetView::Numbers(numbers),
            Values::None(rows) => TargetView::None(*rows),
        }
    }

    /// Whether some rows have no class.
    pub fn has_unknown(&self) -> bool {
        matches!(&self.0, Values::Classes { codes, .. } if codes.contains(&Target::UNKNOWN))
    }

    /// An error if some rows have no class: there is nothing to measure an answer by.
    pub(crate) fn check_known(&self) -> Result<()> {
        let problem = "some rows have no class to measure an answer by";
        if self.has_unknown() { Err(Error::data(problem, "Leave them out.")) } else { Ok(()) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match &self.0 {
            Values::Classes { codes, .. } => codes.len(),
            Values::Numbers(numbers) => numbers.rows(),
            Values::None(rows) => *rows,
        }
    }

    /// The rows with these indices, in this order. Classes keep their codes even if one no longer occurs.
    ///
    /// # Panics
    /// If a row is out of range, as indexing a slice does.
    pub fn take(&self, rows: &[usize]) -> Target {
        Target(match &self.0 {
            Values::Classes { classes, codes } => {
                Values::Classes { classes: classes.clone(), codes: rows.iter().map(|&i| codes[i]).collect() }
            }
            Values::Numbers(numbers) => Values::Numbers(numbers.take_rows(rows)),
            Values::None(_) => Values::None(rows.len()),
        })
    }

    /// The error of a learner that needs a target and has none.
    pub(crate) fn missing() -> Error {
        Error::data("there is no target to learn", "Give every row a class or a number.")
    }

    /// Classes, numbers or groups.
    pub fn task(&self) -> Task {
        match &self.0 {
            Values::Classes { .. } => Task::Classification,
            Values::Numbers(_) => Task::Regression,
            Values::None(_) => Task::Clustering,
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
    /// There is no target: rows are clustered.
    Clustering,
}
