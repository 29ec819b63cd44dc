//! Nearest neighbours, for the classes of `python/quince/neighbours/`.

use crate::errors::{to_python, wrong};
use crate::features::{Held, HeldView, matrix, rows_to_numpy, to_numpy, weights};
use crate::json;
use crate::model::{Model, classes_in_order};
use crate::steer::{Steering, work};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quince::learn::{Learner, Prediction, Target};
use quince::matrix::Sparse;
use quince::neighbours::{Knn, KnnModel, Measure, Nearest, SearchStructure};
use quince::{Matrix, registry};

/// Distances and row numbers, one row per query.
type Answer<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>);

/// Rows that can be asked for neighbours. An array stays numpy's own and is not copied; sparse rows are.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct Neighbours {
    rows: Kept,
    shape: (usize, usize),
    prepared: SearchStructure,
}

enum Kept {
    Array(Py<PyAny>),
    Sparse(Sparse),
}

#[pymethods]
impl Neighbours {
    /// `settings` are those of the method `knn`; `weights` say how much each column counts, if not all alike.
    #[new]
    #[pyo3(signature = (x, settings, *, weights=vec![], threads=0))]
    fn new(
        x: &Bound<'_, PyAny>,
        settings: &Bound<'_, PyAny>,
        weights: Vec<f64>,
        threads: usize,
    ) -> PyResult<Neighbours> {
        let knn = learner(settings)?;
        let measure = Measure { metric: knn.metric, p: knn.p, weights };
        let held = Held::new(x)?;
        let view = held.view()?;
        let features = view.features();
        let shape = (features.rows(), features.columns());
        let prepared =
            work(x.py(), Steering::threads(threads), |run| SearchStructure::new(&features, measure, knn.search, run))?;
        let rows = match &view {
            HeldView::Dense(_) => Kept::Array(x.clone().unbind()),
            HeldView::Sparse(sparse) => Kept::Sparse((**sparse).clone()),
            HeldView::Copied(sparse) => Kept::Sparse((*sparse).clone()),
        };
        Ok(Neighbours { rows, shape, prepared })
    }

    /// Distances and row numbers of the `k` nearest rows, the nearest first, for each row of `x`; without `x`, for each
    /// of the rows themselves, which is not its own neighbour.
    #[pyo3(signature = (x, k, *, threads=0))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        x: Option<&Bound<'py, PyAny>>,
        k: usize,
        threads: usize,
    ) -> PyResult<Answer<'py>> {
        let array = match &self.rows {
            Kept::Array(array) => Some(Held::new(array.bind(py))?),
            Kept::Sparse(_) => None,
        };
        let view = match (&array, &self.rows) {
            (Some(held), _) => held.view()?,
            (None, Kept::Sparse(sparse)) => HeldView::Copied(sparse),
            (None, Kept::Array(_)) => unreachable!("an array was held above"),
        };
        let rows = view.features();
        if (rows.rows(), rows.columns()) != self.shape {
            return Err(wrong("the rows have another shape than when they were fitted", "Fit again."));
        }
        let queries = x.map(Held::new).transpose()?;
        let queries = queries.as_ref().map(Held::view).transpose()?;
        let queries = queries.as_ref().map(HeldView::features);
        let nearest = work(py, Steering::threads(threads), |run| match &queries {
            Some(queries) => self.prepared.nearest(&rows, queries, k, run),
            None => self.prepared.nearest_others(&rows, &(0..rows.rows()).collect::<Vec<_>>(), k, run),
        })?;
        arrays(py, nearest)
    }
}

