//! Distributions as plain values, for `python/quince/family.py`.

use crate::errors::to_python;
use crate::features::{matrix, to_numpy};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use quince::Matrix;
use quince::family::{self, Beta, Binomial, Distribution, Normal, Poisson};
use quince::run::Stream;

/// A distribution of one number.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct Single(Box<dyn Distribution + Send + Sync>);

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

#[pymethods]
impl Single {
    #[staticmethod]
    fn normal(mean: f64, standard_deviation: f64) -> PyResult<Single> {
        Ok(Single(Box::new(Normal::new(mean, standard_deviation).map_err(to_python)?)))
    }

    #[staticmethod]
    fn normal_of(values: Numbers<'_>, unbiased: bool) -> PyResult<Single> {
        let fit = if unbiased { Normal::fit_unbiased } else { Normal::fit };
        Ok(Single(Box::new(fit(values.as_slice()?).map_err(to_python)?)))
    }

    #[staticmethod]
    fn poisson(rate: f64) -> PyResult<Single> {
        Ok(Single(Box::new(Poisson::new(rate).map_err(to_python)?)))
    }

    #[staticmethod]
    fn poisson_of(values: Numbers<'_>) -> PyResult<Single> {
        Ok(Single(Box::new(Poisson::fit(values.as_slice()?).map_err(to_python)?)))
    }

    #[staticmethod]
    fn binomial(tries: f64, probability: f64) -> PyResult<Single> {
        Ok(Single(Box::new(Binomial::new(tries, probability).map_err(to_python)?)))
    }

    #[staticmethod]
    fn binomial_of(tries: f64, values: Numbers<'_>) -> PyResult<Single> {
        Ok(Single(Box::new(Binomial::fit(tries, values.as_slice()?).map_err(to_python)?)))
    }

    #[staticmethod]
    fn beta(a: f64, b: f64) -> PyResult<Single> {
        Ok(Single(Box::new(Beta::new(a, b).map_err(to_python)?)))
    }

    fn log_density<'py>(&self, py: Python<'py>, x: Numbers<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.each(py, &x, |x| self.0.log_density(x))
    }

    fn cumulative<'py>(&self, py: Python<'py>, x: Numbers<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.each(py, &x, |x| self.0.cumulative(x))
    }

    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> Bound<'py, PyArray1<f64>> {
        let mut stream = Stream::new(seed, 0);
        (0..count).map(|_| self.0.sample(&mut stream)).collect::<Vec<f64>>().into_pyarray(py)
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    #[getter]
    fn variance(&self) -> f64 {
        self.0.variance()
    }
}

impl Single {
    fn each<'py>(
        &self,
        py: Python<'py>,
        x: &Numbers<'py>,
        at: impl Fn(f64) -> f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(x.as_slice()?.iter().map(|&x| at(x)).collect::<Vec<f64>>().into_pyarray(py))
    }
}

/// A normal distribution of several numbers.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct Gaussian(family::Gaussian);

#[pymethods]
impl Gaussian {
    #[staticmethod]
    fn of(mean: Numbers<'_>, covariance: PyReadonlyArray2<'_, f64>) -> PyResult<Gaussian> {
        let found = family::Gaussian::new(mean.as_slice()?.to_vec(), matrix(&covariance)?);
        found.map(Gaussian).map_err(to_python)
    }

    #[staticmethod]
    fn fit(rows: PyReadonlyArray2<'_, f64>, unbiased: bool) -> PyResult<Gaussian> {
        let fit = if unbiased { family::Gaussian::fit_unbiased } else { family::Gaussian::fit };
        fit(&matrix(&rows)?).map(Gaussian).map_err(to_python)
    }

    fn log_density<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = matrix(&rows)?;
        Ok((0..rows.rows()).map(|i| self.0.log_density(rows.row(i))).collect::<Vec<f64>>().into_pyarray(py))
    }

    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut stream = Stream::new(seed, 0);
        let values = (0..count).flat_map(|_| self.0.sample(&mut stream)).collect();
        to_numpy(py, &Matrix::new(count, self.0.mean().len(), values).map_err(to_python)?)
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.mean().to_vec().into_pyarray(py)
    }

    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        to_numpy(py, self.0.covariance())
    }
}

/// How often each of some things occurs.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct Multinomial(family::Multinomial);

#[pymethods]
impl Multinomial {
    #[staticmethod]
    fn of(weights: Numbers<'_>) -> PyResult<Multinomial> {
        family::Multinomial::new(weights.as_slice()?).map(Multinomial).map_err(to_python)
    }

    #[staticmethod]
    fn fit(rows: PyReadonlyArray2<'_, f64>) -> PyResult<Multinomial> {
        let rows = matrix(&rows)?;
        let rows: Vec<&[f64]> = (0..rows.rows()).map(|i| rows.row(i)).collect();
        family::Multinomial::fit(&rows).map(Multinomial).map_err(to_python)
    }

    fn log_probability<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = matrix(&rows)?;
        let found: quince::Result<Vec<f64>> = (0..rows.rows()).map(|i| self.0.log_probability(rows.row(i))).collect();
        Ok(found.map_err(to_python)?.into_pyarray(py))
    }

    fn sample<'py>(
        &self,
        py: Python<'py>,
        length: usize,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut stream = Stream::new(seed, 0);
        let values = (0..count).flat_map(|_| self.0.sample(length, &mut stream)).collect();
        to_numpy(py, &Matrix::new(count, self.0.probabilities().len(), values).map_err(to_python)?)
    }

    #[getter]
    fn probabilities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.probabilities().to_vec().into_pyarray(py)
    }
}

/// The probability of every pair of two things that can happen.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct Joint(family::Joint);

#[pymethods]
impl Joint {
    #[staticmethod]
    fn of(table: PyReadonlyArray2<'_, f64>) -> PyResult<Joint> {
        family::Joint::new(matrix(&table)?).map(Joint).map_err(to_python)
    }

    #[staticmethod]
    fn from_conditional(prior: Numbers<'_>, conditional: PyReadonlyArray2<'_, f64>) -> PyResult<Joint> {
        let conditional = matrix(&conditional)?;
        let rows: Vec<&[f64]> = (0..conditional.rows()).map(|i| conditional.row(i)).collect();
        family::Joint::from_conditional(prior.as_slice()?, &rows).map(Joint).map_err(to_python)
    }

    #[getter]
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        to_numpy(py, self.0.table())
    }

    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.rows().into_pyarray(py)
    }

    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.columns().into_pyarray(py)
    }

    fn given_row<'py>(&self, py: Python<'py>, row: usize) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.0.given_row(row)?.into_pyarray(py))
    }

    fn given_column<'py>(&self, py: Python<'py>, column: usize) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.0.given_column(column)?.into_pyarray(py))
    }

    fn is_independent(&self, tolerance: f64) -> bool {
        self.0.is_independent(tolerance)
    }

    fn correlation(&self, of_rows: Numbers<'_>, of_columns: Numbers<'_>) -> PyResult<Option<f64>> {
        self.0.correlation(of_rows.as_slice()?, of_columns.as_slice()?).map_err(to_python)
    }
}
