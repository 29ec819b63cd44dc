//! Counting, on all threads, in one pass over the texts and without a copy of them.
//!
//! Rows are cut into chunks that depend on their number alone. Each chunk numbers the words it meets and counts them by row;
//! when chunks are joined, in order, their words get the numbers of all rows. Once it is known which words stay, numbers
//! become places in the sorted vocabulary. Counts are kept packed until then, and are freed while they are unpacked, so that
//! peak memory is little more than the result.

use super::tokens::{Tokenizer, TokenizerScratch};
use super::weights::TermWeights;
use super::words::{SHARDS, ShardedWords, WordNumbers};
use crate::encode::hash::place_and_sign;
use crate::error::{Error, Result};
use crate::matrix::Sparse;
use crate::run::Run;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The text of each row; `None` is a missing value.
pub(super) type Texts<'a> = &'a [Option<&'a str>];

/// Which places of a vocabulary occur in each row, and how often, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// The size of the vocabulary.
    pub places: usize,
    /// Where each row begins, and the end of the last.
    pub starts: Vec<usize>,
    /// Places, rising within a row.
    pub indices: Vec<u32>,
    /// Counts; below zero only where words are hashed with a sign.
    pub values: Vec<i64>,
}

impl Counts {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The document frequency of each place: the number of rows that have it.
    pub(super) fn rows_with(&self) -> Vec<u32> {
        let mut rows = vec![0; self.places];
        self.indices.iter().for_each(|&place| rows[place as usize] += 1);
        rows
    }

    /// The counts, weighted.
    pub(super) fn into_sparse(self, weights: &TermWeights<'_>) -> Result<Sparse> {
        let rows = self.rows();
        let values = weights.weigh(&self.starts, &self.indices, self.values);
        Sparse::new(rows, self.places, self.starts, self.indices, values)
    }

    /// One where there is a count.
    pub(super) fn presence(self) -> Result<Sparse> {
        let (rows, ones) = (self.rows(), vec![1.0; self.values.len()]);
        Sparse::new(rows, self.places, self.starts, self.indices, ones)
    }
}

/// The counts of rows, packed.
#[derive(Default)]
struct Packed {
    /// Where each row ends.
    ends: Vec<usize>,
    /// The number of a word that occurs once; or its number with `COUNT_FOLLOWS` added, and then its count.
    words: Vec<u32>,
}

/// The bit of a word number that says that its count follows.
const COUNT_FOLLOWS: u32 = 1 << 31;
/// The place of a word that has none.
const NO_PLACE: u32 = u32::MAX;
/// Allocators map this many words, 32 MB, as pages of their own, and return them when they are cut off. Pages that are never
/// written cost nothing.
const PAGED_WORDS: usize = 8 << 20;
/// The number of rows in a unit of work when counts are unpacked.
const ROWS_PER_BLOCK: usize = 256;

