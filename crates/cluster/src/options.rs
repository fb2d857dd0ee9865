//! Options: which store to use, and how long a holder can be without contact with it.

use std::{env, fs, path::PathBuf, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

#[cfg(feature = "etcd")]
use crate::etcd::{EtcdOptions, EtcdStore};
#[cfg(feature = "postgres")]
use crate::postgres::{self, PostgresOptions, PostgresStore};
use crate::{Clock, Error, high_water, memory::MemoryStore, runtime::Tasks, store::Store};

/// The TTLs that are allowed. etcd counts whole seconds and has a minimum that depends on its settings.
const TTLS: std::ops::RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(3600);

/// Configures a [`Cluster`](crate::Cluster).
///
/// ```
/// use std::time::Duration;
/// use hallpass_cluster::{ClusterOptions, StoreOptions};
///
/// let mut options = ClusterOptions::at("etcd://h1:2379,h2:2379/team-a")?;
/// options.ttl = Duration::from_secs(30);
/// let StoreOptions::Etcd(etcd) = &options.store else { unreachable!() };
/// assert_eq!(etcd.endpoints, ["h1:2379", "h2:2379"]);
/// assert_eq!(etcd.prefix, "/team-a");
/// # Ok::<(), hallpass_cluster::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// The store that keeps the halls, and how to reach it.
    pub store: StoreOptions,
    /// The time limit for the first answer of the cluster to a call. The default is 5 s.
    pub command_timeout: Duration,
    /// Limits how long a holder can be without contact with the cluster: a holder stops at most 0.9 ttl after the store
    /// last confirmed its claim. The ttl is 2 s to 1 h. The default is 20 s, so that a command survives an outage of
    /// 10 s. The slot of a vanished holder is free after at most about twice the ttl.
    pub ttl: Duration,
    /// The clock that measures how much of the ttl has passed. The default is the clock of the machine.
    pub clock: Clock,
    /// The directory in which the processes of this machine record the largest token of each hall, so that later
    /// processes notice if the store lost history in the meantime. With `None`, they record nothing. The default is
    /// `HALLPASS_STATE_DIR`, or `/var/lib/hallpass` for root, or `$XDG_STATE_HOME/hallpass`, or
    /// `~/.local/state/hallpass`. It does no harm if the directory cannot be written.
    pub state_dir: Option<PathBuf>,
}

/// The store that keeps the halls, and how to reach it. The scheme of the URL chooses it.
///
/// The serialized form contains passwords.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[non_exhaustive]
pub enum StoreOptions {
    /// An etcd cluster, `etcd://...` or `etcds://...`.
    #[cfg(feature = "etcd")]
    Etcd(EtcdOptions),
    /// A PostgreSQL database, `postgres://...`.
    #[cfg(feature = "postgres")]
    Postgres(PostgresOptions),
    /// The memory of this process, `memory://NAME`, for tests. All connections of this process to the same name share
    /// the halls. The halls vanish with the last connection.
    Memory {
        /// The name of the store.
        name: String,
    },
}

impl ClusterOptions {
    /// Returns the options for the cluster at `etcd://HOST:PORT,HOST:PORT/PREFIX`, or at `etcds://...` for
    /// TLS. The default port is 2379, the default prefix `/hallpass`. Without a host, the members are those
    /// of `ETCDCTL_ENDPOINTS`, or the member on this machine.
    ///
    /// The other options come from the variables that `etcdctl` reads: `ETCDCTL_CACERT`, `ETCDCTL_CERT`,
    /// `ETCDCTL_KEY` (each of which turns TLS on), `ETCDCTL_USER`, `ETCDCTL_PASSWORD`, `ETCDCTL_DIAL_TIMEOUT`,
    /// `ETCDCTL_COMMAND_TIMEOUT`.
    ///
    /// `postgres://USER@HOST:PORT/DATABASE` is a PostgreSQL database (feature `postgres`). The password, the files for
    /// TLS and the parts that the URL lacks come from the variables that `psql` reads: `PGHOST`, `PGPORT`, `PGUSER`,
    /// `PGDATABASE`, `PGPASSWORD`, `PGPASSFILE`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGSSLCERT`, `PGSSLKEY`,
    /// `PGCONNECT_TIMEOUT`.
    ///
    /// `memory://NAME` is a store in the memory of this process, for tests of programs that use halls.
    ///
    /// # Errors
    /// [`Error::BadOption`] names the part of the URL, or the variable, that is invalid.
    ///
    /// ```
    /// # use hallpass_cluster::ClusterOptions;
    /// assert!(ClusterOptions::at("etcd://etcd-1,etcd-2").is_ok());
    /// assert!(ClusterOptions::at("http://etcd-1").is_err());
    /// ```
    pub fn at(url: &str) -> Result<ClusterOptions, Error> {
        ClusterOptions::parse(url, &|name| Some(env::var_os(name)?.to_string_lossy().into_owned()))
    }

