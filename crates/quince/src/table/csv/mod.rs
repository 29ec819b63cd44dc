//! CSV and TSV, by RFC 4180 with the liberties people take: any of `, ; tab |` between cells, CRLF or LF or CR at line
//! ends, spaces around quotes, a byte-order mark, blank lines. What cannot be read is refused with its line and a remedy.
//!
//! In tab-separated files a quote is a quote only if the cell both begins and ends with it: many write texts there with
//! quotation marks and no quoting.
//!
//! The text is cut into chunks of whole records, which are parsed on all threads. A column is first read as numbers; where
//! a chunk has another cell, that column alone is read again as words. Cuts depend on the text alone.

mod chunk;
mod cursor;
#[cfg(test)]
mod tests;

use super::cells::{Cells, Raw};
use super::read::Header;
use super::spellings::{self, Spellings};
use crate::error::{Error, Place, Result};
use crate::run::Run;
use arrow_array::LargeStringArray;
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use chunk::{Chunk, Parsed, Piece, Want, WordColumn};
use cursor::{Behind, Cursor, Layout, line_ends};
use memchr::memchr;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Chunks are about this long.
const CHUNK_BYTES: usize = 1 << 20;

/// A text table: its bytes, and where its records are.
#[derive(Debug)]
pub(super) struct Written {
    bytes: Vec<u8>,
    layout: Layout,
    width: usize,
    chunks: Vec<Chunk>,
}

/// Splits the bytes of a text table into cells; the delimiter is found if it is not given.
pub(super) fn parse(bytes: Vec<u8>, source: &str, delimiter: Option<u8>, header: Header, run: &Run) -> Result<Cells> {
    delimiter.map_or(Ok(()), check_delimiter)?;
    let start = check_text(&bytes, source, run)?;
    let body = &bytes[start..];
    let empty = || refuse(source, None, "the file is empty", "Give a table with a header line and rows.");
    if body.trim_ascii().is_empty() {
        return Err(empty());
    }
    let delimiter = delimiter.unwrap_or_else(|| sniff(body));
    let layout = Layout { delimiter, source: source.to_string() };
    let mut cursor = Cursor::new(&bytes, start, 1, &layout);
    while cursor.skip_blank_line() {}
    let (first, first_line) = (cursor.at, cursor.line);
    let mut head = Vec::new();
    loop {
        head.push(String::from_utf8_lossy(&cursor.cell()?).trim().to_string());
        if cursor.step() == Behind::End {
            break;
        }
    }
    let (names, at, line) = match header {
        Header::Names => (header_names(&head, source, first_line)?, cursor.at, cursor.line),
        Header::None => ((1..=head.len()).map(|j| format!("column{j}")).collect(), first, first_line),
    };
    let width = names.len();
    let chunks = cut(&bytes, at, line, &layout, width, run)?;
    let written = Written { bytes, layout, width, chunks };
    let parsed = written.parse(run)?;
    let lines: Vec<u64> = parsed.iter().flat_map(|chunk| &chunk.lines).copied().collect();
    if lines.is_empty() {
        let remedy = "Add rows, or say that the file has no header.";
        return Err(refuse(source, None, "there is a header but no row below it", remedy));
    }
    let counts: Vec<usize> = parsed.iter().map(|chunk| chunk.lines.len()).collect();
    let respelled: Vec<bool> = (0..width).map(|j| parsed.iter().any(|chunk| chunk.columns[j].is_respelled())).collect();
    let columns = written.columns(parsed, run)?;
    let spellings = written.spellings(&columns, &respelled, &counts, run)?;
    Ok(Cells {
        source: source.into(),
        names,
        columns,
        rows: lines.len(),
        lines,
        spellings,
        written: Some(written),
        ..Cells::default()
    })
}

impl Written {
    pub(super) fn delimiter(&self) -> u8 {
        self.layout.delimiter
    }

    /// Whether a comma inside a cell may be a decimal point: it is not what parts the cells.
    pub(super) fn may_have_decimal_commas(&self) -> bool {
        self.layout.delimiter != b','
    }

