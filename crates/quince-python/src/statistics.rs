//! Statistics of columns, for the scaler and the imputers of `python/quince/preprocessing/`.

use crate::errors::{to_python, wrong};
use crate::features::{Held, weights};
use crate::steer::{Steering, work};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use quince::encode::{ColumnMoments, FillStatistic};

type Numbers<'py> = Bound<'py, PyArray1<f64>>;
type Given<'py> = PyReadonlyArray1<'py, f64>;

/// Weight, mean and variance of each column without its missing values.
#[pyfunction]
#[pyo3(signature = (x, *, weights=None, threads=0))]
pub(crate) fn column_moments<'py>(
    x: &Bound<'py, PyAny>,
    weights: Option<Given<'py>>,
    threads: usize,
) -> PyResult<(Numbers<'py>, Numbers<'py>, Numbers<'py>)> {
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let weights = self::weights(weights.as_ref());
    let moments =
        work(x.py(), Steering::threads(threads), |run| ColumnMoments::of(&features, weights.as_deref(), run))?;
    Ok(arrays(x.py(), moments))
}

/// The moments of all rows from those of two parts of them.
#[pyfunction]
pub(crate) fn merge_moments<'py>(
    py: Python<'py>,
    before: (Given<'py>, Given<'py>, Given<'py>),
    after: (Given<'py>, Given<'py>, Given<'py>),
) -> PyResult<(Numbers<'py>, Numbers<'py>, Numbers<'py>)> {
    Ok(arrays(py, moments(&before).merged(&moments(&after)).map_err(to_python)?))
}

fn moments((weights, means, variances): &(Given<'_>, Given<'_>, Given<'_>)) -> ColumnMoments {
    let copied = |numbers: &Given<'_>| numbers.as_array().iter().copied().collect();
    ColumnMoments { weights: copied(weights), means: copied(means), variances: copied(variances) }
}

fn arrays(py: Python<'_>, moments: ColumnMoments) -> (Numbers<'_>, Numbers<'_>, Numbers<'_>) {
    let ColumnMoments { weights, means, variances } = moments;
    (weights.into_pyarray(py), means.into_pyarray(py), variances.into_pyarray(py))
}

/// The `mean`, `median` or `most_frequent` value of each column; NaN for a column without any value.
#[pyfunction]
#[pyo3(signature = (x, statistic, *, threads=0))]
pub(crate) fn fill_values<'py>(x: &Bound<'py, PyAny>, statistic: &str, threads: usize) -> PyResult<Numbers<'py>> {
    let statistic = match statistic {
        "mean" => FillStatistic::Mean,
        "median" => FillStatistic::Median,
        "most_frequent" => FillStatistic::MostFrequent,
        other => return Err(wrong(format!("a column has no '{other}'"), "Take mean, median or most_frequent.")),
    };
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let values =
        work(x.py(), Steering::threads(threads), |run| quince::encode::fill_values(&features, statistic, run))?;
    Ok(values.into_pyarray(x.py()))
}
