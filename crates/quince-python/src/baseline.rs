//! The baseline, for the classes of `python/quince/baseline.py`. It looks at no feature, so only their number is handed
//! over.

use crate::errors::to_python;
use crate::features::{matrix, weights};
use crate::json;
use crate::model::Model;
use crate::steer::{Steering, work};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use quince::baseline::ConstantModel;
use quince::learn::{Classes, DynLearner, Target};
use quince::matrix::{Dense, Features, View};
use quince::run::Report;
use quince::{Matrix, Run, registry};

/// The baseline of one column of classes. `codes` are class numbers, `settings` those of the method.
#[pyfunction]
#[pyo3(signature = (codes, classes, settings, *, weights=None, columns=0, seed=0))]
pub(crate) fn baseline_of_classes(
    py: Python<'_>,
    codes: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    settings: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    columns: usize,
    seed: u64,
) -> PyResult<Model> {
    let codes: Vec<u32> = codes.as_array().iter().copied().collect();
    let target = Classes::in_order(classes).and_then(|classes| Target::classes(classes, codes)).map_err(to_python)?;
    fit(py, target, settings, weights, columns, seed)
}

/// The baseline of numbers, a column an output.
#[pyfunction]
#[pyo3(signature = (y, settings, *, weights=None, columns=0))]
pub(crate) fn baseline_of_numbers(
    py: Python<'_>,
    y: PyReadonlyArray2<'_, f64>,
    settings: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    columns: usize,
) -> PyResult<Model> {
    fit(py, Target::numbers(matrix(&y)?).map_err(to_python)?, settings, weights, columns, 0)
}

/// The baseline that answers with these numbers, which were found elsewhere, from this many rows.
#[pyfunction]
#[pyo3(signature = (values, settings, *, rows, columns=0))]
pub(crate) fn baseline_of_values(
    values: Vec<f64>,
    settings: &Bound<'_, PyAny>,
    rows: usize,
    columns: usize,
) -> PyResult<Model> {
    let learner = learner(settings)?;
    let target = Target::numbers(Matrix::zeros(rows, values.len())).map_err(to_python)?;
    let fitted = std::sync::Arc::new(ConstantModel::of_numbers(values));
    let features = nothing(rows, columns)?;
    let report = Report::computed("numbers that were given");
    quince::Model::from_fitted(learner.as_ref(), (&features, &target), fitted, report, &Run::new())
        .map(Model::new)
        .map_err(to_python)
}

fn fit(
    py: Python<'_>,
    target: Target,
    settings: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    columns: usize,
    seed: u64,
) -> PyResult<Model> {
    let learner = learner(settings)?;
    let weights = self::weights(weights.as_ref());
    let features = nothing(target.rows(), columns)?;
    let fitted = work(py, Steering::seeded(seed, 1), move |run| {
        quince::Model::fit_features(&features, &target, weights.as_deref(), learner.as_ref(), run)
    })?;
    Ok(Model::new(fitted))
}

fn learner(settings: &Bound<'_, PyAny>) -> PyResult<Box<dyn DynLearner>> {
    let settings = json::from_python(settings)?;
    registry::method("baseline").and_then(|method| method.configure(&settings)).map_err(to_python)
}

/// A number of rows and columns of zeros that takes up no memory: every element is the same one.
fn nothing(rows: usize, columns: usize) -> PyResult<Features<'static>> {
    let view = View::strided(&[0.0], (rows, columns), (0, 0)).map_err(to_python)?;
    Ok(Features::dense(Dense::F64(view)))
}
