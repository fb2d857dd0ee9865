//! Inspecting a hall, resizing and closing it.

use std::fmt;

use hallpass_algorithms::{
    Op,
    halls::threads::{Bits, FREE, Job, Pool, Terms, WideBits, waiters},
};

use crate::{
    error::{ResizeError, TryAcquireError},
    hall::Hall,
};

/// Inspecting the hall, resizing and closing it.
impl Hall {
    /// Returns the number of slots of the hall.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// assert_eq!(hallpass::Hall::new(4).slots(), 4);
    /// ```
    pub fn slots(&self) -> usize {
        self.terms().k.into()
    }

    /// Returns the number of free slots: a snapshot that may already be stale.
    ///
    /// While a request for several slots is first in the queue, this includes the slots that stay free for it.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(4);
    /// let pass = hall.acquire()?;
    /// assert_eq!((hall.slots(), hall.available(), hall.waiting()), (4, 3, 0));
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn available(&self) -> usize {
        let word = Op::Read.apply(&self.word);
        // For each slot that `resize` has removed and that is still held (an owed slot), one free slot stays unused.
        let owed = self.terms().owed;
        let count = if self.mode.is_wide() { WideBits::count } else { Bits::count };
        count(word & FREE).saturating_sub(count(owed)) as usize
    }

    /// Returns the number of waiters: a snapshot that may already be stale.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(1);
    /// if hall.waiting() > 100 {
    ///     println!("overloaded");
    /// }
    /// ```
    pub fn waiting(&self) -> usize {
        waiters(Op::Read.apply(&self.word)) as usize
    }

    /// Closes the hall permanently. Waiters and later callers get an error; holders keep their passes.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::{AcquireError, Hall};
    /// let hall = Hall::new(1);
    /// let pass = hall.acquire()?;
    /// hall.close();
    /// assert_eq!(hall.acquire().unwrap_err(), AcquireError::Closed);
    /// assert_eq!(pass.slot(), 0); // still held
    /// # Ok::<(), AcquireError>(())
    /// ```
    pub fn close(&self) {
        self.manage(Job::Close);
        self.instruments.closed();
    }

    /// Returns whether the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(1);
    /// hall.close();
    /// assert!(hall.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.terms().closed
    }

    /// Changes the number of slots to `k`. The change takes effect immediately.
    ///
    /// With more slots, the hall admits waiters immediately. With fewer slots, holders keep their passes, and the hall
    /// admits nobody until fewer than `k` passes are held. From then on, it assigns only slots below `k`.
    ///
    /// With 0 slots the hall pauses: callers wait until the hall has slots again. New requests for several slots
    /// return an error.
    ///
    /// A waiter may have asked for more slots than the hall now has. It waits until the hall has enough again, and
    /// so do the waiters behind it.
    ///
    /// # Errors
    /// Returns [`ResizeError::TooMany`] if `k` is more than the limit of this hall. The limit is 32, or the initial
    /// number of slots if that is more. [`Builder::max_slots`](crate::Builder::max_slots) sets a higher limit.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(2);
    /// let passes = hall.acquire_many(2)?;
    /// hall.resize(3)?;
    /// assert_eq!(hall.acquire()?.slot(), 2);
    /// hall.resize(1)?;
    /// assert!(hall.try_acquire().is_err()); // two passes are held
    /// drop(passes);
    /// assert_eq!((hall.acquire()?.slot(), hall.slots()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resize(&self, k: usize) -> Result<(), ResizeError> {
        let max = self.max as usize;
        if k > max {
            return Err(ResizeError::TooMany { asked: k, max });
        }
        self.manage(Job::Resize(k as u16));
        self.update_guess();
        self.instruments.resized(k);
        Ok(())
    }

    /// Adds `count` slots to the hall, and returns the new number of slots. The change takes effect immediately.
    ///
    /// Several callers may add and remove slots at the same time. No change is lost.
    ///
    /// # Errors
    /// Returns [`ResizeError::TooMany`] if the new number is more than the limit of this hall; see
    /// [`resize`](Hall::resize).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::new(2);
    /// assert_eq!(hall.add_slots(3)?, 5);
    /// assert_eq!(hall.remove_slots(4)?, 1);
    /// # Ok::<(), hallpass_threads::ResizeError>(())
    /// ```
    pub fn add_slots(&self, count: usize) -> Result<usize, ResizeError> {
        let max = self.max as usize;
        self.change_slots(|k| {
            let asked = k.saturating_add(count);
            if asked > max { Err(ResizeError::TooMany { asked, max }) } else { Ok(asked) }
        })
    }

    /// Removes `count` slots from the hall, and returns the new number of slots.
    ///
    /// The change takes effect immediately, but holders keep their passes; see [`resize`](Hall::resize).
    ///
    /// # Errors
    /// Returns [`ResizeError::TooFew`] if the hall has fewer than `count` slots.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::{Hall, ResizeError};
    /// let hall = Hall::new(2);
    /// assert_eq!(hall.remove_slots(1)?, 1);
    /// assert_eq!(hall.remove_slots(2), Err(ResizeError::TooFew { removed: 2, slots: 1 }));
    /// # Ok::<(), ResizeError>(())
    /// ```
    pub fn remove_slots(&self, count: usize) -> Result<usize, ResizeError> {
        self.change_slots(|slots| {
            slots.checked_sub(count).ok_or(ResizeError::TooFew { removed: count, slots })
        })
    }

    /// Changes the number of slots. `change` gets the old number and returns the new one.
    fn change_slots(
        &self,
        change: impl FnOnce(usize) -> Result<usize, ResizeError>,
    ) -> Result<usize, ResizeError> {
        let changed = self.resize_with(change)?;
        self.update_guess();
        self.instruments.resized(changed);
        Ok(changed)
    }

    fn terms(&self) -> Terms {
        Terms::unpack(Op::Read.apply(&self.terms))
    }

    /// Returns the error of a caller that got no slot in time.
    pub(crate) fn why_late(&self) -> TryAcquireError {
        if self.is_closed() { TryAcquireError::Closed } else { TryAcquireError::TimedOut }
    }

    /// Returns the error of an attempt that got no slot.
    pub(crate) fn why_not(&self) -> TryAcquireError {
        if self.is_closed() { TryAcquireError::Closed } else { TryAcquireError::NoPermits }
    }
}

impl fmt::Debug for Hall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hall")
            .field("slots", &self.slots())
            .field("available", &self.available())
            .field("waiting", &self.waiting())
            .field("closed", &self.is_closed())
            .finish()
    }
}
