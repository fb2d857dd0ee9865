//! The hall that processes share.

use std::{
    fmt,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use hallpass_common::Limit;

use crate::{
    Error,
    cancel::Cancel,
    future::Acquire,
    hall_dir::HallDir,
    handle::{Entered, Handle},
    pass::{OwnedSharedPass, SharedPass},
    patience::Patience,
};

/// A fair semaphore with slot numbers for the processes of one machine.
///
/// At most k passes are held at any time. Each pass has its own slot, a number from 0 to k-1. Waiters get a slot in
/// the order in which they joined the queue. The slot of a killed process goes to the next waiter immediately.
///
/// Clones share one handle, which keeps idle [registrations](crate::MAX_REGISTRATIONS) for the next
/// passages of this process. Dropping the last clone frees these registrations.
///
/// ```
/// use hallpass_processes::HallDir;
///
/// let temp = tempfile::tempdir()?;
/// let hall = HallDir::at(temp.path()).open("gpu", 2)?;
/// let first = hall.acquire()?;
/// let second = hall.acquire()?;
/// assert_eq!((first.slot(), second.slot()), (0, 1));
/// assert!(hall.try_acquire().is_err());
/// drop(first);
/// assert_eq!(hall.acquire()?.slot(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SharedHall {
    pub(crate) handle: Arc<Handle>,
}

impl SharedHall {
    /// Opens the hall `name` of this user, or creates it with `k` slots.
    ///
    /// The hall is in the directory [`HallDir::user`]; use [`HallDir::open`] for another directory.
    ///
    /// # Errors
    /// Returns the errors of [`HallDir::user`] and [`HallDir::open`], among them [`Error::Slots`] if the hall
    /// exists with a different number of slots.
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::SharedHall;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # // SAFETY: no other thread reads the environment.
    /// # unsafe { std::env::set_var("HALLPASS_DIR", dir.path()) };
    ///
    /// let hall = SharedHall::open("gpu", 4)?;
    /// assert_eq!((hall.name(), hall.slots()), ("gpu", 4));
    /// # Ok::<(), hallpass_processes::Error>(())
    /// ```
    pub fn open(name: &str, k: usize) -> Result<SharedHall, Error> {
        HallDir::user()?.open(name, k)
    }

    /// Opens the hall in this directory.
    pub(crate) fn in_dir(name: &str, path: PathBuf, dir: OwnedFd) -> Result<SharedHall, Error> {
        Ok(SharedHall { handle: Arc::new(Handle::open(name, path, dir)?) })
    }

