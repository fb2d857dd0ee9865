//! The set of states that an exploration has seen, numbered in the order in which they were found.
//!
//! A log holds the states in this order. A hash table maps a state to its number. Neither is copied when
//! it grows: the log grows in chunks, and the table is rebuilt from the log. The numbers have no gaps,
//! so the analyses after the exploration work on plain arrays.
//!
//! | | bytes per state |
//! |---|---|
//! | log | 8 per word |
//! | table | 8 per slot; in a table of more than 2 MiB, 53 to 90 % of the slots are full |
//! | parents | 1/16 |
//!
//! The store has no parent pointers. Successors are appended in the order of their parents. So it is
//! enough to keep one parent for every [`BLOCK`] states: a short search finds any other parent (see
//! [`Store::first_parent`]).
//!
//! Inserting takes `&self`, so several threads can insert at the same time. Growing takes `&mut self`.
//!
//! ORDERING: the table publishes a number after its state has been written to the log (see
//! [`state_index`](crate::state_index)). So the words of the log are accessed with Relaxed.

use std::sync::{
    OnceLock,
    atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use crate::{
    hashing::{Hashing, Mark},
    state_index::{Found, StateIndex},
};

/// The number of a state.
pub type Id = u32;

/// The number that stands for no state.
pub const NONE: Id = Id::MAX;

/// The maximum number of state numbers that a thread reserves at a time.
pub const BLOCK: u32 = 64;

const CHUNK_BITS: u32 = 16;
const CHUNK: usize = 1 << CHUNK_BITS;

/// The approximate number of states that are looked up together, so that their cache misses overlap.
pub const TOGETHER: usize = 128;

type Chunk = Box<[AtomicU64]>;

/// A set of numbered states.
pub struct Store<const W: usize> {
    chunks: Vec<OnceLock<Chunk>>,
    table: StateIndex,
    parents: Vec<OnceLock<Box<[AtomicU32]>>>,
    next: AtomicU32,
    hashing: Hashing,
}

/// The numbers that a thread has reserved and not used yet.
#[derive(Clone, Debug, Default)]
pub struct Run {
    next: Id,
    end: Id,
}

impl Run {
    /// Returns the numbers that are not used yet.
    pub fn rest(&self) -> std::ops::Range<Id> {
        self.next..self.end
    }
}

/// A state that is ready to be looked up or inserted.
#[derive(Clone, Copy)]
pub struct Pending<const W: usize> {
    state: [u64; W],
    mark: Mark,
    /// The caller's note about the state.
    note: u32,
}

impl<const W: usize> Pending<W> {
    /// Returns the state to look up or insert.
    pub fn state(&self) -> &[u64; W] {
        &self.state
    }

    /// Returns the caller's note.
    pub fn note(&self) -> u32 {
        self.note
    }
}

impl<const W: usize> Store<W> {
    /// Creates an empty set for at most `most` states of `bits` bits each.
    pub fn new(most: u64, bits: u32) -> Self {
        let chunks = (most.min(u64::from(NONE)) as usize).div_ceil(CHUNK) + 1;
        let hashing = Hashing::new(bits);
        Store {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            table: StateIndex::new(hashing, W),
            parents: (0..chunks).map(|_| OnceLock::new()).collect(),
            next: AtomicU32::new(0),
            hashing,
        }
    }

    /// Prepares a state for a look-up.
    #[inline]
    pub fn pending(&self, state: [u64; W], note: u32) -> Pending<W> {
        Pending { state, mark: self.hashing.mark(&state), note }
    }

    /// Returns the number of states. While threads insert, this is an upper bound.
    pub fn len(&self) -> u32 {
        self.next.load(Relaxed)
    }

    /// Returns whether no state has been inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of states that can be inserted before the table must grow.
    pub fn room(&self) -> usize {
        self.table.capacity().saturating_sub(self.len() as usize)
    }

    fn log_bytes(&self) -> u64 {
        let chunks = self.chunks.iter().filter(|chunk| chunk.get().is_some()).count() as u64;
        chunks * (CHUNK * W * 8 + CHUNK / BLOCK as usize * 4) as u64
    }

    /// Returns the number of bytes in use.
    pub fn bytes(&self) -> u64 {
        self.log_bytes() + self.table.bytes()
    }

    /// Returns the number of bytes in use after the next growth of the table.
    pub fn bytes_grown(&self) -> u64 {
        self.log_bytes() + self.table.bytes_larger()
    }

    /// Enlarges the table. `runs` are the numbers that threads have reserved and not used yet.
    pub fn grow(&mut self, runs: &[Run]) {
        let lines = self.table.lines();
        // The log holds all states, so the old table can be freed before the new table is allocated.
        self.table = StateIndex::none();
        let mut table = StateIndex::larger(lines, self.hashing, W);
        let mut batch: Vec<(Id, Mark)> = Vec::with_capacity(TOGETHER);
        let mut flush = |batch: &mut Vec<(Id, Mark)>| {
            let touched = batch.iter().fold(0, |touched, &(_, mark)| touched ^ table.touch(mark));
            std::hint::black_box(touched);
            batch.drain(..).for_each(|(id, mark)| table.insert_new(mark, id));
        };
        for range in self.given_out(runs) {
            for id in range {
                batch.push((id, self.hashing.mark(&self.get(id))));
                if batch.len() == TOGETHER {
                    flush(&mut batch);
                }
            }
        }
        flush(&mut batch);
        self.table = table;
    }

    /// Returns the numbers that have a state: all numbers except the unused rest of each run.
    fn given_out(&self, runs: &[Run]) -> Vec<std::ops::Range<Id>> {
        let mut rests: Vec<_> =
            runs.iter().map(Run::rest).filter(|rest| !rest.is_empty()).collect();
        rests.sort_unstable_by_key(|rest| rest.start);
        let starts = std::iter::once(0).chain(rests.iter().map(|rest| rest.end));
        let ends = rests.iter().map(|rest| rest.start).chain([self.len()]);
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }

    #[inline]
    fn words(&self, id: Id) -> &[AtomicU64] {
        let chunk = self.chunks[(id >> CHUNK_BITS) as usize].get().expect("a number given out");
        &chunk[(id as usize & (CHUNK - 1)) * W..][..W]
    }

    /// Returns the state with this number.
    #[inline]
    pub fn get(&self, id: Id) -> [u64; W] {
        let words = self.words(id);
        std::array::from_fn(|word| words[word].load(Relaxed))
    }

    /// Returns the number of a state, if the set contains it.
    #[inline]
    pub fn find(&self, pending: &Pending<W>) -> Option<Id> {
        self.table.find(pending.mark, |id| self.get(id) == pending.state)
    }

    /// Loads into the cache the lines that the next look-ups read. The loads do not depend on each other,
    /// so they overlap.
    #[inline]
    fn touch(&self, batch: &[Pending<W>]) {
        let touch = |touched, pending: &Pending<W>| touched ^ self.table.touch(pending.mark);
        std::hint::black_box(batch.iter().fold(0, touch));
    }

    /// Calls `each` with every state of the batch, and its number if the set contains it.
    pub fn find_all(&self, batch: &[Pending<W>], mut each: impl FnMut(&Pending<W>, Option<Id>)) {
        self.touch(batch);
        for pending in batch {
            each(pending, self.find(pending));
        }
    }

    /// Inserts a batch of states. The note of each state is the number of its parent. Calls `new` with
    /// every state that was not in the set, and its number.
    pub fn insert_all(
        &self,
        batch: &[Pending<W>],
        run: &mut Run,
        mut new: impl FnMut(&Pending<W>, Id),
    ) {
        self.touch(batch);
        for pending in batch {
            if let Some(id) = self.insert(pending, run) {
                new(pending, id);
            }
        }
    }

    #[inline]
    fn insert(&self, pending: &Pending<W>, run: &mut Run) -> Option<Id> {
        let found = self.table.find_or_insert(
            pending.mark,
            |id| self.get(id) == pending.state,
            || {
                if run.next == run.end {
                    *run = self.take_run();
                }
                for (word, &value) in self.words(run.next).iter().zip(&pending.state) {
                    word.store(value, Relaxed);
                }
                run.next
            },
        );
        match found {
            Found::Known(_) => None,
            Found::Inserted => {
                let id = run.next;
                if id.is_multiple_of(BLOCK) {
                    self.parent_cell(id).store(pending.note, Release);
                }
                run.next += 1;
                Some(id)
            }
        }
    }

    #[cold]
    fn take_run(&self) -> Run {
        // A run ends where a block ends. So all states that one level adds to a block come from one
        // thread, in the order of their parents.
        let block_end = |next: u32| (next / BLOCK + 1) * BLOCK;
        let next = self
            .next
            .fetch_update(Relaxed, Relaxed, |next| Some(block_end(next)))
            .unwrap_or_else(|next| next);
        let chunk = (next >> CHUNK_BITS) as usize;
        self.chunks[chunk].get_or_init(|| bytemuck::zeroed_slice_box(CHUNK * W));
        self.parents[chunk].get_or_init(|| bytemuck::zeroed_slice_box(CHUNK / BLOCK as usize));
        Run { next, end: block_end(next) }
    }

    /// Takes back the numbers that threads have not used at the end of a level, so that the numbers have
    /// no gaps. To do so, moves the last states to the unused numbers before them. Returns the old and
    /// new number of each moved state. `first_parent` is the first state that can be a parent of this
    /// level's states. A block that gets a moved state also gets `first_parent` as its parent.
    pub fn give_back(&mut self, runs: Vec<Run>, first_parent: Id) -> Vec<(Id, Id)> {
        let mut free: Vec<Id> = runs.iter().flat_map(Run::rest).collect();
        free.sort_unstable();
        let mut free = std::collections::VecDeque::from(free);
        let mut moves = Vec::new();
        loop {
            while free.back().is_some_and(|&last| last + 1 == self.len()) {
                free.pop_back();
                *self.next.get_mut() -= 1;
            }
            let Some(to) = free.pop_front() else {
                return moves;
            };
            let from = self.len() - 1;
            self.relocate(from, to);
            self.parent_cell(to).store(first_parent, Relaxed);
            *self.next.get_mut() -= 1;
            moves.push((from, to));
        }
    }

    fn relocate(&mut self, from: Id, to: Id) {
        let state = self.get(from);
        for (word, &value) in self.words(to).iter().zip(&state) {
            word.store(value, Relaxed);
        }
        self.table.renumber(self.hashing.mark(&state), from, to);
    }

    fn parent_cell(&self, id: Id) -> &AtomicU32 {
        let parents = self.parents[(id >> CHUNK_BITS) as usize].get().expect("a number given out");
        &parents[(id as usize & (CHUNK - 1)) / BLOCK as usize]
    }

    /// Returns the state with which a search for the parent of `id` begins: the parent of the first state in the block
    /// of `id`, or an earlier state if a state was moved to this block. The parent of `id` is this state or one of the
    /// next states. Returns [`NONE`] if the block begins with initial states.
    pub fn first_parent(&self, id: Id) -> Id {
        self.parent_cell(id).load(Acquire)
    }
}
