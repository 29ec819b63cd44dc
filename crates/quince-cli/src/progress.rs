//! Progress on standard error for anything that takes longer than a second: a bar on a terminal, a line now and then
//! elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use quince::run::Observer;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const QUIET_FOR: Duration = Duration::from_secs(1);
const TIME_BETWEEN_LINES: Duration = Duration::from_secs(10);

/// What is going on, for whoever watches.
#[derive(Clone)]
pub struct Progress(Arc<Mutex<State>>);

struct State {
    stage: String,
    done: u64,
    total: u64,
    finished: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Watches from a thread of its own, unless `quiet`.
    pub fn start(quiet: bool) -> Progress {
        let state = State { stage: String::new(), done: 0, total: 0, finished: quiet, bar: None };
        let progress = Progress(Arc::new(Mutex::new(state)));
        if !quiet {
            let watched = progress.clone();
            std::thread::spawn(move || watched.watch());
        }
        progress
    }

    /// Begins something of which no parts are counted.
    pub fn stage(&self, stage: &str) {
        self.update(stage, 0, 0);
    }

    /// Takes the bar away, so that results can be printed.
    pub fn finish(&self) {
        if let Ok(mut state) = self.0.lock() {
            state.finished = true;
            if let Some(bar) = state.bar.take() {
                bar.finish_and_clear();
            }
        }
    }

    /// Prints a sentence without breaking the bar.
    pub fn say(&self, sentence: &str) {
        let print = || {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(std::io::stderr(), "{sentence}");
        };
        match self.0.lock() {
            Ok(state) if state.bar.is_some() => state.bar.iter().for_each(|bar| bar.suspend(print)),
            _ => print(),
        }
    }

    fn update(&self, stage: &str, done: u64, total: u64) {
        if let Ok(mut state) = self.0.lock() {
            (state.stage, state.done, state.total) = (stage.to_string(), done, total);
        }
    }

    fn watch(&self) {
        let start = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        let mut last_line: Option<Instant> = None;
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let Ok(mut state) = self.0.lock() else { return };
            if state.finished {
                return;
            }
            if start.elapsed() < QUIET_FOR || state.stage.is_empty() {
                continue;
            }
            let (done, total, stage) = (state.done, state.total, state.stage.clone());
            if terminal {
                let bar = state.bar.get_or_insert_with(|| ProgressBar::new(total));
                let template =
                    if total > 0 { "{bar:30} {pos}/{len}  {msg}  {elapsed}" } else { "{spinner} {msg}  {elapsed}" };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                bar.set_length(total.max(1));
                bar.set_position(done);
                bar.set_message(stage);
                bar.tick();
            } else if last_line.is_none_or(|last| last.elapsed() >= TIME_BETWEEN_LINES) {
                last_line = Some(Instant::now());
                let counted = if total > 0 { format!(" ({done} of {total} done)") } else { String::new() };
                eprintln!("quince: {stage}{counted}, {} s", start.elapsed().as_secs());
            }
        }
    }
}

impl Observer for Progress {
    fn progress(&mut self, stage: &str, done: u64, total: u64) {
        self.update(stage, done, total);
    }
}
