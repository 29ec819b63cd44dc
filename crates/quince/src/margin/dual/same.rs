//! Rows that are the same, and have the same target, are one row that may move as far as all of them together.
//!
//! Tables of categories and of counts hold many: of the rows of `w8a` three in ten are copies of another one. F is the same for
//! all copies, so only the sum of their β matters.

use super::{Dual, Outcome};
use crate::error::Result;
use crate::run::Run;

/// Rows that one task reads.
const PIECE: usize = 128;
/// Tasks between two looks whether to stop.
const AT_A_TIME: usize = 64;

/// What is left of β when it should be nothing is at most this share of it.
const ROUNDING: f64 = 1e-12;

/// Which rows of a problem are the same.
pub(super) struct Same {
    /// A row of every kind, in order.
    first: Vec<usize>,
    /// The kind of every row.
    kind: Vec<usize>,
}

impl Same {
    /// `None` if no two rows are.
    pub(super) fn find(dual: &Dual<'_>, run: &Run) -> Result<Option<Same>> {
        let mut order: Vec<(u64, usize)> = (0..dual.count()).map(|i| (0, i)).collect();
        let mut pieces: Vec<&mut [(u64, usize)]> = order.chunks_mut(PIECE).collect();
        for some in pieces.chunks_mut(AT_A_TIME) {
            run.check_cancelled()?;
            run.each(some, |_, piece| piece.iter_mut().for_each(|(print, i)| *print = fingerprint(dual, *i)));
        }
        order.sort_unstable();
        // The first row of the kind of each row.
        let mut first_of: Vec<usize> = (0..dual.count()).collect();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for pair in order.windows(2) {
            let [(print, i), (next, j)] = [pair[0], pair[1]];
            if print == next {
                entries(dual, i, &mut one);
                entries(dual, j, &mut other);
                if one == other {
                    first_of[j] = first_of[i];
                }
            }
        }
        let first: Vec<usize> = (0..dual.count()).filter(|&i| first_of[i] == i).collect();
        if first.len() == dual.count() {
            return Ok(None);
        }
        let mut kind = vec![0; dual.count()];
        first.iter().enumerate().for_each(|(k, &i)| kind[i] = k);
        (0..dual.count()).for_each(|i| kind[i] = kind[first_of[i]]);
        Ok(Some(Same { first, kind }))
    }

    /// The problem with one row of every kind.
    pub(super) fn merge<'a>(&self, dual: &Dual<'a>) -> Dual<'a> {
        Dual { low: self.sum(&dual.low), high: self.sum(&dual.high), ..dual.part(&self.first) }
    }

    /// The sum over all rows of each kind.
    pub(super) fn sum(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.first.len()];
        self.kind.iter().zip(values).for_each(|(&kind, value)| sums[kind] += value);
        sums
    }

    /// The outcome for all rows. The β of a kind goes to its rows in order, each as far as its bounds allow, so that few have any.
    pub(super) fn spread(&self, dual: &Dual<'_>, at: Outcome) -> Outcome {
        let (low, high) = (self.sum(&dual.low), self.sum(&dual.high));
        let mut rest = at.beta.clone();
        let mut beta = vec![0.0; dual.count()];
        for (i, &kind) in self.kind.iter().enumerate() {
            let whole = at.beta[kind];
            // At the bounds, or past them, as the machine of a sample may be, all have their share.
            beta[i] = if whole >= high[kind] && whole > 0.0 {
                dual.high[i] * (whole / high[kind])
            } else if whole <= low[kind] && whole < 0.0 {
                dual.low[i] * (whole / low[kind])
            } else if rest[kind].abs() > ROUNDING * whole.abs() {
                rest[kind].clamp(dual.low[i], dual.high[i])
            } else {
                0.0
            };
            rest[kind] -= beta[i];
        }
        let slope = self.kind.iter().map(|&kind| at.slope[kind]).collect();
        Outcome { beta, slope, ..at }
    }
}

/// The entries of a row that are not zero, and its target, as bits.
fn entries(dual: &Dual<'_>, i: usize, into: &mut Vec<(usize, u64)>) {
    into.clear();
    into.push((usize::MAX, dual.target[i].to_bits()));
    dual.rows.for_row(dual.of[i], |j, value| {
        if value != 0.0 {
            into.push((j, value.to_bits()));
        }
    });
}

/// A number that rows which are the same have in common, and hardly any others.
fn fingerprint(dual: &Dual<'_>, i: usize) -> u64 {
    let mut print = 0;
    let mut mix = |word: u64| print = (u64::rotate_left(print, 23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mix(dual.target[i].to_bits());
    dual.rows.for_row(dual.of[i], |j, value| {
        if value != 0.0 {
            mix(j as u64);
            mix(value.to_bits());
        }
    });
    print
}
