//! The named arrays of a saved model.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use std::collections::BTreeMap;

/// Named arrays, and the sizes they must agree with.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    pub(super) arrays: BTreeMap<String, Array>,
    pub(super) features: usize,
    pub(super) classes: usize,
    pub(super) path: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Array {
    Numbers { shape: Vec<usize>, values: Vec<f64> },
    Bytes(Vec<u8>),
}

impl Parts {
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

    /// Adds words, none of which contains a line break.
    pub(super) fn put_words(&mut self, name: &str, words: &[String]) {
        self.arrays.insert(name.into(), Array::Bytes(words.join("\n").into_bytes()));
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

    pub(super) fn words(&self, name: &str) -> Result<Vec<String>> {
        let Some(Array::Bytes(bytes)) = self.arrays.get(name) else {
            return Err(self.wrong(&format!("the array '{name}' is missing")));
        };
        let text = std::str::from_utf8(bytes).map_err(|_| self.wrong(&format!("'{name}' is not UTF-8")))?;
        let words: Vec<String> = text.split('\n').filter(|word| !word.is_empty()).map(str::to_string).collect();
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
