//! The context of a fit: seed, threads, budget, cancellation, progress; and its report.
//!
//! A [`Run`] carries everything a fit needs besides data and settings: seed, threads, deadline, cancellation and an
//! observer. It is handed to every fit, which calls [`Run::check`] at least every fifth of a second. A `Run` stays on
//! the calling thread (it is not `Sync`), so observers need no locks; parallel work goes through [`Run::map`], whose
//! results come back in order, whatever the number of threads.

mod chacha;
mod clock;
mod pace;
mod pool;
mod random;
mod report;

pub use clock::{Clock, TickClock};
pub(crate) use pace::Pace;
pub use pool::available_cores;
pub use random::Stream;
pub use report::{Certificate, Outcome, Report, StopReason};

use crate::error::{Error, Result};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a thread that waits for others does so before it looks whether to stop.
const TIME_BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A flag that another thread (a Ctrl-C handler, a window) raises to stop a run.
///
/// ```
/// use quince::run::Cancel;
/// use quince::{Error, Run};
/// let cancel = Cancel::new();
/// let run = Run::new().cancel(&cancel);
/// cancel.cancel();
/// assert_eq!(run.check(), Err(Error::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is down.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks every run that carries this flag to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is up.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Hears how a run is going. All calls come from the thread that called the fit.
pub trait Observer {
    /// `done` of `total` units of `stage` are done (`total` is zero where it is not known).
    fn progress(&mut self, stage: &str, done: u64, total: u64);

    /// Called now and then (about every 50 ms) while a fit works; `true` cancels the run. Python looks for Ctrl-C here.
    fn poll(&mut self) -> bool {
        false
    }
}

/// How far a run is.
///
/// ```
/// use quince::prelude::*;
/// use quince::run::Progress;
/// use std::sync::{Arc, Mutex};
/// let last = Arc::new(Mutex::new(0));
/// let seen = last.clone();
/// let run = Run::new().on_progress(move |progress: Progress<'_>| *seen.lock().unwrap() = progress.done);
/// run.progress("reading", 3, 4);
/// assert_eq!(*last.lock().unwrap(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done.
    pub stage: &'a str,
    /// Units done.
    pub done: u64,
    /// Units there are; zero where that is not known.
    pub total: u64,
}

/// A closure that is told how far a run is.
struct Watch<F>(F);

impl<F: FnMut(Progress<'_>)> Observer for Watch<F> {
    fn progress(&mut self, stage: &str, done: u64, total: u64) {
        (self.0)(Progress { stage, done, total });
    }
}

/// Seed, threads, deadline, cancellation and progress of one piece of work. It may be sent to another thread.
///
/// ```
/// use quince::Run;
/// use std::time::Duration;
/// let run = Run::new().seed(7).threads(2).budget(Duration::from_secs(30));
/// assert!(run.check().is_ok());
/// ```
#[doc(alias = "context")]
#[doc(alias = "random_state")]
#[doc(alias = "deadline")]
pub struct Run {
    seed: u64,
    threads: usize,
    clock: Box<dyn Clock>,
    /// By the clock, as is the time of the last poll.
    deadline: Cell<Option<Duration>>,
    cancel: Cancel,
    observer: RefCell<Option<Box<dyn Observer + Send>>>,
    last_poll: Cell<Duration>,
}

impl Default for Run {
    fn default() -> Run {
        Run::new()
    }
}

/// The thread pool of a run, without its clock and its observer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadPool {
    threads: usize,
}

impl ThreadPool {
    /// Runs work on one of the threads. The others stay awake for the many short parts that it has for them.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        pool::inside(self.threads, work)
    }

    /// As [`Run::each`].
    pub(crate) fn each<T: Send>(&self, items: &mut [T], task: impl Fn(usize, &mut T) + Sync + Send) {
        pool::each(self.threads, items, task);
    }
}

impl Run {
    /// Seed 0, as many threads as there are cores (or `OMP_NUM_THREADS` says), no deadline, no observer.
    pub fn new() -> Run {
        Run {
            seed: 0,
            threads: pool::default_threads(),
            clock: Box::new(clock::SystemClock::started()),
            deadline: Cell::new(None),
            cancel: Cancel::new(),
            observer: RefCell::new(None),
            last_poll: Cell::new(Duration::ZERO),
        }
    }

    /// Everything random follows from this number.
    pub fn seed(mut self, seed: u64) -> Run {
        self.seed = seed;
        self
    }

    /// How many threads may work, of which there are never more than [`available_cores`]. The results do not depend on it. Zero means
    /// as many as there are cores.
    pub fn threads(self, threads: usize) -> Run {
        let threads = if threads == 0 { pool::default_threads() } else { threads.min(available_cores()) };
        self.threads_exactly(threads)
    }

    /// This many threads, even if there are fewer cores for them: to try whether results depend on their number.
    pub fn threads_exactly(mut self, threads: usize) -> Run {
        self.threads = threads.clamp(1, 64);
        self
    }

