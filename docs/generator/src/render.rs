//! From the Markdown of a page to the HTML of its body.

use crate::page::{Page, options};
use crate::{Problem, formula, picture, registry};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Parser, Tag, TagEnd, html};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// The languages that a fenced block may have. `console` is run by a test, `sh` is only shown.
const LANGUAGES: [&str; 9] = ["console", "console fails", "sh", "text", "rust", "rust,no_run", "python", "json", "csv"];

/// The body of a page, and what came up on the way.
#[derive(Default)]
pub(crate) struct Rendered {
    pub(crate) html: String,
    pub(crate) problems: Vec<Problem>,
    pub(crate) formulas: usize,
    pub(crate) links: usize,
    /// Pictures to copy: their place in the site, and their bytes.
    pub(crate) images: Vec<(PathBuf, Vec<u8>)>,
}

pub(crate) fn render(page: &Page, pages: &[Page], docs: &Path) -> Rendered {
    let mut renderer = Renderer { page, pages, docs, fixed_line: None, next_heading: 0, done: Rendered::default() };
    let events = renderer.events(&page.source);
    html::push_html(&mut renderer.done.html, events.into_iter());
    renderer.done
}

struct Renderer<'a> {
    page: &'a Page,
    pages: &'a [Page],
    docs: &'a Path,
    /// The line of the directive whose Markdown is being rendered.
    fixed_line: Option<usize>,
    next_heading: usize,
    done: Rendered,
}

