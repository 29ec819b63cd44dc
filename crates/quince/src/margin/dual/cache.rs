//! A cache of kernel rows, as many as fit into a number of bytes. The least recently used are evicted.

use crate::error::Result;
use crate::matrix::simd::Lane;
use crate::run::Run;

/// After moving this many numbers the run is asked whether it is cancelled.
const NUMBERS_PER_LOOK: usize = 1 << 24;

/// No row, or no slot.
const NO_SLOT: u32 = u32::MAX;

/// Kernel rows of a fixed length in slots of one large array.
pub(super) struct Cache<T> {
    /// The distance between slots.
    stride: usize,
    /// The length of rows.
    length: usize,
    capacity: usize,
    values: Vec<T>,
    /// The slot of each row.
    slot_of: Vec<u32>,
    /// The row in each slot, and when it was last used.
    occupied: Vec<(u32, u64)>,
    clock: u64,
}

impl<T: Lane> Cache<T> {
    /// Slots for rows of this length: as many as `bytes` allow, at least `least`, at most one per row.
    pub(super) fn new(length: usize, bytes: usize, least: usize) -> Cache<T> {
        let fit = bytes / (length * size_of::<T>()).max(1);
        let capacity = fit.max(least).min(length);
        Cache {
            stride: length,
            length,
            capacity,
            values: vec![T::ZERO; capacity * length],
            slot_of: vec![NO_SLOT; length],
            occupied: Vec::new(),
            clock: 0,
        }
    }

    /// Makes sure that each of these rows has a slot, and returns which of them are still to be computed.
    /// There must be no more rows than slots.
    pub(super) fn reserve(&mut self, rows: &[usize]) -> Vec<usize> {
        self.clock += 1;
        let mut missing = Vec::new();
        for &row in rows {
            match self.slot_of[row] {
                NO_SLOT => missing.push(row),
                slot => self.occupied[slot as usize].1 = self.clock,
            }
        }
        let room = self.capacity - self.occupied.len();
        let mut free: Vec<u32> = Vec::new();
        if missing.len() > room {
            let mut old: Vec<(u64, u32)> =
                (0u32..).zip(&self.occupied).map(|(slot, (_, when))| (*when, slot)).collect();
            old.sort_unstable();
            free.extend(old.iter().take(missing.len() - room).map(|(_, slot)| *slot));
        }
        for &row in &missing {
            let slot = match free.pop() {
                Some(slot) => {
                    self.slot_of[self.occupied[slot as usize].0 as usize] = NO_SLOT;
                    slot
                }
                None => {
                    self.occupied.push((NO_SLOT, 0));
                    self.occupied.len() as u32 - 1
                }
            };
            self.occupied[slot as usize] = (row as u32, self.clock);
            self.slot_of[row] = slot;
        }
        missing
    }

    /// The slots of some rows, to be written, in the order of the rows.
    pub(super) fn slots_mut(&mut self, rows: &[usize]) -> Vec<&mut [T]> {
        let mut requested: Vec<(u32, usize)> =
            rows.iter().enumerate().map(|(k, &row)| (self.slot_of[row], k)).collect();
        requested.sort_unstable();
        let mut slices: Vec<(usize, &mut [T])> = Vec::with_capacity(rows.len());
        let (mut rest, mut passed) = (&mut self.values[..], 0);
        for (slot, k) in requested {
            let (_, from) = rest.split_at_mut((slot as usize - passed) * self.stride);
            let (slice, after) = from.split_at_mut(self.stride);
            slices.push((k, &mut slice[..self.length]));
            (rest, passed) = (after, slot as usize + 1);
        }
        slices.sort_unstable_by_key(|(k, _)| *k);
        slices.into_iter().map(|(_, slice)| slice).collect()
    }

    /// A cached row.
    pub(super) fn row(&self, row: usize) -> &[T] {
        let start = self.slot_of[row] as usize * self.stride;
        &self.values[start..start + self.length]
    }

    /// Keeps some of the rows and of the columns (both in order), and renumbers both.
    pub(super) fn compact(&mut self, keep: &[usize], run: &Run) -> Result<()> {
        let mut occupied: Vec<(usize, usize)> =
            (0..).zip(keep).filter(|(_, old)| self.slot_of[**old] != NO_SLOT).map(|(new, old)| (new, *old)).collect();
        let rows: Vec<usize> = occupied.iter().map(|(_, old)| *old).collect();
        let mut slots = self.slots_mut(&rows);
        let rows_per_look = (NUMBERS_PER_LOOK / keep.len().max(1)).max(1);
        for some in slots.chunks_mut(rows_per_look) {
            run.check_cancelled()?;
            // What is kept moves to the front of its own slot.
            run.each(some, |_, row| {
                for (to, &from) in keep.iter().enumerate() {
                    row[to] = row[from];
                }
            });
        }
        occupied.sort_unstable_by_key(|(_, old)| self.slot_of[*old]);
        let tight = 2 * keep.len() < self.stride;
        let mut slot_of = vec![NO_SLOT; keep.len()];
        let mut kept: Vec<(u32, u64)> = Vec::new();
        for (new, old) in occupied {
            if kept.len().is_multiple_of(rows_per_look) {
                run.check_cancelled()?;
            }
            let slot = self.slot_of[old] as usize;
            let from = slot * self.stride;
            let to = kept.len() * if tight { keep.len() } else { self.stride };
            self.values.copy_within(from..from + keep.len(), to);
            slot_of[new] = kept.len() as u32;
            kept.push((new as u32, self.occupied[slot].1));
        }
        if tight {
            self.stride = keep.len();
        }
        (self.length, self.slot_of, self.occupied) = (keep.len(), slot_of, kept);
        self.capacity = (self.values.len() / self.stride.max(1)).min(keep.len());
        Ok(())
    }
}
