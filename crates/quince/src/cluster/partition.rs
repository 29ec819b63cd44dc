//! The partition that a search found, and its report.

use super::bisect::BisectionTree;
use super::points::Frame;
use super::{Clustering, KMeansModel};
use crate::matrix::Matrix;
use crate::matrix::simd::squared_distance;
use crate::run::{Certificate, Outcome, Report, StopReason};

/// The partition that a search found.
pub(super) struct Partition {
    /// About the origin of the points.
    pub(super) centres: Matrix,
    pub(super) labels: Vec<u32>,
    /// The weight of each cluster.
    pub(super) sizes: Vec<f64>,
    /// The within-cluster error after each round.
    pub(super) trace: Vec<f64>,
    pub(super) error: f64,
    pub(super) stop: StopReason,
    /// The decrease of the error by one more of Lloyd's rounds: rows to their nearest centres, centres to the means of their
    /// rows.
    pub(super) decrease: f64,
}

/// The decrease of the error by moving centres to the means of their rows: Σ n_c ‖c - mean_c‖² (Huygens).
pub(super) fn centre_update_decrease(centres: &Matrix, sums: &Matrix, sizes: &[f64]) -> f64 {
    let of_cluster = |c: usize| {
        let mean: Vec<f64> = sums.row(c).iter().map(|sum| sum / sizes[c]).collect();
        sizes[c] * squared_distance(centres.row(c), &mean)
    };
    (0..sizes.len()).filter(|&c| sizes[c] > 0.0).map(of_cluster).sum()
}

/// The remark of a report when the budget ran out.
pub(super) const BUDGET_REMARK: &str = "the budget ran out: this is the best so far";

/// Facts about a search for its report, besides the partition.
pub(super) struct SearchSummary {
    /// The number of clusters asked for.
    pub(super) asked: usize,
    pub(super) restarts: usize,
    pub(super) polished: bool,
    /// The tree of bisections, if it was bisecting k-means.
    pub(super) tree: Option<BisectionTree>,
}

impl Partition {
    /// Numbers the clusters by their size, the largest first, of equals the one with the first row.
    pub(super) fn largest_first(&mut self) {
        let k = self.sizes.len();
        let mut first_rows = vec![usize::MAX; k];
        for (i, &label) in self.labels.iter().enumerate().rev() {
            first_rows[label as usize] = i;
        }
        let mut order: Vec<usize> = (0..k).collect();
        let sizes = &self.sizes;
        order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(first_rows[a].cmp(&first_rows[b])));
        let mut place = vec![0u32; k];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
        self.labels.iter_mut().for_each(|label| *label = place[*label as usize]);
        self.sizes = order.iter().map(|&c| self.sizes[c]).collect();
        self.centres = self.centres.take_rows(&order);
    }

    /// The answer, with its report.
    pub(super) fn clustering(self, frame: &Frame, search: SearchSummary) -> Clustering {
        let all = frame.mean_variance * frame.columns() as f64 * frame.total;
        let rounds = match &search.tree {
            Some(tree) => format!("by {}", count(tree.sides.len() / 2, "bisection")),
            None => format!("in {}", count(self.trace.len(), "round")),
        };
        let mut report = Report {
            route: format!("{} {rounds}", count(self.centres.rows(), "centre")),
            stop: self.stop,
            certificate: Some(self.certificate(all, search.tree.is_some())),
            ..Report::default()
        };
        let explained = if all > 0.0 { 1.0 - self.error / all } else { 1.0 };
        report.outcome = Outcome::Clusters { error: self.error, explained };
        report.fact("error", self.error);
        report.fact("error per unit of weight", self.error / frame.total);
        report.fact("share explained", explained);
        report.fact("restarts", search.restarts as f64);
        if search.polished {
            report.fact("polished", 1.0);
        }
        report.remarks.extend(self.about_empty(all, search.asked));
        if self.stop == StopReason::Budget {
            report.remarks.push(BUDGET_REMARK.into());
        }
        if self.stop == StopReason::StepLimit {
            report.remarks.push("the centres were still moving at the last step: allow more steps".into());
        }
        let Partition { centres, labels, sizes, trace, error, .. } = self;
        report.trace = trace;
        let model = KMeansModel { centres: frame.absolute(centres), sizes, error, tree: search.tree };
        Clustering { model, labels, report, choice: None }
    }

    /// `all` is the error of one cluster.
    fn certificate(&self, all: f64, bisected: bool) -> Certificate {
        let of = if bisected { "another round in a bisection" } else { "another round" };
        // An error that is nothing but rounding cannot decrease.
        let value = if self.error > ROUNDING_ERROR * all { self.decrease / self.error } else { 0.0 };
        Certificate { measure: format!("share of the error that {of} would take off"), value, tolerance: 1e-3 }
    }

    /// A sentence if there are fewer clusters with rows than were asked for.
    fn about_empty(&self, all: f64, asked: usize) -> Option<String> {
        let filled = self.sizes.iter().filter(|&&size| size > 0.0).count();
        let empty = asked - filled.min(asked);
        let why = match () {
            // Rows that are all at their centres are no more different than the centres.
            _ if self.error <= ROUNDING_ERROR * all => "there are not as many different rows",
            _ if self.stop == StopReason::Budget => "the budget ran out",
            _ => "no row is nearest to their centres; another seed or another start may do better",
        };
        let are = if empty == 1 { "is" } else { "are" };
        (empty > 0).then(|| format!("{empty} of {asked} clusters {are} empty: {why}"))
    }
}

/// An error this small, as a share of that of one cluster, is rounding.
const ROUNDING_ERROR: f64 = 1e-24;

/// `1 centre`, `3 centres`.
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
