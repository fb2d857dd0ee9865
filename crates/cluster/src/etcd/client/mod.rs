//! A client of etcd: the part of its gRPC interface that a hall needs.
//!
//! The client uses tonic and declares etcd's messages by hand. The existing client crate generates the messages with
//! `protoc`, so everyone who builds hallpass would have to install `protoc`. etcd's JSON gateway can be switched off,
//! does not support login by client certificate, and adds an extra hop.
//!
//! Each call makes one attempt at one member, for a bounded time. Callers that may repeat a request use a
//! [`Retry`](crate::retry::Retry).

mod attempt;
mod failure;
mod history;
mod lease;
mod login;
mod members;
mod messages;
mod patience;
mod range;
mod txn;
mod watch;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use crate::{ClusterOptions, Error, failure::Failure};

pub(crate) use messages::KeyValue;
pub(crate) use range::KeyRange;
pub(crate) use txn::{Answer, Op, Txn, TxnResponse, When};
pub(crate) use watch::{Event, Watch};

use history::History;
use login::Login;
use members::Members;
use patience::Patience;

/// A client of a cluster. Clones share its connection.
#[derive(Clone)]
pub(crate) struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    members: Members,
    login: Option<Login>,
    history: History,
    /// How long one attempt may take.
    patience: Patience,
    /// How long a login may take.
    login_timeout: Duration,
}

impl Client {
    /// Checks the options and reads certificate files, without using the network.
    pub(crate) fn new(options: &ClusterOptions) -> Result<Client, Error> {
        options.check()?;
        let shared = Shared {
            members: Members::new(options)?,
            login: options.etcd.user.clone().map(|user| Login::new(user, options.ttl / 10)),
            history: History::default(),
            patience: Patience::new(options.attempt_times()),
            login_timeout: (options.ttl / 2).min(2 * options.command_timeout),
        };
        Ok(Client { shared: Arc::new(shared) })
    }

    /// Returns how often this client has noticed that the cluster lost history.
    pub(crate) fn generation(&self) -> u64 {
        self.shared.history.generation()
    }

    /// Waits until this client has noticed more than `generation` times that the cluster lost history.
    pub(crate) async fn await_loss(&self, generation: u64) {
        self.shared.history.await_loss(generation).await;
    }

    /// Returns how long ago this client noticed that the cluster lost history; `None` if it never did.
    pub(crate) fn since_loss(&self) -> Option<Duration> {
        self.shared.history.since_loss()
    }

    /// Returns the addresses of the members, for messages.
    pub(crate) fn endpoints(&self) -> String {
        self.shared.members.names()
    }
}
