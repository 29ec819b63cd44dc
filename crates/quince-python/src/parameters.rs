//! What a fitted method has learnt, by name: arrays and numbers from its getters.

use crate::errors::wrong;
use crate::features::{from_features, to_numpy};
use crate::predict::own;
use crate::steer::{Steering, work};
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quince::baseline::ConstantModel;
use quince::bayes::{BayesModel, CentroidModel, Parameters, PrincipalAxes};
use quince::cluster::KMeansModel;
use quince::linear::LinearModel;
use quince::margin::{LinearSvmModel, SvmModel};
use quince::mixture::MixtureModel;
use quince::neighbours::KnnModel;
use quince::run::Outcome;

/// A parameter, or nothing if the method has none of that name.
type Found<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// The parameter with this name.
pub(crate) fn parameter<'py>(py: Python<'py>, model: &quince::Model, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = if let (Outcome::LeastSquares { rank }, "rank") = (&model.report().outcome, name) {
        rank.into_bound_py_any(py).map(Some)
    } else if let Some(fitted) = model.fitted() {
        of_linear(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_neighbours(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_clusters(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_svm(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_linear_svm(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_bayes(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_mixture(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_centroids(py, fitted, name)
    } else if let Some(fitted) = model.fitted() {
        of_constant(py, fitted, name)
    } else {
        Ok(None)
    };
    let method = model.method().info.name;
    found?.ok_or_else(|| wrong(format!("a model of the method '{method}' has no parameter called '{name}'"), ""))
}

fn of_linear<'py>(py: Python<'py>, fitted: &LinearModel, name: &str) -> Found<'py> {
    match name {
        "coefficients" => Ok(Some(to_numpy(py, fitted.coefficients())?.into_any())),
        "intercept" => numbers(py, fitted.intercept()),
        _ => Ok(None),
    }
}

fn of_neighbours<'py>(py: Python<'py>, fitted: &KnnModel, name: &str) -> Found<'py> {
    match (name, fitted.codes(), fitted.numbers()) {
        ("k", ..) => fitted.k().into_bound_py_any(py).map(Some),
        ("rows", ..) => from_features(py, &fitted.index().features()).map(Some),
        ("weights", ..) => numbers(py, fitted.sample_weights()),
        ("codes", Some(codes), _) => Ok(Some(PyArray1::from_slice(py, codes).into_any())),
        ("numbers", _, Some(numbers)) => Ok(Some(to_numpy(py, numbers)?.into_any())),
        _ => Ok(None),
    }
}

fn of_clusters<'py>(py: Python<'py>, fitted: &KMeansModel, name: &str) -> Found<'py> {
    match name {
        "centres" => Ok(Some(to_numpy(py, fitted.centres())?.into_any())),
        "sizes" => numbers(py, fitted.sizes()),
        "error" => fitted.error().into_bound_py_any(py).map(Some),
        _ => Ok(None),
    }
}

fn of_svm<'py>(py: Python<'py>, fitted: &SvmModel, name: &str) -> Found<'py> {
    match name {
        "support_indices" => {
            let indices = fitted.support_indices().iter().map(|&index| index as i32).collect();
            Ok(Some(PyArray1::<i32>::from_vec(py, indices).into_any()))
        }
        "support_vectors" => from_features(py, &fitted.support_vectors()).map(Some),
        "coefficients" => numbers(py, fitted.coefficients()),
        "bias" => fitted.bias().into_bound_py_any(py).map(Some),
        "temperature" => fitted.temperature().into_bound_py_any(py).map(Some),
        "offset" => fitted.offset().into_bound_py_any(py).map(Some),
        "steps" => fitted.summary().steps.into_bound_py_any(py).map(Some),
        _ => Ok(None),
    }
}

fn of_linear_svm<'py>(py: Python<'py>, fitted: &LinearSvmModel, name: &str) -> Found<'py> {
    match name {
        "weights" => numbers(py, fitted.weights()),
        "bias" => fitted.bias().into_bound_py_any(py).map(Some),
        "temperature" => fitted.temperature().into_bound_py_any(py).map(Some),
        "offset" => fitted.offset().into_bound_py_any(py).map(Some),
        "epochs" => fitted.epochs().into_bound_py_any(py).map(Some),
        "steps" => fitted.steps().into_bound_py_any(py).map(Some),
        _ => Ok(None),
    }
}

