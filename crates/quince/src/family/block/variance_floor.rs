//! The variance floor: what is added to variances, so that equal values still have a density.

use serde::{Deserialize, Serialize};

/// The smallest ratio of a variance to that of the column over all rows.
pub(crate) const MIN_VARIANCE_RATIO: f64 = 1e-12;

/// What is added to variances (variance smoothing).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VarianceFloor {
    /// This fraction of a variance over all rows.
    pub(crate) relative: f64,
    /// Whether the fraction is of the largest variance of all columns rather than of each column's own.
    pub(crate) of_largest: bool,
    /// This constant in addition.
    pub(crate) absolute: f64,
}

impl VarianceFloor {
    /// This fraction of each column's own variance.
    pub(crate) fn relative(relative: f64) -> VarianceFloor {
        VarianceFloor { relative, of_largest: false, absolute: 0.0 }
    }
}
