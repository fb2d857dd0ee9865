//! Tests that run on every store: requests that arrive late, plain reads of a claim, and claims that are created again.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hallpass_algorithms::halls::cluster::Ask;
use hallpass_testbed::TIMEOUT;

use super::*;
use crate::{
    ClusterOptions,
    records::ClaimRecord,
    runtime::Tasks,
    slot_set::SlotSet,
    store::{self, KeyRange, KeyRead, Reply, Watch},
};

/// Runs a test on a new hall with one slot, on each store.
fn with_hall<F: Future<Output = ()>>(test: impl Fn(HallStore) -> F) {
    static HALLS: AtomicUsize = AtomicUsize::new(0);
    for url in store::tests::urls() {
        let mut options = ClusterOptions::at(&url).expect("a valid URL");
        options.command_timeout = TIMEOUT;
        let store = options.connect(Tasks::default()).expect("valid options");
        let name = format!("late-{}", HALLS.fetch_add(1, Relaxed));
        let store = HallStore::new(store, &name, url);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            store.create(Door::with(1)).await.expect("reachable");
            test(store).await;
        });
    }
}

/// Returns the set of slot 0 alone.
fn slot_0() -> SlotSet {
    [0].into_iter().collect()
}

/// Creates the record of a claim of this process.
fn record(id: &str) -> ClaimRecord {
    ClaimRecord::of((1, "joe".into()), "a command", id.into(), Duration::from_secs(60))
}

#[test]
fn a_claim_that_arrives_late_does_not_join_a_hall_that_was_removed_and_created_again() {
    with_hall(async |store| {
        let lease = store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let (first, late) = (record("first"), record("late"));
        let [first, late] =
            [&first, &late].map(|record| ClaimRef { record, lease, slots: SlotSet::default() });
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
            assert_eq!(now.own, OwnClaim::Outside, "created again: {remade}");
        }
    });
}

#[test]
fn a_removal_that_arrives_late_does_not_remove_a_hall_that_was_created_again() {
    with_hall(async |store| {
        let door = |view: View| view.door.expect("there is a hall").modified;
        let old = door(store.view(None).await.expect("reachable"));
        assert!(store.remove(old, false, false).await.expect("reachable"));
        let new = door(store.create(Door::with(1)).await.expect("reachable"));
        for force in [false, true] {
            assert!(!store.remove(old, force, force).await.expect("reachable"), "force: {force}");
            assert_eq!(door(store.view(None).await.expect("reachable")), new);
        }
        // A hall whose door was written since, for example by `resize`.
        let was = store.view(None).await.expect("reachable");
        store.change_door(Door::with(2), &was).await.expect("reachable");
        assert!(!store.remove(new, true, false).await.expect("reachable"));
    });
}

#[test]
fn an_eviction_that_arrives_late_does_not_evict_the_next_holder() {
    with_hall(async |store| {
        let lease = store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let records = ["first", "second"].map(record);
        let [first, second] =
            [0, 1].map(|at| ClaimRef { record: &records[at], lease, slots: SlotSet::default() });
        let claim = Ask::Claim { slot: 0, wait: true };
        let mut was = store.view(None).await.expect("reachable");
        was = store.perform(claim.clone(), Some(first), &was).await.expect("reachable");
        let free = Ask::Free { slot: 0, anyway: false };
        store.perform(free, Some(first), &was).await.expect("reachable");
        let now = store.view(None).await.expect("reachable");
        store.perform(claim, Some(second), &now).await.expect("reachable");
        store.evict(0, &was).await.expect("reachable");
        let now = store.view(Some(second)).await.expect("reachable");
        assert!(now.own.is_inside(), "{now:?}");
    });
}

