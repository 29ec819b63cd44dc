//! Opening a file: which format it is in, standard input, gzip, and kind refusals of what is no table.

use super::Table;
use super::cells::Cells;
use super::kind::Kind;
use super::options::Encoding;
use super::{arff, csv, folder, json, libsvm};
use crate::error::{Error, Place, Result};
use crate::run::Run;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// What may be said about a file beforehand. Everything else is found.
///
/// ```
/// use quince::table::{Cells, Header, ReadOptions};
/// use quince::{Kind, Run};
/// let options = ReadOptions {
///     delimiter: Some(b';'),
///     header: Header::None,
///     kinds: vec![("column2".into(), Kind::Category)],
///     ..ReadOptions::default()
/// };
/// let table = Cells::parse(b"1;7\n2;8\n".to_vec(), "memory", &options, &Run::new())?.table(&options, &Run::new())?;
/// assert_eq!((table.rows(), table.column("column2")?.kind()), (2, Kind::Category));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format; found by the name and the first bytes if not given.
    pub format: Option<Format>,
    /// The byte between two cells of a text table; found if not given.
    pub delimiter: Option<u8>,
    /// Whether the first line of a text table holds names.
    pub header: Header,
    /// Kinds that the user gives, by column name.
    pub kinds: Vec<(String, Kind)>,
    /// Columns to ignore.
    pub drop: Vec<String>,
    /// How columns become features, by column name (`*`: all that can): settings as [`Table::encoded_as`] takes them.
    pub encode: Vec<(String, String)>,
    /// The degree of polynomial features: products of up to this many numbers; 1 makes none.
    pub degree: usize,
    /// How pictures become numbers; by default if not given.
    pub pictures: Option<Pictures>,
}

/// How pictures become numbers. A model remembers it, and reads pictures as it did in training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pictures {
    /// The grid, rows and columns, that they are brought to.
    pub pixels: (usize, usize),
    /// Pixels at least this bright become 1, all others 0.
    #[serde(default)]
    pub binarise: Option<f64>,
    /// Every patch of this many rows and columns is a row of its own, in all bands.
    #[serde(default)]
    pub patches: Option<(usize, usize)>,
}

impl Default for Pictures {
    fn default() -> Pictures {
        Pictures { pixels: (16, 16), binarise: None, patches: None }
    }
}

impl Pictures {
    /// An error if a grid or a brightness is none.
    pub fn check(&self) -> Result<()> {
        for (name, grid) in [("pixels", Some(self.pixels)), ("patches", self.patches)] {
            if let Some((rows, columns)) = grid.filter(|(r, c)| !(1..=100).contains(r) || !(1..=100).contains(c)) {
                let problem = format!("cannot be {rows}x{columns}");
                return Err(Error::setting(name, problem, "Give rows and columns from 1x1 to 100x100."));
            }
        }
        match self.binarise.filter(|brightness| !(*brightness > 0.0 && *brightness <= 1.0)) {
            None => Ok(()),
            Some(brightness) => Err(Error::setting(
                "binarise",
                format!("cannot be {brightness}"),
                "Give a brightness above 0 (black) and up to 1 (white), for example 0.5.",
            )),
        }
    }
}

impl fmt::Display for Pictures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.patches {
            None => write!(f, "{}x{} pixels", self.pixels.0, self.pixels.1)?,
            Some((rows, columns)) => write!(f, "patches of {rows}x{columns}")?,
        }
        self.binarise.map_or(Ok(()), |brightness| write!(f, ", black or white at {brightness}"))
    }
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            format: None,
            delimiter: None,
            header: Header::Names,
            kinds: Vec::new(),
            drop: Vec::new(),
            encode: Vec::new(),
            degree: 1,
            pictures: None,
        }
    }
}

impl ReadOptions {
    /// A table with the encoding options of its columns.
    pub fn encode(&self, mut table: Table) -> Result<Table> {
        for (name, settings) in &self.encode {
            table = table.encoded_as(name, settings)?;
        }
        let encoding = Encoding { degree: self.degree, ..table.encoding().clone() };
        table.with_encoding(encoding)
    }

