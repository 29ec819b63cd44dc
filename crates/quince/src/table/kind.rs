//! What kind of thing a column holds, and the rule that finds it.
//!
//! The rule looks at the cells that are not missing (a missing value is an empty cell, `?`, `NA`, `N/A`, `NaN` or `null`, in any
//! case; in a column of texts an empty cell is a text without words):
//!
//! 1. no cell left, or all the same: **ignored** (empty, constant);
//! 2. only 0 and 1, or only one pair of yes/no, y/n, true/false, t/f (in any case): **yes/no**;
//! 3. all numbers: counting up by one from 0 or 1 in the order of the rows, none missing, over ten rows or under a name such
//!    as `id`: **ignored** (row numbers); ten or more, whole, none missing, no two alike, under such a name: **ignored** (also of some of
//!    the rows, or in another order, they say which row it is); whole and not negative: **count**; otherwise **number**;
//! 4. words: if on average each value occurs twice or more: **category**; otherwise, if cells have two words or more on
//!    average: **text**; otherwise, if there are at most ten values: **category**; otherwise **ignored** (keys: most rows
//!    have a value of their own).
//!
//! A **vector** is never found by the rule: a LIBSVM file has one, or a user asks for it.

use super::spellings::Spellings;
use super::{Column, ColumnData, vector};
use crate::error::{self, Error};
use crate::learn::LabelType;
use crate::numbers::is_code;
use arrow_array::types::Int32Type;
use arrow_array::{Array, BooleanArray, DictionaryArray, Float64Array, Int32Array, LargeStringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// What a column holds.
///
/// ```
/// use quince::{Kind, Table};
/// let table = Table::from_csv("x,n,f,c\n1.5,3,yes,red\n2.5,7,no,blue\n0.5,7,no,red\n1.0,9,yes,red\n")?;
/// let kinds: Vec<Kind> = table.columns().iter().map(|column| column.kind()).collect();
/// assert_eq!(kinds, [Kind::Number, Kind::Count, Kind::YesNo, Kind::Category]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A measurement: any number.
    #[serde(rename = "number")]
    Number,
    /// How many: a whole number of at least zero.
    #[serde(rename = "count")]
    Count,
    /// One of two answers.
    #[serde(rename = "yes/no")]
    YesNo,
    /// One of a few words.
    #[serde(rename = "category")]
    Category,
    /// Words in a row.
    #[serde(rename = "text")]
    Text,
    /// Many numbers, most of them zero, each with its place: `3:1 17:0.5`.
    #[serde(rename = "vector")]
    Vector,
    /// Not used: row numbers, keys, constants, or dropped by the user.
    #[serde(rename = "ignored")]
    Ignored,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] =
        [Kind::Number, Kind::Count, Kind::YesNo, Kind::Category, Kind::Text, Kind::Vector, Kind::Ignored];

    /// The kind's name, as `--kind` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Count => "count",
            Kind::YesNo => "yes/no",
            Kind::Category => "category",
            Kind::Text => "text",
            Kind::Vector => "vector",
            Kind::Ignored => "ignored",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> error::Result<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name || (*kind == Kind::YesNo && name == "yesno")).ok_or_else(
            || Error::Unknown {
                what: "kind",
                name: name.to_string(),
                remedy: format!("The kinds are {}.", Kind::ALL.map(Kind::name).join(", ")),
            },
        )
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a cell is missing: one of the spellings of a missing value.
///
/// ```
/// use quince::table::kind::is_missing;
/// assert!(is_missing("?") && is_missing(" NA ") && !is_missing("0"));
/// ```
pub fn is_missing(cell: &str) -> bool {
    let cell = cell.trim();
    // C prints a signed nan.
    let cell = if cell.len() == 4 { cell.trim_start_matches(['-', '+']) } else { cell };
    cell.is_empty()
        || ["?", "na", "n/a", "#n/a", "nan", "null"].iter().any(|missing| cell.eq_ignore_ascii_case(missing))
}

