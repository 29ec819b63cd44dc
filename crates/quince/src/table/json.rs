//! JSON lines: one object per line, its names the columns. An array of objects is read as well, and so are objects that go
//! over several lines.
//!
//! Numbers are numbers, true and false are yes/no, strings are words even if they look like numbers, null and what is not there are
//! missing values. A column that holds lists or objects is ignored, and says so.

use super::cells::{Cells, Raw, is_too_long, most_cells};
use super::spellings::{Spellings, first_rows};
use super::{Column, kind};
use crate::error::{Error, Place, Result};
use crate::numbers::{loses_digits, number_text};
use crate::run::Run;
use arrow_array::LargeStringArray;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The values of some rows, by column.
#[derive(Default)]
struct Rows {
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// For each column: (row, value), rows rising; a row without one has a missing value.
    values: Vec<Vec<(usize, Value)>>,
    lines: Vec<u64>,
}

impl Rows {
    /// Takes a value of the row that is being read; false if it has one of that name already.
    #[must_use]
    fn put(&mut self, name: &str, value: Value) -> bool {
        let row = self.lines.len();
        let place = match self.places.get(name) {
            Some(&place) => place,
            None => {
                self.names.push(name.to_string());
                self.values.push(Vec::new());
                self.places.insert(name.to_string(), self.names.len() - 1);
                self.names.len() - 1
            }
        };
        if self.values[place].last().is_some_and(|last| last.0 == row) {
            return false;
        }
        self.values[place].push((row, value));
        true
    }

    /// Appends the rows of another part.
    fn append(&mut self, other: Rows) {
        let before = self.lines.len();
        for (name, values) in other.names.into_iter().zip(other.values) {
            let next = self.names.len();
            let place = *self.places.entry(name.clone()).or_insert(next);
            if place == next {
                self.names.push(name);
                self.values.push(Vec::new());
            }
            self.values[place].extend(values.into_iter().map(|(row, value)| (before + row, value)));
        }
        self.lines.extend(other.lines);
    }
}

pub(super) fn parse(text: &str, source: &str, run: &Run) -> Result<Cells> {
    let refuse = |line: Option<u64>, problem: String| {
        let place = Place { file: Some(source.into()), line, ..Place::default() };
        Error::table(place, problem, "Give one object a line, such as {\"age\": 31, \"city\": \"Oslo\"}.".to_string())
    };
    let mut all = Rows::default();
    if text.trim_start().starts_with('[') {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = Objects(&mut all).deserialize(&mut reader).and_then(|()| reader.end());
        read.map_err(|error| refuse(Some(error.line() as u64), plain(&error)))?;
        all.lines.clear();
    } else if begins_over_several_lines(text) {
        let mut reader = serde_json::Deserializer::from_str(text);
        loop {
            let read = Object(&mut all).deserialize(&mut reader);
            read.map_err(|error| refuse(Some(error.line() as u64), plain(&error)))?;
            all.lines.push(0);
            if reader.end().is_ok() {
                break;
            }
        }
        all.lines.clear();
    } else {
        let lines: Vec<(u64, &str)> = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
        for some in lines.chunks(1 << 16) {
            let parts: Vec<&[(u64, &str)]> = some.chunks(1024).collect();
            let found = run.map(parts.len(), |part| {
                let mut rows = Rows::default();
                for &(number, line) in parts[part] {
                    let mut reader = serde_json::Deserializer::from_str(line);
                    let read = Object(&mut rows).deserialize(&mut reader).and_then(|()| reader.end());
                    read.map_err(|error| refuse(Some(number), plain(&error)))?;
                    rows.lines.push(number);
                }
                Ok(rows)
            });
            for found in found {
                all.append(found?);
            }
            run.check_cancelled()?;
        }
    }
    let count = all.values.iter().filter_map(|column| column.last()).map(|last| last.0 + 1).max().unwrap_or(0);
    let rows = count.max(all.lines.len());
    if rows == 0 {
        return Err(refuse(None, "there is no object in the file".into()));
    }
    if all.names.is_empty() {
        return Err(refuse(None, "the objects are empty".into()));
    }
    let cells = rows.saturating_mul(all.names.len());
    if cells > most_cells(text.len()) {
        let problem = format!("{rows} objects have {} different names: nearly every cell is missing", all.names.len());
        return Err(refuse(None, problem));
    }
    crate::matrix::afford(8.0 * cells as f64, "the table")?;
    let columns = run.map(all.names.len(), |j| column(&all.names[j], &all.values[j], rows));
    let exact = (0..all.names.len()).filter_map(|j| Some((j, exact_digits(&all.values[j], rows)?))).collect();
    let of_numbers = (0..all.names.len()).filter(|&j| matches!(columns[j], Raw::Numbers(_)));
    let spellings = of_numbers.filter_map(|j| Some((j, Arc::new(spellings(&all.values[j])?)))).collect();
    let (names, lines) = (all.names, all.lines);
    Ok(Cells { source: source.into(), names, columns, rows, lines, exact, spellings, ..Cells::default() })
}

