//! The incomplete gamma and beta functions, by series and continued fractions (Abramowitz and Stegun 6.5, 26.5).
//!
//! What stands before a series is a density, whose logarithm is a small difference of large numbers where the shape is large: there
//! it is taken from Stirling's series and from ln(1 + u) - u, which lose little.

use crate::numbers::ln_factorial;
use std::f64::consts::TAU;

/// From here on Stirling's series is exact to the last digits.
const LARGE_SHAPE: f64 = 32.0;
/// About as many terms are needed as the root of the shape: this is enough for shapes up to 10¹².
const MAX_TERMS: usize = 10_000_000;
/// Lentz's method replaces a zero by this.
const TINY: f64 = 1e-300;

/// ln Γ(a).
fn ln_gamma(a: f64) -> f64 {
    ln_factorial(a) - a.ln()
}

/// ln B(a, b) = ln Γ(a) + ln Γ(b) - ln Γ(a + b).
pub(super) fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// What Γ(a) is beyond √(2π / a) (a / e)ᵃ, as a logarithm.
fn stirling_correction(a: f64) -> f64 {
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * a * a)) / (a * a)) / a
}

/// The upper incomplete gamma function, regularised: Q(a, x) = ∫ from x of tᵃ⁻¹ e⁻ᵗ dt / Γ(a), for a > 0 and x > 0.
pub(super) fn gamma_upper(a: f64, x: f64) -> f64 {
    let before = gamma_density(a, x);
    if before == 0.0 || before.is_nan() {
        return if x > a { before } else { 1.0 - before };
    }
    if x > a + 1.0 {
        let partial = |k: usize| if k == 0 { 1.0 } else { -(k as f64) * (k as f64 - a) };
        return before * continued_fraction(|k| (partial(k), x + 1.0 - a + 2.0 * k as f64));
    }
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..MAX_TERMS {
        term *= x / (a + n as f64);
        sum += term;
        if term <= sum * f64::EPSILON / 4.0 {
            break;
        }
    }
    (1.0 - before * sum).max(0.0)
}

/// xᵃ e⁻ˣ / Γ(a).
fn gamma_density(a: f64, x: f64) -> f64 {
    if a < LARGE_SHAPE {
        return (a * x.ln() - x - ln_gamma(a)).exp();
    }
    (a / TAU).sqrt() * (a * log_minus((x - a) / a) - stirling_correction(a)).exp()
}

/// The incomplete beta function, regularised: I_x(a, b) = ∫ from 0 to x of tᵃ⁻¹ (1 - t)ᵇ⁻¹ dt / B(a, b), for a, b > 0 and
/// 0 < x < 1.
pub(super) fn beta_lower(a: f64, b: f64, x: f64) -> f64 {
    // The fraction converges quickly left of the mean; right of it I_x(a, b) = 1 - I_(1-x)(b, a).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_fraction(b, a, 1.0 - x, x);
    }
    beta_fraction(a, b, x, 1.0 - x)
}

fn beta_fraction(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    let before = beta_density(a, b, x, rest) / a;
    if before == 0.0 || before.is_nan() {
        return before;
    }
    let partial = |k: usize| {
        let m = (k / 2) as f64;
        match k {
            0 => 1.0,
            _ if k.is_multiple_of(2) => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        }
    };
    (before * continued_fraction(|k| (partial(k), 1.0))).min(1.0)
}

/// xᵃ (1 - x)ᵇ / B(a, b), where `rest` is 1 - x.
fn beta_density(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if a.min(b) < LARGE_SHAPE {
        return (a * x.ln() + b * rest.ln() - ln_beta(a, b)).exp();
    }
    let both = a + b;
    let away = x - a / both;
    let exponent = a * log_minus(away * both / a) + b * log_minus(-away * both / b);
    let corrections = stirling_correction(both) - stirling_correction(a) - stirling_correction(b);
    (a / TAU * (b / both)).sqrt() * (exponent + corrections).exp()
}

/// ln(1 + u) - u.
fn log_minus(u: f64) -> f64 {
    u.ln_1p() - u
}

/// a₀ / (b₀ + a₁ / (b₁ + a₂ / (b₂ + ...))), by Lentz's method, where `term(k)` is (aₖ, bₖ).
fn continued_fraction(term: impl Fn(usize) -> (f64, f64)) -> f64 {
    let apart = |x: f64| if x.abs() < TINY { TINY } else { x };
    let (a, b) = term(0);
    let (mut c, mut d) = (f64::INFINITY, 1.0 / apart(b));
    let mut value = a * d;
    for k in 1..MAX_TERMS {
        let (a, b) = term(k);
        d = 1.0 / apart(b + a * d);
        c = apart(b + a / c);
        value *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-3), "{found}, not {expected}");
    }

    #[test]
    fn the_incomplete_gamma_function_sums_poisson_probabilities() {
        // Q(k + 1, x) = e⁻ˣ Σ xⁱ / i! for i from 0 to k.
        for x in [0.01f64, 0.7, 3.0, 20.0, 100.0, 700.0] {
            let (mut term, mut sum) = ((-x).exp(), 0.0);
            for k in 1..900 {
                sum += term;
                term *= x / f64::from(k);
                near(gamma_upper(f64::from(k), x), sum, 1e-12);
            }
        }
        // Q(1/2, x) = erfc(√x).
        for x in [1e-8, 0.1, 1.0, 2.5, 9.0] {
            near(gamma_upper(0.5, x), libm::erfc(f64::sqrt(x)), 1e-13);
        }
    }

    #[test]
    fn the_incomplete_beta_function_sums_binomial_probabilities() {
        // I_(1-p)(n - k, k + 1) = P(X ≤ k) of n trials.
        for (n, p) in [(1, 0.3f64), (10, 0.01), (40, 0.5), (900, 0.2), (900, 0.97)] {
            let mut sum = 0.0;
            let log = |m: i32| (1..=m).map(|i| f64::from(i).ln()).sum::<f64>();
            for k in 0..n {
                let others = f64::from(n - k);
                sum += (log(n) - log(k) - log(n - k) + f64::from(k) * p.ln() + others * (1.0 - p).ln()).exp();
                near(beta_lower(others, f64::from(k) + 1.0, 1.0 - p), sum, 1e-11);
            }
        }
        // I_x(1/2, 1/2) = 2 asin(√x) / π, and I_x(a, 1) = xᵃ.
        for x in [1e-6, 0.2, 0.5, 0.93] {
            near(beta_lower(0.5, 0.5, x), 4.0 / TAU * f64::sqrt(x).asin(), 1e-13);
            near(beta_lower(1e-3, 1.0, x), x.powf(1e-3), 1e-13);
            near(beta_lower(70.0, 1.0, x), x.powf(70.0), 1e-12);
        }
    }

    #[test]
    fn large_shapes_keep_their_digits() {
        // Symmetry: I_½(a, a) = ½. The median of a gamma distribution is a - 1/3 + 8 / 405a + 184 / 25515a² + 2248 / 3444525a³
        // - ... (Choi 1994).
        for a in [40.0, 1e4] {
            near(beta_lower(a, a, 0.5), 0.5, 1e-13);
        }
        for a in [40.0, 1e4, 1e8] {
            let median = a - 1.0 / 3.0 + (8.0 / 405.0 + (184.0 / 25515.0 + 2248.0 / 3444525.0 / a) / a) / a;
            // The series has some 8 √a terms, each the product of those before, and each rounded.
            let rounding = 8.0 * f64::sqrt(a) * f64::EPSILON;
            near(gamma_upper(a, median), 0.5, 1e-8 / a + rounding);
        }
    }
}
