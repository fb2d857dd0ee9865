//! How one waits: spin a little, let others run, then park.
//!
//! Spinning is right when the holder runs on another core and is about to leave. Yielding is right
//! when more threads want to run than there are cores: it hands the core on without the two system
//! calls and the wake-up that parking takes. Both are bounded; whoever still waits then sleeps.

use std::time::{Duration, Instant};

use crate::sync::{spin_loop, thread};

/// How often to look again at once.
const SPINS: u32 = if cfg!(loom) { 0 } else { 40 };
/// How often to let others run before parking. More of it only makes those who wait take turns.
const YIELDS: u32 = if cfg!(loom) { 0 } else { 1 };

/// How long somebody is willing to wait.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// As long as it takes.
    Never,
    /// Until then.
    At(Instant),
    /// Not at all.
    Now,
}

impl Limit {
    /// For so long, from now on.
    pub(crate) fn after(time: Duration) -> Self {
        // What is too far away to be told is never.
        Instant::now().checked_add(time).map_or(Limit::Never, Limit::At)
    }

    pub(crate) fn is_now(self) -> bool {
        matches!(self, Limit::Now)
    }
}

/// What is left of one waiter's patience.
pub(crate) struct Patience {
    rounds: u32,
    limit: Limit,
}

impl Patience {
    pub(crate) fn new(limit: Limit) -> Self {
        Patience { rounds: 0, limit }
    }

    /// Whether time is over.
    pub(crate) fn is_over(&self) -> bool {
        match self.limit {
            Limit::Never => false,
            Limit::At(until) => until <= Instant::now(),
            Limit::Now => true,
        }
    }

    /// Waits a little longer each time, in the end until it is woken up. Says whether there is any
    /// reason to look again, which time being over is not.
    pub(crate) fn rest(&mut self) -> bool {
        self.rounds = self.rounds.saturating_add(1);
        if self.limit.is_now() {
            return false;
        } else if self.rounds <= SPINS {
            spin_loop();
        } else if self.is_over() {
            return false;
        } else if self.rounds <= SPINS + YIELDS {
            thread::yield_now();
        } else {
            self.park();
        }
        true
    }

    #[cfg(not(loom))]
    fn park(&self) {
        match self.limit {
            Limit::At(until) => {
                thread::park_timeout(until.saturating_duration_since(Instant::now()));
            }
            _ => thread::park(),
        }
    }

    #[cfg(loom)]
    fn park(&self) {
        thread::park();
    }
}

/// Waits for something that takes a few accesses only.
pub(crate) struct Pause(u32);

impl Pause {
    pub(crate) fn new() -> Self {
        Pause(0)
    }

    #[cfg(not(loom))]
    pub(crate) fn rest(&mut self) {
        self.0 = self.0.wrapping_add(1);
        // Whoever is waited for may have lost its core.
        if self.0.is_multiple_of(SPINS) { thread::yield_now() } else { spin_loop() }
    }

    /// Who looks twice in vain might as well have come later: no need to explore that too.
    #[cfg(loom)]
    pub(crate) fn rest(&mut self) {
        self.0 += 1;
        if self.0 > 1 {
            loom::skip_branch();
        }
        thread::yield_now();
    }
}
