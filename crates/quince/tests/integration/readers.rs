//! The readers: the same table through every format, folders of texts and pictures, and what is wrong with each.

use crate::{example, scratch};
use quince::learn::{LabelType, TargetView};
use quince::linear::Ridge;
use quince::table::{Cells, Format, Pictures, ReadOptions};
use quince::{Kind, Model, Run, Table};
use std::fs;

fn parse(bytes: &[u8], name: &str) -> quince::Result<Table> {
    let (options, run) = (ReadOptions::default(), Run::new());
    Cells::parse(bytes.to_vec(), name, &options, &run)?.table(&options, &run)
}

/// The cells of a table as text, by column.
fn texts(table: &Table) -> Vec<(String, Kind, Vec<Option<String>>)> {
    let cells =
        |column: &quince::table::Column| (0..table.rows()).map(|i| column.text(i).map(|t| t.into_owned())).collect();
    table.columns().iter().map(|column| (column.name().to_string(), column.kind(), cells(column))).collect()
}

/// A table as JSON lines and as ARFF.
fn written(table: &Table) -> (String, String) {
    let (mut json, mut arff) = (String::new(), String::from("@relation t\n"));
    for column in table.columns() {
        let numeric = matches!(column.kind(), Kind::Number | Kind::Count);
        arff += &format!("@attribute '{}' {}\n", column.name(), if numeric { "numeric" } else { "string" });
    }
    arff += "@data\n";
    for i in 0..table.rows() {
        let (mut object, mut row) = (Vec::new(), Vec::new());
        for column in table.columns() {
            let text = column.text(i);
            let numeric = matches!(column.kind(), Kind::Number | Kind::Count);
            match &text {
                None => row.push("?".to_string()),
                Some(text) if numeric => row.push(text.to_string()),
                Some(text) => row.push(format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))),
            }
            let value = match &text {
                None => continue,
                Some(text) if numeric => text.to_string(),
                Some(text) => serde_json::to_string(text).unwrap(),
            };
            object.push(format!("{}:{value}", serde_json::to_string(column.name()).unwrap()));
        }
        json += &format!("{{{}}}\n", object.join(","));
        arff += &format!("{}\n", row.join(","));
    }
    (json, arff)
}

