//! Missing values as something that a row says: filled, with an indicator beside them.
//!
//! A missing value may be left out of distances, as if the column had never been. Where it is no accident that a value is
//! missing, that loses what it says. Then each column with missing values gets one feature more, 1 where its value is missing and 0
//! elsewhere, and is itself filled: a number by the mean, a category by none of its categories. A missing category is then as far from
//! any other as two categories are from each other, as if `missing` were one of them, and a missing number (standardised) as far as two
//! numbers are on average.

use crate::error::{Error, Result};
use crate::learn::SavedParts;
use crate::matrix::{Features, Matrix, Rows};
use crate::run::Run;

crate::choices! {
    /// What a missing value does to a distance.
    pub enum MissingRule {
        /// The one of the other two with the smaller leave-one-out loss; rows of a matrix leave them out.
        #[default]
        Auto = "auto",
        /// Its column is left out of the distance, and the others count for it.
        LeftOut = "left-out",
        /// It is filled, and a feature more says that it is missing.
        Indicator = "indicator",
    }
}

/// The column of a feature that is never missing.
const NO_INDICATOR: u32 = u32::MAX;

/// How missing values are filled, and which have indicators.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MissingIndicators {
    /// What a missing value of each dense feature becomes.
    fill: Vec<f64>,
    /// The indicator of each dense feature, counted from 0.
    indicator: Vec<u32>,
    count: usize,
}

impl MissingIndicators {
    /// Learns from rows with missing values; features of one category that are missing together have one indicator.
    pub(super) fn learn(rows: &Rows) -> MissingIndicators {
        let dense = rows.dense();
        let width = dense.columns();
        let (mut fill, mut indicator) = (vec![0.0; width], vec![NO_INDICATOR; width]);
        let mut count = 0u32;
        for j in 0..width {
            let known = || (0..dense.rows()).map(|i| dense[(i, j)]).filter(|x| !x.is_nan());
            let (n, has_missing) = (known().count(), known().count() < dense.rows());
            if has_missing {
                let same = j > 0 && indicator[j - 1] != NO_INDICATOR && are_of_one_category(dense, j - 1, j);
                count += u32::from(!same);
                indicator[j] = count - 1;
            }
            let is_category = (j > 0 && are_of_one_category(dense, j - 1, j))
                || (j + 1 < width && are_of_one_category(dense, j, j + 1));
            // About the first value, so that no sum overflows.
            let first = known().next().unwrap_or(0.0);
            let mean = first + known().map(|x| (x - first) / n.max(1) as f64).sum::<f64>();
            fill[j] = if is_category || !mean.is_finite() { 0.0 } else { mean };
        }
        MissingIndicators { fill, indicator, count: count as usize }
    }

    /// Rows with their missing values filled, and indicators behind the dense features.
    pub(super) fn apply(&self, rows: &Features<'_>, run: &Run) -> Result<Rows> {
        let (count, width) = (rows.rows(), self.fill.len());
        if rows.dense_columns() != width {
            let problem = format!("the queries have {} dense columns, the rows have {width}", rows.dense_columns());
            return Err(Error::data(problem, "Give the same columns."));
        }
        let mut dense = Matrix::zeros(count, width + self.count);
        let alone = rows.dense_alone();
        let mut row = vec![0.0f64; width];
        for i in 0..count {
            if i.is_multiple_of(4096) {
                run.check()?;
            }
            alone.pack(std::iter::once(i), &mut row);
            let out = dense.row_mut(i);
            for (j, &x) in row.iter().enumerate() {
                out[j] = if x.is_nan() { self.fill[j] } else { x };
                if x.is_nan() && self.indicator[j] != NO_INDICATOR {
                    out[width + self.indicator[j] as usize] = 1.0;
                }
            }
        }
        Ok(Rows::of(dense, rows.sparse_part().cloned()))
    }

    /// The weights of the features, with those of the indicators: each counts as the first feature of its column.
    pub(super) fn weights(&self, weights: &[f64]) -> Vec<f64> {
        if weights.is_empty() {
            return Vec::new();
        }
        let width = self.fill.len();
        let of_indicator = |k: usize| {
            let first = self.indicator.iter().position(|&indicator| indicator as usize == k);
            first.map_or(1.0, |j| weights[j])
        };
        let indicators = (0..self.count).map(of_indicator);
        weights[..width].iter().copied().chain(indicators).chain(weights[width..].iter().copied()).collect()
    }

    /// How many dense features there are before that.
    pub(super) fn dense_columns(&self) -> usize {
        self.fill.len()
    }

    /// How many features come to those that there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_vector("missing_fill", &self.fill);
        parts.put_indices("missing_indicators", &self.indicator);
    }

    /// What was saved, if anything was.
    pub(super) fn load(parts: &mut SavedParts<'_>) -> Result<Option<MissingIndicators>> {
        if !parts.has("missing_fill") {
            return Ok(None);
        }
        let fill = parts.take_vector("missing_fill", None)?;
        let indicator = parts.take_indices("missing_indicators", Some(fill.len()))?;
        let indicators = || indicator.iter().copied().filter(|&indicator| indicator != NO_INDICATOR);
        let count = indicators().max().map_or(0, |last| last as usize + 1);
        if fill.iter().any(|x| !x.is_finite())
            || (0..count).any(|k| !indicators().any(|indicator| indicator as usize == k))
        {
            return Err(parts.wrong("the indicators of missing values do not fit"));
        }
        Ok(Some(MissingIndicators { fill, indicator, count }))
    }
}

/// Whether two neighbouring features are of one category: zeros and ones, never one in both, and missing together.
fn are_of_one_category(rows: &Matrix, a: usize, b: usize) -> bool {
    let fits = |i: usize| match (rows[(i, a)], rows[(i, b)]) {
        (x, y) if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
        (x, y) => (x == 0.0 || x == 1.0) && (y == 0.0 || y == 1.0) && x + y < 2.0,
    };
    (0..rows.rows()).all(fits)
}