#[test]
fn a_slot_with_the_same_token_is_not_freed_if_it_belongs_to_another_claim() {
    with_hall(async |store| {
        let lease = store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let (holder, stranger) = (record("holder"), record("stranger"));
        let [holder, stranger] = [&holder, &stranger].map(|record| ClaimRef {
            record,
            lease,
            slots: SlotSet::default(),
        });
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

#[test]
fn plain_reads_show_the_same_claim_as_a_step() {
    with_hall(async |store| {
        let lease = store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let records = ["holder", "waiter", "stranger"].map(record);
        let was = store.view(None).await.expect("reachable");
        for record in &records {
            let mut own = ClaimRef { record, lease, slots: SlotSet::default() };
            if record.id != "stranger" {
                let claim = Ask::Claim { slot: 0, wait: true };
                let seen = store.perform(claim, Some(own), &was).await.expect("reachable").own;
                own.slots = seen.is_inside().then_some(0).into_iter().collect();
            }
            let (alone, view) = (store.claim_alone(own).await, store.exit_view(own).await);
            let (alone, view) = (alone.expect("reachable"), view.expect("reachable"));
            assert_eq!(alone.own, view.own, "{}", record.id);
        }
    });
}

/// A store that refuses every step, as older versions of etcd do while they have no space.
struct Full(Arc<dyn Store>);

impl Store for Full {
    fn place(&self) -> Place {
        self.0.place()
    }
    fn history(&self, hall: &str) -> Arc<History> {
        self.0.history(hall)
    }
    fn base(&self, hall: &str) -> String {
        self.0.base(hall)
    }
    fn step<'a>(&'a self, _: &'a str, _: Step) -> Reply<'a, StepResponse> {
        Box::pin(async { Err(Failure::NoSpace("no space".into())) })
    }
    fn read<'a>(&'a self, hall: &'a str, key: String) -> Reply<'a, KeyRead> {
        self.0.read(hall, key)
    }
    fn watch<'a>(&'a self, hall: &'a str, ranges: Vec<KeyRange>) -> Reply<'a, Watch> {
        self.0.watch(hall, ranges)
    }
    fn grant<'a>(&'a self, hall: &'a str, ttl: Duration) -> Reply<'a, LeaseId> {
        self.0.grant(hall, ttl)
    }
    fn keep_alive<'a>(&'a self, hall: &'a str, lease: LeaseId) -> Reply<'a, bool> {
        self.0.keep_alive(hall, lease)
    }
    fn revoke<'a>(&'a self, hall: &'a str, lease: LeaseId) -> Reply<'a, ()> {
        self.0.revoke(hall, lease)
    }
    fn renewal_ages<'a>(
        &'a self,
        hall: &'a str,
        leases: Vec<LeaseId>,
    ) -> Reply<'a, HashMap<LeaseId, Duration>> {
        self.0.renewal_ages(hall, leases)
    }
    fn names(&self) -> Reply<'_, Vec<String>> {
        self.0.names()
    }
    fn write(&self) -> Reply<'_, ()> {
        self.0.write()
    }
}

/// Without space, older versions of etcd refuse even steps that only read, so the holder has to use plain reads.
#[test]
fn a_holder_sees_its_claim_even_if_the_store_refuses_every_step() {
    with_hall(async |store| {
        let lease = store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let record = record("holder");
        let mut own = ClaimRef { record: &record, lease, slots: SlotSet::default() };
        let was = store.view(None).await.expect("reachable");
        let claim = Ask::Claim { slot: 0, wait: true };
        let held = store.perform(claim, Some(own), &was).await.expect("reachable").own;
        own.slots = slot_0();
        let full = Arc::new(Full(store.store.clone()));
        let full = HallStore::new(full, &store.name, store.url.clone());
        assert_eq!(full.exit_view(own).await.expect("it answers").own, held);
        assert!(store.revoke_lease(lease).await);
        let gone = full.exit_view(own).await.expect("it answers").own;
        assert_eq!(gone, OwnClaim::Outside);
    });
}

#[test]
fn a_claim_is_created_again_only_while_its_slot_and_its_hall_are_the_same() {
    with_hall(async |store| {
        let grant = async || store.grant_lease(Duration::from_secs(60)).await.expect("reachable");
        let (record, empty) = (record("holder"), store.view(None).await.expect("reachable"));
        let hall = empty.hall().expect("there is one");
        let mut own = ClaimRef { record: &record, lease: grant().await, slots: SlotSet::default() };
        let claim = Ask::Claim { slot: 0, wait: true };
        // The holder waits for a moment, so that the time of its slot is later than the time of its claim.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let since = async || store.view(None).await.expect("reachable").slots[&0].record.since;
        let first = store.perform(claim, Some(own), &empty).await.expect("reachable").own;
        let held_since = since().await;
        assert!(held_since > record.since);
        let OwnClaim::Inside { version, token, .. } = first else { panic!("{first:?}") };
        own.slots = slot_0();
        assert!(store.revoke_lease(own.lease).await);
        let gone = store.exit_view(own).await.expect("reachable").own;
        assert_eq!(gone, OwnClaim::Detached { slots: slot_0(), version, token });
        own.lease = grant().await;
        let other_hall = store.attach(own, hall + 1, gone).await.expect("reachable").own;
        assert_eq!(other_hall, gone, "the hall was removed and created again");
        let again = store.attach(own, hall, gone).await.expect("reachable").own;
        let OwnClaim::Inside { version: newer, token: same, .. } = again else {
            panic!("{again:?}")
        };
        assert!(
            newer > version && same == token,
            "the slot has the version of the new claim, and keeps its token"
        );
        assert_eq!(since().await, held_since, "the claim has had its slot all the time");
        // A request that arrives late, for the version that is gone.
        assert!(store.revoke_lease(own.lease).await);
        own.lease = grant().await;
        let late = store.attach(own, hall, gone).await.expect("reachable").own;
        assert_eq!(late, OwnClaim::Detached { slots: slot_0(), version: newer, token });
    });
}
