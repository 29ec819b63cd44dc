//! Arrow's file and stream formats, and columns that keep their types from one file to the next.

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int32Array,
    Int64Array, ListArray, RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use quince::run::Stream;
use quince::table::{Cells, OutputColumn, OutputFormat, OutputValues, ReadOptions};
use quince::{Kind, Result, Run, Table};
use std::sync::Arc;

fn cells(bytes: &[u8], name: &str) -> Result<Cells> {
    Cells::parse(bytes.to_vec(), name, &ReadOptions::default(), &Run::new())
}

fn parse(bytes: &[u8], name: &str) -> Result<Table> {
    cells(bytes, name)?.table(&ReadOptions::default(), &Run::new())
}

fn packed_by(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(compression).unwrap()
}

fn file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = packed_by(compression);
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn stream(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = packed_by(compression);
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Two batches of 1000 rows in all; the places of `city` repeat, those of `view` are views.
fn two_batches() -> [RecordBatch; 2] {
    [0..600, 600..1000].map(|rows: std::ops::Range<i32>| {
        let cities =
            || rows.clone().map(|i| (i % 5 > 0).then_some(["Oslo", "Rome", "a far longer name"][i as usize % 3]));
        batch(vec![
            ("x", Arc::new(rows.clone().map(|i| (i % 7 > 0).then_some(f64::from(i) + 0.5)).collect::<Float64Array>())),
            ("n", Arc::new(rows.clone().map(|i| Some((i * i) % 101)).collect::<Int32Array>())),
            ("city", Arc::new(cities().collect::<StringArray>())),
            ("view", Arc::new(cities().collect::<StringViewArray>())),
            ("same", Arc::new(rows.clone().map(|_| Some(2.5)).collect::<Float64Array>())),
        ])
    })
}

#[test]
fn arrow_files_and_streams_are_read_whatever_their_compression() {
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let batches = two_batches();
        // A file tells what it is; of a stream the name does.
        let (file, stream) = (file(&batches, compression), stream(&batches, compression));
        for (bytes, name) in [(&file, "t"), (&file, "t.feather"), (&stream, "t.arrow"), (&stream, "t.IPC")] {
            let table = parse(bytes, name).unwrap();
            let kinds: Vec<Kind> = table.columns().iter().map(|column| column.kind()).collect();
            assert_eq!(kinds, [Kind::Number, Kind::Count, Kind::Category, Kind::Category, Kind::Ignored], "{name}");
            assert_eq!((table.rows(), table.columns()[0].missing_count()), (1000, 143));
            assert_eq!((table.columns()[0].number(999), table.columns()[1].number(999)), (Some(999.5), Some(20.0)));
            for column in &table.columns()[2..4] {
                assert_eq!((column.text(998).as_deref(), column.text(995)), (Some("a far longer name"), None));
            }
        }
    }
}

#[test]
fn an_arrow_file_that_lies_is_refused_with_a_sentence() {
    let packed = file(&two_batches(), Some(CompressionType::ZSTD));
    // Every column of 8000 bytes says that it is a tebibyte once it is unpacked.
    let numbers = batch(vec![("x", Arc::new((0..1000).map(|i| Some(f64::from(i % 9))).collect::<Float64Array>()))]);
    let lying = file(&[numbers], Some(CompressionType::LZ4_FRAME));
    let size = 8000i64.to_le_bytes();
    let at = lying.windows(8).position(|window| window == size).unwrap();
    let mut lying = lying;
    lying[at..at + 8].copy_from_slice(&(1i64 << 40).to_le_bytes());
    // One long word a million times.
    let words = StringArray::from(vec!["w".repeat(1 << 20)]);
    let keys = Int32Array::from(vec![0; 1 << 20]);
    let words = DictionaryArray::<Int32Type>::new(keys, Arc::new(words));
    let repeated = file(&[batch(vec![("w", Arc::new(words))])], Some(CompressionType::ZSTD));
    for bytes in [&lying, &repeated] {
        let (refused, largest) = crate::allocations::largest_during(|| parse(bytes, "t.arrow"));
        let error = refused.unwrap_err().to_string();
        assert!(error.starts_with("t.arrow: the Arrow file cannot be read: its "), "{error}");
        assert!(error.ends_with("bytes claim to be a table far larger than that") && largest < 64 << 20, "{largest}");
    }
    for text in ["FEA1 and so on", "x,y\n1,2\n", "", "ARROW1\0\0"] {
        let error = parse(text.as_bytes(), "t.arrow").unwrap_err().to_string();
        assert!(error.starts_with("t.arrow: the Arrow file cannot be read: "), "{error}");
    }
    // Wherever it is cut, and whatever is changed: refused, or read.
    let mut random = Stream::new(2026, 3);
    for k in 0..1500 {
        let mut bytes = packed.clone();
        match k % 3 {
            0 => bytes.truncate(random.below(bytes.len())),
            _ => (0..1 + random.below(4)).for_each(|_| {
                let at = random.below(bytes.len());
                bytes[at] = random.bits() as u8;
            }),
        }
        let (read, largest) = crate::allocations::largest_during(|| parse(&bytes, "t.arrow").map(|table| table.rows()));
        assert!(largest < 512 << 20, "{largest} bytes, {read:?}");
    }
}

