//! Acquiring several slots in one call from a thread.

use std::time::{Duration, Instant};

use hallpass_algorithms::{
    Word,
    halls::threads::{BITS_OF_WIDE, Bits, Fair, WideBits},
};

use crate::{
    error::{AcquireError, TryAcquireError},
    hall::{Hall, MAX_SLOTS},
    mode::{Mode, by_mode},
    parking::Deadline,
    pass::{HeldSlots, Passes, Several},
};

/// Acquiring several slots in one call from a thread.
impl Hall {
    /// Blocks until `m` slots are free, and takes all of them together.
    ///
    /// Requests for several slots wait in the same queue as requests for one slot. In a fair hall, nobody
    /// overtakes them: while the first waiter needs more slots than are free, the free slots stay free for it. A
    /// caller that needs several slots must ask for all of them in one call; several calls can deadlock.
    ///
    /// A request for 0 slots succeeds immediately.
    ///
    /// # Errors
    /// Returns [`AcquireError::Closed`] if the hall is closed, and [`AcquireError::TooMany`] if the hall has
    /// fewer than `m` slots.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(4);
    /// let passes = hall.acquire_many(3)?;
    /// assert_eq!(passes.slots().collect::<Vec<_>>(), [0, 1, 2]);
    /// assert!(hall.acquire_many(5).is_err()); // would never succeed
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    #[inline]
    pub fn acquire_many(&self, m: usize) -> Result<Passes<'_>, AcquireError> {
        if let Some(bits) = self.take_bits(m) {
            return Ok(Passes(Several { hall: self, slots: HeldSlots::Bits(bits) }));
        }
        let slots = self.acquire_slots(m, Deadline::Never)?.ok_or(AcquireError::Closed)?;
        Ok(Passes(Several { hall: self, slots }))
    }

    /// Takes `m` slots together if they are free and nobody waits. Does not wait for a holder to leave.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::NoPermits`] if fewer than `m` slots are free or there are waiters,
    /// [`TryAcquireError::TooMany`] if the hall has fewer than `m` slots, and [`TryAcquireError::Closed`] if the hall
    /// is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::{Hall, TryAcquireError};
    /// let hall = Hall::new(4);
    /// let passes = hall.try_acquire_many(3)?;
    /// assert_eq!(hall.try_acquire_many(2).unwrap_err(), TryAcquireError::NoPermits);
    /// # Ok::<(), TryAcquireError>(())
    /// ```
    #[inline]
    pub fn try_acquire_many(&self, m: usize) -> Result<Passes<'_>, TryAcquireError> {
        if let Some(bits) = self.take_bits(m) {
            return Ok(Passes(Several { hall: self, slots: HeldSlots::Bits(bits) }));
        }
        let slots = self.try_acquire_slots(m, Deadline::Now)?;
        Ok(Passes(Several { hall: self, slots }))
    }

    /// Blocks until `m` slots are free and takes all of them together, or gives up after `timeout`.
    ///
    /// # Errors
    /// Returns [`TryAcquireError::TimedOut`] after `timeout`, [`TryAcquireError::TooMany`] if the hall has fewer
    /// than `m` slots, and [`TryAcquireError::Closed`] if the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::time::Duration;
    /// let hall = Hall::new(4);
    /// let passes = hall.try_acquire_many_for(3, Duration::from_secs(1))?;
    /// assert!(hall.try_acquire_many_for(2, Duration::from_millis(1)).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_many_for(
        &self,
        m: usize,
        timeout: Duration,
    ) -> Result<Passes<'_>, TryAcquireError> {
        let slots = self.try_acquire_slots(m, Deadline::after(timeout))?;
        Ok(Passes(Several { hall: self, slots }))
    }

    /// Blocks until `m` slots are free and takes all of them together, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_many_for`](Hall::try_acquire_many_for), with
    /// [`TryAcquireError::TimedOut`] after `deadline`.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::time::{Duration, Instant};
    /// let (hall, deadline) = (Hall::new(4), Instant::now() + Duration::from_millis(1));
    /// let passes = hall.try_acquire_many_until(3, deadline)?;
    /// assert!(hall.try_acquire_many_until(2, deadline).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_many_until(
        &self,
        m: usize,
        deadline: Instant,
    ) -> Result<Passes<'_>, TryAcquireError> {
        let slots = self.try_acquire_slots(m, Deadline::At(deadline))?;
        Ok(Passes(Several { hall: self, slots }))
    }

    /// Takes `m` free slots on the fast path of [`Mode::Fair`], the mode of most halls. Returns `None` in other modes,
    /// and if this path fails.
    #[inline]
    fn take_bits(&self, m: usize) -> Option<Word> {
        if m == 0 || self.mode != Mode::Fair {
            return None;
        }
        self.take_free::<Bits, Fair>(clamp_need(m))
    }

    pub(crate) fn try_acquire_slots(
        &self,
        m: usize,
        deadline: Deadline,
    ) -> Result<HeldSlots, TryAcquireError> {
        self.acquire_slots(m, deadline)?.ok_or_else(|| match deadline {
            Deadline::Now => self.why_not(),
            _ => self.why_late(),
        })
    }

    /// Takes `m` slots. Returns `Ok(None)` if the deadline passes first, or the hall is closed in the meantime.
    #[inline]
    pub(crate) fn acquire_slots(
        &self,
        m: usize,
        deadline: Deadline,
    ) -> Result<Option<HeldSlots>, AcquireError> {
        if m != 0
            && let Some(take) = self.take_any(clamp_need(m))
        {
            return Ok(Some(self.slots_of(take)));
        }
        self.acquire_slots_contended(m, deadline)
    }

    /// Does the work of [`acquire_slots`](Hall::acquire_slots) if the fast path fails.
    #[cold]
    fn acquire_slots_contended(
        &self,
        m: usize,
        deadline: Deadline,
    ) -> Result<Option<HeldSlots>, AcquireError> {
        let need = self.check_need(m)?;
        if need == 0 {
            return Ok(Some(HeldSlots::Bits(0)));
        }
        let take = by_mode!(self.mode, self.acquire_contended(need, deadline));
        Ok(take.map(|take| self.slots_of(take)))
    }

    /// Returns `m`, or an error if the hall is closed or has fewer than `m` slots.
    pub(crate) fn check_need(&self, m: usize) -> Result<u32, AcquireError> {
        let slots = self.slots();
        if self.is_closed() {
            return Err(AcquireError::Closed);
        }
        // A request for one slot waits while the hall has none, like `acquire`.
        if m > slots.max(1) {
            return Err(AcquireError::TooMany { asked: m, slots });
        }
        Ok(m as u32)
    }

    /// Returns the slots of a grant.
    #[inline]
    pub(crate) fn slots_of(&self, take: Word) -> HeldSlots {
        if self.mode.is_wide() {
            HeldSlots::List(self.wide_slots_of(take))
        } else {
            HeldSlots::Bits(take)
        }
    }

    /// Returns the slots of a grant in a wide hall, in ascending order.
    #[inline(never)]
    fn wide_slots_of(&self, take: Word) -> Box<[u32]> {
        let set = WideBits::set(take);
        let mut slots: Vec<u32> = (0..BITS_OF_WIDE).filter(|slot| set >> slot & 1 != 0).collect();
        let counted = WideBits::counted(take) as usize;
        if counted > 0 {
            let mut others = self.slot_bits().take_many(counted);
            others.sort_unstable();
            slots.extend(others.iter().map(|number| BITS_OF_WIDE + number));
        }
        slots.into_boxed_slice()
    }

    /// Frees several slots.
    #[inline]
    pub(crate) fn release_slots(&self, slots: &HeldSlots) {
        match slots {
            HeldSlots::Bits(0) => {}
            &HeldSlots::Bits(bits) => self.put_back_any(bits),
            HeldSlots::List(list) => self.release_list(list),
        }
    }

    #[inline(never)]
    fn release_list(&self, list: &[u32]) {
        let mut take = 0;
        for &slot in list {
            if slot < BITS_OF_WIDE {
                take += 1 << slot;
            } else {
                self.slot_bits().put(slot - BITS_OF_WIDE);
                take += WideBits::join(0, 1);
            }
        }
        if take != 0 {
            self.put_back_any(take);
        }
    }
}

/// Converts the number of slots of a request to the type of the step machine. A number above [`MAX_SLOTS`] becomes
/// `MAX_SLOTS + 1`, which is more than any hall has.
#[inline]
pub(crate) fn clamp_need(m: usize) -> u32 {
    m.min(MAX_SLOTS + 1) as u32
}
