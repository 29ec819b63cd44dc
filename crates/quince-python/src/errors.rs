//! quince's errors as Python's: the sentence, and after it what to do.

use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt, PyOSError, PyPermissionError, PyTimeoutError,
    PyValueError,
};
use pyo3::prelude::*;
use quince::Error;
use std::io::ErrorKind;

/// The Python exception that says the same.
pub(crate) fn to_python(error: Error) -> PyErr {
    let sentence = sentence(&error);
    match error {
        Error::Cancelled => PyKeyboardInterrupt::new_err(sentence),
        Error::OutOfTime { .. } => PyTimeoutError::new_err(sentence),
        Error::File { kind, .. } => match kind {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(sentence),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(sentence),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(sentence),
            _ => PyOSError::new_err(sentence),
        },
        _ => PyValueError::new_err(sentence),
    }
}

/// What the library says, and how Python says it.
const PHRASES: &[(&str, &str)] = &[
    ("for example number.", "for example kinds={'name': 'number'}."),
    ("the task regression", "task='regression'"),
    ("Look at the settings of the method.", "See quince.models()."),
];

/// What is wrong and what to do about it, in one line: `setting 'alpha' cannot be -1.0. It takes ...`.
fn sentence(error: &Error) -> String {
    let problem = error.to_string();
    let mut remedy = error.remedy().to_string();
    for (library, python) in PHRASES {
        remedy = remedy.replace(library, python);
    }
    if remedy.is_empty() {
        return problem;
    }
    let end = if problem.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{problem}{end} {remedy}")
}

/// A ValueError of our own, in the same form.
pub(crate) fn wrong(problem: impl Into<String>, remedy: impl Into<String>) -> PyErr {
    to_python(Error::Data { problem: problem.into(), remedy: remedy.into() })
}
