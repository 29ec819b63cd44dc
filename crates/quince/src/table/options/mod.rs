//! Encoding options: how the columns of a table become features.
//!
//! Settings are written as on the command line, parted by commas: `log,fill=median` for numbers,
//! `ordinal,order=low:middle:high` for categories, `counts,stem=english` for texts.

mod text;

use super::{Column, Kind, Pictures};
use crate::error::{Error, Result, did_you_mean};
use std::collections::BTreeMap;
use text::NAMES as OF_TEXTS;
pub use text::{Analyzer, FeatureScore, Frequency, Language, StopWords, TermWeighting, TextOptions};

/// How the columns of a table become features, where it is not by default.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoding {
    /// By column.
    pub columns: BTreeMap<String, ColumnOptions>,
    /// The degree of polynomial features: products of up to this many numbers; 1 makes none.
    pub degree: usize,
    /// How the numbers were made of pictures, if they were.
    pub pictures: Option<Pictures>,
}

impl Default for Encoding {
    fn default() -> Encoding {
        Encoding { columns: BTreeMap::new(), degree: 1, pictures: None }
    }
}

/// The encoding options of one column.
///
/// ```
/// use quince::Kind;
/// use quince::table::{ColumnOptions, Fill};
/// let ColumnOptions::Number(options) = ColumnOptions::parse(Kind::Number, "log,fill=median")? else { panic!() };
/// assert!(options.log && options.fill == Fill::Median && !options.missing);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnOptions {
    /// Of numbers, counts and yes/no.
    Number(NumberOptions),
    /// Of categories.
    Category(CategoryOptions),
    /// Of texts.
    Text(TextOptions),
}

/// How numbers become a feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberOptions {
    /// Neither centred nor scaled.
    pub plain: bool,
    /// Centred and scaled even for methods that take native columns.
    pub standard: bool,
    /// sign(x) ln(1 + |x|) instead of x.
    pub log: bool,
    /// What a missing value becomes.
    pub fill: Fill,
    /// Whether to add a missing indicator: a feature that is 1 where the value is missing.
    pub missing: bool,
}

/// What a missing value among numbers becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Fill {
    /// The mean of the training rows (of yes/no, the more frequent answer), unless the method takes missing values.
    #[default]
    Usual,
    /// The mean, whatever the method.
    Mean,
    /// Their median.
    Median,
    /// Their most frequent value, the smallest of equals.
    MostFrequent,
    /// The mean of this number of nearest training rows that have a value, by the columns that both rows have.
    Neighbours(usize),
    /// This number.
    Value(f64),
}

/// How categories become features.
///
/// ```
/// use quince::Kind;
/// use quince::table::{ColumnOptions, Frequency};
/// let ColumnOptions::Category(options) = ColumnOptions::parse(Kind::Category, "rare=2%,missing")? else { panic!() };
/// assert!(options.rare == Frequency::Share(0.02) && options.missing && options.order.is_empty());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CategoryOptions {
    /// One feature with the number of the category, from 1, in this order; empty: one-hot, one feature per category.
    pub order: Vec<String>,
    /// With an order: the number is neither centred nor scaled.
    pub plain: bool,
    /// Categories in fewer training rows than this share a feature.
    pub rare: Frequency,
    /// Feature hashing: each category goes to one of this many features by its hash. 0 keeps a list of categories instead.
    pub hash: usize,
    /// Whether to add a missing indicator: a feature that is 1 where the value is missing.
    pub missing: bool,
    /// A missing value is all zeros rather than the most frequent category.
    pub empty: bool,
}

impl Default for CategoryOptions {
    fn default() -> CategoryOptions {
        CategoryOptions {
            order: Vec::new(),
            plain: false,
            rare: Frequency::Rows(0),
            hash: 0,
            missing: false,
            empty: false,
        }
    }
}

impl ColumnOptions {
    /// Whether these are options for columns of this kind.
    pub(crate) fn is_for(&self, kind: Kind) -> bool {
        match self {
            ColumnOptions::Number(_) => matches!(kind, Kind::Number | Kind::Count | Kind::YesNo),
            ColumnOptions::Category(_) => kind == Kind::Category,
            ColumnOptions::Text(_) => kind == Kind::Text,
        }
    }

