//! The one way to ask a model about rows.

use crate::errors::wrong;
use crate::features::{Held, rows_to_numpy};
use crate::model::{Model, cluster_numbers};
use crate::steer::{Steering, work};
use crate::table::{from_anything, is_tabular};
use numpy::PyArray1;
use pyo3::prelude::*;
use quince::bayes::{BayesModel, CentroidModel};
use quince::cluster::KMeansModel;
use quince::learn::{Prediction, Task};
use quince::margin::{LinearSvmModel, SvmModel};
use quince::matrix::Features;
use quince::mixture::MixtureModel;
use quince::{Error, Matrix, Result, Run};

/// What a model says of rows. `answer` is one of
///
/// - `labels`: the code of each row's class, or its cluster, counted from 0;
/// - `probabilities` of the classes;
/// - `scores`: one per class, or one per row where two classes, or numbers, have a single one;
/// - `numbers`: one column per output;
/// - `responsibilities` of components, or log `densities` of rows.
#[pyfunction]
#[pyo3(signature = (model, x, answer, *, threads=0))]
pub(crate) fn predict<'py>(
    model: &Bound<'py, Model>,
    x: &Bound<'py, PyAny>,
    answer: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, steering) = (model.py(), Steering::threads(threads));
    let of = model.get().model();
    with_rows(model.get(), x, threads, |rows| match answer {
        "labels" => {
            let codes = work(py, steering, |run| labels(of, rows, run))?;
            Ok(match of.task() {
                Task::Clustering => cluster_numbers(py, codes).into_any(),
                _ => PyArray1::<i64>::from_vec(py, codes.into_iter().map(i64::from).collect()).into_any(),
            })
        }
        "probabilities" => own(py, work(py, steering, |run| probabilities(of, rows, run))?),
        "scores" => match work(py, steering, |run| scores(of, rows, run))? {
            Scores::OfRows(scores) => Ok(PyArray1::from_vec(py, scores).into_any()),
            Scores::OfClasses(scores) => own(py, scores),
        },
        "numbers" => own(py, work(py, steering, |run| numbers(of, rows, run))?),
        "responsibilities" => own(py, work(py, steering, |run| mixture(of)?.responsibilities(rows, run))?),
        "densities" => {
            Ok(PyArray1::from_vec(py, work(py, steering, |run| mixture(of)?.log_densities(rows, run))?).into_any())
        }
        other => Err(wrong(
            format!("a model does not say '{other}' of rows"),
            "Ask for labels, probabilities, scores, numbers, responsibilities or densities.",
        )),
    })
}

/// Does something with rows as a model sees them: those of a matrix, or of a table, encoded.
pub(crate) fn with_rows<'py, T>(
    model: &Model,
    x: &Bound<'py, PyAny>,
    threads: usize,
    say: impl FnOnce(&Features<'_>) -> PyResult<T>,
) -> PyResult<T> {
    if is_tabular(x)? {
        let table = from_anything(x, Some(model.model()), false)?;
        let rows = work(x.py(), Steering::threads(threads), |run| model.model().encode(&table, run))?;
        return say(&rows.features());
    }
    let held = Held::new(x)?;
    say(&held.view()?.features())
}

/// A numpy array that takes over the numbers of a matrix.
pub(crate) fn own(py: Python<'_>, matrix: Matrix) -> PyResult<Bound<'_, PyAny>> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    Ok(rows_to_numpy(py, matrix.into_values(), rows, columns)?.into_any())
}

// A prediction holds scores and probabilities, clusters and distances. Where a method can leave one of them out, it is asked for the
// other alone, which is quicker.

fn labels(model: &quince::Model, rows: &Features<'_>, run: &Run) -> Result<Vec<u32>> {
    if let Some(fitted) = model.fitted::<BayesModel>() {
        return fitted.labels(rows, run);
    }
    if let Some(fitted) = model.fitted::<KMeansModel>() {
        return Ok(fitted.assign(rows, None, run)?.0);
    }
    if model.task() == Task::Clustering
        && let Some(fitted) = model.fitted::<MixtureModel>()
    {
        let responsibilities = fitted.responsibilities(rows, run)?;
        return Ok(Prediction::Responsibilities { responsibilities, log_densities: Vec::new() }.labels());
    }
    Ok(model.predict_features(rows, run)?.labels())
}

fn probabilities(model: &quince::Model, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
    if let Some(fitted) = model.fitted::<BayesModel>() {
        return fitted.probabilities(rows, run);
    }
    match model.predict_features(rows, run)? {
        Prediction::Classes { .. } if !model.has_probabilities() => Err(no("probabilities")),
        Prediction::Classes { probabilities, .. } => Ok(probabilities),
        _ => Err(no("classes")),
    }
}

enum Scores {
    OfRows(Vec<f64>),
    OfClasses(Matrix),
}

fn scores(model: &quince::Model, rows: &Features<'_>, run: &Run) -> Result<Scores> {
    if let Some(fitted) = model.fitted::<BayesModel>() {
        return fitted.scores(rows, run).map(Scores::OfClasses);
    }
    if let Some(fitted) = model.fitted::<LinearSvmModel>() {
        return fitted.scores(rows, run).map(Scores::OfRows);
    }
    if let Some(fitted) = model.fitted::<SvmModel>() {
        return fitted.scores(rows, run).map(Scores::OfRows);
    }
    if let Some(fitted) = model.fitted::<CentroidModel>() {
        return fitted.discriminants(rows, run).map(Scores::OfClasses);
    }
    match model.predict_features(rows, run)? {
        Prediction::Classes { scores, .. } => Ok(Scores::OfClasses(scores)),
        _ => Err(no("classes")),
    }
}

fn numbers(model: &quince::Model, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
    match model.predict_features(rows, run)? {
        Prediction::Numbers(numbers) => Ok(numbers),
        _ => Err(no("numbers")),
    }
}

fn mixture(model: &quince::Model) -> Result<&MixtureModel> {
    model.fitted().ok_or_else(|| no("components"))
}

fn no(what: &str) -> Error {
    Error::Data { problem: format!("the model has no {what}"), remedy: "Ask for what it predicts.".into() }
}
