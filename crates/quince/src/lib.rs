//! Classical machine learning for real tables: numbers, counts, categories, texts and missing values.
//!
//! ```
//! use quince::{Model, Run, Table, linear::Ridge};
//!
//! let table = Table::from_csv("height,weight,sex\n181,80,m\n165,55,f\n178,?,m\n170,60,f\n")?;
//! let model = Model::train(&table, "sex", &Ridge::default())?;
//! assert_eq!(model.labels::<String>(&table)?, ["m", "f", "m", "f"]);
//! # quince::Result::Ok(())
//! ```
//!
//! A [`Table`] is read from a file and knows the kind of every column. [`Model::train`] takes the target out, learns an
//! [`encode::Encoder`] from the other columns, fits a method to the features, and returns all of it as one [`Model`], to
//! predict with and to save. A [`Run`] carries seed, threads, budget and cancellation. [`evaluate::compare`] ranks
//! methods, and [`registry::METHODS`] lists them. Numeric data goes in as a [`Matrix`] or a
//! [`matrix::Sparse`] with [`Model::fit_features`].
//!
//! Same data, settings, seed and version: the same bits, on one thread or on many.

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
pub mod table;

pub use error::{Error, Place, Result};
pub use matrix::Matrix;
pub use model::Model;
pub use run::Run;
pub use table::{Kind, Table};