impl Packed {
    fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Where a row begins.
    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }

    fn add_row(&mut self, entries: impl Iterator<Item = (u32, i32)>) {
        for (id, count) in entries {
            debug_assert!(id < COUNT_FOLLOWS);
            match count {
                1 => self.words.push(id),
                _ => self.words.extend([id | COUNT_FOLLOWS, count as u32]),
            }
        }
        self.ends.push(self.words.len());
    }

    /// Takes further rows; `expected` is the number of rows in all.
    fn append(&mut self, rows: &mut Packed, expected: usize) {
        let end = self.words.len();
        self.ends.extend(rows.ends.drain(..).map(|row| end + row));
        // If the rows to come are like those before them.
        let guess = (end + rows.words.len()) as f64 * expected as f64 / self.rows() as f64;
        if self.words.capacity() < PAGED_WORDS && guess > PAGED_WORDS as f64 / 32.0 {
            self.words.reserve_exact(PAGED_WORDS - end);
        }
        self.words.append(&mut rows.words);
    }

    /// Gives every word another number.
    fn renumber(&mut self, numbers: &[AtomicU32]) {
        let mut words = self.words.iter_mut();
        while let Some(id) = words.next() {
            let often = *id & COUNT_FOLLOWS;
            *id = numbers[(*id - often) as usize].load(Relaxed) | often;
            if often > 0 {
                words.next();
            }
        }
    }

    /// Calls `visit(row, word, count)` for every entry.
    fn each_entry(&self, mut visit: impl FnMut(usize, u32, u32)) {
        (0..self.rows()).for_each(|row| self.row(row).for_each(|(id, count)| visit(row, id, count as u32)));
    }

    /// Words and their counts in a row.
    fn row(&self, row: usize) -> impl Iterator<Item = (u32, i32)> {
        let mut words = self.words[self.start(row)..self.ends[row]].iter().copied();
        std::iter::from_fn(move || {
            let id = words.next()?;
            if id < COUNT_FOLLOWS { Some((id, 1)) } else { Some((id - COUNT_FOLLOWS, words.next()? as i32)) }
        })
    }

    /// Every word becomes its place, in order within its row; words without a place are left out.
    fn unpacked(mut self, places: usize, place: impl Fn(u32) -> u32 + Sync + Send, run: &Run) -> Result<Counts> {
        let blocks: Vec<Range<usize>> = (0..self.rows())
            .step_by(ROWS_PER_BLOCK)
            .map(|first| first..(first + ROWS_PER_BLOCK).min(self.rows()))
            .collect();
        let kept = |row: usize| self.row(row).filter(|entry| place(entry.0) != NO_PLACE).count();
        let lengths = run.map(blocks.len(), |b| blocks[b].clone().map(kept).collect::<Vec<usize>>());
        let mut starts = vec![0];
        lengths.iter().flatten().for_each(|length| starts.push(starts[starts.len() - 1] + length));
        let entries = starts[self.rows()];
        let (mut indices, mut values) = (vec![0; entries], vec![0; entries]);
        // The last rows come first, so that what is packed can be cut off behind them.
        let (mut indices_left, mut values_left) = (&mut indices[..], &mut values[..]);
        for batch in blocks.rchunks(2 * run.thread_count()) {
            let mut work = Vec::new();
            for rows in batch.iter().rev() {
                let (rest, block_indices) = indices_left.split_at_mut(starts[rows.start]);
                let (rest_of_values, block_values) = values_left.split_at_mut(starts[rows.start]);
                (indices_left, values_left) = (rest, rest_of_values);
                work.push((rows.clone(), block_indices, block_values));
            }
            run.each(&mut work, |_, (rows, indices, values)| {
                let (mut at, mut sorted) = (0, Vec::new());
                for row in rows.clone() {
                    sorted.clear();
                    sorted.extend(self.row(row).map(|(id, count)| (place(id), count)).filter(|e| e.0 != NO_PLACE));
                    sorted.sort_unstable_by_key(|entry| entry.0);
                    for &(place, count) in &sorted {
                        (indices[at], values[at]) = (place, i64::from(count));
                        at += 1;
                    }
                }
            });
            self.words.truncate(self.start(batch[0].start));
            if self.words.len() < self.words.capacity() / 8 * 7 {
                self.words.shrink_to_fit();
            }
            run.check()?;
        }
        Ok(Counts { places, starts, indices, values })
    }
}

/// All words of all rows, counted by row.
pub(super) struct CountedWords {
    pub(super) words: ShardedWords,
    /// The document frequency of each word: the number of rows that have it; zero if a number belongs to no word.
    pub(super) rows_with: Vec<u32>,
    packed: Packed,
}

/// What a thread needs to count the words of a chunk of rows, and what it finds.
#[derive(Default)]
struct Chunk {
    words: WordNumbers,
    /// The number of these rows that have each word.
    rows_with: Vec<u32>,
    /// The shard of each word, and its number in all rows.
    shards: Vec<u8>,
    numbers: Vec<AtomicU32>,
    counter: RowCounter,
    scratch: TokenizerScratch,
}

