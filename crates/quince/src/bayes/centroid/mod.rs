//! Nearest centroid: a row is of the class whose centroid is nearest (Tibshirani and others 2002, with shrunken centroids).
//!
//! ```text
//! d(x, k) = ‖x - c_k‖₂  or  ‖x - c_k‖₁        c_k the mean of a class, or its median
//! ```
//!
//! Where classes are not equally probable, a distance is measured in standard deviations within the classes and weighed
//! against the prior: the score is 2 ln P(k) - d(x / s, c_k / s)². Probabilities are the softmax of that score, whatever the
//! priors; so a label by distances alone need not be the most probable class.

mod fit;
mod model;

pub use model::CentroidModel;

use super::Priors;
use crate::error::Result;
use crate::learn::{Capability, Checked, Domain, Learner, MethodInfo, Settings};
use crate::run::{Report, Run};

crate::settings! {
    /// The class with the nearest centroid.
    ///
    /// ```
    /// use quince::bayes::NearestCentroid;
    /// use quince::prelude::*;
    /// let rows = [[-1.0, -1.0], [-2.0, 0.0], [1.0, 1.0], [2.0, 0.0]];
    /// let model = NearestCentroid::new().fit(&rows, &["a", "a", "b", "b"])?;
    /// assert_eq!(model.labels::<String>(&[[-0.8, -1.0]])?, ["a"]);
    /// # quince::Result::Ok(())
    /// ```
    pub struct NearestCentroid {
        /// The distance from a centroid; with manhattan, centroids are medians rather than means.
        metric: CentroidMetric = CentroidMetric::Euclidean, in CentroidMetric::DOMAIN;
        /// Move centroids towards the mean of all rows by this many standard deviations, feature by feature, and not
        /// beyond.
        shrink: f64 = 0.0, in Domain::Number(0.0, f64::MAX);
        /// Class priors: data, equal, or a number for each, for example 0.2,0.8.
        priors: Priors = Priors::Equal, in Domain::Parsed(Priors::PARSER);
    }
}

crate::choices! {
    /// The distance from a centroid.
    pub enum CentroidMetric {
        /// The square root of the sum of squared differences; a centroid is a mean.
        #[default]
        Euclidean = "euclidean",
        /// The sum of absolute differences; a centroid is a median.
        Manhattan = "manhattan",
    }
}

impl Learner for NearestCentroid {
    type Fitted = CentroidModel;

    const INFO: MethodInfo = MethodInfo {
        name: "nearest-centroid",
        title: "Nearest centroid",
        summary: "The class whose mean, or median, is nearest; centroids may be shrunken towards the mean of all rows.",
        capabilities: &[Capability::Classify, Capability::SampleWeights, Capability::Sparse, Capability::OnRequest],
        settings: Self::SETTINGS,
        python: &["NearestCentroid"],
    };

    /// Distances in medians come from no distribution.
    fn has_probabilities(&self) -> bool {
        self.metric == CentroidMetric::Euclidean
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(CentroidModel, Report)> {
        self.learn(examples, run)
    }
}
