//! Counting and weighing against plain maps.

use super::*;
use crate::table::{Analyzer, Frequency};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use unicode_segmentation::UnicodeSegmentation;

fn words(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

fn counting() -> TextOptions {
    TextOptions { weighting: TermWeighting::Counts, ..TextOptions::default() }
}

fn some(texts: &[String]) -> Vec<Option<&str>> {
    texts.iter().map(|text| Some(text.as_str())).collect()
}

fn row(sparse: &Sparse, i: usize) -> BTreeMap<u32, f64> {
    let (places, values) = sparse.row(i);
    places.iter().copied().zip(values.iter().copied()).collect()
}

proptest! {
    /// Against plain maps, on one thread and on several.
    #[test]
    fn counts_are_those_of_plain_maps(texts in prop::collection::vec("[aBc ,é']{0,30}", 1..900)) {
        let mut rows_with: BTreeMap<String, usize> = BTreeMap::new();
        for text in &texts {
            let distinct: BTreeSet<String> = words(text).into_iter().collect();
            distinct.into_iter().for_each(|word| *rows_with.entry(word).or_default() += 1);
        }
        let slow: Vec<String> = rows_with.into_iter().filter(|(_, rows)| *rows >= 2).map(|(word, _)| word).collect();
        for threads in [1, 3] {
            let run = Run::new().threads_exactly(threads);
            let (encoder, counts) = TextEncoder::learn(&some(&texts), counting(), None, &run).unwrap();
            prop_assert_eq!(encoder.vocabulary(), &slow);
            prop_assert_eq!(&encoder.encode(&some(&texts), &run).unwrap(), &counts);
            for (i, text) in texts.iter().enumerate() {
                let mut expected: BTreeMap<u32, f64> = BTreeMap::new();
                for word in words(text) {
                    if let Ok(place) = slow.binary_search(&word) {
                        *expected.entry(place as u32).or_default() += 1.0;
                    }
                }
                prop_assert_eq!(row(&counts, i), expected);
            }
        }
    }
}

#[test]
fn long_texts_first_do_not_ask_for_memory_that_short_ones_never_need() {
    let long: Vec<String> = (0..64).map(|i| (0..20_000).map(|j| format!("w{} ", (i * j) % 30_000)).collect()).collect();
    let mut texts: Vec<Option<&str>> = long.iter().map(|text| Some(text.as_str())).collect();
    texts.resize(3_000_000, Some("a"));
    let (encoder, counts) = TextEncoder::learn_counts(&texts, counting(), None, &Run::new().threads(2)).unwrap();
    assert_eq!((counts.rows(), counts.starts[3_000_000] - counts.starts[64]), (3_000_000, 3_000_000 - 64));
    assert_eq!(encoder.vocabulary()[0], "a");
}

#[test]
fn selecting_words_needs_a_class_for_every_text() {
    let settings = TextOptions { select: 1, ..counting() };
    for classes in [&[0, 1][..], &[0, 1, 2]] {
        let learnt =
            TextEncoder::learn(&[Some("a b"), Some("a b"), None], settings.clone(), Some((classes, 2)), &Run::new());
        assert!(learnt.unwrap_err().to_string().contains("one class for every row"));
    }
}

#[test]
fn x1_the_counts_and_the_presence_of_words_in_a_mail() {
    let text = "Congratulations to you as we bring to your notice, the results of the First Category draws of THE HOLLAND \
                CASINO LOTTO PROMO INT. We are happy to inform you that you have emerged a winner under the First \
                Category, which is part of our promotional draws.";
    let texts = [Some(text), Some("can of the first draws you category casino"), Some("can")];
    let (encoder, counts) = TextEncoder::learn(&texts, counting(), None, &Run::new()).unwrap();
    let vocabulary = ["can", "casino", "category", "draws", "first", "of", "the", "you"];
    assert_eq!(encoder.vocabulary(), vocabulary);
    let expected = [(1, 1.0), (2, 2.0), (3, 2.0), (4, 2.0), (6, 4.0), (7, 3.0)];
    let mut found = row(&counts, 0);
    found.remove(&5);
    assert_eq!(found, BTreeMap::from(expected));
    let presence = TextOptions { weighting: TermWeighting::Presence, ..TextOptions::default() };
    let (_, rows) = TextEncoder::learn(&texts, presence, None, &Run::new()).unwrap();
    assert_eq!(rows.row(0), (&[1, 2, 3, 4, 5, 6, 7][..], &[1.0; 7][..]));
}

#[test]
fn x4_a_sentence_as_counts() {
    let texts = [Some("I am a teacher I I teacher")];
    let all = TextOptions { min_document_frequency: Frequency::Rows(1), ..counting() };
    let (encoder, counts) = TextEncoder::learn(&texts, all, None, &Run::new()).unwrap();
    assert_eq!(encoder.vocabulary(), ["a", "am", "i", "teacher"]);
    assert_eq!(counts.row(0).1, [1.0, 1.0, 3.0, 2.0]);
}

#[test]
fn x2_the_words_that_tell_sport_from_informatics() {
    // B5's documents; columns are goal, tutor, variance, speed, drink, defence, performance, field.
    let names = ["goal", "tutor", "variance", "speed", "drink", "defence", "performance", "field"];
    let sport = ["10001111", "00101100", "01010110", "10010101", "10001011", "00110011"];
    let informatics = ["01100010", "11010011", "01100100", "00000000", "00101010"];
    let document = |bits: &&str| -> String {
        bits.bytes().zip(names).filter(|(bit, _)| *bit == b'1').map(|(_, name)| name).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = sport.iter().chain(&informatics).map(document).collect();
    let classes: Vec<u32> = (0..11).map(|i| u32::from(i >= 6)).collect();
    let learn = |select| {
        let settings = TextOptions { min_document_frequency: Frequency::Rows(1), select, ..counting() };
        TextEncoder::learn(&some(&texts), settings, Some((&classes, 2)), &Run::new()).unwrap().0
    };
    let all = learn(8);
    let expected = [0.0499, 0.1038, 0.0359, 0.0499, 0.0499, 0.1144, 0.0024, 0.1144];
    for (name, expected) in names.iter().zip(expected) {
        let found = all.selected().iter().find(|(word, _)| word == name).unwrap().1;
        assert!((found - expected).abs() < 5e-5, "{name}: {found}");
    }
    let best = learn(3);
    let words: Vec<&str> = best.selected().iter().map(|(word, _)| *word).collect();
    assert_eq!(words, ["defence", "field", "tutor"]);
    assert_eq!(best.vocabulary(), ["defence", "field", "tutor"]);
    // Without classes there is nothing to tell apart.
    let settings = TextOptions { select: 3, ..TextOptions::default() };
    let error = TextEncoder::learn(&some(&texts), settings, None, &Run::new()).unwrap_err();
    assert_eq!(error.to_string(), "setting 'select' needs classes to tell apart");
}

#[test]
fn rare_words_weigh_more_and_rows_have_length_one() {
    let texts = [Some("a a b"), Some("a c"), Some("b a"), None];
    let settings = TextOptions { min_document_frequency: Frequency::Rows(1), ..TextOptions::default() };
    let (_, rows) = TextEncoder::learn(&texts, settings, None, &Run::new()).unwrap();
    // n = 4 rows, of which 3 have a, 2 have b and 1 has c.
    let idf = |with: f64| 1.0 + (5.0f64 / (1.0 + with)).ln();
    let (a, b) = (2.0 * idf(3.0), idf(2.0));
    let length = a.hypot(b);
    let found = rows.row(0).1;
    assert!((found[0] - a / length).abs() < 1e-15 && (found[1] - b / length).abs() < 1e-15);
    assert_eq!(rows.row(3).1, [0.0; 0]);
}

#[test]
fn words_are_kept_by_share_number_and_frequency() {
    let texts = [Some("a a a b"), Some("a c"), Some("b a d d"), Some("a d")];
    let learn = |settings: TextOptions| TextEncoder::learn(&texts, settings, None, &Run::new()).unwrap().0.vocabulary;
    assert_eq!(
        learn(TextOptions { max_document_frequency: Frequency::Share(0.5), ..TextOptions::default() }),
        ["b", "d"]
    );
    assert_eq!(learn(TextOptions { min_document_frequency: Frequency::Share(0.6), ..TextOptions::default() }), ["a"]);
    assert_eq!(learn(TextOptions { words: 2, ..TextOptions::default() }), ["a", "d"]);
    assert_eq!(learn(TextOptions { min_document_frequency: Frequency::Rows(9), ..TextOptions::default() }), [""; 0]);
}

#[test]
fn hashed_words_need_no_vocabulary() {
    let texts = [Some("one two two"), Some("three")];
    let settings = TextOptions { hash: 1 << 10, ..counting() };
    let (encoder, rows) = TextEncoder::learn(&texts, settings, None, &Run::new()).unwrap();
    assert_eq!((encoder.width(), rows.columns(), encoder.vocabulary().len()), (1024, 1024, 0));
    let mut sizes: Vec<f64> = rows.row(0).1.iter().map(|x| x.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    assert_eq!(sizes, [1.0, 2.0]);
    // Words that were never seen have a place too.
    assert_eq!(encoder.encode(&[Some("four")], &Run::new()).unwrap().stored(), 1);
}

#[test]
fn runs_of_letters_end_with_the_text_whatever_the_settings_say() {
    for (analyzer, longest) in [(Analyzer::Letters, "a bc"), (Analyzer::LettersInWords, " bc ")] {
        let settings =
            TextOptions { analyzer, ngrams: (1, usize::MAX), min_document_frequency: Frequency::Rows(1), ..counting() };
        let (encoder, _) = TextEncoder::learn(&[Some("a bc")], settings, None, &Run::new()).unwrap();
        assert!(encoder.vocabulary().iter().any(|word| word == longest), "{:?}", encoder.vocabulary());
    }
}
