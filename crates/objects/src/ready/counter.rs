//! A number.

use std::fmt;

use crate::{object::Object, resilient::Resilient};

/// A number for any number of threads. An operation completes as long as fewer than k others have
/// stopped inside theirs.
///
/// An [`AtomicI64`](std::sync::atomic::AtomicI64) does all of this at a fraction of the cost, except
/// that its `fetch_update` may be disturbed for ever by others, and this one's not. As there, what
/// is too large wraps around.
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
    /// What was there before.
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
    /// A number that at most `k` threads work on at once.
    ///
    /// # Panics
    /// If k is 0 or more than 64.
    pub fn new(k: usize, value: i64) -> Self {
        Counter { shared: Resilient::new(k, Number(value)) }
    }

    /// What it is.
    pub fn get(&self) -> i64 {
        self.shared.read(|number| number.0)
    }

    /// Adds `n`, and returns what it is then.
    pub fn add(&self, n: i64) -> i64 {
        self.fetch_add(n).wrapping_add(n)
    }

    /// Subtracts `n`, and returns what it is then.
    pub fn sub(&self, n: i64) -> i64 {
        self.fetch_sub(n).wrapping_sub(n)
    }

    /// Adds `n`, and returns what it was.
    pub fn fetch_add(&self, n: i64) -> i64 {
        self.shared.apply(Op::Add(n))
    }

    /// Subtracts `n`, and returns what it was.
    pub fn fetch_sub(&self, n: i64) -> i64 {
        self.shared.apply(Op::Add(n.wrapping_neg()))
    }

    /// Makes it at least `n`, and returns what it was.
    pub fn fetch_max(&self, n: i64) -> i64 {
        self.shared.apply(Op::Max(n))
    }

    /// Makes it at most `n`, and returns what it was.
    pub fn fetch_min(&self, n: i64) -> i64 {
        self.shared.apply(Op::Min(n))
    }

    /// Makes it `n`, and returns what it was.
    pub fn swap(&self, n: i64) -> i64 {
        self.shared.apply(Op::Swap(n))
    }

    /// Makes it `new` if it is `current`. Returns what it was, as an error if that is something else.
    pub fn compare_exchange(&self, current: i64, new: i64) -> Result<i64, i64> {
        let before = self.shared.apply(Op::CompareExchange(current, new));
        if before == current { Ok(before) } else { Err(before) }
    }

    /// Makes it what the closure makes of it, and returns what it was. The closure is called more
    /// than once, by others too and also later, and must return the same each time.
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

    /// How many may be in at once: one more than may stop.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// What it is, when nobody shares it any more.
    pub fn into_inner(self) -> i64 {
        self.shared.into_inner().0
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").field("k", &self.k()).finish_non_exhaustive()
    }
}
