//! Blocks of the kind `console`: commands that a reader may type, which a test really runs.
//!
//! ````text
//! ```console
//! $ quince models
//! what it prints; ... stands for anything, and a line of ... for any lines
//! ```
//! ````
//!
//! A time (`215 µs`, `1.2 s`) stands for any time, and spaces for any number of spaces, because times move columns. A
//! number below 1e-9 (`1.1e-16`) stands for any such number: it is rounding, and differs from one processor to the next.
//! A command whose output is not shown must only succeed. In a block of the kind `console fails` it must fail.

use crate::page::options;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// A command, and what it is said to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The line of the page.
    pub line: usize,
    /// What is typed.
    pub text: String,
    /// What comes out, if it is shown.
    pub output: Vec<String>,
    /// Whether it is said to fail.
    pub fails: bool,
}

/// The commands of a page, in order.
pub fn commands(markdown: &str) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut open: Option<(bool, usize)> = None;
    for (event, range) in Parser::new_ext(markdown, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) if language.starts_with("console") => {
                let line = 1 + markdown[..range.start].matches('\n').count();
                open = Some((language.contains("fails"), line));
            }
            Event::Text(text) if open.is_some() => {
                let (fails, first) = open.unwrap_or_default();
                for (i, line) in text.lines().enumerate() {
                    match line.strip_prefix("$ ") {
                        Some(command) => commands.push(Command {
                            line: first + 1 + i,
                            text: command.to_string(),
                            output: Vec::new(),
                            fails,
                        }),
                        None => {
                            if let Some(command) = commands.last_mut() {
                                command.output.push(line.trim_end().to_string());
                            }
                        }
                    }
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                open = None;
                if let Some(command) = commands.last_mut() {
                    while command.output.last().is_some_and(String::is_empty) {
                        command.output.pop();
                    }
                }
            }
            _ => {}
        }
    }
    commands
}

/// Whether what a command printed is what the page shows.
pub fn agrees(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.iter().all(|line| line.trim().is_empty()),
        Some((line, rest)) if line.trim() == "..." => {
            (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..]))
        }
        Some((line, rest)) => {
            let same = printed.first().is_some_and(|first| line_agrees(&plain(line), &plain(first)));
            same && agrees(rest, &printed[1..])
        }
    }
}

/// A line with single spaces, and with names for times and for rounding errors.
fn plain(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let number = words.last().is_some_and(|last| last.parse::<f64>().is_ok());
        if number && ["µs", "ms", "s"].contains(&word) {
            words.pop();
            words.push("TIME");
        } else if word.contains('e') && word.parse::<f64>().is_ok_and(|number| number.abs() < 1e-9) {
            words.push("TINY");
        } else {
            words.push(word);
        }
    }
    words.join(" ")
}

/// `...` within a line stands for any characters.
fn line_agrees(shown: &str, printed: &str) -> bool {
    match shown.split_once("...") {
        None => shown == printed,
        Some((head, tail)) => printed.strip_prefix(head).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| line_agrees(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_with_their_lines_and_output() {
        let page = "# A\n\n```console\n$ quince models\none\ntwo\n\n$ quince x\n```\n\n```sh\n$ not run\n```\n";
        let found = commands(page);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].text.as_str()), (4, "quince models"));
        assert_eq!(found[0].output, ["one", "two", ""]);
        assert_eq!((found[1].line, found[1].output.len()), (8, 0));
        assert!(commands("```console fails\n$ quince y\n```\n")[0].fails);
    }

    #[test]
    fn dots_stand_for_anything_and_everything_else_for_itself() {
        let shown = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
        assert!(agrees(&shown("a 1 ... x\nb"), &["a 1 and 2 x", "b"]));
        assert!(agrees(&shown("a\n...\nz"), &["a", "b", "c", "z"]));
        assert!(agrees(&shown("a\n..."), &["a"]));
        assert!(agrees(&shown("a  1.5  12 µs  3 s"), &["a 1.5  0.7 ms 1.25 s"]));
        assert!(!agrees(&shown("a  1.5  12 µs"), &["a 1.6  12 µs"]));
        assert!(agrees(&shown("gradient 1.1e-16"), &["gradient 0.0e0"]));
        assert!(!agrees(&shown("gradient 1.1e-16"), &["gradient 1.3e-6"]));
        assert!(!agrees(&shown("a\nb"), &["a", "c"]));
        assert!(!agrees(&shown("a"), &["a", "b"]));
        assert!(!agrees(&shown("a\nb"), &["a"]));
    }
}
