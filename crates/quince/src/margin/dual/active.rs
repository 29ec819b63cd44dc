//! The rows that take part: which of them move next, and what that does to all.

use super::cache::Cache;
use super::inner::{Inner, Row};
use super::{BLOCK, Dual, Effort};
use crate::error::Result;
use crate::margin::kernel::Gallery;
use crate::matrix::fused::Multiply;
use crate::matrix::simd::{Wide, on_wide_vectors};
use crate::run::Run;

/// How often a row must be seen at rest before it is left out.
const LOOKS: u8 = 2;
/// Rows are left out once they are at least one in so many.
const WORTH_IT: usize = 4;
/// A task of bringing F up to date takes so many rows: they stay in the nearest cache.
const PIECE: usize = 1024;

/// The rows that take part, numbered among themselves.
pub(super) struct Active<'a, T> {
    /// Which rows of the problem they are.
    pub(super) rows: Vec<usize>,
    gallery: Gallery<'a, T>,
    cache: Cache<T>,
    standing: Vec<Row>,
    slope: Vec<f64>,
    /// How often a row was seen at a bound that it does not want to leave.
    resting: Vec<u8>,
}

/// The largest U of rows that can be raised, and the least D of rows that can be lowered, from rows and their F.
pub(super) fn ends(rows: impl Iterator<Item = (Row, f64)>, insensitive: f64) -> (f64, f64) {
    rows.fold((f64::NEG_INFINITY, f64::INFINITY), |(top, bottom), (row, slope)| {
        (top.max(slope + row.up(insensitive)), bottom.min(slope + row.down(insensitive)))
    })
}

