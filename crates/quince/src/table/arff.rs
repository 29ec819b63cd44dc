//! ARFF, the format of Weka: a header that names every column and its type, then rows.
//!
//! ```text
//! @relation weather
//! @attribute outlook {sunny, overcast, rainy}
//! @attribute temperature numeric
//! @data
//! sunny, 85
//! {1 90}            % sparse: what is not named is 0, or the first of its words
//! ```

use super::cells::{Cells, Raw, most_cells};
use super::kind::{self, Kind};
use super::spellings::SpellingsBuilder;
use super::{Column, ColumnData};
use crate::error::{Error, Place, Result};
use crate::matrix::afford;
use crate::numbers::{loses_digits, number_text};
use arrow_array::LargeStringArray;
use arrow_array::builder::{ArrayBuilder, LargeStringBuilder};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

enum Type {
    Numeric,
    Text,
    Nominal(Vec<String>),
}

struct Attribute {
    name: String,
    kind: Type,
}

/// Whether a text looks like ARFF: its first line that is no remark begins with `@relation` or `@attribute`.
pub(super) fn looks_like(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('%'));
    first.is_some_and(|line| keyword(line, "@relation").or(keyword(line, "@attribute")).is_some())
}

pub(super) fn parse(text: &str, source: &str) -> Result<Cells> {
    // Empty lines and remarks are left out.
    let lines = (1u64..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    let attributes = header(&mut lines, source)?;
    rows(&attributes, lines, most_cells(text.len()), source)
}

fn refuse(source: &str, line: Option<u64>, problem: impl Into<String>, remedy: &str) -> Error {
    Error::table(Place { file: Some(source.into()), line, ..Place::default() }, problem, remedy)
}

/// The attributes: all lines up to @data.
fn header<'a>(lines: &mut impl Iterator<Item = (u64, &'a str)>, source: &str) -> Result<Vec<Attribute>> {
    let (mut attributes, mut names, mut data) = (Vec::new(), HashSet::new(), false);
    for (number, line) in lines {
        let at = Some(number);
        if keyword(line, "@data").is_some() {
            data = true;
            break;
        } else if let Some(rest) = keyword(line, "@attribute") {
            let attribute = attribute(rest).map_err(|problem| {
                refuse(source, at, problem, "Write @attribute NAME numeric, string, or {one, another}.")
            })?;
            if !names.insert(attribute.name.clone()) {
                let problem = format!("two attributes are called '{}'", attribute.name);
                return Err(refuse(source, at, problem, "Give every attribute a name of its own."));
            }
            attributes.push(attribute);
        } else if keyword(line, "@relation").is_none() {
            let problem = format!("'{}' is neither @relation, @attribute nor @data", kind::shorten(line));
            return Err(refuse(source, at, problem, "Rows come after a line @data."));
        }
    }
    if attributes.is_empty() {
        return Err(refuse(source, None, "there is no @attribute", "Name every column: @attribute NAME numeric"));
    }
    if !data {
        return Err(refuse(source, None, "there is no @data", "Put a line @data before the rows."));
    }
    Ok(attributes)
}

