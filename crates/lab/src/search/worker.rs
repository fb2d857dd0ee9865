//! One thread of a search: it expands states and inserts their successors into the set.

use std::sync::atomic::Ordering::Relaxed;

use crate::{
    compact::{LAST_SEGMENT, Local, SEGMENTS, TOGETHER},
    explore::{Ended, Progress},
    space::Found,
};

use super::{Entry, MARKS, Shared, frontier::Frontier, mail::Batch};

/// The number of words of the states that a thread remembers. They fit into the cache of a core.
const RECENT: usize = 1 << 15;

/// The private state of a thread.
pub(super) struct Worker<const W: usize, E> {
    /// The number of this thread.
    index: usize,
    /// For each segment: the states to insert.
    batches: Vec<Batch<E>>,
    /// The batches that this thread has received, with their segments.
    received: Vec<(u8, Batch<E>)>,
    /// States that this thread has found recently. At the start, each of them is an initial state. Most states
    /// are found several times within a short time, because independent steps lead to the same state in any
    /// order. A look-up here is faster than a look-up in the set.
    recent: Vec<[u64; W]>,
    /// The states that the last insertion has added.
    new: Vec<E>,
    found: Found<W>,
    pub next: Frontier<E>,
    pub marked: [Option<E>; MARKS],
}

impl<const W: usize, E: Entry<W>> Worker<W, E> {
    /// Creates the state of the thread with this number. `root` is an initial state of the search.
    pub fn new(index: usize, root: [u64; W]) -> Self {
        Worker {
            index,
            batches: (0..SEGMENTS).map(|_| Vec::with_capacity(TOGETHER)).collect(),
            received: Vec::new(),
            recent: vec![root; RECENT / W],
            new: Vec::with_capacity(TOGETHER),
            found: Found::default(),
            next: Frontier::new(),
            marked: [None; MARKS],
        }
    }

    /// Returns the number of steps that this thread has seen.
    pub fn transitions(&self) -> u64 {
        self.found.transitions
    }

    pub fn push_root(&mut self, shared: &Shared<'_, '_, W, E>, root: E) {
        let (segment, local) = shared.set.address(root.state());
        self.push_to(shared, segment, local, root);
    }

    #[inline]
    fn push_to(&mut self, shared: &Shared<'_, '_, W, E>, segment: u8, local: Local, entry: E) {
        let batch = &mut self.batches[usize::from(segment)];
        batch.push((local, entry));
        if batch.len() >= TOGETHER {
            self.send_or_insert(shared, segment);
        }
    }

    /// Sends the states that wait for this segment to its owner. Inserts them instead if this thread is the owner, if
    /// it expands the level alone, or if the inbox of the owner is full.
    fn send_or_insert(&mut self, shared: &Shared<'_, '_, W, E>, segment: u8) {
        let batch = &mut self.batches[usize::from(segment)];
        let owner = shared.mail.owner(segment);
        let is_sent = shared.is_shared_level()
            && owner != self.index
            && shared.mail.send(owner, segment, batch);
        if !is_sent {
            self.insert_own(shared, segment);
        }
    }

    fn insert_own(&mut self, shared: &Shared<'_, '_, W, E>, segment: u8) {
        let mut batch = std::mem::take(&mut self.batches[usize::from(segment)]);
        self.insert(shared, segment, &mut batch);
        self.batches[usize::from(segment)] = batch;
    }

    /// Inserts the states that this thread has received. Returns whether there were any.
    fn insert_received(&mut self, shared: &Shared<'_, '_, W, E>) -> bool {
        let mut received = std::mem::take(&mut self.received);
        shared.mail.receive(self.index, &mut received);
        for (segment, batch) in &mut received {
            self.insert(shared, *segment, batch);
        }
        self.received = received;
        !self.received.is_empty()
    }

    /// Inserts states into this segment.
    fn insert(&mut self, shared: &Shared<'_, '_, W, E>, segment: u8, batch: &mut Batch<E>) {
        let Worker { new, next, marked, .. } = self;
        let packing = shared.packing;
        new.clear();
        let mut inserted = Ok(());
        if !shared.has_ended() {
            inserted =
                shared.set.insert_all(segment, batch, |entry| packing.state(entry.state()), new);
        }
        batch.clear();
        if !new.is_empty() {
            new.truncate(shared.count(new.len()));
        }
        for entry in new {
            let state = packing.state(entry.state());
            let mut marks = (shared.task.look)(&state);
            while marks != 0 {
                let least = &mut marked[marks.trailing_zeros() as usize];
                if least.is_none_or(|least| shared.task.space.precedes(&state, least.state())) {
                    *least = Some(entry.with(state));
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
                self.insert_own(shared, segment);
            }
        }
    }

    #[inline]
    fn expand_state(
        &mut self,
        shared: &Shared<'_, '_, W, E>,
        entry: &E,
        is_middle: bool,
        found: &mut Found<W>,
    ) {
        let packing = shared.packing;
        let (state, skip) = (packing.state(entry.state()), packing.set(entry.state()));
        let entry = entry.with(state);
        found.successors.clear();
        shared.task.space.expand(&state, skip, found);
        for (successor, skip) in &found.successors {
            let (segment, local) = shared.set.address(successor);
            let recent = &mut self.recent[local.below(RECENT / W)];
            if *recent != *successor {
                *recent = *successor;
                let child = entry.child(packing.pack(*successor, *skip), is_middle);
                self.push_to(shared, segment, local, child);
            }
        }
    }

    /// Expands states of the current level until none is left.
    pub fn expand(&mut self, shared: &Shared<'_, '_, W, E>, depth: u32, reports: bool) {
        let is_middle = depth == shared.task.middle;
        while let Some(entries) = shared.level.take() {
            if shared.limits.stop.load(Relaxed) {
                shared.end(Ended::Stopped);
            }
            if shared.has_ended() {
                break;
            }
            let mut found = std::mem::take(&mut self.found);
            for entry in &entries {
                self.expand_state(shared, entry, is_middle, &mut found);
            }
            self.found = found;
            Frontier::free(entries, shared.memory);
            if shared.is_shared_level() {
                self.insert_received(shared);
            }
            if reports {
                (shared.limits.progress)(Progress {
                    states: shared.states.0.load(Relaxed),
                    frontier: shared.level.left(),
                    depth,
                });
            }
        }
        self.insert_rest(shared);
    }

    /// Expands states of the current level together with other threads. Each thread calls this function.
    pub fn expand_together(&mut self, shared: &Shared<'_, '_, W, E>, depth: u32, reports: bool) {
        let sender = shared.mail.sender();
        self.expand(shared, depth, reports);
        drop(sender);
        loop {
            let all_are_sent = shared.mail.all_are_sent();
            if !self.insert_received(shared) {
                if all_are_sent {
                    return;
                }
                std::thread::yield_now();
            }
        }
    }
}
