//! Configures halls.

use hallpass_algorithms::halls::threads::SLOTS_IN_WORD;

use crate::{
    error::BuildError,
    hall::{Hall, MAX_SLOTS},
    mode::UNLIMITED,
};

/// Configures a [`Hall`].
///
/// ```
/// # use hallpass_threads as hallpass;
/// use hallpass::Hall;
/// let hall = Hall::builder(4).max_slots(1000).build()?;
/// hall.resize(1000)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "call `build` to create the hall"]
pub struct Builder {
    k: usize,
    max: usize,
    bypass: u32,
}

impl Builder {
    pub(crate) const fn new(k: usize) -> Self {
        Builder { k, max: if k > SLOTS_IN_WORD { k } else { SLOTS_IN_WORD }, bypass: 0 }
    }

    /// Sets the largest number of slots that [`Hall::resize`] may give the hall, at most
    /// [`MAX_SLOTS`]. The default is 32, or `k` if that is more.
    ///
    /// With a limit of up to 32 slots, an uncontended acquire takes one or two atomic read-modify-writes, and a release
    /// takes one. With a higher limit, this holds for slots 0 to 15. For the other slots, an acquire and a release take
    /// at least one more each.
    pub const fn max_slots(mut self, max: usize) -> Self {
        self.max = max;
        self
    }

    /// Lets at most `limit` newcomers overtake a waiter: they take a free slot ahead of the queue. The default is 0:
    /// nobody overtakes a waiter. `u32::MAX` means that there is no limit, like [`barging`](Builder::barging).
    ///
    /// Use this if many threads share few cores and hold passes for a short time. A fair hall hands a free slot to a
    /// waiting thread, and the slot stays unused until that thread is awake. With a limit such as 64, a thread that
    /// is running already may use the slot in the meantime. The wait stays bounded, and nobody starves: once a waiter
    /// has been overtaken `limit` times, only the waiters ahead of it in the queue still get slots before it.
    ///
    /// - Every caller counts as a newcomer until it joins the queue. It may be a thread or a task, may call
    ///   `acquire` or `try_acquire`, and may ask for one slot or for several slots.
    /// - The limit counts the callers that come after the waiter has joined the queue. A caller that came before may
    ///   still be on its way to a free slot. Such a caller may also overtake the waiter, in addition to the `limit`
    ///   newcomers.
    /// - If the first waiter is a task that waits for one slot, it gets the next free slot, as in a fair hall.
    ///   If the first waiter waits for several slots, or is a thread that sleeps, newcomers may overtake it and all
    ///   waiters behind it.
    /// - Waiters get slots in the order of their arrival.
    /// - After a thread has waited, threads take turns for a while: each thread that uses the hall yields its core
    ///   after each 256 passes that it has dropped.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::builder(4).bypass(64).build()?;
    /// assert_eq!(hall.acquire()?.slot(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn bypass(mut self, limit: u32) -> Self {
        self.bypass = limit;
        self
    }

    /// Lets a newcomer take a free slot ahead of the queue (barging). This also applies to `try_acquire`.
    ///
    /// This is faster if many threads share few cores and hold passes for a short time: no thread goes to sleep while a
    /// slot is free, and no slot stays free until a sleeping thread wakes up. The price is that there is no order, so a
    /// waiter may starve. The only guarantee is this: when enough slots are free for the first waiter, it is woken to
    /// try again.
    ///
    /// Only one waiter at a time is woken to try again. If it is a future that nobody polls, no other waiter is
    /// woken until that future is polled or dropped; newcomers still get slots.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::builder(4).barging().build()?;
    /// assert_eq!(hall.acquire()?.slot(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn barging(mut self) -> Self {
        self.bypass = UNLIMITED;
        self
    }

    /// Creates the hall.
    ///
    /// # Errors
    /// Returns [`BuildError`] if `k` is 0, if `k` or [`max_slots`](Builder::max_slots) is more than [`MAX_SLOTS`], or
    /// if `k` is more than `max_slots`.
    pub fn build(self) -> Result<Hall, BuildError> {
        let Builder { k, max, bypass } = self;
        match self.problem() {
            None => Ok(Hall::with_room(k, max, bypass)),
            Some(Problem::NoSlots) => {
                Err(BuildError("a hall must have at least 1 slot, got k = 0".into()))
            }
            Some(Problem::TooManySlots) => {
                let got = max.max(k);
                Err(BuildError(format!("a hall can have at most {MAX_SLOTS} slots, got {got}")))
            }
            Some(Problem::MoreThanMax) => {
                Err(BuildError(format!("k must be at most max_slots = {max}, got k = {k}")))
            }
        }
    }

    /// Creates the hall in a constant, such as a `static`.
    ///
    /// # Panics
    /// Panics if [`build`](Builder::build) would return an error. In a constant, the panic is a compile error.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// static CONNECTIONS: Hall = Hall::builder(100).barging().build_const();
    ///
    /// assert_eq!(CONNECTIONS.available(), 100);
    /// ```
    #[cfg(not(loom))]
    pub const fn build_const(self) -> Hall {
        match self.problem() {
            None => Hall::with_room(self.k, self.max, self.bypass),
            Some(Problem::NoSlots) => panic!("a hall must have at least 1 slot"),
            Some(Problem::TooManySlots) => panic!("a hall can have at most 65535 slots"),
            Some(Problem::MoreThanMax) => panic!("k must be at most max_slots"),
        }
    }

    /// Returns the reason why the hall cannot be created, or `None` if it can be created.
    const fn problem(&self) -> Option<Problem> {
        if self.k == 0 {
            Some(Problem::NoSlots)
        } else if self.max > MAX_SLOTS || self.k > MAX_SLOTS {
            Some(Problem::TooManySlots)
        } else if self.k > self.max {
            Some(Problem::MoreThanMax)
        } else {
            None
        }
    }
}

/// The reason why a hall cannot be created.
enum Problem {
    NoSlots,
    TooManySlots,
    MoreThanMax,
}
