//! Independent categorical columns; and histograms, which are categorical too: the categories are the bins that numbers fall
//! into.
//!
//! p(c) = (n_c + α) / (n + α C), with n_c of n values in category c of C (additive smoothing). A bin of width h has the
//! density p(c) / h. Bins are open to the right, and the last is closed; a number outside of all bins was never seen, and is
//! left out.

use super::gather::{Gather, OneByOne};
use super::{Draw, Expected, Family, Scores, Tile, each_missing, each_value, left_over, ln, never_seen};
use crate::error::{Error, Result};
use crate::family::Multinomial;
use crate::matrix::Matrix;
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// The most categories of a column: a saved model may claim any number.
pub(crate) const MAX_CATEGORIES: usize = 1 << 20;

/// Independent columns of categories.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Categories {
    columns: Vec<usize>,
    coding: Vec<Coding>,
    alpha: f64,
    /// The total weight of each category over all components, column after column.
    settled: Vec<f64>,
    /// ln p of each component, column after column.
    #[serde(skip)]
    logs: Vec<Vec<f64>>,
    /// The logarithms of the widths of all categories, column after column.
    #[serde(skip)]
    widths: Vec<f64>,
}

/// What the numbers of a column stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Coding {
    /// This many categories 0, 1, ...
    Codes(usize),
    /// This many numbers 0, 1, ..., each with a probability of its own.
    Numbers(usize),
    /// Numbers in bins between these edges.
    Bins(Vec<f64>),
}

impl Coding {
    pub(crate) fn count(&self) -> usize {
        match self {
            Coding::Codes(count) | Coding::Numbers(count) => *count,
            Coding::Bins(edges) => edges.len() - 1,
        }
    }

    /// The category of a value, if it is in one.
    pub(crate) fn code(&self, x: f64) -> Option<usize> {
        match self {
            Coding::Codes(count) | Coding::Numbers(count) => {
                let code = x as usize;
                (code as f64 == x && code < *count).then_some(code)
            }
            Coding::Bins(edges) => {
                let bins = edges.len() - 1;
                let within = x >= edges[0] && x <= edges[bins];
                within.then(|| (edges.partition_point(|&edge| edge <= x) - 1).min(bins - 1))
            }
        }
    }

    /// The log width of a category; categories that are not bins have width 1.
    fn ln_width(&self, code: usize) -> f64 {
        match self {
            Coding::Codes(_) | Coding::Numbers(_) => 0.0,
            Coding::Bins(edges) => (edges[code + 1] - edges[code]).ln(),
        }
    }

    /// The log width of all categories together.
    fn ln_range(&self) -> f64 {
        match self {
            Coding::Codes(_) | Coding::Numbers(_) => 0.0,
            Coding::Bins(edges) => (edges[edges.len() - 1] - edges[0]).ln(),
        }
    }

    fn is_sound(&self) -> bool {
        match self {
            Coding::Codes(count) | Coding::Numbers(count) => *count <= MAX_CATEGORIES,
            Coding::Bins(edges) => {
                edges.len() >= 2
                    && edges.windows(2).all(|pair| pair[0] < pair[1])
                    && edges.iter().all(|edge| edge.is_finite())
            }
        }
    }
}

impl Categories {
    pub(crate) fn new(columns: Vec<usize>, coding: Vec<Coding>, alpha: f64) -> Categories {
        Categories { columns, coding, alpha, settled: Vec::new(), logs: Vec::new(), widths: Vec::new() }
    }

    /// What each column stands for.
    pub(crate) fn coding(&self) -> &[Coding] {
        &self.coding
    }

    /// Whether another block has the same columns and settings.
    pub(super) fn is_like(&self, other: &Categories) -> bool {
        (&self.columns, &self.coding, self.alpha) == (&other.columns, &other.coding, other.alpha)
    }

