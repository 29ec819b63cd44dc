//! How every column of a table becomes features, learnt from training rows.

mod encode;
mod learn;

use super::column::ColumnEncoder;
use super::matrix_columns::MatrixColumns;
use super::monomials;
use super::text::TextEncoder;
use crate::error::{Error, Result};
use crate::learn::{Capability, MethodInfo, SavedParts};
use crate::matrix::Matrix;
use crate::table::{Field, Frequency, Kind, Pictures};
use serde::{Deserialize, Serialize};

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
#[non_exhaustive]
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
            let least = words.settings().min_document_frequency;
            let shared = least != Frequency::Rows(0) && least != Frequency::Rows(1);
            let why = if shared { " (words in few rows are left out: min-df=1 keeps them)" } else { "" };
            format!("'{name}' says nothing: no word of it is left{why}")
        })
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

/// A column of counts in training may hold any number later: both are standardised alike.
fn read_as(kind: Kind) -> Kind {
    if kind == Kind::Count { Kind::Number } else { kind }
}