    /// Time from now until the best answer so far is returned.
    ///
    /// ```
    /// use quince::Run;
    /// use std::time::Duration;
    /// assert!(Run::new().budget(Duration::ZERO).out_of_time() && !Run::new().out_of_time());
    /// ```
    pub fn budget(self, budget: Duration) -> Run {
        self.deadline.set(self.clock.now().checked_add(budget));
        self
    }

    /// Reads the time from another clock, which a budget that is given later counts by: a test gives a [`TickClock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Run {
        self.last_poll.set(clock.now());
        self.clock = Box::new(clock);
        self
    }

    /// Listens to a flag that another thread may raise.
    pub fn cancel(mut self, cancel: &Cancel) -> Run {
        self.cancel = cancel.clone();
        self
    }

    /// Tells `observer` how the work goes.
    pub fn observe(self, observer: impl Observer + Send + 'static) -> Run {
        *self.observer.borrow_mut() = Some(Box::new(observer));
        self
    }

    /// Tells a closure how the work goes.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let run = Run::new().on_progress(|progress| eprintln!("{}: {} of {}", progress.stage, progress.done, progress.total));
    /// # let _ = run;
    /// ```
    pub fn on_progress(self, watch: impl FnMut(Progress<'_>) + Send + 'static) -> Run {
        self.observe(Watch(watch))
    }

    /// The seed of this run.
    pub fn seed_value(&self) -> u64 {
        self.seed
    }

    /// The number of threads that may work.
    pub fn thread_count(&self) -> usize {
        self.threads
    }

    /// A stream of random numbers of its own for task `task`: the same whatever other tasks draw.
    pub fn stream(&self, task: u64) -> Stream {
        Stream::new(self.seed, task)
    }

    /// An error once the run is cancelled or out of time. Methods that have a best-so-far ask [`Run::out_of_time`] first.
    pub fn check(&self) -> Result<()> {
        self.check_cancelled()?;
        if self.out_of_time() {
            return Err(Error::OutOfTime { what: "the method".into() });
        }
        Ok(())
    }

    /// An error once the run is cancelled, however late it is: for work that a finished answer still needs.
    pub fn check_cancelled(&self) -> Result<()> {
        self.poll();
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Whether the deadline has passed: an iterative method stops here and returns what it has, marked.
    pub fn out_of_time(&self) -> bool {
        self.deadline.get().is_some_and(|deadline| self.clock.now() >= deadline)
    }

    /// How much of the budget is left; `None` if there is none.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.deadline.get().map(|deadline| deadline.saturating_sub(self.clock.now()))
    }

    /// The time by the run's clock, if there is a budget that it counts for.
    pub(crate) fn budgeted_time(&self) -> Option<Duration> {
        self.deadline.get().map(|_| self.clock.now())
    }

    /// Does a piece of work with at most half of the time that is left (all of it for the last piece), so that no slow
    /// method starves those after it.
    pub(crate) fn share<T>(&self, last: bool, work: impl FnOnce() -> T) -> T {
        let whole = self.deadline.get();
        if let Some(deadline) = whole {
            let now = self.clock.now();
            let left = deadline.saturating_sub(now);
            self.deadline.set(Some(now + if last { left } else { left / 2 }));
        }
        let result = work();
        self.deadline.set(whole);
        result
    }

    /// Does what an answer still needs once it is there, however late it is: only a cancel stops it.
    pub fn finish<T>(&self, work: impl FnOnce() -> T) -> T {
        let deadline = self.deadline.take();
        let result = work();
        self.deadline.set(deadline);
        result
    }

    /// Tells the observer that `done` of `total` units of `stage` are done.
    pub fn progress(&self, stage: &str, done: usize, total: usize) {
        if let Some(observer) = self.observer.borrow_mut().as_mut() {
            observer.progress(stage, done as u64, total as u64);
        }
    }

    /// Tells the observer about a stage whose end is not known.
    pub(crate) fn stage(&self, stage: impl FnOnce() -> String) {
        if self.observer.borrow().is_some() {
            self.progress(&stage(), 0, 0);
        }
    }

    /// Runs `task` for 0, 1, ... `count` - 1 on the run's threads; results come in that order.
    ///
    /// A task must not depend on the number of threads, so that the same bits come out on one thread and on many.
    ///
    /// ```
    /// use quince::Run;
    /// assert_eq!(Run::new().threads(2).map(4, |i| i * i), [0, 1, 4, 9]);
    /// ```
    pub fn map<T: Send>(&self, count: usize, task: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        pool::map(self.threads, count, task)
    }

    /// As [`Run::map`], for tasks that may take long: each has a run to look at, which ends when this one is cancelled or out of
    /// time. Where other threads work, this one waits and looks for both; an observer lives on it alone.
    pub(crate) fn map_watched<T: Send>(
        &self,
        count: usize,
        task: impl Fn(usize, &Run) -> Result<T> + Sync + Send,
    ) -> Result<Vec<T>> {
        if self.threads <= 1 || count <= 1 {
            return (0..count).map(|i| task(i, self)).collect();
        }
        let (threads, stop) = (self.threads, Cancel::new());
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let (stopped, results) = std::thread::scope(|scope| {
            let workers = scope.spawn(|| {
                // Dropped at the end, however that comes.
                let _working = send;
                pool::map(threads, count, |i| task(i, &Run::new().threads(1).cancel(&stop)))
            });
            let mut stopped = Ok(());
            while receive.recv_timeout(TIME_BETWEEN_LOOKS) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                if stopped.is_ok() {
                    stopped = self.check().inspect_err(|_| stop.cancel());
                }
            }
            match workers.join() {
                Ok(results) => (stopped, results),
                // The work panicked: so do we, with what it said.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        stopped?;
        results.into_iter().collect()
    }

    /// Runs `task` on each item of `items`, which it may change.
    pub fn each<T: Send>(&self, items: &mut [T], task: impl Fn(usize, &mut T) + Sync + Send) {
        pool::each(self.threads, items, task);
    }

    /// The thread pool alone: work that is given to it may start more work from any of its threads.
    pub(crate) fn thread_pool(&self) -> ThreadPool {
        ThreadPool { threads: self.threads }
    }

    /// Runs work that cannot check for cancellation (it is another crate's) on a thread of its own, while this one checks
    /// for cancellation and deadline. A stopped run does not wait: the thread ends by itself and its result is dropped.
    /// What has a small `size` (the side of a square matrix) is done in a moment, and here.
    pub(crate) fn aside<T: Send + 'static>(&self, size: usize, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        self.check()?;
        if size <= 384 {
            return Ok(work());
        }
        let (send, receive) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || send.send(work()));
        loop {
            match receive.recv_timeout(TIME_BETWEEN_LOOKS) {
                Ok(result) => return Ok(result),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => self.check()?,
                // The work panicked: so do we, with what it said.
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(_) => return Err(Error::Cancelled),
                },
            }
        }
    }

    fn poll(&self) {
        let now = self.clock.now();
        if now.saturating_sub(self.last_poll.get()) < Duration::from_millis(50) {
            return;
        }
        self.last_poll.set(now);
        if let Some(observer) = self.observer.borrow_mut().as_mut()
            && observer.poll()
        {
            self.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_run_says_so_at_the_next_check() {
        let cancel = Cancel::new();
        let run = Run::new().cancel(&cancel);
        assert!(run.check().is_ok());
        cancel.cancel();
        assert_eq!(run.check(), Err(Error::Cancelled));
    }

    #[test]
    fn a_passed_deadline_is_out_of_time_and_not_cancelled() {
        let run = Run::new().budget(Duration::ZERO);
        assert!(run.out_of_time());
        assert_eq!(run.check().unwrap_err().code(), "out-of-time");
    }

    #[test]
    fn a_run_goes_to_another_thread_and_a_closure_hears_of_it() {
        let (send, receive) = std::sync::mpsc::channel();
        let run = Run::new().on_progress(move |progress| send.send((progress.done, progress.total)).unwrap());
        std::thread::spawn(move || run.progress("rows", 3, 7)).join().unwrap();
        assert_eq!(receive.recv(), Ok((3, 7)));
    }

    #[test]
    fn a_tick_clock_counts_looks_and_nothing_else() {
        let run = Run::new().clock(TickClock::new(Duration::from_millis(1))).budget(Duration::from_millis(5));
        let looks = (0..100).take_while(|_| !run.out_of_time()).count();
        assert_eq!(looks, 4);
    }

    #[test]
    fn no_more_threads_work_than_there_are_cores() {
        let cores = available_cores();
        assert_eq!(Run::new().threads(99_999).thread_count(), cores);
        assert_eq!(Run::new().threads(1).thread_count(), 1);
        assert!(Run::new().threads(0).thread_count() <= cores);
        assert_eq!(Run::new().threads_exactly(cores + 1).thread_count(), cores + 1);
    }

    /// Raises its hand at the third look.
    struct Third(u32);

    impl Observer for Third {
        fn progress(&mut self, _: &str, _: u64, _: u64) {}

        fn poll(&mut self) -> bool {
            self.0 += 1;
            self.0 == 3
        }
    }

    #[test]
    fn tasks_that_are_watched_end_with_the_run_on_any_number_of_threads() {
        // Without a stop they would never end.
        let forever = |_: usize, run: &Run| -> Result<()> {
            loop {
                run.check()?;
            }
        };
        let tick = Duration::from_millis(50);
        for threads in [1, 2, 8] {
            let run = || Run::new().threads_exactly(threads).clock(TickClock::new(tick));
            assert_eq!(run().observe(Third(0)).map_watched(5, forever), Err(Error::Cancelled));
            assert_eq!(run().budget(5 * tick).map_watched(5, forever).unwrap_err().code(), "out-of-time");
            assert_eq!(run().map_watched(5, |i, _| Ok(i * i)), Ok(vec![0, 1, 4, 9, 16]));
        }
    }

    #[test]
    fn map_keeps_the_order_on_any_number_of_threads() {
        let squares: Vec<usize> = (0..100).map(|i| i * i).collect();
        for threads in [1, 2, 8] {
            assert_eq!(Run::new().threads_exactly(threads).map(100, |i| i * i), squares);
        }
    }
}
