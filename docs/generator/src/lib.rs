//! The generator of the user's guide: `docs/*.md` and quince's registries in, a folder of plain HTML out.
//!
//! ```text
//! docs/*.md ─► Page ─► render ─► frame ─► OUT/*.html      (one style sheet, one font, no script, nothing fetched)
//!                        ▲
//!      registry tables ──┴── formulas as MathML, pictures as SVG, both made here
//! ```
//!
//! Nothing that the code knows is written by hand: a comment such as `<!-- registry: settings ridge -->` stands where
//! a table of the registry goes. What is wrong in a page is a [`Problem`] with its file and line, and no site is written:
//! an unknown directive, a method without a page, a page without a method, a broken link, a formula that cannot be read.

pub mod console;
mod contents;
mod formula;
mod frame;
mod page;
mod picture;
pub mod readme;
mod registry;
mod render;

use std::path::{Path, PathBuf};

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file, as it was found.
    pub file: String,
    /// The line, counted from 1, where one can be named.
    pub line: Option<usize>,
    /// A sentence.
    pub sentence: String,
}

impl Problem {
    fn new(file: impl Into<String>, line: impl Into<Option<usize>>, sentence: impl Into<String>) -> Problem {
        Problem { file: file.into(), line: line.into(), sentence: sentence.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.sentence),
            None => write!(f, "{}: {}", self.file, self.sentence),
        }
    }
}

/// What was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Pages written.
    pub pages: usize,
    /// Formulas turned into MathML.
    pub formulas: usize,
    /// Links and pictures that were followed.
    pub links: usize,
}

/// Makes the site of the guide in `docs` and writes it to the folder `out`, all of it or, if anything is wrong, nothing.
pub fn build(docs: &Path, out: &Path) -> Result<Summary, Vec<Problem>> {
    let pages = page::read_all(docs)?;
    let mut problems = contents::problems(docs, &pages);
    let mut summary = Summary { pages: pages.len(), ..Summary::default() };
    let mut files: Vec<(PathBuf, Vec<u8>)> = vec![
        ("guide.css".into(), include_bytes!("../assets/guide.css").to_vec()),
        ("math.woff2".into(), include_bytes!("../assets/math.woff2").to_vec()),
        ("math-licence.txt".into(), include_bytes!("../assets/OFL.txt").to_vec()),
    ];
    for page in &pages {
        let rendered = render::render(page, &pages, docs);
        problems.extend(rendered.problems);
        summary.formulas += rendered.formulas;
        summary.links += rendered.links;
        files.extend(rendered.images);
        files.push((format!("{}.html", page.name).into(), frame::frame(page, &pages, &rendered.html).into_bytes()));
    }
    if !problems.is_empty() {
        problems.sort();
        problems.dedup();
        return Err(problems);
    }
    write_site(out, &files).map_err(|problem| vec![problem])?;
    Ok(summary)
}

/// Every Markdown page of the guide as `(name, file, text)`, for the tests that run what the pages show.
pub fn sources(docs: &Path) -> Result<Vec<(String, String, String)>, Vec<Problem>> {
    let pages = page::read_all(docs)?;
    Ok(pages.into_iter().map(|page| (page.name, page.file, page.source)).collect())
}

/// A file that says: this folder was made by the generator and may be made again.
const MARK: &str = ".quince-guide";

fn write_site(out: &Path, files: &[(PathBuf, Vec<u8>)]) -> Result<(), Problem> {
    let wrong = |path: &Path, what: String| Problem::new(path.display().to_string(), None, what);
    let occupied = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !out.join(MARK).exists() {
        return Err(wrong(out, "the folder is not empty and holds no guide: name a new folder.".into()));
    }
    if occupied {
        std::fs::remove_dir_all(out).map_err(|e| wrong(out, format!("cannot be emptied ({e}).")))?;
    }
    let mark = (PathBuf::from(MARK), Vec::new());
    for (name, bytes) in std::iter::once(&mark).chain(files) {
        let path = out.join(name);
        let folder = path.parent().unwrap_or(out);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, bytes))
            .map_err(|e| wrong(&path, format!("cannot be written ({e}).")))?;
    }
    Ok(())
}

/// Every Rust example of the guide is compiled and run as a documentation test: `build.rs` finds the pages.
#[cfg(doctest)]
mod rust_examples {
    include!(concat!(env!("OUT_DIR"), "/rust_examples.rs"));
}

#[cfg(test)]
mod tests;
