//! A hash table from states to numbers that holds no states, only tags.
//!
//! A slot is a tag and a number. Slots come in lines of eight, a cache line each; a state is looked
//! for in the line of its mark, from the first slot on, and then in the lines after it. So nearly
//! every look-up costs one cache miss even when the table is almost full.
//!
//! ORDERING: a slot is published with Release after its state has been written elsewhere, and read
//! with Acquire before the state is: whoever sees the number sees the state.

use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use crate::{
    hashing::{Hashing, Mark},
    store::Id,
};

const LINE: usize = 8;
const LINE_BYTES: usize = LINE * size_of::<AtomicU64>();

/// How full the table may be.
const FULL: f64 = 0.85;
/// How many times larger the next one is.
const GROWTH: f64 = 1.5;

/// The table.
pub struct Table {
    slots: Box<[AtomicU64]>,
    /// The first slot that begins a cache line.
    first: usize,
    lines: usize,
    /// The farthest any number lies from the line of its mark.
    displaced: AtomicUsize,
    /// As long as none lies farther than this, equal tags mean equal states.
    certain_within: usize,
}

/// What a search came to.
pub enum Found {
    /// The number was there.
    Known(Id),
    /// It was not, and has been put there.
    Inserted,
}

#[inline]
fn entry(mark: Mark, id: Id) -> u64 {
    u64::from(mark.tag) << 32 | u64::from(id + 1)
}

/// The number in a slot, if the slot has the tag.
#[inline]
fn matching(slot: u64, tag: u32) -> Option<Id> {
    (slot != 0 && slot >> 32 == u64::from(tag)).then(|| slot as u32 - 1)
}

impl Table {
    /// An empty table of that many lines.
    fn with_lines(lines: usize, hashing: Hashing, words: usize) -> Self {
        let slots: Box<[AtomicU64]> = bytemuck::zeroed_slice_box((lines + 1) * LINE);
        let astray = slots.as_ptr().addr() % LINE_BYTES;
        let first = (LINE_BYTES - astray) % LINE_BYTES / size_of::<AtomicU64>();
        let certain_within = hashing.certain_within(words, lines);
        Table { slots, first, lines, displaced: AtomicUsize::new(0), certain_within }
    }

    /// A small empty table, for states of that many words.
    pub fn new(hashing: Hashing, words: usize) -> Self {
        Self::with_lines(1 << 9, hashing, words)
    }

    /// No table at all.
    pub fn none() -> Self {
        Table {
            slots: Box::default(),
            first: 0,
            lines: 0,
            displaced: AtomicUsize::new(0),
            certain_within: 0,
        }
    }

    /// An empty table that is larger than one of `lines` lines.
    pub fn larger(lines: usize, hashing: Hashing, words: usize) -> Self {
        Self::with_lines((lines as f64 * GROWTH) as usize, hashing, words)
    }

    /// How many lines it has.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// How many numbers it takes.
    pub fn capacity(&self) -> usize {
        ((self.lines * LINE) as f64 * FULL) as usize
    }

    /// The bytes it takes.
    pub fn bytes(&self) -> u64 {
        (self.lines * LINE_BYTES) as u64
    }

    /// The bytes that the next larger one takes.
    pub fn bytes_larger(&self) -> u64 {
        (self.bytes() as f64 * GROWTH) as u64
    }

    #[inline]
    fn line(&self, mark: Mark) -> usize {
        ((u128::from(mark.position) * self.lines as u128) >> 64) as usize
    }

    #[inline]
    fn slots_of(&self, line: usize) -> &[AtomicU64] {
        &self.slots[self.first + line * LINE..][..LINE]
    }

    /// Reads the first slot that a search for `mark` reads, so that it is in the cache.
    #[inline]
    pub fn touch(&self, mark: Mark) -> u64 {
        self.slots[self.first + self.line(mark) * LINE].load(Relaxed)
    }

    /// Whether equal tags mean equal states.
    #[inline]
    pub fn is_certain(&self) -> bool {
        self.displaced.load(Relaxed) < self.certain_within
    }

    /// The number with this mark that `is_it`; asked only where the tag does not decide.
    #[inline]
    pub fn find(&self, mark: Mark, is_it: impl Fn(Id) -> bool) -> Option<Id> {
        let mut line = self.line(mark);
        loop {
            for slot in self.slots_of(line) {
                let slot = slot.load(Acquire);
                if slot == 0 {
                    return None;
                }
                if let Some(id) = matching(slot, mark.tag)
                    && (self.is_certain() || is_it(id))
                {
                    return Some(id);
                }
            }
            line = if line + 1 == self.lines { 0 } else { line + 1 };
        }
    }

    /// Finds a number as [`find`](Table::find) does, or inserts what `new` gives. `new` may be
    /// called more than once, and then gives the same number.
    #[inline]
    pub fn find_or_insert(
        &self,
        mark: Mark,
        is_it: impl Fn(Id) -> bool,
        mut new: impl FnMut() -> Id,
    ) -> Found {
        let mut line = self.line(mark);
        let mut distance = 0;
        loop {
            for cell in self.slots_of(line) {
                let mut slot = cell.load(Acquire);
                if slot == 0 {
                    let id = new();
                    if distance > self.displaced.load(Relaxed) {
                        self.displaced.fetch_max(distance, AcqRel);
                    }
                    match cell.compare_exchange(0, entry(mark, id), AcqRel, Acquire) {
                        Ok(_) => return Found::Inserted,
                        Err(theirs) => slot = theirs,
                    }
                }
                if let Some(id) = matching(slot, mark.tag)
                    && (self.is_certain() || is_it(id))
                {
                    return Found::Known(id);
                }
            }
            line = if line + 1 == self.lines { 0 } else { line + 1 };
            distance += 1;
        }
    }

    /// Inserts a number whose state is known not to be there, with nobody else about.
    pub fn insert_new(&mut self, mark: Mark, id: Id) {
        let found = self.find_or_insert(mark, |_| false, || id);
        debug_assert!(matches!(found, Found::Inserted));
    }

    /// Replaces a number by another.
    pub fn renumber(&mut self, mark: Mark, from: Id, to: Id) {
        let mut line = self.line(mark);
        loop {
            for slot in self.slots_of(line) {
                if slot.load(Relaxed) == entry(mark, from) {
                    slot.store(entry(mark, to), Relaxed);
                    return;
                }
            }
            line = if line + 1 == self.lines { 0 } else { line + 1 };
        }
    }
}