#[test]
fn t1_the_same_table_through_every_door() {
    for name in ["iris.csv", "wine.csv", "weather.csv"] {
        let table = example(name);
        let (json, arff) = written(&table);
        let expected = texts(&table);
        assert_eq!(texts(&parse(json.as_bytes(), "t.jsonl").unwrap()), expected, "{name} as JSON lines");
        assert_eq!(
            texts(&parse(json.as_bytes(), "no ending").unwrap()),
            expected,
            "{name} as JSON lines, by its bytes"
        );
        assert_eq!(texts(&parse(arff.as_bytes(), "t.arff").unwrap()), expected, "{name} as ARFF");
        assert_eq!(texts(&parse(arff.as_bytes(), "no ending").unwrap()), expected, "{name} as ARFF, by its bytes");
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use super::*;
    use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int32Type};
    use arrow_array::{
        ArrayRef, Date32Array, Decimal128Array, DictionaryArray, Float16Array, Float32Array, Float64Array, Int32Array,
        Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray, TimestampMillisecondArray, UInt64Array,
    };
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, GzipLevel, ZstdLevel};
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    fn file(compression: Compression) -> Vec<u8> {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("x", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(-2.0), Some(0.25)]))),
            ("n", Arc::new(Int32Array::from(vec![3, 1, 4, 1]))),
            ("city", Arc::new(StringArray::from(vec![Some("Oslo"), Some("Rome"), None, Some("Oslo")]))),
            ("say", Arc::new(LargeStringArray::from(vec!["yes", "no", "no", "yes"]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let settings = WriterProperties::builder().set_compression(compression).build();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(settings)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    #[test]
    fn t1_parquet_is_read_whatever_its_compression() {
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let gzip = Compression::GZIP(GzipLevel::default());
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW, zstd, gzip] {
            let table = parse(&file(compression), "t.parquet").unwrap();
            let kinds: Vec<Kind> = table.columns().iter().map(|column| column.kind()).collect();
            assert_eq!(kinds, [Kind::Number, Kind::Count, Kind::Category, Kind::Category], "{compression}");
            assert_eq!((table.columns()[0].number(2), table.columns()[0].missing_count()), (Some(-2.0), 1));
            assert_eq!(table.columns()[2].text(3).unwrap(), "Oslo");
        }
    }

    #[test]
    fn whole_numbers_of_more_digits_than_a_float_keeps_are_words_in_columns_of_arrow() {
        // 2^53 + 1 is the first that a float does not keep, 2^53 + 2 is kept.
        const LONG: i64 = (1 << 53) + 1;
        let whole: Vec<i64> = (0..12).map(|i| [LONG, LONG - 1, 7][i % 3]).collect();
        let decimals = whole.iter().map(|&x| i128::from(x)).collect::<Decimal128Array>();
        let dictionary = DictionaryArray::<Int32Type>::new(
            (0..12).map(|i| i % 3).collect(),
            Arc::new(Int64Array::from(whole[..3].to_vec())),
        );
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("signed", Arc::new(Int64Array::from(whole.clone()))),
            ("unsigned", Arc::new(whole.iter().map(|&x| Some(x as u64)).collect::<UInt64Array>())),
            ("wide", Arc::new(decimals.with_precision_and_scale(38, 0).unwrap())),
            ("named", Arc::new(dictionary)),
            ("kept", Arc::new((0..12).map(|i| Some(i % 2 * (LONG + 1))).collect::<Int64Array>())),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        for table in [Table::try_from(&batch).unwrap(), parse(&bytes, "t.parquet").unwrap()] {
            for name in ["signed", "unsigned", "wide", "named"] {
                let column = table.column(name).unwrap();
                assert_eq!(column.kind(), Kind::Category, "{name}");
                let texts = [0, 1, 2].map(|i| column.text(i).unwrap().into_owned());
                assert_eq!(texts, ["9007199254740993", "9007199254740992", "7"], "{name}");
                let target = table.labelled(name, None).unwrap().target;
                let TargetView::Classes { classes, .. } = target.view() else { panic!("{name}") };
                assert_eq!((classes.count(), classes.label_type()), (3, LabelType::Integers), "{name}");
            }
            assert_eq!(table.column("kept").unwrap().kind(), Kind::Count);
        }
    }

    #[test]
    fn a_parquet_file_that_lies_is_refused_with_a_sentence() {
        let whole = file(Compression::SNAPPY);
        for length in 0..whole.len() {
            let error = parse(&whole[..length], "t.parquet").err().unwrap_or_else(|| panic!("cut at {length}"));
            assert!(error.to_string().starts_with("t.parquet: the Parquet file cannot be read"), "{error}");
        }
        let mut stream = quince::run::Stream::new(6, 0);
        for _ in 0..3000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + stream.below(6) {
                let at = stream.below(bytes.len());
                bytes[at] = stream.bits() as u8;
            }
            let (_, largest) =
                crate::allocations::largest_during(|| parse(&bytes, "t.parquet").map(|table| table.rows()));
            assert!(largest < 64 << 20, "an allocation of {largest} bytes");
        }
        // A header that claims two thousand million answers, each of no byte.
        let mut endless = b"PAR1".to_vec();
        endless.extend([0x09, 80, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0, 9, 0, 0, 0]);
        endless.extend(b"PAR1");
        let error = parse(&endless, "t.parquet").unwrap_err().to_string();
        assert_eq!(error, "t.parquet: the Parquet file cannot be read: it contradicts itself");
    }

    /// The same rows, repeated.
    fn repeated(columns: Vec<(&str, ArrayRef)>, times: usize) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        (0..times).for_each(|_| writer.write(&batch).unwrap());
        writer.close().unwrap();
        bytes
    }

    #[test]
    fn rows_that_repeat_are_read_unless_they_are_far_more_than_the_file() {
        let zeros = || vec![("x", Arc::new(Float64Array::from(vec![0.0; 1 << 20])) as ArrayRef)];
        assert_eq!(parse(&repeated(zeros(), 2), "t.parquet").unwrap().rows(), 2 << 20);
        let far = "bytes claim to be a table far larger than that";
        let (refused, largest) = crate::allocations::largest_during(|| parse(&repeated(zeros(), 16), "t.parquet"));
        let error = refused.unwrap_err().to_string();
        assert!(error.ends_with(far) && largest < 64 << 20, "{largest} {error}");
        // A long word is written once.
        let word = "x".repeat(100_000);
        let words = vec![("w", Arc::new(StringArray::from(vec![word.as_str(); 100])) as ArrayRef)];
        let bytes = repeated(words, 60);
        assert!(bytes.len() < 1 << 20);
        let (refused, largest) = crate::allocations::largest_during(|| parse(&bytes, "t.parquet"));
        let error = refused.unwrap_err().to_string();
        assert!(error.ends_with(far) && largest < 512 << 20, "{largest} {error}");
    }

    #[test]
    fn columns_of_lists_and_dates_are_ignored_and_say_so() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None, Some(vec![])]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("l", Arc::new(lists)),
            ("x", Arc::new(Float64Array::from(vec![1.5, 2.5, 4.0]))),
            ("d", Arc::new(Date32Array::from(vec![1, 2, 3]))),
            ("c", Arc::new(DictionaryArray::<Int32Type>::from_iter(["u", "v", "u"]))),
            ("none", Arc::new(DictionaryArray::<Int32Type>::from_iter([None::<&str>; 3]))),
        ];
        let table = parse(&repeated(columns, 2), "t.parquet").unwrap();
        let kinds: Vec<(&str, Kind)> = table.columns().iter().map(|column| (column.name(), column.kind())).collect();
        let ignored = Kind::Ignored;
        assert_eq!(kinds[..3], [("l", ignored), ("x", Kind::Number), ("d", ignored)]);
        assert_eq!((kinds[3], table.rows()), (("c", Kind::Category), 6));
        assert_eq!(table.columns()[4].missing_count(), 6);
        assert_eq!(table.columns()[2].why_ignored(), "Date32 is neither numbers nor words");
        // What is not learnt from is there all the same, for the table that is written with predictions.
        assert_eq!(table.columns()[2].text(4).unwrap(), "1970-01-03");
    }

    #[test]
    fn decimals_and_half_floats_are_numbers_and_times_are_written_out() {
        let prices = Decimal128Array::from(vec![Some(1250), None, Some(-5)]).with_precision_and_scale(9, 2).unwrap();
        let times = TimestampMillisecondArray::from(vec![Some(0), None, Some(86_400_500)]);
        let halves: Float16Array = Float32Array::from(vec![0.5, 1.5, -2.0])
            .iter()
            .map(|value| value.map(<Float16Type as ArrowPrimitiveType>::Native::from_f32))
            .collect();
        let columns: Vec<(&str, ArrayRef)> =
            vec![("price", Arc::new(prices)), ("time", Arc::new(times)), ("half", Arc::new(halves))];
        let table = parse(&repeated(columns, 1), "t.parquet").unwrap();
        let [price, time, half] = table.columns() else { panic!() };
        assert_eq!((price.kind(), price.number(0), price.number(2)), (Kind::Number, Some(12.5), Some(-0.05)));
        assert_eq!((half.kind(), half.number(2), price.missing_count()), (Kind::Number, Some(-2.0), 1));
        assert_eq!((time.kind(), time.text(1)), (Kind::Ignored, None));
        assert_eq!(time.text(2).unwrap(), "1970-01-02 00:00:00.500");
    }
}