    /// Calls `visit` with the cells of each of the first `rows` rows.
    pub(super) fn each_row(&self, rows: usize, mut visit: impl FnMut(&[&str])) -> Result<()> {
        let Some(first) = self.chunks.first() else { return Ok(()) };
        let mut cursor = Cursor::new(&self.bytes, first.bytes.start, first.line, &self.layout);
        let mut visited = 0;
        while visited < rows && !cursor.is_done() {
            let mut row = Vec::with_capacity(self.width);
            if cursor.skip_blank_line() {
                if self.width > 1 {
                    continue;
                }
                row.push(Cow::Borrowed(&b""[..]));
            } else {
                loop {
                    row.push(cursor.cell()?);
                    if cursor.step() == Behind::End {
                        break;
                    }
                }
            }
            let text: Vec<&str> = row.iter().map(|cell| std::str::from_utf8(cell).unwrap_or("")).collect();
            visit(&text);
            visited += 1;
        }
        Ok(())
    }

    /// The text itself, with other texts in some cells, which are in the order of rows and columns.
    pub(super) fn with_cells(&self, cells: &[(usize, usize, String)]) -> Result<Vec<u8>> {
        let Some(first) = self.chunks.first() else { return Ok(self.bytes.clone()) };
        let mut cursor = Cursor::new(&self.bytes, first.bytes.start, first.line, &self.layout);
        let (mut text, mut copied, mut row) = (Vec::with_capacity(self.bytes.len()), 0, 0);
        let mut cells = cells.iter().peekable();
        while cells.peek().is_some() && !cursor.is_done() {
            if cursor.at_blank_line() && self.width > 1 {
                cursor.skip_blank_line();
                continue;
            }
            for column in 0.. {
                let start = cursor.at;
                cursor.cell()?;
                if let Some((.., new)) = cells.next_if(|cell| (cell.0, cell.1) == (row, column)) {
                    text.extend_from_slice(&self.bytes[copied..start]);
                    text.extend_from_slice(self.quoted(new).as_bytes());
                    copied = cursor.at;
                }
                if cursor.step() == Behind::End {
                    break;
                }
            }
            row += 1;
        }
        text.extend_from_slice(&self.bytes[copied..]);
        Ok(text)
    }

