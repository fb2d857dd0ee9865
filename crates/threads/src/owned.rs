//! Acquiring passes that own a reference to the hall, from a thread.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    error::{AcquireError, TryAcquireError},
    hall::Hall,
    parking::Deadline,
    pass::{One, OwnedPass, OwnedPasses, Several},
};

/// Acquiring passes that own a reference to the hall, from a thread.
impl Hall {
    /// Blocks until a slot is free, and takes it. The pass owns a reference to the hall.
    ///
    /// The pass has no lifetime, so it can be stored, or sent to a thread that is not scoped.
    ///
    /// # Errors
    /// Returns the errors of [`acquire`](Hall::acquire).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::{sync::Arc, thread};
    /// let hall = Arc::new(Hall::new(1));
    /// let pass = hall.acquire_owned()?;
    /// thread::spawn(move || assert_eq!(pass.slot(), 0)).join().unwrap();
    /// assert_eq!(hall.available(), 1);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn acquire_owned(self: &Arc<Self>) -> Result<OwnedPass, AcquireError> {
        match self.acquire_slot(Deadline::Never) {
            Some(slot) => Ok(OwnedPass(One { hall: Arc::clone(self), slot })),
            None => Err(AcquireError::Closed),
        }
    }

    /// Takes a slot if one is free and nobody waits for it. The pass owns a reference to the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire`](Hall::try_acquire).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::sync::Arc;
    /// let hall = Arc::new(Hall::new(1));
    /// let pass = hall.try_acquire_owned()?;
    /// assert!(hall.try_acquire_owned().is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_owned(self: &Arc<Self>) -> Result<OwnedPass, TryAcquireError> {
        match self.acquire_slot(Deadline::Now) {
            Some(slot) => Ok(OwnedPass(One { hall: Arc::clone(self), slot })),
            None => Err(self.why_not()),
        }
    }

    /// Blocks until a slot is free and takes it, or gives up after `timeout`. The pass owns a reference to the
    /// hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_for`](Hall::try_acquire_for).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::{sync::Arc, time::Duration};
    /// let hall = Arc::new(Hall::new(1));
    /// let pass = hall.try_acquire_owned_for(Duration::from_secs(1))?;
    /// assert!(hall.try_acquire_owned_for(Duration::from_millis(1)).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_owned_for(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<OwnedPass, TryAcquireError> {
        self.owned_before(Deadline::after(timeout))
    }

    /// Blocks until a slot is free and takes it, or gives up at `deadline`. The pass owns a reference to the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_until`](Hall::try_acquire_until).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::{sync::Arc, time::{Duration, Instant}};
    /// let (hall, deadline) = (Arc::new(Hall::new(1)), Instant::now() + Duration::from_millis(1));
    /// let pass = hall.try_acquire_owned_until(deadline)?;
    /// assert!(hall.try_acquire_owned_until(deadline).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_owned_until(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<OwnedPass, TryAcquireError> {
        self.owned_before(Deadline::At(deadline))
    }

    fn owned_before(self: &Arc<Self>, deadline: Deadline) -> Result<OwnedPass, TryAcquireError> {
        match self.acquire_slot(deadline) {
            Some(slot) => Ok(OwnedPass(One { hall: Arc::clone(self), slot })),
            None => Err(self.why_late()),
        }
    }
}

/// Acquiring several slots in one call from a thread, with passes that own a reference to the hall.
impl Hall {
    /// Blocks until `m` slots are free, and takes all of them together. The passes own a reference to the hall.
    ///
    /// # Errors
    /// Returns the errors of [`acquire_many`](Hall::acquire_many).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::{sync::Arc, thread};
    /// let hall = Arc::new(Hall::new(4));
    /// let passes = hall.acquire_many_owned(3)?;
    /// thread::spawn(move || assert_eq!(passes.len(), 3)).join().unwrap();
    /// assert_eq!(hall.available(), 4);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn acquire_many_owned(self: &Arc<Self>, m: usize) -> Result<OwnedPasses, AcquireError> {
        let slots = self.acquire_slots(m, Deadline::Never)?.ok_or(AcquireError::Closed)?;
        Ok(OwnedPasses(Several { hall: Arc::clone(self), slots }))
    }

    /// Takes `m` slots together if they are free and nobody waits. The passes own a reference to the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_many`](Hall::try_acquire_many).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::sync::Arc;
    /// let hall = Arc::new(Hall::new(4));
    /// let passes = hall.try_acquire_many_owned(3)?;
    /// assert!(hall.try_acquire_many_owned(2).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_many_owned(
        self: &Arc<Self>,
        m: usize,
    ) -> Result<OwnedPasses, TryAcquireError> {
        let slots = self.try_acquire_slots(m, Deadline::Now)?;
        Ok(OwnedPasses(Several { hall: Arc::clone(self), slots }))
    }

    /// Blocks until `m` slots are free and takes all of them together, or gives up after `timeout`. The passes own
    /// a reference to the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_many_for`](Hall::try_acquire_many_for).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::{sync::Arc, time::Duration};
    /// let hall = Arc::new(Hall::new(4));
    /// let passes = hall.try_acquire_many_owned_for(3, Duration::from_secs(1))?;
    /// assert!(hall.try_acquire_many_owned_for(2, Duration::from_millis(1)).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_many_owned_for(
        self: &Arc<Self>,
        m: usize,
        timeout: Duration,
    ) -> Result<OwnedPasses, TryAcquireError> {
        let slots = self.try_acquire_slots(m, Deadline::after(timeout))?;
        Ok(OwnedPasses(Several { hall: Arc::clone(self), slots }))
    }

    /// Blocks until `m` slots are free and takes all of them together, or gives up at `deadline`. The passes own a
    /// reference to the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_many_until`](Hall::try_acquire_many_until).
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::{sync::Arc, time::{Duration, Instant}};
    /// let (hall, deadline) = (Arc::new(Hall::new(4)), Instant::now() + Duration::from_millis(1));
    /// let passes = hall.try_acquire_many_owned_until(3, deadline)?;
    /// assert!(hall.try_acquire_many_owned_until(2, deadline).is_err());
    /// # Ok::<(), hallpass_threads::TryAcquireError>(())
    /// ```
    pub fn try_acquire_many_owned_until(
        self: &Arc<Self>,
        m: usize,
        deadline: Instant,
    ) -> Result<OwnedPasses, TryAcquireError> {
        let slots = self.try_acquire_slots(m, Deadline::At(deadline))?;
        Ok(OwnedPasses(Several { hall: Arc::clone(self), slots }))
    }
}
