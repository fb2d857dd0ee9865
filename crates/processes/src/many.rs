//! Acquiring several slots together.

use std::{
    sync::atomic::Ordering::SeqCst,
    time::{Duration, Instant},
};

use hallpass_algorithms::halls::processes::Tag;
use hallpass_common::Limit;

use crate::{
    Cancel, Error,
    future::AcquireMany,
    hall::SharedHall,
    handle::{Handle, Held},
    passes::{OwnedSharedPasses, SharedPasses},
    patience::Patience,
    registration::Registration,
};

/// Several slots of one passage.
pub(crate) struct HeldSlots {
    /// `None` if there are no slots.
    pub registration: Option<Box<Registration>>,
    /// The slots, in ascending order.
    pub slots: Box<[usize]>,
    /// Whether the passage went through the queue. Only relevant if it has a single slot.
    queued: bool,
}

/// Acquiring several slots together.
impl SharedHall {
    /// Waits until `m` slots are free, and takes all of them together.
    ///
    /// Requests for several slots wait in the same queue as requests for one slot. No later request overtakes them:
    /// while the first waiter needs more slots than are free, the free slots stay free for it. If the hall shrinks
    /// below `m` slots, the request waits until the hall grows again, and so do the requests behind it. A caller that
    /// needs several slots must ask for all of them in one call; several calls can deadlock.
    ///
    /// If this process is killed, all its slots become free. A request for 0 slots succeeds immediately.
    ///
    /// # Errors
    /// Returns [`Error::TooMany`] if the hall has fewer than `m` slots, and the errors of
    /// [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    /// let passes = hall.acquire_many(3)?;
    /// assert_eq!(passes.slots(), [0, 1, 2]);
    /// assert!(hall.acquire_many(5).is_err()); // would never succeed
    /// # drop(passes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_many(&self, m: usize) -> Result<SharedPasses<'_>, Error> {
        self.borrowed_many(self.handle.enter_many(m, Limit::Never.into()))
    }

    /// Takes `m` slots together if they are free and nobody waits.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if fewer than `m` slots are free or there are waiters, [`Error::Full`] if the hall
    /// has no room for another registration, and the errors of [`acquire_many`](SharedHall::acquire_many).
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::Error;
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    ///
    /// let passes = hall.try_acquire_many(3)?;
    /// assert!(matches!(hall.try_acquire_many(2), Err(Error::NoPermits)));
    /// # drop(passes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_many(&self, m: usize) -> Result<SharedPasses<'_>, Error> {
        self.borrowed_many(self.handle.enter_many(m, Limit::Now.into()))
    }

    /// Waits until `m` slots are free and takes all of them together, or gives up after `time`.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] after `time`, and the errors of [`acquire_many`](SharedHall::acquire_many).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    ///
    /// let passes = hall.try_acquire_many_for(3, Duration::from_secs(1))?;
    /// assert!(hall.try_acquire_many_for(2, Duration::from_millis(10)).is_err());
    /// # drop(passes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_many_for(
        &self,
        m: usize,
        time: Duration,
    ) -> Result<SharedPasses<'_>, Error> {
        self.borrowed_many(self.handle.enter_many(m, Limit::after(time).into()))
    }

    /// Waits until `m` slots are free and takes all of them together, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if `deadline` passes first, and the errors of
    /// [`acquire_many`](SharedHall::acquire_many).
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, Instant};
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    ///
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// let passes = hall.try_acquire_many_until(3, deadline)?;
    /// assert!(hall.try_acquire_many_until(2, deadline).is_err());
    /// # drop(passes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_many_until(
        &self,
        m: usize,
        deadline: Instant,
    ) -> Result<SharedPasses<'_>, Error> {
        self.borrowed_many(self.handle.enter_many(m, Limit::Until(deadline).into()))
    }

    /// Waits until `m` slots are free and takes all of them together. Gives up at `deadline`, when another thread calls
    /// [`Cancel::cancel`], or when the hall shrinks below `m` slots. After this returns, the caller is no longer in the
    /// queue.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if `deadline` passed or the wait was cancelled, [`Error::TooMany`] if the hall has
    /// shrunk below `m` slots, and the errors of [`acquire_many`](SharedHall::acquire_many).
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::{Cancel, Error};
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    ///
    /// let passes = hall.acquire_many(3)?;
    /// let cancel = Cancel::default();
    /// cancel.cancel(); // another thread would do this
    /// let refused = hall.acquire_many_unless(2, &cancel, None);
    /// assert!(matches!(refused, Err(Error::NoPermits)));
    /// # drop(passes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_many_unless(
        &self,
        m: usize,
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> Result<SharedPasses<'_>, Error> {
        let limit = deadline.map_or(Limit::Never, Limit::Until);
        self.borrowed_many(self.wait_many_unless(m, cancel, limit))
    }

    /// Waits until `m` slots are free and takes all of them together, with passes that do not borrow the hall.
    ///
    /// # Errors
    /// Returns the errors of [`acquire_many`](SharedHall::acquire_many).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    /// let passes = hall.acquire_many_owned(3)?;
    /// let worker = std::thread::spawn(move || passes.len());
    /// assert_eq!(worker.join().unwrap(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_many_owned(&self, m: usize) -> Result<OwnedSharedPasses, Error> {
        self.owned_many(self.handle.enter_many(m, Limit::Never.into()))
    }

    /// Takes `m` slots together if they are free and nobody waits, with passes that do not borrow the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_many`](SharedHall::try_acquire_many).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    /// let passes = hall.try_acquire_many_owned(3)?;
    /// assert!(hall.try_acquire_many_owned(2).is_err());
    /// # drop(passes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_many_owned(&self, m: usize) -> Result<OwnedSharedPasses, Error> {
        self.owned_many(self.handle.enter_many(m, Limit::Now.into()))
    }

    /// Waits until `m` slots are free and takes all of them together, or gives up after `time`. The passes do not
    /// borrow the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire_many_for`](SharedHall::try_acquire_many_for).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 4)?;
    ///
    /// let passes = hall.try_acquire_many_owned_for(3, Duration::from_secs(1))?;
    /// assert!(hall.try_acquire_many_owned_for(2, Duration::from_millis(10)).is_err());
    /// # drop(passes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_many_owned_for(
        &self,
        m: usize,
        time: Duration,
    ) -> Result<OwnedSharedPasses, Error> {
        self.owned_many(self.handle.enter_many(m, Limit::after(time).into()))
    }

    /// Returns a future that waits until `m` slots are free, and takes all of them together. It gives up when the hall
    /// shrinks below `m` slots.
    ///
    /// If the slots are not free when the future is first polled, it starts one thread that waits. Dropping the future
    /// leaves the queue.
    ///
    /// # Errors
    /// The future returns the errors of [`acquire_many`](SharedHall::acquire_many), and [`Error::System`] if the thread
    /// cannot be started.
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::{Error, SharedHall};
    ///
    /// async fn on_two_devices(hall: &SharedHall) -> Result<Vec<usize>, Error> {
    ///     let passes = hall.acquire_many_async(2).await?;
    ///     Ok(passes.slots().to_vec())
    /// }
    /// ```
    pub fn acquire_many_async(&self, m: usize) -> AcquireMany {
        AcquireMany::new(self.clone(), m)
    }

    /// Waits for `m` slots until another thread cancels the wait, or the hall shrinks below `m` slots.
    pub(crate) fn acquire_many_owned_unless(
        &self,
        m: usize,
        cancel: &Cancel,
    ) -> Result<OwnedSharedPasses, Error> {
        self.owned_many(self.wait_many_unless(m, cancel, Limit::Never))
    }

    fn wait_many_unless(
        &self,
        m: usize,
        cancel: &Cancel,
        limit: Limit,
    ) -> Result<HeldSlots, Error> {
        let patience = Patience { limit, given_up: Some(cancel.flag()), min_slots: m };
        self.handle.wait_many(m, patience, Some(cancel))
    }

    fn borrowed_many(&self, held: Result<HeldSlots, Error>) -> Result<SharedPasses<'_>, Error> {
        held.map(|held| SharedPasses::new(self, held))
    }

    fn owned_many(&self, held: Result<HeldSlots, Error>) -> Result<OwnedSharedPasses, Error> {
        held.map(|held| OwnedSharedPasses::new(self.clone(), held))
    }
}