    /// An error for options that do not apply to this file, rather than ignoring them.
    pub(super) fn check_fit(&self, source: &str, format: Option<Format>, pictures: bool) -> Result<()> {
        let what = match format {
            Some(format) => format!("a table in {}", format.title()),
            None if pictures => "a folder of pictures".to_string(),
            None => "a folder of texts".to_string(),
        };
        let csv = format == Some(Format::Csv);
        let problem = if self.delimiter.is_some() && !csv {
            format!("{what} has no delimiter")
        } else if self.header == Header::None && !csv {
            format!("{what} has no header that could be left out")
        } else if self.format.is_some() && format.is_none() {
            format!("{what} has no format")
        } else if self.pictures.is_some() && !pictures {
            format!("{what} has no pictures to bring to pixels or patches")
        } else {
            return Ok(());
        };
        let place = Place { file: Some(source.to_string()), ..Place::default() };
        Err(Error::table(place, problem, "Leave that option out, or give another table."))
    }
}

/// How a table is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// CSV, TSV, or cells separated by anything else.
    Csv,
    /// One object per line.
    JsonLines,
    /// Weka's format.
    Arff,
    /// A label and `place:number` pairs per line.
    LibSvm,
    /// Apache Parquet.
    Parquet,
    /// Arrow's file format, also called Feather, or its stream format.
    Arrow,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::Csv, Format::JsonLines, Format::Arff, Format::LibSvm, Format::Parquet, Format::Arrow];

    /// The format's name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::JsonLines => "jsonl",
            Format::Arff => "arff",
            Format::LibSvm => "libsvm",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        }
    }

    /// The format's name in a sentence.
    fn title(self) -> &'static str {
        match self {
            Format::Csv => "CSV",
            Format::JsonLines => "JSON",
            Format::Arff => "ARFF",
            Format::LibSvm => "LIBSVM's format",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow's format",
        }
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Result<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| Error::Unknown {
            what: "format",
            name: name.to_string(),
            remedy: format!("The formats are {}.", Format::ALL.map(Format::name).join(", ")),
        })
    }

    /// What the ending of a file's name says, if it is one of a table.
    pub(super) fn of_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        Some(match name.trim_end_matches(".gz").rsplit_once('.')?.1 {
            "csv" | "tsv" => Format::Csv,
            "jsonl" | "ndjson" | "json" => Format::JsonLines,
            "arff" => Format::Arff,
            "libsvm" | "svmlight" | "svm" => Format::LibSvm,
            "parquet" | "pq" => Format::Parquet,
            "arrow" | "feather" | "ipc" => Format::Arrow,
            _ => return None,
        })
    }

    /// What a file most likely is: its name tells, or its first bytes do.
    fn of(name: &str, bytes: &[u8]) -> Format {
        // A name may be wrong about these, the bytes are not.
        if bytes.starts_with(b"PAR1") {
            return Format::Parquet;
        }
        if bytes.starts_with(b"ARROW1\0\0") {
            return Format::Arrow;
        }
        if let Some(format) = Format::of_name(name) {
            return format;
        }
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(65_536)]);
        let head = head.trim_start_matches('\u{feff}');
        match head.trim_start().as_bytes() {
            [b'{', ..] => Format::JsonLines,
            [b'[', rest @ ..] if rest.trim_ascii_start().starts_with(b"{") => Format::JsonLines,
            _ if arff::looks_like(head) => Format::Arff,
            _ if libsvm::looks_like(head) => Format::LibSvm,
            _ => Format::Csv,
        }
    }
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
    /// Reads a file, or a folder of texts or pictures. `-` is standard input; gzip is recognised by its first bytes.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions, run: &Run) -> Result<Cells> {
        let path = path.as_ref();
        if path.is_dir() {
            return folder::read(path, options, run);
        }
        let standard_input = path == Path::new("-");
        let name = if standard_input { "stdin".to_string() } else { path.display().to_string() };
        if path.is_file() && folder::is_picture(path) {
            let place = Place { file: Some(name), ..Place::default() };
            let remedy = "Give the folder it lies in, with one sub-folder for each class, or none to predict.";
            return Err(Error::table(place, "this is a single picture, and a table is a folder of them", remedy));
        }
        let mut bytes = Vec::new();
        if standard_input {
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| Error::file(&name, e))?;
        } else {
            bytes = all_bytes(path, run).map_err(|e| Error::file(&name, e))?;
        }
        Cells::parse(bytes, &name, options, run)
    }

    /// Reads the bytes of a file, packed with gzip or not. `source` names them in errors.
    pub fn parse(bytes: Vec<u8>, source: &str, options: &ReadOptions, run: &Run) -> Result<Cells> {
        let bytes = unpacked(bytes, source)?;
        let format = options.format.unwrap_or_else(|| Format::of(source, &bytes));
        options.check_fit(source, Some(format), false)?;
        let text = |bytes: &[u8]| -> Result<String> {
            let start = csv::check_text(bytes, source, run)?;
            Ok(String::from_utf8_lossy(&bytes[start..]).into_owned())
        };
        match format {
            Format::Csv => {
                let tabs = source.trim_end_matches(".gz").ends_with(".tsv").then_some(b'\t');
                csv::parse(bytes, source, options.delimiter.or(tabs), options.header, run)
            }
            Format::JsonLines => json::parse(&text(&bytes)?, source, run),
            Format::Arff => arff::parse(&text(&bytes)?, source),
            Format::LibSvm => libsvm::parse(&text(&bytes)?, source, run),
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet::parse(bytes, source),
            #[cfg(feature = "parquet")]
            Format::Arrow => super::ipc::parse(&bytes, source),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet | Format::Arrow => Err(Error::table(
                Place { file: Some(source.into()), ..Place::default() },
                format!("this build of quince does not read {}", format.title()),
                "Build it with the feature parquet, or write the table as CSV.",
            )),
        }
    }
}

