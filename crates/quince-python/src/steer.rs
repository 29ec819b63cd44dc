//! Work with Python's lock released, on a given number of threads, which Ctrl-C stops.

use crate::errors::{to_python, wrong};
use pyo3::prelude::*;
use quince::run::Observer;
use quince::{Error, Result, Run};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a caller says about a run: zero threads means as many as `OMP_NUM_THREADS` says or the machine has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steering {
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) budget: Option<Duration>,
}

impl Steering {
    /// Threads alone: what work needs that draws nothing at random.
    pub(crate) fn threads(threads: usize) -> Steering {
        Steering { threads, ..Steering::default() }
    }

    /// Threads, and a seed for what is drawn.
    pub(crate) fn seeded(seed: u64, threads: usize) -> Steering {
        Steering { seed, threads, ..Steering::default() }
    }

    /// As many threads as `n_jobs` means, by the one rule of the package.
    pub(crate) fn jobs(py: Python<'_>, n_jobs: Option<i64>) -> PyResult<Steering> {
        let threads = py.import("quince._threads")?.call_method1("effective", (n_jobs,))?.extract()?;
        Ok(Steering::threads(threads))
    }

    /// With a budget in seconds.
    pub(crate) fn budget(mut self, seconds: Option<f64>) -> PyResult<Steering> {
        let parse = |s: f64| {
            Duration::try_from_secs_f64(s)
                .map_err(|_| wrong(format!("a budget cannot be {s} seconds"), "Give a number of at least zero."))
        };
        self.budget = seconds.map(parse).transpose()?;
        Ok(self)
    }
}

/// How many cores this process may use.
#[pyfunction]
pub(crate) fn available_cores() -> usize {
    quince::run::available_cores()
}

/// Does `job` with the lock released. A signal that Python turns into an exception (Ctrl-C) stops it, and that
/// exception is what the caller gets.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    steering: Steering,
    job: impl FnOnce(&Run) -> Result<T> + Send,
) -> PyResult<T> {
    let raised: Raised = Raised::default();
    let signals = Signals(raised.clone());
    let result = py.detach(move || {
        let mut run = Run::new().seed(steering.seed).threads(steering.threads).observe(signals);
        if let Some(budget) = steering.budget {
            run = run.budget(budget);
        }
        job(&run)
    });
    result.map_err(|error| match (error, raised.lock().ok().and_then(|mut raised| raised.take())) {
        (Error::Cancelled, Some(raised)) => raised,
        (error, _) => to_python(error),
    })
}

/// What Python raised while the work was going on.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Takes the lock for a moment, now and then, to let Python handle its signals.
struct Signals(Raised);

impl Observer for Signals {
    fn progress(&mut self, _stage: &str, _done: u64, _total: u64) {}

    fn poll(&mut self) -> bool {
        let outcome = Python::try_attach(|py| py.check_signals());
        match outcome {
            Some(Err(error)) => {
                if let Ok(mut raised) = self.0.lock() {
                    *raised = Some(error);
                }
                true
            }
            // No interpreter to come back to: stop.
            None => true,
            Some(Ok(())) => false,
        }
    }
}
