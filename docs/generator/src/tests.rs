//! What a wrong page gets: a sentence with its file and line, and no site.

use crate::contents::order;
use crate::{build, readme};
use quince::registry::METHODS;
use std::path::PathBuf;
use tempfile::TempDir;

/// A guide with every page it needs, all of them short.
struct Small {
    folder: TempDir,
}

impl Small {
    fn new() -> Small {
        let small = Small { folder: TempDir::new().unwrap() };
        for name in order() {
            let method = METHODS.iter().find(|method| name == format!("methods/{}", method.info.name));
            let mut text = format!("# {}\n", method.map_or(name.as_str(), |method| method.info.title));
            if let Some(method) = method {
                text += &format!("\n<!-- registry: settings {} -->\n", method.info.name);
                for setting in method.info.settings {
                    if let quince::learn::Domain::Choice(words) = setting.domain {
                        text += &format!("\n`{}`\n", words.join("` `"));
                    }
                }
            }
            small.write(&format!("{name}.md"), &text);
        }
        small
    }

    fn with(file: &str, text: &str) -> Small {
        let small = Small::new();
        small.write(file, text);
        small
    }

    fn docs(&self) -> PathBuf {
        self.folder.path().join("docs")
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("site")
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.docs().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What is wrong, with the temporary folder's name left out.
    fn problems(&self) -> Vec<String> {
        let problems = build(&self.docs(), &self.out()).expect_err("the build should be refused");
        assert!(!self.out().exists(), "a refused build must write nothing");
        let place = format!("{}/", self.folder.path().display());
        problems.iter().map(|problem| problem.to_string().replace(&place, "")).collect()
    }

    fn page(&self, name: &str) -> String {
        std::fs::read_to_string(self.out().join(name)).unwrap()
    }
}

#[test]
fn a_sound_guide_becomes_pages_that_fetch_nothing() {
    let small = Small::with(
        "index.md",
        "# Quince\n\n## A part\n\nTo [tables](tables.md#tables), [here](#a-part), $x^2$.\n\n<!-- note: for writers -->\n\n<!-- registry: methods -->\n",
    );
    let made = build(&small.docs(), &small.out()).unwrap();
    assert_eq!((made.pages, made.formulas), (order().len(), 1));
    let page = small.page("index.html");
    assert!(page.contains("href=\"tables.html#tables\"") && page.contains("<math"));
    assert!(page.contains("href=\"methods/ridge.html\"") && !page.contains("for writers"));
    let method = small.page("methods/ridge.html");
    assert!(method.contains("href=\"../guide.css\"") && method.contains("<code>alpha</code>"));
    // A browser 360 pixels wide scrolled five pages sideways, for a long name or a long command in a sentence.
    let style = small.page("guide.css");
    let (_, narrow) = style.split_once("@media (max-width: 60rem)").unwrap();
    assert!(narrow.contains("overflow-wrap: break-word") && narrow.contains("white-space: normal"));
    for text in [&page, &method] {
        assert!(
            !text.contains("<script")
                && !text.contains("src=\"http")
                && !text.contains("<link rel=\"stylesheet\" href=\"http")
        );
    }
    // Made again over itself, but never over a folder of something else.
    build(&small.docs(), &small.out()).unwrap();
    let problems = build(&small.docs(), &small.docs()).unwrap_err();
    assert!(problems[0].sentence.contains("not empty"), "{problems:?}");
}

#[test]
fn an_unknown_directive_is_refused() {
    let small = Small::with("tables.md", "# T\n\n<!-- registry: knids -->\n\n<!-- regsitry: kinds -->\n");
    assert_eq!(
        small.problems(),
        [
            "docs/tables.md:3: there is no directive 'registry: knids': use methods, info NAME, settings NAME, python, metrics, kinds or encoding.",
            "docs/tables.md:5: there is no directive 'regsitry': use registry, picture or note.",
        ]
    );
    let small = Small::with("tables.md", "# T\n\n<!-- registry: settings rigde -->\n");
    assert_eq!(small.problems(), ["docs/tables.md:3: there is no method called 'rigde'. Did you mean 'ridge'?"]);
    let small = Small::with("tables.md", "# T\n\n<!-- picture: cat -->\n");
    assert!(small.problems()[0].starts_with("docs/tables.md:3: there is no picture 'cat'"));
    let small = Small::with("tables.md", "# T\n\nA line with <!-- registry: kinds --> inside.\n");
    assert!(small.problems()[0].starts_with("docs/tables.md:3: HTML and directives inside a line"));
}

#[test]
fn a_method_without_a_page_and_a_page_without_a_method_are_refused() {
    let small = Small::with("methods/oracle.md", "# Oracle\n");
    std::fs::remove_file(small.docs().join("methods/ridge.md")).unwrap();
    let problems = small.problems();
    assert_eq!(
        problems,
        [
            "docs/methods/oracle.md: there is a page for 'oracle', but no such method in the registry.",
            "docs/methods/ridge.md: the method 'ridge' of the registry has no page: write this file.",
        ]
    );
}

#[test]
fn a_page_must_be_in_the_contents_and_the_contents_must_be_pages() {
    let small = Small::with("lost.md", "# Lost\n");
    std::fs::remove_file(small.docs().join("install.md")).unwrap();
    assert_eq!(
        small.problems(),
        [
            "docs/install.md: the contents (docs/generator/src/contents.rs) name a page that is not there.",
            "docs/lost.md: the page is not in the contents: add it in docs/generator/src/contents.rs.",
        ]
    );
}

#[test]
fn a_method_page_has_the_registrys_title_and_explains_every_choice() {
    let small = Small::with("methods/baseline.md", "# Dummy\n\n`auto` `prior`\n");
    let problems = small.problems();
    let has = |text: &str| problems.iter().any(|problem| problem == text);
    assert!(has("docs/methods/baseline.md:1: the page is called 'Dummy', the registry calls the method 'Baseline'."));
    assert!(has(
        "docs/methods/baseline.md: the choice 'uniform' of the setting 'strategy' is not explained on this page."
    ));
    assert!(!problems.iter().any(|problem| problem.contains("'prior'")));
}

#[test]
fn a_broken_link_anchor_or_picture_is_refused() {
    let small = Small::with(
        "methods/ridge.md",
        "# Ridge\n\n[a](../nowhere.md)\n[b](../tables.md#nothing)\n[c](#no)\n[d](../../../etc/passwd)\n\n![e](no.png)\n[f](https://example.org)\n[g](tables.html)\n",
    );
    assert_eq!(
        small.problems(),
        [
            "docs/methods/ridge.md:3: the link to '../nowhere.md' leads nowhere: links name a page (ending in .md) or https://.",
            "docs/methods/ridge.md:4: the link to '../tables.md#nothing' leads nowhere: no heading there is '#nothing'.",
            "docs/methods/ridge.md:5: the link to '#no' leads nowhere: no heading there is '#no'.",
            "docs/methods/ridge.md:6: the link to '../../../etc/passwd' leads nowhere: links name a page (ending in .md) or https://.",
            "docs/methods/ridge.md:8: the picture 'no.png' is not there: pictures lie beside the pages.",
            "docs/methods/ridge.md:10: the link to 'tables.html' leads nowhere: links name a page (ending in .md) or https://.",
        ]
    );
}

#[test]
fn a_picture_beside_a_page_is_copied() {
    let small = Small::with("tables.md", "# T\n\n![a dot](dot.png)\n");
    std::fs::write(small.docs().join("dot.png"), b"png").unwrap();
    build(&small.docs(), &small.out()).unwrap();
    assert_eq!(std::fs::read(small.out().join("dot.png")).unwrap(), b"png");
}

#[test]
fn a_metric_without_a_heading_is_refused() {
    let small = Small::with("evaluation.md", "# E\n\n<!-- registry: metrics -->\n\n## Log loss\n");
    let problems = small.problems();
    assert!(problems[0].starts_with("docs/evaluation.md:3: the link to '#accuracy' leads nowhere"));
    assert!(!problems.iter().any(|problem| problem.contains("#log-loss")));
}

#[test]
fn a_formula_that_cannot_be_read_is_refused() {
    let small = Small::with(
        "rules.md",
        "# R\n\nfine $a_1$ for 5 \\$\n\n$$\n\\frac{1}{2}^2^2\n$$\n\n$\\frac{1}{$\n\n$$\n\\frac{1}{\n$$\n",
    );
    let problems = small.problems();
    assert!(
        problems[0].starts_with("docs/rules.md:5: the formula `\\frac{1}{2}^2^2` cannot be read: "),
        "{problems:?}"
    );
    let unclosed = "a formula is not closed, or its braces do not match";
    assert!(problems[1].starts_with(&format!("docs/rules.md:9: {unclosed}")), "{problems:?}");
    assert!(problems[2].starts_with(&format!("docs/rules.md:11: {unclosed}")), "{problems:?}");
}

#[test]
fn raw_html_unknown_languages_and_second_titles_are_refused() {
    let small = Small::with("rules.md", "# R\n\n<div>x</div>\n\n```rats\nlet x = 1;\n```\n");
    let problems = small.problems();
    assert!(problems[0].starts_with("docs/rules.md:3: HTML is not allowed"), "{problems:?}");
    assert!(problems[1].starts_with("docs/rules.md:5: a fenced block cannot be of the language 'rats'"));
    let small = Small::with("rules.md", "# R\n\n# Again\n");
    assert_eq!(small.problems(), ["docs/rules.md: a page begins with its title (`# Title`) and has no second one."]);
}

#[test]
fn a_stale_readme_is_refused_and_renewed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("README.md");
    std::fs::write(&path, "# q\n").unwrap();
    assert_eq!(readme::check(&path), Ok(false));
    std::fs::write(&path, "# q\n\n<!-- methods:begin -->\nold\n<!-- methods:end -->\n\nend\n").unwrap();
    let problem = readme::check(&path).unwrap_err();
    assert_eq!(problem.line, Some(4));
    assert!(problem.sentence.contains("is not the registry's"));
    assert_eq!(readme::update(&path), Ok(true));
    assert_eq!(readme::check(&path), Ok(true));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("[Ridge](docs/methods/ridge.md)") && text.ends_with("<!-- methods:end -->\n\nend\n"));
    std::fs::write(&path, "<!-- methods:end -->\n").unwrap();
    assert!(readme::check(&path).unwrap_err().sentence.contains("belong together"));
}
