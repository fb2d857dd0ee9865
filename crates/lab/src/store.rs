//! The set of states an exploration has seen, numbered in the order they were found.
//!
//! States lie in a log, in order; a hash table beside it maps a state to its number. Both grow
//! without ever holding two copies: the log in chunks, the table by making it anew from the log.
//! The numbers are dense, so what comes after the exploration works on plain arrays.
//!
//! | | bytes a state |
//! |---|---|
//! | log | 8 a word |
//! | table | 8 a slot, slots 57 to 85 % full |
//! | parents | 1/16 |
//!
//! There are no parent pointers: successors are appended in the order of their parents, so one
//! parent in [`BLOCK`] is enough to find any other by a short search (see [`Store::first_parent`]).
//!
//! Inserting takes `&self` and may be done by several threads; growing takes `&mut self`.
//!
//! ORDERING: a slot is published with Release after its state has been written to the log, and
//! read with Acquire before the log is: whoever sees the number sees the state. The log's words
//! themselves are therefore Relaxed.

use std::sync::{
    OnceLock,
    atomic::{
        AtomicU32, AtomicU64,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

/// A state's number.
pub type Id = u32;

/// No state.
pub const NONE: Id = Id::MAX;

/// A thread takes numbers in blocks of this many.
pub const BLOCK: u32 = 64;

const CHUNK_BITS: u32 = 16;
const CHUNK: usize = 1 << CHUNK_BITS;

/// The table is made anew, with half as many slots again, at this load.
const FULL: f64 = 0.85;
const GROWTH: f64 = 1.5;

type Chunk = Box<[AtomicU64]>;

/// The set.
pub struct Store<const W: usize> {
    chunks: Vec<OnceLock<Chunk>>,
    table: Box<[AtomicU64]>,
    parents: Vec<OnceLock<Box<[AtomicU32]>>>,
    next: AtomicU32,
}

/// The numbers a thread may still give out.
#[derive(Clone, Debug, Default)]
pub struct Run {
    next: Id,
    end: Id,
}

impl Run {
    /// The numbers not given out.
    pub fn rest(&self) -> std::ops::Range<Id> {
        self.next..self.end
    }
}

/// A state on its way into the set.
#[derive(Clone, Copy)]
pub struct Pending<const W: usize> {
    /// The state.
    pub state: [u64; W],
    /// Its hash.
    pub hash: u64,
}

/// Hashes a state.
#[inline]
pub fn hash<const W: usize>(state: &[u64; W]) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
    for &word in state {
        hasher.write_u64(word);
    }
    hasher.finish()
}

fn slots(count: usize) -> Box<[AtomicU64]> {
    bytemuck::zeroed_slice_box(count)
}

impl<const W: usize> Store<W> {
    /// An empty set that holds at most `most` states.
    pub fn new(most: u64) -> Self {
        let chunks = (most.min(u64::from(NONE)) as usize).div_ceil(CHUNK) + 1;
        Store {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            table: slots(1 << 12),
            parents: (0..chunks).map(|_| OnceLock::new()).collect(),
            next: AtomicU32::new(0),
        }
    }

    /// How many states there are; while threads insert, an upper bound.
    pub fn len(&self) -> u32 {
        self.next.load(Relaxed)
    }

    /// Whether nothing has been inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many more states the table takes before it must grow.
    pub fn room(&self) -> usize {
        ((self.table.len() as f64 * FULL) as usize).saturating_sub(self.len() as usize)
    }

    /// The bytes it takes.
    pub fn bytes(&self) -> u64 {
        let chunks = self.chunks.iter().filter(|chunk| chunk.get().is_some()).count() as u64;
        let chunk_bytes = (CHUNK * W * 8 + CHUNK / BLOCK as usize * 4) as u64;
        chunks * chunk_bytes + self.table.len() as u64 * 8
    }

    /// The bytes it will take once the table has grown.
    pub fn bytes_grown(&self) -> u64 {
        self.bytes() + (self.table.len() as f64 * (GROWTH - 1.0)) as u64 * 8
    }

    /// Makes the table larger. `runs` are the numbers taken and not given out.
    pub fn grow(&mut self, runs: &[Run]) {
        let count = (self.table.len() as f64 * GROWTH) as usize;
        // The log has all there is to know, so the old table can go before the new one comes.
        self.table = Box::default();
        self.table = slots(count);
        let mut batch = Vec::with_capacity(256);
        let mut given_out =
            (0..self.len()).filter(|id| !runs.iter().any(|run| run.rest().contains(id)));
        loop {
            batch.clear();
            batch.extend(given_out.by_ref().take(256).map(|id| (id, hash(&self.get(id)))));
            if batch.is_empty() {
                return;
            }
            // As in `touch`: overlapping loads first.
            let touched = batch
                .iter()
                .fold(0, |touched, &(_, hash)| touched ^ self.table[self.slot(hash)].load(Relaxed));
            std::hint::black_box(touched);
            for &(id, hash) in &batch {
                let mut slot = self.slot(hash);
                while self.table[slot].load(Relaxed) != 0 {
                    slot = if slot + 1 == count { 0 } else { slot + 1 };
                }
                self.table[slot].store(entry(hash, id), Relaxed);
            }
        }
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.table.len() as u128) >> 64) as usize
    }

    #[inline]
    fn words(&self, id: Id) -> &[AtomicU64] {
        let chunk = self.chunks[(id >> CHUNK_BITS) as usize].get().expect("a number given out");
        &chunk[(id as usize & (CHUNK - 1)) * W..][..W]
    }

    /// The state with this number.
    #[inline]
    pub fn get(&self, id: Id) -> [u64; W] {
        let words = self.words(id);
        std::array::from_fn(|word| words[word].load(Relaxed))
    }

    /// The number of a state.
    #[inline]
    pub fn find(&self, state: &[u64; W]) -> Option<Id> {
        self.find_hashed(&Pending { state: *state, hash: hash(state) })
    }

    #[inline]
    fn find_hashed(&self, pending: &Pending<W>) -> Option<Id> {
        let mut slot = self.slot(pending.hash);
        loop {
            let found = self.table[slot].load(Acquire);
            if found == 0 {
                return None;
            }
            if let Some(id) = matching(found, pending.hash)
                && self.get(id) == pending.state
            {
                return Some(id);
            }
            slot = if slot + 1 == self.table.len() { 0 } else { slot + 1 };
        }
    }

    /// Brings what the next look-ups will touch into the cache: all loads are independent, so they
    /// overlap.
    #[inline]
    fn touch(&self, batch: &[Pending<W>]) {
        let mut found = [0u64; 64];
        for part in batch.chunks(found.len()) {
            for (found, pending) in found.iter_mut().zip(part) {
                *found = self.table[self.slot(pending.hash)].load(Relaxed);
            }
            let mut touched = 0;
            for (&found, pending) in found.iter().zip(part) {
                if let Some(id) = matching(found, pending.hash) {
                    touched ^= self.words(id)[0].load(Relaxed);
                }
            }
            std::hint::black_box(touched);
        }
    }

    /// The numbers of a batch of states.
    pub fn find_all(&self, batch: &[Pending<W>], mut each: impl FnMut(usize, Option<Id>)) {
        self.touch(batch);
        for (index, pending) in batch.iter().enumerate() {
            each(index, self.find_hashed(pending));
        }
    }

    /// Inserts a batch; calls `new` with the index and number of each state that was not there.
    /// `parent` says which state the one at an index comes from.
    pub fn insert_all(
        &self,
        batch: &[Pending<W>],
        run: &mut Run,
        parent: impl Fn(usize) -> Id,
        mut new: impl FnMut(usize, Id),
    ) {
        self.touch(batch);
        for (index, pending) in batch.iter().enumerate() {
            if let Some(id) = self.insert(pending, run, || parent(index)) {
                new(index, id);
            }
        }
    }

    #[inline]
    fn insert(&self, pending: &Pending<W>, run: &mut Run, parent: impl Fn() -> Id) -> Option<Id> {
        let mut slot = self.slot(pending.hash);
        loop {
            let mut found = self.table[slot].load(Acquire);
            if found == 0 {
                if run.next == run.end {
                    *run = self.take_run();
                }
                let id = run.next;
                for (word, &value) in self.words(id).iter().zip(&pending.state) {
                    word.store(value, Relaxed);
                }
                let mine = entry(pending.hash, id);
                match self.table[slot].compare_exchange(0, mine, AcqRel, Acquire) {
                    Ok(_) => {
                        if id.is_multiple_of(BLOCK) {
                            self.parent_cell(id).store(parent(), Release);
                        }
                        run.next += 1;
                        return Some(id);
                    }
                    Err(theirs) => found = theirs,
                }
            }
            if let Some(id) = matching(found, pending.hash)
                && self.get(id) == pending.state
            {
                return None;
            }
            slot = if slot + 1 == self.table.len() { 0 } else { slot + 1 };
        }
    }

    #[cold]
    fn take_run(&self) -> Run {
        // A run ends where a block does, so that all of a block's states that one level adds
        // come from one thread, in the order of their parents.
        let block_end = |next: u32| (next / BLOCK + 1) * BLOCK;
        let next = self
            .next
            .fetch_update(Relaxed, Relaxed, |next| Some(block_end(next)))
            .unwrap_or_else(|next| next);
        let chunk = (next >> CHUNK_BITS) as usize;
        self.chunks[chunk].get_or_init(|| slots(CHUNK * W));
        self.parents[chunk].get_or_init(|| bytemuck::zeroed_slice_box(CHUNK / BLOCK as usize));
        Run { next, end: block_end(next) }
    }

    /// Takes back what threads have not given out at the end of a level, so that numbers stay dense:
    /// the last states move to the numbers that are free before them. Returns who moved where.
    /// The parents of all states of this level are `first_parent` or after it.
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
        let hash = hash(&state);
        let mut slot = self.slot(hash);
        while self.table[slot].load(Relaxed) != entry(hash, from) {
            slot = if slot + 1 == self.table.len() { 0 } else { slot + 1 };
        }
        self.table[slot].store(entry(hash, to), Relaxed);
    }

    fn parent_cell(&self, id: Id) -> &AtomicU32 {
        let parents = self.parents[(id >> CHUNK_BITS) as usize].get().expect("a number given out");
        &parents[(id as usize & (CHUNK - 1)) / BLOCK as usize]
    }

    /// A state from which, going up, the parent of `id` is found before long: the parent of the
    /// first state in its block.
    pub fn first_parent(&self, id: Id) -> Id {
        self.parent_cell(id).load(Acquire)
    }
}

#[inline]
fn entry(hash: u64, id: Id) -> u64 {
    hash << 32 | u64::from(id + 1)
}

/// The number in a slot, if the slot may be the one for `hash`.
#[inline]
fn matching(slot: u64, hash: u64) -> Option<Id> {
    (slot != 0 && slot >> 32 == hash & 0xffff_ffff).then(|| slot as u32 - 1)
}
