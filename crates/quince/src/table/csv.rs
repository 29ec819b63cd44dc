//! CSV and TSV, by RFC 4180 with the liberties people take: any of `, ; tab |` between cells, CRLF or LF or CR at line
//! ends, spaces around quotes, a byte-order mark, blank lines. What cannot be read is refused with its line and a remedy.
//!
//! In tab-separated files a quote is a quote only if the cell both begins and ends with it: many write texts there with
//! quotation marks and no quoting.

use super::{Cells, Header, ReadOptions};
use crate::error::{Error, Place, Result};
use std::borrow::Cow;

impl Cells {
    /// Splits bytes into cells. `source` names them in errors.
    pub fn parse(bytes: &[u8], source: &str, options: &ReadOptions) -> Result<Cells> {
        let text = as_text(bytes, source)?;
        let refuse = |line: Option<u64>, problem: String, remedy: &str| {
            Error::table(
                Place { file: Some(source.to_string()), line, ..Place::default() },
                problem,
                remedy.to_string(),
            )
        };
        if text.trim().is_empty() {
            return Err(refuse(None, "the file is empty".into(), "Give a table with a header line and rows."));
        }
        let delimiter = options.delimiter.unwrap_or_else(|| sniff(text));
        let mut records = Records::new(text, delimiter, source);
        let mut row = Vec::new();
        let first_line = match records.next_into(&mut row)? {
            Some(line) => line,
            None => {
                return Err(refuse(None, "the file is empty".into(), "Give a table with a header line and rows."));
            }
        };
        let names = match options.header {
            Header::Names => header_names(&row, source, first_line)?,
            Header::None => (1..=row.len()).map(|j| format!("column{j}")).collect(),
        };
        let width = names.len();
        let mut cells = Cells::new(source, names).separated_by(delimiter);
        if options.header == Header::None {
            row.iter().for_each(|cell| cells.push_cell(cell));
            cells.end_row(first_line);
        }
        // In a table of one column a blank line is a hole, unless only blank lines follow.
        records.keep_blank = width == 1;
        let mut blank_lines = Vec::new();
        while let Some(line) = records.next_into(&mut row)? {
            if records.was_blank {
                blank_lines.push(line);
                continue;
            }
            for blank in blank_lines.drain(..) {
                cells.push_cell("");
                cells.end_row(blank);
            }
            if row.len() != width {
                return Err(refuse(
                    Some(line),
                    format!("{} where the header has {width}", count(row.len(), "cell")),
                    "Add or remove cells so that every line has as many as the header, \
                     and put quotes around cells that contain the delimiter.",
                ));
            }
            row.iter().for_each(|cell| cells.push_cell(cell));
            cells.end_row(line);
        }
        if cells.rows() == 0 {
            return Err(refuse(
                None,
                "there is a header but no row below it".into(),
                "Add rows, or say that the file has no header.",
            ));
        }
        Ok(cells)
    }

    /// Whether the names look like data: all of them numbers.
    pub fn names_look_like_data(&self) -> bool {
        self.names().iter().all(|name| name.parse::<f64>().is_ok())
    }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The bytes as UTF-8 without a byte-order mark, or a sentence on what they are instead.
fn as_text<'a>(bytes: &'a [u8], source: &str) -> Result<&'a str> {
    let refuse = |line, column: Option<String>, problem: &str, remedy: &str| {
        Error::table(
            Place { file: Some(source.to_string()), line, row: None, column },
            problem.to_string(),
            remedy.to_string(),
        )
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(refuse(None, None, "the text is UTF-16", "Save the file as UTF-8."));
    }
    if bytes.starts_with(b"PK\x03\x04") {
        let remedy = "Unpack it, or export the sheet as CSV.";
        return Err(refuse(None, None, "this is a zip archive or a spreadsheet, not a text table", remedy));
    }
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    if bytes.contains(&0) {
        return Err(refuse(None, None, "this is a binary file, not a text table", "Give a CSV or TSV file."));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count() as u64;
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let position = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
        let problem = format!("byte 0x{:02x} at position {position} is not UTF-8", bytes[error.valid_up_to()]);
        refuse(Some(line), None, &problem, "Save the file as UTF-8 (from Latin-1: iconv -f latin1 -t utf8).")
    })
}

