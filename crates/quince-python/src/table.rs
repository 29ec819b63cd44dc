//! Tables from files and from data frames, which are handed over by Arrow's C stream.

use crate::errors::{to_python, wrong};
use crate::json;
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use quince::Kind;
use quince::table::{Column, Format, Header, Pictures, ReadOptions};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A table: columns with names, kinds (number, count, yes/no, category, text, vector, ignored) and missing values.
///
/// `Table(frame)` takes any data frame with `__arrow_c_stream__`: pandas, polars, pyarrow and others. `kinds` gives
/// columns another kind than the one that was found, `drop` names columns to be ignored, `encode` says how columns become
/// features (`{"age": "log,fill=median"}`), and products of up to `degree` numbers become features too.
#[pyclass(frozen, module = "quince")]
pub(crate) struct Table(pub(crate) quince::Table);

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (data, *, kinds=None, drop=None, encode=None, degree=1))]
    fn new(
        data: &Bound<'_, PyAny>,
        kinds: Option<BTreeMap<String, String>>,
        drop: Option<Vec<String>>,
        encode: Option<BTreeMap<String, String>>,
        degree: usize,
    ) -> PyResult<Table> {
        let table = with_kinds(from_frame(data)?, &kinds_of(kinds)?, &drop.unwrap_or_default())?;
        let options =
            ReadOptions { encode: encode.unwrap_or_default().into_iter().collect(), degree, ..ReadOptions::default() };
        options.encode(table).map(Table).map_err(to_python)
    }

    /// (rows, columns)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.rows(), self.0.columns().len())
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.0.columns().iter().map(Column::name).collect()
    }

    /// The kind of each column, by name.
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kinds = PyDict::new(py);
        for column in self.0.columns() {
            kinds.set_item(column.name(), column.kind().name())?;
        }
        Ok(kinds)
    }

    /// Kinds, missing values, means, most frequent values and correlations, as a dict.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let description = py.detach(|| serde_json::to_value(self.0.describe()));
        json::serialised(py, description)
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }

    fn __repr__(&self) -> String {
        const SHOWN: usize = 30;
        let columns = self.0.columns();
        let width = columns.iter().take(SHOWN).map(|c| c.name().chars().count()).max().unwrap_or(0);
        let mut text = format!("Table of {} rows and {} columns", self.0.rows(), columns.len());
        for column in columns.iter().take(SHOWN) {
            let why =
                if column.why_ignored().is_empty() { String::new() } else { format!(" ({})", column.why_ignored()) };
            let missing = if column.missing_count() > 0 {
                format!(", {} missing", column.missing_count())
            } else {
                String::new()
            };
            text += &format!("\n  {:width$}  {}{why}{missing}", column.name(), column.kind().name());
        }
        if columns.len() > SHOWN {
            text += &format!("\n  ... and {} more", columns.len() - SHOWN);
        }
        text
    }
}

/// Reads a file (CSV, TSV, JSON lines, ARFF, LIBSVM or Parquet, also .gz), or a folder of texts or pictures with one
/// sub-folder a class. What it is and the kinds of its columns are found; `format` overrules the former. Pictures
/// become grey on a grid of `pixels` (16 x 16 if not given), or, with `patches`, a row for each patch; `binarise` makes their pixels 0 or 1.
#[pyfunction]
#[pyo3(signature = (path, *, kinds=None, drop=None, encode=None, degree=1, format=None, delimiter=None, header=true, pixels=None, binarise=None, patches=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    kinds: Option<BTreeMap<String, String>>,
    drop: Option<Vec<String>>,
    encode: Option<BTreeMap<String, String>>,
    degree: usize,
    format: Option<&str>,
    delimiter: Option<char>,
    header: bool,
    pixels: Option<(usize, usize)>,
    binarise: Option<f64>,
    patches: Option<(usize, usize)>,
) -> PyResult<Table> {
    let single = |c: char| u8::try_from(c).map_err(|_| wrong(format!("a delimiter cannot be '{c}'"), "Use one byte."));
    let usual = Pictures::default().pixels;
    let said = pixels.is_some() || binarise.is_some() || patches.is_some();
    let options = ReadOptions {
        format: format.map(Format::from_name).transpose().map_err(to_python)?,
        delimiter: delimiter.map(single).transpose()?,
        header: if header { Header::Names } else { Header::None },
        kinds: kinds_of(kinds)?,
        drop: drop.unwrap_or_default(),
        encode: encode.unwrap_or_default().into_iter().collect(),
        degree,
        pictures: said.then(|| Pictures { pixels: pixels.unwrap_or(usual), binarise, patches }),
    };
    py.detach(|| quince::Table::read_with(path, &options)).map(Table).map_err(to_python)
}

