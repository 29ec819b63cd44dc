//! Reference numbers, one file per area. A test's name begins with the number of its example.

mod bayes;
mod clusters;
mod distributions;
mod evaluation;
mod linear;
mod margin;
mod mixture;
mod neighbours;
mod tables;

/// Asserts that two numbers agree to this many decimals.
#[track_caller]
fn agrees(found: f64, expected: f64, decimals: i32) {
    let half = 0.5 * 10f64.powi(-decimals) + 1e-12;
    assert!((found - expected).abs() <= half, "found {found}, expected {expected}");
}
