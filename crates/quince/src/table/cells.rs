//! A table as it was written: names and columns of numbers or words, before any kind is found.

use super::csv::Written;
use super::kind::{self, CellError, Kind};
use super::options::Encoding;
use super::read::{Pictures, ReadOptions};
use super::spellings::Spellings;
use super::write::{ArrowColumn, OutputValues};
use super::{Column, Source, Table};
use crate::error::{Error, Place, Result, did_you_mean};
use crate::numbers::number_text;
use crate::run::Run;
use arrow_array::{Array, LargeStringArray};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What was read from a file: its columns have names, but no kinds yet.
///
/// ```
/// use quince::Run;
/// use quince::table::{Cells, ReadOptions};
/// let cells = Cells::parse(b"age;city\n31;Oslo\n".to_vec(), "a.csv", &ReadOptions::default(), &Run::new())?;
/// assert_eq!((cells.names(), cells.rows(), cells.delimiter()), (&["age".to_string(), "city".to_string()][..], 1, Some(';')));
/// # quince::Result::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct Cells {
    pub(super) source: String,
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Raw>,
    /// The line on which each row begins, counted from 1; empty where a file has no lines.
    pub(super) lines: Vec<u64>,
    pub(super) rows: usize,
    /// The text that the cells stand in, where there is one.
    pub(super) written: Option<Written>,
    /// Columns of whole numbers that have more digits than a float keeps, as they were written.
    pub(super) exact: HashMap<usize, LargeStringArray>,
    /// How numbers are written, where not as they print and few differ.
    pub(super) spellings: HashMap<usize, Arc<Spellings>>,
    /// Each column as Arrow has it, where a file holds such: what is written keeps its type. Those that are not read have no parts.
    pub(super) arrow: Vec<ArrowColumn>,
    /// How the cells were made of pictures, if they were.
    pub(super) pictures: Option<Pictures>,
}

/// The cells of one column.
#[derive(Debug)]
pub(super) enum Raw {
    /// All of them are numbers; not-a-number is a missing value.
    Numbers(Vec<f64>),
    /// Words, without the spaces around them; a null is a missing value.
    Words(LargeStringArray),
    /// The file says what kind of column this is.
    Typed(Column),
}

/// The largest number of cells of a file of this many bytes. Where missing values, zeros and words that repeat need not be
/// written, a small file could otherwise ask for a huge table: as many rows as columns, each with a cell of its own. Texts
/// of ten words among ten thousand, as sparse rows, have about a hundred cells per byte.
pub(super) fn most_cells(bytes: usize) -> usize {
    const FREE_CELLS: usize = 1 << 23;
    const CELLS_PER_BYTE: usize = 128;
    FREE_CELLS.max(bytes.saturating_mul(CELLS_PER_BYTE))
}

/// Whether a whole number has more digits than a float keeps.
pub(super) fn is_too_long(whole: i128) -> bool {
    whole.unsigned_abs() > 1 << 53
}

impl Cells {
    /// The file, or `stdin`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The line on which row `i` begins, if the file has lines.
    pub fn line(&self, i: usize) -> Option<u64> {
        self.lines.get(i).copied()
    }

    /// What parts the cells of a line, if the file is a text of such.
    pub fn delimiter(&self) -> Option<char> {
        self.written.as_ref().map(|written| char::from(written.delimiter()))
    }

    /// Column `j` as a file of Arrow columns (Parquet, Arrow) has it, with its own type, to be written unchanged.
    pub fn as_written(&self, j: usize) -> Option<OutputValues> {
        self.arrow.get(j).filter(|column| !column.parts.is_empty()).cloned().map(OutputValues::Arrow)
    }

    /// Why column `j` is not read, of which no cell is known; `None` if it is.
    pub fn why_not_read(&self, j: usize) -> Option<String> {
        let column = self.arrow.get(j).filter(|column| column.parts.is_empty())?;
        Some(format!("{} is neither numbers nor words", column.field.data_type()))
    }

    /// Whether the names look like data: all of them numbers, or most of them and not such as places and years, which count up.
    pub fn names_look_like_data(&self) -> bool {
        let numbers: Vec<f64> = self.names.iter().filter_map(|name| name.parse().ok()).collect();
        let count_up = numbers.iter().all(|x| x.fract() == 0.0) && numbers.windows(2).all(|pair| pair[0] < pair[1]);
        let all = numbers.len() == self.names.len();
        self.written.is_some() && (all || (2 * numbers.len() > self.names.len() && !count_up))
    }

