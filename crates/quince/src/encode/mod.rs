//! From the columns of a table to feature vectors.
//!
//! An [`Encoder`] is learnt from the training rows alone and saved with the model. It finds its columns by name, so the
//! order of a table's columns never matters.
//!
//! | kind | features | a missing value becomes |
//! |---|---|---|
//! | number, count | (value - mean) / standard deviation | the mean, so 0 |
//! | yes/no | 0 or 1 | the more frequent answer |
//! | category | one-hot: one column per category, 1 where it is this one | the most frequent category |
//! | vector | one column per place, unchanged | nothing |
//! | text | one column per word, weighted by tf-idf (lower case; words found in two rows or more) | no word |
//!
//! A category that was not seen in training is 0 in every column; a word that was not seen is left out. A column that is
//! constant in the training rows is only centred. Matrices are not encoded ([`MatrixColumns`]). For a method that
//! takes missing values (`MissingValues::Kept`) they stay NaN in every feature of their column, unless these are sparse.
//!
//! These are the defaults: options of a table override them (`table::Encoding`, `Table::with_encoding`).
//!
//! Without the feature `tables` there are only matrices to encode, and [`Encoder`] is [`MatrixColumns`].

mod categories;
mod category_groups;
#[cfg(feature = "text")]
mod class_words;
#[cfg(feature = "tables")]
mod column;
#[cfg(feature = "tables")]
mod decode;
#[cfg(feature = "tables")]
mod encoder;
#[cfg(feature = "tables")]
mod feature_map;
mod hash;
mod impute;
mod matrix_columns;
mod monomials;
mod one_hot;
mod polynomial_features;
pub mod select;
mod statistics;
#[cfg(feature = "text")]
mod text;
#[cfg(all(feature = "tables", not(feature = "text")))]
#[path = "no_text.rs"]
mod text;

pub use categories::{Categories, Category, UNKNOWN_CATEGORY};
pub use category_groups::{CategoryGroups, RareCategories};
#[cfg(feature = "text")]
pub use class_words::{ClassWords, ColumnWords, WordFrequency, class_words};
#[cfg(feature = "tables")]
pub(crate) use decode::DenseField;
#[cfg(feature = "tables")]
pub use encoder::{Encoder, MissingValues};
pub use impute::{NeighbourWeights, knn_impute};
pub use matrix_columns::MatrixColumns;
#[cfg(not(feature = "tables"))]
pub use matrix_columns::MatrixColumns as Encoder;
pub use monomials::monomials;
pub use one_hot::{OneHot, UnknownCategories};
pub use polynomial_features::{ExpandedRows, Number, PolynomialFeatures};
pub use select::ClassCodes;
pub use statistics::{ColumnMoments, FillStatistic, fill_values};
#[cfg(feature = "tables")]
pub use text::TextEncoder;
#[cfg(feature = "text")]
pub use text::{Counts, TermNorm, TermWeights, stop_words};
