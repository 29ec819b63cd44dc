//! Bayes classifiers, for the classes of `python/quince/bayes/`.

use crate::errors::{to_python, wrong};
use crate::features::{Held, rows_to_numpy, weights};
use crate::learn::learner;
use crate::model::{Model, classes_in_order};
use crate::steer::{Steering, work};
use crate::table::{from_anything, is_tabular};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quince::bayes::BayesModel;
use quince::encode::Encoder;
use quince::learn::{Examples, Prediction, Target};
use quince::matrix::Features;
use quince::table::Labelled;

/// Fits a Bayes classifier to a matrix, or to the native columns of a table. `codes` are class numbers, `settings` those of the method.
#[pyfunction]
#[pyo3(signature = (method, x, codes, classes, settings, *, weights=None, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_bayes(
    py: Python<'_>,
    method: &str,
    x: &Bound<'_, PyAny>,
    codes: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    settings: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
) -> PyResult<Model> {
    let learner = learner(method, settings)?;
    let (target, weights) = (target(&codes, &classes)?, self::weights(weights.as_ref()));
    let steering = Steering::threads(threads);
    if is_tabular(x)? {
        let table = from_anything(x, None, false)?;
        let rows = (0..table.rows()).collect();
        let name = target_name(&table);
        let labelled = Labelled { table, target, name, rows, left_out: 0 };
        let fit = move |run: &quince::Run| quince::Model::fit(&labelled, weights.as_deref(), learner.as_ref(), run);
        return work(py, steering, fit).map(Model::new);
    }
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let fit = move |run: &quince::Run| {
        quince::Model::fit_features(&features, &target, weights.as_deref(), learner.as_ref(), run)
    };
    work(py, steering, fit).map(Model::new)
}

/// The probability of each class for every row, by a model that was learnt from all others.
#[pyfunction]
#[pyo3(signature = (method, x, codes, classes, settings, *, weights=None, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn leave_one_out_bayes<'py>(
    py: Python<'py>,
    method: &str,
    x: &Bound<'py, PyAny>,
    codes: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    settings: &Bound<'py, PyAny>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let learner = learner(method, settings)?;
    let (target, weights) = (target(&codes, &classes)?, self::weights(weights.as_ref()));
    let steering = Steering::threads(threads);
    let prediction = if is_tabular(x)? {
        let table = from_anything(x, None, false)?;
        work(py, steering, |run| {
            let (encoder, rows) = Encoder::fit_for(learner.info(), &table, Some(&target), run)?;
            let examples = Examples::new(rows.features(), &target, weights.as_deref())?;
            learner.leave_one_out_dyn(&examples.encoded_by(&encoder), run)
        })?
    } else {
        let held = Held::new(x)?;
        let view = held.view()?;
        let examples = Examples::new(view.features(), &target, weights.as_deref()).map_err(to_python)?;
        work(py, steering, |run| learner.leave_one_out_dyn(&examples, run))?
    };
    match prediction {
        Some(Prediction::Classes { probabilities, .. }) => own(py, probabilities),
        _ => Err(wrong("these settings have no exact leave-one-out", "Use sklearn.model_selection.cross_val_predict.")),
    }
}

/// What the labels are called, which were no column: `y`, or `y_` where there is a column of that name, and so on.
pub(crate) fn target_name(table: &quince::Table) -> String {
    let mut name = "y".to_string();
    while table.columns().iter().any(|column| column.name() == name) {
        name.push('_');
    }
    name
}

fn target(codes: &PyReadonlyArray1<'_, u32>, classes: &[String]) -> PyResult<Target> {
    let codes: Vec<u32> = codes.as_array().iter().copied().collect();
    if codes.iter().any(|&code| code as usize >= classes.len()) {
        return Err(wrong("a class number is out of range", "Give every row the number of its class."));
    }
    Target::classes(classes_in_order(classes)?, codes).map_err(to_python)
}

