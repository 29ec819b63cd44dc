//! Tables written to files: JSON, JSON lines, Parquet, Arrow's file format. Text tables are cells with delimiters between them,
//! which whoever has the cells writes at once.

use super::arrow::{column_of, label_type};
use super::{Column, ColumnData, Kind};
use crate::error::{Error, Result};
use crate::learn::LabelType;
use crate::numbers::{is_code, number_text};
use arrow_array::{Array, ArrayRef};
use arrow_schema::FieldRef;
use std::path::Path;

/// A column to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub values: OutputValues,
}

/// The cells of a column to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputValues {
    /// Numbers; not-a-number is a missing value.
    Numbers(Vec<f64>),
    /// Texts; none is a missing value.
    Texts(Vec<Option<String>>),
    /// What a file of Arrow columns held, with its type.
    Arrow(ArrowColumn),
}

/// A column as Arrow has it, in parts one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrowColumn {
    pub(super) field: FieldRef,
    pub(super) parts: Vec<ArrayRef>,
}

impl OutputValues {
    fn len(&self) -> usize {
        match self {
            OutputValues::Numbers(numbers) => numbers.len(),
            OutputValues::Texts(texts) => texts.len(),
            OutputValues::Arrow(column) => column.parts.iter().map(|part| part.len()).sum(),
        }
    }

    /// Numbers or texts, for formats that know no other types.
    fn plain(self) -> Result<OutputValues> {
        let OutputValues::Arrow(ArrowColumn { field, parts }) = self else { return Ok(self) };
        let label_type = label_type(field.data_type());
        let column = Column { label_type, ..column_of(field.name(), &parts)? };
        let texts = || (0..column.rows()).map(|i| column.text(i).map(|text| text.into_owned())).collect();
        Ok(column.numbers_to_write().map_or_else(|| OutputValues::Texts(texts()), OutputValues::Numbers))
    }
}

impl Column {
    /// The cells to be written, if all of them are numbers: measurements and counts, but 0 and 1 as well, row numbers, and numbers that
    /// are the same in every row. Codes such as `007` and strings of a JSON file are none. Not-a-number is a missing value.
    ///
    /// ```
    /// use quince::Table;
    /// let table = Table::from_csv("id,member,zip\n1,0,007\n2,1,012\n3,0,007\n")?;
    /// assert_eq!(table.column("id")?.numbers_to_write(), Some(vec![1.0, 2.0, 3.0]));
    /// assert_eq!(table.column("member")?.numbers_to_write(), Some(vec![0.0, 1.0, 0.0]));
    /// assert_eq!(table.column("zip")?.numbers_to_write(), None);
    /// # quince::Result::Ok(())
    /// ```
    pub fn numbers_to_write(&self) -> Option<Vec<f64>> {
        let may_be = matches!(self.kind, Kind::Number | Kind::Count | Kind::YesNo | Kind::Ignored);
        if !may_be || self.label_type == Some(LabelType::Words) {
            return None;
        }
        let parsed = |text: &str| text.parse().ok().filter(|_| !is_code(text));
        let number = |i: usize| match &self.data {
            ColumnData::Numbers { .. } => Some(self.number(i).unwrap_or(f64::NAN)),
            _ => self.text(i).map_or(Some(f64::NAN), |text| parsed(&text)),
        };
        let numbers: Vec<f64> = (0..self.rows()).map(number).collect::<Option<_>>()?;
        let of_numbers = matches!(self.data, ColumnData::Numbers { .. });
        (of_numbers || numbers.iter().any(|x| !x.is_nan())).then_some(numbers)
    }
}

/// A format that tables are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// Cells with delimiters between them: CSV, TSV.
    Delimited,
    /// An array of objects, one per row.
    Json,
    /// One object per line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Arrow's file format, which is also called Feather.
    Arrow,
}

/// Endings of files that hold tables in a format that is not written.
const NOT_WRITTEN: [&str; 18] = [
    "arff", "libsvm", "svmlight", "svm", "xlsx", "xls", "ods", "orc", "avro", "db", "sqlite", "pkl", "npy", "npz",
    "sav", "dta", "h5", "quince",
];

