//! Which words a class is told by.
//!
//! The share of a word in a class is how many of all words in texts of the class it is. A word is typical of a class if it is
//! frequent there and more frequent than elsewhere: words are ranked by s ln(s / t), s being the share in the class and t that
//! in all texts, which is what the word adds to the divergence of the two.

use super::plan::texts_of;
use super::settings::Wish;
use super::text::{Amount, TextEncoder, Texts, Weigh};
use crate::error::Result;
use crate::learn::Target;
use crate::run::Run;
use crate::table::{Kind, Labelled};
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
    /// How many words its texts have in all.
    pub words: u64,
    /// The most typical words, the most typical first.
    pub typical: Vec<WordShare>,
}

/// How frequent a word is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordShare {
    /// The word.
    pub word: String,
    /// Its share of the words of the class.
    pub share: f64,
    /// Its share of all words.
    pub overall: f64,
}

/// For each column of texts, and each class, so many words that are typical of it. Empty if the target has no classes.
pub fn word_shares(labelled: &Labelled, most: usize, run: &Run) -> Result<Vec<ColumnWords>> {
    let Target::Classes { classes, codes } = &labelled.target else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for column in labelled.table.columns().iter().filter(|column| column.kind() == Kind::Text) {
        // Words are cut as the table wishes, and all of them are counted.
        let wished = match labelled.table.encoding().columns.get(column.name()) {
            Some(Wish::Texts(texts)) => texts.clone(),
            _ => Texts::default(),
        };
        let all_words = Texts { least: Amount::Rows(1), most: Amount::Share(1.0), words: usize::MAX, ..wished };
        let settings = Texts { weigh: Weigh::Counts, select: 0, hash: 0, ..all_words };
        let (encoder, counts) = TextEncoder::learn_counts(&texts_of(column), settings, None, run)?;
        let (width, count) = (encoder.width(), classes.count());
        let mut sums = vec![0u64; width * count];
        for (row, &class) in codes.iter().enumerate() {
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
            let word = |(_, word, share, overall): (f64, usize, f64, f64)| WordShare {
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
