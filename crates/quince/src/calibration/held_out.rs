//! Calibration by folds: each row is scored by a model that has not seen it, where algebra cannot take a single row back.
//!
//! Rows of every class are held out in turns, one fold of them after the other. A row without a class, without weight, or the
//! only one of its class is never held out.

use super::{Calibration, MAX_CALIBRATION_ROWS};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::run::Run;

/// The number of folds where a fit is iterated.
pub(crate) const FEW_FOLDS: usize = 5;

/// Their number where only what was chosen by the rows is chosen again, nearly as by all of them.
pub(crate) const FOLDS_OF_CHOICES: usize = 10;

/// Of so many rows the few parameters of a calibration are known well enough.
const ENOUGH_ROWS: usize = 2000;

/// The rows of each fold.
pub(crate) struct Folds {
    folds: Vec<Vec<usize>>,
}

impl Folds {
    /// This many folds of rows with these classes; codes of `classes` and above are those of rows without a class.
    pub(crate) fn new(count: usize, codes: &[u32], classes: usize, weights: Option<&[f64]>) -> Folds {
        let mut of_class = vec![Vec::new(); classes];
        for (i, &code) in codes.iter().enumerate().filter(|(i, _)| weights.is_none_or(|weights| weights[*i] > 0.0)) {
            if let Some(rows) = of_class.get_mut(code as usize) {
                rows.push(i);
            }
        }
        let rows: usize = of_class.iter().map(Vec::len).sum();
        let step = rows.div_ceil(MAX_CALIBRATION_ROWS).max(1);
        let mut folds = vec![Vec::new(); count];
        for (class, rows) in of_class.iter().enumerate().filter(|(_, rows)| rows.len() > 1) {
            for (place, &row) in rows.iter().step_by(step).enumerate() {
                folds[(place + class) % count].push(row);
            }
        }
        folds.retain(|rows| !rows.is_empty());
        Folds { folds }
    }

    /// As many of the folds as hold out enough rows to calibrate by.
    pub(crate) fn until_enough(mut self) -> Folds {
        let mut rows = 0;
        let is_needed = |fold: &&Vec<usize>| {
            let is_needed = rows < ENOUGH_ROWS;
            rows += fold.len();
            is_needed
        };
        let count = self.folds.iter().take_while(is_needed).count();
        self.folds.truncate(count);
        self
    }

    /// These weights (one each, if there are none), and zero for rows that are held out.
    pub(crate) fn weights_without(rows: usize, weights: Option<&[f64]>, held_out: &[usize]) -> Vec<f64> {
        let mut left = weights.map_or_else(|| vec![1.0; rows], <[f64]>::to_vec);
        held_out.iter().for_each(|&row| left[row] = 0.0);
        left
    }
}

/// Log likelihoods of rows by models that have not seen them.
pub(crate) struct HeldOut {
    rows: Vec<usize>,
    /// One row per row, one column per class.
    likelihoods: Matrix,
}

impl HeldOut {
    /// The log likelihoods that `likelihoods_of` gives for the rows of each fold, under each class. A fold without which nothing
    /// can be learnt is left out.
    pub(crate) fn by_folds(
        folds: &Folds,
        classes: usize,
        mut likelihoods_of: impl FnMut(&[usize]) -> Result<Matrix>,
    ) -> Result<HeldOut> {
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for held_out in &folds.folds {
            match likelihoods_of(held_out) {
                Ok(likelihoods) => {
                    rows.extend(held_out);
                    values.extend_from_slice(likelihoods.values());
                }
                Err(Error::Data { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(HeldOut { likelihoods: Matrix::new(rows.len(), classes, values)?, rows })
    }

    /// Whether no row could be held out.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The calibration that fits these rows, and the mean log likelihood of their classes by it.
    pub(crate) fn calibration(
        &self,
        log_priors: &[f64],
        codes: &[u32],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<(Calibration, f64)> {
        let codes: Vec<u32> = self.rows.iter().map(|&row| codes[row]).collect();
        let weights: Option<Vec<f64>> = weights.map(|weights| self.rows.iter().map(|&row| weights[row]).collect());
        Calibration::fit_and_judge(&self.likelihoods, log_priors, &codes, weights.as_deref(), run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_can_be_is_held_out_once_and_its_class_stays() {
        // Two rows of the first class, one of the second, seven of the third, one without a class and one without weight.
        let codes = [0, 2, 2, 1, 2, u32::MAX, 2, 0, 2, 2, 2, 2];
        let mut weights = [1.0; 12];
        weights[11] = 0.0;
        let folds = Folds::new(FEW_FOLDS, &codes, 3, Some(&weights)).folds;
        let mut rows: Vec<usize> = folds.concat();
        rows.sort_unstable();
        assert_eq!(rows, [0, 1, 2, 4, 6, 7, 8, 9, 10]);
        for fold in &folds {
            let left = Folds::weights_without(12, Some(&weights), fold);
            assert!((0..3).all(|class| (0..12).any(|i| codes[i] == class && left[i] > 0.0)));
        }
    }

    #[test]
    fn there_are_no_more_folds_than_are_needed() {
        let folds = |rows: u32| {
            let codes: Vec<u32> = (0..rows).map(|i| i % 2).collect();
            Folds::new(FOLDS_OF_CHOICES, &codes, 2, None).until_enough().folds
        };
        assert_eq!(folds(1000).len(), 10);
        // 20,000 of 40,000 rows in ten folds.
        assert_eq!(folds(40_000).len(), 1);
        assert_eq!(folds(8000).iter().map(Vec::len).sum::<usize>(), 2400);
    }
}