/// The rows: all lines after @data, with at most this number of cells.
fn rows<'a>(
    attributes: &[Attribute],
    lines: impl Iterator<Item = (u64, &'a str)>,
    most: usize,
    source: &str,
) -> Result<Cells> {
    let mut columns: Vec<ColumnBuilder> = attributes.iter().map(ColumnBuilder::new).collect();
    let (mut numbers, mut letters) = (Vec::new(), 8 * most);
    let too_many = |line: u64| {
        let problem = format!("nearly every cell of the {} attributes is empty", attributes.len());
        refuse(source, Some(line), problem, "Leave out attributes, or write the rows as LIBSVM.")
    };
    for (number, line) in lines {
        let row = row(line, attributes.len()).map_err(|problem| {
            let remedy = "Every row has a cell for each @attribute, ? for a missing value.";
            refuse(source, Some(number), problem, remedy)
        })?;
        let cells = (numbers.len() + 1).saturating_mul(attributes.len());
        if cells > most {
            return Err(too_many(number));
        }
        if (numbers.len() + 1).is_power_of_two() {
            afford(8.0 * cells as f64, "the table")?;
        }
        for (j, cell) in row {
            let column = &mut columns[j];
            column.fill(numbers.len(), &mut letters).ok_or_else(|| too_many(number))?;
            column.push(cell.as_deref()).map_err(|(problem, remedy)| {
                let column = Some(attributes[j].name.clone());
                let place = Place { file: Some(source.into()), line: Some(number), row: None, column };
                Error::table(place, problem, remedy)
            })?;
        }
        numbers.push(number);
    }
    let Some(&last) = numbers.last() else {
        return Err(refuse(source, None, "there is no row behind @data", "Add rows."));
    };
    afford(8.0 * (numbers.len() * attributes.len()) as f64, "the table")?;
    let (mut finished, mut spellings) = (Vec::with_capacity(columns.len()), HashMap::new());
    for (j, mut column) in columns.into_iter().enumerate() {
        column.fill(numbers.len(), &mut letters).ok_or_else(|| too_many(last))?;
        if let Some(found) = std::mem::take(&mut column.spellings).finish() {
            spellings.insert(j, Arc::new(found));
        }
        finished.push(column.finish());
    }
    let names = attributes.iter().map(|attribute| attribute.name.clone()).collect();
    let (rows, columns) = (numbers.len(), finished);
    Ok(Cells { source: source.into(), names, columns, rows, lines: numbers, spellings, ..Cells::default() })
}

/// A column while rows are read. Rows without a cell of it are filled in when the next has one.
struct ColumnBuilder<'a> {
    attribute: &'a Attribute,
    known: HashSet<&'a str>,
    numbers: Vec<f64>,
    words: LargeStringBuilder,
    spellings: SpellingsBuilder,
    /// Whether a number has more digits than a float keeps, so that all of them stay as they are written.
    loses_digits: bool,
}

impl<'a> ColumnBuilder<'a> {
    fn new(attribute: &'a Attribute) -> ColumnBuilder<'a> {
        let known = match &attribute.kind {
            Type::Nominal(words) => words.iter().map(String::as_str).collect(),
            Type::Numeric | Type::Text => HashSet::new(),
        };
        let (spellings, words) = (SpellingsBuilder::default(), LargeStringBuilder::new());
        ColumnBuilder { attribute, known, numbers: Vec::new(), words, spellings, loses_digits: false }
    }

    /// What sparse rows leave out, up to this many rows; `None` if more letters would repeat than are left.
    fn fill(&mut self, rows: usize, letters: &mut usize) -> Option<()> {
        let word = match &self.attribute.kind {
            Type::Numeric if !self.loses_digits => {
                self.numbers.resize(rows, 0.0);
                return Some(());
            }
            Type::Numeric => Some("0"),
            Type::Nominal(words) => words.first().map(String::as_str),
            Type::Text => Some(""),
        };
        let missing = rows - self.words.len();
        *letters = letters.checked_sub(missing.saturating_mul(word.map_or(0, str::len)))?;
        (0..missing).for_each(|_| self.words.append_option(word));
        Some(())
    }

    /// Adds a cell; an error says what is wrong with it and what to do.
    fn push(&mut self, cell: Option<&str>) -> std::result::Result<(), (String, String)> {
        match &self.attribute.kind {
            Type::Numeric => {
                let number = cell.map_or(Ok(f64::NAN), str::parse).map_err(|_| {
                    let problem = format!("'{}' is not a number", kind::shorten(cell.unwrap_or_default()));
                    (problem, "Mend the cell, or write ? for a missing value.".to_string())
                })?;
                if !self.loses_digits && cell.is_some_and(loses_digits) {
                    self.loses_digits = true;
                    for number in std::mem::take(&mut self.numbers) {
                        self.words.append_option((!number.is_nan()).then(|| number_text(number)));
                    }
                }
                if self.loses_digits {
                    self.words.append_option(cell);
                } else {
                    self.numbers.push(number);
                    self.spellings.note(number, cell.unwrap_or_default());
                }
            }
            Type::Nominal(words) if cell.is_some_and(|cell| !self.known.contains(cell)) => {
                let problem = format!("'{}' is none of its words", kind::shorten(cell.unwrap_or_default()));
                return Err((problem, format!("The words are {}.", words.join(", "))));
            }
            Type::Nominal(_) | Type::Text => self.words.append_option(cell),
        }
        Ok(())
    }

    fn finish(mut self) -> Raw {
        match &self.attribute.kind {
            Type::Numeric if !self.loses_digits => Raw::Numbers(self.numbers),
            Type::Numeric | Type::Text => Raw::Words(self.words.finish()),
            Type::Nominal(_) => nominal(&self.attribute.name, self.words.finish()),
        }
    }
}

/// Yes/no, constant or numbers by the rule; otherwise a category, even if most rows have a word of their own.
fn nominal(name: &str, cells: LargeStringArray) -> Raw {
    match kind::column_of_cells(name.into(), cells.clone()) {
        Ok(column) if column.kind() == Kind::YesNo || matches!(column.why_ignored(), "constant" | "empty") => {
            Raw::Typed(column)
        }
        _ => {
            let data: ColumnData = kind::categories(&cells);
            Raw::Typed(Column { name: name.into(), kind: Kind::Category, data, why: String::new(), label_type: None })
        }
    }
}

/// What follows a keyword, in any case, at the start of a line.
fn keyword<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = line.split_at_checked(word.len())?;
    let ends = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '%');
    (head.eq_ignore_ascii_case(word) && ends).then(|| rest.trim())
}

