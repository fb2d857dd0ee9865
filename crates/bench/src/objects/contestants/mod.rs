//! The contestants. A new one costs a small file and one line in [`field`].

mod locks;
mod mcs;
mod resilient;
mod skip_list;
mod wait_free;

use std::fmt;

use hallpass_objects::Resilient;
use serde::Serialize;

pub use self::mcs::Draining;
use super::{
    heap::{Heap, Op},
    stage::{self, Crew, Stage},
};

/// A priority queue that threads share.
pub trait Queue: Sized + Send + Sync + 'static {
    /// State that a thread keeps from one operation to the next.
    type Handle<'a>
    where
        Self: 'a;

    /// A thread comes. There are not more threads than the queue has places.
    fn join(&self) -> Self::Handle<'_>;

    /// Applies an operation.
    fn apply<'a>(&'a self, handle: &mut Self::Handle<'a>, op: Op) -> Option<u64>;
}

/// The way in which threads share a contestant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// This project's object: k work at once, k - 1 of which may stop.
    Resilient {
        /// Number of threads that work at once.
        k: usize,
    },
    /// The same construction without a turnstile: each thread has a place of its own.
    WaitFree {
        /// Number of places.
        places: usize,
    },
    /// One at a time, and who waits spins.
    SpinLock,
    /// One at a time, and who waits sleeps.
    Lock,
    /// All at once, on a structure made for it.
    LockFree,
}

type Run = dyn Fn(&Crew, &mut dyn FnMut(&Stage)) -> Result<(), String>;
type Answer = dyn Fn(usize, &[Op]) -> Vec<Option<u64>>;

/// One queue, and how to run threads on it.
pub struct Contestant {
    /// The name, without spaces.
    pub name: &'static str,
    /// The way in which threads share it.
    pub kind: Kind,
    run: Box<Run>,
    answer: Box<Answer>,
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Contestant {
    /// A contestant that `make` makes of a heap.
    pub fn new<Q: Queue>(
        name: &'static str,
        kind: Kind,
        make: impl Fn(Heap) -> Q + Copy + 'static,
    ) -> Self {
        let answer = move |size: usize, ops: &[Op]| {
            let queue = make(Heap::of_size(size));
            let mut handle = queue.join();
            ops.iter().map(|op| queue.apply(&mut handle, *op)).collect()
        };
        let run = move |crew: &Crew, direct: &mut dyn FnMut(&Stage)| {
            stage::run(make(Heap::of_size(crew.size)), crew, direct)
        };
        Contestant { name, kind, run: Box::new(run), answer: Box::new(answer) }
    }

    /// Runs a crew, for which it must have places, on a new queue, while `direct` says in this thread
    /// what is to happen; when it returns, the crew stops. An error if threads do not come back.
    pub fn run(&self, crew: &Crew, direct: &mut dyn FnMut(&Stage)) -> Result<(), String> {
        (self.run)(crew, direct)
    }

    /// The answers that one thread gets when it applies these operations to a queue of this size.
    pub fn answers(&self, size: usize, ops: &[Op]) -> Vec<Option<u64>> {
        (self.answer)(size, ops)
    }

    /// For how many threads there are places, if not for any number.
    pub fn places(&self) -> Option<usize> {
        match self.kind {
            Kind::WaitFree { places } => Some(places),
            _ => None,
        }
    }

    /// Number of threads that may stop inside while others continue, if that is configurable.
    pub fn tolerates(&self) -> Option<usize> {
        match self.kind {
            Kind::Resilient { k } => Some(k - 1),
            _ => None,
        }
    }
}

/// The most places that a wait-free object has.
pub const MANY: usize = 64;
/// The contestant that the resilient ones are compared with.
pub const WAIT_FREE: &str = "wait-free-64";

/// All of them.
pub fn field() -> Vec<Contestant> {
    use Kind::{Lock, LockFree, SpinLock, WaitFree};
    let resilient =
        |name, k| Contestant::new(name, Kind::Resilient { k }, move |heap| Resilient::new(k, heap));
    let wait_free = |name, places| {
        Contestant::new(name, WaitFree { places }, move |heap| wait_free::new(places, heap))
    };
    vec![
        resilient("resilient-1", 1),
        resilient("resilient-2", 2),
        resilient("resilient-4", 4),
        resilient("resilient-8", 8),
        wait_free("wait-free-32", MANY / 2),
        wait_free(WAIT_FREE, MANY),
        Contestant::new("mcs", SpinLock, mcs::Mcs::<mcs::Spin>::new),
        Contestant::new("mcs-yield", SpinLock, mcs::Mcs::<mcs::Yield>::new),
        Contestant::new("std-mutex", Lock, std::sync::Mutex::new),
        Contestant::new("parking-lot", Lock, parking_lot::Mutex::new),
        Contestant::new("skip-list", LockFree, skip_list::SkipList::new),
    ]
}
