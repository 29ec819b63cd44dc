//! Tables as features, imputation from nearest neighbours, and polynomial features, for `python/quince/preprocessing/`.

use crate::errors::{to_python, wrong};
use crate::features::{Held, compress, dense_row, matrix, rows_to_numpy, to_numpy};
use crate::json;
use crate::learn::warn;
use crate::steer::{Steering, work};
use crate::table::{Table, from_anything};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use quince::Kind;
use quince::encode::{Encoder, ExpandedRows, MissingValues, NeighbourWeights, Number, PolynomialFeatures};
use quince::learn::{Classes, Target};
use quince::matrix::{Dense, Rows, View};

/// scipy's compressed rows: starts, columns, values.
type Compressed<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// The most names that are listed. A small file may claim very many.
const MOST_NAMES: usize = 1 << 24;

fn check_count(count: usize) -> PyResult<()> {
    if count <= MOST_NAMES {
        return Ok(());
    }
    Err(wrong(format!("there are {count} names, more than can be listed"), format!("At most {MOST_NAMES} are listed.")))
}

/// The names of the features, in a list.
pub(crate) fn feature_names(encoder: &Encoder) -> PyResult<Vec<String>> {
    check_count(encoder.width())?;
    Ok(encoder.feature_names().collect())
}

/// The kind of each column that is used, by name.
pub(crate) fn kinds_by_name<'py>(encoder: &Encoder, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    check_count(encoder.columns())?;
    let columns = PyDict::new(py);
    for field in encoder.fields() {
        columns.set_item(field.name, field.kind.name())?;
    }
    Ok(columns)
}

/// How the columns of a table become features, learnt from a table.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct TableEncoder(Encoder);

#[pymethods]
impl TableEncoder {
    /// The features of a table: a dense array, or compressed rows if anything is sparse.
    #[pyo3(signature = (data, *, kept=false, threads=0))]
    fn encode<'py>(&self, data: &Bound<'py, PyAny>, kept: bool, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        let table = from_anything(data, None, false)?;
        let rows = work(data.py(), Steering::threads(threads), |run| self.0.encode(&table, missing_values(kept), run))?;
        to_features(data.py(), &rows)
    }

    /// The names of the features.
    #[getter]
    fn feature_names(&self) -> PyResult<Vec<String>> {
        feature_names(&self.0)
    }

    /// The kind of each column that is used, by name.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        kinds_by_name(&self.0, py)
    }

    /// An encoder from what `__reduce__` gave. No code in it is ever run.
    #[staticmethod]
    fn of(state: &Bound<'_, PyAny>, donors: Option<PyReadonlyArray2<'_, f64>>) -> PyResult<TableEncoder> {
        let encoder: Encoder =
            serde_json::from_value(json::from_python(state)?).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let donors = donors.as_ref().map(matrix).transpose()?;
        encoder.with_donors(donors).map(TableEncoder).map_err(to_python)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let state = json::serialised(py, serde_json::to_value(&self.0))?;
        let donors = self.0.donors().map(|donors| to_numpy(py, donors)).transpose()?;
        Ok((py.get_type::<TableEncoder>().getattr("of")?, (state, donors).into_pyobject(py)?))
    }
}

/// Names of columns, and why each of them is left out.
type LeftOut = Vec<(String, String)>;

/// Learns how the columns of a table become features, and gives them, together with the columns that are left out and why. Words are
/// selected by the class of each row.
#[pyfunction]
#[pyo3(signature = (table, *, codes=None, classes=0, kept=false, threads=0))]
pub(crate) fn learn_table<'py>(
    py: Python<'py>,
    table: &Table,
    codes: Option<PyReadonlyArray1<'py, u32>>,
    classes: usize,
    kept: bool,
    threads: usize,
) -> PyResult<(TableEncoder, Bound<'py, PyAny>, LeftOut)> {
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let target = match codes {
        None => None,
        Some(codes) => {
            let codes: Vec<u32> = codes.as_array().iter().copied().collect();
            if codes.len() != table.0.rows() {
                return Err(wrong("the classes are not those of the rows", "Give every row one class."));
            }
            let target = Classes::in_order(names).and_then(|classes| Target::classes(classes, codes));
            Some(target.map_err(to_python)?)
        }
    };
    warn(py, &table.0.unsupervised(None, &[]).map_err(to_python)?.notes)?;
    let fit = |run: &quince::Run| Encoder::fit(&table.0, target.as_ref(), missing_values(kept), run);
    let (encoder, rows) = work(py, Steering::threads(threads), fit)?;
    let ignored = table.0.columns().iter().filter(|column| column.kind() == Kind::Ignored);
    let left_out = ignored.map(|column| (column.name().to_string(), column.why_ignored().to_string())).collect();
    Ok((TableEncoder(encoder), to_features(py, &rows)?, left_out))
}

