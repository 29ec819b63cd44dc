//! Kernels: similarities of two rows that are inner products in an implicit feature space.
//!
//! ```text
//! linear       x·y
//! polynomial   (γ x·y + c)^p
//! rbf          exp(-γ ‖x - y‖²)
//! sigmoid      tanh(γ x·y + c)
//! precomputed  the features of a row are its kernel with every training row
//! ```
//!
//! All but the last are functions of inner products, so a block of kernel rows is one matrix product, whose results become kernels
//! while they are still in registers (`rows.rs`).

mod fill;
mod function;
mod rows;
mod space;
mod sparse;
mod sum;

pub(super) use rows::KernelRows;
pub(super) use space::KernelSpace;

use crate::error::Result;
use crate::learn::{IntoSetting, PlainValue, SettingValue};
use crate::matrix::Features;
use crate::run::Run;
use function::Function;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A kernel with its parameters.
///
/// ```
/// use quince::margin::Kernel;
/// let kernel = Kernel::Polynomial { gamma: 1.0, constant: 1.0, degree: 2 };
/// assert_eq!(kernel.of(&[1.0, 2.0], &[3.0, 1.0]), 36.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name", deny_unknown_fields)]
#[non_exhaustive]
pub enum Kernel {
    /// x·y
    Linear,
    /// (γ x·y + c)^p
    Polynomial {
        /// Factor γ of the inner product or the squared distance.
        gamma: f64,
        /// Constant term c.
        constant: f64,
        /// Power p.
        degree: u32,
    },
    /// exp(-γ ‖x - y‖²)
    Rbf {
        /// Factor γ of the inner product or the squared distance.
        gamma: f64,
    },
    /// tanh(γ x·y + c)
    Sigmoid {
        /// Factor γ of the inner product or the squared distance.
        gamma: f64,
        /// Constant term c.
        constant: f64,
    },
    /// The features of a row are its kernel with every training row.
    Precomputed,
}

impl Kernel {
    /// The kernel of two rows, by its definition.
    ///
    /// # Panics
    /// If one row is longer than the other.
    pub fn of(&self, x: &[f64], y: &[f64]) -> f64 {
        assert_eq!(x.len(), y.len(), "the rows of a kernel have the same columns");
        let product: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        match *self {
            Kernel::Linear => product,
            Kernel::Polynomial { gamma, constant, degree } => {
                (gamma * product + constant).powi(degree.min(i32::MAX as u32) as i32)
            }
            Kernel::Rbf { gamma } => (-gamma * x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()).exp(),
            Kernel::Sigmoid { gamma, constant } => (gamma * product + constant).tanh(),
            Kernel::Precomputed => f64::NAN,
        }
    }

    /// Whether its values are at most one, so that single precision loses nothing that matters.
    pub(super) fn is_bounded(&self) -> bool {
        matches!(self, Kernel::Rbf { .. } | Kernel::Sigmoid { .. })
    }

    /// The kernel of a row with itself, which needs its squared norm alone.
    pub(super) fn of_itself(&self, squared_norm: f64) -> f64 {
        match *self {
            Kernel::Linear | Kernel::Precomputed => squared_norm,
            Kernel::Polynomial { gamma, constant, degree } => {
                (gamma * squared_norm + constant).powi(degree.min(i32::MAX as u32) as i32)
            }
            Kernel::Rbf { .. } => 1.0,
            Kernel::Sigmoid { gamma, constant } => (gamma * squared_norm + constant).tanh(),
        }
    }

    /// γ of an RBF kernel; zero for others.
    fn rbf_gamma(&self) -> f64 {
        if let Kernel::Rbf { gamma } = self { *gamma } else { 0.0 }
    }
}

/// Coefficient γ of a kernel: a number, or derived from the features.
///
/// ```
/// use quince::margin::Gamma;
/// use quince::prelude::Svm;
/// assert_eq!((Svm::new().gamma(0.5).gamma, Svm::new().gamma), (Gamma::Fixed(0.5), Gamma::Scale));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Gamma {
    /// 1 / (number of features · variance of all values): independent of their unit.
    #[default]
    Scale,
    /// 1 / number of features.
    Auto,
    /// This number.
    Fixed(f64),
}

impl Gamma {
    /// γ for these rows.
    pub(super) fn of(self, rows: &Features<'_>, run: &Run) -> Result<f64> {
        let columns = rows.columns().max(1) as f64;
        Ok(match self {
            Gamma::Fixed(gamma) => gamma,
            Gamma::Auto => 1.0 / columns,
            Gamma::Scale => {
                // The variance of all values together, zeros that are not stored included, about a point near their mean.
                let centre = rows.means(None, run)?.iter().sum::<f64>() / columns;
                let about = vec![centre; rows.columns()];
                let squares: f64 = rows.centred(&about).row_norms(run)?.iter().sum();
                let variance = squares / (columns * rows.rows() as f64);
                if variance > 0.0 { 1.0 / (columns * variance) } else { 1.0 }
            }
        })
    }
}

impl SettingValue for Gamma {
    fn plain(&self) -> PlainValue<'_> {
        match self {
            Gamma::Fixed(gamma) => gamma.plain(),
            Gamma::Scale => PlainValue::Text("scale".into()),
            Gamma::Auto => PlainValue::Text("auto".into()),
        }
    }
}

impl IntoSetting<Gamma> for Gamma {
    fn into_setting(self) -> Gamma {
        self
    }
}

impl IntoSetting<Gamma> for f64 {
    fn into_setting(self) -> Gamma {
        Gamma::Fixed(self)
    }
}

impl TryFrom<Value> for Gamma {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Gamma, String> {
        match value.as_f64() {
            Some(gamma) => Ok(Gamma::Fixed(gamma)),
            None if value == "scale" => Ok(Gamma::Scale),
            None if value == "auto" => Ok(Gamma::Auto),
            None => Err(format!("{value} is neither a number nor scale nor auto")),
        }
    }
}

impl From<Gamma> for Value {
    fn from(gamma: Gamma) -> Value {
        match gamma {
            Gamma::Scale => Value::from("scale"),
            Gamma::Auto => Value::from("auto"),
            Gamma::Fixed(gamma) => Value::from(gamma),
        }
    }
}