/// Endings of packed files that are not written.
const NOT_PACKED: [&str; 6] = ["zip", "bz2", "xz", "zst", "lz4", "7z"];

impl OutputFormat {
    /// What the ending of a file's name asks for, and whether the file is packed by gzip. Delimited text if it says nothing.
    pub fn of_file(path: &Path) -> Result<(OutputFormat, bool)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let (name, packed) = name.strip_suffix(".gz").map_or((&*name, false), |name| (name, true));
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let format = match ending {
            "json" => OutputFormat::Json,
            "jsonl" | "ndjson" => OutputFormat::JsonLines,
            "parquet" | "pq" => OutputFormat::Parquet,
            "arrow" | "feather" | "ipc" => OutputFormat::Arrow,
            _ if NOT_WRITTEN.contains(&ending) || NOT_PACKED.contains(&ending) => {
                return Err(Error::setting(
                    "output",
                    format!("cannot be a .{ending} file: that format is not written"),
                    "Name a file that ends in .csv, .tsv, .json, .jsonl, .parquet or .arrow; text may be packed as .gz.",
                ));
            }
            _ => OutputFormat::Delimited,
        };
        if packed && matches!(format, OutputFormat::Parquet | OutputFormat::Arrow) {
            return Err(Error::setting(
                "output",
                format!("cannot be .{ending}.gz: such a file is packed by itself"),
                "Leave out .gz.",
            ));
        }
        Ok((format, packed))
    }

    /// The bytes of a file with these columns, which are of one length.
    ///
    /// ```
    /// # use quince::table::{OutputColumn, OutputFormat, OutputValues};
    /// let ages = OutputColumn { name: "age".into(), values: OutputValues::Numbers(vec![31.0, f64::NAN]) };
    /// let bytes = OutputFormat::JsonLines.encode(vec![ages])?;
    /// assert_eq!(String::from_utf8(bytes).unwrap(), "{\"age\":31}\n{\"age\":null}\n");
    /// # quince::Result::Ok(())
    /// ```
    pub fn encode(self, columns: Vec<OutputColumn>) -> Result<Vec<u8>> {
        let rows = columns.first().map_or(0, |column| column.values.len());
        if let Some(other) = columns.iter().find(|column| column.values.len() != rows) {
            let problem = format!("column '{}' has {} cells, the first {rows}", other.name, other.values.len());
            return Err(Error::shape(problem, "Give columns of one length."));
        }
        if matches!(self, OutputFormat::Parquet | OutputFormat::Arrow) {
            return self.encode_batches(columns);
        }
        let plain = |column: OutputColumn| Ok(OutputColumn { values: column.values.plain()?, ..column });
        let columns = columns.into_iter().map(plain).collect::<Result<Vec<_>>>()?;
        match self {
            OutputFormat::Delimited => Ok(delimited(&columns, rows).into_bytes()),
            OutputFormat::Json if rows == 0 => Ok(b"[]\n".to_vec()),
            OutputFormat::Json => Ok(format!("[{}]\n", objects(&columns, rows, ",\n ")).into_bytes()),
            _ => Ok(objects(&columns, rows, "\n").into_bytes()),
        }
    }

    #[cfg(feature = "parquet")]
    fn encode_batches(self, columns: Vec<OutputColumn>) -> Result<Vec<u8>> {
        let refuse = |error: &dyn std::fmt::Display| Error::data(format!("the table cannot be written: {error}"), "");
        let (schema, batches) = batches(columns, self == OutputFormat::Arrow)?;
        let mut bytes = Vec::new();
        if self == OutputFormat::Parquet {
            use parquet::basic::Compression;
            use parquet::file::properties::WriterProperties;
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            parquet::arrow::ArrowWriter::try_new(&mut bytes, schema, Some(properties))
                .and_then(|mut writer| {
                    batches.iter().try_for_each(|batch| writer.write(batch)).and_then(|()| writer.close())
                })
                .map_err(|error| refuse(&error))?;
        } else {
            arrow_ipc::writer::FileWriter::try_new(&mut bytes, &schema)
                .and_then(|mut writer| {
                    batches.iter().try_for_each(|batch| writer.write(batch)).and_then(|()| writer.finish())
                })
                .map_err(|error| refuse(&error))?;
        }
        Ok(bytes)
    }

    #[cfg(not(feature = "parquet"))]
    fn encode_batches(self, _columns: Vec<OutputColumn>) -> Result<Vec<u8>> {
        let remedy = "Build quince with the feature `parquet`, or write another format.";
        Err(Error::setting("output", "needs the feature `parquet`", remedy))
    }
}

