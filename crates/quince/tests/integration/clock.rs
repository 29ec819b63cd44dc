//! Budgets and cancellation that depend on how often a fit looks at the clock, not on how fast the machine is.

use quince::run::{Observer, TickClock};
use quince::{Error, Run};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// No fit may work for longer without a look. The promise is a fifth of a second; a processor that many others use, and whose caches
/// are never warm, has needed five times as long. The fits that are cancelled here would take far longer than this to their end.
const LONGEST_SILENCE: Duration = Duration::from_secs(2);

/// A run whose budget ends after this many looks at the clock.
pub(crate) fn budget_of_looks(looks: u32) -> Run {
    let tick = Duration::from_millis(1);
    Run::new().clock(TickClock::new(tick)).budget(tick * looks)
}

/// How long this thread has been at work: waiting for other threads and programs does not count, where the system tells.
pub(crate) fn cpu_time() -> Duration {
    static START: Mutex<Option<Instant>> = Mutex::new(None);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = told.ok().and_then(|text| text.split(' ').next()?.parse().ok());
    match nanoseconds {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => START.lock().unwrap().get_or_insert_with(Instant::now).elapsed(),
    }
}

/// Cancels at a look, and notes the longest work between two looks.
struct Patience {
    looks: u32,
    last: Duration,
    longest: Arc<Mutex<Duration>>,
}

impl Observer for Patience {
    fn progress(&mut self, _: &str, _: u64, _: u64) {}

    fn poll(&mut self) -> bool {
        let now = cpu_time();
        let mut longest = self.longest.lock().unwrap();
        *longest = longest.max(now - self.last);
        self.last = now;
        self.looks = self.looks.saturating_sub(1);
        self.looks == 0
    }
}

/// Does work on one thread that is cancelled at a look, and checks that it heeds that and was never silent for long.
pub(crate) fn check_heeds_cancel(looks: u32, about: &str, work: impl FnOnce(&Run) -> Option<Error>) {
    let longest = Arc::new(Mutex::new(Duration::ZERO));
    let patience = Patience { looks, last: cpu_time(), longest: longest.clone() };
    // An observer is asked every 50 ms by the run's clock: here at every look.
    let run = Run::new().threads(1).clock(TickClock::new(Duration::from_millis(50))).observe(patience);
    assert_eq!(work(&run), Some(Error::Cancelled), "{about}");
    let silence = *longest.lock().unwrap();
    println!("{about}: at most {silence:?} between two looks");
    assert!(silence < LONGEST_SILENCE, "{about}: nothing was asked for {silence:?}");
}
