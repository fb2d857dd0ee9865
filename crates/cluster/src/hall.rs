//! The hall: acquiring a pass, and reading the hall. The submodule `many` acquires several slots at once, and
//! `management` changes the hall.

mod management;
mod many;

use std::{
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use hallpass_common::Limit;
use tokio::sync::oneshot;

use crate::{
    ClusterPass, Error, Status,
    acquire::Acquire,
    core::Core,
    manage,
    passage::{Held, Passage},
    runtime::Runtime,
};

/// A time limit below this may be over before the first answer arrives.
const SHORT: Duration = Duration::from_secs(1);

/// A fair semaphore with numbered slots, shared by several machines.
///
/// At most [`slots`](ClusterHall::slots) passes are held at any time, each with its own slot. Only after a
/// [`resize`](ClusterHall::resize) to fewer slots, there may be more passes for a while. Waiters get slots in the order
/// in which they came. [`Cluster::open`](crate::Cluster::open) opens a hall. Clones are handles to the same hall.
///
/// ```no_run
/// use hallpass_cluster::{Cluster, ClusterOptions};
///
/// let cluster = Cluster::connect(ClusterOptions::at("etcd://etcd-1:2379")?)?;
/// let hall = cluster.open("gpu", 4)?;
/// let pass = hall.acquire()?;
/// println!("using GPU {}", pass.slot());
/// pass.release()?;
/// # Ok::<(), hallpass_cluster::Error>(())
/// ```
#[derive(Clone)]
pub struct ClusterHall {
    // This field is dropped first. Its drop starts background work, which must be done before the thread of `runtime`
    // ends.
    core: Arc<Core>,
    runtime: Arc<Runtime>,
}

impl ClusterHall {
    pub(crate) fn new(core: Arc<Core>, runtime: Arc<Runtime>) -> Self {
        ClusterHall { core, runtime }
    }

    /// Returns the name of the hall.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) {
    /// println!("waiting for {}", hall.name());
    /// # }
    /// ```
    pub fn name(&self) -> &str {
        &self.core.store.name
    }

    /// Returns the number of slots when the hall was last read. Returns 0 if the hall was closed or removed by then.
    ///
    /// This method does not contact the cluster; [`status`](ClusterHall::status) does.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) {
    /// println!("{} slots", hall.slots());
    /// # }
    /// ```
    pub fn slots(&self) -> usize {
        self.core.size()
    }

    /// Returns the number of free slots: a snapshot that may already be stale.
    ///
    /// # Errors
    /// The errors of [`status`](ClusterHall::status).
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// println!("{} of {} slots are free", hall.available()?, hall.slots());
    /// # Ok(())
    /// # }
    /// ```
    pub fn available(&self) -> Result<usize, Error> {
        let Status { slots, closed, holders, .. } = self.status()?;
        let taken = holders.iter().filter(|one| one.slot.is_some_and(|slot| slot < slots)).count();
        Ok(if closed { 0 } else { slots.saturating_sub(taken) })
    }

    /// Returns the number of waiters: a snapshot that may already be stale.
    ///
    /// # Errors
    /// The errors of [`status`](ClusterHall::status).
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// println!("{} callers wait", hall.waiting()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn waiting(&self) -> Result<usize, Error> {
        Ok(self.status()?.waiters.len())
    }

    /// Blocks until a slot is free and no earlier waiter is left, and takes the slot.
    ///
    /// Do not call this from an async task: use [`acquire_async`](ClusterHall::acquire_async) there.
    ///
    /// # Errors
    /// - [`Error::Closed`] if the hall is closed or was removed.
    /// - [`Error::Unreachable`] or [`Error::Busy`] if the first answer of the cluster does not arrive within
    ///   [`command_timeout`](crate::ClusterOptions::command_timeout). After the first answer, the caller keeps
    ///   waiting however long the cluster is down. The answer to `open` counts as
    ///   this first answer if `open` returned less than `command_timeout` ago and no call has acquired slots since. Use
    ///   [`try_acquire_for`](ClusterHall::try_acquire_for) to limit the wait, and [`trouble`](ClusterHall::trouble) to
    ///   show the error.
    /// - [`Error::Denied`] or [`Error::Refused`] if the cluster rejects a request, and [`Error::Damaged`] if a record
    ///   of the hall cannot be read.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let pass = hall.acquire()?;
    /// println!("slot {}", pass.slot());
    /// # Ok(())
    /// # }
    /// ```
    pub fn acquire(&self) -> Result<ClusterPass, Error> {
        self.enter(1, Limit::Never)
    }

    /// Takes a slot if one is free and there are no waiters. Does not wait.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if no slot is free or there are waiters, or if the store has lost history so recently that
    /// no slot may be assigned yet (see [`ClusterPass`]). Also the errors of [`acquire`](ClusterHall::acquire).
    ///
    /// ```no_run
    /// use hallpass_cluster::Error;
    ///
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), Error> {
    /// match hall.try_acquire() {
    ///     Ok(pass) => println!("slot {}", pass.slot()),
    ///     Err(Error::NoPermits) => println!("busy"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_acquire(&self) -> Result<ClusterPass, Error> {
        self.enter(1, Limit::Now)
    }

    /// Blocks until a slot is free and takes it, or gives up after `time`.
    ///
    /// If a request is under way when the time is over, the call first waits for the answer, so that no slot stays
    /// taken. If etcd does not answer, this takes up to half of the [ttl](crate::ClusterOptions::ttl). With PostgreSQL,
    /// it can take longer, because a request consists of several statements and may have to connect first. Connecting
    /// takes up to 10 s or half of the ttl, whichever is longer, but at most twice the [command
    /// timeout](crate::ClusterOptions::command_timeout). If other processes keep changing the hall, the request keeps
    /// starting over until half of the ttl has passed. The statements of the
    /// attempt that is then under way take more time: up to half of the ttl each, if the server does not answer.
    ///
    /// If `time` is less than 1 s, the call first tries to take a slot without joining the queue. On a cluster that
    /// does not answer or has no capacity, this takes up to the [command
    /// timeout](crate::ClusterOptions::command_timeout).
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, [`Error::Unreachable`] or [`Error::Busy`] if the cluster could not be
    /// reached or had no capacity by then, and the errors of [`acquire`](ClusterHall::acquire).
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let pass = hall.try_acquire_for(Duration::from_secs(30))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_acquire_for(&self, time: Duration) -> Result<ClusterPass, Error> {
        self.try_acquire_within(1, Limit::after(time))
    }

    /// Blocks until a slot is free and takes it, or gives up at `deadline`.
    ///
    /// # Errors
    /// The errors of [`try_acquire_for`](ClusterHall::try_acquire_for).
    ///
    /// ```no_run
    /// use std::time::{Duration, Instant};
    ///
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let pass = hall.try_acquire_until(Instant::now() + Duration::from_secs(30))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_acquire_until(&self, deadline: Instant) -> Result<ClusterPass, Error> {
        self.try_acquire_within(1, Limit::Until(deadline))
    }

    /// Waits for a slot in an async task, with any executor.
    ///
    /// The claim joins the queue soon after the future is first polled. Dropping the future leaves the queue.
    /// The future resolves to the errors of [`acquire`](ClusterHall::acquire).
    ///
    /// ```no_run
    /// # async fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let pass = hall.acquire_async().await?;
    /// println!("slot {}", pass.slot());
    /// # Ok(())
    /// # }
    /// ```
    pub fn acquire_async(&self) -> Acquire {
        Acquire::new(self.clone(), 1)
    }

    fn try_acquire_within(&self, take: usize, limit: Limit) -> Result<ClusterPass, Error> {
        if limit.remaining().is_some_and(|left| left < SHORT) {
            match self.enter(take, Limit::Now) {
                // No slot is free. Spend the rest of the time in the queue.
                Err(Error::NoPermits) if !limit.is_over() => {}
                done => return done,
            }
        }
        self.enter(take, limit)
    }

    fn enter(&self, take: usize, limit: Limit) -> Result<ClusterPass, Error> {
        let (mut wanted, given_up) = oneshot::channel();
        // Dropping `_wanted` makes the passage give up.
        let _wanted = match limit {
            Limit::Now | Limit::Never => Some(wanted),
            Limit::Until(deadline) => {
                self.core.spawn(async move {
                    tokio::select! {
                        () = tokio::time::sleep_until(deadline.into()) => {}
                        () = wanted.closed() => {}
                    }
                });
                None
            }
        };
        let held = self.runtime.wait(Passage::enter(self.core.clone(), take, limit, given_up))?;
        Ok(self.pass(held))
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub(crate) fn pass(&self, held: Held) -> ClusterPass {
        ClusterPass::new(held, self.core.clone(), self.runtime.clone())
    }

    /// Returns `true` if the hall is closed or was removed.
    ///
    /// # Errors
    /// The errors of [`status`](ClusterHall::status), except [`Error::Closed`].
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// if hall.is_closed()? {
    ///     println!("no more work");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_closed(&self) -> Result<bool, Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { Ok(core.look().await?.size() == 0) })
    }

    /// Returns the connection error that calls on this handle are retrying at the moment, if any.
    ///
    /// While one thread waits for a pass, another thread can call this method and show the error to the user.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) {
    /// if let Some(error) = hall.trouble() {
    ///     eprintln!("still waiting: {error}");
    /// }
    /// # }
    /// ```
    pub fn trouble(&self) -> Option<Error> {
        self.core.current_error()
    }

    /// Lists the holders and the waiters: a snapshot that may already be stale.
    ///
    /// # Errors
    /// [`Error::Closed`] if the hall was removed, [`Error::Damaged`] if a record of the hall cannot be read, and the
    /// errors of [`Cluster::names`](crate::Cluster::names).
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// for holder in hall.status()?.holders {
    ///     println!("{:?}: process {} on {:?}", holder.slot, holder.pid, holder.host);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn status(&self) -> Result<Status, Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { manage::status(&core).await })
    }

    /// Returns for each slot how long ago its holder renewed its claim, by the clock of the store. Slots of vanished
    /// holders are left out.
    ///
    /// A healthy holder renews its claim every `ttl / 10`. The times are only for display: etcd rounds them up to whole
    /// seconds, and counts from 0 again after a change of its leader.
    ///
    /// # Errors
    /// The errors of [`status`](ClusterHall::status).
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// for (slot, age) in hall.renewal_ages()? {
    ///     println!("slot {slot}: renewed {} s ago", age.as_secs());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn renewal_ages(&self) -> Result<BTreeMap<usize, Duration>, Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { manage::renewal_ages(&core).await })
    }

    /// Sets the command that [`status`](ClusterHall::status) shows for this process. It applies to calls that acquire
    /// slots from now on. The default is the command line of the process.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) {
    /// hall.describe_as("nightly backup");
    /// # }
    /// ```
    pub fn describe_as(&self, command: &str) {
        self.core.describe_as(command);
    }

    /// Sets the process and the user that [`status`](ClusterHall::status) shows. They apply to calls that acquire slots
    /// from now on. Use this in a program that acquires passes on behalf of another process of this machine.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) {
    /// hall.act_for(4711, "joe");
    /// # }
    /// ```
    pub fn act_for(&self, pid: u32, user: &str) {
        self.core.act_for(pid, user);
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
