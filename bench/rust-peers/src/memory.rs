//! Peak memory of a run, as Linux counts it.

use std::fs;

/// Sets the peak back to what is resident now, and returns that, in bytes.
pub fn reset() -> Option<u64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

/// By how much the peak has grown above `before`.
pub fn growth(before: u64) -> Option<u64> {
    Some(status("VmHWM:")?.saturating_sub(before))
}

fn status(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