impl Renderer<'_> {
    fn events<'s>(&mut self, source: &'s str) -> Vec<Event<'s>> {
        let mut events = Vec::new();
        let mut code: Option<(String, String)> = None;
        for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
            let line = self.line(source, &range);
            match event {
                Event::Start(Tag::CodeBlock(kind)) => code = Some((self.language(kind, line), String::new())),
                Event::Text(text) if code.is_some() => {
                    if let Some((_, body)) = &mut code {
                        body.push_str(&text);
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((language, body)) = code.take() {
                        events.push(Event::Html(code_block(&language, &body).into()));
                    }
                }
                Event::Text(text) => {
                    self.check_text(&text, &source[..range.start], line);
                    events.push(Event::Text(text));
                }
                other => self.event(other, line, &mut events),
            }
        }
        events
    }

    /// Adds what becomes of anything but text and code.
    fn event<'s>(&mut self, event: Event<'s>, line: usize, events: &mut Vec<Event<'s>>) {
        match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let anchor = self.anchor();
                events.push(Event::Start(Tag::Heading { level, id: Some(anchor.clone().into()), classes, attrs }));
                if level as u8 > 1 {
                    let link = format!("<a class=\"here\" href=\"#{anchor}\" aria-label=\"Link to this\">#</a>");
                    events.push(Event::InlineHtml(link.into()));
                }
            }
            Event::Start(Tag::Table(alignments)) => {
                events.push(Event::Html("<div class=\"scroll\">".into()));
                events.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::Html("</div>\n".into()));
            }
            Event::InlineMath(latex) => events.push(Event::InlineHtml(self.formula(&latex, false, line).into())),
            Event::DisplayMath(latex) => events.push(Event::InlineHtml(self.formula(&latex, true, line).into())),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = self.link(&dest_url, link_type, line).into();
                events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url: CowStr<'_> = dest_url.into_string().into();
                self.image(&dest_url, line);
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
            Event::Html(text) => {
                let made = self.html_line(&text, line);
                events.extend(made);
            }
            Event::InlineHtml(_) => self.problem(
                line,
                "HTML and directives inside a line are not allowed: a directive stands on a line of its own.",
            ),
            other => events.push(other),
        }
    }

    /// The language of a block of code.
    fn language(&mut self, kind: CodeBlockKind<'_>, line: usize) -> String {
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.to_string(),
            CodeBlockKind::Indented => "text".into(),
        };
        if !LANGUAGES.contains(&language.as_str()) {
            let known = LANGUAGES.join(", ");
            let sentence = format!("a fenced block cannot be of the language '{language}': use {known}.");
            self.problem(line, sentence);
        }
        language
    }

    /// What was meant as a formula but is not closed, or has unequal braces, arrives as text.
    fn check_text(&mut self, text: &str, before: &str, line: usize) {
        let escaped = before.ends_with('\\');
        if text[usize::from(escaped && text.starts_with('$'))..].contains('$') {
            self.problem(line, "a formula is not closed, or its braces do not match (for the sign itself write \\$).");
        }
    }

    fn line(&self, source: &str, range: &Range<usize>) -> usize {
        self.fixed_line.unwrap_or_else(|| 1 + source[..range.start].matches('\n').count())
    }

    fn problem(&mut self, line: usize, sentence: impl Into<String>) {
        let problem = Problem::new(&self.page.file, line, sentence);
        self.done.problems.push(problem);
    }

    /// The anchor of the next heading: pages and their headings are read in the same order.
    fn anchor(&mut self) -> String {
        let heading = self.page.headings.get(self.next_heading);
        self.next_heading += 1;
        heading.map_or_else(String::new, |heading| heading.anchor.clone())
    }

    fn formula(&mut self, latex: &str, display: bool, line: usize) -> String {
        self.done.formulas += 1;
        match formula::mathml(latex, display) {
            Ok(mathml) if display => format!("<span class=\"formula\">{mathml}</span>"),
            Ok(mathml) => mathml,
            Err(sentence) => {
                self.problem(line, sentence);
                String::new()
            }
        }
    }

    /// A line of HTML must be a comment, and a comment a directive (or a note to writers, which is dropped).
    fn html_line(&mut self, text: &str, line: usize) -> Vec<Event<'static>> {
        let comment = text.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
        let Some(directive) = comment else {
            if !text.trim().is_empty() {
                self.problem(line, "HTML is not allowed in a page: write Markdown.");
            }
            return Vec::new();
        };
        let (kind, what) = directive.split_once(':').unwrap_or((directive, ""));
        let made = match kind.trim() {
            "note" => return Vec::new(),
            "registry" => registry::markdown(what.trim(), &self.page.up()),
            "picture" => {
                return match picture::figure(what.trim()) {
                    Ok(svg) => vec![Event::Html(svg.into())],
                    Err(sentence) => {
                        self.problem(line, sentence);
                        Vec::new()
                    }
                };
            }
            other => Err(format!("there is no directive '{other}': use registry, picture or note.")),
        };
        match made {
            Err(sentence) => {
                self.problem(line, sentence);
                Vec::new()
            }
            Ok(markdown) => {
                self.fixed_line = Some(line);
                let events = self.events(&markdown).into_iter().map(Event::into_static).collect();
                self.fixed_line = None;
                events
            }
        }
    }

    /// Where a link leads in the site. Links within the guide are followed.
    fn link(&mut self, target: &str, link_type: LinkType, line: usize) -> String {
        self.done.links += 1;
        let elsewhere = target.starts_with("https://") || target.starts_with("http://");
        if elsewhere || link_type == LinkType::Email {
            return target.to_string();
        }
        let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let page = if path.is_empty() {
            Some(self.page)
        } else {
            let name = self.resolve(path).and_then(|name| name.strip_suffix(".md").map(String::from));
            name.and_then(|name| self.pages.iter().find(|page| page.name == name))
        };
        let Some(page) = page else {
            let sentence =
                format!("the link to '{target}' leads nowhere: links name a page (ending in .md) or https://.");
            self.problem(line, sentence);
            return String::new();
        };
        if let Some(anchor) = anchor.filter(|anchor| !page.has_anchor(anchor)) {
            let sentence = format!("the link to '{target}' leads nowhere: no heading there is '#{anchor}'.");
            self.problem(line, sentence);
        }
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        if path.is_empty() { anchor } else { format!("{}.html{anchor}", path.trim_end_matches(".md")) }
    }

    fn image(&mut self, target: &str, line: usize) {
        self.done.links += 1;
        let place = self.resolve(target);
        let bytes = place.as_ref().and_then(|place| std::fs::read(self.docs.join(place)).ok());
        match (place, bytes) {
            (Some(place), Some(bytes)) => self.done.images.push((place.into(), bytes)),
            _ => self.problem(line, format!("the picture '{target}' is not there: pictures lie beside the pages.")),
        }
    }

    /// A path beside this page as a path below `docs`; `None` if it leads out of it.
    fn resolve(&self, path: &str) -> Option<String> {
        let mut parts: Vec<&str> = self.page.name.split('/').collect();
        parts.pop();
        for part in Path::new(path).components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::ParentDir => {
                    parts.pop()?;
                }
                Component::CurDir => {}
                _ => return None,
            }
        }
        Some(parts.join("/"))
    }
}

/// Code as HTML. In a terminal's block, prompts cannot be selected, so that copying takes the commands alone; from Rust,
/// lines that rustdoc hides are left out.
fn code_block(language: &str, body: &str) -> String {
    let class = language.split([' ', ',']).next().unwrap_or_default();
    let mut lines = String::new();
    for line in body.lines() {
        if class == "rust" && (line == "#" || line.starts_with("# ")) {
            continue;
        }
        match line.strip_prefix("$ ").filter(|_| class == "console" || class == "sh") {
            Some(command) => lines.push_str(&format!(
                "<span class=\"prompt\">$ </span><span class=\"command\">{}</span>",
                escape(command)
            )),
            None => lines.push_str(&escape(line)),
        }
        lines.push('\n');
    }
    format!("<pre class=\"{class}\"><code>{lines}</code></pre>\n")
}

/// Text as HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
