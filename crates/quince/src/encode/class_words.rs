//! Characteristic words of each class.
//!
//! The relative frequency of a word in a class is its share of all words in texts of the class. A word is typical of a class if
//! it is frequent there and more frequent than elsewhere: words are ranked by s ln(s / t), with s the relative frequency in the
//! class and t that in all texts, which is what the word adds to their Kullback-Leibler divergence.

use super::column::texts_of;
use super::text::TextEncoder;
use crate::error::Result;
use crate::learn::{Target, TargetView};
use crate::run::Run;
use crate::table::{ColumnOptions, Frequency, Kind, Labelled, TermWeighting, TextOptions};
use serde::Serialize;

/// The typical words of each class in a column of texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnWords {
    /// The column.
    pub column: String,
    /// The classes in their order.
    pub classes: Vec<ClassWords>,
}

/// The typical words of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassWords {
    /// The class.
    pub class: String,
    /// The number of words in its texts.
    pub words: u64,
    /// The most typical words, the most typical first.
    pub typical: Vec<WordFrequency>,
}

/// The relative frequencies of a word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordFrequency {
    /// The word.
    pub word: String,
    /// Its relative frequency in the class.
    pub share: f64,
    /// Its relative frequency in all texts.
    pub overall: f64,
}

/// For each column of texts and each class, at most this many typical words. Empty if the target has no classes.
pub fn class_words(labelled: &Labelled, most: usize, run: &Run) -> Result<Vec<ColumnWords>> {
    labelled.check()?;
    let TargetView::Classes { classes, codes } = labelled.target.view() else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for column in labelled.table.columns().iter().filter(|column| column.kind() == Kind::Text) {
        // Tokenized by the options of the table; all words are counted.
        let options = match labelled.table.encoding().columns.get(column.name()) {
            Some(ColumnOptions::Text(texts)) => texts.clone(),
            _ => TextOptions::default(),
        };
        let all_words = TextOptions {
            min_document_frequency: Frequency::Rows(1),
            max_document_frequency: Frequency::Share(1.0),
            words: usize::MAX,
            ..options
        };
        let settings = TextOptions { weighting: TermWeighting::Counts, select: 0, hash: 0, ..all_words };
        let (encoder, counts) = TextEncoder::learn_counts(&texts_of(column), settings, None, run)?;
        let (width, count) = (encoder.width(), classes.count());
        let mut sums = vec![0u64; width * count];
        for (row, &class) in codes.iter().enumerate().filter(|(_, class)| **class != Target::UNKNOWN) {
            for at in counts.starts[row]..counts.starts[row + 1] {
                sums[counts.indices[at] as usize * count + class as usize] += counts.values[at] as u64;
            }
        }
        let total = |class: usize| (0..width).map(|word| sums[word * count + class]).sum::<u64>();
        let totals: Vec<u64> = (0..count).map(total).collect();
        let whole: u64 = totals.iter().sum();
        let of_class = |class: usize| {
            let share = |word: usize| {
                let share = sums[word * count + class] as f64 / totals[class].max(1) as f64;
                let overall = sums[word * count..(word + 1) * count].iter().sum::<u64>() as f64 / whole.max(1) as f64;
                (share * (share / overall).ln(), word, share, overall)
            };
            let mut ranked: Vec<_> = (0..width)
                .filter(|&word| sums[word * count + class] > 0)
                .map(share)
                .filter(|word| word.0 > 0.0)
                .collect();
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ranked.truncate(most);
            let word = |(_, word, share, overall): (f64, usize, f64, f64)| WordFrequency {
                word: encoder.vocabulary()[word].clone(),
                share,
                overall,
            };
            ClassWords {
                class: classes.names()[class].clone(),
                words: totals[class],
                typical: ranked.into_iter().map(word).collect(),
            }
        };
        all.push(ColumnWords { column: column.name().into(), classes: (0..count).map(of_class).collect() });
    }
    Ok(all)
}