    /// Returns the URL of the cluster, such as `etcd://...`, without secrets.
    ///
    /// ```
    /// # use hallpass_cluster::ClusterOptions;
    /// let options = ClusterOptions::at("etcd://etcd-1/team-a")?;
    /// assert_eq!(options.url(), "etcd://etcd-1:2379/team-a");
    /// # Ok::<(), hallpass_cluster::Error>(())
    /// ```
    pub fn url(&self) -> String {
        match &self.store {
            #[cfg(feature = "etcd")]
            StoreOptions::Etcd(etcd) => etcd.url(),
            #[cfg(feature = "postgres")]
            StoreOptions::Postgres(postgres) => postgres.url(),
            StoreOptions::Memory { name } => format!("{MEMORY}{name}"),
        }
    }

    /// Parses a URL and the variables that `lookup` finds.
    pub(crate) fn parse(
        url: &str,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<ClusterOptions, Error> {
        // An empty variable counts as unset, as it does for etcdctl.
        let variable = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let (store, command_timeout) = StoreOptions::parse(url, &variable)?;
        let ttl = Duration::from_secs(20);
        let (clock, state_dir) = (Clock::default(), high_water::default_dir(&variable));
        let options = ClusterOptions { store, command_timeout, ttl, clock, state_dir };
        options.check()?;
        Ok(options)
    }

    /// Checks all values. The fields are public, so the caller may have changed them.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.store {
            #[cfg(feature = "etcd")]
            StoreOptions::Etcd(etcd) => etcd.check()?,
            #[cfg(feature = "postgres")]
            StoreOptions::Postgres(postgres) => postgres.check()?,
            StoreOptions::Memory { .. } => {}
        }
        if !TTLS.contains(&self.ttl) {
            return Err(bad("ttl", format!("must be between 2 s and 1 h, got {:?}", self.ttl)));
        }
        check_timeout("command timeout", self.command_timeout)
    }

    /// Checks the options and creates a client of the store. The client connects when it is first used. `tasks` counts
    /// the background work that the store has to finish before the last handle is gone.
    pub(crate) fn connect(&self, tasks: Tasks) -> Result<Arc<dyn Store>, Error> {
        self.check()?;
        #[cfg(not(feature = "postgres"))]
        let _ = tasks;
        Ok(match &self.store {
            #[cfg(feature = "etcd")]
            StoreOptions::Etcd(etcd) => {
                etcd.check_password()?;
                Arc::new(EtcdStore::new(etcd, self)?)
            }
            #[cfg(feature = "postgres")]
            StoreOptions::Postgres(postgres) => {
                Arc::new(PostgresStore::new(postgres, self, tasks)?)
            }
            StoreOptions::Memory { name } => MemoryStore::named(name),
        })
    }

    /// Returns the smallest and the largest time limit of one attempt. The limit grows in a slow network. A holder
    /// must be able to try other members before its pass is lost.
    pub(crate) fn attempt_times(&self) -> [Duration; 2] {
        [(self.ttl / 10).max(Duration::from_millis(250)), self.ttl / 2]
            .map(|time| time.min(self.command_timeout))
    }

    /// Returns the time limit for connecting to a server.
    pub(crate) fn dial_time(&self, dial_timeout: Duration) -> Duration {
        (self.ttl / 5).max(Duration::from_secs(1)).min(dial_timeout)
    }

    /// Returns the time limit of a login.
    pub(crate) fn login_time(&self) -> Duration {
        (self.ttl / 2).min(self.command_timeout.saturating_mul(2))
    }

    /// Returns the time limit of a login in a process that has no claim to lose. In a slow network, a login takes
    /// several seconds, however short the ttl is.
    #[cfg(feature = "postgres")]
    pub(crate) fn first_login_time(&self) -> Duration {
        (self.ttl / 2).max(Duration::from_secs(10)).min(self.command_timeout.saturating_mul(2))
    }
}

