//! Acquiring several slots together.

use std::time::{Duration, Instant};

use hallpass_common::Limit;

use crate::{AcquireMany, ClusterHall, ClusterPasses, Error};

/// Methods that acquire several slots together.
impl ClusterHall {
    /// Waits until `m` slots are free, and takes all of them together.
    ///
    /// Requests for several slots wait in the same queue as requests for one slot. No later request overtakes them:
    /// while the first waiter needs more slots than are free, the free slots stay free for it. If the hall shrinks
    /// below `m` slots, the request waits until the hall grows again, and so do the requests behind it. A caller that
    /// needs several slots must ask for all of them in one call; several calls can deadlock.
    ///
    /// A request for 0 slots succeeds immediately.
    ///
    /// # Errors
    /// [`Error::TooMany`] if `m` is more than 60, or more than the number of slots of the hall, and the errors of
    /// [`acquire`](ClusterHall::acquire).
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let passes = hall.acquire_many(2)?;
    /// println!("using GPUs {:?}", passes.slots());
    /// passes.release()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn acquire_many(&self, m: usize) -> Result<ClusterPasses, Error> {
        self.several(m, || self.enter(m, Limit::Never))
    }

    /// Takes `m` slots together if they are free and there are no waiters. Does not wait.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if fewer than `m` slots are free or there are waiters, and the errors of
    /// [`try_acquire`](ClusterHall::try_acquire) and [`acquire_many`](ClusterHall::acquire_many).
    ///
    /// ```no_run
    /// use hallpass_cluster::Error;
    ///
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), Error> {
    /// match hall.try_acquire_many(2) {
    ///     Ok(passes) => println!("using GPUs {:?}", passes.slots()),
    ///     Err(Error::NoPermits) => println!("busy"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_acquire_many(&self, m: usize) -> Result<ClusterPasses, Error> {
        self.several(m, || self.enter(m, Limit::Now))
    }

    /// Blocks until `m` slots are free and takes all of them together, or gives up after `time`.
    ///
    /// # Errors
    /// The errors of [`try_acquire_for`](ClusterHall::try_acquire_for) and
    /// [`acquire_many`](ClusterHall::acquire_many).
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let passes = hall.try_acquire_many_for(2, Duration::from_secs(30))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_acquire_many_for(&self, m: usize, time: Duration) -> Result<ClusterPasses, Error> {
        self.several(m, || self.try_acquire_within(m, Limit::after(time)))
    }

    /// Blocks until `m` slots are free and takes all of them together, or gives up at `deadline`.
    ///
    /// # Errors
    /// The errors of [`try_acquire_many_for`](ClusterHall::try_acquire_many_for).
    ///
    /// ```no_run
    /// use std::time::{Duration, Instant};
    ///
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let passes = hall.try_acquire_many_until(2, Instant::now() + Duration::from_secs(30))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_acquire_many_until(
        &self,
        m: usize,
        deadline: Instant,
    ) -> Result<ClusterPasses, Error> {
        self.several(m, || self.try_acquire_within(m, Limit::Until(deadline)))
    }

    /// Waits in an async task until `m` slots are free, and takes all of them together. Works with any executor.
    ///
    /// The claim joins the queue soon after the future is first polled. Dropping the future leaves the queue. The
    /// future resolves to the errors of [`acquire_many`](ClusterHall::acquire_many).
    ///
    /// ```no_run
    /// # async fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let passes = hall.acquire_many_async(2).await?;
    /// println!("using GPUs {:?}", passes.slots());
    /// # Ok(())
    /// # }
    /// ```
    pub fn acquire_many_async(&self, m: usize) -> AcquireMany {
        AcquireMany::new(self.clone(), m)
    }

    fn several(
        &self,
        m: usize,
        acquire: impl FnOnce() -> Result<crate::ClusterPass, Error>,
    ) -> Result<ClusterPasses, Error> {
        match m {
            0 => Ok(ClusterPasses::none()),
            _ => acquire().map(ClusterPasses::from),
        }
    }
}
