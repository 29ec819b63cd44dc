//! Tables as people have them: typed columns with missing values.
//!
//! A [`Table`] holds Arrow arrays. Each [`Column`] has a [`Kind`], found by the rule in [`kind`] or given by
//! the user, and remembers which file and line every row came from, so that an error can say where to look.

mod arff;
mod arrow;
mod cells;
mod csv;
mod describe;
mod folder;
#[cfg(feature = "parquet")]
mod ipc;
mod json;
pub mod kind;
mod libsvm;
pub mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "images")]
mod picture;
mod read;
mod spellings;
mod target;
mod vector;
mod write;

pub use cells::Cells;
pub use describe::{ColumnDescription, Correlation, Description, NumberDescription};
pub use kind::Kind;
pub use options::{
    Analyzer, CategoryOptions, ColumnOptions, Encoding, FeatureScore, Fill, Frequency, Language, NumberOptions,
    StopWords, TermWeighting, TextOptions,
};
pub use read::{Format, Header, Pictures, ReadOptions};
pub use target::{Labelled, TrainingSet};
pub use write::{ArrowColumn, OutputColumn, OutputFormat, OutputValues, gzip};

use crate::error::{Error, Place, Result, did_you_mean};
use crate::learn::LabelType;
use crate::matrix::Sparse;
use crate::numbers::{is_code, number_text};
use crate::run::Run;
use arrow_array::types::Int32Type;
use arrow_array::{Array, BooleanArray, DictionaryArray, Float64Array, LargeStringArray};
use serde::{Deserialize, Serialize};
use spellings::Spellings;
use std::path::Path;
use std::sync::Arc;

/// Columns of equal length, each with a name and a kind.
///
/// ```
/// use quince::{Table, Kind};
/// let table = Table::from_csv("age,city\n31,Oslo\n?,Rome\n45,Oslo\n22,Rome\n")?;
/// assert_eq!((table.rows(), table.columns().len()), (4, 2));
/// assert_eq!(table.column("age")?.kind(), Kind::Count);
/// assert_eq!(table.column("age")?.missing_count(), 1);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
    source: Option<Arc<Source>>,
    /// How columns become features, where not by default.
    encoding: Arc<Encoding>,
}

/// Where the rows of a table came from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    /// The line on which each row begins.
    pub(crate) lines: Vec<u64>,
}

/// One column of a table.
///
/// ```
/// use quince::table::{Column, Table};
/// let ages = Column::numbers("age", &[31.5, f64::NAN]);
/// assert_eq!((ages.number(0), ages.number(1), ages.missing_count()), (Some(31.5), None, 1));
/// let table = Table::new(vec![ages, Column::words("city", [Some("Oslo"), Some("Rome")])])?;
/// assert_eq!(table.column("city")?.text(1).as_deref(), Some("Rome"));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    kind: Kind,
    data: ColumnData,
    /// Why the column is ignored, in a few words; empty if it is not.
    why: String,
    /// What its cells are as labels, where that is known: from a data frame, not from text.
    label_type: Option<LabelType>,
}

/// The cells of a column. What is ignored stays as text.
#[derive(Clone, Debug)]
pub(crate) enum ColumnData {
    Numbers { values: Float64Array, spellings: Option<Arc<Spellings>> },
    YesNo { values: BooleanArray, words: [String; 2] },
    Categories(DictionaryArray<Int32Type>),
    Texts(LargeStringArray),
    Vectors(Arc<Sparse>),
}

/// Name and kind of a column: what a saved model remembers of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The column's name.
    pub name: String,
    /// The column's kind.
    pub kind: Kind,
}

impl Table {
    /// Reads a file (CSV, TSV, JSON lines, ARFF, LIBSVM, Parquet or Arrow, also `.gz`; `-` is standard input), finding what it is and
    /// the kinds of its columns.
    pub fn read(path: impl AsRef<Path>) -> Result<Table> {
        Table::read_with(path, &ReadOptions::default())
    }

