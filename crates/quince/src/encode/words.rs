//! Texts as counts of words.

use crate::error::Result;
use crate::run::Run;
use crate::table::Column;
use std::collections::{BTreeMap, HashSet};
use unicode_segmentation::UnicodeSegmentation;

/// The words of a text, in lower case.
fn words_of(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

/// At most this many words make a vocabulary: those that occur in the most rows.
const MOST_WORDS: usize = 50_000;

/// The words that occur in at least two rows, sorted.
pub(super) fn vocabulary(column: &Column, run: &Run) -> Result<Vec<String>> {
    let mut rows_with: BTreeMap<String, usize> = BTreeMap::new();
    for i in 0..column.rows() {
        if i % 64 == 0 {
            run.check()?;
        }
        if let Some(text) = column.text(i) {
            let distinct: HashSet<String> = words_of(&text).into_iter().collect();
            distinct.into_iter().for_each(|word| *rows_with.entry(word).or_default() += 1);
        }
    }
    let mut words: Vec<(String, usize)> = rows_with.into_iter().filter(|(_, rows)| *rows >= 2).collect();
    if words.len() > MOST_WORDS {
        words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        words.truncate(MOST_WORDS);
        words.sort();
    }
    Ok(words.into_iter().map(|(word, _)| word).collect())
}

/// Which words of a sorted vocabulary occur in a text, and how often.
pub(super) fn counts(text: &str, vocabulary: &[String]) -> impl Iterator<Item = (usize, f64)> {
    let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
    for word in words_of(text) {
        if let Ok(place) = vocabulary.binary_search(&word) {
            *counts.entry(place).or_default() += 1.0;
        }
    }
    counts.into_iter()
}
