//! How to reach a cluster, and how long a holder may be out of touch with it.

mod duration;
mod url;

use std::{env, fmt, path::PathBuf, time::Duration};

use crate::{Clock, Error};

/// The TTLs there can be: etcd counts whole seconds, and has a least one that depends on its settings.
const TTLS: std::ops::RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(3600);

/// How to reach a cluster, and how long a holder may be out of touch with it.
///
/// ```
/// use std::time::Duration;
///
/// let mut options = hallpass_cluster::ClusterOptions::at("etcd://h1:2379,h2:2379/team-a")?;
/// options.ttl = Duration::from_secs(30);
/// assert_eq!(options.endpoints, ["h1:2379", "h2:2379"]);
/// assert_eq!(options.prefix, "/team-a");
/// # Ok::<(), hallpass_cluster::Error>(())
/// ```
#[derive(Clone)]
pub struct ClusterOptions {
    /// Members as `host:port`, in the order in which they are tried; at least one.
    pub endpoints: Vec<String>,
    /// Use TLS.
    pub tls: Option<Tls>,
    /// User and password, where etcd wants them.
    pub user: Option<(String, String)>,
    /// How long a connection may take.
    pub dial_timeout: Duration,
    /// How long an answer may take.
    pub command_timeout: Duration,
    /// For how long a holder that is cut off from the cluster may go on: 2 s to 1 h. Who follows one that
    /// vanished waits for up to about twice as long.
    pub ttl: Duration,
    /// What the keys of halls begin with.
    pub prefix: String,
    /// By what time passes.
    pub clock: Clock,
}

/// Files for TLS, as etcd clients have them. Certificates are always verified.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tls {
    /// Certificates that we trust; the system's otherwise.
    pub cacert: Option<PathBuf>,
    /// Our own certificate and key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name that the members' certificates must have, if it is not that of the endpoint.
    pub server_name: Option<String>,
}

impl ClusterOptions {
    /// Those for a cluster at `etcd://HOST:PORT,HOST:PORT/PREFIX`, or at `etcds://...` for TLS. The port is
    /// 2379 and the prefix `/hallpass` unless the URL says otherwise. With no host, members are those of
    /// `ETCDCTL_ENDPOINTS`, or one on this machine.
    ///
    /// What else is needed comes from the variables that `etcdctl` looks at: `ETCDCTL_CACERT`,
    /// `ETCDCTL_CERT`, `ETCDCTL_KEY` (any of which means TLS), `ETCDCTL_USER`, `ETCDCTL_PASSWORD`,
    /// `ETCDCTL_DIAL_TIMEOUT`, `ETCDCTL_COMMAND_TIMEOUT`.
    ///
    /// # Errors
    /// [`Error::BadOption`] says which part of the URL, or which variable, makes no sense.
    pub fn at(url: &str) -> Result<ClusterOptions, Error> {
        ClusterOptions::parse(url, &|name| Some(env::var_os(name)?.to_string_lossy().into_owned()))
    }