    /// Reads a file with some things given.
    pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
        let run = Run::new();
        Cells::read(path, options, &run)?.table(options, &run)
    }

    /// Reads a table from text.
    pub fn from_csv(text: &str) -> Result<Table> {
        let (options, run) = (ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() }, Run::new());
        Cells::parse(text.as_bytes().to_vec(), "text", &options, &run)?.table(&options, &run)
    }

    /// From columns of equal length with different names.
    pub fn new(columns: Vec<Column>) -> Result<Table> {
        let rows = columns.first().map_or(0, Column::rows);
        let mut names = std::collections::HashSet::new();
        for column in &columns {
            if column.rows() != rows {
                return Err(Error::data(
                    format!("column '{}' has {} rows, the first has {rows}", column.name, column.rows()),
                    "Give all columns the same length.",
                ));
            }
            if !names.insert(&column.name) {
                return Err(Error::data(
                    format!("two columns are called '{}'", column.name),
                    "Give every column a name of its own.",
                ));
            }
        }
        Ok(Table { columns, rows, source: None, encoding: Arc::default() })
    }

    pub(crate) fn with_source(mut self, source: Source) -> Table {
        self.source = Some(Arc::new(source));
        self
    }

    /// The same table, with encoding options: how its columns become features.
    pub fn with_encoding(mut self, encoding: Encoding) -> Result<Table> {
        for (name, options) in &encoding.columns {
            let kind = self.column(name)?.kind;
            if !options.is_for(kind) {
                return Err(Error::data(
                    format!("'{name}' is a column of kind {kind}, and its options are for another"),
                    "Give the column another kind, or give it other options.",
                ));
            }
            if let ColumnOptions::Category(categories) = options {
                categories.check_order(self.column(name)?)?;
            }
        }
        self.encoding = Arc::new(encoding);
        Ok(self)
    }

    /// The same table, with encoding options as a person writes them: `log,fill=median` of a column, or of `*`, all columns
    /// that can.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let table = Table::from_csv("income,price\n1,2\n10,4\n100,6\n")?.encoded_as("income", "log,plain")?;
    /// let model = Model::train(&table, "price", &LeastSquares::default())?;
    /// // The one feature is ln(1 + income), neither centred nor scaled.
    /// let features = model.encode(&table, &Run::new())?;
    /// assert_eq!(features.features().columns(), 1);
    /// # quince::Result::Ok(())
    /// ```
    pub fn encoded_as(self, name: &str, settings: &str) -> Result<Table> {
        let mut encoding = (*self.encoding).clone();
        if name == "*" {
            let able = |column: &&Column| column.kind != Kind::Ignored && column.kind != Kind::Vector;
            let mut problem = None;
            let before = encoding.clone();
            for column in self.columns.iter().filter(able) {
                match ColumnOptions::parse(column.kind, settings) {
                    Ok(options) => {
                        encoding.columns.insert(column.name.clone(), options);
                    }
                    Err(error) => problem = Some(error),
                }
            }
            if let (Some(problem), true) = (problem, encoding == before) {
                return Err(problem);
            }
        } else {
            let options =
                ColumnOptions::parse(self.column(name)?.kind, settings).map_err(|error| error.of_column(name))?;
            encoding.columns.insert(name.to_string(), options);
        }
        self.with_encoding(encoding)
    }

    /// As [`Table::encoded_as`], in addition to the options that the column has.
    pub fn encoded_also(self, name: &str, settings: &str) -> Result<Table> {
        let mut encoding = (*self.encoding).clone();
        let usual = ColumnOptions::parse(self.column(name)?.kind, "")?;
        let options = encoding.columns.entry(name.to_string()).or_insert(usual);
        options.also(settings).map_err(|error| error.of_column(name))?;
        self.with_encoding(encoding)
    }

    /// How columns become features, where not by default.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns in their order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column with this name; an error names the nearest.
    ///
    /// ```
    /// use quince::Table;
    /// let table = Table::from_csv("weight,height\n1.5,2.25\n1.75,2.5\n2.5,3.125\n")?;
    /// assert_eq!(table.column("height")?.number(0), Some(2.25));
    /// assert_eq!(table.column("heigth").unwrap_err().remedy(), "Did you mean 'height'?");
    /// # quince::Result::Ok(())
    /// ```
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| self.no_such_column(name))
    }

    pub(crate) fn no_such_column(&self, name: &str) -> Error {
        Error::table(
            Place { file: self.source_name(), ..Place::default() },
            format!("there is no column called '{name}'"),
            did_you_mean(name, "columns", self.columns.iter().map(|column| column.name.as_str())),
        )
    }

    /// The rows with these numbers, in this order.
    ///
    /// ```
    /// use quince::Table;
    /// let table = Table::from_csv("x\n1.5\n2.5\n3.5\n")?.take(&[2, 0]);
    /// assert_eq!((table.column("x")?.number(0), table.column("x")?.number(1)), (Some(3.5), Some(1.5)));
    /// # quince::Result::Ok(())
    /// ```
    ///
    /// # Panics
    /// If there is no such row.
    pub fn take(&self, rows: &[usize]) -> Table {
        let columns = self.columns.iter().map(|column| column.take(rows)).collect();
        let source = self.source.as_ref().map(|source| {
            Arc::new(Source {
                name: source.name.clone(),
                lines: rows.iter().map(|&i| source.lines.get(i).copied().unwrap_or(0)).collect(),
            })
        });
        Table { columns, rows: rows.len(), source, encoding: self.encoding.clone() }
    }

    /// All columns but these.
    ///
    /// ```
    /// use quince::Table;
    /// let table = Table::from_csv("a,b,c\n1,2,3\n")?.without(&["b"]);
    /// assert_eq!(table.columns().iter().map(|column| column.name()).collect::<Vec<_>>(), ["a", "c"]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn without(&self, names: &[&str]) -> Table {
        let keep = |column: &&Column| !names.contains(&column.name.as_str());
        Table { columns: self.columns.iter().filter(keep).cloned().collect(), ..self.clone() }
    }

    /// Where row `i` of column `name` is.
    pub(crate) fn place(&self, row: usize, column: &str) -> Place {
        let source = self.source.as_deref();
        let line = source.and_then(|source| source.lines.get(row).copied());
        Place {
            file: self.source_name(),
            line,
            row: if line.is_none() { Some(row as u64 + 1) } else { None },
            column: Some(column.to_string()),
        }
    }

    pub(crate) fn source_name(&self) -> Option<String> {
        self.source.as_ref().map(|source| source.name.clone())
    }
}

