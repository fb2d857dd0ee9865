//! The counter.

use std::fmt;

use crate::{object::Object, resilient::Resilient};

/// A counter for any number of threads. An operation completes as long as fewer than k other threads
/// have stopped in the middle of an operation.
///
/// An [`AtomicI64`](std::sync::atomic::AtomicI64) is much faster. But other threads can make its
/// `fetch_update` retry forever. This cannot happen with a `Counter`. Overflow wraps around in both.
///
/// ```
/// use hallpass_objects::Counter;
///
/// let counter = Counter::new(2, 0);
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| counter.add(1));
///     }
/// });
/// assert_eq!(counter.get(), 4);
/// assert_eq!(counter.compare_exchange(4, 10), Ok(4));
/// assert_eq!(counter.compare_exchange(4, 20), Err(10));
/// ```
pub struct Counter {
    shared: Resilient<Number>,
}

#[derive(Clone)]
struct Number(i64);

enum Op {
    Add(i64),
    Max(i64),
    Min(i64),
    Swap(i64),
    CompareExchange(i64, i64),
    Update(Box<dyn Fn(i64) -> i64 + Send + Sync>),
}

impl Object for Number {
    type Op = Op;
    /// The value before the operation.
    type Ret = i64;

    fn apply(&mut self, op: &Op) -> i64 {
        let before = self.0;
        self.0 = match op {
            Op::Add(n) => before.wrapping_add(*n),
            Op::Max(n) => before.max(*n),
            Op::Min(n) => before.min(*n),
            Op::Swap(n) => *n,
            Op::CompareExchange(current, new) => {
                if before == *current {
                    *new
                } else {
                    before
                }
            }
            Op::Update(update) => update(before),
        };
        before
    }
}

impl Counter {
    /// Creates a counter. At most `k` threads run operations at once.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn new(k: usize, value: i64) -> Self {
        Counter { shared: Resilient::new(k, Number(value)) }
    }

    /// Returns the value.
    pub fn get(&self) -> i64 {
        self.shared.read(|number| number.0)
    }

    /// Adds `n` and returns the new value.
    pub fn add(&self, n: i64) -> i64 {
        self.fetch_add(n).wrapping_add(n)
    }

    /// Subtracts `n` and returns the new value.
    pub fn sub(&self, n: i64) -> i64 {
        self.fetch_sub(n).wrapping_sub(n)
    }

    /// Adds `n` and returns the old value.
    pub fn fetch_add(&self, n: i64) -> i64 {
        self.shared.apply(Op::Add(n))
    }

    /// Subtracts `n` and returns the old value.
    pub fn fetch_sub(&self, n: i64) -> i64 {
        self.shared.apply(Op::Add(n.wrapping_neg()))
    }

    /// Sets the value to the maximum of the old value and `n`. Returns the old value.
    pub fn fetch_max(&self, n: i64) -> i64 {
        self.shared.apply(Op::Max(n))
    }

    /// Sets the value to the minimum of the old value and `n`. Returns the old value.
    pub fn fetch_min(&self, n: i64) -> i64 {
        self.shared.apply(Op::Min(n))
    }

    /// Sets the value to `n` and returns the old value.
    pub fn swap(&self, n: i64) -> i64 {
        self.shared.apply(Op::Swap(n))
    }

    /// Sets the value to `new` if it is `current`, and returns the old value.
    ///
    /// # Errors
    /// Returns the value of the counter as `Err` if it is not `current`.
    pub fn compare_exchange(&self, current: i64, new: i64) -> Result<i64, i64> {
        let before = self.shared.apply(Op::CompareExchange(current, new));
        if before == current { Ok(before) } else { Err(before) }
    }

    /// Sets the value to the result of `update` and returns the old value. Several threads may call
    /// `update`, even after this call has returned. `update` must return the same result each time.
    ///
    /// ```
    /// # use hallpass_objects::Counter;
    /// let counter = Counter::new(2, 3);
    /// assert_eq!(counter.fetch_update(|n| n * n), 3);
    /// assert_eq!(counter.get(), 9);
    /// ```
    pub fn fetch_update(&self, update: impl Fn(i64) -> i64 + Send + Sync + 'static) -> i64 {
        self.shared.apply(Op::Update(Box::new(update)))
    }

    /// Returns k: the object tolerates k - 1 stopped threads.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// Consumes the counter and returns its value.
    pub fn into_inner(self) -> i64 {
        self.shared.into_inner().0
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").field("k", &self.k()).finish_non_exhaustive()
    }
}
