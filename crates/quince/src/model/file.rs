//! The saved model: one safetensors file, which is a JSON header and plain arrays, so opening one can never run code.
//!
//! ```text
//! 8 bytes   length of the JSON that follows
//! JSON      {"__metadata__": {"checksum": ..., "quince": header as JSON text}, "coefficients": {dtype, shape, offsets}, ...}
//! bytes     the arrays, in the order of their names
//! ```
//!
//! The checksum is the SHA-256 of the whole file with the checksum's own 64 digits set to `0`. A model is written to a
//! temporary file beside its place, synced, and renamed over it: readers see the old model or the new one.

use super::Model;
use crate::encode::Encoder;
use crate::error::{Error, NOT_A_MODEL, Result};
use crate::learn::{Array, Classes, ExamplesDigest, SavedParts, Task};
use crate::registry::Registry;
use crate::run::Report;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
        self.as_file(self.parts())
    }

    /// The bytes of a file; an error if they could not be read again, because a number in it is not finite.
    fn to_readable_bytes(&self) -> Result<Vec<u8>> {
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

    fn as_file(&self, mut parts: SavedParts) -> Vec<u8> {
        let mut encoder = self.encoder.clone();
        encoder.take_arrays(&mut parts);
        let header = Header {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            method: self.method.info.name.into(),
            settings: self.settings.clone(),
            task: self.task,
            target: self.target.clone(),
            classes: self.classes.clone(),
            encoder,
            report: self.report.clone(),
            seed: self.seed,
            rows: self.rows,
            digest: self.digest.clone(),
            notes: self.notes.clone(),
        };
        let header = serde_json::to_string(&header).expect("a header holds nothing that JSON cannot");
        write_file(&header, &parts)
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
        let bytes = self.to_readable_bytes();
        out.write_all(&bytes.map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))?)
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
        replace_file(path, &self.to_readable_bytes()?).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                Error::File { path: name, problem: "its folder does not exist".into(), source: None }
            }
            _ => Error::file(name, e),
        })
    }
}

/// Writes a new file and renames it over the old one, if there is one: readers see the old file or the new one.
///
/// A link keeps pointing where it did: what it points to is replaced. The old file's permissions are kept. What is no
/// file (a pipe, a device) is written to as it is.
pub fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let path = std::fs::canonicalize(path).or_else(|_| std::fs::read_link(path)).unwrap_or_else(|_| path.to_path_buf());
    let old = std::fs::metadata(&path).ok();
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return std::fs::OpenOptions::new().write(true).open(&path)?.write_all(bytes);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let (temporary, mut file) = temporary_file(&folder)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| old.map_or(Ok(()), |old| file.set_permissions(old.permissions())))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
        return written;
    }
    // The rename itself must reach the disk too; where folders cannot be synced, it is as safe as the system makes it.
    if let Ok(folder) = std::fs::File::open(&folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A new file with a unique name.
fn temporary_file(folder: &Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".quince-{}-{number}.part", std::process::id()));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
}

fn write_file(header: &str, parts: &SavedParts) -> Vec<u8> {
    let mut entries = serde_json::Map::new();
    let mut data = Vec::new();
    // Numbers come first, then indices, so that each lies on a multiple of its size.
    let size = |array: &Array| match array {
        Array::Numbers { .. } => 8,
        Array::Indices(_) => 4,
        Array::Bytes(_) => 1,
    };
    for wanted in [8, 4, 1] {
        for (name, array) in parts.arrays.iter().filter(|(_, array)| size(array) == wanted) {
            let start = data.len();
            let (dtype, shape) = match array {
                Array::Numbers { shape, values } => {
                    values.iter().for_each(|value| data.extend_from_slice(&value.to_le_bytes()));
                    ("F64", shape.clone())
                }
                Array::Indices(indices) => {
                    indices.iter().for_each(|index| data.extend_from_slice(&index.to_le_bytes()));
                    ("U32", vec![indices.len()])
                }
                Array::Bytes(bytes) => {
                    data.extend_from_slice(bytes);
                    ("U8", vec![bytes.len()])
                }
            };
            entries.insert(name.clone(), json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]}));
        }
    }
    let metadata = format!(
        r#"{{"__metadata__":{{"checksum":"{}","quince":{}}}"#,
        "0".repeat(64),
        serde_json::to_string(header).expect("a string is JSON")
    );
    let mut json = metadata;
    for (name, entry) in &entries {
        json.push(',');
        json.push_str(&format!("{}:{entry}", Value::from(name.as_str())));
    }
    json.push('}');
    while json.len() % 8 != 0 {
        json.push(' ');
    }
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(json.as_bytes());
    bytes.extend_from_slice(&data);
    let digest = digest(&bytes);
    bytes[CHECKSUM].copy_from_slice(digest.as_bytes());
    bytes
}

