//! Reads the bytes of a text table, cell by cell.

use crate::error::{Error, Place, Result};
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;

/// How cells are separated, and how the file is called in errors.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) delimiter: u8,
    pub(super) source: String,
}

/// What stands behind a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// Another cell.
    Cell,
    /// The end of the record.
    End,
}

/// A place in the bytes.
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// The line it is on, counted from 1.
    pub(super) line: u64,
    layout: &'a Layout,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize, line: u64, layout: &'a Layout) -> Cursor<'a> {
        Cursor { bytes, at, line, layout }
    }

    /// Whether there is nothing left.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline(always)]
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline(always)]
    fn stops(&self, byte: u8) -> bool {
        byte == self.layout.delimiter || byte == b'\n' || byte == b'\r'
    }

    /// Whether the record that begins here is a blank line.
    pub(super) fn at_blank_line(&self) -> bool {
        Cursor { ..*self }.skip_blank_line()
    }

    /// If the record that begins here is a blank line, goes past it.
    #[inline]
    pub(super) fn skip_blank_line(&mut self) -> bool {
        let mut at = self.at;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\n' | b'\r' => break,
                byte if byte == self.layout.delimiter || !byte.is_ascii_whitespace() => return false,
                _ => at += 1,
            }
        }
        if self.is_done() {
            return false;
        }
        self.at = at;
        self.step();
        true
    }

    /// Goes past what stands behind a cell: a delimiter or the end of a line.
    #[inline(always)]
    pub(super) fn step(&mut self) -> Behind {
        match self.byte() {
            Some(byte) if byte == self.layout.delimiter => {
                self.at += 1;
                return Behind::Cell;
            }
            Some(b'\r') => self.at += 1 + usize::from(self.bytes.get(self.at + 1) == Some(&b'\n')),
            Some(_) => self.at += 1,
            None => {}
        }
        self.line += 1;
        Behind::End
    }

    /// If a number stands here and nothing else in the cell: the number. Otherwise stays where it is.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Option<f64> {
        let (number, length) = fast_float2::parse_partial::<f64, _>(&self.bytes[self.at..]).ok()?;
        let end = self.at + length;
        let stops = self.bytes.get(end).is_none_or(|&byte| self.stops(byte));
        if stops && number.is_finite() && !may_be_a_code(number, &self.bytes[self.at..end]) {
            self.at = end;
            return Some(number);
        }
        None
    }

    /// Reads one cell and stops at the delimiter, line end or end of text behind it.
    #[inline]
    pub(super) fn cell(&mut self) -> Result<Cow<'a, [u8]>> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| self.stops(byte)).unwrap_or(rest.len());
        let plain = &rest[..length];
        let quoted = plain.iter().find(|&&byte| byte != b' ' && byte != b'\t') == Some(&b'"');
        if !quoted {
            self.at += length;
            return Ok(Cow::Borrowed(plain));
        }
        if self.layout.delimiter == b'\t' {
            self.at += length;
            return Ok(unquoted(plain).unwrap_or(Cow::Borrowed(plain)));
        }
        self.quoted_cell()
    }

    fn quoted_cell(&mut self) -> Result<Cow<'a, [u8]>> {
        let opened = self.line;
        let find = |from: usize| memchr(b'"', &self.bytes[from..]);
        let mut at = self.at + find(self.at).unwrap_or(0) + 1;
        let mut cell = Cow::Borrowed(&self.bytes[at..at]);
        loop {
            let Some(length) = find(at) else {
                let problem = "a quote is opened here and never closed".to_string();
                let remedy = "Close the quote, or write a quote inside a cell twice (\"\").";
                return Err(self.refuse(opened, problem, remedy));
            };
            let part = &self.bytes[at..at + length];
            self.line += line_ends(part);
            at += length + 1;
            if cell.is_empty() {
                cell = Cow::Borrowed(part)
            } else {
                cell.to_mut().extend_from_slice(part)
            }
            if self.bytes.get(at) != Some(&b'"') {
                break;
            }
            cell.to_mut().push(b'"');
            at += 1;
        }
        self.at = at;
        while self.layout.delimiter != b' ' && self.byte() == Some(b' ') {
            self.at += 1;
        }
        match self.byte() {
            Some(byte) if !self.stops(byte) => {
                let problem = "there is text behind a closing quote".to_string();
                Err(self.refuse(self.line, problem, "Write a quote inside a quoted cell twice (\"\")."))
            }
            _ => Ok(cell),
        }
    }

    /// Goes past the rest of a record; says how many cells that was.
    pub(super) fn skip_record(&mut self) -> Result<usize> {
        let mut cells = 1;
        loop {
            self.cell()?;
            if self.step() == Behind::End {
                return Ok(cells);
            }
            cells += 1;
        }
    }

    pub(super) fn refuse(&self, line: u64, problem: String, remedy: &str) -> Error {
        let place = Place { file: Some(self.layout.source.clone()), line: Some(line), ..Place::default() };
        Error::table(place, problem, remedy.to_string())
    }
}

/// Whether a number may be a code: there is a zero before it, or it is whole and has more than fifteen digits. Signs and zeros
/// come at random, and a guess of the processor that fails costs more than both looks: hence no branch on them.
#[inline(always)]
fn may_be_a_code(number: f64, text: &[u8]) -> bool {
    let byte = |at: usize| text.get(at).copied().unwrap_or_default();
    let sign = usize::from((byte(0) == b'-') | (byte(0) == b'+'));
    let has_zero = (byte(sign) == b'0') & byte(sign + 1).is_ascii_digit();
    // The smallest number of sixteen digits.
    has_zero || (number.abs() >= 1e15 && text[sign..].iter().all(u8::is_ascii_digit))
}

/// How many lines end in these bytes: at LF, CRLF, or CR alone.
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    let alone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
    (memchr_iter(b'\n', bytes).count() + memchr_iter(b'\r', bytes).filter(alone).count()) as u64
}

/// What stands between the quotes of a cell that is quoted as a whole, inner quotes written twice.
fn unquoted(cell: &[u8]) -> Option<Cow<'_, [u8]>> {
    let inner = cell.trim_ascii().strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if !inner.contains(&b'"') {
        return Some(Cow::Borrowed(inner));
    }
    let mut plain = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter();
    while let Some(&byte) = bytes.next() {
        if byte == b'"' && bytes.next() != Some(&b'"') {
            return None;
        }
        plain.push(byte);
    }
    Some(Cow::Owned(plain))
}
