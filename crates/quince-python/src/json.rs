//! Settings and reports as Python's own values, and back.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// None, bool, int, float, str, list and dict for what JSON calls them.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(boolean) => boolean.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (None, Some(whole)) => whole.into_bound_py_any(py),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_bound_py_any(py)
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(name, to_python(py, value)?)?;
            }
            dict.into_bound_py_any(py)
        }
    }
}

/// The other way round; numpy's numbers count as numbers.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(boolean) = value.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_string()));
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        let mut object = Map::new();
        for (name, value) in entries {
            let name = name.cast::<PyString>().map_err(|_| PyTypeError::new_err("names must be of type str"))?;
            object.insert(name.to_string(), from_python(&value)?);
        }
        return Ok(Value::Object(object));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| from_python(&item?)).collect::<PyResult<Vec<_>>>()?;
        return Ok(Value::Array(items));
    }
    if value.hasattr("item")? && value.hasattr("dtype")? {
        return from_python(&value.call_method0("item")?);
    }
    if let Ok(whole) = value.extract::<i64>() {
        return Ok(Value::from(whole));
    }
    if let Ok(number) = value.extract::<f64>() {
        let not_finite = || PyValueError::new_err(format!("{number} is not a finite number"));
        return Number::from_f64(number).map(Value::Number).ok_or_else(not_finite);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("a setting is a number, a word, True or False, not a {kind}")))
}

/// Anything that serde can write, as Python's own values.
pub(crate) fn serialised<'py>(py: Python<'py>, value: serde_json::Result<Value>) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &value.map_err(|e| PyValueError::new_err(e.to_string()))?)
}
