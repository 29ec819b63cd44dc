//! Feature selection: scores of features against classes.
//!
//! The mutual information of a feature that is there or not and a class is I = Σ p(f, c) ln(p(f, c) / p(f) p(c)) over
//! f ∈ {there, not there} and all classes c, with the shares of rows as p and 0 ln 0 = 0.
//!
//! Chi-squared compares, for each class, the sum of a feature with what it would be if the classes did not matter:
//! χ² = Σ (o_c - e_c)² / e_c, e_c = (sum of the feature) · (share of the class).

use crate::error::{Error, Result};
use crate::learn::Target;
use crate::matrix::{Features, afford};

/// The class of each row, and how many classes there are.
pub type ClassCodes<'a> = (&'a [u32], usize);

/// A contingency table: sums of features by class.
pub(crate) struct ContingencyTable {
    features: usize,
    /// Rows of each class.
    rows: Vec<f64>,
    /// For each feature its sum in each class.
    sums: Vec<f64>,
}

impl ContingencyTable {
    /// For this many rows and features; an error unless every row has a class, or is known to have none.
    pub(crate) fn new((count, features): (usize, usize), class_of: &[u32], classes: usize) -> Result<ContingencyTable> {
        if class_of.len() != count
            || class_of.iter().any(|&class| class != Target::UNKNOWN && class as usize >= classes)
        {
            return Err(Error::data("there is not one class for every row", "Give every row a class."));
        }
        let mut rows = vec![0.0; classes];
        class_of.iter().filter(|class| **class != Target::UNKNOWN).for_each(|&class| rows[class as usize] += 1.0);
        Ok(ContingencyTable { features, rows, sums: vec![0.0; features * classes] })
    }

    /// Rows without a class do not count.
    pub(crate) fn add(&mut self, class: u32, feature: usize, value: f64) {
        if class == Target::UNKNOWN {
            return;
        }
        self.sums[feature * self.rows.len() + class as usize] += value;
    }

    fn of(&self, feature: usize) -> &[f64] {
        &self.sums[feature * self.rows.len()..(feature + 1) * self.rows.len()]
    }

    /// In nats, where sums are numbers of rows that have the feature.
    pub(crate) fn mutual_information(&self) -> Vec<f64> {
        let all: f64 = self.rows.iter().sum();
        let one = |feature: usize| {
            let with: f64 = self.of(feature).iter().sum();
            let term = |both: f64, of_feature: f64, of_class: f64| match both > 0.0 {
                true => both / all * (both * all / (of_feature * of_class)).ln(),
                false => 0.0,
            };
            let pairs = self.of(feature).iter().zip(&self.rows);
            let sum: f64 = pairs.map(|(&there, &of)| term(there, with, of) + term(of - there, all - with, of)).sum();
            sum.max(0.0)
        };
        (0..self.features).map(one).collect()
    }

    /// NaN for a feature that is zero everywhere.
    pub(crate) fn chi_squared(&self) -> Vec<f64> {
        let all: f64 = self.rows.iter().sum();
        let one = |feature: usize| {
            let sum: f64 = self.of(feature).iter().sum();
            let pairs = self.of(feature).iter().zip(&self.rows).filter(|(_, of)| **of > 0.0);
            pairs.map(|(&seen, &of)| (seen - sum * of / all).powi(2) / (sum * of / all)).sum()
        };
        (0..self.features).map(one).collect()
    }
}

/// The places of the largest scores, rising; of equal scores the first, and what is no number last.
pub(crate) fn best(scores: &[f64], count: usize) -> Vec<usize> {
    let score = |at: usize| if scores[at].is_nan() { f64::NEG_INFINITY } else { scores[at] };
    let mut places: Vec<usize> = (0..scores.len()).collect();
    places.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    places.truncate(count);
    places.sort_unstable();
    places
}

/// The mutual information of the presence of each column (is it above zero?) and the class of a row, in nats.
///
/// ```
/// use quince::Matrix;
/// let rows = Matrix::from_rows(&[[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]);
/// let found = quince::encode::select::mutual_information(&rows.features(), &[0, 0, 1, 1], 2)?;
/// // The first column says which class it is; the second says nothing.
/// assert!((found[0] - 2f64.ln()).abs() < 1e-12 && found[1].abs() < 1e-12);
/// # quince::Result::Ok(())
/// ```
pub fn mutual_information(rows: &Features<'_>, class_of: &[u32], classes: usize) -> Result<Vec<f64>> {
    Ok(table(rows, class_of, classes, |value| f64::from(u8::from(value > 0.0)))?.mutual_information())
}

/// The chi-squared statistic of each column, which must hold counts or other numbers of at least zero, and the classes.
///
/// ```
/// use quince::Matrix;
/// let rows = Matrix::from_rows(&[[1.0], [0.0]]);
/// // One is seen in the first class and none in the second, where half is expected in each: ½² / ½ twice.
/// assert_eq!(quince::encode::select::chi_squared(&rows.features(), &[0, 1], 2)?, [1.0]);
/// # quince::Result::Ok(())
/// ```
pub fn chi_squared(rows: &Features<'_>, class_of: &[u32], classes: usize) -> Result<Vec<f64>> {
    Ok(table(rows, class_of, classes, |value| value)?.chi_squared())
}

fn table(
    rows: &Features<'_>,
    class_of: &[u32],
    classes: usize,
    value: impl Fn(f64) -> f64,
) -> Result<ContingencyTable> {
    afford(8.0 * rows.columns() as f64 * classes as f64, &format!("{} features by class", rows.columns()))?;
    let mut table = ContingencyTable::new((rows.rows(), rows.columns()), class_of, classes)?;
    for (i, &class) in class_of.iter().enumerate() {
        let mut wrong = None;
        rows.for_row(i, |j, x| match x >= 0.0 && x.is_finite() {
            true => table.add(class, j, value(x)),
            false => wrong = wrong.or(Some((j, x))),
        });
        if let Some((j, x)) = wrong {
            return Err(Error::data(
                format!("{x} in row {}, column {} is no count", i + 1, j + 1),
                "Counts are numbers of at least zero.",
            ));
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Sparse;

    #[test]
    fn a_feature_that_is_the_class_says_all_of_it() {
        let rows = Sparse::from_rows(2, (0..8u32).map(|i| if i % 2 == 0 { vec![(0, 3.0)] } else { vec![] })).unwrap();
        let class_of: Vec<u32> = (0..8).map(|i| i % 2).collect();
        let found = mutual_information(&rows.features(), &class_of, 2).unwrap();
        assert!((found[0] - 2f64.ln()).abs() < 1e-15 && found[1] == 0.0);
        let found = chi_squared(&rows.features(), &class_of, 2).unwrap();
        assert!((found[0] - 12.0).abs() < 1e-12 && found[1].is_nan());
        assert_eq!(best(&found, 1), [0]);
    }
}
