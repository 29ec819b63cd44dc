//! Missing values as something that a row says: filled, with an indicator beside them.
//!
//! A missing value may be left out of distances, as if the column had never been. Where it is no accident that a value is
//! missing, that loses what it says. Then each column with missing values gets one feature more, 1 where its value is missing and 0
//! elsewhere, and is itself filled: a number by the mean, a category by none of its categories. A missing category is then as far from
//! any other as two categories are from each other, as if `missing` were one of them, and a missing number (standardised) as far as two
//! numbers are on average.

use crate::error::{Error, Result};
use crate::learn::{FeatureKind, FeatureMap, SavedParts};
use crate::matrix::{Features, Matrix, Rows};
use crate::run::Run;
use std::collections::BTreeMap;

crate::choices! {
    /// What a missing value does to a distance.
    pub enum MissingRule {
        /// The one of the other two that is better in leave-one-out; rows of a matrix leave them out.
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

/// How many numbers are read between two looks at the clock.
const NUMBERS_PER_CHECK: usize = 1 << 20;

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
    /// Learns from rows with missing values; features of one column have one indicator.
    pub(super) fn learn(rows: &Rows, map: &FeatureMap, run: &Run) -> Result<MissingIndicators> {
        let dense = rows.dense();
        let width = dense.columns();
        let (mut known, mut first) = (vec![0usize; width], vec![0.0; width]);
        each_row(dense, run, |row| {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
                if known[j] == 0 {
                    first[j] = x;
                }
                known[j] += 1;
            }
        })?;
        // About the first value, so that no sum overflows.
        let mut means = vec![0.0; width];
        each_row(dense, run, |row| {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
                means[j] += (x - first[j]) / known[j] as f64;
            }
        })?;
        means.iter_mut().zip(first).for_each(|(mean, first)| *mean += first);
        let origins = origins(map, width);
        let (mut indicator, mut count) = (vec![NO_INDICATOR; width], 0);
        let mut of_columns = BTreeMap::new();
        for (j, origin) in origins.iter().enumerate().filter(|(j, _)| known[*j] < dense.rows()) {
            let mut next = || {
                count += 1;
                count - 1
            };
            indicator[j] = match origin.column {
                Some(column) => *of_columns.entry(column).or_insert_with(next),
                None => next(),
            };
        }
        let fill = |(origin, mean): (&Origin, f64)| if origin.of_category || !mean.is_finite() { 0.0 } else { mean };
        let fill = origins.iter().zip(means).map(fill).collect();
        Ok(MissingIndicators { fill, indicator, count: count as usize })
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
        let step = rows_per_check(width + self.count);
        for i in 0..count {
            if i.is_multiple_of(step) {
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
        let mut of_indicators = vec![1.0; self.count];
        // The first feature of a column comes last, and stays.
        for (j, &indicator) in self.indicator.iter().enumerate().rev().filter(|(_, i)| **i != NO_INDICATOR) {
            of_indicators[indicator as usize] = weights[j];
        }
        [&weights[..width], &of_indicators, &weights[width..]].concat()
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

/// Where a dense feature comes from.
#[derive(Clone, Copy, Default)]
struct Origin {
    /// Its column, if it is a single one.
    column: Option<usize>,
    /// Whether it is one of the features of a category, which are all zero where there is none.
    of_category: bool,
}

/// The origins of this many dense features.
fn origins(map: &FeatureMap, width: usize) -> Vec<Origin> {
    let mut origins = vec![Origin::default(); width];
    for group in map.groups.iter().filter(|group| !group.kind.is_sparse()) {
        let own = origins.iter_mut().skip(group.first).take(group.width);
        let of_category = group.kind == FeatureKind::CategoryFeature;
        own.for_each(|origin| *origin = Origin { column: group.column, of_category });
    }
    origins
}

/// Calls `look` for every row, and asks the run in between.
fn each_row(rows: &Matrix, run: &Run, mut look: impl FnMut(&[f64])) -> Result<()> {
    let step = rows_per_check(rows.columns());
    for i in 0..rows.rows() {
        if i.is_multiple_of(step) {
            run.check()?;
        }
        look(rows.row(i));
    }
    Ok(())
}

fn rows_per_check(width: usize) -> usize {
    (NUMBERS_PER_CHECK / width.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::TickClock;
    use std::time::Duration;

    /// How many budgets, each a look longer than the one before, end within the work.
    fn budgets_too_short(work: impl Fn(&Run) -> Result<()>) -> usize {
        let tick = Duration::from_millis(1);
        let run = |looks: u32| Run::new().clock(TickClock::new(tick)).budget(tick * looks);
        (0..).take_while(|&looks| matches!(work(&run(looks)), Err(Error::OutOfTime { .. }))).count()
    }

    #[test]
    fn every_pass_looks_at_the_clock() {
        let (rows, width) = (3 * NUMBERS_PER_CHECK / 64, 64);
        let mut x = Matrix::zeros(rows, width);
        x[(5, 7)] = f64::NAN;
        let map = FeatureMap::of_matrix(&x.features(), &[]);
        let rows = Rows::from(x);
        // Numbers are counted, and added up: three looks each.
        assert!(budgets_too_short(|run| MissingIndicators::learn(&rows, &map, run).map(drop)) >= 6);
        let missing = MissingIndicators::learn(&rows, &map, &Run::new()).unwrap();
        assert!(budgets_too_short(|run| missing.apply(&rows.features(), run).map(drop)) >= 3);
    }

    #[test]
    fn an_indicator_weighs_what_the_first_feature_of_its_column_does() {
        let missing = MissingIndicators { fill: vec![0.0; 4], indicator: vec![NO_INDICATOR, 0, 0, 1], count: 2 };
        // One sparse feature follows the dense ones.
        assert_eq!(missing.weights(&[1.0, 2.0, 3.0, 4.0, 5.0]), [1.0, 2.0, 3.0, 4.0, 2.0, 4.0, 5.0]);
        assert!(missing.weights(&[]).is_empty());
    }
}
