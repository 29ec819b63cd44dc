//! How far two rows are apart.
//!
//! ```text
//! euclidean    √ Σ w_j (x_j - y_j)²         city-block   Σ w_j |x_j - y_j|
//! p-norm       (Σ w_j |x_j - y_j|^p)^(1/p)  chebyshev    max w_j |x_j - y_j|
//! hamming      Σ w_j [x_j ≠ y_j] / Σ w_j    cosine       1 - Σ w_j x_j y_j / (‖x‖_w ‖y‖_w)
//! ```
//!
//! Searches compare a rank, the distance before its last monotone step (no root, no division), summed in column order by
//! one rule, so that every search gives the same bits and the same ties. A hole (NaN) leaves its column out of the sum,
//! which is then scaled up from the columns that both rows have (nan-Euclidean); rows with no column in common are
//! infinitely far apart. In a row of zeros the cosine is 0: its distance from every row is 1.

use serde::{Deserialize, Serialize};

/// How distances are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The straight line.
    #[default]
    Euclidean,
    /// Along the streets.
    CityBlock,
    /// Between and beyond both: the exponent is the setting `p`.
    PNorm,
    /// The largest difference.
    Chebyshev,
    /// The share of columns that differ.
    Hamming,
    /// One minus the cosine of the angle.
    Cosine,
}

/// A metric with its exponent and feature weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    /// Which metric.
    pub metric: Metric,
    /// The exponent of the p-norm.
    pub p: f64,
    /// How much each column counts; empty if all count alike.
    pub weights: Vec<f64>,
}

/// A row: dense numbers, then sparse entries (columns counted from the end of the dense ones).
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) dense: &'a [f64],
    pub(super) sparse: (&'a [u32], &'a [f64]),
}

impl<'a> Row<'a> {
    /// A row without a sparse part.
    pub(super) fn of(dense: &'a [f64]) -> Row<'a> {
        Row { dense, sparse: (&[], &[]) }
    }
}

/// What one column adds to a rank, for the metrics that are sums (or a maximum) of such terms. Terms never fall when the
/// difference grows, in floating point as well: that is what bounds in a tree rely on.
pub(super) trait Ground: Copy + Sync {
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
pub(super) struct Squares;
#[derive(Clone, Copy)]
pub(super) struct Absolutes;
#[derive(Clone, Copy)]
pub(super) struct Powers(f64);
#[derive(Clone, Copy)]
pub(super) struct Largest;
#[derive(Clone, Copy)]
pub(super) struct Weighted<'a, G>(G, &'a [f64]);

impl Ground for Squares {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference * difference
    }
}

impl Ground for Absolutes {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference.abs()
    }
}

impl Ground for Powers {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference.abs().powf(self.0)
    }

    #[inline(always)]
    fn bound(sum: f64) -> f64 {
        sum * (1.0 - 1e-13)
    }
}

impl Ground for Largest {
    #[inline(always)]
    fn term(&self, _: usize, difference: f64) -> f64 {
        difference.abs()
    }

    #[inline(always)]
    fn join(sum: f64, term: f64) -> f64 {
        if term > sum { term } else { sum }
    }
}

impl<G: Ground> Ground for Weighted<'_, G> {
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

/// Runs the same code on the ground of a measure, whichever it is; `None` for Hamming and cosine.
macro_rules! with_ground {
    ($measure:expr, $ground:ident => $body:expr) => {{
        use $crate::neighbours::measure::{Absolutes, Largest, Metric, Powers, Squares, Weighted};
        let weights = $measure.weights.as_slice();
        let plain = weights.is_empty();
        match $measure.metric {
            Metric::Euclidean if plain => Some({
                let $ground = Squares;
                $body
            }),
            Metric::Euclidean => Some({
                let $ground = Weighted::on(Squares, weights);
                $body
            }),
            Metric::CityBlock if plain => Some({
                let $ground = Absolutes;
                $body
            }),
            Metric::CityBlock => Some({
                let $ground = Weighted::on(Absolutes, weights);
                $body
            }),
            Metric::PNorm if plain => Some({
                let $ground = Powers::of($measure.p);
                $body
            }),
            Metric::PNorm => Some({
                let $ground = Weighted::on(Powers::of($measure.p), weights);
                $body
            }),
            Metric::Chebyshev if plain => Some({
                let $ground = Largest;
                $body
            }),
            Metric::Chebyshev => Some({
                let $ground = Weighted::on(Largest, weights);
                $body
            }),
            Metric::Hamming | Metric::Cosine => None,
        }
    }};
}
pub(super) use with_ground;

impl Powers {
    pub(super) fn of(p: f64) -> Powers {
        Powers(p)
    }
}

impl<'a, G: Ground> Weighted<'a, G> {
    pub(super) fn on(ground: G, weights: &'a [f64]) -> Weighted<'a, G> {
        Weighted(ground, weights)
    }
}

impl Measure {
    /// A metric without feature weights (p = 2 for the p-norm).
    pub fn of(metric: Metric) -> Measure {
        Measure { metric, p: 2.0, weights: Vec::new() }
    }

