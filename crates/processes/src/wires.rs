//! The wires that a process has open: those of its own registrations, and writing ends of others. All
//! registrations of a handle share them, so that descriptors do not multiply.

use std::{
    collections::HashMap,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, TryLockError},
    thread,
};

use crate::sys::{
    self,
    wire::{self, Reached},
};

/// The state of the owner of a wire.
pub(crate) enum Owner {
    /// The owner is this process.
    Us,
    /// The owner lives; this is the writing end of its wire.
    Alive(Arc<OwnedFd>),
    /// The owner lives, but no descriptor is left to watch it with.
    Unwatched,
    /// The owner is dead.
    Dead,
    /// The state of the owner cannot be determined; the owner must be treated as alive.
    Unknown,
}

/// The open wires by identity.
pub(crate) struct Wires {
    open: Mutex<Open>,
    /// A descriptor that is closed to make room for one more wire when descriptors have run out.
    spare: Mutex<Option<OwnedFd>>,
}

#[derive(Default)]
struct Open {
    /// The process that opened them. A forked child starts with an empty set.
    generation: u64,
    own: HashMap<i64, Arc<OwnedFd>>,
    others: HashMap<i64, Arc<OwnedFd>>,
}

/// How many writing ends may be kept open for the next use although no waiter watches them.
const MAX_KEPT: usize = 64;

impl Wires {
    pub(crate) fn new(spare: Option<OwnedFd>) -> Self {
        Wires { open: Mutex::default(), spare: Mutex::new(spare) }
    }

    fn open(&self) -> Option<MutexGuard<'_, Open>> {
        let mut open = lock(&self.open)?;
        let now = sys::generation();
        if open.generation != now {
            *open = Open { generation: now, ..Open::default() };
        }
        Some(open)
    }

    /// Adds a wire of this process.
    pub(crate) fn add_own(&self, id: i64, wire: Arc<OwnedFd>) {
        if let Some(mut open) = self.open() {
            open.own.insert(id, wire);
        }
    }

    /// Removes a wire of this process.
    pub(crate) fn remove_own(&self, id: i64) {
        if let Some(mut open) = self.open() {
            open.own.remove(&id);
        }
    }

    /// Finds out whether the owner of `id` lives.
    pub(crate) fn owner(&self, hall: BorrowedFd<'_>, id: i64) -> Owner {
        let Some(mut open) = self.open() else { return reach(hall, id) };
        if open.own.contains_key(&id) {
            return Owner::Us;
        }
        if let Some(wire) = open.others.get(&id) {
            if !wire::is_gone(wire) {
                return Owner::Alive(wire.clone());
            }
            open.others.remove(&id);
            return Owner::Dead;
        }
        let mut owner = reach(hall, id);
        if let Owner::Unwatched = owner {
            // The next try may use the descriptors that are kept for later.
            open.others.retain(|_, wire| Arc::strong_count(wire) > 1);
            owner = reach(hall, id);
        }
        if let Owner::Unwatched = owner {
            drop(open);
            return self.with_spare(hall, id, |_| ());
        }
        if let Owner::Alive(wire) = &owner {
            if open.others.len() >= MAX_KEPT {
                open.others.retain(|_, wire| Arc::strong_count(wire) > 1);
            }
            open.others.insert(id, wire.clone());
        }
        owner
    }

    /// Wakes the owner of `id`.
    pub(crate) fn ring(&self, hall: BorrowedFd<'_>, id: i64) {
        let known = self.open().and_then(|open| {
            let wire = open.own.get(&id).or_else(|| open.others.get(&id));
            wire.cloned()
        });
        // Errors do not matter: a full pipe wakes its owner anyway, and one without a reader has no owner.
        if let Some(wire) = known {
            let _ = sys::write_byte(wire.as_fd());
            return;
        }
        match self.owner(hall, id) {
            Owner::Alive(wire) => {
                let _ = sys::write_byte(wire.as_fd());
            }
            Owner::Unwatched => {
                self.with_spare(hall, id, |wire| drop(sys::write_byte(wire)));
            }
            Owner::Us | Owner::Dead | Owner::Unknown => {}
        }
    }

    /// Finds out whether the owner of `id` lives when no descriptor is free: gives up the spare one for the
    /// moment. Applies `f` to the writing end of a wire whose owner lives.
    #[cold]
    fn with_spare(&self, hall: BorrowedFd<'_>, id: i64, f: impl FnOnce(BorrowedFd<'_>)) -> Owner {
        let Some(mut spare) = lock(&self.spare) else { return Owner::Unknown };
        drop(spare.take());
        let owner = match wire::reach(hall, id) {
            Reached::Alive(wire) => {
                f(wire.as_fd());
                Owner::Unwatched
            }
            Reached::Dead => Owner::Dead,
            Reached::NoDescriptor | Reached::Unknown => Owner::Unknown,
        };
        *spare = hall.try_clone_to_owned().ok();
        owner
    }
}

fn reach(hall: BorrowedFd<'_>, id: i64) -> Owner {
    match wire::reach(hall, id) {
        Reached::Alive(wire) => Owner::Alive(Arc::new(wire)),
        Reached::Dead => Owner::Dead,
        Reached::NoDescriptor => Owner::Unwatched,
        Reached::Unknown => Owner::Unknown,
    }
}

/// Locks a mutex that is only ever locked for a short time. Returns `None` if it stays locked: in a child
/// that was forked while another thread of its parent held the lock, nothing ever unlocks it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    const TRIES: usize = 100_000;
    (0..TRIES).find_map(|_| match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => {
            thread::yield_now();
            None
        }
    })
}
