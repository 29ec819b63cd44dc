//! Statistics and texts of plain numbers: mean, standard deviation, quantile, correlation; which texts are codes rather than numbers.

use serde::{Deserialize, Serialize};

/// Mean and standard deviation (N - 1); that of fewer than two values is zero.
///
/// ```
/// use quince::numbers::mean_and_standard_deviation;
/// assert_eq!(mean_and_standard_deviation(&[1.0, 3.0]), (2.0, 2f64.sqrt()));
/// ```
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
///
/// ```
/// use quince::numbers::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
/// assert!(quantile(&[], 0.5).is_nan());
/// ```
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1).filter(|_| (0.0..=1.0).contains(&q)) else {
        return f64::NAN;
    };
    let place = q * last as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * (place - place.floor())
}

/// The smallest value at or below which lies at least a fraction `q` of the weight, averaged with the next one where the
/// fraction is met exactly: with equal weights and a half, the median.
///
/// Not a number if nothing has any weight.
///
/// ```
/// use quince::numbers::weighted_quantile;
/// // Three of five parts of the weight lie on 9.
/// assert_eq!(weighted_quantile(&[1.0, 2.0, 9.0], &[1.0, 1.0, 3.0], 0.5), 9.0);
/// ```
pub fn weighted_quantile(values: &[f64], weights: &[f64], q: f64) -> f64 {
    let mut order: Vec<usize> = (0..values.len().min(weights.len())).filter(|&i| weights[i] > 0.0).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let total: f64 = order.iter().map(|&i| weights[i]).sum();
    let mut below = 0.0;
    for (k, &i) in order.iter().enumerate() {
        below += weights[i];
        if below > q * total {
            return values[i];
        }
        if below == q * total {
            return 0.5 * (values[i] + values[order[(k + 1).min(order.len() - 1)]]);
        }
    }
    order.last().map_or(f64::NAN, |&i| values[i])
}

/// Pearson's correlation; `None` with fewer than two rows or a constant side.
///
/// ```
/// use quince::numbers::correlation;
/// assert!((correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]).unwrap() + 1.0).abs() < 1e-12);
/// assert_eq!(correlation(&[1.0, 1.0], &[2.0, 3.0]), None);
/// ```
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let ((mean_a, sd_a), (mean_b, sd_b)) = (mean_and_standard_deviation(a), mean_and_standard_deviation(b));
    let together: f64 = a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
    let value = together / ((a.len() as f64 - 1.0) * sd_a * sd_b);
    (a.len() > 1 && sd_a > 0.0 && sd_b > 0.0).then_some(value.clamp(-1.0, 1.0))
}

/// The logarithm of n! = 1 2 3 ... n; between whole numbers that of Γ(n + 1), and NaN up to -1.
///
/// ```
/// assert!((quince::numbers::ln_factorial(5.0) - 120f64.ln()).abs() < 1e-12);
/// ```
pub fn ln_factorial(n: f64) -> f64 {
    if n <= -1.0 || n.is_nan() {
        return f64::NAN;
    }
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
///
/// ```
/// use quince::numbers::number_text;
/// assert_eq!([3.0, 0.1, 1e-7].map(number_text), ["3", "0.1", "1e-7"]);
/// ```
pub fn number_text(value: f64) -> String {
    if value.abs() >= 1e16 || (value != 0.0 && value.abs() < 1e-5) { format!("{value:e}") } else { format!("{value}") }
}

/// A number in JSON, which has neither NaN nor infinity: those are the words `NaN`, `inf` and `-inf`. What other programs write
/// for them, null, is read as NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenNumber", into = "WrittenNumber")]
pub(crate) struct JsonNumber(pub(crate) f64);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenNumber {
    Finite(f64),
    Word(NonFinite),
    Null(()),
}

#[derive(Serialize, Deserialize)]
enum NonFinite {
    #[serde(rename = "NaN")]
    NotANumber,
    #[serde(rename = "inf")]
    Infinite,
    #[serde(rename = "-inf")]
    NegativeInfinite,
}

impl From<WrittenNumber> for JsonNumber {
    fn from(written: WrittenNumber) -> JsonNumber {
        JsonNumber(match written {
            WrittenNumber::Finite(number) => number,
            WrittenNumber::Word(NonFinite::NotANumber) | WrittenNumber::Null(()) => f64::NAN,
            WrittenNumber::Word(NonFinite::Infinite) => f64::INFINITY,
            WrittenNumber::Word(NonFinite::NegativeInfinite) => f64::NEG_INFINITY,
        })
    }
}

impl From<JsonNumber> for WrittenNumber {
    fn from(JsonNumber(number): JsonNumber) -> WrittenNumber {
        match number {
            _ if number.is_nan() => WrittenNumber::Word(NonFinite::NotANumber),
            f64::INFINITY => WrittenNumber::Word(NonFinite::Infinite),
            f64::NEG_INFINITY => WrittenNumber::Word(NonFinite::NegativeInfinite),
            finite => WrittenNumber::Finite(finite),
        }
    }
}

/// For fields that are numbers of any kind: `#[serde(with = "json_number")]`.
pub(crate) mod json_number {
    use super::JsonNumber;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        JsonNumber(*number).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(JsonNumber::deserialize(deserializer)?.0)
    }
}