/// Whether the first object is not closed where its line ends.
fn begins_over_several_lines(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    first.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(first).is_err_and(|error| error.is_eof())
}

/// What the parser says, without the place it appends.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let problem = text.split(" at line ").next().unwrap_or(&text);
    format!("this is not JSON as it is expected: {problem}")
}

/// A number that is written without a point.
fn whole(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// How the numbers of a column are written, if some have a point that they do not need: 1.0.
fn spellings(values: &[(usize, Value)]) -> Option<Spellings> {
    let numbers: Vec<f64> = values.iter().map(|(_, value)| value.as_f64().unwrap_or(f64::NAN)).collect();
    if !values.iter().zip(&numbers).any(|((_, value), number)| value.is_f64() && number.fract() == 0.0) {
        return None;
    }
    Spellings::new(first_rows(&numbers)?.into_iter().map(|k| (numbers[k], values[k].1.to_string())))
}

/// The whole numbers of a column as words, if some have more digits than a float keeps.
fn exact_digits(values: &[(usize, Value)], rows: usize) -> Option<LargeStringArray> {
    if !values.iter().filter_map(|(_, value)| whole(value)).any(is_too_long) {
        return None;
    }
    let mut digits: Vec<Option<String>> = vec![None; rows];
    values.iter().for_each(|(row, value)| digits[*row] = whole(value).map(|number| number.to_string()));
    Some(digits.into_iter().collect())
}

fn column(name: &str, values: &[(usize, Value)], rows: usize) -> Raw {
    let kinds = |test: &dyn Fn(&Value) -> bool| values.iter().all(|(_, value)| value.is_null() || test(value));
    // As floats some keys would be others: what loses digits stays as it is written, and the rule for words finds its kind.
    let lost = |value: &Value| whole(value).is_some_and(|n| is_too_long(n) && loses_digits(&n.to_string()));
    let lossless = !values.iter().any(|(_, value)| lost(value));
    if lossless && kinds(&Value::is_number) && !values.iter().all(|(_, value)| value.is_null()) {
        let mut numbers = vec![f64::NAN; rows];
        values.iter().for_each(|(row, value)| numbers[*row] = value.as_f64().unwrap_or(f64::NAN));
        return Raw::Numbers(numbers);
    }
    let mut nested = false;
    let mut words: Vec<Option<Cow<'_, str>>> = vec![None; rows];
    for (row, value) in values {
        words[*row] = match value {
            Value::String(text) if kind::is_missing(text) && !text.trim().is_empty() => None,
            Value::String(text) => Some(text.trim().into()),
            Value::Bool(answer) => Some(if *answer { "true" } else { "false" }.into()),
            Value::Number(number) => match whole(value) {
                Some(whole) => Some(whole.to_string().into()),
                None => number.as_f64().map(|number| number_text(number).into()),
            },
            Value::Null => None,
            Value::Array(_) | Value::Object(_) => {
                nested = true;
                Some(value.to_string().into())
            }
        };
    }
    let words: LargeStringArray = words.into_iter().collect();
    if nested {
        let ignored = kind::ignored(name.into(), words);
        return Raw::Typed(Column { why: "lists and objects are neither numbers nor words".into(), ..ignored });
    }
    if values.iter().any(|(_, value)| value.as_str().is_some_and(|text| !kind::is_missing(text))) {
        return Raw::Typed(kind::column_of_strings(name.into(), words));
    }
    Raw::Words(words)
}

/// Reads one object into rows; its names are taken in their order.
struct Object<'a>(&'a mut Rows);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> std::result::Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some((name, value)) = map.next_entry::<Cow<'_, str>, Value>()? {
            if !self.0.put(&name, value) {
                return Err(serde::de::Error::custom(format_args!("an object has two values called '{name}'")));
            }
        }
        Ok(())
    }
}

/// Reads an array of objects.
struct Objects<'a>(&'a mut Rows);

