//! The first inputs of every target, made here so that no binary files are kept.

use image::{ExtendedColorType, ImageFormat};
use quince::cluster::{Algorithm, KMeans};
use quince::learn::{Capability, Count, DynLearner};
use quince::linear::Ridge;
use quince::neighbours::Knn;
use quince::registry::METHODS;
use quince::{Model, Table};
use std::path::Path;

/// Writes these inputs into the corpus, which is the first folder on the command line.
pub fn plant(seeds: impl IntoIterator<Item = Vec<u8>>) {
    let arguments = std::env::args().skip(1);
    let Some(folder) = arguments.into_iter().find(|argument| Path::new(argument).is_dir()) else { return };
    for (number, seed) in seeds.into_iter().enumerate() {
        std::fs::write(Path::new(&folder).join(format!("seed-{number}")), seed).expect("the corpus can be written to");
    }
}

/// Texts, each behind the same first bytes.
pub fn texts(head: &[u8], texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| [head, text.as_bytes()].concat()).collect()
}

/// Small Parquet files, one for each compression.
#[cfg(feature = "parquet")]
pub fn parquet() -> Vec<Vec<u8>> {
    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;
    let columns: [(&str, ArrayRef); 4] = [
        ("x", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(-2.0), Some(4.0)]))),
        ("n", Arc::new(Int32Array::from(vec![1, 2, 3, 5]))),
        ("ok", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]))),
        ("c", Arc::new(StringArray::from(vec![Some("u"), Some("v"), Some("u"), None]))),
    ];
    let compressions =
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW, Compression::ZSTD(ZstdLevel::default())];
    let file = |(compression, columns): (Compression, Vec<(&str, ArrayRef)>)| {
        let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a plain schema");
        writer.write(&batch).expect("memory takes any bytes");
        writer.close().expect("memory takes any bytes");
        bytes
    };
    let whole = compressions.map(|compression| (compression, columns.to_vec()));
    let single = columns.iter().map(|column| (Compression::UNCOMPRESSED, vec![column.clone()]));
    whole.into_iter().chain(single).map(file).collect()
}

/// Small pictures in every format and number of bands.
pub fn pictures() -> Vec<Vec<u8>> {
    let pixels: Vec<u8> = (0..5 * 4 * 4).map(|k| (k * 37) as u8).collect();
    let colours = [ExtendedColorType::L8, ExtendedColorType::La8, ExtendedColorType::Rgb8, ExtendedColorType::Rgba8];
    let mut found: Vec<Vec<u8>> =
        [&b"P1\n3 2\n1 0 1\n0 1 0\n"[..], b"P2\n# grey\n3 2\n255\n0 9 255\n7 8 9\n", b"P3\n1 1\n7\n1 2 3\n"]
            .map(<[u8]>::to_vec)
            .to_vec();
    found.push(b"P4\n9 2\n\xa5\x80\x5a\x00".to_vec());
    found.push(b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n01234567".to_vec());
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Pnm] {
        for (bands, colour) in (1..).zip(colours) {
            let mut bytes = std::io::Cursor::new(Vec::new());
            let pixels = &pixels[..5 * 4 * bands];
            // Not every format has every number of bands.
            if image::write_buffer_with_format(&mut bytes, pixels, 5, 4, colour, format).is_ok() {
                found.push(bytes.into_inner());
            }
        }
    }
    // Once as a grid of pixels, once as patches.
    [0, 1].into_iter().flat_map(|head| found.iter().map(move |bytes| [&[head], &bytes[..]].concat())).collect()
}

/// Saved models of every method.
pub fn models() -> Vec<Vec<u8>> {
    let read = |text: &str| Table::from_csv(text).expect("a sound table");
    let numbers = read("x,c,y\n1,u,2.5\n2,v,3.5\n4,u,1.5\n3,v,0.5\n");
    let words = read("t,k,y\na good film,1,yes\na bad film,?,no\nwhat a film,3,yes\nno good,4,no\n");
    let learn = |table: &Table, target: &str, learner: &dyn DynLearner| Model::train_with(table, target, learner, &crate::run());
    let groups = |table: &Table, algorithm| {
        let labelled = table.unsupervised(None, &["y"])?.labelled;
        let settings = KMeans { algorithm, k: Count::Fixed(2), ..KMeans::default() };
        Model::fit(&labelled, None, &settings, &crate::run())
    };
    let with_missing = read("x,z,y\n1,5,2.5\n?,4,3.5\n4,?,1.5\n3,2,0.5\n");
    let filled = with_missing.encoded_as("x", "fill=neighbours").expect("a setting of numbers");
    let mut models = vec![
        learn(&numbers, "y", &Ridge::default()),
        learn(&words, "y", &Ridge::default()),
        learn(&numbers, "y", &Knn::default()),
        learn(&words, "y", &Knn::default()),
        learn(&filled, "y", &Ridge::default()),
        groups(&numbers, Algorithm::Lloyd),
        groups(&numbers, Algorithm::Bisecting),
    ];
    for method in METHODS.iter().filter(|method| !method.info.can(Capability::Cluster)) {
        if let Ok(learner) = method.configure(&serde_json::json!({})) {
            models.extend([learn(&numbers, "y", learner.as_ref()), learn(&words, "y", learner.as_ref())]);
        }
    }
    models.into_iter().flatten().map(|model| model.to_bytes()).collect()
}
