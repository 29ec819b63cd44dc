//! How much work to do between two checks of the clock.

use std::time::{Duration, Instant};

/// The time that a step should take.
const TIME_PER_STEP: Duration = Duration::from_millis(80);

/// Cuts work whose cost is not known beforehand into steps of about a twelfth of a second.
///
/// Only for work that comes out the same however it is cut: the cuts depend on the speed of the machine.
pub(crate) struct Pace {
    size: usize,
    least: usize,
    started: Option<Instant>,
}

impl Pace {
    /// Steps of `least` items at least, which is also how it begins.
    pub(crate) fn new(least: usize) -> Pace {
        Pace { size: least.max(1), least: least.max(1), started: None }
    }

    /// How many items to do next. Asked once before every step.
    pub(crate) fn next(&mut self) -> usize {
        if let Some(started) = self.started {
            let took = started.elapsed().max(Duration::from_micros(10));
            // No more than four times as many as before: the first items may have been easy.
            let factor = (TIME_PER_STEP.as_secs_f64() / took.as_secs_f64()).clamp(0.01, 4.0);
            self.size = ((self.size as f64 * factor) as usize).max(self.least);
        }
        self.started = Some(Instant::now());
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_work_is_cut_small_and_quick_work_large() {
        let mut pace = Pace::new(3);
        assert_eq!(pace.next(), 3);
        assert_eq!(pace.next(), 12);
        pace.started = Instant::now().checked_sub(Duration::from_secs(2));
        assert_eq!(pace.next(), 3);
    }
}
