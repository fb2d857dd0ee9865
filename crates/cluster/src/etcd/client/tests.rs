//! Tests against a real etcd.

mod access;
mod lost_tokens;
mod server;

use std::time::{Duration, Instant};

use super::*;
use crate::{
    retry::Retry,
    store::{Answer, Changes as _, Event, KeyRange, Op, Step, When},
};
use hallpass_testbed::TIMEOUT;
use server::{Server, free_port, wait};

/// Returns options with a long ttl and timeout, so that a single attempt has enough time even on a busy machine.
fn options(server: &Server) -> ClusterOptions {
    let options = ClusterOptions::at(&format!("etcd://127.0.0.1:{}", server.port)).unwrap();
    ClusterOptions { ttl: Duration::from_secs(300), command_timeout: TIMEOUT, ..options }
}

fn new_client(options: &ClusterOptions) -> Client {
    Client::new(&options.etcd(), options).unwrap()
}

fn client(server: &Server) -> Client {
    new_client(&options(server))
}

/// Makes attempts until one succeeds, one fails permanently, or `limit` has passed.
async fn retrying<T>(
    client: &Client,
    limit: Duration,
    mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
) -> Result<T, Error> {
    let mut retry = Retry::new(client.place(), limit);
    loop {
        match attempt().await {
            Ok(done) => return Ok(done),
            Err(failure) => retry.after(failure).await?,
        }
    }
}

fn put(key: &str, lease: i64) -> Step {
    Step { then: vec![Op::put(key, key, lease)], ..Step::default() }
}

fn get(key: &str) -> Step {
    Step { then: vec![Op::get(key)], ..Step::default() }
}

fn keys(events: &[Event]) -> Vec<(&str, bool)> {
    events.iter().map(|e| (std::str::from_utf8(&e.kv.key).unwrap(), e.deleted)).collect()
}

#[test]
fn futures_of_calls_are_send() {
    fn send<T: Send>(_: &T) {}
    let client = new_client(&ClusterOptions::at("etcd://127.0.0.1:1").unwrap());
    send(&client.txn(Step::default()));
    send(&client.keep_alive(1));
    send(&client.watch(Vec::new()));
}

#[test]
fn a_transaction_executes_exactly_one_branch() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let door = Step {
            when: vec![When::absent("door"), When::empty(KeyRange::prefix("queue/"))],
            then: vec![Op::put("door", "open", 0), Op::put("queue/b", "B", 0)],
            otherwise: vec![Op::get("door")],
        };
        let first = client.txn(door.clone()).await.unwrap();
        assert!(first.succeeded);
        assert_eq!(first.answers, [Answer::Put, Answer::Put]);

        let second = client.txn(door).await.unwrap();
        assert!(!second.succeeded);
        assert_eq!(second.revision, first.revision);
        let found = second.answers[0].first().unwrap();
        assert_eq!((&*found.key, &*found.value), (&b"door"[..], &b"open"[..]));
        assert_eq!((found.create_revision, found.mod_revision), (first.revision, first.revision));

        // A condition on a range holds only if no key of the range exists.
        let quiet = |range| Step { when: vec![When::empty(range)], ..Step::default() };
        assert!(!client.txn(quiet(KeyRange::prefix("queue/"))).await.unwrap().succeeded);
        assert!(
            client.txn(quiet(KeyRange::between("queue/c", "queue/z"))).await.unwrap().succeeded
        );

        let when = vec![
            When::present("door"),
            When::created("door", first.revision),
            When::modified("queue/b", first.revision),
        ];
        assert!(client.txn(Step { when, ..Step::default() }).await.unwrap().succeeded);
        for when in [
            When::present("no door"),
            When::created("door", first.revision + 1),
            When::modified("door", first.revision - 1),
        ] {
            let wrong = Step { when: vec![when], ..Step::default() };
            assert!(!client.txn(wrong).await.unwrap().succeeded);
        }
    });
}

