//! Features from numpy, without a copy, and from scipy's compressed rows.

use crate::errors::{to_python, wrong};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use quince::Matrix;
use quince::encode::ExpandedRows;
use quince::matrix::{Dense, Features, Real, Sparse, SparseView, View};

/// Rows of numbers that Python owns, borrowed for reading: as long as this lives, rust-numpy refuses to lend the same memory
/// to a writer. [`Held::view`] looks at them; work with the lock released happens between the two.
pub(crate) enum Held<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    /// scipy's own arrays, where their types are ours.
    Compressed(Compressed<'py>),
    /// Converted: scipy's arrays have other types, or do not lie side by side.
    Copied(Sparse),
}

/// The arrays of a scipy matrix by compressed rows. The row starts are copied: ours have another type.
pub(crate) struct Compressed<'py> {
    shape: (usize, usize),
    starts: Vec<usize>,
    indices: PyReadonlyArray1<'py, i32>,
    values: PyReadonlyArray1<'py, f64>,
}

/// What [`Held`] holds, as a learner sees it.
pub(crate) enum HeldView<'a> {
    Dense(Dense<'a>),
    Sparse(SparseView<'a>),
    Copied(&'a Sparse),
}

impl<'py> Held<'py> {
    /// A two-dimensional array of float32 or float64, or anything with scipy's `indptr`, `indices`, `data` and `shape`
    /// by rows.
    pub(crate) fn new(x: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
        if x.hasattr("indptr")? {
            return sparse(x);
        }
        if let Ok(array) = x.cast::<PyArray2<f64>>() {
            return Ok(Held::F64(array.try_readonly().map_err(|_| being_written())?));
        }
        if let Ok(array) = x.cast::<PyArray2<f32>>() {
            return Ok(Held::F32(array.try_readonly().map_err(|_| being_written())?));
        }
        let what = match x.cast::<PyUntypedArray>() {
            Ok(array) => format!("an array of {} dimensions and type {}", array.ndim(), array.dtype()),
            Err(_) => format!("a {}", x.get_type().name()?),
        };
        Err(wrong(
            format!("features cannot be {what}"),
            "Give a two-dimensional array of float32 or float64, or a scipy sparse matrix.",
        ))
    }

    /// A view of the rows, which lasts no longer than they are held.
    pub(crate) fn view(&self) -> PyResult<HeldView<'_>> {
        Ok(match self {
            Held::F32(array) => HeldView::Dense(Dense::F32(view(array)?)),
            Held::F64(array) => HeldView::Dense(Dense::F64(view(array)?)),
            Held::Compressed(held) => HeldView::Sparse(held.view()?),
            Held::Copied(sparse) => HeldView::Copied(sparse),
        })
    }
}

impl HeldView<'_> {
    /// The features, as a learner sees them.
    pub(crate) fn features(&self) -> Features<'_> {
        match self {
            HeldView::Dense(dense) => Features::dense(*dense),
            HeldView::Sparse(sparse) => sparse.features(),
            HeldView::Copied(sparse) => sparse.features(),
        }
    }
}

impl Compressed<'_> {
    fn view(&self) -> PyResult<SparseView<'_>> {
        let refuse = |_| wrong("the arrays of the sparse matrix do not lie side by side", "Give a copy of it.");
        let (indices, values) = (self.indices.as_slice().map_err(refuse)?, self.values.as_slice().map_err(refuse)?);
        // SAFETY: i32 and u32 have the same size and alignment, and the slice keeps its lifetime. A negative index is then
        // past the last column, which the view refuses.
        let indices = unsafe { std::slice::from_raw_parts(indices.as_ptr().cast::<u32>(), indices.len()) };
        SparseView::new(self.shape.0, self.shape.1, self.starts.clone(), indices, values).map_err(to_python)
    }
}

/// Somebody has borrowed the array for writing.
pub(crate) fn being_written() -> PyErr {
    wrong("the array is being written to", "Wait until that is done, or give a copy of it.")
}

/// Looks at rows in numpy's own memory, whatever its order.
fn view<'a, T: Element + Real>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<View<'a, T>> {
    let (shape, strides) = ([array.shape()[0], array.shape()[1]], array.strides());
    let size = size_of::<T>() as isize;
    let refuse =
        || wrong("the array is not aligned, or runs backwards in memory", "Give numpy.ascontiguousarray of it.");
    if !array.is_aligned() {
        return Err(refuse());
    }
    if shape.contains(&0) {
        return View::strided(&[], (shape[0], shape[1]), (shape[1], 1)).map_err(to_python);
    }
    let mut counted = [0; 2];
    for axis in 0..2 {
        // The stride of an axis of length one means nothing, and numpy lets it be anything.
        if shape[axis] > 1 {
            if strides[axis] < 0 || strides[axis] % size != 0 {
                return Err(refuse());
            }
            counted[axis] = (strides[axis] / size) as usize;
        } else {
            counted[axis] = if axis == 0 { shape[1] } else { 1 };
        }
    }
    let reach = (shape[0] - 1) * counted[0] + (shape[1] - 1) * counted[1];
    // SAFETY: the array is borrowed for reading and kept alive by `array`; numpy vouches that every element within its
    // shape and strides, the last of ours being `reach` elements after the first, is in one allocation; alignment was
    // checked above.
    let values = unsafe { std::slice::from_raw_parts(array.data().cast_const(), reach + 1) };
    View::strided(values, (shape[0], shape[1]), (counted[0], counted[1])).map_err(to_python)
}

