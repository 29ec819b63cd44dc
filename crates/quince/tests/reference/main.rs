//! Reference numbers, one file per area: worked examples of a first course in machine learning, computed on paper or by another
//! implementation.
//!
//! Where a test's name begins with a letter and a number, here and elsewhere, it is the example's: T tables, X texts, L linear models, D and K
//! distances and neighbours, B probabilities and Bayes, C clusters and mixtures, S margins, E evaluation.

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
