//! Steps within a working set: two rows at a time, the pair with the largest gain (Fan, Chen and Lin 2005).
//!
//! With `F = t - Kβ`, raising βᵢ and lowering βⱼ by the same δ changes the objective by
//!
//! ```text
//! -δ (Uᵢ - Dⱼ) + ½ δ² η,    η = Kᵢᵢ + Kⱼⱼ - 2Kᵢⱼ
//! ```
//!
//! where U and D are F less ε, on the side of zero to which β moves. i is the row with the largest U of those that can be
//! raised; j is the one, of those that can be lowered, with the largest (Uᵢ - Dⱼ)² / η.

use crate::matrix::fused::Multiply;
use crate::matrix::simd::{LANES, Wide};

/// Kernels of rows that are the same, up to rounding.
const TINY: f64 = 1e-12;

/// A working set: its kernels with each other, and where each row stands.
pub(super) struct Inner<T> {
    /// A multiple of [`LANES`]; what is past the last row can never move.
    size: usize,
    kernels: Vec<T>,
    diagonal: Vec<T>,
    slope: Vec<f64>,
    /// What is added to F to give U; -∞ if the row cannot be raised.
    up: Vec<f64>,
    /// What is added to F to give D; +∞ if the row cannot be lowered.
    down: Vec<f64>,
    gains: Vec<T>,
    pub(super) rows: Vec<Row>,
    insensitive: f64,
    /// Steps end once the largest U is at most this above the least D.
    tolerance: f64,
    /// Steps at most.
    pub(super) limit: usize,
    pub(super) steps: usize,
    /// What the objective has fallen by.
    pub(super) gained: f64,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) beta: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Row {
    /// What is added to F to give U.
    #[inline(always)]
    pub(super) fn up(&self, insensitive: f64) -> f64 {
        if self.beta >= self.high {
            f64::NEG_INFINITY
        } else if self.beta >= 0.0 {
            -insensitive
        } else {
            insensitive
        }
    }

    /// What is added to F to give D.
    #[inline(always)]
    pub(super) fn down(&self, insensitive: f64) -> f64 {
        if self.beta <= self.low {
            f64::INFINITY
        } else if self.beta > 0.0 {
            -insensitive
        } else {
            insensitive
        }
    }

    /// Whether it is between its bounds.
    pub(super) fn is_free(&self) -> bool {
        self.beta > self.low && self.beta < self.high
    }

    /// Where β stops on its way up: at its bound, or at zero, where the objective has a kink.
    fn next_above(&self, insensitive: f64) -> f64 {
        if insensitive > 0.0 && self.beta < 0.0 { self.high.min(0.0) } else { self.high }
    }

    fn next_below(&self, insensitive: f64) -> f64 {
        if insensitive > 0.0 && self.beta > 0.0 { self.low.max(0.0) } else { self.low }
    }
}

impl<T: Multiply> Inner<T> {
    /// A working set; its kernels are still to be written.
    pub(super) fn new(
        rows: Vec<Row>,
        mut slope: Vec<f64>,
        diagonal: impl Iterator<Item = f64>,
        insensitive: f64,
    ) -> Inner<T> {
        let size = rows.len().next_multiple_of(LANES);
        let mut up: Vec<f64> = rows.iter().map(|row| row.up(insensitive)).collect();
        let mut down: Vec<f64> = rows.iter().map(|row| row.down(insensitive)).collect();
        let mut diagonal: Vec<T> = diagonal.map(T::from_f64).collect();
        slope.resize(size, 0.0);
        up.resize(size, f64::NEG_INFINITY);
        down.resize(size, f64::INFINITY);
        diagonal.resize(size, T::ONE);
        Inner {
            size,
            kernels: vec![T::ZERO; size * size],
            diagonal,
            slope,
            up,
            down,
            gains: vec![T::ZERO; size],
            rows,
            insensitive,
            tolerance: 0.0,
            limit: usize::MAX,
            steps: 0,
            gained: 0.0,
        }
    }

    /// The kernels of each row with all rows, to be written.
    pub(super) fn kernel_rows(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.kernels.chunks_mut(self.size).take(self.rows.len())
    }

    /// Steps end at this share of the violation as it is now, but never below `least`.
    pub(super) fn stop_at(&mut self, share: f64, least: f64) {
        let above = self.slope.iter().zip(&self.up).map(|(slope, up)| slope + up).fold(f64::NEG_INFINITY, f64::max);
        let below = self.slope.iter().zip(&self.down).map(|(slope, down)| slope + down).fold(f64::INFINITY, f64::min);
        self.tolerance = (share * (above - below)).max(least);
    }

