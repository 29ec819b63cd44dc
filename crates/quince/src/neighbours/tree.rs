//! A kd-tree for any number of columns and any number of equal rows.
//!
//! Rows are split recursively at the median of the widest column (Friedman, Bentley and Finkel 1977), always by count and
//! with ties broken by row number, so that a million equal rows make no deeper tree than any others. Three
//! splits make one node of eight children, whose boxes lie side by side in memory and are measured together; a leaf
//! holds a few rows, eight side by side.
//!
//! The distance from a box is the sum, in column order, of the terms of the nearest point in it. Every step of that sum is
//! rounded monotonically, so it is never above the rank of any row in the box: no margin is needed, and a box that is as
//! far as the last neighbour found is entered only if it holds a smaller row number.

use super::best::Best;
use super::data::SearchRows;
use super::index::QuerySet;
use super::measure::ColumnTerm;
use crate::error::Result;
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{Features, Matrix};
use crate::run::{Pace, Run};
use std::ops::Range;

/// The largest number of rows in a leaf.
const ROWS_PER_LEAF: usize = 32;
/// A row number that no row has.
pub(super) const NO_ROW: u32 = u32::MAX;

/// A kd-tree.
pub(super) struct KdTree {
    columns: usize,
    /// The number of splits from the root to a leaf.
    depth: u32,
    nodes: Vec<Node>,
    /// For each node and column: eight lower ends, then eight upper ends.
    boxes: Vec<[f64; LANES]>,
    /// Rows in the order of the leaves, padded to blocks of eight: for each block its columns, eight values each.
    blocks: Vec<[f64; LANES]>,
    /// The row numbers of each block.
    rows: Vec<[u32; LANES]>,
    /// The blocks of each leaf.
    leaves: Vec<Range<u32>>,
}

#[derive(Clone, Copy)]
struct Node {
    /// Nodes, or leaves if these are the last splits; `NO_ROW` where there is none.
    children: [u32; LANES],
    /// The smallest row number below each child.
    least_rows: [u32; LANES],
    last: bool,
}

