//! Ctrl-C and progress.

use crate::{Answer, Bench};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// A table on which ridge takes several seconds: words make wide, dense-ish work.
fn slow_table() -> String {
    let mut table = "y".to_string();
    (0..400).for_each(|j| table += &format!(",x{j}"));
    table.push('\n');
    let mut state = 1u64;
    for i in 0..6000 {
        table += ["a", "b", "c"][i % 3];
        for _ in 0..400 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            table += &format!(",{}", (state >> 40) % 1000);
        }
        table.push('\n');
    }
    table
}

#[cfg(unix)]
#[test]
fn slow_work_shows_progress_and_control_c_stops_it() {
    let bench = Bench::new("interrupt");
    bench.file("slow.csv", slow_table());
    let mut child = bench
        .command("compare slow.csv -t y --folds 400 --threads 1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Progress is shown once the work has taken a while, on whatever machine; the work would take hours to its end.
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut progress = String::new();
    while !(progress.starts_with("quince: ") && progress.ends_with(" s\n")) {
        progress.clear();
        assert!(said.read_line(&mut progress).unwrap() > 0, "ended without progress");
    }
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!((answer.code, answer.out.as_str()), (Some(130), ""));
    assert!(rest.contains("stopped on request; no file was written"), "{rest}");
}
