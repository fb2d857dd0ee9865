//! The hall itself.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use crate::{Error, EtcdPass, Status};

/// A hall that machines share: at most k are in at once, each with its own slot, in the order in which
/// they came. Clones are one handle.
#[derive(Clone)]
pub struct EtcdHall {
    _private: (),
}

impl EtcdHall {
    /// Its name.
    pub fn name(&self) -> &str {
        todo!()
    }

    /// How many slots it had when we last heard of it; none once it is closed.
    pub fn slots(&self) -> usize {
        todo!()
    }

    /// Waits its turn.
    ///
    /// # Errors
    /// [`Error::Closed`]; [`Error::Unreachable`] if the cluster is down for longer than is worth waiting.
    pub fn acquire(&self) -> Result<EtcdPass, Error> {
        todo!()
    }

    /// A slot, if one is free and nobody waits.
    ///
    /// # Errors
    /// [`Error::NoPermits`] otherwise, and those of [`acquire`](EtcdHall::acquire).
    pub fn try_acquire(&self) -> Result<EtcdPass, Error> {
        todo!()
    }

    /// Waits its turn for so long.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`acquire`](EtcdHall::acquire).
    pub fn try_acquire_for(&self, _time: Duration) -> Result<EtcdPass, Error> {
        todo!()
    }

    /// Waits its turn until then.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`acquire`](EtcdHall::acquire).
    pub fn try_acquire_until(&self, _until: Instant) -> Result<EtcdPass, Error> {
        todo!()
    }

    /// Waits its turn in a task, in any executor. The place in the queue is taken soon after this is
    /// first polled, and given up when it is dropped.
    pub fn acquire_async(&self) -> Acquire {
        todo!()
    }

    /// Changes the number of slots while the hall is in use. Who holds a slot that is no more keeps it
    /// until it leaves.
    ///
    /// # Errors
    /// [`Error::BadSlots`], [`Error::Closed`], [`Error::Unreachable`].
    pub fn resize(&self, _k: usize) -> Result<(), Error> {
        todo!()
    }

    /// Lets nobody in any more: who waits, and who comes, gets [`Error::Closed`].
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn close(&self) -> Result<(), Error> {
        todo!()
    }

    /// Who holds and who waits, at this moment.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::Closed`] if it was removed.
    pub fn status(&self) -> Result<Status, Error> {
        todo!()
    }

    /// Frees what those who vanished hold, which otherwise happens when somebody waits for it. Takes as
    /// long as they may still be inside. Says how many there were.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn reap(&self) -> Result<usize, Error> {
        todo!()
    }

    /// What [`status`](EtcdHall::status) shows as the command of this process, from its next passage on.
    /// Without it, its command line.
    pub fn describe_as(&self, _command: &str) {
        todo!()
    }
}

/// A pass, once it is there.
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire {
    _private: (),
}

impl Future for Acquire {
    type Output = Result<EtcdPass, Error>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        todo!()
    }
}
