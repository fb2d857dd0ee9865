//! A cluster with halls in it.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use hallpass_common::{check_name, check_slots};

use crate::{
    ClusterOptions, Error,
    client::{Client, KeyRange, Op, Txn},
    core::Core,
    hall::ClusterHall,
    keys::{self, Keys},
    runtime::Runtime,
    store::Store,
};

/// A cluster with halls in it. Clones are one connection.
#[derive(Clone)]
pub struct Cluster {
    options: Arc<ClusterOptions>,
    client: Client,
    runtime: Arc<Runtime>,
}

impl Cluster {
    /// Reads certificates and starts the thread that will connect; the first use says whether the cluster
    /// can be reached.
    ///
    /// # Errors
    /// [`Error::BadOption`], [`Error::System`].
    pub fn connect(options: ClusterOptions) -> Result<Cluster, Error> {
        options.check_complete()?;
        let client = Client::new(&options)?;
        let runtime = Runtime::start(options.command_timeout)?;
        Ok(Cluster { options: Arc::new(options), client, runtime: Arc::new(runtime) })
    }

    /// Where it is: `etcd://...`, without secrets.
    pub fn url(&self) -> String {
        self.options.url()
    }

    /// Opens the hall `name`, or makes it with `k` slots.
    ///
    /// # Errors
    /// [`Error::Slots`] if it has another number of slots, and whatever else [`Error`] lists.
    pub fn open(&self, name: &str, k: usize) -> Result<ClusterHall, Error> {
        check_slots(k)?;
        self.hall(name, Some(k))
    }

    /// Opens a hall that is there.
    ///
    /// # Errors
    /// [`Error::Missing`] if it is not, and whatever else [`Error`] lists.
    pub fn open_existing(&self, name: &str) -> Result<ClusterHall, Error> {
        self.hall(name, None)
    }

    fn hall(&self, name: &str, slots: Option<usize>) -> Result<ClusterHall, Error> {
        let core = self.core(name)?;
        let open = core.clone();
        core.opened(self.runtime.wait(async move { open.open(slots).await })?);
        Ok(ClusterHall { core, runtime: self.runtime.clone() })
    }

    fn core(&self, name: &str) -> Result<Arc<Core>, Error> {
        check_name(name)?;
        let keys = Keys::new(&self.options.prefix, name);
        let store =
            Store { name: name.into(), place: self.url(), client: self.client.clone(), keys };
        let handle = self.runtime.handle().clone();
        Ok(Arc::new(Core::new(store, &self.options, handle, self.runtime.duties())))
    }

    /// The names of the halls.
    ///
    /// # Errors
    /// [`Error::Unreachable`] and the like.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let (client, options) = (self.client.clone(), self.options.clone());
        self.runtime.wait(async move {
            let all = KeyRange::prefix(format!("{}/", options.prefix));
            let look = Txn { then: vec![Op::keys(all)], ..Txn::default() };
            let mut retry = client.retry(options.command_timeout);
            let response = loop {
                match client.txn(look.clone()).await {
                    Ok(response) => break response,
                    Err(failure) => retry.after(failure).await?,
                }
            };
            let keys = response.answers.iter().flat_map(|answer| answer.kvs());
            Ok(keys.filter_map(|kv| keys::hall_of_door(&options.prefix, &kv.key)).collect())
        })
    }

    /// Waits until passes that were dropped have been given back, and who gave up has left the queue, for as
    /// long as an answer may take. Dropping the last handle does so too.
    pub fn settle(&self) {
        self.runtime.settle(self.options.command_timeout);
    }

    /// How long it takes to write one small key: what everything that happens in a hall is measured by.
    ///
    /// # Errors
    /// [`Error::Unreachable`] and the like.
    pub fn write_time(&self) -> Result<Duration, Error> {
        let (client, options) = (self.client.clone(), self.options.clone());
        self.runtime.wait(async move {
            // No hall's name begins with a dot.
            let put = Op::put(format!("{}/.write", options.prefix), "", 0);
            let begun = Instant::now();
            let written = client.txn(Txn { then: vec![put], ..Txn::default() }).await;
            written.map(|_| begun.elapsed()).map_err(|failure| client.error(failure))
        })
    }

    /// Removes a hall; by force even if somebody is in or waits: who holds a slot then loses it, and who
    /// waits gets [`Error::Closed`]. If there is a hall of that name again, such a slot is given to nobody
    /// before its holder must be out.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::InUse`] without force, and the like.
    pub fn remove(&self, name: &str, force: bool) -> Result<(), Error> {
        let core = self.core(name)?;
        self.runtime.wait(async move { core.remove(force).await })
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cluster").field(&self.url()).finish()
    }
}