#[test]
fn columns_keep_their_own_types_in_what_is_written() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None, Some(vec![])]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("key", Arc::new(Int64Array::from(vec![Some(1 << 60), None, Some(-7)]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("same", Arc::new(Float64Array::from(vec![2.5; 3]))),
        ("half", Arc::new(Float32Array::from(vec![0.5, 0.25, f32::NAN]))),
        ("when", Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3]).with_timezone("Europe/Oslo"))),
        ("day", Arc::new(Date32Array::from(vec![1, 2, 3]))),
        ("price", Arc::new(Decimal128Array::from(vec![1250, 1, 2]).with_precision_and_scale(9, 2).unwrap())),
        ("word", Arc::new(StringArray::from(vec![Some(" b "), None, Some("NA")]))),
        ("code", Arc::new(DictionaryArray::<Int32Type>::from_iter(["u", "v", "u"]))),
        ("list", Arc::new(lists)),
    ];
    let own = batch(columns);
    for format in [OutputFormat::Parquet, OutputFormat::Arrow] {
        let read = cells(&file(std::slice::from_ref(&own), None), "t.arrow").unwrap();
        assert_eq!(read.why_not_read(9).as_deref(), Some("List(Int32) is neither numbers nor words"));
        assert!((0..9).all(|j| read.why_not_read(j).is_none()) && read.as_written(9).is_none());
        let mut columns: Vec<OutputColumn> = (0..9)
            .map(|j| OutputColumn { name: read.names()[j].clone(), values: read.as_written(j).unwrap() })
            .collect();
        columns.push(OutputColumn { name: "answer".into(), values: OutputValues::Numbers(vec![1.0, 2.0, f64::NAN]) });
        let again = cells(&format.encode(columns.clone()).unwrap(), "again").unwrap();
        assert_eq!((again.names().len(), again.rows()), (10, 3));
        for j in (0..9).filter(|j| *j != 3) {
            assert_eq!(again.as_written(j), read.as_written(j), "{format:?}: {}", read.names()[j]);
        }
        // Formats without types have the same cells.
        let text = String::from_utf8(OutputFormat::Delimited.encode(columns[..3].to_vec()).unwrap()).unwrap();
        assert!(text.starts_with("key,flag,same\n") && text.contains("\n-7,,2.5\n"), "{text}");
    }
}

#[test]
fn columns_in_parts_are_written_beside_new_ones() {
    let letters = |offset: i32| {
        let words: Vec<String> = (0..500).map(|i| format!("{}", offset + i % 3)).collect();
        let codes = words.iter().map(String::as_str).collect::<DictionaryArray<Int32Type>>();
        batch(vec![
            ("x", Arc::new((0..500).map(|i| Some(i64::from(offset + i))).collect::<Int64Array>())),
            ("code", Arc::new(codes)),
        ])
    };
    // Parts of a stream may have dictionaries of their own.
    let read = cells(&stream(&[letters(0), letters(500)], None), "t.arrow").unwrap();
    for format in [OutputFormat::Parquet, OutputFormat::Arrow] {
        let mut columns: Vec<OutputColumn> = (0..2)
            .map(|j| OutputColumn { name: read.names()[j].clone(), values: read.as_written(j).unwrap() })
            .collect();
        let answers = OutputValues::Texts((0..1000).map(|i| Some(format!("a{i}"))).collect());
        columns.push(OutputColumn { name: "answer".into(), values: answers });
        let table = parse(&format.encode(columns).unwrap(), "again").unwrap();
        for i in [0, 499, 500, 999] {
            assert_eq!(table.columns()[2].text(i).unwrap(), format!("a{i}"));
            assert_eq!(table.columns()[1].text(i).unwrap(), (i / 500 * 500 + i % 500 % 3).to_string());
        }
        assert_eq!(table.rows(), 1000);
    }
}
