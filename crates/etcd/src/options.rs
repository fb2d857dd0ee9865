//! How to reach a cluster, and how long a holder may be out of touch with it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::{Clock, Error};

/// How to reach a cluster, and how long a holder may be out of touch with it.
#[derive(Clone, Debug)]
pub struct Options {
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
    /// For how long a holder that is cut off from the cluster may go on. Who follows one that vanished
    /// waits for up to about twice as long.
    pub ttl: Duration,
    /// What the keys of halls begin with.
    pub prefix: String,
    /// By what time passes.
    pub clock: Clock,
}

/// Files for TLS, as etcd clients have them.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Certificates that we trust; the system's otherwise.
    pub cacert: Option<PathBuf>,
    /// Our own certificate and key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name that the members' certificates must have, if it is not that of the endpoint.
    pub server_name: Option<String>,
}

impl Options {
    /// Those for a cluster at `etcd://HOST:PORT,HOST:PORT`, or at `etcds://...` for TLS.
    pub fn at(url: &str) -> Result<Options, Error> {
        todo!("{url} {:?}", Arc::new(()))
    }
}
