//! Independent normal columns: ln p(x) = -½ ln 2πσ² - (x - μ)² / 2σ².
//!
//! The statistics are W = Σ w, A = Σ w (x - o) and B = Σ w (x - o)² about an origin o near the mean, so that large means cost
//! no digits: μ = o + A / W and σ² = (B - A² / W) / W. A variance floor, a fraction of the column's variance over all rows,
//! is added to every variance, so that a component whose values are all equal still has a density. A constant column carries
//! no information.

mod log_density;

use super::gather::{Gather, OneByOne};
use super::moments::{plain_moments, weighed_moments};
use super::{
    Draw, Expected, Family, MIN_VARIANCE_RATIO, Scores, TILE, Tile, VarianceFloor, each_missing, each_value,
    is_scatter, left_over, unit_of,
};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::LANES;
use crate::run::{Run, Stream};
use log_density::{
    LeaveOneOutStatistics, ROWS_IN_REGISTERS, add_with_missing, take_leave_one_out, take_logs, take_squares,
};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// An origin this many standard deviations from the mean costs too many digits.
const MAX_ORIGIN_DISTANCE: f64 = 100.0;

/// Independent columns of numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Normals {
    columns: Vec<usize>,
    variance_floor: VarianceFloor,
    /// The step to which the values of each column are rounded, or 0.
    steps: Vec<f64>,
    /// The origins about which statistics are collected, one row per component.
    origin: Matrix,
    /// Of each column over all rows: mean, variance and variance floor.
    settled: Vec<[f64; 3]>,
    #[serde(skip)]
    normal: Vec<Vec<Normal>>,
}

/// The parameters of one column in one component.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Normal {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    /// 1 / 2σ², or 0 for a column that carries no information.
    half: f64,
    /// -½ ln 2πσ².
    constant: f64,
}

impl Normal {
    fn new(mean: f64, variance: f64) -> Normal {
        if variance <= 0.0 {
            return Normal { mean, ..Normal::default() };
        }
        Normal { mean, variance, half: 0.5 / variance, constant: -0.5 * (TAU * variance).ln() }
    }

    fn log_density(&self, x: f64) -> f64 {
        self.constant - self.half * (x - self.mean) * (x - self.mean)
    }
}

impl Normals {
    /// Columns whose values lie about `origin`. Rounding to a step adds step² / 12 to their variance.
    pub(crate) fn new(
        columns: Vec<usize>,
        components: usize,
        origin: &[f64],
        variance_floor: VarianceFloor,
        steps: Vec<f64>,
    ) -> Normals {
        let of_column = |j: usize| origin[columns[j]];
        let origin = (0..components).flat_map(|_| (0..columns.len()).map(of_column)).collect();
        let origin = Matrix::new(components, columns.len(), origin).expect("an origin for every column");
        Normals { columns, variance_floor, steps, origin, settled: Vec::new(), normal: Vec::new() }
    }

    /// The same with statistics about these origins, one row per component.
    pub(crate) fn about(self, origin: Matrix) -> Normals {
        Normals { origin, ..self }
    }

    /// The variance floor of each column.
    pub(crate) fn variance_floors(&self) -> Vec<f64> {
        self.settled.iter().map(|settled| settled[2]).collect()
    }

    /// The statistics of another block as if they had been collected about the origins of this one.
    pub(super) fn statistics_of(
        &mut self,
        other: &Normals,
        own_statistics: &Matrix,
        statistics: &Matrix,
    ) -> Option<Matrix> {
        let alike =
            (&self.columns, self.variance_floor, &self.steps) == (&other.columns, other.variance_floor, &other.steps);
        let (mut moved, width) = (statistics.clone(), self.columns.len());
        for k in 0..statistics.rows() {
            for j in 0..if alike { width } else { 0 } {
                if own_statistics[(k, j)] == 0.0 {
                    self.origin[(k, j)] = other.origin[(k, j)];
                }
                self.shift(&mut moved, (k, j), other.origin[(k, j)] - self.origin[(k, j)]);
            }
        }
        alike.then_some(moved)
    }

    /// The parameters of a component, one per column.
    pub(crate) fn parameters(&self, component: usize) -> &[Normal] {
        &self.normal[component]
    }

    /// Moves the statistics of a component's column as if its values were larger by `shift`.
    fn shift(&self, statistics: &mut Matrix, (k, j): (usize, usize), shift: f64) {
        let ((w, a, _), width) = (self.triple(statistics.row(k), j), self.columns.len());
        statistics[(k, width + j)] += w * shift;
        statistics[(k, 2 * width + j)] += 2.0 * shift * a + w * shift * shift;
    }