fn of_bayes<'py>(py: Python<'py>, fitted: &BayesModel, name: &str) -> Found<'py> {
    match name {
        "class_weights" => numbers(py, fitted.class_weights()),
        "log_priors" => numbers(py, fitted.log_priors()),
        "blocks" => blocks(py, fitted.parameters()),
        "class_means" => fitted.class_means().map(|means| own(py, means)).transpose(),
        "linear_discriminants" => {
            let Some(found) = fitted.linear_discriminants() else { return Ok(None) };
            let dict = PyDict::new(py);
            dict.set_item("coefficients", own(py, found.coefficients)?)?;
            dict.set_item("intercepts", PyArray1::from_vec(py, found.intercepts))?;
            Ok(Some(dict.into_any()))
        }
        "discriminant_axes" => {
            let found = work(py, Steering::default(), |run| fitted.discriminant_axes(run))?;
            let Some(found) = found else { return Ok(None) };
            let dict = PyDict::new(py);
            dict.set_item("centre", PyArray1::from_vec(py, found.centre))?;
            dict.set_item("axes", own(py, found.axes)?)?;
            dict.set_item("explained_variance_ratio", PyArray1::from_vec(py, found.explained_variance_ratio))?;
            Ok(Some(dict.into_any()))
        }
        "principal_axes" => {
            let of_classes = work(py, Steering::default(), |run| {
                let each = (0..fitted.class_weights().len()).map(|class| fitted.principal_axes(class, run));
                each.collect::<quince::Result<Option<Vec<_>>>>()
            })?;
            let Some(of_classes) = of_classes else { return Ok(None) };
            let pair = |found: PrincipalAxes| Ok((PyArray1::from_vec(py, found.variances), own(py, found.axes)?));
            of_classes.into_iter().map(pair).collect::<PyResult<Vec<_>>>()?.into_bound_py_any(py).map(Some)
        }
        _ => Ok(None),
    }
}

fn of_centroids<'py>(py: Python<'py>, fitted: &CentroidModel, name: &str) -> Found<'py> {
    match name {
        "centroids" => Ok(Some(to_numpy(py, fitted.centroids())?.into_any())),
        "shifts" => Ok(Some(to_numpy(py, fitted.shifts())?.into_any())),
        "standard_deviations" => numbers(py, fitted.standard_deviations()),
        "log_priors" => numbers(py, fitted.log_priors()),
        _ => Ok(None),
    }
}

fn of_mixture<'py>(py: Python<'py>, fitted: &MixtureModel, name: &str) -> Found<'py> {
    match name {
        "weights" => numbers(py, &fitted.weights()),
        "blocks" => blocks(py, fitted.parameters()),
        _ => Ok(None),
    }
}

fn of_constant<'py>(py: Python<'py>, fitted: &ConstantModel, name: &str) -> Found<'py> {
    match name {
        "values" => numbers(py, fitted.values()),
        _ => Ok(None),
    }
}

fn numbers<'py>(py: Python<'py>, values: &[f64]) -> Found<'py> {
    Ok(Some(PyArray1::from_slice(py, values).into_any()))
}

/// Parameters of blocks: of each a dict with `family`, `columns`, `places` and arrays by name.
fn blocks(py: Python<'_>, blocks: Vec<Parameters>) -> Found<'_> {
    let block = |parameters: Parameters| {
        let dict = PyDict::new(py);
        dict.set_item("family", parameters.family)?;
        dict.set_item("columns", &parameters.columns)?;
        dict.set_item("places", parameters.places)?;
        for (name, array) in parameters.arrays {
            dict.set_item(name, own(py, array)?)?;
        }
        Ok(dict)
    };
    let all = blocks.into_iter().map(block).collect::<PyResult<Vec<_>>>()?;
    all.into_bound_py_any(py).map(Some)
}
