//! A page as it was written: its text, and the headings that links may point to.

use crate::Problem;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::path::{Path, PathBuf};

/// A Markdown page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// The path below `docs` without its ending, for example `methods/ridge`.
    pub(crate) name: String,
    /// The file, for messages.
    pub(crate) file: String,
    pub(crate) source: String,
    pub(crate) headings: Vec<Heading>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) level: u8,
    pub(crate) text: String,
    /// What stands behind `#` in a link: as GitHub makes it, so that links work there too.
    pub(crate) anchor: String,
}

/// CommonMark with tables, footnotes and formulas.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_MATH
}

impl Page {
    pub(crate) fn new(name: &str, file: &str, source: &str) -> Page {
        Page { name: name.into(), file: file.into(), source: source.replace("\r\n", "\n"), headings: headings(source) }
    }

    /// The text of the first heading.
    pub(crate) fn title(&self) -> &str {
        self.headings.first().map_or(self.name.as_str(), |heading| heading.text.as_str())
    }

    /// The way from this page up to the top of the site: empty or `../`.
    pub(crate) fn up(&self) -> String {
        "../".repeat(self.name.matches('/').count())
    }

    pub(crate) fn has_anchor(&self, anchor: &str) -> bool {
        self.headings.iter().any(|heading| heading.anchor == anchor)
    }
}

/// Reads every page below `docs`, leaving out the generator's own folder, in the order of their names.
pub(crate) fn read_all(docs: &Path) -> Result<Vec<Page>, Vec<Problem>> {
    let wrong = |path: &Path, what: &str| vec![Problem::new(path.display().to_string(), None, what.to_string())];
    let mut files = Vec::new();
    collect(docs, &mut files).map_err(|e| wrong(docs, &format!("the folder cannot be read ({e}).")))?;
    files.sort();
    let mut pages = Vec::new();
    for path in files {
        let source = std::fs::read_to_string(&path).map_err(|e| wrong(&path, &format!("cannot be read ({e}).")))?;
        let name = path.strip_prefix(docs).unwrap_or(&path).with_extension("").to_string_lossy().replace('\\', "/");
        let page = Page::new(&name, &path.display().to_string(), &source);
        if page.headings.iter().filter(|heading| heading.level == 1).count() != 1 || page.headings[0].level != 1 {
            return Err(wrong(&path, "a page begins with its title (`# Title`) and has no second one."));
        }
        pages.push(page);
    }
    if pages.is_empty() {
        return Err(wrong(docs, "there is no page in this folder."));
    }
    Ok(pages)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "generator") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
    Ok(())
}

fn headings(source: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut seen = std::collections::BTreeMap::new();
    let mut open: Option<(u8, String)> = None;
    for event in Parser::new_ext(source, options()) {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { level, .. }), _) => open = Some((level as u8, String::new())),
            (Event::Text(text) | Event::Code(text) | Event::InlineMath(text), Some((_, words))) => {
                words.push_str(&text)
            }
            (Event::End(TagEnd::Heading(_)), _) => {
                if let Some((level, text)) = open.take() {
                    let slug = slug(&text);
                    let before = seen.entry(slug.clone()).or_insert(0);
                    let anchor = match *before {
                        0 => slug,
                        count => format!("{slug}-{count}"),
                    };
                    *before += 1;
                    headings.push(Heading { level, text, anchor });
                }
            }
            _ => {}
        }
    }
    headings
}

/// Lower case, spaces as hyphens, punctuation left out.
pub(crate) fn slug(text: &str) -> String {
    let lower = text.trim().to_lowercase();
    let keep = |c: &char| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_';
    lower.chars().filter(keep).collect::<String>().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_github_and_never_twice_the_same() {
        let page = Page::new("x", "x.md", "# A `b` C!\n## Log loss\n## Log loss\n");
        let anchors: Vec<&str> = page.headings.iter().map(|h| h.anchor.as_str()).collect();
        assert_eq!(anchors, ["a-b-c", "log-loss", "log-loss-1"]);
        assert_eq!(page.title(), "A b C!");
    }
}
