//! Tiles: a few rows at a time, stored by columns, which is what a block reads; and the scores of their rows.

use crate::learn::Target;
use crate::matrix::simd::{LANES, exp, vectorised};
use crate::matrix::view::with_view;
use crate::matrix::{Features, Real, Sparse};

/// The most rows of a tile: 31 cache lines, so that the same row of adjacent columns does not map to the same cache set.
pub(crate) const TILE: usize = 31 * LANES;

/// A column starts this many places after the one before it, for the same reason.
const STRIDE: usize = 33 * LANES;

/// Stands for the largest score of a row that is impossible under every component.
const IMPOSSIBLE: f64 = f64::MIN;

/// Some rows of features. Dense columns are stored one after another, missing values are NaN; sparse rows are borrowed.
pub(crate) struct Tile<'a> {
    rows: Vec<usize>,
    values: Vec<f64>,
    missing: Vec<bool>,
    sparse: Option<&'a Sparse>,
    is_finite: bool,
}

impl<'a> Tile<'a> {
    /// An empty tile for rows of these features.
    pub(crate) fn new(features: &Features<'a>) -> Tile<'a> {
        let columns = features.dense_columns();
        Tile {
            rows: Vec::with_capacity(TILE),
            values: vec![0.0; columns * STRIDE],
            missing: vec![false; columns],
            sparse: features.sparse_part(),
            is_finite: true,
        }
    }

    /// Fills the tile with other rows, at most [`TILE`].
    pub(crate) fn fill(&mut self, features: &Features<'a>, rows: impl Iterator<Item = usize>) {
        self.rows.clear();
        self.rows.extend(rows);
        let Some(dense) = features.dense_part() else { return };
        with_view!(dense, view => {
            if view.by_rows() && view.whole_row(0).is_some() {
                // Eight rows at a time, so that writes are contiguous.
                let (eights, rest) = self.rows.as_chunks::<LANES>();
                for (e, rows) in eights.iter().enumerate() {
                    let rows = rows.map(|row| view.whole_row(row).unwrap_or_default());
                    lay_down(&rows, &mut self.values[e * LANES..]);
                }
                let first = eights.len() * LANES;
                for (i, &row) in rest.iter().enumerate() {
                    lay_down(&[view.whole_row(row).unwrap_or_default()], &mut self.values[first + i..]);
                }
            } else {
                for j in 0..view.columns() {
                    let column = &mut self.values[j * STRIDE..][..self.rows.len()];
                    column.iter_mut().zip(&self.rows).for_each(|(place, &row)| *place = view.get(row, j));
                }
            }
        });
        for j in 0..self.missing.len() {
            let column = &self.values[j * STRIDE..][..self.rows.len()];
            self.missing[j] = !all_finite(column);
            if self.missing[j] {
                self.is_finite &= !column.iter().any(|x| x.is_infinite());
            }
        }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// A dense column.
    pub(crate) fn column(&self, j: usize) -> &[f64] {
        &self.values[j * STRIDE..][..self.rows.len()]
    }

    /// Whether a dense column has missing values in this tile.
    pub(crate) fn has_missing(&self, j: usize) -> bool {
        self.missing[j]
    }

    /// Whether no tile so far had an infinite number.
    pub(crate) fn is_finite(&self) -> bool {
        self.is_finite
    }

    /// The sparse places of row `i` from `first` on, `width` of them, and their values. `None` if they are missing in this
    /// row: the first stored value is NaN.
    pub(crate) fn sparse_row(&self, i: usize, first: usize, width: usize) -> Option<(&'a [u32], &'a [f64])> {
        let (places, values) = self.sparse.map_or((&[][..], &[][..]), |sparse| sparse.row(self.rows[i]));
        let from = if first == 0 { 0 } else { places.partition_point(|&place| (place as usize) < first) };
        let end = first + width;
        let all = places.last().is_none_or(|&last| (last as usize) < end);
        let to = if all { places.len() } else { places.partition_point(|&place| (place as usize) < end) };
        if values[from..to].first().is_some_and(|value| value.is_nan()) {
            return None;
        }
        Some((&places[from..to], &values[from..to]))
    }

    /// The same as pairs of place, counted from `first`, and value.
    pub(crate) fn entries(&self, i: usize, first: usize, width: usize) -> Option<impl Iterator<Item = (usize, f64)>> {
        let (places, values) = self.sparse_row(i, first, width)?;
        Some(places.iter().map(move |&place| place as usize - first).zip(values.iter().copied()))
    }
}

/// The scores of a tile's rows, one line of rows per component.
#[derive(Clone)]
pub(crate) struct Scores {
    components: usize,
    rows: usize,
    values: Vec<f64>,
}

impl Scores {
    /// For this number of components.
    pub(crate) fn new(components: usize) -> Scores {
        Scores { components, rows: 0, values: vec![0.0; components * TILE] }
    }

    /// Starts again with this many rows; each component starts with its own score.
    pub(crate) fn start(&mut self, rows: usize, scores: &[f64]) {
        self.rows = rows;
        (0..self.components).for_each(|k| self.of_mut(k).fill(scores[k]));
    }

    /// The number of components.
    pub(crate) fn components(&self) -> usize {
        self.components
    }

    /// The scores of one component.
    pub(crate) fn of(&self, component: usize) -> &[f64] {
        &self.values[component * TILE..][..self.rows]
    }

    /// The scores of one component, mutable.
    pub(crate) fn of_mut(&mut self, component: usize) -> &mut [f64] {
        &mut self.values[component * TILE..][..self.rows]
    }

    /// Adds one number to the score of row `i` under each component.
    pub(crate) fn add(&mut self, i: usize, scores: impl IntoIterator<Item = f64>) {
        for (line, score) in self.values.chunks_exact_mut(TILE).zip(scores) {
            line[i] += score;
        }
    }

    /// Whether a score is NaN.
    pub(crate) fn has_nan(&self) -> bool {
        (0..self.components).any(|k| self.of(k).iter().any(|score| score.is_nan()))
    }

    /// Masks components of other classes: a row whose class is known cannot be of them. `own` has the classes of components.
    pub(crate) fn mask_classes(&mut self, known: impl Iterator<Item = u32>, own: &[u32]) {
        for (i, class) in known.enumerate().filter(|(_, class)| *class != Target::UNKNOWN) {
            for (line, _) in self.values.chunks_exact_mut(TILE).zip(own).filter(|(_, own)| **own != class) {
                line[i] = f64::NEG_INFINITY;
            }
        }
    }

    /// Sets the scores of rows that are impossible under every component to zero: they carry no information.
    pub(crate) fn leave_out_impossible(&mut self) {
        for i in 0..self.rows {
            if self.values.chunks_exact(TILE).all(|line| line[i] == f64::NEG_INFINITY) {
                self.values.chunks_exact_mut(TILE).for_each(|line| line[i] = 0.0);
            }
        }
    }

    /// Turns scores into responsibilities, times weights, and finds the log density of each row, ln Σ eˢ. A row that is
    /// impossible under every component has the responsibilities `otherwise` and the log density -∞.
    pub(crate) fn make_responsibilities(&mut self, weights: &[f64], otherwise: &[f64], densities: &mut [f64]) {
        densities.fill(f64::NEG_INFINITY);
        for k in 0..self.components {
            raise(self.of(k), densities);
        }
        for (i, density) in densities.iter_mut().enumerate().filter(|(_, density)| **density == f64::NEG_INFINITY) {
            (0..self.components).for_each(|k| self.of_mut(k)[i] = otherwise[k].ln());
            *density = IMPOSSIBLE;
        }
        let mut sums = [0.0; TILE];
        let sums = &mut sums[..densities.len()];
        for k in 0..self.components {
            let line = self.of_mut(k);
            for (score, largest) in line.iter_mut().zip(&*densities) {
                *score -= if *largest == IMPOSSIBLE { 0.0 } else { *largest };
            }
            exp(line);
            sums.iter_mut().zip(&*line).for_each(|(sum, r)| *sum += r);
        }
        for ((sum, density), weight) in sums.iter_mut().zip(densities).zip(weights) {
            *density = if *density == IMPOSSIBLE { f64::NEG_INFINITY } else { *density + sum.ln() };
            *sum = if *sum > 0.0 { weight / *sum } else { 0.0 };
        }
        for k in 0..self.components {
            self.of_mut(k).iter_mut().zip(&*sums).for_each(|(r, times)| *r *= times);
        }
    }

    /// Adds other scores.
    pub(crate) fn add_all(&mut self, other: &Scores) {
        for k in 0..self.components {
            self.of_mut(k).iter_mut().zip(other.of(k)).for_each(|(sum, score)| *sum += score);
        }
    }
}

/// Transposes a few rows into columns.
fn lay_down<T: Real, const N: usize>(rows: &[&[T]; N], to: &mut [f64]) {
    let columns = rows[0].len();
    let rows = rows.map(|row| &row[..columns]);
    for (j, to) in to.chunks_mut(STRIDE).take(columns).enumerate() {
        for (to, row) in to[..N].iter_mut().zip(rows) {
            *to = row[j].into();
        }
    }
}

vectorised! {
    /// The elementwise maximum.
    fn raise(line: &[f64], largest: &mut [f64]) {
        for (largest, score) in largest.iter_mut().zip(line) {
            *largest = if *score > *largest { *score } else { *largest };
        }
    }

    /// Whether all numbers are finite: 0 x is 0 then, and NaN otherwise.
    fn all_finite(values: &[f64]) -> bool {
        let (blocks, rest) = values.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for block in blocks {
            for l in 0..LANES {
                sums[l] += 0.0 * block[l];
            }
        }
        let mut sum = 0.0;
        for x in sums.iter().chain(rest) {
            sum += 0.0 * x;
        }
        sum == 0.0
    }
}
