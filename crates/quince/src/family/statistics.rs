//! Sufficient statistics of every block for every class, in one pass over rows that are sorted by class.

use crate::error::{Error, Result};
use crate::family::block::{Block, TILE, Tile};
use crate::matrix::{Features, Matrix};
use crate::passes::{Chunk, Merge, Pass, at_hand};
use crate::run::Run;
use std::borrow::Cow;
use std::ops::Range;

/// Rows sorted by class, and their weights.
pub(crate) struct Members<'a> {
    order: Vec<usize>,
    /// Where each class starts in the order, and where the last ends.
    starts: Vec<usize>,
    weights: Option<Cow<'a, [f64]>>,
}

impl<'a> Members<'a> {
    pub(crate) fn new(codes: &[u32], classes: usize, weights: Option<&'a [f64]>) -> Members<'a> {
        let mut starts = vec![0; classes + 1];
        codes.iter().for_each(|&code| starts[code as usize + 1] += 1);
        (0..classes).for_each(|class| starts[class + 1] += starts[class]);
        let (mut next, mut order) = (starts.clone(), vec![0; codes.len()]);
        for (row, &code) in codes.iter().enumerate() {
            order[next[code as usize]] = row;
            next[code as usize] += 1;
        }
        Members { order, starts, weights: weights.map(Cow::Borrowed) }
    }

    /// Some rows only, each of the component beside it.
    pub(crate) fn of_rows(rows: &[usize], components: &[u32], count: usize, weights: Option<&'a [f64]>) -> Members<'a> {
        let mut members = Members::new(components, count, weights);
        members.order.iter_mut().for_each(|place| *place = rows[*place]);
        members
    }

    /// The same with weights of its own, as a chunk has that owns its rows.
    #[cfg(test)]
    pub(crate) fn into_owned(self) -> Members<'static> {
        let Members { order, starts, weights } = self;
        Members { order, starts, weights: weights.map(|weights| Cow::Owned(weights.into_owned())) }
    }

    pub(crate) fn classes(&self) -> usize {
        self.starts.len() - 1
    }

    /// At most `most` of the rows, evenly from every class.
    pub(crate) fn some(&self, most: usize) -> Members<'a> {
        let (rows, count) = (self.rows(), self.rows().min(most));
        let order: Vec<usize> = (0..count).map(|r| rows * r / count).collect();
        let starts = self.starts.iter().map(|&start| order.partition_point(|&place| place < start)).collect();
        Members {
            order: order.into_iter().map(|place| self.order[place]).collect(),
            starts,
            weights: self.weights.clone(),
        }
    }

    /// All rows, class after class.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(crate) fn rows(&self) -> usize {
        self.order.len()
    }

    /// The classes of the rows, in their order, and their weights.
    pub(crate) fn codes_and_weights(&self) -> (Vec<u32>, Option<Vec<f64>>) {
        let of_class = |class: usize| std::iter::repeat_n(class as u32, self.starts[class + 1] - self.starts[class]);
        let weights = self.weights.as_ref().map(|weights| self.order.iter().map(|&row| weights[row]).collect());
        ((0..self.classes()).flat_map(of_class).collect(), weights)
    }

    /// The total weight of each class.
    pub(crate) fn totals(&self) -> Vec<f64> {
        let weight = |&row: &usize| self.weights.as_ref().map_or(1.0, |weights| weights[row]);
        self.starts.windows(2).map(|ends| self.order[ends[0]..ends[1]].iter().map(weight).sum()).collect()
    }

    /// Calls `visit(class, rows, weights)` for tiles of one class each, within this range of the order.
    pub(crate) fn each_tile(&self, places: Range<usize>, mut visit: impl FnMut(usize, &[usize], Option<&[f64]>)) {
        let mut at = places.start;
        let mut weights = Vec::with_capacity(TILE);
        while at < places.end {
            let class = self.starts.partition_point(|&start| start <= at) - 1;
            let end = places.end.min(self.starts[class + 1]).min(at + TILE);
            let rows = &self.order[at..end];
            if let Some(all) = &self.weights {
                weights.clear();
                weights.extend(rows.iter().map(|&row| all[row]));
            }
            visit(class, rows, self.weights.is_some().then_some(&weights[..]));
            at = end;
        }
    }
}