/// The columns in batches, cut where a column was read in parts. A file in Arrow's format has one dictionary for a column, so that
/// words whose parts have dictionaries of their own become texts there.
#[cfg(feature = "parquet")]
fn batches(
    columns: Vec<OutputColumn>,
    one_dictionary: bool,
) -> Result<(arrow_schema::SchemaRef, Vec<arrow_array::RecordBatch>)> {
    use arrow_array::{RecordBatch, RecordBatchOptions};
    use arrow_schema::{DataType, Schema};
    let rows = columns.first().map_or(0, |column| column.values.len());
    let arrow = |column: OutputColumn| {
        let values = match column.values {
            OutputValues::Arrow(ArrowColumn { field, parts })
                if one_dictionary && parts.len() > 1 && matches!(field.data_type(), DataType::Dictionary(..)) =>
            {
                OutputValues::Arrow(ArrowColumn { field, parts }).plain()?
            }
            values => values,
        };
        Ok(values.into_arrow(&column.name))
    };
    let columns = columns.into_iter().map(arrow).collect::<Result<Vec<ArrowColumn>>>()?;
    let mut cuts: Vec<usize> = columns.iter().flat_map(ArrowColumn::ends).chain([rows]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let schema =
        std::sync::Arc::new(Schema::new(columns.iter().map(|column| column.field.clone()).collect::<Vec<_>>()));
    let mut start = 0;
    let mut batches = Vec::new();
    for end in cuts {
        let arrays = columns.iter().map(|column| column.rows(start, end)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(end - start));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options);
        batches.push(batch.map_err(|error| Error::data(format!("the table cannot be written: {error}"), ""))?);
        start = end;
    }
    Ok((schema, batches))
}

#[cfg(feature = "parquet")]
impl OutputValues {
    fn into_arrow(self, name: &str) -> ArrowColumn {
        use arrow_array::{Float64Array, LargeStringArray};
        use std::sync::Arc;
        let array: ArrayRef = match self {
            OutputValues::Numbers(numbers) => {
                Arc::new(Float64Array::from_iter(numbers.into_iter().map(|x| (!x.is_nan()).then_some(x))))
            }
            OutputValues::Texts(texts) => Arc::new(LargeStringArray::from_iter(texts)),
            OutputValues::Arrow(ArrowColumn { field, parts }) => {
                return ArrowColumn { field: Arc::new(field.as_ref().clone().with_name(name)), parts };
            }
        };
        let field = Arc::new(arrow_schema::Field::new(name, array.data_type().clone(), true));
        ArrowColumn { field, parts: vec![array] }
    }
}

#[cfg(feature = "parquet")]
impl ArrowColumn {
    /// Where its parts end.
    fn ends(&self) -> Vec<usize> {
        let mut end = 0;
        let parts = self.parts.iter().filter(|part| !part.is_empty());
        parts.map(|part| (end += part.len(), end).1).collect()
    }

    /// Some rows, which lie in one of its parts.
    fn rows(&self, start: usize, end: usize) -> ArrayRef {
        let mut before = 0;
        for part in &self.parts {
            if start < before + part.len() {
                return part.slice(start - before, end - start);
            }
            before += part.len();
        }
        arrow_array::new_empty_array(self.field.data_type())
    }
}

