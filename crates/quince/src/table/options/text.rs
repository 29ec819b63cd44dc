//! Encoding options of a column of texts.

use super::unknown;
use crate::error::{Error, Result, did_you_mean};
use crate::table::Kind;
use serde::{Deserialize, Serialize};

/// How texts become numbers: tokenization, vocabulary, and weights of counts.
///
/// On the command line these are the settings of `--text`, for example `--text subject=counts,stem=english,ngrams=1-2`. Files of
/// models keep the names that settings had when their format was frozen.
///
/// ```
/// use quince::Kind;
/// use quince::table::{ColumnOptions, Frequency};
/// let ColumnOptions::Text(options) = ColumnOptions::parse(Kind::Text, "sublinear,min-df=5,ngrams=1-2")? else { panic!() };
/// assert!(options.sublinear && options.min_document_frequency == Frequency::Rows(5) && options.ngrams == (1, 2));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct TextOptions {
    /// What is counted.
    #[serde(rename = "cut", alias = "analyzer")]
    pub analyzer: Analyzer,
    /// The least and the largest n of n-grams.
    pub ngrams: (usize, usize),
    /// Whether upper and lower case are the same.
    #[serde(rename = "lower", alias = "lowercase")]
    pub lowercase: bool,
    /// Whether accents are removed: `é` counts as `e` (`accents=no`).
    #[serde(rename = "plain", alias = "strip_accents")]
    pub strip_accents: bool,
    /// Stop words, which are left out.
    #[serde(rename = "stop", alias = "stop_words")]
    pub stop_words: StopWords,
    /// Words are reduced to their stems by the rules of a language.
    pub stem: Option<Language>,
    /// The least document frequency: words in fewer rows are left out (`min-df`).
    #[serde(rename = "least", alias = "min_document_frequency")]
    pub min_document_frequency: Frequency,
    /// The largest document frequency: words in more rows are left out (`max-df`).
    #[serde(rename = "most", alias = "max_document_frequency")]
    pub max_document_frequency: Frequency,
    /// The largest size of the vocabulary: the most frequent words are kept.
    pub words: usize,
    /// The number of words that are kept by feature selection; 0 keeps all.
    pub select: usize,
    /// The score that words are selected by.
    #[serde(rename = "by", alias = "score")]
    pub score: FeatureScore,
    /// How counts are weighted.
    #[serde(rename = "weigh", alias = "weighting")]
    pub weighting: TermWeighting,
    /// Sublinear term frequency: whether 1 + ln(count) stands for a count.
    #[serde(rename = "damp", alias = "sublinear")]
    pub sublinear: bool,
    /// Feature hashing: words go to this many places by their hash. 0 keeps a vocabulary instead.
    pub hash: usize,
    /// With `hash`: half of the words count -1, so that words that collide cancel out on average.
    pub signed: bool,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            analyzer: Analyzer::Words,
            ngrams: (1, 1),
            lowercase: true,
            strip_accents: false,
            stop_words: StopWords::None,
            stem: None,
            min_document_frequency: Frequency::Rows(2),
            max_document_frequency: Frequency::Share(1.0),
            words: 50_000,
            select: 0,
            score: FeatureScore::MutualInformation,
            weighting: TermWeighting::Tfidf,
            sublinear: false,
            hash: 0,
            signed: true,
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Analyzer {
    /// Words, by Unicode's rule (UAX 29).
    Words,
    /// Runs of two or more letters, digits and underscores, as scikit-learn has it.
    Runs,
    /// Characters, wherever they stand.
    Letters,
    /// Characters of one word at a time, with a space before and after it.
    LettersInWords,
}

/// How counts are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TermWeighting {
    /// The number of times a word occurs.
    Counts,
    /// 1 if it occurs.
    Presence,
    /// Rare words weigh more: count · (1 + ln((1 + rows) / (1 + rows with the word))), each row scaled to length 1.
    Tfidf,
}

