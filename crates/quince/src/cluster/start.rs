//! Where k-means starts.
//!
//! k-means++ (Arthur and Vassilvitskii 2007) draws one row after another, each with a chance in proportion to its squared
//! distance from the nearest row drawn so far. Drawn greedily: of a few such rows the one is kept that lowers the error
//! most. A row that equals one drawn before has no chance, so all centres differ while there are rows that do.

use super::points::{Centres, Points, Space, parts};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::fused::{Visit, WIDE};
use crate::run::{Run, Stream};

/// `k` rows about the origin, drawn greedily by k-means++.
pub(super) fn plus_plus(points: &Points<'_>, k: usize, stream: &mut Stream, run: &Run) -> Result<Matrix> {
    let trials = 2 + (k as f64).ln() as usize;
    let rows = points.rows();
    let weights: Vec<f64> = (0..rows).map(|i| points.weight(i)).collect();
    let mut drawn = vec![draw(&weights, stream)];
    let mut nearest: Vec<f64> = distances(points, &drawn, run)?.into_iter().map(|[square, ..]| square).collect();
    while drawn.len() < k {
        let chances: Vec<f64> = nearest.iter().zip(&weights).map(|(square, weight)| square * weight).collect();
        if chances.iter().sum::<f64>() <= 0.0 {
            // Every row equals one drawn before: the rest are copies of the first, and their clusters stay empty.
            drawn.resize(k, drawn[0]);
            break;
        }
        let candidates: Vec<usize> = (0..trials.min(TRIALS)).map(|_| draw(&chances, stream)).collect();
        let found = distances(points, &candidates, run)?;
        let error = |candidate: usize| -> f64 {
            found.iter().zip(&nearest).zip(&weights).map(|((d, least), weight)| weight * d[candidate].min(*least)).sum()
        };
        let errors: Vec<f64> = (0..candidates.len()).map(error).collect();
        let best = (0..errors.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0);
        nearest.iter_mut().zip(&found).for_each(|(least, d)| *least = least.min(d[best]));
        drawn.push(candidates[best]);
        run.check()?;
    }
    Ok(rows_of(points, &drawn))
}

/// `k` different rows about the origin, each set equally likely; rows without weight are left out while others last.
pub(super) fn random(points: &Points<'_>, k: usize, stream: &mut Stream) -> Matrix {
    let mut rows: Vec<usize> = (0..points.rows()).filter(|&i| points.weight(i) > 0.0).collect();
    stream.shuffle(&mut rows);
    let count = rows.len();
    let drawn: Vec<usize> = (0..k).map(|c| rows[c % count]).collect();
    rows_of(points, &drawn)
}

pub(super) fn rows_of(points: &Points<'_>, rows: &[usize]) -> Matrix {
    let mut centres = Matrix::zeros(rows.len(), points.columns());
    rows.iter().enumerate().for_each(|(c, &i)| points.row(i, centres.row_mut(c)));
    centres
}

/// A number drawn in proportion to weights, not all of which are zero.
fn draw(weights: &[f64], stream: &mut Stream) -> usize {
    let total: f64 = weights.iter().sum();
    let mut left = stream.uniform() * total;
    let mut last = 0;
    for (i, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        last = i;
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// The most candidates that are looked at together.
const TRIALS: usize = 12;

/// The squared distance of every row from a few rows.
fn distances(points: &Points<'_>, few: &[usize], run: &Run) -> Result<Vec<[f64; TRIALS]>> {
    let centres = Centres::new(rows_of(points, few), points);
    let ranges = parts(points.rows());
    let found = run.map(ranges.len(), |part| {
        let rows = ranges[part].clone();
        let (mut space, mut buffer) = (Space::default(), vec![0.0; points.columns()]);
        let mut found = vec![[f64::INFINITY; TRIALS]; rows.len()];
        for first in rows.clone().step_by(WIDE) {
            let some: Vec<u32> = (first..(first + WIDE).min(rows.end)).map(|i| i as u32).collect();
            let mut scores = Keep([[0.0; WIDE]; TRIALS]);
            if points.scored && !points.is_sparse() {
                points.each_score(&some, &centres, &mut space, &mut scores);
            }
            for (lane, &i) in some.iter().enumerate() {
                let (i, out) = (i as usize, &mut found[i as usize - rows.start]);
                let error = points.error(i, &centres);
                for c in 0..few.len() {
                    let norm = f64::from(points.norms[i]);
                    let square = norm * norm - 2.0 * f64::from(scores.0[c][lane]);
                    // Where single precision cannot tell a distance from zero it is measured directly.
                    let clear = points.scored && !points.is_sparse() && square > 16.0 * error;
                    out[c] = if clear { square } else { points.squared_distance(i, &centres, c, &mut buffer) };
                }
            }
        }
        found
    });
    run.check()?;
    Ok(found.into_iter().flatten().collect())
}

struct Keep([[f32; WIDE]; TRIALS]);

impl Visit for Keep {
    #[inline(always)]
    fn scores(&mut self, row: usize, scores: &[f32; WIDE]) {
        self.0[row] = *scores;
    }
}