/// SHA-256 in hexadecimal, the place of the checksum read as zeros.
fn digest(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(&bytes[..CHECKSUM.start]);
    hash.update([b'0'; 64]);
    hash.update(&bytes[CHECKSUM.end..]);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_file(bytes: &[u8], path: &str, registry: &Registry) -> Result<Model> {
    let wrong = |problem: &str| Error::Model { path: path.to_string(), problem: problem.to_string() };
    if bytes.len() < CHECKSUM.end || &bytes[8..CHECKSUM.start] != HEAD {
        return Err(wrong(NOT_A_MODEL));
    }
    if bytes[CHECKSUM] != *digest(bytes).as_bytes() {
        return Err(wrong("the file is cut short or was changed: its checksum does not match"));
    }
    // From here on the file is as some program wrote it, but not necessarily one of ours.
    let (_, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|e| wrong(&format!("not a safetensors file: {e}")))?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| wrong(&format!("not a safetensors file: {e}")))?;
    let text =
        metadata.metadata().as_ref().and_then(|map| map.get("quince")).ok_or_else(|| wrong("no quince header"))?;
    let loose: Value = serde_json::from_str(text).map_err(|_| wrong("the quince header is not JSON"))?;
    let format = loose["format"].as_u64().unwrap_or(0);
    if format > u64::from(FORMAT) {
        return Err(wrong(&format!(
            "the file has format {format}; this quince reads up to {FORMAT}: a newer quince wrote it"
        )));
    }
    let mut header: Header =
        serde_json::from_value(loose).map_err(|e| wrong(&format!("the quince header is not right: {e}")))?;
    let classes = header.classes.as_ref().map_or(0, Classes::count);
    let mut parts = read_arrays(&tensors, classes, path)?;
    header.encoder.put_arrays(&parts)?;
    let classification = header.task == Task::Classification;
    if !header.encoder.is_sound() || classification != header.classes.as_ref().is_some_and(|c| c.count() > 0) {
        return Err(wrong("the quince header contradicts itself"));
    }
    parts.features = header.encoder.width();
    let method = *registry.method(&header.method).map_err(|error| wrong(&error.to_string()))?;
    if !method.info.learns(header.task) {
        return Err(wrong("the quince header contradicts itself"));
    }
    let fitted = method.load(&parts)?;
    Ok(Model {
        method,
        settings: header.settings,
        target: header.target,
        task: header.task,
        classes: header.classes,
        encoder: header.encoder,
        fitted,
        report: header.report,
        seed: header.seed,
        rows: header.rows,
        digest: header.digest,
        notes: header.notes,
    })
}

/// The arrays of a file.
fn read_arrays(tensors: &SafeTensors<'_>, classes: usize, path: &str) -> Result<SavedParts> {
    let mut parts = SavedParts { classes, path: path.to_string(), ..SavedParts::default() };
    for (name, tensor) in tensors.iter() {
        let array = match tensor.dtype() {
            Dtype::F64 => {
                let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("chunks of eight bytes"));
                let values = tensor.data().chunks_exact(8).map(number).collect();
                Array::Numbers { shape: tensor.shape().to_vec(), values }
            }
            Dtype::U32 if tensor.shape().len() == 1 => {
                let index = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("chunks of four bytes"));
                Array::Indices(tensor.data().chunks_exact(4).map(index).collect())
            }
            Dtype::U8 => Array::Bytes(tensor.data().to_vec()),
            _ => {
                let problem = format!("the array '{name}' has a type that no quince writes");
                return Err(Error::Model { path: path.to_string(), problem });
            }
        };
        parts.arrays.insert(name.to_string(), array);
    }
    Ok(parts)
}