/// The score of feature selection: how well a word tells classes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FeatureScore {
    /// The mutual information of the presence of a word and the class, in nats.
    MutualInformation,
    /// The chi-squared statistic of counts and classes.
    ChiSquared,
}

/// Stop words, which are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopWords {
    /// None.
    #[default]
    None,
    /// The usual ones of a language.
    Language(Language),
    /// These.
    List(Vec<String>),
}

/// How frequent: a number of rows, or a share of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frequency {
    /// A number of rows.
    Rows(usize),
    /// A share of all rows, from 0 to 1.
    Share(f64),
}

impl Frequency {
    /// The number of rows that this is of all `rows`.
    pub(crate) fn of(self, rows: usize) -> f64 {
        match self {
            Frequency::Rows(count) => count as f64,
            Frequency::Share(share) => share * rows as f64,
        }
    }

    pub(crate) fn parse(name: &str, text: &str) -> Result<Frequency> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok()).map(|x| x / 100.0);
        if let (None, Ok(rows)) = (percent, text.parse()) {
            return Ok(Frequency::Rows(rows));
        }
        let share = percent.or_else(|| text.parse().ok()).filter(|share| (0.0..=1.0).contains(share));
        share.map(Frequency::Share).ok_or_else(|| {
            Error::setting(name, format!("cannot be {text}"), "Give a number of rows, or a share such as 0.5 or 50%.")
        })
    }
}

/// A language whose words we know something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Language {
    Arabic,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 18] = [
        Language::Arabic,
        Language::Danish,
        Language::Dutch,
        Language::English,
        Language::Finnish,
        Language::French,
        Language::German,
        Language::Greek,
        Language::Hungarian,
        Language::Italian,
        Language::Norwegian,
        Language::Portuguese,
        Language::Romanian,
        Language::Russian,
        Language::Spanish,
        Language::Swedish,
        Language::Tamil,
        Language::Turkish,
    ];

    /// The language's name in lower case.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The language with this name.
    pub fn from_name(name: &str) -> Result<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name.to_lowercase()).ok_or_else(|| {
            let names: Vec<String> = Language::ALL.iter().map(|language| language.name()).collect();
            Error::Unknown {
                what: "language",
                name: name.to_string(),
                remedy: did_you_mean(name, "languages", names.iter().map(String::as_str)),
            }
        })
    }
}