    /// The distance of two rows of numbers, in which NaN is a hole.
    pub fn distance(&self, x: &[f64], y: &[f64]) -> f64 {
        let columns = x.len();
        self.distance_of(self.rank(Row::of(x), Row::of(y), columns), columns)
    }

    /// The largest number whose differences, squares and powers can still be added up over so many columns.
    pub(super) fn largest(&self, columns: usize) -> f64 {
        let heaviest = self.weights.iter().copied().fold(1.0, f64::max);
        let room = f64::MAX / 4.0 / (columns.max(1) as f64 * heaviest);
        let largest = match self.metric {
            Metric::Euclidean | Metric::Cosine => room.sqrt(),
            Metric::PNorm => room.powf(1.0 / self.p),
            Metric::CityBlock | Metric::Chebyshev => room,
            Metric::Hamming => return f64::MAX,
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
            Metric::Euclidean => rank.sqrt(),
            Metric::CityBlock | Metric::Chebyshev | Metric::Cosine => rank,
            Metric::PNorm => rank.powf(1.0 / self.p),
            Metric::Hamming if rank == 0.0 => 0.0,
            Metric::Hamming => rank / self.total_weight(columns),
        }
    }

    /// What searches compare: the smaller, the nearer.
    pub(super) fn rank(&self, x: Row<'_>, y: Row<'_>, columns: usize) -> f64 {
        self.rank_up_to(f64::INFINITY, x, y, columns)
    }

    /// The rank, if it is at most `most`; if not, something larger than that.
    pub(super) fn rank_up_to(&self, most: f64, x: Row<'_>, y: Row<'_>, columns: usize) -> f64 {
        if self.metric == Metric::Cosine {
            return self.cosine(x, y);
        }
        let differing = |j: usize, a: f64, b: f64| if a == b { 0.0 } else { self.weight(j) };
        let sum =
            with_ground!(self, ground => self.sum_of(most, x, y, |j, a, b| ground.term(j, a - b), join_of(ground)));
        let Sum { sum, gone, missing } =
            sum.unwrap_or_else(|| self.sum_of(most, x, y, differing, |sum, term| sum + term));
        if missing == 0 || self.metric == Metric::Chebyshev {
            return if missing == columns && columns > 0 { f64::INFINITY } else { sum };
        }
        let total = self.total_weight(columns);
        if total - gone > 0.0 && missing < columns { sum * (total / (total - gone)) } else { f64::INFINITY }
    }

    /// Joins the terms of all columns in order; columns in which either row has a hole are left out and counted. Sums only
    /// grow, so one that has passed `most` is as good as infinite.
    #[inline(always)]
    fn sum_of(
        &self,
        most: f64,
        x: Row<'_>,
        y: Row<'_>,
        term: impl Fn(usize, f64, f64) -> f64,
        join: impl Fn(f64, f64) -> f64,
    ) -> Sum {
        const FEW: usize = 16;
        let mut found = Sum { sum: 0.0, gone: 0.0, missing: 0 };
        let mut visit = |j: usize, a: f64, b: f64| {
            let term = term(j, a, b);
            if term.is_nan() || a.is_nan() || b.is_nan() {
                found.gone += self.weight(j);
                found.missing += 1;
            } else {
                found.sum = join(found.sum, term);
            }
            found.sum
        };
        for (first, (some, others)) in (0..).step_by(FEW).zip(x.dense.chunks(FEW).zip(y.dense.chunks(FEW))) {
            let mut sum = 0.0;
            some.iter().zip(others).enumerate().for_each(|(l, (a, b))| sum = visit(first + l, *a, *b));
            if sum > most {
                return Sum { sum: f64::INFINITY, gone: 0.0, missing: 0 };
            }
        }
        for_sparse_columns(x, y, |j, a, b| {
            visit(j, a, b);
        });
        found
    }

    fn cosine(&self, x: Row<'_>, y: Row<'_>) -> f64 {
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

fn join_of<G: Ground>(_: G) -> impl Fn(f64, f64) -> f64 {
    G::join
}

/// What the columns of two rows come to.
struct Sum {
    sum: f64,
    /// The weight of the columns in which either has a hole, and how many they are.
    gone: f64,
    missing: usize,
}

/// Calls `visit(column, x, y)` for every column in which either row may differ from zero, in order.
#[inline(always)]
fn for_columns(x: Row<'_>, y: Row<'_>, mut visit: impl FnMut(usize, f64, f64)) {
    x.dense.iter().zip(y.dense).enumerate().for_each(|(j, (a, b))| visit(j, *a, *b));
    for_sparse_columns(x, y, visit);
}

/// As above, for the columns that are sparse.
#[inline(always)]
fn for_sparse_columns(x: Row<'_>, y: Row<'_>, mut visit: impl FnMut(usize, f64, f64)) {
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
