//! The hall: its fields, its constructors, and the methods that acquire a slot.

use std::{
    sync::{OnceLock, atomic::AtomicI64 as GuessedWord},
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Word,
    halls::threads::{self as machine, SLOTS_IN_WORD, Terms, WideBits},
};

use crate::{
    builder::Builder,
    error::{AcquireError, TryAcquireError},
    instruments::Instruments,
    mode::Mode,
    parking::Deadline,
    pass::{One, Pass},
    rotation::Rotation,
    slot_bits::SlotBits,
    state::QueueState,
    sync::AtomicI64,
};

/// The largest number of slots of a hall.
pub const MAX_SLOTS: usize = machine::MAX_SLOTS;

/// A fair counting semaphore whose guards have numbers.
///
/// A hall has k *slots*. At most k callers hold a [`Pass`] at the same time, and each pass has its own slot, a number
/// from 0 to k-1. Threads and tasks wait in one queue, and get slots in the order of their arrival.
///
/// The guarantees are on the [front page of the crate `hallpass`](https://docs.rs/hallpass).
///
/// ```
/// # use hallpass_threads as hallpass;
/// use hallpass::Hall;
/// let hall = Hall::new(2);
/// let first = hall.acquire()?;
/// let second = hall.acquire()?;
/// assert_eq!((first.slot(), second.slot()), (0, 1));
/// assert!(hall.try_acquire().is_err()); // both slots are taken
/// drop(first);
/// assert_eq!(hall.acquire()?.slot(), 0);
/// # Ok::<(), hallpass_threads::AcquireError>(())
/// ```
#[repr(C)]
pub struct Hall {
    /// The number of waiters, and which slots are free: the variable `word` of the step machine.
    pub(crate) word: AtomicI64,
    /// The number of slots, and whether the hall is closed: the variable `terms` of the step machine.
    pub(crate) terms: AtomicI64,
    /// How many more newcomers may overtake the waiters: the variable `credit` of the step machine. Only halls with a
    /// limit on overtaking use it.
    pub(crate) credit: AtomicI64,
    /// How many newcomers may overtake a waiter.
    pub(crate) bypass: u32,
    /// The largest number of slots that `resize` may give the hall.
    pub(crate) max: u32,
    pub(crate) mode: Mode,
    /// Whether threads take turns. Only halls with a limit on overtaking use it.
    pub(crate) rotation: Rotation,
    /// The numbers of the slots that are not bits of `word`. Allocated when first needed, so that a static can
    /// have many slots.
    pub(crate) slot_bits: OnceLock<Box<SlotBits>>,
    /// The value of `word` while the hall is empty: no slot is held, and nobody waits. Newcomers guess this value.
    ///
    /// ORDERING: Relaxed, because every guess is safe: see
    /// [`look_or_take`](hallpass_algorithms::halls::threads::fast::look_or_take).
    pub(crate) empty: GuessedWord,
    pub(crate) queue: QueueState,
    pub(crate) instruments: Instruments,
}

// A hall takes two cache lines: one for the fast path, and one for callers that queue.
#[cfg(all(not(loom), not(feature = "metrics"), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Hall>() == 128);

macro_rules! constructor {
    ($($const:tt)?) => {
        /// Creates a hall with `k` slots.
        ///
        /// This is a `const fn`, so a hall can be a static.
        ///
        /// # Panics
        /// Panics if `k` is 0 or more than [`MAX_SLOTS`]. [`Hall::builder`] returns an error instead.
        ///
        /// ```
        /// # use hallpass_threads as hallpass;
        /// use hallpass::Hall;
        /// static GPUS: Hall = Hall::new(4);
        ///
        /// let pass = GPUS.acquire()?;
        /// assert!(pass.slot() < 4);
        /// # Ok::<(), hallpass_threads::AcquireError>(())
        /// ```
        pub $($const)? fn new(k: usize) -> Self {
            assert!(k > 0, "a hall must have at least 1 slot, got 0");
            assert!(k <= MAX_SLOTS, "a hall can have at most 65535 slots");
            Hall::with_room(k, if k > SLOTS_IN_WORD { k } else { SLOTS_IN_WORD }, 0)
        }

        /// Creates a hall with `k` slots that can be resized up to `max`. At most `bypass` newcomers overtake a waiter.
        pub(crate) $($const)? fn with_room(k: usize, max: usize, bypass: u32) -> Self {
            let mode = Mode::new(max > SLOTS_IN_WORD, bypass);
            let free = if mode.is_wide() { WideBits::of(k) } else { (1 << k) - 1 };
            Hall {
                word: AtomicI64::new(free),
                terms: AtomicI64::new(Terms::new(k as u16).pack()),
                credit: AtomicI64::new(bypass as Word),
                bypass,
                max: max as u32,
                mode,
                rotation: Rotation::new(),
                slot_bits: OnceLock::new(),
                empty: GuessedWord::new(free),
                queue: QueueState::new(),
                instruments: Instruments::new(),
            }
        }
    };
}

