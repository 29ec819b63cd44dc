//! How every column of a table becomes features, learnt from training rows.

use super::column::ColumnEncoder;
use super::impute::{NeighbourWeights, knn_impute};
use super::matrix_columns::MatrixColumns;
use super::monomials::{self, monomials};
use super::text::TextEncoder;
use crate::error::{Error, Place, Result};
use crate::learn::{Capability, MethodInfo, SavedParts, Target, TargetView};
use crate::matrix::{Matrix, Rows, Sparse};
use crate::run::Run;
use crate::table::{Column, Encoding, Field, Frequency, Kind, Pictures, Table};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How every column of a table becomes features.
///
/// ```
/// use quince::encode::{Encoder, MissingValues};
/// use quince::{Run, Table};
/// let table = Table::from_csv("age,city\n30,Oslo\n50,Rome\n?,Oslo\n")?;
/// let encoder = Encoder::learn(&table, &Run::new())?;
/// let names: Vec<String> = encoder.feature_names().collect();
/// assert_eq!(names, ["age", "city=Oslo", "city=Rome"]);
/// let rows = encoder.encode(&table, MissingValues::Imputed, &Run::new())?;
/// // A missing value becomes the mean, which is 0 once it is standardised.
/// assert_eq!(rows.features().dense_part().unwrap().get(2, 0), 0.0);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoder {
    pub(super) columns: Vec<EncodedColumn>,
    /// For a matrix: its columns, which are not encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) matrix: Option<MatrixColumns>,
    /// The degree of polynomial features: products of up to this many numbers; 0 and 1 make none.
    #[serde(default, skip_serializing_if = "is_plain")]
    degree: usize,
    /// How the numbers were made of pictures, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pictures: Option<Pictures>,
    /// Columns stay native: see [`Encoder::fit_native`].
    #[serde(default, skip_serializing_if = "is_false")]
    native_columns: bool,
    /// The numbers of the training rows, missing values included, where missing values are imputed from the nearest rows.
    #[serde(skip)]
    donors: Option<Matrix>,
}

fn is_false(answer: &bool) -> bool {
    !answer
}

fn is_plain(degree: &usize) -> bool {
    *degree <= 1
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EncodedColumn {
    pub(super) field: Field,
    pub(super) encoder: ColumnEncoder,
}

/// What becomes of missing values.
#[doc(alias = "nan")]
#[doc(alias = "na")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingValues {
    /// They are imputed by the rule of their kind.
    Imputed,
    /// They stay, as NaN.
    Kept,
}

impl MissingValues {
    /// What a method wants.
    pub fn for_method(info: &MethodInfo) -> MissingValues {
        if info.can(Capability::MissingValues) || info.can(Capability::NativeColumns) {
            MissingValues::Kept
        } else {
            MissingValues::Imputed
        }
    }
}

impl Encoder {
    /// Learns how to encode from these rows. Ignored columns are left out; an error says why none is left.
    pub fn learn(table: &Table, run: &Run) -> Result<Encoder> {
        Ok(Encoder::fit(table, None, MissingValues::Imputed, run)?.0)
    }

    /// Learns how to encode from these rows, and encodes them. The target is only looked at where words are selected by it.
    pub fn fit(table: &Table, target: Option<&Target>, missing: MissingValues, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(false, table, target, missing, run)
    }

    /// Learns native columns, for methods that have a family for each: numbers stay unscaled, categories become their codes
    /// 0, 1, ..., words are counted, and missing values stay missing (NaN; of a text, at its first word).
    pub fn fit_native(table: &Table, target: Option<&Target>, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(true, table, target, MissingValues::Kept, run)
    }

    /// Learns how to encode for a method.
    pub fn fit_for(info: &MethodInfo, table: &Table, target: Option<&Target>, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(info.can(Capability::NativeColumns), table, target, MissingValues::for_method(info), run)
    }

