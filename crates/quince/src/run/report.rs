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

/// A number that proves how close an answer is to the exact one: zero is exact.
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
    /// Facts about the fit by name, for example `rank`.
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