    /// Returns the name of the hall.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// assert_eq!(hall.name(), "hall");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.handle.state.name
    }

    /// Returns the directory of the hall.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// assert!(hall.path().join("hall").is_file()); // the mapped file
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.handle.state.path
    }

    /// Returns the number of slots, or 0 if the hall is closed.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 3)?;
    /// assert_eq!(hall.slots(), 3);
    /// hall.close();
    /// assert_eq!(hall.slots(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slots(&self) -> usize {
        self.handle.state.size()
    }

    /// Returns the number of free slots: a snapshot that may already be stale.
    ///
    /// The slot of a killed process counts as taken until a waiter or [`reap`](SharedHall::reap) frees it.
    ///
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 3)?;
    /// let pass = hall.acquire()?;
    /// assert_eq!((hall.slots(), hall.available()), (3, 2));
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn available(&self) -> usize {
        let state = &self.handle.state;
        let held = (0..state.file.slots_ready()).filter(|&slot| state.holder(slot).is_some());
        self.slots().saturating_sub(held.count())
    }

    /// Returns the number of waiters: a snapshot that may already be stale.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// if hall.waiting() > 100 {
    ///     println!("overloaded");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn waiting(&self) -> usize {
        self.status().waiters.len()
    }

    /// Closes the lifelines that a forked child has inherited, so that the slots of its parent become free when the
    /// parent dies. Call it in the child, before the child uses the hall. It does nothing in a process that opened the
    /// hall itself.
    ///
    /// Without this call, the child has the lifelines open until it execs or exits (see [Threads, fork and
    /// exec](crate#threads-fork-and-exec)). Dropping the inherited passes closes only the lifelines of these passes,
    /// and not those of threads that waited at the moment of the fork. A lifeline that a thread was opening at that
    /// moment stays open.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// let pass = hall.acquire()?;
    /// hall.close_inherited_lifelines(); // this process is not a forked child, so it keeps its slot
    /// assert_eq!(hall.available(), 0);
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close_inherited_lifelines(&self) {
        let state = &self.handle.state;
        state.lifelines.close_inherited(state.dir());
    }

    /// Waits until a slot is free and takes it. Waiters are served in the order of their arrival.
    ///
    /// If the hall has no room for another registration, the caller first waits until there is room.
    ///
    /// # Errors
    /// - [`Error::Closed`] if the hall is closed, before or while the caller waits.
    /// - [`Error::System`] if the caller needs a new registration and cannot create its pipe or its record, for example
    ///   because the disk is full or too many files are open. The first passage through a handle always needs a new
    ///   registration.
    /// - [`Error::Damaged`] if another program has overwritten the hall's file.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 3)?;
    /// let pass = hall.acquire()?;
    /// println!("device {}", pass.slot());
    /// drop(pass); // frees the slot
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn acquire(&self) -> Result<SharedPass<'_>, Error> {
        self.borrowed(self.handle.enter(Limit::Never))
    }

    /// Takes a slot if one is free and nobody waits.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if no slot is free or there are waiters, [`Error::Full`] if the hall has no room
    /// for another registration, and the errors of [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::Error;
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    ///
    /// let pass = hall.try_acquire()?;
    /// assert!(matches!(hall.try_acquire(), Err(Error::NoPermits)));
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire(&self) -> Result<SharedPass<'_>, Error> {
        self.borrowed(self.handle.enter(Limit::Now))
    }

    /// Waits until a slot is free and takes it, or gives up after `time`.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] after `time`, and the errors of [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use hallpass_processes::Error;
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    ///
    /// let pass = hall.acquire()?;
    /// let refused = hall.try_acquire_for(Duration::from_millis(10));
    /// assert!(matches!(refused, Err(Error::NoPermits)));
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_for(&self, time: Duration) -> Result<SharedPass<'_>, Error> {
        self.borrowed(self.handle.enter(Limit::after(time)))
    }

    /// Waits until a slot is free and takes it, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if `deadline` passes first, and the errors of
    /// [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, Instant};
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    ///
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// let pass = hall.try_acquire_until(deadline)?;
    /// assert!(hall.try_acquire_until(deadline).is_err());
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_until(&self, deadline: Instant) -> Result<SharedPass<'_>, Error> {
        self.borrowed(self.handle.enter(Limit::Until(deadline)))
    }

    /// Waits until a slot is free and takes it. Gives up at `deadline`, or when another thread calls
    /// [`Cancel::cancel`]. After this returns, the caller is no longer in the queue.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if the caller gave up, and the errors of [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::{Cancel, Error};
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    ///
    /// let pass = hall.acquire()?;
    /// let cancel = Cancel::default();
    /// std::thread::scope(|scope| {
    ///     let waiter = scope.spawn(|| hall.acquire_unless(&cancel, None).map(drop));
    ///     cancel.cancel();
    ///     assert!(matches!(waiter.join().unwrap(), Err(Error::NoPermits)));
    /// });
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_unless(
        &self,
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> Result<SharedPass<'_>, Error> {
        let limit = deadline.map_or(Limit::Never, Limit::Until);
        let patience = Patience { limit, given_up: Some(cancel.flag()), min_slots: 0 };
        let registration = self.handle.awaited_registration(patience)?;
        cancel.watch(registration.own_lifeline());
        let entered = self.handle.wait(registration, patience);
        cancel.unwatch();
        self.borrowed(entered)
    }

    /// Waits until a slot is free and takes it, with a pass that does not borrow the hall.
    ///
    /// # Errors
    /// Returns the errors of [`acquire`](SharedHall::acquire).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// let pass = hall.acquire_owned()?;
    /// let worker = std::thread::spawn(move || pass.slot());
    /// assert_eq!(worker.join().unwrap(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_owned(&self) -> Result<OwnedSharedPass, Error> {
        self.owned(self.handle.enter(Limit::Never))
    }

    /// Takes a slot if one is free and nobody waits, with a pass that does not borrow the hall.
    ///
    /// # Errors
    /// Returns the errors of [`try_acquire`](SharedHall::try_acquire).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let hall = hallpass_processes::HallDir::at(temp.path()).open("hall", 1)?;
    /// let pass = hall.try_acquire_owned()?;
    /// assert!(hall.try_acquire_owned().is_err());
    /// # drop(pass);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_acquire_owned(&self) -> Result<OwnedSharedPass, Error> {
        self.owned(self.handle.enter(Limit::Now))
    }

    /// Returns a future that waits until a slot is free and takes it.
    ///
    /// If no slot is free when the future is first polled, it starts a thread that waits. Dropping the future
    /// leaves the queue.
    ///
    /// # Errors
    /// The future returns the errors of [`acquire`](SharedHall::acquire), and [`Error::System`] if the thread
    /// cannot be started.
    ///
    /// # Examples
    /// ```
    /// use hallpass_processes::{Error, SharedHall};
    ///
    /// async fn on_device(hall: &SharedHall) -> Result<usize, Error> {
    ///     let pass = hall.acquire_async().await?;
    ///     Ok(pass.slot())
    /// }
    /// ```
    pub fn acquire_async(&self) -> Acquire {
        Acquire::new(self.clone())
    }

    /// Waits in the queue until a slot is free and takes it, or until another thread cancels the wait.
    pub(crate) fn acquire_owned_unless(&self, cancel: &Cancel) -> Result<OwnedSharedPass, Error> {
        let patience =
            Patience { limit: Limit::Never, given_up: Some(cancel.flag()), min_slots: 0 };
        let registration = self.handle.awaited_registration(patience)?;
        cancel.watch(registration.own_lifeline());
        let entered = self.handle.wait(registration, patience);
        cancel.unwatch();
        self.owned(entered)
    }

    #[inline(always)]
    fn borrowed(&self, entered: Result<Entered, Error>) -> Result<SharedPass<'_>, Error> {
        entered.map(|(registration, held)| SharedPass::new(self, registration, held))
    }

    fn owned(&self, entered: Result<Entered, Error>) -> Result<OwnedSharedPass, Error> {
        entered.map(|(registration, held)| OwnedSharedPass::new(self.clone(), registration, held))
    }
}

impl fmt::Debug for SharedHall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedHall")
            .field("path", &self.path())
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}
