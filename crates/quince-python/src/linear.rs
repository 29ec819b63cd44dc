//! Linear outputs, for classes whose coefficients a user may have set.

use crate::errors::to_python;
use crate::features::{Held, to_numpy};
use crate::known::by_feature;
use crate::steer::{Steering, work};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use quince::linear::LinearModel;

/// X·B + b₀ for coefficients as scikit-learn shows them: one row per output.
#[pyfunction]
#[pyo3(signature = (x, coefficients, intercept, *, threads=0))]
pub(crate) fn linear_outputs<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    coefficients: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let intercept = intercept.as_array().iter().copied().collect();
    let model = LinearModel::of_numbers(by_feature(&coefficients)?, intercept).map_err(to_python)?;
    let outputs = work(py, Steering::threads(threads), |run| model.outputs(&features, run))?;
    to_numpy(py, &outputs)
}
