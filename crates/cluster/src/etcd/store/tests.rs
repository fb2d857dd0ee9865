//! Requests that arrive late, on a real etcd.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hallpass_algorithms::halls::cluster::Ask;
use hallpass_testbed::{EtcdCluster, TIMEOUT};

use super::*;
use crate::{ClusterOptions, etcd::EtcdEngine};

/// Runs a test on a new hall with one slot.
fn with_hall<F: Future<Output = ()>>(test: impl FnOnce(EtcdStore) -> F) {
    static HALLS: AtomicUsize = AtomicUsize::new(0);
    if hallpass_testbed::etcd().is_none() {
        return;
    }
    let mut options = ClusterOptions::at(&EtcdCluster::shared().url()).expect("a valid URL");
    options.command_timeout = TIMEOUT;
    let engine = EtcdEngine::new(&options).expect("valid options");
    let store = engine.store(&format!("late-{}", HALLS.fetch_add(1, Relaxed)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        store.create(Door::with(1)).await.expect("reachable");
        test(store).await;
    });
}

/// Makes the record of a claim of this process.
fn record(id: &str) -> ClaimRecord {
    ClaimRecord::of((1, "joe".into()), "a command", id.into(), Duration::from_secs(60))
}

#[test]
fn a_claim_that_arrives_late_does_not_join_a_hall_that_was_removed_and_made_again() {
    with_hall(async |store| {
        let lease = store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let (first, late) = (record("first"), record("late"));
        let [first, late] = [&first, &late].map(|record| ClaimRef { record, lease, slot: None });
        let was = store.view(None).await.expect("reachable");
        let claim = Ask::Claim { slot: 0, wait: true };
        store.perform(claim.clone(), Some(first), &was).await.expect("reachable");
        let door = was.door.expect("there is a hall").modified;
        assert!(store.remove(door, true, true).await.expect("reachable"));
        for remade in [false, true] {
            if remade {
                store.create(Door::with(1)).await.expect("reachable");
            }
            let now = store.perform(claim.clone(), Some(late), &was).await.expect("reachable");
            assert_eq!(now.own, OwnClaim::Outside, "made again: {remade}");
        }
    });
}

#[test]
fn a_slot_with_the_same_token_is_not_freed_if_it_belongs_to_another_claim() {
    with_hall(async |store| {
        let lease = store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let (holder, stranger) = (record("holder"), record("stranger"));
        let [holder, stranger] =
            [&holder, &stranger].map(|record| ClaimRef { record, lease, slot: None });
        let empty = store.view(None).await.expect("reachable");
        let claim = Ask::Claim { slot: 0, wait: true };
        let held = store.perform(claim, Some(holder), &empty).await.expect("reachable");
        assert!(held.own.is_inside());
        // The stranger has a view from before the cluster was wiped, and revisions repeat.
        let free = Ask::Free { slot: 0, anyway: false };
        store.perform(free, Some(stranger), &held).await.expect("reachable");
        let now = store.view(Some(holder)).await.expect("reachable");
        assert!(now.own.is_inside() && now.slots.contains_key(&0), "{now:?}");
    });
}
