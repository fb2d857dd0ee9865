use std::{sync::Arc, time::Duration};

use hallpass_testbed::{PostgresServer, postgres};

use super::*;
use crate::{
    ClusterOptions,
    postgres::{
        scope::tests::{hall, part, steps},
        store::PostgresStore,
    },
    runtime::Tasks,
    store::{Document, StepResponse, Store, When},
};

/// Returns the copy that a process has after this step on a hall.
fn copy_after(step: &Step, hall: &Document) -> HallCopy {
    let scope = Scope::of_step(step);
    let mut loaded = crate::postgres::load::loaded(&[]).expect("no rows");
    loaded.document = part(hall, &scope);
    HallCopy::new(loaded, &scope).expect("no lease is over")
}

/// Returns the step that a holder makes to find the head of the queue.
fn exit_look() -> Step {
    let one = ["h/door", "h/queue/a", "h/inside/a", "h/slots/0"].map(Op::get);
    let several =
        [Op::oldest(KeyRange::prefix("h/queue/")), Op::keys(KeyRange::prefix("h/inside/"))];
    Step { then: one.into_iter().chain(several).collect(), ..Step::default() }
}

#[test]
fn a_step_on_a_copy_that_is_enough_does_the_same_as_on_the_whole_hall() {
    let mut enough = 0;
    for waiters in [0, 1, 2, 3, 50] {
        for look in steps().iter().chain([&exit_look()]) {
            for step in steps() {
                let mut whole = hall(waiters);
                let copy = copy_after(look, &whole);
                if !copy.is_enough_for(&step) {
                    continue;
                }
                enough += 1;
                let mut part = copy.loaded.document;
                let (expected, found) = (whole.perform(&step), part.perform(&step));
                assert_eq!(found, expected, "{waiters} waiters, after {look:?}: {step:?}");
                let (_, changed) = expected.expect("the copy has the leases of the step");
                for key in &changed {
                    assert_eq!(part.records.get(key), whole.records.get(key), "{step:?}");
                }
            }
        }
    }
    assert!(enough > 20, "only {enough} copies were enough");
}

#[test]
fn what_a_leaving_holder_has_read_is_enough_to_leave() {
    let leaving = |head: Option<&str>| {
        let mine = [When::modified("h/slots/0", 2), When::modified("h/inside/a", 2)];
        let delete = vec![Op::delete("h/inside/a")];
        match head {
            Some(head) => Step {
                when: mine.into_iter().chain([When::created(head, 10)]).collect(),
                then: [
                    Op::put("h/inside/000", "new", 100),
                    Op::put("h/slots/0", "new", 0),
                    Op::delete(head),
                ]
                .into_iter()
                .chain(delete)
                .collect(),
                ..Step::default()
            },
            None => Step {
                when: mine.into_iter().chain([When::empty(KeyRange::prefix("h/queue/"))]).collect(),
                then: delete.into_iter().chain([Op::delete("h/slots/0")]).collect(),
                ..Step::default()
            },
        }
    };
    let is_enough =
        |waiters, step: &Step| copy_after(&exit_look(), &hall(waiters)).is_enough_for(step);
    for waiters in [1, 2, 50] {
        assert!(is_enough(waiters, &leaving(Some("h/queue/000"))), "{waiters} waiters");
        assert!(!is_enough(waiters, &leaving(None)), "the queue is not empty");
    }
    assert!(is_enough(0, &leaving(None)));
    assert!(!is_enough(0, &leaving(Some("h/queue/000"))), "this claim has left the queue");
    // Of a queue with several claims, the holder has read only the first one.
    assert!(!is_enough(2, &leaving(Some("h/queue/001"))));
    // Without the claims that have a slot, the holder does not know whether the head has one already.
    let without_inside = Step { then: exit_look().then[..5].to_vec(), ..Step::default() };
    let copy = copy_after(&without_inside, &hall(1));
    assert!(!copy.is_enough_for(&leaving(Some("h/queue/000"))));
}

/// Two processes with the same hall on one server.
struct Processes {
    server: PostgresServer,
    stores: [Arc<PostgresStore>; 2],
}

const HALL: &str = "gpu";