    fn quoted<'c>(&self, cell: &'c str) -> Cow<'c, str> {
        let delimiter = char::from(self.layout.delimiter);
        match cell.contains([delimiter, '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")).into(),
            false => cell.into(),
        }
    }

    /// One column as words, however it was read before.
    pub(super) fn words(&self, j: usize, run: &Run) -> Result<LargeStringArray> {
        let mut wants = vec![Want::Nothing; self.width];
        wants[j] = Want::Words;
        let parsed = self.each_chunk(|_| wants.clone(), run)?;
        let pieces: Vec<WordColumn> =
            parsed.into_iter().filter_map(|mut chunk| chunk.columns.swap_remove(j).words()).collect();
        Ok(join(&pieces))
    }

    /// How the numbers of columns are written, where not as they print and few differ. `counts` are the rows of each chunk. Only
    /// the chunks in which a number first appears are read again.
    fn spellings(
        &self,
        columns: &[Raw],
        respelled: &[bool],
        counts: &[usize],
        run: &Run,
    ) -> Result<HashMap<usize, Arc<Spellings>>> {
        let rows: Vec<Vec<usize>> = run.map(self.width, |j| match &columns[j] {
            Raw::Numbers(numbers) if respelled[j] => spellings::first_rows(numbers).unwrap_or_default(),
            _ => Vec::new(),
        });
        let starts: Vec<usize> =
            counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))).collect();
        // The rows rise.
        let within = |j: usize, c: usize| {
            let rows: &Vec<usize> = &rows[j];
            let end = starts[c] + counts[c];
            &rows[rows.partition_point(|&row| row < starts[c])..rows.partition_point(|&row| row < end)]
        };
        let wants = |c: usize| -> Vec<Want> {
            let want = |j: usize| if within(j, c).is_empty() { Want::Nothing } else { Want::Words };
            let wants: Vec<Want> = (0..self.width).map(want).collect();
            if wants.contains(&Want::Words) { wants } else { Vec::new() }
        };
        let mut texts: HashMap<usize, Vec<(f64, String)>> = HashMap::new();
        for (c, chunk) in self.each_chunk(wants, run)?.into_iter().enumerate() {
            for (j, piece) in chunk.columns.iter().enumerate() {
                let (Piece::Words(words), Raw::Numbers(numbers)) = (piece, &columns[j]) else { continue };
                let text = |&row: &usize| (numbers[row], words.text(row - starts[c]));
                texts.entry(j).or_default().extend(within(j, c).iter().map(text));
            }
        }
        Ok(texts.into_iter().filter_map(|(j, first)| Some((j, Arc::new(Spellings::new(first)?)))).collect())
    }

    /// All columns of all chunks: those as numbers that are numbers in the first chunk. Where so many differ in it that the
    /// column keeps no spellings, nobody asks how the rest is written.
    fn parse(&self, run: &Run) -> Result<Vec<Parsed>> {
        let Some(first) = self.chunks.first() else { return Ok(Vec::new()) };
        let first = first.parse(&self.bytes, &self.layout, &vec![Want::Numbers { spelled: true }; self.width])?;
        let likely = |piece: &Piece| match piece {
            Piece::Numbers(numbers) => Want::Numbers { spelled: spellings::first_rows(&numbers.values).is_some() },
            _ => Want::Words,
        };
        let wants: Vec<Want> = first.columns.iter().map(likely).collect();
        let mut parsed = vec![first];
        // The first is done; nothing is wanted of it again.
        let rest = self.each_chunk(|c| if c == 0 { Vec::new() } else { wants.clone() }, run)?;
        parsed.extend(rest.into_iter().skip(1));
        Ok(parsed)
    }

    /// Parses chunks on all threads; a chunk of which nothing is wanted is left out.
    fn each_chunk(&self, wants: impl Fn(usize) -> Vec<Want> + Sync, run: &Run) -> Result<Vec<Parsed>> {
        let mut all = Vec::with_capacity(self.chunks.len());
        // Some 64 megabytes between two checks for cancellation.
        for (round, chunks) in self.chunks.chunks(64).enumerate() {
            let parsed = run.map(chunks.len(), |c| match wants(round * 64 + c) {
                wants if wants.is_empty() => Ok(Parsed { columns: Vec::new(), lines: Vec::new() }),
                wants => chunks[c].parse(&self.bytes, &self.layout, &wants),
            });
            for parsed in parsed {
                all.push(parsed?);
            }
            run.check_cancelled()?;
        }
        Ok(all)
    }

    /// Joins the chunks of every column; those that are numbers in some chunks only are read again as words.
    fn columns(&self, mut parsed: Vec<Parsed>, run: &Run) -> Result<Vec<Raw>> {
        let all_numbers = |j: usize| parsed.iter().all(|chunk| matches!(chunk.columns[j], Piece::Numbers(_)));
        let numbers: Vec<bool> = (0..self.width).map(all_numbers).collect();
        let again = |c: usize| -> Vec<Want> {
            let want = |j: usize| match &parsed[c].columns[j] {
                Piece::Words(_) => Want::Nothing,
                _ if numbers[j] => Want::Nothing,
                _ => Want::Words,
            };
            let wants: Vec<Want> = (0..self.width).map(want).collect();
            if wants.contains(&Want::Words) { wants } else { Vec::new() }
        };
        let mended = self.each_chunk(again, run)?;
        for (chunk, mended) in parsed.iter_mut().zip(mended) {
            for (piece, mended) in chunk.columns.iter_mut().zip(mended.columns) {
                if matches!(mended, Piece::Words(_)) {
                    *piece = mended;
                }
            }
        }
        let rows: usize = parsed.iter().map(|chunk| chunk.lines.len()).sum();
        let mut by_column: Vec<Vec<Piece>> = (0..self.width).map(|_| Vec::with_capacity(parsed.len())).collect();
        for chunk in parsed {
            chunk.columns.into_iter().enumerate().for_each(|(j, piece)| by_column[j].push(piece));
        }
        let columns = run.map(self.width, |j| match numbers[j] {
            true => {
                let mut joined = Vec::with_capacity(rows);
                by_column[j].iter().for_each(|piece| joined.extend_from_slice(piece.numbers()));
                Raw::Numbers(joined)
            }
            false => Raw::Words(join_pieces(&by_column[j])),
        });
        Ok(columns)
    }
}