    /// Makes room for at least this many categories of each column, by its place among the features; returns the statistics
    /// with zeros for those that are new.
    pub(crate) fn widen(&mut self, statistics: &Matrix, counts: &[usize]) -> Result<Matrix> {
        let mut order: Vec<Option<usize>> = Vec::new();
        let mut first = 0;
        for (coding, &column) in self.coding.iter_mut().zip(&self.columns) {
            let (old, wanted) = (coding.count(), counts.get(column).copied().unwrap_or(0));
            if wanted > MAX_CATEGORIES {
                return Err(Error::data(format!("{wanted} categories are too many"), "Group rare ones."));
            }
            let new = match coding {
                Coding::Codes(count) | Coding::Numbers(count) => {
                    *count = wanted.max(old);
                    *count
                }
                Coding::Bins(_) => old,
            };
            order.extend((0..new).map(|c| (c < old).then_some(first + c)));
            first += old;
        }
        let row = |k: usize| order.iter().map(move |from| from.map_or(0.0, |from| statistics[(k, from)]));
        Matrix::new(statistics.rows(), order.len(), (0..statistics.rows()).flat_map(row).collect())
    }

    /// ln p of all categories of a column in a component (of a bin, not divided by its width).
    pub(crate) fn parameters(&self, component: usize, j: usize) -> Vec<f64> {
        let first = self.first(j);
        let log = |place: usize| if self.never_was(place) { f64::NEG_INFINITY } else { self.logs[component][place] };
        (first..first + self.coding[j].count()).map(log).collect()
    }

    /// Whether a category has probability zero in every component, so that it carries no information about a row.
    fn never_was(&self, place: usize) -> bool {
        self.alpha == 0.0 && self.settled[place] == 0.0
    }

    /// The index of a column's first statistic.
    fn first(&self, j: usize) -> usize {
        self.coding[..j].iter().map(Coding::count).sum()
    }

    /// ln p of a category from the total weight and the count of all categories of its column, and from the component's own weights.
    fn log_of(&self, place: usize, whole: (f64, usize), own: (f64, f64)) -> f64 {
        let ((total, count), (n, seen)) = (whole, own);
        let alpha = self.alpha;
        match () {
            _ if self.never_was(place) => 0.0,
            _ if n > 0.0 || alpha > 0.0 => ln((seen + alpha) / (n + alpha * count as f64)),
            _ => ln(self.settled[place] / total),
        }
    }

    /// Of a column: the range of its statistics, and their total weight over all components.
    fn column(&self, j: usize) -> (std::ops::Range<usize>, f64) {
        let first = self.first(j);
        let places = first..first + self.coding[j].count();
        (places.clone(), self.settled[places].iter().sum())
    }
}

impl Family for Categories {
    fn statistic_count(&self) -> usize {
        self.first(self.coding.len())
    }

    fn add(&self, _component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let mut first = 0;
        for (coding, &column) in self.coding.iter().zip(&self.columns) {
            each_value(tile.column(column), weights, |_, x, weight| {
                if let Some(code) = coding.code(x) {
                    statistics[first + code] += weight;
                }
            });
            first += coding.count();
        }
    }

    fn settle(&mut self, statistics: &Matrix) {
        self.settled = (0..statistics.columns())
            .map(|place| (0..statistics.rows()).map(|k| statistics[(k, place)]).sum())
            .collect();
    }

