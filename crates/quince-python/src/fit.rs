//! The one way to fit: a method's name, rows, a target and settings become a model.

use crate::errors::{to_python, wrong};
use crate::features::{Held, matrix, weights};
use crate::learn::{learner, settings_of};
use crate::model::{Model, OfTraining};
use crate::predict::own;
use crate::steer::{Steering, work};
use crate::table::{from_anything, is_tabular};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quince::cluster::KMeans;
use quince::encode::Encoder;
use quince::learn::{Classes, DynLearner, Examples, Fitted, Prediction, Target};
use quince::linear::LeastSquares;
use quince::matrix::Features;
use quince::mixture::{InitialParameters, Mixture};
use quince::table::Labelled;
use quince::{Matrix, Run};
use std::sync::Arc;

/// Fits a method of the registry to a matrix, or to the native columns of a table.
///
/// `target` are class codes (uint32; 2³² - 1 where a row has no label) if `classes` names the classes, numbers (float64, one column
/// per output) if not; without it the fit is unsupervised. `start` are centres for k-means, parameters for a mixture, or the model
/// that stochastic gradient descent goes on from.
#[pyfunction]
#[pyo3(signature = (method, x, settings, *, target=None, classes=None, weights=None, start=None, seed=0, threads=0,
                    budget=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit(
    method: &str,
    x: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyAny>,
    target: Option<&Bound<'_, PyAny>>,
    classes: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    start: Option<&Bound<'_, PyAny>>,
    seed: u64,
    threads: usize,
    budget: Option<f64>,
) -> PyResult<Model> {
    let weights = self::weights(weights.as_ref());
    let steering = Steering::seeded(seed, threads).budget(budget)?;
    if is_tabular(x)? {
        let learner = learner(method, settings)?;
        let table = from_anything(x, None, false)?;
        let name = if target.is_some() { target_name(&table) } else { "cluster".into() };
        let target = target_of(target, classes, table.rows())?;
        let labelled = Labelled { rows: (0..table.rows()).collect(), table, target, name, left_out: 0 };
        let fit = move |run: &Run| quince::Model::fit(&labelled, weights.as_deref(), learner.as_ref(), run);
        return work(x.py(), steering, fit).map(Model::new);
    }
    let way = Way::of(method, settings, start)?;
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let target = target_of(target, classes, features.rows())?;
    work(x.py(), steering, move |run| way.fit(features, &target, weights.as_deref(), run))
}

/// How a method is fitted to a matrix: by its name, or by its type where a fit begins somewhere, or says more of its training rows
/// than a saved model holds.
enum Way {
    ByName(Box<dyn DynLearner>),
    /// Goes on from a model.
    From(Box<dyn DynLearner>, Box<quince::Model>),
    MixtureFrom(Mixture, InitialParameters),
    /// k-means, maybe from given centres; its model knows the cluster of every training row.
    Clusters(KMeans, Option<Matrix>),
    /// Least squares, whose model knows the singular values of the training rows.
    LeastSquares(LeastSquares),
}