const ID_NAMES: [&str; 8] = ["id", "index", "row", "rownames", "row_number", "nr", "no", "key"];
const PAIRS: [[&str; 2]; 5] = [["0", "1"], ["no", "yes"], ["n", "y"], ["false", "true"], ["f", "t"]];

/// Why a column of words that are nearly all different is ignored.
pub(super) const MOSTLY_DIFFERENT: &str = "most rows have a value of their own";

/// Cells, of which the empty ones are missing values: they are in every column but one of texts.
fn filled(cells: &LargeStringArray) -> impl Iterator<Item = Option<&str>> {
    cells.iter().map(|cell| cell.filter(|cell| !cell.is_empty()))
}

/// A column of text cells (missing values other than empty cells already taken out), its kind found by the rule.
pub(crate) fn column_of_cells(name: String, cells: LargeStringArray) -> Result<Column, CellError> {
    if let Some(values) = booleans(&cells) {
        return Ok(Column { name, kind: Kind::YesNo, data: values, why: String::new(), label_type: None });
    }
    if cells.iter().flatten().any(is_code) {
        return Ok(column_of_words(name, cells));
    }
    match parse_numbers(&cells) {
        Ok(numbers) if numbers.null_count() < numbers.len() => {
            check_finite(&numbers, &cells)?;
            let spellings = spellings_of(&numbers, &cells);
            let numbers = numbers.iter().map(|x| x.unwrap_or(f64::NAN)).collect();
            Ok(column_of_numbers(name, numbers, spellings))
        }
        _ => Ok(column_of_words(name, cells)),
    }
}

/// A column of strings, which somebody has made such: yes/no or words, and never numbers.
pub(crate) fn column_of_strings(name: String, cells: LargeStringArray) -> Column {
    let column = match booleans(&cells) {
        Some(data) if !filled(&cells).flatten().any(|cell| cell == "0" || cell == "1") => {
            Column { name, kind: Kind::YesNo, data, why: String::new(), label_type: None }
        }
        _ => column_of_words(name, cells),
    };
    Column { label_type: Some(LabelType::Words), ..column }
}

/// Numbers in which not-a-number is a missing value, as a kind of numbers; `None` if they are not of that kind.
pub(crate) fn data_of_numbers(
    numbers: &mut Vec<f64>,
    kind: Kind,
    spellings: Option<Arc<Spellings>>,
) -> Option<ColumnData> {
    let fits = |x: &f64| match kind {
        Kind::Number => !x.is_infinite(),
        Kind::Count => x.is_nan() || (*x >= 0.0 && x.fract() == 0.0 && x.is_finite()),
        Kind::YesNo => x.is_nan() || *x == 0.0 || *x == 1.0,
        Kind::Category | Kind::Text | Kind::Vector | Kind::Ignored => false,
    };
    if !numbers.iter().all(fits) {
        return None;
    }
    let missing = numbers.iter().any(|x| x.is_nan());
    let filled = missing.then(|| NullBuffer::from_iter(numbers.iter().map(|x| !x.is_nan())));
    Some(match kind {
        Kind::YesNo => {
            let yes = BooleanBuffer::from_iter(numbers.iter().map(|x| *x == 1.0));
            let spelled = |x: f64| spellings.as_ref().and_then(|spellings| spellings.get(x));
            let words = [spelled(0.0).unwrap_or("0").to_string(), spelled(1.0).unwrap_or("1").to_string()];
            ColumnData::YesNo { values: BooleanArray::new(yes, filled), words }
        }
        _ => ColumnData::Numbers { values: Float64Array::new(std::mem::take(numbers).into(), filled), spellings },
    })
}

/// A column that is not learnt from.
pub(crate) fn ignored(name: String, cells: LargeStringArray) -> Column {
    Column { name, kind: Kind::Ignored, data: ColumnData::Texts(cells), why: String::new(), label_type: None }
}

