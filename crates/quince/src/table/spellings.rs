//! How the numbers of a column are written, where few differ: as labels they come back as they were spelled.

use crate::numbers::number_text;
use std::collections::HashMap;

/// With more different numbers than this a column keeps no spellings: it is hardly one of labels.
pub(super) const MAX_SPELLINGS: usize = 256;

/// The text that each number of a column first had.
#[derive(Clone, Debug)]
pub(crate) struct Spellings(HashMap<u64, String>);

impl Spellings {
    /// The texts in the rows in which numbers first appear; `None` if all are what the numbers print as.
    pub(super) fn new<S: Into<String>>(first: impl IntoIterator<Item = (f64, S)>) -> Option<Spellings> {
        let mut texts = HashMap::new();
        for (number, text) in first {
            texts.entry(key(number)).or_insert_with(|| text.into());
        }
        let plain = texts.iter().all(|(bits, text)| number_text(f64::from_bits(*bits)) == *text);
        (!plain).then_some(Spellings(texts))
    }

    /// The same of all cells of a column; not-a-number is a missing value.
    pub(super) fn of_cells<'a>(numbers: &[f64], text: impl Fn(usize) -> &'a str) -> Option<Spellings> {
        Spellings::new(first_rows(numbers)?.into_iter().map(|row| (numbers[row], text(row))))
    }

    /// How this number was first written.
    pub(super) fn get(&self, number: f64) -> Option<&str> {
        self.0.get(&key(number)).map(String::as_str)
    }
}

/// The spellings of a column that is read cell by cell.
#[derive(Default)]
pub(super) struct SpellingsBuilder {
    texts: HashMap<u64, String>,
    too_many: bool,
}

impl SpellingsBuilder {
    /// Notes how a number is written; not-a-number is a missing value.
    pub(super) fn note(&mut self, number: f64, text: &str) {
        if self.too_many || number.is_nan() || self.texts.contains_key(&key(number)) {
            return;
        }
        self.too_many = self.texts.len() == MAX_SPELLINGS;
        self.texts.insert(key(number), text.into());
    }

    /// The texts, if few differ and not all are what the numbers print as.
    pub(super) fn finish(self) -> Option<Spellings> {
        let texts = self.texts.into_iter().map(|(bits, text)| (f64::from_bits(bits), text));
        if self.too_many { None } else { Spellings::new(texts) }
    }
}

/// The same bits for the same number: zero has two signs.
fn key(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

/// The row in which each number first appears, if few differ; not-a-number is a missing value.
pub(super) fn first_rows(numbers: &[f64]) -> Option<Vec<usize>> {
    let mut known: Vec<u64> = Vec::new();
    let mut rows = Vec::new();
    for (row, &number) in numbers.iter().enumerate().filter(|(_, number)| !number.is_nan()) {
        if let Err(place) = known.binary_search(&key(number)) {
            if known.len() == MAX_SPELLINGS {
                return None;
            }
            known.insert(place, key(number));
            rows.push(row);
        }
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_text_of_a_number_counts_and_zero_has_one_sign() {
        let numbers = [1.0, f64::NAN, 1.0, -0.0, 0.0];
        let texts = ["1.0", "", "1", "-0", "0.0"];
        assert_eq!(first_rows(&numbers), Some(vec![0, 3]));
        let found = Spellings::of_cells(&numbers, |row| texts[row]).unwrap();
        assert_eq!([1.0, 0.0, 2.0].map(|number| found.get(number)), [Some("1.0"), Some("-0"), None]);
        assert!(Spellings::of_cells(&[1.0, 2.5], |row| ["1", "2.5"][row]).is_none());
    }

    #[test]
    fn cells_may_come_one_by_one() {
        let noted = |count: usize| {
            let mut builder = SpellingsBuilder::default();
            for i in 0..count {
                builder.note(i as f64, &format!("{i}.0"));
                builder.note(i as f64, "another");
                builder.note(f64::NAN, "");
            }
            builder.finish()
        };
        assert_eq!(noted(2).unwrap().get(1.0), Some("1.0"));
        assert!(noted(MAX_SPELLINGS).is_some() && noted(MAX_SPELLINGS + 1).is_none() && noted(0).is_none());
    }

    #[test]
    fn a_column_of_measurements_keeps_none() {
        let numbers: Vec<f64> = (0..=MAX_SPELLINGS).map(|i| i as f64).collect();
        assert!(first_rows(&numbers).is_none());
        assert_eq!(first_rows(&numbers[1..]).unwrap().len(), MAX_SPELLINGS);
    }
}
