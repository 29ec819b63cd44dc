//! Bisecting k-means: all rows are one cluster, and the one with the largest error is halved until there are k.
//!
//! The halvings make a tree. A new row goes down it, each time to the nearer of two centres, and ends in a cluster.

use super::KMeans;
use super::lloyd::{Limits, lloyd};
use super::points::Points;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::squared_distance;
use crate::run::{Run, Stop};

/// A tree of halvings: each parts the rows that reach it between two centres.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Halvings {
    /// Two rows a halving: the left centre and the right one.
    pub(super) centres: Matrix,
    /// Where each side leads: to halving n (as n) or to cluster c (as -1 - c).
    pub(super) sides: Vec<i64>,
}

impl Halvings {
    /// The cluster of a row.
    pub(super) fn cluster(&self, row: &[f64]) -> u32 {
        let mut at = 0usize;
        if self.sides.is_empty() {
            return 0;
        }
        loop {
            let [left, right] = [2 * at, 2 * at + 1].map(|side| squared_distance(row, self.centres.row(side)));
            let side = self.sides[2 * at + usize::from(right < left)];
            if side < 0 {
                return (-1 - side) as u32;
            }
            at = side as usize;
        }
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

/// What bisecting found.
pub(super) struct Bisected {
    pub(super) centres: Matrix,
    pub(super) labels: Vec<u32>,
    pub(super) sizes: Vec<f64>,
    pub(super) halvings: Halvings,
    pub(super) trace: Vec<f64>,
    pub(super) stop: Stop,
}

/// A cluster that may be halved.
struct Leaf {
    rows: Vec<usize>,
    centre: Vec<f64>,
    size: f64,
    error: f64,
    /// The side of a halving that leads here.
    side: Option<usize>,
}

pub(super) fn bisect(settings: &KMeans, points: &Points<'_>, k: usize, run: &Run) -> Result<Bisected> {
    let columns = points.columns();
    let all: Vec<usize> = (0..points.rows()).collect();
    let mut leaves = vec![leaf(points, all, None)];
    let (mut centres, mut sides) = (Vec::new(), Vec::new());
    let mut trace = vec![leaves[0].error];
    let mut stop = Stop::Converged;
    while leaves.len() < k {
        if run.out_of_time() && leaves.len() > 1 {
            stop = Stop::Budget;
            break;
        }
        let widest = (0..leaves.len()).rev().max_by(|&a, &b| leaves[a].error.total_cmp(&leaves[b].error)).unwrap_or(0);
        if leaves[widest].error <= 0.0 {
            break;
        }
        let whole = leaves.swap_remove(widest);
        let part = points.features.take(&whole.rows);
        let weights: Option<Vec<f64>> = points.weights.map(|weights| whole.rows.iter().map(|&i| weights[i]).collect());
        let inner = run.finish(|| Points::new(part.features(), weights.as_deref(), run))?;
        let task = trace.len() as u64 * 1000;
        let mut best: Option<(f64, Matrix, Vec<u32>)> = None;
        for restart in 0..settings.restarts {
            if best.is_some() && run.out_of_time() {
                break;
            }
            let start = run.finish(|| settings.draw_start(&inner, 2, task + restart as u64, run))?;
            let limits = Limits { steps: settings.steps, tolerance: settings.tolerance };
            let halves = lloyd(&inner, start, limits, run)?;
            if best.as_ref().is_none_or(|best| halves.error < best.0) {
                let mut about = halves.centres;
                for c in 0..2 {
                    let origins = inner.origin.iter().zip(&points.origin);
                    about.row_mut(c).iter_mut().zip(origins).for_each(|(x, (from, to))| *x += from - to);
                }
                best = Some((halves.error, about, halves.labels));
            }
        }
        let (_, two, labels) = best.expect("there is at least one restart");
        if labels.iter().all(|label| *label == labels[0]) {
            // Equal rows, whose mean is off by a rounding: they have no halves.
            leaves.push(Leaf { error: 0.0, ..whole });
            continue;
        }
        let halving = sides.len() / 2;
        if let Some(side) = whole.side {
            sides[side] = halving as i64;
        }
        sides.extend([0, 0]);
        centres.extend_from_slice(two.values());
        for side in 0..2 {
            let chosen = whole.rows.iter().zip(&labels).filter(|(_, label)| **label == side as u32);
            leaves.push(leaf(points, chosen.map(|(&i, _)| i).collect(), Some(2 * halving + side)));
        }
        trace.push(leaves.iter().map(|leaf| leaf.error).sum());
        run.progress("halving", leaves.len(), k);
    }
    // The largest cluster comes first, of equals the one with the first row.
    leaves.sort_by(|a, b| b.size.total_cmp(&a.size).then_with(|| a.rows.first().cmp(&b.rows.first())));
    let mut labels = vec![0; points.rows()];
    let mut values = Vec::with_capacity(leaves.len() * columns);
    for (c, leaf) in leaves.iter().enumerate() {
        leaf.rows.iter().for_each(|&i| labels[i] = c as u32);
        values.extend_from_slice(&leaf.centre);
        if let Some(side) = leaf.side {
            sides[side] = -1 - c as i64;
        }
    }
    let halvings = Halvings { centres: Matrix::new(sides.len(), columns, centres)?, sides };
    Ok(Bisected {
        centres: Matrix::new(leaves.len(), columns, values)?,
        labels,
        sizes: leaves.iter().map(|leaf| leaf.size).collect(),
        halvings,
        trace,
        stop,
    })
}

fn leaf(points: &Points<'_>, rows: Vec<usize>, side: Option<usize>) -> Leaf {
    let (mut centre, mut size, mut row) = (vec![0.0; points.columns()], 0.0, vec![0.0; points.columns()]);
    for &i in &rows {
        points.add_row(i, points.weight(i), &mut centre, &mut row);
        size += points.weight(i);
    }
    if size > 0.0 {
        centre.iter_mut().for_each(|x| *x /= size);
    }
    let mut error = 0.0;
    for &i in &rows {
        points.row(i, &mut row);
        error += points.weight(i) * squared_distance(&row, &centre);
    }
    Leaf { rows, centre, size, error, side }
}