/// The content of a gzip file; anything else unchanged.
fn unpacked(bytes: Vec<u8>, source: &str) -> Result<Vec<u8>> {
    // Text packs to a tenth, long runs of zeros to a hundredth; gzip itself could make a thousand bytes of one.
    const FREE_BYTES: u64 = 1 << 30;
    const BYTES_PER_BYTE: u64 = 200;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    unpacked_up_to(FREE_BYTES.max(BYTES_PER_BYTE.saturating_mul(bytes.len() as u64)), &bytes, source)
}

fn unpacked_up_to(most: u64, bytes: &[u8], source: &str) -> Result<Vec<u8>> {
    let refuse = |problem: String, remedy: &str| {
        let place = Place { file: Some(source.to_string()), ..Place::default() };
        Error::table(place, problem, remedy.to_string())
    };
    let mut plain = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes).take(most.saturating_add(1)).read_to_end(&mut plain);
    read.map_err(|e| refuse(format!("the gzip data cannot be unpacked ({e})"), "Copy or compress the file again."))?;
    if plain.len() as u64 > most {
        return Err(refuse(
            format!("{} bytes of gzip data unpack to more than {most} bytes", bytes.len()),
            "If the file is what it should be, unpack it with gunzip and read the result.",
        ));
    }
    Ok(plain)
}

/// All bytes of a file; of a large one, parts on all threads.
fn all_bytes(path: &Path, run: &Run) -> std::io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileExt;
        const PART_BYTES: usize = 4 << 20;
        let file = std::fs::File::open(path)?;
        let about = file.metadata()?;
        let size = about.len() as usize;
        if about.is_file() && size > 4 * PART_BYTES {
            let mut bytes = vec![0; size];
            let mut parts: Vec<(&mut [u8], std::io::Result<()>)> =
                bytes.chunks_mut(PART_BYTES).map(|part| (part, Ok(()))).collect();
            run.each(&mut parts, |p, (part, result)| *result = file.read_exact_at(part, (p * PART_BYTES) as u64));
            parts.into_iter().try_for_each(|(_, result)| result)?;
            return Ok(bytes);
        }
    }
    std::fs::read(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        writer.write_all(plain).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn a_gzip_bomb_is_refused_by_its_limit() {
        let bomb = packed(&vec![b'0'; 1 << 20]);
        assert_eq!(unpacked_up_to(1 << 20, &bomb, "b.csv.gz").unwrap().len(), 1 << 20);
        let refused = |bytes: &[u8]| unpacked_up_to(1 << 16, bytes, "b.csv.gz").unwrap_err().to_string();
        let problem =
            |bytes: &[u8]| format!("b.csv.gz: {} bytes of gzip data unpack to more than 65536 bytes", bytes.len());
        assert_eq!(refused(&bomb), problem(&bomb));
        // Several files in one are counted together.
        let several = packed(&[b'1'; 5000]).repeat(14);
        assert_eq!(refused(&several), problem(&several));
    }

    #[test]
    fn packed_tables_are_read_from_bytes_too() {
        let cells = Cells::parse(packed(b"a,b\n1,2\n"), "t.csv.gz", &ReadOptions::default(), &Run::new()).unwrap();
        assert_eq!((cells.rows(), cells.names()), (1, &["a".to_string(), "b".to_string()][..]));
    }
}
