//! A value that processes share.

use std::{
    fmt,
    marker::PhantomData,
    sync::Arc,
    time::{Duration, Instant},
};

use bytemuck::Pod;

use crate::{Error, hall::SharedHall, pass::SharedPass, place::Place, value::Value};

/// A value that processes share, and that is never found half changed, whoever is killed.
///
/// ```
/// use hallpass_processes::SharedCell;
/// # let dir = tempfile::tempdir().unwrap();
/// # // SAFETY: nobody else reads the environment.
/// # unsafe { std::env::set_var("HALLPASS_DIR", dir.path()) };
///
/// // The same for every process of this user; whoever comes first makes it.
/// let account = SharedCell::open("account", [100_u64, 0])?;
/// let moved = account.update(|[from, to]| {
///     let some = 30.min(*from);
///     *from -= some;
///     *to += some; // killed before this line: nothing has been moved
///     some
/// })?;
/// assert_eq!((moved, account.read()?), (30, [70, 30]));
/// # Ok::<(), hallpass_processes::Error>(())
/// ```
///
/// It is a [`SharedHall`] of one slot with a second file in its directory, which has room for two copies
/// of the value. An update waits its turn in the hall, applies the closure to a copy of the value in its
/// own memory, writes the result where nobody looks, and makes it the value by one atomic store.
///
/// # What it survives
///
/// - **Any number of processes killed, at any instruction**, in any part of an update or of opening. The
///   value is the old one or the new one, nothing has to be repaired, nothing is poisoned, and the next
///   in line gets in at once.
/// - **A closure that panics**: nothing has happened. So too if it execs, or if its process ends in it.
///   In a process that is forked in it, nothing happens, either: there it ends with [`Error::Forked`].
/// - **Bytes in the file that make no sense**: they are some `T`, for any bytes are. Other processes that
///   may open it can write to it as they like; keep those out that must not, as for any file.
///
/// # What it does not
///
/// - **A process that is stopped in an update**, by `SIGSTOP` or a debugger, lets all others wait that
///   want to make one, until it goes on or dies. (They can still [`read`](SharedCell::read).) Objects
///   that threads share, in `hallpass-objects`, do better: any k-1 of those who are in may stop there.
///   But for that, others finish what one has begun; they would have to run its closure, which is code
///   and memory of its process, and what objects own there lies in memory that only threads share.
/// - **A machine that loses power.** Files in `/run` and `/tmp` are gone then, as a rule. On a disk, parts
///   of the value may have been written, and others not.
/// - **An update in the closure of another one** of the same cell: it waits for itself, for ever.
///
/// # The type
///
/// Processes must agree on `T`. Its size and alignment are compared when the cell is opened, and nothing
/// else is known of it: two types of one size are taken for each other. [`Pod`] are plain numbers,
/// arrays of them, and structs for which that is derived; no pointers, which is what `Send` is for.
///
/// # Where it is
///
/// Names, places and permissions are those of halls; [`Place::open_cell`] is for other places than this
/// user's. To others it is a hall of one slot: `hallpass list` shows it, `hallpass status` tells who is at
/// it and who waits, `hallpass rm` removes it, and the value with it. Both files appear at once, so
/// nobody finds one without the other, whenever whoever makes it is killed.
///
/// # What it costs
///
/// An update copies the whole value in and out, and a little more than that is all it costs when nobody
/// waits.
#[derive(Clone)]
pub struct SharedCell<T> {
    hall: SharedHall,
    value: Arc<Value>,
    of: PhantomData<fn(T) -> T>,
}

/// How often a reader looks before it asks for a place in the queue.
const LOOKS: usize = 16;
/// How long it waits there until it looks again, lest it wait for one that is stopped.
const A_WHILE: Duration = Duration::from_millis(2);

/// What the hall said.
type Asked<'a> = Result<SharedPass<'a>, Error>;

impl<T: Pod + Send> SharedCell<T> {
    /// Opens the cell `name` of this user, or makes it with this value.
    ///
    /// # Errors
    /// [`Error::Value`] if it holds a value of another size or alignment, [`Error::NoValue`] if there is
    /// a hall of that name that is no cell, and whatever else [`Error`] lists.
    pub fn open(name: &str, initial: T) -> Result<Self, Error> {
        Place::user()?.open_cell(name, initial)
    }