fn header_names(row: &[Cow<'_, str>], source: &str, line: u64) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::with_capacity(row.len());
    let mut places = std::collections::HashMap::new();
    for (j, cell) in row.iter().enumerate() {
        let name = if cell.trim().is_empty() { format!("column{}", j + 1) } else { cell.trim().to_string() };
        if let Some(before) = places.insert(name.clone(), j) {
            return Err(Error::table(
                Place { file: Some(source.to_string()), line: Some(line), ..Place::default() },
                format!("columns {} and {} are both called '{name}'", before + 1, j + 1),
                "Give every column a name of its own.",
            ));
        }
        names.push(name);
    }
    Ok(names)
}

/// The delimiter under which the most of the first hundred records have as many cells as the first; on a tie the one that
/// makes more cells, then the first of `, tab ; |`.
fn sniff(text: &str) -> u8 {
    let mut end = text.len().min(65_536);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let mut best = (b',', 0.0, 1);
    for delimiter in *b",\t;|" {
        let mut records = Records::new(head, delimiter, "");
        let mut row = Vec::new();
        let mut widths = Vec::new();
        while widths.len() < 100
            && let Ok(Some(_)) = records.next_into(&mut row)
        {
            widths.push(row.len());
        }
        if end < text.len() && widths.len() > 1 && widths.len() < 100 {
            widths.pop();
        }
        let width = widths.first().copied().unwrap_or(1);
        if width < 2 {
            continue;
        }
        let share = widths.iter().filter(|&&w| w == width).count() as f64 / widths.len() as f64;
        if share > best.1 || (share == best.1 && width > best.2) {
            best = (delimiter, share, width);
        }
    }
    best.0
}

/// Walks through a text record by record.
struct Records<'a> {
    text: &'a str,
    at: usize,
    line: u64,
    delimiter: u8,
    source: &'a str,
    /// Whether blank lines are records too.
    keep_blank: bool,
    /// Whether the last record was a blank line.
    was_blank: bool,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, delimiter: u8, source: &'a str) -> Records<'a> {
        Records { text, at: 0, line: 1, delimiter, source, keep_blank: false, was_blank: false }
    }

    /// Reads the next record that is not blank into `row`; answers the line on which it begins.
    fn next_into(&mut self, row: &mut Vec<Cow<'a, str>>) -> Result<Option<u64>> {
        loop {
            row.clear();
            if self.at >= self.text.len() {
                return Ok(None);
            }
            let (line, start) = (self.line, self.at);
            loop {
                row.push(self.cell()?);
                match self.byte() {
                    Some(byte) if byte == self.delimiter => self.at += 1,
                    Some(b'\r') => {
                        self.at += 1 + usize::from(self.text.as_bytes().get(self.at + 1) == Some(&b'\n'));
                        break;
                    }
                    Some(_) => {
                        self.at += 1;
                        break;
                    }
                    None => break,
                }
            }
            self.line += 1;
            self.was_blank = self.text[start..self.at].trim().is_empty() && row.len() == 1;
            if self.keep_blank || !self.was_blank {
                return Ok(Some(line));
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads one cell and stops at the delimiter, line end or end of text behind it.
    fn cell(&mut self) -> Result<Cow<'a, str>> {
        let rest = &self.text.as_bytes()[self.at..];
        let stop = |byte: u8| byte == self.delimiter || byte == b'\n' || byte == b'\r';
        let length = rest.iter().position(|&byte| stop(byte)).unwrap_or(rest.len());
        let plain = &self.text[self.at..self.at + length];
        let quoted = plain.trim_start_matches([' ', '\t']).starts_with('"');
        if !quoted {
            self.at += length;
            return Ok(Cow::Borrowed(plain));
        }
        if self.delimiter == b'\t' {
            self.at += length;
            return Ok(unquoted(plain).unwrap_or(Cow::Borrowed(plain)));
        }
        self.quoted_cell()
    }

    fn quoted_cell(&mut self) -> Result<Cow<'a, str>> {
        let opened = self.line;
        let open = self.at + self.text[self.at..].find('"').unwrap_or(0);
        self.at = open + 1;
        let mut cell = Cow::Borrowed("");
        loop {
            let Some(length) = self.text[self.at..].find('"') else {
                let problem = "a quote is opened here and never closed".to_string();
                return Err(self.refuse(
                    opened,
                    problem,
                    "Close the quote, or write a quote inside a cell twice (\"\").",
                ));
            };
            let part = &self.text[self.at..self.at + length];
            self.line += part.bytes().filter(|&byte| byte == b'\n').count() as u64;
            self.at += length + 1;
            if cell.is_empty() {
                cell = Cow::Borrowed(part)
            } else {
                cell.to_mut().push_str(part)
            }
            if self.byte() != Some(b'"') {
                break;
            }
            cell.to_mut().push('"');
            self.at += 1;
        }
        while self.delimiter != b' ' && self.byte() == Some(b' ') {
            self.at += 1;
        }
        match self.byte() {
            None | Some(b'\n' | b'\r') => Ok(cell),
            Some(byte) if byte == self.delimiter => Ok(cell),
            Some(_) => {
                let problem = "there is text behind a closing quote".to_string();
                Err(self.refuse(self.line, problem, "Write a quote inside a quoted cell twice (\"\")."))
            }
        }
    }

    fn refuse(&self, line: u64, problem: String, remedy: &str) -> Error {
        let place = Place { file: Some(self.source.to_string()), line: Some(line), ..Place::default() };
        Error::table(place, problem, remedy.to_string())
    }
}

/// What stands between the quotes of a cell that is quoted as a whole, inner quotes written twice.
fn unquoted(cell: &str) -> Option<Cow<'_, str>> {
    let inner = cell.trim().strip_prefix('"')?.strip_suffix('"')?;
    let doubled = inner.matches('"').count() == 2 * inner.matches("\"\"").count();
    doubled.then(|| if inner.contains('"') { Cow::Owned(inner.replace("\"\"", "\"")) } else { Cow::Borrowed(inner) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        let cells = Cells::parse(text.as_bytes(), "t", &ReadOptions::default()).unwrap();
        let row = |i| (0..cells.names().len()).map(|j| cells.cell(i, j).to_string()).collect();
        (0..cells.rows()).map(row).collect()
    }

    fn refusal(bytes: &[u8]) -> String {
        Cells::parse(bytes, "t.csv", &ReadOptions::default()).unwrap_err().to_string()
    }

    #[test]
    fn delimiters_are_found() {
        for text in ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "a|b\n1|2\n"] {
            assert_eq!(rows(text), [["1", "2"]], "{text}");
        }
        assert_eq!(rows("a;b\n1,5;2,5\n3,5;4\n"), [["1,5", "2,5"], ["3,5", "4"]]);
        assert_eq!(rows("word\nhello\n"), [["hello"]]);
    }

    #[test]
    fn quotes_line_ends_marks_and_blank_lines_are_read() {
        assert_eq!(rows("\u{feff}a,b\r\n\"x, \"\"y\"\"\n z\" , 2\r\n\r\n3,4"), [["x, \"y\"\n z", " 2"], ["3", "4"]]);
        assert_eq!(rows("a,b\r1,2\r"), [["1", "2"]]);
        assert_eq!(rows("a,b\n\"\",5\" pipe\n"), [["", "5\" pipe"]]);
        assert_eq!(
            rows("a\tb\n\"Hi\" she said\t1\n\"all of it\"\t2\n"),
            [["\"Hi\" she said", "1"], ["all of it", "2"]]
        );
    }

    #[test]
    fn a_comma_is_a_decimal_point_where_it_does_not_separate_cells() {
        let table = |text: &str| crate::Table::from_csv(text).unwrap();
        let european = table("x;name\n1,5;a, b\n-2;c\n3,25;d, e\n");
        assert_eq!(european.column("x").unwrap().number(2), Some(3.25));
        assert_eq!(european.column("name").unwrap().text(0).unwrap(), "a, b");
        // In a file of commas it is no number: 1,234 could be either.
        assert_ne!(table("x,y\n\"1,5\",1\n\"2,5\",2\n").column("x").unwrap().kind(), crate::Kind::Number);
    }

    #[test]
    fn a_blank_line_of_a_single_column_is_a_hole_unless_it_is_the_end() {
        assert_eq!(rows("x\n1\n\n3\n\"\"\n5\n\n\n"), [["1"], [""], ["3"], [""], ["5"]]);
    }

    #[test]
    fn lines_are_counted_through_quoted_breaks() {
        let cells = Cells::parse(b"a,b\n\"1\n2\",3\n4,5\n", "t", &ReadOptions::default()).unwrap();
        assert_eq!((cells.line(0), cells.line(1)), (2, 4));
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_place() {
        assert_eq!(refusal(b""), "t.csv: the file is empty");
        assert_eq!(refusal(b"a,b\n"), "t.csv: there is a header but no row below it");
        assert_eq!(refusal(b"a,b\n1,2\n3\n"), "t.csv, line 3: 1 cell where the header has 2");
        assert_eq!(refusal(b"a,b\n1,\"2\n3,4\n"), "t.csv, line 2: a quote is opened here and never closed");
        assert_eq!(refusal(b"a,a\n1,2\n"), "t.csv, line 1: columns 1 and 2 are both called 'a'");
        assert_eq!(refusal(b"a,b\n1,\xe9\n"), "t.csv, line 2: byte 0xe9 at position 3 is not UTF-8");
        assert_eq!(refusal(b"\x89PNG\0\0"), "t.csv: this is a binary file, not a text table");
    }
}