    /// The largest squared distance from the first row.
    pub(super) fn spread(&self) -> f64 {
        let own: f64 = self.diagonal[0].into();
        let others = self.kernels[..self.rows.len()].iter().zip(&self.diagonal);
        let distance = |(kernel, other): (&T, &T)| own + Into::<f64>::into(*other) - 2.0 * Into::<f64>::into(*kernel);
        others.map(distance).fold(0.0, f64::max)
    }

    /// The pair to move; `None` once nothing is to be gained.
    #[inline(always)]
    fn pair<const FUSED: bool>(&mut self) -> Option<(usize, usize)> {
        let (slope, up, down) = (&self.slope[..self.size], &self.up[..self.size], &self.down[..self.size]);
        let (mut most, mut least) = ([f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES]);
        for k in (0..self.size).step_by(LANES) {
            for l in 0..LANES {
                let u = slope[k + l] + up[k + l];
                most[l] = if u > most[l] { u } else { most[l] };
                let d = slope[k + l] + down[k + l];
                least[l] = if d < least[l] { d } else { least[l] };
            }
        }
        let top = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let bottom = least.into_iter().fold(f64::INFINITY, f64::min);
        if top - bottom <= self.tolerance {
            return None;
        }
        let mut i = 0;
        for k in (0..self.size).step_by(LANES) {
            let mut any = false;
            for l in 0..LANES {
                any |= slope[k + l] + up[k + l] == top;
            }
            if any {
                i = k + (0..LANES).find(|l| slope[k + l] + up[k + l] == top)?;
                break;
            }
        }
        let row = &self.kernels[i * self.size..(i + 1) * self.size];
        let (diagonal, gains) = (&self.diagonal[..self.size], &mut self.gains[..self.size]);
        let own: f64 = diagonal[i].into();
        let (mut best, tiny) = ([T::ZERO; LANES], T::from_f64(TINY));
        for k in (0..self.size).step_by(LANES) {
            for l in 0..LANES {
                let difference = T::from_f64(top - (slope[k + l] + down[k + l]));
                let difference = if difference > T::ZERO { difference } else { T::ZERO };
                let (other, kernel): (f64, f64) = (diagonal[k + l].into(), row[k + l].into());
                let curvature = T::from_f64(own + other - 2.0 * kernel);
                let curvature = if curvature > tiny { curvature } else { tiny };
                let gain = difference * difference * curvature.inverse();
                gains[k + l] = gain;
                best[l] = if gain > best[l] { gain } else { best[l] };
            }
        }
        let best = best.into_iter().fold(T::ZERO, |best, gain| if gain > best { gain } else { best });
        for k in (0..self.size).step_by(LANES) {
            let mut any = false;
            for l in 0..LANES {
                any |= gains[k + l] == best;
            }
            if any {
                return Some((i, k + (0..LANES).find(|l| gains[k + l] == best)?));
            }
        }
        None
    }

    /// Raises row i and lowers row j as far as that gains.
    #[inline(always)]
    fn step<const FUSED: bool>(&mut self, i: usize, j: usize) -> bool {
        let insensitive = self.insensitive;
        let difference = (self.slope[i] + self.up[i]) - (self.slope[j] + self.down[j]);
        let kernel: f64 = self.kernels[i * self.size + j].into();
        let (own, other): (f64, f64) = (self.diagonal[i].into(), self.diagonal[j].into());
        let curvature = (own + other - 2.0 * kernel).max(TINY);
        let (above, below) = (self.rows[i].next_above(insensitive), self.rows[j].next_below(insensitive));
        let rooms = (above - self.rows[i].beta, self.rows[j].beta - below);
        let step = (difference / curvature).min(rooms.0).min(rooms.1);
        if step <= 0.0 || step.is_nan() {
            return false;
        }
        // Bounds are reached exactly, whatever a sum would round to.
        self.rows[i].beta = if step == rooms.0 { above } else { self.rows[i].beta + step };
        self.rows[j].beta = if step == rooms.1 { below } else { self.rows[j].beta - step };
        for k in [i, j] {
            self.up[k] = self.rows[k].up(insensitive);
            self.down[k] = self.rows[k].down(insensitive);
        }
        self.gained += step * difference - 0.5 * step * step * curvature;
        let raised = &self.kernels[i * self.size..(i + 1) * self.size];
        let lowered = &self.kernels[j * self.size..(j + 1) * self.size];
        let slope = &mut self.slope[..self.size];
        for k in (0..self.size).step_by(LANES) {
            for l in 0..LANES {
                let change: f64 = (lowered[k + l] - raised[k + l]).into();
                slope[k + l] += step * change;
            }
        }
        true
    }
}

impl<T: Multiply> Wide for Inner<T> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        while self.steps < self.limit {
            let Some((i, j)) = self.pair::<FUSED>() else { return };
            if !self.step::<FUSED>(i, j) {
                return;
            }
            self.steps += 1;
        }
    }
}
