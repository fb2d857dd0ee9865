//! Explores a [`Space`] breadth first, level by level, with one or more threads.
//!
//! A level is finished before the next level begins. So levels are exact for any number of threads, and
//! [`Explored::path`] returns a shortest path.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::{
    graph::Graph,
    space::{Agent, Space, violation},
    store::{Id, NONE, Pending, Run, Store, TOGETHER},
};

/// The limits of an exploration.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The maximum number of states.
    pub states: u64,
    /// The maximum number of bytes of memory.
    pub bytes: u64,
    /// The number of threads.
    pub threads: usize,
    /// The exploration stops soon after this becomes true.
    pub stop: &'a AtomicBool,
    /// Called from time to time with the progress so far.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// The progress of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The number of states found.
    pub states: u64,
    /// The number of states that are found but not expanded yet.
    pub frontier: u64,
    /// The current breadth-first level.
    pub depth: u32,
}

/// The reason why an exploration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The exploration found every reachable state.
    Complete,
    /// The exploration reached its limit on states.
    States,
    /// The exploration reached its limit on memory.
    Memory,
    /// The caller stopped the exploration.
    Stopped,
}

/// The result of an exploration.
pub struct Explored<const W: usize> {
    /// The states.
    pub store: Store<W>,
    /// The number of states.
    pub states: u64,
    /// The number of steps from all expanded states, including steps that only wait.
    pub transitions: u64,
    /// The number of levels.
    pub depth: u32,
    /// The reason why the exploration ended.
    pub ended: Ended,
    /// The maximum number of bytes in use at the same time.
    pub bytes: u64,
    /// For each violation: a state that has it, on the smallest level with such a state.
    violating: Vec<AtomicU32>,
    roots: Id,
}

/// The maximum number of states. Numbers of states have 32 bits, and threads reserve some numbers in
/// advance.
pub const MOST_STATES: u64 = u32::MAX as u64 - (1 << 20);

/// The maximum number of threads. More threads would only slow each other down.
pub(crate) const MOST_THREADS: usize = 64;

/// The number of parents that a thread takes at a time.
const PART: u32 = 512;

struct Worker<const W: usize> {
    run: Run,
    batch: Vec<Pending<W>>,
    transitions: u64,
}

impl<const W: usize> Worker<W> {
    fn new() -> Self {
        Worker { run: Run::default(), batch: Vec::with_capacity(2 * TOGETHER), transitions: 0 }
    }

    fn flush(&mut self, space: &dyn Space<W>, store: &Store<W>, violating: &[AtomicU32]) {
        store.insert_all(&self.batch, &mut self.run, |pending, id| {
            let mut violations = space.violations(pending.state());
            while violations != 0 {
                violating[violations.trailing_zeros() as usize].fetch_min(id, Relaxed);
                violations &= violations - 1;
            }
        });
        self.batch.clear();
    }

    /// Expands the states from `next` to `end`, in parts.
    fn expand(
        &mut self,
        space: &dyn Space<W>,
        store: &Store<W>,
        violating: &[AtomicU32],
        next: &AtomicU32,
        end: Id,
    ) {
        loop {
            let first = next.fetch_add(PART, Relaxed);
            if first >= end {
                break;
            }
            for id in first..end.min(first + PART) {
                let state = store.get(id);
                space.successors(&state, &mut |_, successor| {
                    self.transitions += 1;
                    if successor != state {
                        self.batch.push(store.pending(space.canonical(successor), id));
                    }
                });
                if self.batch.len() >= TOGETHER {
                    self.flush(space, store, violating);
                }
            }
        }
        self.flush(space, store, violating);
    }
}

