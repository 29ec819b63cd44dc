//! Rows and centres as k-means computes with them.
//!
//! Numbers are taken about an origin (zero, or the first row where the columns lie far from zero), so that large means cost
//! no digits and whole numbers stay whole. Scores x·c - ½‖c‖² in single precision, about the column means, say which
//! centres may be nearest; where their error leaves it open, direct distances in f64 decide, ties to the smallest index.
//! Sparse rows are scored in f64 and never become dense.

use crate::error::Result;
use crate::matrix::fused::{ErrorBound, PanelColumn, Visit, WIDE, each_score};
use crate::matrix::simd::{squared_distance, squared_norm};
use crate::matrix::{Features, Matrix, RowShape, Weighted, WeightedRows, means, too_large_to_add_up};
use crate::passes::{Chunk, Merge, Pass, Source, parts};
use crate::run::Run;
use std::ops::Range;

/// The unit roundoff of f32.
const F32_ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// The frame of reference of all rows to be clustered, whether they are at hand or come in chunks: what is found about them once, and
/// every pass needs.
pub(super) struct Frame {
    pub(super) shape: RowShape,
    /// Sums, centres and direct distances are about this.
    pub(super) origin: Vec<f64>,
    /// Scores are about this: the column means, or zero for sparse rows.
    score_origin: Vec<f64>,
    /// ‖x - score origin‖ of every row.
    norms: Vec<f32>,
    /// The number of rows of each chunk.
    chunk_rows: Vec<usize>,
    /// Σ w ‖x - origin‖².
    pub(super) scatter: f64,
    pub(super) total: f64,
    /// The mean variance of the columns, which tolerances are relative to.
    pub(super) mean_variance: f64,
    /// Whether scores in single precision can tell anything: numbers are neither sparse, huge nor tiny.
    pub(super) scored: bool,
}

impl Frame {
    pub(super) fn of(rows: impl Source<Chunk: WeightedRows>, shape: RowShape, run: &Run) -> Result<Frame> {
        let columns = shape.columns;
        let means = means(rows, shape, run)?;
        // Sparse rows have zeros that must stay zeros.
        let score_origin = if shape.has_sparse { vec![0.0; columns] } else { means.clone() };
        let (mut chunk_rows, mut total, mut first_row) = (Vec::new(), 0.0, vec![0.0; columns]);
        let chunks = rows.chunks().inspect(|chunk| {
            let Ok(chunk) = chunk else { return };
            if chunk_rows.iter().all(|rows| *rows == 0) {
                chunk.features().pack(0..chunk.count().min(1), &mut first_row);
            }
            chunk_rows.push(chunk.count());
            total += chunk.total_weight();
        });
        let Norms { norms, sum: about_mean, largest } = Norms::about(&score_origin, chunks, shape, run)?;
        if !about_mean.is_finite() {
            return Err(too_large_to_add_up());
        }
        let length: f64 = means.iter().map(|mean| mean * mean).sum();
        let variance = (about_mean / total - if shape.has_sparse { length } else { 0.0 }).max(0.0);
        let far = !shape.has_sparse && length > 1e6 * variance;
        let origin = if far { first_row } else { vec![0.0; columns] };
        // Σ w ‖x - o‖² = Σ w ‖x - m‖² + W ‖m - o‖² for the mean m.
        let away: f64 = score_origin.iter().zip(&origin).map(|(m, o)| (m - o) * (m - o)).sum();
        let scatter = about_mean + total * away;
        let scored = !shape.has_sparse && (1e-20..1e20).contains(&largest);
        let mean_variance = variance / columns.max(1) as f64;
        Ok(Frame { shape, origin, score_origin, norms, chunk_rows, scatter, total, mean_variance, scored })
    }

