//! A connection to a cluster, and the halls on it.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use hallpass_common::{check_name, check_slots};

use crate::{
    ClusterOptions, Error, core::Core, hall::ClusterHall, manage, requests::HallStore,
    retry::Retry, runtime::Runtime, store::Store,
};

/// A connection to a cluster. Clones share it.
///
/// ```no_run
/// use hallpass_cluster::{Cluster, ClusterOptions};
///
/// let cluster = Cluster::connect(ClusterOptions::at("etcd://etcd-1:2379,etcd-2:2379")?)?;
/// for name in cluster.names()? {
///     println!("{name}: {} slots", cluster.open_existing(&name)?.slots());
/// }
/// # Ok::<(), hallpass_cluster::Error>(())
/// ```
#[derive(Clone)]
pub struct Cluster {
    options: Arc<ClusterOptions>,
    store: Arc<dyn Store>,
    runtime: Arc<Runtime>,
}

impl Cluster {
    /// Reads the certificates and starts the thread that talks to the cluster. This does not use the network. The
    /// first call on a hall shows whether the cluster can be reached.
    ///
    /// # Errors
    /// [`Error::BadOption`] if an option is invalid, [`Error::System`] if the thread cannot be started.
    ///
    /// ```
    /// use hallpass_cluster::{Cluster, ClusterOptions};
    ///
    /// let cluster = Cluster::connect(ClusterOptions::at("etcd://localhost")?)?;
    /// assert_eq!(cluster.url(), "etcd://localhost:2379");
    /// # Ok::<(), hallpass_cluster::Error>(())
    /// ```
    pub fn connect(options: ClusterOptions) -> Result<Cluster, Error> {
        options.check()?;
        let runtime = Runtime::start(options.command_timeout)?;
        let store = options.connect(runtime.tasks())?;
        Ok(Cluster { options: Arc::new(options), store, runtime: Arc::new(runtime) })
    }

    /// Returns the URL of the cluster, such as `etcd://...`, without secrets.
    ///
    /// ```no_run
    /// # fn example(cluster: hallpass_cluster::Cluster) {
    /// println!("halls on {}", cluster.url());
    /// # }
    /// ```
    pub fn url(&self) -> String {
        self.options.url()
    }

    /// Opens the hall `name`. If it does not exist, creates it with `k` slots.
    ///
    /// # Errors
    /// - [`Error::Slots`] if the hall has a different number of slots.
    /// - [`Error::BadName`] or [`Error::BadSlots`] if no hall can have this name or this number of slots.
    /// - [`Error::Closed`] if the hall is closed.
    /// - [`Error::Version`] or [`Error::Damaged`] if this version of hallpass cannot use the hall.
    /// - [`Error::Unreachable`], [`Error::Busy`], [`Error::Denied`] or [`Error::Refused`] if the cluster does not
    ///   answer, has no capacity or rejects the request.
    ///
    /// ```no_run
    /// # fn example(cluster: hallpass_cluster::Cluster) -> Result<(), hallpass_cluster::Error> {
    /// let hall = cluster.open("migrate", 8)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(&self, name: &str, k: usize) -> Result<ClusterHall, Error> {
        check_slots(k)?;
        self.hall(name, Some(k))
    }

    /// Opens the hall `name`, whatever its number of slots.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such hall, and the errors of [`open`](Cluster::open) except
    /// [`Error::Slots`], [`Error::BadSlots`] and [`Error::Closed`].
    ///
    /// ```no_run
    /// # fn example(cluster: hallpass_cluster::Cluster) -> Result<(), hallpass_cluster::Error> {
    /// println!("{} slots", cluster.open_existing("migrate")?.slots());
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_existing(&self, name: &str) -> Result<ClusterHall, Error> {
        self.hall(name, None)
    }

    fn hall(&self, name: &str, slots: Option<usize>) -> Result<ClusterHall, Error> {
        let core = self.core(name)?;
        let opening = core.clone();
        let view = self.runtime.wait(async move { manage::open(&opening, slots).await })?;
        core.set_opening_view(view);
        Ok(ClusterHall::new(core, self.runtime.clone()))
    }

    fn core(&self, name: &str) -> Result<Arc<Core>, Error> {
        check_name(name)?;
        self.store.check_name(name)?;
        let store = HallStore::new(self.store.clone(), name, self.url());
        let handle = self.runtime.handle().clone();
        Ok(Arc::new(Core::new(store, &self.options, handle, self.runtime.tasks())))
    }

    /// Lists the names of the halls.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::Busy`], [`Error::Denied`] or [`Error::Refused`] if the cluster does not
    /// answer, has no capacity or rejects the request.
    ///
    /// ```no_run
    /// # fn example(cluster: hallpass_cluster::Cluster) -> Result<(), hallpass_cluster::Error> {
    /// for name in cluster.names()? {
    ///     println!("{name}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let store = self.store.clone();
        let mut retry = Retry::new(store.place(), self.options.command_timeout);
        self.runtime.wait(async move {
            loop {
                match store.names().await {
                    Ok(names) => return Ok(names),
                    Err(failure) => retry.after(failure).await?,
                }
            }
        })
    }

    /// Blocks until all dropped passes are released and all cancelled waiters have left the queue. Blocks at most
    /// for [`command_timeout`](ClusterOptions::command_timeout). Dropping the last `Cluster`, hall or pass of this
    /// connection does the same.
    ///
    /// ```no_run
    /// # fn example(cluster: hallpass_cluster::Cluster) -> Result<(), hallpass_cluster::Error> {
    /// drop(cluster.open("migrate", 8)?.acquire()?);
    /// cluster.settle(); // the slot is free now
    /// # Ok(())
    /// # }
    /// ```
    pub fn settle(&self) {
        self.runtime.settle(self.options.command_timeout);
    }

    /// Measures how long it takes to write one small key. The documentation states the costs of a hall in this unit.
    ///
    /// # Errors
    /// The errors of [`names`](Cluster::names).
    ///
    /// ```no_run
    /// # fn example(cluster: hallpass_cluster::Cluster) -> Result<(), hallpass_cluster::Error> {
    /// println!("a write takes {:?}", cluster.write_time()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_time(&self) -> Result<Duration, Error> {
        let store = self.store.clone();
        self.runtime.wait(async move {
            let begun = Instant::now();
            let written = store.write().await;
            written.map(|()| begun.elapsed()).map_err(|failure| failure.into_error(&store.place()))
        })
    }

    /// Removes the hall `name`.
    ///
    /// With `force`, removes the hall even if it is in use: holders lose their passes, and waiters get
    /// [`Error::Closed`]. If a hall of the same name is created again, it does not assign the slot of an old holder
    /// before the deadline of this holder.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such hall, [`Error::InUse`] if it is in use and `force` is not given,
    /// and the errors of [`names`](Cluster::names).
    ///
    /// ```no_run
    /// # fn example(cluster: hallpass_cluster::Cluster) -> Result<(), hallpass_cluster::Error> {
    /// cluster.remove("migrate", false)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove(&self, name: &str, force: bool) -> Result<(), Error> {
        let core = self.core(name)?;
        self.runtime.wait(async move { manage::remove(&core, force).await })
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cluster").field(&self.url()).finish()
    }
}
