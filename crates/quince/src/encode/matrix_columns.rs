//! The columns of a matrix, which are features unchanged.

use crate::learn::{FeatureGroup, FeatureKind, FeatureMap, FeatureSource, SampledRow};
use crate::numbers::{number_text, rounded_within};
use serde::{Deserialize, Serialize};

/// The columns of a matrix: called x0, x1 and so on, or as they were named. Nothing is scaled unasked.
///
/// ```
/// use quince::encode::MatrixColumns;
/// let named = MatrixColumns::identity_of(vec!["height".into(), "weight".into()]);
/// assert_eq!((named.width(), named.feature_names().nth(1)), (2, Some("weight".to_string())));
/// assert_eq!(MatrixColumns::identity(3).feature_names().last(), Some("x2".to_string()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "tables", derive(Serialize, Deserialize), serde(from = "SavedMatrix", into = "SavedMatrix"))]
pub struct MatrixColumns {
    count: usize,
    /// Empty if they have none.
    names: Vec<String>,
}

impl MatrixColumns {
    /// This number of columns, called x0, x1 and so on.
    pub fn identity(columns: usize) -> MatrixColumns {
        MatrixColumns { count: columns, names: Vec::new() }
    }

    /// Columns that have names.
    pub fn identity_of(names: Vec<String>) -> MatrixColumns {
        MatrixColumns { count: names.len(), names }
    }

    /// True: features are the columns of a matrix, unchanged.
    pub fn is_identity(&self) -> bool {
        true
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.count
    }

    /// How many features there are: one for each column.
    pub fn width(&self) -> usize {
        self.count
    }

    /// The names of the columns. A small file may claim very many: they are made one by one.
    pub fn column_names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.count).map(|j| self.names.get(j).cloned().unwrap_or_else(|| format!("x{j}")))
    }

    /// The names of the features, which are those of the columns.
    pub fn feature_names(&self) -> impl Iterator<Item = String> + '_ {
        self.column_names()
    }

    /// Whether a column has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        let numbered = || name.strip_prefix('x')?.parse().ok().filter(|&j: &usize| j < self.count);
        if self.names.is_empty() { numbered().is_some() } else { self.names.iter().any(|n| n == name) }
    }

    /// Whether everything that was loaded fits together.
    pub(crate) fn is_sound(&self) -> bool {
        self.count <= u32::MAX as usize && (self.names.is_empty() || self.names.len() == self.count)
    }

    /// The cells of a sampled row; empty where the model says nothing.
    pub fn decode(&self, row: &SampledRow) -> Vec<String> {
        self.decode_within(row, &[])
    }

    /// The same, where the standard deviations of the dense features say how exactly they are known.
    pub(super) fn decode_within(&self, row: &SampledRow, standard_deviations: &[f64]) -> Vec<String> {
        let known_to = |j: usize| standard_deviations.get(j).copied().unwrap_or(f64::NAN);
        let dense = row.dense.iter().take(self.count).enumerate();
        let mut cells: Vec<String> = dense.map(|(j, &x)| decoded_number(x, known_to(j))).collect();
        if !row.sequences.is_empty() {
            let mut counts = vec![0.0; self.count.saturating_sub(row.dense.len())];
            for place in row.sequences.iter().flat_map(|(first, places)| places.iter().map(move |place| first + place))
            {
                if let Some(count) = counts.get_mut(place) {
                    *count += 1.0;
                }
            }
            cells.extend(counts.into_iter().map(number_text));
        }
        cells
    }
}

/// As an encoder: there is nothing to save as arrays.
#[cfg(not(feature = "tables"))]
impl MatrixColumns {
    pub(crate) fn save_arrays(&self, _: &mut crate::learn::SavedParts<'_>) -> MatrixColumns {
        self.clone()
    }

    pub(crate) fn load_arrays(&mut self, _: &mut crate::learn::SavedParts<'_>) -> crate::error::Result<()> {
        Ok(())
    }
}

