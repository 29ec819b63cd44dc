//! Tokenization: words, runs of word characters, characters, and n-grams of them.

use super::languages::{stemmer, stop_words};
use super::words::WordNumbers;
use crate::table::{Analyzer, StopWords, TextOptions};
use rust_stemmers::Stemmer;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// Cuts texts into tokens as the options say.
pub(super) struct Tokenizer {
    cut: Analyzer,
    ngrams: (usize, usize),
    lower: bool,
    plain: bool,
    stop: Option<WordNumbers>,
    stemmer: Option<Stemmer>,
}

/// Scratch space of one thread.
#[derive(Default)]
pub(super) struct TokenizerScratch {
    /// The text in lower case and without accents, where it needs a change.
    text: String,
    word: String,
    /// Tokens with a space between them, and where each begins and ends.
    tokens: String,
    bounds: Vec<(usize, usize)>,
}

impl Tokenizer {
    pub(super) fn new(settings: &TextOptions) -> Tokenizer {
        let mut stop = WordNumbers::default();
        match &settings.stop_words {
            StopWords::None => {}
            StopWords::Language(language) => stop_words(*language).iter().for_each(|word| {
                stop.number(word.as_bytes());
            }),
            StopWords::List(words) => words.iter().for_each(|word| {
                stop.number(word.as_bytes());
            }),
        }
        Tokenizer {
            cut: settings.analyzer,
            ngrams: settings.ngrams,
            lower: settings.lowercase,
            plain: settings.strip_accents,
            stop: (stop.count() > 0).then_some(stop),
            stemmer: settings.stem.map(stemmer),
        }
    }

    /// Calls `visit` with every token. Stop words are dropped first, then words are stemmed, then joined to n-grams.
    pub(super) fn each_token(&self, text: &str, scratch: &mut TokenizerScratch, mut visit: impl FnMut(&str)) {
        let TokenizerScratch { text: changed, word, tokens, bounds } = scratch;
        let text = self.prepared(text, changed);
        if matches!(self.cut, Analyzer::Letters | Analyzer::LettersInWords) {
            return self.each_character_ngram(text, tokens, bounds, visit);
        }
        if self.ngrams == (1, 1) {
            return self.each_word(text, word, |word| {
                if let Some(stem) = self.kept(word) {
                    visit(&stem);
                }
            });
        }
        tokens.clear();
        bounds.clear();
        self.each_word(text, word, |word| {
            if let Some(stem) = self.kept(word) {
                if !tokens.is_empty() {
                    tokens.push(' ');
                }
                let start = tokens.len();
                tokens.push_str(&stem);
                bounds.push((start, tokens.len()));
            }
        });
        for size in self.ngrams.0..=self.ngrams.1.min(bounds.len()) {
            for row in bounds.windows(size) {
                visit(&tokens[row[0].0..row[size - 1].1]);
            }
        }
    }

    /// The text in lower case and without accents, if so asked; words in lower case are made later from ASCII and by Unicode's
    /// rule.
    fn prepared<'a>(&self, text: &'a str, changed: &'a mut String) -> &'a str {
        let ascii = text.is_ascii();
        let whole = self.cut != Analyzer::Words;
        let lower = self.lower && whole && (!ascii || self.cut != Analyzer::Runs);
        let plain = self.plain && !ascii;
        if !lower && !plain {
            return text;
        }
        changed.clear();
        match (lower, plain) {
            (true, false) => changed.push_str(&text.to_lowercase()),
            (true, true) => changed.extend(text.to_lowercase().nfkd().filter(is_no_accent)),
            (false, _) => changed.extend(text.nfkd().filter(is_no_accent)),
        }
        changed
    }