/// Row, what is wrong with its cell, and the remedy.
pub(crate) type CellError = (usize, String, String);

/// A column of the kind that the user (or a saved model) asks for.
pub(crate) fn column_of_kind(name: String, cells: LargeStringArray, kind: Kind) -> Result<Column, CellError> {
    let data = match kind {
        Kind::Number | Kind::Count => {
            let numbers = parse_numbers(&cells).map_err(|row| {
                let problem = format!("'{}' is not a number", shorten(cells.value(row)));
                (row, problem, "Mend the cell, leave it empty, or give the column another kind.".to_string())
            })?;
            check_finite(&numbers, &cells)?;
            if kind == Kind::Count
                && let Some(row) = first(&numbers, |v| v < 0.0 || v.fract() != 0.0)
            {
                let problem = format!("'{}' is not a count", cells.value(row));
                return Err((row, problem, "A count is a whole number of at least zero; try the kind number.".into()));
            }
            ColumnData::Numbers { spellings: spellings_of(&numbers, &cells), values: numbers }
        }
        Kind::YesNo => {
            let row = filled(&cells).position(|cell| cell.is_some_and(|cell| yes_or_no(cell).is_none()));
            if let Some(row) = row {
                let problem = format!("'{}' is neither yes nor no", shorten(cells.value(row)));
                return Err((row, problem, "Write yes/no, y/n, true/false, t/f or 1/0.".into()));
            }
            booleans(&cells).unwrap_or_else(|| {
                let values = cells.iter().map(|cell| cell.and_then(yes_or_no)).collect();
                ColumnData::YesNo { values, words: ["no".into(), "yes".into()] }
            })
        }
        Kind::Category => categories(&cells),
        Kind::Vector => {
            let rows: Result<Vec<_>, CellError> = (0..cells.len())
                .map(|i| match cells.is_valid(i) {
                    true => vector::pairs(cells.value(i)).map_err(|problem| (i, problem, vector::REMEDY.to_string())),
                    false => Ok(Vec::new()),
                })
                .collect();
            vector::data(rows?)
        }
        Kind::Text | Kind::Ignored => ColumnData::Texts(cells),
    };
    let why = if kind == Kind::Ignored { "as asked".to_string() } else { String::new() };
    Ok(Column { name, kind, data, why, label_type: None })
}

/// Number, count, yes/no or ignored, by the rule; not-a-number is a missing value.
pub(crate) fn column_of_numbers(name: String, mut numbers: Vec<f64>, spellings: Option<Arc<Spellings>>) -> Column {
    let (kind, why) = kind_of_numbers(&name, &numbers);
    let shown = if kind == Kind::Ignored { Kind::Number } else { kind };
    let data = data_of_numbers(&mut numbers, shown, spellings)
        .unwrap_or_else(|| ColumnData::Numbers { values: Float64Array::from(numbers), spellings: None });
    Column { name, kind, data, why: why.to_string(), label_type: None }
}

/// The kind of numbers by the rule, and why they are ignored if they are.
pub(crate) fn kind_of_numbers(name: &str, numbers: &[f64]) -> (Kind, &'static str) {
    let Some(&head) = numbers.iter().find(|x| !x.is_nan()) else {
        return (Kind::Ignored, "empty");
    };
    if numbers.iter().all(|x| *x == head || x.is_nan()) {
        return (Kind::Ignored, "constant");
    }
    if numbers.iter().all(|x| *x == 0.0 || *x == 1.0 || x.is_nan()) {
        return (Kind::YesNo, "");
    }
    // A missing value is equal to nothing.
    let counts_up =
        (head == 0.0 || head == 1.0) && numbers[0] == head && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    let lower = name.to_lowercase();
    let named_id =
        ID_NAMES.contains(&lower.as_str()) || name.ends_with("Id") || name.ends_with("ID") || lower.ends_with("_id");
    if counts_up && (numbers.len() >= 10 || named_id) {
        return (Kind::Ignored, "row numbers");
    }
    if named_id && numbers.len() >= 10 && are_keys(numbers) {
        return (Kind::Ignored, "a number of its own for every row");
    }
    let counts = numbers.iter().all(|x| (*x >= 0.0 && x.fract() == 0.0) || x.is_nan());
    if counts { (Kind::Count, "") } else { (Kind::Number, "") }
}

