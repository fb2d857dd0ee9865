//! The contestants. A new contestant needs a small file and one line in [`field`].

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

    /// Registers a thread. The number of threads is at most [`Contestant::max_threads`].
    fn join(&self) -> Self::Handle<'_>;

    /// Applies an operation.
    fn apply<'a>(&'a self, handle: &mut Self::Handle<'a>, op: Op) -> Option<u64>;
}

/// The way in which threads share a contestant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The resilient object of hallpass: k threads work at once, and k - 1 of them may stop.
    Resilient {
        /// Number of threads that work at once.
        k: usize,
    },
    /// The construction inside `Resilient`, for a fixed number of threads. All of them work at once, because it lacks
    /// the turnstile of `Resilient`, which admits k threads.
    WaitFree {
        /// The largest number of threads.
        #[serde(rename = "places")]
        max_threads: usize,
    },
    /// A lock whose waiters spin.
    SpinLock,
    /// A lock whose waiters sleep.
    Lock,
    /// A lock-free structure, on which all threads work at once.
    LockFree,
}

type Run = dyn Fn(&Crew, &mut dyn FnMut(&Stage)) -> Result<(), String>;
type Answer = dyn Fn(usize, &[Op]) -> Vec<Option<u64>>;

/// One queue, and how to run threads on it.
pub struct Contestant {
    /// The name, without spaces.
    pub name: &'static str,
    /// The way in which threads share the queue.
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
    /// Creates a contestant; `make` creates its queue from a heap.
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

    /// Runs a crew on a new queue, which must support as many threads as the crew has. `direct` runs in this thread and
    /// directs the measurement. The run ends when `direct` returns.
    ///
    /// # Errors
    /// Returns a message if threads do not return from the queue.
    pub fn run(&self, crew: &Crew, direct: &mut dyn FnMut(&Stage)) -> Result<(), String> {
        (self.run)(crew, direct)
    }

    /// Returns the answers that one thread gets when it applies these operations to a queue of this size.
    pub fn answers(&self, size: usize, ops: &[Op]) -> Vec<Option<u64>> {
        (self.answer)(size, ops)
    }

    /// Returns the largest number of threads, if there is a limit.
    pub fn max_threads(&self) -> Option<usize> {
        match self.kind {
            Kind::WaitFree { max_threads } => Some(max_threads),
            _ => None,
        }
    }

    /// Returns the number of threads that may stop in an operation while others continue, if k determines this
    /// number.
    pub fn tolerates(&self) -> Option<usize> {
        match self.kind {
            Kind::Resilient { k } => Some(k - 1),
            _ => None,
        }
    }
}

/// The largest number of threads of a wait-free object.
pub const MANY: usize = 64;
/// The contestant with which the resilient objects are compared.
pub const WAIT_FREE: &str = "wait-free-64";

/// Returns all contestants.
pub fn field() -> Vec<Contestant> {
    use Kind::{Lock, LockFree, SpinLock, WaitFree};
    let resilient =
        |name, k| Contestant::new(name, Kind::Resilient { k }, move |heap| Resilient::new(k, heap));
    let wait_free = |name, max_threads| {
        Contestant::new(name, WaitFree { max_threads }, move |heap| {
            wait_free::new(max_threads, heap)
        })
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
