//! Distances between rows.
//!
//! ```text
//! euclidean    √ Σ w_j (x_j - y_j)²         manhattan    Σ w_j |x_j - y_j|   (L1, city-block)
//! minkowski    (Σ w_j |x_j - y_j|^p)^(1/p)  chebyshev    max w_j |x_j - y_j|
//! hamming      Σ w_j [x_j ≠ y_j] / Σ w_j    cosine       1 - Σ w_j x_j y_j / (‖x‖_w ‖y‖_w)
//! ```
//!
//! Searches compare a rank (the reduced distance: before its last monotone step, without root or division), summed in
//! column order by one rule, so that every search gives the same bits and the same ties. A missing value (NaN) leaves its
//! column out of the sum, which is then scaled up from the columns that both rows have (nan-Euclidean); rows with no column
//! in common are infinitely far apart. In a row of zeros the cosine is 0: its distance from every row is 1.

crate::choices! {
    /// A distance metric.
    pub enum DistanceMetric {
        /// Euclidean (L2).
        #[default]
        Euclidean = "euclidean",
        /// Manhattan (L1, city-block).
        Manhattan = "manhattan",
        /// Minkowski (Lp): the exponent is the setting `p`.
        Minkowski = "minkowski",
        /// Chebyshev (L∞): the largest difference.
        Chebyshev = "chebyshev",
        /// Hamming: the fraction of columns that differ.
        Hamming = "hamming",
        /// One minus the cosine of the angle.
        Cosine = "cosine",
    }
}

/// A metric with its exponent and feature weights.
///
/// ```
/// use quince::neighbours::{DistanceMetric, Measure};
/// let distance = |metric| Measure::of(metric).distance(&[0.0, 0.0], &[3.0, 4.0]);
/// assert_eq!([DistanceMetric::Euclidean, DistanceMetric::Manhattan].map(distance), [5.0, 7.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    /// Which metric.
    pub metric: DistanceMetric,
    /// The exponent of the Minkowski metric.
    pub p: f64,
    /// How much each column counts; empty if all count alike.
    pub weights: Vec<f64>,
}

/// A row: dense numbers, then sparse entries (columns counted from the end of the dense ones).
#[derive(Clone, Copy)]
pub(super) struct RowParts<'a> {
    pub(super) dense: &'a [f64],
    pub(super) sparse: (&'a [u32], &'a [f64]),
}

impl<'a> RowParts<'a> {
    /// A row without a sparse part.
    pub(super) fn of(dense: &'a [f64]) -> RowParts<'a> {
        RowParts { dense, sparse: (&[], &[]) }
    }
}

/// What one column adds to a rank, for the metrics that are sums (or a maximum) of such terms. Terms never fall when the
/// difference grows, in floating point as well: that is what bounds in a tree rely on.
pub(super) trait ColumnTerm: Copy + Sync {
    fn term(&self, j: usize, difference: f64) -> f64;

    #[inline(always)]
    fn join(sum: f64, term: f64) -> f64 {
        sum + term
    }

    /// A sum of terms of least differences as a bound on the rank: lowered where rounding may not be monotone.
    #[inline(always)]
    fn bound(sum: f64) -> f64 {
        sum
    }
}

#[derive(Clone, Copy)]
pub(super) struct SquaredDifference;
#[derive(Clone, Copy)]
pub(super) struct AbsoluteDifference;
#[derive(Clone, Copy)]
pub(super) struct PowerDifference(f64);
#[derive(Clone, Copy)]
pub(super) struct LargestDifference;
#[derive(Clone, Copy)]
pub(super) struct Weighted<'a, G>(G, &'a [f64]);

impl ColumnTerm for SquaredDifference {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference * difference
    }
}

impl ColumnTerm for AbsoluteDifference {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference.abs()
    }
}

impl ColumnTerm for PowerDifference {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference.abs().powf(self.0)
    }

    #[inline(always)]
    fn bound(sum: f64) -> f64 {
        sum * (1.0 - 1e-13)
    }
}

impl ColumnTerm for LargestDifference {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference.abs()
    }

    #[inline(always)]
    fn join(sum: f64, term: f64) -> f64 {
        if term > sum { term } else { sum }
    }
}

impl<G: ColumnTerm> ColumnTerm for Weighted<'_, G> {
    #[inline(always)]
    fn term(&self, j: usize, difference: f64) -> f64 {
        self.1[j] * self.0.term(j, difference)
    }

    #[inline(always)]
    fn join(sum: f64, term: f64) -> f64 {
        G::join(sum, term)
    }

    #[inline(always)]
    fn bound(sum: f64) -> f64 {
        G::bound(sum)
    }
}

