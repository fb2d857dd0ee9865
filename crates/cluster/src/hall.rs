//! The hall itself.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use hallpass_algorithms::halls::cluster::{Ask, Was};
use hallpass_common::check_slots;
use tokio::sync::oneshot;

use crate::{
    ClusterPass, Error, Status,
    core::Core,
    passage::{Held, Passage, Patience},
    records::Door,
    runtime::Runtime,
    view::View,
};

/// Clusters answer faster than this, if they do.
const SHORT: Duration = Duration::from_secs(1);

/// A hall that machines share: at most k are in at once, each with its own slot, in the order in which
/// they came. Clones are one handle.
#[derive(Clone)]
pub struct ClusterHall {
    // First, so that what it leaves to do is done before the thread ends.
    pub(crate) core: Arc<Core>,
    pub(crate) runtime: Arc<Runtime>,
}

impl ClusterHall {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.core.store.name
    }

    /// How many slots it had when we last heard of it; none once it is closed.
    pub fn slots(&self) -> usize {
        self.core.size()
    }

    /// How many slots are free, at this moment and in vain.
    ///
    /// # Errors
    /// Those of [`status`](ClusterHall::status).
    pub fn available(&self) -> Result<usize, Error> {
        let Status { slots, closed, holders, .. } = self.status()?;
        let taken = holders.iter().filter(|one| one.slot.is_some_and(|slot| slot < slots)).count();
        Ok(if closed { 0 } else { slots.saturating_sub(taken) })
    }

    /// How many wait.
    ///
    /// # Errors
    /// Those of [`status`](ClusterHall::status).
    pub fn waiting(&self) -> Result<usize, Error> {
        Ok(self.status()?.waiters.len())
    }

    /// Waits its turn.
    ///
    /// # Errors
    /// [`Error::Closed`]; [`Error::Unreachable`] if the cluster is down for longer than is worth waiting.
    pub fn acquire(&self) -> Result<ClusterPass, Error> {
        let (wanted, given_up) = oneshot::channel();
        let pass = self.enter(Patience::Some, given_up);
        drop(wanted);
        pass
    }

    /// A slot, if one is free and nobody waits.
    ///
    /// # Errors
    /// [`Error::NoPermits`] otherwise, and those of [`acquire`](ClusterHall::acquire).
    pub fn try_acquire(&self) -> Result<ClusterPass, Error> {
        let (wanted, given_up) = oneshot::channel();
        let pass = self.enter(Patience::None, given_up);
        drop(wanted);
        pass
    }

    /// Waits its turn for so long.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, [`Error::Unreachable`] if the cluster could not be
    /// reached by then, and those of [`acquire`](ClusterHall::acquire).
    pub fn try_acquire_for(&self, time: Duration) -> Result<ClusterPass, Error> {
        if time < SHORT {
            // It might be over before the first answer comes.
            match self.try_acquire() {
                Err(Error::NoPermits) => {}
                done => return done,
            }
        }
        let (mut wanted, given_up) = oneshot::channel();
        self.core.handle().spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = wanted.closed() => {}
            }
        });
        self.enter(Patience::Some, given_up)
    }

    /// Waits its turn until then.
    ///
    /// # Errors
    /// Those of [`try_acquire_for`](ClusterHall::try_acquire_for).
    pub fn try_acquire_until(&self, until: Instant) -> Result<ClusterPass, Error> {
        self.try_acquire_for(until.saturating_duration_since(Instant::now()))
    }

    /// Waits its turn in a task, in any executor. The place in the queue is taken soon after this is
    /// first polled, and given up when it is dropped.
    pub fn acquire_async(&self) -> Acquire {
        Acquire { hall: self.clone(), begun: None }
    }

    fn enter(
        &self,
        patience: Patience,
        given_up: oneshot::Receiver<()>,
    ) -> Result<ClusterPass, Error> {
        let held = self.runtime.wait(Passage::enter(self.core.clone(), patience, given_up))?;
        Ok(self.pass(held))
    }

    fn pass(&self, held: Held) -> ClusterPass {
        ClusterPass::new(held, self.core.clone(), self.runtime.clone())
    }

    /// Changes the number of slots while the hall is in use. Who holds a slot that is no more keeps it
    /// until it leaves.
    ///
    /// # Errors
    /// [`Error::BadSlots`], [`Error::Closed`], [`Error::Unreachable`].
    pub fn resize(&self, k: usize) -> Result<(), Error> {
        check_slots(k)?;
        let core = self.core.clone();
        self.runtime.wait(async move {
            let mut view = core.change_door(|door| Door { slots: k, ..door }).await?;
            // Who waits would notice, but why should it.
            while let (Some(to), Some(slot)) = (view.first.clone(), view.free()) {
                view = core.ask(Ask::Give { slot, was: Was::Free, to }, &view).await?;
            }
            Ok(())
        })
    }

    /// Lets nobody in any more: who waits, and who comes, gets [`Error::Closed`].
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn close(&self) -> Result<(), Error> {
        let core = self.core.clone();
        let closed = self
            .runtime
            .wait(async move { core.change_door(|door| Door { closed: true, ..door }).await });
        match closed {
            Ok(_) | Err(Error::Closed) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether it is closed or was removed.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn is_closed(&self) -> Result<bool, Error> {
        Ok(self.look()?.size() == 0)
    }

    /// What is wrong with the cluster at the moment, as far as those who wait here have noticed.
    pub fn trouble(&self) -> Option<Error> {
        self.core.trouble()
    }

    /// Who holds and who waits, at this moment.
    ///
    /// # Errors
    /// [`Error::Closed`] if it was removed, [`Error::Unreachable`].
    pub fn status(&self) -> Result<Status, Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { core.status().await })
    }

    /// Frees what those who vanished hold, which otherwise happens when somebody waits for it. Takes as
    /// long as they may still be inside. Says how many there were.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn reap(&self) -> Result<usize, Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { core.reap().await })
    }

    /// What [`status`](ClusterHall::status) shows as the command of this process, from its next passage on.
    /// Without it, its command line.
    pub fn describe_as(&self, command: &str) {
        self.core.describe_as(command);
    }

    /// What [`status`](ClusterHall::status) shows as the process and its user, from its next passage on: another
    /// of this machine, for which we act.
    pub fn act_for(&self, pid: u32, user: &str) {
        self.core.act_for(pid, user);
    }

    pub(crate) fn look(&self) -> Result<View, Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { core.look().await })
    }
}

