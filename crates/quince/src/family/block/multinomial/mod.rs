//! Counts of words, dense or sparse, as one multinomial block: ln p(row) = Σ x_j ln p_j.
//!
//! p_j = (n_j + α) / (n + α words), with n_j occurrences of word j in the component's rows and n of all words. The
//! multinomial coefficient n! / Π x_j! is the same for every component, and is left out of scores; the density of a row
//! includes it.
//!
//! Missing values of a dense block are left out, too: the other places are scored among themselves, with p_j / s and s = Σ p
//! over the observed places. Then the maximum has no closed form, but a minorise-maximise step raises the likelihood (Hunter
//! 2004, for Bradley and Terry's model): with e_j = Σ x / s over the rows in which j is observed, x the number of words of
//! the row and s by the present p, the next p_j are in proportion to (n_j + α) / (e_j + α words).

mod gather;
mod missing;

use super::gather::{Gather, OneByOne};
use super::log_table::LogTable;
use super::{Draw, Expected, Family, Place, Scores, Tile, each_missing, each_value, left_over, ln};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::numbers::ln_factorial;
use crate::run::{Run, Stream};
use gather::SparseStatistics;
use serde::{Deserialize, Serialize};

/// A block of counts of words.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Multinomials {
    place: Place,
    alpha: f64,
    /// Whether dense columns have missing values.
    missing: bool,
    /// The count of each word over all rows.
    #[serde(skip)]
    settled: Vec<f64>,
    #[serde(skip)]
    logs: LogTable,
    /// The mean number of words of a row, for each component.
    #[serde(skip)]
    lengths: Vec<f64>,
}

impl Multinomials {
    pub(crate) fn new(place: Place, alpha: f64) -> Multinomials {
        Multinomials {
            place,
            alpha,
            missing: false,
            settled: Vec::new(),
            logs: LogTable::default(),
            lengths: Vec::new(),
        }
    }

    /// The same for dense columns with missing values.
    pub(crate) fn with_missing(self) -> Multinomials {
        Multinomials { missing: true, ..self }
    }

    /// Whether dense columns have missing values.
    pub(crate) fn has_missing(&self) -> bool {
        self.missing
    }

    /// The columns of the block.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Whether another block has the same columns and settings.
    pub(super) fn is_like(&self, other: &Multinomials) -> bool {
        (&self.place, self.alpha, self.missing) == (&other.place, other.alpha, other.missing)
    }

    /// ln p of a word in a component.
    pub(crate) fn log(&self, component: usize, word: usize) -> f64 {
        if self.never_was(word) { f64::NEG_INFINITY } else { self.logs.get(component, word) }
    }

    /// Whether a word has probability zero in every component, so that it carries no information about a row.
    fn never_was(&self, word: usize) -> bool {
        self.alpha == 0.0 && self.settled[word] == 0.0
    }

    fn width(&self) -> usize {
        self.place.width()
    }

    /// The probabilities p_j of a component; uniform before anything is learnt.
    fn probabilities(&self, component: usize) -> Vec<f64> {
        match self.logs.components() {
            0 => vec![1.0 / self.width() as f64; self.width()],
            _ => (0..self.width()).map(|j| self.log(component, j).exp()).collect(),
        }
    }

    /// ln p_j, where no column has missing values.
    fn log_of(&self, j: usize, count: f64, total: f64) -> f64 {
        let all = total + self.alpha * self.width() as f64;
        match () {
            _ if self.never_was(j) => 0.0,
            _ if all == 0.0 => ln(self.settled[j] / self.settled.iter().sum::<f64>()),
            _ => ln((count + self.alpha) / all),
        }
    }
}

impl Family for Multinomials {
    fn statistic_count(&self) -> usize {
        // Every word, and the number of rows that have the block; with missing values, also the exposures e_j.
        self.width() + 1 + if self.missing { self.width() } else { 0 }
    }

    fn add(&self, component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let (counts, rows) = statistics.split_at_mut(self.width());
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        match &self.place {
            Place::Dense(columns) => {
                for (count, &column) in counts.iter_mut().zip(columns) {
                    each_value(tile.column(column), weights, |_, x, weight| *count += weight * x);
                }
                rows[0] += (0..tile.rows()).map(weight).sum::<f64>();
                if self.missing {
                    self.add_exposures(component, &mut rows[1..], tile, weights);
                }
            }
            Place::Sparse { first, width } => {
                for i in 0..tile.rows() {
                    let Some(entries) = tile.entries(i, *first, *width) else { continue };
                    entries.for_each(|(j, x)| counts[j] += weight(i) * x);
                    rows[0] += weight(i);
                }
            }
        }
    }

    fn settle(&mut self, statistics: &Matrix) {
        self.settled = vec![0.0; self.width()];
        for k in 0..statistics.rows() {
            self.settled.iter_mut().zip(statistics.row(k)).for_each(|(all, count)| *all += count);
        }
    }

