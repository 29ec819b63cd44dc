//! Neighbours by one matrix product: a filter in single precision, then an exact choice.
//!
//! For Euclidean distance ‖x - y‖² = ‖x‖² - 2 (x·y - ½‖y‖²): the nearest rows y have the largest score x·y - ½‖y‖², which
//! is a product of [x 1] and [y -½‖y‖²]. For cosine the score is the product of unit vectors. Products run in f32 at
//! twice the speed of f64, on rows about their centre and scaled into range.
//!
//! A computed score is off by at most an ε that is known (see [`ErrorBound`]). If s is the k-th largest computed score, k rows have
//! true scores of at least s - ε, so every true neighbour has a computed score of at least s - 2ε. Those rows, a few more than
//! k, are measured again by direct differences in f64, which alone decide.

use super::best::Best;
use super::data::SearchRows;
use super::index::QuerySet;
use super::measure::{DistanceMetric, Measure};
use crate::error::Result;
use crate::matrix::fused::{ErrorBound, Panels, Visit, WIDE, each_score};
use crate::matrix::simd::{convert, squared_norm, vectorised};
use crate::run::Run;
use std::ops::Range;

/// The rows as the product takes them.
pub(super) struct Filter<'a> {
    rows: SearchRows<'a>,
    measure: &'a Measure,
    /// What is subtracted from each column before the product, and what it is multiplied by.
    centre: Vec<f64>,
    scale: Vec<f64>,
    /// The part of the scales that is the same for all columns.
    unit: f64,
    /// The largest norm of a row.
    largest: f64,
    /// Numbers so small that their squares vanish: exact ranks are not what the scores say.
    vanishing: bool,
}

/// Queries that go past the rows together.
pub(super) struct Batch {
    queries: Range<usize>,
    panels: Panels,
    states: Vec<State>,
    scratch: FilterScratch,
}

struct FilterScratch {
    sums: Vec<[f32; WIDE]>,
    of_query: Vec<f64>,
    of_row: Vec<f64>,
}

/// The state of one query.
struct State {
    best: Best,
    /// Rows whose score reached the threshold of their time.
    pending: Vec<(f32, u32)>,
    threshold: f32,
    /// Bounds on the error of a score, both true; none if only direct measuring will do.
    error_bounds: Option<[ErrorBound; 2]>,
    squared_norm: f64,
    own: u32,
}