#[test]
fn libsvm_files_stay_sparse_from_the_file_to_the_model() {
    // 200 rows over a million places: as numbers in memory this would be 1.6 GB.
    let mut stream = quince::run::Stream::new(9, 0);
    let mut text = String::new();
    for _ in 0..200 {
        let sign = stream.below(2);
        let mut places: Vec<usize> = (0..5).map(|_| 3 + stream.below(999_990)).collect();
        places.push(1 + sign);
        places.sort_unstable();
        places.dedup();
        let pairs: Vec<String> = places.iter().map(|place| format!("{place}:1")).collect();
        text += &format!("{} {}\n", ["-1", "+1"][sign], pairs.join(" "));
    }
    let table = parse(text.as_bytes(), "no ending").unwrap();
    let model = Model::train(&table, "label", &Ridge::default()).unwrap();
    let prediction = model.predict(&table).unwrap();
    let labels = model.label_names(&prediction).unwrap();
    let truth: Vec<String> = (0..200).map(|i| table.column("label").unwrap().text(i).unwrap().into_owned()).collect();
    assert_eq!(labels, truth, "places 1 and 2 tell");
    // A place beyond those of training is left out; saved and opened the model is the same.
    let new = parse(b"+1 1:1 4000000:9\n-1 2:1\n", "new.libsvm").unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.predict(&new).unwrap(), model.predict(&new).unwrap());
    assert_eq!(again.label_names(&again.predict(&new).unwrap()).unwrap(), ["-1", "+1"]);
}

