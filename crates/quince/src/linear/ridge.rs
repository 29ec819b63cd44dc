//! Ridge: least squares with small coefficients.

use super::least_squares::{ABILITIES, INTERCEPT, POSITIVE};
use super::{LinearModel, Quadratic};
use crate::error::Result;
use crate::learn::{Examples, Learner, Prediction};
use crate::registry::{Allowed, Card, Setting};
use crate::run::{Report, Run};
use serde::{Deserialize, Serialize};

/// Least squares plus α times the squared length of the coefficients (Hoerl and Kennard 1970).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ridge {
    /// How much the squared length of the coefficients costs. Zero is least squares.
    pub alpha: f64,
    /// Whether to add a constant (never penalised) to the weighted sum.
    pub intercept: bool,
    /// Whether coefficients must not be negative.
    pub positive: bool,
}

impl Default for Ridge {
    fn default() -> Ridge {
        Ridge { alpha: 1.0, intercept: true, positive: false }
    }
}

impl Ridge {
    fn quadratic(&self) -> Quadratic {
        Quadratic { alpha: self.alpha, intercept: self.intercept, positive: self.positive, cutoff: 0.0 }
    }
}

impl Learner for Ridge {
    type Fitted = LinearModel;

    const CARD: Card = Card {
        name: "ridge",
        title: "Ridge",
        summary: "Least squares that keeps its coefficients small: steady with many or similar features.",
        abilities: ABILITIES,
        settings: &[
            Setting {
                name: "alpha",
                allowed: Allowed::Number(0.0, f64::MAX),
                help: "What the squared length of the coefficients costs; zero is least squares.",
            },
            INTERCEPT,
            POSITIVE,
        ],
        python: &["Ridge", "RidgeClassifier"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Report)> {
        self.quadratic().fit(examples, run)
    }

    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        self.quadratic().leave_one_out(examples, run)
    }
}