impl Column {
    /// A column of numbers; not-a-number is a missing value. The kind is found by the rule.
    pub fn numbers(name: impl Into<String>, values: &[f64]) -> Column {
        kind::column_of_numbers(name.into(), values.to_vec(), None)
    }

    /// A column of words or texts; `None` is a missing value. The kind is found by the rule.
    pub fn words<'a>(name: impl Into<String>, values: impl IntoIterator<Item = Option<&'a str>>) -> Column {
        kind::column_of_words(name.into(), LargeStringArray::from_iter(values))
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column's kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Why the column is ignored, in a few words; empty if it is not.
    pub fn why_ignored(&self) -> &str {
        &self.why
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.data.array().map_or_else(|| self.vectors().map_or(0, Sparse::rows), |array| array.len())
    }

    /// Number of missing values.
    pub fn missing_count(&self) -> usize {
        let nulls = self.data.array().map_or(0, |array| array.null_count());
        match &self.data {
            ColumnData::Texts(_) | ColumnData::Categories(_) if self.kind != Kind::Text => {
                nulls + (0..self.rows()).filter(|&i| self.is_blank(i)).count()
            }
            _ => nulls,
        }
    }

    /// Whether the value in row `i` is missing.
    ///
    /// # Panics
    /// If there is no such row; so do [`Column::number`] and [`Column::text`].
    pub fn is_missing(&self, i: usize) -> bool {
        assert!(i < self.rows(), "row {i} of a column of {} rows", self.rows());
        self.data.array().is_some_and(|array| array.is_null(i)) || (self.kind != Kind::Text && self.is_blank(i))
    }

    /// Whether row `i` has an empty text, which is a document without words in a column of texts, and a missing value elsewhere.
    pub(super) fn is_blank(&self, i: usize) -> bool {
        matches!(self.data, ColumnData::Texts(_) | ColumnData::Categories(_))
            && self.written(i).is_some_and(|cell| cell.is_empty())
    }

    /// The number in row `i`; 0 or 1 for yes/no. `None` for missing values and for words.
    pub fn number(&self, i: usize) -> Option<f64> {
        match &self.data {
            ColumnData::Numbers { values, .. } => values.is_valid(i).then(|| values.value(i)),
            ColumnData::YesNo { values, .. } => values.is_valid(i).then(|| f64::from(u8::from(values.value(i)))),
            _ => None,
        }
    }

    /// The cell in row `i` as text; `None` for a missing value.
    pub fn text(&self, i: usize) -> Option<std::borrow::Cow<'_, str>> {
        if self.is_missing(i) { None } else { self.written(i) }
    }

    /// As [`Column::text`], empty texts included.
    fn written(&self, i: usize) -> Option<std::borrow::Cow<'_, str>> {
        if self.data.array().is_some_and(|array| array.is_null(i)) {
            return None;
        }
        Some(match &self.data {
            ColumnData::Numbers { values, .. } => number_text(values.value(i)).into(),
            ColumnData::YesNo { values, words } => words[usize::from(values.value(i))].as_str().into(),
            ColumnData::Categories(values) => category_names(values).value(values.keys().value(i) as usize).into(),
            ColumnData::Texts(values) => values.value(i).into(),
            ColumnData::Vectors(rows) => vector::text(rows, i).into(),
        })
    }

    /// For a column of words that would all be numbers if none were a code, such as `007`: the first that is.
    pub(crate) fn first_code(&self) -> Option<usize> {
        if !matches!(self.data, ColumnData::Categories(_) | ColumnData::Texts(_)) {
            return None;
        }
        let texts = || (0..self.rows()).filter_map(|i| Some((i, self.text(i)?)));
        let (first, _) = texts().find(|(_, text)| is_code(text))?;
        texts().all(|(_, text)| text.parse::<f64>().is_ok()).then_some(first)
    }

    /// Whether all cells are strings, as the frame or file says, that look like numbers.
    pub(crate) fn has_numbers_as_strings(&self) -> bool {
        let words = matches!(self.data, ColumnData::Categories(_) | ColumnData::Texts(_));
        let mut texts = (0..self.rows()).filter_map(|i| self.text(i)).peekable();
        words
            && self.label_type == Some(LabelType::Words)
            && texts.peek().is_some()
            && texts.all(|text| text.parse::<f64>().is_ok())
    }

    /// For a column of words of which most are numbers: how many are, and the first row that is not. It may be a slip.
    pub fn nearly_numbers(&self) -> Option<(usize, usize)> {
        if !matches!(self.data, ColumnData::Categories(_) | ColumnData::Texts(_)) || self.why == "row numbers" {
            return None;
        }
        let filled = self.rows() - self.missing_count();
        let mut count = 0;
        let mut first = None;
        for i in 0..self.rows() {
            match self.text(i) {
                Some(text) if text.parse::<f64>().is_ok() => count += 1,
                Some(_) => first = first.or(Some(i)),
                None => {}
            }
        }
        first.filter(|_| 10 * count >= 8 * filled).map(|row| (count, row))
    }

    /// The same cells as another kind; an error names the first cell that does not fit.
    pub fn as_kind(&self, kind: Kind, table: &Table) -> Result<Column> {
        self.as_kind_by(kind, |(row, problem, remedy)| Error::table(table.place(row, &self.name), problem, remedy))
    }

    fn as_kind_by(&self, kind: Kind, refuse: impl FnOnce(kind::CellError) -> Error) -> Result<Column> {
        if kind == self.kind {
            return Ok(self.clone());
        }
        if kind == Kind::Number && matches!(self.data, ColumnData::Numbers { .. }) {
            return Ok(Column { kind, why: String::new(), ..self.clone() });
        }
        // Empty texts come along: they are documents once the column is one of texts.
        let texts = LargeStringArray::from_iter((0..self.rows()).map(|i| self.written(i)));
        let column = kind::column_of_kind(self.name.clone(), texts, kind).map_err(refuse)?;
        Ok(Column { label_type: self.label_type, ..column })
    }

    fn take(&self, rows: &[usize]) -> Column {
        let data = match &self.data {
            ColumnData::Numbers { values, spellings } => ColumnData::Numbers {
                values: rows.iter().map(|&i| values.is_valid(i).then(|| values.value(i))).collect(),
                spellings: spellings.clone(),
            },
            ColumnData::YesNo { values, words } => ColumnData::YesNo {
                values: rows.iter().map(|&i| values.is_valid(i).then(|| values.value(i))).collect(),
                words: words.clone(),
            },
            ColumnData::Categories(values) => {
                let keys = rows.iter().map(|&i| values.keys().is_valid(i).then(|| values.keys().value(i))).collect();
                ColumnData::Categories(DictionaryArray::new(keys, values.values().clone()))
            }
            ColumnData::Texts(values) => {
                ColumnData::Texts(rows.iter().map(|&i| values.is_valid(i).then(|| values.value(i))).collect())
            }
            ColumnData::Vectors(values) => ColumnData::Vectors(Arc::new(values.take_rows(rows))),
        };
        Column { data, ..self.clone() }
    }
}

impl ColumnData {
    /// The cells as an array, unless they are vectors, which have no missing values.
    fn array(&self) -> Option<&dyn Array> {
        match self {
            ColumnData::Numbers { values, .. } => Some(values),
            ColumnData::YesNo { values, .. } => Some(values),
            ColumnData::Categories(values) => Some(values),
            ColumnData::Texts(values) => Some(values),
            ColumnData::Vectors(_) => None,
        }
    }
}

/// The names behind the codes of a category column.
pub(crate) fn category_names(values: &DictionaryArray<Int32Type>) -> &LargeStringArray {
    values.values().as_any().downcast_ref().expect("a category column is made with large strings as its names")
}
