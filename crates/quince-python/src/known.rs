//! Models of known parameters, and what Bayes models alone can do.

use crate::errors::{to_python, wrong};
use crate::features::{Held, matrix};
use crate::learn::settings_of;
use crate::model::Model;
use crate::predict::own;
use crate::steer::{Steering, work};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use quince::Matrix;
use quince::baseline::{Baseline, ConstantModel};
use quince::bayes::{BayesModel, FamilyParameters, GaussianClassifier};
use quince::cluster::{KMeans, KMeansModel};
use quince::learn::{Classes, Learner};
use quince::linear::LinearModel;
use quince::margin::{LinearSvm, LinearSvmModel};

/// The baseline that answers with these numbers, one per output, whatever is in its `columns` columns.
#[pyfunction]
pub(crate) fn known_baseline(values: Vec<f64>, columns: usize) -> PyResult<Model> {
    known(&Baseline::default(), ConstantModel::of_numbers(values), columns, None)
}

/// k-means with known centres, one per row, that stand for no rows yet.
#[pyfunction]
pub(crate) fn known_centres(centres: PyReadonlyArray2<'_, f64>, settings: &Bound<'_, PyAny>) -> PyResult<Model> {
    let fitted = KMeansModel::from_centres(matrix(&centres)?).map_err(to_python)?;
    let columns = fitted.centres().columns();
    known(&settings_of::<KMeans>(settings)?, fitted, columns, None)
}

/// Coefficients with one row per feature, from scikit-learn's with one row per output.
pub(crate) fn by_feature(coefficients: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix> {
    let by_output = coefficients.as_array();
    let values = by_output.t().iter().copied().collect();
    Matrix::new(by_output.ncols(), by_output.nrows(), values).map_err(to_python)
}

fn known<L: Learner>(learner: &L, fitted: L::Fitted, columns: usize, classes: Option<Vec<String>>) -> PyResult<Model> {
    let classes = classes.map(Classes::in_order).transpose().map_err(to_python)?;
    quince::Model::known(learner, fitted, columns, classes).map(Model::new).map_err(to_python)
}

/// A Gaussian classifier with known means (one row per class), covariances (one per class, or one for all) and priors.
#[pyfunction]
pub(crate) fn known_gaussian(
    means: PyReadonlyArray2<'_, f64>,
    covariances: Vec<PyReadonlyArray2<'_, f64>>,
    priors: Vec<f64>,
    classes: Vec<String>,
    settings: &Bound<'_, PyAny>,
) -> PyResult<Model> {
    let covariances = covariances.iter().map(matrix).collect::<PyResult<_>>()?;
    let parameters = FamilyParameters::Gaussian { means: matrix(&means)?, covariances };
    let fitted = BayesModel::known(&parameters, &priors).map_err(to_python)?;
    gaussian(fitted, parameters.features(), classes, settings)
}

/// A linear discriminant analysis with known means (one row per class), covariance within classes and priors; with the covariance of
/// all rows it has discriminant axes.
#[pyfunction]
#[pyo3(signature = (means, within, priors, classes, settings, *, total=None))]
pub(crate) fn known_discriminants(
    py: Python<'_>,
    means: PyReadonlyArray2<'_, f64>,
    within: PyReadonlyArray2<'_, f64>,
    priors: Vec<f64>,
    classes: Vec<String>,
    settings: &Bound<'_, PyAny>,
    total: Option<PyReadonlyArray2<'_, f64>>,
) -> PyResult<Model> {
    let (means, within, total) = (matrix(&means)?, matrix(&within)?, total.as_ref().map(matrix).transpose()?);
    let fitted = work(py, Steering::default(), |run| {
        BayesModel::known_discriminants(&means, &within, total.as_ref(), &priors, run)
    })?;
    gaussian(fitted, means.columns(), classes, settings)
}

fn gaussian(fitted: BayesModel, features: usize, classes: Vec<String>, settings: &Bound<'_, PyAny>) -> PyResult<Model> {
    known(&settings_of::<GaussianClassifier>(settings)?, fitted, features, Some(classes))
}

/// A linear classifier of two classes with known weights.
#[pyfunction]
pub(crate) fn known_linear_svm(
    weights: PyReadonlyArray1<'_, f64>,
    bias: f64,
    classes: Vec<String>,
    settings: &Bound<'_, PyAny>,
) -> PyResult<Model> {
    let learner: LinearSvm = settings_of(settings)?;
    let weights: Vec<f64> = weights.as_array().iter().copied().collect();
    let columns = weights.len();
    let fitted = LinearSvmModel::of_classes(weights, bias, learner.loss).map_err(to_python)?;
    known(&learner, fitted, columns, Some(classes))
}

/// Rows along the axes of a model.
#[pyfunction]
#[pyo3(signature = (model, x, *, threads=0))]
pub(crate) fn project_rows<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let held = Held::new(x)?;
    let view = held.view()?;
    let (features, fitted) = (view.features(), model.fitted::<BayesModel>()?);
    match work(py, Steering::threads(threads), |run| fitted.project(&features, run))? {
        Some(projected) => own(py, projected),
        None => Err(wrong("the model has no axes", "Fit one that projects rows.")),
    }
}

/// The same linear model with other coefficients (one row per output) and intercepts.
#[pyfunction]
pub(crate) fn with_coefficients(
    model: &Model,
    coefficients: PyReadonlyArray2<'_, f64>,
    intercept: Vec<f64>,
) -> PyResult<Model> {
    let coefficients = by_feature(&coefficients)?;
    let other = match model.model().classes() {
        None => LinearModel::of_numbers(coefficients, intercept),
        Some(classes) => LinearModel::of_classes(classes.count(), coefficients, intercept, 1.0),
    };
    other.and_then(|other| model.model().with_fitted(other)).map(Model::new).map_err(to_python)
}

/// The same model of a categorical family with at least this many categories of each feature.
#[pyfunction]
pub(crate) fn widen_categories(py: Python<'_>, model: &Model, counts: Vec<usize>) -> PyResult<Model> {
    let fitted = model.fitted::<BayesModel>()?;
    let wider = work(py, Steering::threads(1), |run| fitted.with_categories(&counts, run))?;
    model.model().with_fitted(wider).map(Model::new).map_err(to_python)
}