/// The statistics of some blocks: for each a matrix with one row per class.
pub(crate) fn statistics(
    blocks: &[&Block],
    features: &Features<'_>,
    members: &Members<'_>,
    run: &Run,
) -> Result<Vec<Matrix>> {
    statistics_of_chunks(blocks, at_hand(ClassRows { features, members }), features.row_cost(), members.classes(), run)
}

/// The statistics of rows that come in chunks.
pub(crate) fn statistics_of_chunks<C: RowsByClass>(
    blocks: &[&Block],
    chunks: impl IntoIterator<Item = Result<C>>,
    row_cost: usize,
    classes: usize,
    run: &Run,
) -> Result<Vec<Matrix>> {
    let pass = Pass::new((20_000_000 / row_cost).max(TILE), run);
    let found = pass.gather(chunks, PartialStatistics::default, |part, rows, places| part.add(blocks, rows, places))?;
    let mut all: Vec<Matrix> =
        blocks.iter().map(|block| Matrix::zeros(classes, block.family().statistic_count())).collect();
    if let Some(error) = found.infinite {
        return Err(error);
    }
    for (class, statistics) in found.of_classes {
        for (all, statistics) in all.iter_mut().zip(statistics) {
            all.row_mut(class).iter_mut().zip(statistics).for_each(|(all, sum)| *all += sum);
        }
    }
    Ok(all)
}

/// The statistics of blocks, collected again about better origins where digits were lost.
pub(crate) fn centred_statistics(
    blocks: &mut [Block],
    features: &Features<'_>,
    members: &Members<'_>,
    run: &Run,
) -> Result<Vec<Matrix>> {
    let all: Vec<&Block> = blocks.iter().collect();
    let mut found = statistics(&all, features, members, run)?;
    let moved: Vec<usize> = (0..blocks.len()).filter(|&b| blocks[b].family_mut().recentre(&found[b])).collect();
    if !moved.is_empty() {
        let again: Vec<&Block> = moved.iter().map(|&b| &blocks[b]).collect();
        let again = statistics(&again, features, members, run)?;
        moved.into_iter().zip(again).for_each(|(b, statistics)| found[b] = statistics);
    }
    Ok(found)
}

/// A chunk of rows, and which class each is of.
pub(crate) trait RowsByClass: Chunk {
    fn features(&self) -> Features<'_>;

    fn members(&self) -> &Members<'_>;
}

/// Rows in memory, and which class each is of.
pub(crate) struct ClassRows<'a> {
    pub(crate) features: &'a Features<'a>,
    pub(crate) members: &'a Members<'a>,
}

impl Chunk for ClassRows<'_> {
    fn count(&self) -> usize {
        self.members.rows()
    }
}

impl RowsByClass for ClassRows<'_> {
    fn features(&self) -> Features<'_> {
        *self.features
    }

    fn members(&self) -> &Members<'_> {
        self.members
    }
}

/// The statistics of a part of the rows.
#[derive(Default)]
struct PartialStatistics {
    /// For each class that the part meets (they are contiguous in the order), in order, the statistics of every block.
    of_classes: Vec<(usize, Vec<Vec<f64>>)>,
    /// Says where an infinite number is, if there is one.
    infinite: Option<Error>,
}

impl PartialStatistics {
    fn add(&mut self, blocks: &[&Block], rows: &impl RowsByClass, places: Range<usize>) {
        let features = rows.features();
        let mut tile = Tile::new(&features);
        rows.members().each_tile(places, |class, some, weights| {
            tile.fill(&features, some.iter().copied());
            if self.of_classes.last().is_none_or(|(last, _)| *last != class) {
                let empty = blocks.iter().map(|block| vec![0.0; block.family().statistic_count()]).collect();
                self.of_classes.push((class, empty));
            }
            let Some((_, statistics)) = self.of_classes.last_mut() else { return };
            for (block, statistics) in blocks.iter().zip(statistics) {
                block.family().add(class, statistics, &tile, weights);
            }
        });
        if !tile.is_finite() {
            self.infinite.get_or_insert_with(|| features.infinite_from(rows.first()));
        }
    }
}

impl Merge for PartialStatistics {
    fn merge(&mut self, later: PartialStatistics) {
        for (class, statistics) in later.of_classes {
            match self.of_classes.iter_mut().find(|(known, _)| *known == class) {
                None => self.of_classes.push((class, statistics)),
                Some((_, all)) => all.iter_mut().zip(statistics).for_each(|(all, later)| all.merge(later)),
            }
        }
        self.infinite = self.infinite.take().or(later.infinite);
    }
}
