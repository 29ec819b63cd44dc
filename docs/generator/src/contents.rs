//! The order of the pages. Methods follow the registry, everything else stands here.

use crate::Problem;
use crate::page::Page;
use quince::registry::METHODS;
use std::path::Path;

/// A heading of the contents and the pages under it; `methods` behind a page stands for a page for each method.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) pages: &'static [&'static str],
    pub(crate) then_methods: bool,
}

const fn section(title: &'static str, pages: &'static [&'static str]) -> Section {
    Section { title, pages, then_methods: false }
}

pub(crate) const CONTENTS: &[Section] = &[
    section("Begin", &["index", "install"]),
    section("Tables", &["tables", "encoding"]),
    Section { title: "Methods", pages: &["models"], then_methods: true },
    section("Results", &["evaluation", "clusters", "saved-models"]),
    section("Reference", &["rust", "arrays", "python", "distributions", "rules", "glossary"]),
];

impl Section {
    /// The names of the pages, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let own = self.pages.iter().map(|name| name.to_string());
        let methods = METHODS.iter().filter(|_| self.then_methods);
        own.chain(methods.map(|method| method_page(method.info.name))).collect()
    }
}

/// All pages in reading order.
pub(crate) fn order() -> Vec<String> {
    CONTENTS.iter().flat_map(Section::names).collect()
}

/// The page of a method.
pub(crate) fn method_page(method: &str) -> String {
    format!("methods/{method}")
}

/// Pages that are missing, pages that nobody asked for, and method pages that leave something out.
pub(crate) fn problems(docs: &Path, pages: &[Page]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let find = |name: &str| pages.iter().find(|page| page.name == name);
    let file_of = |name: &str| docs.join(format!("{name}.md")).display().to_string();
    for method in METHODS {
        let (info, name) = (method.info, method_page(method.info.name));
        let Some(page) = find(&name) else {
            let sentence = format!("the method '{}' of the registry has no page: write this file.", info.name);
            problems.push(Problem::new(file_of(&name), None, sentence));
            continue;
        };
        if page.title() != info.title {
            let sentence =
                format!("the page is called '{}', the registry calls the method '{}'.", page.title(), info.title);
            problems.push(Problem::new(&page.file, 1, sentence));
        }
        for (setting, word) in choices(info) {
            if !page.source.contains(&format!("`{word}`")) {
                let sentence = format!("the choice '{word}' of the setting '{setting}' is not explained on this page.");
                problems.push(Problem::new(&page.file, None, sentence));
            }
        }
    }
    for section in CONTENTS {
        for name in section.pages.iter().filter(|name| find(name).is_none()) {
            let sentence = "the contents (docs/generator/src/contents.rs) name a page that is not there.";
            problems.push(Problem::new(file_of(name), None, sentence));
        }
    }
    let order = order();
    for page in pages.iter().filter(|page| !order.contains(&page.name)) {
        let sentence = match page.name.strip_prefix("methods/") {
            Some(method) => format!("there is a page for '{method}', but no such method in the registry."),
            None => "the page is not in the contents: add it in docs/generator/src/contents.rs.".into(),
        };
        problems.push(Problem::new(&page.file, None, sentence));
    }
    problems
}

/// The words that settings of a method may be, each with its setting.
fn choices(info: &'static quince::learn::MethodInfo) -> impl Iterator<Item = (&'static str, &'static &'static str)> {
    info.settings.iter().flat_map(|setting| {
        let words: &[&str] = match setting.domain {
            quince::learn::Domain::Choice(words) => words,
            _ => &[],
        };
        words.iter().map(|word| (setting.name, word))
    })
}
