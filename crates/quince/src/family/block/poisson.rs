//! Independent Poisson columns of counts: ln p(x) = x ln λ - λ - ln x!.
//!
//! The statistics are W = Σ w and A = Σ w x. Smoothing by α adds α rows with the column's mean over all rows,
//! λ = (A + α λ̄) / (W + α): the mode under a Gamma prior. A number that is not a count is left out.

use super::gather::{Gather, OneByOne};
use super::{Draw, Expected, Family, Scores, Tile, each_missing, each_value, left_over, ln, never_seen};
use crate::error::Result;
use crate::family::{Distribution, Poisson};
use crate::matrix::Matrix;
use crate::numbers::ln_factorial;
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// Independent columns of counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Poissons {
    columns: Vec<usize>,
    alpha: f64,
    /// The rate of each column over all rows, and the total weight of its values.
    settled: Vec<[f64; 2]>,
    #[serde(skip)]
    rates: Vec<Vec<Rate>>,
}

/// The rate λ and its logarithm.
#[derive(Clone, Copy, Debug)]
struct Rate {
    rate: f64,
    ln: f64,
}

impl Rate {
    fn new(rate: f64) -> Rate {
        Rate { rate, ln: ln(rate) }
    }

    /// x ln λ - λ.
    fn score(&self, x: f64) -> f64 {
        if x == 0.0 { -self.rate } else { x * self.ln - self.rate }
    }
}

impl Poissons {
    pub(crate) fn new(columns: Vec<usize>, alpha: f64) -> Poissons {
        Poissons { columns, alpha, settled: Vec::new(), rates: Vec::new() }
    }

    /// Whether another block has the same columns and settings.
    pub(super) fn is_like(&self, other: &Poissons) -> bool {
        (&self.columns, self.alpha) == (&other.columns, other.alpha)
    }

    /// The rates of a component, one per column.
    pub(crate) fn parameters(&self, component: usize) -> Vec<f64> {
        self.rates[component].iter().map(|rate| rate.rate).collect()
    }

    /// The rate of a column from its statistics W and A.
    fn rate(&self, j: usize, w: f64, a: f64) -> Rate {
        let (whole, alpha) = (self.settled[j][0], self.alpha);
        Rate::new(if w + alpha > 0.0 && w > 0.0 { (a + alpha * whole) / (w + alpha) } else { whole })
    }

    /// Visits the possible counts of a column.
    fn each_count(&self, j: usize, tile: &Tile<'_>, weights: Option<&[f64]>, mut visit: impl FnMut(usize, f64, f64)) {
        each_value(tile.column(self.columns[j]), weights, |i, x, weight| {
            if self.can_be(j, x) {
                visit(i, x, weight);
            }
        });
    }

    /// Whether a value is a count; where all counts are zero, only zero is possible.
    fn can_be(&self, j: usize, x: f64) -> bool {
        is_count(x) && (x == 0.0 || self.settled.get(j).is_none_or(|[whole, _]| *whole > 0.0))
    }
}

/// Whole and not negative.
pub(crate) fn is_count(x: f64) -> bool {
    x >= 0.0 && x.fract() == 0.0
}

impl Family for Poissons {
    fn statistic_count(&self) -> usize {
        2 * self.columns.len()
    }

    fn add(&self, _component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let (totals, counts) = statistics.split_at_mut(self.columns.len());
        for (j, (total, sum)) in totals.iter_mut().zip(counts).enumerate() {
            each_value(tile.column(self.columns[j]), weights, |_, x, weight| {
                if is_count(x) {
                    *total += weight;
                    *sum += weight * x;
                }
            });
        }
    }

    fn settle(&mut self, statistics: &Matrix) {
        let width = self.columns.len();
        let total = |place: usize| (0..statistics.rows()).map(|k| statistics[(k, place)]).sum::<f64>();
        let rate = |j: usize| if total(j) > 0.0 { total(width + j) / total(j) } else { 0.0 };
        self.settled = (0..width).map(|j| [rate(j), total(j)]).collect();
    }

    fn estimate(&mut self, statistics: &Matrix, _run: &Run) -> Result<()> {
        let width = self.columns.len();
        let one = |k: usize, j: usize| self.rate(j, statistics[(k, j)], statistics[(k, width + j)]);
        self.rates = (0..statistics.rows()).map(|k| (0..width).map(|j| one(k, j)).collect()).collect();
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        for j in 0..self.columns.len() {
            self.each_count(j, tile, None, |i, x, _| {
                let factorial = ln_factorial(x);
                scores.add(i, self.rates.iter().map(|rates| rates[j].score(x) - factorial));
            });
        }
    }

    fn score_own(
        &self,
        _component: usize,
        statistics: &[f64],
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        own: &mut [f64],
    ) {
        own.fill(0.0);
        let width = self.columns.len();
        for j in 0..width {
            self.each_count(j, tile, weights, |i, x, weight| {
                let rate =
                    self.rate(j, left_over(statistics[j], weight), (statistics[width + j] - weight * x).max(0.0));
                own[i] += rate.score(x) - ln_factorial(x);
            });
        }
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        Box::new(OneByOne::new(self, components))
    }

    fn log_prior(&self) -> f64 {
        if self.alpha == 0.0 {
            return 0.0;
        }
        // As if α more rows had been seen, each with the rate of all rows.
        let of_column = |(rate, [whole, _]): (&Rate, &[f64; 2])| rate.score(*whole);
        let of_component = |rates: &Vec<Rate>| rates.iter().zip(&self.settled).map(of_column).sum::<f64>();
        self.alpha * self.rates.iter().map(of_component).sum::<f64>()
    }

    fn add_common(&self, tile: &Tile<'_>, densities: &mut [f64]) {
        for (j, (&column, [_, total])) in self.columns.iter().zip(&self.settled).enumerate() {
            each_value(tile.column(column), None, |i, x, _| {
                densities[i] += if self.can_be(j, x) { 0.0 } else { never_seen(*total) };
            });
        }
    }

    fn free_parameters(&self) -> (usize, usize) {
        (self.columns.len(), 0)
    }

    fn expect(&self, component: usize, tile: &Tile<'_>, visit: &mut dyn FnMut(usize, usize, Expected<'_>)) {
        each_missing(tile, &self.columns, |i, j| {
            let mean = self.rates[component][j].rate;
            visit(i, self.columns[j], Expected::Number { mean, variance: mean });
        });
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        for (rate, &column) in self.rates[component].iter().zip(&self.columns) {
            row.dense[column] = Poisson::new(rate.rate).map_or(0.0, |poisson| poisson.sample(stream));
        }
    }

    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn is_sound(&self, _components: usize) -> bool {
        self.settled.len() == self.columns.len() && self.settled.iter().flatten().all(|x| x.is_finite() && *x >= 0.0)
    }
}
