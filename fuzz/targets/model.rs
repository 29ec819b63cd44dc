//! Saved models, with a checksum that is always right. An even first byte is followed by a whole file; an odd one by its
//! parts, so that the fuzzer need not count bytes:
//!
//! ```text
//! {"format":1, ...}            the header
//! coefficients F64 4 3         arrays, a line each
//!                              a blank line
//! ........                     their bytes, zeros where they end early
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Column, Field, Kind};
use quince::{Model, Table};
use quince_fuzz::{check_error, run, seeds, take};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const HEAD: &str = r#"{"__metadata__":{"checksum":""#;

/// The most bytes that arrays may have.
const MAX_ARRAY_BYTES: usize = 1 << 16;

/// The most columns and features that are looked at.
const MAX_COLUMNS: usize = 1 << 16;

/// The file with a checksum that is right.
fn sign(mut file: Vec<u8>) -> Vec<u8> {
    let checksum = 8 + HEAD.len()..8 + HEAD.len() + 64;
    if let Some(place) = file.get_mut(checksum.clone()) {
        place.fill(b'0');
        let digest: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
        file[checksum].copy_from_slice(digest.as_bytes());
    }
    file
}

/// A file of its parts; what is no part is left out.
fn join(parts: &[u8]) -> Vec<u8> {
    let (text, data) = match parts.windows(2).position(|pair| pair == b"\n\n") {
        Some(at) => (&parts[..at], &parts[at + 2..]),
        None => (parts, &[][..]),
    };
    let text = String::from_utf8_lossy(text);
    let (header, arrays) = text.split_once('\n').unwrap_or((&text, ""));
    let mut json = format!("{HEAD}{}\",\"quince\":{}}}", "0".repeat(64), Value::from(header));
    let mut end = 0;
    for line in arrays.lines() {
        let mut words = line.split(' ');
        let (name, dtype) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let shape: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
        let size = match dtype {
            "F64" | "U64" => 8,
            "U32" => 4,
            _ => 1,
        };
        let bytes = shape.iter().fold(size, |size: usize, side| size.saturating_mul(*side));
        if end + bytes.min(MAX_ARRAY_BYTES + 1) <= MAX_ARRAY_BYTES {
            let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": [end, end + bytes]});
            json.push_str(&format!(",{}:{entry}", Value::from(name)));
            end += bytes;
        }
    }
    json.push('}');
    let mut file = (json.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(json.as_bytes());
    file.extend_from_slice(&data[..data.len().min(end)]);
    file.resize(8 + json.len() + end, 0);
    file
}

/// The parts of a file, as [`join`] takes them.
fn part(file: &[u8]) -> Option<Vec<u8>> {
    let length = u64::from_le_bytes(file.get(..8)?.try_into().ok()?) as usize;
    let json: Value = serde_json::from_slice(file.get(8..8 + length)?).ok()?;
    let mut arrays: Vec<(u64, String)> = Vec::new();
    for (name, entry) in json.as_object()?.iter().filter(|(name, _)| *name != "__metadata__") {
        let shape: Vec<String> = entry["shape"].as_array()?.iter().map(Value::to_string).collect();
        let line = format!("\n{name} {} {}", entry["dtype"].as_str()?, shape.join(" "));
        arrays.push((entry["data_offsets"][0].as_u64()?, line));
    }
    arrays.sort();
    let lines: String = arrays.into_iter().map(|(_, line)| line).collect();
    let text = format!("{}{lines}\n\n", json["__metadata__"]["quince"].as_str()?);
    Some([text.as_bytes(), &file[8 + length..]].concat())
}

fn with(first: u8, bytes: &[u8]) -> Vec<u8> {
    [&[first], bytes].concat()
}

/// A table with the columns that a model wants.
fn rows_for(model: &Model) -> Option<Table> {
    let column = |name: String, kind: Kind| match kind {
        Kind::Number => Column::numbers(name, &[1.5, -2.0, f64::NAN, 1e300]),
        Kind::Count => Column::numbers(name, &[1.0, 2.0, f64::NAN, 4.0]),
        Kind::YesNo => Column::words(name, [Some("yes"), Some("no"), None, Some("yes")]),
        Kind::Vector => Column::words(name, [Some("0:1 3:0.5"), Some("1:2"), Some(""), Some("9:1")]),
        _ => Column::words(name, [Some("u"), Some("a good film"), None, Some("v")]),
    };
    let fields: Vec<Field> = model.fields().collect();
    let table = Table::new(fields.iter().map(|field| column(field.name.clone(), field.kind)).collect()).ok()?;
    let kinds = table.columns().iter().zip(&fields);
    Table::new(kinds.map(|(column, field)| column.as_kind(field.kind, &table)).collect::<Result<_, _>>().ok()?).ok()
}

fn check(file: &[u8]) {
    let model = match Model::from_bytes(file) {
        Ok(model) => model,
        Err(error) => return check_error(&error),
    };
    let names = model.encoder().feature_names().take(MAX_COLUMNS).count();
    assert_eq!(names, model.encoder().width().min(MAX_COLUMNS));
    // What was loaded can be saved and loaded again.
    let saved = model.to_bytes();
    let again = Model::from_bytes(&saved).expect("what was saved can be loaded");
    assert!(again.to_bytes() == saved, "saving changes a model");
    // A baseline never looks at the features, so that its file may claim any number of them.
    if let Some(table) = (model.encoder().columns() <= MAX_COLUMNS).then(|| rows_for(&model)).flatten() {
        match model.predict_with(&table, &run()) {
            Ok(prediction) => drop(model.label_names(&prediction)),
            Err(error) => check_error(&error),
        }
    }
}

fuzz_target!(
    init: {
        let models = seeds::models();
        models.iter().for_each(|file| check(file));
        let parts: Vec<Vec<u8>> = models.iter().filter_map(|file| part(file)).collect();
        parts.iter().for_each(|parts| drop(Model::from_bytes(&sign(join(parts))).expect("the parts make a model")));
        let whole = models.iter().map(|file| with(0, file));
        seeds::plant(whole.chain(parts.iter().map(|parts| with(1, parts))));
    },
    |input: &[u8]| {
        let mut rest = input;
        match take(&mut rest) % 2 {
            0 => check(&sign(rest.to_vec())),
            _ => check(&sign(join(rest))),
        }
    }
);
