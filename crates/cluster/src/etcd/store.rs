//! etcd as a [`Store`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::client::Client;
use crate::{
    ClusterOptions, Error, EtcdOptions,
    failure::Failure,
    requests,
    store::{
        History, KeyRange, KeyRead, LeaseId, Op, Place, Reply, Step, StepResponse, Store, Watch,
    },
};

/// Time between two checks that all members belong to the same cluster, while a member has not answered.
const CHECK_AGAIN_AFTER: Duration = Duration::from_secs(3);

/// A connection to an etcd cluster.
pub(crate) struct EtcdStore {
    client: Client,
    prefix: String,
    /// When to ask the members which cluster they belong to; `None` once all of them have answered.
    next_check: Mutex<Option<Instant>>,
}

impl EtcdStore {
    /// Checks the options and reads certificate files, without using the network.
    pub(crate) fn new(etcd: &EtcdOptions, options: &ClusterOptions) -> Result<Self, Error> {
        Ok(EtcdStore {
            client: Client::new(etcd, options)?,
            prefix: etcd.prefix.clone(),
            next_check: Mutex::new(Some(Instant::now())),
        })
    }
}

impl EtcdStore {
    /// Returns whether the members have to be asked now which cluster they belong to. A caller that gets `true` asks
    /// them. Another check is due a while later, because a member that is down must not delay every caller.
    fn is_check_due(&self) -> bool {
        let mut next = self.next_check.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let is_due = next.is_some_and(|next| next <= now);
        if is_due {
            *next = Some(now + CHECK_AGAIN_AFTER);
        }
        is_due
    }
}

impl Store for EtcdStore {
    fn place(&self) -> Place {
        self.client.place()
    }

    fn history(&self, _hall: &str) -> Arc<History> {
        self.client.history()
    }

    fn base(&self, hall: &str) -> String {
        format!("{}/{hall}/", self.prefix)
    }

    /// Checks that the keys of a hall with this name do not mix with the keys of another hall.
    fn check_name(&self, name: &str) -> Result<(), Error> {
        let why = "below a prefix of several parts, this name is reserved for the keys of halls";
        match requests::reserved_part(&self.prefix, name) {
            Some(_) => Err(Error::BadName { name: name.into(), why }),
            None => Ok(()),
        }
    }

    fn check_servers<'a>(&'a self, hall: &'a str) -> Reply<'a, ()> {
        Box::pin(async move {
            if !self.is_check_due() {
                return Ok(());
            }
            let all_answered =
                self.client.check_members(format!("{}door", self.base(hall))).await?;
            if all_answered {
                *self.next_check.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
            Ok(())
        })
    }

    fn step<'a>(&'a self, _hall: &'a str, step: Step) -> Reply<'a, StepResponse> {
        Box::pin(self.client.txn(step))
    }

    fn read<'a>(&'a self, _hall: &'a str, key: String) -> Reply<'a, KeyRead> {
        Box::pin(self.client.read(key))
    }

    fn watch<'a>(&'a self, _hall: &'a str, ranges: Vec<KeyRange>) -> Reply<'a, Watch> {
        Box::pin(async move {
            let watch = self.client.watch(ranges).await?;
            Ok(Watch { since: watch.since, changes: Box::new(watch) })
        })
    }

    /// Grants a lease. etcd counts its time in whole seconds.
    fn grant<'a>(&'a self, _hall: &'a str, ttl: Duration) -> Reply<'a, LeaseId> {
        let seconds = ttl.as_millis().div_ceil(1000) as i64;
        Box::pin(async move { Ok(self.client.grant(seconds).await?.id) })
    }

    fn keep_alive<'a>(&'a self, _hall: &'a str, lease: LeaseId) -> Reply<'a, bool> {
        Box::pin(self.client.keep_alive(lease))
    }

    fn revoke<'a>(&'a self, _hall: &'a str, lease: LeaseId) -> Reply<'a, ()> {
        Box::pin(self.client.revoke(lease))
    }

    /// Asks for one lease after the other. etcd rounds the remaining time down to whole seconds. A new leader gives
    /// every lease its whole time again.
    fn renewal_ages<'a>(
        &'a self,
        _hall: &'a str,
        leases: Vec<LeaseId>,
    ) -> Reply<'a, HashMap<LeaseId, Duration>> {
        Box::pin(async move {
            let mut ages = HashMap::new();
            for lease in leases {
                ages.extend(self.client.renewal_age(lease).await?.map(|age| (lease, age)));
            }
            Ok(ages)
        })
    }

    fn names(&self) -> Reply<'_, Vec<String>> {
        let all = KeyRange::prefix(format!("{}/", self.prefix));
        let look = Step { then: vec![Op::keys(all)], ..Step::default() };
        Box::pin(async move {
            let response = self.client.txn(look).await?;
            let keys = response.answers.iter().flat_map(|answer| answer.kvs());
            let name = |key: &[u8]| requests::hall_of_door(&format!("{}/", self.prefix), key);
            Ok(keys.filter_map(|kv| name(&kv.key)).collect())
        })
    }

    fn write(&self) -> Reply<'_, ()> {
        // No hall's name begins with a dot.
        let put = Op::put(format!("{}/.write", self.prefix), "", 0);
        Box::pin(async move {
            let written = self.client.txn(Step { then: vec![put], ..Step::default() }).await;
            written.map(drop) as Result<(), Failure>
        })
    }
}
