//! Counting words, for `python/quince/text.py`.

use crate::errors::{to_python, wrong};
use crate::features::Held;
use crate::json;
use crate::steer::{Steering, work};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use quince::encode::{Counts, TermNorm, TermWeights, select};
use quince::table::{Language, TextOptions};

/// A vocabulary and how texts are cut, learnt from texts.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct TextEncoder(quince::encode::TextEncoder);

/// scipy's compressed rows: starts, columns, values.
type Compressed<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl TextEncoder {
    /// How often each word of the vocabulary occurs in each text.
    #[pyo3(signature = (texts, *, threads=0))]
    fn counts<'py>(&self, py: Python<'py>, texts: Vec<PyBackedStr>, threads: usize) -> PyResult<Compressed<'py>> {
        let counts = work(py, Steering::threads(threads), |run| self.0.counts(&rows(&texts), run))?;
        Ok(compressed(py, counts))
    }

    /// The words, sorted.
    #[getter]
    fn vocabulary(&self) -> Vec<&str> {
        self.0.vocabulary().iter().map(String::as_str).collect()
    }

    /// How many columns come out.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    /// An encoder with a given vocabulary (sorted, none twice), or from what `__reduce__` gave.
    #[staticmethod]
    fn of(state: &Bound<'_, PyAny>) -> PyResult<TextEncoder> {
        let encoder = serde_json::from_value(json::from_python(state)?);
        encoder.map(TextEncoder).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let state = json::serialised(py, serde_json::to_value(&self.0))?;
        Ok((py.get_type::<TextEncoder>().getattr("of")?, (state,)))
    }
}

/// Learns a vocabulary from texts, and counts its words in them.
#[pyfunction]
#[pyo3(signature = (texts, settings, *, threads=0))]
pub(crate) fn learn_text<'py>(
    py: Python<'py>,
    texts: Vec<PyBackedStr>,
    settings: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<(TextEncoder, Compressed<'py>)> {
    let settings: TextOptions =
        serde_json::from_value(json::from_python(settings)?).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let learn = |run: &quince::Run| quince::encode::TextEncoder::learn_counts(&rows(&texts), settings, None, run);
    let (encoder, counts) = work(py, Steering::threads(threads), learn)?;
    Ok((TextEncoder(encoder), compressed(py, counts)))
}

/// The inverse document frequency of every word, of which each is in so many of all rows.
#[pyfunction]
pub(crate) fn inverse_document_frequencies<'py>(
    py: Python<'py>,
    rows: usize,
    rows_with: PyReadonlyArray1<'py, u32>,
    smooth: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    Ok(TermWeights::inverse_document_frequencies(rows, rows_with.as_slice()?, smooth).into_pyarray(py))
}

/// The counts of scipy's compressed rows, weighted: sublinear or not, by inverse document frequencies, each row divided by its norm.
#[pyfunction]
#[pyo3(signature = (starts, columns, counts, *, idf=None, sublinear=false, norm=None))]
pub(crate) fn weigh_terms<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i32>,
    counts: PyReadonlyArray1<'py, i64>,
    idf: Option<PyReadonlyArray1<'py, f64>>,
    sublinear: bool,
    norm: Option<&str>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let norm = match norm {
        None => None,
        Some("l1") => Some(TermNorm::L1),
        Some("l2") => Some(TermNorm::L2),
        Some(other) => return Err(wrong(format!("norm cannot be '{other}'"), "Give 'l1', 'l2' or None.")),
    };
    let starts: Vec<usize> = starts.as_slice()?.iter().map(|&start| start as usize).collect();
    let columns: Vec<u32> = columns.as_slice()?.iter().map(|&column| column as u32).collect();
    let counts = counts.as_slice()?.to_vec();
    let whole = starts.first() == Some(&0) && starts.last() == Some(&counts.len()) && starts.is_sorted();
    if !whole || columns.len() != counts.len() {
        return Err(wrong("starts, columns and counts are not those of one matrix", "Give those of a CSR matrix."));
    }
    let idf = idf.as_ref().map(|idf| idf.as_slice()).transpose()?;
    Ok(TermWeights { sublinear, idf, norm }.weigh(&starts, &columns, counts).into_pyarray(py))
}

/// The texts where Python has them.
fn rows(texts: &[PyBackedStr]) -> Vec<Option<&str>> {
    texts.iter().map(|text| Some(&**text)).collect()
}

fn compressed(py: Python<'_>, counts: Counts) -> Compressed<'_> {
    // All three take their memory along.
    let Counts { starts, indices, values, .. } = counts;
    let starts: Vec<i64> = starts.into_iter().map(|start| start as i64).collect();
    let indices: Vec<i32> = indices.into_iter().map(|place| place as i32).collect();
    (starts.into_pyarray(py), indices.into_pyarray(py), values.into_pyarray(py))
}

/// The usual words of a language that say little.
#[pyfunction]
pub(crate) fn stop_words(language: &str) -> PyResult<Vec<&'static str>> {
    Ok(quince::encode::stop_words(Language::from_name(language).map_err(to_python)?).to_vec())
}

/// What the presence of each column says about the class of a row.
#[pyfunction]
pub(crate) fn mutual_information<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    codes: PyReadonlyArray1<'py, u32>,
    classes: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    score(py, x, codes, classes, select::mutual_information)
}

/// The chi-squared statistic of each column and the classes.
#[pyfunction]
pub(crate) fn chi_squared<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    codes: PyReadonlyArray1<'py, u32>,
    classes: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    score(py, x, codes, classes, select::chi_squared)
}

fn score<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    codes: PyReadonlyArray1<'py, u32>,
    classes: usize,
    by: impl Fn(&quince::matrix::Features<'_>, &[u32], usize) -> quince::Result<Vec<f64>> + Send + Sync,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let codes = codes.as_slice()?.to_vec();
    let scores = py.detach(|| by(&features, &codes, classes)).map_err(to_python)?;
    Ok(scores.into_pyarray(py))
}
