//! The named arrays of a saved model.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, Sparse};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Named arrays, and the sizes they must agree with.
#[derive(Clone, Debug, Default)]
pub struct SavedParts {
    pub(crate) arrays: BTreeMap<String, Array>,
    pub(crate) features: usize,
    pub(crate) classes: usize,
    pub(crate) path: String,
    /// A description that could not be read back.
    pub(crate) unreadable: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Array {
    Numbers { shape: Vec<usize>, values: Vec<f64> },
    Indices(Vec<u32>),
    Bytes(Vec<u8>),
}

impl SavedParts {
    /// Parts of a model with this many features and classes.
    #[cfg(test)]
    pub(crate) fn for_tests(features: usize, classes: usize) -> SavedParts {
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

    /// Adds a matrix.
    pub fn put_matrix(&mut self, name: &str, matrix: &Matrix) {
        let shape = vec![matrix.rows(), matrix.columns()];
        self.arrays.insert(name.into(), Array::Numbers { shape, values: matrix.values().to_vec() });
    }

    /// Adds a vector.
    pub fn put_vector(&mut self, name: &str, values: &[f64]) {
        self.arrays.insert(name.into(), Array::Numbers { shape: vec![values.len()], values: values.to_vec() });
    }

    /// Adds indices or codes.
    pub fn put_indices(&mut self, name: &str, indices: impl IntoIterator<Item = u32>) {
        self.arrays.insert(name.into(), Array::Indices(indices.into_iter().collect()));
    }

    /// Adds a sparse matrix as three vectors.
    pub fn put_sparse(&mut self, name: &str, sparse: &Sparse) {
        let (mut ends, mut indices, mut values) = (vec![sparse.columns() as f64], Vec::new(), Vec::new());
        for i in 0..sparse.rows() {
            let (columns, entries) = sparse.row(i);
            indices.extend_from_slice(columns);
            values.extend_from_slice(entries);
            ends.push(values.len() as f64);
        }
        self.put_vector(&format!("{name}.ends"), &ends);
        self.put_indices(&format!("{name}.columns"), indices);
        self.put_vector(&format!("{name}.values"), &values);
    }

    /// Adds words, one per line; where one of them has a line break in it, with the number of bytes of each.
    pub(crate) fn put_words(&mut self, name: &str, words: &[String]) {
        if words.iter().any(|word| word.is_empty() || word.contains('\n')) {
            let length = |word: &String| u32::try_from(word.len()).expect("a word is shorter than 4 GB");
            self.put_indices(&format!("{name}.lengths"), words.iter().map(length));
        }
        self.arrays.insert(name.into(), Array::Bytes(words.join("\n").into_bytes()));
    }

    /// Adds a description as JSON. If it cannot be read back (JSON has neither NaN nor infinity), saving the model is refused.
    pub fn put_json<T: Serialize + DeserializeOwned>(&mut self, name: &str, value: &T) {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        if serde_json::from_slice::<T>(&bytes).is_err() {
            self.unreadable.get_or_insert_with(|| name.to_string());
        }
        self.arrays.insert(name.into(), Array::Bytes(bytes));
    }

    /// A description that was added as JSON.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        match self.arrays.get(name) {
            Some(Array::Bytes(bytes)) => {
                serde_json::from_slice(bytes).map_err(|e| self.wrong(&format!("'{name}' cannot be read: {e}")))
            }
            _ => Err(self.wrong(&format!("the description '{name}' is missing"))),
        }
    }

    /// A matrix with this many rows, if given.
    pub fn matrix(&self, name: &str, rows: Option<usize>) -> Result<Matrix> {
        match self.arrays.get(name) {
            Some(Array::Numbers { shape, values }) if shape.len() == 2 && rows.is_none_or(|rows| rows == shape[0]) => {
                Matrix::new(shape[0], shape[1], values.clone())
            }
            Some(_) => Err(self.wrong(&format!("the array '{name}' has the wrong shape"))),
            None => Err(self.wrong(&format!("the array '{name}' is missing"))),
        }
    }

    /// A vector of this length, if given.
    pub fn vector(&self, name: &str, length: Option<usize>) -> Result<Vec<f64>> {
        match self.arrays.get(name) {
            Some(Array::Numbers { shape, values })
                if shape.len() == 1 && length.is_none_or(|length| length == shape[0]) =>
            {
                Ok(values.clone())
            }
            Some(_) => Err(self.wrong(&format!("the array '{name}' has the wrong shape"))),
            None => Err(self.wrong(&format!("the array '{name}' is missing"))),
        }
    }

    /// Indices or codes of this number, if given. Files written before they had a type of their own hold them as numbers.
    pub fn indices(&self, name: &str, length: Option<usize>) -> Result<Vec<u32>> {
        if let Some(Array::Indices(indices)) = self.arrays.get(name) {
            if length.is_some_and(|length| length != indices.len()) {
                return Err(self.wrong(&format!("the array '{name}' has the wrong shape")));
            }
            return Ok(indices.clone());
        }
        let whole = |x: f64| (x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&x)).then_some(x as u32);
        let numbers = self.vector(name, length)?;
        let indices = numbers.into_iter().map(whole).collect::<Option<_>>();
        indices.ok_or_else(|| self.wrong(&format!("'{name}' has numbers that are no indices")))
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// A sparse matrix with this many rows; `None` if there is none of this name.
    pub fn sparse(&self, name: &str, rows: usize) -> Result<Option<Sparse>> {
        if !self.has(&format!("{name}.ends")) {
            return Ok(None);
        }
        let expected = rows.checked_add(1).ok_or_else(|| self.wrong(&format!("'{name}' has too many rows")))?;
        let ends = self.vector(&format!("{name}.ends"), Some(expected))?;
        let indices = self.indices(&format!("{name}.columns"), None)?;
        let values = self.vector(&format!("{name}.values"), None)?;
        let whole = |x: &f64| x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(x);
        if !ends.iter().all(whole) {
            return Err(self.wrong(&format!("the places of '{name}' are not whole numbers")));
        }
        let columns = ends[0] as usize;
        let starts = std::iter::once(0).chain(ends[1..].iter().map(|&end| end as usize)).collect();
        Sparse::new(rows, columns, starts, indices, values).map(Some).map_err(|e| self.wrong(&e.to_string()))
    }

    pub(crate) fn words(&self, name: &str) -> Result<Vec<String>> {
        let Some(Array::Bytes(bytes)) = self.arrays.get(name) else {
            return Err(self.wrong(&format!("the array '{name}' is missing")));
        };
        let text = std::str::from_utf8(bytes).map_err(|_| self.wrong(&format!("'{name}' is not UTF-8")))?;
        let lengths = format!("{name}.lengths");
        let words: Vec<String> = match self.has(&lengths) {
            false => text.split('\n').filter(|word| !word.is_empty()).map(str::to_string).collect(),
            true => {
                let (mut words, mut start) = (Vec::new(), 0usize);
                for length in self.indices(&lengths, None)? {
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

    /// An error that says why this is no model.
    pub fn wrong(&self, problem: &str) -> Error {
        Error::Model { path: self.path.clone(), problem: problem.to_string() }
    }
}
