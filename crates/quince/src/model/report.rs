//! A report as a file holds it. JSON has neither NaN nor infinity, and a fit that diverged has both in its report: they are written
//! as words, so that what was saved can be opened.

use crate::numbers::JsonNumber;
use crate::run::{Certificate, Outcome, Report, StopReason};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedReport {
    route: String,
    stop: StopReason,
    certificate: Option<SavedCertificate>,
    trace: Vec<JsonNumber>,
    #[serde(default, skip_serializing_if = "Outcome::is_unmeasured")]
    outcome: Outcome,
    facts: Vec<(String, JsonNumber)>,
    remarks: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCertificate {
    measure: String,
    value: JsonNumber,
    tolerance: JsonNumber,
}

pub(super) fn serialize<S: Serializer>(report: &Report, serializer: S) -> Result<S::Ok, S::Error> {
    let Report { route, stop, certificate, trace, outcome, facts, remarks } = report;
    let certificate = certificate.as_ref().map(|certificate| SavedCertificate {
        measure: certificate.measure.clone(),
        value: JsonNumber(certificate.value),
        tolerance: JsonNumber(certificate.tolerance),
    });
    let saved = SavedReport {
        route: route.clone(),
        stop: *stop,
        certificate,
        trace: trace.iter().copied().map(JsonNumber).collect(),
        outcome: *outcome,
        facts: facts.iter().map(|(name, value)| (name.clone(), JsonNumber(*value))).collect(),
        remarks: remarks.clone(),
    };
    saved.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Report, D::Error> {
    let SavedReport { route, stop, certificate, trace, outcome, facts, remarks } =
        SavedReport::deserialize(deserializer)?;
    let certificate = certificate.map(|saved| Certificate {
        measure: saved.measure,
        value: saved.value.0,
        tolerance: saved.tolerance.0,
    });
    let trace = trace.into_iter().map(|number| number.0).collect();
    let facts = facts.into_iter().map(|(name, number)| (name, number.0)).collect();
    Ok(Report { route, stop, certificate, trace, outcome, facts, remarks })
}
