//! Scores of rows by what is learnt without them.
//!
//! Leaving out row x of weight w from a component of weight W takes w W / (W - w) d dᵀ off its scatter, with d = x - μ. A matrix
//! that loses b d dᵀ has, with z = L⁻¹ d, the determinant |Σ| (1 - b zᵀz) and the quadratic form yᵀy + b (yᵀz)² / (1 - b zᵀz) for
//! any other y = L⁻¹ v (Sherman and Morrison), so that one factor serves all rows of a component.

use super::holes::{Completed, Stretch};
use super::spread::Spread;
use super::{Gaussians, Moments, Shared};
use crate::family::block::normals::left_over;
use crate::family::block::{Family, Scores, Tile};
use crate::matrix::Matrix;
use crate::run::Run;

/// A determinant that shrinks by more than this loses too many digits: it is found anew.
const FEW_DIGITS: f64 = 1e-6;

/// What serves all rows of a component that have the same weight, when each of them is left out.
struct Base {
    spread: Spread,
    /// How much of d dᵀ the covariance loses.
    loss: f64,
    /// x - μ without the row, as a multiple of what it is with it.
    stretch: f64,
    /// All means, whitened, about that of the component.
    means: Vec<Vec<f64>>,
}

impl Gaussians {
    /// Adds the log likelihood of a tile's rows under each component, learnt without the row, which is of one component.
    pub(super) fn add_without(
        &self,
        component: usize,
        sums: &Matrix,
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        scores: &mut Scores,
    ) {
        let all: Vec<Moments> = (0..sums.rows()).map(|k| self.moments(k, sums.row(k))).collect();
        let (rows, values, run) = (tile.rows(), self.gather_rows(tile), Run::new().threads(1));
        let row = |i: usize| values.iter().skip(i).step_by(rows.max(1)).copied().collect::<Vec<f64>>();
        let mut before = Scores::new(scores.components());
        before.start(rows, &vec![0.0; scores.components()]);
        if self.shared == Shared::No {
            self.score(tile, &mut before);
        }
        let mut known: Option<(f64, Base)> = None;
        let stretches = self.stretches(tile);
        for Stretch { rows: some, holes } in stretches.iter().filter(|stretch| !stretch.holes.is_empty()) {
            for i in some.clone() {
                let weight = weights.map_or(1.0, |weights| weights[i]);
                let new = self.refitted_with_holes(&all, component, weight, &row(i), holes, |k| before.of(k)[i], &run);
                if let Some(new) = new {
                    scores.add(i, new);
                }
            }
        }
        let is_whole = |i: &usize| !stretches.iter().any(|s| s.rows.contains(i) && !s.holes.is_empty());
        for i in (0..rows).filter(is_whole) {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let x = row(i);
            let of_all = |k: usize| before.of(k)[i];
            let simple = self.is_full() && (self.shrink.share == 0.0 || self.shrink.to_one);
            let new = if simple {
                if known.as_ref().is_none_or(|(same, _)| *same != weight) {
                    known = self.base(&all, component, weight, &run).map(|base| (weight, base));
                }
                known.as_ref().and_then(|(_, base)| self.downdated(&all, component, base, &x, of_all))
            } else {
                None
            };
            let new = new.or_else(|| self.refitted(&all, component, weight, &x, of_all, &run));
            // Where the covariance is singular without the row, the block says nothing of it.
            if let Some(new) = new {
                scores.add(i, new);
            }
        }
    }

    fn base(&self, all: &[Moments], component: usize, weight: f64, run: &Run) -> Option<Base> {
        let own = &all[component];
        let left = left_over(own.weight, weight);
        if left <= 0.0 {
            return None;
        }
        let mut others = all.to_vec();
        others[component].weight = left;
        let place = self.spread_of(component);
        let covariance = self.shaped(self.plain(&others).swap_remove(place));
        let spread = self.spread(covariance, run).ok()?;
        let there = others.iter().filter(|moments| moments.weight > 0.0);
        let divisor = match self.shared {
            Shared::No => self.divisor(left, 1.0),
            Shared::Mean => self.divisor(left, 1.0) * there.count() as f64,
            Shared::Pooled => self.divisor(there.clone().map(|m| m.weight).sum(), there.count() as f64),
        };
        let stretch = own.weight / left;
        let loss = weight * stretch / divisor * (1.0 - self.shrink.share);
        let mut space = Vec::new();
        let white = |moments: &Moments| self.whitened(&spread, 1, &moments.mean, &own.mean, &mut space);
        let means = all.iter().map(white).collect();
        Some(Base { spread, loss, stretch, means })
    }

