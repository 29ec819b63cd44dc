//! Leave-one-out scores of rows.
//!
//! Leaving out row x of weight w from a component of weight W subtracts w W / (W - w) d dᵀ from its scatter, with d = x - μ.
//! Downdating Σ by b d dᵀ gives, with z = L⁻¹ d, the determinant |Σ| (1 - b zᵀz) and the quadratic form yᵀy + b (yᵀz)² / (1 -
//! b zᵀz) for any other y = L⁻¹ v (Sherman and Morrison), so that one factor serves all rows of a component.

use super::covariance::FactoredCovariance;
use super::missing::{ConditionalMoments, MissingPattern};
use super::{Gaussians, Moments, Shared};
use crate::family::block::{Family, Scores, Tile, left_over};
use crate::matrix::Matrix;
use crate::run::Run;

/// A determinant that shrinks by more than this loses too many digits: it is computed again.
const MIN_DETERMINANT_RATIO: f64 = 1e-6;

/// What all rows of a component with the same weight share, when each of them is left out.
struct Downdate {
    factored: FactoredCovariance,
    /// The multiple of d dᵀ that is subtracted from the covariance.
    loss: f64,
    /// The ratio of x - μ without the row to x - μ with it.
    deviation_ratio: f64,
    /// All means, whitened, about that of the component.
    means: Vec<Vec<f64>>,
}

impl Gaussians {
    /// Adds the leave-one-out log likelihood of a tile's rows, which belong to one component, under each component.
    pub(super) fn add_without(
        &self,
        component: usize,
        statistics: &Matrix,
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        scores: &mut Scores,
    ) {
        let all: Vec<Moments> = (0..statistics.rows()).map(|k| self.moments(k, statistics.row(k))).collect();
        let (rows, values, run) = (tile.rows(), self.gather_rows(tile), Run::new().threads(1));
        let row = |i: usize| values.iter().skip(i).step_by(rows.max(1)).copied().collect::<Vec<f64>>();
        let mut before = Scores::new(scores.components());
        before.start(rows, &vec![0.0; scores.components()]);
        if self.shared == Shared::No {
            self.score(tile, &mut before);
        }
        let mut known: Option<(f64, Downdate)> = None;
        let patterns = self.patterns(tile);
        for MissingPattern { rows: some, missing } in patterns.iter().filter(|pattern| !pattern.missing.is_empty()) {
            for i in some.clone() {
                let weight = weights.map_or(1.0, |weights| weights[i]);
                let new =
                    self.refitted_with_missing(&all, component, weight, &row(i), missing, |k| before.of(k)[i], &run);
                if let Some(new) = new {
                    scores.add(i, new);
                }
            }
        }
        let is_complete = |i: &usize| !patterns.iter().any(|s| s.rows.contains(i) && !s.missing.is_empty());
        for i in (0..rows).filter(is_complete) {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let x = row(i);
            let of_all = |k: usize| before.of(k)[i];
            let linear = self.ledoit_wolf.is_none() && (self.shrinkage.amount == 0.0 || self.shrinkage.to_one);
            let simple = self.is_full() && linear;
            let new = if simple {
                if known.as_ref().is_none_or(|(same, _)| *same != weight) {
                    known = self.downdate(&all, component, weight, &run).map(|downdate| (weight, downdate));
                }
                known.as_ref().and_then(|(_, downdate)| self.downdated(&all, component, downdate, &x, of_all))
            } else {
                None
            };
            let new = new.or_else(|| self.refitted(&all, component, weight, &x, of_all, &run));
            // Where the covariance is singular without the row, the block carries no information about it.
            if let Some(new) = new {
                scores.add(i, new);
            }
        }
    }

    fn downdate(&self, all: &[Moments], component: usize, weight: f64, run: &Run) -> Option<Downdate> {
        let own = &all[component];
        let left = left_over(own.weight, weight);
        if left <= 0.0 {
            return None;
        }
        let mut others = all.to_vec();
        others[component].weight = left;
        let place = self.covariance_of(component);
        let covariance = self.shaped(self.plain(&others).swap_remove(place));
        let factored = self.factored(covariance, run).ok()?;
        let there = others.iter().filter(|moments| moments.weight > 0.0);
        let divisor = match self.shared {
            Shared::No => self.divisor(left, 1.0),
            Shared::Mean | Shared::Weighted => {
                let weights = self.weights_of_covariances(&others);
                self.divisor(left, 1.0) * weights.iter().sum::<f64>() / weights[component]
            }
            Shared::Pooled => self.divisor(there.clone().map(|m| m.weight).sum(), there.count() as f64),
        };
        let deviation_ratio = own.weight / left;
        let loss = weight * deviation_ratio / divisor * (1.0 - self.shrinkage.amount);
        let mut space = Vec::new();
        let white = |moments: &Moments| self.whitened(&factored, 1, &moments.mean, &own.mean, &mut space);
        let means = all.iter().map(white).collect();
        Some(Downdate { factored, loss, deviation_ratio, means })
    }