#[test]
fn the_oldest_and_youngest_key_of_a_range_are_found_by_creation_revision() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let mut last = 0;
        for key in ["queue/c", "queue/a", "queue/b"] {
            last = client.txn(put(key, 0)).await.unwrap().revision;
        }
        let queue = || KeyRange::prefix("queue/");
        let inner = Step {
            when: vec![When::present("queue/a")],
            then: vec![Op::oldest(queue()), Op::youngest_before(queue(), last)],
            otherwise: vec![],
        };
        let ops = vec![Op::list(queue()), Op::keys(queue()), Op::nested(inner)];
        let said = client.txn(Step { then: ops, ..Step::default() }).await.unwrap();

        let names: Vec<_> = said.answers[0].kvs().iter().map(|kv| kv.value.as_slice()).collect();
        assert_eq!(names, [b"queue/a", b"queue/b", b"queue/c"]);
        assert_eq!(said.answers[1].kvs().len(), 3);
        assert!(said.answers[1].kvs().iter().all(|kv| kv.value.is_empty()));
        let inner = said.answers[2].step().unwrap();
        assert_eq!((inner.succeeded, inner.revision), (true, last));
        assert_eq!(inner.answers[0].first().unwrap().key, b"queue/c");
        assert_eq!(inner.answers[1].first().unwrap().key, b"queue/a");

        let delete =
            vec![Op::delete("queue/a"), Op::delete_range(KeyRange::between("queue/b", "z"))];
        let said = client.txn(Step { then: delete, ..Step::default() }).await.unwrap();
        assert_eq!(said.answers, [Answer::Deleted(1), Answer::Deleted(2)]);
    });
}

#[test]
fn a_request_that_etcd_rejects_is_not_retried() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let twice =
            Step { then: vec![Op::put("a", "", 0), Op::put("a", "", 0)], ..Step::default() };
        let failure = client.txn(twice.clone()).await.unwrap_err();
        assert!(
            matches!(&failure, Failure::Refused(why) if why.contains("duplicate")),
            "{failure:?}"
        );
        let minute = Duration::from_secs(60);
        let again = retrying(&client, minute, async || client.txn(twice.clone()).await);
        let error = again.await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    });
}

#[test]
fn keys_are_deleted_with_their_lease() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let lease = client.grant(60).await.unwrap();
        assert_eq!(lease.ttl, 60);
        client.txn(put("leased", lease.id)).await.unwrap();
        assert_eq!(client.keep_alive(lease.id).await, Ok(true));
        let found = client.txn(get("leased")).await.unwrap();
        assert_eq!(found.answers[0].first().unwrap().lease, lease.id);

        client.revoke(lease.id).await.unwrap();
        assert_eq!(client.txn(get("leased")).await.unwrap().answers[0].count(), 0);
        assert_eq!(client.keep_alive(lease.id).await, Ok(false));
        assert_eq!(client.txn(put("leased", lease.id)).await, Err(Failure::LeaseGone));
        assert_eq!(client.revoke(lease.id).await, Ok(()));
    });
}

#[test]
fn a_watch_reports_changes_of_all_its_ranges() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let before = client.txn(put("inside/1", 0)).await.unwrap().revision;
        client.txn(put("elsewhere", 0)).await.unwrap();
        let ranges = vec![KeyRange::prefix("inside/"), KeyRange::one("door")];
        let mut watch = client.watch_from(ranges, before).await.unwrap();

        // The change of revision `before` is also reported; the later change of another key is not.
        let events = watch.next().await.unwrap();
        assert_eq!(keys(&events), [("inside/1", false)]);
        assert_eq!(events[0].kv.mod_revision, before);
        client.txn(put("door", 0)).await.unwrap();
        assert_eq!(keys(&watch.next().await.unwrap()), [("door", false)]);
        let delete = Step { then: vec![Op::delete("inside/1")], ..Step::default() };
        let deleted = client.txn(delete).await.unwrap().revision;
        let events = watch.next().await.unwrap();
        assert_eq!(keys(&events), [("inside/1", true)]);
        assert_eq!(events[0].kv.mod_revision, deleted);
    });
}

#[test]
fn a_watch_reports_the_revision_it_starts_after() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let before = client.txn(put("a", 0)).await.unwrap().revision;
        let mut watch = client.watch(vec![KeyRange::one("a"), KeyRange::one("b")]).await.unwrap();
        assert_eq!(watch.since, before);
        let after = client.txn(put("a", 0)).await.unwrap().revision;
        assert_eq!(watch.next().await.unwrap()[0].kv.mod_revision, after);
    });
}

#[test]
fn a_watch_from_a_compacted_revision_fails_with_compacted() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let old = client.txn(put("a", 0)).await.unwrap().revision;
        let new = client.txn(put("a", 0)).await.unwrap().revision;
        server.etcdctl(&["compact", &new.to_string()]);
        let failure = match client.watch_from(vec![KeyRange::one("a")], old).await {
            Ok(mut watch) => watch.next().await.unwrap_err(),
            Err(failure) => failure,
        };
        assert_eq!(failure, Failure::Compacted);
        let mut watch = client.watch_from(vec![KeyRange::one("a")], new).await.unwrap();
        assert_eq!(watch.next().await.unwrap()[0].kv.mod_revision, new);
    });
}

