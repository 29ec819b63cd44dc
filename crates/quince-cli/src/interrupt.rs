//! Ctrl-C: the first asks the work to stop; if that takes longer than a moment, or at the second, the process ends.
//! Files are replaced whole or not at all, so ending at once loses nothing.

use quince::run::Cancel;
use std::time::Duration;

/// How long the work may take to stop after the first Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(700);

/// A flag that Ctrl-C raises.
pub fn cancel_on_interrupt() -> Cancel {
    let cancel = Cancel::new();
    let flag = cancel.clone();
    // If no handler can be set, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(move || {
        if flag.is_cancelled() {
            std::process::exit(130);
        }
        flag.cancel();
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            eprintln!("quince: stopped on request; no file was written");
            std::process::exit(130);
        });
    });
    cancel
}
