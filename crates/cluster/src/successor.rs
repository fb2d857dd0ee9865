//! The search for the successor of a holder, while the holder still has its slot.
//!
//! The successor is the head of the queue: a holder that leaves gives its slot to this waiter. In a hall with one
//! slot, the holder finds the head in advance. So leaving usually needs no extra request.

use std::sync::Arc;

use crate::{claim::Claim, requests::HallStore};

/// Finds the head of the queue. If there is a head, one look is enough, because the head rarely changes. If the queue is
/// empty, waits for the first arrival.
pub(crate) async fn find_successor(store: Arc<HallStore>, claim: Arc<Claim>) {
    let Ok(mut view) = store.local_exit_view(claim.reference()).await else { return };
    claim.set_exit_hint(view.clone());
    if view.first.is_some() {
        return;
    }
    let Ok(mut arrivals) = store.watch_arrivals().await else { return };
    if arrivals.since() > view.revision {
        // A claim may have joined the queue after the view and before the watch. So read the hall by consensus.
        let Ok(now) = store.exit_view(claim.reference()).await else { return };
        view = now;
    }
    while view.first.is_none() {
        let Ok(arrival) = arrivals.next(view.revision).await else { return };
        view.first = arrival;
    }
    claim.set_exit_hint(view);
    // A store may keep what it reads for the step that leaves. So let it read the hall as it is now.
    if let Ok(now) = store.local_exit_view(claim.reference()).await
        && now.first.is_some()
    {
        claim.set_exit_hint(now);
    }
}
