//! How rows are split for a comparison or a curve.

use super::resample::{Split, grouped_folds, hold_out, stratified_folds};
use crate::error::{Error, Place, Result};
use crate::learn::TargetView;
use crate::run::Run;
use crate::table::Labelled;

/// How the rows are split.
///
/// ```
/// use quince::evaluate::{Folds, compare};
/// use quince::learn::DynLearner;
/// use quince::prelude::*;
/// let table = Table::from_csv("x,y\n1,2\n2,4\n3,6\n4,8\n")?.labelled("y", Some(quince::learn::Task::Regression))?;
/// let methods: [Box<dyn DynLearner>; 1] = [Box::new(LeastSquares::default())];
/// // The rows of a group are tested together.
/// let board = compare(&table, &methods, &Folds::Grouped(2, vec![0, 0, 1, 1]), None, None, &Run::new())?;
/// assert_eq!((board.folds, board.rows), (2, 4));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Folds {
    /// Each row is tested once, in one of this number of folds.
    K(usize),
    /// The same, and rows with the same group number are never separated.
    Grouped(usize, Vec<u32>),
    /// This fraction of the rows (of each class) is tested once, by the model learnt from the rest.
    HoldOut(f64),
    /// Each row is tested by the model learnt from all others.
    LeaveOneOut,
}

impl Default for Folds {
    /// Ten.
    fn default() -> Folds {
        Folds::K(10)
    }
}

impl Folds {
    /// As a user asks for them: a number of folds, or `loo` for leave-one-out; or instead of them a share of the rows to test once; and
    /// groups whose rows are to stay together.
    ///
    /// ```
    /// use quince::evaluate::Folds;
    /// assert_eq!(Folds::of("loo", None, None)?, Folds::LeaveOneOut);
    /// assert_eq!(Folds::of("2", None, Some(vec![0, 1]))?, Folds::Grouped(2, vec![0, 1]));
    /// assert!(Folds::of("loo", None, Some(vec![0, 1])).is_err() && Folds::of("1", None, None).is_err());
    /// # quince::Result::Ok(())
    /// ```
    pub fn of(folds: &str, hold_out: Option<f64>, groups: Option<Vec<u32>>) -> Result<Folds> {
        let apart = |way: &str| {
            let problem = format!("cannot be kept together when {way}");
            Err(Error::setting("group", problem, "Use a number of folds with groups."))
        };
        match (hold_out, folds, groups) {
            (Some(_), _, Some(_)) => apart("a share of the rows is held out"),
            (Some(share), _, None) => Ok(Folds::HoldOut(share)),
            (None, "loo", Some(_)) => apart("each row is left out alone"),
            (None, "loo", None) => Ok(Folds::LeaveOneOut),
            (None, count, groups) => {
                let count = count.parse().ok().filter(|&k: &usize| k >= 2).ok_or_else(|| {
                    let remedy = "It takes a whole number of at least 2, or loo for leave-one-out.";
                    Error::setting("folds", format!("cannot be {count}"), remedy)
                })?;
                Ok(groups.map_or(Folds::K(count), |groups| Folds::Grouped(count, groups)))
            }
        }
    }
}

/// The splits, `None` for leave-one-out. A class with fewer rows than folds is not tested in all of them.
pub(super) fn make_splits(
    labelled: &Labelled,
    folds: &Folds,
    warnings: &mut Vec<String>,
    run: &Run,
) -> Result<Option<Vec<Split>>> {
    let target = &labelled.target;
    if let Folds::Grouped(_, groups) = folds
        && groups.len() != target.rows()
    {
        return Err(Error::one_each((target.rows(), "row"), (groups.len(), "group")));
    }
    let mut stream = run.stream(0);
    let fewest = match target.view() {
        TargetView::Numbers(_) | TargetView::None(_) => None,
        TargetView::Classes { classes, codes } => {
            let mut counts = vec![0usize; classes.count()];
            codes.iter().for_each(|&code| counts[code as usize] += 1);
            let there = counts.into_iter().zip(classes.names()).filter(|(count, _)| *count > 0);
            there.min_by_key(|(count, _)| *count)
        }
    };
    if let Some((1, label)) = fewest {
        let place =
            Place { file: labelled.table.source_name(), column: Some(labelled.name.clone()), ..Place::default() };
        return Err(Error::table(
            place,
            format!("the class '{label}' has one row only: it cannot be both learnt and tested"),
            "Remove the class, join it with another, or add rows of it.",
        ));
    }
    match folds {
        Folds::LeaveOneOut => Ok(None),
        Folds::HoldOut(share) => Ok(Some(vec![hold_out(target, *share, &mut stream)?])),
        Folds::Grouped(k, groups) => grouped_folds(groups, *k, &mut stream).map(Some),
        Folds::K(k) => {
            let mut k = *k;
            if target.rows() < k {
                warnings.push(format!("there are {0} rows: {0} folds instead of {k}", target.rows()));
                k = target.rows();
            }
            // The rows of a class are dealt to folds one after another, so that every fold leaves some of them to learn from.
            if let Some((count, label)) = fewest.filter(|(count, _)| *count < k) {
                warnings.push(format!("the class '{label}' has {count} rows, and is tested in {count} of {k} folds"));
            }
            stratified_folds(target, k, &mut stream).map(Some)
        }
    }
}