/// Distances go over unchanged; row numbers get scikit-learn's 64 bits.
fn arrays(py: Python<'_>, nearest: Nearest) -> PyResult<Answer<'_>> {
    let Nearest { k, rows, distances } = nearest;
    let count = rows.len().checked_div(k).unwrap_or(0);
    let rows = rows.into_iter().map(i64::from).collect();
    Ok((rows_to_numpy(py, distances, count, k)?, rows_to_numpy(py, rows, count, k)?))
}

fn learner(settings: &Bound<'_, PyAny>) -> PyResult<Knn> {
    let settings = json::from_python(settings)?;
    let learner = registry::method(Knn::INFO.name).and_then(|method| method.configure(&settings)).map_err(to_python)?;
    serde_json::from_value(learner.settings()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Keeps rows and what each of them says: `classes` with the class numbers of the rows in `codes`, or `numbers`, a
/// column an output, or, without either, its own number. `settings` are those of the method.
#[pyfunction]
#[pyo3(signature = (x, settings, *, codes=None, classes=None, numbers=None, weights=None, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_neighbours(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyAny>,
    codes: Option<PyReadonlyArray1<'_, u32>>,
    classes: Option<Vec<String>>,
    numbers: Option<PyReadonlyArray2<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
) -> PyResult<Model> {
    let knn = learner(settings)?;
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let target = match (codes, classes, numbers) {
        (Some(codes), Some(names), _) => {
            let codes: Vec<u32> = codes.as_array().iter().copied().collect();
            if codes.iter().any(|&code| code as usize >= names.len()) {
                return Err(wrong("a class number is out of range", "Give every row the number of its class."));
            }
            Target::classes(classes_in_order(&names)?, codes).map_err(to_python)?
        }
        (_, _, Some(numbers)) => Target::numbers(matrix(&numbers)?).map_err(to_python)?,
        _ => Target::numbers(Matrix::column_vector((0..features.rows()).map(|i| i as f64).collect()))
            .map_err(to_python)?,
    };
    let weights = self::weights(weights.as_ref());
    work(py, Steering::threads(threads), move |run| {
        quince::Model::fit_features(&features, &target, weights.as_deref(), &knn, run).map(Model::new)
    })
}

/// The nearest of a model's rows, as from [`Neighbours::nearest`].
#[pyfunction]
#[pyo3(signature = (model, x, k, *, threads=0))]
pub(crate) fn nearest_rows<'py>(
    model: &Bound<'py, Model>,
    x: Option<&Bound<'py, PyAny>>,
    k: usize,
    threads: usize,
) -> PyResult<Answer<'py>> {
    let (py, model) = (model.py(), model.get());
    let queries = x.map(Held::new).transpose()?;
    let queries = queries.as_ref().map(Held::view).transpose()?;
    let queries = queries.as_ref().map(HeldView::features);
    let index = model.fitted::<KnnModel>()?.index();
    let nearest = work(py, Steering::threads(threads), |run| match &queries {
        Some(queries) => index.nearest(queries, k, run),
        None => index.nearest_others(&(0..index.rows()).collect::<Vec<_>>(), k, run),
    })?;
    arrays(py, nearest)
}

/// The class number of each row of `x`: the class with most votes, on a tie the first.
#[pyfunction]
#[pyo3(signature = (model, x, *, threads=0))]
pub(crate) fn neighbours_labels<'py>(
    model: &Bound<'py, Model>,
    x: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let labels = predict(model, x, threads)?.labels();
    Ok(PyArray1::from_vec(model.py(), labels.into_iter().map(i64::from).collect()))
}

/// What the neighbours of each row of `x` say: the probability of each class, or the mean of each number.
#[pyfunction]
#[pyo3(signature = (model, x, *, threads=0))]
pub(crate) fn neighbours_say<'py>(
    model: &Bound<'py, Model>,
    x: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    match predict(model, x, threads)? {
        Prediction::Classes { probabilities: says, .. } | Prediction::Numbers(says) => to_numpy(model.py(), &says),
        Prediction::Clusters { .. } | Prediction::Responsibilities { .. } | Prediction::Novelty { .. } => {
            Err(wrong("a model of clusters has no neighbours", ""))
        }
    }
}

fn predict(model: &Bound<'_, Model>, x: &Bound<'_, PyAny>, threads: usize) -> PyResult<Prediction> {
    let (py, model) = (model.py(), model.get());
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    work(py, Steering::threads(threads), |run| model.model().predict_features(&features, run))
}