fn attribute(text: &str) -> std::result::Result<Attribute, String> {
    let mut rest = text;
    let name = word(&mut rest, |c| c.is_whitespace() || c == '{')?;
    if name.is_empty() {
        return Err("an attribute without a name".into());
    }
    let rest = rest.trim();
    if let Some(inner) = rest.strip_prefix('{') {
        let mut inner = inner.trim_start();
        let mut words = Vec::new();
        while !inner.starts_with('}') {
            if inner.is_empty() {
                return Err(format!("the words of '{name}' have no closing brace"));
            }
            words.push(word(&mut inner, |c| c == ',' || c == '}')?);
            inner = inner.trim_start();
            inner = inner.strip_prefix(',').unwrap_or(inner).trim_start();
        }
        return Ok(Attribute { name, kind: Type::Nominal(words) });
    }
    let kind = rest.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
    match kind.as_str() {
        "numeric" | "real" | "integer" => Ok(Attribute { name, kind: Type::Numeric }),
        "string" | "date" => Ok(Attribute { name, kind: Type::Text }),
        "" => Err(format!("the attribute '{name}' has no type")),
        other => Err(format!("the attribute '{name}' has the type '{other}', which is not known")),
    }
}

/// The cells that a row has, by the number of their attribute; `None` is a missing value.
type Row = BTreeMap<usize, Option<String>>;

fn row(line: &str, attributes: usize) -> std::result::Result<Row, String> {
    let mut rest = line;
    if let Some(inner) = line.strip_prefix('{') {
        return sparse_row(inner, attributes);
    }
    let mut cells = Vec::with_capacity(attributes);
    loop {
        cells.push(cell(&mut rest, |c| c == ',' || c == '\t' || c == '%')?);
        rest = rest.trim_start_matches(' ');
        match rest.chars().next() {
            Some(',' | '\t') => rest = &rest[1..],
            Some(c) if c != '%' => return Err("there is text behind a closing quote".into()),
            _ => break,
        }
    }
    if cells.len() != attributes {
        let cell = if cells.len() == 1 { "cell" } else { "cells" };
        return Err(format!("{} {cell} where there are {attributes} attributes", cells.len()));
    }
    Ok(cells.into_iter().enumerate().collect())
}

