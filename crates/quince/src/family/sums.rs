//! One pass over rows that are taken class after class: every block's sums for every class.

use crate::error::Result;
use crate::family::block::{Block, TILE, Tile};
use crate::matrix::{Features, Matrix, cuts, partials};
use crate::run::Run;
use std::ops::Range;

/// Rows in the order of their classes, and how much each counts.
pub(crate) struct Members<'a> {
    order: Vec<usize>,
    /// Where each class starts in the order, and where the last ends.
    starts: Vec<usize>,
    weights: Option<&'a [f64]>,
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
        Members { order, starts, weights }
    }

    /// Some rows only, each of the component beside it.
    pub(crate) fn of_rows(rows: &[usize], components: &[u32], count: usize, weights: Option<&'a [f64]>) -> Members<'a> {
        let mut members = Members::new(components, count, weights);
        members.order.iter_mut().for_each(|place| *place = rows[*place]);
        members
    }

    pub(crate) fn classes(&self) -> usize {
        self.starts.len() - 1
    }

    /// At most so many of the rows, from all over every class.
    pub(crate) fn some(&self, most: usize) -> Members<'a> {
        let (rows, count) = (self.rows(), self.rows().min(most));
        let order: Vec<usize> = (0..count).map(|r| rows * r / count).collect();
        let starts = self.starts.iter().map(|&start| order.partition_point(|&place| place < start)).collect();
        Members { order: order.into_iter().map(|place| self.order[place]).collect(), starts, weights: self.weights }
    }

    /// All rows, class after class.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(crate) fn rows(&self) -> usize {
        self.order.len()
    }

    /// The class of each, in their order, and how much it counts.
    pub(crate) fn codes_and_weights(&self) -> (Vec<u32>, Option<Vec<f64>>) {
        let of_class = |class: usize| std::iter::repeat_n(class as u32, self.starts[class + 1] - self.starts[class]);
        let weights = self.weights.map(|weights| self.order.iter().map(|&row| weights[row]).collect());
        ((0..self.classes()).flat_map(of_class).collect(), weights)
    }

    /// How much all rows of each class count.
    pub(crate) fn totals(&self) -> Vec<f64> {
        let weight = |&row: &usize| self.weights.map_or(1.0, |weights| weights[row]);
        self.starts.windows(2).map(|ends| self.order[ends[0]..ends[1]].iter().map(weight).sum()).collect()
    }

    /// Calls `visit(class, rows, weights)` for tiles of one class each, within these places of the order.
    pub(crate) fn each_tile(&self, places: Range<usize>, mut visit: impl FnMut(usize, &[usize], Option<&[f64]>)) {
        let mut at = places.start;
        let mut weights = Vec::with_capacity(TILE);
        while at < places.end {
            let class = self.starts.partition_point(|&start| start <= at) - 1;
            let end = places.end.min(self.starts[class + 1]).min(at + TILE);
            let rows = &self.order[at..end];
            if let Some(all) = self.weights {
                weights.clear();
                weights.extend(rows.iter().map(|&row| all[row]));
            }
            visit(class, rows, self.weights.map(|_| &weights[..]));
            at = end;
        }
    }
}

/// The sums of some blocks: for each a matrix with a row a class.
pub(crate) fn sums(
    blocks: &[&Block],
    features: &Features<'_>,
    members: &Members<'_>,
    run: &Run,
) -> Result<Vec<Matrix>> {
    let ranges = cuts(members.rows(), partials(members.rows()));
    // A part has sums for the classes it meets, which lie side by side in the order.
    let mut parts: Vec<Part<'_>> =
        ranges.iter().map(|_| Part { tile: Tile::new(features), sums: Vec::new() }).collect();
    let step = (20_000_000 / features.row_cost()).max(TILE);
    let longest = ranges.iter().map(Range::len).max().unwrap_or(0);
    for offset in (0..longest).step_by(step) {
        run.each(&mut parts, |part, state| {
            let Range { start, end } = ranges[part];
            let places = (start + offset).min(end)..(start + offset + step).min(end);
            members.each_tile(places, |class, rows, weights| {
                state.tile.fill(features, rows.iter().copied());
                if state.sums.last().is_none_or(|(last, _)| *last != class) {
                    let empty = blocks.iter().map(|block| vec![0.0; block.family().sums()]).collect();
                    state.sums.push((class, empty));
                }
                let Some((_, sums)) = state.sums.last_mut() else { return };
                for (block, sums) in blocks.iter().zip(sums) {
                    block.family().add(class, sums, &state.tile, weights);
                }
            });
        });
        run.check()?;
    }
    if parts.iter().any(|part| !part.tile.is_finite()) {
        return Err(features.infinite());
    }
    let mut all: Vec<Matrix> =
        blocks.iter().map(|block| Matrix::zeros(members.classes(), block.family().sums())).collect();
    for (class, sums) in parts.into_iter().flat_map(|part| part.sums) {
        for (all, sums) in all.iter_mut().zip(sums) {
            all.row_mut(class).iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        }
    }
    Ok(all)
}

/// The sums of blocks, taken again about better origins where digits were lost.
pub(crate) fn centred_sums(
    blocks: &mut [Block],
    features: &Features<'_>,
    members: &Members<'_>,
    run: &Run,
) -> Result<Vec<Matrix>> {
    let all: Vec<&Block> = blocks.iter().collect();
    let mut found = sums(&all, features, members, run)?;
    let moved: Vec<usize> = (0..blocks.len()).filter(|&b| blocks[b].family_mut().recentre(&found[b])).collect();
    if !moved.is_empty() {
        let again: Vec<&Block> = moved.iter().map(|&b| &blocks[b]).collect();
        let again = sums(&again, features, members, run)?;
        moved.into_iter().zip(again).for_each(|(b, sums)| found[b] = sums);
    }
    Ok(found)
}

struct Part<'a> {
    tile: Tile<'a>,
    sums: Vec<(usize, Vec<Vec<f64>>)>,
}