impl<'a> Filter<'a> {
    pub(super) fn new(rows: SearchRows<'a>, measure: &'a Measure, run: &Run) -> Result<Filter<'a>> {
        let columns = rows.features.columns();
        let mut scale: Vec<f64> = (0..columns).map(|j| measure.weights.get(j).map_or(1.0, |w| w.sqrt())).collect();
        if measure.metric == DistanceMetric::Cosine {
            let centre = vec![0.0; columns];
            return Ok(Filter { rows, measure, centre, scale, unit: 1.0, largest: 1.0, vanishing: false });
        }
        let centre = rows.features.means(None, run)?;
        let shifted = rows.features.centred(&centre).scaled(&scale);
        let mut largest = 0.0;
        for first in (0..rows.rows()).step_by(16_384) {
            let norms = shifted.norms_of(first..(first + 16_384).min(rows.rows()), run)?;
            largest = norms.into_iter().fold(largest, f64::max);
        }
        let largest = largest.sqrt();
        // A power of two brings the largest norm near one, so that squares neither overflow nor vanish.
        let unit = if largest > 0.0 { (-largest.log2().ceil()).exp2() } else { 1.0 };
        scale.iter_mut().for_each(|scale| *scale *= unit);
        Ok(Filter { rows, measure, centre, scale, unit, largest: largest * unit, vanishing: largest < 1e-140 })
    }

    /// The row as the product takes it, and its squared norm.
    fn shift(&self, row: &[f64], out: &mut [f64]) -> f64 {
        centre_and_scale(row, &self.centre, &self.scale, out);
        let norm = squared_norm(out);
        if self.measure.metric == DistanceMetric::Cosine && norm > 0.0 {
            let length = norm.sqrt();
            out.iter_mut().for_each(|x| *x /= length);
            return 1.0;
        }
        norm
    }

    /// [y -½‖y‖²] for some rows, or [y/‖y‖ 0], one after another.
    pub(super) fn pack(&self, rows: Range<usize>, packed: &mut Vec<f32>, run: &Run) {
        let columns = self.centre.len();
        packed.resize(rows.len() * (columns + 1), 0.0);
        let step = rows.len().div_ceil(16).max(64);
        let mut pieces: Vec<&mut [f32]> = packed.chunks_mut(step * (columns + 1)).collect();
        run.each(&mut pieces, |piece, out| {
            let (mut space, mut shifted) = (vec![0.0; columns], vec![0.0; columns]);
            for (r, out) in out.chunks_mut(columns + 1).enumerate() {
                let row = self.rows.dense_row(rows.start + piece * step + r, &mut space);
                let norm = self.shift(row, &mut shifted);
                convert(&shifted, out);
                out[columns] = if self.measure.metric == DistanceMetric::Cosine { 0.0 } else { (-0.5 * norm) as f32 };
            }
        });
    }

    /// Fills a batch with queries.
    pub(super) fn begin(&self, batch: &mut Batch, questions: &QuerySet<'_>, queries: Range<usize>) {
        let columns = self.centre.len();
        let mut shifted = vec![0.0; columns];
        for ((row, q), state) in queries.clone().enumerate().zip(&mut batch.states) {
            let query = questions.queries.dense_row(q, &mut batch.scratch.of_query);
            let squared_norm = self.shift(query, &mut shifted);
            let norm = squared_norm.sqrt();
            let error_bounds = [ErrorBound::within(columns, norm, self.largest), ErrorBound::anywhere(columns, norm)];
            // A query so far out that its products say nothing about the differences between rows is measured directly.
            let far = self.vanishing || norm.is_nan() || norm > 1e6 * self.largest;
            let one = |x: &f64| if far { 0.0 } else { *x as f32 };
            batch.panels.set_row(row, shifted.iter().map(one).chain([1.0]));
            state.best.clear();
            state.pending.clear();
            state.threshold = f32::NEG_INFINITY;
            state.error_bounds = if far { None } else { Some(error_bounds) };
            state.squared_norm = squared_norm;
            state.own = questions.own(q);
        }
        batch.queries = queries;
    }

    /// Takes a batch of queries past packed rows, the first of which is row `first`.
    pub(super) fn pass(&self, batch: &mut Batch, questions: &QuerySet<'_>, first: usize, packed: &[f32]) {
        let width = self.centre.len() + 1;
        // Rows that stay in a core's own cache while all panels go past them.
        let step = (32_768 / width).clamp(48, 1020) / 6 * 6;
        let Batch { queries, panels, states, scratch } = batch;
        let states = &mut states[..queries.len()];
        for (tile, rows) in packed.chunks(step * width).enumerate() {
            for (p, states) in states.chunks_mut(WIDE).enumerate() {
                let mut thresholds = [f32::INFINITY; WIDE];
                thresholds.iter_mut().zip(states.iter()).for_each(|(threshold, state)| *threshold = state.threshold);
                let mut sums = std::mem::take(&mut scratch.sums);
                let first_query = queries.start + p * WIDE;
                let first_row = first + tile * step;
                let mut look = Look { filter: self, questions, thresholds, states, first_query, first_row, scratch };
                each_score(panels.panel(p), rows, &mut sums, &mut look);
                scratch.sums = sums;
            }
        }
    }

    /// Drops pending rows that cannot be neighbours any more, and raises the threshold.
    fn thin(&self, state: &mut State, questions: &QuerySet<'_>, q: usize, scratch: &mut FilterScratch) {
        let k = state.best.capacity();
        if let (Some(error_bounds), []) = (state.error_bounds, state.best.found()) {
            let mut scores: Vec<f32> = state.pending.iter().map(|entry| entry.0).collect();
            let (_, kth, _) = scores.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
            let kth = f64::from(*kth);
            error_bounds.iter().for_each(|error_bound| state.raise(error_bound.least(kth - error_bound.at(kth))));
            let threshold = state.threshold;
            state.pending.retain(|entry| entry.0 >= threshold);
        }
        if state.pending.len() > 2 * k + 32 {
            // Many rows as far as each other: only exact ranks tell them apart.
            self.settle(state, questions, q, scratch);
        }
    }

    /// Measures all pending rows exactly.
    fn settle(&self, state: &mut State, questions: &QuerySet<'_>, q: usize, scratch: &mut FilterScratch) {
        let query = questions.queries.row(q, &mut scratch.of_query);
        for &(_, i) in &state.pending {
            let row = self.rows.row(i as usize, &mut scratch.of_row);
            state.best.offer(self.measure.rank_up_to(state.best.worst(), query, row, self.centre.len()), i);
        }
        state.pending.clear();
        let worst = state.best.worst();
        if let (Some(error_bounds), true) = (state.error_bounds, worst.is_finite()) {
            // The last digits of the rank itself are covered by the error bound, which is that of single precision.
            let score = match self.measure.metric {
                DistanceMetric::Cosine => 1.0 - worst,
                _ => 0.5 * (state.squared_norm - worst * self.unit * self.unit),
            };
            error_bounds.iter().for_each(|error_bound| state.raise(error_bound.least(score)));
        }
    }

    /// Decides, once all rows have passed.
    pub(super) fn finish(&self, batch: &mut Batch, questions: &QuerySet<'_>) {
        for (state, q) in batch.states.iter_mut().zip(batch.queries.clone()) {
            if state.pending.len() >= state.best.capacity() {
                self.thin(state, questions, q, &mut batch.scratch);
            }
            self.settle(state, questions, q, &mut batch.scratch);
        }
    }
}