/// One JSON object per row.
fn objects(columns: &[OutputColumn], rows: usize, between: &str) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let names: Vec<String> = columns.iter().map(|column| text(&column.name)).collect();
    let value = |values: &OutputValues, i: usize| match values {
        OutputValues::Numbers(numbers) if numbers[i].is_finite() => number_text(numbers[i]),
        OutputValues::Texts(texts) => texts[i].as_deref().map_or_else(|| "null".to_string(), text),
        OutputValues::Numbers(_) | OutputValues::Arrow(_) => "null".to_string(),
    };
    let object = |i: usize| {
        let pairs = names.iter().zip(columns).map(|(name, column)| format!("{name}:{}", value(&column.values, i)));
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
    };
    let lines = (0..rows).map(object).collect::<Vec<_>>().join(between);
    if between == "\n" && rows > 0 { lines + "\n" } else { lines }
}

/// CSV.
fn delimited(columns: &[OutputColumn], rows: usize) -> String {
    let quoted = |cell: &str| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_string(),
    };
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let cell = |values: &OutputValues, i: usize| match values {
        OutputValues::Numbers(numbers) if !numbers[i].is_nan() => number_text(numbers[i]),
        OutputValues::Texts(texts) => texts[i].as_deref().map_or_else(String::new, quoted),
        OutputValues::Numbers(_) | OutputValues::Arrow(_) => String::new(),
    };
    let mut text = line(columns.iter().map(|column| quoted(&column.name)).collect());
    for i in 0..rows {
        text += &line(columns.iter().map(|column| cell(&column.values, i)).collect());
    }
    text
}

/// The bytes, packed by gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("a vector takes all bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::table::{ReadOptions, Table};

    fn columns() -> Vec<OutputColumn> {
        let texts = ["plain", "with, comma", "with \"quotes\"", "two\nlines"].map(|text| Some(text.to_string()));
        vec![
            OutputColumn { name: "x".into(), values: OutputValues::Numbers(vec![0.1, f64::NAN, -3.0, 1e-300, 7.25]) },
            OutputColumn {
                name: "a \"name\"".into(),
                values: OutputValues::Texts(texts.into_iter().chain([None]).collect()),
            },
        ]
    }

    #[test]
    fn every_format_reads_back_as_it_was_written() {
        use OutputFormat::{Delimited, Json, JsonLines};
        let formats = [(Delimited, "t.csv"), (Json, "t.json"), (JsonLines, "t.jsonl")];
        #[cfg(feature = "parquet")]
        let formats =
            formats.into_iter().chain([(OutputFormat::Parquet, "t.parquet"), (OutputFormat::Arrow, "t.arrow")]);
        for (format, name) in formats {
            let bytes = format.encode(columns()).unwrap();
            let options = ReadOptions::default();
            let mut cells = crate::table::Cells::parse(bytes, name, &options, &Run::new()).unwrap();
            let table: Table = cells.table(&options, &Run::new()).unwrap();
            let (x, texts) = (table.column("x").unwrap(), table.column("a \"name\"").unwrap());
            let OutputValues::Texts(expected) = &columns()[1].values else { unreachable!("they are texts") };
            for (i, number) in [Some(0.1), None, Some(-3.0), Some(1e-300), Some(7.25)].into_iter().enumerate() {
                assert_eq!(x.number(i), number, "{name}, row {i}");
                assert_eq!(texts.text(i).as_deref(), expected[i].as_deref(), "{name}, row {i}");
            }
        }
    }

    #[test]
    fn the_name_of_a_file_says_its_format_and_what_is_not_written_is_refused() {
        let of = |name: &str| OutputFormat::of_file(Path::new(name));
        assert_eq!(of("a/b.Parquet"), Ok((OutputFormat::Parquet, false)));
        assert_eq!(of("b.csv.gz"), Ok((OutputFormat::Delimited, true)));
        assert_eq!(of("b.ndjson.gz"), Ok((OutputFormat::JsonLines, true)));
        assert_eq!(of("b"), Ok((OutputFormat::Delimited, false)));
        assert_eq!(of("b.feather"), Ok((OutputFormat::Arrow, false)));
        for name in ["b.arff", "b.xlsx", "b.csv.zip", "b.parquet.gz"] {
            let error = of(name).unwrap_err();
            assert!(!error.remedy().is_empty(), "{name}: {error}");
        }
    }
}
