//! The named arrays of a saved model.
//!
//! An array is held as its bytes in a file, little-endian. Saving encodes each array once; loading borrows the bytes of the
//! file, and decodes an array when a method takes it. So a model is never in memory more than twice: as numbers and as bytes.

use crate::error::{Error, Result, UPDATE};
use crate::matrix::{Matrix, Rows, Sparse};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Named arrays, and the sizes they must agree with.
#[derive(Clone, Debug, Default)]
pub struct SavedParts<'file> {
    pub(crate) arrays: BTreeMap<String, SavedArray<'file>>,
    pub(crate) features: usize,
    pub(crate) classes: usize,
    /// The file, for errors.
    pub(crate) path: String,
    /// A description that could not be read back.
    pub(crate) unreadable: Option<String>,
}

/// An array as a file holds it.
#[derive(Clone, Debug)]
pub(crate) struct SavedArray<'file> {
    pub(crate) element: ElementType,
    pub(crate) shape: Vec<usize>,
    /// As many elements as the shape says, little-endian.
    pub(crate) bytes: Cow<'file, [u8]>,
}

/// The type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementType {
    /// Numbers.
    F64,
    /// Counts and places that may be larger than an index.
    U64,
    /// Indices and codes.
    U32,
    /// Texts.
    U8,
}

impl ElementType {
    /// Its name in a safetensors file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ElementType::F64 => "F64",
            ElementType::U64 => "U64",
            ElementType::U32 => "U32",
            ElementType::U8 => "U8",
        }
    }

    /// The number of bytes of an element.
    pub(crate) fn size(self) -> usize {
        match self {
            ElementType::F64 | ElementType::U64 => 8,
            ElementType::U32 => 4,
            ElementType::U8 => 1,
        }
    }
}

/// A number that arrays are made of.
trait Element: Copy {
    const TYPE: ElementType;

    fn encode(self, bytes: &mut Vec<u8>);

