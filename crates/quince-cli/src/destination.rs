//! Where the table goes that a command writes: standard output, or a file in the format that its name says.

use crate::input::check_output;
use crate::show;
use quince::table::{OutputColumn, OutputFormat, gzip};
use quince::{Error, Result};
use std::path::{Path, PathBuf};

/// A place and a format.
pub struct Destination<'a> {
    path: Option<&'a Path>,
    format: OutputFormat,
    packed: bool,
}

impl<'a> Destination<'a> {
    /// The given file; standard output, which is also `-`, without one. What cannot be written there is known before the work.
    pub fn new(given: &'a Option<PathBuf>, inputs: &[&Path]) -> Result<Destination<'a>> {
        let path = given.as_deref().filter(|path| *path != Path::new("-"));
        let Some(file) = path else {
            return Ok(Destination { path, format: OutputFormat::Delimited, packed: false });
        };
        check_output(file, inputs)?;
        let (format, packed) = OutputFormat::of_file(file)?;
        Ok(Destination { path, format, packed })
    }

    /// The same for what `--json` writes, if it is given: a name that promises another format is refused.
    pub fn for_json(self, json: bool) -> Result<Destination<'a>> {
        let ending = self.path.and_then(Path::extension).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let plain = self.format == OutputFormat::Delimited && !matches!(&*ending, "csv" | "tsv");
        match self.format {
            _ if !json => Ok(self),
            OutputFormat::Json => Ok(Destination { format: OutputFormat::Delimited, ..self }),
            _ if plain => Ok(self),
            _ => Err(Error::setting(
                "output",
                format!("cannot be a .{ending} file together with --json"),
                "Leave out --json, or name a .json file.",
            )),
        }
    }

    /// The file, if it is one.
    pub fn path(&self) -> Option<&'a Path> {
        self.path
    }

    /// Whether cells go there with delimiters between them.
    pub fn is_delimited(&self) -> bool {
        self.format == OutputFormat::Delimited
    }

    /// Whether the columns of what is written have types of Arrow's, so that a label that is a number need not be a text.
    pub fn is_arrow(&self) -> bool {
        matches!(self.format, OutputFormat::Parquet | OutputFormat::Arrow)
    }

    /// Writes a text.
    pub fn write_text(&self, text: &str) -> Result<()> {
        self.write(text.as_bytes())
    }

    /// Writes columns, in another format than text.
    pub fn write_columns(&self, columns: Vec<OutputColumn>) -> Result<()> {
        self.write(&self.format.encode(columns)?)
    }

    /// Writes bytes: all of them or, if something is in the way, none.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let Some(path) = self.path else {
            show::print_bytes(bytes);
            return Ok(());
        };
        let packed = if self.packed { Some(gzip(bytes)) } else { None };
        quince::model::replace_file(path, packed.as_deref().unwrap_or(bytes))
            .map_err(|error| Error::file(path.display().to_string(), error))
    }
}
