//! Ways to split rows into parts: every way is seeded, and its parts are disjoint and cover all rows.

use crate::error::{Error, Result};
use crate::learn::{Target, TargetView};
use crate::run::Stream;

/// Rows to learn from and rows to be tested on.
///
/// ```
/// use quince::evaluate::{Split, leave_one_out};
/// assert_eq!(leave_one_out(3)[1], Split { train: vec![0, 2], test: vec![1] });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from, rising.
    pub train: Vec<usize>,
    /// Rows to test on, rising.
    pub test: Vec<usize>,
}

/// `folds` splits, each row tested once. Rows of a class are divided evenly over the folds; so are numbers, at random.
///
/// ```
/// use quince::evaluate::stratified_folds;
/// use quince::learn::Target;
/// use quince::run::Stream;
/// let target = Target::labels(&["a", "a", "b", "b"]);
/// let folds = stratified_folds(&target, 2, &mut Stream::new(7, 0))?;
/// assert!(folds.iter().all(|fold| fold.train.len() == 2 && fold.test.len() == 2));
/// # quince::Result::Ok(())
/// ```
pub fn stratified_folds(target: &Target, folds: usize, stream: &mut Stream) -> Result<Vec<Split>> {
    check_folds(folds, target.rows())?;
    let mut fold_of = vec![0; target.rows()];
    let mut next = 0;
    for mut rows in strata(target)? {
        stream.shuffle(&mut rows);
        // The deal goes on where the last class stopped, so that folds differ by one row at most.
        for row in rows {
            fold_of[row] = next % folds;
            next += 1;
        }
    }
    Ok(splits(&fold_of, folds))
}

/// `folds` splits that never separate a group: the largest group goes first, each to the fold with the fewest rows so far.
///
/// ```
/// use quince::evaluate::grouped_folds;
/// use quince::run::Stream;
/// let folds = grouped_folds(&[5, 5, 8, 8], 2, &mut Stream::new(7, 0))?;
/// assert!(folds.iter().all(|fold| fold.test == [0, 1] || fold.test == [2, 3]));
/// # quince::Result::Ok(())
/// ```
pub fn grouped_folds(groups: &[u32], folds: usize, stream: &mut Stream) -> Result<Vec<Split>> {
    let mut members = std::collections::BTreeMap::<u32, Vec<usize>>::new();
    groups.iter().enumerate().for_each(|(i, &group)| members.entry(group).or_default().push(i));
    let mut members: Vec<Vec<usize>> = members.into_values().collect();
    if members.len() < folds {
        return Err(Error::data(
            format!("{} groups cannot be spread over {folds} folds", members.len()),
            format!("Use at most {} folds.", members.len()),
        ));
    }
    check_folds(folds, groups.len())?;
    stream.shuffle(&mut members);
    members.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
    let mut fold_of = vec![0; groups.len()];
    let mut sizes = vec![0; folds];
    for rows in members {
        let fold = (0..folds).min_by_key(|&fold| sizes[fold]).unwrap_or(0);
        sizes[fold] += rows.len();
        rows.into_iter().for_each(|row| fold_of[row] = fold);
    }
    Ok(splits(&fold_of, folds))
}

/// One split per row: it alone is tested.
///
/// ```
/// let splits = quince::evaluate::leave_one_out(3);
/// assert!(splits.iter().enumerate().all(|(i, split)| split.test == [i] && split.train.len() == 2));
/// ```
pub fn leave_one_out(rows: usize) -> Vec<Split> {
    (0..rows).map(|i| Split { train: (0..rows).filter(|&k| k != i).collect(), test: vec![i] }).collect()
}

/// A single split with about a share `test` of the rows (of each class) to test on, and at least one row on either side.
///
/// ```
/// use quince::evaluate::hold_out;
/// use quince::learn::Target;
/// use quince::run::Stream;
/// let split = hold_out(&Target::labels(&["a", "a", "a", "a", "b", "b", "b", "b"]), 0.25, &mut Stream::new(7, 0))?;
/// assert_eq!((split.train.len(), split.test.len()), (6, 2));
/// # quince::Result::Ok(())
/// ```
pub fn hold_out(target: &Target, test: f64, stream: &mut Stream) -> Result<Split> {
    let [train, _, test] = train_validation_test(target, 0.0, test, stream)?;
    Ok(Split { train, test })
}

/// Three parts: to learn from, to choose settings on, and to test once. Shares hold within each class.
///
/// ```
/// use quince::evaluate::train_validation_test;
/// use quince::learn::Target;
/// use quince::run::Stream;
/// let target = Target::labels(&["a", "a", "a", "a", "b", "b", "b", "b"]);
/// let [train, validation, test] = train_validation_test(&target, 0.25, 0.25, &mut Stream::new(7, 0))?;
/// assert_eq!((train.len(), validation.len(), test.len()), (4, 2, 2));
/// # quince::Result::Ok(())
/// ```
pub fn train_validation_test(
    target: &Target,
    validation: f64,
    test: f64,
    stream: &mut Stream,
) -> Result<[Vec<usize>; 3]> {
    let fine = validation >= 0.0 && test > 0.0 && validation + test < 1.0;
    if !fine {
        return Err(Error::setting(
            "hold-out",
            match validation {
                _ if validation == 0.0 => format!("cannot be {test}"),
                _ => format!("cannot be {validation} for validation and {test} for testing"),
            },
            "Shares are above zero and leave some rows to learn from.",
        ));
    }
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    for mut rows in strata(target)? {
        stream.shuffle(&mut rows);
        let n = rows.len() as f64;
        // A class of several rows has at least one to learn from.
        let most = rows.len().saturating_sub(1);
        let tested = ((test * n).round() as usize).min(most);
        let validated = ((validation * n).round() as usize).min(most - tested);
        for (place, row) in rows.into_iter().enumerate() {
            let part = if place < tested { 2 } else { usize::from(place < tested + validated) };
            parts[part].push(row);
        }
    }
    if parts[0].is_empty() || parts[2].is_empty() || (validation > 0.0 && parts[1].is_empty()) {
        return Err(Error::data(
            format!("{} rows are too few for these shares", target.rows()),
            "Use larger shares, or cross-validation.",
        ));
    }
    parts.iter_mut().for_each(|rows| rows.sort_unstable());
    Ok(parts)
}

/// The rows of each class; all rows together if the target is numbers.
fn strata(target: &Target) -> Result<Vec<Vec<usize>>> {
    target.check_known()?;
    Ok(match target.view() {
        TargetView::Numbers(_) | TargetView::None(_) => vec![(0..target.rows()).collect()],
        TargetView::Classes { classes, codes } => {
            let mut strata = vec![Vec::new(); classes.count()];
            codes.iter().enumerate().for_each(|(i, &code)| strata[code as usize].push(i));
            strata
        }
    })
}

fn check_folds(folds: usize, rows: usize) -> Result<()> {
    if folds < 2 || folds > rows {
        return Err(Error::setting(
            "folds",
            format!("cannot be {folds} with {rows} rows"),
            format!("Use from 2 to {rows} folds."),
        ));
    }
    Ok(())
}

fn splits(fold_of: &[usize], folds: usize) -> Vec<Split> {
    let rows = |keep: &dyn Fn(usize) -> bool| (0..fold_of.len()).filter(|&i| keep(fold_of[i])).collect();
    (0..folds).map(|fold| Split { train: rows(&|f| f != fold), test: rows(&|f| f == fold) }).collect()
}
