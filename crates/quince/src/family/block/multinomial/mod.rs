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

use super::gather::{Gather, OneByOne};
use super::normal::left_over;
use super::{Draw, Expected, Family, Scores, Tile, each_missing, ln};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::{LANES, vectorised};
use crate::numbers::ln_factorial;
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// The logarithms of this many words are computed at a time.
const WORDS_AT_A_TIME: usize = 4096;

/// The scores of this many components are added up at a time.
const COMPONENTS_IN_REGISTERS: usize = 3 * LANES;

/// The columns of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// These dense columns.
    Dense(Vec<usize>),
    /// Sparse columns, counted from the first sparse one.
    Sparse { first: usize, width: usize },
}

impl Place {
    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        match self {
            Place::Dense(columns) => columns.len(),
            Place::Sparse { width, .. } => *width,
        }
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self, Place::Sparse { .. })
    }

    /// The dense columns.
    pub(crate) fn columns(&self) -> &[usize] {
        if let Place::Dense(columns) = self { columns } else { &[] }
    }
}

/// A block of counts of words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Multinomials {
    place: Place,
    alpha: f64,
    /// Whether dense columns have missing values.
    #[serde(default)]
    missing: bool,
    /// The count of each word over all rows.
    #[serde(skip)]
    settled: Vec<f64>,
    logs: Logs,
    /// The mean number of words of a row, for each component.
    #[serde(skip)]
    lengths: Vec<f64>,
}

/// A logarithm for every word and component; those of a word are contiguous.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Logs {
    #[serde(skip)]
    components: usize,
    /// Padded after the last word by a few components.
    #[serde(skip)]
    values: Vec<f64>,
    /// Whether all are finite.
    #[serde(skip)]
    finite: bool,
}

impl Logs {
    pub(super) fn new(components: usize, words: usize, run: &Run, log: impl Fn(usize, usize) -> f64 + Sync) -> Logs {
        let mut values = vec![0.0; words * components + LANES / 2];
        let mut pieces: Vec<(&mut [f64], bool)> = values[..words * components]
            .chunks_mut((WORDS_AT_A_TIME * components).max(1))
            .map(|piece| (piece, true))
            .collect();
        run.each(&mut pieces, |piece, (values, finite)| {
            for (j, logs) in values.chunks_exact_mut(components).enumerate() {
                for (k, place) in logs.iter_mut().enumerate() {
                    *place = log(k, piece * WORDS_AT_A_TIME + j);
                    *finite &= place.is_finite();
                }
            }
        });
        let finite = pieces.iter().all(|(_, finite)| *finite);
        Logs { components, values, finite }
    }

    pub(super) fn get(&self, component: usize, word: usize) -> f64 {
        self.values[word * self.components + component]
    }

    /// Adds x ln p to the scores of all components for every word of a row; places are counted from `first`.
    pub(super) fn add(&self, places: &[u32], first: usize, values: &[f64], sums: &mut [f64]) {
        if self.finite {
            return add_words(places, first, values, &self.values, sums);
        }
        // A count of zero contributes nothing, even if the word is impossible.
        for (&place, &x) in places.iter().zip(values).filter(|(_, x)| **x != 0.0) {
            let word = (place as usize - first) * self.components;
            let logs = &self.values[word..word + self.components];
            sums.iter_mut().zip(logs).for_each(|(sum, log)| *sum += x * log);
        }
    }
}

vectorised! {
    fn add_words(places: &[u32], first: usize, values: &[f64], logs: &[f64], sums: &mut [f64]) {
        let components = sums.len();
        for (block, sums) in sums.chunks_mut(COMPONENTS_IN_REGISTERS).enumerate() {
            let at = |place: u32| (place as usize - first) * components + block * COMPONENTS_IN_REGISTERS;
            // The scores of this many components stay in registers.
            match sums.len().div_ceil(LANES / 2) {
                1 => add_few::<4>(places, values, logs, at, sums),
                2 => add_few::<8>(places, values, logs, at, sums),
                3 => add_few::<12>(places, values, logs, at, sums),
                4 => add_few::<16>(places, values, logs, at, sums),
                5 => add_few::<20>(places, values, logs, at, sums),
                _ => add_few::<24>(places, values, logs, at, sums),
            }
        }
    }
}

/// As [`add_words`] for N components, or up to three less: the excess is dropped in the end.
#[inline(always)]
fn add_few<const N: usize>(places: &[u32], values: &[f64], logs: &[f64], at: impl Fn(u32) -> usize, sums: &mut [f64]) {
    let mut found = [0.0; N];
    for (&place, x) in places.iter().zip(values) {
        let logs = logs[at(place)..].first_chunk::<N>().expect("room after the last word");
        for l in 0..N {
            found[l] += x * logs[l];
        }
    }
    sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
}

impl Multinomials {
    /// Whether another block has the same columns and settings.
    pub(super) fn is_like(&self, other: &Multinomials) -> bool {
        (&self.place, self.alpha, self.missing) == (&other.place, other.alpha, other.missing)
    }

    pub(crate) fn new(place: Place, alpha: f64) -> Multinomials {
        Multinomials { place, alpha, missing: false, settled: Vec::new(), logs: Logs::default(), lengths: Vec::new() }
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
        match self.logs.components {
            0 => vec![1.0 / self.width() as f64; self.width()],
            _ => (0..self.width()).map(|j| self.log(component, j).exp()).collect(),
        }
    }

