//! Inner loops of the bounds of k-means: scores and lower bounds of one row or sixteen with all centres.

use crate::matrix::fused::{PanelColumn, Visit, WIDE};
use crate::matrix::simd::{LANES, vectorised};

/// The best and second best score of sixteen rows, and the centre of the best.
pub(super) struct NearestTwo {
    pub(super) best: [f32; WIDE],
    pub(super) second: [f32; WIDE],
    pub(super) label: [u32; WIDE],
}

impl NearestTwo {
    pub(super) fn new() -> NearestTwo {
        NearestTwo { best: [f32::NEG_INFINITY; WIDE], second: [f32::NEG_INFINITY; WIDE], label: [0; WIDE] }
    }
}

impl Visit for NearestTwo {
    #[inline(always)]
    fn scores(&mut self, row: usize, scores: &[f32; WIDE]) {
        // One simple loop per vector instruction.
        let (row, mut lesser) = (row as u32, [0.0; WIDE]);
        for l in 0..WIDE {
            lesser[l] = if scores[l] < self.best[l] { scores[l] } else { self.best[l] };
        }
        for l in 0..WIDE {
            self.second[l] = if lesser[l] > self.second[l] { lesser[l] } else { self.second[l] };
        }
        for l in 0..WIDE {
            self.label[l] = if scores[l] > self.best[l] { row } else { self.label[l] };
        }
        for l in 0..WIDE {
            self.best[l] = if scores[l] > self.best[l] { scores[l] } else { self.best[l] };
        }
    }
}

/// All scores of sixteen rows, one line per centre.
pub(super) struct AllScores(pub(super) Vec<[f32; WIDE]>);

impl Visit for AllScores {
    #[inline(always)]
    fn scores(&mut self, _: usize, scores: &[f32; WIDE]) {
        self.0.push(*scores);
    }
}
vectorised! {
    /// Lower bounds of one row from the scores of all centres, whose squares lie above a line: its height and its slope.
    pub(super) fn lower_bounds(scores: &[[f32; WIDE]], lane: usize, line: (f32, f32), moved: &[f32], bounds: &mut [f32]) {
        let (square, slope) = line;
        for ((bound, scores), &moved) in bounds.iter_mut().zip(scores).zip(moved) {
            let left = square - slope * scores[lane];
            // A score that overflowed says nothing.
            let distance = if left > 0.0 && left < f32::MAX { left.sqrt() } else { 0.0 };
            // A few roundings downwards.
            *bound = (distance + moved) * (1.0 - 5e-7);
        }
    }

    /// Whether any lower bound, less what its centre has moved, is not above `upper`.
    pub(super) fn any_crossed(bounds: &[f32], moved: &[f32], upper: f32) -> bool {
        let (blocks, rest) = bounds.as_chunks::<16>();
        let (moved_blocks, moved_rest) = moved.as_chunks::<16>();
        let mut any = false;
        for (bounds, moved) in blocks.iter().zip(moved_blocks) {
            for l in 0..16 {
                any |= bounds[l] <= (upper + moved[l]) * (1.0 + 3e-7);
            }
        }
        for (bound, moved) in rest.iter().zip(moved_rest) {
            any |= *bound <= (upper + moved) * (1.0 + 3e-7);
        }
        any
    }

    /// Fills `crossed` with the next centres from `from` on whose bound is crossed; how many, and where to go on.
    pub(super) fn next_crossed(bounds: &[f32], moved: &[f32], upper: f32, from: usize, crossed: &mut [u32; 4]) -> (usize, usize) {
        let (mut count, mut c) = (0, from);
        while c < bounds.len() {
            if c % LANES == 0 && c + LANES <= bounds.len() {
                let mut any = false;
                for l in 0..LANES {
                    any |= bounds[c + l] <= (upper + moved[c + l]) * (1.0 + 3e-7);
                }
                if !any {
                    c += LANES;
                    continue;
                }
            }
            if bounds[c] <= (upper + moved[c]) * (1.0 + 3e-7) {
                crossed[count] = c as u32;
                count += 1;
                if count == 4 {
                    return (count, c + 1);
                }
            }
            c += 1;
        }
        (count, c)
    }

    /// The product of two rows of blocks, whose number is even.
    pub(super) fn dot(x: &[PanelColumn], y: &[PanelColumn]) -> f32 {
        let (x, y) = (PanelColumn::values(x).as_chunks::<32>().0, PanelColumn::values(y).as_chunks::<32>().0);
        let mut sums = [0.0f32; 32];
        for (x, y) in x.iter().zip(y) {
            for l in 0..32 {
                sums[l] += x[l] * y[l];
            }
        }
        let mut sum = 0.0;
        for l in 0..32 {
            sum += sums[l];
        }
        sum
    }

    /// The products of a row with four others.
    pub(super) fn four_dots(x: &[PanelColumn], others: [&[PanelColumn]; 4]) -> [f32; 4] {
        let [a, b, c, d] = others;
        let mut sums = [[0.0f32; WIDE]; 4];
        for ((((x, a), b), c), d) in x.iter().zip(a).zip(b).zip(c).zip(d) {
            for l in 0..WIDE {
                sums[0][l] += x.0[l] * a.0[l];
                sums[1][l] += x.0[l] * b.0[l];
                sums[2][l] += x.0[l] * c.0[l];
                sums[3][l] += x.0[l] * d.0[l];
            }
        }
        let mut answers = [0.0; 4];
        for r in 0..4 {
            for l in 0..WIDE {
                answers[r] += sums[r][l];
            }
        }
        answers
    }
}
