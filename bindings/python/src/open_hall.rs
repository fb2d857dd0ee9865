//! A hall that this process has open, with the passes it holds.
//!
//! This module keeps the passes; the Python objects only have keys. So a forked child can close all passes that it
//! inherits. It must close them, because the parent's slot stays taken while the child has the parent's lifeline open.
//! The *lifeline* of a holder or waiter is a pipe that it keeps open. When no process has the pipe open any more, other
//! processes treat the holder or waiter as dead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hallpass_processes::{Error, HallDir, OwnedSharedPasses, SharedHall};

/// A hall and the passes that this process holds in it. Python's `Hall` and `Pass` share it.
pub(crate) struct OpenHall {
    pub dir: HallDir,
    pub name: String,
    inner: Mutex<Inner>,
}

struct Inner {
    /// `None` in a forked child until it uses the hall.
    hall: Option<SharedHall>,
    /// The text of `describe_as`, for a child that opens the hall again.
    description: Option<String>,
    passes: Vec<Option<(u64, OwnedSharedPasses)>>,
    free: Vec<usize>,
    last_serial: u64,
    /// The number of forks between the process that opened the hall and this process.
    forks: u64,
}

/// Identifies a pass. No two passes that a process gets from one `OpenHall` have the same serial number.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    index: usize,
    serial: u64,
}

/// All open halls of this process.
static ALL: Mutex<Vec<Weak<OpenHall>>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenHall {
    /// Opens the hall, or creates it if `slots` is given.
    pub(crate) fn new(dir: HallDir, name: &str, slots: Option<usize>) -> Result<Arc<Self>, Error> {
        let hall = match slots {
            Some(slots) => dir.open(name, slots)?,
            None => dir.open_existing(name)?,
        };
        let inner = Inner {
            hall: Some(hall),
            description: None,
            passes: Vec::new(),
            free: Vec::new(),
            last_serial: 0,
            forks: 0,
        };
        let open = Arc::new(OpenHall { dir, name: name.into(), inner: Mutex::new(inner) });
        let mut all = lock(&ALL);
        all.retain(|hall| hall.strong_count() > 0);
        all.push(Arc::downgrade(&open));
        Ok(open)
    }

    /// Returns the hall. A forked child opens it here.
    pub(crate) fn hall(&self) -> Result<SharedHall, Error> {
        let mut inner = lock(&self.inner);
        self.hall_of(&mut inner).cloned()
    }

    fn hall_of<'a>(&self, inner: &'a mut Inner) -> Result<&'a SharedHall, Error> {
        if inner.hall.is_none() {
            let hall = self.dir.open_existing(&self.name)?;
            if let Some(description) = &inner.description {
                hall.describe_as(description);
            }
            inner.hall = Some(hall);
        }
        Ok(inner.hall.as_ref().expect("opened above"))
    }

    /// Takes `count` slots if they are free and nobody waits. Returns the slots and the key of their pass.
    pub(crate) fn try_acquire(&self, count: usize) -> Result<(Vec<usize>, Key), Error> {
        let mut inner = lock(&self.inner);
        let pass = self.hall_of(&mut inner)?.try_acquire_many_owned(count)?;
        Ok((pass.slots().to_vec(), inner.keep(pass)))
    }

    /// Keeps a pass until it is released.
    pub(crate) fn keep(&self, pass: OwnedSharedPasses) -> Key {
        lock(&self.inner).keep(pass)
    }

    /// Frees the slots of a pass. Does nothing if the pass was released before, or if this process inherited it.
    pub(crate) fn release(&self, key: Key) {
        let pass = lock(&self.inner).take(key);
        drop(pass);
    }

    /// Returns `true` if this process holds the pass.
    pub(crate) fn holds(&self, key: Key) -> bool {
        lock(&self.inner).passes.get(key.index).is_some_and(|entry| has_key(entry, key))
    }

    /// Returns a number that differs between this process and its forked children.
    pub(crate) fn forks(&self) -> u64 {
        lock(&self.inner).forks
    }

    /// Sets the command that the status shows for this process.
    pub(crate) fn describe_as(&self, text: &str) -> Result<(), Error> {
        let mut inner = lock(&self.inner);
        self.hall_of(&mut inner)?.describe_as(text);
        inner.description = Some(text.into());
        Ok(())
    }
}

impl Inner {
    fn keep(&mut self, pass: OwnedSharedPasses) -> Key {
        self.last_serial += 1;
        let serial = self.last_serial;
        let entry = Some((serial, pass));
        let index = match self.free.pop() {
            Some(index) => {
                self.passes[index] = entry;
                index
            }
            None => {
                self.passes.push(entry);
                self.passes.len() - 1
            }
        };
        Key { index, serial }
    }

    fn take(&mut self, key: Key) -> Option<OwnedSharedPasses> {
        let entry = self.passes.get_mut(key.index).filter(|entry| has_key(entry, key))?;
        let (_, pass) = entry.take()?;
        self.free.push(key.index);
        Some(pass)
    }
}

fn has_key(entry: &Option<(u64, OwnedSharedPasses)>, key: Key) -> bool {
    entry.as_ref().is_some_and(|(serial, _)| *serial == key.serial)
}

/// Closes the passes and handles that this process has inherited by a fork.
///
/// An inherited pass frees no slot, because the slot belongs to the parent. But this process has copies of the parent's
/// lifelines open: one for each inherited pass, and one for each thread of the parent that waits. This function closes
/// the copies. So the slots are free when the parent dies, even if this process keeps running.
pub(crate) fn close_inherited() {
    for open in lock(&ALL).iter().filter_map(Weak::upgrade) {
        let mut inner = lock(&open.inner);
        // This call has an effect only in a child that has not used the hall yet. Dropping a pass is such a use, so the
        // passes are dropped later.
        if let Some(hall) = &inner.hall {
            hall.close_inherited_lifelines();
        }
        inner.passes.clear();
        inner.free.clear();
        inner.hall = None;
        inner.forks += 1;
    }
}
