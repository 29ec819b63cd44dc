//! Every command that the guide shows in a `console` block is run, and prints what the guide says.
//!
//! With `QUINCE_GUIDE_UPDATE=1` in the environment, what has changed is written into the pages instead (where no `...`
//! stands for some of it): look at the difference before you keep it.
#![cfg(unix)]

use quince_guide::console::{agrees, commands};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn what_the_guide_shows_in_a_terminal_is_what_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let binary = quince_binary(&root);
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let mut wrong = Vec::new();
    let mut count = 0;
    let update = std::env::var_os("QUINCE_GUIDE_UPDATE").is_some();
    for (_, file, text) in quince_guide::sources(&root.join("docs")).unwrap() {
        let mut page: Vec<String> = text.lines().map(String::from).collect();
        let mut shift = 0isize;
        // The commands of a page follow each other in one folder, in which `examples` is the repository's.
        let folder = tempfile::TempDir::new().unwrap();
        std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples")).unwrap();
        for command in commands(&text) {
            count += 1;
            let output = Command::new("sh")
                .args(["-c", &format!("exec 2>&1; {}", command.text)])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env("NO_COLOR", "1")
                .output()
                .unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            // How far it has come is said by a slow machine alone.
            let says_how_far = |line: &&str| line.starts_with("quince: ") && line.ends_with(" s");
            let lines: Vec<&str> = printed.lines().filter(|line| !says_how_far(line)).collect();
            let place = format!("{file}:{}: `{}`", command.line, command.text);
            if output.status.success() == command.fails {
                wrong.push(format!("{place} ended with {}:\n{printed}", output.status));
            } else if !command.output.is_empty() && !agrees(&command.output, &lines) {
                if update && !command.output.iter().any(|line| line.contains("...")) {
                    let first = (command.line as isize + shift) as usize;
                    let new = lines.iter().map(|line| line.trim_end().to_string());
                    page.splice(first..first + command.output.len(), new);
                    shift += lines.len() as isize - command.output.len() as isize;
                    continue;
                }
                wrong.push(format!("{place} printed something else:\n{printed}"));
            }
        }
        if update {
            std::fs::write(&file, page.join("\n") + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 0, "the guide shows no command");
}

/// The command, beside this test in the target folder; built if it is not there yet.
fn quince_binary(root: &Path) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().and_then(Path::parent).unwrap();
    let binary = folder.join("quince");
    if !binary.exists() {
        let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
        cargo.args(["build", "--quiet", "--package", "quince-cli"]).current_dir(root);
        cargo.arg("--target-dir").arg(folder.parent().unwrap());
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "the command quince cannot be built");
    }
    binary
}