    /// Reads settings for a column of this kind.
    pub fn parse(kind: Kind, settings: &str) -> Result<ColumnOptions> {
        let mut options = match kind {
            Kind::Number | Kind::Count | Kind::YesNo => ColumnOptions::Number(NumberOptions::default()),
            Kind::Category => ColumnOptions::Category(CategoryOptions::default()),
            Kind::Text => ColumnOptions::Text(TextOptions::default()),
            Kind::Vector | Kind::Ignored => {
                return Err(Error::data(
                    format!("a column of kind {kind} has no settings"),
                    "Give it another kind first, for example number.",
                ));
            }
        };
        options.also(settings)?;
        Ok(options)
    }

    /// Reads more settings.
    pub(crate) fn also(&mut self, settings: &str) -> Result<()> {
        for setting in settings.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            match self {
                ColumnOptions::Number(numbers) => numbers.set(name.trim(), value.trim())?,
                ColumnOptions::Category(categories) => categories.set(name.trim(), value.trim())?,
                ColumnOptions::Text(texts) => texts.set(name.trim(), value.trim())?,
            }
        }
        match self {
            ColumnOptions::Number(_) => Ok(()),
            ColumnOptions::Category(categories) => categories.check(),
            ColumnOptions::Text(texts) => texts.check_together(),
        }
    }
}

impl NumberOptions {
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match (name, value) {
            ("standard", "") => (self.plain, self.standard) = (false, true),
            ("plain", "") => (self.plain, self.standard) = (true, false),
            ("log", "") => self.log = true,
            ("missing", "") => self.missing = true,
            ("fill", "mean") => self.fill = Fill::Mean,
            ("fill", "median") => self.fill = Fill::Median,
            ("fill", "most-frequent") => self.fill = Fill::MostFrequent,
            ("fill", "neighbours") => self.fill = Fill::Neighbours(5),
            ("fill", _) => {
                let number = value.parse().ok().filter(|number: &f64| number.is_finite());
                self.fill = Fill::Value(number.ok_or_else(|| {
                    let remedy = "Give mean, median, most-frequent, neighbours or a number.";
                    Error::setting("fill", format!("cannot be {value}"), remedy)
                })?);
            }
            _ => return Err(unknown(name, Kind::Number)),
        }
        Ok(())
    }
}

impl CategoryOptions {
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let wrong = |remedy: &str| Error::setting(name, format!("cannot be {value}"), remedy);
        match (name, value) {
            ("one-hot", "") => self.order.clear(),
            ("order", _) => {
                let order: Vec<String> = value.split(':').map(|name| name.trim().to_string()).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                sorted.dedup();
                if order.len() < 2 || sorted.len() < order.len() {
                    return Err(wrong("Give two or more different categories, for example order=low:middle:high."));
                }
                self.order = order;
            }
            ("plain", "") => self.plain = true,
            ("missing", "") => self.missing = true,
            ("empty", "") => self.empty = true,
            ("rare", _) => self.rare = Frequency::parse(name, value)?,
            ("hash", _) => {
                let places = value.parse().ok().filter(|places| (2..=1 << 20).contains(places));
                self.hash = places.ok_or_else(|| wrong("Give a whole number from 2 to 1048576."))?;
            }
            _ => return Err(unknown(name, Kind::Category)),
        }
        Ok(())
    }

    /// An order must name every category that there is.
    pub(crate) fn check_order(&self, column: &Column) -> Result<()> {
        let left_out = |i: usize| column.text(i).filter(|name| !self.order.iter().any(|other| other == name));
        let Some(name) = (0..column.rows()).find_map(left_out).filter(|_| !self.order.is_empty()) else {
            return Ok(());
        };
        let count = (0..column.rows()).filter(|&i| column.text(i).as_deref() == Some(&*name)).count();
        let (rows, have) = if count == 1 { ("row", "has") } else { ("rows", "have") };
        let problem = format!("does not name '{name}', which {count} {rows} {have}");
        let remedy = "Name every category of the column, the least first, for example order=low:middle:high.";
        Err(Error::setting("order", problem, remedy).of_column(column.name()))
    }

    /// Settings that shut each other out.
    fn check(&self) -> Result<()> {
        let (listed, ordered) = (self.rare != Frequency::Rows(0), !self.order.is_empty());
        let clash = match (self.hash > 0, ordered, listed) {
            (true, true, _) => ("order", "numbers the categories of a list, and hash keeps none"),
            (true, _, true) => ("rare", "joins categories of a list, and hash keeps none"),
            (_, true, true) => ("rare", "joins categories, and order gives each a number of its own"),
            _ => return Ok(()),
        };
        Err(Error::setting(clash.0, clash.1, "Leave one of them out."))
    }
}