    fn fit_by(
        native_columns: bool,
        table: &Table,
        target: Option<&Target>,
        missing: MissingValues,
        run: &Run,
    ) -> Result<(Encoder, Rows)> {
        let classes = match target.map(Target::view) {
            Some(TargetView::Classes { classes, codes }) => Some((codes, classes.count())),
            _ => None,
        };
        let Encoding { degree, pictures, .. } = *table.encoding();
        let mut encoder = Encoder { degree, pictures, native_columns, ..Encoder::identity(0) };
        encoder.matrix = None;
        let (mut columns, mut texts) = (Vec::new(), Vec::new());
        for column in table.columns().iter().filter(|column| column.kind() != Kind::Ignored) {
            run.check()?;
            let field = Field { name: column.name().into(), kind: column.kind() };
            let options = table.encoding().columns.get(column.name());
            let learn = if native_columns { ColumnEncoder::learn_native } else { ColumnEncoder::learn };
            let (column_encoder, rows) = learn(column, options, classes, run)?;
            encoder.columns.push(EncodedColumn { field, encoder: column_encoder });
            columns.push(column);
            texts.push(rows);
        }
        if columns.is_empty() {
            return Err(nothing_left(table));
        }
        encoder.terms()?;
        let dense = encoder.encode_dense(&columns, run)?;
        if encoder.neighbours() > 0 {
            encoder.donors = Some(encoder.numbers_of(&dense));
        }
        let rows = Rows::of(dense, encoder.encode_sparse(&columns, texts, run)?);
        let rows = encoder.impute_or_keep(rows, missing, run)?;
        Ok((encoder, rows))
    }

    /// For a matrix: its columns unchanged, called x0, x1 and so on.
    pub fn identity(columns: usize) -> Encoder {
        Encoder {
            columns: Vec::new(),
            matrix: Some(MatrixColumns::identity(columns)),
            degree: 1,
            pictures: None,
            native_columns: false,
            donors: None,
        }
    }

    /// For a matrix whose columns have names: its columns unchanged.
    pub fn identity_of(names: Vec<String>) -> Encoder {
        Encoder { matrix: Some(MatrixColumns::identity_of(names)), ..Encoder::identity(0) }
    }

    /// Whether features are the columns of a matrix, unchanged.
    pub fn is_identity(&self) -> bool {
        self.matrix.is_some()
    }

    /// How the numbers were made of pictures, if they were.
    pub fn pictures(&self) -> Option<Pictures> {
        self.pictures
    }

    /// How many columns a table must have.
    pub fn columns(&self) -> usize {
        self.matrix.as_ref().map_or(self.columns.len(), MatrixColumns::columns)
    }

