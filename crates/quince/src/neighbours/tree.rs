//! A kd-tree for any number of columns and any number of equal rows.
//!
//! Rows are halved again and again at the median of the widest column (Friedman, Bentley and Finkel 1977), always by count
//! and with equal values parted by row number, so that a million equal rows make no deeper tree than any others. Three
//! halvings make one node of eight children, whose boxes lie side by side in memory and are measured together; a leaf
//! holds a few rows, eight side by side.
//!
//! The distance from a box is the sum, in column order, of the terms of the nearest point in it. Every step of that sum is
//! rounded monotonically, so it is never above the rank of any row in the box: no margin is needed, and a box that is as
//! far as the last neighbour found is entered only if it holds a smaller row number.

use super::best::Best;
use super::data::Data;
use super::index::Questions;
use super::measure::Ground;
use crate::error::Result;
use crate::matrix::simd::{LANES, vectorised};
use crate::matrix::{Features, Matrix};
use crate::run::{Pace, Run};
use std::ops::Range;

/// The most rows in a leaf.
const LEAF: usize = 32;
/// A row number that no row has.
pub(super) const NOBODY: u32 = u32::MAX;

pub(super) struct Tree {
    columns: usize,
    /// How many halvings lead from the root to a leaf.
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
    /// Nodes, or leaves if these are the last halvings; `NOBODY` where there is none.
    children: [u32; LANES],
    /// The smallest row number below each child.
    least_rows: [u32; LANES],
    last: bool,
}