    /// The stem of a word, unless it is a stop word.
    fn kept<'a>(&self, word: &'a str) -> Option<std::borrow::Cow<'a, str>> {
        if self.stop.as_ref().is_some_and(|stop| stop.find(word.as_bytes()).is_some()) {
            return None;
        }
        Some(self.stemmer.as_ref().map_or(word.into(), |stemmer| stemmer.stem(word)))
    }

    fn each_word(&self, text: &str, space: &mut String, mut visit: impl FnMut(&str)) {
        match (self.cut, text.is_ascii()) {
            (Analyzer::Runs, true) => each_ascii_run(text, self.lower, space, visit),
            (Analyzer::Runs, false) => each_run(text, visit),
            (_, true) => each_ascii_word(text, self.lower, space, visit),
            (_, false) => {
                for word in text.unicode_words() {
                    if !self.lower {
                        visit(word);
                        continue;
                    }
                    space.clear();
                    match word.is_ascii() {
                        true => space.extend(word.bytes().map(|byte| char::from(byte.to_ascii_lowercase()))),
                        false => space.push_str(&word.to_lowercase()),
                    }
                    visit(space);
                }
            }
        }
    }

    fn each_character_ngram(
        &self,
        text: &str,
        line: &mut String,
        bounds: &mut Vec<(usize, usize)>,
        mut visit: impl FnMut(&str),
    ) {
        let mut runs = |line: &str, short_once: bool| {
            bounds.clear();
            bounds.extend(line.char_indices().map(|(at, c)| (at, at + c.len_utf8())));
            // No run is longer than the line, whatever a setting says.
            for size in self.ngrams.0..=self.ngrams.1.min(bounds.len().max(self.ngrams.0)) {
                if bounds.len() <= size && short_once {
                    // A word that is no longer than this is counted whole, and once.
                    visit(line);
                    break;
                }
                for row in bounds.windows(size) {
                    visit(&line[row[0].0..row[size - 1].1]);
                }
            }
        };
        if self.cut == Analyzer::LettersInWords {
            for word in text.split_whitespace() {
                line.clear();
                line.extend([" ", word, " "]);
                runs(line, true);
            }
            return;
        }
        // Several blanks count as one space.
        line.clear();
        let mut blanks = 0;
        for (at, c) in text.char_indices() {
            if c.is_whitespace() {
                blanks += 1;
                if blanks == 2 {
                    line.truncate(line.len() - text[..at].chars().next_back().map_or(0, char::len_utf8));
                    line.push(' ');
                }
                if blanks >= 2 {
                    continue;
                }
            } else {
                blanks = 0;
            }
            line.push(c);
        }
        runs(line, false);
    }
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Runs of two or more word characters.
fn each_ascii_run(text: &str, lower: bool, space: &mut String, mut visit: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && is_inner(bytes[at]) {
            at += 1;
        }
        if at - start >= 2 {
            let run = &text[start..at];
            if lower {
                space.clear();
                space.push_str(run);
                space.make_ascii_lowercase();
                visit(space);
            } else {
                visit(run);
            }
        }
        at += 1;
    }
}

/// Whether a letter, taken apart from its accents, stays. Vowel signs, which stand beside their letter, do.
fn is_no_accent(c: &char) -> bool {
    canonical_combining_class(*c) == 0
}

