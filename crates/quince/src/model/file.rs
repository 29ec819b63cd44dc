//! The saved model: one safetensors file, which is a JSON header and plain arrays, so opening one can never run code.
//!
//! ```text
//! 8 bytes   length of the JSON that follows
//! JSON      {"__metadata__": {"checksum": ..., "quince": header as JSON text}, "coefficients": {dtype, shape, offsets}, ...}
//! bytes     the arrays: numbers and counts, then indices, then texts, each in the order of their names
//! ```
//!
//! The checksum is the SHA-256 of the whole file with the checksum's own 64 digits set to `0`.
//!
//! Format 1 is frozen: `tests/golden` holds files that every later release reads, and writes again as they are. ARCHITECTURE.md
//! says what may be added to it.

use super::Model;
use super::replace::replace_file_by;
use crate::encode::Encoder;
use crate::error::{Error, Result, UPDATE};
use crate::learn::{Classes, ElementType, ExamplesDigest, LabelType, SavedArray, SavedParts, Task};
use crate::registry::Registry;
use crate::run::Report;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// The version of the file format that this release writes. It reads this one and all before it.
pub const FORMAT: u32 = 1;

const HEAD: &[u8] = br#"{"__metadata__":{"checksum":""#;
const CHECKSUM_AT: usize = 8 + HEAD.len();
const CHECKSUM: std::ops::Range<usize> = CHECKSUM_AT..CHECKSUM_AT + 64;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    version: String,
    method: String,
    settings: Value,
    task: Task,
    target: String,
    classes: Option<Classes>,
    /// What the labels of the classes are, where their names do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label_type: Option<LabelType>,
    encoder: Encoder,
    #[serde(with = "super::report")]
    report: Report,
    seed: u64,
    rows: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<ExamplesDigest>,
    notes: Value,
}

impl Model {
    /// The model as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.as_file(self.parts()).into_bytes()
    }

    /// The file of the model; an error if it could not be read again, because a number in it is not finite.
    fn as_readable_file(&self) -> Result<SavedFile> {
        let parts = self.parts();
        let problem = match &parts.unreadable {
            Some(name) => format!("'{name}' of the model holds NaN or infinity, which could not be read back"),
            None if !self.encoder.is_sound() => {
                "the encoder holds NaN or infinity, which could not be read back".into()
            }
            None => return Ok(self.as_file(parts)),
        };
        Err(Error::not_finite(problem, "Look for extreme values among the columns, and train again."))
    }

    fn as_file(&self, mut parts: SavedParts<'static>) -> SavedFile {
        let encoder = self.encoder.save_arrays(&mut parts);
        let header = Header {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            method: self.method.info.name.into(),
            settings: self.settings.clone(),
            task: self.task,
            target: self.target.clone(),
            classes: self.classes.clone(),
            label_type: self.classes.as_ref().and_then(Classes::unexpected_label_type),
            encoder,
            report: self.report.clone(),
            seed: self.seed,
            rows: self.rows,
            digest: self.digest.clone(),
            notes: self.notes.clone(),
        };
        let header = serde_json::to_string(&header).expect("a header holds nothing that JSON cannot");
        SavedFile::new(&header, parts.arrays)
    }

    /// Reads a model from the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        Model::from_bytes_with(bytes, &Registry::standard())
    }

    /// Reads a model from the bytes of a file, which may be of any method of a registry.
    pub fn from_bytes_with(bytes: &[u8], registry: &Registry) -> Result<Model> {
        read_file(bytes, "bytes", registry)
    }

    /// Reads a saved model.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        Model::load_with(path, &Registry::standard())
    }

    /// Reads a saved model, which may be of any method of a registry.
    pub fn load_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Model> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Error::file(&name, e))?;
        read_file(&bytes, &name, registry)
    }

    /// Writes the model as the bytes of a file: to a socket, a bucket or a buffer.
    pub fn save_to(&self, mut out: impl Write) -> std::io::Result<()> {
        let file = self.as_readable_file();
        file.map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))?.write_to(&mut out)
    }

    /// Reads a model from the bytes of a file, wherever they come from.
    pub fn load_from(mut source: impl Read) -> Result<Model> {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map_err(|e| Error::file("bytes", e))?;
        Model::from_bytes(&bytes)
    }

    /// Saves the model: all of it or nothing, whatever happens on the way.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let file = self.as_readable_file()?;
        replace_file_by(path, |out| file.write_to(out)).map_err(|e| match e.kind() {
            kind @ ErrorKind::NotFound => {
                Error::File { path: name, problem: "its folder does not exist".into(), kind, source: None }
            }
            _ => Error::file(name, e),
        })
    }
}

/// A file that is about to be written.
struct SavedFile {
    /// The length of the JSON and the JSON itself.
    head: Vec<u8>,
    /// The bytes of the arrays that follow.
    arrays: Vec<SavedArray<'static>>,
}