/// Explores every reachable state of `space`, up to the limits.
pub fn explore<const W: usize>(space: &dyn Space<W>, limits: &Limits<'_>) -> Explored<W> {
    let limits = &Limits { states: limits.states.min(MOST_STATES), ..*limits };
    let threads = limits.threads.clamp(1, MOST_THREADS);
    let mut store = Store::<W>::new(limits.states + u64::from(PART) * 64, space.bits());
    let violating: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(NONE)).collect();
    let mut workers: Vec<Worker<W>> = (0..threads).map(|_| Worker::new()).collect();
    let mut bytes = 0;
    let mut ended = Ended::Complete;

    let mut roots = space.initial().map(|state| space.canonical(state)).peekable();
    while roots.peek().is_some() {
        if let Some(reason) = make_room(&mut store, &workers, TOGETHER, limits) {
            ended = reason;
            break;
        }
        workers[0]
            .batch
            .extend(roots.by_ref().take(TOGETHER).map(|state| store.pending(state, NONE)));
        workers[0].flush(space, &store, &violating);
    }
    drop(roots);
    store.give_back(vec![std::mem::take(&mut workers[0].run)], NONE);
    let root_count = store.len();

    let (mut first, mut depth) = (0, 0);
    while first < store.len() && ended == Ended::Complete {
        let (level_first, level_end) = (first, store.len());
        while first < level_end {
            if limits.stop.load(Relaxed) {
                ended = Ended::Stopped;
                break;
            }
            let wanted = ((level_end - first) as usize).min(PART as usize * 8) * space.agents();
            if let Some(reason) = make_room(&mut store, &workers, wanted, limits) {
                ended = reason;
                break;
            }
            // The part from `first` to `end` is so short that all its successors fit into the table and
            // below the limit, even if every agent can take a step in every state. If this leaves room for no
            // state, the part is a single state. Only such a part may exceed the limit on states, by less than the
            // number of agents.
            let left = (limits.states - u64::from(store.len())) as usize;
            let room = (store.room().min(left) / space.agents()).min(1 << 20) as u32;
            let end = level_end.min(first.saturating_add(room.max(1)));
            expand_part(space, &store, &mut workers, &violating, first, end);
            first = end;
            bytes = bytes.max(store.bytes());
            (limits.progress)(Progress {
                states: u64::from(store.len()),
                frontier: u64::from(store.len() - first),
                depth,
            });
        }
        let runs = workers.iter_mut().map(|worker| std::mem::take(&mut worker.run)).collect();
        for (from, to) in store.give_back(runs, level_first) {
            for violating in violating.iter().filter(|violating| violating.load(Relaxed) == from) {
                violating.store(to, Relaxed);
            }
        }
        depth += 1;
    }
    Explored {
        states: u64::from(store.len()),
        transitions: workers.iter().map(|worker| worker.transitions).sum(),
        bytes: bytes.max(store.bytes()),
        store,
        depth,
        ended,
        violating,
        roots: root_count,
    }
}

/// Grows the table until it has room for `wanted` more states. Returns the limit that forbids this, if
/// any.
fn make_room<const W: usize>(
    store: &mut Store<W>,
    workers: &[Worker<W>],
    wanted: usize,
    limits: &Limits<'_>,
) -> Option<Ended> {
    if u64::from(store.len()) >= limits.states {
        return Some(Ended::States);
    }
    while store.room() < wanted {
        if store.bytes_grown() > limits.bytes {
            return Some(Ended::Memory);
        }
        let runs: Vec<Run> = workers.iter().map(|worker| worker.run.clone()).collect();
        store.grow(&runs);
    }
    (store.bytes() > limits.bytes).then_some(Ended::Memory)
}

fn expand_part<const W: usize>(
    space: &dyn Space<W>,
    store: &Store<W>,
    workers: &mut [Worker<W>],
    violating: &[AtomicU32],
    first: Id,
    end: Id,
) {
    let next = AtomicU32::new(first);
    if end - first < 4 * PART || workers.len() == 1 {
        workers[0].expand(space, store, violating, &next, end);
    } else {
        std::thread::scope(|scope| {
            for worker in workers {
                let next = &next;
                scope.spawn(move || worker.expand(space, store, violating, next, end));
            }
        });
    }
}

/// One step of a path.
pub type PathStep<const W: usize> = (Agent, [u64; W]);

/// Returns a run through these representatives (results of [`Space::canonical`]): an initial state, and
/// the steps. The first representative stands for an initial state, and each further one for a successor
/// of the state before it.
pub(crate) fn walk<const W: usize>(
    space: &dyn Space<W>,
    representatives: &[[u64; W]],
) -> ([u64; W], Vec<PathStep<W>>) {
    let (root, rest) = representatives.split_first().expect("a path begins with its root");
    // The representative of an initial state is not always an initial state itself.
    let is_start = |state: &[u64; W]| space.canonical(*state) == *root;
    let start = space.initial().find(is_start).expect("the root represents an initial state");
    let mut now = start;
    let mut steps = Vec::new();
    for target in rest {
        let mut step = None;
        space.successors(&now, &mut |agent, next| {
            if step.is_none() && next != now && space.canonical(next) == *target {
                step = Some((agent, next));
            }
        });
        let (agent, next) = step.expect("each state is a successor of the one before");
        steps.push((agent, next));
        now = next;
    }
    (start, steps)
}

