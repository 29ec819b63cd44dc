//! Tables from Arrow data: record batches, or a stream handed over by its C interface (pandas, polars, pyarrow).

use super::cells::is_too_long;
use super::kind::{self, Kind};
use super::{Column, ColumnData, Table};
use crate::error::{Error, Result};
use crate::learn::LabelType;
use crate::numbers::loses_digits;
use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BooleanArray, LargeStringArray, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, TimeUnit};

impl Table {
    /// Reads an Arrow C stream to its end.
    ///
    /// # Safety
    /// `stream` must point to a valid Arrow C stream. It is moved out of and left released.
    pub unsafe fn from_arrow_stream(stream: *mut FFI_ArrowArrayStream) -> Result<Table> {
        // SAFETY: the caller vouches for the pointer.
        let reader = unsafe { ArrowArrayStreamReader::from_raw(stream) }.map_err(|e| arrow_error(&e))?;
        let schema = reader.schema();
        let batches = reader.collect::<std::result::Result<Vec<_>, _>>().map_err(|e| arrow_error(&e))?;
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        Table::from_batches(&names, &batches)
    }

    pub(super) fn from_batches(names: &[String], batches: &[RecordBatch]) -> Result<Table> {
        let column = |(j, name): (usize, &String)| {
            let parts: Vec<ArrayRef> = batches.iter().map(|batch| batch.column(j).clone()).collect();
            let label_type = parts.first().and_then(|part| label_type(part.data_type()));
            Ok(Column { label_type, ..column_of(name, &parts)? })
        };
        Table::new(names.iter().enumerate().map(column).collect::<Result<_>>()?)
    }
}

/// Columns of a record batch: numbers, words, Booleans, dictionaries and dates; others are ignored, and say so.
#[cfg(feature = "arrow")]
impl TryFrom<&RecordBatch> for Table {
    type Error = Error;

    fn try_from(batch: &RecordBatch) -> Result<Table> {
        Table::try_from(std::slice::from_ref(batch))
    }
}

/// Record batches of one schema, one after another.
#[cfg(feature = "arrow")]
impl TryFrom<&[RecordBatch]> for Table {
    type Error = Error;

    fn try_from(batches: &[RecordBatch]) -> Result<Table> {
        let Some(first) = batches.first() else {
            return Err(Error::data("there is no record batch", "Give at least one."));
        };
        if let Some(i) = batches.iter().position(|batch| batch.schema() != first.schema()) {
            let problem = format!("batch {} has another schema than the first", i + 1);
            return Err(Error::shape(problem, "Give batches of one table."));
        }
        let names: Vec<String> = first.schema().fields().iter().map(|field| field.name().clone()).collect();
        Table::from_batches(&names, batches)
    }
}

/// What cells of this type are as labels.
pub(super) fn label_type(kind: &DataType) -> Option<LabelType> {
    match kind {
        DataType::Boolean => Some(LabelType::Booleans),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(LabelType::Words),
        DataType::Dictionary(_, values) => label_type(values),
        kind if kind.is_integer() || matches!(kind, DataType::Decimal128(_, 0)) => Some(LabelType::Integers),
        kind if kind.is_floating() || matches!(kind, DataType::Decimal128(..)) => Some(LabelType::Numbers),
        _ => None,
    }
}

fn arrow_error(error: &dyn std::fmt::Display) -> Error {
    Error::data(format!("the Arrow data cannot be read: {error}"), "Hand over a data frame of plain columns.")
}

