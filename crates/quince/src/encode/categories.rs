//! The categories of a column: its different values, each with a code.

use super::hash::hash;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;

/// The code of a cell that has none of the categories.
pub const UNKNOWN_CATEGORY: u32 = u32::MAX;

/// More would not be categories.
const MAX_CATEGORIES: usize = 1 << 28;

/// What a category can be: a text (`str`) or a number (`f64`), and nothing else.
pub trait Category: ToOwned + sealed::Sealed {
    /// A number that equal categories share, and others seldom.
    fn key(&self) -> u64;

    /// The order of categories.
    fn order(&self, other: &Self) -> Ordering;
}

mod sealed {
    /// What other crates cannot implement.
    pub trait Sealed {}

    impl Sealed for str {}

    impl Sealed for f64 {}
}

impl Category for str {
    #[inline]
    fn key(&self) -> u64 {
        hash(self.as_bytes())
    }

    fn order(&self, other: &str) -> Ordering {
        self.cmp(other)
    }
}

/// -0 is 0, and any NaN is the same one, which comes last.
impl Category for f64 {
    #[inline]
    fn key(&self) -> u64 {
        if self.is_nan() { f64::NAN.to_bits() } else { (self + 0.0).to_bits() }
    }

    fn order(&self, other: &f64) -> Ordering {
        f64::from_bits(self.key()).total_cmp(&f64::from_bits(other.key()))
    }
}

/// The categories of a column: its different values in order. The code of a category is its place.
///
/// They are learnt from the cells of a column of texts or numbers, and then are sorted; or they are given in an order.
///
/// ```
/// use quince::encode::Categories;
/// let cells = [Some("Oslo"), Some("Rome"), None, Some("Bern"), Some("Oslo")];
/// let (cities, rows) = Categories::<str>::learn(cells)?;
/// assert_eq!(cities.values(), ["Bern", "Oslo", "Rome"]);
/// assert_eq!(rows, [1, 2, 1]);
/// assert_eq!((cities.code("Rome"), cities.code("Paris")), (Some(2), None));
///
/// let sizes = Categories::<str>::in_order(["small", "large"].map(String::from))?;
/// assert_eq!(sizes.code("large"), Some(1));
/// # quince::Result::Ok(())
/// ```
pub struct Categories<T: Category + ?Sized> {
    values: Vec<T::Owned>,
    codes: CodeTable,
}

/// The codes of categories by their keys: a hash table with open addressing.
#[derive(Clone)]
struct CodeTable {
    /// Keys and codes, `UNKNOWN_CATEGORY` where a slot is free. Their number is a power of two, at least twice that of the codes.
    slots: Vec<(u64, u32)>,
}

impl CodeTable {
    fn new() -> CodeTable {
        CodeTable { slots: vec![(0, UNKNOWN_CATEGORY); 64] }
    }

    /// The slot with this key and a code that is meant, or the free slot where it would be.
    #[inline]
    fn slot(&self, key: u64, is_meant: impl Fn(u32) -> bool) -> usize {
        let (mask, bits) = (self.slots.len() - 1, self.slots.len().trailing_zeros());
        // The high bits of a product depend on all bits of the key: those of small whole numbers are all high.
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - bits)) as usize & mask;
        loop {
            let (other, code) = self.slots[slot];
            if code == UNKNOWN_CATEGORY || (other == key && is_meant(code)) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds a code that is not there yet, and makes room for the next.
    fn add(&mut self, key: u64, code: u32) {
        let slot = self.slot(key, |_| false);
        self.slots[slot] = (key, code);
        if 2 * (code as usize + 2) > self.slots.len() {
            let larger = CodeTable { slots: vec![(0, UNKNOWN_CATEGORY); 2 * self.slots.len()] };
            let former = std::mem::replace(self, larger);
            for (key, code) in former.slots.into_iter().filter(|(_, code)| *code != UNKNOWN_CATEGORY) {
                let slot = self.slot(key, |_| false);
                self.slots[slot] = (key, code);
            }
        }
    }
}

impl<T: Category + ?Sized> Categories<T> {
    /// No categories yet.
    pub fn new() -> Categories<T> {
        Categories { values: Vec::new(), codes: CodeTable::new() }
    }

    /// The categories of these cells, sorted, and the number of rows that have each. A missing value is no category.
    pub fn learn(cells: impl IntoIterator<Item = Option<impl Borrow<T>>>) -> Result<(Categories<T>, Vec<usize>)> {
        let mut found = Categories::new();
        let mut rows = Vec::new();
        for cell in cells.into_iter().flatten() {
            let code = found.add(cell.borrow())? as usize;
            rows.resize(rows.len().max(code + 1), 0);
            rows[code] += 1;
        }
        let former = found.sort();
        Ok((found, former.iter().map(|&code| rows[code as usize]).collect()))
    }

    /// These categories in this order; an error if one occurs twice.
    pub fn in_order(values: impl IntoIterator<Item = T::Owned>) -> Result<Categories<T>> {
        let mut categories = Categories::new();
        for (place, value) in values.into_iter().enumerate() {
            if categories.add(value.borrow())? as usize != place {
                return Err(Error::data(format!("category {} is there twice", place + 1), "Give every category once."));
            }
        }
        Ok(categories)
    }