#[test]
fn t1_a_folder_of_texts_has_a_sub_folder_a_class() {
    let folder = scratch("texts");
    for (class, file, text) in [
        ("spam", "1.txt", "buy now"),
        ("spam", "2", "cheap caf\u{e9}"),
        ("ham", "1.txt", "see you"),
        ("ham", ".hidden", "x"),
    ] {
        fs::create_dir_all(folder.join(class)).unwrap();
        fs::write(folder.join(class).join(file), text).unwrap();
    }
    fs::write(folder.join("ham").join("old"), b"caf\xe9").unwrap();
    fs::write(folder.join("ham").join("void"), "\n").unwrap();
    let table = Table::read(&folder).unwrap();
    let names: Vec<&str> = table.columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, ["text", "label", "file"]);
    let files: Vec<String> = (0..table.rows()).map(|i| table.columns()[2].text(i).unwrap().into_owned()).collect();
    assert_eq!(files, ["ham/1.txt", "ham/old", "ham/void", "spam/1.txt", "spam/2"]);
    assert_eq!(table.columns()[0].text(1).unwrap(), "caf\u{e9}");
    assert_eq!(table.columns()[0].text(2).unwrap().trim(), "", "an empty text is a document");
    assert_eq!((table.columns()[0].kind(), table.columns()[1].kind()), (Kind::Text, Kind::Category));
    // Without sub-folders there are no labels: that is what one predicts for.
    let flat = Table::read(folder.join("spam")).unwrap();
    assert_eq!(flat.columns().len(), 2);
    assert_eq!(flat.rows(), 2);
}

#[test]
fn folders_that_are_no_tables_are_refused_with_a_sentence() {
    let problem = |path: &std::path::Path| {
        let text = Table::read(path).unwrap_err().to_string();
        text.split_once(": ").map_or(text.clone(), |(_, problem)| problem.to_string())
    };
    let folder = scratch("no_tables");
    assert_eq!(problem(&folder), "the folder holds no files");
    fs::create_dir_all(folder.join("a")).unwrap();
    fs::write(folder.join("a/1.txt"), "x").unwrap();
    fs::write(folder.join("b.txt"), "x").unwrap();
    assert_eq!(problem(&folder), "'a/1.txt' lies in a sub-folder and 'b.txt' does not");
    fs::remove_file(folder.join("b.txt")).unwrap();
    fs::write(folder.join("a/2.png"), "x").unwrap();
    assert_eq!(problem(&folder), "'a/2.png' is a picture and 'a/1.txt' is a text");
    fs::remove_file(folder.join("a/2.png")).unwrap();
    fs::write(folder.join("a/3"), b"\0\x01").unwrap();
    assert_eq!(problem(&folder), "this is a binary file, not a text");
}

