//! Independent columns with a kernel density estimate (Parzen window) over the values seen:
//! p(x) = Σ w_v N(x; v, h²) / Σ w_v over the values v, with bandwidth h.
//!
//! The bandwidth is given, or 1.06 σ n^(-1/5) for n rows with standard deviation σ (Silverman's rule), for each component its
//! own.

use super::gather::{Gather, OneByOne};
use super::{Draw, Family, Scores, Tile, each_value, left_over, ln};
use crate::error::Result;
use crate::family::Multinomial;
use crate::matrix::Matrix;
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The kernel is zero further than this many bandwidths from its value.
const MAX_BANDWIDTHS: f64 = 39.0;

/// Independent columns of numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelDensities {
    columns: Vec<usize>,
    /// The distinct values of each column, in rising order.
    values: Vec<Vec<f64>>,
    /// The bandwidth of all kernels, or 0: by Silverman's rule.
    width: f64,
    /// The bandwidths of each column, one per component; 0 if the column is constant.
    settled: Vec<Vec<f64>>,
    /// The total weight of each value over all components, column after column.
    whole: Vec<f64>,
    /// The normalised weights of the values, one row per component.
    #[serde(skip)]
    value_weights: Vec<Vec<f64>>,
}

impl KernelDensities {
    /// Columns with these distinct values in rising order.
    pub(crate) fn new(columns: Vec<usize>, values: Vec<Vec<f64>>, width: f64) -> KernelDensities {
        KernelDensities { columns, values, width, settled: Vec::new(), whole: Vec::new(), value_weights: Vec::new() }
    }

    /// Whether another block has the same columns and settings.
    pub(super) fn is_like(&self, other: &KernelDensities) -> bool {
        (&self.columns, &self.values, self.width) == (&other.columns, &other.values, other.width)
    }

    /// The first of some values that was not seen in training, and cannot be learnt.
    pub(super) fn unknown(&self, j: usize, values: &[f64]) -> Option<f64> {
        values.iter().copied().find(|x| !x.is_nan() && self.place(j, *x).is_none())
    }

    /// The bandwidths of a column, one per component.
    pub(crate) fn widths(&self, j: usize) -> &[f64] {
        &self.settled[j]
    }

    /// The values of each column, their weights in each component, and the bandwidth of all kernels; `None` where each has its own.
    pub(crate) fn known(&self) -> Option<(Vec<Vec<f64>>, Vec<Matrix>, f64)> {
        let weights = |j: usize| {
            let of_component = |weights: &Vec<f64>| weights[self.first(j)..self.first(j + 1)].to_vec();
            let all = self.value_weights.iter().flat_map(of_component).collect();
            Matrix::new(self.value_weights.len(), self.values[j].len(), all).expect("a weight for every value")
        };
        (self.width > 0.0).then(|| (self.values.clone(), (0..self.values.len()).map(weights).collect(), self.width))
    }

    /// The index of a column's first statistic.
    fn first(&self, j: usize) -> usize {
        self.values[..j].iter().map(Vec::len).sum()
    }

    /// The place of a value among those of its column.
    fn place(&self, j: usize, x: f64) -> Option<usize> {
        self.values[j].binary_search_by(|value| value.total_cmp(&(x + 0.0))).ok()
    }

    /// Σ w_v N(x; v, h²).
    fn density(&self, j: usize, x: f64, h: f64, weights: &[f64]) -> f64 {
        let values = &self.values[j];
        let from = values.partition_point(|&value| value < x - MAX_BANDWIDTHS * h);
        let to = values.partition_point(|&value| value <= x + MAX_BANDWIDTHS * h);
        let window = |(value, weight): (&f64, &f64)| {
            if *weight == 0.0 { 0.0 } else { weight * (-0.5 * ((x - value) / h).powi(2)).exp() }
        };
        values[from..to].iter().zip(&weights[from..to]).map(window).sum::<f64>() / (h * TAU.sqrt())
    }

    /// Silverman's bandwidth for values with these weights.
    fn silverman(&self, j: usize, weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let mean = self.values[j].iter().zip(weights).map(|(v, w)| v * w / total).sum::<f64>();
        let variance = self.values[j].iter().zip(weights).map(|(v, w)| w / total * (v - mean).powi(2)).sum::<f64>();
        1.06 * variance.sqrt() * total.powf(-0.2)
    }
}

impl Family for KernelDensities {
    fn statistic_count(&self) -> usize {
        self.first(self.values.len())
    }

    fn add(&self, _component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        for (j, &column) in self.columns.iter().enumerate() {
            let first = self.first(j);
            each_value(tile.column(column), weights, |_, x, weight| {
                if let Some(place) = self.place(j, x) {
                    statistics[first + place] += weight;
                }
            });
        }
    }

