//! The error type. Every variant is a sentence a person can act on: what is wrong, where, and what to do.

use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;

/// What to do about a file that a newer release wrote.
pub(crate) const UPDATE: &str = "Update quince.";

/// What every fallible call of quince returns.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. Match on the variant or on [`Error::code`]; show it with `Display` and [`Error::remedy`].
///
/// ```
/// use quince::prelude::*;
/// let error = Matrix::new(2, 2, vec![1.0, 2.0, 3.0]).unwrap_err();
/// assert_eq!(error.code(), "shape");
/// let error = Ridge::new().alpha(-1.0).fit(&[[1.0]], &[1.0]).err().unwrap();
/// assert_eq!((error.code(), error.to_string().as_str()), ("setting", "setting 'alpha' cannot be -1"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    File {
        /// The file as the user named it.
        path: String,
        /// What the system said.
        problem: String,
        /// The same for programs.
        kind: ErrorKind,
        /// The system's own error, where it was one.
        source: Option<IoError>,
    },
    /// The bytes or cells of a table are not what they should be.
    Table {
        /// Where in which file.
        place: Box<Place>,
        /// What is wrong there.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The data, as a whole, cannot be learnt from or predicted for.
    Data {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// Arrays do not fit together: rows and targets, rows and a model, values and a shape.
    Shape {
        /// What does not fit.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// A number is NaN or infinite where only finite ones make sense.
    NotFinite {
        /// Which.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// A setting has a wrong name or a value out of range.
    Setting {
        /// The setting.
        name: String,
        /// What is wrong.
        problem: String,
        /// What is allowed.
        remedy: String,
    },
    /// No method, metric or other named thing has this name.
    Unknown {
        /// What kind of thing was named, for example `method`.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that exist, or the nearest one.
        remedy: String,
    },
    /// A file is not a quince model, or not a whole one.
    Model {
        /// The file, or `bytes`.
        path: String,
        /// Why it is refused.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The user asked to stop.
    Cancelled,
    /// The budget ran out before there was any answer to give.
    OutOfTime {
        /// What was being done.
        what: String,
    },
}

impl Error {
    /// A short, stable name for scripts: `table`, `setting`, `cancelled` and so on.
    pub fn code(&self) -> &'static str {
        match self {
            Error::File { .. } => "file",
            Error::Table { .. } => "table",
            Error::Data { .. } => "data",
            Error::Shape { .. } => "shape",
            Error::NotFinite { .. } => "not-finite",
            Error::Setting { .. } => "setting",
            Error::Unknown { .. } => "unknown",
            Error::Model { .. } => "model",
            Error::Cancelled => "cancelled",
            Error::OutOfTime { .. } => "out-of-time",
        }
    }

    /// What the user can do about it, as a sentence; empty where there is nothing to add.
    pub fn remedy(&self) -> &str {
        match self {
            Error::Table { remedy, .. }
            | Error::Data { remedy, .. }
            | Error::Shape { remedy, .. }
            | Error::NotFinite { remedy, .. }
            | Error::Setting { remedy, .. }
            | Error::Unknown { remedy, .. }
            | Error::Model { remedy, .. } => remedy,
            Error::OutOfTime { .. } => "Give a larger budget.",
            Error::File { .. } | Error::Cancelled => "",
        }
    }

    /// A file is not a model, or not a whole one.
    pub(crate) fn model(path: &str, problem: impl Into<String>) -> Error {
        Error::unopened(path, problem, "Train the model again, or copy the file again from where it was made.")
    }

    /// A file is not a model of this release: what is wrong, and what to do about it.
    pub(crate) fn unopened(path: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Model { path: path.to_string(), problem: problem.into(), remedy: remedy.into() }
    }

    pub(crate) fn table(place: Place, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Table { place: Box::new(place), problem: problem.into(), remedy: remedy.into() }
    }

    /// The data cannot be learnt from or predicted for: what is wrong, and what to do about it.
    pub fn data(problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Data { problem: problem.into(), remedy: remedy.into() }
    }

    pub(crate) fn shape(problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Shape { problem: problem.into(), remedy: remedy.into() }
    }

    /// Every `what` (of which there are `count`) needs a `part`, and there are others: `there are 6 rows and 5 weights`.
    pub(crate) fn one_each((count, what): (usize, &str), (found, part): (usize, &str)) -> Error {
        let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let problem = format!("there are {} and {}", counted(count, what), counted(found, part));
        Error::shape(problem, format!("Give every {what} one {part}."))
    }

    pub(crate) fn not_finite(problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::NotFinite { problem: problem.into(), remedy: remedy.into() }
    }

    /// A setting has a wrong name or value: what is wrong, and what is allowed.
    pub fn setting(name: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Setting { name: name.into(), problem: problem.into(), remedy: remedy.into() }
    }

    /// The same, saying which column it is about.
    pub(crate) fn of_column(self, column: &str) -> Error {
        match self {
            Error::Setting { name, problem, remedy } => {
                Error::Setting { name, problem: format!("{problem} (column '{column}')"), remedy }
            }
            Error::Data { problem, remedy } => Error::Data { problem: format!("'{column}': {problem}"), remedy },
            Error::Shape { problem, remedy } => Error::Shape { problem: format!("'{column}': {problem}"), remedy },
            Error::NotFinite { problem, remedy } => {
                Error::NotFinite { problem: format!("'{column}': {problem}"), remedy }
            }
            other => other,
        }
    }

    /// An error of the system with this file, in plain words.
    pub fn file(path: impl Into<String>, source: std::io::Error) -> Error {
        let kind = source.kind();
        let problem = match kind {
            ErrorKind::NotFound => "there is no such file".to_string(),
            ErrorKind::PermissionDenied => "permission denied".to_string(),
            ErrorKind::IsADirectory => "this is a folder, not a file".to_string(),
            _ => source.to_string(),
        };
        Error::File { path: path.into(), problem, kind, source: Some(IoError(Arc::new(source))) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File { path, problem, .. } | Error::Model { path, problem, .. } => write!(f, "{path}: {problem}"),
            Error::Table { place, problem, .. } => write!(f, "{place}{problem}"),
            Error::Data { problem, .. } | Error::Shape { problem, .. } | Error::NotFinite { problem, .. } => {
                f.write_str(problem)
            }
            Error::Setting { name, problem, .. } => write!(f, "setting '{name}' {problem}"),
            Error::Unknown { what, name, .. } => write!(f, "there is no {what} called '{name}'"),
            Error::Cancelled => f.write_str("stopped on request"),
            Error::OutOfTime { what } => write!(f, "the budget ran out before {what} had an answer"),
        }
    }
}

/// The sentence and the remedy: what a `main` that returns an error prints.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        if self.remedy().is_empty() { Ok(()) } else { write!(f, "\n  help: {}", self.remedy()) }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source: Some(IoError(source)), .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

/// An error of the system that can be copied, and compared by its kind.
#[derive(Clone, Debug)]
pub struct IoError(pub Arc<std::io::Error>);

impl PartialEq for IoError {
    fn eq(&self, other: &IoError) -> bool {
        self.0.kind() == other.0.kind()
    }
}

impl Eq for IoError {}

/// Where in a table something is: any part may be unknown.
///
/// ```
/// use quince::Place;
/// let place = Place { file: Some("a.csv".into()), line: Some(7), ..Place::default() };
/// assert_eq!(place.to_string(), "a.csv, line 7: ");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file's name, or `stdin`.
    pub file: Option<String>,
    /// The line in the file, counted from 1.
    pub line: Option<u64>,
    /// The row in a table that came from no file, counted from 1.
    pub row: Option<u64>,
    /// The column: its name, or its number where there is no name yet.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.file.clone());
        parts.extend(self.line.map(|line| format!("line {line}")));
        parts.extend(self.row.map(|row| format!("row {row}")));
        parts.extend(self.column.as_ref().map(|column| match column.parse::<u64>() {
            Ok(_) => format!("column {column}"),
            Err(_) => format!("column '{column}'"),
        }));
        if parts.is_empty() { Ok(()) } else { write!(f, "{}: ", parts.join(", ")) }
    }
}

/// Finds the name nearest to `wanted`, if one is near enough to be a slip of the keys.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wanted.to_lowercase();
    let slip = |name: &str| edit_distance(&lower, &name.to_lowercase());
    let alike = |name: &&str| name.len().abs_diff(wanted.len()) <= 2 + wanted.len() / 2 && name.len() < 1000;
    names
        .into_iter()
        .filter(alike)
        .map(|name| (slip(name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| {
            let length = wanted.chars().count().max(name.chars().count());
            *distance <= 1 + length / 3 && *distance < length
        })
        .map(|(_, name)| name)
}

/// A remedy that names the nearest of `names`, or lists them (the first dozen) where none is near.
pub(crate) fn did_you_mean<'a>(wanted: &str, what: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(name) = nearest(wanted, names.clone()) {
        return format!("Did you mean '{name}'?");
    }
    let all: Vec<&str> = names.into_iter().collect();
    let shown = all.iter().take(12).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let more = if all.len() > 12 { format!(" and {} more", all.len() - 12) } else { String::new() };
    format!("The {what} are {shown}{more}.")
}

/// Levenshtein's distance: the fewest insertions, deletions and replacements that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_slip_away_or_none() {
        assert_eq!(nearest("specis", ["petal", "species", "sepal"]), Some("species"));
        assert_eq!(nearest("Species", ["species"]), Some("species"));
        assert_eq!(nearest("price", ["petal", "species"]), None);
        assert_eq!(nearest("q", ["x", "y"]), None);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn an_error_of_the_system_is_the_source_of_ours() {
        use std::error::Error as _;
        let error = Error::file("a.csv", ErrorKind::NotFound.into());
        assert_eq!(error.to_string(), "a.csv: there is no such file");
        assert!(matches!(error, Error::File { kind: ErrorKind::NotFound, .. }));
        let source = error.source().unwrap().downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(source.kind(), ErrorKind::NotFound);
        assert_eq!(error.clone(), error);
    }

    #[test]
    fn a_place_names_what_is_known() {
        let place = Place { file: Some("a.csv".into()), line: Some(7), row: None, column: Some("age".into()) };
        assert_eq!(place.to_string(), "a.csv, line 7, column 'age': ");
        assert_eq!(Place::default().to_string(), "");
    }
}
