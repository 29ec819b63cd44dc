//! Counting, on all threads, in one pass over the texts and without a copy of them.
//!
//! Rows are cut into chunks that depend on their number alone. Each chunk numbers the words it meets and counts them by row;
//! when chunks are joined, in order, their words get the numbers of all rows. Once it is known which words stay, numbers
//! become places in the sorted vocabulary.

use super::hash::place_and_sign;
use super::tokens::{Cutter, Space};
use super::words::Words;
use crate::error::Result;
use crate::matrix::Sparse;
use crate::run::{Pace, Run};
use std::ops::Range;

/// Texts by rows; `None` is a hole.
pub(super) type Rows<'a> = &'a [Option<&'a str>];

/// Which places of a vocabulary occur in each row, and how often, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// How many places there are.
    pub places: usize,
    /// Where each row begins, and after the last row where it ends.
    pub starts: Vec<usize>,
    /// Places, rising within a row.
    pub indices: Vec<u32>,
    /// How often; below zero only where words were sent to places by their hash.
    pub values: Vec<i32>,
}

impl Counts {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// In how many rows each place occurs.
    pub(super) fn rows_with(&self) -> Vec<u32> {
        let mut rows = vec![0; self.places];
        self.indices.iter().for_each(|&place| rows[place as usize] += 1);
        rows
    }

    /// The counts as numbers.
    pub(super) fn into_sparse(self, value: impl Fn(usize, i32) -> f64) -> Result<Sparse> {
        let values = self.indices.iter().zip(&self.values).map(|(&j, &count)| value(j as usize, count)).collect();
        Sparse::new(self.starts.len() - 1, self.places, self.starts, self.indices, values)
    }
}

/// The counts of some rows: how many entries each has, words by their numbers, and how often.
#[derive(Default)]
struct Part {
    lengths: Vec<u32>,
    ids: Vec<u32>,
    counts: Vec<i32>,
}

/// All words of all rows, counted by row.
pub(super) struct Counted {
    pub(super) words: Words,
    /// In how many rows each word occurs.
    pub(super) rows_with: Vec<u32>,
    /// How often it occurs in all.
    pub(super) totals: Vec<u64>,
    parts: Vec<Part>,
}

/// Counts every word.
pub(super) fn count_all(texts: Rows<'_>, cutter: &Cutter, run: &Run) -> Result<Counted> {
    let mut all = Counted { words: Words::default(), rows_with: Vec::new(), totals: Vec::new(), parts: Vec::new() };
    let count = |rows: Range<usize>| {
        let (mut words, mut part, mut space) = (Words::default(), Part::default(), Space::default());
        // How often each word was met in the row at hand.
        let mut met: Vec<u32> = Vec::new();
        for text in &texts[rows] {
            let first = part.ids.len();
            if let Some(text) = text {
                cutter.each_token(text, &mut space, |word| {
                    let id = words.number(word.as_bytes());
                    if id == met.len() {
                        met.push(0);
                    }
                    if met[id] == 0 {
                        part.ids.push(id as u32);
                    }
                    met[id] += 1;
                });
            }
            part.lengths.push((part.ids.len() - first) as u32);
            part.counts.extend(part.ids[first..].iter().map(|&id| std::mem::take(&mut met[id as usize]) as i32));
        }
        (words, part)
    };
    by_chunks(texts.len(), run, count, |(words, mut part)| {
        let numbers: Vec<u32> = (0..words.count()).map(|id| all.words.number(words.word(id)) as u32).collect();
        all.rows_with.resize(all.words.count(), 0);
        all.totals.resize(all.words.count(), 0);
        for (id, count) in part.ids.iter_mut().zip(&part.counts) {
            *id = numbers[*id as usize];
            all.rows_with[*id as usize] += 1;
            all.totals[*id as usize] += *count as u64;
        }
        all.parts.push(part);
    })?;
    Ok(all)
}

impl Counted {
    /// Calls `visit(row, word, count)` for every entry.
    pub(super) fn each_entry(&self, mut visit: impl FnMut(usize, usize, i32)) {
        let mut row = 0;
        for part in &self.parts {
            let mut entries = part.ids.iter().zip(&part.counts);
            for &length in &part.lengths {
                entries.by_ref().take(length as usize).for_each(|(&id, &count)| visit(row, id as usize, count));
                row += 1;
            }
        }
    }

    /// The words with these numbers get their places in this order, all others are left out.
    pub(super) fn placed(mut self, kept: &[usize], run: &Run) -> Counts {
        let mut place = vec![u32::MAX; self.words.count()];
        kept.iter().enumerate().for_each(|(at, &id)| place[id] = at as u32);
        run.each(&mut self.parts, |_, part| part.put(&place));
        Part::joined(self.parts, kept.len())
    }
}