    fn estimate(&mut self, statistics: &Matrix, run: &Run) -> Result<()> {
        if self.settled.is_empty() {
            self.settle(statistics);
        }
        let width = self.width();
        let totals: Vec<f64> = (0..statistics.rows()).map(|k| statistics.row(k)[..width].iter().sum()).collect();
        self.logs = if self.missing {
            let probability =
                |k: usize, j: usize| self.proportion(j, statistics[(k, j)], statistics[(k, width + 1 + j)]);
            let all: Vec<f64> = (0..statistics.rows()).map(|k| (0..width).map(|j| probability(k, j)).sum()).collect();
            let log = |k: usize, j: usize| if self.never_was(j) { 0.0 } else { ln(probability(k, j) / all[k]) };
            LogTable::new(statistics.rows(), width, run, log)
        } else {
            LogTable::new(statistics.rows(), width, run, |k, j| self.log_of(j, statistics[(k, j)], totals[k]))
        };
        let length = |k: usize| if statistics[(k, width)] > 0.0 { totals[k] / statistics[(k, width)] } else { 0.0 };
        self.lengths = (0..statistics.rows()).map(length).collect();
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        let mut sums = vec![0.0; scores.components()];
        for i in 0..tile.rows() {
            sums.fill(0.0);
            match &self.place {
                Place::Sparse { first, width } => {
                    let Some((places, values)) = tile.sparse_row(i, *first, *width) else { continue };
                    self.logs.add(places, *first, values, &mut sums);
                }
                Place::Dense(columns) => {
                    let missing =
                        columns.iter().any(|&column| tile.has_missing(column) && tile.column(column)[i].is_nan());
                    let value = |(j, &column): (usize, &usize)| (j, tile.column(column)[i]);
                    let known = || columns.iter().enumerate().map(value).filter(|(_, x)| !x.is_nan());
                    let (places, values): (Vec<u32>, Vec<f64>) = known().map(|(j, x)| (j as u32, x)).unzip();
                    self.logs.add(&places, 0, &values, &mut sums);
                    if missing {
                        let length: f64 = known().map(|(_, x)| x).sum();
                        for (k, sum) in sums.iter_mut().enumerate() {
                            // Where the probability is zero, what is observed is impossible, and the score says so already.
                            let probability: f64 = known().map(|(j, _)| self.log(k, j).exp()).sum();
                            *sum -= if length > 0.0 && probability > 0.0 { length * probability.ln() } else { 0.0 };
                        }
                    }
                }
            }
            scores.add(i, sums.iter().copied());
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
        let counts = &statistics[..self.width()];
        let all: f64 = counts.iter().sum();
        for (i, own) in own.iter_mut().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let entries: Vec<(usize, f64)> = match &self.place {
                Place::Sparse { first, width } => match tile.entries(i, *first, *width) {
                    Some(entries) => entries.collect(),
                    None => continue,
                },
                Place::Dense(columns) => {
                    let value = |(j, &column): (usize, &usize)| (j, tile.column(column)[i]);
                    columns.iter().enumerate().map(value).filter(|(_, x)| !x.is_nan()).collect()
                }
            };
            let length: f64 = entries.iter().map(|(_, x)| x).sum();
            if self.missing {
                *own = self.own_with_missing(component, statistics, &entries, weight * length);
                continue;
            }
            let left = left_over(all, weight * length);
            for &(j, x) in entries.iter().filter(|(_, x)| *x != 0.0) {
                *own += x * self.log_of(j, (counts[j] - weight * x).max(0.0), left);
            }
        }
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        match self.place {
            Place::Dense(_) => Box::new(OneByOne::new(self, components)),
            Place::Sparse { .. } => Box::new(SparseStatistics::new(self, components)),
        }
    }

    fn log_prior(&self) -> f64 {
        if self.alpha == 0.0 {
            return 0.0;
        }
        self.alpha * self.logs.values().iter().sum::<f64>()
    }

    fn add_common(&self, tile: &Tile<'_>, densities: &mut [f64]) {
        for (i, density) in densities.iter_mut().enumerate() {
            let (mut n, mut orders) = (0.0, 0.0);
            let mut count = |x: f64| {
                n += x;
                orders -= ln_factorial(x);
            };
            match &self.place {
                Place::Sparse { first, width } => {
                    tile.entries(i, *first, *width).into_iter().flatten().for_each(|(_, x)| count(x));
                }
                Place::Dense(columns) => {
                    columns.iter().map(|&column| tile.column(column)[i]).filter(|x| !x.is_nan()).for_each(count);
                }
            }
            *density += ln_factorial(n) + orders;
        }
    }

    fn free_parameters(&self) -> (usize, usize) {
        (self.width().saturating_sub(1), 0)
    }

    fn expect(&self, component: usize, tile: &Tile<'_>, visit: &mut dyn FnMut(usize, usize, Expected<'_>)) {
        let columns = self.place.columns();
        if !columns.iter().any(|&column| tile.has_missing(column)) {
            return;
        }
        let p = self.probabilities(component);
        let known: Vec<(f64, f64)> = (0..tile.rows()).map(|i| Multinomials::known(columns, &p, tile, i)).collect();
        each_missing(tile, columns, |i, j| {
            let (n, probability) = known[i];
            // If a row is missing altogether, so is its length.
            let (mean, variance) = match probability > 0.0 {
                true if n > 0.0 => (n * p[j] / probability, n * p[j] / probability * (1.0 + p[j] / probability)),
                true => (0.0, 0.0),
                false => (self.lengths[component] * p[j], self.lengths[component] * p[j]),
            };
            visit(i, columns[j], Expected::Number { mean, variance });
        });
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        use crate::family::{Distribution, Multinomial, Poisson};
        let p: Vec<f64> = (0..self.width()).map(|j| self.log(component, j).exp()).collect();
        let length = Poisson::new(self.lengths[component]).map_or(0.0, |length| length.sample(stream)) as usize;
        let Ok(words) = Multinomial::new(&p) else { return };
        match &self.place {
            Place::Dense(columns) => {
                for (&column, count) in columns.iter().zip(words.sample(length, stream)) {
                    row.dense[column] = count;
                }
            }
            Place::Sparse { first, .. } => {
                row.sequences.push((*first, (0..length).map(|_| words.sample_place(stream)).collect()));
            }
        }
    }

    fn columns(&self) -> &[usize] {
        self.place.columns()
    }

    fn is_sound(&self, _components: usize) -> bool {
        self.alpha >= 0.0 && self.alpha.is_finite()
    }
}