impl TextOptions {
    /// Changes one setting, as a person writes it. A setting that is a choice may be given by its value alone: `tfidf`. Names that
    /// settings once had (`damp`, `lower`, `least`, `most`, `by`) are still read.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let wrong = |remedy: &str| Error::setting(name, format!("cannot be {value}"), remedy);
        let number = |least: usize| {
            value.parse::<usize>().ok().filter(|&number| number >= least).ok_or_else(|| {
                Error::setting(name, format!("cannot be {value}"), format!("Give a whole number from {least} on."))
            })
        };
        let answer = || match value {
            "" | "yes" | "true" | "on" => Ok(true),
            "no" | "false" | "off" => Ok(false),
            _ => Err(wrong("Give yes or no.")),
        };
        match (name, value) {
            ("words", "") => self.analyzer = Analyzer::Words,
            ("runs", "") => self.analyzer = Analyzer::Runs,
            ("letters", "") => self.analyzer = Analyzer::Letters,
            ("letters-in-words", "") => self.analyzer = Analyzer::LettersInWords,
            ("counts", "") => self.weighting = TermWeighting::Counts,
            ("presence", "") => self.weighting = TermWeighting::Presence,
            ("tfidf", "") => self.weighting = TermWeighting::Tfidf,
            ("sublinear" | "damp", _) => self.sublinear = answer()?,
            ("lowercase" | "lower", _) => self.lowercase = answer()?,
            ("accents", _) => self.strip_accents = !answer()?,
            ("ngrams", _) => {
                let bounds = value.split_once('-').unwrap_or((value, value));
                let (from, to) = (bounds.0.parse().unwrap_or(0), bounds.1.parse().unwrap_or(0));
                if from == 0 || to < from || to > 20 {
                    return Err(wrong("Give numbers from 1 to 20, for example 2 or 1-2."));
                }
                self.ngrams = (from, to);
            }
            ("stop", "none") => self.stop_words = StopWords::None,
            ("stop", _) => self.stop_words = StopWords::Language(Language::from_name(value)?),
            ("stem", "none") => self.stem = None,
            ("stem", _) => self.stem = Some(Language::from_name(value)?),
            ("min-df" | "least", _) => self.min_document_frequency = Frequency::parse(name, value)?,
            ("max-df" | "most", _) => self.max_document_frequency = Frequency::parse(name, value)?,
            ("words", _) => self.words = number(1)?,
            ("select", _) => self.select = number(0)?,
            ("score" | "by", "mutual-information") => self.score = FeatureScore::MutualInformation,
            ("score" | "by", "chi-squared") => self.score = FeatureScore::ChiSquared,
            ("score" | "by", _) => return Err(wrong("Give mutual-information or chi-squared.")),
            ("hash", _) => self.hash = number(0)?,
            _ => return Err(unknown(name, Kind::Text)),
        }
        Ok(())
    }

    /// Settings that shut each other out.
    pub(crate) fn check_together(&self) -> Result<()> {
        let letters = matches!(self.analyzer, Analyzer::Letters | Analyzer::LettersInWords);
        let clash = match (self.stem, &self.stop_words) {
            (Some(_), _) if letters => "stem",
            (_, StopWords::Language(_) | StopWords::List(_)) if letters => "stop",
            _ => return self.check(),
        };
        Err(Error::setting(clash, "is for words, and letters are counted", "Leave one of them out."))
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.hash > 0 && self.select > 0 {
            return Err(Error::setting(
                "select",
                "goes with a vocabulary, and hash has none",
                "Leave one of them out.",
            ));
        }
        if self.hash > 1 << 24 {
            return Err(Error::setting("hash", format!("cannot be {}", self.hash), "Give at most 16777216 places."));
        }
        if self.words == 0 {
            return Err(Error::setting("words", "cannot be 0", "Keep one word at least."));
        }
        if self.ngrams.0 == 0 || self.ngrams.1 < self.ngrams.0 {
            return Err(Error::setting("ngrams", "must be of one token at least, and rise", "For example 1-2."));
        }
        Ok(())
    }
}

/// What [`TextOptions::set`] knows.
pub(crate) const NAMES: [&str; 18] = [
    "words",
    "runs",
    "letters",
    "letters-in-words",
    "counts",
    "presence",
    "tfidf",
    "sublinear",
    "lowercase",
    "accents",
    "ngrams",
    "stop",
    "stem",
    "min-df",
    "max-df",
    "select",
    "score",
    "hash",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &str) -> TextOptions {
        let mut options = TextOptions::default();
        for setting in settings.split(',') {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            options.set(name, value).unwrap();
        }
        options
    }

    #[test]
    fn names_that_settings_once_had_are_read_and_files_keep_them() {
        let now = read("sublinear,lowercase=no,min-df=3,max-df=50%,score=chi-squared,select=9");
        assert_eq!(now, read("damp,lower=no,least=3,most=50%,by=chi-squared,select=9"));
        let frozen = serde_json::json!({
            "cut": "words", "ngrams": [1, 1], "lower": false, "plain": false, "stop": "none", "stem": null,
            "least": {"rows": 3}, "most": {"share": 0.5}, "words": 50_000, "select": 9, "by": "chi-squared",
            "weigh": "tfidf", "damp": true, "hash": 0, "signed": true,
        });
        assert_eq!(serde_json::to_value(&now).unwrap(), frozen);
        assert_eq!(serde_json::from_value::<TextOptions>(frozen).unwrap(), now);
        let by_field = serde_json::json!({
            "sublinear": true, "lowercase": false, "min_document_frequency": {"rows": 3}, "select": 9,
            "max_document_frequency": {"share": 0.5}, "score": "chi-squared",
        });
        assert_eq!(serde_json::from_value::<TextOptions>(by_field).unwrap(), now);
    }
}
