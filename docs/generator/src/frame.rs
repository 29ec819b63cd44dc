//! The frame around every page: contents at the side, the way to the pages before and behind.

use crate::contents::{CONTENTS, order};
use crate::page::Page;
use crate::render::escape;

/// A quince, as the site's icon.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E\
%3Cpath d='M16 9c-7-2-12 4-11 11 1 6 6 10 11 9 5 1 10-3 11-9 1-7-4-13-11-11z' fill='%23e3b81f'/%3E\
%3Cpath d='M16 9c0-4 3-7 8-7 0 5-3 8-8 7z' fill='%235d8a3a'/%3E%3C/svg%3E";

/// The whole HTML file of a page.
pub(crate) fn frame(page: &Page, pages: &[Page], body: &str) -> String {
    let up = page.up();
    let title = escape(page.title());
    let full_title = if page.name == "index" { format!("{title}: the guide") } else { format!("{title} · quince") };
    format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{full_title}</title>\n\
         <link rel=\"icon\" href=\"{ICON}\">\n\
         <link rel=\"stylesheet\" href=\"{up}guide.css\">\n\
         </head>\n\
         <body>\n\
         <a class=\"skip\" href=\"#text\">To the text</a>\n\
         <header><a class=\"brand\" href=\"{up}index.html\">quince</a><label for=\"menu\">Contents</label></header>\n\
         <input type=\"checkbox\" id=\"menu\" aria-label=\"Show the contents\">\n\
         <nav aria-label=\"Contents\">\n{contents}</nav>\n\
         <main id=\"text\">\n{body}{neighbours}</main>\n\
         </body>\n\
         </html>\n",
        contents = contents(page, pages),
        neighbours = neighbours(page, pages),
    )
}

fn contents(page: &Page, pages: &[Page]) -> String {
    let mut html = String::new();
    for section in CONTENTS {
        html.push_str(&format!("<h2>{}</h2>\n<ul>\n", section.title));
        for name in section.names() {
            let Some(other) = pages.iter().find(|page| page.name == name) else {
                continue;
            };
            let below = if name.starts_with("methods/") { " class=\"below\"" } else { "" };
            let here = if name == page.name { " aria-current=\"page\"" } else { "" };
            let link = format!("<a href=\"{}{name}.html\"{here}>{}</a>", page.up(), escape(other.title()));
            let headings = if name == page.name { sections_of(page) } else { String::new() };
            html.push_str(&format!("<li{below}>{link}{headings}</li>\n"));
        }
        html.push_str("</ul>\n");
    }
    html
}

/// The second-level headings of a page, if there are several.
fn sections_of(page: &Page) -> String {
    let headings: Vec<String> = page
        .headings
        .iter()
        .filter(|heading| heading.level == 2)
        .map(|heading| format!("<li><a href=\"#{}\">{}</a></li>", heading.anchor, escape(&heading.text)))
        .collect();
    if headings.len() < 2 {
        return String::new();
    }
    format!("\n<ul>{}</ul>\n", headings.join(""))
}

fn neighbours(page: &Page, pages: &[Page]) -> String {
    let order = order();
    let Some(place) = order.iter().position(|name| *name == page.name) else {
        return String::new();
    };
    let link = |place: Option<usize>, word: &str, rel: &str| {
        let name = place.and_then(|place| order.get(place))?;
        let other = pages.iter().find(|page| page.name == *name)?;
        Some(format!(
            "<a rel=\"{rel}\" href=\"{}{name}.html\"><span>{word}</span>{}</a>",
            page.up(),
            escape(other.title())
        ))
    };
    let before = link(place.checked_sub(1), "Before", "prev").unwrap_or_else(|| "<span></span>".into());
    let next = link(Some(place + 1), "Next", "next").unwrap_or_default();
    format!("<footer>{before}{next}</footer>\n")
}