impl Way {
    fn of(method: &str, settings: &Bound<'_, PyAny>, start: Option<&Bound<'_, PyAny>>) -> PyResult<Way> {
        if let Some(from) = start.and_then(|start| start.cast::<Model>().ok()) {
            return Ok(Way::From(learner(method, settings)?, Box::new(from.get().model().clone())));
        }
        Ok(match (method, start) {
            ("kmeans", start) => {
                let centres = start.map(|start| start.extract::<PyReadonlyArray2<'_, f64>>()).transpose()?;
                Way::Clusters(settings_of(settings)?, centres.as_ref().map(matrix).transpose()?)
            }
            ("mixture", Some(start)) => Way::MixtureFrom(settings_of(settings)?, initial_parameters(start.cast()?)?),
            (_, Some(_)) => return Err(wrong(format!("'{method}' starts from nothing that is given"), "")),
            ("least-squares", None) => Way::LeastSquares(settings_of(settings)?),
            (_, None) => Way::ByName(learner(method, settings)?),
        })
    }

    fn fit(
        &self,
        features: Features<'_>,
        target: &Target,
        weights: Option<&[f64]>,
        run: &Run,
    ) -> quince::Result<Model> {
        let examples = &Examples::new(features, target, weights)?;
        let model = |learner: &dyn DynLearner, fitted: Arc<dyn Fitted>, report| {
            quince::Model::from_fitted(learner, (&features, target), fitted, report, run)
        };
        match self {
            Way::ByName(learner) => {
                quince::Model::fit_features(&features, target, weights, learner.as_ref(), run).map(Model::new)
            }
            Way::From(learner, from) => from.continued(examples, learner.as_ref(), run).map(Model::new),
            Way::MixtureFrom(mixture, start) => {
                let (fitted, report) = mixture.fit_from(examples, start, run)?;
                model(mixture, Arc::new(fitted), report).map(Model::new)
            }
            Way::Clusters(kmeans, centres) => {
                let found = match centres {
                    Some(centres) => kmeans.cluster_from(features, weights, centres, run)?,
                    None => kmeans.cluster_with(features, weights, run)?,
                };
                let model = model(kmeans, Arc::new(found.model), found.report)?;
                Ok(Model::with_training(model, OfTraining::Clusters(found.labels)))
            }
            Way::LeastSquares(least_squares) => {
                let (fitted, report, spectrum) = least_squares.fit_with_spectrum(examples, run)?;
                let model = model(least_squares, Arc::new(fitted), report)?;
                Ok(Model::with_training(model, OfTraining::Spectrum(spectrum)))
            }
        }
    }
}

/// The same model that has learnt from more rows; the given one stays unchanged.
#[pyfunction]
#[pyo3(signature = (model, x, *, target=None, classes=None, weights=None, threads=0))]
pub(crate) fn update(
    model: &Bound<'_, Model>,
    x: &Bound<'_, PyAny>,
    target: Option<&Bound<'_, PyAny>>,
    classes: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
) -> PyResult<Model> {
    let (py, model) = (model.py(), model.get().model());
    let weights = self::weights(weights.as_ref());
    let steering = Steering::threads(threads);
    if is_tabular(x)? {
        let table = from_anything(x, Some(model), false)?;
        let target = target_of(target, classes, table.rows())?;
        let update = |run: &Run| {
            let rows = model.encode(&table, run)?;
            model.updated(&Examples::new(rows.features(), &target, weights.as_deref())?, run)
        };
        return work(py, steering, update).map(Model::new);
    }
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let target = target_of(target, classes, features.rows())?;
    let update = |run: &Run| model.updated(&Examples::new(features, &target, weights.as_deref())?, run);
    work(py, steering, update).map(Model::new)
}

/// The probability of each class for every row, by a model that was learnt from all others.
#[pyfunction]
#[pyo3(signature = (method, x, settings, *, target=None, classes=None, weights=None, threads=0))]
pub(crate) fn leave_one_out<'py>(
    method: &str,
    x: &Bound<'py, PyAny>,
    settings: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    classes: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, learner) = (x.py(), learner(method, settings)?);
    let (weights, steering) = (self::weights(weights.as_ref()), Steering::threads(threads));
    let prediction = if is_tabular(x)? {
        let table = from_anything(x, None, false)?;
        let target = target_of(target, classes, table.rows())?;
        work(py, steering, |run| {
            let (encoder, rows) = Encoder::fit_for(learner.info(), &table, Some(&target), run)?;
            let examples = Examples::new(rows.features(), &target, weights.as_deref())?;
            learner.leave_one_out_dyn(&examples.encoded_by(&encoder)?, run)
        })?
    } else {
        let held = Held::new(x)?;
        let view = held.view()?;
        let target = target_of(target, classes, view.features().rows())?;
        let examples = Examples::new(view.features(), &target, weights.as_deref()).map_err(to_python)?;
        work(py, steering, |run| learner.leave_one_out_dyn(&examples, run))?
    };
    match prediction {
        Some(Prediction::Classes { probabilities, .. }) if probabilities.columns() > 0 => own(py, probabilities),
        _ => Err(wrong("these settings have no exact leave-one-out", "Use sklearn.model_selection.cross_val_predict.")),
    }
}

/// A target from numpy: class codes if there are names of classes, numbers if not, or nothing. The library checks the rest.
pub(crate) fn target_of(
    target: Option<&Bound<'_, PyAny>>,
    classes: Option<Vec<String>>,
    rows: usize,
) -> PyResult<Target> {
    let Some(target) = target else {
        return Ok(Target::none(rows));
    };
    let found = match classes {
        Some(names) => {
            let codes = target.extract::<PyReadonlyArray1<'_, u32>>()?.as_array().iter().copied().collect();
            Classes::in_order(names).and_then(|classes| Target::classes(classes, codes))
        }
        None => match target.extract::<PyReadonlyArray1<'_, f64>>() {
            Ok(numbers) => Target::numbers(Matrix::column_vector(numbers.as_array().iter().copied().collect())),
            Err(_) => Target::numbers(matrix(&target.extract::<PyReadonlyArray2<'_, f64>>()?)?),
        },
    };
    found.map_err(to_python)
}

/// What the target is called that was no column: `y`, or `y_` where there is a column of that name, and so on.
fn target_name(table: &quince::Table) -> String {
    let mut name = "y".to_string();
    while table.columns().iter().any(|column| column.name() == name) {
        name.push('_');
    }
    name
}

/// The parameters that a mixture starts from, as far as they are given: arrays by name, `covariances` a list of them.
fn initial_parameters(start: &Bound<'_, PyDict>) -> PyResult<InitialParameters> {
    let mut initial = InitialParameters::default();
    for (name, value) in start {
        let two_dimensional = |value: &Bound<'_, PyAny>| matrix(&value.extract::<PyReadonlyArray2<'_, f64>>()?);
        match name.extract::<String>()?.as_str() {
            "responsibilities" => initial.responsibilities = Some(two_dimensional(&value)?),
            "weights" => initial.weights = Some(value.extract()?),
            "means" => initial.means = Some(two_dimensional(&value)?),
            "covariances" => {
                let all = value.try_iter()?.map(|one| two_dimensional(&one?));
                initial.covariances = Some(all.collect::<PyResult<_>>()?);
            }
            other => return Err(wrong(format!("a mixture cannot start from '{other}'"), "")),
        }
    }
    Ok(initial)
}
