//! Support vector machines, for the classes of `python/quince/margin/`.

use crate::errors::wrong;
use crate::features::{Held, weights};
use crate::learn::learner;
use crate::model::{Model, classes_in_order};
use crate::steer::{Steering, work};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use quince::learn::{Learn, Target};
use quince::margin::{Intercept, LinearMachine, LinearSvm, Loss, Schedule, Sgd, Solver, SvmModel};
use quince::run::{Report, Stop};

/// Fits a machine of the registry to a matrix. `y` are numbers or, with `classes`, class numbers; without it rows are learnt
/// that have no class.
#[pyfunction]
#[pyo3(signature = (method, x, settings, *, y=None, classes=None, weights=None, seed=0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_machine(
    py: Python<'_>,
    method: &str,
    x: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyAny>,
    y: Option<PyReadonlyArray1<'_, f64>>,
    classes: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    seed: u64,
    threads: usize,
) -> PyResult<Model> {
    let learner = learner(method, settings)?;
    let held = Held::new(x)?;
    let features = held.features()?;
    let numbers = y.map(|y| y.as_array().iter().copied().collect::<Vec<f64>>());
    let target = match (numbers, classes) {
        (None, _) => Target::Nothing(features.rows()),
        (Some(numbers), None) => Target::Numbers(quince::Matrix::column_vector(numbers)),
        (Some(codes), Some(names)) => {
            let codes = codes.into_iter().map(|code| code as u32).collect();
            Target::Classes { classes: classes_in_order(&names)?, codes }
        }
    };
    let weights = self::weights(weights.as_ref());
    work(py, Steering::seeded(seed, threads), move |run| {
        quince::Model::fit_features(&features, &target, weights.as_deref(), learner.as_ref(), run)
    })
    .map(Model::new)
}

/// The score of every row by a machine.
#[pyfunction]
#[pyo3(signature = (model, x, *, threads=0))]
pub(crate) fn machine_scores<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let held = Held::new(x)?;
    let features = held.features()?;
    let scores = match model.fitted::<LinearMachine>() {
        Ok(machine) => work(py, Steering::threads(threads), |run| machine.scores(&features, run))?,
        Err(_) => {
            let machine = model.fitted::<SvmModel>()?;
            work(py, Steering::threads(threads), |run| machine.scores(&features, run))?
        }
    };
    Ok(PyArray1::from_vec(py, scores))
}

/// A walk: the model, steps and passes that were made, whether it came to rest, and the mean loss of each pass.
type Walk = (Model, u64, usize, bool, Vec<f64>);

/// Walks down the primal of two classes (`second` where a row is of the second) from a start, if there is one.
#[pyfunction]
#[pyo3(signature = (x, second, classes, how, *, weights=None, start=None, seed=0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn walk_down(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    second: PyReadonlyArray1<'_, bool>,
    classes: Vec<String>,
    how: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    start: Option<(PyReadonlyArray1<'_, f64>, f64)>,
    seed: u64,
    threads: usize,
) -> PyResult<Walk> {
    let how: How = serde_json::from_value(crate::json::from_python(how)?)
        .map_err(|error| wrong(error.to_string(), "See quince.SGDClassifier."))?;
    let held = Held::new(x)?;
    let features = held.features()?;
    let second: Vec<bool> = second.as_array().iter().copied().collect();
    let weights = self::weights(weights.as_ref());
    let start = start.map(|(weights, bias)| (weights.as_array().iter().copied().collect(), bias));
    let settings = LinearSvm {
        loss: how.loss,
        solver: Solver::Sgd,
        intercept: if how.intercept { Intercept::Free } else { Intercept::None },
        c: 1.0 / ((how.lambda + how.lambda_of_sizes).max(1e-300) * second.len().max(1) as f64),
        schedule: how.schedule,
        rate: how.rate,
        average: how.average > 0,
        passes: how.passes,
        ..LinearSvm::default()
    };
    let codes = second.iter().map(|second| u32::from(*second)).collect();
    let labels = Target::Classes { classes: classes_in_order(&classes)?, codes };
    let (model, walked) = work(py, Steering::seeded(seed, threads), move |run| {
        let sgd = Sgd {
            rows: features,
            second: &second,
            weights: weights.as_deref(),
            loss: how.loss,
            lambda: how.lambda,
            lambda_of_sizes: how.lambda_of_sizes,
            lambda_of_steps: how.lambda_of_steps,
            intercept: how.intercept,
            intercept_share: how.intercept_share,
            schedule: how.schedule,
            rate: how.rate,
            power: how.power,
            average: how.average,
            passes: how.passes,
            tolerance: how.tolerance,
            patience: how.patience,
            shuffle: how.shuffle,
            steps_before: how.steps_before,
        };
        let walked = sgd.walk(start, run)?;
        let machine = LinearMachine::of_classes(walked.weights.clone(), walked.bias, how.loss);
        let report = Report {
            route: format!("stochastic gradient descent, {} passes", walked.passes),
            stop: walked.stop,
            trace: walked.trace.clone(),
            ..Report::default()
        };
        let model =
            quince::Model::from_fitted(&settings as &dyn Learn, (&features, &labels), Box::new(machine), report, run)?;
        Ok((model, walked))
    })?;
    Ok((Model::new(model), walked.steps, walked.passes, walked.stop == Stop::Converged, walked.trace))
}

/// What a walk needs to know.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct How {
    loss: Loss,
    lambda: f64,
    lambda_of_sizes: f64,
    lambda_of_steps: f64,
    intercept: bool,
    intercept_share: f64,
    schedule: Schedule,
    rate: f64,
    power: f64,
    average: u64,
    passes: usize,
    tolerance: f64,
    patience: usize,
    shuffle: bool,
    steps_before: u64,
}
