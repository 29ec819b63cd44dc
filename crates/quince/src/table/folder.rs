//! A folder as a table: one file per row, its sub-folder the label.
//!
//! ```text
//! mail/spam/1.txt   mail/spam/2.txt   mail/wanted/1.txt      texts: columns text, label, file
//! digits/0/a.png    digits/0/b.png    digits/1/c.png         pictures: columns pixel_1_1 ... , label, file
//! ```
//!
//! Files that lie in the folder itself have no label: that is how one predicts. A folder holds texts or pictures, not
//! both, and no tables; names that begin with a dot are passed over.

use super::cells::{Cells, Raw};
use super::kind::{self, Kind};
use super::read::{Format, ReadOptions};
use super::{Column, ColumnData};
use crate::error::{Error, Place, Result};
use crate::run::{Pace, Run};
use arrow_array::LargeStringArray;
use std::path::{Path, PathBuf};

/// A file, and the sub-folder it lies in.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    label: Option<String>,
    /// Its name below the folder.
    file: String,
}

/// The endings of picture files.
const PICTURES: [&str; 7] = ["png", "jpg", "jpeg", "pgm", "ppm", "pbm", "pnm"];

pub(super) fn read(path: &Path, options: &ReadOptions, run: &Run) -> Result<Cells> {
    let source = path.display().to_string();
    let refuse = |problem: String, remedy: &str| {
        Err(Error::table(Place { file: Some(source.clone()), ..Place::default() }, problem, remedy.to_string()))
    };
    let entries = list(path)?;
    let Some(first) = entries.first() else {
        return refuse(
            "the folder holds no files".into(),
            "Put texts or pictures into it, with one sub-folder for each class.",
        );
    };
    if let Some(table) = entries.iter().find(|entry| Format::of_name(&entry.file).is_some()) {
        return refuse(
            format!("this is a folder, and '{}' in it is a table, not a text or a picture", table.file),
            "Give the path of one table, or a folder of texts or pictures.",
        );
    }
    let pictures = is_picture(&first.path);
    if let Some(other) = entries.iter().find(|entry| is_picture(&entry.path) != pictures) {
        let (picture, text) = if pictures { (first, other) } else { (other, first) };
        return refuse(
            format!("'{}' is a picture and '{}' is a text", picture.file, text.file),
            "Give a folder of texts or a folder of pictures.",
        );
    }
    if let Some(other) = entries.iter().find(|entry| entry.label.is_some() != first.label.is_some()) {
        let (inside, beside) = if first.label.is_some() { (first, other) } else { (other, first) };
        return refuse(
            format!("'{}' lies in a sub-folder and '{}' does not", inside.file, beside.file),
            "Put every file into the sub-folder of its class, or none.",
        );
    }
    options.check_fit(&source, None, pictures)?;
    let mut cells = match pictures {
        true => pictures_of(&entries, options.pictures.unwrap_or_default(), run)?,
        false => texts_of(&entries, run)?,
    };
    cells.source = source;
    Ok(cells)
}

pub(super) fn is_picture(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.is_some_and(|ending| PICTURES.contains(&ending.as_str()))
}

/// The files of a folder and its sub-folders, in the order of their names.
fn list(path: &Path) -> Result<Vec<Entry>> {
    let names = |folder: &Path| -> Result<Vec<(String, PathBuf)>> {
        let failed = |e: std::io::Error| Error::file(folder.display().to_string(), e);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                found.push((name, entry.path()));
            }
        }
        found.sort();
        Ok(found)
    };
    let mut entries = Vec::new();
    for (name, path) in names(path)? {
        if path.is_dir() {
            for (file, path) in names(&path)?.into_iter().filter(|(_, path)| path.is_file()) {
                entries.push(Entry { path, label: Some(name.clone()), file: format!("{name}/{file}") });
            }
        } else if path.is_file() {
            entries.push(Entry { path, label: None, file: name });
        }
    }
    Ok(entries)
}

fn texts_of(entries: &[Entry], run: &Run) -> Result<Cells> {
    let mut texts: Vec<String> = Vec::with_capacity(entries.len());
    each(entries, "texts", run, |entry| read_text(&entry.path), |_, text| texts.push(text))?;
    let data = ColumnData::Texts(texts.iter().map(|text| Some(text.as_str())).collect());
    let column = Column { name: "text".into(), kind: Kind::Text, data, why: String::new(), label_type: None };
    Ok(with_labels(vec!["text".into()], vec![Raw::Typed(column)], &entries.iter().collect::<Vec<_>>()))
}

/// UTF-8, or else one letter per byte, as older texts are written.
fn read_text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| Error::file(path.display().to_string(), e))?;
    if bytes.contains(&0) {
        return Err(Error::table(
            Place { file: Some(path.display().to_string()), ..Place::default() },
            "this is a binary file, not a text",
            "Remove it from the folder.",
        ));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect()))
}

/// Does something with every file, on all threads, and takes the results in the order of the files.
pub(super) fn each<'a, T: Send>(
    entries: &'a [Entry],
    stage: &str,
    run: &Run,
    work: impl Fn(&Entry) -> Result<T> + Sync + Send,
    mut take: impl FnMut(&'a Entry, T),
) -> Result<()> {
    let (mut done, mut pace) = (0, Pace::new(16));
    while done < entries.len() {
        run.progress(stage, done, entries.len());
        let some = &entries[done..(done + pace.next()).min(entries.len())];
        for (entry, found) in some.iter().zip(run.map(some.len(), |k| work(&some[k]))) {
            take(entry, found?);
        }
        done += some.len();
        run.check_cancelled()?;
    }
    Ok(())
}

/// Puts labels and file names beside columns, a row for each of these entries.
pub(super) fn with_labels(mut names: Vec<String>, mut columns: Vec<Raw>, rows: &[&Entry]) -> Cells {
    if rows.iter().any(|entry| entry.label.is_some()) {
        let labels: LargeStringArray = rows.iter().map(|entry| entry.label.as_deref()).collect();
        let data = kind::categories(&labels);
        names.push("label".into());
        columns.push(Raw::Typed(Column {
            name: "label".into(),
            kind: Kind::Category,
            data,
            why: String::new(),
            label_type: None,
        }));
    }
    let files: LargeStringArray = rows.iter().map(|entry| Some(entry.file.as_str())).collect();
    names.push("file".into());
    columns.push(Raw::Typed(Column { why: "names of files".into(), ..kind::ignored("file".into(), files) }));
    Cells { names, columns, rows: rows.len(), ..Cells::default() }
}

#[cfg(not(feature = "images"))]
fn pictures_of(entries: &[Entry], _: super::Pictures, _: &Run) -> Result<Cells> {
    Err(Error::table(
        Place { file: Some(entries[0].path.display().to_string()), ..Place::default() },
        "this build of quince does not read pictures",
        "Build it with the feature images.",
    ))
}

#[cfg(feature = "images")]
use super::picture::pictures_of;

#[cfg(all(test, feature = "images"))]
impl Entry {
    pub(super) fn test() -> Entry {
        Entry { path: "test.png".into(), label: None, file: "test.png".into() }
    }
}
