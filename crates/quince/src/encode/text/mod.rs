//! Texts as bags of words.
//!
//! A [`TextEncoder`] is learnt from texts: the vocabulary, which words of it are kept, and their weights. It turns texts into
//! sparse rows, one column per word. With `hash` (feature hashing) there is no vocabulary: a word's hash is its column.
//!
//! Tf-idf multiplies the count of word w by idf(w) = 1 + ln((1 + n) / (1 + n_w)), n rows of which n_w have the word, and then scales
//! every row to length 1.

mod count;
mod languages;
mod tokens;
mod weights;
mod words;

pub use count::Counts;
pub use languages::stop_words;
pub use weights::{TermNorm, TermWeights};

use super::select::{self, ClassCodes};
use crate::error::{Error, Result};
use crate::learn::SavedParts;
use crate::matrix::Sparse;
use crate::run::Run;
use crate::table::{FeatureScore, TermWeighting, TextOptions};
use count::{CountedWords, count_all, count_hashed, count_known};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use tokens::Tokenizer;

/// How texts become numbers, learnt from texts.
///
/// ```
/// use quince::Run;
/// use quince::encode::TextEncoder;
/// use quince::table::{TextOptions, TermWeighting};
/// let texts = [Some("a good film"), Some("a bad film"), None];
/// let settings = TextOptions { weighting: TermWeighting::Counts, ..TextOptions::default() };
/// let (encoder, counts) = TextEncoder::learn(&texts, settings, None, &Run::new())?;
/// assert_eq!(encoder.vocabulary(), ["a", "film"]);
/// assert_eq!(counts.row(0), (&[0, 1][..], &[1.0, 1.0][..]));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextEncoder {
    settings: TextOptions,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    vocabulary: Vec<String>,
    /// The idf of every place, where tf-idf was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
    /// Where words were selected: the score of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<f64>,
}

impl TextEncoder {
    /// Learns from texts (`None` is a missing value: no word), and encodes them. Selecting words needs the class of every row.
    pub fn learn(
        texts: &[Option<&str>],
        settings: TextOptions,
        classes: Option<ClassCodes<'_>>,
        run: &Run,
    ) -> Result<(TextEncoder, Sparse)> {
        let (mut encoder, counts) = TextEncoder::learn_counts(texts, settings, classes, run)?;
        encoder.learn_weights(&counts);
        let sparse = encoder.weighed(counts)?;
        Ok((encoder, sparse))
    }

    /// Learns a vocabulary, and counts its words.
    pub fn learn_counts(
        texts: &[Option<&str>],
        settings: TextOptions,
        classes: Option<ClassCodes<'_>>,
        run: &Run,
    ) -> Result<(TextEncoder, Counts)> {
        settings.check()?;
        let mut encoder = TextEncoder { settings, vocabulary: Vec::new(), weights: Vec::new(), scores: Vec::new() };
        if encoder.settings.hash > 0 {
            let counts = encoder.counts(texts, run)?;
            return Ok((encoder, counts));
        }
        let counted = count_all(texts, &Tokenizer::new(&encoder.settings), run)?;
        let mut kept = encoder.kept(&counted, texts.len());
        if encoder.settings.select > 0 {
            let classes = classes.ok_or_else(|| {
                Error::setting("select", "needs classes to tell apart", "Leave it out, or learn a target of classes.")
            })?;
            encoder.select(&counted, &mut kept, classes, texts.len())?;
        }
        encoder.vocabulary =
            kept.iter().map(|&id| String::from_utf8_lossy(counted.words.word(id)).into_owned()).collect();
        let counts = counted.placed(&kept, run)?;
        Ok((encoder, counts))
    }

