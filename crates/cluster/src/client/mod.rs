//! A client of etcd: as much of its gRPC interface as a hall needs.
//!
//! Our own, on tonic, with the messages declared by hand: the crate that has them all generates them with
//! `protoc`, which a newcomer would have to install, and the JSON gateway can be switched off, knows no
//! certificate users, and costs a hop.
//!
//! Each call makes one attempt at one member, for a bounded time. A [`Retry`] is for those that
//! may be made again.

mod attempt;
mod failure;
mod lease;
mod login;
mod members;
mod messages;
mod range;
mod retry;
mod txn;
mod watch;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use crate::{ClusterOptions, Error};

pub(crate) use failure::Failure;
pub(crate) use messages::KeyValue;
pub(crate) use range::KeyRange;
pub(crate) use retry::Retry;
pub(crate) use txn::{Answer, Op, Txn, TxnResponse, When};
pub(crate) use watch::{Event, Watch};

use login::Login;
use members::Members;

/// A client of a cluster. Clones are one connection.
#[derive(Clone)]
pub(crate) struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    members: Members,
    login: Option<Login>,
    /// How long an attempt may take.
    patience: Duration,
}

impl Client {
    /// Checks the options and reads certificate files; no network.
    pub(crate) fn new(options: &ClusterOptions) -> Result<Client, Error> {
        options.check()?;
        let shared = Shared {
            members: Members::new(options)?,
            login: options.user.clone().map(|(name, password)| Login::new(name, password)),
            patience: options.attempt_time(options.command_timeout),
        };
        Ok(Client { shared: Arc::new(shared) })
    }
}