fn missing_values(kept: bool) -> MissingValues {
    if kept { MissingValues::Kept } else { MissingValues::Imputed }
}

/// A dense array, or compressed rows with the dense features first if there are sparse ones.
fn to_features<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyAny>> {
    let features = rows.features();
    if features.sparse_part().is_some() {
        return Ok(compressed(py, py.detach(|| compress(&features))).into_pyobject(py)?.into_any());
    }
    let values = py.detach(|| (0..features.rows()).flat_map(|i| dense_row(&features, i)).collect());
    Ok(rows_to_numpy(py, values, features.rows(), features.columns())?.into_any())
}

fn compressed(py: Python<'_>, rows: ExpandedRows) -> Compressed<'_> {
    let starts: Vec<i64> = rows.starts.into_iter().map(|start| start as i64).collect();
    let places: Vec<i64> = rows.places.into_iter().map(|place| place as i64).collect();
    (starts.into_pyarray(py), places.into_pyarray(py), rows.values.into_pyarray(py))
}

/// Fills the NaNs of rows from the nearest donors; where nobody near has a value, from `otherwise`.
#[pyfunction]
#[pyo3(signature = (x, donors, k, *, by_distance=false, otherwise, threads=0))]
pub(crate) fn knn_impute<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    donors: PyReadonlyArray2<'py, f64>,
    k: usize,
    by_distance: bool,
    otherwise: Vec<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (mut rows, donors) = (matrix(&x)?, matrix(&donors)?);
    if k == 0 || rows.columns() != donors.columns() || rows.columns() != otherwise.len() {
        return Err(wrong("rows and donors do not fit together", "Give them the same columns."));
    }
    let near = if by_distance { NeighbourWeights::Distance } else { NeighbourWeights::Uniform };
    let fill = |run: &quince::Run| quince::encode::knn_impute(&mut rows, &donors, (k, near), &otherwise, run);
    work(py, Steering::threads(threads), fill)?;
    to_numpy(py, &rows)
}

/// Which columns are multiplied, for every product of these degrees.
#[pyfunction]
pub(crate) fn monomials(columns: usize, lowest: usize, highest: usize, single: bool) -> PyResult<Vec<Vec<u32>>> {
    quince::encode::monomials(columns, lowest..=highest, single).map_err(to_python)
}

/// How many products there are of these degrees.
#[pyfunction]
#[pyo3(signature = (columns, lowest, highest, *, single, constant))]
pub(crate) fn count_products(
    columns: usize,
    lowest: usize,
    highest: usize,
    single: bool,
    constant: bool,
) -> PyResult<usize> {
    PolynomialFeatures::new(columns, lowest..=highest, single, constant)
        .map(|products| products.width())
        .map_err(to_python)
}

/// The products of every row's numbers: an array of the same precision, or compressed rows of compressed rows.
#[pyfunction]
#[pyo3(signature = (x, lowest, highest, *, single, constant, by_columns=false, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn products<'py>(
    x: &Bound<'py, PyAny>,
    lowest: usize,
    highest: usize,
    single: bool,
    constant: bool,
    by_columns: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, held, steering) = (x.py(), Held::new(x)?, Steering::threads(threads));
    let view = held.view()?;
    let features = view.features();
    let products =
        PolynomialFeatures::new(features.columns(), lowest..=highest, single, constant).map_err(to_python)?;
    if let Some(sparse) = features.sparse_part() {
        let expanded = work(py, steering, |run| products.sparse(sparse, run))?;
        return Ok(compressed(py, expanded).into_pyobject(py)?.into_any());
    }
    match features.dense_part() {
        Some(Dense::F32(view)) => dense_products(py, &products, view, by_columns, steering),
        Some(Dense::F64(view)) => dense_products(py, &products, view, by_columns, steering),
        None => Err(wrong("there are no features", "Give an array.")),
    }
}

fn dense_products<'py, T: Number + Element>(
    py: Python<'py>,
    products: &PolynomialFeatures,
    view: View<'_, T>,
    by_columns: bool,
    steering: Steering,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, width) = (view.rows(), products.width());
    if by_columns {
        let values = work(py, steering, |run| products.by_columns(&view, run))?;
        return Ok(rows_to_numpy(py, values, width, rows)?.transpose()?.into_any());
    }
    let values = work(py, steering, |run| products.by_rows(&view, run))?;
    Ok(rows_to_numpy(py, values, rows, width)?.into_any())
}