    /// The code of a cell's category, which is added as the last one if it is new.
    pub fn add(&mut self, cell: &T) -> Result<u32> {
        if let Some(code) = self.code(cell) {
            return Ok(code);
        }
        if self.count() >= MAX_CATEGORIES {
            let remedy = "Leave the column out, or make fewer categories of it.";
            return Err(Error::data(format!("a column has more than {MAX_CATEGORIES} categories"), remedy));
        }
        let code = self.count() as u32;
        self.codes.add(cell.key(), code);
        self.values.push(cell.to_owned());
        Ok(code)
    }

    /// Sorts the categories: texts by their characters, numbers by their size. For each, the code that it had before.
    pub fn sort(&mut self) -> Vec<u32> {
        let mut former: Vec<u32> = (0..self.count() as u32).collect();
        former.sort_unstable_by(|&a, &b| self.value(a).order(self.value(b)));
        let mut code_of = vec![0; self.count()];
        for (code, &former) in former.iter().enumerate() {
            code_of[former as usize] = code as u32;
        }
        for (_, code) in self.codes.slots.iter_mut().filter(|(_, code)| *code != UNKNOWN_CATEGORY) {
            *code = code_of[*code as usize];
        }
        self.values = former.iter().map(|&code| self.value(code).to_owned()).collect();
        former
    }

    /// The number of categories.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The categories in their order.
    pub fn values(&self) -> &[T::Owned] {
        &self.values
    }

    /// The code of a cell's category, if it is known.
    pub fn code(&self, cell: &T) -> Option<u32> {
        let slot = self.codes.slot(cell.key(), |code| self.is(code, cell));
        Some(self.codes.slots[slot].1).filter(|&code| code != UNKNOWN_CATEGORY)
    }

    fn value(&self, code: u32) -> &T {
        self.values[code as usize].borrow()
    }

    fn is(&self, code: u32, cell: &T) -> bool {
        self.value(code).order(cell).is_eq()
    }
}

impl<T: Category + ?Sized> Default for Categories<T> {
    fn default() -> Categories<T> {
        Categories::new()
    }
}

impl<T: Category + ?Sized> Clone for Categories<T> {
    fn clone(&self) -> Categories<T> {
        let values = self.values.iter().map(|value| value.borrow().to_owned()).collect();
        Categories { values, codes: self.codes.clone() }
    }
}

impl<T: Category<Owned: PartialEq> + ?Sized> PartialEq for Categories<T> {
    fn eq(&self, other: &Categories<T>) -> bool {
        self.values == other.values
    }
}

impl<T: Category<Owned: fmt::Debug> + ?Sized> fmt::Debug for Categories<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Categories").field(&self.values).finish()
    }
}

/// As a list of the categories.
impl Serialize for Categories<str> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Categories<str> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Categories<str>, D::Error> {
        Categories::in_order(Vec::<String>::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Whole numbers, their neighbours, and any others.
    fn number() -> impl Strategy<Value = f64> {
        let any = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO | prop::num::f64::INFINITE;
        prop_oneof![(-9..9i32).prop_map(f64::from), (-9..9i32).prop_map(|x| f64::from(x).next_up()), any]
    }

    proptest! {
        #[test]
        fn categories_of_texts_are_those_of_a_sorted_map(cells in prop::collection::vec("[aé\u{1f600}]{0,3}", 0..200)) {
            let mut slow = BTreeMap::new();
            cells.iter().for_each(|cell| *slow.entry(cell.as_str()).or_insert(0) += 1);
            let (found, rows) = Categories::<str>::learn(cells.iter().map(|cell| Some(cell.as_str()))).unwrap();
            prop_assert!(found.values().iter().eq(slow.keys()));
            prop_assert!(rows.iter().eq(slow.values()));
            for (code, text) in slow.keys().enumerate() {
                prop_assert_eq!(found.code(text), Some(code as u32));
            }
            prop_assert_eq!(found.code("b"), None);
        }

        #[test]
        fn numbers_are_sorted_and_those_of_the_same_value_are_one_category(cells in prop::collection::vec(number(), 0..200)) {
            let (found, rows) = Categories::<f64>::learn(cells.iter().copied().map(Some)).unwrap();
            prop_assert!(found.values().windows(2).all(|pair| pair[0] < pair[1]));
            for (value, rows) in found.values().iter().zip(rows) {
                prop_assert_eq!(rows, cells.iter().filter(|cell| *cell == value).count());
            }
            prop_assert!(cells.iter().all(|cell| found.values()[found.code(cell).unwrap() as usize] == *cell));
        }
    }

    #[test]
    fn every_nan_is_the_last_category_and_minus_zero_is_zero() {
        let cells = [0.0, f64::NAN, -0.0, f64::INFINITY, -f64::NAN, -1.5];
        let (found, rows) = Categories::<f64>::learn(cells.map(Some)).unwrap();
        assert_eq!((found.values()[..3].to_vec(), rows), (vec![-1.5, 0.0, f64::INFINITY], vec![1, 2, 1, 2]));
        assert!(found.values()[3].is_nan());
        assert_eq!((found.code(&-0.0), found.code(&f64::NAN), found.code(&1.0)), (Some(1), Some(3), None));
    }

    #[test]
    fn a_category_that_is_given_twice_is_refused() {
        let given = ["b", "a", "b"].map(String::from);
        assert_eq!(Categories::<str>::in_order(given).unwrap_err().to_string(), "category 3 is there twice");
    }
}
