//! A hash table from states to numbers. It holds no states, only tags.
//!
//! A slot holds a tag and a number. A line is eight slots in one cache line. The hash of a state, its
//! [`Mark`], consists of a position and a tag. A search starts in the line at this position and continues in
//! the lines after it. So nearly every look-up costs one cache miss, even when the table is almost full.
//!
//! ORDERING: the state is written elsewhere first. Then its slot is published with Release. A search
//! reads the slot with Acquire before it reads the state. So a thread that sees the number also sees the
//! state.

use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use crate::{
    hashing::{Hashing, Mark},
    store::Id,
};

const LINE: usize = 8;

/// Slots that share a cache line.
#[derive(Default)]
#[repr(align(64))]
struct Line([AtomicU64; LINE]);

/// The maximum share of slots in use.
const FULL: f64 = 0.9;
/// The factor by which the table grows. Just after it has grown, the table is 0.9 / 1.7 = 53 % full, so
/// it takes at most 15.2 bytes per state. With a log of 8 bytes per state, the total is below 24 bytes
/// per state.
const GROWTH: f64 = 1.7;
/// The number of lines of the first table. The first growth is by a factor of 4 instead of [`GROWTH`],
/// because in small tables, time matters more than memory.
const SMALL: usize = 1 << 13;

fn next_size(lines: usize) -> usize {
    if lines <= SMALL { 4 * SMALL } else { (lines as f64 * GROWTH) as usize }
}

fn bytes_of(lines: usize) -> u64 {
    (lines * size_of::<Line>()) as u64
}

/// A table from marks to state numbers.
pub struct StateIndex {
    lines: Box<[Line]>,
    /// The maximum distance of an entry from the line of its mark, in lines.
    displaced: AtomicUsize,
    /// A limit on distances, in lines. Equal tags mean equal states, as long as every entry and every
    /// search stays within this distance from the line of its mark.
    certain_within: usize,
}

/// The result of a search.
pub enum Found {
    /// The table already had the state, with this number.
    Known(Id),
    /// The table did not have the state. The new number is inserted.
    Inserted,
}

#[inline]
fn entry(mark: Mark, id: Id) -> u64 {
    u64::from(mark.tag) << 32 | u64::from(id + 1)
}

/// Returns the number in a slot, if the slot has this tag.
#[inline]
fn matching(slot: u64, tag: u32) -> Option<Id> {
    let number = slot as u32;
    ((slot >> 32) as u32 == tag && number != 0).then(|| number - 1)
}

impl StateIndex {
    /// Creates an empty table with this number of lines.
    fn with_lines(lines: usize, hashing: Hashing, words: usize) -> Self {
        StateIndex {
            lines: (0..lines).map(|_| Line::default()).collect(),
            displaced: AtomicUsize::new(0),
            certain_within: hashing.certain_within(words, lines),
        }
    }

    /// Creates a small empty table for states of this number of words.
    pub fn new(hashing: Hashing, words: usize) -> Self {
        Self::with_lines(SMALL, hashing, words)
    }

    /// Creates a table without slots.
    pub fn none() -> Self {
        StateIndex { lines: Box::default(), displaced: AtomicUsize::new(0), certain_within: 0 }
    }

