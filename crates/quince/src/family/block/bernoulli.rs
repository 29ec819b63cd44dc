//! Independent Bernoulli columns (yes or no), dense or sparse.
//!
//! With M yes among N values, p(yes) = (M + n' p) / (N + n'): as if n' more values had been seen, a fraction p of them yes.
//! That is the mode under a Beta(n' p + 1, n' (1 - p) + 1) prior; n' = 2 and p = ½ is Laplace's rule, n' = 0 maximum
//! likelihood.
//!
//! In a sparse block a place that is not stored is a no: the score of a row is that of a row of nos, plus the change that
//! each yes makes.

use super::gather::{Gather, OneByOne};
use super::log_table::LogTable;
use super::{Draw, Expected, Family, Place, Scores, Tile, each_missing, each_value, left_over, ln};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::run::{Run, Stream};
use serde::{Deserialize, Serialize};

/// Independent columns of yes and no.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bernoullis {
    place: Place,
    /// Numbers above this are yes.
    threshold: f64,
    /// The strength n' and the mean p of the prior.
    prior: (f64, f64),
    /// The proportion of yes of each column over all rows.
    settled: Vec<f64>,
    /// ln p(no) and ln p(yes) of each component, one pair per column.
    #[serde(skip)]
    logs: Vec<Vec<[f64; 2]>>,
    /// Of a sparse block: the score of a row of nos, and the change that a yes makes.
    #[serde(skip)]
    all_no: Vec<f64>,
    #[serde(skip)]
    changes: LogTable,
}

impl Bernoullis {
    pub(crate) fn new(place: Place, threshold: f64, prior: (f64, f64)) -> Bernoullis {
        Bernoullis {
            place,
            threshold,
            prior,
            settled: Vec::new(),
            logs: Vec::new(),
            all_no: Vec::new(),
            changes: LogTable::default(),
        }
    }

    /// Numbers above this are yes.
    pub(crate) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The columns of the block.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Whether another block has the same columns and settings.
    pub(super) fn is_like(&self, other: &Bernoullis) -> bool {
        (&self.place, self.threshold, self.prior) == (&other.place, other.threshold, other.prior)
    }

    fn width(&self) -> usize {
        self.place.width()
    }

    /// ln p(no) and ln p(yes) of a column in a component.
    pub(crate) fn parameters(&self, component: usize, j: usize) -> [f64; 2] {
        let [no, yes] = self.never_was(j);
        let [log_no, log_yes] = self.logs[component][j];
        [if no { f64::NEG_INFINITY } else { log_no }, if yes { f64::NEG_INFINITY } else { log_yes }]
    }

    /// Whether no and whether yes have probability zero in every component, so that they carry no information about a row.
    fn never_was(&self, j: usize) -> [bool; 2] {
        [1.0 - self.settled[j], self.settled[j]].map(|proportion| self.prior.0 == 0.0 && proportion == 0.0)
    }

    /// ln p(no) and ln p(yes) of a column from the weight of its values and of the yes among them.
    fn logs(&self, j: usize, w: f64, yes: f64) -> [f64; 2] {
        let (strength, proportion) = self.prior;
        let whole = self.settled[j];
        let p = if w > 0.0 { (yes + strength * proportion) / (w + strength) } else { whole };
        let [no, yes] = self.never_was(j);
        [if no { 0.0 } else { ln(1.0 - p) }, if yes { 0.0 } else { ln(p) }]
    }

    /// The total weight of a column: of all rows that have the block, if it is sparse.
    fn weight(&self, statistics: &[f64], j: usize) -> f64 {
        if self.place.is_sparse() { statistics[self.width()] } else { statistics[self.width() + j] }
    }
}

impl Family for Bernoullis {
    fn statistic_count(&self) -> usize {
        if self.place.is_sparse() { self.width() + 1 } else { 2 * self.width() }
    }