/// Files for TLS. Certificates are always verified.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug, Default)]
pub struct Tls {
    /// The trusted certificates. The default is the certificates of the system.
    pub cacert: Option<PathBuf>,
    /// The certificate and the key of the client.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name that the certificates of servers must have. The default is the host of the server.
    pub server_name: Option<String>,
}

#[cfg(all(test, feature = "etcd"))]
impl ClusterOptions {
    /// Returns the options of etcd. Panics for another store.
    pub(crate) fn etcd(&self) -> EtcdOptions {
        match &self.store {
            StoreOptions::Etcd(etcd) => etcd.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the options of etcd, to change them.
    pub(crate) fn etcd_mut(&mut self) -> &mut EtcdOptions {
        match &mut self.store {
            StoreOptions::Etcd(etcd) => etcd,
            other => panic!("{other:?}"),
        }
    }
}

/// The beginning of the URL of a store in memory.
const MEMORY: &str = "memory://";

/// A function that looks up an environment variable.
pub(crate) type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl StoreOptions {
    /// Parses a URL and environment variables. Also returns the command timeout.
    fn parse(url: &str, variable: &Variables) -> Result<(StoreOptions, Duration), Error> {
        if let Some(name) = url.strip_prefix(MEMORY) {
            return Ok((StoreOptions::Memory { name: name.into() }, Duration::from_secs(5)));
        }
        #[cfg(feature = "postgres")]
        if postgres::is_url(url) {
            let (postgres, timeout) = PostgresOptions::parse(url, variable)?;
            return Ok((StoreOptions::Postgres(postgres), timeout));
        }
        #[cfg(feature = "etcd")]
        {
            let (etcd, timeout) = EtcdOptions::parse(url, variable)?;
            Ok((StoreOptions::Etcd(etcd), timeout))
        }
        #[cfg(not(feature = "etcd"))]
        {
            let _ = variable;
            Err(bad(
                url,
                "this program was built without the store of this URL: enable the feature etcd or \
                 postgres of hallpass-cluster",
            ))
        }
    }
}

pub(crate) fn check_timeout(what: &str, time: Duration) -> Result<(), Error> {
    if time.is_zero() { Err(bad(what, "must be longer than 0 s, got 0 s")) } else { Ok(()) }
}

pub(crate) fn bad(what: impl Into<String>, why: impl Into<String>) -> Error {
    Error::BadOption { what: what.into(), why: why.into() }
}

/// Returns the password in the first line of this file. If there is no file, or the file has no password at the moment,
/// returns `last`. Reading does not block this thread.
pub(crate) async fn current_password(file: &Option<PathBuf>, last: Option<&str>) -> Option<String> {
    let read = async {
        let file = file.clone()?;
        let text =
            tokio::task::spawn_blocking(move || fs::read_to_string(file)).await.ok()?.ok()?;
        text.lines().next().filter(|line| !line.is_empty()).map(String::from)
    };
    read.await.or_else(|| last.map(String::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_limits_do_not_overflow() {
        let mut options = ClusterOptions::at("memory://hall").unwrap();
        options.command_timeout = Duration::MAX;
        assert_eq!(options.login_time(), options.ttl / 2);
    }
}
