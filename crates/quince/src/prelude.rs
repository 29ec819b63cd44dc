//! What most programs need: `use quince::prelude::*;`.

pub use crate::baseline::Baseline;
pub use crate::bayes::{GaussianClassifier, NaiveBayes, NearestCentroid};
pub use crate::cluster::KMeans;
pub use crate::error::{Error, Result};
pub use crate::learn::{Learner, Prediction, Target, ToFeatures, ToTarget};
pub use crate::linear::{LeastSquares, Ridge};
pub use crate::margin::{LinearSvm, OneClassSvm, Svm};
pub use crate::matrix::{Matrix, Sparse};
pub use crate::mixture::Mixture;
pub use crate::model::{Fit, Model};
pub use crate::neighbours::Knn;
pub use crate::registry::Registry;
pub use crate::run::Run;
#[cfg(feature = "tables")]
pub use crate::table::Table;
