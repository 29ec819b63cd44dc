//! Least squares and ridge, for the classes of `python/quince/linear.py`.

use crate::errors::{to_python, wrong};
use crate::features::{Held, to_numpy, weights};
use crate::fit::target_of;
use crate::model::Model;
use crate::steer::{Steering, work};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use quince::learn::{DynLearner, Examples};
use quince::linear::{LeastSquares, LinearModel, Ridge, solve};
use quince::run::{Outcome, Report};

/// A fitted model, its rank where the algorithm finds it, and its singular values on request.
type Fit = (Model, Option<usize>, Spectrum);

/// Solves least squares or ridge, with what only their solver has: one alpha for each output, a cutoff of small singular values, and
/// these values. `y` are numbers or, with `classes`, class codes, as in `fit`. One alpha serves all outputs, or there is one for each. `method` is a name of the registry.
#[pyfunction]
#[pyo3(signature = (method, x, y, *, weights=None, classes=None, alphas=vec![0.0], intercept=true, positive=false,
                    cutoff=0.0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn solve_linear(
    py: Python<'_>,
    method: &str,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    classes: Option<Vec<String>>,
    alphas: Vec<f64>,
    intercept: bool,
    positive: bool,
    cutoff: f64,
    threads: usize,
) -> PyResult<Fit> {
    let alpha = alphas.first().copied().unwrap_or(0.0);
    let learner: Box<dyn DynLearner> = match method {
        "least-squares" => Box::new(LeastSquares { intercept, positive }),
        "ridge" => Box::new(Ridge { alpha, intercept, positive }),
        _ => return Err(wrong(format!("'{method}' is no linear method"), "Use least-squares or ridge.")),
    };
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let target = target_of(Some(y), classes, features.rows())?;
    let weights = self::weights(weights.as_ref());
    let (model, rank, spectrum) = work(py, Steering::threads(threads), move |run| {
        let examples = Examples::new(features, &target, weights.as_deref())?;
        let (fitted, report, spectrum) = solve(&examples, &alphas, intercept, positive, cutoff, run)?;
        let rank = rank(&report);
        let model = quince::Model::from_fitted(
            learner.as_ref(),
            (&features, &target),
            std::sync::Arc::new(fitted),
            report,
            run,
        )?;
        Ok((model, rank, spectrum))
    })?;
    Ok((Model::new(model), rank, Spectrum(spectrum)))
}

fn rank(report: &Report) -> Option<usize> {
    if let Outcome::LeastSquares { rank } = report.outcome { Some(rank) } else { None }
}

/// X·B + b₀ for coefficients as scikit-learn shows them: a row an output.
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
    let rows = coefficients.as_array();
    let by_feature = rows.t().iter().copied().collect();
    let by_feature = quince::Matrix::new(rows.ncols(), rows.nrows(), by_feature).map_err(to_python)?;
    let intercept = intercept.as_array().iter().copied().collect();
    let model = LinearModel::of_numbers(by_feature, intercept).map_err(to_python)?;
    let outputs = work(py, Steering::threads(threads), |run| model.outputs(&features, run))?;
    to_numpy(py, &outputs)
}

/// The singular values of a fit, worked out when they are asked for.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct Spectrum(quince::linear::Spectrum);

#[pymethods]
impl Spectrum {
    /// The singular values of the centred, weighted features, largest first.
    #[pyo3(signature = (*, threads=0))]
    fn values<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = work(py, Steering::threads(threads), |run| self.0.values(run))?;
        Ok(PyArray1::from_vec(py, values))
    }
}