/// Whether the numbers tell rows apart: whole, none missing, and no two alike.
fn are_keys(numbers: &[f64]) -> bool {
    let mut seen = std::collections::HashSet::new();
    numbers.iter().all(|x| x.fract() == 0.0 && seen.insert((x + 0.0).to_bits()))
}

/// Category, text or ignored, by the rule.
pub(crate) fn column_of_words(name: String, cells: LargeStringArray) -> Column {
    let mut distinct = std::collections::HashSet::new();
    distinct.extend(filled(&cells).flatten());
    let known = filled(&cells).flatten().count();
    let (kind, why) = match distinct.len() {
        0 => (Kind::Ignored, "empty"),
        1 => (Kind::Ignored, "constant"),
        count if 2 * count <= known => (Kind::Category, ""),
        count => {
            let words: usize = filled(&cells).flatten().map(|cell| cell.split_whitespace().count()).sum();
            if words >= 2 * known {
                (Kind::Text, "")
            } else if count <= 10 {
                (Kind::Category, "")
            } else {
                (Kind::Ignored, MOSTLY_DIFFERENT)
            }
        }
    };
    let data = if kind == Kind::Category { categories(&cells) } else { ColumnData::Texts(cells) };
    Column { name, kind, data, why: why.to_string(), label_type: None }
}

/// Codes in the order of first appearance. An empty cell has one, too: it is a missing value until the column becomes one of texts.
pub(crate) fn categories(cells: &LargeStringArray) -> ColumnData {
    let mut codes = HashMap::new();
    let mut names = Vec::new();
    let keys: Int32Array = cells
        .iter()
        .map(|cell| {
            cell.map(|cell| {
                *codes.entry(cell).or_insert_with(|| {
                    names.push(cell);
                    names.len() as i32 - 1
                })
            })
        })
        .collect();
    ColumnData::Categories(DictionaryArray::<Int32Type>::new(keys, Arc::new(LargeStringArray::from(names))))
}

/// Yes/no if both answers of one pair occur and nothing else does. Words keep the spelling they first had.
fn booleans(cells: &LargeStringArray) -> Option<ColumnData> {
    let mut words: [Option<&str>; 2] = [None, None];
    let mut pair = None;
    for cell in filled(cells).flatten() {
        let (found, answer) = PAIRS.iter().enumerate().find_map(|(p, pair)| {
            pair.iter().position(|word| cell.eq_ignore_ascii_case(word)).map(|answer| (p, answer))
        })?;
        if *pair.get_or_insert(found) != found {
            return None;
        }
        words[answer].get_or_insert(cell);
    }
    let words = [words[0]?.to_string(), words[1]?.to_string()];
    let values: BooleanArray = cells.iter().map(|cell| cell.and_then(yes_or_no)).collect();
    Some(ColumnData::YesNo { values, words })
}

/// Yes or no, in any of the spellings of the rule; `None` for anything else.
///
/// ```
/// use quince::table::kind::yes_or_no;
/// assert_eq!(["Yes", "f", "1", "maybe"].map(yes_or_no), [Some(true), Some(false), Some(true), None]);
/// ```
pub fn yes_or_no(cell: &str) -> Option<bool> {
    let named = PAIRS.iter().find_map(|pair| pair.iter().position(|word| cell.eq_ignore_ascii_case(word)));
    named.or_else(|| cell.parse::<f64>().ok().and_then(|v| [0.0, 1.0].iter().position(|x| *x == v))).map(|i| i == 1)
}