impl Piece {
    fn numbers(&self) -> &[f64] {
        if let Piece::Numbers(numbers) = self { &numbers.values } else { &[] }
    }

    fn is_respelled(&self) -> bool {
        matches!(self, Piece::Numbers(numbers) if numbers.respelled)
    }

    fn words(self) -> Option<WordColumn> {
        if let Piece::Words(words) = self { Some(words) } else { None }
    }
}

fn join_pieces(pieces: &[Piece]) -> LargeStringArray {
    let words: Vec<&WordColumn> =
        pieces.iter().filter_map(|piece| if let Piece::Words(words) = piece { Some(words) } else { None }).collect();
    join(&words)
}

/// One array of the words of all chunks.
fn join<W: std::borrow::Borrow<WordColumn>>(pieces: &[W]) -> LargeStringArray {
    let size = |of: &dyn Fn(&WordColumn) -> usize| pieces.iter().map(|words| of(words.borrow())).sum::<usize>();
    let mut text = Vec::with_capacity(size(&|words| words.text.len()));
    let rows = size(&|words| words.ends.len());
    let (mut offsets, mut filled) = (Vec::with_capacity(rows + 1), Vec::with_capacity(rows));
    offsets.push(0i64);
    for words in pieces.iter().map(W::borrow) {
        let before = text.len();
        text.extend_from_slice(&words.text);
        offsets.extend(words.ends.iter().map(|end| (before + end) as i64));
        filled.extend_from_slice(&words.filled);
    }
    LargeStringArray::new(OffsetBuffer::new(offsets.into()), Buffer::from_vec(text), Some(NullBuffer::from(filled)))
}

/// Cuts the records from `at` on into chunks of about a megabyte.
fn cut(bytes: &[u8], at: usize, line: u64, layout: &Layout, width: usize, run: &Run) -> Result<Vec<Chunk>> {
    // The first chunk is short: it tells which columns are numbers, and in which so many differ that nobody asks how they are
    // written. If records are about as long as the first, it has enough of them for that.
    let record = memchr(b'\n', &bytes[at..]).unwrap_or(0) + 1;
    let first_bytes = record.saturating_mul(spellings::MAX_SPELLINGS * 5 / 4).clamp(CHUNK_BYTES / 16, CHUNK_BYTES);
    let goal = |start: usize| start + if start == at { first_bytes } else { CHUNK_BYTES };
    let mut chunks = Vec::new();
    let mut start = at;
    // What a blank line means in a single column depends on what follows.
    if width == 1 {
        return Ok(vec![Chunk { bytes: at..bytes.len(), line }]);
    }
    let parts = crate::passes::cuts(bytes.len() - at, 64);
    let quotes = run.map(parts.len(), |p| memchr(b'"', &bytes[at + parts[p].start..at + parts[p].end]).is_some());
    // In a tab-separated file a quoted cell never goes over the end of a line.
    if layout.delimiter == b'\t' || !quotes.contains(&true) {
        let end = if memchr(b'\n', &bytes[at..]).is_some() { b'\n' } else { b'\r' };
        while start < bytes.len() {
            let goal = goal(start).min(bytes.len());
            let stop = memchr(end, &bytes[goal..]).map_or(bytes.len(), |k| goal + k + 1);
            chunks.push(Chunk { bytes: start..stop, line: 0 });
            start = stop;
        }
        let lines = run.map(chunks.len(), |c| line_ends(&bytes[chunks[c].bytes.clone()]));
        let mut next = line;
        for (chunk, lines) in chunks.iter_mut().zip(lines) {
            chunk.line = next;
            next += lines;
        }
        return Ok(chunks);
    }
    let mut cursor = Cursor::new(bytes, at, line, layout);
    while !cursor.is_done() {
        let (start, line) = (cursor.at, cursor.line);
        while !cursor.is_done() && cursor.at < goal(start) {
            if !cursor.skip_blank_line() {
                cursor.skip_record()?;
            }
        }
        chunks.push(Chunk { bytes: start..cursor.at, line });
        run.check_cancelled()?;
    }
    Ok(chunks)
}