    fn settle(&mut self, statistics: &Matrix) {
        self.whole = (0..statistics.columns())
            .map(|place| (0..statistics.rows()).map(|k| statistics[(k, place)]).sum())
            .collect();
        let of_column = |j: usize| -> Vec<f64> {
            let places = self.first(j)..self.first(j + 1);
            if self.values[j].len() < 2 {
                return vec![0.0; statistics.rows()];
            }
            let whole = self.silverman(j, &self.whole[places.clone()]);
            let own = |k: usize| self.silverman(j, &statistics.row(k)[places.clone()]);
            let fixed = |width: f64| if self.width > 0.0 { self.width } else { width };
            // Equal values give no bandwidth: a thousandth of the common one is a narrow peak.
            (0..statistics.rows()).map(|k| fixed(own(k).max(1e-3 * whole))).collect()
        };
        self.settled = (0..self.columns.len()).map(of_column).collect();
    }

    fn estimate(&mut self, statistics: &Matrix, _run: &Run) -> Result<()> {
        let mut value_weights = vec![vec![0.0; statistics.columns()]; statistics.rows()];
        for j in 0..self.columns.len() {
            let places = self.first(j)..self.first(j + 1);
            for (k, value_weights) in value_weights.iter_mut().enumerate() {
                let own = &statistics.row(k)[places.clone()];
                let own = if own.iter().sum::<f64>() > 0.0 { own } else { &self.whole[places.clone()] };
                let total: f64 = own.iter().sum();
                value_weights[places.clone()]
                    .iter_mut()
                    .zip(own)
                    .for_each(|(value_weight, weight)| *value_weight = weight / total);
            }
        }
        self.value_weights = value_weights;
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        let mut logs = vec![0.0; scores.components()];
        for (j, &column) in self.columns.iter().enumerate() {
            let places = self.first(j)..self.first(j + 1);
            if self.settled[j].contains(&0.0) {
                continue;
            }
            each_value(tile.column(column), None, |i, x, _| {
                for (k, log) in logs.iter_mut().enumerate() {
                    *log = ln(self.density(j, x, self.settled[j][k], &self.value_weights[k][places.clone()]));
                }
                if logs.iter().any(|log| log.is_finite()) {
                    scores.add(i, logs.iter().copied());
                }
            });
        }
    }

    fn score_own(
        &self,
        component: usize,
        statistics: &[f64],
        tile: &Tile<'_>,
        weights: Option<&[f64]>,
        own: &mut [f64],
    ) {
        own.fill(0.0);
        for (j, &column) in self.columns.iter().enumerate() {
            let (places, h) = (self.first(j)..self.first(j + 1), self.settled[j][component]);
            if h == 0.0 {
                continue;
            }
            let statistics = &statistics[places.clone()];
            let total: f64 = statistics.iter().sum();
            each_value(tile.column(column), weights, |i, x, weight| {
                let left = left_over(total, weight);
                own[i] += if left > 0.0 {
                    // The kernels of all other values, and the remaining weight of its own.
                    let mut others = statistics.to_vec();
                    if let Some(place) = self.place(j, x) {
                        others[place] = left_over(others[place], weight);
                    }
                    ln(self.density(j, x, h, &others) / left)
                } else {
                    let whole = &self.whole[places.clone()];
                    ln(self.density(j, x, h, whole) / whole.iter().sum::<f64>())
                };
            });
        }
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        Box::new(OneByOne::new(self, components))
    }

    fn free_parameters(&self) -> (usize, usize) {
        (self.statistic_count(), 0)
    }

    fn cost(&self, components: usize) -> usize {
        4 * components * self.statistic_count()
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        for (j, &column) in self.columns.iter().enumerate() {
            let value_weights = &self.value_weights[component][self.first(j)..self.first(j + 1)];
            let Ok(place) = Multinomial::new(value_weights).map(|value_weights| value_weights.sample_place(stream))
            else {
                continue;
            };
            row.dense[column] = self.values[j][place] + self.settled[j][component] * stream.normal();
        }
    }

    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn is_sound(&self, components: usize) -> bool {
        self.values.len() == self.columns.len()
            && self.values.iter().all(|values| values.windows(2).all(|pair| pair[0] < pair[1]))
            && self.settled.len() == self.columns.len()
            && self.settled.iter().all(|widths| widths.len() == components)
            && self.settled.iter().flatten().all(|width| width.is_finite() && *width >= 0.0)
            && self.whole.len() == self.statistic_count()
    }
}