/// Runs the same code for the column term of any measure; `None` for Hamming and cosine.
macro_rules! with_column_term {
    ($measure:expr, $term:ident => $body:expr) => {{
        use $crate::neighbours::measure::{
            AbsoluteDifference, DistanceMetric, LargestDifference, PowerDifference, SquaredDifference, Weighted,
        };
        let weights = $measure.weights.as_slice();
        let plain = weights.is_empty();
        match $measure.metric {
            DistanceMetric::Euclidean if plain => Some({
                let $term = SquaredDifference;
                $body
            }),
            DistanceMetric::Euclidean => Some({
                let $term = Weighted::on(SquaredDifference, weights);
                $body
            }),
            DistanceMetric::Manhattan if plain => Some({
                let $term = AbsoluteDifference;
                $body
            }),
            DistanceMetric::Manhattan => Some({
                let $term = Weighted::on(AbsoluteDifference, weights);
                $body
            }),
            DistanceMetric::Minkowski if plain => Some({
                let $term = PowerDifference::of($measure.p);
                $body
            }),
            DistanceMetric::Minkowski => Some({
                let $term = Weighted::on(PowerDifference::of($measure.p), weights);
                $body
            }),
            DistanceMetric::Chebyshev if plain => Some({
                let $term = LargestDifference;
                $body
            }),
            DistanceMetric::Chebyshev => Some({
                let $term = Weighted::on(LargestDifference, weights);
                $body
            }),
            DistanceMetric::Hamming | DistanceMetric::Cosine => None,
        }
    }};
}
pub(super) use with_column_term;

impl PowerDifference {
    pub(super) fn of(p: f64) -> PowerDifference {
        PowerDifference(p)
    }
}

impl<'a, G: ColumnTerm> Weighted<'a, G> {
    pub(super) fn on(term: G, weights: &'a [f64]) -> Weighted<'a, G> {
        Weighted(term, weights)
    }
}

impl Measure {
    /// A metric without feature weights (p = 2 for the Minkowski metric).
    pub fn of(metric: DistanceMetric) -> Measure {
        Measure { metric, p: 2.0, weights: Vec::new() }
    }

    /// The distance of two rows of numbers, in which NaN is a missing value.
    ///
    /// # Panics
    /// If the rows differ in length, or there are feature weights but not one for each column.
    pub fn distance(&self, x: &[f64], y: &[f64]) -> f64 {
        let columns = x.len();
        assert!(
            y.len() == columns && (self.weights.is_empty() || self.weights.len() == columns),
            "rows of one length, and a weight for each column"
        );
        self.distance_of(self.rank(RowParts::of(x), RowParts::of(y), columns), columns)
    }

    /// The largest number whose differences, squares and powers can be added up over this many columns without overflow.
    pub(super) fn largest(&self, columns: usize) -> f64 {
        let heaviest = self.weights.iter().copied().fold(1.0, f64::max);
        let largest_sum = f64::MAX / 4.0 / (columns.max(1) as f64 * heaviest);
        let largest = match self.metric {
            DistanceMetric::Euclidean | DistanceMetric::Cosine => largest_sum.sqrt(),
            DistanceMetric::Minkowski => largest_sum.powf(1.0 / self.p),
            DistanceMetric::Manhattan | DistanceMetric::Chebyshev => largest_sum,
            DistanceMetric::Hamming => return f64::MAX,
        };
        // A difference may be twice as large.
        0.5 * largest
    }

    #[inline]
    fn weight(&self, j: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights[j] }
    }

    fn total_weight(&self, columns: usize) -> f64 {
        if self.weights.is_empty() { columns as f64 } else { self.weights.iter().sum() }
    }

    /// The distance that belongs to a rank.
    pub(super) fn distance_of(&self, rank: f64, columns: usize) -> f64 {
        match self.metric {
            DistanceMetric::Euclidean => rank.sqrt(),
            DistanceMetric::Manhattan | DistanceMetric::Chebyshev | DistanceMetric::Cosine => rank,
            DistanceMetric::Minkowski => rank.powf(1.0 / self.p),
            DistanceMetric::Hamming if rank == 0.0 => 0.0,
            DistanceMetric::Hamming => rank / self.total_weight(columns),
        }
    }

    /// What searches compare: the smaller, the nearer.
    pub(super) fn rank(&self, x: RowParts<'_>, y: RowParts<'_>, columns: usize) -> f64 {
        self.rank_up_to(f64::INFINITY, x, y, columns)
    }

