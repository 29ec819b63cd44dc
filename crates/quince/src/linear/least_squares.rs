//! Ordinary least squares.

use super::{LinearModel, Quadratic};
use crate::error::Result;
use crate::learn::{Capability, Checked, Domain, Learner, MethodInfo, Prediction, Settings};
use crate::run::{Report, Run};

crate::settings! {
    /// The coefficients with the smallest sum of squared errors.
    ///
    /// ```
    /// use quince::{Matrix, Run, linear::LeastSquares, learn::{Examples, Learner, Target}};
    /// // Four points on and around the line y = 0.5 x - 1.
    /// let x = Matrix::from_rows(&[[5.0], [5.0], [7.0], [7.0]]);
    /// let y = Target::numbers(Matrix::from_rows(&[[1.0], [2.0], [2.0], [3.0]]))?;
    /// let (line, report) =
    ///     LeastSquares::default().fit_examples(&Examples::new(x.features(), &y, None)?, &Run::new())?;
    /// assert!((line.coefficients()[(0, 0)] - 0.5).abs() < 1e-12);
    /// assert!((line.intercept()[0] + 1.0).abs() < 1e-12);
    /// assert!(report.holds());
    /// # quince::Result::Ok(())
    /// ```
    pub struct LeastSquares {
        /// Add a constant to the weighted sum.
        intercept: bool = true, in Domain::Boolean;
        /// Allow no coefficient below zero.
        positive: bool = false, in Domain::Boolean;
    }
}

impl LeastSquares {
    fn quadratic(&self) -> Quadratic {
        Quadratic { alpha: 0.0, intercept: self.intercept, positive: self.positive, cutoff: 0.0 }
    }
}

pub(super) const CAPABILITIES: &[Capability] = &[
    Capability::Classify,
    Capability::Regress,
    Capability::SampleWeights,
    Capability::Sparse,
    Capability::MultiOutput,
    Capability::ExactLeaveOneOut,
];

impl Learner for LeastSquares {
    type Fitted = LinearModel;

    const INFO: MethodInfo = MethodInfo {
        name: "least-squares",
        title: "Least squares",
        summary: "A weighted sum of the features with the smallest sum of squared errors.",
        capabilities: CAPABILITIES,
        settings: Self::SETTINGS,
        python: &["LinearRegression"],
    };

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(LinearModel, Report)> {
        self.quadratic().fit(examples, run)
    }

    fn leave_one_out_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Option<Prediction>> {
        self.quadratic().leave_one_out(examples, run)
    }
}
