//! Makes the guide, and keeps the README's table of methods as the registry has it.

use quince_guide::{Problem, build, readme};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: quince-guide DOCS OUT                         make the guide
       quince-guide --readme README.md --check       is its table of methods the registry's?
       quince-guide --readme README.md --update      make it so";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--readme", path, "--check"] => report(path, readme::check(Path::new(path))),
        ["--readme", path, "--update"] => report(path, readme::update(Path::new(path))),
        ["-h" | "--help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        [docs, out] if !docs.starts_with('-') && !out.starts_with('-') => make(docs, out),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn make(docs: &str, out: &str) -> ExitCode {
    let start = Instant::now();
    match build(Path::new(docs), Path::new(out)) {
        Ok(made) => {
            eprintln!(
                "{out}: {} pages, {} formulas and {} links in {:.2} s",
                made.pages,
                made.formulas,
                made.links,
                start.elapsed().as_secs_f64()
            );
            ExitCode::SUCCESS
        }
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            let count = problems.len();
            let noun = if count == 1 { "problem" } else { "problems" };
            eprintln!("{count} {noun}: no guide was written");
            ExitCode::FAILURE
        }
    }
}

fn report(path: &str, result: Result<bool, Problem>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("{path}: there is no block of methods here (<!-- methods:begin --> to <!-- methods:end -->).");
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