impl Part {
    /// Numbers become places, which are put in order; what has none is left out.
    fn put(&mut self, place: &[u32]) {
        let (mut from, mut to, mut row) = (0, 0, Vec::new());
        for length in &mut self.lengths {
            let end = from + *length as usize;
            row.clear();
            let entries = self.ids[from..end].iter().zip(&self.counts[from..end]);
            row.extend(entries.map(|(&id, &count)| (place[id as usize], count)).filter(|entry| entry.0 != u32::MAX));
            row.sort_unstable_by_key(|entry| entry.0);
            for (k, &(place, count)) in row.iter().enumerate() {
                (self.ids[to + k], self.counts[to + k]) = (place, count);
            }
            *length = row.len() as u32;
            (from, to) = (end, to + row.len());
        }
        self.ids.truncate(to);
        self.counts.truncate(to);
    }

    fn joined(parts: Vec<Part>, places: usize) -> Counts {
        let (rows, entries) =
            (parts.iter().map(|p| p.lengths.len()).sum::<usize>(), parts.iter().map(|p| p.ids.len()).sum());
        let mut starts = Vec::with_capacity(rows + 1);
        let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        let mut end = 0;
        starts.push(0);
        // Each part is let go as soon as it is copied.
        for part in parts {
            for &length in &part.lengths {
                end += length as usize;
                starts.push(end);
            }
            indices.extend_from_slice(&part.ids);
            values.extend_from_slice(&part.counts);
        }
        Counts { places, starts, indices, values }
    }
}

/// Counts the words of a sorted vocabulary.
pub(super) fn count_known(texts: Rows<'_>, cutter: &Cutter, vocabulary: &[String], run: &Run) -> Result<Counts> {
    // Numbered in their order, words have their places as numbers.
    let mut known = Words::default();
    vocabulary.iter().for_each(|word| {
        known.number(word.as_bytes());
    });
    let count = |rows: Range<usize>| {
        let (mut part, mut space, mut met) = (Part::default(), Space::default(), vec![0u32; known.count()]);
        for text in &texts[rows] {
            let first = part.ids.len();
            if let Some(text) = text {
                cutter.each_token(text, &mut space, |word| {
                    if let Some(id) = known.find(word.as_bytes()) {
                        if met[id] == 0 {
                            part.ids.push(id as u32);
                        }
                        met[id] += 1;
                    }
                });
            }
            part.ids[first..].sort_unstable();
            part.lengths.push((part.ids.len() - first) as u32);
            part.counts.extend(part.ids[first..].iter().map(|&id| std::mem::take(&mut met[id as usize]) as i32));
        }
        part
    };
    let mut parts = Vec::new();
    by_chunks(texts.len(), run, count, |part| parts.push(part))?;
    Ok(Part::joined(parts, known.count()))
}

/// Counts words at the places that their hash sends them to; `signed`, half of the words count downwards.
pub(super) fn count_hashed(
    texts: Rows<'_>,
    cutter: &Cutter,
    (places, signed): (usize, bool),
    run: &Run,
) -> Result<Counts> {
    let count = |rows: Range<usize>| {
        let (mut part, mut space, mut row) = (Part::default(), Space::default(), Vec::<(u32, i32)>::new());
        for text in &texts[rows] {
            row.clear();
            if let Some(text) = text {
                cutter.each_token(text, &mut space, |word| {
                    let (place, sign) = place_and_sign(word.as_bytes(), places);
                    row.push((place, if signed { sign } else { 1 }));
                });
            }
            row.sort_unstable_by_key(|entry| entry.0);
            let first = part.ids.len();
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                let sum: i32 = same.iter().map(|entry| entry.1).sum();
                if sum != 0 {
                    part.ids.push(same[0].0);
                    part.counts.push(sum);
                }
            }
            part.lengths.push((part.ids.len() - first) as u32);
        }
        part
    };
    let mut parts = Vec::new();
    by_chunks(texts.len(), run, count, |part| parts.push(part))?;
    Ok(Part::joined(parts, places))
}

/// Does something with chunks of rows on all threads, and takes the results in the order of the rows.
fn by_chunks<T: Send>(
    rows: usize,
    run: &Run,
    work: impl Fn(Range<usize>) -> T + Sync + Send,
    mut take: impl FnMut(T),
) -> Result<()> {
    // Few enough that joining them costs little, small enough to share out and to look up in between.
    let chunk = (rows / 16).clamp(64, 1024);
    let (mut done, mut pace) = (0, Pace::new(1));
    while done < rows {
        run.progress("words", done, rows);
        let chunks: Vec<usize> = (done..rows).step_by(chunk).take(pace.next()).collect();
        run.map(chunks.len(), |c| work(chunks[c]..(chunks[c] + chunk).min(rows))).into_iter().for_each(&mut take);
        done = (done + chunks.len() * chunk).min(rows);
        run.check()?;
    }
    Ok(())
}
