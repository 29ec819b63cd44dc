//! Tables as text: the delimiter between cells, and the quotes around a cell that contains it.

use quince::table::Cells;
use std::path::Path;

/// How the cells of a line are delimited.
#[derive(Clone, Copy)]
pub struct Layout {
    delimiter: char,
}

impl Layout {
    /// Tabs for a file that is called `.tsv`; otherwise commas, or the delimiter of the table that was read.
    pub fn new(output: Option<&Path>, read: Option<&Cells>) -> Layout {
        let read = read.and_then(Cells::delimiter).unwrap_or(',');
        let name = output.map(|path| path.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let delimiter = match name.trim_end_matches(".gz").rsplit_once('.') {
            Some((_, "tsv")) => '\t',
            Some((_, "csv")) if read == '\t' => ',',
            _ => read,
        };
        Layout { delimiter }
    }

    /// What stands between two cells.
    pub fn delimiter(&self) -> char {
        self.delimiter
    }

    /// Cells with delimiters between them, and the end of the line.
    pub fn line<S: AsRef<str>>(&self, cells: impl IntoIterator<Item = S>) -> String {
        let cells: Vec<String> = cells.into_iter().map(|cell| self.quoted(cell.as_ref())).collect();
        cells.join(&self.delimiter.to_string()) + "\n"
    }

    /// Whether a cell is changed: between tabs quotes would not hold a tab or the end of a line, which become spaces.
    pub fn changes(&self, cell: &str) -> bool {
        self.delimiter == '\t' && cell.contains(['\t', '\n', '\r'])
    }

    fn quoted(&self, cell: &str) -> String {
        let cell = if self.changes(cell) { cell.replace(['\t', '\n', '\r'], " ") } else { cell.to_string() };
        let plain = !cell.contains([self.delimiter, '"', '\n', '\r']);
        if plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
    }
}
