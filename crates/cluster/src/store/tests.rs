//! The guarantees of a [`Store`], on every store.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use hallpass_testbed::TIMEOUT;

use super::*;
use crate::{ClusterOptions, runtime::Tasks};

const TTL: Duration = Duration::from_secs(60);

/// A new hall in a store, for one test.
struct TestHall {
    store: Arc<dyn Store>,
    hall: String,
}

impl TestHall {
    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.store.base(&self.hall))
    }

    async fn step(&self, step: Step) -> Result<StepResponse, Failure> {
        self.store.step(&self.hall, step).await
    }

    async fn put(&self, key: &str, lease: LeaseId) -> StepResponse {
        let put = Op::put(self.key(key), key, lease);
        self.step(Step { then: vec![put], ..Step::default() }).await.expect("reachable")
    }

    async fn delete(&self, key: &str) -> StepResponse {
        let delete = Op::delete(self.key(key));
        self.step(Step { then: vec![delete], ..Step::default() }).await.expect("reachable")
    }

    async fn read(&self, range: KeyRange, order: fn(KeyRange) -> Op) -> Vec<String> {
        let look = Step { then: vec![order(range)], ..Step::default() };
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
fn on_every_store<F: Future<Output = ()>>(test: impl Fn(TestHall) -> F) {
    static HALLS: AtomicUsize = AtomicUsize::new(0);
    for url in urls() {
        let mut options = ClusterOptions::at(&url).expect("a valid URL");
        options.command_timeout = TIMEOUT;
        let store = options.connect(Tasks::default()).expect("valid options");
        let hall = format!("store-{}", HALLS.fetch_add(1, Relaxed));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(test(TestHall { store, hall }));
    }
}

#[test]
fn a_step_executes_exactly_one_branch() {
    on_every_store(async |test| {
        let queue = KeyRange::prefix(test.key("queue/"));
        let door = Step {
            when: vec![When::absent(test.key("door")), When::empty(queue.clone())],
            then: vec![Op::put(test.key("door"), "open", 0), Op::put(test.key("queue/b"), "B", 0)],
            otherwise: vec![Op::get(test.key("door"))],
        };
        let first = test.step(door.clone()).await.expect("reachable");
        assert!(first.succeeded);
        assert_eq!(first.answers, [Answer::Put, Answer::Put]);
        let second = test.step(door).await.expect("reachable");
        assert!(!second.succeeded);
        assert!(second.revision >= first.revision, "other halls may share the revisions");
        let found = second.answers[0].first().expect("it exists");
        assert_eq!((&*found.key, &*found.value), (test.key("door").as_bytes(), &b"open"[..]));
        assert_eq!((found.create_revision, found.mod_revision), (first.revision, first.revision));

        let holds = async |when| {
            let step = Step { when: vec![when], ..Step::default() };
            test.step(step).await.expect("reachable").succeeded
        };
        assert!(!holds(When::empty(queue)).await);
        let (door, revision) = (test.key("door"), first.revision);
        for (when, expected) in [
            (When::present(door.clone()), true),
            (When::created(door.clone(), revision), true),
            (When::modified(door.clone(), revision), true),
            (When::present(test.key("no door")), false),
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
    on_every_store(async |test| {
        let mut last = 0;
        for key in ["queue/c", "queue/a", "queue/b"] {
            last = test.put(key, 0).await.revision;
        }
        let queue = || KeyRange::prefix(test.key("queue/"));
        assert_eq!(test.read(queue(), Op::list).await, ["queue/a", "queue/b", "queue/c"]);
        assert_eq!(test.read(queue(), Op::keys).await, ["", "", ""]);
        assert_eq!(test.read(queue(), Op::oldest).await, ["queue/c"]);
        let inner = Step {
            when: vec![When::present(test.key("queue/a"))],
            then: vec![Op::youngest_before(queue(), last)],
            otherwise: vec![],
        };
        let nested = Step { then: vec![Op::nested(inner)], ..Step::default() };
        let said = test.step(nested).await.expect("reachable");
        let inner = said.answers[0].step().expect("a nested step");
        assert!(inner.succeeded && inner.revision >= last);
        assert_eq!(inner.answers[0].first().expect("one").value, b"queue/a");

        // A step reads its own writes.
        let then = vec![Op::delete(test.key("queue/c")), Op::oldest(queue())];
        let said = test.step(Step { then, ..Step::default() }).await.expect("reachable");
        assert_eq!(said.answers[0].count(), 1);
        assert_eq!(said.answers[1].first().expect("one").value, b"queue/a");
        assert!(said.revision > last);
    });
}

#[test]
fn a_record_that_is_written_again_keeps_the_revision_of_its_creation() {
    on_every_store(async |test| {
        let first = test.put("door", 0).await.revision;
        let touch = Step { then: vec![Op::touch(test.key("door"))], ..Step::default() };
        let second = test.step(touch).await.expect("reachable").revision;
        let door = test.store.read(&test.hall, test.key("door")).await.expect("reachable");
        let door = door.kv.expect("it exists");
        assert_eq!((door.create_revision, door.mod_revision), (first, second));
        assert_eq!(door.value, b"door");
        test.delete("door").await;
        let third = test.put("door", 0).await.revision;
        let door = test.store.read(&test.hall, test.key("door")).await.expect("reachable");
        assert_eq!(door.kv.expect("it exists").create_revision, third);
    });
}

#[test]
fn records_vanish_with_their_lease_and_cannot_be_written_after_it() {
    on_every_store(async |test| {
        let lease = test.grant().await;
        test.put("queue/leased", lease).await;
        test.put("queue/free", 0).await;
        assert_eq!(test.store.keep_alive(&test.hall, lease).await, Ok(true));
        test.store.revoke(&test.hall, lease).await.expect("reachable");
        let all = KeyRange::prefix(test.key("queue/"));
        assert_eq!(test.read(all.clone(), Op::list).await, ["queue/free"]);
        assert_eq!(test.store.keep_alive(&test.hall, lease).await, Ok(false));
        let late = Op::put(test.key("queue/late"), "", lease);
        // A step whose lease is gone does nothing at all.
        let then = vec![Op::put(test.key("queue/other"), "", 0), late];
        assert_eq!(test.step(Step { then, ..Step::default() }).await, Err(Failure::LeaseGone));
        assert_eq!(test.read(all, Op::list).await, ["queue/free"]);
        assert_eq!(test.store.revoke(&test.hall, lease).await, Ok(()));
    });
}

#[test]
fn records_vanish_some_time_after_their_lease_was_last_renewed() {
    on_every_store(async |test| {
        let short = Duration::from_secs(1);
        let lease = test.store.grant(&test.hall, short).await.expect("reachable");
        test.put("queue/leased", lease).await;
        let begun = std::time::Instant::now();
        while !test.read(KeyRange::prefix(test.key("queue/")), Op::list).await.is_empty() {
            assert!(begun.elapsed() < TIMEOUT, "the lease does not end");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(test.store.keep_alive(&test.hall, lease).await, Ok(false));
    });
}

#[test]
fn a_watch_reports_the_changes_in_its_ranges_after_its_revision() {
    on_every_store(async |test| {
        test.put("inside/1", 0).await;
        let ranges = vec![KeyRange::prefix(test.key("inside/")), KeyRange::one(test.key("door"))];
        let mut watch = test.store.watch(&test.hall, ranges).await.expect("reachable");
        test.put("elsewhere", 0).await;
        let mut change = async |key: &str, deleted: bool| {
            loop {
                let events = watch.changes.next().await.expect("reachable");
                assert!(events.iter().all(|event| !event.kv.key.ends_with(b"elsewhere")));
                let wanted = |event: &&Event| {
                    event.kv.key == test.key(key).as_bytes() && event.deleted == deleted
                };
                if let Some(event) = events.iter().find(wanted) {
                    return event.kv.clone();
                }
            }
        };
        let put = test.put("door", 0).await.revision;
        let kv = change("door", false).await;
        assert_eq!((kv.mod_revision, &*kv.value), (put, &b"door"[..]));
        let deleted = test.delete("inside/1").await.revision;
        assert_eq!(change("inside/1", true).await.mod_revision, deleted);
        let lease = test.grant().await;
        test.put("inside/2", lease).await;
        assert_eq!(change("inside/2", false).await.lease, lease);
        test.store.revoke(&test.hall, lease).await.expect("reachable");
        // The end of a lease is a change.
        change("inside/2", true).await;
        assert!(put > watch.since);
    });
}

#[test]
fn a_hall_has_a_name_once_it_has_a_door() {
    on_every_store(async |test| {
        test.put("queue/a", 0).await;
        let names = async || test.store.names().await.expect("reachable");
        assert!(!names().await.contains(&test.hall));
        test.put("door", 0).await;
        assert!(names().await.contains(&test.hall));
        test.store.write().await.expect("reachable");
    });
}

#[test]
fn revisions_grow_even_if_all_records_of_a_hall_are_deleted() {
    on_every_store(async |test| {
        let before = test.put("door", 0).await.revision;
        let deleted = test.delete("door").await.revision;
        let again = test.put("door", 0).await.revision;
        assert!(before < deleted && deleted < again, "{before} {deleted} {again}");
    });
}

#[test]
fn the_store_shows_how_long_ago_a_lease_was_renewed() {
    on_every_store(async |test| {
        // etcd counts in whole seconds.
        let second = Duration::from_secs(1);
        let age = async |lease: LeaseId| {
            let ages = test.store.renewal_ages(&test.hall, vec![lease]).await.expect("reachable");
            ages.get(&lease).copied()
        };
        let begun = Instant::now();
        let lease = test.grant().await;
        tokio::time::sleep(3 * second).await;
        let before = age(lease).await.expect("the lease exists");
        assert!(before >= 2 * second && before <= begun.elapsed() + second, "{before:?}");
        let renewed = Instant::now();
        assert!(test.store.keep_alive(&test.hall, lease).await.expect("reachable"));
        let after = age(lease).await.expect("the lease exists");
        assert!(after <= renewed.elapsed() + second, "{after:?}");
        test.store.revoke(&test.hall, lease).await.expect("reachable");
        assert_eq!(age(lease).await, None);
    });
}
