//! Learning by passes: one way over rows, for every method whose fit is sums over them.
//!
//! A pass takes rows in *chunks*: those that are at hand. In memory there is one chunk of all rows; rows that do not fit
//! there come in several, one after another, each of which owns its rows and is dropped before the next is asked for. A chunk is
//! cut into *parts* that depend on its number of rows alone. Each part gathers statistics of its own, and those of all parts and
//! chunks are merged in order:
//!
//! ```text
//! source ─► chunk ─► part ─► statistics ─┐
//!                    part ─► statistics ─┼─► merged in order ─► parameters
//!           chunk ─► part ─► statistics ─┘
//! ```
//!
//! So sums have the same bits on any number of threads. Threads take a few rows of each part at a time, and in between
//! the run is asked whether it is to stop.
//!
//! A pass has three modes: parts gather statistics ([`Pass::gather`]); parts keep what is known of their rows from pass to pass
//! ([`Pass::visit`]); and threads share one sum that is too large to have one for each part ([`Pass::split`]).

use crate::error::Result;
use crate::run::Run;
use std::ops::Range;

/// The most parts of a chunk: few enough that statistics of all of them fit into memory, and a number that two, four and
/// eight threads share equally.
const MAX_PARTS: usize = 8;

/// The fewest rows that are worth statistics of their own.
const MIN_ROWS_PER_PART: usize = 1024;

/// Rows that are at hand, in whatever form a pass reads them: they are borrowed from memory, or belong to the chunk.
pub(crate) trait Chunk: Sync {
    /// Their number.
    fn count(&self) -> usize;

    /// The number of the first of them among all rows.
    fn first(&self) -> usize {
        0
    }
}

impl<C: Chunk + ?Sized> Chunk for &C {
    fn count(&self) -> usize {
        (**self).count()
    }

    fn first(&self) -> usize {
        (**self).first()
    }
}

/// Rows of which only the numbers matter: `0..count`.
impl Chunk for usize {
    fn count(&self) -> usize {
        *self
    }
}

/// Where rows come from, for methods that go over them more than once. Each pass asks for the chunks again, which are the same
/// every time.
pub(crate) trait Source: Copy {
    type Chunk: Chunk;

    /// All rows, chunk after chunk.
    fn chunks(&self) -> impl Iterator<Item = Result<Self::Chunk>>;
}

/// Rows in memory, which are one chunk.
impl<'a, C: Chunk> Source for &'a C {
    type Chunk = &'a C;

    fn chunks(&self) -> impl Iterator<Item = Result<&'a C>> {
        at_hand(*self).into_iter()
    }
}

/// Sufficient statistics of some rows, or anything else that is known of all rows once it is known of each part.
pub(crate) trait Merge {
    /// Adds the statistics of rows that come after those of `self`.
    fn merge(&mut self, later: Self);
}

impl Merge for f64 {
    fn merge(&mut self, later: f64) {
        *self += later;
    }
}

/// Sums of equal length.
impl Merge for Vec<f64> {
    fn merge(&mut self, later: Vec<f64>) {
        debug_assert_eq!(self.len(), later.len(), "sums of the same things");
        for (sum, later) in self.iter_mut().zip(later) {
            *sum += later;
        }
    }
}

impl<A: Merge, B: Merge> Merge for (A, B) {
    fn merge(&mut self, later: (A, B)) {
        self.0.merge(later.0);
        self.1.merge(later.1);
    }
}

/// Things found in rows, in the order of the rows: they are not added, but follow each other.
pub(crate) struct InOrder<T>(pub(crate) Vec<T>);

impl<T> InOrder<T> {
    /// Nothing yet.
    pub(crate) fn new() -> InOrder<T> {
        InOrder(Vec::new())
    }
}

impl<T> Merge for InOrder<T> {
    fn merge(&mut self, later: InOrder<T>) {
        self.0.extend(later.0);
    }
}

/// A way over rows: in how many parts, and how often the run is asked whether to stop.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'r> {
    run: &'r Run,
    check: fn(&Run) -> Result<()>,
    max_parts: usize,
    parts_at_once: usize,
    pieces_at_once: usize,
    rows_per_check: usize,
}