impl Tree {
    pub(super) fn build(points: &Data<'_>, run: &Run) -> Result<Tree> {
        let points = points.features;
        let columns = points.columns();
        let count = points.rows();
        let mut depth = 0;
        while count.div_ceil(LANES).div_ceil(1 << depth) > LEAF / LANES {
            depth += 1;
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut parts: Vec<&mut [u32]> = vec![&mut order];
        // Enough parts for many threads, and each sorted in a moment.
        let together = depth.min(5.max((count / 65_536).max(1).ilog2()));
        for _ in 0..together {
            run.each(&mut parts, |_, rows| halve(&points, rows));
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
                // What is left to do is done on a copy that stays in a core's cache; row numbers rise, so ties stay as they are.
                rows.sort_unstable();
                let mut near = Matrix::zeros(rows.len(), columns);
                points.pack(rows.iter().map(|&row| row as usize), near.values_mut());
                let mut order: Vec<u32> = (0..rows.len() as u32).collect();
                halve_all(&near.features(), &mut order, depth - together);
                let sorted = rows.to_vec();
                rows.iter_mut().zip(order).for_each(|(row, place)| *row = sorted[place as usize]);
            });
            run.check()?;
        }
        let tree = Tree::over(&points, &order, depth, run);
        run.check()?;
        Ok(tree)
    }

    /// The tree over rows that are in the order of the leaves.
    fn over(points: &Features<'_>, order: &[u32], depth: u32, run: &Run) -> Tree {
        let columns = points.columns();
        let sizes = leaf_sizes(order.len(), depth);
        let mut tree = Tree {
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
        tree.rows = vec![[NOBODY; LANES]; block as usize];
        // Every leaf fills its own blocks and says its box: lower ends, upper ends, least row.
        let mut spaces = Vec::with_capacity(sizes.len());
        let (mut values, mut rows) = (tree.blocks.as_mut_slice(), tree.rows.as_mut_slice());
        for leaf in &tree.leaves {
            let (mine, rest) = values.split_at_mut(leaf.len() * columns);
            let (my_rows, rest_rows) = rows.split_at_mut(leaf.len());
            spaces.push((mine, my_rows));
            (values, rows) = (rest, rest_rows);
        }
        let mut groups: Vec<_> = spaces.chunks_mut(256).collect();
        run.each(&mut groups, |group, spaces| {
            let mut space = vec![0.0; columns];
            for (k, (values, numbers)) in spaces.iter_mut().enumerate() {
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
        let bounds: Vec<Bound> = run
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

    fn bound_of(&self, leaf: usize) -> Bound {
        let mut bound = Bound::nothing(self.columns);
        for block in self.leaves[leaf].clone() {
            let block = block as usize;
            for lane in (0..LANES).filter(|&lane| self.rows[block][lane] != NOBODY) {
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
    fn grow(&mut self, mut bounds: Vec<Bound>) {
        let mut children: Vec<u32> = (0..bounds.len() as u32).collect();
        let mut last = true;
        let mut levels = self.depth;
        loop {
            // The root takes what is left over from groups of three halvings.
            let halvings = if levels > 3 { 3 } else { levels };
            let fan = 1usize << halvings;
            let mut next = Vec::with_capacity(bounds.len() / fan + 1);
            let mut next_children = Vec::with_capacity(bounds.len() / fan + 1);
            for (group, members) in bounds.chunks(fan).zip(children.chunks(fan)) {
                let mut node = Node { children: [NOBODY; LANES], least_rows: [NOBODY; LANES], last };
                let first = self.boxes.len();
                self.boxes.resize(first + 2 * self.columns, [f64::INFINITY; LANES]);
                let mut whole = Bound::nothing(self.columns);
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
            levels -= halvings;
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
    pub(super) fn search<G: Ground>(
        &self,
        ground: G,
        questions: &Questions<'_>,
        some: &[(u32, u32)],
        mut take: impl FnMut(&[(f64, u32)]),
    ) {
        let mut best = Best::new(questions.k);
        let (mut stack, mut space) = (Vec::new(), vec![0.0; self.columns]);
        for &(_, q) in some {
            best.clear();
            let query = questions.queries.dense_row(q as usize, &mut space);
            let omit = questions.own(q as usize);
            search_one(Search { tree: self, ground, query, omit }, &mut best, &mut stack);
            take(best.found());
        }
    }
}

/// A box and the smallest row number in it.
struct Bound {
    lower: Vec<f64>,
    upper: Vec<f64>,
    least_row: u32,
}

impl Bound {
    fn nothing(columns: usize) -> Bound {
        Bound { lower: vec![f64::INFINITY; columns], upper: vec![f64::NEG_INFINITY; columns], least_row: NOBODY }
    }

    fn join(&mut self, other: &Bound) {
        self.lower.iter_mut().zip(&other.lower).for_each(|(a, b)| *a = a.min(*b));
        self.upper.iter_mut().zip(&other.upper).for_each(|(a, b)| *a = a.max(*b));
        self.least_row = self.least_row.min(other.least_row);
    }
}

/// The sizes of the leaves that halving by count makes, in order.
fn leaf_sizes(count: usize, depth: u32) -> Vec<usize> {
    let mut sizes = vec![count];
    for _ in 0..depth {
        sizes = sizes.into_iter().flat_map(|size| [lower_half(size), size - lower_half(size)]).collect();
    }
    sizes
}

/// How many of so many rows are the lower half: whole blocks, so that few are filled in part only.
fn lower_half(rows: usize) -> usize {
    (rows.div_ceil(LANES) / 2 * LANES).min(rows)
}

fn halve_all(points: &Features<'_>, rows: &mut [u32], halvings: u32) {
    if halvings > 0 {
        halve(points, rows);
        let (lower, upper) = rows.split_at_mut(lower_half(rows.len()));
        halve_all(points, lower, halvings - 1);
        halve_all(points, upper, halvings - 1);
    }
}

/// Puts the lower half of the rows, by their widest column, before the upper half.
fn halve(points: &Features<'_>, rows: &mut [u32]) {
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

/// One query on its way through a tree.
struct Search<'a, G> {
    tree: &'a Tree,
    ground: G,
    query: &'a [f64],
    omit: u32,
}

/// What is still to be visited: its least possible rank, its least row, and what it is.
struct Waiting {
    rank: f64,
    least_row: u32,
    child: u32,
    leaf: bool,
}

vectorised! {
    fn near_leaf(tree: &Tree, query: &[f64]) -> u32 {
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
                if away[l] < away[nearest] && node.children[l] != NOBODY {
                    nearest = l;
                }
            }
            at = node.children[nearest] as usize;
            if node.last {
                return at as u32;
            }
        }
    }

    fn search_one<G: Ground>(search: Search<'_, G>, best: &mut Best, stack: &mut Vec<Waiting>) {
        let Search { tree, ground, query, omit } = search;
        stack.clear();
        let root = tree.nodes.len() as u32 - 1;
        stack.push(Waiting { rank: 0.0, least_row: 0, child: root, leaf: false });
        while let Some(next) = stack.pop() {
            if !best.admits(next.rank, next.least_row) {
                continue;
            }
            if next.leaf {
                scan(tree, ground, query, omit, next.child, best);
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
                    ranks[l] = G::join(ranks[l], ground.term(j, outside));
                }
            }
            for l in 0..LANES {
                ranks[l] = G::bound(ranks[l]);
            }
            // The nearest box goes on top of the stack.
            let (from, worst) = (stack.len(), best.worst());
            for lane in 0..LANES {
                let rank = ranks[lane];
                if rank > worst || node.children[lane] == NOBODY {
                    continue;
                }
                let (least_row, child) = (node.least_rows[lane], node.children[lane]);
                let mut place = stack.len();
                stack.push(Waiting { rank, least_row, child, leaf: node.last });
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
fn scan<G: Ground>(tree: &Tree, ground: G, query: &[f64], omit: u32, leaf: u32, best: &mut Best) {
    let columns = query.len();
    for block in tree.leaves[leaf as usize].clone() {
        let block = block as usize;
        let values = &tree.blocks[block * columns..(block + 1) * columns];
        let mut ranks = [0.0; LANES];
        for (j, &x) in query.iter().enumerate() {
            for l in 0..LANES {
                ranks[l] = G::join(ranks[l], ground.term(j, x - values[j][l]));
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
                if ranks[l] <= worst && rows[l] != omit && rows[l] != NOBODY {
                    best.offer(ranks[l], rows[l]);
                }
            }
        }
    }
}