    /// Waits its turn, and applies the closure to the value.
    ///
    /// # Errors
    /// Those of [`SharedHall::acquire`]; [`Error::Slots`] if somebody has resized the cell's hall and
    /// another slot than the first was free; [`Error::Forked`]. The value is then as it was.
    pub fn update<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        self.apply(self.hall.acquire(), f)
    }

    /// Applies the closure to the value, if nobody else is at it or waits.
    ///
    /// # Errors
    /// [`Error::NoPermits`] otherwise, and those of [`update`](SharedCell::update).
    pub fn try_update<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        self.apply(self.hall.try_acquire(), f)
    }

    /// Waits its turn for so long, and applies the closure to the value.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`update`](SharedCell::update).
    pub fn try_update_for<R>(
        &self,
        time: Duration,
        f: impl FnOnce(&mut T) -> R,
    ) -> Result<R, Error> {
        self.apply(self.hall.try_acquire_for(time), f)
    }

    /// Waits its turn until then, and applies the closure to the value.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`update`](SharedCell::update).
    pub fn try_update_until<R>(
        &self,
        until: Instant,
        f: impl FnOnce(&mut T) -> R,
    ) -> Result<R, Error> {
        self.apply(self.hall.try_acquire_until(until), f)
    }

    /// The value as it is at one moment of the call.
    ///
    /// It waits for nobody, and least of all for one that is stopped in an update. Only where updates
    /// keep coming while it copies the value, it stands in the queue with them for a moment.
    ///
    /// # Errors
    /// [`Error::Closed`], and if it stood in the queue those of [`update`](SharedCell::update).
    pub fn read(&self) -> Result<T, Error> {
        loop {
            if self.hall.is_closed() {
                return Err(Error::Closed);
            }
            if let Some(value) = (0..LOOKS).find_map(|_| self.value.look()) {
                return Ok(value);
            }
            match self.turn(self.hall.try_acquire_for(A_WHILE)) {
                Ok(_pass) => return Ok(self.value.get()),
                Err(Error::NoPermits) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The hall that updates go through: its name, who is at it and who waits, closing it. Whoever holds
    /// its slot keeps others from updates, and must not make one itself.
    pub fn hall(&self) -> &SharedHall {
        &self.hall
    }

    fn apply<R>(&self, asked: Asked<'_>, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        let pass = self.turn(asked)?;
        let mut value = self.value.get();
        let ret = f(&mut value);
        if !pass.is_ours() {
            return Err(Error::Forked);
        }
        self.value.set(&value);
        Ok(ret)
    }

    /// Whether it is this one's turn.
    fn turn<'a>(&self, asked: Asked<'a>) -> Asked<'a> {
        match asked {
            // In a hall that was made larger, the first slot is still one process's at a time.
            Ok(pass) if pass.slot() != 0 => {
                let (name, found) = (self.hall.name().into(), self.hall.slots());
                Err(Error::Slots { name, asked: 1, found })
            }
            // If it was removed, a process that comes for the first time fails in some other way.
            Err(_) if self.hall.is_closed() => Err(Error::Closed),
            asked => asked,
        }
    }

    /// The value in the hall's directory, whatever is at its path by now.
    fn of(hall: SharedHall) -> Result<Self, Error> {
        let value = Arc::new(Value::open::<T>(hall.name(), hall.inner.dir(), hall.path())?);
        Ok(SharedCell { hall, value, of: PhantomData })
    }
}

impl Place {
    /// Opens the [cell](SharedCell) `name`, or makes it with this value.
    ///
    /// # Errors
    /// Those of [`SharedCell::open`].
    pub fn open_cell<T: Pod + Send>(&self, name: &str, initial: T) -> Result<SharedCell<T>, Error> {
        // The directory is seen with both files in it, or not at all.
        SharedCell::of(self.open_with(name, 1, &|dir| Value::create(dir, &initial))?)
    }

    /// Opens a [cell](SharedCell) that is there.
    ///
    /// # Errors
    /// [`Error::Missing`] if it is not, and those of [`SharedCell::open`].
    pub fn open_existing_cell<T: Pod + Send>(&self, name: &str) -> Result<SharedCell<T>, Error> {
        SharedCell::of(self.open_existing(name)?)
    }
}

impl<T> fmt::Debug for SharedCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedCell").field("path", &self.hall.path()).finish_non_exhaustive()
    }
}
