//! Opening a file: standard input, gzip, byte-order marks, and kind refusals of what is not a table.

use super::kind::{self, Kind};
use super::{Cells, Source, Table};
use crate::error::{Error, Place, Result, did_you_mean};
use arrow_array::LargeStringArray;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

/// What may be said about a file beforehand. Everything else is found.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The byte between two cells; found if not given.
    pub delimiter: Option<u8>,
    /// Whether the first line holds names.
    pub header: Header,
    /// Kinds that the user gives, by column name.
    pub kinds: Vec<(String, Kind)>,
    /// Columns to ignore.
    pub drop: Vec<String>,
}

/// Whether the first line of a file holds the names of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does.
    #[default]
    Names,
    /// It does not: columns are called `column1`, `column2` and so on.
    None,
}

impl Cells {
    /// Reads a file into text cells. `-` is standard input; gzip is recognised by its first bytes.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Cells> {
        let path = path.as_ref();
        let standard_input = path == Path::new("-");
        let name = if standard_input { "stdin".to_string() } else { path.display().to_string() };
        let mut bytes = Vec::new();
        if standard_input {
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| Error::file(&name, &e))?;
        } else {
            bytes = std::fs::read(path).map_err(|e| Error::file(&name, &e))?;
        }
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut plain = Vec::new();
            flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).map_err(|e| {
                Error::table(
                    Place { file: Some(name.clone()), ..Place::default() },
                    format!("the gzip data cannot be unpacked ({e})"),
                    "Copy or compress the file again.",
                )
            })?;
            bytes = plain;
        }
        let options = if options.delimiter.is_none() && name.trim_end_matches(".gz").ends_with(".tsv") {
            ReadOptions { delimiter: Some(b'\t'), ..options.clone() }
        } else {
            options.clone()
        };
        Cells::parse(&bytes, &name, &options)
    }

    /// Gives every column its kind: the user's, or by the rule.
    pub fn table(&self, options: &ReadOptions) -> Result<Table> {
        // Of several wishes for a column the last counts, and dropping it counts most.
        let dropped = options.drop.iter().map(|name| (name, Kind::Ignored));
        let wishes: HashMap<&String, Kind> =
            options.kinds.iter().map(|(name, kind)| (name, *kind)).chain(dropped).collect();
        let names: HashSet<&String> = self.names().iter().collect();
        for name in options.kinds.iter().map(|(name, _)| name).chain(&options.drop) {
            if !names.contains(name) {
                return Err(Error::table(
                    Place { file: Some(self.source().to_string()), ..Place::default() },
                    format!("there is no column called '{name}'"),
                    did_you_mean(name, "columns", self.names().iter().map(String::as_str)),
                ));
            }
        }
        let mut columns = Vec::new();
        for (j, name) in self.names().iter().enumerate() {
            let cells = LargeStringArray::from_iter((0..self.rows()).map(|i| {
                let cell = self.cell(i, j).trim();
                (!kind::is_hole(cell)).then_some(cell)
            }));
            // Where cells are not separated by commas, a comma may be a decimal point.
            let cells = match self.decimal_commas() {
                true => kind::with_decimal_points(&cells).unwrap_or(cells),
                false => cells,
            };
            let column = match wishes.get(name).copied() {
                Some(kind) => kind::column_of_kind(name.clone(), cells, kind),
                None => kind::column_of_cells(name.clone(), cells),
            };
            columns.push(column.map_err(|(row, problem, remedy)| {
                Error::table(
                    Place {
                        file: Some(self.source().to_string()),
                        line: Some(self.line(row)),
                        row: None,
                        column: Some(name.clone()),
                    },
                    problem,
                    remedy,
                )
            })?);
        }
        let lines = (0..self.rows()).map(|i| self.line(i)).collect();
        Ok(Table::new(columns)?.with_source(Source { name: self.source().to_string(), lines }))
    }
}