    fn decode(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! elements {
    ($($number:ident is $element:ident),+) => {$(
        impl Element for $number {
            const TYPE: ElementType = ElementType::$element;

            fn encode(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn decode(bytes: &[u8]) -> Vec<$number> {
                let (numbers, _) = bytes.as_chunks();
                numbers.iter().map(|number| $number::from_le_bytes(*number)).collect()
            }
        }
    )+};
}

elements!(f64 is F64, u64 is U64, u32 is U32);

/// What a model puts into its file.
impl SavedParts<'_> {
    /// Adds a matrix.
    pub fn put_matrix(&mut self, name: &str, matrix: &Matrix) {
        self.put(name, vec![matrix.rows(), matrix.columns()], matrix.values().iter().copied());
    }

    /// Adds a vector of numbers.
    pub fn put_vector(&mut self, name: &str, values: &[f64]) {
        self.put(name, vec![values.len()], values.iter().copied());
    }

    /// Adds a number.
    pub fn put_number(&mut self, name: &str, value: f64) {
        self.put_vector(name, &[value]);
    }

    /// Adds indices or codes.
    pub fn put_indices(&mut self, name: &str, indices: &[u32]) {
        self.put(name, vec![indices.len()], indices.iter().copied());
    }

    /// Adds counts, or places that may be larger than an index.
    pub fn put_counts(&mut self, name: &str, counts: &[usize]) {
        self.put(name, vec![counts.len()], counts.iter().map(|&count| count as u64));
    }

    /// Adds rows: a matrix, and beside it the arrays of [`SavedParts::put_sparse`] if they have sparse columns.
    pub fn put_rows(&mut self, name: &str, rows: &Rows) {
        self.put_matrix(name, rows.dense());
        if let Some(sparse) = rows.sparse() {
            self.put_sparse(name, sparse);
        }
    }

    /// Adds a sparse matrix as four arrays: shape, row starts, column indices and values (CSR).
    pub fn put_sparse(&mut self, name: &str, sparse: &Sparse) {
        self.put_counts(&format!("{name}.shape"), &[sparse.rows(), sparse.columns()]);
        self.put_counts(&format!("{name}.starts"), sparse.starts());
        self.put_indices(&format!("{name}.indices"), sparse.indices());
        self.put_vector(&format!("{name}.values"), sparse.values());
    }

    /// Adds words, one per line; where one of them is empty or has a line break in it, with the number of bytes of each.
    pub(crate) fn put_words(&mut self, name: &str, words: &[String]) {
        if words.iter().any(|word| word.is_empty() || word.contains('\n')) {
            let length = |word: &String| u32::try_from(word.len()).expect("a word is shorter than 4 GB");
            let lengths: Vec<u32> = words.iter().map(length).collect();
            self.put_indices(&format!("{name}.lengths"), &lengths);
        }
        self.put_bytes(name, words.join("\n").into_bytes());
    }

    /// Adds a description as JSON. If it cannot be read back (JSON has neither NaN nor infinity), saving the model is refused.
    pub fn put_json<T: Serialize + DeserializeOwned>(&mut self, name: &str, value: &T) {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        if serde_json::from_slice::<T>(&bytes).is_err() {
            self.unreadable.get_or_insert_with(|| name.to_string());
        }
        self.put_bytes(name, bytes);
    }

    fn put_bytes(&mut self, name: &str, bytes: Vec<u8>) {
        let array = SavedArray { element: ElementType::U8, shape: vec![bytes.len()], bytes: bytes.into() };
        self.arrays.insert(name.into(), array);
    }

    fn put<T: Element>(&mut self, name: &str, shape: Vec<usize>, values: impl ExactSizeIterator<Item = T>) {
        let mut bytes = Vec::with_capacity(values.len() * T::TYPE.size());
        values.for_each(|value| value.encode(&mut bytes));
        self.arrays.insert(name.into(), SavedArray { element: T::TYPE, shape, bytes: bytes.into() });
    }
}

/// What a model takes out of its file.
impl<'file> SavedParts<'file> {
    /// Parts of a model with this many features and classes.
    #[cfg(test)]
    pub(crate) fn for_tests(features: usize, classes: usize) -> SavedParts<'file> {
        SavedParts { features, classes, ..SavedParts::default() }
    }

    /// How many features the model takes.
    pub fn features(&self) -> usize {
        self.features
    }

    /// How many classes it knows; zero if it predicts numbers.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// A matrix with this many rows, if given.
    pub fn take_matrix(&mut self, name: &str, rows: Option<usize>) -> Result<Matrix> {
        let fits = |shape: &[usize]| shape.len() == 2 && rows.is_none_or(|rows| rows == shape[0]);
        let (shape, values) = self.take_numbers(name, fits)?;
        Matrix::new(shape[0], shape[1], values)
    }

    /// A vector of this length, if given.
    pub fn take_vector(&mut self, name: &str, length: Option<usize>) -> Result<Vec<f64>> {
        Ok(self.take_numbers(name, has_length(length))?.1)
    }

    /// A number.
    pub fn take_number(&mut self, name: &str) -> Result<f64> {
        Ok(self.take_vector(name, Some(1))?[0])
    }

    /// Indices or codes of this number, if given.
    pub fn take_indices(&mut self, name: &str, length: Option<usize>) -> Result<Vec<u32>> {
        Ok(self.take_numbers(name, has_length(length))?.1)
    }

    /// Counts or places of this number, if given.
    pub fn take_counts(&mut self, name: &str, length: Option<usize>) -> Result<Vec<usize>> {
        let (_, counts) = self.take_numbers::<u64>(name, has_length(length))?;
        let counted = counts.into_iter().map(|count| usize::try_from(count).ok()).collect::<Option<_>>();
        counted.ok_or_else(|| self.wrong(&format!("'{name}' has a count that is too large for this machine")))
    }

    /// Rows, with their sparse columns if they have any.
    pub fn take_rows(&mut self, name: &str) -> Result<Rows> {
        let dense = self.take_matrix(name, None)?;
        let sparse = if self.has(&format!("{name}.shape")) { Some(self.take_sparse(name)?) } else { None };
        if sparse.as_ref().is_some_and(|sparse| sparse.rows() != dense.rows()) {
            return Err(
                self.wrong(&format!("the dense and the sparse part of '{name}' differ in their number of rows"))
            );
        }
        Ok(Rows::of(dense, sparse))
    }

    /// A sparse matrix.
    pub fn take_sparse(&mut self, name: &str) -> Result<Sparse> {
        let shape = self.take_counts(&format!("{name}.shape"), Some(2))?;
        let starts = self.take_counts(&format!("{name}.starts"), None)?;
        let indices = self.take_indices(&format!("{name}.indices"), None)?;
        let values = self.take_vector(&format!("{name}.values"), None)?;
        Sparse::new(shape[0], shape[1], starts, indices, values).map_err(|e| self.wrong(&e.to_string()))
    }

    /// A description that was added as JSON.
    pub fn take_json<T: DeserializeOwned>(&mut self, name: &str) -> Result<T> {
        let bytes = self.take_bytes(name)?;
        serde_json::from_slice(&bytes).map_err(|e| self.wrong(&format!("'{name}' cannot be read: {e}")))
    }

    /// Words, in order.
    pub(crate) fn take_words(&mut self, name: &str) -> Result<Vec<String>> {
        let bytes = self.take_bytes(name)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| self.wrong(&format!("'{name}' is not UTF-8")))?;
        let lengths = format!("{name}.lengths");
        let words: Vec<String> = match self.has(&lengths) {
            false => text.split('\n').filter(|word| !word.is_empty()).map(str::to_string).collect(),
            true => {
                let (mut words, mut start) = (Vec::new(), 0usize);
                for length in self.take_indices(&lengths, None)? {
                    let end = start.saturating_add(length as usize);
                    let word = text.get(start..end).ok_or_else(|| self.wrong(&format!("'{name}' is cut short")))?;
                    words.push(word.to_string());
                    start = end + 1;
                }
                words
            }
        };
        if words.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(self.wrong(&format!("the words of '{name}' are not in order")));
        }
        Ok(words)
    }

    fn take_bytes(&mut self, name: &str) -> Result<Cow<'file, [u8]>> {
        Ok(self.take(name, ElementType::U8)?.bytes)
    }

    fn take_numbers<T: Element>(
        &mut self,
        name: &str,
        fits: impl Fn(&[usize]) -> bool,
    ) -> Result<(Vec<usize>, Vec<T>)> {
        let SavedArray { shape, bytes, .. } = self.take(name, T::TYPE)?;
        if !fits(&shape) {
            return Err(self.wrong(&format!("the array '{name}' has the wrong shape")));
        }
        Ok((shape, T::decode(&bytes)))
    }

    fn take(&mut self, name: &str, element: ElementType) -> Result<SavedArray<'file>> {
        let array = self.arrays.remove(name).ok_or_else(|| self.wrong(&format!("the array '{name}' is missing")))?;
        if array.element != element {
            return Err(self.wrong(&format!("the array '{name}' has the wrong type")));
        }
        Ok(array)
    }

    /// An error if an array is left: what is not understood could change what the model says.
    pub(crate) fn check_all_taken(&self) -> Result<()> {
        match self.arrays.keys().next() {
            Some(name) => {
                let problem = format!("the array '{name}' is unknown: a newer quince may have written it");
                Err(Error::unopened(&self.path, problem, UPDATE))
            }
            None => Ok(()),
        }
    }

    /// An error that says why this is no model.
    pub fn wrong(&self, problem: &str) -> Error {
        Error::model(&self.path, problem)
    }
}

/// Whether a shape is that of a list of this length, if given.
fn has_length(length: Option<usize>) -> impl Fn(&[usize]) -> bool {
    move |shape| shape.len() == 1 && length.is_none_or(|length| length == shape[0])
}
