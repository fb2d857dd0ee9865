//! Searches one level after another, with several threads for a large level.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use crate::{
    compact::{CompactSet, Memory},
    explore::{Ended, Limits, MOST_THREADS},
    space::Space,
};

use super::{
    Entry, MARKS, Marked, Outcome, Task, frontier::Level, mail::Mail, packed::Packing,
    worker::Worker,
};

/// A value in a cache line of its own, so that changing it does not slow down threads that read other values.
#[repr(align(128))]
pub(super) struct Apart<T>(pub T);

/// The state that all threads share.
pub(super) struct Shared<'t, 'm, const W: usize, E> {
    pub task: &'t Task<'t, W>,
    pub limits: &'t Limits<'t>,
    pub memory: &'m Memory,
    pub set: CompactSet<'m, W>,
    pub packing: Packing<W>,
    pub level: Level<E>,
    pub mail: Mail<E>,
    /// Whether several threads expand the current level.
    pub is_shared_level: AtomicBool,
    pub states: Apart<AtomicU64>,
    pub has_ended: Apart<AtomicBool>,
    pub ended: Mutex<Ended>,
}

impl<const W: usize, E> Shared<'_, '_, W, E> {
    /// Ends the search early.
    pub fn end(&self, why: Ended) {
        let mut ended = self.ended.lock().expect("no panic while held");
        if *ended == Ended::Complete {
            *ended = why;
            self.has_ended.0.store(true, Relaxed);
        }
    }

    pub fn is_shared_level(&self) -> bool {
        self.is_shared_level.load(Relaxed)
    }

    pub fn has_ended(&self) -> bool {
        self.has_ended.0.load(Relaxed)
    }

    /// Counts states that are new, and returns how many of them the limit on states allows. Ends the search
    /// if the limit is reached.
    pub fn count(&self, new: usize) -> usize {
        let (new, limit) = (new as u64, self.limits.states);
        let before = self.states.0.fetch_add(new, Relaxed);
        let allowed = new.min(limit.saturating_sub(before));
        if before + new >= limit {
            self.states.0.fetch_sub(new - allowed, Relaxed);
            self.end(Ended::States);
        }
        allowed as usize
    }
}

/// Searches from the states `roots`. `set` is empty at first. The search ends after a level if `is_useless` returns
/// true for the number of states found so far.
pub(super) fn run_on<'a, const W: usize, E: Entry<W>>(
    task: &Task<'_, W>,
    roots: &mut dyn Iterator<Item = [u64; W]>,
    is_useless: &dyn Fn(u64) -> bool,
    set: CompactSet<'a, W>,
    limits: &Limits<'_>,
    memory: &'a Memory,
) -> (Outcome<W>, CompactSet<'a, W>) {
    let threads = limits.threads.clamp(1, MOST_THREADS);
    let shared = Shared {
        task,
        limits,
        memory,
        set,
        packing: Packing::new(task.space.word_bits(), task.space.agents()),
        level: Level::new(),
        mail: Mail::new(threads),
        is_shared_level: AtomicBool::new(false),
        states: Apart(AtomicU64::new(0)),
        has_ended: Apart(AtomicBool::new(false)),
        ended: Mutex::new(Ended::Complete),
    };
    let mut roots = roots.peekable();
    let first_root = roots.peek().copied().unwrap_or([0; W]);
    let mut workers: Vec<Worker<W, E>> =
        (0..threads).map(|index| Worker::new(index, first_root)).collect();
    let mut marked: Vec<Option<Marked<W>>> = vec![None; MARKS];
    let mut depth = 0;

    for root in roots {
        if limits.stop.load(Relaxed) {
            shared.end(Ended::Stopped);
        }
        if shared.has_ended() {
            break;
        }
        workers[0].push_root(&shared, E::root(root));
    }
    workers[0].insert_rest(&shared);
    let roots = shared.states.0.load(Relaxed);
    loop {
        gather(task.space, &mut marked, &mut workers, depth);
        shared.level.begin(workers.iter_mut().map(|worker| &mut worker.next));
        let is_found = task.until_found && marked.iter().any(Option::is_some);
        let states = shared.states.0.load(Relaxed);
        if shared.level.left() == 0 || shared.has_ended() || is_found || is_useless(states) {
            break;
        }
        expand_level(&shared, &mut workers, depth);
        depth += 1;
    }
    let outcome = Outcome {
        states: shared.states.0.load(Relaxed),
        transitions: workers.iter().map(|worker| worker.transitions()).sum(),
        depth,
        ended: *shared.ended.lock().expect("no panic while held"),
        roots,
        marked,
    };
    shared.level.free(memory);
    (outcome, shared.set)
}

fn expand_level<const W: usize, E: Entry<W>>(
    shared: &Shared<'_, '_, W, E>,
    workers: &mut [Worker<W, E>],
    depth: u32,
) {
    let (first, others) = workers.split_first_mut().expect("at least one thread");
    let is_shared = !others.is_empty() && shared.level.is_worth_sharing();
    shared.is_shared_level.store(is_shared, Relaxed);
    if !is_shared {
        first.expand(shared, depth, true);
        return;
    }
    shared.mail.begin(1 + others.len());
    std::thread::scope(|scope| {
        for worker in others {
            scope.spawn(move || worker.expand_together(shared, depth, false));
        }
        first.expand_together(shared, depth, true);
    });
}

/// Keeps, for each mark (see [`Look`](super::Look)), the first state of this level with this mark in the order of
/// [`Space::precedes`]. If a state on an earlier level has the mark, keeps that state instead.
fn gather<const W: usize, E: Entry<W>>(
    space: &dyn Space<W>,
    marked: &mut [Option<Marked<W>>],
    workers: &mut [Worker<W, E>],
    level: u32,
) {
    for (bit, first) in marked.iter_mut().enumerate() {
        let found = workers.iter_mut().filter_map(|worker| worker.marked[bit].take());
        let least =
            found.reduce(
                |one, other| {
                    if space.precedes(other.state(), one.state()) { other } else { one }
                },
            );
        let marked = |entry: E| Marked { level, state: *entry.state(), ancestor: entry.ancestor() };
        *first = first.or(least.map(marked));
    }
}