    /// Where it is: `etcd://...`, without secrets.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "etcds" } else { "etcd" };
        let prefix = if self.prefix == url::PREFIX { "" } else { &self.prefix };
        format!("{scheme}://{}{prefix}", self.endpoints.join(","))
    }

    /// With variables looked up by this function.
    fn parse(url: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<ClusterOptions, Error> {
        // Empty is unset, as it is for etcdctl.
        let variable = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let address = url::Address::parse(url, &variable)?;
        let options = ClusterOptions {
            endpoints: address.endpoints,
            tls: tls(address.tls, &variable)?,
            user: user(&variable)?,
            dial_timeout: timeout("ETCDCTL_DIAL_TIMEOUT", 2, &variable)?,
            command_timeout: timeout("ETCDCTL_COMMAND_TIMEOUT", 5, &variable)?,
            ttl: Duration::from_secs(10),
            prefix: address.prefix,
            clock: Clock::default(),
        };
        options.check()?;
        Ok(options)
    }

    /// Whether they make sense; the fields are open to all.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.endpoints.is_empty() {
            return Err(bad("endpoints", "there must be at least one"));
        }
        for endpoint in &self.endpoints {
            url::check_endpoint(endpoint)?;
        }
        url::check_prefix(&self.prefix)?;
        if !TTLS.contains(&self.ttl) {
            return Err(bad("ttl", format!("{:?} is not from 2 s to 1 h", self.ttl)));
        }
        for (what, time) in
            [("dial timeout", self.dial_timeout), ("command timeout", self.command_timeout)]
        {
            if time.is_zero() {
                return Err(bad(what, "no time at all is not enough"));
            }
        }
        Ok(())
    }

    /// Whether one can connect with them.
    pub(crate) fn check_complete(&self) -> Result<(), Error> {
        match &self.user {
            Some((name, password)) if password.is_empty() => {
                let why = "there is no password: set ETCDCTL_PASSWORD too";
                Err(bad(format!("user `{}`", name.escape_debug()), why))
            }
            _ => self.check(),
        }
    }

    /// How long one attempt may take of the time that all may: a holder must be able to make some more, at
    /// other members, before its time is over.
    pub(crate) fn attempt_time(&self, all: Duration) -> Duration {
        all.min((self.ttl / 5).max(Duration::from_millis(250)))
    }
}

impl fmt::Debug for ClusterOptions {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterOptions")
            .field("endpoints", &self.endpoints)
            .field("tls", &self.tls)
            .field("user", &self.user.as_ref().map(|(name, _)| name))
            .field("dial_timeout", &self.dial_timeout)
            .field("command_timeout", &self.command_timeout)
            .field("ttl", &self.ttl)
            .field("prefix", &self.prefix)
            .field("clock", &self.clock)
            .finish()
    }
}

type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

fn bad(what: impl Into<String>, why: impl Into<String>) -> Error {
    Error::BadOption { what: what.into(), why: why.into() }
}

fn tls(wanted: bool, variable: &Variables) -> Result<Option<Tls>, Error> {
    const SKIP: &str = "ETCDCTL_INSECURE_SKIP_TLS_VERIFY";
    // As Go reads truth.
    if variable(SKIP)
        .is_some_and(|value| !["0", "f", "F", "false", "FALSE", "False"].contains(&&*value))
    {
        return Err(bad(
            SKIP,
            "hallpass always verifies whom it speaks to: unset it, and give ETCDCTL_CACERT",
        ));
    }
    let file = |name| variable(name).map(PathBuf::from);
    let cacert = file("ETCDCTL_CACERT");
    let identity = match (file("ETCDCTL_CERT"), file("ETCDCTL_KEY")) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        (Some(_), None) => {
            return Err(bad("ETCDCTL_CERT", "it needs its key: set ETCDCTL_KEY too"));
        }
        (None, Some(_)) => {
            return Err(bad("ETCDCTL_KEY", "it needs its certificate: set ETCDCTL_CERT too"));
        }
    };
    let wanted = wanted || cacert.is_some() || identity.is_some();
    Ok(wanted.then_some(Tls { cacert, identity, server_name: None }))
}

fn user(variable: &Variables) -> Result<Option<(String, String)>, Error> {
    let Some(user) = variable("ETCDCTL_USER") else { return Ok(None) };
    if let Some(password) = variable("ETCDCTL_PASSWORD") {
        return Ok(Some((user, password)));
    }
    match user.split_once(':') {
        Some((name, password)) => Ok(Some((name.into(), password.into()))),
        // Somebody may have it elsewhere; who connects without it is told.
        None => Ok(Some((user, String::new()))),
    }
}

fn timeout(name: &str, default: u64, variable: &Variables) -> Result<Duration, Error> {
    match variable(name) {
        None => Ok(Duration::from_secs(default)),
        Some(text) => duration::parse(&text).ok_or_else(|| {
            bad(name, format!("`{}` is no time such as 5s, 500ms or 1m30s", text.escape_debug()))
        }),
    }
}

#[cfg(test)]
mod tests;
