//! quince's errors as Python's: the sentence, and after it what to do.

use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt, PyOSError, PyPermissionError, PyTimeoutError,
    PyValueError,
};
use pyo3::prelude::*;
use quince::Error;

/// The Python exception that says the same.
pub(crate) fn to_python(error: Error) -> PyErr {
    let sentence = sentence(&error);
    match error {
        Error::Cancelled => PyKeyboardInterrupt::new_err(sentence),
        Error::OutOfTime { .. } => PyTimeoutError::new_err(sentence),
        // The library says in words what the system said; these are its words.
        Error::File { problem, .. } => match problem.as_str() {
            "there is no such file" => PyFileNotFoundError::new_err(sentence),
            "permission denied" => PyPermissionError::new_err(sentence),
            "this is a folder, not a file" => PyIsADirectoryError::new_err(sentence),
            _ => PyOSError::new_err(sentence),
        },
        _ => PyValueError::new_err(sentence),
    }
}

/// What is wrong and what to do about it, in one line: `setting 'alpha' cannot be -1.0. It takes ...`. A remedy that is
/// said in the command's words is said in Python's.
fn sentence(error: &Error) -> String {
    let (problem, remedy) = (error.to_string(), error.remedy());
    let remedy = in_pythons_words(remedy);
    let remedy = remedy.replace("--task regression", "task='regression'").replace("`quince models`", "quince.models()");
    if remedy.is_empty() {
        return problem;
    }
    let end = if problem.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{problem}{end} {remedy}")
}

/// `--kind age=number` as `kinds={'age': 'number'}`.
fn in_pythons_words(remedy: &str) -> String {
    let Some((before, rest)) = remedy.split_once("--kind ") else { return remedy.to_string() };
    let end = rest.find([' ', ',', '.', ')']).unwrap_or(rest.len());
    match rest[..end].split_once('=') {
        Some((name, kind)) => format!("{before}kinds={{'{name}': '{kind}'}}{}", &rest[end..]),
        None => remedy.to_string(),
    }
}

/// A ValueError of our own, in the same form.
pub(crate) fn wrong(problem: impl Into<String>, remedy: impl Into<String>) -> PyErr {
    to_python(Error::Data { problem: problem.into(), remedy: remedy.into() })
}
