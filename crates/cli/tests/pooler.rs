//! Tests of `hallpass` with halls on a PostgreSQL server behind a pooler.
#![cfg(feature = "postgres")]

mod common;

use common::{Halls, eventually, text};
use hallpass_testbed::{Pooler, Pooling, PostgresServer, postgres};

#[test]
fn a_pooler_that_keeps_a_connection_for_each_session_works() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let Some(pooler) = Pooler::start(&server, Pooling::Session) else { return };
    let halls = Halls::on(&pooler.url());
    let holder = halls.hold(&["-k", "1"], "gpu");
    let waiter = halls.start(&["gpu", "echo", "my turn"]);
    eventually("it waits", || halls.status("gpu")["waiting"] == 1);
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(waiter.leave(), (Some(0), "my turn\n".into()));
}

/// Notifications do not arrive through such a pooler, so a waiter would never learn that it has a slot.
#[test]
fn a_pooler_that_changes_the_connection_is_refused_with_what_to_do() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let Some(pooler) = Pooler::start(&server, Pooling::Transaction) else { return };
    let halls = Halls::on(&pooler.url());
    let output = halls.output("run", &["-k", "1", "gpu", "true"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{stderr}");
    assert!(stderr.contains("connect to the server itself, or to a pooler that keeps"), "{stderr}");
    // Nothing is left behind that another command would wait for.
    let halls = Halls::on(&server.url());
    assert_eq!(halls.run(&["-n", "-k", "1", "gpu", "true"]), Some(0));
}
