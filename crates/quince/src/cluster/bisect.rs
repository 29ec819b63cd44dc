//! Bisecting k-means: all rows are one cluster, and the one with the largest error is bisected until there are k.
//!
//! The bisections make a tree. A new row descends it, each time to the nearer of two centres, to its cluster.

use super::lloyd::{StoppingRule, lloyd};
use super::partition::{Partition, SearchSummary};
use super::points::{Centres, Frame, Points, pass};
use super::{Clustering, KMeans};
use crate::error::Result;
use crate::matrix::{Features, Matrix, Rows};
use crate::passes::at_hand;
use crate::run::{Run, StopReason};

/// A tree of bisections: each divides the rows that reach it between two centres.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BisectionTree {
    /// Two rows per bisection: the left centre and the right one.
    pub(super) centres: Matrix,
    /// Where each side leads: to bisection n (as n) or to cluster c (as -1 - c).
    pub(super) sides: Vec<i64>,
}

impl BisectionTree {
    /// The cluster of a row that was loaded; `centres` are those of the tree, about the origin of the points.
    pub(super) fn cluster(&self, points: &Points<'_>, centres: &Centres, i: usize, loaded: &[f64]) -> u32 {
        let mut at = 0usize;
        if self.sides.is_empty() {
            return 0;
        }
        loop {
            let [left, right] = [2 * at, 2 * at + 1].map(|side| points.loaded_distance(i, loaded, centres, side));
            let side = self.sides[2 * at + usize::from(right < left)];
            if side < 0 {
                return (-1 - side) as u32;
            }
            at = side as usize;
        }
    }

    /// The sides as a file numbers them: cluster c of k as c, bisection n as k + n.
    pub(super) fn numbered_sides(&self, k: usize) -> Vec<usize> {
        let number = |&side: &i64| if side < 0 { (-1 - side) as usize } else { k + side as usize };
        self.sides.iter().map(number).collect()
    }

    /// The tree with sides as a file numbers them, which may lead nowhere.
    pub(super) fn of_numbered_sides(centres: Matrix, numbers: &[usize], k: usize) -> BisectionTree {
        let side = |&number: &usize| match number.checked_sub(k) {
            None => -1 - number as i64,
            Some(bisection) => i64::try_from(bisection).unwrap_or(i64::MAX),
        };
        BisectionTree { centres, sides: numbers.iter().map(side).collect() }
    }

    /// Whether every side leads somewhere further down, and the clusters are just 0 to k - 1.
    pub(super) fn is_sound(&self, k: usize) -> bool {
        let further = |(place, &side): (usize, &i64)| match side {
            0.. => side as usize > place / 2 && (side as usize) < self.sides.len() / 2,
            _ => ((-1 - side) as usize) < k,
        };
        self.sides.len() == self.centres.rows()
            && self.sides.len().is_multiple_of(2)
            && self.sides.iter().enumerate().all(further)
    }
}

/// A cluster that may be bisected.
struct Leaf {
    rows: Vec<usize>,
    centre: Vec<f64>,
    size: f64,
    error: f64,
    /// The side of a bisection that leads here.
    side: Option<usize>,
}

/// Bisects until there are `k` clusters, or no different rows are left in any.
pub(super) fn bisect(settings: &KMeans, points: &Points<'_>, k: usize, run: &Run) -> Result<Clustering> {
    let columns = points.columns();
    let all: Vec<usize> = (0..points.rows()).collect();
    let mut leaves = vec![leaf(points, all, None, run)?];
    let (mut centres, mut sides) = (Vec::new(), Vec::new());
    let mut trace = vec![leaves[0].error];
    let (mut stop, mut decrease, mut restarts) = (StopReason::Converged, 0.0f64, settings.restarts);
    while leaves.len() < k {
        if run.out_of_time() && leaves.len() > 1 {
            stop = StopReason::Budget;
            break;
        }
        let widest = (0..leaves.len()).rev().max_by(|&a, &b| leaves[a].error.total_cmp(&leaves[b].error)).unwrap_or(0);
        if leaves[widest].error <= 0.0 {
            break;
        }
        let whole = leaves.swap_remove(widest);
        let (halves, starts) = bisect_once(settings, points, &whole, trace.len() as u64 * 1000, run)?;
        restarts = restarts.min(starts);
        stop = reason(stop, if starts < settings.restarts { StopReason::Budget } else { halves.stop });
        if halves.labels.iter().all(|label| *label == halves.labels[0]) {
            // Equal rows, whose mean is off by a rounding: they have no halves.
            leaves.push(Leaf { error: 0.0, ..whole });
            continue;
        }
        if halves.error > 0.0 {
            decrease = decrease.max(halves.decrease / halves.error);
        }
        let bisection = sides.len() / 2;
        if let Some(side) = whole.side {
            sides[side] = bisection as i64;
        }
        sides.extend([0, 0]);
        centres.extend_from_slice(halves.centres.values());
        for side in 0..2 {
            let chosen = whole.rows.iter().zip(&halves.labels).filter(|(_, label)| **label == side as u32);
            leaves.push(leaf(points, chosen.map(|(&i, _)| i).collect(), Some(2 * bisection + side), run)?);
        }
        trace.push(leaves.iter().map(|leaf| leaf.error).sum());
        run.progress("bisections", leaves.len(), k);
    }
    let (labels, values) = number(&mut leaves, &mut sides, points.rows());
    let error = trace.last().copied().unwrap_or(0.0);
    let partition = Partition {
        centres: Matrix::new(leaves.len(), columns, values)?,
        labels,
        sizes: leaves.iter().map(|leaf| leaf.size).collect(),
        trace,
        error,
        stop,
        decrease: decrease * error,
    };
    let tree = BisectionTree { centres: Matrix::new(sides.len(), columns, centres)?, sides };
    let search = SearchSummary { asked: k, restarts, polished: false, tree: Some(tree) };
    Ok(partition.clustering(points.frame, search))
}

