//! Ordinary least squares.

use super::{LinearModel, Quadratic};
use crate::error::Result;
use crate::learn::{Examples, Learner, Prediction};
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Report, Run};
use serde::{Deserialize, Serialize};

/// The coefficients with the smallest sum of squared errors.
///
/// ```
/// use quince::{Matrix, Run, linear::LeastSquares, learn::{Examples, Learner, Target}};
/// // The ledger's four points: y = 0.5 x - 1.
/// let x = Matrix::from_rows(&[[5.0], [5.0], [7.0], [7.0]]);
/// let y = Target::Numbers(Matrix::from_rows(&[[1.0], [2.0], [2.0], [3.0]]));
/// let (line, report) =
///     LeastSquares::default().fit(&Examples::new(x.features(), &y, None)?, &Run::new())?;
/// assert!((line.coefficients()[(0, 0)] - 0.5).abs() < 1e-12);
/// assert!((line.intercept()[0] + 1.0).abs() < 1e-12);
/// assert!(report.holds());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LeastSquares {
    /// Whether to add a constant to the weighted sum.
    pub intercept: bool,
    /// Whether coefficients must not be negative.
    pub positive: bool,
}

impl Default for LeastSquares {
    fn default() -> LeastSquares {
        LeastSquares { intercept: true, positive: false }
    }
}

impl LeastSquares {
    fn quadratic(&self) -> Quadratic {
        Quadratic { alpha: 0.0, intercept: self.intercept, positive: self.positive, cutoff: 0.0 }
    }
}

pub(super) const INTERCEPT: Setting =
    Setting { name: "intercept", allowed: Allowed::Switch, help: "Add a constant to the weighted sum." };
pub(super) const POSITIVE: Setting =
    Setting { name: "positive", allowed: Allowed::Switch, help: "Allow no coefficient below zero." };
pub(super) const ABILITIES: &[Ability] = &[
    Ability::Classify,
    Ability::Regress,
    Ability::Weights,
    Ability::Sparse,
    Ability::SeveralOutputs,
    Ability::ExactLeaveOneOut,
];

impl Learner for LeastSquares {
    type Fitted = LinearModel;

    const CARD: Card = Card {
        name: "least-squares",
        title: "Least squares",
        summary: "A weighted sum of the features with the smallest sum of squared errors.",
        abilities: ABILITIES,
        settings: &[INTERCEPT, POSITIVE],
        python: &["LinearRegression"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Report)> {
        self.quadratic().fit(examples, run)
    }

    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        self.quadratic().leave_one_out(examples, run)
    }
}
