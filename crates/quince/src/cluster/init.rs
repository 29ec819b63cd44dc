//! Initialisation of k-means.
//!
//! k-means++ (Arthur and Vassilvitskii 2007) draws one row after another, each with probability in proportion to its squared
//! distance from the nearest row drawn so far. It is greedy: of a few such candidates the one that lowers the error most is
//! kept. A row that equals one drawn before has probability zero, so all centres differ while there are rows that do.
//!
//! Of the candidates only their errors are kept, and one bit per row and candidate that says whether it is nearer than all rows
//! drawn before; the rows of the candidate that is kept are measured again, and they get fewer with every draw.

use super::points::{Centres, Points, ScoreScratch, pass};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::fused::{Visit, WIDE};
use crate::passes::{at_hand, parts};
use crate::run::{Run, Stream};
use std::collections::BTreeSet;
use std::ops::Range;

/// `k` rows about the origin, drawn greedily by k-means++.
pub(super) fn plus_plus(points: &Points<'_>, k: usize, stream: &mut Stream, run: &Run) -> Result<Matrix> {
    let mut drawn = Vec::with_capacity(k);
    draw_plus_plus(points, k, stream, &mut drawn, run)?;
    Ok(rows_of(points, &drawn))
}

/// The same for an answer that is wanted however late it is: from the deadline on, any rows are drawn that differ from those before.
pub(super) fn plus_plus_in_time(points: &Points<'_>, k: usize, stream: &mut Stream, run: &Run) -> Result<Matrix> {
    let mut drawn = Vec::with_capacity(k);
    match draw_plus_plus(points, k, stream, &mut drawn, run) {
        Err(Error::OutOfTime { .. }) => {}
        done => done?,
    }
    let before: BTreeSet<usize> = drawn.iter().copied().collect();
    let others = sample_indices(points.rows(), k, stream).into_iter().filter(|row| !before.contains(row));
    drawn.extend(others.take(k - before.len()));
    drawn.resize(k, drawn[0]);
    Ok(rows_of(points, &drawn))
}

/// Draws rows until there are `k`.
fn draw_plus_plus(points: &Points<'_>, k: usize, stream: &mut Stream, drawn: &mut Vec<usize>, run: &Run) -> Result<()> {
    let trials = (2 + (k as f64).ln() as usize).min(MAX_CANDIDATES);
    let mut sampler = Sampler::new(points);
    drawn.push(sampler.draw(stream));
    sampler.begin();
    sampler.keep(drawn[0], 0, run)?;
    while drawn.len() < k {
        if sampler.parts.iter().all(|part| part.mass <= 0.0) {
            // Every row equals one drawn before: the rest are copies of the first, and their clusters stay empty.
            drawn.resize(k, drawn[0]);
            break;
        }
        let candidates: Vec<usize> = (0..trials).map(|_| sampler.draw(stream)).collect();
        let best = sampler.compare(&candidates, run)?;
        sampler.keep(candidates[best], best, run)?;
        drawn.push(candidates[best]);
        run.check()?;
    }
    Ok(())
}

/// `k` different rows about the origin, each set equally likely; rows without weight are left out while others last.
pub(super) fn random(points: &Points<'_>, k: usize, stream: &mut Stream) -> Matrix {
    let weighty = points.weights.map(|weights| (0..points.rows()).filter(|&i| weights[i] > 0.0).collect::<Vec<_>>());
    let count = weighty.as_ref().map_or(points.rows(), Vec::len);
    let mut drawn = sample_indices(count, k, stream);
    if let Some(weighty) = weighty {
        drawn.iter_mut().for_each(|i| *i = weighty[*i]);
    }
    let again: Vec<usize> = (0..k).map(|c| drawn[c % drawn.len()]).collect();
    rows_of(points, &again)
}

/// `few` different indices below `count` (all if there are not as many), rising, each set equally likely (Floyd 1987).
pub(super) fn sample_indices(count: usize, few: usize, stream: &mut Stream) -> Vec<usize> {
    let mut drawn = BTreeSet::new();
    for last in count.saturating_sub(few)..count {
        let one = stream.below(last + 1);
        if !drawn.insert(one) {
            drawn.insert(last);
        }
    }
    drawn.into_iter().collect()
}

fn rows_of(points: &Points<'_>, rows: &[usize]) -> Matrix {
    let mut centres = Matrix::zeros(rows.len(), points.columns());
    rows.iter().enumerate().for_each(|(c, &i)| points.row(i, centres.row_mut(c)));
    centres
}

/// The most candidates that are looked at together.
const MAX_CANDIDATES: usize = 12;

/// The rows while centres are drawn from them.
struct Sampler<'a> {
    points: &'a Points<'a>,
    parts: Vec<SamplerPart>,
}