const OF_NUMBERS: &[&str] = &["standard", "plain", "log", "missing", "fill"];
const OF_CATEGORIES: &[&str] = &["one-hot", "order", "plain", "missing", "empty", "rare", "hash"];

/// A setting that columns of this kind do not have: it may be one of another kind, or be written otherwise.
pub(super) fn unknown(name: &str, kind: Kind) -> Error {
    let all = [
        (Kind::Number, "numbers", OF_NUMBERS),
        (Kind::Category, "categories", OF_CATEGORIES),
        (Kind::Text, "texts", &OF_TEXTS),
    ];
    let [(_, own, names)] = all.iter().filter(|(other, ..)| *other == kind).collect::<Vec<_>>()[..] else {
        return Error::setting(name, format!("is not a setting of a {kind}"), "Leave it out.");
    };
    if names.contains(&name) {
        return Error::setting(name, "takes no value", format!("Write {name} alone."));
    }
    let problem = format!("is not a setting of {own}");
    let remedy = match all.iter().find(|(_, _, names)| names.contains(&name)) {
        Some((other, of, _)) => {
            format!("It is one of {of}: give the column the kind {other} first.")
        }
        None => did_you_mean(name, "settings", names.iter().copied()),
    };
    Error::setting(name, problem, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_people_write_them() {
        let ColumnOptions::Number(numbers) = ColumnOptions::parse(Kind::Count, "log, fill=median,missing").unwrap()
        else {
            panic!()
        };
        assert_eq!(numbers, NumberOptions { log: true, fill: Fill::Median, missing: true, ..NumberOptions::default() });
        let categories = |settings| match ColumnOptions::parse(Kind::Category, settings).unwrap() {
            ColumnOptions::Category(categories) => categories,
            other => panic!("{other:?}"),
        };
        assert_eq!(categories("order=s:m:l,plain").order.join(" "), "s m l");
        assert_eq!(categories("rare=2%").rare, Frequency::Share(0.02));
        let ColumnOptions::Text(texts) =
            ColumnOptions::parse(Kind::Text, "tfidf,stem=english,select=2000,ngrams=1-2").unwrap()
        else {
            panic!()
        };
        assert_eq!((texts.select, texts.ngrams), (2000, (1, 2)));
    }

    #[test]
    fn wrong_settings_get_a_sentence() {
        let wrong = |kind, settings| {
            let error = ColumnOptions::parse(kind, settings).unwrap_err();
            format!("{error} | {}", error.remedy())
        };
        assert_eq!(wrong(Kind::Number, "lgo"), "setting 'lgo' is not a setting of numbers | Did you mean 'log'?");
        assert!(wrong(Kind::Number, "fill=often").starts_with("setting 'fill' cannot be often | Give mean, median"));
        assert!(wrong(Kind::Category, "order=a").contains("two or more"));
        assert!(wrong(Kind::Category, "rare=150%").contains("a share"));
        assert!(wrong(Kind::Text, "stem=elvish").contains("no language called 'elvish'"));
        assert!(wrong(Kind::Text, "ngrams=3-2").contains("1-2"));
        assert!(wrong(Kind::Ignored, "log").contains("no settings"));
    }
}
