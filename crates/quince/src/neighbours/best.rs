//! The k nearest so far.

/// The k smallest (rank, row), kept in order: of equal ranks the smaller row number comes first.
pub(super) struct Best {
    k: usize,
    found: Vec<(f64, u32)>,
}

impl Best {
    pub(super) fn new(k: usize) -> Best {
        Best { k, found: Vec::with_capacity(k + 1) }
    }

    pub(super) fn clear(&mut self) {
        self.found.clear();
    }

    /// The number of neighbours kept.
    pub(super) fn capacity(&self) -> usize {
        self.k
    }

    /// Whether something of at least this rank and row number may still get in.
    #[inline(always)]
    pub(super) fn admits(&self, rank: f64, row: u32) -> bool {
        if self.found.len() < self.k {
            return true;
        }
        let (worst, last) = self.found[self.k - 1];
        rank < worst || (rank == worst && row < last)
    }

    /// The rank of the last of k, or infinity while there are fewer.
    #[inline(always)]
    pub(super) fn worst(&self) -> f64 {
        if self.found.len() < self.k { f64::INFINITY } else { self.found[self.k - 1].0 }
    }

    #[inline]
    pub(super) fn offer(&mut self, rank: f64, row: u32) {
        if !self.admits(rank, row) {
            return;
        }
        if self.found.len() == self.k {
            self.found.pop();
        }
        let mut place = self.found.len();
        if place > 32 {
            // Of many the place is looked up, and the rest moved at once.
            let place = self.found.partition_point(|found| *found < (rank, row));
            self.found.insert(place, (rank, row));
            return;
        }
        self.found.push((rank, row));
        while place > 0 && (rank, row) < self.found[place - 1] {
            self.found[place] = self.found[place - 1];
            place -= 1;
        }
        self.found[place] = (rank, row);
    }

    /// The nearest first.
    pub(super) fn found(&self) -> &[(f64, u32)] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_the_first_of_all_sorted(ranks in prop::collection::vec(0u8..9, 0..60), k in 1usize..9) {
            let mut best = Best::new(k);
            let mut all: Vec<(f64, u32)> = ranks.iter().enumerate().map(|(i, &r)| (f64::from(r), 99 - i as u32)).collect();
            all.iter().for_each(|&(rank, row)| best.offer(rank, row));
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            all.truncate(k);
            prop_assert_eq!(best.found(), &all[..]);
        }
    }
}