impl SavedFile {
    fn new(header: &str, arrays: BTreeMap<String, SavedArray<'static>>) -> SavedFile {
        let mut ordered: Vec<(String, SavedArray<'static>)> = arrays.into_iter().collect();
        // By size of their elements, so that each array lies on a multiple of that.
        ordered.sort_by_key(|(_, array)| std::cmp::Reverse(array.element.size()));
        let (mut entries, mut end) = (BTreeMap::new(), 0);
        for (name, SavedArray { element, shape, bytes }) in &ordered {
            let start = end;
            end += bytes.len();
            entries.insert(name, json!({"dtype": element.name(), "shape": shape, "data_offsets": [start, end]}));
        }
        let mut json = String::from_utf8_lossy(HEAD).into_owned();
        json.push_str(&format!(r#"{}","quince":{}}}"#, "0".repeat(64), Value::from(header)));
        for (name, entry) in entries {
            json.push_str(&format!(",{}:{entry}", Value::from(name.as_str())));
        }
        json.push('}');
        while !json.len().is_multiple_of(8) {
            json.push(' ');
        }
        let mut head = (json.len() as u64).to_le_bytes().to_vec();
        head.extend_from_slice(json.as_bytes());
        let mut file = SavedFile { head, arrays: ordered.into_iter().map(|(_, array)| array).collect() };
        let digest = digest(file.pieces());
        file.head[CHECKSUM].copy_from_slice(digest.as_bytes());
        file
    }

    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(self.head.as_slice()).chain(self.arrays.iter().map(|array| &*array.bytes))
    }

    fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.pieces().try_for_each(|piece| out.write_all(piece))
    }

    fn into_bytes(self) -> Vec<u8> {
        let length = self.pieces().map(<[u8]>::len).sum();
        let mut bytes = Vec::with_capacity(length);
        self.pieces().for_each(|piece| bytes.extend_from_slice(piece));
        bytes
    }
}

/// SHA-256 of a file in hexadecimal, the place of the checksum read as zeros. The first piece holds the header.
fn digest<'a>(mut pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    let head = pieces.next().unwrap_or_default();
    hash.update(&head[..CHECKSUM.start]);
    hash.update([b'0'; 64]);
    hash.update(&head[CHECKSUM.end..]);
    pieces.for_each(|piece| hash.update(piece));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_file(bytes: &[u8], path: &str, registry: &Registry) -> Result<Model> {
    let wrong = |problem: &str| Error::model(path, problem);
    check_whole(bytes, path)?;
    // From here on the file is as some program wrote it, but not necessarily one of ours.
    let mut header = read_header(bytes, path)?;
    let mut parts = SavedParts { path: path.to_string(), arrays: read_arrays(bytes, path)?, ..SavedParts::default() };
    header.encoder.load_arrays(&mut parts)?;
    parts.features = header.encoder.width();
    parts.classes = header.classes.as_ref().map_or(0, Classes::count);
    let method = *registry.method(&header.method).map_err(|error| {
        let remedy = "Update quince, or open the file with a registry that has the method (`Model::load_with`).";
        Error::unopened(path, error.to_string(), remedy)
    })?;
    let classification = header.task == Task::Classification;
    if !header.encoder.is_sound() || classification != (parts.classes > 0) || !method.info.learns(header.task) {
        return Err(wrong("the quince header contradicts itself"));
    }
    let fitted = method.load(&mut parts)?;
    parts.check_all_taken()?;
    let learner = method.of_file(&header.settings).map_err(|error| {
        Error::unopened(
            path,
            format!("the settings cannot be read: {error}; a newer quince may have written them"),
            UPDATE,
        )
    })?;
    Ok(Model {
        method,
        has_probabilities: learner.has_probabilities_dyn(),
        settings: header.settings,
        target: header.target,
        task: header.task,
        classes: match header.label_type {
            Some(label_type) => header.classes.map(|classes| classes.with_label_type(label_type)),
            None => header.classes,
        },
        encoder: header.encoder,
        fitted,
        report: header.report,
        seed: header.seed,
        rows: header.rows,
        digest: header.digest,
        notes: header.notes,
    })
}

/// An error unless the bytes are a model, and as they were written.
fn check_whole(bytes: &[u8], path: &str) -> Result<()> {
    if bytes.len() < CHECKSUM.end || &bytes[8..CHECKSUM.start] != HEAD {
        let remedy = "Give a file that was saved by quince.";
        return Err(Error::unopened(path, "this is not a quince model", remedy));
    }
    if bytes[CHECKSUM] != *digest(std::iter::once(bytes)).as_bytes() {
        return Err(Error::model(path, "the file is cut short or was changed: its checksum does not match"));
    }
    Ok(())
}

/// quince's own header.
fn read_header(bytes: &[u8], path: &str) -> Result<Header> {
    let wrong = |problem: &str| Error::model(path, problem);
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| not_safetensors(path, &e))?;
    let text = metadata.metadata().as_ref().and_then(|map| map.get("quince"));
    let text = text.ok_or_else(|| wrong("no quince header"))?;
    let header: Value = serde_json::from_str(text).map_err(|_| wrong("the quince header is not JSON"))?;
    let format = header["format"].as_u64().unwrap_or(0);
    if format > u64::from(FORMAT) {
        let problem =
            format!("the file has format {format}; this quince reads up to {FORMAT}: a newer quince wrote it");
        return Err(Error::unopened(path, problem, UPDATE));
    }
    serde_json::from_value(header).map_err(|e| wrong(&format!("the quince header is not right: {e}")))
}

/// The arrays of a file, which lie in its bytes.
fn read_arrays<'file>(bytes: &'file [u8], path: &str) -> Result<BTreeMap<String, SavedArray<'file>>> {
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| not_safetensors(path, &e))?;
    let array = |(name, tensor): (&str, TensorView<'file>)| {
        let element = match tensor.dtype() {
            Dtype::F64 => ElementType::F64,
            Dtype::U64 => ElementType::U64,
            Dtype::U32 => ElementType::U32,
            Dtype::U8 => ElementType::U8,
            _ => {
                let problem = format!("the array '{name}' has a type that no quince writes");
                return Err(Error::model(path, problem));
            }
        };
        let (shape, bytes) = (tensor.shape().to_vec(), tensor.data().into());
        Ok((name.to_string(), SavedArray { element, shape, bytes }))
    };
    tensors.iter().map(array).collect()
}

fn not_safetensors(path: &str, error: &SafeTensorError) -> Error {
    Error::model(path, format!("not a safetensors file: {error}"))
}
