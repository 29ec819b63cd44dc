//! Categories as a first-order Markov chain: P(x_1) P(x_2 | x_1) P(x_3 | x_2) ..., each column given
//! the one before it.
//!
//! Transition probabilities are smoothed as any others: (n(a, b) + α) / (n(a) + α B), with n(a, b) rows that have a and then
//! b of B categories. After a missing value, or a category that was never seen, the chain starts again with P(x_j). Where a
//! pair was never seen in any component, and nothing is smoothed, the chain is broken for all of them: the block carries no
//! information.

use super::gather::{Gather, OneByOne};
use super::{Draw, Family, MAX_CATEGORIES, Scores, Tile, left_over, ln};
use crate::error::Result;
use crate::family::Multinomial;
use crate::matrix::Matrix;
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// Columns of categories, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarkovChains {
    columns: Vec<usize>,
    /// The number of categories of each column.
    counts: Vec<usize>,
    alpha: f64,
    /// The statistics of all components together.
    settled: Vec<f64>,
    /// ln P of every statistic, one row per component.
    #[serde(skip)]
    logs: Vec<Vec<f64>>,
}

/// A transition: its index among the statistics, and the range of statistics that it is normalised over.
#[derive(Clone, Copy)]
struct Link {
    place: usize,
    start: usize,
    count: usize,
}

impl MarkovChains {
    pub(crate) fn new(columns: Vec<usize>, counts: Vec<usize>, alpha: f64) -> MarkovChains {
        MarkovChains { columns, counts, alpha, settled: Vec::new(), logs: Vec::new() }
    }

    /// Whether another block has the same columns and settings.
    pub(super) fn is_like(&self, other: &MarkovChains) -> bool {
        (&self.columns, &self.counts, self.alpha) == (&other.columns, &other.counts, other.alpha)
    }

    /// The index of a single column's first statistic: those of all single columns come before those of pairs.
    fn single(&self, j: usize, code: usize) -> Link {
        let start = self.counts[..j].iter().sum();
        Link { place: start + code, start, count: self.counts[j] }
    }

    /// The index of the first statistic of columns j - 1 and j together.
    fn pair(&self, j: usize, before: usize, code: usize) -> Link {
        let singles: usize = self.counts.iter().sum();
        let earlier: usize = self.counts.windows(2).take(j - 1).map(|pair| pair[0] * pair[1]).sum();
        let start = singles + earlier + before * self.counts[j];
        Link { place: start + code, start, count: self.counts[j] }
    }

    /// The probabilities of each column's categories where none is known before it, and of each column but the first given the one
    /// before it, for each component: one row per category before.
    pub(crate) fn known(&self) -> (Vec<Matrix>, Vec<Vec<Matrix>>) {
        let some = |k: usize, link: Link| self.logs[k][link.start..link.start + link.count].iter().map(|log| log.exp());
        let components = 0..self.logs.len();
        let start = |j: usize| {
            let all = components.clone().flat_map(|k| some(k, self.single(j, 0))).collect();
            Matrix::new(self.logs.len(), self.counts[j], all).expect("a probability for every category")
        };
        let given = |j: usize, k: usize| {
            let all = (0..self.counts[j - 1]).flat_map(|before| some(k, self.pair(j, before, 0))).collect();
            Matrix::new(self.counts[j - 1], self.counts[j], all).expect("a probability for every pair")
        };
        let starts = (0..self.counts.len()).map(start).collect();
        (starts, (1..self.counts.len()).map(|j| components.clone().map(|k| given(j, k)).collect()).collect())
    }

    /// The category of a row in a column, if it has one.
    fn code(&self, tile: &Tile<'_>, j: usize, i: usize) -> Option<usize> {
        let x = tile.column(self.columns[j])[i];
        (x >= 0.0 && x < self.counts[j] as f64 && x.fract() == 0.0).then_some(x as usize)
    }

    /// The transitions of a row: those that it is scored by, and those that it is only counted in.
    fn links(&self, tile: &Tile<'_>, i: usize) -> (Vec<Link>, Vec<Link>) {
        let (mut scored, mut counted, mut before) = (Vec::new(), Vec::new(), None);
        for j in 0..self.columns.len() {
            let code = self.code(tile, j, i);
            if let Some(code) = code {
                let single = self.single(j, code);
                match before {
                    Some(before) => {
                        scored.push(self.pair(j, before, code));
                        counted.push(single);
                    }
                    None => scored.push(single),
                }
            }
            before = code;
        }
        (scored, counted)
    }

