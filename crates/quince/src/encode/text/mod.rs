//! Texts as counts of words.
//!
//! Every row is cut into words on all threads; each thread numbers the words it meets, and the numbers are joined in the
//! order of the rows, so the vocabulary does not depend on the threads. No copy of the text is made.

mod tokens;
mod words;

use crate::error::Result;
use crate::run::{Pace, Run};
use crate::table::Column;
use words::Words;

/// At most this many words make a vocabulary: those that occur in the most rows.
const MOST_WORDS: usize = 50_000;
/// So many rows are looked at together.
const CHUNK: usize = 256;

/// The words that occur in at least two rows, sorted.
pub(super) fn vocabulary(column: &Column, run: &Run) -> Result<Vec<String>> {
    let mut all = Words::default();
    let mut rows_with: Vec<u32> = Vec::new();
    by_chunks(
        column.rows(),
        run,
        |rows| count_rows(column, rows),
        |(words, counts): (Words, Vec<u32>)| {
            for (id, count) in counts.into_iter().enumerate() {
                let id = all.number(words.word(id));
                rows_with.resize(all.count(), 0);
                rows_with[id] += count;
            }
        },
    )?;
    let mut kept: Vec<usize> = (0..all.count()).filter(|&id| rows_with[id] >= 2).collect();
    if kept.len() > MOST_WORDS {
        kept.sort_by(|&a, &b| rows_with[b].cmp(&rows_with[a]).then_with(|| all.word(a).cmp(all.word(b))));
        kept.truncate(MOST_WORDS);
    }
    let mut words: Vec<String> =
        kept.into_iter().map(|id| String::from_utf8_lossy(all.word(id)).into_owned()).collect();
    words.sort_unstable();
    Ok(words)
}

/// The words of some rows, and in how many of them each occurs.
fn count_rows(column: &Column, rows: std::ops::Range<usize>) -> (Words, Vec<u32>) {
    let (mut words, mut space) = (Words::default(), String::new());
    // How many rows have a word, and the last that had it.
    let (mut counts, mut last): (Vec<u32>, Vec<usize>) = (Vec::new(), Vec::new());
    for i in rows {
        let Some(text) = column.text(i) else { continue };
        tokens::each_word(&text, &mut space, |word| {
            let id = words.number(word.as_bytes());
            if id == counts.len() {
                counts.push(0);
                last.push(usize::MAX);
            }
            if last[id] != i {
                last[id] = i;
                counts[id] += 1;
            }
        });
    }
    (words, counts)
}

/// For each row: which words of a sorted vocabulary occur in it, and how often, by their places.
pub(super) fn counts(column: &Column, vocabulary: &[String], run: &Run) -> Result<Vec<Vec<(u32, f64)>>> {
    // Numbered in their order, words have their places as numbers.
    let mut known = Words::default();
    for word in vocabulary {
        known.number(word.as_bytes());
    }
    let count = |rows: std::ops::Range<usize>| {
        let mut space = String::new();
        // How often each word was met in the row at hand.
        let mut met = vec![0u32; known.count()];
        let row = |i: usize| {
            let mut places: Vec<u32> = Vec::new();
            if let Some(text) = column.text(i) {
                tokens::each_word(&text, &mut space, |word| {
                    if let Some(id) = known.find(word.as_bytes()) {
                        if met[id] == 0 {
                            places.push(id as u32);
                        }
                        met[id] += 1;
                    }
                });
            }
            places.sort_unstable();
            places.into_iter().map(|id| (id, f64::from(std::mem::take(&mut met[id as usize])))).collect()
        };
        rows.map(row).collect::<Vec<Vec<(u32, f64)>>>()
    };
    let mut all = Vec::with_capacity(column.rows());
    by_chunks(column.rows(), run, count, |rows| all.extend(rows))?;
    Ok(all)
}

/// Does something with chunks of rows on all threads, and takes the results in the order of the rows.
fn by_chunks<T: Send>(
    rows: usize,
    run: &Run,
    work: impl Fn(std::ops::Range<usize>) -> T + Sync + Send,
    mut take: impl FnMut(T),
) -> Result<()> {
    let (mut done, mut pace) = (0, Pace::new(1));
    while done < rows {
        run.progress("words", done, rows);
        let chunks: Vec<usize> = (done..rows).step_by(CHUNK).take(pace.next()).collect();
        run.map(chunks.len(), |c| work(chunks[c]..(chunks[c] + CHUNK).min(rows))).into_iter().for_each(&mut take);
        done = (done + chunks.len() * CHUNK).min(rows);
        run.check()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use unicode_segmentation::UnicodeSegmentation;

    fn words(text: &str) -> Vec<String> {
        text.unicode_words().map(str::to_lowercase).collect()
    }

    proptest! {
        /// Against plain maps, on one thread and on several.
        #[test]
        fn counts_are_those_of_plain_maps(texts in prop::collection::vec("[aBc ,é']{0,30}", 1..900)) {
            let column = Column::words("t", texts.iter().map(|text| Some(text.as_str())));
            let mut rows_with: BTreeMap<String, usize> = BTreeMap::new();
            for text in &texts {
                let distinct: BTreeSet<String> = words(text).into_iter().collect();
                distinct.into_iter().for_each(|word| *rows_with.entry(word).or_default() += 1);
            }
            let slow: Vec<String> = rows_with.into_iter().filter(|(_, rows)| *rows >= 2).map(|(word, _)| word).collect();
            for threads in [1, 3] {
                let run = Run::new().threads(threads);
                prop_assert_eq!(&vocabulary(&column, &run).unwrap(), &slow);
                let found = counts(&column, &slow, &run).unwrap();
                for (text, row) in texts.iter().zip(found) {
                    let mut expected: BTreeMap<u32, f64> = BTreeMap::new();
                    for word in words(text) {
                        if let Ok(place) = slow.binary_search(&word) {
                            *expected.entry(place as u32).or_default() += 1.0;
                        }
                    }
                    prop_assert_eq!(row, expected.into_iter().collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn x1_the_counts_of_a_mail() {
        let text = "Congratulations to you as we bring to your notice, the results of the First Category draws of THE HOLLAND \
                    CASINO LOTTO PROMO INT. We are happy to inform you that you have emerged a winner under the First \
                    Category, which is part of our promotional draws.";
        let column = Column::words("t", [Some(text), Some("can of the first draws you category casino")]);
        let vocabulary = ["can", "casino", "category", "draws", "first", "the", "you"].map(String::from);
        let rows = counts(&column, &vocabulary, &Run::new()).unwrap();
        let expected = [(1, 1.0), (2, 2.0), (3, 2.0), (4, 2.0), (5, 4.0), (6, 3.0)];
        assert_eq!(rows[0], expected);
    }
}
