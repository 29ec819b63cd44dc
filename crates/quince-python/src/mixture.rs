//! Mixtures, for the classes of `python/quince/mixture/`.

use crate::bayes::{own, parameters_to_python, target_name};
use crate::errors::to_python;
use crate::errors::wrong;
use crate::features::{Held, matrix, weights};
use crate::learn::learner;
use crate::model::{Model, classes_in_order, cluster_numbers};
use crate::steer::{Steering, work};
use crate::table::{from_anything, is_tabular};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quince::learn::{DynLearner, Examples, Prediction, Target};
use quince::matrix::Features;
use quince::mixture::{Criterion, InitialParameters, Mixture, MixtureModel};
use quince::table::Labelled;

/// Fits a mixture to a matrix or to the native columns of a table. With `codes` (class numbers, 2³² - 1 where a row has none) it learns classes.
#[pyfunction]
#[pyo3(signature = (x, settings, *, codes=None, classes=None, weights=None, seed=0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_mixture(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyAny>,
    codes: Option<PyReadonlyArray1<'_, u32>>,
    classes: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    seed: u64,
    threads: usize,
) -> PyResult<Model> {
    let learner = learner("mixture", settings)?;
    let weights = self::weights(weights.as_ref());
    let steering = Steering::seeded(seed, threads);
    let target = |rows: usize| match (&codes, &classes) {
        (Some(codes), Some(classes)) => some_classes(codes, classes),
        _ => Ok(Target::none(rows)),
    };
    if is_tabular(x)? {
        let table = from_anything(x, None, false)?;
        let (target, name) =
            (target(table.rows())?, if codes.is_some() { target_name(&table) } else { "cluster".into() });
        let labelled = Labelled { rows: (0..table.rows()).collect(), table, target, name, left_out: 0 };
        let fit = move |run: &quince::Run| quince::Model::fit(&labelled, weights.as_deref(), learner.as_ref(), run);
        return work(py, steering, fit).map(Model::new);
    }
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let target = target(features.rows())?;
    let fit = move |run: &quince::Run| {
        quince::Model::fit_features(&features, &target, weights.as_deref(), learner.as_ref(), run)
    };
    work(py, steering, fit).map(Model::new)
}

/// Classes of which some rows have none.
fn some_classes(codes: &PyReadonlyArray1<'_, u32>, classes: &[String]) -> PyResult<Target> {
    let codes: Vec<u32> = codes.as_array().iter().copied().collect();
    if codes.iter().any(|&code| code != Target::UNKNOWN && code as usize >= classes.len()) {
        return Err(wrong("a class number is out of range", "Give every row the number of its class."));
    }
    Target::classes(classes_in_order(classes)?, codes).map_err(to_python)
}

/// Fits a mixture to a matrix from a given start: responsibilities, weights, means and covariances (or variances), as far as they are given.
#[pyfunction]
#[pyo3(signature = (x, settings, *, responsibilities=None, component_weights=None, means=None, covariances=None, weights=None, seed=0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_mixture_from(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyAny>,
    responsibilities: Option<PyReadonlyArray2<'_, f64>>,
    component_weights: Option<Vec<f64>>,
    means: Option<PyReadonlyArray2<'_, f64>>,
    covariances: Option<Vec<PyReadonlyArray2<'_, f64>>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    seed: u64,
    threads: usize,
) -> PyResult<Model> {
    let learner = learner("mixture", settings)?;
    let mixture: Mixture =
        serde_json::from_value(learner.settings()).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let weights = self::weights(weights.as_ref());
    let initial = InitialParameters {
        responsibilities: responsibilities.as_ref().map(matrix).transpose()?,
        weights: component_weights,
        means: means.as_ref().map(matrix).transpose()?,
        covariances: covariances.map(|all| all.iter().map(matrix).collect::<PyResult<_>>()).transpose()?,
    };
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let target = Target::none(features.rows());
    work(py, Steering::seeded(seed, threads), move |run| {
        let (fitted, report) =
            mixture.fit_from(&Examples::new(features, &target, weights.as_deref())?, &initial, run)?;
        quince::Model::from_fitted(
            &mixture as &dyn DynLearner,
            (&features, &target),
            std::sync::Arc::new(fitted),
            report,
            run,
        )
    })
    .map(Model::new)
}

/// What a mixture says of rows: `labels`, `responsibilities` or `densities`.
#[pyfunction]
#[pyo3(signature = (model, x, what, *, threads=0))]
pub(crate) fn ask_mixture<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    what: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let fitted = model.fitted::<MixtureModel>()?;
    with_rows(py, model, x, threads, |rows, steering| match what {
        "labels" => {
            let responsibilities = work(py, steering, |run| fitted.responsibilities(rows, run))?;
            let labels = Prediction::Responsibilities { responsibilities, log_densities: Vec::new() }.labels();
            Ok(cluster_numbers(py, labels).into_any())
        }
        "responsibilities" => own(py, work(py, steering, |run| fitted.responsibilities(rows, run))?),
        "densities" => {
            Ok(PyArray1::from_vec(py, work(py, steering, |run| fitted.log_densities(rows, run))?).into_any())
        }
        other => Err(wrong(format!("there is no '{other}' of rows"), "Ask for labels, responsibilities or densities.")),
    })
}

/// Does something with rows as a model sees them.
fn with_rows<'py, T>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    threads: usize,
    say: impl FnOnce(&Features<'_>, Steering) -> PyResult<T>,
) -> PyResult<T> {
    let steering = Steering::threads(threads);
    if is_tabular(x)? {
        let table = from_anything(x, Some(model.model()), false)?;
        let rows = work(py, Steering::threads(threads), |run| model.model().encode(&table, run))?;
        return say(&rows.features(), steering);
    }
    let held = Held::new(x)?;
    say(&held.view()?.features(), steering)
}

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
    with_rows(py, model, x, threads, |rows, steering| {
        work(py, steering, |run| fitted.criterion(criterion, rows, weights.as_deref(), run))
    })
}

/// Numbers, and a dict for each block.
type Parameters<'py> = (Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyDict>>);

/// How frequent components are, and the parameters of every block.
#[pyfunction]
pub(crate) fn mixture_parameters<'py>(py: Python<'py>, model: &Model) -> PyResult<Parameters<'py>> {
    let fitted = model.fitted::<MixtureModel>()?;
    Ok((PyArray1::from_vec(py, fitted.weights()), parameters_to_python(py, fitted.parameters())?))
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
    let imputed = with_rows(py, model, x, threads, |rows, steering| {
        work(py, steering, |run| model.model().impute_features(rows, run))
    })?;
    Ok((own(py, imputed.values)?, own(py, imputed.standard_deviations)?))
}