pub(super) fn column_of(name: &str, parts: &[ArrayRef]) -> Result<Column> {
    let Some(first) = parts.first() else {
        return Ok(kind::column_of_words(name.into(), LargeStringArray::from_iter(Vec::<Option<&str>>::new())));
    };
    let rows = parts.iter().map(|part| part.len()).sum();
    let column = match first.data_type() {
        DataType::Boolean => {
            let values: BooleanArray = parts.iter().flat_map(|part| part.as_boolean().iter()).collect();
            let words = ["False".to_string(), "True".to_string()];
            Column {
                name: name.into(),
                kind: Kind::YesNo,
                data: ColumnData::YesNo { values, words },
                why: String::new(),
                label_type: None,
            }
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => kind::column_of_words(
            name.into(),
            match words_of(parts) {
                Some(words) => words,
                None => return Ok(not_understood(name, first.data_type(), rows)),
            },
        ),
        DataType::Dictionary(..) => {
            let words = match words_of(parts) {
                Some(words) => words,
                None => return Ok(not_understood(name, first.data_type(), rows)),
            };
            Column {
                name: name.into(),
                kind: Kind::Category,
                data: kind::categories(&words),
                why: String::new(),
                label_type: None,
            }
        }
        DataType::Null => kind::column_of_words(name.into(), LargeStringArray::new_null(rows)),
        _ => {
            // As floats some keys would be others: the rule for words finds the kind of what loses digits.
            if let Some(digits) = exact_digits(parts).filter(|digits| digits.iter().flatten().any(loses_digits)) {
                return Ok(kind::column_of_words(name.into(), digits));
            }
            let mut values = Vec::new();
            if !parts.iter().all(|part| numbers_of(part, &mut values).is_some()) {
                let texts: Option<Vec<_>> = parts.iter().map(dates_of).collect();
                let data = texts.map(|texts| ColumnData::Texts(texts.into_iter().flatten().collect()));
                let ignored = not_understood(name, first.data_type(), rows);
                return Ok(Column { data: data.unwrap_or(ignored.data), ..ignored });
            }
            if let Some(row) = values.iter().position(|v| v.is_infinite()) {
                return Err(Error::data(
                    format!("row {}, column '{name}': an infinite number", row + 1),
                    "Give a finite number, or a missing value if the value is not known.",
                ));
            }
            kind::column_of_numbers(name.into(), values, None)
        }
    };
    Ok(column)
}

/// Dates and times as people write them. `None` if the type is another.
fn dates_of(array: &ArrayRef) -> Option<Vec<Option<String>>> {
    macro_rules! dates {
        ($type:ty, $as_date:ident) => {{
            let dates = array.as_primitive_opt::<$type>()?;
            (0..dates.len())
                .map(|i| if dates.is_valid(i) { dates.$as_date(i) } else { None }?.to_string().into())
                .collect()
        }};
    }
    Some(match array.data_type() {
        DataType::Date32 => dates!(Date32Type, value_as_date),
        DataType::Date64 => dates!(Date64Type, value_as_date),
        DataType::Timestamp(TimeUnit::Second, _) => dates!(TimestampSecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Millisecond, _) => dates!(TimestampMillisecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Microsecond, _) => dates!(TimestampMicrosecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => dates!(TimestampNanosecondType, value_as_datetime),
        _ => return None,
    })
}

/// A column whose type is neither numbers nor words (dates, lists) is ignored, and says so.
pub(super) fn not_understood(name: &str, kind: &DataType, rows: usize) -> Column {
    let why = format!("{kind} is neither numbers nor words");
    Column {
        name: name.into(),
        kind: Kind::Ignored,
        data: ColumnData::Texts(LargeStringArray::new_null(rows)),
        why,
        label_type: None,
    }
}

/// Whether values of this type can be read: numbers, words, dates.
#[cfg(feature = "parquet")]
pub(super) fn is_readable(kind: &DataType) -> bool {
    let words = matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let numbers = kind.is_integer() || kind.is_floating() || matches!(kind, DataType::Decimal128(..));
    let dates = matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..));
    let of_values = if let DataType::Dictionary(_, values) = kind { is_readable(values) } else { false };
    words || numbers || dates || of_values || matches!(kind, DataType::Boolean | DataType::Null)
}