impl Processes {
    fn new() -> Processes {
        let server = PostgresServer::start();
        let mut options = ClusterOptions::at(&server.url()).expect("a valid URL");
        options.command_timeout = hallpass_testbed::TIMEOUT;
        let crate::StoreOptions::Postgres(postgres) = options.store.clone() else {
            unreachable!("the URL is one of PostgreSQL")
        };
        let store = || {
            let store = PostgresStore::new(&postgres, &options, Tasks::default());
            Arc::new(store.expect("valid options"))
        };
        Processes { stores: [store(), store()], server }
    }

    /// Performs a step of one process.
    async fn step(&self, process: usize, when: Vec<When>, then: Vec<Op>) -> StepResponse {
        let step = Step { when, then, otherwise: vec![] };
        self.stores[process].step(HALL, step).await.expect("reachable")
    }

    /// The first process writes a record and reads it, so that it has a copy. Then calls `change`. Then the first
    /// process tries to write the record again, on the condition that nobody else has written this record. Returns
    /// whether this succeeds.
    async fn race(&self, change: impl AsyncFnOnce()) -> bool {
        let slot = format!("{HALL}/slots/0");
        let written = self.step(0, vec![], vec![Op::put(&*slot, "mine", 0)]).await.revision;
        let seen = self.step(0, vec![], vec![Op::get(&*slot)]).await;
        assert_eq!(seen.revision, written);
        change().await;
        let when = vec![When::modified(&*slot, written)];
        self.step(0, when, vec![Op::put(&*slot, "next", 0)]).await.succeeded
    }
}

/// A process has read a claim in the queue. Then the lease of this claim ends, or vanishes, without a step.
#[test]
fn a_step_on_a_copy_assigns_nothing_to_a_claim_without_a_lease() {
    let end = "UPDATE hallpass.leases SET ends = clock_timestamp() - interval '1 s'";
    for change in [end, "DELETE FROM hallpass.leases"] {
        on_a_server(async |processes| {
            let store = &processes.stores[0];
            let lease = store.grant(HALL, Duration::from_secs(60)).await.expect("reachable");
            let [waiting, inside] = ["queue/a", "inside/a"].map(|key| format!("{HALL}/{key}"));
            let joined = processes.step(0, vec![], vec![Op::put(&*waiting, "a", lease)]).await;
            let look = vec![Op::get(&*waiting), Op::get(&*inside)];
            processes.step(0, vec![], look).await;
            processes.server.psql(change);
            let give = Step {
                when: vec![When::created(&*waiting, joined.revision)],
                then: vec![Op::put(&*inside, "a", lease), Op::delete(&*waiting)],
                ..Step::default()
            };
            let given = store.step(HALL, give).await;
            let is_given = given.is_ok_and(|given| given.succeeded);
            assert!(!is_given, "{change}");
        });
    }
}

fn on_a_server(test: impl AsyncFnOnce(Processes)) {
    let Some(()) = postgres() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(test(Processes::new()));
}

#[test]
fn a_step_on_an_old_copy_has_no_effect() {
    on_a_server(async |processes| {
        assert!(processes.race(async || {}).await, "nothing has changed");
        let other = async || {
            let put = vec![Op::put(format!("{HALL}/slots/0"), "theirs", 0)];
            processes.step(1, vec![], put).await;
        };
        assert!(!processes.race(other).await);
        let elsewhere = async || {
            processes.step(1, vec![], vec![Op::put(format!("{HALL}/slots/1"), "theirs", 0)]).await;
        };
        assert!(processes.race(elsewhere).await, "the record is still the same");
    });
}

/// The restored tables have the same revision as the copy, but other records.
#[test]
fn a_copy_is_useless_after_the_tables_were_restored() {
    on_a_server(async |processes| {
        let restore = async || {
            processes.server.psql(
                "BEGIN;
                 UPDATE hallpass.records SET value = 'theirs', modified = 1;
                 CREATE TABLE saved AS SELECT * FROM hallpass.halls;
                 DELETE FROM hallpass.halls;
                 INSERT INTO hallpass.halls SELECT * FROM saved;
                 COMMIT",
            );
        };
        assert!(!processes.race(restore).await);
    });
}

/// Another connection may lead to another server.
#[test]
fn a_copy_is_useless_on_another_connection() {
    on_a_server(async |processes| {
        let cut = async || {
            processes.server.psql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = 'hallpass';
                 UPDATE hallpass.records SET value = 'theirs', modified = 1",
            );
            // The record was changed without a step, so only the connection shows that the copy is old.
            while processes.stores[0].write().await.is_err() {}
        };
        assert!(!processes.race(cut).await);
    });
}
