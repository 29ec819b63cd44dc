//! Nearest neighbours, for the classes of `python/quince/neighbours/`.

use crate::errors::wrong;
use crate::features::{Held, HeldView, rows_to_numpy};
use crate::learn::settings_of;
use crate::model::Model;
use crate::steer::{Steering, work};
use numpy::PyArray2;
use pyo3::prelude::*;
use quince::matrix::Sparse;
use quince::neighbours::{Knn, KnnModel, Measure, Nearest, SearchStructure};

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
        let knn = settings_of::<Knn>(settings)?;
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
