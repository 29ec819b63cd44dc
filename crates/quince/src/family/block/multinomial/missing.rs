//! Counts of which some are missing: the observed ones are scored among themselves (the second part of the module's formula).

use super::Multinomials;
use crate::family::block::{Tile, left_over, ln};

impl Multinomials {
    /// The number of words of a dense row, and Σ p over its observed places.
    pub(super) fn known(columns: &[usize], p: &[f64], tile: &Tile<'_>, i: usize) -> (f64, f64) {
        let (mut n, mut probability) = (0.0, 0.0);
        for (&column, p) in columns.iter().zip(p) {
            let x = tile.column(column)[i];
            if !x.is_nan() {
                n += x;
                probability += p;
            }
        }
        (n, probability)
    }

    /// Adds to the exposures e_j, for the observed words of each row.
    pub(super) fn add_exposures(
        &self,
        component: usize,
        exposures: &mut [f64],
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
    ) {
        let (columns, p) = (self.place.columns(), self.probabilities(component));
        for i in 0..tile.rows() {
            let (n, probability) = Multinomials::known(columns, &p, tile, i);
            let times =
                weights.map_or(1.0, |weights| weights[i]) * if probability > 0.0 { n / probability } else { 0.0 };
            for (exposure, &column) in exposures.iter_mut().zip(columns) {
                *exposure += if tile.column(column)[i].is_nan() { 0.0 } else { times };
            }
        }
    }

    /// The leave-one-out log likelihood of the observed part of a row; `weighed` is its weight times its length.
    pub(super) fn own_with_missing(
        &self,
        component: usize,
        statistics: &[f64],
        entries: &[(usize, f64)],
        weighed: f64,
    ) -> f64 {
        let length: f64 = entries.iter().map(|(_, x)| x).sum();
        if length == 0.0 {
            return 0.0;
        }
        let (weight, width) = (weighed / length, self.width());
        let known: f64 = entries.iter().map(|(j, _)| self.log(component, *j).exp()).sum();
        let exposure = if known > 0.0 { weighed / known } else { 0.0 };
        let probability = |&(j, x): &(usize, f64)| {
            let left = left_over(statistics[width + 1 + j], exposure);
            self.proportion(j, (statistics[j] - weight * x).max(0.0), left)
        };
        let all: f64 = entries.iter().map(probability).sum();
        entries.iter().filter(|(_, x)| *x != 0.0).map(|entry| entry.1 * ln(probability(entry) / all)).sum()
    }

    /// p_j, up to a constant factor, where columns have missing values.
    pub(super) fn proportion(&self, j: usize, count: f64, exposure: f64) -> f64 {
        let all = exposure + self.alpha * self.width() as f64;
        if all > 0.0 { (count + self.alpha) / all } else { self.settled[j] / self.settled.iter().sum::<f64>() }
    }
}