    /// Names and kinds of the columns that a table must have. A small file may claim very many: they are made one by one.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        let of_matrix = self.matrix.iter().flat_map(MatrixColumns::column_names);
        let of_matrix = of_matrix.map(|name| Field { name, kind: Kind::Number });
        of_matrix.chain(self.columns.iter().map(|column| column.field.clone()))
    }

    /// The names of the columns that a table must have.
    pub fn column_names(&self) -> impl Iterator<Item = String> + '_ {
        self.fields().map(|field| field.name)
    }

    /// The kind that a column of this name had in training, if the encoder uses it.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        match &self.matrix {
            None => {
                self.columns.iter().find(|column| column.field.name == name).map(|column| read_as(column.field.kind))
            }
            Some(matrix) => matrix.has(name).then_some(Kind::Number),
        }
    }

    /// How many features come out.
    pub fn width(&self) -> usize {
        let sparse = |column: &EncodedColumn| column.encoder.sparse_width();
        match &self.matrix {
            Some(matrix) => matrix.width(),
            None => self.dense_width() + self.columns.iter().map(sparse).sum::<usize>(),
        }
    }

    /// The names of the features, dense ones first: `age`, `city=Oslo`, `age^2`, `review: good`. A small file may claim very
    /// many: they are made one by one.
    pub fn feature_names(&self) -> impl Iterator<Item = String> + '_ {
        let of_matrix = self.matrix.iter().flat_map(MatrixColumns::feature_names);
        let dense = || {
            self.columns.iter().flat_map(|EncodedColumn { field, encoder }| {
                let names = (!encoder.is_sparse()).then(|| encoder.names(&field.name));
                let missing = encoder.has_missing_indicator().then(|| format!("{} is missing", field.name));
                names.into_iter().flatten().chain(missing)
            })
        };
        let sparse = self.columns.iter().filter(|column| column.encoder.is_sparse());
        let terms = self.terms().unwrap_or_default();
        let numbers: Vec<String> = match terms.is_empty() {
            true => Vec::new(),
            false => {
                let names: Vec<String> = dense().collect();
                self.number_places().map(|place| names[place].clone()).collect()
            }
        };
        let products = terms.into_iter().map(move |term| monomials::name(&term, &numbers));
        let sparse = sparse.flat_map(|EncodedColumn { field, encoder }| encoder.names(&field.name));
        of_matrix.chain(dense()).chain(products).chain(sparse)
    }

    /// Of columns of texts: name and encoder.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &TextEncoder)> {
        self.columns.iter().filter_map(|column| match &column.encoder {
            ColumnEncoder::Words(encoder) => Some((column.field.name.as_str(), encoder)),
            _ => None,
        })
    }

    /// What a user should know: columns of texts of which no word is left.
    pub fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        let empty = self.texts().filter(|(_, words)| words.width() == 0);
        empty.map(|(name, words)| {
            let shared = words.settings().least != Frequency::Rows(0) && words.settings().least != Frequency::Rows(1);
            let why = if shared { " (words in few rows are left out: least=1 keeps them)" } else { "" };
            format!("'{name}' says nothing: no word of it is left{why}")
        })
    }

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
    fn impute_or_keep(&self, rows: Rows, missing: MissingValues, run: &Run) -> Result<Rows> {
        match missing {
            MissingValues::Imputed => self.imputed(&rows, run),
            MissingValues::Kept if self.columns.iter().any(|column| column.encoder.always_imputed()) => {
                self.impute(&rows, ColumnEncoder::always_imputed, run)
            }
            MissingValues::Kept => Ok(rows),
        }
    }

    fn encode_dense(&self, columns: &[&Column], run: &Run) -> Result<Matrix> {
        let rows = columns.first().map_or(0, |column| column.rows());
        let mut dense = Matrix::zeros(rows, self.dense_width());
        let mut first = 0;
        for (EncodedColumn { encoder, .. }, column) in self.columns.iter().zip(columns) {
            run.check()?;
            encoder.encode_dense(column, first, &mut dense);
            first += encoder.dense_width();
        }
        self.multiply_out(&mut dense)?;
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
            let width = encoder.dense_width();
            if width > 0 && wanted(encoder) {
                (0..dense.rows()).for_each(|i| encoder.fill(&mut dense.row_mut(i)[first..first + width]));
            }
            first += width;
        }
        self.multiply_out(&mut dense)?;
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
    fn numbers_of(&self, dense: &Matrix) -> Matrix {
        let places: Vec<usize> = self.standard_places().collect();
        let mut numbers = Matrix::zeros(dense.rows(), places.len());
        for i in 0..dense.rows() {
            places.iter().enumerate().for_each(|(k, &place)| numbers[(i, k)] = dense[(i, place)]);
        }
        numbers
    }

    /// The number of nearest rows that missing values are imputed from; zero if none are.
    fn neighbours(&self) -> usize {
        self.columns.iter().map(|column| column.encoder.neighbours()).max().unwrap_or(0)
    }

    /// Writes the products of numbers after all other dense features.
    fn multiply_out(&self, dense: &mut Matrix) -> Result<()> {
        let terms = self.terms()?;
        let (places, first) = (self.number_places().collect::<Vec<_>>(), self.dense_width() - terms.len());
        for i in 0..if terms.is_empty() { 0 } else { dense.rows() } {
            let numbers: Vec<f64> = places.iter().map(|&place| dense[(i, place)]).collect();
            terms.iter().enumerate().for_each(|(t, term)| dense[(i, first + t)] = monomials::product(&numbers, term));
        }
        Ok(())
    }

    /// The products of numbers that are features.
    pub(super) fn terms(&self) -> Result<Vec<Vec<u32>>> {
        if is_plain(&self.degree) {
            return Ok(Vec::new());
        }
        monomials(self.number_places().count(), 2..=self.degree, false)
    }

    /// Where among the dense features the single numbers are.
    fn number_places(&self) -> impl Iterator<Item = usize> {
        self.dense_places(ColumnEncoder::is_number)
    }

    fn standard_places(&self) -> impl Iterator<Item = usize> {
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

    fn encode_sparse(&self, columns: &[&Column], known: Vec<Option<Sparse>>, run: &Run) -> Result<Option<Sparse>> {
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

    fn dense_width(&self) -> usize {
        let of_columns: usize = self.columns.iter().map(|column| column.encoder.dense_width()).sum();
        of_columns + self.terms().map_or(0, |terms| terms.len())
    }

    /// Whether everything in a loaded encoder fits together.
    pub(crate) fn is_sound(&self) -> bool {
        let numbers = self.standard_places().count();
        self.columns.iter().all(|column| column.encoder.is_sound())
            && self.matrix.as_ref().is_none_or(|matrix| self.columns.is_empty() && matrix.is_sound())
            && self.terms().is_ok()
            && self.pictures.is_none_or(|pictures| pictures.check().is_ok())
            && self.donors.as_ref().map_or(self.neighbours() == 0, |donors| donors.columns() == numbers)
    }

    /// The rows that missing values are imputed from, which serde leaves out because they are many numbers.
    pub fn donors(&self) -> Option<&Matrix> {
        self.donors.as_ref()
    }

    /// An encoder that serde has read, with the rows that missing values are imputed from; an error if they do not fit together.
    pub fn with_donors(mut self, donors: Option<Matrix>) -> Result<Encoder> {
        self.donors = donors;
        if self.is_sound() {
            return Ok(self);
        }
        Err(Error::data("the parts of the encoder do not fit together", "Learn it again from the table."))
    }

    /// Saves vocabularies, their weights, and the rows to impute missing values from as arrays; the encoder that is left goes into
    /// the header.
    // Without the feature `text` no encoder of texts exists, and the compiler knows it.
    #[cfg_attr(not(feature = "text"), allow(unreachable_code))]
    pub(crate) fn save_arrays(&self, parts: &mut SavedParts<'_>) -> Encoder {
        if let Some(donors) = &self.donors {
            parts.put_matrix("donors", donors);
        }
        let mut columns = Vec::new();
        for (k, EncodedColumn { field, encoder }) in self.columns.iter().enumerate() {
            let encoder = match encoder {
                ColumnEncoder::Words(texts) => {
                    ColumnEncoder::Words(texts.save_arrays(&format!("vocabulary.{k}"), parts))
                }
                other => other.clone(),
            };
            columns.push(EncodedColumn { field: field.clone(), encoder });
        }
        let Encoder { matrix, degree, pictures, native_columns, .. } = self;
        Encoder {
            columns,
            matrix: matrix.clone(),
            degree: *degree,
            pictures: *pictures,
            native_columns: *native_columns,
            donors: None,
        }
    }

    /// Takes back what is saved as arrays.
    pub(crate) fn load_arrays(&mut self, parts: &mut SavedParts<'_>) -> Result<()> {
        for (k, column) in self.columns.iter_mut().enumerate() {
            if let ColumnEncoder::Words(texts) = &mut column.encoder {
                texts.load_arrays(&format!("vocabulary.{k}"), parts)?;
            }
        }
        if parts.has("donors") {
            self.donors = Some(parts.take_matrix("donors", None)?);
        }
        Ok(())
    }
}

fn nothing_left(table: &Table) -> Error {
    let reasons: Vec<String> =
        table.columns().iter().map(|c| format!("'{}' ({})", c.name(), c.why_ignored())).collect();
    let reasons = if reasons.is_empty() { "there is none".into() } else { reasons.join(", ") };
    Error::table(
        Place { file: table.source_name(), ..Place::default() },
        format!("no usable column is left to learn from: {reasons}"),
        "Give another kind to a column that should count, for example number.",
    )
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

/// A column of counts in training may hold any number later: both are standardised alike.
fn read_as(kind: Kind) -> Kind {
    if kind == Kind::Count { Kind::Number } else { kind }
}
