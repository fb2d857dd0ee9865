//! The trait that a contestant implements.

use serde::Serialize;

/// A semaphore that admits k threads at once.
///
/// The guard is the contestant's own wherever it has one, so that the benchmark uses it as its users do.
pub trait Semaphore: Send + Sync {
    /// Held by a thread inside; dropping it releases the slot.
    type Guard<'a>
    where
        Self: 'a;

    /// Waits until this thread may enter. `thread` is its number, from 0 up to the number of threads that
    /// the semaphore was made for; most contestants do not need it.
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
    /// No order: the contestant admits every thread at once.
    Open,
    /// First come, first served.
    Fifo,
    /// Every thread enters eventually, in no particular order.
    Everybody,
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
            Order::Barging => "barging",
        }
    }
}

/// A value with cache lines of its own, so that neighbours do not slow it down. Two lines: x86
/// fetches them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(
    /// The value.
    pub T,
);
