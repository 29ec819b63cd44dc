//! How one column becomes features.

use super::categories::Categories;
use super::category_groups::{CategoryGroups, RareCategories};
use super::hash::place_and_sign;
use super::select::ClassCodes;
use super::statistics::{median, most_frequent};
use super::text::TextEncoder;
use crate::error::Result;
use crate::matrix::{Matrix, Sparse};
use crate::numbers::mean_and_standard_deviation;
use crate::run::Run;
use crate::table::{CategoryOptions, Column, ColumnOptions, Fill, Kind, NumberOptions, TermWeighting, TextOptions};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Categories of more values than this are sparse.
const DENSE_CATEGORIES: usize = 32;

/// The learnt encoding of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum ColumnEncoder {
    /// (value - mean) / standard deviation, of a value or its logarithm.
    Standard {
        mean: f64,
        standard_deviation: f64,
        #[serde(default, skip_serializing_if = "is_false")]
        log: bool,
        /// What a missing value becomes, if not the mean.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<f64>,
        /// Missing values are imputed from this number of nearest rows.
        #[serde(default, skip_serializing_if = "is_zero")]
        neighbours: usize,
        /// Missing values are imputed for methods that would take them, too.
        #[serde(default, skip_serializing_if = "is_false")]
        always: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    YesNo {
        fill: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    OneHot {
        names: Categories<str>,
        fill: usize,
        /// One more feature stands for all other categories.
        #[serde(default, skip_serializing_if = "is_false")]
        rare: bool,
        /// A missing value is zero in all of them.
        #[serde(default, skip_serializing_if = "is_false")]
        empty: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    /// The number of a category in a given order, from 1, less the mean and divided by the standard deviation.
    Ordinal {
        order: Categories<str>,
        mean: f64,
        standard_deviation: f64,
        fill: f64,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    /// The code of a category, from 0: for methods that take native columns.
    Codes {
        names: Categories<str>,
        /// One more code stands for all other categories.
        #[serde(default, skip_serializing_if = "is_false")]
        rare: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    Hashed {
        places: usize,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    Words(TextEncoder),
    /// Places `first` to `first + width - 1` of a vector, unchanged.
    Vector {
        first: usize,
        width: usize,
    },
}

/// Rows in pieces, between which a run is asked.
pub(super) fn pieces(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(1 << 18).map(move |first| first..(first + (1 << 18)).min(rows))
}

fn is_false(answer: &bool) -> bool {
    !answer
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ColumnEncoder {
    /// Learns from a column; of texts the features come along, for they are costly.
    pub(super) fn learn(
        column: &Column,
        options: Option<&ColumnOptions>,
        classes: Option<ClassCodes<'_>>,
        run: &Run,
    ) -> Result<(ColumnEncoder, Option<Sparse>)> {
        Ok(match (column.kind(), options) {
            (Kind::Text, options) => {
                let settings =
                    if let Some(ColumnOptions::Text(texts)) = options { texts.clone() } else { TextOptions::default() };
                let (encoder, rows) = TextEncoder::learn(&texts_of(column), settings, classes, run)?;
                return Ok((ColumnEncoder::Words(encoder), Some(rows)));
            }
            (Kind::Category, Some(ColumnOptions::Category(categories))) => {
                (ColumnEncoder::categories(column, categories)?, None)
            }
            (Kind::Category, _) => (ColumnEncoder::categories(column, &CategoryOptions::default())?, None),
            (Kind::YesNo, Some(ColumnOptions::Number(numbers))) => (ColumnEncoder::yes_or_no(column, numbers), None),
            (Kind::YesNo, _) => (ColumnEncoder::yes_or_no(column, &NumberOptions::default()), None),
            (Kind::Vector, _) => (ColumnEncoder::vector(column), None),
            (_, Some(ColumnOptions::Number(numbers))) => (ColumnEncoder::numbers(column, numbers), None),
            _ => (ColumnEncoder::numbers(column, &NumberOptions::default()), None),
        })
    }

    /// Learns from a column for a method that takes native columns: numbers are not scaled unless the options ask for it, categories
    /// get numbers, and words are counted.
    pub(super) fn learn_native(
        column: &Column,
        options: Option<&ColumnOptions>,
        classes: Option<ClassCodes<'_>>,
        run: &Run,
    ) -> Result<(ColumnEncoder, Option<Sparse>)> {
        match (column.kind(), options) {
            (Kind::Text, options) => {
                let mut texts =
                    if let Some(ColumnOptions::Text(texts)) = options { texts.clone() } else { TextOptions::default() };
                texts.signed = false;
                if texts.weighting == TermWeighting::Tfidf {
                    texts.weighting = TermWeighting::Counts;
                }
                ColumnEncoder::learn(column, Some(&ColumnOptions::Text(texts)), classes, run)
            }
            (Kind::Category, options) => {
                let options = if let Some(ColumnOptions::Category(options)) = options {
                    options.clone()
                } else {
                    CategoryOptions::default()
                };
                Ok((ColumnEncoder::codes(column, &options)?, None))
            }
            (Kind::Number | Kind::Count, options) => {
                let options = if let Some(ColumnOptions::Number(options)) = options {
                    options.clone()
                } else {
                    NumberOptions::default()
                };
                Ok((ColumnEncoder::numbers(column, &NumberOptions { plain: !options.standard, ..options }), None))
            }
            _ => ColumnEncoder::learn(column, options, classes, run),
        }
    }

    fn codes(column: &Column, options: &CategoryOptions) -> Result<ColumnEncoder> {
        let missing = options.missing;
        if !options.order.is_empty() {
            let names = Categories::in_order(options.order.iter().cloned())?;
            return Ok(ColumnEncoder::Codes { names, rare: false, missing });
        }
        let (names, rare, _) = frequent(column, options)?;
        Ok(ColumnEncoder::Codes { names, rare, missing })
    }

    fn numbers(column: &Column, options: &NumberOptions) -> ColumnEncoder {
        let mut values: Vec<f64> = (0..column.rows()).filter_map(|i| column.number(i)).collect();
        values.iter_mut().for_each(|value| *value = transformed(*value, options.log));
        let (mean, standard_deviation) = mean_and_standard_deviation(&values);
        let usable = standard_deviation > 0.0 && standard_deviation.is_finite() && !options.plain;
        let (fill, neighbours) = match options.fill {
            Fill::Usual | Fill::Mean => (None, 0),
            Fill::Neighbours(k) => (None, k),
            Fill::Median => (Some(or_zero(median(&mut values, 0))), 0),
            Fill::MostFrequent => (Some(or_zero(most_frequent(&mut values, 0))), 0),
            Fill::Value(value) => (Some(transformed(value, options.log)), 0),
        };
        ColumnEncoder::Standard {
            mean: if options.plain { 0.0 } else { mean },
            standard_deviation: if usable { standard_deviation } else { 1.0 },
            log: options.log,
            fill: if options.plain { fill.or(Some(mean)) } else { fill },
            neighbours,
            always: options.fill != Fill::Usual,
            missing: options.missing,
        }
    }

    fn yes_or_no(column: &Column, options: &NumberOptions) -> ColumnEncoder {
        let count = |answer: f64| (0..column.rows()).filter(|&i| column.number(i) == Some(answer)).count();
        let fill = match options.fill {
            Fill::Value(value) => value != 0.0,
            _ => count(1.0) > count(0.0),
        };
        ColumnEncoder::YesNo { fill, missing: options.missing }
    }

    fn categories(column: &Column, options: &CategoryOptions) -> Result<ColumnEncoder> {
        let missing = options.missing;
        if options.hash > 0 {
            return Ok(ColumnEncoder::Hashed { places: options.hash, missing });
        }
        if !options.order.is_empty() {
            let order = Categories::in_order(options.order.iter().cloned())?;
            let mut numbers: Vec<f64> =
                (0..column.rows()).filter_map(|i| number_in(&order, &column.text(i)?)).collect();
            let (mean, standard_deviation) = mean_and_standard_deviation(&numbers);
            let usable = standard_deviation > 0.0 && !options.plain;
            return Ok(ColumnEncoder::Ordinal {
                order,
                mean: if options.plain { 0.0 } else { mean },
                standard_deviation: if usable { standard_deviation } else { 1.0 },
                fill: or_zero(most_frequent(&mut numbers, 0)),
                missing,
            });
        }
        let (mut names, rare, fill) = frequent(column, options)?;
        if names.count() == 0 && !rare {
            names.add("")?;
        }
        Ok(ColumnEncoder::OneHot { names, fill, rare, empty: options.empty, missing })
    }

    fn vector(column: &Column) -> ColumnEncoder {
        let (first, width) = column.vector_places();
        ColumnEncoder::Vector { first, width }
    }

    /// Whether the features of the column, other than its missing indicator, are sparse.
    pub(super) fn is_sparse(&self) -> bool {
        match self {
            ColumnEncoder::Standard { .. }
            | ColumnEncoder::YesNo { .. }
            | ColumnEncoder::Ordinal { .. }
            | ColumnEncoder::Codes { .. } => false,
            ColumnEncoder::OneHot { names, .. } => names.count() > DENSE_CATEGORIES,
            ColumnEncoder::Hashed { places, .. } => *places > DENSE_CATEGORIES,
            ColumnEncoder::Words { .. } | ColumnEncoder::Vector { .. } => true,
        }
    }

    /// The number of features of the column, other than its missing indicator.
    fn count(&self) -> usize {
        match self {
            ColumnEncoder::Standard { .. }
            | ColumnEncoder::YesNo { .. }
            | ColumnEncoder::Ordinal { .. }
            | ColumnEncoder::Codes { .. } => 1,
            ColumnEncoder::OneHot { names, rare, .. } => names.count() + usize::from(*rare),
            ColumnEncoder::Hashed { places, .. } => *places,
            ColumnEncoder::Words(encoder) => encoder.width(),
            ColumnEncoder::Vector { width, .. } => *width,
        }
    }

    /// Whether a feature tells rows with a missing value from others.
    pub(super) fn has_missing_indicator(&self) -> bool {
        match self {
            ColumnEncoder::Standard { missing, .. }
            | ColumnEncoder::YesNo { missing, .. }
            | ColumnEncoder::OneHot { missing, .. }
            | ColumnEncoder::Ordinal { missing, .. }
            | ColumnEncoder::Codes { missing, .. }
            | ColumnEncoder::Hashed { missing, .. } => *missing,
            ColumnEncoder::Words { .. } | ColumnEncoder::Vector { .. } => false,
        }
    }

    pub(super) fn dense_width(&self) -> usize {
        usize::from(self.has_missing_indicator()) + if self.is_sparse() { 0 } else { self.count() }
    }

    pub(super) fn sparse_width(&self) -> usize {
        if self.is_sparse() { self.count() } else { 0 }
    }

    /// Whether the column is a single number, of which products can be made.
    pub(super) fn is_number(&self) -> bool {
        matches!(self, ColumnEncoder::Standard { .. } | ColumnEncoder::YesNo { .. } | ColumnEncoder::Ordinal { .. })
    }

    /// Whether missing values are imputed for methods that would take them, too.
    pub(super) fn always_imputed(&self) -> bool {
        matches!(self, ColumnEncoder::Standard { always: true, .. })
    }

    /// The number of nearest rows that a missing value is imputed from; zero if by a constant.
    pub(super) fn neighbours(&self) -> usize {
        if let ColumnEncoder::Standard { neighbours, .. } = self { *neighbours } else { 0 }
    }

    /// The feature of a missing value in a column of numbers.
    pub(super) fn imputed_value(&self) -> f64 {
        match self {
            ColumnEncoder::Standard { mean, standard_deviation, fill, .. } => {
                fill.map_or(0.0, |fill| (fill - mean) / standard_deviation)
            }
            _ => 0.0,
        }
    }

    /// The names of the features, other than its missing indicator.
    pub(super) fn names<'a>(&'a self, column: &'a str) -> Box<dyn Iterator<Item = String> + 'a> {
        match self {
            ColumnEncoder::Standard { .. }
            | ColumnEncoder::YesNo { .. }
            | ColumnEncoder::Ordinal { .. }
            | ColumnEncoder::Codes { .. } => Box::new(std::iter::once(column.to_string())),
            ColumnEncoder::OneHot { names, rare, .. } => {
                let rare = rare.then(|| format!("{column}=(rare)"));
                Box::new(names.values().iter().map(move |value| format!("{column}={value}")).chain(rare))
            }
            ColumnEncoder::Hashed { places, .. } => {
                Box::new((0..*places).map(move |place| format!("{column}=#{place}")))
            }
            ColumnEncoder::Vector { first, width } => {
                Box::new((*first..first + width).map(move |place| format!("{column}: {place}")))
            }
            ColumnEncoder::Words(encoder) => {
                Box::new((0..encoder.width()).map(move |place| format!("{column}: {}", encoder.name(place))))
            }
        }
    }

    /// Writes the dense features of some rows of a column, from column `first` on. Missing values are NaN.
    pub(super) fn encode_dense(&self, column: &Column, rows: Range<usize>, first: usize, out: &mut Matrix) {
        match self {
            ColumnEncoder::Standard { mean, standard_deviation, log, .. } => {
                for i in rows.clone() {
                    let value = column.number(i).map(|value| (transformed(value, *log) - mean) / standard_deviation);
                    out[(i, first)] = value.unwrap_or(f64::NAN);
                }
            }
            ColumnEncoder::YesNo { .. } => {
                rows.clone().for_each(|i| out[(i, first)] = column.number(i).unwrap_or(f64::NAN));
            }
            ColumnEncoder::Ordinal { order, mean, standard_deviation, fill, .. } => {
                for i in rows.clone() {
                    let number = column.text(i).and_then(|name| number_in(order, &name)).unwrap_or(*fill);
                    out[(i, first)] = (number - mean) / standard_deviation;
                }
            }
            ColumnEncoder::Codes { names, .. } => {
                // The code of all rare categories or, where there is none of those, of categories not seen in training: not missing.
                let other = names.count() as f64;
                for i in rows.clone() {
                    let code = column.text(i).map(|name| names.code(&name).map_or(other, f64::from));
                    out[(i, first)] = code.unwrap_or(f64::NAN);
                }
            }
            ColumnEncoder::OneHot { .. } | ColumnEncoder::Hashed { .. } if !self.is_sparse() => {
                self.each_category(column, rows.clone(), |i, place, value| out[(i, first + place)] = value);
            }
            _ => {}
        }
        let count = if self.is_sparse() { 0 } else { self.count() };
        for i in rows.filter(|&i| column.is_missing(i)) {
            out.row_mut(i)[first..first + count].fill(f64::NAN);
            if self.has_missing_indicator() {
                out[(i, first + count)] = 1.0;
            }
        }
    }

    /// Imputes the dense features of a row in which the column has a missing value.
    pub(super) fn fill(&self, features: &mut [f64]) {
        if self.is_sparse() || !features[0].is_nan() {
            return;
        }
        let features = &mut features[..self.count()];
        features.fill(0.0);
        match self {
            ColumnEncoder::Standard { .. } => features[0] = self.imputed_value(),
            ColumnEncoder::YesNo { fill, .. } => features[0] = f64::from(u8::from(*fill)),
            ColumnEncoder::Ordinal { mean, standard_deviation, fill, .. } => {
                features[0] = (fill - mean) / standard_deviation
            }
            ColumnEncoder::OneHot { fill, empty: false, .. } => features[*fill] = 1.0,
            _ => {}
        }
    }

    /// The sparse features of a column.
    pub(super) fn encode_sparse(&self, column: &Column, run: &Run) -> Result<Option<Sparse>> {
        if !self.is_sparse() {
            return Ok(None);
        }
        let rows = match self {
            ColumnEncoder::Words(encoder) => return encoder.encode(&texts_of(column), run).map(Some),
            ColumnEncoder::Vector { first, width } => {
                let known = |place: usize| place.checked_sub(*first).filter(|place| place < width);
                let row = |i: usize| {
                    // A place that was not seen in training is left out.
                    let entries = column.vectors().into_iter().flat_map(move |vectors| vectors.entries(i));
                    entries.filter_map(|(place, x)| Some((known(place)? as u32, x))).collect()
                };
                (0..column.rows()).map(row).collect()
            }
            _ => {
                let mut rows = vec![Vec::new(); column.rows()];
                for some in pieces(column.rows()) {
                    run.check()?;
                    self.each_category(column, some, |i, place, value| rows[i].push((place as u32, value)));
                }
                rows
            }
        };
        Sparse::from_rows(self.count(), rows).map(Some)
    }

    /// Calls `found(row, place, value)` for those rows whose category is known; a missing value counts as the most frequent one.
    fn each_category(&self, column: &Column, rows: Range<usize>, mut found: impl FnMut(usize, usize, f64)) {
        for i in rows {
            match (self, column.text(i)) {
                (ColumnEncoder::OneHot { names, rare, .. }, Some(name)) => match names.code(&name) {
                    Some(code) => found(i, code as usize, 1.0),
                    None if *rare => found(i, names.count(), 1.0),
                    None => {}
                },
                (ColumnEncoder::OneHot { fill, empty: false, .. }, None) => found(i, *fill, 1.0),
                (ColumnEncoder::Hashed { places, .. }, Some(name)) => {
                    let (place, sign) = place_and_sign(name.as_bytes(), *places);
                    found(i, place as usize, f64::from(sign));
                }
                _ => {}
            }
        }
    }

    /// Whether everything in a loaded encoder fits together.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            ColumnEncoder::Standard { mean, standard_deviation, fill, .. } => {
                mean.is_finite() && *standard_deviation > 0.0 && fill.is_none_or(f64::is_finite)
            }
            ColumnEncoder::Ordinal { mean, standard_deviation, fill, .. } => {
                mean.is_finite() && *standard_deviation > 0.0 && fill.is_finite()
            }
            ColumnEncoder::OneHot { names, fill, rare, .. } => *fill < names.count() + usize::from(*rare),
            ColumnEncoder::Hashed { places, .. } => (1..=1 << 24).contains(places),
            ColumnEncoder::Vector { first, width } => {
                first.checked_add(*width).is_some_and(|end| end <= u32::MAX as usize)
            }
            ColumnEncoder::Words(encoder) => encoder.is_sound(),
            ColumnEncoder::YesNo { .. } | ColumnEncoder::Codes { .. } => true,
        }
    }
}

/// The categories that are not rare, sorted; whether some are; and which is the most frequent.
fn frequent(column: &Column, options: &CategoryOptions) -> Result<(Categories<str>, bool, usize)> {
    let (all, rows) = Categories::<str>::learn((0..column.rows()).map(|i| column.text(i)))?;
    let rule = RareCategories { min_rows: options.rare.of(column.rows()), max_groups: None };
    let groups = CategoryGroups::new(&rows, rule);
    let kept: Vec<usize> = (0..all.count()).filter(|&code| !groups.is_rare(code)).collect();
    let most = kept.iter().map(|&code| rows[code]).max();
    let fill = kept.iter().position(|&code| Some(rows[code]) == most).unwrap_or(0);
    let names = Categories::in_order(kept.iter().map(|&code| all.values()[code].clone()))?;
    Ok((names, groups.rare_group().is_some(), fill))
}

/// The texts of a column, where they are.
pub(super) fn texts_of(column: &Column) -> Vec<Option<&str>> {
    (0..column.rows())
        .map(|i| match column.text(i) {
            Some(std::borrow::Cow::Borrowed(text)) => Some(text),
            _ => None,
        })
        .collect()
}

fn transformed(value: f64, log: bool) -> f64 {
    if log { value.signum() * value.abs().ln_1p() } else { value }
}

/// A column without any value is filled with 0.
fn or_zero(fill: f64) -> f64 {
    if fill.is_nan() { 0.0 } else { fill }
}

/// The number of a category in its order, from 1.
fn number_in(order: &Categories<str>, name: &str) -> Option<f64> {
    order.code(name).map(|code| f64::from(code + 1))
}
