//! Kernel rows that were computed, as many as fit into a number of bytes. What was used longest ago makes room.

use crate::matrix::simd::Lane;
use crate::run::Run;

/// No row, or no place.
const NONE: u32 = u32::MAX;

/// Kernel rows of a fixed length in places of one large array.
pub(super) struct Cache<T> {
    /// How far apart places are, and how long rows are.
    stride: usize,
    length: usize,
    capacity: usize,
    values: Vec<T>,
    /// The place of each row.
    place_of: Vec<u32>,
    /// The row in each place, and when it was last wanted.
    held: Vec<(u32, u64)>,
    clock: u64,
}

impl<T: Lane> Cache<T> {
    /// Places for rows of this length: as many as `bytes` allow, at least `least`, at most one a row.
    pub(super) fn new(length: usize, bytes: usize, least: usize) -> Cache<T> {
        let fit = bytes / (length * size_of::<T>()).max(1);
        let capacity = fit.max(least).min(length);
        Cache {
            stride: length,
            length,
            capacity,
            values: vec![T::ZERO; capacity * length],
            place_of: vec![NONE; length],
            held: Vec::new(),
            clock: 0,
        }
    }

    /// Makes sure that there is a place for each of these rows, and says which of them have yet to be computed.
    /// There must be no more of them than places.
    pub(super) fn want(&mut self, rows: &[usize]) -> Vec<usize> {
        self.clock += 1;
        let mut missing = Vec::new();
        for &row in rows {
            match self.place_of[row] {
                NONE => missing.push(row),
                place => self.held[place as usize].1 = self.clock,
            }
        }
        let room = self.capacity - self.held.len();
        let mut free: Vec<u32> = Vec::new();
        if missing.len() > room {
            let mut old: Vec<(u64, u32)> = (0u32..).zip(&self.held).map(|(place, (_, when))| (*when, place)).collect();
            old.sort_unstable();
            free.extend(old.iter().take(missing.len() - room).map(|(_, place)| *place));
        }
        for &row in &missing {
            let place = match free.pop() {
                Some(place) => {
                    self.place_of[self.held[place as usize].0 as usize] = NONE;
                    place
                }
                None => {
                    self.held.push((NONE, 0));
                    self.held.len() as u32 - 1
                }
            };
            self.held[place as usize] = (row as u32, self.clock);
            self.place_of[row] = place;
        }
        missing
    }

    /// The places of some rows, to be written, in the order of the rows.
    pub(super) fn places_of(&mut self, rows: &[usize]) -> Vec<&mut [T]> {
        let mut wanted: Vec<(u32, usize)> = rows.iter().enumerate().map(|(k, &row)| (self.place_of[row], k)).collect();
        wanted.sort_unstable();
        let mut slices: Vec<(usize, &mut [T])> = Vec::with_capacity(rows.len());
        let (mut rest, mut passed) = (&mut self.values[..], 0);
        for (place, k) in wanted {
            let (_, from) = rest.split_at_mut((place as usize - passed) * self.stride);
            let (slice, after) = from.split_at_mut(self.stride);
            slices.push((k, &mut slice[..self.length]));
            (rest, passed) = (after, place as usize + 1);
        }
        slices.sort_unstable_by_key(|(k, _)| *k);
        slices.into_iter().map(|(_, slice)| slice).collect()
    }

    /// A row that is there.
    pub(super) fn row(&self, row: usize) -> &[T] {
        let start = self.place_of[row] as usize * self.stride;
        &self.values[start..start + self.length]
    }

    /// Keeps some of the rows and of the columns (both in order), and numbers both anew.
    pub(super) fn compact(&mut self, keep: &[usize], run: &Run) {
        let mut held: Vec<(usize, usize)> =
            (0..).zip(keep).filter(|(_, old)| self.place_of[**old] != NONE).map(|(new, old)| (new, *old)).collect();
        let rows: Vec<usize> = held.iter().map(|(_, old)| *old).collect();
        let mut places = self.places_of(&rows);
        // What is kept moves to the front of its own place.
        run.each(&mut places, |_, row| {
            for (to, &from) in keep.iter().enumerate() {
                row[to] = row[from];
            }
        });
        held.sort_unstable_by_key(|(_, old)| self.place_of[*old]);
        let tight = 2 * keep.len() < self.stride;
        let mut place_of = vec![NONE; keep.len()];
        let mut kept: Vec<(u32, u64)> = Vec::new();
        for (new, old) in held {
            let place = self.place_of[old] as usize;
            let from = place * self.stride;
            let to = kept.len() * if tight { keep.len() } else { self.stride };
            self.values.copy_within(from..from + keep.len(), to);
            place_of[new] = kept.len() as u32;
            kept.push((new as u32, self.held[place].1));
        }
        if tight {
            self.stride = keep.len();
        }
        (self.length, self.place_of, self.held) = (keep.len(), place_of, kept);
        self.capacity = (self.values.len() / self.stride.max(1)).min(keep.len());
    }
}