/// The same model that has learnt from more rows; the given one stays unchanged.
#[pyfunction]
#[pyo3(signature = (model, x, codes, classes, *, weights=None, threads=0))]
pub(crate) fn update_bayes(
    py: Python<'_>,
    model: &Model,
    x: &Bound<'_, PyAny>,
    codes: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
) -> PyResult<Model> {
    let (target, weights) = (target(&codes, &classes)?, self::weights(weights.as_ref()));
    let steering = Steering::threads(threads);
    if is_tabular(x)? {
        let table = from_anything(x, Some(model.model()), false)?;
        let update = |run: &quince::Run| {
            let rows = model.model().encode(&table, run)?;
            model.model().updated(&Examples::new(rows.features(), &target, weights.as_deref())?, run)
        };
        return work(py, steering, update).map(Model::new);
    }
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let update = |run: &quince::Run| model.model().updated(&Examples::new(features, &target, weights.as_deref())?, run);
    work(py, steering, update).map(Model::new)
}

/// What a model says of rows: `labels` (class numbers), `scores` (ln of prior times likelihood) or `probabilities`.
#[pyfunction]
#[pyo3(signature = (model, x, what, *, threads=0))]
pub(crate) fn ask_bayes<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    what: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (steering, fitted) = (Steering::threads(threads), model.fitted::<BayesModel>()?);
    if is_tabular(x)? {
        let table = from_anything(x, Some(model.model()), false)?;
        let rows = work(py, Steering::threads(threads), |run| model.model().encode(&table, run))?;
        return ask(py, fitted, &rows.features(), what, steering);
    }
    let held = Held::new(x)?;
    ask(py, fitted, &held.view()?.features(), what, steering)
}

fn ask<'py>(
    py: Python<'py>,
    fitted: &BayesModel,
    rows: &Features<'_>,
    what: &str,
    steering: Steering,
) -> PyResult<Bound<'py, PyAny>> {
    match what {
        "labels" => Ok(PyArray1::from_vec(py, work(py, steering, |run| fitted.labels(rows, run))?).into_any()),
        "scores" => own(py, work(py, steering, |run| fitted.scores(rows, run))?),
        "probabilities" => own(py, work(py, steering, |run| fitted.probabilities(rows, run))?),
        other => Err(wrong(format!("there is no '{other}' of rows"), "Ask for labels, scores or probabilities.")),
    }
}

pub(crate) fn own(py: Python<'_>, matrix: quince::Matrix) -> PyResult<Bound<'_, PyAny>> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    Ok(rows_to_numpy(py, matrix.into_values(), rows, columns)?.into_any())
}

/// The parameters of every block: a dict with `family`, `columns`, `places` and arrays by name.
#[pyfunction]
pub(crate) fn bayes_parameters<'py>(py: Python<'py>, model: &Model) -> PyResult<Vec<Bound<'py, PyDict>>> {
    parameters_to_python(py, model.fitted::<BayesModel>()?.parameters())
}

/// Parameters of blocks as dicts.
pub(crate) fn parameters_to_python(
    py: Python<'_>,
    blocks: Vec<quince::bayes::Parameters>,
) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let block = |parameters: quince::bayes::Parameters| {
        let dict = PyDict::new(py);
        dict.set_item("family", parameters.family)?;
        dict.set_item("columns", &parameters.columns)?;
        dict.set_item("places", parameters.places)?;
        for (name, array) in parameters.arrays {
            dict.set_item(name, own(py, array)?)?;
        }
        Ok(dict)
    };
    blocks.into_iter().map(block).collect()
}

type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// How much the rows of each class count, and ln of the prior of each class.
#[pyfunction]
pub(crate) fn bayes_classes<'py>(py: Python<'py>, model: &Model) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
    let fitted = model.fitted::<BayesModel>()?;
    Ok((PyArray1::from_slice(py, fitted.class_weights()), PyArray1::from_slice(py, fitted.log_priors())))
}
