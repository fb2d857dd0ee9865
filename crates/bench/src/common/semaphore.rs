//! The trait that a contestant implements.

use serde::Serialize;

/// A semaphore that admits k threads at once.
///
/// If a contestant has a guard type, the benchmark uses this type, as the contestant's users do.
pub trait Semaphore: Send + Sync {
    /// The guard of a holder. Dropping it frees the slot.
    type Guard<'a>
    where
        Self: 'a;

    /// Waits until this thread may enter. `thread` is the number of the thread, below the number of threads for which
    /// the semaphore was made. Most contestants do not need it.
    fn enter(&self, thread: usize) -> Self::Guard<'_>;

    /// Returns the slot of the guard, from 0 to k-1, if the contestant has slot numbers.
    fn slot(_guard: &Self::Guard<'_>) -> Option<usize> {
        None
    }
}

/// The order in which a contestant admits threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// No order: the contestant admits every thread immediately.
    Open,
    /// First come, first served.
    Fifo,
    /// Every thread enters eventually, in no particular order.
    Everybody,
    /// A limited number of newcomers may overtake a waiter.
    Bypass,
    /// A newcomer may overtake waiters.
    Barging,
}

impl Order {
    /// Returns a word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Order::Open => "-",
            Order::Fifo => "fifo",
            Order::Everybody => "everybody",
            Order::Bypass => "bypass",
            Order::Barging => "barging",
        }
    }
}

/// A value in cache lines of its own: accesses to its neighbours do not slow down accesses to it. It takes two lines,
/// because x86 fetches lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(
    /// The value.
    pub T,
);
