//! A client of etcd: the part of its gRPC interface that a hall needs.
//!
//! The client uses tonic and declares etcd's messages by hand. The crate `etcd-client` generates the messages with
//! `protoc`, so everyone who builds hallpass would have to install `protoc`. The client does not use etcd's JSON
//! gateway: it can be switched off, does not support login by client certificate, and adds an extra hop.
//!
//! Each call makes one attempt at one member, for a bounded time. (If this member does not know the token of the
//! client, the attempt includes the next member.) Callers that may repeat a request use a
//! [`Retry`](crate::retry::Retry).

mod attempt;
mod failure;
mod lease;
mod login;
mod members;
mod messages;
mod same_cluster;
mod txn;
mod watch;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use crate::{
    ClusterOptions, Error, EtcdOptions,
    failure::Failure,
    patience::Patience,
    store::{History, Place},
};

use login::Login;
use members::Members;

/// A client of a cluster. Clones share its connection.
#[derive(Clone)]
pub(crate) struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    members: Members,
    login: Option<Login>,
    history: Arc<History>,
    /// The time limit of one attempt.
    patience: Patience,
    /// The time limit of a login.
    login_timeout: Duration,
}

impl Client {
    /// Checks the options and reads certificate files, without using the network.
    pub(crate) fn new(etcd: &EtcdOptions, options: &ClusterOptions) -> Result<Client, Error> {
        options.check()?;
        let shared = Shared {
            members: Members::new(etcd, options.dial_time(etcd.dial_timeout))?,
            login: etcd.user.clone().map(|user| {
                let login = Login::new(user, options.ttl / 10);
                login.with_password_file(etcd.password_file.clone())
            }),
            history: Arc::default(),
            patience: Patience::new(options.attempt_times()),
            login_timeout: options.login_time(),
        };
        Ok(Client { shared: Arc::new(shared) })
    }

    /// Returns the history that this client has seen. All halls of a cluster share it.
    pub(crate) fn history(&self) -> Arc<History> {
        self.shared.history.clone()
    }

    /// Returns where the cluster is, for messages.
    pub(crate) fn place(&self) -> Place {
        Place { engine: "etcd", endpoints: self.shared.members.names() }
    }
}
