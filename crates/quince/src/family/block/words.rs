//! Counts of words, dense or sparse, as one multinomial block: ln p(row) = Σ x_j ln p_j.
//!
//! p_j = (n_j + α) / (n + α words), n_j being how often word j occurs in the component's rows and n how often all words do. The
//! number of orders in which the words can stand, n! / Π x_j!, is the same for every component, and is left out of scores; a row's
//! density has it.
//!
//! So are, in a dense block, the places that are holes: the others are judged among themselves, with p_j / s and s = Σ p over what is
//! known. Then no sum gives the p at once, but steps do that raise the likelihood (Hunter's, for Bradley and Terry's model): with
//! e_j = Σ x / s over the rows in which j is known, x being how many words the row has and s by the p so far, the next p_j are in
//! proportion to (n_j + α) / (e_j + α words).

use super::gather::{Gather, OneByOne};
use super::normals::left_over;
use super::{Draw, Expected, Family, Scores, Tile, each_hole, ln};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::simd::{LANES, vectorised};
use crate::numbers::ln_factorial;
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// The logarithms of so many words are found at a time.
const SOME: usize = 4096;

/// So many components are added up at a time.
const FEW: usize = 3 * LANES;

/// Where the columns of a block are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// These dense columns.
    Dense(Vec<usize>),
    /// Sparse columns, counted from the first sparse one.
    Sparse { first: usize, width: usize },
}

impl Place {
    /// How many columns.
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
pub(crate) struct Words {
    place: Place,
    alpha: f64,
    /// Whether dense columns have holes.
    #[serde(default)]
    holes: bool,
    /// How often each word occurs in all rows.
    #[serde(skip)]
    settled: Vec<f64>,
    logs: Logs,
    /// How many words a row has, on average.
    #[serde(skip)]
    lengths: Vec<f64>,
}

/// A logarithm for every word and component, those of a word side by side.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Logs {
    #[serde(skip)]
    components: usize,
    /// After the last word there is room for a few more components.
    #[serde(skip)]
    values: Vec<f64>,
    /// Whether all are finite.
    #[serde(skip)]
    finite: bool,
}