    /// Calls `visit` with the cells of every row, as they were written (without quotes), or, where a file is no text, as they
    /// stand in the table that was made of them.
    pub fn each_row<'a>(&'a self, table: &'a Table, mut visit: impl FnMut(&[&str])) -> Result<()> {
        if let Some(written) = &self.written {
            return written.each_row(self.rows, visit);
        }
        if table.rows() != self.rows {
            return Err(Error::shape(
                format!("the table has {} rows, the file {}", table.rows(), self.rows),
                "Give the table that was made of these cells.",
            ));
        }
        for i in 0..self.rows {
            let cell = |(j, column): (usize, &'a Column)| match self.exact.get(&j).filter(|cells| cells.is_valid(i)) {
                Some(cells) => Cow::Borrowed(cells.value(i)),
                None => column.text(i).unwrap_or_default(),
            };
            let cells: Vec<Cow<'_, str>> = table.columns().iter().enumerate().map(cell).collect();
            visit(&cells.iter().map(|cell| cell.as_ref()).collect::<Vec<_>>());
        }
        Ok(())
    }

    /// The text of the file, with other texts in some cells (row, column, text), and nothing else changed; `None` where a file is no text
    /// of cells with delimiters between them.
    pub fn with_cells(&self, mut cells: Vec<(usize, usize, String)>) -> Option<Result<Vec<u8>>> {
        cells.sort_by_key(|&(row, column, _)| (row, column));
        self.written.as_ref().map(|written| written.with_cells(&cells))
    }

    /// Gives every column its kind: the user's, or by the rule. Only once: the columns go over into the table.
    pub fn table(&mut self, options: &ReadOptions, run: &Run) -> Result<Table> {
        // Of several kinds given for a column the last counts, and dropping it counts most.
        let dropped = options.drop.iter().map(|name| (name, Kind::Ignored));
        let kinds: HashMap<&String, Kind> =
            options.kinds.iter().map(|(name, kind)| (name, *kind)).chain(dropped).collect();
        let raw = std::mem::take(&mut self.columns);
        let names: HashSet<&String> = self.names.iter().collect();
        for name in options.kinds.iter().map(|(name, _)| name).chain(&options.drop) {
            if !names.contains(name) {
                return Err(Error::table(
                    Place { file: Some(self.source.clone()), ..Place::default() },
                    format!("there is no column called '{name}'"),
                    did_you_mean(name, "columns", self.names.iter().map(String::as_str)),
                ));
            }
        }
        let mut columns: Vec<(Raw, Option<Kind>)> =
            raw.into_iter().zip(&self.names).map(|(raw, name)| (raw, kinds.get(name).copied())).collect();
        run.each(&mut columns, |j, (raw, kind)| {
            raw.type_numbers(&self.names[j], *kind, self.spellings.get(&j).cloned());
        });
        let column = |(j, (raw, kind))| {
            run.check_cancelled()?;
            self.column(j, raw, kind, run)
        };
        let columns = columns.into_iter().enumerate().map(column).collect::<Result<_>>()?;
        let source = Source { name: self.source.clone(), lines: std::mem::take(&mut self.lines) };
        let table = options.encode(Table::new(columns)?.with_source(source))?;
        let encoding = Encoding { pictures: self.pictures, ..table.encoding().clone() };
        table.with_encoding(encoding)
    }

    fn column(&self, j: usize, raw: Raw, kind: Option<Kind>, run: &Run) -> Result<Column> {
        let name = || self.names[j].clone();
        let words = |raw: &Raw| match &self.written {
            Some(written) => written.words(j, run),
            None => Ok(raw.as_words()),
        };
        match (raw, kind) {
            (Raw::Typed(column), None) => Ok(column),
            (Raw::Typed(column), Some(kind)) => {
                column.as_kind_by(kind, |error| self.refuse(j, error)).map(|column| Column { name: name(), ..column })
            }
            // What is left here of numbers is ignored, wrong, or wanted as something else: that takes them as they were
            // written, since 007 may be a key, and an error should show the cell.
            (Raw::Numbers(numbers), None) if !numbers.iter().any(|x| x.is_infinite()) => {
                let (_, why) = kind::kind_of_numbers(&self.names[j], &numbers);
                Ok(Column { why: why.into(), ..kind::ignored(name(), words(&Raw::Numbers(numbers))?) })
            }
            (raw @ Raw::Numbers(_), kind) => {
                let kind = kind.unwrap_or(Kind::Number);
                kind::column_of_kind(name(), words(&raw)?, kind).map_err(|error| self.refuse(j, error))
            }
            (Raw::Words(cells), kind) => {
                // Where cells are not separated by commas, a comma may be a decimal point.
                let commas = self.written.as_ref().is_some_and(Written::may_have_decimal_commas);
                let cells = if commas { kind::with_decimal_points(&cells).unwrap_or(cells) } else { cells };
                let column = match kind {
                    Some(kind) => kind::column_of_kind(name(), cells, kind),
                    None => kind::column_of_cells(name(), cells),
                };
                column.map_err(|error| self.refuse(j, error))
            }
        }
    }

    fn refuse(&self, j: usize, (row, problem, remedy): CellError) -> Error {
        let line = self.line(row);
        let place = Place {
            file: Some(self.source.clone()),
            line,
            row: if line.is_none() { Some(row as u64 + 1) } else { None },
            column: Some(self.names[j].clone()),
        };
        Error::table(place, problem, remedy)
    }
}

impl Raw {
    /// Numbers that are learnt from get their kind.
    fn type_numbers(&mut self, name: &str, kind: Option<Kind>, spellings: Option<Arc<Spellings>>) {
        let Raw::Numbers(numbers) = self else { return };
        let kind = match kind {
            None => kind::kind_of_numbers(name, numbers).0,
            Some(kind) => kind,
        };
        if let Some(data) = kind::data_of_numbers(numbers, kind, spellings) {
            *self = Raw::Typed(Column { name: name.into(), kind, data, why: String::new(), label_type: None });
        }
    }

    fn as_words(&self) -> LargeStringArray {
        match self {
            Raw::Numbers(numbers) => numbers.iter().map(|&x| (!x.is_nan()).then(|| number_text(x))).collect(),
            Raw::Words(words) => words.clone(),
            Raw::Typed(column) => (0..column.rows()).map(|i| column.text(i)).collect(),
        }
    }
}