/// Counts rows one after another.
#[derive(Default)]
struct RowCounter {
    packed: Packed,
    /// The count of each word in the current row.
    counts: Vec<i32>,
    /// The words of the current row.
    row: Vec<u32>,
}

impl RowCounter {
    fn count(&mut self, id: usize) {
        if self.counts[id] == 0 {
            self.row.push(id as u32);
        }
        self.counts[id] += 1;
    }

    fn end_row(&mut self) {
        let counts = &mut self.counts;
        self.packed.add_row(self.row.drain(..).map(|id| (id, std::mem::take(&mut counts[id as usize]))));
    }
}

/// Counts every word.
pub(super) fn count_all(texts: Texts<'_>, tokenizer: &Tokenizer, run: &Run) -> Result<CountedWords> {
    let (mut all, mut packed) = (ShardedWords::default(), Packed::default());
    let mut rows_with: [Vec<u32>; SHARDS] = Default::default();
    let count = |rows: Range<usize>, chunk: &mut Chunk| {
        chunk.words.clear();
        chunk.rows_with.clear();
        chunk.counter.counts.clear();
        for text in &texts[rows] {
            tokenizer.each_token(text.unwrap_or_default(), &mut chunk.scratch, |word| {
                let id = chunk.words.number(word.as_bytes());
                if id == chunk.counter.counts.len() {
                    chunk.counter.counts.push(0);
                }
                chunk.counter.count(id);
            });
            chunk.rows_with.resize(chunk.words.count(), 0);
            chunk.counter.row.iter().for_each(|&id| chunk.rows_with[id as usize] += 1);
            chunk.counter.end_row();
        }
        let words = &chunk.words;
        chunk.shards.clear();
        chunk.shards.extend((0..words.count()).map(|id| ShardedWords::shard_of(words.word(id))));
        chunk.numbers.resize_with(words.count(), AtomicU32::default);
    };
    by_chunks(texts, run, count, |chunks: &mut [Chunk]| {
        let mut shards: Vec<(&mut WordNumbers, &mut Vec<u32>)> = all.0.iter_mut().zip(&mut rows_with).collect();
        run.each(&mut shards, |shard, (words, rows_with)| {
            for chunk in chunks.iter() {
                for id in (0..chunk.words.count()).filter(|&id| usize::from(chunk.shards[id]) == shard) {
                    let number = words.number(chunk.words.word(id));
                    rows_with.resize(words.count(), 0);
                    rows_with[number] += chunk.rows_with[id];
                    chunk.numbers[id].store((number * SHARDS + shard) as u32, Relaxed);
                }
            }
        });
        chunks.iter().map(|chunk| &chunk.words).chain(&all.0).try_for_each(WordNumbers::check)?;
        run.each(chunks, |_, chunk| chunk.counter.packed.renumber(&chunk.numbers));
        chunks.iter_mut().for_each(|chunk| packed.append(&mut chunk.counter.packed, texts.len()));
        Ok(())
    })?;
    let rows_with = (0..all.bound()).map(|id| rows_with[id % SHARDS].get(id / SHARDS).copied().unwrap_or(0)).collect();
    Ok(CountedWords { words: all, rows_with, packed })
}

impl CountedWords {
    /// The count of each word in all rows.
    pub(super) fn totals(&self) -> Vec<u64> {
        let mut totals = vec![0; self.words.bound()];
        self.each_entry(|_, id, count| totals[id] += u64::from(count));
        totals
    }

    /// Calls `visit(row, word, count)` for every entry.
    pub(super) fn each_entry(&self, mut visit: impl FnMut(usize, usize, u32)) {
        self.packed.each_entry(|row, id, count| visit(row, id as usize, count));
    }

    /// The words with these numbers get their places in this order, all others are left out.
    pub(super) fn placed(self, kept: &[usize], run: &Run) -> Result<Counts> {
        let mut place = vec![NO_PLACE; self.words.bound()];
        kept.iter().enumerate().for_each(|(at, &id)| place[id] = at as u32);
        drop(self.words);
        self.packed.unpacked(kept.len(), |id| place[id as usize], run)
    }
}