    /// The frame of rows in memory.
    pub(super) fn of_features(features: Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<Frame> {
        Frame::of(&Weighted { features, weights }, features.shape(), run)
    }

    /// Rows in this frame: all of them, or a chunk whose first row is row `first` of all.
    pub(super) fn points<'a>(&'a self, features: Features<'a>, weights: Option<&'a [f64]>, first: usize) -> Points<'a> {
        Points { features, weights, first, norms: &self.norms[first..first + features.rows()], frame: self }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.norms.len()
    }

    pub(super) fn columns(&self) -> usize {
        self.shape.columns
    }

    /// What it costs to read a row, in multiplications.
    pub(super) fn width(&self) -> usize {
        self.shape.row_cost
    }

    /// The parts of all chunks: the number of the first row of the chunk, and which rows of the chunk.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let firsts = self.chunk_rows.iter().scan(0, |first, rows| Some(std::mem::replace(first, *first + rows)));
        let of_chunk = |(first, rows): (usize, &usize)| parts(*rows).into_iter().map(move |part| (first, part));
        firsts.zip(&self.chunk_rows).flat_map(of_chunk)
    }

    /// Centres in the coordinates of the features, moved to the origin.
    pub(super) fn about_origin(&self, mut centres: Matrix) -> Matrix {
        for centre in centres.values_mut().chunks_mut(self.columns()) {
            centre.iter_mut().zip(&self.origin).for_each(|(x, origin)| *x -= origin);
        }
        centres
    }

    /// Centres about the origin, moved back to the coordinates of the features.
    pub(super) fn absolute(&self, mut centres: Matrix) -> Matrix {
        for centre in centres.values_mut().chunks_mut(self.columns()) {
            centre.iter_mut().zip(&self.origin).for_each(|(x, origin)| *x += origin);
        }
        centres
    }
}

/// Rows to be clustered that are at hand.
#[derive(Clone, Copy)]
pub(super) struct Points<'a> {
    pub(super) features: Features<'a>,
    pub(super) weights: Option<&'a [f64]>,
    /// The number of the first of them among all rows.
    pub(super) first: usize,
    /// ‖x - score origin‖ of each.
    pub(super) norms: &'a [f32],
    pub(super) frame: &'a Frame,
}

impl Chunk for Points<'_> {
    fn count(&self) -> usize {
        self.rows()
    }

    fn first(&self) -> usize {
        self.first
    }
}

/// A chunk of rows to be clustered.
pub(super) trait PointRows: Chunk {
    fn points(&self) -> Points<'_>;
}

impl PointRows for Points<'_> {
    fn points(&self) -> Points<'_> {
        *self
    }
}

impl<C: PointRows> PointRows for &C {
    fn points(&self) -> Points<'_> {
        (**self).points()
    }
}

impl Points<'_> {
    pub(super) fn rows(&self) -> usize {
        self.features.rows()
    }

    pub(super) fn columns(&self) -> usize {
        self.features.columns()
    }

    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    pub(super) fn is_sparse(&self) -> bool {
        self.features.sparse_part().is_some()
    }

    /// Row `i` about the origin.
    pub(super) fn row(&self, i: usize, out: &mut [f64]) {
        self.features.centred(&self.frame.origin).pack(std::iter::once(i), out);
    }

    /// Adds `factor` times row `i` to a centre's sum.
    pub(super) fn add_row(&self, i: usize, factor: f64, sum: &mut [f64], buffer: &mut [f64]) {
        add_row(&self.features.centred(&self.frame.origin), i, factor, sum, buffer);
    }

    /// ‖x - c‖² of row `i`.
    pub(super) fn squared_distance(&self, i: usize, centres: &Centres, c: usize, buffer: &mut [f64]) -> f64 {
        self.load(i, buffer);
        self.loaded_distance(i, buffer, centres, c)
    }

    /// Row `i` about the origin, to be measured from several centres; a sparse row is read where it is.
    pub(super) fn load(&self, i: usize, buffer: &mut [f64]) {
        if !self.is_sparse() {
            self.row(i, buffer);
        }
    }

    /// ‖x - c‖² of the row `i` that was loaded: by direct differences, or for sparse rows from the product.
    pub(super) fn loaded_distance(&self, i: usize, loaded: &[f64], centres: &Centres, c: usize) -> f64 {
        match self.is_sparse() {
            true => sparse_square(&self.features, i, centres.exact.row(c), 1.0, centres.squares[c]),
            false => squared_distance(loaded, centres.exact.row(c)),
        }
    }

    /// The nearest centre by direct distances, the first of equals.
    pub(super) fn nearest_directly(&self, i: usize, centres: &Centres, buffer: &mut [f64]) -> (u32, f64) {
        let (label, square, _) = self.nearest_two_directly(i, centres, buffer);
        (label, square)
    }

    /// The nearest centre by direct distances, its squared distance, and the least of the others'.
    pub(super) fn nearest_two_directly(&self, i: usize, centres: &Centres, buffer: &mut [f64]) -> (u32, f64, f64) {
        let (mut label, mut best, mut second) = (0, f64::INFINITY, f64::INFINITY);
        self.load(i, buffer);
        for c in 0..centres.count() {
            let square = self.loaded_distance(i, buffer, centres, c);
            if square < best {
                (second, best, label) = (best, square, c as u32);
            } else {
                second = second.min(square);
            }
        }
        (label, best, second)
    }

    /// How far off the computed scores of row `i` may be, together with half its squared norm; as little as possible at this
    /// score.
    pub(super) fn error_bound(&self, i: usize, score: f64, centres: &Centres) -> ErrorBound {
        let (columns, norm) = (self.columns(), f64::from(self.norms[i]));
        let error_bound =
            ErrorBound::within(columns, norm, centres.largest).or(ErrorBound::anywhere(columns, norm), score);
        error_bound.and(4.0 * F32_ROUNDING * norm * norm)
    }

    /// At least and at most this far is row `i` from a centre with this score.
    #[inline(always)]
    pub(super) fn between(&self, i: usize, score: f64, error_bound: ErrorBound) -> (f64, f64) {
        let error = error_bound.at(score);
        let square = f64::from(self.norms[i]) * f64::from(self.norms[i]) - 2.0 * score;
        ((square - 2.0 * error).max(0.0).sqrt(), (square + 2.0 * error).max(0.0).sqrt())
    }

    /// Row `i` about the origin of scores, with a one after it, as a product with the blocks of a centre takes it.
    pub(super) fn single_row(&self, i: usize, blocks: &mut [PanelColumn]) {
        let (columns, out) = (self.columns(), PanelColumn::values_mut(blocks));
        self.features.centred(&self.frame.score_origin).pack(std::iter::once(i), &mut out[..columns]);
        out[columns] = 1.0;
    }

    /// Packs rows (sixteen at most) side by side, as the fused product takes them.
    pub(super) fn pack(&self, rows: &[u32], scratch: &mut ScoreScratch) {
        let columns = self.columns();
        scratch.lines.resize(WIDE * columns, 0.0);
        let shifted = self.features.centred(&self.frame.score_origin);
        shifted.pack(rows.iter().map(|&i| i as usize), &mut scratch.lines);
        scratch.panel.resize(columns + 1, PanelColumn([1.0; WIDE]));
        turn(&scratch.lines, columns, &mut scratch.panel[..columns]);
    }

    /// Shows the scores of all centres with some rows (sixteen at most).
    pub(super) fn each_score<V: Visit>(
        &self,
        rows: &[u32],
        centres: &Centres,
        scratch: &mut ScoreScratch,
        visit: &mut V,
    ) {
        self.pack(rows, scratch);
        each_score(&scratch.panel, &centres.packed, &mut scratch.sums, visit);
    }
}

