//! One-hot rows: a feature for each group of categories, which is 1 in the rows that have it and 0 in all others.

use super::categories::UNKNOWN_CATEGORY;
use super::category_groups::CategoryGroups;
use crate::error::{Error, Result};
use crate::matrix::{Features, Real, Sparse};
use crate::run::{Pace, Run};

/// The one-hot features of columns of categories: those of the first column, then those of the second, and so on.
///
/// ```
/// use quince::Run;
/// use quince::encode::{Categories, CategoryGroups, OneHot, UnknownCategories};
/// let cities = Categories::<str>::in_order(["Bern", "Oslo", "Rome"].map(String::from))?;
/// let codes = ["Rome", "Oslo"].map(|city| cities.code(city).unwrap_or(quince::encode::UNKNOWN_CATEGORY));
/// let groups = CategoryGroups::one_each(cities.count());
/// let one_hot = OneHot::new(&[(&groups, None)])?;
/// let rows = one_hot.sparse(&[&codes], UnknownCategories::Zero, &Run::new())?;
/// assert_eq!(rows, quince::matrix::Sparse::from_rows(3, [vec![(2, 1.0)], vec![(1, 1.0)]])?);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct OneHot<'a> {
    columns: Vec<Column<'a>>,
    width: usize,
}

/// The features of one column.
#[derive(Clone, Debug)]
struct Column<'a> {
    groups: &'a CategoryGroups,
    /// The group without a feature.
    dropped: Option<usize>,
    /// The place of its first feature.
    first: usize,
}

/// What becomes of a cell whose category is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownCategories {
    /// It is 0 in all features of its column.
    Zero,
    /// It counts as rare, and is 0 only in a column without rare categories.
    Rare,
}

/// The number of dense features in a task.
const FEATURES_PER_TASK: usize = 1 << 18;
/// The number of sparse rows between two looks at the clock.
const ROWS_PER_STEP: usize = 1 << 14;

