//! Halls with more to choose.

use hallpass_algorithms::halls::threads::MOST_SLOTS;

use crate::{
    error::BuildError,
    hall::{Hall, MAX_SLOTS},
};

/// What a hall is to be like.
///
/// ```
/// # use hallpass_threads::Hall;
/// let hall = Hall::builder(4).max_slots(1000).build()?;
/// hall.resize(1000)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "`build` makes the hall"]
pub struct Builder {
    k: usize,
    max: usize,
    barging: bool,
}

impl Builder {
    pub(crate) fn new(k: usize) -> Self {
        Builder { k, max: k.max(MOST_SLOTS), barging: false }
    }

    /// How many slots it may ever have. With at most 32, which is what it is if nothing else is said
    /// and `k` is not more, a pass costs one atomic read-modify-write in and one out; with more, two.
    pub fn max_slots(mut self, max: usize) -> Self {
        self.max = max;
        self
    }

    /// Lets who finds a slot free take it, even if others wait; `try_acquire` too. That is faster where
    /// many threads share few cores and passes are held for a short time: nobody is put to sleep while
    /// a slot is free, and no slot waits until a sleeper has woken up. In return there is no order, and
    /// somebody may never get in. All that is promised is that the first in line is called when what it
    /// asked for is free.
    ///
    /// One is called at a time. If that is a future which is not polled again, nobody else in the queue
    /// is called until it is polled or dropped; who comes still gets in.
    pub fn barging(mut self) -> Self {
        self.barging = true;
        self
    }

    /// Makes the hall.
    pub fn build(self) -> Result<Hall, BuildError> {
        let Builder { k, max, barging } = self;
        let problem = if k == 0 {
            "a hall with no slots lets nobody in: k must be at least 1".to_string()
        } else if max > MAX_SLOTS || k > MAX_SLOTS {
            format!("a hall has at most {MAX_SLOTS} slots, not {}", max.max(k))
        } else if k > max {
            format!("a hall with room for {max} slots cannot begin with {k}")
        } else {
            return Ok(Hall::sized(k, max, barging));
        };
        Err(BuildError(problem))
    }
}
