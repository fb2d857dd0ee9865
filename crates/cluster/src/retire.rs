//! The end of a claim that is no longer needed.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use crate::{claim::Claim, core::Core, manage};

/// Adds the lease of a claim that is no longer needed to the spare leases. If a request for the claim may still
/// take effect, ends the lease instead, so that no later request can create the claim. If the claim has got a
/// slot by then, the head of the queue gets this slot immediately, because the owner has left.
pub(crate) fn retire(core: &Arc<Core>, claim: &Arc<Claim>, uncertain: bool) {
    if !uncertain && !claim.uncertain.load(Relaxed) {
        return core.leases.put_back(claim.lease());
    }
    let (task, core, claim) = (core.begin_task(), core.clone(), claim.clone());
    core.clone().spawn(async move {
        if core.store.revoke_lease(claim.lease().id).await {
            let _ = manage::reclaim_own(&core, &claim.record.id).await;
        }
        drop(task);
    });
}