    /// The number of words of a dense row, and Σ p over its observed places.
    fn known(columns: &[usize], p: &[f64], tile: &Tile<'_>, i: usize) -> (f64, f64) {
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
    fn add_exposures(&self, component: usize, exposures: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
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
    fn own_with_missing(&self, component: usize, statistics: &[f64], entries: &[(usize, f64)], weighed: f64) -> f64 {
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
    fn proportion(&self, j: usize, count: f64, exposure: f64) -> f64 {
        let all = exposure + self.alpha * self.width() as f64;
        if all > 0.0 { (count + self.alpha) / all } else { self.settled[j] / self.settled.iter().sum::<f64>() }
    }

    fn log_of(&self, j: usize, count: f64, total: f64) -> f64 {
        let all = total + self.alpha * self.width() as f64;
        match () {
            _ if self.never_was(j) => 0.0,
            _ if all == 0.0 => ln(self.settled[j] / self.settled.iter().sum::<f64>()),
            _ => ln((count + self.alpha) / all),
        }
    }
}

/// Statistics of sparse words; the components of a word are contiguous.
struct SparseStatistics<'a> {
    words: &'a Multinomials,
    components: usize,
    /// Padded after the last word by a few components.
    counts: Vec<f64>,
    rows: Vec<f64>,
}

impl<'a> SparseStatistics<'a> {
    fn new(words: &'a Multinomials, components: usize) -> SparseStatistics<'a> {
        let counts = vec![0.0; words.width() * components + LANES / 2];
        SparseStatistics { words, components, counts, rows: vec![0.0; components] }
    }
}

impl Gather for SparseStatistics<'_> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.words.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, responsibilities: &Scores) {
        let Place::Sparse { first, width } = self.words.place else { return };
        let mut own = vec![0.0; self.components];
        for i in 0..tile.rows() {
            let Some((places, values)) = tile.sparse_row(i, first, width) else { continue };
            for (k, (own, rows)) in own.iter_mut().zip(&mut self.rows).enumerate() {
                *own = responsibilities.of(k)[i];
                *rows += *own;
            }
            add_weighted_words(places, first, values, &own, &mut self.counts);
        }
    }

    fn statistics(self: Box<Self>) -> Matrix {
        let width = self.words.width();
        let mut statistics = Matrix::zeros(self.components, width + 1);
        for k in 0..self.components {
            let row = statistics.row_mut(k);
            row.iter_mut().zip(self.counts.iter().skip(k).step_by(self.components)).for_each(|(sum, n)| *sum = *n);
            row[width] = self.rows[k];
        }
        statistics
    }
}

vectorised! {
    /// Adds x times each responsibility to the counts of every word of a row.
    fn add_weighted_words(places: &[u32], first: usize, values: &[f64], responsibilities: &[f64], counts: &mut [f64]) {
        let components = responsibilities.len();
        for (block, responsibilities) in responsibilities.chunks(COMPONENTS_IN_REGISTERS).enumerate() {
            let at = |place: u32| (place as usize - first) * components + block * COMPONENTS_IN_REGISTERS;
            // The excess components are added with weight zero.
            match responsibilities.len().div_ceil(LANES / 2) {
                1 => add_weighted_few::<4>(places, values, responsibilities, at, counts),
                2 => add_weighted_few::<8>(places, values, responsibilities, at, counts),
                3 => add_weighted_few::<12>(places, values, responsibilities, at, counts),
                4 => add_weighted_few::<16>(places, values, responsibilities, at, counts),
                5 => add_weighted_few::<20>(places, values, responsibilities, at, counts),
                _ => add_weighted_few::<24>(places, values, responsibilities, at, counts),
            }
        }
    }
}

/// As [`add_weighted_words`] for N components, or up to three less.
#[inline(always)]
fn add_weighted_few<const N: usize>(
    places: &[u32],
    values: &[f64],
    responsibilities: &[f64],
    at: impl Fn(u32) -> usize,
    counts: &mut [f64],
) {
    let mut own = [0.0; N];
    own[..responsibilities.len()].copy_from_slice(responsibilities);
    for (&place, x) in places.iter().zip(values) {
        let counts = counts[at(place)..].first_chunk_mut::<N>().expect("room after the last word");
        for l in 0..N {
            counts[l] += x * own[l];
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
                    super::each_value(tile.column(column), weights, |_, x, weight| *count += weight * x);
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
            Logs::new(statistics.rows(), width, run, log)
        } else {
            Logs::new(statistics.rows(), width, run, |k, j| self.log_of(j, statistics[(k, j)], totals[k]))
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

    fn log_prior(&self) -> f64 {
        if self.alpha == 0.0 {
            return 0.0;
        }
        self.alpha * self.logs.values[..self.width() * self.logs.components].iter().sum::<f64>()
    }

    fn free_parameters(&self) -> (usize, usize) {
        (self.width().saturating_sub(1), 0)
    }

    fn expect(&self, component: usize, tile: &Tile<'_>, tell: &mut dyn FnMut(usize, usize, Expected<'_>)) {
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
            tell(i, columns[j], Expected::Number { mean, variance });
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