/// scipy's compressed rows, where they are if their types are ours.
fn sparse<'py>(x: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
    let shape: (usize, usize) = x.getattr("shape")?.extract()?;
    let starts = whole_numbers(&x.getattr("indptr")?)?;
    let (indices, data) = (x.getattr("indices")?, x.getattr("data")?);
    if let (Ok(places), Ok(values)) = (indices.cast::<PyArray1<i32>>(), data.cast::<PyArray1<f64>>())
        && [places.as_untyped(), values.as_untyped()].iter().all(|array| array.is_c_contiguous() && array.is_aligned())
    {
        let indices = places.try_readonly().map_err(|_| being_written())?;
        let values = values.try_readonly().map_err(|_| being_written())?;
        return Ok(Held::Compressed(Compressed { shape, starts, indices, values }));
    }
    let indices = whole_numbers::<u32>(&indices)?;
    let values: Vec<f64> = match data.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(array) => array.as_array().iter().copied().collect(),
        Err(_) => data.extract::<PyReadonlyArray1<'_, f32>>()?.as_array().iter().map(|&v| f64::from(v)).collect(),
    };
    Sparse::new(shape.0, shape.1, starts, indices, values).map(Held::Copied).map_err(to_python)
}

/// scipy's index arrays are int32 or int64.
fn whole_numbers<T: TryFrom<i64>>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let fit = |v: i64| T::try_from(v).map_err(|_| wrong(format!("{v} is no index of a sparse matrix"), "Check it."));
    match array.extract::<PyReadonlyArray1<'_, i32>>() {
        Ok(array) => array.as_array().iter().map(|&v| fit(i64::from(v))).collect(),
        Err(_) => array.extract::<PyReadonlyArray1<'_, i64>>()?.as_array().iter().map(|&v| fit(v)).collect(),
    }
}

/// A matrix of ours from a numpy array, copied.
pub(crate) fn matrix(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix> {
    let values = array.as_array();
    Matrix::new(values.nrows(), values.ncols(), values.iter().copied().collect()).map_err(to_python)
}

/// A numpy array from a matrix of ours.
pub(crate) fn to_numpy<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    numpy::PyArray1::from_slice(py, matrix.values()).reshape([matrix.rows(), matrix.columns()])
}

/// Features of ours as a numpy array or, if any are sparse, as scipy's compressed rows with the dense features first.
pub(crate) fn from_features<'py>(py: Python<'py>, features: &Features<'_>) -> PyResult<Bound<'py, PyAny>> {
    let (rows, columns) = (features.rows(), features.columns());
    if features.sparse_part().is_none() {
        let values = py.detach(|| (0..rows).flat_map(|i| dense_row(features, i)).collect());
        return Ok(rows_to_numpy(py, values, rows, columns)?.into_any());
    }
    let ExpandedRows { starts, places, values } = py.detach(|| compress(features));
    let starts: Vec<i64> = starts.into_iter().map(|start| start as i64).collect();
    let places: Vec<i64> = places.into_iter().map(|place| place as i64).collect();
    let arrays = (values.into_pyarray(py), places.into_pyarray(py), starts.into_pyarray(py));
    py.import("scipy.sparse")?.call_method1("csr_matrix", (arrays, (rows, columns)))
}

/// Compressed rows of all features, the dense ones first.
pub(crate) fn compress(features: &Features<'_>) -> ExpandedRows {
    let first = features.dense_columns() as u64;
    let mut all = ExpandedRows { starts: vec![0], ..ExpandedRows::default() };
    for i in 0..features.rows() {
        for (j, x) in dense_row(features, i).enumerate().filter(|(_, x)| *x != 0.0) {
            all.places.push(j as u64);
            all.values.push(x);
        }
        if let Some(sparse) = features.sparse_part() {
            let (columns, values) = sparse.row(i);
            all.places.extend(columns.iter().map(|&j| first + u64::from(j)));
            all.values.extend_from_slice(values);
        }
        all.starts.push(all.values.len());
    }
    all
}

/// The dense features of one row.
pub(crate) fn dense_row<'a>(features: &Features<'a>, i: usize) -> impl Iterator<Item = f64> + 'a {
    let dense = features.dense_part();
    (0..features.dense_columns()).map(move |j| dense.map_or(0.0, |dense| dense.get(i, j)))
}

/// A numpy array of `rows` rows from numbers of ours, row after row, which it takes over without a copy.
pub(crate) fn rows_to_numpy<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    numpy::PyArray1::from_vec(py, values).reshape([rows, columns])
}

/// Row weights, if there are any.
pub(crate) fn weights(weights: Option<&PyReadonlyArray1<'_, f64>>) -> Option<Vec<f64>> {
    weights.map(|weights| weights.as_array().iter().copied().collect())
}