impl<const W: usize> Explored<W> {
    /// Returns whether every reachable state has been seen.
    pub fn is_complete(&self) -> bool {
        self.ended == Ended::Complete
    }

    /// Returns whether every reachable state has been seen and no step left a variable's range. The
    /// exploration does not continue after such a step.
    pub fn is_whole(&self) -> bool {
        self.is_complete() && self.violating(violation::RANGE).is_none()
    }

    /// Returns a state that has the violation, on the smallest level with such a state.
    pub fn violating(&self, bit: u32) -> Option<Id> {
        match self.violating[bit as usize].load(Relaxed) {
            NONE => None,
            id => Some(id),
        }
    }

    /// Returns the numbers of all states.
    pub fn ids(&self) -> std::ops::Range<Id> {
        0..self.store.len()
    }

    /// Returns a state from which a step leads to `id`, one level closer to the start.
    fn parent(&self, space: &dyn Space<W>, id: Id) -> Id {
        let target = self.store.get(id);
        let from = match self.store.first_parent(id) {
            NONE => 0, // the block of `id` in the store begins with initial states
            parent => parent,
        };
        (from..id)
            .find(|&candidate| {
                let mut found = false;
                space.successors(&self.store.get(candidate), &mut |_, next| {
                    found |= space.canonical(next) == target;
                });
                found
            })
            .expect("every state that is not initial has a parent")
    }

    /// Returns a shortest path to `id`: an initial state, and the steps. With symmetry, the path ends in
    /// a state that equals `id` up to a renaming of processes.
    pub fn path(&self, space: &dyn Space<W>, id: Id) -> ([u64; W], Vec<PathStep<W>>) {
        let mut back = vec![id];
        while back[back.len() - 1] >= self.roots {
            back.push(self.parent(space, back[back.len() - 1]));
        }
        back.reverse();
        let states: Vec<[u64; W]> = back.into_iter().map(|id| self.store.get(id)).collect();
        walk(space, &states)
    }

    /// Returns the number of initial states. These have the lowest numbers.
    pub fn roots(&self) -> Id {
        self.roots
    }

    /// Returns the number of bytes for the graph of all steps and for the result of one search for its components.
    pub fn graph_bytes(&self, agents: usize) -> u64 {
        const COMPONENTS: u64 = 3 * size_of::<Id>() as u64;
        u64::from(self.store.len()) * ((agents * size_of::<Id>()) as u64 + COMPONENTS)
    }

    /// Returns the graph of all steps. There is no edge for a step to a state that the exploration did
    /// not reach.
    pub fn graph(&self, space: &dyn Space<W>, threads: usize) -> Graph {
        let agents = space.agents();
        let len = self.store.len() as usize;
        let mut edges = vec![NONE; len * agents];
        let part = len.div_ceil(threads.max(1)).max(1) * agents;
        std::thread::scope(|scope| {
            for (index, edges) in edges.chunks_mut(part).enumerate() {
                let first = (index * part / agents) as Id;
                scope.spawn(move || self.edges_from(space, first, edges));
            }
        });
        Graph { agents, targets: edges }
    }

    fn edges_from(&self, space: &dyn Space<W>, first: Id, edges: &mut [Id]) {
        const STATES: usize = TOGETHER / 2;
        let agents = space.agents();
        let mut batch: Vec<Pending<W>> = Vec::with_capacity(STATES * agents);
        for (part, edges) in edges.chunks_mut(STATES * agents).enumerate() {
            for index in 0..edges.len() / agents {
                let id = first + (part * STATES + index) as Id;
                let state = self.store.get(id);
                space.successors(&state, &mut |agent, next| {
                    let cell = index * agents + agent;
                    if next == state {
                        edges[cell] = id;
                    } else {
                        batch.push(self.store.pending(space.canonical(next), cell as u32));
                    }
                });
            }
            self.store.find_all(&batch, |pending, id| {
                edges[pending.note() as usize] = id.unwrap_or(NONE);
            });
            batch.clear();
        }
    }
}