/// Reads a CSV or TSV file (also .gz); delimiter, missing values and kinds are found.
#[pyfunction]
#[pyo3(signature = (path, *, kinds=None, drop=None, delimiter=None, header=true))]
pub(crate) fn read_csv(
    py: Python<'_>,
    path: PathBuf,
    kinds: Option<BTreeMap<String, String>>,
    drop: Option<Vec<String>>,
    delimiter: Option<char>,
    header: bool,
) -> PyResult<Table> {
    read(py, path, kinds, drop, None, 1, Some(Format::Csv.name()), delimiter, header, None, None, None)
}

/// A table from one of ours, a data frame, or the path of a file, whose columns are read as a model knows them if there
/// is one (and its target too, where that is wanted).
pub(crate) fn from_anything(
    data: &Bound<'_, PyAny>,
    model: Option<&quince::Model>,
    with_target: bool,
) -> PyResult<quince::Table> {
    if let Ok(table) = data.cast::<Table>() {
        return Ok(table.get().0.clone());
    }
    if data.hasattr("__arrow_c_stream__")? || is_lazy_frame(data)? {
        return from_frame(data);
    }
    let Ok(path) = data.extract::<PathBuf>() else {
        return Err(no_table(data));
    };
    let read = || match model {
        Some(model) => Ok(model.read_cells(path, ReadOptions::default(), with_target, &quince::Run::new())?.1),
        None => quince::Table::read(path),
    };
    data.py().detach(read).map_err(to_python)
}

/// Whether this is something that [`from_anything`] takes.
pub(crate) fn is_tabular(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_frame = data.hasattr("__arrow_c_stream__")? || is_lazy_frame(data)?;
    Ok(is_frame || data.is_instance_of::<Table>() || data.extract::<PathBuf>().is_ok())
}

/// Whether an object is of a package, by the module of its type.
fn is_of(data: &Bound<'_, PyAny>, package: &str) -> PyResult<bool> {
    let module = data.get_type().module()?.to_string();
    Ok(module == package || module.strip_prefix(package).is_some_and(|rest| rest.starts_with('.')))
}

/// polars' plan of a frame, which is a frame once it is collected.
fn is_lazy_frame(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_of(data, "polars")? && data.get_type().name()? == "LazyFrame")
}

/// A pandas frame without its row labels, which it sends along as a column.
fn of_pandas<'py>(frame: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !frame.hasattr("reset_index")? {
        return Ok(frame.clone());
    }
    let names = frame.getattr("columns")?;
    if !names.getattr("is_unique")?.extract::<bool>()? {
        let twice = names.get_item(names.call_method0("duplicated")?)?.get_item(0)?;
        let problem = format!("the data frame has two columns called '{twice}'");
        return Err(wrong(problem, "Give every column a name of its own."));
    }
    let arguments = PyDict::new(frame.py());
    arguments.set_item("drop", true)?;
    frame.call_method("reset_index", (), Some(&arguments))
}

