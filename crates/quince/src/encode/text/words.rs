//! Word numbering: the first word is number 0, the next new one number 1, and so on.

use crate::encode::hash::hash;
use crate::error::{Error, Result};

/// Words one after another, each with its number, found by an open-addressing hash table.
#[derive(Default)]
pub(super) struct WordNumbers {
    text: Vec<u8>,
    ends: Vec<u32>,
    /// Numbers of words by their hash; `FREE_SLOT` where a slot is free. Its length is a power of two.
    table: Vec<u32>,
    /// Whether there were too many words, and some have no number.
    overfull: bool,
}

/// Numbers stay below this, so that those of all shards have a bit to spare.
const MAX_WORDS: usize = 1 << 28;
const FREE_SLOT: u32 = u32::MAX;

impl WordNumbers {
    /// The number of words.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Forgets all words.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.table.fill(FREE_SLOT);
    }

    pub(super) fn word(&self, id: usize) -> &[u8] {
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.text[start as usize..self.ends[id] as usize]
    }

    /// An error if there were too many words to number.
    pub(super) fn check(&self) -> Result<()> {
        if self.overfull {
            let remedy = "Give hash=1048576, which keeps no list of words.";
            return Err(Error::setting("text", "has too many different words to list (4 GB, or 268 million)", remedy));
        }
        Ok(())
    }

    /// The number of a word, a new one if it has none.
    pub(super) fn number(&mut self, word: &[u8]) -> usize {
        if 3 * (self.count() + 1) > 2 * self.table.len() {
            self.grow();
        }
        let place = self.place(word);
        if self.table[place] == FREE_SLOT {
            self.overfull |= self.text.len() + word.len() > u32::MAX as usize || self.count() == MAX_WORDS;
            if self.overfull {
                return 0;
            }
            self.table[place] = self.count() as u32;
            self.text.extend_from_slice(word);
            self.ends.push(self.text.len() as u32);
        }
        self.table[place] as usize
    }

    /// The number of a word, if it has one.
    pub(super) fn find(&self, word: &[u8]) -> Option<usize> {
        if self.table.is_empty() {
            return None;
        }
        Some(self.table[self.place(word)]).filter(|&id| id != FREE_SLOT).map(|id| id as usize)
    }

    /// Where in the table a word is, or would be.
    fn place(&self, word: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut place = hash(word) as usize & mask;
        while self.table[place] != FREE_SLOT && self.word(self.table[place] as usize) != word {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let size = (2 * self.table.len()).max(64);
        // Freed before the new one is allocated.
        self.table = Vec::new();
        self.table = vec![FREE_SLOT; size];
        for id in 0..self.count() {
            let place = self.place(self.word(id));
            self.table[place] = id as u32;
        }
    }
}

/// Words sharded by their hash, so that threads fill shards in parallel. A word's number is its number in its shard times
/// `SHARDS`, plus its shard.
#[derive(Default)]
pub(super) struct ShardedWords(pub(super) [WordNumbers; SHARDS]);

pub(super) const SHARDS: usize = 8;

impl ShardedWords {
    /// The shard of a word.
    pub(super) fn shard_of(word: &[u8]) -> u8 {
        (hash(word) >> 61) as u8
    }

    /// All numbers are below this; some may belong to no word.
    pub(super) fn bound(&self) -> usize {
        self.0.iter().map(WordNumbers::count).max().unwrap_or(0) * SHARDS
    }

    pub(super) fn word(&self, number: usize) -> &[u8] {
        self.0[number % SHARDS].word(number / SHARDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(list in prop::collection::vec("[ab]{0,9}", 0..300)) {
            let (mut words, mut slow) = (WordNumbers::default(), HashMap::new());
            prop_assert_eq!(words.find(b"a"), None);
            for word in &list {
                let next = slow.len();
                prop_assert_eq!(words.number(word.as_bytes()), *slow.entry(word.clone()).or_insert(next));
            }
            prop_assert_eq!(words.count(), slow.len());
            for (word, id) in slow {
                prop_assert_eq!(words.find(word.as_bytes()), Some(id));
                prop_assert_eq!(words.word(id), word.as_bytes());
            }
        }
    }
}
