//! Encoding rows: columns found by name, dense and sparse features, products of numbers, imputed missing values.

use super::{EncodedColumn, Encoder, MissingValues, is_plain, read_as};
use crate::encode::column::{ColumnEncoder, pieces};
use crate::encode::impute::{NeighbourWeights, knn_impute};
use crate::encode::monomials::{self, monomials};
use crate::error::{Error, Place, Result};
use crate::matrix::{Matrix, Rows, Sparse};
use crate::run::Run;
use crate::table::{Column, Field, Table};
use std::collections::HashMap;

/// How many products of numbers are made between two looks at the clock.
const PRODUCTS_PER_CHECK: usize = 1 << 20;

impl Encoder {
    /// The features of a table's rows. Columns are found by name and read as the kind they had in training.
    pub fn encode(&self, table: &Table, missing: MissingValues, run: &Run) -> Result<Rows> {
        let columns = self.align(table)?;
        if self.is_identity() {
            return matrix_rows(&columns, table, missing);
        }
        let columns: Vec<&Column> = columns.iter().collect();
        let dense = self.encode_dense(&columns, run)?;
        let rows = Rows::of(dense, self.encode_sparse(&columns, vec![None; columns.len()], run)?);
        self.impute_or_keep(rows, missing, run)
    }

    /// Imputes all missing values, or only those of columns whose options ask for it whatever the method.
    pub(super) fn impute_or_keep(&self, rows: Rows, missing: MissingValues, run: &Run) -> Result<Rows> {
        match missing {
            MissingValues::Imputed => self.imputed(&rows, run),
            MissingValues::Kept if self.columns.iter().any(|column| column.encoder.always_imputed()) => {
                self.impute(&rows, ColumnEncoder::always_imputed, run)
            }
            MissingValues::Kept => Ok(rows),
        }
    }

    pub(super) fn encode_dense(&self, columns: &[&Column], run: &Run) -> Result<Matrix> {
        let rows = columns.first().map_or(0, |column| column.rows());
        let mut dense = Matrix::zeros(rows, self.dense_width());
        let mut first = 0;
        for (EncodedColumn { encoder, .. }, column) in self.columns.iter().zip(columns) {
            for some in pieces(rows) {
                run.check()?;
                encoder.encode_dense(column, some, first, &mut dense);
            }
            first += encoder.dense_width();
        }
        self.multiply_out(&mut dense, run)?;
        Ok(dense)
    }

    /// Rows that were encoded with their missing values kept, now imputed.
    pub fn imputed(&self, rows: &Rows, run: &Run) -> Result<Rows> {
        self.impute(rows, |_| true, run)
    }

    /// Imputes the missing values of some columns.
    fn impute(&self, rows: &Rows, wanted: impl Fn(&ColumnEncoder) -> bool, run: &Run) -> Result<Rows> {
        let mut dense = rows.dense().clone();
        if let Some(donors) = &self.donors {
            self.impute_from(donors, &mut dense, run)?;
        }
        let mut first = 0;
        for EncodedColumn { encoder, .. } in &self.columns {
            run.check()?;
            let width = encoder.dense_width();
            if width > 0 && wanted(encoder) {
                (0..dense.rows()).for_each(|i| encoder.fill(&mut dense.row_mut(i)[first..first + width]));
            }
            first += width;
        }
        self.multiply_out(&mut dense, run)?;
        Ok(rows.with_dense(dense))
    }

    /// Imputes the missing values of columns whose options ask for it from the nearest rows.
    fn impute_from(&self, donors: &Matrix, dense: &mut Matrix, run: &Run) -> Result<()> {
        let number = |column: &&EncodedColumn| matches!(column.encoder, ColumnEncoder::Standard { .. });
        let encoders: Vec<&ColumnEncoder> = self.columns.iter().filter(number).map(|column| &column.encoder).collect();
        let otherwise: Vec<f64> = encoders.iter().map(|encoder| encoder.imputed_value()).collect();
        let mut numbers = self.numbers_of(dense);
        knn_impute(&mut numbers, donors, (self.neighbours(), NeighbourWeights::Uniform), &otherwise, run)?;
        for (k, place) in self.standard_places().enumerate().filter(|(k, _)| encoders[*k].neighbours() > 0) {
            (0..dense.rows()).for_each(|i| dense[(i, place)] = numbers[(i, k)]);
        }
        Ok(())
    }

    /// The numbers among the dense features, one beside the other.
    pub(super) fn numbers_of(&self, dense: &Matrix) -> Matrix {
        let places: Vec<usize> = self.standard_places().collect();
        let mut numbers = Matrix::zeros(dense.rows(), places.len());
        for i in 0..dense.rows() {
            places.iter().enumerate().for_each(|(k, &place)| numbers[(i, k)] = dense[(i, place)]);
        }
        numbers
    }

