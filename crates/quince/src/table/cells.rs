//! A table as it was written: names and text cells, before any kind is found.

/// Text cells by row and column, as they stand in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    source: String,
    names: Vec<String>,
    /// All cells, row after row, in one string.
    text: String,
    /// Where each cell ends in `text`.
    ends: Vec<usize>,
    /// The line on which each row begins, counted from 1.
    lines: Vec<u64>,
    decimal_commas: bool,
}

impl Cells {
    pub(super) fn new(source: &str, names: Vec<String>) -> Cells {
        Cells {
            source: source.into(),
            names,
            text: String::new(),
            ends: Vec::new(),
            lines: Vec::new(),
            decimal_commas: false,
        }
    }

    pub(super) fn push_cell(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    /// Ends the row that began on `line`: as many cells as there are names must have been pushed for it.
    pub(super) fn end_row(&mut self, line: u64) {
        self.lines.push(line);
        debug_assert_eq!(self.ends.len(), self.lines.len() * self.names.len());
    }

    pub(super) fn separated_by(mut self, delimiter: u8) -> Cells {
        self.decimal_commas = delimiter != b',';
        self
    }

    /// Whether a comma inside a cell may be a decimal point.
    pub(super) fn decimal_commas(&self) -> bool {
        self.decimal_commas
    }

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
        self.lines.len()
    }

    /// The cell in row `i` and column `j`, as it was written (without its quotes).
    pub fn cell(&self, i: usize, j: usize) -> &str {
        let k = i * self.names.len() + j;
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.text[start..self.ends[k]]
    }

    /// The line on which row `i` begins.
    pub fn line(&self, i: usize) -> u64 {
        self.lines[i]
    }
}
