//! Options: how to reach a cluster, and how long a holder may be out of touch with it.

use std::{env, time::Duration};

use crate::{Clock, Error, etcd::EtcdOptions};

/// The TTLs that are allowed. etcd counts whole seconds and has a minimum that depends on its settings.
const TTLS: std::ops::RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(3600);

/// Configures a [`Cluster`](crate::Cluster).
///
/// ```
/// use std::time::Duration;
///
/// let mut options = hallpass_cluster::ClusterOptions::at("etcd://h1:2379,h2:2379/team-a")?;
/// options.ttl = Duration::from_secs(30);
/// assert_eq!(options.etcd.endpoints, ["h1:2379", "h2:2379"]);
/// assert_eq!(options.etcd.prefix, "/team-a");
/// # Ok::<(), hallpass_cluster::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// The addresses of the etcd cluster, and how to log in.
    pub etcd: EtcdOptions,
    /// How long the first answer may take. The default is 5 s.
    pub command_timeout: Duration,
    /// How long a holder may be out of touch with the cluster: 2 s to 1 h. The default is 20 s, with which a
    /// command outlives an outage of 10 s. The slot of a vanished holder is free after at most about twice
    /// this time.
    pub ttl: Duration,
    /// The clock that measures these times. The default is the clock of the machine.
    pub clock: Clock,
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

    /// Returns the URL of the cluster, `etcd://...`, without secrets.
    ///
    /// ```
    /// # use hallpass_cluster::ClusterOptions;
    /// let options = ClusterOptions::at("etcd://etcd-1/team-a")?;
    /// assert_eq!(options.url(), "etcd://etcd-1:2379/team-a");
    /// # Ok::<(), hallpass_cluster::Error>(())
    /// ```
    pub fn url(&self) -> String {
        self.etcd.url()
    }

    /// Parses a URL and the variables that `lookup` finds.
    pub(crate) fn parse(
        url: &str,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<ClusterOptions, Error> {
        // An empty variable counts as unset, as it does for etcdctl.
        let variable = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let (etcd, command_timeout) = EtcdOptions::parse(url, &variable)?;
        let ttl = Duration::from_secs(20);
        let options = ClusterOptions { etcd, command_timeout, ttl, clock: Clock::default() };
        options.check()?;
        Ok(options)
    }

    /// Checks all values. The fields are public, so the caller may have changed them.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.etcd.check()?;
        if !TTLS.contains(&self.ttl) {
            return Err(bad("ttl", format!("must be between 2 s and 1 h, got {:?}", self.ttl)));
        }
        check_timeout("command timeout", self.command_timeout)
    }

    /// Checks that the options suffice to connect.
    pub(crate) fn check_complete(&self) -> Result<(), Error> {
        self.etcd.check_password()?;
        self.check()
    }

    /// Returns the smallest and the largest time limit of one attempt. The limit grows in a slow network. A holder
    /// must be able to try other members before its pass is lost.
    pub(crate) fn attempt_times(&self) -> [Duration; 2] {
        [(self.ttl / 10).max(Duration::from_millis(250)), self.ttl / 2]
            .map(|time| time.min(self.command_timeout))
    }

    /// Returns how long it may take to connect to a member.
    pub(crate) fn dial_time(&self) -> Duration {
        (self.ttl / 5).max(Duration::from_secs(1)).min(self.etcd.dial_timeout)
    }
}

pub(crate) fn check_timeout(what: &str, time: Duration) -> Result<(), Error> {
    if time.is_zero() { Err(bad(what, "it must be longer than 0 s")) } else { Ok(()) }
}

pub(crate) fn bad(what: impl Into<String>, why: impl Into<String>) -> Error {
    Error::BadOption { what: what.into(), why: why.into() }
}
