//! The ledger's numbers, one file a letter. Every test names the row it proves.

mod bayes;
mod clusters;
mod distributions;
mod evaluation;
mod linear;
mod margin;
mod mixture;
mod neighbours;
mod tables;

/// Asserts that two numbers agree to so many decimals of the ledger.
#[track_caller]
fn agrees(found: f64, ledger: f64, decimals: i32) {
    let half = 0.5 * 10f64.powi(-decimals) + 1e-12;
    assert!((found - ledger).abs() <= half, "found {found}, the ledger says {ledger}");
}
