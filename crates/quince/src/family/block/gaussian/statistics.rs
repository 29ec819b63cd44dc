//! The sufficient statistics of a Gaussian block: moved to other origins, and as moments.

use super::Gaussians;
use crate::matrix::Matrix;

/// Weight, mean and scatter of a component.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    pub(crate) weight: f64,
    pub(crate) mean: Vec<f64>,
    /// All entries, of which the lower triangle by columns is set, or the diagonal alone.
    pub(crate) scatter: Vec<f64>,
}

impl Gaussians {
    /// The statistics of another block as if they had been collected about the origins of this one.
    pub(in crate::family::block) fn statistics_of(
        &mut self,
        other: &Gaussians,
        own_statistics: &Matrix,
        statistics: &Matrix,
    ) -> Option<Matrix> {
        let alike = (&self.columns, self.shape, self.shared, self.unbiased)
            == (&other.columns, other.shape, other.shared, other.unbiased)
            && (self.variance_floor, self.shrinkage, &self.rounding, &self.axes, &self.fill)
                == (other.variance_floor, other.shrinkage, &other.rounding, &other.axes, &other.fill)
            && (&self.ledoit_wolf, self.pseudo_inverse, &self.component_weights)
                == (&other.ledoit_wolf, other.pseudo_inverse, &other.component_weights);
        let mut moved = statistics.clone();
        for k in 0..if alike { statistics.rows() } else { 0 } {
            if own_statistics[(k, 0)] == 0.0 {
                self.origin.row_mut(k).copy_from_slice(other.origin.row(k));
            }
            self.shift(&mut moved, k, other.origin.row(k), self.origin.row(k));
        }
        alike.then_some(moved)
    }

    /// Moves the statistics of a component to another origin.
    pub(super) fn shift(&self, statistics: &mut Matrix, component: usize, from: &[f64], to: &[f64]) {
        let width = self.width();
        let shift: Vec<f64> = from.iter().zip(to).map(|(from, to)| from - to).collect();
        let statistics = statistics.row_mut(component);
        let (weight, a) = (statistics[0], statistics[1..1 + width].to_vec());
        for j in 0..width {
            statistics[1 + j] += weight * shift[j];
            for i in if self.is_full() { j..width } else { j..j + 1 } {
                let place = 1 + width + if self.is_full() { j * width + i } else { j };
                statistics[place] += shift[i] * a[j] + a[i] * shift[j] + weight * shift[i] * shift[j];
            }
        }
    }

    /// Weight, mean and scatter of every component.
    pub(crate) fn all_moments(&self, statistics: &Matrix) -> Vec<Moments> {
        (0..statistics.rows()).map(|k| self.moments(k, statistics.row(k))).collect()
    }

    /// Weight, mean and scatter of a component.
    pub(super) fn moments(&self, component: usize, statistics: &[f64]) -> Moments {
        let (width, weight) = (self.width(), statistics[0]);
        let (a, b) = statistics[1..].split_at(width);
        if weight <= 0.0 {
            let mean = self.settled.iter().map(|settled| settled[0]).collect();
            return Moments { weight: 0.0, mean, scatter: vec![0.0; b.len()] };
        }
        let mean = (0..width).map(|j| self.origin[(component, j)] + a[j] / weight).collect();
        let mut scatter = b.to_vec();
        if self.is_full() {
            for j in 0..width {
                (j..width).for_each(|i| scatter[j * width + i] -= a[i] * a[j] / weight);
                scatter[j * width + j] = scatter[j * width + j].max(0.0);
            }
        } else {
            scatter.iter_mut().zip(a).for_each(|(s, a)| *s = (*s - a * a / weight).max(0.0));
        }
        Moments { weight, mean, scatter }
    }
}