/// A number that was drawn or expected, in as many digits as are known of it; empty if there is none.
pub(super) fn decoded_number(x: f64, standard_deviation: f64) -> String {
    if x.is_nan() { String::new() } else { number_text(rounded_within(x, standard_deviation)) }
}

impl FeatureSource for MatrixColumns {
    fn feature_map(&self) -> FeatureMap {
        let number =
            |(first, name)| FeatureGroup { name, column: Some(first), kind: FeatureKind::Number, first, width: 1 };
        FeatureMap { groups: self.column_names().enumerate().map(number).collect() }
    }

    fn feature_names(&self) -> Box<dyn Iterator<Item = String> + '_> {
        Box::new(self.column_names())
    }

    fn is_matrix(&self) -> bool {
        true
    }
}

/// The columns of a matrix as a file holds them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedMatrix {
    count: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
}

impl From<MatrixColumns> for SavedMatrix {
    fn from(MatrixColumns { count, names }: MatrixColumns) -> SavedMatrix {
        SavedMatrix { count, names }
    }
}

impl From<SavedMatrix> for MatrixColumns {
    fn from(SavedMatrix { count, names }: SavedMatrix) -> MatrixColumns {
        MatrixColumns { count, names }
    }
}

/// As [`MatrixColumns`] stand in for an encoder: a file says the same with and without the feature `tables`.
#[cfg(not(feature = "tables"))]
mod saved {
    use super::{MatrixColumns, SavedMatrix};
    use serde::de::{Error, IgnoredAny};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    #[derive(Serialize)]
    struct WrittenEncoder {
        columns: [(); 0],
        matrix: SavedMatrix,
    }

    #[derive(Deserialize)]
    struct ReadEncoder {
        columns: Vec<IgnoredAny>,
        matrix: Option<SavedMatrix>,
        #[serde(flatten)]
        others: BTreeMap<String, IgnoredAny>,
    }

    impl Serialize for MatrixColumns {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            WrittenEncoder { columns: [], matrix: self.clone().into() }.serialize(to)
        }
    }

    impl<'a> Deserialize<'a> for MatrixColumns {
        fn deserialize<D: Deserializer<'a>>(from: D) -> Result<MatrixColumns, D::Error> {
            let ReadEncoder { columns, matrix, others } = ReadEncoder::deserialize(from)?;
            match matrix {
                Some(matrix) if columns.is_empty() && others.is_empty() => Ok(matrix.into()),
                Some(_) => Err(D::Error::custom("the columns of a matrix stand beside what belongs to a table")),
                None => Err(D::Error::custom("the model learnt from a table, which takes quince's feature `tables`")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Encoder;

    #[test]
    fn a_file_says_the_same_of_a_matrix_with_and_without_tables() {
        let plain = (Encoder::identity(3), r#"{"columns":[],"matrix":{"count":3}}"#);
        let named = Encoder::identity_of(vec!["a".into(), "b".into()]);
        for (encoder, text) in [plain, (named, r#"{"columns":[],"matrix":{"count":2,"names":["a","b"]}}"#)] {
            assert_eq!(serde_json::to_string(&encoder).unwrap(), text);
            let again: Encoder = serde_json::from_str(text).unwrap();
            assert!(again.is_sound() && again.is_identity() && again.column_names().eq(encoder.column_names()));
        }
    }

    #[cfg(not(feature = "tables"))]
    #[test]
    fn the_encoder_of_a_table_asks_for_the_feature() {
        let text = r#"{"columns":[{"field":{"name":"a","kind":"number"},"encoder":"none"}]}"#;
        let error = serde_json::from_str::<Encoder>(text).unwrap_err().to_string();
        assert!(error.contains("feature `tables`"), "{error}");
    }

    #[test]
    fn sampled_counts_of_sparse_columns_follow_the_dense_ones() {
        let row = SampledRow { class: 0, dense: vec![1.0 / 3.0, f64::NAN], sequences: vec![(0, vec![2, 0, 2])] };
        assert_eq!(MatrixColumns::identity(5).decode(&row), ["0.333333", "", "1", "0", "2"]);
    }
}