/// Letters in circles and squares, which are symbols.
fn is_circled(c: char) -> bool {
    matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

/// The same where there is more than ASCII, in lower case already.
fn each_run(text: &str, mut visit: impl FnMut(&str)) {
    let is_inner = |c: char| match c {
        '\0'..='\x7f' => is_inner(c as u8),
        _ => c.is_alphanumeric() && !is_combining_mark(c) && !is_circled(c),
    };
    for run in text.split(|c: char| !is_inner(c)) {
        if run.chars().nth(1).is_some() {
            visit(run);
        }
    }
}

/// What Unicode's rule says of ASCII: letters, digits and underscores stay together; an apostrophe, point or colon between two
/// letters does not part them, nor does an apostrophe, point, comma or semicolon between two digits. Underscores alone are no
/// word.
fn each_ascii_word(text: &str, lower: bool, space: &mut String, mut visit: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_inner(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let mut says_something = false;
        while at < bytes.len() {
            let byte = bytes[at];
            if is_inner(byte) {
                says_something |= byte != b'_';
            } else if !joins(bytes, at) {
                break;
            }
            at += 1;
        }
        if says_something {
            let word = &text[start..at];
            if lower {
                space.clear();
                space.push_str(word);
                space.make_ascii_lowercase();
                visit(space);
            } else {
                visit(word);
            }
        }
    }
}

/// Whether a mark stands between two letters or two digits that it does not part. There is a letter, digit or underscore
/// before it.
fn joins(bytes: &[u8], at: usize) -> bool {
    let (before, after) = (bytes[at - 1], bytes.get(at + 1).copied().unwrap_or(b' '));
    match bytes[at] {
        b'\'' | b'.' => {
            (before.is_ascii_alphabetic() && after.is_ascii_alphabetic())
                || (before.is_ascii_digit() && after.is_ascii_digit())
        }
        b':' => before.is_ascii_alphabetic() && after.is_ascii_alphabetic(),
        b',' | b';' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str, settings: &str) -> Vec<String> {
        let mut texts = TextOptions::default();
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            texts.set(name, value).unwrap();
        }
        let mut found = Vec::new();
        Tokenizer::new(&texts)
            .each_token(text, &mut TokenizerScratch::default(), |token| found.push(token.to_string()));
        found
    }

    #[test]
    fn words_are_what_people_take_for_words() {
        let found = cut("Don't PAY 3.50, or 1,000: e.g. x_1!", "");
        assert_eq!(found, ["don't", "pay", "3.50", "or", "1,000", "e.g", "x_1"]);
        assert_eq!(cut("Grüße aus Århus", ""), ["grüße", "aus", "århus"]);
        assert_eq!(cut("Grüße aus Århus", "lower=no"), ["Grüße", "aus", "Århus"]);
        assert_eq!(cut("Grüße aus Århus", "accents=no"), ["gruße", "aus", "arhus"]);
        assert!(cut(" _ __ -- ", "").is_empty());
    }

    #[test]
    fn runs_letters_and_rows_of_words() {
        assert_eq!(cut("Don't pay 3.50 a B_2", "runs"), ["don", "pay", "50", "b_2"]);
        assert_eq!(cut("Ça va où x", "runs"), ["ça", "va", "où"]);
        assert_eq!(cut("one two three", "ngrams=1-2"), ["one", "two", "three", "one two", "two three"]);
        assert_eq!(cut("one", "ngrams=2"), [""; 0]);
        assert_eq!(cut("a  \n bç", "letters,ngrams=2"), ["a ", " b", "bç"]);
        assert_eq!(cut("a\nb", "letters,ngrams=3"), ["a\nb"]);
        assert_eq!(cut("ab c", "letters-in-words,ngrams=3"), [" ab", "ab ", " c "]);
        assert_eq!(cut("ab c", "letters-in-words,ngrams=3-4"), [" ab", "ab ", " ab ", " c "]);
    }

    #[test]
    fn stop_words_go_first_then_stems_then_rows() {
        assert_eq!(cut("The connections were connecting", "stop=english,stem=english"), ["connect", "connect"]);
        assert_eq!(cut("the cats and the dogs", "stop=english,stem=english,ngrams=2"), ["cat dog"]);
    }

    proptest! {
        #[test]
        fn the_quick_way_is_the_rule(text in "[ -~\t\n]{0,40}") {
            let slow: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
            prop_assert_eq!(cut(&text, ""), slow);
        }

        #[test]
        fn marks_between_letters_and_digits(text in "[a1_.':,;]{0,12}") {
            let slow: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
            prop_assert_eq!(cut(&text, ""), slow);
        }

        #[test]
        fn ascii_runs_are_runs(text in "[a1_.' ,B]{0,12}") {
            let mut slow = Vec::new();
            each_run(&text.to_lowercase(), |run| slow.push(run.to_string()));
            prop_assert_eq!(cut(&text, "runs"), slow);
        }
    }
}