    /// The rank, if it is at most `most`; if not, something larger than that.
    pub(super) fn rank_up_to(&self, most: f64, x: RowParts<'_>, y: RowParts<'_>, columns: usize) -> f64 {
        if self.metric == DistanceMetric::Cosine {
            return self.cosine(x, y);
        }
        let differing = |j: usize, a: f64, b: f64| if a == b { 0.0 } else { self.weight(j) };
        let sum = with_column_term!(self, column => self.sum_of(most, x, y, |j, a, b| column.term(j, a - b), join_of(column)));
        let Sum { sum, missing_weight, missing } =
            sum.unwrap_or_else(|| self.sum_of(most, x, y, differing, |sum, term| sum + term));
        if missing == 0 || self.metric == DistanceMetric::Chebyshev {
            return if missing == columns && columns > 0 { f64::INFINITY } else { sum };
        }
        let total = self.total_weight(columns);
        if total - missing_weight > 0.0 && missing < columns {
            sum * (total / (total - missing_weight))
        } else {
            f64::INFINITY
        }
    }

    /// Joins the terms of all columns in order; columns in which either row has a missing value are left out and counted. Sums only
    /// grow, so one that has passed `most` is as good as infinite.
    #[inline(always)]
    fn sum_of(
        &self,
        most: f64,
        x: RowParts<'_>,
        y: RowParts<'_>,
        term: impl Fn(usize, f64, f64) -> f64,
        join: impl Fn(f64, f64) -> f64,
    ) -> Sum {
        const COLUMNS_PER_CHECK: usize = 16;
        let mut found = Sum { sum: 0.0, missing_weight: 0.0, missing: 0 };
        let mut visit = |j: usize, a: f64, b: f64| {
            let term = term(j, a, b);
            if term.is_nan() || a.is_nan() || b.is_nan() {
                found.missing_weight += self.weight(j);
                found.missing += 1;
            } else {
                found.sum = join(found.sum, term);
            }
            found.sum
        };
        for (first, (some, others)) in (0..)
            .step_by(COLUMNS_PER_CHECK)
            .zip(x.dense.chunks(COLUMNS_PER_CHECK).zip(y.dense.chunks(COLUMNS_PER_CHECK)))
        {
            let mut sum = 0.0;
            some.iter().zip(others).enumerate().for_each(|(l, (a, b))| sum = visit(first + l, *a, *b));
            if sum > most {
                return Sum { sum: f64::INFINITY, missing_weight: 0.0, missing: 0 };
            }
        }
        for_sparse_columns(x, y, |j, a, b| {
            visit(j, a, b);
        });
        found
    }

    fn cosine(&self, x: RowParts<'_>, y: RowParts<'_>) -> f64 {
        let (mut product, mut left, mut right, mut common) = (0.0, 0.0, 0.0, false);
        for_columns(x, y, |j, a, b| {
            if !(a.is_nan() || b.is_nan()) {
                let weight = self.weight(j);
                product += weight * a * b;
                left += weight * a * a;
                right += weight * b * b;
                common = true;
            }
        });
        match () {
            _ if !common && !x.dense.is_empty() => f64::INFINITY,
            _ if left == 0.0 || right == 0.0 => 1.0,
            _ => (1.0 - product / (left.sqrt() * right.sqrt())).max(0.0),
        }
    }
}

fn join_of<G: ColumnTerm>(_: G) -> impl Fn(f64, f64) -> f64 {
    G::join
}

/// The sum over the columns of two rows.
struct Sum {
    sum: f64,
    /// The weight of the columns in which either value is missing, and their number.
    missing_weight: f64,
    missing: usize,
}

/// Calls `visit(column, x, y)` for every column in which either row may differ from zero, in order.
#[inline(always)]
fn for_columns(x: RowParts<'_>, y: RowParts<'_>, mut visit: impl FnMut(usize, f64, f64)) {
    x.dense.iter().zip(y.dense).enumerate().for_each(|(j, (a, b))| visit(j, *a, *b));
    for_sparse_columns(x, y, visit);
}

/// As above, for the columns that are sparse.
#[inline(always)]
fn for_sparse_columns(x: RowParts<'_>, y: RowParts<'_>, mut visit: impl FnMut(usize, f64, f64)) {
    let first = x.dense.len();
    let ((xs, x_values), (ys, y_values)) = (x.sparse, y.sparse);
    let (mut a, mut b) = (0, 0);
    while a < xs.len() || b < ys.len() {
        let left = xs.get(a).copied().unwrap_or(u32::MAX);
        let right = ys.get(b).copied().unwrap_or(u32::MAX);
        let j = first + left.min(right) as usize;
        match left.cmp(&right) {
            std::cmp::Ordering::Less => visit(j, x_values[a], 0.0),
            std::cmp::Ordering::Greater => visit(j, 0.0, y_values[b]),
            std::cmp::Ordering::Equal => visit(j, x_values[a], y_values[b]),
        }
        a += usize::from(left <= right);
        b += usize::from(right <= left);
    }
}
