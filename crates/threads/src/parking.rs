//! How a thread waits: it spins for a moment, yields, and then parks.
//!
//! Spinning is best if the holder runs on another core and is about to leave. Yielding is best if there are more
//! runnable threads than cores: it gives the core to another thread without the two system calls and the wake-up that
//! parking costs. If every caller has to wait, the system switches from each waiter to the next, and most waiters find
//! their *grant* (the slots that another caller has given them) when they run again after one yield. A waiter that does
//! not find its grant after this yield parks. If it yielded again instead, it would stay runnable, and would only take
//! time on the core from threads that have a grant.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use crate::{
    sync::{spin_loop, thread},
    yielding::Yields,
};

/// The number of times that a waiter spins, and looks for its grant again, before it yields.
const SPINS: u32 = if cfg!(loom) { 0 } else { 40 };
/// The number of rests before a waiter parks: the spins, and one yield. Under loom, a waiter parks immediately.
const ROUNDS_BEFORE_PARKING: u32 = SPINS + if cfg!(loom) { 0 } else { 1 };
/// A yield that takes longer than this is slow. Parking then costs less than yielding, because the system wakes a
/// parked thread on a core that is free.
const SLOW_YIELD: Duration = Duration::from_micros(500);
/// The longest break after a slow yield: the number of waits in which the thread parks without yielding.
const LONGEST_BREAK: u32 = 4096;

static YIELDS: Yields = Yields::new(SLOW_YIELD, LONGEST_BREAK);

thread_local! {
    /// The number of waits in which this thread will still park without yielding.
    static WAITS_LEFT: Cell<u32> = const { Cell::new(0) };
}

/// How long a caller is willing to wait.
#[derive(Clone, Copy)]
pub(crate) enum Deadline {
    /// The caller waits without a limit.
    Never,
    /// The caller waits until this moment.
    At(Instant),
    /// The caller does not wait.
    Now,
}

impl Deadline {
    /// Returns the deadline `time` from now.
    pub(crate) fn after(time: Duration) -> Self {
        // A moment that `Instant` cannot represent never comes.
        Instant::now().checked_add(time).map_or(Deadline::Never, Deadline::At)
    }

    pub(crate) fn is_now(self) -> bool {
        matches!(self, Deadline::Now)
    }

    fn has_passed(self) -> bool {
        match self {
            Deadline::Never => false,
            Deadline::At(moment) => moment <= Instant::now(),
            Deadline::Now => true,
        }
    }
}

/// Lets a thread rest between two checks of its grant. The first rests are spins, the next one is a yield, and after
/// that the thread parks.
pub(crate) struct Parker {
    rounds: u32,
    deadline: Deadline,
}

impl Parker {
    pub(crate) fn new(deadline: Deadline) -> Self {
        Parker { rounds: 0, deadline }
    }

    /// Makes the first rest a yield. A caller behind many waiters will not get its grant while it spins.
    pub(crate) fn skip_spinning(&mut self) {
        self.rounds = SPINS;
    }

    /// Returns whether the deadline has passed.
    pub(crate) fn has_expired(&self) -> bool {
        self.deadline.has_passed()
    }

    /// Spins, yields or parks, depending on the number of calls so far. Returns whether the caller should look at its
    /// grant again. Returns `false` if the deadline has passed. While it spins, it does not read the clock, so only
    /// [`Deadline::Now`] counts.
    pub(crate) fn rest(&mut self) -> bool {
        self.rounds = self.rounds.saturating_add(1);
        if self.deadline.is_now() {
            return false;
        } else if self.rounds <= SPINS {
            spin_loop();
        } else if self.has_expired() {
            return false;
        } else if self.rounds > ROUNDS_BEFORE_PARKING
            || !WAITS_LEFT.with(|left| YIELDS.yield_core(left))
        {
            self.park();
        }
        true
    }

    #[cfg(not(loom))]
    fn park(&self) {
        match self.deadline {
            Deadline::At(moment) => {
                thread::park_timeout(moment.saturating_duration_since(Instant::now()));
            }
            _ => thread::park(),
        }
    }

    #[cfg(loom)]
    fn park(&self) {
        thread::park();
    }
}

/// Pauses, so that another thread can make a few accesses.
pub(crate) struct Backoff(u32);

impl Backoff {
    pub(crate) fn new() -> Self {
        Backoff(0)
    }

    #[cfg(not(loom))]
    pub(crate) fn rest(&mut self) {
        self.0 = self.0.wrapping_add(1);
        // The other thread may have lost its core.
        if self.0.is_multiple_of(SPINS) { thread::yield_now() } else { spin_loop() }
    }

    /// Under loom: a thread whose second look also fails behaves like a thread that makes its first look later. Loom
    /// explores that first look in other interleavings, so this interleaving is skipped.
    #[cfg(loom)]
    pub(crate) fn rest(&mut self) {
        self.0 += 1;
        if self.0 > 1 {
            loom::skip_branch();
        }
        thread::yield_now();
    }
}
