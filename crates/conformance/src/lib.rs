//! **One suite of tests for the guarantees of every hall.** The halls for threads, for processes and for a cluster have
//! most of their guarantees in common. So the tests of the common guarantees are written once, as [`behaviours`] that
//! use a small trait. A crate with halls, a new store or a binding implements one adapter and gets one `#[test]` for
//! each behaviour:
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
//! conformance!(Mine); // or `conformance!(Mine: many, tasks, forget)` for a hall with these abilities
//! # hallpass_conformance::behaviours::slots::at_most_k_holders::<Mine>();
//! ```
//!
//! A behaviour waits until a condition holds, with a generous deadline. On Linux, no behaviour assumes that something
//! has happened after a fixed time. The tests of this crate run the suite against a correct [`double`] in memory, and
//! single behaviours against deliberately wrong doubles. For each wrong double, the behaviour that covers its mistake
//! must fail.
#![forbid(unsafe_code)]

pub mod behaviours;
pub mod double;
mod helpers;
mod macros;
mod task;

pub use helpers::{Queued, assert_nothing_lost, deadline, enqueue, eventually, set_deadline};
pub use task::{Task, WakeCounter};

use std::{
    fmt::Debug,
    future::Future,
    time::{Duration, Instant},
};

/// The reason why a hall did not grant a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No slot is free, there are waiters, or the time limit has passed.
    NoPermits,
    /// The hall is closed.
    Closed,
    /// The caller asked for more slots than the hall has.
    TooMany,
}

/// The maximum size of a hall, and the amount of work for the suite.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// The maximum number of slots of the hall.
    pub max_slots: usize,
    /// The sizes of the halls on which the suite tests the behaviours that may depend on the size, such
    /// as which slot comes first.
    pub sizes: &'static [usize],
    /// The number of passages of each thread in tests with many threads. Use thousands for a hall in
    /// memory, and tens for a hall behind a network.
    pub rounds: usize,
    /// The approximate time until a released slot belongs to the next waiter. Some behaviours need a
    /// time limit that ends at about the moment at which a slot is assigned. They use limits of about
    /// this length.
    pub hand_over: Duration,
}

/// A hall that the suite tests. Clones are handles of one hall.
pub trait HallUnderTest: Clone + Send + Sync + 'static {
    /// A pass that does not borrow the hall. Dropping it frees the slot immediately or in the background.
    type Pass: Send + Debug + 'static;

    /// The maximum size of a hall, and the amount of work for the suite.
    const CAPACITY: Capacity;

    /// Whether a hall can be resized to 0 slots, which pauses it.
    const PAUSES: bool = false;

    /// Returns whether the hall can be tested. If its store is not installed, prints the reason to
    /// standard error and returns `false`.
    fn is_testable() -> bool {
        true
    }

    /// Creates a new hall with `k` slots, or returns the reason why this is not possible.
    fn open(k: usize) -> Result<Self, String>;

    /// Blocks until a slot is free and takes it.
    fn acquire(&self) -> Result<Self::Pass, Refusal>;

    /// Takes a slot if one is free and no caller waits.
    fn try_acquire(&self) -> Result<Self::Pass, Refusal>;

    /// Blocks until a slot is free and takes it. Waits at most for `time`.
    fn acquire_for(&self, time: Duration) -> Result<Self::Pass, Refusal>;

    /// Blocks until a slot is free and takes it. Waits at most until `deadline`.
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

    /// Changes the number of slots, or returns the reason why this number is not possible.
    fn resize(&self, k: usize) -> Result<(), String>;

    /// Closes the hall. Waiters and later callers get [`Refusal::Closed`].
    fn close(&self);

    /// Returns whether the hall is closed.
    fn is_closed(&self) -> bool;
}

/// A hall from which a caller can get several slots in one call.
pub trait ManyUnderTest: HallUnderTest {
    /// Several slots. Dropping this value frees them.
    type Passes: Send + Debug + 'static;

    /// Blocks until `m` slots are free and takes them.
    fn acquire_many(&self, m: usize) -> Result<Self::Passes, Refusal>;

    /// Takes `m` slots if they are free and no caller waits.
    fn try_acquire_many(&self, m: usize) -> Result<Self::Passes, Refusal>;

    /// Blocks until `m` slots are free and takes them. Waits at most for `time`.
    fn acquire_many_for(&self, m: usize, time: Duration) -> Result<Self::Passes, Refusal>;

    /// Returns the slots, in ascending order.
    fn slots_of(passes: &Self::Passes) -> Vec<usize>;
}

/// A hall in which tasks can wait.
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