#[cfg(feature = "images")]
#[test]
fn t2_a_folder_of_pictures_is_a_row_of_pixels_a_picture() {
    let folder = scratch("pictures");
    for (class, value) in [("dark", 0u8), ("light", 255)] {
        fs::create_dir_all(folder.join(class)).unwrap();
        let picture = image::GrayImage::from_fn(8, 8, |x, _| image::Luma([if x < 4 { value } else { 51 }]));
        picture.save(folder.join(class).join("a.png")).unwrap();
        picture.save(folder.join(class).join("b.pgm")).unwrap();
        image::DynamicImage::from(picture).to_rgb8().save(folder.join(class).join("c.jpg")).unwrap();
    }
    let as_options = |pictures| ReadOptions { pictures: Some(pictures), ..ReadOptions::default() };
    let read = |pictures| Table::read_with(&folder, &as_options(pictures)).unwrap();
    let eight = read(Pictures { pixels: (8, 8), ..Pictures::default() });
    assert_eq!((eight.rows(), eight.columns().len()), (6, 64 + 2));
    let two = read(Pictures { pixels: (2, 2), ..Pictures::default() });
    let pixel = |i: usize, name: &str| {
        two.column(name).unwrap().number(i).or(two.column(name).unwrap().text(i).and_then(|t| t.parse().ok()))
    };
    assert_eq!((pixel(0, "pixel_1_1"), pixel(3, "pixel_1_1")), (Some(0.0), Some(1.0)));
    assert!((pixel(0, "pixel_2_2").unwrap() - 0.2).abs() < 1e-6);
    let sharp = read(Pictures { pixels: (2, 2), binarise: Some(0.5), patches: None });
    assert_eq!(sharp.column("pixel_1_1").unwrap().kind(), Kind::YesNo);
    // Grey pictures have one band and coloured ones three: their patches are no rows of one table.
    let patches = as_options(Pictures { patches: Some((3, 3)), ..Pictures::default() });
    assert!(Table::read_with(&folder, &patches).unwrap_err().to_string().contains("bands"));
    ["dark", "light"].iter().for_each(|class| fs::remove_file(folder.join(class).join("c.jpg")).unwrap());
    let patches = Table::read_with(&folder, &patches).unwrap();
    assert_eq!((patches.rows(), patches.columns().len()), (4 * 36, 9 + 2));
}

#[cfg(feature = "images")]
#[test]
fn pictures_that_are_none_or_claim_to_be_huge_are_refused() {
    let folder = scratch("bombs");
    fs::create_dir_all(folder.join("a")).unwrap();
    let problem = |bytes: &[u8]| {
        fs::write(folder.join("a/1.png"), bytes).unwrap();
        let (result, largest) = crate::allocations::largest_during(|| Table::read(&folder));
        assert!(largest < 64 << 20, "an allocation of {largest} bytes");
        result.unwrap_err().to_string()
    };
    assert!(problem(b"").contains("the picture cannot be read"));
    assert!(problem(b"hello").contains("the picture cannot be read"));
    // A header that claims 60,000 x 60,000 pixels of 8 bytes.
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    png.extend(60_000u32.to_be_bytes());
    png.extend(60_000u32.to_be_bytes());
    png.extend([16, 6, 0, 0, 0]);
    let crc = {
        let mut crc = !0u32;
        for &byte in &png[12..] {
            crc ^= u32::from(byte);
            (0..8).for_each(|_| crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 });
        }
        !crc
    };
    png.extend(crc.to_be_bytes());
    assert!(problem(&png).contains("the picture cannot be read"));
    // A JPEG on which the decoder panics (found by fuzzing).
    assert!(problem(include_bytes!("decoder_panics.jpg")).ends_with("cannot be read: it contradicts itself"));
    // 400 megabytes, within the limit, out of a file of twenty bytes.
    assert!(problem(b"P5\n20000 20000\n255\n\0").contains("the picture cannot be read"));
}

#[test]
fn a_format_may_be_given_and_a_wrong_one_is_named() {
    let options = ReadOptions { format: Some(Format::LibSvm), ..ReadOptions::default() };
    let cells = Cells::parse(b"a, b\n1, 2\n".to_vec(), "t.csv", &options, &Run::new());
    assert!(cells.unwrap_err().to_string().starts_with("t.csv, line 1"));
    assert!(Format::from_name("excel").unwrap_err().to_string().contains("excel"));
}
