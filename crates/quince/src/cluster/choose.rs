//! Choosing the number of clusters: silhouette and elbow.

use super::init::sample_indices;
use super::silhouette::silhouette;
use super::{Clustering, KMeans};
use crate::error::{Error, Result};
use crate::learn::Count;
use crate::matrix::Features;
use crate::run::{Run, StopReason};
use serde::Serialize;

/// The largest number of clusters that is tried.
const MAX_CLUSTERS: usize = 10;
/// The largest number of rows whose silhouettes are computed; of more, this many are sampled.
const MAX_SILHOUETTE_ROWS: usize = 2000;

/// The result with one number of clusters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterCountCandidate {
    /// The number of clusters.
    pub k: usize,
    /// The within-cluster error.
    pub error: f64,
    /// The mean silhouette (of at most 2000 rows); `None` for one cluster.
    pub silhouette: Option<f64>,
}

/// Trials with 1, 2, 3 ... clusters, and what they suggest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterCountChoice {
    /// The trials, by k.
    pub trials: Vec<ClusterCountCandidate>,
    /// The number with the largest mean silhouette: this one is taken.
    pub by_silhouette: usize,
    /// The number after which the error stops falling fast.
    pub by_elbow: usize,
    /// Whether the budget ran out before all numbers were tried.
    pub cut_short: bool,
}

impl ClusterCountChoice {
    /// Why, in a sentence.
    pub fn reason(&self) -> String {
        let last = self.trials.last().map_or(1, |trial| trial.k);
        let best = self.trials.iter().find(|trial| trial.k == self.by_silhouette).and_then(|trial| trial.silhouette);
        match best {
            None if self.cut_short => "one cluster: the budget ran out before more could be compared".into(),
            None => "one cluster: there are too few different rows for more".into(),
            Some(value) => {
                let also = if self.by_elbow == self.by_silhouette {
                    "the elbow of the error is there too".to_string()
                } else {
                    format!("the elbow of the error is at {}", self.by_elbow)
                };
                let weak = match () {
                    _ if value < 0.25 => "; below 0.25 clusters are hardly apart",
                    _ if self.by_silhouette == MAX_CLUSTERS => "; it is the last number tried, and more may be better",
                    _ => "",
                };
                format!(
                    "{} clusters: their mean silhouette, {value:.3}, is the largest of 2 to {last}{weak}; {also}",
                    self.by_silhouette
                )
            }
        }
    }
}

/// Clusters with 1 to 10 centres and compares them; the clustering that is chosen comes along.
pub(super) fn choose(
    settings: &KMeans,
    features: Features<'_>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<(ClusterCountChoice, Clustering)> {
    let rows = features.rows();
    // Rows without weight do not count.
    let counted: Vec<usize> = (0..rows).filter(|&i| weights.is_none_or(|weights| weights[i] > 0.0)).collect();
    let sample = sample_indices(counted.len(), MAX_SILHOUETTE_ROWS, &mut run.stream(u64::MAX));
    let sample: Vec<usize> = sample.into_iter().map(|place| counted[place]).collect();
    let seen = features.take(&sample);
    let (mut trials, mut cut_short) = (Vec::new(), false);
    let mut best: Option<(f64, Clustering)> = None;
    for k in 1..=MAX_CLUSTERS.min(rows) {
        let fixed = KMeans { k: Count::Fixed(k), ..settings.clone() };
        let found = fixed.cluster_with(features, weights, run)?;
        let mut labels: Vec<u32> = sample.iter().map(|&i| found.labels[i]).collect();
        // A cluster so small that the sample has none of its rows is there with its first one.
        let missed = first_rows(&found.labels, k, &labels);
        let with_missed = (!missed.is_empty()).then(|| {
            labels.extend(missed.iter().map(|&i| found.labels[i]));
            features.take(&[sample.as_slice(), missed.as_slice()].concat())
        });
        let seen = with_missed.as_ref().unwrap_or(&seen);
        let distinct = labels.iter().collect::<std::collections::BTreeSet<_>>().len();
        let apart = if k > 1 && distinct > 1 && distinct < labels.len() {
            match silhouette(&seen.features(), &labels, run) {
                Err(Error::OutOfTime { .. }) => None,
                found => Some(found?),
            }
        } else {
            None
        };
        let error = found.model.error();
        trials.push(ClusterCountCandidate { k, error, silhouette: apart });
        run.progress("choosing the number of clusters", k, MAX_CLUSTERS.min(rows));
        cut_short = found.report.stop == StopReason::Budget || run.out_of_time();
        // One cluster stands until two or more have a silhouette; of equal ones the fewest clusters.
        let value = apart.unwrap_or(f64::NEG_INFINITY);
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, found));
        }
        if error <= 0.0 || cut_short {
            break;
        }
    }
    let (_, best) = best.expect("one cluster is always tried");
    let choice =
        ClusterCountChoice { by_silhouette: best.model.sizes().len(), by_elbow: elbow(&trials), cut_short, trials };
    Ok((choice, best))
}

/// The first row of every cluster that is not among `seen`.
fn first_rows(labels: &[u32], k: usize, seen: &[u32]) -> Vec<usize> {
    let mut known = vec![false; k];
    seen.iter().for_each(|&label| known[label as usize] = true);
    let mut first = Vec::new();
    if known.iter().any(|known| !known) {
        for (i, &label) in labels.iter().enumerate() {
            if !std::mem::replace(&mut known[label as usize], true) {
                first.push(i);
            }
        }
    }
    first
}

/// Where the error, as a share of that of one cluster, lies furthest below the line from its first point to its last.
fn elbow(trials: &[ClusterCountCandidate]) -> usize {
    let (Some(first), Some(last)) = (trials.first(), trials.last()) else { return 1 };
    let drop = first.error - last.error;
    if drop <= 0.0 || last.k == first.k {
        return first.k;
    }
    let below = |trial: &ClusterCountCandidate| {
        let along = (trial.k - first.k) as f64 / (last.k - first.k) as f64;
        (first.error - along * drop - trial.error) / drop
    };
    trials.iter().rev().max_by(|a, b| below(a).total_cmp(&below(b))).map_or(1, |trial| trial.k)
}
