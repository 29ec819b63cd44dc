//! Clustering: groups of rows that are alike, found without a target.
//!
//! k-means places k centres so that the within-cluster error (sum of squares, inertia) is small,
//!
//! ```text
//! E = Σ_i w_i ‖x_i - c_{l(i)}‖²        l(i) the nearest centre of row i, the first of equals
//!   = ½ Σ_c n_c · mean of ‖x_i - x_j‖² over all ordered pairs of rows of cluster c, a row with itself included
//! ```
//!
//! alternately: every row to its nearest centre, every centre to the mean of its rows. Neither step can raise E.
//! [`KMeans`] does that from one or more initialisations, or one row at a time (sequential), or by mini-batches, or by
//! bisection. An empty cluster takes the row furthest from its centre; if there are fewer different rows than clusters,
//! the rest stay empty.
//!
//! The certificate of an answer is the relative decrease of E by one more round: from rows that go to their nearest centre, and
//! by Σ n_c ‖c - mean_c‖² from centres that go to the means of their rows. It is zero at the fixed points of Lloyd's iteration,
//! and there alone, whatever the algorithm; of bisections, the largest counts.

mod assign;
mod bisect;
mod bounds;
mod choose;
mod init;
mod lloyd;
mod minibatch;
mod model;
mod part;
mod partition;
mod points;
mod sequential;
mod silhouette;

pub use choose::{ClusterCountCandidate, ClusterCountChoice};
pub use minibatch::MiniBatchUpdates;
pub use model::KMeansModel;
pub use silhouette::{silhouette, silhouettes};

use crate::error::{Error, Result};
use crate::learn::{Capability, Checked, Count, Domain, Examples, Learner, MethodInfo, Settings, Target};
use crate::matrix::{Features, Matrix};
use crate::run::{Report, Run, StopReason, Stream};
use lloyd::{StoppingRule, lloyd};
use minibatch::by_batches;
use partition::{BUDGET_REMARK, Partition, SearchSummary};
use points::{Centres, Frame, Points};
use sequential::one_at_a_time;

crate::settings! {
    /// k centres, each the mean of the rows nearest to it.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let model = KMeans::new(2).fit_unsupervised(&[[1.0], [2.0], [9.0], [10.0], [11.0]])?;
    /// // The largest cluster comes first.
    /// assert_eq!(model.clusters(&[[0.0], [12.0]])?, [1, 0]);
    /// # quince::Result::Ok(())
    /// ```
    #[doc(alias = "k-means")]
    pub struct KMeans(k) {
        /// The number of clusters; auto takes the number from 1 to 10 with the largest mean silhouette.
        k: Count = Count::Auto, in Domain::IntegerOrAuto(1);
        /// All rows alternately with all centres, one row at a time, a few at a time, or bisection.
        algorithm: Algorithm = Algorithm::Lloyd, in Algorithm::DOMAIN;
        /// Initialisation: rows far from each other (k-means++) or any rows.
        start: KMeansInit = KMeansInit::PlusPlus, in KMeansInit::DOMAIN;
        /// The number of initialisations; the smallest error wins.
        restarts: usize = 10, in Domain::Integer(1);
        /// The largest number of rounds over the rows.
        steps: usize = 300, in Domain::Integer(1);
        /// Done when the squared moves of the centres are below this times the mean variance; 0: when no row moves.
        /// Mini-batches are also done when ten have not lowered their average error.
        tolerance: f64 = 1e-4, in Domain::Number(0.0, f64::MAX);
        /// Whether rows are moved one at a time after Lloyd's algorithm, which can lower the error further.
        polish: bool = false, in Domain::Boolean;
        /// The number of rows in a mini-batch.
        batch: usize = 1024, in Domain::Integer(1);
    }
}