impl<'a> OneHot<'a> {
    /// A feature for each group of each column, but for one that may be dropped.
    pub fn new(columns: &[(&'a CategoryGroups, Option<usize>)]) -> Result<OneHot<'a>> {
        let mut one_hot = OneHot { columns: Vec::new(), width: 0 };
        for &(groups, dropped) in columns {
            let dropped = dropped.filter(|&group| group < groups.count());
            one_hot.columns.push(Column { groups, dropped, first: one_hot.width });
            one_hot.width += groups.count() - usize::from(dropped.is_some());
        }
        if one_hot.width > u32::MAX as usize {
            let problem = format!("there are {} categories, more than features can be numbered", one_hot.width);
            return Err(Error::data(problem, "Drop a column of many categories."));
        }
        Ok(one_hot)
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows of these codes, one list of codes for each column, as a sparse matrix. A code that no category has is unknown.
    pub fn sparse(&self, codes: &[&[u32]], unknown: UnknownCategories, run: &Run) -> Result<Sparse> {
        let (starts, features) = self.places(codes, unknown, run)?;
        let ones = vec![1.0; features.len()];
        Sparse::new(starts.len() - 1, self.width, starts, features, ones)
    }

    /// The features that are 1, row after row, and before them where each row starts, with the end of the last.
    pub fn places(&self, codes: &[&[u32]], unknown: UnknownCategories, run: &Run) -> Result<(Vec<usize>, Vec<u32>)> {
        let rows = self.check(codes)?;
        let (mut starts, mut features) = (Vec::with_capacity(rows + 1), Vec::with_capacity(rows * codes.len()));
        starts.push(0);
        for i in 0..rows {
            if i % ROWS_PER_STEP == 0 {
                run.check()?;
            }
            for (column, codes) in self.columns.iter().zip(codes) {
                features.extend(column.feature(codes[i], unknown).map(|feature| feature as u32));
            }
            starts.push(features.len());
        }
        Ok((starts, features))
    }

    /// Writes the rows of these codes, one after another, into zeros: their ones.
    pub fn write_dense<T: Real>(
        &self,
        codes: &[&[u32]],
        unknown: UnknownCategories,
        zeros: &mut [T],
        run: &Run,
    ) -> Result<()> {
        let rows = self.check(codes)?;
        if rows.checked_mul(self.width) != Some(zeros.len()) {
            let problem = format!("{} numbers are no {rows} rows of {} features", zeros.len(), self.width);
            return Err(Error::shape(problem, "Give as many zeros as rows times features."));
        }
        let some = (FEATURES_PER_TASK / self.width.max(1)).max(1);
        let mut parts: Vec<&mut [T]> = zeros.chunks_mut((some * self.width).max(1)).collect();
        let (mut done, mut pace) = (0, Pace::new(2));
        while done < parts.len() {
            let more = pace.next().min(parts.len() - done);
            run.each(&mut parts[done..done + more], |part, out| {
                for (k, row) in out.chunks_exact_mut(self.width).enumerate() {
                    let i = (done + part) * some + k;
                    for (column, codes) in self.columns.iter().zip(codes) {
                        if let Some(feature) = column.feature(codes[i], unknown) {
                            row[feature] = T::from_f64(1.0);
                        }
                    }
                }
            });
            done += more;
            run.check()?;
        }
        Ok(())
    }

    /// From rows of features back to the group of each cell, one list for each column: that of the largest feature above 0, of
    /// equals the first. Where there is none it is the dropped group, or unknown.
    pub fn groups_of(&self, rows: &Features<'_>, run: &Run) -> Result<Vec<Vec<u32>>> {
        if rows.columns() != self.width {
            let problem = format!("the rows have {} features, the categories {}", rows.columns(), self.width);
            return Err(Error::shape(problem, "Give rows of one-hot features."));
        }
        let column_of: Vec<u32> =
            self.columns.iter().enumerate().flat_map(|(j, c)| vec![j as u32; c.width()]).collect();
        let mut groups: Vec<Vec<u32>> = self.columns.iter().map(|_| Vec::with_capacity(rows.rows())).collect();
        let mut largest = vec![(0.0, None); self.columns.len()];
        for i in 0..rows.rows() {
            if i % ROWS_PER_STEP == 0 {
                run.check()?;
            }
            largest.fill((0.0, None));
            rows.for_row(i, |feature, x| {
                let best = &mut largest[column_of[feature] as usize];
                if x > best.0 {
                    *best = (x, Some(feature));
                }
            });
            for ((column, groups), (_, feature)) in self.columns.iter().zip(&mut groups).zip(&largest) {
                groups.push(column.group(*feature));
            }
        }
        Ok(groups)
    }

    /// The number of rows; an error unless there is a code for every cell.
    fn check(&self, codes: &[&[u32]]) -> Result<usize> {
        let rows = codes.first().map_or(0, |codes| codes.len());
        if codes.len() == self.columns.len() && codes.iter().all(|codes| codes.len() == rows) {
            return Ok(rows);
        }
        let problem = format!("there are codes of {} columns, and categories of {}", codes.len(), self.columns.len());
        Err(Error::shape(problem, "Give a code for every cell."))
    }
}

impl Column<'_> {
    fn width(&self) -> usize {
        self.groups.count() - usize::from(self.dropped.is_some())
    }

    /// The feature that is 1 for a cell with this code.
    fn feature(&self, code: u32, unknown: UnknownCategories) -> Option<usize> {
        let known = self.groups.of_categories().get(code as usize).map(|&group| group as usize);
        let group = known.or(self.groups.rare_group().filter(|_| unknown == UnknownCategories::Rare))?;
        match self.dropped {
            Some(dropped) if group == dropped => None,
            Some(dropped) if group > dropped => Some(self.first + group - 1),
            _ => Some(self.first + group),
        }
    }

    /// The group of a feature, or of a cell without any.
    fn group(&self, feature: Option<usize>) -> u32 {
        match (feature, self.dropped) {
            (Some(feature), Some(dropped)) if feature - self.first >= dropped => (feature - self.first + 1) as u32,
            (Some(feature), _) => (feature - self.first) as u32,
            (None, Some(dropped)) => dropped as u32,
            (None, None) => UNKNOWN_CATEGORY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::category_groups::RareCategories;
    use super::*;
    use crate::matrix::Matrix;

    const UNKNOWN: u32 = UNKNOWN_CATEGORY;

    #[test]
    fn dense_and_sparse_rows_are_the_same_and_lead_back_to_the_groups() {
        // Categories 1 and 3 are rare: groups 0, 2, 1, 2.
        let some = CategoryGroups::new(&[5, 1, 9, 2], RareCategories { min_rows: 3.0, max_groups: None });
        let all = CategoryGroups::one_each(2);
        let codes: [&[u32]; 2] = [&[0, 1, 2, 3, UNKNOWN], &[0, 1, 1, 0, UNKNOWN]];
        // The last row is unknown in both columns; only the first has rare categories for it to be one of.
        let zero = [[1, 0, 0, 1, 0], [0, 0, 1, 0, 1], [0, 1, 0, 0, 1], [0, 0, 1, 1, 0], [0, 0, 0, 0, 0]].concat();
        let rare = [[1, 0, 0, 1, 0], [0, 0, 1, 0, 1], [0, 1, 0, 0, 1], [0, 0, 1, 1, 0], [0, 0, 1, 0, 0]].concat();
        let without_group_1 = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0]].concat();
        let claims = [
            (None, UnknownCategories::Zero, zero),
            (None, UnknownCategories::Rare, rare),
            (Some(1), UnknownCategories::Zero, without_group_1),
        ];
        for (dropped, unknown, expected) in claims {
            let run = Run::new();
            let expected: Vec<f64> = expected.into_iter().map(f64::from).collect();
            let one_hot = OneHot::new(&[(&some, dropped), (&all, dropped)]).unwrap();
            let mut dense = vec![0.0; expected.len()];
            one_hot.write_dense(&codes, unknown, &mut dense, &run).unwrap();
            assert_eq!(dense, expected);
            let sparse = one_hot.sparse(&codes, unknown, &run).unwrap();
            let width = one_hot.width();
            for i in 0..5 {
                let mut row = vec![0.0; width];
                sparse.entries(i).for_each(|(j, x)| row[j] = x);
                assert_eq!(row, expected[i * width..(i + 1) * width]);
            }
            let back = one_hot.groups_of(&sparse.features(), &run).unwrap();
            let of_unknown = dropped.map_or(UNKNOWN, |group| group as u32);
            let rare = if unknown == UnknownCategories::Rare { 2 } else { of_unknown };
            assert_eq!(back, [vec![0, 2, 1, 2, rare], vec![0, 1, 1, 0, of_unknown]]);
            let dense = Matrix::new(5, width, dense).unwrap();
            assert_eq!(one_hot.groups_of(&dense.features(), &run).unwrap(), back);
        }
    }

    #[test]
    fn a_column_whose_only_group_is_dropped_has_no_feature() {
        let groups = CategoryGroups::one_each(1);
        let one_hot = OneHot::new(&[(&groups, Some(0))]).unwrap();
        assert_eq!(one_hot.width(), 0);
        one_hot.write_dense::<f64>(&[&[0, 0]], UnknownCategories::Zero, &mut [], &Run::new()).unwrap();
        let rows = one_hot.sparse(&[&[0, 0]], UnknownCategories::Zero, &Run::new()).unwrap();
        assert_eq!(one_hot.groups_of(&rows.features(), &Run::new()).unwrap(), [[0, 0]]);
    }

    #[test]
    fn codes_of_other_columns_are_refused() {
        let groups = CategoryGroups::one_each(3);
        let one_hot = OneHot::new(&[(&groups, None), (&groups, None)]).unwrap();
        let refused = |codes: &[&[u32]]| one_hot.sparse(codes, UnknownCategories::Zero, &Run::new()).is_err();
        assert!(refused(&[&[0]]) && refused(&[&[0], &[0, 1]]) && !refused(&[&[0], &[7]]));
        let dense = one_hot.write_dense(&[&[0], &[1]], UnknownCategories::Zero, &mut [0.0; 5], &Run::new());
        assert_eq!(dense.unwrap_err().to_string(), "5 numbers are no 1 rows of 6 features");
    }
}