    /// Mean and variance from statistics about the origin, without the variance floor; `None` without values.
    fn moments(&self, origin: f64, (w, a, b): (f64, f64, f64)) -> Option<(f64, f64)> {
        (w > 0.0).then(|| (origin + a / w, (b - a * a / w).max(0.0) / w))
    }

    /// The parameters of a column from statistics about the origin.
    fn normal(&self, j: usize, origin: f64, statistics: (f64, f64, f64)) -> Normal {
        let [mean, variance, floor] = self.settled[j];
        let (own_mean, own) = self.moments(origin, statistics).unwrap_or((mean, variance));
        Normal::new(own_mean, if variance > 0.0 { (own + floor).max(MIN_VARIANCE_RATIO * variance) } else { 0.0 })
    }

    /// W, A and B of a column.
    fn triple(&self, statistics: &[f64], j: usize) -> (f64, f64, f64) {
        let width = self.columns.len();
        (statistics[j], statistics[width + j], statistics[2 * width + j])
    }

    /// Mean and variance of a column over all components.
    fn overall(&self, statistics: &Matrix, j: usize) -> (f64, f64) {
        let of = |k: usize| (self.origin[(k, j)], self.triple(statistics.row(k), j));
        let (mut total, mut sum, first) = (0.0, 0.0, self.origin[(0, j)]);
        for (origin, (w, a, _)) in (0..statistics.rows()).map(of) {
            total += w;
            sum += a + w * (origin - first);
        }
        if total == 0.0 {
            return (0.0, 0.0);
        }
        let mean = first + sum / total;
        let squares = (0..statistics.rows()).map(of).map(|(origin, (w, a, b))| {
            let shift = origin - mean;
            b + 2.0 * shift * a + w * shift * shift
        });
        (mean, (squares.sum::<f64>() / total).max(0.0))
    }
}

impl Family for Normals {
    fn statistic_count(&self) -> usize {
        3 * self.columns.len()
    }

    fn add(&self, component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let width = self.columns.len();
        for (j, &column) in self.columns.iter().enumerate() {
            let (values, origin) = (tile.column(column), self.origin[(component, j)]);
            let (mut w, mut a, mut b) = (values.len() as f64, 0.0, 0.0);
            if weights.is_none() && !tile.has_missing(column) {
                (a, b) = plain_moments(values, origin);
            } else if let (Some(weights), false) = (weights, tile.has_missing(column)) {
                (w, a, b) = weighed_moments(values, weights, origin);
            } else {
                w = 0.0;
                each_value(values, weights, |_, x, weight| {
                    w += weight;
                    a += weight * (x - origin);
                    b += weight * (x - origin) * (x - origin);
                });
            }
            statistics[j] += w;
            statistics[width + j] += a;
            statistics[2 * width + j] += b;
        }
    }

    fn recentre(&mut self, statistics: &Matrix) -> bool {
        let mut moved = false;
        for k in 0..statistics.rows() {
            for j in 0..self.columns.len() {
                let (w, a, b) = self.triple(statistics.row(k), j);
                let off = a * a / w;
                if w > 0.0 && off > MAX_ORIGIN_DISTANCE * MAX_ORIGIN_DISTANCE * (b - off) && b > 0.0 {
                    self.origin[(k, j)] += a / w;
                    moved |= a != 0.0;
                }
            }
        }
        moved
    }

    fn settle(&mut self, statistics: &Matrix) {
        let overall: Vec<(f64, f64)> = (0..self.columns.len()).map(|j| self.overall(statistics, j)).collect();
        let largest = overall.iter().map(|(_, variance)| *variance).fold(0.0, f64::max);
        let of = |variance: f64| if self.variance_floor.of_largest { largest } else { variance };
        let settled = overall.iter().zip(&self.steps).map(|(&(mean, variance), step)| {
            // A constant column among others still has the variance floor.
            let floor = self.variance_floor.relative * of(variance) + self.variance_floor.absolute + step * step / 12.0;
            let says = self.variance_floor.of_largest || self.variance_floor.absolute > 0.0;
            [mean, if says { variance.max(floor) } else { variance }, floor]
        });
        self.settled = settled.collect();
    }