    fn add(&self, _component: usize, statistics: &mut [f64], tile: &Tile<'_>, weights: Option<&[f64]>) {
        let (yes, totals) = statistics.split_at_mut(self.width());
        match &self.place {
            Place::Dense(columns) => {
                for (j, &column) in columns.iter().enumerate() {
                    each_value(tile.column(column), weights, |_, x, weight| {
                        totals[j] += weight;
                        yes[j] += if x > self.threshold { weight } else { 0.0 };
                    });
                }
            }
            Place::Sparse { first, width } => {
                for i in 0..tile.rows() {
                    let Some(entries) = tile.entries(i, *first, *width) else { continue };
                    let weight = weights.map_or(1.0, |weights| weights[i]);
                    totals[0] += weight;
                    entries.filter(|(_, x)| *x > self.threshold).for_each(|(j, _)| yes[j] += weight);
                }
            }
        }
    }

    fn settle(&mut self, statistics: &Matrix) {
        let proportion = |j: usize| {
            let yes: f64 = (0..statistics.rows()).map(|k| statistics[(k, j)]).sum();
            let all: f64 = (0..statistics.rows()).map(|k| self.weight(statistics.row(k), j)).sum();
            if all > 0.0 { yes / all } else { 0.5 }
        };
        self.settled = (0..self.width()).map(proportion).collect();
    }

    fn estimate(&mut self, statistics: &Matrix, run: &Run) -> Result<()> {
        let one = |k: usize, j: usize| self.logs(j, self.weight(statistics.row(k), j), statistics[(k, j)]);
        self.logs = run.map(statistics.rows(), |k| (0..self.width()).map(|j| one(k, j)).collect());
        if self.place.is_sparse() {
            self.all_no = self.logs.iter().map(|logs| logs.iter().map(|log| log[0]).sum()).collect();
            self.changes =
                LogTable::new(statistics.rows(), self.width(), run, |k, j| self.logs[k][j][1] - self.logs[k][j][0]);
        }
        Ok(())
    }

    fn score(&self, tile: &Tile<'_>, scores: &mut Scores) {
        match &self.place {
            Place::Dense(columns) => {
                for (j, &column) in columns.iter().enumerate() {
                    each_value(tile.column(column), None, |i, x, _| {
                        let answer = usize::from(x > self.threshold);
                        scores.add(i, self.logs.iter().map(|logs| logs[j][answer]));
                    });
                }
            }
            Place::Sparse { first, width } => {
                let possible = self.all_no.iter().all(|score| score.is_finite());
                let mut sums = vec![0.0; scores.components()];
                let (mut yes, mut ones) = (Vec::new(), Vec::new());
                for i in 0..tile.rows() {
                    let Some((places, values)) = tile.sparse_row(i, *first, *width) else { continue };
                    yes.clear();
                    yes.extend(
                        places.iter().zip(values).filter(|(_, x)| **x > self.threshold).map(|(place, _)| *place),
                    );
                    if possible {
                        ones.resize(yes.len().max(ones.len()), 1.0);
                        sums.copy_from_slice(&self.all_no);
                        self.changes.add(&yes, *first, &ones[..yes.len()], &mut sums);
                        scores.add(i, sums.iter().copied());
                    } else {
                        let places: Vec<usize> = yes.iter().map(|&place| place as usize - first).collect();
                        scores.add(i, self.logs.iter().map(|logs| answers(&places, logs.len(), |j, yes| logs[j][yes])));
                    }
                }
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
        match &self.place {
            Place::Dense(columns) => {
                for (j, &column) in columns.iter().enumerate() {
                    each_value(tile.column(column), weights, |i, x, weight| {
                        let yes = if x > self.threshold { weight } else { 0.0 };
                        let left = left_over(statistics[self.width() + j], weight);
                        let logs = self.logs(j, left, (statistics[j] - yes).max(0.0));
                        own[i] += logs[usize::from(x > self.threshold)];
                    });
                }
            }
            Place::Sparse { first, width } => {
                // Without the row every place has less weight: the row of nos is scored again, once for each weight.
                let mut known: Option<(f64, f64)> = None;
                for i in 0..tile.rows() {
                    let Some(entries) = tile.entries(i, *first, *width) else { continue };
                    let weight = weights.map_or(1.0, |weights| weights[i]);
                    let left = left_over(statistics[self.width()], weight);
                    let all_no = match known {
                        Some((same, all_no)) if same == weight => all_no,
                        _ => (0..*width).map(|j| self.logs(j, left, statistics[j].min(left))[0]).sum(),
                    };
                    known = Some((weight, all_no));
                    let places: Vec<usize> = entries.filter(|(_, x)| *x > self.threshold).map(|(j, _)| j).collect();
                    let change = |&j: &usize| {
                        let without = self.logs(j, left, (statistics[j] - weight).max(0.0));
                        (self.logs(j, left, statistics[j].min(left))[0], without[1])
                    };
                    let changes: Vec<(f64, f64)> = places.iter().map(change).collect();
                    own[i] = if all_no.is_finite() {
                        all_no + changes.iter().map(|(no, yes)| yes - no).sum::<f64>()
                    } else {
                        answers(&places, *width, |j, yes| {
                            let seen =
                                if yes == 1 { (statistics[j] - weight).max(0.0) } else { statistics[j].min(left) };
                            self.logs(j, left, seen)[yes]
                        })
                    };
                }
            }
        }
    }

    fn gather<'a>(&'a self, components: usize) -> Box<dyn Gather + 'a> {
        Box::new(OneByOne::new(self, components))
    }