impl KdTree {
    pub(super) fn build(points: &SearchRows<'_>, run: &Run) -> Result<KdTree> {
        let points = points.features;
        let columns = points.columns();
        let count = points.rows();
        let mut depth = 0;
        while count.div_ceil(LANES).div_ceil(1 << depth) > ROWS_PER_LEAF / LANES {
            depth += 1;
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut parts: Vec<&mut [u32]> = vec![&mut order];
        // Enough parts for many threads, and each sorted in a moment.
        let together = depth.min(5.max((count / 65_536).max(1).ilog2()));
        for _ in 0..together {
            run.each(&mut parts, |_, rows| split(&points, rows));
            run.check()?;
            parts = parts
                .into_iter()
                .flat_map(|rows| {
                    let (lower, upper) = rows.split_at_mut(lower_half(rows.len()));
                    [lower, upper]
                })
                .collect();
        }
        let mut unsorted = parts.as_mut_slice();
        let mut pace = Pace::new(2);
        while !unsorted.is_empty() {
            let (some, rest) = unsorted.split_at_mut(pace.next().min(unsorted.len()));
            unsorted = rest;
            run.each(some, |_, rows| {
                // The rest is done on a copy that stays in a core's cache; row numbers rise, so ties are broken as before.
                rows.sort_unstable();
                let mut near = Matrix::zeros(rows.len(), columns);
                points.pack(rows.iter().map(|&row| row as usize), near.values_mut());
                let mut order: Vec<u32> = (0..rows.len() as u32).collect();
                split_all(&near.features(), &mut order, depth - together);
                let sorted = rows.to_vec();
                rows.iter_mut().zip(order).for_each(|(row, place)| *row = sorted[place as usize]);
            });
            run.check()?;
        }
        let tree = KdTree::over(&points, &order, depth, run);
        run.check()?;
        Ok(tree)
    }

    /// The tree over rows that are in the order of the leaves.
    fn over(points: &Features<'_>, order: &[u32], depth: u32, run: &Run) -> KdTree {
        let columns = points.columns();
        let sizes = leaf_sizes(order.len(), depth);
        let mut tree = KdTree {
            columns,
            depth,
            nodes: Vec::new(),
            boxes: Vec::new(),
            blocks: Vec::new(),
            rows: Vec::new(),
            leaves: Vec::with_capacity(sizes.len()),
        };
        let mut starts = Vec::with_capacity(sizes.len());
        let (mut start, mut block) = (0, 0u32);
        for &size in &sizes {
            starts.push(start);
            let blocks = size.div_ceil(LANES) as u32;
            tree.leaves.push(block..block + blocks);
            start += size;
            block += blocks;
        }
        tree.blocks = vec![[f64::INFINITY; LANES]; block as usize * columns];
        tree.rows = vec![[NO_ROW; LANES]; block as usize];
        // Every leaf fills its own blocks.
        let mut slots = Vec::with_capacity(sizes.len());
        let (mut values, mut rows) = (tree.blocks.as_mut_slice(), tree.rows.as_mut_slice());
        for leaf in &tree.leaves {
            let (mine, rest) = values.split_at_mut(leaf.len() * columns);
            let (my_rows, rest_rows) = rows.split_at_mut(leaf.len());
            slots.push((mine, my_rows));
            (values, rows) = (rest, rest_rows);
        }
        let mut groups: Vec<_> = slots.chunks_mut(256).collect();
        run.each(&mut groups, |group, slots| {
            let mut space = vec![0.0; columns];
            for (k, (values, numbers)) in slots.iter_mut().enumerate() {
                let leaf = group * 256 + k;
                let mut members = order[starts[leaf]..starts[leaf] + sizes[leaf]].to_vec();
                members.sort_unstable();
                for (place, &row) in members.iter().enumerate() {
                    let (block, lane) = (place / LANES, place % LANES);
                    numbers[block][lane] = row;
                    for (j, &value) in points.dense_row(row as usize, &mut space).iter().enumerate() {
                        values[block * columns + j][lane] = value;
                    }
                }
            }
        });
        let bounds: Vec<BoundingBox> = run
            .map(tree.leaves.len().div_ceil(256), |group| {
                let leaves = group * 256..(group * 256 + 256).min(tree.leaves.len());
                leaves.map(|leaf| tree.bound_of(leaf)).collect::<Vec<_>>()
            })
            .into_iter()
            .flatten()
            .collect();
        tree.grow(bounds);
        tree
    }

    fn bound_of(&self, leaf: usize) -> BoundingBox {
        let mut bound = BoundingBox::nothing(self.columns);
        for block in self.leaves[leaf].clone() {
            let block = block as usize;
            for lane in (0..LANES).filter(|&lane| self.rows[block][lane] != NO_ROW) {
                bound.least_row = bound.least_row.min(self.rows[block][lane]);
                for j in 0..self.columns {
                    let value = self.blocks[block * self.columns + j][lane];
                    bound.lower[j] = bound.lower[j].min(value);
                    bound.upper[j] = bound.upper[j].max(value);
                }
            }
        }
        bound
    }

    /// Makes nodes of up to eight children from the leaves upwards; the root is the last node.
    fn grow(&mut self, mut bounds: Vec<BoundingBox>) {
        let mut children: Vec<u32> = (0..bounds.len() as u32).collect();
        let mut last = true;
        let mut levels = self.depth;
        loop {
            // The root takes what is left over from groups of three splits.
            let splits = if levels > 3 { 3 } else { levels };
            let fan = 1usize << splits;
            let mut next = Vec::with_capacity(bounds.len() / fan + 1);
            let mut next_children = Vec::with_capacity(bounds.len() / fan + 1);
            for (group, members) in bounds.chunks(fan).zip(children.chunks(fan)) {
                let mut node = Node { children: [NO_ROW; LANES], least_rows: [NO_ROW; LANES], last };
                let first = self.boxes.len();
                self.boxes.resize(first + 2 * self.columns, [f64::INFINITY; LANES]);
                let mut whole = BoundingBox::nothing(self.columns);
                for (lane, (bound, &child)) in group.iter().zip(members).enumerate() {
                    node.children[lane] = child;
                    node.least_rows[lane] = bound.least_row;
                    for j in 0..self.columns {
                        self.boxes[first + 2 * j][lane] = bound.lower[j];
                        self.boxes[first + 2 * j + 1][lane] = bound.upper[j];
                    }
                    whole.join(bound);
                }
                next_children.push(self.nodes.len() as u32);
                self.nodes.push(node);
                next.push(whole);
            }
            (bounds, children, last) = (next, next_children, false);
            levels -= splits;
            if levels == 0 {
                return;
            }
        }
    }

    /// A leaf near the query: queries asked in the order of their leaves find the rows they need in the cache.
    pub(super) fn leaf_near(&self, query: &[f64]) -> u32 {
        near_leaf(self, query)
    }

    /// Finds the nearest rows of some queries, given as (leaf, query), and hands them over, the nearest first.
    pub(super) fn search<G: ColumnTerm>(
        &self,
        column: G,
        queries: &QuerySet<'_>,
        some: &[(u32, u32)],
        mut take: impl FnMut(&[(f64, u32)]),
    ) {
        let mut best = Best::new(queries.k);
        let (mut stack, mut space) = (Vec::new(), vec![0.0; self.columns]);
        for &(_, q) in some {
            best.clear();
            let query = queries.queries.dense_row(q as usize, &mut space);
            let omit = queries.own(q as usize);
            search_one(TreeSearch { tree: self, column, query, omit }, &mut best, &mut stack);
            take(best.found());
        }
    }
}

/// The bounding box of rows, and the smallest row number in it.
struct BoundingBox {
    lower: Vec<f64>,
    upper: Vec<f64>,
    least_row: u32,
}

impl BoundingBox {
    fn nothing(columns: usize) -> BoundingBox {
        BoundingBox { lower: vec![f64::INFINITY; columns], upper: vec![f64::NEG_INFINITY; columns], least_row: NO_ROW }
    }

