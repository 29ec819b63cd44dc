//! Ridge regression: least squares with an L2 penalty.

use super::least_squares::CAPABILITIES;
use super::{LinearModel, Quadratic};
use crate::error::Result;
use crate::learn::{CLASS_WEIGHTS, Checked, Domain, Learner, MethodInfo, Prediction, Settings};
use crate::run::{Report, Run};

crate::settings! {
    /// Least squares with an L2 penalty: plus α times the squared norm of the coefficients (Hoerl and Kennard 1970).
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = Ridge::new().alpha(2.0).intercept(false).fit(&[[1.0], [1.0]], &[1.0, 3.0])?;
    /// // Σxy / (Σx² + α) = 4 / (2 + 2)
    /// assert!((model.numbers(&[[1.0]])?[0] - 1.0).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
    pub struct Ridge {
        /// The penalty on the squared norm of the coefficients (L2); zero is least squares.
        alpha: f64 = 1.0, in Domain::Number(0.0, f64::MAX);
        /// Add a constant to the weighted sum.
        intercept: bool = true, in Domain::Boolean;
        /// Allow no coefficient below zero.
        positive: bool = false, in Domain::Boolean;
        /// Weights of the rows of each class: none, balanced, or label=number,label=number.
        class_weights: String = "none".into(), in Domain::Parsed(CLASS_WEIGHTS);
        /// Whether probabilities are calibrated, on exact leave-one-out scores.
        probabilities: bool = true, in Domain::Boolean;
    }
}

impl Ridge {
    fn quadratic(&self) -> Quadratic {
        Quadratic {
            alpha: self.alpha,
            intercept: self.intercept,
            positive: self.positive,
            cutoff: 0.0,
            calibrates: self.probabilities,
            class_weights: self.class_weights.clone(),
        }
    }
}

impl Learner for Ridge {
    type Fitted = LinearModel;

    const INFO: MethodInfo = MethodInfo {
        name: "ridge",
        title: "Ridge",
        summary: "Least squares that keeps its coefficients small: steady with many or similar features.",
        capabilities: CAPABILITIES,
        settings: Self::SETTINGS,
        python: &["Ridge", "RidgeClassifier"],
    };

    fn has_probabilities(&self) -> bool {
        self.probabilities
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(LinearModel, Report)> {
        self.quadratic().fit(examples, run)
    }

    fn leave_one_out_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Option<Prediction>> {
        self.quadratic().leave_one_out(examples, run)
    }
}