impl fmt::Debug for ClusterHall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterHall")
            .field("name", &self.name())
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}

/// A pass, once it is there. The place in the queue is given up when this is dropped.
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire {
    hall: ClusterHall,
    begun: Option<Begun>,
}

/// A passage that is on its way in.
struct Begun {
    /// Dropped, it says that nobody wants the pass any more.
    _wanted: oneshot::Sender<()>,
    held: oneshot::Receiver<Result<Held, Error>>,
}

impl Begun {
    fn new(core: &Arc<Core>) -> Self {
        let (wanted, given_up) = oneshot::channel();
        let (done, held) = oneshot::channel();
        let (core, duty) = (core.clone(), core.duties().begin());
        core.handle().clone().spawn(async move {
            let held = Passage::enter(core.clone(), Patience::Some, given_up).await;
            if let Err(Ok(held)) = done.send(held) {
                let limit = core.ttl;
                let _ = Passage::leave(core, held, limit).await;
            }
            drop(duty);
        });
        Begun { _wanted: wanted, held }
    }
}

impl Future for Acquire {
    type Output = Result<ClusterPass, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Acquire { hall, begun } = &mut *self;
        let begun = begun.get_or_insert_with(|| Begun::new(&hall.core));
        let gone = || Error::System { doing: "wait for etcd", why: "its thread is gone".into() };
        let held = Pin::new(&mut begun.held).poll(context);
        held.map(|held| Ok(hall.pass(held.unwrap_or_else(|_| Err(gone()))?)))
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        // Before the hall, which may be the last handle, and then waits until we have left the queue.
        if let Some(mut begun) = self.begun.take() {
            begun.held.close();
            // It came too late, and goes back.
            if let Ok(Ok(held)) = begun.held.try_recv() {
                drop(self.hall.pass(held));
            }
        }
    }
}
