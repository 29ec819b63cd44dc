//! For readers that take the panics of another crate for refusals: only a panic that gets out of the reader counts.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;

/// What the last panic said.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Keeps what a panic says instead of ending the run, as libFuzzer would.
pub fn keep() {
    set_hook(Box::new(|panic| {
        *LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = panic.to_string();
    }));
}

/// Does something from which no panic may get out; if one does, says which, and ends the run.
pub fn none_from(work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        eprintln!("{}", LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        std::process::abort();
    }
}