/// If cells are not all numbers as they are, but all of them would be with a comma for the decimal point: those numbers.
pub(crate) fn with_decimal_points(cells: &LargeStringArray) -> Option<LargeStringArray> {
    let comma = |cell: &str| cell.bytes().filter(|&byte| byte == b',').count() == 1 && !cell.contains('.');
    if !cells.iter().flatten().any(comma) {
        return None;
    }
    let points: LargeStringArray = cells.iter().map(|cell| cell.map(|cell| cell.replace(',', "."))).collect();
    let all = cells.iter().flatten().all(|cell| comma(cell) || !cell.contains(','));
    (all && parse_numbers(&points).is_ok()).then_some(points)
}

/// All cells as numbers, or the first row that is not one.
fn parse_numbers(cells: &LargeStringArray) -> Result<Float64Array, usize> {
    let mut values = Vec::with_capacity(cells.len());
    for (i, cell) in filled(cells).enumerate() {
        values.push(cell.map(|cell| cell.parse::<f64>().map_err(|_| i)).transpose()?);
    }
    Ok(Float64Array::from(values))
}

/// How numbers are written in these cells, where few differ.
fn spellings_of(numbers: &Float64Array, cells: &LargeStringArray) -> Option<Arc<Spellings>> {
    let numbers: Vec<f64> = numbers.iter().map(|x| x.unwrap_or(f64::NAN)).collect();
    Spellings::of_cells(&numbers, |row| cells.value(row)).map(Arc::new)
}

fn check_finite(values: &Float64Array, cells: &LargeStringArray) -> Result<(), CellError> {
    match first(values, |v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err((
            row,
            format!("'{}' is an infinite number", cells.value(row)),
            "Write a finite number, or leave the cell empty if the value is not known.".into(),
        )),
    }
}

fn first(values: &Float64Array, wrong: impl Fn(f64) -> bool) -> Option<usize> {
    (0..values.len()).find(|&i| values.is_valid(i) && wrong(values.value(i)))
}

