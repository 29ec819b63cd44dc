//! Rows to learn from.

use super::feature_map::{FeatureKind, FeatureMap, FeatureSource};
use super::target::{Target, TargetView};
use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// Rows to learn from: features, target and, if rows do not count alike, weights. All speak of the same rows.
///
/// ```
/// use quince::Matrix;
/// use quince::learn::{Examples, Target};
/// let (rows, labels) = (Matrix::from_rows(&[[1.0], [2.0]]), Target::labels(&["a", "b"]));
/// assert_eq!(Examples::new(rows.features(), &labels, Some(&[1.0, 0.5]))?.rows(), 2);
/// assert!(Examples::new(rows.features(), &labels, Some(&[1.0])).is_err());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "training set")]
#[doc(alias = "samples")]
pub struct Examples<'a> {
    pub(crate) features: Features<'a>,
    pub(crate) target: &'a Target,
    pub(crate) weights: Option<&'a [f64]>,
    /// What made the features, where they come from a table.
    pub(crate) encoder: Option<&'a dyn FeatureSource>,
}

impl<'a> Examples<'a> {
    /// Checks that everything speaks of the same rows and that weights are numbers of at least zero.
    pub fn new(features: Features<'a>, target: &'a Target, weights: Option<&'a [f64]>) -> Result<Examples<'a>> {
        let rows = features.rows();
        if rows == 0 {
            return Err(Error::data("there are no rows to learn from", "Give at least one row."));
        }
        if target.rows() != rows {
            return Err(Error::one_each((rows, "row"), (target.rows(), "target")));
        }
        if let Some(weights) = weights {
            check_weights(weights, rows)?;
        }
        Ok(Examples { features, target, weights, encoder: None })
    }

    /// The same, knowing what made the features. An error if it speaks of features that are not there, or of categories
    /// whose codes are others.
    pub fn encoded_by(self, encoder: &'a dyn FeatureSource) -> Result<Examples<'a>> {
        let sparse = self.features.sparse_part().map_or(0, |sparse| sparse.columns());
        for group in &encoder.feature_map().groups {
            // Whoever numbers the columns of a matrix need not know which of them are sparse.
            let of_matrix = encoder.is_matrix() && self.features.dense_columns() == 0;
            let columns = if group.kind.is_sparse() || of_matrix { sparse } else { self.features.dense_columns() };
            if group.first.checked_add(group.width).is_none_or(|end| end > columns) {
                return Err(Error::shape(
                    format!("'{}' is said to be features that the rows do not have", group.name),
                    "Give the rows together with the encoder that made them.",
                ));
            }
            if let FeatureKind::Category(names) = &group.kind {
                let is_code = |x: &f64| x.is_nan() || (*x >= 0.0 && x.fract() == 0.0 && *x < names.len() as f64);
                if !self.features.dense_column(group.first).iter().all(is_code) {
                    return Err(Error::data(
                        format!("'{}' has codes that none of its {} categories has", group.name, names.len()),
                        "Give the rows together with the encoder that made them.",
                    ));
                }
            }
        }
        Ok(Examples { encoder: Some(encoder), ..self })
    }

    /// What is known of each row.
    pub fn features(&self) -> &Features<'a> {
        &self.features
    }

    /// What is to be learnt.
    pub fn target(&self) -> &'a Target {
        self.target
    }

    /// How much each row counts; `None` if all count alike.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// What made the features, where they come from a table: it knows their names.
    pub fn encoder(&self) -> Option<&'a dyn FeatureSource> {
        self.encoder
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.features.rows()
    }

    /// Which feature is which column, and whether they are a matrix, whose columns have no kinds.
    pub(crate) fn feature_map(&self) -> (FeatureMap, bool) {
        match self.encoder {
            Some(encoder) => (encoder.feature_map(), encoder.is_matrix()),
            None => (FeatureMap::of_matrix(&self.features, &[]), true),
        }
    }
}

/// What tells examples from others: 64 bits of the rows with their targets, and of the weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExamplesDigest {
    pub(crate) rows: String,
    pub(crate) weights: String,
}

/// Numbers that every value and its place go into: four of them, so that the processor need not wait for one before the next.
#[derive(Clone, Copy)]
struct Digest([u64; 4]);

impl Digest {
    fn new() -> Digest {
        Digest([1, 2, 3, 4])
    }

    /// Multiplication by an odd number and a rotation are both one to one, so that no single change goes unnoticed.
    fn mixed(number: u64, bits: u64) -> u64 {
        (number ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }

    fn add<T: Copy>(&mut self, values: &[T], bits: impl Fn(T) -> u64) {
        let (fours, rest) = values.as_chunks::<4>();
        for four in fours {
            for (number, value) in self.0.iter_mut().zip(four) {
                *number = Digest::mixed(*number, bits(*value));
            }
        }
        for (number, value) in self.0.iter_mut().zip(rest) {
            *number = Digest::mixed(*number, bits(*value));
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0.into_iter().fold(0, Digest::mixed))
    }
}

impl Examples<'_> {
    /// What tells these examples from others, to find out whether a fit can go on with them.
    pub(crate) fn digest(&self, run: &Run) -> ExamplesDigest {
        const ROWS_AT_A_TIME: usize = 128;
        let chunk = |at: usize| {
            let rows = at * ROWS_AT_A_TIME..self.rows().min((at + 1) * ROWS_AT_A_TIME);
            let mut digest = Digest::new();
            let dense = self.features.plain().dense_alone();
            let mut tile = vec![0.0; rows.len() * dense.columns()];
            dense.pack(rows.clone(), &mut tile);
            digest.add(&tile, f64::to_bits);
            for (columns, values) in
                self.features.sparse_part().into_iter().flat_map(|s| rows.clone().map(|i| s.row(i)))
            {
                digest.add(columns, u64::from);
                digest.add(values, f64::to_bits);
                digest.add(&[values.len() as u64], |length| length);
            }
            digest.0
        };
        let (mut rows, mut weights) = (Digest::new(), Digest::new());
        for chunk in run.map(self.rows().div_ceil(ROWS_AT_A_TIME), chunk) {
            rows.add(&chunk, |number| number);
        }
        match self.target.view() {
            TargetView::Classes { codes, .. } => rows.add(codes, u64::from),
            TargetView::Numbers(numbers) => rows.add(numbers.values(), f64::to_bits),
            TargetView::None(_) => {}
        }
        weights.add(self.weights.unwrap_or_default(), f64::to_bits);
        ExamplesDigest { rows: rows.text(), weights: weights.text() }
    }
}

/// Weights must be one for each row, at least zero, and add up to something finite above zero.
pub(crate) fn check_weights(weights: &[f64], rows: usize) -> Result<()> {
    if weights.len() != rows {
        return Err(Error::one_each((rows, "row"), (weights.len(), "weight")));
    }
    if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(Error::data(
            format!("the weight of row {} is {}", i + 1, weights[i]),
            "Weights are numbers of at least zero.",
        ));
    }
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(Error::data("all weights are zero", "Give at least one row a positive weight."));
    }
    if !total.is_finite() {
        return Err(Error::data("the weights are too large to add up", "Divide them all by the same number."));
    }
    Ok(())
}
