//! Support vector machines, for the classes of `python/quince/margin/`.

use crate::errors::to_python;
use crate::errors::wrong;
use crate::features::{Held, weights};
use crate::model::Model;
use crate::steer::{Steering, work};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use quince::learn::{Classes, DynLearner, Target};
use quince::margin::{Intercept, LinearSvm, LinearSvmModel, Loss, Schedule, Sgd, Solver};
use quince::run::{Report, StopReason};

/// The model, its numbers of steps and epochs, whether it converged, and the mean loss of each epoch.
type SgdFit = (Model, u64, usize, bool, Vec<f64>);

/// Fits a linear model of two classes (`positive` where a row is of the second) by stochastic gradient descent, from a start if
/// there is one.
#[pyfunction]
#[pyo3(signature = (x, positive, classes, options, *, weights=None, start=None, seed=0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_sgd(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    positive: PyReadonlyArray1<'_, bool>,
    classes: Vec<String>,
    options: &Bound<'_, PyAny>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    start: Option<(PyReadonlyArray1<'_, f64>, f64)>,
    seed: u64,
    threads: usize,
) -> PyResult<SgdFit> {
    let options: SgdOptions = serde_json::from_value(crate::json::from_python(options)?)
        .map_err(|error| wrong(error.to_string(), "See quince.SGDClassifier."))?;
    let held = Held::new(x)?;
    let view = held.view()?;
    let features = view.features();
    let positive: Vec<bool> = positive.as_array().iter().copied().collect();
    let weights = self::weights(weights.as_ref());
    let start = start.map(|(weights, bias)| (weights.as_array().iter().copied().collect(), bias));
    let settings = LinearSvm {
        loss: options.loss,
        solver: Solver::Sgd,
        intercept: if options.intercept { Intercept::Free } else { Intercept::None },
        c: 1.0 / ((options.l2_penalty + options.l1_penalty).max(1e-300) * positive.len().max(1) as f64),
        schedule: options.schedule,
        learning_rate: options.learning_rate,
        average: options.average > 0,
        epochs: options.epochs,
        ..LinearSvm::default()
    };
    let codes = positive.iter().map(|positive| u32::from(*positive)).collect();
    let labels = Classes::in_order(classes).and_then(|classes| Target::classes(classes, codes)).map_err(to_python)?;
    let (model, solution) = work(py, Steering::seeded(seed, threads), move |run| {
        let sgd = Sgd {
            rows: features,
            positive: &positive,
            weights: weights.as_deref(),
            loss: options.loss,
            l2_penalty: options.l2_penalty,
            l1_penalty: options.l1_penalty,
            schedule_penalty: options.schedule_penalty,
            intercept: options.intercept,
            intercept_decay: options.intercept_decay,
            schedule: options.schedule,
            learning_rate: options.learning_rate,
            power: options.power,
            average: options.average,
            epochs: options.epochs,
            tolerance: options.tolerance,
            patience: options.patience,
            shuffle: options.shuffle,
            steps_before: options.steps_before,
        };
        let solution = sgd.fit(start, run)?;
        let fitted = LinearSvmModel::of_classes(solution.weights.clone(), solution.bias, options.loss);
        let report = Report {
            route: format!("stochastic gradient descent, {} epochs", solution.epochs),
            stop: solution.stop,
            trace: solution.trace.clone(),
            ..Report::default()
        };
        let model = quince::Model::from_fitted(
            &settings as &dyn DynLearner,
            (&features, &labels),
            std::sync::Arc::new(fitted),
            report,
            run,
        )?;
        Ok((model, solution))
    })?;
    Ok((Model::new(model), solution.steps, solution.epochs, solution.stop == StopReason::Converged, solution.trace))
}

/// The options of stochastic gradient descent.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct SgdOptions {
    loss: Loss,
    l2_penalty: f64,
    l1_penalty: f64,
    schedule_penalty: f64,
    intercept: bool,
    intercept_decay: f64,
    schedule: Schedule,
    learning_rate: f64,
    power: f64,
    average: u64,
    epochs: usize,
    tolerance: f64,
    patience: usize,
    shuffle: bool,
    steps_before: u64,
}