pub(crate) fn shorten(cell: &str) -> String {
    if cell.chars().count() <= 30 { cell.to_string() } else { cell.chars().take(27).chain("...".chars()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    fn kinds(csv: &str) -> Vec<Kind> {
        Table::from_csv(csv).unwrap().columns().iter().map(Column::kind).collect()
    }

    #[test]
    fn each_kind_is_found_by_the_rule() {
        let csv = "id,len,n,flag,say,same,city\n1,0.5,3,0,Yes,x,Oslo\n2,-1,0,1,no,x,Rome\n3,,7,1,YES,x,Oslo\n4,2,NA,?,no,x,Rome\n";
        use Kind::*;
        assert_eq!(kinds(csv), [Ignored, Number, Count, YesNo, YesNo, Ignored, Category]);
    }

    #[test]
    fn numbers_that_count_up_are_row_numbers_only_over_ten_rows_or_under_such_a_name() {
        assert_eq!(kinds("x,y\n1,5\n2,3\n3,4\n")[0], Kind::Count);
        assert_eq!(kinds("PassengerId,y\n1,5\n2,3\n3,4\n")[0], Kind::Ignored);
        let long: String = (0..10).map(|i| format!("{i},{}\n", i % 3)).collect();
        assert_eq!(kinds(&format!("x,y\n{long}"))[0], Kind::Ignored);
        assert_eq!(kinds("id,y\n10,5\n20,3\n30,4\n")[0], Kind::Count);
    }

    #[test]
    fn whole_numbers_under_such_a_name_tell_rows_apart_in_any_order_and_in_a_part_of_the_rows() {
        let some = |name: &str, number: &dyn Fn(usize) -> String| {
            let rows: String = (0..12).map(|i| format!("{},{}\n", number(i), i % 3)).collect();
            kinds(&format!("{name},y\n{rows}"))[0]
        };
        // 7 and 31 have no common divisor.
        let shuffled = |i: usize| (7 * i % 31).to_string();
        assert_eq!(some("PassengerId", &shuffled), Kind::Ignored);
        assert_eq!(some("customer_id", &shuffled), Kind::Ignored);
        assert_eq!(some("weight", &shuffled), Kind::Count);
        assert_eq!(some("customer_id", &|i| (i / 2).to_string()), Kind::Count);
        assert_eq!(some("customer_id", &|i| format!("{i}.5")), Kind::Number);
        assert_eq!(some("customer_id", &|i| if i == 3 { "NA".into() } else { shuffled(i) }), Kind::Count);
    }

    #[test]
    fn numbers_with_zeros_before_them_are_words() {
        let csv = "zip,n,pad\n007,0,0.10\n7,10,01.5\n007,7,2\n7,0,1e01\n";
        let table = Table::from_csv(csv).unwrap();
        assert_eq!(kinds(csv), [Kind::Category, Kind::Count, Kind::Number]);
        assert_eq!(table.columns()[0].text(0).unwrap(), "007");
        let numbers = table.columns()[0].as_kind(Kind::Number, &table).unwrap();
        assert_eq!(numbers.number(0), Some(7.0));
        // As a target they are spelled as they are, and the reader is told so.
        let training = table.supervised("n", None, None, None, false).unwrap();
        let note = "'zip' is read as category: '007' begins with a zero";
        assert!(training.notes.iter().any(|said| said.starts_with(note)), "{:?}", training.notes);
    }

    #[test]
    fn whole_numbers_of_more_digits_than_a_float_keeps_are_words() {
        // 2^53 + 1 is the first that a float does not keep.
        let csv = "key,long,kept,x\n\
            12345678901234567890,7,9007199254740992,0.1234567890123456789\n\
            \"12345678901234567891\",-9007199254740993,10000000000000000000000,12345678901234567.5\n";
        let table = Table::from_csv(&format!("{csv}{}", csv.split_once('\n').unwrap().1)).unwrap();
        let found: Vec<Kind> = table.columns().iter().map(Column::kind).collect();
        assert_eq!(found, [Kind::Category, Kind::Category, Kind::Count, Kind::Number]);
        assert_eq!(table.columns()[0].text(1).unwrap(), "12345678901234567891");
        let training = table.supervised("kept", Some(crate::learn::Task::Classification), None, None, false).unwrap();
        for note in [
            "'key' is read as category: '12345678901234567890' has more digits than a number keeps",
            "'long' is read as category: '-9007199254740993' has more digits than a number keeps",
        ] {
            assert!(training.notes.iter().any(|said| said.starts_with(note)), "{:?}", training.notes);
        }
        let numbers = table.columns()[0].as_kind(Kind::Number, &table).unwrap();
        assert_eq!(numbers.number(1), Some(12345678901234567168.0));
        assert_eq!(kinds("a\n-01\n+02\n-01\n+02\n"), [Kind::Category]);
    }

    #[test]
    fn words_are_categories_texts_or_keys() {
        let text: String = (0..12).map(|i| format!("a film number {i},k{i},c{}\n", i % 3)).collect();
        assert_eq!(kinds(&format!("t,k,c\n{text}")), [Kind::Text, Kind::Ignored, Kind::Category]);
    }

    #[test]
    fn zeros_alone_are_a_constant_and_mixed_pairs_are_categories() {
        assert_eq!(kinds("a,b\n0,yes\n0,f\n0,yes\n0,f\n"), [Kind::Ignored, Kind::Category]);
    }

    #[test]
    fn every_spelling_of_a_missing_value_is_known() {
        for missing in ["", "-nan", "+NaN", "?", "NA", "na", "NaN", "nan", "null", "NULL", "  "] {
            assert!(is_missing(missing), "{missing}");
        }
        assert!(!is_missing("none") && !is_missing("0") && !is_missing("n.a."));
    }
}
