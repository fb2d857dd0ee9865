//! The hall: its constructors, the methods that acquire a slot, and the fast path down to the atomics.
//!
//! If nobody waits, a pass costs two or three atomic read-modify-writes. All of them are in this file:
//!
//! - [`Hall::acquire`] → `acquire_slot` → `take_one`: a compare-and-swap that guesses that the hall is empty (lines L1
//!   and L2 of the step machine), and a second one (line L2) if the guess is wrong;
//! - dropping the pass → `release_slot` → `put_back`: a fetch-and-add (line X1).
//!
//! If the fast path fails, or if there are waiters, the call continues in a `#[cold]` function of `contended`.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicI64 as GuessedWord, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Op, Word,
    halls::threads::{
        self as machine, BITS_OF_WIDE, Bits, Fair, FastEnvironment, OvertakeEnvironment, Policy,
        Pool, SLOTS_IN_WORD, Terms, WideBits,
        fast::{self, Looked, Offer},
    },
};

use crate::{
    builder::Builder,
    error::{AcquireError, TryAcquireError},
    instruments::Instruments,
    mode::{Mode, by_mode},
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
/// # use hallpass_threads::Hall;
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
    slot_bits: OnceLock<Box<SlotBits>>,
    /// The value of `word` while the hall is empty: no slot is held, and nobody waits. Newcomers guess this value.
    ///
    /// ORDERING: Relaxed, because any guess is correct.
    empty: GuessedWord,
    pub(crate) queue: QueueState,
    pub(crate) instruments: Instruments,
}

// Two cache lines: one for the fast path, one for callers that queue.
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
        /// # use hallpass_threads::Hall;
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
    /// # use hallpass_threads::Hall;
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
    /// # use hallpass_threads::Hall;
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
    /// Returns [`TryAcquireError::NoPermits`] if no slot is free or others wait, and
    /// [`TryAcquireError::Closed`] if the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads::{Hall, TryAcquireError};
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
    /// # use hallpass_threads::{Hall, TryAcquireError};
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
    /// # use hallpass_threads::Hall;
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

/// The environment of the fast path: only `word`.
impl FastEnvironment for &Hall {
    #[inline(always)]
    fn word(&mut self, op: Op) -> Word {
        op.apply(&self.word)
    }
}

/// The environment of a newcomer that may overtake: `word` and `credit`.
impl OvertakeEnvironment for &Hall {
    #[inline(always)]
    fn credit(&mut self, op: Op) -> Word {
        op.apply(&self.credit)
    }
}

/// The fast path.
impl Hall {
    /// Takes a slot. Returns `None` if the deadline passes first or the hall is closed.
    #[inline(always)]
    pub(crate) fn acquire_slot(&self, deadline: Deadline) -> Option<u32> {
        match self.mode {
            Mode::Fair => match self.take_one::<Bits, Fair>() {
                Some(take) => Some(take.trailing_zeros()),
                None => self.acquire_contended::<Bits, Fair>(1, deadline).map(Word::trailing_zeros),
            },
            Mode::FairWide => match self.take_one::<WideBits, Fair>() {
                Some(take) if WideBits::set(take) != 0 => Some(take.trailing_zeros()),
                taken => self.acquire_wide_slot(taken, deadline),
            },
            _ => self.acquire_slot_by_mode(deadline),
        }
    }

    /// Finishes [`acquire_slot`](Hall::acquire_slot) in a wide hall, if the caller has taken a slot that is not a bit of
    /// `word`, or no slot yet.
    #[inline(never)]
    fn acquire_wide_slot(&self, taken: Option<Word>, deadline: Deadline) -> Option<u32> {
        let take = taken.or_else(|| self.acquire_contended::<WideBits, Fair>(1, deadline))?;
        Some(self.wide_slot_of(take))
    }

    /// [`acquire_slot`](Hall::acquire_slot) in the less common modes.
    #[inline(never)]
    fn acquire_slot_by_mode(&self, deadline: Deadline) -> Option<u32> {
        let take = self
            .take_any(1)
            .or_else(|| by_mode!(self.mode, self.acquire_contended(1, deadline)))?;
        Some(self.slot_of(take))
    }

    /// Lines L1 and L2: takes a free slot, if nobody waits. This is fastest if the hall is empty.
    #[inline(always)]
    fn take_one<P: Pool, M: Policy>(&self) -> Option<Word> {
        let guess = self.empty.load(Relaxed);
        match fast::look_or_take::<P, M, _>(&mut &*self, 1, guess) {
            Looked::Taken(take) => Some(take), // after one compare-and-swap
            Looked::Offer(offer) => self.take_offer(offer?),
        }
    }