impl<'de> DeserializeSeed<'de> for Objects<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> std::result::Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Objects<'_> {
    type Value = ();
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of objects")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> std::result::Result<(), A::Error> {
        while sequence.next_element_seed(Object(self.0))?.is_some() {
            self.0.lines.push(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Kind, ReadOptions};

    fn read(text: &str) -> Result<crate::Table> {
        parse(text, "t.jsonl", &Run::new())?.table(&ReadOptions::default(), &Run::new())
    }

    #[test]
    fn objects_become_rows_and_names_keep_their_order() {
        let text = "{\"z\": 1.5, \"a\": \"x\", \"ok\": true}\n\n{\"a\": \"x\", \"z\": null, \"ok\": false, \"l\": [1]}\n{\"a\": \"y\", \"z\": 2}\n{\"a\":\"y\"}";
        let array = format!("[{}]", text.replace("\n\n", "\n").replace('\n', ","));
        for text in [text.to_string(), array, text.replace("{\"", "{\n  \"")] {
            let table = read(&text).unwrap();
            let names: Vec<&str> = table.columns().iter().map(Column::name).collect();
            assert_eq!(names, ["z", "a", "ok", "l"]);
            let kinds: Vec<Kind> = table.columns().iter().map(Column::kind).collect();
            assert_eq!(kinds, [Kind::Number, Kind::Category, Kind::YesNo, Kind::Ignored]);
            assert_eq!(
                (table.rows(), table.columns()[0].missing_count(), table.columns()[2].missing_count()),
                (4, 2, 2)
            );
            assert_eq!(table.columns()[3].text(1).unwrap(), "[1]");
        }
    }

    #[test]
    fn a_missing_value_that_is_written_as_a_word_does_not_make_numbers_words() {
        for missing in ["NA", "NaN", "?", ""] {
            let row = |i: usize| match i % 5 {
                2 => format!("{{\"a\": \"{missing}\", \"b\": {i}}}\n"),
                _ => format!("{{\"a\": {i}.25, \"b\": {i}}}\n"),
            };
            let table = read(&(0..20).map(row).collect::<String>()).unwrap();
            let column = table.column("a").unwrap();
            assert_eq!((column.kind(), column.missing_count()), (Kind::Number, 4), "{missing:?}");
        }
    }

    #[test]
    fn numbers_of_more_digits_than_a_float_keeps_are_words() {
        // 2^53 + 1 is the first that a float does not keep; 2^53 + 2 is kept.
        let row = |i: usize| {
            let (key, kept) =
                ([9_007_199_254_740_993u64, 7, 18_446_744_073_709_551_615][i % 3], 9_007_199_254_740_994u64);
            format!("{{\"key\": {key}, \"kept\": {}, \"x\": {}}}\n", [kept, 3][i % 2], [1.5, 2.0][i % 2])
        };
        let table = read(&(0..12).map(row).collect::<String>()).unwrap();
        let kinds: Vec<Kind> = table.columns().iter().map(Column::kind).collect();
        assert_eq!(kinds, [Kind::Category, Kind::Count, Kind::Number]);
        let texts = [0, 1, 2].map(|i| table.columns()[0].text(i).unwrap().into_owned());
        assert_eq!(texts, ["9007199254740993", "7", "18446744073709551615"]);
        let training = table.supervised("kept", None, None, None, false).unwrap();
        let note = "'key' is read as category: '9007199254740993' has more digits than a number keeps";
        assert!(training.notes.iter().any(|said| said.starts_with(note)), "{:?}", training.notes);
        let classes = table.labelled("key", None).unwrap().target;
        let crate::learn::TargetView::Classes { classes, .. } = classes.view() else { panic!("classes") };
        assert_eq!(classes.names(), ["7", "9007199254740993", "18446744073709551615"]);
    }

    #[test]
    fn labels_that_are_numbers_keep_their_point() {
        for (text, expected) in [("1.0", ["1.0", "2.5"]), ("1", ["1", "2.5"]), ("1.50", ["1.5", "2.5"])] {
            let rows: String = (0..8).map(|i| format!("{{\"y\": {}, \"x\": {i}}}\n", [text, "2.5"][i % 2])).collect();
            let labelled = read(&rows).unwrap().labelled("y", Some(crate::learn::Task::Classification)).unwrap();
            let crate::learn::TargetView::Classes { classes, .. } = labelled.target.view() else { panic!("classes") };
            assert_eq!(classes.names(), expected);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let problem = |text: &str| read(text).unwrap_err().to_string();
        assert!(problem("{\"a\":1}\n{\"a\":}\n").starts_with("t.jsonl, line 2: this is not JSON as it is expected"));
        assert!(problem("{\"a\":1}\n[1]\n").contains("line 2"));
        for text in ["{\"b\":2,\"a\":1}\n{\"a\":1,\"b\":2,\"a\":3}\n", "[{\"b\":2},\n{\"a\":1,\"b\":2,\"a\":1}]"] {
            let said = problem(text);
            assert!(
                said.starts_with("t.jsonl, line 2: ") && said.ends_with("an object has two values called 'a'"),
                "{said}"
            );
        }
        assert_eq!(problem("\n\n"), "t.jsonl: there is no object in the file");
        assert_eq!(problem("{}\n{}\n"), "t.jsonl: the objects are empty");
        // As many columns as rows would need memory by the square of the file.
        let many: String = (0..20_000).map(|i| format!("{{\"k{i}\":1}}\n")).collect();
        assert_eq!(problem(&many), "t.jsonl: 20000 objects have 20000 different names: nearly every cell is missing");
        // Deep nesting is refused, not followed until the stack ends.
        assert!(read(&format!("{{\"a\":{}", "[".repeat(100_000))).is_err());
    }
}
