//! A trained model in Python: it predicts, is saved, and is pickled as the bytes of its file.

use crate::encode::{feature_names, kinds_by_name};
use crate::errors::{to_python, wrong};
use crate::features::{Held, to_numpy};
use crate::json;
use crate::parameters::parameter;
use crate::steer::{Steering, work};
use crate::table::{from_anything, is_tabular};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use quince::Kind;
use quince::evaluate::evaluate;
use quince::learn::{Capability, Fitted, LabelType, Prediction, Task};
use quince::linear::Spectrum;
use quince::model::ImputedCell;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A trained model: what `quince.train` returns and what `quince.load` opens.
#[pyclass(frozen, module = "quince")]
pub(crate) struct Model(quince::Model, Option<OfTraining>);

/// What a fit knows of its training rows, and a saved model does not.
pub(crate) enum OfTraining {
    /// The cluster of each.
    Clusters(Vec<u32>),
    /// Where their singular values come from.
    Spectrum(Spectrum),
}

impl Model {
    pub(crate) fn new(model: quince::Model) -> Model {
        Model(model, None)
    }

    pub(crate) fn with_training(model: quince::Model, of_training: OfTraining) -> Model {
        Model(model, Some(of_training))
    }

    pub(crate) fn model(&self) -> &quince::Model {
        &self.0
    }

    /// What the method has learnt; an error if it is another method.
    pub(crate) fn fitted<F: Fitted>(&self) -> PyResult<&F> {
        let other = || wrong("the model is of another method", "Open it with the class that saved it.");
        self.0.fitted().ok_or_else(other)
    }

    /// What a model without a target finds.
    fn finds(&self) -> &'static str {
        if self.0.method().info.can(Capability::Novelty) { "novel rows" } else { "clusters" }
    }

    /// Predicts for a table, a data frame, the path of a file, or, if the model was trained on a matrix, for a matrix.
    fn prediction(&self, data: &Bound<'_, PyAny>, n_jobs: Option<i64>) -> PyResult<Prediction> {
        let (py, steering) = (data.py(), Steering::jobs(data.py(), n_jobs)?);
        if is_tabular(data)? {
            let table = from_anything(data, Some(&self.0), false)?;
            return work(py, steering, |run| self.0.predict_with(&table, run));
        }
        if !self.0.encoder().is_identity() {
            let kind = data.get_type().name()?;
            return Err(wrong(
                format!("the model was trained on a table and cannot predict for a {kind}"),
                "Give a data frame or a quince.Table with the same columns.",
            ));
        }
        let held = match Held::new(data) {
            Ok(held) => held,
            Err(_) => Held::new(&as_floats(data)?)?,
        };
        let view = held.view()?;
        let features = view.features();
        work(py, steering, |run| self.0.predict_features(&features, run))
    }
}

/// float64 rows from whatever numpy or scipy understands.
fn as_floats<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if data.hasattr("tocsr")? {
        let rows = data.call_method0("tocsr")?;
        return rows.call_method1("astype", ("float64",));
    }
    data.py().import("numpy")?.call_method1("ascontiguousarray", (data, "float64"))
}

