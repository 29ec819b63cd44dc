//! Ctrl-C and progress.

use crate::{Answer, Bench};
use std::process::Stdio;
use std::time::{Duration, Instant};

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
fn control_c_stops_within_a_second_and_slow_work_shows_progress() {
    let bench = Bench::new("interrupt");
    bench.file("slow.csv", slow_table());
    let child = bench
        .command("compare slow.csv -t y --folds 400 --threads 1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    let asked = Instant::now();
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert!(asked.elapsed() < Duration::from_millis(1000), "{:?}", asked.elapsed());
    assert_eq!((answer.code, answer.out.as_str()), (Some(130), ""));
    assert!(answer.err.contains("stopped on request; no file was written"), "{}", answer.err);
    assert!(answer.err.contains("quince: "), "progress after a second: {}", answer.err);
}
