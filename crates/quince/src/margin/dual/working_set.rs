//! Sequential minimal optimisation (Platt 1998) within a working set: two variables at a time, chosen by second-order information
//! (Fan, Chen and Lin 2005).
//!
//! With the gradient F = t - Kβ, raising βᵢ and lowering βⱼ by the same δ raises the dual objective by
//!
//! ```text
//! δ (Uᵢ - Dⱼ) - ½ δ² η,    η = Kᵢᵢ + Kⱼⱼ - 2Kᵢⱼ
//! ```
//!
//! where U and D are the gradient less ε on the side of zero to which β moves. i is the variable with the largest U of those that
//! can be raised; j is the one, of those that can be lowered, with the largest (Uᵢ - Dⱼ)² / η.

use crate::matrix::fused::Multiply;
use crate::matrix::simd::{LANES, Wide};

/// The curvature η of a pair is at least this: that of equal rows is zero.
const MIN_CURVATURE: f64 = 1e-12;

/// A working set: its variables, their gradient, and the kernels of its rows with each other.
pub(super) struct WorkingSet<T> {
    /// The number of rows, rounded up to a multiple of [`LANES`]; variables past the last row can never move.
    size: usize,
    kernels: Vec<T>,
    diagonal: Vec<T>,
    gradient: Vec<f64>,
    /// What is added to the gradient to give U; -∞ if the variable cannot be raised.
    up: Vec<f64>,
    /// What is added to the gradient to give D; +∞ if the variable cannot be lowered.
    down: Vec<f64>,
    gains: Vec<T>,
    pub(super) variables: Vec<Variable>,
    epsilon: f64,
    /// Steps end once the KKT violation, the largest U less the smallest D, is at most this.
    tolerance: f64,
    /// The largest number of steps.
    pub(super) limit: usize,
    pub(super) steps: usize,
    /// How much the dual objective has risen.
    pub(super) gained: f64,
}

/// A dual variable β and its bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub(super) beta: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Variable {
    /// What is added to the gradient to give U.
    #[inline(always)]
    pub(super) fn up(&self, epsilon: f64) -> f64 {
        if self.beta >= self.high {
            f64::NEG_INFINITY
        } else if self.beta >= 0.0 {
            -epsilon
        } else {
            epsilon
        }
    }

    /// What is added to the gradient to give D.
    #[inline(always)]
    pub(super) fn down(&self, epsilon: f64) -> f64 {
        if self.beta <= self.low {
            f64::INFINITY
        } else if self.beta > 0.0 {
            -epsilon
        } else {
            epsilon
        }
    }

    /// Whether it is between its bounds.
    pub(super) fn is_free(&self) -> bool {
        self.beta > self.low && self.beta < self.high
    }

    /// How far β can be raised at once: to its bound, or to zero, where the objective has a kink.
    fn next_above(&self, epsilon: f64) -> f64 {
        if epsilon > 0.0 && self.beta < 0.0 { self.high.min(0.0) } else { self.high }
    }

    /// How far β can be lowered at once.
    fn next_below(&self, epsilon: f64) -> f64 {
        if epsilon > 0.0 && self.beta > 0.0 { self.low.max(0.0) } else { self.low }
    }
}

impl<T: Multiply> WorkingSet<T> {
    /// A working set; its kernels are still to be written.
    pub(super) fn new(
        variables: Vec<Variable>,
        mut gradient: Vec<f64>,
        diagonal: impl Iterator<Item = f64>,
        epsilon: f64,
    ) -> WorkingSet<T> {
        let size = variables.len().next_multiple_of(LANES);
        let mut up: Vec<f64> = variables.iter().map(|variable| variable.up(epsilon)).collect();
        let mut down: Vec<f64> = variables.iter().map(|variable| variable.down(epsilon)).collect();
        let mut diagonal: Vec<T> = diagonal.map(T::from_f64).collect();
        gradient.resize(size, 0.0);
        up.resize(size, f64::NEG_INFINITY);
        down.resize(size, f64::INFINITY);
        diagonal.resize(size, T::ONE);
        WorkingSet {
            size,
            kernels: vec![T::ZERO; size * size],
            diagonal,
            gradient,
            up,
            down,
            gains: vec![T::ZERO; size],
            variables,
            epsilon,
            tolerance: 0.0,
            limit: usize::MAX,
            steps: 0,
            gained: 0.0,
        }
    }

    /// The kernels of each row with all rows, to be written.
    pub(super) fn kernel_rows(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.kernels.chunks_mut(self.size).take(self.variables.len())
    }

