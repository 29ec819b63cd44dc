//! Mixtures, for the classes of `python/quince/mixture/`.

use crate::errors::wrong;
use crate::features::weights;
use crate::model::Model;
use crate::predict::{own, with_rows};
use crate::steer::{Steering, work};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use quince::mixture::{Criterion, MixtureModel};

/// `bic`, `aic` or `icl` of rows.
#[pyfunction]
#[pyo3(signature = (model, x, criterion, *, weights=None, threads=0))]
pub(crate) fn mixture_criterion<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    criterion: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<f64> {
    let fitted = model.fitted::<MixtureModel>()?;
    let criterion = match criterion {
        "bic" => Criterion::Bic,
        "aic" => Criterion::Aic,
        "icl" => Criterion::Icl,
        other => return Err(wrong(format!("there is no criterion '{other}'"), "Take bic, aic or icl.")),
    };
    let weights = self::weights(weights.as_ref());
    with_rows(model, x, threads, |rows| {
        work(py, Steering::threads(threads), |run| fitted.criterion(criterion, rows, weights.as_deref(), run))
    })
}

/// Dense features with their missing values imputed, and the standard deviation of each of these.
#[pyfunction]
#[pyo3(signature = (model, x, *, threads=0))]
pub(crate) fn impute_rows<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let imputed = with_rows(model, x, threads, |rows| {
        work(py, Steering::threads(threads), |run| model.model().impute_features(rows, run))
    })?;
    Ok((own(py, imputed.values)?, own(py, imputed.standard_deviations)?))
}