impl<'r> Pass<'r> {
    /// A pass that asks the run after this number of rows of each part.
    pub(crate) fn new(rows_per_check: usize, run: &'r Run) -> Pass<'r> {
        let rows_per_check = rows_per_check.max(1);
        Pass {
            run,
            check: Run::check,
            max_parts: MAX_PARTS,
            parts_at_once: MAX_PARTS,
            pieces_at_once: usize::MAX,
            rows_per_check,
        }
    }

    /// One that goes on after the deadline: what it gathers is needed for any answer at all. A cancel still ends it.
    pub(crate) fn whatever_the_deadline(self) -> Pass<'r> {
        Pass { check: Run::check_cancelled, ..self }
    }

    /// In at most this number of parts, for statistics that are large.
    pub(crate) fn in_parts(self, max_parts: usize) -> Pass<'r> {
        Pass { max_parts: max_parts.clamp(1, MAX_PARTS), ..self }
    }

    /// With the statistics of no more parts in memory than there are threads. Threads wait for each other more often.
    pub(crate) fn few_parts_at_once(self) -> Pass<'r> {
        Pass { parts_at_once: self.run.thread_count().max(1), ..self }
    }

    /// That adds to this number of pieces of a sum between two checks (see [`Pass::split`]).
    pub(crate) fn pieces_at_once(self, pieces_at_once: usize) -> Pass<'r> {
        Pass { pieces_at_once: pieces_at_once.max(1), ..self }
    }

    /// Gathers statistics: `add` takes those of a part, the chunk, and which of its rows to add. `empty` makes the statistics
    /// of no rows.
    pub(crate) fn gather<C: Chunk, S: Merge + Send>(
        &self,
        chunks: impl IntoIterator<Item = Result<C>>,
        empty: impl Fn() -> S,
        add: impl Fn(&mut S, &C, Range<usize>) + Sync + Send,
    ) -> Result<S> {
        self.gather_by(chunks, empty, add, std::convert::identity)
    }

    /// As [`Pass::gather`], where a part has a working form that `finish` makes statistics of.
    pub(crate) fn gather_by<C: Chunk, W: Send, S: Merge>(
        &self,
        chunks: impl IntoIterator<Item = Result<C>>,
        empty: impl Fn() -> W,
        add: impl Fn(&mut W, &C, Range<usize>) + Sync + Send,
        finish: impl Fn(W) -> S,
    ) -> Result<S> {
        let all = accumulate(chunks, None, |all: &mut Option<S>, chunk| {
            let parts = cuts(chunk.count(), partials(chunk.count()).min(self.max_parts));
            for some in parts.chunks(self.parts_at_once) {
                let mut working: Vec<W> = some.iter().map(|_| empty()).collect();
                self.visit_parts(some, &mut working, |part, rows| add(part, chunk, rows))?;
                for part in working {
                    match all {
                        None => *all = Some(finish(part)),
                        Some(all) => all.merge(finish(part)),
                    }
                }
            }
            Ok(())
        })?;
        Ok(all.unwrap_or_else(|| finish(empty())))
    }

    /// Visits rows with states that outlive the pass, one for each of the [`parts`] of each chunk: labels, bounds.
    pub(crate) fn visit<C: Chunk, T: Send>(
        &self,
        chunks: impl IntoIterator<Item = Result<C>>,
        states: &mut [T],
        task: impl Fn(&mut T, &C, Range<usize>) + Sync + Send,
    ) -> Result<()> {
        accumulate(chunks, states, |states, chunk| {
            let parts = parts(chunk.count());
            let (own, later) = std::mem::take(states).split_at_mut(parts.len());
            *states = later;
            self.visit_parts(&parts, own, |state, rows| task(state, chunk, rows))
        })
        .map(drop)
    }

    /// Adds rows to one sum, whose pieces the threads share. `prepare` writes down once for all of them what they need of some rows,
    /// and `add` adds that to the piece of this number.
    pub(crate) fn split<C: Chunk, P: Default + Sync, T: Send>(
        &self,
        chunks: impl IntoIterator<Item = Result<C>>,
        pieces: &mut [T],
        prepare: impl Fn(&mut P, &C, Range<usize>),
        add: impl Fn(&mut T, usize, &C, &P) + Sync + Send,
    ) -> Result<()> {
        accumulate(chunks, P::default(), |prepared, chunk| {
            for start in (0..chunk.count()).step_by(self.rows_per_check) {
                let end = start.saturating_add(self.rows_per_check).min(chunk.count());
                prepare(prepared, chunk, start..end);
                for (round, some) in pieces.chunks_mut(self.pieces_at_once).enumerate() {
                    let first = round * self.pieces_at_once;
                    self.run.each(some, |piece, sums| add(sums, first + piece, chunk, prepared));
                    (self.check)(self.run)?;
                }
            }
            Ok(())
        })
        .map(drop)
    }

    fn visit_parts<T: Send>(
        &self,
        parts: &[Range<usize>],
        states: &mut [T],
        task: impl Fn(&mut T, Range<usize>) + Sync + Send,
    ) -> Result<()> {
        let step = self.rows_per_check;
        let longest = parts.iter().map(Range::len).max().unwrap_or(0);
        for offset in (0..longest).step_by(step) {
            self.run.each(states, |part, state| {
                let Range { start, end } = parts.get(part).cloned().unwrap_or_default();
                let first = (start + offset).min(end);
                task(state, first..first.saturating_add(step).min(end));
            });
            (self.check)(self.run)?;
        }
        Ok(())
    }
}