/// The search stops for the reason of any bisection that was cut short; a budget before any other reason.
fn reason(stop: StopReason, of_bisection: StopReason) -> StopReason {
    match (stop, of_bisection) {
        (_, StopReason::Budget) => StopReason::Budget,
        (StopReason::Converged, other) => other,
        (stop, _) => stop,
    }
}

/// Numbers the clusters by their size, the largest first, of equals the one with the first row, and lets the sides of the tree
/// lead to them. Returns the cluster of each row and the centres.
fn number(leaves: &mut [Leaf], sides: &mut [i64], rows: usize) -> (Vec<u32>, Vec<f64>) {
    leaves.sort_by(|a, b| b.size.total_cmp(&a.size).then_with(|| a.rows.first().cmp(&b.rows.first())));
    let (mut labels, mut centres) = (vec![0; rows], Vec::new());
    for (c, leaf) in leaves.iter().enumerate() {
        leaf.rows.iter().for_each(|&i| labels[i] = c as u32);
        centres.extend_from_slice(&leaf.centre);
        if let Some(side) = leaf.side {
            sides[side] = -1 - c as i64;
        }
    }
    (labels, centres)
}

/// The best of several bisections of a cluster, with centres in the coordinates of the features, and their number.
fn bisect_once(
    settings: &KMeans,
    points: &Points<'_>,
    whole: &Leaf,
    task: u64,
    run: &Run,
) -> Result<(Partition, usize)> {
    let (part, weights, frame, copied);
    let inner = if whole.rows.len() == points.rows() {
        points
    } else {
        part = take(&points.features, &whole.rows, run)?;
        weights = points.weights.map(|weights| whole.rows.iter().map(|&i| weights[i]).collect::<Vec<f64>>());
        frame = run.finish(|| Frame::of_features(part.features(), weights.as_deref(), run))?;
        copied = frame.points(part.features(), weights.as_deref(), 0);
        &copied
    };
    let stopping = StoppingRule { steps: settings.steps, tolerance: settings.tolerance };
    let (mut best, mut starts): (Option<Partition>, usize) = (None, 0);
    for restart in 0..settings.restarts {
        if best.is_some() && run.out_of_time() {
            break;
        }
        let start = run.finish(|| settings.init(inner, 2, task + restart as u64, run))?;
        let halves = lloyd(inner, inner.frame, start, stopping, run)?;
        starts += 1;
        if best.as_ref().is_none_or(|best| halves.error < best.error) {
            best = Some(halves);
        }
    }
    let best = best.expect("there is at least one restart");
    Ok((Partition { centres: inner.frame.absolute(best.centres), ..best }, starts))
}

/// A copy of some rows, some of them at a time.
fn take(features: &Features<'_>, rows: &[usize], run: &Run) -> Result<Rows> {
    let dense = features.plain().dense_alone();
    let columns = dense.columns().max(1);
    let mut copy = Matrix::zeros(rows.len(), dense.columns());
    let tall = (8_000_000 / columns).max(1);
    for (rows, tile) in rows.chunks(tall).zip(copy.values_mut().chunks_mut(tall * columns)) {
        dense.pack(rows.iter().copied(), tile);
        run.check_cancelled()?;
    }
    Ok(Rows::of(copy, features.sparse_part().map(|sparse| sparse.take_rows(rows))))
}

fn leaf(points: &Points<'_>, rows: Vec<usize>, side: Option<usize>, run: &Run) -> Result<Leaf> {
    let columns = points.columns();
    let pass = pass(4 * points.frame.width(), run);
    let nothing = || (vec![0.0; columns], 0.0);
    let (mut centre, size) = pass.gather(at_hand(rows.len()), nothing, |(sum, size), _, some| {
        let mut buffer = vec![0.0; columns];
        for &i in &rows[some] {
            points.add_row(i, points.weight(i), sum, &mut buffer);
            *size += points.weight(i);
        }
    })?;
    if size > 0.0 {
        centre.iter_mut().for_each(|x| *x /= size);
    }
    let centres = Centres::new(Matrix::new(1, columns, centre)?, points.frame);
    let error = pass.gather(
        at_hand(rows.len()),
        || 0.0,
        |error, _, some| {
            let mut buffer = vec![0.0; columns];
            for &i in &rows[some] {
                *error += points.weight(i) * points.squared_distance(i, &centres, 0, &mut buffer);
            }
        },
    )?;
    Ok(Leaf { rows, centre: centres.exact.row(0).to_vec(), size, error, side })
}
