//! An exact set of states that takes little memory.
//!
//! A bijection replaces the first word of a state with an address, and leaves the other words as they are (see
//! [`Bijection`]). The set is a hash table in which the place of an entry determines most bits of its
//! address. The entry contains the rest of the address, and the other words (Cleary, "Compact hash tables using
//! bidirectional linear probing", 1984). So the set is exact: two different states never count as one. For a model with
//! a hundred million states of 44 bits each, an entry takes less than 4 bytes.
//!
//! If states are wider than a word, the set usually contains their codes instead of the states (see [`Codes`]). Codes
//! are much narrower than such states.
//!
//! The set consists of segments. Each segment has a lock, and threads insert states in batches. A batch goes
//! into one segment, so a lock is taken once for many states, and the cache misses of a batch overlap. A
//! segment grows on its own. So the set never needs memory for two copies of itself.
//!
//! While the set grows, its states have no numbers and no order. A complete set can be numbered (see [`Numbered`]).
//! The search keeps the states that it still has to expand (see [`search`](crate::search)).

mod block;
mod codes;
mod dictionary;
mod numbered;
mod segment;
mod shape;

use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use crate::{explore::Ended, hashing::Bijection};
use codes::FIRST_BITS;
use numbered::Entries;
use segment::{Insertion, Segment, Target};

pub use codes::{Code, Codes, MOST_CODE_BITS, NoCode};
pub use numbered::{Numbered, Sought};

const SEGMENT_BITS: u32 = 6;

/// The number of segments.
pub const SEGMENTS: usize = 1 << SEGMENT_BITS;

/// The maximum number of states whose cache misses overlap.
pub const TOGETHER: usize = 64;

/// The number of the last segment.
pub const LAST_SEGMENT: u8 = (SEGMENTS - 1) as u8;

/// An account of the memory that a search uses, with its limit.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

/// The limit on memory is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory;

impl From<OutOfMemory> for Ended {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Ended::Memory
    }
}

impl Memory {
    /// Creates an account with this limit, in bytes.
    pub fn new(limit: u64) -> Self {
        Memory { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Adds `bytes` bytes to the memory in use.
    ///
    /// # Errors
    /// Fails if this would exceed the limit. Nothing is added then.
    pub fn take(&self, bytes: u64) -> Result<(), OutOfMemory> {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        if used > self.limit {
            self.used.fetch_sub(bytes, Relaxed);
            return Err(OutOfMemory);
        }
        self.peak.fetch_max(used, Relaxed);
        Ok(())
    }

    /// Removes `bytes` bytes from the memory in use.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    /// Returns the number of bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Returns the number of bytes that are left.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Relaxed))
    }

    /// Includes the peak of another account in the peak of this one. Both accounts were in use at the same time.
    pub fn include(&self, other: &Memory) {
        self.include_bytes(other.peak());
    }

    /// Raises the peak, as if `bytes` more bytes had been in use for a short time. The memory in use stays the same.
    pub fn include_bytes(&self, bytes: u64) {
        self.peak.fetch_max(self.used.load(Relaxed) + bytes, Relaxed);
    }

    /// Returns the maximum number of bytes in use at once.
    pub fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

/// The address of a state in its segment.
#[derive(Clone, Copy, Debug)]
pub struct Local(u64);

impl Local {
    /// Returns a number below `size` that spreads states evenly.
    #[inline]
    pub fn below(self, size: usize) -> usize {
        self.0 as usize % size
    }
}

/// Maps states to addresses.
#[derive(Clone, Copy)]
struct Addressing<const W: usize> {
    bijection: Bijection<W>,
    local_bits: u32,
}

impl<const W: usize> Addressing<W> {
    fn new(widths: [u32; W]) -> Self {
        let local_bits = widths[0].saturating_sub(SEGMENT_BITS);
        Addressing { bijection: Bijection::new(widths[0]), local_bits }
    }

    #[inline]
    fn address(self, state: &[u64; W]) -> (u8, Local) {
        let mixed = self.bijection.mix(state);
        ((mixed >> self.local_bits) as u8, Local(mixed & ((1 << self.local_bits) - 1)))
    }

    /// Returns the state with this address. Its other words are those of `state`.
    #[inline]
    fn state(self, segment: u8, Local(local): Local, mut state: [u64; W]) -> [u64; W] {
        state[0] = self.bijection.unmix(u64::from(segment) << self.local_bits | local, &state);
        state
    }
}

/// An exact set of states.
pub struct CompactSet<'a, const W: usize> {
    segments: Vec<Mutex<Segment<W>>>,
    addressing: Addressing<W>,
    /// Whether a state may have more bits in its last word than the set was created for. The widths of segments then
    /// differ.
    gets_wider: bool,
    memory: &'a Memory,
}

impl<'a> CompactSet<'a, 2> {
    /// Creates an empty set of codes (see [`Codes`]). A segment has room for as many bits as the longest code that it
    /// has got so far.
    pub fn of_codes(memory: &'a Memory) -> Self {
        CompactSet { gets_wider: true, ..Self::new([FIRST_BITS, 0], memory) }
    }