/// Adds chunk after chunk to statistics. A chunk is dropped before the next is asked for.
pub(crate) fn accumulate<C, S>(
    chunks: impl IntoIterator<Item = Result<C>>,
    mut statistics: S,
    mut add: impl FnMut(&mut S, &C) -> Result<()>,
) -> Result<S> {
    for chunk in chunks {
        add(&mut statistics, &chunk?)?;
    }
    Ok(statistics)
}

/// All rows as one chunk, because they are in memory.
pub(crate) fn at_hand<C: Chunk>(rows: C) -> [Result<C>; 1] {
    [Ok(rows)]
}

/// Cuts `0..total` into at most `parts` ranges of nearly equal length; the cuts depend on the two numbers alone.
pub(crate) fn cuts(total: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.clamp(1, total.max(1));
    (0..parts).map(|part| total * part / parts..total * (part + 1) / parts).collect()
}

/// The parts of a chunk of this many rows.
pub(crate) fn parts(rows: usize) -> Vec<Range<usize>> {
    cuts(rows, partials(rows))
}

/// The number of parts of a chunk of this many rows.
pub(crate) fn partials(rows: usize) -> usize {
    (rows / MIN_ROWS_PER_PART).clamp(1, MAX_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::run::Cancel;

    /// The numbers from `first` on.
    struct Numbers {
        first: usize,
        count: usize,
    }

    impl Chunk for Numbers {
        fn count(&self) -> usize {
            self.count
        }
    }

    fn add(sum: &mut [f64], chunk: &Numbers, rows: Range<usize>) {
        for i in rows {
            let x = (chunk.first + i) as f64;
            sum[0] += 1.0;
            sum[1] += x;
            sum[2] += (x * 0.37).sin();
        }
    }

    #[test]
    fn sums_have_the_same_bits_on_any_number_of_threads() {
        let sums = |threads: usize| {
            let run = Run::new().threads_exactly(threads);
            let chunks = at_hand(Numbers { first: 0, count: 100_003 });
            Pass::new(700, &run).gather(chunks, || vec![0.0; 3], |sum, chunk, rows| add(sum, chunk, rows)).unwrap()
        };
        let one = sums(1);
        // The number of rows, and the sum of 0..n.
        assert_eq!(one[..2], [100_003.0, 100_003.0 * 100_002.0 / 2.0]);
        for threads in [2, 3, 8] {
            assert_eq!(sums(threads), one);
        }
    }

    #[test]
    fn rows_that_come_in_chunks_add_up_to_the_same_whatever_a_pass_is_told() {
        let run = Run::new().threads(2);
        let sizes = [5_000, 1, 0, 20_000, 999];
        let mut first = 0;
        let chunks: Vec<Result<Numbers>> = sizes
            .iter()
            .map(|&count| {
                first += count;
                Ok(Numbers { first: first - count, count })
            })
            .collect();
        let pass = Pass::new(64, &run).in_parts(3).few_parts_at_once();
        let sums = pass.gather(chunks, || vec![0.0; 3], |sum, chunk, rows| add(sum, chunk, rows)).unwrap();
        let n: f64 = sizes.iter().sum::<usize>() as f64;
        assert_eq!(sums[..2], [n, n * (n - 1.0) / 2.0]);
    }

    #[test]
    fn states_of_parts_are_met_again_in_every_pass() {
        let run = Run::new().threads(2);
        let sizes = [3000, 0, 1, 20_000];
        let chunks = || sizes.iter().map(|&count| Ok(count));
        let states: usize = sizes.iter().map(|&count| parts(count).len()).sum();
        assert_eq!(states, 2 + 1 + 1 + 8);
        let mut counts = vec![0; states];
        for pass in 1..=3 {
            Pass::new(70, &run).visit(chunks(), &mut counts, |count, _, rows| *count += rows.len()).unwrap();
            assert_eq!(counts.iter().sum::<usize>(), pass * 23_001);
            assert_eq!(counts[..5], [pass * 1500, pass * 1500, 0, pass, pass * 2500]);
        }
    }

    #[test]
    fn threads_that_share_a_sum_add_all_rows_to_each_piece_in_order() {
        let sums = |threads: usize, rows_per_check: usize| {
            let run = Run::new().threads_exactly(threads);
            let mut pieces = vec![Vec::new(); 7];
            let prepare = |rows: &mut Vec<usize>, chunk: &Numbers, range: Range<usize>| {
                rows.clear();
                rows.extend(range.map(|i| chunk.first + i));
            };
            let chunks = [(0, 5), (5, 0), (5, 100)].map(|(first, count)| Ok(Numbers { first, count }));
            let pass = Pass::new(rows_per_check, &run).pieces_at_once(3);
            pass.split(chunks, &mut pieces, prepare, |piece, number, _, rows| {
                piece.extend(rows.iter().map(|row| row * number));
            })
            .unwrap();
            pieces
        };
        let expected: Vec<Vec<usize>> = (0..7).map(|number| (0..105).map(|row| row * number).collect()).collect();
        for (threads, rows_per_check) in [(1, 1), (2, 10), (8, usize::MAX)] {
            assert_eq!(sums(threads, rows_per_check), expected);
        }
    }

    #[test]
    fn statistics_are_merged_in_the_order_of_rows() {
        let run = Run::new().threads(2);
        let push = |seen: &mut InOrder<usize>, _: &usize, rows: Range<usize>| seen.0.extend(rows);
        let seen = Pass::new(10, &run).gather(at_hand(50_000), InOrder::new, push).unwrap();
        assert!(seen.0.into_iter().eq(0..50_000));
    }

    #[test]
    fn no_rows_have_empty_statistics_and_a_chunk_that_cannot_be_had_ends_the_pass() {
        let run = Run::new();
        let pass = Pass::new(10, &run);
        assert_eq!(pass.gather(at_hand(0), || 7.0, |_, _, _| unreachable!("no rows")).unwrap(), 7.0);
        let nothing: [Result<usize>; 0] = [];
        assert_eq!(pass.gather(nothing, || 3.0, |_, _, _| ()).unwrap(), 3.0);
        let lost = Error::data("the file is gone", "");
        let chunks = [Ok(5), Err(lost.clone()), Ok(5)];
        assert_eq!(pass.gather(chunks, || 0.0, |sum, _, rows| *sum += rows.len() as f64), Err(lost));
    }

    #[test]
    fn a_cancel_ends_any_pass_and_a_deadline_most() {
        let late = Run::new().budget(std::time::Duration::ZERO);
        let count = |pass: Pass<'_>| pass.gather(at_hand(10), || 0.0, |sum, _, rows| *sum += rows.len() as f64);
        assert_eq!(count(Pass::new(2, &late)).unwrap_err().code(), "out-of-time");
        assert_eq!(count(Pass::new(2, &late).whatever_the_deadline()), Ok(10.0));
        let cancel = Cancel::new();
        cancel.cancel();
        let cancelled = Run::new().cancel(&cancel);
        assert_eq!(count(Pass::new(2, &cancelled).whatever_the_deadline()), Err(Error::Cancelled));
    }
}