impl<'a, T: Multiply> Active<'a, T> {
    /// All rows of a problem, where they stand.
    pub(super) fn all(dual: &Dual<'a>, beta: &[f64], slope: Vec<f64>, effort: &Effort) -> Active<'a, T> {
        let rows: Vec<usize> = (0..dual.count()).collect();
        Active {
            gallery: dual.space.gallery(&dual.rows, &dual.of),
            cache: Cache::new(rows.len(), effort.cache, BLOCK),
            standing: rows.iter().map(|&i| dual.row(i, beta[i])).collect(),
            slope,
            resting: vec![0; rows.len()],
            rows,
        }
    }

    pub(super) fn ends(&self, insensitive: f64) -> (f64, f64) {
        ends(self.standing.iter().copied().zip(self.slope.iter().copied()), insensitive)
    }

    /// The next working set: half of it rows that violate most, from both ends by turns, half of it rows of the last one,
    /// those between their bounds first.
    pub(super) fn choose(&self, (top, bottom): (f64, f64), last: &[usize], insensitive: f64) -> Vec<usize> {
        let size = BLOCK.min(self.rows.len());
        let fresh = size - (size / 2).min(last.len());
        let (mut raise, mut lower): (Vec<Wish>, Vec<Wish>) = (Vec::new(), Vec::new());
        for (k, (row, slope)) in self.standing.iter().zip(&self.slope).enumerate() {
            let (up, down) = (slope + row.up(insensitive), slope + row.down(insensitive));
            if up > bottom {
                raise.push(Wish::new(-up, k));
            }
            if down < top {
                lower.push(Wish::new(down, k));
            }
        }
        [&mut raise, &mut lower].into_iter().for_each(|list| strongest(list, fresh));
        let mut taken = vec![false; self.rows.len()];
        let mut chosen: Vec<usize> = Vec::with_capacity(size);
        let mut take = |k: usize, most: usize| {
            if !taken[k] && chosen.len() < most {
                taken[k] = true;
                chosen.push(k);
            }
        };
        let by_turns = || raise.iter().zip(&lower).flat_map(|(up, down)| [up.row, down.row]);
        by_turns().for_each(|k| take(k, fresh));
        let free = |k: &&usize| self.standing[**k].is_free();
        last.iter().filter(free).chain(last).for_each(|&k| take(k, size));
        by_turns().for_each(|k| take(k, size));
        chosen.sort_unstable();
        chosen
    }

    /// Makes sure that the kernels of these rows are there; how many had to be computed.
    pub(super) fn fetch(&mut self, dual: &Dual<'_>, chosen: &[usize], run: &Run) -> Result<usize> {
        let missing = self.cache.want(chosen);
        if !missing.is_empty() {
            let wanted: Vec<usize> = missing.iter().map(|&k| dual.of[self.rows[k]]).collect();
            let probes = dual.space.probes(&dual.rows, &wanted);
            self.gallery.fill(&probes, self.cache.places_of(&missing), run)?;
        }
        Ok(missing.len() * self.rows.len())
    }

    /// The problem of a working set, whose kernels are there.
    pub(super) fn inner(&self, chosen: &[usize], insensitive: f64, run: &Run) -> Inner<T> {
        let mut inner = Inner::new(
            chosen.iter().map(|&k| self.standing[k]).collect(),
            chosen.iter().map(|&k| self.slope[k]).collect(),
            chosen.iter().map(|&k| self.gallery.diagonal()[k]),
            insensitive,
        );
        let mut lines: Vec<&mut [T]> = inner.kernel_rows().collect();
        run.each(&mut lines, |line, to| {
            let from = self.cache.row(chosen[line]);
            to.iter_mut().zip(chosen).for_each(|(to, &k)| *to = from[k]);
        });
        inner
    }

    /// Brings F of all rows up to date after a working set has moved.
    pub(super) fn bring_up_to_date(&mut self, chosen: &[usize], rows: &[Row], run: &Run) {
        let mut moves: Vec<(&[T], f64)> = Vec::new();
        for (&k, row) in chosen.iter().zip(rows) {
            let change = row.beta - self.standing[k].beta;
            if change != 0.0 {
                moves.push((self.cache.row(k), change));
            }
            self.standing[k] = *row;
        }
        let pieces = self.slope.chunks_mut(PIECE).enumerate();
        let mut pieces: Vec<Update<'_, T>> =
            pieces.map(|(piece, slope)| Update { first: piece * PIECE, slope, moves: &moves }).collect();
        run.each(&mut pieces, |_, piece| on_wide_vectors(piece));
    }

    /// Leaves out rows that have been at a bound for a while and do not want to leave it. `last` is numbered anew.
    pub(super) fn shrink(&mut self, dual: &Dual<'a>, last: &mut Vec<usize>, run: &Run) {
        let (top, bottom) = self.ends(dual.insensitive);
        for ((row, slope), resting) in self.standing.iter().zip(&self.slope).zip(&mut self.resting) {
            let rests = slope + row.up(dual.insensitive) < bottom && slope + row.down(dual.insensitive) > top;
            *resting = if rests { resting.saturating_add(1) } else { 0 };
        }
        let keep: Vec<usize> = (0..self.rows.len()).filter(|&k| self.resting[k] < LOOKS).collect();
        if (self.rows.len() - keep.len()) * WORTH_IT < self.rows.len() || keep.len() < 2 {
            return;
        }
        let mut place = vec![None; self.rows.len()];
        keep.iter().enumerate().for_each(|(new, &old)| place[old] = Some(new));
        *last = last.iter().filter_map(|&k| place[k]).collect();
        self.cache.compact(&keep, run);
        self.rows = keep.iter().map(|&k| self.rows[k]).collect();
        self.standing = keep.iter().map(|&k| self.standing[k]).collect();
        self.slope = keep.iter().map(|&k| self.slope[k]).collect();
        self.resting = vec![0; keep.len()];
        let of: Vec<usize> = self.rows.iter().map(|&i| dual.of[i]).collect();
        self.gallery = dual.space.gallery(&dual.rows, &of);
    }
}

/// A row that wants to move: the smaller, the more.
#[derive(Clone, Copy)]
struct Wish {
    want: f64,
    /// Of rows that are equal any may come first, but not in an order that has to do with that of the table.
    lot: u32,
    row: usize,
}

impl Wish {
    fn new(want: f64, row: usize) -> Wish {
        Wish { want, lot: lot(row), row }
    }
}

/// A number that has nothing to do with the place of a row (a multiple of the golden section).
pub(super) fn lot(row: usize) -> u32 {
    (row as u32).wrapping_mul(0x9E37_79B1)
}

/// Keeps the `count` strongest wishes, in order.
fn strongest(wishes: &mut Vec<Wish>, count: usize) {
    let order = |a: &Wish, b: &Wish| a.want.total_cmp(&b.want).then(a.lot.cmp(&b.lot));
    if count < wishes.len() {
        wishes.select_nth_unstable_by(count, order);
        wishes.truncate(count);
    }
    wishes.sort_unstable_by(order);
}

/// A piece of F, from which the kernels of all rows that have moved are taken off.
struct Update<'u, T> {
    first: usize,
    slope: &'u mut [f64],
    moves: &'u [(&'u [T], f64)],
}

impl<T: Multiply> Wide for Update<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let part = self.first..self.first + self.slope.len();
        let (fours, rest) = self.moves.as_chunks::<4>();
        for [a, b, c, d] in fours {
            let (of_a, of_b, of_c, of_d) =
                (&a.0[part.clone()], &b.0[part.clone()], &c.0[part.clone()], &d.0[part.clone()]);
            for (k, slope) in self.slope.iter_mut().enumerate() {
                let (w, x, y, z): (f64, f64, f64, f64) =
                    (of_a[k].into(), of_b[k].into(), of_c[k].into(), of_d[k].into());
                *slope -= (w * a.1 + x * b.1) + (y * c.1 + z * d.1);
            }
        }
        for (kernels, change) in rest {
            for (slope, kernel) in self.slope.iter_mut().zip(&kernels[part.clone()]) {
                let kernel: f64 = (*kernel).into();
                *slope -= kernel * change;
            }
        }
    }
}