    /// The numbers of the words that are frequent enough and not too frequent, sorted by word.
    fn kept(&self, counted: &CountedWords, rows: usize) -> Vec<usize> {
        let (least, most) =
            (self.settings.min_document_frequency.of(rows), self.settings.max_document_frequency.of(rows));
        let fits =
            |&id: &usize| counted.rows_with[id] > 0 && (least..=most).contains(&f64::from(counted.rows_with[id]));
        let mut kept: Vec<usize> = (0..counted.words.bound()).filter(fits).collect();
        let word = |id: usize| counted.words.word(id);
        if kept.len() > self.settings.words {
            // Where only presence counts, a word is as frequent as its rows.
            let often: Vec<u64> = match self.settings.weighting {
                TermWeighting::Presence => counted.rows_with.iter().map(|&rows| rows.into()).collect(),
                TermWeighting::Counts | TermWeighting::Tfidf => counted.totals(),
            };
            kept.sort_unstable_by(|&a, &b| often[b].cmp(&often[a]).then_with(|| word(a).cmp(word(b))));
            kept.truncate(self.settings.words);
        }
        // Most words differ within their first letters, which are quicker to compare as one number.
        let beginning = |word: &[u8]| {
            let mut letters = [0; 8];
            letters[..word.len().min(8)].copy_from_slice(&word[..word.len().min(8)]);
            u64::from_be_bytes(letters)
        };
        let mut keyed: Vec<(u64, usize)> = kept.into_iter().map(|id| (beginning(word(id)), id)).collect();
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| word(a.1).cmp(word(b.1))));
        keyed.into_iter().map(|(_, id)| id).collect()
    }

    /// Feature selection: keeps the words with the largest scores.
    fn select(
        &mut self,
        counted: &CountedWords,
        kept: &mut Vec<usize>,
        (class_of, classes): ClassCodes<'_>,
        rows: usize,
    ) -> Result<()> {
        let mut place = vec![usize::MAX; counted.words.bound()];
        kept.iter().enumerate().for_each(|(at, &id)| place[id] = at);
        let mut table = select::ContingencyTable::new((rows, kept.len()), class_of, classes)?;
        let presence = self.settings.score == FeatureScore::MutualInformation;
        counted.each_entry(|row, id, count| {
            if place[id] != usize::MAX {
                table.add(class_of[row], place[id], if presence { 1.0 } else { f64::from(count) });
            }
        });
        let scores = match self.settings.score {
            FeatureScore::MutualInformation => table.mutual_information(),
            FeatureScore::ChiSquared => table.chi_squared(),
        };
        let best = select::best(&scores, self.settings.select);
        self.scores = best.iter().map(|&at| scores[at]).collect();
        *kept = best.iter().map(|&at| kept[at]).collect();
        Ok(())
    }

    /// Learns the weights of words from the counts of training rows.
    fn learn_weights(&mut self, counts: &Counts) {
        if self.settings.weighting == TermWeighting::Tfidf {
            self.weights = TermWeights::inverse_document_frequencies(counts.rows(), &counts.rows_with(), true);
        }
    }

    /// How often each word of the vocabulary occurs in other texts.
    pub fn counts(&self, texts: &[Option<&str>], run: &Run) -> Result<Counts> {
        let tokenizer = Tokenizer::new(&self.settings);
        match self.settings.hash {
            0 => count_known(texts, &tokenizer, &self.vocabulary, run),
            places => count_hashed(texts, &tokenizer, (places, self.settings.signed), run),
        }
    }

    /// Encodes other texts. Words that were not seen in training are left out.
    pub fn encode(&self, texts: &[Option<&str>], run: &Run) -> Result<Sparse> {
        self.weighed(self.counts(texts, run)?)
    }

    fn weighed(&self, counts: Counts) -> Result<Sparse> {
        let frequencies = TermWeights { sublinear: self.settings.sublinear, ..TermWeights::default() };
        match self.settings.weighting {
            TermWeighting::Counts => counts.into_sparse(&frequencies),
            TermWeighting::Presence => counts.presence(),
            TermWeighting::Tfidf => {
                let tf_idf = TermWeights { idf: Some(&self.weights), norm: Some(TermNorm::L2), ..frequencies };
                counts.into_sparse(&tf_idf)
            }
        }
    }

    /// The words, sorted; none with `hash`.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// The settings.
    pub fn settings(&self) -> &TextOptions {
        &self.settings
    }

    /// Where words were selected: each with its score, the best first.
    pub fn selected(&self) -> Vec<(&str, f64)> {
        let mut words: Vec<(&str, f64)> =
            self.vocabulary.iter().map(String::as_str).zip(self.scores.iter().copied()).collect();
        words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        words
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        if self.settings.hash > 0 { self.settings.hash } else { self.vocabulary.len() }
    }

    /// The name of a column: its word, or the number of its place.
    pub(super) fn name(&self, place: usize) -> String {
        self.vocabulary.get(place).cloned().unwrap_or_else(|| format!("#{place}"))
    }

    /// Saves vocabulary, weights and scores as arrays; the encoder that is left goes into the header.
    pub(super) fn save_arrays(&self, name: &str, parts: &mut SavedParts<'_>) -> TextEncoder {
        parts.put_words(name, &self.vocabulary);
        for (what, numbers) in [("weights", &self.weights), ("scores", &self.scores)] {
            if !numbers.is_empty() {
                parts.put_vector(&format!("{name}.{what}"), numbers);
            }
        }
        let settings = self.settings.clone();
        TextEncoder { settings, vocabulary: Vec::new(), weights: Vec::new(), scores: Vec::new() }
    }

    /// Takes back what is saved as arrays.
    pub(super) fn load_arrays(&mut self, name: &str, parts: &mut SavedParts<'_>) -> Result<()> {
        self.vocabulary = parts.take_words(name)?;
        for (what, numbers) in [("weights", &mut self.weights), ("scores", &mut self.scores)] {
            let name = format!("{name}.{what}");
            if parts.has(&name) {
                *numbers = parts.take_vector(&name, None)?;
            }
        }
        Ok(())
    }

    pub(super) fn is_sound(&self) -> bool {
        let width = self.width();
        let distinct: HashSet<&String> = self.vocabulary.iter().collect();
        self.settings.check().is_ok()
            && distinct.len() == self.vocabulary.len()
            && (self.weights.is_empty() || self.weights.len() == width)
            && (self.scores.is_empty() || self.scores.len() == width)
            && self.weights.iter().all(|weight| weight.is_finite())
            && (self.settings.weighting != TermWeighting::Tfidf || self.weights.len() == width)
    }
}

#[cfg(test)]
mod tests;