impl Handle {
    /// Enters the hall with `m` slots.
    fn enter_many(&self, m: usize, patience: Patience<'_>) -> Result<HeldSlots, Error> {
        if m != 1 {
            return self.wait_many(m, patience, None);
        }
        let (registration, held) = self.enter(patience.limit)?;
        Ok(HeldSlots::one(registration, held))
    }

    /// Enters the hall with `m` slots, through the queue.
    fn wait_many(
        &self,
        m: usize,
        patience: Patience<'_>,
        cancel: Option<&Cancel>,
    ) -> Result<HeldSlots, Error> {
        if m == 0 {
            return Ok(HeldSlots { registration: None, slots: Box::default(), queued: false });
        }
        match self.state.size() {
            0 => return Err(Error::Closed),
            slots if slots < m => return Err(Error::TooMany { asked: m, slots }),
            _ => {}
        }
        let registration = self.awaited_registration(patience)?;
        if let Some(cancel) = cancel {
            cancel.watch(registration.own_lifeline());
        }
        let entered = self.wait_for(registration, m, patience);
        if let Some(cancel) = cancel {
            cancel.unwatch();
        }
        let (registration, first) = entered?;
        if m == 1 {
            return Ok(HeldSlots::one(registration, Held { slot: first, queued: true }));
        }
        let tag = Tag { process: registration.record, number: registration.number }.pack();
        let is_ours = |slot: &usize| self.state.file.slot(*slot).load(SeqCst) == tag;
        let slots = (first..self.state.file.slots_ready()).filter(is_ours).take(m).collect();
        Ok(HeldSlots { registration: Some(registration), slots, queued: true })
    }
}

impl HeldSlots {
    fn one(registration: Box<Registration>, held: Held) -> Self {
        let Held { slot, queued } = held;
        HeldSlots { registration: Some(registration), slots: [slot].into(), queued }
    }

    /// Frees the slots.
    pub(crate) fn release(&mut self, handle: &Handle) {
        let Some(registration) = self.registration.take() else { return };
        match *self.slots {
            [slot] => handle.exit(registration, Held { slot, queued: self.queued }),
            [first, ..] => handle.exit_many(registration, first, self.slots.len()),
            // Another program has removed the tags of the slots.
            [] => registration.abandon(&handle.state),
        }
    }
}