    /// Lines L1 and L2: takes `need` free slots, if nobody waits.
    #[inline(always)]
    pub(crate) fn take_free<P: Pool, M: Policy>(&self, need: u32) -> Option<Word> {
        let offer = fast::look::<P, M, _>(&mut &*self, need)?; // a load
        self.take_offer(offer)
    }

    /// Line L2: takes the slots that L1 has chosen.
    #[inline(always)]
    fn take_offer(&self, offer: Offer) -> Option<Word> {
        fast::take(&mut &*self, offer).then_some(offer.take) // a compare-and-swap
    }

    /// [`take_free`](Hall::take_free) in any mode.
    #[inline]
    pub(crate) fn take_any(&self, need: u32) -> Option<Word> {
        match self.mode {
            Mode::Fair => self.take_free::<Bits, Fair>(need),
            _ => self.take_by_mode(need),
        }
    }

    /// [`take_any`](Hall::take_any) in the less common modes.
    #[inline(never)]
    fn take_by_mode(&self, need: u32) -> Option<Word> {
        by_mode!(self.mode, self.take_free(need))
    }

    /// Frees a slot.
    #[inline(always)]
    pub(crate) fn release_slot(&self, slot: u32) {
        match self.mode {
            Mode::Fair => self.put_back::<Bits, Fair>(1 << slot),
            Mode::FairWide if slot < BITS_OF_WIDE => self.put_back::<WideBits, Fair>(1 << slot),
            _ => self.release_slot_by_mode(slot),
        }
    }

    /// [`release_slot`](Hall::release_slot) in the less common modes.
    #[inline(never)]
    fn release_slot_by_mode(&self, slot: u32) {
        let take = if !self.mode.is_wide() || slot < BITS_OF_WIDE {
            1 << slot
        } else {
            self.slot_bits().put(slot - BITS_OF_WIDE);
            WideBits::join(0, 1)
        };
        match self.mode {
            Mode::FairWide => self.put_back::<WideBits, Fair>(take),
            _ => self.put_back_any(take),
        }
    }

    /// Line X1: releases the taken slots, and serves the waiters if there are any.
    #[inline(always)]
    fn put_back<P: Pool, M: Policy>(&self, take: Word) {
        let others_wait = fast::put_back::<M, _>(&mut &*self, take); // a fetch-and-add
        if others_wait {
            self.release_contended::<P, M>();
        }
        if M::BYPASSES {
            self.rotation.passage_ends();
        }
    }

    /// [`put_back`](Hall::put_back) in any mode. In a wide hall, the caller first puts the slot numbers back.
    #[inline]
    pub(crate) fn put_back_any(&self, take: Word) {
        match self.mode {
            Mode::Fair => self.put_back::<Bits, Fair>(take),
            _ => self.put_back_by_mode(take),
        }
    }

    /// [`put_back_any`](Hall::put_back_any) in the less common modes.
    #[inline(never)]
    fn put_back_by_mode(&self, take: Word) {
        by_mode!(self.mode, self.put_back(take));
    }

    /// Remembers the value that `word` has while the hall has `k` slots and is empty.
    pub(crate) fn guess_from_now_on(&self, k: usize) {
        let empty = if self.mode.is_wide() { WideBits::all(k) } else { Bits::all(k) };
        self.empty.store(empty, Relaxed);
    }

    /// Returns the slot of a grant of one slot.
    #[inline]
    pub(crate) fn slot_of(&self, take: Word) -> u32 {
        if self.mode.is_wide() { self.wide_slot_of(take) } else { take.trailing_zeros() }
    }

    /// Returns the slot of a grant of one slot in a wide hall.
    #[inline]
    fn wide_slot_of(&self, take: Word) -> u32 {
        match WideBits::set(take) {
            0 => BITS_OF_WIDE + self.slot_bits().take(),
            set => set.trailing_zeros(),
        }
    }

    /// Returns whether each slot is a bit of `word`.
    pub(crate) fn has_slots_in_word(&self) -> bool {
        !self.mode.is_wide()
    }

    #[inline]
    pub(crate) fn slot_bits(&self) -> &SlotBits {
        self.slot_bits.get_or_init(|| Box::new(SlotBits::new((self.max - BITS_OF_WIDE) as usize)))
    }
}
