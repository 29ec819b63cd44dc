//! What a fit says about itself. A report is saved with its model, so it holds nothing that changes from run to run
//! (no times, no number of threads).

use serde::{Deserialize, Serialize};

/// Why a fit ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopReason {
    /// A direct method: the answer is computed, not approached.
    #[default]
    Computed,
    /// An iterative method reached its tolerance.
    Converged,
    /// It took as many steps as it was allowed.
    StepLimit,
    /// No step leads any closer, because of rounding.
    Stalled,
    /// The budget ran out; this is the best answer so far.
    Budget,
}

impl StopReason {
    /// The word for it in reports and in Python, for example `step-limit`.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Computed => "computed",
            StopReason::Converged => "converged",
            StopReason::StepLimit => "step-limit",
            StopReason::Stalled => "stalled",
            StopReason::Budget => "budget",
        }
    }
}

/// A number that proves how close an answer is to the exact one: zero is exact.
///
/// ```
/// use quince::prelude::*;
/// let model = Ridge::default().fit(&[[1.0], [2.0], [3.0]], &[2.0, 4.1, 5.9])?;
/// let certificate = model.report().certificate.as_ref().unwrap();
/// assert!(certificate.value <= certificate.tolerance, "{}", certificate.measure);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[doc(alias = "duality gap")]
#[doc(alias = "gradient norm")]
pub struct Certificate {
    /// What is measured, for example `relative gradient`.
    pub measure: String,
    /// Its value at the answer.
    pub value: f64,
    /// The value below which the method calls itself done.
    pub tolerance: f64,
}

/// What a fit has come to, for programs to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Outcome {
    /// The method measures nothing.
    #[default]
    Unmeasured,
    /// Least squares by a direct solver.
    LeastSquares {
        /// The rank of the centred features.
        rank: usize,
    },
    /// Clusters about centres.
    Clusters {
        /// The sum of squared distances from the centres.
        #[serde(with = "crate::numbers::json_number")]
        error: f64,
        /// The fraction of the variance that the centres explain.
        #[serde(with = "crate::numbers::json_number")]
        explained: f64,
    },
    /// A mixture without labels.
    Mixture {
        /// The mean log likelihood of a row.
        #[serde(with = "crate::numbers::json_number")]
        log_likelihood_of_a_row: f64,
        /// The Bayesian information criterion.
        #[serde(with = "crate::numbers::json_number")]
        bic: f64,
        /// Akaike's information criterion.
        #[serde(with = "crate::numbers::json_number")]
        aic: f64,
        /// The integrated complete likelihood.
        #[serde(with = "crate::numbers::json_number")]
        icl: f64,
    },
    /// Novelty detection.
    Novelty {
        /// The number of training rows that are novel.
        novel: usize,
    },
}

impl Outcome {
    pub(crate) fn is_unmeasured(&self) -> bool {
        *self == Outcome::Unmeasured
    }
}

/// Trace, certificate and remarks of one fit.
///
/// ```
/// use quince::run::{Certificate, Report};
/// let mut report = Report::computed("by hand");
/// report.certificate = Some(Certificate { measure: "gap".into(), value: 0.5, tolerance: 0.1 });
/// assert!(!report.holds());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How the answer was found, in a few words: `Cholesky of the 5 x 5 Gram matrix`.
    pub route: String,
    /// Why the fit ended.
    pub stop: StopReason,
    /// How close the answer is to the exact one, where a method can prove it.
    pub certificate: Option<Certificate>,
    /// The objective of an iterative method, before or after each step.
    pub trace: Vec<f64>,
    /// What the fit has come to, as typed numbers.
    #[serde(default, skip_serializing_if = "Outcome::is_unmeasured")]
    pub outcome: Outcome,
    /// Facts about the fit by name, for example `rank`: for people, not for programs.
    pub facts: Vec<(String, f64)>,
    /// What a user should know: a singular matrix, a step limit reached.
    pub remarks: Vec<String>,
}

impl Report {
    /// A report of a direct method.
    pub fn computed(route: impl Into<String>) -> Report {
        Report { route: route.into(), ..Report::default() }
    }

    /// Adds a named number.
    pub fn fact(&mut self, name: &str, value: f64) {
        self.facts.push((name.to_string(), value));
    }

    /// Whether the certificate, if there is one, is within its tolerance.
    pub fn holds(&self) -> bool {
        self.certificate.as_ref().is_none_or(|c| c.value <= c.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_to_stop_has_one_name_in_code_and_in_files() {
        use StopReason::{Budget, Computed, Converged, Stalled, StepLimit};
        for reason in [Computed, Converged, StepLimit, Stalled, Budget] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        }
    }
}
