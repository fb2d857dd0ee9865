//! The guarantees of a [`Store`], on every store.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use hallpass_testbed::TIMEOUT;

use super::*;
use crate::{ClusterOptions, runtime::Tasks};

const TTL: Duration = Duration::from_secs(60);

/// A new hall in a store, for one test.
struct Bed {
    store: Arc<dyn Store>,
    hall: String,
}

impl Bed {
    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.store.base(&self.hall))
    }

    async fn step(&self, step: Txn) -> Result<TxnResponse, Failure> {
        self.store.step(&self.hall, step).await
    }

    async fn put(&self, key: &str, lease: LeaseId) -> TxnResponse {
        let put = Op::put(self.key(key), key, lease);
        self.step(Txn { then: vec![put], ..Txn::default() }).await.expect("reachable")
    }

    async fn delete(&self, key: &str) -> TxnResponse {
        let delete = Op::delete(self.key(key));
        self.step(Txn { then: vec![delete], ..Txn::default() }).await.expect("reachable")
    }

    async fn read(&self, range: KeyRange, order: fn(KeyRange) -> Op) -> Vec<String> {
        let look = Txn { then: vec![order(range)], ..Txn::default() };
        let found = self.step(look).await.expect("reachable");
        let value = |kv: &KeyValue| String::from_utf8_lossy(&kv.value).into_owned();
        found.answers[0].kvs().iter().map(value).collect()
    }

    async fn grant(&self) -> LeaseId {
        self.store.grant(&self.hall, TTL).await.expect("reachable")
    }
}

/// Returns the URLs of all stores that are installed. All tests of this process share them.
pub(crate) fn urls() -> Vec<String> {
    let etcd = || hallpass_testbed::EtcdCluster::shared().url();
    let mut urls = vec!["memory://tests".into()];
    urls.extend(hallpass_testbed::etcd().map(|()| etcd()));
    #[cfg(feature = "postgres")]
    {
        let postgres = || hallpass_testbed::PostgresServer::shared().url();
        urls.extend(hallpass_testbed::postgres().map(|()| postgres()));
    }
    urls
}

/// Runs a test in a new hall, on each store.
fn on_every_store<F: Future<Output = ()>>(test: impl Fn(Bed) -> F) {
    static HALLS: AtomicUsize = AtomicUsize::new(0);
    for url in urls() {
        let mut options = ClusterOptions::at(&url).expect("a valid URL");
        options.command_timeout = TIMEOUT;
        let store = options.connect(Tasks::default()).expect("valid options");
        let hall = format!("store-{}", HALLS.fetch_add(1, Relaxed));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(test(Bed { store, hall }));
    }
}

#[test]
fn a_step_executes_exactly_one_branch() {
    on_every_store(async |bed| {
        let queue = KeyRange::prefix(bed.key("queue/"));
        let door = Txn {
            when: vec![When::absent(bed.key("door")), When::empty(queue.clone())],
            then: vec![Op::put(bed.key("door"), "open", 0), Op::put(bed.key("queue/b"), "B", 0)],
            otherwise: vec![Op::get(bed.key("door"))],
        };
        let first = bed.step(door.clone()).await.expect("reachable");
        assert!(first.succeeded);
        assert_eq!(first.answers, [Answer::Put, Answer::Put]);
        let second = bed.step(door).await.expect("reachable");
        assert!(!second.succeeded);
        assert!(second.revision >= first.revision, "other halls may share the revisions");
        let found = second.answers[0].first().expect("it exists");
        assert_eq!((&*found.key, &*found.value), (bed.key("door").as_bytes(), &b"open"[..]));
        assert_eq!((found.create_revision, found.mod_revision), (first.revision, first.revision));

        let holds = async |when| {
            let step = Txn { when: vec![when], ..Txn::default() };
            bed.step(step).await.expect("reachable").succeeded
        };
        assert!(!holds(When::empty(queue)).await);
        let (door, revision) = (bed.key("door"), first.revision);
        for (when, expected) in [
            (When::present(door.clone()), true),
            (When::created(door.clone(), revision), true),
            (When::modified(door.clone(), revision), true),
            (When::present(bed.key("no door")), false),
            (When::created(door.clone(), revision + 1), false),
            (When::modified(door.clone(), revision - 1), false),
            (When::absent(door), false),
        ] {
            assert_eq!(holds(when.clone()).await, expected, "{when:?}");
        }
    });
}

#[test]
fn records_are_read_in_the_order_of_their_keys_or_of_their_creation() {
    on_every_store(async |bed| {
        let mut last = 0;
        for key in ["queue/c", "queue/a", "queue/b"] {
            last = bed.put(key, 0).await.revision;
        }
        let queue = || KeyRange::prefix(bed.key("queue/"));
        assert_eq!(bed.read(queue(), Op::list).await, ["queue/a", "queue/b", "queue/c"]);
        assert_eq!(bed.read(queue(), Op::keys).await, ["", "", ""]);
        assert_eq!(bed.read(queue(), Op::oldest).await, ["queue/c"]);
        let inner = Txn {
            when: vec![When::present(bed.key("queue/a"))],
            then: vec![Op::youngest_before(queue(), last)],
            otherwise: vec![],
        };
        let nested = Txn { then: vec![Op::nested(inner)], ..Txn::default() };
        let said = bed.step(nested).await.expect("reachable");
        let inner = said.answers[0].txn().expect("a nested step");
        assert!(inner.succeeded && inner.revision >= last);
        assert_eq!(inner.answers[0].first().expect("one").value, b"queue/a");

        // A step reads its own writes.
        let then = vec![Op::delete(bed.key("queue/c")), Op::oldest(queue())];
        let said = bed.step(Txn { then, ..Txn::default() }).await.expect("reachable");
        assert_eq!(said.answers[0].count(), 1);
        assert_eq!(said.answers[1].first().expect("one").value, b"queue/a");
        assert!(said.revision > last);
    });
}

