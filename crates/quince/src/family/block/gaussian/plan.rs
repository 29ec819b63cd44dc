//! The options of a Gaussian block, and the axes onto which its columns are projected.

use crate::family::block::VarianceFloor;
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};

/// The shape of a covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// Any symmetric positive definite matrix.
    Full,
    /// One variance per column.
    Diagonal,
    /// One variance for all columns.
    Spherical,
}

/// Whether components share a covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shared {
    /// Each component has its own.
    No,
    /// The mean of their covariances.
    Mean,
    /// The covariance of all rows about the mean of their component.
    Pooled,
    /// The mean of their covariances by the weights of the components.
    Weighted,
}

/// Shrinkage of covariances towards a diagonal: (1 - amount) Σ + amount t D.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shrinkage {
    pub(crate) amount: f64,
    /// Whether t is one, rather than the mean ratio of the variances to D.
    pub(crate) to_one: bool,
    /// Whether D has the variances of the columns over all rows, so that units do not matter, rather than ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) in_units_of_columns: bool,
}

impl Shrinkage {
    /// None at all.
    pub(crate) fn none() -> Shrinkage {
        Shrinkage { amount: 0.0, to_one: false, in_units_of_columns: false }
    }
}

/// A projection: (x - centre) · vectors, one column per axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axes {
    pub(crate) centre: Vec<f64>,
    pub(crate) vectors: Matrix,
    /// Of discriminant axes: what they separate.
    #[serde(default)]
    pub(crate) separation: Option<Separation>,
}

/// What discriminant axes separate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Separation {
    /// The means of the columns, one row per component.
    pub(crate) means: Matrix,
    /// The shares of the variance between components along the axes, and along others that were left out.
    pub(crate) explained: Vec<f64>,
}

/// The options of a Gaussian block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) shape: Shape,
    pub(crate) shared: Shared,
    pub(crate) unbiased: bool,
    pub(crate) variance_floor: VarianceFloor,
    pub(crate) shrinkage: Shrinkage,
    /// Whether the amount of shrinkage follows from the rows, by Ledoit and Wolf's rule.
    pub(crate) ledoit_wolf: bool,
    /// Whether the directions in which rows do not vary are left out of a covariance without full rank.
    pub(crate) pseudo_inverse: bool,
}

impl Plan {
    /// Covariances divided by the weight, neither shrunk nor with a variance floor.
    pub(crate) fn plain(shape: Shape, shared: Shared) -> Plan {
        Plan {
            shape,
            shared,
            unbiased: false,
            variance_floor: VarianceFloor::relative(0.0),
            shrinkage: Shrinkage::none(),
            ledoit_wolf: false,
            pseudo_inverse: false,
        }
    }
}
