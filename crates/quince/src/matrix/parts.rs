//! Passes over rows that come out the same on any number of threads.
//!
//! Rows are cut into at most eight parts that depend on their number alone. Each part has a state of its own, and
//! states are read in order. A pass takes a few rows of every part at a time and checks for cancellation in between.

use crate::error::Result;
use crate::run::Run;
use std::ops::Range;

/// Cuts `0..total` into at most `parts` ranges of nearly equal length; the cuts depend on the two numbers alone.
pub(crate) fn cuts(total: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.clamp(1, total.max(1));
    (0..parts).map(|part| total * part / parts..total * (part + 1) / parts).collect()
}

/// The number of partial sums of a pass over `rows` rows: at most eight, and none with too little to do.
pub(crate) fn partials(rows: usize) -> usize {
    (rows / 1024).clamp(1, 8)
}

/// One state for each part of this many rows.
pub(crate) fn for_parts<T>(rows: usize, mut one: impl FnMut() -> T) -> Vec<T> {
    (0..partials(rows)).map(|_| one()).collect()
}

/// Goes over rows in as many parts as there are states, `step` rows of each part at a time, and calls `check` in between:
/// [`Run::check`], or another that may end it.
pub(crate) fn by_parts<T: Send>(
    rows: usize,
    step: usize,
    states: &mut [T],
    run: &Run,
    check: impl Fn(&Run) -> Result<()>,
    task: impl Fn(&mut T, Range<usize>) + Sync + Send,
) -> Result<()> {
    let ranges = cuts(rows, states.len());
    let longest = ranges.iter().map(Range::len).max().unwrap_or(0);
    for offset in (0..longest).step_by(step.max(1)) {
        run.each(states, |part, state| {
            let Range { start, end } = ranges.get(part).cloned().unwrap_or_default();
            task(state, (start + offset).min(end)..(start + offset + step).min(end));
        });
        check(run)?;
    }
    Ok(())
}

/// Sums of equal length, added up in order.
pub(crate) fn joined(sums: impl IntoIterator<Item = Vec<f64>>) -> Vec<f64> {
    let mut sums = sums.into_iter();
    let mut all = sums.next().unwrap_or_default();
    sums.for_each(|part| all.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    all
}