fn refuse(source: &str, line: Option<u64>, problem: &str, remedy: &str) -> Error {
    Error::table(Place { file: Some(source.to_string()), line, ..Place::default() }, problem, remedy)
}

/// Where the text begins behind a byte-order mark; or a sentence on what the bytes are instead of UTF-8.
pub(super) fn check_text(bytes: &[u8], source: &str, run: &Run) -> Result<usize> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(refuse(source, None, "the text is UTF-16", "Save the file as UTF-8."));
    }
    if bytes.starts_with(b"PK\x03\x04") {
        let remedy = "Unpack it, or export the sheet as CSV.";
        return Err(refuse(source, None, "this is a zip archive or a spreadsheet, not a text table", remedy));
    }
    let start = if bytes.starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 };
    // Cut where a character begins.
    let parts: Vec<usize> = (start..bytes.len()).step_by(CHUNK_BYTES).collect();
    let begins = |at: usize| (at..bytes.len()).find(|&at| bytes[at] & 0xc0 != 0x80).unwrap_or(bytes.len());
    let looks = run.map(parts.len(), |p| {
        let from = if p == 0 { start } else { begins(parts[p]) };
        let part = &bytes[from..parts.get(p + 1).map_or(bytes.len(), |&next| begins(next)).max(from)];
        (memchr(0, part).is_some(), std::str::from_utf8(part).err().map(|error| from + error.valid_up_to()))
    });
    if looks.iter().any(|look| look.0) {
        return Err(refuse(source, None, "this is a binary file, not a text table", "Give a CSV or TSV file."));
    }
    match looks.iter().find_map(|look| look.1) {
        None => Ok(start),
        Some(at) => {
            let before = &bytes[start..at];
            let line = 1 + before.iter().filter(|&&b| b == b'\n').count() as u64;
            let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
            let position = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
            let problem = format!("byte 0x{:02x} at position {position} is not UTF-8", bytes[at]);
            Err(refuse(source, Some(line), &problem, "Save the file as UTF-8 (from Latin-1: iconv -f latin1 -t utf8)."))
        }
    }
}

/// A delimiter must be no part of a number, a quote, the end of a line, or a piece of a longer character.
fn check_delimiter(delimiter: u8) -> Result<()> {
    if delimiter.is_ascii() && !delimiter.is_ascii_alphanumeric() && !b"\"\r\n+-.".contains(&delimiter) {
        return Ok(());
    }
    let problem = format!("cannot be '{}'", char::from(delimiter).escape_debug());
    Err(Error::setting("delimiter", problem, "Give a character such as , ; | or a tab."))
}

fn header_names(row: &[String], source: &str, line: u64) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::with_capacity(row.len());
    let mut places = std::collections::HashMap::new();
    for (j, cell) in row.iter().enumerate() {
        let name = if cell.is_empty() { format!("column{}", j + 1) } else { cell.clone() };
        if let Some(before) = places.insert(name.clone(), j) {
            let problem = format!("columns {} and {} are both called '{name}'", before + 1, j + 1);
            return Err(refuse(source, Some(line), &problem, "Give every column a name of its own."));
        }
        names.push(name);
    }
    Ok(names)
}

/// The delimiter under which the most of the first hundred records have as many cells as the first; on a tie the one that
/// makes more cells, then the first of `, tab ; |`.
fn sniff(bytes: &[u8]) -> u8 {
    let head = &bytes[..bytes.len().min(65_536)];
    let mut best = (b',', 0.0, 1);
    for delimiter in *b",\t;|" {
        let layout = Layout { delimiter, source: String::new() };
        let mut cursor = Cursor::new(head, 0, 1, &layout);
        let mut widths = Vec::new();
        while widths.len() < 100 && !cursor.is_done() {
            if cursor.skip_blank_line() {
                continue;
            }
            match cursor.skip_record() {
                Ok(width) => widths.push(width),
                Err(_) => break,
            }
        }
        if head.len() < bytes.len() && widths.len() > 1 && widths.len() < 100 {
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
