//! The hall itself.

use std::{
    fmt,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use hallpass_algorithms::halls::processes::{Environment, Life, Line, Role, Then};
use hallpass_common::{Status, check_slots};

use crate::{
    Error,
    future::Acquire,
    inner::{Held, Inner},
    member::Member,
    pass::{OwnedSharedPass, SharedPass},
    place::Place,
    seat::Limit,
    status,
};

/// A hall that processes share: at most k are in at once, each with its own slot, in the order in which
/// they came, whoever is killed.
///
/// Clones are one handle. What a process needs to wait is kept for its next passage until the last
/// clone is dropped.
#[derive(Clone)]
pub struct SharedHall {
    pub(crate) inner: Arc<Inner>,
}

impl SharedHall {
    /// Opens the hall `name` of this user, or makes it with `k` slots.
    ///
    /// # Errors
    /// If it has another number of slots, and whatever else [`Error`] lists.
    pub fn open(name: &str, k: usize) -> Result<SharedHall, Error> {
        Place::user()?.open(name, k)
    }

    /// The hall in this directory.
    pub(crate) fn in_dir(name: &str, path: PathBuf, dir: OwnedFd) -> Result<SharedHall, Error> {
        Ok(SharedHall { inner: Arc::new(Inner::open(name, path, dir)?) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// How many slots it has; none once it is closed.
    pub fn slots(&self) -> usize {
        self.inner.size()
    }

    /// How many slots are free, at this moment and in vain.
    pub fn available(&self) -> usize {
        (0..self.slots()).filter(|&slot| self.inner.holder(slot).is_none()).count()
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.status().waiters.len()
    }

    /// Waits its turn.
    ///
    /// # Errors
    /// [`Error::Closed`], and what can go wrong with the first passage of a process: no room for another
    /// participant, on the disk or among the open files.
    #[inline(always)]
    pub fn acquire(&self) -> Result<SharedPass<'_>, Error> {
        self.inner.enter(Limit::Never).map(|(member, held)| SharedPass::new(self, member, held))
    }

    /// A slot, if one is free and nobody waits.
    ///
    /// # Errors
    /// [`Error::NoPermits`] otherwise, and those of [`acquire`](SharedHall::acquire).
    pub fn try_acquire(&self) -> Result<SharedPass<'_>, Error> {
        self.inner.enter(Limit::Now).map(|(member, held)| SharedPass::new(self, member, held))
    }

    /// Waits its turn for so long.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`acquire`](SharedHall::acquire).
    pub fn try_acquire_for(&self, time: Duration) -> Result<SharedPass<'_>, Error> {
        match Instant::now().checked_add(time) {
            Some(until) => self.try_acquire_until(until),
            None => self.acquire(),
        }
    }

    /// Waits its turn until then.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`acquire`](SharedHall::acquire).
    pub fn try_acquire_until(&self, until: Instant) -> Result<SharedPass<'_>, Error> {
        let entered = self.inner.enter(Limit::Until(until));
        entered.map(|(member, held)| SharedPass::new(self, member, held))
    }

    /// [`acquire`](SharedHall::acquire) with a pass that does not borrow the hall.
    ///
    /// # Errors
    /// Those of [`acquire`](SharedHall::acquire).
    pub fn acquire_owned(&self) -> Result<OwnedSharedPass, Error> {
        self.owned(self.inner.enter(Limit::Never))
    }

    /// [`try_acquire`](SharedHall::try_acquire) with a pass that does not borrow the hall.
    ///
    /// # Errors
    /// Those of [`try_acquire`](SharedHall::try_acquire).
    pub fn try_acquire_owned(&self) -> Result<OwnedSharedPass, Error> {
        self.owned(self.inner.enter(Limit::Now))
    }

    /// Waits its turn in a task. While it has to wait, a thread waits in its place.
    pub fn acquire_async(&self) -> Acquire {
        Acquire::new(self.clone())
    }

    /// Waits its turn until `given_up` is set and the bell rung that `bell` gets.
    pub(crate) fn acquire_unless(
        &self,
        given_up: &AtomicBool,
        bell: impl FnOnce(Arc<OwnedFd>),
    ) -> Result<OwnedSharedPass, Error> {
        let member = self.inner.member()?;
        bell(member.bell());
        self.owned(self.inner.wait(member, Limit::Unless(given_up)))
    }

    fn owned(&self, entered: Result<(Box<Member>, Held), Error>) -> Result<OwnedSharedPass, Error> {
        entered.map(|(member, held)| OwnedSharedPass::new(self.clone(), member, held))
    }

    /// Changes the number of slots while the hall is in use. Who holds a slot that is no more keeps it
    /// until it leaves.
    ///
    /// # Errors
    /// [`Error::BadSlots`], [`Error::Closed`], and those of [`acquire`](SharedHall::acquire).
    pub fn resize(&self, k: usize) -> Result<(), Error> {
        check_slots(k)?;
        // Joined first: what is begun then is finished.
        let mut member = self.inner.member()?;
        let size = self.inner.words.size();
        let old = size.load(SeqCst);
        let closed = old == 0 || size.compare_exchange(old, k as i64, SeqCst, SeqCst) == Err(0);
        if !closed {
            self.inner.serve(&mut member, Line::S1 { role: Role::Leaver });
        }
        self.inner.give_back(member);
        if closed { Err(Error::Closed) } else { Ok(()) }
    }

    /// Lets nobody in any more: who waits, and who comes, gets [`Error::Closed`].
    pub fn close(&self) {
        self.inner.words.size().store(0, SeqCst);
        self.inner.ring_all();
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.inner.size() == 0
    }

    /// Who holds and who waits, at this moment.
    pub fn status(&self) -> Status {
        status::of(&self.inner)
    }

    /// Frees what the dead hold, which otherwise happens when somebody waits for it. Says how many of
    /// those who were known had died.
    ///
    /// # Errors
    /// Those of [`acquire`](SharedHall::acquire) but [`Error::Closed`].
    pub fn reap(&self) -> Result<usize, Error> {
        let mut member = self.inner.member()?;
        let mut seat = self.inner.seat(&mut member, Limit::Now);
        let mut found = 0;
        for other in 0..seat.processes() {
            if let Life::Dead(_) = seat.life(other) {
                let then = Then::Serve(Role::Leaver);
                let _ = seat.go(Line::R1 { process: other, then });
                found += 1;
            }
        }
        self.inner.give_back(member);
        self.inner.tidy();
        self.inner.sweep();
        Ok(found)
    }

    /// What [`status`](SharedHall::status) shows as the command of this process, from its next
    /// passage on. Without it, its command line.
    pub fn describe_as(&self, command: &str) {
        self.inner.describe_as(command);
    }
}

impl fmt::Debug for SharedHall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedHall")
            .field("path", &self.inner.path)
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}