    /// Creates an empty table of the next size above `lines` lines.
    pub fn larger(lines: usize, hashing: Hashing, words: usize) -> Self {
        Self::with_lines(next_size(lines), hashing, words)
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Returns the maximum number of entries before the table must grow.
    pub fn capacity(&self) -> usize {
        ((self.lines() * LINE) as f64 * FULL) as usize
    }

    /// Returns the number of bytes in use.
    pub fn bytes(&self) -> u64 {
        bytes_of(self.lines())
    }

    /// Returns the number of bytes that the next larger table uses.
    pub fn bytes_larger(&self) -> u64 {
        bytes_of(next_size(self.lines()))
    }

    #[inline]
    fn line(&self, mark: Mark) -> usize {
        ((u128::from(mark.position) * self.lines() as u128) >> 64) as usize
    }

    /// Returns the slots of a line in the order in which they are searched for a mark.
    #[inline]
    fn around(&self, line: usize, mark: Mark) -> impl Iterator<Item = &AtomicU64> {
        let Line(slots) = &self.lines[line];
        let start = mark.tag as usize;
        (0..LINE).map(move |place| &slots[(start + place) % LINE])
    }

    #[inline]
    fn after(&self, line: usize) -> usize {
        if line + 1 == self.lines() { 0 } else { line + 1 }
    }

    /// Reads a slot of the line in which a search for `mark` starts. This brings the line into the cache.
    #[inline]
    pub fn touch(&self, mark: Mark) -> u64 {
        self.lines[self.line(mark)].0[0].load(Relaxed)
    }

    /// Returns whether an equal tag proves an equal state, for a search that is `distance` lines past
    /// the line of its mark.
    ///
    /// The line of another state with the same tag is more than `certain_within` lines away. So the
    /// search can meet that state only if the state was displaced that far, or if the search has gone
    /// that far.
    ///
    /// ORDERING: an inserting thread raises `displaced` before it publishes the entry with Release. A search
    /// reads `displaced` after it has read the entry with Acquire. So Relaxed is enough here.
    #[inline]
    fn tag_decides(&self, distance: usize) -> bool {
        distance < self.certain_within && self.displaced.load(Relaxed) < self.certain_within
    }

    /// Returns the number with this mark for which `is_it` returns `true`. Calls `is_it` only if the tag
    /// does not decide.
    #[inline]
    pub fn find(&self, mark: Mark, is_it: impl Fn(Id) -> bool) -> Option<Id> {
        let mut line = self.line(mark);
        let mut distance = 0;
        loop {
            for slot in self.around(line, mark) {
                let slot = slot.load(Acquire);
                if slot == 0 {
                    return None;
                }
                if let Some(id) = matching(slot, mark.tag)
                    && (self.tag_decides(distance) || is_it(id))
                {
                    return Some(id);
                }
            }
            line = self.after(line);
            distance += 1;
        }
    }

    /// Finds a number like [`find`](StateIndex::find), or inserts the number that `new` returns. `new`
    /// may be called more than once. It must return the same number each time.
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
            for cell in self.around(line, mark) {
                let mut slot = cell.load(Acquire);
                if slot == 0 {
                    let id = new();
                    self.note_displacement(distance);
                    match cell.compare_exchange(0, entry(mark, id), AcqRel, Acquire) {
                        Ok(_) => return Found::Inserted,
                        Err(theirs) => slot = theirs,
                    }
                }
                if let Some(id) = matching(slot, mark.tag)
                    && (self.tag_decides(distance) || is_it(id))
                {
                    return Found::Known(id);
                }
            }
            line = self.after(line);
            distance += 1;
        }
    }

    #[inline]
    fn note_displacement(&self, distance: usize) {
        if distance > self.displaced.load(Relaxed) {
            self.displaced.fetch_max(distance, AcqRel);
        }
    }

    /// Inserts a number whose state is not in the table, without comparing states. No other thread may use the
    /// table at the same time.
    pub fn insert_new(&mut self, mark: Mark, id: Id) {
        let mut line = self.line(mark);
        let mut distance = 0;
        loop {
            if let Some(cell) = self.around(line, mark).find(|cell| cell.load(Relaxed) == 0) {
                cell.store(entry(mark, id), Relaxed);
                self.note_displacement(distance);
                return;
            }
            line = self.after(line);
            distance += 1;
        }
    }

    /// Replaces a number with another.
    pub fn renumber(&mut self, mark: Mark, from: Id, to: Id) {
        let mut line = self.line(mark);
        loop {
            for slot in self.around(line, mark) {
                if slot.load(Relaxed) == entry(mark, from) {
                    slot.store(entry(mark, to), Relaxed);
                    return;
                }
            }
            line = self.after(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a mark of the last line. If there are many such marks, the search wraps around to the
    /// first line.
    fn crowded(tag: u32) -> Mark {
        Mark { position: u64::MAX, tag }
    }

    #[test]
    fn a_search_wraps_around_the_end_of_the_table() {
        let mut table = StateIndex::new(Hashing::new(40), 1);
        for id in 0..30 {
            table.insert_new(crowded(id * 7), id);
        }
        for id in 0..30 {
            assert_eq!(table.find(crowded(id * 7), |found| found == id), Some(id));
        }
        assert_eq!(table.find(crowded(1), |_| panic!("no tag is equal")), None);
        assert_eq!(table.displaced.load(Relaxed), 3);
    }

    #[test]
    fn a_tag_decides_only_near_its_mark() {
        // With 63 bits, equal tags may be one line apart, so the table must compare the states.
        let table = StateIndex::new(Hashing::new(63), 1);
        let insert = |id| table.find_or_insert(crowded(5), |_| false, || id);
        assert!(matches!(insert(0), Found::Inserted));
        assert!(matches!(insert(1), Found::Inserted), "an equal tag is not an equal state");
        assert_eq!(table.find(crowded(5), |id| id == 1), Some(1));
        // With 40 bits and few lines, the tag decides near its mark, and no state is compared.
        let table = StateIndex::with_lines(1 << 16, Hashing::new(40), 1);
        assert!(matches!(table.find_or_insert(crowded(5), |_| false, || 0), Found::Inserted));
        assert_eq!(table.find(crowded(5), |_| panic!("the tag decides")), Some(0));
        // After a large enough displacement, the tag alone no longer decides.
        table.note_displacement(table.certain_within);
        assert_eq!(table.find(crowded(5), |_| false), None);
    }

    #[test]
    fn threads_agree_on_one_number() {
        let table = StateIndex::new(Hashing::new(30), 1);
        let hashing = Hashing::new(30);
        let inserted: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let table = &table;
                    scope.spawn(move || {
                        let insert = |state: u64| {
                            let mark = hashing.mark(&[state]);
                            let id = state as u32 * 3 + thread;
                            table.find_or_insert(mark, |_| panic!("tags decide"), || id)
                        };
                        (0..20_000).filter(|&s| matches!(insert(s), Found::Inserted)).count()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(inserted, 20_000);
    }

    #[test]
    fn renumbering_changes_no_other_entry() {
        let mut table = StateIndex::new(Hashing::new(40), 1);
        (0..20).for_each(|id| table.insert_new(crowded(id), id));
        table.renumber(crowded(3), 3, 77);
        assert_eq!(table.find(crowded(3), |id| id == 77), Some(77));
        assert_eq!(table.find(crowded(4), |id| id == 4), Some(4));
    }
}
