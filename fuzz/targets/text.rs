//! Counting words of any texts, one a line. The first eight bytes are the settings.
#![no_main]

use quince::table::{Analyzer, FeatureScore, Frequency, Language, StopWords, TextOptions, TermWeighting};
use libfuzzer_sys::fuzz_target;
use quince::encode::TextEncoder;
use quince_fuzz::{check_error, run, seeds, take};

const SEEDS: [&str; 3] = [
    "A good film, and a bad film.\nDon't go; it's 3.14 too long_ish!\n\n?\n",
    "Das Äußere zählt nicht. Straße\nL'été où ça commença\nİstanbul ΣΊΣΥΦΟΣ\n",
    "東京 мир добрый день العربية தமிழ் 👩\u{200d}👩\u{200d}👧 e\u{301}\n\u{feff}\u{0}\n",
];

fn one_of<T: Clone>(choices: &[T], byte: u8) -> T {
    choices[usize::from(byte) % choices.len()].clone()
}

/// Settings by eight bytes.
fn settings(input: &mut &[u8]) -> TextOptions {
    let flags = take(input);
    let (cut, amounts, language, ngrams) = (take(input), take(input), take(input), take(input));
    let (stop, kept, weigh) = (take(input), take(input), take(input));
    let language = one_of(&Language::ALL, language);
    let all = [Frequency::Rows(0), Frequency::Rows(1), Frequency::Rows(2), Frequency::Share(0.5), Frequency::Share(1.0)];
    TextOptions {
        lowercase: flags & 1 == 0,
        strip_accents: flags & 2 == 2,
        sublinear: flags & 4 == 4,
        signed: flags & 8 == 0,
        stem: (flags & 16 == 16).then_some(language),
        score: if flags & 32 == 0 { FeatureScore::MutualInformation } else { FeatureScore::ChiSquared },
        hash: if flags & 64 == 0 { 0 } else { usize::from(ngrams) },
        analyzer: one_of(&[Analyzer::Words, Analyzer::Runs, Analyzer::Letters, Analyzer::LettersInWords], cut),
        min_document_frequency: one_of(&all, amounts),
        max_document_frequency: one_of(&all, amounts >> 4),
        ngrams: (usize::from(ngrams & 15), one_of(&[1, 2, 5, 20, usize::MAX], ngrams >> 4)),
        stop_words: one_of(&[StopWords::None, StopWords::Language(language), StopWords::List(vec!["film".into(), String::new()])], stop),
        words: one_of(&[50_000, 1, 3, 0], kept),
        select: one_of(&[0, 0, 1, 5], kept >> 4),
        weighting: one_of(&[TermWeighting::Tfidf, TermWeighting::Counts, TermWeighting::Presence], weigh),
    }
}

fuzz_target!(
    init: {
        let heads = [[0, 0, 0x41, 3, 0x01, 0, 0, 0], [0x32, 1, 0x42, 0, 0x12, 1, 0x20, 0], [0x4f, 2, 0, 8, 0x21, 2, 0, 1]];
        seeds::plant(heads.iter().flat_map(|head| seeds::texts(head, &SEEDS)));
    },
    |input: &[u8]| {
        let mut rest = input;
        let settings = settings(&mut rest);
        let text = String::from_utf8_lossy(rest);
        let texts: Vec<Option<&str>> = text.split('\n').map(|line| (line != "?").then_some(line)).collect();
        let classes: Vec<u32> = texts.iter().map(|text| text.map_or(0, |text| text.len() as u32 % 3)).collect();
        match TextEncoder::learn(&texts, settings, Some((&classes, 3)), &run()) {
            Err(error) => check_error(&error),
            Ok((encoder, rows)) => {
                assert_eq!((rows.rows(), rows.columns()), (texts.len(), encoder.width()));
                assert!(encoder.vocabulary().windows(2).all(|pair| pair[0] < pair[1]), "words are not in order");
                // The same texts are counted the same way once the words are known.
                let again = encoder.encode(&texts, &run()).expect("what was learnt from can be encoded");
                for i in 0..texts.len() {
                    assert_eq!(rows.row(i), again.row(i));
                    assert!(rows.row(i).1.iter().all(|value| value.is_finite()));
                }
            }
        }
    }
);