/// A range of rows.
struct SamplerPart {
    rows: Range<usize>,
    /// The squared distance of each row from the nearest row drawn so far.
    nearest: Vec<f64>,
    /// Which candidates are nearer, a bit each.
    nearer: Vec<u16>,
    /// Σ w·nearest, in proportion to which a part is drawn from.
    mass: f64,
    /// What it would be with each candidate.
    errors: [f64; MAX_CANDIDATES],
    scratch: ScoreScratch,
    row: Vec<f64>,
}

impl<'a> Sampler<'a> {
    /// Nothing is drawn yet: probabilities are in proportion to weights.
    fn new(points: &'a Points<'a>) -> Sampler<'a> {
        let part = |rows: Range<usize>| SamplerPart {
            nearest: vec![1.0; rows.len()],
            nearer: vec![0; rows.len()],
            mass: rows.clone().map(|i| points.weight(i)).sum(),
            errors: [0.0; MAX_CANDIDATES],
            scratch: ScoreScratch::default(),
            row: vec![0.0; points.columns()],
            rows,
        };
        Sampler { points, parts: parts(points.rows()).into_iter().map(part).collect() }
    }

    /// Makes the first row that is kept the nearest of all rows.
    fn begin(&mut self) {
        for part in &mut self.parts {
            part.nearest.fill(f64::INFINITY);
            part.nearer.fill(1);
        }
    }

    /// A row drawn in proportion to weight times squared distance.
    fn draw(&self, stream: &mut Stream) -> usize {
        let mut left = stream.uniform() * self.parts.iter().map(|part| part.mass).sum::<f64>();
        let mut last = &self.parts[0];
        for part in self.parts.iter().filter(|part| part.mass > 0.0) {
            last = part;
            if left < part.mass {
                break;
            }
            left -= part.mass;
        }
        last.find(self.points, left)
    }

    /// The candidate that lowers the error most, the first of equals.
    fn compare(&mut self, candidates: &[usize], run: &Run) -> Result<usize> {
        let points = self.points;
        let centres = Centres::new(rows_of(points, candidates), points.frame);
        self.parts.iter_mut().for_each(|part| part.errors.fill(0.0));
        let work = (3 + candidates.len()) * points.frame.width();
        pass(work, run)
            .visit(at_hand(points), &mut self.parts, |part, points, rows| part.compare(points, &centres, rows))?;
        let error = |c: usize| self.parts.iter().map(|part| part.errors[c]).sum::<f64>();
        let errors: Vec<f64> = (0..candidates.len()).map(error).collect();
        Ok((0..errors.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0))
    }

    /// Keeps a row that was candidate number `bit`.
    fn keep(&mut self, row: usize, bit: usize, run: &Run) -> Result<()> {
        let points = self.points;
        let centre = Centres::new(rows_of(points, &[row]), points.frame);
        self.parts.iter_mut().for_each(|part| part.mass = 0.0);
        pass(4 * points.frame.width(), run).visit(at_hand(points), &mut self.parts, |part, points, rows| {
            part.keep(points, &centre, bit, rows);
        })
    }
}

impl SamplerPart {
    /// The row at which the cumulative mass passes `left`. Sums are rounded: past the end it is the last row with any mass.
    fn find(&self, points: &Points<'_>, mut left: f64) -> usize {
        let mut last = self.rows.start;
        for (i, nearest) in self.rows.clone().zip(&self.nearest) {
            let chance = points.weight(i) * nearest;
            if chance > 0.0 {
                last = i;
                left -= chance;
                if left < 0.0 {
                    break;
                }
            }
        }
        last
    }

    fn compare(&mut self, points: &Points<'_>, centres: &Centres, rows: Range<usize>) {
        let mut squares = [[0.0; WIDE]; MAX_CANDIDATES];
        for first in rows.clone().step_by(WIDE) {
            let some = Few::of(first..(first + WIDE).min(rows.end));
            measure(points, some.rows(), centres, &mut self.scratch, &mut self.row, &mut squares);
            for (lane, &i) in some.rows().iter().enumerate() {
                let (place, weight) = (i as usize - self.rows.start, points.weight(i as usize));
                let (nearest, mut nearer) = (self.nearest[place], 0);
                for (c, squares) in squares[..centres.count()].iter().enumerate() {
                    nearer |= u16::from(squares[lane] < nearest) << c;
                    self.errors[c] += weight * squares[lane].min(nearest);
                }
                self.nearer[place] = nearer;
            }
        }
    }

    fn keep(&mut self, points: &Points<'_>, centre: &Centres, bit: usize, rows: Range<usize>) {
        let mut squares = [[0.0; WIDE]; MAX_CANDIDATES];
        let mut some = Few::default();
        let start = self.rows.start;
        for i in rows.clone() {
            if self.nearer[i - start] >> bit & 1 == 1 {
                some.push(i);
            }
            if some.count == WIDE || i + 1 == rows.end {
                measure(points, some.rows(), centre, &mut self.scratch, &mut self.row, &mut squares);
                for (&i, &square) in some.rows().iter().zip(&squares[0]) {
                    let nearest = &mut self.nearest[i as usize - start];
                    *nearest = nearest.min(square);
                }
                some.count = 0;
            }
        }
        self.mass += rows.map(|i| points.weight(i) * self.nearest[i - start]).sum::<f64>();
    }
}

