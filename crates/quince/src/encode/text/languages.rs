//! Stemmers and stop words of each language.

use crate::table::Language;
use rust_stemmers::{Algorithm, Stemmer};

/// The language's code (ISO 639-1), and how its words are stemmed.
fn about(language: Language) -> (&'static str, Algorithm) {
    match language {
        Language::Arabic => ("ar", Algorithm::Arabic),
        Language::Danish => ("da", Algorithm::Danish),
        Language::Dutch => ("nl", Algorithm::Dutch),
        Language::English => ("en", Algorithm::English),
        Language::Finnish => ("fi", Algorithm::Finnish),
        Language::French => ("fr", Algorithm::French),
        Language::German => ("de", Algorithm::German),
        Language::Greek => ("el", Algorithm::Greek),
        Language::Hungarian => ("hu", Algorithm::Hungarian),
        Language::Italian => ("it", Algorithm::Italian),
        Language::Norwegian => ("no", Algorithm::Norwegian),
        Language::Portuguese => ("pt", Algorithm::Portuguese),
        Language::Romanian => ("ro", Algorithm::Romanian),
        Language::Russian => ("ru", Algorithm::Russian),
        Language::Spanish => ("es", Algorithm::Spanish),
        Language::Swedish => ("sv", Algorithm::Swedish),
        Language::Tamil => ("ta", Algorithm::Tamil),
        Language::Turkish => ("tr", Algorithm::Turkish),
    }
}

/// What takes the endings off words of a language.
pub(super) fn stemmer(language: Language) -> Stemmer {
    Stemmer::create(about(language).1)
}

/// The stop words of a language (NLTK's lists).
pub fn stop_words(language: Language) -> &'static [&'static str] {
    stop_words::lookup(about(language).0).unwrap_or_default()
}