#[test]
fn a_record_that_is_written_again_keeps_the_revision_of_its_creation() {
    on_every_store(async |bed| {
        let first = bed.put("door", 0).await.revision;
        let touch = Txn { then: vec![Op::touch(bed.key("door"))], ..Txn::default() };
        let second = bed.step(touch).await.expect("reachable").revision;
        let door = bed.store.read(&bed.hall, bed.key("door")).await.expect("reachable");
        let door = door.kv.expect("it exists");
        assert_eq!((door.create_revision, door.mod_revision), (first, second));
        assert_eq!(door.value, b"door");
        bed.delete("door").await;
        let third = bed.put("door", 0).await.revision;
        let door = bed.store.read(&bed.hall, bed.key("door")).await.expect("reachable");
        assert_eq!(door.kv.expect("it exists").create_revision, third);
    });
}

#[test]
fn records_vanish_with_their_lease_and_cannot_be_written_after_it() {
    on_every_store(async |bed| {
        let lease = bed.grant().await;
        bed.put("queue/leased", lease).await;
        bed.put("queue/free", 0).await;
        assert_eq!(bed.store.keep_alive(&bed.hall, lease).await, Ok(true));
        bed.store.revoke(&bed.hall, lease).await.expect("reachable");
        let all = KeyRange::prefix(bed.key("queue/"));
        assert_eq!(bed.read(all.clone(), Op::list).await, ["queue/free"]);
        assert_eq!(bed.store.keep_alive(&bed.hall, lease).await, Ok(false));
        let late = Op::put(bed.key("queue/late"), "", lease);
        // A step whose lease is gone does nothing at all.
        let then = vec![Op::put(bed.key("queue/other"), "", 0), late];
        assert_eq!(bed.step(Txn { then, ..Txn::default() }).await, Err(Failure::LeaseGone));
        assert_eq!(bed.read(all, Op::list).await, ["queue/free"]);
        assert_eq!(bed.store.revoke(&bed.hall, lease).await, Ok(()));
    });
}

#[test]
fn records_vanish_some_time_after_their_lease_was_last_renewed() {
    on_every_store(async |bed| {
        let short = Duration::from_secs(1);
        let lease = bed.store.grant(&bed.hall, short).await.expect("reachable");
        bed.put("queue/leased", lease).await;
        let begun = std::time::Instant::now();
        while !bed.read(KeyRange::prefix(bed.key("queue/")), Op::list).await.is_empty() {
            assert!(begun.elapsed() < TIMEOUT, "the lease does not end");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(bed.store.keep_alive(&bed.hall, lease).await, Ok(false));
    });
}

#[test]
fn a_watch_reports_the_changes_in_its_ranges_after_its_revision() {
    on_every_store(async |bed| {
        bed.put("inside/1", 0).await;
        let ranges = vec![KeyRange::prefix(bed.key("inside/")), KeyRange::one(bed.key("door"))];
        let mut watch = bed.store.watch(&bed.hall, ranges).await.expect("reachable");
        bed.put("elsewhere", 0).await;
        let mut change = async |key: &str, deleted: bool| {
            loop {
                let events = watch.changes.next().await.expect("reachable");
                assert!(events.iter().all(|event| !event.kv.key.ends_with(b"elsewhere")));
                let wanted = |event: &&Event| {
                    event.kv.key == bed.key(key).as_bytes() && event.deleted == deleted
                };
                if let Some(event) = events.iter().find(wanted) {
                    return event.kv.clone();
                }
            }
        };
        let put = bed.put("door", 0).await.revision;
        let kv = change("door", false).await;
        assert_eq!((kv.mod_revision, &*kv.value), (put, &b"door"[..]));
        let deleted = bed.delete("inside/1").await.revision;
        assert_eq!(change("inside/1", true).await.mod_revision, deleted);
        let lease = bed.grant().await;
        bed.put("inside/2", lease).await;
        assert_eq!(change("inside/2", false).await.lease, lease);
        bed.store.revoke(&bed.hall, lease).await.expect("reachable");
        // The end of a lease is a change.
        change("inside/2", true).await;
        assert!(put > watch.since);
    });
}

#[test]
fn a_hall_has_a_name_once_it_has_a_door() {
    on_every_store(async |bed| {
        bed.put("queue/a", 0).await;
        let names = async || bed.store.names().await.expect("reachable");
        assert!(!names().await.contains(&bed.hall));
        bed.put("door", 0).await;
        assert!(names().await.contains(&bed.hall));
        bed.store.write().await.expect("reachable");
    });
}

#[test]
fn revisions_grow_even_if_all_records_of_a_hall_are_deleted() {
    on_every_store(async |bed| {
        let before = bed.put("door", 0).await.revision;
        let deleted = bed.delete("door").await.revision;
        let again = bed.put("door", 0).await.revision;
        assert!(before < deleted && deleted < again, "{before} {deleted} {again}");
    });
}