/// Sixteen rows at most.
#[derive(Default)]
struct Few {
    rows: [u32; WIDE],
    count: usize,
}

impl Few {
    fn of(rows: Range<usize>) -> Few {
        let mut few = Few::default();
        rows.for_each(|i| few.push(i));
        few
    }

    fn push(&mut self, i: usize) {
        self.rows[self.count] = i as u32;
        self.count += 1;
    }

    fn rows(&self) -> &[u32] {
        &self.rows[..self.count]
    }
}

/// The squared distances of some rows from a few centres, one line per centre.
fn measure(
    points: &Points<'_>,
    rows: &[u32],
    centres: &Centres,
    scratch: &mut ScoreScratch,
    row: &mut [f64],
    squares: &mut [[f64; WIDE]; MAX_CANDIDATES],
) {
    let scored = points.frame.scored && !rows.is_empty();
    let mut scores = Keep([[0.0; WIDE]; MAX_CANDIDATES]);
    if scored {
        points.each_score(rows, centres, scratch, &mut scores);
    }
    for (lane, &i) in rows.iter().enumerate() {
        let (i, norm) = (i as usize, f64::from(points.norms[i as usize]));
        for c in 0..centres.count() {
            let score = f64::from(scores.0[c][lane]);
            let square = norm * norm - 2.0 * score;
            // Where single precision cannot tell a distance from zero it is measured directly.
            let clear = scored && square > 16.0 * points.error_bound(i, score, centres).at(score);
            squares[c][lane] = if clear { square } else { points.squared_distance(i, centres, c, row) };
        }
    }
}

struct Keep([[f32; WIDE]; MAX_CANDIDATES]);

impl Visit for Keep {
    #[inline(always)]
    fn scores(&mut self, row: usize, scores: &[f32; WIDE]) {
        self.0[row] = *scores;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::points::Frame;

    fn square(x: &[f64], y: &[f64]) -> f64 {
        x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    #[test]
    fn chances_are_weights_times_squared_distances_from_the_nearest_drawn() {
        let mut stream = Stream::new(1, 0);
        let rows: Vec<[f64; 3]> = (0..5000).map(|_| std::array::from_fn(|_| stream.uniform())).collect();
        let weights: Vec<f64> = (0..5000).map(|i| f64::from(i % 3)).collect();
        let x = Matrix::from_rows(&rows);
        let run = Run::new();
        let frame = Frame::of_features(x.features(), Some(&weights), &run).unwrap();
        let points = frame.points(x.features(), Some(&weights), 0);
        let mut sampler = Sampler::new(&points);
        sampler.begin();
        sampler.keep(7, 0, &run).unwrap();
        let mut drawn = vec![7];
        for round in 0..10 {
            let candidates: Vec<usize> = (0..4).map(|_| sampler.draw(&mut stream)).collect();
            assert!(candidates.iter().all(|i| weights[*i] > 0.0 && !drawn.contains(i)));
            let least = |i: usize, more: usize| {
                let all = drawn.iter().chain([&more]);
                all.map(|&j| square(&rows[i], &rows[j])).fold(f64::INFINITY, f64::min)
            };
            let error = |&c: &usize| (0..5000).map(|i| weights[i] * least(i, c)).sum::<f64>();
            let errors: Vec<f64> = candidates.iter().map(error).collect();
            let best = sampler.compare(&candidates, &run).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b;
            assert!(errors.iter().all(|other| errors[best] <= other * 1.0001), "{round}: {best} {errors:?}");
            sampler.keep(candidates[best], best, &run).unwrap();
            assert!(close(sampler.parts.iter().map(|part| part.mass).sum(), errors[best]));
            let nearest: Vec<f64> = sampler.parts.iter().flat_map(|part| part.nearest.clone()).collect();
            (0..5000).for_each(|i| assert!((nearest[i] - least(i, candidates[best])).abs() <= 1e-5, "{i}"));
            drawn.push(candidates[best]);
        }
    }

    #[test]
    fn sampled_indices_are_different_and_equally_likely() {
        let mut stream = Stream::new(8, 0);
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            let some = sample_indices(10, 3, &mut stream);
            assert!(some.len() == 3 && some.windows(2).all(|pair| pair[0] < pair[1]));
            some.into_iter().for_each(|i| counts[i] += 1);
        }
        // 3000 of each, give or take six standard deviations, √(10,000 · 0.3 · 0.7).
        assert!(counts.iter().all(|count| (2725..3275).contains(count)), "{counts:?}");
        assert_eq!(sample_indices(4, 9, &mut stream), [0, 1, 2, 3]);
    }
}