fn sparse_row(inner: &str, attributes: usize) -> std::result::Result<Row, String> {
    let mut cells = Row::new();
    let mut rest = inner.trim_start();
    while !rest.starts_with('}') {
        if rest.is_empty() {
            return Err("a sparse row has no closing brace".into());
        }
        let place = word(&mut rest, |c| c.is_whitespace() || c == ',' || c == '}')?;
        let known = place.parse::<usize>().ok().filter(|&place| place < attributes);
        let place = known.ok_or_else(|| format!("'{place}' is no number of an attribute, which count from 0"))?;
        rest = rest.trim_start();
        cells.insert(place, cell(&mut rest, |c| c == ',' || c == '}')?);
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Ok(cells)
}

fn cell(rest: &mut &str, ends: impl Fn(char) -> bool) -> std::result::Result<Option<String>, String> {
    *rest = rest.trim_start_matches(' ');
    let quoted = rest.starts_with(['"', '\'']);
    let word = word(rest, ends)?;
    Ok(if !quoted && kind::is_missing(&word) { None } else { Some(word) })
}

/// The word at the start: quoted, or up to where it ends. Goes past it.
fn word(rest: &mut &str, ends: impl Fn(char) -> bool) -> std::result::Result<String, String> {
    if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
        let mut word = String::new();
        let mut letters = rest[1..].char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => word.extend(letters.next().map(|(_, escaped)| match escaped {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                })),
                letter if letter == quote => {
                    *rest = &rest[1 + at + 1..];
                    return Ok(word);
                }
                letter => word.push(letter),
            }
        }
        return Err("a quote is opened and never closed".into());
    }
    let length = rest.find(&ends).unwrap_or(rest.len());
    let word = rest[..length].trim().to_string();
    *rest = &rest[length..];
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::table::ReadOptions;

    fn read(text: &str) -> Result<crate::Table> {
        parse(text, "w.arff")?.table(&ReadOptions::default(), &Run::new())
    }

    const HEAD: &str = "% weather\n@RELATION w\n\n@attribute outlook {sunny, 'very rainy'}\n@attribute 'max temp' REAL\n\
        @Attribute note string\n@attribute play {no,yes}\n@data\n";

    #[test]
    fn types_quotes_missing_values_and_sparse_rows_are_read() {
        let rows = "sunny, 85.5, \"it\\'s hot, really\", no % remark\n'very rainy',?,'?',yes\n{1 3, 3 yes}\n";
        let table = read(&format!("{HEAD}{rows}")).unwrap();
        let kinds: Vec<Kind> = table.columns().iter().map(Column::kind).collect();
        assert_eq!((kinds[0], kinds[1], kinds[3]), (Kind::Category, Kind::Number, Kind::YesNo));
        let text = |i: usize, j: usize| table.columns()[j].text(i).map(|text| text.into_owned());
        assert_eq!(text(0, 2).unwrap(), "it's hot, really");
        assert_eq!(text(1, 0).unwrap(), "very rainy");
        assert_eq!((text(1, 1), text(1, 2)), (None, Some("?".into())));
        assert_eq!(
            (text(2, 0).unwrap(), text(2, 1).unwrap(), text(2, 3).unwrap()),
            ("sunny".into(), "3".into(), "yes".into())
        );
    }

    #[test]
    fn short_texts_as_sparse_rows_of_many_words_are_read() {
        let head: String = (0..10_000).map(|j| format!("@attribute word{j} numeric\n")).collect();
        let row =
            |i: usize| (0..10).map(|k| format!("{} 1", (i * 7919 + k * 613) % 10_000)).collect::<Vec<_>>().join(",");
        let rows: String = (0..2_000).map(|i| format!("{{{}}}\n", row(i))).collect();
        let table = read(&format!("{head}@data\n{rows}")).unwrap();
        assert_eq!((table.rows(), table.columns().len()), (2_000, 10_000));
        let column = |j: usize| &table.columns()[j];
        assert_eq!(
            (column(613).number(0), column(614).number(0), column(7919).number(1)),
            (Some(1.0), Some(0.0), Some(1.0))
        );
        // The last of two cells counts, and the first word of a nominal attribute is not written.
        let table = read("@attribute n real\n@attribute a {no,yes}\n@data\n{0 1,0 2}\n{1 yes}\n{}\n").unwrap();
        let cells = |j: usize| (0..3).map(|i| table.columns()[j].number(i).unwrap()).collect::<Vec<f64>>();
        assert_eq!((cells(0), cells(1)), (vec![2.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]));
    }

    #[test]
    fn numbers_of_more_digits_than_a_float_keeps_are_words_and_labels_are_spelled_as_they_are() {
        let head = "@attribute key numeric\n@attribute x real\n@attribute y {1.0,2.0}\n@attribute z numeric\n@data\n";
        // 2^53 + 1 is the first whole number that a float does not keep.
        let rows =
            "7,0.5,1.0,1.0\n?,1.5,2.0,+2\n9007199254740993,2.5,1.0,1\n9007199254740993,0.5,2.0,2\n{1 1.5,2 2.0}\n";
        let table = read(&format!("{head}{rows}{rows}")).unwrap();
        let kinds: Vec<Kind> = table.columns().iter().map(Column::kind).collect();
        assert_eq!(kinds, [Kind::Category, Kind::Number, Kind::Category, Kind::Count]);
        let keys = [0, 1, 2, 4].map(|i| table.columns()[0].text(i).map(|text| text.into_owned()));
        assert_eq!(keys.map(|key| key.unwrap_or_default()), ["7", "", "9007199254740993", "0"]);
        for (target, expected) in [("y", &["1.0", "2.0"][..]), ("z", &["0", "1.0", "+2"])] {
            let labelled = table.labelled(target, Some(crate::learn::Task::Classification)).unwrap();
            let crate::learn::TargetView::Classes { classes, .. } = labelled.target.view() else { panic!("classes") };
            assert_eq!(classes.names(), expected, "{target}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let problem = |text: String| read(&text).unwrap_err().to_string();
        assert_eq!(problem("@relation r\n".into()), "w.arff: there is no @attribute");
        assert_eq!(problem("@relation r\n@attribute a numeric\n".into()), "w.arff: there is no @data");
        assert_eq!(problem(HEAD.into()), "w.arff: there is no row behind @data");
        assert_eq!(problem(format!("{HEAD}sunny,1\n")), "w.arff, line 9: 2 cells where there are 4 attributes");
        assert_eq!(
            problem(format!("{HEAD}hail,1,x,no\n")),
            "w.arff, line 9, column 'outlook': 'hail' is none of its words"
        );
        assert_eq!(
            problem(format!("{HEAD}sunny,hot,x,no\n")),
            "w.arff, line 9, column 'max temp': 'hot' is not a number"
        );
        assert_eq!(
            problem(format!("{HEAD}{{9 1}}\n")),
            "w.arff, line 9: '9' is no number of an attribute, which count from 0"
        );
        assert_eq!(problem(format!("{HEAD}{{1 1\n")), "w.arff, line 9: a sparse row has no closing brace");
        assert_eq!(problem(format!("{HEAD}sunny,1,'x,no\n")), "w.arff, line 9: a quote is opened and never closed");
        // Sparse rows of many attributes would need memory by the square of the file.
        let many: String = (0..4_000).map(|j| format!("@attribute a{j} real\n")).collect();
        let problem_of_many = problem(format!("{many}@data\n{}", "{}\n".repeat(4_000)));
        assert!(problem_of_many.ends_with("nearly every cell of the 4000 attributes is empty"), "{problem_of_many}");
        // So would a long word that stands for nothing.
        let long = "x".repeat(100_000);
        let problem_of_long = problem(format!("@attribute a {{{long}}}\n@data\n{}", "{}\n".repeat(30_000)));
        assert!(problem_of_long.ends_with("nearly every cell of the 1 attributes is empty"), "{problem_of_long}");
        assert_eq!(problem("@attribute a {x\n".into()), "w.arff, line 1: the words of 'a' have no closing brace");
        assert_eq!(
            problem("@attribute a colour\n".into()),
            "w.arff, line 1: the attribute 'a' has the type 'colour', which is not known"
        );
    }
}