impl Batch {
    /// Space for this many queries of this many columns, with k neighbours each.
    pub(super) fn new(queries: usize, columns: usize, k: usize) -> Batch {
        let state = |_| State {
            best: Best::new(k),
            pending: Vec::with_capacity((most_pending(k) + 1).min(256)),
            threshold: f32::NEG_INFINITY,
            error_bounds: None,
            squared_norm: 0.0,
            own: 0,
        };
        Batch {
            queries: 0..0,
            panels: Panels::zeros(queries, columns + 1),
            states: (0..queries).map(state).collect(),
            scratch: FilterScratch { sums: Vec::new(), of_query: vec![0.0; columns], of_row: vec![0.0; columns] },
        }
    }

    /// The nearest rows of each query.
    pub(super) fn found(&self) -> impl Iterator<Item = (usize, &[(f64, u32)])> {
        self.queries.clone().zip(self.states.iter().map(|state| state.best.found()))
    }
}

/// What happens to the scores of one row with sixteen queries: nearly always nothing.
struct Look<'a> {
    filter: &'a Filter<'a>,
    questions: &'a QuerySet<'a>,
    thresholds: [f32; WIDE],
    states: &'a mut [State],
    first_query: usize,
    first_row: usize,
    scratch: &'a mut FilterScratch,
}

impl Visit for Look<'_> {
    #[inline(always)]
    fn scores(&mut self, row: usize, scores: &[f32; WIDE]) {
        let mut any = false;
        for l in 0..WIDE {
            any |= scores[l] >= self.thresholds[l];
        }
        if any {
            self.keep(self.first_row + row, scores);
        }
    }
}

impl Look<'_> {
    #[inline(never)]
    fn keep(&mut self, row: usize, scores: &[f32; WIDE]) {
        for (l, state) in self.states.iter_mut().enumerate() {
            if scores[l] >= self.thresholds[l] && row as u32 != state.own {
                state.pending.push((scores[l], row as u32));
                if state.pending.len() > most_pending(state.best.capacity()) {
                    self.filter.thin(state, self.questions, self.first_query + l, self.scratch);
                    self.thresholds[l] = state.threshold;
                }
            }
        }
    }
}

vectorised! {
    /// (x - centre) · scale, number by number.
    fn centre_and_scale(row: &[f64], centre: &[f64], scale: &[f64], out: &mut [f64]) {
        for ((x, out), (centre, scale)) in row.iter().zip(out).zip(centre.iter().zip(scale)) {
            *out = (x - centre) * scale;
        }
    }
}

/// The largest number of rows that wait to be thinned out.
fn most_pending(k: usize) -> usize {
    4 * k + 32
}

impl State {
    /// Raises the threshold, rounding downwards.
    fn raise(&mut self, to: f64) {
        let nearest = to as f32;
        let below = if f64::from(nearest) > to { nearest.next_down() } else { nearest };
        self.threshold = self.threshold.max(below);
    }
}