/// Whole numbers as words, if some have more digits than a float keeps.
pub(super) fn exact_digits(parts: &[ArrayRef]) -> Option<LargeStringArray> {
    fn digits<T: ArrowPrimitiveType<Native: Into<i128>>>(parts: &[ArrayRef]) -> Option<LargeStringArray> {
        let arrays: Vec<_> = parts.iter().map(|part| part.as_primitive_opt::<T>()).collect::<Option<_>>()?;
        // Most columns have none, which a look at the values themselves tells soonest; of missing ones they may be anything.
        if !arrays.iter().any(|array| array.values().iter().any(|&x| is_too_long(x.into()))) {
            return None;
        }
        let whole = || arrays.iter().flat_map(|array| array.iter()).map(|x| x.map(Into::<i128>::into));
        whole().flatten().any(is_too_long).then(|| whole().map(|x| x.map(|x| x.to_string())).collect())
    }
    match parts.first()?.data_type() {
        DataType::Int64 => digits::<Int64Type>(parts),
        DataType::UInt64 => digits::<UInt64Type>(parts),
        DataType::Decimal128(_, 0) => digits::<Decimal128Type>(parts),
        _ => None,
    }
}

/// Appends the numbers of an array, missing values as not-a-number. `None` if the type is not one of numbers.
fn numbers_of(array: &ArrayRef, values: &mut Vec<f64>) -> Option<()> {
    macro_rules! primitive {
        ($type:ty) => {
            values.extend(array.as_primitive_opt::<$type>()?.iter().map(|v| v.map_or(f64::NAN, |v| v as f64)))
        };
    }
    match array.data_type() {
        DataType::Float64 => primitive!(Float64Type),
        DataType::Float32 => primitive!(Float32Type),
        DataType::Int64 => primitive!(Int64Type),
        DataType::Int32 => primitive!(Int32Type),
        DataType::Int16 => primitive!(Int16Type),
        DataType::Int8 => primitive!(Int8Type),
        DataType::UInt64 => primitive!(UInt64Type),
        DataType::UInt32 => primitive!(UInt32Type),
        DataType::UInt16 => primitive!(UInt16Type),
        DataType::UInt8 => primitive!(UInt8Type),
        DataType::Float16 => {
            let halves = array.as_primitive_opt::<Float16Type>()?;
            values.extend(halves.iter().map(|v| v.map_or(f64::NAN, |v| v.to_f64())));
        }
        DataType::Decimal128(_, digits) => {
            let unit = 10f64.powi(i32::from(*digits));
            let decimals = array.as_primitive_opt::<Decimal128Type>()?;
            values.extend(decimals.iter().map(|v| v.map_or(f64::NAN, |v| v as f64 / unit)));
        }
        _ => return None,
    }
    Some(())
}

/// All words, dictionaries resolved.
fn words_of(parts: &[ArrayRef]) -> Option<LargeStringArray> {
    let mut words = LargeStringBuilder::new();
    for part in parts {
        match part.data_type() {
            DataType::Utf8 => words.extend(part.as_string_opt::<i32>()?),
            DataType::LargeUtf8 => words.extend(part.as_string_opt::<i64>()?),
            DataType::Utf8View => words.extend(part.as_string_view_opt()?),
            DataType::Boolean => {
                let word = |value: Option<bool>| value.map(|value| if value { "True" } else { "False" });
                words.extend(part.as_boolean_opt()?.iter().map(word));
            }
            DataType::Dictionary(..) => {
                let dictionary = part.as_any_dictionary_opt()?;
                let mut numbers = Vec::new();
                let values = std::slice::from_ref(dictionary.values());
                let names = match words_of(values).or_else(|| exact_digits(values)) {
                    Some(names) => names,
                    None => {
                        numbers_of(dictionary.values(), &mut numbers)?;
                        numbers.iter().map(|v| (!v.is_nan()).then(|| crate::numbers::number_text(*v))).collect()
                    }
                };
                // Keys cannot be made places in an empty dictionary, of which all cells are missing.
                let keys = if names.is_empty() { vec![0; dictionary.len()] } else { dictionary.normalized_keys() };
                for (i, key) in keys.into_iter().enumerate() {
                    let filled = dictionary.keys().is_valid(i) && key < names.len() && names.is_valid(key);
                    words.append_option(filled.then(|| names.value(key)));
                }
            }
            _ => return None,
        }
    }
    Some(words.finish())
}
