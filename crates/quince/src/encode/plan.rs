//! How one column becomes features.

use super::settings::{Categories, Fill, Numbers, Wish};
use super::text::{ClassOf, TextEncoder, Texts, Weigh};
use crate::error::Result;
use crate::matrix::{Matrix, Sparse};
use crate::numbers::mean_and_deviation;
use crate::run::Run;
use crate::table::{Column, Kind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Categories of more values than this are sparse.
const DENSE_CATEGORIES: usize = 32;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Plan {
    /// (value - mean) / deviation, of a value or its logarithm.
    Standard {
        mean: f64,
        deviation: f64,
        #[serde(default, skip_serializing_if = "is_false")]
        log: bool,
        /// What a hole becomes, if not the mean.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<f64>,
        /// Holes are filled from so many near rows.
        #[serde(default, skip_serializing_if = "is_zero")]
        neighbours: usize,
        /// Holes are filled for methods that would take them, too.
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
        names: Vec<String>,
        fill: usize,
        /// Another feature stands for all other categories.
        #[serde(default, skip_serializing_if = "is_false")]
        rare: bool,
        /// A hole is none of them.
        #[serde(default, skip_serializing_if = "is_false")]
        empty: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    /// The number of a category in a given order, from 1, less the mean and divided by the deviation.
    Ordinal {
        order: Vec<String>,
        mean: f64,
        deviation: f64,
        fill: f64,
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    /// The number of a category, from 0: for methods that take categories as they are.
    Codes {
        names: Vec<String>,
        /// Another number stands for all other categories.
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
    /// Places `first` to `first + width - 1` of a vector, as they are.
    Vector {
        first: usize,
        width: usize,
    },
}

fn is_false(answer: &bool) -> bool {
    !answer
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Plan {
    /// Learns from a column; of texts the features come along, for they are costly.
    pub(super) fn learn(
        column: &Column,
        wish: Option<&Wish>,
        classes: Option<ClassOf<'_>>,
        run: &Run,
    ) -> Result<(Plan, Option<Sparse>)> {
        Ok(match (column.kind(), wish) {
            (Kind::Text, wish) => {
                let settings = if let Some(Wish::Texts(texts)) = wish { texts.clone() } else { Texts::default() };
                let (encoder, rows) = TextEncoder::learn(&texts_of(column), settings, classes, run)?;
                return Ok((Plan::Words(encoder), Some(rows)));
            }
            (Kind::Category, Some(Wish::Categories(categories))) => (Plan::categories(column, categories), None),
            (Kind::Category, _) => (Plan::categories(column, &Categories::default()), None),
            (Kind::YesNo, Some(Wish::Numbers(numbers))) => (Plan::yes_or_no(column, numbers), None),
            (Kind::YesNo, _) => (Plan::yes_or_no(column, &Numbers::default()), None),
            (Kind::Vector, _) => (Plan::vector(column), None),
            (_, Some(Wish::Numbers(numbers))) => (Plan::numbers(column, numbers), None),
            _ => (Plan::numbers(column, &Numbers::default()), None),
        })
    }

    /// Learns from a column for a method that takes columns as they are: numbers are not scaled unless that is wished, categories
    /// get numbers, and words are counted.
    pub(super) fn learn_as_is(
        column: &Column,
        wish: Option<&Wish>,
        classes: Option<ClassOf<'_>>,
        run: &Run,
    ) -> Result<(Plan, Option<Sparse>)> {
        match (column.kind(), wish) {
            (Kind::Text, wish) => {
                let mut texts = if let Some(Wish::Texts(texts)) = wish { texts.clone() } else { Texts::default() };
                texts.signed = false;
                if texts.weigh == Weigh::Tfidf {
                    texts.weigh = Weigh::Counts;
                }
                Plan::learn(column, Some(&Wish::Texts(texts)), classes, run)
            }
            (Kind::Category, wish) => {
                let wish = if let Some(Wish::Categories(wish)) = wish { wish.clone() } else { Categories::default() };
                Ok((Plan::codes(column, &wish), None))
            }
            (Kind::Number | Kind::Count, wish) => {
                let wish = if let Some(Wish::Numbers(wish)) = wish { wish.clone() } else { Numbers::default() };
                Ok((Plan::numbers(column, &Numbers { plain: !wish.standard, ..wish }), None))
            }
            _ => Plan::learn(column, wish, classes, run),
        }
    }

    fn codes(column: &Column, wish: &Categories) -> Plan {
        let missing = wish.missing;
        if !wish.order.is_empty() {
            return Plan::Codes { names: wish.order.clone(), rare: false, missing };
        }
        let (names, rare, _) = frequent(column, wish);
        Plan::Codes { names, rare, missing }
    }

    fn numbers(column: &Column, wish: &Numbers) -> Plan {
        let mut values: Vec<f64> = (0..column.rows()).filter_map(|i| column.number(i)).collect();
        values.iter_mut().for_each(|value| *value = transformed(*value, wish.log));
        let (mean, deviation) = mean_and_deviation(&values);
        let usable = deviation > 0.0 && deviation.is_finite() && !wish.plain;
        let (fill, neighbours) = match wish.fill {
            Fill::Usual | Fill::Mean => (None, 0),
            Fill::Neighbours(k) => (None, k),
            Fill::Median => (Some(median(&mut values)), 0),
            Fill::MostFrequent => (Some(most_frequent(&mut values)), 0),
            Fill::Value(value) => (Some(transformed(value, wish.log)), 0),
        };
        Plan::Standard {
            mean: if wish.plain { 0.0 } else { mean },
            deviation: if usable { deviation } else { 1.0 },
            log: wish.log,
            fill: if wish.plain { fill.or(Some(mean)) } else { fill },
            neighbours,
            always: wish.fill != Fill::Usual,
            missing: wish.missing,
        }
    }

    fn yes_or_no(column: &Column, wish: &Numbers) -> Plan {
        let count = |answer: f64| (0..column.rows()).filter(|&i| column.number(i) == Some(answer)).count();
        let fill = match wish.fill {
            Fill::Value(value) => value != 0.0,
            _ => count(1.0) > count(0.0),
        };
        Plan::YesNo { fill, missing: wish.missing }
    }

    fn categories(column: &Column, wish: &Categories) -> Plan {
        let missing = wish.missing;
        if wish.hash > 0 {
            return Plan::Hashed { places: wish.hash, missing };
        }
        if !wish.order.is_empty() {
            let code = |i: usize| code_of(&column.text(i)?, &wish.order);
            let mut codes: Vec<f64> = (0..column.rows()).filter_map(code).collect();
            let (mean, deviation) = mean_and_deviation(&codes);
            let usable = deviation > 0.0 && !wish.plain;
            let mean = if wish.plain { 0.0 } else { mean };
            let deviation = if usable { deviation } else { 1.0 };
            return Plan::Ordinal {
                order: wish.order.clone(),
                mean,
                deviation,
                fill: most_frequent(&mut codes),
                missing,
            };
        }
        let (mut names, rare, fill) = frequent(column, wish);
        if names.is_empty() && !rare {
            names.push(String::new());
        }
        Plan::OneHot { names, fill, rare, empty: wish.empty, missing }
    }

    fn vector(column: &Column) -> Plan {
        let (first, width) = column.vector_places();
        Plan::Vector { first, width }
    }

    /// Whether the features of the column, other than that of its holes, are sparse.
    pub(super) fn is_sparse(&self) -> bool {
        match self {
            Plan::Standard { .. } | Plan::YesNo { .. } | Plan::Ordinal { .. } | Plan::Codes { .. } => false,
            Plan::OneHot { names, .. } => names.len() > DENSE_CATEGORIES,
            Plan::Hashed { places, .. } => *places > DENSE_CATEGORIES,
            Plan::Words { .. } | Plan::Vector { .. } => true,
        }
    }

    /// How many features the column has, other than that of its holes.
    fn count(&self) -> usize {
        match self {
            Plan::Standard { .. } | Plan::YesNo { .. } | Plan::Ordinal { .. } | Plan::Codes { .. } => 1,
            Plan::OneHot { names, rare, .. } => names.len() + usize::from(*rare),
            Plan::Hashed { places, .. } => *places,
            Plan::Words(encoder) => encoder.width(),
            Plan::Vector { width, .. } => *width,
        }
    }

    /// Whether a feature says that there was a hole.
    pub(super) fn tells_holes(&self) -> bool {
        match self {
            Plan::Standard { missing, .. }
            | Plan::YesNo { missing, .. }
            | Plan::OneHot { missing, .. }
            | Plan::Ordinal { missing, .. }
            | Plan::Codes { missing, .. }
            | Plan::Hashed { missing, .. } => *missing,
            Plan::Words { .. } | Plan::Vector { .. } => false,
        }
    }

    pub(super) fn dense_width(&self) -> usize {
        usize::from(self.tells_holes()) + if self.is_sparse() { 0 } else { self.count() }
    }

    pub(super) fn sparse_width(&self) -> usize {
        if self.is_sparse() { self.count() } else { 0 }
    }

    /// Whether the column is a single number, of which products can be made.
    pub(super) fn is_number(&self) -> bool {
        matches!(self, Plan::Standard { .. } | Plan::YesNo { .. } | Plan::Ordinal { .. })
    }

    /// Whether holes are filled for methods that would take them, too.
    pub(super) fn always_filled(&self) -> bool {
        matches!(self, Plan::Standard { always: true, .. })
    }

    /// From how many near rows a hole is filled; zero if it is not.
    pub(super) fn neighbours(&self) -> usize {
        if let Plan::Standard { neighbours, .. } = self { *neighbours } else { 0 }
    }

    /// What a hole in a column of numbers becomes, as a feature.
    pub(super) fn filler(&self) -> f64 {
        match self {
            Plan::Standard { mean, deviation, fill, .. } => fill.map_or(0.0, |fill| (fill - mean) / deviation),
            _ => 0.0,
        }
    }

    /// The names of the features, other than that of its holes.
    pub(super) fn names<'a>(&'a self, column: &'a str) -> Box<dyn Iterator<Item = String> + 'a> {
        match self {
            Plan::Standard { .. } | Plan::YesNo { .. } | Plan::Ordinal { .. } | Plan::Codes { .. } => {
                Box::new(std::iter::once(column.to_string()))
            }
            Plan::OneHot { names, rare, .. } => {
                let rare = rare.then(|| format!("{column}=(rare)"));
                Box::new(names.iter().map(move |value| format!("{column}={value}")).chain(rare))
            }
            Plan::Hashed { places, .. } => Box::new((0..*places).map(move |place| format!("{column}=#{place}"))),
            Plan::Vector { first, width } => {
                Box::new((*first..first + width).map(move |place| format!("{column}: {place}")))
            }
            Plan::Words(encoder) => {
                Box::new((0..encoder.width()).map(move |place| format!("{column}: {}", encoder.name(place))))
            }
        }
    }

    /// Writes the dense features of a column, from column `first` on. Holes are NaN.
    pub(super) fn encode_dense(&self, column: &Column, first: usize, out: &mut Matrix) {
        let rows = 0..column.rows();
        match self {
            Plan::Standard { mean, deviation, log, .. } => {
                for i in rows.clone() {
                    let value = column.number(i).map(|value| (transformed(value, *log) - mean) / deviation);
                    out[(i, first)] = value.unwrap_or(f64::NAN);
                }
            }
            Plan::YesNo { .. } => {
                rows.clone().for_each(|i| out[(i, first)] = column.number(i).unwrap_or(f64::NAN));
            }
            Plan::Ordinal { order, mean, deviation, fill, .. } => {
                for i in rows.clone() {
                    let code = column.text(i).and_then(|name| code_of(&name, order)).unwrap_or(*fill);
                    out[(i, first)] = (code - mean) / deviation;
                }
            }
            Plan::Codes { names, .. } => {
                let places: HashMap<&str, usize> =
                    names.iter().enumerate().map(|(code, name)| (name.as_str(), code)).collect();
                // The code of all rare categories or, where there is none of those, of none that was ever seen: no hole.
                let other = names.len() as f64;
                for i in rows.clone() {
                    let code = column.text(i).map(|name| places.get(&*name).map_or(other, |&code| code as f64));
                    out[(i, first)] = code.unwrap_or(f64::NAN);
                }
            }
            Plan::OneHot { .. } | Plan::Hashed { .. } if !self.is_sparse() => {
                self.each_category(column, |i, place, value| out[(i, first + place)] = value);
            }
            _ => {}
        }
        let count = if self.is_sparse() { 0 } else { self.count() };
        for i in rows.filter(|&i| column.is_hole(i)) {
            out.row_mut(i)[first..first + count].fill(f64::NAN);
            if self.tells_holes() {
                out[(i, first + count)] = 1.0;
            }
        }
    }

    /// Fills the dense features of a row of which the column has a hole.
    pub(super) fn fill(&self, features: &mut [f64]) {
        if self.is_sparse() || !features[0].is_nan() {
            return;
        }
        let features = &mut features[..self.count()];
        features.fill(0.0);
        match self {
            Plan::Standard { .. } => features[0] = self.filler(),
            Plan::YesNo { fill, .. } => features[0] = f64::from(u8::from(*fill)),
            Plan::Ordinal { mean, deviation, fill, .. } => features[0] = (fill - mean) / deviation,
            Plan::OneHot { fill, empty: false, .. } => features[*fill] = 1.0,
            _ => {}
        }
    }

    /// The sparse features of a column.
    pub(super) fn encode_sparse(&self, column: &Column, run: &Run) -> Result<Option<Sparse>> {
        if !self.is_sparse() {
            return Ok(None);
        }
        let rows = match self {
            Plan::Words(encoder) => return encoder.encode(&texts_of(column), run).map(Some),
            Plan::Vector { first, width } => {
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
                self.each_category(column, |i, place, value| rows[i].push((place as u32, value)));
                rows
            }
        };
        Sparse::from_rows(self.count(), rows).map(Some)
    }

    /// Calls `found(row, place, value)` for every row whose category is known; a hole counts as the most frequent one.
    fn each_category(&self, column: &Column, mut found: impl FnMut(usize, usize, f64)) {
        for i in 0..column.rows() {
            match (self, column.text(i)) {
                (Plan::OneHot { names, rare, .. }, Some(name)) => {
                    match names.binary_search_by(|other| other.as_str().cmp(&name)) {
                        Ok(place) => found(i, place, 1.0),
                        Err(_) if *rare => found(i, names.len(), 1.0),
                        Err(_) => {}
                    }
                }
                (Plan::OneHot { fill, empty: false, .. }, None) => found(i, *fill, 1.0),
                (Plan::Hashed { places, .. }, Some(name)) => {
                    let (place, sign) = super::text::place_and_sign(name.as_bytes(), *places);
                    found(i, place as usize, f64::from(sign));
                }
                _ => {}
            }
        }
    }

    /// Whether everything in a loaded plan fits together.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            Plan::Standard { mean, deviation, fill, .. } => {
                mean.is_finite() && *deviation > 0.0 && fill.is_none_or(f64::is_finite)
            }
            Plan::Ordinal { mean, deviation, fill, .. } => mean.is_finite() && *deviation > 0.0 && fill.is_finite(),
            Plan::OneHot { names, fill, rare, .. } => *fill < names.len() + usize::from(*rare),
            Plan::Hashed { places, .. } => (1..=1 << 24).contains(places),
            Plan::Vector { first, width } => first.checked_add(*width).is_some_and(|end| end <= u32::MAX as usize),
            Plan::Words(encoder) => encoder.is_sound(),
            Plan::YesNo { .. } | Plan::Codes { .. } => true,
        }
    }
}

/// The categories that are not rare, sorted; whether some are; and which is the most frequent.
fn frequent(column: &Column, wish: &Categories) -> (Vec<String>, bool, usize) {
    let mut counts = BTreeMap::new();
    for name in (0..column.rows()).filter_map(|i| column.text(i)) {
        *counts.entry(name).or_insert(0usize) += 1;
    }
    let least = wish.rare.of(column.rows());
    let before = counts.len();
    counts.retain(|_, count| *count as f64 >= least);
    let rare = counts.len() < before;
    let most = counts.values().copied().max().unwrap_or(0);
    let fill = counts.values().position(|&count| count == most).unwrap_or(0);
    (counts.into_keys().map(|name| name.into_owned()).collect(), rare, fill)
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

/// The number of a category in its order, from 1.
fn code_of(name: &str, order: &[String]) -> Option<f64> {
    order.iter().position(|other| other == name).map(|place| (place + 1) as f64)
}

/// The middle of the values, or between the two in the middle; 0 of none.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[middle],
        _ => 0.5 * values[middle - 1] + 0.5 * values[middle],
    }
}

/// The value that occurs most often, the smallest of equals; 0 of none.
fn most_frequent(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (mut best, mut most) = (0.0, 0);
    for same in values.chunk_by(|a, b| a == b) {
        if same.len() > most {
            (best, most) = (same[0], same.len());
        }
    }
    best
}
