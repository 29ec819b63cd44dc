//! Features from numpy, without a copy, and from scipy's compressed rows.

use crate::errors::{to_python, wrong};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use quince::Matrix;
use quince::matrix::{Dense, Features, Real, Sparse, View};
use std::sync::Arc;

/// Rows of numbers that Python owns; sparse ones are copied if their types are not ours.
pub(crate) enum Held<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    Sparse(Sparse),
}

impl<'py> Held<'py> {
    /// A two-dimensional array of float32 or float64, or anything with scipy's `indptr`, `indices`, `data` and `shape`
    /// by rows.
    pub(crate) fn new(x: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
        if x.hasattr("indptr")? {
            return Ok(Held::Sparse(sparse(x)?));
        }
        if let Ok(array) = x.extract::<PyReadonlyArray2<'py, f64>>() {
            return Ok(Held::F64(array));
        }
        if let Ok(array) = x.extract::<PyReadonlyArray2<'py, f32>>() {
            return Ok(Held::F32(array));
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

    /// The features, as a learner sees them.
    pub(crate) fn features(&self) -> PyResult<Features<'_>> {
        Ok(match self {
            Held::F32(array) => Features::dense(Dense::F32(view(array)?)),
            Held::F64(array) => Features::dense(Dense::F64(view(array)?)),
            Held::Sparse(sparse) => sparse.features(),
        })
    }
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

/// The numbers of an array that lie side by side, for as long as somebody holds it.
fn lying<T: Element>(array: &Bound<'_, PyArray1<T>>) -> Option<&'static [T]> {
    let fine = array.is_c_contiguous() && array.is_aligned() && array.len() > 0;
    // SAFETY: numpy vouches for this many elements from the first on; whoever asks keeps the array alive.
    fine.then(|| unsafe { std::slice::from_raw_parts(array.data().cast_const(), array.len()) })
}

/// scipy's compressed rows, where they are if their types are ours.
fn sparse(x: &Bound<'_, PyAny>) -> PyResult<Sparse> {
    let (rows, columns): (usize, usize) = x.getattr("shape")?.extract()?;
    let starts = whole_numbers(&x.getattr("indptr")?)?;
    let (indices, data) = (x.getattr("indices")?, x.getattr("data")?);
    if let (Ok(places), Ok(values)) = (indices.cast::<PyArray1<i32>>(), data.cast::<PyArray1<f64>>())
        && let (Some(places), Some(values)) = (lying(places), lying(values))
    {
        // SAFETY: i32 and u32 have the same size and alignment, and a negative place is refused as one past the last column.
        let places = unsafe { std::slice::from_raw_parts(places.as_ptr().cast::<u32>(), places.len()) };
        let keeper = Arc::new((indices.clone().unbind(), data.clone().unbind()));
        // SAFETY: the keeper holds both arrays, and nobody is given leave to write to them while we work.
        return unsafe { Sparse::kept((rows, columns), starts, places, values, keeper) }.map_err(to_python);
    }
    let indices = whole_numbers::<u32>(&indices)?;
    let values: Vec<f64> = match data.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(array) => array.as_array().iter().copied().collect(),
        Err(_) => data.extract::<PyReadonlyArray1<'_, f32>>()?.as_array().iter().map(|&v| f64::from(v)).collect(),
    };
    Sparse::new(rows, columns, starts, indices, values).map_err(to_python)
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
