//! Classical machine learning for real tables: numbers, counts, categories, texts and missing values.
//!
//! ```
//! use quince::prelude::*;
//!
//! let rows = [[1.62, 51.0], [1.71, 64.0], [1.80, 80.0], [1.93, 95.0]];
//! let model = Svm::new().c(10.0).fit(&rows, &["f", "f", "m", "m"])?;
//! assert_eq!(model.labels::<String>(&[[1.65, 55.0], [1.88, 90.0]])?, ["f", "m"]);
//! # quince::Result::Ok(())
//! ```
//!
//! Rows of numbers need nothing more. Tables as people have them, with categories and missing values, come with the feature
//! `tables`:
//!
#![cfg_attr(feature = "tables", doc = "```")]
#![cfg_attr(not(feature = "tables"), doc = "```ignore")]
//! use quince::{Model, Table, linear::Ridge};
//!
//! let table = Table::from_csv("height,weight,sex\n181,80,m\n165,55,f\n178,?,m\n170,60,f\n")?;
//! let model = Model::train(&table, "sex", &Ridge::default())?;
//! assert_eq!(model.labels::<String>(&table)?, ["m", "f", "m", "f"]);
//! # quince::Result::Ok(())
//! ```
//!
//! | feature | what comes with it |
//! |---|---|
//! | none | methods, metrics and models on rows of numbers: [`Matrix`], [`matrix::Sparse`], arrays, vectors |
//! | `ndarray` | arrays of `ndarray` as rows and targets |
//! | `save` | [`Model::save`] and [`Model::load`] |
//! | `tables` | [`Table`] (CSV, JSON lines, ARFF, LIBSVM), encoders, [`evaluate::compare`] and curves |
//! | `text` | columns of texts; it brings `tables`, as all below do |
//! | `arrow` | tables from Arrow record batches |
//! | `parquet` | Parquet files; this one needs a C compiler |
//! | `images` | folders of pictures |
//!
//! A [`Table`] is read from a file and knows the kind of every column. [`Model::train`] takes the target out, learns an
//! [`encode::Encoder`] from the other columns, fits a method to the features, and returns all of it as one [`Model`], to
//! predict with and to save. A [`Run`] carries seed, threads, budget and cancellation. [`evaluate::compare`] ranks
//! methods, and [`registry::METHODS`] lists them. Numeric data goes in as a [`Matrix`] or a
//! [`matrix::Sparse`] with [`Model::fit_features`].
//!
//! Same data, settings, seed and version: the same bits, on one thread or on many.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Lower modules hold what only tables, texts and files need: a build without them would call it dead.
#![cfg_attr(not(all(feature = "save", feature = "text")), allow(dead_code, unused_imports))]

// What the macros of settings write names the crate as a user does.
extern crate self as quince;
#[doc(hidden)]
pub use serde;

pub mod baseline;
pub mod bayes;
mod calibration;
pub mod cluster;
mod em;
pub mod encode;
mod error;
pub mod evaluate;
pub mod explain;
pub mod family;
pub mod learn;
pub mod linear;
pub mod margin;
pub mod matrix;
pub mod mixture;
pub mod model;
pub mod neighbours;
pub mod numbers;
mod passes;
pub mod prelude;
pub mod registry;
pub mod run;
#[cfg(feature = "tables")]
pub mod table;

pub use error::{Error, Place, Result};
pub use matrix::Matrix;
pub use model::Model;
pub use run::Run;
#[cfg(feature = "tables")]
pub use table::{Kind, Table};
