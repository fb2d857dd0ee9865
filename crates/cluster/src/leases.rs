//! Spare leases: leases without a claim, kept for the next passage, because granting a lease costs a write.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::runtime::Handle;

use crate::{
    Clock, Error,
    requests::HallStore,
    retry::{Retry, lock},
    runtime::Tasks,
    view::LeaseId,
};

/// A lease of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub id: LeaseId,
    /// The time at which the last request that granted or renewed the lease was sent. Unless the store ends the lease
    /// early, the lease lasts at least a ttl from this time on.
    pub renewed: Duration,
}

/// The spare leases of a hall. Dropping this value ends them.
pub(crate) struct Leases {
    store: Arc<HallStore>,
    clock: Clock,
    ttl: Duration,
    spare: Mutex<Vec<Lease>>,
    handle: Handle,
    tasks: Tasks,
}

impl Leases {
    pub(crate) fn new(
        store: Arc<HallStore>,
        clock: Clock,
        ttl: Duration,
        handle: Handle,
        tasks: Tasks,
    ) -> Self {
        Leases { store, clock, ttl, spare: Mutex::default(), handle, tasks }
    }

    /// Returns a spare lease that is young enough, or a new one.
    pub(crate) async fn take(&self, mut retry: Retry) -> Result<Lease, Error> {
        // The youngest lease is on top. Leases that are too old end by themselves.
        if let Some(lease) = lock(&self.spare).pop().filter(|lease| self.is_young(*lease)) {
            return Ok(lease);
        }
        loop {
            let renewed = self.clock.now();
            match self.store.grant_lease(self.ttl).await {
                Ok(id) => return Ok(Lease { id, renewed }),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    /// Takes back a lease whose claim is no longer needed.
    pub(crate) fn put_back(&self, lease: Lease) {
        let mut spare = lock(&self.spare);
        spare.retain(|lease| self.is_young(*lease));
        spare.push(lease);
    }

    /// Ends a lease in the background, if the store can be reached soon.
    pub(crate) fn revoke(&self, lease: Lease) {
        let (store, task) = (self.store.clone(), self.tasks.begin());
        self.handle.spawn(async move {
            store.revoke_lease(lease.id).await;
            drop(task);
        });
    }

    /// Returns whether a lease lasts long enough that its next claim can be renewed in time.
    fn is_young(&self, lease: Lease) -> bool {
        self.clock.now().saturating_sub(lease.renewed) < self.ttl / 2
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        for lease in std::mem::take(&mut *lock(&self.spare)) {
            self.revoke(lease);
        }
    }
}