crate::choices! {
    /// The algorithm of k-means.
    pub enum Algorithm {
        /// All rows, then all centres, alternately.
        #[default]
        Lloyd = "lloyd",
        /// One row at a time, its centres following at once.
        Sequential = "sequential",
        /// A few rows at a time, drawn at random.
        MiniBatch = "mini-batch",
        /// The cluster with the largest error is bisected, again and again.
        Bisecting = "bisecting",
    }
}

crate::choices! {
    /// The initialisation of centres.
    pub enum KMeansInit {
        /// Rows far from each other, by k-means++.
        #[default]
        PlusPlus = "plus-plus",
        /// Any rows.
        Random = "random",
    }
}

/// The result of clustering.
///
/// ```
/// use quince::prelude::*;
/// let rows = Matrix::from_rows(&[[1.0], [2.0], [9.0]]);
/// let found = KMeans::new(2).cluster_with(rows.features(), None, &Run::new())?;
/// assert_eq!((&found.labels[..], found.model.error()), (&[0, 0, 1][..], 0.5));
/// # quince::Result::Ok(())
/// ```
pub struct Clustering {
    /// The centres.
    pub model: KMeansModel,
    /// The cluster of each row.
    pub labels: Vec<u32>,
    /// How it went.
    pub report: Report,
    /// How the number of clusters was chosen, if it was `Auto`.
    pub choice: Option<ClusterCountChoice>,
}

impl Learner for KMeans {
    type Fitted = KMeansModel;

    const INFO: MethodInfo = MethodInfo {
        name: "kmeans",
        title: "k-means",
        summary: "Groups of rows that are alike, each around its mean; finds their number if asked.",
        capabilities: &[Capability::Cluster, Capability::SampleWeights, Capability::Sparse],
        settings: Self::SETTINGS,
        python: &["KMeans", "MiniBatchKMeans", "BisectingKMeans"],
    };

