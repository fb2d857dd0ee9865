//! The address of a PostgreSQL database, and how to log in.

use std::{fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Error, Tls,
    options::{bad, check_timeout},
};

/// The address of a PostgreSQL database, and how to log in.
/// [`ClusterOptions::at`](crate::ClusterOptions::at) reads them from a URL and the environment.
///
/// The serialized form contains the password.
#[derive(Clone, Serialize, Deserialize)]
pub struct PostgresOptions {
    /// The servers with their ports; at least one. A host that begins with `/` is the directory of a socket. hallpass
    /// uses the first server that accepts writes.
    pub hosts: Vec<(String, u16)>,
    /// The user as whom hallpass connects.
    pub user: String,
    /// The name of the database.
    pub database: String,
    /// The password of the user, if the server asks for one.
    pub password: Option<String>,
    /// A file whose first line is the password. hallpass reads it again for each connection, so that a long wait survives
    /// a change of the password. While it cannot read the file, it uses `password`.
    pub password_file: Option<PathBuf>,
    /// The files for TLS; `None` for connections without TLS.
    pub tls: Option<Tls>,
    /// The time limit for making a connection. The default is 2 s. The limit is at most 1 s or a fifth of the ttl,
    /// whichever is longer.
    pub connect_timeout: Duration,
    /// Whether this process shares a connection with other processes of the same user on this machine while it waits
    /// for a slot and holds none, and for a short time after it has got one. The default is `false`. `hallpass run`
    /// sets it.
    pub share_connection: bool,
}

impl PostgresOptions {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.hosts.is_empty() {
            return Err(bad("hosts", "there must be at least one"));
        }
        let texts = [&self.user, &self.database];
        let hosts = self.hosts.iter().map(|(host, _)| host);
        if texts.into_iter().chain(hosts).any(|text| text.is_empty() || text.contains('\0')) {
            return Err(bad("the URL of a database", "a user, a host or a database has no name"));
        }
        check_timeout("connect timeout", self.connect_timeout)
    }

    /// Returns the addresses of the servers, for messages.
    pub(super) fn addresses(&self) -> String {
        let hosts = self.hosts.iter().map(|(host, port)| format!("{host}:{port}"));
        hosts.collect::<Vec<_>>().join(",")
    }
}

impl fmt::Debug for PostgresOptions {
    /// Shows the options without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("hosts", &self.hosts)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("password_file", &self.password_file)
            .field("tls", &self.tls)
            .field("connect_timeout", &self.connect_timeout)
            .finish()
    }
}