    /// The leave-one-out scores of a row under all components, by a rank-one downdate of one factor.
    fn downdated(
        &self,
        all: &[Moments],
        component: usize,
        downdate: &Downdate,
        x: &[f64],
        before: impl Fn(usize) -> f64,
    ) -> Option<Vec<f64>> {
        let mut space = Vec::new();
        let z = self.whitened(&downdate.factored, 1, x, &all[component].mean, &mut space);
        let zz: f64 = z.iter().map(|z| z * z).sum();
        let rest = 1.0 - downdate.loss * zz;
        if rest <= MIN_DETERMINANT_RATIO {
            return None;
        }
        let constant = self.constant(&downdate.factored, downdate.factored.rank) - 0.5 * rest.ln();
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let ratio = if k == component { downdate.deviation_ratio } else { 1.0 };
            let (mut yy, mut yz) = (0.0, 0.0);
            for (z, mean) in z.iter().zip(&downdate.means[k]) {
                let y = ratio * (z - mean);
                yy += y * y;
                yz += y * z;
            }
            constant - 0.5 * (yy + downdate.loss * yz * yz / rest)
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
    ) -> Option<(Vec<Moments>, FactoredCovariance)> {
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
        let place = self.covariance_of(component);
        let factored = self.factored(self.shaped(self.plain(&others).swap_remove(place)), run).ok()?;
        Some((others, factored))
    }

    /// The same by computing all covariances again.
    fn refitted(
        &self,
        all: &[Moments],
        component: usize,
        weight: f64,
        x: &[f64],
        before: impl Fn(usize) -> f64,
        run: &Run,
    ) -> Option<Vec<f64>> {
        let (others, factored) = self.without_row(all.to_vec(), component, weight, x, run)?;
        let mut space = Vec::new();
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let z = self.whitened(&factored, 1, x, &others[k].mean, &mut space);
            self.constant(&factored, factored.rank) - 0.5 * z.iter().map(|z| z * z).sum::<f64>()
        };
        Some((0..all.len()).map(score).collect())
    }

    /// The same for a row with missing values: their expectation and covariance are taken back with the rest of the row.
    /// Those of other rows stay as they are.
    #[expect(clippy::too_many_arguments, reason = "a row, its missing values, and the moments without it")]
    fn refitted_with_missing(
        &self,
        all: &[Moments],
        component: usize,
        weight: f64,
        x: &[f64],
        missing: &[usize],
        before: impl Fn(usize) -> f64,
        run: &Run,
    ) -> Option<Vec<f64>> {
        let one = [MissingPattern { rows: 0..1, missing: missing.to_vec() }];
        let mut own = ConditionalMoments::default();
        self.impute(component, 1, x, &one, &mut own);
        let expected: Vec<f64> =
            own.deviations.iter().zip(self.means.row(component)).map(|(d, mean)| d + mean).collect();
        let (mut others, width) = (all.to_vec(), self.width());
        for (a, &i) in missing.iter().enumerate() {
            for (b, &j) in missing.iter().enumerate().take(a + 1) {
                let (taken, scatter) =
                    (weight * own.covariance(0)[a * missing.len() + b], &mut others[component].scatter);
                if self.is_full() {
                    scatter[j * width + i] -= taken;
                } else if i == j {
                    scatter[i] = (scatter[i] - taken).max(0.0);
                }
            }
        }
        let (others, factored) = self.without_row(others, component, weight, &expected, run)?;
        let score = |k: usize| {
            if self.shared == Shared::No && k != component {
                return before(k);
            }
            let mut conditional = ConditionalMoments::default();
            self.impute_by(&factored, &others[k].mean, 1, x, &one, &mut conditional);
            let constant = self.constant(&factored, width - missing.len()) - 0.5 * conditional.determinants[0];
            constant - 0.5 * conditional.squares[0]
        };
        Some((0..all.len()).map(score).collect())
    }
}
