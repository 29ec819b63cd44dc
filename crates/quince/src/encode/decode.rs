//! From features back to cells, for rows that a model has sampled.

use super::column::ColumnEncoder;
use super::encoder::{EncodedColumn, Encoder};
use super::matrix_columns::{MatrixColumns, decoded_number};
use crate::learn::SampledRow;
use crate::numbers::number_text;
use crate::table::Kind;

/// A dense feature that stands for a column of its own.
pub(crate) struct DenseField {
    /// The place of the column among the cells of a row.
    pub(crate) column: usize,
    /// Its name.
    pub(crate) name: String,
    /// How much of a number one unit of the feature is: NaN if that depends on the number, `None` of a category or an answer.
    pub(crate) scale: Option<f64>,
}

impl Encoder {
    /// The column of each dense feature.
    pub(crate) fn dense_fields(&self) -> Vec<DenseField> {
        let number = |(column, name)| DenseField { column, name, scale: Some(1.0) };
        let mut found: Vec<DenseField> =
            self.matrix.iter().flat_map(MatrixColumns::column_names).enumerate().map(number).collect();
        for (column, EncodedColumn { field, encoder }) in self.columns.iter().enumerate() {
            let scale = match encoder {
                ColumnEncoder::Standard { log: true, .. } => Some(f64::NAN),
                ColumnEncoder::Standard { standard_deviation, .. } => Some(*standard_deviation),
                _ => None,
            };
            let field = |_| DenseField { column, name: field.name.clone(), scale };
            found.extend((0..encoder.dense_width()).map(field));
        }
        found
    }

    /// The cells of a sampled row, in the order of the table's columns; empty where the model says nothing.
    pub fn decode(&self, row: &SampledRow) -> Vec<String> {
        // One unit of a standardised feature is the standard deviation of its column.
        let units = if self.matrix.is_some() { Vec::new() } else { vec![1.0; row.dense.len()] };
        self.decode_within(row, &units)
    }

    /// The same, where the standard deviations of the dense features say how exactly they are known: numbers get as many digits.
    pub(crate) fn decode_within(&self, row: &SampledRow, standard_deviations: &[f64]) -> Vec<String> {
        if let Some(matrix) = &self.matrix {
            return matrix.decode_within(row, standard_deviations);
        }
        let mut cells = Vec::new();
        let (mut dense, mut sparse) = (0, 0);
        for EncodedColumn { field, encoder } in &self.columns {
            let x = row.dense.get(dense).copied().unwrap_or(f64::NAN);
            cells.push(match encoder {
                ColumnEncoder::Standard { mean, standard_deviation, log, .. } => {
                    let value = x * standard_deviation + mean;
                    let known_to = standard_deviations.get(dense).copied().unwrap_or(f64::NAN) * standard_deviation;
                    match log {
                        // The slope of the logarithm's inverse is exp(|value|).
                        true => number(value.signum() * value.abs().exp_m1(), known_to * value.abs().exp(), field.kind),
                        false => number(value, known_to, field.kind),
                    }
                }
                ColumnEncoder::YesNo { .. } if x.is_nan() => String::new(),
                ColumnEncoder::YesNo { .. } => if x > 0.5 { "yes" } else { "no" }.to_string(),
                ColumnEncoder::Codes { names, .. } if !x.is_nan() => {
                    names.values().get(x as usize).cloned().unwrap_or_default()
                }
                encoder if encoder.is_sparse() => {
                    let drawn = row.sequences.iter().find(|(first, _)| *first == sparse);
                    let name = |&place: &usize| match encoder {
                        ColumnEncoder::Words(texts) => texts.name(place),
                        _ => place.to_string(),
                    };
                    drawn.map_or_else(String::new, |(_, places)| places.iter().map(name).collect::<Vec<_>>().join(" "))
                }
                _ => String::new(),
            });
            dense += encoder.dense_width();
            sparse += encoder.sparse_width();
        }
        cells
    }
}

/// A number, whole and not below zero if the column holds counts.
fn number(x: f64, standard_deviation: f64, kind: Kind) -> String {
    match kind {
        Kind::Count if !x.is_nan() => number_text(x.round().max(0.0)),
        _ => decoded_number(x, standard_deviation),
    }
}