/// The within-cluster error of rows where `label` says they are.
pub(super) fn error_of(
    rows: impl Source<Chunk: PointRows>,
    frame: &Frame,
    label: impl Fn(usize) -> u32 + Sync + Send,
    centres: &Centres,
    run: &Run,
) -> Result<f64> {
    pass(4 * frame.width(), run).gather(
        rows.chunks(),
        || 0.0,
        |sum, chunk, rows| {
            let points = chunk.points();
            let mut buffer = vec![0.0; points.columns()];
            for i in rows {
                let cluster = label(points.first + i) as usize;
                *sum += points.weight(i) * points.squared_distance(i, centres, cluster, &mut buffer);
            }
        },
    )
}

/// Scratch space of one thread.
#[derive(Default)]
pub(super) struct ScoreScratch {
    lines: Vec<f32>,
    panel: Vec<PanelColumn>,
    sums: Vec<[f32; WIDE]>,
}

/// Rows one after another become columns of sixteen.
fn turn(lines: &[f32], columns: usize, panel: &mut [PanelColumn]) {
    let rows: [&[f32]; WIDE] = std::array::from_fn(|r| &lines[r * columns..(r + 1) * columns]);
    for (j, column) in panel.iter_mut().enumerate() {
        for r in 0..WIDE {
            column.0[r] = rows[r][j];
        }
    }
}

/// The centres, exact and as the product sees them.
pub(super) struct Centres {
    /// About the origin.
    pub(super) exact: Matrix,
    /// [c -½‖c‖²] about the origin of scores, one after another.
    packed: Vec<f32>,
    /// The same in blocks that begin where a cache line does, filled up with zeros: for products with one row.
    blocks: Vec<PanelColumn>,
    /// ‖c‖² about the origin (for sparse rows).
    pub(super) squares: Vec<f64>,
    /// The largest norm about the origin of scores.
    pub(super) largest: f64,
}

