//! The command as a user runs it: what it prints, where, with which exit code, and what it leaves behind.

mod bad_input;
mod bayes;
mod clustering;
mod commands;
mod interrupting;
mod mixtures;
mod notes;
mod outputs;
mod real_tables;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of this test's own, in which commands are run.
struct Bench {
    folder: PathBuf,
}

/// What a command answered.
struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Bench { folder }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Bench {
        std::fs::write(self.folder.join(name), content).unwrap();
        self
    }

    fn example(&self, name: &str) -> &Bench {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data").join(name);
        std::fs::copy(from, self.folder.join(name)).unwrap();
        self
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quince"));
        command.args(line.split_whitespace()).current_dir(&self.folder);
        command
    }

    fn run(&self, line: &str) -> Answer {
        Answer::of(self.command(line).output().unwrap())
    }

    /// Runs a command that must succeed.
    #[track_caller]
    fn ok(&self, line: &str) -> Answer {
        let answer = self.run(line);
        assert_eq!(answer.code, Some(0), "{line}\n{}", answer.err);
        answer
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = std::fs::read_dir(&self.folder).unwrap().map(name).collect();
        names.sort();
        names
    }
}

impl Answer {
    fn of(output: Output) -> Answer {
        Answer {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }
}