/// Creating a hall.
impl Hall {
    #[cfg(not(loom))]
    constructor!(const);
    #[cfg(loom)]
    constructor!();

    /// Returns a [`Builder`] for a hall with `k` slots.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::builder(4).max_slots(1000).build()?;
    /// assert_eq!(hall.slots(), 4);
    /// # Ok::<(), hallpass_threads::BuildError>(())
    /// ```
    pub const fn builder(k: usize) -> Builder {
        Builder::new(k)
    }
}

/// Acquiring a slot from a thread.
impl Hall {
    /// Blocks until a slot is free, and takes it.
    ///
    /// Waiters get slots in the order of their arrival. No later caller overtakes them, unless the hall
    /// [allows it](Builder::bypass).
    ///
    /// To wait in a task, use [`acquire_async`](Hall::acquire_async). If the poll function of a future calls
    /// `acquire`, it blocks the executor. If the executor parks its thread, the call may also consume an `unpark`
    /// that was meant for the executor.
    ///
    /// # Errors
    /// Returns [`AcquireError::Closed`] if the hall is [closed](Hall::close), or is closed while the caller
    /// waits.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(2);
    /// let pass = hall.acquire()?;
    /// assert_eq!(pass.slot(), 0);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    #[inline]
    pub fn acquire(&self) -> Result<Pass<'_>, AcquireError> {
        match self.acquire_slot(Deadline::Never) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(AcquireError::Closed),
        }
    }

    /// Takes a slot if one is free and nobody waits for it.
    ///
    /// This does not overtake waiters, unless the hall [allows it](Builder::bypass). It does not wait for
    /// a holder to leave. But it may wait for a moment while another thread serves the queue.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::NoPermits`] if no slot is free or there are waiters, and [`TryAcquireError::Closed`]
    /// if the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::{Hall, TryAcquireError};
    /// let hall = Hall::new(1);
    /// let pass = hall.try_acquire()?;
    /// assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
    /// # Ok::<(), TryAcquireError>(())
    /// ```
    #[inline]
    pub fn try_acquire(&self) -> Result<Pass<'_>, TryAcquireError> {
        match self.acquire_slot(Deadline::Now) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(self.why_not()),
        }
    }

    /// Blocks until a slot is free and takes it, or gives up after `timeout`.
    ///
    /// A caller that gives up leaves the queue, and the waiters behind it move up.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::TimedOut`] after `timeout`, and [`TryAcquireError::Closed`] if the hall is
    /// closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::{Hall, TryAcquireError};
    /// # use std::time::Duration;
    /// let hall = Hall::new(1);
    /// let pass = hall.try_acquire_for(Duration::from_millis(10))?;
    /// let late = hall.try_acquire_for(Duration::from_millis(10));
    /// assert_eq!(late.unwrap_err(), TryAcquireError::TimedOut);
    /// # Ok::<(), TryAcquireError>(())
    /// ```
    pub fn try_acquire_for(&self, timeout: Duration) -> Result<Pass<'_>, TryAcquireError> {
        match self.acquire_slot(Deadline::after(timeout)) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(self.why_late()),
        }
    }

    /// Blocks until a slot is free and takes it, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::TimedOut`] if `deadline` passes first, and [`TryAcquireError::Closed`] if
    /// the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::time::{Duration, Instant};
    /// let (hall, deadline) = (Hall::new(1), Instant::now() + Duration::from_millis(10));
    /// let pass = hall.try_acquire_until(deadline)?;
    /// assert!(hall.try_acquire_until(deadline).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_until(&self, deadline: Instant) -> Result<Pass<'_>, TryAcquireError> {
        match self.acquire_slot(Deadline::At(deadline)) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(self.why_late()),
        }
    }
}
