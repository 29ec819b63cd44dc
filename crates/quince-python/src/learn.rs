//! From a table to a model, and to a leaderboard of models.

use crate::errors::{to_python, wrong};
use crate::json;
use crate::model::Model;
use crate::steer::{Steering, work};
use crate::table::from_anything;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quince::evaluate::{Folds, Metric};
use quince::learn::{Learn, Task};
use quince::registry::{self, METHODS, Setting};
use quince::table::Labelled;
use serde_json::{Value, json};

/// Trains a method on a table.
#[pyfunction]
#[pyo3(signature = (data, target, model, settings, *, task=None, seed=0, threads=0, budget=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn train(
    data: &Bound<'_, PyAny>,
    target: &str,
    model: &str,
    settings: &Bound<'_, PyAny>,
    task: Option<&str>,
    seed: u64,
    threads: usize,
    budget: Option<f64>,
) -> PyResult<Model> {
    let learner = learner(model, settings)?;
    let labelled = labelled(data, target, task)?;
    let steering = Steering { seed, threads, budget: None }.budget(budget)?;
    let model = work(data.py(), steering, move |run| quince::Model::fit(&labelled, None, learner.as_ref(), run))?;
    Ok(Model::new(model))
}

/// Tests methods on the same folds of a table; the best first. `models` are pairs of a name and settings.
#[pyfunction]
#[pyo3(signature = (data, target, models, *, folds=Some(10), by=None, task=None, seed=0, threads=0, budget=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compare<'py>(
    data: &Bound<'py, PyAny>,
    target: &str,
    models: Option<Vec<(String, Bound<'py, PyAny>)>>,
    folds: Option<usize>,
    by: Option<&str>,
    task: Option<&str>,
    seed: u64,
    threads: usize,
    budget: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let labelled = labelled(data, target, task)?;
    let task = labelled.target.task();
    let learners = match models {
        Some(models) => models.iter().map(|(name, settings)| learner(name, settings)).collect::<PyResult<Vec<_>>>()?,
        None => {
            let able = METHODS.iter().filter(|entry| entry.card.learns(task));
            let defaults = Value::Object(Default::default());
            able.map(|entry| entry.configure(&defaults)).collect::<quince::Result<_>>().map_err(to_python)?
        }
    };
    let by = by.map(|name| metric(name, task)).transpose()?;
    let folds = folds.map_or(Folds::LeaveOneOut, Folds::K);
    let steering = Steering { seed, threads, budget: None }.budget(budget)?;
    let comparison =
        work(py, steering, move |run| quince::evaluate::compare(&labelled, &learners, &folds, by, None, run))?;
    let result = json::to_python(py, &json!(comparison))?;
    // A dict of metrics, in the order of the leaderboard, is handier than a list of pairs.
    for (entrant, written) in comparison.entrants.iter().zip(result.get_item("entrants")?.try_iter()?) {
        let metrics = PyDict::new(py);
        for (metric, spread) in &entrant.metrics {
            metrics.set_item(metric.name(), json::to_python(py, &json!(spread))?)?;
        }
        written?.set_item("metrics", metrics)?;
    }
    Ok(result)
}

/// Every method: its name, what it is, what it can do, its settings with their defaults, and its Python classes.
#[pyfunction]
pub(crate) fn models(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let methods = PyDict::new(py);
    for entry in METHODS {
        let (card, defaults) = (entry.card, entry.defaults());
        let setting = |setting: &Setting| {
            let about = json!({
                "default": defaults[setting.name],
                "allowed": setting.allowed.to_string(),
                "help": setting.help,
            });
            (setting.name.to_string(), about)
        };
        let about = json!({
            "title": card.title,
            "summary": card.summary,
            "abilities": card.abilities.iter().map(|ability| ability.name()).collect::<Vec<_>>(),
            "settings": Value::Object(card.settings.iter().map(setting).collect()),
            "python": card.python,
        });
        methods.set_item(card.name, json::to_python(py, &about)?)?;
    }
    Ok(methods)
}

fn learner(name: &str, settings: &Bound<'_, PyAny>) -> PyResult<Box<dyn Learn>> {
    let settings = json::from_python(settings)?;
    registry::method(name).and_then(|method| method.configure(&settings)).map_err(to_python)
}

fn labelled(data: &Bound<'_, PyAny>, target: &str, task: Option<&str>) -> PyResult<Labelled> {
    let task = match task {
        None => None,
        Some("classification") => Some(Task::Classification),
        Some("regression") => Some(Task::Regression),
        Some(other) => return Err(wrong(format!("a task cannot be '{other}'"), "Use classification or regression.")),
    };
    let table = from_anything(data, &[])?;
    let labelled = table.labelled(target, task).map_err(to_python)?;
    if labelled.left_out > 0 {
        let sentence = format!("{} rows have no '{target}' and are left out", labelled.left_out);
        let category = data.py().get_type::<PyUserWarning>();
        let sentence = std::ffi::CString::new(sentence).unwrap_or_default();
        PyErr::warn(data.py(), &category, &sentence, 2)?;
    }
    Ok(labelled)
}

/// The metric to rank by, if it suits the task.
fn metric(name: &str, task: Task) -> PyResult<Metric> {
    let metric = Metric::from_name(name).map_err(to_python)?;
    let of_numbers = matches!(metric, Metric::Rmse | Metric::R2);
    if of_numbers == (task == Task::Regression) {
        return Ok(metric);
    }
    let (what, remedy) = match task {
        Task::Classification => ("classes", "Use log-loss, accuracy, f1 or area."),
        Task::Regression => ("numbers", "Use rmse or r2."),
    };
    Err(wrong(format!("a target of {what} cannot be ranked by {name}"), remedy))
}
