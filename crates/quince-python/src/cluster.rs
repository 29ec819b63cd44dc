//! k-means and silhouettes, for `python/quince/cluster/`.

use crate::features::{Held, matrix, to_numpy, weights};
use crate::learn::settings_of;
use crate::model::{Model, cluster_numbers};
use crate::steer::{Steering, work};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use quince::Run;
use quince::cluster::{KMeans, KMeansModel, MiniBatchUpdates};
use quince::learn::{DynLearner, Target};
use quince::matrix::Features;
use quince::run::Report;

/// Finds clusters of rows, from given centres or from those that the settings ask for; says the cluster of each row.
#[pyfunction]
#[pyo3(signature = (x, settings, *, weights=None, start=None, seed=0, threads=0))]
pub(crate) fn cluster<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    settings: &Bound<'py, PyAny>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    start: Option<PyReadonlyArray2<'py, f64>>,
    seed: u64,
    threads: usize,
) -> PyResult<(Model, Bound<'py, PyArray1<i32>>)> {
    let kmeans = settings_of::<KMeans>(settings)?;
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let weights = self::weights(weights.as_ref());
    let start = start.as_ref().map(matrix).transpose()?;
    let (model, labels) = work(py, Steering::seeded(seed, threads), move |run| {
        let found = match &start {
            Some(start) => kmeans.cluster_from(features, weights.as_deref(), start, run)?,
            None => kmeans.cluster(features, weights.as_deref(), run)?,
        };
        Ok((model_of(&kmeans, &features, found.model, found.report, run)?, found.labels))
    })?;
    Ok((model, cluster_numbers(py, labels)))
}

fn model_of(
    learner: &dyn DynLearner,
    features: &Features<'_>,
    fitted: KMeansModel,
    report: Report,
    run: &Run,
) -> quince::Result<Model> {
    let about = (features, &Target::none(features.rows()));
    quince::Model::from_fitted(learner, about, std::sync::Arc::new(fitted), report, run).map(Model::new)
}

/// Learns from one batch of a stream: a model of the centres after it, and the weight of the rows that each has been
/// given so far (`sizes`, in and out).
#[pyfunction]
#[pyo3(signature = (x, settings, centres, sizes, *, weights=None, threads=0))]
pub(crate) fn learn_batch<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    settings: &Bound<'py, PyAny>,
    centres: PyReadonlyArray2<'py, f64>,
    sizes: Vec<f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<(Model, Bound<'py, PyArray1<f64>>)> {
    let kmeans = settings_of::<KMeans>(settings)?;
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let weights = self::weights(weights.as_ref());
    let mut batches = MiniBatchUpdates { centres: matrix(&centres)?, sizes };
    let (model, sizes) = work(py, Steering::threads(threads), move |run| {
        let (error, _) = batches.learn(features, weights.as_deref(), run)?;
        let sizes = batches.sizes.clone();
        let (fitted, report) = batches.model(error);
        Ok((model_of(&kmeans, &features, fitted, report, run)?, sizes))
    })?;
    Ok((model, PyArray1::from_vec(py, sizes)))
}

/// The within-cluster error of rows, which may have weights.
#[pyfunction]
#[pyo3(signature = (model, x, *, weights=None, threads=0))]
pub(crate) fn cluster_error(
    model: &Bound<'_, Model>,
    x: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
) -> PyResult<f64> {
    let (py, model) = (model.py(), model.get());
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let weights = self::weights(weights.as_ref());
    let centres = model.fitted::<KMeansModel>()?;
    let (_, error) = work(py, Steering::threads(threads), |run| centres.assign(&features, weights.as_deref(), run))?;
    Ok(error)
}

/// The distance of each row from each centre.
#[pyfunction]
#[pyo3(signature = (model, x, *, threads=0))]
pub(crate) fn cluster_distances<'py>(
    model: &Bound<'py, Model>,
    x: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (py, model) = (model.py(), model.get());
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let centres = model.fitted::<KMeansModel>()?;
    let distances = work(py, Steering::threads(threads), |run| centres.distances(&features, run))?;
    to_numpy(py, &distances)
}

/// How well each row sits in its cluster, from -1 to 1.
#[pyfunction]
#[pyo3(signature = (x, labels, *, threads=0))]
pub(crate) fn silhouettes<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let labels: Vec<u32> = labels.as_array().iter().copied().collect();
    let values = work(py, Steering::threads(threads), |run| quince::cluster::silhouettes(&features, &labels, run))?;
    Ok(PyArray1::from_vec(py, values))
}