    /// Numbers the states that have these codes, like [`into_numbered`](CompactSet::into_numbered).
    ///
    /// # Errors
    /// Fails like [`into_numbered`](CompactSet::into_numbered).
    pub fn into_numbered_states<const W: usize>(
        self,
        codes: Codes<W>,
        most: u64,
        stop: &AtomicBool,
    ) -> Result<Numbered<W>, Ended> {
        Ok(Numbered::of_codes(self.into_entries(most, stop)?, codes))
    }
}

impl<'a, const W: usize> CompactSet<'a, W> {
    /// Creates an empty set of states. `widths` is the number of bits in use in each word of a state.
    pub fn new(widths: [u32; W], memory: &'a Memory) -> Self {
        let addressing = Addressing::new(widths);
        let stagger = |index| index as f64 / SEGMENTS as f64;
        let segment = |index| Segment::new(addressing.local_bits, widths, stagger(index));
        let segments: Vec<Segment<W>> = (0..SEGMENTS).map(segment).collect();
        memory.used.fetch_add(segments.iter().map(Segment::bytes).sum(), Relaxed);
        let segments = segments.into_iter().map(Mutex::new).collect();
        CompactSet { segments, addressing, gets_wider: false, memory }
    }

    /// Returns the segment of a state, below [`SEGMENTS`], and its address there.
    #[inline]
    pub fn address(&self, state: &[u64; W]) -> (u8, Local) {
        self.addressing.address(state)
    }

    fn segment(&self, index: u8) -> MutexGuard<'_, Segment<W>> {
        self.segments[usize::from(index)].lock().expect("no panic while held")
    }

    /// Inserts states that belong to one segment. Appends the items whose states were not in the set to
    /// `new`.
    ///
    /// # Errors
    /// Fails if the set reaches the limit on memory. Some states of the batch may be inserted then.
    pub fn insert_all<T: Copy>(
        &self,
        segment: u8,
        batch: &[(Local, T)],
        state: impl Fn(&T) -> [u64; W],
        new: &mut Vec<T>,
    ) -> Result<(), OutOfMemory> {
        let mut segment = self.segment(segment);
        if self.gets_wider {
            self.widen(&mut segment, batch.iter().map(|(_, item)| state(item)))?;
        }
        for part in batch.chunks(TOGETHER) {
            let done = insert_together(&mut segment, part, &state, new);
            self.insert_singly(&mut segment, &part[done..], &state, new)?;
        }
        Ok(())
    }

    /// Inserts states one after another. The segment grows if it has no room.
    fn insert_singly<T: Copy>(
        &self,
        segment: &mut Segment<W>,
        batch: &[(Local, T)],
        state: impl Fn(&T) -> [u64; W],
        new: &mut Vec<T>,
    ) -> Result<(), OutOfMemory> {
        for (Local(local), item) in batch {
            loop {
                match segment.insert(*local, &state(item)) {
                    Insertion::NoRoom => self.grow(segment, segment.widths())?,
                    Insertion::Known => break,
                    Insertion::New => {
                        new.push(*item);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes room for the last words of these states.
    fn widen(
        &self,
        segment: &mut Segment<W>,
        states: impl Iterator<Item = [u64; W]>,
    ) -> Result<(), OutOfMemory> {
        let bits = states.fold(0, |bits, state| bits | state[W - 1]);
        let mut widths = segment.widths();
        if bits.checked_shr(widths[W - 1]).unwrap_or(0) != 0 {
            widths[W - 1] = u64::BITS - bits.leading_zeros();
            self.grow(segment, widths)?;
        }
        Ok(())
    }

    #[cold]
    fn grow(&self, segment: &mut Segment<W>, widths: [u32; W]) -> Result<(), OutOfMemory> {
        loop {
            let (old, larger) = (segment.bytes(), segment.bytes_grown(widths).ok_or(OutOfMemory)?);
            self.memory.take(larger)?;
            if segment.grow(widths) {
                self.memory.give_back(old);
                return Ok(());
            }
            self.memory.give_back(larger);
        }
    }

    /// Numbers the states. No more states can be inserted.
    ///
    /// # Errors
    /// Fails if there are more than `most` states, if the numbers take more memory than is left, or if `stop`
    /// becomes true. Returns which of these limits was reached.
    pub fn into_numbered(self, most: u64, stop: &AtomicBool) -> Result<Numbered<W>, Ended> {
        Ok(Numbered::of_states(self.into_entries(most, stop)?))
    }

    fn into_entries(self, most: u64, stop: &AtomicBool) -> Result<Entries<W>, Ended> {
        let unlock =
            |segment: Mutex<Segment<W>>| segment.into_inner().expect("no panic while held");
        let segments = self.segments.into_iter().map(unlock).collect();
        Entries::new(segments, self.addressing, self.memory, most, stop)
    }

    /// Returns the number of states.
    pub fn len(&self) -> u64 {
        (0..=LAST_SEGMENT).map(|index| self.segment(index).len() as u64).sum()
    }

    /// Returns whether the set has no states.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Inserts at most [`TOGETHER`] states if the segment has room for all of them. Returns how many are done: all, none,
/// or those before the first one for which all lines that it may use are full. A line is a group of entries that are
/// searched together.
#[inline]
fn insert_together<const W: usize, T: Copy>(
    segment: &mut Segment<W>,
    batch: &[(Local, T)],
    state: impl Fn(&T) -> [u64; W],
    new: &mut Vec<T>,
) -> usize {
    if !segment.has_room_for(batch.len()) {
        return 0;
    }
    // The loads do not depend on each other, so their cache misses overlap.
    let mut targets = [Target::default(); TOGETHER];
    let mut touched = 0;
    for (target, &(Local(local), _)) in targets.iter_mut().zip(batch) {
        *target = segment.target(local);
        touched ^= segment.touch(*target);
    }
    std::hint::black_box(touched);
    for (done, (&target, (_, item))) in targets.iter().zip(batch).enumerate() {
        match segment.insert_at(target, &state(item)) {
            Insertion::Known => {}
            Insertion::New => new.push(*item),
            Insertion::NoRoom => return done,
        }
    }
    batch.len()
}

#[cfg(test)]
mod tests;
