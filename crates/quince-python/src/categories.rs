//! The categories of columns, for the encoders of `python/quince/preprocessing/`.
//!
//! A column comes as one of three arrays: texts as numpy has them, a row of code points each; numbers as float64; or objects,
//! which are texts, None and NaN. Columns of anything else are Python's to look after.

use crate::errors::{to_python, wrong};
use crate::features::{Held, being_written};
use crate::steer::{Steering, work};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString, PyTuple};
use quince::encode::{self, OneHot, RareCategories, UNKNOWN_CATEGORY, UnknownCategories};
use quince::{Result, Run};

type Whole<'py> = Bound<'py, PyArray1<i64>>;
type Codes<'py> = PyReadonlyArray1<'py, u32>;
/// The groups of each column, and the one without a feature.
type Columns<'py> = Vec<(Bound<'py, CategoryGroups>, Option<usize>)>;

/// Rows between two looks at the clock.
const ROWS_PER_STEP: usize = 1 << 16;

/// The cells of a column.
enum Cells<'py> {
    Characters(PyReadonlyArray2<'py, u32>),
    Numbers(PyReadonlyArray1<'py, f64>),
    Objects(PyReadonlyArray1<'py, Py<PyAny>>),
}

/// A cell of a column of texts.
enum Cell<'a> {
    Text(&'a str),
    None,
    Nan,
}

impl<'py> Cells<'py> {
    fn new(cells: &Bound<'py, PyAny>) -> PyResult<Cells<'py>> {
        if let Ok(array) = cells.cast::<PyArray2<u32>>() {
            return Ok(Cells::Characters(array.try_readonly().map_err(|_| being_written())?));
        }
        if let Ok(array) = cells.cast::<PyArray1<f64>>() {
            return Ok(Cells::Numbers(array.try_readonly().map_err(|_| being_written())?));
        }
        if let Ok(array) = cells.cast::<PyArray1<Py<PyAny>>>() {
            return Ok(Cells::Objects(array.try_readonly().map_err(|_| being_written())?));
        }
        Err(wrong("the cells are neither texts nor numbers", "Give an array of code points, of float64 or of objects."))
    }

    /// Calls `found(row, cell)` for every cell of a column of texts until it says false. Whether it never did, and all cells were
    /// texts or missing.
    fn each_text(
        &self,
        py: Python<'py>,
        mut found: impl FnMut(usize, Cell<'_>) -> Result<bool> + Send,
    ) -> PyResult<bool> {
        match self {
            Cells::Numbers(_) => Ok(false),
            Cells::Characters(array) => {
                let (points, width) = (array.as_slice()?, array.shape()[1].max(1));
                work(py, Steering::threads(1), |run| each_row(points, width, run, found))
            }
            Cells::Objects(array) => {
                for i in 0..array.len() {
                    if i % ROWS_PER_STEP == 0 {
                        py.check_signals()?;
                    }
                    // SAFETY: there is an element `i`, which holds an object or, in the place of None, a null pointer. No code of
                    // Python runs while it is borrowed.
                    let cell = unsafe {
                        let pointer = array.uget_raw([i]).cast::<*mut pyo3::ffi::PyObject>().read();
                        Borrowed::from_ptr_or_opt(py, pointer)
                    };
                    let Some(cell) = cell_of(cell.as_deref()) else { return Ok(false) };
                    if !found(i, cell).map_err(to_python)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// An object as a cell, if it is a text or missing. Python has texts with half of a surrogate pair, which UTF-8 has not.
fn cell_of<'a>(cell: Option<&'a Bound<'_, PyAny>>) -> Option<Cell<'a>> {
    let Some(cell) = cell else { return Some(Cell::None) };
    if let Ok(text) = cell.cast::<PyString>() {
        return text.to_str().ok().map(Cell::Text);
    }
    if cell.is_none() {
        return Some(Cell::None);
    }
    cell.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan()).then_some(Cell::Nan)
}

/// Calls `found` for every text of code points, `width` each, the zeros at its end left out.
fn each_row(
    points: &[u32],
    width: usize,
    run: &Run,
    mut found: impl FnMut(usize, Cell<'_>) -> Result<bool>,
) -> Result<bool> {
    let (mut ascii, mut text) = (Vec::new(), String::new());
    for (i, row) in points.chunks_exact(width).enumerate() {
        if i % ROWS_PER_STEP == 0 {
            run.check()?;
        }
        let length = row.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
        let row = &row[..length];
        if row.iter().fold(0, |all, point| all | point) < 128 {
            ascii.clear();
            ascii.extend(row.iter().map(|&point| point as u8));
            if !found(i, Cell::Text(str::from_utf8(&ascii).unwrap_or_default()))? {
                return Ok(false);
            }
            continue;
        }
        text.clear();
        for &point in row {
            let Some(character) = char::from_u32(point) else { return Ok(false) };
            text.push(character);
        }
        if !found(i, Cell::Text(&text))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How often each category occurs, and in which row first.
#[derive(Default)]
struct Occurrences {
    first: Vec<i64>,
    counts: Vec<i64>,
}

impl Occurrences {
    fn add(&mut self, category: usize, row: usize) {
        if category == self.first.len() {
            self.first.push(row as i64);
            self.counts.push(0);
        }
        self.counts[category] += 1;
    }

    fn in_order(&self, order: Vec<u32>) -> Occurrences {
        let take = |numbers: &[i64]| order.iter().map(|&category| numbers[category as usize]).collect();
        Occurrences { first: take(&self.first), counts: take(&self.counts) }
    }

    fn append(&mut self, more: Occurrences) {
        self.first.extend(more.first);
        self.counts.extend(more.counts);
    }
}

/// The categories of a column, sorted, None and NaN last: for each the first row that has it, and the number of rows. Nothing of a
/// column that is neither texts nor numbers.
#[pyfunction]
pub(crate) fn learn_categories<'py>(cells: &Bound<'py, PyAny>) -> PyResult<Option<(Whole<'py>, Whole<'py>)>> {
    let (py, cells) = (cells.py(), Cells::new(cells)?);
    let found = match &cells {
        Cells::Numbers(numbers) => Some(learn_numbers(py, numbers)?),
        texts => learn_texts(py, texts)?,
    };
    Ok(found.map(|found| (found.first.into_pyarray(py), found.counts.into_pyarray(py))))
}

fn learn_numbers(py: Python<'_>, numbers: &PyReadonlyArray1<'_, f64>) -> PyResult<Occurrences> {
    let numbers = numbers.as_array();
    work(py, Steering::threads(1), |run| {
        let (mut categories, mut found) = (encode::Categories::<f64>::new(), Occurrences::default());
        for (i, number) in numbers.iter().enumerate() {
            if i % ROWS_PER_STEP == 0 {
                run.check()?;
            }
            found.add(categories.add(number)? as usize, i);
        }
        Ok(found.in_order(categories.sort()))
    })
}

fn learn_texts(py: Python<'_>, cells: &Cells<'_>) -> PyResult<Option<Occurrences>> {
    let mut categories = encode::Categories::<str>::new();
    let (mut texts, mut none, mut nan) = <(Occurrences, Occurrences, Occurrences)>::default();
    let all_are_texts = cells.each_text(py, |i, cell| {
        match cell {
            Cell::Text(text) => texts.add(categories.add(text)? as usize, i),
            Cell::None => none.add(0, i),
            Cell::Nan => nan.add(0, i),
        }
        Ok(true)
    })?;
    let mut found = texts.in_order(categories.sort());
    found.append(none);
    found.append(nan);
    Ok(all_are_texts.then_some(found))
}

/// The categories of a column of texts or numbers, in order.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct Categories {
    known: Known,
    /// The code of None, which comes after all texts.
    none: Option<u32>,
    /// The code of NaN among texts, which comes after them.
    nan: Option<u32>,
}

enum Known {
    Texts(encode::Categories<str>),
    Numbers(encode::Categories<f64>),
}

#[pymethods]
impl Categories {
    /// These categories in this order. None if they are neither texts (and then None or NaN) nor numbers.
    #[staticmethod]
    fn of(cells: &Bound<'_, PyAny>) -> PyResult<Option<Categories>> {
        let (py, cells) = (cells.py(), Cells::new(cells)?);
        if let Cells::Numbers(numbers) = &cells {
            let known = encode::Categories::in_order(numbers.as_array().iter().copied()).map_err(to_python)?;
            return Ok(Some(Categories { known: Known::Numbers(known), none: None, nan: None }));
        }
        let (mut texts, mut none, mut nan) = (Vec::new(), None, None);
        let texts_come_first = cells.each_text(py, |i, cell| {
            match cell {
                Cell::Text(text) if texts.len() == i => texts.push(text.to_string()),
                Cell::Text(_) => return Ok(false),
                Cell::None => none = Some(i as u32),
                Cell::Nan => nan = Some(i as u32),
            }
            Ok(true)
        })?;
        let known = Known::Texts(encode::Categories::in_order(texts).map_err(to_python)?);
        Ok(texts_come_first.then_some(Categories { known, none, nan }))
    }

    /// The code of each cell, `UNKNOWN` where it has none of the categories. None if the cells are of another kind.
    fn codes<'py>(&self, cells: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyArray1<u32>>>> {
        let (py, cells) = (cells.py(), Cells::new(cells)?);
        let codes = match (&self.known, &cells) {
            (Known::Numbers(known), Cells::Numbers(numbers)) => Some(codes_of_numbers(py, known, numbers)?),
            (Known::Numbers(_), _) => None,
            (Known::Texts(known), cells) => {
                let mut codes = Vec::new();
                let all_are_texts = cells.each_text(py, |_, cell| {
                    let code = match cell {
                        Cell::Text(text) => known.code(text),
                        Cell::None => self.none,
                        Cell::Nan => self.nan,
                    };
                    codes.push(code.unwrap_or(UNKNOWN_CATEGORY));
                    Ok(true)
                })?;
                all_are_texts.then_some(codes)
            }
        };
        Ok(codes.map(|codes| codes.into_pyarray(py)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let cells = match &self.known {
            Known::Numbers(numbers) => PyArray1::from_slice(py, numbers.values()).into_any(),
            Known::Texts(texts) => {
                let mut cells: Vec<Py<PyAny>> =
                    texts.values().iter().map(|text| PyString::new(py, text).into_any().unbind()).collect();
                let mut missing = [(self.none, py.None()), (self.nan, PyFloat::new(py, f64::NAN).into_any().unbind())];
                missing.sort_by_key(|(code, _)| *code);
                cells.extend(missing.into_iter().filter(|(code, _)| code.is_some()).map(|(_, cell)| cell));
                PyArray1::from_vec(py, cells).into_any()
            }
        };
        Ok((py.get_type::<Categories>().getattr("of")?, (cells,).into_pyobject(py)?))
    }
}

fn codes_of_numbers(
    py: Python<'_>,
    known: &encode::Categories<f64>,
    numbers: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<u32>> {
    let numbers = numbers.as_array();
    work(py, Steering::threads(1), |run| {
        let mut codes = Vec::with_capacity(numbers.len());
        for (i, number) in numbers.iter().enumerate() {
            if i % ROWS_PER_STEP == 0 {
                run.check()?;
            }
            codes.push(known.code(number).unwrap_or(UNKNOWN_CATEGORY));
        }
        Ok(codes)
    })
}

/// The number of rows that have each of some categories, by their codes.
#[pyfunction]
pub(crate) fn count_categories<'py>(py: Python<'py>, codes: Codes<'py>, categories: usize) -> Whole<'py> {
    let mut counts = vec![0; categories];
    for &code in codes.as_array() {
        if let Some(count) = counts.get_mut(code as usize) {
            *count += 1;
        }
    }
    counts.into_pyarray(py)
}

/// The categories of a column in groups: one for each frequent category, and a last one for the rare ones.
#[pyclass(frozen, module = "quince._quince")]
pub(crate) struct CategoryGroups(encode::CategoryGroups);

#[pymethods]
impl CategoryGroups {
    /// From the number of rows of each category. Those in fewer than `min_rows` are rare, and those too many for `max_groups`.
    #[new]
    fn new(counts: PyReadonlyArray1<'_, i64>, min_rows: f64, max_groups: Option<usize>) -> CategoryGroups {
        let counts: Vec<usize> = counts.as_array().iter().map(|&count| count.max(0) as usize).collect();
        CategoryGroups(encode::CategoryGroups::new(&counts, RareCategories { min_rows, max_groups }))
    }

    /// Of categories of which it is known whether each is rare.
    #[staticmethod]
    fn of(is_rare: PyReadonlyArray1<'_, bool>) -> CategoryGroups {
        let is_rare: Vec<bool> = is_rare.as_array().iter().copied().collect();
        CategoryGroups(encode::CategoryGroups::of(&is_rare))
    }

    /// The group of each category.
    #[getter]
    fn of_categories<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.0.of_categories())
    }

    /// Whether each category is rare.
    #[getter]
    fn is_rare<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        (0..self.0.of_categories().len()).map(|category| self.0.is_rare(category)).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The number of groups.
    fn __len__(&self) -> usize {
        self.0.count()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((py.get_type::<CategoryGroups>().getattr("of")?, (self.is_rare(py),).into_pyobject(py)?))
    }
}

/// The one-hot features of some columns, and Python's arrays of codes.
fn one_hot<'a>(columns: &'a Columns<'_>) -> PyResult<OneHot<'a>> {
    let columns: Vec<_> = columns.iter().map(|(groups, dropped)| (&groups.get().0, *dropped)).collect();
    OneHot::new(&columns).map_err(to_python)
}

fn slices<'a>(codes: &'a [Codes<'_>]) -> PyResult<Vec<&'a [u32]>> {
    codes.iter().map(|codes| Ok(codes.as_slice()?)).collect()
}

fn unknown_categories(as_rare: bool) -> UnknownCategories {
    if as_rare { UnknownCategories::Rare } else { UnknownCategories::Zero }
}

/// One-hot rows as scipy has them: where rows start, and which features are 1.
#[pyfunction]
#[pyo3(signature = (codes, columns, *, unknown_as_rare, threads=0))]
pub(crate) fn one_hot_sparse<'py>(
    py: Python<'py>,
    codes: Vec<Codes<'py>>,
    columns: Columns<'py>,
    unknown_as_rare: bool,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (one_hot, codes, unknown) = (one_hot(&columns)?, slices(&codes)?, unknown_categories(unknown_as_rare));
    let (starts, features) = work(py, Steering::threads(threads), |run| one_hot.places(&codes, unknown, run))?;
    if one_hot.width().max(features.len()) > i32::MAX as usize {
        return Ok((whole::<usize, i64>(py, starts)?, whole::<u32, i64>(py, features)?));
    }
    Ok((whole::<usize, i32>(py, starts)?, whole::<u32, i32>(py, features)?))
}

/// Whole numbers of another type, which can hold them.
fn whole<'py, T, U: Element + TryFrom<T>>(py: Python<'py>, numbers: Vec<T>) -> PyResult<Bound<'py, PyAny>> {
    let numbers: std::result::Result<Vec<U>, _> = numbers.into_iter().map(U::try_from).collect();
    let numbers = numbers.map_err(|_| wrong("there are too many features", "Drop a column of many categories."))?;
    Ok(numbers.into_pyarray(py).into_any())
}

/// Writes one-hot rows into zeros of float64 or float32.
#[pyfunction]
#[pyo3(signature = (codes, columns, zeros, *, unknown_as_rare, threads=0))]
pub(crate) fn one_hot_dense<'py>(
    codes: Vec<Codes<'py>>,
    columns: Columns<'py>,
    zeros: &Bound<'py, PyAny>,
    unknown_as_rare: bool,
    threads: usize,
) -> PyResult<()> {
    let (one_hot, codes, unknown) = (one_hot(&columns)?, slices(&codes)?, unknown_categories(unknown_as_rare));
    let (py, steering) = (zeros.py(), Steering::threads(threads));
    if let Ok(zeros) = zeros.cast::<PyArray2<f32>>() {
        let mut zeros = zeros.try_readwrite().map_err(|_| being_written())?;
        let zeros = zeros.as_slice_mut()?;
        return work(py, steering, |run| one_hot.write_dense(&codes, unknown, zeros, run));
    }
    let mut zeros = zeros.cast::<PyArray2<f64>>()?.try_readwrite().map_err(|_| being_written())?;
    let zeros = zeros.as_slice_mut()?;
    work(py, steering, |run| one_hot.write_dense(&codes, unknown, zeros, run))
}

/// From one-hot rows back to the group of each cell, an array for each column: `UNKNOWN` where no feature is above 0.
#[pyfunction]
pub(crate) fn one_hot_groups<'py>(
    x: &Bound<'py, PyAny>,
    columns: Columns<'py>,
) -> PyResult<Vec<Bound<'py, PyArray1<u32>>>> {
    let (py, held) = (x.py(), Held::new(x)?);
    let (view, one_hot) = (held.view()?, one_hot(&columns)?);
    let features = view.features();
    let groups = work(py, Steering::default(), |run| one_hot.groups_of(&features, run))?;
    Ok(groups.into_iter().map(|groups| groups.into_pyarray(py)).collect())
}
