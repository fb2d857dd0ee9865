//! The trait that a contestant implements.

use serde::Serialize;

/// A semaphore that was made for k threads to be in at once.
///
/// The guard is the contestant's own wherever it has one, so that each is used as its users use it.
pub trait Semaphore: Send + Sync {
    /// Held by a thread inside; dropping it releases the slot.
    type Guard<'a>
    where
        Self: 'a;

    /// Waits until this thread may be in. No two threads have the same number, and all numbers are
    /// below the number of threads that the semaphore was made for; most do not need it.
    fn enter(&self, thread: usize) -> Self::Guard<'_>;

    /// Which of the k places the guard stands for, where the contestant says so.
    fn slot(_guard: &Self::Guard<'_>) -> Option<usize> {
        None
    }
}

/// In which order a contestant lets threads in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// It admits everyone.
    Open,
    /// First come, first served.
    Fifo,
    /// Everybody gets in, in no set order.
    Everybody,
    /// A newcomer may overtake waiters.
    Barging,
}

impl Order {
    /// A word for tables.
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
