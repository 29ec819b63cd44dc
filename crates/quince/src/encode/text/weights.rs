//! Weights of terms: sublinear frequencies, inverse document frequencies, and rows of one length.

use crate::matrix::{divide_rows, euclidean_length};

/// What the terms of a row are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TermNorm {
    /// The sum of their absolute values.
    L1,
    /// Their Euclidean length.
    L2,
}

/// How the counts of terms are weighted: tf-idf, with or without its parts.
///
/// ```
/// use quince::encode::{TermNorm, TermWeights};
/// // Of two rows both have the first word, and one the second.
/// let idf = TermWeights::inverse_document_frequencies(2, &[2, 1], true);
/// assert_eq!(idf, [1.0, 1.0 + 1.5_f64.ln()]);
/// let weights = TermWeights { idf: Some(&idf), norm: Some(TermNorm::L1), ..TermWeights::default() };
/// let row = weights.weigh(&[0, 2], &[0, 1], vec![3, 1]);
/// assert!((row[0] + row[1] - 1.0).abs() < 1e-15 && row[0] > row[1]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TermWeights<'a> {
    /// Whether 1 + ln(count) stands for a count (sublinear term frequency).
    pub sublinear: bool,
    /// The inverse document frequency of every place, if counts are multiplied by it; a place beyond has 1.
    pub idf: Option<&'a [f64]>,
    /// What every row is divided by; an empty row stays empty.
    pub norm: Option<TermNorm>,
}

impl TermWeights<'_> {
    /// 1 + ln(n / n_w) for every word w, of n rows of which n_w have it. Smoothed, as if one more row had every word:
    /// 1 + ln((1 + n) / (1 + n_w)). A word that no row has is infinitely rare unless smoothed.
    pub fn inverse_document_frequencies(rows: usize, rows_with: &[u32], smooth: bool) -> Vec<f64> {
        let more = f64::from(u8::from(smooth));
        let rows = more + rows as f64;
        rows_with.iter().map(|&with| 1.0 + (rows / (more + f64::from(with))).ln()).collect()
    }

    /// The weighted counts of rows. `starts` says where each row begins, and where the last ends; `indices` is the place of each
    /// count.
    ///
    /// # Panics
    ///
    /// If a row begins or ends beyond the counts.
    pub fn weigh(&self, starts: &[usize], indices: &[u32], counts: Vec<i64>) -> Vec<f64> {
        let frequency = |count: i64| {
            let size = count.unsigned_abs() as f64;
            count.signum() as f64 * if self.sublinear { 1.0 + size.ln() } else { size }
        };
        let idf = self.idf.unwrap_or(&[]);
        let weight = |place: u32| idf.get(place as usize).copied().unwrap_or(1.0);
        let weighed = |(count, &place): (i64, &u32)| if count == 0 { 0.0 } else { frequency(count) * weight(place) };
        // In the same memory.
        let mut values: Vec<f64> = counts.into_iter().zip(indices).map(weighed).collect();
        match self.norm {
            None => {}
            Some(TermNorm::L1) => divide_rows(starts, &mut values, |row| row.iter().map(|x| x.abs()).sum()),
            Some(TermNorm::L2) => divide_rows(starts, &mut values, euclidean_length),
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_tf_idf_is_its_formula() {
        // Rows: a a b; b; nothing. Two rows have b, one has a.
        let (starts, indices, counts) = ([0, 2, 3, 3], [0, 1, 1], vec![2, 1, 1]);
        let ln = |x: f64| x.ln();
        let smooth = TermWeights::inverse_document_frequencies(3, &[1, 2], true);
        assert_eq!(smooth, [1.0 + ln(2.0), 1.0 + ln(4.0 / 3.0)]);
        let plain = TermWeights::inverse_document_frequencies(3, &[1, 2], false);
        assert_eq!(plain, [1.0 + ln(3.0), 1.0 + ln(1.5)]);
        let weigh = |weights: TermWeights<'_>| weights.weigh(&starts, &indices, counts.clone());
        assert_eq!(weigh(TermWeights::default()), [2.0, 1.0, 1.0]);
        let sublinear = TermWeights { sublinear: true, ..TermWeights::default() };
        assert_eq!(weigh(sublinear), [1.0 + ln(2.0), 1.0, 1.0]);
        let tf_idf = TermWeights { idf: Some(&plain), ..TermWeights::default() };
        assert_eq!(weigh(tf_idf), [2.0 * plain[0], plain[1], plain[1]]);
        let l1 = weigh(TermWeights { norm: Some(TermNorm::L1), ..TermWeights::default() });
        assert_eq!(l1, [2.0 / 3.0, 1.0 / 3.0, 1.0]);
        let l2 = weigh(TermWeights { norm: Some(TermNorm::L2), ..TermWeights::default() });
        assert_eq!(l2, [2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt(), 1.0]);
    }

    #[test]
    fn counts_below_zero_keep_their_sign_and_those_that_cancel_out_stay_zero() {
        let sublinear = TermWeights { sublinear: true, norm: Some(TermNorm::L1), idf: None };
        let size = 1.0 + 2.0_f64.ln();
        assert_eq!(
            sublinear.weigh(&[0, 3], &[0, 1, 2], vec![-2, 0, 1]),
            [-size / (size + 1.0), 0.0, 1.0 / (size + 1.0)]
        );
        assert_eq!(sublinear.weigh(&[0, 1], &[0], vec![0]), [0.0]);
    }
}
