//! The lifelines that a process has open: those of its own registrations, and the writing ends of other lifelines. A
//! *lifeline* is a named pipe that shows whether the owner of a registration is alive.
//! All registrations of a handle share these descriptors, to save descriptors.

use std::{
    collections::HashMap,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, MutexGuard},
};

use crate::{
    fork_mutex::ForkMutex,
    sys::{
        self,
        lifeline::{self, Reached},
    },
};

/// The state of the owner of a lifeline.
pub(crate) enum Owner {
    /// The owner is this process.
    Us,
    /// The owner is alive; this is the writing end of its lifeline.
    Alive(Arc<OwnedFd>),
    /// This process has no free descriptor to watch the owner. The owner must be treated as alive.
    Unwatched,
    /// The owner is dead.
    Dead,
    /// The state of the owner cannot be determined; the owner must be treated as alive.
    Unknown,
}

/// The open lifelines by identity.
pub(crate) struct Lifelines {
    open: ForkMutex<Open>,
    /// A spare descriptor. If descriptors have run out, it is closed to make room for one more lifeline.
    spare: ForkMutex<Option<OwnedFd>>,
}

#[derive(Default)]
struct Open {
    /// The process that opened the lifelines. A forked child starts with an empty set.
    generation: u64,
    own: HashMap<i64, Arc<OwnedFd>>,
    others: HashMap<i64, Arc<OwnedFd>>,
}

/// The maximum number of writing ends that stay open for later use while no waiter watches them.
const MAX_KEPT: usize = 64;

impl Lifelines {
    pub(crate) fn new(spare: Option<OwnedFd>) -> Self {
        Lifelines { open: ForkMutex::new(Open::default()), spare: ForkMutex::new(spare) }
    }

    fn open(&self) -> Option<MutexGuard<'_, Open>> {
        let mut open = self.open.lock()?;
        let now = sys::generation();
        if open.generation != now {
            *open = Open { generation: now, ..Open::default() };
        }
        Some(open)
    }

    /// Closes the lifelines of the parent, in a forked child that has not used the hall yet. Threads of the parent,
    /// which the child does not have, may own some of them.
    pub(crate) fn close_inherited(&self, hall: BorrowedFd<'_>) {
        let Some(open) = self.open.lock() else { return };
        if open.generation != sys::generation() {
            open.own.values().for_each(|own| lifeline::close_inherited(own, hall));
        }
    }

    /// Adds a lifeline of this process.
    pub(crate) fn add_own(&self, id: i64, lifeline: Arc<OwnedFd>) {
        if let Some(mut open) = self.open() {
            open.own.insert(id, lifeline);
        }
    }

    /// Removes a lifeline of this process.
    pub(crate) fn remove_own(&self, id: i64) {
        if let Some(mut open) = self.open() {
            open.own.remove(&id);
        }
    }

    /// Returns `true` if `id` is a lifeline of this process.
    pub(crate) fn is_own(&self, id: i64) -> bool {
        self.open().is_some_and(|open| open.own.contains_key(&id))
    }

    /// Finds out whether the owner of `id` is alive.
    pub(crate) fn owner(&self, hall: BorrowedFd<'_>, id: i64) -> Owner {
        let Some(mut open) = self.open() else { return reach(hall, id) };
        if open.own.contains_key(&id) {
            return Owner::Us;
        }
        if let Some(lifeline) = open.others.get(&id) {
            if !lifeline::is_gone(lifeline) {
                return Owner::Alive(lifeline.clone());
            }
            open.others.remove(&id);
            return Owner::Dead;
        }
        let mut owner = reach(hall, id);
        if let Owner::Unwatched = owner {
            // Close the descriptors that are kept for later use, so that the next try finds a free one.
            open.others.retain(|_, lifeline| Arc::strong_count(lifeline) > 1);
            owner = reach(hall, id);
        }
        if let Owner::Unwatched = owner {
            drop(open);
            return self.with_spare(hall, id, |_| ());
        }
        if let Owner::Alive(lifeline) = &owner {
            if open.others.len() >= MAX_KEPT {
                open.others.retain(|_, lifeline| Arc::strong_count(lifeline) > 1);
            }
            open.others.insert(id, lifeline.clone());
        }
        owner
    }

    /// Wakes the owner of `id`.
    pub(crate) fn ring(&self, hall: BorrowedFd<'_>, id: i64) {
        let known = self.open().and_then(|open| {
            let lifeline = open.own.get(&id).or_else(|| open.others.get(&id));
            lifeline.cloned()
        });
        // Ignore errors: a full pipe wakes its owner anyway, and a pipe without a reader has no owner.
        if let Some(lifeline) = known {
            let _ = sys::write_byte(lifeline.as_fd());
            return;
        }
        match self.owner(hall, id) {
            Owner::Alive(lifeline) => {
                let _ = sys::write_byte(lifeline.as_fd());
            }
            Owner::Unwatched => {
                self.with_spare(hall, id, |lifeline| drop(sys::write_byte(lifeline)));
            }
            Owner::Us | Owner::Dead | Owner::Unknown => {}
        }
    }

    /// Finds out whether the owner of `id` is alive when no descriptor is free. Closes the spare descriptor for a
    /// moment. If the owner is alive, applies `f` to the writing end of its lifeline and returns [`Owner::Unwatched`].
    #[cold]
    fn with_spare(&self, hall: BorrowedFd<'_>, id: i64, f: impl FnOnce(BorrowedFd<'_>)) -> Owner {
        let Some(mut spare) = self.spare.lock() else { return Owner::Unknown };
        drop(spare.take());
        let owner = match lifeline::reach(hall, id) {
            Reached::Alive(lifeline) => {
                f(lifeline.as_fd());
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
    match lifeline::reach(hall, id) {
        Reached::Alive(lifeline) => Owner::Alive(Arc::new(lifeline)),
        Reached::Dead => Owner::Dead,
        Reached::NoDescriptor => Owner::Unwatched,
        Reached::Unknown => Owner::Unknown,
    }
}