impl Centres {
    pub(super) fn new(exact: Matrix, frame: &Frame) -> Centres {
        let columns = exact.columns();
        let mut packed = vec![0.0; exact.rows() * (columns + 1)];
        let mut largest: f64 = 0.0;
        for (c, out) in packed.chunks_mut(columns + 1).enumerate() {
            let mut square = 0.0;
            for (j, x) in exact.row(c).iter().enumerate() {
                let shifted = x + (frame.origin[j] - frame.score_origin[j]);
                square += shifted * shifted;
                out[j] = shifted as f32;
            }
            out[columns] = (-0.5 * square) as f32;
            largest = largest.max(square.sqrt());
        }
        let width = PanelColumn::blocks(columns + 1);
        let mut blocks = vec![PanelColumn([0.0; WIDE]); exact.rows() * width];
        for (centre, blocks) in packed.chunks(columns + 1).zip(blocks.chunks_mut(width)) {
            PanelColumn::values_mut(blocks)[..=columns].copy_from_slice(centre);
        }
        let squares = (0..exact.rows()).map(|c| exact.row(c).iter().map(|x| x * x).sum()).collect();
        Centres { exact, packed, blocks, squares, largest }
    }

    pub(super) fn count(&self) -> usize {
        self.exact.rows()
    }

    /// [c -½‖c‖²] of one centre, in blocks.
    pub(super) fn blocks(&self, c: usize) -> &[PanelColumn] {
        let width = PanelColumn::blocks(self.exact.columns() + 1);
        &self.blocks[c * width..(c + 1) * width]
    }
}

/// ‖x - f·c‖² of a row that has a sparse part, from `square` = ‖f·c‖² and what the entries of the row change in it. Where
/// next to nothing is left its digits are lost, and all columns are added up.
pub(super) fn sparse_square(features: &Features<'_>, i: usize, centre: &[f64], factor: f64, square: f64) -> f64 {
    let mut left = square;
    features.for_row(i, |j, x| left += x * (x - 2.0 * factor * centre[j]));
    if left > 1e-6 * square {
        return left;
    }
    let (mut sum, mut next) = (0.0, 0);
    features.for_row(i, |j, x| {
        sum += factor * factor * squared_norm(&centre[next..j]) + (x - factor * centre[j]).powi(2);
        next = j + 1;
    });
    sum + factor * factor * squared_norm(&centre[next..])
}

/// Adds `factor` times row `i` to a sum; of a row with a sparse part (which has no centre) what is stored.
fn add_row(features: &Features<'_>, i: usize, factor: f64, sum: &mut [f64], buffer: &mut [f64]) {
    if features.sparse_part().is_some() {
        features.for_row(i, |j, value| sum[j] += factor * value);
    } else {
        features.pack(std::iter::once(i), buffer);
        sum.iter_mut().zip(buffer.iter()).for_each(|(sum, x)| *sum += factor * x);
    }
}

/// ‖x - score origin‖ of some rows, rounded upwards; the weighted sum of the squares, and the largest.
#[derive(Default)]
struct Norms {
    norms: Vec<f32>,
    sum: f64,
    largest: f64,
}

impl Norms {
    fn about<C: WeightedRows>(
        score_origin: &[f64],
        chunks: impl Iterator<Item = Result<C>>,
        shape: RowShape,
        run: &Run,
    ) -> Result<Norms> {
        pass(4 * shape.row_cost, run).gather(chunks, Norms::default, |part, chunk, rows| {
            let (features, weights) = (chunk.features(), chunk.weights());
            let mut row = vec![0.0; shape.columns];
            for i in rows {
                let mut square = 0.0;
                if shape.has_sparse {
                    features.for_row(i, |_, x| square += x * x);
                } else {
                    features.centred(score_origin).pack(std::iter::once(i), &mut row);
                    square = squared_norm(&row);
                }
                part.norms.push((square.sqrt() as f32).next_up());
                part.sum += weights.map_or(1.0, |weights| weights[i]) * square;
                part.largest = part.largest.max(square);
            }
        })
    }
}

impl Merge for Norms {
    fn merge(&mut self, later: Norms) {
        self.norms.extend_from_slice(&later.norms);
        self.sum += later.sum;
        self.largest = self.largest.max(later.largest);
    }
}

/// Multiplications per part between two checks for cancellation: for all eight parts about a tenth of a second on one thread.
const WORK_PER_CHECK: usize = 25_000_000;

/// A pass over rows, each of which costs this number of multiplications.
pub(super) fn pass(row_cost: usize, run: &Run) -> Pass<'_> {
    let rows = (WORK_PER_CHECK / row_cost.max(1)).clamp(1, 1 << 18).next_multiple_of(WIDE);
    Pass::new(rows, run).whatever_the_deadline()
}