    fn estimate(&mut self, statistics: &Matrix, _run: &Run) -> Result<()> {
        let mut logs = vec![vec![0.0; statistics.columns()]; statistics.rows()];
        for j in 0..self.columns.len() {
            let (places, total) = self.column(j);
            for (k, logs) in logs.iter_mut().enumerate() {
                let own = &statistics.row(k)[places.clone()];
                let n: f64 = own.iter().sum();
                for (place, &seen) in places.clone().zip(own) {
                    logs[place] = self.log_of(place, (total, places.len()), (n, seen));
                }
            }
        }
        self.logs = logs;
        let widths = self.coding.iter().flat_map(|coding| (0..coding.count()).map(|code| coding.ln_width(code)));
        self.widths = widths.collect();
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        let (mut first, mut known) = (0, Vec::with_capacity(tile.rows()));
        for (coding, &column) in self.coding.iter().zip(&self.columns) {
            known.clear();
            each_value(tile.column(column), None, |i, x, _| {
                known.extend(coding.code(x).map(|code| (i, first + code)));
            });
            for (k, logs) in self.logs.iter().enumerate() {
                let scores = scores.of_mut(k);
                known.iter().for_each(|&(i, place)| scores[i] += logs[place] - self.widths[place]);
            }
            first += coding.count();
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
        for (j, coding) in self.coding.iter().enumerate() {
            let (places, total) = self.column(j);
            let n: f64 = statistics[places.clone()].iter().sum();
            let without = |code: usize, weight: f64| {
                let place = places.start + code;
                let left = (left_over(n, weight), (statistics[place] - weight).max(0.0));
                self.log_of(place, (total, places.len()), left) - self.widths[place]
            };
            // Where all rows have the same weight, a category has the same score in each of them.
            let alike = (weights.is_none() && places.len() <= tile.rows())
                .then(|| (0..places.len()).map(|code| without(code, 1.0)).collect::<Vec<f64>>());
            each_value(tile.column(self.columns[j]), weights, |i, x, weight| {
                if let Some(code) = coding.code(x) {
                    own[i] += alike.as_ref().map_or_else(|| without(code, weight), |alike| alike[code]);
                }
            });
        }
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        Box::new(OneByOne::new(self, components))
    }

    fn log_prior(&self) -> f64 {
        if self.alpha == 0.0 { 0.0 } else { self.alpha * self.logs.iter().flatten().sum::<f64>() }
    }

    fn add_common(&self, tile: &Tile<'_>, densities: &mut [f64]) {
        for (j, (coding, &column)) in self.coding.iter().zip(&self.columns).enumerate() {
            let (places, total) = self.column(j);
            let never_seen_code = |code: Option<usize>| code.is_none_or(|code| self.never_was(places.start + code));
            each_value(tile.column(column), None, |i, x, _| {
                densities[i] +=
                    if never_seen_code(coding.code(x)) { never_seen(total) - coding.ln_range() } else { 0.0 };
            });
        }
    }

    fn free_parameters(&self) -> (usize, usize) {
        (self.coding.iter().map(|coding| coding.count().saturating_sub(1)).sum(), 0)
    }

    fn expect(&self, component: usize, tile: &Tile<'_>, visit: &mut dyn FnMut(usize, usize, Expected<'_>)) {
        each_missing(tile, &self.columns, |i, j| {
            let probabilities: Vec<f64> = self.parameters(component, j).into_iter().map(f64::exp).collect();
            visit(
                i,
                self.columns[j],
                match &self.coding[j] {
                    Coding::Codes(_) => Expected::Category(&probabilities),
                    Coding::Numbers(_) => {
                        mean_and_variance(probabilities.iter().enumerate().map(|(x, p)| (x as f64, 0.0, *p)))
                    }
                    // Within a bin the density is uniform.
                    Coding::Bins(edges) => mean_and_variance(edges.windows(2).zip(&probabilities).map(|(bin, p)| {
                        let width = bin[1] - bin[0];
                        (0.5 * (bin[0] + bin[1]), width * width / 12.0, *p)
                    })),
                },
            );
        });
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        for (j, (coding, &column)) in self.coding.iter().zip(&self.columns).enumerate() {
            let p: Vec<f64> = self.parameters(component, j).iter().map(|log| log.exp()).collect();
            let Ok(drawn) = Multinomial::new(&p).map(|p| p.sample_place(stream)) else { continue };
            row.dense[column] = match coding {
                Coding::Codes(_) | Coding::Numbers(_) => drawn as f64,
                Coding::Bins(edges) => edges[drawn] + stream.uniform() * (edges[drawn + 1] - edges[drawn]),
            };
        }
    }

    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn is_sound(&self, _components: usize) -> bool {
        self.coding.len() == self.columns.len()
            && self.coding.iter().all(Coding::is_sound)
            && self.settled.len() == self.statistic_count()
            && self.settled.iter().all(|weight| weight.is_finite())
            && self.alpha >= 0.0
    }
}

/// Mean and variance of a mixture of parts, given as (mean, variance, probability).
fn mean_and_variance(parts: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Expected<'static> {
    let mean: f64 = parts.clone().map(|(own, _, p)| p * own).sum();
    let variance = parts.map(|(own, variance, p)| p * (variance + (own - mean).powi(2))).sum();
    Expected::Number { mean, variance }
}
