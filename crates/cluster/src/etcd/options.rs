//! The addresses of an etcd cluster, and how to log in.

mod duration;
mod url;

use std::{fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Error, Tls,
    options::{Variables, bad, check_timeout},
    requests,
};

/// The addresses of an etcd cluster, and how to log in.
/// [`ClusterOptions::at`](crate::ClusterOptions::at) reads them from a URL and the environment.
///
/// The serialized form contains the password.
#[derive(Clone, Serialize, Deserialize)]
pub struct EtcdOptions {
    /// The members as `host:port`; at least one. Each client tries them in a random order, so that clients are
    /// spread over the members.
    pub endpoints: Vec<String>,
    /// The files for TLS; `None` for connections without TLS.
    pub tls: Option<Tls>,
    /// User and password, if etcd requires them.
    pub user: Option<(String, String)>,
    /// A file whose first line is the password of the user. hallpass reads it again for each login, so that a long wait
    /// survives a change of the password. While it cannot read the file, it uses the password in `user`.
    pub password_file: Option<PathBuf>,
    /// The time limit for making a connection. The default is 2 s. The limit is at most 1 s or a fifth of the ttl,
    /// whichever is longer.
    pub dial_timeout: Duration,
    /// The prefix of the keys of all halls.
    pub prefix: String,
}

impl EtcdOptions {
    /// Parses a URL and the environment variables of `etcdctl`. Also returns the command timeout.
    pub(crate) fn parse(url: &str, variable: &Variables) -> Result<(EtcdOptions, Duration), Error> {
        let address = url::Address::parse(url, variable)?;
        let options = EtcdOptions {
            endpoints: address.endpoints,
            tls: tls(address.tls, variable)?,
            user: user(variable)?,
            password_file: None,
            dial_timeout: timeout("ETCDCTL_DIAL_TIMEOUT", 2, variable)?,
            prefix: address.prefix,
        };
        Ok((options, timeout("ETCDCTL_COMMAND_TIMEOUT", 5, variable)?))
    }

    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "etcds" } else { "etcd" };
        let prefix = if self.prefix == url::PREFIX { "" } else { &self.prefix };
        format!("{scheme}://{}{prefix}", self.endpoints.join(","))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.endpoints.is_empty() {
            return Err(bad("endpoints", "there must be at least one"));
        }
        for endpoint in &self.endpoints {
            url::check_endpoint(endpoint)?;
        }
        url::check_prefix(&self.prefix)?;
        if let Some(part) = requests::reserved_part(&self.prefix, "") {
            let why = format!("`{part}` is reserved for the keys of halls");
            return Err(bad(self.prefix.clone(), why));
        }
        check_timeout("dial timeout", self.dial_timeout)
    }

    pub(crate) fn check_password(&self) -> Result<(), Error> {
        match &self.user {
            Some((name, password)) if password.is_empty() => {
                let why = "there is no password: also set ETCDCTL_PASSWORD";
                Err(bad(format!("user `{}`", name.escape_debug()), why))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for EtcdOptions {
    /// Shows the options without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdOptions")
            .field("endpoints", &self.endpoints)
            .field("tls", &self.tls)
            .field("user", &self.user.as_ref().map(|(name, _)| name))
            .field("password_file", &self.password_file)
            .field("dial_timeout", &self.dial_timeout)
            .field("prefix", &self.prefix)
            .finish()
    }
}

fn tls(wanted: bool, variable: &Variables) -> Result<Option<Tls>, Error> {
    const SKIP: &str = "ETCDCTL_INSECURE_SKIP_TLS_VERIFY";
    // These are the values that Go parses as false.
    if variable(SKIP)
        .is_some_and(|value| !["0", "f", "F", "false", "FALSE", "False"].contains(&&*value))
    {
        return Err(bad(
            SKIP,
            "hallpass always verifies certificates: unset it, and set ETCDCTL_CACERT",
        ));
    }
    let file = |name| variable(name).map(PathBuf::from);
    let cacert = file("ETCDCTL_CACERT");
    let identity = match (file("ETCDCTL_CERT"), file("ETCDCTL_KEY")) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        (Some(_), None) => {
            return Err(bad("ETCDCTL_CERT", "it needs its key: also set ETCDCTL_KEY"));
        }
        (None, Some(_)) => {
            return Err(bad("ETCDCTL_KEY", "it needs its certificate: also set ETCDCTL_CERT"));
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
        // The caller may add the password later; connecting without one is an error.
        None => Ok(Some((user, String::new()))),
    }
}

fn timeout(name: &str, default: u64, variable: &Variables) -> Result<Duration, Error> {
    match variable(name) {
        None => Ok(Duration::from_secs(default)),
        Some(text) => duration::parse(&text).ok_or_else(|| {
            bad(
                name,
                format!("`{}` is not a duration such as 5s, 500ms or 1m30s", text.escape_debug()),
            )
        }),
    }
}

#[cfg(test)]
mod tests;
