//! **One suite of tests for the guarantees of every hall.** The halls of threads, of processes and of a
//! cluster give the same guarantees, so the tests are written once, as [`behaviours`] over a small
//! trait. A family, a new store or a binding writes one adapter and gets one `#[test]` per behaviour:
//!
//! ```
//! use hallpass_conformance::{Capacity, HallUnderTest, Refusal, conformance, double::Double};
//!
//! #[derive(Clone)]
//! struct Mine(Double);
//!
//! impl HallUnderTest for Mine {
//!     type Pass = hallpass_conformance::double::Pass;
//!     const CAPACITY: Capacity = Capacity {
//!         max_slots: 64,
//!         sizes: &[1, 3, 64],
//!         rounds: 100,
//!         hand_over: std::time::Duration::from_micros(100),
//!     };
//!     fn open(k: usize) -> Result<Self, String> { Double::open(k).map(Mine) }
//!     fn acquire(&self) -> Result<Self::Pass, Refusal> { self.0.acquire() }
//!     fn try_acquire(&self) -> Result<Self::Pass, Refusal> { self.0.try_acquire() }
//!     fn acquire_for(&self, time: std::time::Duration) -> Result<Self::Pass, Refusal> {
//!         self.0.acquire_for(time)
//!     }
//!     fn slot(pass: &Self::Pass) -> usize { Double::slot(pass) }
//!     fn slots(&self) -> usize { self.0.slots() }
//!     fn available(&self) -> usize { self.0.available() }
//!     fn waiting(&self) -> usize { self.0.waiting() }
//!     fn resize(&self, k: usize) -> Result<(), String> { self.0.resize(k) }
//!     fn close(&self) { self.0.close() }
//!     fn is_closed(&self) -> bool { self.0.is_closed() }
//! }
//!
//! conformance!(Mine); // or `conformance!(Mine: many, tasks, forget)` for a hall that can do these
//! # hallpass_conformance::behaviours::slots::at_most_k_holders::<Mine>();
//! ```
//!
//! Every behaviour waits for conditions, with generous deadlines. None sleeps for a fixed time instead. The
//! crate's own tests run the suite against a correct [`double`] in memory, and against doubles that are wrong on
//! purpose. For each of these, the behaviour that covers the mistake has to fail.
#![forbid(unsafe_code)]

pub mod behaviours;
pub mod double;
mod helpers;
mod macros;
mod task;

pub use helpers::{Queued, assert_whole, deadline, enqueue, eventually, set_deadline};
pub use task::{Alarm, Task};

use std::{
    fmt::Debug,
    future::Future,
    time::{Duration, Instant},
};

/// Why a hall did not hand out a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No slot is free, others wait for one, or the time to wait is over.
    NoPermits,
    /// The hall is closed.
    Closed,
    /// The caller asked for more slots than the hall has.
    TooMany,
}

/// The maximum size of a hall, and how much work the suite gives it.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// The largest number of slots that the hall can have.
    pub max_slots: usize,
    /// The numbers of slots with which to test that slots are distinct and the smallest comes first.
    pub sizes: &'static [usize],
    /// How many times each thread enters where many threads come and go: thousands of times for a hall in
    /// memory, tens of times for one behind a network.
    pub rounds: usize,
    /// Roughly how long it takes until a released slot belongs to the next waiter. Some behaviours need a time
    /// limit that ends at about the moment at which a slot is assigned. They use limits of about this length.
    pub hand_over: Duration,
}

/// A hall that the suite tests. Clones are handles of one hall.
pub trait HallUnderTest: Clone + Send + Sync + 'static {
    /// A pass that does not borrow the hall. Dropping it frees the slot, at once or in the background.
    type Pass: Send + Debug + 'static;

    /// The maximum size of a hall, and how much work the suite gives it.
    const CAPACITY: Capacity;

    /// Whether a hall can be resized to 0 slots, which pauses it.
    const PAUSES: bool = false;

    /// Returns `false`, and prints the reason to standard error, if the hall cannot be tested because its store
    /// is not installed.
    fn is_testable() -> bool {
        true
    }

    /// Makes a new hall with `k` slots, or returns the reason why there is no such hall.
    fn open(k: usize) -> Result<Self, String>;

    /// Blocks until a slot is free and takes it.
    fn acquire(&self) -> Result<Self::Pass, Refusal>;

    /// Takes a slot if one is free and nobody waits.
    fn try_acquire(&self) -> Result<Self::Pass, Refusal>;

    /// Blocks until a slot is free and takes it, for at most this long.
    fn acquire_for(&self, time: Duration) -> Result<Self::Pass, Refusal>;

    /// Blocks until a slot is free and takes it, or until `deadline` passes.
    fn acquire_until(&self, deadline: Instant) -> Result<Self::Pass, Refusal> {
        self.acquire_for(deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns the slot of a pass.
    fn slot(pass: &Self::Pass) -> usize;

    /// Frees the slot of a pass. Returns when the slot is free or belongs to the next waiter.
    fn release(pass: Self::Pass) {
        drop(pass);
    }

    /// Returns the number of slots of the hall.
    fn slots(&self) -> usize;

    /// Returns the number of free slots.
    fn available(&self) -> usize;

    /// Returns the number of waiters.
    fn waiting(&self) -> usize;

    /// Changes the number of slots, or returns the reason why the hall cannot have that many.
    fn resize(&self, k: usize) -> Result<(), String>;

    /// Closes the hall. Waiters and later callers get [`Refusal::Closed`].
    fn close(&self);

    /// Returns whether the hall is closed.
    fn is_closed(&self) -> bool;
}

/// A hall from which a caller can get several slots at once.
pub trait ManyUnderTest: HallUnderTest {
    /// Several slots. Dropping it frees them.
    type Passes: Send + Debug + 'static;

    /// Blocks until `m` slots are free and takes them.
    fn acquire_many(&self, m: usize) -> Result<Self::Passes, Refusal>;

    /// Takes `m` slots if they are free and nobody waits.
    fn try_acquire_many(&self, m: usize) -> Result<Self::Passes, Refusal>;

    /// Blocks until `m` slots are free and takes them, for at most this long.
    fn acquire_many_for(&self, m: usize, time: Duration) -> Result<Self::Passes, Refusal>;

    /// Returns the slots, in ascending order.
    fn slots_of(passes: &Self::Passes) -> Vec<usize>;
}

/// A hall for which tasks can wait.
pub trait TasksUnderTest: HallUnderTest {
    /// A future that waits for a pass.
    type Acquiring: Future<Output = Result<Self::Pass, Refusal>> + Send + 'static;

    /// Returns a future that joins the queue soon after it is first polled, and leaves the queue when it is
    /// dropped.
    fn acquire_async(&self) -> Self::Acquiring;
}

/// A hall whose slots can be given up permanently.
pub trait ForgetUnderTest: HallUnderTest {
    /// Ends a pass without freeing its slot.
    fn forget(pass: Self::Pass);
}
