//! Opening a file: standard input, gzip, byte-order marks, and kind refusals of what is not a table.

use super::Cells;
use super::kind::Kind;
use crate::error::{Error, Place, Result};
use crate::run::Run;
use std::io::Read;
use std::path::Path;

/// What may be said about a file beforehand. Everything else is found.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The byte between two cells; found if not given.
    pub delimiter: Option<u8>,
    /// Whether the first line holds names.
    pub header: Header,
    /// Kinds that the user gives, by column name.
    pub kinds: Vec<(String, Kind)>,
    /// Columns to ignore.
    pub drop: Vec<String>,
}

/// Whether the first line of a file holds the names of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does.
    #[default]
    Names,
    /// It does not: columns are called `column1`, `column2` and so on.
    None,
}

impl Cells {
    /// Reads a file. `-` is standard input; gzip is recognised by its first bytes.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions, run: &Run) -> Result<Cells> {
        let path = path.as_ref();
        let standard_input = path == Path::new("-");
        let name = if standard_input { "stdin".to_string() } else { path.display().to_string() };
        let mut bytes = Vec::new();
        if standard_input {
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| Error::file(&name, &e))?;
        } else {
            bytes = all_bytes(path, run).map_err(|e| Error::file(&name, &e))?;
        }
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut plain = Vec::new();
            flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).map_err(|e| {
                Error::table(
                    Place { file: Some(name.clone()), ..Place::default() },
                    format!("the gzip data cannot be unpacked ({e})"),
                    "Copy or compress the file again.",
                )
            })?;
            bytes = plain;
        }
        let options = if options.delimiter.is_none() && name.trim_end_matches(".gz").ends_with(".tsv") {
            ReadOptions { delimiter: Some(b'\t'), ..options.clone() }
        } else {
            options.clone()
        };
        Cells::parse(bytes, &name, &options, run)
    }
}

/// All bytes of a file; of a large one, parts on all threads.
fn all_bytes(path: &Path, run: &Run) -> std::io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileExt;
        const PART: usize = 4 << 20;
        let file = std::fs::File::open(path)?;
        let about = file.metadata()?;
        let size = about.len() as usize;
        if about.is_file() && size > 4 * PART {
            let mut bytes = vec![0; size];
            let mut parts: Vec<(&mut [u8], std::io::Result<()>)> =
                bytes.chunks_mut(PART).map(|part| (part, Ok(()))).collect();
            run.each(&mut parts, |p, (part, result)| *result = file.read_exact_at(part, (p * PART) as u64));
            parts.into_iter().try_for_each(|(_, result)| result)?;
            return Ok(bytes);
        }
    }
    std::fs::read(path)
}
