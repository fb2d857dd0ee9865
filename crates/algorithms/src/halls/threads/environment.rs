//! The environment of the step machine: the shared state that its lines read and write. The *server* is the caller that
//! holds `lock`: it gives free slots to the waiters. Other callers leave *news* for it. The [parent module](super)
//! explains the algorithm.

use core::{fmt::Debug, hash::Hash};

use super::lines::Line;
use crate::framework::memory::{Op, Word};

/// The part of a hall's state that the fast path uses (lines L1, L2 and X1).
pub trait FastEnvironment {
    /// Accesses the variable `word`: the number of waiters, and the free slots.
    fn word(&mut self, op: Op) -> Word;
}

/// The part of a hall's state that a newcomer uses to overtake waiters (lines B1 to B4).
pub trait OvertakeEnvironment: FastEnvironment {
    /// Accesses the variable `credit`: how many more newcomers may overtake the waiters. Only halls with a limit on
    /// overtaking have it.
    fn credit(&mut self, op: Op) -> Word;
}

/// The state of a hall, as a caller sees it during a passage. Each method call is one access.
///
/// | | in the lab | natively |
/// |---|---|---|
/// | words | declared variables | atomics |
/// | queue | one variable | a list that only the server accesses, and a stack onto which every newcomer can push itself |
/// | waiter | a process | a node on the stack of its thread, or in its future |
pub trait Environment: OvertakeEnvironment {
    /// Whether each line calls the next line directly, as [`advance`](super::advance) requires. The
    /// native environment does. In the lab, each line returns to [`step`](super::step).
    const STRAIGHT: bool = false;
    /// Identifies a waiter.
    type Waiter: Copy + Eq + Hash + Debug;

    /// Accesses the variable `lock`: whether there is a server, and whether there is news for it.
    fn lock(&mut self, op: Op) -> Word;
    /// Accesses the [`Terms`](super::Terms).
    fn terms(&mut self, op: Op) -> Word;

    /// Returns the first waiter of the queue. Only the server calls this.
    fn head(&mut self) -> Option<Self::Waiter>;
    /// Puts `waiter` at the end of the queue. Every caller can call this.
    fn push(&mut self, waiter: Self::Waiter);
    /// Takes the head off the queue. Only the server calls this.
    fn pop(&mut self);
    /// Takes `waiter` out of the queue. Only the server calls this.
    fn remove(&mut self, waiter: Self::Waiter);

    /// Accesses the grant of `waiter`.
    fn grant(&mut self, waiter: Self::Waiter, op: Op) -> Word;
    /// Wakes `waiter`. If the waiter is not asleep, its next attempt to sleep returns immediately.
    fn wake(&mut self, waiter: Self::Waiter);
    /// Returns whether `waiter` was woken since the last call. If other code may have consumed the
    /// wake-up, the environment cannot be sure and returns `true`. The waiter then looks for its grant
    /// again.
    fn was_woken(&mut self, waiter: Self::Waiter) -> bool;
    /// Returns whether a sleeper may wake up without having been woken.
    fn may_wake_spuriously(&self) -> bool;
    /// Returns whether the time limit of the caller has passed, so that it gives up.
    fn expired(&mut self) -> bool;

    /// Returns how many slots `waiter` asks for.
    fn need(&self, waiter: Self::Waiter) -> u32;
    /// Returns whether `waiter` can take over as the server.
    fn may_serve(&self, waiter: Self::Waiter) -> bool;
    /// Returns how many grants a server makes before it hands over to the head of the queue.
    fn grant_limit(&self) -> u32;

    /// Returns the *bypass* of a hall with a limit on overtaking: how many newcomers may overtake a waiter.
    fn bypass_limit(&self) -> u32;
    /// Returns how many more times a newcomer tries to overtake after its first attempt has failed. Then it joins the
    /// queue.
    fn overtake_tries(&self) -> u32;
}

/// A line of a passage in this environment.
pub type LineOn<E> = Line<<E as Environment>::Waiter>;