    /// The number of nearest rows that missing values are imputed from; zero if none are.
    pub(super) fn neighbours(&self) -> usize {
        self.columns.iter().map(|column| column.encoder.neighbours()).max().unwrap_or(0)
    }

    /// Writes the products of numbers after all other dense features.
    fn multiply_out(&self, dense: &mut Matrix, run: &Run) -> Result<()> {
        let terms = self.terms()?;
        let (places, first) = (self.number_places().collect::<Vec<_>>(), self.dense_width() - terms.len());
        let step = (PRODUCTS_PER_CHECK / terms.len().max(1)).max(1);
        for i in 0..if terms.is_empty() { 0 } else { dense.rows() } {
            if i.is_multiple_of(step) {
                run.check()?;
            }
            let numbers: Vec<f64> = places.iter().map(|&place| dense[(i, place)]).collect();
            terms.iter().enumerate().for_each(|(t, term)| dense[(i, first + t)] = monomials::product(&numbers, term));
        }
        Ok(())
    }

    /// The products of numbers that are features.
    pub(in crate::encode) fn terms(&self) -> Result<Vec<Vec<u32>>> {
        if is_plain(&self.degree) {
            return Ok(Vec::new());
        }
        monomials(self.number_places().count(), 2..=self.degree, false)
    }

    /// Where among the dense features the single numbers are.
    pub(super) fn number_places(&self) -> impl Iterator<Item = usize> {
        self.dense_places(ColumnEncoder::is_number)
    }

    pub(super) fn standard_places(&self) -> impl Iterator<Item = usize> {
        self.dense_places(|encoder| matches!(encoder, ColumnEncoder::Standard { .. }))
    }

    fn dense_places(&self, wanted: impl Fn(&ColumnEncoder) -> bool) -> impl Iterator<Item = usize> {
        let mut next = 0;
        self.columns.iter().filter_map(move |column| {
            let place = next;
            next += column.encoder.dense_width();
            wanted(&column.encoder).then_some(place)
        })
    }

    pub(super) fn encode_sparse(
        &self,
        columns: &[&Column],
        known: Vec<Option<Sparse>>,
        run: &Run,
    ) -> Result<Option<Sparse>> {
        let mut parts = Vec::new();
        for ((EncodedColumn { encoder, .. }, column), known) in self.columns.iter().zip(columns).zip(known) {
            run.check()?;
            let part = if known.is_some() { known } else { encoder.encode_sparse(column, run)? };
            let marked = self.native_columns && matches!(encoder, ColumnEncoder::Words(_));
            parts.extend(part.map(|part| if marked { part.with_missing(|i| column.is_missing(i)) } else { part }));
        }
        Ok((!parts.is_empty()).then(|| Sparse::side_by_side(parts)))
    }

    /// The columns that the encoder knows, in its order and with its kinds.
    fn align(&self, table: &Table) -> Result<Vec<Column>> {
        // A file may claim any number of columns: look before listing their names.
        if self.is_identity() && self.columns() > table.columns().len() {
            return Err(Error::table(
                Place { file: table.source_name(), ..Place::default() },
                format!("the table has {} columns, the model takes {}", table.columns().len(), self.width()),
                "Give the table the same columns as in training, in any order (empty cells are fine).",
            ));
        }
        let fields: Vec<Field> = self.fields().collect();
        let there: HashMap<&str, &Column> = table.columns().iter().map(|column| (column.name(), column)).collect();
        let missing: Vec<&Field> = fields.iter().filter(|field| !there.contains_key(field.name.as_str())).collect();
        if !missing.is_empty() {
            let (noun, verb) = if missing.len() == 1 { ("column", "is") } else { ("columns", "are") };
            let shown: Vec<String> = missing.iter().take(8).map(|field| format!("'{}'", field.name)).collect();
            let more = if missing.len() > 8 { format!(" and {} more", missing.len() - 8) } else { String::new() };
            return Err(Error::table(
                Place { file: table.source_name(), ..Place::default() },
                format!("the {noun} {}{more} that the model was trained on {verb} missing", shown.join(", ")),
                "Give the table the same columns as in training, in any order (empty cells are fine).",
            ));
        }
        fields.iter().map(|field| there[field.name.as_str()].as_kind(read_as(field.kind), table)).collect()
    }
}

/// The numbers of columns that stand for the columns of a matrix, which has no rule for missing values.
fn matrix_rows(columns: &[Column], table: &Table, missing: MissingValues) -> Result<Rows> {
    let mut dense = Matrix::zeros(table.rows(), columns.len());
    for (j, column) in columns.iter().enumerate() {
        for i in 0..table.rows() {
            let kept = (missing == MissingValues::Kept).then_some(f64::NAN);
            dense[(i, j)] = column.number(i).or(kept).ok_or_else(|| {
                Error::table(
                    table.place(i, column.name()),
                    "a missing value where the model needs a number",
                    "Impute it first: a model trained on a matrix has no rule for missing values.",
                )
            })?;
        }
    }
    Ok(Rows::of(dense, None))
}
