//! Budgets and cancellation that depend on how often a fit looks at the clock, not on how fast the machine is.

use quince::run::{Observer, TickClock};
use quince::{Error, Run};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// No fit may work for longer without a look: the promise is a fifth of a second, where known work takes as long as here. The fits
/// that are cancelled would take far longer than this to their end.
const LONGEST_SILENCE: Duration = Duration::from_millis(200);

/// What a processor with wide vectors takes for the known work, optimised as a release is.
const KNOWN_WORK: Duration = Duration::from_millis(50);

/// How many times as slow as that this thread is now, at least once: a processor that many others use, or a build that is not
/// optimised, needs longer for all that it does.
fn slowness() -> f64 {
    let mut numbers: Vec<f64> = (0..1 << 12).map(f64::from).collect();
    let began = cpu_time();
    for _ in 0..1 << 17 {
        let half = std::hint::black_box(0.5);
        numbers.iter_mut().for_each(|number| *number = half * *number + 1.0);
    }
    std::hint::black_box(&numbers);
    ((cpu_time() - began).as_secs_f64() / KNOWN_WORK.as_secs_f64()).max(1.0)
}

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

/// The longest work between two looks, and what the fit had said before it.
#[derive(Clone, Default)]
struct Silence {
    took: Duration,
    after: String,
}

/// Cancels at a look, and notes the longest silence.
struct Patience {
    looks: u32,
    last: Duration,
    stage: String,
    longest: Arc<Mutex<Silence>>,
}

impl Observer for Patience {
    fn progress(&mut self, stage: &str, _: u64, _: u64) {
        self.stage = stage.to_string();
    }

    fn poll(&mut self) -> bool {
        let now = cpu_time();
        let mut longest = self.longest.lock().unwrap();
        if now - self.last > longest.took {
            let after = format!("{}, with {} looks to go", self.stage, self.looks);
            *longest = Silence { took: now - self.last, after };
        }
        self.last = now;
        self.looks = self.looks.saturating_sub(1);
        self.looks == 0
    }
}

/// Does work on one thread that is cancelled at a look, and checks that it heeds that and was never silent for long.
pub(crate) fn check_heeds_cancel(looks: u32, about: &str, work: impl FnOnce(&Run) -> Option<Error>) {
    let slow = slowness();
    let longest: Arc<Mutex<Silence>> = Arc::default();
    let patience = Patience { looks, last: cpu_time(), stage: "the start".into(), longest: longest.clone() };
    // An observer is asked every 50 ms by the run's clock: here at every look.
    let run = Run::new().threads(1).clock(TickClock::new(Duration::from_millis(50))).observe(patience);
    assert_eq!(work(&run), Some(Error::Cancelled), "{about}");
    let Silence { took, after } = longest.lock().unwrap().clone();
    // The slower of before and after: other programs come and go.
    let slow = slow.max(slowness());
    println!("{about}: at most {took:?} between two looks ({after}), {slow:.1} times as slow as usual");
    assert!(took < LONGEST_SILENCE.mul_f64(slow), "{about}: nothing was asked for {took:?}, after {after}");
}

/// Counts how often a run is asked whether to go on.
struct Looks(Arc<AtomicUsize>);

impl Observer for Looks {
    fn progress(&mut self, _: &str, _: u64, _: u64) {}

    fn poll(&mut self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        false
    }
}

/// How often work asks its run whether to go on.
pub(crate) fn looks(work: impl FnOnce(&Run)) -> usize {
    looks_within(None, work)
}

/// The same with a budget that ends after this many looks, those at the deadline included.
pub(crate) fn looks_within(budget: Option<u32>, work: impl FnOnce(&Run)) -> usize {
    let looks = Arc::new(AtomicUsize::new(0));
    // An observer is asked every 50 ms by the run's clock: here at every look.
    let tick = Duration::from_millis(50);
    let run = Run::new().clock(TickClock::new(tick));
    let run = if let Some(budget) = budget { run.budget(tick * budget) } else { run };
    work(&run.observe(Looks(looks.clone())));
    looks.load(Ordering::Relaxed)
}
