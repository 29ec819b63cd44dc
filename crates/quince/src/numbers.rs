//! Statistics and texts of plain numbers: mean, standard deviation, quantile, correlation.

/// Mean and standard deviation (N - 1); that of fewer than two values is zero.
pub fn mean_and_standard_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().map(|v| v / n).sum::<f64>();
    // Differences are scaled before they are squared, so that neither very large nor very small ones get lost.
    let largest = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    if values.len() < 2 || largest == 0.0 || !largest.is_finite() {
        return (mean, 0.0);
    }
    let squares: f64 = values.iter().map(|v| ((v - mean) / largest).powi(2)).sum();
    (mean, largest * (squares / (n - 1.0)).sqrt())
}

/// The quantile of sorted values, by linear interpolation between neighbours (type 7 of Hyndman and Fan 1996).
///
/// Not a number if there are no values, or `q` is not from 0 to 1.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1).filter(|_| (0.0..=1.0).contains(&q)) else {
        return f64::NAN;
    };
    let place = q * last as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * (place - place.floor())
}

/// Pearson's correlation; `None` with fewer than two rows or a constant side.
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let ((mean_a, sd_a), (mean_b, sd_b)) = (mean_and_standard_deviation(a), mean_and_standard_deviation(b));
    let together: f64 = a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
    let value = together / ((a.len() as f64 - 1.0) * sd_a * sd_b);
    (a.len() > 1 && sd_a > 0.0 && sd_b > 0.0).then_some(value.clamp(-1.0, 1.0))
}

/// The logarithm of n! = 1 2 3 ... n; between whole numbers that of Γ(n + 1).
pub fn ln_factorial(n: f64) -> f64 {
    if n < 32.0 && n.fract() != 0.0 {
        return ln_factorial(n + 32.0) - (1..=32).map(|k| (n + f64::from(k)).ln()).sum::<f64>();
    }
    if n < 32.0 {
        // Such a product is a number without rounding, or nearly so.
        return (2..=n as u32).map(f64::from).product::<f64>().ln();
    }
    // Stirling's series, whose next term is below the rounding.
    let corrections = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * n * n)) / (n * n)) / n;
    (n + 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln() + corrections
}

/// The shortest text that reads back as the same number; whole numbers without a point.
pub fn number_text(value: f64) -> String {
    if value.abs() >= 1e16 || (value != 0.0 && value.abs() < 1e-5) { format!("{value:e}") } else { format!("{value}") }
}

/// A number in six digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number_text(value);
    }
    number_text(format!("{value:.5e}").parse().unwrap_or(value))
}

/// A fraction as a percentage of two digits.
pub(crate) fn percent(fraction: f64) -> String {
    let rounded: f64 = format!("{:.1e}", 100.0 * fraction).parse().unwrap_or(fraction);
    format!("{} %", number_text(rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_are_sums_of_logarithms() {
        let mut sum = 0.0;
        for n in 1..3000 {
            sum += f64::from(n).ln();
            let factorial = ln_factorial(f64::from(n));
            assert!((factorial - sum).abs() <= 1e-13 * sum, "{n}: {factorial} and {sum}");
        }
        assert_eq!((ln_factorial(0.0), ln_factorial(1.0)), (0.0, 0.0));
        // Γ(1/2) is the root of π, and Γ(x + 1) = x Γ(x).
        assert!((ln_factorial(0.5) - (0.5 * std::f64::consts::PI.sqrt()).ln()).abs() < 1e-13);
        assert!((ln_factorial(7.25) - ln_factorial(6.25) - 7.25f64.ln()).abs() < 1e-13);
    }
}