    fn mend(&self, statistics: &mut [f64], real: &[f64]) {
        if (0..self.width()).any(|j| !(0.0..=self.weight(statistics, j)).contains(&statistics[j])) {
            statistics.copy_from_slice(real);
        }
    }

    fn log_prior(&self) -> f64 {
        let (strength, proportion) = self.prior;
        if strength == 0.0 {
            return 0.0;
        }
        let part = |proportion: f64, log: f64| if proportion > 0.0 { proportion * log } else { 0.0 };
        let of = |[no, yes]: &[f64; 2]| part(1.0 - proportion, *no) + part(proportion, *yes);
        strength * self.logs.iter().flatten().map(of).sum::<f64>()
    }

    fn free_parameters(&self) -> (usize, usize) {
        (self.width(), 0)
    }

    fn expect(&self, component: usize, tile: &Tile<'_>, visit: &mut dyn FnMut(usize, usize, Expected<'_>)) {
        let columns = self.place.columns();
        each_missing(tile, columns, |i, j| {
            let probabilities = self.parameters(component, j).map(f64::exp);
            visit(i, columns[j], Expected::Category(&probabilities));
        });
    }

    fn sample(&self, component: usize, stream: &mut Stream, row: &mut Draw) {
        let mut is_yes = |j: usize| stream.uniform() < self.parameters(component, j)[1].exp();
        match &self.place {
            Place::Dense(columns) => {
                for (j, &column) in columns.iter().enumerate() {
                    row.dense[column] = f64::from(u8::from(is_yes(j)));
                }
            }
            Place::Sparse { first, width } => {
                let places = (0..*width).filter(|&j| is_yes(j)).collect();
                row.sequences.push((*first, places));
            }
        }
    }

    fn columns(&self) -> &[usize] {
        self.place.columns()
    }

    fn is_sound(&self, _components: usize) -> bool {
        let (strength, proportion) = self.prior;
        self.settled.len() == self.width()
            && self.settled.iter().all(|proportion| (0.0..=1.0).contains(proportion))
            && strength >= 0.0
            && strength.is_finite()
            && (0.0..=1.0).contains(&proportion)
            && !self.threshold.is_nan()
    }
}

/// Σ over all columns, with yes at these places and no at all others: a no may be impossible where a yes stands.
fn answers(places: &[usize], width: usize, mut score: impl FnMut(usize, usize) -> f64) -> f64 {
    let mut present = places.iter().copied().peekable();
    (0..width).map(|j| score(j, usize::from(present.next_if_eq(&j).is_some()))).sum()
}