    /// Steps end at this share of the current KKT violation, but not below `least`.
    pub(super) fn stop_at(&mut self, share: f64, least: f64) {
        let above =
            self.gradient.iter().zip(&self.up).map(|(gradient, up)| gradient + up).fold(f64::NEG_INFINITY, f64::max);
        let below =
            self.gradient.iter().zip(&self.down).map(|(gradient, down)| gradient + down).fold(f64::INFINITY, f64::min);
        self.tolerance = (share * (above - below)).max(least);
    }

    /// The largest squared distance from the first row.
    pub(super) fn max_squared_distance(&self) -> f64 {
        let own: f64 = self.diagonal[0].into();
        let others = self.kernels[..self.variables.len()].iter().zip(&self.diagonal);
        let distance = |(kernel, other): (&T, &T)| own + Into::<f64>::into(*other) - 2.0 * Into::<f64>::into(*kernel);
        others.map(distance).fold(0.0, f64::max)
    }

    /// The pair of variables to move; `None` at the optimum.
    #[inline(always)]
    fn select_pair<const FUSED: bool>(&mut self) -> Option<(usize, usize)> {
        let (gradient, up, down) = (&self.gradient[..self.size], &self.up[..self.size], &self.down[..self.size]);
        let (mut most, mut least) = ([f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES]);
        for k in (0..self.size).step_by(LANES) {
            for l in 0..LANES {
                let u = gradient[k + l] + up[k + l];
                most[l] = if u > most[l] { u } else { most[l] };
                let d = gradient[k + l] + down[k + l];
                least[l] = if d < least[l] { d } else { least[l] };
            }
        }
        let max_up = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let min_down = least.into_iter().fold(f64::INFINITY, f64::min);
        if max_up - min_down <= self.tolerance {
            return None;
        }
        let mut i = 0;
        for k in (0..self.size).step_by(LANES) {
            let mut any = false;
            for l in 0..LANES {
                any |= gradient[k + l] + up[k + l] == max_up;
            }
            if any {
                i = k + (0..LANES).find(|l| gradient[k + l] + up[k + l] == max_up)?;
                break;
            }
        }
        let row = &self.kernels[i * self.size..(i + 1) * self.size];
        let (diagonal, gains) = (&self.diagonal[..self.size], &mut self.gains[..self.size]);
        let own: f64 = diagonal[i].into();
        let (mut best, min_curvature) = ([T::ZERO; LANES], T::from_f64(MIN_CURVATURE));
        for k in (0..self.size).step_by(LANES) {
            for l in 0..LANES {
                let difference = T::from_f64(max_up - (gradient[k + l] + down[k + l]));
                let difference = if difference > T::ZERO { difference } else { T::ZERO };
                let (other, kernel): (f64, f64) = (diagonal[k + l].into(), row[k + l].into());
                let curvature = T::from_f64(own + other - 2.0 * kernel);
                let curvature = if curvature > min_curvature { curvature } else { min_curvature };
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

    /// Raises variable i and lowers variable j to the optimum of the pair.
    #[inline(always)]
    fn step<const FUSED: bool>(&mut self, i: usize, j: usize) -> bool {
        let epsilon = self.epsilon;
        let difference = (self.gradient[i] + self.up[i]) - (self.gradient[j] + self.down[j]);
        let kernel: f64 = self.kernels[i * self.size + j].into();
        let (own, other): (f64, f64) = (self.diagonal[i].into(), self.diagonal[j].into());
        let curvature = (own + other - 2.0 * kernel).max(MIN_CURVATURE);
        let (above, below) = (self.variables[i].next_above(epsilon), self.variables[j].next_below(epsilon));
        let distances = (above - self.variables[i].beta, self.variables[j].beta - below);
        let step = (difference / curvature).min(distances.0).min(distances.1);
        if step <= 0.0 || step.is_nan() {
            return false;
        }
        // Bounds are reached exactly, without rounding.
        self.variables[i].beta = if step == distances.0 { above } else { self.variables[i].beta + step };
        self.variables[j].beta = if step == distances.1 { below } else { self.variables[j].beta - step };
        for k in [i, j] {
            self.up[k] = self.variables[k].up(epsilon);
            self.down[k] = self.variables[k].down(epsilon);
        }
        self.gained += step * difference - 0.5 * step * step * curvature;
        let raised = &self.kernels[i * self.size..(i + 1) * self.size];
        let lowered = &self.kernels[j * self.size..(j + 1) * self.size];
        let gradient = &mut self.gradient[..self.size];
        for k in (0..self.size).step_by(LANES) {
            for l in 0..LANES {
                let change: f64 = (lowered[k + l] - raised[k + l]).into();
                gradient[k + l] += step * change;
            }
        }
        true
    }
}

impl<T: Multiply> Wide for WorkingSet<T> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        while self.steps < self.limit {
            let Some((i, j)) = self.select_pair::<FUSED>() else { return };
            if !self.step::<FUSED>(i, j) {
                return;
            }
            self.steps += 1;
        }
    }
}
