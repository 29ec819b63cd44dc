//! From a table to a model, and to a leaderboard of models.

use crate::errors::{to_python, wrong};
use crate::json;
use crate::model::Model;
use crate::steer::{Steering, work};
use crate::table::from_anything;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quince::evaluate::{Contestants, Folds, LeftOut, Metric};
use quince::learn::{Capability, DynLearner, Learner, Setting, Task};
use quince::registry::{self, METHODS, Registry};
use quince::table::TrainingSet;
use serde_json::{Value, json};

/// Trains a method on a table; without a target, one that finds clusters. With `resume`, a model goes on instead.
#[pyfunction]
#[pyo3(signature = (data, target, model, settings, *, resume=None, task=None, weight=None, seed=0, threads=0, budget=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn train(
    data: &Bound<'_, PyAny>,
    target: Option<&str>,
    model: &str,
    settings: &Bound<'_, PyAny>,
    resume: Option<PyRef<'_, Model>>,
    task: Option<&str>,
    weight: Option<&str>,
    seed: u64,
    threads: usize,
    budget: Option<f64>,
) -> PyResult<Model> {
    let from = resume.as_ref().map(|from| from.model());
    let learner = match &from {
        Some(from) => json::from_python(settings).and_then(|given| from.learner(&given).map_err(to_python))?,
        None => learner(model, settings)?,
    };
    let TrainingSet { labelled, weights, .. } =
        supervised(data, target, task, weight, None, learner.info().can(Capability::SemiSupervised))?;
    let steering = Steering { seed, threads, budget: None }.budget(budget)?;
    let model = work(data.py(), steering, move |run| match &from {
        Some(from) => from.resumed(&labelled, weights.as_deref(), learner.as_ref(), run),
        None => quince::Model::fit(&labelled, weights.as_deref(), learner.as_ref(), run),
    })?;
    Ok(Model::new(model))
}

/// Tests methods on the same folds of a table; the best first. `models` are pairs of a name and settings.
#[pyfunction]
#[pyo3(signature = (data, target, models, *, folds="10", hold_out=None, by=None, task=None, weight=None, group=None,
                    seed=0, threads=0, budget=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compare<'py>(
    data: &Bound<'py, PyAny>,
    target: &str,
    models: Option<Vec<(String, Bound<'py, PyAny>)>>,
    folds: &str,
    hold_out: Option<f64>,
    by: Option<&str>,
    task: Option<&str>,
    weight: Option<&str>,
    group: Option<&str>,
    seed: u64,
    threads: usize,
    budget: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let TrainingSet { labelled, weights, groups, .. } = supervised(data, Some(target), task, weight, group, false)?;
    let task = labelled.target.task();
    let (learners, left_out) = match models {
        Some(models) => {
            let learners =
                models.iter().map(|(name, settings)| learner(name, settings)).collect::<PyResult<Vec<_>>>()?;
            (learners, Vec::new())
        }
        None => {
            let contestants = Contestants::of(&Registry::standard(), &labelled.target);
            (contestants.learners().map_err(to_python)?, contestants.left_out)
        }
    };
    let by = by.map(|name| Metric::for_task(name, task)).transpose().map_err(to_python)?;
    let folds = Folds::of(folds, hold_out, groups).map_err(to_python)?;
    let steering = Steering { seed, threads, budget: None }.budget(budget)?;
    let comparison = work(py, steering, move |run| {
        quince::evaluate::compare(&labelled, &learners, &folds, by, weights.as_deref(), run)
    })?;
    comparison.check().map_err(to_python)?;
    warn(py, &comparison.warnings)?;
    let result = json::to_python(py, &json!(comparison))?;
    let sentence = |one: &LeftOut| format!("{} {}", one.method, one.reason);
    result.set_item("left_out", left_out.iter().map(sentence).collect::<Vec<_>>())?;
    // A dict of metrics, in the order of the leaderboard, is handier than a list of pairs.
    for (entrant, written) in comparison.entrants.iter().zip(result.get_item("entrants")?.try_iter()?) {
        let metrics = PyDict::new(py);
        for (metric, statistics) in &entrant.metrics {
            metrics.set_item(metric.name(), json::to_python(py, &json!(statistics))?)?;
        }
        written?.set_item("metrics", metrics)?;
    }
    Ok(result)
}

/// Every method: its name, what it is, what it can do, its settings with their defaults, and its Python classes.
#[pyfunction]
pub(crate) fn models(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let methods = PyDict::new(py);
    for method in METHODS {
        let (info, defaults) = (method.info, method.defaults());
        let setting = |setting: &Setting| {
            let about = json!({
                "default": defaults[setting.name],
                "domain": setting.domain.to_string(),
                "help": setting.help,
            });
            (setting.name.to_string(), about)
        };
        let about = json!({
            "title": info.title,
            "summary": info.summary,
            "capabilities": info.capabilities.iter().map(|capability| capability.name()).collect::<Vec<_>>(),
            "settings": Value::Object(info.settings.iter().map(setting).collect()),
            "python": info.python,
        });
        methods.set_item(info.name, json::to_python(py, &about)?)?;
    }
    Ok(methods)
}

/// A method with its settings.
pub(crate) fn learner(name: &str, settings: &Bound<'_, PyAny>) -> PyResult<Box<dyn DynLearner>> {
    let settings = json::from_python(settings)?;
    registry::method(name).and_then(|method| method.configure(&settings)).map_err(to_python)
}

/// The settings of one method, as its own type.
pub(crate) fn settings_of<L: Learner>(settings: &Bound<'_, PyAny>) -> PyResult<L> {
    quince::learn::configured(&json::from_python(settings)?).map_err(to_python)
}

fn supervised(
    data: &Bound<'_, PyAny>,
    target: Option<&str>,
    task: Option<&str>,
    weight: Option<&str>,
    group: Option<&str>,
    unlabelled: bool,
) -> PyResult<TrainingSet> {
    let task = match task {
        None => None,
        Some("classification") => Some(Task::Classification),
        Some("regression") => Some(Task::Regression),
        Some(other) => return Err(wrong(format!("a task cannot be '{other}'"), "Use classification or regression.")),
    };
    let table = from_anything(data, None, false)?;
    let supervised = match (target, task) {
        (Some(target), _) => table.supervised(target, task, weight, group, unlabelled).map_err(to_python)?,
        (None, None) => table.unsupervised(weight, &[]).map_err(to_python)?,
        (None, Some(_)) => return Err(wrong("there is no target to learn", "Name the column that is the target.")),
    };
    warn(data.py(), &supervised.notes)?;
    Ok(supervised)
}

/// Tells Python's warnings what was decided for the user.
pub(crate) fn warn(py: Python<'_>, notes: &[String]) -> PyResult<()> {
    for note in notes {
        let category = py.get_type::<PyUserWarning>();
        let sentence = std::ffi::CString::new(note.as_str()).unwrap_or_default();
        PyErr::warn(py, &category, &sentence, 2)?;
    }
    Ok(())
}