    /// ln P of a transition that was seen in `seen` of `n` rows.
    fn log_of(&self, link: Link, n: f64, seen: f64) -> f64 {
        let row = link.start..link.start + link.count;
        let alpha = self.alpha;
        match () {
            _ if n > 0.0 || alpha > 0.0 => ln((seen + alpha) / (n + alpha * link.count as f64)),
            // A component that never saw the category before continues as all components together do.
            _ => ln(self.settled[link.place] / self.settled[row].iter().sum::<f64>().max(f64::MIN_POSITIVE)),
        }
    }

    /// The weight of all rows that could have made a transition.
    fn n(&self, link: Link, statistics: &[f64]) -> f64 {
        statistics[link.start..link.start + link.count].iter().sum()
    }
}

impl Family for MarkovChains {
    fn statistic_count(&self) -> usize {
        self.counts.iter().sum::<usize>() + self.counts.windows(2).map(|pair| pair[0] * pair[1]).sum::<usize>()
    }

    fn add(&self, _component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        for i in 0..tile.rows() {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let (scored, counted) = self.links(tile, i);
            scored.iter().chain(&counted).for_each(|link| statistics[link.place] += weight);
        }
    }

    fn settle(&mut self, statistics: &Matrix) {
        self.settled = (0..statistics.columns())
            .map(|place| (0..statistics.rows()).map(|k| statistics[(k, place)]).sum())
            .collect();
    }

    fn estimate(&mut self, statistics: &Matrix, _run: &Run) -> Result<()> {
        let mut logs = vec![vec![0.0; statistics.columns()]; statistics.rows()];
        let mut rows: Vec<Link> = (0..self.counts.len()).map(|j| self.single(j, 0)).collect();
        for j in 1..self.counts.len() {
            rows.extend((0..self.counts[j - 1]).map(|before| self.pair(j, before, 0)));
        }
        for (k, logs) in logs.iter_mut().enumerate() {
            for row in &rows {
                let n = self.n(*row, statistics.row(k));
                for place in row.start..row.start + row.count {
                    logs[place] = self.log_of(Link { place, ..*row }, n, statistics[(k, place)]);
                }
            }
        }
        self.logs = logs;
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        for i in 0..tile.rows() {
            let (scored, _) = self.links(tile, i);
            let of = |logs: &Vec<f64>| scored.iter().map(|link| logs[link.place]).sum::<f64>();
            if self.logs.iter().any(|logs| of(logs) > f64::NEG_INFINITY) {
                scores.add(i, self.logs.iter().map(of));
            }
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
        for (i, own) in own.iter_mut().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let without = |link: &Link| {
                let left = left_over(self.n(*link, statistics), weight);
                self.log_of(*link, left, left_over(statistics[link.place], weight))
            };
            *own = self.links(tile, i).0.iter().map(without).sum();
        }
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        Box::new(OneByOne::new(self, components))
    }

    fn free_parameters(&self) -> (usize, usize) {
        let pairs = self.counts.windows(2).map(|pair| pair[0] * pair[1].saturating_sub(1));
        (self.counts.first().map_or(0, |count| count.saturating_sub(1)) + pairs.sum::<usize>(), 0)
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        let mut before = None;
        for (j, &column) in self.columns.iter().enumerate() {
            let link = before.map_or_else(|| self.single(j, 0), |before| self.pair(j, before, 0));
            let logs = &self.logs[component][link.start..link.start + link.count];
            let p: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            before = Multinomial::new(&p).ok().map(|p| p.sample_place(stream));
            row.dense[column] = before.map_or(f64::NAN, |code| code as f64);
        }
    }

    fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn is_sound(&self, _components: usize) -> bool {
        self.counts.len() == self.columns.len()
            && self.counts.iter().all(|&count| (1..=MAX_CATEGORIES).contains(&count))
            && self.settled.len() == self.statistic_count()
            && self.settled.iter().all(|weight| weight.is_finite())
            && self.alpha >= 0.0
    }
}
