//! What is asked of centres and clusters, for `python/quince/cluster/`.

use crate::features::{Held, to_numpy, weights};
use crate::model::Model;
use crate::steer::{Steering, work};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use quince::cluster::KMeansModel;

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
