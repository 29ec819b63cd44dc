//! A chunk of records, parsed into columns: numbers where all cells are numbers, words where not.

use super::cursor::{Behind, Cursor, Layout};
use crate::error::Result;
use crate::numbers::is_code;
use crate::table::kind;
use std::ops::Range;

/// Whole records, one after another.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) bytes: Range<usize>,
    /// The line on which the first begins.
    pub(super) line: u64,
}

/// What is wanted of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Numbers {
        /// Whether it matters how they are written.
        spelled: bool,
    },
    Words,
    Nothing,
}

/// The cells of one column in one chunk.
#[derive(Debug)]
pub(super) enum Piece {
    Numbers(NumberColumn),
    Words(WordColumn),
    /// Numbers were wanted, and there is a cell that is none; or nothing was wanted.
    Nothing,
}

/// Numbers one after another; not-a-number is a missing value.
#[derive(Debug, Default)]
pub(super) struct NumberColumn {
    pub(super) values: Vec<f64>,
    /// Whether it matters how they are written.
    spelled: bool,
    /// Whether it matters, and some may be written otherwise than they print.
    pub(super) respelled: bool,
}

impl NumberColumn {
    #[inline(always)]
    fn push(&mut self, number: f64, cell: &[u8]) {
        self.values.push(number);
        if self.spelled && !self.respelled {
            self.respelled = is_respelled(cell);
        }
    }
}

/// Words one after another.
#[derive(Debug, Default)]
pub(super) struct WordColumn {
    pub(super) text: Vec<u8>,
    pub(super) ends: Vec<usize>,
    pub(super) filled: Vec<bool>,
}

impl WordColumn {
    /// The word of row `i`.
    pub(super) fn text(&self, i: usize) -> String {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        String::from_utf8_lossy(&self.text[start..self.ends[i]]).into_owned()
    }

    fn push(&mut self, cell: &[u8]) {
        let cell = trimmed(cell);
        // An empty cell may be a text without words: whether it is missing depends on the kind of the column.
        let filled = cell.is_empty() || !is_missing(cell);
        if filled {
            self.text.extend_from_slice(cell);
        }
        self.ends.push(self.text.len());
        self.filled.push(filled);
    }
}

/// The columns of one chunk, and the line on which each of its rows begins.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) columns: Vec<Piece>,
    pub(super) lines: Vec<u64>,
}

impl Chunk {
    /// The number of records, if they are about as long as the first: room that need not be made again and again. No record is
    /// shorter than its delimiters, so a short first one cannot ask for much.
    fn likely_rows(&self, bytes: &[u8], width: usize) -> usize {
        let chunk = &bytes[self.bytes.clone()];
        let first = memchr::memchr(b'\n', chunk).map_or(chunk.len(), |end| end + 1);
        chunk.len() / first.max(2 * width).max(1) * 17 / 16 + 1
    }

    /// Parses the records; every one must have as many cells as there are wants.
    pub(super) fn parse(&self, bytes: &[u8], layout: &Layout, wants: &[Want]) -> Result<Parsed> {
        let width = wants.len();
        let rows = self.likely_rows(bytes, width);
        let new = |want: &Want| match want {
            Want::Numbers { spelled } => {
                Piece::Numbers(NumberColumn { values: Vec::with_capacity(rows), spelled: *spelled, respelled: false })
            }
            Want::Words => Piece::Words(WordColumn::default()),
            Want::Nothing => Piece::Nothing,
        };
        let mut parsed = Parsed { columns: wants.iter().map(new).collect(), lines: Vec::with_capacity(rows) };
        let mut cursor = Cursor::new(&bytes[..self.bytes.end], self.bytes.start, self.line, layout);
        // In a table of one column a blank line is a missing value, unless only blank lines follow.
        let mut blank_lines = Vec::new();
        while !cursor.is_done() {
            let line = cursor.line;
            if cursor.skip_blank_line() {
                if width == 1 {
                    blank_lines.push(line);
                }
                continue;
            }
            for blank in blank_lines.drain(..) {
                parsed.lines.push(blank);
                match &mut parsed.columns[0] {
                    Piece::Numbers(numbers) => numbers.values.push(f64::NAN),
                    Piece::Words(words) => words.push(b""),
                    Piece::Nothing => {}
                }
            }
            parsed.lines.push(line);
            for (j, column) in parsed.columns.iter_mut().enumerate() {
                match column {
                    Piece::Numbers(numbers) => {
                        let start = cursor.at;
                        match cursor.number() {
                            Some(number) => numbers.push(number, &bytes[start..cursor.at]),
                            None => {
                                let cell = cursor.cell()?;
                                match number_of(&cell) {
                                    Some(number) => numbers.push(number, trimmed(&cell)),
                                    None => *column = Piece::Nothing,
                                }
                            }
                        }
                    }
                    Piece::Words(words) => words.push(&cursor.cell()?),
                    Piece::Nothing => drop(cursor.cell()?),
                }
                let behind = cursor.step();
                if (behind == Behind::End) != (j + 1 == width) {
                    let found = if behind == Behind::End { j + 1 } else { width + cursor.skip_record()? };
                    let cells = if found == 1 { "1 cell".to_string() } else { format!("{found} cells") };
                    return Err(cursor.refuse(
                        line,
                        format!("{cells} where the header has {width}"),
                        "Add or remove cells so that every line has as many as the header, \
                         and put quotes around cells that contain the delimiter.",
                    ));
                }
            }
        }
        Ok(parsed)
    }
}

/// A cell as a number, not-a-number for a missing value; `None` for anything else.
fn number_of(cell: &[u8]) -> Option<f64> {
    let cell = trimmed(cell);
    if is_missing(cell) {
        return Some(f64::NAN);
    }
    let text = std::str::from_utf8(cell).ok()?;
    if is_code(text) { None } else { text.parse().ok() }
}

/// Whether a number may be written otherwise than it prints: `+1`, `.5`, `1.`, `1.0`, `01.5`, `1e0`. Without a branch on what comes
/// at random in numbers (a sign, a zero before the point), which a processor cannot foresee.
#[inline(always)]
fn is_respelled(cell: &[u8]) -> bool {
    let Some(last) = cell.last() else { return false };
    let byte = |at: usize| cell.get(at).copied().unwrap_or_default();
    let sign = usize::from(byte(0) == b'-');
    let leads = (byte(sign) == b'0') & byte(sign + 1).is_ascii_digit();
    let odd = !byte(sign).is_ascii_digit() | leads | (*last == b'.') | has_exponent(cell);
    odd || (*last == b'0' && cell.contains(&b'.'))
}

/// Whether there is an `e` among the last bytes of a number. No exponent of a finite number has more digits than three, and one
/// comes last.
#[inline(always)]
fn has_exponent(number: &[u8]) -> bool {
    let is_e = |byte: u8| byte | 0x20 == b'e';
    match number {
        [.., a, b, c, d, _] => is_e(*a) | is_e(*b) | is_e(*c) | is_e(*d),
        short => short.iter().any(|&byte| is_e(byte)),
    }
}

/// Without white space around it, Unicode's as well.
fn trimmed(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    let plain = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii);
    if plain(cell.first()) && plain(cell.last()) {
        return cell;
    }
    std::str::from_utf8(cell).map_or(cell, |text| text.trim().as_bytes())
}

fn is_missing(cell: &[u8]) -> bool {
    // No spelling of a missing value is longer.
    cell.len() <= 4 && std::str::from_utf8(cell).is_ok_and(kind::is_missing)
}
