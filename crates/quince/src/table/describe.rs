//! What a table holds, in numbers: for `quince describe`.

use super::kind::MOSTLY_DIFFERENT;
use super::{Column, ColumnData, Kind, Table, category_names};
use crate::numbers::{correlation, mean_and_standard_deviation, quantile};
use arrow_array::Array;
use serde::Serialize;
use std::collections::BTreeMap;

/// With more columns of numbers than this there are too many pairs to be worth the time.
const MAX_CORRELATED_COLUMNS: usize = 100;

/// Everything worth knowing about a table at a glance.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Number of rows.
    pub rows: usize,
    /// Each column.
    pub columns: Vec<ColumnDescription>,
    /// Pearson's correlation of every pair of columns of numbers, counts and yes/no, over the rows that have both. Empty
    /// where there are more than a hundred such columns.
    pub correlations: Vec<Correlation>,
}

/// What a column holds.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnDescription {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: Kind,
    /// Why it is ignored, if it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why_ignored: String,
    /// Number of missing values.
    pub missing: usize,
    /// Number of different values.
    pub distinct: usize,
    /// For numbers and counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberDescription>,
    /// The most frequent values and how often each occurs, for all but numbers and texts; ten at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<(String, usize)>,
    /// For vectors: the number of places, and the density: the fraction of them that is not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<(usize, f64)>,
    /// For texts: the mean number of words per cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_words: Option<f64>,
}

/// Mean, standard deviation and quantiles of numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberDescription {
    /// The mean.
    pub mean: f64,
    /// The standard deviation (N - 1).
    pub standard_deviation: f64,
    /// Least value, quartiles, largest value.
    pub quantiles: [f64; 5],
}

/// The correlation of two columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// One column.
    pub first: String,
    /// The other.
    pub second: String,
    /// Pearson's correlation.
    pub value: f64,
}

impl Table {
    /// Describes every column, and the correlations of numeric columns.
    ///
    /// ```
    /// use quince::Table;
    /// let about = Table::from_csv("x\n1.5\n2.5\n?\n")?.describe();
    /// assert_eq!((about.rows, about.columns[0].missing), (3, 1));
    /// assert_eq!(about.columns[0].numbers.as_ref().map(|numbers| numbers.mean), Some(2.0));
    /// # quince::Result::Ok(())
    /// ```
    pub fn describe(&self) -> Description {
        let numeric = |c: &&Column| matches!(c.kind(), Kind::Number | Kind::Count | Kind::YesNo);
        let numbers = |c: &Column| (0..c.rows()).map(|i| c.number(i)).collect::<Vec<_>>();
        let mut columns: Vec<(&str, Vec<Option<f64>>)> =
            self.columns().iter().filter(numeric).map(|c| (c.name(), numbers(c))).collect();
        if columns.len() > MAX_CORRELATED_COLUMNS {
            columns.clear();
        }
        let mut correlations = Vec::new();
        for (k, (first, of_first)) in columns.iter().enumerate() {
            for (second, of_second) in &columns[k + 1..] {
                let both = |(a, b): (&Option<f64>, &Option<f64>)| Some((*a.as_ref()?, *b.as_ref()?));
                let (a, b): (Vec<f64>, Vec<f64>) = of_first.iter().zip(of_second).filter_map(both).unzip();
                if let Some(value) = correlation(&a, &b) {
                    correlations.push(Correlation { first: first.to_string(), second: second.to_string(), value });
                }
            }
        }
        let columns = self.columns().iter().map(|column| self.describe_column(column)).collect();
        Description { rows: self.rows(), columns, correlations }
    }

    /// Describes a column; that it is ignored as a key is explained by the cells that are no numbers, if all others are.
    fn describe_column(&self, column: &Column) -> ColumnDescription {
        let mut description = column.describe();
        if description.why_ignored == MOSTLY_DIFFERENT
            && let Some(reason) = self.why_no_number(column)
        {
            description.why_ignored = format!("{MOSTLY_DIFFERENT}; {reason}");
        }
        description
    }
}

impl Column {
    /// For a column of a hundred categories or more: how many there are, if most rows have one that hardly any other has.
    pub(super) fn rare_categories(&self) -> Option<usize> {
        const MANY: usize = 100;
        const RARE: usize = 3;
        let ColumnData::Categories(codes) = &self.data else { return None };
        let mut counts = vec![0usize; category_names(codes).len()];
        (0..self.rows()).filter(|&i| !self.is_missing(i)).for_each(|i| counts[codes.keys().value(i) as usize] += 1);
        let (all, rare) = counts.iter().fold((0, 0), |(all, rare), &n| (all + n, rare + if n <= RARE { n } else { 0 }));
        let different = counts.iter().filter(|&&count| count > 0).count();
        Some(different).filter(|&different| different >= MANY && 2 * rare > all)
    }

    /// Describes the column.
    pub fn describe(&self) -> ColumnDescription {
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        let mut words = 0;
        let counted = if self.kind() == Kind::Vector { 0 } else { self.rows() };
        for text in (0..counted).filter_map(|i| self.text(i)) {
            if self.kind() == Kind::Text {
                words += text.split_whitespace().count();
            }
            *counts.entry(text).or_default() += 1;
        }
        let distinct = counts.len();
        let filled = self.rows() - self.missing_count();
        let mut top: Vec<(String, usize)> = Vec::new();
        if matches!(self.kind(), Kind::Category | Kind::YesNo) {
            top = counts.into_iter().map(|(text, count)| (text.into_owned(), count)).collect();
            top.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            top.truncate(10);
        }
        let numbers = matches!(self.kind(), Kind::Number | Kind::Count).then(|| {
            let mut values: Vec<f64> = (0..self.rows()).filter_map(|i| self.number(i)).collect();
            values.sort_by(f64::total_cmp);
            let (mean, standard_deviation) = mean_and_standard_deviation(&values);
            NumberDescription {
                mean,
                standard_deviation,
                quantiles: [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&values, q)),
            }
        });
        ColumnDescription {
            name: self.name().into(),
            kind: self.kind(),
            why_ignored: self.why_ignored().into(),
            missing: self.missing_count(),
            distinct,
            numbers,
            top,
            vectors: self.vectors().map(|rows| {
                let width = self.vector_places().1;
                (width, rows.stored() as f64 / (rows.rows() as f64 * width as f64).max(1.0))
            }),
            mean_words: (self.kind() == Kind::Text).then(|| words as f64 / filled.max(1) as f64),
        }
    }
}
