//! Summaries of dense columns, in one pass over all of them: what must be known before blocks are laid out.

use crate::error::Result;
use crate::family::block::{TILE, Tile};
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{RowShape, WeightedRows};
use crate::passes::{Merge, Pass};
use crate::run::Run;

/// The summary of a column without its missing values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSummary {
    pub(crate) known: usize,
    /// The total weight of the rows, and their weighted sum.
    weight: f64,
    sum: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// All values are whole numbers.
    pub(crate) whole: bool,
    pub(crate) missing: bool,
    /// The smallest and the largest value of a row with positive weight.
    counted: (f64, f64),
}

impl ColumnSummary {
    fn nothing() -> ColumnSummary {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        ColumnSummary {
            known: 0,
            weight: 0.0,
            sum: 0.0,
            least,
            most,
            whole: true,
            missing: false,
            counted: (least, most),
        }
    }

    /// The mean, or 0 without values.
    pub(crate) fn mean(&self) -> f64 {
        if self.weight > 0.0 { self.sum / self.weight } else { 0.0 }
    }

    /// Whether rows with positive weight have two different values.
    pub(crate) fn varies(&self) -> bool {
        self.counted.0 < self.counted.1
    }

    /// The same with weighted rows.
    fn weighed(mut self, values: &[f64], weights: &[f64]) -> ColumnSummary {
        (self.weight, self.sum, self.counted) = (0.0, 0.0, ColumnSummary::nothing().counted);
        for (&x, &weight) in values.iter().zip(weights).filter(|(x, weight)| !x.is_nan() && **weight > 0.0) {
            self.weight += weight;
            self.sum += weight * x;
            self.counted = (self.counted.0.min(x), self.counted.1.max(x));
        }
        self
    }

    /// Whether all values are whole and not negative.
    pub(crate) fn counts(&self) -> bool {
        self.whole && (self.known == 0 || self.least >= 0.0)
    }
}

impl Merge for ColumnSummary {
    fn merge(&mut self, later: ColumnSummary) {
        self.known += later.known;
        self.weight += later.weight;
        self.sum += later.sum;
        self.counted = (self.counted.0.min(later.counted.0), self.counted.1.max(later.counted.1));
        self.least = self.least.min(later.least);
        self.most = self.most.max(later.most);
        self.whole &= later.whole;
        self.missing |= later.missing;
    }
}

/// Summarises every dense column.
pub(crate) fn look<C: WeightedRows>(
    chunks: impl IntoIterator<Item = Result<C>>,
    shape: RowShape,
    run: &Run,
) -> Result<Vec<ColumnSummary>> {
    let nothing = || Summaries(vec![ColumnSummary::nothing(); shape.dense_columns]);
    let pass = Pass::new((10_000_000 / shape.row_cost).max(TILE), run).whatever_the_deadline();
    let found = pass.gather(chunks, nothing, |Summaries(summaries), chunk, rows| {
        let (features, weights) = (chunk.features(), chunk.weights());
        let mut tile = Tile::new(&features);
        for start in rows.clone().step_by(TILE) {
            let rows = start..(start + TILE).min(rows.end);
            tile.fill(&features, rows.clone());
            for (j, summary) in summaries.iter_mut().enumerate() {
                let some = summarise_column(tile.column(j));
                summary.merge(match weights {
                    Some(weights) => some.weighed(tile.column(j), &weights[rows.clone()]),
                    None => some,
                });
            }
        }
    })?;
    Ok(found.0)
}

/// One for each dense column.
struct Summaries(Vec<ColumnSummary>);

impl Merge for Summaries {
    fn merge(&mut self, later: Summaries) {
        for (summary, later) in self.0.iter_mut().zip(later.0) {
            summary.merge(later);
        }
    }
}

/// The smallest and the largest number, or 0 if all are above or below; NaN is left out.
pub(crate) fn extremes(values: &[f64], run: &Run) -> (f64, f64) {
    let pieces: Vec<&[f64]> = values.chunks(1 << 20).collect();
    let summaries = run.map(pieces.len(), |piece| summarise_column(pieces[piece]));
    summaries.iter().fold((0.0, 0.0), |(least, most), look| (look.least.min(least), look.most.max(most)))
}

vectorised! {
    /// The summary of some numbers, in eight lanes.
    fn summarise_column(values: &[f64]) -> ColumnSummary {
        let (blocks, rest) = values.as_chunks::<LANES>();
        let (mut known, mut broken, mut sums) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut last = [f64::NAN; LANES];
        last[..rest.len()].copy_from_slice(rest);
        for block in blocks.iter().chain([&last]) {
            for l in 0..LANES {
                let x = block[l];
                known[l] += if x.is_nan() { 0.0 } else { 1.0 };
                broken[l] += if x.is_nan() || x.trunc() == x { 0.0 } else { 1.0 };
                sums[l] += if x.is_nan() { 0.0 } else { x };
                least[l] = if x < least[l] { x } else { least[l] };
                most[l] = if x > most[l] { x } else { most[l] };
            }
        }
        let weight = known.iter().sum::<f64>();
        let (known, least) = (weight as usize, least.iter().copied().fold(f64::INFINITY, f64::min));
        let most = most.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ColumnSummary {
            known,
            weight,
            sum: sums.iter().sum(),
            least,
            most,
            counted: (least, most),
            whole: broken.iter().all(|&count| count == 0.0),
            missing: known < values.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::lazy::{LazyRows, assert_close};
    use crate::matrix::{Matrix, Rows};
    use crate::passes::Source;
    use crate::run::Stream;

    /// Whole numbers, numbers, a constant, and missing values among each.
    fn example(weighted: bool, sizes: &[usize]) -> LazyRows {
        let mut stream = Stream::new(3, 0);
        let count: usize = sizes.iter().sum();
        let mut value = |at: usize| match at % 5 {
            0 => stream.below(9) as f64,
            1 => 20.0 + stream.normal(),
            2 => 7.5,
            3 if at.is_multiple_of(4) => f64::NAN,
            _ => stream.normal(),
        };
        let dense = Matrix::new(count, 5, (0..5 * count).map(&mut value).collect()).unwrap();
        let weights = weighted.then(|| (0..count).map(|i| [1.0, 0.3, 0.0, 2.5][i % 4]).collect());
        LazyRows::without_targets(Rows::from(dense), weights, sizes)
    }

    fn summaries(rows: &LazyRows, threads: usize) -> Vec<ColumnSummary> {
        look(rows.chunks(), rows.features().shape(), &Run::new().threads_exactly(threads)).unwrap()
    }

    #[test]
    fn summaries_of_chunks_that_own_their_rows_are_those_of_all() {
        for weighted in [false, true] {
            let lazy = example(weighted, &[1, 3000, 0, 999, 6000]);
            let whole = summaries(&example(weighted, &[10_000]), 2);
            let found = summaries(&lazy, 2);
            for (found, whole) in found.iter().zip(&whole) {
                let exact = |summary: &ColumnSummary| {
                    let ColumnSummary { known, least, most, whole, missing, counted, .. } = *summary;
                    (known, least, most, whole, missing, counted)
                };
                assert_eq!(exact(found), exact(whole));
                assert_close(&[found.weight, found.sum], &[whole.weight, whole.sum], |_| 1e4 * whole.most);
            }
            for threads in [1, 3, 8] {
                let bits = |summaries: &[ColumnSummary]| -> Vec<u64> {
                    summaries.iter().flat_map(|one| [one.weight.to_bits(), one.sum.to_bits()]).collect()
                };
                assert_eq!(bits(&summaries(&lazy, threads)), bits(&found));
            }
        }
    }
}
