//! The wires that a process has open: its own members', and writing ends of others'. All members of a
//! handle share them, so that descriptors do not multiply.

use std::{
    collections::HashMap,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, TryLockError},
    thread,
};

use crate::{
    sys,
    wire::{self, Reached},
};

/// What is known of a wire's owner.
pub(crate) enum Owner {
    /// It is this process.
    Us,
    /// It lives, and this is its wire.
    Alive(Arc<OwnedFd>),
    /// It has died.
    Dead,
    /// Nobody can say; it must be taken to live.
    Unknown,
}

/// The wires by identity.
pub(crate) struct Wires {
    open: Mutex<Open>,
    /// Closed to make room for a bell when descriptors have run out.
    spare: Mutex<Option<OwnedFd>>,
}

#[derive(Default)]
struct Open {
    /// The process whose they are; a forked child begins anew.
    generation: u64,
    own: HashMap<i64, Arc<OwnedFd>>,
    others: HashMap<i64, Arc<OwnedFd>>,
}

/// So many ends that nobody watches are kept for the next time.
const KEPT: usize = 64;

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

    /// Takes note of a wire of this process.
    pub(crate) fn add_own(&self, id: i64, wire: Arc<OwnedFd>) {
        if let Some(mut open) = self.open() {
            open.own.insert(id, wire);
        }
    }

    /// Forgets it.
    pub(crate) fn remove_own(&self, id: i64) {
        if let Some(mut open) = self.open() {
            open.own.remove(&id);
        }
    }

    /// Whether the owner of `id` lives.
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
        let owner = reach(hall, id);
        if let Owner::Alive(wire) = &owner {
            if open.others.len() >= KEPT {
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
        // A full pipe has been rung enough, and one without a reader needs no bell.
        if let Some(wire) = known {
            let _ = sys::write_byte(wire.as_fd());
            return;
        }
        match self.owner(hall, id) {
            Owner::Alive(wire) => {
                let _ = sys::write_byte(wire.as_fd());
            }
            Owner::Unknown => self.ring_with_spare(hall, id),
            Owner::Us | Owner::Dead => {}
        }
    }

    /// The same where no descriptor could be had: one is kept for this.
    #[cold]
    fn ring_with_spare(&self, hall: BorrowedFd<'_>, id: i64) {
        let Some(mut spare) = lock(&self.spare) else { return };
        drop(spare.take());
        if let Reached::Alive(wire) = wire::reach(hall, id) {
            let _ = sys::write_byte(wire.as_fd());
        }
        *spare = hall.try_clone_to_owned().ok();
    }
}

fn reach(hall: BorrowedFd<'_>, id: i64) -> Owner {
    match wire::reach(hall, id) {
        Reached::Alive(wire) => Owner::Alive(Arc::new(wire)),
        Reached::Dead => Owner::Dead,
        Reached::Unknown => Owner::Unknown,
    }
}

/// Locks what is never locked for long; in vain in a child that was forked while another thread of its
/// parent had it, where it stays locked for ever.
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