/// A polars frame in types that Arrow's C interface hands over: a column without any value has no buffers, and integers of 128 bits
/// are polars' own.
fn of_polars<'py>(frame: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = frame.py();
    let frame = if is_lazy_frame(frame)? { frame.call_method0("collect")? } else { frame.clone() };
    if !frame.hasattr("schema")? {
        return Ok(frame);
    }
    let polars = py.import("polars")?;
    let (casts, mut wide) = (PyDict::new(py), Vec::new());
    for item in frame.getattr("schema")?.call_method0("items")?.try_iter()? {
        let (name, kind): (String, Bound<'py, PyAny>) = item?.extract()?;
        match kind.str()?.to_str()? {
            "Null" => casts.set_item(name, polars.getattr("String")?)?,
            "Int128" | "UInt128" => wide.push(name),
            _ => {}
        }
    }
    let mut frame = if casts.is_empty() { frame } else { frame.call_method1("cast", (casts,))? };
    // Whole numbers stay such, keys of many digits included, unless they are beyond the largest decimal.
    let (exact, rounded) = (polars.getattr("Decimal")?.call1((38, 0))?, polars.getattr("Float64")?);
    for name in wide {
        let cast = |kind: &Bound<'py, PyAny>| {
            let casts = PyDict::new(py);
            casts.set_item(&name, kind)?;
            frame.call_method1("cast", (casts,))
        };
        let narrow = cast(&exact).or_else(|_| cast(&rounded))?;
        frame = narrow;
    }
    Ok(frame)
}

fn no_table(data: &Bound<'_, PyAny>) -> PyErr {
    let kind = data.get_type().name().map_or_else(|_| "thing".to_string(), |name| name.to_string());
    wrong(
        format!("a table cannot be made from a {kind}"),
        "Give a data frame with Arrow's C stream (pandas, polars, pyarrow), a quince.Table, or the path of a CSV file.",
    )
}

/// Takes a data frame's columns by Arrow's C stream.
fn from_frame(frame: &Bound<'_, PyAny>) -> PyResult<quince::Table> {
    if let Ok(table) = frame.cast::<Table>() {
        return Ok(table.get().0.clone());
    }
    let from_pandas = is_of(frame, "pandas")?;
    let frame = if from_pandas {
        of_pandas(frame)?
    } else if is_of(frame, "polars")? {
        of_polars(frame)?
    } else {
        frame.clone()
    };
    if !frame.hasattr("__arrow_c_stream__")? {
        return Err(no_table(&frame));
    }
    let capsule = frame.call_method0("__arrow_c_stream__").map_err(|error| {
        if from_pandas && error.is_instance_of::<PyImportError>(frame.py()) {
            return PyImportError::new_err(
                "pandas hands its columns over through pyarrow, which is not installed. Run: pip install pyarrow",
            );
        }
        if error.is_instance_of::<PyValueError>(frame.py()) || error.is_instance_of::<PyTypeError>(frame.py()) {
            let problem = format!("the data frame has a column that Arrow cannot take: {}", error.value(frame.py()));
            return wrong(problem, "Make all values of the column words, or all numbers.");
        }
        error
    })?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: by the Arrow PyCapsule protocol a capsule of this name holds a valid Arrow C stream, which we move out
    // of; the capsule, which outlives the call, then finds it released and has nothing more to free.
    unsafe { quince::Table::from_arrow_stream(stream.as_ptr().cast()) }.map_err(to_python)
}

fn kinds_of(kinds: Option<BTreeMap<String, String>>) -> PyResult<Vec<(String, Kind)>> {
    let kind = |(name, kind): (String, String)| Ok((name, Kind::from_name(&kind).map_err(to_python)?));
    kinds.unwrap_or_default().into_iter().map(kind).collect()
}

/// The same table with other kinds for some columns; those to be dropped are ignored.
fn with_kinds(table: quince::Table, kinds: &[(String, Kind)], drop: &[String]) -> PyResult<quince::Table> {
    let asked: Vec<(&String, Kind)> =
        kinds.iter().map(|(name, kind)| (name, *kind)).chain(drop.iter().map(|name| (name, Kind::Ignored))).collect();
    let change = || {
        for (name, _) in &asked {
            table.column(name)?;
        }
        let column = |column: &Column| match asked.iter().rev().find(|(name, _)| *name == column.name()) {
            Some((_, kind)) => column.as_kind(*kind, &table),
            None => Ok(column.clone()),
        };
        quince::Table::new(table.columns().iter().map(column).collect::<quince::Result<_>>()?)
    };
    if asked.is_empty() { Ok(table) } else { change().map_err(to_python) }
}