/// A number in six digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number_text(value);
    }
    number_text(format!("{value:.5e}").parse().unwrap_or(value))
}

/// A number in six digits, or in as many as it takes to know it to a hundredth of its standard deviation, if that is more; NaN for
/// one that is not known.
pub(crate) fn rounded_within(value: f64, standard_deviation: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = value.abs().log10().floor() - (0.01 * standard_deviation).log10().floor();
    // A standard deviation of zero takes all digits that a float has, one that is not known none; a conversion saturates.
    let digits = (places as usize).clamp(5, 16);
    format!("{value:.digits$e}").parse().unwrap_or(value)
}

/// A fraction as a percentage of two digits.
pub(crate) fn percent(fraction: f64) -> String {
    let rounded: f64 = format!("{:.1e}", 100.0 * fraction).parse().unwrap_or(fraction);
    format!("{} %", number_text(rounded))
}

/// Whether a cell is a whole number that is written with zeros before it, as keys and codes are: `007` is not 7.
///
/// ```
/// use quince::numbers::has_leading_zeros;
/// assert_eq!(["007", "-01", "0", "0.5", "10", "00:15"].map(has_leading_zeros), [true, true, false, false, false, false]);
/// ```
pub fn has_leading_zeros(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell).as_bytes();
    digits.len() > 1 && digits[0] == b'0' && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a cell is a whole number of more digits than a float keeps, as long keys are: 12345678901234567891 would be read as
/// another number.
///
/// ```
/// use quince::numbers::loses_digits;
/// assert!(loses_digits("12345678901234567891") && loses_digits("-9007199254740993"));
/// // What prints as it was written is kept, and nobody counts the digits behind a point.
/// assert!(!["9007199254740992", "10000000000000000000000", "0.12345678901234567891"].into_iter().any(loses_digits));
/// ```
pub fn loses_digits(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    // Fifteen digits are always kept.
    digits.len() > 15
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<f64>().is_ok_and(|number| number.to_string() != digits)
}

/// Whether a cell looks like a whole number, and is a key or code.
pub(crate) fn is_code(cell: &str) -> bool {
    has_leading_zeros(cell) || loses_digits(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_by_what_is_known_of_them() {
        assert_eq!(rounded_within(5412362.29012345, 0.0687), 5412362.2901);
        assert_eq!(rounded_within(5000000000123.456, 1000.0), 5000000000120.0);
        assert_eq!(rounded_within(-1.0 / 3.0, 0.5), -0.333333);
        assert_eq!(rounded_within(1.0 / 3.0, f64::NAN), 0.333333);
        assert_eq!(rounded_within(1.0 / 3.0, 0.0), 1.0 / 3.0);
        assert_eq!(rounded_within(1e-300, 1e300), 1e-300);
        assert!(rounded_within(f64::NAN, 1.0).is_nan());
    }

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