    fn join(&mut self, other: &BoundingBox) {
        self.lower.iter_mut().zip(&other.lower).for_each(|(a, b)| *a = a.min(*b));
        self.upper.iter_mut().zip(&other.upper).for_each(|(a, b)| *a = a.max(*b));
        self.least_row = self.least_row.min(other.least_row);
    }
}

/// The sizes of the leaves that splitting by count makes, in order.
fn leaf_sizes(count: usize, depth: u32) -> Vec<usize> {
    let mut sizes = vec![count];
    for _ in 0..depth {
        sizes = sizes.into_iter().flat_map(|size| [lower_half(size), size - lower_half(size)]).collect();
    }
    sizes
}

/// The number of rows in the lower half: whole blocks, so that few are partly filled.
fn lower_half(rows: usize) -> usize {
    (rows.div_ceil(LANES) / 2 * LANES).min(rows)
}

fn split_all(points: &Features<'_>, rows: &mut [u32], splits: u32) {
    if splits > 0 {
        split(points, rows);
        let (lower, upper) = rows.split_at_mut(lower_half(rows.len()));
        split_all(points, lower, splits - 1);
        split_all(points, upper, splits - 1);
    }
}

/// Puts the lower half of the rows, by their widest column, before the upper half.
fn split(points: &Features<'_>, rows: &mut [u32]) {
    let columns = points.columns();
    let middle = lower_half(rows.len());
    if middle == 0 {
        return;
    }
    let mut space = vec![0.0; columns];
    let (mut lower, mut upper) = (vec![f64::INFINITY; columns], vec![f64::NEG_INFINITY; columns]);
    for &row in rows.iter() {
        for (j, &value) in points.dense_row(row as usize, &mut space).iter().enumerate() {
            lower[j] = lower[j].min(value);
            upper[j] = upper[j].max(value);
        }
    }
    let width = |j: usize| upper[j] - lower[j];
    let widest = (0..columns).rev().max_by(|&a, &b| width(a).total_cmp(&width(b))).unwrap_or(0);
    if width(widest) > 0.0 {
        let mut keys: Vec<(f64, u32)> =
            rows.iter().map(|&row| (points.dense_value(row as usize, widest), row)).collect();
        keys.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        rows.iter_mut().zip(keys).for_each(|(row, key)| *row = key.1);
    } else {
        rows.select_nth_unstable(middle);
    }
}

/// The search of one query.
struct TreeSearch<'a, G> {
    tree: &'a KdTree,
    column: G,
    query: &'a [f64],
    omit: u32,
}