    /// The scores of a row under all components without it, by a rank-one change of one factor.
    fn downdated(
        &self,
        all: &[Moments],
        component: usize,
        base: &Base,
        x: &[f64],
        before: impl Fn(usize) -> f64,
    ) -> Option<Vec<f64>> {
        let mut space = Vec::new();
        let z = self.whitened(&base.spread, 1, x, &all[component].mean, &mut space);
        let zz: f64 = z.iter().map(|z| z * z).sum();
        let rest = 1.0 - base.loss * zz;
        if rest <= FEW_DIGITS {
            return None;
        }
        let constant = self.constant(&base.spread, self.width()) - 0.5 * rest.ln();
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let stretch = if k == component { base.stretch } else { 1.0 };
            let (mut yy, mut yz) = (0.0, 0.0);
            for (z, mean) in z.iter().zip(&base.means[k]) {
                let y = stretch * (z - mean);
                yy += y * y;
                yz += y * z;
            }
            constant - 0.5 * (yy + base.loss * yz * yz / rest)
        };
        Some((0..all.len()).map(score).collect())
    }

    /// The moments of all components without a row of one of them, and the covariance that follows for that one.
    fn without_row(
        &self,
        mut others: Vec<Moments>,
        component: usize,
        weight: f64,
        x: &[f64],
        run: &Run,
    ) -> Option<(Vec<Moments>, Spread)> {
        let width = self.width();
        let own = &mut others[component];
        let left = left_over(own.weight, weight);
        if left <= 0.0 {
            own.weight = 0.0;
            own.scatter.fill(0.0);
            own.mean = self.settled.iter().map(|settled| settled[0]).collect();
        } else {
            let d: Vec<f64> = x.iter().zip(&own.mean).map(|(x, mean)| x - mean).collect();
            let factor = weight * own.weight / left;
            if self.is_full() {
                for j in 0..width {
                    (j..width).for_each(|i| own.scatter[j * width + i] -= factor * d[i] * d[j]);
                }
            } else {
                own.scatter.iter_mut().zip(&d).for_each(|(s, d)| *s = (*s - factor * d * d).max(0.0));
            }
            own.mean.iter_mut().zip(&d).for_each(|(mean, d)| *mean -= weight / left * d);
            own.weight = left;
        }
        let place = self.spread_of(component);
        let spread = self.spread(self.shaped(self.plain(&others).swap_remove(place)), run).ok()?;
        Some((others, spread))
    }

    /// The same by finding all covariances anew.
    fn refitted(
        &self,
        all: &[Moments],
        component: usize,
        weight: f64,
        x: &[f64],
        before: impl Fn(usize) -> f64,
        run: &Run,
    ) -> Option<Vec<f64>> {
        let (others, spread) = self.without_row(all.to_vec(), component, weight, x, run)?;
        let mut space = Vec::new();
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let z = self.whitened(&spread, 1, x, &others[k].mean, &mut space);
            self.constant(&spread, self.width()) - 0.5 * z.iter().map(|z| z * z).sum::<f64>()
        };
        Some((0..all.len()).map(score).collect())
    }

    /// The same of a row with holes: what they are expected to be, and their covariance, is taken back with the rest of the row.
    /// What is expected in the holes of other rows stays as it is.
    #[expect(clippy::too_many_arguments, reason = "a row, its holes, and what is known without them")]
    fn refitted_with_holes(
        &self,
        all: &[Moments],
        component: usize,
        weight: f64,
        x: &[f64],
        holes: &[usize],
        before: impl Fn(usize) -> f64,
        run: &Run,
    ) -> Option<Vec<f64>> {
        let one = [Stretch { rows: 0..1, holes: holes.to_vec() }];
        let mut own = Completed::default();
        self.complete(component, 1, x, &one, &mut own);
        let expected: Vec<f64> =
            own.deviations.iter().zip(self.means.row(component)).map(|(d, mean)| d + mean).collect();
        let (mut others, width) = (all.to_vec(), self.width());
        for (a, &i) in holes.iter().enumerate() {
            for (b, &j) in holes.iter().enumerate().take(a + 1) {
                let (taken, scatter) =
                    (weight * own.covariance(0)[a * holes.len() + b], &mut others[component].scatter);
                if self.is_full() {
                    scatter[j * width + i] -= taken;
                } else if i == j {
                    scatter[i] = (scatter[i] - taken).max(0.0);
                }
            }
        }
        let (others, spread) = self.without_row(others, component, weight, &expected, run)?;
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let mut completed = Completed::default();
            self.complete_by(&spread, &others[k].mean, 1, x, &one, &mut completed);
            let constant = self.constant(&spread, width - holes.len()) - 0.5 * completed.determinants[0];
            constant - 0.5 * completed.squares[0]
        };
        Some((0..all.len()).map(score).collect())
    }
}