    fn check_settings(&self) -> Result<()> {
        match self.algorithm {
            // Moving rows one at a time is all that the sequential one does.
            Algorithm::Lloyd | Algorithm::Sequential => Ok(()),
            _ if !self.polish => Ok(()),
            _ => Err(Error::setting("polish", "is for Lloyd's algorithm", "Leave it out, or choose algorithm=lloyd.")),
        }
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(KMeansModel, Report)> {
        let found = self.cluster_checked(examples, run)?;
        Ok((found.model, found.report))
    }
}

impl KMeans {
    /// Finds clusters of rows, and says how: the clusters of these rows, the trace, and how their number was chosen.
    pub fn cluster_with(&self, features: Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<Clustering> {
        let target = Target::none(features.rows());
        self.cluster_checked(&Checked::new(self, &Examples::new(features, &target, weights)?)?, run)
    }

    fn cluster_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Clustering> {
        let (features, weights) = (examples.features, examples.weights);
        check_width(&features)?;
        if self.k == Count::Auto {
            let (choice, mut found) = choose::choose(self, features, weights, run)?;
            for trial in &choice.trials {
                found.report.fact(&format!("error with {} clusters", trial.k), trial.error);
                if let Some(silhouette) = trial.silhouette {
                    found.report.fact(&format!("silhouette with {} clusters", trial.k), silhouette);
                }
            }
            if choice.cut_short && found.report.stop != StopReason::Budget {
                found.report.stop = StopReason::Budget;
                found.report.remarks.push(BUDGET_REMARK.into());
            }
            found.report.remarks.push(choice.reason());
            found.choice = Some(choice);
            return Ok(found);
        }
        let frame = run.finish(|| Frame::of_features(features, weights, run))?;
        let points = frame.points(features, weights, 0);
        let k = self.fixed_k(features.rows())?;
        if self.algorithm == Algorithm::Bisecting {
            return bisect::bisect(self, &points, k, run);
        }
        let mut best: Option<(Partition, bool)> = None;
        let mut restarts = 0;
        for restart in 0..self.restarts {
            if best.is_some() && run.out_of_time() {
                break;
            }
            // The first initialisation is needed for any answer at all.
            let start = match self.init(&points, k, restart as u64, run) {
                Err(Error::OutOfTime { .. }) => break,
                start => start?,
            };
            let found = self.run_from(&points, start, restart as u64, run)?;
            restarts += 1;
            if best.as_ref().is_none_or(|(best, _)| found.0.error < best.error) {
                best = Some(found);
            }
            // Nothing can be better than every row at its centre.
            if best.as_ref().is_some_and(|(best, _)| best.error == 0.0) {
                break;
            }
        }
        let (mut best, polished) = best.expect("there is at least one restart");
        if restarts < self.restarts && best.error > 0.0 {
            best.stop = StopReason::Budget;
        }
        best.largest_first();
        Ok(best.clustering(&frame, SearchSummary { asked: k, restarts, polished, tree: None }))
    }

    /// Finds clusters from given centres, one per row, and leaves them in their order.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let rows = Matrix::from_rows(&[[0.0], [1.0], [8.0], [9.0]]);
    /// let start = Matrix::from_rows(&[[10.0], [-1.0]]);
    /// let found = KMeans::new(2).cluster_from(rows.features(), None, &start, &Run::new())?;
    /// assert_eq!((&found.labels[..], found.model.centres().values()), (&[1, 1, 0, 0][..], &[8.5, 0.5][..]));
    /// # quince::Result::Ok(())
    /// ```
    pub fn cluster_from(
        &self,
        features: Features<'_>,
        weights: Option<&[f64]>,
        centres: &Matrix,
        run: &Run,
    ) -> Result<Clustering> {
        let target = Target::none(features.rows());
        Checked::new(self, &Examples::new(features, &target, weights)?)?;
        check_width(&features)?;
        if centres.rows() == 0 || centres.columns() != features.columns() {
            return Err(Error::data(
                format!(
                    "{} centres of {} numbers do not fit rows of {}",
                    centres.rows(),
                    centres.columns(),
                    features.columns()
                ),
                "Give every centre as many numbers as a row has.",
            ));
        }
        if centres.values().iter().any(|x| !x.is_finite()) {
            return Err(Error::data("a centre holds NaN or infinity", "Give finite numbers."));
        }
        let frame = run.finish(|| Frame::of_features(features, weights, run))?;
        let points = frame.points(features, weights, 0);
        let (found, polished) = self.run_from(&points, frame.about_origin(centres.clone()), 0, run)?;
        Ok(found.clustering(&frame, SearchSummary { asked: centres.rows(), restarts: 1, polished, tree: None }))
    }

    fn fixed_k(&self, rows: usize) -> Result<usize> {
        match self.k {
            Count::Fixed(k) if (1..=rows).contains(&k) => Ok(k),
            Count::Fixed(k) => Err(Error::setting(
                "k",
                format!("cannot be {k} with {rows} {}", if rows == 1 { "row" } else { "rows" }),
                format!("Use from 1 to {rows}, or auto."),
            )),
            Count::Auto => Ok(1),
        }
    }

    fn init(&self, points: &Points<'_>, k: usize, task: u64, run: &Run) -> Result<Matrix> {
        let mut stream = run.stream(task);
        match self.start {
            KMeansInit::PlusPlus if task == 0 => init::plus_plus_in_time(points, k, &mut stream, run),
            KMeansInit::PlusPlus => init::plus_plus(points, k, &mut stream, run),
            KMeansInit::Random => Ok(init::random(points, k, &mut stream)),
        }
    }

    /// The partition that initial centres (about the origin) lead to, and whether it was polished.
    fn run_from(&self, points: &Points<'_>, start: Matrix, task: u64, run: &Run) -> Result<(Partition, bool)> {
        // Every thread keeps sums of its own, and there are eight of them at most.
        let sums = 8.0 * 10.0 * start.values().len() as f64;
        crate::matrix::afford(sums, &format!("{} clusters of {} columns", start.rows(), start.columns()))?;
        let stopping = StoppingRule { steps: self.steps, tolerance: self.tolerance };
        let found = match self.algorithm {
            Algorithm::Sequential => one_at_a_time(points, start, self.steps, run)?,
            Algorithm::MiniBatch => by_batches(self, points, start, task, run)?,
            Algorithm::Lloyd | Algorithm::Bisecting => lloyd(points, points.frame, start, stopping, run)?,
        };
        if !self.polish || self.algorithm != Algorithm::Lloyd || run.out_of_time() {
            return Ok((found, false));
        }
        let mut polished = one_at_a_time(points, found.centres.clone(), self.steps, run)?;
        if polished.error >= found.error {
            return Ok((found, true));
        }
        polished.trace.splice(..0, found.trace);
        if found.stop != StopReason::Converged {
            polished.stop = found.stop;
        }
        Ok((polished, true))
    }
}

/// How rows are divided to initialise another method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// By k-means.
    Means,
    /// By which of some rows far from each other is nearest.
    Nearest,
}

/// Divides rows into `k` groups, with k-means++ drawn from a stream. There is an answer however late it is: from the deadline on any
/// rows are drawn, and centres move once.
pub(crate) fn divide(
    features: Features<'_>,
    weights: Option<&[f64]>,
    k: usize,
    how: Division,
    stream: &mut Stream,
    run: &Run,
) -> Result<Vec<u32>> {
    if features.columns() == 0 || k == 1 {
        return Ok(vec![0; features.rows()]);
    }
    let frame = run.finish(|| Frame::of_features(features, weights, run))?;
    let points = frame.points(features, weights, 0);
    let start = init::plus_plus_in_time(&points, k, stream, run)?;
    let stopping = StoppingRule { steps: 100, tolerance: 1e-4 };
    match how {
        Division::Means => Ok(lloyd(&points, &frame, start, stopping, run)?.labels),
        Division::Nearest => Ok(lloyd::nearest(&points, &frame, &Centres::new(start, &frame), run)?.0),
    }
}

/// An error if rows have no columns, or more than centres can have.
fn check_width(features: &Features<'_>) -> Result<()> {
    if features.columns() == 0 {
        return Err(Error::data("the rows have no columns", "Give at least one column."));
    }
    features.afford_columns()
}

/// The within-cluster error from pairs of rows: half the sum over clusters of n times the mean of squared distances over all
/// ordered pairs. Equal to Σ ‖x - mean‖², but slow: for checking and for teaching.
///
/// ```
/// use quince::Matrix;
/// let rows = Matrix::from_rows(&[[0.0], [2.0], [7.0]]);
/// // About the mean 1: 1 + 1; the last row is alone.
/// assert_eq!(quince::cluster::scatter(&rows.features(), &[0, 0, 1])?, 2.0);
/// # quince::Result::Ok(())
/// ```
pub fn scatter(features: &Features<'_>, labels: &[u32]) -> Result<f64> {
    if labels.len() != features.rows() {
        return Err(Error::one_each((features.rows(), "row"), (labels.len(), "label")));
    }
    let bytes = 8.0 * features.rows() as f64 * features.columns() as f64;
    crate::matrix::afford(bytes, &format!("{} rows of {} columns", features.rows(), features.columns()))?;
    let mut rows = Matrix::zeros(features.rows(), features.columns());
    features.pack(0..features.rows(), rows.values_mut());
    let mut clusters = std::collections::BTreeMap::new();
    for (i, label) in labels.iter().enumerate() {
        clusters.entry(label).or_insert_with(Vec::new).push(i);
    }
    let of_cluster = |members: &Vec<usize>| {
        let pairs = members.iter().flat_map(|&i| members.iter().map(move |&j| (i, j)));
        let sum: f64 = pairs.map(|(i, j)| crate::matrix::simd::squared_distance(rows.row(i), rows.row(j))).sum();
        0.5 * sum / members.len() as f64
    };
    Ok(clusters.values().map(of_cluster).sum())
}
