//! k-means and silhouettes, for `python/quince/cluster.py`.

use crate::errors::to_python;
use crate::features::{Held, matrix, rows_to_numpy, to_numpy, weights};
use crate::json;
use crate::model::{Known, Model, cluster_numbers, shared};
use crate::steer::{Steering, work};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quince::cluster::{Algorithm, Batches, Clustering, KMeans};
use quince::learn::{Count, Learn, Learner, Prediction, Target};
use quince::matrix::Features;
use quince::{Matrix, Run, registry};
use std::sync::Arc;

/// Finds clusters of rows, from given centres or from those that the settings ask for; says the cluster of each row.
#[pyfunction]
#[pyo3(signature = (x, settings, *, weights=None, start=None, seed=0, threads=0))]
pub(crate) fn fit_clusters<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    settings: &Bound<'py, PyAny>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    start: Option<PyReadonlyArray2<'py, f64>>,
    seed: u64,
    threads: usize,
) -> PyResult<(Model, Bound<'py, PyArray1<i32>>)> {
    let kmeans = learner(settings)?;
    let held = Held::new(x)?;
    let features = held.features()?;
    let weights = self::weights(weights.as_ref());
    let start = start.as_ref().map(matrix).transpose()?;
    let (model, labels) = work(py, Steering::seeded(seed, threads), move |run| {
        let found = match &start {
            Some(start) => kmeans.cluster_from(features, weights.as_deref(), start, run)?,
            None => kmeans.cluster(features, weights.as_deref(), run)?,
        };
        model_of(&kmeans, &features, found, run)
    })?;
    Ok((model, cluster_numbers(py, labels)))
}

fn learner(settings: &Bound<'_, PyAny>) -> PyResult<KMeans> {
    let settings = json::from_python(settings)?;
    let learner = registry::method(KMeans::CARD.name).and_then(|method| method.configure(&settings));
    serde_json::from_value(learner.map_err(to_python)?.settings()).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn model_of(
    learner: &dyn Learn,
    features: &Features<'_>,
    found: Clustering,
    run: &Run,
) -> quince::Result<(Model, Vec<u32>)> {
    let (centres, target) = (Arc::new(found.model), Target::Nothing(features.rows()));
    let model = shared(learner, (features, &target), &centres, found.report, run)?;
    Ok((Model::knowing(model, Known { centres: Some(centres), ..Known::default() }), found.labels))
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
    let kmeans = learner(settings)?;
    let held = Held::new(x)?;
    let features = held.features()?;
    let weights = self::weights(weights.as_ref());
    let mut batches = Batches { centres: matrix(&centres)?, sizes };
    let (model, sizes) = work(py, Steering::threads(threads), move |run| {
        batches.learn(features, weights.as_deref(), run)?;
        let Batches { centres, sizes } = batches;
        // Centres become a model as the clusters of themselves: every one is the mean of one row, which is itself.
        let alone = KMeans { k: Count::Fixed(centres.rows()), algorithm: Algorithm::Lloyd, steps: 1, ..kmeans.clone() };
        let found = alone.cluster_from(centres.features(), None, &centres, run)?;
        Ok((model_of(&kmeans, &features, found, run)?.0, sizes))
    })?;
    Ok((model, PyArray1::from_vec(py, sizes)))
}

/// The cluster of each row.
#[pyfunction]
#[pyo3(signature = (model, x, *, threads=0))]
pub(crate) fn cluster_labels<'py>(
    model: &Bound<'py, Model>,
    x: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<i32>>> {
    let (py, model) = (model.py(), model.get());
    let held = Held::new(x)?;
    let (features, blocks) = (held.features()?, held.blocks()?);
    let labels = work(py, Steering::threads(threads), |run| match &model.known().centres {
        Some(centres) => Ok(centres.assign(&features, run)?.0),
        None => {
            let mut labels = Vec::with_capacity(features.rows());
            each_block(model, &blocks, run, |some, _| labels.extend(some))?;
            Ok(labels)
        }
    })?;
    Ok(cluster_numbers(py, labels))
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
    let (features, blocks) = (held.features()?, held.blocks()?);
    let weights = self::weights(weights.as_ref());
    work(py, Steering::threads(threads), |run| match (&model.known().centres, &weights) {
        (Some(centres), None) => Ok(centres.assign(&features, run)?.1),
        _ => {
            let (mut error, mut row) = (0.0, 0);
            each_block(model, &blocks, run, |labels, distances| {
                for (i, label) in labels.into_iter().enumerate() {
                    let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
                    error += weight * distances[(i, label as usize)].powi(2);
                    row += 1;
                }
            })?;
            Ok(error)
        }
    })
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
    let (features, blocks) = (held.features()?, held.blocks()?);
    if let Some(centres) = &model.known().centres {
        let distances = work(py, Steering::threads(threads), |run| centres.distances(&features, run))?;
        return to_numpy(py, &distances);
    }
    let (mut values, mut columns) = (Vec::new(), 0);
    work(py, Steering::threads(threads), |run| {
        each_block(model, &blocks, run, |_, distances| {
            columns = distances.columns();
            values.extend_from_slice(distances.values());
        })
    })?;
    rows_to_numpy(py, values, features.rows(), columns)
}

/// Clusters and distances, block by block, of a model that says both or nothing.
fn each_block(
    model: &Model,
    blocks: &[Features<'_>],
    run: &Run,
    mut take: impl FnMut(Vec<u32>, Matrix),
) -> quince::Result<()> {
    for block in blocks {
        if let Prediction::Clusters { labels, distances } = model.model().predict_features(block, run)? {
            take(labels, distances);
        }
    }
    Ok(())
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
    let features = held.features()?;
    let labels: Vec<u32> = labels.as_array().iter().copied().collect();
    let values = work(py, Steering::threads(threads), |run| quince::cluster::silhouettes(&features, &labels, run))?;
    Ok(PyArray1::from_vec(py, values))
}
