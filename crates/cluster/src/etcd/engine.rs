//! A connection to an etcd cluster: opens stores, and lists the halls.

use std::time::{Duration, Instant};

use super::{
    client::{Client, KeyRange, Op, Txn},
    keys,
    store::EtcdStore,
};
use crate::{ClusterOptions, Error, retry::Retry};

/// A connection to an etcd cluster. Clones share it.
#[derive(Clone)]
pub(crate) struct EtcdEngine {
    client: Client,
    prefix: String,
    url: String,
    command_timeout: Duration,
}

impl EtcdEngine {
    /// Checks the options and reads certificate files, without using the network.
    pub(crate) fn new(options: &ClusterOptions) -> Result<Self, Error> {
        options.check_complete()?;
        Ok(EtcdEngine {
            client: Client::new(options)?,
            prefix: options.etcd.prefix.clone(),
            url: options.url(),
            command_timeout: options.command_timeout,
        })
    }

    /// Returns the URL of the cluster, without secrets.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Checks that the keys of a hall with this name do not mix with the keys of another hall.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), Error> {
        let why = "below a prefix of several parts, this name is reserved for the keys of halls";
        match keys::reserved_part(&self.prefix, name) {
            Some(_) => Err(Error::BadName { name: name.into(), why }),
            None => Ok(()),
        }
    }

    /// Returns the store of the hall `name`. The hall does not have to exist.
    pub(crate) fn store(&self, name: &str) -> EtcdStore {
        EtcdStore::new(self.client.clone(), &self.prefix, name, self.url.clone())
    }

    /// Lists the names of the halls.
    pub(crate) async fn names(&self) -> Result<Vec<String>, Error> {
        let all = KeyRange::prefix(format!("{}/", self.prefix));
        let look = Txn { then: vec![Op::keys(all)], ..Txn::default() };
        let mut retry = Retry::new(self.client.endpoints(), self.command_timeout);
        let response = loop {
            match self.client.txn(look.clone()).await {
                Ok(response) => break response,
                Err(failure) => retry.after(failure).await?,
            }
        };
        let keys = response.answers.iter().flat_map(|answer| answer.kvs());
        Ok(keys.filter_map(|kv| keys::hall_of_door(&self.prefix, &kv.key)).collect())
    }

    /// Measures how long it takes to write one small key.
    pub(crate) async fn write_time(&self) -> Result<Duration, Error> {
        // No hall's name begins with a dot.
        let put = Op::put(format!("{}/.write", self.prefix), "", 0);
        let begun = Instant::now();
        let written = self.client.txn(Txn { then: vec![put], ..Txn::default() }).await;
        let failed =
            |failure: crate::failure::Failure| failure.into_error(&self.client.endpoints());
        written.map(|_| begun.elapsed()).map_err(failed)
    }
}