/// A node or leaf still to be visited, with its lower bound of ranks and its least row.
struct Pending {
    rank: f64,
    least_row: u32,
    child: u32,
    leaf: bool,
}

vectorised! {
    fn near_leaf(tree: &KdTree, query: &[f64]) -> u32 {
        let mut at = tree.nodes.len() - 1;
        loop {
            let node = &tree.nodes[at];
            let boxes = &tree.boxes[at * 2 * query.len()..(at + 1) * 2 * query.len()];
            let mut away = [0.0; LANES];
            for (j, &x) in query.iter().enumerate() {
                for l in 0..LANES {
                    let outside = larger(larger(boxes[2 * j][l] - x, x - boxes[2 * j + 1][l]), 0.0);
                    away[l] += outside * outside;
                }
            }
            let mut nearest = 0;
            for l in 1..LANES {
                if away[l] < away[nearest] && node.children[l] != NO_ROW {
                    nearest = l;
                }
            }
            at = node.children[nearest] as usize;
            if node.last {
                return at as u32;
            }
        }
    }

    fn search_one<G: ColumnTerm>(search: TreeSearch<'_, G>, best: &mut Best, stack: &mut Vec<Pending>) {
        let TreeSearch { tree, column, query, omit } = search;
        stack.clear();
        let root = tree.nodes.len() as u32 - 1;
        stack.push(Pending { rank: 0.0, least_row: 0, child: root, leaf: false });
        while let Some(next) = stack.pop() {
            if !best.admits(next.rank, next.least_row) {
                continue;
            }
            if next.leaf {
                scan(tree, column, query, omit, next.child, best);
                continue;
            }
            let node = &tree.nodes[next.child as usize];
            let first = next.child as usize * 2 * query.len();
            let boxes = &tree.boxes[first..first + 2 * query.len()];
            let mut ranks = [0.0; LANES];
            for (j, &x) in query.iter().enumerate() {
                let (lower, upper) = (&boxes[2 * j], &boxes[2 * j + 1]);
                for l in 0..LANES {
                    let outside = larger(larger(lower[l] - x, x - upper[l]), 0.0);
                    ranks[l] = G::join(ranks[l], column.term(j, outside));
                }
            }
            for l in 0..LANES {
                ranks[l] = G::bound(ranks[l]);
            }
            // The nearest box goes on top of the stack.
            let (from, worst) = (stack.len(), best.worst());
            for lane in 0..LANES {
                let rank = ranks[lane];
                if rank > worst || node.children[lane] == NO_ROW {
                    continue;
                }
                let (least_row, child) = (node.least_rows[lane], node.children[lane]);
                let mut place = stack.len();
                stack.push(Pending { rank, least_row, child, leaf: node.last });
                while place > from && (stack[place - 1].rank, stack[place - 1].least_row) < (rank, least_row) {
                    stack.swap(place, place - 1);
                    place -= 1;
                }
            }
        }
    }
}

/// The larger of two numbers, neither of them NaN: one instruction, where `f64::max` takes three.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn scan<G: ColumnTerm>(tree: &KdTree, column: G, query: &[f64], omit: u32, leaf: u32, best: &mut Best) {
    let columns = query.len();
    for block in tree.leaves[leaf as usize].clone() {
        let block = block as usize;
        let values = &tree.blocks[block * columns..(block + 1) * columns];
        let mut ranks = [0.0; LANES];
        for (j, &x) in query.iter().enumerate() {
            for l in 0..LANES {
                ranks[l] = G::join(ranks[l], column.term(j, x - values[j][l]));
            }
        }
        let worst = best.worst();
        let mut any = false;
        for l in 0..LANES {
            any |= ranks[l] <= worst;
        }
        if any {
            let rows = &tree.rows[block];
            for l in 0..LANES {
                if ranks[l] <= worst && rows[l] != omit && rows[l] != NO_ROW {
                    best.offer(ranks[l], rows[l]);
                }
            }
        }
    }
}
