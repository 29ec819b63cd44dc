//! Ordinary least squares.

use super::{LinearModel, Quadratic, Spectrum};
use crate::error::Result;
use crate::learn::{Capability, Checked, Domain, Examples, Learner, MethodInfo, Prediction, Settings};
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
    #[doc(alias = "ols")]
    #[doc(alias = "linear regression")]
    pub struct LeastSquares {
        /// Add a constant to the weighted sum.
        intercept: bool = true, in Domain::Boolean;
        /// Allow no coefficient below zero.
        positive: bool = false, in Domain::Boolean;
        /// Directions with a singular value below this fraction of the largest are left out; 0 leaves out rounding only.
        tolerance: f64 = 0.0, in Domain::Number(0.0, f64::MAX);
        /// Whether probabilities are calibrated, on exact leave-one-out scores.
        probabilities: bool = true, in Domain::Boolean;
    }
}

impl LeastSquares {
    fn quadratic(&self) -> Quadratic {
        Quadratic {
            alpha: 0.0,
            intercept: self.intercept,
            positive: self.positive,
            cutoff: self.tolerance,
            calibrates: self.probabilities,
            class_weights: "none".into(),
        }
    }

    /// Fits, and keeps what the singular values of the centred features follow from.
    ///
    /// ```
    /// use quince::learn::{Examples, Target};
    /// use quince::{Matrix, Run, linear::LeastSquares};
    /// let x = Matrix::column_vector(vec![0.0, 1.0, 2.0]);
    /// let target = Target::numbers(Matrix::column_vector(vec![1.0, 3.0, 5.0]))?;
    /// let examples = Examples::new(x.features(), &target, None)?;
    /// let (line, _, spectrum) = LeastSquares::default().fit_with_spectrum(&examples, &Run::new())?;
    /// assert!((line.coefficients()[(0, 0)] - 2.0).abs() < 1e-12);
    /// // Of the centred column (-1, 0, 1).
    /// assert!((spectrum.values(&Run::new())?[0] - 2f64.sqrt()).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
    pub fn fit_with_spectrum(&self, examples: &Examples<'_>, run: &Run) -> Result<(LinearModel, Report, Spectrum)> {
        let examples = Checked::new(self, examples)?;
        let (model, mut solution) = self.quadratic().solve(&examples, run)?;
        let report = std::mem::take(&mut solution.report);
        Ok((model, report, Spectrum::of(solution, examples.features.columns())))
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
