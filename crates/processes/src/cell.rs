//! A value that processes share.

use std::{
    fmt,
    marker::PhantomData,
    sync::Arc,
    time::{Duration, Instant},
};

use bytemuck::Pod;

use crate::{Error, hall::SharedHall, hall_dir::HallDir, pass::SharedPass, value_file::ValueFile};

/// A value that processes share. No process ever finds it half changed, no matter which process is killed.
///
/// ```
/// use hallpass_processes::SharedCell;
/// # let dir = tempfile::tempdir().unwrap();
/// # // SAFETY: no other thread reads the environment.
/// # unsafe { std::env::set_var("HALLPASS_DIR", dir.path()) };
///
/// // Every process of this user opens the same cell; the first one creates it.
/// let account = SharedCell::open("account", [100_u64, 0])?;
/// let moved = account.update(|[from, to]| {
///     let some = 30.min(*from);
///     *from -= some;
///     *to += some; // killed here: nothing has been moved
///     some
/// })?;
/// assert_eq!((moved, account.read()?), (30, [70, 30]));
/// # Ok::<(), hallpass_processes::Error>(())
/// ```
///
/// A cell is a [`SharedHall`] with one slot. The directory of this hall contains a second file, with room for two
/// copies of the value. An update waits for the slot, applies the closure to a private copy of the value,
/// and writes the result to the copy that is not in use. Then one atomic store makes this copy the value.
///
/// # What it survives
///
/// - **Any number of processes killed, at any instruction** of an update or while they open the cell. The value is
///   the old one or the new one. Nothing has to be repaired, nothing is poisoned, and the next waiter gets the
///   slot immediately.
/// - **A closure that panics, execs or exits**: the value does not change. A child process that is forked in the
///   closure gets [`Error::Forked`] from its copy of the update.
/// - **Arbitrary bytes in the file**: any bytes are a valid `T`. A process that may open the file can write to
///   it, so set the permissions of the directory accordingly.
///
/// # What it does not survive
///
/// - **A process that is suspended in an update**, by `SIGSTOP` or a debugger, blocks all other updates until it
///   continues or dies. Other processes can still [`read`](SharedCell::read). The objects in `hallpass-objects`, which
///   threads share, tolerate k-1 stopped threads: a thread finishes the operations of stopped threads. Processes cannot
///   do this, because only the process that made a closure has its code and its memory.
/// - **A machine that loses power.** Files in `/run` and `/tmp` are usually gone then. On a disk, parts of
///   the value may have been written and others not.
/// - **An update in the closure of another update** of the same cell. It waits for itself forever.
///
/// # The type
///
/// All processes must use the same `T`. When a process opens the cell, only the size and the alignment are
/// compared, so two types with the same layout are not distinguished. [`Pod`] types are numbers, arrays of
/// numbers, and structs that derive `Pod`. `Send` rules out pointers.
///
/// # Where it is
///
/// Names, directories and permissions are those of halls. [`HallDir::open_cell`] opens a cell in a directory other
/// than the default directory of this user. Other programs see a hall with one slot: `hallpass list` lists it,
/// `hallpass status` shows the process that updates the value and the waiters, and `hallpass rm` removes the hall
/// together with the value. Other processes see both files or none, even if the process that creates them is
/// killed.
///
/// # Cost
///
/// An update copies the whole value in and out. Without waiters, an update costs little more than these copies.
#[derive(Clone)]
pub struct SharedCell<T> {
    hall: SharedHall,
    value: Arc<ValueFile>,
    of: PhantomData<fn(T) -> T>,
}

/// The number of times that a reader tries to copy the value before it joins the queue.
const LOOKS: usize = 16;
/// How long a reader waits in the queue before it tries again. The limit keeps it from waiting for a suspended process.
const QUEUE_TIME: Duration = Duration::from_millis(2);

/// Result of acquiring the slot.
type Acquired<'a> = Result<SharedPass<'a>, Error>;

impl<T: Pod + Send> SharedCell<T> {
    /// Opens the cell `name` of this user, or creates it with the value `initial`.
    ///
    /// # Errors
    /// - [`Error::Value`] if the cell holds a value of another size or alignment.
    /// - [`Error::NoValue`] if there is a hall of this name that is not a cell.
    /// - The errors of [`HallDir::user`] and [`HallDir::open`].
    pub fn open(name: &str, initial: T) -> Result<Self, Error> {
        HallDir::user()?.open_cell(name, initial)
    }