impl Logs {
    pub(super) fn new(components: usize, words: usize, run: &Run, log: impl Fn(usize, usize) -> f64 + Sync) -> Logs {
        let mut values = vec![0.0; words * components + LANES / 2];
        let mut pieces: Vec<(&mut [f64], bool)> =
            values[..words * components].chunks_mut((SOME * components).max(1)).map(|piece| (piece, true)).collect();
        run.each(&mut pieces, |piece, (values, finite)| {
            for (j, logs) in values.chunks_exact_mut(components).enumerate() {
                for (k, place) in logs.iter_mut().enumerate() {
                    *place = log(k, piece * SOME + j);
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

    /// Adds x ln p to the sums of all components for every word of a row that occurs; places are counted from `first`.
    pub(super) fn add(&self, places: &[u32], first: usize, values: &[f64], sums: &mut [f64]) {
        if self.finite {
            return add_words(places, first, values, &self.values, sums);
        }
        // What does not occur says nothing, even if it cannot occur.
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
        for (block, sums) in sums.chunks_mut(FEW).enumerate() {
            let at = |place: u32| (place as usize - first) * components + block * FEW;
            // Sums of so many components stay in registers.
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

/// As [`add_words`] for N components, or up to three less: what is added then is left aside in the end.
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

impl Words {
    /// Whether another block is of the same columns, with the same settings.
    pub(super) fn is_like(&self, other: &Words) -> bool {
        (&self.place, self.alpha, self.holes) == (&other.place, other.alpha, other.holes)
    }

    pub(crate) fn new(place: Place, alpha: f64) -> Words {
        Words { place, alpha, holes: false, settled: Vec::new(), logs: Logs::default(), lengths: Vec::new() }
    }

    /// The same for dense columns that have holes.
    pub(crate) fn with_holes(self) -> Words {
        Words { holes: true, ..self }
    }

    /// Whether columns have holes.
    pub(crate) fn has_holes(&self) -> bool {
        self.holes
    }

    /// Where the block is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// ln p of a word in a component.
    pub(crate) fn log(&self, component: usize, word: usize) -> f64 {
        if self.never_was(word) { f64::NEG_INFINITY } else { self.logs.get(component, word) }
    }

    /// Whether a word has no probability in any component: it says nothing of a row.
    fn never_was(&self, word: usize) -> bool {
        self.alpha == 0.0 && self.settled[word] == 0.0
    }

    fn width(&self) -> usize {
        self.place.width()
    }

    /// p_j of a component; all alike where nothing is known yet.
    fn shares(&self, component: usize) -> Vec<f64> {
        match self.logs.components {
            0 => vec![1.0 / self.width() as f64; self.width()],
            _ => (0..self.width()).map(|j| self.log(component, j).exp()).collect(),
        }
    }

    /// How many words a dense row has, and Σ p over what is known of it.
    fn known(columns: &[usize], p: &[f64], tile: &Tile<'_>, i: usize) -> (f64, f64) {
        let (mut n, mut share) = (0.0, 0.0);
        for (&column, p) in columns.iter().zip(p) {
            let x = tile.column(column)[i];
            if !x.is_nan() {
                n += x;
                share += p;
            }
        }
        (n, share)
    }

    /// Adds to e_j, for the words that are known of each row.
    fn add_exposures(&self, component: usize, exposures: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let (columns, p) = (self.place.columns(), self.shares(component));
        for i in 0..tile.rows() {
            let (n, share) = Words::known(columns, &p, tile, i);
            let times = weights.map_or(1.0, |weights| weights[i]) * if share > 0.0 { n / share } else { 0.0 };
            for (exposure, &column) in exposures.iter_mut().zip(columns) {
                *exposure += if tile.column(column)[i].is_nan() { 0.0 } else { times };
            }
        }
    }

    /// The log likelihood of what is known of a row by what is learnt without it; `weighed` is its weight times its length.
    fn own_with_holes(&self, component: usize, sums: &[f64], entries: &[(usize, f64)], weighed: f64) -> f64 {
        let length: f64 = entries.iter().map(|(_, x)| x).sum();
        if length == 0.0 {
            return 0.0;
        }
        let (weight, width) = (weighed / length, self.width());
        let known: f64 = entries.iter().map(|(j, _)| self.log(component, *j).exp()).sum();
        let exposure = if known > 0.0 { weighed / known } else { 0.0 };
        let share = |&(j, x): &(usize, f64)| {
            let left = left_over(sums[width + 1 + j], exposure);
            self.share_of(j, (sums[j] - weight * x).max(0.0), left)
        };
        let all: f64 = entries.iter().map(share).sum();
        entries.iter().filter(|(_, x)| *x != 0.0).map(|entry| entry.1 * ln(share(entry) / all)).sum()
    }

    /// p_j, in proportion, where columns have holes.
    fn share_of(&self, j: usize, count: f64, exposure: f64) -> f64 {
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

/// Sums of sparse words, in which the components of a word lie side by side.
struct BySide<'a> {
    words: &'a Words,
    components: usize,
    /// After the last word there is room for a few more components.
    counts: Vec<f64>,
    rows: Vec<f64>,
}

impl<'a> BySide<'a> {
    fn new(words: &'a Words, components: usize) -> BySide<'a> {
        let counts = vec![0.0; words.width() * components + LANES / 2];
        BySide { words, components, counts, rows: vec![0.0; components] }
    }
}

impl Gather for BySide<'_> {
    fn score(&mut self, tile: &Tile<'_>, scores: &mut Scores) {
        self.words.score(tile, scores);
    }

    fn add(&mut self, tile: &Tile<'_>, shares: &Scores) {
        let Place::Sparse { first, width } = self.words.place else { return };
        let mut own = vec![0.0; self.components];
        for i in 0..tile.rows() {
            let Some((places, values)) = tile.sparse_row(i, first, width) else { continue };
            for (k, (own, rows)) in own.iter_mut().zip(&mut self.rows).enumerate() {
                *own = shares.of(k)[i];
                *rows += *own;
            }
            spread_words(places, first, values, &own, &mut self.counts);
        }
    }

    fn sums(self: Box<Self>) -> Matrix {
        let width = self.words.width();
        let mut sums = Matrix::zeros(self.components, width + 1);
        for k in 0..self.components {
            let row = sums.row_mut(k);
            row.iter_mut().zip(self.counts.iter().skip(k).step_by(self.components)).for_each(|(sum, n)| *sum = *n);
            row[width] = self.rows[k];
        }
        sums
    }
}

vectorised! {
    /// Adds x times each share to the counts of every word of a row.
    fn spread_words(places: &[u32], first: usize, values: &[f64], shares: &[f64], counts: &mut [f64]) {
        let components = shares.len();
        for (block, shares) in shares.chunks(FEW).enumerate() {
            let at = |place: u32| (place as usize - first) * components + block * FEW;
            // What is past the last component is added zero times.
            match shares.len().div_ceil(LANES / 2) {
                1 => spread_few::<4>(places, values, shares, at, counts),
                2 => spread_few::<8>(places, values, shares, at, counts),
                3 => spread_few::<12>(places, values, shares, at, counts),
                4 => spread_few::<16>(places, values, shares, at, counts),
                5 => spread_few::<20>(places, values, shares, at, counts),
                _ => spread_few::<24>(places, values, shares, at, counts),
            }
        }
    }
}

/// As [`spread_words`] for N components, or up to three less.
#[inline(always)]
fn spread_few<const N: usize>(
    places: &[u32],
    values: &[f64],
    shares: &[f64],
    at: impl Fn(u32) -> usize,
    counts: &mut [f64],
) {
    let mut own = [0.0; N];
    own[..shares.len()].copy_from_slice(shares);
    for (&place, x) in places.iter().zip(values) {
        let counts = counts[at(place)..].first_chunk_mut::<N>().expect("room after the last word");
        for l in 0..N {
            counts[l] += x * own[l];
        }
    }
}

impl Family for Words {
    fn sums(&self) -> usize {
        // Every word, and the rows that have the block; of columns with holes the e_j besides.
        self.width() + 1 + if self.holes { self.width() } else { 0 }
    }

    fn add(&self, component: usize, sums: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let (counts, rows) = sums.split_at_mut(self.width());
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        match &self.place {
            Place::Dense(columns) => {
                for (count, &column) in counts.iter_mut().zip(columns) {
                    super::each_value(tile.column(column), weights, |_, x, weight| *count += weight * x);
                }
                rows[0] += (0..tile.rows()).map(weight).sum::<f64>();
                if self.holes {
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

    fn settle(&mut self, sums: &Matrix) {
        self.settled = vec![0.0; self.width()];
        for k in 0..sums.rows() {
            self.settled.iter_mut().zip(sums.row(k)).for_each(|(all, count)| *all += count);
        }
    }

    fn estimate(&mut self, sums: &Matrix, run: &Run) -> Result<()> {
        if self.settled.is_empty() {
            self.settle(sums);
        }
        let width = self.width();
        let totals: Vec<f64> = (0..sums.rows()).map(|k| sums.row(k)[..width].iter().sum()).collect();
        self.logs = if self.holes {
            let share = |k: usize, j: usize| self.share_of(j, sums[(k, j)], sums[(k, width + 1 + j)]);
            let all: Vec<f64> = (0..sums.rows()).map(|k| (0..width).map(|j| share(k, j)).sum()).collect();
            let log = |k: usize, j: usize| if self.never_was(j) { 0.0 } else { ln(share(k, j) / all[k]) };
            Logs::new(sums.rows(), width, run, log)
        } else {
            Logs::new(sums.rows(), width, run, |k, j| self.log_of(j, sums[(k, j)], totals[k]))
        };
        let length = |k: usize| if sums[(k, width)] > 0.0 { totals[k] / sums[(k, width)] } else { 0.0 };
        self.lengths = (0..sums.rows()).map(length).collect();
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
                    let holes = columns.iter().any(|&column| tile.has_holes(column) && tile.column(column)[i].is_nan());
                    let value = |(j, &column): (usize, &usize)| (j, tile.column(column)[i]);
                    let known = || columns.iter().enumerate().map(value).filter(|(_, x)| !x.is_nan());
                    let (places, values): (Vec<u32>, Vec<f64>) = known().map(|(j, x)| (j as u32, x)).unzip();
                    self.logs.add(&places, 0, &values, &mut sums);
                    if holes {
                        let length: f64 = known().map(|(_, x)| x).sum();
                        for (k, sum) in sums.iter_mut().enumerate() {
                            // Without a share, what is known cannot be, and the sum says so already.
                            let share: f64 = known().map(|(j, _)| self.log(k, j).exp()).sum();
                            *sum -= if length > 0.0 && share > 0.0 { length * share.ln() } else { 0.0 };
                        }
                    }
                }
            }
            scores.add(i, sums.iter().copied());
        }
    }

    fn score_own(&self, component: usize, sums: &[f64], tile: &Tile<'_>, weights: Option<&[f64]>, own: &mut [f64]) {
        own.fill(0.0);
        let counts = &sums[..self.width()];
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
            if self.holes {
                *own = self.own_with_holes(component, sums, &entries, weight * length);
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
            Place::Sparse { .. } => Box::new(BySide::new(self, components)),
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
        if !columns.iter().any(|&column| tile.has_holes(column)) {
            return;
        }
        let p = self.shares(component);
        let known: Vec<(f64, f64)> = (0..tile.rows()).map(|i| Words::known(columns, &p, tile, i)).collect();
        each_hole(tile, columns, |i, j| {
            let (n, share) = known[i];
            // Of a row that is not known at all, its length is not either.
            let (mean, variance) = match share > 0.0 {
                true if n > 0.0 => (n * p[j] / share, n * p[j] / share * (1.0 + p[j] / share)),
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
