//! The group of each row, and how well it fits there: what a prediction says of the group alone.

use super::{Model, Queries};
use crate::error::{Error, Result};
use crate::learn::{Prediction, Task};
use crate::matrix::Matrix;
use crate::run::Run;

/// The group of each row (a cluster, a component or novelty), and numbers that say how well the row fits there. It holds a few numbers per
/// row, however many groups there are; a [`Prediction`] holds one per row and group.
///
/// ```
/// use quince::prelude::*;
/// let model = KMeans::new(2).fit_unsupervised(&[[1.0], [2.0], [9.0]])?;
/// let members = model.members(&[[8.0], [1.0]], &Run::new())?;
/// assert_eq!((&members.labels[..], members.groups), (&[1, 0][..], 2));
/// assert_eq!(members.fit, [("distance", vec![1.0, 0.5])]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    /// The group of each row, counted from 0; of novelty 1 for novel rows.
    pub labels: Vec<u32>,
    /// The number of groups.
    pub groups: usize,
    /// Whether the groups are novel rows and others.
    pub novelty: bool,
    /// Named numbers for each row: its distance from the centre of its cluster; or the responsibility of its component and its log density;
    /// or its novelty score.
    pub fit: Vec<(&'static str, Vec<f64>)>,
}

impl Members {
    /// What a prediction says of groups; an error if it has none.
    pub fn of(prediction: &Prediction) -> Result<Members> {
        let labels = prediction.labels();
        let own = |all: &Matrix| -> Result<Vec<f64>> {
            let at = |(i, &own): (usize, &u32)| all.row(i).get(own as usize).copied();
            labels.iter().enumerate().map(at).collect::<Option<_>>().ok_or_else(|| {
                Error::data("a row is of a cluster that there is not", "Give a prediction of one model.")
            })
        };
        let (groups, novelty, fit) = match prediction {
            Prediction::Clusters { distances, .. } => (distances.columns(), false, vec![("distance", own(distances)?)]),
            Prediction::Responsibilities { responsibilities, log_densities } => {
                let fit = vec![("responsibility", own(responsibilities)?), ("log_density", log_densities.clone())];
                (responsibilities.columns(), false, fit)
            }
            Prediction::Novelty { scores } => (2, true, vec![("score", scores.clone())]),
            Prediction::Classes { .. } | Prediction::Numbers(_) => {
                return Err(Error::data("the prediction has no clusters", "Ask a model that finds clusters."));
            }
        };
        Ok(Members { labels, groups, novelty, fit })
    }
}

impl Model {
    /// The group of each row, in memory that does not grow with the number of groups where they are clusters about centres.
    pub fn members(&self, rows: &(impl Queries + ?Sized), run: &Run) -> Result<Members> {
        if self.task == Task::Clustering {
            let input = rows.encoded_for(self, run)?;
            let found = self.fitted.clusters(&input.features(), run)?;
            // A prediction says what is wrong with rows that are infinitely far away.
            if let Some((labels, distances)) = found.filter(|found| found.1.iter().all(|d| d.is_finite())) {
                let fit = vec![("distance", distances)];
                return Ok(Members { labels, groups: self.fitted.groups(), novelty: false, fit });
            }
        }
        Members::of(&self.predict_with(rows, run)?)
    }
}