#[test]
fn a_dead_member_is_skipped() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let mut options = options(&server);
        let dead = format!("127.0.0.1:{}", free_port());
        options.etcd_mut().endpoints.insert(0, dead.clone());
        // Each client begins with a random member.
        let (client, failure) = loop {
            let client = new_client(&options);
            if let Err(failure) = client.txn(put("a", 0)).await {
                break (client, failure);
            }
        };
        assert!(
            matches!(&failure, Failure::Unreachable(why) if why.starts_with(&dead)),
            "{failure:?}"
        );
        // The next attempt goes to the next member. This also holds for clones.
        client.clone().txn(put("a", 0)).await.unwrap();

        let client = new_client(&options);
        let started = Instant::now();
        let lease = retrying(&client, TIMEOUT, async || client.grant(5).await).await;
        assert_eq!(lease.unwrap().ttl, 5);
        // The operating system refuses connections immediately. If the client waited for a time limit, this would take
        // longer.
        assert!(started.elapsed() < TIMEOUT / 4, "{:?}", started.elapsed());
    });
}

#[test]
fn several_failures_of_one_connection_switch_to_the_next_member_only_once() {
    let dead = || format!("127.0.0.1:{}", free_port());
    let mut options = ClusterOptions::at("etcd://h").unwrap();
    options.etcd_mut().endpoints = vec![dead(), dead(), dead()];
    wait(async {
        let client = new_client(&options);
        let (a, b) = tokio::join!(client.grant(1), client.grant(2));
        let (a, b) = (a.unwrap_err(), b.unwrap_err());
        let third = client.grant(3).await.unwrap_err();
        let [a, b, third] = [a, b, third].map(|failure| {
            let Failure::Unreachable(why) = failure else { panic!("{failure:?}") };
            let named = options.etcd().endpoints.iter().position(|member| why.contains(member));
            named.unwrap_or_else(|| panic!("{why}"))
        });
        assert!(a == b && b != third, "{a}, {b}, {third}");
    });
}

#[test]
fn the_error_names_unreachable_members_after_the_time_limit() {
    let mut options = ClusterOptions::at("etcd://h").unwrap();
    options.etcd_mut().endpoints = vec![format!("127.0.0.1:{}", free_port())];
    wait(async {
        let client = new_client(&options);
        let (started, mut attempts) = (Instant::now(), 0);
        let limit = Duration::from_secs(2);
        let tried = retrying(&client, limit, async || {
            attempts += 1;
            client.grant(5).await
        });
        let error = tried.await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&options.etcd().endpoints[0]) && text.contains("refused"), "{text}");
        assert!(started.elapsed() < limit + TIMEOUT, "{:?}", started.elapsed());
        assert!((2..=14).contains(&attempts), "{attempts}");
    });
}

#[test]
fn a_killed_member_ends_its_watches() {
    let Some(mut server) = Server::start() else { return };
    wait(async {
        let client = client(&server);
        let mut watch = client.watch(vec![KeyRange::one("a")]).await.unwrap();
        let (outcome, ()) = tokio::join!(watch.next(), async {
            server.kill();
        });
        let Err(Failure::Unreachable(why)) = outcome else { panic!("{outcome:?}") };
        // The closed connection ends the watch. Unanswered pings would also end it, but later.
        assert!(!why.contains("timed out"), "{why}");
        assert!(matches!(client.grant(5).await, Err(Failure::Unreachable(_))));
    });
}

#[test]
fn a_silent_member_is_noticed() {
    let Some(server) = Server::start() else { return };
    wait(async {
        let ttl = Duration::from_secs(10);
        let client = new_client(&ClusterOptions { ttl, ..options(&server) });
        let lease = client.grant(600).await.unwrap();
        let mut watch = client.watch(vec![KeyRange::one("a")]).await.unwrap();
        server.signal("STOP");
        // The threads of the member do not all stop at the same moment.
        while client.keep_alive(lease.id).await.is_ok() {}
        let started = Instant::now();
        for outcome in
            [client.keep_alive(lease.id).await.map(drop), client.txn(get("a")).await.map(drop)]
        {
            assert!(matches!(outcome, Err(Failure::Unreachable(_))), "{outcome:?}");
        }
        // The limit of an attempt is a tenth of the ttl at first, and never more than half of the ttl. The command
        // timeout is longer.
        assert!(started.elapsed() < TIMEOUT, "{:?}", started.elapsed());
        // The watch notices that its pings are not answered.
        let outcome = watch.next().await;
        assert!(matches!(outcome, Err(Failure::Unreachable(_))), "{outcome:?}");

        server.signal("CONT");
        let alive = retrying(&client, TIMEOUT, async || client.keep_alive(lease.id).await).await;
        assert!(alive.unwrap());
    });
}