    fn estimate(&mut self, statistics: &Matrix, _run: &Run) -> Result<()> {
        let one = |k: usize, j: usize| self.normal(j, self.origin[(k, j)], self.triple(statistics.row(k), j));
        self.normal = (0..statistics.rows()).map(|k| (0..self.columns.len()).map(|j| one(k, j)).collect()).collect();
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        let whole: Vec<usize> = (0..self.columns.len()).filter(|&j| !tile.has_missing(self.columns[j])).collect();
        let columns: Vec<&[f64]> = whole.iter().map(|&j| tile.column(self.columns[j])).collect();
        let normals: Vec<Vec<[f64; 2]>> = self
            .normal
            .iter()
            .map(|normals| whole.iter().map(|&j| [normals[j].mean, normals[j].half]).collect())
            .collect();
        // A few rows at a time are scored under all components, and stay in the first-level cache meanwhile.
        for first in (0..tile.rows()).step_by(ROWS_IN_REGISTERS) {
            for (k, normals) in normals.iter().enumerate() {
                take_squares(&columns, normals, first, scores.of_mut(k));
            }
        }
        for (k, normals) in self.normal.iter().enumerate() {
            let constant: f64 = whole.iter().map(|&j| normals[j].constant).sum();
            let scores = scores.of_mut(k);
            scores.iter_mut().for_each(|score| *score += constant);
            for (normal, &column) in normals.iter().zip(&self.columns).filter(|(_, column)| tile.has_missing(**column))
            {
                add_with_missing(tile.column(column), normal.mean, normal.half, normal.constant, scores);
            }
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
        let (mut shrunk, mut waiting, mut constant) = ([1.0; TILE], 0, 0.0);
        let shrunk = &mut shrunk[..own.len()];
        for (j, &column) in self.columns.iter().enumerate() {
            let (values, origin, (w, a, b)) =
                (tile.column(column), self.origin[(component, j)], self.triple(statistics, j));
            let [_, variance, floor] = self.settled[j];
            let left = left_over(w, 1.0);
            if weights.is_some() || tile.has_missing(column) || left == 0.0 || variance <= 0.0 {
                each_value(values, weights, |i, x, weight| {
                    let (d, left) = (x - origin, left_over(w, weight));
                    let normal = self.normal(j, origin, (left, a - weight * d, b - weight * d * d));
                    own[i] += normal.log_density(x);
                });
                continue;
            }
            let normal = &self.normal[component][j];
            let statistics =
                LeaveOneOutStatistics { origin, a, b, one: 1.0 / left, floor, least: MIN_VARIANCE_RATIO * variance };
            take_leave_one_out(values, &statistics, 1.0 / normal.variance, shrunk, own);
            constant += normal.constant;
            waiting += 1;
            if waiting % LANES == 0 {
                take_logs(shrunk, own);
            }
        }
        take_logs(shrunk, own);
        own.iter_mut().for_each(|own| *own += constant);
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        Box::new(OneByOne::new(self, components))
    }

    fn follow(&mut self, all: &mut [&mut Matrix]) {
        for (k, normals) in self.normal.iter().enumerate() {
            for (j, normal) in normals.iter().enumerate() {
                all.iter_mut().for_each(|statistics| self.shift(statistics, (k, j), self.origin[(k, j)] - normal.mean));
                self.origin[(k, j)] = normal.mean;
            }
        }
    }

    fn mend(&self, statistics: &mut [f64], real: &[f64]) {
        let width = self.columns.len();
        for j in (0..width)
            .filter(|&j| statistics[j] < 0.0 || !is_scatter(self.triple(statistics, j), self.settled[j][1]))
            .collect::<Vec<_>>()
        {
            [j, width + j, 2 * width + j].into_iter().for_each(|place| statistics[place] = real[place]);
        }
    }

    fn unit(&self, sum: usize) -> f64 {
        let (width, deviation) = (self.columns.len(), |j: usize| unit_of(self.settled[j][1]));
        match sum / width {
            0 => 1.0,
            1 => deviation(sum % width),
            _ => deviation(sum % width) * deviation(sum % width),
        }
    }

    fn reorder(&mut self, order: &[usize]) {
        self.origin = self.origin.take_rows(order);
    }

    fn free_parameters(&self) -> (usize, usize) {
        (2 * self.columns.len(), 0)
    }

    fn expect(&self, component: usize, tile: &Tile<'_>, visit: &mut dyn FnMut(usize, usize, Expected<'_>)) {
        each_missing(tile, &self.columns, |i, j| {
            let Normal { mean, variance, .. } = self.normal[component][j];
            visit(i, self.columns[j], Expected::Number { mean, variance });
        });
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        for (normal, &column) in self.normal[component].iter().zip(&self.columns) {
            row.dense[column] = normal.mean + normal.variance.sqrt() * stream.normal();
        }
    }

    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn is_sound(&self, components: usize) -> bool {
        let finite = self.origin.values().iter().chain(self.settled.iter().flatten()).all(|x| x.is_finite());
        (self.origin.rows(), self.origin.columns()) == (components, self.columns.len())
            && self.origin.values().len() == components * self.columns.len()
            && self.settled.len() == self.columns.len()
            && self.steps.len() == self.columns.len()
            && self.steps.iter().all(|step| step.is_finite())
            && finite
    }
}
