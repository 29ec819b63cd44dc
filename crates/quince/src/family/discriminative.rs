//! Discriminative words: those that distinguish a class from all others, ranked by the z-score of their log ratio.
//!
//! A word that occurs n times out of N in the class, and m times out of M elsewhere, has the log ratio
//!
//! ```text
//! r = ln (n + ½) / (N + ½) - ln (m + ½) / (M + ½),
//! ```
//!
//! whose standard deviation is about the root of 1 / (n + ½) + 1 / (m + ½). Ranked by r alone, words come first that occur
//! once and nowhere else; ranked by frequency, `the` and `and`. Ranked by the z-score, r in standard deviations, those come
//! first whose ratio is the least likely to be chance.

use crate::matrix::Matrix;

/// The words that are more frequent in a class than elsewhere, by falling z-score. Counts have one row per class; `totals`
/// are the N.
pub(crate) fn discriminative_words(counts: &Matrix, totals: &[f64], words: usize, class: usize) -> Vec<usize> {
    let elsewhere = totals.iter().sum::<f64>() - totals[class];
    let ratio = |j: usize| {
        let here = counts[(class, j)];
        let there = (0..totals.len()).map(|k| counts[(k, j)]).sum::<f64>() - here;
        let [n, all, m, rest] = [here, totals[class], there, elsewhere].map(|count| count.max(0.0) + 0.5);
        (n / all * rest / m).ln() / (1.0 / n + 1.0 / m).sqrt()
    };
    let mut ranked: Vec<(f64, usize)> = (0..words).map(|j| (ratio(j), j)).filter(|(ratio, _)| *ratio > 0.0).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().map(|(_, j)| j).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_words_come_first() {
        // the: equally frequent everywhere; bad: twice as frequent; once: seen once, and nowhere else; good: the other
        // class's.
        let counts = Matrix::from_rows(&[[500.0, 40.0, 1.0, 5.0], [500.0, 20.0, 0.0, 40.0]]);
        assert_eq!(discriminative_words(&counts, &[546.0, 560.0], 4, 0), [1, 2, 0]);
        assert_eq!(discriminative_words(&counts, &[546.0, 560.0], 4, 1), [3]);
    }

    #[test]
    fn where_there_is_no_other_class_what_occurs_comes_first() {
        // Nothing was counted elsewhere: only the added halves remain there, and only what occurs is above them.
        let counts = Matrix::from_rows(&[[1.0, 5.0, 0.0]]);
        assert_eq!(discriminative_words(&counts, &[6.0], 3, 0).first(), None);
        let counts = Matrix::from_rows(&[[1.0, 5.0, 0.0], [0.0, 0.0, 0.0]]);
        assert_eq!(discriminative_words(&counts, &[6.0, 6.0], 3, 0), [1, 0]);
    }
}