    /// Waits until no other process updates the value, then applies the closure to it.
    ///
    /// # Errors
    /// If there is an error, the value does not change. The errors are:
    ///
    /// - the errors of [`SharedHall::acquire`];
    /// - [`Error::Slots`] if the hall of the cell was resized, and the caller got a slot other than 0;
    /// - [`Error::Forked`] in a child process that was forked in the closure.
    ///
    /// # Panics
    /// Panics if the closure panics. In that case the value does not change.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// let counter = dir.open_cell("counter", 0_u64)?;
    /// let old = counter.update(|count| std::mem::replace(count, *count + 1))?;
    /// assert_eq!((old, counter.read()?), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        self.apply(self.hall.acquire(), f)
    }

    /// Applies the closure to the value, if no other process updates the value or waits.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if another process updates the value or waits, and the errors of
    /// [`update`](SharedCell::update).
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// let counter = dir.open_cell("counter", 0_u64)?;
    /// counter.try_update(|count| *count += 1)?;
    /// assert_eq!(counter.read()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_update<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        self.apply(self.hall.try_acquire(), f)
    }

    /// Waits until no other process updates the value and applies the closure to it, or gives up after `time`.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] after `time`, and the errors of [`update`](SharedCell::update).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// let counter = dir.open_cell("counter", 0_u64)?;
    /// counter.try_update_for(Duration::from_secs(5), |count| *count += 1)?;
    /// assert_eq!(counter.read()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_update_for<R>(
        &self,
        time: Duration,
        f: impl FnOnce(&mut T) -> R,
    ) -> Result<R, Error> {
        self.apply(self.hall.try_acquire_for(time), f)
    }

    /// Waits until no other process updates the value and applies the closure to it, or gives up at `deadline`.
    ///
    /// # Errors
    /// Returns [`Error::NoPermits`] if `deadline` passes first, and the errors of
    /// [`update`](SharedCell::update).
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// let counter = dir.open_cell("counter", 0_u64)?;
    /// let deadline = Instant::now() + Duration::from_secs(5);
    /// counter.try_update_until(deadline, |count| *count += 1)?;
    /// counter.try_update_until(deadline, |count| *count += 1)?; // both within 5 s
    /// assert_eq!(counter.read()?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_update_until<R>(
        &self,
        deadline: Instant,
        f: impl FnOnce(&mut T) -> R,
    ) -> Result<R, Error> {
        self.apply(self.hall.try_acquire_until(deadline), f)
    }

    /// Returns the value that the cell has at some moment during the call.
    ///
    /// A read does not wait for an update, so a suspended process does not delay it. It joins the queue of updates
    /// for a moment only if updates keep coming while it copies the value.
    ///
    /// # Errors
    /// Returns [`Error::Closed`] if the cell's hall is closed, and the errors of [`update`](SharedCell::update)
    /// if it joins the queue.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// let counter = dir.open_cell("counter", 7_u64)?;
    /// assert_eq!(counter.read()?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self) -> Result<T, Error> {
        loop {
            if self.hall.is_closed() {
                return Err(Error::Closed);
            }
            if let Some(value) = (0..LOOKS).find_map(|_| self.value.look()) {
                return Ok(value);
            }
            match self.check(self.hall.try_acquire_for(QUEUE_TIME)) {
                Ok(_pass) => return Ok(self.value.get()),
                Err(Error::NoPermits) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the hall of the cell. Every update acquires its slot.
    ///
    /// While a caller holds the slot of this hall, no update begins. A caller that updates the cell while it holds the
    /// slot waits for itself forever.
    pub fn hall(&self) -> &SharedHall {
        &self.hall
    }

    fn apply<R>(&self, acquired: Acquired<'_>, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        let pass = self.check(acquired)?;
        let mut value = self.value.get();
        let ret = f(&mut value);
        if !pass.is_ours() {
            return Err(Error::Forked);
        }
        self.value.set(&value);
        Ok(ret)
    }

    /// Checks that the caller has the slot that allows updates.
    fn check<'a>(&self, acquired: Acquired<'a>) -> Acquired<'a> {
        match acquired {
            // The hall was made larger, but only the holder of slot 0 may update the value.
            Ok(pass) if pass.slot() != 0 => {
                let (name, found) = (self.hall.name().into(), self.hall.slots());
                Err(Error::Slots { name, asked: 1, found })
            }
            // If the hall was removed, the first passage of a process may fail with an error other than `Closed`.
            Err(_) if self.hall.is_closed() => Err(Error::Closed),
            acquired => acquired,
        }
    }

    /// Opens the value in the directory of `hall`, even if another directory has the path of the hall by now.
    fn of(hall: SharedHall) -> Result<Self, Error> {
        let value =
            Arc::new(ValueFile::open::<T>(hall.name(), hall.handle.state.dir(), hall.path())?);
        Ok(SharedCell { hall, value, of: PhantomData })
    }
}

impl HallDir {
    /// Opens the [cell](SharedCell) `name`, or creates it with the value `initial`.
    ///
    /// # Errors
    /// Returns the errors of [`SharedCell::open`].
    pub fn open_cell<T: Pod + Send>(&self, name: &str, initial: T) -> Result<SharedCell<T>, Error> {
        // Other processes see the directory with both files in it, or not at all.
        SharedCell::of(self.open_with(name, 1, &|dir| ValueFile::create(dir, &initial))?)
    }

    /// Opens an existing [cell](SharedCell).
    ///
    /// # Errors
    /// Returns [`Error::Missing`] if there is no hall of this name, and the errors of [`SharedCell::open`].
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// dir.open_cell("counter", 7_u64)?;
    /// assert_eq!(dir.open_existing_cell::<u64>("counter")?.read()?, 7);
    /// assert!(dir.open_existing_cell::<u64>("other").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_existing_cell<T: Pod + Send>(&self, name: &str) -> Result<SharedCell<T>, Error> {
        SharedCell::of(self.open_existing(name)?)
    }
}

impl<T> fmt::Debug for SharedCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedCell").field("path", &self.hall.path()).finish_non_exhaustive()
    }
}
