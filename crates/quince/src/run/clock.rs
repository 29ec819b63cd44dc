//! What a run reads the time from.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time since some fixed moment. It never goes back.
pub trait Clock: Send {
    /// The time now.
    fn now(&self) -> Duration;
}

/// The clock of the machine, from the moment it was started.
pub(super) struct SystemClock(Instant);

impl SystemClock {
    pub(super) fn started() -> SystemClock {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A clock that goes forward by a fixed step whenever it is looked at, however long that takes: with it a budget ends, and an
/// observer is asked, after the same number of looks on any machine.
///
/// ```
/// use quince::Run;
/// use quince::run::TickClock;
/// use std::time::Duration;
/// let second = Duration::from_secs(1);
/// let run = Run::new().clock(TickClock::new(second)).budget(3 * second);
/// let looks = (0..10).filter(|_| !run.out_of_time()).count();
/// assert!((1..=3).contains(&looks));
/// ```
#[derive(Debug)]
pub struct TickClock {
    step: Duration,
    looks: AtomicU64,
}

impl TickClock {
    /// A clock that has not been looked at.
    pub fn new(step: Duration) -> TickClock {
        TickClock { step, looks: AtomicU64::new(0) }
    }
}

impl Clock for TickClock {
    fn now(&self) -> Duration {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        self.step.saturating_mul(u32::try_from(looks).unwrap_or(u32::MAX))
    }
}
