//! Missing values filled by a model.

use crate::matrix::Matrix;

/// Dense features with their missing values imputed.
#[derive(Clone, Debug, PartialEq)]
pub struct Imputed {
    /// The dense features; a value that the model says nothing of is still missing (NaN).
    pub values: Matrix,
    /// Of each imputed value: the standard deviation of a number, or the probability of a category. NaN where none was missing.
    pub standard_deviations: Matrix,
}
