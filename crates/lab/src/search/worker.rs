//! One thread of a search: it expands states and inserts their successors into the set.

use std::sync::atomic::Ordering::Relaxed;

use crate::{
    compact::{LAST_SEGMENT, Local, SEGMENTS},
    explore::{Ended, Progress},
};

use super::{Entry, MARKS, Shared, frontier::Frontier};

/// The number of states that are inserted together. Their cache misses overlap.
const BATCH: usize = 64;

/// The number of words of the states that a thread remembers. They fit into the cache of a core.
const RECENT: usize = 1 << 15;

/// The private state of a thread.
pub(super) struct Worker<const W: usize, E> {
    /// For each segment: the states to insert.
    batches: Vec<Vec<(Local, E)>>,
    /// States that this thread has found recently. At the start, each of them is an initial state. Most states
    /// are found several times within a short time, because independent steps lead to the same state in any
    /// order. A look-up here is faster than a look-up in the set.
    recent: Vec<[u64; W]>,
    /// The states that the last insertion has added.
    new: Vec<E>,
    pub next: Frontier<E>,
    pub marked: [Option<E>; MARKS],
    pub transitions: u64,
}

impl<const W: usize, E: Entry<W>> Worker<W, E> {
    /// Creates the state of a thread. `root` is an initial state of the search.
    pub fn new(root: [u64; W]) -> Self {
        Worker {
            batches: (0..SEGMENTS).map(|_| Vec::with_capacity(BATCH)).collect(),
            recent: vec![root; RECENT / W],
            new: Vec::with_capacity(BATCH),
            next: Frontier::new(),
            marked: [None; MARKS],
            transitions: 0,
        }
    }

    pub fn push_root(&mut self, shared: &Shared<'_, '_, W, E>, root: E) {
        let (segment, local) = shared.set.address(root.state());
        self.push_to(shared, segment, local, root);
    }

    #[inline]
    fn push(&mut self, shared: &Shared<'_, '_, W, E>, entry: E) {
        let (segment, local) = shared.set.address(entry.state());
        let recent = &mut self.recent[local.below(RECENT / W)];
        if *recent != *entry.state() {
            *recent = *entry.state();
            self.push_to(shared, segment, local, entry);
        }
    }

    #[inline]
    fn push_to(&mut self, shared: &Shared<'_, '_, W, E>, segment: u8, local: Local, entry: E) {
        let batch = &mut self.batches[usize::from(segment)];
        batch.push((local, entry));
        if batch.len() >= BATCH {
            self.insert(shared, segment);
        }
    }

    /// Inserts the states that wait for this segment.
    fn insert(&mut self, shared: &Shared<'_, '_, W, E>, segment: u8) {
        let Worker { batches, new, next, marked, .. } = self;
        let batch = &mut batches[usize::from(segment)];
        new.clear();
        let mut inserted = Ok(());
        if !shared.has_ended() {
            inserted = shared.set.insert_all(segment, batch, E::state, new);
        }
        batch.clear();
        if !new.is_empty() {
            new.truncate(shared.count(new.len()));
        }
        for entry in new {
            let mut marks = (shared.task.look)(entry.state());
            while marks != 0 {
                let least = &mut marked[marks.trailing_zeros() as usize];
                if least.is_none_or(|least| entry.state() < least.state()) {
                    *least = Some(*entry);
                }
                marks &= marks - 1;
            }
            inserted = inserted.and_then(|()| next.push(*entry, shared.memory));
        }
        if inserted.is_err() {
            shared.end(Ended::Memory);
        }
    }

    pub fn insert_rest(&mut self, shared: &Shared<'_, '_, W, E>) {
        for segment in 0..=LAST_SEGMENT {
            if !self.batches[usize::from(segment)].is_empty() {
                self.insert(shared, segment);
            }
        }
    }

    /// Expands states of the current level until none is left.
    pub fn expand(&mut self, shared: &Shared<'_, '_, W, E>, depth: u32, reports: bool) {
        let space = shared.task.space;
        let is_middle = depth == shared.task.middle;
        while let Some(entries) = shared.level.take() {
            if shared.limits.stop.load(Relaxed) {
                shared.end(Ended::Stopped);
            }
            if shared.has_ended() {
                break;
            }
            for entry in &entries {
                let state = entry.state();
                space.successors(state, &mut |_, successor| {
                    self.transitions += 1;
                    if successor != *state {
                        let successor = space.canonical(successor);
                        self.push(shared, entry.child(successor, is_middle));
                    }
                });
            }
            Frontier::free(entries, shared.memory);
            if reports {
                (shared.limits.progress)(Progress {
                    states: shared.states.load(Relaxed),
                    frontier: shared.level.left(),
                    depth,
                });
            }
        }
        self.insert_rest(shared);
    }
}