#[pymethods]
impl Model {
    /// The predicted labels (of the type that the target had in a data frame; of a file whole numbers and True/False as such, all else
    /// as words), numbers, or clusters counted from 0, one for each row.
    #[pyo3(signature = (data, *, n_jobs=None))]
    fn predict<'py>(&self, data: &Bound<'py, PyAny>, n_jobs: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
        let py = data.py();
        match self.prediction(data, n_jobs)? {
            Prediction::Numbers(numbers) if numbers.columns() == 1 => {
                Ok(PyArray1::from_slice(py, numbers.values()).into_any())
            }
            Prediction::Numbers(numbers) => Ok(to_numpy(py, &numbers)?.into_any()),
            groups @ (Prediction::Clusters { .. } | Prediction::Responsibilities { .. }) => {
                Ok(cluster_numbers(py, groups.labels()).into_any())
            }
            // As scikit-learn has it: -1 for what is novel, 1 for all others.
            novelty @ Prediction::Novelty { .. } => {
                let signs = novelty.labels().into_iter().map(|novel| 1 - 2 * i64::from(novel)).collect();
                Ok(PyArray1::<i64>::from_vec(py, signs).into_any())
            }
            classes => {
                let codes = PyArray1::from_vec(py, classes.labels().into_iter().map(i64::from).collect());
                self.classes(py)?.call_method1("take", (codes,))
            }
        }
    }

    /// The probability of each class, in the order of `classes`, for each row.
    #[pyo3(signature = (data, *, n_jobs=None))]
    fn predict_proba<'py>(&self, data: &Bound<'py, PyAny>, n_jobs: Option<i64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let refuse =
            |what: &str| Err(wrong(format!("the model predicts {what}, which have no classes"), "Use predict."));
        match self.0.task() {
            Task::Regression => return refuse("numbers"),
            Task::Clustering => return refuse(self.finds()),
            Task::Classification => {}
        }
        if !self.0.has_probabilities() {
            let problem = format!("this model of '{}' has scores but no probabilities", self.0.method().info.name);
            return Err(wrong(problem, "Use predict, or train it with the setting probabilities=True."));
        }
        match self.prediction(data, n_jobs)? {
            Prediction::Classes { probabilities, .. } => to_numpy(data.py(), &probabilities),
            Prediction::Numbers(_) => refuse("numbers"),
            Prediction::Clusters { .. } | Prediction::Responsibilities { .. } => refuse("clusters"),
            Prediction::Novelty { .. } => refuse("novelty"),
        }
    }

    /// All metrics on rows whose target is known, as a dict. Rows without a target are left out.
    #[pyo3(signature = (data, *, n_jobs=None))]
    fn evaluate<'py>(&self, data: &Bound<'py, PyAny>, n_jobs: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
        if self.0.task() == Task::Clustering {
            let remedy = if self.finds() == "clusters" { "Use quince.silhouette_score." } else { "" };
            return Err(wrong(format!("{} have no target to be evaluated by", self.finds()), remedy));
        }
        let table = from_anything(data, Some(&self.0), true)?;
        let evaluation = work(data.py(), Steering::jobs(data.py(), n_jobs)?, |run| {
            let (truth, rows) = self.0.truth(&table)?;
            evaluate(&truth, &self.0.predict_with(&table.take(&rows), run)?, None)
        })?;
        json::serialised(data.py(), serde_json::to_value(evaluation))
    }

    /// What the model has learnt, or, of one row of `data` (counted from 0), what spoke for the answer: a dict of sentences and
    /// tables.
    #[pyo3(signature = (data=None, row=0))]
    fn explain<'py>(&self, py: Python<'py>, data: Option<&Bound<'py, PyAny>>, row: i64) -> PyResult<Bound<'py, PyAny>> {
        let no_row =
            |rows: usize| wrong(format!("there is no row {row}"), format!("There are {rows}, counted from 0."));
        let place = usize::try_from(row).unwrap_or(usize::MAX);
        let said = match data {
            None => self.0.explain().map_err(to_python)?,
            Some(data) if is_tabular(data)? => {
                let table = from_anything(data, Some(&self.0), false)?;
                if place >= table.rows() {
                    return Err(no_row(table.rows()));
                }
                work(py, Steering::threads(1), |run| self.0.explain_row(&table, place, run))?
            }
            Some(data) => {
                let rows = as_floats(data)?;
                let count: usize = rows.getattr("shape")?.get_item(0)?.extract()?;
                if place >= count {
                    return Err(no_row(count));
                }
                let one = rows.get_item(pyo3::types::PySlice::new(py, row as isize, row as isize + 1, 1))?;
                let held = Held::new(&one)?;
                self.0.explain_features(&held.view()?.features()).map_err(to_python)?
            }
        };
        json::serialised(py, serde_json::to_value(said))
    }

    /// The imputed missing values of a table: of each a dict with its row (counted from 0), column and value, the
    /// standard_deviation of a number and the probability of a category.
    #[pyo3(signature = (data, *, n_jobs=None))]
    fn imputed_values<'py>(&self, data: &Bound<'py, PyAny>, n_jobs: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
        let table = from_anything(data, Some(&self.0), true)?;
        let imputed = work(data.py(), Steering::jobs(data.py(), n_jobs)?, |run| self.0.impute(&table, run))?;
        let object = |cell: &ImputedCell| {
            let value = cell.number().map_or_else(|| Value::from(cell.value.as_str()), Value::from);
            json!({
                "row": cell.row,
                "column": cell.column,
                "value": value,
                "standard_deviation": cell.standard_deviation,
                "probability": cell.probability,
            })
        };
        json::to_python(data.py(), &Value::from_iter(imputed.iter().map(object)))
    }

    /// Samples rows from a generative model: a dict of columns, each a list of numbers or words. Clusters are counted from 0,
    /// as everywhere in Python.
    #[pyo3(signature = (n=1, *, label=None, seed=0))]
    fn sample<'py>(&self, py: Python<'py>, n: usize, label: Option<&str>, seed: u64) -> PyResult<Bound<'py, PyDict>> {
        let steering = Steering { seed, threads: 1, budget: None };
        let clusters = self.0.task() == Task::Clustering;
        let from_one =
            label.filter(|_| clusters).and_then(|label| Some((label.parse::<usize>().ok()? + 1).to_string()));
        let sampled = work(py, steering, |run| self.0.sample(n, from_one.as_deref().or(label), run))?;
        let columns = PyDict::new(py);
        for (j, name) in sampled.names.iter().enumerate() {
            let cells = || sampled.rows.iter().map(|row| row[j].as_str());
            let last = j + 1 == sampled.names.len();
            match self.0.encoder().kind(name) {
                _ if last && clusters => {
                    let counted = cells().map(|cell| cell.parse::<usize>().unwrap_or(1) - 1);
                    columns.set_item(name, counted.collect::<Vec<_>>())?;
                }
                Some(Kind::Number | Kind::Count) if !last => {
                    let numbers = cells().map(|cell| cell.parse().unwrap_or(f64::NAN));
                    columns.set_item(name, numbers.collect::<Vec<f64>>())?;
                }
                _ => columns.set_item(name, cells().collect::<Vec<_>>())?,
            }
        }
        Ok(columns)
    }

    /// The method's name in the registry.
    #[getter]
    fn method(&self) -> &'static str {
        self.0.method().info.name
    }

    /// The method's settings.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, self.0.settings())
    }

    /// "classification", "regression" or "clustering".
    #[getter]
    fn task(&self) -> &'static str {
        match self.0.task() {
            Task::Classification => "classification",
            Task::Regression => "regression",
            Task::Clustering => "clustering",
        }
    }

    /// The name of the column that was learnt.
    #[getter]
    fn target(&self) -> &str {
        self.0.target()
    }

    /// What the fit said about itself: route, why it stopped, certificate, facts and remarks.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut report = serde_json::to_value(self.0.report());
        if let Ok(Value::Object(entries)) = &mut report {
            let facts = self.0.report().facts.iter().map(|(name, value)| (name.clone(), Value::from(*value)));
            entries.insert("facts".into(), Value::Object(facts.collect()));
        }
        json::serialised(py, report)
    }

    /// How the answer was found, in a few words.
    #[getter]
    fn route(&self) -> &str {
        &self.0.report().route
    }

    /// Why the fit ended: "computed", "converged", "step-limit", "stalled" or "budget".
    #[getter]
    fn stop_reason(&self) -> &'static str {
        self.0.report().stop.name()
    }

    /// The objective of an iterative method, a number for each step.
    #[getter]
    fn trace(&self) -> Vec<f64> {
        self.0.report().trace.clone()
    }

    /// What a user should know of the fit: a singular matrix, a step limit reached.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.0.report().remarks.clone()
    }

    /// Whether the certificate of the fit, if there is one, is within its tolerance.
    #[getter]
    fn certificate_holds(&self) -> bool {
        self.0.report().holds()
    }

    /// The class labels in order as an array; None if the model predicts numbers.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(classes) = self.0.classes() else {
            return Ok(py.None().into_bound(py));
        };
        let names = classes.names();
        let integers = || names.iter().map(|name| name.parse().ok()).collect::<Option<Vec<i64>>>();
        // Keys of 64 bits may be beyond the largest number that has a sign.
        let unsigned = || names.iter().map(|name| name.parse().ok()).collect::<Option<Vec<u64>>>();
        let numbers = || names.iter().map(|name| name.parse().ok()).collect::<Option<Vec<f64>>>();
        let found = match classes.label_type() {
            LabelType::Integers => integers()
                .map(|labels| PyArray1::from_vec(py, labels).into_any())
                .or_else(|| unsigned().map(|labels| PyArray1::from_vec(py, labels).into_any())),
            LabelType::Numbers => numbers().map(|labels| PyArray1::from_vec(py, labels).into_any()),
            LabelType::Booleans => {
                let labels: Vec<bool> = names.iter().map(|name| name == "True").collect();
                Some(PyArray1::from_vec(py, labels).into_any())
            }
            _ => None,
        };
        found.map_or_else(|| py.import("numpy")?.call_method1("array", (names.to_vec(),)), Ok)
    }

    /// The kind of each column that the model needs, by name.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        kinds_by_name(self.0.encoder(), py)
    }

    /// The names of the features that the columns become: `age`, `city=Oslo`, `review: good`.
    #[getter]
    fn feature_names(&self) -> PyResult<Vec<String>> {
        feature_names(self.0.encoder())
    }

    /// How many rows the model was trained on.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The seed of the run that trained it.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// What the Python package remembers with the model.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, self.0.notes())
    }

    /// One of the parameters that the method has learnt, for example `coefficients`: an array, a sparse matrix, or a number. A model
    /// that was fitted here and not opened from a file also knows the `training_clusters` of k-means, or the `singular_values` of
    /// least squares.
    fn parameter<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match (name, &self.1) {
            ("training_clusters", Some(OfTraining::Clusters(labels))) => {
                Ok(cluster_numbers(py, labels.clone()).into_any())
            }
            ("singular_values", Some(OfTraining::Spectrum(spectrum))) => {
                let values = work(py, Steering::default(), |run| spectrum.values(run))?;
                Ok(PyArray1::from_vec(py, values).into_any())
            }
            _ => parameter(py, &self.0, name),
        }
    }

    /// The model as the bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        py.detach(|| self.0.save_to(&mut bytes)).map_err(|error| match error.downcast::<quince::Error>() {
            Ok(error) => to_python(error),
            Err(error) => error.into(),
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model from the bytes of a file. No code in them is ever run.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Model> {
        py.detach(|| quince::Model::from_bytes(bytes)).map(Model::new).map_err(to_python)
    }

    /// Opens a saved model. No code in it is ever run.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        py.detach(|| quince::Model::load(path)).map(Model::new).map_err(to_python)
    }

    /// Saves the model in one file: all of it or, if something goes wrong, nothing.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(to_python)
    }

    /// The same model that remembers other notes (JSON) and, if it was trained on a matrix, other names.
    #[pyo3(signature = (notes=None, names=None))]
    fn annotated(&self, notes: Option<&str>, names: Option<Vec<String>>) -> PyResult<Model> {
        let mut model = self.0.clone();
        if let Some(notes) = notes {
            model.set_notes(serde_json::from_str(notes).map_err(|e| PyValueError::new_err(e.to_string()))?);
        }
        if let Some(names) = names {
            model.name_columns(names).map_err(to_python)?;
        }
        Ok(Model::new(model))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, PyTuple::new(py, [slf.get().to_bytes(py)?])?))
    }

    fn __repr__(&self) -> String {
        let (name, target, rows, columns) = (self.method(), self.0.target(), self.0.rows(), self.0.encoder().columns());
        let what = match (self.0.task(), self.0.classes()) {
            (Task::Clustering, _) => self.finds().into(),
            (_, Some(classes)) => format!("'{target}' ({} classes)", classes.count()),
            (_, None) => format!("'{target}' (numbers)"),
        };
        format!("Model({name}: {what} from {columns} columns, {rows} rows)")
    }
}

/// The clusters of rows as scikit-learn numbers them: from 0, in 32 bits.
pub(crate) fn cluster_numbers(py: Python<'_>, labels: Vec<u32>) -> Bound<'_, PyArray1<i32>> {
    PyArray1::from_vec(py, labels.into_iter().map(|label| label as i32).collect())
}