/// Counts the words of a vocabulary, which are all different.
pub(super) fn count_known(texts: Texts<'_>, tokenizer: &Tokenizer, vocabulary: &[String], run: &Run) -> Result<Counts> {
    // Numbered in their order, words have their places as numbers.
    let mut known = WordNumbers::default();
    vocabulary.iter().for_each(|word| {
        known.number(word.as_bytes());
    });
    known.check()?;
    let count = |rows: Range<usize>, chunk: &mut Chunk| {
        chunk.counter.counts.resize(known.count(), 0);
        for text in &texts[rows] {
            tokenizer.each_token(text.unwrap_or_default(), &mut chunk.scratch, |word| {
                if let Some(id) = known.find(word.as_bytes()) {
                    chunk.counter.count(id);
                }
            });
            chunk.counter.end_row();
        }
    };
    let mut packed = Packed::default();
    by_chunks(texts, run, count, |chunks: &mut [Chunk]| {
        chunks.iter_mut().for_each(|chunk| packed.append(&mut chunk.counter.packed, texts.len()));
        Ok(())
    })?;
    packed.unpacked(known.count(), |id| id, run)
}

/// Counts words by feature hashing; `signed`: half of the words count -1.
pub(super) fn count_hashed(
    texts: Texts<'_>,
    tokenizer: &Tokenizer,
    (places, signed): (usize, bool),
    run: &Run,
) -> Result<Counts> {
    type Hashed = (Packed, TokenizerScratch, Vec<(u32, i32)>);
    let count = |rows: Range<usize>, (packed, scratch, row): &mut Hashed| {
        for text in &texts[rows] {
            row.clear();
            tokenizer.each_token(text.unwrap_or_default(), scratch, |word| {
                let (place, sign) = place_and_sign(word.as_bytes(), places);
                row.push((place, if signed { sign } else { 1 }));
            });
            row.sort_unstable_by_key(|entry| entry.0);
            let sums = row.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.iter().map(|entry| entry.1).sum()));
            packed.add_row(sums.filter(|entry| entry.1 != 0));
        }
    };
    let mut packed = Packed::default();
    by_chunks(texts, run, count, |chunks: &mut [Hashed]| {
        chunks.iter_mut().for_each(|chunk| packed.append(&mut chunk.0, texts.len()));
        Ok(())
    })?;
    packed.unpacked(places, |id| id, run)
}

/// Runs `work` on chunks of rows on all threads, and takes the results in the order of the rows. A state is reused for many
/// chunks and keeps its memory.
fn by_chunks<T: Default + Send>(
    texts: Texts<'_>,
    run: &Run,
    work: impl Fn(Range<usize>, &mut T) + Sync + Send,
    mut take: impl FnMut(&mut [T]) -> Result<()>,
) -> Result<()> {
    if let Some(long) = texts.iter().position(|text| text.is_some_and(|text| text.len() > i32::MAX as usize)) {
        return Err(Error::data(
            format!("the text of row {} is longer than 2 GB", long + 1),
            "Cut it into several rows.",
        ));
    }
    let rows = texts.len();
    // Few enough that joining them costs little, small enough to balance threads and to check for cancellation in between.
    let chunk = (rows / 16).clamp(64, 256);
    let mut states: Vec<T> = (0..run.thread_count()).map(|_| T::default()).collect();
    let mut done = 0;
    while done < rows {
        run.progress("words", done, rows);
        let chunks = (rows - done).div_ceil(chunk).min(states.len());
        let of = |c: usize| done + c * chunk..(done + (c + 1) * chunk).min(rows);
        run.each(&mut states[..chunks], |c, state| work(of(c), state));
        take(&mut states[..chunks])?;
        done = of(chunks - 1).end;
        run.check()?;
    }
    Ok(())
}
