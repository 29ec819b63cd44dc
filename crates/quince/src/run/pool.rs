//! The thread pools, one for each number of threads asked for, made when first needed, and made again in a forked child
//! (threads do not survive a fork, and Python forks).

use rayon_core::{ThreadPool, ThreadPoolBuilder, join};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// How many cores this process may use: those of the machine, less what its affinity or control group takes away.
pub fn available_cores() -> usize {
    // Asked once: the answer costs a look at files.
    static CORES: std::sync::LazyLock<usize> =
        std::sync::LazyLock::new(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    *CORES
}

/// What `OMP_NUM_THREADS` says, but no more than there are cores; as many as there are without it.
pub(super) fn default_threads() -> usize {
    let asked = std::env::var("OMP_NUM_THREADS").ok().and_then(|value| value.trim().parse().ok());
    asked.filter(|&threads: &usize| threads > 0).unwrap_or(usize::MAX).min(available_cores())
}

pub(super) fn map<T: Send>(threads: usize, count: usize, task: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    let Some(pool) = pool(if count > 1 { threads } else { 1 }) else { return (0..count).map(task).collect() };
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    install(&pool, &mut || halve(0..count, &|i| *unlocked(&results[i]) = Some(task(i))));
    let result = |slot: Mutex<Option<T>>| slot.into_inner().ok().flatten().expect("every task has run");
    results.into_iter().map(result).collect()
}

pub(super) fn each<T: Send>(threads: usize, items: &mut [T], task: impl Fn(usize, &mut T) + Sync + Send) {
    let Some(pool) = pool(if items.len() > 1 { threads } else { 1 }) else {
        return items.iter_mut().enumerate().for_each(|(i, item)| task(i, item));
    };
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    install(&pool, &mut || halve(0..items.len(), &|i| task(i, &mut unlocked(&items[i]))));
}

pub(super) fn inside<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let Some(pool) = pool(threads) else { return work() };
    let (mut work, mut result) = (Some(work), None);
    install(&pool, &mut || result = work.take().map(|work| work()));
    result.expect("the work has been done")
}

/// A place that only one task ever asks for: nobody has to wait.
fn unlocked<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs work on a thread of a pool. This function and the next know nothing of the types of work, so that the code of the thread
/// pool is compiled once, not for every loop of the library.
fn install(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// Runs a task for every number: halves until one is left, so that idle threads can take the other half.
fn halve(numbers: Range<usize>, task: &(dyn Fn(usize) + Sync)) {
    if numbers.len() > 1 {
        let middle = numbers.start + numbers.len() / 2;
        join(|| halve(numbers.start..middle, task), || halve(middle..numbers.end, task));
    } else {
        numbers.for_each(task);
    }
}

/// The pool for this many threads in this process; `None` where one thread is enough or no pool can be made.
fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    struct Made {
        process: u32,
        threads: usize,
        pool: Arc<ThreadPool>,
    }
    static POOLS: Mutex<Vec<Made>> = Mutex::new(Vec::new());
    if threads <= 1 {
        return None;
    }
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(made) = pools.iter().find(|made| made.process == process && made.threads == threads) {
        return Some(made.pool.clone());
    }
    let name = |i| format!("quince-{i}");
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build().ok()?);
    // A pool inherited through a fork has no threads to join: forgetting it is the only safe way to let it go.
    let (kept, inherited) = pools.drain(..).partition::<Vec<_>, _>(|made| made.process == process);
    inherited.into_iter().for_each(std::mem::forget);
    *pools = kept;
    pools.push(Made { process, threads, pool: pool.clone() });
    Some(pool)
}
